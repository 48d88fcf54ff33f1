//! Layouts of matrix units are those that another program writes in its own notation.
//!
//! A line of `answers` under `layouts` is `KIND NAME SYMBOL=NUMBER.. LAYOUT`. The layout is CuTe's: a
//! shape and its strides, the first of each mode fastest; `8T` is eight times what `T` stands for.
//! The name is that of the table. What the numbers of the layout count, its kind says:
//!
//! - `tile`: row and element of a tile of tensor memory to lane + lanes of the memory * piece of
//!   `bits` bits (a cell's, where that is not said) in the lane; a third mode are its copies;
//! - `move`: lane of a warp and bit of its registers to bit of a row + `width` * row;
//! - `operand`: outer coordinate and depth of an operand in shared memory to its elements there, as
//!   they lie before the swizzle;
//! - `scales`: lane and scale to row + rows * element, of an operand `PRODUCT/OPERAND`.
//!
//! Where a layout goes further than the other only what both have is compared.
use super::spelling::text;
use crate::compile::Compiled;
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::model::HwModel;
use crate::model::units::Tile;
use crate::schema::{Answers, Name};
use crate::source::Span;
use lanebook_layout::AxisId;
use lanebook_tables::{Amount, TileIter};
use std::collections::{BTreeMap, BTreeSet};

/// Most places of a layout that are looked at.
const MOST: usize = 1 << 17;

/// What symbols stand for.
type Symbols<'a> = BTreeMap<&'a str, u64>;

/// Why a line is no layout to compare, or where the two differ.
enum Told {
    /// Nothing goes by its name.
    Unknown,
    /// It cannot be read.
    Unread(&'static str),
    /// They differ, where the table says so.
    Differs(Span, String),
}

/// See the module: the lines of one record.
pub(super) fn hold(compiled: &Compiled, one: &Answers, diags: &mut Diagnostics) {
    let by: Vec<&str> = one.sources.iter().map(|key| key.value.as_str()).collect();
    let by = by.join(", ");
    for line in &one.layouts {
        match line_of(&compiled.model, line) {
            Ok(()) => {}
            Err(Told::Unknown) => diags.push(
                Diagnostic::at(line.span, "nothing goes by this kind and name")
                    .help("the kinds are `tile`, `move`, `operand` and `scales`: correct the name, or remove the line")
                    .lacks(line),
            ),
            Err(Told::Unread(why)) => diags.push(
                Diagnostic::at(line.span, format!("no layout to compare: {why}"))
                    .help("write `KIND NAME SYMBOL=NUMBER.. (SHAPE):(STRIDES)`"),
            ),
            Err(Told::Differs(at, what)) => diags.push(
                Diagnostic::at(at, format!("not as by {by}: {what}"))
                    .note(line.span, "as it is written there")
                    .help("correct the layout, or the line"),
            ),
        }
    }
}

fn line_of(model: &HwModel, line: &Name) -> Result<(), Told> {
    let mut words: Vec<&str> = line.value.split_whitespace().collect();
    let layout = words.pop().unwrap_or_default();
    let mut words = words.into_iter();
    let (kind, name) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let symbols: Option<Symbols<'_>> = words
        .map(|word| word.split_once('=').and_then(|(symbol, n)| Some((symbol, n.parse().ok()?))))
        .collect();
    let symbols = symbols.ok_or(Told::Unread("a symbol is a word and a number"))?;
    let told = Cute::of(layout, &symbols).ok_or(Told::Unread("shape and strides do not fit"))?;
    match kind {
        "tile" => tile(model, name, &symbols, &told),
        "move" => moves(model, name, &symbols, &told),
        "operand" => operand(model, name, &symbols, &told),
        "scales" => scales(model, name, &told),
        _ => Err(Told::Unknown),
    }
}

/// A layout: the extents and strides of each mode, the fastest first.
struct Cute {
    modes: Vec<Vec<(u64, u64)>>,
}

impl Cute {
    fn of(text: &str, symbols: &Symbols<'_>) -> Option<Self> {
        let (shape, strides) = text.split_once(':')?;
        let (shape, strides) = (leaves(shape, symbols)?, leaves(strides, symbols)?);
        let fits = shape.len() == strides.len()
            && shape.iter().zip(&strides).all(|(one, two)| one.len() == two.len());
        let modes: Vec<Vec<(u64, u64)>> = shape
            .into_iter()
            .zip(strides)
            .map(|(one, two)| one.into_iter().zip(two).collect())
            .collect();
        let out = Self { modes };
        (fits && (0..out.modes.len()).all(|mode| out.size(mode) <= MOST as u64)).then_some(out)
    }
    /// Coordinates of a mode; 1 of what it does not have.
    fn size(&self, mode: usize) -> u64 {
        self.modes.get(mode).into_iter().flatten().map(|(extent, _)| extent).product()
    }
    /// How far a coordinate of a mode leads.
    fn at(&self, mode: usize, mut coordinate: u64) -> u64 {
        let mut out = 0;
        for (extent, stride) in self.modes.get(mode).into_iter().flatten() {
            out += coordinate % extent * stride;
            coordinate /= extent;
        }
        out
    }
}

/// Numbers of a nested list, by its outermost parts.
fn leaves(text: &str, symbols: &Symbols<'_>) -> Option<Vec<Vec<u64>>> {
    let inner = text.strip_prefix('(')?.strip_suffix(')')?;
    let (mut depth, mut out, mut word) = (0_u32, vec![vec![]], String::new());
    for letter in inner.chars().chain([',']) {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.checked_sub(1)?,
            ',' => {
                out.last_mut()?.push(number(&word, symbols)?);
                word.clear();
                if depth == 0 {
                    out.push(vec![]);
                }
            }
            _ => word.push(letter),
        }
    }
    out.pop();
    (depth == 0).then_some(out)
}

/// A number, a symbol, or so many times a symbol.
fn number(word: &str, symbols: &Symbols<'_>) -> Option<u64> {
    let at = word.find(|c: char| !c.is_ascii_digit()).unwrap_or(word.len());
    let (factor, symbol) = word.split_at(at);
    let factor = if factor.is_empty() { 1 } else { factor.parse::<u64>().ok()? };
    let value = if symbol.is_empty() { 1 } else { *symbols.get(symbol)? };
    (!word.is_empty()).then_some(factor.checked_mul(value)?)
}

/// What an amount of a tile of the tables comes to.
fn amount(amount: Amount, tile: &Tile, symbols: &Symbols<'_>) -> Result<u64, Told> {
    let symbol = match amount.param {
        0 => return Ok(u64::from(amount.factor)),
        at => tile.params.get(usize::from(at) - 1).map_or("", String::as_str),
    };
    let value =
        symbols.get(symbol).ok_or(Told::Unread("it says nothing of a symbol of the table"))?;
    Ok(u64::from(amount.factor) * value)
}

/// Where each element lies, by axis; the last walk is the fastest.
fn places(
    iters: &[TileIter],
    tile: &Tile,
    symbols: &Symbols<'_>,
) -> Result<Vec<BTreeMap<AxisId, u64>>, Told> {
    let mut out = vec![BTreeMap::new()];
    for it in iters {
        let (extent, stride) =
            (amount(it.extent, tile, symbols)?, amount(it.stride, tile, symbols)?);
        if out.len() as u64 * extent > MOST as u64 {
            return Err(Told::Unread("it is too large"));
        }
        let mut next = Vec::new();
        for place in &out {
            for step in 0..extent {
                let mut place = place.clone();
                *place.entry(it.axis).or_default() += step * stride;
                next.push(place);
            }
        }
        out = next;
    }
    Ok(out)
}

fn of(place: &BTreeMap<AxisId, u64>, axis: AxisId) -> u64 {
    place.get(&axis).copied().unwrap_or(0)
}

/// How many elements some walks have.
fn count(iters: &[TileIter], tile: &Tile, symbols: &Symbols<'_>) -> Result<u64, Told> {
    iters.iter().map(|it| amount(it.extent, tile, symbols)).product()
}

fn tile(model: &HwModel, name: &str, symbols: &Symbols<'_>, told: &Cute) -> Result<(), Told> {
    let (fact, tile) = (model.units.tensor_tiles.iter())
        .find(|(fact, _)| fact.entry.name.value == name)
        .ok_or(Told::Unknown)?;
    let memory = model.units.tensor_memories.iter().find(|memory| memory.feature == fact.feature);
    let memory = memory.or(model.units.tensor_memories.first()).ok_or(Told::Unknown)?;
    let (lanes, cell) = (u64::from(memory.entry.lanes), u64::from(memory.entry.cell_bits));
    let bits = symbols.get("bits").copied().unwrap_or(cell).max(1);
    let own = places(&tile.iters, tile, symbols)?;
    let copies = places(&tile.replicas, tile, symbols)?;
    let at = usize::from(fact.entry.rows).min(tile.iters.len());
    let elements = count(&tile.iters[at..], tile, symbols)?.max(1);
    // An element of the tables may be several of the other's.
    let bytes = tile.iters.iter().any(|it| it.axis == AxisId::BYTE);
    let pieces = (if bytes { 8 } else { cell }) / bits;
    let (rows, columns) = (told.size(0).max(1), told.size(1) / pieces.max(1));
    if pieces == 0 || columns != elements || !(own.len() as u64).is_multiple_of(rows * elements) {
        let message = format!("{} elements, there {rows} rows of {columns}", own.len());
        return Err(Told::Differs(tile.span, message));
    }
    for (x, place) in (0_u64..).zip(&own) {
        let (row, column) = (x / elements, x % elements);
        let found: BTreeSet<u64> = copies
            .iter()
            .map(|copy| {
                let along = |axis| of(place, axis) + of(copy, axis);
                let bit = along(AxisId::TCOL) * cell + along(AxisId::BYTE) * 8;
                along(AxisId::TLANE) + lanes * (bit / bits)
            })
            .collect();
        let there = told.at(0, row % rows) + told.at(1, column * pieces);
        let wanted: BTreeSet<u64> =
            (0..told.size(2).max(1)).map(|c| there + told.at(2, c)).collect();
        if of(place, AxisId::CBX) != row / rows || found != wanted {
            let message = format!(
                "row {row}, element {column} is at {found:?} of block {}, there at {wanted:?} of {}",
                of(place, AxisId::CBX),
                row / rows
            );
            return Err(Told::Differs(tile.span, message));
        }
    }
    Ok(())
}

fn moves(model: &HwModel, name: &str, symbols: &Symbols<'_>, told: &Cute) -> Result<(), Told> {
    let (_, cells, tuple) = (model.units.tensor_moves.iter())
        .find(|(fact, ..)| fact.entry.name.value == name)
        .ok_or(Told::Unknown)?;
    let cell = model.units.tensor_memories.first().map_or(32, |one| u64::from(one.entry.cell_bits));
    let width = *symbols.get("width").ok_or(Told::Unread("it does not say its `width`"))?;
    let (from, to) = (places(&cells.iters, cells, symbols)?, places(&tuple.iters, tuple, symbols)?);
    let all = told.size(0) * told.size(1);
    if from.len() != to.len() || from.len() as u64 * cell != all {
        let message = format!("{} cells are moved, there {}", from.len(), all / cell.max(1));
        return Err(Told::Differs(tuple.span, message));
    }
    for (from, to) in from.iter().zip(&to) {
        let here = of(from, AxisId::TCOL) * cell + width * of(from, AxisId::TLANE);
        let (lane, bit) = (of(to, AxisId::LANE), of(to, AxisId::BIT));
        let there = told.at(0, lane) + told.at(1, bit);
        if here != there {
            let message = format!(
                "lane {lane}, bit {bit} has lane {}, bit {} of the memory, there lane {}, bit {}",
                here / width,
                here % width,
                there / width,
                there % width
            );
            return Err(Told::Differs(tuple.span, message));
        }
    }
    Ok(())
}

fn operand(model: &HwModel, name: &str, symbols: &Symbols<'_>, told: &Cute) -> Result<(), Told> {
    let (fact, tile, _) = (model.units.operand_tiles.iter())
        .find(|(fact, ..)| fact.entry.name.value == name)
        .ok_or(Told::Unknown)?;
    let (outer, depth) = tile.iters.split_at(usize::from(fact.entry.outer).min(tile.iters.len()));
    let mut modes = Vec::new();
    for iters in [outer, depth] {
        let all = places(iters, tile, symbols)?;
        modes.push(all.iter().map(|place| place.values().sum()).collect::<Vec<u64>>());
    }
    for (mode, own) in modes.iter().enumerate() {
        let word = ["outer coordinate", "depth"][mode];
        if told.size(mode) > own.len() as u64 {
            let message = format!("{word} {} is none of the tile's", own.len());
            return Err(Told::Differs(tile.span, message));
        }
        for (x, here) in (0..told.size(mode)).zip(own) {
            let there = told.at(mode, x);
            if *here != there {
                let message = format!("{word} {x} is at element {here}, there at {there}");
                return Err(Told::Differs(tile.span, message));
            }
        }
    }
    Ok(())
}

fn scales(model: &HwModel, name: &str, told: &Cute) -> Result<(), Told> {
    let (product, operand) = name.rsplit_once('/').ok_or(Told::Unknown)?;
    let mut found = false;
    for atom in model.atoms.iter().filter(|atom| super::fits(product, &atom.name.value)) {
        let Some(operand) = atom.operands.iter().find(|one| one.name.value == operand) else {
            continue;
        };
        let (Some(layout), Some(extents)) = (&operand.layout, &operand.extents) else { continue };
        found = true;
        // A scale of A is by row and run of the depth, one of B by run and column.
        let (rows, columns) = extents.value;
        let by_row = atom
            .more
            .as_ref()
            .and_then(|more| more.scales.0)
            .and_then(|at| atom.operands.get(usize::from(at)))
            .is_some_and(|one| one.name.value == operand.name.value);
        let (outer, runs) = if by_row { (rows, columns) } else { (columns, rows) };
        let (outer, runs) = (u64::from(outer).max(1), u64::from(runs).max(1));
        let size = layout.size().max(1);
        let lanes = layout.positions(AxisId::LANE);
        for (number, lane) in (0_u64..).zip(lanes) {
            let x = number % size;
            let row = if by_row { x / runs } else { x % outer };
            let lane = u64::try_from(lane).unwrap_or(u64::MAX);
            let there = told.at(0, lane % told.size(0).max(1)) % outer;
            if row != there || lane >= told.size(0) {
                let message = format!(
                    "lane {lane} has a scale of {row} in `{}`, there of {there}",
                    text(atom).split_whitespace().next().unwrap_or_default()
                );
                return Err(Told::Differs(layout.text.span, message));
            }
        }
    }
    if found { Ok(()) } else { Err(Told::Unknown) }
}
