//! Helpers that make layouts: swizzles, linear maps, fragments, index maps.

use super::model::{Model, extents, numbers};
use crate::suites::Verdict;
use lanebook_layout::tilelang::{self, Fallback, Fragment, Shared, facts, index_maps};
use lanebook_layout::{AxisId, Coord, Error};
use serde_json::Value;

/// The bits of a dtype, which stand behind its kind.
fn bits(record: &Value) -> Result<u32, String> {
    let dtype = record["dtype"].as_str().ok_or("dtype")?;
    let digits = dtype.trim_start_matches(|c: char| !c.is_ascii_digit());
    let end = digits.find(|c: char| !c.is_ascii_digit());
    let digits = &digits[..end.unwrap_or(digits.len())];
    digits.parse().map_err(|_| format!("dtype {dtype}"))
}

/// What a helper gives.
enum Made {
    Shared(Box<Shared>),
    Fragment(Box<Fragment>),
}

fn strided(l: Result<lanebook_layout::Layout, Error>) -> Result<Made, Error> {
    l.map(|l| Made::Shared(Box::new(Shared::Strided(l))))
}

fn linear(
    l: Result<lanebook_layout::Linear<lanebook_layout::Logical, lanebook_layout::Hw>, Error>,
) -> Result<Made, Error> {
    l.map(|l| Made::Shared(Box::new(Shared::Linear(l))))
}

fn fragment(f: Result<Fragment, Error>) -> Result<Made, Error> {
    f.map(|f| Made::Fragment(Box::new(f)))
}

/// A record of a helper that makes a layout or fragment.
pub fn judge(record: &Value) -> Result<Verdict, String> {
    let Some(made) = make(record)? else {
        return Ok(Verdict::Unexplained("a helper that the suite does not know"));
    };
    let ok = record["ok"].as_bool().ok_or("ok")?;
    Ok(match (made, ok) {
        (Ok(made), true) => {
            let m = Model::read(&record["layout"])?;
            let compared = match &made {
                Made::Shared(s) => match s.as_ref() {
                    Shared::Strided(l) => m.is_layout(&l.view()),
                    Shared::Linear(l) => m.is_linear(l),
                },
                Made::Fragment(f) => m.is_fragment(f),
            };
            compared.map_or_else(Verdict::Differ, |()| Verdict::Agree)
        }
        (Err(_), false) => Verdict::Refused("both refuse the shape"),
        (Err(Error::NotLinear { extent, .. }), true) if !extent.is_power_of_two() => {
            Verdict::Refused("an XOR across outputs over an extent that is no power of two")
        }
        (Err(Error::BadShape { needed, .. }), true)
            if needed == facts::WIDE_SWIZZLE.rows && bits(record) == Ok(64) =>
        {
            Verdict::Refused("rows that do not fill a block, where TileLang leaves holes")
        }
        (Err(e), true) => Verdict::Differ(format!("{e:?}")),
        (Ok(_), false) => Verdict::Differ("a layout where TileLang refuses".to_owned()),
    })
}

fn make(record: &Value) -> Result<Option<Result<Made, Error>>, String> {
    let call = record["call"].as_str().ok_or("call")?;
    let shape = record.get("shape").map_or(Ok(Vec::new()), extents)?;
    let flag = |key: &str| record["args"][key].as_bool().unwrap_or(true);
    let row = &facts::ROW_SWIZZLE;
    let bank = |vectors: u32| {
        let bits = bits(record)?;
        Ok::<_, String>(strided(tilelang::bank_swizzled(&shape, bits, vectors, row)))
    };
    let operand = |fallback: Fallback| {
        let bits = bits(record)?;
        let atoms = (row, &facts::WIDE_SWIZZLE);
        let made = tilelang::operand_swizzled(&shape, bits, flag("k_major"), fallback, atoms);
        Ok::<_, String>(strided(made))
    };
    Ok(Some(match call {
        "make_full_bank_swizzled_layout" => bank(8)?,
        "make_half_bank_swizzled_layout" => bank(4)?,
        "make_quarter_bank_swizzled_layout" => bank(2)?,
        "make_swizzled_layout" if flag("allow_pad") => operand(Fallback::Pad)?,
        "make_swizzled_layout" | "make_wgmma_swizzled_layout" => operand(Fallback::Linear)?,
        // TileLang has no 64-bit operands there.
        "make_tcgen05mma_swizzled_layout" if bits(record)? == 64 => {
            Err(Error::BadElement { bits: 64 })
        }
        "make_tcgen05mma_swizzled_layout" => operand(Fallback::Linear)?,
        "make_volta_swizzled_layout" => {
            let congruous = if flag("is_a") { facts::CONGRUOUS_A } else { facts::CONGRUOUS_B };
            let all = [facts::CROSSWISE, congruous];
            let maps = if flag("k_inner") { &all[..] } else { &all[1..] };
            // Its padding counts in 16-bit elements whatever the elements are.
            tilelang::shared_operand_v1(&shape, 16, maps, row).map(|s| Made::Shared(Box::new(s)))
        }
        "make_mma_swizzle_layout" => linear(tilelang::rows_swizzled(&shape, bits(record)?, row)),
        "make_mfma_swizzle_layout" => match shape[..] {
            [rows, columns] => {
                let vector = record["args"]["vecSize"].as_u64().unwrap_or(8) as u32;
                let bits = bits(record)?;
                let atom = &facts::PHASE_SWIZZLE;
                linear(tilelang::phase_swizzled(rows, columns, bits, vector, atom))
            }
            _ => return Err("shape".to_owned()),
        },
        "make_linear_layout" => strided(tilelang::linear(&shape)),
        "make_gemm_fragment_8x8" | "make_gemm_fragment_8x8_transposed" => {
            let name = call.trim_start_matches("make_");
            let map = tilelang::index_map(facts::GEMM_FRAGMENTS, name);
            fragment(map.and_then(|l| Fragment::from_map(&l.view())))
        }
        "make_fully_replicated_layout_fragment" => {
            let threads = record["threads"].as_u64().ok_or("threads")?;
            fragment(tilelang::fully_replicated(&shape, threads as u32))
        }
        _ => return Ok(None),
    }))
}

/// A record of a plain index map: pairs over a domain.
pub fn index_map(record: &Value) -> Result<Verdict, String> {
    let name = record["call"].as_str().ok_or("call")?;
    let tables = [index_maps::LANES_32, index_maps::LANES_64];
    let found = tables.iter().find_map(|t| tilelang::index_map(t, name).ok());
    let Some(l) = found else {
        return Ok(Verdict::Unexplained("an index map that the tables do not hold"));
    };
    let list = record["map"].as_array().ok_or("map")?;
    let size: i64 = numbers(&record["domain"])?.iter().product();
    if l.view().size_value().map(|s| s as i64) != Ok(size) || list.len() as i64 != size {
        return Ok(Verdict::Differ(format!("{size} points")));
    }
    let mut at = Coord::new();
    for (x, wanted) in (0u64..).zip(list) {
        l.view().apply_flat(x, &mut at).map_err(|e| format!("{e:?}"))?;
        let found = vec![at.get(AxisId::dim(0)), at.get(AxisId::M)];
        if found != numbers(wanted)? {
            return Ok(Verdict::Differ(format!("point {x}: {found:?} instead of {wanted}")));
        }
    }
    Ok(Verdict::Agree)
}
