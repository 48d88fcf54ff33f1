//! What limits the orders of a product's operands does so for one block and for a pair alike.
//!
//! A pair of blocks has twice the columns of one: its limits stand beside those of one block, with
//! every number of columns doubled but the highest, which both share. No two limits are of the same
//! thing.
use crate::compile::Compiled;
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::model::units::Fact;
use crate::schema::unit::OrderLimit;
use std::collections::BTreeMap;

/// See the module.
#[must_use]
pub fn check(compiled: &Compiled) -> Diagnostics {
    let mut diags = Diagnostics::new();
    type ByBlocks<'m> = BTreeMap<u8, &'m Fact<OrderLimit>>;
    let mut all: BTreeMap<String, ByBlocks<'_>> = BTreeMap::new();
    for limit in &compiled.model.units.order_limits {
        let entry = &limit.entry;
        let sorted = |names: &[crate::schema::Name]| {
            let mut names: Vec<String> = names.iter().map(|name| name.value.clone()).collect();
            names.sort();
            names.join(", ")
        };
        let about = format!(
            "{:?} of {} along {:?} in {}",
            entry.operands,
            sorted(&entry.types),
            entry.major,
            sorted(&entry.descriptors)
        );
        if let Some(other) = all.entry(about).or_default().insert(entry.blocks, limit) {
            diags.push(
                Diagnostic::at(
                    entry.name.span,
                    format!("`{}` limits what another limit does", entry.name.value),
                )
                .note(other.entry.name.span, "the other")
                .help("say it once: correct what sets them apart"),
            );
        }
    }
    for limits in all.values() {
        let Some(first) = limits.values().next().filter(|_| limits.keys().any(|n| *n != 0)) else {
            continue;
        };
        let (Some(one), Some(pair), 2) = (limits.get(&1), limits.get(&2), limits.len()) else {
            diags.push(
                Diagnostic::at(
                    first.entry.name.span,
                    format!(
                        "`{}` has not one limit for one block and one for a pair",
                        first.entry.name.value
                    ),
                )
                .help("`blocks` is 1 and 2, or left out in a limit of both"),
            );
            continue;
        };
        let columns = |limit: &Fact<OrderLimit>, factor: u16| -> Vec<(u16, u16, u16)> {
            limit
                .entry
                .n
                .iter()
                .map(|n| (n.value.0 * factor, n.value.1, n.value.2 * factor))
                .collect()
        };
        if columns(one, 2) != columns(pair, 1) {
            diags.push(
                Diagnostic::at(
                    pair.entry.name.span,
                    "a pair of blocks does not have twice the columns of one",
                )
                .note(one.entry.name.span, "one block")
                .help("lowest number and step are doubled: correct `n` of one of them"),
            );
        }
    }
    super::closed::orders(compiled, &mut diags);
    diags
}
