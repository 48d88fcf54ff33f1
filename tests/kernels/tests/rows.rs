//! Kernels with reductions along rows: layer norm and attention in many shapes, against a plain
//! reference, and with planted faults. (The examples themselves run on every architecture in
//! `every.rs`.)
#![allow(missing_docs)]

use lanebook::{TABLES, check};
use lanebook_kernels::judge::{attention, layer_norm};
use lanebook_kernels::maps::kernel_maps;
use lanebook_kernels::{Assembler, example, try_kernel_text, with_kernel};

/// The example for another shape.
fn layer_norm_of(rows: u32, cols: u32, threads: u32) -> String {
    let text = example("layer_norm.tile");
    let text = text.replace("0.0009765625", &format!("{}", 1.0 / f64::from(cols)));
    let text = text
        .replace("x1024x", &format!("x{cols}x"))
        .replace("<8x", &format!("<{rows}x"))
        .replace("div = 8", &format!("div = {rows}"));
    text.replace("threads = 128", &format!("threads = {threads}"))
}

/// The example for another shape: so many rows of Q, so many keys a turn; the depth stays.
fn attention_of(rows: u32, keys: u32, threads: u32) -> String {
    let text = example("attention.tile");
    let mut out = String::new();
    for line in text.lines() {
        let name = line.trim_start().split([' ', ',']).next().unwrap_or("").trim_start_matches('%');
        // Which tiles are rows x depth, keys x depth, depth x keys, rows x keys.
        let (mut line, shape) = (line.to_string(), "64x64x");
        let (qd, kd, dk, qk) = (
            format!("{rows}x64x"),
            format!("{keys}x64x"),
            format!("64x{keys}x"),
            format!("{rows}x{keys}x"),
        );
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
            "zs" | "s" | "t" | "u" | "p" | "ph" | "pc" | "c" | "tm" | "ps" | "mb" => {
                swap(&line, &[&qk, &qk])
            }
            "ab" | "ib" | "o" | "tiled_store" | "scf.yield" => swap(&line, &[&qd, &qd]),
            "copy" if line.contains("%sq") => swap(&line, &[&qd]),
            "copy" => swap(&line, &[&kd]),
            _ => line,
        };
        line = line
            .replace("<64xf32>", &format!("<{rows}xf32>"))
            .replace("step 64", &format!("step {keys}"));
        line = line
            .replace("%m: index {div = 64}", &format!("%m: index {{div = {rows}}}"))
            .replace("threads = 128", &format!("threads = {threads}"));
        out.push_str(&line);
        out.push('\n');
    }
    out
}

/// A row in one lane's neighbours, in one warp, over two and over all warps; rows of three and five
/// panels. The example for another shape, and its text, which the architecture's assembler takes.
fn assembled_attention(arch: &str, rows: u32, keys: u32, threads: u32) -> (String, String) {
    let source = attention_of(rows, keys, threads);
    let text = try_kernel_text(&source, arch)
        .unwrap_or_else(|e| panic!("{arch} {rows} {keys} {threads}: {e}\n{source}"));
    Assembler::of(arch)
        .assemble(&text, arch)
        .unwrap_or_else(|said| panic!("{arch}: {said}\n{text}"));
    (source, text)
}

#[test]
fn layer_norm_of_other_shapes() {
    for (rows, cols, threads) in [
        (64, 32, 128),
        (16, 256, 128),
        (4, 2048, 256),
        (8, 512, 64),
        (8, 384, 128),
        (16, 640, 256),
        (24, 128, 128),
    ] {
        let source = layer_norm_of(rows, cols, threads);
        for arch in ["sm_80", "gfx942", "gfx950"] {
            let text = try_kernel_text(&source, arch)
                .unwrap_or_else(|e| panic!("{arch} {rows}x{cols} {threads}: {e}"));
            Assembler::of(arch)
                .assemble(&text, arch)
                .unwrap_or_else(|said| panic!("{arch}: {said}\n{text}"));
            let wrong = layer_norm(arch, (&text, &[]), threads, (rows, cols), rows)
                .unwrap_or_else(|f| panic!("{arch} {rows}x{cols} {threads}: {f:?}\n{text}"));
            assert_eq!(wrong, 0, "{arch} {rows}x{cols} {threads}\n{text}");
        }
    }
}

#[test]
fn attention_of_other_shapes() {
    for (rows, keys, threads) in [(128, 64, 128), (64, 32, 64), (128, 128, 256), (64, 128, 128)] {
        for arch in ["sm_80", "gfx942", "gfx950"] {
            let (_, text) = assembled_attention(arch, rows, keys, threads);
            let (wrong, _) = attention(arch, (&text, &[]), threads, (rows, 64), rows, 2 * keys)
                .unwrap_or_else(|f| panic!("{arch} {rows} {keys}: {f:?}\n{text}"));
            assert_eq!(wrong, 0, "{arch} {rows} {keys} {threads}\n{text}");
        }
    }
}

/// Both products by the matrix unit that reads B from shared memory: what the first one leaves in
/// registers is the second one's A as it stands.
#[test]
fn attention_by_a_unit() {
    let arch = "sm_90a";
    for (rows, keys, threads) in [(64, 64, 128), (128, 64, 256), (64, 128, 128)] {
        let (source, text) = assembled_attention(arch, rows, keys, threads);
        let units: Vec<&str> = text.lines().filter(|l| l.contains("wgmma.mma_async")).collect();
        assert!(!text.contains("mma.sync") && !units.is_empty(), "{rows} {keys} {threads}\n{text}");
        // A from registers is a second list of them.
        assert!(
            units.iter().all(|l| l.matches('{').count() == 2),
            "{rows} {keys} {threads}\n{text}"
        );
        assert!(
            !text.contains("st.shared") && !text.contains("stmatrix"),
            "{rows} {keys} {threads}\n{text}"
        );
        let run = |text: &str, keys: u32| {
            attention(arch, (text, &kernel_maps(&source, arch)), threads, (rows, 64), 0, keys)
                .map(|(wrong, _)| wrong)
        };
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
        let around: Vec<usize> = (0..lines.len())
            .filter(|k| {
                ["wgmma.fence", "wgmma.commit", "wgmma.wait"].iter().any(|w| lines[*k].contains(w))
            })
            .collect();
        assert_eq!(around.len(), 6, "{text}");
        for at in around {
            let less: String = lines
                .iter()
                .enumerate()
                .filter(|(k, _)| *k != at)
                .map(|(_, l)| format!("{l}\n"))
                .collect();
            assert!(!matches!(run(&less, 128), Ok(0)), "without line {at}: {}", lines[at]);
        }
    }
}

/// Both products by the unit that leaves its sums in tensor memory: what the first one leaves is
/// rounded and stored as the second one's A, and the second one's sums are scaled between two
/// turns.
#[test]
fn attention_in_tensor_memory() {
    let arch = "sm_100a";
    for (rows, keys, threads) in [(64, 64, 128), (128, 64, 128), (64, 128, 128)] {
        let (source, text) = assembled_attention(arch, rows, keys, threads);
        let units: Vec<&str> = text.lines().filter(|l| l.contains("tcgen05.mma")).collect();
        assert!(
            !text.contains("mma.sync") && !text.contains("st.shared"),
            "{rows} {keys} {threads}\n{text}"
        );
        // A in tensor memory is a second address.
        assert!(
            units.iter().any(|l| l.matches('[').count() == 2),
            "{rows} {keys} {threads}\n{text}"
        );
        let run = |text: &str, keys: u32| {
            attention(arch, (text, &kernel_maps(&source, arch)), threads, (rows, 64), 0, keys)
                .map(|(wrong, _)| wrong)
        };
        assert_eq!(run(&text, 2 * keys), Ok(0), "{rows} {keys} {threads}\n{text}");
        if rows * keys > 64 * 64 {
            continue;
        }
        with_kernel(&source, arch, |program, compiled, text| {
            check::plan(&TABLES, program, &compiled.plan).unwrap_or_else(|v| panic!("{v:?}"));
            check::order(&TABLES, program, compiled).unwrap_or_else(|v| panic!("{v:?}\n{text}"));
        });
        for what in [
            "tcgen05.wait::st",
            "tcgen05.wait::ld",
            "tcgen05.fence::before",
            "tcgen05.fence::after",
            "tcgen05.commit",
            "tcgen05.st.",
        ] {
            let less: String =
                text.lines().filter(|l| !l.contains(what)).map(|l| format!("{l}\n")).collect();
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
                check::plan(&TABLES, program, &compiled.plan)
                    .unwrap_or_else(|v| panic!("{name} {arch}: {v:?}"));
                check::order(&TABLES, program, compiled)
                    .unwrap_or_else(|v| panic!("{name} {arch}: {v:?}\n{text}"));
            });
        }
    }
}

/// Each exchange between lanes that is left out, or made with other lanes, and each missing barrier
/// shows.
#[test]
fn planted_faults_are_caught() {
    for (name, arch) in [
        ("layer_norm.tile", "sm_80"),
        ("attention.tile", "sm_80"),
        ("layer_norm.tile", "gfx942"),
        ("attention.tile", "gfx942"),
    ] {
        let text = try_kernel_text(&example(name), arch).expect("a kernel");
        let right = |text: &str| match name {
            "layer_norm.tile" => layer_norm(arch, (text, &[]), 128, (8, 1024), 0) == Ok(0),
            _ => attention(arch, (text, &[]), 128, (64, 64), 0, 128)
                .is_ok_and(|(wrong, _)| wrong == 0),
        };
        assert!(right(&text));
        let lines: Vec<&str> = text.lines().collect();
        let exchange = |l: &str| {
            ["shfl.sync", "v_mov_b32_dpp", "ds_swizzle", "ds_bpermute", "v_permlane"]
                .iter()
                .any(|w| l.trim_start().starts_with(w))
        };
        let with = |at: usize, line: Option<&str>| -> String {
            let kept =
                lines.iter().enumerate().filter_map(|(k, l)| if k == at { line } else { Some(*l) });
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
            // By four, the first lane, which alone may be read, would still get the other half.
            ("row_ror:8", "row_ror:12"),
        ];
        let mut tried = 0;
        for (from, to) in swaps {
            if let Some(&at) = found.iter().find(|at| lines[**at].contains(from)) {
                tried += 1;
                assert!(
                    !right(&with(at, Some(&lines[at].replace(from, to)))),
                    "{name} {arch}: line {at} with {to}"
                );
            }
        }
        assert!(tried > 0 || arch == "gfx942", "{name} {arch}: a mask to break");
        let barriers: Vec<usize> = (0..lines.len())
            .filter(|k| {
                ["bar.sync", "s_barrier"].iter().any(|w| lines[*k].trim_start().starts_with(w))
            })
            .collect();
        assert!(!barriers.is_empty(), "{name} {arch}: barriers");
        for at in barriers {
            assert!(!right(&with(at, None)), "{name} {arch}: the barrier at line {at} left out");
        }
    }
}
