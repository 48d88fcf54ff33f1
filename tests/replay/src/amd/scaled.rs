//! Matrix instructions of 8-bit and 4-bit floats with block scales (gfx950).
//!
//! Elements: runs of 16 along k, the lane groups of one half of k after the other; of 4 bits, runs of
//! 32. Scales: lane `l`
//! has, in one byte of a register, the power of two for row (column of B) `l mod M` and the 32
//! elements of k from `32 (l div M)`; `op_sel` and `op_sel_hi` say which byte. As the tables of
//! Composable Kernel have it; the encoding of the formats is that of the LLVM documentation.

use super::decode::{Decoded, src, vreg, want};
use super::op::{ACC, Element, Gfx, Mfma, Op, Src};
use super::run::Machine;
use super::text::Line;
use super::tracked::Tracked;
use super::wave::{LANES, Run, Wave};
use crate::number::{e2m1_to_f32, e4m3_to_f32, e5m2_to_f32, e8m0_to_f32};
use crate::report::MatrixEvent;
use crate::tags::Tag;

/// A product with scales.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Scaled {
    pub mfma: Mfma,
    /// Format of A and of B: 0 with four bits of exponent, 1 with five, 4 of four bits.
    formats: [u32; 2],
    /// Register and byte of the scales; none: all are 1.
    scales: Option<[(u16, u32); 2]>,
}

/// The format of four bits.
const NARROW: u32 = 4;

/// Name behind `v_mfma_scale_`, M, K, passes with 8-bit elements.
const FORMS: [(&str, u32, u32, u32); 2] =
    [("f32_16x16x128_f8f6f4", 16, 128, 8), ("f32_32x32x64_f8f6f4", 32, 64, 16)];

pub(super) fn decode(name: &str, line: &Line, gfx: Gfx) -> Decoded<Op> {
    let o = &line.operands;
    let (own, is_scaled) = match name.strip_prefix("v_mfma_scale_") {
        Some(own) => (own, true),
        None => (name.trim_start_matches("v_mfma_"), false),
    };
    want(line, if is_scaled { 6 } else { 4 })?;
    let form = FORMS.iter().enumerate().find(|(_, f)| own == f.0).filter(|_| gfx == Gfx::Gfx950);
    let Some((id, &(_, m, k, passes))) = form else {
        return Err(format!("`{name}` is not modelled on this target"));
    };
    let mut mfma = Mfma {
        m,
        k,
        kinds: [Element::E4m3 { fnuz: false }; 2],
        passes,
        id: 100 + id as u32,
        d: 0,
        a: 0,
        b: 0,
        c: Src::K(0),
    };
    mfma.d = vreg(&o[0], mfma.result_regs())?;
    mfma.c = src(&o[3], mfma.result_regs())?;
    if matches!(mfma.c, Src::V(c) if (c >= ACC) != (mfma.d >= ACC)) {
        return Err("C and D must both be AGPRs or both be VGPRs".to_string());
    }
    let scales = match is_scaled {
        true => Some([(vreg(&o[4], 1)?, 0), (vreg(&o[5], 1)?, 0)]),
        false => None,
    };
    let mut out = Scaled { mfma, formats: [0; 2], scales };
    for (key, value) in &line.modifiers {
        let bits: Vec<u32> = value
            .trim_matches(['[', ']'])
            .split(',')
            .map(|n| n.parse().map_err(|_| format!("`{value}` is no number")))
            .collect::<Decoded<_>>()?;
        let most = if matches!(key.as_str(), "cbsz" | "blgp") { NARROW } else { 1 };
        if bits.iter().any(|bit| *bit > 1 && *bit != most) {
            return Err(format!("`{key}:{value}` is not modelled"));
        }
        match (key.as_str(), &bits[..], &mut out.scales) {
            ("cbsz", [format], _) => out.formats[0] = *format,
            ("blgp", [format], _) => out.formats[1] = *format,
            ("op_sel", [a, b, 0], Some([of_a, of_b])) => {
                (of_a.1, of_b.1) = (of_a.1 | a, of_b.1 | b);
            }
            ("op_sel_hi", [a, b, 0], Some([of_a, of_b])) => {
                (of_a.1, of_b.1) = (of_a.1 | a << 1, of_b.1 | b << 1);
            }
            _ => return Err(format!("modifier `{key}:{value}` is not modelled")),
        }
    }
    // Where both have four bits, it takes half as long.
    match out.formats {
        [NARROW, NARROW] => {
            out.mfma.kinds = [Element::E2m1; 2];
            out.mfma.passes /= 2;
        }
        formats if formats.contains(&NARROW) => {
            return Err("factors of two widths are not modelled".to_string());
        }
        _ => {}
    }
    let registers = out.mfma.source_regs();
    (out.mfma.a, out.mfma.b) = (vreg(&o[1], registers)?, vreg(&o[2], registers)?);
    Ok(Op::Scaled(out))
}

impl Wave {
    pub(super) fn scaled(&mut self, machine: &mut Machine<'_, '_>, f: &Scaled) -> Run<()> {
        self.full("a matrix instruction")?;
        self.hazards.matrix(&f.mfma)?;
        let (m, k, n) = (f.mfma.m, f.mfma.k, f.mfma.result_regs());
        let sources = [f.mfma.a, f.mfma.b]
            .into_iter()
            .flat_map(|first| first..first + f.mfma.source_regs())
            .chain(f.scales.into_iter().flatten().map(|(register, _)| register));
        for register in sources.chain(if let Src::V(c) = f.mfma.c { c..c + n } else { 0..0 }) {
            self.check_flight(register, "read")?;
        }
        (f.mfma.d..f.mfma.d + n).try_for_each(|r| self.check_flight(r, "written"))?;
        let mut values = [vec![0f64; (m * k) as usize], vec![0f64; (m * k) as usize]];
        let mut tags: [Vec<Tag>; 2] = [Vec::new(), Vec::new()];
        for (side, first) in [f.mfma.a, f.mfma.b].into_iter().enumerate() {
            for lane in 0..LANES {
                let bits = f.mfma.kinds[side].bits();
                for i in 0..u32::from(f.mfma.source_regs()) * 32 / bits {
                    let (raw, tag) = self.field(first, lane, i, bits)?;
                    let value = match f.formats[side] {
                        0 => e4m3_to_f32(raw as u8),
                        1 => e5m2_to_f32(raw as u8),
                        _ => e2m1_to_f32(raw as u8),
                    };
                    let (row, at) = element(m, 128 / bits, lane as u32, i);
                    values[side][(row * k + at) as usize] = value.into();
                    tags[side].push(tag);
                }
            }
            // The scales.
            let Some((register, byte)) = f.scales.map(|scales| scales[side]) else { continue };
            for lane in 0..LANES {
                let halves = 1 << (byte / 2);
                let scale: f64 = e8m0_to_f32(
                    (self.lane_value(register, lane, halves)?.value >> (8 * byte)) as u8,
                )
                .into();
                let (row, run) = (lane as u32 % m, lane as u32 / m);
                values[side][(row * k + 32 * run) as usize..][..32]
                    .iter_mut()
                    .for_each(|v| *v *= scale);
            }
        }
        let mut results = Vec::with_capacity(LANES * n as usize);
        for lane in 0..LANES {
            for register in 0..n {
                let (row, col) = super::matrix::result(m, lane as u32, register.into(), false);
                let start = match f.mfma.c {
                    Src::V(c) => self.lane_value(c + register, lane, 3)?.value,
                    other => self.scalar_src(other, 1)? as u32,
                };
                let products = (0..k).map(|at| {
                    values[0][(row * k + at) as usize] * values[1][(col * k + at) as usize]
                });
                results.push(
                    ((f64::from(f32::from_bits(start)) + products.sum::<f64>()) as f32).to_bits(),
                );
            }
        }
        for (i, value) in results.into_iter().enumerate() {
            let (lane, register) = (i / n as usize, i % n as usize);
            self.set_lane(f.mfma.d + register as u16, lane, Tracked::plain(value));
        }
        self.hazards.advance(1);
        self.hazards.did_matrix(&f.mfma);
        let site = self.site(machine);
        let [a, b] = tags;
        let (line, block, warp) = (site.line, site.block, site.warp);
        machine.world.recorder.matrix(MatrixEvent {
            line,
            block,
            warp,
            shape: [m, m, k],
            element_bits: f.mfma.kinds[0].bits(),
            a,
            b,
            lanes: LANES as u32,
            groups_in_flight: 0,
            copies_in_flight: self.copies_in_flight(),
        });
        Ok(())
    }
}

/// Row (column of B) and k of element `i` of a lane, of so many that lie side by side.
fn element(m: u32, run: u32, lane: u32, i: u32) -> (u32, u32) {
    let groups = LANES as u32 / m;
    (lane % m, i / run * run * groups + lane / m * run + i % run)
}
