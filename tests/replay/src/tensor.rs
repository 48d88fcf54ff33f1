//! Tensor maps: what a driver is told about a tensor and the boxes that are copied from it.
//!
//! The vendor's encoding of the 128 bytes is not public: those of [`TensorMap::bytes`] are this
//! crate's own, and the interpreter reads them back. Rules are those of the driver's and the PTX
//! documents; the permutation of bytes in shared memory acts on absolute addresses.

use crate::fault::{Clash, FaultKind};

/// Bytes of a map as a kernel parameter.
pub(crate) const MAP_BYTES: usize = 128;
/// Its alignment.
pub(crate) const MAP_ALIGN: usize = 64;
const MAGIC: u64 = 0x3150_414d_524f_534e;

/// A tensor and its box; dimensions count from the innermost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TensorMap {
    /// Device address of the first element.
    pub address: u64,
    /// Bytes of an element.
    pub element_bytes: u8,
    /// Dimensions.
    pub rank: u8,
    /// Elements of the tensor.
    pub extents: [u32; 5],
    /// Bytes from one element to the next; the innermost's is the element.
    pub strides: [u64; 5],
    /// Elements of the box.
    pub boxed: [u16; 5],
    /// The driver's number of the swizzle mode.
    pub swizzle: u8,
    /// Boxes are meant to reach beyond the tensor: what they do not touch there is no access that
    /// was kept from it.
    pub bounded: bool,
}

/// Bytes of a row under a swizzle mode; 0: any.
fn span(swizzle: u8) -> Option<u32> {
    [0, 32, 64, 128, 128, 128, 128].get(usize::from(swizzle)).copied()
}

/// Where the byte for a shared address goes under a swizzle mode, by the driver's number (PTX
/// document, "Tensor swizzling modes").
#[must_use]
pub fn swizzled(swizzle: u8, address: u64) -> u64 {
    let moved = |from: u32, bits: u32, to: u32| (address >> from & ((1 << bits) - 1)) << to;
    address
        ^ match swizzle {
            1 => moved(7, 1, 4),
            2 => moved(7, 2, 4),
            3 => moved(7, 3, 4),
            4 => moved(7, 2, 5),
            5 => moved(7, 2, 5) ^ moved(7, 1, 3),
            6 => moved(7, 1, 6),
            _ => 0,
        }
}

impl TensorMap {
    /// The map as a parameter.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(MAP_BYTES);
        out.extend(MAGIC.to_le_bytes());
        out.extend(self.address.to_le_bytes());
        out.extend([self.element_bytes, self.rank, self.swizzle]);
        out.extend(self.extents.iter().flat_map(|v| v.to_le_bytes()));
        out.extend(self.strides.iter().flat_map(|v| v.to_le_bytes()));
        out.extend(self.boxed.iter().flat_map(|v| v.to_le_bytes()));
        out.push(u8::from(self.bounded));
        out.resize(MAP_BYTES, 0);
        out
    }

    /// Reads a parameter back.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, String> {
        let number = |at: usize, len: usize| {
            bytes[at..at + len].iter().rev().fold(0u64, |sum, b| sum << 8 | u64::from(*b))
        };
        if bytes.len() != MAP_BYTES || number(0, 8) != MAGIC {
            return Err("this parameter is no tensor map".to_string());
        }
        Ok(Self {
            address: number(8, 8),
            element_bytes: bytes[16],
            rank: bytes[17],
            swizzle: bytes[18],
            extents: std::array::from_fn(|k| number(19 + 4 * k, 4) as u32),
            strides: std::array::from_fn(|k| number(39 + 8 * k, 8)),
            boxed: std::array::from_fn(|k| number(79 + 2 * k, 2) as u16),
            bounded: bytes[89] != 0,
        })
    }

    /// Bytes of a box.
    #[must_use]
    pub fn box_bytes(&self) -> u32 {
        self.dims().map(|k| u32::from(self.boxed[k])).product::<u32>()
            * u32::from(self.element_bytes)
    }

    fn dims(&self) -> std::ops::Range<usize> {
        0..usize::from(self.rank)
    }

    /// What the driver refuses, and what is not known.
    pub(crate) fn check(&self) -> Result<(), String> {
        let bad = |what: String| Err(what);
        if !(1..=5).contains(&self.rank) || ![1, 2, 4, 8].contains(&self.element_bytes) {
            return bad(format!("{} dimensions of {} bytes", self.rank, self.element_bytes));
        }
        for k in self.dims() {
            if self.extents[k] == 0 || !(1..=256).contains(&self.boxed[k]) {
                return bad(format!(
                    "extent {} and box {} of dimension {k}",
                    self.extents[k], self.boxed[k]
                ));
            }
            if k > 0 && (!self.strides[k].is_multiple_of(16) || self.strides[k] >= 1 << 40) {
                return bad(format!("stride {} of dimension {k}", self.strides[k]));
            }
        }
        if !self.address.is_multiple_of(16) {
            return bad(format!("the tensor begins at {:#x}", self.address));
        }
        let row = self.row_bytes();
        let span = span(self.swizzle).ok_or_else(|| format!("swizzle mode {}", self.swizzle))?;
        if !row.is_multiple_of(16) || (span != 0 && row > span) {
            return bad(format!("rows of {row} bytes in swizzle mode {}", self.swizzle));
        }
        if span != 0 && row != span {
            return bad(format!(
                "how rows of {row} bytes lie in swizzle mode {} is not known",
                self.swizzle
            ));
        }
        Ok(())
    }

    fn row_bytes(&self) -> u32 {
        u32::from(self.boxed[0]) * u32::from(self.element_bytes)
    }

    /// The rows of the box at `at`: for each what the tensor has of it (address and bytes, and
    /// where in the row), in the order in which they lie in shared memory. What lies outside the
    /// tensor reads as zero.
    pub(crate) fn rows(&self, at: &[i32]) -> Vec<Option<(u64, usize, usize)>> {
        let element = i64::from(self.element_bytes);
        let mut out = Vec::new();
        let count: u32 = self.dims().skip(1).map(|k| u32::from(self.boxed[k])).product();
        for number in 0..count {
            let (mut rest, mut address, mut inside) = (number, self.address as i64, true);
            for k in self.dims().skip(1) {
                let place = i64::from(at[k]) + i64::from(rest % u32::from(self.boxed[k]));
                rest /= u32::from(self.boxed[k]);
                inside &= (0..i64::from(self.extents[k])).contains(&place);
                address += place * self.strides[k] as i64;
            }
            let first = i64::from(at[0]).clamp(0, i64::from(self.extents[0]));
            let last =
                (i64::from(at[0]) + i64::from(self.boxed[0])).clamp(0, i64::from(self.extents[0]));
            let row = (address + first * element) as u64;
            let (skip, len) = ((first - i64::from(at[0])) * element, (last - first) * element);
            out.push((inside && len > 0).then_some((row, skip as usize, len as usize)));
        }
        out
    }

    /// Pieces of 16 bytes (of the row, and absolute address) that a row of the box fills.
    pub(crate) fn pieces(
        &self,
        tile: u64,
        row: usize,
    ) -> impl Iterator<Item = (usize, u64)> + use<> {
        let (bytes, swizzle) = (self.row_bytes() as usize, self.swizzle);
        // The finest mode exchanges halves of 16 bytes.
        (0..bytes)
            .step_by(8)
            .map(move |at| (at, swizzled(swizzle, tile + (row * bytes + at) as u64)))
    }
}

/// The map of a parameter at an address in the window of parameters.
pub(crate) fn map_at(params: &[u8], window: u64, address: u64) -> Result<TensorMap, Clash> {
    let wrong = |sentence: String| Clash::new(FaultKind::InvalidOperand, sentence).at(address);
    let at = address
        .checked_sub(window)
        .and_then(|at| usize::try_from(at).ok())
        .filter(|at| at + MAP_BYTES <= params.len());
    let at = at.ok_or_else(|| wrong("the tensor map is no parameter of the kernel".to_string()))?;
    if !at.is_multiple_of(MAP_ALIGN) {
        return Err(Clash::new(
            FaultKind::Misaligned,
            format!("a tensor map starts at a multiple of {MAP_ALIGN}"),
        )
        .at(address));
    }
    let map = TensorMap::read(&params[at..at + MAP_BYTES]).map_err(wrong)?;
    map.check().map_err(|what| wrong(format!("no tensor map: {what}")))?;
    Ok(map)
}
