//! The fuzzer's bodies for a few seconds, on the same inputs every time: recorded texts of other
//! systems and our own with changes, token soup, random bytes. `LANEBOOK_FUZZ_SEED=7
//! LANEBOOK_FUZZ_TIMES=20` changes them otherwise, so many times as long.

use lanebook_fuzz::random::Random;
use lanebook_fuzz::{Body, algebra, kernels, text};
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The strings of a key in all recorded answers under a folder of `tests/oracle/data`.
fn recorded(folder: &str, key: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut files: Vec<PathBuf> = fs::read_dir(root().join("tests/oracle/data").join(folder))
        .expect("recorded answers")
        .map(|e| e.expect("an entry").path())
        .collect();
    files.sort();
    let key = format!("\"{key}\":\"");
    for file in files.iter().filter(|f| f.extension().is_some_and(|e| e == "jsonl")) {
        for line in fs::read_to_string(file).expect("a file").lines() {
            for (at, _) in line.match_indices(&key) {
                let value: String =
                    line[at + key.len()..].chars().take_while(|c| *c != '"').collect();
                if !value.contains('\\') && value.len() < 300 {
                    out.push(value);
                }
            }
        }
    }
    out.sort();
    out.dedup();
    assert!(out.len() > 20, "{folder}: only {} texts", out.len());
    out
}

/// Every text as it stands, then `turns` changed ones and as many soups.
fn run(body: Body, texts: &[&str], pieces: &str, turns: usize) {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let mut random = Random::new(number("LANEBOOK_FUZZ_SEED").unwrap_or(0x1a9e_b00c));
    let turns = turns * number("LANEBOOK_FUZZ_TIMES").unwrap_or(1) as usize;
    let pieces: Vec<&str> = pieces.split(' ').chain([" ", "\n", "\"", "ä", "\0"]).collect();
    for text in texts {
        body(text.as_bytes());
    }
    for _ in 0..turns {
        let text = texts[random.below(texts.len())];
        body(&random.change(text, &pieces));
        let soup: String =
            (0..random.below(24)).map(|_| pieces[random.below(pieces.len())]).collect();
        body(soup.as_bytes());
    }
    for _ in 0..turns / 4 {
        body(&random.bytes(64));
    }
}

fn slices(texts: &[String]) -> Vec<&str> {
    texts.iter().map(String::as_str).collect()
}

#[test]
fn cute() {
    let mut texts = recorded("cute", "text");
    texts.extend(recorded("cute", "ok").into_iter().take(200));
    texts.extend(
        ["S<3,4,3> o 0 o (8,64):(64,1)", "((2,2),4):((1,2),4)", "(M,4):(1,M)", "(_,(1,_))"]
            .map(String::from),
    );
    run(
        text::cute,
        &slices(&texts),
        "( ) , : S< > o 0 1 2 3 7 @ 1@0 1@0@1 / -1 _ M 2*M 128 64 ? *",
        3000,
    );
}

#[test]
fn tirx() {
    let mut texts = recorded("tirx", "text");
    texts.extend(
        [
            "S[(8,2,4,2):(4@laneid,1@warpid,1@laneid,1)] + R[2:4@warpid] + 5@warpid",
            "S[(32,3):(1@TLane,1@TCol)] + R[4:32@TLane]",
        ]
        .map(String::from),
    );
    run(
        text::tirx,
        &slices(&texts),
        "S[ R[ ] ( ) , : @ + laneid warpid TLane TCol m bit 0 1 2 8 -1 32 TileLayout( SwizzleLayout( ComposeLayout( ) = True N 2*N",
        6000,
    );
}

#[test]
fn tileas() {
    let texts = [
        "<(128,64),(64,1),swizzle<3,4,3>,elem=nvfp4>",
        "<(128,64),(64,1)>",
        "<((8,16),64),((64,512),1),swizzle<2,4,3>>",
        "<16,1,elem=f16>",
        "<(8,(2,4)),(1,(8,16)),elem=bf16>",
    ];
    run(
        text::tileas,
        &texts,
        "< > ( ) , 1 2 64 128 swizzle< swizzle<3,4,3> elem= f16 nvfp4 f7 = 0 -1",
        8000,
    );
}

#[test]
fn ttg() {
    let texts = [
        "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[1, 0]]}>",
        "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [2, 2], order = [1, 0]}>",
        "#ttg.slice<{dim = 0, parent = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [4, 8], warpsPerCTA = [1, 4], order = [0, 1]}>}>",
        "#ttg.dot_op<{opIdx = 0, parent = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [2, 2], order = [1, 0]}>}>",
        "#ttg.dot_op<{opIdx = 0, parent = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>, kWidth = 2}>",
        "#ttg.amd_mfma<{version = 4, warpsPerCTA = [2, 2], instrShape = [32, 32, 16], isTransposed = true, tilesPerWarp = [1, 2], elementBitWidth = 64}>",
        "#ttg.amd_wmma<{version = 3, isTransposed = false, ctaLayout = {register = [[0, 1]], warp = [[1, 0], [2, 0]]}, instrShape = [16, 16, 32], rank = 2}>",
        "#ttg.linear<{register = [[0, 1]], lane = [[1, 0], [0, 0]], warp = [], block = []}>",
        "#ttg.generic_linear<{register = [[0, 1]], lane = [[1, 1]], warp = [[2, 3]], block = []}>",
        "#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>",
        "#ttg.amd_rotating_shared<{vec = 4, perPhase = 2, maxPhase = 4, order = [0, 1]}>",
        "#ttg.shared_linear<{offset = [[0, 1], [1, 1]], block = []}, alignment = 128>",
        "#ttg.padded_shared<[64:+8, 512:+16] {offset = [[0, 1], [1, 0]], block = []}>",
        "#ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 8, fp4Padded = true, rank = 3}>",
        "#ttng.tensor_memory_encoding<blockM = 64, blockN = 128, colStride = 1, twoCTAs = true, ctaMode = TwoCTA_LHS>",
        "#ttng.tensor_memory_scales_encoding<blockRepOrder = kThenMn>",
        "#ttg.partitioned_shared<{numPartitions = 2, numGroups = 4, partitionDim = 0, partitionLayout = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>}>",
    ];
    run(
        text::ttg,
        &texts,
        "#ttg. #ttng. blocked< slice< { } [ ] < > = , dim parent order vec 0 1 2 4 8 64 -1 true false : :+ CGALayout = [[1, 0]]",
        3000,
    );
}

#[test]
fn basis() {
    let texts =
        ["1@0", "(1@0,1@1)", "(1@0@1,1/2@0)", "((1@0,2@1@0),1@2)", "(M@0,1@1)", "(1@0,1@1) div=2"];
    run(text::basis, &texts, "( ) , @ 0 1 2 15 16 / -1 1/2 div= 2 M @0@1", 8000);
}

#[test]
fn tile_ir() {
    let mut texts: Vec<String> = Vec::new();
    let mut files: Vec<PathBuf> = fs::read_dir(root().join("gen/cli/examples"))
        .expect("examples")
        .map(|e| e.expect("an entry").path())
        .collect();
    files.sort();
    for file in files.iter().filter(|f| f.extension().is_some_and(|e| e == "tile")) {
        let text = fs::read_to_string(file).expect("a file");
        texts.extend(["\0", "\u{1}", "\u{3}"].map(|first| format!("{first}{text}")));
    }
    assert!(texts.len() >= 6);
    // What is rewritten before anything is chosen.
    for name in ["functions", "carried_indices", "while_counts", "pointers", "pointers_strided"] {
        let file = root().join(format!("tests/kernels/programs/{name}.tile"));
        let text = fs::read_to_string(file).expect("a program");
        texts.extend(["\0", "\u{1}"].map(|first| format!("{first}{text}")));
    }
    let pieces = "%r:2 %a # @f ^bb0 { } ( ) [ ] < > : , = -> ... 0 -1 1.5e3 // tensor< memref< xf16> 128x 64 index i1 scf.for scf.while scf.condition scf.yield func private module call tt.addptr return else do to step iter_args S[(8,8):(8,1)]";
    run(text::tile_ir, &slices(&texts), pieces, 1200);
}

#[test]
fn strided() {
    let mut random = Random::new(0x5717_1ded);
    for _ in 0..4_000 {
        algebra::strided(&random.bytes(24));
    }
}

#[test]
fn linear() {
    let mut random = Random::new(0x11ea_0001);
    for _ in 0..10_000 {
        algebra::linear(&random.bytes(32));
    }
}

/// The targets of libFuzzer are the bodies, each one of them.
#[test]
fn every_body_has_a_target() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("libfuzzer");
    let manifest = fs::read_to_string(folder.join("Cargo.toml")).expect("a manifest");
    for (name, _) in lanebook_fuzz::BODIES {
        assert!(manifest.contains(&format!("name = \"{name}\"")), "{name}");
        let target =
            fs::read_to_string(folder.join(format!("fuzz_targets/{name}.rs"))).expect("a target");
        assert!(target.contains(&format!("::{name}(data)")), "{name}");
    }
}

/// Programs through passes in any order, with any fuel, under the semantic checker.
#[test]
fn passes() {
    let mut random = Random::new(0x5eed);
    for _ in 0..250 {
        lanebook_fuzz::passes(&random.bytes(16));
    }
}

/// Programs one after the other in the same storage.
#[test]
fn compile() {
    let mut random = Random::new(0xc0de);
    for _ in 0..200 {
        kernels::compile(&random.bytes(160));
    }
}

/// What the fuzzer once stumbled over, each as it was found: `found/TARGET.NUMBER`.
#[test]
fn what_was_found_before() {
    let mut files: Vec<PathBuf> = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("found"))
        .expect("a folder")
        .map(|e| e.expect("an entry").path())
        .collect();
    files.sort();
    assert!(files.len() >= 4);
    for file in files {
        let target = file.file_stem().expect("a name").to_string_lossy().into_owned();
        let (_, body) = lanebook_fuzz::BODIES
            .iter()
            .find(|(name, _)| *name == target)
            .unwrap_or_else(|| panic!("no target {target}"));
        body(&fs::read(&file).expect("it reads"));
    }
}
