//! Atoms with their operands, movements and shapes resolved.
use super::Cited;
use super::more::{self, More};
use super::status::{Speaks, status};
use super::words::{Words, need_source, space};
use super::{HwModel, Isa, Names};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::layouts::{self, Layout};
use crate::ledger::FIRST_LOCAL;
use crate::load::{Loaded, LoadedGroup};
use crate::model::means;
use crate::schema::{self, Name, Rest};
use crate::source::Span;
use crate::spanned::Spanned;
use crate::{params, template};
use lanebook_tables::{
    AccessId, AtomClass, AtomCost, AtomId, ClassId, DtypeId, IsaId, Role, Space, Status, TagId,
    TermNode,
};

/// Atoms that architectures have together.
#[derive(Clone, Debug)]
pub struct Group {
    /// Its name.
    pub name: Name,
    /// Its atoms, in file order.
    pub atoms: Vec<AtomId>,
    /// All that it has is there.
    pub whole: bool,
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
    /// What it has beyond one product of dense operands.
    pub more: Option<More>,
    /// Whether the entry has a shape, sound or not.
    pub states_matrix: bool,
    /// Value of the first operand, prefix order.
    pub means: Vec<TermNode>,
    /// Where `means` stands.
    pub means_span: Option<Span>,
    /// It has a note for people.
    pub noted: bool,
    /// Cost facts.
    pub cost: AtomCost,
    /// Operation on tile elements.
    pub does: Option<Does>,
    /// Counter by name: architectures number them.
    pub counter: Option<Name>,
    /// May complete out of order.
    pub unordered: bool,
    /// Tags.
    pub tags: Vec<TagId>,
    /// How sure it is.
    pub status: Status,
    /// Where it comes from.
    pub sources: Cited,
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
    /// Immediates: the multiples of this in the range alone.
    pub multiple: Option<Spanned<u8>>,
    /// Fixed register that the text does not show.
    pub implicit: bool,
    /// A tuple that may begin at any register, whatever its class says.
    pub any_register: bool,
    /// Immediates that move the layout, and by how many bits and lanes a unit.
    pub moved: Vec<(Name, u16, u16)>,
    /// Its part in a family.
    pub vary: Vary,
}

/// An operand's part in a family of instances: see [`lanebook_tables::Vary`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)] // the fields are those of `lanebook_tables::Vary`
pub struct Vary {
    pub words: Vec<(String, Option<DtypeId>, u8)>,
    pub values: Vec<u16>,
    pub grows: (bool, bool, bool),
    pub typed_by: Option<u8>,
    pub scaled_by: Option<(u8, u8)>,
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
    /// How many bytes of a slot's share are read.
    pub size: Option<u8>,
    /// How memory is changed.
    pub atomic: Option<lanebook_tables::Atomic>,
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
    /// Which place of each slot it leads to.
    pub place: u8,
}

/// An operation on tile elements.
#[derive(Clone, Debug)]
pub struct Does {
    /// Its name.
    pub op: Name,
    /// Operand numbers in the operation's order.
    pub uses: Vec<u8>,
    /// Of an exchange between lanes: between which.
    pub lanes: Vec<LaneXor>,
    /// Of a conversion to wider elements: which of the result registers of one operand register.
    pub part: u8,
    /// Of a choice of bytes: bits of the selector of one byte.
    pub selector: u8,
    /// By how many units in the last place a result may be off.
    pub ulp: u8,
}

/// Lane `l` receives what lane `l ^ mask` has: the fields are those of `lanebook_tables::LaneXor`.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct LaneXor {
    pub masks: (u8, u8),
    pub set: Vec<i32>,
    pub step: i32,
    pub by: Option<(u8, u8)>,
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
    let mut instances: Vec<(usize, Atom)> = Vec::new();
    let mut instance_names = Names::default();
    for group in &loaded.groups {
        let lose = |diags: &mut Diagnostics| {
            group.atoms.iter().for_each(|atom| diags.lose_name(&atom.name, atom.name.span))
        };
        if !group_names.declare(&group.group.name, groups.len(), "group", diags) {
            lose(diags);
            continue;
        }
        let first = all.len();
        let mut whole = group.whole;
        if let Some(isa) = model.isa_names.find(&group.group.isa, "instruction set", diags) {
            for entry in &group.atoms {
                if model.atom_names.declare(&entry.name, all.len(), "atom", diags) {
                    let params = params::params(entry, diags);
                    let mut resolver = Resolver {
                        model,
                        words: &words,
                        isa: &model.isas[usize::from(isa)],
                        diags,
                    };
                    let (atom, members) = resolver.family(entry, &params, group, IsaId(isa));
                    for member in members {
                        instance_names.declare(&member.name, 0, "instance", diags);
                        instances.push((all.len(), member));
                    }
                    all.push(atom);
                }
            }
        } else {
            whole = false;
            lose(diags);
        }
        groups.push(Group {
            name: group.group.name.clone(),
            atoms: (first..all.len()).map(|at| AtomId(at as u16)).collect(),
            whole,
        });
    }
    let new = number(loaded, model, all, &mut groups);
    model.instances = instances
        .into_iter()
        .map(|(at, atom)| (AtomId(new.get(at).copied().unwrap_or(0)), atom))
        .collect();
    for (id, atom) in &mut model.instances {
        if let Some(family) = model.atoms.get(id.index()) {
            atom.stable = family.stable;
        }
        if model.atom_names.get(&atom.name).is_some() {
            diags.push(
                Diagnostic::at(
                    atom.name.span,
                    format!("an atom and an instance are both named `{}`", atom.name.value),
                )
                .help("rename one of them"),
            );
        }
    }
    model.groups = groups;
}

/// Atoms of the ledger by their numbers, then the others by name.
fn number(
    loaded: &Loaded,
    model: &mut HwModel,
    mut all: Vec<Atom>,
    groups: &mut [Group],
) -> Vec<u16> {
    for atom in &mut all {
        let known = loaded.ledger.as_ref().and_then(|ledger| ledger.atom(&atom.name));
        atom.stable = known.unwrap_or(FIRST_LOCAL);
    }
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by(|a, b| {
        (all[*a].stable, &all[*a].name.value).cmp(&(all[*b].stable, &all[*b].name.value))
    });
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
    for (local, atom) in
        (FIRST_LOCAL..).zip(model.atoms.iter_mut().filter(|a| a.stable == FIRST_LOCAL))
    {
        atom.stable = local;
    }
    new
}

struct Resolver<'a> {
    model: &'a HwModel,
    words: &'a Words,
    isa: &'a Isa,
    diags: &'a mut Diagnostics,
}

impl Resolver<'_> {
    /// An atom, and its instances if it has parameters.
    fn family(
        &mut self,
        entry: &Spanned<schema::Atom>,
        params: &[params::Param],
        group: &LoadedGroup,
        isa: IsaId,
    ) -> (Atom, Vec<Atom>) {
        let whole = Spanned {
            value: params::instance(entry, params, &params::usual(params), false, self.diags),
            span: entry.span,
        };
        let mut atom = self.atom(&whole, group, isa);
        if params.is_empty() {
            return (atom, Vec::new());
        }
        let before = self.diags.len();
        let mut members = Vec::new();
        for choice in params::choices(params) {
            let one = Spanned {
                value: params::instance(entry, params, &choice, true, self.diags),
                span: entry.span,
            };
            members.push(self.atom(&one, group, isa));
            if self.diags.len() > before {
                break; // the others would say the same
            }
        }
        self.vary(entry, params, &mut atom, members.first());
        for member in &mut members {
            for (operand, of_family) in member.operands.iter_mut().zip(&atom.operands) {
                operand.vary.clone_from(&of_family.vary);
            }
        }
        (atom, members)
    }

    /// What the operands of a family have to do with its parameters.
    fn vary(
        &mut self,
        entry: &schema::Atom,
        params: &[params::Param],
        atom: &mut Atom,
        first: Option<&Atom>,
    ) {
        let number = |name: &str| {
            params.iter().find(|p| p.name.value == name).and_then(|p| u8::try_from(p.operand).ok())
        };
        // In the first instance every number is the smallest one: the iter that differs is the one
        // that grows.
        let grown = |operand: &Operand, small: Option<&Operand>| -> Option<u8> {
            let (large, small) = (operand.layout.as_ref()?.view(), small?.layout.as_ref()?);
            let differs = large
                .shard
                .iter()
                .zip(small.view().shard)
                .position(|(a, b)| a.extent() != b.extent());
            differs.and_then(|at| u8::try_from(at).ok())
        };
        for (k, written) in entry.operands.iter().enumerate() {
            let Some(operand) = atom.operands.get_mut(k) else { return };
            let typed =
                written.dtype.as_ref().and_then(|dtype| params::mentioned(dtype)).and_then(number);
            let by_number = |text: &str| {
                params.iter().find(|p| {
                    matches!(p.options, params::Options::Values(_))
                        && text.contains(&format!("{{{}", p.name.value))
                })
            };
            // Registers without a layout (data of another memory, coordinates) follow a number by
            // themselves.
            let counted = || match &written.registers {
                schema::Number::Text(text) => by_number(text),
                schema::Number::Plain(_) => None,
            };
            let scaling = written.layout.as_ref().map_or_else(counted, |layout| by_number(layout));
            let grown = grown(operand, first.and_then(|f| f.operands.get(k)));
            operand.vary.typed_by = typed;
            operand.vary.scaled_by =
                scaling.and_then(|p| Some((u8::try_from(p.operand).ok()?, grown.unwrap_or(0))));
        }
        for param in params {
            let shape = entry.matrix.as_ref().map(|m| &m.value);
            let grows =
                |number: fn(&schema::Matrix) -> &schema::Number<u16>| match shape.map(number) {
                    Some(schema::Number::Text(text)) => {
                        text.contains(&format!("{{{}", param.name.value))
                    }
                    _ => false,
                };
            let grows = (grows(|m| &m.m), grows(|m| &m.n), grows(|m| &m.k));
            let Some(operand) = atom.operands.get_mut(param.operand) else { continue };
            match &param.options {
                params::Options::Values(values) => {
                    operand.vary.values.clone_from(values);
                    operand.vary.grows = grows;
                }
                params::Options::Words(words) => {
                    let dtype = |name: &Name| self.model.dtype_names.get(name).map(DtypeId);
                    operand.vary.words = words
                        .iter()
                        .map(|(text, name, shift)| (text.value.clone(), dtype(name), *shift))
                        .collect();
                }
            }
        }
    }

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
        let more = match (&entry.matrix, &matrix) {
            (Some(written), Some(_)) => more::resolve(
                written,
                &operands,
                &operand_names,
                (&self.model.broadcasts, &self.model.access_names),
                self.diags,
            ),
            _ => None,
        };
        if let Some(shape) = &matrix {
            for (number, extents) in more::extents(shape, more.as_ref(), &operands) {
                if let Some(operand) = operands.get_mut(usize::from(number)) {
                    operand.extents.get_or_insert(Spanned { value: extents, span: shape.span });
                }
            }
        }
        let cited = entry.sources.as_deref().or(group.group.sources.as_deref());
        let sources = self.words.cited(cited.unwrap_or_default(), self.diags);
        need_source(
            cited,
            entry.status.or(group.group.status),
            entry.name.span,
            &format!("atom `{}`", entry.name.value),
            self.diags,
        );
        // Of what has no place, the text is what there is to know.
        let places = entry.movement.is_some() || entry.matrix.is_some();
        let speaks = if places { Speaks::OfMachine } else { Speaks::OfText };
        let status = status(&self.model.sources, &sources, speaks);
        let means =
            entry.means.as_ref().map(|term| means::compile(term, &operand_names, self.diags));
        Atom {
            name: entry.name.clone(),
            span: entry.span,
            stable: FIRST_LOCAL,
            isa,
            class: class(entry.class),
            template,
            template_span: entry.template.span,
            movement: entry
                .movement
                .as_ref()
                .and_then(|movement| self.movement(movement, &operand_names)),
            matrix,
            more,
            states_matrix: entry.matrix.is_some(),
            means: means.unwrap_or_default(),
            means_span: entry.means.as_ref().map(|term| term.span),
            noted: entry.note.is_some(),
            cost: AtomCost { issue: entry.cost.issue, cycles: entry.cost.cycles },
            does: entry.does.as_ref().map(|does| Does {
                op: does.op.clone(),
                uses: does
                    .uses
                    .iter()
                    .filter_map(|name| self.operand_named(name, &operand_names))
                    .collect(),
                lanes: does.lanes.iter().map(|l| self.lane_xor(l, &operand_names)).collect(),
                part: does.part,
                selector: does.selector,
                ulp: does.ulp,
            }),
            counter: entry.counter.clone(),
            unordered: entry.unordered,
            tags: self.words.tagged(&entry.tags, self.diags),
            status,
            sources,
            operands,
        }
    }

    fn operand(&mut self, entry: &Spanned<schema::Operand>) -> Operand {
        let mut find = |name: &Name| {
            self.isa.class_names.find(name, "register class", self.diags).map(ClassId)
        };
        let class = entry.class.as_ref().and_then(&mut find);
        let also = entry.also.iter().filter_map(&mut find).collect();
        Operand {
            name: entry.name.clone(),
            span: entry.span,
            role: role(entry.role),
            register_bits: class
                .and_then(|id| self.isa.classes.get(id.index()))
                .map_or(0, |class| class.bits),
            states_class: entry.class.is_some(),
            class,
            also,
            registers: entry.registers.value(),
            dtype: entry
                .dtype
                .as_ref()
                .and_then(|name| self.model.dtype_names.find(name, "element type", self.diags))
                .map(DtypeId),
            layout: entry.layout.as_ref().and_then(|text| layouts::parse(text, self.diags)),
            extents: entry.extents.clone(),
            rest: entry.rest,
            range: range(entry),
            multiple: entry.multiple.clone(),
            implicit: entry.implicit,
            any_register: entry.any_register,
            moved: entry
                .moved
                .iter()
                .map(|moved| (moved.by.clone(), moved.bits, moved.lanes))
                .collect(),
            vary: Vary::default(),
        }
    }

    fn operand_named(&mut self, name: &Name, operands: &Names) -> Option<u8> {
        operands.find(name, "operand", self.diags).and_then(|n| u8::try_from(n).ok())
    }

    fn lane_xor(&mut self, entry: &schema::LaneXor, operands: &Names) -> LaneXor {
        let by = entry
            .by
            .as_ref()
            .and_then(|(name, times)| Some((self.operand_named(name, operands)?, *times)));
        LaneXor { masks: entry.masks, set: entry.set.clone(), step: entry.step, by }
    }

    fn matrix(&mut self, entry: &Spanned<schema::Matrix>, operands: &Names) -> Option<Matrix> {
        let mut find = |name| self.operand_named(name, operands);
        let (a, b, c, d) = (find(&entry.a), find(&entry.b), find(&entry.c), find(&entry.d));
        Some(Matrix {
            span: entry.span,
            m: entry.m.value(),
            n: entry.n.value(),
            k: entry.k.value(),
            a: a?,
            b: b?,
            c: c?,
            d: d?,
        })
    }

    fn movement(
        &mut self,
        entry: &Spanned<schema::Movement>,
        operands: &Names,
    ) -> Option<Movement> {
        let (from, to) = (self.side(&entry.from, operands), self.side(&entry.to, operands));
        let offsets = entry.offset.iter().chain(&entry.offsets).filter_map(|field| {
            let on = |side| field.on.contains(&side);
            Some(OffsetField {
                span: field.span,
                operand: self.operand_named(&field.operand, operands)?,
                scale: field.scale,
                on_from: on(schema::OffsetSide::From),
                on_to: on(schema::OffsetSide::To),
                place: field.place,
            })
        });
        let offsets = offsets.collect();
        let size = entry.size.as_ref().and_then(|name| self.operand_named(name, operands));
        let atomic = entry.atomic.as_ref().and_then(|atomic| self.atomic(atomic, operands));
        Some(Movement {
            size,
            atomic,
            span: entry.span,
            unit_bits: entry.unit_bits,
            extents: entry.extents.clone(),
            from: from?,
            to: to?,
            offsets,
            crosses_lanes: entry.crosses_lanes,
        })
    }

    fn atomic(
        &mut self,
        entry: &schema::Atomic,
        operands: &Names,
    ) -> Option<lanebook_tables::Atomic> {
        let op = lanebook_tables::AtomicOp::named(entry.op.as_str());
        if op.is_none() {
            let known = lanebook_tables::AtomicOp::NAMES.map(|(_, name)| name).join(", ");
            self.diags.push(
                Diagnostic::at(
                    entry.op.span,
                    format!("no atomic operation is `{}`", entry.op.as_str()),
                )
                .help(format!("known: {known}")),
            );
        }
        let dtype = self.model.dtype_names.find(&entry.dtype, "element type", self.diags)?;
        let mut named = |name: &Option<Name>| match name {
            Some(name) => self.operand_named(name, operands).map(Some),
            None => Some(None),
        };
        let (old, compare) = (named(&entry.old)?, named(&entry.compare)?);
        let op = op?;
        if op.compares() != compare.is_some() {
            let says =
                if op.compares() { "compares, and says" } else { "compares nothing, but says" };
            self.diags.push(
                Diagnostic::at(entry.op.span, format!("`{}` {says} with what", op.name()))
                    .help("`compare` names the operand that `cas` has, and no other operation"),
            );
        }
        Some(lanebook_tables::Atomic { op, dtype: DtypeId(dtype), old, compare })
    }

    fn side(&mut self, entry: &Spanned<schema::Side>, operands: &Names) -> Option<Side> {
        let layout = layouts::parse(&entry.layout, self.diags);
        let operand = self.operand_named(&entry.operand, operands);
        let base = entry.base.as_ref().map(|name| self.operand_named(name, operands));
        let access = entry
            .access
            .as_ref()
            .map(|name| self.model.access_names.find(name, "access kind", self.diags));
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

/// The integers of an operand; a parameter's follow from its words or values.
fn range(entry: &Spanned<schema::Operand>) -> Option<Spanned<(i64, i64)>> {
    let of = |low: usize, high: usize| {
        Some(Spanned { value: (low as i64, high as i64), span: entry.span })
    };
    match (entry.words.len(), entry.values.first(), entry.values.last()) {
        (0, Some(low), Some(high)) => of(usize::from(*low), usize::from(*high)),
        (0, ..) => entry.range.clone(),
        (words, ..) => of(0, words - 1),
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
