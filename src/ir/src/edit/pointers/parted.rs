//! By how much the elements of a tile are moved in 64 bits: what is the same for all of them, a number
//! of 64 bits, and what is left of each, which lies near.

use crate::attr_names;
use crate::edit::edit_ops::Edit;
use crate::edit::insert::{
    PARTS, WorkedPart, filled, made, made_named, missing, sign_extended, word, work_out, worked,
};
use crate::edit::on_tiles::index_twin;
use crate::edit::pointers::far;
use crate::edit::pointers::is_long;
use crate::error::ErrorKind;
use crate::handle::{Op, Value};
use crate::program::Program;
use crate::types::Type;
use heapless::Vec;
use lanebook_tables::{IndexWord, OpRole};

/// Most tiles that one is computed of.
const SOURCES: usize = PARTS;

/// The parts of a tile of numbers of 64 bits: their sum.
#[derive(Copy, Clone)]
pub(super) struct Parted {
    /// One number of 64 bits.
    pub(super) uniform: Option<Value>,
    /// A tile of numbers of 32 bits.
    pub(super) rest: Option<Value>,
}

/// Takes a tile of numbers of 64 bits apart before an operation. What is left of its elements lies
/// within reach of 32 bits, as the contract says; sums of tiles of 32 bits are no more than these
/// hold.
pub(super) fn parted(program: &mut Program<'_, '_>, op: Op, tile: Value) -> Edit<Parted> {
    if !sources_fit(program, tile) {
        return leaf(program, op, tile);
    }
    work_out(tile, |at, known| {
        let of = sources(program, at);
        if let Some(first) = missing(known, of.into_iter().flatten()) {
            return Ok(WorkedPart::After(first));
        }
        let parts = of.map(|of| worked(known, of?));
        computed(program, op, at, parts).map(WorkedPart::Done)
    })
}

/// Whether there is room for all that a tile is computed of.
fn sources_fit(program: &Program<'_, '_>, tile: Value) -> bool {
    let mut all: Vec<Value, SOURCES> = Vec::new();
    let mut next = 0usize;
    if all.push(tile).is_err() {
        return false;
    }
    while let Some(&at) = all.get(next) {
        next = next.saturating_add(1);
        for source in sources(program, at).into_iter().flatten() {
            if !all.contains(&source) && all.push(source).is_err() {
                return false;
            }
        }
    }
    true
}

/// What an operation does to parts.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Way {
    /// A number in all elements.
    Fills,
    /// The same elements elsewhere: repeated, or in another layout.
    Moves,
    Widens,
    Adds,
    Subtracts,
    Multiplies,
    /// None of these.
    Other,
}

fn way(program: &Program<'_, '_>, tile: Value) -> Way {
    let Some(def) = program.def_op(tile) else { return Way::Other };
    let is_number = program.operand(def, 0).is_some_and(|of| program.int(of).is_some());
    match program.role(def) {
        OpRole::Constant if is_number => return Way::Fills,
        OpRole::Broadcast if program.repeated_number(def).is_some() => return Way::Fills,
        OpRole::Broadcast if only_axis(program, def) => return Way::Moves,
        OpRole::Convert if program.attrs(def).next().is_none() => return Way::Moves,
        _ if sign_extended(program, tile).is_some() => return Way::Widens,
        _ => {}
    }
    let twin = index_twin(program, def).and_then(|twin| program.tables().op(twin)?.index);
    match twin {
        Some(IndexWord::Add) => Way::Adds,
        Some(IndexWord::Sub) => Way::Subtracts,
        // Of 32 bits it may be more than these hold.
        Some(IndexWord::Mul) if is_long(program, &program.type_of(tile)) => Way::Multiplies,
        _ => Way::Other,
    }
}

fn only_axis(program: &Program<'_, '_>, op: Op) -> bool {
    program.attrs(op).all(|attr| program.text(attr.key) == attr_names::AXIS)
}

/// The tiles whose parts a tile's are made of.
fn sources(program: &Program<'_, '_>, tile: Value) -> [Option<Value>; 2] {
    let Some(def) = program.def_op(tile) else { return [None; 2] };
    match way(program, tile) {
        Way::Fills | Way::Other => [None; 2],
        Way::Moves | Way::Widens => [program.operand(def, 0), None],
        _ => [program.operand(def, 0), program.operand(def, 1)],
    }
}

/// What is not taken apart: the lower halves.
fn leaf(program: &mut Program<'_, '_>, op: Op, tile: Value) -> Edit<Parted> {
    let ty = program.type_of(tile);
    if !is_long(program, &ty) {
        return Ok(Parted { uniform: None, rest: Some(tile) });
    }
    let ty = Type { dtype: word(program), ..ty };
    let rest = made_named(program, op, "arith.trunci", &[tile], ty)?;
    Ok(Parted { uniform: None, rest: Some(rest) })
}

fn computed(
    program: &mut Program<'_, '_>,
    op: Op,
    tile: Value,
    parts: [Option<Parted>; 2],
) -> Edit<Parted> {
    let def = program.def_op(tile);
    match (way(program, tile), def, parts) {
        (Way::Fills, Some(def), _) => {
            let number = program.operand(def, 0).ok_or(ErrorKind::Broken)?;
            let uniform = match program.int(number) {
                Some(0) => None,
                Some(number) => Some(filled(program, op, number, far::long(program)?)?),
                None => Some(far::widened(program, op, number)?),
            };
            Ok(Parted { uniform, rest: None })
        }
        (Way::Widens, _, [Some(own), _]) => Ok(own),
        (Way::Moves, Some(def), [Some(own), _]) => {
            let Some(rest) = own.rest else { return Ok(own) };
            let decl = program.decl_id(def).ok_or(ErrorKind::UnknownOp)?;
            let ty = Type { dtype: word(program), ..program.type_of(tile) };
            let moved = made(program, op, decl, &[rest], ty)?;
            let new = program.def_op(moved).ok_or(ErrorKind::Broken)?;
            if let Some(axis) = program.attr(def, attr_names::AXIS) {
                program.set_attr(new, attr_names::AXIS, axis)?;
            }
            Ok(Parted { rest: Some(moved), ..own })
        }
        (own @ (Way::Adds | Way::Subtracts), _, [Some(a), Some(b)]) => {
            let ty = Type { dtype: word(program), ..program.type_of(tile) };
            let is_less = own == Way::Subtracts;
            let word = if is_less { IndexWord::Sub } else { IndexWord::Add };
            let uniform = match (a.uniform, b.uniform) {
                (Some(a), Some(b)) => Some(far::combined(program, op, word, [a, b])?),
                (None, Some(b)) if is_less => {
                    let zero = filled(program, op, 0, far::long(program)?)?;
                    Some(far::combined(program, op, word, [zero, b])?)
                }
                (a, b) => a.or(b),
            };
            let rest = paired(program, op, (a.rest, b.rest), (is_less, ty))?;
            Ok(Parted { uniform, rest })
        }
        (Way::Multiplies, _, [Some(a), Some(b)]) => product(program, op, tile, [a, b]),
        _ => leaf(program, op, tile),
    }
}

/// The sum or difference of what is left of two tiles, one of which may have nothing left.
fn paired(
    program: &mut Program<'_, '_>,
    op: Op,
    (a, b): (Option<Value>, Option<Value>),
    (is_less, ty): (bool, Type),
) -> Edit<Option<Value>> {
    let name = if is_less { "sub" } else { "add" };
    let decl = program.tables().op_named(name).ok_or(ErrorKind::UnknownOp)?;
    match (a, b) {
        (Some(a), Some(b)) => made(program, op, decl, &[a, b], ty).map(Some),
        (None, Some(b)) if is_less => {
            let zero = filled(program, op, 0, ty)?;
            made(program, op, decl, &[zero, b], ty).map(Some)
        }
        (a, b) => Ok(a.or(b)),
    }
}

/// A product of which one factor is the same in all elements; else it is not taken apart.
fn product(
    program: &mut Program<'_, '_>,
    op: Op,
    tile: Value,
    [a, b]: [Parted; 2],
) -> Edit<Parted> {
    let (by, of) = match (a.rest, b.rest) {
        (None, _) => (a, b),
        (_, None) => (b, a),
        _ => return leaf(program, op, tile),
    };
    let Some(by) = by.uniform else { return Ok(Parted { uniform: None, rest: None }) };
    let whole = word(program).ok_or(ErrorKind::UnknownOp)?;
    let uniform = match of.uniform {
        Some(of) => Some(far::combined(program, op, IndexWord::Mul, [of, by])?),
        None => None,
    };
    let rest = match of.rest {
        Some(of) => {
            let near = made_named(program, op, "arith.trunci", &[by], Type::scalar(whole))?;
            let ty = Type { dtype: Some(whole), ..program.type_of(tile) };
            let filled = made_named(program, op, "broadcast", &[near], ty)?;
            Some(made_named(program, op, "mul", &[of, filled], ty)?)
        }
        None => None,
    };
    Ok(Parted { uniform, rest })
}
