//! A conversion in rounds: what is wrong about its rounds, in the plan or in the order of steps, is
//! found.
#![allow(missing_docs)]
use lanebook::emit::step::{Inst, InstKind};
use lanebook::{TABLES, check};
use lanebook_kernels::mutants::found;
use lanebook_kernels::try_with_plan;

const PROGRAM: &str = include_str!("../programs/converted_in_rounds.tile");

#[test]
fn planted_faults_in_rounds_are_found() {
    for arch in ["sm_80", "gfx1100", "gfx1200"] {
        let faults = try_with_plan(PROGRAM, arch, |program, compiled, _| {
            let exchange = compiled.plan.exchanges[0];
            assert_eq!(exchange.rounds.len(), 2, "{arch}: a quarter at a time");
            assert!(check::plan(&TABLES, program, &compiled.plan).is_ok());
            let mut planted = 0;
            // Rounds that are no rounds: fewer than there are, or by another bit.
            let mut rounds = vec![Vec::new()];
            for k in 0..exchange.from.shape.total() {
                if !exchange.rounds.as_slice().contains(&(1 << k)) {
                    rounds.push(vec![exchange.rounds.as_slice()[0], 1 << k]);
                }
            }
            rounds.push(exchange.rounds.as_slice().iter().rev().copied().collect());
            for wrong in rounds {
                let own = &mut compiled.plan.exchanges[0].rounds;
                *own = Default::default();
                wrong.iter().for_each(|e| assert!(own.push(*e)));
                let said = check::plan(&TABLES, program, &compiled.plan);
                assert!(said.is_err(), "{arch}: rounds by {wrong:?}");
                compiled.plan.exchanges[0].rounds = exchange.rounds;
                planted += 1;
            }
            // Steps of one round in another, and rounds that nothing keeps apart.
            let steps: Vec<Inst> = compiled.steps.to_vec();
            let moves = |step: &Inst| {
                step.purpose == InstKind::Move && usize::from(step.origin) == exchange.op.index()
            };
            let own: Vec<usize> = (0..steps.len()).filter(|at| moves(&steps[*at])).collect();
            for pair in own.windows(2).filter(|p| steps[p[0]].atom != steps[p[1]].atom) {
                let mut swapped = steps.clone();
                swapped.swap(pair[0], pair[1]);
                assert!(found(program, compiled, &swapped).is_some(), "{arch}: {pair:?} swapped");
                let mut open = steps.clone();
                open.drain(pair[0] + 1..pair[1]);
                assert!(found(program, compiled, &open).is_some(), "{arch}: {pair:?} not apart");
                planted += 2;
            }
            planted
        });
        let faults = faults.unwrap_or_else(|e| panic!("{arch}: {e}"));
        assert!(faults > 20, "{arch}: {faults} faults");
    }
}
