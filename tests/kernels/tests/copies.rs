//! Threads that hold copies of a tile's elements: the first of them stores for all on the way
//! through shared memory, wherever that is cheaper; and what says which one that is, is checked.
#![allow(missing_docs)]

use lanebook::compile::Compiled;
use lanebook::emit::step::{Inst, NO_GUARD};
use lanebook::ir::Program;
use lanebook::{TABLES, check};
use lanebook_kernels::judge::banks;
use lanebook_kernels::mutants::{found, text_of};
use lanebook_kernels::noise::Noise;
use lanebook_kernels::{assembled, checked, try_with_plan};
use lanebook_replay::{Kernel, Launch, Memory, Param, run};

/// A tile of 2^`total` elements over `wave` bits of lanes and two of warps.
#[derive(Clone, Copy)]
struct Case {
    arch: &'static str,
    wave: u32,
    dtype: &'static str,
    bits: u32,
    total: u32,
}

/// A distribution of any order, in which so many bits of the lane's and the warp's number say
/// nothing.
fn layout(noise: &mut Noise, case: Case, copies: (usize, usize)) -> String {
    let mut lanes: Vec<String> = (0..case.wave).map(|b| format!("{}@laneid", 1 << b)).collect();
    let mut warps = vec!["1@warpid".to_string(), "2@warpid".to_string()];
    let mut out = Vec::new();
    for (homes, many) in [(&mut lanes, copies.0), (&mut warps, copies.1)] {
        for _ in 0..many {
            out.push(homes.swap_remove(noise.below(homes.len())));
        }
    }
    let mut homes: Vec<String> = lanes.into_iter().chain(warps).collect();
    let places = case.total as usize - homes.len();
    homes.extend((0..places).map(|k| format!("{}@bit", case.bits << k)));
    noise.shuffle(&mut homes);
    let digits = |n: usize| vec!["2"; n].join(",");
    let mut text = format!("S[({}):({})]", digits(homes.len()), homes.join(","));
    if !out.is_empty() {
        text += &format!(" + R[({}):({})]", digits(out.len()), out.join(","));
    }
    text
}

/// Holds a tile in one distribution, then in the other.
fn program(case: Case, src: &str, dst: &str) -> String {
    let (rows, cols) = (1 << (case.total / 2), 1 << case.total.div_ceil(2));
    let (dtype, threads) = (case.dtype, 4 << case.wave);
    let memref = format!("memref<{rows}x{cols}x{dtype}, #gmem>");
    let tile = format!("tensor<{rows}x{cols}x{dtype}");
    format!(
        "#src = {src}
#dst = {dst}
func @copies(%X: {memref} {{align = 16}}, %Y: {memref} {{align = 16}}) {{threads = {threads}}} {{
  %x = tiled_load %X[0, 0] : {memref} -> {tile}>
  %s = convert_layout %x : {tile}> -> {tile}, #src>
  %d = convert_layout %s : {tile}, #src> -> {tile}, #dst>
  %y = convert_layout %d : {tile}, #dst> -> {tile}>
  tiled_store %y, %Y[0, 0] : {tile}> -> {memref}
}}
"
    )
}

/// Runs a text on labelled elements, digit by digit where they are narrow: wrong elements, and passes
/// over the banks in one run, if those of all accesses are known.
fn replayed(case: Case, text: &str) -> Result<(usize, Option<u64>), String> {
    let is_ptx = case.arch.starts_with("sm_");
    let kernel = if is_ptx { Kernel::parse_ptx(text) } else { Kernel::parse_amdgcn(text) }
        .map_err(|e| e.to_string())?;
    let (each, mut wrong, mut passes) = ((case.bits / 8) as usize, 0, None);
    for digit in 0..case.total.div_ceil(case.bits) {
        let label = |e: u32| (e >> (case.bits * digit)).to_le_bytes();
        let bytes: Vec<u8> =
            (0..1u32 << case.total).flat_map(|e| label(e).into_iter().take(each)).collect();
        let words: Vec<u32> =
            bytes.chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect();
        let mut memory = Memory::new();
        let x = memory.add_u32("X", &words);
        let y = memory.add_zeros("Y", bytes.len());
        let launch = Launch::new(4 << case.wave, vec![Param::Buffer(x), Param::Buffer(y)]);
        let report = run(&kernel, &launch.banks(banks(case.arch)), &mut memory)
            .map_err(|fault| fault.to_string())?;
        wrong += memory
            .bytes(y)
            .chunks(each)
            .zip(bytes.chunks(each))
            .filter(|(found, wanted)| found != wanted)
            .count();
        passes = report
            .sites
            .values()
            .all(|site| site.not_modelled == 0)
            .then(|| report.sites.values().map(|site| site.transactions).sum());
    }
    Ok((wrong, passes))
}

const CASES: [Case; 7] = [
    Case { arch: "sm_80", wave: 5, dtype: "f16", bits: 16, total: 10 },
    Case { arch: "sm_90", wave: 5, dtype: "i8", bits: 8, total: 11 },
    Case { arch: "sm_75", wave: 5, dtype: "f32", bits: 32, total: 9 },
    Case { arch: "gfx942", wave: 6, dtype: "f32", bits: 32, total: 10 },
    Case { arch: "gfx950", wave: 6, dtype: "bf16", bits: 16, total: 11 },
    Case { arch: "gfx1100", wave: 5, dtype: "f16", bits: 16, total: 9 },
    Case { arch: "gfx1250", wave: 5, dtype: "f32", bits: 32, total: 9 },
];

/// Each case with several numbers of copies in lanes and warps.
fn each(mut f: impl FnMut(Case, &Program<'_, '_>, &mut Compiled<'_>, &str)) {
    let mut noise = Noise(5);
    for case in CASES.into_iter().chain(CASES) {
        for copies in [(0, 0), (0, 1), (0, 2), (1, 0), (2, 1), (1, 2)] {
            let src = layout(&mut noise, case, copies);
            let dst = layout(&mut noise, case, (copies.1 / 2, copies.0 / 2));
            let source = program(case, &src, &dst);
            try_with_plan(&source, case.arch, |program, compiled, text| {
                f(case, program, compiled, text)
            })
            .unwrap_or_else(|why| panic!("{}: {why}\n{source}", case.arch));
        }
    }
}

/// Which steps store what other threads have copies of.
fn kept(steps: &[Inst]) -> Vec<usize> {
    (0..steps.len()).filter(|k| steps[*k].guard != NO_GUARD).collect()
}

#[test]
fn the_first_of_copies_stores() {
    let (mut programs, mut left_out, mut fewer) = (0, 0, 0);
    each(|case, program, compiled, text| {
        checked(program, compiled).unwrap_or_else(|why| panic!("{}: {why}\n{text}", case.arch));
        assembled(case.arch, text).unwrap_or_else(|why| panic!("{}: {why}\n{text}", case.arch));
        let (wrong, passes) = replayed(case, text).unwrap_or_else(|why| panic!("{why}\n{text}"));
        assert_eq!(wrong, 0, "{}\n{text}", case.arch);
        let planned: u64 =
            compiled.plan.exchanges.iter().map(|e| e.store.passes(2) + e.load.passes(2)).sum();
        assert_eq!(passes.unwrap_or(planned), planned, "{}\n{text}", case.arch);
        programs += 1;
        if kept(compiled.steps).is_empty() {
            return;
        }
        // With stores by all who hold an element it is as right, and takes more passes.
        let mut all = compiled.steps.to_vec();
        all.iter_mut().for_each(|step| step.guard = NO_GUARD);
        let all = text_of(program, compiled, text, &all).expect("a text");
        let (wrong, more) = replayed(case, &all).unwrap_or_else(|why| panic!("{why}\n{all}"));
        assert_eq!(wrong, 0, "{}\n{all}", case.arch);
        left_out += 1;
        if let (Some(passes), Some(more)) = (passes, more) {
            assert!(more > passes, "{}: {more}, {passes}\n{text}", case.arch);
            fewer += 1;
        }
    });
    assert!(
        programs == 84 && left_out > 40 && fewer > 14,
        "{programs} programs, {left_out} with stores left out, in {fewer} passes are counted"
    );
}

/// A plan in which threads store nothing that have something of their own is refused, and steps that
/// others carry out than the plan says are found.
#[test]
fn planted_faults() {
    let (mut plans, mut steps) = (0, 0);
    each(|case, program, compiled, text| {
        let wave = case.wave as u16;
        for at in 0..compiled.plan.exchanges.len() {
            let exchange = compiled.plan.exchanges[at];
            let owns = (0..wave + 2).filter(|bit| {
                let column = match bit.checked_sub(wave) {
                    None => exchange.from.lane.get(usize::from(*bit)),
                    Some(warp) => exchange.from.warp.get(usize::from(warp)),
                };
                column.is_some_and(|e| e != 0)
            });
            for bit in owns.collect::<Vec<_>>() {
                compiled.plan.exchanges[at].store.kept |= 1 << bit;
                let said = check::plan(&TABLES, program, &compiled.plan);
                assert!(said.is_err(), "{}: bit {bit}\n{text}", case.arch);
                compiled.plan.exchanges[at].store.kept = exchange.store.kept;
                plans += 1;
            }
            compiled.plan.exchanges[at].load.kept = 1 << wave;
            assert!(check::plan(&TABLES, program, &compiled.plan).is_err(), "{text}");
            compiled.plan.exchanges[at].load.kept = 0;
        }
        for k in kept(compiled.steps) {
            let mut changed = compiled.steps.to_vec();
            changed[k].guard = NO_GUARD;
            assert!(found(program, compiled, &changed).is_some(), "{}: {k}\n{text}", case.arch);
            steps += 1;
        }
    });
    assert!(plans > 200 && steps > 40, "{plans} plans, {steps} steps");
}
