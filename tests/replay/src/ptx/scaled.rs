//! PTX `mma` with block scales: `kind::mxf8f6f4`, one scale for 32 elements; `kind::mxf4` and
//! `kind::mxf4nvf4`, two or four of them for 64 elements of four bits.
//!
//! Scales (PTX ISA, "Block scaling for mma.sync"): of the four lanes of a group, lanes `2 thread_a`
//! and `2 thread_a + 1` have those of rows g and g + 8 of A, lane `thread_b` that of column g of B,
//! each in the byte that the selector names, and in those behind it where there are several.

use super::decode::{Decoded, Words, regs, srcs, want};
use super::op::{MmaForm, Op, Reg, Src, Ty};
use super::parse::Operand;
use super::run::{LANES, Machine, Run, Warp};
use crate::number::{e4m3_to_f32, e8m0_to_f32};

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
    /// Scales of a row, in bytes side by side.
    runs: u32,
    /// They are `ue4m3`; else powers of two.
    is_float: bool,
}

/// How many scales a row has, and of which type.
type Scales = (&'static str, &'static str);

/// Kinds of products, their shapes, and the scales that they may have.
const KINDS: [(&str, &str, &[Scales]); 3] = [
    ("kind::mxf8f6f4", "m16n8k32", &[("scale_vec::1X", "ue8m0")]),
    ("kind::mxf4", "m16n8k64", &[("scale_vec::2X", "ue8m0")]),
    (
        "kind::mxf4nvf4",
        "m16n8k64",
        &[("scale_vec::2X", "ue8m0"), ("scale_vec::4X", "ue8m0"), ("scale_vec::4X", "ue4m3")],
    ),
];

/// Whether an instruction is such a product.
pub(super) fn is_scaled(w: &Words<'_>) -> bool {
    KINDS.iter().any(|(kind, ..)| w.rest.contains(kind)) && w.rest.contains(&"block_scale")
}

pub(super) fn decode(w: &mut Words<'_>, o: &[Operand]) -> Decoded<Op> {
    want(o, 8..=8)?;
    let (_, shape, scales) =
        KINDS.iter().find(|(kind, ..)| w.take(kind)).ok_or("expected a kind of product")?;
    for word in ["sync", "aligned", "row", "col", "block_scale"] {
        w.require(word)?;
    }
    w.require(shape)?;
    let (runs, scale) = scales
        .iter()
        .find(|(vec, ty)| w.rest.contains(vec) && w.rest.contains(ty))
        .ok_or("these scales are not modelled")?;
    w.require(runs)?;
    w.require(scale)?;
    let (runs, is_float) = (u32::from(runs.as_bytes()[11] - b'0'), *scale == "ue4m3");
    let (d_ty, ta, tb, c_ty) = (w.ty()?, w.element()?, w.element()?, w.ty()?);
    let (k, is_narrow) = if *shape == "m16n8k64" { (64, true) } else { (32, false) };
    let known = |t: &Ty| match is_narrow {
        true => *t == Ty::E2m1,
        false => matches!(t, Ty::E4m3 | Ty::E5m2),
    };
    if (d_ty, c_ty) != (Ty::F32, Ty::F32) || ![ta, tb].iter().all(known) {
        return Err("these types are not modelled with block scales".to_string());
    }
    let form = MmaForm { m: 16, k, a: ta, b: tb, acc: d_ty };
    let (d, a, b, c) = (regs(&o[0])?, srcs(&o[1])?, srcs(&o[2])?, srcs(&o[3])?);
    if (d.len(), a.len(), b.len(), c.len()) != (4, 4, 2, 4) {
        return Err("expected 4, 4, 2 and 4 registers".to_string());
    }
    let selected = |data: &Operand, selector: &Operand, most: u64| -> Decoded<Selected> {
        let data = srcs(data)?;
        match (&data[..], &srcs(selector)?[..]) {
            ([data], [Src::Imm(byte), Src::Imm(thread)])
                if *byte < 4 && byte.is_multiple_of(runs.into()) && *thread <= most =>
            {
                Ok(Selected { data: *data, byte: *byte as u32, thread: *thread as u32 })
            }
            _ => Err("expected a register of scales and which byte and thread".to_string()),
        }
    };
    let scales = [selected(&o[4], &o[5], 1)?, selected(&o[6], &o[7], 3)?];
    Ok(Op::Scaled(Box::new(Scaled { form, d, a, b, c, scales, runs, is_float })))
}

impl Scaled {
    /// The scales of the 16 rows of A and of the 8 columns of B, run by run.
    pub(super) fn factors(&self, warp: &Warp, m: &Machine<'_, '_>) -> Run<(Vec<f64>, Vec<f64>)> {
        let runs = self.runs as usize;
        let mut out = (vec![0.0; 16 * runs], vec![0.0; 8 * runs]);
        for lane in 0..LANES {
            let (group, place) = (lane / 4, lane as u32 % 4);
            let [of_a, of_b] = self.scales;
            let read = |selected: Selected, run: usize| -> Run<f64> {
                let word = warp.get(m, lane, selected.data)?.value;
                let byte = (word >> (8 * (selected.byte + run as u32))) as u8;
                let float =
                    if self.is_float { e4m3_to_f32(byte & 0x7f) } else { e8m0_to_f32(byte) };
                Ok(float.into())
            };
            for run in 0..runs {
                if place / 2 == of_a.thread {
                    let row = group + 8 * (place as usize % 2);
                    out.0[row * runs + run] = read(of_a, run)?;
                }
                if place == of_b.thread {
                    out.1[group * runs + run] = read(of_b, run)?;
                }
            }
        }
        Ok(out)
    }
}
