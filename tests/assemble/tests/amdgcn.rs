//! AMD's assembler takes every form of every atom for the architectures that have it, and beyond
//! that only other spellings, told by their encodings.
#![allow(missing_docs)]

use lanebook_assemble::{judged, lines, tables};

#[test]
fn amdgcn_takes_what_the_tables_claim() {
    let compiled = tables(&[]);
    let (mut archs, mut texts, mut wrong) = (0, 0, Vec::new());
    for isa in
        compiled.model.isas.iter().filter(|isa| {
            isa.assembler.as_ref().is_some_and(|asm| asm.variable == "LANEBOOK_LLVM_MC")
        })
    {
        let verdicts = judged(&compiled, &isa.name.value, &[]);
        wrong.extend(lines(&compiled, &verdicts));
        archs += verdicts.len();
        texts += verdicts.iter().filter_map(|verdict| verdict.judged.as_ref().ok()).sum::<usize>();
    }
    assert!(wrong.is_empty(), "{} differences\n{}", wrong.len(), wrong.join("\n"));
    assert!(archs >= 15 && texts > 500 * archs, "{texts} texts of {archs} architectures");
}

/// gfx942 takes matrix instructions by the names of gfx90a. They are spellings of what it has as
/// long as it has that, and instructions beyond the tables else.
#[test]
fn older_names_are_told_by_their_encoding() {
    let beyond = |edits: &[(&str, &str, &str)], arch: &str| -> Vec<String> {
        let compiled = tables(edits);
        let verdicts = judged(&compiled, "amdgcn", &[arch]);
        assert!(
            verdicts.iter().all(|verdict| verdict.judged.is_ok()),
            "{:?}",
            lines(&compiled, &verdicts)
        );
        let all = verdicts
            .iter()
            .flat_map(|verdict| &verdict.differences)
            .filter(|one| one.refused.is_none());
        all.map(|one| compiled.model.atoms[one.atom.index()].name.value.clone()).collect()
    };
    let old = ["v_mfma_f32_32x32x1f32", "v_mfma_f32_16x16x4f32"];
    let found = beyond(&[], "gfx942");
    assert!(old.iter().all(|name| !found.iter().any(|found| found == name)), "{found:?}");
    let without = (
        "hw-tables/amd/gfx942.ron",
        "name: \"gfx942\",",
        "name: \"gfx942\", lacks: [\"v_mfma_f32_16x16x4_f32\"],",
    );
    let more: Vec<String> =
        beyond(&[without], "gfx942").into_iter().filter(|name| !found.contains(name)).collect();
    // The instruction by its own name, and by the older one: both are beyond the tables now.
    assert_eq!(
        more.iter().filter(|name| name.contains("16x16x4")).collect::<Vec<_>>(),
        ["v_mfma_f32_16x16x4_f32", "v_mfma_f32_16x16x4f32"],
        "{more:?}"
    );
    assert_eq!(more.len(), 2, "{more:?}");
}
