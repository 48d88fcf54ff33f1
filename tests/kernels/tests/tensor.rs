//! Copies through tensor maps: right results with the map that the plan describes, every step of
//! their protocol needed, and every field of the map too.
#![allow(missing_docs)]

use lanebook::TABLES;
use lanebook::check::{self, Violation};
use lanebook::emit::step::{Inst, InstKind, Slot};
use lanebook_kernels::maps::{KernelMap, kernel_maps, map_params, text_and_maps};
use lanebook_kernels::{Assembler, example, kernel_text, try_kernel_text, with_kernel};
use lanebook_replay::{BankModel, FaultKind, Kernel, Launch, Memory, Param, TensorMap, run};

/// Runs a product of 128 x 128 and a depth of `k`; B may be stored with rows and columns exchanged.
/// Elements of C that are wrong.
fn product(
    text: &str,
    maps: &[KernelMap],
    transposed: bool,
    k: u32,
    change: impl Fn(usize, &mut TensorMap),
) -> Result<usize, FaultKind> {
    let (m, n) = (128u32, 128u32);
    let a: Vec<f32> = (0..m * k).map(|i| ((i * 7 + i / k) % 13) as f32 - 6.0).collect();
    let b: Vec<f32> = (0..k * n).map(|i| ((i * 5 + i / n) % 11) as f32 - 5.0).collect();
    let stored: Vec<f32> = if transposed {
        (0..n * k).map(|i| b[((i % k) * n + i / k) as usize]).collect()
    } else {
        b.clone()
    };
    let mut memory = Memory::new();
    let (ia, ib) = (memory.add_f16("A", &a), memory.add_f16("B", &stored));
    let ic = memory.add_f32("C", &vec![7.0; (m * n) as usize]);
    let (rows, cols) = if transposed { (n, k) } else { (k, n) };
    let matrix = |id, rows: u32, cols: u32| {
        [Param::Buffer(id), Param::U32(rows), Param::U32(cols), Param::U32(cols)]
    };
    let mut params: Vec<Param> =
        [matrix(ia, m, k), matrix(ib, rows, cols), matrix(ic, m, n)].concat();
    params.extend([Param::U32(0), Param::U32(0), Param::U32(k)]);
    let mut tensors = map_params(maps, &[(ia, m, k), (ib, rows, cols), (ic, m, n)], &memory);
    for (number, tensor) in tensors.iter_mut().enumerate() {
        if let Param::Tensor(map) = tensor {
            change(number, map);
        }
    }
    params.extend(tensors);
    let kernel = Kernel::parse_ptx(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    run(&kernel, &Launch::new(128, params).banks(BankModel::nvidia()), &mut memory)
        .map_err(|f| f.kind)?;
    let c = memory.f32s(ic);
    let want = |i: u32, j: u32| -> f32 {
        (0..k).map(|x| a[(i * k + x) as usize] * b[(x * n + j) as usize]).sum()
    };
    Ok((0..m * n).filter(|at| c[*at as usize] != want(at / n, at % n)).count())
}

/// Through matrix units that read shared memory by themselves, and through registers.
const CASES: [(&str, &str, bool); 4] = [
    ("gemm.tile", "sm_90a", false),
    ("gemm_bt.tile", "sm_90a", true),
    ("gemm.tile", "sm_90", false),
    ("gemm_bt.tile", "sm_90", true),
];

/// What becomes of a text with something changed.
fn damaged(
    name: &str,
    arch: &str,
    transposed: bool,
    change: impl Fn(&str) -> String,
) -> Result<usize, FaultKind> {
    let program = example(name);
    let whole = kernel_text(&program, arch);
    let text = change(&whole);
    assert_ne!(text, whole, "{name} {arch}");
    product(&text, &kernel_maps(&program, arch), transposed, 128, |_, _| {})
}

fn without(text: &str, gone: impl Fn(&str) -> bool) -> String {
    text.lines().filter(|line| !gone(line)).map(|line| format!("{line}\n")).collect()
}

/// The register that the wait reads its parity from.
fn parity(text: &str) -> &str {
    let wait = text.lines().find(|l| l.contains("try_wait.parity")).expect("a wait");
    wait.rsplit(", ").next().expect("a parity").trim_end_matches(';')
}

#[test]
fn copies_bring_the_tiles() {
    for (name, arch, transposed) in CASES {
        let text = kernel_text(&example(name), arch);
        assert!(text.contains("cp.async.bulk.tensor.2d"), "{name} {arch}\n{text}");
        assert_eq!(
            damaged(name, arch, transposed, |text| format!("{text}\n")),
            Ok(0),
            "{name} {arch}"
        );
    }
}

#[test]
fn each_step_of_the_protocol_is_needed() {
    for (name, arch, transposed) in CASES {
        let damaged = |change: &dyn Fn(&str) -> String| damaged(name, arch, transposed, change);
        let what = format!("{name} {arch}");
        // Bytes that are announced never, too few, too many.
        assert_eq!(
            damaged(&|t| without(t, |l| l.contains("expect_tx"))),
            Err(FaultKind::PhaseNeverEnds),
            "{what}"
        );
        let announced: u32 = {
            let text = kernel_text(&example(name), arch);
            let line = text.lines().find(|l| l.contains("expect_tx")).expect("an announcement");
            line.rsplit(", ")
                .next()
                .and_then(|n| n.trim_end_matches(';').parse().ok())
                .expect("a number")
        };
        for other in [announced / 2, announced - 16, announced + 16] {
            let (from, to) = (format!("{announced};"), format!("{other};"));
            let less = |t: &str| {
                t.lines().map(|l| if l.contains("expect_tx") { l.replace(&from, &to) } else { l.to_string() } + "\n").collect()
            };
            // Where the first copies bring just what is announced, the phase ends before the last
            // one.
            let found = damaged(&less);
            let early = other == announced / 2
                && matches!(found, Err(FaultKind::RaceReadAfterWrite | FaultKind::AsyncOverwrite));
            assert!(early || found == Err(FaultKind::PhaseNeverEnds), "{what} {other} {found:?}");
        }
        // A copy that does not come.
        assert_eq!(
            damaged(&|t| without(t, |l| l.contains("bulk.tensor"))),
            Err(FaultKind::PhaseNeverEnds),
            "{what}"
        );
        // Nobody waits; a phase that is not the one that runs; one that never flips.
        let unwaited =
            damaged(&|t| without(t, |l| l.contains("try_wait") || l.contains("done bra")));
        assert!(
            matches!(unwaited, Err(FaultKind::RaceReadAfterWrite | FaultKind::UninitialisedShared)),
            "{what} {unwaited:?}"
        );
        let phase = damaged(&|t| {
            t.replacen(
                &format!("mov.b32 {}, 0;", parity(t)),
                &format!("mov.b32 {}, 1;", parity(t)),
                1,
            )
        });
        // Copies are over at once here: the phase that is waited for is already the one after.
        assert!(
            matches!(phase, Err(FaultKind::RaceReadAfterWrite | FaultKind::PhaseNeverEnds)),
            "{what} {phase:?}"
        );
        let stuck = damaged(&|t| {
            without(t, |l| {
                l.contains("xor.b32") && l.contains(&format!("{}, {}, 1;", parity(t), parity(t)))
            })
        });
        assert!(
            matches!(
                stuck,
                Err(FaultKind::RaceReadAfterWrite
                    | FaultKind::AsyncOverwrite
                    | FaultKind::PhaseNeverEnds)
            ),
            "{what} {stuck:?}"
        );
        // The object is not made known to the unit, or to the other threads.
        // (Where the loop begins with a fence between the proxies, that one does it too.)
        let made = damaged(&|t| without(t, |l| l.contains("fence.mbarrier_init")));
        assert!(
            made == Err(FaultKind::UnitNotFenced) || (arch == "sm_90" && made == Ok(0)),
            "{what} {made:?}"
        );
        let barriers = kernel_text(&example(name), arch).matches("bar.sync").count();
        for number in 0..barriers {
            let found = damaged(&|t| {
                let mut seen = 0;
                let mut out = String::new();
                for line in t.lines() {
                    let is_barrier = line.contains("bar.sync");
                    if !(is_barrier && seen == number) {
                        out += line;
                        out += "\n";
                    }
                    seen += usize::from(is_barrier);
                }
                out
            });
            let caught = matches!(
                found,
                Err(FaultKind::RaceReadAfterWrite
                    | FaultKind::AsyncOverwrite
                    | FaultKind::PhaseNeverEnds
                    | FaultKind::UnitNotFenced)
            );
            // The first one makes the object known; here the loop's own stands before its use as
            // well.
            assert!(
                caught || (number == 0 && found == Ok(0)),
                "{what}: barrier {number}: {found:?}"
            );
        }
        let none = damaged(&|t| without(t, |l| l.contains("bar.sync")));
        assert_eq!(none, Err(FaultKind::RaceReadAfterWrite), "{what}");
        // What the lanes have read is not the copies' before a fence.
        if arch == "sm_90" {
            assert_eq!(
                damaged(&|t| without(t, |l| l.contains("fence.proxy.async"))),
                Err(FaultKind::UnitNotFenced),
                "{what}"
            );
        }
    }
}

#[test]
fn each_field_of_the_map_is_needed() {
    type Change = fn(&mut TensorMap);
    let fields: [(&str, Change); 8] = [
        ("address", |m| m.address += 16),
        ("element", |m| (m.element_bytes, m.boxed[0]) = (4, m.boxed[0] / 2)),
        ("order", |m| m.extents.swap(0, 1)),
        ("stride", |m| m.strides[1] += 16),
        ("box", |m| m.boxed[1] /= 2),
        ("box, as many bytes", |m| m.boxed = [m.boxed[0] / 2, m.boxed[1] * 2, 1, 1, 1]),
        ("swizzle", |m| m.swizzle = 0),
        ("rank", |m| m.rank = 3),
    ];
    for (name, arch, transposed) in CASES {
        let program = example(name);
        let (text, maps) = text_and_maps(&program, arch);
        for number in 0..maps.len() {
            for (field, change) in fields {
                if maps[number].swizzle == 0 && field == "swizzle" {
                    continue;
                }
                let found = product(&text, &maps, transposed, 192, |k, map| {
                    if k == number {
                        change(map)
                    }
                });
                assert_ne!(found, Ok(0), "{name} {arch}, map {number}: {field}");
            }
        }
    }
}

/// Whatever the tile begins at: a map needs no aligned coordinates, only an aligned tensor.
#[test]
fn coordinates_that_nothing_divides() {
    for arch in ["sm_90a", "sm_90"] {
        let program = example("gemm.tile").replace("{div = 128}", "");
        let text = try_kernel_text(&program, arch).unwrap_or_else(|e| panic!("{arch}: {e}"));
        Assembler::of(arch).assemble(&text, arch).unwrap_or_else(|said| panic!("{said}\n{text}"));
        assert!(text.contains("cp.async.bulk.tensor.2d"), "{arch}\n{text}");
        assert_eq!(
            product(&text, &kernel_maps(&program, arch), false, 192, |_, _| {}),
            Ok(0),
            "{arch}"
        );
    }
}

/// What a program asks for and cannot have is refused by the rule's name and numbers.
#[test]
fn a_copy_that_no_map_describes() {
    let asked = example("gemm.tile").replace("], %sa :", "], %sa {mover = \"tma.2d.load.one\"} :");
    for (from, to, why) in [
        (
            "align = 16, stride_div = 8",
            "align = 8, stride_div = 8",
            "Tensor { rule: Base, found: 8, needed: 16 }",
        ),
        (
            "align = 16, stride_div = 8",
            "align = 16, stride_div = 4",
            "Tensor { rule: StrideMultiple, found: 8, needed: 16 }",
        ),
        (
            "%sa = alloc_tensor :",
            "%sa = alloc_tensor {layout = S[(128,64):(72,1)]} :",
            "Tensor { rule: ",
        ),
    ] {
        let refused = try_kernel_text(&asked.replace(from, to), "sm_90").expect_err("refused");
        assert!(refused.contains("NoCopyAtom") && refused.contains(why), "{to}: {refused}");
    }
    let refused = try_kernel_text(&asked, "sm_80").expect_err("refused");
    assert!(refused.contains("NoCopyAtom"), "{refused}");
}

/// One tile, filled twice from a matrix of 64 x 64, without a loop.
const TWICE: &str =
    "func @twice(%A: memref<?x?xf32, #gmem> {align = 16, stride_div = 4}, %B: memref<?x?xf32, #gmem> {align = 16, stride_div = 4}) {threads = 128} {
  %s = alloc_tensor : tensor<64x32xf32, #smem>
  copy %A[0, 0], %s {mover = \"tma.2d.load.one\"} : memref<?x?xf32, #gmem> -> tensor<64x32xf32, #smem>
  %t = tiled_load %s : tensor<64x32xf32, #smem> -> tensor<64x32xf32>
  tiled_store %t, %B[0, 0] : tensor<64x32xf32> -> memref<?x?xf32, #gmem>
  copy %A[0, 32], %s {mover = \"tma.2d.load.one\"} : memref<?x?xf32, #gmem> -> tensor<64x32xf32, #smem>
  %u = tiled_load %s : tensor<64x32xf32, #smem> -> tensor<64x32xf32>
  tiled_store %u, %B[0, 32] : tensor<64x32xf32> -> memref<?x?xf32, #gmem>
}";

fn twice(text: &str, arch: &str) -> Result<bool, FaultKind> {
    let a: Vec<f32> = (0..64 * 64).map(|i| i as f32).collect();
    let mut memory = Memory::new();
    let (ia, ib) = (memory.add_f32("A", &a), memory.add_f32("B", &vec![-1.0; 64 * 64]));
    let matrix = |id| [Param::Buffer(id), Param::U32(64), Param::U32(64), Param::U32(64)];
    let mut params: Vec<Param> = [matrix(ia), matrix(ib)].concat();
    params.extend(map_params(&kernel_maps(TWICE, arch), &[(ia, 64, 64), (ib, 64, 64)], &memory));
    let kernel = Kernel::parse_ptx(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    run(&kernel, &Launch::new(128, params), &mut memory).map_err(|f| f.kind)?;
    Ok(memory.f32s(ib) == a)
}

#[test]
fn a_tile_filled_twice_without_a_loop() {
    for arch in ["sm_90", "sm_90a", "sm_120"] {
        let text = with_kernel(TWICE, arch, |program, compiled, text| {
            check::plan(&TABLES, program, &compiled.plan)
                .unwrap_or_else(|v| panic!("{arch}: {v:?}"));
            check::order(&TABLES, program, compiled)
                .unwrap_or_else(|v| panic!("{arch}: {v:?}\n{text}"));
            assert_eq!((compiled.plan.mbarriers, compiled.plan.maps.len()), (2, 1), "{arch}");
            text.to_string()
        });
        Assembler::of(arch).assemble(&text, arch).unwrap_or_else(|said| panic!("{said}\n{text}"));
        assert_eq!(twice(&text, arch), Ok(true), "{arch}\n{text}");
        // Every barrier and fence is needed: the first makes the objects known.
        for word in ["bar.sync", "fence."] {
            for number in 0..text.matches(word).count() {
                let mut seen = 0;
                let less: String = text
                    .lines()
                    .filter(|line| {
                        let hit = line.contains(word);
                        seen += usize::from(hit);
                        !(hit && seen == number + 1)
                    })
                    .map(|line| format!("{line}\n"))
                    .collect();
                let found = twice(&less, arch);
                assert!(found.is_err(), "{arch}: {word} {number}: {found:?}\n{less}");
            }
        }
    }
}

/// The independent checker: sound kernels pass, and every step of the protocol is missed by it.
#[test]
fn the_checker_misses_every_step() {
    for (name, arch, _) in CASES {
        with_kernel(&example(name), arch, |program, compiled, text| {
            check::plan(&TABLES, program, &compiled.plan)
                .unwrap_or_else(|v| panic!("{name} {arch}: {v:?}"));
            check::order(&TABLES, program, compiled)
                .unwrap_or_else(|v| panic!("{name} {arch}: {v:?}\n{text}"));
            let machine = TABLES.arch(compiled.plan.arch).expect("an architecture");
            let object = TABLES
                .units
                .mbarriers
                .iter()
                .find(|c| machine.features.contains(&c.feature))
                .expect("an object");
            let steps: Vec<Inst> = compiled.steps.to_vec();
            let ours = |s: &Inst| {
                [object.init, object.expect, object.wait].contains(&s.atom)
                    || object.publish.iter().any(|p| p.atom == s.atom)
            };
            let fences = |s: &Inst| {
                machine
                    .sync
                    .iter()
                    .flat_map(|r| r.steps)
                    .any(|w| w.atom == s.atom && w.after_producer)
            };
            // The parity's register: its start, and its flip.
            let wait = steps.iter().find(|s| s.atom == object.wait).expect("a wait");
            let parity = |s: &Inst| s.args[0] == wait.args[1];
            let mut missed = 0;
            for k in 0..steps.len() {
                if steps[k].purpose != InstKind::Sync
                    || !(ours(&steps[k])
                        || parity(&steps[k])
                        || (arch == "sm_90" && fences(&steps[k])))
                {
                    continue;
                }
                let mut without = steps.clone();
                let _ = without.remove(k);
                let found = check::order_of(&TABLES, program, &compiled.plan, &without);
                // The barrier that makes the object known: the loop begins with another.
                if object.publish.iter().any(|p| p.barrier && p.atom == steps[k].atom)
                    && found.is_ok()
                {
                    continue;
                }
                assert!(
                    matches!(found, Err(Violation::Completion { .. } | Violation::Race { .. })),
                    "{name} {arch}: step {k} {found:?}\n{text}"
                );
                missed += 1;
            }
            assert!(missed >= 6, "{name} {arch}: {missed}");
            // A wait in the wrong parity, for another object, and other bytes.
            for (k, place, to) in [
                (object.wait, 1, Slot::Int(1)),
                (object.wait, 0, wait.args[1]),
                (object.expect, 2, Slot::Int(64)),
                (object.init, 2, Slot::Int(2)),
            ] {
                let mut other = steps.clone();
                let step = other.iter_mut().find(|s| s.atom == k).expect("a step");
                step.args[place] = to;
                let found = check::order_of(&TABLES, program, &compiled.plan, &other);
                assert!(
                    matches!(found, Err(Violation::Completion { .. } | Violation::Race { .. })),
                    "{name} {arch}: {to:?} {found:?}"
                );
            }
        });
    }
}

/// What a launch is told of tensors with bounds: extents are the bounds, numbers or parameters.
#[test]
fn maps_end_where_bounds_say() {
    use lanebook::emit::{MapNumber, ParamKind};
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/programs/boxes_within_bounds.tile");
    let text = std::fs::read_to_string(file).expect("a program");
    let extents = |text: &str, arch: &str| -> Vec<Vec<(u32, MapNumber)>> {
        with_kernel(text, arch, |program, compiled, _| {
            let launch = compiled.launch(&TABLES, program).expect("a kernel");
            let named = |number| match number {
                MapNumber::Parameter(at) => {
                    let parameter = launch.parameters().nth(at as usize).expect("a parameter");
                    assert_eq!(parameter.kind, ParamKind::Scalar, "{arch}");
                    MapNumber::Parameter(u32::from(parameter.argument.expect("an argument")))
                }
                known => known,
            };
            let maps = launch.maps().map(|map| map.expect("its numbers"));
            maps.map(|map| {
                map.dims().iter().map(|dim| (dim.argument_dim, named(dim.extent))).collect()
            })
            .collect()
        })
    };
    let numbers = text.replacen("bounds = (%M, %N)", "bounds = (100, %N)", 1);
    let open = text.replacen("bounds = (%M, %N)", "bounds = (_, 72)", 1);
    for arch in ["sm_90", "sm_90a", "sm_100a", "sm_120a"] {
        // Rows and columns of both tensors, the innermost first: arguments 2 and 3.
        let (m, n) = ((0, MapNumber::Parameter(2)), (1, MapNumber::Parameter(3)));
        assert_eq!(extents(&text, arch), [vec![n, m], vec![n, m]], "{arch}");
        let own = extents(&numbers, arch);
        assert_eq!(own, [vec![n, (0, MapNumber::Known(100))], vec![n, m]], "{arch}");
        // Where a dimension has no bound it is as long as the tensor.
        let of_open = with_kernel(&open, arch, |program, compiled, _| {
            let launch = compiled.launch(&TABLES, program).expect("a kernel");
            let map = launch.maps().next().expect("a map").expect("its numbers");
            let kinds = map.dims().iter().map(|dim| match dim.extent {
                MapNumber::Known(n) => Ok(n),
                MapNumber::Half(_) => unreachable!("no pairs"),
                MapNumber::Parameter(at) => {
                    Err(launch.parameters().nth(at as usize).expect("a parameter").kind)
                }
            });
            kinds.collect::<Vec<_>>()
        });
        assert_eq!(of_open, [Ok(72), Err(ParamKind::Extent(0))], "{arch}");
    }
}
