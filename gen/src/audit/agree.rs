//! Registers that a mover hands to a matrix instruction hold the elements that it expects, at
//! places in memory that are neighbours.
//!
//! Which movers, which matrix instructions, which operand, and along which coordinate the bytes of
//! an address slot run is data: the `agreements` of the tables. For each pair, an operand's element
//! is at bits of a lane; the mover puts there (D: takes from there) bytes of a slot. Where the
//! operand is longer than the mover's tuple, the mover moves it piece by piece; where it is
//! shorter, it is the beginning of the tuple. The demand: no element is torn, and inside a slot the
//! elements, in the order of their bytes, are neighbours along the coordinate and the same in the
//! other. Where a product is of several warps, each has the mover for itself.
use super::fits;
use crate::compile::Compiled;
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::layouts::{Layout, gcd};
use crate::model::{Atom, HwModel, Operand, Side};
use crate::schema::{Agreement, Along, MatrixOperand, Name};
use crate::spanned::Spanned;
use lanebook_layout::AxisId;
use lanebook_tables::{DtypeId, Space};
use std::collections::{BTreeMap, BTreeSet};

/// See the module.
#[must_use]
pub fn check(compiled: &Compiled) -> Diagnostics {
    let mut diags = Diagnostics::new();
    let mut sound = BTreeSet::new();
    for agreement in &compiled.loaded.agreements {
        let model = &compiled.model;
        let taken = agreement.operand.value == MatrixOperand::D;
        let what = if taken { "stores registers" } else { "loads registers" };
        let movers = meant(model, &agreement.movers, what, &mut diags, |atom| {
            sides(atom).is_some_and(|(_, _, stores)| stores == taken)
        });
        let products =
            meant(model, &agreement.products, "multiplies matrices", &mut diags, |atom| {
                atom.matrix.is_some()
            });
        if !crosses(agreement) {
            diags.push(
                Diagnostic::at(
                    agreement.along.span,
                    format!("matrix `{:?}` has no such coordinate", agreement.operand.value),
                )
                .help("A is over m and k, B over k and n, C and D over m and n"),
            );
            continue;
        }
        for product in &products {
            for mover in &movers {
                pair(model, agreement, (mover, product), &mut sound, &mut diags);
            }
        }
    }
    diags
}

/// The atoms that patterns name. Each pattern names one, and each of these is of the right kind.
fn meant<'m>(
    model: &'m HwModel,
    patterns: &[Name],
    what: &str,
    diags: &mut Diagnostics,
    right: impl Fn(&Atom) -> bool,
) -> Vec<&'m Atom> {
    let mut out: Vec<&Atom> = Vec::new();
    for pattern in patterns {
        let found: Vec<&Atom> =
            model.atoms.iter().filter(|atom| fits(pattern, &atom.name)).collect();
        if found.is_empty() {
            let help = lanebook_suggest::remedy(
                pattern,
                model.atoms.iter().map(|atom| atom.name.as_str()),
                "remove it, or name an atom; `*` stands for any text",
            );
            diags.push(
                Diagnostic::at(pattern.span, format!("no atom has the name `{}`", pattern.value))
                    .help(help)
                    .lacks(pattern),
            );
        }
        for atom in found {
            if right(atom) {
                out.push(atom);
            } else {
                diags.push(
                    Diagnostic::at(
                        pattern.span,
                        format!("atom `{}` is none that {what}", atom.name.value),
                    )
                    .note(atom.name.span, "the atom")
                    .help("name other atoms"),
                );
            }
        }
    }
    out
}

/// A mover's register side, its memory side, and whether it stores.
fn sides(atom: &Atom) -> Option<(&Side, &Side, bool)> {
    let movement = atom.movement.as_ref()?;
    match (movement.from.space, movement.to.space) {
        (Space::Register, Space::Shared | Space::Global) => {
            Some((&movement.from, &movement.to, true))
        }
        (Space::Shared | Space::Global, Space::Register) => {
            Some((&movement.to, &movement.from, false))
        }
        _ => None,
    }
}

fn crosses(agreement: &Agreement) -> bool {
    rows_run(agreement).is_some()
}

/// Whether the coordinate is the operand's row (its first).
fn rows_run(agreement: &Agreement) -> Option<bool> {
    match (agreement.operand.value, agreement.along.value) {
        (MatrixOperand::A, Along::M)
        | (MatrixOperand::B, Along::K)
        | (MatrixOperand::C | MatrixOperand::D, Along::M) => Some(true),
        (MatrixOperand::A, Along::K)
        | (MatrixOperand::B, Along::N)
        | (MatrixOperand::C | MatrixOperand::D, Along::N) => Some(false),
        _ => None,
    }
}

/// Where in memory the mover has the bits of a lane's tuple: (lane, bit) to (slot, bit of the
/// slot), in steps of `grain`.
fn reach(
    mover: &Atom,
    register: &Side,
    memory: &Side,
    grain: u64,
) -> BTreeMap<(i64, i64), (i64, i64)> {
    let unit = mover.movement.as_ref().map_or(0, |movement| i64::from(movement.unit_bits));
    let slots = memory.layout.positions(AxisId::SLOT);
    let bytes = memory.layout.positions(AxisId::BYTE);
    let bits = memory.layout.positions(AxisId::BIT);
    let mut out = BTreeMap::new();
    for (number, (lane, bit)) in places(&register.layout).into_iter().enumerate() {
        let x = number % slots.len().max(1);
        let (Some(slot), Some(byte), Some(first)) = (slots.get(x), bytes.get(x), bits.get(x))
        else {
            continue;
        };
        for step in (0..unit).step_by(grain as usize) {
            out.insert((lane, bit + step), (*slot, byte * 8 + first + step));
        }
    }
    out
}

/// Lane and bit of all elements, copy after copy.
fn places(layout: &Layout) -> Vec<(i64, i64)> {
    let (lanes, warps) = (layout.positions(AxisId::LANE), layout.positions(AxisId::WARP));
    let lanes = lanes.iter().zip(&warps).map(|(lane, warp)| lane + 32 * warp);
    lanes.zip(layout.positions(AxisId::BIT)).collect()
}

/// Elements of a slot of a piece of a warp: row and column, by their first bit.
type Elements = BTreeMap<i64, (u64, u64)>;

/// Bits of an element and where it begins in its container. Of a type that is a parameter's word, the
/// word is meant that is as wide as what the mover moves one by one, else the first.
fn element(
    model: &HwModel,
    product: &Atom,
    operand: &Operand,
    dtype: DtypeId,
    unit: u64,
) -> (u64, u64) {
    let width =
        |dtype: DtypeId| model.dtypes.get(dtype.index()).map_or(0, |dtype| u64::from(dtype.bits));
    let words = operand
        .vary
        .typed_by
        .and_then(|by| product.operands.get(usize::from(by)))
        .map_or(&[][..], |parameter| &parameter.vary.words);
    let spelled = words.iter().filter_map(|(_, dtype, shift)| Some((width((*dtype)?), *shift)));
    let meant = spelled.clone().find(|(bits, _)| *bits == unit).or_else(|| spelled.clone().next());
    meant.map_or((width(dtype), 0), |(bits, shift)| (bits, u64::from(shift)))
}

/// What a pair's verdict follows from: the texts of the layouts in registers, in memory and of the
/// operand, and the numbers beside them. Many products have the same.
type Same<'a> = ([&'a str; 3], [u64; 6]);

/// A mover's side in registers, and the operand that has to agree with it.
struct Pair<'a> {
    mover: &'a Atom,
    register: &'a Side,
    memory: &'a Side,
    tuple: &'a Operand,
    operand: &'a Operand,
    layout: &'a Layout,
    columns: u64,
    along: Along,
    rows: bool,
    unit: u64,
    width: u64,
    shift: u64,
}

fn pair<'a>(
    model: &HwModel,
    agreement: &Spanned<Agreement>,
    (mover, product): (&'a Atom, &'a Atom),
    sound: &mut BTreeSet<Same<'a>>,
    diags: &mut Diagnostics,
) {
    let (Some((register, memory, _)), Some(shape), Some(rows)) =
        (sides(mover), &product.matrix, rows_run(agreement))
    else {
        return;
    };
    let number = match agreement.operand.value {
        MatrixOperand::A => shape.a,
        MatrixOperand::B => shape.b,
        MatrixOperand::C => shape.c,
        MatrixOperand::D => shape.d,
    };
    let (Some(operand), Some(tuple)) = (
        product.operands.get(usize::from(number)),
        mover.operands.get(usize::from(register.operand)),
    ) else {
        return;
    };
    let found = match (&operand.layout, &operand.extents, operand.dtype) {
        (Some(layout), Some(extents), Some(dtype)) => {
            let unit = mover.movement.as_ref().map_or(1, |movement| u64::from(movement.unit_bits));
            let (width, shift) = element(model, product, operand, dtype, unit);
            let columns = u64::from(extents.value.1).max(1);
            let along = agreement.along.value;
            let all = Pair {
                mover,
                register,
                memory,
                tuple,
                operand,
                layout,
                columns,
                along,
                rows,
                unit,
                width,
                shift,
            };
            let texts = [&register.layout, &memory.layout, layout].map(|l| l.text.value.as_str());
            let numbers =
                [unit, width, shift, bits(tuple), bits(operand), columns << 1 | u64::from(rows)];
            if sound.contains(&(texts, numbers)) {
                return;
            }
            let found = all.disagreement();
            if found.is_none() {
                sound.insert((texts, numbers));
            }
            found
        }
        _ => Some(format!(
            "operand `{}` of `{}` has no layout to agree with",
            operand.name.value, product.name.value
        )),
    };
    let Some(message) = found else { return };
    diags.push(
        Diagnostic::at(register.layout.text.span, message)
            .note(
                operand.layout.as_ref().map_or(operand.name.span, |layout| layout.text.span),
                format!("operand `{}` of `{}`", operand.name.value, product.name.value),
            )
            .note(agreement.name.span, "they have to agree")
            .help("correct one of the layouts, or the agreement"),
    );
}

impl Pair<'_> {
    /// The first thing in which they do not agree.
    fn disagreement(&self) -> Option<String> {
        let Self { mover, register, operand, layout, columns, width, shift, .. } = *self;
        let unit = self.unit;
        let grain = gcd(
            gcd(layout.grain(AxisId::BIT, width), register.layout.grain(AxisId::BIT, unit)),
            gcd(gcd(width, unit), shift),
        )
        .max(1);
        let whole = bits(self.tuple);
        if whole == 0 || (bits(operand) > whole && !bits(operand).is_multiple_of(whole)) {
            return Some(format!(
                "`{}` has {} bits, which is no number of `{}`'s {whole}",
                operand.name.value,
                bits(operand),
                mover.name.value
            ));
        }
        let known = reach(mover, register, self.memory, grain);
        // Every warp moves its own.
        let lanes = known.keys().map(|(lane, _)| lane + 1).max().unwrap_or(1);
        let mut slots: BTreeMap<(i64, u64, i64), Elements> = BTreeMap::new();
        for (number, (lane, bit)) in places(layout).into_iter().enumerate() {
            let x = number as u64 % layout.size();
            let (warp, lane) = (lane / lanes, lane % lanes);
            let bit = bit + shift as i64;
            let (piece, bit) = (bit as u64 / whole, bit % whole as i64);
            let here = || {
                format!(
                    "element ({}, {}) of `{}` in lane {lane}, register {}",
                    x / columns,
                    x % columns,
                    operand.name.value,
                    bit / i64::from(self.tuple.register_bits.max(1))
                )
            };
            let Some((slot, start)) = known.get(&(lane, bit)) else {
                return Some(format!("`{}` moves nothing where {} is", mover.name.value, here()));
            };
            let torn = (0..width as i64)
                .step_by(grain as usize)
                .any(|step| known.get(&(lane, bit + step)) != Some(&(*slot, start + step)));
            if torn {
                return Some(format!("`{}` tears {} apart", mover.name.value, here()));
            }
            let elements = slots.entry((warp, piece, *slot)).or_default();
            elements.insert(*start, (x / columns, x % columns));
        }
        slots.into_iter().find_map(|((_, _, slot), elements)| self.no_neighbours(slot, elements))
    }

    /// Two elements of a slot, one behind the other, that are no neighbours.
    fn no_neighbours(&self, slot: i64, elements: Elements) -> Option<String> {
        let mut before: Option<(i64, (u64, u64))> = None;
        for (start, element) in elements {
            if let Some((at, (row, column))) = before {
                let next = if self.rows { (row + 1, column) } else { (row, column + 1) };
                let is_next = start == at + self.width as i64;
                if !is_next || element != next {
                    let along = format!("{:?}", self.along).to_lowercase();
                    return Some(format!(
                        "slot {slot} of `{}` has element ({}, {}) of `{}` after ({row}, {column}): they are no neighbours along {along}",
                        self.mover.name.value, element.0, element.1, self.operand.name.value
                    ));
                }
            }
            before = Some((start, element));
        }
        None
    }
}

/// Bits of a tuple.
fn bits(operand: &Operand) -> u64 {
    u64::from(operand.registers) * u64::from(operand.register_bits)
}
