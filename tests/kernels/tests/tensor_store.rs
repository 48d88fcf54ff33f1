//! Copies out of shared memory through tensor maps: right results with the map that the plan
//! describes, and every step of their protocol and every field of the map needed.
#![allow(missing_docs)]

use lanebook::TABLES;
use lanebook::check::{self, Violation};
use lanebook::emit::step::{Inst, InstKind};
use lanebook_kernels::maps::{KernelMap, kernel_maps, map_params, text_and_maps};
use lanebook_kernels::{Assembler, example, kernel_text, try_kernel_text, with_kernel};
use lanebook_replay::{BankModel, FaultKind, Kernel, Launch, Memory, Param, TensorMap, run};

const STORE: &str = "cp.async.bulk.tensor.2d.global.shared::cta";
/// A matrix unit whose accumulators are registers, no such unit, one with tensor memory.
const ARCHS: [&str; 4] = ["sm_90a", "sm_90", "sm_100a", "sm_120"];

/// Runs the product of 128 x 128 and a depth of `k` whose result goes through shared memory: wrong
/// elements.
fn product(
    text: &str,
    maps: &[KernelMap],
    k: u32,
    change: impl Fn(usize, &mut TensorMap),
) -> Result<usize, FaultKind> {
    product_in(text, maps, k, false, change)
}

/// The same; a narrow result is in f16.
fn product_in(
    text: &str,
    maps: &[KernelMap],
    k: u32,
    narrow: bool,
    change: impl Fn(usize, &mut TensorMap),
) -> Result<usize, FaultKind> {
    let (m, n) = (128u32, 128u32);
    let a: Vec<f32> = (0..m * k).map(|i| ((i * 7 + i / k) % 13) as f32 - 6.0).collect();
    let b: Vec<f32> = (0..k * n).map(|i| ((i * 5 + i / n) % 11) as f32 - 5.0).collect();
    let mut memory = Memory::new();
    let (ia, ib) = (memory.add_f16("A", &a), memory.add_f16("B", &b));
    let before = vec![7.0; (m * n) as usize];
    let ic = if narrow { memory.add_f16("C", &before) } else { memory.add_f32("C", &before) };
    let matrix = |id, rows: u32, cols: u32| {
        [Param::Buffer(id), Param::U32(rows), Param::U32(cols), Param::U32(cols)]
    };
    let mut params: Vec<Param> = [matrix(ia, m, k), matrix(ib, k, n), matrix(ic, m, n)].concat();
    params.extend([Param::U32(0), Param::U32(0), Param::U32(k)]);
    let mut tensors = map_params(maps, &[(ia, m, k), (ib, k, n), (ic, m, n)], &memory);
    for (number, tensor) in tensors.iter_mut().enumerate() {
        if let Param::Tensor(map) = tensor {
            change(number, map);
        }
    }
    params.extend(tensors);
    let kernel = Kernel::parse_ptx(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    // More than the static limit is given at launch.
    let dynamic_shared = if text.contains(".extern .shared") { 160 << 10 } else { 0 };
    let launch = Launch { dynamic_shared, ..Launch::new(128, params).banks(BankModel::nvidia()) };
    run(&kernel, &launch, &mut memory).map_err(|f| f.kind)?;
    let c = if narrow { memory.f16s(ic) } else { memory.f32s(ic) };
    let want = |i: u32, j: u32| -> f32 {
        (0..k).map(|x| a[(i * k + x) as usize] * b[(x * n + j) as usize]).sum()
    };
    Ok((0..m * n).filter(|at| c[*at as usize] != want(at / n, at % n)).count())
}

fn without(text: &str, mut gone: impl FnMut(&str) -> bool) -> String {
    text.lines().filter(|line| !gone(line)).map(|line| format!("{line}\n")).collect()
}

/// The text without the last line that has a word in it, among those before the copies (or behind
/// the first of them).
fn without_last(text: &str, word: &str, before: bool) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let first = lines.iter().position(|l| l.contains(STORE)).expect("a copy");
    let among = if before { 0..first } else { first..lines.len() };
    let gone = among
        .rev()
        .find(|k| lines[*k].contains(word))
        .unwrap_or_else(|| panic!("no {word}\n{text}"));
    lines
        .iter()
        .enumerate()
        .filter(|(k, _)| *k != gone)
        .map(|(_, line)| format!("{line}\n"))
        .collect()
}

#[test]
fn copies_take_the_tile_away() {
    let program = example("gemm_store.tile");
    for arch in ARCHS {
        let text = kernel_text(&program, arch);
        assert!(text.contains(STORE), "{arch}\n{text}");
        Assembler::of(arch).assemble(&text, arch).unwrap_or_else(|said| panic!("{said}\n{text}"));
        assert_eq!(
            product(&text, &kernel_maps(&program, arch), 128, |_, _| {}),
            Ok(0),
            "{arch}\n{text}"
        );
        with_kernel(&program, arch, |program, compiled, text| {
            check::plan(&TABLES, program, &compiled.plan)
                .unwrap_or_else(|v| panic!("{arch}: {v:?}"));
            check::order(&TABLES, program, compiled)
                .unwrap_or_else(|v| panic!("{arch}: {v:?}\n{text}"));
        });
    }
    // Elsewhere other instructions do it, and what the text says is no instruction.
    let text = kernel_text(&program, "sm_80");
    assert_eq!(product(&text, &[], 128, |_, _| {}), Ok(0));
    let text = kernel_text(&program, "sm_90").replace(".target sm_90", ".target sm_80");
    assert!(Assembler::of("sm_80").assemble(&text, "sm_80").is_err());
}

/// A narrower result, as kernels store it: by matrices of a warp into rows that the map's widest
/// swizzle permutes, then by a copy for each half.
#[test]
fn a_narrower_result() {
    let program = example("gemm_store.tile")
        .replace("%C: memref<?x?xf32, #gmem> {align = 16, stride_div = 4}", "%C: memref<?x?xf16, #gmem> {align = 16, stride_div = 8}")
        .replace("alloc_tensor : tensor<128x128xf32", "alloc_tensor : tensor<128x128xf16")
        .replace(
            "tiled_store %r, %sc : tensor<128x128xf32> -> tensor<128x128xf32",
            "%h = cast %r : tensor<128x128xf32> -> tensor<128x128xf16>\n  tiled_store %h, %sc : tensor<128x128xf16> -> tensor<128x128xf16",
        )
        .replace("%C[%m, %n] : tensor<128x128xf32, #smem> -> memref<?x?xf32", "%C[%m, %n] : tensor<128x128xf16, #smem> -> memref<?x?xf16");
    for arch in ["sm_90a", "sm_90", "sm_100a"] {
        let text =
            try_kernel_text(&program, arch).unwrap_or_else(|e| panic!("{arch}: {e}\n{program}"));
        assert_eq!(
            (text.matches(STORE).count(), text.contains("stmatrix")),
            (2, true),
            "{arch}\n{text}"
        );
        Assembler::of(arch).assemble(&text, arch).unwrap_or_else(|said| panic!("{said}\n{text}"));
        let maps = kernel_maps(&program, arch);
        // Sums of 64 products are whole numbers below 2048.
        assert_eq!(product_in(&text, &maps, 64, true, |_, _| {}), Ok(0), "{arch}\n{text}");
        let own = maps.iter().position(|m| m.memref == 2).expect("the result's map");
        assert_eq!(maps[own].swizzle, 3, "{arch}");
        let other =
            |k: usize, map: &mut TensorMap| map.swizzle = if k == own { 5 } else { map.swizzle };
        assert_ne!(product_in(&text, &maps, 64, true, other), Ok(0), "{arch}");
    }
}

#[test]
fn each_step_of_the_protocol_is_needed() {
    let program = example("gemm_store.tile");
    for arch in ARCHS {
        let (whole, maps) = text_and_maps(&program, arch);
        let damaged = |text: String| {
            assert_ne!(text, whole, "{arch}");
            product(&text, &maps, 64, |_, _| {})
        };
        assert_eq!(
            damaged(without_last(&whole, "fence.proxy.async", true)),
            Err(FaultKind::UnitNotFenced),
            "{arch}"
        );
        assert_eq!(
            damaged(without_last(&whole, "bar.sync", true)),
            Err(FaultKind::RaceReadAfterWrite),
            "{arch}"
        );
        assert_eq!(
            damaged(without_last(&whole, "cp.async.bulk.commit_group", false)),
            Err(FaultKind::AsyncNotWaited),
            "{arch}"
        );
        assert_eq!(
            damaged(without_last(&whole, "cp.async.bulk.wait_group.read", false)),
            Err(FaultKind::AsyncNotWaited),
            "{arch}"
        );
        // A copy that does not come; all threads start it, which stores the same again.
        assert!(damaged(without_last(&whole, STORE, false)).is_ok_and(|wrong| wrong > 0), "{arch}");
    }
}

#[test]
fn each_field_of_the_map_is_needed() {
    type Change = fn(&mut TensorMap);
    let fields: [(&str, Change); 9] = [
        ("address", |m| m.address += 16),
        ("element", |m| (m.element_bytes, m.boxed[0]) = (2, m.boxed[0] * 2)),
        ("order", |m| m.strides[1] /= 2),
        ("stride", |m| m.strides[1] += 16),
        ("box", |m| m.boxed[1] /= 2),
        ("box, as many bytes", |m| m.boxed = [m.boxed[0] / 2, m.boxed[1] * 2, 1, 1, 1]),
        ("swizzle", |m| m.swizzle = 0),
        ("another swizzle", |m| m.swizzle = if m.swizzle == 3 { 4 } else { m.swizzle + 1 }),
        ("rank", |m| m.rank = 3),
    ];
    let program = example("gemm_store.tile");
    for arch in ["sm_90a", "sm_100a"] {
        let (text, maps) = text_and_maps(&program, arch);
        let own = maps.iter().position(|m| m.memref == 2).expect("the result's map");
        for (field, change) in fields {
            let found = product(&text, &maps, 64, |k, map| {
                if k == own {
                    change(map)
                }
            });
            assert_ne!(found, Ok(0), "{arch}: {field}");
        }
    }
}

/// A tile that is filled, copied away and filled again, with and without a loop.
const TWICE: &str =
    "func @twice(%A: memref<?x?xf32, #gmem> {align = 16, stride_div = 4}, %B: memref<?x?xf32, #gmem> {align = 16, stride_div = 4}) {threads = 128} {
  %s = alloc_tensor : tensor<64x32xf32, #smem>
  %t = tiled_load %A[0, 0] : memref<?x?xf32, #gmem> -> tensor<64x32xf32>
  tiled_store %t, %s : tensor<64x32xf32> -> tensor<64x32xf32, #smem>
  copy %s, %B[0, 0] {mover = \"tma.2d.store.one\"} : tensor<64x32xf32, #smem> -> memref<?x?xf32, #gmem>
  %u = tiled_load %A[0, 32] : memref<?x?xf32, #gmem> -> tensor<64x32xf32>
  tiled_store %u, %s : tensor<64x32xf32> -> tensor<64x32xf32, #smem>
  copy %s, %B[0, 32] {mover = \"tma.2d.store.one\"} : tensor<64x32xf32, #smem> -> memref<?x?xf32, #gmem>
}";

/// The same through copies both ways: the second one waits until the first has been read.
const THROUGH: &str =
    "func @through(%A: memref<?x?xf32, #gmem> {align = 16, stride_div = 4}, %B: memref<?x?xf32, #gmem> {align = 16, stride_div = 4}) {threads = 128} {
  %s = alloc_tensor : tensor<64x32xf32, #smem>
  scf.for %k = 0 to 64 step 32 {
    copy %A[0, %k], %s {mover = \"tma.2d.load.one\"} : memref<?x?xf32, #gmem> -> tensor<64x32xf32, #smem>
    copy %s, %B[0, %k] {mover = \"tma.2d.store.one\"} : tensor<64x32xf32, #smem> -> memref<?x?xf32, #gmem>
    scf.yield
  }
}";

fn twice(program: &str, text: &str, arch: &str) -> Result<bool, FaultKind> {
    let a: Vec<f32> = (0..64 * 64).map(|i| i as f32).collect();
    let mut memory = Memory::new();
    let (ia, ib) = (memory.add_f32("A", &a), memory.add_f32("B", &vec![-1.0; 64 * 64]));
    let matrix = |id| [Param::Buffer(id), Param::U32(64), Param::U32(64), Param::U32(64)];
    let mut params: Vec<Param> = [matrix(ia), matrix(ib)].concat();
    params.extend(map_params(&kernel_maps(program, arch), &[(ia, 64, 64), (ib, 64, 64)], &memory));
    let kernel = Kernel::parse_ptx(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    run(&kernel, &Launch::new(128, params), &mut memory).map_err(|f| f.kind)?;
    Ok(memory.f32s(ib) == a)
}

#[test]
fn a_tile_that_is_filled_again() {
    for (program, arch, needed) in
        [(TWICE, "sm_90", 5), (TWICE, "sm_120", 5), (THROUGH, "sm_90a", 3)]
    {
        let text = with_kernel(program, arch, |program, compiled, text| {
            check::plan(&TABLES, program, &compiled.plan)
                .unwrap_or_else(|v| panic!("{arch}: {v:?}"));
            check::order(&TABLES, program, compiled)
                .unwrap_or_else(|v| panic!("{arch}: {v:?}\n{text}"));
            text.to_string()
        });
        Assembler::of(arch).assemble(&text, arch).unwrap_or_else(|said| panic!("{said}\n{text}"));
        assert_eq!(twice(program, &text, arch), Ok(true), "{arch}\n{text}");
        // Every barrier, fence, group and wait is needed.
        let words = ["bar.sync", "fence.proxy", "commit_group", "wait_group.read"];
        let mut missed = 0;
        for (k, line) in text
            .lines()
            .enumerate()
            .filter(|(_, line)| words.iter().any(|word| line.contains(word)))
        {
            let mut number = 0;
            let less = without(&text, |_| {
                number += 1;
                number == k + 1
            });
            let found = twice(program, &less, arch);
            // The barrier that makes an object known: the same thread uses it first.
            if found == Ok(true)
                && line.contains("bar.sync")
                && !text.lines().take(k).any(|l| l.contains("bulk.tensor"))
            {
                continue;
            }
            assert!(found.is_err(), "{arch}: without line {k}, {line}: {found:?}\n{text}");
            missed += 1;
        }
        assert!(missed >= needed, "{arch}: {missed}\n{text}");
    }
}

/// A tile that is copied away and read where it went.
const AGAIN: &str =
    "func @again(%A: memref<?x?xf32, #gmem> {align = 16, stride_div = 4}, %B: memref<?x?xf32, #gmem> {align = 16, stride_div = 4}) {threads = 128} {
  %s = alloc_tensor : tensor<64x32xf32, #smem>
  %t = tiled_load %A[0, 0] : memref<?x?xf32, #gmem> -> tensor<64x32xf32>
  tiled_store %t, %s : tensor<64x32xf32> -> tensor<64x32xf32, #smem>
  copy %s, %B[0, 0] {mover = \"tma.2d.store.one\"} : tensor<64x32xf32, #smem> -> memref<?x?xf32, #gmem>
  %u = tiled_load %B[0, 0] : memref<?x?xf32, #gmem> -> tensor<64x32xf32>
  tiled_store %u, %B[0, 32] : tensor<64x32xf32> -> memref<?x?xf32, #gmem>
}";

#[test]
fn a_result_that_is_read_again() {
    let run = |text: &str| {
        let a: Vec<f32> = (0..64 * 64).map(|i| i as f32).collect();
        let mut memory = Memory::new();
        let (ia, ib) = (memory.add_f32("A", &a), memory.add_f32("B", &vec![-1.0; 64 * 64]));
        let matrix = |id| [Param::Buffer(id), Param::U32(64), Param::U32(64), Param::U32(64)];
        let mut params: Vec<Param> = [matrix(ia), matrix(ib)].concat();
        params.extend(map_params(
            &kernel_maps(AGAIN, "sm_90"),
            &[(ia, 64, 64), (ib, 64, 64)],
            &memory,
        ));
        let kernel = Kernel::parse_ptx(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        lanebook_replay::run(&kernel, &Launch::new(128, params), &mut memory)
            .map_err(|f| f.kind)?;
        let b = memory.f32s(ib);
        Ok((0..64 * 64).filter(|i| b[*i] != a[i / 64 * 64 + i % 32]).count())
    };
    let text = kernel_text(AGAIN, "sm_90");
    assert_eq!(run(&text), Ok(0), "{text}");
    let copy = text.find(STORE).expect("a copy");
    let (before, behind) = text.split_at(copy);
    let damaged = |from: &str, to: &str| {
        assert!(behind.contains(from), "{from}\n{text}");
        run(&(before.to_string() + &behind.replacen(from, to, 1)))
    };
    // No wait, one that speaks of the copy's reads alone, no barrier behind it, no group that is
    // waited for.
    assert_eq!(damaged("cp.async.bulk.wait_group 0;", ""), Err(FaultKind::AsyncNotWaited));
    assert_eq!(
        damaged("cp.async.bulk.wait_group 0;", "cp.async.bulk.wait_group.read 0;"),
        Err(FaultKind::AsyncNotWaited)
    );
    assert_eq!(damaged("bar.sync 0;", ""), Err(FaultKind::RaceReadAfterWrite));
    assert_eq!(damaged("cp.async.bulk.commit_group;", ""), Err(FaultKind::AsyncNotWaited));
}

/// The independent checker: every step of the protocol is missed by it.
#[test]
fn the_checker_misses_every_step() {
    for (program, arch) in [(TWICE, "sm_90"), (THROUGH, "sm_90a")] {
        with_kernel(program, arch, |program, compiled, text| {
            let machine = TABLES.arch(compiled.plan.arch).expect("an architecture");
            let forms = || {
                TABLES
                    .units
                    .tiled_moves
                    .iter()
                    .filter(|m| machine.features.contains(&m.feature) && !m.loads)
            };
            let steps: Vec<Inst> = compiled.steps.to_vec();
            let about = |s: &Inst| {
                machine
                    .sync
                    .iter()
                    .filter(|r| forms().any(|f| [r.producer, r.consumer].contains(&f.from)))
                    .any(|r| r.steps.iter().any(|w| w.atom == s.atom))
            };
            let first = steps.iter().position(|s| s.purpose == InstKind::Move).expect("a movement");
            let mut missed = 0;
            for k in (0..steps.len())
                .filter(|k| steps[*k].purpose == InstKind::Sync && about(&steps[*k]))
            {
                let mut without = steps.clone();
                let _ = without.remove(k);
                let found = check::order_of(&TABLES, program, &compiled.plan, &without);
                // The barrier that makes an object known: another stands before its use.
                if k < first && found.is_ok() {
                    continue;
                }
                assert!(
                    matches!(found, Err(Violation::Race { .. } | Violation::Completion { .. })),
                    "{arch}: step {k} {found:?}\n{text}"
                );
                missed += 1;
            }
            assert!(missed >= 6, "{arch}: {missed}");
            let copy =
                steps.iter().position(|s| forms().any(|f| f.atom == s.atom)).expect("a copy");
            let mut without = steps.clone();
            let _ = without.remove(copy);
            assert!(
                matches!(
                    check::order_of(&TABLES, program, &compiled.plan, &without),
                    Err(Violation::Count { .. })
                ),
                "{arch}"
            );
        });
    }
}

/// What a program asks for and cannot have is refused by the rule's name and numbers.
#[test]
fn a_copy_that_no_map_describes() {
    for (from, to, why) in [
        (
            "%B: memref<?x?xf32, #gmem> {align = 16,",
            "%B: memref<?x?xf32, #gmem> {align = 8,",
            "Tensor { rule: Base, found: 8, needed: 16 }",
        ),
        (
            "%s = alloc_tensor :",
            "%s = alloc_tensor {layout = S[(64,32):(36,1)]} :",
            "Tensor { rule: ",
        ),
        ("%s = alloc_tensor :", "%s = alloc_tensor {layout = S<2,4,3> o 0 o (64,32):(32,1)} :", ""),
    ] {
        let program = TWICE.replace(from, to);
        assert_ne!(program, TWICE);
        let refused = try_kernel_text(&program, "sm_90").expect_err("refused");
        assert!(refused.contains(why), "{to}: {refused}");
    }
    assert!(try_kernel_text(TWICE, "sm_80").expect_err("refused").contains("NoCopyAtom"));
}
