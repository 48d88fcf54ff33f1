//! PTX registers, special registers and address operands of one lane.

use super::alu;
use super::op::{Addr, Mask, Reg, Special, Src};
use super::run::{LANES, Machine, Run, Warp};
use crate::fault::{Clash, FaultKind};
use crate::tags::{Tag, Word};

/// A register of one lane: up to 64 bits and where each 16 of them came from.
#[derive(Clone, Copy, Default)]
pub(super) struct Cell {
    pub value: u64,
    pub tags: [Tag; 4],
    pub defined: bool,
    /// Not written by a lane since the last `wgmma.fence`.
    pub fenced: bool,
}

impl Cell {
    pub fn new(value: u64, tags: [Tag; 4]) -> Self {
        Cell { value, tags, defined: true, fenced: false }
    }

    pub fn plain(value: u64) -> Self {
        Cell::new(value, [0; 4])
    }

    pub fn low(self) -> Word {
        Word { value: self.value as u32, tags: [self.tags[0], self.tags[1]] }
    }
}

impl Warp {
    /// Reads an operand of one lane (128-bit registers: the low half).
    pub fn get(&self, m: &Machine<'_, '_>, lane: usize, src: Src) -> Run<Cell> {
        match src {
            Src::Reg(reg) => {
                let cell = self.cells[reg.cell as usize * LANES + lane];
                if self.unit.is_busy(reg.cell) || self.tensor.is_busy(reg.cell) {
                    let sentence =
                        "a result of the matrix unit is read and its group has not been waited for";
                    return Err(
                        Clash::new(FaultKind::RegisterInFlight, sentence).by(self.thread(lane))
                    );
                }
                if cell.defined {
                    return Ok(cell);
                }
                let sentence = "a register is read that nothing wrote on this path";
                Err(Clash::new(FaultKind::UninitialisedRegister, sentence).by(self.thread(lane)))
            }
            Src::Imm(value) => Ok(Cell::plain(value)),
            Src::Shared(at) => Ok(Cell::plain(at.into())),
            Src::Special(special) => Ok(Cell::plain(self.special(m, lane, special).into())),
        }
    }

    fn special(&self, m: &Machine<'_, '_>, lane: usize, special: Special) -> u32 {
        let block = m.launch.block;
        let (thread, lane) = (self.thread(lane), lane as u32);
        match special {
            Special::Tid(0) => thread % block[0],
            Special::Tid(1) => thread / block[0] % block[1],
            Special::Tid(_) => thread / (block[0] * block[1]),
            Special::Ntid(i) => block[i],
            Special::Ctaid(i) => m.world.block[i],
            Special::Nctaid(i) => m.launch.grid[i],
            Special::LaneId => lane,
            Special::WarpId => self.index,
            Special::NWarpId => m.launch.threads().div_ceil(32),
            Special::WarpSize => 32,
            Special::LaneMask(mask) => {
                let below = (1u32 << lane) - 1;
                match mask {
                    Mask::Lt => below,
                    Mask::Le => below | 1 << lane,
                    Mask::Eq => 1 << lane,
                    Mask::Ge => !below,
                    Mask::Gt => !below & !(1 << lane),
                }
            }
        }
    }

    pub fn set(&mut self, lane: usize, reg: Reg, mut cell: Cell) {
        cell.value = alu::truncate(cell.value, reg.bits);
        self.cells[reg.cell as usize * LANES + lane] = cell;
    }

    /// The address operand of one lane.
    pub fn address(&self, m: &Machine<'_, '_>, lane: usize, addr: Addr) -> Run<u64> {
        Ok(self.get(m, lane, addr.base)?.value.wrapping_add(addr.offset as u64))
    }
}
