//! AMD's assembler takes every form of every atom for the architectures that have it.
//!
//! What it takes beyond that is not asked here: it knows the names of older generations for the same instructions.
#![allow(missing_docs)]

use lanebook_assemble::{judged, lines, tables};

#[test]
fn amdgcn_takes_what_the_tables_claim() {
    let compiled = tables(&[]);
    let (mut archs, mut texts, mut wrong) = (0, 0, Vec::new());
    for isa in compiled.model.isas.iter().filter(|isa| isa.assembler.as_ref().is_some_and(|asm| asm.variable == "LANEBOOK_LLVM_MC")) {
        let mut verdicts = judged(&compiled, &isa.name.value, &[]);
        verdicts.iter_mut().for_each(|verdict| verdict.differences.retain(|one| one.refused.is_some()));
        wrong.extend(lines(&compiled, &verdicts));
        archs += verdicts.len();
        texts += verdicts.iter().filter_map(|verdict| verdict.judged.as_ref().ok()).sum::<usize>();
    }
    assert!(wrong.is_empty(), "{} differences\n{}", wrong.len(), wrong.join("\n"));
    assert!(archs >= 15 && texts > 500 * archs, "{texts} texts of {archs} architectures");
}
