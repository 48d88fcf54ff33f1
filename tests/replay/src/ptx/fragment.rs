//! Where elements of matrix operands lie in the lanes of a warp (PTX ISA, "Matrix fragments").
//!
//! With `g = lane / 4`, `t = lane % 4` and `e` elements in a 32-bit register.

/// Row and column of element `i` of A (16 x K).
pub(super) fn a(lane: u32, i: u32, e: u32) -> (u32, u32) {
    let (g, t, register) = (lane >> 2, lane & 3, i / e);
    (g + 8 * (register & 1), t * e + i % e + 4 * e * (register >> 1))
}

/// Row (k) and column of element `i` of B (K x 8).
pub(super) fn b(lane: u32, i: u32, e: u32) -> (u32, u32) {
    let (g, t) = (lane >> 2, lane & 3);
    (t * e + i % e + 4 * e * (i / e), g)
}

/// Row and column of element `i` of C and D (16 x 8).
pub(super) fn c(lane: u32, i: u32) -> (u32, u32) {
    (lane / 4 + 8 * (i >> 1), 2 * (lane & 3) + (i & 1))
}

/// Row and column, in a stored 8x8 matrix, of element `i` (0, 1) of a lane after `ldmatrix`.
pub(super) fn m8n8(lane: u32, i: u32, trans: bool) -> (u32, u32) {
    let (g, pair) = (lane >> 2, 2 * (lane & 3) + i);
    if trans { (pair, g) } else { (g, pair) }
}

/// Which form of `ldmatrix` and `stmatrix`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Move {
    /// `m8n8`, elements of 16 bits.
    Halves { trans: bool },
    /// `ldmatrix.m16n16.trans.b8`: sixteen rows, two registers a matrix.
    Load16,
    /// `stmatrix.m16n8.trans.b8`.
    Store16,
}

impl Move {
    /// Rows of 16 bytes that a matrix has in memory.
    pub fn rows(self) -> usize {
        if self == Self::Load16 { 16 } else { 8 }
    }

    /// Registers that a matrix has.
    pub fn registers(self) -> usize {
        if self == Self::Load16 { 2 } else { 1 }
    }

    /// Row and byte in memory of a byte of a register of a lane.
    pub fn byte(self, lane: u32, register: u32, byte: u32) -> (u32, u32) {
        let (g, t) = (lane >> 2, lane & 3);
        match self {
            Self::Halves { trans } => {
                let (row, col) = m8n8(lane, byte / 2, trans);
                (row, 2 * col + byte % 2)
            }
            Self::Load16 => (4 * t + byte, 8 * register + g),
            Self::Store16 => (2 * t + byte % 2, 8 * (byte / 2) + g),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::json::{self, Json};

    /// Each line: `kind`, `bits`, `map[lane][i]`; copied facts from the PTX document and CUTLASS.
    #[test]
    fn formulas_agree_with_the_recorded_maps() {
        let text = include_str!("../../fixtures/nvidia_fragments.jsonl");
        let mut seen = 0;
        for line in text.lines() {
            let value = json::parse(line).expect("json");
            let kind = value.get("kind").and_then(Json::text).expect("kind");
            let e = 32 / value.get("bits").and_then(Json::number).expect("bits") as u32;
            for (lane, row) in value.get("map").expect("map").list().iter().enumerate() {
                for (i, entry) in row.list().iter().enumerate() {
                    let want: Vec<u32> =
                        entry.list().iter().filter_map(Json::number).map(|n| n as u32).collect();
                    let (lane, i) = (lane as u32, i as u32);
                    let (row, col) = match kind {
                        "a" => super::a(lane, i, e),
                        "b" => super::b(lane, i, e),
                        "c" => super::c(lane, i),
                        _ => super::m8n8(lane, i % 2, kind == "ldmatrix.trans"),
                    };
                    let got = if want.len() == 3 { vec![i / 2, row, col] } else { vec![row, col] };
                    assert_eq!(got, want, "{kind} lane {lane} element {i}");
                    seen += 1;
                }
            }
        }
        assert!(seen > 1000);
    }
    /// Moves of bytes: against the PTX document and CUTLASS, which agree.
    #[test]
    fn moves_of_bytes_agree_with_the_recorded_maps() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../oracle/data/nvidia/matrix_move.jsonl");
        let text = std::fs::read_to_string(path).expect("the oracle's data");
        let mut seen = 0;
        for line in text.lines() {
            let value = json::parse(line).expect("json");
            let word = |key: &str| value.get(key).and_then(Json::text).expect(key);
            let form = match (word("atom"), word("operand")) {
                (atom, "dst") if atom.contains("m16n16") && word("dtype") == "b8" => {
                    super::Move::Load16
                }
                (atom, "src") if atom.contains("m16n8") => super::Move::Store16,
                _ => continue,
            };
            for (lane, row) in value.get("map").expect("map").list().iter().enumerate() {
                for (i, entry) in row.list().iter().enumerate() {
                    let want: Vec<u32> =
                        entry.list().iter().filter_map(Json::number).map(|n| n as u32).collect();
                    let per = 4 * form.registers() as u32;
                    let i = i as u32;
                    let got = form.byte(lane as u32, i % per / 4, i % 4);
                    assert_eq!(vec![i / per, got.0, got.1], want, "{form:?} lane {lane} byte {i}");
                    seen += 1;
                }
            }
        }
        assert!(seen >= 32 * (8 + 4), "{seen}");
    }
}
