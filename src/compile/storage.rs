//! The storage of a compile: one declaration of its pools, from which the storage, its views, how
//! full they are, and the names of their sizes in errors follow.
//!
//! ```
//! use lanebook::compile::storage::{Capacities, POOLS, emit_parameter, plan_parameter};
//! use lanebook::compile::{CompileStorage, KernelStorage, PoolUse, Scratch};
//! use lanebook::emit::EmitPool;
//! use lanebook::plan::PlanPool;
//!
//! // The usual room, and one with more steps: every pool can be made larger or smaller by its name.
//! const ROOM: Capacities = Capacities { steps: 20_000, ..Capacities::DEFAULT };
//! type Large = lanebook::compile_storage!(ROOM);
//! let usual = Box::new(KernelStorage::new());
//! let large = Box::new(Large::new());
//! let steps = |pools: &[PoolUse]| pools.iter().find(|pool| pool.what == "steps").unwrap().capacity;
//! assert_eq!((steps(&usual.usage()), steps(&large.usage())), (Capacities::DEFAULT.steps, 20_000));
//! assert_eq!(usual.usage().len(), POOLS);
//! // Which parameter makes a pool larger that an error names.
//! assert_eq!(emit_parameter(EmitPool::Steps), Some("STEPS"));
//! assert!(plan_parameter(PlanPool::Fragments).is_some());
//! # fn lent(storage: &mut CompileStorage) -> Scratch<'_> { storage.scratch() }
//! ```

use heapless::{Vec, VecView};
use lanebook_emit::expr::{ExprId, ExprNode, NodeChoice, Reg, Variable};
use lanebook_emit::step::{Inst, LoopSpan, TupleStride, VRegTuple};
use lanebook_emit::{
    Advance, ComputedIndex, ElementSpot, EmitLists, EmitPool, Index, KNOWN, KeptRegister,
    KnownAddress, LANES, MAX_VARIABLES, Param, ValueRegs, WRITTEN, WorkSlot,
};
use lanebook_ir::Op;
use lanebook_plan::select::{
    Copies, CopyOp, MAX_PRODUCTS, PlanScratch, PricedTile, Replaced, SharedTile, Staged, Waiting,
};
use lanebook_plan::{
    AllocPlan, FragmentPlan, GlobalPlan, MapPlan, PlanPool, ProductPlan, RejectedCandidate,
    SharedExchange, ShufflePlan, TransferPlan,
};
use lanebook_tile::copy_atom::CopyAtom;

/// How full one pool is.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct PoolUse {
    /// Which pool.
    pub what: &'static str,
    /// Records in use.
    pub used: usize,
    /// Records there are.
    pub capacity: usize,
    /// Bytes of one record.
    pub bytes: usize,
}

/// Bytes of one record of a pool.
const fn record<P: AsRef<[T]>, T>(_: &P) -> usize {
    size_of::<T>()
}

/// A view that belongs to the library's own crates, or one that is made here.
macro_rules! view {
    (lent $view:ident { $($body:tt)* }) => {};
    ($(#[$doc:meta])* own $view:ident {
        $($list:ident: $record:ty,)* ; $($table:ident: $element:ty,)*
    }) => {
        $(#[$doc])*
        pub(super) struct $view<'s> {
            $(pub(super) $list: &'s mut VecView<$record>,)*
            $(pub(super) $table: &'s mut [$element],)*
        }
    };
}

/// `capacities`: the field and the parameter of each size, with what suits the kernels of the
/// examples. Then the views, each with its lists (`list: [record; SIZE]`, and the pool that an error
/// names) and, behind a semicolon, its side tables (with what they hold at first, and the list that
/// says how full they are).
macro_rules! storage {
    (
        $d:tt
        capacities { $($(#[$size_doc:meta])* $size:ident $capacity:ident = $most:expr,)* }
        $(
            $(#[$view_doc:meta])*
            $kind:ident $view:ident as $group:ident {
                $($list:ident: [$record:ty; $length:ident] $(, plan $plan:ident)? $(, emit $emit:ident)?;)*
                $(@ $table:ident: [$element:ty; $places:ident] = $empty:expr, as $full:ident;)*
            }
        )*
    ) => {
        /// How many records each pool of a [`CompileStorage`] has: [`Capacities::DEFAULT`] with the
        /// fields that a lender wants to be others, for [`compile_storage!`](crate::compile_storage).
        #[derive(Copy, Clone, Debug, PartialEq, Eq)]
        pub struct Capacities {
            $($(#[$size_doc])* pub $size: usize,)*
        }

        impl Capacities {
            /// What suits the kernels of the examples.
            pub const DEFAULT: Self = Self { $($size: $most,)* };
        }

        /// Storage for planning and emission, `const`-constructible: a static, a stack frame, or
        /// memory of the caller's. What the sizes count is said at [`Capacities`].
        #[derive(Debug)]
        pub struct CompileStorage<$(const $capacity: usize = { Capacities::DEFAULT.$size },)*> {
            $(
                $($list: Vec<$record, $length>,)*
                $($table: [$element; $places],)*
            )*
        }

        impl<$(const $capacity: usize,)*> CompileStorage<$($capacity,)*> {
            /// Empty storage: zeros alone, so that a static of it weighs nothing in an image, and
            /// zeroed memory is one. A compile writes the side tables before it reads them.
            #[must_use]
            pub const fn new() -> Self {
                Self {
                    $(
                        $($list: Vec::new(),)*
                        $($table: [$empty; $places],)*
                    )*
                }
            }

            /// How full the pools are. All of them only grow while a program is compiled, so this
            /// is the most that it needed; the next compile begins again at zero.
            #[must_use]
            pub fn usage(&self) -> [PoolUse; POOLS] {
                [
                    $(
                        $(PoolUse {
                            what: stringify!($list),
                            used: self.$list.len(),
                            capacity: $length,
                            bytes: record(&self.$list),
                        },)*
                        $(PoolUse {
                            what: stringify!($table),
                            used: self.$full.len(),
                            capacity: $places,
                            bytes: record(&self.$table),
                        },)*
                    )*
                ]
            }

            /// The storage as views without sizes.
            pub fn scratch(&mut self) -> Scratch<'_> {
                Scratch {
                    $(
                        $group: $view {
                            $($list: self.$list.as_mut_view(),)*
                            $($table: &mut self.$table,)*
                        },
                    )*
                }
            }
        }

        impl<$(const $capacity: usize,)*> Default for CompileStorage<$($capacity,)*> {
            fn default() -> Self {
                Self::new()
            }
        }

        /// Typed room lent by the caller.
        pub struct Scratch<'s> {
            $(pub(super) $group: $view<'s>,)*
        }

        $(view! {
            $(#[$view_doc])*
            $kind $view {
                $($list: $record,)* ; $($table: $element,)*
            }
        })*

        /// How many pools a [`CompileStorage`] has.
        pub const POOLS: usize =
            [$($(stringify!($list),)* $(stringify!($table),)*)*].len();

        /// The parameter of [`CompileStorage`] that enlarges a list of emission; without one the
        /// length is this library's own.
        #[must_use]
        pub const fn emit_parameter(pool: EmitPool) -> Option<&'static str> {
            match pool {
                $($($(EmitPool::$emit => Some(stringify!($length)),)?)*)*
                _ => None,
            }
        }

        /// The parameter of [`CompileStorage`] that enlarges a list of a plan; without one the
        /// length is this library's own.
        #[must_use]
        pub const fn plan_parameter(pool: PlanPool) -> Option<&'static str> {
            match pool {
                $($($(PlanPool::$plan => Some(stringify!($length)),)?)*)*
                _ => None,
            }
        }

        /// The type of storage with sizes of the caller's: a constant of
        /// [`Capacities`](crate::compile::Capacities).
        ///
        /// ```
        /// use lanebook::compile::Capacities;
        ///
        /// const ROOM: Capacities = Capacities { fragments: 96, ..Capacities::DEFAULT };
        /// type Storage = lanebook::compile_storage!(ROOM);
        /// assert!(Storage::new().usage().iter().any(|pool| pool.capacity == 96));
        /// ```
        #[macro_export]
        macro_rules! compile_storage {
            ($d sizes:expr) => {
                $crate::compile::CompileStorage<$({ $d sizes.$size },)*>
            };
        }
    };
}

storage! {
    $
    capacities {
        /// Instructions of the kernel.
        steps STEPS = 1536,
        /// Register tuples.
        tuples TUPLES = 512,
        /// Nodes of index expressions.
        nodes NODES = 1024,
        /// Rejected candidates that are kept with their reasons.
        rejected REJECTED = 0,
        /// Copy atoms of the architecture.
        copy_atoms COPY_ATOMS = 128,
        /// Copies, loads and stores of tiles.
        transfers TRANSFERS = 48,
        /// Global halves of copies through registers.
        staged STAGED = 32,
        /// Candidates of one product.
        candidates CANDIDATES = MAX_PRODUCTS,
        /// Copies whose costs are remembered, under the layouts that were looked at.
        copies COPIES = 1024,
        /// Costs of tiles in shared memory that are remembered, with distributions in registers.
        priced PRICED = 24,
        /// Tiles in shared memory.
        allocs ALLOCS = 16,
        /// Tiles in registers.
        fragments FRAGMENTS = 48,
        /// Tiles of global memory.
        globals GLOBALS = 16,
        /// Products.
        products PRODUCTS = 8,
        /// Tensor maps.
        maps MAPS = 8,
        /// Conversions and reductions through shared memory.
        exchanges EXCHANGES = 8,
        /// Conversions between lanes: alone, or before and behind an exchange.
        shuffles SHUFFLES = 16,
        /// Orders of registers inside tuples.
        patterns PATTERNS = 32,
        /// Loops of the kernel.
        loops LOOPS = 24,
        /// Parameters of the kernel.
        params PARAMS = 64,
        /// Addresses and other numbers that are computed once and kept.
        addresses ADDRESSES = 256,
        /// Registers that loops advance.
        advances ADVANCES = 128,
        /// Parameters and loop counters in use.
        indices INDICES = 64,
        /// Results of operations on indices in use.
        computed COMPUTED = 256,
        /// Nodes that were given a variable of their own once computed.
        settled SETTLED = 32,
        /// Constants in a register each.
        splats SPLATS = 16,
        /// Variables of index expressions.
        variables VARIABLES = MAX_VARIABLES,
        /// Hash buckets of index expressions.
        buckets BUCKETS = 256,
        /// Operations that others stand for, where no instruction does them.
        expansions EXPANSIONS = 128,
        /// Tiles in registers that wait for a distribution, where one is handed on.
        waiting WAITING = 128,
        /// Conversions between distributions that the program does not write.
        conversions CONVERSIONS = 32,
    }

    lent PlanScratch as workspace {
        copy_atoms: [CopyAtom; COPY_ATOMS], plan CopyAtoms;
        movements: [CopyOp; TRANSFERS];
        staged: [Staged; STAGED], plan Staged;
        order: [(u32, u16); CANDIDATES], plan Candidates;
        copies: [Copies; COPIES];
        tiles: [SharedTile; ALLOCS];
        priced: [PricedTile; PRICED];
        waiting: [Waiting; WAITING], plan Worklist;
    }

    /// What a plan is kept in.
    own PlanPools as pools {
        allocs: [AllocPlan; ALLOCS], plan Allocs;
        fragments: [FragmentPlan; FRAGMENTS], plan Fragments;
        globals: [GlobalPlan; GLOBALS], plan Globals;
        transfers: [TransferPlan; TRANSFERS], plan Transfers;
        products: [ProductPlan; PRODUCTS], plan Products;
        maps: [MapPlan; MAPS], plan Maps;
        exchanges: [SharedExchange; EXCHANGES], plan Exchanges;
        lanes: [ShufflePlan; SHUFFLES], plan Shuffles;
        rejected: [RejectedCandidate; REJECTED];
    }

    /// The kernel.
    own KernelPools as kernel {
        steps: [Inst; STEPS], emit Steps;
        tuples: [VRegTuple; TUPLES], emit Tuples;
        patterns: [TupleStride; PATTERNS], emit TupleStrides;
        loops: [LoopSpan; LOOPS], emit Loops;
        params: [Param; PARAMS], emit Params;
    }

    lent EmitLists as lists {
        held: [ValueRegs; FRAGMENTS], emit Tiles;
        addresses: [KeptRegister; ADDRESSES], emit Addresses;
        advances: [Advance; ADVANCES], emit Advances;
        indices: [Index; INDICES], emit Indices;
        computed: [ComputedIndex; COMPUTED], emit ComputedIndices;
        settled: [(ExprId, ExprId); SETTLED];
        splats: [ValueRegs; SPLATS];
        slots: [WorkSlot; LANES];
        spots: [ElementSpot; LANES];
        known: [KnownAddress; KNOWN];
        guards: [(ExprId, Reg); KNOWN];
        written: [u8; WRITTEN];
    }

    /// Operations in whose place others stand, and conversions between them.
    own ExpansionPools as expansions {
        replaced: [Replaced; EXPANSIONS], plan Expansions;
        inserted: [Op; CONVERSIONS], plan Conversions;
    }

    /// Index expressions while they are simplified and selected.
    own ExprScratch as exprs {
        nodes: [ExprNode; NODES], emit Nodes;
        variables: [Variable; VARIABLES], emit Variables;
        work: [ExprId; NODES];
        @ buckets: [ExprId; BUCKETS] = ExprId(0), as buckets;
        @ forward: [ExprId; NODES] = ExprId(0), as nodes;
        @ uses: [u16; NODES] = 0, as nodes;
        @ counts: [u16; NODES] = 0, as nodes;
        @ memo: [[Option<Reg>; 2]; NODES] = [None; 2], as nodes;
        @ choice: [[NodeChoice; 2]; NODES] = [NodeChoice::EMPTY; 2], as nodes;
        @ registers: [Option<Reg>; VARIABLES] = None, as variables;
    }
}

/// Storage that suits the kernels of the examples.
pub type KernelStorage = CompileStorage;
