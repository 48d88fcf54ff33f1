//! Perfect-hash name look-up with checked access.
use phf_shared::{HashKey, hash};

/// A perfect hash from names to dense ids. The state is computed by `lanebook-gen` with phf's own
/// generator; the look-up is written out here with checked access, so that no remainder or bounds
/// panic can be linked in. The names themselves stand where the ids lead.
#[derive(Copy, Clone, Debug)]
pub struct NameMap<'a> {
    /// Hash key.
    pub key: HashKey,
    /// Displacements.
    pub displacements: &'a [(u16, u16)],
    /// Ids in hash order.
    pub ids: &'a [u16],
}

impl<'a> NameMap<'a> {
    /// A map without names.
    pub const EMPTY: NameMap<'static> = NameMap { key: 0, displacements: &[], ids: &[] };

    /// The only id that can have a name, if `name_of` says that it has.
    #[inline]
    pub fn get<'n>(&self, name: &str, name_of: impl FnOnce(u16) -> Option<&'n str>) -> Option<u16> {
        let id = self.candidate(name)?;
        (name_of(id)? == name).then_some(id)
    }

    /// The only id that can have a name.
    #[must_use]
    pub fn candidate(&self, name: &str) -> Option<u16> {
        let hashes = hash(name, &self.key);
        let groups = u32::try_from(self.displacements.len()).ok()?;
        let slots = u32::try_from(self.ids.len()).ok()?;
        let &(d1, d2) = self.displacements.get(hashes.g.checked_rem(groups)? as usize)?;
        let slot = phf_shared::displace(hashes.f1, hashes.f2, d1.into(), d2.into()).checked_rem(slots)?;
        self.ids.get(slot as usize).copied()
    }
}
