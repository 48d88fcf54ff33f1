//! A program: a view over its pools, its text and the tables, and everything one can ask about it.
//!
//! Guarantees: every question is answered for every handle, alive or not (a stale one has no
//! operands, no results, role `Opaque`, type elided); nothing here allocates, recurses or panics.
//! Changes are in [`edit`](crate::edit::edit_ops).
use crate::attr::{AttrValue, Literal};
use crate::attr_names;
use crate::data::{AttrData, BlockData, OpData, RegionData, Stamp, UseData, UseKind, ValueData};
use crate::error::{ErrorKind, IrError, SourcePlace};
use crate::handle::{AttrRef, Block, Op, Region, TextRef, Use, Value};
use crate::storage::{PoolUsage, Pools};
use crate::types::Type;
use lanebook_tables::{LayoutTrait, OpDecl, OpId, OpRole, Tables};

/// A tile program.
///
/// ```
/// # use lanebook::TABLES;
/// # use lanebook::ir::{Block, Carried, Def, LargeStorage, Literal, Loop, Op, Options, Program, Region, Shape, Type, Use, Value, parse};
/// const TEXT: &str = "func @sum(%x: memref<?x64xf32, #gmem> {align = 16}, %n: index) {threads = 128} {
///   %zero = constant 0.0 : tensor<64x64xf32>
///   %sum = scf.for %k = 0 to %n step 64 iter_args(%acc = %zero) -> tensor<64x64xf32> {
///     %a = tiled_load %x[%k, 0] : memref<?x64xf32, #gmem> -> tensor<64x64xf32>
///     %b = add %acc, %a : tensor<64x64xf32>
///     scf.yield %b
///   }
///   tiled_store %sum, %x[0, 0] : tensor<64x64xf32> -> memref<?x64xf32, #gmem>
/// }";
/// // Storage is lent; what does not fit is an error that names the pool.
/// let mut storage = Box::new(LargeStorage::new());
/// let program: Program = parse(storage.pools(), &TABLES, TEXT, Options::default()).unwrap();
/// assert_eq!((program.source(), program.tables().ops.len()), (TEXT, TABLES.ops.len()));
/// assert!(program.usage().iter().all(|pool| pool.used <= pool.capacity));
///
/// // Down: functions, blocks, operations.
/// let function: Op = program.function("sum").unwrap();
/// assert_eq!((program.functions().next(), program.symbol(function)), (Some(function), "sum"));
/// let body: Block = program.body(function).unwrap();
/// let region: Region = program.regions(function).next().unwrap();
/// assert_eq!((program.blocks(region).next(), program.entry(function, 0)), (Some(body), Some(body)));
/// let names: Vec<&str> = program.ops(body).map(|op| program.op_name(op)).collect();
/// assert_eq!(names, ["constant", "scf.for", "tiled_store"]);
/// let repeat = program.next(program.first(body).unwrap()).unwrap();
/// assert_eq!((program.role(repeat).is_loop(), program.previous(repeat)), (true, program.first(body)));
/// assert_eq!(program.decl(repeat).map(|decl| decl.name), program.decl_id(repeat).and_then(|id| TABLES.op(id)).map(|decl| decl.name));
/// // Up again, and over everything inside.
/// let inside = program.body(repeat).unwrap();
/// let add = program.inside(repeat).find(|op| program.op_name(*op) == "add").unwrap();
/// assert_eq!((program.block_of(add), program.parent(add), program.owner_of(inside)), (Some(inside), Some(repeat), Some(repeat)));
/// assert!(program.role(program.terminator(inside).unwrap()).is_terminator());
/// assert_eq!(program.terminator(inside), program.last(inside));
/// assert_eq!(program.all().next(), program.first(program.root()));
/// assert_eq!((program.following(repeat, None), program.past(repeat, None)), (program.first(inside), program.last(body)));
/// // Where it stands in the text.
/// assert_eq!((program.place(add).line, &TEXT[program.span(add).unwrap()][..2]), (5, "ad"));
/// assert!(program.is_alive(add) && program.layout_trait(add) == lanebook::tables::LayoutTrait::Transparent);
///
/// // Values: who defines them, who uses them, of what type they are.
/// let sum: Value = program.result(repeat, 0).unwrap();
/// assert_eq!((program.results(repeat).count(), program.value_name(sum)), (1, "sum"));
/// assert_eq!((program.def(sum), program.def_op(sum)), (Def::Result(repeat, 0), Some(repeat)));
/// let ty: Type = program.type_of(sum);
/// assert_eq!((ty.shape.pair(), program.type_at(program.type_ref(sum).unwrap())), (Some((64, 64)), ty));
/// let user: Use = program.uses(sum).next().unwrap();
/// assert_eq!((program.user(user), program.used(user), program.operand_number(user)), (program.last(body), Some(sum), Some(0)));
/// assert!(program.is_used(sum) && program.next_use(user).is_none());
/// // Operands, and the subscripts of those that have some.
/// let load = program.first(inside).unwrap();
/// assert_eq!((program.operand_count(load), program.operands(load).next()), (1, program.operand(load, 0)));
/// assert_eq!((program.subscripts(load, 0).count(), program.all_operands(load).count(), program.uses_by(load).count()), (2, 3, 3));
/// assert_eq!(program.operand_use(load, 0).and_then(|place| program.used(place)), program.operand(load, 0));
/// // Numbers, loops and what they carry.
/// let column = program.subscripts(load, 0).nth(1).unwrap();
/// assert_eq!((program.int(column), program.constant(column)), (Some(0), Some(Literal::Int(0))));
/// let counted: Loop = program.counted_loop(repeat).unwrap();
/// assert_eq!((program.int(counted.step), program.stages(repeat)), (Some(64), 1));
/// let carried: Carried = program.carried(repeat).next().unwrap();
/// assert_eq!((program.value_name(carried.argument), carried.result), ("acc", Some(sum)));
/// // Arguments and attributes.
/// let x = program.parameters(function).next().unwrap();
/// assert_eq!((program.arguments(body).next(), program.int_value_attr(x, "align")), (Some(x), Some(16)));
/// assert_eq!((program.int_attr(function, "threads"), program.has_attr(function, "grid")), (Some(128), false));
/// assert!(program.attr(function, "threads").is_some() && program.attrs(function).count() == 2);
/// assert!(program.value_attr(x, "align").is_some() && program.value_attrs(x).count() == 1);
/// assert_eq!(program.aliases().count(), 0);
/// ```
///
/// ```
/// # use lanebook::TABLES;
/// # use lanebook::ir::{AttrValue, Literal, Mark, Options, Plain, Program, Shape, SmallStorage, Type, parse, print, verify};
/// # let mut storage = Box::new(SmallStorage::new());
/// let text = "func @f(%x: memref<?x64xf32, #gmem> {align = 16}) {threads = 128} {
///   %a = tiled_load %x[0, 0] : memref<?x64xf32, #gmem> -> tensor<64x64xf32>
///   %b = add %a, %a : tensor<64x64xf32>
///   tiled_store %b, %x[0, 0] : tensor<64x64xf32> -> memref<?x64xf32, #gmem>
/// }";
/// let mut program = parse(storage.pools(), &TABLES, text, Options::default()).unwrap();
/// let body = program.body(program.function("f").unwrap()).unwrap();
/// let [load, add, store] = [0, 1, 2].map(|k| program.ops(body).nth(k).unwrap());
/// let [a, b] = [load, add].map(|op| program.result(op, 0).unwrap());
/// // Everything below can be taken back.
/// let before: Mark = program.mark();
/// let mul = TABLES.op_named("mul").unwrap();
/// let product = program.insert_before(store, mul, &[a, b], &[program.type_of(a)]).unwrap();
/// let c = program.result(product, 0).unwrap();
/// program.set_operand(store, 0, c).unwrap();
/// program.set_attr(product, "note", AttrValue::Int(1, None)).unwrap_err(); // no such word in the text
/// program.set_attr(product, "threads", AttrValue::Int(64, None)).unwrap();
/// program.remove_attr(product, "threads").unwrap();
/// program.replace_all_uses(b, a).unwrap();
/// program.erase(add).unwrap();
/// assert!(verify(&mut program).is_ok() && !program.is_alive(add));
/// let mut changed = String::new();
/// print(&program, &Plain, &mut changed).unwrap();
/// assert!(changed.contains("mul %a, %a"), "{changed}");
/// program.undo(before);
/// assert!(program.is_alive(add) && program.operand(store, 0) == Some(b));
/// // What is to stay is kept; operations move, append, gain and lose operands and arguments.
/// let kept = program.mark();
/// let f = program.function("f").unwrap();
/// let matrix = program.type_of(program.parameters(f).next().unwrap());
/// let y = program.add_argument(body, matrix).unwrap();
/// program.add_value_attr(y, "align", AttrValue::Int(16, None)).unwrap();
/// program.remove_argument(body, 1).unwrap();
/// let end = program.append(body, TABLES.op_named("add").unwrap(), &[a], &[]).unwrap();
/// let extra = program.add_operand(end, a).unwrap();
/// let subscript = program.literal_value(Literal::Int(0)).unwrap();
/// program.add_subscript(end, subscript).unwrap();
/// program.set_use(extra, b).unwrap();
/// program.remove_operand(end, 1).unwrap();
/// let result = program.add_result(end, Type::INDEX).unwrap();
/// program.set_type(result, Type::tensor(Shape::of(&[64, 64]).unwrap(), program.type_of(a).dtype.unwrap())).unwrap();
/// assert!(program.same_type(&program.type_of(result), &program.type_of(a)));
/// program.take_name(result, a).unwrap();
/// program.remove_result(end, 0).unwrap();
/// program.move_before(end, store).unwrap();
/// program.erase(end).unwrap();
/// assert!(program.is_inside(store, f) && program.writes() > 0);
/// program.keep(kept);
/// ```
///
/// ```
/// # use lanebook::TABLES;
/// # use lanebook::ir::{AttrValue, Literal, Options, SmallStorage, TypeKind, parse};
/// # let mut storage = Box::new(SmallStorage::new());
/// // Layouts that are written, aliases, lists, names.
/// let text = "#rows = (32,8):(8,1)
/// func @f(%x: tensor<32x8xf32, #rows>, %m: index) {threads = 32, note = [1, 2]} {
/// }";
/// let mut program = parse(storage.pools(), &TABLES, text, Options { keep_unknown: true, ..Options::default() }).unwrap();
/// let f = program.function("f").unwrap();
/// let [x, m] = [0, 1].map(|k| program.parameters(f).nth(k).unwrap());
/// let ty = program.type_of(x);
/// assert_eq!((program.layout_text(&ty), program.alias("rows")), (Some("(32,8):(8,1)"), Some("(32,8):(8,1)")));
/// let Some(AttrValue::List(list)) = program.attr(f, "note") else { panic!() };
/// assert_eq!(program.list(list, &mut [0; 4]), Some(&[1, 2][..]));
/// let interned = program.intern(ty).unwrap();
/// assert!(program.same_encoding(&ty, &ty) && program.type_at(interned).kind == TypeKind::Tensor);
/// let seven = program.literal_value(Literal::Int(7)).unwrap();
/// assert_eq!((program.int(seven), program.constant_sum(seven)), (Some(7), Some((Literal::Int(7), 1))));
/// program.set_name(m, "x").unwrap();
/// ```
#[derive(Debug)]
pub struct Program<'s, 't> {
    #[doc(hidden)]
    pub pools: Pools<'s>,
    pub(crate) text: &'t str,
    pub(crate) tables: &'t Tables<'t>,
}

/// Where a value comes from.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Def {
    /// Result number of an operation.
    Result(Op, u16),
    /// Argument number of a block.
    Argument(Block, u16),
    /// A number written in the place of an operand.
    Literal(Literal),
    /// The handle names nothing.
    Nothing,
}

/// A counted loop's fixed parts.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    /// The loop.
    pub op: Op,
    /// First value of the induction variable.
    pub lower: Value,
    /// The loop runs while the induction variable is below this.
    pub upper: Value,
    /// Added each time.
    pub step: Value,
    /// The body.
    pub body: Block,
    /// The induction variable: the body's first argument.
    pub induction: Value,
}

/// A value that a loop carries round.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Carried {
    /// Before the first iteration.
    pub init: Value,
    /// In the body.
    pub argument: Value,
    /// What the body passes on.
    pub yielded: Option<Value>,
    /// After the last iteration.
    pub result: Option<Value>,
}

impl<'s, 't> Program<'s, 't> {
    /// An empty program. `text` is the source, or the vocabulary from which a builder takes names;
    /// it may be empty.
    pub fn new(pools: Pools<'s>, tables: &'t Tables<'t>, text: &'t str) -> Result<Self, IrError> {
        let mut program = Self { pools, text, tables };
        program.pools.clear();
        let start = |program: &mut Self| -> Result<(), ErrorKind> {
            program.intern(Type::ELIDED)?;
            let region = program.pools.add(RegionData {
                owner: None,
                first_block: Block::at(0),
                next: None,
                stamp: Stamp(0),
            })?;
            let region = Region::at(region);
            program.pools.add(BlockData {
                region,
                next: None,
                first_op: None,
                last_op: None,
                first_arg: None,
                stamp: Stamp(0),
            })?;
            Ok(())
        };
        match start(&mut program) {
            Ok(()) => Ok(program),
            Err(kind) => Err(IrError { kind, at: SourcePlace::NOWHERE }),
        }
    }
    /// The tables that declare its operations.
    #[must_use]
    pub const fn tables(&self) -> &'t Tables<'t> {
        self.tables
    }
    /// Its source text.
    #[must_use]
    pub const fn source(&self) -> &'t str {
        self.text
    }
    /// Fill levels of its storage.
    #[must_use]
    pub fn usage(&self) -> [PoolUsage; 9] {
        self.pools.usage()
    }
    /// The text of a name.
    #[must_use]
    pub fn text(&self, name: TextRef) -> &'t str {
        if let Some(number) = name.word_number() {
            return attr_names::text(number);
        }
        let Some((start, len)) = name.place() else { return "" };
        let start = start as usize;
        self.text.get(start..start.saturating_add(usize::from(len))).unwrap_or("")
    }

    // ---- records
    pub(crate) fn op_data(&self, op: Op) -> Option<&OpData> {
        self.pools.read::<OpData>(op.index())
    }
    #[doc(hidden)]
    pub fn value_data(&self, value: Value) -> Option<&ValueData> {
        self.pools.read::<ValueData>(value.index())
    }
    #[doc(hidden)]
    pub fn use_data(&self, place: Use) -> Option<&UseData> {
        self.pools.read::<UseData>(place.index())
    }
    pub(crate) fn attr_data(&self, attr: AttrRef) -> Option<&AttrData> {
        self.pools.read::<AttrData>(attr.index())
    }
    pub(crate) fn region_data(&self, region: Region) -> Option<&RegionData> {
        self.pools.read::<RegionData>(region.index())
    }
    pub(crate) fn block_data(&self, block: Block) -> Option<&BlockData> {
        self.pools.read::<BlockData>(block.index())
    }

    // ---- operations
    /// Whether the handle names an operation that stands in a block.
    #[must_use]
    pub fn is_alive(&self, op: Op) -> bool {
        self.block_of(op).is_some()
    }
    /// The declaration's id; `None` for an operation that is only kept.
    #[must_use]
    pub fn decl_id(&self, op: Op) -> Option<OpId> {
        let id = self.op_data(op)?.decl;
        if id == crate::data::OPAQUE { None } else { Some(OpId(id)) }
    }
    /// The declaration.
    #[must_use]
    pub fn decl(&self, op: Op) -> Option<&'t OpDecl<'t>> {
        self.tables.op(self.decl_id(op)?)
    }
    /// What the operation is to the passes.
    #[must_use]
    pub fn role(&self, op: Op) -> OpRole {
        self.decl(op).map_or(OpRole::Opaque, |decl| decl.role)
    }
    /// What the operation does to layouts.
    #[must_use]
    pub fn layout_trait(&self, op: Op) -> LayoutTrait {
        self.decl(op).map_or(LayoutTrait::Fixing, |decl| decl.layout)
    }
    /// The declared name; for an operation that is only kept, the name as written.
    #[must_use]
    pub fn op_name(&self, op: Op) -> &'t str {
        match self.decl(op) {
            Some(decl) => decl.name,
            None => self.op_data(op).map_or("", |data| self.text(data.name)),
        }
    }
    /// Where its name stands in the source; with line 0 for an operation without text.
    #[must_use]
    pub fn place(&self, op: Op) -> SourcePlace {
        let name = self.op_data(op).map_or(TextRef::EMPTY, |data| data.name);
        SourcePlace { op: Some(op), ..self.place_of(name) }
    }
    /// The bytes of the source that are its name: where [`Program::place`] is, without counting
    /// lines; `None` for an operation without text.
    #[must_use]
    pub fn span(&self, op: Op) -> Option<core::ops::Range<usize>> {
        let (offset, len) = self.op_data(op)?.name.place().filter(|(_, len)| *len > 0)?;
        Some(offset as usize..(offset as usize).saturating_add(usize::from(len)))
    }
    /// Where a name stands in the source.
    #[must_use]
    pub fn place_of(&self, name: TextRef) -> SourcePlace {
        match name.place() {
            Some((offset, len)) if len > 0 => crate::text::lexer::place(self.text, offset, len),
            _ => SourcePlace::NOWHERE,
        }
    }
    /// One character of a name's text, so many bytes from its beginning.
    #[must_use]
    #[doc(hidden)]
    pub fn place_in(&self, name: TextRef, skip: u32) -> SourcePlace {
        match name.place() {
            Some((offset, len)) if len > 0 && skip < u32::from(len) => {
                crate::text::lexer::place(self.text, offset.saturating_add(skip), 1)
            }
            _ => self.place_of(name),
        }
    }
    /// The block it stands in.
    #[must_use]
    pub fn block_of(&self, op: Op) -> Option<Block> {
        self.op_data(op)?.block
    }
    /// The operation whose region it stands in.
    #[must_use]
    pub fn parent(&self, op: Op) -> Option<Op> {
        self.owner_of(self.block_of(op)?)
    }
    /// How many loops whose turns follow each other an operation stands in.
    #[doc(hidden)] // A question of the floors above.
    #[must_use]
    pub fn loops_around(&self, op: Op) -> usize {
        let around = core::iter::successors(self.parent(op), |at| self.parent(*at));
        let turns = |at: &Op| matches!(self.role(*at), OpRole::For | OpRole::While);
        around.filter(turns).count()
    }
    /// The next operation in the block.
    #[must_use]
    pub fn next(&self, op: Op) -> Option<Op> {
        self.op_data(op)?.next
    }
    /// The operation before it in the block.
    #[must_use]
    pub fn previous(&self, op: Op) -> Option<Op> {
        self.op_data(op)?.prev
    }

    // ---- structure
    /// The outermost block: functions, or the bare operations of a snippet. Its arguments are the
    /// names that a snippet leaves free.
    #[must_use]
    pub const fn root(&self) -> Block {
        Block::ROOT
    }
    /// Functions in order.
    pub fn functions(&self) -> impl Iterator<Item = Op> + Clone + '_ {
        self.ops(self.root()).filter(|op| self.role(*op) == OpRole::Function)
    }
    /// The first function with this name.
    #[must_use]
    pub fn function(&self, name: &str) -> Option<Op> {
        self.functions().find(|op| self.symbol(*op) == name)
    }
    /// A function's or call's symbol without `@`; empty when it has none.
    #[must_use]
    pub fn symbol(&self, op: Op) -> &'t str {
        let key = if self.role(op) == OpRole::Function {
            attr_names::SYM_NAME
        } else {
            attr_names::CALLEE
        };
        match self.attr(op, key) {
            Some(AttrValue::Symbol(name) | AttrValue::Str(name) | AttrValue::Word(name)) => {
                self.text(name)
            }
            _ => "",
        }
    }
    /// Operations of a block in order.
    pub fn ops(&self, block: Block) -> impl Iterator<Item = Op> + Clone + '_ {
        core::iter::successors(self.first(block), |op| self.next(*op))
    }
    /// First operation of a block.
    #[must_use]
    pub fn first(&self, block: Block) -> Option<Op> {
        self.block_data(block)?.first_op
    }
    /// Last operation of a block.
    #[must_use]
    pub fn last(&self, block: Block) -> Option<Op> {
        self.block_data(block)?.last_op
    }
    /// The operation that ends a block, if it has one.
    #[must_use]
    pub fn terminator(&self, block: Block) -> Option<Op> {
        self.last(block).filter(|op| self.role(*op).is_terminator())
    }
    /// Regions of an operation in order.
    pub fn regions(&self, op: Op) -> impl Iterator<Item = Region> + Clone + '_ {
        let first = self.op_data(op).and_then(|data| data.first_region);
        core::iter::successors(first, |region| self.region_data(*region)?.next)
    }
    /// Blocks of a region in order.
    pub fn blocks(&self, region: Region) -> impl Iterator<Item = Block> + Clone + '_ {
        let first = self.region_data(region).and_then(|data| data.first_block);
        core::iter::successors(first, |block| self.block_data(*block)?.next)
    }
    /// The first block of an operation's region with this number.
    #[must_use]
    pub fn entry(&self, op: Op, region: usize) -> Option<Block> {
        let region = self.regions(op).nth(region)?;
        self.region_data(region)?.first_block
    }
    /// The first block of an operation's first region: the body of a function or loop.
    #[must_use]
    pub fn body(&self, op: Op) -> Option<Block> {
        self.entry(op, 0)
    }
    /// The operation that a block belongs to; `None` for the root.
    #[must_use]
    pub fn owner_of(&self, block: Block) -> Option<Op> {
        self.region_data(self.block_data(block)?.region?)?.owner
    }
    /// Arguments of a block in order.
    pub fn arguments(&self, block: Block) -> impl Iterator<Item = Value> + Clone + '_ {
        let first = self.block_data(block).and_then(|data| data.first_arg);
        core::iter::successors(first, |value| self.value_data(*value)?.next)
    }
    /// Arguments of a function in order.
    pub fn parameters(&self, function: Op) -> impl Iterator<Item = Value> + Clone + '_ {
        self.body(function).into_iter().flat_map(|body| self.arguments(body))
    }
    /// Operations inside an operation (not itself), in text order, at every depth.
    pub fn inside(&self, op: Op) -> impl Iterator<Item = Op> + Clone + '_ {
        core::iter::successors(self.first_inside(op), move |at| self.following(*at, Some(op)))
    }
    /// Every operation of the program in text order, at every depth.
    pub fn all(&self) -> impl Iterator<Item = Op> + Clone + '_ {
        core::iter::successors(self.first(self.root()), |at| self.following(*at, None))
    }
    /// The operation after this one in text order, below `within` (or anywhere).
    #[must_use]
    pub fn following(&self, op: Op, within: Option<Op>) -> Option<Op> {
        self.first_inside(op).or_else(|| self.past(op, within))
    }
    fn first_inside(&self, op: Op) -> Option<Op> {
        self.first_in_regions(self.op_data(op)?.first_region)
    }
    /// The operation after this one and everything in it.
    #[must_use]
    pub fn past(&self, op: Op, within: Option<Op>) -> Option<Op> {
        let mut at = op;
        loop {
            let data = self.op_data(at)?;
            if data.next.is_some() {
                return data.next;
            }
            let block = self.block_data(data.block?)?;
            let region = self.region_data(block.region?)?;
            let found =
                self.first_in_blocks(block.next).or_else(|| self.first_in_regions(region.next));
            if found.is_some() {
                return found;
            }
            at = region.owner?;
            if Some(at) == within {
                return None;
            }
        }
    }
    fn first_in_blocks(&self, mut at: Option<Block>) -> Option<Op> {
        while let Some(block) = at {
            let data = self.block_data(block)?;
            if data.first_op.is_some() {
                return data.first_op;
            }
            at = data.next;
        }
        None
    }
    fn first_in_regions(&self, mut at: Option<Region>) -> Option<Op> {
        while let Some(region) = at {
            let data = self.region_data(region)?;
            let found = self.first_in_blocks(data.first_block);
            if found.is_some() {
                return found;
            }
            at = data.next;
        }
        None
    }

    // ---- operands and results
    /// Every use an operation makes, in text order: main operands, each followed by its subscripts.
    pub fn uses_by(&self, op: Op) -> impl Iterator<Item = Use> + Clone + '_ {
        let first = self.op_data(op).and_then(|data| data.first_operand);
        core::iter::successors(first, |place| self.use_data(*place)?.next)
    }
    /// Values of [`uses_by`](Self::uses_by).
    pub fn all_operands(&self, op: Op) -> impl Iterator<Item = Value> + Clone + '_ {
        self.uses_by(op).filter_map(|place| self.use_data(place)?.value)
    }
    pub(crate) fn main_uses(&self, op: Op) -> impl Iterator<Item = Use> + Clone + '_ {
        self.uses_by(op)
            .filter(|place| self.use_data(*place).is_some_and(|data| data.kind == UseKind::Main))
    }
    /// Main operands in order: without subscripts and without values that attributes name.
    pub fn operands(&self, op: Op) -> impl Iterator<Item = Value> + Clone + '_ {
        self.main_uses(op).filter_map(|place| self.use_data(place)?.value)
    }
    /// A main operand.
    #[must_use]
    pub fn operand(&self, op: Op, number: usize) -> Option<Value> {
        self.operands(op).nth(number)
    }
    /// Number of main operands.
    #[must_use]
    pub fn operand_count(&self, op: Op) -> usize {
        self.operands(op).count()
    }
    /// The place of a main operand.
    #[must_use]
    pub fn operand_use(&self, op: Op, number: usize) -> Option<Use> {
        self.main_uses(op).nth(number)
    }
    /// The values in brackets after a main operand.
    pub fn subscripts(&self, op: Op, number: usize) -> impl Iterator<Item = Value> + Clone + '_ {
        let first = self.operand_use(op, number).and_then(|place| self.use_data(place)?.next);
        core::iter::successors(first, |place| self.use_data(*place)?.next)
            .map_while(|place| self.use_data(place).filter(|data| data.kind == UseKind::Subscript))
            // Who asks once more behind the last one would get those of the next operand.
            .fuse()
            .filter_map(|data| data.value)
    }
    /// Results in order.
    pub fn results(&self, op: Op) -> impl Iterator<Item = Value> + Clone + '_ {
        let first = self.op_data(op).and_then(|data| data.first_result);
        core::iter::successors(first, |value| self.value_data(*value)?.next)
    }
    /// A result.
    #[must_use]
    pub fn result(&self, op: Op, number: usize) -> Option<Value> {
        self.results(op).nth(number)
    }
}

/// The 64-bit number of a payload.
pub(crate) fn number([a, b, c, d]: [u16; 4]) -> i64 {
    (i64::from(d) << 48) | (i64::from(c) << 32) | (i64::from(b) << 16) | i64::from(a)
}

/// The payload of a 64-bit number.
pub(crate) const fn payload(number: i64) -> [u16; 4] {
    [number as u16, (number >> 16) as u16, (number >> 32) as u16, (number >> 48) as u16]
}

/// The name in a payload.
pub(crate) const fn name([a, b, c, _]: [u16; 4]) -> TextRef {
    TextRef::from_parts(a, b, c)
}
