//! What a reader of `src` may rely on: a type's name has one meaning, and a function ends before its
//! hundredth line.

#[path = "floors/reader.rs"]
mod reader;

use reader::{code, sources};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Lines of a function, from `fn` to its closing brace.
const MOST_LINES: usize = 100;

/// Functions that are longer: the file below `src`, and the name. Nothing is added here; what is
/// split is taken out.
const LONG: &[(&str, &str)] = &[
    ("emit/src/lower/elementwise.rs", "elementwise"),
    ("emit/src/matrix/product.rs", "product"),
    ("emit/src/memory/address.rs", "prepare_global"),
];

/// Type names that are defined twice: a peer's own word, in the module that is named after the
/// peer.
const PEERS: &[(&str, &str)] = &[
    ("Fragment", "layout/src/tilelang/fragment.rs"),
    ("TensorMemory", "layout/src/triton/mod.rs"),
];

/// The sources of all crates below `src`, without tests: path below `src`, and text without
/// comments.
fn shipped() -> Vec<(String, String)> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let crates = fs::read_dir(&src).expect("src").map(|e| e.expect("an entry").path());
    let mut folders: Vec<PathBuf> = crates.filter(|p| p.join("Cargo.toml").exists()).collect();
    folders.push(src.clone());
    let mut out = Vec::new();
    for path in folders.iter().flat_map(|folder| sources(folder, folder)) {
        let below = path.strip_prefix(&src).expect("below src");
        let stem = below.file_stem().expect("a name").to_string_lossy();
        let is_test = below.components().any(|c| c.as_os_str() == "tests")
            || stem == "tests"
            || stem.ends_with("_tests");
        if !is_test {
            let text = code(&fs::read_to_string(&path).expect("a source"));
            out.push((below.to_string_lossy().replace('\\', "/"), text));
        }
    }
    out
}

/// What follows one of `words` in a line as an item: its name.
fn item<'l>(line: &'l str, words: &[&str]) -> Option<&'l str> {
    let mut rest = line.trim_start();
    loop {
        let (word, after) = rest.split_once(' ')?;
        if words.contains(&word) {
            let end = after.find(|c: char| !(c.is_alphanumeric() || c == '_'));
            return Some(&after[..end.unwrap_or(after.len())]).filter(|name| !name.is_empty());
        }
        let before = ["pub", "const", "unsafe", "async", "extern", "\"C\""];
        if !before.contains(&word) && !word.starts_with("pub(") {
            return None;
        }
        rest = after;
    }
}

/// Functions of a text with the lines that they take. Sources are formatted: a function ends with
/// the first line as far left as its own that closes it.
fn functions(text: &str) -> Vec<(&str, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let depth = |line: &str| line.len() - line.trim_start().len();
    let mut out = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some(name) = item(line, &["fn"]) else { continue };
        let ends = |l: &&&str| {
            !l.trim().is_empty() && depth(l) == depth(line) && l.trim_end().ends_with(['}', ';'])
        };
        let length = lines[at..].iter().position(|l| ends(&l)).expect("an end") + 1;
        out.push((name, length));
    }
    out
}

/// Types of a text. What is indented behind `type` belongs to a trait.
fn types(text: &str) -> Vec<&str> {
    let of = |line| {
        let inside: &str = line;
        item(inside, &["struct", "enum", "trait", "union"])
            .or_else(|| item(inside, &["type"]).filter(|_| !inside.starts_with(' ')))
    };
    text.lines().filter_map(of).collect()
}

#[test]
fn functions_end_before_their_hundredth_line() {
    let mut long = Vec::new();
    let mut seen = 0;
    for (path, text) in shipped() {
        for (name, lines) in functions(&text) {
            seen += 1;
            if lines > MOST_LINES {
                long.push((path.clone(), name.to_string(), lines));
            }
        }
    }
    assert!(seen > 3_000, "only {seen} functions were found: the reader is broken");
    let listed = |path: &str, name: &str| LONG.contains(&(path, name));
    let new: Vec<_> = long.iter().filter(|(path, name, _)| !listed(path, name)).collect();
    assert!(new.is_empty(), "split these by subject, into parts with names: {new:#?}");
    for (path, name) in LONG {
        let still = long.iter().any(|(p, n, _)| p == path && n == name);
        assert!(still, "{name} of {path} is short: take it out of LONG");
    }
}

#[test]
fn a_type_name_has_one_meaning() {
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (path, text) in shipped() {
        for name in types(&text) {
            places.entry(name.to_string()).or_default().push(path.clone());
        }
    }
    assert!(places.len() > 700, "only {} types: the reader is broken", places.len());
    for (name, path) in PEERS {
        let at = places.get_mut(*name).expect("a name of PEERS");
        at.retain(|p| p != path);
        assert_eq!(at.len(), 1, "{name} is defined once beside {path}: {at:?}");
    }
    let twice: Vec<_> = places.iter().filter(|(_, at)| at.len() > 1).collect();
    assert!(twice.is_empty(), "name these for what they are: {twice:#?}");
}

/// The reader itself.
#[test]
fn functions_and_types_are_found() {
    let text = "pub(crate) const fn one(\n    a: u8,\n) -> u8 {\n    a\n}\ntrait Two {\n    type Out;\n    fn three(&self);\n    fn four() {}\n}\npub type Five = u8;\npub unsafe extern \"C\" fn six() {\n}\nlet fnord = 1;\npub struct Seven<'a>(&'a u8);";
    assert_eq!(functions(text), [("one", 5), ("three", 1), ("four", 1), ("six", 2)]);
    assert_eq!(types(text), ["Two", "Five", "Seven"]);
}
