//! The examples on both machines: legal text, right results, no race, no bank conflict, and every
//! address the layout's.
#![allow(missing_docs)]

use lanebook::plan::End;
use lanebook_kernels::{
    Assembler, element, example, fit_at, instances, kernel_text, lines, shared_byte, shared_end,
    with_kernel,
};
use lanebook_replay::{
    BankModel, FaultKind, Kernel, Launch, MatrixShape, Memory, Param, Report, Space, run,
};

const MACHINES: [(&str, &str, &str); 2] =
    [("sm_80", "sm_80", "sm_75"), ("gfx950", "gfx950", "gfx90a")];
const PHASES: &str = include_str!("../../replay/fixtures/lds_phases.jsonl");

fn banks(arch: &str) -> BankModel {
    if arch.starts_with("gfx") {
        BankModel::from_jsonl(arch, PHASES).expect("phases")
    } else {
        BankModel::nvidia_of(arch)
    }
}

fn parse(arch: &str, text: &str) -> Kernel {
    let parsed =
        if arch.starts_with("gfx") { Kernel::parse_amdgcn(text) } else { Kernel::parse_ptx(text) };
    parsed.unwrap_or_else(|e| panic!("{arch}: {e}\n{text}"))
}

struct Gemm {
    m: u32,
    n: u32,
    k: u32,
    /// Corner of the tile.
    at: (u32, u32),
    bf16: bool,
}

struct Outcome {
    report: Report,
    memory: Memory,
    wrong: usize,
    /// (address, columns) of A, B, C.
    bases: Vec<(u64, u64)>,
}

/// Runs a GEMM text; C is a matrix of 7s beforehand, so that a store outside the tile shows.
fn gemm(arch: &str, text: &str, threads: u32, g: &Gemm) -> Result<Outcome, FaultKind> {
    let (m, n, k) = (g.m as usize, g.n as usize, g.k as usize);
    let a: Vec<f32> =
        (0..m * k.max(1)).map(|i| ((i * 7 + i / k.max(1)) % 13) as f32 - 6.0).collect();
    let b: Vec<f32> = (0..k.max(1) * n).map(|i| ((i * 5 + i / n) % 11) as f32 - 5.0).collect();
    let mut memory = Memory::new();
    let mut add = |name: &str, v: &[f32]| {
        if g.bf16 { memory.add_bf16(name, v) } else { memory.add_f16(name, v) }
    };
    let (ia, ib) = (add("A", &a), add("B", &b));
    let ic = memory.add_f32("C", &vec![7.0; m * n]);
    memory.set_shape(ia, MatrixShape::row_major(g.m, g.k.max(1), 2));
    memory.set_shape(ib, MatrixShape::row_major(g.k.max(1), g.n, 2));
    let matrix = |id, rows: u32, cols: u32| {
        [Param::Buffer(id), Param::U32(rows), Param::U32(cols), Param::U32(cols)]
    };
    let mut params = Vec::new();
    params.extend(matrix(ia, g.m, g.k.max(1)));
    params.extend(matrix(ib, g.k.max(1), g.n));
    params.extend(matrix(ic, g.m, g.n));
    params.extend([Param::U32(g.at.0), Param::U32(g.at.1), Param::U32(g.k)]);
    let kernel = parse(arch, text);
    let launch = Launch::new(threads, params).banks(banks(arch));
    let report = run(&kernel, &launch, &mut memory).map_err(|f| {
        println!("{arch}: {f}");
        f.kind
    })?;
    let c = memory.f32s(ic);
    let mut wrong = 0;
    for i in 0..m {
        for j in 0..n {
            let inside = (g.at.0 as usize..g.at.0 as usize + 128).contains(&i)
                && (g.at.1 as usize..g.at.1 as usize + 128).contains(&j);
            let want = if inside { (0..k).map(|x| a[i * k + x] * b[x * n + j]).sum() } else { 7.0 };
            if c[i * n + j] != want {
                wrong += 1;
            }
        }
    }
    let bases = [(ia, g.k.max(1)), (ib, g.n), (ic, g.n)]
        .map(|(id, cols)| (memory.address(id), u64::from(cols)))
        .to_vec();
    Ok(Outcome { report, memory, wrong, bases })
}

#[test]
fn gemm_is_right_everywhere() {
    let source = example("gemm.tile");
    for (arch, _, _) in MACHINES {
        let text = kernel_text(&source, arch);
        for g in [
            Gemm { m: 128, n: 128, k: 64, at: (0, 0), bf16: false },
            Gemm { m: 256, n: 384, k: 192, at: (128, 256), bf16: false },
            Gemm { m: 128, n: 128, k: 0, at: (0, 0), bf16: false },
        ] {
            let out =
                gemm(arch, &text, 128, &g).unwrap_or_else(|f| panic!("{arch}: {f:?}\n{text}"));
            assert_eq!(out.wrong, 0, "{arch}: wrong elements of C for k = {}", g.k);
            assert_eq!(out.report.conflicts(), 0, "{arch}: bank conflicts");
        }
    }
}

#[test]
fn gemm_of_bf16() {
    let source = example("gemm.tile").replace("f16", "bf16");
    for (arch, _, _) in MACHINES {
        let text = kernel_text(&source, arch);
        let out =
            gemm(arch, &text, 128, &Gemm { m: 128, n: 256, k: 128, at: (0, 128), bf16: true })
                .unwrap_or_else(|f| panic!("{arch}: {f:?}\n{text}"));
        assert_eq!(out.wrong, 0, "{arch}");
    }
}

#[test]
fn every_matrix_operand_gets_its_elements() {
    let source = example("gemm.tile");
    let mut turned = 0;
    for (arch, _, _) in MACHINES {
        let text = kernel_text(&source, arch);
        let out = gemm(arch, &text, 128, &Gemm { m: 128, n: 128, k: 128, at: (0, 0), bf16: false })
            .expect("a clean run");
        assert!(!out.report.matrix.is_empty());
        // Where a lane then holds neighbours of a row of C, the product is that of the operands exchanged: of all or none.
        let first = out.report.matrix.first().and_then(|e| e.a_origin(&out.memory, 0, 0));
        let exchanged = first.is_some_and(|origin| out.memory.name(origin.buffer) == "B");
        let (a, b) = if exchanged { ("B", "A") } else { ("A", "B") };
        turned += usize::from(exchanged);
        for event in &out.report.matrix {
            for lane in 0..event.lanes {
                for i in 0..event.a_per_lane() {
                    let origin = event.a_origin(&out.memory, lane, i).expect("A comes from memory");
                    assert_eq!(
                        out.memory.name(origin.buffer),
                        a,
                        "{arch}: line {} lane {lane} element {i}",
                        event.line
                    );
                }
                for i in 0..event.b_per_lane() {
                    let origin = event.b_origin(&out.memory, lane, i).expect("B comes from memory");
                    assert_eq!(
                        out.memory.name(origin.buffer),
                        b,
                        "{arch}: line {} lane {lane} element {i}",
                        event.line
                    );
                }
            }
        }
    }
    assert!(turned > 0 && turned < MACHINES.len(), "{turned} products of exchanged operands");
}

fn transpose(
    arch: &str,
    text: &str,
    rows: u32,
    cols: u32,
    at: (u32, u32),
) -> Result<(Report, usize), FaultKind> {
    let a: Vec<f32> = (0..rows * cols).map(|i| i as f32).collect();
    let mut memory = Memory::new();
    let ia = memory.add_f32("A", &a);
    let ib = memory.add_f32("B", &vec![-1.0; (rows * cols) as usize]);
    let matrix =
        |id, r: u32, c: u32| [Param::Buffer(id), Param::U32(r), Param::U32(c), Param::U32(c)];
    let mut params = Vec::new();
    params.extend(matrix(ia, rows, cols));
    params.extend(matrix(ib, cols, rows));
    params.extend([Param::U32(at.0), Param::U32(at.1)]);
    let report = run(&parse(arch, text), &Launch::new(128, params).banks(banks(arch)), &mut memory)
        .map_err(|f| {
            println!("{arch}: {f}");
            f.kind
        })?;
    let b = memory.f32s(ib);
    let mut wrong = 0;
    for i in 0..cols {
        for j in 0..rows {
            let inside = (at.1..at.1 + 64).contains(&i) && (at.0..at.0 + 64).contains(&j);
            let want = if inside { a[(j * cols + i) as usize] } else { -1.0 };
            if b[(i * rows + j) as usize] != want {
                wrong += 1;
            }
        }
    }
    Ok((report, wrong))
}

#[test]
fn transpose_is_right_everywhere() {
    let source = example("transpose.tile");
    for (arch, _, _) in MACHINES {
        let text = kernel_text(&source, arch);
        for (rows, cols, at) in [(64, 64, (0, 0)), (128, 192, (64, 128))] {
            let (_, wrong) = transpose(arch, &text, rows, cols, at)
                .unwrap_or_else(|f| panic!("{arch}: {f:?}\n{text}"));
            assert_eq!(wrong, 0, "{arch}: wrong elements of B");
        }
    }
}

#[test]
fn both_assemblers_agree_about_the_target() {
    for name in ["gemm.tile", "transpose.tile"] {
        let source = example(name);
        for (arch, target, wrong) in MACHINES {
            let text = kernel_text(&source, arch);
            let assembler = Assembler::of(arch);
            assembler
                .assemble(&text, target)
                .unwrap_or_else(|e| panic!("{name} {arch}: {e}\n{text}"));
            assert!(
                assembler.assemble(&text, wrong).is_err(),
                "{name}: {wrong} must refuse a text for {target}"
            );
        }
    }
}

/// Each address of the trace is the one that the layout names for the element that the plan gives
/// to that lane.
#[test]
fn every_address_is_the_layouts_own() {
    for (name, threads) in [("gemm.tile", 128u32), ("transpose.tile", 128)] {
        let source = example(name);
        for (arch, _, _) in MACHINES {
            with_kernel(&source, arch, |program, compiled, text| {
                let report = match name {
                    "gemm.tile" => {
                        gemm(
                            arch,
                            text,
                            threads,
                            &Gemm { m: 128, n: 128, k: 128, at: (0, 0), bf16: false },
                        )
                        .expect("a clean run")
                        .report
                    }
                    _ => transpose(arch, text, 64, 64, (0, 0)).expect("a clean run").0,
                };
                let plan = &compiled.plan;
                let wave = 1u32 << plan.wave;
                let by_move = instances(plan, &lines(compiled, program, text));
                let mut checked = 0u64;
                for (index, steps) in by_move.iter().enumerate() {
                    let Some((alloc, _)) = shared_end(plan, index) else { continue };
                    let m = plan.transfers.get(index).expect("a movement");
                    // A pair of atoms: only the second half touches shared memory.
                    let touching: Vec<_> = match m.second {
                        Some(second) => steps.iter().filter(|(_, s)| s.atom == second).collect(),
                        None => steps.iter().collect(),
                    };
                    let fit = fit_at(plan, index, m.second.is_none());
                    assert_eq!(
                        touching.len(),
                        fit.count() as usize,
                        "{arch} {name}: one instruction for each instance"
                    );
                    for (instance, (line, _)) in (0u32..).zip(touching) {
                        for thread in 0..threads {
                            let (lane, warp) = (thread % wave, thread / wave);
                            if lane >> fit.address_lanes.len() != 0 {
                                continue;
                            }
                            let want = u64::from(report.shared_base)
                                + shared_byte(plan, alloc, element(&fit, lane, warp, instance));
                            let got = report.addresses(*line, Space::Shared, thread);
                            assert!(
                                !got.is_empty(),
                                "{arch} {name}: line {line} thread {thread} ran"
                            );
                            for at in got {
                                assert_eq!(
                                    at, want,
                                    "{arch} {name}: line {line} thread {thread} instance {instance}"
                                );
                                checked += 1;
                            }
                        }
                    }
                }
                assert!(checked > 1000, "{arch} {name}: {checked} addresses checked");
                assert!(plan.transfers.iter().any(|m| matches!(m.from, End::Global(_))));
            });
        }
    }
}

/// The same for global memory: row, column and turn of the loop give the address; nothing of the
/// engine's is used but its plan.
#[test]
fn every_global_address_is_the_matrix_element() {
    let source = example("gemm.tile");
    for (arch, _, _) in MACHINES {
        with_kernel(&source, arch, |program, compiled, text| {
            let (at, k_step) = ((128u64, 128u64), 64u64);
            let out = gemm(
                arch,
                text,
                128,
                &Gemm { m: 256, n: 256, k: 192, at: (128, 128), bf16: false },
            )
            .expect("a clean run");
            let plan = &compiled.plan;
            let wave = 1u32 << plan.wave;
            let mut checked = 0u64;
            for (index, steps) in
                instances(plan, &lines(compiled, program, text)).iter().enumerate()
            {
                let m = plan.transfers.get(index).expect("a movement");
                let (End::Global(global), is_store) =
                    (if let End::Global(_) = m.from { (m.from, false) } else { (m.to, true) })
                else {
                    continue;
                };
                let shape = plan.globals.get(usize::from(global)).expect("a global tile").map.shape;
                // A is 128x64, B is 64x128, C is 128x128 of wider elements.
                let which = if is_store {
                    2
                } else if shape.rows > shape.cols {
                    0
                } else {
                    1
                };
                let (base, cols) = out.bases[which];
                let bytes = u64::from(shape.bits / 8);
                let touching: Vec<_> =
                    steps.iter().filter(|(_, s)| m.second != Some(s.atom)).collect();
                assert_eq!(touching.len(), m.tiling.count() as usize);
                for (instance, (line, _)) in (0u32..).zip(touching) {
                    for thread in 0..128 {
                        let e = element(&m.tiling, thread % wave, thread / wave, instance);
                        let (row, col) = shape.position(e);
                        let (row, col) = (u64::from(row), u64::from(col));
                        let got = out.report.addresses(*line, Space::Global, thread);
                        assert_eq!(
                            got.len(),
                            if is_store { 1 } else { 3 },
                            "{arch}: executions of line {line}"
                        );
                        for (turn, address) in (0u64..).zip(got) {
                            let start = [(at.0, turn * k_step), (turn * k_step, at.1), at][which];
                            assert_eq!(
                                address,
                                base + ((start.0 + row) * cols + start.1 + col) * bytes,
                                "{arch}: line {line} thread {thread} turn {turn}"
                            );
                            checked += 1;
                        }
                    }
                }
            }
            assert!(checked > 10_000, "{arch}: {checked} addresses checked");
        });
    }
}

/// A broken kernel is caught: each planted fault by the judge that is there for it.
#[test]
fn planted_faults_are_caught() {
    let source = example("gemm.tile");
    let shape = Gemm { m: 128, n: 128, k: 128, at: (0, 0), bf16: false };
    let without = |text: &str, word: &str, nth: usize| -> String {
        let mut seen = 0;
        let kept = text.lines().filter(|l| {
            let hit = l.trim_start().starts_with(word);
            seen += usize::from(hit);
            !(hit && seen == nth + 1)
        });
        kept.collect::<Vec<_>>().join("\n") + "\n"
    };
    for (arch, word) in [
        ("sm_80", "bar.sync"),
        ("sm_80", "cp.async.wait_group"),
        ("gfx950", "s_barrier"),
        ("gfx950", "s_waitcnt vmcnt(0)"),
    ] {
        let text = kernel_text(&source, arch);
        let count = text.lines().filter(|l| l.trim_start().starts_with(word)).count();
        assert!(count > 0, "{arch}: `{word}` is in the text");
        let caught = (0..count)
            .filter(|&nth| {
                gemm(arch, &without(&text, word, nth), 128, &shape).map_or(true, |o| o.wrong != 0)
            })
            .count();
        assert!(caught > 0, "{arch}: no missing `{word}` of {count} was noticed");
    }
    // A swapped address: one fragment load reads where another should.
    let text = kernel_text(&source, "sm_80");
    let broken = text.replacen("+32]", "+48]", 1);
    assert_ne!(text, broken, "an immediate to break");
    assert!(
        gemm("sm_80", &broken, 128, &shape).map_or(true, |o| o.wrong != 0),
        "a wrong offset must show"
    );
}
