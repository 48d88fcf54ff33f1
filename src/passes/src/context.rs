//! What every analysis works with: the program, a worklist, fuel, and somebody to tell.
use crate::PassError;
use crate::diagnostic::Diagnostic;
use heapless::VecView;
use lanebook_ir::rewrite::RunError;
use lanebook_ir::{ErrorKind, Mark, Node, Op, Program, Use, Value};
use lanebook_tables::{OpRole, RuleId};

/// An analysis by the name that `rules/passes.ron` calls it.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Analysis {
    /// `remove-dead-args`: region arguments whose only uses pass them back to their own place.
    RemoveDeadArgs,
    /// `remove-aliases`: selects, views and loop-carried names of one allocation.
    RemoveAliases,
    /// `propagate-buffers`: producers of buffers take on the layout that a conversion asks for.
    PropagateBuffers,
    /// `propagate-registers`: elementwise operations take on the layout that their operands were
    /// converted from.
    PropagateRegisters,
    /// `unify-regions`: conversions leave conditions, loops and consumer regions.
    UnifyRegions,
    /// `slice`: loops with `sliceCount` in so many parts.
    Slice,
    /// `resolve-agents`: tiles that cross between agents go through shared memory.
    ResolveAgents,
    /// `weigh-conversions`: values are computed in the layouts in which that is cheapest
    /// ([`relayout`](crate::remat)).
    WeighConversions,
    /// `assign-layouts`: loads, stores, atomics and copies get layouts, group by group.
    AssignLayouts,
    /// `default-layouts`: tiles without a layout get nested tiles, and conversions stand where
    /// operations want others; programs over memrefs are left to their planner.
    DefaultLayouts,
    /// `coalesce`: accesses through pointers get nested tiles that follow runs of addresses.
    Coalesce,
    /// `accelerate-matmul`: products get a matrix instruction of the architecture, and its layouts.
    AccelerateMatmul,
}

impl Analysis {
    /// Every analysis that rewrites programs.
    pub const ALL: [Self; 12] = [
        Self::RemoveDeadArgs,
        Self::RemoveAliases,
        Self::PropagateBuffers,
        Self::PropagateRegisters,
        Self::UnifyRegions,
        Self::Slice,
        Self::ResolveAgents,
        Self::WeighConversions,
        Self::AssignLayouts,
        Self::DefaultLayouts,
        Self::Coalesce,
        Self::AccelerateMatmul,
    ];

    /// How pipelines spell it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::RemoveDeadArgs => "remove-dead-args",
            Self::RemoveAliases => "remove-aliases",
            Self::PropagateBuffers => "propagate-buffers",
            Self::PropagateRegisters => "propagate-registers",
            Self::UnifyRegions => "unify-regions",
            Self::Slice => "slice",
            Self::ResolveAgents => "resolve-agents",
            Self::WeighConversions => "weigh-conversions",
            Self::AssignLayouts => "assign-layouts",
            Self::DefaultLayouts => "default-layouts",
            Self::Coalesce => "coalesce",
            Self::AccelerateMatmul => "accelerate-matmul",
        }
    }
    /// Why it changes something, in a line: what a trace says behind each change.
    #[must_use]
    pub const fn reason(self) -> &'static str {
        match self {
            Self::RemoveDeadArgs => "nothing reads it but what passes it back to its own place",
            Self::RemoveAliases => "another name of one allocation",
            Self::PropagateBuffers => {
                "the producer of a buffer makes it in the layout that a conversion asks for"
            }
            Self::PropagateRegisters => {
                "operands come from one layout: the operation works in it, and its result is converted"
            }
            Self::UnifyRegions => "what regions pass on is converted outside of them",
            Self::Slice => "the loop says how many slices it wants",
            Self::ResolveAgents => "a tile in registers crosses to another agent",
            Self::WeighConversions => "computing in other layouts costs less than converting",
            Self::AssignLayouts => "the candidate of the lowest score, for the whole group",
            Self::DefaultLayouts => "it had no layout",
            Self::Coalesce => "neighbouring lanes take neighbouring addresses",
            Self::AccelerateMatmul => "a matrix instruction of the architecture takes the product",
        }
    }
    /// The analysis of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|analysis| analysis.name() == name)
    }
}

/// What happened in a pass.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Event {
    /// A rule is about to be applied to a node.
    Rule {
        /// Which rule.
        rule: RuleId,
        /// The node that it replaces.
        at: Node,
    },
    /// An analysis changed an operation, or what stands around it.
    Change {
        /// Which analysis.
        analysis: Analysis,
        /// The operation: it may be gone by now.
        at: Op,
    },
    /// A finding; the program is not changed because of it.
    Finding {
        /// What.
        diagnostic: Diagnostic,
        /// Where.
        at: Op,
    },
}

/// Program, worklist, fuel and listener of one analysis.
#[doc(hidden)]
pub struct PassContext<'a, 's, 't> {
    pub program: &'a mut Program<'s, 't>,
    work: &'a mut VecView<Node>,
    fuel: &'a mut u32,
    limit: u32,
    trace: &'a mut dyn FnMut(Event),
    analysis: Analysis,
    changes: u32,
    /// What is changed is tried: neither told nor paid for.
    is_trying: bool,
}

/// Where an attempt began.
#[doc(hidden)]
#[derive(Debug)]
pub struct Attempt {
    mark: Mark,
    changes: u32,
}

impl<'a, 's, 't> PassContext<'a, 's, 't> {
    pub fn new(
        program: &'a mut Program<'s, 't>,
        work: &'a mut VecView<Node>,
        fuel: &'a mut u32,
        trace: &'a mut dyn FnMut(Event),
    ) -> Self {
        let limit = *fuel;
        work.clear();
        Self {
            program,
            work,
            fuel,
            limit,
            trace,
            analysis: Analysis::RemoveDeadArgs,
            changes: 0,
            is_trying: false,
        }
    }
    pub fn begin(&mut self, analysis: Analysis) {
        (self.analysis, self.changes) = (analysis, 0);
    }
    pub const fn changes(&self) -> u32 {
        self.changes
    }

    // ---- telling
    /// Notes a change and pays for it.
    pub fn changed(&mut self, at: Op) -> Result<(), PassError> {
        if self.is_trying {
            self.changes = self.changes.saturating_add(1);
            return Ok(());
        }
        *self.fuel =
            self.fuel.checked_sub(1).ok_or(PassError::Run(RunError::Fuel { limit: self.limit }))?;
        self.changes = self.changes.saturating_add(1);
        (self.trace)(Event::Change { analysis: self.analysis, at });
        Ok(())
    }
    pub fn find(&mut self, diagnostic: Diagnostic, at: Op) {
        (self.trace)(Event::Finding { diagnostic, at });
    }

    // ---- trying
    /// Begins an attempt, which [`Self::take_back`] ends: until then changes are neither told nor
    /// paid for.
    pub fn attempt(&mut self) -> Attempt {
        self.is_trying = true;
        Attempt { mark: self.program.mark(), changes: self.changes }
    }
    /// Ends an attempt: the program is as it was before.
    pub fn take_back(&mut self, attempt: Attempt) {
        self.is_trying = false;
        self.changes = attempt.changes;
        self.program.undo(attempt.mark);
    }

    // ---- worklist
    pub fn push(&mut self, op: Op) -> Result<(), PassError> {
        let capacity = u16::try_from(self.work.capacity()).unwrap_or(u16::MAX);
        self.work.push(Node::Op(op)).map_err(|_| PassError::Run(RunError::Work { capacity }))
    }
    /// Puts an operation on the worklist that may be unread now.
    pub fn push_unread(&mut self, op: Op) -> Result<(), PassError> {
        let Some(result) = self.program.result(op, 0) else { return Ok(()) };
        let capacity = u16::try_from(self.work.capacity()).unwrap_or(u16::MAX);
        self.work.push(Node::Value(result)).map_err(|_| PassError::Run(RunError::Work { capacity }))
    }
    /// Empties the worklist.
    pub fn forget_work(&mut self) {
        self.work.clear();
    }
    /// Puts a value on the worklist.
    pub fn push_value(&mut self, value: Value) -> Result<(), PassError> {
        let capacity = u16::try_from(self.work.capacity()).unwrap_or(u16::MAX);
        self.work.push(Node::Value(value)).map_err(|_| PassError::Run(RunError::Work { capacity }))
    }
    /// The value to look at next, of a worklist that only holds values.
    pub fn pop_value(&mut self) -> Option<Value> {
        match self.work.pop()? {
            Node::Value(value) => Some(value),
            Node::Op(_) => None,
        }
    }
    /// The operation to look at next, if it is still there. One that lost its last reader to a
    /// change goes here.
    pub fn pop(&mut self) -> Result<Option<Op>, PassError> {
        while let Some(node) = self.work.pop() {
            let op = match node {
                Node::Op(op) => Some(op),
                Node::Value(value) => match self.program.def_op(value) {
                    Some(op) if self.program.is_alive(op) && self.erase_if_unread(op)? => None,
                    other => other,
                },
            };
            if let Some(op) = op.filter(|op| self.program.is_alive(*op)) {
                return Ok(Some(op));
            }
        }
        Ok(None)
    }
    /// Puts all operations of some roles on the worklist, the first in the text on top.
    pub fn push_roles(&mut self, wanted: impl Fn(OpRole) -> bool) -> Result<(), PassError> {
        let start = self.work.len();
        let mut at = self.program.first(self.program.root());
        while let Some(op) = at {
            if wanted(self.program.role(op)) {
                self.push(op)?;
            }
            at = self.program.following(op, None);
        }
        if let Some(new) = self.work.get_mut(start..) {
            new.reverse();
        }
        Ok(())
    }
    /// Puts on the worklist what a change of this value may help: the operation or the region that
    /// makes it.
    pub fn push_source(&mut self, value: Value) -> Result<(), PassError> {
        let op = match self.program.def(value) {
            lanebook_ir::Def::Result(op, _) => Some(op),
            lanebook_ir::Def::Argument(block, _) => self.program.owner_of(block),
            _ => None,
        };
        op.map_or(Ok(()), |op| self.push(op))
    }
    /// Puts the users of a value on the worklist; for one that ends a region, the operation around
    /// it.
    pub fn push_users(&mut self, value: Value) -> Result<(), PassError> {
        let mut at: Option<Use> = self.program.uses(value).next();
        while let Some(place) = at {
            if let Some(user) = self.program.user(place) {
                let target = if self.program.role(user).is_terminator() {
                    self.program.parent(user)
                } else {
                    Some(user)
                };
                if let Some(target) = target {
                    self.push(target)?;
                }
            }
            at = self.program.next_use(place);
        }
        Ok(())
    }

    // ---- shared changes
    /// Erases a pure operation that nothing reads, and looks at what it read.
    pub fn erase_if_unread(&mut self, op: Op) -> Result<bool, PassError> {
        let program = &mut *self.program;
        let pure =
            program.decl(op).is_some_and(|decl| decl.pure) && program.result(op, 0).is_some();
        if !pure || program.results(op).any(|value| program.is_used(value)) {
            return Ok(false);
        }
        let mut number = 0usize;
        loop {
            let Some(value) = self.program.all_operands(op).nth(number) else { break };
            number = number.saturating_add(1);
            if let Some(def) = self.program.def_op(value) {
                self.push_unread(def)?;
            }
        }
        self.program.erase(op).map_err(edit)?;
        Ok(true)
    }
    /// Takes one carried value out of a counted loop: argument, initial value, yielded value,
    /// result. Neither argument nor result may be in use but by the loop's own yield at this place.
    pub fn drop_carried(&mut self, op: Op, number: usize) -> Result<(), PassError> {
        let Some(body) = self.program.body(op) else { return Err(edit(ErrorKind::Broken)) };
        let sources = [
            self.program.operand(op, number.saturating_add(3)),
            self.program.terminator(body).and_then(|end| self.program.operand(end, number)),
        ];
        if let Some(end) = self.program.terminator(body) {
            self.program.remove_operand(end, number).map_err(edit)?;
            if self.program.operand(end, 0).is_none() {
                self.program.erase(end).map_err(edit)?;
            }
        }
        self.program.remove_operand(op, number.saturating_add(3)).map_err(edit)?;
        self.program.remove_argument(body, number.saturating_add(1)).map_err(edit)?;
        self.program.remove_result(op, number).map_err(edit)?;
        for value in sources.into_iter().flatten() {
            self.push_source(value)?;
        }
        Ok(())
    }
}

/// An edit that failed, as the error of a pass.
#[doc(hidden)]
pub fn edit(kind: ErrorKind) -> PassError {
    PassError::Run(RunError::Graph(kind))
}
