//! Architectures as they are written. Every field but the name may be left out where `extends`
//! supplies it.
use super::{Name, Status};
use crate::spanned::Spanned;
use serde::{Deserialize, Deserializer, de};
use std::collections::BTreeMap;

/// An architecture.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "arch")]
pub struct Arch {
    /// Its name.
    pub name: Name,
    /// What the assembler calls it; else the name. Not inherited.
    pub target: Option<Spanned<String>>,
    /// The architecture whose facts it takes over where it does not restate them.
    pub extends: Option<Name>,
    /// Vendor.
    pub vendor: Option<Spanned<String>>,
    /// Instruction set.
    pub isa: Option<Name>,
    /// Lowest text version.
    pub isa_version: Option<Spanned<String>>,
    /// Lanes in a wave, default first.
    pub wave_lanes: Option<Spanned<Vec<u16>>>,
    /// Most threads in a group.
    pub max_threads: Option<Spanned<u16>>,
    /// Shared memory.
    pub shared: Option<Spanned<Shared>>,
    /// Groups that it has, besides the parent's.
    #[serde(default)]
    pub has: Vec<Name>,
    /// Groups of the parent that it has not.
    #[serde(default)]
    pub without: Vec<Name>,
    /// Atoms of its groups that it lacks.
    #[serde(default)]
    pub lacks: Vec<Name>,
    /// Groups that its assembler takes although nothing says that the machine has them.
    #[serde(default)]
    pub assembles: Vec<Name>,
    /// Atoms that its assembler expands.
    #[serde(default)]
    pub expanded: Vec<Name>,
    /// Bank models.
    #[serde(default)]
    pub banks: Vec<Spanned<Bank>>,
    /// Synchronisation.
    #[serde(default)]
    pub sync: Vec<Spanned<SyncRule>>,
    /// Completion counters.
    #[serde(default)]
    pub counters: Vec<Spanned<Counter>>,
    /// Wait states.
    pub hazards: Option<Vec<Spanned<Hazard>>>,
    /// Integers that any operand takes.
    pub inline_integers: Option<Spanned<(i32, i32)>>,
    /// Element types whose subnormal numbers matrix instructions take and give as zero.
    pub flushed: Option<Vec<Name>>,
    /// Scalar registers that one vector instruction reads.
    pub scalar_reads: Option<Spanned<u8>>,
    /// Typed by hand: `evidence` says what follows instead.
    pub status: Option<Status>,
    /// Where the figures come from, and the default for everything in it.
    pub sources: Option<Vec<Name>>,
    /// For people.
    pub note: Option<String>,
}

/// Shared-memory limits in bytes.
#[derive(Copy, Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "shared")]
pub struct Shared {
    /// Declared statically.
    pub static_bytes: u32,
    /// At most.
    pub max_bytes: u32,
}

/// A bank model.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "bank model")]
pub struct Bank {
    /// What sides refer to.
    pub name: Name,
    /// Number of banks.
    pub banks: u16,
    /// Bytes a bank and cycle.
    pub bank_bytes: u8,
    /// Lanes or slots served together.
    pub groups: Spanned<Groups>,
    /// How many lanes or slots there are; else the default wave.
    pub slots: Option<Spanned<u16>>,
    /// Typed by hand: `evidence` says what follows instead.
    pub status: Option<Status>,
    /// Where it comes from.
    pub sources: Option<Vec<Name>>,
    /// For people.
    pub note: Option<String>,
}

/// Lanes served together: `consecutive(8)` or `["0-3,12-15", ...]`.
#[derive(Clone, Debug, PartialEq)]
pub enum Groups {
    /// Runs of so many lanes.
    Consecutive(u16),
    /// Each group as ranges of lanes.
    Listed(Vec<Name>),
}

impl<'de> Deserialize<'de> for Groups {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "snake_case")]
        enum Word {
            Consecutive(u16),
        }
        let entry = crate::spanned::Raw::deserialize(deserializer)?;
        if entry.text().starts_with('[') {
            entry.read().map(Groups::Listed).map_err(de::Error::custom)
        } else {
            entry
                .read::<Word>()
                .map(|Word::Consecutive(n)| Groups::Consecutive(n))
                .map_err(de::Error::custom)
        }
    }
}

/// What must stand between two kinds of accesses.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "sync rule")]
pub struct SyncRule {
    /// Earlier access.
    pub producer: Name,
    /// Later access.
    pub consumer: Name,
    /// In order.
    pub steps: Vec<Spanned<Step>>,
    /// Where it comes from.
    pub sources: Option<Vec<Name>>,
    /// For people.
    pub note: Option<String>,
}

/// A synchronisation instruction with its immediates.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "step")]
pub struct Step {
    /// Which.
    pub atom: Name,
    /// All its immediates by name.
    #[serde(default)]
    pub immediates: BTreeMap<String, i32>,
    /// Where it stands.
    #[serde(default)]
    pub place: Place,
    /// Makes every wave wait.
    #[serde(default)]
    pub barrier: bool,
}

/// Where a step stands.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// Right before the consumers.
    #[default]
    BeforeConsumer,
    /// Right after the producers.
    AfterProducer,
}

/// A completion counter.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "counter")]
pub struct Counter {
    /// Its name.
    pub name: Name,
    /// Most outstanding operations that a wait can express.
    pub max: u16,
    /// Operations complete in order.
    pub in_order: bool,
    /// The atom that waits.
    pub wait: Name,
    /// The wait's immediate for this counter.
    pub operand: Name,
}

/// Which use of a register a hazard is about.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HazardOn {
    /// The consumer reads it.
    Read,
    /// The consumer overwrites it.
    Write,
    /// Either.
    #[default]
    Any,
}

/// Wait states between two tags.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "hazard")]
pub struct Hazard {
    /// Tag of the earlier atom.
    pub producer: Name,
    /// Tag of the later atom.
    pub consumer: Name,
    /// Only if this operand of the later atom is involved.
    pub operand: Option<Name>,
    /// Which use of the register counts.
    #[serde(default)]
    pub on: HazardOn,
    /// The register is this operand of the earlier atom; else any that it writes.
    pub producer_operand: Option<Name>,
    /// No wait for exactly the earlier atom's tuple.
    #[serde(default)]
    pub unless_same: bool,
    /// Wait states between.
    #[serde(default)]
    pub states: u8,
    /// Tags of the atoms that are wait states, one each; else every atom is.
    #[serde(default)]
    pub counts: Vec<Name>,
    /// Atom that ends it at any distance, in place of wait states.
    pub wait: Option<Name>,
    /// Only for a register that an atom with this tag reads in the same kernel.
    pub after: Option<Name>,
    /// Where it comes from.
    pub sources: Option<Vec<Name>>,
    /// For people.
    pub note: Option<String>,
}
