//! Groups of values: buffers that are one memory under several names, and tiles in registers that
//! share a layout.
//!
//! Memory: views, selects, copies' results, what loops, conditions and pipeline regions hand on.
//! Registers: conversions (seeds), operations that are transparent to layouts, and the same
//! regions. Each memory group lists the operations that touch it, in text order; each register
//! group knows what its tiles are to products.
use crate::{ChoiceError, ChoicePool};
use heapless::VecView;
use lanebook_ir::{Op, Program, Type, Value};
use lanebook_tables::{LayoutTrait, OpRole, Space, SubAxis};

/// One value (its group) and one operation (its place in a list), by their numbers.
#[derive(Copy, Clone, Debug)]
pub struct GroupNode {
    /// The value that this one follows in its group.
    up: u16,
    /// The memory group's first and last operation, at its root.
    first: u16,
    last: u16,
    /// The operation after the one of this number.
    next: u16,
    /// Uses of the register group by products, at its root.
    axes: u8,
    /// The group was looked at.
    done: bool,
}

const NONE: u16 = u16::MAX;

/// The groups of a program.
pub(super) struct Groups<'a> {
    nodes: &'a mut VecView<GroupNode>,
}

/// Whether a value is a tile in memory, or one whose kind of memory is open.
pub(super) fn is_place(ty: &Type) -> bool {
    ty.is_memory() && !ty.is_kept()
}

/// The memory that an operation touches.
pub(super) fn memory_of(program: &Program<'_, '_>, op: Op) -> Option<Value> {
    let number = match program.role(op) {
        OpRole::Load => 0,
        OpRole::Store | OpRole::Atomic => 1,
        // What is stored at once into memory that is reserved for it.
        OpRole::Alloc if program.operand_count(op) == 1 => {
            return program.result(op, 0).filter(|value| is_place(&program.type_of(*value)));
        }
        // The shared side of a copy says how the tile lies.
        OpRole::Copy => {
            let shared = |number: usize| {
                program
                    .operand(op, number)
                    .filter(|value| program.type_of(*value).space == Some(Space::Shared))
            };
            return shared(1).or_else(|| shared(0)).or_else(|| program.operand(op, 1));
        }
        _ => return None,
    };
    program.operand(op, number).filter(|value| is_place(&program.type_of(*value)))
}

/// The tile in registers that an operation moves.
pub(super) fn tile_of(program: &Program<'_, '_>, op: Op) -> Option<Value> {
    match program.role(op) {
        OpRole::Load => program.result(op, 0),
        OpRole::Store | OpRole::Atomic => program.operand(op, 0),
        OpRole::Alloc if program.operand_count(op) == 1 => program.operand(op, 0),
        _ => None,
    }
}

/// What an operation does to memory, as the table of candidates calls it.
pub(super) fn does(program: &Program<'_, '_>, op: Op) -> OpRole {
    match program.role(op) {
        OpRole::Alloc => OpRole::Store,
        role => role,
    }
}

impl<'a> Groups<'a> {
    /// Looks at the whole program.
    pub fn find(
        program: &Program<'_, '_>,
        nodes: &'a mut VecView<GroupNode>,
    ) -> Result<Self, ChoiceError> {
        let [ops, values, ..] = program.usage();
        let full = ChoiceError::Full {
            pool: ChoicePool::Members,
            capacity: u32::try_from(nodes.capacity()).unwrap_or(u32::MAX),
        };
        nodes.clear();
        nodes
            .resize(
                ops.used.max(values.used),
                GroupNode { up: NONE, first: NONE, last: NONE, next: NONE, axes: 0, done: false },
            )
            .map_err(|_| full)?;
        for (number, node) in nodes.iter_mut().enumerate() {
            node.up = u16::try_from(number).unwrap_or(NONE);
        }
        let mut groups = Self { nodes };
        let mut at = program.first(program.root());
        while let Some(op) = at {
            at = program.following(op, None);
            groups.operation(program, op);
        }
        let mut at = program.first(program.root());
        while let Some(op) = at {
            at = program.following(op, None);
            if let Some(memory) = memory_of(program, op) {
                groups.list(memory, op);
            }
            if program.role(op) == OpRole::Matrix {
                for (number, value) in program.operands(op).enumerate().take(3) {
                    groups.mark(value, 1u8.wrapping_shl(number as u32));
                }
                if let Some(result) = program.result(op, 0) {
                    groups.mark(result, 8);
                }
            }
        }
        Ok(groups)
    }

    fn operation(&mut self, program: &Program<'_, '_>, op: Op) {
        let result = program.result(op, 0);
        match program.role(op) {
            OpRole::View | OpRole::Convert => self.pair(program, program.operand(op, 0), result),
            OpRole::Select => {
                self.pair(program, program.operand(op, 1), result);
                self.pair(program, program.operand(op, 2), result);
            }
            OpRole::Copy => self.pair(program, program.operand(op, 1), result),
            OpRole::For | OpRole::Parallel => {
                for carried in program.carried(op) {
                    self.pair(program, Some(carried.init), Some(carried.argument));
                    self.pair(program, carried.yielded, Some(carried.argument));
                    self.pair(program, carried.result, Some(carried.argument));
                }
            }
            OpRole::If => self.passed_out(program, op, 2),
            // Producer and consumer: arguments are the operands, results what the region yields.
            OpRole::Produce | OpRole::Consume | OpRole::AgentSwitch => {
                if let Some(body) = program
                    .body(op)
                    .filter(|body| program.arguments(*body).count() == program.operand_count(op))
                {
                    for (operand, argument) in program.operands(op).zip(program.arguments(body)) {
                        self.pair(program, Some(operand), Some(argument));
                    }
                }
                self.passed_out(program, op, 1);
            }
            _ if program.layout_trait(op) == LayoutTrait::Transparent
                && matches!(program.role(op), OpRole::Elementwise | OpRole::Index) =>
            {
                for operand in program.operands(op) {
                    self.pair(program, Some(operand), result);
                }
            }
            _ => {}
        }
    }

    fn passed_out(&mut self, program: &Program<'_, '_>, op: Op, regions: usize) {
        for (number, result) in program.results(op).enumerate() {
            for region in 0..regions {
                let yielded = program
                    .entry(op, region)
                    .and_then(|block| program.terminator(block))
                    .and_then(|end| program.operand(end, number));
                self.pair(program, yielded, Some(result));
            }
        }
    }

    /// Joins two values that are both tiles in memory, or both in registers, of one shape.
    fn pair(&mut self, program: &Program<'_, '_>, a: Option<Value>, b: Option<Value>) {
        let (Some(a), Some(b)) = (a, b) else { return };
        let (x, y) = (program.type_of(a), program.type_of(b));
        let alike = x.is_tile()
            && y.is_tile()
            && is_place(&x) == is_place(&y)
            && (is_place(&x) || x.shape == y.shape);
        if !alike {
            return;
        }
        let (a, b) = (self.root(a), self.root(b));
        if let (Some(node), Ok(low)) = (self.nodes.get_mut(a.max(b)), u16::try_from(a.min(b))) {
            node.up = low;
        }
    }

    fn root(&mut self, value: Value) -> usize {
        let mut at = value.index();
        for _ in 0..self.nodes.len() {
            let Some(up) = self.nodes.get(at).map(|node| usize::from(node.up)) else { return at };
            if up == at {
                return at;
            }
            let above = self.nodes.get(up).map_or(up as u16, |node| node.up);
            if let Some(node) = self.nodes.get_mut(at) {
                node.up = above;
            }
            at = up;
        }
        at
    }

    fn list(&mut self, memory: Value, op: Op) {
        let root = self.root(memory);
        let number = u16::try_from(op.index()).unwrap_or(NONE);
        let Some(node) = self.nodes.get_mut(root) else { return };
        let last = core::mem::replace(&mut node.last, number);
        if last == NONE {
            node.first = number;
        } else if let Some(before) = self.nodes.get_mut(usize::from(last)) {
            before.next = number;
        }
    }

    fn mark(&mut self, value: Value, axis: u8) {
        let root = self.root(value);
        if let Some(node) = self.nodes.get_mut(root) {
            node.axes |= axis;
        }
    }

    /// The first operation of a value's memory group, once: later calls for the same group answer
    /// `None`.
    pub fn begin(&mut self, memory: Value) -> Option<Op> {
        let root = self.root(memory);
        let node = self.nodes.get_mut(root)?;
        if core::mem::replace(&mut node.done, true) {
            return None;
        }
        Op::at(usize::from(node.first)).filter(|_| node.first != NONE)
    }
    /// The operation after one in its memory group.
    pub fn next(&self, op: Op) -> Option<Op> {
        let next = self.nodes.get(op.index())?.next;
        Op::at(usize::from(next)).filter(|_| next != NONE)
    }
    /// What a tile is to a product that reads it where it lies.
    pub fn read_in_place(&mut self, memory: Value) -> Option<SubAxis> {
        let root = self.root(memory);
        match self.nodes.get(root).map_or(0, |node| node.axes) {
            axes if axes & 1 != 0 => Some(SubAxis::A),
            axes if axes & 2 != 0 => Some(SubAxis::B),
            _ => None,
        }
    }
    /// What a tile in registers is to products.
    pub fn axis(&mut self, tile: Value) -> SubAxis {
        let root = self.root(tile);
        match self.nodes.get(root).map_or(0, |node| node.axes) {
            axes if axes & 1 != 0 => SubAxis::A,
            axes if axes & 2 != 0 => SubAxis::B,
            axes if axes & 4 != 0 => SubAxis::C,
            axes if axes & 8 != 0 => SubAxis::D,
            _ => SubAxis::Free,
        }
    }
}

/// Operations that were seen, one after the other in a list through their nodes: taking them back
/// costs as much as seeing them.
#[derive(Debug)]
pub(super) struct Seen {
    last: u16,
}

impl Seen {
    /// No operation is seen.
    pub fn none(nodes: &mut VecView<GroupNode>) -> Self {
        nodes.clear();
        Self { last: NONE }
    }
    /// So many operations, none of which is seen any more.
    pub fn clear(
        &mut self,
        nodes: &mut VecView<GroupNode>,
        count: usize,
    ) -> Result<(), ChoiceError> {
        while let Some(node) = nodes.get_mut(usize::from(self.last)) {
            (node.done, self.last) = (false, core::mem::replace(&mut node.next, NONE));
        }
        self.last = NONE;
        let full = ChoiceError::Full {
            pool: ChoicePool::Members,
            capacity: u32::try_from(nodes.capacity()).unwrap_or(u32::MAX),
        };
        let fresh =
            GroupNode { up: NONE, first: NONE, last: NONE, next: NONE, axes: 0, done: false };
        nodes.resize(count, fresh).map_err(|_| full)
    }
    /// Notes that an operation is seen; whether it was not before.
    pub fn visit(&mut self, nodes: &mut VecView<GroupNode>, op: Op) -> bool {
        let Some(node) = nodes.get_mut(op.index()).filter(|node| !node.done) else { return false };
        (node.done, node.next) = (true, self.last);
        self.last = op.index() as u16;
        true
    }
}

/// Whether an operation was seen.
pub(super) fn is_seen(nodes: &VecView<GroupNode>, op: Op) -> bool {
    nodes.get(op.index()).is_some_and(|node| node.done)
}
