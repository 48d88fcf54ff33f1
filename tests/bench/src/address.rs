//! Address instructions of the sequences that Triton was counted for.
//!
//! Counted are the instructions that an operation's addresses cost: up to its first access, and for all further ones
//! together. Accesses are those of the sequence, one instruction each. Triton's counts are from `shared/facts/triton.md`
//! section 6: PTX before `ptxas`, AMDGCN as final. Both sides compile the same tiles, 128x64 of A and 64x128 of B in f16 by four
//! waves: 128 threads on NVIDIA, 256 on AMD.
use crate::EXAMPLES;
use crate::report::Report;
use crate::whole::with_compiled;
use lanebook::TABLES;
use lanebook::compile::Compiled;
use lanebook::emit::step::Purpose;
use lanebook::plan::End;

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
    /// First, further, accesses; `None`: Triton was not counted.
    triton: Option<(u32, u32, u32)>,
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
    /// Triton's: first, further, accesses; `None`: it was not counted.
    pub triton: Option<(u32, u32, u32)>,
}

fn cases() -> [Case; 8] {
    let gemm = EXAMPLES[0].1;
    let case = |what, text, arch, pick, triton| Case { what, text, arch, pick, triton };
    [
        case("ldmatrix A", gemm, "sm_80", Pick::Load(0), Some((13, 6, 16))),
        case("ldmatrix B", gemm, "sm_80", Pick::Load(1), Some((11, 6, 16))),
        case("local_store", STORE, "sm_80", Pick::Store(0), Some((8, 0, 8))),
        case("ds_read_tr B", gemm, "gfx950", Pick::Load(1), Some((12, 0, 16))),
        case("ds_read A from padded", gemm, "gfx950", Pick::Load(0), Some((10, 0, 8))),
        case("direct-to-LDS A", gemm, "gfx950", Pick::Direct(0), Some((8, 6, 4))),
        case("copy of B", gemm, "gfx950", Pick::Direct(1), None),
        case("local_store", STORE, "gfx950", Pick::Store(0), None),
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
    let counted = with_compiled(&text, arch, |_, compiled| of(case, compiled));
    Some(counted.unwrap_or_else(|e| panic!("{} {}: {e}", case.arch, case.what)))
}

fn of(case: &Case, compiled: &Compiled<'_>) -> Count {
    let wanted = |from: &End, to: &End| match (case.pick, from, to) {
        (Pick::Load(_), End::Shared(_), End::Registers(_)) => true,
        (Pick::Store(_), End::Registers(_), End::Shared(_)) => true,
        (Pick::Direct(_), End::Global(_), End::Shared(_)) => true,
        _ => false,
    };
    let (Pick::Load(n) | Pick::Store(n) | Pick::Direct(n)) = case.pick;
    let chosen = compiled.plan.moves.iter().filter(|m| wanted(&m.from, &m.to)).nth(n).unwrap_or_else(|| panic!("{} {}: no such movement", case.arch, case.what));
    let origin = u16::try_from(chosen.op.index()).expect("few operations");
    let number = |purpose| compiled.steps.iter().filter(|s| s.origin == origin && s.purpose == purpose).count() as u32;
    Count {
        what: case.what,
        arch: case.arch,
        atom: TABLES.atom(chosen.atom).map_or("", |atom| atom.name),
        first: number(Purpose::FirstAddress),
        further: number(Purpose::FurtherAddress),
        accesses: number(Purpose::Move),
        triton: case.triton,
    }
}

/// Two rows a sequence.
pub fn measure(report: &mut Report) {
    for count in counts() {
        let name = format!("{} {}: {} x {}", count.arch, count.what, count.accesses, count.atom);
        let (first, further) = (f64::from(count.first), f64::from(count.further));
        match count.triton {
            Some((triton, triton_further, accesses)) => {
                report.held(SECTION, format!("{name}, first"), first, "instr", f64::from(triton), "Triton");
                report.held(SECTION, format!("{name}, further"), further, "instr", f64::from(triton_further), format!("Triton, {} further", accesses - 1));
            }
            None => {
                report.alone(SECTION, format!("{name}, first"), first, "instr");
                report.alone(SECTION, format!("{name}, further"), further, "instr");
            }
        }
    }
    report.note(SECTION, "Where an operation takes over another one's address, its first address costs nothing here.");
}
