//! What each check says, by an example: little tables with a mistake, and what is said of it.
//!
//! The tables are those of this crate's own tests, which hold what is said of them to the letter.
use super::run;
use crate::compile::compile_sources;
use crate::diagnostics::Diagnostics;
use crate::load;
use crate::source::Sources;
use crate::{Mode, audit};
use std::collections::BTreeMap;

/// The least that tables need.
const BASE: [(&str, &str); 5] = [
    ("hw-tables/axes.ron", include_str!("../../tests/base/hw-tables/axes.ron")),
    ("hw-tables/base.ron", include_str!("../../tests/base/hw-tables/base.ron")),
    ("hw-tables/dtypes.ron", include_str!("../../tests/base/hw-tables/dtypes.ron")),
    ("hw-tables/sources.ron", include_str!("../../tests/base/hw-tables/sources.ron")),
    ("rules/isa/t.ron", include_str!("../../tests/base/rules/isa/t.ron")),
];

/// Files with mistakes in them.
const CASES: [&str; 56] = [
    include_str!("../../tests/audit/accumulator.ron"),
    include_str!("../../tests/audit/agreement.ron"),
    include_str!("../../tests/audit/brackets.ron"),
    include_str!("../../tests/audit/cannot.ron"),
    include_str!("../../tests/audit/choices.ron"),
    include_str!("../../tests/audit/claims.ron"),
    include_str!("../../tests/audit/conflicts.ron"),
    include_str!("../../tests/audit/doubles.ron"),
    include_str!("../../tests/audit/facts.ron"),
    include_str!("../../tests/audit/fields.ron"),
    include_str!("../../tests/audit/figures.ron"),
    include_str!("../../tests/audit/hazards.ron"),
    include_str!("../../tests/audit/kin.ron"),
    include_str!("../../tests/audit/limits.ron"),
    include_str!("../../tests/audit/listed.ron"),
    include_str!("../../tests/audit/maps.ron"),
    include_str!("../../tests/audit/meaning.ron"),
    include_str!("../../tests/audit/operations.ron"),
    include_str!("../../tests/audit/order.ron"),
    include_str!("../../tests/audit/passes.ron"),
    include_str!("../../tests/audit/priorities.ron"),
    include_str!("../../tests/audit/registers.ron"),
    include_str!("../../tests/audit/retold.ron"),
    include_str!("../../tests/audit/roles.ron"),
    include_str!("../../tests/audit/siblings.ron"),
    include_str!("../../tests/audit/spelling.ron"),
    include_str!("../../tests/audit/swizzle.ron"),
    include_str!("../../tests/audit/tensor.ron"),
    include_str!("../../tests/audit/tensor_types.ron"),
    include_str!("../../tests/audit/types.ron"),
    include_str!("../../tests/audit/unreachable.ron"),
    include_str!("../../tests/audit/unused.ron"),
    include_str!("../../tests/audit/verdicts.ron"),
    include_str!("../../tests/audit/verdicts_absent.ron"),
    include_str!("../../tests/audit/verdicts_claims.ron"),
    include_str!("../../tests/audit/waits.ron"),
    include_str!("../../tests/audit/weights.ron"),
    include_str!("../../tests/audit/whole.ron"),
    include_str!("../../tests/cases/file_fields.ron"),
    include_str!("../../tests/cases/unknown_names.ron"),
    include_str!("../../tests/cases/operands.ron"),
    include_str!("../../tests/cases/template.ron"),
    include_str!("../../tests/cases/movement_sides.ron"),
    include_str!("../../tests/cases/matrix_shape.ron"),
    include_str!("../../tests/cases/coverage_registers.ron"),
    include_str!("../../tests/cases/banks.ron"),
    include_str!("../../tests/cases/archs.ron"),
    include_str!("../../tests/cases/sync.ron"),
    include_str!("../../tests/cases/units_bits.ron"),
    include_str!("../../tests/cases/rules_terms.ron"),
    include_str!("../../tests/cases/words.ron"),
    include_str!("../../tests/cases/ledger_missing.ron"),
    include_str!("../../tests/cases/rules_proofs.ron"),
    include_str!("../../tests/cases/syntax.ron"),
    include_str!("../../tests/cases/params.ron"),
    include_str!("../../tests/cases/values.ron"),
];

/// The files of a case: each begins with a line `// file: PATH`, the first may go without.
#[must_use]
pub fn split(text: &str) -> Vec<(String, String)> {
    let mut name = "hw-tables/case.ron".to_string();
    let mut files: Vec<(String, String)> = Vec::new();
    let mut own = String::new();
    for line in text.split_inclusive('\n') {
        if let Some(next) = line.strip_prefix("// file: ") {
            files.push((
                std::mem::replace(&mut name, next.trim().to_string()),
                std::mem::take(&mut own),
            ));
        }
        own.push_str(line);
    }
    files.push((name, own));
    files.retain(|(_, text)| !text.is_empty());
    files
}

/// Of each check that finds something in these tables, the first thing that it says, with the
/// lines that it speaks of.
#[must_use]
pub fn examples() -> BTreeMap<&'static str, String> {
    let mut out = BTreeMap::new();
    for case in CASES {
        let (sources, found) = said(case);
        for one in found.iter().filter(|one| !one.labels.is_empty()) {
            out.entry(one.check).or_insert_with(|| one.excerpt(&sources));
        }
    }
    out
}

/// What compiler and audit say of a case.
fn said(case: &str) -> (Sources, Diagnostics) {
    let own = split(case);
    let mut files: BTreeMap<String, String> =
        BASE.iter().map(|(name, text)| ((*name).to_string(), (*text).to_string())).collect();
    files.extend(own.iter().cloned());
    let mut sources = Sources::default();
    for (name, text) in files {
        sources.add(&name, None, text);
    }
    let ledger = own.iter().any(|(name, _)| name == load::LEDGER);
    let mode = if ledger { Mode::Release } else { Mode::Draft };
    match compile_sources(sources, Diagnostics::new(), mode) {
        Ok(compiled) => {
            let found = run(&compiled);
            (compiled.sources, found)
        }
        Err(failure) => {
            let mut found = failure.diagnostics;
            if let Some(sound) = &failure.sound {
                found.extend(audit::run_part(sound));
            }
            (failure.sources, found)
        }
    }
}
