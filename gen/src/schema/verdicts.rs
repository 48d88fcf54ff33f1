//! Evidence: which texts assemblers have judged (`verdicts.ron`), what further sources say of the
//! figures of architectures, and what was measured on a machine.
use super::Name;
use crate::spanned::Entry;
use serde::Deserialize;
use std::collections::BTreeMap;

/// The file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VerdictsFile {
    /// [`Verdicts`] each.
    pub verdicts: Vec<Entry>,
    /// A line a kind of facts: on what they rest, `KIND: HARDWARE TWO ONE NONE`, so many each; and a line a source: what
    /// it is, and how many facts cite it for what, `source KEY WHAT [of ORIGIN]: THIS LIKE OTHERWISE`.
    #[serde(default)]
    pub coverage: Vec<Name>,
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

/// Wait states that another compiler puts behind some instructions.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "waits")]
pub struct Waits {
    /// On which architecture.
    pub arch: Name,
    /// Which compiler.
    pub by: Name,
    /// The later instructions that were asked about.
    pub before: Vec<Name>,
    /// Between which of them are any.
    pub pairs: Vec<WaitPairs>,
}

/// Wait states behind some instructions.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "wait pairs")]
pub struct WaitPairs {
    /// The earlier instructions, of which the same is said.
    pub behind: Vec<Name>,
    /// A line each: the earlier one's operand, `=` for exactly that tuple or `>`, the later
    /// instruction, its operand, how many states (or `wait`).
    pub states: Vec<Name>,
}

/// What a source beside the architecture's own says of some architectures.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "figures")]
pub struct Figures {
    /// Which, with all that go by their targets.
    pub archs: Vec<Name>,
    /// Bytes of shared memory that a group has at most; left out where nothing is said of them.
    #[serde(default)]
    pub shared_bytes: Option<u32>,
    /// Threads of a group at most; left out where nothing is said of them.
    #[serde(default)]
    pub max_threads: Option<u16>,
    /// Scalar registers that a vector instruction reads; left out where nothing is said of them.
    #[serde(default)]
    pub scalar_reads: Option<u8>,
    /// Registers of 32 bits that a lane has at most; left out where nothing is said of them.
    #[serde(default)]
    pub registers: Option<u16>,
    /// Banks of shared memory, of all its models; left out where nothing is said of them.
    #[serde(default)]
    pub banks: Vec<u16>,
    /// Types whose subnormal numbers are taken as 0; left out where nothing is said of them.
    #[serde(default)]
    pub flushed: Option<Vec<Name>>,
    /// Texts that it writes, beside waits, where a block lets the device see its accesses; left out
    /// where nothing is said of them.
    #[serde(default)]
    pub release: Option<Vec<Name>>,
    /// Where a block comes to see those of others.
    #[serde(default)]
    pub acquire: Option<Vec<Name>>,
    /// Where it says so.
    pub sources: Vec<Name>,
}

/// What other programs and measurements answered about the instructions of some architectures, in
/// brief: see `lanebook_gen::audit::answers`. A tool writes them from the records.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "answers")]
pub struct Answers {
    /// Which, by their targets.
    pub archs: Vec<Name>,
    /// Lanes of a wave.
    pub lanes: u16,
    /// Who said it.
    pub sources: Vec<Name>,
    /// A line an instruction: the first word of its text, and `KEY=VALUE`.
    #[serde(default)]
    pub rows: Vec<Name>,
    /// A line a word of a descriptor: its name, the word, and `FIELD=VALUE`.
    #[serde(default)]
    pub words: Vec<Name>,
    /// A line a layout of a unit: its kind and name, what symbols stand for, and CuTe's text of it.
    #[serde(default)]
    pub layouts: Vec<Name>,
    /// A line a unit: its kind and name, and `KEY=VALUE`.
    #[serde(default)]
    pub facts: Vec<Name>,
}

/// What a machine answered: a fact each, as the tables had it when it was held against the machine.
/// `tests/gpu` writes them.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "measured")]
pub struct Measured {
    /// The machine, a source that is hardware.
    pub source: Name,
    /// The architecture whose tables were asked.
    pub arch: Name,
    /// The kind of fact.
    pub kind: Name,
    /// The facts.
    pub rows: Vec<MeasuredFact>,
}

/// One of them.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "measured fact")]
pub struct MeasuredFact {
    /// Of which instruction, swizzle mode or tensor map.
    pub name: Name,
    /// Layouts by operand, or figures by name.
    pub fact: BTreeMap<String, Name>,
    /// How many times it was held against the machine.
    pub trials: u32,
    /// What the machine took for it, where time was what it was asked for.
    #[serde(default)]
    pub cycles: String,
}
