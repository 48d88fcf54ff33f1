//! Where a buffer's storage comes from: a root and an offset from it.
use lanebook_ir::{AttrValue, Block, Def, Op, Program, Type, Value, attr_names};
use lanebook_tables::{OpRole, Space};

/// An offset in elements.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum ElementOffset {
    Const(i64),
    Value(Value),
}

/// What a buffer is: `offset` elements after the beginning of `root`.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct BufferBase {
    pub root: Value,
    pub offset: ElementOffset,
}

impl BufferBase {
    pub fn is_at(&self, root: Value) -> bool {
        self.root == root && self.offset == ElementOffset::Const(0)
    }
    /// `offset` elements further on; `None` if that is the sum of two values, or too large.
    pub fn then(self, offset: ElementOffset) -> Option<Self> {
        let offset = match (self.offset, offset) {
            (ElementOffset::Const(a), ElementOffset::Const(b)) => {
                ElementOffset::Const(a.checked_add(b)?)
            }
            (ElementOffset::Const(0), other) | (other, ElementOffset::Const(0)) => other,
            _ => return None,
        };
        Some(Self { offset, ..self })
    }
}

/// A tile in shared or tensor memory.
pub(crate) fn is_buffer(ty: &Type) -> bool {
    ty.is_tile() && matches!(ty.space, Some(Space::Shared | Space::Tensor))
}

/// A view's own offset; `None` for a view that also has subscripts or further operands, which is
/// taken as a root.
pub(crate) fn view_offset(program: &Program<'_, '_>, view: Op) -> Option<ElementOffset> {
    if program.operand_count(view) != 1 || program.subscripts(view, 0).next().is_some() {
        return None;
    }
    match program.attr(view, attr_names::OFFSET) {
        None => Some(ElementOffset::Const(0)),
        Some(AttrValue::Int(offset, _)) => Some(ElementOffset::Const(offset)),
        Some(AttrValue::Operand(value)) => {
            Some(program.int(value).map_or(ElementOffset::Value(value), ElementOffset::Const))
        }
        Some(_) => None,
    }
}

/// Follows views, copies and what pipeline regions of one stage take. Stops before the second
/// offset that is not a number.
pub(crate) fn base(program: &Program<'_, '_>, value: Value) -> BufferBase {
    let mut at = BufferBase { root: value, offset: ElementOffset::Const(0) };
    loop {
        let (op, argument) = match program.def(at.root) {
            Def::Result(op, _) => (op, None),
            Def::Argument(block, number) => match program.owner_of(block) {
                Some(op) => (op, Some((block, number))),
                None => break,
            },
            _ => break,
        };
        let (next, step) = match program.role(op) {
            OpRole::Produce | OpRole::Consume | OpRole::AgentSwitch => {
                match argument.and_then(|at| given(program, op, at)) {
                    Some(next) => (next, ElementOffset::Const(0)),
                    None => break,
                }
            }
            _ if argument.is_some() => break,
            OpRole::View => match (program.operand(op, 0), view_offset(program, op)) {
                (Some(next), Some(step)) if same_elements(program, next, at.root) => (next, step),
                _ => break,
            },
            OpRole::Copy => match program.operand(op, 1) {
                Some(next) => (next, ElementOffset::Const(0)),
                None => break,
            },
            _ => break,
        };
        let Some(further) = (BufferBase { root: next, offset: step }).then(at.offset) else {
            break;
        };
        at = further;
    }
    at
}

/// Choices that are followed at once, and values looked at behind one.
const OPEN: usize = 16;
const LOOKED: usize = 64;

/// Whether a value is `argument` or the part `before`, whichever way it was chosen: by conditions,
/// through names. `handed` says what a value is that a loop's other region handed on.
pub(crate) fn leads(
    program: &Program<'_, '_>,
    value: Value,
    argument: Value,
    before: &BufferBase,
    handed: impl Fn(Value) -> Option<Value>,
) -> bool {
    let mut open = heapless::Vec::<Value, OPEN>::new();
    if open.push(value).is_err() {
        return false;
    }
    for _ in 0..LOOKED {
        let Some(value) = open.pop() else { return true };
        let at = base(program, value);
        if at.is_at(argument) || (at == *before && matches!(at.offset, ElementOffset::Const(_))) {
            continue;
        }
        if at.offset != ElementOffset::Const(0) {
            return false;
        }
        let next = match program.def(at.root) {
            Def::Result(op, _) if program.role(op) == OpRole::Select => {
                [program.operand(op, 1), program.operand(op, 2)]
            }
            Def::Result(op, number) if program.role(op) == OpRole::If => {
                let yielded = |region| {
                    program
                        .entry(op, region)
                        .and_then(|block| program.terminator(block))
                        .and_then(|end| program.operand(end, usize::from(number)))
                };
                [yielded(0), yielded(1)]
            }
            _ => match handed(at.root) {
                Some(value) => [Some(value); 2],
                None => return false,
            },
        };
        let [Some(first), Some(second)] = next else { return false };
        if open.push(first).is_err() || (second != first && open.push(second).is_err()) {
            return false;
        }
    }
    false
}

/// What a pipeline region takes as an argument: its operands one for one, if they are of the
/// arguments' types.
fn given(program: &Program<'_, '_>, op: Op, (block, number): (Block, u16)) -> Option<Value> {
    if program.is_stage(op) || program.arguments(block).count() != program.operand_count(op) {
        return None;
    }
    let (value, argument) = (
        program.operand(op, usize::from(number))?,
        program.arguments(block).nth(usize::from(number))?,
    );
    program.same_type(&program.type_of(value), &program.type_of(argument)).then_some(value)
}

/// Offsets count elements, so both sides need elements of one type.
fn same_elements(program: &Program<'_, '_>, a: Value, b: Value) -> bool {
    let (a, b) = (program.type_of(a), program.type_of(b));
    a.is_elided()
        || b.is_elided()
        || !a.shape.is_known()
        || !b.shape.is_known()
        || a.dtype == b.dtype
}

/// Whether a value is the result of an allocation.
pub(crate) fn is_allocation(program: &Program<'_, '_>, value: Value) -> bool {
    matches!(program.def(value), Def::Result(op, 0) if program.role(op) == OpRole::Alloc)
}
