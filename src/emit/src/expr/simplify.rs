//! Index rules applied to an arena.
//!
//! Nodes never change, so a replaced node is *forwarded*: later nodes are rebuilt over the
//! replacement. The worklist is a stack with the oldest node on top, and a rewrite puts its new
//! nodes on top of that, so that a node is looked at only when its operands are final; each node is
//! settled once.
use crate::expr::reach::NodeSet;
use crate::expr::{BitFacts, Expr, ExprArena, ExprError, ExprId};
use heapless::VecView;
use lanebook_ir::rewrite::{Bound, Graph, RunError, Stats, Terms, TileMake, View, Work, run};
use lanebook_tables::{IndexOp, Language, RuleId, Rules, Word};

/// Storage that [`simplify`] borrows: `forward` and `uses` at least as long as the arena's
/// capacity, `work` about as long.
pub struct SimplifyScratch<'s> {
    /// Where nodes went.
    pub forward: &'s mut [ExprId],
    /// How many nodes read a node.
    pub uses: &'s mut [u16],
    /// The worklist.
    pub work: &'s mut VecView<ExprId>,
}

/// Simplifies the expressions in `roots` by the index rules of a phase, and puts the simplified
/// ones in their place.
///
/// `fuel` is reduced by one for each rewrite; `trace` hears of each. On an error arena and roots
/// are as before.
///
/// # Errors
/// Out of fuel, worklist or arena; lent slices shorter than the arena.
pub fn simplify(
    arena: &mut ExprArena<'_>,
    rules: &Rules<'_>,
    phase: u8,
    roots: &mut [ExprId],
    scratch: &mut SimplifyScratch<'_>,
    fuel: &mut u32,
    trace: impl FnMut(RuleId, ExprId),
) -> Result<Stats, RunError<ExprError>> {
    let Some(set) = rules.set(Language::Index, None, phase) else {
        return Ok(Stats::default());
    };
    let lent = scratch.forward.len().min(scratch.uses.len());
    if lent < arena.capacity() {
        let short = |n: usize| u16::try_from(n).unwrap_or(u16::MAX);
        return Err(RunError::Graph(ExprError::Scratch {
            needed: short(arena.capacity()),
            lent: short(lent),
        }));
    }
    // What is made later is cleared as it is made.
    scratch.forward.iter_mut().take(arena.len()).for_each(|place| *place = ExprId::NONE);
    let mut reach = NodeSet::new();
    count_uses(arena, roots.iter().copied(), scratch.uses, &mut reach, |_| false);
    let mut work = Work::new(scratch.work);
    for id in reach.descending() {
        work.push(id)?;
    }
    let mut session = Session { arena, forward: scratch.forward, uses: scratch.uses };
    let stats = run(&mut session, rules, set, &mut work, fuel, trace)?;
    for root in roots.iter_mut() {
        *root = session.resolve(*root);
    }
    Ok(stats)
}

/// Counts, for each node reachable from the roots, how many reachable nodes and roots read it.
/// Nodes for which `stop` holds are counted but not entered. Others get 0. Nodes that were reached
/// are added to `reach`, an empty set: it is large, and stands once on the stack.
pub(super) fn count_uses(
    arena: &ExprArena<'_>,
    roots: impl Iterator<Item = ExprId>,
    uses: &mut [u16],
    reach: &mut NodeSet,
    stop: impl Fn(ExprId) -> bool,
) {
    uses.iter_mut().take(arena.len()).for_each(|count| *count = 0);
    let bump = |uses: &mut [u16], reach: &mut NodeSet, id: ExprId| {
        if id != ExprId::NONE
            && let Some(count) = uses.get_mut(id.index())
        {
            *count = count.saturating_add(1);
            reach.add(id);
        }
    };
    for root in roots.filter(|root| root.index() < arena.len()) {
        bump(uses, reach, root);
    }
    let mut from = ExprId::NONE;
    while let Some(id) = reach.before(from) {
        from = id;
        if let Some(Expr::Op(_, args)) = arena.get(id)
            && !stop(id)
        {
            for arg in args {
                bump(uses, reach, arg);
            }
        }
    }
}

/// An arena as patterns see it.
pub(super) fn view(arena: &ExprArena<'_>, id: ExprId) -> View {
    match (arena.get(id), arena.facts(id)) {
        (Some(Expr::Const(value)), Some(facts)) => View::Const { value, width: facts.width },
        (Some(Expr::Op(op, _)), _) => View::Index(op),
        _ => View::Leaf,
    }
}

/// Whether a condition about index values holds.
pub(super) fn holds(
    arena: &ExprArena<'_>,
    uses: &[u16],
    word: Word,
    args: &[Bound<ExprId>],
) -> bool {
    let facts = |bound: Option<&Bound<ExprId>>| match bound? {
        Bound::Node(id) => arena.facts(*id).copied(),
        Bound::Const(value, width) => Some(BitFacts::constant(*value, *width)),
        Bound::Free => None,
    };
    let Some(first) = facts(args.first()) else {
        return false;
    };
    let second = facts(args.get(1));
    match (word, second) {
        (Word::Disjoint, Some(other)) => first.possible() & other.possible() == 0,
        (Word::Covers, Some(other)) => other.possible() & !first.ones == 0,
        (Word::Below, Some(limit)) => first.high < limit.ones,
        (Word::NoCarry, Some(other)) => {
            first.high.checked_add(other.high).is_some_and(|sum| sum <= u64::from(u32::MAX))
        }
        (Word::Uniform, _) => first.uniform(),
        (Word::SingleUse, _) => match args.first() {
            Some(Bound::Node(id)) => uses.get(id.index()).is_some_and(|count| *count <= 1),
            _ => false,
        },
        _ => false,
    }
}

struct Session<'a, 's> {
    arena: &'a mut ExprArena<'s>,
    forward: &'a mut [ExprId],
    uses: &'a mut [u16],
}

impl Session<'_, '_> {
    /// Where a node has gone.
    fn resolve(&self, id: ExprId) -> ExprId {
        let mut at = id;
        // A chain is never longer than the arena; the measure of rules keeps it from closing.
        for _ in 0..self.forward.len() {
            match self.forward.get(at.index()) {
                Some(next) if *next != ExprId::NONE && *next != at => at = *next,
                _ => break,
            }
        }
        at
    }
    fn note(&mut self, before: usize, id: ExprId) -> ExprId {
        if self.arena.len() > before {
            if let (Some(forward), Some(uses)) =
                (self.forward.get_mut(id.index()), self.uses.get_mut(id.index()))
            {
                (*forward, *uses) = (ExprId::NONE, 0);
            }
            if let Some(Expr::Op(_, args)) = self.arena.get(id) {
                for arg in args {
                    if let Some(count) = self.uses.get_mut(arg.index()) {
                        *count = count.saturating_add(1);
                    }
                }
            }
        }
        id
    }
}

impl Terms for Session<'_, '_> {
    type Id = ExprId;
    fn view(&self, id: ExprId) -> View {
        view(self.arena, id)
    }
    fn arity(&self, id: ExprId) -> u8 {
        match self.arena.get(id) {
            Some(Expr::Op(op, _)) => op.arity(),
            _ => 0,
        }
    }
    fn operand(&self, id: ExprId, number: u8) -> Option<ExprId> {
        operand(self.arena, id, number)
    }
    fn holds(&self, word: Word, args: &[Bound<ExprId>]) -> bool {
        holds(self.arena, self.uses, word, args)
    }
}

/// An operand of a node.
pub(super) fn operand(arena: &ExprArena<'_>, id: ExprId, number: u8) -> Option<ExprId> {
    match arena.get(id)? {
        Expr::Op(_, args) => {
            args.get(usize::from(number)).copied().filter(|arg| *arg != ExprId::NONE)
        }
        _ => None,
    }
}

impl Graph for Session<'_, '_> {
    type Error = ExprError;
    type Mark = usize;

    fn refresh(&mut self, id: ExprId) -> Result<Option<ExprId>, ExprError> {
        if self.forward.get(id.index()) != Some(&ExprId::NONE) {
            return Ok(None);
        }
        let Some(Expr::Op(op, args)) = self.arena.get(id) else {
            return Ok(Some(id));
        };
        let [a, b] = args.map(|arg| if arg == ExprId::NONE { arg } else { self.resolve(arg) });
        let new = if [a, b] == args {
            id
        } else {
            let before = self.arena.len();
            let new = if b == ExprId::NONE {
                self.arena.op(op, &[a])?
            } else {
                self.arena.op(op, &[a, b])?
            };
            self.note(before, new)
        };
        if new != id {
            if let Some(place) = self.forward.get_mut(id.index()) {
                *place = new;
            }
            if self.forward.get(new.index()) != Some(&ExprId::NONE) {
                return Ok(None);
            }
        }
        Ok(Some(new))
    }
    fn settle(&mut self, id: ExprId) {
        if let Some(place) = self.forward.get_mut(id.index()) {
            *place = id;
        }
    }
    fn make_const(&mut self, value: u64, width: u8) -> Result<ExprId, ExprError> {
        let before = self.arena.len();
        let new = self.arena.constant_of(value, width)?;
        Ok(self.note(before, new))
    }
    fn make_index(&mut self, op: IndexOp, args: &[ExprId]) -> Result<ExprId, ExprError> {
        let before = self.arena.len();
        let new = self.arena.op(op, args)?;
        Ok(self.note(before, new))
    }
    fn make_tile(
        &mut self,
        _: TileMake<ExprId>,
        _: &[ExprId],
        _: ExprId,
    ) -> Result<ExprId, ExprError> {
        Err(ExprError::TileOperation)
    }
    fn replace(
        &mut self,
        old: ExprId,
        new: ExprId,
        work: &mut Work<'_, ExprId>,
    ) -> Result<(), RunError<ExprError>> {
        if let Some(place) = self.forward.get_mut(old.index()) {
            *place = new;
        }
        work.push(new)
    }
    fn checkpoint(&mut self) -> usize {
        self.arena.len()
    }
    fn rollback(&mut self, mark: usize) {
        self.arena.truncate(mark);
    }
}
