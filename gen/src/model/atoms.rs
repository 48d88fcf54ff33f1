//! Atoms with their operands, movements and shapes resolved.
use super::words::{Words, need_source, space, status};
use super::{HwModel, Isa, Names};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::layouts::{self, Layout};
use crate::ledger::FIRST_LOCAL;
use crate::load::{Loaded, LoadedGroup};
use crate::schema::{self, Name, Rest};
use crate::source::Span;
use crate::spanned::Spanned;
use crate::{means, template};
use lanebook_tables::{AccessId, AtomClass, AtomCost, AtomId, ClassId, DtypeId, IsaId, Role, SourceId, Space, Status, TagId, TermNode};

/// Atoms that architectures have together.
#[derive(Clone, Debug)]
pub struct Group {
    /// Its name.
    pub name: Name,
    /// Its atoms, in file order.
    pub atoms: Vec<AtomId>,
}

/// One instruction form.
#[derive(Clone, Debug)]
pub struct Atom {
    /// Its name.
    pub name: Name,
    /// The whole entry.
    pub span: Span,
    /// Stable number; [`FIRST_LOCAL`] and above outside the ledger.
    pub stable: u32,
    /// Its instruction set.
    pub isa: IsaId,
    /// What kind of thing it does.
    pub class: AtomClass,
    /// Its text, placeholders still by name.
    pub template: Vec<template::Piece>,
    /// Where the text stands.
    pub template_span: Span,
    /// Operands in order.
    pub operands: Vec<Operand>,
    /// What it moves.
    pub movement: Option<Movement>,
    /// What it multiplies.
    pub matrix: Option<Matrix>,
    /// Whether the entry has a shape, sound or not.
    pub states_matrix: bool,
    /// Value of the first operand, prefix order.
    pub means: Vec<TermNode>,
    /// Where `means` stands.
    pub means_span: Option<Span>,
    /// Cost facts.
    pub cost: AtomCost,
    /// Counter by name: architectures number them.
    pub counter: Option<Name>,
    /// May complete out of order.
    pub unordered: bool,
    /// Tags.
    pub tags: Vec<TagId>,
    /// How sure it is.
    pub status: Status,
    /// Where it comes from.
    pub sources: Vec<SourceId>,
}

impl Atom {
    /// Number of an operand by name.
    #[must_use]
    pub fn operand(&self, name: &str) -> Option<u8> {
        self.operands.iter().position(|o| o.name.value == name).and_then(|at| u8::try_from(at).ok())
    }
    /// Numbers and operands that are immediates, in order.
    pub fn immediates(&self) -> impl Iterator<Item = (u8, &Operand)> {
        (0u8..).zip(&self.operands).filter(|(_, o)| o.role == Role::Immediate)
    }
}

/// One operand.
#[derive(Clone, Debug)]
pub struct Operand {
    /// Its name.
    pub name: Name,
    /// The whole entry.
    pub span: Span,
    /// What it is.
    pub role: Role,
    /// Register class; immediates and labels have none.
    pub class: Option<ClassId>,
    /// Whether the entry names a class, known or not.
    pub states_class: bool,
    /// Bits of one register of the class (0 without a class).
    pub register_bits: u16,
    /// Further classes.
    pub also: Vec<ClassId>,
    /// Registers in the tuple.
    pub registers: u8,
    /// Element type.
    pub dtype: Option<DtypeId>,
    /// Layout of a matrix operand.
    pub layout: Option<Layout>,
    /// Logical extents of it, with the place that states them.
    pub extents: Option<Spanned<(u16, u16)>>,
    /// Bits that the layout does not name.
    pub rest: Rest,
    /// Integers.
    pub range: Option<Spanned<(i64, i64)>>,
    /// Fixed register that the text does not show.
    pub implicit: bool,
}

/// What a mover moves.
#[derive(Clone, Debug)]
pub struct Movement {
    /// The whole entry.
    pub span: Span,
    /// Width of a logical element.
    pub unit_bits: u16,
    /// Extents of the logical coordinate.
    pub extents: Spanned<Vec<u16>>,
    /// Source.
    pub from: Side,
    /// Destination.
    pub to: Side,
    /// Immediate offset fields.
    pub offsets: Vec<OffsetField>,
    /// Bits cross lanes.
    pub crosses_lanes: bool,
}

/// One side of a movement.
#[derive(Clone, Debug)]
pub struct Side {
    /// The whole entry.
    pub span: Span,
    /// Where.
    pub space: Space,
    /// Layout.
    pub layout: Layout,
    /// Data or address operand.
    pub operand: u8,
    /// Second address operand.
    pub base: Option<u8>,
    /// Alignment in bytes, 0 for registers.
    pub align_bytes: u16,
    /// Bytes in a row, if stated.
    pub slot_bytes: Option<Spanned<u16>>,
    /// Bank model.
    pub banks: Option<Name>,
    /// Kind of access; registers have none.
    pub access: Option<AccessId>,
    /// Whether the entry names an access kind, known or not.
    pub states_access: bool,
    /// Bits that the layout does not name.
    pub rest: Rest,
}

/// Immediate offset field.
#[derive(Clone, Debug)]
pub struct OffsetField {
    /// The whole entry.
    pub span: Span,
    /// The immediate operand.
    pub operand: u8,
    /// Bytes a unit.
    pub scale: u16,
    /// Added to the source's addresses.
    pub on_from: bool,
    /// Added to the destination's addresses.
    pub on_to: bool,
}

/// Shape of a matrix instruction.
#[derive(Clone, Debug)]
#[allow(missing_docs)] // the fields are those of `lanebook_tables::MatrixShape`
pub struct Matrix {
    pub span: Span,
    pub m: u16,
    pub n: u16,
    pub k: u16,
    pub a: u8,
    pub b: u8,
    pub c: u8,
    pub d: u8,
}

pub(super) fn resolve(loaded: &Loaded, model: &mut HwModel, diags: &mut Diagnostics) {
    let words = Words::of(model);
    let (mut group_names, mut all) = (Names::default(), Vec::new());
    let mut groups = Vec::new();
    for group in &loaded.groups {
        if !group_names.declare(&group.group.name, groups.len(), "group", diags) {
            continue;
        }
        let first = all.len();
        if let Some(isa) = model.isa_names.find(&group.group.isa, "instruction set", diags) {
            for entry in &group.atoms {
                if model.atom_names.declare(&entry.name, all.len(), "atom", diags) {
                    let mut resolver = Resolver { model, words: &words, isa: &model.isas[usize::from(isa)], diags };
                    all.push(resolver.atom(entry, group, IsaId(isa)));
                }
            }
        }
        groups.push(Group { name: group.group.name.clone(), atoms: (first..all.len()).map(|at| AtomId(at as u16)).collect() });
    }
    number(loaded, model, all, &mut groups);
    model.groups = groups;
}

/// Atoms of the ledger by their numbers, then the others by name.
fn number(loaded: &Loaded, model: &mut HwModel, mut all: Vec<Atom>, groups: &mut [Group]) {
    for atom in &mut all {
        let known = loaded.ledger.as_ref().and_then(|ledger| ledger.atom(&atom.name));
        atom.stable = known.unwrap_or(FIRST_LOCAL);
    }
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by(|a, b| (all[*a].stable, &all[*a].name.value).cmp(&(all[*b].stable, &all[*b].name.value)));
    let mut new = vec![0u16; all.len()];
    for (to, from) in order.iter().enumerate() {
        new[*from] = to as u16;
    }
    for id in groups.iter_mut().flat_map(|g| &mut g.atoms) {
        *id = AtomId(new[id.index()]);
    }
    model.atom_names.renumber(|old| new.get(usize::from(old)).copied().unwrap_or(old));
    let mut slots: Vec<Option<Atom>> = all.into_iter().map(Some).collect();
    model.atoms = order.iter().filter_map(|at| slots[*at].take()).collect();
    for (local, atom) in (FIRST_LOCAL..).zip(model.atoms.iter_mut().filter(|a| a.stable == FIRST_LOCAL)) {
        atom.stable = local;
    }
}

struct Resolver<'a> {
    model: &'a HwModel,
    words: &'a Words,
    isa: &'a Isa,
    diags: &'a mut Diagnostics,
}

impl Resolver<'_> {
    fn atom(&mut self, entry: &Spanned<schema::Atom>, group: &LoadedGroup, isa: IsaId) -> Atom {
        let mut operand_names = Names::default();
        let mut operands = Vec::new();
        for operand in &entry.operands {
            if operand_names.declare(&operand.name, operands.len(), "operand", self.diags) {
                operands.push(self.operand(operand));
            }
        }
        let template = template::parse(&entry.template).unwrap_or_else(|(_, what)| {
            self.diags.push(Diagnostic::at(entry.template.span, what));
            Vec::new()
        });
        let matrix = entry.matrix.as_ref().and_then(|matrix| self.matrix(matrix, &operand_names));
        if let Some(shape) = &matrix {
            for (number, extents) in
                [(shape.a, (shape.m, shape.k)), (shape.b, (shape.k, shape.n)), (shape.c, (shape.m, shape.n)), (shape.d, (shape.m, shape.n))]
            {
                if let Some(operand) = operands.get_mut(usize::from(number)) {
                    operand.extents.get_or_insert(Spanned { value: extents, span: shape.span });
                }
            }
        }
        let stated = entry.status.or(group.group.status).map(status);
        let cited = entry.sources.as_ref().unwrap_or(&group.group.sources);
        let sources = self.words.cited(cited, self.diags);
        if stated.is_none() {
            let message = format!("atom `{}` has no status", entry.name.value);
            self.diags.push(Diagnostic::at(entry.name.span, message).help("state `status:` on the atom or its group"));
        }
        need_source(cited, stated.unwrap_or(Status::Assumed), entry.name.span, &format!("atom `{}`", entry.name.value), self.diags);
        let means = entry.means.as_ref().map(|term| means::compile(term, &operand_names, self.diags));
        Atom {
            name: entry.name.clone(),
            span: entry.span,
            stable: FIRST_LOCAL,
            isa,
            class: class(entry.class),
            template,
            template_span: entry.template.span,
            movement: entry.movement.as_ref().and_then(|movement| self.movement(movement, &operand_names)),
            matrix,
            states_matrix: entry.matrix.is_some(),
            means: means.unwrap_or_default(),
            means_span: entry.means.as_ref().map(|term| term.span),
            cost: AtomCost { issue: entry.cost.issue, cycles: entry.cost.cycles },
            counter: entry.counter.clone(),
            unordered: entry.unordered,
            tags: self.words.tagged(&entry.tags, self.diags),
            status: stated.unwrap_or(Status::Assumed),
            sources,
            operands,
        }
    }

    fn operand(&mut self, entry: &Spanned<schema::Operand>) -> Operand {
        let mut find = |name: &Name| self.isa.class_names.find(name, "register class", self.diags).map(ClassId);
        let class = entry.class.as_ref().and_then(&mut find);
        let also = entry.also.iter().filter_map(&mut find).collect();
        Operand {
            name: entry.name.clone(),
            span: entry.span,
            role: role(entry.role),
            register_bits: class.and_then(|id| self.isa.classes.get(id.index())).map_or(0, |class| class.bits),
            states_class: entry.class.is_some(),
            class,
            also,
            registers: entry.registers,
            dtype: entry.dtype.as_ref().and_then(|name| self.model.dtype_names.find(name, "element type", self.diags)).map(DtypeId),
            layout: entry.layout.as_ref().and_then(|text| layouts::parse(text, self.diags)),
            extents: entry.extents.clone(),
            rest: entry.rest,
            range: entry.range.clone(),
            implicit: entry.implicit,
        }
    }

    fn operand_named(&mut self, name: &Name, operands: &Names) -> Option<u8> {
        operands.find(name, "operand", self.diags).and_then(|n| u8::try_from(n).ok())
    }

    fn matrix(&mut self, entry: &Spanned<schema::Matrix>, operands: &Names) -> Option<Matrix> {
        let mut find = |name| self.operand_named(name, operands);
        let (a, b, c, d) = (find(&entry.a), find(&entry.b), find(&entry.c), find(&entry.d));
        Some(Matrix { span: entry.span, m: entry.m, n: entry.n, k: entry.k, a: a?, b: b?, c: c?, d: d? })
    }

    fn movement(&mut self, entry: &Spanned<schema::Movement>, operands: &Names) -> Option<Movement> {
        let (from, to) = (self.side(&entry.from, operands), self.side(&entry.to, operands));
        let offsets = entry.offset.iter().chain(&entry.offsets).filter_map(|field| {
            let on = |side| field.on.contains(&side);
            Some(OffsetField {
                span: field.span,
                operand: self.operand_named(&field.operand, operands)?,
                scale: field.scale,
                on_from: on(schema::OffsetSide::From),
                on_to: on(schema::OffsetSide::To),
            })
        });
        let offsets = offsets.collect();
        Some(Movement {
            span: entry.span,
            unit_bits: entry.unit_bits,
            extents: entry.extents.clone(),
            from: from?,
            to: to?,
            offsets,
            crosses_lanes: entry.crosses_lanes,
        })
    }

    fn side(&mut self, entry: &Spanned<schema::Side>, operands: &Names) -> Option<Side> {
        let layout = layouts::parse(&entry.layout, self.diags);
        let operand = self.operand_named(&entry.operand, operands);
        let base = entry.base.as_ref().map(|name| self.operand_named(name, operands));
        let access = entry.access.as_ref().map(|name| self.model.access_names.find(name, "access kind", self.diags));
        let space = space(entry.space);
        let default_align = if space == Space::Register { 0 } else { 1 };
        Some(Side {
            span: entry.span,
            space,
            layout: layout?,
            operand: operand?,
            base: base.flatten(),
            align_bytes: entry.align_bytes.as_ref().map_or(default_align, |bytes| bytes.value),
            slot_bytes: entry.slot_bytes.clone(),
            banks: entry.banks.clone(),
            access: access.flatten().map(AccessId),
            states_access: entry.access.is_some(),
            rest: entry.rest,
        })
    }
}

fn role(role: schema::Role) -> Role {
    match role {
        schema::Role::Def => Role::Def,
        schema::Role::Use => Role::Use,
        schema::Role::UseDef => Role::UseDef,
        schema::Role::Address => Role::Address,
        schema::Role::Immediate => Role::Immediate,
        schema::Role::Label => Role::Label,
    }
}

fn class(class: schema::Class) -> AtomClass {
    match class {
        schema::Class::Move => AtomClass::Move,
        schema::Class::Matrix => AtomClass::Matrix,
        schema::Class::Alu => AtomClass::Alu,
        schema::Class::CrossLane => AtomClass::CrossLane,
        schema::Class::Convert => AtomClass::Convert,
        schema::Class::Sync => AtomClass::Sync,
        schema::Class::Control => AtomClass::Control,
    }
}
