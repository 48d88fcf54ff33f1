//! Instruction sets as they are written, in `rules/isa/*.ron` beside the target rules.
use super::Name;
use crate::spanned::{Entry, Spanned};
use serde::Deserialize;

/// A file under `rules/isa`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IsaFile {
    /// An [`Isa`].
    pub isa: Entry,
    /// Target rules, read by the rule compiler.
    #[serde(default)]
    pub rules: Vec<Entry>,
}

/// An instruction set.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "isa")]
pub struct Isa {
    /// Its name.
    pub name: Name,
    /// Register classes.
    pub classes: Vec<Spanned<RegisterClass>>,
    /// How tuples are written.
    pub tuples: Tuples,
    /// Before the body.
    pub prologue: Spanned<String>,
    /// Once a parameter.
    pub param: Spanned<String>,
    /// Between parameters.
    pub param_separator: String,
    /// Once a class.
    #[serde(default)]
    pub register_decl: Option<Spanned<String>>,
    /// Shared memory, declared statically.
    pub shared_decl: Option<Spanned<String>>,
    /// Shared memory above the static limit.
    pub shared_decl_dynamic: Option<Spanned<String>>,
    /// After the body.
    pub epilogue: Spanned<String>,
    /// After a label's name.
    pub label_suffix: String,
    /// Starts a comment.
    pub comment: String,
    /// Where the kernel's parameters begin, if they are not loaded by name.
    pub param_base: Option<Spanned<FixedRegister>>,
    /// Where the thread's number is at entry.
    pub thread_register: Option<Spanned<FixedRegister>>,
    /// Atom that reads the thread's number.
    pub read_thread: Option<Name>,
    /// Atom.
    pub load_param32: Name,
    /// Atom.
    pub load_param64: Name,
    /// Atom.
    pub make_uniform: Option<Name>,
    /// Atom.
    pub shared_base: Option<Name>,
    /// Atom.
    pub branch: Option<Name>,
    /// Atom.
    pub branch_if: Name,
    /// Atom.
    pub compare_less: Name,
    /// Atom.
    pub end: Name,
    /// Atom.
    pub nop: Option<Name>,
    /// The vendor's assembler.
    pub assembler: Option<Spanned<Assembler>>,
}

/// The assembler of an instruction set: how it is found and asked, and how it answers. For `lanebook check`; nothing of it ships.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "assembler")]
pub struct Assembler {
    /// Environment variable that holds its path.
    pub variable: String,
    /// Else its names, looked for on the path in this order.
    pub programs: Vec<String>,
    /// Its arguments.
    pub arguments: Vec<Spanned<String>>,
    /// Targets that begin with the first are asked for with the second in its place where a text is to be read without making code.
    pub reads: Option<(String, String)>,
    /// The newest version of texts: what a target lacks is not blamed on the version.
    #[serde(default)]
    pub newest: String,
    /// Before everything.
    #[serde(default)]
    pub header: Option<Spanned<String>>,
    /// Around the instructions.
    pub function: Spanned<String>,
    /// Instructions with one of these words stand in functions of their own.
    #[serde(default)]
    pub apart: Vec<String>,
    /// How it names the line of an error.
    pub error: Spanned<String>,
    /// What it says when it does not know a target, be it as a warning.
    #[serde(default)]
    pub unknown: Vec<String>,
}

/// How register tuples are written.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tuples {
    /// `{%r1, %r7}`.
    Braces,
    /// `v[4:7]`.
    Range,
}

/// A class of registers.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "class")]
pub struct RegisterClass {
    /// Its name in operands.
    pub name: Name,
    /// Before the number.
    pub prefix: String,
    /// Width in bits.
    #[serde(default = "bits")]
    pub bits: u16,
    /// What it is for.
    pub kind: RegisterKind,
    /// How it is declared.
    #[serde(default)]
    pub declared: String,
    /// First and count.
    #[serde(default)]
    pub pool: (u16, u16),
    /// Tuples start at a multiple of this.
    #[serde(default = "align")]
    pub tuple_align: u8,
}

fn bits() -> u16 {
    32
}
fn align() -> u8 {
    1
}

/// What a register class is for.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)] // the words are those of `lanebook_tables::RegisterKind`
pub enum RegisterKind {
    Vector,
    Accumulator,
    Scalar,
    Predicate,
    Special,
}

/// A register by its fixed name.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "register")]
pub struct FixedRegister {
    /// Its class.
    pub class: Name,
    /// Its first number.
    pub number: u16,
    /// 32-bit registers that it spans.
    pub count: u8,
    /// As written.
    pub text: String,
}
