//! Loads that transpose: which lane's element each lane receives.
//!
//! gfx950: Triton's unit test and AMD's emulator agree. gfx12: AMD's emulator (rocjitsu,
//! ds_transpose.h); for LDS on gfx1250 Triton's lowering says the same, and so do the HIP
//! demonstrations that state what hardware was seen to do. LDS and global memory differ in bytes.

/// The element that a lane receives: of which lane's piece, and which of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Transpose {
    /// `ds_read_b64_tr_b16`: sixteen lanes, four elements each.
    Sixteen16,
    /// `ds_read_b64_tr_b8`: sixteen lanes, eight elements each.
    Sixteen8,
    /// `ds_load_tr16_b128` and the global loads of 16-bit elements of gfx12: eight lanes, eight
    /// elements each.
    Eight16,
    /// `ds_load_tr8_b64`: eight lanes in two runs of four.
    Split8,
    /// Global loads of 8-bit elements of gfx12: eight lanes.
    Eight8,
}

impl Transpose {
    /// Bytes of an element.
    pub fn bytes(self) -> usize {
        if matches!(self, Self::Sixteen16 | Self::Eight16) { 2 } else { 1 }
    }

    /// Source lane and element of result element `e` of a lane.
    pub fn source(self, lane: u32, e: u32) -> (u32, u32) {
        let half = lane >> 3 & 1;
        match self {
            Self::Sixteen16 => ((lane & !15) + (lane >> 2 & 3) + 4 * e, lane & 3),
            Self::Sixteen8 => ((lane & !15) + half + 2 * e, lane & 7),
            Self::Eight16 | Self::Eight8 => ((lane & !7) + e, lane & 7),
            Self::Split8 => ((lane & !15) + 4 * half + 8 * (e / 4) + e % 4, lane & 7),
        }
    }

    /// What a lane receives of all lanes' pieces.
    pub fn take<T: Copy>(self, pieces: &[Vec<T>], lane: u32, units: usize, count: u32) -> Vec<T> {
        let mut out = Vec::with_capacity(units * count as usize);
        for e in 0..count {
            let (from, element) = self.source(lane, e);
            let at = element as usize * units;
            out.extend_from_slice(&pieces[from as usize][at..at + units]);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::Transpose;
    use crate::json::{self, Json};

    #[test]
    fn formulas_agree_with_the_recorded_maps() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../oracle/data/amd/transpose_loads.jsonl");
        let text = std::fs::read_to_string(path).expect("the oracle's data");
        let mut seen = 0;
        for line in text.lines() {
            let value = json::parse(line).expect("json");
            let form = match value.get("inst").and_then(Json::text).expect("inst") {
                "ds_read_b64_tr_b16" => Transpose::Sixteen16,
                "ds_read_b64_tr_b8" => Transpose::Sixteen8,
                "ds_load_tr16_b128" | "global_load_tr_b128" | "global_load_tr16_b128" => {
                    Transpose::Eight16
                }
                "ds_load_tr8_b64" => Transpose::Split8,
                "global_load_tr_b64" | "global_load_tr8_b64" => Transpose::Eight8,
                _ => continue,
            };
            for (lane, row) in value.get("map").expect("map").list().iter().enumerate() {
                for (e, entry) in row.list().iter().enumerate() {
                    let want: Vec<u32> =
                        entry.list().iter().filter_map(Json::number).map(|n| n as u32).collect();
                    let got = form.source(lane as u32, e as u32);
                    assert_eq!([got.0, got.1], want[..], "{form:?}, lane {lane}, element {e}");
                    seen += 1;
                }
            }
        }
        assert_eq!(seen, 64 * (4 + 8) + 32 * 8 * 6);
    }
}
