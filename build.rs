//! Puts the tables into `OUT_DIR/tables.rs`: compiled from `hw-tables/` and `rules/`, or as they lie
//! in `pregenerated/`.
//!
//! With the feature `generate`, which is there by default, `lanebook-gen` compiles them; this script
//! says where, prints every error of a run before it fails, and asks cargo to watch the inputs and
//! nothing else. Four variables change what is built; folders are relative to the repository's:
//!
//! - `LANEBOOK_ARCHS=sm_80,gfx950`: these architectures only, with what they need (empty or unset:
//!   all);
//! - `LANEBOOK_TABLES=dir`: the hardware tables of one more folder, laid out like `hw-tables/`;
//! - `LANEBOOK_GEN_DIR=dir`: the generated source is also written there, to be looked at;
//! - `LANEBOOK_PREGENERATE=1`: what is compiled of all of the inputs is left in `pregenerated/`, for
//!   packages and for builds without the feature (`.cargo/config.toml` says so for this repository).
//!
//! Without the feature no table compiler is built. `pregenerated/tables.rs` is taken if its first
//! line says that it was made of these very inputs, of all of them; the first two variables are
//! refused.
use std::path::{Path, PathBuf};
use std::process::exit;
use std::{env, fs};

/// The variable that names the architectures.
const ARCHS: &str = "LANEBOOK_ARCHS";
/// The variable that names a folder of further tables.
const EXTRA: &str = "LANEBOOK_TABLES";
/// Where tables lie for builds without the feature.
const PREGENERATED: &str = "pregenerated";
/// The file that `src` includes.
const FILE: &str = "tables.rs";
/// What the tables are made of.
const INPUTS: [&str; 2] = ["hw-tables", "rules"];

fn main() {
    // Cargo sets both; without them this is not a build.
    let (Some(root), Some(out)) = (env::var_os("CARGO_MANIFEST_DIR"), env::var_os("OUT_DIR"))
    else {
        fail("CARGO_MANIFEST_DIR and OUT_DIR are set by cargo; run `cargo build`")
    };
    let root = PathBuf::from(root);
    println!("cargo::rerun-if-changed=build.rs");
    for variable in [EXTRA, ARCHS] {
        println!("cargo::rerun-if-env-changed={variable}");
    }
    write(&PathBuf::from(out).join(FILE), &tables(&root));
}

/// The tables as Rust source, compiled.
#[cfg(feature = "generate")]
fn tables(root: &Path) -> String {
    use lanebook_gen::{BuildOptions, Mode, compile_with_options, load, select};

    /// The variable that names a folder for a copy.
    const COPY: &str = "LANEBOOK_GEN_DIR";
    /// The variable that asks for pregenerated tables.
    const LEAVE: &str = "LANEBOOK_PREGENERATE";
    for variable in [COPY, LEAVE] {
        println!("cargo::rerun-if-env-changed={variable}");
    }
    for path in load::watched(root) {
        // Relative, so that nothing depends on where the repository is.
        println!("cargo::rerun-if-changed={}", path.strip_prefix(root).unwrap_or(&path).display());
    }
    let folder = |variable| {
        env::var_os(variable).filter(|folder| !folder.is_empty()).map(|folder| root.join(folder))
    };
    let extra = folder(EXTRA);
    if let Some(extra) = extra.as_ref().filter(|extra| !extra.is_dir()) {
        fail(&format!("{EXTRA} names no folder: {}", extra.display()));
    }
    // The folder, too: it may be empty so far.
    for path in
        extra.iter().flat_map(|extra| load::watched_in(extra).into_iter().chain([extra.clone()]))
    {
        println!("cargo::rerun-if-changed={}", path.display());
    }
    let archs = match env::var(ARCHS) {
        Ok(names) => select::listed(&names),
        Err(env::VarError::NotPresent) => None,
        Err(error) => fail(&format!("{ARCHS}: {error}")),
    };
    let of_all = archs.is_none() && extra.is_none();
    let text = match compile_with_options(
        root,
        Mode::Release,
        &BuildOptions { archs, extra: extra.as_deref() },
    ) {
        Ok(compiled) => compiled.rust(),
        Err(failure) => fail(&format!(
            "{}errors in the tables: {}",
            failure.full(),
            failure.diagnostics.errors()
        )),
    };
    if let Some(folder) = folder(COPY) {
        make(&folder);
        write(&folder.join(FILE), &text);
    }
    if of_all && env::var_os(LEAVE).is_some_and(|value| value == "1") {
        let (folder, text) = (root.join(PREGENERATED), format!("{}\n{text}", made_of(root)));
        let file = folder.join(FILE);
        // What is the same stays as it is: builds that take it watch it.
        if fs::read_to_string(&file).ok().as_deref() != Some(&text) {
            make(&folder);
            // At once, since another build may be reading it.
            let fresh = folder.join(format!("{}.{FILE}", std::process::id()));
            write(&fresh, &text);
            if let Err(error) = fs::rename(&fresh, &file) {
                fail(&format!("cannot write {}: {error}", file.display()));
            }
        }
    }
    text
}

#[cfg(feature = "generate")]
fn make(folder: &Path) {
    if let Err(error) = fs::create_dir_all(folder) {
        fail(&format!("cannot make {}: {error}", folder.display()));
    }
}

/// The tables as Rust source, as somebody compiled them.
#[cfg(not(feature = "generate"))]
fn tables(root: &Path) -> String {
    let remedy = "build with the feature `generate`";
    for variable in [EXTRA, ARCHS] {
        if env::var_os(variable).is_some_and(|value| !value.is_empty()) {
            fail(&format!("{variable} is for tables that are compiled here: {remedy}"));
        }
    }
    for input in INPUTS {
        println!("cargo::rerun-if-changed={input}");
    }
    println!("cargo::rerun-if-changed={PREGENERATED}");
    let text = match fs::read_to_string(root.join(PREGENERATED).join(FILE)) {
        Ok(text) => text,
        Err(error) => fail(&format!(
            "no tables in {PREGENERATED}/{FILE} ({error}): {remedy}, or make them: \
             LANEBOOK_PREGENERATE=1 cargo build -p lanebook"
        )),
    };
    if text.lines().next() != Some(&made_of(root)) {
        fail(&format!(
            "{PREGENERATED}/{FILE} was made of other inputs than lie in {} here: {remedy}",
            INPUTS.join(" and ")
        ));
    }
    text
}

/// The first line of pregenerated tables: of which inputs they were made (FNV-1a of their names and
/// bytes).
fn made_of(root: &Path) -> String {
    let mut folders: Vec<PathBuf> = INPUTS.map(PathBuf::from).into();
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(root.join(&folder)).and_then(Iterator::collect);
        let entries: Vec<fs::DirEntry> = match entries {
            Ok(entries) => entries,
            Err(error) => fail(&format!("cannot read {}: {error}", folder.display())),
        };
        for entry in entries {
            let path = folder.join(entry.file_name());
            if root.join(&path).is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "ron") {
                files.push(path);
            }
        }
    }
    files.sort();
    let mut digest = 0xcbf2_9ce4_8422_2325_u64;
    let mut take = |bytes: &[u8]| {
        for byte in bytes {
            digest = (digest ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    };
    for file in &files {
        for part in file {
            take(part.as_encoded_bytes());
            take(b"/");
        }
        match fs::read(root.join(file)) {
            Ok(bytes) => take(&bytes),
            Err(error) => fail(&format!("cannot read {}: {error}", file.display())),
        }
    }
    format!("// Of {} files, {digest:016x}.", files.len())
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
