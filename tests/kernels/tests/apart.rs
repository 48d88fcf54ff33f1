//! Kernels whose layouts fight each other: forward attention as it is written without conversions,
//! in many shapes, where the planner puts a conversion wherever two uses of a tile want it
//! distributed in different ways; replayed on real numbers.
#![allow(missing_docs)]

use lanebook::TABLES;
use lanebook::check;
use lanebook::compile::{self, CompileStorage, KernelStorage as Room, compile};
use lanebook::ir::attr_names;
use lanebook::ir::{Options, Plain, Program, SmallStorage, parse, print, verify};
use lanebook_kernels::checked::every_kernel;
use lanebook_kernels::maps::{kernel_maps, map_params};
use lanebook_replay::{BankModel, Kernel, Launch, Memory, Param, run};

const ARCHS: [&str; 7] = ["sm_80", "sm_90a", "gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1200"];

/// Rows, keys a turn, depth of Q and K, depth of V, threads.
type Shape = (u32, u32, u32, u32, u32);

/// Attention without a conversion; with `written` one where P becomes an operand.
fn program((m, n, d, v, t): Shape, e: &str, written: bool) -> String {
    let (p, convert) = match written {
        true => (
            "%pc",
            format!("\n    %pc = convert_layout %ph : tensor<{m}x{n}x{e}> -> tensor<{m}x{n}x{e}>"),
        ),
        false => ("%ph", String::new()),
    };
    format!(
        "func @attention(%Q: memref<?x{d}x{e}, #gmem> {{align = 16}}, %K: memref<?x{d}x{e}, #gmem> {{align = 16}}, %V: memref<?x{v}x{e}, #gmem> {{align = 16}}, %O: memref<?x{v}xf32, #gmem> {{align = 16}}, %m: index {{div = {m}}}, %N: index) {{threads = {t}}} {{
  %sq = alloc_tensor : tensor<{m}x{d}x{e}, #smem>
  %sk = alloc_tensor : tensor<{n}x{d}x{e}, #smem>
  %sv = alloc_tensor : tensor<{n}x{v}x{e}, #smem>
  %zs = constant 0.0 : tensor<{m}x{n}xf32>
  %zo = constant 0.0 : tensor<{m}x{v}xf32>
  %ml = constant -1.0e30 : tensor<{m}xf32>
  %zl = constant 0.0 : tensor<{m}xf32>
  %c  = constant 0.25 : tensor<{m}x{n}xf32>
  copy %Q[%m, 0], %sq : memref<?x{d}x{e}, #gmem> -> tensor<{m}x{d}x{e}, #smem>
  %q  = tiled_load %sq : tensor<{m}x{d}x{e}, #smem> -> tensor<{m}x{d}x{e}>
  %o, %mx, %l = scf.for %n = 0 to %N step {n} iter_args(%acc = %zo, %m0 = %ml, %l0 = %zl) -> (tensor<{m}x{v}xf32>, tensor<{m}xf32>, tensor<{m}xf32>) {{
    copy %K[%n, 0], %sk : memref<?x{d}x{e}, #gmem> -> tensor<{n}x{d}x{e}, #smem>
    copy %V[%n, 0], %sv : memref<?x{v}x{e}, #gmem> -> tensor<{n}x{v}x{e}, #smem>
    %k  = tiled_load %sk : tensor<{n}x{d}x{e}, #smem> -> tensor<{n}x{d}x{e}>
    %kt = trans %k : tensor<{n}x{d}x{e}> -> tensor<{d}x{n}x{e}>
    %s  = mma %q, %kt, %zs : tensor<{m}x{n}xf32>
    %t  = mul %s, %c : tensor<{m}x{n}xf32>
    %tm = reduce %t {{axis = 1, kind = max}} : tensor<{m}x{n}xf32> -> tensor<{m}xf32>
    %m1 = max %m0, %tm : tensor<{m}xf32>
    %dm = sub %m0, %m1 : tensor<{m}xf32>
    %a  = exp2 %dm : tensor<{m}xf32>
    %mb = broadcast %m1 {{axis = 1}} : tensor<{m}xf32> -> tensor<{m}x{n}xf32>
    %u  = sub %t, %mb : tensor<{m}x{n}xf32>
    %p  = exp2 %u : tensor<{m}x{n}xf32>
    %ps = reduce %p {{axis = 1, kind = add}} : tensor<{m}x{n}xf32> -> tensor<{m}xf32>
    %l1 = fma %l0, %a, %ps : tensor<{m}xf32>
    %ab = broadcast %a {{axis = 1}} : tensor<{m}xf32> -> tensor<{m}x{v}xf32>
    %ar = mul %acc, %ab : tensor<{m}x{v}xf32>
    %ph = cast %p : tensor<{m}x{n}xf32> -> tensor<{m}x{n}x{e}>{convert}
    %v  = tiled_load %sv : tensor<{n}x{v}x{e}, #smem> -> tensor<{n}x{v}x{e}>
    %d  = mma {p}, %v, %ar : tensor<{m}x{v}xf32>
    scf.yield %d, %m1, %l1 : tensor<{m}x{v}xf32>, tensor<{m}xf32>, tensor<{m}xf32>
  }}
  %i  = rcp %l : tensor<{m}xf32>
  %ib = broadcast %i {{axis = 1}} : tensor<{m}xf32> -> tensor<{m}x{v}xf32>
  %y  = mul %o, %ib : tensor<{m}x{v}xf32>
  tiled_store %y, %O[%m, 0] : tensor<{m}x{v}xf32> -> memref<?x{v}xf32, #gmem>
}}
"
    )
}

/// The kernel's text, and how many conversions were put into the program; the plan is checked lane
/// by lane.
fn kernel(source: &str, arch: &str) -> Result<(String, usize), String> {
    let id = TABLES.arch_named(arch).ok_or("unknown architecture")?;
    let mut pools = Box::new(SmallStorage::new());
    let mut program =
        parse(pools.pools(), &TABLES, source, Options::default()).map_err(|e| format!("{e:?}"))?;
    verify(&mut program).map_err(|e| format!("{e:?}"))?;
    let mut room = Box::new(Room::new());
    let compiled =
        compile(&TABLES, id, &mut program, room.scratch()).map_err(|e| format!("{e:?}"))?;
    every_kernel(&program, &compiled, source, arch);
    check::plan(&TABLES, &program, &compiled.plan).map_err(|v| format!("{v:?}"))?;
    check::order(&TABLES, &program, &compiled).map_err(|v| format!("{v:?}"))?;
    let mut out = String::new();
    compiled.write(&TABLES, &program, &mut out).map_err(|e| format!("{e:?}"))?;
    let function = program.functions().next().ok_or("no function")?;
    let count = program
        .inside(function)
        .filter(|op| program.attr(*op, attr_names::INSERTED).is_some())
        .count();
    Ok((out, count))
}

fn noise(i: u32) -> f32 {
    let mut x = i.wrapping_mul(0x9e37_79b9) ^ 0x5bd1_e995;
    x = (x ^ (x >> 15)).wrapping_mul(0x85eb_ca6b);
    x = (x ^ (x >> 13)).wrapping_mul(0xc2b2_ae35);
    (((x ^ (x >> 16)) & 0xff) as f32 - 128.0) / 128.0
}

/// How many elements of the result are wrong over two turns.
fn wrong(
    arch: &str,
    source: &str,
    text: &str,
    (m, n, d, v, t): Shape,
    e: &str,
) -> Result<usize, String> {
    let keys = 2 * n;
    let q: Vec<f32> = (0..m * d).map(|i| noise(i) * 2.0).collect();
    let k: Vec<f32> = (0..keys * d).map(|i| noise(i + 50_000)).collect();
    let w: Vec<f32> = (0..keys * v).map(|i| noise(i + 90_000) * 2.0).collect();
    let mut memory = Memory::new();
    let mut add = |name: &str, values: &[f32]| {
        if e == "bf16" { memory.add_bf16(name, values) } else { memory.add_f16(name, values) }
    };
    let (iq, ik, iv) = (add("Q", &q), add("K", &k), add("V", &w));
    let io = memory.add_f32("O", &vec![7.0; (m * v) as usize]);
    let mut params = Vec::new();
    for (id, rows) in [(iq, m), (ik, keys), (iv, keys), (io, m)] {
        params.extend([Param::Buffer(id), Param::U32(rows)]);
    }
    params.extend([Param::U32(0), Param::U32(keys)]);
    params.extend(map_params(
        &kernel_maps(source, arch),
        &[(iq, m, d), (ik, keys, d), (iv, keys, v), (io, m, v)],
        &memory,
    ));
    let kernel =
        if arch.starts_with("gfx") { Kernel::parse_amdgcn(text) } else { Kernel::parse_ptx(text) }
            .map_err(|e| e.to_string())?;
    let dynamic = if text.contains(".extern .shared") { 220 << 10 } else { 0 };
    let launch =
        Launch { dynamic_shared: dynamic, ..Launch::new(t, params).banks(BankModel::none()) };
    run(&kernel, &launch, &mut memory).map_err(|f| f.to_string())?;
    let o = memory.f32s(io);
    let mut bad = 0;
    for row in 0..m {
        let dot = |key: u32| -> f64 {
            (0..d)
                .map(|x| {
                    f64::from(q[(row * d + x) as usize]) * f64::from(k[(key * d + x) as usize])
                })
                .sum()
        };
        let scores: Vec<f64> = (0..keys).map(|key| dot(key) * 0.25).collect();
        let top = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = scores.iter().map(|s| (s - top).exp2()).collect();
        let sum: f64 = weights.iter().sum();
        for x in 0..v {
            let want = (0..keys)
                .map(|key| weights[key as usize] * f64::from(w[(key * v + x) as usize]))
                .sum::<f64>()
                / sum;
            let got = f64::from(o[(row * v + x) as usize]);
            // P is rounded to the operand's type.
            let room = if e == "bf16" { 2.5e-2 } else { 4e-3 };
            bad += usize::from(got.is_nan() || (got - want).abs() > room);
        }
    }
    Ok(bad)
}

/// Shapes in which the two products split the rows over warps in different ways, or P does not
/// stand as the second one takes it.
#[test]
fn attention_is_right_without_written_conversions() {
    let shapes: [(Shape, &str); 4] = [
        ((16, 16, 32, 32, 512), "bf16"),
        ((32, 64, 32, 32, 128), "bf16"),
        ((64, 32, 32, 64, 256), "f16"),
        ((16, 64, 32, 128, 128), "f16"),
    ];
    let (mut put, mut ran, mut failed) = (0, 0, Vec::new());
    for (shape, e) in shapes {
        for arch in ARCHS {
            for written in [false, true] {
                let source = program(shape, e, written);
                let (text, inserted) = match kernel(&source, arch) {
                    Ok(found) => found,
                    Err(why) => {
                        failed.push(format!("{arch} {shape:?} {e} {written}: {why}"));
                        continue;
                    }
                };
                // What conversions change shows where they are; the rest is covered by other tests.
                if written && inserted == 0 {
                    continue;
                }
                let found = wrong(arch, &source, &text, shape, e);
                if found != Ok(0) {
                    failed.push(format!("{arch} {shape:?} {e} {written}: {found:?}"));
                }
                put += inserted;
                ran += 1;
            }
        }
    }
    println!("{put} conversions in {ran} kernels");
    assert!(failed.is_empty(), "{failed:#?}");
    assert!(put >= 10 && ran >= 20, "{put} conversions in {ran} kernels");
}

/// Where the kernel has no room after conversions were put into the program, they are taken out of
/// it again.
#[test]
fn a_program_without_room_for_its_kernel_is_as_it_was() {
    let source = program((32, 64, 32, 32, 128), "bf16", false);
    let mut put = 0;
    for arch in ARCHS {
        put += kernel(&source, arch).unwrap_or_else(|e| panic!("{arch}: {e}")).1;
        let mut pools = Box::new(SmallStorage::new());
        let mut program =
            parse(pools.pools(), &TABLES, &source, Options::default()).expect("a program");
        verify(&mut program).expect("a sound program");
        let text = |program: &Program<'_, '_>| {
            let mut out = String::new();
            print(program, &Plain, &mut out).expect("a text");
            out
        };
        let before = text(&program);
        let mut room = Box::new(<CompileStorage<64, 768, 1024, 0>>::new());
        let id = TABLES.arch_named(arch).expect("an architecture");
        let refused = compile(&TABLES, id, &mut program, room.scratch()).map(|_| ());
        assert!(
            matches!(
                refused,
                Err(compile::CompileError::Emit(_) | compile::CompileError::Capacity { .. })
            ),
            "{arch}: {refused:?}"
        );
        assert_eq!(text(&program), before, "{arch}");
    }
    assert!(put > 0);
}
