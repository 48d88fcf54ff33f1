//! Operand fragments of matrix instructions: `mma`, sparse `mma`, `wgmma`.
//!
//! Rules: an instruction of several products has entries inside the product of the lane's quad
//! pair, (lane mod 16) / 4; a stored element of a sparse operand stands for the columns that the
//! stored ones of its register can come from, twice as many.

use super::lanes::{fragment, fragment_by_lane};
use super::{NO_FORM, Verdict};
use lanebook_layout::{AxisId, Coord};
use lanebook_tables::{Instance, MatrixShape};
use serde_json::Value;

/// `map[lane][i]` = `[row, col]` of element i, in register order; of a sparse operand `[row, first
/// column, last column]`.
pub fn judge(found: &[Instance<'_>], record: &Value) -> Result<Verdict, String> {
    let shape = found.first().and_then(Instance::shape).ok_or("no matrix")?;
    let numbers: &[u8] = match record["operand"].as_str().unwrap_or("") {
        "A" => &[shape.a],
        "B" => &[shape.b],
        "C" => &[shape.c],
        "D" => &[shape.d],
        "C/D" => &[shape.c, shape.d],
        "A(sparse)" => return sparse(found, &shape, record),
        other => return Err(format!("an operand {other} is not known")),
    };
    for number in numbers {
        // The form that has this operand in registers.
        let Some((form, layout)) = found.iter().find_map(|i| Some((i, i.layout(*number)?))) else {
            return Ok(Verdict::Skipped(NO_FORM));
        };
        let columns = u64::from(if *number == shape.a { shape.k } else { shape.n });
        let rows = u64::from(if *number == shape.b { shape.k } else { shape.m });
        let blocks = form.atom.more.map_or(1, |more| u64::from(more.blocks));
        fragment_by_lane(&layout.view(), record, |lane, entry| {
            let block = if blocks > 1 { (lane % 16) / 4 } else { 0 };
            Some((block * rows + entry.first()?) * columns + entry.get(1)?)
        })?;
    }
    Ok(Verdict::Agree)
}

/// The stored elements of a register come from twice as many columns, beginning at twice the first
/// one's.
fn sparse(found: &[Instance<'_>], shape: &MatrixShape, record: &Value) -> Result<Verdict, String> {
    let form = found
        .iter()
        .find(|i| i.atom.more.is_some_and(|more| more.index.is_some()))
        .ok_or("not sparse")?;
    let layout = form.layout(shape.a).ok_or("no layout")?;
    let stored = u64::from(shape.k / 2);
    // How many elements of a row lie in one register: those that share lane and register with the
    // first.
    let mut at = Coord::new();
    let mut register_of = |x: u64| -> Result<(i64, i64), String> {
        at.clear();
        layout.view().apply_flat(x, &mut at).map_err(|e| format!("{e:?}"))?;
        Ok((at.get(AxisId::LANE), at.get(AxisId::BIT) / 32))
    };
    let first = register_of(0)?;
    let mut together = 1;
    while together < stored && register_of(together)? == first {
        together += 1;
    }
    let mut lanes: Vec<usize> = vec![0; record["map"].as_array().map_or(0, Vec::len)];
    // An entry names a run of columns, so each of the run's elements has the same: count them off.
    let counter = std::cell::RefCell::new(&mut lanes);
    fragment_by_lane(&layout.view(), record, |lane, entry| {
        let [row, low, high] = *entry else { return None };
        if high + 1 - low != 2 * together || low % (2 * together) != 0 {
            return None;
        }
        let mut counts = counter.borrow_mut();
        let place = counts.get_mut(usize::try_from(lane).ok()?)?;
        let inside = *place as u64 % together;
        *place += 1;
        Some(row * stored + low / 2 + inside)
    })?;
    Ok(Verdict::Agree)
}

/// `map[lane]` = the scales that the lane provides, for a given thread id.
///
/// The atoms are those of the kind and the number of scales that the record's name has,
/// `mma.scaleA.KIND.VECTOR.tidN`.
pub fn scales(
    instances: impl Iterator<Item = (String, Instance<'static>)>,
    record: &Value,
) -> Result<Verdict, String> {
    let name = record["atom"].as_str().unwrap_or("");
    let [_, _, kind, vector, _] = name.split('.').collect::<Vec<_>>()[..] else {
        return Err(format!("the name {name} has other parts"));
    };
    let (kind, vector) = (format!(".kind::{kind}."), format!(".scale_vec::{vector}."));
    let is_a = record["operand"].as_str() == Some("SFA");
    let thread = record["thread_id"].as_i64().ok_or("no thread")?;
    let mut seen = 0;
    for (_, instance) in
        instances.filter(|(text, _)| text.contains(&kind) && text.contains(&vector))
    {
        let more = instance.atom.more.ok_or("no scales")?;
        let operand = if is_a { more.scales.0 } else { more.scales.1 }.ok_or("no scales")?;
        let mut layout = instance.layout(operand).ok_or("no layout")?;
        let by_lanes = more
            .moves
            .iter()
            .find(|m| m.of == operand && m.lanes > 0)
            .ok_or("nothing chooses the lanes")?;
        let range = instance.atom.operands.get(usize::from(by_lanes.by)).ok_or("no operand")?.range;
        if !(range.0..=range.1).contains(&thread) {
            return Err(format!("thread {thread} is outside {range:?}"));
        }
        layout
            .add_offset((thread * i64::from(by_lanes.lanes)).into(), AxisId::LANE)
            .map_err(|e| format!("{e:?}"))?;
        // Byte ids: as far as the first scale can be moved.
        let ids: Vec<i64> = record["byte_ids"]
            .as_array()
            .ok_or("no byte ids")?
            .iter()
            .filter_map(Value::as_i64)
            .collect();
        let by_bits = more.moves.iter().find(|m| m.of == operand && m.bits > 0);
        let most = by_bits
            .and_then(|m| instance.atom.operands.get(usize::from(m.by)))
            .map_or(0, |o| o.range.1);
        if ids.iter().max() != Some(&most) || by_bits.is_some_and(|m| m.bits != 8) {
            return Err(format!("byte ids {ids:?}, found up to {most}"));
        }
        let columns = record["shape"][1].as_u64().ok_or("no shape")?;
        fragment(&layout.view(), record, |entry| Some(entry.first()? * columns + entry.get(1)?))?;
        seen += 1;
    }
    Ok(if seen > 0 { Verdict::Agree } else { Verdict::Skipped(super::NO_ATOM) })
}
