//! Matrix units and their memories, resolved.
//!
//! A group that holds such facts is a feature. Fields of descriptors are complete (what `extends`
//! takes over, and the values that are swizzle modes, stand in each), layouts are parsed,
//! references between the facts are numbers.
use super::archs::Step;
use super::status::{Speaks, status};
use super::words::{Words, need_source};
use super::{Cited, SourceDoc};
use super::{HwModel, Names};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::layouts;
use crate::load::Loaded;
use crate::schema::unit as s;
use crate::schema::{Name, Status};
use crate::source::Span;
use crate::spanned::Spanned;
use lanebook_layout::num::SymNames;
use lanebook_layout::{AxisId, Iter};
use lanebook_tables::{
    AccessId, Amount, AtomId, FeatureId, FieldRole, FrameOperand, Role, Space, TileIter,
};

/// A fact as it is written, with what its group adds.
#[derive(Clone, Debug)]
pub struct Fact<T> {
    /// The entry.
    pub entry: Spanned<T>,
    /// Its group.
    pub feature: FeatureId,
    /// How sure it is.
    pub status: lanebook_tables::Status,
    /// Where it comes from.
    pub sources: Cited,
    /// A status is typed, which none needs.
    pub typed: bool,
}

/// A descriptor.
#[derive(Clone, Debug)]
pub struct Descriptor {
    /// As written.
    pub fact: Fact<s::Descriptor>,
    /// Width of the word.
    pub bits: u8,
    /// All its fields, by their lowest bits.
    pub fields: Vec<Field>,
}

/// A complete field.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its name.
    pub name: Name,
    /// Its lowest bit.
    pub at: u8,
    /// Its width.
    pub bits: u8,
    /// What one unit stands for.
    pub scale: u32,
    /// Lowest and highest value.
    pub range: (u32, u32),
    /// Its only values, in order of the numbers.
    pub values: Vec<(String, u16)>,
    /// What it is for.
    pub role: FieldRole,
}

/// A parsed layout with parameters.
#[derive(Clone, Debug)]
pub struct Tile {
    /// Iters, slowest first.
    pub iters: Vec<TileIter>,
    /// Iters of each dimension, slowest dimension first.
    pub dims: Vec<u8>,
    /// Copies.
    pub replicas: Vec<TileIter>,
    /// Parameters in the order in which the text mentions them.
    pub params: Vec<String>,
    /// The text.
    pub span: Span,
}

impl Tile {
    /// The number of a parameter plus 1, or 0.
    #[must_use]
    pub fn param(&self, name: &str) -> u8 {
        self.params.iter().position(|p| p == name).map_or(0, |at| at as u8 + 1)
    }
}

/// A tiled copy's references.
#[derive(Clone, Debug)]
#[allow(missing_docs)] // the fields are those of `lanebook_tables::TiledMove`
pub struct TiledMove {
    pub atom: AtomId,
    pub loads: bool,
    pub from: AccessId,
    pub to: AccessId,
    pub on: u8,
    pub shared: u8,
    pub tensor: u8,
    pub at: Vec<u8>,
    pub signal: Option<u8>,
    pub last: Vec<Step>,
}

/// A completion object's references.
#[derive(Clone, Debug)]
#[allow(missing_docs)] // the fields are those of `lanebook_tables::Mbarrier`
pub struct Completion {
    pub init: AtomId,
    pub publish: Vec<Step>,
    pub expect: AtomId,
    pub wait: AtomId,
    pub waits: AccessId,
    pub announces: AccessId,
}

/// The atoms of warps that are set aside.
#[derive(Clone, Debug)]
#[allow(missing_docs)] // the fields are those of `lanebook_tables::WarpSpecialization`
pub struct Specialization {
    pub barrier: AtomId,
    pub arrive: AtomId,
    pub resize: AtomId,
}

/// All facts about matrix units.
#[derive(Clone, Debug, Default)]
pub struct Units {
    /// Names of the groups, those that say something about matrix units first.
    pub features: Vec<Name>,
    /// How many of them that are.
    pub with_facts: usize,
    /// Bit-field tables.
    pub descriptors: Vec<Descriptor>,
    /// Swizzle modes.
    pub swizzles: Vec<Fact<s::SwizzleMode>>,
    /// Tiles in shared memory, each with the number of its swizzle mode.
    pub operand_tiles: Vec<(Fact<s::OperandTile>, Tile, usize)>,
    /// Tensor memories.
    pub tensor_memories: Vec<Fact<s::TensorMemory>>,
    /// Tiles in tensor memory.
    pub tensor_tiles: Vec<(Fact<s::TensorTile>, Tile)>,
    /// Loads and stores, each with its layouts of cells and registers.
    pub tensor_moves: Vec<(Fact<s::TensorMove>, Tile, Tile)>,
    /// Shapes.
    pub shapes: Vec<Fact<s::UnitShape>>,
    /// Limits of operands' orders.
    pub order_limits: Vec<Fact<s::OrderLimit>>,
    /// Limits of tiled copies.
    pub map_limits: Vec<Fact<s::MapLimit>>,
    /// Tiled copies.
    pub tensor_maps: Vec<Fact<s::TensorMap>>,
    /// Instructions of tiled copies.
    pub tiled_moves: Vec<(Fact<s::TiledMove>, TiledMove)>,
    /// Completion objects.
    pub mbarriers: Vec<(Fact<s::Mbarrier>, Completion)>,
    /// Warps that are set aside.
    pub specializations: Vec<(Fact<s::WarpSpecialization>, Specialization)>,
}

impl Units {
    /// The number of a feature.
    #[must_use]
    pub fn feature(&self, name: &str) -> Option<FeatureId> {
        self.features
            .iter()
            .position(|f| f.value == name)
            .and_then(|at| u16::try_from(at).ok())
            .map(FeatureId)
    }
}

struct Resolver<'a> {
    words: &'a Words,
    diags: &'a mut Diagnostics,
    feature: FeatureId,
    status: Option<Status>,
    sources: Option<&'a [Name]>,
    docs: &'a [SourceDoc],
}

impl Resolver<'_> {
    fn fact<T: Clone>(
        &mut self,
        entry: &Spanned<T>,
        own: (Option<Status>, &Option<Vec<Name>>),
        what: &str,
    ) -> Fact<T> {
        let cited = own.1.as_deref().or(self.sources);
        need_source(cited, own.0.or(self.status), entry.span, what, self.diags);
        let sources = self.words.cited(cited.unwrap_or_default(), self.diags);
        Fact {
            entry: entry.clone(),
            feature: self.feature,
            status: status(self.docs, &sources, Speaks::OfMachine),
            sources,
            typed: own.0.is_some(),
        }
    }

    fn tile(&mut self, text: &Spanned<String>, first: u8) -> Option<Tile> {
        let (layout, syms) = layouts::symbolic(text, self.diags)?;
        let mut params: Vec<String> = Vec::new();
        let mut amount = |number: lanebook_layout::Int| {
            let mut of = number.syms().iter();
            let (sym, more) = (of.next(), of.next().is_some());
            let factor = u32::try_from(number.coeff())
                .ok()
                .filter(|_| !more && number.is_whole() && number.syms().quotient().is_none())?;
            let name = sym.and_then(|sym| syms.name(sym));
            let param = name.map_or(0, |name| match params.iter().position(|p| p == name) {
                Some(at) => at + 1,
                None => {
                    params.push(name.to_string());
                    params.len()
                }
            });
            Some(Amount { factor, param: u8::try_from(param).ok()? })
        };
        let mut read = |iters: &[Iter]| -> Option<Vec<TileIter>> {
            let one = |it: &Iter| {
                Some(TileIter {
                    extent: amount(it.extent())?,
                    stride: amount(it.stride())?,
                    axis: it.axis(),
                })
            };
            iters.iter().rev().map(one).collect()
        };
        let view = layout.view();
        let (Some(iters), Some(replicas)) = (read(view.shard), read(view.replica)) else {
            self.diags.push(
                Diagnostic::at(
                    text.span,
                    "a number of the layout is negative, a fraction or a product of symbols",
                )
                .help("write `8*T` or `T`"),
            );
            return None;
        };
        let rest = (iters.len() as u8).checked_sub(first).filter(|rest| *rest > 0 && first > 0);
        let Some(rest) = rest.filter(|_| view.offset.is_empty()) else {
            let message = format!(
                "the layout has {} iters, the first {first} are one coordinate",
                iters.len()
            );
            self.diags.push(
                Diagnostic::at(text.span, message)
                    .help("two coordinates have iters each, and there is no offset"),
            );
            return None;
        };
        Some(Tile { iters, dims: vec![first, rest], replicas, params, span: text.span })
    }
}

pub(super) fn resolve(loaded: &Loaded, model: &mut HwModel, diags: &mut Diagnostics) {
    let words = Words::of(model);
    let mut units = Units::default();
    let (mut swizzle_names, mut descriptor_names, mut tile_names, mut tensor_names) =
        (Names::default(), Names::default(), Names::default(), Names::default());
    let (mut move_names, mut tiled_names, mut limit_names) =
        (Names::default(), Names::default(), Names::default());
    let groups = || loaded.groups.iter().filter(|g| !g.units.is_empty());
    units.with_facts = groups().count();
    let others = loaded.groups.iter().filter(|g| g.units.is_empty());
    units.features = groups().chain(others).map(|g| g.group.name.clone()).collect();
    let docs = &model.sources;
    // Modes first: fields of descriptors and tiles refer to them.
    for pass in 0..2 {
        for (group, number) in groups().zip(0u16..) {
            let (status, sources) = (group.group.status, group.group.sources.as_deref());
            let mut r = Resolver {
                words: &words,
                diags,
                feature: FeatureId(number),
                status,
                sources,
                docs,
            };
            let u = &group.units;
            if pass == 0 {
                for e in &u.swizzles {
                    if swizzle_names.declare(&e.name, units.swizzles.len(), "swizzle mode", r.diags)
                    {
                        units.swizzles.push(r.fact(e, (e.status, &e.sources), "swizzle mode"));
                    }
                }
                continue;
            }
            for e in &u.descriptors {
                if let Some(parent) = &e.extends
                    && descriptor_names.find(parent, "descriptor", r.diags).is_none()
                {
                    r.diags.lose_name(&e.name, e.name.span);
                    continue;
                }
                if descriptor_names.declare(&e.name, units.descriptors.len(), "descriptor", r.diags)
                {
                    let fact = r.fact(e, (e.status, &e.sources), "descriptor");
                    let resolved = descriptor(fact, &units, &descriptor_names, r.diags);
                    units.descriptors.push(resolved);
                }
            }
            for e in &u.operand_tiles {
                let swizzle = swizzle_names.find(&e.swizzle, "swizzle mode", r.diags);
                if let (true, Some(swizzle), Some(tile)) = (
                    tile_names.declare(&e.name, 0, "operand tile", r.diags),
                    swizzle,
                    r.tile(&e.layout, e.outer),
                ) {
                    let fact = r.fact(e, (e.status, &e.sources), "operand tile");
                    units.operand_tiles.push((fact, tile, usize::from(swizzle)));
                }
            }
            for e in &u.tensor_memories {
                units.tensor_memories.push(r.fact(e, (e.status, &e.sources), "tensor memory"));
            }
            for e in &u.tensor_tiles {
                if let (true, Some(tile)) = (
                    tensor_names.declare(&e.name, 0, "tensor tile", r.diags),
                    r.tile(&e.layout, e.rows),
                ) {
                    let fact = r.fact(e, (e.status, &e.sources), "tensor tile");
                    units.tensor_tiles.push((fact, tile));
                }
            }
            for e in &u.tensor_moves {
                let layouts = r.tile(&e.cells, e.rows).zip(r.tile(&e.tuple, e.rows));
                if let (true, Some((cells, tuple))) =
                    (move_names.declare(&e.name, 0, "tensor move", r.diags), layouts)
                {
                    let fact = r.fact(e, (e.status, &e.sources), "tensor move");
                    units.tensor_moves.push((fact, cells, tuple));
                }
            }
            for e in &u.shapes {
                units.shapes.push(r.fact(e, (e.status, &e.sources), "unit shape"));
            }
            for e in &u.order_limits {
                if limit_names.declare(&e.name, 0, "order limit", r.diags) {
                    units.order_limits.push(r.fact(e, (e.status, &e.sources), "order limit"));
                }
            }
            for e in &u.map_limits {
                if limit_names.declare(&e.name, 0, "map limit", r.diags) {
                    units.map_limits.push(r.fact(e, (e.status, &e.sources), "map limit"));
                }
            }
            for e in &u.tensor_maps {
                units.tensor_maps.push(r.fact(e, (e.status, &e.sources), "tensor map"));
            }
            for e in &u.tiled_moves {
                if let (true, Some(references)) = (
                    tiled_names.declare(&e.name, 0, "tiled move", r.diags),
                    tiled_move(e, model, r.diags),
                ) {
                    units
                        .tiled_moves
                        .push((r.fact(e, (e.status, &e.sources), "tiled move"), references));
                }
            }
            for e in &u.mbarriers {
                if let (true, Some(references)) = (
                    tiled_names.declare(&e.name, 0, "completion object", r.diags),
                    completion(e, model, r.diags),
                ) {
                    units
                        .mbarriers
                        .push((r.fact(e, (e.status, &e.sources), "completion object"), references));
                }
            }
            for e in &u.specializations {
                if let (true, Some(references)) = (
                    tiled_names.declare(&e.name, 0, "warp specialization", r.diags),
                    specialization(e, model, r.diags),
                ) {
                    let fact = r.fact(e, (e.status, &e.sources), "warp specialization");
                    units.specializations.push((fact, references));
                }
            }
        }
    }
    for shape in &units.shapes {
        descriptor_names.find(&shape.entry.descriptor, "descriptor", diags);
        for (_, tile) in &shape.entry.m.value {
            tensor_names.find(tile, "tensor tile", diags);
        }
    }
    for limit in &units.order_limits {
        for name in &limit.entry.descriptors {
            descriptor_names.find(name, "descriptor", diags);
        }
    }
    for name in units.map_limits.iter().flat_map(|limit| &limit.entry.swizzles) {
        swizzle_names.find(name, "swizzle mode", diags);
    }
    for (fact, ..) in &units.tensor_moves {
        for (usual, one) in [&fact.entry.loads, &fact.entry.stores] {
            model.atom_names.find(usual, "atom", diags);
            if !one.is_empty() {
                model.atom_names.find(
                    &Name { value: one.clone(), span: usual.span },
                    "atom",
                    diags,
                );
            }
        }
    }
    for memory in &units.tensor_memories {
        for name in memory.entry.enter.iter().chain(&memory.entry.leave).chain(&memory.entry.around)
        {
            let Some(atom) = model.atom_names.find(name, "atom", diags) else { continue };
            let atom = model.atom(AtomId(atom));
            for operand in atom.operands.iter().filter(|o| {
                o.role != Role::Immediate && frame_operand(&o.name.value) == FrameOperand::Unknown
            }) {
                let message = format!(
                    "operand `{}` of `{}` is nothing that a kernel's frame knows",
                    operand.name.value, name.value
                );
                let help = lanebook_suggest::remedy(
                    &operand.name,
                    FRAME_OPERANDS.iter().map(|(word, _)| *word),
                    "name the operand after what it is",
                );
                diags.push(
                    Diagnostic::at(name.span, message)
                        .note(operand.name.span, "the operand")
                        .help(help),
                );
            }
        }
    }
    model.units = units;
}

/// What operands of atoms around a kernel with accumulators in tensor memory can be, by name.
const FRAME_OPERANDS: [(&str, FrameOperand); 6] = [
    ("slot", FrameOperand::Slot),
    ("base", FrameOperand::Base),
    ("columns", FrameOperand::Columns),
    ("barrier", FrameOperand::Barrier),
    ("one", FrameOperand::One),
    ("warp", FrameOperand::Warp),
];

/// What an operand of such an atom is.
#[must_use]
pub fn frame_operand(name: &str) -> FrameOperand {
    FRAME_OPERANDS
        .iter()
        .find(|(word, _)| *word == name)
        .map_or(FrameOperand::Unknown, |(_, operand)| *operand)
}

/// The atom, and its operand of each name.
fn operand_of(atom: AtomId, name: &Name, model: &HwModel, diags: &mut Diagnostics) -> Option<u8> {
    let found = model.atom(atom).operand(name);
    if found.is_none() {
        let known = model.atom(atom).operands.iter().map(|o| o.name.as_str());
        let help = lanebook_suggest::remedy(name, known, "name one of the atom's operands");
        diags.push(
            Diagnostic::at(
                name.span,
                format!("`{}` has no operand `{}`", model.atom(atom).name.value, name.value),
            )
            .help(help),
        );
    }
    found
}

fn tiled_move(e: &s::TiledMove, model: &HwModel, diags: &mut Diagnostics) -> Option<TiledMove> {
    let atom = AtomId(model.atom_names.find(&e.atom, "atom", diags)?);
    let access = |name: &Name, diags: &mut Diagnostics| {
        model.access_names.find(name, "access kind", diags).map(AccessId)
    };
    let (from, to) = (access(&e.from, diags), access(&e.to, diags));
    let mut operand = |name: &Name| operand_of(atom, name, model, diags);
    let (on, shared, tensor) = (operand(&e.on), operand(&e.shared), operand(&e.tensor));
    let at: Vec<Option<u8>> = e.at.iter().map(&mut operand).collect();
    let signal = e.signal.as_ref().map(operand);
    let (from, to) = (from?, to?);
    let space = |access: AccessId| model.accesses.get(access.index()).map(|a| a.space);
    let loads = match (space(from), space(to)) {
        (Some(Space::Global), Some(Space::Shared)) => true,
        (Some(Space::Shared), Some(Space::Global)) => false,
        _ => {
            diags.push(
                Diagnostic::at(
                    e.from.span,
                    "a tiled copy leads from global to shared memory or back",
                )
                .note(e.to.span, "to here")
                .help("correct `from` or `to`"),
            );
            return None;
        }
    };
    let signal = match signal {
        Some(found) => Some(found?),
        None => None,
    };
    let last = steps(&e.last, model, diags)?;
    Some(TiledMove {
        atom,
        loads,
        from,
        to,
        on: on?,
        shared: shared?,
        tensor: tensor?,
        at: at.into_iter().collect::<Option<Vec<u8>>>()?,
        signal,
        last,
    })
}

fn completion(e: &s::Mbarrier, model: &HwModel, diags: &mut Diagnostics) -> Option<Completion> {
    let mut find = |name: &Name| model.atom_names.find(name, "atom", diags).map(AtomId);
    let (init, expect, wait) = (find(&e.init), find(&e.expect), find(&e.wait));
    let mut access =
        |name: &Name| model.access_names.find(name, "access kind", diags).map(AccessId);
    let (waits, announces) = (access(&e.waits), access(&e.announces));
    let publish = steps(&e.publish, model, diags);
    Some(Completion {
        init: init?,
        publish: publish?,
        expect: expect?,
        wait: wait?,
        waits: waits?,
        announces: announces?,
    })
}

fn specialization(
    e: &s::WarpSpecialization,
    model: &HwModel,
    diags: &mut Diagnostics,
) -> Option<Specialization> {
    let mut find = |name: &Name| model.atom_names.find(name, "atom", diags).map(AtomId);
    let (barrier, arrive) = (find(&e.barrier), find(&e.arrive));
    let resize = find(&e.resize);
    Some(Specialization { barrier: barrier?, arrive: arrive?, resize: resize? })
}

/// Steps of synchronisation with their atoms.
fn steps(
    given: &[Spanned<crate::schema::Step>],
    model: &HwModel,
    diags: &mut Diagnostics,
) -> Option<Vec<Step>> {
    let step = |step: &Spanned<crate::schema::Step>| {
        Some(Step {
            atom: Spanned {
                value: AtomId(model.atom_names.find(&step.atom, "atom", diags)?),
                span: step.atom.span,
            },
            immediates: step.immediates.clone(),
            after_producer: step.place == crate::schema::Place::AfterProducer,
            barrier: step.barrier,
            span: step.span,
        })
    };
    given.iter().map(step).collect::<Vec<_>>().into_iter().collect()
}

/// The descriptor with what it takes over from another one that was declared before.
fn descriptor(
    fact: Fact<s::Descriptor>,
    units: &Units,
    names: &Names,
    diags: &mut Diagnostics,
) -> Descriptor {
    let entry = &fact.entry;
    let parent = entry
        .extends
        .as_ref()
        .and_then(|name| names.find(name, "descriptor", diags))
        .and_then(|at| units.descriptors.get(usize::from(at)));
    let mut fields: Vec<Field> = parent.map(|p| p.fields.clone()).unwrap_or_default();
    for name in &entry.without {
        let before = fields.len();
        fields.retain(|f| f.name.value != name.value);
        if fields.len() == before {
            diags.push(
                Diagnostic::at(
                    name.span,
                    format!("there is no field `{}` to leave out", name.value),
                )
                .help("name a field of the extended descriptor"),
            );
        }
    }
    let mut own = Names::default();
    for field in &entry.fields {
        if !own.declare(&field.name, 0, "field", diags) {
            continue;
        }
        let old = fields.iter().position(|f| f.name.value == field.name.value);
        let inherited = old.map(|at| fields.remove(at));
        fields.extend(complete(field, inherited.as_ref(), units, diags));
    }
    fields.sort_by_key(|f| f.at);
    let bits = entry.bits.as_ref().map_or(parent.map_or(0, |p| p.bits), |b| b.value);
    if bits == 0 || bits > 64 {
        diags.push(
            Diagnostic::at(entry.name.span, format!("a descriptor of {bits} bits"))
                .help("state `bits`, 1 to 64"),
        );
    }
    Descriptor { bits, fields, fact }
}

fn complete(
    field: &Spanned<s::Field>,
    old: Option<&Field>,
    units: &Units,
    diags: &mut Diagnostics,
) -> Option<Field> {
    let Some(at) = field.at.or(old.map(|f| f.at)) else {
        let message = format!("field `{}` has no place", field.name.value);
        diags.push(Diagnostic::at(field.name.span, message).help("state its lowest bit: `at: 16`"));
        return None;
    };
    let bits = field.bits.or(old.map(|f| f.bits)).unwrap_or(1);
    if bits == 0 || bits > 32 {
        diags.push(
            Diagnostic::at(field.name.span, format!("a field of {bits} bits"))
                .help("fields have 1 to 32 bits"),
        );
        return None;
    }
    let scale = field.scale.or(old.map(|f| f.scale)).unwrap_or(1);
    let most =
        ((1u64 << bits) - 1).saturating_mul(u64::from(scale)).min(u64::from(u32::MAX)) as u32;
    let modes = field.swizzle.as_ref().map(|encoding| {
        let coded = units.swizzles.iter().filter_map(|m| {
            m.entry.codes.get(&encoding.value).map(|code| (m.entry.name.value.clone(), *code))
        });
        let coded: Vec<(String, u16)> = coded.collect();
        if coded.is_empty() {
            let message = format!("no swizzle mode has a number in encoding `{}`", encoding.value);
            diags.push(
                Diagnostic::at(encoding.span, message)
                    .help("give the modes `codes`")
                    .lacks(&encoding.value),
            );
        }
        coded
    });
    let stated = modes.or_else(|| {
        field.values.as_ref().map(|v| v.iter().map(|(name, code)| (name.clone(), *code)).collect())
    });
    let restated = field.constant.is_some() || field.range.is_some() || field.bits.is_some();
    let mut values = stated
        .unwrap_or_else(|| old.filter(|_| !restated).map(|f| f.values.clone()).unwrap_or_default());
    values.sort_by(|a, b| (a.1, &a.0).cmp(&(b.1, &b.0)));
    let listed = values
        .first()
        .zip(values.last())
        .map(|(a, b)| (u32::from(a.1) * scale, u32::from(b.1) * scale));
    let range = field
        .constant
        .map(|c| (c, c))
        .or(field.range)
        .or(listed)
        .or(old.filter(|_| !restated).map(|f| f.range))
        .unwrap_or((0, most));
    let role = match field.role {
        _ if field.swizzle.is_some() => FieldRole::Swizzle,
        Some(s::FieldRole::Start) => FieldRole::Start,
        Some(s::FieldRole::Pattern(bytes)) => FieldRole::Pattern(bytes),
        Some(s::FieldRole::Rows) => FieldRole::Rows,
        Some(s::FieldRole::Columns) => FieldRole::Columns,
        Some(s::FieldRole::TypeA) => FieldRole::Type(0),
        Some(s::FieldRole::TypeB) => FieldRole::Type(1),
        Some(s::FieldRole::TypeD) => FieldRole::Type(2),
        Some(s::FieldRole::MajorA) => FieldRole::Major(0),
        Some(s::FieldRole::MajorB) => FieldRole::Major(1),
        Some(s::FieldRole::ScaleA) => FieldRole::Scale(0),
        Some(s::FieldRole::ScaleB) => FieldRole::Scale(1),
        None => old.map_or(FieldRole::Plain, |f| f.role),
    };
    Some(Field { name: field.name.clone(), at, bits, scale, range, values, role })
}

/// The axes that a tile in tensor memory may speak of.
pub const TENSOR_AXES: [AxisId; 4] = [AxisId::TLANE, AxisId::TCOL, AxisId::BYTE, AxisId::CBX];
