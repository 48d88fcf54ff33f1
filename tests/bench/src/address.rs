//! Address instructions of the sequences that Triton was counted for.
//!
//! Counted is what an operation's addresses cost from nothing: every instruction, from the thread's
//! number on, that its first access needs, whoever else in the kernel needs it too; then what all
//! further accesses need beside that. Loads of kernel arguments are left out. Accesses are those of
//! the sequence, one instruction each. Triton's counts are from `shared/facts/triton.md` section 6:
//! PTX before `ptxas`, AMDGCN as final, to the first address as well. Both sides compile the same
//! tiles, 128x64 of A and 64x128 of B in f16 by four waves: 128 threads on NVIDIA, 256 on AMD. Each
//! sequence stands here on the shared layout that is chosen, and on Triton's, written in the program.
use crate::EXAMPLES;
use crate::report::Report;
use crate::sass;
use crate::slice::slice;
use crate::whole::with_compiled;
use lanebook::TABLES;
use lanebook::compile::Compiled;
use lanebook::emit::step::{Inst, InstKind};
use lanebook::ir::Program;
use lanebook::layout::PostMap;
use lanebook::plan::End;
use std::collections::BTreeSet;
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
    /// Registers to global memory, the n-th.
    Out(usize),
}

/// Triton's swizzles: vectors of 8, a phase a row, 8 phases.
const SWIZZLED_A: Option<(&str, &str)> = Some(("sa", "<(128,64),(64,1),swizzle<3,4,3>>"));
const SWIZZLED_B: Option<(&str, &str)> = Some(("sb", "<(64,128),(128,1),swizzle<3,4,4>>"));

/// A sequence, and Triton's figures for it.
#[derive(Copy, Clone, Debug)]
struct Case {
    what: &'static str,
    text: &'static str,
    arch: &'static str,
    pick: Pick,
    /// Triton's; empty: it was not counted.
    triton: &'static [Peer],
    /// Triton's shared layout of the tile, and of which: `None` where no notation that `compile`
    /// takes says it.
    written: Option<(&'static str, &'static str)>,
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
    /// Machine instructions to the first address after the assembler, where it is one that allocates
    /// and schedules; or why they are not counted.
    pub machine: Option<Result<u32, String>>,
    /// Accesses.
    pub accesses: u32,
    /// The instructions, as written: those to the first address, those for further ones, each in
    /// order.
    pub lines: [Vec<String>; 2],
    /// Whether Triton's shared layout is written in the program.
    pub written: bool,
    /// The form of the shared layout; `None`: none takes part.
    pub form: Option<Form>,
    /// Triton's, best first; empty: it was not counted.
    pub triton: &'static [Peer],
}

fn cases() -> [Case; 10] {
    use Form::{Padded, Swizzled};
    let gemm = EXAMPLES[0].1;
    let case =
        |what, text, arch, pick, written, triton| Case { what, text, arch, pick, triton, written };
    const LDMATRIX_A: &[Peer] = &[peer(Swizzled, 13, 6, 16)];
    const LDMATRIX_B: &[Peer] = &[peer(Swizzled, 11, 6, 16)];
    const LOCAL_STORE: &[Peer] = &[peer(Swizzled, 8, 0, 8)];
    const READ_TR: &[Peer] = &[peer(Swizzled, 12, 0, 16)];
    const READ: &[Peer] = &[peer(Swizzled, 13, 4, 8), peer(Padded, 10, 0, 8)];
    const READ_942: &[Peer] = &[peer(Swizzled, 13, 4, 8)];
    const DIRECT: &[Peer] = &[peer(Swizzled, 26, 15, 4), peer(Padded, 8, 6, 4)];
    [
        case("ldmatrix A", gemm, "sm_80", Pick::Load(0), SWIZZLED_A, LDMATRIX_A),
        case("ldmatrix B", gemm, "sm_80", Pick::Load(1), SWIZZLED_B, LDMATRIX_B),
        case("local_store", STORE, "sm_80", Pick::Store(0), SWIZZLED_A, LOCAL_STORE),
        case("ds_read_tr B", gemm, "gfx950", Pick::Load(1), SWIZZLED_B, READ_TR),
        case("ds_read A", gemm, "gfx950", Pick::Load(0), SWIZZLED_A, READ),
        case("ds_read A", gemm, "gfx942", Pick::Load(0), SWIZZLED_A, READ_942),
        case("direct-to-LDS A", gemm, "gfx950", Pick::Direct(0), SWIZZLED_A, DIRECT),
        case("copy of B", gemm, "gfx950", Pick::Direct(1), None, &[]),
        case("local_store", STORE, "gfx950", Pick::Store(0), None, &[]),
        case("epilogue", gemm, "gfx942", Pick::Out(0), None, &[]),
    ]
}

/// A case's program, with Triton's layout written where that is asked for.
fn program_of(case: &Case, written: bool) -> Option<String> {
    let text = case.text.to_string();
    if !written {
        return Some(text);
    }
    let (tile, layout) = case.written?;
    let (plain, obeyed) = (format!("%{tile} = alloc_tensor :"), "alloc_tensor {layout = ");
    assert!(text.contains(&plain), "{}: no tile %{tile}", case.what);
    Some(text.replace(&plain, &format!("%{tile} = {obeyed}{layout}}} :")))
}

/// Counts every sequence: on the layout that is chosen, then on Triton's.
///
/// # Panics
/// If a program does not compile or lacks the movement.
#[must_use]
pub fn counts() -> Vec<Count> {
    let cases = cases();
    let both = cases.iter().flat_map(|case| [(case, false), (case, true)]);
    both.filter_map(|(case, written)| count(case, written)).collect()
}

/// `None` if the tables of this build lack the architecture, or no layout is to be written.
fn count(case: &Case, written: bool) -> Option<Count> {
    let arch = TABLES.arch_named(case.arch)?;
    let waves = TABLES.arch(arch).and_then(|a| a.wave_lanes.first()).copied().unwrap_or(32);
    let threads = format!("threads = {}", 4 * waves);
    let text = program_of(case, written)?.replace("threads = 128", &threads);
    let of =
        |program: &Program<'_, '_>, compiled: &Compiled<'_>| of(case, written, program, compiled);
    let counted = with_compiled(&text, arch, of);
    Some(counted.unwrap_or_else(|e| panic!("{} {}: {e}", case.arch, case.what)))
}

fn of(case: &Case, written: bool, program: &Program<'_, '_>, compiled: &Compiled<'_>) -> Count {
    let wanted = |from: &End, to: &End| {
        matches!(
            (case.pick, from, to),
            (Pick::Load(_), End::Shared(_), End::Registers(_))
                | (Pick::Store(_), End::Registers(_), End::Shared(_))
                | (Pick::Direct(_), End::Global(_), End::Shared(_))
                | (Pick::Out(_), End::Registers(_), End::Global(_))
        )
    };
    let (Pick::Load(n) | Pick::Store(n) | Pick::Direct(n) | Pick::Out(n)) = case.pick;
    let chosen = compiled
        .plan
        .transfers
        .iter()
        .filter(|m| wanted(&m.from, &m.to))
        .nth(n)
        .unwrap_or_else(|| panic!("{} {}: no such movement", case.arch, case.what));
    let origin = u16::try_from(chosen.op.index()).expect("few operations");
    let steps = |purpose| -> Vec<usize> {
        let own = |step: &Inst| step.origin == origin && step.purpose == purpose;
        (0..compiled.steps.len()).filter(|at| own(&compiled.steps[*at])).collect()
    };
    let moves = steps(InstKind::Move);
    let arch = compiled.plan.arch;
    let (to_first, to_all) = (
        steps(InstKind::FirstAddress),
        [steps(InstKind::FirstAddress), steps(InstKind::FurtherAddress)],
    );
    let first = slice(compiled, &moves[..1], &to_first, arch);
    let further = &slice(compiled, &moves, &to_all.concat(), arch) - &first;
    let shared = [chosen.from, chosen.to].into_iter().find_map(|end| {
        if let End::Shared(k) = end { compiled.plan.allocs.get(usize::from(k)) } else { None }
    });
    let form = shared.map(|alloc| match alloc.layout.post {
        PostMap::Swizzle(_) => Form::Swizzled,
        _ => Form::Padded,
    });
    let kernel = compiled.kernel(&TABLES, program).expect("a kernel");
    let text = |steps: &BTreeSet<usize>| -> Vec<String> {
        let mut out = String::new();
        let mut write = |at: &usize| kernel.step(&compiled.steps[*at], &mut out).expect("a step");
        steps.iter().for_each(&mut write);
        out.lines().map(|line| line.trim().to_string()).collect()
    };
    // One instruction a line: atoms of two lines count twice.
    let lines = [text(&first), text(&further)];
    let machine = sass::count(compiled, &lines[0], &compiled.steps[moves[0]]);
    Count {
        what: case.what,
        arch: case.arch,
        atom: TABLES.atom(chosen.atom).map_or("", |atom| atom.name()),
        first: lines[0].len() as u32,
        further: lines[1].len() as u32,
        machine,
        accesses: moves.len() as u32,
        lines,
        written,
        form,
        triton: case.triton,
    }
}

impl Count {
    fn name(&self) -> String {
        let whose = if self.written { "Triton's layout" } else { "own choice" };
        let form = self.form.map_or(String::new(), |form| format!(", {form}, {whose}"));
        format!("{} {}: {} x {}{form}", self.arch, self.what, self.accesses, self.atom)
    }

    /// Triton's figures that it may be held against: on Triton's layout those of that form, on the
    /// chosen one all.
    pub fn peers(&self) -> impl Iterator<Item = &'static Peer> + '_ {
        self.triton.iter().filter(|peer| !self.written || Some(peer.form) == self.form)
    }
}

/// Every sequence's instructions as text.
#[must_use]
pub fn listing() -> String {
    let mut out = String::new();
    for count in counts() {
        for (part, lines) in ["first", "further"].iter().zip(&count.lines) {
            out.push_str(&format!("{}, {part}:\n", count.name()));
            lines.iter().for_each(|line| out.push_str(&format!("    {line}\n")));
        }
    }
    out
}

/// Two rows a sequence, three where machine instructions are counted.
pub fn measure(report: &mut Report) {
    let mut missing: Vec<String> = Vec::new();
    for count in counts() {
        let name = count.name();
        for (part, ours) in [("first", count.first), ("further", count.further)] {
            if count.triton.is_empty() {
                report.alone(SECTION, format!("{name}, {part}"), f64::from(ours), "instr");
            }
            for peer in count.peers() {
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
        match count.machine {
            Some(Ok(ours)) => {
                report.alone(SECTION, format!("{name}, first, SASS"), f64::from(ours), "instr");
            }
            Some(Err(why)) if !missing.contains(&why) => missing.push(why),
            _ => {}
        }
    }
    missing.iter().for_each(|why| report.note(SECTION, format!("SASS is not counted: {why}")));
    report.note(SECTION, "All are counted from nothing: what another operation computes as well counts here too. Loads of kernel arguments are not counted. First, for direct-to-LDS and the epilogue, includes the tile's corner times a row stride that is known only at run time. SASS: what ptxas makes of the sequence to the first address and of nothing else; Triton's was not recorded. Triton's padded layout for direct-to-LDS pads blocks of rows, which no written layout says: there the chosen one is held against it alone.");
}
