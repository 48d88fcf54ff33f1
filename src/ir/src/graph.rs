//! The tile IR as a graph of terms for the rule engine.
//!
//! A node is a value, or an operation that has no result or several. A literal is a constant; the
//! result of an operation with one result is that operation; everything else is a leaf. Replacing
//! an operation erases it, and with it the pure operations before it that nothing reads any more.
use crate::attr::Literal;
use crate::data::{UseData, UseKind};
use crate::edit::edit_ops::Edit;
use crate::error::ErrorKind;
use crate::handle::{AttrRef, Op, TextRef, Use, Value};
use crate::program::{Def, Program};
use crate::rewrite::{Bound, Graph, RunError, Terms, TileMake, View, Work};
use crate::storage::Mark;
use crate::types::{TileEncoding, Type};
use lanebook_tables::{IndexOp, LayoutTrait, OpDecl, Word};

/// A node of the graph.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Node {
    /// A value: stands for the operation of which it is the only result.
    Value(Value),
    /// An operation without results, or with several.
    Op(Op),
}

/// A program lent to the rule engine. When it is dropped, what was done since the last checkpoint
/// is kept.
///
/// ```
/// use lanebook::TABLES;
/// use lanebook::ir::{Node, Options, SmallStorage, TileGraph, parse};
/// use lanebook::rewrite::{Terms, View, Work};
///
/// let mut storage = Box::new(SmallStorage::new());
/// let text = "func @f(%x: memref<64x64xf32, #gmem>) {threads = 128} {
///   %a = tiled_load %x[0, 0] : memref<64x64xf32, #gmem> -> tensor<64x64xf32>
///   tiled_store %a, %x[0, 0] : tensor<64x64xf32> -> memref<64x64xf32, #gmem>
/// }";
/// let mut program = parse(storage.pools(), &TABLES, text, Options::default()).unwrap();
/// let graph = TileGraph::new(&mut program);
/// // An operation with one result is named by that.
/// let load = graph.program().all().find(|op| graph.program().op_name(*op) == "tiled_load").unwrap();
/// let node = graph.node(load);
/// assert!(matches!((node, graph.view(node)), (Node::Value(_), View::Tile(..))));
/// let mut list = heapless::Vec::<Node, 16>::new();
/// let mut work = Work::new(list.as_mut_view());
/// graph.push_all(&mut work).unwrap();
/// graph.push_all_last_first(&mut work).unwrap();
/// assert!(work.pop().is_some());
/// ```
#[derive(Debug)]
pub struct TileGraph<'p, 's, 't> {
    program: &'p mut Program<'s, 't>,
    mark: Option<Mark>,
}

/// Dead operations looked after at once; more are left for a later pass.
const DEAD: usize = 32;

impl Drop for TileGraph<'_, '_, '_> {
    fn drop(&mut self) {
        if let Some(mark) = self.mark.take() {
            self.program.keep(mark);
        }
    }
}

impl<'p, 's, 't> TileGraph<'p, 's, 't> {
    /// A graph over a program.
    pub fn new(program: &'p mut Program<'s, 't>) -> Self {
        Self { program, mark: None }
    }
    /// The program.
    #[must_use]
    pub fn program(&self) -> &Program<'s, 't> {
        self.program
    }
    /// The node of an operation.
    #[must_use]
    pub fn node(&self, op: Op) -> Node {
        node(self.program, op)
    }
    /// Puts every operation on a worklist, the first one on top.
    pub fn push_all(&self, work: &mut Work<'_, Node>) -> Result<(), RunError<ErrorKind>> {
        // The list is a stack: walk the text backwards.
        let mut at = last_inside(self.program, self.program.last(self.program.root()));
        while let Some(op) = at {
            work.push(self.node(op))?;
            at = match self.program.previous(op) {
                Some(before) => last_inside(self.program, Some(before)),
                None => self.program.parent(op),
            };
        }
        Ok(())
    }
    /// Puts every operation on a worklist, the last one on top. What moves up then meets what
    /// stands above it before that has moved: of conversions one after the other each passes an
    /// operation once, and not each of them every operation.
    pub fn push_all_last_first(
        &self,
        work: &mut Work<'_, Node>,
    ) -> Result<(), RunError<ErrorKind>> {
        let mut at = self.program.first(self.program.root());
        while let Some(op) = at {
            work.push(self.node(op))?;
            at = self.program.following(op, None);
        }
        Ok(())
    }
    fn op_of(&self, node: Node) -> Option<Op> {
        match node {
            Node::Op(op) => Some(op),
            Node::Value(value) => {
                self.program.def_op(value).filter(|op| self.program.result(*op, 1).is_none())
            }
        }
    }
    fn value_of(&self, node: Node) -> Option<Value> {
        match node {
            Node::Value(value) => Some(value),
            Node::Op(_) => None,
        }
    }
    fn type_of(&self, bound: Option<&Bound<Node>>) -> Option<Type> {
        match bound {
            Some(Bound::Node(Node::Value(value))) => {
                Some(self.program.type_of(*value)).filter(|ty| !ty.is_elided())
            }
            _ => None,
        }
    }
    /// Whether nothing that orders memory stands between `y` and `x`, and if `y` reads memory,
    /// nothing that writes it.
    fn unpinned(&self, x: Op, y: Op) -> bool {
        let reads = self.decl(y).is_none_or(|decl| decl.reads);
        !(self.program.is_pinned(y, x) || reads && self.program.is_overwritten(y, x))
    }
    /// Bits of a tile's element; what has no element type of its own is a tile of pointers.
    fn element_bits(&self, ty: &Type) -> u16 {
        ty.dtype
            .and_then(|dtype| self.program.tables().dtype(dtype))
            .map_or(u16::MAX, |dtype| dtype.bits)
    }
    fn decl(&self, op: Op) -> Option<&'t OpDecl<'t>> {
        self.program.decl(op)
    }
    /// Attributes of one operation for another.
    fn copy_attrs(&mut self, from: Op, to: Op) -> Edit {
        let mut at: Option<AttrRef> = self.program.op_data(from).and_then(|data| data.attrs);
        while let Some(attr) = at {
            let data = *self.program.attr_data(attr).ok_or(ErrorKind::Broken)?;
            let value = self.program.attr_value(&data);
            self.program.push_attr(to, data.key, value)?;
            at = data.next;
        }
        Ok(())
    }
    /// The subscripts of an operation's operand for the operand pushed last on another.
    fn copy_subscripts(&mut self, from: Op, number: usize, to: Op) -> Edit {
        let mut at: Option<Use> = self
            .program
            .operand_use(from, number)
            .and_then(|place| self.program.use_data(place)?.next);
        while let Some(UseData { kind: UseKind::Subscript, value: Some(value), next, .. }) =
            at.and_then(|at| self.program.use_data(at).copied())
        {
            self.program.push_operand(to, value, UseKind::Subscript)?;
            at = next;
        }
        Ok(())
    }
    /// The type of a new operation's result.
    fn make_type(
        &self,
        make: &TileMake<Node>,
        like: Option<Type>,
        first: Option<Type>,
    ) -> Edit<Type> {
        let base = like.or(first).ok_or(ErrorKind::Misplaced)?;
        let Some(layout) = make.layout else { return Ok(base) };
        let from = self
            .value_of(layout)
            .map(|value| self.program.type_of(value))
            .ok_or(ErrorKind::Misplaced)?;
        let carried = match make
            .through
            .and_then(|node| self.op_of(node))
            .map(|op| self.program.layout_trait(op))
        {
            None | Some(LayoutTrait::Transparent) => from.encoding,
            // What permutes, reshapes or reduces layouts is left to removal by exact cost, which
            // has the layout algebra.
            Some(_) if from.encoding == TileEncoding::None => TileEncoding::None,
            Some(_) => return Err(ErrorKind::Misplaced),
        };
        Ok(Type { space: from.space, encoding: carried, ..base })
    }
    /// Whether a value's operation stands a few places before another with no region between them:
    /// a name that is free at the one is then free at the other.
    fn close_before(&self, value: Value, op: Op) -> bool {
        let mut at = self.program.def_op(value);
        for _ in 0..8 {
            match at {
                Some(here) if here == op => return true,
                Some(here) if self.program.regions(here).next().is_none() => {
                    at = self.program.next(here)
                }
                _ => return false,
            }
        }
        false
    }
    /// Erases an operation and the pure operations before it that nothing reads any more.
    fn erase(&mut self, op: Op) -> Edit {
        let mut dead = [None; DEAD];
        let mut count = 0usize;
        let mut at = Some(op);
        while let Some(op) = at {
            let mut number = 0;
            // Operands are looked at before they go.
            while let Some(value) = self.program.all_operands(op).nth(number) {
                number = number.saturating_add(1);
                if let (Some(def), Some(place)) = (self.program.def_op(value), dead.get_mut(count))
                {
                    *place = Some(def);
                    count = count.saturating_add(1);
                }
            }
            self.program.erase(op)?;
            at = None;
            while let Some(next) = count.checked_sub(1) {
                count = next;
                let candidate = dead.get(next).copied().flatten();
                let unread = |op: &Op| {
                    self.program.is_alive(*op)
                        && self.decl(*op).is_some_and(|decl| decl.pure)
                        && !self.program.results(*op).any(|value| self.program.is_used(value))
                };
                if let Some(op) = candidate.filter(unread) {
                    at = Some(op);
                    break;
                }
            }
        }
        Ok(())
    }
}

fn node(program: &Program<'_, '_>, op: Op) -> Node {
    match (program.result(op, 0), program.result(op, 1)) {
        (Some(value), None) => Node::Value(value),
        _ => Node::Op(op),
    }
}

/// The last operation in text order of `op` and everything in it.
fn last_inside(program: &Program<'_, '_>, op: Option<Op>) -> Option<Op> {
    let mut at = op?;
    loop {
        let inner = program
            .regions(at)
            .flat_map(|region| program.blocks(region))
            .filter_map(|block| program.last(block))
            .last();
        match inner {
            Some(inner) => at = inner,
            None => return Some(at),
        }
    }
}

impl Terms for TileGraph<'_, '_, '_> {
    type Id = Node;

    fn view(&self, id: Node) -> View {
        if let Node::Value(value) = id
            && let Def::Literal(literal) = self.program.def(value)
        {
            return match literal {
                Literal::Int(value) => View::Const { value: value as u64, width: 64 },
                _ => View::Leaf,
            };
        }
        match self.op_of(id).and_then(|op| Some((self.program.decl_id(op)?, self.program.role(op))))
        {
            Some((decl, role)) => View::Tile(decl, role),
            None => View::Leaf,
        }
    }
    fn arity(&self, id: Node) -> u8 {
        self.op_of(id)
            .map_or(0, |op| u8::try_from(self.program.operand_count(op)).unwrap_or(u8::MAX))
    }
    fn operand(&self, id: Node, number: u8) -> Option<Node> {
        self.program.operand(self.op_of(id)?, usize::from(number)).map(Node::Value)
    }
    fn holds(&self, word: Word, args: &[Bound<Node>]) -> bool {
        let (a, b) = (self.type_of(args.first()), self.type_of(args.get(1)));
        match word {
            Word::SingleUse => match args.first() {
                Some(Bound::Node(Node::Value(value))) => self.program.uses(*value).nth(1).is_none(),
                _ => false,
            },
            Word::SameLayout => {
                matches!((a, b), (Some(a), Some(b)) if self.program.same_encoding(&a, &b))
            }
            Word::SameSpace => {
                matches!((a, b), (Some(a), Some(b)) if a.space == b.space && a.is_memory() == b.is_memory())
            }
            Word::Unpinned => match (args.first(), args.get(1)) {
                (Some(Bound::Node(x)), Some(Bound::Node(y))) => {
                    self.op_of(*x).zip(self.op_of(*y)).is_some_and(|(x, y)| self.unpinned(x, y))
                }
                _ => false,
            },
            Word::Narrower => match (a.filter(Type::is_tile), b.filter(Type::is_tile)) {
                (Some(a), Some(b)) => self.element_bits(&a) < self.element_bits(&b),
                _ => false,
            },
            Word::InRegisters => a.is_some_and(|ty| ty.is_tile() && !ty.is_memory()),
            Word::InMemory => a.is_some_and(|ty| ty.is_memory()),
            _ => false,
        }
    }
}

impl Graph for TileGraph<'_, '_, '_> {
    type Error = ErrorKind;
    type Mark = Mark;

    fn refresh(&mut self, id: Node) -> Result<Option<Node>, ErrorKind> {
        Ok(self.op_of(id).filter(|op| self.program.is_alive(*op)).map(|op| self.node(op)))
    }
    fn settle(&mut self, _: Node) {}

    fn make_const(&mut self, value: u64, _: u8) -> Result<Node, ErrorKind> {
        self.program.literal_value(Literal::Int(value as i64)).map(Node::Value)
    }
    fn make_index(&mut self, _: IndexOp, _: &[Node]) -> Result<Node, ErrorKind> {
        Err(ErrorKind::Misplaced)
    }
    fn make_tile(
        &mut self,
        make: TileMake<Node>,
        args: &[Node],
        root: Node,
    ) -> Result<Node, ErrorKind> {
        let anchor = self.op_of(root).ok_or(ErrorKind::Misplaced)?;
        let block = self.program.block_of(anchor).ok_or(ErrorKind::Stale)?;
        let like = make.like.and_then(|like| self.op_of(like));
        let id = make
            .op
            .or_else(|| like.and_then(|like| self.program.decl_id(like)))
            .ok_or(ErrorKind::Misplaced)?;
        let decl = self.program.tables().op(id).ok_or(ErrorKind::UnknownOp)?;
        if decl.regions > 0 {
            return Err(ErrorKind::Misplaced);
        }
        let op = self.program.new_op(
            Some(id),
            like.map_or(TextRef::EMPTY, |like| {
                self.program.op_data(like).map_or(TextRef::EMPTY, |data| data.name)
            }),
        )?;
        for (number, arg) in args.iter().enumerate() {
            let value = self.value_of(*arg).ok_or(ErrorKind::Misplaced)?;
            self.program.push_operand(op, value, UseKind::Main)?;
            if let Some(like) = like {
                self.copy_subscripts(like, number, op)?;
            }
        }
        if decl.results.1 > 0 {
            let same = like
                .and_then(|like| self.program.result(like, 0))
                .map(|value| self.program.type_of(value));
            let first = args
                .first()
                .and_then(|arg| self.value_of(*arg))
                .map(|value| self.program.type_of(value));
            if decl.results.0 > 0 || same.is_some() {
                let ty = self.make_type(&make, same, first)?;
                self.program.add_result(op, ty)?;
            }
        }
        if let Some(like) = like {
            self.copy_attrs(like, op)?;
        }
        self.program.link(op, block, Some(anchor))?;
        Ok(self.node(op))
    }
    fn replace(
        &mut self,
        old: Node,
        new: Node,
        work: &mut Work<'_, Node>,
    ) -> Result<(), RunError<ErrorKind>> {
        let op = self.op_of(old).ok_or(RunError::Graph(ErrorKind::Stale))?;
        if let (Some(from), Some(to)) = (self.value_of(old), self.value_of(new)) {
            for user in self.program.uses(from).filter_map(|place| self.program.user(place)) {
                work.push(self.node(user))?;
            }
            self.program.replace_all_uses(from, to).map_err(RunError::Graph)?;
            if self.program.value_name(to).is_empty() && self.close_before(to, op) {
                self.program.take_name(to, from).map_err(RunError::Graph)?;
            }
        }
        self.erase(op).map_err(RunError::Graph)
    }

    fn checkpoint(&mut self) -> Mark {
        if let Some(mark) = self.mark.take() {
            self.program.keep(mark);
        }
        let mark = self.program.mark();
        self.mark = Some(mark);
        mark
    }
    fn rollback(&mut self, mark: Mark) {
        self.mark = None;
        self.program.undo(mark);
    }
}
