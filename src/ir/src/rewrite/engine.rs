//! The loop: worklist, dispatch, fuel, undo.
use crate::rewrite::build::build;
use crate::rewrite::{Graph, RootView, Swaps, View, find_plausible};
use heapless::VecView;
use lanebook_layout::sentence;
use lanebook_tables::{IndexOp, MAX_TERM, RuleId, RuleSet, Rules};

/// Why a run stopped. The graph is as it was before the run.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum RunError<E> {
    /// More rewrites than the fuel allowed.
    Fuel {
        /// Rewrites allowed.
        limit: u32,
    },
    /// The worklist is full.
    Work {
        /// Entries it holds at most.
        capacity: u16,
    },
    /// A compiled rule is not well formed (tables from outside the build).
    BadRule {
        /// Which.
        rule: RuleId,
    },
    /// The graph could not be changed.
    Graph(E),
}

impl<E: core::fmt::Display> core::fmt::Display for RunError<E> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Fuel { limit } => sentence!(f, "more than ~ changes", *limit),
            Self::Work { capacity } => {
                sentence!(f, "more than ~ operations wait to be looked at", *capacity)
            }
            Self::BadRule { rule } => {
                sentence!(f, "rule ~ of the tables is not well formed", rule.0)
            }
            Self::Graph(error) => error.fmt(f),
        }
    }
}

impl<E: core::fmt::Debug + core::fmt::Display> core::error::Error for RunError<E> {}

/// Nodes to look at, last in first out.
pub struct Work<'w, I> {
    list: &'w mut VecView<I>,
}

impl<'w, I: Copy> Work<'w, I> {
    /// An empty worklist in lent storage.
    pub fn new(list: &'w mut VecView<I>) -> Self {
        list.clear();
        Self { list }
    }
    /// Adds a node; it is the next to be looked at.
    pub fn push<E>(&mut self, id: I) -> Result<(), RunError<E>> {
        let capacity = u16::try_from(self.list.capacity()).unwrap_or(u16::MAX);
        self.list.push(id).map_err(|_| RunError::Work { capacity })
    }
    /// Takes the node that was added last.
    pub fn pop(&mut self) -> Option<I> {
        self.list.pop()
    }
}

/// What a run did.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Default)]
pub struct Stats {
    /// Nodes looked at.
    pub visited: u32,
    /// Rules applied.
    pub applied: u32,
}

/// New nodes of one rewrite, in the order in which they were made.
pub(super) struct MadeNodes<I> {
    list: [Option<I>; MAX_TERM],
    len: usize,
}

impl<I: Copy> MadeNodes<I> {
    fn new() -> Self {
        Self { list: [None; MAX_TERM], len: 0 }
    }
    pub(super) fn note(&mut self, id: I) -> Option<()> {
        *self.list.get_mut(self.len)? = Some(id);
        self.len = self.len.checked_add(1)?;
        Some(())
    }
}

/// Applies the rules of a set until none fits any node reachable from the worklist.
///
/// `work` holds the nodes to start with, the first to be looked at on top. `fuel` is reduced by one
/// for each rewrite. `trace` hears of each rewrite: rule and node. On an error the graph is rolled
/// back.
pub fn run<G: Graph>(
    graph: &mut G,
    rules: &Rules<'_>,
    set: &RuleSet<'_>,
    work: &mut Work<'_, G::Id>,
    fuel: &mut u32,
    mut trace: impl FnMut(RuleId, G::Id),
) -> Result<Stats, RunError<G::Error>> {
    let mark = graph.checkpoint();
    let result = drain(graph, rules, set, work, fuel, &mut trace);
    if result.is_err() {
        graph.rollback(mark);
    }
    result
}

fn drain<G: Graph>(
    graph: &mut G,
    rules: &Rules<'_>,
    set: &RuleSet<'_>,
    work: &mut Work<'_, G::Id>,
    fuel: &mut u32,
    trace: &mut impl FnMut(RuleId, G::Id),
) -> Result<Stats, RunError<G::Error>> {
    let limit = *fuel;
    let mut stats = Stats::default();
    while let Some(id) = work.pop() {
        let Some(id) = graph.refresh(id).map_err(RunError::Graph)? else {
            continue;
        };
        stats.visited = stats.visited.saturating_add(1);
        let Some((rule, new, made)) = rewrite(graph, rules, set, id)? else {
            graph.settle(id);
            continue;
        };
        *fuel = fuel.checked_sub(1).ok_or(RunError::Fuel { limit })?;
        stats.applied = stats.applied.saturating_add(1);
        trace(rule, id);
        graph.replace(id, new, work)?;
        // Pushed outermost first, so that inner nodes are settled before their users are looked at.
        for new in made.list.iter().take(made.len).rev().flatten() {
            work.push(*new)?;
        }
    }
    Ok(stats)
}

type Rewritten<I> = Option<(RuleId, I, MadeNodes<I>)>;

/// The first rule that changes the node, with its replacement made but not yet in place.
fn rewrite<G: Graph>(
    graph: &mut G,
    rules: &Rules<'_>,
    set: &RuleSet<'_>,
    id: G::Id,
) -> Result<Rewritten<G::Id>, RunError<G::Error>> {
    let view = graph.view(id);
    let (root, width) = match view {
        View::Const { width, .. } => (RuleSet::ROOT_CONST, width),
        View::Index(op) => (op as usize, op.width()),
        View::Tile(op, _) => (op.index(), 0),
        View::Leaf => return Ok(None),
    };
    let look = RootView::at(graph, id);
    for &rule_id in set.rules_for(root) {
        let Some(rule) = rules.rule(rule_id) else {
            return Err(RunError::BadRule { rule: rule_id });
        };
        if !look.plausible(rule.pattern) {
            continue;
        }
        let mut from = Some(Swaps::default());
        while let Some(swaps) = from {
            let Some((binding, _, next)) = find_plausible(graph, rule, &look, swaps) else {
                break;
            };
            let mut made = MadeNodes::new();
            if let Some(new) = build(graph, rule_id, rule, id, width, &binding, &mut made)?
                && new != id
            {
                return Ok(Some((rule_id, new, made)));
            }
            from = next;
        }
    }
    Ok(None)
}

// Root numbers of index rules are the numbers of their words.
const _: () = assert!(IndexOp::Shl64 as usize + 1 == RuleSet::ROOT_CONST);
