//! Subspaces over the field of two elements, by elimination: what is in them, and as the sum of
//! what.

/// Most vectors of a basis.
const MOST: usize = 20;

/// A subspace with a basis whose vectors have bits of a mask as names.
#[derive(Copy, Clone, Debug)]
pub struct Subspace {
    /// Vectors whose top bits differ, each cleared of the others' top bits, with the names of the
    /// given ones that add up to it.
    rows: [(u32, u32); MOST],
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
        Self { rows: [(0, 0); MOST], tops: 0 }
    }

    /// What of a vector lies outside, and the names that add up to the rest.
    #[must_use]
    pub fn reduce(&self, vector: u32) -> (u32, u32) {
        let (mut rest, mut names) = (vector, 0);
        // No vector has another's top bit.
        let mut left = (vector & self.tops).count_ones();
        for &(row, name) in self.rows() {
            if left == 0 {
                break;
            }
            if vector & top(row) != 0 {
                rest ^= row;
                names ^= name;
                left = left.wrapping_sub(1);
            }
        }
        (rest, names)
    }

    /// Adds a vector under a name; `false` if it was inside, or there is no room.
    #[must_use]
    pub fn insert(&mut self, vector: u32, name: u32) -> bool {
        let (rest, names) = self.reduce(vector);
        let (len, highest) = (usize::from(self.rank()), top(rest));
        if rest == 0 || len >= MOST {
            return false;
        }
        let name = name ^ names;
        for (row, other) in self.rows.iter_mut().take(len) {
            if *row & highest != 0 {
                *row ^= rest;
                *other ^= name;
            }
        }
        if let Some(slot) = self.rows.get_mut(len) {
            *slot = (rest, name);
            self.tops |= highest;
        }
        true
    }

    fn rows(&self) -> &[(u32, u32)] {
        self.rows.get(..usize::from(self.rank())).unwrap_or_default()
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

/// The highest bit of a number that is not zero.
fn top(v: u32) -> u32 {
    1u32.checked_shl(31u32.wrapping_sub(v.leading_zeros())).unwrap_or(0)
}
