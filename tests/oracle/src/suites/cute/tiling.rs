//! Composition, divides and products, with the law that each must satisfy.

use super::super::Verdict;
use super::peers::{Ours, PLAIN, Rules, input, judge as compare, layout, tuple};
use super::reference::{self, Flat, Leaf, Tree};
use super::rules;
use lanebook_layout::cute::{self, Tiler};
use lanebook_layout::{Layout, LayoutRef};
use serde_json::Value;

/// The verdict on one record.
pub fn judge(op: &str, r: &Value) -> Verdict {
    attempt(op, r).unwrap_or_else(|why| Verdict::Differ(format!("input not understood: {why}")))
}

fn attempt(op: &str, r: &Value) -> Result<Verdict, String> {
    let (a_text, b_text) = (input(r, "a"), input(r, "b") + &input(r, "tiler"));
    let a = layout(&a_text)?;
    let ours = with_tiler(&b_text, |tiler| answer(op, &a.view(), tiler))?;
    let expected = Flat::parse(&a_text).and_then(|a| expected(op, &a, &b_text));
    let holds = |text: &str| match (&expected, Flat::parse(text).and_then(|l| l.table())) {
        (Some(expected), Some(table)) => *expected == table,
        // Too large to walk: nothing is shown.
        (None, Some(_)) | (Some(_), None) => false,
        (None, None) => true,
    };
    let refusal = if op.starts_with("composition") { rules::COMPOSITION } else { rules::TILING };
    let law = || {
        if expected.is_none() || holds(&ours.words()) {
            return Ok(());
        }
        Err("not the positions that the definition gives".to_owned())
    };
    let undefined = Flat::parse(&a_text).is_some_and(|a| undefined(op, &a, &b_text));
    let wrong = |peer: &str| (undefined || (expected.is_some() && !holds(peer))).then_some(refusal);
    let rules = Rules { law: &law, wrong: &wrong, refused_by_peers: rules::PEER_REFUSES, ..PLAIN };
    Ok(compare(r, &ours, &rules))
}

fn answer(op: &str, a: &LayoutRef<'_>, tiler: &Tiler<'_>) -> Ours {
    let one = |f: fn(&LayoutRef<'_>, &LayoutRef<'_>) -> lanebook_layout::Result<Layout>| match tiler
    {
        Tiler::Layout(b) => f(a, b),
        _ => Err(lanebook_layout::Error::Rank { expected: 1, found: 0 }),
    };
    let op = op.strip_suffix("_shape").unwrap_or(op);
    Ours::function(match op {
        "logical_divide" => cute::logical_divide(a, tiler),
        "zipped_divide" => cute::zipped_divide(a, tiler),
        "tiled_divide" => cute::tiled_divide(a, tiler),
        "flat_divide" => cute::flat_divide(a, tiler),
        "logical_product" => cute::logical_product(a, tiler),
        "zipped_product" => cute::zipped_product(a, tiler),
        "tiled_product" => cute::tiled_product(a, tiler),
        "flat_product" => cute::flat_product(a, tiler),
        "blocked_product" => one(cute::blocked_product),
        "raked_product" => one(cute::raked_product),
        _ => cute::composition(a, tiler),
    })
}

/// Reads a layout, `<l0,l1>`, or a shape.
pub fn with_tiler<T>(text: &str, f: impl FnOnce(&Tiler<'_>) -> T) -> Result<T, String> {
    if let Some(list) = tile_texts(text) {
        let tiles = list.iter().map(|t| layout(t)).collect::<Result<Vec<_>, _>>()?;
        let views: Vec<LayoutRef<'_>> = tiles.iter().map(Layout::view).collect();
        return Ok(f(&Tiler::Modes(&views)));
    }
    if text.contains(':') {
        return Ok(f(&Tiler::Layout(layout(text)?.view())));
    }
    let shape = tuple(text)?;
    if shape.view().as_leaf().is_some() {
        return Ok(f(&Tiler::Layout(layout(&format!("{text}:1"))?.view())));
    }
    Ok(f(&Tiler::Shape(shape.view())))
}

/// The layouts of `<l0,l1,...>`.
fn tile_texts(text: &str) -> Option<Vec<String>> {
    let list = text.strip_prefix('<')?.strip_suffix('>')?;
    let (mut depth, mut out) = (0, vec![String::new()]);
    for c in list.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        match out.last_mut() {
            Some(_) if c == ',' && depth == 0 => out.push(String::new()),
            Some(last) => last.push(c),
            None => {}
        }
    }
    Some(out)
}

/// The modes of `a` with the tile of each; `None` for the modes without one.
type Pairs = Vec<(Vec<Leaf>, Option<Vec<Leaf>>)>;

fn pairs(a: &Flat, b: &str) -> Option<Pairs> {
    let tiles: Vec<Vec<Leaf>> = if let Some(list) = tile_texts(b) {
        list.iter().map(|t| Some(Flat::parse(t)?.leaves())).collect::<Option<_>>()?
    } else if b.contains(':') {
        return Some(vec![(a.leaves(), Some(Flat::parse(b)?.leaves()))]);
    } else {
        let extent = |n: &str| Some(vec![(n.parse().ok()?, 1, String::new())]);
        match Tree::parse(b)? {
            Tree::Leaf(n) => return Some(vec![(a.leaves(), Some(extent(&n)?))]),
            Tree::Tuple(nodes) => {
                let one = |n: &Tree| {
                    if let Tree::Leaf(n) = n { extent(n) } else { None }
                };
                nodes.iter().map(one).collect::<Option<_>>()?
            }
        }
    };
    let mut tiles = tiles.into_iter();
    let out = a.modes.iter().map(|m| (m.clone(), tiles.next())).collect();
    tiles.next().is_none().then_some(out)
}

/// The positions that the definition gives, in the order of the result's leaves.
pub fn expected(op: &str, a: &Flat, b: &str) -> Option<Vec<i64>> {
    let op = op.strip_suffix("_shape").unwrap_or(op);
    let pairs = pairs(a, b)?;
    if op.ends_with("_product") {
        return product_table(op, a, b, pairs);
    }
    let walk = |mode: &[Leaf], points: &[i64]| {
        points.iter().map(|x| reference::at(mode, *x)).collect::<Vec<i64>>()
    };
    let (mut tiles, mut rests, mut both) = (Vec::new(), Vec::new(), Vec::new());
    for (mode, tile) in &pairs {
        let Some(tile) = tile else {
            rests.push(reference::table(mode)?);
            both.push(reference::table(mode)?);
            continue;
        };
        let points = reference::table(tile)?;
        if op.starts_with("composition") {
            tiles.push(walk(mode, &points));
            continue;
        }
        let rest = reference::complement(tile, reference::size(mode))?;
        let steps = reference::table(&rest)?;
        // A mode of several leaves may add up in a way that no sum of two tables has: check the sum
        // itself.
        let sum: Vec<i64> = reference::sum_table(&[points.clone(), steps.clone()])?;
        let whole = walk(mode, &sum);
        let (tile, rest) = (walk(mode, &points), walk(mode, &steps));
        if reference::sum_table(&[tile.clone(), rest.clone()])? != whole {
            return None;
        }
        both.extend([tile.clone(), rest.clone()]);
        tiles.push(tile);
        rests.push(rest);
    }
    if op == "logical_divide" {
        return reference::sum_table(&both);
    }
    if op.starts_with("composition") {
        return reference::sum_table(&tiles);
    }
    tiles.extend(rests);
    reference::sum_table(&tiles)
}

/// The blocks, and where the tiles that `b` counts begin.
fn product_table(op: &str, a: &Flat, b: &str, pairs: Pairs) -> Option<Vec<i64>> {
    let repeat = |block: &[Leaf], tile: &[Leaf]| -> Option<Vec<i64>> {
        let points = reference::table(tile)?;
        let cosize = points.iter().max()? + 1;
        let starts = reference::complement(block, reference::size(block).checked_mul(cosize)?)?;
        Some(points.iter().map(|x| reference::at(&starts, *x)).collect())
    };
    if op == "blocked_product" || op == "raked_product" {
        let b = Flat::parse(b)?;
        let starts = {
            let cosize = b.table()?.iter().max()? + 1;
            reference::complement(&a.leaves(), a.size().checked_mul(cosize)?)?
        };
        if !additive(&starts, &b) {
            return None;
        }
        let mut parts = Vec::new();
        for k in 0..a.modes.len().max(b.modes.len()) {
            let block = a.modes.get(k).map_or(Some(vec![0]), |m| reference::table(m))?;
            let tiles = b.modes.get(k).map_or(Some(vec![0]), |m| reference::table(m))?;
            let tiles = tiles.iter().map(|x| reference::at(&starts, *x)).collect();
            if op == "raked_product" {
                parts.extend([tiles, block])
            } else {
                parts.extend([block, tiles])
            }
        }
        return reference::sum_table(&parts);
    }
    let (mut blocks, mut repeats, mut both) = (Vec::new(), Vec::new(), Vec::new());
    for (mode, tile) in &pairs {
        let block = reference::table(mode)?;
        blocks.push(block.clone());
        both.push(block);
        if let Some(tile) = tile {
            let starts = repeat(mode, tile)?;
            repeats.push(starts.clone());
            both.push(starts);
        }
    }
    if op == "logical_product" {
        return reference::sum_table(&both);
    }
    blocks.extend(repeats);
    reference::sum_table(&blocks)
}

/// Whether the starts of tiles add up over the modes of `b`.
fn additive(starts: &[Leaf], b: &Flat) -> bool {
    let parts: Option<Vec<Vec<i64>>> = b.modes.iter().map(|m| reference::table(m)).collect();
    let Some(parts) = parts else { return false };
    let at = |x: &i64| reference::at(starts, *x);
    let alone: Vec<Vec<i64>> = parts.iter().map(|p| p.iter().map(at).collect()).collect();
    let together = reference::sum_table(&parts).map(|t| t.iter().map(at).collect::<Vec<i64>>());
    together.is_some() && together == reference::sum_table(&alone)
}

/// `tile_to_shape` as the blocked product that it is: the text of the layout that counts the tiles.
pub fn tiles_of(block: &Flat, shape: &str, order: &str) -> Option<String> {
    let modes = |text: &str| -> Option<Vec<i64>> {
        let mode =
            |t: &Tree| t.leaves().iter().map(|n| n.parse::<i64>().ok()).product::<Option<i64>>();
        match Tree::parse(text)? {
            Tree::Tuple(nodes) => nodes.iter().map(mode).collect(),
            leaf => Some(vec![mode(&leaf)?]),
        }
    };
    let (target, order) = (modes(shape)?, modes(order)?);
    let own = |k: usize| block.modes.get(k).map_or(1, |m| reference::size(m));
    let counts: Vec<i64> =
        target.iter().enumerate().map(|(k, n)| (n + own(k) - 1) / own(k)).collect();
    let mut ranked: Vec<usize> = (0..counts.len()).collect();
    ranked.sort_by_key(|k| order.get(*k).copied());
    let (mut strides, mut stride) = (vec![0; counts.len()], 1);
    for k in ranked {
        strides[k] = if counts[k] == 1 { 0 } else { stride };
        stride *= counts[k];
    }
    let list = |v: &[i64]| v.iter().map(i64::to_string).collect::<Vec<_>>().join(",");
    Some(format!("({}):({})", list(&counts), list(&strides)))
}

/// Whether the definition gives no layout at all: a tile without complement, or positions that do
/// not add up.
pub fn undefined(op: &str, a: &Flat, b: &str) -> bool {
    if op.starts_with("composition") {
        return false;
    }
    let Some(pairs) = pairs(a, b) else {
        return false;
    };
    let product = op.contains("_product");
    if product && (op.starts_with("blocked") || op.starts_with("raked")) {
        let Some(b) = Flat::parse(b) else {
            return false;
        };
        let cosize = b.table().and_then(|t| t.into_iter().max()).unwrap_or(0) + 1;
        let starts = reference::complement(&a.leaves(), a.size().saturating_mul(cosize));
        return starts.is_none_or(|starts| !additive(&starts, &b));
    }
    pairs.iter().any(|(mode, tile)| {
        let Some(tile) = tile else { return false };
        let of = if product { mode } else { tile };
        if reference::complement(of, 1).is_none() {
            return true;
        }
        if product {
            return false;
        }
        let Some(rest) = reference::complement(tile, reference::size(mode)) else {
            return true;
        };
        let (Some(points), Some(steps)) = (reference::table(tile), reference::table(&rest)) else {
            return false;
        };
        let at = |x: i64| reference::at(mode, x);
        steps.iter().any(|s| points.iter().any(|p| at(p + s) != at(*p) + at(*s)))
    })
}
