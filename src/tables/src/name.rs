//! Perfect-hash name look-up with checked access.
use phf_shared::{HashKey, hash};

/// A perfect hash from names to dense ids. The state is computed by `lanebook-gen` with phf's own
/// generator; the look-up is written out here with checked access, so that no remainder or bounds
/// panic can be linked in.
#[derive(Copy, Clone, Debug)]
pub struct NameMap<'a> {
    /// Hash key.
    pub key: HashKey,
    /// Displacements.
    pub displacements: &'a [(u32, u32)],
    /// Names with their ids, in hash order.
    pub entries: &'a [(&'a str, u16)],
}

impl<'a> NameMap<'a> {
    /// A map without names.
    pub const EMPTY: NameMap<'static> = NameMap { key: 0, displacements: &[], entries: &[] };

    /// The id of a name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<u16> {
        let hashes = hash(name, &self.key);
        let groups = u32::try_from(self.displacements.len()).ok()?;
        let slots = u32::try_from(self.entries.len()).ok()?;
        let &(d1, d2) = self.displacements.get(hashes.g.checked_rem(groups)? as usize)?;
        let slot = phf_shared::displace(hashes.f1, hashes.f2, d1, d2).checked_rem(slots)?;
        let &(found, id) = self.entries.get(slot as usize)?;
        if found == name { Some(id) } else { None }
    }
}
