//! Flow of fragments: a register tile's distribution goes wherever the value goes unchanged.
//!
//! Anchors (a product's operands, a store's chosen width) are spread over the values that must
//! share them: through loops' carried values and elementwise operations as they are, through
//! transpositions transposed, to the same elements under another shape reshaped, from a tile to what
//! a reduction leaves of it and from a repeated tile to what it repeats, between a tile and a part
//! of it that is some of each lane's registers. Two anchors that meet and differ are a conflict. Conversions are not crossed
//! here: their two sides may differ ([`across`] says what follows for a side that nothing decides).

use crate::data::ConversionPlace;
use crate::data::{FragmentPlan, PlanError, PlanPool, Unparted};
use crate::select::fragments::unread::Unread;
use crate::select::parts::is_read;
use heapless::VecView;
use lanebook_ir::{Def, Op, Program, Value, attr_names};
use lanebook_tables::{LayoutTrait, OpRole};
use lanebook_tile::map::Fragment;
use lanebook_tile::shaping::{TilePart, shaping, tile_shape};

/// A value that waits, and what says how it is distributed.
#[doc(hidden)]
#[derive(Copy, Clone, Debug)]
pub struct Waiting {
    value: Value,
    op: Op,
    /// The pair that the value's fragment comes from, as an index: a fragment is large, and a list
    /// of them larger.
    from: u16,
    how: FragmentRelation,
}

/// How a value's fragment comes from another.
#[derive(Copy, Clone, Debug)]
enum FragmentRelation {
    /// It is the same.
    Same,
    /// It is the other one transposed.
    Transposed,
    /// It is a slice of it, as the operation says.
    Shaped,
    /// It has the same elements in the same order under another shape.
    Reshaped,
    /// The same after two groups of its dimensions have changed places, as the operation says.
    Permuted,
    /// The same before.
    PermutedBack,
    /// It is a part of it, as the operation says.
    Part,
    /// The other one is a part of it.
    Around,
}

impl FragmentRelation {
    /// What is said where there is none.
    const fn refusal(self, op: Op) -> PlanError {
        match self {
            Self::Part => PlanError::Part { op, why: Unparted::Lanes },
            _ => PlanError::Conflict { op, place: None },
        }
    }

    /// The fragment of `value`.
    fn of(
        self,
        program: &Program<'_, '_>,
        (op, value): (Op, Value),
        from: &Fragment,
    ) -> Option<Fragment> {
        match self {
            Self::Same => Some(*from),
            Self::Transposed => Some(from.transposed()),
            Self::Reshaped => from.reshaped(tile_shape(program, value)?),
            Self::Permuted => {
                let [left, right, run] = program.exchanged_groups(op)?;
                from.exchanged(left, right, run)?.reshaped(tile_shape(program, value)?)
            }
            Self::PermutedBack => {
                let [left, right, run] = program.exchanged_groups(op)?;
                from.exchanged(right, left, run)?.reshaped(tile_shape(program, value)?)
            }
            Self::Shaped => {
                let (_, small, how) = shaping(program, op)?;
                how.of(from, tile_shape(program, small)?)
            }
            Self::Part => {
                let part = TilePart::of(program, op)?;
                part.places(from, tile_shape(program, value)?).map(|(part, _)| part)
            }
            Self::Around => from.around(tile_shape(program, value)?),
        }
    }
}

/// Spreads `fragment` from `value`; new pairs are appended to `fragments`.
///
/// Where element types change on the way, a narrower one is `unpacked` (a register an element) or
/// packed; what has the first one's width again is as that one is. `reader`: the operation, and which operand of it, that wants the value so. Tiles that
/// are `unread` get none.
pub fn spread(
    program: &Program<'_, '_>,
    value: Value,
    (fragment, unpacked): (Fragment, bool),
    reader: Option<(Op, ConversionPlace)>,
    unread: &Unread,
    (waiting, fragments): (&mut VecView<Waiting>, &mut VecView<FragmentPlan>),
) -> Result<(), PlanError> {
    waiting.clear();
    let first = (fragment.shape.bits, fragment.unpacked);
    let mut next = Some((value, fragment, None, None));
    loop {
        let (value, fragment, from, beside) = match (next.take(), waiting.pop()) {
            (Some(first), _) => first,
            (None, Some(Waiting { value, op, from, how })) => {
                let refuse = how.refusal(op);
                let from = fragments.get(usize::from(from)).ok_or(refuse)?;
                if matches!(how, FragmentRelation::Around)
                    && is_part(program, op, (value, &from.fragment), fragments)
                {
                    continue;
                }
                (
                    value,
                    how.of(program, (op, value), &from.fragment).ok_or(refuse)?,
                    Some((op, from.value)),
                    Some((from.fragment.shape.bits, from.fragment.unpacked)),
                )
            }
            (None, None) => return Ok(()),
        };
        if !is_register_tile(program, value) || unread.contains(program, value) {
            continue;
        }
        let fragment = with_own_bits(program, value, fragment, (first, unpacked));
        let held = (fragment.shape.bits, fragment.unpacked);
        if from.zip(beside).is_some_and(|((op, _), other)| is_mixed(program, op, (held, other))) {
            return Err(conflict(program, value, from, reader));
        }
        if let Some(known) = fragments.iter().find(|f| f.value == value) {
            let is_made_anew = program.constant(value).is_some()
                && from.is_some_and(|(op, _)| is_made_at(program, op, value));
            if known.fragment == fragment || is_made_anew {
                continue;
            }
            return Err(conflict(program, value, from, reader));
        }
        let capacity = u32::try_from(fragments.capacity()).unwrap_or(u32::MAX);
        let here = u16::try_from(fragments.len()).unwrap_or(u16::MAX);
        fragments.push(FragmentPlan { value, fragment }).map_err(|_| PlanError::Capacity {
            pool: PlanPool::Fragments,
            capacity,
            op: home(program, value),
        })?;
        let mut result = Ok(());
        let mut send = |value: Option<Value>, how: FragmentRelation, op: Op| {
            // A constant has no distribution of its own: whoever reads it makes it. What a loop or
            // a product starts from is the exception, and what has parts or is one.
            // Where many wait, none waits twice for the same.
            let full = waiting.len() >= waiting.capacity() / 2;
            let known = |value: Value| {
                matches!(how, FragmentRelation::Same)
                    && (fragments.iter().any(|f| f.value == value && f.fragment == fragment)
                        || waiting.iter().any(|w| {
                            w.value == value
                                && matches!(w.how, FragmentRelation::Same)
                                && (w.from == here || full && is_from(fragments, w.from, &fragment))
                        }))
            };
            if let Some(value) = value
                && (program.constant(value).is_none() || is_placed_by(program, op, value))
                && !known(value)
                && waiting.push(Waiting { value, op, from: here, how }).is_err()
            {
                result = Err(PlanError::Capacity {
                    pool: PlanPool::Worklist,
                    capacity: u32::try_from(waiting.capacity()).unwrap_or(u32::MAX),
                    op: Some(op),
                });
            }
        };
        if program.constant(value).is_some() {
            moved_beside(program, value, &mut send);
            parts(program, value, &mut send);
            result?;
            continue;
        }
        backward(program, value, &mut send);
        forward(program, value, &mut send);
        let sliced = shaped(program, value, &fragment, &mut send);
        parts(program, value, &mut send);
        result.and(sliced)?;
    }
}

/// A distribution with the bits of a tile's own elements. `first`: bits of those that all began with, and
/// whether each of them has a register of its own.
fn with_own_bits(
    program: &Program<'_, '_>,
    value: Value,
    fragment: Fragment,
    (first, unpacked): ((u16, bool), bool),
) -> Fragment {
    let dtype = program.type_of(value).dtype.and_then(|d| program.tables().dtype(d));
    let bits = dtype.map_or(fragment.shape.bits, |d| d.held);
    let unpacked = if bits == first.0 { first.1 } else { unpacked };
    let mut fragment = fragment.with_bits(bits, unpacked);
    fragment.unpacked = bits < 32 && (unpacked || is_unpacked(program, value));
    fragment
}

/// Whether an elementwise operation would have narrow elements of one of its tiles packed, and those of
/// another one in registers of their own: its instructions take both alike. Bits, and which of it.
fn is_mixed(
    program: &Program<'_, '_>,
    op: Op,
    ((bits, alone), (other_bits, other_alone)): ((u16, bool), (u16, bool)),
) -> bool {
    let narrow = bits < 32 && other_bits < 32;
    narrow && alone != other_alone && program.role(op) == OpRole::Elementwise
}

/// Whether each element of a tile has a register of its own, whatever the tiles beside it are like.
fn is_unpacked(program: &Program<'_, '_>, value: Value) -> bool {
    program.def_op(value).is_some_and(|def| program.has_attr(def, attr_names::UNPACKED))
}

/// Where two distributions of a tile meet: at what the second one came from, or at its reader.
fn conflict(
    program: &Program<'_, '_>,
    value: Value,
    from: Option<(Op, Value)>,
    reader: Option<(Op, ConversionPlace)>,
) -> PlanError {
    let place = match from {
        Some((op, other)) => parting(program, op, (value, other)),
        None => reader,
    };
    let op = place.map(|(op, _)| op).or(from.map(|(op, _)| op)).or(program.def_op(value));
    // A loop's argument is of the loop.
    match op.or_else(|| home(program, value)) {
        Some(op) => PlanError::Conflict { op, place: place.map(|(_, at)| at) },
        None => PlanError::Stale,
    }
}

/// Whether a pair's tile is distributed so.
fn is_from(fragments: &VecView<FragmentPlan>, from: u16, fragment: &Fragment) -> bool {
    fragments.get(usize::from(from)).is_some_and(|known| known.fragment == *fragment)
}

/// Whether an operation wants a constant as the tiles beside it are.
fn is_placed_by(program: &Program<'_, '_>, op: Op, value: Value) -> bool {
    matches!(program.role(op), OpRole::Matrix | OpRole::For | OpRole::Yield | OpRole::Slice)
        || is_moved_beside(program, op, value)
}

/// Whether an operation makes a constant that it reads, however another one has it.
fn is_made_at(program: &Program<'_, '_>, op: Op, value: Value) -> bool {
    !matches!(program.role(op), OpRole::Matrix | OpRole::Slice)
        && !is_moved_beside(program, op, value)
}

/// Whether a tile goes to memory beside others, a mask or indices, or where what stood there is
/// answered: all of them are distributed alike.
fn is_moved_beside(program: &Program<'_, '_>, op: Op, value: Value) -> bool {
    matches!(program.role(op), OpRole::Store | OpRole::Atomic)
        && program.operand(op, 0) == Some(value)
        && program.beside_moved(op).chain(program.answer(op)).next().is_some()
}

/// From a constant to what stands beside it where it goes to memory, and to what is answered.
fn moved_beside(
    program: &Program<'_, '_>,
    value: Value,
    send: &mut impl FnMut(Option<Value>, FragmentRelation, Op),
) {
    let users = program.uses(value).filter_map(|place| program.user(place));
    for op in users.filter(|op| is_moved_beside(program, *op, value)) {
        for other in program.beside_moved(op).chain(program.answer(op)) {
            send(Some(other), FragmentRelation::Same, op);
        }
    }
}

/// Whether a tile is decided already, and its part of an operation is distributed so.
fn is_part(
    program: &Program<'_, '_>,
    op: Op,
    (whole, part): (Value, &Fragment),
    fragments: &VecView<FragmentPlan>,
) -> bool {
    let known = fragments.iter().find(|f| f.value == whole);
    let places =
        |known: &FragmentPlan| TilePart::of(program, op)?.places(&known.fragment, part.shape);
    known.and_then(places).is_some_and(|(own, _)| own == *part)
}

/// Between a tile and its parts that are taken out or put in.
fn parts(
    program: &Program<'_, '_>,
    value: Value,
    send: &mut impl FnMut(Option<Value>, FragmentRelation, Op),
) {
    let users = program.uses(value).filter_map(|place| program.user(place));
    // Others stand in the place of those that nothing reads.
    let is_slice = |op: &Op| program.role(*op) == OpRole::Slice && is_read(program, *op);
    let slices = users.chain(program.def_op(value)).filter(is_slice);
    for (op, own) in slices.filter_map(|op| Some((op, TilePart::of(program, op)?))) {
        if own.part == value {
            send(Some(own.put.unwrap_or(own.whole)), FragmentRelation::Around, op);
        }
        if own.whole == value || own.put == Some(value) {
            send(Some(own.part), FragmentRelation::Part, op);
        }
        if own.whole == value {
            send(own.put, FragmentRelation::Same, op);
        }
        if own.put == Some(value) {
            send(Some(own.whole), FragmentRelation::Same, op);
        }
    }
}

/// The operation that makes a value, or whose region has it as an argument.
fn home(program: &Program<'_, '_>, value: Value) -> Option<Op> {
    match program.def(value) {
        Def::Result(op, _) => Some(op),
        Def::Argument(block, _) => program.owner_of(block),
        _ => None,
    }
}

/// Beside which operation a conversion could stand, where one joins two tiles that want different
/// distributions.
fn parting(
    program: &Program<'_, '_>,
    op: Op,
    (a, b): (Value, Value),
) -> Option<(Op, ConversionPlace)> {
    let number = |op: Op, value: Value| {
        program.operands(op).position(|v| v == value).and_then(|k| u8::try_from(k).ok())
    };
    let either = |op: Op| {
        let k = number(op, a).or(number(op, b))?;
        Some((op, ConversionPlace::Before(k)))
    };
    // A constant that is written once more goes the same way.
    let is_constant =
        |value: Value| is_moved_beside(program, op, value) && program.constant(value).is_some();
    match program.role(op) {
        OpRole::Store | OpRole::Atomic if is_constant(a) || is_constant(b) => {
            let other = if is_constant(a) { b } else { a };
            let place = number(op, other).map_or(ConversionPlace::Behind, ConversionPlace::Before);
            Some((op, place))
        }
        OpRole::Reduce => Some((op, ConversionPlace::Behind)),
        // What is carried is one tile; what it starts from, and what an iteration hands on, may be
        // another.
        OpRole::For => {
            let end = program.body(op).and_then(|body| program.terminator(body));
            let own = either(op);
            own.filter(|(_, at)| matches!(at, ConversionPlace::Before(3..)))
                .or_else(|| either(end?))
        }
        OpRole::Matrix => either(op).filter(|(_, at)| *at == ConversionPlace::Before(2)),
        _ => either(op),
    }
}

/// Which conversions hand the distribution of one side on to the other.
#[derive(Copy, Clone, PartialEq, Eq)]
pub enum Crossed {
    /// Those of the program that have no written layout on either side: what is written for one
    /// says nothing of the other.
    Own,
    /// Also those that were put in, whose sides something else may still decide.
    Inserted,
    /// Also those with a written layout: what is left over is as that says, for want of anything else.
    Written,
}

/// What the other side of a conversion gets where only one side is decided; `None` when nothing is
/// left to do.
pub fn across(
    program: &Program<'_, '_>,
    function: Op,
    which: Crossed,
    unread: &Unread,
    fragments: &VecView<FragmentPlan>,
) -> Option<(Value, Fragment)> {
    let of = |v: Value| fragments.iter().find(|f| f.value == v).map(|f| f.fragment);
    let crossed = |op: &Op| {
        program.role(*op) == OpRole::Convert
            && !unread.covers(program, *op)
            && (which != Crossed::Own || program.attr(*op, attr_names::INSERTED).is_none())
    };
    program.inside(function).filter(crossed).find_map(|op| {
        let (from, to) = (program.operand(op, 0)?, program.result(op, 0)?);
        let written = crate::select::fragments::explicit_layouts::text;
        if which != Crossed::Written
            && (written(program, from).is_some() || written(program, to).is_some())
        {
            return None;
        }
        if !is_register_tile(program, from) || !is_register_tile(program, to) {
            return None;
        }
        match (of(from), of(to)) {
            (Some(fragment), None) => Some((to, fragment)),
            (None, Some(fragment)) => Some((from, fragment)),
            _ => None,
        }
    })
}

/// From a tile to the smaller ones that are slices of it.
fn shaped(
    program: &Program<'_, '_>,
    value: Value,
    fragment: &Fragment,
    send: &mut impl FnMut(Option<Value>, FragmentRelation, Op),
) -> Result<(), PlanError> {
    let reducers = program
        .uses(value)
        .filter_map(|place| program.user(place))
        .filter(|user| program.role(*user) == OpRole::Reduce);
    for op in reducers.chain(program.def_op(value)) {
        let Some((large, small, how)) = shaping(program, op) else { continue };
        if large == value {
            let refuse = PlanError::Conflict { op, place: None };
            if tile_shape(program, small).and_then(|shape| how.of(fragment, shape)).is_none() {
                return Err(refuse);
            }
            send(Some(small), FragmentRelation::Shaped, op);
        }
    }
    Ok(())
}

/// A tile that lives in registers.
pub fn is_register_tile(program: &Program<'_, '_>, value: Value) -> bool {
    let ty = program.type_of(value);
    ty.is_tile() && !ty.is_memory()
}

/// To where the value comes from.
fn backward(
    program: &Program<'_, '_>,
    value: Value,
    send: &mut impl FnMut(Option<Value>, FragmentRelation, Op),
) {
    match program.def(value) {
        Def::Result(op, number) => match program.role(op) {
            OpRole::For => {
                if let Some(carried) = program.carried(op).nth(usize::from(number)) {
                    for v in [Some(carried.init), Some(carried.argument), carried.yielded] {
                        send(v, FragmentRelation::Same, op);
                    }
                }
            }
            OpRole::Matrix => send(program.operand(op, 2), FragmentRelation::Same, op),
            OpRole::Permute => send(program.operand(op, 0), FragmentRelation::PermutedBack, op),
            role if role.is_composed() => {}
            OpRole::Load => {
                program.beside_moved(op).for_each(|v| send(Some(v), FragmentRelation::Same, op))
            }
            OpRole::Atomic => {
                for v in program.beside_moved(op).chain(program.operand(op, 0)) {
                    send(Some(v), FragmentRelation::Same, op);
                }
            }
            _ => match program.layout_trait(op) {
                LayoutTrait::Transposing => {
                    send(program.operand(op, 0), FragmentRelation::Transposed, op)
                }
                LayoutTrait::Reshaping => {
                    send(program.operand(op, 0), FragmentRelation::Reshaped, op)
                }
                LayoutTrait::Transparent => {
                    program.operands(op).for_each(|v| send(Some(v), FragmentRelation::Same, op))
                }
                _ => {}
            },
        },
        Def::Argument(block, number) => {
            if let Some(owner) = program.owner_of(block).filter(|o| program.role(*o) == OpRole::For)
                && let Some(carried) =
                    usize::from(number).checked_sub(1).and_then(|n| program.carried(owner).nth(n))
            {
                for v in [Some(carried.init), carried.yielded, carried.result] {
                    send(v, FragmentRelation::Same, owner);
                }
            }
        }
        _ => {}
    }
}

/// To where the value goes.
fn forward(
    program: &Program<'_, '_>,
    value: Value,
    send: &mut impl FnMut(Option<Value>, FragmentRelation, Op),
) {
    for place in program.uses(value) {
        let (Some(user), Some(number)) = (program.user(place), program.operand_number(place))
        else {
            continue;
        };
        match program.role(user) {
            OpRole::Yield => {
                if let Some(owner) =
                    program.parent(user).filter(|o| program.role(*o) == OpRole::For)
                    && let Some(carried) = program.carried(owner).nth(number)
                {
                    for v in [Some(carried.init), Some(carried.argument), carried.result] {
                        send(v, FragmentRelation::Same, user);
                    }
                }
            }
            OpRole::For => {
                if let Some(carried) =
                    number.checked_sub(3).and_then(|n| program.carried(user).nth(n))
                {
                    for v in [Some(carried.argument), carried.yielded, carried.result] {
                        send(v, FragmentRelation::Same, user);
                    }
                }
            }
            OpRole::Matrix if number == 2 => {
                send(program.result(user, 0), FragmentRelation::Same, user)
            }
            OpRole::Matrix => {}
            // Others stand in its place, or its tiles are looked at apart.
            role if role.is_composed() => {}
            // A mask is distributed as what moves, and so are indices.
            OpRole::Load if program.beside_moved(user).any(|v| v == value) => {
                for v in program.beside_moved(user).chain(program.result(user, 0)) {
                    send(Some(v), FragmentRelation::Same, user);
                }
            }
            OpRole::Permute => send(program.result(user, 0), FragmentRelation::Permuted, user),
            OpRole::Store | OpRole::Atomic => {
                let moved = program.operand(user, 0).into_iter().chain(program.result(user, 0));
                for v in program.beside_moved(user).chain(moved) {
                    send(Some(v), FragmentRelation::Same, user);
                }
            }
            _ => match program.layout_trait(user) {
                LayoutTrait::Transposing => {
                    send(program.result(user, 0), FragmentRelation::Transposed, user)
                }
                LayoutTrait::Reshaping => {
                    send(program.result(user, 0), FragmentRelation::Reshaped, user)
                }
                LayoutTrait::Transparent => {
                    program.results(user).for_each(|v| send(Some(v), FragmentRelation::Same, user));
                    program
                        .operands(user)
                        .for_each(|v| send(Some(v), FragmentRelation::Same, user));
                }
                _ => {}
            },
        }
    }
}
