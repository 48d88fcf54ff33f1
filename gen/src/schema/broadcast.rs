//! Modifiers of matrix instructions that exchange what is read.
use super::Name;
use crate::spanned::Spanned;
use serde::Deserialize;

/// What a modifier makes of an operand. Operands are named as the atoms that use it name theirs.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "broadcast")]
pub struct Broadcast {
    /// Its name.
    pub name: Name,
    /// The operand that is read otherwise.
    pub operand: Name,
    /// The immediate that chooses.
    pub by: Name,
    /// For lanes: a row for each value of the immediate; which run of lanes is read for each run.
    pub lanes: Option<Spanned<LaneRows>>,
    /// For blocks: the immediate that says which member of a group of `1 << by` blocks is read for
    /// all of them.
    pub member: Option<Name>,
    /// For people.
    pub doc: String,
    /// Where it comes from.
    pub sources: Vec<Name>,
}

/// Which run of lanes is read for each run, by the immediate's value.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "lanes")]
pub struct LaneRows {
    /// Lanes of a run.
    pub run: u8,
    /// A row for each value.
    pub rows: Vec<Vec<u8>>,
}
