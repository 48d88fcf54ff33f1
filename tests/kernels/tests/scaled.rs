//! Products with block scales: legal text, right results with scales that differ by block, and
//! every fault in how a scale is named caught.
#![allow(missing_docs)]

use lanebook::TABLES;
use lanebook::check::{self, Violation};
use lanebook::compile::compile;
use lanebook::emit::step::{Inst, InstKind};
use lanebook::ir::{Options, SmallStorage, parse, verify};
use lanebook::map::{BitMatrix, RowRotation};
use lanebook::plan::{BlockBitRole, InShared, ScaleCopy};
use lanebook_kernels::checked::every_kernel;
use lanebook_kernels::maps::{KernelMap, kernel_maps, map_params};
use lanebook_kernels::{Assembler, e4m3, example, kernel_text, room, try_kernel_text, with_kernel};
use lanebook_replay::{
    BankModel, FaultKind, Kernel, Launch, MatrixShape, Memory, Param, Report, run,
};

const PHASES: &str = include_str!("../../replay/fixtures/lds_phases.jsonl");

/// A product of whole matrices of one tile's size along m and n.
#[derive(Copy, Clone, Debug)]
struct Case {
    tile: (u32, u32),
    /// Depth of the tile, and of the product.
    depth: (u32, u32),
    threads: u32,
    /// Elements are e5m2.
    wide: bool,
}

const EXAMPLE: Case = Case { tile: (128, 128), depth: (128, 256), threads: 128, wide: false };

/// An element of A or B.
fn element(case: &Case, v: f32) -> u8 {
    // Small whole numbers with one bit of fraction.
    let four = e4m3(v);
    if case.wide {
        four & 0x80 | if v == 0.0 { 0 } else { (((four >> 3 & 15) + 8) << 2) | (four >> 1 & 3) }
    } else {
        four
    }
}

/// The exponents of the scales of a row's runs: they differ by row and by run.
fn exponent(row: u32, run: u32, salt: u32) -> u8 {
    (124 + (row * 3 + run * 5 + row / 16 * 2 + salt) % 7) as u8
}

/// Elements of C that are wrong.
fn product(
    arch: &str,
    text: &str,
    maps: &[KernelMap],
    case: &Case,
) -> Result<(usize, Report), FaultKind> {
    let ((m, n), k) = (case.tile, case.depth.1);
    let values = |rows: u32, step: u32| -> Vec<f32> {
        (0..rows * k).map(|i| ((i * step + i / k) % 7) as f32 - 3.0).collect()
    };
    let (a, b) = (values(m, 5), values(n, 3));
    // Three has two bits: with one bit of fraction it is exact in both formats.
    let runs = k / 32;
    let scales = |rows: u32, salt: u32| -> Vec<u8> {
        (0..rows * runs).map(|i| exponent(i / runs, i % runs, salt)).collect()
    };
    let (sa, sb) = (scales(m, 0), scales(n, 4));
    let mut memory = Memory::new();
    let ia = memory.add("A", a.iter().map(|v| element(case, *v)).collect());
    let ib = memory.add("B", b.iter().map(|v| element(case, *v)).collect());
    let (isa, isb) = (memory.add("SA", sa.clone()), memory.add("SB", sb.clone()));
    let ic = memory.add_f32("C", &vec![7.0; (m * n) as usize]);
    for (id, rows, cols) in [(ia, m, k), (ib, n, k), (isa, m, runs), (isb, n, runs)] {
        memory.set_shape(id, MatrixShape::row_major(rows, cols, 1));
    }
    let matrix = |id, rows: u32, cols: u32| {
        [Param::Buffer(id), Param::U32(rows), Param::U32(cols), Param::U32(cols)]
    };
    let mut params: Vec<Param> = [
        matrix(ia, m, k),
        matrix(ib, n, k),
        matrix(isa, m, runs),
        matrix(isb, n, runs),
        matrix(ic, m, n),
    ]
    .concat();
    params.extend([Param::U32(0), Param::U32(0), Param::U32(k)]);
    params.extend(map_params(
        maps,
        &[(ia, m, k), (ib, n, k), (isa, m, runs), (isb, n, runs), (ic, m, n)],
        &memory,
    ));
    let is_amd = arch.starts_with("gfx");
    let parsed = if is_amd { Kernel::parse_amdgcn(text) } else { Kernel::parse_ptx(text) };
    let kernel = parsed.unwrap_or_else(|e| panic!("{arch}: {e}\n{text}"));
    let banks = if is_amd {
        BankModel::from_jsonl(arch, PHASES).expect("phases")
    } else {
        BankModel::nvidia_of(arch)
    };
    let dynamic_shared = if text.contains(".extern .shared") { 160 << 10 } else { 0 };
    let launch = Launch { dynamic_shared, ..Launch::new(case.threads, params).banks(banks) };
    let report = run(&kernel, &launch, &mut memory).map_err(|f| {
        println!("{arch}: {f}");
        f.kind
    })?;
    let c = memory.f32s(ic);
    let power = |bits: u8| 2f32.powi(i32::from(bits) - 127);
    let want = |i: u32, j: u32| -> f32 {
        let run = |r: u32| -> f32 {
            (32 * r..32 * r + 32).map(|x| a[(i * k + x) as usize] * b[(j * k + x) as usize]).sum()
        };
        (0..runs)
            .map(|r| {
                run(r) * power(sa[(i * runs + r) as usize]) * power(sb[(j * runs + r) as usize])
            })
            .sum()
    };
    let wrong = (0..m * n).filter(|at| c[*at as usize] != want(at / n, at % n)).count();
    Ok((wrong, report))
}

/// The program of a case.
fn program(case: &Case) -> String {
    let ((m, n), (depth, _)) = (case.tile, case.depth);
    let (t, runs) = (if case.wide { "e5m2" } else { "e4m3" }, depth / 32);
    let align = runs & runs.wrapping_neg();
    format!(
        "func @gemm(%A: memref<?x?x{t}, #gmem> {{align = 16, stride_div = 16}}, %B: memref<?x?x{t}, #gmem> {{align = 16, stride_div = 16}}, \
                    %SA: memref<?x?xe8m0, #gmem> {{align = 16, stride_div = {align}}}, %SB: memref<?x?xe8m0, #gmem> {{align = 16, stride_div = {align}}}, \
                    %C: memref<?x?xf32, #gmem> {{align = 16, stride_div = 4}}, %m: index {{div = {m}}}, %n: index {{div = {n}}}, %K: index) {{threads = {threads}}} {{
  %sa = alloc_tensor : tensor<{m}x{depth}x{t}, #smem>
  %sb = alloc_tensor : tensor<{n}x{depth}x{t}, #smem>
  %ssa = alloc_tensor : tensor<{m}x{runs}xe8m0, #smem>
  %ssb = alloc_tensor : tensor<{n}x{runs}xe8m0, #smem>
  %z  = constant 0.0 : tensor<{m}x{n}xf32>
  %r  = scf.for %k = 0 to %K step {depth} iter_args(%c = %z) -> tensor<{m}x{n}xf32> {{
    %g = index.div %k, 32 : index
    copy %A[%m, %k], %sa : memref<?x?x{t}, #gmem> -> tensor<{m}x{depth}x{t}, #smem>
    copy %B[%n, %k], %sb : memref<?x?x{t}, #gmem> -> tensor<{n}x{depth}x{t}, #smem>
    copy %SA[%m, %g], %ssa : memref<?x?xe8m0, #gmem> -> tensor<{m}x{runs}xe8m0, #smem>
    copy %SB[%n, %g], %ssb : memref<?x?xe8m0, #gmem> -> tensor<{n}x{runs}xe8m0, #smem>
    %a = tiled_load %sa : tensor<{m}x{depth}x{t}, #smem> -> tensor<{m}x{depth}x{t}>
    %b = tiled_load %sb : tensor<{n}x{depth}x{t}, #smem> -> tensor<{n}x{depth}x{t}>
    %xa = tiled_load %ssa : tensor<{m}x{runs}xe8m0, #smem> -> tensor<{m}x{runs}xe8m0>
    %xb = tiled_load %ssb : tensor<{n}x{runs}xe8m0, #smem> -> tensor<{n}x{runs}xe8m0>
    %t = trans %b : tensor<{n}x{depth}x{t}> -> tensor<{depth}x{n}x{t}>
    %d = mma_scaled %a, %t, %c, %xa, %xb : tensor<{m}x{n}xf32>
    scf.yield %d : tensor<{m}x{n}xf32>
  }}
  tiled_store %r, %C[%m, %n] : tensor<{m}x{n}xf32> -> memref<?x?xf32, #gmem>
}}
",
        threads = case.threads
    )
}

fn right(arch: &str, source: &str, case: &Case) {
    let text = try_kernel_text(source, arch).unwrap_or_else(|e| panic!("{arch} {case:?}: {e}"));
    Assembler::of(arch)
        .assemble(&text, arch)
        .unwrap_or_else(|said| panic!("{arch} {case:?}: {said}\n{text}"));
    let (wrong, report) = product(arch, &text, &kernel_maps(source, arch), case)
        .unwrap_or_else(|f| panic!("{arch} {case:?}: {f:?}\n{text}"));
    with_kernel(source, arch, |program, compiled, _| {
        check::order(&TABLES, program, compiled)
            .unwrap_or_else(|v| panic!("{arch} {case:?}: {v:?}\n{text}"));
        check::plan(&TABLES, program, &compiled.plan)
            .unwrap_or_else(|v| panic!("{arch} {case:?}: {v:?}"));
    });
    assert_eq!(wrong, 0, "{arch} {case:?}\n{text}");
    // The unit wants a scale of each of 32 rows in every sixteen bytes: where a piece is not full,
    // what is left of the banks is not enough.
    let gaps = arch == "sm_100a"
        && (!case.depth.0.is_multiple_of(128) || !case.tile.1.is_multiple_of(128));
    assert!(gaps || report.conflicts() == 0, "{arch} {case:?}\n{text}");
}

#[test]
fn the_example_is_right() {
    for (arch, instruction) in [
        ("gfx950", "v_mfma_scale_f32_"),
        ("sm_120a", "kind::mxf8f6f4.block_scale"),
        ("sm_100a", "tcgen05.cp.cta_group::1.32x128b.warpx4"),
    ] {
        right(arch, &example("gemm_mxfp8.tile"), &EXAMPLE);
        assert!(kernel_text(&example("gemm_mxfp8.tile"), arch).contains(instruction), "{arch}");
    }
}

#[test]
fn tiles_of_many_shapes() {
    let cases = [
        Case { tile: (64, 32), depth: (128, 128), threads: 64, wide: true },
        Case { tile: (32, 96), depth: (128, 256), threads: 64, wide: false },
        Case { tile: (64, 64), depth: (256, 256), threads: 256, wide: false },
    ];
    for case in cases {
        for arch in ["gfx950", "gfx1250", "sm_120a"] {
            right(arch, &program(&case), &case);
        }
    }
    // Fewer scales than threads.
    let few = [
        ("gfx1250", (128, 256), 128),
        ("sm_120a", (32, 64), 128),
        ("sm_120a", (64, 64), 256),
        ("gfx950", (128, 256), 256),
    ];
    for (arch, depth, threads) in few {
        let case = Case { tile: (32, 32), depth, threads, wide: false };
        right(arch, &program(&case), &case);
    }
    // One run of the depth, and three of them.
    for depth in [(32, 64), (96, 192)] {
        let case = Case { tile: (64, 64), depth, threads: 64, wide: false };
        right("sm_120a", &program(&case), &case);
    }
}

/// Pieces of a tile of scales: several along the rows, along the depth, and more columns than one
/// instruction's rows need.
#[test]
fn scales_in_tensor_memory() {
    let cases = [
        Case { tile: (128, 256), depth: (128, 128), threads: 256, wide: true },
        Case { tile: (256, 128), depth: (128, 256), threads: 256, wide: false },
        Case { tile: (128, 128), depth: (256, 256), threads: 128, wide: false },
        // Tiles narrower than a piece, and shallower; odd numbers of them.
        Case { tile: (128, 64), depth: (128, 128), threads: 128, wide: false },
        Case { tile: (128, 8), depth: (256, 256), threads: 128, wide: false },
        Case { tile: (128, 32), depth: (32, 64), threads: 128, wide: true },
        Case { tile: (128, 128), depth: (64, 128), threads: 128, wide: false },
        Case { tile: (128, 224), depth: (128, 128), threads: 128, wide: false },
        Case { tile: (128, 96), depth: (96, 192), threads: 128, wide: false },
        Case { tile: (256, 192), depth: (64, 128), threads: 256, wide: false },
    ];
    for case in cases {
        right("sm_100a", &program(&case), &case);
        assert!(kernel_text(&program(&case), "sm_100a").contains("tcgen05.cp"), "{case:?}");
    }
    // Accumulators leave no columns for scales; no instruction has half as many rows.
    let full = Case { tile: (256, 256), depth: (128, 128), threads: 256, wide: false };
    let said = try_kernel_text(&program(&full), "sm_100a").expect_err("no room");
    assert!(
        said.contains("TensorMemory { op: Op(18), need: 528, scales: 16, have: 512 }"),
        "{said}"
    );
    let half = Case { tile: (64, 128), depth: (128, 128), threads: 128, wide: false };
    let said = try_kernel_text(&program(&half), "sm_100a").expect_err("rows");
    assert!(said.contains("Extent { which: 0, have: 64, takes: 128 }"), "{said}");
    // A depth that a register's product does not divide.
    let flat = Case { tile: (64, 64), depth: (32, 64), threads: 64, wide: false };
    let said = try_kernel_text(&program(&flat), "gfx950").expect_err("depth");
    assert!(said.contains("Extent { which: 2, have: 32, takes: 64 }"), "{said}");
}

/// The scales' part of a plan, changed bit by bit: each change is a wrong scale somewhere.
#[test]
fn a_wrong_choice_is_seen() {
    for arch in ["gfx950", "gfx1250", "sm_120a"] {
        let mut room = room();
        let id = TABLES.arch_named(arch).expect("an architecture");
        let mut pools = Box::new(SmallStorage::new());
        let source = example("gemm_mxfp8.tile");
        let mut program =
            parse(pools.pools(), &TABLES, &source, Options::default()).expect("a program");
        verify(&mut program).expect("a sound program");
        let mut compiled = compile(&TABLES, id, &mut program, room.scratch()).expect("a plan");
        every_kernel(&program, &compiled, &source, arch);
        let plan = &mut compiled.plan;
        let whole = plan.products[0].scales;
        let mut seen = 0;
        for (side, right) in whole.into_iter().enumerate() {
            let right = right.expect("scales");
            for bit in 0..right.choice.len() {
                for other in changed(right.choice.get(bit).expect("a choice")) {
                    let mut wrong = right;
                    wrong.choice = BitMatrix::new();
                    for k in 0..right.choice.len() {
                        assert!(wrong.choice.push(if k == bit {
                            other
                        } else {
                            right.choice.get(k).expect("a choice")
                        }));
                    }
                    plan.products[0].scales[side] = Some(wrong);
                    let found = check::plan(&TABLES, &program, plan);
                    let named = matches!(found, Err(Violation::Operand { operand, .. }) if usize::from(operand) == 3 + side);
                    assert!(
                        named || matches!(found, Err(Violation::Atom { .. })),
                        "{arch} side {side} bit {bit} {other:?}: {found:?}"
                    );
                    seen += usize::from(named);
                }
            }
            plan.products[0].scales[side] = whole[side];
        }
        // The other side's tile, and no scales at all.
        plan.products[0].scales = [whole[1], whole[0]];
        assert!(check::plan(&TABLES, &program, plan).is_err(), "{arch}");
        plan.products[0].scales = [whole[0], None];
        assert!(
            matches!(check::plan(&TABLES, &program, plan), Err(Violation::End { operand: 4, .. })),
            "{arch}"
        );
        plan.products[0].scales = whole;
        assert!(check::plan(&TABLES, &program, plan).is_ok(), "{arch}");
        assert!(seen >= 4, "{arch}: {seen}");
    }
}

fn changed(choice: BlockBitRole) -> Vec<BlockBitRole> {
    match choice {
        BlockBitRole::Register(place) => {
            vec![BlockBitRole::Register(place ^ 1), BlockBitRole::Register(place + 1)]
        }
        BlockBitRole::Immediate { by, value } => vec![
            BlockBitRole::Immediate { by, value: 0 },
            BlockBitRole::Immediate { by, value: value ^ 3 },
            BlockBitRole::Register(0),
        ],
    }
}

/// What becomes of a text in which lines are changed.
fn damaged(arch: &str, change: impl Fn(&str) -> String) -> Result<usize, FaultKind> {
    let case = Case { tile: (64, 64), depth: (128, 128), threads: 64, wide: false };
    let source = program(&case);
    let whole = kernel_text(&source, arch);
    let text: String = whole.lines().map(|line| change(line) + "\n").collect();
    assert_ne!(text, whole, "{arch}");
    product(arch, &text, &kernel_maps(&source, arch), &case).map(|(wrong, _)| wrong)
}

#[test]
fn a_wrong_text_is_caught() {
    // Another byte, another thread, the other half.
    let faults: [(&str, &[(&str, &str)]); 3] = [
        (
            "sm_120a",
            &[
                (", {1, 0}, %r", ", {2, 0}, %r"),
                (", {0, 1}, %r", ", {0, 0}, %r"),
                (", {0, 3};", ", {0, 1};"),
                (", {3, 0};", ", {0, 0};"),
            ],
        ),
        (
            "gfx950",
            &[
                ("op_sel:[0,0,0]", "op_sel:[1,0,0]"),
                ("op_sel_hi:[0,0,0]", "op_sel_hi:[0,1,0]"),
                ("cbsz:0", "cbsz:1"),
            ],
        ),
        (
            "gfx1250",
            &[
                ("matrix_a_scale:0", "matrix_a_scale:1"),
                ("matrix_b_scale:1", "matrix_b_scale:0"),
                ("matrix_b_fmt:0", "matrix_b_fmt:1"),
            ],
        ),
    ];
    for (arch, changes) in faults {
        for (from, to) in changes {
            let found = damaged(arch, |line| line.replace(from, to));
            assert_ne!(found, Ok(0), "{arch}: {from}");
        }
    }
    // Scales read before they are there.
    let waits = damaged("sm_120a", |line| {
        if line.contains("cp.async.wait_group") { String::new() } else { line.to_string() }
    });
    assert_eq!(waits, Err(FaultKind::AsyncNotWaited));
}

/// The architectures beside refuse the text.
#[test]
fn other_architectures_refuse_the_text() {
    let source = example("gemm_mxfp8.tile");
    for (arch, others) in [
        ("sm_120a", ["sm_120", "sm_100a"]),
        ("sm_100a", ["sm_100", "sm_120a"]),
        ("gfx950", ["gfx942", "gfx90a"]),
        ("gfx1250", ["gfx1200", "gfx950"]),
    ] {
        let text = kernel_text(&source, arch);
        for other in others {
            let target = text.replace(&format!(".target {arch}"), &format!(".target {other}"));
            assert!(Assembler::of(other).assemble(&target, other).is_err(), "{other}");
        }
    }
}

/// What no instruction does is refused with the reason.
#[test]
fn refusals_say_why() {
    let source = example("gemm_mxfp8.tile");
    for (arch, change, why) in [
        ("sm_75", ("", ""), "Unscaled { op: Op(18), why: None }"),
        ("gfx1030", ("", ""), "why: None"),
        ("sm_120a", ("e8m0", "f16"), "why: Type { operand: 3 }"),
        ("gfx950", ("e4m3", "i8"), "why: Elements"),
        // A scale for each of a depth's rows: none of B's columns.
        ("gfx950", ("%xa, %xb :", "%xa, %a :"), "Extents"),
        ("gfx950", ("x4xe8m0", "x3xe8m0"), "Blocks { depth: 128, blocks: 3 }"),
    ] {
        let text =
            if change.0.is_empty() { source.clone() } else { source.replace(change.0, change.1) };
        let said = try_kernel_text(&text, arch).expect_err(arch);
        assert!(said.contains(why), "{arch} {change:?}: {said}");
    }
}

/// The plan of scales in tensor memory, changed place by place.
#[test]
fn a_wrong_copy_is_seen() {
    let mut room = room();
    let id = TABLES.arch_named("sm_100a").expect("an architecture");
    let mut pools = Box::new(SmallStorage::new());
    let source = program(&Case { tile: (128, 256), depth: (256, 256), threads: 256, wide: false });
    let mut program =
        parse(pools.pools(), &TABLES, &source, Options::default()).expect("a program");
    verify(&mut program).expect("a sound program");
    let mut compiled = compile(&TABLES, id, &mut program, room.scratch()).expect("a plan");
    every_kernel(&program, &compiled, &source, "sm_100a");
    let plan = &mut compiled.plan;
    let (whole, columns) = (plan.products[0].copied, plan.tensor_columns);
    let b = whole[1].expect("scales of B");
    assert_eq!((b.pieces, b.columns(), columns), ((2, 2), 16, 512));
    let changed: [(&str, ScaleCopy); 8] = [
        ("over the accumulators", ScaleCopy { first: b.first - 32, ..b }),
        ("outside", ScaleCopy { first: 512 - 8, ..b }),
        ("another operand", ScaleCopy { operand: b.operand - 1, ..b }),
        ("another field", ScaleCopy { field: b.field + 1, ..b }),
        ("other pieces", ScaleCopy { pieces: (1, 4), ..b }),
        ("smaller pieces", ScaleCopy { piece: (64, 4, 4), pieces: (4, 2), ..b }),
        (
            "another stride",
            ScaleCopy { given: InShared { word: b.given.word ^ 1 << 32, ..b.given }, ..b },
        ),
        (
            "another tile",
            ScaleCopy { given: InShared { alloc: b.given.alloc - 1, ..b.given }, ..b },
        ),
    ];
    for (what, wrong) in changed {
        plan.products[0].copied[1] = Some(wrong);
        assert!(check::plan(&TABLES, &program, plan).is_err(), "{what}");
    }
    plan.products[0].copied = [whole[0], None];
    assert!(check::plan(&TABLES, &program, plan).is_err());
    plan.products[0].copied = whole;
    // Rows in their own order, or turned by another number of bits.
    let alloc = usize::from(b.given.alloc);
    let turn = plan.allocs[alloc].layout.turn.expect("rows side by side");
    for other in
        [None, Some(RowRotation { count: 1, ..turn }), Some(RowRotation { low: 4, ..turn })]
    {
        plan.allocs[alloc].layout.turn = other;
        assert!(check::plan(&TABLES, &program, plan).is_err(), "{other:?}");
    }
    plan.allocs[alloc].layout.turn = Some(turn);
    check::plan(&TABLES, &program, plan).expect("the plan as it was");
    // A copy that is missing, or comes after the product.
    let steps = compiled.steps.to_vec();
    let is_copy = |s: &&Inst| {
        TABLES.atom(s.atom).is_some_and(|a| a.name().starts_with("tcgen05.cp"))
            && s.purpose == InstKind::Move
    };
    let at = steps.iter().position(|s| is_copy(&s)).expect("a copy");
    let product = steps.iter().position(|s| s.purpose == InstKind::Matrix).expect("a product");
    let mut without = steps.clone();
    let taken = without.remove(at);
    assert!(matches!(
        check::order_of(&TABLES, &program, &compiled.plan, &without),
        Err(Violation::Count { .. })
    ));
    without.insert(product, taken);
    assert!(matches!(
        check::order_of(&TABLES, &program, &compiled.plan, &without),
        Err(Violation::Count { .. })
    ));
    // What orders the copies after what filled their source.
    let fence = steps
        .iter()
        .take(at)
        .rposition(|s| TABLES.atom(s.atom).is_some_and(|a| a.name().starts_with("fence.proxy")))
        .expect("a fence");
    let mut without = steps.clone();
    let _ = without.remove(fence);
    assert!(matches!(
        check::order_of(&TABLES, &program, &compiled.plan, &without),
        Err(Violation::Race { .. })
    ));
}

#[test]
fn a_wrong_text_with_tensor_memory_is_caught() {
    use FaultKind::{AsyncNotWaited, UninitialisedTensor, UnitNotFenced};
    let source = example("gemm_mxfp8.tile");
    let whole = kernel_text(&source, "sm_100a");
    let changed = |change: &dyn Fn(usize, &str) -> String| {
        let text: String =
            whole.lines().enumerate().map(|(k, line)| change(k, line) + "\n").collect();
        assert_ne!(text, whole);
        product(
            "sm_100a",
            &text,
            &kernel_maps(&source, "sm_100a"),
            &Case { depth: (128, 128), ..EXAMPLE },
        )
        .map(|(wrong, _)| wrong)
    };
    let without = |what: &'static str| {
        move |_: usize, line: &str| {
            if line.contains(what) { String::new() } else { line.to_string() }
        }
    };
    let with =
        |from: &'static str, to: &'static str| move |_: usize, line: &str| line.replace(from, to);
    let copies: Vec<usize> = whole
        .lines()
        .enumerate()
        .filter(|(_, line)| line.contains("tcgen05.cp"))
        .map(|(k, _)| k)
        .collect();
    assert_eq!(copies.len(), 2);
    for copy in copies {
        assert_eq!(
            changed(&|k, line| if k == copy { String::new() } else { line.to_string() }),
            Err(UninitialisedTensor)
        );
    }
    assert_eq!(changed(&without("fence.proxy.async")), Err(UnitNotFenced));
    assert_eq!(changed(&without("cp.async.wait_group")), Err(AsyncNotWaited));
    // Every thread copies.
    assert_eq!(changed(&with("@%p0 tcgen05.cp", "tcgen05.cp")), Err(FaultKind::InvalidOperand));
    // A column, a start in shared memory, a run that is another's: of A and of B.
    for (from, to) in [
        (", 132;", ", 253;"),
        (", 132;", ", 128;"),
        (", 67616;", ", 67617;"),
        (", 67584;", ", 67616;"),
    ] {
        assert!(whole.contains(from), "{from}\n{whole}");
        assert_ne!(changed(&with(from, to)), Ok(0), "{from}");
    }
    let word = |line: &str| {
        line.trim()
            .strip_prefix("mov.b32 %r")
            .and_then(|l| l.split_once(", "))
            .and_then(|(_, n)| n.trim_end_matches(';').parse::<u32>().ok())
    };
    let is_word = |n: &u32| n >> 27 & 3 == 1 && n >> 23 & 1 == 1;
    assert_eq!(whole.lines().filter_map(word).filter(is_word).count(), 4);
    for bit in [4, 7, 17, 23, 29] {
        let flip = |_: usize, line: &str| {
            word(line).filter(is_word).map_or(line.to_string(), |n| {
                line.replace(&n.to_string(), &(n ^ 1 << bit).to_string())
            })
        };
        assert_ne!(changed(&flip), Ok(0), "bit {bit}");
    }
}
