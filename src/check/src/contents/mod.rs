//! Contents: what each register and each shared tile holds along every walk through the final
//! steps, against the program.
//!
//! Translation validation, as register allocators have it: nothing of what chose or wrote the steps
//! is asked. An instruction is what the tables say of it, a value is what the program and the
//! plan's fragments say.
//!
//! - *Definitions.* One pass over the steps finds for every register that a step reads which step
//!   wrote it last. At the place where a loop's two ways in meet, each register that the loop
//!   writes holds "register r of loop L": what it was before the loop, or what it is when a turn
//!   ends. So all walks are one, those of no turn too.
//! - *Addresses.* The integer steps are carried out for some threads of the group (each bit of the
//!   thread's number alone, none, all), for invented arguments, through all turns of the loops. The
//!   address of a movement with its immediate is `M(E(s, w, i))` of the module's page for one and
//!   the same instance i, in all of these threads and all turns.
//! - *Waits.* No step reads or writes a register that a load of the table's counters fills before a
//!   wait for it, and between two steps of a hazard of the table are its wait states, or the atom
//!   that ends it: on all ways through the steps, loops to a fixed point.
//! - *Warps that copy.* The same for some of their threads, in steps that stand behind the others'.
//! - *Units.* In the same threads and turns, what units are told by numbers in registers is that of
//!   one instance: boxes, descriptors, columns.
//! - *Indices.* What a step takes out of an index tile is another number in each thread and turn; the
//!   address of a movement that has one is that of its element's place with this number, and a goal
//!   says that the step's register holds the index of that element.
//! - *Atomic operations.* Each instance has one step, each element one thread that takes part.
//! - *Guards.* In the same threads a step is carried out where the elements that it moves are inside
//!   of their tensor's bounds, and nowhere else; bounds that are arguments lie inside of a tile too.
//!   What a guarded load leaves alone holds 0.
//! - *Numbers.* Registers that goals found to hold an index, an argument or a coordinate are written
//!   with it, in the same threads.
//! - *Shared tiles.* A step that reads one finds what the program's last writer before it wrote,
//!   all of it, and nothing written over it since.
//! - *Goals.* "These bits are bits b.. of value v's registers in each lane", from the steps that
//!   store to memory backwards, until loads and constants are reached. What defines v says which
//!   instruction must have made them of which goals; register moves, packing and choices of bytes
//!   are seen through. A goal on "register r of loop L" is one before the loop and one at the end
//!   of its turn, with what the loop carries renamed; what is being shown is taken for granted when
//!   it comes up again.
pub(crate) mod address;
pub(crate) mod arguments;
pub(crate) mod flow;
pub(crate) mod goal;
pub(crate) mod guards;
pub(crate) mod index;
pub(crate) mod lanes;
pub(crate) mod memory;
pub(crate) mod objects;
mod operands;
pub(crate) mod producer;
pub(crate) mod product;
pub(crate) mod reduce;
pub(crate) mod rules;
pub(crate) mod sinks;
pub(crate) mod storage;
pub(crate) mod through;
pub(crate) mod unit;
pub(crate) mod waits;

pub use crate::contents::storage::{ContentsPool, ContentsScratch, ContentsStorage};

use crate::order::walks::{OrderContext, function_of_loops};
use crate::order::ways::BranchTargets;
use crate::parting::{WarpParts, warp_parts};
use crate::violation::Violation;
use core::num::NonZeroU64;
use lanebook_emit::step::{Inst, Slot, TupleStride};
use lanebook_emit::{Compiled, Param};
use lanebook_ir::{Op, Program};
use lanebook_plan::Plan;
use lanebook_tables::{Arch, Atom, Isa, Tables};

/// What was looked at.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Default)]
pub struct ContentsSummary {
    /// Goals that were shown.
    pub goals: u32,
    /// Addresses that were compared.
    pub addresses: u32,
    /// Movement steps whose address was compared in no thread.
    pub unplaced: u32,
    /// Goals that ended at something that is not followed: steps that no thread was carried
    /// through.
    pub unfollowed: u32,
}

/// The final steps of a function, and what they belong to.
#[derive(Copy, Clone)]
pub struct FinalSteps<'a> {
    /// The plan.
    pub plan: &'a Plan<'a>,
    /// The steps, over physical registers.
    pub steps: &'a [Inst],
    /// Tuple patterns of the steps.
    pub patterns: &'a [TupleStride],
    /// Parameters of the kernel.
    pub params: &'a [Param],
}

impl<'a> FinalSteps<'a> {
    /// Those that came out of a compile.
    #[must_use]
    pub fn of(compiled: &'a Compiled<'a>) -> Self {
        Self {
            plan: &compiled.plan,
            steps: compiled.steps,
            patterns: compiled.patterns,
            params: compiled.params,
        }
    }
}

/// Checks what the final steps leave where.
///
/// # Errors
/// The first thing that is wrong, or the pool of `scratch` that ran out.
pub fn contents(
    tables: &Tables<'_>,
    program: &Program<'_, '_>,
    kernel: &FinalSteps<'_>,
    scratch: &mut ContentsScratch<'_>,
) -> Result<ContentsSummary, Violation> {
    let arch = tables.arch(kernel.plan.arch).ok_or(Violation::UnknownArch)?;
    let isa = tables.isa(arch.isa).ok_or(Violation::UnknownArch)?;
    let FinalSteps { plan, steps, patterns, params } = *kernel;
    let function = program.functions().next().ok_or(Violation::NoFunction)?;
    if program.is_snippet(function) {
        return Err(Violation::Snippet);
    }
    let all = steps;
    let WarpParts { readers: steps, branch, .. } = warp_parts(tables, arch, isa, plan, steps)?;
    // Asked of often, and from deep below.
    let most_blocks = [0, 1, 2].map(|axis| {
        let most = program.most_blocks(function, axis)?;
        u64::try_from(most).ok().and_then(NonZeroU64::new)
    });
    let look = ContentsContext {
        most_blocks: &most_blocks,
        tables,
        program,
        of_loops: function_of_loops(program),
        arch,
        isa,
        plan,
        steps,
        patterns,
        params,
        given: arguments::Given::Usual,
        edges: &[],
        branch,
        readers: steps.len(),
    };
    scratch.clear();
    flow::definitions(&look, scratch)?;
    flow::written_before(&look, scratch)?;
    guards::filled(&look, scratch)?;
    let edges = arguments::turning::turning(&look, scratch);
    let look = ContentsContext { edges: &edges, ..look };
    let mut out = ContentsSummary::default();
    address::addresses(&look, scratch, &mut out)?;
    memory::tiles(&look, scratch)?;
    let ways = BranchTargets::of(&look.order())?;
    waits::pending::waits(&look, &ways)?;
    waits::hazards::wait_states(&look, &ways)?;
    waits::async_products::registers(&look, &ways)?;
    unit::barriers(&look)?;
    unit::frames(&look)?;
    sinks::goals(&look, scratch, &mut out)?;
    goal::show(&look, scratch, &mut out)?;
    index::numbers(&look, scratch)?;
    producer::copying(&look, all, scratch, &mut out)?;
    Ok(out)
}

/// What everything here looks at.
#[derive(Copy, Clone)]
struct ContentsContext<'a> {
    /// No more blocks than these are said to be along each axis, where the function says its grid.
    most_blocks: &'a [Option<NonZeroU64>; 3],
    tables: &'a Tables<'a>,
    program: &'a Program<'a, 'a>,
    /// The function, where it is one of parallel loops.
    of_loops: Option<Op>,
    arch: &'a Arch<'a>,
    isa: &'a Isa<'a>,
    plan: &'a Plan<'a>,
    steps: &'a [Inst],
    patterns: &'a [TupleStride],
    params: &'a [Param],
    /// What arguments are invented.
    given: arguments::Given,
    /// Arguments that are none of these, as bounds of tensors are then.
    edges: &'a [arguments::Edge],
    /// The branch by which warps that only copy leave the others, and how many steps are not theirs.
    branch: Option<u16>,
    readers: usize,
}

/// What a register holds.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, Default)]
enum Content {
    /// What nothing has written.
    #[default]
    Nothing,
    /// Register number `1` of those that step `0` writes.
    Inst(u16, u8),
    /// Register `1` where the ways into loop `0` meet.
    Loop(u8, u16),
}

/// How many registers a slot names: an instruction has far fewer than tiles may have.
fn count(slot: Slot) -> u8 {
    match slot {
        Slot::Reg { count, .. } | Slot::Spread { count, .. } => {
            u8::try_from(count).unwrap_or(u8::MAX)
        }
        _ => 0,
    }
}

/// Class of a slot's registers.
fn class(slot: Slot) -> Option<u8> {
    match slot {
        Slot::Reg { class, .. } | Slot::Spread { class, .. } => Some(class),
        _ => None,
    }
}

impl<'a> ContentsContext<'a> {
    /// What ways through the steps are followed with.
    fn order(&self) -> OrderContext<'a> {
        OrderContext {
            tables: self.tables,
            program: self.program,
            of_loops: self.of_loops,
            arch: self.arch,
            isa: self.isa,
            plan: self.plan,
            steps: self.steps,
            copying: self.steps.get(self.readers..).unwrap_or_default(),
            branch: self.branch,
            readers: self.readers,
        }
    }

    /// The atom of a step; nothing for labels.
    fn atom(&self, step: &Inst) -> Option<&'a Atom<'a>> {
        if step.purpose == lanebook_emit::step::InstKind::Label {
            None
        } else {
            self.tables.atom(step.atom)
        }
    }

    /// Bits of a register of a class.
    fn class_bits(&self, class: u8) -> Option<u32> {
        self.isa.classes.get(usize::from(class)).map(|c| u32::from(c.bits))
    }

    /// Number of a slot's member in its class.
    fn number(&self, slot: Slot, member: u8) -> Option<u16> {
        match slot {
            Slot::Reg { count, first, .. } if u16::from(member) < count => {
                first.checked_add(u16::from(member))
            }
            Slot::Spread { count, first, pattern, .. } if u16::from(member) < count => {
                let weights = self.patterns.get(usize::from(pattern))?;
                let mut number = first;
                for (bit, weight) in (0u32..).zip(weights) {
                    if member.checked_shr(bit).unwrap_or(0) & 1 == 1 {
                        number = number.checked_add(*weight)?;
                    }
                }
                Some(number)
            }
            _ => None,
        }
    }
}
