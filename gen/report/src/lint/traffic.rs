//! Global memory that an access through a tile of pointers touches, as far as runs of neighbours are known.
//!
//! Memory moves in segments. Along the dimension in which addresses count up, `contiguity` of the elements are known to lie
//! side by side, and the first of each run at a multiple of some bytes; of anything else it is taken that it lies elsewhere.
//! So the segments of the whole tile are known, and those that each instruction of the layout touches, too.

use super::layouts::Held;
use std::collections::BTreeSet;

/// What is known of the addresses of a tile.
#[derive(Copy, Clone, Debug)]
pub(super) struct AddressRuns {
    /// The dimension in which they count up.
    pub dimension: usize,
    /// Elements in a row.
    pub contiguity: u64,
    /// Bytes that the first of a run is a multiple of.
    pub align_bytes: u64,
    /// Bytes of an element.
    pub element_bytes: u64,
}

/// What an access costs under a layout.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Traffic {
    /// Segments that instructions touch, over all warps.
    pub segments: u64,
    /// Segments that the tile lies in.
    pub least: u64,
    /// Elements that a lane moves at once.
    pub vector: u64,
    /// Elements that it could, where they lie side by side.
    pub widest: u64,
}

/// A place in memory: the run and the byte in it.
fn place(element: u64, shape: &[u32], runs: &AddressRuns) -> (u64, u64) {
    let inner: u64 =
        shape.iter().skip(runs.dimension + 1).map(|extent| u64::from(*extent)).product();
    let extent = u64::from(shape.get(runs.dimension).copied().unwrap_or(1)).max(1);
    let own = element / inner % extent;
    // The run's number: the element's with its place in the run taken out.
    let within = own % runs.contiguity;
    (element - within * inner, within * runs.element_bytes)
}

/// Counts the segments of `segment_bytes` that an access of a tile touches, where a lane moves at most `widest_bytes` at once.
pub(super) fn count(
    held: &Held,
    shape: &[u32],
    runs: &AddressRuns,
    segment_bytes: u64,
    widest_bytes: u64,
) -> Traffic {
    let aligned = runs.align_bytes.max(1);
    // A run whose begin may stand anywhere in a segment is counted as one that begins it.
    let segment = |(run, byte): (u64, u64)| (run, byte / segment_bytes);
    let mut all = BTreeSet::new();
    for lanes in held.values() {
        all.extend(lanes.values().map(|element| segment(place(*element, shape, runs))));
    }
    let most = (widest_bytes / runs.element_bytes.max(1)).max(1);
    let together = (aligned / runs.element_bytes.max(1)).max(1);
    let widest = runs.contiguity.min(together).min(most).max(1);
    let mut vector = widest;
    while vector > 1 && !is_vector(held, shape, runs, vector) {
        vector /= 2;
    }
    let mut segments = 0;
    let warps: BTreeSet<i64> = held.keys().map(|(warp, _)| *warp).collect();
    for warp in warps {
        let registers: Vec<i64> =
            held.keys().filter(|(own, _)| *own == warp).map(|(_, register)| *register).collect();
        for chunk in registers.chunks(usize::try_from(vector).unwrap_or(1).max(1)) {
            let touched: BTreeSet<(u64, u64)> = chunk
                .iter()
                .filter_map(|register| held.get(&(warp, *register)))
                .flat_map(|lanes| lanes.values())
                .map(|element| segment(place(*element, shape, runs)))
                .collect();
            segments += touched.len() as u64;
        }
    }
    Traffic { segments, least: all.len() as u64, vector, widest }
}

/// Whether every so many registers of every lane lie side by side, aligned.
fn is_vector(held: &Held, shape: &[u32], runs: &AddressRuns, width: u64) -> bool {
    let Ok(step) = i64::try_from(width) else { return false };
    held.iter().all(|((warp, register), lanes)| {
        let (first, within) = (register - register.rem_euclid(step), register.rem_euclid(step));
        let begin = held.get(&(*warp, first));
        lanes.iter().all(|(lane, element)| {
            let Some(begin) = begin.and_then(|begin| begin.get(lane)) else { return false };
            let (run, byte) = place(*begin, shape, runs);
            let (own, at) = place(*element, shape, runs);
            let bytes = within.unsigned_abs() * runs.element_bytes;
            own == run && at == byte + bytes && byte % (width * runs.element_bytes) == 0
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Warps 0, registers and lanes by hand: 32 lanes, each `share` elements in a row of a tile of one row.
    fn rows(share: u64) -> Held {
        let mut out = Held::new();
        for lane in 0..32 {
            for register in 0..share {
                let home = out.entry((0, i64::try_from(register).expect("small"))).or_default();
                home.insert(i64::try_from(lane).expect("small"), lane * share + register);
            }
        }
        out
    }

    fn runs(contiguity: u64) -> AddressRuns {
        AddressRuns { dimension: 1, contiguity, align_bytes: 16, element_bytes: 4 }
    }

    #[test]
    fn a_row_in_order_touches_what_it_lies_in() {
        let found = count(&rows(4), &[1, 128], &runs(128), 32, 16);
        assert_eq!(found, Traffic { segments: 16, least: 16, vector: 4, widest: 4 });
    }

    #[test]
    fn lanes_that_stand_apart_touch_a_segment_each() {
        // 128 bytes of each lane: 8 vectors of 16 bytes, each of them in another segment of every lane.
        let found = count(&rows(32), &[1, 1024], &runs(1024), 32, 16);
        assert_eq!(found, Traffic { segments: 8 * 32, least: 128, vector: 4, widest: 4 });
    }

    #[test]
    fn a_gather_is_as_it_is() {
        let found = count(&rows(4), &[1, 128], &runs(1), 32, 16);
        assert_eq!((found.segments, found.least, found.widest), (128, 128, 1));
    }
}
