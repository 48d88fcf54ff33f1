//! What the tables say of descriptors and swizzle modes, read by the checker itself: planning has readers of its own, and what one of them gets wrong the
//! other does not.

use lanebook_tables::{Arch, Descriptor, FeatureId, Field, Major, OperandTile, SwizzleMode, Tables, TensorMemory, TensorTile};

/// Whether an architecture has a feature.
pub(super) fn has(arch: &Arch<'_>, feature: FeatureId) -> bool {
    arch.features.contains(&feature)
}

/// The architecture's descriptor with a name.
pub(super) fn descriptor_named<'a>(tables: &Tables<'a>, arch: &Arch<'_>, name: &str) -> Option<&'a Descriptor<'a>> {
    tables.units.descriptors.iter().find(|d| d.name == name && has(arch, d.feature))
}

/// The architecture's swizzle mode with a name.
pub(super) fn swizzle_named<'a>(tables: &Tables<'a>, arch: &Arch<'_>, name: &str) -> Option<&'a SwizzleMode<'a>> {
    tables.units.swizzles.iter().copied().find(|mode| mode.name == name && has(arch, mode.feature))
}

/// The architecture's tile of an operand, by its order and swizzle mode.
pub(super) fn operand_tile<'a>(tables: &Tables<'a>, arch: &Arch<'_>, major: Major, mode: &str) -> Option<&'a OperandTile<'a>> {
    tables.units.operand_tiles.iter().find(|tile| has(arch, tile.feature) && tile.major == major && tile.swizzle.name == mode)
}

/// The architecture's tensor memory.
pub(super) fn tensor_memory<'a>(tables: &Tables<'a>, arch: &Arch<'_>) -> Option<&'a TensorMemory<'a>> {
    tables.units.tensor_memories.iter().find(|memory| has(arch, memory.feature))
}

/// The architecture's tile of tensor memory with a name.
pub(super) fn tensor_tile<'a>(tables: &Tables<'a>, arch: &Arch<'_>, name: &str) -> Option<&'a TensorTile<'a>> {
    tables.units.tensor_tiles.iter().find(|tile| tile.name == name && has(arch, tile.feature))
}

/// Where a mode puts the byte at an address: each of its exchanges adds `b` bits, from bit `m + s` of the address, to the bits from `m` up; where `s` is negative
/// those from `m` to those `-s` further up.
pub(super) fn swizzled(mode: &SwizzleMode<'_>, address: u64) -> Option<u64> {
    let mut out = address;
    for xor in mode.xor {
        let (b, m, s) = (u32::from(xor.b), u32::from(xor.m), u32::from(xor.s.unsigned_abs()));
        let mask = 1u64.checked_shl(b)?.checked_sub(1)?;
        let far = m.checked_add(s)?;
        let (from, to) = if xor.s < 0 { (m, far) } else { (far, m) };
        out ^= (address.checked_shr(from)? & mask).checked_shl(to)?;
    }
    Some(out)
}

/// A word of bit fields.
#[derive(Copy, Clone)]
pub(super) struct Word<'a> {
    descriptor: &'a Descriptor<'a>,
    bits: u64,
}

impl<'a> Word<'a> {
    /// The word with these bits, if each of them belongs to a field and each field holds what it may.
    pub(super) fn unpack(descriptor: &'a Descriptor<'a>, bits: u64) -> Option<Self> {
        let out = Self { descriptor, bits };
        let mut left = bits;
        for field in descriptor.fields {
            left &= !mask(field)?.checked_shl(u32::from(field.at))?;
            let raw = out.raw(field)?;
            let value = raw.checked_mul(u64::from(field.scale.max(1)))?;
            let listed = field.values.is_empty() || field.values.iter().any(|(_, code)| u64::from(*code) == raw);
            if !listed || !(u64::from(field.range.0)..=u64::from(field.range.1)).contains(&value) {
                return None;
            }
        }
        (left == 0).then_some(out)
    }

    /// What a field stands for.
    pub(super) fn get(&self, name: &str) -> Option<u64> {
        let field = self.descriptor.fields.iter().find(|f| f.name == name)?;
        self.raw(field)?.checked_mul(u64::from(field.scale.max(1)))
    }

    /// The name of a field's value.
    pub(super) fn word(&self, name: &str) -> Option<&'a str> {
        let field = self.descriptor.fields.iter().find(|f| f.name == name)?;
        let raw = self.raw(field)?;
        field.values.iter().find(|(_, code)| u64::from(*code) == raw).map(|(name, _)| *name)
    }

    fn raw(&self, field: &Field<'_>) -> Option<u64> {
        Some(self.bits.checked_shr(u32::from(field.at))? & mask(field)?)
    }
}

/// The bits of a field, shifted down.
fn mask(field: &Field<'_>) -> Option<u64> {
    if field.bits >= 64 { Some(u64::MAX) } else { 1u64.checked_shl(u32::from(field.bits))?.checked_sub(1) }
}
