//! What assemblers take: compared by assembling what the tables say, in the tests of that.

use super::Verdict;
use crate::suites::Case;
use serde_json::Value;

const ELSEWHERE: Verdict = Verdict::Skipped("what an assembler accepts: compared by assembling what the tables say");

/// A note.
pub fn note(_: &Value) -> Result<Verdict, String> {
    Ok(ELSEWHERE)
}

/// A line.
pub fn accepts(_: &Case<'_>) -> Result<Verdict, String> {
    Ok(ELSEWHERE)
}

/// An instruction.
pub fn instruction(_: &Value) -> Result<Verdict, String> {
    Ok(ELSEWHERE)
}
