//! What operations want of their operands' layouts, given their results', and the other way round:
//! from roles and traits.
use crate::remat::layouts::{LayoutTransform, ProgramLayouts};
use lanebook_ir::layout_table::{ANY, NONE};
use lanebook_ir::{AttrValue, Def, ErrorKind, Op, Program, Type, Use, Value, attr_names};
use lanebook_tables::{LayoutTrait, OpRole};

/// How a value's layout follows from the layouts of what it is made of.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum LayoutBehaviour {
    /// Its layout is given.
    Fixed,
    /// Operands and result share one encoding.
    Same,
    /// A new dimension of extent 1.
    Expand(u8),
    /// One dimension combined away.
    Reduce(u8),
    /// Dimensions permuted.
    Permute,
    /// Another shape, in row-major order.
    Reshape,
    /// A half of a tile along its last dimension: result 0 or 1.
    Half,
    /// Two tiles along a new last dimension.
    Whole,
    /// A value that a loop carries, inside the loop: what comes in, and what each iteration passes
    /// on. Of a `while` it is what the region that decides takes.
    Carried(Op, u16),
    /// What the region of a `while` that decides passes on to the one that works.
    Passed(Op, u16),
    /// The same after the loop.
    After(Op, u16),
    /// What regions pass out.
    Branch(Op, u16),
    /// A hint's operand handed on as its result: there is one such hint, so it is made in one
    /// layout.
    Paired,
}

impl LayoutBehaviour {
    /// A number in seven bits, from which and the value the kind can be told again; 0 where that
    /// does not do.
    fn code(self, program: &Program<'_, '_>) -> u8 {
        let along = |code: u8, axis: u8| if axis < 8 { code | axis.wrapping_shl(4) } else { 0 };
        match self {
            Self::Fixed => 1,
            Self::Same => 2,
            Self::Expand(axis) => along(3, axis),
            Self::Reduce(axis) => along(4, axis),
            Self::Permute => 5,
            Self::Reshape => 6,
            Self::Carried(op, _) if program.role(op) == OpRole::While => 7,
            Self::Carried(..) => 8,
            Self::Passed(..) => 9,
            Self::After(..) => 10,
            Self::Branch(..) => 11,
            Self::Half => 12,
            Self::Whole => 13,
            Self::Paired => 14,
        }
    }
    fn of_code(code: u8, program: &Program<'_, '_>, value: Value) -> Option<Self> {
        let axis = code.wrapping_shr(4);
        let argument = || match program.def(value) {
            Def::Argument(block, number) => Some((program.owner_of(block)?, number)),
            _ => None,
        };
        let result = || match program.def(value) {
            Def::Result(op, number) => Some((op, number)),
            _ => None,
        };
        Some(match code & 15 {
            1 => Self::Fixed,
            2 => Self::Same,
            3 => Self::Expand(axis),
            4 => Self::Reduce(axis),
            5 => Self::Permute,
            6 => Self::Reshape,
            7 => argument().map(|(op, number)| Self::Carried(op, number))?,
            8 => argument()
                .and_then(|(op, number)| Some(Self::Carried(op, number.checked_sub(1)?)))?,
            9 => argument().map(|(op, number)| Self::Passed(op, number))?,
            10 => result().map(|(op, number)| Self::After(op, number))?,
            11 => result().map(|(op, number)| Self::Branch(op, number))?,
            12 => Self::Half,
            13 => Self::Whole,
            14 => Self::Paired,
            _ => return None,
        })
    }
}

/// Who reads a value.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum ValueReader {
    /// A value whose layout decides what is wanted.
    Value(Value),
    /// Somebody who wants this very layout.
    Exact(u16),
    /// Somebody who takes any.
    Any,
}

/// A walk over a value's readers.
#[derive(Copy, Clone, Debug)]
pub(super) enum ReaderWalk {
    Use(Option<Use>),
    /// Also this one, which reads at the same place as the last.
    Also(Value, Option<Use>),
    Done,
}

/// The operand that is the first of those that a loop carries.
pub(super) fn first_carried(program: &Program<'_, '_>, op: Op) -> usize {
    if program.role(op) == OpRole::While { 0 } else { 3 }
}

/// A tile in registers whose extents are written out.
pub(super) fn in_registers(ty: &Type) -> bool {
    ty.is_tile() && !ty.is_memory() && ty.shape.is_known()
}

/// Bytes of a tile's elements together; an element that is only kept is a pointer.
pub(super) fn bytes(
    program: &Program<'_, '_>,
    ty: &Type,
    least_elements: u32,
    least_bits: u32,
) -> u64 {
    let bits = match ty.dtype.and_then(|dtype| program.tables().dtype(dtype)) {
        Some(dtype) => u32::from(dtype.bits),
        None => 64,
    };
    let elements = ty.shape.elements().unwrap_or(0).max(u64::from(least_elements));
    elements.saturating_mul(u64::from(bits.max(least_bits))).div_ceil(8)
}

/// Whether a conversion changes nothing but the layout of a tile in registers, so that another may
/// do in its stead.
pub(super) fn is_free(program: &Program<'_, '_>, op: Op, ordered: bool) -> bool {
    if program.role(op) != OpRole::Convert {
        return false;
    }
    let (Some(source), Some(result)) = (program.operand(op, 0), program.result(op, 0)) else {
        return false;
    };
    let (from, to) = (program.type_of(source), program.type_of(result));
    if !in_registers(&from) || !in_registers(&to) || from.space != to.space {
        return false;
    }
    !ordered || program.def_op(source).is_some_and(|def| !program.is_pinned(def, op))
}

impl ProgramLayouts<'_, '_, '_> {
    /// How a value is made.
    pub fn kind(&self, value: Value) -> LayoutBehaviour {
        if self
            .program
            .pools
            .layout_table
            .nodes
            .get(value.index())
            .is_some_and(|node| node.is_fixed())
        {
            return LayoutBehaviour::Fixed;
        }
        self.natural(value)
    }
    /// The same, of what the operation says alone.
    pub fn natural(&self, value: Value) -> LayoutBehaviour {
        let noted =
            self.program.pools.layout_table.nodes.get(value.index()).map_or(0, |node| node.made());
        LayoutBehaviour::of_code(noted, self.program, value).unwrap_or_else(|| self.reckon(value))
    }
    /// Notes how values are made, while the program stays as it is: they are asked often.
    pub fn note_kinds(&mut self) {
        for index in 0..self.program.pools.layout_table.nodes.len() {
            let code = Value::at(index).map_or(0, |value| self.reckon(value).code(self.program));
            if let Some(node) = self
                .program
                .pools
                .layout_table
                .nodes
                .get_mut(index)
                .filter(|node| node.first != NONE)
            {
                node.set_made(code);
            }
        }
    }
    /// Forgets that.
    pub fn forget_kinds(&mut self) {
        for node in self.program.pools.layout_table.nodes.iter_mut() {
            node.set_made(0);
        }
    }
    #[inline(never)]
    fn reckon(&self, value: Value) -> LayoutBehaviour {
        let program = &*self.program;
        match program.def(value) {
            Def::Argument(block, number) => {
                match (program.owner_of(block), number.checked_sub(1)) {
                    (Some(op), Some(number))
                        if matches!(program.role(op), OpRole::For | OpRole::Parallel) =>
                    {
                        LayoutBehaviour::Carried(op, number)
                    }
                    (Some(op), _)
                        if program.role(op) == OpRole::While
                            && program.entry(op, 0) == Some(block) =>
                    {
                        LayoutBehaviour::Carried(op, number)
                    }
                    (Some(op), _) if program.role(op) == OpRole::While => {
                        LayoutBehaviour::Passed(op, number)
                    }
                    _ => LayoutBehaviour::Fixed,
                }
            }
            Def::Result(op, number) => self.result_kind(op, number),
            _ => LayoutBehaviour::Fixed,
        }
    }
    fn result_kind(&self, op: Op, number: u16) -> LayoutBehaviour {
        let program = &*self.program;
        match program.role(op) {
            OpRole::For | OpRole::Parallel | OpRole::While => {
                return LayoutBehaviour::After(op, number);
            }
            OpRole::Split if program.results(op).count() == 2 => return LayoutBehaviour::Half,
            OpRole::Pragma if program.is_paired(op) => return LayoutBehaviour::Paired,
            OpRole::If => return LayoutBehaviour::Branch(op, number),
            OpRole::Consume if !program.is_stage(op) => return LayoutBehaviour::Branch(op, number),
            _ if program.result(op, 1).is_some() || number != 0 => return LayoutBehaviour::Fixed,
            _ => {}
        }
        let (first, result) = (program.operand(op, 0), program.result(op, 0));
        let ty = |value: Option<Value>| value.map_or(Type::ELIDED, |value| program.type_of(value));
        let (from, to) = (ty(first), ty(result));
        let axis = || match program.attr(op, attr_names::AXIS) {
            Some(AttrValue::Int(axis, _)) => u8::try_from(axis).ok(),
            _ => None,
        };
        let transparent = program.layout_trait(op) == LayoutTrait::Transparent;
        match program.role(op) {
            OpRole::Elementwise | OpRole::Index | OpRole::Select | OpRole::Constant
                if transparent =>
            {
                LayoutBehaviour::Same
            }
            OpRole::Broadcast if !from.is_tile() || from.shape.rank() == to.shape.rank() => {
                LayoutBehaviour::Same
            }
            OpRole::Broadcast if from.shape.rank().saturating_add(1) == to.shape.rank() => {
                axis().map_or(LayoutBehaviour::Fixed, LayoutBehaviour::Expand)
            }
            OpRole::Reduce if program.operand_count(op) == 1 && !program.keeps_dimension(op) => {
                axis().map_or(LayoutBehaviour::Fixed, LayoutBehaviour::Reduce)
            }
            OpRole::Transpose => LayoutBehaviour::Permute,
            OpRole::Reshape => LayoutBehaviour::Reshape,
            OpRole::Join => LayoutBehaviour::Whole,
            // A load by pointers, of fewer elements than there are threads: another layout costs no
            // more than the load again.
            OpRole::Load if in_registers(&from) && self.is_small(&to) => LayoutBehaviour::Same,
            _ => LayoutBehaviour::Fixed,
        }
    }
    fn is_small(&self, ty: &Type) -> bool {
        let width = self.known(ty).and_then(|layout| self.record(layout)).filter(|at| at.known);
        let threads = width.and_then(|known| 1u64.checked_shl(u32::from(known.width))).unwrap_or(0);
        ty.shape.elements().is_some_and(|elements| elements < threads)
    }
    /// What a value is made of: its `number`-th input, with the place that it is read at. Not all
    /// inputs are tiles.
    pub fn input(
        &self,
        value: Value,
        kind: LayoutBehaviour,
        number: usize,
    ) -> Option<(Option<Use>, Value)> {
        let program = &*self.program;
        let at =
            |place: Option<Use>| place.and_then(|place| Some((Some(place), program.used(place)?)));
        let yielded = |op: Op, region: usize, result: u16| {
            let end = program.entry(op, region).and_then(|block| program.terminator(block));
            end.and_then(|end| program.operand_use(end, usize::from(result)))
        };
        match kind {
            LayoutBehaviour::Fixed => None,
            LayoutBehaviour::Carried(op, result) => match number {
                0 => at(program.operand_use(
                    op,
                    usize::from(result).saturating_add(first_carried(program, op)),
                )),
                1 => at(yielded(op, if program.role(op) == OpRole::While { 1 } else { 0 }, result)),
                _ => None,
            },
            LayoutBehaviour::Passed(op, result) if number == 0 => {
                at(yielded(op, 0, result.saturating_add(1)))
            }
            LayoutBehaviour::Passed(..) => None,
            LayoutBehaviour::Paired => match program.def(value) {
                Def::Result(op, result) if number == 0 => {
                    at(program.operand_use(op, usize::from(result)))
                }
                _ => None,
            },
            LayoutBehaviour::After(op, result) => self
                .last(op, usize::from(result))
                .filter(|_| number == 0)
                .map(|argument| (None, argument)),
            LayoutBehaviour::Branch(op, result) => at(yielded(op, number, result)),
            _ => at(program.operand_use(program.def_op(value)?, number)),
        }
    }
    /// The layout in which an input is wanted so that the value is made in `layout`.
    pub fn need(
        &mut self,
        value: Value,
        kind: LayoutBehaviour,
        layout: u16,
        input: Value,
    ) -> Result<Option<u16>, ErrorKind> {
        match (kind, self.program.def_op(value)) {
            (LayoutBehaviour::Same | LayoutBehaviour::Paired, _) => self.at_shape(layout, input),
            (LayoutBehaviour::Expand(axis), _) => self.derive(layout, LayoutTransform::Slice(axis)),
            (LayoutBehaviour::Reduce(axis), _) => {
                match self.program.type_of(input).shape.extent(usize::from(axis)) {
                    Some(extent) => self.derive(layout, LayoutTransform::Parent(axis, extent)),
                    None => Ok(None),
                }
            }
            (LayoutBehaviour::Permute, Some(op)) => {
                self.derive(layout, LayoutTransform::PermuteBack(op))
            }
            (LayoutBehaviour::Reshape, Some(op)) => {
                self.derive(layout, LayoutTransform::ReshapeBack(op))
            }
            (LayoutBehaviour::Half, _) => self.derive(layout, LayoutTransform::Join),
            (LayoutBehaviour::Whole, _) => self.derive(layout, LayoutTransform::Split),
            (
                LayoutBehaviour::Carried(..)
                | LayoutBehaviour::Passed(..)
                | LayoutBehaviour::After(..)
                | LayoutBehaviour::Branch(..),
                _,
            ) => Ok(Some(layout)),
            _ => Ok(None),
        }
    }
    /// The layout that a value has when an input is in `layout`.
    pub fn give(
        &mut self,
        value: Value,
        kind: LayoutBehaviour,
        layout: u16,
    ) -> Result<Option<u16>, ErrorKind> {
        match (kind, self.program.def_op(value)) {
            (LayoutBehaviour::Same | LayoutBehaviour::Paired, _) => self.at_shape(layout, value),
            (LayoutBehaviour::Expand(axis), _) => {
                self.derive(layout, LayoutTransform::Parent(axis, 1))
            }
            (LayoutBehaviour::Reduce(axis), _) => self.derive(layout, LayoutTransform::Slice(axis)),
            (LayoutBehaviour::Permute, Some(op)) => {
                self.derive(layout, LayoutTransform::Permute(op))
            }
            (LayoutBehaviour::Reshape, Some(op)) => {
                self.derive(layout, LayoutTransform::Reshape(op))
            }
            (LayoutBehaviour::Half, _) => self.derive(layout, LayoutTransform::Split),
            (LayoutBehaviour::Whole, _) => self.derive(layout, LayoutTransform::Join),
            (
                LayoutBehaviour::Carried(..)
                | LayoutBehaviour::Passed(..)
                | LayoutBehaviour::After(..)
                | LayoutBehaviour::Branch(..),
                _,
            ) => Ok(Some(layout)),
            _ => Ok(None),
        }
    }
    /// A walk over the readers of a value.
    pub fn readers(&self, value: Value) -> ReaderWalk {
        ReaderWalk::Use(self.program.uses(value).next())
    }
    /// The next reader.
    pub fn next_reader(&self, value: Value, walk: &mut ReaderWalk) -> Option<ValueReader> {
        match *walk {
            ReaderWalk::Use(Some(place)) => {
                let reader = self.reader(place);
                *walk = match (reader, self.other_half(place)) {
                    (ValueReader::Value(_), Some(other)) => {
                        ReaderWalk::Also(other, self.program.next_use(place))
                    }
                    _ => ReaderWalk::Use(self.program.next_use(place)),
                };
                Some(reader)
            }
            ReaderWalk::Also(value, next) => {
                *walk = ReaderWalk::Use(next);
                Some(ValueReader::Value(value))
            }
            ReaderWalk::Use(None) => {
                *walk = ReaderWalk::Done;
                // What a loop carries is also read behind the loop.
                match self.natural(value) {
                    LayoutBehaviour::Carried(op, _) if self.program.role(op) == OpRole::While => {
                        None
                    }
                    LayoutBehaviour::Carried(op, number) | LayoutBehaviour::Passed(op, number) => {
                        self.program.result(op, usize::from(number)).map(ValueReader::Value)
                    }
                    _ => None,
                }
            }
            ReaderWalk::Done => None,
        }
    }
    /// The layout that was read at a place before conversions were taken out.
    pub fn want_at(&self, place: Use) -> Option<u16> {
        self.program
            .pools
            .layout_table
            .wants
            .get(place.index())
            .copied()
            .filter(|want| *want != ANY)
            .map(u16::from)
    }
    /// Who reads at a place.
    pub fn reader(&self, place: Use) -> ValueReader {
        let program = &*self.program;
        let exact = ValueReader::Exact(self.want_at(place).unwrap_or(NONE));
        let (Some(op), Some(number)) = (program.user(place), program.operand_number(place)) else {
            return exact;
        };
        let value = match program.role(op) {
            OpRole::Yield => program.parent(op).and_then(|parent| match program.role(parent) {
                OpRole::For | OpRole::Parallel | OpRole::While => self.argument(parent, number),
                OpRole::If | OpRole::Consume => program.result(parent, number),
                _ => None,
            }),
            OpRole::For | OpRole::Parallel | OpRole::While => number
                .checked_sub(first_carried(program, op))
                .and_then(|number| self.argument(op, number)),
            OpRole::Condition => {
                program.parent(op).and_then(|parent| self.last(parent, number.checked_sub(1)?))
            }
            OpRole::Alloc => return ValueReader::Any,
            // One number comes out, whoever holds the elements.
            OpRole::Reduce
                if program.operand_count(op) == 1
                    && program.result(op, 0).is_some_and(|to| !program.type_of(to).is_tile()) =>
            {
                return ValueReader::Any;
            }
            OpRole::Store
                if number == 0
                    && program
                        .operand(op, 1)
                        .is_some_and(|to| crate::remat::is_on_chip(&program.type_of(to))) =>
            {
                return ValueReader::Any;
            }
            OpRole::If | OpRole::Consume => None,
            OpRole::Pragma if program.is_paired(op) => program.result(op, number),
            _ => program.result(op, 0),
        };
        match value {
            Some(value)
                if in_registers(&program.type_of(value))
                    && self.kind(value) != LayoutBehaviour::Fixed =>
            {
                ValueReader::Value(value)
            }
            _ => exact,
        }
    }
    /// What a loop carries, inside: of a `while`, what the region that decides takes.
    pub fn argument(&self, op: Op, number: usize) -> Option<Value> {
        let first = if self.program.role(op) == OpRole::While { 0 } else { 1 };
        self.program.arguments(self.program.body(op)?).nth(number.saturating_add(first))
    }
    /// What a loop's result is the last of: the value that it carries; of a `while`, what the
    /// region that works takes.
    pub fn last(&self, op: Op, number: usize) -> Option<Value> {
        match self.program.role(op) {
            OpRole::While => self.program.arguments(self.program.entry(op, 1)?).nth(number),
            _ => self.argument(op, number),
        }
    }
    /// The second result of an operation that halves what is read at a place.
    fn other_half(&self, place: Use) -> Option<Value> {
        let op = self.program.user(place)?;
        if self.program.role(op) == OpRole::Split { self.program.result(op, 1) } else { None }
    }
}
