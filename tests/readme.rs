//! The README's library call compiles, with the library that cargo has already built for the tests,
//! and runs.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use std::{env, fs};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");
/// The program that the README's call is given.
const GEMM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/gen/cli/examples/gemm.tile");
/// Less than the storage alone takes; code that is not optimised needs more than the 16 KiB of one
/// that is.
const STACK: usize = 256 << 10;

/// The library as it was built for the tests: cargo is asked which file it is.
fn library() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.current_dir(ROOT).args([
            "build",
            "--package",
            "lanebook",
            "--lib",
            "--message-format",
            "json",
        ]);
        // The target folder of this run, wherever it is: `tmp` lies in it.
        cargo.arg("--target-dir").args(Path::new(env!("CARGO_TARGET_TMPDIR")).parent());
        if !cfg!(debug_assertions) {
            cargo.arg("--release");
        }
        let out = cargo.output().expect("cargo runs");
        let messages = String::from_utf8_lossy(&out.stdout);
        let file = messages.split('"').find(|word| word.ends_with("/liblanebook.rlib"));
        let Some(file) = file else {
            panic!("cargo names no library:\n{messages}{}", String::from_utf8_lossy(&out.stderr))
        };
        PathBuf::from(file)
    })
}

/// Compiles one source file; paths in messages are relative to the repository.
fn compile(source: &str, more: &[&str]) -> Output {
    let library = library();
    // Cargo lifts the library out of the folder of its dependencies.
    let deps = library.parent().expect("a folder").join("deps");
    let mut rustc = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    rustc
        .current_dir(ROOT)
        .args(["--edition", "2024", "--crate-type", "bin", "--color", "never"])
        .args(more);
    rustc.arg("-L").arg(format!("dependency={}", deps.display()));
    rustc.arg("--extern").arg(format!("lanebook={}", library.display()));
    rustc.arg(source).output().expect("rustc runs")
}

/// A folder for what is made.
fn made(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// The README's library call, as it stands there, compiles the GEMM on a stack that could not hold
/// the storage.
#[test]
fn the_readme_s_call_compiles_a_kernel_on_a_small_stack() {
    let readme = fs::read_to_string(Path::new(ROOT).join("README.md")).expect("the README");
    let (_, part) = readme.split_once("## Link it").expect("how to link it");
    let (_, rest) = part.split_once("```rust\n").expect("a sample");
    let (sample, _) = rest.split_once("```").expect("its end");
    let main = format!(
        r#"
fn main() {{
    let on_a_small_stack = || {{
        let mut text = String::new();
        kernel(include_str!({GEMM:?}), &mut text).map(|()| text)
    }};
    let made = std::thread::Builder::new().stack_size({STACK}).spawn(on_a_small_stack).expect("a thread").join();
    assert!(made.expect("no panic").expect("a kernel").contains(".amdgcn_target"));
}}
"#
    );
    let (source, program) = (made("readme.rs"), made("readme"));
    fs::write(&source, format!("{sample}{main}")).expect("it can be written");
    let out = compile(&source.to_string_lossy(), &["-o", &program.to_string_lossy()]);
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let ran = Command::new(program).output().expect("it runs");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
}
