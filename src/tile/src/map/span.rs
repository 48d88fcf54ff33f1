//! Subspaces over the field of two elements, by elimination: what is in them, and as the sum of
//! what.

use crate::map::MAX_BITS;

/// A subspace of numbers of elements with a basis whose vectors have bits of a mask as names.
#[derive(Copy, Clone, Debug)]
pub struct Subspace {
    /// For each top bit the vector that has it, cleared of the others' top bits, with the names of
    /// the given ones that add up to it.
    rows: [(u32, u32); MAX_BITS],
    /// The top bits of all vectors.
    tops: u32,
}

impl Default for Subspace {
    fn default() -> Self {
        Self::new()
    }
}

impl Subspace {
    /// Zero alone.
    #[must_use]
    pub fn new() -> Self {
        Self { rows: [(0, 0); MAX_BITS], tops: 0 }
    }

    /// What of a vector lies outside, and the names that add up to the rest.
    #[must_use]
    pub fn reduce(&self, vector: u32) -> (u32, u32) {
        let (mut rest, mut names) = (vector, 0);
        // No vector has another's top bit.
        let mut left = vector & self.tops;
        while let Some((row, name)) = self.rows.get(left.trailing_zeros() as usize) {
            rest ^= row;
            names ^= name;
            left &= left.wrapping_sub(1);
        }
        (rest, names)
    }

    /// Adds a vector under a name; `false` if it was inside, or is no element's number.
    #[must_use]
    pub fn insert(&mut self, vector: u32, name: u32) -> bool {
        let (rest, names) = self.reduce(vector);
        let Some(top) = rest.checked_ilog2() else { return false };
        let (highest, name) = (1u32.wrapping_shl(top), name ^ names);
        let Some(slot) = self.rows.get_mut(top as usize) else { return false };
        *slot = (rest, name);
        let mut others = self.tops;
        while let Some((row, other)) = self.rows.get_mut(others.trailing_zeros() as usize) {
            if *row & highest != 0 {
                *row ^= rest;
                *other ^= name;
            }
            others &= others.wrapping_sub(1);
        }
        self.tops |= highest;
        true
    }

    /// The names that add up to a vector; `None` if it lies outside.
    #[must_use]
    pub fn names(&self, vector: u32) -> Option<u32> {
        let (rest, names) = self.reduce(vector);
        (rest == 0).then_some(names)
    }

    /// Whether a vector is inside.
    #[must_use]
    pub fn contains(&self, vector: u32) -> bool {
        self.reduce(vector).0 == 0
    }

    /// Dimensions.
    #[must_use]
    pub fn rank(&self) -> u8 {
        u8::try_from(self.tops.count_ones()).unwrap_or(u8::MAX)
    }
}
