//! Layouts of a text: each spelling is read once, equal maps have one number, and what is kept is
//! what the notation's own reader says.
use super::support::{BigStorage, STRICT, printed, tables};
use crate::{ErrorKind, LayoutFault, LayoutId, Pool, PositionOrder, Program, Shape, Type, parse};
use lanebook_layout::notation::{cute, tirx};
use lanebook_layout::{AxisId, Layout, NoSyms, PostMap, WellKnown};
use std::boxed::Box;
use std::format;
use std::string::String;

/// Cells of layouts that a program has.
fn cells(program: &Program<'_, '_>) -> usize {
    program.usage().iter().find(|pool| pool.pool == Pool::Made).unwrap().used
}

/// A program of tiles in shared memory with these layouts.
fn tiles(layouts: &[String]) -> String {
    let mut text = String::from("func @f() {threads = 32} {\n");
    for (number, layout) in layouts.iter().enumerate() {
        text += &format!("  %t{number} = alloc_tensor : tensor<8x8xf32, #smem, {layout}>\n");
    }
    text + "}\n"
}

fn id(program: &Program<'_, '_>, text: &str) -> LayoutId {
    program.layout_id(text).unwrap_or_else(|| panic!("{text}: not read")).unwrap()
}

/// However often a layout is written, under a name, in a type or at an operation, it is read once;
/// what is printed is the author's own spelling.
#[test]
fn a_spelling_is_read_once() {
    let spellings = ["(8,8):(8,1)", "((2,4),8):((8,16),1)", "S[(8,8):(8,1)]", "(8,8):(1,8)"];
    let with = |times: usize| {
        let mut text = String::from("#rows = (8,8):(8,1)\n#cols = (8,8):(1,8)\n");
        text += &tiles(&(0..times).map(|n| spellings[n % 4].into()).collect::<std::vec::Vec<_>>());
        let uses: String = (0..times)
            .map(|n| format!("  %n{n} = alloc_tensor : tensor<8x8xf16, #smem, #rows>\n  %a{n} = alloc_tensor {{layout = (8,8):(1,8)}} : tensor<8x8xf32, #smem>\n"))
            .collect();
        text.replace("{threads = 32} {\n", &format!("{{threads = 32}} {{\n{uses}"))
    };
    let mut read = std::vec::Vec::new();
    for times in [4, 100] {
        let mut storage = Box::new(BigStorage::new());
        let text = with(times);
        let mut program = parse(storage.pools(), tables(), &text, STRICT).unwrap();
        read.push(cells(&program));
        program.read_layouts().unwrap();
        assert_eq!(cells(&program), read[0], "nothing is read again");
        let out = printed(&program);
        for spelling in spellings.iter().chain(&["#rows", "layout = (8,8):(1,8)"]) {
            assert!(out.contains(spelling), "{spelling} is printed as it was written\n{out}");
        }
        // Two spellings of rows by rows-first notations, and TIRx's own order.
        let ids = spellings.map(|text| id(&program, text));
        assert_eq!(ids[0], ids[1]);
        assert_ne!(ids[0], ids[3]);
        assert_ne!(ids[0], ids[2], "it counts the other way");
    }
    assert_eq!(read[0], read[1]);
}

/// What goes wrong is kept too, and other notations are left to who knows them.
#[test]
fn faults_are_kept() {
    let faulty = [
        ("(8,8):(8", Some(LayoutFault::Unreadable)),
        ("S[(8,8):(M,1)]", Some(LayoutFault::Unreadable)),
        ("<(8,8),(8,1),elem=f16>", Some(LayoutFault::Element)),
        ("<(8,8),(8,1),swizzle<3,4,200>>", Some(LayoutFault::Swizzle)),
        ("#ttg.blocked<{}>", None),
    ];
    for (text, fault) in faulty {
        let mut storage = Box::new(BigStorage::new());
        let source = format!("#a = {text}\nfunc @f() {{threads = 32}} {{\n}}\n");
        let Ok(program) = parse(storage.pools(), tables(), &source, STRICT) else {
            // The text around it may already say so.
            assert_eq!(fault, Some(LayoutFault::Unreadable), "{text}");
            continue;
        };
        let body = program.alias("a").unwrap();
        assert_eq!(program.layout_id(body), fault.map(Err), "{text}");
        assert_eq!(program.layout_id("(8,8):(8,1)"), None, "what is nowhere was not read");
    }
}

/// What a mark takes back can be read again.
#[test]
fn undone_layouts_are_forgotten() {
    let mut storage = Box::new(BigStorage::new());
    let text = "#a = (8,8):(8,1)\nfunc @f() {threads = 32} {\n  %a = constant \"(8,8):(1,8)\" : index\n}\n";
    let Ok(mut program) = parse(storage.pools(), tables(), text, STRICT) else {
        panic!("a text beside the layouts");
    };
    let count = |program: &Program<'_, '_>| program.usage()[4].used;
    let types = count(&program);
    let (before, other) = (cells(&program), program.word("(8,8):(1,8)").unwrap());
    for _ in 0..3 {
        let mark = program.mark();
        program.read_layout(other).unwrap();
        assert!(cells(&program) > before);
        assert_ne!(id(&program, "(8,8):(1,8)"), id(&program, "(8,8):(8,1)"));
        let (at, len) = program.pools.make("another text").unwrap();
        assert_eq!(program.pools.make("another text"), Ok((at, len)));
        let f16 = tables().dtype_named("f16").unwrap();
        for rows in 1..40 {
            let ty = Type::tensor(Shape::of(&[rows, 8]).unwrap(), f16);
            let own = program.intern(ty).unwrap();
            assert_eq!((program.intern(ty), own.index()), (Ok(own), types + rows as usize - 1));
        }
        program.undo(mark);
        assert_eq!((cells(&program), count(&program)), (before, types));
        assert_eq!(program.layout_id("(8,8):(1,8)"), None);
        assert!(program.layout_id("(8,8):(8,1)").is_some());
    }
}

/// Random layouts: the number's layout maps each position as the written one does, and two numbers
/// are one exactly where all positions agree.
#[test]
fn numbers_are_maps() {
    let mut state = 11u64;
    let mut below = |n: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % n) as usize
    };
    let extents = ["(8,8)", "((2,4),8)", "(8,(4,2))", "((4,2),(2,4))"];
    let strides =
        ["(8,1)", "((1,2),8)", "(1,(8,32))", "((8,32),(1,2))", "(1,8)", "((8,16),1)", "(9,1)"];
    let posts = ["", "S<1,2,2> o 0 o ", "S<0,2,2> o 0 o "];
    for _ in 0..60 {
        let mut texts: std::vec::Vec<String> = std::vec::Vec::new();
        while texts.len() < 12 {
            let (shape, stride) = (extents[below(4)], strides[below(7)]);
            let text = format!("{}{shape}:{stride}", posts[below(3)]);
            if cute::parse(&text, &WellKnown, &mut NoSyms).is_ok() {
                texts.push(text);
            }
            texts.push(format!("S[{shape}:{stride}]"));
            if tirx::parse(texts.last().unwrap(), &WellKnown, &mut NoSyms).is_err() {
                texts.pop();
            }
        }
        let mut storage = Box::new(BigStorage::new());
        let source = tiles(&texts);
        let program = parse(storage.pools(), tables(), &source, STRICT)
            .unwrap_or_else(|error| panic!("{error:?}\n{source}"));
        let mut maps = std::vec::Vec::new();
        for text in &texts {
            let own = if text.starts_with("S[") {
                tirx::parse(text, &WellKnown, &mut NoSyms)
            } else {
                cute::parse(text, &WellKnown, &mut NoSyms)
            }
            .unwrap();
            let (number, mut kept) = (id(&program, text), Layout::new());
            let order = program.layout_at(number, &mut kept).unwrap();
            assert_eq!(order == PositionOrder::ColumnsFastest, text.starts_with("S["), "{text}");
            let along = |layout: &Layout| -> std::vec::Vec<u64> {
                let at = |x| layout.view().offset_on(x, AxisId::M).unwrap();
                (0..64).map(|x| at(x) as u64).collect()
            };
            assert_eq!(along(&own), along(&kept), "{text}");
            maps.push((number, order, along(&own), own.view().post));
        }
        for (a, b) in maps.iter().flat_map(|a| maps.iter().map(move |b| (a, b))) {
            if a.0 == b.0 {
                assert_eq!((a.1, &a.2), (b.1, &b.2));
            } else {
                // Swizzles that do nothing, or that reach beyond the tile, are kept as they stand.
                let plain = |m: &(LayoutId, PositionOrder, _, PostMap)| m.3 == PostMap::None;
                assert!(
                    a.1 != b.1 || a.2 != b.2 || !(plain(a) && plain(b)),
                    "one map under two numbers: {a:?} {b:?}"
                );
            }
        }
    }
}

/// Names of one text, and spellings of one map, are one layout where types must agree; others are not.
#[test]
fn names_of_one_layout_agree() {
    let blocked = "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>";
    let other = blocked.replace("[8, 4]", "[4, 8]");
    let cases = [
        (blocked, blocked, true),
        (blocked, &other, false),
        ("S[(8,8):(1@laneid,32@bit)]", "S[(2,4,8):(4@laneid,1@laneid,32@bit)]", true),
        ("S[(8,8):(1@laneid,32@bit)]", "S[(8,8):(32@bit,1@laneid)]", false),
        ("(8,8):(8,1)", "((2,4),8):((8,16),1)", true),
        ("(8,8):(8,1)", "(8,8):(1,8)", false),
        // TIRx counts columns first: the same map of a tile, and not the same of its positions.
        ("(8,8):(8,1)", "S[(8,8):(8,1)]", false),
    ];
    for (a, b, same) in cases {
        let text = format!(
            "#a = {a}\n#b = {b}\nfunc @f(%x: tensor<8x8xf32, #a>) {{threads = 32}} {{\n  %y = exp %x : tensor<8x8xf32, #b> -> tensor<8x8xf32, #b>\n}}\n"
        );
        let mut storage = Box::new(BigStorage::new());
        let agreed = parse(storage.pools(), tables(), &text, STRICT)
            .and_then(|mut program| crate::verify(&mut program));
        assert_eq!(agreed.is_ok(), same, "{text}{agreed:?}");
    }
}

/// More layouts than there are cells for: which pool, and at which text.
#[test]
fn too_many_layouts() {
    let layouts = |count: usize| -> std::vec::Vec<String> {
        (0..count).map(|n| format!("(8,8):({},1)", 8 + n)).collect()
    };
    let read = |count: usize| {
        let mut storage = Box::new(crate::SmallStorage::new());
        parse(storage.pools(), tables(), &tiles(&layouts(count)), STRICT).map(|_| ())
    };
    // One cell for a spelling, one for its map.
    assert_eq!(read(16), Ok(()));
    let error = read(17).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Capacity { pool: Pool::Made, limit: 32 });
    // The seventeenth tile stands in line 18.
    assert_eq!((error.at.line, error.at.len), (18, 12));
}
