//! A second evaluator, as plain as possible: layouts as lists of leaves, evaluated point by point.
//! Shares no code with lanebook, so that laws checked with it mean something.

/// One leaf: extent, stride, axis (empty for none).
pub type Leaf = (i64, i64, String);

/// A tree of numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tree {
    /// A leaf's text.
    Leaf(String),
    /// A tuple.
    Tuple(Vec<Tree>),
}

impl Tree {
    /// Reads a tree; `None` for anything malformed.
    pub fn parse(text: &str) -> Option<Tree> {
        let mut rest = text.trim();
        let tree = Self::node(&mut rest)?;
        rest.trim().is_empty().then_some(tree)
    }

    fn node(rest: &mut &str) -> Option<Tree> {
        *rest = rest.trim_start();
        let Some(inner) = rest.strip_prefix('(') else {
            let end = rest.find([',', ')', '(']).unwrap_or(rest.len());
            let (leaf, after) = rest.split_at(end);
            *rest = after;
            let leaf = leaf.trim();
            return (!leaf.is_empty()).then(|| Tree::Leaf(leaf.to_owned()));
        };
        *rest = inner.trim_start();
        let mut nodes = Vec::new();
        if let Some(after) = rest.strip_prefix(')') {
            *rest = after;
            return Some(Tree::Tuple(nodes));
        }
        loop {
            nodes.push(Self::node(rest)?);
            *rest = rest.trim_start();
            if let Some(after) = rest.strip_prefix(',') {
                *rest = after;
            } else {
                *rest = rest.strip_prefix(')')?;
                return Some(Tree::Tuple(nodes));
            }
        }
    }

    /// The leaves from left to right.
    pub fn leaves(&self) -> Vec<&str> {
        match self {
            Tree::Leaf(text) => vec![text],
            Tree::Tuple(nodes) => nodes.iter().flat_map(Tree::leaves).collect(),
        }
    }
}

/// A layout as one list of leaves a top-level mode, fastest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flat {
    /// The modes.
    pub modes: Vec<Vec<Leaf>>,
}

impl Flat {
    /// Reads `shape:stride`.
    pub fn parse(text: &str) -> Option<Flat> {
        let (shape, stride) = text.split_once(':')?;
        let (shape, stride) = (Tree::parse(shape)?, Tree::parse(stride)?);
        let modes = match (&shape, &stride) {
            (Tree::Tuple(s), Tree::Tuple(d)) if s.len() == d.len() => {
                s.iter().zip(d).map(|(s, d)| mode(s, d)).collect::<Option<_>>()?
            }
            _ => vec![mode(&shape, &stride)?],
        };
        Some(Flat { modes })
    }

    /// All leaves.
    pub fn leaves(&self) -> Vec<Leaf> {
        self.modes.concat()
    }

    /// The product of all extents.
    pub fn size(&self) -> i64 {
        size(&self.leaves())
    }

    /// The positions of all indices; `None` beyond four million.
    pub fn table(&self) -> Option<Vec<i64>> {
        table(&self.leaves())
    }
}

fn mode(shape: &Tree, stride: &Tree) -> Option<Vec<Leaf>> {
    let (s, d) = (shape.leaves(), stride.leaves());
    if s.len() != d.len() {
        return None;
    }
    let leaf = |(s, d): (&str, &str)| {
        let (count, axis) = match d.split_once('@') {
            Some((count, axis)) => (count, axis.to_owned()),
            None => (d, String::new()),
        };
        Some((s.parse().ok()?, count.trim().parse().ok()?, axis))
    };
    s.into_iter().zip(d).map(leaf).collect()
}

/// Whether two texts are one tree of extents with the same strides, but for those of extents of 1,
/// which move nothing; swizzle and offset alike.
pub fn same_but_units(a: &str, b: &str) -> bool {
    let split = |text: &str| -> Option<(String, Tree, Tree)> {
        let (head, layout) = text.rsplit_once(" o ").unwrap_or(("", text));
        let (shape, stride) = layout.split_once(':')?;
        let head = head.replace([' ', '>'], "");
        // A swizzle of no bits is none.
        let head =
            if head.starts_with("S<0,") && head.ends_with("o0") { String::new() } else { head };
        Some((head, Tree::parse(shape)?, Tree::parse(stride)?))
    };
    let (Some(a), Some(b)) = (split(a), split(b)) else { return false };
    let (extents, own, others) = (a.1.leaves(), a.2.leaves(), b.2.leaves());
    let moves = |k: usize| extents.get(k).is_some_and(|e| *e != "1");
    a.0 == b.0
        && a.1 == b.1
        && own.len() == extents.len()
        && own.len() == others.len()
        && (0..own.len()).all(|k| own[k] == others[k] || !moves(k))
}

/// The product of extents.
pub fn size(leaves: &[Leaf]) -> i64 {
    leaves.iter().map(|l| l.0).product()
}

/// The position of index `x`; the last leaf is unbounded.
pub fn at(leaves: &[Leaf], x: i64) -> i64 {
    let (mut rest, mut sum) = (x, 0);
    for (k, (extent, stride, _)) in leaves.iter().enumerate() {
        let digit = if k + 1 == leaves.len() { rest } else { rest % extent };
        rest /= extent;
        sum += digit * stride;
    }
    sum
}

/// The positions of all indices.
pub fn table(leaves: &[Leaf]) -> Option<Vec<i64>> {
    let size = size(leaves);
    (0..=1 << 22).contains(&size).then(|| (0..size).map(|x| at(leaves, x)).collect())
}

/// The complement to `total`: whole steps below each stride. `None` where a step falls between
/// others, or on them.
pub fn complement(leaves: &[Leaf], total: i64) -> Option<Vec<Leaf>> {
    let mut own: Vec<&Leaf> = leaves.iter().filter(|l| l.0 != 1 && l.1 != 0).collect();
    own.sort_by_key(|l| l.1);
    let (mut out, mut covered) = (Vec::new(), 1);
    for (extent, stride, axis) in own {
        if *stride < 1 || *stride < covered {
            return None;
        }
        out.push((stride / covered, covered, axis.clone()));
        covered = extent * stride;
    }
    out.push(((total + covered - 1) / covered, covered, String::new()));
    Some(out)
}

/// The table of a sum of parts, the first one fastest.
pub fn sum_table(parts: &[Vec<i64>]) -> Option<Vec<i64>> {
    let mut out = vec![0i64];
    for part in parts {
        if out.len().checked_mul(part.len())? > 1 << 22 {
            return None;
        }
        out = part.iter().flat_map(|p| out.iter().map(move |x| x + p)).collect();
    }
    Some(out)
}

/// `Swizzle<B, M, S>` on one position.
pub fn swizzle(b: u32, m: u32, s: i32, x: u64) -> u64 {
    let field = ((1u64 << b) - 1) << m;
    let distance = s.unsigned_abs();
    if s >= 0 { x ^ ((x & (field << distance)) >> distance) } else { x ^ ((x & field) << distance) }
}

/// A composed layout `S<B,M,S> o offset o layout`, also with the peer's missing `>`.
#[derive(Clone, Debug)]
pub struct Composed {
    /// The triple.
    pub triple: (u32, u32, i32),
    /// What is added before the swizzle.
    pub offset: i64,
    /// The layout.
    pub inner: Flat,
}

impl Composed {
    /// Reads composed text, or a plain layout as one without swizzle.
    pub fn parse(text: &str) -> Option<Composed> {
        let Some(rest) = text.trim().strip_prefix("S<") else {
            return Some(Composed { triple: (0, 0, 0), offset: 0, inner: Flat::parse(text)? });
        };
        let mut parts = rest.splitn(3, 'o');
        let triple = parts.next()?.trim().trim_end_matches('>');
        let numbers: Vec<i32> =
            triple.split(',').map(|n| n.trim().parse().ok()).collect::<Option<_>>()?;
        let [b, m, s] = numbers[..] else { return None };
        let offset = parts.next()?.trim().parse().ok()?;
        Some(Composed {
            triple: (u32::try_from(b).ok()?, u32::try_from(m).ok()?, s),
            offset,
            inner: Flat::parse(parts.next()?)?,
        })
    }

    /// The swizzled positions of all indices.
    pub fn table(&self) -> Option<Vec<i64>> {
        let (b, m, s) = self.triple;
        let move_one = |y: i64| {
            let y = y + self.offset;
            u64::try_from(y).ok().and_then(|y| i64::try_from(swizzle(b, m, s, y)).ok())
        };
        self.inner.table()?.into_iter().map(move_one).collect()
    }
}

/// `shape_div` as pycute defines it, by recursion; `None` where it refuses.
pub fn shape_div(a: &Tree, b: &Tree) -> Option<Tree> {
    let product =
        |t: &Tree| t.leaves().iter().map(|n| n.parse::<i64>().ok()).product::<Option<i64>>();
    let one = |n: i64| Tree::Leaf(n.to_string());
    match (a, b) {
        (Tree::Tuple(x), Tree::Tuple(y)) => {
            let nodes =
                x.iter().zip(y).map(|(x, y)| shape_div(x, y)).collect::<Option<Vec<_>>>()?;
            (x.len() == y.len()).then_some(Tree::Tuple(nodes))
        }
        (Tree::Tuple(x), Tree::Leaf(_)) => {
            let (mut by, mut nodes) = (b.clone(), Vec::new());
            for node in x {
                nodes.push(shape_div(node, &by)?);
                by = shape_div(&by, &one(product(node)?))?;
            }
            Some(Tree::Tuple(nodes))
        }
        (Tree::Leaf(_), Tree::Tuple(_)) => shape_div(a, &one(product(b)?)),
        (Tree::Leaf(_), Tree::Leaf(_)) => {
            let (x, y) = (product(a)?, product(b)?);
            let divides = x.checked_rem(y)? == 0 || y.checked_rem(x)? == 0;
            divides.then(|| one((x + y - 1) / y))
        }
    }
}
