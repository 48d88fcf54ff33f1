//! Conversions of tiles whose extents are no powers of two: panels of powers of two, an odd number of
//! them along each dimension, one behind the other in each lane's registers.

use super::{Dealt, Home, Noise, TYPES, assemble, deal, digits, word, written};
use lanebook::TABLES;
use lanebook::convert::{Conversion, ConvertError, write_conversion};
use lanebook::query::{NoDistribution, QueryStorage};
use lanebook_kernels::snippets::{framed, replayed};

/// A distribution of a tile of panels.
struct Panels {
    /// One of them: bits of its columns are the lowest of its elements' numbers.
    one: Dealt,
    column_bits: usize,
    rows: u32,
    cols: u32,
    by_rows: bool,
}

impl Panels {
    /// log2 of the bits of registers from one panel to the next.
    fn step(&self) -> u32 {
        let end = |home: &Home| match home {
            Home::Bit(bit) => bit + 1,
            _ => 0,
        };
        self.one.homes.iter().map(end).max().unwrap_or(0).max(self.one.bits.ilog2())
    }

    fn text(&self) -> String {
        let (mut extents, mut strides) = (Vec::new(), Vec::new());
        let step = 1u64 << self.step();
        let (down, along) = if self.by_rows { (self.cols, 1) } else { (1, self.rows) };
        let mut panels = |extents: &mut Vec<u32>, many: u32, each: u32| {
            if many > 1 {
                extents.push(many);
                strides.push(format!("{}@bit", u64::from(each) * step));
            }
        };
        panels(&mut extents, self.rows, down);
        let (low, high) = self.one.homes.split_at(self.column_bits);
        let stride = |home: &Home| match home {
            Home::Lane(b) => format!("{}@laneid", 1 << b),
            Home::Warp(b) => format!("{}@warpid", 1 << b),
            Home::Bit(b) => format!("{}@bit", 1u64 << b),
        };
        let bits = |extents: &mut Vec<u32>, strides: &mut Vec<String>, homes: &[Home]| {
            for home in homes.iter().rev() {
                extents.push(2);
                strides.push(stride(home));
            }
        };
        let mut across = Vec::new();
        panels(&mut across, self.cols, along);
        let last = if across.is_empty() { None } else { strides.pop() };
        bits(&mut extents, &mut strides, high);
        extents.extend(across);
        strides.extend(last);
        bits(&mut extents, &mut strides, low);
        let list: Vec<String> = extents.iter().map(u32::to_string).collect();
        let mut out = format!("S[({}):({})]", list.join(","), strides.join(","));
        if !self.one.copies.is_empty() {
            let twos = vec!["2"; self.one.copies.len()].join(",");
            let copies: Vec<String> = self.one.copies.iter().map(stride).collect();
            out += &format!(" + R[({twos}):({})]", copies.join(","));
        }
        out
    }

    /// The element at a bit of a thread's registers, row by row in the tile.
    fn element(&self, thread: u32, at: u32) -> Option<u32> {
        let (panel, place) = (at >> self.step(), at & ((1 << self.step()) - 1));
        let e = self.one.element(thread, place)?;
        let (up, across) = if self.by_rows {
            (panel / self.cols, panel % self.cols)
        } else {
            (panel % self.rows, panel / self.rows)
        };
        let row_bits = self.one.homes.len() - self.column_bits;
        let (row, col) = (e >> self.column_bits, e & ((1 << self.column_bits) - 1));
        let columns = self.cols << self.column_bits;
        Some(((up << row_bits) + row) * columns + (across << self.column_bits) + col)
    }
}

/// One of a tile's distributions: whole registers of each panel, without copies in registers.
fn deal_panels(noise: &mut Noise, like: &Panels, (wave, warps): (u32, u32)) -> Panels {
    let (total, bits) = (like.one.homes.len() as u32, like.one.bits);
    loop {
        let one = deal(noise, total, (wave, warps), bits);
        let in_registers = one.copies.iter().any(|home| matches!(home, Home::Bit(_)));
        let out = Panels { one, by_rows: noise.chance(2), ..*like };
        if !in_registers && out.step() >= 5 {
            return out;
        }
    }
}

/// Every element of 32 x 24, 48 x 80 and the like arrives.
#[test]
fn panels_are_converted() {
    let archs = [("sm_80", 5), ("sm_90a", 5), ("gfx942", 6), ("gfx1100", 5)];
    for (seed, (arch, wave)) in (7..).zip(archs) {
        let mut noise = Noise(seed);
        let (mut done, mut through, mut columns_first) = (0, 0, 0);
        for round in 0..24 {
            let (dtype, bits) = TYPES[noise.below(TYPES.len())];
            let warps = noise.below(3) as u32;
            let total = 7 + warps + noise.below(3) as u32;
            let column_bits = 1 + noise.below(total as usize - 1);
            let grids = [(1, 3), (3, 1), (3, 5), (5, 3), (1, 7), (3, 3), (5, 1)];
            let (rows, cols) = grids[noise.below(grids.len())];
            // What the test's frame declares is no more than 48 KiB.
            if rows * cols * bits << total > 8 * (48 << 10) {
                continue;
            }
            let one =
                Dealt { homes: vec![Home::Lane(0); total as usize], copies: vec![], bits, wave };
            let like = Panels { one, column_bits, rows, cols, by_rows: true };
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
            columns_first += usize::from(from.by_rows != to.by_rows && rows > 1 && cols > 1);
            if round % 4 == 0 {
                assemble(&framed, arch).unwrap_or_else(|e| panic!("{arch}: {e}\n{source}"));
            }
            for digit in 0..digits((rows * cols) << total, bits) {
                let given = |thread: u32, register: u32| {
                    word(|at| from.element(thread, at), register, bits, digit).0
                };
                let left = replayed(&framed, arch, given, &[]).expect("a run");
                for thread in 0..framed.threads {
                    for register in 0..framed.registers.1 {
                        let of = |at| to.element(thread, at);
                        let (want, mask) = word(of, register, bits, digit);
                        assert_ne!(mask, 0, "{arch}: a register of nothing\n{source}");
                        let is = left.word(thread, register);
                        assert_eq!(is & mask, want & mask, "{arch}\n{source}\n{}", framed.text);
                    }
                }
            }
        }
        println!("{arch}: {done} converted, {through} through scratch");
        assert!(done > 12 && through > 8 && columns_first > 0, "{arch}: {done}, {through}");
    }
}

/// What is no panels of whole rows and columns in a lane's registers is refused.
#[test]
fn other_factors_are_refused() {
    let id = TABLES.arch_named("sm_80").expect("an architecture");
    for layout in [
        // Three neighbours of a lane.
        "S[(32,8,3):(1@laneid,96@bit,32@bit)]",
        // Panels apart from each other, and below the bits of one.
        "S[(32,3,8):(1@laneid,512@bit,32@bit)]",
        "S[(32,3,8):(1@laneid,32@bit,128@bit)]",
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
