//! Matrix units that read shared memory through descriptors: legal text, right results, and every
//! fault in the protocol caught.
#![allow(missing_docs)]

use lanebook_kernels::maps::{KernelMap, kernel_maps, map_params};
use lanebook_kernels::{Assembler, e4m3, example, kernel_text, try_kernel_text};
use lanebook_replay::{
    BankModel, FaultKind, Kernel, Launch, MatrixShape, Memory, Param, Report, run,
};

const ARCH: &str = "sm_90a";

/// How elements are stored.
#[derive(Copy, Clone, Debug, PartialEq)]
enum Element {
    F16,
    Bf16,
    E4m3,
}

/// A product C = A * B over whole matrices of one tile's size along m and n.
struct Case {
    tile: (u32, u32),
    k: u32,
    threads: u32,
    element: Element,
    /// B is stored with its rows and columns exchanged.
    transposed: bool,
    /// The instruction that copies have to be made of.
    mover: Option<&'static str>,
}

/// Elements of C that are wrong.
fn product(text: &str, maps: &[KernelMap], case: &Case) -> Result<(usize, Report), FaultKind> {
    let (m, n, k) = (case.tile.0, case.tile.1, case.k);
    let a: Vec<f32> = (0..m * k).map(|i| ((i * 7 + i / k) % 13) as f32 - 6.0).collect();
    let b: Vec<f32> = (0..k * n).map(|i| ((i * 5 + i / n) % 11) as f32 - 5.0).collect();
    let stored: Vec<f32> = if case.transposed {
        (0..n * k).map(|i| b[((i % k) * n + i / k) as usize]).collect()
    } else {
        b.clone()
    };
    let mut memory = Memory::new();
    let mut add = |name: &str, v: &[f32]| match case.element {
        Element::F16 => memory.add_f16(name, v),
        Element::Bf16 => memory.add_bf16(name, v),
        Element::E4m3 => memory.add(name, v.iter().map(|x| e4m3(*x)).collect()),
    };
    let (ia, ib) = (add("A", &a), add("B", &stored));
    let ic = memory.add_f32("C", &vec![7.0; (m * n) as usize]);
    let (rows, cols) = if case.transposed { (n, k) } else { (k, n) };
    let bytes = if case.element == Element::E4m3 { 1 } else { 2 };
    memory.set_shape(ia, MatrixShape::row_major(m, k, bytes));
    memory.set_shape(ib, MatrixShape::row_major(rows, cols, bytes));
    let matrix = |id, rows: u32, cols: u32| {
        [Param::Buffer(id), Param::U32(rows), Param::U32(cols), Param::U32(cols)]
    };
    let mut params: Vec<Param> =
        [matrix(ia, m, k), matrix(ib, rows, cols), matrix(ic, m, n)].concat();
    params.extend([Param::U32(0), Param::U32(0), Param::U32(k)]);
    params.extend(map_params(maps, &[(ia, m, k), (ib, rows, cols), (ic, m, n)], &memory));
    let kernel = Kernel::parse_ptx(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let report =
        run(&kernel, &Launch::new(case.threads, params).banks(BankModel::nvidia()), &mut memory)
            .map_err(|f| f.kind)?;
    let c = memory.f32s(ic);
    let want = |i: u32, j: u32| -> f32 {
        (0..k).map(|x| a[(i * k + x) as usize] * b[(x * n + j) as usize]).sum()
    };
    let wrong = (0..m * n).filter(|at| c[*at as usize] != want(at / n, at % n)).count();
    Ok((wrong, report))
}

/// The program of a case: the examples with other numbers.
fn program(case: &Case) -> String {
    let (m, n) = case.tile;
    let t = if case.element == Element::Bf16 { "bf16" } else { "f16" };
    let (b, at, turn) = if case.transposed {
        (
            format!("{n}x64x{t}"),
            "%n, %k",
            format!("%t = trans %b : tensor<{n}x64x{t}> -> tensor<64x{n}x{t}>"),
        )
    } else {
        (format!("64x{n}x{t}"), "%k, %n", String::new())
    };
    let operand = if case.transposed { "%t" } else { "%b" };
    let how = case.mover.map_or(String::new(), |mover| format!(" {{mover = \"{mover}\"}}"));
    format!(
        "func @gemm(%A: memref<?x?x{t}, #gmem> {{align = 16, stride_div = 8}}, %B: memref<?x?x{t}, #gmem> {{align = 16, stride_div = 8}}, \
                    %C: memref<?x?xf32, #gmem> {{align = 16, stride_div = 4}}, %m: index {{div = {m}}}, %n: index {{div = {n}}}, %K: index) {{threads = {threads}}} {{
  %sa = alloc_tensor : tensor<{m}x64x{t}, #smem>
  %sb = alloc_tensor : tensor<{b}, #smem>
  %z  = constant 0.0 : tensor<{m}x{n}xf32>
  %r  = scf.for %k = 0 to %K step 64 iter_args(%c = %z) -> tensor<{m}x{n}xf32> {{
    copy %A[%m, %k], %sa{how} : memref<?x?x{t}, #gmem> -> tensor<{m}x64x{t}, #smem>
    copy %B[{at}], %sb{how} : memref<?x?x{t}, #gmem> -> tensor<{b}, #smem>
    %a = tiled_load %sa : tensor<{m}x64x{t}, #smem> -> tensor<{m}x64x{t}>
    %b = tiled_load %sb : tensor<{b}, #smem> -> tensor<{b}>
    {turn}
    %d = mma %a, {operand}, %c : tensor<{m}x{n}xf32>
    scf.yield %d : tensor<{m}x{n}xf32>
  }}
  tiled_store %r, %C[%m, %n] : tensor<{m}x{n}xf32> -> memref<?x?xf32, #gmem>
}}
",
        threads = case.threads
    )
}

#[test]
fn products_of_many_shapes() {
    let assembler = Assembler::of(ARCH);
    let mut units = 0;
    for (tile, threads) in [
        ((128, 128), 128),
        ((64, 256), 128),
        ((128, 64), 256),
        ((256, 64), 512),
        ((64, 8), 128),
        ((64, 96), 128),
        ((192, 32), 128),
        ((64, 128), 256),
    ] {
        for transposed in [false, true] {
            for element in [Element::F16, Element::Bf16] {
                let case = Case { tile, k: 128, threads, element, transposed, mover: None };
                let text = try_kernel_text(&program(&case), ARCH)
                    .unwrap_or_else(|e| panic!("{tile:?} {threads} {transposed}: {e}"));
                assembler
                    .assemble(&text, ARCH)
                    .unwrap_or_else(|said| panic!("{tile:?}: {said}\n{text}"));
                let (wrong, report) = product(&text, &kernel_maps(&program(&case), ARCH), &case)
                    .unwrap_or_else(|f| {
                        panic!("{tile:?} {threads} {transposed} {element:?}: {f:?}\n{text}")
                    });
                assert_eq!(
                    (wrong, report.conflicts()),
                    (0, 0),
                    "{tile:?} {threads} {transposed} {element:?}"
                );
                units += usize::from(text.contains("wgmma.mma_async"));
            }
        }
    }
    assert!(units >= 20, "{units} of the products are the unit's");
}

#[test]
fn eight_bit_products() {
    let case = Case {
        tile: (128, 128),
        k: 256,
        threads: 128,
        element: Element::E4m3,
        transposed: true,
        mover: None,
    };
    let text = kernel_text(&example("gemm_fp8.tile"), ARCH);
    assert!(text.contains("wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e4m3"), "{text}");
    Assembler::of(ARCH).assemble(&text, ARCH).unwrap_or_else(|said| panic!("{said}\n{text}"));
    let (wrong, _) = product(&text, &kernel_maps(&example("gemm_fp8.tile"), ARCH), &case)
        .unwrap_or_else(|f| panic!("{f:?}\n{text}"));
    assert_eq!(wrong, 0);
}

/// What becomes of a text in which one line is changed.
fn damaged(transposed: bool, change: impl Fn(&str) -> Option<String>) -> Result<usize, FaultKind> {
    let case = Case {
        tile: (128, 128),
        k: 128,
        threads: 128,
        element: Element::F16,
        transposed,
        mover: Some("cp.async.cg.16"),
    };
    let whole = kernel_text(&program(&case), ARCH);
    let text: String = whole.lines().filter_map(&change).map(|line| line + "\n").collect();
    assert_ne!(text, whole);
    product(&text, &[], &case).map(|(wrong, _)| wrong)
}

fn without(what: &'static str) -> impl Fn(&str) -> Option<String> {
    move |line| (!line.trim_start().starts_with(what)).then(|| line.to_string())
}

#[test]
fn each_step_of_the_protocol_is_needed() {
    for transposed in [false, true] {
        assert_eq!(damaged(transposed, without("wgmma.fence")), Err(FaultKind::UnitNotFenced));
        assert_eq!(
            damaged(transposed, without("fence.proxy.async")),
            Err(FaultKind::UnitNotFenced)
        );
        assert_eq!(
            damaged(transposed, without("cp.async.wait_group")),
            Err(FaultKind::AsyncNotWaited)
        );
        let waits = damaged(transposed, without("wgmma.wait_group"));
        assert!(
            matches!(waits, Err(FaultKind::RegisterInFlight | FaultKind::AsyncOverwrite)),
            "{waits:?}"
        );
        let commits = damaged(transposed, without("wgmma.commit_group"));
        assert!(
            matches!(commits, Err(FaultKind::RegisterInFlight | FaultKind::AsyncOverwrite)),
            "{commits:?}"
        );
        let barriers = damaged(transposed, without("bar.sync"));
        assert!(
            matches!(
                barriers,
                Err(FaultKind::RaceReadAfterWrite
                    | FaultKind::UninitialisedShared
                    | FaultKind::UnitNotFenced)
            ),
            "{barriers:?}"
        );
    }
}

#[test]
fn a_wrong_descriptor_gives_wrong_results() {
    // The number of 16-byte units at which a block starts, one more; the orders exchanged.
    let later = |line: &str| {
        let (head, number) = line.rsplit_once(", ")?;
        let number: u64 = number.trim_end_matches(';').parse().ok()?;
        (line.contains("add.u64") && number >= 1 << 16).then(|| format!("{head}, {};", number + 1))
    };
    for transposed in [false, true] {
        let found =
            damaged(transposed, |line| Some(later(line).unwrap_or_else(|| line.to_string())));
        assert!(found != Ok(0), "{found:?}");
        let found = damaged(transposed, |line| {
            let swapped = if transposed {
                line.replace("0, 0;", "0, 1;")
            } else {
                line.replace("0, 1;", "0, 0;")
            };
            Some(if line.contains("mma_async") { swapped } else { line.to_string() })
        });
        assert!(found != Ok(0), "{found:?}");
    }
}
