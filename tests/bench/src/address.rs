//! Address instructions of the sequences that Triton was counted for.
//!
//! Counted are the instructions that an operation's addresses cost: up to its first access, and for
//! all further ones together, loads of kernel arguments left out. Accesses are those of the
//! sequence, one instruction each. Triton's counts are from `shared/facts/triton.md` section 6: PTX
//! before `ptxas`, AMDGCN as final. Both sides compile the same tiles, 128x64 of A and 64x128 of B
//! in f16 by four waves: 128 threads on NVIDIA, 256 on AMD.
use crate::EXAMPLES;
use crate::report::Report;
use crate::whole::with_compiled;
use lanebook::TABLES;
use lanebook::compile::Compiled;
use lanebook::emit::step::Purpose;
use lanebook::ir::Program;
use lanebook::layout::PostMap;
use lanebook::plan::End;
use std::fmt;

/// The section's heading.
pub const SECTION: &str = "Address instructions (Triton's counts: facts/triton.md 6)";

const STORE: &str = include_str!("../kernels/local_store.tile");

/// Which movement of a program is meant.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Pick {
    /// Shared memory to registers, the n-th.
    Load(usize),
    /// Registers to shared memory, the n-th.
    Store(usize),
    /// Global to shared memory, the n-th.
    Direct(usize),
}

/// A sequence, and Triton's figures for it.
#[derive(Copy, Clone, Debug)]
struct Case {
    what: &'static str,
    text: &'static str,
    arch: &'static str,
    pick: Pick,
    /// Triton's; empty: it was not counted.
    triton: &'static [Peer],
}

/// Triton's figures for a sequence on one form of shared layout.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    /// The form of the shared layout.
    pub form: Form,
    /// Instructions to the first address.
    pub first: u32,
    /// Instructions for all further addresses.
    pub further: u32,
    /// Accesses.
    pub accesses: u32,
}

/// Forms of shared layouts.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Form {
    /// XOR swizzle.
    Swizzled,
    /// Padding, or neither.
    Padded,
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Swizzled => "swizzled",
            Self::Padded => "padded",
        })
    }
}

const fn peer(form: Form, first: u32, further: u32, accesses: u32) -> Peer {
    Peer { form, first, further, accesses }
}

/// What a sequence costs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Count {
    /// The sequence.
    pub what: &'static str,
    /// The architecture.
    pub arch: &'static str,
    /// The atom that moves.
    pub atom: &'static str,
    /// Instructions to the first address.
    pub first: u32,
    /// Instructions for all further addresses.
    pub further: u32,
    /// Accesses.
    pub accesses: u32,
    /// The instructions, as written: those to the first address, those for further ones, each in
    /// order.
    pub lines: [Vec<String>; 2],
    /// The form of the shared layout that was chosen.
    pub form: Form,
    /// Triton's, best first; empty: it was not counted.
    pub triton: &'static [Peer],
}

fn cases() -> [Case; 8] {
    let gemm = EXAMPLES[0].1;
    let case = |what, text, arch, pick, triton| Case { what, text, arch, pick, triton };
    [
        case(
            "ldmatrix A",
            gemm,
            "sm_80",
            Pick::Load(0),
            const { &[peer(Form::Swizzled, 13, 6, 16)] },
        ),
        case(
            "ldmatrix B",
            gemm,
            "sm_80",
            Pick::Load(1),
            const { &[peer(Form::Swizzled, 11, 6, 16)] },
        ),
        case(
            "local_store",
            STORE,
            "sm_80",
            Pick::Store(0),
            const { &[peer(Form::Swizzled, 8, 0, 8)] },
        ),
        case(
            "ds_read_tr B",
            gemm,
            "gfx950",
            Pick::Load(1),
            const { &[peer(Form::Swizzled, 12, 0, 16)] },
        ),
        case(
            "ds_read A",
            gemm,
            "gfx950",
            Pick::Load(0),
            const { &[peer(Form::Padded, 10, 0, 8), peer(Form::Swizzled, 13, 4, 8)] },
        ),
        case(
            "direct-to-LDS A",
            gemm,
            "gfx950",
            Pick::Direct(0),
            const { &[peer(Form::Padded, 8, 6, 4), peer(Form::Swizzled, 26, 15, 4)] },
        ),
        case("copy of B", gemm, "gfx950", Pick::Direct(1), &[]),
        case("local_store", STORE, "gfx950", Pick::Store(0), &[]),
    ]
}

/// Counts every sequence.
///
/// # Panics
/// If a program does not compile or lacks the movement.
#[must_use]
pub fn counts() -> Vec<Count> {
    cases().iter().filter_map(count).collect()
}

/// `None` if the tables of this build lack the architecture.
fn count(case: &Case) -> Option<Count> {
    let arch = TABLES.arch_named(case.arch)?;
    let waves = TABLES.arch(arch).and_then(|a| a.wave_lanes.first()).copied().unwrap_or(32);
    let text = case.text.replace("threads = 128", &format!("threads = {}", 4 * waves));
    let counted = with_compiled(&text, arch, |program, compiled| of(case, program, compiled));
    Some(counted.unwrap_or_else(|e| panic!("{} {}: {e}", case.arch, case.what)))
}

fn of(case: &Case, program: &Program<'_, '_>, compiled: &Compiled<'_>) -> Count {
    let wanted = |from: &End, to: &End| {
        matches!(
            (case.pick, from, to),
            (Pick::Load(_), End::Shared(_), End::Registers(_))
                | (Pick::Store(_), End::Registers(_), End::Shared(_))
                | (Pick::Direct(_), End::Global(_), End::Shared(_))
        )
    };
    let (Pick::Load(n) | Pick::Store(n) | Pick::Direct(n)) = case.pick;
    let chosen = compiled
        .plan
        .transfers
        .iter()
        .filter(|m| wanted(&m.from, &m.to))
        .nth(n)
        .unwrap_or_else(|| panic!("{} {}: no such movement", case.arch, case.what));
    let origin = u16::try_from(chosen.op.index()).expect("few operations");
    // Kernel arguments are loaded whatever the addresses are.
    let isa = TABLES
        .arch(compiled.plan.arch)
        .and_then(|arch| TABLES.isa(arch.isa))
        .expect("the architecture's instruction set");
    let loads = |atom| atom == isa.load_param32 || atom == isa.load_param64;
    let steps = |purpose| {
        compiled
            .steps
            .iter()
            .filter(move |s| s.origin == origin && s.purpose == purpose && !loads(s.atom))
    };
    let shared = [chosen.from, chosen.to].into_iter().find_map(|end| {
        if let End::Shared(k) = end { compiled.plan.allocs.get(usize::from(k)) } else { None }
    });
    let swizzled = shared.is_some_and(|alloc| matches!(alloc.layout.post, PostMap::Swizzle(_)));
    let kernel = compiled.kernel(&TABLES, program).expect("a kernel");
    let written = |purpose| -> Vec<String> {
        let mut out = String::new();
        steps(purpose).for_each(|step| kernel.step(step, &mut out).expect("a step"));
        out.lines().map(|line| line.trim().to_string()).collect()
    };
    // One instruction a line: atoms of two lines count twice.
    let lines = [written(Purpose::FirstAddress), written(Purpose::FurtherAddress)];
    Count {
        what: case.what,
        arch: case.arch,
        atom: TABLES.atom(chosen.atom).map_or("", |atom| atom.name()),
        first: lines[0].len() as u32,
        further: lines[1].len() as u32,
        accesses: steps(Purpose::Move).count() as u32,
        lines,
        form: if swizzled { Form::Swizzled } else { Form::Padded },
        triton: case.triton,
    }
}

/// Every sequence's instructions as text.
#[must_use]
pub fn listing() -> String {
    let mut out = String::new();
    for count in counts() {
        for (part, lines) in ["first", "further"].iter().zip(&count.lines) {
            out.push_str(&format!("{} {} {part}:\n", count.arch, count.what));
            lines.iter().for_each(|line| out.push_str(&format!("    {line}\n")));
        }
    }
    out
}

/// Two rows a sequence.
pub fn measure(report: &mut Report) {
    for count in counts() {
        let name = format!("{} {}: {} x {}", count.arch, count.what, count.accesses, count.atom);
        let name = format!("{name}, {}", count.form);
        for (part, ours) in [("first", count.first), ("further", count.further)] {
            if count.triton.is_empty() {
                report.alone(SECTION, format!("{name}, {part}"), f64::from(ours), "instr");
            }
            for peer in count.triton {
                let theirs = if part == "first" { peer.first } else { peer.further };
                report.held(
                    SECTION,
                    format!("{name}, {part}"),
                    f64::from(ours),
                    "instr",
                    f64::from(theirs),
                    format!("Triton, {} accesses, {}", peer.accesses, peer.form),
                );
            }
        }
    }
    report.note(SECTION, "Loads of kernel arguments are not counted. First, for direct-to-LDS, includes the tile's corner times a row stride that is known only at run time. Where an operation takes over another one's address, its first address costs nothing here.");
}
