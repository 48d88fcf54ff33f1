//! Global memory as the threads of one block see it: who read and wrote each byte last, in the time
//! of [`Shared`].
//!
//! A read that is not ordered behind another thread's write, and a write that is not ordered behind
//! another thread's read or write, is a fault. Threads that hold copies of one element may each
//! store it: the same bytes, by the same instruction. A copy into shared memory reads from its issue
//! until its thread has waited for it.
//!
//! Not modelled: fences between the proxies in global memory; what other blocks do.

use std::collections::{BTreeMap, HashMap};

use crate::atomic::Combine;
use crate::fault::{Clash, FaultKind};
use crate::memory::Memory;
use crate::shared::Shared;

/// Bytes that are recorded together.
const PAGE: u64 = 256;
/// Several lanes of a warp.
const MANY: u32 = u32::MAX;

/// Who touches memory: the thread, its line, and the number of the warp's step.
#[derive(Clone, Copy)]
pub(crate) struct By {
    pub thread: u32,
    pub line: u32,
    pub step: u64,
}

#[derive(Clone, Copy)]
struct Touch {
    thread: u32,
    time: u32,
    line: u32,
    /// 0: nobody touched it.
    step: u64,
    /// An atomic operation: others that do the same need no order with it.
    atomic: Option<Combine>,
}

const NOBODY: Touch = Touch { thread: 0, time: 0, line: 0, step: 0, atomic: None };

struct Page {
    writes: Vec<Touch>,
    /// Other writes of the same bits that nothing orders, by the byte's place.
    also: BTreeMap<usize, Vec<Touch>>,
    /// Readers by warp.
    reads: Vec<(u32, Vec<Touch>)>,
    /// Copies that may still read, and the last of them.
    open: Vec<(u32, Touch)>,
}

/// What is known of the bytes that were touched.
#[derive(Default)]
pub(crate) struct Global {
    pages: HashMap<u64, Page>,
    /// What copies read that nobody has waited for: by the copy's number.
    open: HashMap<u32, Vec<(By, u64, u64)>>,
}

/// The bytes of a span by pages: number of the page, first and last place in it.
fn pages(address: u64, len: u64) -> impl Iterator<Item = (u64, usize, usize)> {
    let end = address + len;
    (address / PAGE..end.div_ceil(PAGE)).map(move |page| {
        let first = address.max(page * PAGE) - page * PAGE;
        let last = end.min((page + 1) * PAGE) - page * PAGE;
        (page, first as usize, last as usize)
    })
}

/// Whether a touch is over for a thread.
fn is_over(shared: &Shared, touch: &Touch, warp: u32, me: u32) -> bool {
    if touch.step == 0 {
        return true;
    }
    let thread = if touch.thread == MANY { shared.other_lane(warp, me) } else { touch.thread };
    shared.ordered(thread, touch.time, me)
}

fn race(kind: FaultKind, verb: &str, what: &str, other: &Touch, address: u64, by: By) -> Clash {
    let who = match other.thread {
        MANY => "several lanes".to_string(),
        thread => format!("thread {thread}"),
    };
    let sentence = format!(
        "global memory is {verb} that {who} {what} at line {}: nothing orders them",
        other.line
    );
    Clash::new(kind, sentence).at(address).by(by.thread)
}

impl Global {
    fn page(&mut self, number: u64) -> &mut Page {
        self.pages.entry(number).or_insert_with(|| Page {
            writes: vec![NOBODY; PAGE as usize],
            also: BTreeMap::new(),
            reads: Vec::new(),
            open: vec![(0, NOBODY); PAGE as usize],
        })
    }

    /// Checks and records a read.
    pub fn read(&mut self, shared: &Shared, by: By, address: u64, len: u64) -> Result<(), Clash> {
        self.check_read(shared, by, address, len)?;
        self.note_read(shared, by, shared.time(by.thread), address, len);
        Ok(())
    }

    fn check_read(&mut self, shared: &Shared, by: By, address: u64, len: u64) -> Result<(), Clash> {
        for (number, first, last) in pages(address, len) {
            let page = self.page(number);
            let also = page.also.range(first..last);
            let also = also.flat_map(|(k, touches)| touches.iter().map(|touch| (*k, touch)));
            let writes = (first..last).map(|k| (k, &page.writes[k]));
            for (k, write) in writes.chain(also) {
                if !is_over(shared, write, 0, by.thread) {
                    let at = number * PAGE + k as u64;
                    let kind = FaultKind::RaceReadAfterWrite;
                    return Err(race(kind, "read", "wrote", write, at, by));
                }
            }
        }
        Ok(())
    }

    fn note_read(&mut self, shared: &Shared, by: By, time: u32, address: u64, len: u64) {
        let warp = shared.warp_of(by.thread);
        for (number, first, last) in pages(address, len) {
            let page = self.page(number);
            let index = match page.reads.iter().position(|(own, _)| *own == warp) {
                Some(index) => index,
                None => {
                    page.reads.push((warp, vec![NOBODY; PAGE as usize]));
                    page.reads.len() - 1
                }
            };
            for read in &mut page.reads[index].1[first..last] {
                let again = read.step != 0 && read.time == time && read.thread != by.thread;
                let thread = if again { MANY } else { by.thread };
                *read = Touch { thread, time, line: by.line, step: by.step, atomic: None };
            }
        }
    }

    /// A copy's read, which goes on until the copy is waited for.
    pub fn begin(
        &mut self,
        shared: &Shared,
        copy: u32,
        by: By,
        address: u64,
        len: u64,
    ) -> Result<(), Clash> {
        self.check_read(shared, by, address, len)?;
        let touch =
            Touch { thread: by.thread, time: 0, line: by.line, step: by.step, atomic: None };
        for (number, first, last) in pages(address, len) {
            for open in &mut self.page(number).open[first..last] {
                *open = (open.0 + 1, touch);
            }
        }
        self.open.entry(copy).or_default().push((by, address, len));
        Ok(())
    }

    /// The copy has been waited for.
    pub fn end(&mut self, shared: &Shared, copy: u32) {
        for (by, address, len) in self.open.remove(&copy).unwrap_or_default() {
            for (number, first, last) in pages(address, len) {
                self.page(number).open[first..last].iter_mut().for_each(|open| open.0 -= 1);
            }
            self.note_read(shared, by, shared.time(by.thread), address, len);
        }
    }

    /// What a unit reads for a thread, with a copy that completes on a barrier: until others have seen
    /// what it does now.
    pub fn read_by_unit(
        &mut self,
        shared: &Shared,
        by: By,
        barrier: u64,
        (address, len): (u64, u64),
    ) -> Result<(), Clash> {
        self.check_read(shared, by, address, len)?;
        let (unit, time) = shared.unit_now(barrier);
        self.note_read(shared, By { thread: unit, ..by }, time, address, len);
        Ok(())
    }

    /// Checks a write; `record` says whether it is one of the thread's own, which is recorded.
    pub fn write(
        &mut self,
        shared: &Shared,
        memory: &Memory,
        by: By,
        (address, data, record, atomic): (u64, &[u8], bool, Option<Combine>),
    ) -> Result<(), Clash> {
        let time = shared.time(by.thread);
        let now = Touch { thread: by.thread, time, line: by.line, step: by.step, atomic };
        for (number, first, last) in pages(address, data.len() as u64) {
            let page = self.page(number);
            for k in first..last {
                let at = number * PAGE + k as u64;
                let same = memory.byte(at) == Some(data[(at - address) as usize]);
                if let (1.., touch) = &page.open[k] {
                    let kind = FaultKind::AsyncOverwrite;
                    return Err(race(
                        kind,
                        "written",
                        "copies from, and has not waited,",
                        touch,
                        at,
                        by,
                    ));
                }
                for (warp, reads) in &page.reads {
                    if !is_over(shared, &reads[k], *warp, by.thread) {
                        let kind = FaultKind::RaceWriteAfterRead;
                        return Err(race(kind, "written", "read", &reads[k], at, by));
                    }
                }
                let others = page.also.get(&k).into_iter().flatten();
                let mut copies = Vec::new();
                for write in others.chain([&page.writes[k]]).filter(|w| w.step != 0) {
                    let apart = write.step == by.step && write.thread != by.thread;
                    if is_over(shared, write, 0, by.thread) && !apart {
                        continue;
                    }
                    let is_alike = atomic.is_some() && atomic == write.atomic;
                    let is_free = is_alike || same && write.line == by.line;
                    if !is_free {
                        let kind = FaultKind::RaceWriteAfterWrite;
                        return Err(race(kind, "written", "wrote", write, at, by));
                    }
                    copies.push(*write);
                }
                if record {
                    if copies.is_empty() {
                        page.also.remove(&k);
                    } else {
                        page.also.insert(k, copies);
                    }
                    page.writes[k] = now;
                }
            }
        }
        Ok(())
    }

    /// Accesses of a warp that were issued and not waited for when it passed a barrier: they happen
    /// at the new time.
    pub fn carry_over(
        &mut self,
        shared: &Shared,
        by: By,
        (address, len): (u64, u64),
        writes: bool,
    ) {
        if !writes {
            return self.note_read(shared, by, shared.time(by.thread), address, len);
        }
        let time = shared.time(by.thread);
        for (number, first, last) in pages(address, len) {
            let page = self.page(number);
            for write in page.also.range_mut(first..last).flat_map(|(_, touches)| touches) {
                write.time = if write.thread == by.thread { time } else { write.time };
            }
            for write in &mut page.writes[first..last] {
                write.time = if write.thread == by.thread { time } else { write.time };
            }
        }
    }
}
