//! What the panels of an instruction whose extents are no powers of two are counted by.

/// log2 of what an instruction's panels are counted by along m, n and k; all 0 where its extents are
/// powers of two. A byte, since products are held by the dozen on small stacks.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct RepeatPlaces(u8);

/// Digits of [`RepeatPlaces`]: so many values along m and n, and along k.
const PLACES: (u8, u8) = (7, 5);

impl RepeatPlaces {
    /// `None` where there is no room for one of them.
    #[must_use]
    pub fn new((m, n, k): (u8, u8, u8)) -> Option<Self> {
        let (outer, depth) = PLACES;
        if m >= outer || n >= outer || k >= depth {
            return None;
        }
        let high = k.checked_mul(outer)?.checked_add(n)?;
        high.checked_mul(outer)?.checked_add(m).map(Self)
    }

    /// Along m, n and k.
    #[must_use]
    pub fn get(self) -> (u8, u8, u8) {
        let (outer, _) = PLACES;
        let (high, m) = (self.0 / outer, self.0 % outer);
        (m, high % outer, high / outer)
    }
}

#[cfg(test)]
mod tests {
    use super::RepeatPlaces;

    #[test]
    fn a_byte_holds_three_of_them() {
        for m in 0..9 {
            for n in 0..9 {
                for k in 0..9 {
                    let places = RepeatPlaces::new((m, n, k));
                    assert_eq!(
                        places.map(RepeatPlaces::get),
                        (m < 7 && n < 7 && k < 5).then_some((m, n, k))
                    );
                }
            }
        }
        // Products stand on small stacks by the dozen: they are as large as without.
        assert!(core::mem::size_of::<crate::product::Product>() <= 380);
    }
}
