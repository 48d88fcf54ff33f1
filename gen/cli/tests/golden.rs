//! What the command prints, byte for byte. `LANEBOOK_BLESS=1 cargo test -p lanebook-cli --test
//! golden` writes it anew.

use crate::support::{example, folder, golden, run, run_in};
use std::fs;

fn compiled(program: &str, arch: &str, emit: &str, more: &[&str]) -> String {
    let file = format!("gen/cli/examples/{program}.tile");
    let mut args = vec!["compile", &file, "--arch", arch, "--emit", emit];
    args.extend_from_slice(more);
    run(&args).fine()
}

#[test]
fn decisions_and_sequences_of_the_examples() {
    for (arch, isa) in [("sm_80", "ptx"), ("gfx950", "amdgcn")] {
        for program in ["gemm", "transpose"] {
            golden(
                &format!("{program}.{arch}.report"),
                &compiled(program, arch, "report", &["--explain"]),
            );
            golden(&format!("{program}.{arch}.{isa}"), &compiled(program, arch, isa, &[]));
        }
    }
    // Copies through tensor maps: the report says what the caller fills them with.
    golden("gemm.sm_90.report", &compiled("gemm", "sm_90", "report", &["--explain"]));
    // Exchanges through shared memory, and copies out of it.
    golden("layer_norm.sm_80.report", &compiled("layer_norm", "sm_80", "report", &["--explain"]));
    golden("gemm_store.sm_90a.report", &compiled("gemm_store", "sm_90a", "report", &[]));
    golden("gemm_fp8.sm_90a.report", &compiled("gemm_fp8", "sm_90a", "report", &["--explain"]));
}

/// Seed 001's two score examples: its own figures (12, 18 and 1) and those of the tables, and where
/// each difference comes from.
#[test]
fn figures_of_the_seed_beside_those_of_the_tables() {
    let explained = |example: &str, arch: &str, figures: &str| {
        let file = format!("gen/cli/examples/seed_scores.{example}.tile");
        let ran = run(&[
            "opt",
            &file,
            "--arch",
            arch,
            "--passes",
            "assign-layouts",
            "--explain",
            "--figures",
            figures,
        ]);
        ran.fine()
    };
    let seed = "gen/cli/examples/seed_scores.ron";
    golden("seed_scores.free.sm_90a.txt", &explained("free", "sm_90a", seed));
    golden("seed_scores.bound.sm_90a.txt", &explained("bound", "sm_90a", seed));
    // Where the tables do have the instruction, and products read registers only.
    golden("seed_scores.bound.sm_120a.txt", &explained("bound", "sm_120a", seed));
    // Other figures, another difference.
    let at = folder("figures");
    let other = at.join("other.ron");
    let text = "(from: \"a colleague\", figures: [(candidates: [(name: \"mine\", atom: \"ldmatrix.x2\", transactions: 128, registers: 32), (name: \"none\", atom: \"ldmatrix.x4\", transactions: 3)])])";
    fs::write(&other, text).expect("figures");
    let told = explained("bound", "sm_80", &other.display().to_string());
    let has = |part: &str| assert!(told.contains(part), "{part} is not in\n{told}");
    has(
        "transactions  16 instructions x 2 = 32 of a warp; declared 128: 4 times as many, as of 4 warps",
    );
    has("difference    -96 (transactions -96 x 1)");
    has("difference    +37 (transactions +29 x 1, registers +32 x 0.25)");
    has("by declared figures: none 3, then mine 136\n");
    // An operation without a name is meant, too: nothing says which.
    has("// tiled_store in line 7, figures of a colleague beside");
    for (wrong, why) in [
        ("ldmatrix.x2", "unknown instruction `ldmatrix.x22`"),
        ("registers", "unknown field `registerss`"),
    ] {
        fs::write(
            &other,
            text.replacen(wrong, &format!("{wrong}{}", wrong.chars().last().expect("a letter")), 1),
        )
        .expect("figures");
        let file = other.display().to_string();
        let ran = run(&[
            "opt",
            "gen/cli/examples/seed_scores.bound.tile",
            "--arch",
            "sm_80",
            "--passes",
            "assign-layouts",
            "--explain",
            "--figures",
            &file,
        ]);
        ran.refused(1, &[why, "1 error in "]);
    }
}

#[test]
fn everything_is_the_report_and_the_sequence() {
    let all = compiled("transpose", "sm_80", "all", &[]);
    let (report, sequence) =
        (compiled("transpose", "sm_80", "report", &[]), compiled("transpose", "sm_80", "ptx", &[]));
    assert_eq!(all, format!("{report}\nsequence\n{sequence}"));
}

#[test]
fn the_built_in_program_is_the_gemm() {
    let built_in = run(&["compile", "--arch", "gfx950"]).fine();
    assert_eq!(built_in, compiled("gemm", "gfx950", "all", &[]));
}

#[test]
fn the_printed_program_compiles_to_the_same() {
    let at = folder("again");
    for arch in ["sm_80", "gfx950"] {
        for program in ["gemm.tile", "transpose.tile"] {
            let first =
                run_in(&at, &["compile", "-", "--arch", arch, "--emit", "ir"], &example(program))
                    .fine();
            assert_eq!(
                run_in(&at, &["compile", "-", "--arch", arch, "--emit", "ir"], &first).fine(),
                first
            );
        }
    }
}

#[test]
fn grids_and_pictures() {
    golden("cute.txt", &run(&["show", "((2,2),4):((1,2),4)"]).fine());
    golden(
        "fragment.txt",
        &run(&["show", "S[(2,8,4,2):(32@bit,4@laneid,1@laneid,16@bit)]"]).fine(),
    );
    golden("swizzle.txt", &run(&["show", "S<3,4,3> o 0 o (8,64):(128,2)", "--unit", "8"]).fine());
    golden("ldmatrix.txt", &run(&["show", "ldmatrix.x2.trans", "--arch", "sm_80"]).fine());
    let coloured = run(&["--color", "always", "show", "(4,8):(8,1)"]).fine();
    assert!(coloured.contains("\x1b["));
    let at = folder("pictures");
    for (name, args) in [
        ("swizzle.svg", vec!["show", "S<2,3,3> o 0 o (8,8):(16,2)", "--unit", "8"]),
        ("mma.svg", vec!["show", "mma.m16n8k8.f32.f16", "--arch", "sm_80"]),
        ("mfma.svg", vec!["show", "v_mfma_f32_16x16x16_f16", "--arch", "gfx950"]),
    ] {
        run_in(&at, &[args.as_slice(), &["-o", name]].concat(), "").fine();
        golden(name, &fs::read_to_string(at.join(name)).expect("picture"));
    }
}

#[test]
fn every_atom_with_a_layout_can_be_drawn() {
    for arch in ["sm_80", "gfx950"] {
        for class in ["move", "matrix"] {
            let list = run(&["atoms", "--arch", arch, "--class", class]).fine();
            let names: Vec<&str> =
                list.lines().skip(1).map_while(|line| line.split_whitespace().next()).collect();
            assert!(names.len() > 2, "{list}");
            // A lane's own loads and stores of spaces that tiles do not live in say no layout.
            let drawn = |name: &&&str| {
                let atom = lanebook::TABLES
                    .atom_named(name)
                    .and_then(|id| lanebook::TABLES.atom(id))
                    .expect(name);
                atom.movement.is_some() || atom.matrix.is_some()
            };
            assert!(names.iter().filter(drawn).count() > 2, "{list}");
            for name in &names {
                let ran = run(&["show", name, "--arch", arch]);
                match drawn(&name) {
                    true => assert!(ran.fine().contains("S["), "{name}"),
                    false => ran.refused(1, &["has no operand with a layout"]),
                }
            }
        }
    }
}

#[test]
fn lists_and_figures() {
    let all = run(&["arch"]).fine();
    assert!(all.contains("sm_80") && all.contains("gfx950"));
    for arch in ["sm_80", "gfx950"] {
        let text = run(&["arch", arch]).fine();
        for word in
            ["wave", "banks", "registers", "synchronisation", "sources", "measured", "assumed"]
                .iter()
                .filter(|w| arch == "gfx950" || **w != "measured")
        {
            assert!(text.contains(word), "{word}");
        }
        let long = run(&["atoms", "--arch", arch, "--long"]).fine();
        assert!(long.contains("source  "));
    }
    let help = run(&["--help"]).fine();
    assert!(help.contains("Exit status"));
    for command in ["compile", "atoms", "show", "check"] {
        assert!(run(&[command, "--help"]).fine().contains("Examples"), "{command}");
    }
}

/// What an architecture can be asked for, all of it and by words; what it cannot is refused.
#[test]
fn capabilities_and_what_answers() {
    for arch in ["sm_80", "gfx942"] {
        golden(&format!("dispatch.{arch}.txt"), &run(&["dispatch", "--arch", arch]).fine());
    }
    let moves =
        run(&["dispatch", "--arch", "gfx950", "transfer", "shared", "register", "--long"]).fine();
    assert!(
        moves.contains("transfer shared register")
            && moves.contains("transfer register shared")
            && !moves.contains("global"),
        "{moves}"
    );
    let json: serde_json::Value = serde_json::from_str(
        &run(&["dispatch", "--arch", "sm_80", "byte-permute", "--format", "json"]).fine(),
    )
    .expect("JSON");
    assert_eq!(json["answers"][0]["atoms"][0], "prmt.b32");
    run(&["dispatch", "--arch", "gfx1030", "product"])
        .refused(1, &["nothing of gfx1030 answers `product`"]);
}

#[test]
fn the_tables_in_the_tree_are_right() {
    let checked = run(&["check", "--draft", "--assemblers", "off"]);
    assert!(checked.code == 0 && checked.out.contains("no errors"), "{}", checked.err);
    let text = run(&["arch", "sm_80"]).fine();
    assert_eq!(run(&["arch", "sm_80", "--tables", "."]).fine(), text);
}

#[test]
fn a_written_layout_is_kept_to() {
    let text = example("gemm.tile")
        .replace("%sa = alloc_tensor", "%sa = alloc_tensor {layout = S[(128,64):(72,1)]}");
    let report = run_in(&folder("kept"), &["compile", "-", "--arch", "sm_80"], &text).fine();
    assert!(report.contains("pad 16 B after every 128 B"), "{report}");
}

#[test]
fn sizes_of_choices() {
    let all = run(&["size"]).fine();
    let bytes = |text: &str, name: &str| -> usize {
        let line = text
            .lines()
            .find(|line| line.ends_with(name))
            .unwrap_or_else(|| panic!("{name} is missing in\n{text}"));
        line.split_whitespace().next().and_then(|n| n.parse().ok()).expect("bytes")
    };
    let (one, other, both) = (
        bytes(&all, " sm_80"),
        bytes(&all, " gfx950"),
        bytes(&run(&["size", "sm_80,gfx950"]).fine(), " sm_80,gfx950"),
    );
    assert!(one < both && other < both && both < one + other, "{all}");
    let whole: usize = all
        .lines()
        .last()
        .and_then(|line| line.split_whitespace().next())
        .and_then(|n| n.parse().ok())
        .expect("bytes");
    assert!(both < whole && all.lines().last().is_some_and(|line| line.contains(" all ")), "{all}");
    run(&["size", "sm_80,vax"]).refused(2, &["unknown architecture `vax`", "known: ", "gfx950"]);
}

#[test]
fn operands_alone_and_layouts_compared() {
    let wgmma = ["show", "wgmma.m64n256k16.f32.f16", "--arch", "sm_90a"];
    let only = |more: &[&str]| run(&[&wgmma[..], more].concat());
    golden("wgmma.d.txt", &only(&["--only", "D"]).fine());
    // In full it has all rows, and says nothing of parts.
    let full = only(&["--only", "D", "--full"]).fine();
    assert!(full.lines().count() > 64 && !full.contains("each time"), "{full}");
    only(&["--only", "E"]).refused(1, &["there is no part `E`", "its parts are A, C, D"]);
    golden("two.txt", &run(&["show", "(8,8):(8,1)", "Sw<2,0,3> o (8,8):(8,1)"]).fine());
    let same = run(&["show", "(4,(2,2)):(1,(4,8))", "(4,4):(1,4)"]).fine();
    assert!(same.contains("the same at all 16 elements") && !same.contains('*'), "{same}");
    run(&["show", "(8,8):(8,1)", "(8,4):(8,1)"]).refused(1, &["has 64 elements", "has 32"]);
    run(&["show", "(8,8):(8,1)", "(8,8):(1,8)", "--unit", "8"])
        .refused(2, &["--unit is for one layout or atom"]);
}

#[test]
fn views_of_an_atom() {
    golden(
        "mma.lanes.txt",
        &run(&["show", "mma.m16n8k16.f32.f16", "--arch", "sm_80", "--view", "lanes"]).fine(),
    );
    // Indices of a sparse operand, scales of a block: operands beside the matrices.
    golden(
        "sparse.lanes.txt",
        &run(&["show", "mma.sp.m16n8k64.s32.s8.s8", "--arch", "sm_80", "--view", "lanes"]).fine(),
    );
    let scaled = run(&["show", "mma.m16n8k64.mxf4nvf4.4X.ue4m3", "--arch", "sm_120a"]).fine();
    assert!(
        scaled.contains("scales of A: 16 x 4 ue4m3") && scaled.contains("scales of B: 4 x 8 ue4m3"),
        "{scaled}"
    );
    golden(
        "ldmatrix.banks.txt",
        &run(&["show", "ldmatrix.x4", "--arch", "sm_80", "--view", "banks"]).fine(),
    );
    let conflicting =
        run(&["show", "ldmatrix.x4", "--arch", "sm_80", "--view", "banks", "--stride", "128"])
            .fine();
    assert!(conflicting.contains("32 passes with slots 128 B apart"), "{conflicting}");
    let at = folder("views");
    run_in(
        &at,
        &[
            "show",
            "v_mfma_f32_32x32x16_f16",
            "--arch",
            "gfx950",
            "--view",
            "lanes",
            "-o",
            "lanes.svg",
        ],
        "",
    )
    .fine();
    let picture = fs::read_to_string(at.join("lanes.svg")).expect("picture");
    // 64 lanes by 4 registers of A and of B, 16 of C and D; each register of A holds two elements
    // of a row.
    assert_eq!(picture.matches("<rect class=\"cell").count(), 64 * (4 + 4 + 16));
    assert!(picture.contains(">31,14-15<"));
}

/// Tensor memory: what a load moves, cell by cell and register by register, and where tiles of
/// accumulators and copies lie.
#[test]
fn tensor_memory_is_drawn() {
    for (what, more) in [
        ("tcgen05.ld.16x64b.x2.b32", &[][..]),
        ("tcgen05.st.16x256b.x1.unpack::16b.b32", &[]),
        ("B", &["--shape", "128x4", "--view", "lanes"]),
        ("G", &["--shape", "32x8"]),
        ("scale", &["--shape", "64x4", "--view", "lanes"]),
        ("cp.64x128b.warpx2::02_13", &["--view", "lanes"]),
    ] {
        let args: Vec<&str> =
            ["show", what, "--arch", "sm_100a"].iter().chain(more).copied().collect();
        golden(&format!("show.tensor.{}", what.replace("::", ".")), &run(&args).fine());
    }
    // The shape of a tile, the architecture, and names are checked.
    run(&["show", "D", "--arch", "sm_100a", "--shape", "100x8"])
        .refused(2, &["`D` has no 100 rows", "such as --shape 128x8"]);
    run(&["show", "D", "--arch", "sm_90a"]).refused(2, &["sm_90a has no atom `D`"]);
    run(&["show", "DD", "--arch", "sm_100a"]).refused(2, &["tiles of tensor memory: A, B, C"]);
    run(&["show", "D", "--arch", "sm_100a", "--view", "banks"]).refused(1, &["no banks"]);
}

/// An instance of a family by its own name: its columns, registers and types.
#[test]
fn instances_are_drawn() {
    let wide = run(&["show", "mma.m16n8k32.f8f6f4.f32.e4m3.e2m1", "--arch", "sm_120a"]).fine();
    assert!(
        wide.contains("A: 16 x 32 e4m3")
            && wide.contains("B: 32 x 8 e2m1")
            && wide.contains(".e4m3.e2m1.f32 <d>"),
        "{wide}"
    );
    let list = run(&["atoms", "--arch", "sm_90a", "--class", "matrix"]).fine();
    let family = list
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .find(|name| name.starts_with("wgmma") && name.contains("{N}"))
        .expect("a family");
    let small = run(&[
        "show",
        &family.replace("{N}", "16").replace("{ta}", "0").replace("{tb}", "0"),
        "--arch",
        "sm_90a",
        "--full",
    ])
    .fine();
    assert!(small.contains("64 x 16 ") && !small.contains("{N}"), "{small}");
}

#[test]
fn atoms_are_filtered() {
    let list = |args: &[&str]| -> Vec<String> {
        let text = run(&[&["atoms"], args].concat()).fine();
        text.lines()
            .skip(1)
            .map_while(|line| line.split_whitespace().next().map(str::to_string))
            .collect()
    };
    let bf16 = list(&["--dtype", "bf16", "--shape", "16x16x32"]);
    assert!(
        bf16.contains(&"v_mfma_f32_16x16x32_bf16".to_string())
            && !bf16.iter().any(|name| name.ends_with("_f16")),
        "{bf16:?}"
    );
    assert_eq!(bf16, list(&["--dtype", "bf16", "--shape", "m16n16k32"]));
    let loads = list(&["--from", "shared", "--to", "register", "--arch", "gfx950"]);
    assert!(
        loads.contains(&"ds_read_b64_tr_b16".to_string())
            && !loads.iter().any(|name| name.contains("write")),
        "{loads:?}"
    );
    let everywhere = run(&["atoms", "--filter", "ldmatrix.x4"]).fine();
    assert!(
        ["ARCHITECTURES", " sm_80 ", " sm_90a "].iter().all(|word| everywhere.contains(word)),
        "{everywhere}"
    );
}

#[test]
fn architectures_are_compared() {
    let text = run(&["diff", "sm_80", "sm_90a"]).fine();
    for line in ["figures\n", "  shared memory\n", "only sm_90a", "atoms: "] {
        assert!(text.contains(line), "`{line}` is missing in\n{text}");
    }
    assert_eq!(
        run(&["diff", "sm_80", "sm_80"]).fine(),
        "sm_80 and sm_80 have the same figures and atoms\n"
    );
}
