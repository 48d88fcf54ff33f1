//! What has been read of one of Triton's attributes, and the encoding that it says.
//!
//! [`super::ttg`] fills [`EncodingValues`] as it meets keys; nothing here looks at text.

use super::ttg_table::{KEYS, Key, LISTS};
use crate::axis::AxisId;
use crate::linear::{Dims, Hw, Linear, Logical, MAX_BITS};
use crate::triton::{
    AmdMfma, AmdWmma, Base, BlockRepOrder, Blocked, Cga, CtaMode, EncodingError, EncodingField,
    Extents, Few, MAX_RANK, NvidiaMma, NvmmaShared, Order, Padded, Swizzled, TensorMemory,
};

use Key as K;

/// The instruction of an `amd_wmma` whose text does not say it.
pub(super) const WMMA_SHAPE: [u32; 3] = [16, 16, 16];

/// A basis with the key that it belongs to.
#[derive(Clone, Copy, Default)]
pub(super) struct Listed {
    /// As a word: without padding a list of these is cleared where it lies.
    pub(super) key: u32,
    pub(super) at: [u32; MAX_RANK],
}

/// What has been read. Lists and bases are the core's alone.
pub(super) struct EncodingValues {
    pub(super) seen: u64,
    pub(super) numbers: [u32; KEYS.len()],
    pub(super) lists: [Extents; LISTS],
    pub(super) bases: [Listed; MAX_BITS + 8],
    pub(super) used: usize,
    /// Length of the bases of a key, 0 if there is none.
    pub(super) rank: u8,
    pub(super) pads: Few<(u32, u32), { crate::triton::MAX_INTERVALS }>,
}

impl EncodingValues {
    /// Nothing yet.
    pub(super) fn new() -> Self {
        Self {
            seen: 0,
            numbers: [0; KEYS.len()],
            lists: [Extents::new(); LISTS],
            bases: [Listed::default(); MAX_BITS + 8],
            used: 0,
            rank: 0,
            pads: Few::new(),
        }
    }

    fn has(&self, key: Key) -> bool {
        self.seen & 1u64.wrapping_shl(key as u32) != 0
    }

    fn number(&self, key: Key, otherwise: u32) -> u32 {
        if !self.has(key) {
            return otherwise;
        }
        self.numbers.get(key as usize).copied().unwrap_or(otherwise)
    }

    fn flag(&self, key: Key) -> bool {
        self.number(key, 0) != 0
    }

    fn list(&self, key: Key) -> Extents {
        self.lists.get(key as usize).copied().unwrap_or_default()
    }

    fn order(&self, key: Key) -> Result<Order, EncodingError> {
        let mut out = Order::new();
        for d in self.list(key).iter() {
            out.push(u8::try_from(d).unwrap_or(u8::MAX))?;
        }
        Ok(out)
    }

    fn all(&self) -> &[Listed] {
        self.bases.get(..self.used).unwrap_or(&[])
    }

    fn of(&self, key: Key) -> impl Iterator<Item = [u32; MAX_RANK]> + '_ {
        self.all().iter().filter(move |b| b.key == key as u32).map(|b| b.at)
    }

    fn short<const N: usize>(&self, key: Key) -> Result<Few<[u16; MAX_RANK], N>, EncodingError> {
        let mut out = Few::new();
        for basis in self.of(key) {
            let mut at = [0u16; MAX_RANK];
            for (slot, v) in at.iter_mut().zip(basis) {
                *slot = u16::try_from(v)
                    .map_err(|_| EncodingError::Layout(crate::error::Error::Overflow))?;
            }
            out.push(at)?;
        }
        Ok(out)
    }

    fn cga(&self) -> Result<Cga, EncodingError> {
        Ok(Cga { bases: self.short(K::CgaLayout)? })
    }

    /// The linear layout of the bases; the extents are the powers of two that they reach.
    fn linear(
        &self,
        inputs: &[(Key, AxisId)],
        out: &mut Linear<Hw, Logical>,
    ) -> Result<(), EncodingError> {
        let mut reach = [0u32; MAX_RANK];
        for basis in inputs.iter().flat_map(|(key, _)| self.of(*key)) {
            for (slot, v) in reach.iter_mut().zip(basis) {
                *slot |= v;
            }
        }
        let (mut ins, mut outs) = (Dims::new(), Dims::new());
        for (d, v) in (0u8..self.rank.max(1)).zip(reach) {
            let bits = u32::BITS.saturating_sub(v.leading_zeros());
            outs.push(AxisId::dim(d), u8::try_from(bits).unwrap_or(32))?;
        }
        for (key, axis) in inputs {
            ins.push(*axis, u8::try_from(self.of(*key).count()).unwrap_or(u8::MAX))?;
        }
        *out = Linear::zero(ins, outs);
        for (key, axis) in inputs {
            for (bit, basis) in (0u8..).zip(self.of(*key)) {
                let mut column = 0u64;
                for ((axis, _), v) in out.outs().iter().zip(basis) {
                    column |= out.outs().insert(u64::from(v), axis)?;
                }
                out.set_column(*axis, bit, column)?;
            }
        }
        Ok(())
    }

    fn tensor_memory(&self) -> Result<TensorMemory, EncodingError> {
        Ok(TensorMemory {
            block_m: self.number(K::BlockM, 0),
            block_n: self.number(K::BlockN, 0),
            col_stride: self.number(K::ColStride, 1),
            cga: self.cga()?,
            two_ctas: self.flag(K::TwoCtas),
            cta_mode: match self.number(K::CtaMode, 0) {
                0 => CtaMode::Default,
                1 => CtaMode::TwoLhs,
                _ => CtaMode::TwoRhs,
            },
            fp4_padded: self.flag(K::Fp4Padded),
        })
    }

    /// The core that the parameters say.
    #[inline(never)]
    pub(super) fn base(&self, kind: usize, out: &mut Base) -> Result<(), EncodingError> {
        let v = self;
        let small =
            |key: Key, otherwise: u32| u8::try_from(v.number(key, otherwise)).unwrap_or(u8::MAX);
        let medium =
            |key: Key, otherwise: u32| u16::try_from(v.number(key, otherwise)).unwrap_or(u16::MAX);
        let rank = if v.rank == 0 { 2 } else { u32::from(v.rank) };
        // Said twice, by a number and by the length of the bases, it must be the same.
        let said = small(K::Rank, rank);
        if v.rank != 0 && said != v.rank {
            return Err(EncodingError::Rank {
                field: EncodingField::Bases,
                expected: said,
                found: v.rank,
            });
        }
        let swizzled = || -> Result<Swizzled, EncodingError> {
            Ok(Swizzled {
                vec: v.number(K::Vec, 1),
                per_phase: v.number(K::PerPhase, 1),
                max_phase: v.number(K::MaxPhase, 1),
                order: v.order(K::Order)?,
                cga: v.cga()?,
            })
        };
        *out = match kind {
            0 => Base::Blocked(Blocked {
                size_per_thread: v.list(K::SizePerThread),
                threads_per_warp: v.list(K::ThreadsPerWarp),
                warps_per_cta: v.list(K::WarpsPerCta),
                order: v.order(K::Order)?,
                cga: v.cga()?,
            }),
            1 => Base::NvidiaMma(NvidiaMma {
                major: small(K::VersionMajor, 0),
                minor: small(K::VersionMinor, 0),
                warps_per_cta: v.list(K::WarpsPerCta),
                instr_shape: v.list(K::InstrShape),
                cga: v.cga()?,
            }),
            2 => Base::AmdMfma(AmdMfma {
                version: small(K::Version, 0),
                warps_per_cta: v.list(K::WarpsPerCta),
                instr_shape: v.list(K::InstrShape),
                is_transposed: v.flag(K::IsTransposed),
                cga: v.cga()?,
                tiles_per_warp: v.list(K::TilesPerWarp),
                element_bits: medium(K::ElementBitWidth, 32),
            }),
            3 => Base::AmdWmma(AmdWmma {
                version: small(K::Version, 0),
                is_transposed: v.flag(K::IsTranspose) || v.flag(K::IsTransposed),
                warp_bases: v.short(K::Warp)?,
                reg_bases: v.short(K::Register)?,
                instr_shape: if v.has(K::InstrShape) {
                    v.list(K::InstrShape)
                } else {
                    Extents::from_slice(&WMMA_SHAPE)?
                },
                cga: v.cga()?,
                rank: small(K::Rank, rank),
            }),
            4 => Base::Linear(Linear::empty()),
            5 => Base::GenericLinear(Linear::empty()),
            6 | 18 => Base::Swizzled(swizzled()?),
            7 => Base::Rotating(swizzled()?),
            8 => Base::SharedLinear(Linear::empty(), v.number(K::Alignment, 16)),
            9 => Base::Padded(Padded { pads: v.pads, linear: Linear::empty() }),
            10 => Base::Nvmma(NvmmaShared {
                swizzle_bytes: medium(K::SwizzlingByteWidth, 0),
                transposed: v.flag(K::Transposed),
                element_bits: medium(K::ElementBitWidth, 16),
                fp4_padded: v.flag(K::Fp4Padded),
                cga: v.cga()?,
                rank: small(K::Rank, rank),
            }),
            11 => Base::TensorMemory(v.tensor_memory()?),
            12 => {
                let order = if v.number(K::BlockRepOrder, 0) == 0 {
                    BlockRepOrder::MnThenK
                } else {
                    BlockRepOrder::KThenMn
                };
                Base::TensorMemoryScales(v.cga()?, order)
            }
            13 => Base::Auto,
            14 => Base::Coalesced,
            _ => return Err(EncodingError::WrongKind),
        };
        let expected = cluster_rank(out).unwrap_or(v.rank);
        if v.rank != 0 && v.rank != expected {
            return Err(EncodingError::Rank { field: EncodingField::Cga, expected, found: v.rank });
        }
        v.fill_maps(out)
    }

    /// Fills the maps of a core where they lie: they are large.
    fn fill_maps(&self, out: &mut Base) -> Result<(), EncodingError> {
        const REGISTERS: [(Key, AxisId); 4] = [
            (K::Register, AxisId::REGISTER),
            (K::Lane, AxisId::LANE),
            (K::Warp, AxisId::WARP),
            (K::Block, AxisId::BLOCK),
        ];
        const OFFSETS: [(Key, AxisId); 2] = [(K::Offset, AxisId::M), (K::Block, AxisId::BLOCK)];
        let v = self;
        match out {
            Base::Linear(map) | Base::GenericLinear(map) => v.linear(&REGISTERS, map),
            Base::SharedLinear(map, _) => v.linear(&OFFSETS, map),
            // Its blocks are part of its bases.
            Base::Padded(_) if v.of(K::CgaLayout).next().is_some() => Err(EncodingError::WrongKind),
            Base::Padded(padded) if v.has(K::Offset) => v.linear(&OFFSETS, &mut padded.linear),
            Base::Padded(padded) => {
                ordered(&v.list(K::Shape), &v.order(K::Order)?, &mut padded.linear)
            }
            _ => Ok(()),
        }
    }
}

/// Dimensions of an encoding whose only bases are those of its cluster, as the rest of it says.
fn cluster_rank(base: &Base) -> Option<u8> {
    let rank = match base {
        Base::Blocked(b) => b.order.len(),
        Base::NvidiaMma(m) => m.warps_per_cta.len(),
        Base::AmdMfma(m) => m.warps_per_cta.len(),
        Base::Swizzled(s) | Base::Rotating(s) => s.order.len(),
        Base::TensorMemory(_) | Base::TensorMemoryScales(..) => 2,
        _ => return None,
    };
    u8::try_from(rank).ok()
}

/// Offsets in the order of the dimensions, fastest first.
#[inline(never)]
fn ordered(
    shape: &Extents,
    order: &Order,
    out: &mut Linear<Hw, Logical>,
) -> Result<(), EncodingError> {
    let mut outs = Dims::new();
    for (d, extent) in (0u8..).zip(shape.iter()) {
        let fault = EncodingError::NotPowerOfTwo {
            field: crate::triton::EncodingField::Shape,
            at: d,
            value: extent,
        };
        let bits = u8::try_from(extent.trailing_zeros()).unwrap_or(0);
        let bits = if extent.is_power_of_two() { bits } else { return Err(fault) };
        outs.push(AxisId::dim(d), bits)?;
    }
    if order.len() != shape.len() {
        return Err(EncodingError::Rank {
            field: crate::triton::EncodingField::Order,
            expected: u8::try_from(shape.len()).unwrap_or(u8::MAX),
            found: u8::try_from(order.len()).unwrap_or(u8::MAX),
        });
    }
    let mut ins = Dims::new();
    ins.push(AxisId::M, outs.bits())?;
    ins.push(AxisId::BLOCK, 0)?;
    *out = Linear::zero(ins, outs);
    let mut at = 0u8;
    for dim in order.iter().map(AxisId::dim) {
        for bit in 0..out.outs().bits_of(dim) {
            let column = out.outs().insert(1u64.wrapping_shl(u32::from(bit)), dim)?;
            // An order that names a dimension twice says more than there is; what is too much is
            // left out.
            if at < out.ins().bits_of(AxisId::M) {
                out.set_column(AxisId::M, at, column)?;
            }
            at = at.saturating_add(1);
        }
    }
    Ok(())
}
