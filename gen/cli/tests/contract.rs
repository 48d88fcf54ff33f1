//! What `compile` takes of a program, and what it says of the rest: which attribute, which value,
//! which range, where.

use crate::support::{Ran, example, golden, root, run, run_in};
use std::fs;

const COPY: &str = "func @f(%A: memref<?x?xf32, #gmem> {align = 16, stride_div = 4}, %B: memref<?x?xf32, #gmem> {align = 16, stride_div = 4}, %m: index {div = 64}) {threads = 128} {
  %s = alloc_tensor : tensor<64x64xf32, #smem>
  copy %A[%m, 0], %s : memref<?x?xf32, #gmem> -> tensor<64x64xf32, #smem>
  %t = tiled_load %s : tensor<64x64xf32, #smem> -> tensor<64x64xf32>
  %y = add %t, %t : tensor<64x64xf32>
  tiled_store %y, %B[%m, 0] : tensor<64x64xf32> -> memref<?x?xf32, #gmem>
}
";

fn compile(text: &str) -> Ran {
    run_in(&root(), &["compile", "-", "--arch", "sm_80", "--emit", "report"], text)
}

/// The program with one thing written otherwise.
fn with(from: &str, to: &str) -> Ran {
    let text = COPY.replace(from, to);
    assert_ne!(text, COPY, "`{from}` is not there");
    compile(&text)
}

#[test]
fn attributes_are_known_fit_and_are_spelt() {
    compile(COPY).fine();
    with("{align = 16, stride_div = 4}, %B", "{algin = 16, stride_div = 4}, %B").refused(
        1,
        &[
            "obeys no attribute `algin` of `func`",
            "did you mean `align`?",
            "standard input:1:37",
            "^^^^^",
        ],
    );
    with("{align = 16, stride_div = 4}, %B", "{align = 3, stride_div = 4}, %B").refused(
        1,
        &[
            "attribute `align` cannot be `3`",
            "a power of two from 1 to",
            "standard input:1:37",
            "^^^^^",
        ],
    );
    with("func @f", "func private @f")
        .refused(1, &["attribute `visibility` of `func` cannot be `private`"]);
    with("{threads = 128}", "-> f32 {threads = 128}")
        .refused(1, &["this function says result types"]);
    with("{threads = 128}", "{threads = 128, snippet, grid = (4)}")
        .refused(1, &["`grid` says nothing of a snippet"]);
    with("{threads = 128}", "{threads = 0}")
        .refused(1, &["attribute `threads` cannot be `0`", "from 1 to 65536", "^^^^^^^"]);
    with("{threads = 128}", "{threads = 128, num_stages = 3}")
        .refused(1, &["obeys no attribute `num_stages` of `func`", "^^^^^^^^^^"]);
    with("{div = 64}", "{align = 64}")
        .refused(1, &["obeys no attribute `align`", "standard input:1:"]);
    with("tiled_load %s :", "tiled_load %s mask :")
        .refused(1, &["obeys no attribute `mask` of `tiled_load`", "standard input:4:22", "^^^^"]);
    with("add %t, %t :", "add %t, %t {fastmath = fast} :").refused(
        1,
        &["obeys no attribute `fastmath` of `add`", "attributes of `add`: none", "^^^^^^^^"],
    );
    with("tiled_load %s :", "tiled_load {layout = S[(64,64):(64,1)]} %s :")
        .refused(1, &["obeys no attribute `layout` of `tiled_load`", "^^^^^^"]);
    let gemm = example("gemm.tile");
    compile(&gemm.replace("mma %a, %b, %c :", "mma %a, %b, %c {transA = true} :"))
        .refused(1, &["obeys no attribute `transA` of `mma`", "^^^^^^"]);
    compile(&gemm.replace(
        "-> tensor<128x128xf32> {\n",
        "-> tensor<128x128xf32> attributes {sliceCount = 2 : i32} {\n",
    ))
    .refused(1, &["obeys no attribute `sliceCount` of `scf.for`", "^^^^^^^^^^"]);
    let norm = example("layer_norm.tile");
    compile(&norm.replacen("kind = add", "kind = ad", 1)).refused(
        1,
        &["attribute `kind` of `reduce` cannot be `ad`", "did you mean `add`?", "^^^^"],
    );
    compile(&norm.replacen("{axis = 1, kind = add}", "{kind = add}", 1))
        .refused(1, &["`reduce` does not say its attribute `axis`"]);
    compile(&norm.replacen("{axis = 1, kind = add}", "{axis = 2, kind = add}", 1))
        .refused(1, &["attribute `axis` cannot be `2`", "from 0 to 1", "^^^^"]);
    let wide = "func @f(%A: memref<?x?xb128, #gmem>) {threads = 128} {\n  %a = tiled_load %A[0, 0] : memref<?x?xb128, #gmem> -> tensor<32x32xb128>\n  %b = reduce %a {axis = 1, kind = max} : tensor<32x32xb128> -> tensor<32xb128>\n}\n";
    compile(wide).refused(1, &["`reduce` must have elements of 8, 16, 32 or 64 bits each"]);
    compile(&norm.replace("broadcast %w :", "broadcast %w {axis = 0} :"))
        .refused(1, &["attribute `axis` of `broadcast` says nothing"]);
}

#[test]
fn operands_and_operations_are_those_of_the_contract() {
    with("tiled_load %s :", "tiled_load %s, %m :").refused(
        1,
        &["operand 1 (mask) of `tiled_load` must be a tile in registers", "^^^^^^^^^^"],
    );
    with("tiled_load %s :", "tiled_load %s, %m, %m, %m :")
        .refused(1, &["operands of `tiled_load`: 1 to 3 (", "4 written", "^^^^^^^^^^"]);
    with("%m: index {div = 64})", "%m: index {div = 64}, %s0: f16)").refused(
        1,
        &[
            "argument 3 (argument) of `func` must have elements of 32 bits",
            "standard input:1:",
            "^^",
        ],
    );
    with("tiled_load %s :", "tiled_load %A :").refused(1, &["the written type"]);
    with("%y = add %t, %t :", "%y = tt.fp_to_fp %t :").refused(
        1,
        &[
            "the tables of sm_80 have no instruction that does `tt.fp_to_fp` from f32 to f32",
            "no architecture's tables have one",
        ],
    );
    // What is ordered anyhow may be said to be, of a block and of groups of copies that are counted.
    for said in
        ["fence", "fence {scope = cta}", "async_commit", "async_wait", "async_wait {num = 1 : i32}"]
    {
        let noted = with("  %y = add", &format!("  {said}\n  %y = add")).fine();
        assert!(noted.contains(&format!("{said}  // no step of its own")), "{noted}");
    }
    with("  %y = add", "  fence {scope = device}\n  %y = add").refused(
        1,
        &["`scope` of `fence` cannot be `device`", "block, cta, workgroup", "has steps for it"],
    );
    with("  %y = add", "  async_wait {num = -1}\n  %y = add")
        .refused(1, &["attribute `num` of `async_wait` is -1", "from 0 to 63", "^^^"]);
    with("  %y = add", "  async_wait 0\n  %y = add")
        .refused(1, &["operands of `async_wait`: none", "1 written"]);
    let mapped = |map: &str, operands: &str| {
        with("  %y = add", &format!("  %i = affine.apply {map}{operands} : index\n  %y = add"))
    };
    mapped("affine_map<(d0)[s0] -> (-(d0 * 3) ceildiv 2 + s0)>", "(%m)[%m]").fine();
    for (map, operands) in [
        ("affine_map<(d0) -> (d0 floordiv 0)>", "(%m)"),
        ("affine_map<(d0)[s0] -> (d0 mod s0)>", "(%m)[%m]"),
        ("affine_map<(d0) -> (d0)>", "(%m, %m)"),
        ("affine_map<(d0) -> (d0, d0)>", "(%m)"),
        ("affine_map<(d0) -> (d1)>", "(%m)"),
        ("affine_map<(d0) -> (d0 * 4294967296)>", "(%m)"),
        ("affine_map<(d0, d0) -> (d0)>", "(%m, %m)"),
        ("#nowhere", "(%m)"),
    ] {
        let said = format!("`map` of `affine.apply` cannot be `{map}`");
        mapped(map, operands).refused(1, &[&said, "a map with one result", "^^^^"]);
    }
    with("  %y = add", "  %i = affine.apply %m : index\n  %y = add")
        .refused(1, &["`affine.apply` does not say its attribute `map`"]);
    with("  %y = add", "  pragma \"unroll\"\n  %y = add").refused(
        1,
        &["`pragma` is not compiled: no machine has an instruction for a hint", "leave it out"],
    );
    // Of a number and a NaN `max` gives the number, and `maximumf` the NaN.
    with("add %t, %t :", "arith.maxnumf %t, %t :").fine();
    for name in ["arith.maximumf", "arith.minimumf"] {
        with("add %t, %t :", &format!("{name} %t, %t :")).fine();
    }
    with("tensor<64x64xf32, #smem>", "tensor<64x64xf32, #smem_swizzled>")
        .refused(1, &["no layout is called `#smem_swizzled`"]);
    let gather = COPY.replace(
        "tiled_load %s : tensor<64x64xf32, #smem>",
        "gather %s, %t0 : tensor<64x64xf32, #smem>, tensor<64xi32>",
    );
    let gather = gather
        .replace(
            "  %t = ",
            "  %t0 = tiled_load %A[%m, 0] : memref<?x?xf32, #gmem> -> tensor<64xf32>\n  %t = ",
        )
        .replace("tensor<64xi32>", "tensor<64xf32>");
    compile(&gather).refused(
        1,
        &[
            "operand 0 (from) of `gather` must be a tensor in global memory",
            "a tile in shared memory",
        ],
    );
    let indexed = |from: &str, index: &str, axis: &str| {
        let body = format!(
            "func @f(%A: memref<{from}, #gmem>, %C: memref<32x32xf32, #gmem>) {{threads = 128}} {{\n  %i = iota : tensor<{index}>\n  %a = gather %A[0, 0], %i{axis} : memref<{from}, #gmem>, tensor<{index}> -> tensor<32x32xf32>\n  tiled_store %a, %C[0, 0] : tensor<32x32xf32> -> memref<32x32xf32, #gmem>\n}}\n"
        );
        compile(&body)
    };
    indexed("32x32xf32", "32x32xi32", "").fine();
    indexed("32x32xf32", "32xi32", "").refused(
        1,
        &["a tile of indices has an index for each element that is moved", "broadcast {axis = 1}"],
    );
    indexed("32x32xf32", "32x32xi32", " {axis = 2}")
        .refused(1, &["`axis` names a dimension of the memref"]);
    compile(&format!("{COPY}\n{}", COPY.replace("@f", "@g")))
        .refused(1, &["has 2 functions that may be launched", "^^^^", "--function: @f, @g"]);
    with("[%m, 0], %s", "[%m, -8], %s")
        .refused(1, &["subscript 1 of operand 0 of `copy` is no index"]);
    // Where a bound leaves out what is below zero, a tile may begin there: along that dimension.
    let bounded = |bounds: &str, from: &str| {
        let body = format!(
            "func @f(%A: memref<40x40xf32, #gmem> {{bounds = {bounds}}}, %C: memref<32x32xf32, #gmem>) {{threads = 128}} {{\n  %a = tiled_load %A[{from}] : memref<40x40xf32, #gmem> -> tensor<32x32xf32>\n  tiled_store %a, %C[0, 0] : tensor<32x32xf32> -> memref<32x32xf32, #gmem>\n}}\n"
        );
        compile(&body)
    };
    bounded("(40, _)", "-3, 0").fine();
    bounded("(40, _)", "-3, -1").refused(
        1,
        &["subscript 1 of operand 0 of `tiled_load` is no index", "a bound nor a mask"],
    );
}

#[test]
fn written_layouts_are_obeyed_or_refused() {
    let blocked = "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>";
    let result = |layout: &str| {
        with(
            "%y = add %t, %t : tensor<64x64xf32>\n  tiled_store %y, %B[%m, 0] : tensor<64x64xf32>",
            &format!(
                "%y = add %t, %t : tensor<64x64xf32, {layout}>\n  tiled_store %y, %B[%m, 0] : tensor<64x64xf32, {layout}>"
            ),
        )
    };
    // In notations of other systems: threads and values of CuTe's, expressions of TileLang's.
    let own = "S[(4,8,2,4,16):(1@warpid,4@laneid,512@bit,1@laneid,32@bit)]";
    let of_lanes = "S[(8,4,2,16,4):(128@bit,1@warpid,16@laneid,1@laneid,32@bit)]";
    for (layout, placed) in [
        (own, own),
        (blocked, of_lanes),
        (
            "#ttg.slice<{dim = 0, parent = #ttg.blocked<{sizePerThread = [1, 1, 4], threadsPerWarp = [1, 2, 16], warpsPerCTA = [1, 4, 1], order = [2, 1, 0]}>}>",
            of_lanes,
        ),
        (
            "{thread = v0 * 2 + v1 / 32, index = v1 % 32}",
            "S[(4,16,2,32):(1@warpid,2@laneid,1@laneid,32@bit)]",
        ),
        ("S[(64,2,32):(2@tx,1@tx,1@m)]", "S[(4,16,2,32):(1@warpid,2@laneid,1@laneid,32@bit)]"),
        (
            "S[(4,16,2,32):(32@tid_in_wg,2@laneid,1@laneid,1@register)]",
            "S[(4,16,2,32):(1@warpid,2@laneid,1@laneid,32@bit)]",
        ),
        (
            "S[(2,2,16,2,32):(2@wid_in_wg,1@wid_in_wg,2@laneid,1@laneid,32@bit)]",
            "S[(4,16,2,32):(1@warpid,2@laneid,1@laneid,32@bit)]",
        ),
    ] {
        let written = result(layout).fine();
        let line = written.lines().find(|line| line.contains(" = add ")).expect("the sum");
        assert!(line.ends_with(placed), "{layout}: {line}");
    }
    result("<(64,64),(64,1)>")
        .refused(1, &["is not obeyed in this notation", "a TileAS descriptor"]);
    result("S[(64,64):(64,1)]").refused(1, &["cannot be kept to: it names no lanes"]);
    let of_groups = "S[(64,2,32):(2@wgid,1@laneid,1@laneid)]";
    result(of_groups).refused(1, &["cannot be kept to: two elements are in the same place"]);
    let warps = blocked.replace("[4, 1]", "[8, 1]");
    result(&warps).refused(1, &["cannot be kept to", "the threads are not the warps that it has"]);
    with("tensor<64x64xf32, #smem>", &format!("tensor<64x64xf32, #smem, {blocked}>"))
        .refused(1, &["cannot be kept to: it names lanes, warps or registers"]);
    // What an attribute says ends where it does.
    with("alloc_tensor :", "alloc_tensor {layout = [{a = 1}], alignment = 128} :")
        .refused(1, &["`layout` of `alloc_tensor` cannot be `[{a = 1}]`:"]);
    let twice = COPY
        .replace("tensor<64x64xf32, #smem>", "tensor<64x64xf32, #smem, S[(64,64):(64,1)]>")
        .replace("alloc_tensor :", "alloc_tensor {layout = S[(64,64):(68,1)]} :");
    compile(&twice).refused(1, &["a layout in its type and another as an attribute"]);
    // What of a shared tile's layout cannot be kept to, each for its own reason.
    let shared = |shape: &str, layout: &str| {
        compile(
            &COPY
                .replace("64x64", shape)
                .replace("alloc_tensor :", &format!("alloc_tensor {{layout = {layout}}} :")),
        )
    };
    // CuTe counts the first coordinate fastest, however its swizzle is spelled.
    let places = |layout: &str| {
        let text = shared("64x64", layout).fine();
        let line = text.lines().find(|line| line.contains("alloc_tensor")).expect("the tile");
        line.split("// ").nth(1).expect("where it lies").to_string()
    };
    let own = places("ComposeLayout(SwizzleLayout(2, 3, 3, True), TileLayout(S[(64,64):(64,1)]))");
    let columns =
        places("ComposeLayout(SwizzleLayout(2, 3, 3, True), TileLayout(S[(64,64):(1,64)]))");
    assert_ne!(own, columns);
    for spelled in ["S<3,2,3>", "Sw<3,2,3>", "Swizzle<3,2,3>"] {
        assert_eq!(places(&format!("{spelled} o 0 o (64,64):(64,1)")), own, "{spelled}");
        assert_eq!(places(&format!("{spelled} o 0 o (64,64):(1,64)")), columns, "{spelled}");
    }
    shared("64x64", "S[(64,64):(65,2)]").refused(1, &["elements lie between others"]);
    shared("64x48", "S[(64,48):(48,1)]").fine();
    shared("64x48", "<(64,48),(48,1),swizzle<3,4,3>>")
        .refused(1, &["is no power of two", "does not repeat from panel to panel"]);
    shared("64x64", "<(64,64),(72,1),swizzle<3,4,3>>")
        .refused(1, &["a swizzle or padding behind distances that carry", "leave out the swizzle"]);
    shared("64x64", "S[(64,2,32):(32,2048,1)] + 128")
        .refused(1, &["has an offset", "tile's start"]);
    shared("64x64", "S[(64,64):(0,1)]").refused(1, &["two elements lie in one place"]);
    // Copies where other elements are, and elements of another type than the tile's.
    result("S[(4,8,2,4,16):(1@warpid,4@laneid,512@bit,1@laneid,32@bit)]").fine();
    result("S[(4,8,2,4,16):(1@warpid,4@laneid,512@bit,1@laneid,32@bit)] + R[2:4@laneid]")
        .refused(1, &["copies where there are other elements"]);
    compile(&COPY.replace("alloc_tensor :", "alloc_tensor {layout = <(64,64),(64,1),elem=f16>} :"))
        .refused(1, &["has other elements than the tile"]);
    let laid = COPY
        .replace("%A: memref<?x?xf32, #gmem>", "%A: memref<64x64xf32, #gmem, S[(64,64):(1,64)]>")
        .replace("%s : memref<?x?xf32, #gmem> ->", "%s : ... ->");
    compile(&laid).refused(
        1,
        &["the layout written for this memref is not obeyed: its elements lie row by row"],
    );
    // Nor one of lanes, which is obeyed of the tiles that a snippet takes.
    compile(&laid.replace("(1,64)", "(1@laneid,32@bit)")).refused(
        1,
        &["the layout written for this memref is not obeyed: its elements lie row by row"],
    );
    let text = COPY.replace("64x64", "48x64").replace(
        "%y = add %t, %t : tensor<48x64xf32>",
        "%y = add %t, %t : tensor<48x64xf32, S[(6,8,4,16):(1@warpid,4@laneid,1@laneid,32@bit)]>",
    );
    let text = text.replace(
        "tiled_store %y, %B[%m, 0] : tensor<48x64xf32>",
        "tiled_store %y, %B[%m, 0] : ...",
    );
    compile(&text).refused(
        1,
        &["its odd factor counts panels that stand in registers of their own in each lane"],
    );
}

#[test]
fn what_cannot_be_planned_is_said_as_it_is() {
    // More movements than a plan holds: how many, and which is the first too many.
    let loads: String = (0..520)
        .map(|k| {
            format!(
                "  %a{k} = tiled_load %A[%m, 0] : memref<?x?xf32, #gmem> -> tensor<64x64xf32>\n"
            )
        })
        .collect();
    with("  %y = add", &format!("{loads}  %y = add")).refused(
        1,
        &[
            "the program is too large: it needs 523 movements of tiles, a plan has room for 512",
            "this is number 513",
            "^^^",
        ],
    );
    let loops = |step: u32, by: u32| {
        let open =
            format!("  scf.for %k = 0 to %m step {step} {{\n    %q = index.div %k, {by} : index\n");
        COPY.replace("  %t = tiled", &format!("{open}  %t = tiled"))
            .replace("%B[%m, 0]", "%B[%q, 0]")
            .replace("\n}\n", "\n    scf.yield\n  }\n}\n")
    };
    compile(&loops(64, 32)).fine();
    let open = loops(64, 32).replace("    scf.yield\n", "");
    compile(&open).refused(1, &["the body of `scf.for` does not end with scf.yield"]);
    // What does not grow evenly is computed in each turn.
    compile(&loops(64, 3)).fine();
    compile(&loops(24, 32)).fine();
}

#[test]
fn hexadecimal_digits_of_a_float_are_its_bits() {
    let filled = |number: &str| {
        with(
            "%y = add %t, %t :",
            &format!("%c = constant {number} : tensor<64x64xf32>\n  %y = add %t, %c :"),
        )
    };
    for (number, bits) in [
        ("dense<0xFF800000>", "0fff800000"),
        ("0x7F800000", "0f7f800000"),
        ("dense<-inf>", "0fff800000"),
        ("-inf", "0fff800000"),
        ("nan", "0f7fc00000"),
        ("-0.0", "0f80000000"),
    ] {
        let text = filled(number).fine();
        let program = COPY.replace(
            "%y = add %t, %t :",
            &format!("%c = constant {number} : tensor<64x64xf32>\n  %y = add %t, %c :"),
        );
        let ptx =
            run_in(&root(), &["compile", "-", "--arch", "sm_80", "--emit", "ptx"], &program).fine();
        let number_of = u32::from_str_radix(&bits[2..], 16).expect("bits");
        assert!(
            ptx.to_lowercase().contains(bits)
                || ptx.contains(&number_of.to_string())
                || ptx.to_lowercase().contains(&format!("0x{number_of:x}")),
            "{number}: {text}\n{ptx}"
        );
    }
    filled("0x1FF800000").refused(1, &["no number that its type holds", "32 bits"]);
    filled("1.0e39").refused(1, &["no number that its type holds"]);
    filled("true").refused(1, &["no number that its type holds"]);
}

#[test]
fn the_contract_is_printed() {
    let all = run(&["ops"]).fine();
    assert!(
        all.contains("operations are compiled")
            && all.contains("gather")
            && all.contains("not compiled: registers are gone when a kernel ends"),
        "{all}"
    );
    let one = run(&["ops", "tt.reduce", "--arch", "sm_80"]).fine();
    for text in [
        "reduce",
        "{axis}",
        "{kind}",
        "add, max, min, mul",
        "must be there",
        "sm_80       add of f32",
    ] {
        assert!(one.contains(text), "`{text}` is missing in\n{one}");
    }
    assert!(
        run(&["ops", "mma_scaled", "--arch", "sm_80"]).fine().contains("no instruction does it")
    );
    let json: serde_json::Value =
        serde_json::from_str(&run(&["ops", "--arch", "gfx942", "--format", "json"]).fine())
            .expect("JSON");
    let ops = json.as_array().expect("a list");
    let named = |name: &str| {
        ops.iter().find(|op| op["name"] == name).unwrap_or_else(|| panic!("no {name}"))
    };
    assert_eq!(named("mma")["operands"].as_array().map(Vec::len), Some(3));
    assert!(
        named("mma")["on"]["types"]
            .as_array()
            .expect("types")
            .iter()
            .any(|t| t == "f16 x f16 -> f32")
    );
    assert_eq!(named("use")["compiled"], false);
    assert!(
        named("func")["arguments"][0]["attributes"]
            .as_array()
            .expect("attributes")
            .iter()
            .any(|a| a["key"] == "align")
    );
    // Movements: the element types that small programs of them compile for.
    let moved = run(&["ops", "tiled_load", "--arch", "sm_80"]).fine();
    for way in ["from #gmem: f64 f32 tf32 f16 bf16", "; from #smem: f64"] {
        assert!(moved.contains(way), "{way}: {moved}");
    }
    assert!(moved.contains(" e2m1 ") && moved.contains(" u4 "), "{moved}");
    assert!(!moved.contains("e3m2") && !moved.contains("x2"), "{moved}");
    let copies = run(&["ops", "copy", "--arch", "gfx1250"]).fine();
    assert!(copies.contains("#gmem to #smem: ") && copies.contains("#smem to #gmem: "), "{copies}");
    run(&["ops", "mmma"]).refused(2, &["no operation is called `mmma`", "did you mean `mma`?"]);
}

#[test]
fn the_reference_is_made_from_the_contract() {
    let made = run(&["ops", "--format", "markdown"]).fine();
    let path = root().join("rules/TILE.md");
    if std::env::var_os("LANEBOOK_BLESS").is_some_and(|v| !v.is_empty()) {
        fs::write(&path, &made).expect("rules/TILE.md");
    }
    assert!(
        fs::read_to_string(&path).unwrap_or_default() == made,
        "rules/TILE.md is not what `lanebook ops --format markdown` prints"
    );
    golden("ops.reduce.txt", &run(&["ops", "reduce", "--arch", "sm_80"]).fine());
}

/// Loops count by indices and whole numbers with a sign; no loop counts by other data that a function
/// of parallel loops is given.
#[test]
fn loops_count_by_indices() {
    let program = |ty: &str, bounds: &str| {
        format!(
            "func @f(%X: memref<64xf32>, %k: {ty}) {{threads = 64}} {{
  scf.for %t = {bounds} {{
    parallel (%i) in (64) {{
      %x = memref.load %X[%i]
      memref.store %x, %X[%i]
    }}
  }}
}}
"
        )
    };
    for ty in ["index", "i32"] {
        compile(&program(ty, "0 to %k step 1")).fine();
        compile(&program(ty, "%k to 10 step 1")).fine();
    }
    for (ty, bounds, operand) in [
        ("f32", "0 to %k step 1", "operand 1 (upper)"),
        ("f32", "%k to 10 step 1", "operand 0 (lower)"),
        ("u32", "0 to %k step 1", "operand 1 (upper)"),
    ] {
        compile(&program(ty, bounds)).refused(1, &[operand, "must be an index", ":2:3"]);
    }
}

/// A promise that need not be used is read all the same: a number for all dimensions, or one for each.
#[test]
fn promises_are_written_as_mlir_writes_them() {
    let program = |said: &str| {
        COPY.replace("%y = add %t, %t :", &format!("%y = add %t, %t {{tt.contiguity = {said}}} :"))
    };
    for said in ["dense<8> : tensor<1xi32>", "dense<[1, 8]> : tensor<2xi32>", "dense<8>"] {
        compile(&program(said)).fine();
    }
    for said in [
        "dense<[1, 8, 8]> : tensor<3xi32>",
        "dense<[1, 8]> : garbage",
        "dense<0> : tensor<1xi32>",
        "dense<> : tensor<1xi32>",
        "8 : i32",
    ] {
        compile(&program(said)).refused(1, &["contiguity", "as MLIR writes them", ":5:"]);
    }
}
