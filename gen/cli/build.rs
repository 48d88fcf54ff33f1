//! Lists the tables and rules that the command is built with, so that their rules can be proved where
//! no checkout is.
//!
//! Written is a Rust file of names and texts (`inputs.rs` in `OUT_DIR`). Where the two folders are not
//! beside this crate, as in a package of it alone, the list is empty and the command says so.
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Folders of inputs, relative to the repository's.
const FOLDERS: [&str; 2] = ["hw-tables", "rules"];

fn main() -> io::Result<()> {
    let from = |name: &str| env::var_os(name).map(PathBuf::from).unwrap_or_default();
    let root = from("CARGO_MANIFEST_DIR").join("../..");
    println!("cargo::rerun-if-changed=build.rs");
    let mut out = String::from("[\n");
    for folder in FOLDERS {
        let at = root.join(folder);
        if at.is_dir() {
            // The whole folder: a new file belongs to the list.
            println!("cargo::rerun-if-changed={}", at.display());
            let mut paths = Vec::new();
            files(&at, &mut paths)?;
            paths.sort();
            for path in paths {
                let name = path.strip_prefix(&root).unwrap_or(&path).to_string_lossy();
                let name = name.replace('\\', "/");
                let text = fs::canonicalize(&path)?;
                let _ = writeln!(out, "    ({name:?}, include_str!({text:?})),");
            }
        }
    }
    out += "]\n";
    fs::write(from("OUT_DIR").join("inputs.rs"), out)
}

/// The `*.ron` files below a folder.
fn files(folder: &Path, out: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if path.is_dir() && !path.is_symlink() && !hidden {
            files(&path, out)?;
        } else if !hidden && path.extension().is_some_and(|ext| ext == "ron") {
            out.push(path);
        }
    }
    Ok(())
}
