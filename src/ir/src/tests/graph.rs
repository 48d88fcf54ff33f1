//! The tile IR under the rule engine: with rules written here, and with room and fuel that end too
//! early.
use super::support::*;
use crate::parse;
use crate::rewrite::{RunError, Stats, Work, run};
use crate::verify;
use crate::{ErrorKind, Node, Pool, Program, Storage, TileGraph};
use lanebook_tables::{
    BuildNode, Cond, CondArg, Language, List, NO_SLOT, OpId, OpRole, PatternNode, Rule, RuleId,
    RuleSet, Rules, TileBuild, Word, list,
};
use std::boxed::Box;
use std::string::String;
use std::vec::Vec;

fn op(name: &str) -> OpId {
    tables().op_named(name).unwrap()
}

fn rule(
    pattern: &'static [PatternNode],
    conditions: List<'static, Cond<'static>>,
    replacement: Vec<BuildNode>,
) -> Rule<'static> {
    Rule {
        language: Language::Tile,
        phase: 0,
        priority: 0,
        slots: 4,
        pattern,
        lets: list![],
        conditions,
        replacement: Box::leak(replacement.into_boxed_slice()),
    }
}

/// Runs three rules over a program: a conversion to the same layout goes; of two in a row one
/// stays; a conversion before an elementwise operation of one operand moves behind it.
fn apply(
    program: &mut Program<'_, '_>,
    fuel: u32,
    room: usize,
) -> Result<Stats, RunError<ErrorKind>> {
    let convert = |like, layout| {
        BuildNode::Tile(TileBuild {
            op: Some(op("convert_layout")),
            arity: 1,
            like,
            layout,
            through: NO_SLOT,
        })
    };
    let list = [
        rule(
            &[PatternNode::Role(OpRole::Convert, 0, 1), PatternNode::Any(1)],
            list![
                Cond { word: Word::SameLayout, args: list![CondArg::Slot(0), CondArg::Slot(1)] },
                Cond { word: Word::SameSpace, args: list![CondArg::Slot(0), CondArg::Slot(1)] },
                Cond { word: Word::InRegisters, args: list![CondArg::Slot(0)] },
            ],
            std::vec![BuildNode::Slot(1)],
        ),
        rule(
            &[
                PatternNode::Role(OpRole::Convert, 0, 1),
                PatternNode::Role(OpRole::Convert, 2, 1),
                PatternNode::Any(1),
            ],
            list![Cond { word: Word::SingleUse, args: list![CondArg::Slot(2)] }],
            std::vec![convert(0, NO_SLOT), BuildNode::Slot(1)],
        ),
        rule(
            &[
                PatternNode::Role(OpRole::Elementwise, 0, 1),
                PatternNode::Role(OpRole::Convert, 2, 1),
                PatternNode::Any(1),
            ],
            list![],
            std::vec![
                convert(0, NO_SLOT),
                BuildNode::Tile(TileBuild {
                    op: None,
                    arity: 1,
                    like: 0,
                    layout: 1,
                    through: NO_SLOT
                }),
                BuildNode::Slot(1),
            ],
        ),
    ];
    let rules = Rules { rules: &list, ..Rules::EMPTY };
    let folds = [RuleId(0), RuleId(1)];
    let pushes = [RuleId(2)];
    let mut roots: Vec<&[RuleId]> = std::vec![&[]; tables().ops.len()];
    roots[op("convert_layout").index()] = &folds;
    roots[op("exp").index()] = &pushes;
    let set = RuleSet { language: Language::Tile, isa: None, phase: 0, roots: &roots };
    let mut list = heapless::Vec::<Node, 64>::new();
    let mut short = heapless::Vec::<Node, 4>::new();
    let mut work = Work::new(if room > 4 { list.as_mut_view() } else { short.as_mut_view() });
    let mut graph = TileGraph::new(program);
    graph.push_all(&mut work)?;
    let mut fuel = fuel;
    run(&mut graph, &rules, &set, &mut work, &mut fuel, |_, _| {})
}

const TEXT: &str = "%a = tiled_load %p : memref<8x8xf16, #smem> -> tensor<8x8xf16, #x>
%b = convert_layout %a : tensor<8x8xf16, #x> -> tensor<8x8xf16, #y>
%c = convert_layout %b : tensor<8x8xf16, #y> -> tensor<8x8xf16, #z>
scf.for %i = 0 to %n step 1 {
  %e = exp %c {fast} : tensor<8x8xf16, #z>
  %f = convert_layout %e : tensor<8x8xf16, #z> -> tensor<8x8xf16, #x>
  tiled_store %f, %q[%i, 0] : tensor<8x8xf16, #x> -> memref<?x8xf16>
}
";

#[test]
fn conversions_fold() {
    let mut storage = small();
    let mut program = parse(storage.pools(), tables(), TEXT, SNIPPET).unwrap();
    let stats = apply(&mut program, 100, 64).unwrap();
    verify(&mut program).unwrap();
    assert_eq!(
        printed(&program),
        "%a = tiled_load %p : memref<8x8xf16, #smem> -> tensor<8x8xf16, #x>
scf.for %i = 0 to %n step 1 {
  %f = exp %a {fast} : tensor<8x8xf16, #x>
  tiled_store %f, %q[%i, 0] : tensor<8x8xf16, #x> -> memref<?x8xf16, #gmem>
}
"
    );
    assert!(stats.applied >= 4, "{stats:?}");
}

#[test]
fn out_of_fuel_or_room_changes_nothing() {
    for fuel in 0..4 {
        let mut storage = small();
        let mut program = parse(storage.pools(), tables(), TEXT, SNIPPET).unwrap();
        let before = (printed(&program), program.pools.snapshot());
        assert_eq!(apply(&mut program, fuel, 64), Err(RunError::Fuel { limit: fuel }));
        assert_eq!((printed(&program), program.pools.snapshot()), before);
    }
    let mut storage = small();
    let mut program = parse(storage.pools(), tables(), TEXT, SNIPPET).unwrap();
    let before = (printed(&program), program.pools.snapshot());
    assert_eq!(apply(&mut program, 100, 4), Err(RunError::Work { capacity: 4 }));
    assert_eq!((printed(&program), program.pools.snapshot()), before);
}

/// Storage that just holds the program: operations, values, uses or the journal run out in the
/// middle of a rewrite.
#[test]
fn full_pools_change_nothing() {
    fn check<const O: usize, const V: usize, const U: usize, const J: usize>() -> Pool {
        let mut storage = Box::new(Storage::<O, V, U, 32, 16, 8, J>::new());
        let mut program = parse(storage.pools(), tables(), TEXT, SNIPPET).unwrap();
        let before = (printed(&program), program.pools.snapshot());
        let Err(RunError::Graph(ErrorKind::Capacity { pool, .. })) = apply(&mut program, 100, 64)
        else {
            panic!("{O} {V} {U} {J}")
        };
        assert_eq!((printed(&program), program.pools.snapshot()), before);
        pool
    }
    let pools = [
        check::<7, 32, 32, 512>(),
        check::<16, 12, 32, 512>(),
        check::<16, 32, 12, 512>(),
        check::<16, 32, 32, 20>(),
    ];
    assert_eq!(pools, [Pool::Ops, Pool::Values, Pool::Uses, Pool::Journal]);
}

/// After a successful run nothing is open: the journal is empty and later changes are not recorded.
#[test]
fn a_run_leaves_no_mark() {
    let mut storage = small();
    let mut program = parse(storage.pools(), tables(), TEXT, SNIPPET).unwrap();
    apply(&mut program, 100, 64).unwrap();
    let journal = program.usage().into_iter().find(|usage| usage.pool == Pool::Journal).unwrap();
    assert_eq!(journal.used, 0);
}

#[test]
fn long_chains_fold() {
    let mut text =
        String::from("%x0 = tiled_load %p : memref<8x8xf16, #smem> -> tensor<8x8xf16, #l0>\n");
    for number in 1..=40 {
        text += &std::format!(
            "%x{number} = convert_layout %x{} : tensor<8x8xf16, #l{}> -> tensor<8x8xf16, #l{number}>\n",
            number - 1,
            number - 1
        );
    }
    text += "use %x40\n";
    let mut storage = Box::new(BigStorage::new());
    let mut program = parse(storage.pools(), tables(), &text, SNIPPET).unwrap();
    apply(&mut program, 1000, 64).unwrap();
    verify(&mut program).unwrap();
    assert_eq!(program.all().count(), 3);
}
