//! The engine on small hand-made rule sets over index expressions.
use crate::expr::{ExprArena, ExprError, ExprId, ExprNode, SimplifyScratch, Variable, simplify};
use heapless::Vec;
use lanebook_ir::rewrite::{Ring, RunError, Swaps, next_swaps};
use lanebook_tables::{
    BuildNode, Cond, CondArg, IndexOp, Language, Let, NO_SLOT, Number, PatternNode, Rule, RuleId,
    RuleSet, Rules, Word, list,
};

const N: usize = 64;

struct Store {
    nodes: Vec<ExprNode, N>,
    variables: Vec<Variable, 4>,
    buckets: [ExprId; N],
    forward: [ExprId; N],
    uses: [u16; N],
    work: Vec<ExprId, N>,
}

impl Store {
    fn new() -> Self {
        Self {
            nodes: Vec::new(),
            variables: Vec::new(),
            buckets: [ExprId::NONE; N],
            forward: [ExprId::NONE; N],
            uses: [0; N],
            work: Vec::new(),
        }
    }
    fn split(&mut self) -> (ExprArena<'_>, SimplifyScratch<'_>) {
        (
            ExprArena::new(&mut self.nodes, &mut self.variables, &mut self.buckets),
            SimplifyScratch {
                forward: &mut self.forward,
                uses: &mut self.uses,
                work: &mut self.work,
            },
        )
    }
}

const fn rule(pattern: &'static [PatternNode], replacement: &'static [BuildNode]) -> Rule<'static> {
    Rule {
        language: Language::Index,
        phase: 0,
        priority: 0,
        slots: 3,
        pattern,
        lets: list![],
        conditions: list![],
        replacement,
    }
}

/// x + 0 = x; (x + c) + d = x + (c + d); x ^ y = y where y is below 4 (wrong on purpose: it shows
/// conditions).
const RULES: &[Rule<'static>] = &[
    rule(
        &[
            PatternNode::Index(IndexOp::Add, 2, NO_SLOT),
            PatternNode::Any(0),
            PatternNode::Const(Number::new(0)),
        ],
        &[BuildNode::Slot(0)],
    ),
    Rule {
        lets: list![Let {
            slot: 3,
            term: list![BuildNode::Fold(IndexOp::Add, 2), BuildNode::Slot(1), BuildNode::Slot(2)]
        }],
        ..rule(
            &[
                PatternNode::Index(IndexOp::Add, 2, NO_SLOT),
                PatternNode::Index(IndexOp::Add, 2, NO_SLOT),
                PatternNode::Any(0),
                PatternNode::AnyConst(1),
                PatternNode::AnyConst(2),
            ],
            &[BuildNode::Index(IndexOp::Add, 2), BuildNode::Slot(0), BuildNode::Slot(3)],
        )
    },
    Rule {
        conditions: list![Cond {
            word: Word::Below,
            args: list![CondArg::Slot(1), CondArg::Const(Number::new(4))]
        }],
        ..rule(
            &[
                PatternNode::Index(IndexOp::Xor, 2, NO_SLOT),
                PatternNode::Any(0),
                PatternNode::Any(1),
            ],
            &[BuildNode::Slot(1)],
        )
    },
    // x | y = y | x, for ever.
    rule(
        &[PatternNode::Index(IndexOp::Or, 2, NO_SLOT), PatternNode::Any(0), PatternNode::Any(1)],
        &[
            BuildNode::Index(IndexOp::Or, 2),
            BuildNode::Index(IndexOp::Add, 2),
            BuildNode::Slot(0),
            BuildNode::Const(Number::new(1), 32),
            BuildNode::Slot(1),
        ],
    ),
    rule(
        &[PatternNode::Index(IndexOp::Mul, 2, NO_SLOT), PatternNode::Any(0), PatternNode::Any(1)],
        &[BuildNode::Index(IndexOp::Mul, 2)],
    ),
];

const ROOTS: &[&[RuleId]] =
    &[&[RuleId(0), RuleId(1)], &[], &[RuleId(4)], &[RuleId(9)], &[RuleId(3)], &[RuleId(2)]];
const TABLE: Rules<'static> = Rules {
    rules: RULES,
    names: &["zero", "merge", "small", "endless", "broken"],
    docs: &[],
    sets: &[RuleSet { language: Language::Index, isa: None, phase: 0, roots: ROOTS }],
    passes: &[],
    phases: &["all"],
};

fn var(arena: &mut ExprArena<'_>, variable: Variable) -> ExprId {
    arena.variable_node(variable).unwrap().1
}

#[test]
fn rewrites_from_the_leaves_and_traces() {
    let mut store = Store::new();
    let (mut arena, mut scratch) = store.split();
    let x = var(&mut arena, Variable::word());
    let mut sum = x;
    for _ in 0..4 {
        sum = arena.op_const(IndexOp::Add, sum, 3).unwrap();
    }
    let mut roots = [sum];
    let (mut fuel, mut entries) = (10, [None; 2]);
    let mut ring = Ring::new(&mut entries);
    let stats = simplify(&mut arena, &TABLE, 0, &mut roots, &mut scratch, &mut fuel, |rule, at| {
        ring.record(rule, at)
    })
    .unwrap();
    let twelve = arena.op_const(IndexOp::Add, x, 12).unwrap();
    assert_eq!(roots, [twelve]);
    assert_eq!((stats.applied, fuel, ring.total()), (3, 7, 3));
    assert!(ring.iter().count() == 2 && ring.iter().all(|applied| applied.rule == RuleId(1)));
}

#[test]
fn a_replacement_is_simplified_too() {
    let mut store = Store::new();
    let (mut arena, mut scratch) = store.split();
    let x = var(&mut arena, Variable::word());
    let a = arena.op_const(IndexOp::Add, x, 5).unwrap();
    let b = arena.op_const(IndexOp::Add, a, u64::from(u32::MAX) - 4).unwrap();
    let mut roots = [b];
    simplify(&mut arena, &TABLE, 0, &mut roots, &mut scratch, &mut 10, |_, _| {}).unwrap();
    assert_eq!(roots, [x]);
}

#[test]
fn commuting_words_match_in_either_order_and_conditions_choose() {
    let mut store = Store::new();
    let (mut arena, mut scratch) = store.split();
    let (small, large) =
        (var(&mut arena, Variable::word().below(4)), var(&mut arena, Variable::word()));
    let both = arena.op(IndexOp::Xor, &[small, large]).unwrap();
    let mut roots = [both];
    simplify(&mut arena, &TABLE, 0, &mut roots, &mut scratch, &mut 10, |_, _| {}).unwrap();
    assert_eq!(roots, [small]);
}

#[test]
fn out_of_fuel_leaves_everything_as_it_was() {
    let mut store = Store::new();
    let (mut arena, mut scratch) = store.split();
    let (x, y) = (var(&mut arena, Variable::word()), var(&mut arena, Variable::word()));
    let or = arena.op(IndexOp::Or, &[x, y]).unwrap();
    let (before, mut roots, mut fuel) = (arena.len(), [or], 5);
    let error = simplify(&mut arena, &TABLE, 0, &mut roots, &mut scratch, &mut fuel, |_, _| {})
        .unwrap_err();
    assert_eq!((error, roots, arena.len()), (RunError::Fuel { limit: 5 }, [or], before));
    // The arena is usable: equal nodes are still found.
    assert_eq!(arena.op(IndexOp::Or, &[y, x]).unwrap(), or);
    let one = arena.constant(1).unwrap();
    assert_eq!(usize::from(one.0), before);
}

#[test]
fn out_of_room_leaves_everything_as_it_was() {
    let mut store = Store::new();
    let (mut arena, mut scratch) = store.split();
    let (x, y) = (var(&mut arena, Variable::word()), var(&mut arena, Variable::word()));
    let or = arena.op(IndexOp::Or, &[x, y]).unwrap();
    let (before, mut roots) = (arena.len(), [or]);
    let error = simplify(&mut arena, &TABLE, 0, &mut roots, &mut scratch, &mut 1000, |_, _| {})
        .unwrap_err();
    assert_eq!(error, RunError::Graph(ExprError::Nodes { capacity: N as u16 }));
    assert_eq!((roots, arena.len()), ([or], before));
    let mut tiny: Vec<ExprId, 2> = Vec::new();
    let mut scratch = SimplifyScratch { work: &mut tiny, ..scratch };
    let error = simplify(&mut arena, &TABLE, 0, &mut roots, &mut scratch, &mut 1000, |_, _| {})
        .unwrap_err();
    assert_eq!(error, RunError::Work { capacity: 2 });
    let mut short = SimplifyScratch { forward: &mut [], ..scratch };
    let error =
        simplify(&mut arena, &TABLE, 0, &mut roots, &mut short, &mut 1000, |_, _| {}).unwrap_err();
    assert_eq!(error, RunError::Graph(ExprError::Scratch { needed: N as u16, lent: 0 }));
}

#[test]
fn malformed_tables_are_errors() {
    let mut store = Store::new();
    let (mut arena, mut scratch) = store.split();
    let x = var(&mut arena, Variable::word());
    for (op, rule) in [(IndexOp::Mul, RuleId(4)), (IndexOp::And, RuleId(9))] {
        let mut roots = [arena.op(op, &[x, x]).unwrap()];
        let error = simplify(&mut arena, &TABLE, 0, &mut roots, &mut scratch, &mut 10, |_, _| {})
            .unwrap_err();
        assert_eq!(error, RunError::BadRule { rule });
    }
}

#[test]
fn decisions_are_tried_depth_first() {
    let mut all = std::vec::Vec::new();
    let mut at = Some(Swaps::default());
    while let Some(swaps) = at {
        all.push(swaps.0);
        at = next_swaps(swaps, 2);
    }
    assert_eq!(all, [0b00, 0b10, 0b01, 0b11]);
    // Only the first decision mattered: the second is not varied.
    assert_eq!(next_swaps(Swaps(0), 1), Some(Swaps(1)));
    assert_eq!(next_swaps(Swaps(0), 0), None);
}
