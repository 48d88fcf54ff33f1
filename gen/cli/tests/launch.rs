//! `compile --format json`: what it says of a launch is what the kernel's own text declares.

use crate::support::{root, run, run_in};
use serde_json::Value as Json;
use std::fs;
use std::path::PathBuf;

/// Programs with tensor maps, dynamic shared memory, a grid, and the number of blocks as a
/// parameter; on one architecture of each instruction set's spelling.
fn programs() -> Vec<PathBuf> {
    let examples = ["gemm", "gemm_fp8", "gemm_store", "transpose", "layer_norm", "softmax"]
        .map(|name| root().join("gen/cli/examples").join(name).with_extension("tile"));
    let grids = ["grid_gemm_swizzled", "grid_of_copies", "persistent_blocks", "tails_batch"]
        .map(|name| root().join("tests/kernels/programs").join(name).with_extension("tile"));
    examples.into_iter().chain(grids).collect()
}

fn launch(arguments: &[&str]) -> Result<Json, String> {
    let ran = run_in(&root(), arguments, "");
    if ran.code != 0 {
        return Err(ran.err);
    }
    Ok(serde_json::from_str(&ran.out).expect("one JSON object"))
}

fn number(value: &Json) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// Offset and bytes of each parameter, as a PTX text declares them in its own order.
fn declared_in_ptx(text: &str) -> Vec<(u64, u64)> {
    let (_, rest) = text.split_once(".entry").expect("an entry");
    let (_, rest) = rest.split_once('(').expect("parameters");
    let (list, _) = rest.split_once("\n)").expect("their end");
    let mut at = 0;
    let mut out = Vec::new();
    for line in list.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let line = line.trim_end_matches(',');
        let (bytes, align) = match line.strip_prefix(".param .u") {
            Some(rest) => {
                let bits: u64 = rest.split(' ').next().and_then(|n| n.parse().ok()).expect("bits");
                (bits / 8, bits / 8)
            }
            None => {
                let rest = line.strip_prefix(".param .align ").expect("a block");
                let align = rest.split(' ').next().and_then(|n| n.parse().ok()).expect("align");
                let (_, size) = rest.split_once('[').expect("a size");
                (size.trim_end_matches(']').parse().expect("bytes"), align)
            }
        };
        at = u64::next_multiple_of(at, align);
        out.push((at, bytes));
        at += bytes;
    }
    out
}

/// Name, offset, bytes and kind of each argument of AMD's metadata.
fn declared_in_metadata(text: &str) -> Vec<(String, u64, u64, String)> {
    let (_, list) = text.split_once("    .args:\n").expect("arguments");
    let (list, _) = list.split_once("...").expect("the metadata's end");
    let mut out = Vec::new();
    for entry in list.split("      - ").skip(1) {
        let field = |key: &str| {
            let found = entry.lines().find_map(|line| line.trim().strip_prefix(key));
            found.map(|text| text.trim().trim_matches('"').to_string()).unwrap_or_default()
        };
        let number = |key: &str| field(key).parse().unwrap_or_else(|_| panic!("{key} of {entry}"));
        out.push((field(".name:"), number(".offset:"), number(".size:"), field(".value_kind:")));
    }
    out
}

fn says(text: &str, what: &str) {
    assert!(text.contains(what), "the text does not say `{what}`:\n{text}");
}

fn ptx_agrees(json: &Json) {
    let text = json["text"].as_str().expect("text");
    let parameters: Vec<(u64, u64)> = json["parameters"]
        .as_array()
        .expect("parameters")
        .iter()
        .map(|p| (number(&p["offset"]), number(&p["bytes"])))
        .collect();
    assert_eq!(parameters, declared_in_ptx(text));
    says(text, &format!(".entry {}(", json["kernel"].as_str().expect("a name")));
    says(text, &format!(".target {}\n", json["target"].as_str().expect("a target")));
    says(text, &format!(".version {}\n", json["version"].as_str().expect("a version")));
    says(text, &format!(".reqntid {}, 1, 1", json["threads"]));
    let (fixed, dynamic) =
        (number(&json["static_shared_bytes"]), number(&json["dynamic_shared_bytes"]));
    assert!(fixed == 0 || dynamic == 0);
    assert_eq!(text.contains("smem[]"), dynamic > 0);
    assert_eq!(text.contains("smem["), fixed + dynamic > 0);
    if fixed > 0 {
        says(text, &format!("smem[{fixed}]"));
    }
    assert_eq!(
        json["flags"],
        serde_json::json!([format!("-arch={}", json["target"].as_str().expect("a target"))])
    );
    let maps = json["tensor_maps"].as_array().expect("maps");
    assert_eq!(text.contains("bulk.tensor"), !maps.is_empty());
    for (k, map) in maps.iter().enumerate() {
        let own = &json["parameters"][number(&map["parameter"]) as usize];
        assert_eq!((own["kind"].as_str(), &own["map"]), (Some("tensor_map"), &Json::from(k)));
        let pointer = &json["parameters"][number(&map["pointer_parameter"]) as usize];
        assert_eq!(
            (pointer["kind"].as_str(), &pointer["argument"]),
            (Some("pointer"), &map["argument"])
        );
    }
}

fn amd_agrees(json: &Json) {
    let text = json["text"].as_str().expect("text");
    let declared = declared_in_metadata(text);
    let parameters = json["parameters"].as_array().expect("parameters");
    assert_eq!(parameters.len(), declared.len());
    for (own, (name, offset, bytes, kind)) in parameters.iter().zip(&declared) {
        assert_eq!((number(&own["offset"]), number(&own["bytes"])), (*offset, *bytes));
        match own["kind"].as_str().expect("a kind") {
            "pointer" => assert_eq!(kind, "global_buffer"),
            "blocks" => {
                let axis = ["x", "y", "z"][number(&own["axis"]) as usize];
                assert_eq!(kind, &format!("hidden_block_count_{axis}"));
                assert_eq!(own["name"], format!("blocks.{axis}"));
                continue;
            }
            _ => assert_eq!(kind, "by_value"),
        }
        assert_eq!(own["name"], *name);
    }
    says(text, &format!(".kernarg_segment_size: {}\n", json["parameter_bytes"]));
    says(text, &format!(".group_segment_fixed_size: {}\n", json["static_shared_bytes"]));
    says(text, &format!(".wavefront_size: {}\n", json["wave_lanes"]));
    says(text, &format!(".reqd_workgroup_size: [ {}, 1, 1 ]", json["threads"]));
    says(text, &format!("  - .name: {}\n", json["kernel"].as_str().expect("a name")));
    let flags = json["flags"].as_array().expect("flags");
    let flags: Vec<&str> = flags.iter().filter_map(Json::as_str).collect();
    assert!(
        flags.contains(&format!("-mcpu={}", json["target"].as_str().expect("a target")).as_str())
    );
    assert!(flags.contains(&format!("-mattr=+wavefrontsize{}", json["wave_lanes"]).as_str()));
    assert_eq!(json["tensor_maps"], serde_json::json!([]));
}

#[test]
fn a_launch_is_what_the_kernels_text_declares() {
    let (mut made, mut blocks, mut maps, mut dynamic) = (0, 0, 0, 0);
    for path in programs() {
        let path = path.to_string_lossy();
        for arch in
            ["sm_80", "sm_90a", "sm_100a", "gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1200"]
        {
            let json = match launch(&["compile", &path, "--arch", arch, "--format", "json"]) {
                Ok(json) => json,
                // A product that the architecture has no instruction for, or in which too much is
                // done by lanes; sums of floats in memory.
                Err(why) => {
                    let known =
                        ["matrix", "registers", "no instruction that does this", "instructions"];
                    assert!(known.iter().any(|said| why.contains(said)), "{path} on {arch}: {why}");
                    continue;
                }
            };
            made += 1;
            match json["isa"].as_str() {
                Some("ptx") => ptx_agrees(&json),
                _ => amd_agrees(&json),
            }
            let parameters = json["parameters"].as_array().expect("parameters");
            blocks += usize::from(parameters.iter().any(|p| p["kind"] == "blocks"));
            maps += usize::from(json["tensor_maps"] != serde_json::json!([]));
            dynamic += usize::from(json["dynamic_shared_bytes"] != 0);
        }
    }
    assert!(made > 40 && blocks > 3 && maps > 3 && dynamic > 0, "{made} {blocks} {maps} {dynamic}");
}

#[test]
fn a_grid_is_said_and_computed() {
    let path = root().join("tests/kernels/programs/grid_of_copies.tile");
    let path = path.to_string_lossy();
    let base = ["compile", &path, "--arch", "gfx942", "--format", "json"];
    let said = serde_json::json!({ "expressions": ["cdiv(%M, 32)", "cdiv(%N, 64)"] });
    assert_eq!(launch(&base).expect("a launch")["grid"], said);
    let with = |values: &[&str]| launch(&[&base[..], values].concat());
    let json = with(&["--set", "M=33", "--set", "%N=64"]).expect("a launch");
    assert_eq!(json["grid"]["blocks"], serde_json::json!([2, 1, 1]));
    for (values, told) in [
        (&["--set", "M=33"][..], "reads N, which has no value"),
        (&["--set", "M=33", "--set", "N=0"][..], "not between 1 and 2^31 - 1"),
        (&["--set", "A=1"][..], "no index argument of this name"),
        (&["--set", "M"][..], "NAME=NUMBER"),
        (&["--set", "M=x"][..], "no whole number"),
    ] {
        let why = with(values).expect_err("refused");
        assert!(why.contains(told), "{values:?}: {why}");
    }
    let gemm = launch(&["compile", "--arch", "sm_80", "--format", "json"]).expect("a launch");
    assert_eq!(gemm["grid"], Json::Null);
    let why = launch(&["compile", "--arch", "sm_80", "--format", "json", "--set", "K=64"]);
    assert!(why.expect_err("refused").contains("the function says none"));
}

/// Numbers that are no indices say their type, and nothing of the grid.
#[test]
fn numbers_are_told_from_indices() {
    let path = root().join("tests/kernels/programs/numbers_of_arguments.tile");
    let path = path.to_string_lossy();
    for arch in ["sm_80", "gfx942"] {
        let base = ["compile", &path, "--arch", arch, "--format", "json"];
        let json = launch(&base).expect("a launch");
        let told: Vec<(String, String)> = json["parameters"]
            .as_array()
            .expect("parameters")
            .iter()
            .filter(|p| p["kind"] == "scalar")
            .map(|p| (p["name"].to_string(), format!("{} {}", p["element"], p["low"])))
            .collect();
        let all = [
            ("\"s\"", "\"f32\" null"),
            ("\"m\"", "null 0"),
            ("\"w\"", "\"i32\" -2147483648"),
            ("\"K\"", "null 0"),
            ("\"t\"", "\"f32\" null"),
        ];
        let all = all.map(|(name, said)| (name.to_string(), said.to_string()));
        assert_eq!(told, all, "{arch}");
        let why = launch(&[&base[..], &["--set", "s=1"]].concat()).expect_err("refused");
        assert!(why.contains("no index argument of this name"), "{why}");
    }
}

/// What a module of Triton's says of its kernel is obeyed, or not so here.
#[test]
fn modules_say_threads_waves_and_the_architecture() {
    let text = |lanes: u32, target: &str| {
        format!(
            "module attributes {{\"ttg.num-warps\" = 4 : i32, \"ttg.num-ctas\" = 1 : i32, \"ttg.threads-per-warp\" = {lanes} : i32, ttg.target = \"{target}\"}} {{\n  func @double(%x: memref<4096xf32, #gmem>) {{\n    %a = tiled_load %x[0] : memref<4096xf32, #gmem> -> tensor<512xf32>\n    %b = add %a, %a : tensor<512xf32>\n    tiled_store %b, %x[0] : tensor<512xf32> -> memref<4096xf32, #gmem>\n    return\n  }}\n}}\n"
        )
    };
    let compile = |name: &str, text: &str, arch: &str| {
        let path = std::env::temp_dir().join(format!("lanebook-{}-{name}", std::process::id()));
        fs::write(&path, text).expect("file");
        let done = run(&["compile", path.to_str().expect("a path"), "--arch", arch]);
        fs::remove_file(&path).expect("file");
        done
    };
    let ptx = compile("module.sm_80.tile", &text(32, "cuda:80"), "sm_80").fine();
    assert!(ptx.contains("128, 1, 1"), "{ptx}");
    compile("module.gfx942.tile", &text(64, "hip:gfx942"), "gfx942").fine();
    // Architectures that rules/seeding.ron does not list go by their names.
    compile("module.gfx1201.tile", &text(32, "hip:gfx1201"), "gfx1201").fine();
    compile("module.other.tile", &text(32, "cuda:80"), "sm_90a")
        .refused(1, &["written for another architecture than sm_90a", "ttg.target"]);
    compile("module.wave.tile", &text(64, "cuda:80"), "sm_80")
        .refused(1, &["written for waves of 64 lanes, those of sm_80 have 32"]);
}
