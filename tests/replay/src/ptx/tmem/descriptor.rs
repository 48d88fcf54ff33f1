//! Descriptors of matrices in shared memory and of products, taken apart.

use super::super::op::Ty;
use super::Kind;

/// A matrix descriptor of shared memory, taken apart.
pub(super) struct Descriptor {
    pub start: u64,
    pub leading: u64,
    pub stride: u64,
    /// Bytes of a row of the pattern; 16 without one.
    pub span: u64,
}

impl Descriptor {
    pub fn read(bits: u64) -> Result<Self, String> {
        let field = |at: u32| (bits >> at & 0x3fff) * 16;
        let span = match bits >> 61 {
            0 => 16,
            2 => 128,
            4 => 64,
            6 => 32,
            mode => return Err(format!("swizzle mode {mode} is not modelled")),
        };
        let known = 0x3fff | 0x3fff << 16 | 0x3fff << 32 | 7 << 46 | 7 << 61;
        if bits & !known != 0 || bits >> 46 & 7 != 1 {
            return Err(format!(
                "the descriptor {bits:#x} lacks its constant, or has a base offset or bits that have no meaning"
            ));
        }
        Ok(Self { start: field(0), leading: field(16), stride: field(32), span })
    }

    pub fn address(&self, outer_major: bool, along: u64, across: u64) -> u64 {
        let (piece, inside) = (along / self.span, along % self.span);
        let (eight, row) = (across / 8, across % 8);
        let plain = match (outer_major, self.span) {
            (false, 16) => eight * self.stride + piece * self.leading,
            (true, 16) => piece * self.stride + eight * self.leading,
            // One row of the pattern holds what is read of the depth.
            (false, _) => eight * self.stride,
            (true, _) => piece * self.leading + eight * self.stride,
        };
        let at = self.start + plain + row * self.span + inside;
        at ^ (at >> 3 & (self.span - 16))
    }
}

/// An instruction descriptor, taken apart.
pub(super) struct Word {
    pub a: Ty,
    pub b: Ty,
    pub outer: [bool; 2],
    pub m: u32,
    pub n: u32,
    /// Which byte of a cell holds the scales of A, and of B.
    pub ids: [u32; 2],
}

impl Word {
    pub fn read(bits: u32, kind: Kind) -> Result<Self, String> {
        let field = |at: u32, width: u32| bits >> at & ((1 << width) - 1);
        let ty = |code: u32| match (kind != Kind::Halves, code) {
            (false, 0) => Ok(Ty::F16),
            (false, 1) => Ok(Ty::Bf16),
            (true, 0) => Ok(Ty::E4m3),
            (true, 1) => Ok(Ty::E5m2),
            _ => {
                Err(format!("type {code} of the instruction descriptor {bits:#x} is not modelled"))
            }
        };
        if let Kind::Narrow { runs, is_float } = kind {
            let known = 3 << 4 | 7 << 7 | 3 << 10 | 0x3f << 17 | 1 << 23 | 3 << 27 | 3 << 29;
            let (m, n, ids) = (field(27, 2) * 128, field(17, 6) * 8, [field(29, 2), field(4, 2)]);
            if bits & !known != 0
                || (field(7, 3), field(10, 2)) != (1, 1)
                || (field(23, 1) == 0) != is_float
                || m != 128
                || !(8..=256).contains(&n)
                || ids.iter().any(|id| !id.is_multiple_of(runs))
            {
                return Err(format!("the instruction descriptor {bits:#x} is not modelled"));
            }
            return Ok(Self { a: Ty::E2m1, b: Ty::E2m1, outer: [false; 2], m, n, ids });
        }
        if kind == Kind::Scaled {
            let known =
                3 << 4 | 7 << 7 | 7 << 10 | 3 << 15 | 0x3f << 17 | 1 << 23 | 3 << 27 | 3 << 29;
            if bits & !known != 0 || field(23, 1) != 1 {
                return Err(format!(
                    "the instruction descriptor {bits:#x} has bits that are not modelled, or scales that are not ue8m0"
                ));
            }
            let (m, n) = (field(27, 2) * 128, field(17, 6) * 8);
            if m != 128 || !(8..=256).contains(&n) {
                return Err(format!("there is no product of {m} rows and {n} columns with scales"));
            }
            return Ok(Self {
                a: ty(field(7, 3))?,
                b: ty(field(10, 3))?,
                outer: [field(15, 1) == 1, field(16, 1) == 1],
                m,
                n,
                ids: [field(29, 2), field(4, 2)],
            });
        }
        let known = 3 << 4 | 7 << 7 | 7 << 10 | 3 << 15 | 0x3f << 17 | 0x1f << 24;
        if bits & !known != 0 || field(4, 2) != 1 {
            return Err(format!(
                "the instruction descriptor {bits:#x} has bits that are not modelled, or sums that are not f32"
            ));
        }
        let (m, n) = (field(24, 5) * 16, field(17, 6) * 8);
        let fits = match m {
            64 => n.is_multiple_of(8) && n >= 8,
            128 => n.is_multiple_of(16) && n >= 16,
            _ => false,
        };
        if !fits || n > 256 {
            return Err(format!("there is no product of {m} rows and {n} columns"));
        }
        Ok(Self {
            a: ty(field(7, 3))?,
            b: ty(field(10, 3))?,
            outer: [field(15, 1) == 1, field(16, 1) == 1],
            m,
            n,
            ids: [0; 2],
        })
    }
}
