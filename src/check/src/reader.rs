//! What the tables say of descriptors and swizzle modes, read by the checker itself: planning has
//! readers of its own, and what one of them gets wrong the other does not.

use lanebook_tables::{
    Amount, Arch, Descriptor, FeatureId, Field, Major, OperandTile, SwizzleMode, Tables,
    TensorMemory, TensorTile, TileIter,
};

/// Whether an architecture has a feature.
pub(crate) fn has(arch: &Arch<'_>, feature: FeatureId) -> bool {
    arch.features.contains(&feature)
}

/// The architecture's descriptor with a name.
pub(crate) fn descriptor_named<'a>(
    tables: &Tables<'a>,
    arch: &Arch<'_>,
    name: &str,
) -> Option<&'a Descriptor<'a>> {
    tables.units.descriptors.iter().find(|d| d.name == name && has(arch, d.feature))
}

/// The architecture's swizzle mode with a name.
pub(crate) fn swizzle_named<'a>(
    tables: &Tables<'a>,
    arch: &Arch<'_>,
    name: &str,
) -> Option<&'a SwizzleMode<'a>> {
    tables.units.swizzles.iter().copied().find(|mode| mode.name == name && has(arch, mode.feature))
}

/// The architecture's tile of an operand, by its order and swizzle mode.
pub(crate) fn operand_tile<'a>(
    tables: &Tables<'a>,
    arch: &Arch<'_>,
    major: Major,
    mode: &str,
) -> Option<&'a OperandTile<'a>> {
    tables
        .units
        .operand_tiles
        .iter()
        .find(|tile| has(arch, tile.feature) && tile.major == major && tile.swizzle.name == mode)
}

/// The architecture's tensor memory.
pub(crate) fn tensor_memory<'a>(
    tables: &Tables<'a>,
    arch: &Arch<'_>,
) -> Option<&'a TensorMemory<'a>> {
    tables.units.tensor_memories.iter().find(|memory| has(arch, memory.feature))
}

/// The architecture's tile of tensor memory with a name.
pub(crate) fn tensor_tile<'a>(
    tables: &Tables<'a>,
    arch: &Arch<'_>,
    name: &str,
) -> Option<&'a TensorTile<'a>> {
    tables.units.tensor_tiles.iter().find(|tile| tile.name == name && has(arch, tile.feature))
}

/// Where a mode puts the byte at an address: each of its exchanges adds `b` bits, from bit `m + s`
/// of the address, to the bits from `m` up; where `s` is negative those from `m` to those `-s`
/// further up.
pub(crate) fn swizzled(mode: &SwizzleMode<'_>, address: u64) -> Option<u64> {
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
pub(crate) struct FieldWord<'a> {
    descriptor: &'a Descriptor<'a>,
    bits: u64,
}

impl<'a> FieldWord<'a> {
    /// The word with these bits, if each of them belongs to a field and each field holds what it
    /// may.
    pub(crate) fn unpack(descriptor: &'a Descriptor<'a>, bits: u64) -> Option<Self> {
        let out = Self { descriptor, bits };
        let mut left = bits;
        for field in descriptor.fields {
            left &= !mask(field)?.checked_shl(u32::from(field.at))?;
            let raw = out.raw(field)?;
            let value = raw.checked_mul(u64::from(field.scale.max(1)))?;
            let listed = field.values.is_empty()
                || field.values.iter().any(|(_, code)| u64::from(*code) == raw);
            if !listed || !(u64::from(field.range.0)..=u64::from(field.range.1)).contains(&value) {
                return None;
            }
        }
        (left == 0).then_some(out)
    }

    /// What a field stands for.
    pub(crate) fn get(&self, name: &str) -> Option<u64> {
        let field = self.descriptor.fields.iter().find(|f| f.name == name)?;
        self.raw(field)?.checked_mul(u64::from(field.scale.max(1)))
    }

    /// The name of a field's value.
    pub(crate) fn word(&self, name: &str) -> Option<&'a str> {
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
    if field.bits >= 64 {
        Some(u64::MAX)
    } else {
        1u64.checked_shl(u32::from(field.bits))?.checked_sub(1)
    }
}

/// Most parameters of a tile, and most walks of its coordinates.
const PARAMS: usize = 8;
const WALKS: usize = 16;

/// Where the unit finds the elements of an operand's tile: each walk of a coordinate with its
/// extent and step, slowest first.
pub(crate) struct CoordinateWalks {
    all: heapless::Vec<(u64, u64), WALKS>,
    /// How many of them are the first coordinate's.
    first: usize,
}

impl CoordinateWalks {
    /// The walks of a tile over (outer, depth) of elements with so many bits, with the values of
    /// the word's fields.
    pub(crate) fn of(
        form: &OperandTile<'_>,
        extents: [u64; 2],
        bits: u16,
        word: &FieldWord<'_>,
    ) -> Option<Self> {
        let mut params = [None; PARAMS];
        let mut give = |param: u8, value: u64| -> Option<()> {
            *params.get_mut(usize::from(param.checked_sub(1)?))? = Some(value);
            Some(())
        };
        let (unit, bits) = (u64::from(form.unit.1), u64::from(bits));
        if unit.checked_rem(bits)? != 0 {
            return None;
        }
        give(form.unit.0, unit.checked_div(bits)?)?;
        for field in form.fields.iter().filter(|f| f.param != 0) {
            let all = word.get(field.field)?.checked_mul(8)?;
            if all.checked_rem(bits)? != 0 {
                return None;
            }
            give(field.param, all.checked_div(bits)?)?;
        }
        let [first, second] = *form.layout.dims else { return None };
        let (outer, depth) = form.layout.iters.split_at_checked(usize::from(first))?;
        let mut out = Self { all: heapless::Vec::new(), first: outer.len() };
        if depth.len() != usize::from(second) || !form.layout.replicas.is_empty() {
            return None;
        }
        for (iters, extent) in [outer, depth].into_iter().zip(extents) {
            out.extents(iters, extent, &mut params)?;
        }
        for ((extent, step), it) in out.all.iter_mut().zip(form.layout.iters) {
            // A step that is not taken may be unknown.
            *step = if *extent == 1 { 0 } else { amount(&params, it.stride)? };
        }
        Some(out)
    }

    /// Extents of one coordinate's walks: one may count what the others leave; without such a one
    /// the fastest may be cut, down to what one instruction reads.
    fn extents(
        &mut self,
        iters: &[TileIter],
        extent: u64,
        params: &mut [Option<u64>; PARAMS],
    ) -> Option<()> {
        let (mut known, mut open) = (1u64, None);
        for it in iters {
            match amount(params, it.extent) {
                Some(n) => known = known.checked_mul(n)?,
                None if open.is_none() => open = Some(it.extent),
                None => return None,
            }
        }
        if let Some(open) = open {
            let each = known.checked_mul(u64::from(open.factor))?;
            if extent.checked_rem(each)? != 0 {
                return None;
            }
            *params.get_mut(usize::from(open.param.checked_sub(1)?))? = extent.checked_div(each);
            known = extent;
        }
        for (at, it) in (1usize..).zip(iters) {
            let mut own = amount(params, it.extent)?;
            if at == iters.len() && known != extent {
                let others = known.checked_div(own)?;
                let part = extent.checked_div(others)?;
                if part.checked_mul(others)? != extent || own.checked_rem(part)? != 0 {
                    return None;
                }
                own = part;
            }
            self.all.push((own, 0)).ok()?;
        }
        Some(())
    }

    /// Elements from the tile's start to the one at (outer, depth), before the permutation.
    pub(crate) fn at(&self, outer: u64, depth: u64) -> Option<u64> {
        let (rows, cols) = self.all.split_at_checked(self.first)?;
        let mut sum = 0u64;
        for (walks, coordinate) in [(rows, outer), (cols, depth)] {
            let mut rest = coordinate;
            for (extent, step) in walks.iter().rev() {
                sum = sum.checked_add(rest.checked_rem(*extent)?.checked_mul(*step)?)?;
                rest = rest.checked_div(*extent)?;
            }
            if rest != 0 {
                return None;
            }
        }
        Some(sum)
    }
}

/// The value of an amount, if its parameter has one.
fn amount(params: &[Option<u64>; PARAMS], of: Amount) -> Option<u64> {
    let factor = u64::from(of.factor);
    match of.param.checked_sub(1) {
        None => Some(factor),
        Some(param) => params.get(usize::from(param)).copied().flatten()?.checked_mul(factor),
    }
}
