//! Every example on every architecture of AMD: it compiles and assembles, or is refused for the one reason that its hardware gives.
#![allow(missing_docs)]

use lanebook::TABLES;
use lanebook_kernels::{Assembler, example, try_kernel_text};

/// Examples with the architectures (name, or name and anything behind a dot) that have no matrix instruction for them.
const EXAMPLES: [(&str, &[&str]); 6] = [
    ("transpose.tile", &[]),
    ("layer_norm.tile", &[]),
    ("gemm.tile", &["gfx1030"]),
    ("gemm_bt.tile", &["gfx1030"]),
    ("attention.tile", &["gfx1030"]),
    // No products of eight-bit floats before CDNA3 and RDNA4; CDNA3's are of another type (gemm_fp8 in e4m3fnuz).
    ("gemm_fp8.tile", &["gfx1030", "gfx1100", "gfx1150", "gfx1151", "gfx908", "gfx90a", "gfx942"]),
];

#[test]
fn nothing_is_refused_that_the_hardware_can_do() {
    let mut taken = 0;
    for arch in TABLES.archs.iter().filter(|arch| TABLES.isa(arch.isa).is_some_and(|isa| isa.name == "amdgcn")) {
        for (name, without) in EXAMPLES {
            let machine = arch.name.split('.').next().expect("a name");
            match try_kernel_text(&example(name), arch.name) {
                Ok(text) => {
                    assert!(!without.contains(&machine), "{name}, {}: it has an instruction after all", arch.name);
                    // The wave size stands in the text's kernel descriptor; the assembler wants to know it before.
                    let wave = if arch.name.ends_with(".w64") { "+wavefrontsize64" } else { "" };
                    Assembler::of(arch.name).assemble_with(&text, arch.target, wave).unwrap_or_else(|said| panic!("{name}, {}: {said}\n{text}", arch.name));
                    taken += 1;
                }
                Err(why) => assert!(without.contains(&machine) && why.starts_with("Plan(NoMatrixAtom("), "{name}, {}: {why}", arch.name),
            }
        }
    }
    assert!(taken >= 80, "{taken} kernels");
}
