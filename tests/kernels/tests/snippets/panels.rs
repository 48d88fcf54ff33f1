//! Conversions of tiles whose extents are no powers of two: panels of powers of two, an odd number of
//! them along each dimension, one behind the other in each lane's registers.

use super::{Dealt, Home, Noise, TYPES, assemble, deal, digits, word, written};
use lanebook::TABLES;
use lanebook::convert::{Conversion, ConvertError, write_conversion};
use lanebook::query::{NoDistribution, QueryStorage};
use lanebook_kernels::snippets::{framed, replayed};

/// What a digit of a place in a lane's registers counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Digit {
    /// A bit of the place in a panel.
    Bit(u32),
    Rows,
    Cols,
}

/// A distribution of a tile of panels.
struct Panels {
    /// One of them: bits of its columns are the lowest of its elements' numbers.
    one: Dealt,
    column_bits: usize,
    rows: u32,
    cols: u32,
    /// The digits of a place, the lowest first.
    digits: Vec<Digit>,
}

impl Panels {
    fn extent(&self, digit: Digit) -> u32 {
        match digit {
            Digit::Bit(_) => 2,
            Digit::Rows => self.rows,
            Digit::Cols => self.cols,
        }
    }

    /// What places of the lowest digit are apart.
    fn unit(&self) -> u64 {
        match self.digits.iter().find(|digit| matches!(digit, Digit::Bit(_))) {
            Some(Digit::Bit(bit)) => 1 << bit,
            _ => u64::from(self.one.bits),
        }
    }

    fn stride(&self, wanted: Digit) -> u64 {
        let below = self.digits.iter().take_while(|digit| **digit != wanted);
        below.fold(self.unit(), |all, digit| all * u64::from(self.extent(*digit)))
    }

    fn text(&self) -> String {
        let mut list: Vec<(u32, String)> = Vec::new();
        let bits = |list: &mut Vec<(u32, String)>, homes: &[Home]| {
            for home in homes.iter().rev() {
                let stride = match home {
                    Home::Lane(b) => format!("{}@laneid", 1 << b),
                    Home::Warp(b) => format!("{}@warpid", 1 << b),
                    Home::Bit(b) => format!("{}@bit", self.stride(Digit::Bit(*b))),
                };
                list.push((2, stride));
            }
        };
        let (low, high) = self.one.homes.split_at(self.column_bits);
        for (digit, homes) in [(Digit::Rows, high), (Digit::Cols, low)] {
            if self.extent(digit) > 1 {
                list.push((self.extent(digit), format!("{}@bit", self.stride(digit))));
            }
            bits(&mut list, homes);
        }
        let extents: Vec<String> = list.iter().map(|(extent, _)| extent.to_string()).collect();
        let strides: Vec<&str> = list.iter().map(|(_, stride)| stride.as_str()).collect();
        let mut out = format!("S[({}):({})]", extents.join(","), strides.join(","));
        if !self.one.copies.is_empty() {
            let mut copies = Vec::new();
            bits(&mut copies, &self.one.copies);
            let strides: Vec<&str> = copies.iter().map(|(_, stride)| stride.as_str()).collect();
            let twos = vec!["2"; strides.len()].join(",");
            out += &format!(" + R[({twos}):({})]", strides.join(","));
        }
        out
    }

    /// The element at a bit of a thread's registers, row by row in the tile.
    fn element(&self, thread: u32, at: u32) -> Option<u32> {
        let unit = self.unit() as u32;
        if !at.is_multiple_of(unit) {
            return None;
        }
        let (mut rest, mut place, mut up, mut across) = (at / unit, 0, 0, 0);
        for digit in &self.digits {
            let own = rest % self.extent(*digit);
            rest /= self.extent(*digit);
            match digit {
                Digit::Bit(bit) => place |= own << bit,
                Digit::Rows => up = own,
                Digit::Cols => across = own,
            }
        }
        let e = self.one.element(thread, place).filter(|_| rest == 0)?;
        let row_bits = self.one.homes.len() - self.column_bits;
        let (row, col) = (e >> self.column_bits, e & ((1 << self.column_bits) - 1));
        let columns = self.cols << self.column_bits;
        Some(((up << row_bits) + row) * columns + (across << self.column_bits) + col)
    }
}

/// One of a tile's distributions: whole registers of each panel, without copies in registers; panels'
/// registers stand anywhere among those of one.
fn deal_panels(noise: &mut Noise, like: &Panels, (wave, warps): (u32, u32)) -> Panels {
    let (total, bits) = (like.one.homes.len() as u32, like.one.bits);
    loop {
        let one = deal(noise, total, (wave, warps), bits);
        if one.copies.iter().any(|home| matches!(home, Home::Bit(_))) {
            continue;
        }
        let mut places: Vec<u32> = Vec::new();
        for home in &one.homes {
            places.extend(if let Home::Bit(bit) = home { Some(*bit) } else { None });
        }
        places.sort_unstable();
        let inside = places.iter().filter(|bit| **bit < 5.max(bits.ilog2())).count();
        let is_whole = inside == 0 && places.first().is_none_or(|bit| *bit >= 5)
            || inside as u32 == 5 - bits.ilog2().min(5);
        if bits < 32 && (places.is_empty() || !is_whole) {
            continue;
        }
        let mut digits: Vec<Digit> = places.into_iter().map(Digit::Bit).collect();
        for (panels, many) in [(Digit::Rows, like.rows), (Digit::Cols, like.cols)] {
            if many > 1 {
                let at = inside + noise.below(digits.len() - inside + 1);
                digits.insert(at, panels);
            }
        }
        return Panels { one, digits, ..*like };
    }
}

/// Every element of 32 x 24, 48 x 80 and the like arrives.
#[test]
fn panels_are_converted() {
    let archs = [("sm_80", 5), ("sm_90a", 5), ("gfx942", 6), ("gfx1100", 5)];
    for (seed, (arch, wave)) in (7..).zip(archs) {
        let mut noise = Noise(seed);
        let (mut done, mut through, mut between) = (0, 0, 0);
        for round in 0..24 {
            let (dtype, bits) = TYPES[noise.below(TYPES.len())];
            let warps = noise.below(3) as u32;
            let total = 7 + warps + noise.below(3) as u32;
            let column_bits = 1 + noise.below(total as usize - 1);
            let grids = [(1, 3), (3, 1), (3, 5), (5, 3), (1, 7), (3, 3), (5, 1)];
            let (rows, cols) = grids[noise.below(grids.len())];
            // What the test's frame declares is no more than 48 KiB.
            if (rows * cols * bits) << total > 8 * (48 << 10) {
                continue;
            }
            let one =
                Dealt { homes: vec![Home::Lane(0); total as usize], copies: vec![], bits, wave };
            let like = Panels { one, column_bits, rows, cols, digits: vec![] };
            let from = deal_panels(&mut noise, &like, (wave, warps));
            let to = deal_panels(&mut noise, &like, (wave, warps));
            let row_bits = total as usize - column_bits;
            let mut extents = vec![rows << row_bits, cols << column_bits];
            if rows == 1 && round % 2 == 0 {
                // Rows that are two dimensions.
                extents = vec![1 << (row_bits / 2), 1 << (row_bits - row_bits / 2), extents[1]];
            }
            let wanted = Conversion {
                from: &from.text(),
                to: &to.text(),
                threads: Some(1 << (wave + warps)),
                ..Conversion::of(&extents, dtype)
            };
            let (source, sides) = written(arch, &wanted);
            assert_eq!(sides.from.panels().map(u32::from), [rows, cols]);
            let framed = match framed(&TABLES, &source, arch) {
                Ok(framed) => framed,
                Err(why) => {
                    assert!(why.contains("Registers"), "{arch}: {why}\n{source}");
                    continue;
                }
            };
            done += 1;
            through += usize::from(framed.scratch > 0);
            between += usize::from(matches!(from.digits.last(), Some(Digit::Bit(_))));
            if round % 4 == 0 {
                assemble(&framed, arch).unwrap_or_else(|e| panic!("{arch}: {e}\n{source}"));
            }
            for digit in 0..digits((rows * cols) << total, bits) {
                let given = |thread: u32, register: u32| {
                    let each = bits.div_ceil(32);
                    let written = sides.from.written_register(register / each) * each;
                    word(|at| from.element(thread, at), written + register % each, bits, digit).0
                };
                let left = replayed(&framed, arch, given, &[]).expect("a run");
                for thread in 0..framed.threads {
                    for register in 0..framed.registers.1 {
                        let of = |at| to.element(thread, at);
                        let each = bits.div_ceil(32);
                        let written = sides.to.written_register(register / each) * each;
                        let (want, mask) = word(of, written + register % each, bits, digit);
                        assert_ne!(mask, 0, "{arch}: a register of nothing\n{source}");
                        let is = left.word(thread, register);
                        assert_eq!(is & mask, want & mask, "{arch}\n{source}\n{}", framed.text);
                    }
                }
            }
        }
        println!("{arch}: {done} converted, {through} through scratch");
        assert!(done > 12 && through > 8 && between > 4, "{arch}: {done}, {through}");
    }
}

/// What is no panels of whole rows and columns in a lane's registers is refused.
#[test]
fn other_factors_are_refused() {
    let id = TABLES.arch_named("sm_80").expect("an architecture");
    for layout in [
        // Three neighbours of a lane.
        "S[(32,8,3):(1@laneid,96@bit,32@bit)]",
        // Panels apart from each other.
        "S[(32,3,8):(1@laneid,512@bit,32@bit)]",
        // A digit that is part of a panel and part of how many there are.
        "S[(32,4,6):(1@laneid,192@bit,32@bit)]",
        // Panels in other lanes.
        "S[(8,4,3,8):(1@laneid,32@bit,8@laneid,128@bit)]",
    ] {
        let wanted = Conversion { from: layout, to: layout, ..Conversion::of(&[32, 24], "f32") };
        let mut storage = Box::new(QueryStorage::new());
        let error = write_conversion(&TABLES, id, &wanted, &mut storage, &mut String::new());
        let is_refused = matches!(
            error,
            Err(ConvertError::From(NoDistribution::Extents | NoDistribution::Several))
        );
        assert!(is_refused, "{layout}: {error:?}");
    }
}
