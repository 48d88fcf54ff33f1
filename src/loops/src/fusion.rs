//! Loop fusion: two neighbouring parallel loops become one, so that a fragment between them is a value
//! of each iteration and needs no registers of its own.
//!
//! It is done where the fragment would fill more of the registers that a lane has for tiles than
//! `fused_percent` of rules/cost.ron, and where nothing can tell: no other operation touches the fragment, each iteration of the
//! second loop reads what the same iteration of the first has written, and memory that the one writes
//! and the other touches is touched at the same place of each iteration, under whatever names.

use lanebook_ir::{Op, Program, TileEncoding, Value, attr_names};
use lanebook_tables::{Arch, OpRole, Space, Tables};

/// Most accesses to memory of two loops.
const ACCESSES: usize = 24;
/// Most dimensions of a nest or a buffer.
const RANK: usize = 8;
/// Bits of a register.
const REGISTER_BITS: u64 = 32;
/// Words that say how a loop is spread over threads, or how it reads: what is written is obeyed.
const WRITTEN: [&str; 3] = [attr_names::LAYOUT, attr_names::COALESCED_WIDTH, attr_names::EXCHANGE];

/// Fuses neighbouring parallel loops of a function, and elides copies beside them, as long as a large
/// fragment between them goes away; how many there were. The program is as it was where it has no
/// room.
///
/// ```
/// use lanebook::TABLES;
/// use lanebook::ir::{Options, SmallStorage, parse};
/// use lanebook::loops::fuse_loops;
///
/// let text = "func @scaled(%A: memref<64x4096xf32>, %B: memref<64x4096xf32>) {threads = 256} {
///   %f = alloc_tensor : tensor<64x4096xf32, #fragment>
///   parallel (%i, %j) in (64, 4096) {
///     %x = memref.load %A[%i, %j]
///     memref.store %x, %f[%i, %j]
///   }
///   parallel (%i, %j) in (64, 4096) {
///     %x = memref.load %f[%i, %j]
///     %y = add %x, %x : f32
///     memref.store %y, %B[%i, %j]
///   }
/// }";
/// let mut pools = Box::new(SmallStorage::new());
/// let mut program = parse(pools.pools(), &TABLES, text, Options::default()).unwrap();
/// let arch = TABLES.arch(TABLES.arch_named("gfx942").unwrap()).unwrap();
/// let function = program.function("scaled").unwrap();
/// // A thread would hold 1,024 registers; it holds none of them.
/// assert_eq!(fuse_loops(&mut program, function, &TABLES, arch), 1);
/// assert_eq!(program.inside(function).count(), 5);
/// ```
pub fn fuse_loops(
    program: &mut Program<'_, '_>,
    function: Op,
    tables: &Tables<'_>,
    arch: &Arch<'_>,
) -> usize {
    let has = tables.isa(arch.isa).map_or(0, |isa| u64::from(isa.tile_most()));
    let percent = u64::from(tables.weights.fused_percent);
    let most = has.saturating_mul(percent).checked_div(100).unwrap_or(0);
    let mut count = 0usize;
    while let Some(found) = candidate(program, function, tables, most) {
        let mark = program.mark();
        let done = match found {
            Found::Loops { first, second, fragment } => fuse(program, first, second, fragment),
            Found::Copy { copy, fragment, memory } => elide(program, copy, fragment, memory),
        };
        match done {
            Some(()) => program.keep(mark),
            None => {
                program.undo(mark);
                return count;
            }
        }
        count = count.saturating_add(1);
    }
    count
}

/// What can be done away with.
enum Found {
    /// A fragment that the first loop writes and the second reads.
    Loops { first: Op, second: Op, fragment: Value },
    /// A fragment that a loop reads and a copy fills from memory, or that a loop fills and a copy
    /// leaves there.
    Copy { copy: Op, fragment: Value, memory: Value },
}

fn candidate(
    program: &Program<'_, '_>,
    function: Op,
    tables: &Tables<'_>,
    most: u64,
) -> Option<Found> {
    let threads = program.int_attr(function, attr_names::THREADS)?;
    let threads = u64::try_from(threads).ok().filter(|threads| *threads > 0)?;
    let allocs = program.inside(function).filter(|op| program.role(*op) == OpRole::Alloc);
    let fragments = allocs.filter_map(|op| program.result(op, 0));
    let large = fragments.filter(|value| {
        let ty = program.type_of(*value);
        let bits = ty.dtype.and_then(|dtype| tables.dtype(dtype)).map_or(0, |own| own.bits);
        let elements =
            ty.shape.iter().try_fold(1u64, |n, extent| n.checked_mul(u64::from(extent?)));
        let registers = elements
            .and_then(|n| n.checked_mul(u64::from(bits)))
            .and_then(|bits| bits.checked_div(threads.saturating_mul(REGISTER_BITS)));
        ty.is_fragment() && registers.is_some_and(|own| own > most)
    });
    let mut found = large.filter(|value| !is_laid(program, *value));
    found.find_map(|fragment| between(program, fragment))
}

/// Whether the layout of a fragment is written: that would be obeyed by nobody.
fn is_laid(program: &Program<'_, '_>, fragment: Value) -> bool {
    let alloc = program.def_op(fragment);
    program.type_of(fragment).encoding != TileEncoding::None
        || alloc.is_none_or(|alloc| program.has_attr(alloc, attr_names::LAYOUT))
}

/// What stands before and behind a fragment, where that can be one.
fn between(program: &Program<'_, '_>, fragment: Value) -> Option<Found> {
    let (writer, reader) = ends(program, fragment)?;
    match (program.role(writer), program.role(reader)) {
        (OpRole::Parallel, OpRole::Parallel) => {
            let fits = are_alike(program, writer, reader)
                && follows(program, writer, reader)
                && stores_once(program, writer, fragment)
                && loads_alone(program, reader, fragment)
                && keeps_memory(program, writer, reader, fragment);
            fits.then_some(Found::Loops { first: writer, second: reader, fragment })
        }
        (from, to) if [from, to].contains(&OpRole::Copy) => {
            let is_filled = from == OpRole::Copy;
            let (copy, nest) = if is_filled { (writer, reader) } else { (reader, writer) };
            let memory = program.operand(copy, usize::from(!is_filled))?;
            let fits = program.role(nest) == OpRole::Parallel
                && is_whole_copy(program, copy)
                && follows(program, writer, reader)
                && match is_filled {
                    true => loads_alone(program, nest, fragment),
                    false => stores_once(program, nest, fragment),
                }
                && keeps_copied(program, nest, memory, !is_filled);
            fits.then_some(Found::Copy { copy, fragment, memory })
        }
        _ => None,
    }
}

/// The one operation that writes a fragment, and the one that reads it: nests of loops, or copies.
fn ends(program: &Program<'_, '_>, fragment: Value) -> Option<(Op, Op)> {
    let (mut writer, mut reader) = (None, None);
    for user in program.uses(fragment).filter_map(|place| program.user(place)) {
        let writes = match program.role(user) {
            OpRole::ElementLoad => false,
            OpRole::ElementStore => true,
            OpRole::Copy => program.operand(user, 1) == Some(fragment),
            _ => return None,
        };
        let place = match program.role(user) {
            OpRole::Copy => user,
            _ => outermost(program, user)?,
        };
        let end = if writes { &mut writer } else { &mut reader };
        if *end.get_or_insert(place) != place {
            return None;
        }
    }
    let (writer, reader) = (writer?, reader?);
    (writer != reader).then_some((writer, reader))
}

/// The outermost loop of the nest of parallel ones around an operation.
fn outermost(program: &Program<'_, '_>, op: Op) -> Option<Op> {
    let around = core::iter::successors(program.parent(op), |at| program.parent(*at));
    around.filter(|at| program.role(*at) == OpRole::Parallel).last()
}

/// Whether an operation stands behind another one with nothing between them that touches memory.
fn follows(program: &Program<'_, '_>, first: Op, second: Op) -> bool {
    let mut behind = core::iter::successors(program.next(first), |at| program.next(*at));
    let found = behind.find(|op| {
        let passes = matches!(program.role(*op), OpRole::Alloc | OpRole::Constant | OpRole::Index);
        !passes
    });
    found == Some(second)
}

/// The counters of a nest and its innermost body.
fn counters(program: &Program<'_, '_>, nest: Op) -> heapless::Vec<Value, RANK> {
    let own = program.nest(nest).filter_map(|part| program.counted_loop(part));
    let mut out = heapless::Vec::new();
    for at in own {
        let _ = out.push(at.induction);
    }
    out
}

/// Whether two nests count the same, on the same threads, and nothing is written about how.
fn are_alike(program: &Program<'_, '_>, first: Op, second: Op) -> bool {
    let written = |nest: Op| WRITTEN.iter().any(|key| program.has_attr(nest, key));
    let bounds = |nest: Op| {
        program.nest(nest).map(|part| {
            let at = program.counted_loop(part)?;
            Some((program.int(at.lower)?, program.int(at.upper)?, program.int(at.step)?))
        })
    };
    let threads = |nest: Op| program.attr(nest, attr_names::THREADS);
    !written(first)
        && !written(second)
        && program.nest(first).count() < RANK
        && bounds(first).eq(bounds(second))
        && bounds(first).all(|bound| bound.is_some())
        && threads(first) == threads(second)
}

/// The nest of an access, and its innermost body is where it stands.
fn is_in_body(program: &Program<'_, '_>, nest: Op, access: Op) -> bool {
    let inner = program.nest(nest).last().unwrap_or(nest);
    program.block_of(access) == program.body(inner)
}

/// Whether an access is at the counters of its nest, in order, of a buffer whose extents they count.
fn is_identity(program: &Program<'_, '_>, nest: Op, access: Op, number: usize) -> bool {
    let Some(buffer) = program.operand(access, number) else { return false };
    let own = counters(program, nest);
    let extents = program.nest(nest).map(|part| {
        let at = program.counted_loop(part)?;
        let (lower, step) = (program.int(at.lower)?, program.int(at.step)?);
        program.int(at.upper).filter(|_| (lower, step) == (0, 1))
    });
    let shape = program.type_of(buffer).shape;
    let wanted = shape.iter().map(|extent| extent.map(i64::from));
    program.subscripts(access, number).eq(own.iter().copied()) && extents.eq(wanted)
}

/// Whether a nest stores each element of a fragment once, in every iteration.
fn stores_once(program: &Program<'_, '_>, nest: Op, fragment: Value) -> bool {
    let users = program.uses(fragment).filter_map(|place| program.user(place));
    let mut own = users.filter(|user| program.is_inside(*user, nest));
    let Some(store) = own.next() else { return false };
    let stored = program.operand(store, 0).map(|value| program.type_of(value).dtype);
    own.next().is_none()
        && program.role(store) == OpRole::ElementStore
        && program.operand(store, 1) == Some(fragment)
        && stored == Some(program.type_of(fragment).dtype)
        && is_in_body(program, nest, store)
        && is_identity(program, nest, store, 1)
}

/// Whether a nest does nothing with a fragment but load the element of each iteration.
fn loads_alone(program: &Program<'_, '_>, nest: Op, fragment: Value) -> bool {
    let mut users = program.uses(fragment).filter_map(|place| program.user(place));
    users.all(|user| {
        !program.is_inside(user, nest)
            || program.role(user) == OpRole::ElementLoad && is_identity(program, nest, user, 0)
    })
}

/// An access to memory: the operation, the buffer, its number among the operands, and whether it
/// writes.
type MemoryAccess = (Op, Value, usize, bool);

/// The accesses of a nest to memory; `None` if there are too many, or others than loads and stores.
fn accesses(program: &Program<'_, '_>, nest: Op) -> Option<heapless::Vec<MemoryAccess, ACCESSES>> {
    let mut out = heapless::Vec::new();
    for op in program.inside(nest) {
        let (number, writes) = match program.role(op) {
            OpRole::ElementLoad => (0, false),
            OpRole::ElementStore => (1, true),
            OpRole::Parallel | OpRole::For | OpRole::If | OpRole::Yield => continue,
            OpRole::Index | OpRole::Constant | OpRole::Elementwise | OpRole::Select => continue,
            _ => return None,
        };
        let buffer = program.operand(op, number)?;
        if !program.type_of(buffer).is_fragment() {
            out.push((op, buffer, number, writes)).ok()?;
        }
    }
    Some(out)
}

/// Whether two buffers may share memory: tensors of the caller may, tiles only under two names.
fn may_meet(program: &Program<'_, '_>, a: Value, b: Value) -> bool {
    let space = |value: Value| program.type_of(value).space;
    let shared = |value: Value| space(value) == Some(Space::Shared);
    match (shared(a), shared(b)) {
        (false, false) => true,
        (true, true) => program.storage_of(a) == program.storage_of(b),
        _ => false,
    }
}

/// Whether two nests can turn iteration by iteration: memory that one writes and the other touches
/// is tensors by different names, at the same place of each iteration.
fn keeps_memory(program: &Program<'_, '_>, first: Op, second: Op, fragment: Value) -> bool {
    let (Some(before), Some(behind)) = (accesses(program, first), accesses(program, second)) else {
        return false;
    };
    // Other fragments that both touch: what one iteration writes another one may read.
    let fragments = |nest: Op| {
        let users = program.inside(nest);
        users.filter_map(|op| match program.role(op) {
            OpRole::ElementLoad => program.operand(op, 0),
            OpRole::ElementStore => program.operand(op, 1),
            _ => None,
        })
    };
    let is_other = |value: &Value| *value != fragment && program.type_of(*value).is_fragment();
    let apart = fragments(first).filter(is_other).all(|own| {
        let storage = program.storage_of(own);
        fragments(second).filter(is_other).all(|other| program.storage_of(other) != storage)
    });
    apart
        && before.iter().all(|one| {
            behind.iter().all(|two| {
                let writes = one.3 || two.3;
                !writes
                    || !may_meet(program, one.1, two.1)
                    || program.storage_of(one.1) != program.storage_of(two.1)
                        && is_same_place(program, (first, one), (second, two))
            })
        })
}

/// Whether a nest touches a tensor that is copied, under other names too, only at the place of each
/// iteration's element; `is_written`: it will store there what a copy would bring.
fn keeps_copied(program: &Program<'_, '_>, nest: Op, memory: Value, is_written: bool) -> bool {
    let Some(own) = accesses(program, nest) else { return false };
    let shape = |value: Value| program.type_of(value).shape;
    own.iter().all(|(op, buffer, number, writes)| {
        (!*writes && !is_written)
            || !may_meet(program, *buffer, memory)
            || program.storage_of(*buffer) != program.storage_of(memory)
                && shape(*buffer) == shape(memory)
                && program.type_of(*buffer).dtype == program.type_of(memory).dtype
                && is_in_body(program, nest, *op)
                && is_identity(program, nest, *op, *number)
    })
}

/// Whether two accesses reach the same place in each iteration, and another one in each: rows and
/// columns are the counters, each once, in tensors of one shape.
fn is_same_place(
    program: &Program<'_, '_>,
    (first, one): (Op, &MemoryAccess),
    (second, two): (Op, &MemoryAccess),
) -> bool {
    let types = (program.type_of(one.1), program.type_of(two.1));
    let own = (counters(program, first), counters(program, second));
    let number = |counters: &[Value], value: Value| counters.iter().position(|own| *own == value);
    let mut left = program.subscripts(one.0, one.2);
    let mut right = program.subscripts(two.0, two.2);
    let mut seen: heapless::Vec<usize, RANK> = heapless::Vec::new();
    loop {
        let (a, b) = match (left.next(), right.next()) {
            (Some(a), Some(b)) => (a, b),
            (None, None) => break,
            _ => return false,
        };
        match (number(&own.0, a), number(&own.1, b)) {
            (Some(a), Some(b)) if a == b && !seen.contains(&a) => {
                if seen.push(a).is_err() {
                    return false;
                }
            }
            (None, None)
                if a == b || program.int(a).is_some() && program.int(a) == program.int(b) => {}
            _ => return false,
        }
    }
    types.0.shape == types.1.shape && types.0.dtype == types.1.dtype && seen.len() == own.0.len()
}

/// Whether a copy moves all of a buffer as it is, by itself.
fn is_whole_copy(program: &Program<'_, '_>, copy: Op) -> bool {
    let (Some(from), Some(to)) = (program.operand(copy, 0), program.operand(copy, 1)) else {
        return false;
    };
    let (own, other) = (program.type_of(from), program.type_of(to));
    let plain = (0..2).all(|number| program.subscripts(copy, number).next().is_none());
    let said = WRITTEN.iter().chain(&[attr_names::THREADS]).any(|key| program.has_attr(copy, key));
    let ends = [from, to];
    let fragments = ends.iter().filter(|value| program.type_of(**value).is_fragment());
    plain && !said && own.shape == other.shape && own.dtype == other.dtype && fragments.count() == 1
}

/// Puts the body of the first loop in front of that of the second, and what it stores in the place
/// of what that loads.
fn fuse(program: &mut Program<'_, '_>, first: Op, second: Op, fragment: Value) -> Option<()> {
    let (own, other) = (counters(program, first), counters(program, second));
    for (own, other) in own.iter().zip(&other) {
        program.replace_all_uses(*own, *other).ok()?;
    }
    let body = |program: &Program<'_, '_>, nest: Op| {
        let inner = program.nest(nest).last().unwrap_or(nest);
        program.body(inner)
    };
    let from = body(program, first)?;
    let anchor = body(program, second).and_then(|block| program.first(block))?;
    while let Some(op) = program.first(from).filter(|op| program.role(*op) != OpRole::Yield) {
        program.move_before(op, anchor).ok()?;
    }
    let users = |program: &Program<'_, '_>, role: OpRole| {
        let mut users = program.uses(fragment).filter_map(|place| program.user(place));
        users.find(|user| program.role(*user) == role)
    };
    let store = users(program, OpRole::ElementStore)?;
    let value = program.operand(store, 0)?;
    while let Some(load) = users(program, OpRole::ElementLoad) {
        let loaded = program.result(load, 0)?;
        program.replace_all_uses(loaded, value).ok()?;
        program.erase(load).ok()?;
    }
    program.erase(store).ok()?;
    program.erase(first).ok()?;
    program.erase(program.def_op(fragment)?).ok()
}

/// Lets a loop load from memory, or store there, what a copy would bring.
fn elide(program: &mut Program<'_, '_>, copy: Op, fragment: Value, memory: Value) -> Option<()> {
    program.erase(copy).ok()?;
    let access = |program: &Program<'_, '_>| {
        program.uses(fragment).next().and_then(|place| program.user(place))
    };
    while let Some(user) = access(program) {
        let number = usize::from(program.role(user) == OpRole::ElementStore);
        program.set_operand(user, number, memory).ok()?;
    }
    program.erase(program.def_op(fragment)?).ok()
}
