//! The query language, from text to text. What is expected was worked out by hand (said beside it), or is another
//! system's own answer.

use lanebook::TABLES;
use lanebook::query::{QueryError, QueryStorage, WriteError, ask};
use std::fs;
use std::path::{Path, PathBuf};

#[path = "ask/machines.rs"]
mod machines;

/// The answer to a query about an architecture, as text or as the words of the error.
fn told(arch: &str, query: &str, json: bool) -> String {
    let mut storage = Box::new(QueryStorage::new());
    let arch = TABLES.arch_named(arch);
    let mut out = String::new();
    match ask(&TABLES, arch, query, &mut storage) {
        Ok(answer) => {
            let written =
                if json { answer.write_json(&mut out) } else { answer.write_text(&mut out) };
            if let Err(WriteError::Refused(why)) = written {
                out.clear();
                refused(&answer.error(why), query, json, &mut out);
            }
        }
        Err(error) => refused(&error, query, json, &mut out),
    }
    out
}

fn refused(error: &QueryError, query: &str, json: bool, out: &mut String) {
    let written = if json { error.write_json(query, out) } else { error.write_text(query, out) };
    written.expect("a string takes all");
}

fn answer(query: &str) -> String {
    told("", query, false)
}

/// The first line of the answer: the value itself.
fn value(query: &str) -> String {
    answer(query).lines().next().unwrap_or_default().to_string()
}

#[test]
fn chains_of_layouts() {
    // Element (i, j) of the second is at 8 * (i ^ j) + j, which the first, rows of 8, sends to 8 * j + (i ^ j).
    let chain = "(8,8):(8,1) o S<3,0,-3> o (8,8):(8,1)";
    assert_eq!(value(chain), "S<3,0,3> o 0 o (8,8):(1,8)");
    assert_eq!(value(&format!("{chain} at (3, 5)")), format!("m {}", 8 * 5 + (3 ^ 5)));
    assert_eq!(value("compose((8,8):(8,1), S<3,0,-3> o (8,8):(8,1)) at (3, 5)"), "m 46");
    // Twice is not at all.
    assert_eq!(value("S<3,3,3> o S<3,3,3> o (8,64):(64,1)"), "(8,64):(64,1)");
    // 3, 2, 1, 0 are the rows of 8 from the last.
    assert_eq!(value("(4,8):(8,1) o 3 o 4:-1 at 0"), "m 24");
    assert_eq!(value("(4,8):(8,1) o 3 o 4:-1 at 3"), "m 0");
    // Back from row, column ^ row.
    assert_eq!(value("right_inverse(S<3,0,3> o (8,8):(8,1))"), "S<3,0,-3> o 0 o (8,8):(8,1)");
    // 0, 2, 1, 3: bits 0 and 1 change places, and the bits 2 and 3 that go into them do not.
    let apart = answer("right_inverse(S<2,0,2> o (2,2,2,2):(1,4,2,8))");
    assert!(apart.contains("at bit 2: the layout moves its bits apart"), "{apart}");
    let three = answer("3 o S<1,0,3> o (8,8):(1,8)");
    assert!(three.contains("together with others"), "{three}");
    // What waits for a layout that does not come is still no layout.
    assert!(answer("(8,8):(8,1) o 3").contains("expected a layout, and this is a number"));
}

#[test]
fn descriptors_of_several_buffers() {
    let of = |shape: &str, encoding: &str| {
        format!("!ttg.memdesc<{shape}xf16, #ttg.{encoding}, #ttg.shared_memory, mutable>")
    };
    let rows = "swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>";
    let three = of("3x64x64", rows);
    assert_eq!(
        value(&three),
        "ComposeLayout(3, 3, 3, TileLayout(S[(3,64,64):(4096,64,1)])) @ 3x64x64"
    );
    // Buffer 1, row 2: its chunks of 8 are exchanged by 2.
    let place = 4096 + 2 * 64 + (3 ^ (2 * 8));
    assert_eq!(value(&format!("{three} at (1, 2, 3)")), format!("m {place} (byte {})", 2 * place));
    // Triton moves a padded buffer by its elements, with the padding that these have: 64 rows of 8.
    let padded = "padded_shared<[64:+8] {order = [1, 0], shape = [64, 64]}>";
    let place = 4096 + 64 * 8;
    assert_eq!(
        value(&format!("{} at (1, 0, 0)", of("2x64x64", padded))),
        format!("m {place} (byte {})", 2 * place)
    );
    // The rest of the shape must be one of the encoding.
    assert!(
        answer(&of("3x48x64", rows)).contains("the shape has 48"),
        "{}",
        answer(&of("3x48x64", rows))
    );
    assert!(answer(&of("2x2x64x64", rows)).contains("order has 2 numbers, and 4 are needed"));
}

#[test]
fn tilers_in_trees() {
    assert_eq!(value("compose((8,(4,6)):(1,(8,32)), (2:4,(2:2,3:2)))"), "(2,(2,3)):(4,(16,64))");
    assert_eq!(value("zipped_divide((8,8):(1,8), <2:4,4>)"), "((2,4),(4,2)):((4,8),(1,32))");
    assert_eq!(value("let n = 2; (n:1,(4,<8:2,1>))"), "(2:1,(4:1,(8:2,1:1)))");
    assert_eq!(
        value("let t = (2:4,4); zipped_divide((8,8):(1,8), t)"),
        value("zipped_divide((8,8):(1,8), <2:4,4>)")
    );
    assert!(answer("compose((8,8):(1,8), (2:1,2:1,2:1))").contains("another structure"));
    assert!(answer("compose((8,8):(1,8), (2:1,2:1").contains("expected"));
    // A layout in brackets is still one layout.
    assert_eq!(value("((8,8):(1,8))"), "(8,8):(1,8)");
}

/// Two rows and two columns of a tile are `(2,2):(1@0,1@1)`: as a tiler, as a block, in a box.
#[test]
fn tiles_on_numbered_axes() {
    let by_mode = value("zipped_divide((8,8):(1,8), (2,2))");
    assert_eq!(value("zipped_divide((8,8):(1,8), (2,2):(1@0,1@1))"), by_mode);
    // Column 1 follows row 0: the tile goes along the second mode first.
    assert_eq!(
        value("logical_divide((8,8):(1,8), (2,4):(1@1,1@0))"),
        "((2,4),(2,4)):((8,1),(4,16))"
    );
    assert_eq!(value("complement((2,2):(1@0,1@1), (4,6))"), "(2,3):(2@0,2@1)");
    assert_eq!(
        value("raked_product((2,2):(1@0,1@1), (3,3):(1@0,1@1))"),
        "((3,2),(3,2)):((2@0,1@0),(2@1,1@1))"
    );
    // A box of 2 by 3, and coordinates back to indices.
    assert_eq!(value("cosize((2,3):(1@0,1@1))"), "6");
    assert_eq!(value("right_inverse((2,3):(1@1,1@0))"), "(3,2):(2,1)");
    assert_eq!(value("left_inverse((2,2):(2@0,1@1))"), "((2,2),2):((0,1),2)");
    assert!(answer("complement((2,2):(1@0,1@1), 16)").contains("on one axis"));
    assert!(answer("complement(2:1@3, (4,4))").contains("no mode 3 among 2"));
}

/// Which lane has the scale of which row: of `mma` m16n8 lanes 4r and 4r + 1 those of rows r and r + 8, of MFMA 16x16 lane l that of
/// row l mod 16 and run l div 16.
#[test]
fn block_scales_of_operands() {
    let mma = "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>";
    let of = |parent: &str, index: u8, shape: &str, run: u8| {
        format!(
            "scales(#ttg.dot_op<{{opIdx = {index}, parent = {parent}, kWidth = 16}}>, {shape}, {run})"
        )
    };
    let a = of(mma, 0, "(32, 1)", 32);
    for row in 0..32 {
        let found = told("sm_120a", &format!("{a} at ({row}, 0)"), false);
        let (lane, warp) = (4 * (row % 8) + (row / 8) % 2, row / 16 * 2);
        assert!(found.contains(&format!("laneid {lane}")), "{row}: {found}");
        assert!(found.contains(&format!("warpid {warp}")), "{row}: {found}");
    }
    let mfma = "#ttg.amd_mfma<{version = 4, warpsPerCTA = [1, 1], instrShape = [16, 16, 128], isTransposed = true}>";
    let b = of(mfma, 1, "(16, 4)", 32);
    for (column, run) in (0..16).flat_map(|c| (0..4).map(move |r| (c, r))) {
        let found = told("gfx950", &format!("{b} at ({column}, {run})"), false);
        assert!(
            found.contains(&format!("laneid {}", run * 16 + column)),
            "{column}, {run}: {found}"
        );
    }
    assert!(answer(&a).contains("depends on the architecture"));
    assert!(told("sm_80", &a, false).contains("no matrix instruction of 16x8"));
    assert!(told("gfx950", "scales((8,8):(8,1), (16, 4), 32)", false).contains("an encoding"));
    let cube = of(mma, 0, "(32, 1, 4)", 32);
    assert!(told("sm_120a", &cube, false).contains("3 numbers, and 2 are needed"));
}

/// A transposing read of four rows of halves: lane 16g + i of the instruction addresses row 4 * (its group's) + i mod 4 of the
/// operand's run along k, and four columns from 4 * (i div 4) on.
#[test]
fn what_lanes_of_a_transposing_read_address() {
    let operand = "#ttg.dot_op<{opIdx = 1, parent = #ttg.amd_mfma<{version = 4, warpsPerCTA = [1, 1], instrShape = [16, 16, 16], \
         isTransposed = true}>, kWidth = 4}>";
    let read = format!("addressed({operand}, (16, 16), ds_read_b64_tr_b16)");
    let held = format!("{operand} @ 16x16");
    for (row, column) in (0..16u64).flat_map(|r| (0..16).map(move |c| (r, c))) {
        let of = |layout: &str| told("gfx950", &format!("{layout} at ({row}, {column})"), false);
        // The registers: lane and place of the element.
        assert!(of(&held).contains(&format!("laneid {}", row / 4 * 16 + column)), "{}", of(&held));
        let found = of(&read);
        // The element at place e of lane l comes from lane (l & ~15) + ((l >> 2) & 3) + 4e, half l & 3.
        let (lane, e) = (row / 4 * 16 + column, row % 4);
        let (slot, half) = ((lane & !15) + ((lane >> 2) & 3) + 4 * e, lane & 3);
        assert_eq!(found, format!("register {half}, laneid {slot}\n"), "{row}, {column}");
    }
    let of = |instruction: &str| {
        told("gfx950", &format!("addressed({operand}, (16, 16), {instruction})"), false)
    };
    let refused = of("ds_read_b64");
    assert!(refused.contains("does not do what is asked about"), "{refused}");
    // Of registers that hold less than a word there is none.
    let narrow = of("ds_read_b64_tr_b4");
    assert!(narrow.contains("the numbers of bits differ"), "{narrow}");
}

/// The number of elements is said also where no product of few symbols is it.
#[test]
fn sizes_of_many_symbols() {
    let tiled = answer("zipped_divide((M,K):(K,1), (128,64))");
    assert_eq!(
        tiled,
        "((128,64),(ceil_div(M,128),ceil_div(K,64))):((K,1),(128*K,64))\n\
         size 8192*ceil_div(M,128)*ceil_div(K,64)\n"
    );
    assert_eq!(answer("size(4:1)"), "4\n");
}

#[test]
fn functions_of_layouts() {
    // A = (8,8):(8,1), B = (2,2):(1,4): the complement of B in 64 is (2,8):(2,8); A at 1, 4, 2 and 8 is 8, 32, 16, 1.
    assert_eq!(value("logical_divide((8,8):(8,1), (2,2):(1,4))"), "((2,2),(2,8)):((8,32),(16,1))");
    // Positions 0, 2, 4, 6 of A are rows 0, 2, 4, 6: 16 apart.
    assert_eq!(value("compose((8,8):(8,1), complement(2:1, 8))"), "4:16");
    // 0, 1, 4, 5 repeated: 2 and 3 are filled by a stride of 2, then each 8.
    assert_eq!(value("complement((2,2):(1,4), 24)"), "(2,3):(2,8)");
    assert_eq!(value("coalesce((2,(1,6)):(1,(6,2)))"), "12:1");
    assert_eq!(value("recast((8,64):(64,1), 32, 16)"), "(8,32):(32,1)");
    assert_eq!(value("size((M,8):(8,1))"), "8*M");
    // Blocks of 8 x 64 side by side, down first: element (i, j) is in block (i / 8, j / 64), each of 512.
    let tiled = "tile_to_shape((8,64):(64,1), (16,128))";
    assert_eq!(value(tiled), "((8,2),(64,2)):((64,512),(1,1024))");
    assert_eq!(value(&format!("{tiled} at (9, 70)")), format!("m {}", 512 + 1024 + 64 + 6));
    assert_eq!(
        value("tile_to_shape((8,64):(64,1), (16,128), (1,0))"),
        "((8,2),(64,2)):((64,1024),(1,512))"
    );
    assert_eq!(
        value("tile_to_shape(S<3,3,3> o (8,64):(64,1), (16,64))"),
        "S<3,3,3> o 0 o ((8,2),(64,1)):((64,512),(1,0))"
    );
    assert_eq!(value("cosize(padded((64,64):(64,1), 64, 8))"), "4600"); // 63 * 72 + 64
    assert_eq!(value("injective((4,4):(1,2))"), "no"); // 2 * 1 = 1 * 2
    assert_eq!(value("runs((8,4):(1,16))"), "8");
    assert_eq!(
        value("let A = (8,4):(4,1); let B = A; equal(compose(A, right_inverse(B)), 32:1)"),
        "equal"
    );
    // Column 3 begins at 3 * 1.
    assert_eq!(value("slice((_, 3), (8,4):(4,1))"), "S[8:4] + 3");
}

#[test]
fn notations_of_peers_as_they_print_them() {
    let plain = "S[(8,4):(4@laneid,1)] + 7 + 5@warpid";
    assert_eq!(
        value("T.TileLayout(T.S[(8, 4) : (4 @ Axis.laneid, 1)] + (7 + 5 @ Axis.warpid))"),
        plain
    );
    assert_eq!(value(plain), plain);
    // The pointer's swizzle counts bytes; elements of 2 bytes are bits 1 and up.
    let swizzled = "S<3,3,3> o 0 o (8,64):(64,1)";
    assert_eq!(value("Sw<3,4,3> o smem_ptr[16b](unset) o (8,64):(64,1)"), swizzled);
    assert_eq!(value(swizzled), swizzled);
    assert_eq!(value("(8,8):(8,1) o (4,2):(2,1)"), value("compose((8,8):(8,1), (4,2):(2,1))"));
    // The descriptor's triple counts bytes as well.
    assert_eq!(
        value("<(128,64),(64,1),swizzle<3,4,3>,elem=f16>"),
        "S<3,3,3> o 0 o (128,64):(64,1)"
    );
    // Row 3: its chunks of 8 are XORed with 3.
    let shared =
        "#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}> @ 64x64";
    assert_eq!(value(&format!("{shared} of f16 at (3, 0)")), "m 216 (byte 432)"); // 3 * 64 + 3 * 8
    assert_eq!(
        value("#ttg.padded_shared<[512:+16] {order = [1, 0], shape = [64, 64]}> @ 64x64"),
        "padded(S[(64,64):(64,1)], 512, 16) @ 64x64"
    );
}

/// Files below a folder whose names end so.
/// The accumulators of `m16n8` by PTX's formula: row = lane / 4 + 8 * (register / 2), column = lane % 4 * 2 + register % 2.
#[test]
fn fragments_of_tilelang() {
    let written =
        "T.Fragment((16, 8), forward_fn=lambda i, j: (i % 8 * 4 + j // 2, i // 8 * 2 + j % 2))";
    let printed = "Fragment([16, 8] -> [4], replicate: 1, thread: 32, forward_thread: _i % 8 * 4 + _j // 2, \
                   forward_index: [_i // 8 * 2 + _j % 2])";
    let keys = "{thread = v0 % 8 * 4 + (v1 >> 1), index = v0 / 8 * 2 + v1 % 2} @ 16x8";
    for text in [written, printed, keys] {
        assert_eq!(value(text), "S[(2,8,4,2):(2,4@tx,1@tx,1)] @ 16x8", "{text}");
        assert_eq!(value(&format!("{text} at (11, 5)")), "m 3, tx 14", "{text}");
        assert_eq!(value(&format!("{text} where thread 14 register 3")), "(11, 5)", "{text}");
        let feeds = |on: &str| value(&format!("feeds({text} of f32, mma.m16n8k16.f32.f16.D){on}"));
        assert_eq!(feeds(" on sm_90a"), "yes, register by register", "{text}");
        assert!(feeds("").contains("the answer depends on the architecture"), "{text}");
    }
    // Threads 32 and up are another warp of 32, and the same wave of 64.
    let (low, high) =
        ("{thread = v0 * 4 + v1, index = 0} @ 16x4", "{thread = v1 * 16 + v0, index = 0} @ 16x4");
    assert_eq!(
        value(&format!("feeds({low}, {high}) on gfx942")),
        "no: elements have to change their lane"
    );
    let crossed = value(&format!("feeds({low}, {high}) on sm_90a"));
    assert_eq!(crossed, "no: elements have to change their warp, through shared memory");
    // Copies 4 threads apart, behind 8 others.
    let copied = "T.Fragment((4,), lambda i, rep: (rep * 4 + i + 8, 0), replicate=2)";
    assert_eq!(answer(&format!("{copied} at 3")), "tx 11\ntx 15\n");
    for (query, why) in [
        (
            "T.Fragment((8, 8), lambda i, j: (i ^ j, j))",
            "line 1, column 1: the map is no sum of digits",
        ),
        ("T.Fragment((8, 8), lambda i, j: (i + k, j))", "line 1, column 38: a name is none of"),
        (
            "{thread = v0, index = 0}",
            "line 1, column 25: this says where elements are once it has a shape",
        ),
        ("{thread = v2, index = 0} @ 4x4", "line 1, column 11: a name is none of"),
        ("feeds((8,8):(8,1), (8,8):(8,1))", "the layout has neither lanes nor threads"),
    ] {
        assert!(answer(query).contains(why), "{query}: {}", answer(query));
    }
}

fn files(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files(&path, out);
        } else if path.extension().is_some_and(|e| e == "jsonl") {
            out.push(path);
        }
    }
}

/// `T.TileLayout(...)` with its brackets, wherever TVM printed it.
fn printed(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    for (at, _) in text.match_indices("T.TileLayout(") {
        let mut depth = 0usize;
        let end = text[at..].char_indices().find_map(|(k, c)| {
            match c {
                '(' | '[' => depth += 1,
                ')' | ']' => {
                    depth -= 1;
                    if depth == 0 {
                        return Some(at + k + 1);
                    }
                }
                _ => {}
            }
            None
        });
        out.extend(end.map(|end| &text[at..end]));
    }
    out
}

#[test]
fn all_that_tvm_printed_is_read_and_printed_again() {
    let mut all = Vec::new();
    files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oracle/data"), &mut all);
    let mut seen = 0;
    for path in all {
        let text = fs::read_to_string(&path).expect("a file");
        for layout in printed(&text) {
            let once = value(layout);
            assert!(once.starts_with("S[") || once.starts_with("R["), "{layout}: {once}");
            assert_eq!(value(&once), once);
            seen += 1;
        }
    }
    assert!(seen > 100, "only {seen} layouts");
}

#[test]
fn operands_by_element_and_by_lane() {
    // PTX ISA, m16n8k16, accumulators: row = groupID (+ 8 for c2, c3), column = threadID_in_group * 2 + (i & 1).
    for i in 0..4u64 {
        for lane in 0..32u64 {
            let (row, column) = (lane / 4 + 8 * (i / 2), lane % 4 * 2 + i % 2);
            let query = format!("mma.m16n8k16.f32.f16.D at ({row}, {column})");
            assert_eq!(answer(&query), format!("bit {} (register {i}), laneid {lane}\n", 32 * i));
            let back = format!("mma.m16n8k16.f32.f16.D where lane {lane} register {i}");
            assert_eq!(answer(&back), format!("({row}, {column})\n"));
        }
    }
    // A: two halves a register; a2 and a3 are the rows 8 further.
    assert_eq!(answer("mma.m16n8k16.f32.f16.A where lane 1 register 1"), "(8, 2)\n(8, 3)\n");
    assert_eq!(
        told("", "atom(mma.m16n8k16.f32.f16).A at (9,2)", true),
        "{\"kind\": \"position\", \"places\": [{\"bit\": 32, \"register\": 1, \"laneid\": 5}]}\n"
    );
    // AMD's matrix calculator: i = 8 * (r / 4) + 4 * (lane / 32) + r % 4, j = lane % 32.
    for (lane, register) in [(0, 0), (33, 2), (63, 15), (31, 7)] {
        let (i, j) = (8 * (register / 4) + 4 * (lane / 32) + register % 4, lane % 32);
        let query = format!("v_mfma_f32_32x32x8_f16.D where lane {lane} register {register}");
        assert_eq!(told("gfx90a", &query, false), format!("({i}, {j})\n"));
    }
    let blocked = "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}> @ 64x64";
    // Lane 3 holds columns 12 to 15 of each 16; rows repeat after 8 rows of lanes times 4 warps.
    let expected: String = [0, 8, 16, 24].map(|row| format!("({row}, 13)\n")).concat();
    assert_eq!(answer(&format!("{blocked} where lane 3 register 1")), expected);
}

#[test]
fn families_are_listed() {
    let all = told("sm_90", "ldmatrix", false);
    assert_eq!(all.lines().count(), 7, "{all}");
    assert!(all.contains("  ldmatrix.x4.trans\n"), "{all}");
    let lds = told("gfx950", "global_load_lds_dwordx4", true);
    assert_eq!(
        lds,
        "{\"kind\": \"family\", \"text\": \"global_load_lds_dwordx4\", \"members\": [\"global_load_lds_dwordx4.saddr\", \"global_load_lds_dwordx4.vaddr\"]}\n"
    );
    assert!(told("sm_90", "ldmatrix.to", false).contains("they differ"));
}

#[test]
fn errors_say_where_what_and_what_to_do() {
    for (query, place, words) in [
        ("(8,8):(8;1)", "line 1, column 9", "expected `,`; as many strides as extents"),
        ("compose((8,8):(8,1), ", "line 1, column 22", "expected a layout"),
        ("compose((8,8):(8,1))", "line 1, column 1", "expected compose(A, B)"),
        ("foo(1)", "line 1, column 1", "no function `foo`"),
        ("let A = (8):(1);\nblub", "line 2, column 1", "nothing is called `blub`"),
        ("(8,8):(8,1) at (9, 0)", "line 1, column 16", "no element has this coordinate"),
        ("(8,8):(8,1) where lane 3", "line 1, column 19", "an axis that the layout has"),
        ("(8,8):(8,1) where byte 3", "line 1, column 19", "add the type, such as `of f16`"),
        ("(8,8):(8,1) on sm_1", "line 1, column 16", "no architecture has this name"),
        ("inverse((8,8):(8,2))", "line 1, column 1", "ask for right_inverse"),
        ("S[(8,4):(4@lanid,1)]", "line 1, column 12", "unknown axis `lanid`"),
        ("size(size(8:1))", "line 1, column 1", "expected a layout, and this is a number"),
        ("equal((8):(1), equal(8:1, 8:1))", "line 1, column 16", "ask it by itself"),
        ("(8,8):(8,1) @ 4x4", "line 1, column 13", "the numbers of elements differ: 64 and 16"),
        ("#ttg.blocked<{sizePerThread = [1], order = [0]}>", "line 1", "expected"),
        ("((((((((((((((8:1))))))))))))))", "line 1", "; "),
        (
            "S[8:1@laneid] + R[1000000000:8@laneid] at (1)",
            "line 1, column 1",
            "are not looked at one by one",
        ),
        (
            "S[8:1@laneid] + R[1000000000:8@laneid] where lane 3",
            "line 1, column 1",
            "ask about a part",
        ),
        // What shows while it is answered stands where the argument does.
        ("let A = 8:1; conflicts(A, 8:1, f16) on sm_90", "line 1, column 27", "no such part"),
        ("tmem_datapath_layout(\"DX\", 128, 256)", "line 1, column 1", "none of the choices"),
    ] {
        let text = answer(query);
        assert!(text.starts_with(place) && text.contains(words), "{query}: {text}");
    }
    let json = told("", "(8,8):(8;1)", true);
    assert!(json.starts_with(r#"{"kind": "error", "line": 1, "column": 9, "message": "#), "{json}");
}

#[test]
fn conflicts_and_what_would_be_free() {
    // By hand: rows of 64 halves are 128 bytes, all 32 banks of 4; eight rows of 16 bytes begin in the same bank, so that each of
    // the four groups of eight takes eight passes. Chunks of 8 halves (M = 3) XORed with the row's number, 8 chunks (S = 3), are free.
    let plain = told("sm_90", "conflicts((64,64):(64,1), ldmatrix, f16)", false);
    for line in [
        "ldmatrix.x4: 32 slots of 16 bytes",
        "passes 32, least 4; 16 instances take 512 passes",
        "in bank 0 meet slots 0 1 2 3 4 5 6 7\n",
        "free: S<3,3,3>\n",
        "free: swizzle mode 128B\n",
        "free: padded, 8 elements after each 64\n",
    ] {
        assert!(plain.contains(line), "{line}: {plain}");
    }
    let write = told("sm_90", "conflicts((64,64):(64,1), stmatrix, f16)", false);
    assert!(write.contains("stmatrix.x4") && write.contains("free: S<3,3,3>\n"), "{write}");
    // What is called free is free.
    for free in ["S<3,3,3> o (64,64):(64,1)", "padded((64,64):(64,1), 64, 8)"] {
        let query = format!("conflicts({free}, ldmatrix, f16)");
        let text = told("sm_90", &query, false);
        assert!(text.contains("passes 4, least 4") && text.contains("no conflicts"), "{text}");
    }
    // A column of a 32 x 32 tile of words: all 32 lanes in one bank; along a row: each in its own.
    let column = told("sm_80", "conflicts((32,32):(32,1), ld.shared.b32, f32, rows)", false);
    assert!(
        column.contains("passes 32, least 1") && column.contains("padded, 1 elements"),
        "{column}"
    );
    let row = told("sm_80", "conflicts((32,32):(32,1), ld.shared.b32, f32)", false);
    assert!(row.contains("no conflicts"), "{row}");
    // Padding that a wave's 64 * 16 bytes in a row leave room for: behind 512 halves. Rows of 1024 bytes begin in one of the 64
    // banks; 8 bytes more each row are the 2 words that a lane reads, 32 lanes * 2 = 64 banks.
    let direct = told(
        "gfx950",
        "conflicts((64,512):(512,1), v_mfma_f32_32x32x8_f16.A, f16, global_load_lds_dwordx4)",
        false,
    );
    assert!(direct.contains("passes 64, least 2"), "{direct}");
    assert!(direct.ends_with("free: padded, 4 elements after each 512\n"), "{direct}");
    // Rows shorter than that: no padding can stand between them.
    let short = told(
        "gfx950",
        "conflicts((64,64):(64,1), v_mfma_f32_32x32x8_f16.A, f16, global_load_lds_dwordx4)",
        false,
    );
    assert!(!short.contains("after each 64\n"), "{short}");
    for (query, words) in [
        ("conflicts((64,64):(64,1), ldmatrix, f16)", "the answer depends on the architecture"),
        ("conflicts((64,64):(64,1), ldmatrix) on sm_90", "add the type"),
        ("conflicts((64,64):(64,1), mma, f16) on sm_90", "does not do what is asked about"),
        ("conflicts((64,64):(65,1), ldmatrix, f16) on sm_90", "do not lie side by side"),
        ("conflicts((64,64):(64,1), ldmatrix, f17) on sm_90", "no element type"),
        ("conflicts((64,64):(64,1), ldmatrix, 16) on sm_90", "and this is a number"),
        ("conflicts((64,64):(64,1), ldmatrix, f16, sideways) on sm_90", "none of the choices"),
        (
            "conflicts((8,4):(4,1) of f16, S[(8,4):(4@laneid,1@register)], f16, rows) on sm_90",
            "none of the choices",
        ),
    ] {
        let text = answer(query);
        assert!(text.contains(words), "{query}: {text}");
    }
}

#[test]
fn descriptors_modes_and_maps() {
    // PTX ISA, matrix descriptor: start 0-13, leading 16-29, stride 32-45 (in units of 16 bytes), mode 62-63 (128B: 1).
    let depth =
        told("sm_90a", "descriptor(operand_tile((64, 64), k_major, 128B, f16), wgmma)", true);
    let word = (1u64 << 62) | ((1024 >> 4) << 32) | ((16 >> 4) << 16);
    assert!(depth.contains(&format!("\"word\": \"{word:#x}\"")), "{depth}");
    assert!(depth.contains("\"stride_byte_offset\": {\"bytes\": 1024, \"used\": true}"), "{depth}");
    // A tile along the outer coordinate: ((64, m), (8, k)): ((1, LBO), (64, SBO)), so that element (64, 0) lies at LBO and (0, 8)
    // at SBO; the swizzle leaves both where they are.
    let tile = "operand_tile((128, 64), mn_major, 128B, f16)";
    let outer = told("sm_90a", &format!("descriptor({tile}, wgmma)"), true);
    for (field, element) in [("leading", "(64, 0)"), ("stride", "(0, 8)")] {
        let place = told("sm_90a", &format!("{tile} at {element}"), true);
        let (_, byte) = place.split_once("\"byte\": ").expect("a byte");
        let bytes: u64 = byte.split('}').next().and_then(|n| n.parse().ok()).expect("a number");
        let expected = format!("\"{field}_byte_offset\": {{\"bytes\": {bytes}, \"used\": true}}");
        assert!(outer.contains(&expected), "{expected}: {outer}");
    }
    let other = told("sm_100a", &format!("descriptor({tile}, tcgen05)"), true);
    assert!(other.contains("\"descriptor\": \"tcgen05.shared\""), "{other}");
    // A plain row-major tile is none that a descriptor describes: its rows are no core matrices.
    assert!(
        told("sm_90a", "descriptor((64,64):(64,1), wgmma, f16)", false)
            .contains("step 1 of the layout is 64")
    );
    // CUTLASS: Swizzle<3,4,3> on bytes; CU_TENSOR_MAP_SWIZZLE_128B is 3; 128 elements of a byte are a row.
    let mode = told("sm_90", "swizzle(128B, fp8_e4m3)", true);
    for part in ["\"elements\": \"S<3,4,3>\"", "\"row_elements\": 128", "\"tma\": 3"] {
        assert!(mode.contains(part), "{part}: {mode}");
    }
    assert!(
        told("sm_90", "swizzle(128B, f16)", false)
            .contains("S<3,3,3> o LAYOUT of elements of 16 bits")
    );
    let map = told("sm_90", "tensor_map(S<3,4,3> o (64,128):(128,1), fp8_e4m3)", true);
    assert!(map.contains("\"mode\": \"128B\"") && map.contains("\"box\": [128, 64]"), "{map}");
    // 256 bytes do not fit the 128 of a row.
    let wide = told("sm_90", "tensor_map(S<3,3,3> o (64,128):(128,1), f16)", false);
    assert!(
        wide.contains("needs rows of 128 B, as long as the swizzle's, the tile has 256 B"),
        "{wide}"
    );
}

#[test]
fn from_one_distribution_to_another() {
    assert_eq!(
        answer("feeds(mma.m16n8k16.f32.f16.D, mma.m16n8k16.f32.f16.D)"),
        "yes, register by register\n"
    );
    // PTX: A of m16n8k16, element i of a lane: row = lane / 4 (+ 8 for i in 2, 3, 6, 7), k = lane % 4 * 2 + i % 2 (+ 8 for i >= 4).
    let nvidia = |row: usize, k: usize| {
        let lane = row % 8 * 4 + k % 8 / 2;
        (lane, k % 2 + 2 * (row / 8) + 4 * (k / 8))
    };
    // AMD's calculator: A of 16x16x16: row = lane % 16, k = 4 * (lane / 16) + register.
    let expected: Vec<String> = (0..4)
        .map(|register| {
            let lanes: Vec<String> = (0..64)
                .map(|lane| {
                    let (from, at) = nvidia(lane % 16, 4 * (lane / 16) + register);
                    format!("[{from}, {at}]")
                })
                .collect();
            format!("[{}]", lanes.join(", "))
        })
        .collect();
    let convert =
        told("gfx942", "convert(mma.m16n8k16.f32.f16.A, v_mfma_f32_16x16x16_f16.A)", true);
    let all = format!("{{\"kind\": \"conversion\", \"registers\": [{}]}}\n", expected.join(", "));
    assert_eq!(convert, all);
    let crossed = "feeds(mma.m16n8k16.f32.f16.A, v_mfma_f32_16x16x16_f16.A)";
    assert!(told("gfx942", crossed, false).starts_with("no: elements have to change their lane"));
    // Rows 2 and 3 on lanes 16 to 23, rows 4 and 5 on lanes 8 to 15: lane 8 has what lane 16 had.
    let turned = answer(
        "convert(S[(8,4):(4@laneid,1@laneid)], S[(2,2,2,4):(8@laneid,16@laneid,4@laneid,1@laneid)] @ 8x4)",
    );
    let from: Vec<usize> =
        (0..32).map(|lane| lane % 8 + 16 * (lane / 8 % 2) + 8 * (lane / 16)).collect();
    let listed: Vec<String> = from.iter().map(|lane| format!("{lane}.0")).collect();
    assert_eq!(turned, format!("register 0 <- lane.register {}\n", listed.join(", ")));
    let same = "S[(8,4):(4@laneid,1@laneid)]";
    assert_eq!(
        answer(&format!("convert({same}, {same})")),
        "register 0 <- register 0 of the same lane\n"
    );
}

#[test]
fn transposing_reads_and_tensor_memory() {
    // Source lane (l & ~15) + ((l >> 2) & 3) + 4e, half l & 3 (the transposing reads of gfx950).
    for lane in 0..64u64 {
        for e in 0..4 {
            let slot = (lane & !15) + ((lane >> 2) & 3) + 4 * e;
            let query =
                format!("ds_read_b64_tr_b16.to at ({}, {}, {})", slot / 16, slot % 16, lane & 3);
            assert_eq!(
                told("gfx950", &query, false),
                format!("laneid {lane}, bit {} (register {})\n", 16 * e, e / 2)
            );
        }
    }
    // Block scales stand where the copy for them puts them: cells of 32 bits have four, and each quarter of the lanes all.
    let places = |text: &str| {
        let number = |line: &str, word: &str| {
            let found = line.split(", ").find_map(|part| part.strip_prefix(word)).unwrap_or("0");
            found.split(' ').next().and_then(|n| n.parse::<u32>().ok()).unwrap()
        };
        let one = |line: &str| {
            let scale = 4 * number(line, "TCol ") + number(line, "bit ") / 8;
            (number(line, "TLane "), scale)
        };
        text.lines().map(one).collect::<std::collections::BTreeSet<_>>()
    };
    for (row, run) in (0..128).flat_map(|row| (0..4).map(move |run| (row, run))) {
        let tensor =
            answer(&format!("#ttng.tensor_memory_scales_encoding<> @ 128x4 at ({row}, {run})"));
        // There a column is a scale.
        let tensor: std::collections::BTreeSet<_> =
            places(&tensor).iter().map(|(lane, scale)| (*lane, scale / 4)).collect();
        let cell = format!("({}, {}, {run})", row % 32, row / 32);
        let copy = told("sm_100a", &format!("tcgen05.cp.32x128b.warpx4.one.to at {cell}"), false);
        assert_eq!(places(&copy), tensor, "{row}, {run}: {copy}");
        assert_eq!(tensor.len(), 4);
    }
    // A tile of 64 rows leaves every other sixteen lanes alone; columns may stand apart.
    let tile = |text: &str| value(&format!("#ttng.tensor_memory_encoding<blockM = {text}"));
    assert_eq!(
        tile("64, blockN = 64, colStride = 1> @ 64x64"),
        "S[(4,16,64):(32@TLane,1@TLane,1@TCol)] @ 64x64"
    );
    assert_eq!(
        tile("128, blockN = 64, colStride = 2> @ 128x64"),
        "S[(128,64):(1@TLane,2@TCol)] @ 128x64"
    );
    // Layout D: row and column are lane and column.
    assert_eq!(answer("tmem_datapath_layout(\"D\", 128, 256) at (5, 7)"), "TCol 7, TLane 5\n");
}

/// A picture has an element for each of the layout's, at its row and column, and marks what is asked for.
#[test]
fn pictures() {
    let drawn = |query: &str| {
        let mut storage = Box::new(QueryStorage::new());
        let mut out = String::new();
        let answer = ask(&TABLES, None, query, &mut storage).map_err(|e| e.to_string())?;
        answer.write_svg(&mut out).map_err(|e| e.to_string())?;
        Ok::<_, String>(out)
    };
    // Row-major 2 by 4: rows one below the other, positions in order.
    let svg = drawn("(2,4):(4,1)").unwrap();
    let cell = |x: u32, y: u32, label: &str| {
        format!("<rect x=\"{x}\" y=\"{y}\"") + "|" + &format!(">{label}</text></g>")
    };
    for (row, column, label) in [(0, 0, "0"), (0, 3, "3"), (1, 0, "4"), (1, 3, "7")] {
        let wanted = cell(8 + 56 * column, 28 + 24 * row, label);
        let (rect, text) = wanted.split_once('|').unwrap();
        let line = svg.lines().find(|line| line.contains(rect)).expect("there is such an element");
        assert!(line.contains(text), "{line}");
    }
    assert_eq!((svg.matches("<rect").count(), svg.matches("stroke-width").count()), (8, 0));
    // An accumulator: lanes and bits; the one that is asked for is marked, in row 3, column 5.
    let svg = drawn("mma.m16n8k16.f32.f16.D at (3, 5)").unwrap();
    let marked: Vec<_> = svg.lines().filter(|line| line.contains("stroke-width")).collect();
    assert_eq!((svg.matches("<rect").count(), marked.len()), (128, 1));
    assert!(marked[0].contains("<title>(3, 5): ") && marked[0].contains("laneid 14"), "{svg}");
    assert!(marked[0].contains(&format!("x=\"{}\" y=\"{}\"", 9 + 56 * 5, 29 + 24 * 3)));
    let svg = drawn("mma.m16n8k16.f32.f16.D where lane 3").unwrap();
    assert_eq!(svg.matches("stroke-width").count(), 4);
    // What XML keeps for itself is escaped, elements and groups are closed.
    let svg = drawn("S<3,3,3> o 0 o (8,64):(64,1)").unwrap();
    assert!(svg.contains("<title>S&lt;3,3,3&gt; o 0 o (8,64):(64,1)</title>"));
    assert_eq!((svg.matches("<g>").count(), svg.matches("</g>").count()), (512, 512));
    assert!(svg.ends_with("</svg>\n") && svg.matches('<').count() == svg.matches('>').count());
    // No layout, too many elements, a layout of symbols.
    assert!(drawn("size((8,4):(4,1))").unwrap_err().contains("layout"));
    assert!(drawn("(128,64):(64,1)").unwrap_err().contains("4096"));
    assert!(drawn("(M,8):(8,1)").is_err());
}

/// The ten questions of `tests/questions/ten.tsv`, which C and Python ask as well.
#[test]
fn the_ten_questions_have_the_answers_that_every_door_gives() {
    let text = include_str!("questions/ten.tsv");
    let mut seen = 0;
    for line in text.lines() {
        let mut parts = line.split('\t');
        let (Some(arch), Some(query), Some(expected)) = (parts.next(), parts.next(), parts.next())
        else {
            panic!("{line}");
        };
        assert_eq!(told(arch, query, true).trim_end(), expected, "{query}");
        seen += 1;
    }
    assert!(seen >= 10, "only {seen}");
}

/// Queries with every letter left out, doubled, or replaced, and every beginning of them: each is answered or refused, and the
/// refusal's place is in the text.
#[test]
fn what_is_no_query_is_refused_at_its_place() {
    let whole = [
        "logical_divide((8,8):(8,1), (2,2):(1,4))",
        "let A = (8,4):(4,1); equal(compose(A, right_inverse(A)), 32:1)",
        "Sw<3,4,3> o smem_ptr[16b](unset) o (8,64):(64,1) at (1, 2)",
        "T.TileLayout(T.S[(8, 4) : (4 @ Axis.laneid, 1)] + (7 + 5 @ Axis.warpid)) where lane 4",
        "#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}> @ 16x64 of f16",
        "mma.m16n8k16.f32.f16.D where lane 14 register 1 on sm_90",
        "descriptor(operand_tile((16, 64), k_major, 128B, f16), wgmma) on sm_90a",
        "tmem_datapath_layout(\"D\", 128, 256) at (5, 7)",
        "<(128,64),(64,1),swizzle<3,4,3>,elem=f16>",
    ];
    let (mut answered, mut refused) = (0u32, 0u32);
    let mut storage = Box::new(QueryStorage::new());
    let mut try_one = |query: &str| {
        let mut out = String::new();
        match ask(&TABLES, None, query, &mut storage) {
            Ok(answer) => {
                let _ = answer.write_json(&mut out);
                answered += 1;
            }
            Err(error) => {
                let lines = query.split('\n').count() as u32;
                let columns = query.chars().count() as u32;
                assert!((1..=lines).contains(&error.line), "{query}: {error:?}");
                assert!((1..=columns + 1).contains(&error.column), "{query}: {error:?}");
                error.write_text(query, &mut out).expect("a string takes all");
                assert!(out.contains("; ") || out.contains(": "), "{query}: {out}");
                refused += 1;
            }
        }
    };
    for query in whole {
        try_one(query);
        for at in 0..query.len() {
            try_one(&query[..at]);
            try_one(&format!("{}{}", &query[..at], &query[at + 1..]));
            for letter in ["(", ")", "9999999999", "-", "@", "\u{e9}", " o ", ","] {
                try_one(&format!("{}{letter}{}", &query[..at], &query[at + 1..]));
            }
        }
    }
    assert!(answered > 200 && refused > 2000, "{answered} answered, {refused} refused");
}

/// Texts as peers print them and people type them, and what they are.
#[test]
fn spellings_of_peers_and_people() {
    let blocked = "ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>";
    let whole = format!("#{blocked} @ 64x128");
    let expected = value(&whole);
    assert!(expected.ends_with(" @ 64x128"), "{expected}");
    for same in [
        format!("#{blocked} @ (64, 128)"),
        format!("#{} @ 64x128", blocked.replacen("ttg", "triton_gpu", 1)),
        format!("tensor<64x128xf16, #{blocked}>"),
        format!("tensor<64x128x!tt.ptr<f16>, #{blocked}>"),
        format!("#blocked = #{blocked}\n#other = #{blocked}\ntensor<64x128xf32, #other>"),
        format!("let E = #{blocked}; #E @ 64x128"),
    ] {
        assert_eq!(value(&same), expected, "{same}");
    }
    for (written, read) in [
        // CuTe's C++ prints static numbers with `_`, and a swizzled pointer in one word.
        ("((_2,_2),_4):((_1,_2),_4)", "((2,2),4):((1,2),4)"),
        ("(_8,M):(M,_1)", "(8,M):(M,1)"),
        ("Sw<3,4,3>_smem_ptr[16b](unset) o (_8,_64):(_64,_1)", "S<3,3,3> o 0 o (8,64):(64,1)"),
        ("Swizzle<3,3,3> o (8,64):(64,1)", "S<3,3,3> o 0 o (8,64):(64,1)"),
        // As document 000 calls it.
        (r#"tcgen05_atom_layout("32x32b", (128, 64), "float32")"#, "S[(128,64):(1@tid_in_wg,1)]"),
        // Names stand for numbers in every notation.
        ("let M = 8; let N = 4; (M,N):(N,1)", "(8,4):(4,1)"),
        ("let M = 8; make_layout((M,4))", "(8,4):(1,8)"),
        ("let M = 8; S[(M,4):(4@laneid,1)]", "S[(8,4):(4@laneid,1)]"),
        ("let M = 8; (M*2,MM):(1,M)", "(16,MM):(1,8)"),
        ("<(128,64),(1,128),elem=fp8_e4m3>", "(128,64):(1,128)"),
    ] {
        assert_eq!(value(written), read, "{written}");
        assert_eq!(value(read), read, "what is printed is read as it is");
    }
    let mma = "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>";
    let module = format!("#mma = {mma}\n#smem = #ttg.shared_memory\n#blocked = #{blocked}\n");
    for (written, whole) in [
        (
            "tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked}>>",
            format!("#ttg.slice<{{dim = 1, parent = #{blocked}}}> @ 128"),
        ),
        (
            "tensor<64x16xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>",
            format!("#ttg.dot_op<{{opIdx = 0, parent = {mma}, kWidth = 2}}> @ 64x16"),
        ),
    ] {
        let (read, same) =
            (told("sm_80", &format!("{module}{written}"), false), told("sm_80", &whole, false));
        assert_eq!(read.lines().next(), same.lines().next(), "{written}");
        assert!(same.starts_with("S["), "{same}");
    }
    assert!(
        told("", "#ttg.slice<{dim = 1, parent = #blocked}> @ 64", false)
            .starts_with("line 1, column 32: nothing is called"),
        "{}",
        told("", "#ttg.slice<{dim = 1, parent = #blocked}> @ 64", false)
    );
    let sliced = format!("#ttg.slice<{{dim = 1, parent = #{blocked}}}> @ 64");
    assert_eq!(value(&value(&sliced)), value(&sliced));
    let memory = "!ttg.memdesc<64x64xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>, #smem, mutable>";
    let free = told("sm_90", &format!("conflicts({memory}, ldmatrix)"), false);
    assert!(free.ends_with("no conflicts\n"), "{free}");
    // An instruction as PTX has it means the one with these numbers: column 33 of 64 is register 2 * (33 / 8) * 2 + 33 % 2 + 2 * 0 at
    // row 17 of warp 1.
    let ptx = "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16.D at (17, 33)";
    assert_eq!(
        told("sm_90a", ptx, false),
        told("sm_90a", "wgmma.m64n64k16.f32.f16.D at (17, 33)", false)
    );
    assert!(told("sm_90a", ptx, false).contains("(register 17)"));
    assert!(told("sm_90a", "wgmma.m64n64k16", false).contains("  wgmma.m64n{N}k16.f32.f16\n"));
    assert!(told("sm_90a", "wgmma.m64n63k16", false).contains("nothing is called"));
    assert!(told("sm_90", "figures", false).starts_with("sm_90: wave of 32"));
    // A swizzle of bytes is no layout of elements before these have a type; what is printed is read again.
    let tile = "<(128,64),(64,1),swizzle<3,4,3>>";
    assert!(answer(tile).starts_with(&format!("{tile}\nsize 8192; the swizzle counts bytes")));
    assert_eq!(answer(&format!("let A = {tile}; A of f16")), answer(&format!("{tile} of f16")));
    assert!(answer(&format!("{tile} at (1, 0)")).contains("the width of an element is not known"));
    assert!(answer(&format!("equal({tile}, {tile})")).contains("the width of an element"));
    assert_eq!(answer(&format!("{tile} of f16 at (1, 0)")), "m 72 (byte 144)\n");
    // An architecture's name alone asks the same; a second one behind it is refused.
    assert_eq!(answer("gfx950"), answer("figures() on gfx950"));
    assert!(
        answer("gfx950 on sm_90").contains("line 1, column 7"),
        "{}",
        answer("gfx950 on sm_90")
    );
    // Products of whatever depth; names are those of the types that are asked for.
    assert!(
        told("gfx942", "products(f16, f16, f32)", false)
            .contains("v_mfma_f32_32x32x8_f16  32x32x8\n")
    );
    assert!(
        told("sm_80", "products(u8, i8, i32)", false).contains("mma.m16n8k32.s32.u8.s8  16x8x32\n")
    );
    // Registers that are written are served as an architecture serves writes.
    let store = "conflicts((64,64):(64,1) of f16, #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 8], warpsPerCTA = [1, 1], order = [1, 0]}> @ 64x64, f16, write)";
    assert!(
        told("gfx942", store, false).contains("`write128`"),
        "{}",
        told("gfx942", store, false)
    );
    assert!(told("gfx942", &store.replace("write", "read"), false).contains("`read128`"));
}

/// What a question refuses is said at the argument.
#[test]
fn errors_of_questions_name_the_argument() {
    for (query, part) in [
        ("conflicts((64,64):(64,1), ldmatrx, f16) on sm_90", "ldmatrx"),
        ("conflicts((64,64):(64,1), ldmatrix, f17) on sm_90", "f17"),
        ("conflicts(f16, ldmatrix, f16) on sm_90", "f16, ldmatrix"),
        ("conflicts((64,64):(64,1), ldmatrix, f16, sideways) on sm_90", "sideways"),
        ("conflicts((64,64):(64,1), mma.m16n8k16.f32.f16, f16) on sm_90", "mma."),
        ("feeds(mma.m16n8k16.f32.f16.A, (8,4):(4,1)) on sm_90", "(8,4)"),
        ("swizzle(77B, f16) on sm_90", "77B"),
        ("swizzle(128B, f15) on sm_90", "f15"),
        ("products(fp9, f16) on sm_90", "fp9"),
        ("mma.m16n8k16.f32.f16.E at (1,1)", "mma."),
        ("conflicts on sm_90", "conflicts"),
        ("#nope @ 64x64", "nope"),
        ("tensor<64x64xf19, #ttg.shared_memory>", "f19"),
    ] {
        let column = query.find(part).expect("a part of the query") + 1;
        let text = answer(query);
        assert!(text.contains(&format!("column {column}:")), "{query}: {text}");
    }
}
