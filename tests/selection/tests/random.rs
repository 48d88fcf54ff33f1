//! Simplified and selected forms of random terms have the value of the term.
use lanebook::TABLES;
use lanebook::expr::{ExprId, Reg, evaluate};
use lanebook_selection::machine::{Registers, legal, run};
use lanebook_selection::random::{Random, VARIABLES, term, values};
use lanebook_selection::{Bench, NODES, register};
use lanebook_tables::RegisterKind;

const ROUNDS: u64 = 3000;

#[test]
fn simplified_terms_keep_their_values() {
    let mut bench = Bench::default();
    let mut applied = 0;
    for seed in 0..ROUNDS {
        let mut random = Random(seed);
        let mut session = bench.session();
        let leaves: Vec<ExprId> = VARIABLES
            .iter()
            .map(|variable| session.arena.variable_node(*variable).unwrap().1)
            .collect();
        let (size, wide) = (1 + random.below(14) as u32, random.below(3) == 0);
        let root = term(&mut session.arena, &mut random, &leaves, size, wide).unwrap();
        let mut roots = [root];
        let mut fuel = 2000;
        applied += session
            .simplify(&TABLES, &mut roots, &mut fuel)
            .unwrap_or_else(|error| panic!("seed {seed}: {error:?}"))
            .applied;
        let mut scratch = vec![0; NODES];
        for _ in 0..16 {
            let given = values(&mut random);
            let before = evaluate(&session.arena, root, &given, &mut scratch);
            let after = evaluate(&session.arena, roots[0], &given, &mut scratch);
            assert_eq!(before, after, "seed {seed}, variables {given:x?}");
            let facts = session.arena.facts(roots[0]).unwrap();
            let value = after.unwrap();
            assert!(
                value & facts.zeros == 0 && value & facts.ones == facts.ones && value <= facts.high,
                "seed {seed}: facts {facts:x?} of {value:#x}"
            );
        }
    }
    assert!(applied > 1000, "rules are applied");
}

#[test]
fn selected_instructions_compute_the_term() {
    for name in ["sm_80", "gfx950"] {
        let arch = TABLES.arch_named(name).expect("known architecture");
        let scalars = TABLES
            .isa(TABLES.arch(arch).unwrap().isa)
            .unwrap()
            .classes
            .iter()
            .any(|class| class.kind == RegisterKind::Scalar);
        let mut bench = Bench::default();
        for seed in 0..ROUNDS {
            let mut random = Random(seed);
            let mut session = bench.session();
            let leaves: Vec<ExprId> = VARIABLES
                .iter()
                .map(|variable| session.arena.variable_node(*variable).unwrap().1)
                .collect();
            let (size, wide) = (1 + random.below(14) as u32, random.below(3) == 0);
            let original = term(&mut session.arena, &mut random, &leaves, size, wide).unwrap();
            let mut roots = [original];
            let variables: Vec<Option<Reg>> = (0..6u16)
                .map(|number| {
                    let kind = if scalars && number >= 4 {
                        RegisterKind::Scalar
                    } else {
                        RegisterKind::Vector
                    };
                    register(
                        &TABLES,
                        arch,
                        kind,
                        if number == 5 { 64 } else { 32 },
                        100 + 2 * number,
                    )
                })
                .collect();
            let (recorder, out) = session
                .emit(&TABLES, arch, &variables, &mut roots)
                .unwrap_or_else(|error| panic!("{name}, seed {seed}: {error:?}"));
            legal(&TABLES, arch, &recorder)
                .unwrap_or_else(|line| panic!("{name}, seed {seed}: {line}"));
            let mut scratch = vec![0; NODES];
            for _ in 0..8 {
                let given = values(&mut random);
                let mut registers: Registers = variables
                    .iter()
                    .flatten()
                    .map(|reg| reg.first)
                    .zip(given.iter().copied())
                    .collect();
                run(&TABLES, &recorder.steps, &mut registers);
                let wanted = evaluate(&session.arena, original, &given, &mut scratch).unwrap();
                assert_eq!(
                    registers[&out[0].first],
                    wanted,
                    "{name}, seed {seed}\n{}",
                    recorder.text(&TABLES)
                );
            }
        }
    }
}
