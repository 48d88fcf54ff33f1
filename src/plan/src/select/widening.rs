//! Products of elements that nothing multiplies, or no unit in whole instructions of these extents: their
//! factors first become elements that have every number of theirs, and that something does multiply. Pairs of whole numbers of half a byte,
//! which are neighbours along the depth, become two factors, of the first ones and of the second ones:
//! the sum of the products of both is theirs.

use crate::select::before::{Before, WORD};
use crate::select::elementwise::is_done;
use lanebook_ir::{Op, Program, Type, Value, attr_names};
use lanebook_tables::{
    Arch, AtomId, Capability, Dtype, DtypeId, DtypeKind, OpRole, OpWord, Tables,
};
use lanebook_tile::unlaid::{divides, undivided};

/// The operation that makes elements of another type.
const CAST: &str = "cast";

/// The elements that a product's factors become; `None` where they stay what they are: something
/// multiplies them, or nothing that has all of their numbers.
pub(crate) fn wider(
    tables: &Tables<'_>,
    arch: &Arch<'_>,
    program: &Program<'_, '_>,
    op: Op,
) -> Option<Wider> {
    if program.role(op) != OpRole::Matrix || program.operand_count(op) != 3 {
        return None;
    }
    let of = |value: Option<Value>| program.type_of(value?).dtype;
    let factors = [of(program.operand(op, 0))?, of(program.operand(op, 1))?];
    let (c, d) = (of(program.operand(op, 2))?, of(program.result(op, 0))?);
    let extents = extents(program, op);
    let documented_for_arch =
        |id: &&AtomId| arch.own(**id).is_some_and(|own| own.documented_for_arch);
    let able =
        |a, b| arch.dispatch(Capability::Product { a, b, c, d }).iter().filter(documented_for_arch);
    let has_unit = |a, b| able(a, b).next().is_some();
    let wave = arch.wave_lanes.first().copied().unwrap_or(0);
    // A tile of other dimensions than two is not split yet: any unit may do.
    let units = |a, b, tile: Option<(u64, u64, u64)>| {
        able(a, b).any(|id| {
            let takes = |tile, atom| {
                divides(atom, tile) && undivided(tables, *id, atom, (tile, wave)).is_none()
            };
            tile.is_none_or(|tile| tables.atom(*id).is_some_and(|atom| takes(tile, atom)))
        })
    };
    let lanes = |a, b| !arch.dispatch(Capability::LaneProduct { a, b, c, d }).is_empty();
    // The transposed product has its factors exchanged.
    let turned = extents.map(|(rows, cols, depth)| (cols, rows, depth));
    let by_units = |a, b| units(a, b, extents) || units(b, a, turned);
    // Where a unit has such elements in other extents, lanes are no way: a unit for wider ones is.
    let [one, other] = factors;
    let alone = !has_unit(one, other) && !has_unit(other, one);
    let multiplies = |a, b| by_units(a, b) || alone && (lanes(a, b) || lanes(b, a));
    if multiplies(one, other) {
        return None;
    }
    let weights = tables.weights;
    if let [Some(one), Some(other)] = factors.map(|id| whole_of_pairs(tables, id)) {
        // A unit that has such elements takes them as they are.
        if has_unit(one, other) || has_unit(other, one) {
            return None;
        }
        let dtype = tables
            .dtype_of(DtypeKind::Signed, BYTE)
            .filter(|id| has_unit(*id, *id) || lanes(*id, *id))?;
        let steps =
            able(dtype, dtype).filter_map(|id| tables.atom(*id)?.product()).map(|shape| shape.k);
        let step = steps.min();
        let depth = match step {
            None => weights.widened_depth_lanes,
            // As many bytes as elements of twice the width take, and one step of a unit at the least.
            Some(step) => weights.widened_depth.saturating_mul(2).max(u32::from(step)),
        };
        return Some(Wider { dtype, depth, pairs: Some(step.map_or(1, u32::from)) });
    }
    let becomes = |from: DtypeId, to: DtypeId| from == to || casts(tables, arch, from, to);
    let wide = |to: &DtypeId| {
        let has = |from: &DtypeId| {
            let both = tables.dtype(*from).zip(tables.dtype(*to));
            both.is_some_and(|(from, wide)| holds(wide, from, arch.flushed.contains(to)))
        };
        factors.iter().all(has) && factors.iter().all(|from| becomes(*from, *to))
    };
    let bits = |id: &DtypeId| tables.dtype(*id).map_or(u16::MAX, |dtype| dtype.bits);
    let all = (0..tables.dtypes.len()).filter_map(|id| u16::try_from(id).ok()).map(DtypeId);
    // Where no unit for wider ones takes the extents either, lanes take elements of which there is none.
    let takes = |to: &DtypeId, in_lanes: bool| match in_lanes {
        true => !has_unit(*to, *to) && lanes(*to, *to),
        false => multiplies(*to, *to),
    };
    let least =
        |in_lanes: bool| all.clone().filter(|to| takes(to, in_lanes)).filter(wide).min_by_key(bits);
    let dtype = least(false).or_else(|| least(true))?;
    let by_lanes = !by_units(dtype, dtype);
    let depth = if by_lanes { weights.widened_depth_lanes } else { weights.widened_depth };
    Some(Wider { dtype, depth, pairs: None })
}

/// Rows, columns and depth of a product.
fn extents(program: &Program<'_, '_>, op: Op) -> Option<(u64, u64, u64)> {
    let (rows, depth) = program.type_of(program.operand(op, 0)?).shape.pair()?;
    let (_, cols) = program.type_of(program.operand(op, 1)?).shape.pair()?;
    Some((rows.into(), cols.into(), depth.into()))
}

/// Bits that a pair of elements of half a byte has.
const BYTE: u16 = 8;

/// The whole numbers of which a type's elements are pairs.
fn whole_of_pairs(tables: &Tables<'_>, id: DtypeId) -> Option<DtypeId> {
    let single = tables.dtype(id)?.pair_of?;
    let kind = tables.dtype(single)?.kind;
    matches!(kind, DtypeKind::Signed | DtypeKind::Unsigned).then_some(single)
}

/// The first ones of a tile's pairs, or the second ones, as bytes that have a sign.
fn half(before: &mut Before<'_, '_, '_>, of: Value, is_second: bool, to: DtypeId) -> Option<Value> {
    let ty = before.program.type_of(of);
    let tables = before.program.tables();
    let single = tables.dtype(tables.dtype(ty.dtype?)?.pair_of?)?;
    let words = before.words(of)?;
    let ty = before.program.type_of(words);
    let bits = u32::from(single.bits);
    // A register's bits above one of them.
    let above = u32::from(WORD).checked_sub(bits)?;
    let mut moved = |name: &str, of: Value, by: u32| {
        let by = before.number(by, ty)?;
        before.named(name, &[of, by], ty)
    };
    let number = match (single.kind == DtypeKind::Signed, is_second) {
        (true, false) => {
            let high = moved("arith.shli", words, above)?;
            moved("arith.shrsi", high, above)?
        }
        (true, true) => {
            let high = moved("arith.shli", words, above.checked_sub(bits)?)?;
            moved("arith.shrsi", high, above)?
        }
        (false, false) => {
            let all = 1u32.checked_shl(bits)?.checked_sub(1)?;
            moved("arith.andi", words, all)?
        }
        (false, true) => moved("arith.shrui", words, bits)?,
    };
    before.named("arith.trunci", &[number], Type::tensor(ty.shape, to))
}

/// The first ones of a tile's pairs, and behind them along a dimension the second ones.
fn beside(
    before: &mut Before<'_, '_, '_>,
    of: Value,
    dimension: usize,
    to: DtypeId,
) -> Option<Value> {
    let (rows, cols) = before.program.type_of(of).shape.pair()?;
    let (first, second) = (half(before, of, false, to)?, half(before, of, true, to)?);
    let (extents, start) = match dimension {
        0 => ([rows.checked_mul(2)?, cols], [rows, 0]),
        _ => ([rows, cols.checked_mul(2)?], [0, cols]),
    };
    let ty = Before::shaped(&extents, to)?;
    let both = before.number(0, ty)?;
    let both = before.slice(&[first, both], [0, 0], ty)?;
    before.slice(&[second, both], start, ty)
}

/// Whether a type has every number of another one; `flushed`: its subnormal numbers count as 0.
fn holds(wide: &Dtype<'_>, narrow: &Dtype<'_>, flushed: bool) -> bool {
    if wide == narrow {
        return true;
    }
    match (wide.format, narrow.format) {
        (Some(wide), Some(narrow)) if flushed => wide.holds_as_normal(&narrow),
        (Some(wide), Some(narrow)) => wide.holds(&narrow),
        (None, None) => {
            let whole = matches!(wide.kind, DtypeKind::Signed | DtypeKind::Unsigned);
            whole && wide.kind == narrow.kind && wide.bits >= narrow.bits
        }
        _ => false,
    }
}

/// Whether instructions of the architecture, or sequences of them, make one type's elements of
/// another's.
fn casts(tables: &Tables<'_>, arch: &Arch<'_>, from: DtypeId, to: DtypeId) -> bool {
    tables.op_named(CAST).is_some_and(|cast| {
        is_done(tables, arch, OpWord::Op(cast), 1, from, to)
            || tables.sequence(cast, from, to).is_some()
    })
}

/// What a product's factors become.
#[derive(Copy, Clone)]
pub(crate) struct Wider {
    dtype: DtypeId,
    /// Most of the depth at once.
    depth: u32,
    /// They are pairs of elements, which become two factors: of one of these depths at the least,
    /// else of both elements, those of all first ones before the second ones.
    pairs: Option<u32>,
}

impl Wider {
    /// The same of the whole depth at once.
    pub(crate) fn whole(self) -> Self {
        Self { depth: u32::MAX, ..self }
    }

    /// Whether a product's factors are cut along the depth.
    pub(crate) fn cuts(self, program: &Program<'_, '_>, op: Op) -> bool {
        let depth = extents(program, op).map_or(0, |(_, _, depth)| depth);
        depth > u64::from(self.depth) && depth.is_multiple_of(self.depth.into())
    }
}

/// What a product reads: factors and sum.
pub(crate) fn operands(program: &Program<'_, '_>, op: Op) -> Option<[Value; 3]> {
    Some([program.operand(op, 0)?, program.operand(op, 1)?, program.operand(op, 2)?])
}

/// Puts the factors as wider elements before a product, slice by slice of the depth where it is
/// deep: a product of each slice, of which the product itself is the last. `None` where the program
/// has no room for all of them.
pub(crate) fn put(program: &mut Program<'_, '_>, op: Op, to: Wider) -> Option<()> {
    let operands = operands(program, op)?;
    let [a, b, mut sum] = operands;
    let [of_a, of_b, _] = operands.map(|value| program.type_of(value));
    let ((rows, depth), (_, cols)) = (of_a.shape.pair()?, of_b.shape.pair()?);
    let each = if to.cuts(program, op) { to.depth } else { depth };
    let decl = program.decl_id(op)?;
    let ty = program.type_of(program.result(op, 0)?);
    let ty = Type::tensor(ty.shape, ty.dtype?);
    let starts = core::iter::successors(Some(0u32), |at| at.checked_add(each));
    for at in starts.take_while(|at| *at < depth) {
        let mut before = Before { program, op };
        let (a, b) = match each == depth {
            true => (a, b),
            false => (
                before.slice(&[a], [0, at], Before::shaped(&[rows, each], of_a.dtype?)?)?,
                before.slice(&[b], [at, 0], Before::shaped(&[each, cols], of_b.dtype?)?)?,
            ),
        };
        let (a, b) = if to.pairs.is_some_and(|least| each < least) {
            let mut before = Before { program, op };
            (beside(&mut before, a, 1, to.dtype)?, beside(&mut before, b, 0, to.dtype)?)
        } else if to.pairs.is_some() {
            let mut before = Before { program, op };
            let first = half(&mut before, a, false, to.dtype)?;
            let second = half(&mut before, b, false, to.dtype)?;
            let made = program.insert_before(op, decl, &[first, second, sum], &[ty]).ok()?;
            copy_sums(program, op, made)?;
            sum = program.result(made, 0)?;
            let mut before = Before { program, op };
            (half(&mut before, a, true, to.dtype)?, half(&mut before, b, true, to.dtype)?)
        } else {
            (cast(program, op, a, to.dtype)?, cast(program, op, b, to.dtype)?)
        };
        if at.checked_add(each)? < depth {
            let made = program.insert_before(op, decl, &[a, b, sum], &[ty]).ok()?;
            copy_sums(program, op, made)?;
            sum = program.result(made, 0)?;
            continue;
        }
        for (number, value) in [a, b, sum].into_iter().enumerate() {
            program.set_operand(op, number, value).ok()?;
        }
    }
    Some(())
}

/// Lets the sums of a product stand where those of another one do.
pub(crate) fn copy_sums(program: &mut Program<'_, '_>, from: Op, to: Op) -> Option<()> {
    match program.attr(from, attr_names::SUMS) {
        Some(said) => program.set_attr(to, attr_names::SUMS, said).ok(),
        None => Some(()),
    }
}

/// A tile's elements as others, before an operation.
fn cast(program: &mut Program<'_, '_>, op: Op, of: Value, to: DtypeId) -> Option<Value> {
    let (decl, ty) = (program.tables().op_named(CAST)?, program.type_of(of));
    if ty.dtype == Some(to) {
        return Some(of);
    }
    let wide = program.insert_before(op, decl, &[of], &[Type::tensor(ty.shape, to)]).ok()?;
    program.result(wide, 0)
}
