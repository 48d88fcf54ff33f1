//! The examples on every architecture of AMD: assembled for it, or refused with figures; run lane
//! by lane where the replay knows the machine; and on gfx12 every scalar register that needs a wait
//! of its own has it.
#![allow(missing_docs)]

use lanebook::layout::PostMap;
use lanebook::map::SharedLayout;
use lanebook::plan::{Candidate, Reject};
use lanebook::{TABLES, check};
use lanebook_kernels::{Assembler, e4m3, example, try_kernel_text, with_kernel};
use lanebook_replay::{BankModel, Kernel, Launch, Memory, Param, run};
use std::collections::BTreeSet;

const PHASES: &str = include_str!("../../replay/fixtures/lds_phases.jsonl");
/// What the replay runs.
const REPLAYED: [&str; 10] = [
    "gfx908",
    "gfx90a",
    "gfx942",
    "gfx950",
    "gfx1100",
    "gfx1100.w64",
    "gfx1200",
    "gfx1200.w64",
    "gfx1250",
    "gfx1251",
];

fn archs() -> impl Iterator<Item = (&'static str, &'static str)> {
    TABLES
        .archs
        .iter()
        .filter(|arch| TABLES.isa(arch.isa).is_some_and(|isa| isa.name == "amdgcn"))
        .map(|arch| (arch.name, arch.target))
}

fn gemm(threads: u32) -> String {
    let text = example("gemm.tile");
    assert!(text.contains("threads = 128"));
    text.replace("threads = 128", &format!("threads = {threads}"))
}

fn params(ids: &[(lanebook_replay::BufferId, u32, u32)], rest: &[u32]) -> Vec<Param> {
    let each = ids.iter().flat_map(|&(id, rows, cols)| {
        [Param::Buffer(id), Param::U32(rows), Param::U32(cols), Param::U32(cols)]
    });
    each.chain(rest.iter().map(|&n| Param::U32(n))).collect()
}

fn banks(arch: &str) -> BankModel {
    // What was measured: waves of 64 lanes on CDNA, of 32 on RDNA.
    let measured = match arch {
        "gfx90a" => "gfx942",
        "gfx1200" => "gfx1201",
        arch => arch,
    };
    BankModel::from_jsonl(measured, PHASES).expect("phases")
}

/// Each either assembles for its own target, or is refused for want of registers or of a matrix
/// instruction; and no kernel is refused everywhere.
#[test]
fn everything_assembles_or_is_refused_with_figures() {
    let (mut taken, mut names) = (0, 0);
    for (arch, target) in archs() {
        let transpose = try_kernel_text(&example("transpose.tile"), arch)
            .unwrap_or_else(|e| panic!("{arch}: {e}"));
        let mut texts = vec![transpose];
        let small = example("gemm.tile")
            .replace("128x128", "32x32")
            .replace("128x64", "32x64")
            .replace("64x128", "64x32");
        for (what, program) in
            [("128 threads", gemm(128)), ("256 threads", gemm(256)), ("a small tile", small)]
        {
            match try_kernel_text(&program, arch) {
                Ok(text) => texts.push(text),
                Err(why) => {
                    let stated = ["Pool {", "NoMatrixAtom", "Registers", "Class {"]
                        .iter()
                        .any(|word| why.contains(word));
                    assert!(stated, "{arch}, {what}: {why}");
                    assert!(
                        what != "a small tile" || !why.contains("Pool {"),
                        "{arch}, {what}: {why}"
                    );
                    println!("{arch}, {what}: {why}");
                }
            }
        }
        names += 1;
        taken += texts.len() - 1;
        for text in &texts {
            assemble(arch, target, text);
            if target.starts_with("gfx120") {
                scalars_are_waited_for(arch, text);
            }
        }
    }
    assert!(names >= 18 && taken >= 25, "{names} architectures, {taken} products");
}

fn assemble(arch: &str, target: &str, text: &str) {
    // The wave size stands in the text's kernel descriptor; the assembler wants to know it before.
    let wave = if arch.ends_with(".w64") { "+wavefrontsize64" } else { "" };
    Assembler::of(arch)
        .assemble_with(text, target, wave)
        .unwrap_or_else(|said| panic!("{arch}: {said}\n{text}"));
}

/// Numbers of the scalar registers in an operand.
fn scalars(operand: &str) -> Vec<u32> {
    let Some(rest) = operand.trim().strip_prefix('s') else { return Vec::new() };
    let number = |text: &str| text.parse::<u32>().ok();
    match rest.strip_prefix('[').and_then(|r| r.strip_suffix(']')).and_then(|r| r.split_once(':')) {
        Some((first, last)) => number(first)
            .zip(number(last))
            .map_or(Vec::new(), |(first, last)| (first..=last).collect()),
        None => number(rest).into_iter().collect(),
    }
}

/// gfx12: a scalar register that a vector instruction ever reads (by pairs), written by a scalar
/// one, may be read again only behind `s_wait_alu depctr_sa_sdst(0)`; one that a vector instruction
/// writes, by vector ones only behind `depctr_va_sdst(0)`.
fn scalars_are_waited_for(arch: &str, text: &str) {
    let lines: Vec<(&str, Vec<&str>)> = text
        .lines()
        .map(str::trim)
        .filter_map(|line| line.split_once(' '))
        .map(|(word, rest)| {
            (word, rest.split(',').flat_map(|part| part.split_whitespace().next()).collect())
        })
        .collect();
    let vector = |word: &str| ["v_", "ds_", "global_"].iter().any(|kind| word.starts_with(kind));
    let computes = |word: &str| {
        word.starts_with("s_")
            && !["s_load", "s_wait", "s_barrier", "s_cbranch", "s_branch", "s_nop"]
                .iter()
                .any(|w| word.starts_with(w))
    };
    let sources = |word: &str, operands: &[&str]| -> Vec<u32> {
        let skip =
            usize::from((computes(word) && !word.starts_with("s_cmp")) || word.starts_with("v_"));
        operands.iter().skip(skip).flat_map(|operand| scalars(operand)).collect()
    };
    let read: BTreeSet<u32> = lines
        .iter()
        .filter(|(word, _)| vector(word))
        .flat_map(|(word, operands)| sources(word, operands))
        .map(|s| s / 2)
        .collect();
    let (mut by_scalar, mut by_vector) = (BTreeSet::new(), BTreeSet::new());
    let mut waits = 0;
    for (word, operands) in &lines {
        if *word == "s_wait_alu" {
            waits += 1;
            match operands.first() {
                Some(&"depctr_sa_sdst(0)") => by_scalar.clear(),
                Some(&"depctr_va_sdst(0)") => by_vector.clear(),
                _ => {}
            }
        }
        for register in sources(word, operands) {
            if (computes(word) || word.starts_with("v_")) && by_scalar.contains(&register) {
                panic!("{arch}: `{word}` {operands:?} reads s{register} too early\n{text}");
            }
            assert!(
                !word.starts_with("v_") || !by_vector.contains(&register),
                "{arch}: `{word}` {operands:?} reads s{register} too early\n{text}"
            );
        }
        let written = operands.first().map_or(Vec::new(), |operand| scalars(operand));
        for register in written.into_iter().filter(|register| read.contains(&(register / 2))) {
            if computes(word) && !word.starts_with("s_cmp") {
                by_scalar.insert(register);
            } else if word.starts_with("v_") {
                by_vector.insert(register);
            }
        }
    }
    assert!(waits > 0, "{arch}: no wait at all\n{text}");
}

/// Runs a text of `gemm.tile`'s interface; every element of C is compared, inside the block's tile
/// and outside.
fn product_is_right(text: &str, arch: &str, threads: u32, (tile, k): (u32, u32)) {
    let (m, n) = (256u32, 256u32);
    let a: Vec<f32> = (0..m * k).map(|i| ((i * 7 + i / k) % 13) as f32 - 6.0).collect();
    let b: Vec<f32> = (0..k * n).map(|i| ((i * 5 + i / n) % 11) as f32 - 5.0).collect();
    let mut memory = Memory::new();
    let (ia, ib, ic) = (
        memory.add_f16("A", &a),
        memory.add_f16("B", &b),
        memory.add_f32("C", &vec![7.0; (m * n) as usize]),
    );
    let kernel = Kernel::parse_amdgcn(text).unwrap_or_else(|e| panic!("{arch}: {e}\n{text}"));
    let launch = Launch::new(threads, params(&[(ia, m, k), (ib, k, n), (ic, m, n)], &[128, 0, k]))
        .banks(banks(arch));
    run(&kernel, &launch, &mut memory)
        .unwrap_or_else(|f| panic!("{arch}, {threads} threads: {f}\n{text}"));
    for (at, &got) in memory.f32s(ic).iter().enumerate() {
        let (i, j) = (at as u32 / n, at as u32 % n);
        let want = if (128..128 + tile).contains(&i) && j < tile {
            (0..k).map(|x| a[(i * k + x) as usize] * b[(x * n + j) as usize]).sum()
        } else {
            7.0
        };
        assert_eq!(got, want, "{arch}, {threads} threads: row {i}, column {j}");
    }
}

#[test]
fn products_are_right() {
    for arch in REPLAYED {
        for threads in [128, 256] {
            let text =
                try_kernel_text(&gemm(threads), arch).unwrap_or_else(|e| panic!("{arch}: {e}"));
            product_is_right(&text, arch, threads, (128, 128));
        }
    }
}

/// Products of eight-bit floats: OCP's, and CDNA3's own kind, which has no other.
#[test]
fn eight_bit_products_are_right() {
    let (m, n, k) = (256u32, 256u32, 256u32);
    let (a, b): (Vec<f32>, Vec<f32>) = (
        (0..m * k).map(|i| ((i * 7 + i / k) % 13) as f32 - 6.0).collect(),
        (0..n * k).map(|i| ((i * 5 + i / k) % 11) as f32 - 5.0).collect(),
    );
    let ocp = example("gemm_fp8.tile");
    let fnuz = ocp.replace("e4m3", "e4m3fnuz");
    for (arch, source, bias) in [
        ("gfx950", &ocp, 0),
        ("gfx942", &fnuz, 8),
        ("gfx1200", &ocp, 0),
        ("gfx1200.w64", &ocp, 0),
        ("gfx1250", &ocp, 0),
        ("gfx1251", &ocp, 0),
    ] {
        let text = try_kernel_text(source, arch).unwrap_or_else(|e| panic!("{arch}: {e}"));
        // One more in the exponent for the bias of 8.
        let bytes = |values: &[f32]| -> Vec<u8> {
            values.iter().map(|v| if *v == 0.0 { 0 } else { e4m3(*v) + bias }).collect()
        };
        let mut memory = Memory::new();
        let (ia, ib, ic) = (
            memory.add("A", bytes(&a)),
            memory.add("B", bytes(&b)),
            memory.add_f32("C", &vec![7.0; (m * n) as usize]),
        );
        let kernel = Kernel::parse_amdgcn(&text).unwrap_or_else(|e| panic!("{arch}: {e}\n{text}"));
        let launch = Launch::new(128, params(&[(ia, m, k), (ib, n, k), (ic, m, n)], &[128, 0, k]))
            .banks(banks(arch));
        run(&kernel, &launch, &mut memory).unwrap_or_else(|f| panic!("{arch}: {f}\n{text}"));
        for (at, &got) in memory.f32s(ic).iter().enumerate() {
            let (i, j) = (at as u32 / n, at as u32 % n);
            let want = if i >= 128 && j < 128 {
                (0..k).map(|x| a[(i * k + x) as usize] * b[(j * k + x) as usize]).sum()
            } else {
                7.0
            };
            assert_eq!(got, want, "{arch}: row {i}, column {j}");
        }
    }
    // Neither takes the other's: the bits would mean other numbers. They become halves first, which
    // takes more registers than there is room for here.
    for (arch, source) in [("gfx942", &ocp), ("gfx950", &fnuz), ("gfx1200", &fnuz)] {
        let why = try_kernel_text(source, arch).expect_err("another type");
        let known = ["Capacity { pool: Tuples", "Emit(Inst(Pool {"];
        assert!(known.iter().any(|said| why.starts_with(said)), "{arch}: {why}");
    }
}

/// Positions of the lines of a text that begin with a word.
fn lines_with(text: &str, word: &str) -> Vec<usize> {
    text.lines()
        .enumerate()
        .filter(|(_, line)| line.trim_start().starts_with(word))
        .map(|(at, _)| at)
        .collect()
}

/// A product whose operands do not fit the registers all at once is loaded a stretch of its depth
/// at a time, and right.
#[test]
fn deep_products_are_loaded_slice_by_slice() {
    let deep = gemm(64)
        .replace("128x64", "64x256")
        .replace("64x128", "256x64")
        .replace("128x128", "64x64")
        .replace("step 64", "step 256");
    let arch = "gfx950";
    with_kernel(&deep, arch, |program, compiled, text| {
        let (products, loads) = (lines_with(text, "v_mfma"), lines_with(text, "ds_read"));
        assert!(
            products.first() < loads.last() && loads.first() < products.first(),
            "all loads before the products\n{text}"
        );
        product_is_right(text, arch, 64, (64, 512));
        check::plan(&TABLES, program, &compiled.plan).unwrap_or_else(|v| panic!("{v:?}"));
        check::order(&TABLES, program, compiled).unwrap_or_else(|v| panic!("{v:?}"));
    });
    // An input of more registers than a tuple has is never whole.
    let text = gemm(128)
        .replace("128x64", "128x256")
        .replace("64x128", "256x128")
        .replace("step 64", "step 256");
    with_kernel(&text, arch, |program, compiled, text| {
        product_is_right(text, arch, 128, (128, 256));
        check::plan(&TABLES, program, &compiled.plan).unwrap_or_else(|v| panic!("{v:?}"));
        check::order(&TABLES, program, compiled).unwrap_or_else(|v| panic!("{v:?}"));
    });
    // One that fits has all its loads first.
    let text = try_kernel_text(&gemm(128), arch).unwrap_or_else(|e| panic!("{e}"));
    assert!(
        lines_with(&text, "ds_read").last() < lines_with(&text, "v_mfma").first(),
        "loads between products\n{text}"
    );
}

/// A tile of C for 128 lanes, and one in eight bits, on machines of waves of 32 and 64 lanes:
/// nothing is refused for want of registers.
#[test]
fn large_products_fit() {
    let fit = [
        ("gemm.tile", &["gfx90a", "gfx942", "gfx950", "gfx1200", "gfx1201", "gfx1250"][..]),
        (
            "gemm_bt.tile",
            &["gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1150", "gfx1200", "gfx1201", "gfx1250"]
                [..],
        ),
        // In waves of 64 lanes more loads are in flight at once than are told apart.
        ("gemm_fp8.tile", &["gfx950", "gfx1200", "gfx1201", "gfx1200.w64", "gfx1201.w64"][..]),
    ];
    for (name, archs) in fit {
        for &arch in archs {
            let (_, target) = self::archs()
                .find(|(known, _)| *known == arch)
                .unwrap_or_else(|| panic!("{arch} is gone"));
            let text = try_kernel_text(&example(name), arch)
                .unwrap_or_else(|e| panic!("{name}, {arch}: {e}"));
            assemble(arch, target, &text);
            with_kernel(&example(name), arch, |program, compiled, _| {
                check::plan(&TABLES, program, &compiled.plan)
                    .unwrap_or_else(|v| panic!("{name}, {arch}: {v:?}"));
                check::order(&TABLES, program, compiled)
                    .unwrap_or_else(|v| panic!("{name}, {arch}: {v:?}"));
            });
        }
    }
}

/// Direct loads to shared memory write one run a wave. What keeps the other side's reads free of
/// conflicts stands between the runs (padding) or in the global addresses (the swizzle, inverted):
/// legal both, and the cheaper one is taken.
#[test]
fn direct_loads_are_padded_or_swizzled_by_cost() {
    for (arch, padded, mover) in
        [("gfx942", false, "global_load_lds_dword "), ("gfx950", true, "global_load_lds_dwordx4 ")]
    {
        with_kernel(&example("transpose.tile"), arch, |_, compiled, text| {
            assert!(
                !lines_with(text, mover).is_empty() && lines_with(text, "ds_write").is_empty(),
                "{arch}\n{text}"
            );
            let is_padded = |layout: &SharedLayout| matches!(layout.post, PostMap::Padding(_));
            let is_swizzled = |layout: &SharedLayout| matches!(layout.post, PostMap::Swizzle(_));
            let picked = &compiled.plan.allocs.first().expect("a tile").layout;
            assert_eq!(
                (is_padded(picked), is_swizzled(picked)),
                (padded, !padded),
                "{arch}: {picked:?}"
            );
            let dearer = compiled.plan.rejected.iter().filter(|loser| loser.why == Reject::Dearer);
            let others = dearer.filter(|loser| matches!(loser.what, Candidate::Shared(l) if if padded { is_swizzled(&l) } else { is_padded(&l) }));
            assert!(others.count() > 0, "{arch}: the other form lost for another reason");
        });
    }
}

#[test]
fn transposes_are_right() {
    let (rows, cols) = (128u32, 64u32);
    let a: Vec<f32> = (0..rows * cols).map(|i| i as f32).collect();
    for arch in REPLAYED.into_iter().chain(["gfx1030", "gfx1030.w64"]) {
        let text = try_kernel_text(&example("transpose.tile"), arch)
            .unwrap_or_else(|e| panic!("{arch}: {e}"));
        let mut memory = Memory::new();
        let (ia, ib) =
            (memory.add_f32("A", &a), memory.add_f32("B", &vec![-1.0; (rows * cols) as usize]));
        let kernel = Kernel::parse_amdgcn(&text).unwrap_or_else(|e| panic!("{arch}: {e}\n{text}"));
        let launch = Launch::new(128, params(&[(ia, rows, cols), (ib, cols, rows)], &[64, 0]))
            .banks(banks(arch));
        run(&kernel, &launch, &mut memory).unwrap_or_else(|f| panic!("{arch}: {f}\n{text}"));
        for (at, &got) in memory.f32s(ib).iter().enumerate() {
            let (i, j) = (at as u32 / rows, at as u32 % rows);
            let want = if j >= 64 { a[(j * cols + i) as usize] } else { -1.0 };
            assert_eq!(got, want, "{arch}: row {i}, column {j}");
        }
    }
}

/// Registers that an operand names: `v3` or `v[3:6]`.
fn vector_registers(operand: &str) -> Vec<u32> {
    let Some(rest) = operand.trim().strip_prefix('v') else { return Vec::new() };
    match rest
        .strip_prefix('[')
        .and_then(|range| range.strip_suffix(']'))
        .and_then(|range| range.split_once(':'))
    {
        Some((first, last)) => (first.parse().unwrap()..=last.parse().unwrap()).collect(),
        None => rest.parse().into_iter().collect(),
    }
}

/// What the transcendental unit computes: gfx1100 waits before a vector instruction reads it,
/// gfx1250 has a vector instruction between them and before one that overwrites what the unit
/// reads, RDNA3.5 and gfx12 need neither (llc's hazard recognizer says the same of each).
#[test]
fn results_of_the_transcendental_unit_are_not_read_too_early() {
    let (mut reads, mut waits) = (0, 0);
    for (arch, _) in
        archs().filter(|(_, target)| target.starts_with("gfx11") || target.starts_with("gfx12"))
    {
        let (waiting, apart) = (arch.starts_with("gfx1100"), arch.starts_with("gfx125"));
        let mut kernels = 0;
        for program in ["attention.tile", "layer_norm.tile"] {
            let Ok(text) = try_kernel_text(&example(program), arch) else { continue };
            kernels += 1;
            // Registers of results that nothing has waited for; result and source of a
            // transcendental instruction right before.
            let mut open: BTreeSet<u32> = BTreeSet::new();
            let mut last: Option<(Vec<u32>, Vec<u32>)> = None;
            for line in text.lines().map(str::trim) {
                if line == "s_waitcnt_depctr depctr_va_vdst(0)" {
                    assert!(waiting, "{arch}: a wait that is not needed");
                    open.clear();
                    waits += 1;
                }
                let Some((name, operands)) =
                    line.split_once(' ').filter(|(name, _)| name.starts_with("v_"))
                else {
                    if line == "v_nop" {
                        last = None;
                    }
                    continue;
                };
                let mut operands = operands.split(", ").map(vector_registers);
                let (written, read) =
                    (operands.next().unwrap_or_default(), operands.flatten().collect::<Vec<_>>());
                reads += read.iter().filter(|r| open.contains(r)).count();
                assert!(!waiting || read.iter().all(|r| !open.contains(r)), "{arch}: {line}");
                if let Some((result, source)) = last.take().filter(|_| apart) {
                    assert!(
                        !read.iter().any(|r| result.contains(r))
                            && !written.iter().any(|r| source.contains(r)),
                        "{arch}: {line}"
                    );
                }
                written.iter().for_each(|r| {
                    open.remove(r);
                });
                if ["v_exp_f32", "v_rsq_f32", "v_rcp_f32"].contains(&name) {
                    open.extend(written.iter().copied());
                    last = Some((written, read));
                }
            }
        }
        assert!(kernels > 0, "{arch}");
    }
    assert!(reads > 0 && waits > 0, "{reads} {waits}");
}

/// Where a work-group could be spread over two compute units with a vector cache each, kernels ask
/// for one: a barrier then orders global memory. The replay refuses the other mode, in which it
/// would not.
#[test]
fn groups_stay_on_one_compute_unit() {
    const MODE: &str = ".amdhsa_workgroup_processor_mode";
    let mut asked = 0;
    for (arch, _) in archs().filter(|(arch, _)| REPLAYED.contains(arch)) {
        let text = try_kernel_text(&example("transpose.tile"), arch)
            .unwrap_or_else(|e| panic!("{arch}: {e}"));
        let can = ["gfx10", "gfx11", "gfx120"].iter().any(|family| arch.starts_with(family));
        assert_eq!(text.contains(&format!("{MODE} 0")), can, "{arch}");
        if can {
            asked += 1;
            let other = text.replace(&format!("{MODE} 0"), &format!("{MODE} 1"));
            assert!(Kernel::parse_amdgcn(&text).is_ok(), "{arch}");
            assert!(
                Kernel::parse_amdgcn(&other)
                    .err()
                    .is_some_and(|e| e.to_string().contains("WGP mode")),
                "{arch}"
            );
        }
    }
    assert_eq!(asked, 4);
}
