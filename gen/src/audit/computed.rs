//! A sequence makes of numbers what the operation makes that it stands for.
//!
//! Both are carried out on numbers that are tried: the ends of a type, small ones, powers of two
//! and what is beside them, and some from everywhere. What is exact is the same to the bit (of
//! zeros both signs, of NaNs all); what may be off is off by no more than is said, and no less ([`super::accuracy`]). A step is of
//! something that is not known beforehand. Where an operation or a step is none that [`super::evaluate`] knows, nothing is tried.
use super::accuracy::Accuracy;
use super::evaluate;
use crate::compile::Compiled;
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::model::Dtype;
use crate::rules::sequences::Resolved;
use lanebook_tables::{DtypeId, DtypeKind, OpId, OpRole, SequenceOperand};
use std::collections::BTreeSet;

/// Numbers that are tried of one, of two and of three operands each.
const TRIED: [usize; 3] = [96, 16, 8];
/// Beyond this size what approximates promises nothing that is looked at here.
const FAR: f64 = 60.0;
/// What the numbers that are compared with may be off by themselves.
const SLACK: u16 = 1;
/// What a logarithm close to 0 may be off by, and half of it more for the libraries.
const NEAR_ZERO: f64 = 3.6e-7;

/// See the module.
pub(super) fn check(compiled: &Compiled, diags: &mut Diagnostics) {
    let (mut seen, accuracy) = (BTreeSet::new(), Accuracy::of(compiled));
    for one in &compiled.rules.sequences {
        let is_number = |operand: &SequenceOperand| matches!(operand, SequenceOperand::Number(..));
        let mut fixed = one.steps.iter().filter(|step| step.operands.iter().all(is_number));
        if fixed.next().is_some_and(|step| !step.operands.is_empty()) && seen.insert(one.at) {
            diags.push(
                Diagnostic::at(one.at, "a step computes of numbers alone").help(
                    "what it makes is a number as well: write that, or correct what it is of",
                ),
            );
        }
        if let Some(message) = differs(compiled, one).or_else(|| accuracy.wrong(one))
            && seen.insert(one.at)
        {
            diags.push(Diagnostic::at(one.at, message).help(
                "a sequence makes what its operation makes: correct a step, a number or `ulp`",
            ));
        }
    }
}

/// The first numbers of which a sequence makes something else.
fn differs(compiled: &Compiled, one: &Resolved) -> Option<String> {
    let (ops, model) = (&compiled.rules.ops, &compiled.model);
    let dtype = |id: DtypeId| model.dtypes.get(id.index());
    let name = |id: OpId| ops.get(id).map(|op| op.entry.name.value.as_str());
    let decl = ops.get(one.op)?;
    let op = name(one.op)?;
    let is_choice = decl.role == OpRole::Select;
    // What is chosen from has the type of the result.
    let (from, to) = (dtype(one.from)?, dtype(one.to)?);
    let count = usize::from(decl.entry.operands.0);
    let take = *TRIED.get(count.checked_sub(1)?)?;
    let operands: Vec<Vec<u64>> = (0..count)
        .map(|k| if is_choice && k > 0 { numbers(to, take) } else { numbers(from, take) })
        .collect();
    let total: usize = operands.iter().map(Vec::len).product();
    for number in 0..total {
        let mut rest = number;
        let of: Vec<u64> = operands
            .iter()
            .map(|list| {
                let at = rest % list.len();
                rest /= list.len();
                list[at]
            })
            .collect();
        if one.ulp > 0 && !of.iter().all(|bits| is_plain(from, *bits)) {
            continue;
        }
        let Some(wanted) = evaluate::value(op, from, to, &of) else { continue };
        let got = carried_out(compiled, one, &of, |_, bits| bits)?;
        let allowed = if one.ulp > 0 { one.ulp.saturating_add(SLACK) } else { 0 };
        let is_off = |got: &u64| !is_close(to, *got, wanted, allowed);
        let Some(got) = got.filter(is_off) else { continue };
        let args: Vec<String> = of.iter().map(|bits| shown(from, *bits)).collect();
        return Some(format!(
            "of {} `{op}` makes {}, and its steps {}",
            args.join(" and "),
            shown(to, wanted),
            shown(to, got)
        ));
    }
    None
}

/// What a sequence's steps make of numbers, each step's own result changed by `moved`; nothing in
/// the inner place where a step makes nothing of these, in the outer one where it is unknown.
pub(super) fn carried_out(
    compiled: &Compiled,
    one: &Resolved,
    of: &[u64],
    moved: impl Fn(usize, u64) -> u64,
) -> Option<Option<u64>> {
    let dtype = |id: DtypeId| compiled.model.dtypes.get(id.index());
    let name = |id: OpId| compiled.rules.ops.get(id).map(|op| op.entry.name.value.as_str());
    let mut made: Vec<u64> = Vec::new();
    for (at, step) in one.steps.iter().enumerate() {
        let args = step.operands.iter().map(|operand| match operand {
            SequenceOperand::Operand(k) => of.get(usize::from(*k)).copied(),
            SequenceOperand::Step(k) => made.get(usize::from(*k)).copied(),
            SequenceOperand::Number(_, bits) => Some(*bits),
        });
        let args: Option<Vec<u64>> = args.collect();
        let value = evaluate::value(name(step.op)?, dtype(step.from)?, dtype(step.to)?, &args?);
        let Some(value) = value else { return Some(None) };
        made.push(moved(at, value));
    }
    Some(made.last().copied())
}

fn shown(dtype: &Dtype, bits: u64) -> String {
    match evaluate::decode(dtype, bits) {
        Some(value) => format!("{value:?}"),
        None => format!("{bits:#x}"),
    }
}

/// A float that approximations promise something about.
pub(super) fn is_plain(dtype: &Dtype, bits: u64) -> bool {
    let value = evaluate::decode(dtype, bits);
    value.is_none_or(|value| {
        let size = value.abs();
        value.is_finite() && size < FAR && size > 1e-30
    })
}

/// Whether a result is what is wanted, or off by no more than is said.
pub(super) fn is_close(dtype: &Dtype, got: u64, wanted: u64, ulp: u16) -> bool {
    if got == wanted {
        return true;
    }
    let (Some(a), Some(b)) = (evaluate::decode(dtype, got), evaluate::decode(dtype, wanted)) else {
        return dtype.kind == DtypeKind::Float;
    };
    if a == b || a.is_nan() && b.is_nan() {
        return true;
    }
    if ulp == 0 || a.is_nan() != b.is_nan() {
        return false;
    }
    // Bits of floats of one sign go up with them.
    let sign = 1u64 << (dtype.bits - 1);
    let apart = (got & !sign).abs_diff(wanted & !sign);
    let same_sign = got & sign == wanted & sign;
    let tiny = a.abs() < 1e-30 && b.abs() < 1e-30;
    tiny || (a - b).abs() <= NEAR_ZERO && b.abs() < 1.0 && dtype.bits == 32
        || same_sign && apart <= u64::from(ulp)
}

/// Numbers of a type that are tried.
pub(super) fn numbers(dtype: &Dtype, count: usize) -> Vec<u64> {
    let bits = u32::from(dtype.bits.clamp(1, 64));
    let all = u64::MAX >> (64 - bits);
    let mut out: Vec<u64> = Vec::new();
    if u64::try_from(count).is_ok_and(|count| all < count) {
        return (0..=all).collect();
    }
    if dtype.kind == DtypeKind::Float {
        let exact =
            [1.0, -1.0, 0.0, 2.5, -0.75, 3.0, 0.5, -7.25, 1.5, 100.0, 0.1, -0.3, 13.0, 0.015];
        out.extend(exact.iter().filter_map(|value| match dtype.bits {
            64 => Some(f64::to_bits(*value)),
            32 => Some(u64::from((*value as f32).to_bits())),
            _ => None,
        }));
        // An infinity and what is no number, where there are any.
        let fraction = dtype.format.as_ref().map_or(0, |format| u32::from(format.fraction));
        let top = (all >> 1) >> fraction << fraction;
        out.extend([top, top | 1, top | all & !(all >> 1)]);
    } else {
        let ends = [0, 1, all, all >> 1, (all >> 1) + 1, 2, all - 1, 3, 7, 10, 5, bits.into()];
        out.extend(ends.iter().map(|value| value & all));
        out.extend((1..bits).step_by(5).map(|bit| 1u64 << bit));
    }
    // Half of them from everywhere.
    out.truncate(count.div_ceil(2));
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    while out.len() < count {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mut value = (state >> 11 ^ state << 17) & all;
        // Floats of everyday sizes: a random exponent is far from 1.
        if let (DtypeKind::Float, Some(format)) = (dtype.kind, &dtype.format) {
            let (fraction, exponent) = (u32::from(format.fraction), u32::from(format.exponent));
            let field = (u64::from(format.bias as u16) + (state >> 58) % 13).saturating_sub(6);
            let low = value & ((1u64 << fraction) - 1);
            value = low | (field << fraction) | (value >> (fraction + exponent) & 1) << (bits - 1);
        }
        out.push(value);
    }
    out
}
