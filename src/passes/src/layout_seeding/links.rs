//! What a product has to do with others: what feeds it, and what it feeds.
//!
//! Values are followed within the product's own block (a loop's body, as a rule) over results and
//! operands, once for each question. The worklist is the pass's, the marks are the room's nodes.
use crate::PassError;
use crate::layout_seeding::LayoutSeeding;
use crate::layout_seeding::group::{Seen, is_seen};
use lanebook_ir::{Op, Program, Value};
use lanebook_tables::OpRole;

/// How a product is linked to others.
#[derive(Copy, Clone, Debug, Default)]
pub(super) struct Links {
    /// Another product of the block that has its instruction is reached over values in any
    /// direction, transpositions aside.
    pub settled: Option<Op>,
    /// Other products are reached so: the last of all in the text, itself included.
    pub last: Option<Op>,
    /// Another product is reached from the result, in whatever block.
    pub feeds: bool,
    /// The left operand of another product of the block is computed from the result.
    pub head: bool,
    /// The left operand is computed from another product of the block.
    pub tail: bool,
    /// The left operand is loaded, and not computed.
    pub loaded: bool,
}

/// In which direction values are followed.
#[derive(Copy, Clone, PartialEq, Eq)]
enum FollowDirection {
    Forward,
    Backward,
    Both,
}

/// Operations that are looked up in one go.
const SOME: usize = 16;

/// Walks from an operation over values; calls `meet` for every operation that is reached, once.
fn reach(
    work: &mut LayoutSeeding<'_, '_, '_, '_, '_>,
    trail: &mut Seen,
    from: Op,
    way: FollowDirection,
    stays: &dyn Fn(&Program<'_, '_>, Op) -> bool,
    meet: &mut dyn FnMut(&Program<'_, '_>, Op),
) -> Result<(), PassError> {
    let [ops, ..] = work.cx.program.usage();
    let seen = &mut *work.room.nodes;
    trail.clear(seen, ops.used).map_err(PassError::Choice)?;
    trail.visit(seen, from);
    work.cx.push(from)?;
    while let Some(op) = work.cx.pop()? {
        if op != from {
            meet(work.cx.program, op);
        }
        let mut number = 0usize;
        loop {
            let mut some = [None; SOME];
            let mut count = 0usize;
            for (slot, target) in
                some.iter_mut().zip(neighbours(work.cx.program, op, way).skip(number))
            {
                *slot = Some(target);
                count = count.saturating_add(1);
            }
            number = number.saturating_add(count);
            for target in some.into_iter().flatten() {
                if stays(work.cx.program, target) && trail.visit(seen, target) {
                    work.cx.push(target)?;
                }
            }
            if count < SOME {
                break;
            }
        }
    }
    Ok(())
}

fn neighbours<'p>(
    program: &'p Program<'_, '_>,
    op: Op,
    way: FollowDirection,
) -> impl Iterator<Item = Op> + 'p {
    let users = program
        .results(op)
        .filter(move |_| way != FollowDirection::Backward)
        .flat_map(|value| program.uses(value))
        .filter_map(|place| program.user(place));
    let makers = program
        .all_operands(op)
        .filter(move |_| way != FollowDirection::Forward)
        .filter_map(|value| program.def_op(value));
    users.chain(makers)
}

fn is_product(program: &Program<'_, '_>, op: Op) -> bool {
    program.role(op) == OpRole::Matrix
}

fn left_of(program: &Program<'_, '_>, op: Op) -> Option<Op> {
    program.operand(op, 0).and_then(|value| program.def_op(value))
}

/// How a product is linked to others.
pub(super) fn find(
    work: &mut LayoutSeeding<'_, '_, '_, '_, '_>,
    trail: &mut Seen,
    op: Op,
) -> Result<Links, PassError> {
    let program = &*work.cx.program;
    let home = program.block_of(op);
    let mut out = Links { loaded: is_loaded(program, program.operand(op, 0)), ..Links::default() };
    let left = left_of(program, op);
    let inside = move |program: &Program<'_, '_>, other: Op| program.block_of(other) == home;
    let straight = move |program: &Program<'_, '_>, other: Op| {
        inside(program, other) && program.role(other) != OpRole::Transpose
    };

    reach(work, trail, op, FollowDirection::Both, &straight, &mut |_, _| {})?;
    let (program, seen) = (&*work.cx.program, &*work.room.nodes);
    if let Some(home) = home {
        let mut reached =
            program.ops(home).filter(|other| is_product(program, *other) && is_seen(seen, *other));
        out.settled = reached.clone().find(|other| {
            *other != op && !crate::layout_seeding::product::is_plain(program, *other)
        });
        let alone = !reached.clone().any(|other| other != op);
        out.last = if alone { None } else { reached.by_ref().last() };
    }

    let mut feeds = false;
    reach(work, trail, op, FollowDirection::Forward, &|_, _| true, &mut |program, other| {
        feeds |= is_product(program, other)
    })?;
    out.feeds = feeds;

    reach(work, trail, op, FollowDirection::Forward, &inside, &mut |_, _| {})?;
    // Of what was reached: products whose left operand was reached, too.
    let (program, seen) = (&*work.cx.program, &*work.room.nodes);
    out.head = home.is_some_and(|home| {
        let mut others = program
            .ops(home)
            .filter(|other| *other != op && is_product(program, *other) && is_seen(seen, *other));
        others.any(|other| left_of(program, other).is_some_and(|left| is_seen(seen, left)))
    });

    if let Some(left) = left.filter(|left| inside(work.cx.program, *left)) {
        let mut tail = is_product(work.cx.program, left);
        reach(work, trail, left, FollowDirection::Backward, &inside, &mut |program, other| {
            tail |= is_product(program, other)
        })?;
        out.tail = tail;
    }
    Ok(out)
}

/// Whether a value is loaded or an argument, conversions and transposes aside.
fn is_loaded(program: &Program<'_, '_>, value: Option<Value>) -> bool {
    let mut at = value;
    while let Some(value) = at {
        let Some(op) = program.def_op(value) else { return true };
        match program.role(op) {
            OpRole::Convert | OpRole::Transpose => at = program.operand(op, 0),
            role => return role == OpRole::Load,
        }
    }
    false
}

/// Bits of the narrowest element that an operand is made of by operations of one operand: what is
/// loaded narrow and widened lies as it was loaded.
pub(super) fn narrowest_bits(program: &Program<'_, '_>, value: Value, own: u32) -> u32 {
    let mut least = own;
    let mut at = value;
    while let Some(op) = program.def_op(at) {
        let alone = program.operand_count(op) == 1;
        let follows = matches!(program.role(op), OpRole::Convert | OpRole::Elementwise);
        let Some(source) = program.operand(op, 0).filter(|_| alone && follows) else { break };
        at = source;
        let bits = crate::layout_seeding::runs::element_bits(program, &program.type_of(at));
        if bits > 0 {
            least = least.min(bits);
        }
    }
    least
}
