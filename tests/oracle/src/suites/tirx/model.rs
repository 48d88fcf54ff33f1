//! TIRx layouts as the records write them, evaluated in the plainest way: the judge between TIRx
//! and lanebook.

use lanebook_layout::{
    AxisId, AxisNames, Coord, Int, Iter, Layout, NoSyms, WellKnown, notation, tirx,
};
use serde_json::Value;
use std::collections::BTreeMap;

/// A position: axes that do not move are left out.
pub type Position = BTreeMap<String, i64>;
/// All copies of one element, in order.
pub type Copies = Vec<Position>;

/// Above this many elements only a sample is compared.
const WHOLE: i64 = 1 << 14;

/// An iter as written.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    pub extent: i64,
    pub stride: i64,
    pub axis: String,
}

/// A swizzle as written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Xor {
    pub per_element: u32,
    pub swizzle_len: u32,
    pub atom_len: u32,
    pub inner: bool,
}

impl Xor {
    /// The swizzled element.
    pub fn apply(self, x: i64) -> i64 {
        let mask = (1i64 << self.swizzle_len) - 1;
        let q = x >> self.per_element;
        let moved = if self.inner {
            q ^ ((q >> self.atom_len) & mask)
        } else {
            q ^ ((q & mask) << self.atom_len)
        };
        (moved << self.per_element) | (x & ((1i64 << self.per_element) - 1))
    }
}

/// A recorded layout.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    pub shard: Vec<Step>,
    pub replica: Vec<Step>,
    pub offset: BTreeMap<String, i64>,
    pub xor: Option<Xor>,
}

fn steps(v: &Value) -> Result<Vec<Step>, String> {
    let list = v.as_array().ok_or("iters")?;
    let read = |it: &Value| {
        Some(Step {
            extent: it[0].as_i64()?,
            stride: it[1].as_i64()?,
            axis: it[2].as_str()?.to_owned(),
        })
    };
    list.iter().map(|it| read(it).ok_or_else(|| format!("iter {it}"))).collect()
}

impl Model {
    /// A layout of a record, composed or not.
    pub fn read(v: &Value) -> Result<Self, String> {
        if let Some(tile) = v.get("tile") {
            let s = &v["swizzle"];
            let mut out = Self::read(tile)?;
            out.xor = Some(xor(s).ok_or_else(|| format!("swizzle {s}"))?);
            return Ok(out);
        }
        let offset = v["offset"].as_object().ok_or("offset")?;
        let offset = offset.iter().map(|(axis, n)| Some((axis.clone(), n.as_i64()?)));
        Ok(Self {
            shard: steps(&v["shard"])?,
            replica: steps(&v["replica"])?,
            offset: offset.collect::<Option<_>>().ok_or("offset")?,
            xor: None,
        })
    }

    /// How many elements.
    pub fn size(&self) -> i64 {
        self.shard.iter().map(|s| s.extent).product()
    }

    /// Whether any stride or offset is negative: TIRx's spans are no windows then.
    pub fn turns_back(&self) -> bool {
        let steps = self.shard.iter().chain(&self.replica);
        steps.into_iter().any(|s| s.stride < 0) || self.offset.values().any(|o| *o < 0)
    }

    /// All copies of element `x`.
    pub fn copies(&self, x: i64) -> Copies {
        let mut base = self.offset.clone();
        walk(&self.shard, x, &mut base);
        let count: i64 = self.replica.iter().map(|s| s.extent).product();
        let mut out: Copies = (0..count)
            .map(|r| {
                let mut at = base.clone();
                walk(&self.replica, r, &mut at);
                if let Some(xor) = self.xor {
                    let m = at.get("m").copied().unwrap_or(0);
                    at.insert("m".to_owned(), xor.apply(m));
                }
                at.retain(|_, v| *v != 0);
                at
            })
            .collect();
        out.sort();
        out
    }

    /// The first copy of element `x`.
    pub fn position(&self, x: i64) -> Position {
        let alone = Self { replica: Vec::new(), ..self.clone() };
        alone.copies(x).remove(0)
    }

    /// The same layout in lanebook.
    pub fn layout(&self) -> Result<Layout, lanebook_layout::Error> {
        let iter = |s: &Step| {
            let axis = axis(&s.axis).ok_or(lanebook_layout::Error::Overflow)?;
            Iter::symbolic(Int::known(s.extent), Int::known(s.stride), axis)
        };
        let mut out = Layout::new();
        for s in self.shard.iter().rev() {
            out.push_shard(iter(s)?)?;
        }
        for s in self.replica.iter().rev() {
            out.push_replica(iter(s)?)?;
        }
        for (name, value) in &self.offset {
            let axis = axis(name).ok_or(lanebook_layout::Error::Overflow)?;
            out.add_offset(Int::known(*value), axis)?;
        }
        match self.xor {
            None => Ok(out),
            Some(x) => tirx::compose_swizzle(
                &out.view(),
                x.per_element as u8,
                x.swizzle_len as u8,
                x.atom_len as u8,
                x.inner,
            ),
        }
    }

    /// A layout of lanebook's as a record would write it.
    pub fn of(l: &Layout) -> Self {
        let view = l.view();
        let step = |it: &Iter| Step {
            extent: it.extent().coeff(),
            stride: it.stride().coeff(),
            axis: name(it.axis()),
        };
        let offsets = view.offset.iter();
        Self {
            shard: view.shard.iter().rev().map(step).collect(),
            replica: view.replica.iter().rev().map(step).collect(),
            offset: offsets.map(|o| (name(o.axis()), o.value().coeff())).collect(),
            xor: view.post.swizzle().map(|s| {
                let (m, b, s, inner) = tirx::swizzle_parts(s);
                Xor { per_element: m.into(), swizzle_len: b.into(), atom_len: s.into(), inner }
            }),
        }
    }

    /// Without shard iters of extent 1, which place nothing in a scope; the first stays if there is
    /// no other.
    pub fn placed(&self) -> Self {
        let mut out = self.clone();
        out.shard.retain(|s| s.extent != 1);
        if out.shard.is_empty() {
            out.shard.extend(self.shard.first().cloned());
        }
        out
    }

    /// Without iters of extent 1, offsets of 0 and swizzles of no bits.
    pub fn moving(&self) -> Self {
        let keep = |steps: &[Step]| {
            let mut kept: Vec<Step> = steps.iter().filter(|s| s.extent != 1).cloned().collect();
            kept.sort_by(|a, b| (&a.axis, a.stride, a.extent).cmp(&(&b.axis, b.stride, b.extent)));
            kept
        };
        let shard = self.shard.iter().filter(|s| s.extent != 1);
        let offset = self.offset.iter().filter(|o| *o.1 != 0);
        Self {
            shard: shard.cloned().collect(),
            replica: keep(&self.replica),
            offset: offset.map(|(a, v)| (a.clone(), *v)).collect(),
            xor: self.xor.filter(|x| x.swizzle_len > 0),
        }
    }
}

fn xor(s: &Value) -> Option<Xor> {
    let n = |key: &str| s[key].as_u64().and_then(|n| u32::try_from(n).ok());
    Some(Xor {
        per_element: n("per_element")?,
        swizzle_len: n("swizzle_len")?,
        atom_len: n("atom_len")?,
        inner: s["inner"].as_bool()?,
    })
}

fn walk(steps: &[Step], x: i64, at: &mut Position) {
    let mut rest = x;
    for s in steps.iter().rev() {
        *at.entry(s.axis.clone()).or_default() += rest % s.extent * s.stride;
        rest /= s.extent;
    }
}

/// The axis with TIRx's name.
pub fn axis(name: &str) -> Option<AxisId> {
    WellKnown.axis(name)
}

/// TIRx's name of an axis.
pub fn name(axis: AxisId) -> String {
    WellKnown.name(axis).unwrap_or("?").to_owned()
}

/// The elements to compare among `size`: all, or every so many and the last.
pub fn sample(size: i64) -> impl Iterator<Item = i64> {
    let step = (size / WHOLE).max(1);
    (0..size).step_by(step as usize).chain((size > 0).then_some(size - 1))
}

/// All copies of element `x` by lanebook's own evaluation.
pub fn copies_of(l: &Layout, x: i64) -> Result<Copies, String> {
    let mut out = Copies::new();
    let mut coord = Coord::new();
    l.view()
        .apply_all(x as u64, &mut coord, |at| {
            let moved = at.iter().filter(|e| e.1 != 0);
            out.push(moved.map(|(axis, v)| (name(axis), v)).collect());
            Ok(())
        })
        .map_err(|e| format!("at {x}: {e:?}"))?;
    out.sort();
    Ok(out)
}

/// Whether lanebook's layout is the map that `expected` gives on `size` elements.
pub fn is_map(l: &Layout, size: i64, expected: impl Fn(i64) -> Copies) -> Result<(), String> {
    let found = l.view().size_value().map_err(|e| format!("{e:?}"))?;
    if i64::try_from(found) != Ok(size) {
        return Err(format!("size {found} instead of {size}"));
    }
    for x in sample(size) {
        let (found, wanted) = (copies_of(l, x)?, expected(x));
        if found != wanted {
            return Err(format!("at {x}: {found:?} instead of {wanted:?}"));
        }
    }
    Ok(())
}

/// Whether lanebook's layout is the recorded map.
pub fn agrees(l: &Layout, peer: &Model) -> Result<(), String> {
    is_map(l, peer.size(), |x| peer.copies(x))
}

/// Whether lanebook's layout has exactly the recorded iters (copies in any order).
pub fn same_iters(l: &Layout, peer: &Model) -> Result<(), String> {
    let (found, wanted) = (Model::of(l), peer);
    let replicas = found.moving().replica == wanted.moving().replica;
    if found.shard == wanted.shard && replicas && found.moving().offset == wanted.moving().offset {
        return Ok(());
    }
    Err(format!("{found:?} instead of {wanted:?}"))
}

/// A text in TIRx's notation.
pub fn parse(text: &str) -> Result<Layout, notation::ParseError> {
    notation::tirx::parse(text, &WellKnown, &mut NoSyms)
}

/// A shape or list of coordinates.
pub fn numbers(v: &Value) -> Result<Vec<i64>, String> {
    let list = v.as_array().ok_or_else(|| format!("numbers {v}"))?;
    list.iter().map(|n| n.as_i64().ok_or_else(|| format!("number {n}"))).collect()
}

/// A shape with extents that lanebook can hold; `None` if one is below 1.
pub fn shape(v: &Value) -> Result<Option<Vec<u32>>, String> {
    let list = numbers(v)?;
    Ok(list.into_iter().map(|n| u32::try_from(n).ok().filter(|n| *n > 0)).collect())
}

/// A position of a record; an absent axis is null.
pub fn position(v: &Value) -> Result<Position, String> {
    let map = v.as_object().ok_or_else(|| format!("position {v}"))?;
    let mut out = Position::new();
    for (axis, n) in map.iter().filter(|e| !e.1.is_null()) {
        let n = n.as_i64().ok_or_else(|| format!("position {v}"))?;
        if n != 0 {
            out.insert(axis.clone(), n);
        }
    }
    Ok(out)
}

/// The rows of an apply table as positions, with the elements they belong to.
pub fn table(v: &Value) -> Result<Vec<(i64, Position)>, String> {
    let rows = v["val"].as_array().ok_or("table")?;
    let axes = v["axes"].as_array().ok_or("table")?;
    let xs = match v.get("x") {
        Some(Value::Array(list)) => list.iter().filter_map(Value::as_i64).collect(),
        _ => (0..rows.len() as i64).collect::<Vec<_>>(),
    };
    let mut out = Vec::new();
    for (x, row) in xs.into_iter().zip(rows) {
        let mut at = Position::new();
        for (axis, n) in axes.iter().zip(row.as_array().ok_or("row")?) {
            if let (Some(axis), Some(n)) = (axis.as_str(), n.as_i64())
                && n != 0
            {
                at.insert(axis.to_owned(), n);
            }
        }
        out.push((x, at));
    }
    Ok(out)
}

/// Part `r` of `n` of an element with these copies.
pub fn parts(copies: &Copies, n: i64, r: i64, axis: &str) -> Copies {
    let mut out = copies.clone();
    for at in &mut out {
        let v = at.remove(axis).unwrap_or(0) * n + r;
        if v != 0 {
            at.insert(axis.to_owned(), v);
        }
    }
    out.sort();
    out
}
