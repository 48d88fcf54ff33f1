//! How each type of the tables is written. Structs are destructured, so that a new field cannot be
//! forgotten.
use super::pretty::Value;
use super::{Render, Shared};
use lanebook_layout::{AxisId, Iter, LayoutRef, Offset, PostMap, Swizzle, Unit};
use lanebook_tables::*;

macro_rules! words {
    ($($type:ty),*) => {$(
        impl Render for $type {
            fn type_name() -> String {
                stringify!($type).into()
            }
            fn render(&self, _: &mut Shared) -> Value {
                Value::Word(format!("{self:?}"))
            }
        }
    )*};
}
words!(
    bool, u8, u16, u32, u64, i8, i16, i32, i64, AtomId, ClassId, DtypeId, IsaId, AccessId, TagId,
    SourceId, RuleId, OpId, FeatureId
);

/// Enums without fields: the variant's name is its Debug text.
macro_rules! plain_enums {
    ($($type:ident),*) => {$(
        impl Render for $type {
            fn type_name() -> String {
                stringify!($type).into()
            }
            fn render(&self, _: &mut Shared) -> Value {
                Value::Word(format!(concat!(stringify!($type), "::{:?}"), self))
            }
        }
    )*};
}
plain_enums!(
    AtomClass,
    Role,
    Space,
    Status,
    HazardUse,
    TupleStyle,
    RegisterKind,
    DtypeKind,
    Specials,
    OpRole,
    LayoutTrait,
    IndexOp,
    Language,
    Word,
    Major,
    TensorUse,
    FrameOperand,
    Unit,
    AxisWord,
    IndexWord,
    OpLowering,
    AtomicOp,
    Accumulators,
    SubAxis,
    Bucket,
    CostTerm,
    Family,
    Elements
);

/// Structs with public fields; all of them must be named.
macro_rules! structs {
    ($($type:ident $(<$life:lifetime>)? { $($field:ident),* $(,)? })*) => {$(
        impl Render for $type $(<$life>)? {
            fn type_name() -> String {
                concat!(stringify!($type) $(, "<'static>", structs!(@nothing $life))?).into()
            }
            fn render(&self, shared: &mut Shared) -> Value {
                let $type { $($field),* } = self;
                let parts = vec![$(Value::Field(stringify!($field), Box::new($field.render(shared)))),*];
                Value::List(concat!(stringify!($type), " { ").into(), parts, " }".into())
            }
        }
    )*};
    (@nothing $life:lifetime) => { "" };
}
structs! {
    Tables<'_> { isas, archs, atoms, dtypes, ops, rules, accesses, tags, sources, units, weights, policies, seeding, contract, sequences, arch_names, atom_names, dtype_names, op_names, numbered_atoms, named_families }
    NameMap<'_> { key, displacements, ids, buckets, slots }
    Divisor { number, inverse }
    Dispatch<'_> { seed, displacements, keys, begins, atoms, buckets, slots }
    Isa<'_> {
        name, classes, tuples, prologue, param, param_block, param_pointer, param_separator, register_decl, shared_decl, shared_decl_dynamic, epilogue, label_suffix, comment, param_base,
        thread_register, read_thread, block_registers, read_block, read_blocks, param_blocks, flags, divide, leading_zeros, load_param32, load_param64, param_address, make_uniform, shared_base, branch, branch_if, compare_less, compare_signed, guard, end, nop, dispatch,
    }
    LaneGuard<'_> { class, test, before, after, issue, writes }
    Operandless<'_> { class, number, count, text }
    RegisterClass<'_> { name, prefix, bits, kind, declared, pool, tile_most, tuple_align }
    Arch<'_> {
        name, target, vendor, isa, isa_version, wave_lanes, max_threads, shared, banks, atoms, dispatch, features, sync, counters, hazards,
        inline_integers, flushed, scalar_reads, sources,
    }
    SharedLimits { static_bytes, max_bytes }
    ArchAtom { atom, native, documented_for_arch }
    BankModel<'_> { name, banks, bank_bytes, groups, status, sources }
    SyncRule<'_> { producer, consumer, steps, sources }
    SyncStep<'_> { atom, immediates, after_producer, barrier }
    Counter<'_> { name, max, in_order, wait, operand }
    Hazard<'_> { producer, consumer, operand, on, producer_operand, unless_same, states, counts, wait, after, source }
    Atom<'_> { note, class, isa, template, operands, movement, matrix, more, means, does, cost, counter, tags, status }
    AtomNote<'_> { name, stable, feature, sources }
    Operand<'_> { name, role, class, also, registers, dtype, layout, extents, range, multiple, implicit, vary }
    Vary<'_> { words, values, grows, typed_by, scaled_by }
    Spelling<'_> { text, dtype, shift }
    Movement<'_> { unit_bits, extents, from, to, offsets, crosses_lanes, size, atomic }
    Atomic { op, dtype, old, compare }
    Side<'_> { space, layout, operand, base, align_bytes, slot_bytes, banks, access }
    OffsetField { operand, min, max, scale, on_from, on_to, place }
    MatrixShape { m, n, k, a, b, c, d }
    MatrixMore<'_> { blocks, index, scales, moves, broadcasts, shared, runs, sum_bits, tensor }
    TensorOperand<'_> { tile, descriptor, word, adds, one, writes, reads, fetched, stores, a }
    SharedOperand<'_> { operand, descriptor, access, along }
    FieldMove { by, of, bits, lanes }
    AtomCost { issue, cycles }
    Elementwise<'_> { op, uses, lanes, part, selector, ulp }
    LaneXor<'_> { masks, set, step, by }
    CounterUse { counter, unordered }
    Source<'_> { key, title }
    Dtype<'_> { name, bits, held, kind, format, unread, pair_of }
    FloatFormat { signed, exponent, fraction, bias, specials, zero }
    OpDecl<'_> { name, aliases, role, layout, operands, results, regions, reads, writes, pure, effort, truth, same_bits, index, tiles, lowering }
    Sequence<'_> { op, from, to, ulp, steps }
    SequenceStep<'_> { op, from, to, operands }
    Rules<'_> { rules, names, docs, sets, passes, phases }
    Rule<'_> { language, phase, priority, slots, pattern, lets, conditions, replacement }
    Let<'_> { slot, term }
    Cond<'_> { word, args }
    RuleSet<'_> { language, isa, phase, roots }
    TileBuild { op, arity, like, layout, through }
    Pass<'_> { name, steps }
    Units<'_> { features, descriptors, swizzles, operand_tiles, tensor_memories, tensor_tiles, tensor_moves, shapes, order_limits, map_limits, tensor_maps, tiled_moves, mbarriers, specializations }
    Descriptor<'_> { name, feature, bits, fields, status, sources }
    Field<'_> { name, at, bits, scale, range, values, role }
    SwizzleMode<'_> { name, feature, xor, span_bytes, atom_bytes, repeat_bytes, codes, status, sources }
    Swizzle { b, m, s, unit }
    Amount { factor, param }
    TileIter { extent, stride, axis }
    TileLayout<'_> { iters, dims, replicas, params }
    OperandTile<'_> { name, feature, major, swizzle, layout, unit, fields, takes, status, sources }
    TileField<'_> { param, field, unused }
    TensorMemory<'_> { feature, lanes, columns, cell_bits, lane_shift, lanes_per_warp, warps, allocation, enter, leave, around, shared_bytes, sources }
    FrameStep<'_> { atom, operands }
    TensorTile<'_> { name, feature, purpose, layout, second_lanes, status, sources }
    TensorMove<'_> { name, feature, counts, registers, cells, tuple, packed, load_atoms, store_atoms, loads, stores, status, sources }
    UnitShape<'_> { kind, feature, blocks, stationary, sparse, m, n, k, descriptor, status, sources }
    OrderLimit<'_> { name, feature, descriptors, blocks, operands, major, types, n, status, sources }
    MapLimit<'_> { name, feature, elements, swizzles, copies, status, sources }
    Steps { low, high, step }
    TensorMap<'_> {
        name, feature, encoding, block, rank, box_max, box_bytes, step_max, extent_max, stride_bytes, stride_limit, base_bytes, corner_bytes, edge_bytes, shared_bytes, elements,
        interleaves, fills, promotions, status, sources,
    }
    TiledMove<'_> { name, feature, atom, map, loads, from, to, on, shared, tensor, at, signal, last, status, sources }
    Mbarrier<'_> { name, feature, bytes, init, publish, expect, wait, waits, announces, most_bytes, status, sources }
    WarpSpecialization<'_> { name, feature, threads, barrier, number, arrive, resize, registers, directive, file, status, sources }
    MapElement<'_> { name, bits, shared_bits, align_bytes, box_inner, extent_multiple, codes }
    Interleave<'_> { name, rank_min, align_bytes, swizzle, rows, codes }
    Seeding<'_> { warps, unit_rows, targets, dtypes, formats, meanings, accesses, units, candidates, read_as, atomics, orders, scopes, barriers, by_hand }
    SeedingTarget<'_> { text, arch }
    AtomicWord<'_> { text, op, of }
    OrderWord<'_> { text, releases, acquires }
    ScopeWord<'_> { text, scope }
    DtypeName<'_> { text, dtype }
    Meaning<'_> { op, word }
    PointerAccess<'_> { op, pointer, writes, most }
    LaneElements<'_> { isa, elements }
    ProductUnit<'_> { arch, accumulators, version, transposes, lane, scaled_lane, fills, most_warps, ops }
    TensorOps<'_> { alloc, product, load }
    Contract<'_> { prefixes, memref_ranks, hints, ops }
    OpContract<'_> { compiled, refusal, instead, operands, results, arguments, attrs, does, in_loops }
    SlotContract<'_> { name, kinds, count, ranks, elements, layouts, attrs }
    AttrContract<'_> { key, form, required, ranks, hint, default, doc }
    CandidateRule { role, memory, axis, bucket, family, from, to, bulk, align_bytes }
    CostPolicy<'_> { name, sector, access, keys }
    CostPart { term, weight }
    Weights {
        shared_transaction, tensor_cycle, register, instruction, address, global_segment, matrix_cycle, pad_kib, loop_trips, convert_byte, convert_elements, convert_bits, work_byte, load_byte, reduce_lane, reduce_warp, exchange_addresses, exchange_pass, exchange_access, exchange_move, exchange_barrier, packed_percent, fused_percent, widened_depth, widened_depth_lanes, producer_registers, bound_steps, segment_bytes, shared_align, loop_depth, trifle, missing_register,
    }
}

/// Enums with unnamed fields.
macro_rules! enums {
    ($($type:ident $(<$life:lifetime>)? { $($variant:ident $(($($field:ident),+))?),* $(,)? })*) => {$(
        impl Render for $type $(<$life>)? {
            fn type_name() -> String {
                concat!(stringify!($type) $(, "<'static>", structs!(@nothing $life))?).into()
            }
            fn render(&self, shared: &mut Shared) -> Value {
                match self {$(
                    $type::$variant $(($($field),+))? => {
                        let open = concat!(stringify!($type), "::", stringify!($variant));
                        let parts: Vec<Value> = vec![$($($field.render(shared)),+)?];
                        if parts.is_empty() { Value::Word(open.into()) } else { call(&format!("{open}("), parts) }
                    }
                )*}
            }
        }
    )*};
}
enums! {
    Piece<'_> { Text(a), Operand(a), Optional(a, b), Half(a, b), Frame(a) }
    OpWord { Op(a), ShuffleXor, ShuffleIndex, BytePermute, ConcatRegs, SplitRegs }
    TermNode { Operand(a), Const(a), Op(a, b), Lut3(a), BytePermute }
    PatternNode { Any(a), AnyConst(a), Const(a), Index(a, b, c), Tile(a, b, c), Role(a, b, c) }
    Broadcast<'_> { Lanes(a, b, c, d), Blocks(a, b, c) }
    CondArg { Slot(a), Const(a) }
    SequenceOperand { Operand(a), Step(a), Number(a, b) }
    StepElements { From, To, Of(a) }
    FieldRole { Plain, Start, Pattern(a), Swizzle, Rows, Columns, Type(a), Major(a), Scale(a) }
    AttrForm<'_> { Unit, Int(a, b), Power(a, b), Word(a), Text, Symbol, Ints(a), Layout(a), Grid, Bounds, Map, Dense }
    BuildNode { Slot(a), Const(a, b), Fold(a, b), TrailingZeros, Low32, High32, Index(a, b), Inst(a, b), Tile(a) }
}

impl Render for PassStep<'_> {
    fn type_name() -> String {
        "PassStep<'static>".into()
    }
    fn render(&self, shared: &mut Shared) -> Value {
        match self {
            Self::Rules { phase, sweeps } => {
                Value::Word(format!("PassStep::Rules {{ phase: {phase}, sweeps: {sweeps} }}"))
            }
            Self::Analysis(name) => call("PassStep::Analysis(", vec![name.render(shared)]),
        }
    }
}

fn call(open: &str, parts: Vec<Value>) -> Value {
    Value::List(open.into(), parts, ")".into())
}

impl Render for &str {
    fn type_name() -> String {
        "&'static str".into()
    }
    fn render(&self, shared: &mut Shared) -> Value {
        shared.strings.insert((*self).to_string());
        Value::Word(format!("{self:?}"))
    }
}

impl<T: Render> Render for &[T] {
    fn type_name() -> String {
        format!("&'static [{}]", T::type_name())
    }
    fn render(&self, shared: &mut Shared) -> Value {
        shared.list(self)
    }
}

impl Render for Number {
    fn type_name() -> String {
        "Number".into()
    }
    fn render(&self, _: &mut Shared) -> Value {
        Value::Word(format!("Number::new({})", self.get()))
    }
}

impl<T: Render> Render for List<'_, T> {
    fn type_name() -> String {
        format!("List<'static, {}>", T::type_name())
    }
    fn render(&self, shared: &mut Shared) -> Value {
        match self.0 {
            Some(list) => call("List(", vec![call("Some(", vec![shared.one(list)])]),
            None => Value::Word("List::EMPTY".into()),
        }
    }
}

impl Render for Name<'_> {
    fn type_name() -> String {
        "Name<'static>".into()
    }
    fn render(&self, shared: &mut Shared) -> Value {
        match self.0 {
            Some(name) => call("Name(", vec![call("Some(", vec![shared.one(name)])]),
            None => Value::Word("Name::EMPTY".into()),
        }
    }
}

/// References to single values: statics, so that equal ones are shared.
macro_rules! references {
    ($($type:ty),*) => {$(
        impl Render for &$type {
            fn type_name() -> String {
                format!("&'static {}", <$type as Render>::type_name())
            }
            fn render(&self, shared: &mut Shared) -> Value {
                shared.one(*self)
            }
        }
    )*};
}
references!(
    AtomNote<'_>,
    (i64, i64),
    Movement<'_>,
    MatrixMore<'_>,
    TensorOperand<'_>,
    LayoutRef<'_>,
    Operand<'_>,
    Vary<'_>,
    Field<'_>,
    SwizzleMode<'_>,
    Elementwise<'_>
);

impl Render for Operands<'_> {
    fn type_name() -> String {
        "Operands<'static>".into()
    }
    fn render(&self, shared: &mut Shared) -> Value {
        call("Operands(", vec![self.0.render(shared)])
    }
}

impl Render for Template<'_> {
    fn type_name() -> String {
        "Template<'static>".into()
    }
    fn render(&self, shared: &mut Shared) -> Value {
        call("Template(", vec![self.0.render(shared)])
    }
}

impl<T: Render> Render for Option<T> {
    fn type_name() -> String {
        format!("Option<{}>", T::type_name())
    }
    fn render(&self, shared: &mut Shared) -> Value {
        match self {
            Some(value) => call("Some(", vec![value.render(shared)]),
            None => Value::Word("None".into()),
        }
    }
}

impl<A: Render, B: Render> Render for (A, B) {
    fn type_name() -> String {
        format!("({}, {})", A::type_name(), B::type_name())
    }
    fn render(&self, shared: &mut Shared) -> Value {
        call("(", vec![self.0.render(shared), self.1.render(shared)])
    }
}

impl<A: Render, B: Render, C: Render> Render for (A, B, C) {
    fn type_name() -> String {
        format!("({}, {}, {})", A::type_name(), B::type_name(), C::type_name())
    }
    fn render(&self, shared: &mut Shared) -> Value {
        call("(", vec![self.0.render(shared), self.1.render(shared), self.2.render(shared)])
    }
}

impl Render for AxisId {
    fn type_name() -> String {
        "AxisId".into()
    }
    fn render(&self, _: &mut Shared) -> Value {
        Value::Word(format!("AxisId({})", self.0))
    }
}

impl Render for Iter {
    fn type_name() -> String {
        "Iter".into()
    }
    fn render(&self, shared: &mut Shared) -> Value {
        // `layouts::parse` admits numbers only.
        let (extent, stride) = (self.extent().coeff() as u32, self.stride().coeff());
        call(
            "Iter::new(",
            vec![extent.render(shared), stride.render(shared), self.axis().render(shared)],
        )
    }
}

impl Render for Offset {
    fn type_name() -> String {
        "Offset".into()
    }
    fn render(&self, shared: &mut Shared) -> Value {
        call("Offset::new(", vec![self.value().coeff().render(shared), self.axis().render(shared)])
    }
}

impl Render for LayoutRef<'_> {
    fn type_name() -> String {
        "LayoutRef<'static>".into()
    }
    fn render(&self, shared: &mut Shared) -> Value {
        assert!(
            self.profile.is_flat() && self.post == PostMap::None,
            "`layouts::parse` admits nothing else"
        );
        let shard = self.shard.render(shared);
        if self.replica.is_empty() && self.offset.is_empty() {
            return call("LayoutRef::new(", vec![shard]);
        }
        let parts = vec![
            Value::Field("shard", Box::new(shard)),
            Value::Field("replica", Box::new(self.replica.render(shared))),
            Value::Field("offset", Box::new(self.offset.render(shared))),
            Value::Field("profile", Box::new(Value::Word("Profile::FLAT".into()))),
            Value::Field("post", Box::new(Value::Word("PostMap::None".into()))),
        ];
        Value::List("LayoutRef { ".into(), parts, " }".into())
    }
}
