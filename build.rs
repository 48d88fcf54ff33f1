//! Compiles `hw-tables/` and `rules/` into `OUT_DIR/tables.rs`.
//!
//! The work is `lanebook-gen`'s; this script says where, prints every error of a run before it fails, and asks cargo to
//! watch the inputs and nothing else. `LANEBOOK_GEN_DIR=dir` also writes the generated source there, to be looked at.
use lanebook_gen::{Mode, compile, load};
use std::path::{Path, PathBuf};
use std::process::exit;
use std::{env, fs};

/// The variable that names a folder for a readable copy.
const COPY: &str = "LANEBOOK_GEN_DIR";
/// The file that `src` includes.
const FILE: &str = "tables.rs";

fn main() {
    // Cargo sets both; without them this is not a build.
    let (Some(root), Some(out)) = (env::var_os("CARGO_MANIFEST_DIR"), env::var_os("OUT_DIR")) else {
        fail("CARGO_MANIFEST_DIR and OUT_DIR are set by cargo; run `cargo build`")
    };
    let root = PathBuf::from(root);
    for path in load::watched(&root) {
        // Relative, so that nothing depends on where the repository is.
        println!("cargo::rerun-if-changed={}", path.strip_prefix(&root).unwrap_or(&path).display());
    }
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed={COPY}");
    let text = match compile(&root, Mode::Release) {
        Ok(compiled) => compiled.rust(),
        Err(failure) => fail(&format!("{}{} errors in the tables", failure.full(), failure.diagnostics.sorted().len())),
    };
    write(&PathBuf::from(out).join(FILE), &text);
    if let Some(folder) = env::var_os(COPY).filter(|folder| !folder.is_empty()) {
        let folder = root.join(folder);
        if let Err(error) = fs::create_dir_all(&folder) {
            fail(&format!("{COPY}: cannot make {}: {error}", folder.display()));
        }
        write(&folder.join(FILE), &text);
    }
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
