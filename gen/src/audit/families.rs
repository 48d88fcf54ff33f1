//! What is done to some types of a family is done to all of them.
//!
//! A family are the types of one kind (floats, numbers with signs, without, truths) that most
//! operations on that kind are done to, by instructions or by sequences. Of an operation that makes
//! one type of another, pairs are told apart by which is the wider.
use crate::compile::Compiled;
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::model::Dtype;
use lanebook_tables::{DtypeId, OpId, OpRole, OpWord};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// Operations of a kind from which on it is known what they are usually done to.
const KNOWN: usize = 8;

/// A kind of types: what they are, by number, and whether they are of one bit.
type Kind = (u8, bool);
/// What pairs of types are alike in: their kinds, which is the wider, whether they are the same.
type Class = (Kind, Kind, Ordering, bool);
/// Pairs of types.
type Pairs = BTreeSet<(u16, u16)>;

/// See the module.
pub(super) fn check(compiled: &Compiled, diags: &mut Diagnostics) {
    let done = done(compiled);
    let usual = usual(compiled, &done);
    for (op, pairs) in &done {
        let mut classes: BTreeMap<Class, Pairs> = BTreeMap::new();
        for pair in pairs {
            classes.extend(class(compiled, *pair).map(|class| (class, Pairs::new())));
        }
        for from in usual.iter() {
            for to in usual.iter() {
                let pair = (*from, *to);
                let class = class(compiled, pair);
                if let Some(wanted) = class.and_then(|class| classes.get_mut(&class)) {
                    wanted.insert(pair);
                }
            }
        }
        let missing = classes.values().flatten().find(|pair| !pairs.contains(pair));
        if let Some((from, to)) = missing {
            say(compiled, *op, (*from, *to), diags);
        }
    }
}

fn dtype(compiled: &Compiled, id: u16) -> Option<&Dtype> {
    compiled.model.dtypes.get(usize::from(id))
}

fn kind(of: &Dtype) -> Kind {
    (of.kind as u8, of.bits == 1)
}

fn class(compiled: &Compiled, (from, to): (u16, u16)) -> Option<Class> {
    let (a, b) = (dtype(compiled, from)?, dtype(compiled, to)?);
    Some((kind(a), kind(b), a.bits.cmp(&b.bits), from == to))
}

/// Who does what to which types. What is chosen from has the type of the result.
fn done(compiled: &Compiled) -> BTreeMap<OpId, Pairs> {
    let ops = &compiled.rules.ops;
    let mut out: BTreeMap<OpId, Pairs> = BTreeMap::new();
    let mut add = |op: OpId, from: DtypeId, to: DtypeId| {
        let Some(decl) = ops.get(op).filter(|decl| decl.role.is_lanewise()) else { return };
        let from = if decl.role == OpRole::Select { to } else { from };
        out.entry(op).or_default().insert((from.0, to.0));
    };
    for one in &compiled.rules.sequences {
        add(one.op, one.from, one.to);
    }
    for atom in compiled.model.every() {
        let Some(does) = &atom.does else { continue };
        let word = crate::rules::does::word(&does.op, |name| ops.named(name));
        let Some(OpWord::Op(op)) = word else { continue };
        let last = does.uses.last().and_then(|at| atom.operands.get(usize::from(*at)));
        let types =
            (last.and_then(|one| one.dtype), atom.operands.first().and_then(|one| one.dtype));
        if let (Some(from), Some(to)) = types {
            add(op, from, to);
        }
    }
    out
}

/// The types that more than half of the operations on their kind are done to.
fn usual(compiled: &Compiled, done: &BTreeMap<OpId, Pairs>) -> BTreeSet<u16> {
    let mut of_kind: BTreeMap<Kind, BTreeSet<OpId>> = BTreeMap::new();
    let mut of_type: BTreeMap<u16, BTreeSet<OpId>> = BTreeMap::new();
    for (op, pairs) in done {
        for (from, _) in pairs {
            of_type.entry(*from).or_default().insert(*op);
            if let Some(dtype) = dtype(compiled, *from) {
                of_kind.entry(kind(dtype)).or_default().insert(*op);
            }
        }
    }
    let is_usual = |id: u16, ops: usize| {
        let all = dtype(compiled, id).and_then(|dtype| of_kind.get(&kind(dtype)));
        all.is_some_and(|all| all.len() >= KNOWN && 2 * ops > all.len())
    };
    of_type.iter().filter(|(id, ops)| is_usual(**id, ops.len())).map(|(id, _)| *id).collect()
}

fn say(compiled: &Compiled, op: OpId, (from, to): (u16, u16), diags: &mut Diagnostics) {
    let Some(decl) = compiled.rules.ops.get(op) else { return };
    let name = |id: u16| dtype(compiled, id).map_or("", |dtype| dtype.name.value.as_str());
    let what = if from == to {
        format!("to `{}`", name(from))
    } else {
        format!("from `{}` to `{}`", name(from), name(to))
    };
    let message = format!(
        "nothing does `{}` {what}, and it is done to others of the kind",
        decl.entry.name.value
    );
    diags.push(
        Diagnostic::at(decl.entry.name.span, message)
            .help("add a sequence (rules/sequences.ron), or an instruction that does it"),
    );
}
