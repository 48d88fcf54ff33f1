//! Matrix instructions of RDNA: where elements lie in a wave of 32 or 64 lanes, and the product.

use super::hazard::User;
use super::op::{Element, Src, Sum, Wmma};
use super::run::Machine;
use super::tracked::Tracked;
use super::wave::{Run, Wave};
use crate::fault::{Clash, FaultKind};
use crate::number::{bf16_to_f32, e8m0_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16};
use crate::report::MatrixEvent;
use crate::tags::Tag;

impl Wave {
    pub(super) fn wmma(&mut self, machine: &mut Machine<'_, '_>, f: &Wmma) -> Run<()> {
        self.full("a matrix instruction")?;
        let (each, n) = (f.result_regs(), f.result_regs() * f.parts);
        let scales = f
            .scales
            .iter()
            .flat_map(|s| s.at.map(|(first, _)| first..first + s.registers(f.k)))
            .flatten();
        let factors = || (f.a..f.a + f.parts * f.source_regs()).chain(f.b..f.b + f.source_regs());
        let sources: Vec<u16> = factors().chain(scales).collect();
        for register in
            sources.iter().copied().chain(if let Src::V(c) = f.c { c..c + n } else { 0..0 })
        {
            self.check_read(register, User::Wmma)?;
        }
        // The result of the instruction just before is no input of this one: a vector instruction
        // stands between.
        sources.iter().try_for_each(|register| self.hazards.reads_after_wmma(*register))?;
        sources.iter().try_for_each(|register| self.hazards.wmma_reads(*register))?;
        (f.d..f.d + n).try_for_each(|r| self.check_write(r, User::Wmma, None))?;
        let mut b = vec![[0f64; 16]; f.k as usize];
        let mut parts = vec![b.clone(); f.parts.into()];
        let mut a_tags = Vec::new();
        for (part, a) in (0..).zip(&mut parts) {
            a_tags.extend(self.collect(f, f.a + part * f.source_regs(), f.kinds[0], a)?);
        }
        let b_tags = self.collect(f, f.b, f.kinds[1], &mut b)?;
        if let Some(blocks) = &f.scales {
            let [(register, first), of_b] = blocks.at;
            for (part, a) in (0..).zip(&mut parts) {
                self.scale_runs((register, first + 16 * part), blocks.run, a)?;
            }
            self.scale_runs(of_b, blocks.run, &mut b)?;
        }
        let mut results = Vec::with_capacity(256);
        for lane in 0..self.size {
            for register in 0..n {
                // Sums of half a register: the other half is neither added to nor changed, and may
                // never have been written.
                let halves_read = f.half.map_or(3, |half| 1 << half);
                let start = match f.c {
                    Src::V(c) => self.lane_value(c + register, lane, halves_read)?.value,
                    other => self.scalar_src(other, 1)? as u32,
                };
                let sum = |element: u16| -> f64 {
                    let a = &parts[usize::from(register / each)];
                    let own = if f.parts == 1 { element } else { element % each };
                    let (row, col) = f.result(lane as u32, own.into());
                    a.iter().zip(&b).map(|(x, y)| x[row as usize] * y[col as usize]).sum()
                };
                let before = self.tracked(f.d + register, lane);
                let (kept, defined) = match f.half {
                    Some(half) => {
                        (before.value & (0xffff << (16 * (1 - half))), before.defined | 1 << half)
                    }
                    None => (0, 3),
                };
                let halves = |widen: fn(u16) -> f32, narrow: fn(f32) -> u16| -> u32 {
                    if let Some(half) = f.half {
                        let new = narrow(
                            (f64::from(widen((start >> (16 * half)) as u16)) + sum(register))
                                as f32,
                        );
                        return kept | u32::from(new) << (16 * half);
                    }
                    let half = |i: u16| {
                        narrow(
                            (f64::from(widen((start >> (16 * i)) as u16)) + sum(2 * register + i))
                                as f32,
                        )
                    };
                    u32::from(half(0)) | u32::from(half(1)) << 16
                };
                let value = match f.sum {
                    Sum::F32 => {
                        ((f64::from(f32::from_bits(start)) + sum(register)) as f32).to_bits()
                    }
                    Sum::I32 => (i64::from(start as i32) + sum(register) as i64) as u32,
                    Sum::F16 => halves(f16_to_f32, f32_to_f16),
                    Sum::Bf16 => halves(bf16_to_f32, f32_to_bf16),
                };
                results.push((lane, register, Tracked { defined, ..Tracked::plain(value) }));
            }
        }
        for (lane, register, value) in results {
            self.set_lane(f.d + register, lane, value);
        }
        self.hazards.advance(1);
        // A and B stay until the product is under way; scales are read at once (llc-22 lets the
        // next instruction overwrite them).
        factors().for_each(|register| self.hazards.wmma_read(register, f.apart));
        (f.d..f.d + n).for_each(|register| self.hazards.did_wmma(register, f.apart));
        let site = self.site(machine);
        let lanes = self.size as u32;
        let event = MatrixEvent {
            line: site.line,
            block: site.block,
            warp: site.warp,
            shape: [16 * u32::from(f.parts), 16, f.k],
            element_bits: f.kinds[0].bits(),
            a: a_tags,
            b: b_tags,
            lanes,
            groups_in_flight: 0,
            copies_in_flight: self.copies_in_flight(),
        };
        machine.world.recorder.matrix(event);
        Ok(())
    }

    /// Multiplies each run along k of each row (column) by its power of two: byte `k / run` of lane
    /// `first + row`.
    fn scale_runs(
        &self,
        (register, first): (u16, u32),
        run: u32,
        values: &mut [[f64; 16]],
    ) -> Run<()> {
        for (k, at) in (0u32..).zip(values) {
            for (row, value) in (0u32..).zip(at) {
                let (byte, halves) = (k / run, 1 << (k / run % 4 / 2));
                let word = self
                    .lane_value(register + (byte / 4) as u16, (first + row) as usize, halves)?
                    .value;
                *value *= f64::from(e8m0_to_f32((word >> (8 * (byte % 4))) as u8));
            }
        }
        Ok(())
    }

    /// Fills `values[k][row or column]`; returns the tags in lane and element order. What both
    /// halves of a wave hold must be the same.
    fn collect(
        &self,
        f: &Wmma,
        first: u16,
        kind: Element,
        values: &mut [[f64; 16]],
    ) -> Run<Vec<Tag>> {
        let bits = kind.bits();
        let mut tags = Vec::new();
        let mut seen = vec![[None; 16]; f.k as usize];
        for lane in 0..self.size {
            for i in 0..u32::from(f.source_regs()) * 32 / bits {
                let (raw, tag) = self.field(first, lane, i, bits)?;
                let (row, k) = f.source(lane as u32, i);
                if seen[k as usize][row as usize]
                    .replace(raw)
                    .is_some_and(|before: u64| before != raw)
                {
                    let sentence = format!(
                        "lane {lane} has another element of a matrix than the lane it copies: row {row}, depth {k}"
                    );
                    return Err(
                        Clash::new(FaultKind::InvalidOperand, sentence).by(self.thread(lane))
                    );
                }
                values[k as usize][row as usize] = kind.value(raw);
                tags.push(tag);
            }
        }
        Ok(tags)
    }
}

#[cfg(test)]
mod tests {
    use super::super::decode_vector::wmma_form;
    use super::super::op::{Element, Gfx, Src, Sum, Wmma};
    use crate::json::{self, Json};

    /// Holds every field of every lane of a recorded map against the formulas; answers how many
    /// there are.
    fn agree(f: &Wmma, value: &Json) -> usize {
        let word = |key: &str| value.get(key).and_then(Json::text).expect(key);
        let mut seen = 0;
        for (lane, fields) in value.get("map").expect("map").list().iter().enumerate() {
            for (i, entry) in fields.list().iter().enumerate() {
                let want: Vec<u32> =
                    entry.list().iter().filter_map(Json::number).map(|n| n as u32).collect();
                let (lane, i) = (lane as u32, i as u32);
                let source = f.source(lane, i);
                let got = match word("matrix") {
                    "a" => source,
                    "b" => (source.1, source.0),
                    _ => f.result(lane, i),
                };
                assert_eq!(
                    [got.0, got.1],
                    want[..2],
                    "{} {} lane {lane} field {i}",
                    word("inst"),
                    word("matrix")
                );
                seen += 1;
            }
        }
        seen
    }

    /// Against AMD's matrix calculator: all forms of RDNA3 and RDNA4 with 16-bit and 8-bit floats,
    /// both wave sizes.
    #[test]
    fn formulas_agree_with_the_calculator() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../oracle/data/amd/matrix_calculator.jsonl");
        let text = std::fs::read_to_string(path).expect("the oracle's data");
        let mut seen = 0;
        for line in text.lines().filter(|line| line.contains("\"v_wmma_f32_16x16x16_")) {
            let value = json::parse(line).expect("json");
            let word = |key: &str| value.get(key).and_then(Json::text).expect(key);
            let number = |key: &str| value.get(key).and_then(Json::number).expect(key) as u32;
            let kind = if word("in_a").ends_with("16") {
                Element::F16
            } else {
                Element::E4m3 { fnuz: false }
            };
            let copies = word("arch") == "rdna3";
            let wave = number("wave");
            let f = Wmma {
                k: 16,
                parts: 1,
                kinds: [kind; 2],
                wave,
                copies,
                piece: 8,
                sum: Sum::F32,
                half: None,
                apart: 0,
                d: 0,
                a: 0,
                b: 0,
                c: Src::K(0),
                scales: None,
            };
            seen += agree(&f, &value);
        }
        assert!(seen > 5000, "{seen}");
    }

    /// gfx1250: against what AMD's emulator, IREE and Triton say of it. Products with block scales
    /// are those without.
    #[test]
    fn forms_of_gfx1250_agree_with_the_recorded_maps() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../oracle/data/amd/derived_layouts.jsonl");
        let text = std::fs::read_to_string(path).expect("the oracle's data");
        let mut forms = std::collections::BTreeSet::new();
        for line in text.lines().filter(|line| line.contains("\"gfx1250\"")) {
            let value = json::parse(line).expect("json");
            let word = |key: &str| value.get(key).and_then(Json::text).expect(key);
            let of_bytes = wmma_form("v_wmma_f32_16x16x128_fp8_fp8", Gfx::Gfx1250, 32)
                .expect("a form that is modelled");
            let form = match (word("inst"), word("in_a")) {
                ("v_wmma_scale_f32_16x16x128_f8f6f4", "fp8") => "v_wmma_f32_16x16x128_fp8_fp8",
                (inst, _) => inst,
            };
            if word("in_a") == "fp4" {
                let narrow = Wmma { kinds: [Element::E2m1; 2], ..of_bytes };
                agree(&narrow, &value);
                continue;
            }
            let f = wmma_form(form, Gfx::Gfx1250, 32)
                .unwrap_or_else(|| panic!("{form} is not modelled"));
            forms.insert(word("inst").to_string());
            agree(&f, &value);
        }
        assert!(forms.len() > 12, "{forms:?}");
    }
}
