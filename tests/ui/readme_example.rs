//! The library call of the README compiles.
use lanebook::{TABLES, compile, ir};

fn kernel(text: &str, out: &mut impl core::fmt::Write) -> Option<()> {
    let mut pools = ir::SmallStorage::new();
    let mut program = ir::parse(pools.pools(), &TABLES, text, ir::Options::default()).ok()?;
    ir::verify(&mut program).ok()?;
    let mut storage = compile::KernelStorage::new();
    let arch = TABLES.arch_named("gfx950")?;
    let compiled = compile::compile(&TABLES, arch, &mut program, storage.scratch()).ok()?;
    compiled.write(&TABLES, &program, out).ok()
}

fn main() {
    let _ = kernel("", &mut String::new());
}
