//! What the perfect hashes of tables share: mixing of words, and the slot that phf's displacements
//! lead to.
mod name_map;

pub use name_map::{NameMap, name_hash};

/// A bucket and the two parts that its displacement combines, as phf's generator takes them.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Hashes {
    /// Says which bucket.
    pub bucket: u32,
    /// Is multiplied by the bucket's first displacement.
    pub first: u32,
    /// Is added.
    pub second: u32,
}

impl Hashes {
    /// The slot that a key with these hashes can only be in, of as many as `slots` divides by;
    /// `None` of an empty or damaged map. `buckets` divides by the number of displacements.
    #[must_use]
    #[inline]
    pub fn slot(
        self,
        displacements: &[(u16, u16)],
        buckets: Divisor,
        slots: Divisor,
    ) -> Option<usize> {
        let &(by, plus) = displacements.get(buckets.remainder(self.bucket) as usize)?;
        let place = phf_shared::displace(self.first, self.second, by.into(), plus.into());
        Some(slots.remainder(place) as usize)
    }
}

/// A number to divide by, with what makes remainders two multiplications: the inverse of the number
/// in 64 fractional bits, rounded up (Lemire, Kaser, Kurz, "Faster remainder by direct
/// computation", 2019). Exact for all numbers of 32 bits.
#[doc(hidden)]
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Divisor {
    /// The number.
    pub number: u32,
    /// `2^64 / number`, rounded up; 0 of 0 and of 1, whose remainders are 0.
    pub inverse: u64,
}

impl Divisor {
    /// By a number.
    #[must_use]
    pub const fn by(number: u32) -> Self {
        let inverse = match u64::MAX.checked_div(number as u64) {
            Some(below) => below.wrapping_add(1),
            None => 0,
        };
        Self { number, inverse }
    }

    /// What is left of a number.
    #[must_use]
    #[inline]
    pub const fn remainder(self, of: u32) -> u32 {
        let fraction = self.inverse.wrapping_mul(of as u64);
        // The high half of the product with the number, without numbers of 128 bits.
        let number = self.number as u64;
        let low = (fraction & 0xffff_ffff).wrapping_mul(number).wrapping_shr(32);
        let high = fraction.wrapping_shr(32).wrapping_mul(number);
        high.wrapping_add(low).wrapping_shr(32) as u32
    }
}

/// Spreads a word over all bits: a multiplication by an odd constant, and the high half folded
/// down.
#[must_use]
#[inline]
pub(crate) const fn mix(word: u64) -> u64 {
    let product = word.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    product ^ product.wrapping_shr(32)
}

/// The hashes of a word that was mixed.
#[must_use]
#[inline]
pub(crate) const fn finish(word: u64) -> Hashes {
    let product = word.wrapping_mul(0xd6e8_feb8_6659_fd93);
    let last = product ^ product.wrapping_shr(29);
    Hashes {
        bucket: product.wrapping_shr(40) as u32,
        first: last.wrapping_shr(32) as u32,
        second: last as u32,
    }
}

#[cfg(test)]
mod tests {
    use super::Divisor;

    /// The processor's own division says the same.
    #[test]
    fn remainders_are_those_of_division() {
        let mut noise = 1u32;
        for number in (1..=3000).chain([0x7fff_ffff, 0x8000_0000, 0x8000_0001, u32::MAX]) {
            let divisor = Divisor::by(number);
            let edges = [0, 1, number - 1, number, number.wrapping_add(1), u32::MAX - 1, u32::MAX];
            for of in edges {
                assert_eq!(divisor.remainder(of), of % number, "{of} % {number}");
            }
            for _ in 0..100 {
                noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                assert_eq!(divisor.remainder(noise), noise % number, "{noise} % {number}");
            }
        }
        // Nothing is left by 0: the first of no slots, which is not there.
        assert_eq!(Divisor::by(0).remainder(7), 0);
    }
}
