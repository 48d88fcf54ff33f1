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
    let expected = Flat::parse(&a_text).map_or(Expected::Open, |a| expected(op, &a, &b_text));
    let refusal = if op.starts_with("composition") { rules::COMPOSITION } else { rules::TILING };
    let read = |text: &str| Flat::parse(text);
    Ok(expected.compare(r, &ours, refusal, &read))
}

/// What the definition gives.
pub enum Expected {
    /// The positions, in the order of the result's leaves.
    Table(Vec<i64>),
    /// Nothing: what is repeated has no complement. How often it has a position at most.
    Nothing(usize),
    /// A form that is not read here, or too many positions to walk.
    Open,
}

impl Expected {
    /// The verdict on an answer. An answer of lanebook's must be these positions; where it refuses,
    /// each peer's answer must be shown to be other positions, or positions that meet.
    pub fn compare(
        &self,
        r: &Value,
        ours: &Ours,
        refusal: &'static str,
        read: &dyn Fn(&str) -> Option<Flat>,
    ) -> Verdict {
        let law = || match (self, read(&ours.words()).and_then(|l| l.table())) {
            (Self::Table(expected), Some(found)) if *expected == found => Ok(()),
            // As large as the other: both too large to walk.
            (Self::Open, None) => Ok(()),
            (Self::Nothing(_), _) => Err("the definition gives no positions".to_owned()),
            (Self::Open, Some(_)) => Err("nothing to hold it against".to_owned()),
            (Self::Table(_), _) => Err("not the positions that the definition gives".to_owned()),
        };
        let wrong = |peer: &str| {
            let peer = read(peer)?;
            match (self, peer.table()) {
                (Self::Table(expected), found) => {
                    (found.as_ref() != Some(expected)).then_some(refusal)
                }
                (Self::Nothing(times), Some(found)) => {
                    let empty = peer.leaves().iter().any(|l| l.0 < 1);
                    (empty || most(&found) > *times).then_some(rules::MEETS)
                }
                _ => None,
            }
        };
        let refused_by_peers = rules::PEER_REFUSES;
        compare(r, ours, &Rules { law: &law, wrong: &wrong, refused_by_peers, ..PLAIN })
    }
}

/// How often the most frequent position occurs.
fn most(table: &[i64]) -> usize {
    let mut sorted = table.to_vec();
    sorted.sort_unstable();
    sorted.chunk_by(|a, b| a == b).map(<[i64]>::len).max().unwrap_or(0)
}

/// lanebook's answer.
pub fn answer(op: &str, a: &LayoutRef<'_>, tiler: &Tiler<'_>) -> Ours {
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

/// One mode of the result before modes are grouped: tile (or block) fastest, then rest (or starts).
struct Cut {
    tiles: usize,
    rests: usize,
    /// Positions, tile fastest.
    whole: Vec<i64>,
}

/// Which part of which mode a digit of the result's index counts.
#[derive(Clone, Copy)]
enum Digit {
    Tile(usize),
    Rest(usize),
}

/// What the definition gives, in the order of the result's leaves.
pub fn expected(op: &str, a: &Flat, b: &str) -> Expected {
    let op = op.strip_suffix("_shape").unwrap_or(op);
    let found = match op {
        "blocked_product" | "raked_product" => side_by_side(op, a, b),
        _ => by_mode(op, a, b),
    };
    found.unwrap_or(Expected::Open)
}

fn by_mode(op: &str, a: &Flat, b: &str) -> Option<Expected> {
    let product = op.ends_with("_product");
    let mut cuts = Vec::new();
    for (mode, tile) in pairs(a, b)? {
        let own = reference::table(&mode)?;
        let Some(tile) = tile else {
            // A mode that the tiler does not mention goes with the blocks, or with the rests.
            let (tiles, rests) = if product { (own.len(), 1) } else { (1, own.len()) };
            cuts.push((Cut { tiles, rests, whole: own }, false));
            continue;
        };
        let points = reference::table(&tile)?;
        let at = |x: i64| reference::at(&mode, x);
        if op.starts_with("composition") {
            let whole: Vec<i64> = points.iter().map(|x| at(*x)).collect();
            cuts.push((Cut { tiles: whole.len(), rests: 1, whole }, true));
            continue;
        }
        let (tiles, whole): (usize, Vec<i64>) = if product {
            let reach = points.iter().max()?.checked_add(1)?;
            let total = reference::size(&mode).checked_mul(reach)?;
            // A repetition that stays in place needs no complement.
            let still = points.iter().all(|x| *x == 0);
            let starts = reference::complement(&mode, total);
            let Some(starts) = starts.or(still.then(Vec::new)) else {
                return Some(Expected::Nothing(most(&own)));
            };
            let starts: Vec<i64> = points.iter().map(|x| reference::at(&starts, *x)).collect();
            (own.len(), reference::sum_table(&[own, starts])?)
        } else {
            let Some(rest) = reference::complement(&tile, reference::size(&mode)) else {
                let block: Vec<i64> = points.iter().map(|x| at(*x)).collect();
                return Some(Expected::Nothing(most(&block)));
            };
            let sum = reference::sum_table(&[points.clone(), reference::table(&rest)?])?;
            (points.len(), sum.into_iter().map(at).collect())
        };
        cuts.push((Cut { tiles, rests: whole.len() / tiles.max(1), whole }, true));
    }
    let mut digits = Vec::new();
    if op.starts_with("logical") {
        digits = (0..cuts.len()).flat_map(|k| [Digit::Tile(k), Digit::Rest(k)]).collect();
    } else if op.starts_with("composition") {
        digits.extend((0..cuts.len()).filter(|k| cuts[*k].1).map(Digit::Tile));
    } else {
        digits.extend((0..cuts.len()).map(Digit::Tile));
        digits.extend((0..cuts.len()).map(Digit::Rest));
    }
    let cuts: Vec<Cut> = cuts.into_iter().map(|c| c.0).collect();
    walk(&cuts, &digits).map(Expected::Table)
}

/// The positions in the order of the digits, the first one fastest.
fn walk(cuts: &[Cut], digits: &[Digit]) -> Option<Vec<i64>> {
    let extent = |d: &Digit| match *d {
        Digit::Tile(k) => cuts[k].tiles,
        Digit::Rest(k) => cuts[k].rests,
    };
    let size = digits.iter().try_fold(1usize, |n, d| n.checked_mul(extent(d)))?;
    if size > 1 << 22 {
        return None;
    }
    let mut out = Vec::with_capacity(size);
    for x in 0..size {
        let (mut rest, mut own) = (x, vec![0; cuts.len()]);
        for d in digits {
            match *d {
                Digit::Tile(k) => own[k] += rest % extent(d),
                Digit::Rest(k) => own[k] += (rest % extent(d)) * cuts[k].tiles,
            }
            rest /= extent(d);
        }
        out.push(cuts.iter().zip(own).map(|(cut, at)| cut.whole[at]).sum());
    }
    Some(out)
}

/// Blocks side by side or interleaved, mode by mode, and where the tiles that `b` counts begin.
fn side_by_side(op: &str, a: &Flat, b: &str) -> Option<Expected> {
    let b = Flat::parse(b)?;
    let (block, tiles) = (a.table()?, b.table()?);
    let total = a.size().checked_mul(tiles.iter().max()? + 1)?;
    let still = tiles.iter().all(|x| *x == 0);
    let starts = reference::complement(&a.leaves(), total).or(still.then(Vec::new));
    let Some(starts) = starts else { return Some(Expected::Nothing(most(&block))) };
    let starts: Vec<i64> = tiles.iter().map(|x| reference::at(&starts, *x)).collect();
    // The index splits into one of the block and one of the tiles, mode by mode.
    let extent = |l: &Flat, k: usize| l.modes.get(k).map_or(1, |m| reference::size(m));
    let size = a.size().checked_mul(b.size()).filter(|n| *n <= 1 << 22)?;
    let mut out = Vec::new();
    for x in 0..size {
        let (mut rest, mut own, mut weights) = (x, (0, 0), (1, 1));
        for k in 0..a.modes.len().max(b.modes.len()) {
            let (m, n) = (extent(a, k), extent(&b, k));
            let (i, j) = if op == "raked_product" {
                ((rest / n) % m, rest % n)
            } else {
                (rest % m, (rest / m) % n)
            };
            rest /= m * n;
            own = (own.0 + i * weights.0, own.1 + j * weights.1);
            weights = (weights.0 * m, weights.1 * n);
        }
        let index = |n: i64| usize::try_from(n).ok();
        out.push(block.get(index(own.0)?)? + starts.get(index(own.1)?)?);
    }
    Some(Expected::Table(out))
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
