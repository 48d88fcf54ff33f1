//! Instruction sets: register classes first (atoms need them), frames later (they need atoms).
use super::{HwModel, Names};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::load::Loaded;
use crate::schema::{self, Name};
use crate::source::Span;
use crate::spanned::Spanned;
use crate::template;
use lanebook_suggest::remedy;
use lanebook_tables::{AtomId, ClassId, IsaId, RegisterKind, TupleStyle};

/// Placeholders of a prologue or epilogue, besides `count.CLASS`.
pub const FRAME_WORDS: [&str; 15] = [
    "launch_registers",
    "kernel",
    "target",
    "version",
    "threads",
    "params",
    "registers",
    "shared",
    "shared_bytes",
    "shared_align",
    "param_bytes",
    "wave_lanes",
    "block.x",
    "block.y",
    "block.z",
];
/// Placeholders of a shared-memory declaration.
pub const SHARED_WORDS: [&str; 2] = ["shared_bytes", "shared_align"];
/// Placeholders of the text of one parameter.
pub const PARAM_WORDS: [&str; 9] =
    ["kernel", "name", "argument", "index", "bits", "bytes", "offset", "align", "axis"];
/// Placeholders of the declaration of one register class.
pub const REGISTER_WORDS: [&str; 5] = ["class", "declared", "prefix", "count", "bits"];

/// Placeholders of what stands in front of a guarded instruction, and behind it.
pub const GUARD_WORDS: [&str; 1] = ["guard"];

/// Placeholders of what an assembler must be told besides a text.
pub const FLAG_WORDS: [&str; 2] = ["target", "wave_lanes"];
/// Placeholders of an assembler's arguments.
pub const ARGUMENT_WORDS: [&str; 4] = ["target", "wave_lanes", "input", "output"];
/// Placeholders of what stands before the functions of a text for an assembler.
pub const HEADER_WORDS: [&str; 3] = ["target", "version", "wave_lanes"];
/// Placeholders of such a function.
pub const FUNCTION_WORDS: [&str; 3] = ["name", "registers", "body"];
/// Placeholders of an assembler's message.
pub const ERROR_WORDS: [&str; 3] = ["input", "line", "column"];
/// Placeholders of how it prints an encoding.
pub const ENCODING_WORDS: [&str; 1] = ["bytes"];

/// An instruction set.
#[derive(Clone, Debug)]
pub struct Isa {
    /// Its name.
    pub name: Name,
    /// The instruction set that it extends: its atoms and rules are this one's too.
    pub parent: Option<IsaId>,
    /// Register classes; a [`ClassId`] is an index here.
    pub classes: Vec<RegisterClass>,
    /// Classes by name.
    pub class_names: Names,
    /// How tuples are written.
    pub tuples: TupleStyle,
    /// Before the body.
    pub prologue: Frame,
    /// Once a parameter.
    pub param: Frame,
    /// Once a parameter that is a block of bytes.
    pub param_block: Frame,
    /// Once a parameter that is a pointer.
    pub param_pointer: Frame,
    /// Between parameters.
    pub param_separator: String,
    /// Once a class.
    pub register_decl: Frame,
    /// Shared memory, declared statically.
    pub shared_decl: Frame,
    /// Shared memory above the static limit.
    pub shared_decl_dynamic: Frame,
    /// After the body.
    pub epilogue: Frame,
    /// After a label's name.
    pub label_suffix: String,
    /// Starts a comment.
    pub comment: String,
    /// Where parameters begin.
    pub param_base: Option<FixedRegister>,
    /// Where the thread's number is at entry.
    pub thread_register: Option<FixedRegister>,
    /// Where the block's numbers are at entry.
    pub block_registers: Vec<FixedRegister>,
    /// Atoms that read them, and that read how many blocks there are.
    pub block_atoms: [Vec<AtomId>; 2],
    /// Once a parameter that says how many blocks there are.
    pub param_blocks: Frame,
    /// Atoms by their use in the frame.
    pub atoms: FrameAtoms,
    /// How an instruction is kept to some of the lanes.
    pub guard: Option<LaneGuard>,
    /// What an assembler must be told besides the text.
    pub flags: Vec<Frame>,
    /// How its texts say operations whose names they do not say.
    pub spellings: Vec<schema::Spelling>,
    /// How its texts say terms whose outermost word they do not say.
    pub terms: Vec<schema::Spelling>,
    /// The vendor's assembler.
    pub assembler: Option<Assembler>,
}

/// How an instruction is kept to some of the lanes: as `LaneGuard` of the schema has it.
#[derive(Clone, Debug)]
#[allow(missing_docs)] // the fields are those of `lanebook_tables::LaneGuard`
pub struct LaneGuard {
    pub class: ClassId,
    pub test: Option<AtomId>,
    pub before: Frame,
    pub after: Frame,
    pub issue: u8,
    pub writes: Option<ClassId>,
}

/// How an assembler is found and asked, and how it answers: see [`schema::Assembler`].
#[derive(Clone, Debug)]
#[allow(missing_docs)] // the fields are those of `schema::Assembler`
pub struct Assembler {
    pub span: Span,
    pub variable: String,
    pub programs: Vec<String>,
    pub flags: Vec<Frame>,
    pub arguments: Vec<Frame>,
    pub reads: Option<(String, String)>,
    pub newest: String,
    pub header: Frame,
    pub function: Frame,
    pub apart: Vec<String>,
    pub error: Frame,
    pub stops: Frame,
    pub unknown: Vec<String>,
    pub encodes: Vec<Frame>,
    pub encoding: Frame,
}

impl FrameAtoms {
    /// All that are given.
    pub fn iter(&self) -> impl Iterator<Item = AtomId> {
        let Self {
            read_thread,
            divide,
            leading_zeros,
            compare_signed,
            load_param32,
            load_param64,
            param_address,
            make_uniform,
            shared_base,
            branch,
            branch_if,
            compare_less,
            end,
            nop,
        } = *self;
        [
            read_thread,
            divide,
            leading_zeros,
            compare_signed,
            load_param32,
            load_param64,
            param_address,
            make_uniform,
            shared_base,
            branch,
            branch_if,
            compare_less,
            end,
            nop,
        ]
        .into_iter()
        .flatten()
    }
}

/// Text with named placeholders.
pub type Frame = Vec<template::Piece>;

/// The atoms that a kernel's frame uses. A required one that is `None` has been reported.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs)] // the fields are those of `lanebook_tables::Isa`
pub struct FrameAtoms {
    pub read_thread: Option<AtomId>,
    pub divide: Option<AtomId>,
    pub leading_zeros: Option<AtomId>,
    pub compare_signed: Option<AtomId>,
    pub load_param32: Option<AtomId>,
    pub load_param64: Option<AtomId>,
    pub param_address: Option<AtomId>,
    pub make_uniform: Option<AtomId>,
    pub shared_base: Option<AtomId>,
    pub branch: Option<AtomId>,
    pub branch_if: Option<AtomId>,
    pub compare_less: Option<AtomId>,
    pub end: Option<AtomId>,
    pub nop: Option<AtomId>,
}

/// A class of registers.
#[derive(Clone, Debug)]
pub struct RegisterClass {
    /// Its name, with its place.
    pub name: Name,
    /// Before the number.
    pub prefix: String,
    /// Width in bits.
    pub bits: u16,
    /// What it is for.
    pub kind: RegisterKind,
    /// How it is declared.
    pub declared: String,
    /// First and count.
    pub pool: (u16, u16),
    /// Most registers of one tile.
    pub tile_most: u16,
    /// Tuples start at a multiple of this.
    pub tuple_align: u8,
}

/// A register by its fixed name.
#[derive(Clone, Debug)]
pub struct FixedRegister {
    /// Its class.
    pub class: ClassId,
    /// Its first number.
    pub number: u16,
    /// 32-bit registers that it spans.
    pub count: u8,
    /// As written.
    pub text: String,
    /// Where it stands.
    pub span: Span,
}

pub(super) fn resolve_classes(loaded: &Loaded, model: &mut HwModel, diags: &mut Diagnostics) {
    for entry in &loaded.isas {
        let isa = &entry.isa;
        if !model.isa_names.declare(&isa.name, model.isas.len(), "instruction set", diags) {
            continue;
        }
        let (mut classes, mut class_names) = (Vec::new(), Names::default());
        for class in &isa.classes {
            if class_names.declare(&class.name, classes.len(), "register class", diags) {
                classes.push(register_class(class));
            }
        }
        let names: Vec<String> =
            classes.iter().map(|class| format!("count.{}", class.name.value)).collect();
        let known = |words: &[&'static str]| -> Vec<String> {
            words.iter().map(|word| (*word).to_string()).chain(names.iter().cloned()).collect()
        };
        let own = |words: &[&'static str]| {
            words.iter().map(|word| (*word).to_string()).collect::<Vec<_>>()
        };
        let fixed = |register: &Option<Spanned<schema::FixedRegister>>, diags: &mut Diagnostics| {
            let register = register.as_ref()?;
            let class = ClassId(class_names.find(&register.class, "register class", diags)?);
            let (number, count, text) = (register.number, register.count, register.text.clone());
            Some(FixedRegister { class, number, count, text, span: register.span })
        };
        let flags: Vec<Frame> =
            isa.flags.iter().map(|text| frame(text, &own(&FLAG_WORDS), diags)).collect();
        let resolved = Isa {
            name: isa.name.clone(),
            parent: isa.extends.as_ref().and_then(|name| model.isa_named(name)),
            tuples: match isa.tuples {
                schema::Tuples::Braces => TupleStyle::Braces,
                schema::Tuples::Range => TupleStyle::Range,
            },
            prologue: frame(&isa.prologue, &known(&FRAME_WORDS), diags),
            param: frame(&isa.param, &own(&PARAM_WORDS), diags),
            param_pointer: isa
                .param_pointer
                .as_ref()
                .map(|text| frame(text, &own(&PARAM_WORDS), diags))
                .unwrap_or_default(),
            param_block: isa
                .param_block
                .as_ref()
                .map(|text| frame(text, &own(&PARAM_WORDS), diags))
                .unwrap_or_default(),
            param_separator: isa.param_separator.clone(),
            register_decl: isa
                .register_decl
                .as_ref()
                .map(|text| frame(text, &own(&REGISTER_WORDS), diags))
                .unwrap_or_default(),
            shared_decl: isa
                .shared_decl
                .as_ref()
                .map(|text| frame(text, &own(&SHARED_WORDS), diags))
                .unwrap_or_default(),
            shared_decl_dynamic: isa
                .shared_decl_dynamic
                .as_ref()
                .map(|text| frame(text, &own(&SHARED_WORDS), diags))
                .unwrap_or_default(),
            epilogue: frame(&isa.epilogue, &known(&FRAME_WORDS), diags),
            label_suffix: isa.label_suffix.clone(),
            comment: isa.comment.clone(),
            param_base: fixed(&isa.param_base, diags),
            thread_register: fixed(&isa.thread_register, diags),
            block_registers: isa
                .block_registers
                .iter()
                .filter_map(|register| fixed(&Some(register.clone()), diags))
                .collect(),
            block_atoms: [Vec::new(), Vec::new()],
            param_blocks: isa
                .param_blocks
                .as_ref()
                .map(|text| frame(text, &own(&PARAM_WORDS), diags))
                .unwrap_or_default(),
            atoms: FrameAtoms::default(),
            guard: isa.guard.as_ref().and_then(|guard| {
                let guard = &guard.value;
                Some(LaneGuard {
                    class: ClassId(class_names.find(&guard.class, "register class", diags)?),
                    test: None,
                    before: frame(&guard.before, &own(&GUARD_WORDS), diags),
                    after: guard
                        .after
                        .as_ref()
                        .map(|text| frame(text, &own(&GUARD_WORDS), diags))
                        .unwrap_or_default(),
                    issue: guard.issue,
                    writes: guard
                        .writes
                        .as_ref()
                        .and_then(|name| class_names.find(name, "register class", diags))
                        .map(ClassId),
                })
            }),
            flags: flags.clone(),
            spellings: isa.spellings.clone(),
            terms: isa.terms.clone(),
            assembler: isa.assembler.as_ref().map(|asm| Assembler {
                span: asm.span,
                variable: asm.variable.clone(),
                programs: asm.programs.clone(),
                flags,
                arguments: asm
                    .arguments
                    .iter()
                    .map(|text| frame(text, &own(&ARGUMENT_WORDS), diags))
                    .collect(),
                reads: asm.reads.clone(),
                newest: asm.newest.clone(),
                header: asm
                    .header
                    .as_ref()
                    .map(|text| frame(text, &own(&HEADER_WORDS), diags))
                    .unwrap_or_default(),
                function: frame(&asm.function, &own(&FUNCTION_WORDS), diags),
                apart: asm.apart.clone(),
                error: frame(&asm.error, &own(&ERROR_WORDS), diags),
                stops: asm
                    .stops
                    .as_ref()
                    .map(|text| frame(text, &own(&ERROR_WORDS), diags))
                    .unwrap_or_default(),
                unknown: asm.unknown.clone(),
                encodes: asm
                    .encodes
                    .iter()
                    .map(|text| frame(text, &own(&ARGUMENT_WORDS), diags))
                    .collect(),
                encoding: asm
                    .encoding
                    .as_ref()
                    .map(|text| frame(text, &own(&ENCODING_WORDS), diags))
                    .unwrap_or_default(),
            }),
            classes,
            class_names,
        };
        model.isas.push(resolved);
    }
}

fn register_class(class: &schema::RegisterClass) -> RegisterClass {
    RegisterClass {
        name: class.name.clone(),
        prefix: class.prefix.clone(),
        bits: class.bits,
        kind: match class.kind {
            schema::RegisterKind::Vector => RegisterKind::Vector,
            schema::RegisterKind::Accumulator => RegisterKind::Accumulator,
            schema::RegisterKind::Scalar => RegisterKind::Scalar,
            schema::RegisterKind::Predicate => RegisterKind::Predicate,
            schema::RegisterKind::Special => RegisterKind::Special,
        },
        declared: class.declared.clone(),
        pool: class.pool,
        tile_most: class.tile_most.unwrap_or(match class.kind {
            schema::RegisterKind::Accumulator => class.pool.1,
            // One of them says where in memory the tile lies.
            schema::RegisterKind::Vector => class.pool.1.saturating_sub(1),
            _ => 0,
        }),
        tuple_align: class.tuple_align,
    }
}

/// A frame's text; its placeholders must be known.
fn frame(text: &Spanned<String>, known: &[String], diags: &mut Diagnostics) -> Frame {
    let pieces = match template::parse(text) {
        Ok(pieces) => pieces,
        Err((_, what)) => {
            diags.push(Diagnostic::at(text.span, what));
            return Vec::new();
        }
    };
    for piece in &pieces {
        let name = match piece {
            template::Piece::Text(_) => continue,
            template::Piece::Name(name) | template::Piece::Optional(name, _) => name,
        };
        if !known.contains(name) {
            let help = remedy(
                name,
                known.iter().map(String::as_str),
                &format!("known here: {}", known.join(", ")),
            );
            diags.push(
                Diagnostic::at(text.span, format!("unknown placeholder `{{{name}}}`")).help(help),
            );
        } else if matches!(piece, template::Piece::Optional(..)) {
            let message = format!("`{{{name}?...}}` is for immediates of atoms");
            diags.push(Diagnostic::at(text.span, message).help(format!("write `{{{name}}}`")));
        }
    }
    pieces
}

pub(super) fn resolve_frames(loaded: &Loaded, model: &mut HwModel, diags: &mut Diagnostics) {
    for entry in &loaded.isas {
        let isa = &entry.isa;
        let Some(number) = model.isa_names.get(&isa.name) else { continue };
        if model.isa_names.place(&isa.name) != Some(isa.name.span) {
            continue;
        }
        let mut find = |name: Option<&Name>| {
            let name = name?;
            let atom = model.atom_names.find(name, "atom", diags)?;
            let theirs = model.atoms[usize::from(atom)].isa;
            if !model.isa_has(IsaId(number), theirs) {
                let message = format!("atom `{}` is of another instruction set", name.value);
                diags.push(
                    Diagnostic::at(name.span, message)
                        .note(model.atoms[usize::from(atom)].name.span, "the atom")
                        .help(format!("use one of `{}`", isa.name.value)),
                );
            }
            Some(AtomId(atom))
        };
        let atoms = FrameAtoms {
            read_thread: find(isa.read_thread.as_ref()),
            divide: find(isa.divide.as_ref()),
            leading_zeros: find(isa.leading_zeros.as_ref()),
            compare_signed: find(isa.compare_signed.as_ref()),
            load_param32: find(Some(&isa.load_param32)),
            load_param64: find(Some(&isa.load_param64)),
            param_address: find(isa.param_address.as_ref()),
            make_uniform: find(isa.make_uniform.as_ref()),
            shared_base: find(isa.shared_base.as_ref()),
            branch: find(isa.branch.as_ref()),
            branch_if: find(Some(&isa.branch_if)),
            compare_less: find(Some(&isa.compare_less)),
            end: find(Some(&isa.end)),
            nop: find(isa.nop.as_ref()),
        };
        let test = isa.guard.as_ref().and_then(|guard| find(guard.value.test.as_ref()));
        let blocks = [&isa.read_block, &isa.read_blocks]
            .map(|names| names.iter().filter_map(|name| find(Some(name))).collect());
        if isa.read_thread.is_none() && isa.thread_register.is_none() {
            diags.push(
                Diagnostic::at(
                    isa.name.span,
                    format!("`{}` has no way to the thread's number", isa.name.value),
                )
                .help("give `thread_register` or `read_thread`"),
            );
        }
        if isa.branch.is_none() {
            let message = format!("`{}` has no `branch`", isa.name.value);
            diags.push(
                Diagnostic::at(isa.name.span, message)
                    .help("name the atom of the unconditional branch"),
            );
        }
        for (what, count) in [
            ("block_registers", isa.block_registers.len()),
            ("read_block", isa.read_block.len()),
            ("read_blocks", isa.read_blocks.len()),
        ] {
            if !matches!(count, 0 | 3) {
                let message = format!("`{what}` of `{}` has {count} entries", isa.name.value);
                diags.push(
                    Diagnostic::at(isa.name.span, message).help("one each for x, y and z, or none"),
                );
            }
        }
        model.isas[usize::from(number)].atoms = atoms;
        model.isas[usize::from(number)].block_atoms = blocks;
        if let Some(guard) = &mut model.isas[usize::from(number)].guard {
            guard.test = test;
        }
    }
}
