//! The functions of the query language: their names, arguments and meaning.

/// How a function is written, and what it is.
#[derive(Copy, Clone, Debug)]
pub struct FunctionForm {
    /// The function.
    pub function: QueryFunction,
    /// Its name.
    pub name: &'static str,
    /// Fewest and most arguments.
    pub arguments: (u8, u8),
    /// Its arguments, in words.
    pub takes: &'static str,
    /// What it answers.
    pub about: &'static str,
}

macro_rules! functions {
    ($($function:ident $name:literal ($least:literal, $most:literal) $takes:literal $about:literal;)*) => {
        /// A function of the query language; [`FUNCTIONS`] says what each takes and answers.
        #[derive(Copy, Clone, Debug, PartialEq, Eq)]
        #[cfg_attr(feature = "defmt", derive(defmt::Format))]
        #[non_exhaustive]
        pub enum QueryFunction {
            $(#[doc = $about] $function,)*
        }

        /// All functions, in the order in which they are listed.
        pub const FUNCTIONS: &[FunctionForm] = &[$(FunctionForm {
            function: QueryFunction::$function,
            name: $name,
            arguments: ($least, $most),
            takes: $takes,
            about: $about,
        },)*];
    };
}

functions! {
    Compose "compose" (2, 2) "A, B" "The layout x -> A(B(x)).";
    Complement "complement" (1, 2) "A [, SIZE or SHAPE]" "What fills the gaps of A, up to a size; of coordinates, in a box.";
    Inverse "inverse" (1, 1) "A" "The exact inverse.";
    RightInverse "right_inverse" (1, 1) "A" "The greatest layout R with A(R(x)) = x.";
    LeftInverse "left_inverse" (1, 1) "A" "A layout L with L(A(x)) = x.";
    Coalesce "coalesce" (1, 2) "A [, PROFILE]" "The same map of fewest modes.";
    Flatten "flatten" (1, 1) "A" "The same map without a tree.";
    Canonical "canonical" (1, 1) "A" "The normal form: two layouts are the same map iff it is the same.";
    Canonicalize "canonicalize" (1, 1) "A" "TIRx's normal form, on an architecture over its threads.";
    Filter "filter" (1, 1) "A" "Without strides of 0 and extents of 1.";
    Nullspace "nullspace" (1, 1) "A" "The coordinates that A sends to 0.";
    CommonLayout "max_common_layout" (2, 2) "A, B" "The longest layout that both walk contiguously.";
    LogicalDivide "logical_divide" (2, 2) "A, TILER" "A as tiles and the rest, mode by mode.";
    ZippedDivide "zipped_divide" (2, 2) "A, TILER" "The same: all tiles first, then all rests.";
    TiledDivide "tiled_divide" (2, 2) "A, TILER" "The same: tiles first, then each rest.";
    FlatDivide "flat_divide" (2, 2) "A, TILER" "The same without a tree.";
    LogicalProduct "logical_product" (2, 2) "A, TILER" "A repeated as the tiler says, mode by mode.";
    ZippedProduct "zipped_product" (2, 2) "A, TILER" "The same: all of A first, then all repetitions.";
    TiledProduct "tiled_product" (2, 2) "A, TILER" "The same: A first, then each repetition.";
    FlatProduct "flat_product" (2, 2) "A, TILER" "The same without a tree.";
    BlockedProduct "blocked_product" (2, 2) "A, B" "A repeated as blocks.";
    TileToShape "tile_to_shape" (2, 3) "BLOCK, SHAPE [, ORDER]" "A block repeated until it covers a shape, the first mode first unless ORDER says another.";
    RakedProduct "raked_product" (2, 2) "A, B" "A repeated, interleaved.";
    Divide "divide" (2, 2) "A, ATOM" "The quotient Q with A = ATOM tiled by Q.";
    Recast "recast" (3, 3) "A, NEW_BITS, OLD_BITS" "The same bytes as elements of another width.";
    Select "select" (2, 2) "A, (MODES)" "The modes with these numbers.";
    GroupModes "group_modes" (3, 3) "A, BEGIN, END" "Modes BEGIN up to END as one.";
    Slice "slice" (2, 3) "COORDINATE, A or A, SHAPE, ((BEGIN, END), ..)" "The modes that the coordinate leaves open with `_`; TIRx: a region.";
    Dice "dice" (2, 2) "COORDINATE, A" "The modes that the coordinate gives a number.";
    MakeLayout "make_layout" (1, 2) "SHAPE [, STRIDES]" "A shape with strides; without them compact, first mode fastest.";
    MakeOrdered "make_ordered_layout" (2, 2) "SHAPE, ORDER" "The compact layout in an order.";
    Identity "make_identity_layout" (1, 1) "SHAPE" "Each coordinate to itself.";
    DirectSum "direct_sum" (4, 4) "A, SHAPE_A, B, SHAPE_B" "TIRx: A outside, B inside.";
    IsTileInner "is_tile_inner" (4, 4) "A, WHOLE, WHOLE_SHAPE, SHAPE" "TIRx: the outer layout with which A is tiled to the whole.";
    IsSumLeft "is_direct_sum_left" (4, 4) "A, SUM, SUM_SHAPE, SHAPE" "TIRx: what stands inside A in the sum.";
    IsSumRight "is_direct_sum_right" (4, 4) "A, SUM, SUM_SHAPE, SHAPE" "TIRx: what stands outside A in the sum.";
    PermuteDims "permute_dims" (2, 2) "A, (ORDER)" "TIRx: the iters in another order.";
    Padded "padded" (3, 3) "A, INTERVAL, PAD" "A with PAD positions left out after each INTERVAL.";
    WgLocal "wg_local_layout" (1, 2) "COLUMNS [, ROWS]" "TIRx: one row a thread of a warpgroup.";
    Datapath "tmem_datapath_layout" (3, 4) "LETTER, ROWS, COLUMNS [, SLAB]" "TIRx: a tile in tensor memory.";
    RegisterTile "tcgen05_atom_layout" (3, 4) "NAME, (ROWS, COLUMNS), TYPE or NAME, ROWS, COLUMNS, BITS" "TIRx: registers of a load from tensor memory.";
    FullBank "make_full_bank_swizzled_layout" (2, 2) "SHAPE, BITS" "TileLang: rows of 8 vectors, swizzled.";
    HalfBank "make_half_bank_swizzled_layout" (2, 2) "SHAPE, BITS" "TileLang: rows of 4 vectors, swizzled.";
    QuarterBank "make_quarter_bank_swizzled_layout" (2, 2) "SHAPE, BITS" "TileLang: rows of 2 vectors, swizzled.";
    Size "size" (1, 1) "A" "How many elements A has.";
    Cosize "cosize" (1, 2) "A [, AXIS]" "The greatest position on an axis, and 1; of coordinates, the size of their box.";
    Rank "rank" (1, 1) "A" "How many modes A has.";
    Depth "depth" (1, 1) "A" "How deep A's tree is.";
    Injective "injective" (1, 1) "A" "Whether no two elements meet.";
    Surjective "surjective" (1, 1) "A" "Whether every position below the cosize is reached.";
    Runs "runs" (1, 2) "A [, AXIS]" "How many elements of the first mode lie side by side, aligned, wherever one begins: the width of a vector.";
    Equal "equal" (2, 2) "A, B" "Whether both are the same map, and else where they differ.";
    Conflicts "conflicts" (2, 4) "TILE, INSTRUCTION or REGISTERS [, TYPE [, rows or along or read or write or WRITER]]" "Bank conflicts of an access, which slots meet, and what would be free.";
    Scales "scales" (3, 3) "OPERAND, (M or N, RUNS), RUN" "Triton: the block scales of an operand, one for RUN neighbours along k.";
    Addressed "addressed" (3, 3) "ENCODING, SHAPE, INSTRUCTION" "What each lane addresses, so that an instruction that exchanges its elements between lanes leaves these registers.";
    PermuteColumns "permute_columns" (4, 4) "ENCODING, SHAPE, register or lane or warp or block, (ORDER)" "Triton: bit k of a part of the machine does what the bit did that ORDER has there.";
    OperandTile "operand_tile" (4, 4) "(OUTER, DEPTH), k_major or mn_major, MODE, TYPE" "A matrix unit's tile in shared memory, dense.";
    Descriptor "descriptor" (2, 3) "TILE, wgmma or tcgen05 [, TYPE]" "The descriptor of a tile in shared memory: LBO, SBO, mode.";
    TensorMap "tensor_map" (1, 2) "TILE [, TYPE]" "The box of a tiled copy that fills a tile in shared memory.";
    SwizzleMode "swizzle" (2, 2) "MODE, TYPE" "A swizzle mode on elements of a type: positions, row, numbers in encodings.";
    Feeds "feeds" (2, 2) "REGISTERS, REGISTERS" "Whether registers hold what an operand needs where it needs it.";
    Convert "convert" (2, 2) "FROM, TO" "Where each register of a distribution comes from in another.";
    Figures "figures" (0, 0) "" "The architecture's figures.";
    Products "products" (2, 5) "A, B [, C [, D]] [, (M, N, K)]" "The matrix instructions for these element types, of this shape.";
    Atoms "atoms" (1, 7) "WORD.. or (M, N, K).." "The instructions that every word fits: a type, a kind, a space (from, then to), a feature, a name's begin.";
    Congruent "congruent" (2, 2) "A, B" "Whether two shapes have the same tree.";
}

impl QueryFunction {
    /// Whether it answers more than a value: it stands by itself.
    #[must_use]
    pub fn is_question(self) -> bool {
        matches!(
            self,
            Self::Equal
                | Self::Conflicts
                | Self::Descriptor
                | Self::TensorMap
                | Self::SwizzleMode
                | Self::Feeds
                | Self::Convert
                | Self::Figures
                | Self::Products
                | Self::Atoms
        )
    }

    /// How it is written.
    #[must_use]
    pub fn form(self) -> Option<&'static FunctionForm> {
        FUNCTIONS.iter().find(|form| form.function == self)
    }

    /// The function with this name; some have a second one.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let name = match name {
            "composition" => "compose",
            "differ" => "equal",
            "is_injective" => "injective",
            "is_surjective" => "surjective",
            "consecutive" => "runs",
            other => other,
        };
        FUNCTIONS.iter().find(|form| form.name == name).map(|form| form.function)
    }
}
