//! Tensor memory is covered as registers are: tiles fill its lanes, moves fill their registers,
//! shapes fit their tiles.
//!
//! What a tile's name says in numbers (`32x128b`: rows and bits of a row) is what its layout holds;
//! the rows of a shape are those of its tile; a sparse product is twice as deep as the dense one of
//! its descriptor.
use crate::compile::Compiled;
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::model::units::{Fact, Tile, Units};
use crate::schema::unit::{TensorMemory, TensorMove, TensorTile, TensorUse};
use lanebook_layout::AxisId;
use lanebook_tables::{Amount, TileIter};
use std::collections::{BTreeMap, BTreeSet};

/// Most places of a tile that are looked at.
const MOST: u64 = 1 << 18;
/// What symbols that only count stand for here.
const COUNT: u64 = 4;

/// See the module.
#[must_use]
pub fn check(compiled: &Compiled) -> Diagnostics {
    let units = &compiled.model.units;
    let mut diags = Diagnostics::new();
    for memory in &units.tensor_memories {
        sizes(memory, &mut diags);
        for (fact, tile) in &units.tensor_tiles {
            tiles(&memory.entry, fact, tile, &mut diags);
        }
        for (fact, cells, tuple) in &units.tensor_moves {
            moves(compiled, &memory.entry, (fact, cells, tuple), &mut diags);
        }
    }
    shapes(units, &mut diags);
    super::frame::check(compiled, &mut diags);
    diags
}

fn sizes(memory: &Fact<TensorMemory>, diags: &mut Diagnostics) {
    let entry = &memory.entry;
    let mut say = |message: String, help: &str| {
        diags.push(Diagnostic::at(entry.span.head(), message).help(help))
    };
    if u32::from(entry.lanes_per_warp) * u32::from(entry.warps) != u32::from(entry.lanes) {
        say(
            format!(
                "{} warps that reach {} lanes each are not {} lanes",
                entry.warps, entry.lanes_per_warp, entry.lanes
            ),
            "every lane is reached by one warp of a group: correct one of the three",
        );
    }
    let (least, most) = entry.allocation;
    if most != entry.columns || !least.is_power_of_two() || least > most || !most.is_power_of_two()
    {
        say(
            format!("allocations of {least} to {most} columns, of {}", entry.columns),
            "they are powers of two, up to all of the columns",
        );
    }
    // Lane and column share an address: half of it each.
    if u32::from(entry.lane_shift) * 2 != u32::from(entry.cell_bits) {
        say(
            format!(
                "lanes begin at bit {} of an address of {} bits",
                entry.lane_shift, entry.cell_bits
            ),
            "an address is a cell: the lane stands in its upper half, the column in its lower",
        );
    }
    if !u32::from(entry.shared_bytes).is_multiple_of(u32::from(entry.cell_bits) / 8) {
        say(
            format!("a slot of {} bytes for an address", entry.shared_bytes),
            "it holds addresses of a cell's width",
        );
    }
}

/// A symbol stands for `n` if it alone counts, and is 0 where it is an offset.
fn amount(amount: Amount, n: u64) -> u64 {
    u64::from(amount.factor) * if amount.param == 0 { 1 } else { n }
}

/// Places on the axes, with the row of each.
fn places(iters: &[TileIter], n: u64) -> Option<Vec<BTreeMap<AxisId, u64>>> {
    let mut out = vec![BTreeMap::new()];
    for it in iters {
        let (extent, stride) = (amount(it.extent, n), amount(it.stride, n));
        if out.len() as u64 * extent > MOST {
            return None;
        }
        out = out
            .iter()
            .flat_map(|place: &BTreeMap<AxisId, u64>| {
                (0..extent).map(move |step| {
                    let mut place = place.clone();
                    *place.entry(it.axis).or_default() += step * stride;
                    place
                })
            })
            .collect();
    }
    Some(out)
}

fn values(places: &[BTreeMap<AxisId, u64>], axis: AxisId) -> BTreeSet<u64> {
    places.iter().map(|place| place.get(&axis).copied().unwrap_or(0)).collect()
}

/// Pairs of numbers in a name as `32x128b`: rows and bits of a row.
fn said(name: &str) -> Option<(u64, u64)> {
    name.split('.').find_map(|word| {
        let (rows, bits) = word.strip_suffix('b')?.split_once('x')?;
        Some((rows.parse().ok()?, bits.parse().ok()?))
    })
}

fn extents(iters: &[TileIter], n: u64) -> u64 {
    iters.iter().map(|it| amount(it.extent, n)).product()
}

fn tiles(memory: &TensorMemory, fact: &Fact<TensorTile>, tile: &Tile, diags: &mut Diagnostics) {
    let entry = &fact.entry;
    let mut say = |message: String, help: &str| {
        diags.push(Diagnostic::at(tile.span, message).note(entry.name.span, "the tile").help(help))
    };
    let all: Vec<TileIter> = tile.iters.iter().chain(&tile.replicas).copied().collect();
    let Some(places) = places(&all, COUNT) else { return };
    let lanes = values(&places, AxisId::TLANE);
    let second: BTreeSet<u64> = match entry.second_lanes {
        0 => BTreeSet::new(),
        far => lanes.iter().map(|lane| lane + u64::from(far)).collect(),
    };
    if !second.is_disjoint(&lanes) {
        say(
            format!("{} lanes on, the tile meets itself", entry.second_lanes),
            "correct `second_lanes`: the second place is beside the first",
        );
    }
    let copied = said(&entry.name).is_some();
    let word = entry.name.value.split('.').next().unwrap_or_default();
    let uses = [TensorUse::Accumulator, TensorUse::Scale, TensorUse::Copy, TensorUse::Metadata];
    let named = uses.into_iter().find(|one| format!("{one:?}").to_lowercase() == word);
    if copied != (entry.purpose == TensorUse::Copy) || named.is_some_and(|one| one != entry.purpose)
    {
        say(
            format!("`{}` is a tile of another purpose by its name", entry.name.value),
            "copies are called by their rows and bits, others by what they hold: correct `purpose`",
        );
    }
    let covered: BTreeSet<u64> = lanes.union(&second).copied().collect();
    let every: BTreeSet<u64> = (0..u64::from(memory.lanes)).collect();
    if !covered.is_subset(&every) {
        say(
            format!("the tile leaves the {} lanes", memory.lanes),
            "correct the strides on the lanes, or `second_lanes`",
        );
    } else if entry.purpose != TensorUse::Copy && covered != every {
        say(
            format!("the tile has {} of {} lanes", covered.len(), memory.lanes),
            "a product's rows and their copies fill the lanes: correct the layout, its copies or `second_lanes`",
        );
    }
    for axis in [AxisId::TCOL, AxisId::BYTE, AxisId::CBX] {
        let at = values(&places, axis);
        let most = at.iter().max().copied().unwrap_or(0);
        if at.len() as u64 != most + 1 {
            say(
                format!(
                    "the tile skips places on `{}`: {} of {}",
                    crate::layouts::axis_name(axis),
                    at.len(),
                    most + 1
                ),
                "neighbours lie side by side: correct the strides",
            );
        }
        if axis == AxisId::BYTE && most >= u64::from(memory.cell_bits) / 8 {
            say("a byte beyond its cell".into(), "correct the strides on `byte`");
        }
    }
    if let Some((rows, bits)) = said(&entry.name) {
        let (of_rows, of_row) = tile.iters.split_at(usize::from(entry.rows).min(tile.iters.len()));
        let found = (extents(of_rows, COUNT), extents(of_row, COUNT) * u64::from(memory.cell_bits));
        if found != (rows, bits) {
            say(
                format!(
                    "the name says {rows} rows of {bits} bits, the layout {} of {}",
                    found.0, found.1
                ),
                "correct the layout, `rows` or the name",
            );
        }
        let lanes_wanted = extents(of_rows, COUNT) * extents(&tile.replicas, COUNT);
        if lanes.len() as u64 != lanes_wanted {
            say(
                format!("{lanes_wanted} rows and copies have {} lanes", lanes.len()),
                "each row has a lane of its own",
            );
        }
    }
}

fn moves(
    compiled: &Compiled,
    memory: &TensorMemory,
    (fact, cells, tuple): (&Fact<TensorMove>, &Tile, &Tile),
    diags: &mut Diagnostics,
) {
    let entry = &fact.entry;
    let mut say = |span, message: String, help: &str| {
        diags.push(Diagnostic::at(span, message).note(entry.name.span, "the move").help(help))
    };
    let bits = u64::from(memory.cell_bits);
    let plain: Vec<TileIter> = cells.iters.clone();
    if let (Some(cells_at), Some(tuple_at)) = (places(&plain, COUNT), places(&tuple.iters, COUNT)) {
        let lanes = values(&cells_at, AxisId::TLANE);
        if lanes.iter().any(|lane| *lane >= u64::from(memory.lanes_per_warp)) {
            say(
                cells.span,
                format!("a warp reaches {} lanes, the cells go beyond", memory.lanes_per_warp),
                "correct the strides on `TLane`",
            );
        }
        for axis in [AxisId::TLANE, AxisId::TCOL] {
            let at = values(&cells_at, axis);
            let most = at.iter().max().copied().unwrap_or(0);
            if at.len() as u64 != most + 1 && cells.iters.iter().all(|it| it.stride.param == 0) {
                say(
                    cells.span,
                    format!("the cells skip places on `{}`", crate::layouts::axis_name(axis)),
                    "neighbours lie side by side: correct the strides",
                );
            }
        }
        let held = u64::from(entry.registers) * COUNT * bits;
        let warp = values(&tuple_at, AxisId::LANE);
        let in_lane = values(&tuple_at, AxisId::BIT);
        if warp.len() as u64 * held != tuple_at.len() as u64 * bits {
            say(
                tuple.span,
                format!(
                    "{} cells fill {} registers of {} lanes, not {} of each",
                    tuple_at.len(),
                    tuple_at.len() / warp.len().max(1),
                    warp.len(),
                    u64::from(entry.registers) * COUNT
                ),
                "correct `registers` or the layouts",
            );
        }
        if in_lane.iter().any(|bit| !bit.is_multiple_of(bits) || *bit >= held)
            || warp.iter().max().is_some_and(|lane| lane + 1 != warp.len() as u64)
        {
            say(
                tuple.span,
                "the tuple has gaps, or leaves its registers".into(),
                "registers and lanes are filled side by side: correct the strides",
            );
        }
        let distinct: BTreeSet<_> = cells_at.iter().collect();
        if distinct.len() != cells_at.len() {
            say(cells.span, "two coordinates share a cell".into(), "correct the strides");
        }
    }
    if let Some((rows, wide)) = said(&entry.name) {
        let at = usize::from(entry.rows).min(cells.iters.len());
        let (of_rows, of_row) = cells.iters.split_at(at);
        let found = (extents(of_rows, 1), extents(of_row, 1) * bits);
        // A form that moves two halves of its lanes has twice the columns.
        let lanes = places(&cells.iters, COUNT).map(|at| values(&at, AxisId::TLANE).len() as u64);
        if lanes.is_some_and(|lanes| lanes != rows) {
            say(
                cells.span,
                format!("the name says {rows} rows, the cells lie on {} lanes", lanes.unwrap_or(0)),
                "rows go to lanes: correct the axes",
            );
        }
        if found.0 != rows || !found.1.is_multiple_of(wide) {
            say(
                cells.span,
                format!(
                    "the name says {rows} rows of {wide} bits, the cells {} of {}",
                    found.0, found.1
                ),
                "correct the layouts, `rows` or the name",
            );
        }
    }
    let (pieces, each) = entry.packed;
    if u64::from(pieces) * u64::from(each) != bits {
        say(
            entry.name.span,
            format!("{pieces} pieces of {each} bits are no register of {bits}"),
            "correct `packed`",
        );
    }
    counts(compiled, fact, diags);
}

/// What `n` can be is what the instruction's text can say.
fn counts(compiled: &Compiled, fact: &Fact<TensorMove>, diags: &mut Diagnostics) {
    let entry = &fact.entry;
    let counts: BTreeSet<u16> = entry.counts.iter().copied().collect();
    for (name, one) in [&entry.loads, &entry.stores] {
        for atom in compiled.model.atoms.iter().filter(|atom| atom.name.value == name.value) {
            for operand in atom.operands.iter().filter(|o| !o.vary.values.is_empty()) {
                // What moves one register has a text of its own.
                let mut values: BTreeSet<u16> = operand.vary.values.iter().copied().collect();
                values.extend((!one.is_empty()).then_some(1));
                if values != counts {
                    let message = format!(
                        "`{}` takes {:?}, the move's `counts` are {:?}",
                        atom.name.value, values, entry.counts
                    );
                    diags.push(
                        Diagnostic::at(entry.name.span, message)
                            .note(operand.name.span, "the parameter")
                            .help("correct one of them"),
                    );
                }
            }
        }
    }
}

fn shapes(units: &Units, diags: &mut Diagnostics) {
    for shape in &units.shapes {
        let entry = &shape.entry;
        for (m, name) in &entry.m.value {
            let Some((fact, tile)) =
                units.tensor_tiles.iter().find(|(fact, _)| fact.entry.name.value == name.value)
            else {
                continue;
            };
            let at = usize::from(fact.entry.rows).min(tile.iters.len());
            let of_rows = &tile.iters[..at];
            let rows = extents(of_rows, COUNT);
            let blocks: u64 = of_rows
                .iter()
                .filter(|it| it.axis == AxisId::CBX)
                .map(|it| amount(it.extent, COUNT))
                .product();
            if rows != u64::from(*m) || blocks != u64::from(entry.blocks) {
                let message = format!(
                    "{m} rows in {} blocks, tile `{}` has {rows} in {blocks}",
                    entry.blocks, name.value
                );
                diags.push(
                    Diagnostic::at(name.span, message)
                        .note(tile.span, "the tile")
                        .help("use another tile, or correct `m` or `blocks`"),
                );
            }
            if fact.entry.purpose != TensorUse::Accumulator {
                diags.push(
                    Diagnostic::at(name.span, format!("tile `{}` is no accumulator", name.value))
                        .note(fact.entry.name.span, "the tile")
                        .help("correct its `purpose`, or use another"),
                );
            }
        }
        columns(entry, diags);
        let first = units.shapes.iter().map(|other| &other.entry).find(|other| {
            (other.kind.value == entry.kind.value)
                && (other.descriptor.value == entry.descriptor.value)
                && (other.blocks, other.sparse, other.stationary)
                    == (entry.blocks, entry.sparse, entry.stationary)
        });
        if let Some(first) = first.filter(|first| first.kind.span != entry.kind.span) {
            diags.push(
                Diagnostic::at(entry.kind.span, "products of this kind are described twice")
                    .note(first.kind.span, "the first time")
                    .help("correct `blocks`, `sparse` or `stationary`, or put their rows together"),
            );
        }
        for other in units.shapes.iter().filter(|other| {
            other.entry.descriptor.value == entry.descriptor.value && !other.entry.sparse
        }) {
            let deep = if entry.sparse { 2 } else { 1 };
            let wanted: Vec<u16> = other.entry.k.iter().map(|k| k * deep).collect();
            if wanted != entry.k {
                let message = format!(
                    "depth {:?} here and {:?} in a dense shape of this descriptor",
                    entry.k, other.entry.k
                );
                diags.push(
                    Diagnostic::at(entry.kind.span, message)
                        .note(other.entry.kind.span, "the dense one")
                        .help("one descriptor has one depth, and twice that for a sparse A"),
                );
                break;
            }
        }
    }
}

/// Runs of columns begin with their step, or where the run before ends.
fn columns(entry: &crate::schema::unit::UnitShape, diags: &mut Diagnostics) {
    let mut before: Option<(u16, u16, u16)> = None;
    for (low, high, step) in entry.n.value.iter().copied() {
        let follows = match before {
            None => low == step,
            Some((_, last, _)) => low == high || low == last + step,
        };
        if !follows || before.is_some_and(|(_, last, _)| low <= last) {
            diags.push(
                Diagnostic::at(
                    entry.n.span,
                    format!(
                        "columns from {low} to {high} by {step} do not follow what is before them"
                    ),
                )
                .help("the first run begins with its step, another one a step behind the last"),
            );
        }
        before = Some((low, high, step));
    }
}
