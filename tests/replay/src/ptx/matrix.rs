//! PTX `ldmatrix`, `stmatrix` and `mma`.
//!
//! Each lane is charged with reading exactly the bytes that it receives, so that a warp which loads
//! rows other lanes copied needs the barrier.

use super::fragment::{self, Move};
use super::op::{Addr, MmaForm, Reg, Src, Ty};
use super::register::Cell;
use super::run::{LANES, Machine, Run, Warp, lanes};
use crate::fault::{Clash, FaultKind};
use crate::number::{f16_to_f32, f32_to_f16};
use crate::report::{MatrixEvent, Space};
use crate::tags::Tag;

impl Warp {
    /// The addresses of `count` rows, checked.
    fn rows(
        &mut self,
        m: &mut Machine<'_, '_>,
        addr: Addr,
        count: usize,
        on: u32,
        is_write: bool,
    ) -> Run<Vec<u64>> {
        self.full(on, "a matrix move")?;
        let mut rows = Vec::with_capacity(count);
        for lane in 0..count {
            let address = self.address(m, lane, addr)?;
            if !address.is_multiple_of(16) {
                let clash =
                    Clash::new(FaultKind::Misaligned, "a row of a matrix must be a multiple of 16");
                return Err(clash.at(address).by(self.thread(lane)));
            }
            rows.push(address);
        }
        let site = self.site(m);
        let trace = rows.iter().enumerate().map(|(lane, &at)| (self.thread(lane), at)).collect();
        m.world.recorder.access(site, Space::Shared, is_write, 16, trace);
        let banks: Vec<_> =
            rows.iter().enumerate().map(|(lane, &at)| (lane as u32, at, 16)).collect();
        m.world.recorder.transactions(
            site.line,
            &[if is_write { "stmatrix" } else { "ldmatrix" }],
            &banks,
        );
        Ok(rows)
    }

    pub(super) fn load_matrix(
        &mut self,
        m: &mut Machine<'_, '_>,
        dst: &[Reg],
        form: Move,
        addr: Addr,
        on: u32,
    ) -> Run<()> {
        let each = form.registers();
        let rows = self.rows(m, addr, form.rows() * dst.len() / each, on, false)?;
        let line = self.site(m).line;
        for (number, reg) in dst.iter().enumerate() {
            for lane in lanes(on) {
                let (mut value, mut tags) = (0, [0; 4]);
                // Two bytes at once where they lie together.
                let step = if matches!(form, Move::Halves { .. }) { 2 } else { 1 };
                for i in (0..4).step_by(step) {
                    let (row, byte) = form.byte(lane as u32, (number % each) as u32, i);
                    let address =
                        rows[form.rows() * (number / each) + row as usize] + u64::from(byte);
                    let (mut data, mut tag) = ([0; 2], [0]);
                    m.world.shared.read(
                        self.thread(lane),
                        line,
                        address,
                        &mut data[..step],
                        &mut tag[..step / 2],
                    )?;
                    value |= u64::from(u16::from_le_bytes(data)) << (8 * i);
                    if step == 2 {
                        tags[i as usize / 2] = tag[0];
                    }
                }
                self.set(lane, *reg, Cell::new(value, tags));
            }
        }
        Ok(())
    }

    pub(super) fn store_matrix(
        &mut self,
        m: &mut Machine<'_, '_>,
        src: &[Src],
        form: Move,
        addr: Addr,
        on: u32,
    ) -> Run<()> {
        let rows = self.rows(m, addr, form.rows() * src.len(), on, true)?;
        let line = self.site(m).line;
        for (matrix, source) in src.iter().enumerate() {
            for lane in lanes(on) {
                let cell = self.get(m, lane, *source)?;
                let step = if matches!(form, Move::Halves { .. }) { 2 } else { 1 };
                for i in (0..4).step_by(step) {
                    let (row, byte) = form.byte(lane as u32, 0, i);
                    let address = rows[form.rows() * matrix + row as usize] + u64::from(byte);
                    let data = ((cell.value >> (8 * i)) as u16).to_le_bytes();
                    let tags = [cell.tags[i as usize / 2]];
                    m.world.shared.write(
                        self.thread(lane),
                        line,
                        address,
                        &data[..step],
                        &tags[..step / 2],
                    )?;
                }
            }
        }
        Ok(())
    }

    /// `movmatrix`: the lane that held (row, col) in the row form now holds it in the column form.
    pub(super) fn transpose(
        &mut self,
        m: &Machine<'_, '_>,
        dst: Reg,
        src: Src,
        on: u32,
    ) -> Run<()> {
        self.full(on, "movmatrix")?;
        let mut results = Vec::with_capacity(LANES);
        for lane in 0..LANES {
            let (mut value, mut tags) = (0, [0; 4]);
            for i in 0..2 {
                let (row, col) = fragment::m8n8(lane as u32, i, true);
                let cell = self.get(m, (4 * row + col / 2) as usize, src)?;
                value |= (cell.value >> (16 * (col % 2)) & 0xffff) << (16 * i);
                tags[i as usize] = cell.tags[col as usize % 2];
            }
            results.push(Cell::new(value, tags));
        }
        results.into_iter().enumerate().for_each(|(lane, cell)| self.set(lane, dst, cell));
        Ok(())
    }

    /// `factors`: what the rows of A and the columns of B are multiplied by, run by run along the
    /// depth.
    pub(super) fn multiply(
        &mut self,
        m: &mut Machine<'_, '_>,
        form: MmaForm,
        d: &[Reg],
        [a, b, c]: [&[Src]; 3],
        factors: Option<(Vec<f64>, Vec<f64>)>,
        on: u32,
    ) -> Run<()> {
        self.full(on, "mma")?;
        let k = form.k as usize;
        let (mut a_values, mut b_values) = (vec![0f64; 16 * k], vec![0f64; k * 8]);
        let a_tags = self.gather(m, a, form.a, |lane, i, e, v| {
            // Eight rows lie as the columns of B do.
            let (row, col) = if form.m == 8 {
                (fragment::b(lane, i, e).1, fragment::b(lane, i, e).0)
            } else {
                fragment::a(lane, i, e)
            };
            a_values[row as usize * k + col as usize] = v;
        })?;
        let b_tags = self.gather(m, b, form.b, |lane, i, e, v| {
            let (row, col) = fragment::b(lane, i, e);
            b_values[row as usize * 8 + col as usize] = v;
        })?;
        let mut results = Vec::with_capacity(4 * LANES);
        for lane in 0..LANES {
            for i in 0..form.m / 4 {
                let (row, col) = fragment::c(lane as u32, i);
                let start = self.accumulator(m, lane, i as usize, form.acc, c)?;
                let (row, col) = (row as usize, col as usize);
                let scale = |n: usize| {
                    factors.as_ref().map_or(1.0, |(rows, cols)| {
                        let runs = cols.len() / 8;
                        let run = n * runs / k;
                        rows[row * runs + run] * cols[col * runs + run]
                    })
                };
                let products =
                    (0..k).map(|n| a_values[row * k + n] * b_values[n * 8 + col] * scale(n));
                results.push(start + products.sum::<f64>());
            }
        }
        for lane in 0..LANES {
            let each = form.m as usize / 4;
            let r = &results[each * lane..each * (lane + 1)];
            match form.acc {
                Ty::F32 => (0..4).for_each(|i| {
                    self.set(lane, d[i], Cell::plain((r[i] as f32).to_bits().into()))
                }),
                Ty::F16 => (0..2).for_each(|i| {
                    let pair = [r[2 * i], r[2 * i + 1]].map(|v| u64::from(f32_to_f16(v as f32)));
                    self.set(lane, d[i], Cell::plain(pair[0] | pair[1] << 16));
                }),
                _ => (0..each).for_each(|i| self.set(lane, d[i], Cell::plain(r[i] as i64 as u64))),
            }
        }
        let site = self.site(m);
        m.world.recorder.matrix(MatrixEvent {
            line: site.line,
            block: site.block,
            warp: site.warp,
            shape: [form.m, 8, form.k],
            element_bits: form.a.bits(),
            a: a_tags,
            b: b_tags,
            lanes: LANES as u32,
            groups_in_flight: self.groups_in_flight() + m.barriers_in_flight(),
            copies_in_flight: 0,
        });
        Ok(())
    }

    /// With g = lane / 4 and t = lane % 4: register i of A holds row g + 8(i & 1), column t + 4(i
    /// >> 1), of B row t + 4i, column g, of C row g + 8(i >> 1), column 2t + (i & 1).
    pub(super) fn multiply_f64(
        &mut self,
        m: &mut Machine<'_, '_>,
        shape: [u32; 3],
        d: &[Reg],
        [a, b, c]: [&[Src]; 3],
        on: u32,
    ) -> Run<()> {
        self.full(on, "mma")?;
        let (mut left, mut right) =
            (vec![[0f64; 16]; shape[2] as usize], vec![[0f64; 8]; shape[2] as usize]);
        let (mut a_tags, mut b_tags) = (Vec::new(), Vec::new());
        for lane in 0..LANES {
            let (g, t) = (lane / 4, lane % 4);
            for (i, reg) in a.iter().enumerate() {
                let cell = self.get(m, lane, *reg)?;
                left[t + 4 * (i >> 1)][g + 8 * (i & 1)] = f64::from_bits(cell.value);
                a_tags.push(cell.tags[0]);
            }
            for (i, reg) in b.iter().enumerate() {
                let cell = self.get(m, lane, *reg)?;
                right[t + 4 * i][g] = f64::from_bits(cell.value);
                b_tags.push(cell.tags[0]);
            }
        }
        let mut results = Vec::new();
        for lane in 0..LANES {
            for (i, reg) in c.iter().enumerate() {
                let (row, col) = (lane / 4 + 8 * (i >> 1), 2 * (lane % 4) + (i & 1));
                let sum: f64 = left.iter().zip(&right).map(|(x, y)| x[row] * y[col]).sum();
                results.push((lane, d[i], f64::from_bits(self.get(m, lane, *reg)?.value) + sum));
            }
        }
        for (lane, reg, value) in results {
            self.set(lane, reg, Cell::plain(value.to_bits()));
        }
        let site = self.site(m);
        let (line, block, warp) = (site.line, site.block, site.warp);
        m.world.recorder.matrix(MatrixEvent {
            line,
            block,
            warp,
            shape,
            element_bits: 64,
            a: a_tags,
            b: b_tags,
            lanes: LANES as u32,
            groups_in_flight: self.groups_in_flight() + m.barriers_in_flight(),
            copies_in_flight: 0,
        });
        Ok(())
    }

    /// Hands each element (lane, index, elements a register, value) to `put`; returns the tags.
    fn gather(
        &self,
        m: &Machine<'_, '_>,
        regs: &[Src],
        ty: Ty,
        mut put: impl FnMut(u32, u32, u32, f64),
    ) -> Run<Vec<Tag>> {
        let bits = ty.bits();
        let per_register = 32 / bits;
        let mut tags = Vec::new();
        for lane in 0..LANES {
            for (r, reg) in regs.iter().enumerate() {
                let cell = self.get(m, lane, *reg)?;
                for i in 0..per_register {
                    let raw = cell.value >> (i * bits) & ((1 << bits) - 1);
                    let value = super::unit::value(ty, raw);
                    put(lane as u32, r as u32 * per_register + i, per_register, value);
                    tags.push(cell.tags[(i * bits / 16) as usize]);
                }
            }
        }
        Ok(tags)
    }

    fn accumulator(
        &self,
        m: &Machine<'_, '_>,
        lane: usize,
        i: usize,
        ty: Ty,
        c: &[Src],
    ) -> Run<f64> {
        Ok(match ty {
            Ty::F32 => f32::from_bits(self.get(m, lane, c[i])?.value as u32).into(),
            Ty::F16 => {
                f16_to_f32((self.get(m, lane, c[i / 2])?.value >> (16 * (i % 2))) as u16).into()
            }
            _ => f64::from(self.get(m, lane, c[i])?.value as u32 as i32),
        })
    }
}
