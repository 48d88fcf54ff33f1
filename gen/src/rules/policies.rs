//! `inference` of `rules/cost.ron`: how attempts of layout inference are compared.
use super::schema::{CostPolicyEntry, CostTermWord};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::leak::{list, text};
use crate::source::{FileId, Span};
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

/// Weights are weights, and what measures memory is a power of two: sectors, alignments, widths.
/// Where a lane has whole rows and columns a product is half as deep, for it has twice as much of
/// each.
pub(super) fn weights(one: &t::Weights, file: FileId, diags: &mut Diagnostics) {
    let mut say = |message: String, help: &str| {
        diags.push(Diagnostic::at(Span::new(file, 0, 0), message).help(help));
    };
    let sizes = [
        ("segment_bytes", one.segment_bytes),
        ("shared_align", one.shared_align),
        ("convert_bits", one.convert_bits),
        ("widened_depth", one.widened_depth),
        ("widened_depth_lanes", one.widened_depth_lanes),
    ];
    for (name, size) in sizes.into_iter().filter(|(_, size)| !size.is_power_of_two()) {
        say(format!("`{name}` is {size}"), "it is a power of two");
    }
    if one.widened_depth != 2 * one.widened_depth_lanes {
        say(
            format!(
                "`widened_depth` is {}, and that of lanes {}",
                one.widened_depth, one.widened_depth_lanes
            ),
            "it is twice as deep where lanes share rows and columns: correct one of them",
        );
    }
    let weights = [
        ("instruction", one.instruction),
        ("shared_transaction", one.shared_transaction),
        ("tensor_cycle", one.tensor_cycle),
        ("register", one.register),
        ("address", one.address),
        ("global_segment", one.global_segment),
        ("matrix_cycle", one.matrix_cycle),
        ("loop_trips", one.loop_trips),
        ("convert_byte", one.convert_byte),
        ("work_byte", one.work_byte),
        ("load_byte", one.load_byte),
        ("reduce_lane", one.reduce_lane),
        ("reduce_warp", one.reduce_warp),
        ("loop_depth", one.loop_depth),
    ];
    for (name, _) in weights.into_iter().filter(|(_, weight)| *weight == 0) {
        say(format!("`{name}` weighs nothing"), "what costs nothing is not weighed: correct it");
    }
}
