//! Instruction sets as they are written, in `rules/isa/*.ron` beside the target rules.
use super::Name;
use crate::spanned::{Entry, Spanned};
use serde::Deserialize;

/// A file under `rules/isa`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IsaFile {
    /// An [`IsaPart`].
    pub isa: Entry,
    /// Target rules, read by the rule compiler.
    #[serde(default)]
    pub rules: Vec<Entry>,
}

/// An instruction set.
#[derive(Clone, Debug)]
pub struct Isa {
    /// Its name.
    pub name: Name,
    /// The instruction set that it extends.
    pub extends: Option<Name>,
    /// Register classes.
    pub classes: Vec<Spanned<RegisterClass>>,
    /// How tuples are written.
    pub tuples: Tuples,
    /// Before the body.
    pub prologue: Spanned<String>,
    /// Once a parameter.
    pub param: Spanned<String>,
    /// Once a parameter that is a block of bytes.
    pub param_block: Option<Spanned<String>>,
    /// Once a parameter that is a pointer, if not as the others.
    pub param_pointer: Option<Spanned<String>>,
    /// Between parameters.
    pub param_separator: String,
    /// Once a class.
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
    /// Where the block's numbers along x, y and z are at entry.
    pub block_registers: Vec<Spanned<FixedRegister>>,
    /// Atoms that read them.
    pub read_block: Vec<Name>,
    /// Atoms that read how many blocks there are.
    pub read_blocks: Vec<Name>,
    /// Once a parameter that says how many blocks there are.
    pub param_blocks: Option<Spanned<String>>,
    /// Atom.
    pub divide: Option<Name>,
    /// Atom.
    pub leading_zeros: Option<Name>,
    /// Atom.
    pub load_param32: Name,
    /// Atom.
    pub load_param64: Name,
    /// Atom.
    pub param_address: Option<Name>,
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
    pub compare_signed: Option<Name>,
    /// How an instruction is kept to some of the lanes.
    pub guard: Option<Spanned<LaneGuard>>,
    /// Atom.
    pub end: Name,
    /// Atom.
    pub nop: Option<Name>,
    /// What an assembler must be told besides the text.
    pub flags: Vec<Spanned<String>>,
    /// How its texts say operations whose names they do not say.
    pub spellings: Vec<Spelling>,
    /// How its texts say terms whose outermost word they do not say.
    pub terms: Vec<Spelling>,
    /// The vendor's assembler.
    pub assembler: Option<Spanned<Assembler>>,
}

/// How texts say an operation whose name they do not say, as `lg2` a logarithm to base 2. For
/// `lanebook check`; nothing of it ships.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "spelling")]
pub struct Spelling {
    /// Operation.
    pub op: Name,
    /// Beginnings of texts that do it.
    pub begins: Vec<Spanned<String>>,
}

/// How an instruction is kept to the lanes in which a word is below zero.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "guard")]
pub struct LaneGuard {
    /// Class of the register that guards.
    pub class: Name,
    /// Atom that makes it of the word; without one it is the word.
    pub test: Option<Name>,
    /// In front of the instruction.
    pub before: Spanned<String>,
    /// Behind it.
    #[serde(default)]
    pub after: Option<Spanned<String>>,
    /// Instructions that this adds.
    #[serde(default)]
    pub issue: u8,
    /// The class of a special register that it writes.
    #[serde(default)]
    pub writes: Option<Name>,
}

/// The assembler of an instruction set: how it is found and asked, and how it answers. For
/// `lanebook check`; nothing of it ships.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "assembler")]
pub struct Assembler {
    /// Environment variable that holds its path.
    pub variable: String,
    /// Else its names, looked for on the path in this order.
    pub programs: Vec<String>,
    /// Its arguments, behind the instruction set's flags.
    pub arguments: Vec<Spanned<String>>,
    /// Targets that begin with the first are asked for with the second in its place where a text is
    /// to be read without making code.
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
    /// How it names the line at which it gives up, where that is no error after which it goes on.
    pub stops: Option<Spanned<String>>,
    /// What it says when it does not know a target, be it as a warning.
    #[serde(default)]
    pub unknown: Vec<String>,
    /// Its arguments, behind the flags, when it is to print, to standard output, the labels of a text and the encoding
    /// of each instruction; else spellings of one instruction cannot be told from instructions.
    #[serde(default)]
    pub encodes: Vec<Spanned<String>>,
    /// How it prints an encoding, bytes in hexadecimal.
    pub encoding: Option<Spanned<String>>,
}

/// An instruction set as it is written: one that extends another states only what differs.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "isa")]
#[allow(missing_docs)] // the fields are those of [`Isa`]
pub struct IsaPart {
    /// Its name.
    pub name: Name,
    /// The instruction set whose classes, frame and target rules it takes over.
    pub extends: Option<Name>,
    /// All classes; of one that extends another, those that differ, by name.
    #[serde(default)]
    pub classes: Vec<Spanned<RegisterClass>>,
    pub tuples: Option<Tuples>,
    pub prologue: Option<Spanned<String>>,
    pub param: Option<Spanned<String>>,
    pub param_block: Option<Spanned<String>>,
    pub param_pointer: Option<Spanned<String>>,
    pub param_separator: Option<String>,
    pub register_decl: Option<Spanned<String>>,
    pub shared_decl: Option<Spanned<String>>,
    pub shared_decl_dynamic: Option<Spanned<String>>,
    pub epilogue: Option<Spanned<String>>,
    pub label_suffix: Option<String>,
    pub comment: Option<String>,
    pub param_base: Option<Spanned<FixedRegister>>,
    pub thread_register: Option<Spanned<FixedRegister>>,
    pub read_thread: Option<Name>,
    pub block_registers: Option<Vec<Spanned<FixedRegister>>>,
    pub read_block: Option<Vec<Name>>,
    pub read_blocks: Option<Vec<Name>>,
    pub param_blocks: Option<Spanned<String>>,
    pub divide: Option<Name>,
    pub leading_zeros: Option<Name>,
    pub load_param32: Option<Name>,
    pub load_param64: Option<Name>,
    pub param_address: Option<Name>,
    pub make_uniform: Option<Name>,
    pub shared_base: Option<Name>,
    pub branch: Option<Name>,
    pub branch_if: Option<Name>,
    pub compare_less: Option<Name>,
    pub compare_signed: Option<Name>,
    pub guard: Option<Spanned<LaneGuard>>,
    pub end: Option<Name>,
    pub nop: Option<Name>,
    pub flags: Option<Vec<Spanned<String>>>,
    /// Beside those of the one that it extends.
    #[serde(default)]
    pub spellings: Vec<Spelling>,
    /// Beside those of the one that it extends.
    #[serde(default)]
    pub terms: Vec<Spelling>,
    pub assembler: Option<Spanned<Assembler>>,
}

impl IsaPart {
    /// The whole, with what it does not state from the one that it extends.
    ///
    /// # Errors
    /// The first field that neither states.
    pub fn complete(self, parent: Option<&Isa>) -> Result<Isa, &'static str> {
        let mut classes: Vec<Spanned<RegisterClass>> =
            parent.map(|p| p.classes.clone()).unwrap_or_default();
        for own in self.classes {
            match classes
                .iter_mut()
                .find(|class| parent.is_some() && class.name.value == own.name.value)
            {
                Some(class) => *class = own,
                None => classes.push(own),
            }
        }
        Ok(Isa {
            name: self.name,
            extends: self.extends,
            classes,
            tuples: self.tuples.or_else(|| parent.map(|p| p.tuples)).ok_or("tuples")?,
            prologue: self
                .prologue
                .or_else(|| parent.map(|p| p.prologue.clone()))
                .ok_or("prologue")?,
            param: self.param.or_else(|| parent.map(|p| p.param.clone())).ok_or("param")?,
            param_pointer: self
                .param_pointer
                .or_else(|| parent.and_then(|p| p.param_pointer.clone())),
            param_block: self.param_block.or_else(|| parent.and_then(|p| p.param_block.clone())),
            param_separator: self
                .param_separator
                .or_else(|| parent.map(|p| p.param_separator.clone()))
                .ok_or("param_separator")?,
            register_decl: self
                .register_decl
                .or_else(|| parent.and_then(|p| p.register_decl.clone())),
            shared_decl: self.shared_decl.or_else(|| parent.and_then(|p| p.shared_decl.clone())),
            shared_decl_dynamic: self
                .shared_decl_dynamic
                .or_else(|| parent.and_then(|p| p.shared_decl_dynamic.clone())),
            epilogue: self
                .epilogue
                .or_else(|| parent.map(|p| p.epilogue.clone()))
                .ok_or("epilogue")?,
            label_suffix: self
                .label_suffix
                .or_else(|| parent.map(|p| p.label_suffix.clone()))
                .ok_or("label_suffix")?,
            comment: self.comment.or_else(|| parent.map(|p| p.comment.clone())).ok_or("comment")?,
            param_base: self.param_base.or_else(|| parent.and_then(|p| p.param_base.clone())),
            thread_register: self
                .thread_register
                .or_else(|| parent.and_then(|p| p.thread_register.clone())),
            read_thread: self.read_thread.or_else(|| parent.and_then(|p| p.read_thread.clone())),
            block_registers: self
                .block_registers
                .or_else(|| parent.map(|p| p.block_registers.clone()))
                .unwrap_or_default(),
            read_block: self
                .read_block
                .or_else(|| parent.map(|p| p.read_block.clone()))
                .unwrap_or_default(),
            read_blocks: self
                .read_blocks
                .or_else(|| parent.map(|p| p.read_blocks.clone()))
                .unwrap_or_default(),
            param_blocks: self.param_blocks.or_else(|| parent.and_then(|p| p.param_blocks.clone())),
            compare_signed: self
                .compare_signed
                .or_else(|| parent.and_then(|p| p.compare_signed.clone())),
            leading_zeros: self
                .leading_zeros
                .or_else(|| parent.and_then(|p| p.leading_zeros.clone())),
            divide: self.divide.or_else(|| parent.and_then(|p| p.divide.clone())),
            load_param32: self
                .load_param32
                .or_else(|| parent.map(|p| p.load_param32.clone()))
                .ok_or("load_param32")?,
            load_param64: self
                .load_param64
                .or_else(|| parent.map(|p| p.load_param64.clone()))
                .ok_or("load_param64")?,
            param_address: self
                .param_address
                .or_else(|| parent.and_then(|p| p.param_address.clone())),
            make_uniform: self.make_uniform.or_else(|| parent.and_then(|p| p.make_uniform.clone())),
            shared_base: self.shared_base.or_else(|| parent.and_then(|p| p.shared_base.clone())),
            branch: self.branch.or_else(|| parent.and_then(|p| p.branch.clone())),
            branch_if: self
                .branch_if
                .or_else(|| parent.map(|p| p.branch_if.clone()))
                .ok_or("branch_if")?,
            compare_less: self
                .compare_less
                .or_else(|| parent.map(|p| p.compare_less.clone()))
                .ok_or("compare_less")?,
            guard: self.guard.or_else(|| parent.and_then(|p| p.guard.clone())),
            end: self.end.or_else(|| parent.map(|p| p.end.clone())).ok_or("end")?,
            nop: self.nop.or_else(|| parent.and_then(|p| p.nop.clone())),
            flags: self.flags.or_else(|| parent.map(|p| p.flags.clone())).unwrap_or_default(),
            spellings: parent
                .map(|p| p.spellings.clone())
                .into_iter()
                .flatten()
                .chain(self.spellings)
                .collect(),
            terms: parent
                .map(|p| p.terms.clone())
                .into_iter()
                .flatten()
                .chain(self.terms)
                .collect(),
            assembler: self.assembler.or_else(|| parent.and_then(|p| p.assembler.clone())),
        })
    }
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
    /// Most registers of one tile.
    #[serde(default)]
    pub tile_most: Option<u16>,
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
