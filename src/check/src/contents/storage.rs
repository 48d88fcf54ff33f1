//! Room for the check of contents, lent by the caller.

use crate::contents::Content;
use crate::contents::address::worked_out::WorkedOut;
use crate::contents::goal::Goal;
use crate::contents::memory::TileStates;
use heapless::{Vec, VecView};

/// What can run out.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum ContentsPool {
    /// Steps of the kernel.
    Steps,
    /// Registers of all classes.
    Registers,
    /// Registers that steps read.
    Reads,
    /// Registers before and at the end of all loops.
    Turns,
    /// Goals.
    Goals,
    /// Loops.
    Loops,
    /// Numbers that choose, in each lane, for conversions inside warps.
    Lanes,
    /// Shared tiles.
    Tiles,
}

/// Most loops of a kernel.
pub(super) const LOOPS: usize = 24;

/// A loop of the steps, or steps that a branch may leave out: where two ways meet.
#[derive(Copy, Clone, Debug, Default)]
pub(super) struct Turned {
    /// Its first step.
    pub first: u16,
    /// Where the ways meet.
    pub meet: u16,
    /// Its last step.
    pub last: u16,
    /// Which of the loops it is; [`NO_LOOP`] = none of them.
    pub nth: u8,
    /// Where its registers are in the list of turns: before it.
    pub before: u32,
    /// At the end of a turn.
    pub end: u32,
}

/// Room for the check of contents, `const`-constructible.
///
/// `STEPS`: steps of the kernel. `REGISTERS`: registers of all classes. `READS`: registers that all
/// steps read together. `GOALS`: what is to be shown; a power of two is best.
#[derive(Debug)]
pub struct ContentsStorage<
    const STEPS: usize,
    const REGISTERS: usize,
    const READS: usize,
    const GOALS: usize,
> {
    starts: Vec<u32, STEPS>,
    instances: Vec<u16, STEPS>,
    bound: Vec<u32, STEPS>,
    blocks: Vec<[u16; 3], STEPS>,
    reads: Vec<Content, READS>,
    state: Vec<Content, REGISTERS>,
    values: Vec<Option<u64>, REGISTERS>,
    turns: Vec<Content, READS>,
    lanes: Vec<u32, READS>,
    loops: Vec<Turned, LOOPS>,
    tiles: Vec<[TileStates; 2], LOOPS>,
    goals: Vec<Goal, GOALS>,
    places: Vec<u16, GOALS>,
    worked_out: WorkedOut,
}

impl<const STEPS: usize, const REGISTERS: usize, const READS: usize, const GOALS: usize>
    ContentsStorage<STEPS, REGISTERS, READS, GOALS>
{
    /// Empty storage.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            starts: Vec::new(),
            instances: Vec::new(),
            bound: Vec::new(),
            blocks: Vec::new(),
            reads: Vec::new(),
            state: Vec::new(),
            values: Vec::new(),
            turns: Vec::new(),
            lanes: Vec::new(),
            loops: Vec::new(),
            tiles: Vec::new(),
            goals: Vec::new(),
            places: Vec::new(),
            worked_out: WorkedOut::new(),
        }
    }

    /// The storage as views without sizes.
    pub fn scratch(&mut self) -> ContentsScratch<'_> {
        ContentsScratch {
            starts: self.starts.as_mut_view(),
            instances: self.instances.as_mut_view(),
            bound: self.bound.as_mut_view(),
            blocks: self.blocks.as_mut_view(),
            reads: self.reads.as_mut_view(),
            state: self.state.as_mut_view(),
            values: self.values.as_mut_view(),
            turns: self.turns.as_mut_view(),
            lanes: self.lanes.as_mut_view(),
            loops: self.loops.as_mut_view(),
            tiles: self.tiles.as_mut_view(),
            goals: self.goals.as_mut_view(),
            places: self.places.as_mut_view(),
            worked_out: &self.worked_out,
        }
    }
}

impl<const STEPS: usize, const REGISTERS: usize, const READS: usize, const GOALS: usize> Default
    for ContentsStorage<STEPS, REGISTERS, READS, GOALS>
{
    fn default() -> Self {
        Self::new()
    }
}

/// The room of a [`ContentsStorage`].
///
/// ```
/// use lanebook::check::{ContentsScratch, ContentsStorage};
///
/// // Room for 512 steps, registers, reads and demands; an error of the check names the list that is too short.
/// let mut storage = Box::new(ContentsStorage::<512, 512, 512, 512>::new());
/// let _scratch: ContentsScratch = storage.scratch();
/// ```
pub struct ContentsScratch<'s> {
    /// Where each step's reads start.
    pub(super) starts: &'s mut VecView<u32>,
    /// The instance of each movement step, if its address says one.
    pub(super) instances: &'s mut VecView<u16>,
    /// What each step was found to be: 0 = nothing yet.
    pub(super) bound: &'s mut VecView<u32>,
    /// The blocks of A, B and the sums that a product's step names by descriptors and columns; of a
    /// movement with an index, the step that took it.
    pub(super) blocks: &'s mut VecView<[u16; 3]>,
    /// What stands in the registers that steps read.
    pub(super) reads: &'s mut VecView<Content>,
    /// Registers on the way.
    pub(super) state: &'s mut VecView<Content>,
    /// Numbers in registers, for one thread.
    pub(super) values: &'s mut VecView<Option<u64>>,
    /// Registers before loops and at the end of turns.
    pub(super) turns: &'s mut VecView<Content>,
    /// What chooses in each lane, for each step of a conversion inside warps that a register tells
    /// what.
    pub(super) lanes: &'s mut VecView<u32>,
    /// Loops.
    pub(super) loops: &'s mut VecView<Turned>,
    /// Shared tiles before each of them and at the end of its turns.
    pub(super) tiles: &'s mut VecView<[TileStates; 2]>,
    /// What is to be shown, and was.
    pub(super) goals: &'s mut VecView<Goal>,
    /// Where goals are among them, by their hash.
    pub(super) places: &'s mut VecView<u16>,
    /// What one thread's run has worked out.
    pub(super) worked_out: &'s WorkedOut,
}

/// What is no loop.
pub(super) const NO_LOOP: u8 = u8::MAX;

/// No instance.
pub(super) const NONE: u16 = u16::MAX;

impl ContentsScratch<'_> {
    pub(super) fn clear(&mut self) {
        self.starts.clear();
        self.instances.clear();
        self.bound.clear();
        self.blocks.clear();
        self.reads.clear();
        self.state.clear();
        self.values.clear();
        self.turns.clear();
        self.lanes.clear();
        self.loops.clear();
        self.tiles.clear();
        self.goals.clear();
        self.places.clear();
    }

    /// Which instance of its movement a step is.
    pub(super) fn instance(&self, step: u16) -> Option<u32> {
        self.instances.get(usize::from(step)).copied().filter(|i| *i != NONE).map(u32::from)
    }
}
