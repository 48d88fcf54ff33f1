//! Chains of what has one hash: what is looked up by its words is found in time that does not grow
//! with how many there are.
//!
//! Records stand in a pool of their own; here are only numbers. They are added in order and go
//! away from the end, so that the last one is always the first of its chain.
use core::hash::Hasher;

/// FNV-1a, of 32 bits.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Digest(u32);

impl Digest {
    pub const NEW: Self = Self(0x811c_9dc5);

    /// The digest of a text.
    pub fn of(text: &str) -> u32 {
        let mut digest = Self::NEW;
        digest.write(text.as_bytes());
        digest.value()
    }
    pub const fn value(self) -> u32 {
        self.0
    }
}

impl Hasher for Digest {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes
            .iter()
            .fold(self.0, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193));
    }
    fn finish(&self) -> u64 {
        u64::from(self.0)
    }
}

/// The chain of a hash, of so many.
pub(crate) fn chain_of(hash: u32, chains: usize) -> usize {
    ((hash ^ (hash >> 15)) as usize).checked_rem(chains).unwrap_or(0)
}

/// What is in chains.
#[derive(Copy, Clone, Debug)]
pub(crate) enum Chained {
    Types,
    Aliases,
    Made,
    /// Layouts that are weighed, by their texts; their records have the links.
    Layouts,
    /// The same by their maps.
    Maps,
}

/// A record of each of the first three pools, by its index: the one + 1 that was added to its chain
/// before it; and a chain of each kind, by its number: the last record + 1 in it.
#[derive(Copy, Clone, Debug)]
pub(crate) struct ChainCell {
    links: [u16; 3],
    heads: [u16; 5],
}

impl ChainCell {
    pub const NEW: Self = Self { links: [0; 3], heads: [0; 5] };

    fn link(&self, of: Chained) -> u16 {
        self.links.get(of as usize).copied().unwrap_or(0)
    }
    fn head(&self, of: Chained) -> u16 {
        self.heads.get(of as usize).copied().unwrap_or(0)
    }
    fn set_link(&mut self, of: Chained, to: u16) {
        self.links.get_mut(of as usize).into_iter().for_each(|link| *link = to);
    }
    fn set_head(&mut self, of: Chained, to: u16) {
        self.heads.get_mut(of as usize).into_iter().for_each(|head| *head = to);
    }
}

/// Chains over the records of pools, which all have as many.
#[derive(Debug)]
pub(crate) struct Chains<'s>(pub &'s mut [ChainCell]);

impl Chains<'_> {
    pub fn clear(&mut self) {
        self.0.fill(ChainCell::NEW);
    }
    /// Empties the chains of a kind.
    pub fn empty(&mut self, of: Chained) {
        self.0.iter_mut().for_each(|cell| cell.set_head(of, 0));
    }
    /// How many chains of a kind there are.
    pub const fn count(&self) -> usize {
        self.0.len()
    }
    /// The last record + 1 of a chain; 0: none.
    pub fn head(&self, of: Chained, chain: usize) -> u16 {
        self.0.get(chain).map_or(0, |cell| cell.head(of))
    }
    /// Puts a record + 1 at the head of a chain: what was there.
    pub fn replace_head(&mut self, of: Chained, chain: usize, own: u16) -> u16 {
        let before = self.head(of, chain);
        self.0.get_mut(chain).into_iter().for_each(|cell| cell.set_head(of, own));
        before
    }
    /// The record with a hash of which something holds.
    pub fn find(&self, of: Chained, hash: u32, holds: impl Fn(usize) -> bool) -> Option<usize> {
        let mut at = self.head(of, chain_of(hash, self.count())).checked_sub(1);
        while let Some(index) = at {
            if holds(usize::from(index)) {
                return Some(usize::from(index));
            }
            at = self.0.get(usize::from(index))?.link(of).checked_sub(1);
        }
        None
    }
    /// Adds a record, the last one of its pool that is in a chain.
    pub fn add(&mut self, of: Chained, index: usize, hash: u32) {
        let own = u16::try_from(index.saturating_add(1)).unwrap_or(0);
        let before = self.replace_head(of, chain_of(hash, self.count()), own);
        self.0.get_mut(index).into_iter().for_each(|cell| cell.set_link(of, before));
    }
    /// Takes records out, down to the first so many. Only undoing does, so that what tells their
    /// chains apart is looked for and not kept.
    pub fn truncate(&mut self, of: Chained, len: usize) {
        for chain in 0..self.count() {
            let mut head = self.head(of, chain);
            while usize::from(head) > len {
                let last = usize::from(head).saturating_sub(1);
                head = self.0.get(last).map_or(0, |cell| cell.link(of));
            }
            self.replace_head(of, chain, head);
        }
    }
}
