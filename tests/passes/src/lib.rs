//! What the tests of passes share: reading texts, running passes, comparing what comes out.
use lanebook::TABLES;
use lanebook::ir::{Options, Plain, Program, Storage, parse, print, verify};
use std::path::{Path, PathBuf};

/// Room for every program of these tests.
pub type Room = Storage<2048, 4096, 8192, 4096, 512, 512, 32768>;

/// Snippets: names that are not defined are free, operations that are not declared are kept.
pub const SNIPPET: Options = Options { keep_unknown: true, free_names: true };

/// A folder of this crate.
#[must_use]
pub fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// Texts of a folder by their names, in order.
#[must_use]
pub fn texts(name: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = std::fs::read_dir(folder(name))
        .unwrap_or_else(|error| panic!("{name}: {error}"))
        .map(|entry| entry.expect("an entry").path())
        .map(|path| (path.file_name().unwrap_or_default().to_string_lossy().into_owned(), std::fs::read_to_string(&path).expect("it reads")))
        .collect();
    found.sort();
    assert!(!found.is_empty(), "{name} is empty");
    found
}

/// Storage on the heap.
#[must_use]
pub fn room() -> Box<Room> {
    // Made on a stack that is large enough, and only then boxed.
    std::thread::Builder::new().stack_size(16 << 20).spawn(|| Box::new(Room::new())).expect("a thread").join().expect("it is made")
}

/// Reads and verifies a text, and hands the program on.
pub fn with<R>(text: &str, options: Options, body: impl FnOnce(&mut Program<'_, '_>) -> R) -> R {
    let mut storage = room();
    let mut program = parse(storage.pools(), &TABLES, text, options).unwrap_or_else(|error| panic!("{error:?}\n{}", shown(text, error.at.line)));
    if let Err(error) = verify(&mut program) {
        panic!("{error:?}\n{}", shown(text, error.at.line));
    }
    body(&mut program)
}

fn shown(text: &str, line: u32) -> String {
    let at = line as usize;
    text.lines().enumerate().filter(|(number, _)| number + 3 > at && *number < at + 2).map(|(number, line)| format!("{:4} {line}\n", number + 1)).collect()
}

/// A program's text.
#[must_use]
pub fn printed(program: &Program<'_, '_>) -> String {
    let mut out = String::new();
    print(program, &Plain, &mut out).expect("it prints");
    out
}

/// A text in the printer's spelling.
#[must_use]
pub fn normal(text: &str, options: Options) -> String {
    with(text, options, |program| printed(program))
}
