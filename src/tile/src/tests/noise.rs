//! Numbers that look like chance and are the same each time.

use std::vec::Vec;

/// Numbers of no pattern.
pub(crate) struct Noise(pub(crate) u32);

impl Noise {
    /// Less than a limit.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(0x9e37_79b9).wrapping_add(0x7f4a_7c15);
        let x = self.0 ^ (self.0 >> 15);
        (x.wrapping_mul(0x85eb_ca6b) >> 8) as usize % limit
    }

    /// The bits of a number, in any order.
    pub(crate) fn shuffled(&mut self, total: u8) -> Vec<u32> {
        let mut out: Vec<u32> = (0..total).map(|k| 1 << k).collect();
        for k in (1..out.len()).rev() {
            out.swap(k, self.below(k + 1));
        }
        out
    }
}
