//! What a compiled program costs: one figure for plans and instructions, by which programs are
//! compared.
use lanebook_emit::Compiled;
use lanebook_ir::{Op, Program};
use lanebook_passes::layout_seeding::ProgramPrice;
use lanebook_plan::memory_pressure::cost;
use lanebook_tables::Tables;

/// What a program costs as it was compiled: everything that its plan does, and every instruction
/// besides, as often as the loops around are taken to run.
///
/// ```
/// use lanebook::TABLES;
/// use lanebook::compile::{KernelStorage, compile, price};
/// use lanebook::ir::{Options, SmallStorage, parse};
///
/// let of = |rows: u32| {
///     let text = format!("func @f(%x: memref<?x64xf32, #gmem>) {{threads = 128}} {{
///   %a = tiled_load %x[0, 0] : memref<?x64xf32, #gmem> -> tensor<{rows}x64xf32>
///   tiled_store %a, %x[0, 0] : tensor<{rows}x64xf32> -> memref<?x64xf32, #gmem>
/// }}");
///     let (mut pools, mut room) = (Box::new(SmallStorage::new()), Box::new(KernelStorage::new()));
///     let mut program = parse(pools.pools(), &TABLES, &text, Options::default()).unwrap();
///     let arch = TABLES.arch_named("gfx942").unwrap();
///     let compiled = compile(&TABLES, arch, &mut program, room.scratch()).unwrap();
///     price(&TABLES, &program, &compiled)
/// };
/// assert!(of(64).is_at_most(of(128)) && !of(128).is_at_most(of(64)));
/// ```
#[must_use]
pub fn price(
    tables: &Tables<'_>,
    program: &Program<'_, '_>,
    compiled: &Compiled<'_>,
) -> ProgramPrice {
    let weights = &tables.weights;
    let steps = compiled.steps.iter().map(|step| {
        let depth = match Op::at(usize::from(step.origin)) {
            Some(op) if program.is_alive(op) => program.loops_around(op),
            _ => 0,
        };
        u64::from(weights.inside_loops(weights.instruction, depth))
    });
    let own = u64::from(cost(tables, program, &compiled.plan));
    ProgramPrice {
        executed: steps.fold(own, u64::saturating_add),
        written: u32::try_from(compiled.steps.len()).unwrap_or(u32::MAX),
    }
}
