//! Tiles and repetitions whose positions are coordinates: `(2,4):(1@0,1@1)` divides, fills a box, or
//! says where a block on numbered axes is repeated.

use super::super::Verdict;
use super::basis::{along, axes};
use super::peers::{Ours, PLAIN, Rules, input, judge as compare, texts};
use super::reference::{self, Flat, Leaf, Tree};
use super::rules;
use super::tiling::{Expected, expected};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The mode that an axis names, outermost first.
type Path = Vec<usize>;
/// How far along which axis.
type At = BTreeMap<Path, i64>;

fn path(axis: &str) -> Option<Path> {
    axis.rsplit('@').map(|n| n.parse().ok()).collect()
}

/// A layout as a tree.
struct Node {
    leaves: Vec<Leaf>,
    modes: Vec<Node>,
}

impl Node {
    fn of(shape: &Tree, stride: &Tree) -> Option<Node> {
        match (shape, stride) {
            (Tree::Tuple(shapes), Tree::Tuple(strides)) if shapes.len() == strides.len() => {
                let both = shapes.iter().zip(strides);
                let modes = both.map(|(s, d)| Node::of(s, d)).collect::<Option<Vec<_>>>()?;
                let leaves = modes.iter().flat_map(|m| m.leaves.clone()).collect();
                Some(Node { leaves, modes })
            }
            (Tree::Leaf(extent), Tree::Leaf(text)) => {
                let (count, axis) = text.split_once('@').unwrap_or((text, ""));
                let leaf = (extent.parse().ok()?, count.parse().ok()?, axis.to_owned());
                Some(Node { leaves: vec![leaf], modes: Vec::new() })
            }
            _ => None,
        }
    }

    fn parse(text: &str) -> Option<Node> {
        let (shape, stride) = text.split_once(':')?;
        Node::of(&Tree::parse(shape)?, &Tree::parse(stride)?)
    }

    /// The modes; a leaf is its own only one.
    fn children(&self) -> Vec<&Node> {
        if self.modes.is_empty() { vec![self] } else { self.modes.iter().collect() }
    }

    /// Adds where a coordinate lies, axis by axis. `None` for a coordinate without a mode.
    fn add(&self, own: &Path, at: &At, out: &mut BTreeMap<String, i64>) -> Option<()> {
        if let Some(x) = at.get(own) {
            let kinds: BTreeSet<&String> = self.leaves.iter().map(|l| &l.2).collect();
            for axis in kinds {
                *out.entry(axis.clone()).or_insert(0) +=
                    reference::at(&along(&self.leaves, axis), *x);
            }
            return Some(());
        }
        let children = self.children();
        let below = |p: &Path| p.len() > own.len() && p.starts_with(own);
        if at.keys().any(|p| below(p) && p[own.len()] >= children.len()) {
            return None;
        }
        if at.keys().any(below) {
            for (k, child) in children.into_iter().enumerate() {
                child.add(&[own.as_slice(), &[k]].concat(), at, out)?;
            }
        }
        Some(())
    }

    /// The modes down to those that are used: what is left along each, in order. An inner `None`:
    /// there is no complement.
    fn rests(
        &self,
        own: &Path,
        tile: &[Leaf],
        out: &mut Vec<(Path, Option<Vec<i64>>)>,
    ) -> Option<()> {
        let used: Vec<Path> = axes(tile).iter().map(|a| path(a)).collect::<Option<_>>()?;
        let size = reference::size(&self.leaves);
        if used.contains(own) {
            let axis: Vec<String> = own.iter().rev().map(usize::to_string).collect();
            let rest = reference::complement(&along(tile, &axis.join("@")), size);
            out.push((own.clone(), rest.as_deref().and_then(reference::table)));
        } else if own.is_empty() || used.iter().any(|p| p.starts_with(own)) {
            for (k, child) in self.children().into_iter().enumerate() {
                child.rests(&[own.as_slice(), &[k]].concat(), tile, out)?;
            }
        } else {
            out.push((own.clone(), Some((0..size).collect())));
        }
        Some(())
    }
}

/// Each index of a tile as a coordinate.
fn coordinates(tile: &[Leaf]) -> Option<Vec<At>> {
    let mut out = vec![At::new(); usize::try_from(reference::size(tile)).ok()?];
    for axis in axes(tile) {
        let place = path(&axis)?;
        for (at, x) in out.iter_mut().zip(reference::table(&along(tile, &axis))?) {
            *at.entry(place.clone()).or_insert(0) += x;
        }
    }
    Some(out)
}

/// Each index of what is left, first mode fastest; `None` inside: no complement.
fn left_over(of: &Node, tile: &[Leaf]) -> Option<Option<Vec<At>>> {
    let mut rests = Vec::new();
    of.rests(&Path::new(), tile, &mut rests)?;
    let mut out = vec![At::new()];
    for (place, table) in rests {
        let Some(table) = table else { return Some(None) };
        let with = |x: &i64, at: &At| {
            let mut at = at.clone();
            at.insert(place.clone(), *x);
            at
        };
        out = table.iter().flat_map(|x| out.iter().map(move |at| with(x, at))).collect();
    }
    Some(Some(out))
}

/// Whether positions on all axes are those of a table.
fn is_at(text: &str, expected: &[BTreeMap<String, i64>]) -> Option<bool> {
    let leaves = Flat::parse(text)?.leaves();
    let mut all = axes(&leaves);
    all.extend(expected.iter().flat_map(|at| at.keys().cloned()));
    let mut same = reference::size(&leaves) == i64::try_from(expected.len()).ok()?;
    for axis in all {
        let wanted = expected.iter().map(|at| at.get(&axis).copied().unwrap_or(0));
        same = same && wanted.eq(reference::table(&along(&leaves, &axis))?);
    }
    Some(same)
}

/// The verdict under what the definition gives; `nothing`: there is no complement.
fn judged(
    r: &Value,
    ours: &Ours,
    holds: &dyn Fn(&str) -> Option<bool>,
    nothing: bool,
    refusal: &'static str,
) -> Verdict {
    let law = || match holds(&ours.words()) {
        Some(true) => Ok(()),
        Some(false) => Err("not the positions of the definition".to_owned()),
        None if nothing => Err("there is no complement".to_owned()),
        None => Err("nothing to hold it against".to_owned()),
    };
    let wrong = |peer: &str| (holds(peer) == Some(false)).then_some(refusal);
    let rules = Rules { law: &law, wrong: &wrong, refused_by_peers: rules::PEER_REFUSES, ..PLAIN };
    compare(r, ours, &rules)
}

/// `A(T(i) + C(j))`, C being what T leaves of the shape of A.
pub fn divide(r: &Value, ours: &Ours) -> Verdict {
    let (whole, tile) = (Node::parse(&input(r, "layout")), Flat::parse(&input(r, "b")));
    let table = || {
        let (whole, tile) = (whole?, tile?.leaves());
        let points = coordinates(&tile)?;
        let Some(rests) = left_over(&whole, &tile)? else { return Some(None) };
        let mut out = Vec::new();
        for rest in &rests {
            for point in &points {
                let mut at = rest.clone();
                for (place, x) in point {
                    *at.entry(place.clone()).or_insert(0) += x;
                }
                let mut position = BTreeMap::new();
                whole.add(&Path::new(), &at, &mut position)?;
                out.push(position);
            }
        }
        Some(Some(out))
    };
    let expected = table();
    let holds = |text: &str| is_at(text, expected.as_ref()?.as_ref()?);
    judged(r, ours, &holds, matches!(expected, Some(None)), rules::TILING)
}

/// What is left of a box. Coordinates are compared by their number in it.
pub fn complement(r: &Value, ours: &Ours) -> Verdict {
    let (shape, tile) = (input(r, "cotarget"), Flat::parse(&input(r, "layout")));
    let whole = numbered(&shape).and_then(|text| Node::parse(&text));
    let number = |at: &At| {
        let mut position = BTreeMap::new();
        whole.as_ref()?.add(&Path::new(), at, &mut position)?;
        Some(position.values().sum::<i64>())
    };
    let numbers = |all: Vec<At>| all.iter().map(number).collect::<Option<Vec<i64>>>();
    let expected = || {
        let rests = left_over(whole.as_ref()?, &tile.as_ref()?.leaves())?;
        rests.map_or(Some(None), |rests| Some(Some(numbers(rests)?)))
    };
    let expected = expected();
    let holds = |text: &str| {
        let found = numbers(coordinates(&Flat::parse(text)?.leaves())?)?;
        Some(found == *expected.as_ref()?.as_ref()?)
    };
    judged(r, ours, &holds, matches!(expected, Some(None)), rules::COMPLEMENT)
}

/// A shape as a layout that counts its coordinates, the first mode fastest.
fn numbered(shape: &str) -> Option<String> {
    let (mut stride, mut strides, mut digits) = (1i64, String::new(), String::new());
    for c in shape.chars().chain([' ']) {
        if c.is_ascii_digit() {
            digits.push(c);
            continue;
        }
        if !digits.is_empty() {
            strides += &stride.to_string();
            stride = stride.checked_mul(digits.parse().ok()?)?;
            digits.clear();
        }
        strides.push(c);
    }
    Some(format!("{shape}:{}", strides.trim()))
}

/// A product holds if it does along every axis.
pub fn product(op: &str, r: &Value, ours: &Ours) -> Verdict {
    let (a, b) = (Flat::parse(&input(r, "layout")), Flat::parse(&input(r, "b")));
    let seen =
        |l: &Flat, axis: &str| Flat { modes: l.modes.iter().map(|m| along(m, axis)).collect() };
    let holds = |text: &str| -> Option<bool> {
        let (a, b, found) = (a.as_ref()?, b.as_ref()?, Flat::parse(text)?);
        let mut all = axes(&a.leaves());
        all.extend(axes(&b.leaves()));
        all.extend(axes(&found.leaves()));
        let mut same = true;
        for axis in all {
            match expected(op, &seen(a, &axis), &spelled(&seen(b, &axis))) {
                Expected::Table(table) => same &= seen(&found, &axis).table()? == table,
                Expected::Nothing(_) => same = false,
                Expected::Open => return None,
            }
        }
        Some(same)
    };
    let law = || match holds(&ours.words()) {
        Some(true) => Ok(()),
        Some(false) => Err("not the positions of the definition".to_owned()),
        None => Err("nothing to hold it against".to_owned()),
    };
    let wrong = |peer: &str| (holds(peer) == Some(false)).then_some(rules::TILING);
    // Every answer of a peer has to be shown to be no product.
    let differs = || {
        let named: BTreeSet<String> =
            [&a, &b].iter().flat_map(|l| l.iter().flat_map(|l| axes(&l.leaves()))).collect();
        let own = most(&ours.words())?;
        let why = texts(r).into_iter().map(|text| {
            let found = Flat::parse(&text)?.leaves();
            if !axes(&found).is_subset(&named) {
                return Some(rules::BASIS_PATH);
            }
            (most(&text)? > own).then_some(rules::BASIS_PRODUCT)
        });
        why.collect::<Option<Vec<_>>>()?.first().copied()
    };
    let refused_by_peers = rules::PEER_REFUSES;
    compare(r, ours, &Rules { law: &law, wrong: &wrong, differs: &differs, refused_by_peers })
}

/// How many indices lie at the most frequent position.
fn most(text: &str) -> Option<usize> {
    let leaves = Flat::parse(text)?.leaves();
    let mut all = vec![Vec::new(); usize::try_from(reference::size(&leaves)).ok()?];
    for axis in axes(&leaves) {
        for (at, x) in all.iter_mut().zip(reference::table(&along(&leaves, &axis))?) {
            at.push(x);
        }
    }
    all.sort_unstable();
    all.chunk_by(|a, b| a == b).map(<[Vec<i64>]>::len).max()
}

/// A layout on the integers as text.
fn spelled(l: &Flat) -> String {
    let list = |part: fn(&Leaf) -> i64| {
        let mode = |leaves: &Vec<Leaf>| {
            let leaves: Vec<String> = leaves.iter().map(|l| part(l).to_string()).collect();
            format!("({})", leaves.join(","))
        };
        format!("({})", l.modes.iter().map(mode).collect::<Vec<_>>().join(","))
    };
    format!("{}:{}", list(|l| l.0), list(|l| l.1))
}
