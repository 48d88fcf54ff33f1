//! What tiling and the direct sum mean, element by element.

use super::model::{self, Copies, Model, Xor};
use std::collections::BTreeMap;

/// How wide `m` is on each axis, copies included and the offset left out.
fn widths(m: &Model) -> BTreeMap<String, i64> {
    let mut ends: BTreeMap<String, (i64, i64)> = BTreeMap::new();
    for s in m.shard.iter().chain(&m.replica) {
        let e = ends.entry(s.axis.clone()).or_default();
        let way = (s.extent - 1) * s.stride;
        *e = (e.0 + way.min(0), e.1 + way.max(0));
    }
    ends.into_iter().map(|(a, e)| (a, e.1 - e.0 + 1)).collect()
}

/// TIRx's own width: where `m` ends on each axis, copies and offset counted and 0 the least.
fn spans(m: &Model) -> BTreeMap<String, i64> {
    let mut ends: BTreeMap<String, i64> = m.offset.clone();
    for s in m.shard.iter().chain(&m.replica) {
        *ends.entry(s.axis.clone()).or_default() += (s.extent - 1) * s.stride;
    }
    ends.into_iter().map(|(a, e)| (a, e + 1)).collect()
}

/// How far apart a tiling places its tiles.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// As they are: a direct sum.
    One,
    /// By the window that the inner operand covers.
    Footprint,
    /// By TIRx's span, which the inner offset widens.
    Span,
}

/// The law of tiling and of the direct sum, element by element of the interleaved shape.
pub struct Law {
    /// The slower operand, its steps scaled for a tiling.
    slow: Model,
    slow_shape: Vec<u32>,
    fast: Model,
    fast_shape: Vec<u32>,
    xor: Option<Xor>,
}

impl Law {
    /// The operands, each with its shape.
    pub fn new(slow: (&Model, &[u32]), fast: (&Model, &[u32]), step: Step) -> Self {
        let widths = match step {
            Step::One => BTreeMap::new(),
            Step::Footprint => widths(fast.0),
            Step::Span => spans(fast.0),
        };
        let plain = |m: &Model| Model { xor: None, ..m.clone() };
        let mut steps = plain(slow.0);
        for s in &mut steps.shard {
            s.stride *= widths.get(&s.axis).copied().unwrap_or(1);
        }
        Self {
            slow: steps,
            slow_shape: slow.1.to_vec(),
            fast: plain(fast.0),
            fast_shape: fast.1.to_vec(),
            xor: fast.0.xor,
        }
    }

    /// The elements of both operands that meet in element `x`.
    fn operands(&self, x: i64) -> (i64, i64) {
        let (mut rest, mut slow, mut fast) = (x, 0, 0);
        let (mut slow_scale, mut fast_scale) = (1, 1);
        for (s, f) in self.slow_shape.iter().zip(&self.fast_shape).rev() {
            let (s, f) = (i64::from(*s), i64::from(*f));
            fast += rest % f * fast_scale;
            rest /= f;
            slow += rest % s * slow_scale;
            rest /= s;
            (slow_scale, fast_scale) = (slow_scale * s, fast_scale * f);
        }
        (slow, fast)
    }

    /// All copies of element `x`.
    pub fn copies(&self, x: i64) -> Copies {
        let (slow, fast) = self.operands(x);
        let mut out = Copies::new();
        for a in self.slow.copies(slow) {
            for b in self.fast.copies(fast) {
                let mut at = a.clone();
                for (axis, v) in b {
                    *at.entry(axis).or_insert(0) += v;
                }
                if let Some(xor) = self.xor {
                    let m = at.get("m").copied().unwrap_or(0);
                    at.insert("m".to_owned(), xor.apply(m));
                }
                at.retain(|_, v| *v != 0);
                out.push(at);
            }
        }
        out.sort();
        out
    }

    /// Whether `m` is this map.
    pub fn is(&self, m: &Model) -> bool {
        let size: u32 = self.slow_shape.iter().chain(&self.fast_shape).product();
        m.size() == i64::from(size)
            && model::sample(m.size()).all(|x| m.copies(x) == self.copies(x))
    }
}
