//! Numbers that look like chance and are the same each time.

/// Numbers of no pattern, of a seed.
#[derive(Debug)]
pub struct Noise(pub u32);

impl Noise {
    /// Less than a limit.
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(0x9e37_79b9).wrapping_add(0x7f4a_7c15);
        let x = self.0 ^ (self.0 >> 15);
        (x.wrapping_mul(0x85eb_ca6b) >> 8) as usize % limit
    }

    /// Puts things into another order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for k in (1..items.len()).rev() {
            items.swap(k, self.below(k + 1));
        }
    }
}
