//! Products with tensor memory that take something from registers: sums that do not begin with
//! zeros, and A. Legal text, right results, and every fault in what brings it there caught.
#![allow(missing_docs)]

use lanebook::TABLES;
use lanebook::check::{self, Violation};
use lanebook::emit::step::{Inst, InstKind};
use lanebook_kernels::maps::{kernel_maps, map_params};
use lanebook_kernels::{Assembler, kernel_text, try_kernel_text, with_kernel};
use lanebook_replay::{FaultKind, Kernel, Launch, Memory, Param, run};

const ARCH: &str = "sm_100a";

/// What a product takes from registers.
#[derive(Copy, Clone, Debug, PartialEq)]
enum Way {
    /// The sum's start, loaded before the loop that carries it.
    Start,
    /// The sum so far, halved in each turn.
    Halved,
    /// A, rounded from numbers of 32 bits and doubled.
    Doubled,
    /// Both at once.
    Both,
}

impl Way {
    fn halves(self) -> bool {
        matches!(self, Way::Halved | Way::Both)
    }

    fn doubles(self) -> bool {
        matches!(self, Way::Doubled | Way::Both)
    }
}

/// D = C + A * B, depth 64 at a time, with what `way` adds to that.
fn program(way: Way, (m, n): (u32, u32), threads: u32) -> String {
    let (wide, tile_a, tile_b) =
        (format!("tensor<{m}x{n}xf32>"), format!("tensor<{m}x64x"), format!("tensor<64x{n}xf16"));
    let start = match way {
        Way::Start => format!("  %y = tiled_load %C[0, 0] : memref<?x{n}xf32, #gmem> -> {wide}\n"),
        _ => format!("  %y = constant 0.0 : {wide}\n"),
    };
    let ty = if way.doubles() { "f32" } else { "f16" };
    let a = if way.doubles() {
        format!(
            "    %t = tiled_load %A[0, %k] : memref<?x?xf32, #gmem> -> {tile_a}f32>\n    %u = add %t, %t : {tile_a}f32>\n    %a = cast %u : {tile_a}f32> -> {tile_a}f16>\n"
        )
    } else {
        format!(
            "    copy %A[0, %k], %sa : memref<?x?xf16, #gmem> -> {tile_a}f16, #smem>\n    %a = tiled_load %sa : {tile_a}f16, #smem> -> {tile_a}f16>\n"
        )
    };
    let alloc = if way.doubles() {
        String::new()
    } else {
        format!("  %sa = alloc_tensor : {tile_a}f16, #smem>\n")
    };
    let sum = if way.halves() {
        (format!("    %h = mul %c, %half : {wide}\n"), "%h")
    } else {
        (String::new(), "%c")
    };
    format!(
        "func @start(%A: memref<?x?x{ty}, #gmem> {{align = 16, stride_div = 8}}, %B: memref<?x{n}xf16, #gmem> {{align = 16}}, %C: memref<?x{n}xf32, #gmem> {{align = 16}}, \
         %D: memref<?x{n}xf32, #gmem> {{align = 16}}, %K: index) {{threads = {threads}}} {{\n{alloc}  %sb = alloc_tensor : {tile_b}, #smem>\n{start}  %half = constant 0.5 : {wide}\n  \
         %r = scf.for %k = 0 to %K step 64 iter_args(%c = %y) -> {wide} {{\n    copy %B[%k, 0], %sb : memref<?x{n}xf16, #gmem> -> {tile_b}, #smem>\n{a}    \
         %b = tiled_load %sb : {tile_b}, #smem> -> {tile_b}>\n{}    %d = mma %a, %b, {} : {wide}\n    scf.yield %d : {wide}\n  }}\n  \
         tiled_store %r, %D[0, 0] : {wide} -> memref<?x{n}xf32, #gmem>\n}}\n",
        sum.0, sum.1
    )
}

/// Elements of D that are wrong, where the loop goes over a depth of `turns`.
fn outcome(
    text: &str,
    program: &str,
    way: Way,
    (m, n): (u32, u32),
    threads: u32,
    turns: u32,
) -> Result<usize, FaultKind> {
    let k = turns.max(64);
    let a: Vec<f32> = (0..m * k).map(|i| ((i * 7 + i / k) % 13) as f32 - 6.0).collect();
    let b: Vec<f32> = (0..k * n).map(|i| ((i * 5 + i / n) % 11) as f32 - 5.0).collect();
    let c: Vec<f32> = (0..m * n).map(|i| (i * 3 % 17) as f32 - 8.0).collect();
    let mut memory = Memory::new();
    let ia = if way.doubles() { memory.add_f32("A", &a) } else { memory.add_f16("A", &a) };
    let (ib, ic) = (memory.add_f16("B", &b), memory.add_f32("C", &c));
    let id = memory.add_f32("D", &vec![77.0; (m * n) as usize]);
    let mut params = vec![Param::Buffer(ia), Param::U32(m), Param::U32(k), Param::U32(k)];
    for (id, rows) in [(ib, k), (ic, m), (id, m)] {
        params.extend([Param::Buffer(id), Param::U32(rows)]);
    }
    params.push(Param::U32(turns));
    params.extend(map_params(
        &kernel_maps(program, ARCH),
        &[(ia, m, k), (ib, k, n), (ic, m, n), (id, m, n)],
        &memory,
    ));
    let kernel = Kernel::parse_ptx(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    run(&kernel, &Launch::new(threads, params), &mut memory).map_err(|f| f.kind)?;
    let found = memory.f32s(id);
    let want = |i: u32, j: u32| -> f32 {
        let mut sum = if way == Way::Start { c[(i * n + j) as usize] } else { 0.0 };
        for first in (0..turns).step_by(64) {
            sum *= if way.halves() { 0.5 } else { 1.0 };
            let part: f32 = (first..first + 64)
                .map(|x| a[(i * k + x) as usize] * b[(x * n + j) as usize])
                .sum();
            sum += if way.doubles() { 2.0 * part } else { part };
        }
        sum
    };
    Ok((0..m * n).filter(|at| found[*at as usize] != want(at / n, at % n)).count())
}

const TILES: [((u32, u32), u32); 4] =
    [((128, 64), 128), ((64, 64), 128), ((128, 128), 256), ((64, 32), 128)];
const WAYS: [Way; 4] = [Way::Start, Way::Halved, Way::Doubled, Way::Both];

#[test]
fn right_sums() {
    let assembler = Assembler::of(ARCH);
    for way in WAYS {
        for (tile, threads) in TILES {
            let what = format!("{way:?} {tile:?} {threads}");
            let program = program(way, tile, threads);
            let text = try_kernel_text(&program, ARCH)
                .unwrap_or_else(|e| panic!("{what}: {e}\n{program}"));
            assembler.assemble(&text, ARCH).unwrap_or_else(|said| panic!("{what}: {said}\n{text}"));
            assert!(text.contains("tcgen05.mma") && text.contains("tcgen05.st"), "{what}\n{text}");
            with_kernel(&program, ARCH, |program, compiled, text| {
                check::plan(&TABLES, program, &compiled.plan)
                    .unwrap_or_else(|v| panic!("{what}: {v:?}"));
                check::order(&TABLES, program, compiled)
                    .unwrap_or_else(|v| panic!("{what}: {v:?}\n{text}"));
            });
            for k in [0, 192] {
                assert_eq!(
                    outcome(&text, &program, way, tile, threads, k),
                    Ok(0),
                    "{what} {k}\n{text}"
                );
            }
        }
    }
}

fn without(text: &str, what: &str, only: Option<usize>) -> String {
    let mut seen = 0;
    let mut out = String::new();
    for line in text.lines() {
        let hit = line.trim_start().contains(what);
        if !(hit && only.is_none_or(|only| only == seen)) {
            out += line;
            out += "\n";
        }
        seen += usize::from(hit);
    }
    out
}

#[test]
fn each_step_of_the_protocol_is_needed() {
    let (tile, threads) = ((64, 32), 128);
    for way in WAYS {
        let program = program(way, tile, threads);
        let whole = kernel_text(&program, ARCH);
        let damaged = |text: &str| {
            assert_ne!(text, whole, "{way:?}");
            outcome(text, &program, way, tile, threads, 128)
        };
        let stores = damaged(&without(&whole, "tcgen05.st", None));
        assert_eq!(stores, Err(FaultKind::UninitialisedTensor), "{way:?}");
        assert_eq!(
            damaged(&without(&whole, "tcgen05.wait::st", None)),
            Err(FaultKind::TensorNotReady),
            "{way:?}"
        );
        assert_eq!(
            damaged(&without(&whole, "tcgen05.fence::before", None)),
            Err(FaultKind::TensorNotReady),
            "{way:?}"
        );
        assert_eq!(
            damaged(&without(&whole, "tcgen05.fence::after", None)),
            Err(FaultKind::TensorNotReady),
            "{way:?}"
        );
        assert!(damaged(&without(&whole, "bar.sync", None)).is_err(), "{way:?}");
        // Each store alone: the cells are those of another turn, or of nobody.
        for only in 0..whole.matches("tcgen05.st.").count() {
            assert_ne!(
                damaged(&without(&whole, "tcgen05.st.", Some(only))),
                Ok(0),
                "{way:?} {only}"
            );
        }
    }
}

#[test]
fn wrong_cells_are_caught() {
    let (tile, threads) = ((64, 32), 128);
    for way in WAYS {
        let program = program(way, tile, threads);
        let whole = kernel_text(&program, ARCH);
        // Each store one column on, and in the lanes of the next quarter.
        let stores: Vec<&str> = whole.lines().filter(|line| line.contains("tcgen05.st.")).collect();
        for (line, (more, other)) in
            stores.iter().flat_map(|line| [(*line, ("+1]", false)), (*line, ("+2097152]", true))])
        {
            let changed = line.replacen(']', more, 1);
            let found = outcome(&whole.replace(line, &changed), &program, way, tile, threads, 128);
            let caught = if other {
                found == Err(FaultKind::TensorReach)
            } else {
                found.is_err() || found.is_ok_and(|wrong| wrong > 0)
            };
            assert!(caught, "{way:?} {more}: {found:?}");
        }
        // A one column on.
        if way.doubles() {
            for line in whole.lines().filter(|line| line.contains("tcgen05.mma")) {
                let (head, tail) = line.split_once("], [").expect("A in tensor memory");
                let changed = format!("{head}], [{}", tail.replacen(']', "+1]", 1));
                let found =
                    outcome(&whole.replace(line, &changed), &program, way, tile, threads, 128);
                assert_ne!(found, Ok(0), "{way:?}");
            }
        }
    }
}

/// The checker of steps misses each step that brings something to tensor memory.
#[test]
fn a_missing_step() {
    for way in WAYS {
        with_kernel(&program(way, (128, 64), 128), ARCH, |program, compiled, text| {
            let steps: Vec<Inst> = compiled.steps.to_vec();
            let name = |s: &Inst| TABLES.atom(s.atom).map_or("", |a| a.name());
            let first =
                steps.iter().position(|s| name(s).starts_with("tcgen05.st")).expect("a store");
            let product =
                steps.iter().rposition(|s| s.purpose == InstKind::Matrix).expect("a product");
            let mut missed = 0;
            for k in (first..=product).filter(|k| {
                name(&steps[*k]).starts_with("tcgen05.wait.st")
                    || name(&steps[*k]).starts_with("tcgen05.fence")
            }) {
                let mut without = steps.clone();
                let taken = without.remove(k);
                let found = check::order_of(&TABLES, program, &compiled.plan, &without);
                assert!(
                    matches!(found, Err(Violation::Race { .. })),
                    "{way:?} {}: {found:?}\n{text}",
                    name(&taken)
                );
                missed += 1;
            }
            assert!(missed >= 3, "{way:?} {missed}\n{text}");
            let mut without = steps.clone();
            let _ = without.remove(first);
            assert!(
                matches!(
                    check::order_of(&TABLES, program, &compiled.plan, &without),
                    Err(Violation::Count { .. })
                ),
                "{way:?}"
            );
        });
    }
}
