//! Evidence: which texts assemblers have judged (`verdicts.ron`), and what further sources say of
//! the figures of architectures.
use super::Name;
use crate::spanned::Entry;
use serde::Deserialize;

/// The file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VerdictsFile {
    /// [`Verdicts`] each.
    pub verdicts: Vec<Entry>,
}

/// What one assembler said. A tool writes it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "verdicts")]
pub struct Verdicts {
    /// The instruction set, and those that extend it.
    pub isa: Name,
    /// The program and its version.
    pub by: String,
    /// Architectures with what the assembler was told: name, target, version, lanes of a wave.
    pub archs: Vec<Name>,
    /// Atoms: name, hash of all texts, and a bit for each of `archs` whose assembler takes them.
    pub atoms: Vec<Name>,
}

/// What a source beside the architecture's own says of some architectures.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "figures")]
pub struct Figures {
    /// Which, with all that go by their targets.
    pub archs: Vec<Name>,
    /// Bytes of shared memory that a group has at most.
    pub shared_bytes: u32,
    /// Threads of a group at most.
    pub max_threads: u16,
    /// Scalar registers that a vector instruction reads; left out where there are none.
    #[serde(default)]
    pub scalar_reads: u8,
    /// Where it says so.
    pub sources: Vec<Name>,
}
