//! Kernels with reductions along rows: layer norm and attention, on every architecture that has the instructions, against a
//! plain reference, and with planted faults.
#![allow(missing_docs)]

use lanebook::{TABLES, check};
use lanebook_kernels::maps::{KernelMap, kernel_maps, map_params};
use lanebook_kernels::{Assembler, example, try_kernel_text, with_kernel};
use lanebook_replay::{BankModel, FaultKind, Kernel, Launch, Memory, Param, Report, run};
use std::collections::BTreeMap;

const PHASES: &str = include_str!("../../replay/fixtures/lds_phases.jsonl");
/// Machines of AMD's that the replay knows.
const AMD: [&str; 11] = ["gfx908", "gfx942", "gfx950", "gfx1030", "gfx1030.w64", "gfx1100", "gfx1100.w64", "gfx1200", "gfx1200.w64", "gfx1250", "gfx1251"];

fn is_ptx(arch: &str) -> bool {
    arch.starts_with("sm_")
}

fn execute(arch: &str, text: &str, threads: u32, params: Vec<Param>, memory: &mut Memory) -> Result<Report, FaultKind> {
    let parsed = if is_ptx(arch) { Kernel::parse_ptx(text) } else { Kernel::parse_amdgcn(text) };
    let kernel = parsed.unwrap_or_else(|e| panic!("{arch}: {e}\n{text}"));
    let banks = if is_ptx(arch) { BankModel::nvidia() } else { BankModel::from_jsonl(arch, PHASES).expect("phases") };
    run(&kernel, &Launch::new(threads, params).banks(banks), memory).map_err(|f| {
        println!("{arch}: {f}");
        f.kind
    })
}

/// A text and the tensor maps that it takes.
type Built = (String, Vec<KernelMap>);

/// Texts of a program by what follows the lines that name version and target: PTX for each architecture, the replay's AMD ones.
fn texts(program: &str, wanted: impl Fn(&str) -> bool) -> BTreeMap<Built, Vec<&'static str>> {
    let mut out: BTreeMap<Built, Vec<&'static str>> = BTreeMap::new();
    for arch in TABLES.archs.iter().map(|a| a.name).filter(|a| wanted(a) && (is_ptx(a) || AMD.contains(a))) {
        let text = try_kernel_text(program, arch).unwrap_or_else(|e| panic!("{arch}: {e}"));
        // The wave size stands in the text's kernel descriptor; the assembler wants to know it before.
        let (target, wave) = arch.strip_suffix(".w64").map_or((arch, ""), |target| (target, "+wavefrontsize64"));
        Assembler::of(arch).assemble_with(&text, target, wave).unwrap_or_else(|said| panic!("{arch}: {said}\n{text}"));
        let key = if is_ptx(arch) { format!(".version 8.0\n.target sm_80\n{}", text.splitn(3, '\n').nth(2).expect("a body")) } else { text };
        out.entry((key, kernel_maps(program, arch))).or_default().push(arch);
    }
    out
}

/// A number of no pattern.
fn noise(i: u32) -> f32 {
    let mut x = i.wrapping_mul(0x9e37_79b9) ^ 0x5bd1_e995;
    x = (x ^ (x >> 15)).wrapping_mul(0x85eb_ca6b);
    x = (x ^ (x >> 13)).wrapping_mul(0xc2b2_ae35);
    ((x ^ (x >> 16)) & 0xffff) as f32 / 32768.0 - 1.0
}

/// Layer norm of rows `at` to `at + rows` of a matrix; how many elements of the result are wrong.
fn layer_norm(arch: &str, (text, maps): (&str, &[KernelMap]), threads: u32, (rows, cols): (u32, u32), at: u32) -> Result<usize, FaultKind> {
    let all = at + rows + 3;
    let x: Vec<f32> = (0..all * cols).map(|i| noise(i) * 3.0 + (i / cols) as f32 * 0.5).collect();
    let (w, b): (Vec<f32>, Vec<f32>) = ((0..cols).map(|i| 1.0 + noise(i + 77)).collect(), (0..cols).map(|i| noise(i + 7777)).collect());
    let mut memory = Memory::new();
    let (ix, iw, ib) = (memory.add_f32("X", &x), memory.add_f32("W", &w), memory.add_f32("B", &b));
    let iy = memory.add_f32("Y", &vec![7.0; (all * cols) as usize]);
    let mut params = vec![Param::Buffer(ix), Param::U32(all), Param::Buffer(iw), Param::Buffer(ib), Param::Buffer(iy), Param::U32(all), Param::U32(at)];
    params.extend(map_params(maps, &[(ix, all, cols), (iw, 1, cols), (ib, 1, cols), (iy, all, cols)], &memory));
    execute(arch, text, threads, params, &mut memory)?;
    let y = memory.f32s(iy);
    let mut wrong = 0;
    for row in 0..all {
        let line: Vec<f64> = (0..cols).map(|c| f64::from(x[(row * cols + c) as usize])).collect();
        let mean = line.iter().sum::<f64>() / f64::from(cols);
        let variance = line.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / f64::from(cols);
        for c in 0..cols {
            let inside = (at..at + rows).contains(&row);
            let norm = (line[c as usize] - mean) / (variance + 1e-5).sqrt();
            let want = if inside { norm * f64::from(w[c as usize]) + f64::from(b[c as usize]) } else { 7.0 };
            let got = f64::from(y[(row * cols + c) as usize]);
            wrong += usize::from(got.is_nan() || (got - want).abs() > 1e-4 * (1.0 + want.abs()));
        }
    }
    Ok(wrong)
}

/// The example for another shape.
fn layer_norm_of(rows: u32, cols: u32, threads: u32) -> String {
    let text = example("layer_norm.tile");
    let text = text.replace("0.0009765625", &format!("{}", 1.0 / f64::from(cols)));
    let text = text.replace("x1024x", &format!("x{cols}x")).replace("<8x", &format!("<{rows}x")).replace("div = 8", &format!("div = {rows}"));
    text.replace("threads = 128", &format!("threads = {threads}"))
}

/// Attention of 64 rows from `at` on; how many elements of the result are wrong.
fn attention(
    arch: &str,
    (text, maps): (&str, &[KernelMap]),
    threads: u32,
    (rows, depth): (u32, u32),
    at: u32,
    keys: u32,
) -> Result<(usize, Report), FaultKind> {
    let all = at + rows + 2;
    let scale = std::f64::consts::LOG2_E * 0.125;
    let half = |v: f32| (v * 64.0).round() / 64.0;
    let q: Vec<f32> = (0..all * depth).map(|i| half(noise(i) * 3.0)).collect();
    let k: Vec<f32> = (0..keys.max(1) * depth).map(|i| half(noise(i + 50_000) * (1.0 + (i / depth / 16) as f32 * 0.3))).collect();
    let v: Vec<f32> = (0..keys.max(1) * depth).map(|i| half(noise(i + 90_000) * 2.0)).collect();
    let mut memory = Memory::new();
    let (iq, ik, iv) = (memory.add_f16("Q", &q), memory.add_f16("K", &k), memory.add_f16("V", &v));
    let io = memory.add_f32("O", &vec![7.0; (all * depth) as usize]);
    let mut params = Vec::new();
    for (id, n) in [(iq, all), (ik, keys.max(1)), (iv, keys.max(1)), (io, all)] {
        params.extend([Param::Buffer(id), Param::U32(n)]);
    }
    params.extend([Param::U32(at), Param::U32(keys)]);
    params.extend(map_params(maps, &[(iq, all, depth), (ik, keys.max(1), depth), (iv, keys.max(1), depth), (io, all, depth)], &memory));
    let report = execute(arch, text, threads, params, &mut memory)?;
    let o = memory.f32s(io);
    let mut wrong = 0;
    for row in 0..all {
        let inside = (at..at + rows).contains(&row);
        let line = &q[(row * depth) as usize..((row + 1) * depth) as usize];
        let dot = |key: u32| -> f64 { line.iter().enumerate().map(|(d, x)| f64::from(*x) * f64::from(k[(key * depth) as usize + d])).sum() };
        let scores: Vec<f64> = (0..keys).map(|key| dot(key) * scale).collect();
        let top = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = scores.iter().map(|s| (s - top).exp2()).collect();
        let sum: f64 = weights.iter().sum();
        for d in 0..depth {
            let mean = (0..keys).map(|key| weights[key as usize] * f64::from(v[(key * depth + d) as usize])).sum::<f64>() / sum;
            let want = if inside { mean } else { 7.0 };
            let got = f64::from(o[(row * depth + d) as usize]);
            wrong += usize::from(got.is_nan() || (got - want).abs() > 4e-3);
        }
    }
    Ok((wrong, report))
}

/// The example for another shape: so many rows of Q, so many keys a turn; the depth stays.
fn attention_of(rows: u32, keys: u32, threads: u32) -> String {
    let text = example("attention.tile");
    let mut out = String::new();
    for line in text.lines() {
        let name = line.trim_start().split([' ', ',']).next().unwrap_or("").trim_start_matches('%');
        // Which tiles are rows x depth, keys x depth, depth x keys, rows x keys.
        let (mut line, shape) = (line.to_string(), "64x64x");
        let (qd, kd, dk, qk) = (format!("{rows}x64x"), format!("{keys}x64x"), format!("64x{keys}x"), format!("{rows}x{keys}x"));
        // The first such type of a line, the second.
        let swap = |line: &str, list: &[&str]| {
            let mut out = line.to_string();
            for k in 0..list.len() {
                out = out.replacen(shape, &format!("@{k}"), 1);
            }
            list.iter().enumerate().fold(out, |out, (k, with)| out.replace(&format!("@{k}"), with))
        };
        line = match name {
            "sq" | "q" | "zo" | "ar" | "d" | "y" => swap(&line, &[&qd, &qd]),
            "sk" | "sv" | "k" | "v" => swap(&line, &[&kd, &kd]),
            "kt" => swap(&line, &[&kd, &dk]),
            "zs" | "s" | "t" | "u" | "p" | "ph" | "pc" | "c" | "tm" | "ps" | "mb" => swap(&line, &[&qk, &qk]),
            "ab" | "ib" | "o" | "tiled_store" | "scf.yield" => swap(&line, &[&qd, &qd]),
            "copy" if line.contains("%sq") => swap(&line, &[&qd]),
            "copy" => swap(&line, &[&kd]),
            _ => line,
        };
        line = line.replace("<64xf32>", &format!("<{rows}xf32>")).replace("step 64", &format!("step {keys}"));
        line = line.replace("%m: index {div = 64}", &format!("%m: index {{div = {rows}}}")).replace("threads = 128", &format!("threads = {threads}"));
        out.push_str(&line);
        out.push('\n');
    }
    out
}

#[test]
fn layer_norm_everywhere() {
    let texts = texts(&example("layer_norm.tile"), |_| true);
    let count: usize = texts.values().map(Vec::len).sum();
    assert!(count >= 24, "{count} architectures");
    for ((text, maps), archs) in &texts {
        for at in [0, 8] {
            let wrong = layer_norm(archs[0], (text, maps), 128, (8, 1024), at).unwrap_or_else(|f| panic!("{archs:?}: {f:?}\n{text}"));
            assert_eq!(wrong, 0, "{archs:?}: wrong elements of Y");
        }
    }
}

/// A row in one lane's neighbours, in one warp, over two and over all warps; rows of three and five panels.
#[test]
fn layer_norm_of_other_shapes() {
    for (rows, cols, threads) in [(64, 32, 128), (16, 256, 128), (4, 2048, 256), (8, 512, 64), (8, 384, 128), (16, 640, 256), (24, 128, 128)] {
        let source = layer_norm_of(rows, cols, threads);
        for arch in ["sm_80", "gfx942", "gfx950"] {
            let text = try_kernel_text(&source, arch).unwrap_or_else(|e| panic!("{arch} {rows}x{cols} {threads}: {e}"));
            Assembler::of(arch).assemble(&text, arch).unwrap_or_else(|said| panic!("{arch}: {said}\n{text}"));
            let wrong = layer_norm(arch, (&text, &[]), threads, (rows, cols), rows).unwrap_or_else(|f| panic!("{arch} {rows}x{cols} {threads}: {f:?}\n{text}"));
            assert_eq!(wrong, 0, "{arch} {rows}x{cols} {threads}\n{text}");
        }
    }
}

#[test]
fn attention_everywhere() {
    let texts = texts(&example("attention.tile"), |arch| !arch.starts_with("gfx1030"));
    let count: usize = texts.values().map(Vec::len).sum();
    assert!(count >= 24, "{count} architectures");
    for ((text, maps), archs) in &texts {
        for (at, keys) in [(0, 64), (64, 192)] {
            let (wrong, report) = attention(archs[0], (text, maps), 128, (64, 64), at, keys).unwrap_or_else(|f| panic!("{archs:?}: {f:?}\n{text}"));
            assert_eq!(wrong, 0, "{archs:?}: wrong elements of O, {keys} keys");
            assert_eq!(report.conflicts(), 0, "{archs:?}: bank conflicts");
        }
    }
}

#[test]
fn attention_of_other_shapes() {
    for (rows, keys, threads) in [(128, 64, 128), (64, 32, 64), (128, 128, 256), (64, 128, 128)] {
        let source = attention_of(rows, keys, threads);
        for arch in ["sm_80", "gfx942", "gfx950"] {
            let text = try_kernel_text(&source, arch).unwrap_or_else(|e| panic!("{arch} {rows} {keys} {threads}: {e}\n{source}"));
            Assembler::of(arch).assemble(&text, arch).unwrap_or_else(|said| panic!("{arch}: {said}\n{text}"));
            let (wrong, _) =
                attention(arch, (&text, &[]), threads, (rows, 64), rows, 2 * keys).unwrap_or_else(|f| panic!("{arch} {rows} {keys}: {f:?}\n{text}"));
            assert_eq!(wrong, 0, "{arch} {rows} {keys} {threads}\n{text}");
        }
    }
}

/// Both products by the matrix unit that reads B from shared memory: what the first one leaves in registers is the second one's A as it stands.
#[test]
fn attention_by_a_unit() {
    let arch = "sm_90a";
    for (rows, keys, threads) in [(64, 64, 128), (128, 64, 256), (64, 128, 128)] {
        let source = attention_of(rows, keys, threads);
        let text = try_kernel_text(&source, arch).unwrap_or_else(|e| panic!("{rows} {keys} {threads}: {e}\n{source}"));
        Assembler::of(arch).assemble(&text, arch).unwrap_or_else(|said| panic!("{said}\n{text}"));
        let units: Vec<&str> = text.lines().filter(|l| l.contains("wgmma.mma_async")).collect();
        assert!(!text.contains("mma.sync") && !units.is_empty(), "{rows} {keys} {threads}\n{text}");
        // A from registers is a second list of them.
        assert!(units.iter().all(|l| l.matches('{').count() == 2), "{rows} {keys} {threads}\n{text}");
        assert!(!text.contains("st.shared") && !text.contains("stmatrix"), "{rows} {keys} {threads}\n{text}");
        let run = |text: &str, keys: u32| attention(arch, (text, &kernel_maps(&source, arch)), threads, (rows, 64), 0, keys).map(|(wrong, _)| wrong);
        assert_eq!(run(&text, 2 * keys), Ok(0), "{rows} {keys} {threads}\n{text}");
        if rows * keys > 64 * 64 {
            continue;
        }
        with_kernel(&source, arch, |program, compiled, text| {
            check::plan(&TABLES, program, &compiled.plan).unwrap_or_else(|v| panic!("{v:?}"));
            check::order(&TABLES, program, compiled).unwrap_or_else(|v| panic!("{v:?}\n{text}"));
        });
        // What orders registers around each of the two.
        let lines: Vec<&str> = text.lines().collect();
        let around: Vec<usize> = (0..lines.len()).filter(|k| ["wgmma.fence", "wgmma.commit", "wgmma.wait"].iter().any(|w| lines[*k].contains(w))).collect();
        assert_eq!(around.len(), 6, "{text}");
        for at in around {
            let less: String = lines.iter().enumerate().filter(|(k, _)| *k != at).map(|(_, l)| format!("{l}\n")).collect();
            assert!(!matches!(run(&less, 128), Ok(0)), "without line {at}: {}", lines[at]);
        }
    }
}

/// Both products by the unit that leaves its sums in tensor memory: what the first one leaves is rounded and stored as the second one's A, and the second
/// one's sums are scaled between two turns.
#[test]
fn attention_in_tensor_memory() {
    let arch = "sm_100a";
    for (rows, keys, threads) in [(64, 64, 128), (128, 64, 128), (64, 128, 128)] {
        let source = attention_of(rows, keys, threads);
        let text = try_kernel_text(&source, arch).unwrap_or_else(|e| panic!("{rows} {keys} {threads}: {e}\n{source}"));
        Assembler::of(arch).assemble(&text, arch).unwrap_or_else(|said| panic!("{said}\n{text}"));
        let units: Vec<&str> = text.lines().filter(|l| l.contains("tcgen05.mma")).collect();
        assert!(!text.contains("mma.sync") && !text.contains("st.shared"), "{rows} {keys} {threads}\n{text}");
        // A in tensor memory is a second address.
        assert!(units.iter().any(|l| l.matches('[').count() == 2), "{rows} {keys} {threads}\n{text}");
        let run = |text: &str, keys: u32| attention(arch, (text, &kernel_maps(&source, arch)), threads, (rows, 64), 0, keys).map(|(wrong, _)| wrong);
        assert_eq!(run(&text, 2 * keys), Ok(0), "{rows} {keys} {threads}\n{text}");
        if rows * keys > 64 * 64 {
            continue;
        }
        with_kernel(&source, arch, |program, compiled, text| {
            check::plan(&TABLES, program, &compiled.plan).unwrap_or_else(|v| panic!("{v:?}"));
            check::order(&TABLES, program, compiled).unwrap_or_else(|v| panic!("{v:?}\n{text}"));
        });
        for what in ["tcgen05.wait::st", "tcgen05.wait::ld", "tcgen05.fence::before", "tcgen05.fence::after", "tcgen05.commit", "tcgen05.st."] {
            let less: String = text.lines().filter(|l| !l.contains(what)).map(|l| format!("{l}\n")).collect();
            assert!(run(&less, 128).is_err(), "without {what}\n{text}");
        }
        // P, or the sums, stored a column on.
        for line in text.lines().filter(|l| l.contains("tcgen05.st.")) {
            let found = run(&text.replace(line, &line.replacen(']', "+1]", 1)), 128);
            assert!(!matches!(found, Ok(0)), "{line}");
        }
    }
}

/// The checker passes what it can see of them.
#[test]
fn the_checker_passes() {
    for name in ["layer_norm.tile", "attention.tile"] {
        for arch in ["sm_80", "gfx942", "gfx950"] {
            with_kernel(&example(name), arch, |program, compiled, text| {
                check::plan(&TABLES, program, &compiled.plan).unwrap_or_else(|v| panic!("{name} {arch}: {v:?}"));
                check::order(&TABLES, program, compiled).unwrap_or_else(|v| panic!("{name} {arch}: {v:?}\n{text}"));
            });
        }
    }
}

/// Each exchange between lanes that is left out, or made with other lanes, and each missing barrier shows.
#[test]
fn planted_faults_are_caught() {
    for (name, arch) in [("layer_norm.tile", "sm_80"), ("attention.tile", "sm_80"), ("layer_norm.tile", "gfx942"), ("attention.tile", "gfx942")] {
        let text = try_kernel_text(&example(name), arch).expect("a kernel");
        let right = |text: &str| match name {
            "layer_norm.tile" => layer_norm(arch, (text, &[]), 128, (8, 1024), 0) == Ok(0),
            _ => attention(arch, (text, &[]), 128, (64, 64), 0, 128).is_ok_and(|(wrong, _)| wrong == 0),
        };
        assert!(right(&text));
        let lines: Vec<&str> = text.lines().collect();
        let exchange = |l: &str| ["shfl.sync", "v_mov_b32_dpp", "ds_swizzle", "ds_bpermute", "v_permlane"].iter().any(|w| l.trim_start().starts_with(w));
        let with = |at: usize, line: Option<&str>| -> String {
            let kept = lines.iter().enumerate().filter_map(|(k, l)| if k == at { line } else { Some(*l) });
            kept.collect::<Vec<_>>().join("\n") + "\n"
        };
        let found: Vec<usize> = (0..lines.len()).filter(|k| exchange(lines[*k])).collect();
        assert!(!found.is_empty(), "{name} {arch}: exchanges");
        for &at in found.iter().step_by(found.len().div_ceil(6)) {
            assert!(!right(&with(at, None)), "{name} {arch}: line {at} left out: {}", lines[at]);
        }
        // Another mask of the same instruction.
        let swaps = [
            (", 1, 31", ", 2, 31"),
            (", 2, 31", ", 1, 31"),
            (", 16, 31", ", 8, 31"),
            ("[1,0,3,2]", "[2,3,0,1]"),
            ("[2,3,0,1]", "[1,0,3,2]"),
            ("row_ror:8", "row_ror:4"),
        ];
        let mut tried = 0;
        for (from, to) in swaps {
            if let Some(&at) = found.iter().find(|at| lines[**at].contains(from)) {
                tried += 1;
                assert!(!right(&with(at, Some(&lines[at].replace(from, to)))), "{name} {arch}: line {at} with {to}");
            }
        }
        assert!(tried > 0 || arch == "gfx942", "{name} {arch}: a mask to break");
        let barriers: Vec<usize> = (0..lines.len()).filter(|k| ["bar.sync", "s_barrier"].iter().any(|w| lines[*k].trim_start().starts_with(w))).collect();
        assert!(!barriers.is_empty(), "{name} {arch}: barriers");
        for at in barriers {
            assert!(!right(&with(at, None)), "{name} {arch}: the barrier at line {at} left out");
        }
    }
}
