//! What emission makes of small programs: `emission/NAME.tile` with the lines that matter beside
//! the program.
//!
//! A file says what it is about (`//;; about:`), and in blocks for which architecture and after which
//! stage (`//;; compile: sm_80 waits`) the instructions that begin with certain words (`//;; show:
//! shfl bar.sync`) are exactly those of the `//;; check:` lines, in this order. `LANEBOOK_BLESS=1` writes
//! the check lines anew. tests/ADDING.md says how to add one.
#![allow(missing_docs)]

use lanebook::TABLES;
use lanebook::compile::compile_until;
use lanebook::emit::EmitStage;
use lanebook::ir::{Options, SmallStorage, parse, verify};
use lanebook_kernels::room;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// Lines for one architecture and stage.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Block {
    arch: String,
    stage: EmitStage,
    show: Vec<String>,
    check: Vec<String>,
}

/// A file: what it is about, its blocks, the program.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Case {
    about: String,
    blocks: Vec<Block>,
    program: String,
}

impl Case {
    /// Reads a file.
    fn read(text: &str) -> Result<Self, String> {
        let mut case = Self { about: String::new(), blocks: Vec::new(), program: String::new() };
        for line in text.lines() {
            let Some(said) = line.strip_prefix("//;;") else {
                case.program.push_str(line);
                case.program.push('\n');
                continue;
            };
            let (key, value) =
                said.split_once(':').ok_or_else(|| format!("`{line}` has no `KEY:`"))?;
            let value = value.trim();
            let last = || format!("`{line}` stands before a `;; compile:` line");
            match key.trim() {
                "about" => case.about = value.into(),
                "compile" => {
                    let (arch, stage) = value.split_once(' ').unwrap_or((value, "waits"));
                    let stage = EmitStage::named(stage).ok_or(format!("no stage `{stage}`"))?;
                    let (arch, show, check) = (arch.to_string(), Vec::new(), Vec::new());
                    case.blocks.push(Block { arch, stage, show, check });
                }
                "show" => {
                    case.blocks.last_mut().ok_or_else(last)?.show =
                        value.split(' ').map(str::to_string).collect()
                }
                "check" => case.blocks.last_mut().ok_or_else(last)?.check.push(value.into()),
                other => return Err(format!("`;; {other}:` is no key")),
            }
        }
        if case.about.is_empty() || case.blocks.is_empty() {
            return Err("a case has `;; about:` and at least one `;; compile:`".into());
        }
        if case.blocks.iter().any(|block| block.show.is_empty()) {
            return Err("a block has `;; show:` with the words that its lines begin with".into());
        }
        Ok(case)
    }

    /// The file with these lines.
    fn write(&self) -> String {
        let mut out = format!("//;; about: {}\n", self.about);
        for block in &self.blocks {
            let _ = writeln!(out, "//;; compile: {} {}", block.arch, block.stage.name());
            let _ = writeln!(out, "//;; show: {}", block.show.join(" "));
            for line in &block.check {
                let _ = writeln!(out, "//;; check: {line}");
            }
        }
        out + &self.program
    }
}

/// The instructions that a block is about, as they are made.
fn made(program: &str, block: &Block) -> Vec<String> {
    let id = TABLES.arch_named(&block.arch).unwrap_or_else(|| panic!("no {}", block.arch));
    let mut pools = Box::new(SmallStorage::new());
    let mut parsed = parse(pools.pools(), &TABLES, program, Options::default()).expect("a program");
    verify(&mut parsed).expect("a sound program");
    let mut room = room();
    let compiled = compile_until(&TABLES, id, &mut parsed, room.scratch(), block.stage)
        .unwrap_or_else(|error| panic!("{}: {error:?}", block.arch));
    let mut text = String::new();
    compiled.dump(&TABLES, &parsed, &mut text).expect("text");
    let begins = |line: &str| block.show.iter().any(|word| line.starts_with(word.as_str()));
    text.lines().map(str::trim).filter(|line| begins(line)).map(str::to_string).collect()
}

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("emission");
    let entries = fs::read_dir(folder).expect("emission").map(|entry| entry.expect("an entry"));
    let mut out: Vec<_> = entries.map(|entry| entry.path()).collect();
    out.sort();
    out
}

#[test]
fn every_file_shows_what_it_says() {
    let bless = std::env::var_os("LANEBOOK_BLESS").is_some();
    let (mut wrong, mut isas) = (String::new(), std::collections::BTreeSet::new());
    let files = files();
    for path in &files {
        let name = path.file_name().expect("a name").to_string_lossy();
        let text = fs::read_to_string(path).expect("a file");
        let mut case = Case::read(&text).unwrap_or_else(|why| panic!("{name}: {why}"));
        for block in &mut case.blocks {
            let found = made(&case.program, block);
            let arch = TABLES.arch_named(&block.arch).and_then(|id| TABLES.arch(id));
            isas.extend(arch.map(|arch| arch.vendor));
            if found != block.check && !bless {
                let _ = writeln!(
                    wrong,
                    "{name}, {} after {}:\n  wanted\n    {}\n  found\n    {}",
                    block.arch,
                    block.stage.name(),
                    block.check.join("\n    "),
                    found.join("\n    ")
                );
            }
            block.check = found;
        }
        if bless && case.write() != text {
            fs::write(path, case.write()).expect("a file that can be written");
        }
    }
    assert!(wrong.is_empty(), "{wrong}\nLANEBOOK_BLESS=1 takes what is found");
    assert!(files.len() >= 10 && isas.len() >= 2, "{} files for {isas:?}", files.len());
}

/// The reader and the comparison themselves.
#[test]
fn a_line_that_differs_is_found() {
    let path = &files()[0];
    let text = fs::read_to_string(path).expect("a file");
    let case = Case::read(&text).expect("a case");
    assert_eq!(case.write(), text, "what is read is written the same");
    let block = &case.blocks[0];
    let right = made(&case.program, block);
    assert_eq!(right, block.check);
    assert!(!right.is_empty(), "{} shows nothing", path.display());
    let nothing = Block { show: vec!["no such instruction".into()], ..block.clone() };
    assert!(made(&case.program, &nothing).is_empty());
    for (text, why) in [
        ("//;; check: x\n", "before a `;; compile:` line"),
        ("//;; about x\n", "has no `KEY:`"),
        ("//;; about: x\n", "at least one `;; compile:`"),
        ("//;; about: x\n//;; compile: sm_80\n", "has `;; show:`"),
        ("//;; about: x\n//;; compile: sm_80 nowhere\n", "no stage `nowhere`"),
        ("//;; about: x\n//;; chek: y\n", "`;; chek:` is no key"),
    ] {
        let said = Case::read(text).expect_err(text);
        assert!(said.contains(why), "{text}: {said}");
    }
}
