//! Pages of the tree, held to the tree: the files that they name are there, and each crate's tour
//! names the crate's modules.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Pages for people who look for something.
const PAGES: [&str; 19] = [
    "docs/README.md",
    "docs/adding.md",
    "docs/asking.md",
    "docs/conflicts.md",
    "docs/elements.md",
    "docs/embedding.md",
    "docs/launching.md",
    "docs/loops.md",
    "docs/peers.md",
    "docs/reports.md",
    "docs/rules.md",
    "docs/tiles.md",
    "docs/versions.md",
    "src/FLOW.md",
    "tests/ADDING.md",
    "tests/README.md",
    "CONTRIBUTING.md",
    "README.md",
    "rules/README.md",
];

/// What stands between back-ticks and begins like a path of the tree.
fn paths(text: &str) -> Vec<&str> {
    let folders: Vec<String> = fs::read_dir(root())
        .expect("the tree")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    let quoted = text.split('`').skip(1).step_by(2);
    quoted
        .filter(|quote| {
            let first = quote.split('/').next().unwrap_or_default();
            quote.contains('/')
                && !quote.contains([' ', '*', '{', '<', '(', ':'])
                && !quote.starts_with("target/")
                && folders.iter().any(|folder| folder == first)
        })
        .collect()
}

#[test]
fn files_that_pages_name_are_there() {
    let mut seen = 0;
    for page in PAGES {
        let text = fs::read_to_string(root().join(page)).unwrap_or_else(|e| panic!("{page}: {e}"));
        for path in paths(&text) {
            // Placeholders are in capitals: NAME, PATH.
            let placeholder = |part: &str| part.len() > 2 && part == part.to_uppercase();
            if path.split(['/', '.']).any(placeholder) && !path.ends_with(".md") {
                continue;
            }
            assert!(root().join(path).exists(), "{page} names {path}, which is not there");
            seen += 1;
        }
    }
    assert!(seen > 60, "only {seen} paths were found: the reader is broken");
}

/// Crates with the file that has their tour.
const TOURS: [&str; 19] = [
    "src/lib.rs",
    "src/layout/src/lib.rs",
    "src/infer/src/lib.rs",
    "src/loops/src/lib.rs",
    "src/query/src/lib.rs",
    "src/tables/src/lib.rs",
    "src/ir/src/lib.rs",
    "src/tile/src/lib.rs",
    "src/passes/src/lib.rs",
    "src/plan/src/lib.rs",
    "src/emit/src/lib.rs",
    "src/check/src/lib.rs",
    "src/capi/src/lib.rs",
    "src/py/src/lib.rs",
    "gen/src/lib.rs",
    "gen/cli/src/main.rs",
    "gen/draw/src/lib.rs",
    "gen/report/src/lib.rs",
    "gen/page/src/lib.rs",
];

/// Modules that a file declares, those for tests left out.
fn modules(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut for_tests = false;
    for line in text.lines() {
        let declared = line.trim_start_matches("pub ").strip_prefix("mod ");
        let name = declared.map(|rest| rest.trim_end_matches([';', ' ', '{']));
        out.extend(name.filter(|_| !for_tests));
        for_tests = line.trim() == "#[cfg(test)]";
    }
    out
}

/// Whether a tour names a module: `name`, [`name`] or [`mod@name`].
fn names(tour: &str, module: &str) -> bool {
    tour.split('`').skip(1).step_by(2).any(|quote| {
        let quote = quote.trim_start_matches("mod@").trim_end_matches("()");
        quote == module || quote.split("::").next() == Some(module)
    }) || tour.contains(&format!("({module})"))
        || tour.contains(&format!("(mod@{module})"))
}

#[test]
fn each_tour_names_each_module() {
    let mut seen = 0;
    for file in TOURS {
        let text = fs::read_to_string(root().join(file)).expect("a source");
        let tour: String =
            text.lines().filter_map(|l| l.strip_prefix("//!")).map(|l| format!("{l}\n")).collect();
        let all = modules(&text);
        let missing: Vec<&&str> =
            all.iter().filter(|m| **m != "generated" && !names(&tour, m)).collect();
        assert!(missing.is_empty(), "the tour of {file} leaves out {missing:?}");
        seen += all.len();
    }
    assert!(seen > 100, "only {seen} modules");
    let crates: Vec<PathBuf> = fs::read_dir(root().join("src"))
        .expect("src")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.join("Cargo.toml").exists())
        .collect();
    for path in crates {
        let tour = path.join("src/lib.rs");
        let listed = TOURS.iter().any(|file| root().join(file) == tour);
        assert!(listed, "{} has no tour in the list", path.display());
    }
}

/// The readers themselves.
#[test]
fn what_is_missing_is_noticed() {
    assert_eq!(paths("`src/lib.rs` and `a/b.rs`, `cargo test`, `src`"), ["src/lib.rs"]);
    let text = "mod a;\npub mod b;\n#[cfg(test)]\nmod tests;\nmod c {\n";
    assert_eq!(modules(text), ["a", "b", "c"]);
    assert!(names("| `a` [`mod@b`] |", "a") && names("[`mod@b`]", "b") && !names("ab", "a"));
}

/// Queries of the guide, between back-ticks in its table of questions, are asked.
#[test]
fn the_guide_asks_what_is_answered() {
    use lanebook::query::{QueryStorage, ask};
    let text = fs::read_to_string(root().join("docs/asking.md")).expect("the guide");
    let (_, rest) = text.split_once("## Ten questions").expect("the questions");
    let (table, _) = rest.split_once("\n## ").expect("the next part");
    let mut asked = 0;
    for line in table.lines().filter(|line| line.starts_with("| ") && line.contains('`')) {
        let cell = line.rsplit(" | ").next().expect("a cell");
        for query in cell.split('`').skip(1).step_by(2) {
            let mut storage = Box::new(QueryStorage::new());
            let answer = ask(&lanebook::TABLES, None, query, &mut storage);
            let mut out = String::new();
            let written = answer.map(|answer| answer.write_text(&mut out));
            assert!(matches!(written, Ok(Ok(()))) && !out.is_empty(), "{query}: {written:?}");
            asked += 1;
        }
    }
    assert!(asked >= 10, "only {asked} queries");
}
