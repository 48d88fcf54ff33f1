//! What a checker can find wrong.

use crate::contents::ContentsPool;
use crate::evaluator::Position;
use lanebook_ir::{Op, Value};
use lanebook_tables::{AccessId, AtomId};

/// What of a tensor map is wrong.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MapFault {
    /// It follows rules that are not the instruction's.
    Rules,
    /// It describes another argument.
    Memref,
    /// Bits of its elements.
    Element,
    /// Its dimensions' order.
    Order,
    /// Its stride, or that stride's certain alignment, in bytes.
    Stride,
    /// The tensor's certain alignment in bytes.
    Base,
    /// Where its boxes begin within a row of the tensor, in bytes.
    Corner,
    /// Where rows of a tensor that is stored to certainly end, in bytes.
    Edge,
    /// The box's extent, or the bytes of its rows.
    Box,
    /// Its swizzle mode.
    Mode,
    /// Where a box starts in shared memory, in bytes.
    Start,
    /// What its copies complete on.
    Completion,
}

/// What of an mbarrier's use is wrong.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ObjectFault {
    /// It is not made, or not once, or not by one thread for one arrival.
    Made,
    /// The steps that publish it do not all stand before its use.
    Published,
    /// Its phase is announced never or twice.
    Announced,
    /// Bytes announced, bytes copied.
    Bytes,
    /// Parity that is waited for, parity of the phase.
    Phase,
    /// It is not waited for.
    Waited,
}

/// What is wrong. Numbers of warps, lanes, slots, bits and bytes are those at which it was met
/// first.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Violation {
    /// The plan's architecture is not in the tables.
    UnknownArch,
    /// The program has no function.
    NoFunction,
    /// The function is a snippet: what its registers begin with is its caller's, so that what they
    /// hold is not followed. Its plan and its order are checked.
    Snippet,
    /// The operation needs a plan and has none, or the plan names something that is not there.
    Missing(Op),
    /// An end of the plan is not the operation's own operand (0 = first operand; 3 = result).
    End {
        /// The operation.
        op: Op,
        /// Which operand.
        operand: u8,
    },
    /// The atom does not do this, or has a form or size that is not checked.
    Atom {
        /// The operation.
        op: Op,
        /// The atom.
        atom: AtomId,
    },
    /// A fragment lacks lane or warp bits, or elements.
    Fragment {
        /// Index of the fragment.
        fragment: u16,
        /// Bits there are.
        have: u8,
        /// Bits there should be.
        want: u8,
    },
    /// A global tile's map is neither row-major nor column-major.
    GlobalMap {
        /// Index of the global tile.
        global: u16,
    },
    /// A shared tile ends outside its bytes, its segment, or what the architecture has.
    Segment {
        /// Index of the shared tile.
        alloc: u16,
        /// Where it ends, in bytes.
        end: u64,
        /// Where it must end.
        most: u64,
    },
    /// A shared tile's start is less aligned than it must be.
    Base {
        /// Index of the shared tile.
        alloc: u16,
        /// Alignment needed in bytes.
        need: u32,
        /// What is not a multiple of it.
        at: u32,
    },
    /// Two shared tiles that are alive together share bytes.
    Overlap {
        /// Index of one.
        alloc: u16,
        /// Index of the other.
        other: u16,
        /// First byte that both have.
        byte: u32,
    },
    /// A tile has other buffers than its loop's stages, or is touched by others than the copy that
    /// runs ahead and loads behind it.
    Buffers {
        /// Index of the shared tile.
        alloc: u16,
        /// Buffers that it must have.
        want: u8,
        /// Buffers that it has.
        found: u8,
    },
    /// A movement or product names an element outside its tile.
    Element {
        /// The operation.
        op: Op,
        /// Warp.
        warp: u8,
        /// Lane or slot.
        lane: u8,
        /// The element.
        element: u32,
    },
    /// A byte goes to, or comes from, the wrong place in memory.
    Byte {
        /// The operation.
        op: Op,
        /// Warp.
        warp: u8,
        /// Lane (register copy atoms) or destination slot.
        lane: u8,
        /// Bit offset in the lane's tile registers, or in the slot's share.
        bit: u16,
        /// Where the layout has the element's byte.
        want: Position,
        /// Where the instruction takes it from or puts it.
        found: Position,
    },
    /// An atom's layouts touch a byte of a lane or slot twice, or leave one out.
    Share {
        /// The operation.
        op: Op,
        /// Lane or slot.
        lane: u8,
        /// Bytes touched, as a mask.
        found: u64,
        /// Bytes that should be.
        want: u64,
    },
    /// Instances and tuples do not enumerate the tile's registers: some would be moved twice and
    /// others never.
    Registers {
        /// The operation.
        op: Op,
        /// Register-number bits that are set once, as a mask.
        found: u32,
        /// Register-number bits there are.
        want: u32,
    },
    /// Slots, warps and instances do not enumerate the tile's elements.
    Coverage {
        /// The operation.
        op: Op,
        /// Bits dealt out.
        dealt: u8,
        /// Rank of what they deal out.
        rank: u8,
        /// Element bits of the tile.
        want: u8,
    },
    /// An address is less aligned than the atom needs.
    Alignment {
        /// The operation.
        op: Op,
        /// Warp.
        warp: u8,
        /// Slot.
        slot: u8,
        /// Bytes needed.
        need: u32,
        /// The address, or what is certain about global ones.
        at: u32,
    },
    /// A matrix operand's lane holds another element than the instruction takes.
    Operand {
        /// The operation.
        op: Op,
        /// 0 = A, 1 = B, 2 = C, 3 = D.
        operand: u8,
        /// Warp.
        warp: u8,
        /// Lane.
        lane: u8,
        /// Bit offset in the lane's tile registers.
        bit: u16,
        /// Row and column expected.
        want: (u32, u32),
        /// Row and column found.
        found: (u32, u32),
    },
    /// A tensor map says something else than the movement's ends.
    Map {
        /// The operation.
        op: Op,
        /// What.
        what: MapFault,
        /// What it says.
        found: u64,
        /// What it should say, or be a multiple of.
        want: u64,
    },
    /// A copy through a tensor map puts an element elsewhere than the layout.
    Box {
        /// The operation.
        op: Op,
        /// Row in the tile.
        row: u32,
        /// Column in the tile.
        col: u32,
        /// Byte of the segment where the copy puts it.
        found: u64,
        /// Where the layout has it.
        want: u64,
    },
    /// An mbarrier is used wrongly.
    Completion {
        /// The step.
        step: u16,
        /// Its number.
        object: u8,
        /// What is wrong.
        what: ObjectFault,
        /// The figure found.
        found: u32,
        /// The figure wanted.
        want: u32,
    },
    /// A term of a product's sums is added twice, or never.
    Depth {
        /// The operation.
        op: Op,
        /// Warp.
        warp: u8,
        /// The position along k.
        k: u32,
    },
    /// An accumulator's place: what begins it, who reads it, or its allocation is not as it must
    /// be.
    Accumulator {
        /// The operation.
        op: Op,
        /// Its first column.
        first: u32,
        /// Its columns.
        columns: u32,
        /// Columns of the allocation.
        allocated: u32,
    },
    /// A field of an instruction descriptor says something else than the product.
    Instruction {
        /// The operation.
        op: Op,
        /// Number of the field; 255: bits of no field.
        field: u8,
    },
    /// A load from tensor memory reads another cell than the element's.
    Cell {
        /// The operation.
        op: Op,
        /// Warp.
        warp: u8,
        /// Lane.
        lane: u8,
        /// Register of the tile.
        register: u16,
        /// Lane and column of tensor memory where the element is.
        want: (u16, u16),
        /// Lane and column that is read.
        found: (u16, u16),
    },
    /// A warp would have to load a lane of tensor memory that it does not reach.
    Reach {
        /// The operation.
        op: Op,
        /// Warp.
        warp: u8,
        /// The lane of tensor memory.
        lane: u16,
    },
    /// A lane does not hold, in the smaller tile of a reduction or repetition, what it holds or
    /// wants in the larger one.
    Slice {
        /// The operation.
        op: Op,
        /// Warp.
        warp: u8,
        /// Lane.
        lane: u8,
        /// Place in the lane's registers.
        place: u16,
    },
    /// A conversion inside warps brings a lane another element than its result has there, or none.
    Converted {
        /// The operation.
        op: Op,
        /// Warp.
        warp: u8,
        /// Lane.
        lane: u8,
        /// Place in the lane's registers.
        place: u16,
    },
    /// A reduction's or conversion's exchanges between lanes are not those that its distribution
    /// asks for.
    Lanes {
        /// The operation.
        op: Op,
        /// The step that is wrong; `u16::MAX` = one is missing or one too many.
        step: u16,
    },
    /// A movement has too few or too many steps.
    Count {
        /// The operation.
        op: Op,
        /// The atom.
        atom: AtomId,
        /// Instances.
        want: u32,
        /// Steps.
        found: u32,
    },
    /// A step stores something else than the program says.
    Content {
        /// The step that stores.
        step: u16,
        /// The step that wrote the register at which this was found; `u16::MAX` = none did.
        writer: u16,
        /// What should stand there; `None` for a part of a sum, or what a copy has on its way.
        value: Option<Value>,
        /// From which bit of its registers in each lane on.
        at: u32,
    },
    /// An address is no instance's, or another one's in another thread or turn.
    Address {
        /// The operation.
        op: Op,
        /// The step.
        step: u16,
        /// The thread.
        thread: u16,
        /// The address, for invented arguments; `u64::MAX` = the registers hold none.
        address: u64,
    },
    /// A step is carried out in a thread whose elements are beyond their tensor's bounds, or not in
    /// one whose elements are inside; or a load leaves something else than 0 in the former.
    Guard {
        /// The step.
        step: u16,
        /// The thread, for invented arguments; `u16::MAX` = what the load leaves alone.
        thread: u16,
    },
    /// A step touches a register that is being loaded.
    Pending {
        /// The load.
        producer: u16,
        /// The step.
        consumer: u16,
    },
    /// Too few wait states lie between two steps.
    Hazard {
        /// The earlier one.
        producer: u16,
        /// The later one.
        consumer: u16,
        /// Wait states there should be; 0: an atom that ends the hazard.
        states: u8,
    },
    /// A loop turns more or less often than the program says.
    Turn {
        /// Its branch.
        step: u16,
        /// Turns that were done.
        turns: u32,
    },
    /// A step reads a shared tile that does not hold what the program reads there.
    Tile {
        /// The step.
        step: u16,
        /// Index of the shared tile.
        alloc: u16,
        /// The operation that wrote it, by its number; `u16::MAX` = something else did.
        by: u16,
    },
    /// The check of contents has no room.
    Room {
        /// What ran out.
        pool: ContentsPool,
        /// Records there are.
        capacity: u32,
    },
    /// A step touches shared memory for no movement of the plan.
    Stray {
        /// Number of the step.
        step: u16,
    },
    /// Two accesses conflict and the table has no rule for them.
    NoRule {
        /// Kind of the earlier one.
        producer: AccessId,
        /// Kind of the later one.
        consumer: AccessId,
        /// Step of the later one.
        step: u16,
    },
    /// Two accesses conflict and nothing orders them.
    Race {
        /// Step of the earlier access.
        producer: u16,
        /// Step of the later access.
        consumer: u16,
        /// The first synchronisation step of the rule that is missing between them.
        missing: AtomId,
    },
    /// Control flow that is not checked: more than 64 labels, a label that is not there, or a walk
    /// that does not end.
    Flow {
        /// The step.
        step: u16,
    },
}

const _: () = assert!(core::mem::size_of::<Violation>() <= 40);
