//! Texts of the seeds and of other compilers are read, printed, and read again to the same program.
use lanebook_pass_tests::{SNIPPET, normal, printed, texts, with};

/// Every snippet of seed 001, as it stands there.
#[test]
fn snippets_of_the_seed() {
    let all = texts("seed");
    assert_eq!(all.len(), 12, "six pairs");
    for (name, text) in all {
        let once = normal(&text, SNIPPET);
        assert_eq!(normal(&once, SNIPPET), once, "{name}");
        assert!(once.len() > 60, "{name}: {once}");
    }
}

/// Triton's IR of real kernels, before its own conversion pass ran.
#[test]
fn kernels_of_triton() {
    for (name, text) in texts("ttgir") {
        let once = normal(&text, SNIPPET);
        let again = normal(&once, SNIPPET);
        assert_eq!(again, once, "{name}");
        // Nothing is lost: as many operations and conversions as the text has lines that define or
        // do something.
        let conversions = text.matches("ttg.convert_layout").count();
        assert_eq!(once.matches(" = convert_layout ").count(), conversions, "{name}");
        let count = |text: &str, what: &str| {
            text.lines().filter(|line| line.trim_start().starts_with(what)).count()
        };
        let defined = |text: &str| {
            text.lines()
                .filter(|line| line.trim_start().starts_with('%') && line.contains(" = "))
                .count()
        };
        assert_eq!(defined(&once), defined(&text), "{name}");
        assert_eq!(count(&once, "scf.yield"), count(&text, "scf.yield"), "{name}");
        // Alias lines hold the encodings; every tile keeps the one it was written with.
        with(&text, SNIPPET, |program| {
            let mut tiles = 0;
            let ops: Vec<_> = program.all().collect();
            for op in ops {
                for value in program.results(op) {
                    let ty = program.type_of(value);
                    if ty.is_tile() {
                        tiles += 1;
                        assert!(
                            !matches!(ty.encoding, lanebook::ir::TileEncoding::None),
                            "{name}: {}",
                            program.op_name(op)
                        );
                    }
                }
            }
            assert!(tiles > 20, "{name}: {tiles} tiles\n{}", printed(program));
        });
    }
}
