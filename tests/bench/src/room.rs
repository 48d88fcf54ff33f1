//! Room that a compile uses: pools at their fullest, and what the storage types hold.
use crate::EXAMPLES;
use crate::report::Report;
use crate::whole::{Room, archs, read};
use lanebook::TABLES;
use lanebook::compile::{KernelStorage, compile};
use lanebook::ir::SmallStorage;

/// The section's heading.
pub const SECTION: &str =
    "Scratch (bytes in use at the fullest, all pools; budget 65536 for a GEMM)";
/// Where the stack is measured.
pub const STACK: &str = "The stack of every entry point: tests/proof/stack_bound.sh.";

const BUDGET: f64 = 65_536.0;

/// Measures both examples on all architectures.
pub fn measure(report: &mut Report) {
    let sizes = [
        ("ir::SmallStorage", size_of::<SmallStorage>()),
        ("compile::KernelStorage", size_of::<KernelStorage>()),
    ];
    for (what, bytes) in sizes {
        report.alone(SECTION, format!("{what}, as lent"), bytes as f64, "B");
    }
    let (mut storage, mut room) = (Box::new(SmallStorage::new()), Box::new(Room::new()));
    for (name, text) in EXAMPLES {
        let mut program = read(&mut storage, text);
        let pools = program.usage();
        let ir: usize = pools.iter().map(|pool| pool.used * pool.bytes).sum();
        let ops = pools.iter().map(|pool| pool.used).next().unwrap_or(0);
        report.held(
            SECTION,
            format!("{name}: program, {ops} operations"),
            ir as f64,
            "B",
            160.0 * ops as f64,
            "the budget, 160 B an operation",
        );
        for (id, arch) in archs() {
            if compile(&TABLES, id, &mut program, room.scratch()).is_err() {
                continue;
            }
            let pools = room.usage();
            let used: usize = pools.iter().map(|pool| pool.used * pool.bytes).sum();
            report.held(
                SECTION,
                format!("{name} {}: program and compile", arch.name),
                (ir + used) as f64,
                "B",
                BUDGET,
                "the budget",
            );
            let mut most: Vec<_> = pools.iter().filter(|pool| pool.used > 0).collect();
            most.sort_by_key(|pool| std::cmp::Reverse(pool.used * pool.bytes));
            let said: Vec<String> = most
                .iter()
                .map(|pool| format!("{} {} x {}", pool.what, pool.used, pool.bytes))
                .collect();
            report.note(SECTION, format!("{name} {}: {}", arch.name, said.join(", ")));
        }
    }
    report.note(SECTION, STACK);
}
