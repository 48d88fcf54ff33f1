//! Matrix instructions: where elements lie in a wave, and the product.
//!
//! Formulas: AMD matrix instruction calculator for one block, with `L = 64 / M` lane groups and
//! `R = K / L` elements of a row in a lane.

use super::op::{Element, Gfx, Mfma, Src, Subnormals};
use super::run::Machine;
use super::tracked::Tracked;
use super::wave::{LANES, Run, Wave};
use crate::fault::{Clash, FaultKind};
use crate::report::MatrixEvent;
use crate::tags::Tag;

/// Row (A) or column (B), and k, of element `i` of a lane.
pub(super) fn source(m: u32, k: u32, lane: u32, i: u32) -> (u32, u32) {
    (lane % m, lane / m * (k * m / 64) + i)
}

/// Row and column of result element `register` of a lane; those of 64 bits lie four rows apart.
pub(super) fn result(m: u32, lane: u32, register: u32, wide: bool) -> (u32, u32) {
    let groups = 64 / m;
    if wide {
        return (groups * register + lane / m, lane % m);
    }
    (4 * groups * (register / 4) + 4 * (lane / m) + register % 4, lane % m)
}

impl Wave {
    pub(super) fn matrix(&mut self, machine: &mut Machine<'_, '_>, f: &Mfma) -> Run<()> {
        // EXEC is ignored by the hardware; a partly masked matrix product is never what was meant.
        self.full("a matrix instruction")?;
        self.hazards.matrix(f)?;
        let n = f.result_regs();
        let sources = (f.a..f.a + f.source_regs()).chain(f.b..f.b + f.source_regs());
        for register in sources.chain(if let Src::V(c) = f.c { c..c + n } else { 0..0 }) {
            self.check_flight(register, "read")?;
        }
        (f.d..f.d + n).try_for_each(|r| self.check_flight(r, "written"))?;
        let (m, k) = (f.m, f.k);
        let mut a = vec![0f64; (m * k) as usize];
        let mut b = a.clone();
        let a_tags = self.gather(f, f.a, f.kinds[0], &mut a)?;
        let b_tags = self.gather(f, f.b, f.kinds[1], &mut b)?;
        // Of forms of 16 bits MI200 takes and gives subnormal numbers as zero (MIOpen: MI200 MFMA
        // behavior specifics).
        let flushes = self.gfx == Gfx::Gfx90a && matches!(f.kinds[0], Element::F16 | Element::Bf16);
        let least =
            if f.kinds[0] == Element::F16 { 2f64.powi(-14) } else { f64::from(f32::MIN_POSITIVE) };
        if flushes {
            a.iter_mut().chain(&mut b).filter(|v| v.abs() < least).for_each(|v| *v *= 0.0);
        }
        let sums = if flushes { Subnormals::NONE } else { Subnormals::of_mode(3) };
        let mut results = Vec::with_capacity(LANES * n as usize);
        for lane in 0..LANES {
            for register in 0..n {
                let wide = f.kinds[0] == Element::F64;
                if wide && register % 2 == 1 {
                    continue;
                }
                let (row, col) =
                    result(m, lane as u32, u32::from(register) / if wide { 2 } else { 1 }, wide);
                let start = match f.c {
                    Src::V(c) => self.lane_value(c + register, lane, 3)?.value,
                    other => self.scalar_src(other, 1)? as u32,
                };
                if wide {
                    let row = &a[(row * k) as usize..((row + 1) * k) as usize];
                    let col = &b[(col * k) as usize..((col + 1) * k) as usize];
                    let high = if let Src::V(c) = f.c {
                        self.lane_value(c + register + 1, lane, 3)?.value
                    } else {
                        0
                    };
                    let bits = (f64::from_bits(u64::from(start) | u64::from(high) << 32)
                        + row.iter().zip(col).map(|(x, y)| x * y).sum::<f64>())
                    .to_bits();
                    results.extend([bits as u32, (bits >> 32) as u32]);
                    continue;
                }
                let row = &a[(row * k) as usize..((row + 1) * k) as usize];
                let col = &b[(col * k) as usize..((col + 1) * k) as usize];
                let sum: f64 = row.iter().zip(col).map(|(x, y)| x * y).sum();
                results.push(match f.kinds[0] {
                    Element::I8 | Element::U8 => (i64::from(start as i32) + sum as i64) as u32,
                    _ => sums.writes(
                        ((f64::from(f32::from_bits(sums.reads([start; 3])[0])) + sum) as f32)
                            .to_bits(),
                    ),
                });
            }
        }
        for (i, value) in results.into_iter().enumerate() {
            let (lane, register) = (i / n as usize, i % n as usize);
            self.set_lane(f.d + register as u16, lane, Tracked::plain(value));
        }
        self.hazards.advance(1);
        self.hazards.did_matrix(f);
        let site = self.site(machine);
        machine.world.recorder.matrix(MatrixEvent {
            line: site.line,
            block: site.block,
            warp: site.warp,
            shape: [m, m, k],
            element_bits: f.kinds[0].bits(),
            a: a_tags,
            b: b_tags,
            lanes: LANES as u32,
            groups_in_flight: 0,
            copies_in_flight: self.copies_in_flight(),
        });
        Ok(())
    }

    pub(super) fn check_flight(&self, register: u16, verb: &str) -> Run<()> {
        if self.in_flight(register) {
            let sentence = format!(
                "{} is {verb} by a matrix instruction while a load into it is outstanding",
                super::wave::name(register)
            );
            return Err(Clash::new(FaultKind::RegisterInFlight, sentence));
        }
        Ok(())
    }

    /// Fills `values[row or column][k]`; returns the tags in lane and element order.
    fn gather(&self, f: &Mfma, first: u16, kind: Element, values: &mut [f64]) -> Run<Vec<Tag>> {
        let bits = kind.bits();
        let mut tags = Vec::new();
        for lane in 0..LANES {
            for i in 0..u32::from(f.source_regs()) * 32 / bits {
                let (raw, tag) = self.field(first, lane, i, bits)?;
                let (row, k) = source(f.m, f.k, lane as u32, i);
                values[(row * f.k + k) as usize] = kind.value(raw);
                tags.push(tag);
            }
        }
        Ok(tags)
    }

    /// Field `i` of so many bits in a tuple of registers, and the tag of what it begins with.
    pub(super) fn field(&self, first: u16, lane: usize, i: u32, bits: u32) -> Run<(u64, Tag)> {
        let at = i * bits;
        let word = self.lane_value(first + (at / 32) as u16, lane, 3)?;
        let high = if bits > 32 {
            self.lane_value(first + (at / 32) as u16 + 1, lane, 3)?.value
        } else {
            0
        };
        let all = u64::from(word.value) | u64::from(high) << 32;
        Ok((all >> (at % 32) & (u64::MAX >> (64 - bits)), word.tags[(at % 32 / 16) as usize]))
    }
}

#[cfg(test)]
mod tests {
    use crate::json::{self, Json};

    /// Each line: `m`, `k`, `matrix`, `map[lane][field]` = [row, col, block]; copied facts.
    #[test]
    fn formulas_agree_with_the_recorded_maps() {
        let text = include_str!("../../fixtures/amd_fragments.jsonl");
        let mut seen = 0;
        for line in text.lines() {
            let value = json::parse(line).expect("json");
            let number = |key: &str| value.get(key).and_then(Json::number).expect(key) as u32;
            let matrix = value.get("matrix").and_then(Json::text).expect("matrix");
            for (lane, fields) in value.get("map").expect("map").list().iter().enumerate() {
                for (i, entry) in fields.list().iter().enumerate() {
                    let want: Vec<u32> =
                        entry.list().iter().filter_map(Json::number).map(|n| n as u32).collect();
                    let (lane, i) = (lane as u32, i as u32);
                    let source = super::source(number("m"), number("k"), lane, i);
                    let got = match matrix {
                        "a" => source,
                        "b" => (source.1, source.0),
                        _ => super::result(number("m"), lane, i, false),
                    };
                    assert_eq!([got.0, got.1, 0], want[..], "{matrix} lane {lane} field {i}");
                    seen += 1;
                }
            }
        }
        assert!(seen > 2000);
    }
    /// Against AMD's matrix calculator: every dense form of one block that the decoder knows.
    #[test]
    fn formulas_agree_with_the_calculator() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../oracle/data/amd/matrix_calculator.jsonl");
        let text = std::fs::read_to_string(path).expect("the oracle's data");
        let mut forms = std::collections::BTreeSet::new();
        for line in text.lines().filter(|line| line.contains("\"v_mfma_")) {
            let value = json::parse(line).expect("json");
            let word = |key: &str| value.get(key).and_then(Json::text).expect(key);
            let number = |key: &str| value.get(key).and_then(Json::number).expect(key) as u32;
            if number("blocks") != 1 || number("m") != number("n") {
                continue;
            }
            forms.insert(word("inst").to_string());
            for (lane, fields) in value.get("map").expect("map").list().iter().enumerate() {
                for (i, entry) in fields.list().iter().enumerate() {
                    let want: Vec<u32> =
                        entry.list().iter().filter_map(Json::number).map(|n| n as u32).collect();
                    let (lane, i) = (lane as u32, i as u32);
                    let source = super::source(number("m"), number("k"), lane, i);
                    let got = match word("matrix") {
                        "a" => source,
                        "b" => (source.1, source.0),
                        _ => super::result(number("m"), lane, i, word("out") == "fp64"),
                    };
                    assert_eq!(
                        [got.0, got.1],
                        want[..2],
                        "{} {} lane {lane} field {i}",
                        word("inst"),
                        word("matrix")
                    );
                }
            }
        }
        assert!(forms.len() > 15, "{forms:?}");
    }
}
