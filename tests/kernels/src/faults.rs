//! Known faults of an emitter, put into the final steps of random programs: who finds each, and how
//! soon. The hunt finds what its replay or its checkers call wrong.

use crate::hunt::choices::Choices;
use crate::hunt::kinds::generate;
use crate::hunt::verdict::references;
use crate::interpret::{Given, Interpreted};
use crate::maps::kernel_maps;
use crate::mutants::{Numbers, change, found, is_wrong, text_of};
use crate::try_with_kernel;
use lanebook::TABLES;
use lanebook::emit::step::Inst;

/// A known fault.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    /// What it is.
    pub name: &'static str,
    /// The change of steps that it is.
    kind: &'static str,
    /// Whose steps it is put into.
    pub arch: &'static str,
    /// Kinds of programs that have what it spoils.
    kinds: &'static [&'static str],
}

const fn fault(
    name: &'static str,
    kind: &'static str,
    arch: &'static str,
    kinds: &'static [&'static str],
) -> Fault {
    Fault { name, kind, arch, kinds }
}

/// Known faults.
pub const FAULTS: [Fault; 29] = [
    fault("swapped yields", "copy", "sm_80", &["carried", "turns"]),
    fault("swapped yields", "copy", "gfx950", &["carried", "turns"]),
    fault("the temporary of a cycle left out", "temporary", "sm_80", &["carried"]),
    fault("sums where those lie that are still read", "in place", "sm_80", &["kept"]),
    fault("sums where those lie that are still read", "in place", "gfx950", &["kept"]),
    fault("half a register read as the other half", "half", "sm_80", &["cast", "chain"]),
    fault("half a register not packed", "packing", "gfx950", &["cast", "chain"]),
    fault("a phase's wait left out", "wait", "sm_90a", &["gemm", "copy"]),
    fault("a phase's parity kept", "parity", "sm_90a", &["gemm", "copy"]),
    fault("wait states of a result left out", "states", "gfx950", &["gemm", "graph", "chain"]),
    fault("order of a loop left out", "wait", "sm_80", &["turns", "nest"]),
    fault("order of a loop left out", "wait", "gfx1100", &["turns", "nest"]),
    fault("an offset off by one element", "element", "sm_80", &["gemm", "corner"]),
    fault("an offset off by one element", "element", "gfx1100", &["gemm", "corner"]),
    fault("a wrong lane in an exchange", "lane", "sm_80", &["reduce", "line"]),
    fault("an offset of another warp", "warp", "sm_80", &["gemm", "corner"]),
    fault("a bit of a mask", "mask", "sm_80", &["gemm", "corner"]),
    fault("a bit of a mask", "mask", "gfx942", &["gemm", "corner"]),
    fault("a wrong register", "read", "gfx1200", &["graph", "gemm"]),
    fault("a guard left out", "guard", "sm_80", &["copy", "gemm"]),
    fault("a guard left out", "guard", "gfx942", &["copy", "gemm"]),
    fault("a guard left out", "guard", "gfx1100", &["masks"]),
    fault("the truth of another element", "truth", "sm_80", &["masks"]),
    fault("the index of another element", "index", "sm_80", &["indices"]),
    fault("the index of another element", "index", "gfx1100", &["indices"]),
    fault("a guard of indices left out", "guard", "gfx942", &["indices"]),
    fault("the truth of another element", "truth", "gfx942", &["masks"]),
    fault("zeros beyond bounds left out", "zeros", "gfx1100", &["copy", "graph"]),
    fault("a turn too many or too few", "bound", "sm_80", &["turns", "carried"]),
];

/// In how many programs each finds a fault.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hunted {
    /// The replay, against the interpreter.
    pub replay: Option<usize>,
    /// The checkers of final steps.
    pub check: Option<usize>,
}

impl Fault {
    /// Looks for it in so many programs from a seed, until both have found it.
    ///
    /// # Panics
    /// If a kind of it is unknown.
    #[must_use]
    pub fn hunted(&self, seed: u64, limit: usize) -> Hunted {
        let mut out = Hunted::default();
        for number in 0..limit {
            let own = seed.wrapping_mul(1_000_003).wrapping_add(number as u64);
            let kind = self.kinds[number % self.kinds.len()];
            let program =
                generate(kind, Choices::seeded(own)).unwrap_or_else(|| panic!("{:?}", self.kinds));
            let text = program.text("f");
            // What the hunt itself leaves out has no meaning to compare with.
            if references(&text).is_ok_and(|known| known.is_empty()) {
                continue;
            }
            let (replay, check) = self.planted(&text, own);
            out.replay = out.replay.or(replay.then_some(number + 1));
            out.check = out.check.or(check.then_some(number + 1));
            if out.replay.is_some() && out.check.is_some() {
                break;
            }
        }
        out
    }

    /// Puts it into one program's steps: whether the replay and the checkers find it.
    fn planted(&self, source: &str, seed: u64) -> (bool, bool) {
        let given = |turns| Given { turns, salt: 0, fill: None };
        let said: Vec<Interpreted> = [2, 0, 1, 3]
            .into_iter()
            .filter_map(|turns| Interpreted::with(source, given(turns)).ok())
            .collect();
        let most = if said.first().is_some_and(|s| s.is_bounded) { 4 } else { 1 };
        let maps = || kernel_maps(source, self.arch);
        try_with_kernel(source, self.arch, |program, compiled, text| {
            let machine = TABLES.arch(compiled.plan.arch).expect("an architecture");
            let isa = TABLES.isa(machine.isa).expect("an instruction set");
            let waits: Vec<_> = machine.counters.iter().map(|c| c.wait).collect();
            let mut numbers = Numbers(seed | 1);
            for _ in 0..40 {
                let mut steps: Vec<Inst> = compiled.steps.to_vec();
                if change(self.kind, &mut steps, &waits, isa, &mut numbers).is_none() {
                    continue;
                }
                let Some(changed) = text_of(program, compiled, text, &steps) else { continue };
                let check = found(program, compiled, &steps).is_some();
                let most = most.min(said.len());
                return (is_wrong(&said[..most], &changed, &maps(), self.arch), check);
            }
            (false, false)
        })
        .unwrap_or((false, false))
    }
}
