//! Sets of nodes.
use crate::expr::{ExprId, MAX_NODES};

const WORDS: usize = MAX_NODES / 64;
const _: () = assert!(WORDS <= 64);

/// A set of nodes in two levels of bits: walking it costs what it holds, not what the arena holds.
pub(super) struct NodeSet {
    words: [u64; WORDS],
    /// Bit w: word w is not 0.
    summary: u64,
}

impl NodeSet {
    pub(super) fn new() -> Self {
        Self { words: [0; WORDS], summary: 0 }
    }
    pub(super) fn add(&mut self, id: ExprId) {
        let word = id.index() >> 6;
        if let Some(bits) = self.words.get_mut(word) {
            *bits |= 1u64.wrapping_shl(u32::from(id.0 & 63));
            self.summary |= 1u64.wrapping_shl((word & 63) as u32);
        }
    }
    /// The highest node below `id`.
    pub(super) fn before(&self, id: ExprId) -> Option<ExprId> {
        let word = id.index() >> 6;
        let own = self
            .words
            .get(word)
            .map_or(0, |bits| bits & 1u64.wrapping_shl(u32::from(id.0 & 63)).wrapping_sub(1));
        let (word, bits) = if own != 0 {
            (word, own)
        } else {
            let lower =
                if word < 64 { 1u64.wrapping_shl(word as u32).wrapping_sub(1) } else { u64::MAX };
            let word = (self.summary & lower).checked_ilog2()? as usize;
            (word, *self.words.get(word)?)
        };
        Some(ExprId(((word << 6) as u16) | bits.checked_ilog2()? as u16))
    }
    /// From the highest to the lowest.
    pub(super) fn descending(&self) -> impl Iterator<Item = ExprId> + '_ {
        let mut from = ExprId::NONE;
        core::iter::from_fn(move || {
            from = self.before(from)?;
            Some(from)
        })
    }
    /// From the lowest to the highest.
    pub(super) fn ascending(&self) -> impl Iterator<Item = ExprId> + '_ {
        Ones(self.summary).flat_map(|word| {
            Ones(self.words.get(word).copied().unwrap_or(0))
                .map(move |bit| ExprId(((word << 6) | bit) as u16))
        })
    }
}

/// Numbers of the bits that are 1, ascending.
struct Ones(u64);

impl Iterator for Ones {
    type Item = usize;
    fn next(&mut self) -> Option<usize> {
        if self.0 == 0 {
            return None;
        }
        let bit = self.0.trailing_zeros();
        self.0 &= self.0.wrapping_sub(1);
        Some(bit as usize)
    }
}
