//! A snippet: a function that takes or returns register tiles, as code for the middle of another
//! program, and what whoever inlines it must know.

use crate::lower::interface::{Param, ParamKind, write_parameter};
use crate::step::{InstKind, NO_GUARD, Slot, for_each_register};
use crate::{Kernel, TextError};
use core::fmt::Write;
use lanebook_plan::Plan;
use lanebook_tables::{RegisterKind, Role};
use lanebook_tile::map::Fragment;

/// Code without a frame. When it begins, its inputs are in registers; behind it, its outputs are,
/// complete: nothing is still on its way.
///
/// What whoever inlines it owes: all threads of the group run it together, with all their lanes;
/// inputs have arrived; nothing before it still uses the scratch, and a barrier stands before the
/// scratch is used again.
///
/// ```
/// use lanebook::TABLES;
/// use lanebook::compile::{KernelStorage, compile};
/// use lanebook::emit::{RegisterSet, Snippet, SnippetValue};
/// use lanebook::ir::{Options, SmallStorage, parse};
///
/// // A function whose arguments and results are register tiles: instructions for inlining into other code.
/// let text = "func @turn(%a: tensor<16x16xf32, S[(16,2,8):(1@laneid,16@laneid,32@bit)]>) {threads = 32} {
///   %b = convert_layout %a : tensor<16x16xf32, S[(16,2,8):(1@laneid,16@laneid,32@bit)]> -> tensor<16x16xf32, S[(2,8,16):(16@laneid,32@bit,1@laneid)]>
///   return %b : tensor<16x16xf32, S[(2,8,16):(16@laneid,32@bit,1@laneid)]>
/// }";
/// let (mut pools, mut room) = (Box::new(SmallStorage::new()), Box::new(KernelStorage::new()));
/// let mut program = parse(pools.pools(), &TABLES, text, Options::default()).unwrap();
/// let arch = TABLES.arch_named("sm_80").unwrap();
/// let compiled = compile(&TABLES, arch, &mut program, room.scratch()).unwrap();
/// let snippet: Snippet = compiled.snippet(&TABLES, &program).unwrap();
/// assert_eq!((snippet.threads(), snippet.wave_lanes()), (32, 32));
/// let (scratch, _align) = snippet.scratch();
/// assert!(snippet.instructions() > 0 && (scratch > 0 || scratch == 0));
/// // Which registers go in and out, and which element each holds in a lane.
/// let input: SnippetValue = snippet.inputs().next().unwrap();
/// let output = snippet.outputs().next().unwrap();
/// assert_eq!((input.name, input.count, output.count), ("a", 8, 8));
/// assert_eq!(input.element(0, 0, 3, 0), Some(3 * 16));
/// let (mut name, mut text, mut declared) = (String::new(), String::new(), String::new());
/// snippet.write_name(&input, &mut name).unwrap();
/// snippet.write(&mut text).unwrap();
/// snippet.write_declarations(&mut declared).unwrap();
/// assert!(!name.is_empty() && !text.is_empty() && declared.contains(".reg"));
/// // What it overwrites beside its results, and where it wants the thread's number.
/// let clobbered: Vec<RegisterSet> = snippet.clobbers().collect();
/// for set in clobbered {
///     assert!(set.runs().all(|(first, last)| set.contains(first as u16) && first <= last));
/// }
/// assert!(snippet.thread_register().is_none());
/// ```
pub struct Snippet<'k> {
    kernel: Kernel<'k>,
    plan: &'k Plan<'k>,
}

/// What a snippet takes or returns.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct SnippetValue<'k> {
    /// What it is: a tile, a pointer, an index, where the scratch begins.
    pub kind: ParamKind,
    /// The name of the function's argument; empty where it is none.
    pub name: &'k str,
    /// What its registers' names begin with.
    pub prefix: &'k str,
    /// Bits of one register.
    pub register_bits: u16,
    /// The first register's number.
    pub first: u16,
    /// How many there are, one behind the other.
    pub count: u16,
    /// The snippet leaves something else in one of them (only of inputs).
    pub overwritten: bool,
    /// How a tile is distributed.
    pub fragment: Option<&'k Fragment>,
}

impl SnippetValue<'_> {
    /// The element of a tile that a register holds in a lane of a warp, from bit `bit` of the
    /// register on: its number, row by row. `None` where there is none: it is no tile, or has no
    /// such register, or no element begins at this bit.
    #[must_use]
    pub fn element(&self, register: u16, bit: u16, lane: u32, warp: u32) -> Option<u64> {
        let fragment = self.fragment.filter(|_| register < self.count)?;
        let each = u32::from(fragment.place_bits());
        let at = u32::from(register)
            .checked_mul(u32::from(self.register_bits))?
            .checked_add(u32::from(bit))?;
        if at.checked_rem(each)? != 0 || bit >= self.register_bits {
            return None;
        }
        let (row, col) =
            fragment.shape.position(fragment.element(at.checked_div(each)?, lane, warp));
        u64::from(row).checked_mul(fragment.shape.col_count())?.checked_add(u64::from(col))
    }
}

/// The registers of one class that a snippet writes.
#[derive(Copy, Clone)]
pub struct RegisterSet<'s> {
    /// What their names begin with; the whole name of a special register.
    pub prefix: &'s str,
    /// Whether it is one register without a number.
    pub is_special: bool,
    snippet: &'s Snippet<'s>,
    class: u16,
}

impl<'s> RegisterSet<'s> {
    /// Whether a register is among them.
    #[must_use]
    pub fn contains(&self, number: u16) -> bool {
        let mut found = false;
        self.snippet.written(self.class, |first, end| {
            found |= (first..end).contains(&u32::from(number));
        });
        found
    }

    /// Runs of neighbours, from the lowest on: the first one's number, and how many.
    pub fn runs(self) -> impl Iterator<Item = (u32, u32)> + 's {
        let mut from = 0u32;
        core::iter::from_fn(move || {
            let mut lowest: Option<u32> = None;
            self.snippet.written(self.class, |first, end| {
                if end > from {
                    lowest = Some(lowest.unwrap_or(u32::MAX).min(first.max(from)));
                }
            });
            let first = lowest?;
            // What begins in it or right behind it makes it longer.
            let (mut end, mut before) = (first.saturating_add(1), first);
            while before < end {
                before = end;
                self.snippet.written(self.class, |begins, ends| {
                    if begins <= end {
                        end = end.max(ends);
                    }
                });
            }
            from = end;
            Some((first, end.saturating_sub(first)))
        })
    }
}

impl<'k> Snippet<'k> {
    pub(crate) const fn new(kernel: Kernel<'k>, plan: &'k Plan<'k>) -> Self {
        Self { kernel, plan }
    }

    /// Threads of the group that runs it.
    #[must_use]
    pub fn threads(&self) -> u32 {
        self.kernel.threads
    }

    /// Lanes of a wave.
    #[must_use]
    pub fn wave_lanes(&self) -> u32 {
        1u32.checked_shl(u32::from(self.plan.wave)).unwrap_or(0)
    }

    /// Bytes of shared memory that it uses, and what their start is a multiple of.
    #[must_use]
    pub fn scratch(&self) -> (u32, u32) {
        (self.kernel.shared_bytes, self.kernel.shared_align.max(1))
    }

    /// Instructions.
    #[must_use]
    pub fn instructions(&self) -> usize {
        self.kernel.steps.iter().filter(|step| step.purpose != InstKind::Label).count()
    }

    /// What it takes.
    pub fn inputs(&self) -> impl Iterator<Item = SnippetValue<'k>> + '_ {
        self.values(|kind| !matches!(kind, ParamKind::Result(_)))
    }

    /// What it returns. Two of them, and an input, may be in the same registers.
    pub fn outputs(&self) -> impl Iterator<Item = SnippetValue<'k>> + '_ {
        self.values(|kind| matches!(kind, ParamKind::Result(_)))
    }

    fn values(&self, wanted: fn(ParamKind) -> bool) -> impl Iterator<Item = SnippetValue<'k>> + '_ {
        self.kernel.params.iter().filter(move |p| wanted(p.kind)).filter_map(|p| self.value(p))
    }

    /// A parameter; `None` of one that no step reads.
    fn value(&self, param: &Param) -> Option<SnippetValue<'k>> {
        let reg = param.register?;
        let class = self.kernel.isa.classes.get(reg.class.index())?;
        let is_tile = matches!(param.kind, ParamKind::Tile | ParamKind::Result(_));
        let named = !matches!(param.kind, ParamKind::Scratch | ParamKind::Result(_));
        let program = self.kernel.program;
        let (first, end) =
            (u32::from(reg.first), u32::from(reg.first).saturating_add(u32::from(reg.count)));
        let mut overwritten = false;
        self.written(reg.class.0, |begins, ends| overwritten |= begins < end && first < ends);
        Some(SnippetValue {
            kind: param.kind,
            name: if named { program.value_name(param.value) } else { "" },
            prefix: class.prefix,
            register_bits: class.bits,
            first: reg.first,
            count: reg.count,
            overwritten: overwritten && !matches!(param.kind, ParamKind::Result(_)),
            fragment: self
                .plan
                .fragment_of(param.value)
                .map(|(_, fragment)| fragment)
                .filter(|_| is_tile),
        })
    }

    /// What its steps write in a class: the first register's number, and the number behind the last.
    fn written(&self, class: u16, mut each: impl FnMut(u32, u32)) {
        let by_guards = self.kernel.isa.guard.and_then(|guard| guard.writes);
        let by_guards = by_guards.is_some_and(|written| written.0 == class);
        for step in self.kernel.steps.iter() {
            if by_guards && step.guard != NO_GUARD {
                each(0, 1);
            }
            for_each_register(self.kernel.tables, step, self.kernel.patterns, |touch| {
                if touch.written && u16::from(touch.class) == class {
                    let first = u32::from(touch.first);
                    each(first, first.saturating_add(u32::from(touch.count)));
                }
            });
            // Those that no operand names.
            let atom = self.kernel.tables.atom(step.atom);
            let atom = atom.filter(|_| step.purpose != InstKind::Label);
            for (k, operand) in atom.into_iter().flat_map(|a| a.operands.iter().enumerate()) {
                let writes = matches!(operand.role, Role::Def | Role::UseDef);
                if writes && operand.class.0 == class && step.arg(k) == Slot::None {
                    each(0, 1);
                }
            }
        }
    }

    /// The register in which it finds the thread's number in the group, from 0 along x, where the
    /// instruction set has no instruction that reads it: what its name begins with, and its number.
    #[must_use]
    pub fn thread_register(&self) -> Option<(&'k str, u16)> {
        let fixed = self.kernel.isa.thread_register?;
        let class = self.kernel.isa.classes.get(fixed.class.index())?;
        // Where no step reads it, another input may have its place.
        let (number, own) = (fixed.number, fixed.class.0);
        let read = self.first_is_read(own, number) && !self.is_given(own, number);
        read.then_some((class.prefix, number))
    }

    /// Whether a register is one of an input's.
    fn is_given(&self, class: u16, number: u16) -> bool {
        let inputs = self.kernel.params.iter().filter(|p| !matches!(p.kind, ParamKind::Result(_)));
        inputs.filter_map(|p| p.register).any(|reg| {
            let inside = reg.first <= number && number.wrapping_sub(reg.first) < reg.count;
            reg.class.0 == class && inside
        })
    }

    /// Whether the first step that touches a register reads it.
    fn first_is_read(&self, class: u16, number: u16) -> bool {
        let mut first = None;
        for step in self.kernel.steps.iter() {
            for_each_register(self.kernel.tables, step, self.kernel.patterns, |touch| {
                let same = u16::from(touch.class) == class;
                if same && touch.overlaps(touch.class, number, 1) && first.is_none() {
                    first = Some(touch.read);
                }
            });
            if first.is_some() {
                break;
            }
        }
        first.unwrap_or(false)
    }

    /// The registers of each class that it writes, outputs included; classes without any are left
    /// out.
    pub fn clobbers(&self) -> impl Iterator<Item = RegisterSet<'_>> {
        (0u16..).zip(self.kernel.isa.classes).filter_map(|(number, class)| {
            let is_special = class.kind == RegisterKind::Special;
            let set =
                RegisterSet { prefix: class.prefix, is_special, snippet: self, class: number };
            set.runs().next().is_some().then_some(set)
        })
    }

    /// Writes the instructions, one a line.
    ///
    /// # Errors
    /// When the sink refuses.
    pub fn write(&self, out: &mut impl Write) -> Result<(), TextError> {
        self.kernel.body(self.kernel.steps, out)
    }

    /// Writes the declarations of all registers that it names, inputs and outputs included, where
    /// the instruction set has them.
    ///
    /// # Errors
    /// When the sink refuses.
    pub fn write_declarations(&self, out: &mut impl Write) -> Result<(), TextError> {
        self.kernel.registers(out)
    }

    /// Writes the name of a value: that of its argument, `result0`, `scratch`, `A.stride0`.
    ///
    /// # Errors
    /// When the sink refuses.
    pub fn write_name(&self, value: &SnippetValue<'_>, out: &mut impl Write) -> core::fmt::Result {
        write_parameter(value.name, value.kind, out)
    }
}
