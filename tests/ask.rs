//! The query language, from text to text. What is expected was worked out by hand (said beside it), or is another
//! system's own answer.

use lanebook::TABLES;
use lanebook::query::{QueryError, QueryStorage, WriteError, ask};

#[path = "ask/layouts.rs"]
mod layouts;
#[path = "ask/machines.rs"]
mod machines;
#[path = "ask/peers.rs"]
mod peers;

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
