//! PTX `wgmma`: the matrix unit of a warpgroup, which reads shared memory through descriptors and
//! runs beside the lanes.
//!
//! Each warp computes its own sixteen rows. Results are there at once but may be used only after
//! the group that they belong to has been waited for; until then the bytes that were read may not
//! be written. Registers that go in must have been fenced since something else wrote them, bytes in
//! shared memory by `fence.proxy.async` in the thread that wrote them.
//!
//! Descriptors and layouts of operands as in the PTX document, "Asynchronous warpgroup level matrix
//! instructions": fields of 14 bits in units of 16 bytes, swizzle patterns on absolute addresses.

use std::collections::VecDeque;

use super::decode::{Decoded, Words, regs, src, srcs, want};
use super::fragment;
use super::op::{Op, Reg, Src, Ty, UnitForm};
use super::parse::Operand;
use super::register::Cell;
use super::run::{LANES, Machine, Run, Warp};
use crate::fault::{Clash, FaultKind};
use crate::number::{bf16_to_f32, e2m1_to_f32, e4m3_to_f32, e5m2_to_f32, f16_to_f32, f32_to_f16};
use crate::report::MatrixEvent;
use crate::tags::Tag;

/// What the unit has not finished for a warp.
#[derive(Default)]
pub(super) struct Unit {
    open: Group,
    groups: VecDeque<Group>,
}

#[derive(Default)]
struct Group {
    cells: Vec<u32>,
    /// (address, bytes) that it reads.
    spans: Vec<(u64, u32)>,
}

impl Unit {
    /// Whether a register's value is still on its way.
    pub fn is_busy(&self, cell: u32) -> bool {
        self.open.cells.contains(&cell) || self.groups.iter().any(|g| g.cells.contains(&cell))
    }
}

/// Where an operand stands.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum From {
    Registers(Vec<Src>),
    Descriptor(Src),
}

pub(super) fn wgmma(w: &mut Words<'_>, o: &[Operand]) -> Decoded<Op> {
    if w.take("fence") || w.rest.contains(&"commit_group") || w.rest.contains(&"wait_group") {
        let (commit, wait) = (w.take("commit_group"), w.take("wait_group"));
        w.require("sync")?;
        w.require("aligned")?;
        return match o {
            [] if commit => Ok(Op::UnitCommit),
            [] if !wait => Ok(Op::UnitFence),
            [Operand::Src(Src::Imm(n))] if wait => Ok(Op::UnitWait(*n as u32)),
            _ => Err("operands do not fit".to_string()),
        };
    }
    for word in ["mma_async", "sync", "aligned"] {
        w.require(word)?;
    }
    let shape = w.pick(|x| {
        let (n, k) = x.strip_prefix("m64n")?.split_once('k')?;
        Some((n.parse::<u32>().ok()?, k.parse::<u32>().ok()?))
    });
    let (n, k) = shape.ok_or("expected m64nNkK")?;
    // The accumulator's type stands first.
    let acc = w.ty()?;
    let (a_ty, b_ty) = (w.element()?, w.element()?);
    if a_ty.bits() != b_ty.bits() || k * a_ty.bits() != 256 || n % 8 != 0 || !(8..=256).contains(&n)
    {
        return Err("this shape and these types are not modelled".to_string());
    }
    let integer = matches!(a_ty, Ty::S(8) | Ty::U(8));
    let chooses = matches!(a_ty, Ty::F16 | Ty::Bf16);
    let from = |operand: &Operand| match operand {
        Operand::Vector(_) => Ok(From::Registers(srcs(operand)?)),
        other => Ok::<_, String>(From::Descriptor(src(other)?)),
    };
    want(o, 4..=8)?;
    let (d, a, b) = (regs(&o[0])?, from(&o[1])?, src(&o[2])?);
    let per = if acc == Ty::F16 { n / 4 } else { n / 2 };
    if d.len() != per as usize || matches!(&a, From::Registers(r) if r.len() != 4) {
        return Err(format!("expected {per} registers of D, and four of A"));
    }
    let mut rest = o[3..].iter();
    let read = src(rest.next().ok_or("expected scale-d")?)?;
    let mut number = |what: &str| match rest.next() {
        Some(Operand::Src(Src::Imm(v))) => Ok::<u64, String>(*v),
        _ => Err(format!("expected {what}, a constant")),
    };
    if !integer && (number("imm-scale-a")?, number("imm-scale-b")?) != (1, 1) {
        return Err("negated operands are not modelled".to_string());
    }
    let trans_a = if chooses && matches!(a, From::Descriptor(_)) {
        number("imm-trans-a")? == 1
    } else {
        false
    };
    let trans_b = if chooses { number("imm-trans-b")? == 1 } else { false };
    if rest.next().is_some() {
        return Err("too many operands".to_string());
    }
    Ok(Op::Unit { form: UnitForm { n, k, a: a_ty, b: b_ty, acc, trans_a, trans_b }, d, a, b, read })
}

/// Where the descriptor puts the byte at (outer, depth), depth in bytes for an operand whose depth
/// is contiguous; the outer coordinate in bytes otherwise.
struct Descriptor {
    start: u64,
    leading: u64,
    stride: u64,
    /// Bytes of a row of the pattern; 16 without one.
    span: u64,
}

impl Descriptor {
    fn read(bits: u64) -> Result<Self, String> {
        let field = |at: u32| (bits >> at & 0x3fff) * 16;
        let span = [16, 128, 64, 32][(bits >> 62) as usize];
        let known = 0x3fff | 0x3fff << 16 | 0x3fff << 32 | 3 << 62;
        if bits & !known != 0 {
            return Err(format!(
                "the descriptor {bits:#x} has a base offset or bits that have no meaning"
            ));
        }
        Ok(Self { start: field(0), leading: field(16), stride: field(32), span })
    }

    fn address(&self, outer_major: bool, bytes_along: u64, across: u64) -> u64 {
        let (piece, inside) = (bytes_along / self.span, bytes_along % self.span);
        let (eight, row) = (across / 8, across % 8);
        let plain = match (outer_major, self.span) {
            // Core matrices of 8 rows of 16 bytes.
            (false, 16) => eight * self.stride + piece * self.leading + row * 16 + inside,
            (true, 16) => piece * self.stride + eight * self.leading + row * 16 + inside,
            // Depth is contiguous: one row of the pattern holds it.
            (false, span) => eight * self.stride + row * span + piece * span * 8 + inside,
            (true, span) => piece * self.leading + eight * self.stride + row * span + inside,
        };
        let at = self.start + plain;
        at ^ (at >> 3 & (self.span - 16))
    }
}

/// The value of an element's bits.
pub(super) fn value(ty: Ty, raw: u64) -> f64 {
    match ty {
        Ty::F16 => f16_to_f32(raw as u16).into(),
        Ty::Bf16 => bf16_to_f32(raw as u16).into(),
        Ty::E4m3 => e4m3_to_f32(raw as u8).into(),
        Ty::E5m2 => e5m2_to_f32(raw as u8).into(),
        Ty::E2m1 => e2m1_to_f32(raw as u8).into(),
        Ty::S(4) => f64::from((raw as u8 as i8) << 4 >> 4),
        Ty::U(4) => f64::from(raw as u8 & 15),
        Ty::S(8) => f64::from(raw as u8 as i8),
        Ty::U(8) => f64::from(raw as u8),
        // tf32: the low 13 bits are ignored.
        _ => f32::from_bits(raw as u32 & !0x1fff).into(),
    }
}

impl Warp {
    pub(super) fn unit_fence(&mut self) {
        self.cells.iter_mut().for_each(|cell| cell.fenced = true);
    }

    pub(super) fn unit_commit(&mut self) {
        let group = std::mem::take(&mut self.unit.open);
        self.unit.groups.push_back(group);
    }

    pub(super) fn unit_wait(&mut self, m: &mut Machine<'_, '_>, keep: usize) {
        let (thread, line) = (self.thread(0), self.site(m).line);
        while self.unit.groups.len() > keep {
            for (address, bytes) in self.unit.groups.pop_front().expect("a group").spans {
                m.world.shared.let_go(thread, line, address, bytes);
            }
        }
    }

    /// An operand as (outer, depth) elements with their tags, read through a descriptor.
    fn described(
        &mut self,
        m: &mut Machine<'_, '_>,
        bits: u64,
        ty: Ty,
        outer: std::ops::Range<u32>,
        k: u32,
        outer_major: bool,
    ) -> Run<Vec<(f64, Tag)>> {
        let descriptor = Descriptor::read(bits)
            .map_err(|sentence| Clash::new(FaultKind::InvalidOperand, sentence))?;
        let bytes = u64::from(ty.bits() / 8);
        let (thread, line) = (self.thread(0), self.site(m).line);
        let mut out = Vec::with_capacity((outer.len() * k as usize).max(1));
        for o in outer {
            for d in 0..k {
                let (along, across) = if outer_major { (o, d) } else { (d, o) };
                let address =
                    descriptor.address(outer_major, u64::from(along) * bytes, across.into());
                let (mut data, mut tag) = ([0; 4], [0]);
                let (data, tags) =
                    (&mut data[..bytes as usize], &mut tag[..(bytes as usize / 2).min(1)]);
                m.world.shared.read_by_unit(thread, line, address, data, tags)?;
                m.world.shared.hold(thread, address, bytes as u32)?;
                self.unit.open.spans.push((address, bytes as u32));
                let raw = data.iter().rev().fold(0, |sum, &b| sum << 8 | u64::from(b));
                out.push((value(ty, raw), tag[0]));
            }
        }
        Ok(out)
    }

    /// The same number in all lanes.
    fn uniform(&self, m: &Machine<'_, '_>, src: Src, what: &str) -> Run<u64> {
        let first = self.get(m, 0, src)?.value;
        for lane in 1..LANES {
            if self.get(m, lane, src)?.value != first {
                let clash = Clash::new(
                    FaultKind::InvalidOperand,
                    format!("{what} is not the same in all lanes"),
                );
                return Err(clash.by(self.thread(lane)));
            }
        }
        Ok(first)
    }

    fn fenced(&self, regs: impl Iterator<Item = Reg>) -> Run<()> {
        for reg in regs {
            for lane in 0..LANES {
                let cell = &self.cells[reg.cell as usize * LANES + lane];
                if cell.defined && !cell.fenced {
                    let sentence = "a register was written since the last wgmma.fence";
                    return Err(
                        Clash::new(FaultKind::UnitNotFenced, sentence).by(self.thread(lane))
                    );
                }
            }
        }
        Ok(())
    }

    pub(super) fn unit(
        &mut self,
        m: &mut Machine<'_, '_>,
        form: UnitForm,
        d: &[Reg],
        a: &From,
        [b, read]: [Src; 2],
        on: u32,
    ) -> Run<()> {
        self.full(on, "wgmma")?;
        let (n, k) = (form.n as usize, form.k as usize);
        let read = self.uniform(m, read, "scale-d")? != 0;
        if read {
            self.fenced(d.iter().copied())?;
        }
        let rows = 16 * (self.index % 4);
        let a = match a {
            From::Descriptor(bits) => {
                let bits = self.uniform(m, *bits, "the descriptor of A")?;
                self.described(m, bits, form.a, rows..rows + 16, form.k, form.trans_a)?
            }
            From::Registers(regs) => {
                self.fenced(
                    regs.iter().filter_map(|s| if let Src::Reg(r) = s { Some(*r) } else { None }),
                )?;
                self.registers(m, regs, form.a, k)?
            }
        };
        let bits = self.uniform(m, b, "the descriptor of B")?;
        let b = self.described(m, bits, form.b, 0..form.n, form.k, form.trans_b)?;
        let mut results = vec![0f64; LANES * n / 2];
        for lane in 0..LANES {
            for i in 0..n / 2 {
                let (row, col) = fragment::c(lane as u32, (i % 4) as u32);
                let (row, col) = (row as usize, col as usize + 8 * (i / 4));
                let start = if read { self.start(lane, i, form.acc, d) } else { 0.0 };
                results[lane * n / 2 + i] =
                    start + (0..k).map(|x| a[row * k + x].0 * b[col * k + x].0).sum::<f64>();
            }
        }
        for lane in 0..LANES {
            let r = &results[lane * n / 2..(lane + 1) * n / 2];
            for (i, reg) in d.iter().enumerate() {
                let value = match form.acc {
                    Ty::F32 => u64::from((r[i] as f32).to_bits()),
                    Ty::F16 => {
                        let pair =
                            [r[2 * i], r[2 * i + 1]].map(|v| u64::from(f32_to_f16(v as f32)));
                        pair[0] | pair[1] << 16
                    }
                    _ => u64::from(r[i] as i64 as u32),
                };
                self.cells[reg.cell as usize * LANES + lane] =
                    Cell { fenced: true, ..Cell::plain(value) };
            }
        }
        self.unit.open.cells.extend(d.iter().map(|r| r.cell));
        let site = self.site(m);
        m.world.recorder.matrix(MatrixEvent {
            line: site.line,
            block: site.block,
            warp: site.warp,
            shape: [16, form.n, form.k],
            element_bits: form.a.bits(),
            a: a.iter().map(|(_, tag)| *tag).collect(),
            b: b.iter().map(|(_, tag)| *tag).collect(),
            lanes: LANES as u32,
            groups_in_flight: self.groups_in_flight() + m.barriers_in_flight(),
            copies_in_flight: 0,
        });
        Ok(())
    }

    fn start(&self, lane: usize, i: usize, acc: Ty, d: &[Reg]) -> f64 {
        let raw = |k: usize| self.cells[d[k].cell as usize * LANES + lane].value;
        match acc {
            Ty::F32 => f32::from_bits(raw(i) as u32).into(),
            Ty::F16 => f16_to_f32((raw(i / 2) >> (16 * (i % 2))) as u16).into(),
            _ => f64::from(raw(i) as u32 as i32),
        }
    }

    /// A from registers: this warp's rows.
    fn registers(
        &self,
        m: &Machine<'_, '_>,
        regs: &[Src],
        ty: Ty,
        k: usize,
    ) -> Run<Vec<(f64, Tag)>> {
        let mut out = vec![(0.0, 0); 16 * k];
        let (bits, per) = (ty.bits(), 32 / ty.bits());
        for lane in 0..LANES {
            for (r, reg) in regs.iter().enumerate() {
                let cell = self.get(m, lane, *reg)?;
                for i in 0..per {
                    let (row, col) = fragment::a(lane as u32, r as u32 * per + i, per);
                    let raw = cell.value >> (i * bits) & ((1 << bits) - 1);
                    out[row as usize * k + col as usize] =
                        (value(ty, raw), cell.tags[(i * bits / 16) as usize]);
                }
            }
        }
        Ok(out)
    }
}
