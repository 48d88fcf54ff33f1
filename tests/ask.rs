//! The query language, from text to text. What is expected was worked out by hand (said beside it), or is another
//! system's own answer.

use lanebook::TABLES;
use lanebook::query::{QueryStorage, WriteError, ask};
use std::fs;
use std::path::{Path, PathBuf};

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
                why.write_text(query, &mut out).expect("a string takes all");
            }
        }
        Err(error) => error.write_text(query, &mut out).expect("a string takes all"),
    }
    out
}

fn answer(query: &str) -> String {
    told("", query, false)
}

/// The first line of the answer: the value itself.
fn value(query: &str) -> String {
    answer(query).lines().next().unwrap_or_default().to_string()
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
        "padded(S[(64,64):(64,1)], 512, 16)"
    );
}

/// Files below a folder whose names end so.
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
    ] {
        let text = answer(query);
        assert!(text.starts_with(place) && text.contains(words), "{query}: {text}");
    }
    let json = told("", "(8,8):(8;1)", true);
    assert!(json.starts_with("line 1, column 9"), "{json}");
}
