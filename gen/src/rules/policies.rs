//! `inference` of `rules/cost.ron`: how attempts of layout inference are compared.
use super::schema::{CostPolicyEntry, CostTermWord};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::leak::{list, text};
use crate::spanned::Spanned;
use lanebook_tables as t;

/// Policies with a name of their own that compare something, and no term twice.
pub(super) fn check(
    file: Vec<Spanned<CostPolicyEntry>>,
    diags: &mut Diagnostics,
) -> Vec<CostPolicyEntry> {
    let mut out: Vec<CostPolicyEntry> = Vec::new();
    for Spanned { value: policy, span } in file {
        let name = &policy.name;
        if out.iter().any(|other| other.name.value == name.value) {
            diags.push(
                Diagnostic::at(name.span, format!("there is another policy `{}`", name.value))
                    .help("name each policy once"),
            );
        }
        let mut terms: Vec<CostTermWord> = Vec::new();
        for (term, weight) in policy.keys.iter().flatten() {
            let fault = if terms.contains(term) {
                Some("a term is compared twice")
            } else {
                (*weight == 0).then_some("a term with weight 0 compares nothing")
            };
            if let Some(fault) = fault {
                diags.push(Diagnostic::at(span, fault).help("write each term once, with a weight"));
            }
            terms.push(*term);
        }
        if policy.keys.iter().any(Vec::is_empty) || policy.keys.is_empty() {
            diags.push(
                Diagnostic::at(span, "a number without terms compares nothing")
                    .help("write at least one term with its weight"),
            );
        }
        out.push(policy);
    }
    out
}

/// As the tables have them.
pub(super) fn lower(policies: &[CostPolicyEntry]) -> &'static [t::CostPolicy<'static>] {
    list(policies.iter().map(|policy| t::CostPolicy {
        name: text(&policy.name),
        sector: policy.sector,
        access: policy.access,
        keys: list(policy.keys.iter().map(|key| {
            list(key.iter().map(|(term, weight)| t::CostPart {
                term: match term {
                    CostTermWord::Spilled => t::CostTerm::Spilled,
                    CostTermWord::Registers => t::CostTerm::Registers,
                    CostTermWord::Iterations => t::CostTerm::Iterations,
                    CostTermWord::Traffic => t::CostTerm::Traffic,
                },
                weight: *weight,
            }))
        })),
    }))
}
