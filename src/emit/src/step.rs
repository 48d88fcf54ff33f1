//! The step list: instructions over registers, before and after allocation.

use crate::expr::{Arg, InstSink, Reg};
use heapless::VecView;
use lanebook_ir::Op;
use lanebook_tables::{AtomId, ClassId, Tables};

/// Places for operands of a step.
pub const MAX_ARGS: usize = lanebook_tables::OPERAND_PLACES;
/// Small numbers in the last place of a step whose atom has more operands than there are places.
pub const MORE_ARGS: usize = 7;
/// Most operands of a step.
pub const ALL_ARGS: usize = MAX_ARGS + MORE_ARGS - 1;

/// An operand of a stored step: eight bytes.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Default)]
pub enum Slot {
    /// Not in the text.
    #[default]
    None,
    /// A register tuple; `first` is virtual before allocation and physical after it.
    Reg {
        /// Class.
        class: u8,
        /// Registers.
        count: u16,
        /// First number.
        first: u16,
    },
    /// A register tuple that is not consecutive: member `i` is `first` plus the pattern's weights
    /// of the bits of `i`.
    Spread {
        /// Class.
        class: u8,
        /// Registers.
        count: u16,
        /// First number.
        first: u16,
        /// Index into the patterns.
        pattern: u8,
    },
    /// A number.
    Int(i32),
    /// A number of 32 bits that does not fit a signed one.
    Word(u32),
    /// A label.
    Label(u16),
    /// Operands from this place on, each a small number.
    Bytes([u8; MORE_ARGS]),
}

/// Of a step that all lanes carry out.
pub const NO_GUARD: u16 = u16::MAX;
/// The operand as which a step's guard counts.
pub const GUARD_OPERAND: u8 = u8::MAX;

/// One instruction.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Inst {
    /// Which atom.
    pub atom: AtomId,
    /// Which operation of the program it comes from (its index), for reports; `u16::MAX` = the
    /// frame.
    pub origin: u16,
    /// What it is for, for counting.
    pub purpose: InstKind,
    /// Class of the register that keeps it to some of the lanes ([`lanebook_tables::LaneGuard`]).
    pub guard_class: u8,
    /// Number of that register, or [`NO_GUARD`].
    pub guard: u16,
    /// Operands in the atom's numbering; [`Inst::arg`] finds those behind the last place too.
    pub args: [Slot; MAX_ARGS],
}

impl Inst {
    /// The register that keeps it to some of the lanes.
    #[must_use]
    pub const fn guard_slot(&self) -> Slot {
        match self.guard {
            NO_GUARD => Slot::None,
            first => Slot::Reg { class: self.guard_class, count: 1, first },
        }
    }

    /// Which operation of the program it comes from; `None` of the frame's own.
    pub(crate) fn op(&self) -> Option<Op> {
        Some(self.origin).filter(|origin| *origin != u16::MAX).and_then(|at| Op::at(at.into()))
    }

    /// An operand by its number.
    #[must_use]
    pub fn arg(&self, number: usize) -> Slot {
        match (self.args.last(), number.checked_sub(MAX_ARGS - 1)) {
            (Some(Slot::Bytes(more)), Some(at)) => {
                more.get(at).map_or(Slot::None, |byte| Slot::Int(i32::from(*byte)))
            }
            _ => self.args.get(number).copied().unwrap_or_default(),
        }
    }
}

/// What a step is for.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum InstKind {
    /// Parameters, loop control, frame.
    Control,
    /// Address arithmetic up to the first address of an operation.
    FirstAddress,
    /// Address arithmetic for its further addresses.
    FurtherAddress,
    /// Moves data.
    Move,
    /// Matrix product.
    Matrix,
    /// Fills registers.
    Fill,
    /// Arithmetic on tile elements.
    Arithmetic,
    /// Takes the index of an element out of an index tile.
    Index,
    /// Orders accesses.
    Sync,
    /// A label stands here (the atom is unused).
    Label,
}

impl InstKind {
    /// A word for it, as dumps have it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Control => "control",
            Self::FirstAddress => "address",
            Self::FurtherAddress => "further address",
            Self::Move => "move",
            Self::Matrix => "matrix",
            Self::Fill => "fill",
            Self::Arithmetic => "arithmetic",
            Self::Index => "index",
            Self::Sync => "sync",
            Self::Label => "label",
        }
    }
}

/// Weights of a tuple that is not consecutive, for each bit of the member's number.
pub type TupleStride = [u16; 5];

/// A virtual register tuple.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct VRegTuple {
    /// Class.
    pub class: u8,
    /// Registers.
    pub count: u16,
    /// First virtual number; numbers are handed out in ascending order over all classes.
    pub first: u16,
    /// First physical number after allocation.
    pub physical: u16,
    /// First and last step that touch it.
    pub live: (u16, u16),
    /// It has its physical number from the start (a register that the frame defines).
    pub pinned: bool,
    /// Of a snippet: it is filled before the first step.
    pub given: bool,
    /// Of a snippet: it is read behind the last step.
    pub kept: bool,
    /// The tuple behind it in a list that the allocation keeps.
    pub next: u16,
}

impl VRegTuple {
    /// One that nothing touches yet.
    pub(crate) const fn fresh(class: u8, first: u16, count: u16) -> Self {
        let live = (u16::MAX, 0);
        let (pinned, given, kept) = (false, false, false);
        Self { class, count, first, physical: first, live, pinned, given, kept, next: u16::MAX }
    }
}

/// A loop in the step list, as step numbers (label to branch, inclusive).
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct LoopSpan {
    /// The label's step.
    pub first: u16,
    /// The branch's step.
    pub last: u16,
}

/// What can run out while steps are written.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum InstError {
    /// No room for another step.
    Steps {
        /// Room there is.
        capacity: u32,
    },
    /// No room for another virtual register.
    Registers {
        /// Room there is.
        capacity: u32,
    },
    /// An operand that a step cannot hold: too many, or a number over 32 bits.
    Operand {
        /// The atom.
        atom: AtomId,
        /// Its operand number.
        operand: u8,
    },
    /// A register of a class that the operand does not take: accumulators in a store that cannot
    /// reach them, say.
    Class {
        /// The atom.
        atom: AtomId,
        /// Its operand number.
        operand: u8,
        /// The register's class, an index into the instruction set's.
        class: u8,
    },
    /// No room for another tuple pattern.
    TupleStrides {
        /// Room there is.
        capacity: u32,
    },
    /// A list of a fixed length is full.
    Capacity {
        /// Which.
        pool: crate::pool::EmitPool,
        /// How many it holds.
        capacity: u32,
    },
    /// No room for another loop.
    Loops {
        /// Room there is.
        capacity: u32,
    },
    /// The kernel needs more registers of a class than its pool has.
    Pool {
        /// The class.
        class: ClassId,
        /// Registers wanted at once.
        wanted: u16,
        /// Which operation of the program they are wanted for, where one is known.
        op: Option<Op>,
    },
    /// The tables lack an atom that this must use.
    NoAtom(Missing),
}

/// What is missing from an architecture's tables.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Missing {
    /// A move between registers of a class.
    Move(ClassId),
    /// A way to fill a register of a class with a constant.
    Fill(ClassId),
    /// A way to write a special register.
    Special(ClassId),
    /// A frame atom (branch, compare, parameter load, end).
    Frame,
    /// A synchronisation rule between two access kinds.
    Sync {
        /// Earlier kind.
        producer: u16,
        /// Later kind.
        consumer: u16,
    },
    /// An exchange between lanes whose numbers differ in this mask.
    Lanes(u8),
    /// A register class of this kind.
    Class,
    /// A wait for a counter.
    Wait,
    /// A way to divide numbers.
    Divide,
}

/// Step storage lent by the caller.
pub struct InstStorage<'s> {
    /// The steps.
    pub steps: &'s mut VecView<Inst>,
    /// Virtual registers, ascending by first number.
    pub registers: &'s mut VecView<VRegTuple>,
    /// Tuple patterns.
    pub patterns: &'s mut VecView<TupleStride>,
    /// Loops.
    pub loops: &'s mut VecView<LoopSpan>,
    next: u16,
    /// Origin and purpose given to steps as they are pushed.
    pub origin: u16,
    /// See [`InstKind`].
    pub purpose: InstKind,
    /// What steps are guarded by, as they are pushed.
    pub guard: Option<Reg>,
    /// The barrier that stands for that of all threads of the block, with its number and how many
    /// threads meet there: where some warps are set aside.
    pub(crate) meeting: Option<(AtomId, [i32; 2])>,
}

impl<'s> InstStorage<'s> {
    /// An empty list over this storage.
    pub fn new(
        steps: &'s mut VecView<Inst>,
        registers: &'s mut VecView<VRegTuple>,
        patterns: &'s mut VecView<TupleStride>,
        loops: &'s mut VecView<LoopSpan>,
    ) -> Self {
        steps.clear();
        registers.clear();
        patterns.clear();
        loops.clear();
        Self {
            steps,
            registers,
            patterns,
            loops,
            next: 0,
            origin: u16::MAX,
            purpose: InstKind::Control,
            guard: None,
            meeting: None,
        }
    }

    fn step(&self, atom: AtomId, args: [Slot; MAX_ARGS]) -> Inst {
        let (guard_class, guard) =
            self.guard.map_or((0, NO_GUARD), |guard| (guard.class.0 as u8, guard.first));
        Inst { atom, origin: self.origin, purpose: self.purpose, guard_class, guard, args }
    }

    /// Number of the step that comes next.
    #[must_use]
    pub fn here(&self) -> u16 {
        u16::try_from(self.steps.len()).unwrap_or(u16::MAX)
    }

    /// The first virtual register that is not handed out yet.
    pub(crate) const fn next_register(&self) -> u16 {
        self.next
    }

    /// Appends a step.
    pub fn append(&mut self, atom: AtomId, args: &[Slot]) -> Result<(), InstError> {
        let mut held = [Slot::None; MAX_ARGS];
        let places = if args.len() > MAX_ARGS { MAX_ARGS - 1 } else { MAX_ARGS };
        for (place, &arg) in held.iter_mut().zip(args).take(places) {
            *place = arg;
        }
        if args.len() > MAX_ARGS
            && let Some(last) = held.last_mut()
        {
            *last = small_numbers(atom, args)?;
        }
        self.push_step(self.step(atom, held))
    }

    /// Appends a label.
    pub fn label(&mut self, label: u16) -> Result<(), InstError> {
        let mut args = [Slot::None; MAX_ARGS];
        if let Some(first) = args.first_mut() {
            *first = Slot::Label(label);
        }
        self.push_step(Inst {
            atom: AtomId(u16::MAX),
            origin: self.origin,
            purpose: InstKind::Label,
            guard_class: 0,
            guard: NO_GUARD,
            args,
        })
    }

    fn push_step(&mut self, step: Inst) -> Result<(), InstError> {
        let capacity = u32::try_from(self.steps.capacity()).unwrap_or(u32::MAX);
        self.steps.push(step).map_err(|_| InstError::Steps { capacity })
    }

    /// A fresh virtual tuple.
    pub fn tuple(&mut self, class: ClassId, count: u16) -> Result<Reg, InstError> {
        let capacity = u32::try_from(self.registers.capacity()).unwrap_or(u32::MAX);
        let full = InstError::Registers { capacity };
        let first = self.next;
        let narrow = u8::try_from(class.0).map_err(|_| full)?;
        self.registers.push(VRegTuple::fresh(narrow, first, count)).map_err(|_| full)?;
        self.next = first.checked_add(count).ok_or(full)?;
        Ok(Reg { class, first, count })
    }

    /// A tuple at a fixed place, outside the class's pool.
    pub fn pinned(&mut self, class: ClassId, number: u16, count: u16) -> Result<Reg, InstError> {
        let reg = self.tuple(class, count)?;
        if let Some(last) = self.registers.last_mut() {
            last.physical = number;
            last.pinned = true;
        }
        Ok(reg)
    }

    /// Says that a tuple is filled before the first step.
    pub fn give(&mut self, reg: Reg) {
        if let Some(tuple) = self.owner(reg.first).and_then(|k| self.registers.get_mut(k)) {
            tuple.given = true;
        }
    }

    /// Says that a tuple is read behind the last step.
    pub fn keep(&mut self, reg: Reg) {
        if let Some(tuple) = self.owner(reg.first).and_then(|k| self.registers.get_mut(k)) {
            tuple.kept = true;
        }
    }

    /// Index of a tuple pattern, added if it is new; `None` if it is the consecutive one.
    pub fn pattern(&mut self, pattern: TupleStride, bits: usize) -> Result<Option<u8>, InstError> {
        let consecutive = pattern
            .iter()
            .take(bits)
            .enumerate()
            .all(|(k, &w)| u32::from(w) == 1u32.checked_shl(k as u32).unwrap_or(0));
        if consecutive {
            return Ok(None);
        }
        let found = self.patterns.iter().position(|p| *p == pattern);
        let index = match found {
            Some(index) => index,
            None => {
                let capacity = u32::try_from(self.patterns.capacity()).unwrap_or(u32::MAX);
                self.patterns.push(pattern).map_err(|_| InstError::TupleStrides { capacity })?;
                self.patterns.len().wrapping_sub(1)
            }
        };
        u8::try_from(index).map(Some).map_err(|_| InstError::TupleStrides { capacity: 256 })
    }

    /// The virtual tuple that a number belongs to.
    #[must_use]
    pub fn owner(&self, number: u16) -> Option<usize> {
        owner(self.registers, number)
    }
}

/// Index of the tuple that owns a virtual number.
pub(crate) fn owner(registers: &VecView<VRegTuple>, number: u16) -> Option<usize> {
    let (mut low, mut high) = (0usize, registers.len());
    while low < high {
        let middle = low.wrapping_add(high) >> 1;
        if registers.get(middle)?.first <= number {
            low = middle.wrapping_add(1);
        } else {
            high = middle;
        }
    }
    low.checked_sub(1)
}

/// Operands behind the last place: numbers of a byte each.
fn small_numbers(atom: AtomId, args: &[Slot]) -> Result<Slot, InstError> {
    let mut more = [0u8; MORE_ARGS];
    for (k, arg) in args.iter().enumerate().skip(MAX_ARGS - 1) {
        let refuse = InstError::Operand { atom, operand: u8::try_from(k).unwrap_or(u8::MAX) };
        let byte = match *arg {
            Slot::None => 0,
            Slot::Int(value) => u8::try_from(value).map_err(|_| refuse)?,
            _ => return Err(refuse),
        };
        *more.get_mut(k.saturating_sub(MAX_ARGS - 1)).ok_or(refuse)? = byte;
    }
    Ok(Slot::Bytes(more))
}

/// The stored form of a register.
#[must_use]
pub fn slot(reg: Reg) -> Slot {
    Slot::Reg { class: reg.class.0 as u8, count: reg.count, first: reg.first }
}

impl InstSink for InstStorage<'_> {
    type Error = InstError;

    fn fresh(&mut self, class: ClassId, count: u16) -> Result<Reg, InstError> {
        self.tuple(class, count)
    }

    fn push(&mut self, atom: AtomId, args: &[Arg]) -> Result<(), InstError> {
        let mut held = [Slot::None; MAX_ARGS];
        for (k, arg) in args.iter().enumerate() {
            let refuse = InstError::Operand { atom, operand: u8::try_from(k).unwrap_or(u8::MAX) };
            *held.get_mut(k).ok_or(refuse)? = match *arg {
                Arg::None => Slot::None,
                Arg::Reg(reg) => slot(reg),
                Arg::Label(label) => Slot::Label(label),
                Arg::Imm(value) => int(value).ok_or(refuse)?,
            };
        }
        self.push_step(self.step(atom, held))
    }
}

/// A number as an operand, if it has 32 bits.
#[must_use]
pub fn int(value: i64) -> Option<Slot> {
    match i32::try_from(value) {
        Ok(v) => Some(Slot::Int(v)),
        Err(_) => u32::try_from(value).ok().map(Slot::Word),
    }
}

/// Calls `f` with (class, first, count, written, read) of each run of consecutive registers a step
/// touches.
pub(crate) fn for_each_register(
    tables: &Tables<'_>,
    step: &Inst,
    patterns: &VecView<TupleStride>,
    mut f: impl FnMut(Touch),
) {
    let Some(atom) = tables.atom(step.atom).filter(|_| step.purpose != InstKind::Label) else {
        return;
    };
    let guarded = step.guard != NO_GUARD;
    if let Slot::Reg { class, count, first } = step.guard_slot() {
        f(Touch { class, first, count, written: false, read: true, operand: GUARD_OPERAND });
    }
    for (k, (operand, arg)) in atom.operands.iter().zip(&step.args).enumerate() {
        use lanebook_tables::Role;
        let (written, read) = match operand.role {
            // Lanes that it does not reach keep what they had.
            Role::Def => (true, guarded),
            Role::UseDef => (true, true),
            Role::Use | Role::Address => (false, true),
            Role::Immediate | Role::Label => continue,
        };
        let number = u8::try_from(k).unwrap_or(u8::MAX);
        match *arg {
            Slot::Reg { class, count, first } => {
                f(Touch { class, first, count, written, read, operand: number })
            }
            Slot::Spread { class, count, first, pattern } => {
                for member in 0..count {
                    if let Some(p) = patterns.get(usize::from(pattern)) {
                        f(Touch {
                            class,
                            first: first.wrapping_add(member_offset(p, member)),
                            count: 1,
                            written,
                            read,
                            operand: number,
                        });
                    }
                }
            }
            _ => {}
        }
    }
}

/// A run of registers that a step touches.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Touch {
    pub class: u8,
    pub first: u16,
    pub count: u16,
    pub written: bool,
    pub read: bool,
    pub operand: u8,
}

impl Touch {
    /// Whether two runs share a register.
    pub fn overlaps(&self, class: u8, first: u16, count: u16) -> bool {
        let end = |f: u16, c: u16| f.saturating_add(c);
        self.class == class && self.first < end(first, count) && first < end(self.first, self.count)
    }
}

/// Offset of a tuple's member under a pattern.
#[must_use]
pub fn member_offset(pattern: &TupleStride, member: u16) -> u16 {
    let mut out = 0u16;
    for (bit, &weight) in pattern.iter().enumerate() {
        if (member >> bit) & 1 == 1 {
            out = out.wrapping_add(weight);
        }
    }
    out
}
