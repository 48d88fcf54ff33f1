//! Conversions between distributions inside each warp: bytes are chosen in each lane, whole
//! registers move between lanes.
//!
//! All is linear over the bits of numbers, panel by panel. With `w` a register of 32 bits that
//! moves (`2^packing` elements):
//!
//! 1. *Sent* places: place `p` is the operand's place `sent.at(p)`, in the same lane.
//! 2. Each swap in turn: in threads whose number has an odd number of the swap's bits, register `w`
//!    is what register `w ^ word` was.
//! 3. Received register `w` of lane `l` is register `word.at(w)` of lane `lane.at(l) ^
//!    offset.at(w)`, to which each bit of the warp's number adds its `warp`.
//! 4. Each of the swaps `behind`, as in 2.
//! 5. The result's place `p` is place `kept.at(p)` of these registers, in the same lane.

use lanebook_ir::Op;
use lanebook_tile::map::{BitMatrix, Fragment, Subspace};

/// Registers that change places in some lanes.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Default)]
pub struct Swap {
    /// How the numbers of the two registers differ.
    pub word: u16,
    /// In threads whose number has an odd number of these bits: the lane's first, the warp's behind.
    pub threads: u16,
}

/// A conversion inside each warp.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct ShufflePlan {
    /// The operation.
    pub op: Op,
    /// It stands before the operation's exchange through shared memory, not behind one or alone.
    pub ahead: bool,
    /// log2 of the elements of a register that moves.
    pub packing: u8,
    /// The operand's place that each bit of a sent place's number adds.
    pub sent: BitMatrix<u32, 12>,
    /// Swaps before the movement.
    pub before: BitMatrix<Swap, 6>,
    /// The sent register that each bit of a received register's number adds.
    pub word: BitMatrix<u32, 12>,
    /// What each bit of a received register's number adds to the lane that it comes from.
    pub offset: BitMatrix<u32, 12>,
    /// What each bit of a lane's number adds to the lane that it reads.
    pub lane: BitMatrix<u32, 6>,
    /// What each bit of a warp's number adds to the lanes that its lanes read.
    pub warp: BitMatrix<u8, 5>,
    /// Swaps after the movement.
    pub behind: BitMatrix<Swap, 6>,
    /// The received place that each bit of a place of the result adds.
    pub kept: BitMatrix<u32, 12>,
    /// Weighted sum in quarter units.
    pub cost: u32,
}

#[doc(hidden)]
impl ShufflePlan {
    /// No movement at all.
    #[must_use]
    pub fn new(op: Op, packing: u8) -> Self {
        let (sent, word, offset, kept) =
            (BitMatrix::new(), BitMatrix::new(), BitMatrix::new(), BitMatrix::new());
        Self {
            op,
            ahead: false,
            packing,
            sent,
            before: BitMatrix::new(),
            word,
            offset,
            lane: BitMatrix::new(),
            warp: BitMatrix::new(),
            behind: BitMatrix::new(),
            kept,
            cost: 0,
        }
    }

    /// Whether each lane that reads reads its own number, but for the offset.
    #[must_use]
    pub fn is_straight(&self) -> bool {
        (0u32..).zip(self.lane.as_slice()).all(|(bit, &adds)| Some(adds) == 1u32.checked_shl(bit))
            && self.warp.as_slice().iter().all(|adds| *adds == 0)
    }

    /// Whether what is moved depends on the warp.
    #[must_use]
    pub fn depends_on_warp(&self) -> bool {
        let lanes = 1u32.checked_shl(self.lane.len() as u32).unwrap_or(u32::MAX);
        let mut swaps = self.before.as_slice().iter().chain(self.behind.as_slice());
        self.warp.as_slice().iter().any(|adds| *adds != 0)
            || swaps.any(|swap| u32::from(swap.threads) >= lanes)
    }

    /// Registers of a panel that a lane receives.
    #[must_use]
    pub fn received(&self) -> u32 {
        1u32.checked_shl(self.word.len() as u32).unwrap_or(0)
    }

    /// Registers of a panel that a lane sends.
    #[must_use]
    pub fn sends(&self) -> u32 {
        let bits = self.sent.len().saturating_sub(usize::from(self.packing));
        1u32.checked_shl(bits as u32).unwrap_or(0)
    }

    /// Whether a sent register, once so many of the swaps before the movement are done, is one that
    /// the swaps behind those or the movement read: what no lane receives needs no swap.
    #[must_use]
    pub fn is_read(&self, done: usize, word: u32) -> bool {
        self.received() == self.sends() || self.read(done).contains(word)
    }

    /// The sent registers that are read once so many of the swaps before the movement are done.
    fn read(&self, done: usize) -> Subspace {
        let mut out = Subspace::new();
        let swaps = self.before.as_slice().get(done..).unwrap_or(&[]);
        let words = self.word.as_slice().iter().copied();
        for word in words.chain(swaps.iter().map(|swap| u32::from(swap.word))) {
            let _ = out.insert(word, 0);
        }
        out
    }

    /// How many of them there are.
    fn reads(&self, done: usize) -> u32 {
        1u32.checked_shl(u32::from(self.read(done).rank())).unwrap_or(u32::MAX)
    }

    /// Whether the last of the swaps behind the movement makes the result's registers at once.
    #[must_use]
    pub fn ends_by_swap(&self, to: &Fragment) -> bool {
        let (kept, results) = (self.gather_kept(to), self.results(to));
        results <= self.received() && (0..results).all(|word| kept.whole(word).is_some())
    }

    /// Whether nothing leaves its lane.
    #[must_use]
    pub fn keeps_lanes(&self) -> bool {
        (0..self.received()).all(|word| self.stays(word))
    }

    /// Whether a received register comes from the lane itself.
    #[must_use]
    pub fn stays(&self, word: u32) -> bool {
        self.is_straight() && self.offset.at(word) == 0
    }

    /// Registers of a panel that a lane has at last.
    #[must_use]
    pub fn results(&self, to: &Fragment) -> u32 {
        let bits = to.register.len().saturating_sub(usize::from(to.packing()));
        1u32.checked_shl(bits as u32).unwrap_or(0)
    }

    /// Bits in which the numbers of a lane and of the one that it reads a register from may differ.
    #[must_use]
    pub fn far(&self, word: u32) -> u32 {
        let columns = (0u32..).zip(self.lane.as_slice());
        let own = columns.fold(self.offset.at(word), |sum, (bit, adds)| {
            sum | (adds ^ 1u32.checked_shl(bit).unwrap_or(0))
        });
        self.warp.as_slice().iter().fold(own, |sum, adds| sum | u32::from(*adds))
    }

    /// How sent registers are put together.
    #[must_use]
    pub fn gather_sent(&self, from: &Fragment) -> Gather<'_> {
        let moved = (self.packing, from.shape.bits);
        Gather {
            places: self.sent.as_slice(),
            old: (from.packing(), from.place_bits()),
            new: moved,
            bytes: width(from),
        }
    }

    /// How the result's registers are put together.
    #[must_use]
    pub fn gather_kept(&self, to: &Fragment) -> Gather<'_> {
        let moved = (self.packing, to.shape.bits);
        Gather {
            places: self.kept.as_slice(),
            old: moved,
            new: (to.packing(), to.place_bits()),
            bytes: width(to),
        }
    }
}

/// How places are gathered from others in the same lane: whole registers, or bytes of several.
#[derive(Copy, Clone, Debug)]
pub struct Gather<'a> {
    /// The old place that each bit of a new place's number adds.
    pub places: &'a [u32],
    /// log2 of the elements of an old register, and bits from one to the next.
    pub old: (u8, u16),
    /// log2 of the elements of a new register, and bits from one to the next.
    pub new: (u8, u16),
    /// Bytes of an element.
    pub bytes: u8,
}

/// Where a byte of a register comes from: a register and its byte.
pub type ByteSource = (u32, u8);

impl Gather<'_> {
    /// The old place of a new place.
    #[must_use]
    pub fn place(&self, new: u32) -> u32 {
        let (mut out, mut rest) = (0, new);
        while let Some(column) = self.places.get(rest.trailing_zeros() as usize) {
            out ^= column;
            rest &= rest.wrapping_sub(1);
        }
        out
    }

    /// Where the bytes of new register `word` come from; `None` for those that nothing reads.
    #[must_use]
    pub fn bytes_of(&self, word: u32) -> [Option<ByteSource>; 4] {
        let mut out = [None; 4];
        let many = 1u32.checked_shl(u32::from(self.new.0)).unwrap_or(1);
        let mask = 1u32.checked_shl(u32::from(self.old.0)).unwrap_or(1).wrapping_sub(1);
        for part in 0..many {
            let place = self.place(word.wrapping_mul(many) | part);
            let (register, at) =
                (place.checked_shr(u32::from(self.old.0)).unwrap_or(0), place & mask);
            let (to, from) = (
                part.wrapping_mul(u32::from(self.new.1 / 8)),
                at.wrapping_mul(u32::from(self.old.1 / 8)),
            );
            for byte in 0..u32::from(self.bytes) {
                if let Some(slot) = out.get_mut(to.wrapping_add(byte) as usize) {
                    *slot = u8::try_from(from.wrapping_add(byte)).ok().map(|from| (register, from));
                }
            }
        }
        out
    }

    /// The old register that a new one is, where all of its bytes are in their places.
    #[must_use]
    pub fn whole(&self, word: u32) -> Option<u32> {
        whole(self.bytes_of(word))
    }

    /// Old registers that a new one takes bytes of, each once, in the order of its bytes.
    #[must_use]
    pub fn registers_of(&self, word: u32) -> BitMatrix<u32, 4> {
        registers(self.bytes_of(word))
    }

    /// Choices of bytes that a new register takes: none for a whole old one.
    #[must_use]
    pub fn choices(&self, word: u32) -> u32 {
        let bytes = self.bytes_of(word);
        if whole(bytes).is_some() {
            0
        } else {
            u32::try_from(registers(bytes).len()).unwrap_or(0).saturating_sub(1).max(1)
        }
    }
}

/// The register that bytes are all of, each in its place.
fn whole(bytes: [Option<ByteSource>; 4]) -> Option<u32> {
    let (register, _) = bytes.iter().flatten().next().copied()?;
    let same = (0u8..).zip(bytes).all(|(k, from)| from.is_none_or(|from| from == (register, k)));
    same.then_some(register)
}

/// The registers of bytes, each once.
fn registers(bytes: [Option<ByteSource>; 4]) -> BitMatrix<u32, 4> {
    let mut out: BitMatrix<u32, 4> = BitMatrix::new();
    for (register, _) in bytes.into_iter().flatten() {
        if !out.as_slice().contains(&register) {
            let _ = out.push(register);
        }
    }
    out
}

/// A choice of bytes of two registers: which bytes, 0 to 3 of the first and 4 to 7 of the second,
/// and which in the lanes of a swap.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Either {
    /// The registers.
    pub registers: (u32, u32),
    /// The bytes.
    pub bytes: [u8; 4],
    /// The bytes in the lanes of the swap.
    pub swapped: [u8; 4],
}

impl Either {
    /// One choice for what a register is and what it is in the lanes of a swap, if both are made of
    /// two registers.
    fn of(plain: [Option<ByteSource>; 4], swapped: [Option<ByteSource>; 4]) -> Option<Self> {
        let mut seen: BitMatrix<u32, 2> = BitMatrix::new();
        for (register, _) in plain.into_iter().chain(swapped).flatten() {
            if !seen.as_slice().contains(&register) && !seen.push(register) {
                return None;
            }
        }
        let first = seen.get(0)?;
        let second = seen.get(1).unwrap_or(first);
        let number = |(k, from): (u8, Option<ByteSource>)| match from {
            Some((register, byte)) if register == first => byte,
            Some((_, byte)) => byte.saturating_add(4),
            None => k,
        };
        let all = |bytes: [Option<ByteSource>; 4]| {
            let mut out = [0u8; 4];
            for (slot, from) in out.iter_mut().zip((0u8..).zip(bytes)) {
                *slot = number(from);
            }
            out
        };
        Some(Self { registers: (first, second), bytes: all(plain), swapped: all(swapped) })
    }

    /// A sent register behind the first swap, from the operand's registers.
    #[must_use]
    pub fn sent(gather: &Gather<'_>, swap: Swap, word: u32) -> Option<Self> {
        Self::of(gather.bytes_of(word), gather.bytes_of(word ^ u32::from(swap.word)))
    }

    /// A register of the result from what there is before the last swap.
    #[must_use]
    pub fn kept(gather: &Gather<'_>, swap: Swap, word: u32) -> Option<Self> {
        let bytes = gather.bytes_of(word);
        Self::of(
            bytes,
            bytes.map(|from| from.map(|(register, byte)| (register ^ u32::from(swap.word), byte))),
        )
    }
}

#[doc(hidden)]
impl ShufflePlan {
    /// The first swap, where choosing bytes into sent registers does it at once.
    #[must_use]
    pub fn joined_before(&self, from: &Fragment) -> Option<Swap> {
        let (swap, gather) = (self.before.get(0)?, self.gather_sent(from));
        let all = (0..self.sends()).all(|word| Either::sent(&gather, swap, word).is_some());
        let some = (0..self.sends()).any(|word| gather.whole(word).is_none());
        (all && some).then_some(swap)
    }

    /// The last swap, where choosing bytes into the result's registers does it at once.
    #[must_use]
    pub fn joined_behind(&self, to: &Fragment) -> Option<Swap> {
        let (swap, gather) = (*self.behind.as_slice().last()?, self.gather_kept(to));
        let all = (0..self.results(to)).all(|word| Either::kept(&gather, swap, word).is_some());
        let some = (0..self.results(to)).any(|word| gather.whole(word).is_none());
        (all && some).then_some(swap)
    }

    /// Where a place of the result in a lane comes from: a place and a lane of the operand in the same
    /// warp.
    #[must_use]
    pub fn source(&self, place: u32, (lane, warp): (u32, u32)) -> (u32, u32) {
        let above = warp.checked_shl(self.lane.len() as u32).unwrap_or(0);
        let odd = |swap: &&Swap, lane: u32| {
            ((lane | above) & u32::from(swap.threads)).count_ones() & 1 == 1
        };
        let through = |swaps: &[Swap], word: u32, lane: u32| {
            swaps.iter().filter(|s| odd(s, lane)).fold(word, |word, s| word ^ u32::from(s.word))
        };
        let kept = self.kept.at(place);
        let part = kept & 1u32.checked_shl(u32::from(self.packing)).unwrap_or(1).wrapping_sub(1);
        let received = through(
            self.behind.as_slice(),
            kept.checked_shr(u32::from(self.packing)).unwrap_or(0),
            lane,
        );
        let mut sender = self.lane.at(lane) ^ self.offset.at(received);
        for (bit, adds) in (0u32..).zip(self.warp.as_slice()) {
            if warp.checked_shr(bit).unwrap_or(0) & 1 == 1 {
                sender ^= u32::from(*adds);
            }
        }
        let sent = through(self.before.as_slice(), self.word.at(received), sender);
        (self.sent.at(sent.checked_shl(u32::from(self.packing)).unwrap_or(0) | part), sender)
    }

    /// Whether every element arrives. All maps are linear, so that numbers of one bit decide.
    #[must_use]
    pub fn brings(&self, from: &Fragment, to: &Fragment) -> bool {
        let arrives = |place: u32, lane: u32, warp: u32| {
            let (source, sender) = self.source(place, (lane, warp));
            from.register.at(source) ^ from.lane.at(sender) ^ from.warp.at(warp)
                == to.register.at(place) ^ to.lane.at(lane) ^ to.warp.at(warp)
        };
        let bits = |n: usize| (0u32..).take(n).map(|k| 1u32.checked_shl(k).unwrap_or(0));
        bits(to.register.len()).all(|place| arrives(place, 0, 0))
            && bits(to.lane.len()).all(|lane| arrives(0, lane, 0))
            && bits(to.warp.len()).all(|warp| arrives(0, 0, warp))
    }

    /// Selectors of bytes that depend on the thread's number, and the different sets of threads in
    /// which they differ.
    #[must_use]
    pub fn selectors(&self, from: &Fragment, to: &Fragment) -> (u32, u32) {
        let (mut made, mut threads): (BitMatrix<u64, 12>, BitMatrix<u16, 12>) =
            (BitMatrix::new(), BitMatrix::new());
        let mut note = |plain: [u8; 4], swapped: [u8; 4], swap: Swap| {
            let number =
                |bytes: [u8; 4]| bytes.iter().fold(0, |sum, byte| (sum << 3) | u64::from(*byte));
            let key = (u64::from(swap.threads) << 24) ^ (number(plain) << 12) ^ number(swapped);
            if plain != swapped && !made.as_slice().contains(&key) {
                let _ = made.push(key);
            }
            if plain != swapped && !threads.as_slice().contains(&swap.threads) {
                let _ = threads.push(swap.threads);
            }
        };
        let (first, last) = (self.joined_before(from), self.joined_behind(to));
        if let Some(swap) = first {
            let gather = self.gather_sent(from);
            for either in (0..self.sends()).filter_map(|word| Either::sent(&gather, swap, word)) {
                note(either.bytes, either.swapped, swap);
            }
        }
        if let Some(swap) = last {
            let gather = self.gather_kept(to);
            for either in (0..self.results(to)).filter_map(|word| Either::kept(&gather, swap, word))
            {
                note(either.bytes, either.swapped, swap);
            }
        }
        let before = self.before.as_slice().iter().skip(usize::from(first.is_some()));
        let behind = self.behind.len().saturating_sub(usize::from(last.is_some()));
        for swap in before.chain(self.behind.as_slice().iter().take(behind)) {
            note([0, 1, 2, 3], [4, 5, 6, 7], *swap);
        }
        let count = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
        (count(made.len()), count(threads.len()))
    }

    /// Choices of bytes in a panel.
    #[must_use]
    pub fn choices(&self, from: &Fragment, to: &Fragment) -> u32 {
        let (sent, kept) = (self.gather_sent(from), self.gather_kept(to));
        let (sends, received, results) = (self.sends(), self.received(), self.results(to));
        let (first, last) = (self.joined_before(from).is_some(), self.joined_behind(to).is_some());
        let mut sum = 0u32;
        for word in (0..sends).filter(|word| !first && self.is_read(0, *word)) {
            sum = sum.saturating_add(sent.choices(word));
        }
        for done in 1..=self.before.len() {
            sum = sum.saturating_add(self.reads(done));
        }
        let behind = u32::try_from(self.behind.len()).unwrap_or(u32::MAX);
        // The last one makes the result's registers.
        if behind > 0 && (last || self.ends_by_swap(to)) {
            return sum
                .saturating_add(results)
                .saturating_add(behind.saturating_sub(1).saturating_mul(received));
        }
        let gathered = (0..results).fold(0u32, |sum, word| sum.saturating_add(kept.choices(word)));
        sum.saturating_add(gathered).saturating_add(behind.saturating_mul(received))
    }
}

fn width(f: &Fragment) -> u8 {
    u8::try_from(f.shape.bits / 8).unwrap_or(u8::MAX)
}
