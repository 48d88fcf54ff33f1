//! What a loop reads and no layout of it owns: through shared memory, where the program allows that.
use lanebook_ir::{AttrValue, Op, Program, Type, Value, attr_names};
use lanebook_tables::{OpRole, Space};

/// The word that allows it.
const ALLOW: &str = "allow";

/// Whether a parallel loop says `exchange = allow`.
#[must_use]
pub(crate) fn may_exchange(program: &Program<'_, '_>, nest: Op) -> bool {
    match program.attr(nest, attr_names::EXCHANGE) {
        Some(AttrValue::Word(word) | AttrValue::Str(word)) => program.text(word) == ALLOW,
        _ => false,
    }
}

/// Lets a parallel loop that says `exchange = allow` read a fragment from a shared tile of its shape, into which
/// the fragment is copied before the loop; that tile. The loop's layout is then no matter of the fragment's.
///
/// `None`, and the program as it was: the loop does not say so, does not read this fragment or writes it, the
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
    let reads = program.role(nest) == OpRole::Parallel
        && may_exchange(program, nest)
        && program.type_of(fragment).is_fragment()
        && load_of(program, nest, fragment).is_some();
    if !reads || writes(program, nest, fragment) {
        return None;
    }
    let mark = program.mark();
    match exchanged(program, nest, fragment) {
        Some(tile) => {
            program.keep(mark);
            Some(tile)
        }
        None => {
            program.undo(mark);
            None
        }
    }
}

fn exchanged(program: &mut Program<'_, '_>, nest: Op, fragment: Value) -> Option<Value> {
    let tables = program.tables();
    let [alloc, copy] = [OpRole::Alloc, OpRole::Copy].map(|role| tables.op_of_role(role));
    let ty = program.type_of(fragment);
    let ty = Type::tensor(ty.shape, ty.dtype?).in_space(Space::Shared);
    // Where it stands once, whatever is around the loop.
    let function = core::iter::successors(Some(nest), |at| program.parent(*at)).last()?;
    let first = program.body(function).and_then(|body| program.first(body))?;
    let tile = program.insert_before(first, alloc?, &[], &[ty]).ok()?;
    let tile = program.result(tile, 0)?;
    program.insert_before(nest, copy?, &[fragment, tile], &[]).ok()?;
    while let Some(load) = load_of(program, nest, fragment) {
        program.set_operand(load, 0, tile).ok()?;
    }
    Some(tile)
}

/// A load of the fragment inside of a loop.
fn load_of(program: &Program<'_, '_>, nest: Op, fragment: Value) -> Option<Op> {
    program.inside(nest).find(|op| {
        program.role(*op) == OpRole::ElementLoad && program.operand(*op, 0) == Some(fragment)
    })
}

/// Whether a loop writes what a buffer is, or looks at.
fn writes(program: &Program<'_, '_>, nest: Op, buffer: Value) -> bool {
    program.inside(nest).any(|op| {
        program.role(op) == OpRole::ElementStore
            && program.operand(op, 1).map(|to| program.storage_of(to))
                == Some(program.storage_of(buffer))
    })
}
