//! `ptxas` takes every instance of every atom for the architectures that have the atom, and refuses each for all others.
#![allow(missing_docs)]

use lanebook_assemble::{archs, has, isa, name, ptx};
use lanebook_kernels::Assembler;

/// The newest version of the text that the assembler takes: what a target lacks is not blamed on the version.
const NEWEST: &str = "9.5";

#[test]
fn architectures_have_what_the_assembler_takes() {
    let (_, atoms) = isa("ptx");
    let mut wrong = Vec::new();
    for arch in archs("ptx") {
        let assembler = Assembler::of(arch.name);
        let (text, parts) = ptx::listing(arch.name, NEWEST, atoms.iter().copied());
        let said = assembler.assemble(&text, &arch.name.replace("sm_", "compute_")).err().unwrap_or_default();
        let errors = ptx::error_lines(&said);
        for part in &parts {
            let refused = part.lines.clone().any(|line| errors.contains(&line));
            if refused == has(arch, part.atom) {
                let what = if refused { "claimed and refused" } else { "taken and not claimed" };
                wrong.push(format!("{} {what}: {}: {}", arch.name, name(part.atom), part.text));
            }
        }
        let known = parts.iter().flat_map(|part| part.lines.clone());
        let stray: Vec<usize> = errors.iter().copied().filter(|line| !known.clone().any(|l| l == *line)).collect();
        if !stray.is_empty() {
            wrong.push(format!("{}: errors outside of all pieces, lines {stray:?}:\n{said}", arch.name));
        }
    }
    assert!(wrong.is_empty(), "{} differences\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_architecture_assembles_all_that_it_has() {
    let (_, atoms) = isa("ptx");
    for arch in archs("ptx") {
        let (text, parts) = ptx::listing(arch.name, arch.isa_version, atoms.iter().copied().filter(|id| has(arch, *id)));
        assert!(parts.len() > 50, "{}", arch.name);
        if let Err(said) = Assembler::of(arch.name).assemble(&text, arch.name) {
            let head: Vec<&str> = said.lines().take(12).collect();
            panic!("{} at version {}:\n{}", arch.name, arch.isa_version, head.join("\n"));
        }
    }
}

#[test]
fn a_wrong_text_is_noticed() {
    let (text, parts) = ptx::listing("sm_80", NEWEST, std::iter::empty());
    assert!(parts.is_empty());
    let broken = text.replace("ret;", "mma.sync.aligned.m16n8k17.row.col.f32.f16.f16.f32 %f1;\nret;");
    let said = Assembler::of("sm_80").assemble(&broken, "compute_80").expect_err("refused");
    assert_eq!(ptx::error_lines(&said).len(), 1, "{said}");
}
