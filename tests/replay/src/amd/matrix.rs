//! Matrix instructions: where elements lie in a wave, and the product.
//!
//! Formulas: AMD matrix instruction calculator for one block, with `L = 64 / M` lane groups and
//! `R = K / L` elements of a row in a lane.

use super::op::{Element, Mfma, Src};
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

/// Row and column of result register `register` of a lane.
pub(super) fn result(m: u32, lane: u32, register: u32) -> (u32, u32) {
    let groups = 64 / m;
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
        let mut results = Vec::with_capacity(LANES * n as usize);
        for lane in 0..LANES {
            for register in 0..n {
                let (row, col) = result(m, lane as u32, register.into());
                let start = match f.c {
                    Src::V(c) => self.lane_value(c + register, lane, 3)?.value,
                    other => self.scalar_src(other, 1)? as u32,
                };
                let row = &a[(row * k) as usize..((row + 1) * k) as usize];
                let col = &b[(col * k) as usize..((col + 1) * k) as usize];
                let sum: f64 = row.iter().zip(col).map(|(x, y)| x * y).sum();
                results.push(match f.kinds[0] {
                    Element::I8 => (i64::from(start as i32) + sum as i64) as u32,
                    _ => ((f64::from(f32::from_bits(start)) + sum) as f32).to_bits(),
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
        });
        Ok(())
    }

    pub(super) fn check_flight(&self, register: u16, verb: &str) -> Run<()> {
        if self.in_flight(register) {
            let sentence = format!("{} is {verb} by a matrix instruction while a load into it is outstanding", super::wave::name(register));
            return Err(Clash::new(FaultKind::RegisterInFlight, sentence));
        }
        Ok(())
    }

    /// Fills `values[row or column][k]`; returns the tags in lane and element order.
    fn gather(&self, f: &Mfma, first: u16, kind: Element, values: &mut [f64]) -> Run<Vec<Tag>> {
        let bits = kind.bits();
        let per_register = 32 / bits;
        let mut tags = Vec::new();
        for lane in 0..LANES {
            for register in 0..f.source_regs() {
                let word = self.lane_value(first + register, lane, 3)?;
                for i in 0..per_register {
                    let raw = word.value >> (i * bits) & ((1 << bits) - 1);
                    let value = kind.value(raw);
                    let (row, k) = source(f.m, f.k, lane as u32, u32::from(register) * per_register + i);
                    values[(row * f.k + k) as usize] = value;
                    tags.push(word.tags[(i * bits / 16) as usize]);
                }
            }
        }
        Ok(tags)
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
                    let want: Vec<u32> = entry.list().iter().filter_map(Json::number).map(|n| n as u32).collect();
                    let (lane, i) = (lane as u32, i as u32);
                    let source = super::source(number("m"), number("k"), lane, i);
                    let got = match matrix {
                        "a" => source,
                        "b" => (source.1, source.0),
                        _ => super::result(number("m"), lane, i),
                    };
                    assert_eq!([got.0, got.1, 0], want[..], "{matrix} lane {lane} field {i}");
                    seen += 1;
                }
            }
        }
        assert!(seen > 2000);
    }
}
