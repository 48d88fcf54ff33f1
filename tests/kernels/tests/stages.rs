//! Loops of stages: how many turns' copies are on their way while a turn is multiplied, and that
//! the checkers see each fault in waits, barriers, buffers and turns.
#![allow(missing_docs)]

use lanebook::TABLES;
use lanebook::check::{FinalSteps, Violation};
use lanebook::compile::Compiled;
use lanebook::emit::step::{Inst, InstKind, Slot};
use lanebook::ir::Program;
use lanebook::tables::{OpRole, Space};
use lanebook_kernels::interpret::{Given, Interpreted};
use lanebook_kernels::judge::{run_measured, run_text};
use lanebook_kernels::maps::text_and_maps;
use lanebook_kernels::{checked, kernel_text, try_kernel_text, with_kernel};

const ARCHS: [&str; 8] =
    ["sm_80", "sm_86", "sm_89", "sm_90", "sm_90a", "sm_100a", "sm_120", "sm_121a"];

/// Those whose copies complete on barriers in shared memory, one for each buffer.
const RINGS: [&str; 5] = ["sm_90", "sm_90a", "sm_100a", "sm_120", "sm_121a"];

/// Those that copy to shared memory without a group.
const COUNTED: [&str; 5] = ["gfx942", "gfx950", "gfx1100", "gfx1200", "gfx1250"];

/// A product of f16 with so many stages, and what stands before its loop and in it.
fn gemm(stages: u32) -> String {
    format!(
        "func @f(%A: memref<?x?xf16, #gmem> {{align = 16, stride_div = 8}}, %B: memref<?x?xf16, #gmem> {{align = 16, stride_div = 8}}, %C: memref<?x?xf32, #gmem>, %D: memref<?x?xf32, #gmem>, %K: index) {{threads = 128}} {{
  %sa = alloc_tensor : tensor<64x32xf16, #smem>
  %sb = alloc_tensor : tensor<32x32xf16, #smem>
  %z = constant 0.0 : tensor<64x32xf32>
  %r = scf.for %k = 0 to %K step 32 iter_args(%c = %z) -> tensor<64x32xf32> {{num_stages = {stages}}} {{
    copy %A[0, %k], %sa : memref<?x?xf16, #gmem> -> tensor<64x32xf16, #smem>
    copy %B[%k, 0], %sb : memref<?x?xf16, #gmem> -> tensor<32x32xf16, #smem>
    %a = tiled_load %sa : tensor<64x32xf16, #smem> -> tensor<64x32xf16>
    %b = tiled_load %sb : tensor<32x32xf16, #smem> -> tensor<32x32xf16>
    %d = mma %a, %b, %c : tensor<64x32xf32>
    tiled_store %d, %D[0, %k] : tensor<64x32xf32> -> memref<?x?xf32, #gmem>
    scf.yield %d : tensor<64x32xf32>
  }}
  tiled_store %r, %C[0, 0] : tensor<64x32xf32> -> memref<?x?xf32, #gmem>
}}
"
    )
}

/// The same of tiles that boxes of a tensor map bring.
fn boxes(stages: u32) -> String {
    let wider =
        [("32x32xf16", "64x64xf16"), ("64x32xf16", "64x64xf16"), ("64x32xf32", "64x64xf32")];
    let mut text = gemm(stages).replace("step 32", "step 64");
    for (from, to) in wider {
        text = text.replace(from, to);
    }
    text
}

fn said(text: &str, turns: u32) -> Interpreted {
    Interpreted::with(text, Given { turns, salt: 0, fill: None }).expect("a program")
}

/// While a turn's tiles are multiplied, the copies of all turns up to `stages - 1` later are on
/// their way, as far as there are so many.
#[test]
fn copies_of_so_many_turns_are_on_their_way() {
    let groups = (2..=5).flat_map(|n| ARCHS.map(|arch| (n, arch, gemm(n))));
    let rings = (2..=4).flat_map(|n| RINGS.map(|arch| (n, arch, boxes(n))));
    for (stages, arch, text) in groups.chain(rings) {
        let (kernel, maps) = text_and_maps(&text, arch);
        assert_eq!(maps.is_empty(), text == gemm(stages), "{arch}");
        for turns in [1, 2, 4, 9] {
            let report = run_measured(&said(&text, turns), &kernel, &maps, arch, true)
                .unwrap_or_else(|e| panic!("{arch}: {e}"));
            let of_one: Vec<u32> =
                report.matrix.iter().filter(|e| e.warp == 0).map(|e| e.groups_in_flight).collect();
            assert!(
                !of_one.is_empty() && of_one.len().is_multiple_of(turns as usize),
                "{arch}: {of_one:?}"
            );
            let each = of_one.len() / turns as usize;
            for (turn, found) in (0..turns).zip(of_one.chunks(each)) {
                let want = (stages - 1).min(turns - 1 - turn);
                assert!(
                    found.iter().all(|n| *n == want),
                    "{arch}: {found:?} groups at turn {turn} of {turns}, {stages} stages"
                );
            }
        }
    }
}

/// Where other warps start the copies, too, and these are as far ahead as there are buffers.
#[test]
fn copies_of_other_warps_are_on_their_way() {
    for (stages, arch) in
        (2..=4).flat_map(|n| ["sm_90a", "sm_100a", "sm_121a"].map(|arch| (n, arch)))
    {
        let text = boxes(stages).replace("num_stages = ", "warp_specialize, num_stages = ");
        let (kernel, maps) = text_and_maps(&text, arch);
        for turns in [1, 2, 4, 9] {
            let report = run_measured(&said(&text, turns), &kernel, &maps, arch, true)
                .unwrap_or_else(|e| panic!("{arch}: {e}"));
            let of_one: Vec<u32> =
                report.matrix.iter().filter(|e| e.warp == 0).map(|e| e.groups_in_flight).collect();
            let each = of_one.len() / turns as usize;
            assert!(each > 0 && of_one.len().is_multiple_of(turns as usize), "{arch}: {of_one:?}");
            for (turn, found) in (0..turns).zip(of_one.chunks(each)) {
                let want = (stages - 1).min(turns - 1 - turn);
                assert!(
                    found.iter().all(|n| *n == want),
                    "{arch}: {found:?} groups at turn {turn} of {turns}, {stages} stages"
                );
            }
        }
    }
}

/// The same without what is stored in its loop.
fn stored_once(stages: u32) -> String {
    gemm(stages).lines().filter(|l| !l.contains("%D[")).map(|l| format!("{l}\n")).collect()
}

/// How many instructions of a turn's copies read global memory: those that copy to shared memory
/// by themselves, and loads of registers that are stored there later.
fn copies_of_a_turn(text: &str, arch: &str) -> [u32; 2] {
    with_kernel(text, arch, |program, compiled, _| {
        let mut count = [0; 2];
        for step in compiled.steps.iter().filter(|step| step.purpose == InstKind::Move) {
            let own = |op: &lanebook::ir::Op| op.index() == usize::from(step.origin);
            let op = program.all().find(own).expect("an operation");
            let movement = TABLES.atom(step.atom).and_then(|atom| atom.movement);
            let movement = movement.expect("a movement");
            if program.role(op) == OpRole::Copy && movement.from.space == Space::Global {
                count[usize::from(movement.to.space == Space::Register)] += 1;
            }
        }
        count
    })
}

/// Where copies are counted one by one, no turn waits for those of later ones: copies to shared memory
/// of up to `stages - 1` turns are on their way while there are so many turns, and what is loaded
/// into registers for the last of them. What was loaded is waited for at the end of each turn, and
/// all that was copied before it with it.
#[test]
fn counted_copies_of_so_many_turns_are_on_their_way() {
    for (stages, arch) in (2..=5).flat_map(|n| COUNTED.map(|arch| (n, arch))) {
        let text = stored_once(stages);
        let (kernel, [copies, loads]) = (kernel_text(&text, arch), copies_of_a_turn(&text, arch));
        let ways = match arch {
            "gfx950" | "gfx1250" => copies > 0 && loads == 0,
            "gfx942" => copies > 0 && loads > 0,
            _ => copies == 0 && loads > 0,
        };
        assert!(ways, "{arch}: {copies} copies, {loads} loads");
        // Where all go through registers, these hold one turn's, whatever is written.
        let stages = if copies == 0 { 2 } else { stages };
        for turns in [1, 2, 4, 9] {
            let report = run_measured(&said(&text, turns), &kernel, &[], arch, true)
                .unwrap_or_else(|e| panic!("{arch}: {e}"));
            let of_one: Vec<u32> =
                report.matrix.iter().filter(|e| e.warp == 0).map(|e| e.copies_in_flight).collect();
            assert!(!of_one.is_empty() && of_one.len().is_multiple_of(turns as usize), "{arch}");
            let products = of_one.len() / turns as usize;
            let behind_loads = if loads > 0 { 2 } else { stages };
            for (turn, found) in (0..turns).zip(of_one.chunks(products)) {
                // Where nothing more is copied, all is waited for.
                let is_last = turn + stages > turns;
                let want = copies * (stages - 1).min(behind_loads) + loads;
                let want = if is_last { 0 } else { want };
                assert!(
                    found.iter().all(|n| *n == want),
                    "{arch}: {found:?} at turn {turn} of {turns}, {stages} stages of {copies} \
                     copies and {loads} loads"
                );
            }
        }
    }
}

/// Where copies begin at what the loop loads, that is loaded ahead with them: as many turns are on
/// their way. On AMD the loads are counted with the copies, in order, so that the wait for where
/// the next ones begin is one for all earlier copies: those of the last turn are on their way.
#[test]
fn copies_from_loaded_places_are_on_their_way() {
    let paged = include_str!("../programs/pages_staged.tile").replace("grid = (2)", "grid = (1)");
    let archs = ["sm_80", "sm_90a", "sm_100a", "gfx942", "gfx950", "gfx1250"];
    for (stages, arch) in [2, 4].into_iter().flat_map(|n| archs.map(|arch| (n, arch))) {
        let text = paged.replace("num_stages = 3", &format!("num_stages = {stages}"));
        let (kernel, maps) = text_and_maps(&text, arch);
        let in_groups = arch.starts_with("sm_");
        let [copies, loads] = if in_groups { [0; 2] } else { copies_of_a_turn(&text, arch) };
        for turns in [1, 5] {
            let report = run_measured(&said(&text, turns), &kernel, &maps, arch, true)
                .unwrap_or_else(|e| panic!("{arch}: {e}"));
            let own = report.matrix.iter().filter(|e| e.warp == 0);
            let of_one: Vec<[u32; 2]> =
                own.map(|e| [e.groups_in_flight, e.copies_in_flight]).collect();
            let products = of_one.len() / turns as usize;
            assert!(products > 0 && of_one.len().is_multiple_of(turns as usize), "{arch}");
            for (turn, found) in (0..turns).zip(of_one.chunks(products)) {
                let ahead = (stages - 1).min(turns - 1 - turn);
                let least = if turn + stages > turns { 0 } else { copies + loads };
                let is_right = |[groups, own]: &[u32; 2]| match in_groups {
                    true => *groups == ahead,
                    false => *own >= least,
                };
                assert!(
                    found.iter().all(is_right),
                    "{arch}: {found:?} at turn {turn} of {turns}, {stages} stages, {copies} \
                     copies and {loads} loads"
                );
            }
        }
    }
}

/// Any number of turns, fewer than stages too.
#[test]
fn any_number_of_turns() {
    let anywhere = |text: String| text.replace("stride_div = 8", "stride_div = 1");
    for (stages, nears) in [(2, false), (3, false), (8, false), (3, true)] {
        // Rows that begin anywhere are copied through registers.
        let text = if nears { anywhere(gemm(stages)) } else { gemm(stages) };
        for arch in ["sm_75", "sm_80", "sm_90"].into_iter().chain(COUNTED) {
            turns_are_right(&text, arch, 0..2 * stages + 2);
        }
    }
    // Phases go round twice.
    for (stages, turns) in [(2, 0..9), (3, 0..14), (5, 10..12)] {
        for arch in RINGS {
            turns_are_right(&boxes(stages), arch, turns.clone());
        }
    }
}

fn turns_are_right(text: &str, arch: &str, turns: core::ops::Range<u32>) {
    let (kernel, maps) = text_and_maps(text, arch);
    for turns in turns {
        run_text(&said(text, turns), &kernel, &maps, arch)
            .unwrap_or_else(|e| panic!("{arch}, {turns} turns: {e}\n{text}"));
    }
}

/// No wait in the loop is for all copies, and there is one barrier a turn.
#[test]
fn one_wait_and_one_barrier_a_turn() {
    for (stages, arch) in [(3, "sm_80"), (4, "sm_90")] {
        // Tiles that are stored one over the other take a barrier of their own.
        let text = gemm(stages);
        let text: String =
            text.lines().filter(|l| !l.contains("%D[")).map(|l| format!("{l}\n")).collect();
        let kernel = kernel_text(&text, arch);
        let body = kernel.split("_0:").nth(1).expect("a loop").split("bra ").collect::<Vec<_>>();
        let body = body[..body.len() - 1].join("bra ");
        assert_eq!(body.matches("wait_group").count(), 1, "{body}");
        assert!(body.contains(&format!("wait_group {};", stages - 2)), "{body}");
        assert_eq!(body.matches("bar.sync").count(), 1, "{body}");
    }
}

type Plant = fn(&Look<'_>, &mut Vec<Inst>) -> bool;

/// What faults are planted into.
struct Look<'a> {
    around: usize,
    copies: Vec<usize>,
    wait: lanebook::tables::AtomId,
    /// Which of the wait's operands says how many copies may be on their way.
    left: usize,
    close: Option<lanebook::tables::AtomId>,
    barrier: lanebook::tables::AtomId,
    branch: lanebook::tables::AtomId,
    nop: Option<lanebook::tables::AtomId>,
    branch_if: lanebook::tables::AtomId,
    program: &'a Program<'a, 'a>,
}

fn look<'a>(program: &'a Program<'a, 'a>, compiled: &Compiled<'_>) -> Look<'a> {
    let arch = TABLES.arch(compiled.plan.arch).expect("an architecture");
    let around = program.all().find(|op| program.role(*op) == OpRole::For).expect("a loop");
    let copies = program.all().filter(|op| program.role(*op) == OpRole::Copy);
    let atom = |name: &str| TABLES.atom_named(name).expect("an atom");
    let (wait, barrier, close) = match arch.name {
        "gfx942" | "gfx950" => ("s_waitcnt", "s_barrier", None),
        "gfx1100" => ("s_waitcnt.gfx10", "s_barrier.gfx10", None),
        "gfx1200" => ("s_wait_dscnt", "s_barrier_signal_wait", None),
        "gfx1250" => ("s_wait_asynccnt", "s_barrier_signal_wait", None),
        _ if !compiled.plan.maps.is_empty() => ("mbarrier.wait.parity", "bar.sync", None),
        _ => ("cp.async.wait_group", "bar.sync", Some("cp.async.commit_group")),
    };
    Look {
        around: around.index(),
        copies: copies.map(|op| op.index()).collect(),
        wait: atom(wait),
        left: usize::from(arch.name == "gfx1100"),
        close: close.map(atom),
        barrier: atom(barrier),
        branch: TABLES.isa(arch.isa).expect("an instruction set").branch,
        nop: TABLES.isa(arch.isa).expect("an instruction set").nop,
        branch_if: TABLES.isa(arch.isa).expect("an instruction set").branch_if,
        program,
    }
}

fn is(step: &Inst, atom: lanebook::tables::AtomId) -> bool {
    step.purpose != InstKind::Label && step.atom == atom
}

/// Changes the first step that is meant.
fn change(steps: &mut [Inst], which: impl Fn(&Inst) -> bool, how: impl Fn(&mut Inst)) -> bool {
    steps.iter_mut().find(|s| which(s)).map(how).is_some()
}

fn remove(steps: &mut Vec<Inst>, which: impl Fn(&Inst) -> bool) -> bool {
    steps.iter().position(which).map(|at| steps.remove(at)).is_some()
}

/// Whether a step of the loop waits for copies.
fn waits(look: &Look<'_>, s: &Inst) -> bool {
    let atom = TABLES.atom(look.wait).expect("a wait");
    let most = atom.operands.get(look.left).expect("an operand").range.1;
    is(s, look.wait)
        && usize::from(s.origin) == look.around
        && matches!(s.args[look.left], Slot::Int(n) if i64::from(n) < most)
}

/// Faults of loops whose copies are counted in groups.
const OF_GROUPS: [(&str, Plant); 2] = [
    ("no group is closed", |look, steps| remove(steps, |s| Some(s.atom) == look.close)),
    ("groups are closed a turn late", |look, steps| {
        let Some(at) = steps.iter().position(|s| Some(s.atom) == look.close) else { return false };
        let close = steps.remove(at);
        let wait = steps.iter().position(|s| is(s, look.wait));
        wait.map(|at| steps.insert(at + 1, close)).is_some()
    }),
];

/// Faults of loops whose copies are counted one by one.
const OF_COPIES: [(&str, Plant); 3] = [
    ("nothing is waited for where nothing is copied", |look, steps| {
        let none = |s: &Inst| waits(look, s) && s.args[look.left] == Slot::Int(0);
        remove(steps, none)
    }),
    ("one copy may be on its way where nothing is copied", |look, steps| {
        let none = |s: &Inst| waits(look, s) && s.args[look.left] == Slot::Int(0);
        change(steps, none, |s| s.args[look.left] = Slot::Int(1))
    }),
    ("times without copies go on as others do", |look, steps| {
        // The branch behind the copies leads nowhere: all is waited for in each turn. That is no
        // fault; that the copies' branch leads behind the wait is one.
        let branches = |s: &Inst| is(s, look.branch_if) && usize::from(s.origin) == look.around;
        let jumps = |s: &Inst| is(s, look.branch) && usize::from(s.origin) == look.around;
        let Some(first) = steps.iter().position(branches) else { return false };
        let Some(jump) = steps.iter().skip(first).find(|s| jumps(s)) else { return false };
        let label = jump.args.iter().copied().find(|a| matches!(a, Slot::Label(_)));
        let place = steps[first].args.iter().position(|a| matches!(a, Slot::Label(_)));
        place.zip(label).map(|(place, label)| steps[first].args[place] = label).is_some()
    }),
];

/// Whether a step waits for what a copy has loaded into registers.
fn waits_for_loads(look: &Look<'_>, s: &Inst) -> bool {
    let atom = |name| TABLES.atom_named(name);
    let known = ["s_waitcnt", "s_waitcnt.gfx10", "s_wait_loadcnt"];
    known.iter().any(|name| Some(s.atom) == atom(name))
        && s.purpose == InstKind::Sync
        && look.copies.contains(&usize::from(s.origin))
        && matches!(s.args[0], Slot::Int(n) if n < 63)
}

/// Faults of loops whose copies are loaded into registers, and stored behind the products.
const OF_REGISTERS: [(&str, Plant); 5] = [
    ("what is loaded is not waited for", |look, steps| remove(steps, |s| waits_for_loads(look, s))),
    ("one load more may be on its way", |look, steps| {
        let weaker = |s: &mut Inst| {
            let Slot::Int(n) = s.args[0] else { return };
            s.args[0] = Slot::Int(n + 1);
        };
        change(steps, |s| waits_for_loads(look, s), weaker)
    }),
    ("stores of a turn that is none", |look, steps| {
        let branches = |s: &Inst| is(s, look.branch_if) && usize::from(s.origin) == look.around;
        let third = (0..steps.len()).filter(|at| branches(&steps[*at])).nth(2);
        third.map(|at| steps.remove(at)).is_some()
    }),
    ("stores before the products", |look, steps| {
        let stores = |s: &Inst| {
            let movement = TABLES.atom(s.atom).and_then(|atom| atom.movement);
            s.purpose == InstKind::Move
                && look.copies.contains(&usize::from(s.origin))
                && movement.is_some_and(|m| m.from.space == Space::Register)
        };
        let Some(at) = steps.iter().position(stores) else { return false };
        let store = steps.remove(at);
        let products = steps.iter().position(|s| s.purpose == InstKind::Matrix).expect("one");
        steps.insert(products, store);
        true
    }),
    ("one register is stored twice", |look, steps| {
        let stores = |s: &Inst| {
            let movement = TABLES.atom(s.atom).and_then(|atom| atom.movement);
            s.purpose == InstKind::Move
                && look.copies.contains(&usize::from(s.origin))
                && movement.is_some_and(|m| m.from.space == Space::Register)
        };
        let all: Vec<usize> = (0..steps.len()).filter(|at| stores(&steps[*at])).collect();
        let [.., a, b] = all[..] else { return false };
        let data = |s: &Inst| {
            TABLES.atom(s.atom).and_then(|atom| atom.movement).map(|m| m.from.operand.into())
        };
        let place: Option<usize> = data(&steps[a]);
        place.is_some_and(|place| {
            let other = steps[a].args[place];
            core::mem::replace(&mut steps[b].args[place], other) != other
        })
    }),
];

/// Whether a step is the wait of a loop's turns for an object of its ring.
fn waits_in_ring(look: &Look<'_>, s: &Inst) -> bool {
    is(s, look.wait) && usize::from(s.origin) == look.around
}

/// The step that announces a turn's copies, and what their first one is.
fn announced(look: &Look<'_>, steps: &[Inst]) -> (usize, usize) {
    let expect = TABLES.atom_named("mbarrier.expect_tx.one").expect("an atom");
    let announces = |s: &Inst| is(s, expect) && look.copies.contains(&usize::from(s.origin));
    let copies =
        |s: &Inst| s.purpose == InstKind::Move && look.copies.contains(&usize::from(s.origin));
    let first = steps.iter().position(copies).expect("a copy");
    (steps.iter().position(announces).expect("an announcement"), first)
}

/// Puts the register of the ring's wait, or of its announcement, in the place of the other one.
fn exchange(look: &Look<'_>, steps: &mut [Inst], to_wait: bool) -> bool {
    let (expect, copy) = announced(look, steps);
    let wait = steps.iter().position(|s| waits_in_ring(look, s)).expect("a wait");
    let (waited, announced) = (steps[wait].args[0], steps[expect].args[1]);
    if to_wait {
        return core::mem::replace(&mut steps[wait].args[0], announced) != announced;
    }
    let signal = steps[copy].args.iter_mut().find(|arg| **arg == announced).expect("an object");
    core::mem::replace(signal, waited) != waited
}

/// The steps that write the parity of a ring's wait.
fn parities(look: &Look<'_>, steps: &[Inst]) -> Vec<usize> {
    let wait = steps.iter().position(|s| waits_in_ring(look, s)).expect("a wait");
    let parity = steps[wait].args[1];
    let writes = |at: &usize| {
        steps[*at].purpose != InstKind::Label && *at != wait && steps[*at].args[0] == parity
    };
    (0..steps.len()).filter(writes).collect()
}

/// Faults of loops whose copies complete on a ring of objects.
const OF_RINGS: [(&str, Plant); 14] = [
    ("no wait", |look, steps| remove(steps, |s| waits_in_ring(look, s))),
    ("the wait stands behind the products", |look, steps| {
        let wait = steps.iter().position(|s| waits_in_ring(look, s)).expect("a wait");
        let wait = steps.remove(wait);
        let last = steps.iter().rposition(|s| s.purpose == InstKind::Matrix).expect("a product");
        steps.insert(last + 1, wait);
        true
    }),
    ("the phases begin with the other one", |look, steps| {
        let first = parities(look, steps)[0];
        let arg = steps[first].args.iter_mut().find(|arg| **arg == Slot::Int(0));
        arg.map(|arg| *arg = Slot::Int(1)).is_some()
    }),
    ("the phase changes with each turn", |look, steps| {
        let [_, round, _] = parities(look, steps)[..] else { return false };
        steps.remove(round);
        true
    }),
    ("the phase changes but where the ring begins again", |look, steps| {
        let [.., flip] = parities(look, steps)[..] else { return false };
        steps.remove(flip);
        true
    }),
    ("waits for what was announced last", |look, steps| exchange(look, steps, true)),
    ("a copy completes on what is waited for", |look, steps| exchange(look, steps, false)),
    ("more bytes are announced", |look, steps| {
        let (at, _) = announced(look, steps);
        let Slot::Int(n) = steps[at].args[2] else { return false };
        steps[at].args[2] = Slot::Int(n + 16);
        true
    }),
    ("the bytes of one copy are announced", |look, steps| {
        let (at, _) = announced(look, steps);
        let Slot::Int(n) = steps[at].args[2] else { return false };
        steps[at].args[2] = Slot::Int(n / 2);
        true
    }),
    ("nothing is announced", |look, steps| {
        let (at, _) = announced(look, steps);
        steps.remove(at);
        true
    }),
    ("announced twice", |look, steps| {
        let (at, _) = announced(look, steps);
        steps.insert(at, steps[at]);
        true
    }),
    ("announced in the first turn's time, for each turn", |look, steps| {
        // In front of the branch that leaves out the copies.
        let (at, _) = announced(look, steps);
        let branches = |s: &Inst| is(s, look.branch_if) && usize::from(s.origin) == look.around;
        let announcement = steps.remove(at);
        let branch = steps.iter().position(branches).expect("a branch");
        steps.insert(branch, announcement);
        true
    }),
    ("announced behind a copy", |look, steps| {
        let (at, copy) = announced(look, steps);
        let announcement = steps.remove(at);
        steps.insert(copy, announcement);
        copy > at
    }),
    ("no barrier in the loop", |look, steps| {
        // Products that everybody waits for have a barrier of their own, which is enough.
        let own = |s: &Inst| s.purpose == InstKind::Label && usize::from(s.origin) == look.around;
        let labels: Vec<usize> = (0..steps.len()).filter(|at| own(&steps[*at])).collect();
        let (first, last) = (labels[0], labels[labels.len() - 1]);
        let before = steps.len();
        let mut at = 0;
        steps.retain(|s| {
            at += 1;
            !(is(s, look.barrier) && (first..last).contains(&(at - 1)))
        });
        steps.len() < before
    }),
];

const FAULTS: [(&str, Plant); 7] = [
    ("a wait one too weak", |look, steps| {
        let weaker = |s: &mut Inst| {
            let Slot::Int(n) = s.args[look.left] else { return };
            s.args[look.left] = Slot::Int(n + 1);
        };
        change(steps, |s| waits(look, s), weaker)
    }),
    ("no wait", |look, steps| remove(steps, |s| waits(look, s))),
    ("no barrier", |look, steps| remove(steps, |s| is(s, look.barrier))),
    ("the barrier stands behind the copies", |look, steps| {
        let Some(at) = steps.iter().position(|s| is(s, look.barrier)) else { return false };
        let barrier = steps.remove(at);
        let copies =
            |s: &Inst| s.purpose == InstKind::Move && look.copies.contains(&usize::from(s.origin));
        let last = steps.iter().rposition(copies).expect("a copy");
        steps.insert(last + 1, barrier);
        true
    }),
    ("copies of a turn that is none", |look, steps| {
        let branches = |s: &Inst| is(s, look.branch_if) && usize::from(s.origin) == look.around;
        remove(steps, branches)
    }),
    ("products of a turn that is none", |look, steps| {
        let branches = |s: &Inst| is(s, look.branch_if) && usize::from(s.origin) == look.around;
        let Some(first) = steps.iter().position(branches) else { return false };
        let at = steps.iter().skip(first + 1).position(branches).map(|k| k + first + 1);
        at.map(|at| steps.remove(at)).is_some()
    }),
    ("a store's address goes on before the first turn", |look, steps| {
        let program = look.program;
        let yields = program.all().find(|op| program.role(*op) == OpRole::Yield);
        let store = program.all().find(|op| program.role(*op) == OpRole::Store).expect("a store");
        let ends = |s: &Inst| {
            s.purpose == InstKind::FurtherAddress
                && [Some(store), yields]
                    .iter()
                    .flatten()
                    .any(|op| op.index() == usize::from(s.origin))
        };
        let Some(at) = steps.iter().rposition(ends) else { return false };
        let label = steps.iter().skip(at).position(|s| s.purpose == InstKind::Label);
        let Some(label) = label.map(|k| k + at) else { return false };
        let step = steps.remove(at);
        steps.insert(label, Inst { origin: look.around as u16, ..step });
        true
    }),
];

fn verdict(
    program: &Program<'_, '_>,
    compiled: &Compiled<'_>,
    steps: &[Inst],
) -> Result<(), Violation> {
    let kernel = FinalSteps { steps, ..FinalSteps::of(compiled) };
    checked::check(program, &kernel).map(|_| ())
}

#[test]
fn faults_of_rings_are_found() {
    for (arch, stages) in RINGS.into_iter().flat_map(|arch| [(arch, 2), (arch, 3)]) {
        with_kernel(&boxes(stages), arch, |program, compiled, text| {
            let look = look(program, compiled);
            verdict(program, compiled, compiled.steps)
                .unwrap_or_else(|v| panic!("{arch}: {v:?}\n{text}"));
            // Waits and barriers are the ring's own, the rest are faults of any loop of stages.
            let others = FAULTS
                .iter()
                .filter(|(name, _)| !name.contains("wait") && !name.contains("barrier"));
            for &(name, plant) in OF_RINGS.iter().chain(others) {
                let mut steps = compiled.steps.to_vec();
                assert!(plant(&look, &mut steps), "{arch}: {name}: nothing to spoil\n{text}");
                let found = verdict(program, compiled, &steps);
                assert!(found.is_err(), "{arch}, {stages} stages: {name} is not found\n{text}");
            }
        });
    }
}

#[test]
fn faults_are_found() {
    for arch in ["sm_80", "sm_90"].into_iter().chain(COUNTED) {
        // Where all is waited for that was loaded, later waits are the same in loops of more stages.
        let through = !["sm_80", "sm_90", "gfx950", "gfx1250"].contains(&arch);
        with_kernel(&gemm(if through { 2 } else { 3 }), arch, |program, compiled, text| {
            let look = look(program, compiled);
            verdict(program, compiled, compiled.steps)
                .unwrap_or_else(|v| panic!("{arch}: {v:?}\n{text}"));
            let own = match look.close {
                Some(_) => &OF_GROUPS[..],
                None if through => &OF_REGISTERS,
                None => &OF_COPIES,
            };
            for &(name, plant) in FAULTS.iter().chain(own) {
                let mut steps = compiled.steps.to_vec();
                assert!(plant(&look, &mut steps), "{arch}: {name}: nothing to spoil\n{text}");
                let found = verdict(program, compiled, &steps);
                assert!(found.is_err(), "{arch}: {name} is not found\n{text}");
            }
        });
    }
}

/// Each number that a loop of stages has of its own, changed by one turn's or one buffer's, and each
/// of its steps left out: prologues short by one, buffers wrong by one.
#[test]
fn every_number_and_step_of_the_loop_matters() {
    let rings = RINGS.map(|arch| (arch, boxes(3), 64));
    let others = ["sm_80", "sm_90"].into_iter().chain(COUNTED).map(|arch| (arch, gemm(3), 32));
    for (arch, source, turn) in others.chain(rings) {
        // What products and stores have waited for is waited for again.
        let through = ["gfx942", "gfx1100", "gfx1200"].contains(&arch);
        with_kernel(&source, arch, |program, compiled, text| {
            let look = look(program, compiled);
            let stage = compiled.plan.allocs.iter().map(|a| a.stage_bytes()).collect::<Vec<_>>();
            let own = |s: &Inst| {
                s.purpose != InstKind::Label
                    && (usize::from(s.origin) == look.around
                        || s.purpose == InstKind::FurtherAddress
                            && look.copies.contains(&usize::from(s.origin)))
            };
            let (mut numbers, mut steps_out) = (0, 0);
            for at in 0..compiled.steps.len() {
                let step = compiled.steps[at];
                if !own(&step) {
                    continue;
                }
                for k in 0..step.args.len() {
                    let Slot::Int(n) = step.args[k] else { continue };
                    for by in [turn, -turn, 1, -1, stage[0] as i32] {
                        // What else waits is not this loop's: counters that are not told anything.
                        let others = step.purpose == InstKind::Sync
                            && look.close.is_none()
                            && (through || k != look.left || !waits(&look, &step));
                        if others {
                            continue;
                        }
                        // Below a turn's step nothing is decided, and a wait may be stronger.
                        let small =
                            by.abs() == 1 && (n % turn == 0 || (n + 1) % turn == 0 || n == -97);
                        // Of a number of two bits a mask's others are without effect.
                        let masks = n == -2 && (n + by) & 3 == n & 3;
                        if small || masks || is(&step, look.wait) && by < 0 {
                            continue;
                        }
                        let mut steps = compiled.steps.to_vec();
                        steps[at].args[k] = Slot::Int(n + by);
                        numbers += 1;
                        assert!(
                            verdict(program, compiled, &steps).is_err(),
                            "{arch}: step {at} with {} for {n}: {step:?}\n{text}",
                            n + by
                        );
                    }
                }
                // A loop that begins below zero, or at it, is entered by its test or not.
                // Wait states run out at labels, whatever comes behind; loads that products have waited
                // for are waited for again.
                let others = Some(step.atom) == look.nop
                    || look.close.is_none()
                        && TABLES.atom(step.atom).is_some_and(|a| a.name().starts_with("s_wait"))
                        && (through || !waits(&look, &step));
                if is(&step, look.branch) || others {
                    continue;
                }
                let mut steps = compiled.steps.to_vec();
                let _ = steps.remove(at);
                steps_out += 1;
                assert!(
                    verdict(program, compiled, &steps).is_err(),
                    "{arch}: without step {at}: {step:?}\n{text}"
                );
            }
            assert!(numbers > 30 && steps_out > 20, "{arch}: {numbers}, {steps_out}");
        });
    }
}

/// What cannot run ahead is refused, each for its reason.
#[test]
fn what_cannot_run_ahead_is_refused() {
    let text = gemm(3);
    let with = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        text.replace(from, to)
    };
    let copy = "    copy %A[0, %k], %sa : memref<?x?xf16, #gmem> -> tensor<64x32xf16, #smem>\n";
    let load = "    %a = tiled_load %sa : tensor<64x32xf16, #smem> -> tensor<64x32xf16>\n";
    for (program, why) in [
        (with(copy, &format!("    %h = index.rem %k, 48 : index\n{}", copy.replace("%k]", "%h]"))), "Uneven"),
        (with(copy, "") .replace(load, &format!("{load}{copy}")), "Touched"),
        (with(copy, &format!("{copy}{copy}")), "Touched"),
        (with("  tiled_store %r", &format!("{}  tiled_store %r", load.replace("%a", "%e").replace("    ", "  "))), "Touched"),
        (with("to %K step 32", "to %K step 1073741824"), "Reach"),
        (with("0 to %K", "-32 to %K"), "Bounds"),
        (with("%K: index)", "%K: index, %s: index)").replace("step 32", "step %s"), "Bounds"),
        (with("%K: index)", "%K: index, %s: index {signed})").replace("0 to %K", "%s to %K"), "Bounds"),
        (
            with("    tiled_store %d, %D[0, %k] : tensor<64x32xf32> -> memref<?x?xf32, #gmem>\n", "    tiled_store %a, %A[%k, 0] : tensor<64x32xf16> -> memref<?x?xf16, #gmem>\n"),
            "Written",
        ),
        (
            with(copy, "").replace("    copy %B[%k, 0], %sb : memref<?x?xf16, #gmem> -> tensor<32x32xf16, #smem>\n", "")
                .replace("  %z =", &format!("{}  copy %B[0, 0], %sb : memref<?x?xf16, #gmem> -> tensor<32x32xf16, #smem>\n  %z =", copy.replace("    ", "  ").replace("%k", "0"))),
            "NoCopy",
        ),
    ] {
        let found = try_kernel_text(&program, "sm_80").err().unwrap_or_else(|| panic!("{why}: it compiles\n{program}"));
        assert!(found.contains("Stages {") && found.contains(why), "{why}: {found}\n{program}");
    }
    // What says where copies begin is loaded ahead, so that the loop does not write it.
    let paged = include_str!("../programs/pages_staged.tile");
    let store = "    tiled_store %e, %T[%b, %i] : i32 -> memref<?x?xi32, #gmem>\n    scf.yield";
    let found = try_kernel_text(&paged.replace("    scf.yield", store), "sm_80").err();
    assert!(found.as_ref().is_some_and(|why| why.contains("Written")), "{found:?}");
    // One stage is no stage.
    assert_eq!(
        kernel_text(&gemm(1), "sm_80"),
        kernel_text(&gemm(1).replace(" {num_stages = 1}", ""), "sm_80")
    );
}

/// Where all copies of a loop go through registers, which hold one turn's, its tiles have two buffers,
/// however many stages are written; where they are on their way to shared memory, as many.
#[test]
fn copies_through_registers_have_two_buffers() {
    let text = include_str!("../programs/stages_within_bounds.tile");
    for (arch, want) in [("sm_80", 4), ("gfx90a", 2), ("gfx942", 2), ("gfx950", 2), ("gfx1250", 2)]
    {
        let plan = with_kernel(text, arch, |_, kernel, _| {
            kernel.plan.allocs.iter().map(|tile| tile.stages).collect::<Vec<u8>>()
        });
        assert_eq!(plan, [want; 2], "{arch}");
    }
}
