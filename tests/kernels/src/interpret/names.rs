//! Operations under other names than this language's own.

use lanebook::TABLES;

/// The name of an operation that has other spellings.
pub(super) fn canonical(op: &str) -> &str {
    TABLES.op_named(op).and_then(|id| TABLES.op(id)).map_or(op, |op| op.name)
}

/// MLIR's names of arithmetic on whole numbers, and those that tiles have here.
const ON_TILES: [(&str, &str); 7] = [
    ("arith.addi", "add"),
    ("arith.subi", "sub"),
    ("arith.muli", "mul"),
    ("arith.divsi", "divsi"),
    ("arith.divui", "divui"),
    ("arith.remsi", "remsi"),
    ("arith.remui", "remui"),
];

/// A statement on tiles under MLIR's name, as this language has it; `None` where it is another one.
pub(super) fn named_for_tiles(line: &str) -> Option<String> {
    let (head, ty) = line.rsplit_once(" : ").filter(|(_, ty)| ty.starts_with("tensor<"))?;
    let (result, rest) = head.split_once(" = ")?;
    let (op, operands) = rest.trim_start().split_once(' ')?;
    if let "arith.cmpi" | "arith.cmpf" = op {
        let (relation, operands) = operands.split_once(',')?;
        let (extents, _) = ty.rsplit_once('x')?;
        let relation = relation.trim();
        return Some(format!("{result} = compare.{relation}{operands} : {ty} -> {extents}xi1>"));
    }
    let (_, own) = ON_TILES.iter().find(|(name, _)| *name == op)?;
    Some(format!("{result} = {own} {operands} : {ty}"))
}
