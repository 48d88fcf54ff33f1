//! Coordinates, shapes and congruence: the answers are text.

use super::super::Verdict;
use super::peers::{Ours, PLAIN, Rules, input, judge as compare, layout, show_tuple, tuple};
use super::reference::{self, Tree};
use super::rules;
use lanebook_layout::{Error, Int, cute};
use serde_json::Value;

/// The verdict on one record.
pub fn judge(op: &str, r: &Value) -> Verdict {
    match answer(op, r) {
        Ok(ours) => {
            let outside = matches!(ours, Ours::Refused(Error::OutOfRange { .. }));
            let wraps = |_: &str| outside.then_some(rules::WRAPS);
            let law = || {
                let (a, b) = (Tree::parse(&input(r, "a")), Tree::parse(&input(r, "b")));
                match (op, a, b, &ours) {
                    ("shape_div", Some(a), Some(b), Ours::Text(text)) => {
                        let same = reference::shape_div(&a, &b) == Tree::parse(text);
                        if same { Ok(()) } else { Err("not the definition".to_owned()) }
                    }
                    _ => Ok(()),
                }
            };
            let refused_by_peers = if op == "shape_div" { rules::PEER_REFUSES } else { "" };
            let rules = Rules { law: &law, wrong: &wraps, refused_by_peers, ..PLAIN };
            compare(r, &ours, &rules)
        }
        Err(why) => Verdict::Differ(format!("input not understood: {why}")),
    }
}

fn answer(op: &str, r: &Value) -> Result<Ours, String> {
    let tree = |key: &str| tuple(&input(r, key));
    let words = |b: bool| Ours::Text(if b { "True" } else { "False" }.to_owned());
    let spelled = |t: Result<_, Error>| Ours::text(t.map(|t| show_tuple(&t)));
    Ok(match op {
        "crd2idx" | "crd2idx_bad" | "crd2idx_oob" => {
            let l = layout(&input(r, "layout"))?;
            Ours::text(cute::crd2idx(tree("coord")?.view(), &l.view()).and_then(Int::value))
        }
        "idx2crd" | "idx2crd_oob" => {
            let (shape, idx) = (tree("shape")?, tree("idx")?);
            let idx = idx.view().as_leaf().ok_or("the index is a tuple")?;
            spelled(cute::idx2crd(idx, shape.view()))
        }
        "crd2crd" => spelled(cute::crd2crd(tree("coord")?.view(), tree("dst_shape")?.view(), None)),
        "crd2crd_src" => {
            let (coord, to, from) = (tree("coord")?, tree("dst_shape")?, tree("src_shape")?);
            spelled(cute::crd2crd(coord.view(), to.view(), Some(from.view())))
        }
        "shape_div" => spelled(cute::shape_div(tree("a")?.view(), tree("b")?.view())),
        "ceil_div" => spelled(cute::ceil_div(tree("a")?.view(), tree("b")?.view())),
        "is_congruent" => words(cute::congruent(tree("a")?.view(), tree("b")?.view())),
        _ => words(cute::weakly_congruent(tree("a")?.view(), tree("b")?.view())),
    })
}
