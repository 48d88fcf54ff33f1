//! Operations in whose place others stand: branches, which loops stand for, reductions of two tiles
//! and of narrow elements, scans, parts of tiles, atomic operations on few elements, repetitions of
//! narrow elements, and elementwise operations that no instruction of the architecture does, by
//! `rules/sequences.ron`.
//!
//! The operations of a sequence stand right before the one that they are for, whose readers read
//! the last of them. The one itself stays where it is, read by nobody, so that all can be undone.
//! A step may again be one that no instruction does. What has no sequence stays, and planning
//! refuses it.

use crate::data::{PlanError, PlanPool, Unparted};
use crate::select::branches::{self, TurnedBranch};
use crate::select::elementwise::is_done;
use crate::select::extremes;
use crate::select::matrix::unscaled::{self, ScaledProduct};
use crate::select::memory::few_elements::{self, Enlarged};
use crate::select::{affine, parts, precision, quotients, repeats, scan, stages, wide, widening};
use heapless::VecView;
use lanebook_ir::{Literal, Op, Program, Type, Value};
use lanebook_tables::{
    ArchId, DtypeId, OpRole, OpWord, SEQUENCE_STEPS, Sequence, SequenceOperand, SequenceStep,
    Tables,
};

/// Most slices that are found one after the other to have parts in several lanes.
const CROSSING: usize = 4;

/// Most operands of a step.
const OPERANDS: usize = 4;

/// An operation with others in its place.
#[derive(Copy, Clone, Debug)]
pub struct Replaced {
    op: Op,
    /// What stood before it; they stand between.
    before: Option<Op>,
    how: Replacement,
}

/// What stands in an operation's place.
#[derive(Copy, Clone, Debug)]
enum Replacement {
    /// The steps of a sequence, before it.
    Steps,
    /// It is a choice that was put behind this load, between what the load brings and what stands
    /// in the place of the elements that its mask leaves out.
    Choice(Op),
    /// Operations on one tile each, before it; this one makes the extreme.
    Extreme(Op),
    /// Operations before it, which make these in place of its results.
    Values([Option<Value>; 2]),
    /// Loops: itself, and maybe another one.
    Loops(TurnedBranch),
    /// Wider factors of a product, or another bound of a loop, before it; it read these.
    Operands([Value; 3]),
    /// A plain product of factors that are multiplied by their block scales before it; it was this.
    Unscaled(ScaledProduct),
    /// A larger tile of an atomic operation before it, and behind it what the smaller one's readers
    /// read.
    Larger(Enlarged),
}

/// What is known of the values of a function of parallel loops.
#[doc(hidden)]
pub trait LoopValues {
    /// Whether a value is an index: addresses are made of it, and no instruction computes it.
    fn is_index(&self, value: Value) -> bool;
}

/// Of functions without loops.
#[doc(hidden)]
#[derive(Copy, Clone, Debug)]
pub struct NoLoopValues;

impl LoopValues for NoLoopValues {
    fn is_index(&self, _: Value) -> bool {
        false
    }
}

/// What was put into a program.
#[doc(hidden)]
pub struct Expansions<'w> {
    replaced: &'w mut VecView<Replaced>,
    /// Slices in whose place others stand: their parts lie in several lanes.
    crossing: heapless::Vec<Op, CROSSING>,
    /// All of them.
    all_cross: bool,
    /// Where a distribution that a slice asks for met another one.
    conflict: Option<Op>,
    /// Whether a slice has stayed what it is.
    kept: bool,
    /// Whether factors of products have been cut along the depth before they were widened, and
    /// whether none is.
    cut: bool,
    whole: bool,
}

/// Puts an upper bound that is not below zero in the place of one that may be, of a loop whose copies
/// run ahead; `None` of other operations.
fn bounded(program: &mut Program<'_, '_>, op: Op) -> Result<Option<Replacement>, PlanError> {
    if !stages::may_end_below_zero(program, op) {
        return Ok(None);
    }
    let read = stages::bound_from_zero(program, op);
    Ok(Some(Replacement::Operands(read.ok_or_else(|| no_room(program, op))?)))
}

impl<'w> Expansions<'w> {
    /// Nothing yet.
    #[doc(hidden)]
    pub fn new(replaced: &'w mut VecView<Replaced>) -> Self {
        replaced.clear();
        Self {
            replaced,
            crossing: heapless::Vec::new(),
            all_cross: false,
            conflict: None,
            kept: false,
            cut: false,
            whole: false,
        }
    }

    /// After planning has failed: whether it may succeed with others in the place of slices that
    /// had stayed what they are. Lanes have different parts of the tile of one, or a distribution
    /// that one asks for meets another.
    #[doc(hidden)]
    pub fn cross(&mut self, why: Option<PlanError>) -> bool {
        self.cross_slices(why) || self.widen_whole(why)
    }

    /// Whether planning may succeed with widened factors that are not cut along the depth, where the
    /// parts of those that were could not be had.
    fn widen_whole(&mut self, why: Option<PlanError>) -> bool {
        let of_parts = matches!(
            why,
            Some(PlanError::Part { .. } | PlanError::Reshape(_) | PlanError::Conflict { .. })
        );
        if !of_parts || !self.cut || self.whole {
            return false;
        }
        self.crossing.clear();
        (self.all_cross, self.conflict, self.kept, self.cut, self.whole) =
            (false, None, false, false, true);
        true
    }

    fn cross_slices(&mut self, why: Option<PlanError>) -> bool {
        if self.all_cross || !self.kept {
            return false;
        }
        match why {
            Some(PlanError::Part { op, why: Unparted::Lanes }) => {
                let known = self.crossing.contains(&op);
                self.all_cross = known || self.crossing.push(op).is_err();
            }
            Some(PlanError::Conflict { op, .. }) => {
                self.conflict = Some(op);
                self.all_cross = true;
            }
            _ => return false,
        }
        self.kept = false;
        true
    }

    /// What is said of a program that cannot be planned either way: what is wrong with the slices,
    /// not with those in their place.
    #[doc(hidden)]
    #[must_use]
    pub fn told(&self, error: PlanError) -> PlanError {
        let of_parts = matches!(error, PlanError::Reshape(_) | PlanError::Part { .. });
        match (self.conflict, self.crossing.first()) {
            // It is parts that go from lane to lane which cannot be had.
            (None, Some(_)) if matches!(error, PlanError::Part { why: Unparted::Long, .. }) => {
                error
            }
            (None, Some(op)) if matches!(error, PlanError::Reshape(_)) => {
                PlanError::Part { op: *op, why: Unparted::Long }
            }
            (Some(op), _) if of_parts => PlanError::Conflict { op, place: None },
            (None, Some(op)) if of_parts => PlanError::Part { op: *op, why: Unparted::Lanes },
            _ => error,
        }
    }

    /// Puts others in the place of each operation of a function that needs it; in a function of
    /// parallel loops of those that compute elements, which are no indices.
    ///
    /// # Errors
    /// [`PlanError::Capacity`] where the program, or this, has no room for more; what was put there
    /// until then stays for [`Self::rollback`].
    #[doc(hidden)]
    #[inline(never)]
    pub fn expand<L: LoopValues>(
        &mut self,
        tables: &Tables<'_>,
        arch: ArchId,
        program: &mut Program<'_, '_>,
        function: Op,
        loops: Option<&L>,
    ) -> Result<(), PlanError> {
        let capacity = u32::try_from(self.replaced.capacity()).unwrap_or(u32::MAX);
        let full = |op| PlanError::Capacity { pool: PlanPool::Expansions, capacity, op: Some(op) };
        // What was full before is of no matter.
        let _ = program.take_lacked();
        match loops {
            None => self.compose(tables, arch, program, function)?,
            Some(_) => self.bound(program, function)?,
        }
        let mut at = program.inside(function).next();
        while let Some(op) = at {
            if let Some(other) = filled(program, op) {
                let select = fill(program, op, other).ok_or_else(|| no_room(program, op))?;
                self.replaced
                    .push(Replaced { op: select, before: None, how: Replacement::Choice(op) })
                    .map_err(|_| full(op))?;
            }
            let index =
                program.result(op, 0).zip(loops).is_some_and(|(value, of)| of.is_index(value));
            let sequence = if index { None } else { wanted(tables, arch, program, op) };
            let Some(sequence) = sequence else {
                at = program.following(op, Some(function));
                continue;
            };
            let before = program.previous(op);
            // A step of another one belongs to that.
            if self.home(program, op) == op {
                let made = Replaced { op, before, how: Replacement::Steps };
                self.replaced.push(made).map_err(|_| full(op))?;
            }
            if insert(program, op, sequence).is_none() {
                let home = self.home(program, op);
                return Err(no_room(program, home));
            }
            // The steps are looked at as well.
            at = match before {
                Some(before) => program.next(before),
                None => program.block_of(op).and_then(|block| program.first(block)),
            };
        }
        Ok(())
    }

    /// In a function of parallel loops, puts an upper bound that is not below zero in the place of one
    /// that may be, where copies run ahead.
    #[inline(never)]
    fn bound(&mut self, program: &mut Program<'_, '_>, function: Op) -> Result<(), PlanError> {
        let mut at = program.inside(function).next();
        while let Some(op) = at {
            let before = program.previous(op);
            if let Some(how) = bounded(program, op)? {
                self.remember(program, Replaced { op, before, how })?;
            }
            at = program.following(op, Some(function));
        }
        Ok(())
    }

    /// Remembers what was put in an operation's place; takes it out where there is no room for that.
    fn remember(&mut self, program: &mut Program<'_, '_>, made: Replaced) -> Result<(), PlanError> {
        let capacity = u32::try_from(self.replaced.capacity()).unwrap_or(u32::MAX);
        self.replaced.push(made).map_err(|made| {
            let _ = take_out(program, &made);
            PlanError::Capacity { pool: PlanPool::Expansions, capacity, op: Some(made.op) }
        })
    }

    /// Puts others in the place of each operation that stands for several whatever the architecture
    /// is, and casts before products of elements that the architecture does not multiply.
    #[inline(never)]
    fn compose(
        &mut self,
        tables: &Tables<'_>,
        arch: ArchId,
        program: &mut Program<'_, '_>,
        function: Op,
    ) -> Result<(), PlanError> {
        let mut at = program.inside(function).next();
        while let Some(op) = at {
            let before = program.previous(op);
            let crosses = self.all_cross
                || !self.crossing.is_empty() && self.crossing.contains(&self.home(program, op));
            let stays = !crosses && parts::is_of_registers(program, op);
            if stays && !wide::is_one(program, op) && parts::is_read(program, op) {
                parts::check(program, op)?;
                self.kept = true;
                at = program.following(op, Some(function));
                continue;
            }
            let read_as = precision::read_as(tables.arch(arch), program, op)?;
            let wider =
                tables.arch(arch).and_then(|arch| widening::wider(tables, arch, program, op));
            let arch_of = tables.arch(arch);
            let apart = arch_of.and_then(|arch| unscaled::wanted(tables, arch, program, op));
            let how = if let Some(dtype) = apart {
                let was = unscaled::put(program, op, dtype);
                Some(Replacement::Unscaled(was.ok_or_else(|| no_room(program, op))?))
            } else if read_as.is_some() || wider.is_some() {
                let reads = widening::operands(program, op).ok_or(PlanError::Stale)?;
                let how = Replacement::Operands(reads);
                let put = match (read_as, wider) {
                    (Some(to), _) => precision::put(program, op, to),
                    (None, Some(to)) => {
                        let to = if self.whole { to.whole() } else { to };
                        self.cut |= to.cuts(program, op);
                        widening::put(program, op, to)
                    }
                    (None, None) => None,
                };
                if put.is_none() {
                    let error = no_room(program, op);
                    let _ = take_out(program, &Replaced { op, before, how });
                    return Err(error);
                }
                Some(how)
            } else if let Some(how) = bounded(program, op)? {
                Some(how)
            } else if let Some(larger) =
                few_elements::larger(program, (tables, arch_of), op, function)
            {
                let made =
                    few_elements::put(program, op, larger).ok_or_else(|| no_room(program, op))?;
                Some(Replacement::Larger(made))
            } else {
                composed(program, op, before, crosses)?
            };
            if let Some(how) = how {
                self.remember(program, Replaced { op, before, how })?;
            }
            at = match how {
                // What stands in its place may itself stand for others.
                Some(
                    Replacement::Steps
                    | Replacement::Values(_)
                    | Replacement::Operands(_)
                    | Replacement::Unscaled(_)
                    | Replacement::Extreme(_)
                    | Replacement::Larger(_),
                ) => match before {
                    Some(before) => program.next(before),
                    None => program.block_of(op).and_then(|block| program.first(block)),
                },
                _ => program.following(op, Some(function)),
            };
        }
        Ok(())
    }

    /// Those that stand in the place of an operation, last first.
    fn chain<'p>(program: &'p Program<'_, '_>, one: Replaced) -> impl Iterator<Item = Op> + 'p {
        core::iter::successors(program.previous(one.op), |at| program.previous(*at))
            .take_while(move |at| Some(*at) != one.before)
    }

    /// The operation of the caller's program that an operation is there for.
    #[doc(hidden)]
    pub fn home(&self, program: &Program<'_, '_>, op: Op) -> Op {
        let choice = self.replaced.iter().find_map(|one| match one.how {
            Replacement::Choice(load) if one.op == op => Some(load),
            _ => None,
        });
        let is_for = |one: &&Replaced| match one.how {
            Replacement::Choice(_) => false,
            Replacement::Loops(branch) if branch.other() == Some(op) => true,
            Replacement::Larger(was) if was.behind(program, one.op).any(|at| at == op) => true,
            _ => Self::chain(program, **one).any(|at| at == op),
        };
        choice.unwrap_or_else(|| self.replaced.iter().find(is_for).map_or(op, |one| one.op))
    }

    /// What is said of an operation whose shape was changed in its place: of a part, which elements
    /// it has.
    #[doc(hidden)]
    #[must_use]
    pub fn of_part(&self, program: &Program<'_, '_>, error: PlanError) -> PlanError {
        match error {
            PlanError::Reshape(op) if program.role(op) == OpRole::Slice => {
                PlanError::Part { op, why: Unparted::Long }
            }
            _ => error,
        }
    }

    /// Takes everything out again.
    #[doc(hidden)]
    pub fn rollback(&mut self, program: &mut Program<'_, '_>) {
        while let Some(one) = self.replaced.pop() {
            // Nothing is left to do about a failure.
            let _ = take_out(program, &one);
        }
    }
}

/// Why others were not put in the place of an operation: the pool of the program that is full, or
/// none, where the tables lack what they would be made of.
#[inline(never)] // Rare, and met at several places.
fn no_room(program: &mut Program<'_, '_>, op: Op) -> PlanError {
    match program.take_lacked() {
        Some((pool, limit)) => PlanError::ProgramCapacity { op, pool, limit },
        None => PlanError::Unsupported(op),
    }
}

/// Puts others before an operation that stands for several, if it does.
#[inline(never)]
fn composed(
    program: &mut Program<'_, '_>,
    op: Op,
    before: Option<Op>,
    crosses: bool,
) -> Result<Option<Replacement>, PlanError> {
    let role = program.role(op);
    if role == OpRole::If {
        return Ok(Some(Replacement::Loops(
            branches::turn(program, op).ok_or_else(|| no_room(program, op))?,
        )));
    }
    if repeats::fills_a_matrix(program, op) {
        repeats::put_row(program, op).ok_or_else(|| no_room(program, op))?;
        return Ok(Some(Replacement::Steps));
    }
    if repeats::is_narrow(program, op) {
        repeats::put(program, op).ok_or_else(|| no_room(program, op))?;
        return Ok(Some(Replacement::Steps));
    }
    let is_other = scan::is_other(program, op);
    let is_wide = wide::is_one(program, op) && !is_other;
    let is_other =
        is_other || is_wide || quotients::is_one(program, op) || affine::is_one(program, op);
    if (is_other || role.is_composed()) && parts::is_read(program, op) {
        match role {
            OpRole::Scan => scan::check(program, op)?,
            OpRole::Reduce if is_wide => wide::check(program, op)?,
            _ => parts::check(program, op)?,
        }
        let mark = program.mark();
        let made = values(program, op, before, crosses);
        match made {
            Some(_) => program.keep(mark),
            None => program.undo(mark),
        }
        return Ok(Some(Replacement::Values(made.ok_or_else(|| no_room(program, op))?)));
    }
    let Some(kind) = extremes::kind(program, op) else { return Ok(None) };
    Ok(Some(Replacement::Extreme(
        extremes::put(program, op, kind).ok_or_else(|| no_room(program, op))?,
    )))
}

/// What is made before an operation in place of its results, which its readers then read.
fn values(
    program: &mut Program<'_, '_>,
    op: Op,
    before: Option<Op>,
    crosses: bool,
) -> Option<[Option<Value>; 2]> {
    let mut made = match program.role(op) {
        OpRole::Scan => scan::made(program, op)?,
        OpRole::Index if affine::is_one(program, op) => affine::made(program, op)?,
        OpRole::Index => quotients::made(program, op)?,
        OpRole::Reduce if scan::is_other(program, op) => scan::widened(program, op)?,
        _ if wide::is_one(program, op) => wide::made(program, op)?,
        _ => parts::made(program, op, crosses)?,
    };
    for (number, made) in made.iter_mut().enumerate() {
        let Some(value) = *made else { continue };
        let mut own = core::iter::successors(program.previous(op), |at| program.previous(*at))
            .take_while(|at| Some(*at) != before);
        // What was there before stays what it is, also when others are taken out again.
        let def = program.def_op(value);
        let value = if own.any(|at| Some(at) == def) {
            value
        } else {
            let decl = program.tables().op_of_role(OpRole::Convert)?;
            extremes::value(program, op, decl, &[value], program.type_of(value))?
        };
        *made = Some(value);
        program.replace_all_uses(program.result(op, number)?, value).ok()?;
    }
    Some(made)
}

/// Lets everybody read again what the program says, without what was put in its place.
fn take_out(program: &mut Program<'_, '_>, one: &Replaced) -> Option<()> {
    match one.how {
        Replacement::Choice(load) => {
            let (to, from) = (program.result(one.op, 0)?, program.result(load, 0)?);
            program.replace_all_uses(to, from).ok()?;
            return program.erase(one.op).ok();
        }
        Replacement::Loops(branch) => branches::undo(program, one.op, &branch)?,
        Replacement::Larger(was) => few_elements::undo(program, one.op, &was)?,
        Replacement::Operands(operands) => {
            for (number, operand) in operands.into_iter().enumerate() {
                program.set_operand(one.op, number, operand).ok()?;
            }
        }
        Replacement::Unscaled(was) => unscaled::undo(program, one.op, &was)?,
        Replacement::Extreme(first) => extremes::undo(program, one.op, first)?,
        Replacement::Values(made) => {
            for (number, made) in made.iter().enumerate() {
                let (Some(made), Some(result)) = (*made, program.result(one.op, number)) else {
                    continue;
                };
                program.replace_all_uses(made, result).ok()?;
            }
        }
        Replacement::Steps => {
            // The last step may itself have been put in other steps, right before it, whose last is
            // read instead.
            let is_read =
                |at: &Op| program.result(*at, 0).is_some_and(|v| program.uses(v).next().is_some());
            let last = core::iter::successors(program.previous(one.op), |at| program.previous(*at))
                .take_while(|at| Some(*at) != one.before)
                .find(is_read);
            if let Some(last) = last {
                let (to, from) = (program.result(last, 0)?, program.result(one.op, 0)?);
                program.replace_all_uses(to, from).ok()?;
            }
        }
    }
    erase_before(program, one.op, one.before);
    Some(())
}

/// Erases what was put between two operations of a block, or before the first.
fn erase_before(program: &mut Program<'_, '_>, op: Op, before: Option<Op>) {
    while let Some(at) = program.previous(op).filter(|at| Some(*at) != before) {
        if program.erase(at).is_err() {
            break;
        }
    }
}

/// What stands in the place of the elements that a load's mask leaves out, where no choice behind
/// the load puts it there yet: anything but zeros, which the load leaves itself.
fn filled(program: &Program<'_, '_>, op: Op) -> Option<Value> {
    let (other, result) = (program.other(op)?, program.result(op, 0)?);
    program.uses(result).next()?;
    let is_zero = |literal: Literal| {
        let dtype = program.type_of(other).dtype.and_then(|dtype| program.tables().dtype(dtype));
        dtype.and_then(|dtype| program.literal_bits(literal, dtype)) == Some(0)
    };
    if program.constant_sum(other).is_some_and(|(literal, _)| is_zero(literal)) {
        return None;
    }
    let chooses = |user: Op| {
        program.role(user) == OpRole::Select
            && program.operand(user, 0) == program.mask(op)
            && program.operand(user, 1) == Some(result)
            && program.operand(user, 2) == Some(other)
    };
    let mut users = program.uses(result).map(|place| program.user(place));
    let is_there = users.all(|user| user.is_some_and(chooses));
    (!is_there).then_some(other)
}

/// A choice behind a load, which all readers of the load's result read instead; `None` if the
/// program has no room for it.
#[inline(never)]
fn fill(program: &mut Program<'_, '_>, op: Op, other: Value) -> Option<Op> {
    let (mask, result) = (program.mask(op)?, program.result(op, 0)?);
    let decl = program.tables().op_of_role(OpRole::Select)?;
    let ty = program.type_of(result);
    let operands = [mask, other, other];
    let select = match program.next(op) {
        Some(next) => program.insert_before(next, decl, &operands, &[ty]).ok()?,
        None => program.append(program.block_of(op)?, decl, &operands, &[ty]).ok()?,
    };
    let chosen = program.result(select, 0)?;
    let done = program.replace_all_uses(result, chosen).is_ok()
        && program.set_operand(select, 1, result).is_ok();
    if done {
        return Some(select);
    }
    let _ = program.replace_all_uses(chosen, result);
    let _ = program.erase(select);
    None
}

/// The sequence that an operation needs: no instruction does it, and something reads it.
fn wanted<'t>(
    tables: &Tables<'t>,
    arch: ArchId,
    program: &Program<'_, '_>,
    op: Op,
) -> Option<&'t Sequence<'t>> {
    if !program.role(op).is_lanewise() || program.has_same_bits(op) {
        return None;
    }
    let result = program.result(op, 0)?;
    program.uses(result).next()?;
    let dtype = |value: Value| program.type_of(value).dtype;
    let (from, to) = (dtype(program.operand(op, 0)?)?, dtype(result)?);
    let (word, arity) = (program.decl_id(op)?, program.operands(op).count());
    if is_done(tables, tables.arch(arch)?, OpWord::Op(word), arity, from, to) {
        return None;
    }
    tables.sequence(word, from, to)
}

/// Puts a sequence before an operation, whose readers then read its result; `None` if the program
/// has no room for it. What is there already is taken out again.
#[inline(never)]
fn insert(program: &mut Program<'_, '_>, op: Op, sequence: &Sequence<'_>) -> Option<()> {
    let before = program.previous(op);
    let made = steps(program, op, sequence);
    let old = program.result(op, 0)?;
    let done = made.is_some_and(|new| program.replace_all_uses(old, new).is_ok());
    if done {
        return Some(());
    }
    erase_before(program, op, before);
    None
}

/// The steps of a sequence before an operation; what the last makes.
fn steps(program: &mut Program<'_, '_>, op: Op, sequence: &Sequence<'_>) -> Option<Value> {
    let own = program.type_of(program.result(op, 0)?);
    let mut made: heapless::Vec<Value, SEQUENCE_STEPS> = heapless::Vec::new();
    for (k, step) in sequence.steps.iter().enumerate() {
        let operands = operands(program, op, step, &made, own)?;
        // What comes out at the end is written as the program wrote it.
        let last = k.checked_add(1) == Some(sequence.steps.len());
        let ty = if last { own } else { of_elements(own, sequence.dtype_of(step.to)) };
        let new = program.insert_before(op, sequence.op_of(step), &operands, &[ty]).ok()?;
        made.push(program.result(new, 0)?).ok()?;
    }
    made.last().copied()
}

/// The operands of a step; numbers are constants before it.
fn operands(
    program: &mut Program<'_, '_>,
    op: Op,
    step: &SequenceStep<'_>,
    made: &[Value],
    own: Type,
) -> Option<heapless::Vec<Value, OPERANDS>> {
    let mut out: heapless::Vec<Value, OPERANDS> = heapless::Vec::new();
    for operand in step.operands.iter() {
        let value = match *operand {
            SequenceOperand::Operand(k) => program.operand(op, usize::from(k))?,
            SequenceOperand::Step(k) => *made.get(usize::from(k))?,
            SequenceOperand::Number(dtype, bits) => number(program, op, (dtype, bits), own)?,
        };
        out.push(value).ok()?;
    }
    Some(out)
}

fn number(
    program: &mut Program<'_, '_>,
    op: Op,
    (dtype, bits): (DtypeId, u64),
    own: Type,
) -> Option<Value> {
    let decl = program.tables().op_of_role(OpRole::Constant)?;
    let literal = program.literal_value(Literal::Hex(bits)).ok()?;
    let constant = program.insert_before(op, decl, &[literal], &[of_elements(own, dtype)]).ok()?;
    program.result(constant, 0)
}

/// A type like another one, of other elements: in parallel loops elements stand alone.
fn of_elements(like: Type, dtype: DtypeId) -> Type {
    if like.is_tile() {
        Type::tensor(like.shape, dtype)
    } else {
        Type { dtype: Some(dtype), ..like }
    }
}
