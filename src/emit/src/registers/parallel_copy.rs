//! Parallel copies: what a turn of a loop hands on changes places all at once.
//!
//! A copy is made when nothing that is left reads the place it overwrites. Where no such copy is
//! left, the rest are cycles: every place is overwritten and read once. A cycle takes a temporary.

use heapless::Vec;

/// Most copies of one loop.
const MOST: usize = 48;

/// Copies that are to be made at once: the place that is written, and the one that is read until
/// that was done. Each place is written once.
pub(crate) struct Parallel<T> {
    copies: Vec<(T, Option<T>), MOST>,
}

impl<T: Copy + PartialEq> Parallel<T> {
    /// No copies.
    pub(crate) const fn new() -> Self {
        Self { copies: Vec::new() }
    }

    /// Most copies that there can be.
    pub(crate) const fn capacity() -> usize {
        MOST
    }

    /// One more copy; false if there is no room. Of a place to itself there is nothing to do.
    pub(crate) fn add(&mut self, to: T, from: T) -> bool {
        to == from || self.copies.push((to, Some(from))).is_ok()
    }

    /// A copy (to, from) whose place nothing that is left reads, as made.
    pub(crate) fn next(&mut self) -> Option<(T, T)> {
        let is_read = |place: T| self.copies.iter().any(|(_, from)| *from == Some(place));
        let at = self.copies.iter().position(|(to, from)| from.is_some() && !is_read(*to))?;
        let (to, from) = self.copies.get_mut(at)?;
        from.take().map(|from| (*to, from))
    }

    /// A place of a cycle, when no copy can be made any more.
    pub(crate) fn cycle(&self) -> Option<T> {
        self.copies.iter().find(|(_, from)| from.is_some()).map(|(to, _)| *to)
    }

    /// What a place of a cycle is a copy of.
    pub(crate) fn source(&self, place: T) -> Option<T> {
        self.copies.iter().find(|(to, _)| *to == place).and_then(|(_, from)| *from)
    }

    /// The cycle through a place as made.
    pub(crate) fn close(&mut self, place: T) {
        let mut at = Some(place);
        while let Some(place) = at {
            at = self
                .copies
                .iter_mut()
                .find(|(to, _)| *to == place)
                .and_then(|(_, from)| from.take());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Parallel;

    /// Carries copies out as a loop's end does, on places with a number each.
    fn carried_out(copies: &[(usize, usize)], places: &mut [usize]) -> usize {
        let mut all = Parallel::new();
        for &(to, from) in copies {
            assert!(all.add(to, from));
        }
        let mut made = 0;
        while let Some((to, from)) = all.next() {
            places[to] = places[from];
            made += 1;
        }
        while let Some(first) = all.cycle() {
            let saved = places[first];
            let mut at = first;
            made += 1;
            loop {
                let from = all.source(at).expect("a cycle");
                places[at] = if from == first { saved } else { places[from] };
                made += 1;
                if from == first {
                    break;
                }
                at = from;
            }
            all.close(first);
        }
        made
    }

    /// Every way to fill up to five places from themselves and two others.
    #[test]
    fn every_parallel_copy_is_one() {
        for count in 0..=5usize {
            let sources = count + 2;
            for number in 0..sources.pow(count as u32) {
                let from = |k: usize| number / sources.pow(k as u32) % sources;
                let copies: std::vec::Vec<(usize, usize)> =
                    (0..count).map(|k| (k, from(k))).collect();
                let mut places: std::vec::Vec<usize> = (100..100 + sources).collect();
                let made = carried_out(&copies, &mut places);
                let wanted: std::vec::Vec<usize> = (0..count).map(|k| 100 + from(k)).collect();
                assert_eq!(places[..count], wanted, "{copies:?}");
                assert_eq!(places[count..], [100 + count, 101 + count], "{copies:?}");
                // One copy for each place that changes, and one more for each cycle.
                let moved = copies.iter().filter(|(to, from)| to != from).count();
                assert!(made <= moved + moved / 2, "{made} copies of {copies:?}");
            }
        }
    }

    #[test]
    fn too_many_copies_are_refused() {
        let mut all = Parallel::new();
        for k in 0..Parallel::<usize>::capacity() {
            assert!(all.add(2 * k, 2 * k + 1));
        }
        assert!(!all.add(1000, 1001));
        assert!(all.add(1000, 1000));
    }
}
