//! Pieces: what registers a kernel gets by where its tiles would not fit whole.
//!
//! A tile's registers are one tuple as long as that is enough. Where it is not, a tuple falls into
//! the runs that instructions want side by side: each lives from its own first use to its own last,
//! so that a tile that is used up register by register makes room for the one that is made of it.
//! And tuples are placed by size, the largest first, so that no room is lost between them. No
//! instruction is added.

use crate::registers::allocate::{FreeRegisters, NONE, Owners, by_start, find_live_ranges};
use crate::step::{
    Inst, InstError, InstKind, LoopSpan, Slot, TupleStride, VRegTuple, member_offset,
};
use heapless::VecView;
use lanebook_tables::{ClassId, RegisterClass, Tables};

/// Registers of a tuple that stay together: bit `i` says so of `i` and the next one.
type Joined = [u64; 4];

/// Gives the tuples of a class their places where they did not fit whole, and answers one past the
/// highest number.
///
/// # Errors
/// [`InstError::Pool`] when they do not fit like that either.
#[inline(never)]
pub(crate) fn place(
    tables: &Tables<'_>,
    steps: &VecView<Inst>,
    registers: &mut VecView<VRegTuple>,
    patterns: &VecView<TupleStride>,
    loops: &VecView<LoopSpan>,
    (class, of): (u8, &RegisterClass<'_>),
) -> Result<u16, InstError> {
    split_all(steps, registers, patterns, class);
    for tuple in registers.iter_mut() {
        (tuple.live, tuple.next) = ((u16::MAX, 0), NONE);
    }
    find_live_ranges(tables, steps, registers, patterns, loops, &mut Owners::new());
    if let Some(high) = pack(registers, class, of) {
        return Ok(high);
    }
    let peak = most_at_once(registers, class);
    Err(InstError::Pool {
        class: ClassId(u16::from(class)),
        wanted: peak.wanted.max(of.pool.1.saturating_add(1)),
        op: steps.get(usize::from(peak.at)).and_then(Inst::op),
    })
}

/// Splits the tuples of a class, as far as there is room for the pieces.
fn split_all(
    steps: &VecView<Inst>,
    registers: &mut VecView<VRegTuple>,
    patterns: &VecView<TupleStride>,
    class: u8,
) {
    let mut at = 0;
    while let Some(&tuple) = registers.get(at) {
        at = at.saturating_add(1);
        if tuple.class != class
            || tuple.pinned
            || tuple.given
            || tuple.kept
            || tuple.count < 2
            || tuple.live.0 == u16::MAX
        {
            continue;
        }
        let joined = joined(steps, patterns, &tuple);
        let is_apart = |k: u16| {
            joined
                .get(usize::from(k >> 6))
                .is_some_and(|word| word.wrapping_shr(u32::from(k & 63)) & 1 == 0)
        };
        let cuts = (0..tuple.count.saturating_sub(1)).filter(|k| is_apart(*k)).count();
        if cuts == 0 || cuts > registers.capacity().saturating_sub(registers.len()) {
            continue;
        }
        // Room behind the tuple, then the pieces into it.
        let behind = at;
        for _ in 0..cuts {
            let _ = registers.push(tuple);
        }
        let mut to = registers.len();
        while let Some(last) = to.checked_sub(1).filter(|last| *last >= behind.saturating_add(cuts))
        {
            if let Some(moved) =
                last.checked_sub(cuts).and_then(|from| registers.get(from)).copied()
                && let Some(place) = registers.get_mut(last)
            {
                *place = moved;
            }
            to = last;
        }
        let mut begin = 0u16;
        let mut slot = behind.saturating_sub(1);
        for k in 0..tuple.count {
            if k.saturating_add(1) < tuple.count && !is_apart(k) {
                continue;
            }
            let first = tuple.first.saturating_add(begin);
            if let Some(place) = registers.get_mut(slot) {
                *place = VRegTuple {
                    count: k.saturating_add(1).saturating_sub(begin),
                    first,
                    physical: first,
                    ..tuple
                };
            }
            (begin, slot) = (k.saturating_add(1), slot.saturating_add(1));
        }
        at = slot;
    }
}

/// Which registers of a tuple some operand wants side by side.
fn joined(steps: &VecView<Inst>, patterns: &VecView<TupleStride>, tuple: &VRegTuple) -> Joined {
    let mut out: Joined = [0; 4];
    let from = usize::from(tuple.live.0);
    let count = usize::from(tuple.live.1).saturating_sub(from).saturating_add(1);
    for step in steps.iter().skip(from).take(count).filter(|s| s.purpose != InstKind::Label) {
        for arg in &step.args {
            let (first, last) = match *arg {
                Slot::Reg { class, count, first } if class == tuple.class => {
                    (first, first.saturating_add(count.saturating_sub(1)))
                }
                Slot::Spread { class, count, first, pattern } if class == tuple.class => {
                    let reach = |p: &TupleStride| {
                        (0..count).map(|member| member_offset(p, member)).max().unwrap_or(0)
                    };
                    (
                        first,
                        first.saturating_add(patterns.get(usize::from(pattern)).map_or(0, reach)),
                    )
                }
                _ => continue,
            };
            let (low, high) = (first.saturating_sub(tuple.first), last.saturating_sub(tuple.first));
            if last < tuple.first || first >= tuple.first.saturating_add(tuple.count) {
                continue;
            }
            for k in low..high {
                if let Some(word) = out.get_mut(usize::from(k >> 6)) {
                    *word |= 1u64.wrapping_shl(u32::from(k & 63));
                }
            }
        }
    }
    out
}

/// The tuples of a class that need a place: the largest first, then the longest lives, then by
/// their number. Answers the first.
fn by_size(registers: &mut VecView<VRegTuple>, class: u8) -> u16 {
    let (mut head, mut tail) = (NONE, NONE);
    for k in 0..registers.len() {
        let Ok(number) = u16::try_from(k) else { break };
        let needs = |t: &&mut VRegTuple| t.class == class && !t.pinned && t.live.0 != u16::MAX;
        if let Some(tuple) = registers.get_mut(k).filter(needs) {
            tuple.next = NONE;
            append(registers, (&mut head, &mut tail), number);
        }
    }
    // Merge sort: runs that are in order already, two by two.
    let mut length = 1usize;
    loop {
        let (mut rest, mut merges) = (core::mem::replace(&mut head, NONE), 0u16);
        tail = NONE;
        while rest != NONE {
            merges = merges.saturating_add(1);
            rest = merge(registers, rest, length, (&mut head, &mut tail));
        }
        if let Some(last) = registers.get_mut(usize::from(tail)) {
            last.next = NONE;
        }
        if merges <= 1 {
            return head;
        }
        length = length.saturating_mul(2);
    }
}

/// Appends a tuple to a list.
fn append(registers: &mut VecView<VRegTuple>, (head, tail): (&mut u16, &mut u16), number: u16) {
    match registers.get_mut(usize::from(*tail)) {
        Some(last) => last.next = number,
        None => *head = number,
    }
    *tail = number;
}

/// Merges the two runs of `length` tuples that a list begins with onto the end of another list, and
/// answers what comes behind them. Of equals the first run's comes first.
fn merge(
    registers: &mut VecView<VRegTuple>,
    list: u16,
    length: usize,
    (head, tail): (&mut u16, &mut u16),
) -> u16 {
    let key = |t: &VRegTuple| (t.count, t.live.1.saturating_sub(t.live.0));
    let mut second = list;
    for _ in 0..length {
        second = registers.get(usize::from(second)).map_or(NONE, |tuple| tuple.next);
    }
    let (mut first, end, mut left) = (list, second, length);
    loop {
        let a = registers.get(usize::from(first)).filter(|_| first != end).copied();
        let b = registers.get(usize::from(second)).filter(|_| left > 0).copied();
        let (number, next) = match (a, b) {
            (Some(a), Some(b)) if key(&a) < key(&b) => (second, b.next),
            (Some(a), _) => (first, a.next),
            (None, Some(b)) => (second, b.next),
            (None, None) => return second,
        };
        if number == second {
            (second, left) = (next, left.saturating_sub(1));
        } else {
            first = next;
        }
        append(registers, (head, tail), number);
    }
}

/// Gives each tuple the first place that nothing has which lives at the same time; `None` where one
/// has no place.
fn pack(registers: &mut VecView<VRegTuple>, class: u8, of: &RegisterClass<'_>) -> Option<u16> {
    let mut high = 0u16;
    let head = by_size(registers, class);
    let mut number = head;
    while let Some(&tuple) = registers.get(usize::from(number)) {
        let meets = |t: &VRegTuple| t.live.0 <= tuple.live.1 && tuple.live.0 <= t.live.1;
        let mut free = FreeRegisters::new(of.pool);
        // What the frame defines is there from the start.
        for fixed in registers.iter().filter(|t| {
            t.class == class && t.pinned && t.live.0 != u16::MAX && tuple.live.0 <= t.live.1
        }) {
            high = high.max(fixed.physical.saturating_add(fixed.count));
            free.set_all(fixed, true);
        }
        let mut at = head;
        while let Some(placed) = registers.get(usize::from(at)).filter(|_| at != number) {
            if meets(placed) {
                free.set_all(placed, true);
            }
            at = placed.next;
        }
        let found = free.find(tuple.count, of.tuple_align)?;
        if let Some(t) = registers.get_mut(usize::from(number)) {
            t.physical = found;
        }
        high = high.max(found.saturating_add(tuple.count));
        number = tuple.next;
    }
    Some(high)
}

/// The most registers of a class that live at the same time, and from which step on they do.
pub(crate) struct Peak {
    pub(crate) wanted: u16,
    pub(crate) at: u16,
}

/// Where the most registers of a class live. The list of tuples is used up.
pub(crate) fn most_at_once(registers: &mut VecView<VRegTuple>, class: u8) -> Peak {
    let fixed = |registers: &VecView<VRegTuple>, at: u16| {
        let own = registers.iter().filter(|t| t.class == class && t.pinned);
        own.filter(|t| t.live.0 != u16::MAX && t.live.0 <= at && at <= t.live.1)
            .fold(0u16, |sum, t| sum.saturating_add(t.count))
    };
    // What the frame defines is there from the start: fewer of it live at every later step.
    let at_start = fixed(registers, 0);
    let mut most = Peak { wanted: at_start, at: 0 };
    let (mut number, mut busy, mut sum) = (by_start(registers, class), NONE, 0u16);
    while let Some(&tuple) = registers.get(usize::from(number)) {
        let (mut at, mut last) = (busy, NONE);
        while let Some(&other) = registers.get(usize::from(at)) {
            if other.live.1 >= tuple.live.0 {
                last = at;
            } else {
                sum = sum.saturating_sub(other.count);
                match registers.get_mut(usize::from(last)) {
                    Some(last) => last.next = other.next,
                    None => busy = other.next,
                }
            }
            at = other.next;
        }
        if let Some(t) = registers.get_mut(usize::from(number)) {
            t.next = busy;
        }
        busy = number;
        sum = sum.saturating_add(tuple.count);
        if sum.saturating_add(at_start) > most.wanted {
            let wanted = sum.saturating_add(fixed(registers, tuple.live.0));
            if wanted > most.wanted {
                most = Peak { wanted, at: tuple.live.0 };
            }
        }
        number = tuple.next;
    }
    most
}
