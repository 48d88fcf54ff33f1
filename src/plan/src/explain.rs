//! Why there is no plan, in words.
//!
//! With the names of an architecture and of a program's operations where they are at hand
//! ([`PlanError::write_named`]), and without.

use crate::data::{
    MAX_STAGED_SIZES, PlanError, PlanPool, STAGED_REACH, Unatomic, Unindexed, Unparted, Unscaled,
    Unstaged, Unsummed, Unwritable,
};
use core::fmt::{Result, Write};
use lanebook_ir::{Op, Program};
use lanebook_layout::{sentence, shown};
use lanebook_tables::{Arch, OpRole};

impl PlanPool {
    /// What it holds, in words.
    #[must_use]
    pub const fn describe(self) -> &'static str {
        match self {
            Self::Allocs => "tiles in shared memory",
            Self::Fragments => "tiles in registers",
            Self::Globals => "tiles of global memory",
            Self::Transfers => "movements of tiles",
            Self::Products => "products",
            Self::Maps => "tensor maps",
            Self::Mbarriers => "mbarriers of asynchronous copies",
            Self::Exchanges => "conversions and reductions through shared memory",
            Self::Shuffles => "conversions between lanes",
            Self::CopyAtoms => "instructions of the architecture that move tiles",
            Self::Staged => "ways of copies through registers",
            Self::Worklist => "tiles that share one distribution and wait to be looked at",
            Self::Candidates => "ways to do one product",
            Self::UnitOperands => "operands that matrix units read from shared memory",
            Self::Expansions => "elementwise operations that others stand for",
            Self::Conversions => "conversions between distributions in registers",
        }
    }
}

impl Unwritable {
    /// Why a layout that is written for a tile in registers, or for one in shared memory, is not
    /// kept to.
    #[must_use]
    pub const fn message(self, registers: bool) -> &'static str {
        if registers { self.of_registers() } else { self.of_shared() }
    }

    const fn of_registers(self) -> &'static str {
        match self {
            Self::Unreadable => "the layout written for this register tile cannot be read",
            Self::Axes => {
                "the layout written for this register tile has an offset or a swizzle, or copies where there are other elements"
            }
            Self::Size => {
                "the layout written for this register tile covers another number of elements than the tile has, or lanes and warps that the group has not"
            }
            Self::Panels => {
                "where an extent of a register tile is no power of two, its odd factor counts panels that stand in registers of their own in each lane; the layout written here has it elsewhere, or has registers of one panel apart in a tile that is handed over"
            }
            Self::Unread => "the layout written for this register tile has not been read",
            Self::Registers => {
                "the layout written for this register tile gives each lane more registers than a tile may have here"
            }
            Self::Order
            | Self::Offset
            | Self::Meet
            | Self::Interleaved
            | Self::Extent
            | Self::Both
            | Self::Unit
            | Self::Swizzle
            | Self::Padding
            | Self::Rows
            | Self::Element => {
                "the layout written for this register tile puts several elements in one place, or elements between the places of others"
            }
        }
    }

    const fn of_shared(self) -> &'static str {
        match self {
            Self::Unreadable => {
                "the layout written for this shared tile is in none of the notations that are read here"
            }
            Self::Axes => {
                "the layout written for this shared tile names other axes than memory, or has replicas"
            }
            Self::Size => {
                "the layout written for this shared tile covers another number of elements than the tile has"
            }
            Self::Order => {
                "where an element lies in the layout written for this shared tile is no sum of what the bits of its row and of its column are worth"
            }
            Self::Offset => {
                "the layout written for this shared tile has an offset: its first element does not lie at the tile's start, where memory is given it"
            }
            Self::Meet => {
                "two elements lie in one place in the layout written for this shared tile"
            }
            Self::Interleaved => {
                "elements lie between others in the layout written for this shared tile: of the distances that the bits of an element's number are worth one is less than all smaller ones together"
            }
            Self::Extent => {
                "an extent of this shared tile is no power of two, and the layout written for it has a swizzle or padding that does not repeat from panel to panel"
            }
            Self::Both => {
                "the layout written for this shared tile has a swizzle or padding behind distances that carry, or both a swizzle and padding: where an element lies is no combination of what its bits are worth"
            }
            Self::Unit => {
                "a matrix unit reads this shared tile by itself, and no descriptor of its describes the layout written here"
            }
            Self::Swizzle => {
                "the swizzle written for this shared tile exchanges bytes of its elements"
            }
            Self::Element => {
                "the layout written for this shared tile says what its elements are (`elem=`), which the tile's type does"
            }
            Self::Padding => {
                "the padding written for this shared tile does not stand behind powers of two of bytes"
            }
            Self::Panels | Self::Registers => {
                "the layout written for this shared tile cannot be kept to"
            }
            Self::Rows => {
                "the layout written for this shared tile of a function of parallel loops is none of rows, columns or strips, with a swizzle or without one, nor digits each of which is further apart than all that the nearer ones reach"
            }
            Self::Unread => "the layout written for this shared tile has not been read",
        }
    }
}

/// Names for a sentence, as far as they are at hand.
#[derive(Copy, Clone)]
struct PlanNames<'n, 'a, 't> {
    arch: &'n str,
    program: Option<&'n Program<'a, 't>>,
}

impl PlanNames<'_, '_, '_> {
    fn unscaled(self, why: Unscaled, sink: &mut impl Write) -> Result {
        sentence!(sink, "no matrix instruction of ~ ", self.arch)?;
        match why {
            Unscaled::None => sink.write_str("multiplies with block scales"),
            Unscaled::Elements => {
                sink.write_str("multiplies these element types with block scales")
            }
            Unscaled::Type { operand } => {
                sentence!(sink, "takes scales of this type: operand ~", operand)
            }
            Unscaled::Run { have, takes } => {
                sentence!(sink, "has one scale for ~ elements: it takes one for ~", have, takes)
            }
            Unscaled::Extent { which, have, takes } => {
                let what = match which {
                    0 => "rows of A",
                    1 => "columns of B",
                    _ => "elements along the depth",
                };
                sentence!(
                    sink,
                    "with block scales divides ~ ~: it takes multiples of ~",
                    have,
                    what,
                    takes
                )
            }
        }
    }

    fn unstaged(self, why: Unstaged, sink: &mut impl Write) -> Result {
        match why {
            Unstaged::InPlace => {
                sink.write_str("no warps are set aside in functions of parallel loops")
            }
            Unstaged::Waves => sink.write_str(
                "in functions of parallel loops copies run ahead that a power of two of waves start",
            ),
            Unstaged::Whole => sink.write_str(
                "a copy that runs ahead says where its tile begins, also where it is the whole memref",
            ),
            Unstaged::Range => sink.write_str(
                "a copy of some threads does not run ahead: all of them start those",
            ),
            Unstaged::NoCopy => sink.write_str(
                "a loop of stages has copies that run ahead, and no copy from global to shared memory stands directly in this one",
            ),
            Unstaged::Bounds => sink.write_str(
                "copies run ahead in loops whose step is a number and which begin at zero or above",
            ),
            Unstaged::Reach => {
                sentence!(sink, "the turns that copies run ahead stay below ~ indices", STAGED_REACH)
            }
            Unstaged::Sizes => sentence!(
                sink,
                "the tiles of a loop of stages, and what descriptors of them go on by, have ~ sizes at the most",
                MAX_STAGED_SIZES as u64
            ),
            Unstaged::Uneven => sink.write_str(
                "a copy runs ahead only where its tile's place goes on by the same in each turn, or is made of what the loop loads from global memory",
            ),
            Unstaged::Touched => sink.write_str(
                "a copy runs ahead only where nothing but loads behind it, directly in the same loop, touches its tile",
            ),
            Unstaged::Written => sink.write_str(
                "a copy does not run ahead in a loop that writes the tensor it reads",
            ),
            Unstaged::Mover => sentence!(
                sink,
                "stages are not planned for this copy yet: of the instructions that it may be made of, none of ~ copies it so that later turns' copies need not be waited for, nor do two through registers",
                self.arch
            ),
            Unstaged::Reader => sentence!(
                sink,
                "stages are not planned for this load yet: ~ orders it after copies that run ahead in no known way",
                self.arch
            ),
            Unstaged::Single => sink.write_str(
                "warps are set aside for a loop whose copies run ahead: give it num_stages of 2 or more",
            ),
            Unstaged::Apart => sentence!(
                sink,
                "~ has no instructions that move registers between warps and barriers in shared memory that copies complete on: leave warp_specialize out, all warps then start the copies together",
                self.arch
            ),
            Unstaged::Threads => sentence!(
                sink,
                "with the warps that are set aside for copies a block has more threads than ~ takes",
                self.arch
            ),
            Unstaged::WrittenBeside => sink.write_str(
                "other warps copy only from tensors that the function writes nowhere: they run ahead of what it does",
            ),
            Unstaged::Loaded => sink.write_str(
                "other warps start copies alone, and load nothing: where these begin and how often their loops turn is known from arguments, blocks and counters",
            ),
            Unstaged::Boxes => sentence!(
                sink,
                "other warps start copies of boxes alone, and no instruction of ~ copies this tile as boxes: look at the memref's alignment and strides, or leave warp_specialize out",
                self.arch
            ),
        }
    }

    fn unsupported(self, op: Op, sink: &mut impl Write) -> Result {
        match self.program {
            Some(program) => {
                let name = program.op_name(op);
                sentence!(sink, "the planner does not know what to do with `~`", name)
            }
            None => sink.write_str("the planner does not know what to do with an operation"),
        }
    }

    fn written(self, op: Op, why: Unwritable, sink: &mut impl Write) -> Result {
        let registers = self.program.is_some_and(|program| program.role(op) != OpRole::Alloc);
        sink.write_str(why.message(registers))
    }

    fn tensor_memory(self, (need, scales, have): (u32, u32, u32), sink: &mut impl Write) -> Result {
        match scales {
            0 => sentence!(
                sink,
                "tensor memory is exceeded: accumulators of ~ columns, an allocation is a power of two and ~ has ~ at most",
                need,
                self.arch,
                have
            ),
            _ => sentence!(
                sink,
                "tensor memory is exceeded: accumulators of ~ columns and block scales of ~, whatever columns an instruction has; an allocation is a power of two and ~ has ~ at most",
                need.saturating_sub(scales),
                scales,
                self.arch,
                have
            ),
        }
    }

    fn threads(self, threads: u32, sink: &mut impl Write) -> Result {
        match threads {
            0 => sink.write_str("the function does not say its number of threads"),
            _ => sentence!(sink, "~ threads do not suit ~", threads, self.arch),
        }
    }
}

impl PlanError {
    fn write(self, names: PlanNames<'_, '_, '_>, sink: &mut impl Write) -> Result {
        match self {
            Self::Threads { threads, .. } => names.threads(threads, sink),
            Self::Target(_) => sentence!(sink, "the program is written for another architecture than ~", names.arch),
            Self::Wave { lanes, have, .. } => sentence!(sink, "the program is written for waves of ~ lanes, those of ~ have ~", lanes, names.arch, have),
            Self::Unsupported(op) => names.unsupported(op, sink),
            Self::Extents(_) => sink.write_str("a tile's extents are not two known numbers, or the tile is too large"),
            Self::Element(_) => sink.write_str("a tile's elements are not a whole number of bytes wide"),
            Self::NotTraced { operand, .. } => sentence!(sink, "operand ~ is no allocation and no kernel argument with one subscript a dimension", operand),
            Self::NoMatrixAtom(_) => sentence!(sink, "no matrix instruction of ~ takes this product", names.arch),
            Self::Unscaled { why, .. } => names.unscaled(why, sink),
            Self::Registers { registers, most, .. } => sentence!(sink, "a lane would hold ~ registers of one tile, ~ is the most", registers, most),
            Self::NoCopyAtom { .. } => sentence!(sink, "no instruction of ~ can do this movement", names.arch),
            Self::Conflict { .. } => sink.write_str("two uses of a register tile want it distributed in different ways"),
            Self::Written { op, why } => names.written(op, why, sink),
            Self::Undecided(_) => sink.write_str("nothing says how this register tile is distributed"),
            Self::SharedMemory { need, have, .. } => sentence!(sink, "shared memory is exceeded: ~ B are needed, ~ has ~ B", need, names.arch, have),
            Self::Scratch { need, have, .. } => sentence!(sink, "`scratch` is too little: the conversion takes ~ B of shared memory at the least, and may take ~", need, have),
            Self::TensorMemory { need, scales, have, .. } => names.tensor_memory((need, scales, have), sink),
            Self::TensorReach { warps, needed, .. } => sentence!(sink, "a warp does not reach all lanes of tensor memory: of ~ warps each loads and stores its lanes by its number, the group has ~", needed, warps),
            Self::GlobalReach { .. } => sink.write_str("distances inside a tile of global memory, and from matrix to matrix, stay below 2147483648 bytes"),
            Self::Stages { why, .. } => names.unstaged(why, sink),
            Self::Reshape(_) => sink.write_str("rows of both shapes have to be a power of two wide, or the tile one row: else an element lies elsewhere in registers"),
            Self::Masked(_) => sink.write_str("a mask is obeyed where a tile of global memory is read or written: not of a tile in shared memory, and not beside bounds that count halves"),
            Self::Sums { why, .. } => match why {
                Unsummed::Absent => sentence!(sink, "~ has no tensor memory in which sums could stand", names.arch),
                Unsummed::Form => sink.write_str("no instruction that leaves its sums in tensor memory multiplies these elements in tiles of these extents, the second of them from shared memory"),
            },
            Self::Precision(_) => sink.write_str(
                "the `precision` of a product is said of factors that are both f32, and in one word",
            ),
            Self::Part { why, .. } => sink.write_str(match why {
                Unparted::Shape => "a part has as many dimensions as its tile, and a tile with one put in has the tile's own shape",
                Unparted::Place => "a part begins at a place that is a number: one subscript for each dimension",
                Unparted::Outside => "the part reaches beyond the tile",
                Unparted::Between => "a part begins at a multiple of its extent, and the tile's extent is a multiple of it too: else its elements lie in registers of different numbers from lane to lane",
                Unparted::Dimension => "`axis` names a dimension of the tile",
                Unparted::Lanes => "lanes have different parts of the tile",
                Unparted::Long => "the part goes from lane to lane, which takes a power of two of elements in the tile's rows that it has some of, and in itself where it has only some of each row",
                Unparted::Steps => "the dimension of a scan, and of a reduction of elements of 64 bits, has a power of two of elements: each step joins two runs of one length, or two neighbours",
            }),
            Self::Indexed { why, .. } => sink.write_str(match why {
                Unindexed::Shared => "a tile of indices says where elements lie in a memref: not in a tile in shared memory",
                Unindexed::Element => "a tile of indices has whole numbers of 32 bits",
                Unindexed::Shape => "a tile of indices has an index for each element that is moved: it has that tile's shape",
                Unindexed::Dimension => "`axis` names a dimension of the memref",
                Unindexed::Missing => "`axis` says along which dimension indices count, and there are none",
                Unindexed::Order => "behind the memref stand a tile of indices and a mask, in this order, either of which may be left out",
            }),
            Self::Atomic { why: Unatomic::Elements, .. } => sentence!(sink, "the tables of ~ have no instruction that does this to elements of this type in memory, each in one step", names.arch),
            Self::Atomic { why: Unatomic::Shared, .. } => sink.write_str("atomic operations change a memref: not a tile in shared memory"),
            Self::Atomic { why: Unatomic::Compared, .. } => sink.write_str("what memory is compared with is a tile right behind the memref, of the shape and type of the one that is moved"),
            Self::Atomic { why: Unatomic::Pairs, .. } => sentence!(sink, "~ combines elements of this type with memory by pairs alone, which begin at a multiple of their bytes: of these no two certainly lie so together, on one side of a mask", names.arch),
            Self::Atomic { why: Unatomic::Few, .. } => sink.write_str("there is no whole number of the tile's elements for each thread: of those that hold an element one combines it, and would have to be told apart from the others along a dimension of the tile, a power of two wide, where indices or pairs of narrow elements let it"),
            Self::Capacity { pool, capacity, .. } => sentence!(sink, "the program is too large: it needs more than ~ ~, a plan has room for ~", capacity, pool.describe(), capacity),
            Self::ProgramCapacity { pool, limit, .. } => sentence!(sink, "the program is too large with what stands in place of this operation: it has more than ~ ~", limit, pool.describe()),
            Self::UnknownArch => sink.write_str("the tables have no such architecture"),
            Self::Stale => sink.write_str("the plan was made of another program or of other tables"),
        }
    }

    /// Writes what is wrong, without names.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn write_text(&self, sink: &mut impl Write) -> Result {
        self.write(PlanNames { arch: "the architecture", program: None }, sink)
    }

    /// Writes what is wrong, with the architecture's name and the program's.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn write_named(
        &self,
        arch: &Arch<'_>,
        program: &Program<'_, '_>,
        sink: &mut impl Write,
    ) -> Result {
        let names = PlanNames { arch: arch.name, program: Some(program) };
        self.write(names, sink)
    }
}

shown!(PlanError);

#[cfg(test)]
mod tests {
    use super::{
        Op, PlanError, PlanPool, Unatomic, Unindexed, Unparted, Unscaled, Unstaged, Unsummed,
        Unwritable,
    };
    use lanebook_layout::every_variant_speaks;
    use lanebook_tile::tiling::Reject;

    #[test]
    fn each_error_says_what_is_wrong() {
        let op = Op::at(0).expect("an operation");
        let (pool, need, have) = (PlanPool::Transfers, 9, 8);
        let count = every_variant_speaks!(PlanError:
            Threads { threads: 33, wave: 32, most: 1024 }, Unsupported(op), Target(op), Wave { op, lanes: 64, have: 32 }, Extents(op), Element(op), Precision(op), Sums { op, why: Unsummed::Form },
            NotTraced { op, operand: 1 }, NoMatrixAtom(op), Unscaled { op, why: Unscaled::None },
            Registers { op, registers: 300, most: 255 }, NoCopyAtom { op, why: Reject::Copies },
            Conflict { op, place: None }, Written { op, why: Unwritable::Order }, Undecided(op),
            SharedMemory { op, need, have }, Scratch { op, need, have }, TensorMemory { op, need, scales: 0, have },
            TensorReach { op, warps: 1, needed: 4 }, GlobalReach { op, bytes: 1 << 40 },
            Stages { op, why: Unstaged::NoCopy }, Masked(op), Reshape(op),
            Part { op, why: Unparted::Between }, Indexed { op, why: Unindexed::Shape }, Atomic { op, why: Unatomic::Shared },
            ProgramCapacity { op, pool: lanebook_ir::Pool::Ops, limit: 9 },
            Capacity { pool, capacity: 3, op: None }, UnknownArch, Stale);
        assert!(count > 15);
    }
}
