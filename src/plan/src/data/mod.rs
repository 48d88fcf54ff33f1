//! The plan: what was chosen for every tile of a program, and why not something else.
//!
//! Data only: choosing writes it, placing completes it, emission and the checker read it.
pub(crate) mod alloc_plan;
pub(crate) mod error;
pub(crate) mod limits;
pub(crate) mod scaled;
pub(crate) mod shuffle;
pub(crate) mod tensor;
pub(crate) mod tiled;

pub use crate::data::alloc_plan::AllocPlan;
pub(crate) use crate::data::error::STAGED_REACH;
pub use crate::data::error::{
    ConversionPlace, MAX_STAGED_SIZES, PlanError, PlanPool, Unatomic, Unindexed, Unparted,
    Unscaled, Unstaged, Unsummed, Unwritable,
};
pub use crate::data::limits::Limits;
pub use crate::data::scaled::{BlockBitRole, ScaleCopy, ScaleFeed, ScalePlan};
pub use crate::data::shuffle::{ByteSource, Either, Gather, ShufflePlan, Swap};
pub use crate::data::tensor::InTensor;
#[doc(hidden)]
pub use crate::data::tensor::stored_before;
pub use crate::data::tiled::{MAP_RANK, MapPlan, TiledPlan};
pub use lanebook_tile::product::TensorLoads;
pub use lanebook_tile::product::{Product, ProductInput};
#[doc(hidden)]
pub use lanebook_tile::tensor_blocks::TensorBlocks;
pub use lanebook_tile::tiling::{Figures, RegisterTranspose, Reject, Tiling};

use heapless::VecView;
use lanebook_ir::{Op, Value};
use lanebook_tables::{ArchId, AtomId, Status, Weights};
use lanebook_tile::basis::PlaceBasis;
use lanebook_tile::evaluate::EndMap;
use lanebook_tile::map::{BitMatrix, Fragment, MemoryMap, SharedLayout};

/// A tile in registers.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct FragmentPlan {
    /// The value.
    pub value: Value,
    /// How it is distributed.
    pub fragment: Fragment,
}

/// A tile in global memory.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct GlobalPlan {
    /// The kernel's argument.
    pub memref: Value,
    /// Row and column where the tile starts; a memref of one dimension is one row, which has no
    /// number.
    pub start: (Option<Value>, Value),
    /// Of a memref that holds many matrices: which one the tile is of, by the dimensions in front
    /// of rows and columns, outermost first.
    pub leading: [Option<Lead>; LEADS],
    /// Certain alignment in bytes of the tile's start and of the outer stride.
    pub align: u32,
    /// Certain alignment in bytes of the tensor's first element, and of its outer stride.
    pub tensor_align: (u32, u32),
    /// Certain alignment in bytes of the tile's start within its row.
    pub column_align: u32,
    /// Dimensions of the memref, a bit each, along which the tile may reach beyond the tensor's
    /// bounds ([`Program::bounds`](lanebook_ir::Program::bounds)).
    pub guards: u8,
    /// Dimensions of the memref, a bit each, along which the tile may start below zero, where
    /// bounds or a mask leave out what is there.
    pub below: u8,
    /// Whether a mask says which elements are touched.
    pub is_masked: bool,
    /// The dimension of the memref along which an index tile says where each element lies, from
    /// the tile's start on ([`Program::index_tile`](lanebook_ir::Program::index_tile)).
    pub indexed: Option<u8>,
    /// Bytes of a row that are certainly all inside of the bounds or all outside, and of which the
    /// mask says the same, and the index.
    pub whole: u32,
    /// The tile's map. Where its type does not say the outer stride, that is a parameter; it is 0
    /// where there is one row.
    pub map: MemoryMap,
}

/// Most dimensions of a memref in front of those of a tile.
pub const LEADS: usize = MAP_RANK - 2;

/// The index of a tile's matrix in a dimension in front of the tile's own.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Lead {
    /// The index.
    pub start: Value,
    /// Bytes from one index to the next, if the type says it; else the stride is a parameter.
    pub bytes: Option<u32>,
}

#[doc(hidden)]
impl GlobalPlan {
    /// The indices of the tile's matrix, outermost first.
    pub fn leads(&self) -> impl Iterator<Item = &Lead> {
        self.leading.iter().flatten()
    }

    /// It as an end of a movement.
    #[must_use]
    pub fn end(&self) -> EndMap<'_> {
        let whole =
            (self.guards != 0 || self.is_masked || self.indexed.is_some()).then_some(self.whole);
        EndMap::Global(&self.map, self.align, whole)
    }

    /// Dimensions of the memref.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.starts().count()
    }

    /// The map without what an index tile says: elements that differ in nothing else have one
    /// place.
    #[must_use]
    pub fn placed(&self) -> MemoryMap {
        let Some(dim) = self.indexed else { return self.map };
        let (is_inner, is_outer) = match self.rank().saturating_sub(usize::from(dim)) {
            1 => (true, self.start.0.is_none()),
            2 => (false, true),
            _ => (false, false),
        };
        self.map.without(is_outer, is_inner)
    }

    /// Whether the tile may start below zero along a dimension of the memref.
    #[must_use]
    pub fn may_start_below(&self, dim: usize) -> bool {
        u32::try_from(dim).is_ok_and(|dim| self.below.checked_shr(dim).unwrap_or(0) & 1 != 0)
    }

    /// Whether an index tile says where elements lie along a dimension of the memref.
    #[must_use]
    pub fn is_indexed(&self, dim: usize) -> bool {
        self.indexed.is_some_and(|own| usize::from(own) == dim)
    }

    /// Where the tile starts along each dimension of the memref, outermost first.
    pub fn starts(&self) -> impl Iterator<Item = Value> {
        self.leads().map(|lead| lead.start).chain(self.start.0).chain([self.start.1])
    }
}

/// One end of a movement.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// Registers: index into [`Plan::fragments`].
    Registers(u16),
    /// Shared memory: index into [`Plan::allocs`].
    Shared(u16),
    /// Global memory: index into [`Plan::globals`].
    Global(u16),
}

/// A movement.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct TransferPlan {
    /// The operation.
    pub op: Op,
    /// The atom; the first of two where the tile goes through registers on its way.
    pub atom: AtomId,
    /// The second atom of a pair (registers to shared memory).
    pub second: Option<AtomId>,
    /// Of a pair, the blocks that are transposed between; `tiling` is the first atom's then.
    pub transpose: Option<RegisterTranspose>,
    /// Where one thread starts copies of whole boxes: through which map. The atom's slots and the
    /// group's warps have no part in them.
    pub tiled: Option<TiledPlan>,
    /// Decomposition.
    pub tiling: Tiling,
    /// Where from.
    pub from: End,
    /// Where to.
    pub to: End,
    /// Figures.
    pub figures: Figures,
    /// Status of the bank model that the conflicts were counted by, if one was used.
    pub bank_status: Option<Status>,
    /// Bits of a thread's number that are zero in the threads that do it: the others hold copies of
    /// what these store.
    pub kept: u16,
}

/// A matrix product.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct ProductPlan {
    /// The operation.
    pub op: Op,
    /// The atom with its split over warps.
    pub product: Product,
    /// A, B, C and D.
    pub ends: [End; 4],
    /// Of A and B in shared memory, how.
    pub shared: [Option<InShared>; 2],
    /// Block scales of A and B, where the product has them.
    pub scales: [Option<ScalePlan>; 2],
    /// Block scales of A and B in tensor memory.
    pub copied: [Option<ScaleCopy>; 2],
    /// C and D in tensor memory, how. Their ends then say how they are distributed once they are
    /// fetched.
    pub tensor: Option<InTensor>,
}

/// An operand of a product that a matrix unit reads from shared memory through a descriptor.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct InShared {
    /// The allocation, as an index.
    pub alloc: u16,
    /// The operation that reads it in the program; nothing is emitted for it.
    pub load: Op,
    /// The tile is the operand with rows and columns exchanged.
    pub transposed: bool,
    /// Whether the operand's outer coordinate (m of A, n of B) is contiguous, not its depth.
    pub outer_major: bool,
    /// The descriptor for a tile at address 0.
    pub word: u64,
}

/// One half of an exchange.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct HalfPlan {
    /// The atom.
    pub atom: AtomId,
    /// Decomposition.
    pub tiling: Tiling,
    /// Figures.
    pub figures: Figures,
    /// Status of the bank model that the conflicts were counted by, if one was used.
    pub bank_status: Option<Status>,
    /// Bits of a thread's number that are zero in the threads that do it: the others hold copies of
    /// what these store.
    pub kept: u16,
    /// log2 of the warps of which one does it.
    pub shared_by: u8,
}

#[doc(hidden)]
impl TransferPlan {
    /// Whether an atom is one of those that it is done by.
    #[doc(hidden)]
    #[must_use]
    pub fn is_by(&self, atom: AtomId) -> bool {
        self.atom == atom || self.second == Some(atom) || self.tiling.upper == Some(atom)
    }
}

impl HalfPlan {
    /// Whether an atom is one of those that it is done by.
    #[doc(hidden)]
    #[must_use]
    pub fn is_by(&self, atom: AtomId) -> bool {
        self.atom == atom || self.tiling.upper == Some(atom)
    }

    /// What it costs where ways to convert are compared, in quarter units.
    #[doc(hidden)] // For the floors above.
    #[must_use]
    pub fn cost(&self, weights: &Weights) -> u32 {
        let passes = self.figures.count.saturating_mul(self.figures.conflicts.transactions);
        self.figures
            .cost
            .saturating_add(self.figures.count.saturating_mul(weights.exchange_access))
            .saturating_add(self.each(passes.saturating_mul(weights.exchange_pass)))
    }

    /// What each warp has of a cost of those that do it.
    pub(crate) fn each(&self, cost: u32) -> u32 {
        cost.checked_shr(u32::from(self.shared_by)).unwrap_or(0)
    }

    /// Passes over the banks of `2^warps` warps together.
    #[doc(hidden)] // For the floors above.
    #[must_use]
    pub fn passes(&self, warps: u8) -> u64 {
        let one = u64::from(self.figures.count)
            .saturating_mul(u64::from(self.figures.conflicts.transactions));
        let warps = u32::from(warps.saturating_sub(self.shared_by));
        one.saturating_mul(1u64.checked_shl(warps).unwrap_or(u64::MAX))
    }
}

/// A tile that goes from one distribution to another through shared memory: what the warps of a
/// reduction leave for each other, or a conversion.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct SharedExchange {
    /// The operation.
    pub op: Op,
    /// The tile in shared memory, as an index; its value is the operation's result.
    pub alloc: u16,
    /// How the tile is distributed when it is stored.
    pub from: Fragment,
    /// How it is distributed when it has been loaded.
    pub to: Fragment,
    /// Where each element lies; what the halves call elements are places.
    pub basis: PlaceBasis,
    /// The store.
    pub store: HalfPlan,
    /// The load.
    pub load: HalfPlan,
    /// Rounds, one after the other through the same places: the bits of an element's number that
    /// say in which one it goes. The last bits of an instance's number say the same, in this order.
    pub rounds: BitMatrix<u32, MAX_ROUND_BITS>,
}

/// Most bits of a round's number: an eighth of a tile at a time.
pub const MAX_ROUND_BITS: usize = 3;

/// What an exchange costs beside its two halves: barriers, and those of further rounds.
pub(crate) fn beside_halves(rounds: u32, weights: &Weights) -> u32 {
    weights.exchange().saturating_add(rounds.saturating_sub(1).saturating_mul(weights.round()))
}

#[doc(hidden)]
impl SharedExchange {
    /// How many rounds there are.
    #[must_use]
    pub fn round_count(&self) -> u32 {
        1u32.checked_shl(u32::try_from(self.rounds.len()).unwrap_or(u32::MAX)).unwrap_or(1)
    }

    /// Bytes of the places of one round.
    #[must_use]
    pub fn bytes(&self) -> u32 {
        let all = u32::try_from(self.from.shape.bytes()).unwrap_or(u32::MAX);
        all.checked_div(self.round_count()).unwrap_or(all)
    }

    /// Weighted sum of both halves, addresses and barriers, in quarter units, as ways to convert
    /// are compared.
    #[must_use]
    pub fn cost(&self, weights: &Weights) -> u32 {
        let halves = self.store.cost(weights).saturating_add(self.load.cost(weights));
        halves.saturating_add(beside_halves(self.round_count(), weights))
    }

    /// The two halves as movements; their ends in registers are no fragment of the plan.
    #[must_use]
    pub fn moves(&self) -> [TransferPlan; 2] {
        let (registers, shared) = (End::Registers(u16::MAX), End::Shared(self.alloc));
        let half = |h: &HalfPlan, from, to| TransferPlan {
            op: self.op,
            tiled: None,
            atom: h.atom,
            second: None,
            transpose: None,
            tiling: h.tiling,
            from,
            to,
            figures: h.figures,
            bank_status: h.bank_status,
            kept: h.kept,
        };
        [half(&self.store, registers, shared), half(&self.load, shared, registers)]
    }
}

/// What lost.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct RejectedCandidate {
    /// The operation it was a candidate for.
    pub op: Op,
    /// What it was.
    pub what: Candidate,
    /// Why it was not taken.
    pub why: Reject,
    /// Its cost in quarter units where it was legal.
    pub cost: u32,
}

/// A candidate.
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum Candidate {
    /// An atom for a movement, under the shared layout that was chosen.
    Atom(AtomId),
    /// A shared layout for the allocation.
    Shared(SharedLayout),
    /// A matrix atom with log2 of the warps along m and n.
    Matrix(AtomId, u8, u8),
    /// The same where the atom computes the transposed product, of the operands exchanged.
    Transposed(AtomId, u8, u8),
    /// Matrix atom with its accumulator in tensor memory, and the form of the loads as an index
    /// into the tables.
    Tensor(AtomId, u8),
    /// A pair of which this atom is the first, with blocks transposed between: log2 of a block's
    /// width and height.
    Flipped(AtomId, u8, u8),
    /// A width, in elements (as log2) a lane, for a tile that may be distributed freely.
    Blocked(u8),
    /// The distribution of the other side of a conversion; whether each narrow element has a register
    /// of its own.
    Beside(bool),
    /// A conversion through shared memory, by a store and a load.
    Exchange(AtomId, AtomId),
    /// A conversion inside each warp.
    Lanes,
}

/// The plan of one function, in storage lent by the caller.
///
/// ```
/// use lanebook::compile::{Capacities, plan};
/// use lanebook::ir::{Options, SmallStorage, parse};
/// use lanebook::plan::{AllocPlan, Candidate, End, FragmentPlan, GlobalPlan, HalfPlan, MapPlan, ProductPlan, RejectedCandidate, SharedExchange, ShufflePlan, TransferPlan};
/// use lanebook::TABLES;
///
/// let text = "func @f(%x: memref<?x64xf32, #gmem> {align = 16, stride_div = 4}, %m: index {div = 32}) {threads = 128} {
///   %s = alloc_tensor : tensor<32x64xf32, #smem>
///   copy %x[%m, 0], %s : memref<?x64xf32, #gmem> -> tensor<32x64xf32, #smem>
///   %a = tiled_load %s : tensor<32x64xf32, #smem> -> tensor<32x64xf32>
///   %b = add %a, %a : tensor<32x64xf32>
///   tiled_store %b, %x[%m, 0] : tensor<32x64xf32> -> memref<?x64xf32, #gmem>
/// }";
/// // Losers are kept where there is room for them.
/// const ROOM: Capacities = Capacities { rejected: 64, ..Capacities::DEFAULT };
/// let mut room = Box::new(<lanebook::compile_storage!(ROOM)>::new());
/// let mut pools = Box::new(SmallStorage::new());
/// let mut program = parse(pools.pools(), &TABLES, text, Options::default()).unwrap();
/// let arch = TABLES.arch_named("sm_80").unwrap();
/// let mut planned = plan(&TABLES, arch, &mut program, room.scratch()).unwrap();
/// let plan = &planned.plan;
/// let body = program.body(planned.function).unwrap();
/// let [alloc, copy, load, add] = [0, 1, 2, 3].map(|k| program.ops(body).nth(k).unwrap());
/// let value = |op| program.result(op, 0).unwrap();
///
/// // Where the shared tile lies, and in which layout.
/// let (_, tile): (u16, &AllocPlan) = plan.alloc_of(value(alloc)).unwrap();
/// assert_eq!((tile.bytes, tile.stage_bytes(), tile.meets(tile)), (8192, 8192, true));
/// // It lies by rows, columns or strips, so that no table says where; as a map of bits, and by strides.
/// assert!(tile.table.is_none() && tile.map().is_some() && tile.to_layout().is_some());
/// // By which instruction each movement goes, and between what.
/// let moved: &TransferPlan = plan.move_of(copy).unwrap();
/// assert!(matches!((moved.from, moved.to), (End::Global(_), End::Shared(_))));
/// assert!(!TABLES.atom(moved.atom).unwrap().name().is_empty() && plan.staged(moved).is_none() && !plan.runs_ahead(copy));
/// let global: &GlobalPlan = &plan.globals[0];
/// assert_eq!(Some(global.memref), program.operand(copy, 0));
/// // How each register tile lies over lanes and registers.
/// let (at, fragment) = plan.fragment_of(value(add)).unwrap();
/// let listed: &FragmentPlan = &plan.fragments[usize::from(at)];
/// assert_eq!(&listed.fragment, fragment);
/// assert!(plan.move_of(load).is_some() && !plan.is_absorbed(load) && plan.times_absorbed(load) == 0);
/// // No products, no conversions in this one; nothing of tensor memory.
/// let (products, maps): (&[ProductPlan], &[MapPlan]) = (plan.products, plan.maps);
/// let (exchanges, lanes): (&[SharedExchange], &[ShufflePlan]) = (plan.exchanges, plan.lanes);
/// assert!(products.is_empty() && maps.is_empty() && exchanges.is_empty() && lanes.is_empty());
/// assert!(plan.product_of(add).is_none() && plan.exchange_of(add).is_none() && plan.lanes_of(add).is_none());
/// assert!(plan.lanes_ahead(add).is_none() && !plan.converts(add) && plan.in_tensor(&program, value(add)).is_none());
/// assert_eq!(plan.tensor_completion(), None);
/// let half: Option<&HalfPlan> = exchanges.first().map(|exchange| &exchange.store);
/// assert!(half.is_none());
/// // What lost, and why.
/// let lost: &RejectedCandidate = &plan.rejected[0];
/// let what: Candidate = lost.what;
/// assert!(matches!(what, Candidate::Blocked(_)), "a width for a tile that may be distributed freely");
/// assert!(program.is_alive(lost.op));
/// let lost = *lost;
/// planned.plan.lose(lost);
/// planned.plan.clear();
/// assert!(planned.plan.transfers.is_empty());
/// ```
pub struct Plan<'s> {
    /// For which architecture.
    pub arch: ArchId,
    /// Threads of the group.
    pub threads: u32,
    /// log2 of the lanes of a wave.
    pub wave: u8,
    /// log2 of the warps of the group.
    pub warps: u8,
    /// Shared tiles.
    pub allocs: &'s mut VecView<AllocPlan>,
    /// Register tiles.
    pub fragments: &'s mut VecView<FragmentPlan>,
    /// Global tiles.
    pub globals: &'s mut VecView<GlobalPlan>,
    /// Movements, in program order.
    pub transfers: &'s mut VecView<TransferPlan>,
    /// Products, in program order.
    pub products: &'s mut VecView<ProductPlan>,
    /// Tensor maps that the caller passes behind all other parameters, in their order.
    pub maps: &'s mut VecView<MapPlan>,
    /// Exchanges through shared memory, in program order.
    pub exchanges: &'s mut VecView<SharedExchange>,
    /// Conversions inside warps, in program order.
    pub lanes: &'s mut VecView<ShufflePlan>,
    /// Rejected candidates, in the order in which they were looked at.
    pub rejected: &'s mut VecView<RejectedCandidate>,
    /// Rejected candidates for which there was no room in `rejected`.
    pub rejected_dropped: u32,
    /// Mbarriers of the group, one after the other, the one that products in tensor memory
    /// arrive at last; set by placement.
    pub mbarriers: u8,
    /// Where the first of them is, in bytes from the group's shared segment.
    pub mbarrier_offset: u32,
    /// Bytes of shared memory; set by placement.
    pub shared_bytes: u32,
    /// Alignment of the shared segment.
    pub shared_align: u32,
    /// Columns of tensor memory that the kernel allocates; set by placement, 0 = none.
    pub tensor_columns: u16,
    /// Where the words that tensor memory needs in shared memory start; set by placement.
    pub tensor_slot: u32,
    /// Warps that are set aside to start copies for the others.
    pub specialized: Option<SpecializedWarps>,
}

/// Warps beside those that a kernel's tiles are dealt out to: they only start copies.
///
/// ```
/// use lanebook::TABLES;
/// use lanebook::compile::{KernelStorage, plan};
/// use lanebook::ir::{Options, SmallStorage, parse};
/// use lanebook::plan::SpecializedWarps;
///
/// let text = "func @f(%x: memref<4096x64xf16, #gmem> {align = 16},
///                         %y: memref<4096x64xf16, #gmem> {align = 16}) {threads = 128} {
///   %s = alloc_tensor : tensor<64x64xf16, #smem>
///   scf.for %k = 0 to 4096 step 64 {num_stages = 3, warp_specialize} {
///     copy %x[%k, 0], %s : memref<4096x64xf16, #gmem> -> tensor<64x64xf16, #smem>
///     %a = tiled_load %s : tensor<64x64xf16, #smem> -> tensor<64x64xf16>
///     tiled_store %a, %y[%k, 0] : tensor<64x64xf16> -> memref<4096x64xf16, #gmem>
///     scf.yield
///   }
/// }";
/// let (mut pools, mut room) = (Box::new(SmallStorage::new()), Box::new(KernelStorage::new()));
/// let mut program = parse(pools.pools(), &TABLES, text, Options::default()).unwrap();
/// let arch = TABLES.arch_named("sm_90a").unwrap();
/// let planned = plan(&TABLES, arch, &mut program, room.scratch()).unwrap();
/// let apart: SpecializedWarps = planned.plan.specialized.unwrap();
/// assert_eq!((planned.plan.threads, apart.threads), (128, 128));
/// assert!(apart.producer < apart.entry && apart.entry <= apart.consumer);
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct SpecializedWarps {
    /// Number of the fact among the tables' specializations.
    pub how: u8,
    /// Threads that are set aside, behind all others.
    pub threads: u16,
    /// Registers of each thread when the block begins.
    pub entry: u16,
    /// Registers that one which only copies is left with.
    pub producer: u16,
    /// Registers that the others have then.
    pub consumer: u16,
}

impl Plan<'_> {
    /// Forgets everything.
    pub fn clear(&mut self) {
        self.allocs.clear();
        self.fragments.clear();
        self.globals.clear();
        self.transfers.clear();
        self.products.clear();
        self.maps.clear();
        (self.mbarriers, self.mbarrier_offset) = (0, 0);
        self.exchanges.clear();
        self.lanes.clear();
        self.rejected.clear();
        self.rejected_dropped = 0;
        self.shared_bytes = 0;
        self.shared_align = 0;
        self.tensor_columns = 0;
        self.tensor_slot = 0;
        self.specialized = None;
    }

    /// The fragment of a register value.
    #[must_use]
    pub fn fragment_of(&self, value: Value) -> Option<(u16, &Fragment)> {
        let index = self.fragments.iter().position(|f| f.value == value)?;
        Some((u16::try_from(index).ok()?, &self.fragments.get(index)?.fragment))
    }

    /// The allocation of a memory value.
    #[must_use]
    pub fn alloc_of(&self, value: Value) -> Option<(u16, &AllocPlan)> {
        let index = self.allocs.iter().position(|a| a.value == value)?;
        Some((u16::try_from(index).ok()?, self.allocs.get(index)?))
    }

    /// The movement of an operation.
    #[must_use]
    pub fn move_of(&self, op: Op) -> Option<&TransferPlan> {
        self.transfers.iter().find(|m| m.op == op)
    }

    /// The tile of several buffers that a movement fills or reads.
    #[must_use]
    pub fn staged(&self, movement: &TransferPlan) -> Option<&AllocPlan> {
        let tile = |end: End| match end {
            End::Shared(k) => self.allocs.get(usize::from(k)).filter(|tile| tile.stages > 1),
            _ => None,
        };
        tile(movement.from).or_else(|| tile(movement.to))
    }

    /// Whether an operation is a copy that runs turns ahead.
    #[must_use]
    pub fn runs_ahead(&self, op: Op) -> bool {
        let copy = self.move_of(op).filter(|m| matches!(m.from, End::Global(_)));
        copy.is_some_and(|m| self.staged(m).is_some())
    }

    /// How many turns' copies of a loop are on their way or in shared memory at once: as many as the
    /// program writes, or two where all go through registers, which hold one turn's copies.
    #[doc(hidden)]
    #[must_use]
    pub fn stages(&self, program: &lanebook_ir::Program<'_, '_>, around: Op) -> u8 {
        let mut own = self.transfers.iter().filter(|m| program.parent(m.op) == Some(around));
        let tile = own.find_map(|m| self.staged(m).filter(|_| self.runs_ahead(m.op)));
        tile.map_or_else(|| program.stages(around), |tile| tile.stages)
    }

    /// The products that read a tile in shared memory by themselves, each with the input that it
    /// is.
    #[doc(hidden)]
    pub fn readers(
        &self,
        tile: End,
    ) -> impl Iterator<Item = (&ProductPlan, ProductInput, &InShared)> {
        self.products.iter().flat_map(move |p| {
            let shared = ProductInput::BOTH.into_iter().zip(&p.shared);
            let given = shared.filter_map(|(input, given)| Some((input, given.as_ref()?)));
            let own = given.filter(move |(_, given)| End::Shared(given.alloc) == tile);
            own.map(move |(input, given)| (p, input, given))
        })
    }

    /// The mbarriers of a loop of stages: the first one, and how many. Copies of one turn
    /// complete on one of them together, those of the next turn on the next.
    #[doc(hidden)]
    #[must_use]
    pub fn ring(&self, program: &lanebook_ir::Program<'_, '_>, around: Op) -> Option<(u8, u8)> {
        self.transfers.iter().filter(|m| program.parent(m.op) == Some(around)).find_map(|m| {
            let tile = self.staged(m).filter(|_| self.runs_ahead(m.op))?;
            Some((m.tiled?.completion?, tile.stages))
        })
    }

    /// Of a loop whose copies other warps start: the objects at which readers arrive when they have
    /// read a buffer, behind those that the copies complete on, and as many.
    #[doc(hidden)]
    #[must_use]
    pub fn freed_ring(
        &self,
        program: &lanebook_ir::Program<'_, '_>,
        around: Op,
    ) -> Option<(u8, u8)> {
        let (first, count) = self.ring(program, around)?;
        program.is_warp_specialized(around).then_some((first.saturating_add(count), count))
    }

    /// Whether threads arrive at an mbarrier when they have read a buffer.
    #[doc(hidden)]
    #[must_use]
    pub fn is_freed(&self, program: &lanebook_ir::Program<'_, '_>, number: u8) -> bool {
        let rings = self.transfers.iter().filter_map(|m| program.parent(m.op));
        rings
            .filter_map(|around| self.freed_ring(program, around))
            .any(|(first, count)| number.checked_sub(first).is_some_and(|k| k < count))
    }

    /// Whether warps hand buffers over to each other with an mbarrier.
    #[doc(hidden)]
    #[must_use]
    pub fn is_handed_over(&self, program: &lanebook_ir::Program<'_, '_>, number: u8) -> bool {
        let rings = self.transfers.iter().filter_map(|m| program.parent(m.op));
        rings.filter_map(|around| self.freed_ring(program, around)).any(|(first, count)| {
            let objects = first.saturating_sub(count)..first.saturating_add(count);
            objects.contains(&number)
        })
    }

    /// The threads of a launch: those that are set aside among them.
    #[doc(hidden)]
    #[must_use]
    pub fn launched_threads(&self) -> u32 {
        self.threads.saturating_add(self.specialized.map_or(0, |apart| u32::from(apart.threads)))
    }

    /// The ring that an mbarrier belongs to: its first one, and how many.
    #[doc(hidden)]
    #[must_use]
    pub fn ring_of(&self, number: u8) -> Option<(u8, u8)> {
        let rings = self.transfers.iter().filter(|m| self.runs_ahead(m.op)).filter_map(|m| {
            let tile = self.staged(m)?;
            Some((m.tiled?.completion?, tile.stages))
        });
        let has =
            |(first, count): &(u8, u8)| number.checked_sub(*first).is_some_and(|k| k < *count);
        rings.into_iter().find(has)
    }

    /// The product of an operation.
    #[must_use]
    pub fn product_of(&self, op: Op) -> Option<&ProductPlan> {
        self.products.iter().find(|p| p.op == op)
    }

    /// The exchange of an operation.
    #[must_use]
    pub fn exchange_of(&self, op: Op) -> Option<&SharedExchange> {
        self.exchanges.iter().find(|e| e.op == op)
    }

    /// The conversion inside warps that an operation is, or that stands behind its exchange.
    #[must_use]
    pub fn lanes_of(&self, op: Op) -> Option<&ShufflePlan> {
        self.lanes.iter().find(|l| l.op == op && !l.ahead)
    }

    /// What is done inside each lane before an operation's exchange.
    #[must_use]
    pub fn lanes_ahead(&self, op: Op) -> Option<&ShufflePlan> {
        self.lanes.iter().find(|l| l.op == op && l.ahead)
    }

    /// Whether a conversion changes anything.
    #[must_use]
    pub fn converts(&self, op: Op) -> bool {
        self.exchange_of(op).is_some() || self.lanes_of(op).is_some()
    }

    /// Whether a load is needless, since matrix units read the tile by themselves wherever its
    /// result is used.
    #[must_use]
    pub fn is_absorbed(&self, load: Op) -> bool {
        self.move_of(load).is_none() && self.times_absorbed(load) > 0
    }

    /// Of how many operands of products a load is needless, since the unit reads the tile by itself.
    #[must_use]
    pub fn times_absorbed(&self, load: Op) -> usize {
        let scales = |p: &ProductPlan| p.copied.into_iter().flatten().map(|copy| copy.given);
        let given =
            self.products.iter().flat_map(|p| p.shared.into_iter().flatten().chain(scales(p)));
        given.filter(|given| given.load == load).count()
    }

    /// The product whose accumulator a value is that no register holds: its C, its D, and what
    /// carries them.
    #[must_use]
    pub fn in_tensor(
        &self,
        program: &lanebook_ir::Program<'_, '_>,
        value: Value,
    ) -> Option<&ProductPlan> {
        self.products.iter().find(|p| {
            let Some(tensor) = p.tensor else { return false };
            let (is_d, is_c) =
                (program.result(p.op, 0) == Some(value), program.operand(p.op, 2) == Some(value));
            is_d && tensor.carrier.is_some() || is_c && (tensor.carrier.is_some() || !tensor.stored)
        })
    }

    /// The mbarrier that products with accumulators in tensor memory arrive at.
    #[must_use]
    pub fn tensor_completion(&self) -> Option<u8> {
        if self.tensor_columns > 0 { self.mbarriers.checked_sub(1) } else { None }
    }

    /// Keeps a rejected candidate's reason; counts it when there is no room.
    pub fn lose(&mut self, candidate: RejectedCandidate) {
        if self.rejected.push(candidate).is_err() {
            self.rejected_dropped = self.rejected_dropped.saturating_add(1);
        }
    }
}
