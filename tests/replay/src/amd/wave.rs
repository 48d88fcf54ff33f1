//! The state of one wave: registers with what is known of them, and outstanding operations.
//!
//! A register that a load will write is in flight until the right counter was waited for; any use
//! of it before is a fault. Vector memory completes in order under `vmcnt`, LDS in order under
//! `lgkmcnt`, scalar loads in any order, so that only `lgkmcnt(0)` covers them.

use std::collections::VecDeque;

use super::hazard::{Hazards, User};
use super::op::{ACC, Counts, EXEC, Gfx, Header, M0, Queue, Src, Subnormals, VCC};
use super::tracked::Tracked;
use crate::fault::{Clash, FaultKind};
use crate::global::{By, Global};
use crate::shared::Shared;
use crate::tags::Tag;

/// Most lanes of a wave.
pub(super) const LANES: usize = 64;

pub(super) type Run<T> = Result<T, Clash>;

/// Name of a vector register.
pub(super) fn name(register: u16) -> String {
    if register >= ACC { format!("a{}", register - ACC) } else { format!("v{register}") }
}

/// Name of a scalar register.
pub(super) fn scalar_name(register: u8) -> String {
    match register {
        VCC | 107 => "vcc".to_string(),
        M0 => "m0".to_string(),
        EXEC | 127 => "exec".to_string(),
        _ => format!("s{register}"),
    }
}

/// An operation that was issued and not waited for.
pub(super) struct Pending {
    pub id: u32,
    pub line: u32,
    pub scalar: bool,
    pub vector: Vec<u16>,
    pub sgprs: Vec<u8>,
    /// LDS bytes touched: thread, address, length.
    pub spans: Vec<(u32, u64, u32)>,
    pub is_write: bool,
    /// A copy to LDS.
    pub copy: Option<u32>,
    /// LDS bytes that a copy reads.
    pub held: Vec<(u32, u64, u32)>,
    /// Global bytes touched.
    pub global: Vec<(u32, u64, u32)>,
    /// Whether they are written.
    pub stores: bool,
}

pub(super) struct Wave {
    pub index: u32,
    pub pc: usize,
    pub line: u32,
    pub done: bool,
    pub at_barrier: bool,
    /// It has signalled a barrier and not waited for it.
    pub signalled: bool,
    /// Lanes.
    pub size: usize,
    pub scc: Option<bool>,
    pub hazards: Hazards,
    s: [u32; 128],
    s_defined: [bool; 128],
    s_flight: [u32; 128],
    v: Vec<u32>,
    v_tags: Vec<[Tag; 2]>,
    v_defined: Vec<u8>,
    v_flight: Vec<u32>,
    queues: [VecDeque<Pending>; 5],
    pub(super) gfx: Gfx,
    pub subnormals: Subnormals,
    next_id: u32,
}

impl Wave {
    pub fn new(index: u32, lanes: u32, header: &Header) -> Self {
        let (size, gfx) = (header.wave, header.gfx);
        let mut wave = Wave {
            index,
            pc: 0,
            line: 0,
            done: false,
            at_barrier: false,
            signalled: false,
            size: size as usize,
            scc: None,
            hazards: Hazards::new(gfx),
            s: [0; 128],
            s_defined: [false; 128],
            s_flight: [0; 128],
            v: vec![0; 512 * LANES],
            v_tags: vec![[0; 2]; 512 * LANES],
            v_defined: vec![0; 512 * LANES],
            v_flight: vec![0; 512],
            queues: Default::default(),
            gfx,
            subnormals: header.subnormals,
            next_id: 1,
        };
        let exec = if lanes == 64 { u64::MAX } else { (1 << lanes) - 1 };
        wave.put_scalar(EXEC, exec as u32);
        wave.put_scalar(EXEC + 1, (exec >> 32) as u32);
        wave
    }

    pub fn thread(&self, lane: usize) -> u32 {
        self.index * self.size as u32 + lane as u32
    }

    pub fn exec(&self) -> u64 {
        u64::from(self.s[EXEC as usize]) | u64::from(self.s[EXEC as usize + 1]) << 32
    }

    pub fn lanes(&self) -> impl Iterator<Item = usize> + use<> {
        let exec = self.exec();
        (0..LANES).filter(move |l| exec >> l & 1 == 1)
    }

    /// Faults unless all lanes take part.
    pub fn full(&self, what: &str) -> Run<()> {
        if self.exec() == u64::MAX >> (LANES - self.size) {
            return Ok(());
        }
        Err(Clash::new(
            FaultKind::WarpDivergence,
            format!("{what} with EXEC = {:#x}: it needs all lanes", self.exec()),
        ))
    }

    /// Sets a scalar register without any check.
    pub fn put_scalar(&mut self, register: u8, value: u32) {
        self.s[register as usize] = value;
        self.s_defined[register as usize] = true;
    }

    fn line_of(&self, id: u32) -> u32 {
        self.queues.iter().flatten().find(|p| p.id == id).map_or(0, |p| p.line)
    }

    pub fn in_flight(&self, register: u16) -> bool {
        self.v_flight[register as usize] != 0
    }

    fn flight(&self, id: u32, name: String, verb: &str) -> Run<()> {
        if id == 0 {
            return Ok(());
        }
        let queue = Queue::ALL.into_iter().find(|q| self.queue(*q).iter().any(|p| p.id == id));
        let counter = queue.map_or("no counter", |q| q.name(self.gfx));
        let sentence = format!(
            "{name} is {verb} while the load at line {} is outstanding ({counter})",
            self.line_of(id)
        );
        Err(Clash::new(FaultKind::RegisterInFlight, sentence))
    }

    pub fn scalar(&self, register: u8) -> Run<u32> {
        self.flight(self.s_flight[register as usize], scalar_name(register), "read")?;
        if self.s_defined[register as usize] {
            return Ok(self.s[register as usize]);
        }
        let sentence = format!("{} is read, nothing wrote it", scalar_name(register));
        Err(Clash::new(FaultKind::UninitialisedRegister, sentence))
    }

    /// A scalar source of one or two words.
    pub fn scalar_src(&self, src: Src, words: u8) -> Run<u64> {
        match src {
            Src::S(first) if words == 2 => {
                Ok(u64::from(self.scalar(first)?) | u64::from(self.scalar(first + 1)?) << 32)
            }
            Src::S(first) => Ok(self.scalar(first)?.into()),
            Src::K(value) => Ok(if words == 2 { value } else { value & 0xffff_ffff }),
            Src::V(register) => unreachable!("{} as a scalar source", name(register)),
        }
    }

    /// Writes a scalar register; `by_vector` for the hazards. Call after `hazards.advance`.
    pub fn set_scalar(&mut self, register: u8, value: u32, by_vector: bool) -> Run<()> {
        self.flight(self.s_flight[register as usize], scalar_name(register), "written")?;
        self.put_scalar(register, value);
        self.hazards.wrote_scalar(register, by_vector);
        Ok(())
    }

    /// Checks that an instruction may read a vector register.
    pub fn check_read(&self, register: u16, user: User) -> Run<()> {
        self.flight(self.v_flight[register as usize], name(register), "read")?;
        self.hazards.reads(register, user)
    }

    /// Checks that an instruction may write a vector register. A load may follow another of its own
    /// counter, which keeps the order.
    pub fn check_write(&mut self, register: u16, user: User, queue: Option<Queue>) -> Run<()> {
        let id = self.v_flight[register as usize];
        // gfx125x reports loads in order, but its data may reach registers in any (AMDGPUUsage,
        // memory model of gfx125x).
        let keeps_order = queue != Some(Queue::Vm) || !self.gfx.is_gfx125();
        let same_queue =
            keeps_order && queue.is_some_and(|q| self.queue(q).iter().any(|p| p.id == id));
        if !same_queue {
            self.flight(id, name(register), "written")?;
        }
        self.hazards.writes(register, user)
    }

    /// Value of a lane, whatever is known of it.
    pub fn tracked(&self, register: u16, lane: usize) -> Tracked {
        let at = register as usize * LANES + lane;
        Tracked { value: self.v[at], tags: self.v_tags[at], defined: self.v_defined[at] }
    }

    /// Value of a lane that must be fully written (`halves`: bit 0 low, bit 1 high).
    pub fn lane_value(&self, register: u16, lane: usize, halves: u8) -> Run<Tracked> {
        let tracked = self.tracked(register, lane);
        if tracked.defined & halves == halves {
            return Ok(tracked);
        }
        let what = match tracked.defined & 3 {
            0 => "nothing wrote it".to_string(),
            1 => "only its low half was written (a 16-bit load does not keep the other half under SRAM ECC)".to_string(),
            _ => "only its high half was written (a 16-bit load does not keep the other half under SRAM ECC)".to_string(),
        };
        let sentence = format!("{} is read in lane {lane}, {what}", name(register));
        Err(Clash::new(FaultKind::UninitialisedRegister, sentence).by(self.thread(lane)))
    }

    /// A source of a lane; checks of the register itself are the caller's.
    pub fn source(&self, src: Src, lane: usize) -> Run<Tracked> {
        match src {
            Src::V(register) => Ok(self.tracked(register, lane)),
            Src::S(register) => Ok(Tracked::plain(self.scalar(register)?)),
            Src::K(value) => Ok(Tracked::plain(value as u32)),
        }
    }

    pub fn set_lane(&mut self, register: u16, lane: usize, value: Tracked) {
        let at = register as usize * LANES + lane;
        self.v[at] = value.value;
        self.v_tags[at] = value.tags;
        self.v_defined[at] = value.defined;
    }

    /// What a counter counts.
    pub fn queue(&self, queue: Queue) -> &VecDeque<Pending> {
        &self.queues[queue as usize]
    }

    /// Copies to LDS and loads from global memory that were issued and not waited for.
    pub fn copies_in_flight(&self) -> u32 {
        let loads = |p: &&Pending| !p.global.is_empty() && !p.stores;
        self.queues.iter().flatten().filter(|p| p.copy.is_some() || loads(p)).count() as u32
    }

    /// Queues an operation and marks its registers.
    pub fn issue(&mut self, queue: Queue, mut pending: Pending) {
        pending.id = self.next_id;
        self.next_id += 1;
        for &register in &pending.vector {
            self.v_flight[register as usize] = pending.id;
        }
        for &register in &pending.sgprs {
            self.s_flight[register as usize] = pending.id;
        }
        self.queues[queue as usize].push_back(pending);
    }

    fn complete(&mut self, pending: &Pending, shared: &mut Shared) {
        for flight in self.v_flight.iter_mut().chain(&mut self.s_flight) {
            if *flight == pending.id {
                *flight = 0;
            }
        }
        if let Some(copy) = pending.copy {
            shared.end_copy(copy);
        }
        for &(thread, address, len) in &pending.held {
            shared.let_go(thread, pending.line, address, len);
        }
    }

    /// `s_waitcnt` and its like: by queue, how many may be outstanding.
    pub fn wait(&mut self, counts: Counts, shared: &mut Shared) {
        for (at, count) in counts.into_iter().enumerate() {
            // Scalar loads come back in any order, and so do copies to LDS and from it.
            let both = |p: &Pending| (p.copy.is_some(), !p.held.is_empty());
            let mixed = at == Queue::Async as usize
                && self.queues[at].iter().any(|p| both(p) != both(&self.queues[at][0]));
            let scalar = mixed || self.queues[at].iter().any(|p| p.scalar);
            while count.is_some_and(|n| self.queues[at].len() > n as usize && (n == 0 || !scalar)) {
                let pending = self.queues[at].pop_front().expect("an outstanding operation");
                self.complete(&pending, shared);
            }
        }
    }

    /// LDS and memory operations that were not waited for happen behind the barrier.
    pub fn carry_over(&self, shared: &mut Shared, global: &mut Global) {
        for pending in self.queues.iter().flatten() {
            for &(thread, address, len) in &pending.global {
                let by = By { thread, line: pending.line, step: u64::MAX };
                global.carry_over(shared, by, (address, len.into()), pending.stores);
            }
        }
        for pending in self.queue(Queue::Lgkm) {
            for &(thread, address, len) in &pending.spans {
                shared.carry_over(thread, pending.line, address, len, pending.is_write);
            }
        }
    }
}
