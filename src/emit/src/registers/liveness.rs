//! Liveness of registers: whether anything still reads what they hold.
//!
//! What decides is who reads the *registers*, not who uses one value: conversions that change
//! nothing, transpositions, carried values and results made in place give one home to several
//! values. Registers are free behind an operation when no value with that home is read after it, in
//! this turn of the loops around it or in a later one.

use crate::expr::Reg;
use crate::lower::context::LowerContext;
use lanebook_ir::{Block, Def, Op, Program, Value};
use lanebook_tables::OpRole;

/// Most repetitions that are followed from one value.
const REPEATED: usize = 12;

/// Whether two tuples have a register in common.
pub(crate) fn overlaps(a: Reg, b: Reg) -> bool {
    let end = |r: Reg| r.first.saturating_add(r.count);
    a.class == b.class && a.first < end(b) && b.first < end(a)
}

impl LowerContext<'_, '_, '_, '_> {
    /// Whether nothing reads registers after `op`: it may write its result over them, once it has
    /// read them itself.
    pub(crate) fn is_free_after(&self, op: Op, reg: Reg) -> bool {
        self.held
            .iter()
            .filter(|held| overlaps(held.reg, reg))
            .all(|held| !is_read_after(self.program, op, held.value))
    }
}

/// Whether anything reads a value's registers after `op` has read them: in this turn of the loops
/// around `op`, or in a later one.
fn is_read_after(program: &Program<'_, '_>, op: Op, value: Value) -> bool {
    let Some(home) = home_of(program, value) else { return false };
    // What is defined in a loop that is over, or by a loop that is not, is not there.
    let Some(around) = ancestor(program, op, home) else { return false };
    if around != op && program.def_op(value) == Some(around) {
        return false;
    }
    // A repeated tile has no registers: its readers find its elements in the smaller one's.
    let mut waiting: heapless::Vec<Value, REPEATED> = heapless::Vec::new();
    let mut next = Some(value);
    while let Some(value) = next {
        for user in program.uses(value).filter_map(|place| program.user(place)) {
            // Behind an operation inside of a loop its next turn comes, with all that reads values
            // from outside; the loop itself has read what it starts with.
            let is_later = match ancestor(program, user, home) {
                Some(at) if at == around => around != op && user != around,
                Some(at) => is_behind(program, around, at),
                None => true,
            };
            let repeated =
                program.result(user, 0).filter(|_| program.role(user) == OpRole::Broadcast);
            match repeated {
                Some(repeated) if waiting.push(repeated).is_err() => return true,
                Some(_) => {}
                None if is_later => return true,
                None => {}
            }
        }
        next = waiting.pop();
    }
    false
}

/// The block in which a value is there.
fn home_of(program: &Program<'_, '_>, value: Value) -> Option<Block> {
    match program.def(value) {
        Def::Result(op, _) => program.block_of(op),
        Def::Argument(block, _) => Some(block),
        _ => None,
    }
}

/// The operation of a block that is `op`, or that `op` stands inside of.
fn ancestor(program: &Program<'_, '_>, op: Op, block: Block) -> Option<Op> {
    core::iter::successors(Some(op), |at| program.parent(*at))
        .find(|at| program.block_of(*at) == Some(block))
}

/// Whether `later` stands behind `op` in the same block.
fn is_behind(program: &Program<'_, '_>, op: Op, later: Op) -> bool {
    core::iter::successors(program.next(op), |at| program.next(*at)).any(|at| at == later)
}

#[cfg(test)]
mod tests {
    use super::is_read_after;
    use lanebook::TABLES;
    use lanebook_ir::parse;
    use lanebook_ir::{Op, Options, Program, SmallStorage, Value};
    use std::boxed::Box;

    const TEXT: &str = "func @f(%X: memref<?x?xf32, #gmem>, %K: index) {threads = 32} {
  %x = tiled_load %X[0, 0] : memref<?x?xf32, #gmem> -> tensor<16x16xf32>
  %y = tiled_load %X[0, 0] : memref<?x?xf32, #gmem> -> tensor<16x16xf32>
  %r = reduce %y {axis = 1, kind = max} : tensor<16x16xf32> -> tensor<16xf32>
  %b = broadcast %r {axis = 1} : tensor<16xf32> -> tensor<16x16xf32>
  %p, %q = scf.for %k = 0 to %K step 16 iter_args(%u = %x, %v = %x) -> (tensor<16x16xf32>, tensor<16x16xf32>) {
    %c = add %u, %y : tensor<16x16xf32>
    %d = sub %c, %v : tensor<16x16xf32>
    %e = max %d, %d : tensor<16x16xf32>
    scf.yield %e, %u : tensor<16x16xf32>, tensor<16x16xf32>
  }
  %m = min %p, %q : tensor<16x16xf32>
  %n = add %m, %p : tensor<16x16xf32>
  %o = add %n, %b : tensor<16x16xf32>
  tiled_store %o, %X[0, 0] : tensor<16x16xf32> -> memref<?x?xf32, #gmem>
}";

    fn value(program: &Program<'_, '_>, name: &str) -> Value {
        let function = program.functions().next().expect("a function");
        let mut found = None;
        for op in program.inside(function) {
            found = found.or(program.results(op).find(|v| program.value_name(*v) == name));
            let arguments = program.body(op).into_iter().flat_map(|body| program.arguments(body));
            found = found.or(arguments.into_iter().find(|v| program.value_name(*v) == name));
        }
        found.unwrap_or_else(|| panic!("no %{name}"))
    }

    fn maker(program: &Program<'_, '_>, name: &str) -> Op {
        program.def_op(value(program, name)).expect("an operation")
    }

    #[test]
    fn who_reads_a_value_after_an_operation() {
        let mut pools = Box::new(SmallStorage::new());
        let program = parse(pools.pools(), &TABLES, TEXT, Options::default()).expect("it parses");
        for (name, op, is_read, why) in [
            ("x", "y", true, "a loop starts with it"),
            ("x", "c", false, "the loop has a copy of its own"),
            ("x", "m", false, "the loop is over"),
            ("y", "r", true, "the loop reads it"),
            ("y", "c", true, "the next turn reads it"),
            ("y", "e", true, "the next turn reads it"),
            ("y", "m", false, "the loop is over"),
            ("u", "c", true, "it is handed on"),
            ("v", "c", true, "it is read later in the turn"),
            ("v", "d", false, "the next turn has another"),
            ("c", "c", true, "it is read later in the turn"),
            ("c", "d", false, "the operation itself reads it"),
            ("d", "e", false, "only the operation itself reads it, twice"),
            ("e", "e", true, "it is handed on"),
            ("p", "c", false, "it is not there before the loop is over"),
            ("p", "m", true, "it is read after"),
            ("p", "n", false, "nobody reads it after"),
            ("q", "m", false, "nobody reads it after"),
            ("r", "b", true, "the repeated tile's reader reads it"),
            ("r", "n", true, "the repeated tile's reader reads it"),
            ("r", "o", false, "the repeated tile's only reader is the operation"),
        ] {
            assert_eq!(
                is_read_after(&program, maker(&program, op), value(&program, name)),
                is_read,
                "%{name} after %{op}: {why}"
            );
        }
    }
}
