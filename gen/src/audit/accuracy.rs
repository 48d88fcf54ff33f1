//! How far a sequence's result may be off is what the errors of its steps come to.
//!
//! The sequence is carried out on many numbers, once with what its steps make exactly, and again
//! with each step that only approximates off by as much as its instruction says, to either side.
//! Against the operation's own result that is so many units in the last place: what `ulp` says, or
//! one less (numbers that were not tried). A step that is off makes the result off by one at least.
use super::computed::{carried_out, is_close, is_plain, numbers};
use super::evaluate;
use crate::compile::Compiled;
use crate::model::Dtype;
use crate::rules::sequences::Resolved;
use lanebook_tables::{DtypeId, DtypeKind, OpId, OpWord, SequenceOperand};
use std::collections::BTreeMap;
use std::f64::consts::{FRAC_PI_2, LN_2};

/// Numbers that are tried of one, of two and of three operands each.
const TRIED: [usize; 3] = [512, 32, 12];
/// Units in the last place that are told apart.
const MOST: u16 = 24;
/// Multiples that are tried.
const TURNS: u32 = 37;

/// How far operations on elements of a type may be off, by whoever does them worst.
type Errors = BTreeMap<(OpId, DtypeId), u16>;

/// Sequences hold what they say of their results.
pub(super) struct Accuracy<'c> {
    compiled: &'c Compiled,
    errors: Errors,
}

impl<'c> Accuracy<'c> {
    pub(super) fn of(compiled: &'c Compiled) -> Self {
        Self { compiled, errors: errors(compiled) }
    }

    /// What is wrong with what a sequence says that its result may be off by.
    pub(super) fn wrong(&self, one: &Resolved) -> Option<String> {
        let Worst { ulp, is_exact } = worst(self.compiled, &self.errors, one)?;
        let is_tight = one.ulp == ulp || one.ulp == ulp + 1 && !is_exact;
        (!is_tight).then(|| format!("its result is off by {ulp} ulp, and it says {}", one.ulp))
    }
}

/// Of instructions, and of sequences in the place of them.
fn errors(compiled: &Compiled) -> Errors {
    let mut out = Errors::new();
    let mut note = |id: OpId, of: DtypeId, ulp: u16| {
        let known = out.entry((id, of)).or_default();
        *known = (*known).max(ulp);
    };
    let word = |name: &str| compiled.rules.ops.named(name);
    for atom in compiled.model.every() {
        let Some(does) = &atom.does else { continue };
        let Some(OpWord::Op(id)) = crate::rules::does::word(&does.op, word) else { continue };
        let first = does.uses.last().and_then(|at| atom.operands.get(usize::from(*at)));
        if let Some(of) = first.and_then(|operand| operand.dtype) {
            note(id, of, does.ulp.into());
        }
    }
    for one in &compiled.rules.sequences {
        note(one.op, one.from, one.ulp);
    }
    out
}

/// Numbers at which functions turn: multiples of pi / 2 and of ln 2, and what is beside 1.
fn telling(of: &Dtype) -> Vec<u64> {
    let multiples = (1..=TURNS).flat_map(|k| {
        let k = f64::from(k);
        [k * FRAC_PI_2, -k * FRAC_PI_2, k * LN_2, -k * LN_2, k / 8.0]
    });
    let beside = (2..24).flat_map(|bit| {
        let by = 2f64.powi(-bit);
        [1.0 + by, 1.0 - by, by]
    });
    multiples.chain(beside).filter_map(|number| evaluate::encode(of, number)).collect()
}

/// What was found of a sequence.
struct Worst {
    /// The most units in the last place by which its result is off.
    ulp: u16,
    /// Whether it is never off: no step is, and what it was held against is rounded once.
    is_exact: bool,
}

/// How far a sequence's result is off; `None` where it is not known what its steps make.
fn worst(compiled: &Compiled, errors: &Errors, one: &Resolved) -> Option<Worst> {
    let dtype = |id: DtypeId| compiled.model.dtypes.get(id.index());
    let off: Vec<(usize, u16)> = (one.steps.iter().enumerate())
        .filter_map(|(at, step)| Some((at, *errors.get(&(step.op, step.from))?)))
        .filter(|(_, ulp)| *ulp > 0)
        .collect();
    // Of what is exact by its steps and says so, `computed` has the say.
    if off.is_empty() && one.ulp == 0 {
        return None;
    }
    let decl = compiled.rules.ops.get(one.op)?;
    let (from, to) = (dtype(one.from)?, dtype(one.to)?);
    if to.kind != DtypeKind::Float || from.kind != DtypeKind::Float {
        return None;
    }
    let count = usize::from(decl.entry.operands.0);
    let take = *TRIED.get(count.checked_sub(1)?)?;
    let mut tried = numbers(from, take);
    if count == 1 {
        tried.extend(telling(from));
    }
    // What is off and then rounded may be the number beside.
    let is_off = |operand: &SequenceOperand| match operand {
        SequenceOperand::Step(step) => off.iter().any(|(at, _)| *at == usize::from(*step)),
        _ => false,
    };
    let mut worst = u16::from(one.steps.last()?.operands.iter().any(is_off));
    let total = tried.len().pow(count as u32);
    let mut is_known = false;
    for number in 0..total {
        let mut rest = number;
        let of: Vec<u64> = (0..count)
            .map(|_| {
                let at = rest % tried.len();
                rest /= tried.len();
                tried[at]
            })
            .collect();
        if !of.iter().all(|bits| is_plain(from, *bits)) {
            continue;
        }
        let Some(wanted) = evaluate::value(&decl.entry.name.value, from, to, &of) else { continue };
        for ways in 0..1usize << off.len().min(4) {
            let moved = |at: usize, bits: u64| {
                let nth = off.iter().position(|(step, _)| *step == at);
                let size =
                    one.steps.get(at).and_then(|step| evaluate::decode(dtype(step.to)?, bits));
                let is_moved = size.is_some_and(|size| size.is_finite() && size != 0.0);
                let Some(nth) = nth.filter(|_| is_moved) else { return bits };
                let by = u64::from(off[nth].1);
                if ways >> (nth % 4) & 1 == 1 {
                    bits.wrapping_add(by)
                } else {
                    bits.wrapping_sub(by)
                }
            };
            let Some(got) = carried_out(compiled, one, &of, moved)? else { continue };
            is_known = true;
            while worst < MOST && !is_close(to, got, wanted, worst) {
                worst += 1;
            }
        }
    }
    let is_rounded_once = from.bits < 64 || evaluate::is_rounded_once(&decl.entry.name.value);
    let is_exact = worst == 0 && off.is_empty() && is_rounded_once;
    is_known.then_some(Worst { ulp: worst, is_exact })
}
