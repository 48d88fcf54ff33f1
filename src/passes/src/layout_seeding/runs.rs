//! Runs of neighbours for every value of a program, by sweeps over the text until nothing changes.
//!
//! Loops are taken to repeat what they do to runs: their arguments start from the initial values
//! and lose what the body does not keep. The same storage holds which operations are linked by
//! values (and by the regions that they stand in): accesses of one group share their width.
use crate::layout_seeding::axis::{AxisInfo, Operation, log2};
use crate::{ChoiceError, ChoicePool};
use heapless::VecView;
use lanebook_ir::{AttrValue, Def, Literal, MAX_RANK, Op, Program, Type, Value, attr_names};
use lanebook_tables::{AxisWord, DtypeKind, OpRole, Tables};

/// Most sweeps: each one but the last takes something from a value that a loop carries.
const SWEEPS: u32 = 256;

/// Extents of a tile.
#[derive(Copy, Clone, Debug)]
pub(super) struct TileExtents {
    list: [u32; MAX_RANK],
    rank: usize,
}

impl TileExtents {
    /// Of a type; none for a scalar, and for a tile whose extents are not all known.
    pub fn of(ty: &Type) -> Self {
        let mut out = Self { list: [1; MAX_RANK], rank: 0 };
        if !ty.is_tile() || ty.shape.elements().is_none() {
            return out;
        }
        for (slot, extent) in out.list.iter_mut().zip(ty.shape.iter()) {
            *slot = extent.unwrap_or(1);
        }
        out.rank = ty.shape.rank();
        out
    }
    pub fn as_slice(&self) -> &[u32] {
        self.list.get(..self.rank).unwrap_or(&[])
    }
}

/// Bytes of one element of a type, or of what its pointers point to; 1 for less than a byte.
pub(super) fn element_bits(program: &Program<'_, '_>, ty: &Type) -> u32 {
    if let Some(dtype) = ty.dtype.and_then(|dtype| program.tables().dtype(dtype)) {
        return u32::from(dtype.bits);
    }
    // A type that is only kept begins its digits with its width: `!tt.ptr<f16>`, `f8E4M3FN`.
    let text = if ty.element.is_empty() {
        match ty.encoding {
            lanebook_ir::TileEncoding::Written(text) => program.text(text),
            _ => "",
        }
    } else {
        program.text(ty.element)
    };
    let digits =
        text.bytes().skip_while(|byte| !byte.is_ascii_digit()).take_while(u8::is_ascii_digit);
    digits
        .fold(0u32, |number, digit| {
            number.saturating_mul(10).saturating_add(u32::from(digit.wrapping_sub(b'0')))
        })
        .clamp(1, 1024)
}

/// The program's facts, one entry a value.
#[derive(Debug)]
pub struct KnownAxes<'a> {
    facts: &'a mut VecView<AxisInfo>,
}

impl<'a> KnownAxes<'a> {
    /// Looks at the whole program. `facts` has room for an entry for each value (and operation).
    ///
    /// # Errors
    /// [`ChoiceError::Full`] where it has not; [`ChoiceError::Sweeps`] where loops do not come to rest.
    pub fn find(
        program: &Program<'_, '_>,
        tables: &Tables<'_>,
        facts: &'a mut VecView<AxisInfo>,
    ) -> Result<Self, ChoiceError> {
        let [ops, values, ..] = program.usage();
        let count = ops.used.max(values.used);
        let full = ChoiceError::Full {
            pool: ChoicePool::Facts,
            capacity: u32::try_from(facts.capacity()).unwrap_or(u32::MAX),
        };
        facts.clear();
        facts.resize(count, AxisInfo::UNSEEN).map_err(|_| full)?;
        let mut known = Self { facts };
        for _ in 0..SWEEPS {
            if !known.sweep(program, tables) {
                known.link(program);
                return Ok(known);
            }
        }
        Err(ChoiceError::Sweeps)
    }

    /// What is known of a value.
    #[must_use]
    pub fn of(&self, program: &Program<'_, '_>, value: Value) -> AxisInfo {
        let ty = program.type_of(value);
        match program.def(value) {
            Def::Literal(literal) => number(program, literal)
                .map_or_else(|| AxisInfo::none(1), |value| AxisInfo::number(value, &[])),
            Def::Argument(block, _)
                if program
                    .owner_of(block)
                    .is_none_or(|owner| program.role(owner) == OpRole::Function) =>
            {
                parameter(program, value)
            }
            _ => {
                let mut at = value;
                // Conversions that a pass made since keep what they convert.
                loop {
                    if let Some(facts) = self.facts.get(at.index()).filter(|facts| facts.is_seen())
                    {
                        return *facts;
                    }
                    match program
                        .def_op(at)
                        .filter(|op| program.role(*op) == OpRole::Convert)
                        .and_then(|op| program.operand(op, 0))
                    {
                        Some(source) => at = source,
                        None => return AxisInfo::none(ty.shape.rank()),
                    }
                }
            }
        }
    }

    fn seen(&self, program: &Program<'_, '_>, value: Option<Value>) -> AxisInfo {
        match value {
            Some(value) if matches!(program.def(value), Def::Result(..)) => {
                self.facts.get(value.index()).copied().unwrap_or(AxisInfo::UNSEEN)
            }
            Some(value) if matches!(program.def(value), Def::Argument(block, _) if program.owner_of(block).is_some_and(|owner| program.role(owner) != OpRole::Function)) => {
                self.facts.get(value.index()).copied().unwrap_or(AxisInfo::UNSEEN)
            }
            Some(value) => self.of(program, value),
            None => AxisInfo::UNSEEN,
        }
    }

    fn set(&mut self, value: Value, new: AxisInfo) -> bool {
        let Some(slot) = self.facts.get_mut(value.index()) else { return false };
        if slot.same(&new) {
            return false;
        }
        slot.learn(&new);
        true
    }

    fn sweep(&mut self, program: &Program<'_, '_>, tables: &Tables<'_>) -> bool {
        let mut changed = false;
        let mut at = program.first(program.root());
        while let Some(op) = at {
            at = program.following(op, None);
            changed |= match program.role(op) {
                OpRole::For | OpRole::Parallel => self.counted(program, op),
                OpRole::While => self.looped(program, op),
                OpRole::If => self.branches(program, op),
                OpRole::Function => false,
                _ => self.simple(program, tables, op),
            };
        }
        changed
    }

    fn counted(&mut self, program: &Program<'_, '_>, op: Op) -> bool {
        let Some(parts) = program.counted_loop(op) else { return false };
        let (lower, step) = (self.of(program, parts.lower), self.of(program, parts.step));
        let mut induction = AxisInfo::none(1);
        if let Some(dim) = induction.dim_mut(0) {
            dim.divisibility = lower.runs(0).divisibility.min(step.runs(0).divisibility);
        }
        let mut changed = self.set(parts.induction, induction);
        for carried in program.carried(op) {
            let (init, yielded) =
                (self.seen(program, Some(carried.init)), self.seen(program, carried.yielded));
            let both = init.join(&yielded);
            changed |= self.set(carried.argument, both);
            if let Some(result) = carried.result {
                changed |= self.set(result, both);
            }
        }
        changed
    }

    /// The deciding region's arguments come from before the loop and from the working region's end;
    /// what it passes on goes to the working region and out.
    fn looped(&mut self, program: &Program<'_, '_>, op: Op) -> bool {
        let (Some(decides), Some(works)) = (program.entry(op, 0), program.entry(op, 1)) else {
            return false;
        };
        let mut changed = false;
        let yields = program.terminator(works);
        for (number, argument) in program.arguments(decides).enumerate() {
            let again = self.seen(program, yields.and_then(|end| program.operand(end, number)));
            let both = self.seen(program, program.operand(op, number)).join(&again);
            changed |= self.set(argument, both);
        }
        let Some(condition) = program.terminator(decides) else { return changed };
        for (number, passed) in program.operands(condition).skip(1).enumerate() {
            let facts = self.seen(program, Some(passed));
            for target in [program.arguments(works).nth(number), program.result(op, number)]
                .into_iter()
                .flatten()
            {
                changed |= facts.is_seen() && self.set(target, facts);
            }
        }
        changed
    }

    fn branches(&mut self, program: &Program<'_, '_>, op: Op) -> bool {
        let mut changed = false;
        for (number, result) in program.results(op).enumerate() {
            let arm = |region| {
                program
                    .entry(op, region)
                    .and_then(|block| program.terminator(block))
                    .and_then(|end| program.operand(end, number))
            };
            let both = self.seen(program, arm(0)).join(&self.seen(program, arm(1)));
            changed |= both.is_seen() && self.set(result, both);
        }
        changed
    }

    fn simple(&mut self, program: &Program<'_, '_>, tables: &Tables<'_>, op: Op) -> bool {
        let mut changed = false;
        // Arguments of other regions may be anything.
        for region in program.regions(op) {
            for block in program.blocks(region) {
                for argument in program.arguments(block) {
                    changed |=
                        self.set(argument, AxisInfo::none(program.type_of(argument).shape.rank()));
                }
            }
        }
        let Some(result) = program.result(op, 0) else { return changed };
        let mut facts = self.transfer(program, tables, op, result);
        hints(program, op, &mut facts);
        changed |= self.set(result, facts);
        for other in program.results(op).skip(1) {
            changed |= self.set(other, AxisInfo::none(program.type_of(other).shape.rank()));
        }
        changed
    }

    fn transfer(
        &self,
        program: &Program<'_, '_>,
        tables: &Tables<'_>,
        op: Op,
        result: Value,
    ) -> AxisInfo {
        let ty = program.type_of(result);
        let shape = TileExtents::of(&ty);
        let unknown = AxisInfo::none(ty.shape.rank());
        let operand =
            |number: usize| program.operand(op, number).map(|value| self.of(program, value));
        let Some(first) = operand(0) else {
            return if word_of(program, tables, op) == Some(AxisWord::Range) {
                range(program, op)
            } else {
                unknown
            };
        };
        let from = program.operand(op, 0).map_or(Type::ELIDED, |value| program.type_of(value));
        match program.role(op) {
            OpRole::Constant if is_integer(program, &ty) => {
                match program.operand(op, 0).map(|value| program.def(value)) {
                    Some(Def::Literal(literal)) => number(program, literal)
                        .map_or(unknown, |value| AxisInfo::number(value, shape.as_slice())),
                    _ => unknown,
                }
            }
            OpRole::Constant => unknown,
            OpRole::Broadcast if !from.is_tile() => first.splat(shape.as_slice()),
            OpRole::Broadcast if from.shape.rank() < ty.shape.rank() => {
                let axis = program
                    .int_attr(op, attr_names::AXIS)
                    .and_then(|axis| usize::try_from(axis).ok());
                axis.map_or(unknown, |axis| first.expand(axis))
            }
            OpRole::Broadcast => first.repeat(TileExtents::of(&from).as_slice(), shape.as_slice()),
            OpRole::Transpose => {
                let mut list = [0i64; MAX_RANK];
                let order = match program.attr(op, attr_names::ORDER) {
                    Some(AttrValue::List(text) | AttrValue::Text(text)) => {
                        program.list(text, &mut list)
                    }
                    _ => None,
                };
                order.map_or(unknown, |order| first.permute(order))
            }
            OpRole::Load if from.is_kept() => first.loaded(operand(1).as_ref()),
            _ => match (word_of(program, tables, op), operand(1), operand(2)) {
                (Some(AxisWord::Range), ..) => range(program, op),
                (Some(AxisWord::Same), ..) => first,
                (Some(AxisWord::Select), Some(yes), Some(no)) => {
                    let operation = Operation {
                        word: AxisWord::Select,
                        shape: shape.as_slice(),
                        element_bytes: 1,
                        predicate: "",
                    };
                    operation.select(&first, from.is_tile(), &yes, &no)
                }
                (Some(AxisWord::Select) | None, ..) | (_, None, _) => unknown,
                (Some(word), Some(second), _) => {
                    let element_bytes = (element_bits(program, &from) / 8).max(1);
                    let predicate = match program.attr(op, attr_names::PREFIX) {
                        Some(AttrValue::Text(text)) => program.text(text),
                        _ => "",
                    };
                    Operation { word, shape: shape.as_slice(), element_bytes, predicate }
                        .binary(&first, &second)
                }
            },
        }
    }

    // ---- links
    /// Joins operations that a value or a region connects.
    fn link(&mut self, program: &Program<'_, '_>) {
        for (number, facts) in self.facts.iter_mut().enumerate() {
            facts.link = u16::try_from(number).unwrap_or(u16::MAX);
        }
        let mut at = program.first(program.root());
        while let Some(op) = at {
            at = program.following(op, None);
            let inside = |owner: Option<Op>| {
                owner.filter(|owner| {
                    !matches!(program.role(*owner), OpRole::Function)
                        && program.parent(*owner).is_some()
                })
            };
            if let Some(parent) = inside(program.parent(op)) {
                self.join(op, parent);
            }
            for value in program.all_operands(op) {
                let source = match program.def(value) {
                    Def::Result(def, _) => Some(def),
                    Def::Argument(block, _) => inside(program.owner_of(block)),
                    _ => None,
                };
                if let Some(source) = source {
                    self.join(op, source);
                }
            }
        }
    }

    fn root(&mut self, number: usize) -> usize {
        let mut at = number;
        for _ in 0..self.facts.len() {
            let Some(up) = self.facts.get(at).map(|facts| usize::from(facts.link)) else {
                return at;
            };
            if up == at {
                return at;
            }
            // Half of the way is cut for those who come later.
            let above = self.facts.get(up).map_or(up as u16, |facts| facts.link);
            if let Some(facts) = self.facts.get_mut(at) {
                facts.link = above;
            }
            at = up;
        }
        at
    }

    fn join(&mut self, a: Op, b: Op) {
        let (a, b) = (self.root(a.index()), self.root(b.index()));
        let (low, high) = (a.min(b), a.max(b));
        if let (Some(facts), Ok(low)) = (self.facts.get_mut(high), u16::try_from(low)) {
            facts.link = low;
        }
    }

    /// The first class of an operation's links.
    pub(super) fn class(&mut self, op: Op) -> u16 {
        let root = self.root(op.index());
        self.facts.get(root).map_or(u16::MAX, |facts| facts.class)
    }
    /// Sets it.
    pub(super) fn set_class(&mut self, op: Op, class: u16) {
        let root = self.root(op.index());
        if let Some(facts) = self.facts.get_mut(root) {
            facts.class = class;
        }
    }
}

/// What the tables say of an operation.
pub(super) fn word_of(program: &Program<'_, '_>, tables: &Tables<'_>, op: Op) -> Option<AxisWord> {
    let name = program.op_name(op);
    tables.seeding.meanings.iter().find(|meaning| meaning.op == name).map(|meaning| meaning.word)
}

fn is_integer(program: &Program<'_, '_>, ty: &Type) -> bool {
    match ty.dtype {
        Some(dtype) => {
            program.tables().dtype(dtype).is_some_and(|dtype| dtype.kind != DtypeKind::Float)
        }
        None => ty.element.is_empty(),
    }
}

fn number(program: &Program<'_, '_>, literal: Literal) -> Option<i64> {
    match literal {
        Literal::Int(value) => Some(value),
        Literal::Hex(value) => Some(value as i64),
        Literal::Word(name) => match program.text(name) {
            "true" => Some(1),
            "false" => Some(0),
            _ => None,
        },
        Literal::Decimal { .. } | Literal::MinusZero | Literal::Large(_) => None,
    }
}

fn range(program: &Program<'_, '_>, op: Op) -> AxisInfo {
    match (program.int_attr(op, "start"), program.int_attr(op, "end")) {
        (Some(start), Some(end)) if end > start => {
            AxisInfo::range(start, end.saturating_sub(start))
        }
        _ => AxisInfo::none(1),
    }
}

fn parameter(program: &Program<'_, '_>, value: Value) -> AxisInfo {
    let mut out = AxisInfo::none(program.type_of(value).shape.rank());
    let hint = |key: &str| {
        program
            .int_value_attr(value, key)
            .and_then(|hint| u32::try_from(hint).ok())
            .map_or(0, |hint| hint.trailing_zeros() as u8 & 31)
    };
    if let Some(dim) = out.dim_mut(0) {
        (dim.contiguity, dim.divisibility, dim.constancy) =
            (hint("contiguity"), hint("divisibility"), hint("constancy"));
    }
    out
}

/// What a program says of a result replaces what was found.
fn hints(program: &Program<'_, '_>, op: Op, facts: &mut AxisInfo) {
    for (number, key) in
        ["tt.contiguity", "tt.divisibility", "tt.constancy"].into_iter().enumerate()
    {
        let Some(attr) = program.attrs(op).find(|attr| program.text(attr.key) == key) else {
            continue;
        };
        let mut set = |at: usize, hint: i64| {
            if let (Some(dim), Ok(hint)) = (facts.dim_mut(at), u32::try_from(hint)) {
                let value = if hint == 0 { 0 } else { log2(hint & hint.wrapping_neg()) };
                match number {
                    0 => dim.contiguity = value,
                    1 => dim.divisibility = value,
                    _ => dim.constancy = value,
                }
            }
        };
        match attr.value {
            AttrValue::Int(hint, _) => set(0, hint),
            AttrValue::Text(text) => {
                // `dense<[16, 8]> : tensor<2xi32>` or `dense<16> : tensor<1xi32>`: the numbers up
                // to the first `>`.
                let (mut at, mut hint) = (0usize, None::<i64>);
                for byte in program.text(text).bytes() {
                    let digit = byte.wrapping_sub(b'0');
                    if digit < 10 {
                        hint = Some(
                            hint.unwrap_or(0).saturating_mul(10).saturating_add(i64::from(digit)),
                        );
                    } else if let Some(number) = hint.take() {
                        set(at, number);
                        at = at.saturating_add(1);
                    }
                    if byte == b'>' {
                        break;
                    }
                }
            }
            _ => {}
        }
    }
}
