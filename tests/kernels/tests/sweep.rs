//! Many generated programs for both machines: each is verified in full, or refused for a stated
//! reason that holds.
//!
//! In full: the independent checker on plan and order, every shared and global address against the
//! layouts' own maps, the result of the run byte by byte, and the vendors' assemblers on all texts
//! of a machine in one file.
#![allow(missing_docs)]

use lanebook::TABLES;
use lanebook::check;
use lanebook::compile::{CompileError, Compiled, compile};
use lanebook::ir::{AttrValue, Options, Program, SmallStorage, attr_names, parse, verify};
use lanebook::plan::{End, PlanError, Unwritable};
use lanebook::tables::{OpRole, OpWord};
use lanebook_kernels::checked::every_kernel;
use lanebook_kernels::judge::parsed;
use lanebook_kernels::sweep::{Case, Gemm, Move, Ran, Way};
use lanebook_kernels::{
    Assembler, element, fit_at, instances, lines, room, shared_byte, shared_end, with_kernel,
};
use lanebook_replay::Space;

const ARCHS: [&str; 2] = ["sm_80", "gfx950"];

/// Each emitted address is the one that the layout, or the matrix, gives to the element that the
/// plan names.
fn addresses(
    program: &Program<'_, '_>,
    compiled: &Compiled<'_>,
    text: &str,
    case: &Case,
    ran: &Ran,
) -> Result<u64, String> {
    let plan = &compiled.plan;
    let wave = 1u32 << plan.wave;
    let mut checked = 0u64;
    let memrefs: Vec<_> = program.parameters(compiled.function).collect();
    for (index, steps) in instances(plan, &lines(compiled, program, text)).iter().enumerate() {
        let m = plan.transfers.get(index).expect("a movement");
        let (global, shared) = match (m.from, m.to) {
            (End::Global(g), _) | (_, End::Global(g)) => (Some(g), shared_end(plan, index)),
            _ => (None, shared_end(plan, index)),
        };
        for (space, first) in [
            (Space::Global, matches!(m.from, End::Global(_))),
            (Space::Shared, matches!(m.from, End::Shared(_))),
        ] {
            if (space == Space::Global && global.is_none())
                || (space == Space::Shared && shared.is_none())
            {
                continue;
            }
            // Of a pair of atoms the first one touches where the tile comes from, the second one
            // where it goes.
            let atom = m.second.map(|second| if first { m.atom } else { second });
            let touching: Vec<_> =
                steps.iter().filter(|(_, s)| atom.is_none_or(|a| s.atom == a)).collect();
            let fit = fit_at(plan, index, first);
            if touching.len() != fit.count() as usize {
                return Err(format!(
                    "movement {index}: {} instructions, {} instances",
                    touching.len(),
                    fit.count()
                ));
            }
            for (instance, (line, _)) in (0u32..).zip(touching) {
                for thread in 0..case.threads() {
                    let (lane, warp) = (thread % wave, thread / wave);
                    if lane >> fit.address_lanes.len() != 0 {
                        continue;
                    }
                    let e = element(&fit, lane, warp, instance);
                    for (turn, got) in (0u64..).zip(ran.report.addresses(*line, space, thread)) {
                        let want = match (space, global, shared) {
                            (Space::Shared, _, Some((alloc, _))) => {
                                u64::from(ran.report.shared_base) + shared_byte(plan, alloc, e)
                            }
                            (Space::Global, Some(g), _) => {
                                let g = plan.globals.get(usize::from(g)).expect("a global tile");
                                let number = memrefs
                                    .iter()
                                    .position(|v| *v == g.memref)
                                    .expect("an argument");
                                let tile = ran.tiles[number];
                                let (row, col) = g.map.shape.position(e);
                                let (row, col) = (
                                    tile.at.0 + turn * tile.step.0 + u64::from(row),
                                    tile.at.1 + turn * tile.step.1 + u64::from(col),
                                );
                                ran.memory.address(tile.buffer)
                                    + (row * tile.stride + col) * u64::from(g.map.shape.bits / 8)
                            }
                            _ => continue,
                        };
                        if got != want {
                            return Err(format!(
                                "movement {index} line {line} thread {thread} turn {turn}: {got:#x}, not {want:#x}"
                            ));
                        }
                        checked += 1;
                    }
                }
            }
        }
    }
    Ok(checked)
}

/// Text of a verified kernel, or the refusal.
fn verified(case: &Case, name: &str, arch: &str) -> Result<String, String> {
    let source = case.text(name);
    let id = TABLES.arch_named(arch).expect("an architecture");
    let mut pools = Box::new(SmallStorage::new());
    let mut program = parse(pools.pools(), &TABLES, &source, Options::default())
        .unwrap_or_else(|e| panic!("{e:?}\n{source}"));
    verify(&mut program).unwrap_or_else(|e| panic!("{e:?}\n{source}"));
    let mut room = room();
    let compiled =
        compile(&TABLES, id, &mut program, room.scratch()).map_err(|e| format!("{e:?}"))?;
    let mut text = String::new();
    compiled.write(&TABLES, &program, &mut text).expect("text");
    let fail = |what: String| -> ! { panic!("{arch} {case:?}: {what}\n{source}\n{text}") };
    every_kernel(&program, &compiled, &source, arch);
    check::plan(&TABLES, &program, &compiled.plan).unwrap_or_else(|v| fail(format!("{v:?}")));
    check::order(&TABLES, &program, &compiled).unwrap_or_else(|v| fail(format!("{v:?}")));
    let kernel = parsed(&text, arch).unwrap_or_else(|e| fail(format!("{e}")));
    let dynamic = if text.contains(".extern .shared") { 160 << 10 } else { 0 };
    let ran = case.judge(&kernel, dynamic).unwrap_or_else(|e| fail(e));
    let checked = addresses(&program, &compiled, &text, case, &ran).unwrap_or_else(|e| fail(e));
    if checked < u64::from(case.threads()) {
        fail(format!("only {checked} addresses seen"));
    }
    Ok(text)
}

/// All texts of one machine as one assembler file.
fn joined(texts: &[String]) -> String {
    let mut out = String::new();
    for (k, text) in texts.iter().enumerate() {
        for line in text.lines() {
            let frame = [
                ".version",
                ".target",
                ".address_size",
                ".amdhsa_code_object_version",
                ".amdgcn_target",
            ];
            if k > 0 && frame.iter().any(|f| line.trim_start().starts_with(f)) {
                continue;
            }
            // Each kernel's own shared segment.
            out.push_str(&line.replace("smem", &format!("smem{k}")));
            out.push('\n');
        }
    }
    out
}

fn sweep(cases: &[Case], may_refuse: impl Fn(&Case, &str, &str) -> bool) {
    for arch in ARCHS {
        let mut texts = Vec::new();
        let mut refused = Vec::new();
        for (k, case) in cases.iter().enumerate() {
            match verified(case, &format!("k{k}"), arch) {
                Ok(text) => texts.push(text),
                Err(why) if may_refuse(case, arch, &why) => {
                    println!("{arch} {case:?}: refused: {why}")
                }
                Err(why) => refused.push(format!("{arch} {case:?}: {why}")),
            }
        }
        assert!(refused.is_empty(), "refused:\n{}", refused.join("\n"));
        assert!(!texts.is_empty(), "{arch}: nothing compiled");
        let all = joined(&texts);
        Assembler::of(arch).assemble(&all, arch).unwrap_or_else(|e| {
            panic!("{arch}: {}", e.lines().take(20).collect::<Vec<_>>().join("\n"))
        });
    }
}

fn gemm(tile: (u32, u32, u32), threads: u32) -> Gemm {
    Gemm {
        tile,
        threads,
        element: "f16",
        transposed: (false, false),
        store: "f32",
        turns: 2,
        layout: "",
        arithmetic: false,
    }
}

#[test]
fn gemm_extents() {
    let tiles = [
        ((96, 64, 32), 128),
        ((64, 96, 32), 128),
        ((48, 64, 64), 128),
        ((32, 224, 32), 128),
        ((96, 96, 96), 128),
        ((32, 32, 48), 32),
        ((16, 8, 16), 32),
        ((32, 16, 32), 64),
        ((64, 64, 32), 64),
        ((64, 24, 32), 128),
        ((80, 160, 32), 128),
        ((32, 64, 160), 128),
    ];
    let cases: Vec<Case> =
        tiles.into_iter().map(|(tile, threads)| Case::Gemm(gemm(tile, threads))).collect();
    sweep(&cases, |case, arch, why| {
        let Case::Gemm(g) = case else { return false };
        // Half a wave is no group; MFMA's smallest tile has 16 rows and columns for each wave and
        // 16 or 32 steps of k.
        arch.starts_with("gfx")
            && (g.threads < 64 && why.contains("Threads")
                || (g.tile.1 % 16 != 0 || g.tile.2 % 32 != 0) && why.contains("NoMatrixAtom"))
    });
}

#[test]
fn gemm_tiles() {
    let tiles =
        [((64, 64, 32), 128), ((128, 256, 32), 256), ((256, 128, 64), 256), ((128, 128, 16), 128)];
    let mut cases: Vec<Case> = tiles
        .into_iter()
        .map(|(tile, threads)| Case::Gemm(Gemm { turns: 1, ..gemm(tile, threads) }))
        .collect();
    cases.push(Case::Gemm(Gemm { turns: 5, ..gemm((32, 32, 32), 64) }));
    cases.push(Case::Gemm(Gemm { element: "bf16", ..gemm((64, 96, 32), 128) }));
    sweep(
        &cases,
        |case, arch, why| matches!(case, Case::Gemm(g) if arch.starts_with("gfx") && g.tile.2 % 32 != 0 && why.contains("NoMatrixAtom")),
    );
}

#[test]
fn gemm_orders() {
    let mut cases = Vec::new();
    for transposed in [(true, false), (false, true), (true, true)] {
        for (tile, threads) in [((64, 64, 32), 128), ((96, 32, 64), 64), ((64, 48, 32), 128)] {
            cases.push(Case::Gemm(Gemm { transposed, ..gemm(tile, threads) }));
        }
    }
    sweep(&cases, |_, _, _| false);
}

#[test]
fn gemm_narrow_results() {
    let mut cases = Vec::new();
    for store in ["f16", "bf16"] {
        for (tile, threads) in [((64, 64, 32), 128), ((96, 32, 32), 64), ((32, 48, 64), 128)] {
            cases.push(Case::Gemm(Gemm { store, ..gemm(tile, threads) }));
        }
    }
    cases.push(Case::Gemm(Gemm { arithmetic: true, ..gemm((32, 32, 32), 64) }));
    cases.push(Case::Gemm(Gemm { store: "f16", arithmetic: true, ..gemm((64, 48, 32), 128) }));
    sweep(&cases, |_, _, _| false);
}

/// Every operation that an instruction of the tables claims to do is one, with as many operands.
#[test]
fn operations_of_the_tables() {
    let mut seen = 0;
    for atom in TABLES.atoms {
        let Some(does) = atom.does else { continue };
        let op = match does.op {
            OpWord::Op(op) => TABLES.op(op).expect("an operation of the tables"),
            step => {
                // Not operations of programs: what reductions and conversions move between lanes
                // with, what joins the halves of a register and takes them apart, and what chooses
                // bytes.
                let (uses, moves) = (does.uses.len(), !does.lanes.is_empty());
                let is_right = match step {
                    OpWord::ShuffleXor => moves && uses == 1,
                    OpWord::ShuffleIndex => uses == 1 && does.lanes.iter().any(|l| l.by.is_some()),
                    OpWord::BytePermute => {
                        uses == 3 && does.selector > 0 && does.selector * 4 <= 32
                    }
                    OpWord::ConcatRegs => uses == 2 && !moves,
                    OpWord::SplitRegs => uses == 1 && !moves,
                    OpWord::Op(_) => false,
                };
                assert!(is_right, "{}: {step:?}", atom.name());
                continue;
            }
        };
        assert_eq!(does.uses.len() % usize::from(op.operands.0), 0, "{}", atom.name());
        assert!(
            does.uses
                .iter()
                .all(|&k| atom.operands.get(usize::from(k)).is_some_and(|o| o.dtype.is_some())),
            "{}",
            atom.name()
        );
        seen += 1;
    }
    assert!(seen >= 14);
}

#[test]
fn written_layouts() {
    let layouts = [
        "{layout = S[(64,32):(32,1)]}",
        "{layout = S[(64,32):(40,1)]}",
        "{layout = (64,32):(32,1)}",
        "{layout = (64,32):(1,64)}",
        "{layout = S<2,3,3> o 0 o (64,32):(32,1)}",
        "{layout = <(64, 32), (32, 1), swizzle<2, 4, 3>>}",
        "{layout = S<2,3,-3> o 0 o (64,32):(32,1)}",
    ];
    let cases: Vec<Case> = layouts
        .into_iter()
        .map(|layout| Case::Gemm(Gemm { layout, ..gemm((64, 64, 32), 128) }))
        .collect();
    sweep(&cases, |_, _, _| false);
    // What is kept to is what was written: offsets in elements of (1,0), (0,1) and (2,8).
    let offsets =
        [[32, 1, 72], [40, 1, 88], [32, 1, 72], [1, 64, 514], [32, 1, 64], [32, 1, 64], [32, 1, 8]];
    for arch in ARCHS {
        for (case, want) in cases.iter().zip(offsets) {
            with_kernel(&case.text("k"), arch, |_, compiled, _| {
                let a = compiled.plan.allocs.first().expect("A");
                assert!(a.fixed);
                let got = [(1, 0), (0, 1), (2, 8)].map(|(r, c)| {
                    (shared_byte(&compiled.plan, 0, r * 32 + c) - u64::from(a.offset)) / 2
                });
                assert_eq!(got, want, "{arch} {case:?}");
            });
        }
        for (layout, why) in [
            ("{layout = S[(64,16,2):(32,1,1024)]}", "Meet"),
            ("{layout = S[(64,32):(1@laneid,1)]}", "AttrForm"),
        ] {
            let case = Case::Gemm(Gemm { layout, ..gemm((64, 64, 32), 128) });
            let refusal = verified(&case, "k", arch).expect_err("no form that can be kept to");
            assert!(
                (refusal.contains("Written") || refusal.contains("Contract"))
                    && refusal.contains(why),
                "{arch} {layout}: {refusal}"
            );
        }
    }
}

#[test]
fn movements() {
    let mut cases = Vec::new();
    for element in ["f16", "f32", "u8"] {
        for (tile, threads) in [
            ((64, 64), 128),
            ((32, 96), 128),
            ((48, 32), 64),
            ((64, 224), 256),
            ((16, 16), 128),
            ((32, 128), 32),
        ] {
            for way in [Way::Registers, Way::Transposed, Way::Copies, Way::StoreCopy] {
                cases.push(Case::Move(Move { tile, threads, element, way }));
            }
        }
    }
    sweep(&cases, |case, arch, why| {
        let Case::Move(m) = case else { return false };
        let elements = m.tile.0 * m.tile.1;
        let few = elements < m.threads
            || (m.way != Way::Registers
                && elements * lanebook_kernels::sweep::bytes(m.element) < 4 * m.threads);
        m.threads < 64 && arch.starts_with("gfx") && why.contains("Threads")
            || few && (why.contains("Share") || why.contains("Copies"))
    });
}

/// A layout that is put into a program by hand is obeyed once it has been read, and refused before.
#[test]
fn layouts_of_programs_made_by_hand() {
    const LAYOUT: &str = "S[(64,32):(40,1)]";
    let text = format!("// {LAYOUT}\n{}", Case::Gemm(gemm((64, 64, 32), 128)).text("k"));
    for arch in ARCHS {
        let id = TABLES.arch_named(arch).expect("an architecture");
        let mut pools = Box::new(SmallStorage::new());
        let mut program = parse(pools.pools(), &TABLES, &text, Options::default()).expect("a text");
        let alloc = program.all().find(|op| program.role(*op) == OpRole::Alloc).expect("a tile");
        let word = program.word(LAYOUT).expect("a comment says it");
        program.set_attr(alloc, attr_names::LAYOUT, AttrValue::Layout(word)).expect("room");
        let mut room = room();
        let refused = compile(&TABLES, id, &mut program, room.scratch()).map(|_| ());
        assert_eq!(
            refused,
            Err(CompileError::Plan(PlanError::Written { op: alloc, why: Unwritable::Unread }))
        );
        program.read_layouts().expect("room");
        let compiled = compile(&TABLES, id, &mut program, room.scratch()).expect("a kernel");
        let tile = compiled.plan.allocs.first().expect("A");
        let second_row = shared_byte(&compiled.plan, 0, 32) - u64::from(tile.offset);
        assert!(tile.fixed && second_row == 80, "{arch}: {second_row}");
    }
}
