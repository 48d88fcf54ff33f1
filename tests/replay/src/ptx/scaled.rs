//! PTX `mma` with block scales: `kind::mxf8f6f4`, one scale for 32 elements.
//!
//! Scales (PTX ISA, "Block scaling for mma.sync"): of the four lanes of a group, lanes `2 thread_a`
//! and `2 thread_a + 1` have those of rows g and g + 8 of A, lane `thread_b` that of column g of B,
//! each in the byte that the selector names.

use super::decode::{Decoded, Words, regs, srcs, want};
use super::op::{MmaForm, Op, Reg, Src, Ty};
use super::parse::Operand;
use super::run::{LANES, Machine, Run, Warp};
use crate::number::e8m0_to_f32;

/// Where the scales of one operand are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Selected {
    data: Src,
    byte: u32,
    thread: u32,
}

/// A product with scales.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Scaled {
    pub form: MmaForm,
    pub d: Vec<Reg>,
    pub a: Vec<Src>,
    pub b: Vec<Src>,
    pub c: Vec<Src>,
    scales: [Selected; 2],
}

pub(super) fn decode(w: &mut Words<'_>, o: &[Operand]) -> Decoded<Op> {
    want(o, 8..=8)?;
    for word in ["sync", "aligned", "m16n8k32", "row", "col", "block_scale", "scale_vec::1X"] {
        w.require(word)?;
    }
    w.require("ue8m0")?;
    let (d_ty, ta, tb, c_ty) = (w.ty()?, w.element()?, w.element()?, w.ty()?);
    if (d_ty, c_ty) != (Ty::F32, Ty::F32)
        || ![ta, tb].iter().all(|t| matches!(t, Ty::E4m3 | Ty::E5m2))
    {
        return Err("these types are not modelled with block scales".to_string());
    }
    let form = MmaForm { m: 16, k: 32, a: ta, b: tb, acc: d_ty };
    let (d, a, b, c) = (regs(&o[0])?, srcs(&o[1])?, srcs(&o[2])?, srcs(&o[3])?);
    if (d.len(), a.len(), b.len(), c.len()) != (4, 4, 2, 4) {
        return Err("expected 4, 4, 2 and 4 registers".to_string());
    }
    let selected = |data: &Operand, selector: &Operand, most: u64| -> Decoded<Selected> {
        let data = srcs(data)?;
        match (&data[..], &srcs(selector)?[..]) {
            ([data], [Src::Imm(byte), Src::Imm(thread)]) if *byte < 4 && *thread <= most => {
                Ok(Selected { data: *data, byte: *byte as u32, thread: *thread as u32 })
            }
            _ => Err("expected a register of scales and which byte and thread".to_string()),
        }
    };
    let scales = [selected(&o[4], &o[5], 1)?, selected(&o[6], &o[7], 3)?];
    Ok(Op::Scaled(Box::new(Scaled { form, d, a, b, c, scales })))
}

impl Scaled {
    /// The scales of the 16 rows of A and of the 8 columns of B.
    pub(super) fn factors(&self, warp: &Warp, m: &Machine<'_, '_>) -> Run<(Vec<f64>, Vec<f64>)> {
        let mut out = (vec![0.0; 16], vec![0.0; 8]);
        for lane in 0..LANES {
            let (group, place) = (lane / 4, lane as u32 % 4);
            let [of_a, of_b] = self.scales;
            let read = |selected: Selected| -> Run<f64> {
                Ok(e8m0_to_f32(
                    (warp.get(m, lane, selected.data)?.value >> (8 * selected.byte)) as u8,
                )
                .into())
            };
            if place / 2 == of_a.thread {
                out.0[group + 8 * (place as usize % 2)] = read(of_a)?;
            }
            if place == of_b.thread {
                out.1[group] = read(of_b)?;
            }
        }
        Ok(out)
    }
}
