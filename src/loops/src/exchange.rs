//! What a loop accesses and no layout of it owns: through shared memory, where the program allows
//! that.
use lanebook_ir::{AttrValue, Block, Op, Program, Type, Value, attr_names};
use lanebook_tables::{OpRole, Space};

/// The word that allows it.
const ALLOW: &str = "allow";

/// Whether a parallel loop, or a copy, says `exchange = allow`.
#[must_use]
pub(crate) fn may_exchange(program: &Program<'_, '_>, nest: Op) -> bool {
    match program.attr(nest, attr_names::EXCHANGE) {
        Some(AttrValue::Word(word) | AttrValue::Str(word)) => program.text(word) == ALLOW,
        _ => false,
    }
}

/// Lets a parallel loop that says `exchange = allow` access a fragment as a shared tile of its
/// shape: into that the fragment is copied before the loop, and out of it behind the loop if the
/// loop writes it; that tile. The loop's layout is then no matter of the fragment's. Of a loop that
/// reads the fragment and writes it as well, it is another one that the loop only writes, if there
/// is one: that costs less.
///
/// What the loop accesses by other names of the same storage, it accesses as views of that tile.
///
/// `None`, and the program as it was: the loop does not say so, does not access this fragment, the
/// program has too little room.
///
/// ```
/// use lanebook::TABLES;
/// use lanebook::ir::{Options, SmallStorage, parse};
/// use lanebook::loops::exchange;
///
/// let text = "func @turned(%A: memref<4x16xf32>, %B: memref<16x4xf32>) {threads = 64} {
///   %f = alloc_tensor : tensor<4x16xf32, #fragment, {thread = v0 * 16 + v1, index = 0}>
///   copy %A, %f
///   parallel (%i, %j) in (16, 4) attributes {layout = {thread = v0 * 4 + v1, index = 0}, exchange = allow} {
///     %x = memref.load %f[%j, %i]
///     memref.store %x, %B[%i, %j]
///   }
/// }";
/// let mut pools = Box::new(SmallStorage::new());
/// let mut program = parse(pools.pools(), &TABLES, text, Options::default()).unwrap();
/// let function = program.function("turned").unwrap();
/// let fragment = program.result(program.inside(function).next().unwrap(), 0).unwrap();
/// let nest = program.inside(function).nth(2).unwrap();
/// // Inference rejects this loop (`Reason::NotOwner`); asked again after this it finds layouts.
/// let tile = exchange(&mut program, nest, fragment).unwrap();
/// assert_eq!(program.uses(tile).count(), 2);
/// assert_eq!(exchange(&mut program, nest, fragment), None);
/// ```
#[must_use]
pub fn exchange(program: &mut Program<'_, '_>, nest: Op, fragment: Value) -> Option<Value> {
    if !may_exchange(program, nest) {
        return None;
    }
    match program.role(nest) {
        OpRole::Parallel => {}
        OpRole::Copy => return kept(program, |program| copied(program, nest, fragment)),
        _ => return None,
    }
    let is_read = access_of(program, nest, fragment, OpRole::ElementLoad).is_some();
    let is_written = access_of(program, nest, fragment, OpRole::ElementStore).is_some();
    let fragment = match (is_read, is_written) {
        (false, false) => return None,
        (true, true) => only_written(program, nest).unwrap_or(fragment),
        _ => fragment,
    };
    if !program.type_of(fragment).is_fragment() {
        return None;
    }
    kept(program, |program| match has_another_name(program, nest, fragment) {
        true => exchanged_storage(program, nest, program.storage_of(fragment)),
        false => exchanged(program, nest, fragment),
    })
}

/// Lets elements of a fragment that all threads read outside of parallel loops come from a shared tile
/// of its shape, into which the fragment is copied right before, where the load says
/// `exchange = allow`; how many there are.
///
/// ```
/// use lanebook::TABLES;
/// use lanebook::ir::{Options, SmallStorage, parse};
/// use lanebook::loops::exchange_uniform;
///
/// let text = "func @guarded(%M: memref<8xi32>, %C: memref<64xf32>) {threads = 64} {
///   %m = alloc_tensor : tensor<8xi32, #fragment, {thread = v0, index = 0}>
///   copy %M, %m
///   %x = memref.load %m[3] {exchange = allow} : i32
///   %c = compare.sge %x, 0 : i32 -> i1
///   scf.if %c {
///     fill 1.0, %C
///   }
/// }";
/// let mut pools = Box::new(SmallStorage::new());
/// let mut program = parse(pools.pools(), &TABLES, text, Options::default()).unwrap();
/// let function = program.function("guarded").unwrap();
/// let fragment = program.result(program.inside(function).next().unwrap(), 0).unwrap();
/// assert_eq!(exchange_uniform(&mut program, function, fragment), 1);
/// assert_eq!(exchange_uniform(&mut program, function, fragment), 0);
/// ```
pub fn exchange_uniform(program: &mut Program<'_, '_>, function: Op, fragment: Value) -> usize {
    let mut count = 0usize;
    while let Some(load) = uniform_load(program, function, fragment)
        && kept(program, |program| through_tile(program, load, fragment)).is_some()
    {
        count = count.saturating_add(1);
    }
    count
}

/// A load of a fragment outside of parallel loops that may go through shared memory.
fn uniform_load(program: &Program<'_, '_>, function: Op, fragment: Value) -> Option<Op> {
    let mut loads = program.inside(function).filter(|op| {
        program.role(*op) == OpRole::ElementLoad && accessed(program, *op) == Some(fragment)
    });
    let is_outside = |op: Op| {
        let mut around = core::iter::successors(program.parent(op), |at| program.parent(*at));
        around.all(|at| program.role(at) != OpRole::Parallel)
    };
    loads.find(|load| may_exchange(program, *load) && is_outside(*load))
}

/// Lets one load read a shared tile.
fn through_tile(program: &mut Program<'_, '_>, load: Op, fragment: Value) -> Option<Value> {
    let copy = program.tables().op_of_role(OpRole::Copy)?;
    let tile = shared_tile(program, load, fragment)?;
    program.insert_before(load, copy, &[fragment, tile], &[]).ok()?;
    program.set_operand(load, 0, tile).ok()?;
    Some(tile)
}

/// An edit that happens as a whole, or not at all.
fn kept<'p, 't>(
    program: &mut Program<'p, 't>,
    edit: impl FnOnce(&mut Program<'p, 't>) -> Option<Value>,
) -> Option<Value> {
    let mark = program.mark();
    let done = edit(program);
    match done {
        Some(_) => program.keep(mark),
        None => program.undo(mark),
    }
    done
}

/// Lets a copy that has a fragment on one side have a shared tile of its shape there.
fn copied(program: &mut Program<'_, '_>, copy: Op, fragment: Value) -> Option<Value> {
    let decl = program.tables().op_of_role(OpRole::Copy)?;
    let (from, to) = (program.operand(copy, 0)?, program.operand(copy, 1)?);
    if !program.type_of(fragment).is_fragment()
        || program.storage_of(from) == program.storage_of(to)
    {
        return None;
    }
    let number = [from, to].iter().position(|side| *side == fragment)?;
    let tile = shared_tile(program, copy, fragment)?;
    // Of what the copy writes in part the rest stays.
    let is_whole = program.subscripts(copy, number).next().is_none()
        && program.type_of(from).shape == program.type_of(to).shape;
    if number == 0 || !is_whole {
        program.insert_before(copy, decl, &[fragment, tile], &[]).ok()?;
    }
    program.set_operand(copy, number, tile).ok()?;
    if number == 1 {
        copy_behind(program, copy, (tile, fragment))?;
    }
    Some(tile)
}

/// A shared tile of a fragment's shape and elements. It stands once, whatever is around the
/// operation.
fn shared_tile(program: &mut Program<'_, '_>, at: Op, fragment: Value) -> Option<Value> {
    let alloc = program.tables().op_of_role(OpRole::Alloc)?;
    let ty = program.type_of(fragment);
    let ty = Type::tensor(ty.shape, ty.dtype?).in_space(Space::Shared);
    let function = core::iter::successors(Some(at), |at| program.parent(*at)).last()?;
    let first = program.body(function).and_then(|body| program.first(body))?;
    let tile = program.insert_before(first, alloc, &[], &[ty]).ok()?;
    program.result(tile, 0)
}

/// A copy right behind an operation.
fn copy_behind(program: &mut Program<'_, '_>, op: Op, (from, to): (Value, Value)) -> Option<()> {
    let copy = program.tables().op_of_role(OpRole::Copy)?;
    match program.next(op) {
        Some(next) => program.insert_before(next, copy, &[from, to], &[]).ok()?,
        None => {
            let block = program.block_of(op)?;
            program.append(block, copy, &[from, to], &[]).ok()?
        }
    };
    Some(())
}

fn exchanged(program: &mut Program<'_, '_>, nest: Op, fragment: Value) -> Option<Value> {
    let copy = program.tables().op_of_role(OpRole::Copy);
    let tile = shared_tile(program, nest, fragment)?;
    let store = access_of(program, nest, fragment, OpRole::ElementStore);
    let is_read = access_of(program, nest, fragment, OpRole::ElementLoad).is_some();
    // What the loop reads is what stood there, whatever it writes.
    if is_read || !store.is_some_and(|store| writes_all(program, nest, store)) {
        program.insert_before(nest, copy?, &[fragment, tile], &[]).ok()?;
    }
    if store.is_some() {
        copy_behind(program, nest, (tile, fragment))?;
    }
    for (role, number) in [(OpRole::ElementLoad, 0), (OpRole::ElementStore, 1)] {
        while let Some(access) = access_of(program, nest, fragment, role) {
            program.set_operand(access, number, tile).ok()?;
        }
    }
    Some(tile)
}

/// The same of a fragment's storage, which the loop accesses by several names: views of the tile.
fn exchanged_storage(program: &mut Program<'_, '_>, nest: Op, storage: Value) -> Option<Value> {
    let tables = program.tables();
    let [copy, view] = [OpRole::Copy, OpRole::View].map(|role| tables.op_of_role(role));
    let shared = |program: &Program<'_, '_>, of: Value| {
        let ty = program.type_of(of);
        Some(Type::tensor(ty.shape, ty.dtype?).in_space(Space::Shared))
    };
    let function = core::iter::successors(Some(nest), |at| program.parent(*at)).last()?;
    let first = program.body(function).and_then(|body| program.first(body))?;
    let tile = shared_tile(program, nest, storage)?;
    program.insert_before(nest, copy?, &[storage, tile], &[]).ok()?;
    let is_written = program.inside(nest).any(|op| {
        program.role(op) == OpRole::ElementStore
            && accessed(program, op).is_some_and(|of| program.storage_of(of) == storage)
    });
    if is_written {
        copy_behind(program, nest, (tile, storage))?;
    }
    let named = |program: &Program<'_, '_>| {
        let mut names = program.inside(nest).filter_map(|op| accessed(program, op));
        names.find(|of| program.storage_of(*of) == storage && program.type_of(*of).is_fragment())
    };
    while let Some(name) = named(program) {
        let seen = match name == storage {
            true => tile,
            false => {
                let ty = shared(program, name)?;
                let seen = program.insert_before(first, view?, &[tile], &[ty]).ok()?;
                program.result(seen, 0)?
            }
        };
        for (role, number) in [(OpRole::ElementLoad, 0), (OpRole::ElementStore, 1)] {
            while let Some(access) = access_of(program, nest, name, role) {
                program.set_operand(access, number, seen).ok()?;
            }
        }
    }
    Some(tile)
}

/// The buffer of an element that an operation loads or stores.
fn accessed(program: &Program<'_, '_>, op: Op) -> Option<Value> {
    match program.role(op) {
        OpRole::ElementLoad => program.operand(op, 0),
        OpRole::ElementStore => program.operand(op, 1),
        _ => None,
    }
}

/// A load, or a store, of the fragment inside of a loop.
fn access_of(program: &Program<'_, '_>, nest: Op, fragment: Value, role: OpRole) -> Option<Op> {
    let mut inside = program.inside(nest).filter(|op| program.role(*op) == role);
    inside.find(|op| accessed(program, *op) == Some(fragment))
}

/// A fragment that a loop writes and does not read.
fn only_written(program: &Program<'_, '_>, nest: Op) -> Option<Value> {
    let stores = program.inside(nest).filter(|op| program.role(*op) == OpRole::ElementStore);
    let mut written = stores.filter_map(|op| accessed(program, op));
    written.find(|buffer| {
        program.type_of(*buffer).is_fragment()
            && access_of(program, nest, *buffer, OpRole::ElementLoad).is_none()
            && !has_another_name(program, nest, *buffer)
    })
}

/// Whether a loop accesses the storage of a buffer by another name.
fn has_another_name(program: &Program<'_, '_>, nest: Op, buffer: Value) -> bool {
    program
        .inside(nest)
        .filter_map(|op| accessed(program, op))
        .any(|other| other != buffer && program.storage_of(other) == program.storage_of(buffer))
}

/// Whether a store writes all elements of its buffer: one with each point of the nest.
fn writes_all(program: &Program<'_, '_>, nest: Op, store: Op) -> bool {
    let inner = program.nest(nest).last().unwrap_or(nest);
    let own: Option<Block> = program.body(inner);
    let Some(buffer) = accessed(program, store) else { return false };
    let extents = program.type_of(buffer).shape;
    let mut counters = program.nest(nest).filter_map(|own| program.counted_loop(own));
    let mut subscripts = program.subscripts(store, 1);
    let all = extents.iter().all(|extent| {
        let (Some(own), Some(subscript)) = (counters.next(), subscripts.next()) else {
            return false;
        };
        let number = |value| program.int(value);
        own.induction == subscript
            && (number(own.lower), number(own.step)) == (Some(0), Some(1))
            && number(own.upper) == extent.map(i64::from)
    });
    program.block_of(store) == own && all
}
