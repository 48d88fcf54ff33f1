//! What a check says to a person. Operations, tiles and steps are named by their numbers: whoever
//! has the program and the plan names them better.

use crate::contents::ContentsPool;
use crate::violation::{MapFault, ObjectFault, Violation};
use lanebook_layout::sentences;
use lanebook_layout::words::SentencePart;

impl MapFault {
    /// What of a tensor map is wrong, in words.
    #[must_use]
    pub const fn describe(self) -> &'static str {
        match self {
            Self::Rules => "the rules it follows",
            Self::Memref => "the argument it describes",
            Self::Element => "the bits of its elements",
            Self::Order => "the order of its dimensions",
            Self::Stride => "a stride",
            Self::Base => "the tensor's alignment",
            Self::Corner => "where its boxes begin in a row",
            Self::Edge => "where the rows of what it stores to end",
            Self::Box => "an extent of its box",
            Self::Mode => "its swizzle mode",
            Self::Start => "where a box starts in shared memory",
            Self::Completion => "what its copies complete on",
        }
    }
}

impl ObjectFault {
    /// What of an mbarrier's use is wrong, in words.
    #[must_use]
    pub const fn describe(self) -> &'static str {
        match self {
            Self::Made => "how often, or by whom, it is made",
            Self::Published => "the steps that publish it",
            Self::Announced => "how often its phase is announced",
            Self::Bytes => "the bytes that are announced",
            Self::Phase => "the parity that is waited for",
            Self::Waited => "that it is waited for",
        }
    }
}

impl ContentsPool {
    /// What it holds, in words.
    #[must_use]
    pub const fn describe(self) -> &'static str {
        match self {
            Self::Steps => "steps of the kernel",
            Self::Registers => "registers",
            Self::Reads => "registers that steps read",
            Self::Turns => "registers at the ends of loops",
            Self::Goals => "goals",
            Self::Loops => "loops",
            Self::Lanes => "numbers that choose in each lane",
            Self::Tiles => "shared tiles",
        }
    }
}

sentences! { Violation, sink;
    UnknownArch => ("the plan's architecture is not in the tables");
    NoFunction => ("the program has no function");
    Snippet => ("the function is a snippet: what its registers begin with is its caller's, and what they hold is not followed");
    Missing(_) => ("an operation needs a plan and has none, or the plan names something that is not there");
    End { operand } => ("an end of a movement is not operand ~ of its operation", operand);
    Atom {} => ("an instruction does not do what it is planned for, or has a form that is not checked");
    Fragment { fragment, have, want } => ("fragment ~ has ~ bits of lanes, warps and elements, and should have ~", fragment, have, want);
    GlobalMap { global } => ("global tile ~ is neither by rows nor by columns", global);
    Segment { alloc, end, most } => ("shared tile ~ ends at byte ~, beyond ~", alloc, end, most);
    Base { alloc, need, at } => ("shared tile ~ is at ~, which is no multiple of ~", alloc, at, need);
    Buffers { alloc, want, found } => ("shared tile ~ has ~ buffers as its loop's stages, each touched by one copy and loads behind it, not ~", alloc, want, found);
    Overlap { alloc, other, byte } => ("shared tiles ~ and ~ live at the same time and share byte ~", alloc, other, byte);
    Element { warp, lane, element } => ("warp ~, lane ~ names element ~, which is outside of its tile", warp, lane, element);
    Byte { warp, lane, bit } => ("warp ~, lane ~ moves the byte at bit ~ of its registers to or from the wrong place in memory", warp, lane, bit);
    Share { lane, found, want } => ("an instruction's layouts touch the bytes ~ of lane ~, and should touch ~", SentencePart::Bits(found), lane, SentencePart::Bits(want));
    Registers { found, want } => ("instances move the registers of bits ~, and the tile has those of ~", SentencePart::Bits(found.into()), SentencePart::Bits(want.into()));
    Coverage { dealt, rank, want } => ("~ bits are dealt out, of rank ~, and the tile has ~", dealt, rank, want);
    Alignment { warp, slot, need, at } => ("the address of warp ~, slot ~ is ~, and has to be a multiple of ~", warp, slot, at, need);
    Operand { operand, warp, lane, bit, want, found } => ("operand ~ of a product: warp ~, lane ~ holds element (~, ~) at bit ~, and the instruction takes (~, ~) there", operand, warp, lane, found.0, found.1, bit, want.0, want.1);
    Map { what, found, want } => ("a tensor map says ~ for ~, and should say ~", found, what.describe(), want);
    Box { row, col, found, want } => ("a copy through a tensor map puts element (~, ~) at byte ~, and the layout has it at ~", row, col, found, want);
    Completion { step, object, what, found, want } => ("step ~: mbarrier ~ is used wrongly, ~: ~ instead of ~", step, object, what.describe(), found, want);
    Depth { warp, k } => ("warp ~ adds the term ~ of a product's depth twice, or never", warp, k);
    Accumulator { first, columns, allocated } => ("an accumulator of ~ columns from ~ on is not as it must be; ~ are allocated", columns, first, allocated);
    Instruction { field } => ("field ~ of an instruction descriptor says something else than the product", field);
    Cell { warp, lane, register, want, found } => ("warp ~, lane ~, register ~ reads lane ~, column ~ of tensor memory, and the element is at lane ~, column ~", warp, lane, register, found.0, found.1, want.0, want.1);
    Reach { warp, lane } => ("warp ~ does not reach lane ~ of tensor memory", warp, lane);
    Slice { warp, lane, place } => ("warp ~, lane ~ does not hold at place ~ of the smaller tile what it holds in the larger one", warp, lane, place);
    Converted { warp, lane, place } => ("a conversion brings warp ~, lane ~ another element at place ~ than its result has there", warp, lane, place);
    Lanes { step } => ("exchange ~ between lanes is not the one that the distribution asks for", step);
    Count { want, found } => ("a movement has ~ steps, and should have ~", found, want);
    Content { step, writer, at } => ("step ~ stores something else than the program says, from bit ~ on; step ~ wrote it", step, at, writer);
    Address { step, thread, address } => ("step ~, thread ~: the address ~ is no instance's, or another one's", step, thread, SentencePart::Bits(address));
    Guard { step, thread } => ("step ~ is carried out in thread ~, whose elements are beyond their bounds, or is not where they are inside", step, thread);
    Pending { producer, consumer } => ("step ~ touches a register that step ~ is still loading", consumer, producer);
    Hazard { producer, consumer, states } => ("between steps ~ and ~ there should be ~ wait states", producer, consumer, states);
    Turn { step, turns } => ("the loop that ends with step ~ turns more or less often than the program says: ~ times", step, turns);
    Tile { step, alloc, by } => ("step ~ reads shared tile ~, which holds what operation ~ wrote instead of what the program reads there", step, alloc, by);
    Room { pool, capacity } => ("the check of contents has room for ~ ~, and needs more", capacity, pool.describe());
    Stray { step } => ("step ~ touches shared memory for no movement of the plan", step);
    NoRule { producer, consumer, step } => ("step ~: accesses of kinds ~ and ~ conflict, and the table has no rule for them", step, producer.0, consumer.0);
    Race { producer, consumer } => ("steps ~ and ~ conflict, and nothing orders them", producer, consumer);
    Flow { step } => ("control flow from step ~ on is not checked", step);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluator::Position;
    use lanebook_ir::Op;
    use lanebook_layout::every_variant_speaks;
    use lanebook_tables::{AccessId, AtomId};

    #[test]
    fn each_violation_says_what_is_wrong() {
        let op = Op::at(0).expect("an operation");
        let (atom, step, warp, lane, operand) = (AtomId(3), 7, 1, 31, 2);
        let (alloc, place, bit, at) = (4, 5, 16, 9);
        let (producer, consumer) = (11, 12);
        let count = every_variant_speaks!(Violation:
            UnknownArch, NoFunction, Snippet, Missing(op), End { op, operand }, Atom { op, atom },
            Fragment { fragment: 1, have: 2, want: 3 }, GlobalMap { global: 1 },
            Segment { alloc, end: 8, most: 4 }, Base { alloc, need: 16, at },
            Overlap { alloc, other: 5, byte: 6 }, Buffers { alloc, want: 3, found: 2 }, Element { op, warp, lane, element: 9 },
            Byte { op, warp, lane, bit, want: Position { lead: 0, byte: 1 }, found: Position { lead: 0, byte: 1 } },
            Share { op, lane, found: 1, want: 3 }, Registers { op, found: 1, want: 3 },
            Coverage { op, dealt: 4, rank: 3, want: 4 },
            Alignment { op, warp, slot: 2, need: 16, at },
            Operand { op, operand, warp, lane, bit, want: (1, 2), found: (3, 4) },
            Map { op, what: MapFault::Stride, found: 1, want: 2 },
            Box { op, row: 1, col: 2, found: 3, want: 4 },
            Completion { step, object: 1, what: ObjectFault::Bytes, found: 2, want: 3 },
            Depth { op, warp, k: 8 }, Accumulator { op, first: 0, columns: 64, allocated: 32 },
            Instruction { op, field: 3 },
            Cell { op, warp, lane, register: 6, want: (1, 2), found: (3, 4) },
            Reach { op, warp, lane: 40 }, Slice { op, warp, lane, place },
            Converted { op, warp, lane, place }, Lanes { op, step },
            Count { op, atom, want: 1, found: 2 },
            Content { step, writer: 1, value: None, at: 32 },
            Address { op, step, thread: 3, address: 1 << 40 }, Guard { step, thread: 3 },
            Pending { producer, consumer }, Hazard { producer, consumer, states: 2 },
            Turn { step, turns: 3 }, Tile { step, alloc, by: 2 },
            Room { pool: ContentsPool::Goals, capacity: 3 }, Stray { step },
            NoRule { producer: AccessId(0), consumer: AccessId(1), step },
            Race { producer, consumer, missing: atom }, Flow { step });
        assert!(count > 40);
    }
}
