//! Instruction selection: covers expressions with target rules, cheapest first, and emits the
//! steps.
//!
//! One pass upward over the arena prices each needed node in a vector and in a scalar register
//! (operands come before users, so everything a rule needs is priced already). A node that several
//! others read charges each its share, so that swallowing it into all of its users wins only when
//! that is cheaper. One pass downward marks what the chosen rules read, one pass upward emits each
//! marked node once. Nodes computed by earlier calls are remembered and cost nothing.
use crate::expr::cover::{HeldBank, Machine, NEVER, NodeChoice, PricedRule, Supply, Terminal};
use crate::expr::reach::NodeSet;
use crate::expr::simplify::count_uses;
use crate::expr::want::{RegBank, SelectError, SelectScratch, Want};
use crate::expr::{Arg, Expr, ExprArena, ExprId, InstSink, Reg};
use lanebook_ir::rewrite::{Binding, RootView, Swaps, find_plausible, matches};
use lanebook_tables::{
    ArchId, AtomId, BuildNode, IndexOp, Language, MAX_INSTRUCTIONS, Role, Rule, RuleId, RuleSet,
    Tables,
};

/// Most target rules in a table.
const MAX_RULES: usize = 1024;

/// Selects instructions of one architecture. It remembers what it has computed, so calls share
/// work; use one for each stretch of code in which earlier results may be used.
pub struct Selector<'t, 's> {
    machine: Machine<'t>,
    set: &'t RuleSet<'t>,
    usable: [u64; MAX_RULES / 64],
    scratch: SelectScratch<'s>,
    /// One past the last node that a register was remembered for: the rest of the lent list is
    /// empty.
    remembered: usize,
}

impl<'t, 's> Selector<'t, 's> {
    /// A selector that has computed nothing yet, with the target rules of a phase.
    ///
    /// # Errors
    /// Unknown architecture, no rules.
    pub fn new(
        tables: &'t Tables<'t>,
        arch: ArchId,
        phase: u8,
        scratch: SelectScratch<'s>,
    ) -> Result<Self, SelectError<core::convert::Infallible>> {
        let arch_data = tables.arch(arch).ok_or(SelectError::UnknownArch(arch))?;
        let isa = tables.isa(arch_data.isa).ok_or(SelectError::UnknownArch(arch))?;
        let missing = SelectError::NoRules { isa: arch_data.isa, phase };
        let set = tables.rules.set(Language::Target, Some(arch_data.isa), phase).ok_or(missing)?;
        let mut usable = [0u64; MAX_RULES / 64];
        let has = |atom: AtomId| arch_data.own(atom).is_some();
        for (number, rule) in tables.rules.rules.iter().enumerate() {
            let fits = rule.language == Language::Target
                && rule
                    .replacement
                    .iter()
                    .all(|node| !matches!(node, BuildNode::Inst(atom, _) if !has(*atom)));
            if fits {
                let too_many = SelectError::TooManyRules {
                    rules: u16::try_from(tables.rules.rules.len()).unwrap_or(u16::MAX),
                };
                let word = usable.get_mut(number >> 6).ok_or(too_many)?;
                *word |= 1u64.wrapping_shl((number & 63) as u32);
            }
        }
        scratch.memo.fill([None; 2]);
        let machine = Machine { tables, arch: arch_data, isa };
        Ok(Self { machine, set, usable, scratch, remembered: 0 })
    }

    /// Forgets what was computed into virtual registers from this number on.
    pub fn forget_from(&mut self, first: u16) {
        for memo in self.scratch.memo.iter_mut().take(self.remembered).flatten() {
            if memo.is_some_and(|reg| reg.first >= first) {
                *memo = None;
            }
        }
    }

    /// Forgets nodes from this number on.
    pub(crate) fn forget_nodes(&mut self, first: usize) {
        for memo in self.scratch.memo.iter_mut().take(self.remembered).skip(first) {
            *memo = [None; 2];
        }
        self.remembered = self.remembered.min(first);
    }

    /// The register that holds a node already computed, vector first.
    #[must_use]
    pub fn computed(&self, node: ExprId) -> Option<Reg> {
        let [vector, scalar] = self.scratch.memo.get(node.index())?;
        vector.or(*scalar)
    }

    /// Forgets where a node is.
    pub fn forget(&mut self, node: ExprId) {
        if let Some(memo) = self.scratch.memo.get_mut(node.index()) {
            *memo = [None; 2];
        }
    }

    /// Tells that a register already holds a node.
    pub fn remember(&mut self, node: ExprId, reg: Reg) {
        let bank = self.machine.bank(reg.class).unwrap_or(HeldBank::Vector);
        self.note(node, bank, reg);
    }

    fn note(&mut self, node: ExprId, bank: HeldBank, reg: Reg) {
        if let Some(place) =
            self.scratch.memo.get_mut(node.index()).and_then(|memo| memo.get_mut(bank as usize))
        {
            *place = Some(reg);
            self.remembered = self.remembered.max(node.index().saturating_add(1));
        }
    }

    /// Forgets that a register holds anything, because its value is about to change.
    pub fn release(&mut self, reg: Reg) {
        for memo in self.scratch.memo.iter_mut().take(self.remembered).flatten() {
            if *memo == Some(reg) {
                *memo = None;
            }
        }
    }

    /// Computes the roots: pushes steps on `sink` and puts each root's register into `out`.
    ///
    /// `variables[v]` is the register of variable v (needed only for variables that occur).
    ///
    /// # Errors
    /// A node that no rule covers, lent storage shorter than the arena, what the sink refuses.
    pub fn select<S: InstSink>(
        &mut self,
        arena: &ExprArena<'_>,
        variables: &[Option<Reg>],
        roots: &[Want],
        out: &mut [Option<Reg>],
        sink: &mut S,
    ) -> Result<(), SelectError<S::Error>> {
        let lent =
            self.scratch.memo.len().min(self.scratch.choice.len()).min(self.scratch.uses.len());
        let short = |n: usize| u16::try_from(n).unwrap_or(u16::MAX);
        if lent < arena.len() {
            return Err(SelectError::Scratch { needed: short(arena.len()), lent: short(lent) });
        }
        if out.len() < roots.len() {
            return Err(SelectError::Scratch {
                needed: short(roots.len()),
                lent: short(out.len()),
            });
        }
        let memo = &*self.scratch.memo;
        let computed = |id: ExprId| memo.get(id.index()).is_some_and(|regs| *regs != [None; 2]);
        let mut reach = NodeSet::new();
        let nodes = roots.iter().map(|want| want.node);
        count_uses(arena, nodes, self.scratch.uses, &mut reach, computed);
        for id in reach.ascending() {
            if let Some(place) = self.scratch.choice.get_mut(id.index()) {
                *place = [NodeChoice::NONE; 2];
            }
            self.price(arena, variables, id)?;
        }
        for want in roots {
            let bank = self.root_bank(*want);
            match self
                .scratch
                .choice
                .get_mut(want.node.index())
                .and_then(|sides| sides.get_mut(bank as usize))
            {
                Some(choice) if choice.cost < NEVER => choice.needed = true,
                _ => {
                    return Err(SelectError::NoInstruction {
                        node: want.node,
                        scalar: bank == HeldBank::Scalar,
                        op: self.uncovered(arena, &reach),
                    });
                }
            }
        }
        for id in reach.descending() {
            self.mark(arena, id)?;
        }
        for id in reach.ascending() {
            self.emit(arena, id, sink)?;
        }
        for (want, place) in roots.iter().zip(out.iter_mut()) {
            let bank = self.root_bank(*want);
            *place = self.register(want.node, bank);
        }
        Ok(())
    }

    fn root_bank(&self, want: Want) -> HeldBank {
        match want.place {
            RegBank::Vector => HeldBank::Vector,
            RegBank::Scalar => HeldBank::Scalar,
            RegBank::Any
                if self.cost(want.node, HeldBank::Scalar)
                    < self.cost(want.node, HeldBank::Vector) =>
            {
                HeldBank::Scalar
            }
            RegBank::Any => HeldBank::Vector,
        }
    }

    /// The first operation that no rule covers; arguments come before what is computed from them.
    #[inline(never)]
    fn uncovered(&self, arena: &ExprArena<'_>, reach: &NodeSet) -> Option<IndexOp> {
        for id in reach.ascending() {
            let is_stuck = HeldBank::BOTH.iter().all(|bank| self.choice(id, *bank).cost >= NEVER);
            match arena.get(id) {
                Some(Expr::Op(op, _)) if is_stuck => return Some(op),
                _ => {}
            }
        }
        None
    }

    fn choice(&self, id: ExprId, bank: HeldBank) -> NodeChoice {
        self.scratch
            .choice
            .get(id.index())
            .and_then(|sides| sides.get(bank as usize))
            .copied()
            .unwrap_or(NodeChoice::NONE)
    }
    fn cost(&self, id: ExprId, bank: HeldBank) -> u32 {
        self.choice(id, bank).cost
    }
    fn register(&self, id: ExprId, bank: HeldBank) -> Option<Reg> {
        self.scratch
            .memo
            .get(id.index())
            .and_then(|sides| sides.get(bank as usize))
            .copied()
            .flatten()
    }
    /// What one reader pays for a node.
    fn share(&self, arena: &ExprArena<'_>, id: ExprId, bank: HeldBank) -> u32 {
        let cost = self.cost(id, bank);
        // Most readers of a constant take it as an immediate, so one that needs a register pays for
        // it.
        if arena.constant_value(id).is_some() {
            return cost;
        }
        let readers = u32::from(self.scratch.uses.get(id.index()).copied().unwrap_or(1)).max(1);
        if cost >= NEVER { NEVER } else { cost.div_ceil(readers) }
    }
    fn set_choice(&mut self, id: ExprId, bank: HeldBank, choice: NodeChoice) {
        if let Some(place) =
            self.scratch.choice.get_mut(id.index()).and_then(|sides| sides.get_mut(bank as usize))
        {
            *place = choice;
        }
    }

    /// Finds the best rules for one node.
    fn price<E>(
        &mut self,
        arena: &ExprArena<'_>,
        variables: &[Option<Reg>],
        id: ExprId,
    ) -> Result<(), SelectError<E>> {
        for bank in HeldBank::BOTH {
            if self.register(id, bank).is_some() {
                self.set_choice(id, bank, NodeChoice { cost: 0, ..NodeChoice::NONE });
            }
        }
        if let Some(Expr::Var(var)) = arena.get(id)
            && let Some(reg) = variables.get(var.index()).copied().flatten()
            && let Some(bank) = self.machine.bank(reg.class)
        {
            self.remember(id, reg);
            self.set_choice(id, bank, NodeChoice { cost: 0, ..NodeChoice::NONE });
        }
        // A number that stands in the one kind of register is made anew in the other.
        let computed = arena.constant_value(id).is_none()
            && self.scratch.memo.get(id.index()).is_some_and(|regs| *regs != [None; 2]);
        let root = match arena.get(id) {
            Some(Expr::Const(_)) => Some(RuleSet::ROOT_CONST),
            Some(Expr::Op(op, _)) => Some(op as usize),
            _ => None,
        };
        let look = RootView::at(&Terminal { arena, uses: self.scratch.uses }, id);
        let set = self.set;
        if let Some(root) = root.filter(|_| !computed) {
            for rule in set.rules_for(root) {
                self.try_rule(arena, id, &look, *rule, false)?;
            }
        }
        // From one kind of register to the other. Priced after both, so that neither waits for the
        // other.
        let before = [self.choice(id, HeldBank::Vector), self.choice(id, HeldBank::Scalar)];
        for rule in set.rules_for(RuleSet::ROOT_ANY) {
            self.try_rule(arena, id, &look, *rule, true)?;
        }
        let after = [self.choice(id, HeldBank::Vector), self.choice(id, HeldBank::Scalar)];
        if let ([a, b], [c, d]) = (after, before)
            && a.chain
            && b.chain
        {
            // Both changed against the old price of the other: keep the one that was computed.
            let (bank, old) =
                if c.cost <= d.cost { (HeldBank::Vector, c) } else { (HeldBank::Scalar, d) };
            self.set_choice(id, bank, old);
        }
        Ok(())
    }

    fn rule<E>(&self, id: RuleId) -> Result<&'t Rule<'t>, SelectError<E>> {
        self.machine.tables.rules.rule(id).ok_or(SelectError::BadRule(id))
    }

    /// Prices every fit of a rule at a node and keeps the best.
    fn try_rule<E>(
        &mut self,
        arena: &ExprArena<'_>,
        id: ExprId,
        look: &RootView<ExprId>,
        rule_id: RuleId,
        chain: bool,
    ) -> Result<(), SelectError<E>> {
        if self
            .usable
            .get(rule_id.index() >> 6)
            .is_none_or(|word| word.wrapping_shr(u32::from(rule_id.0 & 63)) & 1 == 0)
        {
            return Ok(());
        }
        let rule = self.rule(rule_id)?;
        if !look.plausible(rule.pattern) {
            return Ok(());
        }
        // Not even with arguments for nothing.
        if self.machine.least(rule).is_none_or(|(least, bank)| least >= self.cost(id, bank)) {
            return Ok(());
        }
        let (mut from, mut plan) = (Some(Swaps::default()), PricedRule::EMPTY);
        while let Some(swaps) = from {
            let terminal = Terminal { arena, uses: self.scratch.uses };
            let Some((binding, at, next)) = find_plausible(&terminal, rule, look, swaps) else {
                break;
            };
            if self.plan(arena, rule, &binding, (id, chain), &mut plan).is_some()
                && plan.cost < self.cost(id, plan.bank)
            {
                self.set_choice(
                    id,
                    plan.bank,
                    NodeChoice {
                        cost: plan.cost,
                        rule: rule_id.0,
                        swaps: at.0,
                        needed: false,
                        chain,
                    },
                );
            }
            from = next;
        }
        Ok(())
    }

    fn plan(
        &self,
        arena: &ExprArena<'_>,
        rule: &Rule<'_>,
        binding: &Binding<ExprId>,
        (id, chain): (ExprId, bool),
        plan: &mut PricedRule,
    ) -> Option<()> {
        // A chain rule reads the node itself: all of its price, and never from the kind of register
        // it writes.
        let price = |node, bank| {
            if chain && node == id {
                self.chain_price(rule, id, bank)
            } else {
                self.share(arena, node, bank)
            }
        };
        self.machine.plan(arena, rule, binding, price, plan)?;
        // Rules for constants and copies fit nodes of any width; their instructions do not.
        (arena.facts(id).map(|facts| u32::from(facts.width)) == Some(plan.width)).then_some(())
    }
    fn chain_price(&self, rule: &Rule<'_>, id: ExprId, bank: HeldBank) -> u32 {
        let into = match rule.replacement.first() {
            Some(BuildNode::Inst(atom, _)) => self.machine.result(*atom).map(|(bank, _, _)| bank),
            _ => None,
        };
        let choice = self.choice(id, bank);
        if into == Some(bank) || choice.chain { NEVER } else { choice.cost }
    }

    /// Marks what the chosen rules of a needed node read.
    #[inline(never)] // Beside what is emitted, each with one priced rule on the stack.
    fn mark<E>(&mut self, arena: &ExprArena<'_>, id: ExprId) -> Result<(), SelectError<E>> {
        let mut plan = PricedRule::EMPTY;
        // A chained kind first: it reads the other kind of the same node.
        for chain in [true, false] {
            for bank in HeldBank::BOTH {
                let choice = self.choice(id, bank);
                if !choice.needed || choice.chain != chain || self.register(id, bank).is_some() {
                    continue;
                }
                self.chosen(arena, id, choice, &mut plan)?;
                for supply in plan.supplies {
                    if let Supply::Node(node, bank) = supply
                        && let Some(other) = self
                            .scratch
                            .choice
                            .get_mut(node.index())
                            .and_then(|sides| sides.get_mut(bank as usize))
                    {
                        other.needed = true;
                    }
                }
            }
        }
        Ok(())
    }

    fn chosen<E>(
        &self,
        arena: &ExprArena<'_>,
        id: ExprId,
        choice: NodeChoice,
        plan: &mut PricedRule,
    ) -> Result<(), SelectError<E>> {
        let rule_id = RuleId(choice.rule);
        let rule = self.rule(rule_id)?;
        let terminal = Terminal { arena, uses: self.scratch.uses };
        let binding = matches(&terminal, rule, id, Swaps(choice.swaps))
            .ok_or(SelectError::BadRule(rule_id))?;
        let made = self.plan(arena, rule, &binding, (id, choice.chain), plan);
        made.ok_or(SelectError::BadRule(rule_id))
    }

    /// Emits a needed node.
    #[inline(never)] // As what it marks.
    fn emit<S: InstSink>(
        &mut self,
        arena: &ExprArena<'_>,
        id: ExprId,
        sink: &mut S,
    ) -> Result<(), SelectError<S::Error>> {
        let mut plan = PricedRule::EMPTY;
        for chain in [false, true] {
            for bank in HeldBank::BOTH {
                let choice = self.choice(id, bank);
                if !choice.needed || choice.chain != chain || self.register(id, bank).is_some() {
                    continue;
                }
                self.chosen(arena, id, choice, &mut plan)?;
                let reg = self.push(RuleId(choice.rule), &plan, sink)?;
                self.note(id, bank, reg);
            }
        }
        Ok(())
    }

    /// Emits a rule's instructions, inner ones first. What it keeps on the stack does not lie under
    /// the pricing of rules.
    #[inline(never)]
    fn push<S: InstSink>(
        &self,
        rule_id: RuleId,
        plan: &PricedRule,
        sink: &mut S,
    ) -> Result<Reg, SelectError<S::Error>> {
        let bad = SelectError::BadRule(rule_id);
        let rule: &Rule<'_> = self.rule(rule_id)?;
        let mut stack = [Arg::None; MAX_INSTRUCTIONS];
        let mut depth = 0usize;
        for (at, node) in rule.replacement.iter().enumerate().rev() {
            let value = match (*node, plan.supplies.get(at)) {
                (BuildNode::Inst(atom_id, arity), _) => {
                    let atom = self.machine.tables.atom(atom_id).ok_or(bad)?;
                    let (_, class, count) = self.machine.result(atom_id).ok_or(bad)?;
                    let start = depth.checked_sub(usize::from(arity)).ok_or(bad)?;
                    let mut args = [Arg::None; 8];
                    let mut given = stack.get(start..depth).ok_or(bad)?.iter().rev();
                    for (number, _) in Machine::inputs(atom) {
                        *args.get_mut(number).ok_or(bad)? = *given.next().ok_or(bad)?;
                    }
                    let reg = sink.fresh(class, u16::from(count)).map_err(SelectError::Sink)?;
                    *args.first_mut().ok_or(bad)? = Arg::Reg(reg);
                    if atom
                        .operands
                        .iter()
                        .skip(1)
                        .any(|operand| operand.role == Role::Def && !operand.implicit)
                    {
                        return Err(bad);
                    }
                    sink.push(atom_id, args.get(..atom.operands.len()).ok_or(bad)?)
                        .map_err(SelectError::Sink)?;
                    depth = start;
                    Arg::Reg(reg)
                }
                (_, Some(Supply::Imm(value))) => Arg::Imm(*value),
                (_, Some(Supply::Node(id, bank))) => {
                    Arg::Reg(self.register(*id, *bank).ok_or(bad)?)
                }
                _ => return Err(bad),
            };
            *stack.get_mut(depth).ok_or(bad)? = value;
            depth = depth.checked_add(1).ok_or(bad)?;
        }
        match stack.first() {
            Some(Arg::Reg(reg)) => Ok(*reg),
            _ => Err(bad),
        }
    }
}
