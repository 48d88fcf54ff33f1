//! The tables as they are written: one serde type for each kind of entry in `hw-tables/SCHEMA.md`.
//!
//! Names are strings with their place ([`Spanned`]); nothing is resolved here. Unknown fields and
//! words are errors.
mod agree;
mod arch;
mod atom;
mod broadcast;
mod isa;
mod number;
mod term;
pub mod unit;
mod verdicts;

pub use agree::{Agreement, Along, MatrixOperand};
pub use arch::{Arch, Bank, Counter, Groups, Hazard, HazardOn, Place, Shared, Step, SyncRule};
pub use atom::{
    Atom, Atomic, Class, Cost, LaneXor, Matrix, Moved, Movement, OffsetField, OffsetSide, Operand,
    Rest, Role, Side, Space, Status,
};
pub use broadcast::Broadcast;
pub use isa::{
    Assembler, FixedRegister, Isa, IsaFile, IsaPart, RegisterClass, RegisterKind, Spelling, Tuples,
};
pub use number::Number;
pub use term::Term;
pub use verdicts::{
    Answers, Figures, Measured, MeasuredFact, Verdicts, VerdictsFile, WaitPairs, Waits,
};

use crate::spanned::{Entry, Spanned};
use serde::Deserialize;

/// A name with its place.
pub type Name = Spanned<String>;

/// `sources.ron`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourcesFile {
    /// [`SourceEntry`] each.
    pub sources: Vec<Entry>,
}

/// A document that facts cite.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "source")]
pub struct SourceEntry {
    /// What facts cite it by.
    pub key: Name,
    /// Document and version.
    pub title: String,
    /// Where it can be had.
    pub link: Option<String>,
    /// It judges the texts of instructions alone, not what they do.
    #[serde(default)]
    pub texts: bool,
    /// Somebody measured it on a machine.
    #[serde(default)]
    pub hardware: bool,
    /// It is a document of the vendor.
    #[serde(default)]
    pub document: bool,
    /// What it comes from, if others come from there too: together they are one source.
    pub origin: Option<String>,
}

/// `dtypes.ron`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DtypesFile {
    /// [`Dtype`] each.
    pub dtypes: Vec<Entry>,
}

/// An element type.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "dtype")]
pub struct Dtype {
    /// Its name.
    pub name: Name,
    /// Width in bits.
    pub bits: u16,
    /// Bits that an element of a tile has in registers, where those are more.
    #[serde(default)]
    pub held: Option<u16>,
    /// What the bits mean.
    pub kind: DtypeKind,
    /// How the bits of a floating-point number are divided.
    #[serde(default)]
    pub format: Option<FloatFormat>,
    /// Low bits that matrix units do not read.
    #[serde(default)]
    pub unread: u8,
    /// The element type of which it holds two, the first one in its lower half.
    #[serde(default)]
    pub pair_of: Option<Name>,
}

/// A floating-point format.
#[derive(Copy, Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "format")]
pub struct FloatFormat {
    /// Whether it has a sign.
    #[serde(default = "yes")]
    pub signed: bool,
    /// Bits of the exponent.
    pub exponent: u8,
    /// Bits of the fraction.
    pub fraction: u8,
    /// The exponent's bias.
    pub bias: i16,
    /// Which patterns are no finite numbers.
    pub specials: Specials,
    /// Whether it has a zero.
    #[serde(default = "yes")]
    pub zero: bool,
}

const fn yes() -> bool {
    true
}

/// Which patterns of a floating-point format are no finite numbers.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Specials {
    /// Those of the highest exponent: infinities, and NaN.
    Ieee,
    /// All ones are NaN.
    Ones,
    /// The negative zero's is NaN.
    OneZero,
}

/// What the bits of an element mean.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DtypeKind {
    /// Floating point.
    Float,
    /// Two's complement.
    Signed,
    /// Unsigned.
    Unsigned,
    /// No arithmetic meaning.
    Bits,
}

/// `axes.ron`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AxesFile {
    /// [`Axis`] each.
    pub axes: Vec<Entry>,
}

/// A physical axis. Its number is fixed in `lanebook-layout`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "axis")]
pub struct Axis {
    /// Its name in layouts.
    pub name: Name,
    /// What one step along it is.
    pub doc: String,
}

/// A file under a vendor's folder.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HwFile {
    /// [`Access`] each.
    #[serde(default)]
    pub accesses: Vec<Entry>,
    /// [`Tag`] each.
    #[serde(default)]
    pub tags: Vec<Entry>,
    /// [`Broadcast`] each.
    #[serde(default)]
    pub broadcasts: Vec<Entry>,
    /// [`Group`] each.
    #[serde(default)]
    pub groups: Vec<Entry>,
    /// [`Agreement`] each.
    #[serde(default)]
    pub agreements: Vec<Entry>,
    /// [`Figures`] each.
    #[serde(default)]
    pub figures: Vec<Entry>,
    /// [`Waits`] each.
    #[serde(default)]
    pub waits: Vec<Entry>,
    /// [`Measured`] each.
    #[serde(default)]
    pub measured: Vec<Entry>,
    /// [`Answers`] each.
    #[serde(default)]
    pub answers: Vec<Entry>,
    /// An [`Arch`].
    #[serde(default)]
    pub arch: Option<Entry>,
}

/// A kind of memory access.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "access")]
pub struct Access {
    /// Its name.
    pub name: Name,
    /// The space it touches.
    pub space: Space,
    /// Who touches memory how.
    pub doc: String,
    /// Through which path: accesses of one path see each other. Without it: the lanes' own.
    #[serde(default)]
    pub path: Option<Name>,
    /// Accesses of its path come in the order in which they are issued.
    #[serde(default)]
    pub in_order: bool,
    /// Atoms that make certain that it is over, in order, where an architecture has them all.
    #[serde(default)]
    pub done: Vec<Name>,
    /// What stands between an access of another path and this one.
    #[serde(default)]
    pub behind: Vec<Crossing>,
}

/// What an access needs that comes behind one of another path.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "behind")]
pub struct Crossing {
    /// The path of the earlier access.
    pub of: Name,
    /// Atoms before the waves meet, once the earlier access is over.
    #[serde(default)]
    pub before: Vec<Name>,
    /// Atoms after they met.
    #[serde(default)]
    pub after: Vec<Name>,
}

/// A group of atoms that hazards speak of.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "tag")]
pub struct Tag {
    /// Its name.
    pub name: Name,
    /// Which atoms carry it.
    pub doc: String,
}

/// Atoms that architectures have together.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "group")]
pub struct Group {
    /// Its name.
    pub name: Name,
    /// Instruction set of all its atoms.
    pub isa: Name,
    /// Typed by hand: `evidence` says what follows instead.
    pub status: Option<Status>,
    /// Sources of atoms that do not state theirs.
    pub sources: Option<Vec<Name>>,
    /// [`Atom`] each.
    #[serde(default)]
    pub atoms: Vec<Entry>,
    /// [`Family`] each.
    #[serde(default)]
    pub families: Vec<Entry>,
    /// Facts about matrix units and their memories.
    #[serde(default)]
    pub units: unit::Units,
}

/// Atoms that differ in a few words.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "family")]
pub struct Family {
    /// Tables of words; there is an atom for every combination of one row of each.
    pub each: Vec<Spanned<FamilyTable>>,
    /// An [`Atom`] with `_word_` where a row's cell goes.
    pub atom: Entry,
}

/// Words and what stands for them.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "table of words")]
pub struct FamilyTable {
    /// The words.
    pub words: Vec<Name>,
    /// A cell for each word: a string (without its quotes) or any other value, as it is written.
    pub rows: Vec<Spanned<Vec<Entry>>>,
}
