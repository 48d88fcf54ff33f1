//! How long simplification and selection of one address take: the best of many rounds.
use lanebook::TABLES;
use lanebook::expr::{BitColumn, Combine, RegBank, Variable, Want, from_bits};
use lanebook_selection::machine::Recorder;
use lanebook_selection::{Bench, register};
use lanebook_tables::RegisterKind;
use std::hint::black_box;
use std::time::Instant;

fn main() {
    const ROUNDS: u32 = 2000;
    for name in ["sm_80", "gfx950"] {
        let arch = TABLES.arch_named(name).expect("known architecture");
        let mut bench = Bench::default();
        let mut best = [f64::MAX; 4];
        let mut counts = (0, 0, 0);
        for _ in 0..ROUNDS {
            let mut session = bench.session();
            let start = Instant::now();
            let thread = session.arena.variable_node(Variable::word().below(128)).expect("room").1;
            let columns = [128 ^ 16, 256 ^ 32, 512 ^ 64, 1024, 16, 8192];
            let columns: Vec<BitColumn> = (0u8..)
                .zip(columns)
                .map(|(bit, column)| BitColumn { value: thread, bit, column })
                .collect();
            let built = Instant::now();
            let root = from_bits(&mut session.arena, &columns, Combine::Xor, 0).expect("room");
            let from = Instant::now();
            let mut roots = [root];
            let stats = session.simplify(&TABLES, &mut roots, &mut 10_000).expect("simplifies");
            let simple = Instant::now();
            let mut selector = session.selector(&TABLES, arch);
            let created = Instant::now();
            let variables = [register(&TABLES, arch, RegisterKind::Vector, 32, 1)];
            let mut recorder = Recorder::new(&variables);
            let mut out = [None];
            let before = Instant::now();
            selector
                .select(
                    &session.arena,
                    &variables,
                    &[Want { node: roots[0], place: RegBank::Vector }],
                    &mut out,
                    &mut recorder,
                )
                .expect("selects");
            let done = Instant::now();
            black_box(&out);
            let _ = start;
            for (total, span) in
                best.iter_mut().zip([from - built, simple - from, created - simple, done - before])
            {
                *total = total.min(span.as_secs_f64() * 1e6);
            }
            counts = (session.arena.len(), stats.visited, recorder.steps.len());
        }
        let [build, simplify, create, select] = best;
        println!(
            "{name}: {} nodes, {} visited, {} steps: build {build:.2} us, simplify {simplify:.2} us, new selector {create:.2} us, select {select:.2} us",
            counts.0, counts.1, counts.2
        );
    }
}
