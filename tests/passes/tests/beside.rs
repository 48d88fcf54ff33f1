//! A set of rules from outside the tree, beside the built-in one: as a static, without files.
#[path = "../beside/tidy.rs"]
mod tidy;

use lanebook::TABLES;
use lanebook::ir::{Node, verify};
use lanebook::passes::Event;
use lanebook::pipeline::{PassError, apply};
use lanebook::rewrite::RunError;
use lanebook_pass_tests::judge::meanings;
use lanebook_pass_tests::{SNIPPET, printed, with};
use lanebook_tables::{OpId, PatternNode, Rule, RuleId, RuleSet, Rules, Tables};

const TEXT: &str = "func @f(%x: tensor<8x8xf32, #a>, %p: memref<8x8xf32, #gmem>) {
  %y = neg %x : tensor<8x8xf32, #a>
  %z = neg %y : tensor<8x8xf32, #a>
  %c = convert_layout %z : tensor<8x8xf32, #a> -> tensor<8x8xf32, #b>
  %d = convert_layout %c : tensor<8x8xf32, #b> -> tensor<8x8xf32, #a>
  %m = max %d, %d : tensor<8x8xf32, #a>
  %n = neg %m : tensor<8x8xf32, #a>
  %s = sub %x, %n : tensor<8x8xf32, #a>
  tiled_store %s, %p[0, 0] : tensor<8x8xf32, #a> -> memref<8x8xf32, #gmem>
}
";

fn own() -> Tables<'static> {
    Tables { rules: tidy::RULES, ..TABLES }
}

#[test]
fn both_sets_run_over_one_program() {
    with(TEXT, SNIPPET, |program| {
        let mut work = Box::new(heapless::Vec::<Node, 256>::new());
        let mut fuel = 100;
        let mut seen: Vec<&str> = Vec::new();
        for (tables, pass) in [(own(), "tidy"), (TABLES, "remove-conversions"), (own(), "tidy")] {
            let rules = tables.rules;
            apply(&tables, pass, program, work.as_mut_view(), &mut fuel, |event| {
                if let Event::Rule { rule, .. } = event {
                    seen.push(rules.name(rule));
                }
            })
            .unwrap_or_else(|error| panic!("{pass}: {error:?}"));
            verify(program).expect("still well formed");
        }
        let text = printed(program);
        assert!(
            text.contains("= add %x, %x : tensor<8x8xf32, #a>")
                && !text.contains("neg")
                && !text.contains("convert"),
            "{text}"
        );
        let mut own: Vec<&str> = seen
            .iter()
            .copied()
            .filter(|name| ["neg_neg", "max_same", "sub_neg"].contains(name))
            .collect();
        own.sort_unstable();
        assert_eq!(own, ["max_same", "neg_neg", "sub_neg"]);
        assert!(seen.contains(&"convert_convert") || seen.contains(&"convert_same"), "{seen:?}");
        assert_eq!(
            apply(&TABLES, "tidy", program, work.as_mut_view(), &mut fuel, |_| {}),
            Err(PassError::Unknown),
            "each set has its own passes"
        );
    });
}

#[test]
fn the_judge_looks_at_foreign_rules_too() {
    // max(x, x) = x holds for all elements; the judge takes operations for unknown functions, so it
    // must object.
    with(TEXT, SNIPPET, |program| {
        let wanted = meanings(program);
        let mut work = Box::new(heapless::Vec::<Node, 256>::new());
        let stats =
            apply(&own(), "tidy", program, work.as_mut_view(), &mut 100, |_| {}).expect("it runs");
        assert!(stats.applied >= 3 && meanings(program) != wanted);
    });
}

#[test]
fn a_set_that_is_not_well_formed_is_an_error_and_changes_nothing() {
    static NONE: [PatternNode; 0] = [];
    let rule = tidy::RULES.rules[0];
    let negative = tidy::RULES.sets[0];
    let op = TABLES.op_named("neg").expect("neg");
    let mut roots = vec![&[][..]; op.index() + 1];
    roots[op.index()] = &[RuleId(77)];
    let set = RuleSet { roots: &roots, ..negative };
    let sets = [set];
    let missing = Rules { sets: &sets, ..tidy::RULES };
    let empty = [Rule { pattern: &NONE, ..rule }; 3];
    let far = [PatternNode::Tile(OpId(35), 200, 9), PatternNode::Any(250)];
    let far = [Rule { pattern: &far, ..rule }; 3];
    let cyclic = [Rule { replacement: &[], ..rule }; 3];
    for (name, rules) in [
        ("a rule that is not there", missing),
        ("patterns of nothing", Rules { rules: &empty, ..tidy::RULES }),
        ("slots and operands beyond all limits", Rules { rules: &far, ..tidy::RULES }),
        ("a replacement of nothing", Rules { rules: &cyclic, ..tidy::RULES }),
    ] {
        with(TEXT, SNIPPET, |program| {
            let before = printed(program);
            let mut work = Box::new(heapless::Vec::<Node, 256>::new());
            let tables = Tables { rules, ..TABLES };
            match apply(&tables, "tidy", program, work.as_mut_view(), &mut 100, |_| {}) {
                Err(PassError::Run(RunError::BadRule { .. })) => {}
                Ok(stats) => assert_eq!(stats.applied, 0, "{name}"),
                Err(error) => panic!("{name}: {error:?}"),
            }
            assert_eq!(printed(program), before, "{name}");
        });
    }
}
