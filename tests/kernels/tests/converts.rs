//! Conversions between distributions of register tiles: through shared memory or inside each warp,
//! by cost; every element arrives, and planted faults are caught.
#![allow(missing_docs)]

use lanebook::compile::compile;
use lanebook::ir::{Op, Options, SmallStorage, parse, verify};
use lanebook::plan::ShufflePlan;
use lanebook::tables::Tables;
use lanebook::{TABLES, check};
use lanebook_kernels::checked::every_kernel_by;
use lanebook_kernels::noise::Noise;
use lanebook_kernels::{Assembler, room};
use lanebook_replay::{BankModel, Kernel, Launch, Memory, Param, run};

const PHASES: &str = include_str!("../../replay/fixtures/lds_phases.jsonl");

fn is_ptx(arch: &str) -> bool {
    arch.starts_with("sm_")
}

/// Where each bit of an element's number is, the lowest first: a bit of the lane's number, of the
/// warp's or of the place in a lane's registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Home {
    Lane(u32),
    Warp(u32),
    Place(u32),
}

/// The layout's text: `copies` are lane bits that say nothing.
fn layout(homes: &[Home], bits: u32, copies: &[u32]) -> String {
    let stride = |h: &Home| match h {
        Home::Lane(b) => format!("{}@laneid", 1 << b),
        Home::Warp(b) => format!("{}@warpid", 1 << b),
        Home::Place(b) => format!("{}@bit", bits << b),
    };
    let strides: Vec<String> = homes.iter().rev().map(stride).collect();
    let mut text = format!("S[({}):({})]", vec!["2"; homes.len()].join(","), strides.join(","));
    if !copies.is_empty() {
        let strides: Vec<String> = copies.iter().map(|b| format!("{}@laneid", 1 << b)).collect();
        text += &format!(" + R[({}):({})]", vec!["2"; copies.len()].join(","), strides.join(","));
    }
    text
}

/// Loads a tile, brings it through distributions one after the other, stores it.
fn program(layouts: &[String], (rows, cols, dtype): (u32, u32, &str), threads: u32) -> String {
    let memref = format!("memref<{rows}x{cols}x{dtype}, #gmem>");
    let mut out: String =
        layouts.iter().enumerate().map(|(k, l)| format!("#l{k} = {l}\n")).collect();
    out += &format!(
        "func @conv(%X: {memref} {{align = 16}}, %Y: {memref} {{align = 16}}) {{threads = {threads}}} {{\n"
    );
    let ty = |k: Option<usize>| {
        format!(
            "tensor<{rows}x{cols}x{dtype}{}>",
            k.map_or_else(String::new, |k| format!(", #l{k}"))
        )
    };
    out += &format!("  %v0 = tiled_load %X[0, 0] : {memref} -> {}\n", ty(None));
    for k in 0..=layouts.len() {
        let (from, to) = (k.checked_sub(1), (k < layouts.len()).then_some(k));
        out += &format!("  %v{} = convert_layout %v{k} : {} -> {}\n", k + 1, ty(from), ty(to));
    }
    out + &format!(
        "  tiled_store %v{}, %Y[0, 0] : {} -> {memref}\n}}\n",
        layouts.len() + 1,
        ty(None)
    )
}

/// What became of a program: the text, and the conversions inside warps.
struct Built {
    text: String,
    lanes: Vec<ShufflePlan>,
    exchanges: usize,
    /// The operations that go through shared memory.
    through: Vec<Op>,
}

fn build(tables: &Tables<'_>, source: &str, arch: &str) -> Built {
    let id = tables.arch_named(arch).expect("an architecture");
    let mut pools = Box::new(SmallStorage::new());
    let mut program = parse(pools.pools(), tables, source, Options::default())
        .unwrap_or_else(|e| panic!("{e:?}\n{source}"));
    verify(&mut program).unwrap_or_else(|e| panic!("{e:?}\n{source}"));
    let mut room = room();
    let compiled = compile(tables, id, &mut program, room.scratch())
        .unwrap_or_else(|e| panic!("{arch}: {e:?}\n{source}"));
    every_kernel_by(tables, &program, &compiled, source, arch);
    check::plan(tables, &program, &compiled.plan)
        .unwrap_or_else(|v| panic!("{arch}: {v:?}\n{source}"));
    check::order(tables, &program, &compiled).unwrap_or_else(|v| panic!("{arch}: {v:?}\n{source}"));
    let mut text = String::new();
    compiled.write(tables, &program, &mut text).expect("text");
    let through: Vec<Op> = compiled.plan.exchanges.iter().map(|e| e.op).collect();
    Built { text, lanes: compiled.plan.lanes.to_vec(), exchanges: through.len(), through }
}

fn assemble(arch: &str, text: &str) {
    let (target, wave) =
        arch.strip_suffix(".w64").map_or((arch, ""), |target| (target, "+wavefrontsize64"));
    Assembler::of(arch)
        .assemble_with(text, target, wave)
        .unwrap_or_else(|said| panic!("{arch}: {said}\n{text}"));
}

/// Runs a text that should copy `elements` of `bits` bits; how many are wrong, or what the replay
/// faulted on. Elements are labelled: narrow ones digit by digit, one run for each.
fn wrong(arch: &str, text: &str, threads: u32, elements: u32, bits: u32) -> Result<usize, String> {
    let kernel = if is_ptx(arch) { Kernel::parse_ptx(text) } else { Kernel::parse_amdgcn(text) }
        .map_err(|e| e.to_string())?;
    let banks = if is_ptx(arch) {
        BankModel::nvidia_of(arch)
    } else {
        BankModel::from_jsonl(arch, PHASES).expect("phases")
    };
    let each = bits / 8;
    let mut out = 0;
    for digit in 0..if bits == 8 { 2 } else { 1 } {
        let label = |e: u32| if bits == 8 { (e >> (8 * digit)) & 0xff } else { 1 + e };
        let bytes: Vec<u8> = (0..elements)
            .flat_map(|e| label(e).to_le_bytes().into_iter().take(each as usize))
            .collect();
        let words: Vec<u32> = bytes
            .chunks(4)
            .map(|c| u32::from_le_bytes(c.try_into().expect("whole words")))
            .collect();
        let mut memory = Memory::new();
        let x = memory.add_u32("X", &words);
        let y = memory.add_zeros("Y", bytes.len());
        run(
            &kernel,
            &Launch::new(threads, vec![Param::Buffer(x), Param::Buffer(y)]).banks(banks.clone()),
            &mut memory,
        )
        .map_err(|f| f.to_string())?;
        out += memory
            .bytes(y)
            .chunks(each as usize)
            .zip(bytes.chunks(each as usize))
            .filter(|(a, b)| a != b)
            .count();
    }
    Ok(out)
}

/// Tables in which nothing costs but what goes through the lanes' crossbar or shared memory:
/// conversions inside warps where they are possible.
fn eager() -> Tables<'static> {
    let mut tables = TABLES;
    tables.weights.instruction = 0;
    tables
}

/// Distributions of a tile over one warp or more: any order of the bits, those of warps on top.
fn random(noise: &mut Noise, total: u32, wave: u32, warps: u32, copies: &[u32]) -> Vec<Home> {
    let lanes: Vec<Home> = (0..wave).filter(|b| !copies.contains(b)).map(Home::Lane).collect();
    let places = total - warps - lanes.len() as u32;
    let mut homes: Vec<Home> = lanes.into_iter().chain((0..places).map(Home::Place)).collect();
    noise.shuffle(&mut homes);
    homes.extend((0..warps).map(Home::Warp));
    homes
}

const TILES: [(u32, u32, &str, u32); 4] =
    [(16, 64, "f32", 32), (16, 64, "f16", 16), (16, 64, "i8", 8), (8, 16, "f16", 16)];

fn generated(arch: &str, wave: u32, rounds: usize) -> (usize, usize) {
    let mut noise = Noise(7);
    let (mut inside, mut through) = (0, 0);
    for round in 0..rounds {
        for (rows, cols, dtype, bits) in TILES {
            let total = (rows * cols).ilog2();
            if total < wave + (32 / bits).ilog2() {
                continue;
            }
            let copies = [vec![], vec![], vec![2], vec![wave - 1, 1]][round % 4].clone();
            let layouts: Vec<String> = [&[][..], &copies, &[]]
                .map(|copies| layout(&random(&mut noise, total, wave, 0, copies), bits, copies))
                .to_vec();
            let source = program(&layouts, (rows, cols, dtype), 1 << wave);
            for tables in [TABLES, eager()] {
                let built = build(&tables, &source, arch);
                (inside, through) = (inside + built.lanes.len(), through + built.exchanges);
                assert_eq!(
                    wrong(arch, &built.text, 1 << wave, rows * cols, bits),
                    Ok(0),
                    "{arch}\n{source}\n{}",
                    built.text
                );
            }
        }
    }
    (inside, through)
}

#[test]
fn generated_layouts() {
    let (inside, through) = generated("sm_80", 5, 4);
    assert!(inside > 40 && through > 10, "{inside} inside warps, {through} through shared memory");
}

#[test]
fn generated_layouts_amd() {
    for (arch, wave) in [("gfx942", 6), ("gfx1100", 5), ("gfx1100.w64", 6), ("gfx1200", 5)] {
        let (inside, through) = generated(arch, wave, 1);
        println!("{arch} {inside} {through}");
        assert!(inside > 8, "{arch}: {inside} inside warps, {through} through shared memory");
    }
}

/// One bit of the lanes and one of the registers change places: a fixed exchange, and what decides
/// is the cost.
fn turned(bits: u32) -> String {
    // 16 x 16 from a vector of four columns a lane: the lowest column bit and the lowest row bit.
    let homes = [
        Home::Lane(0),
        Home::Place(1),
        Home::Place(0),
        Home::Lane(1),
        Home::Lane(2),
        Home::Lane(3),
        Home::Lane(4),
        Home::Place(2),
    ];
    layout(&homes, bits, &[])
}

#[test]
fn the_cost_decides() {
    let source = program(&[turned(32)], (16, 16, "f32"), 32);
    for arch in ["sm_75", "sm_80", "sm_120a", "gfx1100", "gfx1200"] {
        let cheap = build(&TABLES, &source, arch);
        assert_eq!(wrong(arch, &cheap.text, 32, 256, 32), Ok(0), "{arch}\n{}", cheap.text);
        assemble(arch, &cheap.text);
        assert_eq!((cheap.lanes.len(), cheap.exchanges), (2, 0), "{arch}\n{}", cheap.text);
        // Where movements between lanes are as dear as can be, the same goes through shared memory.
        let mut tables = TABLES;
        tables.weights.instruction = 1 << 12;
        tables.weights.shared_transaction = 0;
        let many: Vec<String> =
            (3..6).map(|k| layout(&random(&mut Noise(k), 8, 5, 0, &[]), 32, &[])).collect();
        let dear = build(&tables, &program(&many, (16, 16, "f32"), 32), arch);
        assert!(dear.exchanges > 0, "{arch}\n{}", dear.text);
    }
}

/// Distributions over several warps whose bits are anywhere, narrow elements: what leaves its warp
/// goes through shared memory, and where that is cheaper lanes bring together before or behind what
/// is stored or loaded in one register.
fn mixed(arch: &str, wave: u32, seed: u32, (bits, dtype): (u32, &str)) -> (String, Built) {
    let (mut noise, warps) = (Noise(seed), 1);
    let mut anywhere = || {
        let mut homes = random(&mut noise, 10, wave, warps, &[]);
        noise.shuffle(&mut homes);
        layout(&homes, bits, &[])
    };
    let layouts = [anywhere(), anywhere()];
    let source = program(&layouts, (16, 64, dtype), 1 << (wave + warps));
    let built = build(&TABLES, &source, arch);
    assert_eq!(
        wrong(arch, &built.text, 1 << (wave + warps), 1024, bits),
        Ok(0),
        "{arch}\n{source}\n{}",
        built.text
    );
    (source, built)
}

/// Movements between lanes before or behind an exchange.
fn crossing(built: &Built) -> usize {
    built.lanes.iter().filter(|l| built.through.contains(&l.op) && !l.keeps_lanes()).count()
}

#[test]
fn lanes_and_shared_memory_together() {
    for (arch, wave) in [("sm_80", 5), ("gfx942", 6), ("gfx1200", 5)] {
        let (mut before, mut behind) = (0, 0);
        for seed in 0..6 {
            for elements in [(8, "i8"), (16, "f16")] {
                let (_, built) = mixed(arch, wave, seed, elements);
                let crosses = |l: &&ShufflePlan| !l.keeps_lanes() && built.through.contains(&l.op);
                before += built.lanes.iter().filter(crosses).filter(|l| l.ahead).count();
                behind += built.lanes.iter().filter(crosses).filter(|l| !l.ahead).count();
            }
        }
        assert!(before > 0 && behind > 0, "{arch}: {before} before, {behind} behind");
    }
}

/// Each single wrong lane, register or byte is caught: by the replay in the text, by the checker in
/// the plan.
#[test]
fn planted_faults_in_the_text() {
    let layouts: Vec<String> =
        (0..2).map(|k| layout(&random(&mut Noise(11 + k), 8, 5, 0, &[]), 16, &[])).collect();
    let source = program(&layouts, (16, 16, "f16"), 32);
    let built = build(&eager(), &source, "sm_80");
    assert_eq!(wrong("sm_80", &built.text, 32, 256, 16), Ok(0), "{}", built.text);
    every_fault_is_caught(&built, 32, 256, 16);
}

/// The same beside an exchange.
#[test]
fn planted_faults_beside_an_exchange() {
    let all = (0..6).map(|seed| mixed("sm_80", 5, seed, (8, "i8")).1);
    let built = all.max_by_key(crossing).expect("some");
    assert!(crossing(&built) > 0, "{}", built.text);
    every_fault_is_caught(&built, 64, 1024, 8);
}

fn every_fault_is_caught(built: &Built, threads: u32, elements: u32, bits: u32) {
    assemble("sm_80", &built.text);
    let lines: Vec<&str> = built.text.lines().collect();
    let mut seen = [0; 3];
    for (at, line) in lines.iter().enumerate() {
        let (head, tail) = match line.rsplit_once(", ") {
            Some((head, tail)) => (head, tail.trim_end_matches(';')),
            None => continue,
        };
        let (kind, damaged) = if line.contains("shfl.sync") {
            // The next lane's: the lane's number stands before the clamp and the mask of lanes.
            let mut words: Vec<&str> = line.trim_end_matches(';').split(", ").collect();
            let lane = words.len() - 3;
            let other = words[lane]
                .parse::<u32>()
                .map_or_else(|_| "3".to_string(), |mask| format!("{}", mask ^ 3));
            words[lane] = &other;
            (0, format!("{};", words.join(", ")))
        } else if line.contains("prmt.b32") && tail.parse::<u32>().is_ok() {
            // The other half of one of the two.
            (1, format!("{head}, {};", tail.parse::<u32>().expect("a number") ^ 0x0022))
        } else if line.contains("prmt.b32") {
            // The same choice in all lanes.
            (2, format!("{head}, 12816;"))
        } else {
            continue;
        };
        seen[kind] += 1;
        let text: String = lines
            .iter()
            .enumerate()
            .map(|(k, l)| format!("{}\n", if k == at { damaged.as_str() } else { l }))
            .collect();
        assert_ne!(text.trim(), built.text.trim());
        assert!(
            !matches!(wrong("sm_80", &text, threads, elements, bits), Ok(0)),
            "line {at}: {line} as {damaged}\n{}",
            built.text
        );
    }
    assert!(seen[0] > 0 && seen[1] + seen[2] > 0, "{seen:?}\n{}", built.text);
}

/// A product whose A comes as the accumulator of another product leaves it: where the operand wants
/// its elements otherwise, registers move inside the warp. `homes` says where the accumulator's
/// elements of 16 rows and 64 columns are, in elements of `dtype`.
fn product_of_an_accumulator(
    tables: &Tables<'_>,
    arch: &str,
    dtype: &str,
    bits: u32,
    homes: &[Home],
    threads: u32,
) -> Built {
    let (m, n, k) = (16u32, 16u32, 64u32);
    let source = format!(
        "#acc = {}
func @chain(%X: memref<{m}x{k}x{dtype}, #gmem> {{align = 16}}, %B: memref<{n}x{k}x{dtype}, #gmem> {{align = 8}}, %C: memref<{m}x{n}xf32, #gmem> {{align = 16}}) {{threads = {threads}}} {{
  %z = constant 0.0 : tensor<{m}x{n}xf32>
  %sb = alloc_tensor : tensor<{n}x{k}x{dtype}, #smem>
  copy %B[0, 0], %sb : memref<{n}x{k}x{dtype}, #gmem> -> tensor<{n}x{k}x{dtype}, #smem>
  %x = tiled_load %X[0, 0] : memref<{m}x{k}x{dtype}, #gmem> -> tensor<{m}x{k}x{dtype}>
  %p = convert_layout %x : tensor<{m}x{k}x{dtype}> -> tensor<{m}x{k}x{dtype}, #acc>
  %a = convert_layout %p : tensor<{m}x{k}x{dtype}, #acc> -> tensor<{m}x{k}x{dtype}>
  %b = tiled_load %sb : tensor<{n}x{k}x{dtype}, #smem> -> tensor<{n}x{k}x{dtype}>
  %t = trans %b : tensor<{n}x{k}x{dtype}> -> tensor<{k}x{n}x{dtype}>
  %d = mma %a, %t, %z : tensor<{m}x{n}xf32>
  tiled_store %d, %C[0, 0] : tensor<{m}x{n}xf32> -> memref<{m}x{n}xf32, #gmem>
}}
",
        layout(homes, bits, &[])
    );
    let built = build(tables, &source, arch);
    assemble(arch, &built.text);
    // Numbers that both types have exactly: -7 to 7 and 0 to 3.
    let mut noise = Noise(5);
    let x: Vec<i32> = (0..m * k).map(|_| noise.below(15) as i32 - 7).collect();
    let b: Vec<i32> = (0..n * k).map(|_| noise.below(4) as i32).collect();
    let mut memory = Memory::new();
    let eighths = |v: &i32| {
        let sign = if *v < 0 { 0x80u8 } else { 0 };
        sign | [0x00, 0x38, 0x40, 0x44, 0x48, 0x4a, 0x4c, 0x4e][v.unsigned_abs() as usize]
    };
    let mut add = |name: &str, values: &[i32]| match bits {
        8 => {
            let bytes: Vec<u8> = values.iter().map(eighths).collect();
            let words: Vec<u32> = bytes
                .chunks(4)
                .map(|c| u32::from_le_bytes(c.try_into().expect("whole words")))
                .collect();
            memory.add_u32(name, &words)
        }
        _ => memory.add_f16(name, &values.iter().map(|v| *v as f32).collect::<Vec<_>>()),
    };
    let (ix, ib) = (add("X", &x), add("B", &b));
    let ic = memory.add_f32("C", &vec![-1.0; (m * n) as usize]);
    let kernel = if is_ptx(arch) {
        Kernel::parse_ptx(&built.text)
    } else {
        Kernel::parse_amdgcn(&built.text)
    }
    .expect("a kernel");
    let banks = if is_ptx(arch) {
        BankModel::nvidia_of(arch)
    } else {
        BankModel::from_jsonl(arch, PHASES).expect("phases")
    };
    let params = [ix, ib, ic].map(Param::Buffer).to_vec();
    run(&kernel, &Launch::new(threads, params).banks(banks), &mut memory)
        .unwrap_or_else(|f| panic!("{arch}: {f}\n{}", built.text));
    let c = memory.f32s(ic);
    for i in 0..m {
        for j in 0..n {
            let want: i32 = (0..k).map(|d| x[(i * k + d) as usize] * b[(j * k + d) as usize]).sum();
            assert_eq!(c[(i * n + j) as usize], want as f32, "{arch}: ({i}, {j})\n{}", built.text);
        }
    }
    built
}

#[test]
fn an_accumulator_becomes_an_operand() {
    use Home::{Lane, Place};
    // m16n8 of 32-bit sums as bytes: two columns and the row eight further on in a register; the
    // operand has four columns.
    let bytes = [
        Place(0),
        Lane(0),
        Lane(1),
        Place(2),
        Place(3),
        Place(4),
        Lane(2),
        Lane(3),
        Lane(4),
        Place(1),
    ];
    // sm_120a stores matrices of bytes, which is cheaper but for whoever has only movements to pay.
    for (tables, arch) in [(TABLES, "sm_89"), (eager(), "sm_120a")] {
        let built = product_of_an_accumulator(&tables, arch, "e4m3", 8, &bytes, 32);
        assert!(
            !built.lanes.is_empty() && built.text.contains("shfl.sync"),
            "{arch}\n{}",
            built.text
        );
    }
    // 16x16 with every other column in the other half of the lanes, which all hold whole rows as
    // operands.
    let halves = [
        Lane(4),
        Place(0),
        Place(1),
        Place(2),
        Place(3),
        Place(4),
        Lane(0),
        Lane(1),
        Lane(2),
        Lane(3),
    ];
    let built = product_of_an_accumulator(&TABLES, "gfx1100", "f16", 16, &halves, 32);
    assert!(!built.lanes.is_empty(), "{}", built.text);
}
