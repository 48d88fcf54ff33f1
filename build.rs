//! Compiles `hw-tables/` and `rules/` into `OUT_DIR/tables.rs`.
//!
//! The work is `lanebook-gen`'s; this script says where, prints every error of a run before it
//! fails, and asks cargo to watch the inputs and nothing else. Three variables change what is
//! built; folders are relative to the repository's:
//!
//! - `LANEBOOK_ARCHS=sm_80,gfx950`: these architectures only, with what they need (empty or unset:
//!   all);
//! - `LANEBOOK_TABLES=dir`: the hardware tables of one more folder, laid out like `hw-tables/`;
//! - `LANEBOOK_GEN_DIR=dir`: the generated source is also written there, to be looked at.
use lanebook_gen::{Mode, Wish, compile_wish, load, select};
use std::path::{Path, PathBuf};
use std::process::exit;
use std::{env, fs};

/// The variable that names a folder for a readable copy.
const COPY: &str = "LANEBOOK_GEN_DIR";
/// The variable that names a folder of further tables.
const EXTRA: &str = "LANEBOOK_TABLES";
/// The file that `src` includes.
const FILE: &str = "tables.rs";

fn main() {
    // Cargo sets both; without them this is not a build.
    let (Some(root), Some(out)) = (env::var_os("CARGO_MANIFEST_DIR"), env::var_os("OUT_DIR"))
    else {
        fail("CARGO_MANIFEST_DIR and OUT_DIR are set by cargo; run `cargo build`")
    };
    let root = PathBuf::from(root);
    for path in load::watched(&root) {
        // Relative, so that nothing depends on where the repository is.
        println!("cargo::rerun-if-changed={}", path.strip_prefix(&root).unwrap_or(&path).display());
    }
    println!("cargo::rerun-if-changed=build.rs");
    for variable in [COPY, EXTRA, select::VARIABLE] {
        println!("cargo::rerun-if-env-changed={variable}");
    }
    let extra = folder(&root, EXTRA);
    if let Some(extra) = extra.as_ref().filter(|extra| !extra.is_dir()) {
        fail(&format!("{EXTRA} names no folder: {}", extra.display()));
    }
    // The folder, too: it may be empty so far.
    for path in
        extra.iter().flat_map(|extra| load::watched_in(extra).into_iter().chain([extra.clone()]))
    {
        println!("cargo::rerun-if-changed={}", path.display());
    }
    let archs = match env::var(select::VARIABLE) {
        Ok(names) => select::listed(&names),
        Err(env::VarError::NotPresent) => None,
        Err(error) => fail(&format!("{}: {error}", select::VARIABLE)),
    };
    let text = match compile_wish(&root, Mode::Release, &Wish { archs, extra: extra.as_deref() }) {
        Ok(compiled) => compiled.rust(),
        Err(failure) => fail(&format!(
            "{}errors in the tables: {}",
            failure.full(),
            failure.diagnostics.errors()
        )),
    };
    write(&PathBuf::from(out).join(FILE), &text);
    if let Some(folder) = folder(&root, COPY) {
        if let Err(error) = fs::create_dir_all(&folder) {
            fail(&format!("{COPY}: cannot make {}: {error}", folder.display()));
        }
        write(&folder.join(FILE), &text);
    }
}

/// The folder that a variable names.
fn folder(root: &Path, variable: &str) -> Option<PathBuf> {
    env::var_os(variable).filter(|folder| !folder.is_empty()).map(|folder| root.join(folder))
}

fn write(path: &Path, text: &str) {
    if let Err(error) = fs::write(path, text) {
        fail(&format!("cannot write {}: {error}", path.display()));
    }
}

fn fail(message: &str) -> ! {
    eprintln!("{message}");
    exit(1)
}
