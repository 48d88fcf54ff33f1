//! Runs one workgroup of an AMDGCN program.
//!
//! Waves run one after the other up to the next barrier or their end; lanes of a wave run in
//! lockstep under EXEC.

use super::op::{Cond, EXEC, M0, Op, Program, Queue, Src, Stmt, TTMP, VCC};
use super::tracked::Tracked;
use super::wave::{Pending, Run, Wave};
use crate::fault::{Clash, FaultKind};
use crate::global::Global;
use crate::launch::Launch;
use crate::memory::Memory;
use crate::recorder::{Recorder, Site, World};
use crate::shared::Shared;

/// The kernel arguments lie here.
pub(super) const KERNARG: u64 = 0x50_0000_0000;

/// Everything a wave executes against.
pub(super) struct Machine<'a, 'b> {
    pub program: &'a Program,
    pub launch: &'a Launch,
    pub params: &'a [u8],
    pub world: World<'a, 'b>,
    steps: u64,
}

/// Runs block `block`; the error carries its line.
pub(crate) fn run_block(
    program: &Program,
    launch: &Launch,
    params: &[u8],
    block: [u32; 3],
    memory: &mut Memory,
    recorder: &mut Recorder<'_>,
) -> Result<(), (u32, Clash)> {
    if let Some((line, kind, sentence)) = program.objections.first() {
        return Err((*line, Clash::new(*kind, sentence.clone())));
    }
    if program.header.kernarg_bytes.is_some_and(|n| params.len() as u32 > n) {
        let sentence =
            format!("{} bytes of parameters given, the header declares fewer", params.len());
        return Err((0, Clash::new(FaultKind::Parameter, sentence)));
    }
    let threads = launch.threads();
    if program.header.most_threads.is_some_and(|n| threads > n) {
        let sentence = format!("{threads} threads are more than the metadata allow");
        return Err((0, Clash::new(FaultKind::Parameter, sentence)));
    }
    let lds_bytes = program.header.lds_bytes + launch.dynamic_shared;
    recorder.report.shared_bytes = lds_bytes;
    let size = program.header.wave;
    let shared = Shared::new(0, lds_bytes, threads, size, true);
    let world = World { memory, shared, global: Global::default(), recorder, block, step: 0 };
    let mut machine = Machine { program, launch, params, world, steps: 0 };
    let mut waves: Vec<Wave> =
        (0..threads.div_ceil(size)).map(|w| machine.start(w, threads)).collect();
    loop {
        for wave in &mut waves {
            while !wave.done && !wave.at_barrier {
                wave.step(&mut machine).map_err(|c| machine.world.shared.choose(wave.line, c))?;
            }
        }
        machine.world.shared.early_read()?;
        let waiting: Vec<usize> = (0..waves.len()).filter(|&w| waves[w].at_barrier).collect();
        let Some(&first) = waiting.first() else {
            return Ok(());
        };
        if waiting.len() < waves.len() {
            let sentence = format!(
                "wave {first} waits here, but {} of {} waves have ended",
                waves.len() - waiting.len(),
                waves.len()
            );
            return Err((
                waves[first].line,
                Clash::new(FaultKind::BarrierDivergence, sentence).by(waves[first].thread(0)),
            ));
        }
        machine.world.shared.barrier(&waiting);
        machine.world.recorder.report.barriers += 1;
        for wave in &mut waves {
            wave.at_barrier = false;
            wave.carry_over(&mut machine.world.shared, &mut machine.world.global);
        }
    }
}

impl Machine<'_, '_> {
    /// Registers as the hardware sets them.
    fn start(&self, index: u32, threads: u32) -> Wave {
        let header = &self.program.header;
        let lanes = (threads - index * header.wave).min(header.wave);
        let mut wave = Wave::new(index, lanes, header);
        if let Some(at) = header.kernarg_at {
            wave.put_scalar(at, KERNARG as u32);
            wave.put_scalar(at + 1, (KERNARG >> 32) as u32);
        }
        let mut next = header.user_sgprs;
        let [x, y, z] = self.world.block;
        if header.gfx.is_gfx12() {
            // The numbers of a group stand in trap temporaries, two of them in one.
            wave.put_scalar(TTMP + 9, x);
            wave.put_scalar(TTMP + 7, y | z << 16);
        }
        for axis in 0..3 {
            if header.block_ids[axis] && !header.gfx.is_gfx12() {
                wave.put_scalar(next, self.world.block[axis]);
                next += 1;
            }
        }
        let [bx, by, _] = self.launch.block;
        for lane in 0..lanes as usize {
            let thread = wave.thread(lane);
            let [x, y, z] = [thread % bx, thread / bx % by, thread / (bx * by)];
            // x, y, z are packed, 10 bits each; y and z only on demand.
            let y = if header.workitem_id >= 1 { y << 10 } else { 0 };
            let z = if header.workitem_id >= 2 { z << 20 } else { 0 };
            wave.set_lane(0, lane, Tracked::plain(x | y | z));
        }
        wave
    }
}

fn unwritten(what: &str) -> Clash {
    Clash::new(FaultKind::UninitialisedRegister, format!("{what} is read, nothing wrote it"))
}

impl Wave {
    pub fn site(&self, m: &Machine<'_, '_>) -> Site {
        Site { line: self.line, block: m.world.block, warp: self.index }
    }

    fn step(&mut self, m: &mut Machine<'_, '_>) -> Run<()> {
        let program = m.program;
        let Some(stmt) = program.code.get(self.pc) else {
            return Err(Clash::new(
                FaultKind::InvalidOperand,
                "the wave runs past the end of the text without s_endpgm",
            ));
        };
        self.line = stmt.line;
        self.pc += 1;
        m.steps += 1;
        m.world.step = m.steps;
        if m.steps > m.launch.step_limit {
            return Err(Clash::new(
                FaultKind::StepLimit,
                "the step limit is reached: does this loop end?",
            ));
        }
        m.world.recorder.count(self.pc - 1, self.exec().count_ones());
        let states = if let Op::Nop { states } = stmt.op { states } else { 1 };
        self.execute(m, stmt, states)
    }

    fn execute(&mut self, m: &mut Machine<'_, '_>, stmt: &Stmt, states: u32) -> Run<()> {
        if stmt.mnemonic.starts_with("v_") {
            let is_trans = ["v_exp_", "v_log_", "v_rcp_", "v_rsq_", "v_sqrt_", "v_sin_", "v_cos_"]
                .iter()
                .any(|word| stmt.mnemonic.starts_with(word));
            self.hazards.vector_instruction(is_trans);
            let result = self.perform(m, stmt, states);
            if let (true, Op::Lane { src, .. }) = (is_trans, &stmt.op) {
                src.iter().for_each(|s| {
                    if let Src::V(register) = s {
                        self.hazards.trans_read(*register)
                    }
                });
            }
            return result;
        }
        self.perform(m, stmt, states)
    }

    fn perform(&mut self, m: &mut Machine<'_, '_>, stmt: &Stmt, states: u32) -> Run<()> {
        match &stmt.op {
            Op::Lane { .. }
            | Op::Bitop3 { .. }
            | Op::Wide { .. }
            | Op::Compare { .. }
            | Op::Cndmask { .. } => return self.vector(&stmt.op),
            Op::ReadLane { .. } | Op::WriteLane { .. } | Op::Swap { .. } => {
                return self.cross_lane(&stmt.op);
            }
            Op::Mfma(mfma) => return self.matrix(m, mfma),
            Op::Scaled(scaled) => return self.scaled(m, scaled),
            Op::Wmma(wmma) => return self.wmma(m, wmma),
            &Op::OtherHalf { dst, src } => return self.other_half(dst, src),
            Op::Ds(ds) => return self.lds(m, ds),
            Op::Permute { .. } => return self.permute(m, &stmt.op),
            &Op::Lanes { pattern, dst, data, ds } => return self.lanes_by(pattern, dst, data, ds),
            Op::Vmem(vmem) => return self.vmem(m, vmem),
            _ => self.hazards.advance(states),
        }
        match &stmt.op {
            Op::Scalar { f, dst, a, b } => {
                let (a, b) = (self.scalar_src(a.0, a.1)?, self.scalar_src(b.0, b.1)?);
                let needs_scc = matches!(stmt.mnemonic.as_str(), "s_addc_u32" | "s_subb_u32");
                let scc = if needs_scc { self.scc.ok_or_else(|| unwritten("scc"))? } else { false };
                let (value, scc) = f(a, b, scc);
                self.store_scalar(*dst, value)?;
                self.scc = scc.or(self.scc);
            }
            Op::Select { dst, a, b } => {
                let pick = if self.scc.ok_or_else(|| unwritten("scc"))? { a } else { b };
                let value = self.scalar_src(*pick, dst.1)?;
                self.store_scalar(Some(*dst), value)?;
            }
            Op::SaveExec { f, dst, src } => {
                let (exec, value) = (self.exec(), self.scalar_src(*src, 2)?);
                self.store_scalar(Some((*dst, 2)), exec)?;
                let (value, scc) = f(value, exec, false);
                self.store_scalar(Some((EXEC, 2)), value)?;
                self.scc = scc;
            }
            Op::ScalarLoad { dst, words, base, offset, imm } => {
                let offset = self.scalar_src(*offset, 1)?.wrapping_add(*imm as u64);
                let address = self.scalar_src(Src::S(*base), 2)?.wrapping_add(offset);
                if !address.is_multiple_of(4) {
                    return Err(Clash::new(
                        FaultKind::Misaligned,
                        "a scalar load must be a multiple of 4",
                    )
                    .at(address));
                }
                let mut data = vec![0; 4 * *words as usize];
                self.read_constant(m, address, &mut data)?;
                for (i, word) in data.chunks_exact(4).enumerate() {
                    let register = dst + i as u8;
                    self.set_scalar(
                        register,
                        u32::from_le_bytes([word[0], word[1], word[2], word[3]]),
                        false,
                    )?;
                }
                let sgprs = (*dst..*dst + *words).collect();
                let queue = if m.program.header.gfx.is_gfx12() { Queue::Km } else { Queue::Lgkm };
                self.issue(queue, Pending { scalar: true, sgprs, ..self.pending() });
            }
            Op::Branch { cond, target } => {
                let taken = match cond {
                    Cond::Always => true,
                    Cond::Scc(want) => self.scc.ok_or_else(|| unwritten("scc"))? == *want,
                    Cond::Vccz(zero) => (self.scalar_src(Src::S(VCC), 2)? == 0) == *zero,
                    Cond::Execz(zero) => (self.exec() == 0) == *zero,
                };
                if taken {
                    self.pc = *target;
                }
            }
            Op::End => self.done = true,
            Op::Nop { .. } | Op::Hint => {}
            Op::Wait(counts) => self.wait(*counts, &mut m.world.shared),
            Op::Barrier => self.at_barrier = true,
            Op::Signal => {
                if std::mem::replace(&mut self.signalled, true) {
                    return Err(Clash::new(
                        FaultKind::BarrierDivergence,
                        "a barrier is signalled twice and not waited for",
                    ));
                }
            }
            Op::WaitSignal => {
                if !std::mem::take(&mut self.signalled) {
                    return Err(Clash::new(
                        FaultKind::BarrierDivergence,
                        "a barrier is waited for that the wave has not signalled",
                    ));
                }
                self.at_barrier = true;
            }
            _ => unreachable!("handled above"),
        }
        Ok(())
    }

    /// An empty queue entry for this line.
    pub fn pending(&self) -> Pending {
        Pending {
            id: 0,
            line: self.line,
            scalar: false,
            vector: Vec::new(),
            sgprs: Vec::new(),
            spans: Vec::new(),
            is_write: false,
            copy: None,
            held: Vec::new(),
            global: Vec::new(),
            stores: false,
        }
    }

    fn read_constant(&self, m: &mut Machine<'_, '_>, address: u64, data: &mut [u8]) -> Run<()> {
        let offset = address.wrapping_sub(KERNARG);
        if offset >= 1 << 32 {
            return m.world.load((self.thread(0), self.line), address, data, &mut []);
        }
        let Some(bytes) = m.params.get(offset as usize..offset as usize + data.len()) else {
            let sentence = format!(
                "{} bytes at {offset} are not a part of the {} parameter bytes",
                data.len(),
                m.params.len()
            );
            return Err(Clash::new(FaultKind::Parameter, sentence).at(address));
        };
        data.copy_from_slice(bytes);
        Ok(())
    }

    fn store_scalar(&mut self, dst: Option<(u8, u8)>, value: u64) -> Run<()> {
        let Some((first, words)) = dst else {
            return Ok(());
        };
        self.set_scalar(first, value as u32, false)?;
        if words == 2 {
            self.set_scalar(first + 1, (value >> 32) as u32, false)?;
        }
        Ok(())
    }

    /// M0 as a load to LDS uses it.
    pub fn m0(&self) -> Run<u32> {
        self.hazards.reads_m0()?;
        self.scalar(M0)
    }
}
