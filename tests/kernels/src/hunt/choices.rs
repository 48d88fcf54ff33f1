//! Where a generator's choices come from: a seed, or a fuzzer's bytes.

/// Choices, the same for the same source.
#[derive(Clone, Debug)]
pub struct Choices {
    state: u64,
    bytes: Option<std::vec::IntoIter<u8>>,
}

impl Choices {
    /// From a number.
    #[must_use]
    pub fn seeded(seed: u64) -> Self {
        // Neighbouring seeds become unlike.
        let mut state =
            seed.wrapping_add(0x9e37_79b9_7f4a_7c15).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        state ^= state >> 27;
        Self { state: state.wrapping_mul(0x94d0_49bb_1331_11eb) | 1, bytes: None }
    }

    /// From bytes; when they are used up, the first of everything.
    #[must_use]
    pub fn bytes(bytes: &[u8]) -> Self {
        let bytes = bytes.to_vec();
        Self { state: 1, bytes: Some(bytes.into_iter()) }
    }

    /// A number below `limit` (0 if that is 0).
    pub fn below(&mut self, limit: usize) -> usize {
        if let Some(bytes) = &mut self.bytes {
            return usize::from(bytes.next().unwrap_or(0)) % limit.max(1);
        }
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state >> 20) as usize % limit.max(1)
    }

    /// Once in `times`.
    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == times - 1
    }

    /// One of some.
    ///
    /// # Panics
    /// If there are none.
    pub fn of<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())].clone()
    }
}
