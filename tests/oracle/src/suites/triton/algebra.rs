//! algebra.jsonl: operations on linear layouts, and layouts through operations on shapes.

use super::super::Verdict;
use super::{Judged, conflicts, read};
use lanebook_layout::triton::{Encoding, EncodingError, infer, to_linear};
use lanebook_layout::{AxisId, Coord, Hw, Linear, Logical};
use serde_json::Value;

type L = Linear<Hw, Logical>;

fn fail(e: impl std::fmt::Debug) -> String {
    format!("refused: {e:?}")
}

fn same(found: &L, expected: &L) -> Judged {
    if found.same_map(expected) {
        Ok(Verdict::Agree)
    } else {
        Err(format!("expected {expected:?}, found {found:?}"))
    }
}

/// The arguments as linear layouts.
fn layouts(record: &Value) -> Result<Vec<L>, String> {
    let args = record["args"].as_array().ok_or("no args")?;
    args.iter().map(read::linear).collect()
}

/// An argument that is an encoding, at the record's shape.
fn encoded(record: &Value, k: usize) -> Result<(Encoding, Vec<u32>, L), String> {
    let arg = &record["args"][k];
    let encoding = read::encoding(arg)?;
    let shape = read::shape(record)?;
    let linear = to_linear(&encoding, &shape, &read::tiles(arg)?).map_err(fail)?;
    Ok((encoding, shape, linear))
}

/// `b(c(x)) = a(x)` on every basis, with c's dimensions those of a and of b.
fn solves(a: &L, b: &L, c: &Linear<Hw, Hw>) -> Result<(), String> {
    for (axis, bits) in a.ins().iter() {
        if c.ins().bits_of(axis) != bits {
            return Err(format!("input {axis:?} has {} bits", c.ins().bits_of(axis)));
        }
    }
    for (axis, bits) in b.ins().iter() {
        if c.outs().bits_of(axis) != bits {
            return Err(format!("output {axis:?} has {} bits", c.outs().bits_of(axis)));
        }
    }
    let back: L = b.compose(c).map_err(fail)?;
    // Output dimensions of a may be narrower than in b.
    for (axis, bits) in a.ins().iter() {
        for bit in 0..bits {
            for (out, _) in b.outs().iter() {
                let own = a.column_on(axis, bit, out).unwrap_or(0);
                if back.column_on(axis, bit, out) != Some(own) {
                    return Err(format!("bit {bit} of {axis:?} comes back elsewhere"));
                }
            }
        }
    }
    Ok(())
}

fn inverse_and_composition(a: &L, b: &L, expected: &Value) -> Judged {
    let found = a.invert_and_compose(b).map_err(fail)?;
    solves(a, b, &found)?;
    let expected: Linear<Hw, Hw> = read::linear(expected)?.retype();
    solves(a, b, &expected)
        .map_err(|e| format!("the oracle's answer fails its own identity: {e}"))?;
    Ok(Verdict::Agree)
}

/// One record.
pub fn judge(record: &Value) -> Judged {
    let result = &record["result"];
    let op = record["op"].as_str().unwrap_or("");
    match op {
        "compose" => {
            let args = layouts(record)?;
            let second: Linear<Logical, Logical> = args[1].retype();
            same(&second.compose(&args[0]).map_err(fail)?, &read::linear(result)?)
        }
        "invert" => {
            let found = layouts(record)?[0].invert().map_err(fail)?;
            same(&found.retype(), &read::linear(result)?)
        }
        "pseudoinvert" => {
            let a = &layouts(record)?[0];
            let found = a.pseudo_invert().map_err(fail)?;
            let expected = read::linear(result)?;
            for dims in [
                found.ins().iter().eq(expected.ins().iter().filter(|_| true)),
                found.outs().iter().all(|(d, n)| expected.outs().bits_of(d) == n),
            ] {
                if !dims && found.ins().bits() != expected.ins().bits() {
                    return Err(format!("dimensions differ: {found:?}, {expected:?}"));
                }
            }
            let back: Linear<Logical, Logical> = a.compose(&found).map_err(fail)?;
            for (axis, bits) in back.ins().iter() {
                for bit in 0..bits {
                    let whole = back.column(axis, bit);
                    if whole != back.outs().insert(1 << bit, axis).ok() {
                        return Err(format!("bit {bit} of {axis:?} does not come back"));
                    }
                }
            }
            Ok(Verdict::Agree)
        }
        "invert_and_compose" => {
            let args = layouts(record)?;
            inverse_and_composition(&args[0], &args[1], result)
        }
        "encoding_pair_invert_and_compose" => {
            let (a, b) = (encoded(record, 0)?.2, encoded(record, 1)?.2);
            same(&a, &read::linear(&result["src"])?)?;
            same(&b, &read::linear(&result["dst"])?)?;
            inverse_and_composition(&a, &b, &result["cvt"])
        }
        "product" => {
            let args = layouts(record)?;
            let found = args[0].product(&args[1]).map_err(fail)?;
            same(&found, &read::linear(result)?)?;
            let left = found.divide_left(&args[0]).map_err(fail)?;
            let right = found.divide_right(&args[1]).map_err(fail)?;
            same(&left, &args[1])?;
            same(&right, &args[0])
        }
        "properties" => properties(&layouts(record)?[0], result),
        "apply" => apply(&layouts(record)?[0], record),
        "shared_bank_conflicts" => conflicts::judge(record),
        "infer_trans" | "infer_memdesc_trans" => {
            let (encoding, _, linear) = encoded(record, 0)?;
            let order: Vec<u8> =
                read::numbers(&record["order"])?.iter().map(|d| *d as u8).collect();
            let found = infer::transposed(&linear, &order).map_err(fail)?;
            // Where the kind is kept, the permuted parameters say the same.
            if let Some(named) = infer::transposed_encoding(&encoding, &order) {
                let shape = read::shape(record)?;
                let moved: Vec<u32> = order.iter().map(|d| shape[usize::from(*d)]).collect();
                let again =
                    to_linear(&named, &moved, &read::tiles(&record["args"][0])?).map_err(fail)?;
                same(&again, &found)?;
            }
            same(&found, &read::linear(&result["linear"])?)
        }
        "infer_reshape" | "infer_memdesc_reshape" => {
            let (_, _, linear) = encoded(record, 0)?;
            let shape = read::numbers(&record["new_shape"])?;
            same(
                &infer::reshaped(&linear, &shape).map_err(fail)?,
                &read::linear(&result["linear"])?,
            )
        }
        "infer_expand_dims" => {
            let (encoding, shape, _) = encoded(record, 0)?;
            let axis = read::number(record, "axis")? as u8;
            let tiles = read::tiles(&record["args"][0])?;
            let found = infer::expand_dims(&encoding, &shape, axis, &tiles).map_err(fail)?;
            same(&found, &read::linear(&result["linear"])?)
        }
        "infer_split" => {
            let (encoding, shape, linear) = encoded(record, 0)?;
            let expected = read::linear(&result["linear"])?;
            match infer::split(&linear) {
                Ok(found) => same(&found, &expected),
                // The peer names a slice: the projection, in which lanes that hold one half claim
                // both.
                Err(EncodingError::CannotSplit { extent: 2 }) => {
                    let dim = shape.len() as u8 - 1;
                    let register = linear.ins().bits_of(AxisId::REGISTER);
                    let moves =
                        |b: u8| linear.column_on(AxisId::REGISTER, b, AxisId::dim(dim)) == Some(1);
                    if (0..register).any(moves) {
                        return Err("refused, though a register numbers the halves".into());
                    }
                    let slice = encoding.sliced(dim).map_err(fail)?;
                    let half = &shape[..shape.len() - 1];
                    same(
                        &to_linear(&slice, half, &read::tiles(&record["args"][0])?)
                            .map_err(fail)?,
                        &expected,
                    )?;
                    Ok(Verdict::Refused(
                        "split along a dimension that lanes or warps number: no thread has both halves, a layout of one half would claim data that is elsewhere",
                    ))
                }
                Err(e) => Err(fail(e)),
            }
        }
        "infer_join" => {
            let (encoding, shape, _) = encoded(record, 0)?;
            let found = infer::joined(&encoding, &shape, &read::tiles(&record["args"][0])?)
                .map_err(fail)?;
            same(&found, &read::linear(&result["linear"])?)
        }
        _ => Ok(Verdict::Unexplained("an operation that this suite does not know")),
    }
}

fn properties(a: &L, result: &Value) -> Judged {
    let claims = [
        ("surjective", a.is_surjective()),
        ("injective", a.is_injective()),
        ("invertible", a.is_bijective()),
    ];
    for (name, own) in claims {
        if result[name].as_bool() != Some(own) {
            return Err(format!("{name}: {own}"));
        }
    }
    for (k, row) in result["matrix"].as_array().ok_or("no matrix")?.iter().enumerate() {
        for (j, cell) in read::numbers(row)?.into_iter().enumerate() {
            let own = a.columns().get(j).map(|c| (c >> k & 1) as u32);
            if own != Some(cell) {
                return Err(format!("row {k}, column {j}: {own:?}"));
            }
        }
    }
    Ok(Verdict::Agree)
}

fn apply(a: &L, record: &Value) -> Judged {
    let points = record["points"].as_array().ok_or("no points")?;
    let results = record["result"].as_array().ok_or("no results")?;
    let mut at = Coord::new();
    for (point, expected) in points.iter().zip(results) {
        let index: Result<Vec<(AxisId, u64)>, String> = point
            .as_object()
            .ok_or("no point")?
            .iter()
            .map(|(name, v)| Ok((read::axis(name)?, v.as_u64().ok_or("no number")?)))
            .collect();
        a.apply(&index?, &mut at).map_err(fail)?;
        for (name, v) in expected.as_object().ok_or("no result")? {
            let own = at.get(read::axis(name)?);
            if v.as_i64() != Some(own) {
                return Err(format!("{point} gives {own} on {name}"));
            }
        }
    }
    Ok(Verdict::Agree)
}
