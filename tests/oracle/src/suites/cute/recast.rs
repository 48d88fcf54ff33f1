//! Recasting to elements of another width.

use super::super::Verdict;
use super::peers::{Ours, PLAIN, Rules, input, judge as compare, layout};
use super::reference::{Composed, Leaf};
use super::rules;
use lanebook_layout::{Error, cute};
use serde_json::Value;
use std::collections::BTreeSet;

/// The verdict on one record.
pub fn judge(r: &Value) -> Verdict {
    let bits = |key: &str| input(r, key).parse::<u16>();
    let (Ok(new), Ok(old), Ok(l)) =
        (bits("new_bits"), bits("old_bits"), layout(&input(r, "layout")))
    else {
        return Verdict::Differ("input not understood".to_owned());
    };
    let ours = Ours::function(cute::recast(&l.view(), new, old));
    let text = input(r, "layout");
    let (touched, begun) = (touched_by(&text, new, old), begun_by(&text, new, old));
    // All that is reached is touched; to wider elements all that is touched is reached; to narrower
    // ones at least the place where each old element begins, since only a contiguous run is
    // widened. `None` where there are too many to walk.
    let holds = |text: &str| -> Option<bool> {
        let table = Composed::parse(text)?.table()?;
        let reached: BTreeSet<i64> = table.into_iter().collect();
        let (touched, begun) = (touched.as_ref()?, begun.as_ref()?);
        let least = if new < old { begun } else { touched };
        Some(reached.is_subset(touched) && least.is_subset(&reached))
    };
    let law = || match holds(&ours.words()) {
        Some(false) => Err("not the elements that are touched".to_owned()),
        _ => Ok(()),
    };
    // Where elements alias, the set that is reached says little about the function.
    let aliases = || {
        let table = Composed::parse(&text).and_then(|c| c.table()).unwrap_or_default();
        table.iter().collect::<BTreeSet<_>>().len() != table.len()
    };
    // The same for each leaf alone, which can be walked in any layout.
    let leaf_wrong = |peer: &str| {
        let (Some(a), Some(b)) = (Composed::parse(&text), Composed::parse(peer)) else {
            return true;
        };
        let (a, b) = (a.inner.leaves(), b.inner.leaves());
        let alone = |(x, y): (&Leaf, &Leaf)| {
            let spell = |l: &Leaf| format!("{}:{}", l.0, l.1);
            let (whole, begun) = (touched_by(&spell(x), new, old)?, begun_by(&spell(x), new, old)?);
            let reached: BTreeSet<i64> = Composed::parse(&spell(y))?.table()?.into_iter().collect();
            let least = if new < old { begun } else { whole.clone() };
            Some(reached.is_subset(&whole) && least.is_subset(&reached))
        };
        a.len() != b.len()
            || a.iter().zip(&b).filter(|p| p.0.0 != 1).any(|p| alone(p) == Some(false))
    };
    let wrong = |peer: &str| match ours {
        _ if Composed::parse(peer).is_none() => Some(rules::RECAST_SWIZZLE),
        Ours::Refused(Error::BadSwizzle { .. } | Error::Recast { iter: 254, .. }) => {
            Some(rules::RECAST_SWIZZLE)
        }
        _ => (holds(peer) == Some(false) || aliases() || leaf_wrong(peer)).then_some(rules::RECAST),
    };
    let peer_wrong = || super::peers::texts(r).iter().all(|t| holds(t) == Some(false));
    let differs =
        || (holds(&ours.words()) == Some(true) && peer_wrong()).then_some(rules::RECAST_COVER);
    let rules = Rules { law: &law, wrong: &wrong, differs: &differs, ..PLAIN };
    compare(r, &ours, &rules)
}

/// The new elements in which an old one begins.
fn begun_by(text: &str, new: u16, old: u16) -> Option<BTreeSet<i64>> {
    let place = |x: i64| (x * i64::from(old)).div_euclid(i64::from(new));
    Some(Composed::parse(text)?.table()?.into_iter().map(place).collect())
}

/// The new elements that hold a bit of an old one.
fn touched_by(text: &str, new: u16, old: u16) -> Option<BTreeSet<i64>> {
    let (new, old) = (i64::from(new), i64::from(old));
    let mut out = BTreeSet::new();
    for x in Composed::parse(text)?.table()? {
        out.extend((x * old).div_euclid(new)..=(x * old + old - 1).div_euclid(new));
    }
    Some(out)
}
