//! Reductions of what lies in memory: through fragments, which are what threads reduce.
use lanebook_ir::{Op, Program, Type, attr_names};
use lanebook_tables::{OpRole, Space};

/// Lets each reduction in place of a function read and write fragments: an operand in shared memory
/// is copied into a fragment of its shape before it, a result in shared memory out of one behind
/// it. How many operands there were; the program is as it was where there is no room for all.
///
/// ```
/// use lanebook::TABLES;
/// use lanebook::ir::{Options, SmallStorage, parse};
/// use lanebook::loops::reduce_in_fragments;
///
/// let text = "func @sums(%A: memref<4x64xf32>, %B: memref<4xf32>) {threads = 64} {
///   %s = alloc_tensor : tensor<4x64xf32, #smem>
///   %f = alloc_tensor : tensor<4xf32, #fragment>
///   copy %A, %s
///   reduce_into %s, %f {axis = 1, kind = add}
///   copy %f, %B
/// }";
/// let mut pools = Box::new(SmallStorage::new());
/// let mut program = parse(pools.pools(), &TABLES, text, Options::default()).unwrap();
/// let function = program.function("sums").unwrap();
/// assert_eq!(reduce_in_fragments(&mut program, function), Some(1));
/// assert_eq!(reduce_in_fragments(&mut program, function), Some(0));
/// ```
#[must_use]
pub fn reduce_in_fragments(program: &mut Program<'_, '_>, function: Op) -> Option<usize> {
    let mark = program.mark();
    let mut count = 0usize;
    while let Some((op, number)) = in_memory(program, function) {
        if through_fragment(program, function, op, number).is_none() {
            program.undo(mark);
            return None;
        }
        count = count.saturating_add(1);
    }
    program.keep(mark);
    Some(count)
}

/// A reduction in place, and the number of an operand of it that lies in shared memory.
fn in_memory(program: &Program<'_, '_>, function: Op) -> Option<(Op, usize)> {
    let shared = |value| program.type_of(value).space == Some(Space::Shared);
    let of = |op: Op| {
        let number = program.operands(op).position(shared)?;
        Some((op, number))
    };
    program.inside(function).filter(|op| program.role(*op) == OpRole::ReduceInto).find_map(of)
}

fn through_fragment(
    program: &mut Program<'_, '_>,
    function: Op,
    op: Op,
    number: usize,
) -> Option<()> {
    let tables = program.tables();
    let [alloc, copy] = [OpRole::Alloc, OpRole::Copy].map(|role| tables.op_of_role(role));
    let tile = program.operand(op, number)?;
    let ty = program.type_of(tile);
    let ty = Type::tensor(ty.shape, ty.dtype?).in_space(Space::Register);
    let first = program.body(function).and_then(|body| program.first(body))?;
    let fragment = program.insert_before(first, alloc?, &[], &[ty]).ok()?;
    let fragment = program.result(fragment, 0)?;
    let moved = match (number, program.next(op)) {
        (0, _) => program.insert_before(op, copy?, &[tile, fragment], &[]).ok()?,
        (_, Some(next)) => program.insert_before(next, copy?, &[fragment, tile], &[]).ok()?,
        (_, None) => {
            let block = program.block_of(op)?;
            program.append(block, copy?, &[fragment, tile], &[]).ok()?
        }
    };
    // The threads that reduce it are those that move it.
    if let Some(threads) = program.attr(op, attr_names::THREADS) {
        program.set_attr(moved, attr_names::THREADS, threads).ok()?;
    }
    program.set_operand(op, number, fragment).ok()
}
