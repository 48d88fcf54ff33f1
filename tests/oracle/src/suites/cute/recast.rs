//! Recasting to elements of another width.

use super::super::Verdict;
use super::peers::{Ours, PLAIN, Rules, input, judge as compare, layout};
use super::reference::Composed;
use super::rules;
use lanebook_layout::{Error, cute};
use serde_json::Value;
use std::collections::BTreeSet;

/// The verdict on one record.
pub fn judge(r: &Value) -> Verdict {
    let bits = |key: &str| input(r, key).parse::<u16>();
    let (Ok(new), Ok(old), Ok(l)) = (
        bits("new_bits"),
        bits("old_bits"),
        layout(&input(r, "layout")),
    ) else {
        return Verdict::Differ("input not understood".to_owned());
    };
    let ours = Ours::function(cute::recast(&l.view(), new, old));
    let touched = touched(&input(r, "layout"), new, old);
    let holds = |text: &str| match (&touched, Composed::parse(text).and_then(|c| c.table())) {
        (Some(touched), Some(table)) => table.into_iter().collect::<BTreeSet<i64>>() == *touched,
        _ => false,
    };
    let law = || {
        // Recasting down keeps each element's address and widens the contiguous run alone; only a layout that has one
        // touches every element.
        if new < old || touched.is_none() || holds(&ours.words()) {
            return Ok(());
        }
        Err("not the elements that are touched".to_owned())
    };
    let wrong = |peer: &str| match ours {
        Ours::Refused(Error::BadSwizzle { .. } | Error::Recast { iter: 254, .. }) => {
            Some(rules::RECAST_SWIZZLE)
        }
        _ => (!holds(peer)).then_some(rules::RECAST),
    };
    let differs = || (holds(&ours.words())).then_some(rules::RECAST_COVER);
    compare(
        r,
        &ours,
        &Rules {
            law: &law,
            wrong: &wrong,
            differs: &differs,
            ..PLAIN
        },
    )
}

/// The new elements that hold a bit of an old one.
fn touched(text: &str, new: u16, old: u16) -> Option<BTreeSet<i64>> {
    let (new, old) = (i64::from(new), i64::from(old));
    let mut out = BTreeSet::new();
    for x in Composed::parse(text)?.table()? {
        out.extend((x * old).div_euclid(new)..=(x * old + old - 1).div_euclid(new));
    }
    Some(out)
}
