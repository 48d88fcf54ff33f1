//! Ready-made layouts: tensor memory, register tiles, operands.

use super::answer;
use super::model::{self, Model};
use super::tally::Tally;
use crate::suites::Verdict;
use lanebook_layout::tirx::{self, TmemOperand, facts};
use lanebook_layout::{Error, Layout, WellKnown};
use serde_json::Value;

fn number(record: &Value, key: &str) -> Result<u32, String> {
    let n = record[key].as_i64().ok_or_else(|| key.to_owned())?;
    u32::try_from(n).map_err(|_| key.to_owned())
}

/// The same map, its canonical forms the same too, or both refuse.
fn judge(record: &Value, found: Result<Layout, Error>) -> Result<Verdict, String> {
    let (wanted, found) = match (answer(&record["layout"]), found) {
        (Some(w), Ok(f)) => (Model::read(w)?, f),
        (None, Err(_)) => return Ok(Verdict::Refused("both refuse the arguments")),
        (_, found) => {
            let what = format!("{found:?} beside {}", record["layout"]);
            return Ok(Verdict::Differ(what));
        }
    };
    let mut tally = Tally::default();
    tally.check("layout", model::agrees(&found, &wanted));
    let forms = [("canonical", [].as_slice()), ("canonical_cuda_target", facts::WARP_32)];
    for (key, relations) in forms {
        let Some(v) = record.get(key) else {
            continue;
        };
        let own = tirx::canonicalize_for(&found.view(), &WellKnown, relations);
        let own = own.map_err(|e| format!("{e:?}"))?;
        let wanted = Model::read(v)?;
        let (f, w) = (Model::of(&own).moving(), wanted.moving());
        tally.same(f == w, || format!("{key}: {f:?} instead of {w:?}"));
    }
    if let Some(spans) = record["span"].as_object() {
        for (name, n) in spans {
            let own = model::axis(name).and_then(|a| found.view().span(a).ok());
            tally.same(own == n.as_i64(), || format!("span({name}) = {own:?}"));
        }
    }
    Ok(tally.verdict())
}

/// `tmem_datapath_layout`.
pub fn datapath(record: &Value) -> Result<Verdict, String> {
    let name = record["datapath"].as_str().ok_or("datapath")?;
    let (rows, cols) = (number(record, "rows")?, number(record, "cols")?);
    let slab = number(record, "sub_slab")?;
    let mut letters = name.chars();
    let letter = letters.next().filter(|_| letters.next().is_none());
    let none = Error::NoVariant { found: 0 };
    let found = letter
        .ok_or(none)
        .and_then(|l| tirx::datapath(facts::DATAPATHS, l))
        .and_then(|path| tirx::tmem_datapath_layout(path, rows, cols, slab));
    judge(record, found)
}

/// The bits of a dtype, which stand behind its kind.
fn bits(dtype: &str) -> u32 {
    let digits = dtype.trim_start_matches(|c: char| !c.is_ascii_digit());
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    digits[..end].parse().unwrap_or(0)
}

/// `tcgen05_atom_layout`.
pub fn atom(record: &Value) -> Result<Verdict, String> {
    let form = record["instr_shape"].as_str().ok_or("instr_shape")?;
    let dtype = record["dtype"].as_str().ok_or("dtype")?;
    let shape = model::shape(&record["shape"])?;
    let found = match shape.as_deref() {
        Some([rows, cols]) => tirx::atom_layout(facts::ATOM_FORMS, form, *rows, *cols, bits(dtype)),
        _ => Err(Error::Rank { expected: 2, found: 0 }),
    };
    judge(record, found)
}

/// `wg_local_layout`.
pub fn wg_local(record: &Value) -> Result<Verdict, String> {
    let (rows, cols) = (number(record, "rows")?, number(record, "cols")?);
    judge(record, tirx::wg_local_layout(rows, cols))
}

/// `tmem_mma_operand_layout`.
pub fn operand(record: &Value) -> Result<Verdict, String> {
    let operand = match record["operand"].as_str() {
        Some("A") => Ok(TmemOperand::A),
        Some("D") => Ok(TmemOperand::D),
        _ => Err(Error::NoVariant { found: 0 }),
    };
    let stationary = record["ws"].as_bool().ok_or("ws")?;
    let used = (number(record, "M")?, number(record, "cta_group")?, stationary);
    let shape = model::shape(&record["shape"])?.unwrap_or_default();
    let found = operand.and_then(|operand| {
        tirx::operand_layout(facts::DATAPATHS, facts::DATAPATH_USES, operand, used, &shape)
    });
    judge(record, found)
}
