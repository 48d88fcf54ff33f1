//! Reductions and scans that say in a region how two elements are combined, as Triton prints them:
//! as those that name it. A region of one operation is what that operation is; one that keeps the
//! greater or the less of two elements, and of equal ones the lesser place, is told by what it
//! makes of every order that two elements and two places can have.

use crate::attr::AttrValue;
use crate::attr_names;
use crate::edit::edit_ops::Edit;
use crate::edit::spellings::general;
use crate::error::ErrorKind;
use crate::handle::{Block, Op, Value};
use crate::program::Program;
use heapless::Vec;
use lanebook_tables::{AttrForm, DtypeId, DtypeKind, IndexWord, OpRole, RELATIONS};

/// Most values of a region that is told so.
const VALUES: usize = 24;

/// Lets an operation name what its region says; whether others stand in its place now, as no name
/// says it.
pub(super) fn name_region(program: &mut Program<'_, '_>, op: Op) -> Edit<bool> {
    let Some(body) = program.regions(op).next().and_then(|region| program.blocks(region).next())
    else {
        return Ok(false);
    };
    if program.has_attr(op, attr_names::KIND) {
        return Err(ErrorKind::CombinedTwice);
    }
    let kind = match program.operand_count(op) {
        1 => of_one(program, op, body),
        2 => [attr_names::ARGMAX, attr_names::ARGMIN]
            .into_iter()
            .find(|kind| takes(program, op, kind) && keeps(program, body, kind)),
        _ => None,
    };
    let Some(kind) = kind else {
        let is_done = general::lower(program, op, body)?;
        return if is_done { Ok(true) } else { Err(ErrorKind::Combination) };
    };
    let word = AttrValue::Word(program.word(kind)?);
    program.remove_last_region(op)?;
    program.set_attr(op, attr_names::KIND, word).map(|()| false)
}

/// Whether the contract has this kind of an operation.
fn takes(program: &Program<'_, '_>, op: Op, kind: &str) -> bool {
    let contract = program.tables().contract;
    let own = program.decl_id(op).and_then(|decl| contract.ops.get(decl.index()));
    let attr = own.and_then(|own| own.attrs.iter().find(|attr| attr.key == attr_names::KIND));
    matches!(attr.map(|attr| attr.form), Some(AttrForm::Word(words)) if words.contains(&kind))
}

/// The kind of a region that is one operation on both elements.
fn of_one(program: &Program<'_, '_>, op: Op, body: Block) -> Option<&'static str> {
    let end = program.terminator(body)?;
    let made = program.first(body).filter(|first| program.next(*first) == Some(end))?;
    let passed = program.operand(end, 0).filter(|_| program.operand_count(end) == 1)?;
    let mut arguments = program.arguments(body);
    let (a, b) = (arguments.next()?, arguments.next()?);
    let operands = [program.operand(made, 0)?, program.operand(made, 1)?];
    let is_both = operands == [a, b] || operands == [b, a];
    let is_plain = arguments.next().is_none() && program.operand_count(made) == 2;
    let says_more = program.attrs(made).chain(program.attrs(end)).next().is_some();
    if !is_both || !is_plain || says_more || program.result(made, 0) != Some(passed) {
        return None;
    }
    let dtype = program.type_of(program.operand(op, 0)?).dtype?;
    kind_of(program, made, dtype).filter(|kind| takes(program, op, kind))
}

/// The kind that an operation on two elements is: the one of its name, or what it does to indices.
fn kind_of(program: &Program<'_, '_>, op: Op, dtype: DtypeId) -> Option<&'static str> {
    let tables = program.tables();
    let kind = tables.dtype(dtype)?.kind;
    let (is_signed, is_plain) = (kind == DtypeKind::Signed, kind == DtypeKind::Unsigned);
    match program.index_word(op) {
        Some(IndexWord::Add) if is_signed || is_plain => Some(attr_names::ADD),
        Some(IndexWord::Mul) if is_signed || is_plain => Some(attr_names::MUL),
        Some(IndexWord::Max) if is_signed => Some(attr_names::MAX),
        Some(IndexWord::Min) if is_signed => Some(attr_names::MIN),
        Some(IndexWord::MaxUnsigned) if is_plain => Some(attr_names::MAX),
        Some(IndexWord::MinUnsigned) if is_plain => Some(attr_names::MIN),
        Some(_) => None,
        None => {
            let decl = program.decl_id(op)?;
            let own = [attr_names::ADD, attr_names::MUL, attr_names::MAX, attr_names::MIN];
            let bits = [attr_names::AND, attr_names::OR, attr_names::XOR];
            let mut all = own.into_iter().chain(bits);
            all.find(|kind| tables.op_named(kind) == Some(decl))
        }
    }
}

/// Whether a region keeps, of two elements with their places, the one that a kind keeps: in every
/// order that the two, and their places, can have. An element that is no number has no order.
fn keeps(program: &Program<'_, '_>, body: Block, kind: &str) -> bool {
    let is_greatest = kind == attr_names::ARGMAX;
    let pairs = [(0, 1), (1, 0), (1, 1)];
    pairs.into_iter().all(|(a, b)| {
        pairs.into_iter().all(|(of_a, of_b)| {
            let is_first = match a == b {
                true => of_a <= of_b,
                false => (a > b) == is_greatest,
            };
            let wanted = if is_first { [a, of_a] } else { [b, of_b] };
            passes(program, body, [a, of_a, b, of_b]) == Some(wanted)
        })
    })
}

/// What a region passes out where its arguments are these numbers; `None` of one that does more
/// than to compare and to choose.
fn passes(program: &Program<'_, '_>, body: Block, given: [i8; 4]) -> Option<[i8; 2]> {
    let mut known: Vec<(Value, i8), VALUES> = Vec::new();
    let mut arguments = program.arguments(body);
    for number in given {
        known.push((arguments.next()?, number)).ok()?;
    }
    if arguments.next().is_some() {
        return None;
    }
    for op in program.ops(body) {
        let of = |number: usize| {
            let value = program.operand(op, number)?;
            known.iter().find(|(known, _)| *known == value).map(|(_, number)| *number)
        };
        let is_relation = program.index_word(op) == Some(IndexWord::Compare);
        let is_known =
            |key: &str| is_relation && [attr_names::KIND, attr_names::PREFIX].contains(&key);
        if program.attrs(op).any(|attr| !is_known(program.text(attr.key))) {
            return None;
        }
        if program.role(op).is_terminator() {
            let both = program.operand_count(op) == 2;
            return Some([of(0)?, of(1)?]).filter(|_| both);
        }
        let made = made_of(program, op, [of(0)?, of(1)?, of(2).unwrap_or(0)])?;
        known.push((program.result(op, 0)?, made)).ok()?;
    }
    None
}

/// What an operation of such a region makes of numbers.
fn made_of(program: &Program<'_, '_>, op: Op, [a, b, c]: [i8; 3]) -> Option<i8> {
    let tables = program.tables();
    let dtype = program.type_of(program.operand(op, 0)?).dtype?;
    let kind = tables.dtype(dtype)?.kind;
    if program.index_word(op) == Some(IndexWord::Compare) {
        let [less, same, more] = match kind {
            // Whether one is no number is asked for what is kept then, which no kind says.
            DtypeKind::Float if program.operand(op, 0) == program.operand(op, 1) => return None,
            DtypeKind::Float => ordered(program, op)?,
            _ => {
                let (is_plain, holds) = program.relation(op)?;
                let equal = holds[0] == holds[2];
                holds_for(equal || is_plain == (kind == DtypeKind::Unsigned), holds)?
            }
        };
        return Some(i8::from(match a.cmp(&b) {
            core::cmp::Ordering::Less => less,
            core::cmp::Ordering::Equal => same,
            core::cmp::Ordering::Greater => more,
        }));
    }
    if program.role(op) == OpRole::Select {
        return Some(if a == 0 { c } else { b });
    }
    let decl = program.decl_id(op)?;
    let is = |name: &str| tables.op_named(name) == Some(decl);
    match () {
        () if kind != DtypeKind::Bits => None,
        () if is(attr_names::AND) => Some(a & b),
        () if is(attr_names::OR) => Some(a | b),
        () if is(attr_names::XOR) => Some(a ^ b),
        () => None,
    }
}

const fn holds_for(is_known: bool, holds: [bool; 3]) -> Option<[bool; 3]> {
    if is_known { Some(holds) } else { None }
}

/// When a relation of floats holds that holds for numbers alone: one that says more would keep others
/// than the kinds do.
fn ordered(program: &Program<'_, '_>, op: Op) -> Option<[bool; 3]> {
    let plain = program.relation_name(op)?.strip_prefix('o')?;
    RELATIONS.iter().find(|known| known.0 == plain).map(|(_, _, holds)| *holds)
}
