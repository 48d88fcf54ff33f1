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

/// Those of indices, which numbers of 32 bits are as well.
const ON_INDICES: [(&str, &str); 10] = [
    ("arith.addi", "index.add"),
    ("arith.subi", "index.sub"),
    ("arith.muli", "index.mul"),
    ("arith.divui", "index.divu"),
    ("arith.remui", "index.remu"),
    ("arith.maxsi", "index.max"),
    ("arith.minsi", "index.min"),
    ("arith.maxui", "index.maxu"),
    ("arith.minui", "index.minu"),
    ("arith.ceildivsi", "index.cdiv"),
];

/// A statement on numbers under MLIR's name, as this language has it: those of 32 bits are indices,
/// but what data is computed of.
fn named_for_numbers(
    result: &str,
    (op, operands): (&str, &str),
    ty: &str,
    is_open: impl Fn(&str) -> bool,
) -> Option<String> {
    let is_data = ty == "i32" && operands.split(',').any(|name| is_open(name.trim()));
    let is_word = matches!(ty, "i32" | "index") && !is_data;
    match op {
        "arith.cmpi" if is_word => Some(format!("{result} = index.cmp {operands} : index")),
        "arith.cmpi" | "arith.cmpf" => {
            let (relation, operands) = operands.split_once(',')?;
            Some(format!("{result} = compare.{}{operands} : {ty} -> i1", relation.trim()))
        }
        _ if is_word => {
            let (_, own) = ON_INDICES.iter().find(|(name, _)| *name == op)?;
            Some(format!("{result} = {own} {operands} : index"))
        }
        _ => {
            let (_, own) = ON_TILES.iter().find(|(name, _)| *name == op)?;
            Some(format!("{result} = {own} {operands} : {ty}"))
        }
    }
}

/// A statement on tiles under MLIR's name, as this language has it; `None` where it is another one.
/// `is_open`: whether a name is that of a number that nothing says yet.
pub(super) fn named_for_tiles(line: &str, is_open: impl Fn(&str) -> bool) -> Option<String> {
    let (head, ty) = line.rsplit_once(" : ")?;
    let (result, rest) = head.split_once(" = ")?;
    let (op, operands) = rest.trim_start().split_once(' ')?;
    if !ty.starts_with("tensor<") {
        return named_for_numbers(result, (op, operands), ty.trim(), is_open);
    }
    if let "arith.cmpi" | "arith.cmpf" = op {
        let (relation, operands) = operands.split_once(',')?;
        let (extents, _) = ty.rsplit_once('x')?;
        let relation = relation.trim();
        return Some(format!("{result} = compare.{relation}{operands} : {ty} -> {extents}xi1>"));
    }
    let (_, own) = ON_TILES.iter().find(|(name, _)| *name == op)?;
    Some(format!("{result} = {own} {operands} : {ty}"))
}
