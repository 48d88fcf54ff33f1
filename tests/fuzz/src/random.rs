//! Numbers that are the same every time, and texts changed by them.

/// A generator.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// From a seed (0 is replaced).
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed.max(1))
    }

    /// A number below `limit` (0 if that is 0).
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % limit.max(1)
    }

    /// Up to `most` bytes.
    pub fn bytes(&mut self, most: usize) -> Vec<u8> {
        let len = self.below(most + 1);
        (0..len).map(|_| self.below(256) as u8).collect()
    }

    /// `text` with up to four changes: a byte replaced or taken out, a piece put in, a part
    /// repeated elsewhere, the end cut off.
    pub fn change(&mut self, text: &str, pieces: &[&str]) -> Vec<u8> {
        let mut bytes: Vec<u8> = text.bytes().collect();
        for _ in 0..=self.below(4) {
            if bytes.is_empty() {
                break;
            }
            let at = self.below(bytes.len());
            match self.below(8) {
                0 => bytes[at] = self.below(256) as u8,
                1 => bytes[at] = b' ' + self.below(95) as u8,
                2 => drop(bytes.remove(at)),
                3 | 4 => {
                    let piece = pieces[self.below(pieces.len())];
                    bytes.splice(at..at, piece.bytes());
                }
                5 => bytes.truncate(at),
                6 => {
                    // A digit becomes another number.
                    if let Some(digit) = bytes[at..].iter().position(u8::is_ascii_digit) {
                        let number = [
                            "0",
                            "1",
                            "2",
                            "3",
                            "8",
                            "17",
                            "4294967296",
                            "9223372036854775807",
                            "18446744073709551616",
                        ][self.below(9)];
                        bytes.splice(at + digit..=at + digit, number.bytes());
                    }
                }
                _ => {
                    let end = (at + self.below(40)).min(bytes.len());
                    let part = bytes[at..end].to_vec();
                    let to = self.below(bytes.len());
                    bytes.splice(to..to, part);
                }
            }
        }
        bytes
    }
}
