//! Notations of other systems, as they and people write them.
use super::{answer, told, value};
use std::fs;
use std::path::{Path, PathBuf};

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

#[test]
fn notations_of_peers_as_they_print_them() {
    let plain = "S[(8,4):(4@laneid,1)] + 7 + 5@warpid";
    assert_eq!(
        value("T.TileLayout(T.S[(8, 4) : (4 @ Axis.laneid, 1)] + (7 + 5 @ Axis.warpid))"),
        plain
    );
    assert_eq!(value(plain), plain);
    // Without iters TVM prints a call; numbers may have a width, and extents may be sums.
    assert_eq!(value(r#"T.TileLayout.from_iters(offset={"warpid": 5})"#), "S[()] + 5@warpid");
    assert_eq!(
        value(r#"TileLayout.from_iters([T.Iter(T.int64(8), 4, "laneid")], [])"#),
        "S[8:4@laneid]"
    );
    for text in ["S[(M * 4 + 1, 8) : (8, 1)]", "(1+4*M,8):(8,1)"] {
        assert_eq!(
            value(&format!("let M = 8; {text}")),
            value(&text.replace("M * 4 + 1", "33").replace("1+4*M", "33"))
        );
    }
    assert_eq!(value("S[(M * 4 + 1, 8) : (8, 1)]"), "S[(4*M+1,8):(8,1)]");
    assert_eq!(value("size(S[(4*M+1,8):(8,1)])"), "8*(4*M+1)");
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

/// TIRx's methods as functions, the layout first.
#[test]
fn tilings_factors_and_regions_of_tirx() {
    let tiled = "S[(2,8,4,8):(256,8,64,1)]";
    let factor = |function: &str, one: &str, shape: &str| {
        value(&format!("{function}({one}, {tiled}, (16,32), {shape})"))
    };
    assert_eq!(factor("is_tile_inner", "S[(8,8):(8,1)]", "(8,8)"), "S[8:1]");
    assert_eq!(value("is_direct_sum_right(S[4:1], S[(3,4):(8,1)], (3,4), 4)"), "S[3:8]");
    assert_eq!(value("is_direct_sum_left(S[3:8], S[(3,4):(8,1)], (3,4), 3)"), "S[4:1]");
    assert_eq!(value("slice(S[(8,8):(8,1)], (8,8), ((2,4),(4,8)))"), "S[(2,4):(8,1)] + 20");
    let odd = answer("slice(S[(8,8):(8,1)], (8,8), (2,4,4))");
    assert!(odd.contains("coordinate"), "{odd}");
    // Half of one warp and half of the next are one run of threads, where a warp has 32 lanes.
    let threads = "S[(4,32):(1@warpid,1@laneid)]";
    let crossing = format!("slice({threads}, 128, (16, 48))");
    assert!(answer(&crossing).contains("no layout walks over this region"));
    assert_eq!(value(&format!("{crossing} on sm_90")), "S[32:1@tx] + 16@tx");
    assert!(answer(&format!("{crossing} on gfx942")).contains("no layout walks"));
    let lanes = format!("is_tile_inner(S[32:1@laneid], {threads}, 128, 32)");
    assert_eq!(value(&lanes), "S[4:1@warpid]");
    assert_eq!(value(&format!("{lanes} on sm_90")), "S[4:1@tx]");
    assert_eq!(value(&format!("canonicalize({threads}) on sm_90")), "S[128:1@tx]");
    assert_eq!(value(&format!("canonicalize({threads})")), threads);
}

/// Triton's column actions: what a bit of the register, the lane or the warp does.
#[test]
fn columns_of_encodings_are_permuted() {
    let blocked = "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>";
    let of =
        |part: &str, order: &str| format!("permute_columns({blocked}, (32, 16), {part}, {order})");
    assert_eq!(value(&of("register", "(0, 1)")), value(&format!("{blocked} @ 32x16")));
    // Register 1 has what register 2 had.
    let turned = of("register", "(1, 0)");
    assert_eq!(
        answer(&format!("{turned} where lane 5 register 1")),
        answer(&format!("{blocked} @ 32x16 where lane 5 register 2"))
    );
    // Lane 1 has what lane 16 had.
    let lanes = of("lane", "(4, 0, 1, 2, 3)");
    assert_eq!(
        answer(&format!("{lanes} where lane 1 register 0 warp 2")),
        answer(&format!("{blocked} @ 32x16 where lane 16 register 0 warp 2"))
    );
    assert!(
        answer(&of("register", "(0, 0)")).contains("no order"),
        "{}",
        answer(&of("register", "(0, 0)"))
    );
    assert!(
        answer(&of("thread", "(0, 1)")).contains("none of the choices"),
        "{}",
        answer(&of("thread", "(0, 1)"))
    );
}
