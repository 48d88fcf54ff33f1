//! Assemblers behind `lanebook check`: what they said is remembered and never trusted beyond its text,
//! and a text that makes one give up is blamed for that and hides nothing.
#![cfg(unix)]

use crate::support::{Ran, copy, folder, root, run_with};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

const ATOMS: &str = r#"(
    groups: [(name: "more", isa: "t", sources: ["book"], atoms: [
        (name: "nap", class: sync, template: "nap {n}", operands: [(name: "n", role: immediate, range: (0, 7))]),
        (name: "halt", class: control, template: "halt {d}", operands: [(name: "d", role: def, class: "r")]),
        (name: "hush", class: control, template: "hush"),
    ])],
)
"#;

/// Takes everything but `nap` of more than 5. Each text that it is asked about is counted. At `halt` without an `r8`
/// behind it it gives up, as late as at the next line.
const ASSEMBLER: &str = r#"#!/bin/sh
here=$(dirname "$0")
[ "$1" = --version ] && { cat "$here/version"; exit 0; }
echo run >> "$here/log"
awk -v f="$2" '
    broken { print f ":" FNR ": fatal: odd"; stop = 1; exit 1 }
    /^halt x/ { broken = 1 }
    /^nap [6-9]/ { print f ":" FNR ": error: too long a nap"; bad = 1 }
    END { exit (bad || stop) }' "$2"
"#;

/// The small tables with these atoms and the assembler; its folder.
fn tables(test: &str, atoms: &str) -> PathBuf {
    let at = folder(test);
    copy(&root().join("gen/tests/base"), &at);
    fs::write(at.join("hw-tables/more.ron"), atoms).expect("tables");
    let base = at.join("hw-tables/base.ron");
    let text = fs::read_to_string(&base).expect("tables");
    assert!(text.contains("has: [\"base\"]"), "{text}");
    fs::write(&base, text.replacen("has: [\"base\"]", "has: [\"base\", \"more\"]", 1))
        .expect("tables");
    let isa = at.join("rules/isa/t.ron");
    let named = r#"end: "end", assembler: (variable: "LANEBOOK_T_ASM", programs: ["no-such-program"], arguments: ["{target}", "{input}"],
        function: "{body}", error: "{input}:{line}: error: ", stops: "{input}:{line}: fatal: "),"#;
    let text = fs::read_to_string(&isa).expect("rules");
    fs::write(&isa, text.replace(r#"end: "end","#, named)).expect("rules");
    let program = at.join("asm");
    fs::write(&program, ASSEMBLER).expect("program");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("program");
    fs::write(at.join("version"), "asm version 1\n").expect("version");
    at
}

/// Runs the audit; how often the assembler was asked.
fn audit(at: &Path, more: &[&str]) -> (Ran, usize) {
    let log = at.join("log");
    let _ = fs::remove_file(&log);
    let program = at.join("asm");
    let args = [&["check", "--draft"], more].concat();
    let set = [("LANEBOOK_T_ASM", program.to_str().expect("path"))];
    let ran = run_with(at, &args, "", &set);
    let asked = fs::read_to_string(&log).map_or(0, |log| log.lines().count());
    (ran, asked)
}

#[test]
fn what_was_said_is_remembered_as_long_as_it_is_true() {
    let at = tables("assembled.memory", ATOMS);
    let kept = at.join("kept");
    let cache = ["--cache", kept.to_str().expect("path")];
    let (first, asked) = audit(&at, &cache);
    assert!(first.code == 1 && asked > 0, "{asked} {}{}", first.out, first.err);
    assert!(first.err.contains("asm refuses `nap 7`"), "{}", first.err);
    let same = |ran: &Ran| (&ran.out, &ran.err, ran.code) == (&first.out, &first.err, first.code);
    let (again, none) = audit(&at, &cache);
    assert!(same(&again) && none == 0, "{none} {}", again.err);
    // Nothing is kept unasked, unless there is a folder for what is built.
    let (plain, all) = audit(&at, &[]);
    assert!(same(&plain) && all == asked, "{all}");
    fs::create_dir(at.join("target")).expect("folder");
    assert_eq!((audit(&at, &[]).1, audit(&at, &[]).1), (asked, 0));
    assert_eq!(audit(&at, &["--no-cache"]).1, asked);
    assert!(at.join("target/lanebook-check").is_dir());
    // A file that is not whole is not believed, and made anew.
    for file in fs::read_dir(&kept).expect("folder").flatten() {
        let text = fs::read_to_string(file.path()).expect("file");
        fs::write(file.path(), text.replace("too long", "too brief")).expect("file");
    }
    let (mended, broken) = audit(&at, &cache);
    assert!(same(&mended) && broken > 0, "{broken} {}", mended.err);
    assert_eq!(audit(&at, &cache).1, 0);
    // Another version, the same text.
    fs::write(at.join("version"), "asm version 2\n").expect("version");
    assert_eq!((audit(&at, &cache).1, audit(&at, &cache).1), (asked, 0));
    // The same version, another program.
    let wider = ASSEMBLER.replace("nap [6-9]", "nap [9]");
    fs::write(at.join("asm"), &wider).expect("program");
    let (wider, all) = audit(&at, &cache);
    assert!(wider.code == 0 && all == asked, "{all} {}", wider.err);
    fs::write(at.join("asm"), ASSEMBLER).expect("program");
    // Another text.
    fs::write(at.join("hw-tables/more.ron"), ATOMS.replace("(0, 7)", "(0, 5)")).expect("tables");
    let (shorter, some) = audit(&at, &cache);
    assert!(shorter.code == 0 && some > 0, "{some} {}", shorter.err);
    // A program that names no version is asked each time.
    fs::write(at.join("version"), "").expect("version");
    assert_eq!((audit(&at, &cache).1, audit(&at, &cache).1), (asked, asked));
    // A folder that cannot be made is said.
    let file = at.join("version");
    let (no, _) = audit(&at, &["--cache", file.to_str().expect("path")]);
    assert!(no.code == 3 && no.err.contains("cannot keep anything in"), "{} {}", no.code, no.err);
    let (both, _) = audit(&at, &["--no-cache", "--cache", "x"]);
    assert_eq!(both.code, 2, "{}", both.err);
}

#[test]
fn a_text_that_cannot_be_read_is_blamed_and_hides_nothing() {
    // The fault is seen where the next text begins, which is not to blame.
    let at = tables("assembled.unreadable", &ATOMS.replace("halt {d}", "halt x {d}"));
    let (ran, _) = audit(&at, &[]);
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("asm refuses `halt x r8` for m1"), "{}", ran.err);
    assert!(ran.err.contains("asm refuses `nap 7` for m1"), "{}", ran.err);
    assert!(!ran.err.contains("refuses `hush`") && !ran.err.contains("cannot read"), "{}", ran.err);
    assert!(ran.err.contains("hw-tables/more.ron:4:"), "{}", ran.err);
    // Where the frame itself cannot be read no atom is.
    let at = tables("assembled.frame", ATOMS);
    let isa = at.join("rules/isa/t.ron");
    let text = fs::read_to_string(&isa).expect("rules");
    fs::write(&isa, text.replace(r#"function: "{body}""#, r#"function: "halt x\n\n{body}""#))
        .expect("rules");
    let (ran, _) = audit(&at, &[]);
    assert!(ran.code == 1 && ran.err.contains("asm cannot read the texts of `m1`"), "{}", ran.err);
    assert!(!ran.err.contains("asm refuses"), "{}", ran.err);
}
