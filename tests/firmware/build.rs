//! Hands the linker script of `cortex-m-rt` to the linker, and puts `memory.x` where it is looked
//! for.
fn main() {
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() != Ok("none") {
        return;
    }
    println!("cargo::rustc-link-arg-bins=-Tlink.x");
    println!("cargo::rustc-link-search={}", std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default());
    println!("cargo::rerun-if-changed=memory.x");
}
