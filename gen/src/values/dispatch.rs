//! The index of each architecture from capabilities to atoms: `lanebook_tables::Dispatch`.
//!
//! Each atom is asked once what it can do; what it answers is filed under a number, and a perfect
//! hash is made over the numbers.
use crate::leak::list;
use crate::names::with;
use lanebook_layout::{AxisId, LayoutRef};
use lanebook_tables as t;
use phf_generator::HashState;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use t::{Capability, Factor, Second};

/// Where an atom stands among those of one capability: less is earlier. What is equal stands in the
/// order of the tables.
type Rank = (Reverse<u32>, u16);

/// In the order of the tables.
const LISTED: Rank = (Reverse(0), 0);

/// The tables with the index of every architecture and instruction set made anew, and the lists of
/// atoms that are found by number and by a part of their name.
#[must_use]
pub fn indexed(tables: t::Tables<'static>) -> t::Tables<'static> {
    indexed_where(tables, |_, _| true)
}

/// The same with those capabilities of each architecture alone that `wanted` says.
#[must_use]
pub fn indexed_where(
    tables: t::Tables<'static>,
    wanted: impl Fn(&t::Arch<'_>, Capability) -> bool,
) -> t::Tables<'static> {
    let language = |isa: t::IsaId| tables.isa(isa).map(|isa| isa.name);
    // Each is asked once, however many have it.
    let both = |atom: &'static t::Atom<'static>| {
        [false, true].map(|native| capabilities(&tables, atom, native))
    };
    let answers: Vec<[Vec<(Capability, Rank)>; 2]> = tables.atoms.iter().map(both).collect();
    let answer = |id: t::AtomId, native: bool| {
        let [expanded, own] = answers.get(id.index())?;
        Some((id, (if native { own } else { expanded }).as_slice()))
    };
    let all = || (0u16..).map(t::AtomId).zip(tables.atoms);
    let archs = tables.archs.iter().map(|arch| {
        let own = of_arch(&tables, arch);
        let atoms = arch.atoms.iter().filter_map(|have| answer(have.atom, have.native));
        let atoms = atoms.chain(own.iter().map(|(id, one)| (*id, std::slice::from_ref(one))));
        t::Arch { dispatch: index(atoms, |one| wanted(arch, *one)), ..*arch }
    });
    let isas = tables.isas.iter().map(|isa| {
        let atoms = all()
            .filter(|(_, atom)| language(atom.isa) == Some(isa.name))
            .filter_map(|(id, _)| answer(id, true));
        let shared = |wanted: &Capability| {
            matches!(wanted, Capability::Transfer { .. } | Capability::ProductTile { .. })
        };
        t::Isa { dispatch: index(atoms, shared), ..*isa }
    });
    let mut numbered: Vec<_> = all().filter(|(_, atom)| atom.stable() > 0).collect();
    numbered.sort_by_key(|(_, atom)| atom.stable());
    let families = all().filter(|(_, atom)| atom.name().contains('{'));
    t::Tables {
        archs: list(archs.collect::<Vec<_>>()),
        isas: list(isas.collect::<Vec<_>>()),
        numbered_atoms: list(numbered.into_iter().map(|(id, _)| id)),
        named_families: list(families.map(|(id, _)| id)),
        ..tables
    }
}

fn index<'a>(
    atoms: impl Iterator<Item = (t::AtomId, &'a [(Capability, Rank)])>,
    wanted: impl Fn(&Capability) -> bool,
) -> t::Dispatch<'static> {
    let mut lists: BTreeMap<t::CapabilityKey, Vec<(Rank, t::AtomId)>> = BTreeMap::new();
    for (id, answers) in atoms {
        for (capability, rank) in answers {
            // A field too great for a number of its own is reported where tables are checked.
            let Some(key) = capability.key().filter(|_| wanted(capability)) else { continue };
            let list = lists.entry(key).or_default();
            if list.iter().all(|(_, other)| *other != id) {
                list.push((*rank, id));
            }
        }
    }
    for list in lists.values_mut() {
        list.sort();
    }
    hashed(
        &lists
            .into_iter()
            .map(|(key, list)| (key.0, list.into_iter().map(|(_, id)| id).collect()))
            .collect::<Vec<_>>(),
    )
}

/// The perfect hash over lists by their numbers.
fn hashed(lists: &[(u32, Vec<t::AtomId>)]) -> t::Dispatch<'static> {
    if lists.is_empty() {
        return t::Dispatch::EMPTY;
    }
    let keys: Vec<u32> = lists.iter().map(|(key, _)| *key).collect();
    let HashState { key: seed, disps, map } =
        phf_generator::generate_hash_with_hash_fn(&keys, |key, seed| {
            with(t::capability_hash(*key, *seed))
        });
    let (mut begins, mut atoms) = (vec![0], Vec::new());
    for at in &map {
        atoms.extend_from_slice(&lists[*at].1);
        begins.push(u16::try_from(atoms.len()).expect("fewer than 65536 answers"));
    }
    t::Dispatch {
        seed,
        // Both are below the number of capabilities.
        displacements: list(disps.iter().map(|(a, b)| (*a as u16, *b as u16))),
        keys: list(map.iter().map(|at| keys[*at])),
        begins: list(begins),
        atoms: list(atoms),
        buckets: t::Divisor::by(u32::try_from(disps.len()).expect("few capabilities")),
        slots: t::Divisor::by(u32::try_from(keys.len()).expect("few capabilities")),
    }
}

/// Everything that can be asked of an architecture and is answered, kind by kind.
#[must_use]
pub fn answered(tables: &t::Tables<'static>, arch: &t::Arch<'static>) -> Vec<Capability> {
    let atoms = arch.atoms.iter().filter_map(|have| Some((tables.atom(have.atom)?, have.native)));
    let all = atoms
        .flat_map(|(atom, native)| capabilities(tables, atom, native))
        .chain(of_arch(tables, arch).into_iter().map(|(_, one)| one))
        .filter_map(|(capability, _)| Some((capability.key()?, capability)));
    // The lowest four bits say which kind of capability it is.
    all.map(|(key, capability)| (key.0.rotate_right(4), capability))
        .collect::<BTreeMap<_, _>>()
        .into_values()
        .collect()
}

/// Whether an operation on elements is done: by an instruction, or by a sequence of operations that
/// are.
#[must_use]
pub fn served(
    tables: &t::Tables<'_>,
    arch: &t::Arch<'_>,
    key: (t::OpId, t::DtypeId, t::DtypeId),
) -> bool {
    let (op, from, to) = key;
    let arity = tables.op(op).map_or(0, |op| op.operands.0);
    let wanted = Capability::Elementwise { word: t::OpWord::Op(op), arity, from, to, part: 0 };
    !arch.dispatch(wanted).is_empty()
        || tables.sequence(op, from, to).is_some_and(|one| {
            one.steps.iter().all(|step| {
                let (from, to) = (one.dtype_of(step.from), one.dtype_of(step.to));
                served(tables, arch, (one.op_of(step), from, to))
            })
        })
}

/// Element types of operand and result for which an operation is a sequence of others that are
/// done.
pub fn sequences<'t>(
    tables: &'t t::Tables<'t>,
    arch: &'t t::Arch<'t>,
    op: t::OpId,
) -> impl Iterator<Item = (t::DtypeId, t::DtypeId)> + 't {
    let own = tables.sequences.iter().filter(move |one| one.op == op);
    own.map(|one| (one.from, one.to))
        .filter(move |(from, to)| served(tables, arch, (op, *from, *to)))
}

/// A capability as a line of text; element types and register classes by their names.
#[must_use]
pub fn spelled(tables: &t::Tables<'_>, arch: &t::Arch<'_>, capability: Capability) -> String {
    let dtype = |id: t::DtypeId| tables.dtype(id).map_or("?", |dtype| dtype.name);
    let class = |id: t::ClassId| {
        tables
            .isa(arch.isa)
            .and_then(|isa| isa.classes.get(id.index()))
            .map_or("?", |class| class.name)
    };
    let tuple = |id: t::ClassId, registers: u8| {
        if registers == 1 { class(id).to_string() } else { format!("{}x{registers}", class(id)) }
    };
    match capability {
        Capability::Transfer { from, to } => format!("transfer {from:?} {to:?}").to_lowercase(),
        Capability::StoreUpper { lower } => {
            format!("store-upper {}", tables.atom(lower).map_or("?", |atom| atom.name()))
        }
        Capability::Atomic { op, dtype: of, answers } => {
            format!("atomic {} {}{}", op.name(), dtype(of), if answers { " answers" } else { "" })
        }
        Capability::Product { a, b, c, d } => {
            format!("product {} {} {} {}", dtype(a), dtype(b), dtype(c), dtype(d))
        }
        Capability::LaneProduct { a, b, c, d } => {
            format!("lane-product {} {} {} {}", dtype(a), dtype(b), dtype(c), dtype(d))
        }
        Capability::ProductInto(d) => format!("product-into {}", dtype(d)),
        Capability::ProductOf { operand, bits } => format!("product-of {operand:?} {bits}"),
        Capability::ProductTile { m, n, group } => {
            format!("product-tile {m}x{n}{}", if group { " group" } else { "" })
        }
        Capability::ScaledProduct => "scaled-product".into(),
        Capability::SharedProduct => "shared-product".into(),
        Capability::Elementwise { word, arity, from, to, part } => {
            let step =
                t::OpWord::STEPS.iter().find(|(_, step)| *step == word).map(|(name, _)| *name);
            let name = match word {
                t::OpWord::Op(id) => tables.op(id).map_or("?", |op| op.name),
                _ => step.unwrap_or("?"),
            };
            let part = if part == 0 { String::new() } else { format!(" part {part}") };
            format!("elementwise {name}/{arity} {} {}{part}", dtype(from), dtype(to))
        }
        Capability::ShuffleXor => "shuffle-xor".into(),
        Capability::ShuffleIndex => "shuffle-index".into(),
        Capability::BytePermute => "byte-permute".into(),
        Capability::Join { wide, narrow } => format!("join {} {}", class(wide), class(narrow)),
        Capability::Split { wide, narrow } => format!("split {} {}", class(wide), class(narrow)),
        Capability::Copy { into, from, registers } => {
            format!("copy {} {}", tuple(into, registers), tuple(from, registers))
        }
        Capability::Fill(into) => format!("fill {}", class(into)),
        Capability::Wait { counter } => {
            format!("wait {}", arch.counters.get(usize::from(counter)).map_or("?", |own| own.name))
        }
        Capability::Order { before, after } => {
            let access = |id: t::AccessId| tables.accesses.get(id.index()).copied().unwrap_or("?");
            format!("order {} {}", access(before), access(after))
        }
        Capability::Index { op, class: into, from, registers, second } => {
            let second = match second {
                Second::Number => "number".into(),
                Second::ExtendedNumber => "extended number".into(),
                Second::Register(id, registers) => tuple(id, registers),
                Second::ExtendedRegister(id, registers) => {
                    format!("extended {}", tuple(id, registers))
                }
            };
            format!(
                "index {} {} {} {second}",
                op.name(),
                tuple(into, registers),
                tuple(from, registers)
            )
        }
    }
}

/// Everything that an atom can do, with its rank among those that can.
#[must_use]
pub fn capabilities(
    tables: &t::Tables<'_>,
    atom: &'static t::Atom<'static>,
    native: bool,
) -> Vec<(Capability, Rank)> {
    let mut out = Vec::new();
    if native {
        transfers(atom, &mut out);
        elementwise(tables, atom, &mut out);
    }
    products(tables, atom, native, &mut out);
    registers(tables, atom, &mut out);
    addresses(atom, &mut out);
    out
}

/// What instructions do because of what else an architecture has, or says of them.
#[must_use]
pub fn of_arch(tables: &t::Tables<'_>, arch: &t::Arch<'_>) -> Vec<(t::AtomId, (Capability, Rank))> {
    let mut out = ordering(arch);
    out.extend(uppers(tables, arch));
    out
}

/// What instructions do because an architecture's tables say so of it: wait for its counters, and
/// stand between accesses.
#[must_use]
fn ordering(arch: &t::Arch<'_>) -> Vec<(t::AtomId, (Capability, Rank))> {
    let waits = (0u8..)
        .zip(arch.counters)
        .map(|(counter, own)| (own.wait, (Capability::Wait { counter }, LISTED)));
    let steps = arch.sync.iter().flat_map(|rule| {
        let capability = Capability::Order { before: rule.producer, after: rule.consumer };
        (0u16..).zip(rule.steps).map(move |(at, step)| (step.atom, (capability, (Reverse(0), at))))
    });
    waits.chain(steps).collect()
}

/// Among instructions that issue sooner.
fn soonest(atom: &t::Atom<'_>) -> Rank {
    (Reverse(0), atom.cost.issue)
}

fn transfers(atom: &t::Atom<'_>, out: &mut Vec<(Capability, Rank)>) {
    if let Some(movement) = atom.movement {
        let capability = match movement.atomic {
            Some(t::Atomic { op, dtype, old, .. }) => {
                Capability::Atomic { op, dtype, answers: old.is_some() }
            }
            None => Capability::Transfer { from: movement.from.space, to: movement.to.space },
        };
        out.push((capability, (Reverse(lane_bytes(movement)), 0)));
    }
}

/// What stores from upper halves of registers beside what stores from lower ones, among the
/// instructions of an architecture.
fn uppers(tables: &t::Tables<'_>, arch: &t::Arch<'_>) -> Vec<(t::AtomId, (Capability, Rank))> {
    let native = arch.atoms.iter().filter(|have| have.native);
    let stores = native.filter_map(|have| {
        let movement = tables.atom(have.atom)?.movement?;
        Some((have.atom, movement, register_base(movement)?))
    });
    let (upper, lower): (Vec<_>, Vec<_>) = stores.partition(|(.., base)| *base == HALF);
    let pairs = upper.iter().flat_map(|(id, own, _)| {
        let beside = lower.iter().filter(|(_, other, base)| *base == 0 && stores_above(own, other));
        beside.map(|(lower, ..)| (*id, (Capability::StoreUpper { lower: *lower }, LISTED)))
    });
    pairs.collect()
}

/// Bits of the half of a register.
const HALF: i64 = 16;

/// The first bit of registers that a plain store reads.
fn register_base(movement: &t::Movement<'_>) -> Option<i64> {
    let is_store = movement.from.space == t::Space::Register && movement.atomic.is_none();
    movement.from.layout.offset_on(0, AxisId::BIT).ok().filter(|_| is_store)
}

/// Whether a movement goes from the upper halves of registers to where another goes from lower ones.
fn stores_above(own: &t::Movement<'_>, lower: &t::Movement<'_>) -> bool {
    let units: u64 = own.extents.iter().map(|extent| u64::from(*extent)).product();
    let at = |layout: &LayoutRef<'_>, x| layout.offsets_on(x, [AxisId::LANE, AxisId::BIT]).ok();
    let above = |x| match (at(own.from.layout, x), at(lower.from.layout, x)) {
        (Some([lane, bit]), Some([of, low])) => lane == of && bit == low + HALF && low < HALF,
        _ => false,
    };
    // The numbers of operands are each atom's own.
    let to = |side: &t::Side<'_>| (side.space, side.align_bytes, side.slot_bytes, side.access);
    let field = |o: &t::OffsetField| (o.min, o.max, o.scale, o.on_from, o.on_to, o.place);
    (own.unit_bits, own.crosses_lanes, own.size.is_some())
        == (lower.unit_bits, lower.crosses_lanes, lower.size.is_some())
        && own.extents.iter().eq(lower.extents.iter())
        && to(&own.to) == to(&lower.to)
        && own.to.banks == lower.to.banks
        && own.to.base.is_some() == lower.to.base.is_some()
        && own.to.layout == lower.to.layout
        && own.offsets.iter().map(field).eq(lower.offsets.iter().map(field))
        && (0..units).all(above)
}

/// Bytes that one lane moves, or one address slot if those are more.
fn lane_bytes(movement: &t::Movement<'_>) -> u32 {
    let units: u32 = movement.extents.iter().map(|extent| u32::from(*extent)).product();
    let slots = |layout: &LayoutRef<'_>| {
        let on = |x: u64, axis| layout.offset_on(x, axis).unwrap_or(0);
        let spread = |axis| {
            (0..32)
                .map(|bit| 1u64 << bit)
                .take_while(|x| *x < u64::from(units))
                .map(|x| on(x, axis) - on(0, axis))
                .max()
                .unwrap_or(0)
        };
        u32::try_from(spread(AxisId::LANE).max(spread(AxisId::SLOT)))
            .map_or(1, |most| (most + 1).next_power_of_two())
    };
    units * u32::from(movement.unit_bits)
        / 8
        / slots(movement.from.layout).max(slots(movement.to.layout))
}

fn elementwise(tables: &t::Tables<'_>, atom: &t::Atom<'_>, out: &mut Vec<(Capability, Rank)>) {
    let Some(does) = atom.does else { return };
    match does.op {
        t::OpWord::ShuffleXor => out.push((Capability::ShuffleXor, soonest(atom))),
        t::OpWord::BytePermute if does.selector > 0 && does.uses.len() == 3 => {
            out.push((Capability::BytePermute, soonest(atom)))
        }
        _ => {}
    }
    if matches!(does.op, t::OpWord::ShuffleIndex | t::OpWord::ShuffleXor)
        && does.lanes.iter().any(|lanes| lanes.by.is_some())
    {
        out.push((Capability::ShuffleIndex, soonest(atom)));
    }
    let typed = |k: &u8| atom.operands.get(usize::from(*k)).and_then(|operand| operand.dtype);
    // What a selection selects is of the result's type, and its first operand a truth.
    let selects = matches!(does.op, t::OpWord::Op(id)
        if tables.op(id).is_some_and(|op| op.role == t::OpRole::Select));
    let made = || atom.operands.iter().find(|o| o.role == t::Role::Def).and_then(|o| o.dtype);
    let rest = does.uses.iter().skip(1);
    let alike = |from: &t::DtypeId| {
        let wanted = if selects { made() } else { Some(*from) };
        rest.clone().all(|k| typed(k) == wanted)
    };
    let Some(from) = does.uses.first().and_then(typed).filter(alike) else { return };
    for to in atom
        .operands
        .iter()
        .filter(|operand| operand.role == t::Role::Def)
        .filter_map(|operand| operand.dtype)
    {
        // An operation has the operands that it is declared with, each as often as the others.
        let declared = match does.op {
            t::OpWord::Op(id) => tables
                .op(id)
                .map_or(1..=1, |op| usize::from(op.operands.0.max(1))..=usize::from(op.operands.1)),
            _ => 1..=does.uses.len(),
        };
        for arity in (1..=does.uses.len())
            .filter(|arity| declared.contains(arity) && does.uses.len().is_multiple_of(*arity))
        {
            let (pack, Ok(arity)) = ((does.uses.len() / arity) as u32, u8::try_from(arity)) else {
                continue;
            };
            out.push((
                Capability::Elementwise { word: does.op, arity, from, to, part: does.part },
                (Reverse(pack), atom.cost.issue),
            ));
        }
    }
}

fn products(
    tables: &t::Tables<'_>,
    atom: &'static t::Atom<'static>,
    native: bool,
    out: &mut Vec<(Capability, Rank)>,
) {
    let Some(shape) = atom.matrix.filter(|_| atom.class == t::AtomClass::Matrix) else { return };
    let types = |operand: u8| {
        (0u16..)
            .map(t::DtypeId)
            .take(tables.dtypes.len())
            .filter(move |dtype| atom.takes(operand, *dtype))
    };
    let lanes = atom.is_of_lanes();
    for a in types(shape.a) {
        for b in types(shape.b) {
            for c in types(shape.c) {
                out.extend(types(shape.d).map(|d| match lanes {
                    true => (Capability::LaneProduct { a, b, c, d }, LISTED),
                    false => (Capability::Product { a, b, c, d }, LISTED),
                }));
            }
        }
    }
    if lanes {
        return;
    }
    if native {
        out.extend(types(shape.d).map(|d| (Capability::ProductInto(d), LISTED)));
        if atom.more.is_some_and(|more| !more.shared.is_empty()) {
            out.push((Capability::SharedProduct, LISTED));
        }
    }
    if atom.scaled().is_some() || atom.scaled_in_tensor().is_some() {
        out.push((Capability::ScaledProduct, LISTED));
    }
    if atom.product().is_none() {
        return;
    }
    if native && atom.more.is_none() {
        for (operand, number) in [(Factor::A, shape.a), (Factor::B, shape.b), (Factor::C, shape.c)]
        {
            let bits = atom
                .operands
                .get(usize::from(number))
                .and_then(|o| tables.dtype(o.dtype?))
                .map(|dtype| dtype.bits);
            out.extend(bits.map(|bits| (Capability::ProductOf { operand, bits }, LISTED)));
        }
    }
    let waves = waves(atom, shape.d);
    let group = waves > 1;
    out.push((Capability::ProductTile { m: 0, n: 0, group }, LISTED));
    let columns: Vec<u16> =
        (0..atom.instances()).filter_map(|k| Some(atom.instance(k)?.shape()?.n)).collect();
    for n in columns {
        if let Some(shape) = atom.with_columns(n).and_then(|instance| instance.shape()) {
            out.push((Capability::ProductTile { m: shape.m / waves, n, group }, LISTED));
        }
    }
}

/// Waves that work together on a product.
fn waves(atom: &t::Atom<'_>, d: u8) -> u16 {
    let shard = atom
        .operands
        .get(usize::from(d))
        .and_then(|operand| operand.layout)
        .map_or(&[][..], |layout| layout.shard);
    let extents = shard.iter().filter(|iter| iter.axis() == AxisId::WARP).map(|iter| {
        iter.extent_value().ok().and_then(|extent| u16::try_from(extent).ok()).unwrap_or(1)
    });
    extents.fold(1, u16::saturating_mul)
}

/// Classes that an operand takes.
fn classes<'a>(operand: &'a t::Operand<'a>) -> impl Iterator<Item = t::ClassId> + 'a {
    [operand.class].into_iter().chain(operand.also.iter().copied())
}

fn registers(tables: &t::Tables<'_>, atom: &t::Atom<'_>, out: &mut Vec<(Capability, Rank)>) {
    let one = |operand: &&t::Operand<'_>| operand.registers == 1;
    let defines = |k: usize| atom.operands.get(k).filter(|o| o.role == t::Role::Def);
    let reads = |k: usize| atom.operands.get(k).filter(|o| o.role == t::Role::Use);
    if let Some(does) = atom.does.filter(|_| atom.operands.len() == 3) {
        let part = |k: &u8| {
            atom.operands
                .get(usize::from(*k))
                .filter(one)
                .filter(|o| o.dtype.is_none())
                .map(|o| o.class)
        };
        if let (t::OpWord::ConcatRegs, [low, high], Some(wide)) =
            (does.op, does.uses, defines(0).filter(one))
            && let Some(narrow) = part(low).filter(|narrow| part(high) == Some(*narrow))
        {
            out.push((Capability::Join { wide: wide.class, narrow }, soonest(atom)));
        }
        if let (t::OpWord::SplitRegs, Some(low), Some(high), Some(wide)) =
            (does.op, defines(0).filter(one), defines(1).filter(one), reads(2).filter(one))
            && low.class == high.class
        {
            out.push((Capability::Split { wide: wide.class, narrow: low.class }, soonest(atom)));
        }
    }
    let special = |class: t::ClassId| {
        tables
            .isa(atom.isa)
            .and_then(|isa| isa.classes.get(class.index()))
            .is_some_and(|class| class.kind == t::RegisterKind::Special)
    };
    let means = atom.means.slice();
    if let ([_, _], Some(into), Some(source)) = (atom.operands.0.slice(), defines(0), reads(1))
        && into.registers == source.registers
        && (means == [t::TermNode::Operand(1)] || special(into.class))
    {
        out.extend(classes(source).map(|from| {
            (Capability::Copy { into: into.class, from, registers: into.registers }, soonest(atom))
        }));
    }
    if let Some(into) = defines(0).filter(one).filter(|_| atom.class == t::AtomClass::Alu) {
        let own = atom.operands.len() == 1 && matches!(means, [t::TermNode::Const(_)]);
        let given = atom.operands.get(1).filter(|o| {
            o.range.0 <= o.range.1 && atom.operands.len() == 2 && means == [t::TermNode::Operand(1)]
        });
        if own || given.is_some() {
            out.push((Capability::Fill(into.class), soonest(atom)));
        }
    }
}

fn addresses(atom: &t::Atom<'_>, out: &mut Vec<(Capability, Rank)>) {
    use t::TermNode::{Op, Operand};
    let (op, first, second, extended) = match atom.means.slice() {
        [Op(op, 2), Operand(x), Operand(y)] => (*op, *x, *y, false),
        [Op(op, 2), Operand(x), Op(t::IndexOp::Extend64, 1), Operand(y)] => (*op, *x, *y, true),
        _ => return,
    };
    let operand = |k: u8| atom.operands.get(usize::from(k));
    let (Some(result), Some(first), Some(second)) =
        (operand(0).filter(|o| o.role == t::Role::Def), operand(first), operand(second))
    else {
        return;
    };
    if result.registers != first.registers {
        return;
    }
    let number = (second.range.0 <= second.range.1).then_some(if extended {
        Second::ExtendedNumber
    } else {
        Second::Number
    });
    let registers =
        classes(second).filter(|_| second.role != t::Role::Immediate).map(|class| match extended {
            true => Second::ExtendedRegister(class, second.registers),
            false => Second::Register(class, second.registers),
        });
    for second in registers.chain(number) {
        for class in classes(result) {
            for from in classes(first) {
                out.push((
                    Capability::Index { op, class, from, registers: first.registers, second },
                    soonest(atom),
                ));
            }
        }
    }
}
