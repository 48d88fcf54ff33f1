//! Runs one block of a PTX program.
//!
//! A warp runs the lanes with the smallest program counter together, so that diverged lanes meet
//! again behind a branch. Warps run one after the other up to the next barrier: the order does not
//! matter, because a result that depends on it is a fault.

use std::collections::VecDeque;

use super::bulk::{Stored, Stores};
use super::op::{Op, Program, Src, Stmt, Threads};
use super::parse::SHARED_BASE;
use super::phase::Phases;
use super::register::Cell;
use super::tmem::{TensorMemory, View};
use super::unit::Unit;
use crate::fault::{Clash, FaultKind};
use crate::global::Global;
use crate::launch::Launch;
use crate::memory::Memory;
use crate::recorder::{Recorder, Site, World};
use crate::shared::Shared;

pub(super) const LANES: usize = 32;

pub(super) type Run<T> = Result<T, Clash>;

#[derive(Default)]
pub(super) struct Copies {
    pub open: Vec<u32>,
    pub groups: VecDeque<Vec<u32>>,
}

pub(super) struct Warp {
    pub index: u32,
    pub live: u32,
    pc: [usize; LANES],
    pub cells: Vec<Cell>,
    pub copies: Vec<Copies>,
    pub stores: Vec<Stores>,
    pub unit: Unit,
    pub tensor: View,
    waiting: Option<(u64, Option<u64>)>,
    /// It waits for a phase of the barrier at this address, or for [`REGISTERS`].
    pub blocked: Option<u64>,
    /// Registers of each thread.
    registers: u32,
    line: u32,
}

/// Everything a warp executes against.
pub(super) struct Machine<'a, 'b> {
    pub program: &'a Program,
    pub launch: &'a Launch,
    pub params: &'a [u8],
    pub world: World<'a, 'b>,
    pub phases: Phases,
    pub tensor: TensorMemory,
    pub stored: Stored,
    steps: u64,
    /// Registers that warps have given up.
    free_registers: u32,
}

/// In place of a barrier's address: registers that other warps are to give up.
const REGISTERS: u64 = u64::MAX;

/// Runs block `block`; the error carries its line.
pub(crate) fn run_block(
    program: &Program,
    launch: &Launch,
    params: &[u8],
    block: [u32; 3],
    memory: &mut Memory,
    recorder: &mut Recorder<'_>,
) -> Result<(), (u32, Clash)> {
    let threads = launch.threads();
    let bytes = program.shared_bytes + launch.dynamic_shared;
    if params.len() as u32 != program.param_bytes {
        let sentence = format!(
            "{} bytes of parameters given, the entry takes {}",
            params.len(),
            program.param_bytes
        );
        return Err((0, Clash::new(FaultKind::Parameter, sentence)));
    }
    let fits = match program.threads {
        Threads::Any => true,
        Threads::Exactly(n) => threads == n,
        Threads::AtMost(n) => threads <= n,
    };
    if !fits {
        let sentence = format!("{threads} threads, but the entry asks for {:?}", program.threads);
        return Err((0, Clash::new(FaultKind::Parameter, sentence)));
    }
    recorder.report.shared_base = SHARED_BASE;
    recorder.report.shared_bytes = bytes;
    let shared = Shared::new(SHARED_BASE, bytes, threads, LANES as u32, false);
    let world = World { memory, shared, global: Global::default(), recorder, block, step: 0 };
    let mut machine = Machine {
        program,
        launch,
        params,
        world,
        phases: Phases::default(),
        tensor: TensorMemory::default(),
        stored: Stored::default(),
        steps: 0,
        free_registers: 0,
    };
    let mut warps: Vec<Warp> = (0..threads.div_ceil(LANES as u32))
        .map(|index| {
            let lanes = (threads - index * LANES as u32).min(LANES as u32);
            Warp {
                index,
                live: if lanes == 32 { u32::MAX } else { (1 << lanes) - 1 },
                pc: [0; LANES],
                cells: vec![Cell::default(); program.cells as usize * LANES],
                unit: Unit::default(),
                tensor: View::default(),
                stores: vec![Stores::default(); LANES],
                copies: (0..LANES).map(|_| Copies::default()).collect(),
                waiting: None,
                blocked: None,
                registers: program.entry_registers.unwrap_or(0),
                line: 0,
            }
        })
        .collect();
    loop {
        let mut steps = 0;
        for warp in &mut warps {
            // Others may have ended the phase that it waits for: it tries again.
            warp.blocked = None;
            while warp.live != 0 && warp.waiting.is_none() && warp.blocked.is_none() {
                steps += 1;
                warp.step(&mut machine).map_err(|c| machine.world.shared.choose(warp.line, c))?;
            }
        }
        // A warp that only tried again made one step.
        if steps > warps.iter().filter(|w| w.blocked.is_some()).count()
            && warps.iter().any(|w| w.blocked.is_some())
        {
            continue;
        }
        machine.world.shared.early_read()?;
        if warps.iter().all(|w| w.live == 0) {
            if let Some((line, clash)) =
                warps.iter().find_map(|w| w.unread().map(|clash| (w.line, clash)))
            {
                return Err((line, clash));
            }
            if machine.barriers_in_flight() > 0 {
                let sentence = "the block ends while a unit's copy into its memory is on its way";
                return Err((warps[0].line, Clash::new(FaultKind::AsyncNotWaited, sentence)));
            }
            return machine.tensor.leftover().map_or(Ok(()), |clash| Err((warps[0].line, clash)));
        }
        machine.release(&mut warps, threads)?;
    }
}

impl Machine<'_, '_> {
    /// Lets the warps of a complete barrier go on.
    fn release(&mut self, warps: &mut [Warp], threads: u32) -> Result<(), (u32, Clash)> {
        for id in 0..16 {
            let here: Vec<usize> = (0..warps.len())
                .filter(|&w| warps[w].waiting.is_some_and(|(i, _)| i == id))
                .collect();
            let Some(&first) = here.first() else { continue };
            let count = warps[first].waiting.and_then(|(_, c)| c);
            if let Some(&odd) =
                here.iter().find(|&&w| warps[w].waiting.and_then(|(_, c)| c) != count)
            {
                let sentence = format!("barrier {id} is met with different thread counts");
                return Err((warps[odd].line, Clash::new(FaultKind::BarrierDivergence, sentence)));
            }
            let present: u64 = here.iter().map(|&w| u64::from(warps[w].live.count_ones())).sum();
            if present == count.unwrap_or(u64::from(threads)) {
                self.world.shared.barrier(&here);
                self.world.recorder.report.barriers += 1;
                let mut views: Vec<(u32, &mut View)> = warps
                    .iter_mut()
                    .filter(|w| here.contains(&(w.index as usize)))
                    .map(|w| (w.index, &mut w.tensor))
                    .collect();
                View::meet(&mut views);
                for w in here {
                    warps[w].waiting = None;
                }
                return Ok(());
            }
        }
        // Late work arrives when nobody gets anywhere without it.
        let waited: Vec<u64> = warps.iter().filter_map(|w| w.blocked).collect();
        if !waited.is_empty() && self.arrive_late(&waited) {
            return Ok(());
        }
        if let Some(stuck) = warps.iter().find(|w| w.blocked.is_some()) {
            let address = stuck.blocked.unwrap_or(0);
            if address == REGISTERS {
                let sentence = "registers are taken that no warp gives up";
                let clash = Clash::new(FaultKind::PhaseNeverEnds, sentence).by(stuck.index * 32);
                return Err((stuck.line, clash));
            }
            let sentence = format!(
                "warp {} waits for a phase that never ends; {}",
                stuck.index,
                self.world.shared.state(address)
            );
            return Err((
                stuck.line,
                Clash::new(FaultKind::PhaseNeverEnds, sentence).at(address).by(stuck.index * 32),
            ));
        }
        let stuck = warps.iter().find(|w| w.waiting.is_some()).expect("a waiting warp");
        let gone = warps.iter().filter(|w| w.live == 0).count();
        let sentence = format!(
            "warp {} waits here for threads that never come; {gone} of {} warps have ended",
            stuck.index,
            warps.len()
        );
        Err((stuck.line, Clash::new(FaultKind::BarrierDivergence, sentence).by(stuck.index * 32)))
    }
}

/// Lanes of a mask.
pub(super) fn lanes(mask: u32) -> impl Iterator<Item = usize> {
    (0..LANES).filter(move |l| mask >> l & 1 == 1)
}

impl Warp {
    pub fn thread(&self, lane: usize) -> u32 {
        self.index * LANES as u32 + lane as u32
    }

    pub fn site(&self, m: &Machine<'_, '_>) -> Site {
        Site { line: self.line, block: m.world.block, warp: self.index }
    }

    fn step(&mut self, m: &mut Machine<'_, '_>) -> Run<()> {
        let pc = lanes(self.live).map(|l| self.pc[l]).min().expect("a live lane");
        let active =
            lanes(self.live).filter(|&l| self.pc[l] == pc).fold(0, |mask, l| mask | 1 << l);
        let program = m.program;
        let Some(stmt) = program.code.get(pc) else {
            self.live &= !active;
            return Ok(());
        };
        self.line = stmt.line;
        m.steps += 1;
        m.world.step = m.steps;
        if m.steps > m.launch.step_limit {
            return Err(Clash::new(
                FaultKind::StepLimit,
                "the step limit is reached: does this loop end?",
            ));
        }
        let mut on = active;
        if let Some(guard) = stmt.guard {
            for lane in lanes(active) {
                if (self.get(m, lane, Src::Reg(guard.reg))?.value != 0) == guard.negated {
                    on &= !(1 << lane);
                }
            }
        }
        m.world.recorder.count(pc, on.count_ones());
        for lane in lanes(active) {
            self.pc[lane] = pc + 1;
        }
        self.execute(m, stmt, on)
    }

    fn execute(&mut self, m: &mut Machine<'_, '_>, stmt: &Stmt, on: u32) -> Run<()> {
        if on == 0 {
            return Ok(());
        }
        match &stmt.op {
            Op::Bra { target } => lanes(on).for_each(|l| self.pc[l] = *target),
            Op::Exit => self.live &= !on,
            Op::Fence => {}
            Op::Barrier { id, count } => {
                self.whole(on, "a barrier")?;
                let lane = on.trailing_zeros() as usize;
                let id = self.get(m, lane, *id)?.value;
                let count = count.map(|c| self.get(m, lane, c)).transpose()?.map(|c| c.value);
                if id > 15 || count.is_some_and(|c| c % 32 != 0) {
                    let sentence = "a barrier is 0 to 15 and counts whole warps";
                    return Err(Clash::new(FaultKind::InvalidOperand, sentence));
                }
                self.waiting = Some((id, count));
            }
            Op::WarpSync { mask } => {
                let lane = on.trailing_zeros() as usize;
                let mask = self.get(m, lane, *mask)?.value as u32;
                if mask != on || mask != self.live {
                    let sentence =
                        format!("bar.warp.sync of lanes {mask:#x} is executed by {on:#x}");
                    return Err(Clash::new(FaultKind::WarpDivergence, sentence));
                }
                m.world.shared.barrier(&[self.index as usize]);
            }
            Op::Shfl { .. } => self.shuffle(m, &stmt.op, on)?,
            Op::LdMatrix { dst, form, addr } => self.load_matrix(m, dst, *form, *addr, on)?,
            Op::StMatrix { src, form, addr } => self.store_matrix(m, src, *form, *addr, on)?,
            Op::MovMatrix { dst, src } => self.transpose(m, *dst, *src, on)?,
            Op::MmaF64 { shape, d, a, b, c } => self.multiply_f64(m, *shape, d, [a, b, c], on)?,
            Op::Mma { form, d, a, b, c } => self.multiply(m, *form, d, [a, b, c], None, on)?,
            Op::Scaled(s) => {
                let factors = s.factors(self, m)?;
                self.multiply(m, s.form, &s.d, [&s.a, &s.b, &s.c], Some(factors), on)?;
            }
            Op::Unit { form, d, a, b, read } => self.unit(m, *form, d, a, [*b, *read], on)?,
            Op::UnitFence => self.unit_fence(),
            Op::UnitCommit => self.unit_commit(),
            Op::UnitWait(n) => self.unit_wait(m, *n as usize),
            Op::MakeBarrier { addr, count } => self.make_barrier(m, *addr, *count, on)?,
            Op::PublishBarriers => {
                m.world.shared.publish(&lanes(on).map(|l| self.thread(l)).collect::<Vec<_>>())
            }
            Op::Announce { addr, bytes } => self.announce(m, *addr, *bytes, on)?,
            Op::Arrive { addr } => self.arrive_all(m, *addr, on)?,
            Op::SetMaxRegisters { count, more } => self.set_registers(m, (*count, *more), on)?,
            Op::TryWait { done, addr, parity } => {
                if !self.try_wait(m, *done, *addr, *parity, on)? {
                    lanes(on).for_each(|l| self.pc[l] -= 1);
                }
            }
            Op::TensorCopy { dst, map, at, barrier } => {
                self.tensor_copy(m, [*dst, *map, *barrier], at, on)?
            }
            Op::TensorStore { map, at, src } => self.tensor_store(m, [*src, *map], at, on)?,
            Op::CommitStores => self.commit_stores(on),
            Op::WaitStores { keep, read } => self.wait_stores(m, *keep as usize, *read, on),
            Op::Memory(op) => self.tensor_op(m, op, on)?,
            Op::ProxyFence => {
                m.world.shared.proxy_fence(&lanes(on).map(|l| self.thread(l)).collect::<Vec<_>>())
            }
            Op::Ld { space, ty, dst, addr } => self.load(m, *space, *ty, dst, *addr, on)?,
            Op::St { space, ty, src, addr } => self.store(m, *space, *ty, src, *addr, on)?,
            Op::Red { how, dst, src, compared, addr } => {
                self.reduce(m, *how, (*dst, *src, *compared), *addr, on)?
            }
            Op::CpAsync { bytes, dst, src, src_bytes } => {
                self.copy(m, *bytes, [*dst, *src], *src_bytes, on)?
            }
            Op::CommitGroup => lanes(on).for_each(|l| {
                let group = std::mem::take(&mut self.copies[l].open);
                self.copies[l].groups.push_back(group);
            }),
            Op::WaitGroup(n) => lanes(on).for_each(|l| self.wait(m, l, *n as usize)),
            Op::WaitAll => lanes(on).for_each(|l| {
                let group = std::mem::take(&mut self.copies[l].open);
                self.copies[l].groups.push_back(group);
                self.wait(m, l, 0);
            }),
            op => {
                for lane in lanes(on) {
                    self.lane(m, op, lane).map_err(|c| c.by(self.thread(lane)))?;
                }
            }
        }
        Ok(())
    }

    /// Groups of copies that bring something and that the first lane has not waited for.
    pub fn groups_in_flight(&self) -> u32 {
        let groups = self
            .copies
            .first()
            .map_or(0, |lane| lane.groups.iter().filter(|group| !group.is_empty()).count());
        u32::try_from(groups).unwrap_or(u32::MAX)
    }

    /// Faults unless all live lanes take part.
    pub fn whole(&self, on: u32, what: &str) -> Run<()> {
        if on == self.live {
            return Ok(());
        }
        let sentence =
            format!("{what} is executed by lanes {on:#x} while lanes {:#x} live", self.live);
        Err(Clash::new(FaultKind::WarpDivergence, sentence)
            .by(self.thread(on.trailing_zeros() as usize)))
    }

    /// `setmaxnreg`: registers go to what all warps share, or come from there when there are so many.
    fn set_registers(
        &mut self,
        m: &mut Machine<'_, '_>,
        (count, more): (u32, bool),
        on: u32,
    ) -> Run<()> {
        self.whole(on, "setmaxnreg")?;
        let refuse = |sentence: String| {
            Err(Clash::new(FaultKind::InvalidOperand, sentence).by(self.index * LANES as u32))
        };
        if !(24..=256).contains(&count) || !count.is_multiple_of(8) {
            return refuse(format!("{count} registers: 24 to 256, a multiple of 8"));
        }
        if self.registers == 0 {
            return refuse("nothing says how many registers a thread has at entry".to_string());
        }
        if more != (count > self.registers) && count != self.registers {
            return refuse(format!("{count} registers, of {} before", self.registers));
        }
        let (has, wants) = (self.registers * LANES as u32, count * LANES as u32);
        if wants > has && wants - has > m.free_registers {
            self.blocked = Some(REGISTERS);
            lanes(on).for_each(|l| self.pc[l] -= 1);
            return Ok(());
        }
        m.free_registers = (m.free_registers + has) - wants;
        self.registers = count;
        Ok(())
    }

    /// Faults unless all 32 lanes take part.
    pub fn full(&self, on: u32, what: &str) -> Run<()> {
        if on == u32::MAX {
            return Ok(());
        }
        let sentence = format!("{what} is executed by lanes {on:#x}: it needs all 32");
        Err(Clash::new(FaultKind::WarpDivergence, sentence)
            .by(self.thread(on.trailing_zeros() as usize)))
    }

    fn wait(&mut self, m: &mut Machine<'_, '_>, lane: usize, keep: usize) {
        while self.copies[lane].groups.len() > keep {
            for id in self.copies[lane].groups.pop_front().expect("a group") {
                m.world.shared.end_copy(id);
                m.world.global.end(&m.world.shared, id);
            }
        }
    }
}
