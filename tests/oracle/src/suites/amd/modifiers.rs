//! Modifiers that exchange what a matrix instruction reads: every atom that has one says the same
//! as the record.

use super::Verdict;
use crate::tables::tables;
use lanebook_tables::{Broadcast, MatrixMore};
use serde_json::Value;

/// What of the tables' matrix atoms have modifiers.
fn all()
-> impl Iterator<Item = (&'static str, &'static MatrixMore<'static>, &'static Broadcast<'static>)> {
    let atoms = tables().atoms.iter().filter_map(|atom| atom.more.map(|more| (atom.name(), more)));
    atoms.flat_map(|(name, more)| more.broadcasts.iter().map(move |b| (name, more, b)))
}

fn numbers(value: &Value) -> Result<Vec<u16>, String> {
    let list = value.as_array().ok_or("no list")?;
    list.iter()
        .map(|n| {
            n.as_u64().and_then(|n| u16::try_from(n).ok()).ok_or_else(|| "no number".to_owned())
        })
        .collect()
}

fn number(record: &Value, key: &str) -> Result<u16, String> {
    record[key].as_u64().and_then(|n| u16::try_from(n).ok()).ok_or_else(|| format!("no {key}"))
}

/// For each lane of B the lane that is read.
pub fn lanes(record: &Value) -> Result<Verdict, String> {
    let (value, expected) = (number(record, "blgp")? as u8, numbers(&record["src_lane"])?);
    let mut seen = false;
    for (name, _, broadcast) in all().filter(|(.., b)| matches!(b, Broadcast::Lanes(..))) {
        seen = true;
        let found: Vec<Option<u16>> =
            (0..).take(expected.len()).map(|lane| broadcast.lane(value, lane)).collect();
        if found != expected.iter().map(|lane| Some(*lane)).collect::<Vec<_>>() {
            return Err(format!("{name}: {found:?}"));
        }
    }
    if seen { Ok(Verdict::Agree) } else { Err("no atom has the modifier".into()) }
}

/// For each block of A the block that is read.
pub fn blocks(record: &Value) -> Result<Verdict, String> {
    let (count, size, member) =
        (number(record, "blocks")?, number(record, "cbsz")? as u8, number(record, "abid")?);
    let expected = numbers(&record["src_block"])?;
    let mut seen = false;
    for (name, more, broadcast) in all().filter(|(.., b)| matches!(b, Broadcast::Blocks(..))) {
        if more.blocks != count {
            continue;
        }
        seen = true;
        let found: Vec<Option<u16>> =
            (0..count).map(|block| broadcast.block(size, member, block)).collect();
        if found != expected.iter().map(|block| Some(*block)).collect::<Vec<_>>() {
            return Err(format!("{name}: {found:?}"));
        }
    }
    if seen {
        Ok(Verdict::Agree)
    } else {
        Err("no atom with so many blocks has the modifier".into())
    }
}
