//! Products into tensor memory: their factors, their scales, what they add to.

use super::super::op::Ty;
use super::super::run::{Machine, Run, Warp};
use super::super::unit::value;
use super::descriptor::{Descriptor, Word};
use super::{Factors, Kind, TensorCell, invalid};
use crate::fault::{Clash, FaultKind};
use crate::number::{e4m3_to_f32, e8m0_to_f32};
use crate::report::MatrixEvent;

impl Warp {
    /// The elements of A in tensor memory, (row, depth).
    pub(super) fn held_elements(
        &mut self,
        m: &mut Machine<'_, '_>,
        lane: usize,
        at: u32,
        ty: Ty,
        [rows, depth]: [u32; 2],
    ) -> Run<Vec<f64>> {
        let (thread, number) = (self.thread(lane), m.tensor.products + 1);
        let (row, column, per) = (at >> 16, at & 0xffff, 32 / ty.bits());
        let starts: &[u32] = if rows == 64 { &[0, 16] } else { &[0] };
        if !starts.contains(&row) {
            return Err(invalid(format!("A of {rows} rows does not begin at lane {row}")));
        }
        let mut out = Vec::with_capacity((rows * depth) as usize);
        for i in 0..rows {
            let l = row + if rows == 64 { i / 16 * 32 + i % 16 } else { i };
            for k in 0..depth {
                let c = column + k / per;
                m.tensor.check_allocated(c).map_err(|clash| clash.by(thread))?;
                let cell = m.tensor.at(l, c);
                cell.used = (thread, number);
                let cell = *cell;
                if cell.written.1 == 0 && cell.stored.1 == 0 {
                    let sentence = format!(
                        "A is read from lane {l}, column {c} of tensor memory, where nothing was written"
                    );
                    return Err(Clash::new(FaultKind::UninitialisedTensor, sentence).by(thread));
                }
                self.check_stored(&cell, "read for A").map_err(|clash| clash.by(thread))?;
                if cell.written.0 != thread {
                    self.check_done(&cell, thread, "read for A")?;
                }
                let bits = u64::from(cell.value) >> (k % per * ty.bits()) & ((1 << ty.bits()) - 1);
                out.push(value(ty, bits));
            }
        }
        Ok(out)
    }

    /// The elements of an operand, (outer, depth), through its descriptor.
    pub(super) fn elements(
        &mut self,
        m: &mut Machine<'_, '_>,
        lane: usize,
        bits: u64,
        ty: Ty,
        [outer, depth]: [u32; 2],
        outer_major: bool,
    ) -> Run<Vec<f64>> {
        let descriptor = Descriptor::read(bits).map_err(invalid)?;
        let (thread, line) = (self.thread(lane), self.site(m).line);
        let bytes = u64::from(ty.bits().div_ceil(8));
        let mut out = Vec::with_capacity((outer * depth) as usize);
        // Two elements of four bits in a byte.
        let each = 8 / ty.bits().min(8);
        for o in 0..outer {
            for k in 0..depth / each {
                let (along, across) = if outer_major { (o, k) } else { (k, o) };
                let address =
                    descriptor.address(outer_major, u64::from(along) * bytes, across.into());
                let mut data = [0; 2];
                let data = &mut data[..bytes as usize];
                m.world.shared.read_by_unit(thread, line, address, data, &mut [])?;
                m.world.shared.hold(thread, address, bytes as u32)?;
                m.tensor.open.push((thread, address, bytes as u32));
                let bits = data.iter().rev().fold(0, |sum, &b| sum << 8 | u64::from(b));
                match each {
                    2 => out.extend([value(ty, bits & 15), value(ty, bits >> 4)]),
                    _ => out.push(value(ty, bits)),
                }
            }
        }
        Ok(out)
    }

    /// Copies 32 rows of 16 bytes to four columns of each group of lanes.
    pub(super) fn copy_scales(
        &mut self,
        m: &mut Machine<'_, '_>,
        lane: usize,
        at: u32,
        bits: u64,
    ) -> Run<()> {
        let descriptor = Descriptor::read(bits).map_err(invalid)?;
        if descriptor.span != 16 || at >> 16 != 0 {
            return Err(invalid(
                "a copy of scales takes rows of 16 bytes that are not permuted, to lane 0",
            ));
        }
        let (thread, line) = (self.thread(lane), self.site(m).line);
        m.tensor.products += 1;
        let number = m.tensor.products;
        for row in 0..32u32 {
            for word in 0..4u32 {
                let address = descriptor.address(false, u64::from(4 * word), row.into());
                let (mut data, mut unknown) = ([0; 4], 0u8);
                for (byte, place) in (0u64..).zip(&mut data) {
                    if m.world.shared.is_written(thread, address + byte)? {
                        m.world.shared.read_by_unit(
                            thread,
                            line,
                            address + byte,
                            std::slice::from_mut(place),
                            &mut [],
                        )?;
                    } else {
                        unknown |= 1 << byte;
                    }
                }
                m.world.shared.hold(thread, address, 4)?;
                m.tensor.open.push((thread, address, 4));
                for group in 0..4 {
                    let (l, c) = (32 * group + row, at + word);
                    m.tensor.check_allocated(c).map_err(|clash| clash.by(thread))?;
                    let cell = *m.tensor.at(l, c);
                    self.check_unread(&cell, "overwritten").map_err(|clash| clash.by(thread))?;
                    self.check_stored(&cell, "overwritten").map_err(|clash| clash.by(thread))?;
                    self.check_done(
                        &TensorCell { written: cell.used, ..cell },
                        thread,
                        "overwritten by a copy",
                    )?;
                    if cell.written.0 != thread {
                        self.check_done(&cell, thread, "overwritten")?;
                    }
                    *m.tensor.at(l, c) = TensorCell {
                        value: u32::from_le_bytes(data),
                        unknown,
                        written: (thread, number),
                        ..TensorCell::default()
                    };
                }
            }
        }
        Ok(())
    }

    /// The scales of so many rows, run by run.
    pub(super) fn factors(
        &mut self,
        m: &mut Machine<'_, '_>,
        lane: usize,
        at: u32,
        rows: u32,
        first: u32,
        kind: Kind,
    ) -> Run<Vec<f64>> {
        let thread = self.thread(lane);
        let number = m.tensor.products + 1;
        let mut out = Vec::new();
        for (row, run) in (0..rows).flat_map(|row| (0..kind.runs()).map(move |run| (row, run))) {
            let (column, id) = (at + row / 32, first + run);
            m.tensor.check_allocated(column).map_err(|clash| clash.by(thread))?;
            let mut bytes = Vec::new();
            for group in 0..4 {
                let cell = m.tensor.at(32 * group + row % 32, column);
                cell.used = (thread, number);
                let cell = *cell;
                if cell.written.1 == 0 || cell.unknown >> id & 1 == 1 {
                    let sentence =
                        format!("no scale was written to column {column} of tensor memory");
                    return Err(Clash::new(FaultKind::UninitialisedTensor, sentence).by(thread));
                }
                if cell.written.0 != thread {
                    self.check_done(&cell, thread, "taken for scales")?;
                }
                bytes.push((cell.value >> (8 * id)) as u8);
            }
            if bytes.iter().any(|byte| *byte != bytes[0]) {
                return Err(invalid(format!(
                    "the scale of row {row} is not the same in all groups of lanes"
                )));
            }
            out.push(match kind {
                Kind::Narrow { is_float: true, .. } => e4m3_to_f32(bytes[0] & 0x7f).into(),
                _ => e8m0_to_f32(bytes[0]).into(),
            });
        }
        Ok(out)
    }

    #[allow(clippy::too_many_arguments)]
    pub(super) fn product(
        &mut self,
        m: &mut Machine<'_, '_>,
        lane: usize,
        (kind, adds): (Kind, bool),
        at: u32,
        (a, b): (Factors, u64),
        word: &Word,
        factors: &[Vec<f64>; 2],
    ) -> Run<()> {
        let depth = kind.depth();
        let a = match a {
            Factors::Shared(bits) => {
                self.elements(m, lane, bits, word.a, [word.m, depth], word.outer[0])?
            }
            Factors::Cells(at) if !word.outer[0] => {
                self.held_elements(m, lane, at, word.a, [word.m, depth])?
            }
            Factors::Cells(_) => {
                return Err(invalid("A in tensor memory has its depth along columns"));
            }
        };
        let b = self.elements(m, lane, b, word.b, [word.n, depth], word.outer[1])?;
        let (row, column) = (at >> 16, at & 0xffff);
        let starts: &[u32] = if word.m == 64 { &[0, 16] } else { &[0] };
        if !starts.contains(&row) {
            return Err(invalid(format!(
                "an accumulator of {} rows does not begin at lane {row}",
                word.m
            )));
        }
        m.tensor.products += 1;
        let site = self.site(m);
        let event = MatrixEvent {
            line: site.line,
            block: site.block,
            warp: site.warp,
            shape: [word.m, word.n, depth],
            element_bits: word.a.bits(),
            a: Vec::new(),
            b: Vec::new(),
            lanes: 1,
            groups_in_flight: self.groups_in_flight() + m.barriers_in_flight(),
            copies_in_flight: 0,
        };
        m.world.recorder.matrix(event);
        let (thread, number, k) = (self.thread(lane), m.tensor.products, depth as usize);
        for i in 0..word.m {
            // 128 rows in 128 lanes; 64 in the first sixteen of each quarter.
            let l = row + if word.m == 64 { i / 16 * 32 + i % 16 } else { i };
            for j in 0..word.n {
                m.tensor.check_allocated(column + j).map_err(|clash| clash.by(thread))?;
                let cell = *m.tensor.at(l, column + j);
                self.check_unread(&cell, "written").map_err(|clash| clash.by(thread))?;
                self.check_stored(&cell, "written").map_err(|clash| clash.by(thread))?;
                if cell.used.0 != thread {
                    self.check_done(&TensorCell { written: cell.used, ..cell }, thread, "written")?;
                }
                if cell.written.0 != thread {
                    self.check_done(&cell, thread, "written")?;
                }
                if adds && cell.written.1 == 0 && cell.stored.1 == 0 {
                    let sentence = format!(
                        "a product is added to lane {l}, column {} of tensor memory, where nothing was written",
                        column + j
                    );
                    return Err(Clash::new(FaultKind::UninitialisedTensor, sentence).by(thread));
                }
                let (x, y) = (&a[i as usize * k..][..k], &b[j as usize * k..][..k]);
                let runs = kind.runs().max(1) as usize;
                let terms = x.iter().zip(y).enumerate().map(|(at, (x, y))| {
                    let run = at * runs / k;
                    let [of_a, of_b] = factors;
                    x * y * of_a[i as usize * runs + run] * of_b[j as usize * runs + run]
                });
                let sum = terms.sum::<f64>();
                let old = if adds { f64::from(f32::from_bits(cell.value)) } else { 0.0 };
                *m.tensor.at(l, column + j) = TensorCell {
                    value: ((old + sum) as f32).to_bits(),
                    written: (thread, number),
                    ..TensorCell::default()
                };
            }
        }
        Ok(())
    }
}
