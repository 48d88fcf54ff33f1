//! What the perfect hashes of tables share: mixing of words, and the slot that phf's displacements
//! lead to.
mod name_map;

pub use name_map::{NameMap, name_hash};

/// A bucket and the two parts that its displacement combines, as phf's generator takes them.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Hashes {
    /// Says which bucket.
    pub bucket: u32,
    /// Is multiplied by the bucket's first displacement.
    pub first: u32,
    /// Is added.
    pub second: u32,
}

impl Hashes {
    /// The slot of `slots` that a key with these hashes can only be in; `None` of an empty or
    /// damaged map.
    #[must_use]
    #[inline]
    pub fn slot(self, displacements: &[(u16, u16)], slots: usize) -> Option<usize> {
        let buckets = u32::try_from(displacements.len()).ok()?;
        let slots = u32::try_from(slots).ok()?;
        let &(by, plus) = displacements.get(self.bucket.checked_rem(buckets)? as usize)?;
        Some(
            phf_shared::displace(self.first, self.second, by.into(), plus.into())
                .checked_rem(slots)? as usize,
        )
    }
}

/// Spreads a word over all bits: a multiplication by an odd constant, and the high half folded
/// down.
#[must_use]
#[inline]
pub(crate) const fn mix(word: u64) -> u64 {
    let product = word.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    product ^ product.wrapping_shr(32)
}

/// The hashes of a word that was mixed.
#[must_use]
#[inline]
pub(crate) const fn finish(word: u64) -> Hashes {
    let product = word.wrapping_mul(0xd6e8_feb8_6659_fd93);
    let last = product ^ product.wrapping_shr(29);
    Hashes {
        bucket: product.wrapping_shr(40) as u32,
        first: last.wrapping_shr(32) as u32,
        second: last as u32,
    }
}
