//! Generated programs of every kind (`tests/kernels/programs`) on an architecture of each kind:
//! what is compiled computes what the program says, by the reference that reads the program's own
//! text: on every fourth kernel that differs from those before, from program to program other ones,
//! or on all, as [`sweeps_all`] says. The first line of each says on how many of these architectures at least, and how often
//! loops turn whose bound is an argument, if not twice: `// right: 14 at 0, 1, 2, 3, 5 turns`.
#![allow(missing_docs)]

use lanebook::TABLES;
use lanebook_kernels::interpret::inputs::Fill;
use lanebook_kernels::interpret::{Given, Interpreted};
use lanebook_kernels::judge::{parsed, run_text};
use lanebook_kernels::maps::{KernelMap, kernel_maps, try_text_and_maps};
use lanebook_kernels::{assembled, kernel_text, parallel, sweeps_all};
use lanebook_report::passes::passed;

const ARCHS: [&str; 14] = [
    "sm_75",
    "sm_80",
    "sm_89",
    "sm_90a",
    "sm_100a",
    "sm_120a",
    "gfx908",
    "gfx90a",
    "gfx942",
    "gfx950",
    "gfx1030",
    "gfx1100",
    "gfx1200.w64",
    "gfx1250",
];

fn folder() -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("programs")
}

fn programs() -> Vec<(String, String)> {
    let mut out: Vec<(String, String)> = std::fs::read_dir(folder())
        .expect("programs")
        .map(|entry| entry.expect("an entry").path())
        .map(|path| {
            (
                path.file_name().expect("a name").to_string_lossy().into_owned(),
                std::fs::read_to_string(&path).expect("a program"),
            )
        })
        .collect();
    out.sort();
    out
}

/// On how many architectures a program compiles at the least, and how often its loops turn.
fn promised(program: &str) -> Option<(usize, Vec<u32>)> {
    let said = program.lines().next()?.strip_prefix("// right: ")?;
    match said.split_once(" at ") {
        None => Some((said.parse().ok()?, vec![2])),
        Some((least, turns)) => Some((
            least.parse().ok()?,
            turns
                .strip_suffix(" turns")?
                .split(", ")
                .map(|t| t.parse().ok())
                .collect::<Option<_>>()?,
        )),
    }
}

#[test]
fn what_a_program_says_is_what_it_does() {
    let programs = programs();
    assert!(programs.len() >= 15, "{} programs", programs.len());
    let programs: Vec<(usize, (String, String))> = programs.into_iter().enumerate().collect();
    let turned =
        parallel::each(&programs, |(number, (name, program))| right(*number, name, program));
    let most = turned.into_iter().max().unwrap_or(0);
    assert!(most >= 5, "no program at {most} numbers of turns");
}

/// How often the loops of a program that is right turn.
fn right(number: usize, name: &str, program: &str) -> usize {
    let (least, turns) = promised(program).unwrap_or_else(|| panic!("{name}: how many"));
    let given = |turns: &u32| Given { turns: *turns, salt: 0, fill: Some(Fill::Small) };
    let said: Vec<Interpreted> = turns
        .iter()
        .map(|t| Interpreted::with(program, given(t)).unwrap_or_else(|e| panic!("{name}: {e}")))
        .collect();
    assert!(
        turns == [2] || said.iter().all(|said| said.is_bounded),
        "{name}: no loop turns as often as it is told"
    );
    let (mut right, mut seen): (usize, Vec<(String, Vec<KernelMap>)>) = (0, Vec::new());
    for arch in ARCHS {
        let (text, maps) = match try_text_and_maps(program, arch) {
            Ok(made) => made,
            Err(why) => {
                println!("{name}, {arch}: refused: {why}");
                continue;
            }
        };
        right += 1;
        let body = (text.splitn(4, '\n').nth(3).unwrap_or("").to_string(), maps.clone());
        if seen.contains(&body) {
            continue;
        }
        seen.push(body);
        if !sweeps_all() && seen.len() > 1 && !(number + seen.len()).is_multiple_of(4) {
            continue;
        }
        assembled(arch, &text).unwrap_or_else(|e| panic!("{name}, {arch}: {e}\n{text}"));
        for (said, turns) in said.iter().zip(&turns) {
            run_text(said, &text, &maps, arch)
                .unwrap_or_else(|e| panic!("{name}, {arch}, {turns} turns: {e}\n{text}"));
        }
    }
    assert!(right >= least, "{name}: compiled for {right} architectures, {least} before");
    said.len()
}

const PASSES: [&str; 4] =
    ["default-layouts", "coalesce", "accelerate-matmul", "remove-conversions"];

/// Instructions of a text.
fn instructions(text: &str, arch: &str) -> usize {
    let kernel = parsed(text, arch).unwrap_or_else(|e| panic!("{arch}: {e}\n{text}"));
    kernel.instructions().len()
}

/// What passes decide is what is compiled: of programs that once took up to three times as many
/// instructions after passes, of some that take fewer, and of every eightieth on one of four architectures in turn, what
/// passes leave is compiled, takes at most a twentieth more, computes the same, and all together
/// take no more.
#[test]
fn what_passes_decide_costs_no_more() {
    const ON: [&str; 4] = ["sm_80", "sm_90a", "gfx942", "gfx1200"];
    const NAMED: [(&str, &str); 12] = [
        ("heads_side_by_side.tile", "gfx1200"),
        ("cast_of_bytes_apart.tile", "sm_80"),
        ("one_narrow_tile_two_products.tile", "sm_90a"),
        ("sum_converted_residual.tile", "sm_80"),
        ("kernel_returns_early.tile", "gfx942"),
        ("dead_product_waits.tile", "gfx1200"),
        ("product_less_its_columns_maximum.tile", "sm_90a"),
        ("gathered_gemm.tile", "sm_80"),
        ("pointers_strided.tile", "gfx942"),
        ("atomics_through_pointers.tile", "sm_80"),
        ("converted_by_warp.tile", "sm_90a"),
        ("state_is_sum_and_factor.tile", "sm_80"),
    ];
    let all = programs();
    // Where nothing is done there is nothing to decide.
    let active = all.iter().filter(|(name, _)| name != "nothing.tile");
    let in_turn = active.step_by(80).zip(ON.into_iter().cycle());
    let named = NAMED
        .iter()
        .map(|(name, arch)| (all.iter().find(|(own, _)| own == name).expect("the program"), *arch));
    let cases: Vec<(&(String, String), &str)> = named.chain(in_turn).collect();
    let counts = parallel::each(&cases, |((name, program), arch)| decided(name, program, arch));
    let counts: Vec<(usize, usize)> = counts.into_iter().flatten().collect();
    assert!(counts.len() >= 15, "{}", counts.len());
    let sum = |of: fn(&(usize, usize)) -> usize| counts.iter().map(of).sum::<usize>();
    let (own, left) = (sum(|of| of.0), sum(|of| of.1));
    assert!(left <= own, "{left} instructions in all, {own} without passes");
}

/// Instructions of a program, and of what passes leave of it; none where the architecture does not
/// take it.
fn decided(name: &str, program: &str, arch: &str) -> Option<(usize, usize)> {
    let own = try_text_and_maps(program, arch).ok()?.0;
    let of = (arch.to_string(), program.to_string());
    // What passes work in is large.
    let thread = std::thread::Builder::new().stack_size(64 << 20);
    let left = thread.spawn(move || passed(&TABLES, &of.0, &PASSES, &of.1)).expect("a thread");
    let left = left.join().expect("it runs");
    let left = left.unwrap_or_else(|| panic!("{name}, {arch}: a pass refuses it"));
    let (text, maps) =
        try_text_and_maps(&left, arch).unwrap_or_else(|e| panic!("{name}, {arch}: {e}\n{left}"));
    let counts = (instructions(&own, arch), instructions(&text, arch));
    assert!(
        counts.0 > 10 && counts.1 <= counts.0 + counts.0 / 20,
        "{name}, {arch}: {counts:?}\n{left}"
    );
    if text.splitn(4, '\n').nth(3) != own.splitn(4, '\n').nth(3) {
        let given = Given { turns: 2, salt: 0, fill: Some(Fill::Small) };
        let said = Interpreted::with(program, given).unwrap_or_else(|e| panic!("{name}: {e}"));
        run_text(&said, &text, &maps, arch)
            .unwrap_or_else(|e| panic!("{name}, {arch}: {e}\n{left}"));
    }
    Some(counts)
}

/// What one of gfx942's products leaves in the layout of 32 x 32 accumulators is the next one's
/// operand.
#[test]
fn accumulators_of_32_rows_become_operands() {
    let program =
        std::fs::read_to_string(folder().join("a_128_32_32_64_256_bf16.tile")).expect("a program");
    let text = kernel_text(&program, "gfx942");
    assert!(text.matches("v_mfma_f32_32x32x8_bf16").count() >= 8, "{text}");
    let said = Interpreted::new(&program).expect("a program");
    run_text(&said, &text, &[], "gfx942").unwrap_or_else(|e| panic!("{e}\n{text}"));
}

/// The reference is one: another program, another value, another place, and a result that is not
/// written all differ.
#[test]
fn other_meanings_are_seen() {
    let arch = "sm_80";
    for (name, from, to) in [
        ("g_64_16_32_64_bf16_10_bias_f32.tile", "%e = add %r, %bb", "%e = sub %r, %bb"),
        (
            "g_64_16_32_64_bf16_10_bias_f32.tile",
            "tiled_store %e, %C[%m, %n]",
            "tiled_store %r, %C[%m, %n]",
        ),
        ("r_32_192_128_f16_1_min_1.tile", "kind = min", "kind = max"),
        ("t_96_24_64_f16_ss.tile", "%A[%m, %n]", "%A[%m, 0]"),
        ("a_64_32_96_64_128_f16.tile", "0.18033688", "0.16033688"),
    ] {
        let program = std::fs::read_to_string(folder().join(name)).expect("a program");
        let other = program.replace(from, to);
        assert_ne!(program, other, "{name}");
        let (said, meant) = (
            Interpreted::new(&program).expect("a program"),
            Interpreted::new(&other).expect("a program"),
        );
        let text = kernel_text(&program, arch);
        assert_eq!(run_text(&said, &text, &kernel_maps(&program, arch), arch), Ok(()), "{name}");
        assert!(
            run_text(&meant, &text, &kernel_maps(&program, arch), arch).is_err(),
            "{name}: {from}, {to}"
        );
    }
    // What is not understood is said.
    assert!(Interpreted::new("func @f(%A: memref<?x?xf32, #gmem>) {threads = 32} {\n  %x = wish %A : tensor<8x8xf32>\n}\n").is_err());
}
