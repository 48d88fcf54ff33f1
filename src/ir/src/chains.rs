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

/// Chains over the records of a pool.
#[derive(Debug)]
pub(crate) struct Chains<'s> {
    /// Of each record, the one + 1 that was added to its chain before it.
    pub links: &'s mut [u16],
    /// The last record + 1 of each chain.
    pub heads: &'s mut [u16],
}

impl Chains<'_> {
    pub fn clear(&mut self) {
        self.heads.fill(0);
    }
    /// The record with a hash of which something holds.
    pub fn find(&self, hash: u32, holds: impl Fn(usize) -> bool) -> Option<usize> {
        let mut at = self.heads.get(chain_of(hash, self.heads.len()))?.checked_sub(1);
        while let Some(index) = at {
            if holds(usize::from(index)) {
                return Some(usize::from(index));
            }
            at = self.links.get(usize::from(index))?.checked_sub(1);
        }
        None
    }
    /// Adds a record, the last one that is in a chain.
    pub fn add(&mut self, index: usize, hash: u32) {
        let chain = chain_of(hash, self.heads.len());
        if let (Some(link), Some(head)) = (self.links.get_mut(index), self.heads.get_mut(chain)) {
            *link = core::mem::replace(head, u16::try_from(index.saturating_add(1)).unwrap_or(0));
        }
    }
    /// Takes records out, down to the first so many. Only undoing does, so that what tells their
    /// chains apart is looked for and not kept.
    pub fn truncate(&mut self, len: usize) {
        for head in &mut *self.heads {
            while usize::from(*head) > len {
                let Some(link) = usize::from(*head).checked_sub(1).and_then(|i| self.links.get(i))
                else {
                    break;
                };
                *head = *link;
            }
        }
    }
}
