//! Operations have what their role has, and are taken as they are declared.
//!
//! A role says how many regions there are, which memory is touched, whether a result can be
//! computed again, which trait of layouts goes with it and how many operands and results there are
//! at the least. What an operation does to indices is a word of its names. What nothing does
//! exactly is dear, all alike; what only moves elements about costs nothing. What is taken of it
//! (`rules/contract.ron`): `taken`; the types that it is done to: `families`.
use super::{families, taken};
use crate::compile::Compiled;
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::rules::ops::Op;
use crate::rules::sequences::Resolved;
use lanebook_tables::{DtypeId, IndexWord, LayoutTrait, OpId, OpLowering, OpRole, OpWord};
use std::collections::BTreeSet;

/// What is done to numbers without signs, behind the word for what is done.
const UNSIGNED: &str = "_unsigned";
/// What a name of that ends with.
const WITHOUT_SIGN: [&str; 2] = ["u", "ui"];

/// What takes the bits of one type as those of another.
const BITCAST: &str = "bitcast";

/// See the module.
#[must_use]
pub fn check(compiled: &Compiled) -> Diagnostics {
    let mut diags = Diagnostics::new();
    let ways = Ways::of(compiled);
    for (number, op) in (0u16..).zip(&compiled.rules.ops.list) {
        has(op, &mut diags);
        touches(op, &mut diags);
        counts(op, &mut diags);
        index(op, &mut diags);
        bits(op, &mut diags);
        lowered(op, &mut diags);
        costs(op, OpId(number), &ways, &mut diags);
    }
    alike(&compiled.rules.ops.list, &mut diags);
    taken::check(compiled, &mut diags);
    families::check(compiled, &mut diags);
    diags
}

/// Something of an operation is not as its role has it.
fn say(op: &Op, what: &str, has: &str, wanted: &str, diags: &mut Diagnostics) {
    let message =
        format!("`{}` has {what} {has}, and {:?} has {wanted}", op.entry.name.value, op.role);
    diags.push(
        Diagnostic::at(op.entry.name.span, message)
            .note(op.entry.role.span, "its role")
            .help(format!("correct {what} or `role`")),
    );
}

/// Regions and trait of layouts.
fn has(op: &Op, diags: &mut Diagnostics) {
    use OpRole as R;
    let regions: &[u8] = match op.role {
        R::Function | R::For | R::Parallel | R::Produce | R::Consume | R::AgentSwitch => &[1],
        R::If | R::While => &[2],
        R::Reduce | R::Scan | R::Opaque => &[0, 1],
        _ => &[0],
    };
    let own = op.entry.regions;
    if !regions.contains(&own) {
        say(op, "`regions`", &own.to_string(), &format!("{regions:?}"), diags);
    }
    use LayoutTrait as T;
    let layouts: &[T] = match op.role {
        R::Elementwise | R::Select | R::Slice | R::Scan | R::View | R::Constant | R::Pragma => {
            &[T::Transparent]
        }
        R::Produce | R::Consume | R::AgentSwitch => &[T::Transparent],
        R::Transpose => &[T::Transposing],
        R::Reshape | R::Join | R::Split => &[T::Reshaping],
        R::Reduce | R::Broadcast => &[T::Reducing],
        R::Matrix => &[T::Fixing],
        R::Convert | R::Copy | R::Atomic => &[T::Converting],
        R::Load | R::Store => &[T::Converting, T::Fixing],
        R::Index | R::Opaque => &[T::Transparent, T::None],
        _ => &[T::None],
    };
    if !layouts.contains(&op.layout) {
        let wanted = format!("{layouts:?}");
        say(op, "`layout`", &format!("{:?}", op.layout), &wanted, diags);
    }
}

/// What another system's operation stands for is in its name, and goes with its role.
fn lowered(op: &Op, diags: &mut Diagnostics) {
    use OpLowering as L;
    let name = &op.entry.name;
    let known = OpLowering::NAMES.iter().find(|(own, _)| Some(*own) == op.lowering);
    // Names of this language have no dialect in front.
    let Some((_, own)) = name.value.split_once('.') else {
        if let Some((_, word)) = known {
            say_lowered(op, word, "another system's name, with its dialect in front", diags);
        }
        return;
    };
    let Some((lowering, word)) = known else {
        if let Some((_, word)) = OpLowering::NAMES.iter().find(|(_, word)| own.contains(word)) {
            say_lowered(op, "none", word, diags);
        }
        return;
    };
    let role = match lowering {
        L::BufferLoad | L::DescriptorLoad => OpRole::Load,
        L::BufferStore | L::DescriptorStore | L::AsyncCopy => OpRole::Store,
        _ => OpRole::Opaque,
    };
    if !own.contains(word) {
        say_lowered(op, word, "a word of its name", diags);
    } else if op.role != role {
        say_lowered(op, word, &format!("role {role:?}"), diags);
    }
}

fn say_lowered(op: &Op, has: &str, wanted: &str, diags: &mut Diagnostics) {
    let name = &op.entry.name;
    let message = format!("`lowering` of `{}` is {has}: it takes {wanted}", name.value);
    diags.push(
        Diagnostic::at(name.span, message).note(op.entry.role.span, "its role").help(
            "an operation stands for what its name says: correct `lowering`, `name` or `role`",
        ),
    );
}

/// What takes bits as another type says so in its name.
fn bits(op: &Op, diags: &mut Diagnostics) {
    let name = &op.entry.name;
    let wanted = name.value.rsplit('.').next() == Some(BITCAST);
    if wanted != op.entry.same_bits {
        diags.push(
            Diagnostic::at(name.span, format!("`same_bits` of `{}` is {}", name.value, op.entry.same_bits))
                .help(format!("a `{BITCAST}` leaves the bits as they are, and nothing else does: correct one of them")),
        );
    }
}

/// Memory, and whether a result can be computed again.
fn touches(op: &Op, diags: &mut Diagnostics) {
    use OpRole as R;
    let entry = &op.entry;
    let own = (entry.reads, entry.writes);
    let wanted: &[(bool, bool)] = match op.role {
        R::Load | R::ElementLoad => &[(true, false)],
        // A store that gives a token is under way, maybe from memory.
        R::Store if entry.results.1 > 0 => &[(false, true), (true, true)],
        R::Store | R::ElementStore | R::Fill => &[(false, true)],
        R::Copy | R::Atomic | R::Call | R::Wait | R::ReduceInto | R::ProductInto => &[(true, true)],
        R::Produce | R::Consume | R::AgentSwitch => &[(true, true)],
        R::Matrix => &[(false, false), (true, true)],
        R::Fence => &[(true, true), (false, true)],
        R::Alloc => &[(false, false), (false, true)],
        R::Opaque => return,
        _ => &[(false, false)],
    };
    if !wanted.contains(&own) {
        let has = format!("({}, {})", own.0, own.1);
        say(op, "`reads` and `writes`", &has, &format!("{wanted:?}"), diags);
    }
    // What gives a token beside its result says what comes before what.
    let alone = !entry.writes && entry.results == (1, 1);
    let wanted = match op.role {
        R::Constant | R::View | R::Select | R::Convert | R::Transpose | R::Reshape => true,
        R::Permute | R::Slice | R::Reduce | R::Scan | R::Broadcast | R::Elementwise => true,
        R::Index | R::Join | R::Split => true,
        R::Alloc | R::Load | R::Matrix => alone,
        R::Opaque => return,
        _ => false,
    };
    if entry.pure != wanted {
        say(op, "`pure`", &entry.pure.to_string(), &wanted.to_string(), diags);
    }
}

/// From the least to the most, each that may be.
type Counts<'c> = &'c [(u8, u8)];

/// Operands and results.
fn counts(op: &Op, diags: &mut Diagnostics) {
    use OpRole as R;
    const ANY: (u8, u8) = (0, u8::MAX);
    let one = (1, 1);
    let (operands, results): (Counts<'_>, Counts<'_>) = match op.role {
        R::Function => (&[(0, 0)], &[(0, 0)]),
        R::Return => (&[ANY], &[(0, 0)]),
        R::Yield => (&[ANY, (1, u8::MAX)], &[(0, 0)]),
        R::Condition => (&[(1, u8::MAX)], &[(0, 0)]),
        R::Call | R::While | R::Wait | R::Pragma | R::Produce | R::Consume | R::AgentSwitch => {
            (&[ANY], &[ANY])
        }
        R::For | R::Parallel => (&[(3, u8::MAX)], &[ANY]),
        R::If => (&[(1, 1)], &[ANY]),
        R::Convert | R::Transpose | R::Reshape | R::Permute | R::Broadcast | R::Constant => {
            (&[(1, 1)], &[(1, 1)])
        }
        R::Select => (&[(3, 3)], &[(1, 1)]),
        R::Join => (&[(2, 2)], &[(1, 1)]),
        R::Split => (&[(1, 1)], &[(2, 2)]),
        R::Copy => (&[(2, 2)], &[(0, 0), (0, 1)]),
        R::ElementLoad => (&[(1, 1)], &[(1, 1)]),
        R::ElementStore | R::Fill | R::ReduceInto => (&[(2, 2)], &[(0, 0)]),
        R::ProductInto => (&[(3, 3)], &[(0, 0)]),
        R::Reduce | R::Scan => (&[(1, u8::MAX)], &[(1, u8::MAX)]),
        R::View => (&[(1, u8::MAX)], &[(1, 1)]),
        R::Alloc => (&[(0, 1)], &[(1, 1), (1, 2)]),
        R::Load => (&[], &[(1, 1), (1, 2)]),
        R::Store => (&[], &[(0, 0), (0, 1)]),
        R::Atomic => (&[], &[(0, 1)]),
        R::Matrix => (&[], &[(1, 1), (0, 1)]),
        R::Slice => (&[(1, 1), (2, 2)], &[(1, 1), (0, 1)]),
        R::Fence => (&[ANY], &[(0, 0), ANY]),
        _ => (&[], &[]),
    };
    for (what, own, wanted) in
        [("`operands`", op.entry.operands, operands), ("`results`", op.entry.results, results)]
    {
        if !wanted.is_empty() && !wanted.contains(&own) {
            say(op, what, &format!("{own:?}"), &format!("{wanted:?}"), diags);
        }
    }
    // What goes on, as a token does, comes of memory alone.
    let token = op.role == R::Matrix && (op.entry.results == one) == op.entry.writes;
    if token || op.role == R::Slice && (op.entry.results == one) != (op.entry.operands == one) {
        say(
            op,
            "`results`",
            &format!("{:?}", op.entry.results),
            "others with these operands",
            diags,
        );
    }
}

/// The word for what is done to indices is in a name of the operation.
fn index(op: &Op, diags: &mut Diagnostics) {
    let Some(word) = op.index else { return };
    let spelled =
        |word: IndexWord| IndexWord::NAMES.iter().find(|(one, _)| *one == word).map(|(_, n)| *n);
    let bare = |name: &'static str| name.strip_suffix(UNSIGNED).unwrap_or(name).replace('_', "");
    let entry = &op.entry;
    let names: Vec<String> = [&entry.name]
        .into_iter()
        .chain(&entry.aliases)
        .chain(&entry.tiles)
        .map(|name| {
            name.value
                .rsplit_once('.')
                .map_or(name.value.as_str(), |(a, b)| if b == "*" { a } else { b })
        })
        .map(str::to_lowercase)
        .collect();
    let said = IndexWord::NAMES
        .iter()
        .map(|(_, name)| bare(name))
        .filter(|bare| names.iter().any(|name| name.contains(bare.as_str())))
        .max_by_key(String::len);
    let own = spelled(word).unwrap_or_default();
    let last = entry.name.value.rsplit('.').next().unwrap_or_default();
    let unsigned = WITHOUT_SIGN.iter().any(|end| last.ends_with(end));
    let at = entry.index.as_ref().map_or(entry.name.span, |index| index.span);
    if said.as_ref().is_some_and(|said| *said != bare(own)) || unsigned != own.ends_with(UNSIGNED) {
        let message = format!("`{}` is said to do `{own}` to indices", entry.name.value);
        diags.push(
            Diagnostic::at(at, message)
                .note(entry.name.span, "its name says otherwise")
                .help("correct `index`, or a name"),
        );
    }
}

/// Who does operations: instructions, and sequences of what these do.
struct Ways {
    /// Done exactly to elements of some type.
    exact: BTreeSet<OpId>,
    /// Done to those of some type, and never exactly.
    off: BTreeSet<OpId>,
}

impl Ways {
    fn of(compiled: &Compiled) -> Self {
        let ops = &compiled.rules.ops;
        let word = |name: &str| ops.named(name);
        let mut done: Vec<(OpId, DtypeId, bool)> = Vec::new();
        for atom in compiled.model.every() {
            if let Some(does) = &atom.does {
                let Some(OpWord::Op(id)) = crate::rules::does::word(&does.op, word) else {
                    continue;
                };
                let first = does.uses.last().and_then(|at| atom.operands.get(usize::from(*at)));
                let dtype = first.and_then(|operand| operand.dtype);
                done.extend(dtype.map(|dtype| (id, dtype, does.ulp == 0)));
            }
        }
        let sequences = &compiled.rules.sequences;
        // What nothing at all is said to do is taken to be done exactly.
        let known: BTreeSet<(OpId, DtypeId)> = (done.iter().map(|(id, of, _)| (*id, *of)))
            .chain(sequences.iter().map(|one| (one.op, one.from)))
            .collect();
        let mut exact: BTreeSet<(OpId, DtypeId)> =
            done.iter().filter(|(.., exact)| *exact).map(|(id, of, _)| (*id, *of)).collect();
        loop {
            let before = exact.len();
            let is_exact = |one: &&Resolved| {
                let is_done =
                    |step: (OpId, DtypeId)| exact.contains(&step) || !known.contains(&step);
                one.ulp == 0 && one.steps.iter().all(|step| is_done((step.op, step.from)))
            };
            let made: Vec<_> =
                sequences.iter().filter(is_exact).map(|one| (one.op, one.from)).collect();
            exact.extend(made);
            if exact.len() == before {
                break;
            }
        }
        let off = known.iter().filter(|one| !exact.contains(one)).map(|(id, _)| *id).collect();
        Self { exact: exact.into_iter().map(|(id, _)| id).collect(), off }
    }
}

/// What a byte of a result costs. What is done exactly to no type is dear, and what is dear is done
/// otherwise to some.
fn costs(op: &Op, id: OpId, ways: &Ways, diags: &mut Diagnostics) {
    use OpRole as R;
    let own = op.entry.effort;
    let moves = matches!(
        op.role,
        R::Transpose | R::Reshape | R::Permute | R::Broadcast | R::Constant | R::Join | R::Split
    );
    let counts = op.role == R::Index && op.index.is_none() && op.entry.operands == (0, 0);
    let wanted = match op.role {
        _ if moves || counts => (own != 0).then_some("0, since nothing is computed"),
        R::Elementwise if own == 1 => (!ways.exact.contains(&id) && ways.off.contains(&id))
            .then_some("more where nothing does it exactly"),
        R::Elementwise => {
            (own == 0 || !ways.off.contains(&id)).then_some("1 where it is done exactly")
        }
        R::Scan => (own <= 1).then_some("more, one step after another"),
        _ => (own != 1).then_some("1"),
    };
    if let Some(wanted) = wanted {
        say(op, "`effort`", &own.to_string(), wanted, diags);
    }
}

/// All that is dear is so alike.
fn alike(ops: &[Op], diags: &mut Diagnostics) {
    let mut dear = ops.iter().filter(|op| op.entry.effort > 1);
    let Some(first) = dear.next() else { return };
    for op in dear.filter(|op| op.entry.effort != first.entry.effort) {
        let wanted = format!("{}, as `{}`", first.entry.effort, first.entry.name.value);
        say(op, "`effort`", &op.entry.effort.to_string(), &wanted, diags);
    }
}
