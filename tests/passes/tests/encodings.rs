//! Layouts that are none: found at their place, and taken by no pass for more than a name.
use lanebook::TABLES;
use lanebook::ir::{EncodingFault, ErrorKind, Node, parse, verify};
use lanebook::layout::triton::EncodingField;
use lanebook::pipeline::apply;
use lanebook::remat::check_layouts;
use lanebook_pass_tests::generate::Random;
use lanebook_pass_tests::judge::meanings;
use lanebook_pass_tests::{SNIPPET, printed, room, texts, with};

/// A program of three lines of aliases, and a function that converts from `#a` to `#b`.
fn text(a: &str, b: &str, shape: &str) -> String {
    format!(
        "#a = {a}\n#b = {b}\nmodule attributes {{\"ttg.num-warps\" = 4 : i32, ttg.target = \"cuda:80\", \"ttg.threads-per-warp\" = 32 : i32}} {{
tt.func @f(%x: tensor<{shape}xf32>) {{
  %y = ttg.convert_layout %x : tensor<{shape}xf32> -> tensor<{shape}xf32, #a>
  %z = math.exp %y : tensor<{shape}xf32, #a>
  %w = ttg.convert_layout %z : tensor<{shape}xf32, #a> -> tensor<{shape}xf32, #b>
  use %w : tensor<{shape}xf32, #b>
  tt.return
}}
}}
"
    )
}

const GOOD: &str = "#ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>";

#[track_caller]
fn wrong(a: &str, b: &str, shape: &str, place: (u32, u32), kind: ErrorKind) {
    let text = text(a, b, shape);
    with(&text, SNIPPET, |program| {
        let error = check_layouts(program).expect_err("it is none");
        assert_eq!((error.kind, (error.at.line, error.at.column)), (kind, place), "{text}");
        // Passes neither panic nor change what the program does.
        let wanted = meanings(program);
        let mut work = Box::new(heapless::Vec::<Node, 1024>::new());
        for pass in ["remove-conversions", "remove-aliases", "remove-dead-args"] {
            apply(&TABLES, pass, program, work.as_mut_view(), &mut 1_000, |_| {})
                .unwrap_or_else(|error| panic!("{pass}: {error:?}\n{text}"));
            verify(program).expect("still well formed");
            assert_eq!(meanings(program), wanted, "{pass}\n{}", printed(program));
        }
    });
}

fn fault(fault: EncodingFault) -> ErrorKind {
    ErrorKind::Encoding { fault }
}

#[test]
fn layouts_that_are_none_are_found_where_they_stand() {
    let blocked = |size: &str, lanes: &str, order: &str| {
        format!(
            "#ttg.blocked<{{sizePerThread = {size}, threadsPerWarp = {lanes}, warpsPerCTA = [1, 4], order = {order}}}>"
        )
    };
    let at = (5, 8);
    wrong(
        &blocked("[4]", "[8, 4]", "[0, 1]"),
        GOOD,
        "64x64",
        at,
        fault(EncodingFault::Rank { field: EncodingField::SizePerThread, expected: 2, found: 1 }),
    );
    wrong(
        &blocked("[4, 3]", "[8, 4]", "[0, 1]"),
        GOOD,
        "64x64",
        at,
        fault(EncodingFault::NotPowerOfTwo { field: EncodingField::SizePerThread, value: 3 }),
    );
    wrong(
        &blocked("[0, 1]", "[8, 4]", "[0, 1]"),
        GOOD,
        "64x64",
        at,
        fault(EncodingFault::NotPowerOfTwo { field: EncodingField::SizePerThread, value: 0 }),
    );
    wrong(
        &blocked("[4, 1]", "[8, 4]", "[1, 1]"),
        GOOD,
        "64x64",
        at,
        fault(EncodingFault::NotAnOrder { at: 1, value: 1 }),
    );
    let order = fault(EncodingFault::NotAnOrder { at: 0, value: 7 });
    wrong(GOOD, &blocked("[4, 1]", "[8, 4]", "[7, 1]"), "64x64", (7, 8), order);
    let rank =
        fault(EncodingFault::Rank { field: EncodingField::SizePerThread, expected: 1, found: 2 });
    wrong(GOOD, GOOD, "64", at, rank);
    let linear = "#ttg.linear<{register = [[1, 1]], lane = [[1, 0]], warp = [], block = []}>";
    wrong(linear, GOOD, "2x2", at, fault(EncodingFault::NotAPermutation { input: 0, bit: 0 }));
}

#[test]
fn texts_that_cannot_be_read_are_found_where_they_stand() {
    wrong(
        "#ttg.blocked<{sizePerThread = [4, 1], treadsPerWarp = [8, 4]}>",
        GOOD,
        "64x64",
        (1, 44),
        ErrorKind::LayoutText,
    );
    wrong(GOOD, "#ttg.bloked<{}>", "64x64", (2, 7), ErrorKind::LayoutText);
    // Behind an alias only its beginning is known.
    wrong(GOOD, "#ttg.slice<{dim = 0, paren = #a}>", "64", (2, 6), ErrorKind::LayoutText);
    let inside = text(GOOD, GOOD, "64x64").replace("f32, #a>", "f32, #ttg.slice<{dim = 9}>>");
    let error =
        with(&inside, SNIPPET, |program| check_layouts(program).expect_err("it cannot be read"));
    assert_eq!((error.kind, error.at.line, error.at.column), (ErrorKind::LayoutText, 5, 8));
}

#[test]
fn aliases_of_each_other_are_found() {
    wrong(
        "#ttg.slice<{dim = 0, parent = #b}>",
        "#ttg.slice<{dim = 0, parent = #a}>",
        "64",
        (1, 6),
        ErrorKind::AliasCycle,
    );
    wrong("#a", GOOD, "64x64", (1, 6), ErrorKind::AliasCycle);
    wrong(
        GOOD,
        "#ttg.dot_op<{opIdx = 0, parent = #b, kWidth = 2}>",
        "64x64",
        (2, 6),
        ErrorKind::AliasCycle,
    );
    // A chain into a circle that it is not part of.
    let kind = ErrorKind::AliasCycle;
    wrong("#ttg.slice<{dim = 0, parent = #b}>", "#b", "64", (1, 6), kind);
}

#[test]
fn layouts_of_real_kernels_and_of_other_notations_are_none_of_these() {
    let mut count = 0;
    for folder in ["ttgir", "triton", "anchors", "products", "seed"] {
        for (name, text) in texts(folder)
            .into_iter()
            .filter(|(name, _)| name.ends_with(".mlir") || name.ends_with(".tile"))
        {
            with(&text, SNIPPET, |program| {
                check_layouts(program).unwrap_or_else(|error| panic!("{folder}/{name}: {error:?}"))
            });
            count += 1;
        }
    }
    assert!(count > 80, "{count}");
}

/// Kernels with bytes of their layouts changed: errors or not, nothing panics, and what the program
/// does stays.
#[test]
fn damaged_layouts_do_no_damage() {
    let mut random = Random::new(11);
    let (mut refused, mut ran) = (0, 0);
    let kernels = texts("ttgir");
    let mut storage = room();
    let mut work = Box::new(heapless::Vec::<Node, 8192>::new());
    for _ in 0..400 {
        let (_, text) = &kernels[random.below(kernels.len())];
        let lines =
            text.lines().take_while(|line| line.starts_with('#')).map(str::len).sum::<usize>();
        let mut bytes = text.clone().into_bytes();
        for _ in 0..1 + random.below(3) {
            let at = random.below(lines);
            if bytes[at] != b'\n' {
                bytes[at] = b"0123456789,[]{}#=abr <>"[random.below(23)];
            }
        }
        let Ok(text) = String::from_utf8(bytes) else { continue };
        let Ok(mut program) = parse(storage.pools(), &TABLES, &text, SNIPPET) else { continue };
        if verify(&mut program).is_err() {
            continue;
        }
        refused += u32::from(check_layouts(&program).is_err());
        if apply(
            &TABLES,
            "remove-conversions",
            &mut program,
            work.as_mut_view(),
            &mut 100_000,
            |_| {},
        )
        .is_ok()
        {
            verify(&mut program).unwrap_or_else(|error| panic!("{error:?}\n{text}"));
            ran += 1;
        }
    }
    assert!(refused > 50 && ran > 50, "{refused} refused, {ran} ran");
}
