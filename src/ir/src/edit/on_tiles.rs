//! Arithmetic of whole numbers under the names that indices have, on tiles: MLIR has one name for
//! both (`arith.addi`, `arith.cmpi slt, ..`). `rules/ops.ron` says which operation does it element
//! by element.

use crate::attr::AttrValue;
use crate::attr_names;
use crate::error::{ErrorKind, IrError, SourcePlace};
use crate::handle::{Op, Value};
use crate::program::Program;
use heapless::String;
use lanebook_tables::{DtypeKind, OpId, OpRole};

/// Lets operations on indices be those that do the same to tiles, where their operands are tiles.
///
/// # Errors
/// Room that ran out, at the operation's place.
#[inline(never)] // Its caller's own steps are deep.
pub(crate) fn compute_tiles(program: &mut Program<'_, '_>, kernel: Op) -> Result<(), IrError> {
    let mut next = program.inside(kernel).next();
    while let Some(op) = next {
        next = program.following(op, Some(kernel));
        let of = program.operand(op, 0);
        if let Some((decl, relation)) = of.and_then(|of| twin(program, op, of)) {
            let at = SourcePlace { op: None, ..program.place(op) };
            let done = program.set_decl(op, decl).and_then(|()| match relation {
                Some(key) => program.remove_attr(op, key),
                None => Ok(()),
            });
            done.map_err(|kind: ErrorKind| IrError { kind, at })?;
        }
    }
    Ok(())
}

/// The operation that does it to tiles, and the attribute that its name says then; `None` where an
/// operation is none on indices, or its operands are no tiles, or nothing does it.
pub(crate) fn twin(
    program: &Program<'_, '_>,
    op: Op,
    of: Value,
) -> Option<(OpId, Option<&'static str>)> {
    let operand = program.type_of(of);
    let is_tile = operand.is_tile() && !operand.is_memory();
    if is_tile { element_twin(program, op, of) } else { None }
}

/// The same, whether its operands are tiles or single elements.
pub(crate) fn element_twin(
    program: &Program<'_, '_>,
    op: Op,
    of: Value,
) -> Option<(OpId, Option<&'static str>)> {
    let decl = program.decl(op).filter(|decl| decl.role == OpRole::Index)?;
    let operand = program.type_of(of);
    if decl.tiles.is_empty() {
        return None;
    }
    let tables = program.tables();
    let dtype = operand.dtype.and_then(|dtype| tables.dtype(dtype))?;
    let Some(first) = decl.tiles.strip_suffix(RELATION) else {
        // Names of arithmetic are those of whole numbers alone.
        if dtype.kind == DtypeKind::Float {
            return None;
        }
        return Some((tables.op_named(decl.tiles)?, None));
    };
    // A relation that is said twice is said in vain once.
    let said = |key: &'static str| program.attr(op, key).map(|value| (key, value));
    let (key, value) = match (said(attr_names::KIND), said(attr_names::PREFIX)) {
        (Some(said), None) | (None, Some(said)) => said,
        _ => return None,
    };
    let (AttrValue::Word(word) | AttrValue::Str(word) | AttrValue::Text(word)) = value else {
        return None;
    };
    let mut name: String<NAME> = String::new();
    name.push_str(first).and_then(|()| name.push_str(program.text(word))).ok()?;
    Some((tables.op_named(&name)?, Some(key)))
}

/// Most bytes of an operation's name.
const NAME: usize = 64;

/// What stands for the relation in the name of what does it to tiles.
const RELATION: &str = "*";

/// The operation that does to indices what one does to elements.
pub(crate) fn index_twin(program: &Program<'_, '_>, op: Op) -> Option<OpId> {
    let (tables, decl) = (program.tables(), program.decl(op)?);
    if decl.role != OpRole::Elementwise || program.attrs(op).next().is_some() {
        return None;
    }
    if let Some(word) = program.index_word(op) {
        return tables.op_of_index(word);
    }
    let known = tables.ops.iter().find(|known| {
        known.role == OpRole::Index && !known.tiles.is_empty() && known.tiles == decl.name
    });
    known.and_then(|known| tables.op_named(known.name))
}
