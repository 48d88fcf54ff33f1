//! Perfect-hash name look-up with checked access.
use crate::hash::{Divisor, Hashes, finish, mix};

/// A perfect hash from names to dense ids. The state is computed by `lanebook-gen` with phf's own
/// generator over [`name_hash`]; the look-up is written out here with checked access, so that no
/// remainder or bounds panic can be linked in. The names themselves stand where the ids lead.
#[derive(Copy, Clone, Debug)]
pub struct NameMap<'a> {
    /// Seed of the hash.
    pub key: u64,
    /// Displacements.
    pub displacements: &'a [(u16, u16)],
    /// Ids in hash order.
    pub ids: &'a [u16],
    /// By the number of displacements.
    pub buckets: Divisor,
    /// By the number of ids.
    pub slots: Divisor,
}

impl<'a> NameMap<'a> {
    /// A map without names.
    pub const EMPTY: NameMap<'static> = NameMap::new(0, &[], &[]);

    /// A map as phf's generator has it.
    #[must_use]
    pub const fn new(key: u64, displacements: &'a [(u16, u16)], ids: &'a [u16]) -> Self {
        let (buckets, slots) =
            (Divisor::by(displacements.len() as u32), Divisor::by(ids.len() as u32));
        Self { key, displacements, ids, buckets, slots }
    }

    /// The only id that can have a name, if `name_of` says that it has.
    #[inline]
    pub fn get<'n>(&self, name: &str, name_of: impl FnOnce(u16) -> Option<&'n str>) -> Option<u16> {
        let id = self.candidate(name)?;
        (name_of(id)? == name).then_some(id)
    }

    /// The only id that can have a name.
    #[must_use]
    pub fn candidate(&self, name: &str) -> Option<u16> {
        let hashes = name_hash(name, self.key);
        self.ids.get(hashes.slot(self.displacements, self.buckets, self.slots)?).copied()
    }
}

/// The hash of a name: eight bytes at a time, the last ones together with the length.
#[must_use]
#[inline]
pub fn name_hash(name: &str, seed: u64) -> Hashes {
    let (whole, rest) = name.as_bytes().as_chunks::<8>();
    let length = name.len() as u64;
    let state =
        whole.iter().fold(seed ^ length, |state, chunk| mix(state ^ u64::from_le_bytes(*chunk)));
    let last = rest.iter().fold(0u64, |word, byte| word.wrapping_shl(8) | u64::from(*byte));
    finish(mix(state ^ last))
}
