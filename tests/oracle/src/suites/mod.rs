//! One suite a peer system: which records it knows, and the verdict on each.

#[cfg(feature = "tables")]
pub mod amd;
pub mod cute;
#[cfg(feature = "tables")]
mod fragment;
#[cfg(feature = "tables")]
pub mod nvidia;
#[cfg(feature = "tables")]
pub mod tilelang;
pub mod tirx;
#[cfg(feature = "tables")]
pub mod triton;

use serde_json::Value;

/// One record, with the file it stands in.
#[derive(Clone, Copy)]
pub struct Case<'a> {
    /// The file's name without `.jsonl`.
    #[allow(dead_code, reason = "for suites whose records do not say what they are")]
    pub stem: &'a str,
    #[allow(dead_code, reason = "for suites whose records refer to each other")]
    /// All records of the file, for schemas in which one record explains others.
    pub file: &'a [Value],
    /// The record.
    pub record: &'a Value,
}

/// What the comparison of one record says. Reasons are rules written once in a suite; no rule looks
/// at a record's id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The answers are the same: as text where the operation fixes the text, else as functions with
    /// the same profile.
    Agree,
    /// lanebook refuses, and the rule says that this is right (or both refuse).
    Refused(&'static str),
    /// lanebook answers otherwise than the peer, and the rule, checked on this very record, says
    /// that the peer is wrong.
    Ruled(&'static str),
    /// The answers differ: what was expected and what was found.
    Differ(String),
    /// Nothing can be compared, and the rule says why (for example: no peer was asked).
    Skipped(&'static str),
    /// Nothing was compared, and nothing excuses it. Fails the run.
    Unexplained(&'static str),
}

/// The records of one peer.
pub trait Suite: Sync {
    /// The suite's name; also that of the folder that usually holds its files.
    fn name(&self) -> &'static str;

    /// Whether `record` has the shape of one of this suite's schemas. `stem` is the file's name
    /// without `.jsonl`, for shapes that do not speak for themselves; files may have other names.
    fn knows(&self, stem: &str, record: &Value) -> bool;

    /// The verdict on one record.
    fn judge(&self, case: &Case<'_>) -> Verdict;
}

/// Whether `record` is an object with all of `keys`.
pub fn has_keys(record: &Value, keys: &[&str]) -> bool {
    keys.iter().all(|k| record.get(k).is_some())
}

/// Whether one set of keys is present.
pub fn has_any(record: &Value, shapes: &[&[&str]]) -> bool {
    shapes.iter().any(|keys| has_keys(record, keys))
}
