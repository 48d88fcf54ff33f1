//! Why no plan was made.

use lanebook_ir::{Op, Pool};
use lanebook_tile::tiling::Reject;

/// Where beside an operation a conversion can stand, as [`PlanError::Conflict`] names it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum ConversionPlace {
    /// Before this operand.
    Before(u8),
    /// Behind its result.
    Behind,
}

/// Why no plan was made. Every value names the operation (or value) and the figures that matter.
///
/// ```
/// use lanebook::TABLES;
/// use lanebook::compile::{CompileError, KernelStorage, plan};
/// use lanebook::ir::{Options, SmallStorage, parse};
/// use lanebook::plan::{ConversionPlace, PlanError, PlanPool, Unatomic, Unindexed, Unparted, Unscaled, Unstaged, Unsummed, Unwritable};
///
/// // Threads that are no power of two.
/// let text = "func @f(%x: memref<?x64xf32, #gmem>) {threads = 100} {
///   %a = tiled_load %x[0, 0] : memref<?x64xf32, #gmem> -> tensor<64x64xf32>
///   tiled_store %a, %x[0, 0] : tensor<64x64xf32> -> memref<?x64xf32, #gmem>
/// }";
/// let (mut pools, mut room) = (Box::new(SmallStorage::new()), Box::new(KernelStorage::new()));
/// let mut program = parse(pools.pools(), &TABLES, text, Options::default()).unwrap();
/// let arch = TABLES.arch_named("sm_80").unwrap();
/// let Err(CompileError::Plan(refused)) = plan(&TABLES, arch, &mut program, room.scratch()) else { panic!() };
/// assert!(matches!(refused, PlanError::Threads { .. }));
/// let (mut plain, mut named) = (String::new(), String::new());
/// refused.write_text(&mut plain).unwrap();
/// refused.write_named(TABLES.arch(arch).unwrap(), &program, &mut named).unwrap();
/// assert!(named.contains("100"), "{named}");
/// // Pools, and reasons inside of others.
/// assert!(!PlanPool::Fragments.describe().is_empty());
/// assert_ne!(Unwritable::Size.message(true), Unwritable::Axes.message(true));
/// # fn reasons(_: ConversionPlace, _: Unatomic, _: Unindexed, _: Unparted, _: Unscaled, _: Unstaged, _: Unsummed) {}
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum PlanError {
    /// The function has no `threads`, or a number that is no power-of-two multiple of the wave.
    Threads {
        /// What it says; 0 = nothing.
        threads: u32,
        /// Shuffles of a wave.
        wave: u32,
        /// Most threads of a group.
        most: u32,
    },
    /// The operation is not one that the planner understands.
    Unsupported(Op),
    /// A tile's extents are not two known numbers (an odd factor may be up to 255), or the tile is
    /// too large.
    Extents(Op),
    /// A tile's element type is unknown or not a whole number of bytes.
    Element(Op),
    /// The operand is not an allocation or a kernel argument that can be traced.
    NotTraced {
        /// The operation.
        op: Op,
        /// Which operand.
        operand: u8,
    },
    /// No matrix atom of the architecture takes these types and divides this tile among these
    /// warps.
    NoMatrixAtom(Op),
    /// No matrix atom of the architecture takes this product's block scales.
    Unscaled {
        /// The operation.
        op: Op,
        /// Why, as far as the closest atom says.
        why: Unscaled,
    },
    /// However the product is split over the warps, a lane would hold more registers of one operand
    /// than a tuple can have.
    Registers {
        /// The operation.
        op: Op,
        /// Fewest registers among the splits.
        registers: u16,
        /// Most there can be.
        most: u16,
    },
    /// No atom of the architecture can do this movement; `why` is the reason of the candidate that
    /// came furthest.
    NoCopyAtom {
        /// The operation.
        op: Op,
        /// Closest reason.
        why: Reject,
    },
    /// The program is written for another architecture.
    Target(Op),
    /// The program is written for waves of another size.
    Wave {
        /// The function.
        op: Op,
        /// Shuffles that it says a wave has.
        lanes: u32,
        /// Shuffles that one has here.
        have: u32,
    },
    /// Two uses of a register tile want different distributions.
    Conflict {
        /// Where the second one was met.
        op: Op,
        /// Where beside it a conversion could stand between them; `None` = nowhere.
        place: Option<ConversionPlace>,
    },
    /// The layout that the program wrote for a shared tile cannot be kept to.
    Written {
        /// The allocation.
        op: Op,
        /// Why.
        why: Unwritable,
    },
    /// Nothing says how this register tile is distributed.
    Undecided(Op),
    /// Shared memory is exceeded.
    SharedMemory {
        /// The allocation that no longer fits.
        op: Op,
        /// Bytes needed up to and including it.
        need: u32,
        /// Bytes the architecture has.
        have: u32,
    },
    /// What a conversion says that it may take of shared memory is too little.
    Scratch {
        /// The conversion.
        op: Op,
        /// Bytes that it takes at the least, in as many rounds as it can go in.
        need: u32,
        /// Bytes that it may take.
        have: u32,
    },
    /// Tensor memory is exceeded: an allocation is a power of two of its columns, and a block has
    /// no more.
    TensorMemory {
        /// The product whose accumulator no longer fits.
        op: Op,
        /// Columns needed up to and including it.
        need: u32,
        /// Those of them that hold its block scales: an instruction of fewer columns needs as many,
        /// or more.
        scales: u32,
        /// Columns the architecture has.
        have: u32,
    },
    /// A warp loads and stores a part of tensor memory's lanes, by its number: no warp of the group
    /// reaches some lanes of the accumulator.
    TensorReach {
        /// The product.
        op: Op,
        /// Warps of the group.
        warps: u32,
        /// Warps that reach all lanes together.
        needed: u32,
    },
    /// A tile of global memory spans more bytes than offsets inside of it can say, or the matrices
    /// of its tensor lie further apart: words of 32 bits hold both.
    GlobalReach {
        /// What reads or writes the tile.
        op: Op,
        /// Bytes from the tile's first element to behind its last, or from matrix to matrix.
        bytes: u64,
    },
    /// A copy cannot run ahead of its loop's turns, or a loop has none that could.
    Stages {
        /// The loop, the copy, or what reads its tile.
        op: Op,
        /// Why.
        why: Unstaged,
    },
    /// A mask keeps accesses of global memory, of a memref without bounds: of a tile in shared
    /// memory, or beside bounds, none is obeyed.
    Masked(Op),
    /// The elements of a tile's rows do not follow each other under one of two shapes: a width that
    /// is no power of two has its columns in blocks.
    Reshape(Op),
    /// A part of a tile, or a scan of one, that is not made.
    Part {
        /// The operation.
        op: Op,
        /// Why.
        why: Unparted,
    },
    /// An index tile that is not obeyed.
    Indexed {
        /// What has it.
        op: Op,
        /// Why.
        why: Unindexed,
    },
    /// An atomic operation that no instruction does.
    Atomic {
        /// The operation.
        op: Op,
        /// Why.
        why: Unatomic,
    },
    /// Lent storage is full.
    Capacity {
        /// Which.
        pool: PlanPool,
        /// How many it holds; the program needs more.
        capacity: u32,
        /// The operation that needs one more.
        op: Option<Op>,
    },
    /// A pool of the program has no room for what stands in an operation's place.
    ProgramCapacity {
        /// The operation.
        op: Op,
        /// Which pool.
        pool: Pool,
        /// How many it holds; the operation needs more.
        limit: u32,
    },
    /// The sums of a product are to stand in tensor memory, and cannot.
    Sums {
        /// The product.
        op: Op,
        /// Why.
        why: Unsummed,
    },
    /// A product whose factors are to be read with fewer bits, and that are no floats of as many
    /// bits as such elements have.
    Precision(Op),
    /// The architecture is not in the tables.
    UnknownArch,
    /// The plan speaks of something that the program or the tables do not have: they are not those
    /// that it was made of.
    Stale,
}

impl PlanError {
    /// The same about another operation: `to` says which one stands for each.
    #[must_use]
    #[doc(hidden)]
    pub fn about(mut self, to: impl FnOnce(Op) -> Op) -> Self {
        match &mut self {
            Self::Unsupported(op)
            | Self::Target(op)
            | Self::Wave { op, .. }
            | Self::Extents(op)
            | Self::Element(op)
            | Self::Precision(op)
            | Self::Sums { op, .. }
            | Self::NoMatrixAtom(op)
            | Self::Undecided(op)
            | Self::NotTraced { op, .. }
            | Self::Unscaled { op, .. }
            | Self::Registers { op, .. }
            | Self::NoCopyAtom { op, .. }
            | Self::Conflict { op, .. }
            | Self::Written { op, .. }
            | Self::SharedMemory { op, .. }
            | Self::Scratch { op, .. }
            | Self::ProgramCapacity { op, .. }
            | Self::TensorMemory { op, .. }
            | Self::TensorReach { op, .. }
            | Self::GlobalReach { op, .. }
            | Self::Masked(op)
            | Self::Reshape(op)
            | Self::Part { op, .. }
            | Self::Indexed { op, .. }
            | Self::Atomic { op, .. }
            | Self::Stages { op, .. } => *op = to(*op),
            Self::Capacity { op, .. } => {
                if let Some(op) = op {
                    *op = to(*op);
                }
            }
            Self::Threads { .. } | Self::UnknownArch | Self::Stale => {}
        }
        self
    }
}

/// Why a written layout cannot be kept to.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Unwritable {
    /// In none of the notations that are read here (TIRx, CuTe, a TileAS descriptor).
    Unreadable,
    /// It names other axes than memory, or has replicas.
    Axes,
    /// It covers another number of elements than the tile has.
    Size,
    /// Neither rows nor columns lie one after another at one distance, and where an element lies
    /// is no sum of what the bits of its row and of its column are worth.
    Order,
    /// It begins behind the tile's start: it has an offset.
    Offset,
    /// Two of its elements lie in one place.
    Meet,
    /// Elements lie between others so that distances do not tell them apart: one is less than all
    /// smaller ones together.
    Interleaved,
    /// The extent whose elements lie side by side is no power of two, in elements, and it has a
    /// swizzle or padding.
    Extent,
    /// It has both rows apart from each other and a swizzle or padding of its own.
    Both,
    /// A matrix unit reads the tile, and no descriptor of its describes this layout.
    Unit,
    /// Its swizzle does not stay inside a power-of-two piece of the tile, or reaches upwards.
    Swizzle,
    /// Its padding does not stand behind powers of two of bytes.
    Padding,
    /// It says what the elements are, which the tile's type does.
    Element,
    /// An extent of a register tile is no power of two, and its panels are not one after the other
    /// in each lane's registers.
    Panels,
    /// The program was made by hand, and nobody has read its layouts
    /// ([`read_layouts`](lanebook_ir::Program::read_layouts)); or it is in a notation of another
    /// system, and nobody has brought it to one of these (`lanebook::written::resolve_layouts`).
    Unread,
    /// It gives each lane more registers of a tile than are followed.
    Registers,
    /// The function is one of parallel loops, and the layout neither by rows or columns at one
    /// distance or in strips, nor, of more than two dimensions, row by row without gaps.
    Rows,
}

/// Most sizes of tiles whose copies run ahead in one loop, and of steps of descriptors of them.
pub const MAX_STAGED_SIZES: usize = 6;
/// Turns that run ahead reach over fewer indices than this.
pub(crate) const STAGED_REACH: i64 = 1 << 30;

/// Why a copy cannot run ahead of its loop's turns.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Unstaged {
    /// Warps are to be set aside in a function of parallel loops.
    InPlace,
    /// A function of parallel loops whose waves are no power of two.
    Waves,
    /// A copy of some threads.
    Range,
    /// A copy of a whole memref.
    Whole,
    /// No copy from global to shared memory stands directly in the loop.
    NoCopy,
    /// The loop's step is no number, or a bound may be below zero.
    Bounds,
    /// The turns that run ahead reach further than indices do.
    Reach,
    /// Tiles, and descriptors of them, of more sizes than there is room for.
    Sizes,
    /// Where the copy's tile begins does not go on by the same in each turn, nor is it made of what
    /// the loop loads.
    Uneven,
    /// Something else than loads behind the copy, in the same loop, touches its tile.
    Touched,
    /// The loop writes the tensor that the copy reads.
    Written,
    /// No instruction copies it so that it can be waited for turn by turn.
    Mover,
    /// What reads the tile cannot be ordered after a copy that runs ahead.
    Reader,
    /// Warps are to be set aside for a loop whose copies do not run ahead.
    Single,
    /// The architecture has nothing to set warps aside with.
    Apart,
    /// With the warps that are set aside the block has too many threads.
    Threads,
    /// The function writes the tensor that other warps copy from.
    WrittenBeside,
    /// No copy of boxes brings the tile: other warps start those alone.
    Boxes,
    /// Where a copy begins, or how often a loop around it turns, is loaded or computed of elements,
    /// which the warps that copy do not do.
    Loaded,
}

/// Why an index tile is not obeyed.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Unindexed {
    /// The tile lies in shared memory.
    Shared,
    /// Its elements are no whole numbers of 32 bits.
    Element,
    /// It has another shape than the tile that is moved.
    Shape,
    /// The memref has no such dimension.
    Dimension,
    /// A dimension is named, and there are no indices.
    Missing,
    /// A tile stands where neither indices nor, behind them, a mask does.
    Order,
}

/// Why a part of a tile, or a scan of one, is not made.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Unparted {
    /// The part has not as many dimensions as the tile, or the result is not the tile's shape.
    Shape,
    /// The part begins at a place that the program does not say as a number.
    Place,
    /// The part reaches beyond the tile.
    Outside,
    /// The part does not begin at a multiple of its extent, or the tile is not a multiple of it.
    Between,
    /// The tile has no such dimension.
    Dimension,
    /// The dimension of a scan has not a power of two of elements.
    Steps,
    /// Shuffles have different parts of the tile: the part is no choice of registers. Others then
    /// stand in the operation's place, and planning begins again.
    Lanes,
    /// What stands in its place moves a power of two of elements: those of its rows, and its own
    /// where some of a row are taken.
    Long,
}

/// Why no instruction does an atomic operation.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Unatomic {
    /// The architecture has none that does this to these elements.
    Elements,
    /// The tile lies in shared memory.
    Shared,
    /// Nothing to compare with stands behind the memref.
    Compared,
    /// Several threads would hold an element, one of which alone would know what was there, or be
    /// the one that a mask speaks of; and the tile cannot be made larger, so that each has its own.
    Few,
    /// The architecture combines such elements by pairs alone, which begin at multiples of two, and no
    /// two of these are certainly one.
    Pairs,
}

/// Why the sums of a product cannot stand in tensor memory.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Unsummed {
    /// The architecture has no such memory.
    Absent,
    /// No instruction that leaves its sums there multiplies these elements in tiles of these
    /// extents, the second of them from shared memory.
    Form,
}

/// Why no matrix atom takes a product with block scales.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Unscaled {
    /// The architecture has no product with block scales that is known in full.
    None,
    /// None takes these element types.
    Elements,
    /// None takes scales of this type with these elements.
    Type {
        /// Which operand.
        operand: u8,
    },
    /// None has one scale for so many elements.
    Run {
        /// Elements along the depth that share a scale in the program.
        have: u32,
        /// And in an atom that takes the types.
        takes: u16,
    },
    /// None divides an extent.
    Extent {
        /// Which: 0 rows of A, 1 columns of B, 2 depth.
        which: u8,
        /// The program's.
        have: u32,
        /// The least of an atom that takes the rest.
        takes: u16,
    },
}

impl Unscaled {
    /// The higher, the closer an atom came.
    pub(crate) const fn rank(self) -> u8 {
        match self {
            Self::None => 0,
            Self::Elements => 1,
            Self::Type { .. } => 2,
            Self::Run { .. } => 3,
            Self::Extent { .. } => 4,
        }
    }

    /// Whether an atom divides the same extent into smaller parts than another that does not divide
    /// it either.
    pub(crate) fn takes_less(self, other: Self) -> bool {
        match (self, other) {
            (Self::Extent { which: a, takes, .. }, Self::Extent { which: b, takes: most, .. }) => {
                a == b && takes < most
            }
            _ => false,
        }
    }
}

/// Pools of a plan.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum PlanPool {
    /// Shared tiles.
    Allocs,
    /// Register tiles.
    Fragments,
    /// Global tiles.
    Globals,
    /// Movements.
    Transfers,
    /// Products.
    Products,
    /// Tensor maps.
    Maps,
    /// Mbarriers.
    Mbarriers,
    /// Exchanges through shared memory.
    Exchanges,
    /// Conversions inside warps.
    Shuffles,
    /// Copy atoms of the architecture.
    CopyAtoms,
    /// Loads of copies through registers.
    Staged,
    /// Tiles waiting to be looked at.
    Worklist,
    /// Ways to do one product.
    Candidates,
    /// Operands that matrix units read from shared memory.
    UnitOperands,
    /// Elementwise operations with others in their place.
    Expansions,
    /// Conversions that the program does not write.
    Conversions,
}
