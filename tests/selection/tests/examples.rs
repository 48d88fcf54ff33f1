//! Every example of an index or target rule rewrites as it says.
use lanebook::expr::{Expr, ExprArena, ExprId, Variable};
use lanebook::rewrite::{Binding, Bound, Swaps, Terms, View, find};
use lanebook_gen::Mode;
use lanebook_gen::rules::{CompiledRule, Example};
use lanebook_gen::schema::Term;
use lanebook_selection::Bench;
use lanebook_tables::{BuildNode, IndexOp, Language, RuleId, Tables, Word};
use std::collections::BTreeMap;
use std::path::Path;

struct View32<'a, 's>(&'a ExprArena<'s>);

impl Terms for View32<'_, '_> {
    type Id = ExprId;
    fn view(&self, id: ExprId) -> View {
        match (self.0.get(id), self.0.facts(id)) {
            (Some(Expr::Const(value)), Some(facts)) => View::Const { value, width: facts.width },
            (Some(Expr::Op(op, _)), _) => View::Index(op),
            _ => View::Leaf,
        }
    }
    fn arity(&self, id: ExprId) -> u8 {
        if let Some(Expr::Op(op, _)) = self.0.get(id) { op.arity() } else { 0 }
    }
    fn operand(&self, id: ExprId, number: u8) -> Option<ExprId> {
        if let Some(Expr::Op(_, args)) = self.0.get(id) {
            args.get(usize::from(number)).copied()
        } else {
            None
        }
    }
    fn holds(&self, word: Word, args: &[Bound<ExprId>]) -> bool {
        let value = |at: usize| match args[at] {
            Bound::Node(id) => *self.0.facts(id).unwrap(),
            Bound::Const(value, width) => lanebook::expr::BitFacts::constant(value, width),
            Bound::Free => panic!("unbound"),
        };
        match word {
            Word::Disjoint => value(0).possible() & value(1).possible() == 0,
            Word::Covers => value(1).possible() & !value(0).ones == 0,
            Word::Below => value(0).high < value(1).ones,
            Word::NoCarry => value(0).high + value(1).high <= u64::from(u32::MAX),
            Word::Uniform => value(0).uniform(),
            Word::SingleUse => true,
            _ => panic!("{word:?}"),
        }
    }
}

fn width_of(rule: &CompiledRule, name: &str, example: &Example) -> u8 {
    // Variables are 64 bits wide where a word of 64 bits takes them.
    fn find(term: &Term, name: &str, width: u8) -> Option<u8> {
        match term {
            Term::Name(found) if found == name => Some(width),
            Term::Call(word, args) => {
                let op = IndexOp::ALL.into_iter().find(|op| op.name() == word.value)?;
                (0u8..)
                    .zip(args)
                    .find_map(|(number, arg)| find(&arg.value, name, op.argument_width(number)))
            }
            _ => None,
        }
    }
    find(&example.from.value, name, rule.width).unwrap_or(32)
}

fn build(
    arena: &mut ExprArena<'_>,
    term: &Term,
    width: u8,
    variables: &BTreeMap<String, ExprId>,
) -> ExprId {
    match term {
        Term::Int(value) => arena.constant_of(*value as u64, width).unwrap(),
        Term::Name(name) => variables[name],
        Term::Call(word, args) => {
            let op = IndexOp::ALL
                .into_iter()
                .find(|op| op.name() == word.value)
                .unwrap_or_else(|| panic!("{}", word.value));
            let args: Vec<ExprId> = (0u8..)
                .zip(args)
                .map(|(number, arg)| build(arena, &arg.value, op.argument_width(number), variables))
                .collect();
            arena.op(op, &args).unwrap()
        }
    }
}

fn names(term: &Term, out: &mut Vec<String>) {
    match term {
        Term::Int(_) => {}
        Term::Name(name) => out.push(name.clone()),
        Term::Call(_, args) => args.iter().for_each(|arg| names(&arg.value, out)),
    }
}

/// A replacement under a binding, as text.
fn made(
    arena: &ExprArena<'_>,
    tables: &Tables<'_>,
    nodes: &mut dyn Iterator<Item = &BuildNode>,
    binding: &Binding<ExprId>,
    named: &BTreeMap<ExprId, String>,
) -> String {
    match *nodes.next().unwrap() {
        BuildNode::Const(value, width) => {
            if width == 32 {
                (value.get() as u32).to_string()
            } else {
                (value.get() as u64).to_string()
            }
        }
        BuildNode::Slot(slot) => match binding.get(slot) {
            Bound::Const(value, _) => value.to_string(),
            Bound::Node(id) => show(arena, id, named),
            Bound::Free => panic!("unbound"),
        },
        BuildNode::Inst(atom, arity) => {
            let args: Vec<String> =
                (0..arity).map(|_| made(arena, tables, nodes, binding, named)).collect();
            format!("({} {})", tables.atom(atom).unwrap().name(), args.join(" "))
        }
        BuildNode::Index(op, arity) => {
            let mut args: Vec<String> =
                (0..arity).map(|_| made(arena, tables, nodes, binding, named)).collect();
            if op.commutes() {
                args.sort();
            }
            format!("({} {})", op.name(), args.join(" "))
        }
        ref other => panic!("{other:?}"),
    }
}

fn show(arena: &ExprArena<'_>, id: ExprId, named: &BTreeMap<ExprId, String>) -> String {
    match arena.get(id).unwrap() {
        Expr::Const(value) => value.to_string(),
        Expr::Var(_) => named[&id].clone(),
        Expr::Op(op, args) => {
            let mut args: Vec<String> = args[..usize::from(op.arity())]
                .iter()
                .map(|arg| show(arena, *arg, named))
                .collect();
            if op.commutes() {
                args.sort();
            }
            format!("({} {})", op.name(), args.join(" "))
        }
    }
}

/// The right side of an example as text.
fn wanted(term: &Term, width: u8) -> String {
    match term {
        Term::Int(value) => {
            if width == 32 {
                (*value as u32).to_string()
            } else {
                (*value as u64).to_string()
            }
        }
        Term::Name(name) => name.clone(),
        Term::Call(word, args) => {
            let op = IndexOp::ALL.into_iter().find(|op| op.name() == word.value);
            let mut args: Vec<String> = (0u8..)
                .zip(args)
                .map(|(number, arg)| {
                    wanted(&arg.value, op.map_or(32, |op| op.argument_width(number)))
                })
                .collect();
            if op.is_some_and(IndexOp::commutes) {
                args.sort();
            }
            format!("({} {})", word.value, args.join(" "))
        }
    }
}

#[test]
fn every_example_holds() {
    let compiled =
        lanebook_gen::compile(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."), Mode::Draft)
            .unwrap_or_else(|failure| panic!("\n{}", failure.plain()));
    let tables = compiled.tables();
    let mut bench = Bench::default();
    let mut failures = Vec::new();
    let mut checked = 0;
    for (number, rule) in
        compiled.rules.rules.iter().enumerate().filter(|(_, rule)| rule.language != Language::Tile)
    {
        for example in &rule.examples {
            let mut session = bench.session();
            let mut all = Vec::new();
            names(&example.from.value, &mut all);
            let mut variables = BTreeMap::new();
            for name in all {
                if variables.contains_key(&name) {
                    continue;
                }
                let mut variable = if width_of(rule, &name, example) == 64 {
                    Variable::long()
                } else {
                    Variable::word()
                };
                for given in &example.given {
                    let Term::Call(word, args) = &given.value else { panic!("given: a word") };
                    let about = matches!(args.first().map(|arg| &arg.value), Some(Term::Name(found)) if *found == name);
                    let amount = match args.get(1).map(|arg| &arg.value) {
                        Some(Term::Int(value)) => *value as u64,
                        _ => 0,
                    };
                    match (about, word.value.as_str()) {
                        (false, _) => {}
                        (_, "below") => variable = variable.below(amount),
                        (_, "zeros") => variable = variable.zeros(amount),
                        (_, "uniform") => variable = variable.uniform(),
                        (_, other) => panic!("given: {other}"),
                    }
                }
                let id = session.arena.variable_node(variable).unwrap().1;
                variables.insert(name, id);
            }
            let named: BTreeMap<ExprId, String> =
                variables.iter().map(|(name, id)| (*id, name.clone())).collect();
            let root = build(&mut session.arena, &example.from.value, rule.width, &variables);
            let lowered = tables.rules.rule(RuleId(number as u16)).unwrap();
            let mut found = Vec::new();
            let mut from = Some(Swaps::default());
            while let Some(swaps) = from {
                let Some((binding, _, next)) = find(&View32(&session.arena), lowered, root, swaps)
                else {
                    break;
                };
                found.push(made(
                    &session.arena,
                    &tables,
                    &mut lowered.replacement.iter(),
                    &binding,
                    &named,
                ));
                from = next;
            }
            let wanted = wanted(&example.to.value, rule.width);
            checked += 1;
            if !found.contains(&wanted) {
                failures.push(format!(
                    "{}: rule `{}` does not make {wanted} but {found:?}",
                    compiled.sources.place(example.span),
                    rule.name.value
                ));
            }
        }
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
    assert!(checked > 100);
}
