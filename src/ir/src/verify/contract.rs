//! The contract of `compile` (`rules/contract.ron`): what a program writes that is not in it.
//!
//! Guarantees: what passes has only operations, operands, results, attributes, subscripts and
//! written layouts that the contract names, so that nothing is dropped behind it. Total, linear in
//! the program, no recursion, no large locals.
//!
//! Does not: judge types and shapes against each other ([`verify`](crate::verify()) does), or ask
//! what an architecture can do (planning does).
//!
//! ```
//! use lanebook::TABLES;
//! use lanebook::ir::contract::{At, Breach, BreachKind, ValueList, check, notation_of};
//! use lanebook::ir::SourcePlace;
//! use lanebook::ir::{Options, SmallStorage, parse};
//!
//! let mut storage = Box::new(SmallStorage::new());
//! // Well formed, but not what `compile` takes: the attribute has no meaning there.
//! let text = "func @f(%x: memref<?x64xf32, #gmem>) {threads = 64} {
//!   %a = tiled_load %x[0, 0] {speed = 9} : memref<?x64xf32, #gmem> -> tensor<64x64xf32>
//! }";
//! let program = parse(storage.pools(), &TABLES, text, Options::default()).unwrap();
//! let breach: Breach = check(&program, program.function("f").unwrap()).unwrap_err();
//! let (kind, at): (BreachKind, SourcePlace) = (breach.kind, breach.at);
//! let mut sentence = String::new();
//! breach.write_text(&mut sentence).unwrap();
//! let mut alone = String::new();
//! kind.write_text(&mut alone).unwrap();
//! assert!(sentence.contains("speed") || sentence.contains(&alone), "{sentence}");
//! assert_eq!(at.op.map(|op| program.op_name(op)), Some("tiled_load"));
//! let second = At { side: ValueList::Operand, number: 1 };
//! assert_eq!((second.side.describe(), second.number), ("operand", 1));
//! // Which notation a layout is written in.
//! assert_ne!(notation_of("S[(8,8):(8,1)]"), notation_of("#ttg.blocked<{}>"));
//! ```
use crate::attr::{AttrValue, Literal};
use crate::error::SourcePlace;
use crate::handle::{Block, Op, TextRef, Value};
pub use crate::layouts::notation_of;
use crate::program::{Def, Program};
use crate::types::{TileEncoding, Type, TypeKind};
use lanebook_tables::contract::{kind, notation};
use lanebook_tables::{
    AttrContract, AttrForm, Elements, IndexWord, List, OpContract, OpRole, SlotContract, Space,
};

/// Which list of an operation a value stands in.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum ValueList {
    /// Main operands.
    Operand,
    /// Results.
    Result,
    /// Arguments of the region.
    Argument,
}

/// A value of an operation.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct At {
    /// In which list.
    pub side: ValueList,
    /// Its number there.
    pub number: u8,
}

/// What of a program is not in the contract. The place is the attribute's, the layout's or the
/// operation's.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum BreachKind {
    /// The operation is not compiled.
    Operation,
    /// The operation is not declared.
    Undeclared,
    /// The operation stands outside of the function.
    Outside,
    /// A second function, or a call of one:
    /// [`isolate_kernel`](crate::isolate_kernel) leaves one that calls none.
    Function,
    /// A region, or blocks of a region, that the operation has not.
    Region,
    /// The loop's body does not end with what it passes on.
    Yield,
    /// No attribute of this operation has this key.
    Attr,
    /// The key, maybe with another prefix, is there twice.
    AttrTwice,
    /// The attribute's value is of another form.
    AttrForm {
        /// The attribute's number in its list of the contract.
        attr: u8,
    },
    /// The attribute's value is out of range.
    AttrRange {
        /// The attribute's number in its list of the contract.
        attr: u8,
        /// The value.
        value: i64,
    },
    /// The attribute says nothing with operands and results of these shapes.
    AttrShape {
        /// The attribute's number in its list of the contract.
        attr: u8,
    },
    /// The attribute is missing.
    AttrMissing {
        /// The attribute's number in its list of the contract.
        attr: u8,
    },
    /// Another number of operands, results or arguments.
    Count {
        /// Of which.
        side: ValueList,
        /// Fewest.
        least: u8,
        /// Most, 255 = any.
        most: u8,
        /// Found.
        found: u16,
    },
    /// A value of a kind that cannot stand there.
    Kind {
        /// Where.
        at: At,
        /// What can, as bits of [`kind`].
        want: u8,
        /// What it is; 0 where it is none of them.
        found: u8,
    },
    /// A tile or memref of another number of dimensions.
    Rank {
        /// Where.
        at: At,
        /// Fewest.
        least: u8,
        /// Most.
        most: u8,
        /// Found.
        found: u8,
    },
    /// Elements that cannot be.
    Element {
        /// Where.
        at: At,
        /// Which can.
        want: Elements,
    },
    /// Another number of subscripts: a memref has one for each dimension, a tile none.
    Subscripts {
        /// Of which operand.
        operand: u8,
        /// Needed.
        needed: u8,
        /// Found.
        found: u16,
    },
    /// A subscript that is no index, or a number that is no place.
    Subscript {
        /// Of which operand.
        operand: u8,
        /// Which.
        number: u8,
    },
    /// A written layout that is not obeyed.
    Layout {
        /// Where.
        at: At,
        /// Its notation, a bit of [`notation`].
        found: u8,
        /// Notations that are obeyed there.
        obeyed: u8,
    },
    /// A layout is written twice: in the type and as an attribute.
    LayoutTwice,
    /// The name of a layout that is defined nowhere.
    LayoutName,
    /// A number that the type does not hold.
    Literal {
        /// Bits of the type.
        bits: u16,
    },
    /// The tables have no contract.
    NoContract,
}

/// What of a program is not in the contract, and where.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Breach {
    /// What.
    pub kind: BreachKind,
    /// Where in the text.
    pub at: SourcePlace,
}

const _: () = assert!(core::mem::size_of::<Breach>() <= 40);

type ContractResult = Result<(), BreachKind>;

/// A breach, with the text that it is about if that is not the operation's name.
type BreachResult<T = ()> = Result<T, (BreachKind, Option<TextRef>)>;

/// Checks that `compile` obeys all that a program writes.
///
/// # Errors
/// The first thing in text order that it does not.
#[inline(never)]
pub fn check(program: &Program<'_, '_>, function: Op) -> Result<(), Breach> {
    let loops = program.has_loops(function);
    for op in program.all() {
        let obeyed = ObeyedOp { program, op };
        let found = if loops { obeyed.in_loops(function) } else { obeyed.all(function) };
        if let Err((kind, name)) = found {
            let at = match name {
                Some(name) if name.place().is_some() => {
                    SourcePlace { op: Some(op), ..program.place_of(name) }
                }
                _ => program.place(op),
            };
            return Err(Breach { kind, at });
        }
    }
    Ok(())
}

#[derive(Copy, Clone)]
struct ObeyedOp<'a, 's, 't> {
    program: &'a Program<'s, 't>,
    op: Op,
}

impl<'t> ObeyedOp<'_, '_, 't> {
    /// In a function of parallel loops: who tells such a function to layout inference takes every
    /// attribute and operation of its body, or refuses it. The function itself and indices are as
    /// everywhere.
    fn in_loops(self, function: Op) -> BreachResult {
        let program = self.program;
        let plain = |kind| Err((kind, None));
        match program.role(self.op) {
            OpRole::Function | OpRole::Return => return self.all(function),
            OpRole::Index if self.casts_argument() => {
                let contract = program.decl_id(self.op);
                let contract =
                    contract.and_then(|id| program.tables().contract.ops.get(id.index()));
                return contract.map_or(plain(BreachKind::NoContract), |own| self.attrs(own));
            }
            OpRole::Index if program.index_word(self.op).is_some() => return self.all(function),
            _ => {}
        }
        if program.decl_id(self.op).is_none() {
            return plain(BreachKind::Undeclared);
        }
        if program.role(self.op) == OpRole::Call {
            return plain(BreachKind::Function);
        }
        if program.parent(self.op).is_none() {
            return plain(BreachKind::Outside);
        }
        self.turns_are_indices()?;
        self.literal().map_err(|kind| (kind, None))
    }

    /// Whether an operation makes an index of a whole number that the function takes.
    fn casts_argument(self) -> bool {
        let program = self.program;
        let taken = program.operand(self.op, 0).filter(|value| self.kinds(*value) == kind::SCALAR);
        program.index_word(self.op) == Some(IndexWord::Cast)
            && taken.is_some_and(|value| crate::edit::insert::is_word(program, value))
    }

    /// A loop between parallel ones counts by indices: numbers that a kernel is given are data there,
    /// and say neither where it begins nor where it ends.
    fn turns_are_indices(self) -> BreachResult {
        let program = self.program;
        // Behind a counted loop's bounds and step stand the values that it carries.
        let counts = match program.role(self.op) {
            OpRole::For => 3,
            OpRole::Parallel => usize::MAX,
            _ => return Ok(()),
        };
        let is_data = |value: Value| self.kinds(value) == kind::SCALAR;
        let mut bounds = program.operands(self.op).take(counts);
        let Some(number) = bounds.position(is_data) else { return Ok(()) };
        let number = u8::try_from(number).unwrap_or(u8::MAX);
        let at = At { side: ValueList::Operand, number };
        Err((BreachKind::Kind { at, want: kind::INDEX, found: kind::SCALAR }, None))
    }

    fn all(self, function: Op) -> BreachResult {
        let program = self.program;
        let plain = |kind| Err((kind, None));
        let Some(id) = program.decl_id(self.op) else { return plain(BreachKind::Undeclared) };
        let Some(contract) = program.tables().contract.ops.get(id.index()) else {
            return plain(BreachKind::NoContract);
        };
        let is_other = program.role(self.op) == OpRole::Function && self.op != function;
        if is_other || program.role(self.op) == OpRole::Call || program.is_module(self.op) {
            return plain(BreachKind::Function);
        }
        // What is left of these has no counted form, or no product's sums: see `isolate_kernel`.
        let mut slots = contract.operands.iter().chain(contract.results);
        let is_left = matches!(program.role(self.op), OpRole::While | OpRole::Condition)
            || slots.any(|slot| slot.kinds & kind::TENSOR != 0);
        if !contract.compiled || is_left {
            return plain(BreachKind::Operation);
        }
        if self.op != function && program.parent(self.op).is_none() {
            return plain(BreachKind::Outside);
        }
        self.regions().map_err(|kind| (kind, None))?;
        self.attrs(contract)?;
        self.values(ValueList::Operand, contract.operands)?;
        self.values(ValueList::Result, contract.results)?;
        self.values(ValueList::Argument, contract.arguments)?;
        self.subscripts().map_err(|kind| (kind, None))?;
        self.literal().map_err(|kind| (kind, None))
    }

    fn regions(self) -> ContractResult {
        let program = self.program;
        let declared = program.decl(self.op).map_or(0, |decl| usize::from(decl.regions));
        let single = program.regions(self.op).all(|region| program.blocks(region).nth(1).is_none());
        if program.role(self.op) == OpRole::For
            && program.body(self.op).and_then(|body| program.terminator(body)).is_none()
        {
            return Err(BreachKind::Yield);
        }
        if single && program.regions(self.op).count() <= declared {
            Ok(())
        } else {
            Err(BreachKind::Region)
        }
    }

    // ---- attributes
    /// The number of the attribute that a key names.
    fn attr_of(self, key: TextRef, attrs: List<'t, AttrContract<'t>>) -> Option<u8> {
        u8::try_from(self.program.listed(key, attrs.slice())?).ok()
    }

    fn attrs(self, contract: &OpContract<'t>) -> BreachResult {
        let program = self.program;
        let mut seen = 0u32;
        for attr in program.attrs(self.op) {
            self.attr(attr.key, attr.value, contract.attrs, &mut seen)?;
        }
        self.missing(contract.attrs, seen).map_err(|kind| (kind, None))
    }

    /// The attribute that a word in front of the operands says, and whether it says one of its
    /// values.
    fn in_front(self, value: AttrValue) -> Option<(&'static str, bool)> {
        let program = self.program;
        match (program.index_word(self.op)?, value) {
            (IndexWord::Block | IndexWord::Blocks, AttrValue::Text(_)) => {
                Some((crate::attr_names::AXIS, program.grid_axis(self.op).is_some()))
            }
            (IndexWord::Compare, AttrValue::Text(_)) => {
                Some((crate::attr_names::KIND, program.relation(self.op).is_some()))
            }
            _ => None,
        }
    }

    fn missing(self, attrs: List<'t, AttrContract<'t>>, seen: u32) -> ContractResult {
        let absent = |(number, attr): &(u8, &AttrContract<'_>)| {
            attr.required && seen & 1u32.wrapping_shl(u32::from(*number)) == 0
        };
        match (0u8..).zip(attrs.iter()).find(absent) {
            Some((attr, _)) => Err(BreachKind::AttrMissing { attr }),
            None => Ok(()),
        }
    }

    fn attr(
        self,
        key: TextRef,
        value: AttrValue,
        attrs: List<'t, AttrContract<'t>>,
        seen: &mut u32,
    ) -> BreachResult {
        let program = self.program;
        let front = (program.text(key) == crate::attr_names::PREFIX)
            .then(|| self.in_front(value))
            .flatten();
        let found = match front {
            Some((key, _)) => attrs
                .iter()
                .position(|attr| attr.key == key)
                .and_then(|number| u8::try_from(number).ok()),
            None => self.attr_of(key, attrs),
        };
        let found = found.and_then(|number| Some((number, attrs.get(usize::from(number))?)));
        // A hint that is well written has gone away.
        let hints = program.tables().contract.hints;
        let hint = || self.attr_of(key, hints).and_then(|k| hints.get(usize::from(k)));
        if let (None, Some(hint)) = (found, hint().filter(|_| program.has_hints(self.op))) {
            return self.form(u8::MAX, hint, value).map_err(|kind| (kind, Some(key)));
        }
        let Some((number, attr)) = found else { return Err((BreachKind::Attr, Some(key))) };
        // Whoever inlines a snippet launches it.
        if attr.key == crate::attr_names::GRID && self.program.is_snippet(self.op) {
            return Err((BreachKind::Attr, Some(key)));
        }
        // Of a mask without bounds, or bounds without a mask, it says nothing.
        if attr.key == crate::attr_names::BOUNDED && !self.program.masks_bounds(self.op) {
            return Err((BreachKind::Attr, Some(key)));
        }
        let bit = 1u32.wrapping_shl(u32::from(number));
        if *seen & bit != 0 {
            return Err((BreachKind::AttrTwice, Some(key)));
        }
        *seen |= bit;
        match front {
            Some((_, true)) => {}
            Some((_, false)) => {
                return Err((BreachKind::AttrForm { attr: number }, Some(key)));
            }
            None if matches!(attr.form, AttrForm::Bounds) => {}
            None => self.form(number, attr, value).map_err(|kind| (kind, Some(key)))?,
        }
        if attr.ranks != (0, 0) && !self.shaped(attr.ranks, value) {
            return Err((BreachKind::AttrShape { attr: number }, Some(key)));
        }
        Ok(())
    }

    /// Whether the first operand and the first result have so many dimensions, and a dimension that
    /// is named as new is: the others are the operand's.
    fn shaped(self, (from, to): (u8, u8), value: AttrValue) -> bool {
        let program = self.program;
        let ty = |value: Option<Value>| value.map_or(Type::ELIDED, |value| program.type_of(value));
        let (operand, result) =
            (ty(program.operand(self.op, 0)).shape, ty(program.result(self.op, 0)).shape);
        let AttrValue::Int(new, _) = value else { return false };
        let kept = usize::from(new == 0);
        (operand.rank(), result.rank()) == (usize::from(from), usize::from(to))
            && operand.extent(0) == result.extent(kept)
    }

    #[inline(never)] // Of all forms; its callers stand on deep paths.
    fn form(self, number: u8, attr: &AttrContract<'_>, value: AttrValue) -> ContractResult {
        let program = self.program;
        let fits = match (attr.form, value) {
            (AttrForm::Unit, AttrValue::Unit) | (AttrForm::Text, AttrValue::Str(_)) => true,
            (AttrForm::Symbol, AttrValue::Symbol(_) | AttrValue::Str(_) | AttrValue::Word(_)) => {
                true
            }
            (AttrForm::Int(least, most), AttrValue::Int(value, _)) => {
                return if (least..=most).contains(&value) {
                    Ok(())
                } else {
                    Err(BreachKind::AttrRange { attr: number, value })
                };
            }
            (AttrForm::Power(least, most), AttrValue::Int(value, _)) => {
                let fits = (least..=most).contains(&value) && value.count_ones() == 1;
                return if fits {
                    Ok(())
                } else {
                    Err(BreachKind::AttrRange { attr: number, value })
                };
            }
            (
                AttrForm::Word(words),
                AttrValue::Word(name) | AttrValue::Str(name) | AttrValue::Text(name),
            ) => words.iter().any(|word| *word == program.text(name)),
            (AttrForm::Map, AttrValue::Text(_) | AttrValue::Alias(_)) => {
                program.affine_steps(self.op, |_| Some(())).is_some()
            }
            (AttrForm::Dense, AttrValue::Layout(name) | AttrValue::Text(name)) => {
                program.is_dense(self.op, program.text(name))
            }
            (AttrForm::Grid, AttrValue::Layout(name) | AttrValue::Text(name)) => {
                program.is_grid(program.text(name), self.op)
            }
            (AttrForm::Ints(wanted), AttrValue::List(list)) => {
                let mut out = [0i64; crate::MAX_RANK];
                program.list(list, &mut out).is_some_and(|found| {
                    found.iter().copied().eq(wanted.iter().map(|n| i64::from(*n)))
                })
            }
            (AttrForm::Layout(obeyed), AttrValue::Layout(name) | AttrValue::Text(name)) => {
                obeyed & notation_of(program.text(name)) != 0
            }
            (AttrForm::Layout(obeyed), AttrValue::Alias(name)) => {
                match program.alias(program.text(name)) {
                    Some(text) => obeyed & notation_of(text) != 0,
                    None => return Err(BreachKind::LayoutName),
                }
            }
            _ => false,
        };
        if fits { Ok(()) } else { Err(BreachKind::AttrForm { attr: number }) }
    }

    // ---- values
    fn value(self, side: ValueList, number: usize) -> Option<Value> {
        let program = self.program;
        match side {
            ValueList::Operand => program.operand(self.op, number),
            ValueList::Result => program.result(self.op, number),
            ValueList::Argument => {
                program.body(self.op).and_then(|body| program.arguments(body).nth(number))
            }
        }
    }

    fn count(self, side: ValueList) -> usize {
        let program = self.program;
        match side {
            ValueList::Operand => program.operand_count(self.op),
            ValueList::Result => program.results(self.op).count(),
            ValueList::Argument => program
                .regions(self.op)
                .flat_map(|region| program.blocks(region))
                .map(|block: Block| program.arguments(block).count())
                .sum(),
        }
    }

    fn values(self, side: ValueList, slots: List<'t, SlotContract<'t>>) -> BreachResult {
        let found = self.count(side);
        let sum = |part: fn(&SlotContract<'_>) -> u8| {
            slots.iter().fold(0u8, |sum, slot| sum.saturating_add(part(slot)))
        };
        let (least, most) = (sum(|slot| slot.count.0), sum(|slot| slot.count.1));
        if found < usize::from(least) || (most != u8::MAX && found > usize::from(most)) {
            let found = u16::try_from(found).unwrap_or(u16::MAX);
            return Err((BreachKind::Count { side, least, most, found }, None));
        }
        // Each takes as many as it can: the only one that takes several is the last.
        let mut slot = 0usize;
        let mut taken = 0u8;
        for number in 0..found {
            let Some(rule) = slots.get(slot) else { return Ok(()) };
            let Some(value) = self.value(side, number) else { return Ok(()) };
            self.slot(At { side, number: u8::try_from(number).unwrap_or(u8::MAX) }, value, rule)?;
            taken = taken.saturating_add(1);
            if taken >= rule.count.1 && rule.count.1 != u8::MAX {
                (slot, taken) = (slot.saturating_add(1), 0);
            }
        }
        Ok(())
    }

    /// What a value is, as bits of [`kind`].
    fn kinds(self, value: Value) -> u8 {
        let program = self.program;
        let number = if program.int(value).is_some_and(|n| i32::try_from(n).is_ok()) {
            kind::NUMBER
        } else {
            0
        };
        // No index that is written is below zero, but for subscripts (see `subscripts`).
        let negative = program.int(value).is_some_and(|n| n < 0);
        let index = if negative { 0 } else { kind::INDEX };
        if let Def::Literal(literal) = program.def(value) {
            let whole = matches!(literal, Literal::Int(_) | Literal::Hex(_)) && number != 0;
            return kind::LITERAL | if whole { number | index } else { 0 };
        }
        let ty = program.type_of(value);
        let plain = ty.shape.is_known() && !ty.is_kept();
        match (ty.kind, ty.space) {
            (TypeKind::Index, _) => index | number,
            // Truths and numbers of blocks have types of their own in other languages.
            (TypeKind::Scalar, _) if self.is_computed_index(value) => index,
            (TypeKind::Scalar, _) if matches!(program.def(value), Def::Argument(..)) => {
                kind::SCALAR
            }
            (TypeKind::Tensor, None) if plain => kind::REGISTERS,
            (TypeKind::Tensor, Some(Space::Shared)) if plain => kind::SHARED,
            (TypeKind::Memref, Some(Space::Global)) if plain => kind::GLOBAL,
            (TypeKind::Tensor | TypeKind::Memref, Some(Space::Tensor)) if plain => kind::TENSOR,
            _ => 0,
        }
    }

    /// Whether an operation on indices makes a value.
    fn is_computed_index(self, value: Value) -> bool {
        let def = self.program.def_op(value);
        def.is_some_and(|def| {
            self.program.role(def) == OpRole::Index || self.program.index_word(def).is_some()
        })
    }

    fn slot(self, at: At, value: Value, rule: &SlotContract<'t>) -> BreachResult {
        let program = self.program;
        let found = self.kinds(value);
        // Arguments stand on lines of their own.
        let name = if at.side == ValueList::Argument {
            program.value_data(value).map(|data| data.name)
        } else {
            None
        };
        if found & rule.kinds == 0 {
            return Err((BreachKind::Kind { at, want: rule.kinds, found }, name));
        }
        let ty = program.type_of(value);
        let tile = found & (kind::REGISTERS | kind::SHARED | kind::GLOBAL) != 0;
        let (least, most) = if found & kind::GLOBAL != 0 {
            program.tables().contract.memref_ranks
        } else {
            rule.ranks
        };
        let rank = u8::try_from(ty.shape.rank()).unwrap_or(u8::MAX);
        if tile && !(least..=most).contains(&rank) {
            return Err((BreachKind::Rank { at, least, most, found: rank }, name));
        }
        let bits =
            ty.dtype.and_then(|dtype| program.tables().dtype(dtype)).map_or(0, |dtype| dtype.bits);
        let elements = match rule.elements {
            Elements::Bytes => bits > 0 && bits.is_multiple_of(8),
            Elements::Words => bits == 32,
            Elements::Narrow => matches!(bits, 8 | 16 | 32 | 64),
            Elements::Held => bits == 1 || bits > 0 && bits.is_multiple_of(8),
            Elements::Truths => bits == 1,
        };
        if tile && !elements {
            return Err((BreachKind::Element { at, want: rule.elements }, name));
        }
        if found & kind::SCALAR != 0 && bits != 32 {
            return Err((BreachKind::Element { at, want: Elements::Words }, name));
        }
        if at.side != ValueList::Operand && tile {
            // A memref's elements lie row by row; the layouts of arguments are those of tiles.
            let obeyed = if found & kind::GLOBAL == 0 { rule.layouts } else { 0 };
            self.layout(at, &ty, obeyed)?;
        }
        if at.side != ValueList::Argument {
            return Ok(());
        }
        let mut seen = 0u32;
        for attr in program.value_attrs(value) {
            if found & kind::REGISTERS != 0 {
                return Err((BreachKind::Attr, Some(attr.key)));
            }
            self.attr(attr.key, attr.value, rule.attrs, &mut seen)?;
            // Tensors and indices have attributes of their own.
            let of_index = self
                .attr_of(attr.key, rule.attrs)
                .and_then(|k| rule.attrs.get(usize::from(k)))
                .is_some_and(|a| {
                    matches!(a.key, crate::attr_names::DIV | crate::attr_names::SIGNED)
                });
            if of_index != (found & kind::INDEX != 0) || found & kind::SCALAR != 0 {
                return Err((BreachKind::Attr, Some(attr.key)));
            }
            // Of what are no pairs, or have no bounds, it would say nothing.
            let says_halves = self
                .attr_of(attr.key, rule.attrs)
                .and_then(|k| rule.attrs.get(usize::from(k)))
                .is_some_and(|a| a.key == crate::attr_names::HALVES);
            let pairs = || program.tables().dtype(program.type_of(value).dtype?)?.pair_of;
            let bounded = || program.value_attr(value, crate::attr_names::BOUNDS).is_some();
            if says_halves && (pairs().is_none() || !bounded()) {
                return Err((BreachKind::Attr, Some(attr.key)));
            }
            // One row has no dimensions but its parts and what is in one.
            let says_far = self
                .attr_of(attr.key, rule.attrs)
                .and_then(|k| rule.attrs.get(usize::from(k)))
                .is_some_and(|a| a.key == crate::attr_names::FAR);
            let is_row = || program.type_of(value).shape.pair().is_some() && !bounded();
            if says_far && !is_row() {
                return Err((BreachKind::Attr, Some(attr.key)));
            }
            let form = self.attr_of(attr.key, rule.attrs).zip(Some(rule.attrs));
            let is_bounds = |(k, rules): (u8, List<'t, AttrContract<'t>>)| {
                let form = rules.get(usize::from(k))?.form;
                matches!(form, AttrForm::Bounds).then_some(k)
            };
            if let Some(k) = form.and_then(is_bounds)
                && program.bounds(value).is_none()
            {
                return Err((BreachKind::AttrForm { attr: k }, Some(attr.key)));
            }
        }
        self.missing(rule.attrs, seen).map_err(|kind| (kind, None))
    }

    fn layout(self, at: At, ty: &Type, obeyed: u8) -> BreachResult {
        let program = self.program;
        let (text, name) = match ty.encoding {
            TileEncoding::None => return Ok(()),
            TileEncoding::Handle(_) => {
                return Err((BreachKind::Layout { at, found: notation::OTHER, obeyed }, None));
            }
            TileEncoding::Alias(name) => match program.layout_text(ty) {
                Some(text) => (text, Some(name)),
                None => return Err((BreachKind::LayoutName, Some(name))),
            },
            TileEncoding::Written(name) => (program.text(name), Some(name)),
            TileEncoding::Interned(..) => (program.layout_text(ty).unwrap_or(""), None),
        };
        if program.has_attr(self.op, crate::attr_names::LAYOUT) {
            return Err((BreachKind::LayoutTwice, name));
        }
        let found = notation_of(text);
        if found & obeyed != 0 {
            Ok(())
        } else {
            Err((BreachKind::Layout { at, found, obeyed }, name))
        }
    }

    /// A memref has one subscript for each dimension, and so has the tile of which a part is taken
    /// or into which one is put, anything else none; each is an index.
    fn subscripts(self) -> ContractResult {
        let program = self.program;
        let last = program.operand_count(self.op).checked_sub(1);
        let parted = last.filter(|_| program.role(self.op) == OpRole::Slice);
        for (operand, value) in (0u8..).zip(program.operands(self.op)) {
            let has_places =
                self.kinds(value) & kind::GLOBAL != 0 || parted == Some(usize::from(operand));
            let rank = if has_places { program.type_of(value).shape.rank() } else { 0 };
            let found = program.subscripts(self.op, usize::from(operand)).count();
            if found != rank {
                let needed = u8::try_from(rank).unwrap_or(u8::MAX);
                return Err(BreachKind::Subscripts {
                    operand,
                    needed,
                    found: u16::try_from(found).unwrap_or(u16::MAX),
                });
            }
            for (number, value) in (0u8..).zip(program.subscripts(self.op, usize::from(operand))) {
                let kinds = self.kinds(value);
                let (at, dim) = (usize::from(operand), usize::from(number));
                let is_left_out = || program.leaves_out_below_zero(self.op, at, dim);
                if kinds & kind::INDEX == 0 && !(kinds & kind::NUMBER != 0 && is_left_out()) {
                    return Err(BreachKind::Subscript { operand, number });
                }
            }
        }
        Ok(())
    }

    /// The number of a constant is one that its type holds.
    fn literal(self) -> ContractResult {
        let program = self.program;
        if program.role(self.op) != OpRole::Constant {
            return Ok(());
        }
        let (Some(value), Some(literal)) = (
            program.result(self.op, 0),
            program.operand(self.op, 0).and_then(|operand| program.constant(operand)),
        ) else {
            return Ok(());
        };
        let ty = program.type_of(value);
        if ty.kind == TypeKind::Index {
            return if self.kinds(value) & kind::NUMBER != 0 {
                Ok(())
            } else {
                Err(BreachKind::Literal { bits: 32 })
            };
        }
        let Some(dtype) = ty.dtype.and_then(|dtype| program.tables().dtype(dtype)) else {
            return Ok(());
        };
        match program.literal_bits(literal, dtype) {
            Some(_) => Ok(()),
            None => Err(BreachKind::Literal { bits: dtype.bits }),
        }
    }
}
