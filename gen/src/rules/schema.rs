//! Rules, operations, pipelines, weights and certificates as they are written.
use crate::schema::{Name, Term};
use crate::spanned::{Entry, Raw, Spanned};
use lanebook_tables as t;
use serde::{Deserialize, Deserializer};

/// `rules/index/*.ron`, `rules/tile/*.ron`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuleFile {
    /// Phase of rules that do not state theirs.
    pub phase: Name,
    /// [`RuleEntry`] each.
    pub rules: Vec<Entry>,
}

/// One rule.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "rule")]
pub struct RuleEntry {
    /// Unique name.
    pub name: Name,
    /// Phase, if not the file's (target rules: `select`).
    pub phase: Option<Name>,
    /// Higher is tried first.
    #[serde(default)]
    pub priority: i16,
    /// Left side.
    pub pattern: Spanned<Term>,
    /// Constants computed from the pattern's, by name.
    #[serde(default)]
    pub lets: Vec<(Name, Spanned<Term>)>,
    /// All must hold.
    #[serde(default)]
    pub conditions: Vec<Spanned<Term>>,
    /// Right side.
    pub replacement: Spanned<Term>,
    /// One line of algebra.
    pub doc: Spanned<String>,
    /// At least one.
    #[serde(default)]
    pub examples: Vec<Spanned<Example>>,
}

/// An example: under `given` facts about its variables, `from` becomes `to`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "example")]
pub struct Example {
    /// `("below", "x", 16)`, `("zeros", "x", mask)`, `("uniform", "x")`.
    #[serde(default)]
    pub given: Vec<Spanned<Term>>,
    /// Before.
    pub from: Spanned<Term>,
    /// After.
    pub to: Spanned<Term>,
}

/// One entry of `rules/ops.ron`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "operation")]
#[allow(missing_docs)] // the fields are those of `lanebook_tables::OpDecl`
pub struct OpEntry {
    pub name: Name,
    #[serde(default)]
    pub aliases: Vec<Name>,
    pub role: Spanned<Bare>,
    pub layout: Spanned<Bare>,
    pub operands: (u8, u8),
    pub results: (u8, u8),
    pub regions: u8,
    pub reads: bool,
    pub writes: bool,
    pub pure: bool,
    #[serde(default = "usual_effort")]
    pub effort: u8,
    /// Its results are truths.
    #[serde(default)]
    pub truth: bool,
    /// Its result has the bits of its operand.
    #[serde(default)]
    pub same_bits: bool,
    #[serde(default)]
    pub index: Option<Spanned<Bare>>,
    /// Of an operation on indices, the one that does it to tiles.
    #[serde(default)]
    pub tiles: Option<Name>,
    /// What another system's operation stands for.
    #[serde(default)]
    pub lowering: Option<Spanned<Bare>>,
    pub doc: String,
}

/// An operation is as much work as a sum unless it says otherwise.
const fn usual_effort() -> u8 {
    1
}

/// A word without quotes.
#[derive(Clone, Debug)]
pub struct Bare(pub String);

impl<'de> Deserialize<'de> for Bare {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(Raw::deserialize(deserializer)?.text().to_string()))
    }
}

/// `rules/passes.ron`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PassesFile {
    /// Phases in order of their numbers.
    pub phases: Vec<Name>,
    /// Pipelines.
    pub passes: Vec<Spanned<PassEntry>>,
}

/// A pipeline.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "pass")]
pub struct PassEntry {
    /// Its name.
    pub name: Name,
    /// In order.
    pub steps: Vec<StepEntry>,
}

/// One step of a pipeline.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepEntry {
    /// A phase's rules: `rules(phase: "simplify", sweeps: 4)`.
    Rules {
        /// The phase.
        phase: Name,
        /// Most sweeps.
        sweeps: u8,
    },
    /// A named analysis: `analysis("infer")`.
    Analysis(Name),
}

/// `rules/measure.ron`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeasureFile {
    /// Index words.
    pub index: Vec<Spanned<MeasureEntry>>,
    /// Tile operations; those not listed count (1, 1).
    pub tile: Vec<Spanned<MeasureEntry>>,
    /// Phases of tile rules with a measure of their own.
    #[serde(default)]
    pub phases: Vec<PhaseMeasure>,
}

/// What tile operations count in one phase.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "phase_measure")]
pub struct PhaseMeasure {
    /// The phase.
    pub phase: Name,
    /// Factor and offset of operations that are not listed.
    pub others: Spanned<(i64, i64)>,
    /// Those that count otherwise.
    pub tile: Vec<Spanned<MeasureEntry>>,
}

/// What a word counts: `factor` times the sum of its arguments, plus `offset`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "measure")]
pub struct MeasureEntry {
    /// The word or operation.
    pub word: Name,
    /// At least 1.
    pub factor: i64,
    /// At least 0.
    pub offset: i64,
}

/// `rules/cost.ron`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "weights")]
#[allow(missing_docs)] // the fields are those of `lanebook_tables::Weights`
pub struct Weights {
    pub shared_transaction: u32,
    pub tensor_cycle: u32,
    pub register: u32,
    pub instruction: u32,
    pub address: u32,
    pub global_segment: u32,
    pub matrix_cycle: u32,
    pub pad_kib: u32,
    pub loop_trips: u32,
    pub convert_byte: u32,
    pub convert_elements: u32,
    pub convert_bits: u32,
    pub work_byte: u32,
    pub load_byte: u32,
    pub reduce_lane: u32,
    pub reduce_warp: u32,
    pub exchange_addresses: u32,
    pub exchange_pass: u32,
    pub exchange_access: u32,
    pub exchange_move: u32,
    pub exchange_barrier: u32,
    pub packed_percent: u32,
    pub fused_percent: u32,
    /// Of a product whose factors become wider first, so much of the depth at once.
    pub widened_depth: u32,
    /// The same where each lane multiplies alone.
    pub widened_depth_lanes: u32,
    /// Registers of a thread whose warps only start copies.
    pub producer_registers: u32,
    pub bound_steps: u32,
    pub segment_bytes: u32,
    pub shared_align: u32,
    pub loop_depth: u32,
    pub trifle: u32,
    pub missing_register: u32,
    pub inference: Vec<Spanned<CostPolicyEntry>>,
    /// What is known of them.
    #[serde(default)]
    pub stated: Vec<Spanned<StatedEntry>>,
}

/// Two sums of weights that are equal, as something other than this file has it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "statement")]
pub struct StatedEntry {
    /// Weights, each so many times; `one` is a plain number.
    pub left: Vec<(u32, Name)>,
    /// What their sum is.
    pub right: Vec<(u32, Name)>,
    /// Who says so.
    pub by: String,
}

/// How attempts of layout inference are compared.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "policy")]
pub struct CostPolicyEntry {
    /// Its name.
    pub name: Name,
    /// The price of a sector of global memory.
    pub sector: u32,
    /// The price of an access of a wave.
    pub access: u32,
    /// Numbers to compare, the first first: sums of terms with weights.
    pub keys: Vec<Vec<(CostTermWord, u32)>>,
}

/// A term of an attempt's cost.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)] // those of `lanebook_tables::CostTerm`
pub enum CostTermWord {
    Spilled,
    Registers,
    Iterations,
    Traffic,
}

impl Weights {
    /// As the tables have it.
    #[must_use]
    pub fn value(&self) -> t::Weights {
        t::Weights {
            shared_transaction: self.shared_transaction,
            tensor_cycle: self.tensor_cycle,
            register: self.register,
            instruction: self.instruction,
            address: self.address,
            global_segment: self.global_segment,
            matrix_cycle: self.matrix_cycle,
            pad_kib: self.pad_kib,
            loop_trips: self.loop_trips,
            convert_byte: self.convert_byte,
            convert_elements: self.convert_elements,
            convert_bits: self.convert_bits,
            work_byte: self.work_byte,
            load_byte: self.load_byte,
            reduce_lane: self.reduce_lane,
            reduce_warp: self.reduce_warp,
            exchange_addresses: self.exchange_addresses,
            exchange_pass: self.exchange_pass,
            exchange_access: self.exchange_access,
            exchange_move: self.exchange_move,
            exchange_barrier: self.exchange_barrier,
            packed_percent: self.packed_percent,
            fused_percent: self.fused_percent,
            widened_depth: self.widened_depth,
            widened_depth_lanes: self.widened_depth_lanes,
            producer_registers: self.producer_registers,
            bound_steps: self.bound_steps,
            segment_bytes: self.segment_bytes,
            shared_align: self.shared_align,
            loop_depth: self.loop_depth,
            trifle: self.trifle,
            missing_register: self.missing_register,
        }
    }
}

/// `rules/proofs.ron`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProofsFile {
    /// By name of the rule.
    pub certificates: Vec<Spanned<CertificateEntry>>,
}

/// That a rule was proved.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "certificate")]
pub struct CertificateEntry {
    /// The rule.
    pub rule: Name,
    /// Hash of its canonical text.
    pub hash: String,
    /// How.
    pub method: MethodWord,
}

/// How a rule was proved.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MethodWord {
    /// Truth table of one bit: every word is bitwise.
    Bits,
    /// Both sides are linear over GF(2): all basis vectors, for all shift amounts.
    Basis,
    /// Both sides are the same polynomial modulo 2^width.
    Polynomial,
    /// SMT solver over bit vectors.
    Z3,
}
