//! Hands over the wrappers that `entries.py` wrote; `panic_free.sh` names the file in
//! `LANEBOOK_ENTRIES`.
fn main() {
    println!("cargo::rerun-if-env-changed=LANEBOOK_ENTRIES");
    // Without entry points the crate is empty.
    if std::env::var_os("CARGO_FEATURE_ALGEBRA").is_none() {
        return;
    }
    let Some(file) = std::env::var_os("LANEBOOK_ENTRIES") else {
        eprintln!(
            "LANEBOOK_ENTRIES is not set: run tests/proof/panic_free.sh, which writes the list of entry points first"
        );
        std::process::exit(1)
    };
    let file = std::path::PathBuf::from(file);
    println!("cargo::rerun-if-changed={}", file.display());
    println!("cargo::rustc-env=LANEBOOK_ENTRIES={}", file.display());
}
