//! Swizzles, alone and over tiles.

use super::answer;
use super::model::{self, Model, Xor};
use super::tally::Tally;
use crate::suites::Verdict;
use lanebook_layout::{AxisId, Error, WellKnown, tirx};
use serde_json::Value;

/// The swizzle of a record; `None` if a number is negative.
fn read(record: &Value) -> Result<Option<Xor>, String> {
    let n = |key: &str| {
        let n = record[key].as_i64().ok_or_else(|| key.to_owned())?;
        Ok::<_, String>(u32::try_from(n).ok())
    };
    let (m, b, s) = (n("per_element")?, n("swizzle_len")?, n("atom_len")?);
    let inner = record["inner"].as_bool().ok_or("inner")?;
    Ok(m.zip(b).zip(s).map(|((per_element, swizzle_len), atom_len)| Xor {
        per_element,
        swizzle_len,
        atom_len,
        inner,
    }))
}

/// The recorded values `x -> m`.
fn values(v: &Value) -> Result<Vec<(i64, i64)>, String> {
    let (x, m) = (model::numbers(&v["x"])?, model::numbers(&v["m"])?);
    Ok(x.into_iter().zip(m).collect())
}

/// `op: swizzle`.
pub fn bare(record: &Value) -> Result<Verdict, String> {
    let xor = read(record)?;
    let small = |n: u32| u8::try_from(n).unwrap_or(u8::MAX);
    let found = xor.map(|x| {
        tirx::swizzle(small(x.per_element), small(x.swizzle_len), small(x.atom_len), x.inner)
    });
    let (Some(Ok(found)), Some(wanted)) = (found, answer(&record["apply"])) else {
        let refused = !matches!(found, Some(Ok(_)));
        return Ok(match (refused, answer(&record["apply"])) {
            (true, None) => Verdict::Refused("both refuse fields that overlap"),
            _ => Verdict::Differ(format!("{found:?} beside {}", record["apply"])),
        });
    };
    let mut tally = Tally::default();
    for (x, m) in values(wanted)? {
        let own = found.apply(x as u64);
        tally.same(own == m as u64, || format!("{x} goes to {own} instead of {m}"));
    }
    Ok(tally.verdict())
}

/// `op: compose`.
pub fn composed(record: &Value) -> Result<Verdict, String> {
    let tile = Model::read(&record["layout"])?;
    let xor = read(record)?;
    let peer = Model { xor, ..tile };
    let l = match (xor, peer.layout()) {
        (Some(_), Ok(l)) => l,
        (_, found) => {
            return Ok(if answer(&record["apply"]).is_none() {
                Verdict::Refused("both refuse the composition")
            } else {
                Verdict::Differ(format!("not built: {found:?}"))
            });
        }
    };
    let view = l.view();
    let mut tally = Tally::default();
    if let Some(text) = record["text"].as_str() {
        let read = model::parse(text);
        tally.same(read.as_ref() == Ok(&l), || format!("{text} is read as {read:?}"));
    }
    let mut printed = String::new();
    let _ = lanebook_layout::notation::tirx::print(
        &view,
        &WellKnown,
        &lanebook_layout::NoSyms,
        &mut printed,
    );
    tally.same(model::parse(&printed).as_ref() == Ok(&l), || format!("printed as {printed}"));
    if let Some(wanted) = answer(&record["apply"]) {
        for (x, m) in values(wanted)? {
            let own = view.offset_on(x as u64, AxisId::M);
            if own == Ok(m) {
                tally.same(true, String::new);
            } else if matches!(own, Err(Error::NegativeOffset { .. })) {
                tally.rule("a swizzle of a negative position");
            } else {
                tally.differ(format!("{x} goes to {own:?} instead of {m}"));
            }
        }
    }
    let size = view.size_value().ok();
    let wanted = answer(&record["size"]).and_then(Value::as_u64);
    tally.same(size == wanted, || format!("size {size:?}"));
    let span = tirx::memory_span(&view, &WellKnown).ok();
    if span == answer(&record["span"]).and_then(Value::as_i64) {
        tally.same(true, String::new);
    } else if peer.turns_back() {
        tally.rule("with negative strides TIRx's span is no window");
    } else {
        tally.differ(format!("span {span:?}"));
    }
    let canonical = tirx::canonicalize_for(&view, &WellKnown, &[]);
    if let (Some(wanted), Ok(found)) = (answer(&record["canonical"]), &canonical) {
        let wanted = Model::read(wanted)?;
        tally.check("canonical", model::agrees(found, &wanted));
        let (f, w) = (Model::of(found).moving(), wanted.moving());
        tally.same(f == w, || format!("canonical {f:?} instead of {w:?}"));
    }
    packing(record, &peer, &mut tally)?;
    Ok(tally.verdict())
}

/// `pack` and `unpack` of a composed layout: the law of whole elements.
fn packing(record: &Value, peer: &Model, tally: &mut Tally) -> Result<(), String> {
    let l = peer.layout().map_err(|e| format!("{e:?}"))?;
    for (key, up) in [("unpack", true), ("pack", false)] {
        let v = &record[key];
        let n = v["num"].as_i64().ok_or("num")?;
        let found = if up {
            tirx::unpack(&l.view(), n as u32, AxisId::M)
        } else {
            tirx::pack(&l.view(), n as u32, AxisId::M)
        };
        let spread = |few: &Model, many: &Model| {
            few.size() * n == many.size()
                && model::sample(many.size())
                    .all(|x| model::parts(&few.copies(x / n), n, x % n, "m") == many.copies(x))
        };
        let lawful = |m: &Model| if up { spread(peer, m) } else { spread(m, peer) };
        let wanted = answer(v).map(Model::read).transpose()?;
        let found = found.map(|f| Model::of(&f));
        if let Ok(f) = &found {
            tally.same(lawful(f), || format!("{key}: {f:?}"));
        }
        match (found, wanted) {
            (Ok(_), Some(w)) | (Err(_), Some(w)) if !lawful(&w) => {
                tally.rule("TIRx leaves copies and offset unscaled, or rounds down");
            }
            (Ok(_), Some(_)) | (Err(_), None) => tally.same(true, String::new),
            (Ok(_), None) if peer.xor.is_some_and(|x| x.swizzle_len == 0) => {
                tally.rule("a swizzle of no bits, which stands in no one's way");
            }
            (f, w) => tally.differ(format!("{key}: {f:?} beside {w:?}")),
        }
    }
    Ok(())
}

/// `op: compose_axis`.
pub fn axis(record: &Value) -> Result<Verdict, String> {
    let Some(built) = answer(&record["construct"]) else {
        return Ok(Verdict::Refused("both refuse the composition"));
    };
    let peer = Model::read(built)?;
    let refused = answer(&record["apply"]).is_none();
    Ok(match (peer.layout(), refused) {
        (Err(Error::WrongAxis { .. }), true) => {
            Verdict::Refused("a swizzle over another axis than m, whose apply fails in TIRx")
        }
        (Ok(l), false) => match model::agrees(&l, &peer) {
            Ok(()) => Verdict::Agree,
            Err(what) => Verdict::Differ(what),
        },
        (found, _) => Verdict::Differ(format!("{found:?} beside {}", record["apply"])),
    })
}
