//! Selection with a machine of seven instructions: vector and scalar registers, one scalar read a
//! vector instruction, literals in one place only.
use crate::expr::tests::{N, Store};
use crate::expr::{
    Arg, ExprId, InstSink, NodeChoice, Reg, RegBank, SelectError, SelectScratch, Selector,
    Variable, Want,
};
use lanebook_tables::{
    Arch, ArchAtom, ArchId, Atom, AtomClass, AtomCost, AtomId, BuildNode, ClassId, Cond, CondArg,
    Dispatch, IndexOp, Isa, IsaId, Language, List, NO_SLOT, Name, NameMap, Operand, PatternNode,
    RegisterClass, RegisterKind, Role, Rule, RuleId, RuleSet, Rules, SharedLimits, Status, Tables,
    TupleStyle, Weights, Word, list,
};

const VGPR: ClassId = ClassId(0);
const SGPR: ClassId = ClassId(1);

const fn operand(
    role: Role,
    class: ClassId,
    also: List<'static, ClassId>,
    range: &'static (i64, i64),
) -> Operand<'static> {
    Operand {
        name: Name::EMPTY,
        role,
        class,
        also,
        registers: 1,
        dtype: None,
        layout: None,
        extents: (0, 0),
        range,
        multiple: 1,
        implicit: false,
        vary: None,
    }
}
const NONE: &(i64, i64) = &(1, 0);
const LITERAL: &(i64, i64) = &(-0x8000_0000, 0xffff_ffff);
const V_DEF: Operand<'static> = operand(Role::Def, VGPR, list![], NONE);
const S_DEF: Operand<'static> = operand(Role::Def, SGPR, list![], NONE);
const V_ANY: Operand<'static> = operand(Role::Use, VGPR, list![SGPR], NONE);
const V_LITERAL: Operand<'static> = operand(Role::Use, VGPR, list![SGPR], LITERAL);
const V_ONLY: Operand<'static> = operand(Role::Use, VGPR, list![], NONE);
const S_LITERAL: Operand<'static> = operand(Role::Use, SGPR, list![], LITERAL);

const fn atom(operands: List<'static, &'static Operand<'static>>) -> Atom<'static> {
    Atom {
        note: None,
        class: AtomClass::Alu,
        isa: IsaId(0),
        template: lanebook_tables::Template(""),
        operands: lanebook_tables::Operands(operands),
        movement: None,
        matrix: None,
        more: None,
        means: list![],
        cost: AtomCost { issue: 1, cycles: 0 },
        does: None,
        counter: None,
        tags: list![],
        status: Status::Assumed,
    }
}

const V_MOV: AtomId = AtomId(0);
const S_MOV: AtomId = AtomId(1);
const V_ADD: AtomId = AtomId(2);
const V_SHL_ADD: AtomId = AtomId(3);
const S_ADD: AtomId = AtomId(4);
const TO_S: AtomId = AtomId(5);
const V_SHL: AtomId = AtomId(6);
const FUSED: AtomId = AtomId(7);
const ATOMS: &[Atom<'static>] = &[
    atom(list![&V_DEF, &V_LITERAL]),             // v_mov
    atom(list![&S_DEF, &S_LITERAL]),             // s_mov
    atom(list![&V_DEF, &V_LITERAL, &V_ONLY]),    // v_add
    atom(list![&V_DEF, &V_ANY, &V_ANY, &V_ANY]), // v_shl_add
    atom(list![&S_DEF, &S_LITERAL, &S_LITERAL]), // s_add
    atom(list![&S_DEF, &V_ONLY]),                // to_s
    atom(list![&V_DEF, &V_ANY, &V_ANY]),         // v_shl
    atom(list![&V_DEF, &V_ANY, &V_ANY]),         // missing
];

const fn rule(
    pattern: &'static [PatternNode],
    conditions: List<'static, Cond<'static>>,
    replacement: &'static [BuildNode],
) -> Rule<'static> {
    Rule {
        language: Language::Target,
        phase: 0,
        priority: 0,
        slots: 3,
        pattern,
        lets: list![],
        conditions,
        replacement,
    }
}
const fn inst(atom: AtomId, arity: u8) -> BuildNode {
    BuildNode::Inst(atom, arity)
}
const ADD: PatternNode = PatternNode::Index(IndexOp::Add, 2, NO_SLOT);
const SHL: PatternNode = PatternNode::Index(IndexOp::Shl, 2, NO_SLOT);
const X: PatternNode = PatternNode::Any(0);
const Y: PatternNode = PatternNode::Any(1);
const Z: PatternNode = PatternNode::Any(2);
const SX: BuildNode = BuildNode::Slot(0);
const SY: BuildNode = BuildNode::Slot(1);
const SZ: BuildNode = BuildNode::Slot(2);
const UNIFORM: List<'static, Cond<'static>> = list![
    Cond { word: Word::Uniform, args: list![CondArg::Slot(0)] },
    Cond { word: Word::NotConst, args: list![CondArg::Slot(0)] }
];
const NOT_CONST: List<'static, Cond<'static>> =
    list![Cond { word: Word::NotConst, args: list![CondArg::Slot(0)] }];
const RULES: &[Rule<'static>] = &[
    rule(&[PatternNode::AnyConst(0)], list![], &[inst(V_MOV, 1), SX]),
    rule(&[PatternNode::AnyConst(0)], list![], &[inst(S_MOV, 1), SX]),
    rule(&[ADD, X, Y], list![], &[inst(V_ADD, 2), SX, SY]),
    rule(&[ADD, SHL, X, Y, Z], list![], &[inst(V_SHL_ADD, 3), SX, SY, SZ]),
    rule(&[ADD, X, Y], list![], &[inst(S_ADD, 2), SX, SY]),
    rule(&[X], UNIFORM, &[inst(TO_S, 1), SX]),
    rule(&[X], NOT_CONST, &[inst(V_MOV, 1), SX]),
    rule(&[SHL, X, Y], list![], &[inst(V_SHL, 2), SX, SY]),
    rule(&[ADD, X, Y], list![], &[inst(FUSED, 2), SX, SY]),
];
const ROOTS: &[&[RuleId]] = &[
    &[RuleId(8), RuleId(2), RuleId(3), RuleId(4)],
    &[],
    &[],
    &[],
    &[],
    &[],
    &[RuleId(7)],
    &[],
    &[],
    &[],
    &[],
    &[],
    &[RuleId(0), RuleId(1)],
    &[RuleId(5), RuleId(6)],
];

const fn class(name: &'static str, kind: RegisterKind) -> RegisterClass<'static> {
    RegisterClass {
        name,
        prefix: "",
        bits: 32,
        kind,
        declared: "",
        pool: (0, 0),
        tile_most: 0,
        tuple_align: 1,
    }
}
const ISA: Isa<'static> = Isa {
    name: "toy",
    classes: &[class("vgpr", RegisterKind::Vector), class("sgpr", RegisterKind::Scalar)],
    tuples: TupleStyle::Range,
    prologue: &[],
    param: &[],
    param_block: &[],
    param_pointer: &[],
    param_separator: "",
    register_decl: &[],
    shared_decl: &[],
    shared_decl_dynamic: &[],
    epilogue: &[],
    label_suffix: ":",
    comment: "//",
    param_base: None,
    thread_register: None,
    read_thread: None,
    block_registers: &[],
    read_block: &[],
    read_blocks: &[],
    param_blocks: &[],
    flags: &[],
    divide: None,
    leading_zeros: None,
    compare_signed: None,
    load_param32: AtomId(0),
    load_param64: AtomId(0),
    param_address: None,
    make_uniform: None,
    shared_base: None,
    branch: AtomId(0),
    branch_if: AtomId(0),
    compare_less: AtomId(0),
    guard: None,
    end: AtomId(0),
    nop: None,
    dispatch: Dispatch::EMPTY,
};
const fn have(atom: u16) -> ArchAtom {
    ArchAtom { atom: AtomId(atom), native: true, documented_for_arch: true }
}
const ARCH: Arch<'static> = Arch {
    name: "toy",
    target: "toy",
    vendor: "",
    isa: IsaId(0),
    isa_version: "",
    wave_lanes: &[64],
    max_threads: 1024,
    shared: SharedLimits { static_bytes: 0, max_bytes: 0 },
    banks: &[],
    atoms: &[have(0), have(1), have(2), have(3), have(4), have(5), have(6)],
    dispatch: Dispatch::EMPTY,
    features: &[],
    sync: &[],
    counters: &[],
    hazards: &[],
    inline_integers: (-16, 64),
    flushed: &[],
    scalar_reads: 1,
    sources: &[],
};
const WEIGHTS: Weights = Weights::NONE;
static TOY: Tables<'static> = Tables {
    isas: &[ISA],
    archs: &[ARCH],
    atoms: ATOMS,
    dtypes: &[],
    ops: &[],
    rules: Rules {
        names: &[],
        docs: &[],
        rules: RULES,
        sets: &[RuleSet {
            language: Language::Target,
            isa: Some(IsaId(0)),
            phase: 0,
            roots: ROOTS,
        }],
        passes: &[],
        phases: &["select"],
    },
    accesses: &[],
    tags: &[],
    sources: &[],
    units: lanebook_tables::Units::EMPTY,
    weights: WEIGHTS,
    policies: &[],
    sequences: &[],
    seeding: lanebook_tables::Seeding::EMPTY,
    contract: lanebook_tables::Contract::EMPTY,
    arch_names: NameMap::EMPTY,
    atom_names: NameMap::EMPTY,
    dtype_names: NameMap::EMPTY,
    op_names: NameMap::EMPTY,
    numbered_atoms: &[],
    named_families: &[],
};

#[derive(Default)]
struct Sink {
    steps: std::vec::Vec<(AtomId, std::vec::Vec<Arg>)>,
    next: u16,
    limit: Option<usize>,
}
impl InstSink for Sink {
    type Error = ();
    fn fresh(&mut self, class: ClassId, count: u16) -> Result<Reg, ()> {
        self.next += 1;
        Ok(Reg { class, first: 100 + self.next, count })
    }
    fn push(&mut self, atom: AtomId, args: &[Arg]) -> Result<(), ()> {
        if self.limit == Some(self.steps.len()) {
            return Err(());
        }
        self.steps.push((atom, args.to_vec()));
        Ok(())
    }
}
impl Sink {
    fn atoms(&self) -> std::vec::Vec<AtomId> {
        self.steps.iter().map(|(atom, _)| *atom).collect()
    }
}

const V: Reg = Reg { class: VGPR, first: 1, count: 1 };
const S: Reg = Reg { class: SGPR, first: 2, count: 1 };
const T: Reg = Reg { class: SGPR, first: 3, count: 1 };
const VARIABLES: [Option<Reg>; 4] = [Some(V), Some(S), Some(T), None];

struct Scratch {
    memo: [[Option<Reg>; 2]; N],
    choice: [[NodeChoice; 2]; N],
    uses: [u16; N],
}

fn check(
    build: impl Fn(&mut crate::expr::ExprArena<'_>, [ExprId; 4]) -> std::vec::Vec<Want>,
    verify: impl Fn(Result<std::vec::Vec<Reg>, SelectError<()>>, &Sink),
) {
    let mut store = Store::new();
    let mut arena = store.arena();
    let words = [
        Variable::word(),
        Variable::word().uniform(),
        Variable::word().uniform(),
        Variable::word(),
    ];
    let leaves = words.map(|variable| arena.variable_node(variable).unwrap().1);
    let wants = build(&mut arena, leaves);
    let mut scratch =
        Scratch { memo: [[None; 2]; N], choice: [[NodeChoice::NONE; 2]; N], uses: [0; N] };
    let lent = SelectScratch {
        memo: &mut scratch.memo,
        choice: &mut scratch.choice,
        uses: &mut scratch.uses,
    };
    let mut selector = Selector::new(&TOY, ArchId(0), 0, lent).unwrap();
    let mut sink = Sink::default();
    let mut out = [None; 8];
    let result = selector.select(&arena, &VARIABLES, &wants, &mut out, &mut sink);
    verify(result.map(|()| out.into_iter().flatten().collect()), &sink);
}

fn vector(node: ExprId) -> Want {
    Want { node, place: RegBank::Vector }
}

#[test]
fn a_shift_used_once_is_swallowed() {
    check(
        |arena, [v, s, ..]| {
            let shifted = arena.op_const(IndexOp::Shl, v, 4).unwrap();
            std::vec![vector(arena.op(IndexOp::Add, &[shifted, s]).unwrap())]
        },
        |result, sink| {
            assert_eq!(
                sink.steps,
                [(
                    V_SHL_ADD,
                    std::vec![Arg::Reg(result.unwrap()[0]), Arg::Reg(V), Arg::Imm(4), Arg::Reg(S)]
                )]
            );
        },
    );
}

#[test]
fn a_shared_sum_is_computed_once() {
    check(
        |arena, [v, s, t, _]| {
            let sum = arena.op(IndexOp::Add, &[v, s]).unwrap();
            let a = arena.op(IndexOp::Add, &[sum, t]).unwrap();
            let b = arena.op_const(IndexOp::Add, sum, 7).unwrap();
            std::vec![vector(a), vector(b)]
        },
        |result, sink| {
            assert_eq!(result.unwrap().len(), 2);
            assert_eq!(sink.atoms(), [V_ADD, V_ADD, V_ADD]);
        },
    );
}

#[test]
fn two_scalars_do_not_fit_one_vector_instruction() {
    check(
        |arena, [v, s, t, _]| {
            let shifted = arena.op(IndexOp::Shl, &[v, s]).unwrap();
            std::vec![vector(arena.op(IndexOp::Add, &[shifted, t]).unwrap())]
        },
        |result, sink| {
            result.unwrap();
            // Swallowing costs a copy of one scalar; two instructions either way, and each reads
            // one scalar.
            assert_eq!(sink.steps.len(), 2);
            for (_, args) in &sink.steps {
                assert!(
                    args.iter()
                        .filter(|arg| matches!(arg, Arg::Reg(reg) if reg.class == SGPR))
                        .count()
                        <= 1
                );
            }
        },
    );
}

#[test]
fn literals_go_where_they_fit_else_into_a_register() {
    check(
        |arena, [v, ..]| std::vec![vector(arena.op_const(IndexOp::Add, v, 0x1234).unwrap())],
        |result, sink| {
            assert_eq!(
                sink.steps,
                [(V_ADD, std::vec![Arg::Reg(result.unwrap()[0]), Arg::Imm(0x1234), Arg::Reg(V)])]
            )
        },
    );
    check(
        |arena, [v, ..]| std::vec![vector(arena.op_const(IndexOp::Shl, v, 0x1234).unwrap())],
        |result, sink| {
            result.unwrap();
            assert!(matches!(sink.atoms().as_slice(), [V_MOV | S_MOV, V_SHL]));
        },
    );
}

#[test]
fn uniform_values_stay_scalar_and_others_cannot_become_so() {
    check(
        |arena, [_, s, t, _]| {
            std::vec![Want {
                node: arena.op(IndexOp::Add, &[s, t]).unwrap(),
                place: RegBank::Scalar
            }]
        },
        |result, sink| assert!(result.unwrap()[0].class == SGPR && sink.atoms() == [S_ADD]),
    );
    check(
        |arena, [_, s, t, _]| {
            std::vec![Want { node: arena.op(IndexOp::Add, &[s, t]).unwrap(), place: RegBank::Any }]
        },
        |result, sink| assert!(result.is_ok() && sink.steps.len() == 1),
    );
    check(
        |_, [_, s, ..]| std::vec![vector(s)],
        |result, sink| assert!(result.unwrap()[0].class == VGPR && sink.atoms() == [V_MOV]),
    );
    check(
        |arena, [v, s, ..]| {
            std::vec![Want {
                node: arena.op(IndexOp::Add, &[v, s]).unwrap(),
                place: RegBank::Scalar
            }]
        },
        |result, sink| {
            assert!(
                matches!(result, Err(SelectError::NoInstruction { scalar: true, .. }))
                    && sink.steps.is_empty()
            )
        },
    );
}

#[test]
fn what_no_rule_covers_is_an_error() {
    check(
        |arena, [v, s, ..]| std::vec![vector(arena.op(IndexOp::Mul, &[v, s]).unwrap())],
        |result, sink| {
            assert!(
                matches!(
                    result,
                    Err(SelectError::NoInstruction { scalar: false, op: Some(IndexOp::Mul), .. })
                ) && sink.steps.is_empty()
            )
        },
    );
    check(
        |_, [.., unknown]| std::vec![vector(unknown)],
        |result, _| assert!(matches!(result, Err(SelectError::NoInstruction { .. }))),
    );
}

#[test]
fn calls_share_work_and_errors_are_values() {
    let mut store = Store::new();
    let mut arena = store.arena();
    let (_, v) = arena.variable_node(Variable::word()).unwrap();
    let sum = arena.op_const(IndexOp::Add, v, 9).unwrap();
    let more = arena.op(IndexOp::Add, &[sum, v]).unwrap();
    let mut scratch =
        Scratch { memo: [[None; 2]; N], choice: [[NodeChoice::NONE; 2]; N], uses: [0; N] };
    fn lend(scratch: &mut Scratch) -> SelectScratch<'_> {
        SelectScratch {
            memo: &mut scratch.memo,
            choice: &mut scratch.choice,
            uses: &mut scratch.uses,
        }
    }
    assert!(matches!(
        Selector::new(&TOY, ArchId(1), 0, lend(&mut scratch)).err(),
        Some(SelectError::UnknownArch(ArchId(1)))
    ));
    assert!(matches!(
        Selector::new(&TOY, ArchId(0), 5, lend(&mut scratch)).err(),
        Some(SelectError::NoRules { phase: 5, .. })
    ));
    let mut selector = Selector::new(&TOY, ArchId(0), 0, lend(&mut scratch)).unwrap();
    let (mut sink, mut out) = (Sink::default(), [None; 1]);
    selector.select(&arena, &VARIABLES, &[vector(sum)], &mut out, &mut sink).unwrap();
    assert_eq!(selector.computed(sum), out[0]);
    selector.select(&arena, &VARIABLES, &[vector(more)], &mut out, &mut sink).unwrap();
    assert_eq!(sink.atoms(), [V_ADD, V_ADD], "the first sum is not computed again");
    assert_eq!(
        selector.select(&arena, &VARIABLES, &[vector(sum)], &mut [], &mut sink),
        Err(SelectError::Scratch { needed: 1, lent: 0 })
    );
    selector.forget_from(0);
    assert_eq!(selector.computed(sum), None);
    let mut full = Sink { limit: Some(0), ..Sink::default() };
    assert_eq!(
        selector.select(&arena, &VARIABLES, &[vector(sum)], &mut out, &mut full),
        Err(SelectError::Sink(()))
    );
    let mut short = SelectScratch { memo: &mut [], choice: &mut [], uses: &mut [] };
    let _ = &mut short;
    let mut selector = Selector::new(&TOY, ArchId(0), 0, short).unwrap();
    assert_eq!(
        selector.select(&arena, &VARIABLES, &[vector(sum)], &mut out, &mut sink),
        Err(SelectError::Scratch { needed: arena.len() as u16, lent: 0 })
    );
}
