//! Kernels run against plain references: how many elements of the result are wrong.

use crate::interpret::Interpreted;
use crate::maps::{KernelMap, encoded, map_params, try_text_and_maps};
use lanebook_replay::{
    BankModel, FaultKind, Kernel, Launch, Memory, Param, ParseFault, Report, run,
};

const PHASES: &str = include_str!("../../replay/fixtures/lds_phases.jsonl");

/// Banks as they were measured on an architecture, or on the one that is like it.
///
/// # Panics
/// When the measurements cannot be read.
#[must_use]
pub fn banks(arch: &str) -> BankModel {
    if arch.starts_with("sm_") {
        BankModel::nvidia_of(arch)
    } else {
        BankModel::from_jsonl(arch, PHASES).expect("phases")
    }
}

/// A text as the emulator reads it, in the architecture's language.
///
/// # Errors
/// What it does not model.
pub fn parsed(text: &str, arch: &str) -> Result<Kernel, ParseFault> {
    if arch.starts_with("sm_") { Kernel::parse_ptx(text) } else { Kernel::parse_amdgcn(text) }
}

/// Runs a text.
///
/// # Errors
/// The fault that ended the run.
///
/// # Panics
/// When the text is not understood.
pub fn execute(
    arch: &str,
    text: &str,
    threads: u32,
    params: Vec<Param>,
    memory: &mut Memory,
) -> Result<Report, FaultKind> {
    execute_grid(arch, text, (threads, [1; 3]), params, memory)
}

/// Runs a text in a grid of blocks.
///
/// # Errors
/// The fault that ended the run.
///
/// # Panics
/// When the text is not understood.
pub fn execute_grid(
    arch: &str,
    text: &str,
    (threads, [x, y, z]): (u32, [u32; 3]),
    params: Vec<Param>,
    memory: &mut Memory,
) -> Result<Report, FaultKind> {
    let kernel = parsed(text, arch).unwrap_or_else(|e| panic!("{arch}: {e}\n{text}"));
    let dynamic_shared = if text.contains(".extern .shared") { 220 << 10 } else { 0 };
    run(
        &kernel,
        &Launch { dynamic_shared, ..Launch::new(threads, params).grid(x, y, z).banks(banks(arch)) },
        memory,
    )
    .map_err(|f| {
        println!("{arch}: {f}");
        f.kind
    })
}

/// A memref of two run-time extents.
#[must_use]
pub fn matrix(id: lanebook_replay::BufferId, rows: u32, cols: u32) -> [Param; 4] {
    [Param::Buffer(id), Param::U32(rows), Param::U32(cols), Param::U32(cols)]
}

/// A number of no pattern.
pub fn noise(i: u32) -> f32 {
    let mut x = i.wrapping_mul(0x9e37_79b9) ^ 0x5bd1_e995;
    x = (x ^ (x >> 15)).wrapping_mul(0x85eb_ca6b);
    x = (x ^ (x >> 13)).wrapping_mul(0xc2b2_ae35);
    ((x ^ (x >> 16)) & 0xffff) as f32 / 32768.0 - 1.0
}

/// Layer norm of rows `at` to `at + rows` of a matrix; how many elements of the result are wrong.
///
/// # Errors
/// The fault that ended the run.
pub fn layer_norm(
    arch: &str,
    (text, maps): (&str, &[KernelMap]),
    threads: u32,
    (rows, cols): (u32, u32),
    at: u32,
) -> Result<usize, FaultKind> {
    let all = at + rows + 3;
    let x: Vec<f32> = (0..all * cols).map(|i| noise(i) * 3.0 + (i / cols) as f32 * 0.5).collect();
    let (w, b): (Vec<f32>, Vec<f32>) = (
        (0..cols).map(|i| 1.0 + noise(i + 77)).collect(),
        (0..cols).map(|i| noise(i + 7777)).collect(),
    );
    let mut memory = Memory::new();
    let (ix, iw, ib) = (memory.add_f32("X", &x), memory.add_f32("W", &w), memory.add_f32("B", &b));
    let iy = memory.add_f32("Y", &vec![7.0; (all * cols) as usize]);
    let mut params = vec![
        Param::Buffer(ix),
        Param::U32(all),
        Param::Buffer(iw),
        Param::Buffer(ib),
        Param::Buffer(iy),
        Param::U32(all),
        Param::U32(at),
    ];
    params.extend(map_params(
        maps,
        &[(ix, all, cols), (iw, 1, cols), (ib, 1, cols), (iy, all, cols)],
        &memory,
    ));
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
            let want = if inside {
                norm * f64::from(w[c as usize]) + f64::from(b[c as usize])
            } else {
                7.0
            };
            let got = f64::from(y[(row * cols + c) as usize]);
            wrong += usize::from(got.is_nan() || (got - want).abs() > 1e-4 * (1.0 + want.abs()));
        }
    }
    Ok(wrong)
}

/// Attention of 64 rows from `at` on; how many elements of the result are wrong.
///
/// # Errors
/// The fault that ended the run.
pub fn attention(
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
    let k: Vec<f32> = (0..keys.max(1) * depth)
        .map(|i| half(noise(i + 50_000) * (1.0 + (i / depth / 16) as f32 * 0.3)))
        .collect();
    let v: Vec<f32> = (0..keys.max(1) * depth).map(|i| half(noise(i + 90_000) * 2.0)).collect();
    let mut memory = Memory::new();
    let (iq, ik, iv) = (memory.add_f16("Q", &q), memory.add_f16("K", &k), memory.add_f16("V", &v));
    let io = memory.add_f32("O", &vec![7.0; (all * depth) as usize]);
    let mut params = Vec::new();
    for (id, n) in [(iq, all), (ik, keys.max(1)), (iv, keys.max(1)), (io, all)] {
        params.extend([Param::Buffer(id), Param::U32(n)]);
    }
    params.extend([Param::U32(at), Param::U32(keys)]);
    params.extend(map_params(
        maps,
        &[(iq, all, depth), (ik, keys.max(1), depth), (iv, keys.max(1), depth), (io, all, depth)],
        &memory,
    ));
    let report = execute(arch, text, threads, params, &mut memory)?;
    let o = memory.f32s(io);
    let mut wrong = 0;
    for row in 0..all {
        let inside = (at..at + rows).contains(&row);
        let line = &q[(row * depth) as usize..((row + 1) * depth) as usize];
        let dot = |key: u32| -> f64 {
            line.iter()
                .enumerate()
                .map(|(d, x)| f64::from(*x) * f64::from(k[(key * depth) as usize + d]))
                .sum()
        };
        let scores: Vec<f64> = (0..keys).map(|key| dot(key) * scale).collect();
        let top = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = scores.iter().map(|s| (s - top).exp2()).collect();
        let sum: f64 = weights.iter().sum();
        for d in 0..depth {
            let mean = (0..keys)
                .map(|key| weights[key as usize] * f64::from(v[(key * depth + d) as usize]))
                .sum::<f64>()
                / sum;
            let want = if inside { mean } else { 7.0 };
            let got = f64::from(o[(row * depth + d) as usize]);
            wrong += usize::from(got.is_nan() || (got - want).abs() > 4e-3);
        }
    }
    Ok((wrong, report))
}

/// Compiles a program, runs it, and compares memory: that it is right, or what refused it; the
/// error says what is wrong.
///
/// # Errors
/// A fault, a wrong element, a text that is not understood.
pub fn run_interpreted(said: &Interpreted, program: &str, arch: &str) -> Result<String, String> {
    let (text, maps) = match try_text_and_maps(program, arch) {
        Ok(made) => made,
        Err(why) => return Ok(format!("refused: {why}")),
    };
    run_text(said, &text, &maps, arch).map(|()| "right".to_string())
}

/// The parameters behind all others that say how many blocks there are, where a text asks for them.
pub fn block_counts(text: &str, grid: [u32; 3]) -> impl Iterator<Item = Param> {
    let asked = ["x", "y", "z"].map(|axis| text.contains(&format!("hidden_block_count_{axis}")));
    grid.into_iter().zip(asked).filter(|(_, asked)| *asked).map(|(n, _)| Param::U32(n))
}

/// Runs a text of a program, and compares memory.
///
/// # Errors
/// A fault, a wrong element, a text that is not understood.
pub fn run_text(
    said: &Interpreted,
    text: &str,
    maps: &[KernelMap],
    arch: &str,
) -> Result<(), String> {
    run_measured(said, text, maps, arch, false).map(|_| ())
}

/// The same; what was measured, with each matrix instruction where that is asked for.
///
/// # Errors
/// A fault, a wrong element, a text that is not understood.
pub fn run_measured(
    said: &Interpreted,
    text: &str,
    maps: &[KernelMap],
    arch: &str,
    record_matrix: bool,
) -> Result<Report, String> {
    let (mut memory, ids, mut params) = said.memory();
    let tensors: Vec<_> = said.globals.iter().zip(&ids).map(|(g, id)| (*id, g.passed())).collect();
    for m in maps {
        let filled = m.fill_many(tensors[m.memref].0, &tensors[m.memref].1, &memory);
        params.push(Param::Tensor(encoded(m.within(filled, &said.indices), &mut memory)));
    }
    params.extend(block_counts(text, said.grid));
    let kernel = parsed(text, arch).map_err(|e| format!("not modelled: {e}"))?;
    let [x, y, z] = said.grid;
    // Warps that only copy stand behind those that the function says.
    let threads = kernel.block_threads().unwrap_or(said.threads);
    if threads < said.threads {
        return Err(format!("{threads} threads are launched, the function says {}", said.threads));
    }
    let dynamic_shared = if text.contains(".extern .shared") { 220 << 10 } else { 0 };
    let launch = Launch {
        dynamic_shared,
        record_matrix,
        record_accesses: false,
        ..Launch::new(threads, params).grid(x, y, z).banks(BankModel::none())
    };
    let report = run(&kernel, &launch, &mut memory).map_err(|f| f.to_string())?;
    said.compare(arch, &memory, &ids).map(|()| report)
}
