//! Programs mean the same before and after every pass, and before and after every single
//! application of a rule.
use lanebook::TABLES;
use lanebook::ir::{ErrorKind, Node, TileGraph};
use lanebook::passes::{Analysis, Event};
use lanebook::pipeline::apply;
use lanebook::remat::bill;
use lanebook::rewrite::{Bound, Graph, RunError, Terms, TileMake, View, Work, run};
use lanebook_pass_tests::generate::program;
use lanebook_pass_tests::judge::{PASSES, judge, meanings};
use lanebook_pass_tests::laid_out;
use lanebook_pass_tests::{SNIPPET, printed, texts, with};
use lanebook_tables::{IndexOp, Language, Word};
use std::collections::BTreeMap;

#[test]
fn passes_keep_the_meaning_of_generated_programs() {
    let mut total: BTreeMap<&str, u32> = BTreeMap::new();
    for seed in 0..1_000 {
        let text = program(seed, 3 + seed as usize % 9);
        for (pass, changes) in judge(&format!("program {seed}"), &text, &PASSES) {
            *total.entry(pass).or_default() += changes;
        }
        // In another order, so that each pass also sees what the others have not yet cleaned up.
        let reversed: Vec<&'static str> = PASSES.iter().rev().copied().collect();
        judge(&format!("program {seed}, reversed"), &text, &reversed);
    }
    println!("{total:?}");
    for pass in PASSES {
        assert!(
            total.get(pass).is_some_and(|changes| *changes > 200),
            "{pass} had next to nothing to do: {total:?}"
        );
    }
}

/// Layouts that the algebra knows: conversions are weighed through transpositions, reductions,
/// slices and reshapes, and every time the bill is smaller or nothing happened.
#[test]
fn layouts_are_weighed_without_changing_the_meaning() {
    let (mut weighed, mut before, mut after) = (0, 0u64, 0u64);
    for seed in 0..400 {
        let text = laid_out::program(seed, 4 + seed as usize % 12);
        judge(&format!("program {seed}"), &text, &["remove-conversions", "remove-dead-args"]);
        with(&text, SNIPPET, |program| {
            let old = bill(program).expect("there is room");
            let mut work = Box::new(heapless::Vec::<Node, 8192>::new());
            let mut fuel = 100_000;
            let mut changed = false;
            apply(&TABLES, "remove-conversions", program, work.as_mut_view(), &mut fuel, |event| {
                changed |=
                    matches!(event, Event::Change { analysis: Analysis::WeighConversions, .. });
            })
            .expect("it runs");
            let new = bill(program).expect("there is room");
            assert!(
                new.total() <= old.total(),
                "program {seed} grew dearer: {old:?} {new:?}\n{text}\n{}",
                printed(program)
            );
            weighed += usize::from(changed);
            (before, after) = (before + old.executed, after + new.executed);
            // Again: nothing is left to do that the same questions would find.
            let again = printed(program);
            apply(&TABLES, "remove-conversions", program, work.as_mut_view(), &mut fuel, |_| {})
                .expect("it runs");
            let last = bill(program).expect("there is room");
            assert!(last.total() <= new.total(), "program {seed}: {again}\n{}", printed(program));
        });
    }
    println!("{weighed} programs changed, conversions {before} -> {after}");
    assert!(weighed > 250 && after * 2 < before, "{weighed}: {before} -> {after}");
}

#[test]
fn passes_keep_the_meaning_of_the_seeds_and_of_real_kernels() {
    for folder in ["seed", "ttgir"] {
        for (name, text) in texts(folder) {
            judge(&name, &text, &PASSES);
        }
    }
}

/// The judge sees a changed operand, order and element.
#[test]
fn the_judge_tells_programs_apart() {
    let told = |text: &str| with(text, SNIPPET, |program| meanings(program));
    let text = program(7, 8);
    assert_eq!(told(&text), told(&text));
    let mut differ = 0;
    for (at, line) in text.lines().enumerate() {
        let changed = if line.contains(" = add ") {
            line.replace(" = add ", " = sub ")
        } else if line.contains("tiled_store") && line.contains("%B") {
            line.replace("[%n, 0]", "[%n, 1]")
        } else {
            continue;
        };
        let other: String = text
            .lines()
            .enumerate()
            .map(
                |(number, line)| {
                    if number == at { format!("{changed}\n") } else { format!("{line}\n") }
                },
            )
            .collect();
        differ += usize::from(told(&other) != told(&text));
    }
    assert!(differ >= 2, "{text}");
}

/// A graph that hands everything on and judges the program after each replacement.
struct Watched<'g, 'p, 's, 't> {
    inner: &'g mut TileGraph<'p, 's, 't>,
    wanted: &'g [Vec<(String, u64)>],
    judged: usize,
    name: &'g str,
}

impl Terms for Watched<'_, '_, '_, '_> {
    type Id = Node;
    fn view(&self, id: Node) -> View {
        self.inner.view(id)
    }
    fn arity(&self, id: Node) -> u8 {
        self.inner.arity(id)
    }
    fn operand(&self, id: Node, number: u8) -> Option<Node> {
        self.inner.operand(id, number)
    }
    fn holds(&self, word: Word, args: &[Bound<Node>]) -> bool {
        self.inner.holds(word, args)
    }
}

impl Graph for Watched<'_, '_, '_, '_> {
    type Error = ErrorKind;
    type Mark = lanebook::ir::Mark;
    fn refresh(&mut self, id: Node) -> Result<Option<Node>, ErrorKind> {
        self.inner.refresh(id)
    }
    fn settle(&mut self, id: Node) {
        self.inner.settle(id);
    }
    fn make_const(&mut self, value: u64, width: u8) -> Result<Node, ErrorKind> {
        self.inner.make_const(value, width)
    }
    fn make_index(&mut self, op: IndexOp, args: &[Node]) -> Result<Node, ErrorKind> {
        self.inner.make_index(op, args)
    }
    fn make_tile(
        &mut self,
        make: TileMake<Node>,
        args: &[Node],
        root: Node,
    ) -> Result<Node, ErrorKind> {
        self.inner.make_tile(make, args, root)
    }
    fn replace(
        &mut self,
        old: Node,
        new: Node,
        work: &mut Work<'_, Node>,
    ) -> Result<(), RunError<ErrorKind>> {
        let before = printed(self.inner.program());
        self.inner.replace(old, new, work)?;
        self.judged += 1;
        let program = self.inner.program();
        assert_eq!(
            meanings(program),
            self.wanted,
            "{}: one rule changed what this does:\n{before}\n--- became\n{}",
            self.name,
            printed(program)
        );
        Ok(())
    }
    fn checkpoint(&mut self) -> Self::Mark {
        self.inner.checkpoint()
    }
    fn rollback(&mut self, mark: Self::Mark) {
        self.inner.rollback(mark);
    }
}

#[test]
fn every_application_of_a_rule_keeps_the_meaning() {
    let mut applied: BTreeMap<&str, usize> = BTreeMap::new();
    let mut judged = 0;
    for seed in 5_000..5_200 {
        let text = program(seed, 4 + seed as usize % 5);
        with(&text, SNIPPET, |program| {
            let wanted = meanings(program);
            let name = format!("program {seed}");
            for phase in
                ["clean_conversions", "push_conversions", "clean_conversions", "sink_conversions"]
            {
                let number = TABLES.rules.phase_named(phase).expect("a phase");
                let set = TABLES.rules.set(Language::Tile, None, number).expect("rules");
                let mut storage = Box::new(heapless::Vec::<Node, 8192>::new());
                let mut work = Work::new(storage.as_mut_view());
                let mut graph = TileGraph::new(program);
                // Passes begin with the last; the other order must do no harm either.
                match seed % 4 {
                    0 => graph.push_all(&mut work).expect("room"),
                    _ => graph.push_all_last_first(&mut work).expect("room"),
                }
                let mut watched =
                    Watched { inner: &mut graph, wanted: &wanted, judged: 0, name: &name };
                let mut fuel = 10_000;
                run(&mut watched, &TABLES.rules, set, &mut work, &mut fuel, |rule, _| {
                    *applied.entry(TABLES.rules.name(rule)).or_default() += 1;
                })
                .expect("it runs");
                judged += watched.judged;
            }
        });
    }
    println!("{judged} applications: {applied:?}");
    assert_eq!(applied.values().sum::<usize>(), judged);
    for rule in [
        "convert_same",
        "convert_convert",
        "convert_constant",
        "push_met_convert",
        "push_into_load",
        "push_elementwise1",
        "push_elementwise2",
        "sink_narrowing",
        "sink_met",
    ] {
        assert!(applied.contains_key(rule), "{rule} was never applied: {applied:?}");
    }
}

/// Analyses say what they change by their own names.
#[test]
fn every_analysis_is_reached() {
    let mut seen: Vec<Analysis> = Vec::new();
    for seed in 0..60 {
        with(&program(seed, 8), SNIPPET, |program| {
            let mut work = Box::new(heapless::Vec::<Node, 8192>::new());
            for pass in PASSES {
                let mut fuel = 100_000;
                let _ = apply(&TABLES, pass, program, work.as_mut_view(), &mut fuel, |event| {
                    if let Event::Change { analysis, .. } = event
                        && !seen.contains(&analysis)
                    {
                        seen.push(analysis);
                    }
                });
            }
        });
    }
    seen.sort();
    // Generated programs convert no buffers and have one agent: tests/conversions.rs and
    // tests/agents.rs have those. Layouts are chosen in tests/anchors.rs, tests/products.rs and
    // tests/defaults.rs.
    let elsewhere = [
        Analysis::PropagateBuffers,
        Analysis::ResolveAgents,
        Analysis::AssignLayouts,
        Analysis::DefaultLayouts,
        Analysis::Coalesce,
        Analysis::AccelerateMatmul,
    ];
    let wanted: Vec<Analysis> =
        Analysis::ALL.into_iter().filter(|analysis| !elsewhere.contains(analysis)).collect();
    let mut wanted = wanted;
    wanted.sort();
    assert_eq!(seen, wanted);
}
