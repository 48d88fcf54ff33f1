//! `rules/sequences.ron`: elementwise operations that are several others.
//!
//! Every step is an elementwise operation with as many operands as it is declared with, which are
//! the sequence's own, results of earlier steps, or numbers. No sequence leads back to itself.
use super::Ops;
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::leak::{list, shared};
use crate::model::HwModel;
use crate::schema::Name;
use crate::spanned::Spanned;
use lanebook_suggest::remedy;
use lanebook_tables as t;
use lanebook_tables::{DtypeId, OpId, OpRole, SequenceOperand};
use serde::Deserialize;

/// The file.
pub const FILE: &str = "rules/sequences.ron";

/// Names of a sequence's operands.
const OPERANDS: [&str; 4] = ["a", "b", "c", "d"];

/// One sequence, of several operations and element types.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "sequence")]
pub struct Entry {
    /// The operations.
    pub ops: Vec<Name>,
    /// Elements of the operands; of a selection, of what it selects.
    pub elements: Vec<Name>,
    /// Elements of the result, where they are others.
    #[serde(default)]
    pub to: Option<Name>,
    /// How far the result may be off.
    #[serde(default)]
    pub ulp: u16,
    /// The steps.
    pub steps: Vec<Step>,
    /// The algebra of it.
    pub doc: String,
}

/// A step.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "step")]
pub struct Step {
    /// What later steps call its result.
    #[serde(default)]
    pub name: Option<Name>,
    /// The operation; `same` is the sequence's own.
    pub op: Name,
    /// Names of operands and steps, and numbers.
    pub of: Vec<Name>,
    /// Elements of its result, where they are not those of its operands; `own` are the sequence's.
    #[serde(default)]
    pub to: Option<Name>,
}

/// A sequence of one operation and element type.
#[derive(Clone, Debug)]
pub struct Resolved {
    pub(crate) op: OpId,
    pub(crate) from: DtypeId,
    pub(crate) to: DtypeId,
    pub(crate) ulp: u16,
    pub(crate) steps: Vec<ResolvedStep>,
    pub(crate) at: crate::source::Span,
}

#[derive(Clone, Debug)]
pub(crate) struct ResolvedStep {
    pub(crate) op: OpId,
    pub(crate) to: DtypeId,
    pub(crate) operands: Vec<SequenceOperand>,
    pub(crate) from: DtypeId,
}

struct Names<'a> {
    hw: &'a HwModel,
    ops: &'a Ops,
}

impl Names<'_> {
    fn op(&self, name: &Name) -> Result<(OpId, &super::Op), Diagnostic> {
        let known = || super::does::elementwise(self.ops).map(|(name, _)| name);
        self.ops
            .named(name)
            .and_then(|id| Some((id, self.ops.get(id)?)))
            .filter(|(_, op)| op.role.is_lanewise())
            .ok_or_else(|| {
                let help = remedy(name, known(), "name an elementwise operation of rules/ops.ron");
                Diagnostic::at(name.span, format!("no elementwise operation `{}`", name.value))
                    .help(help)
                    .lacks(name)
            })
    }

    fn dtype(&self, name: &Name) -> Result<DtypeId, Diagnostic> {
        self.hw.dtype_names.get(name).map(DtypeId).ok_or_else(|| {
            let known = self.hw.dtypes.iter().map(|dtype| dtype.name.value.as_str());
            Diagnostic::at(name.span, format!("unknown element type `{}`", name.value))
                .help(remedy(name, known, "name one of hw-tables/dtypes.ron"))
                .lacks(name)
        })
    }

    /// The type of truths.
    fn truth(&self, at: &Name) -> Result<DtypeId, Diagnostic> {
        let found = self.hw.dtypes.iter().position(|dtype| dtype.bits == 1);
        found.and_then(|at| u16::try_from(at).ok()).map(DtypeId).ok_or_else(|| {
            Diagnostic::at(at.span, "there is no element type of one bit")
                .help("declare one in hw-tables/dtypes.ron")
        })
    }

    /// The bits of a number of a type.
    fn number(&self, text: &Name, dtype: DtypeId) -> Result<u64, Diagnostic> {
        let info = self.hw.dtypes.get(dtype.index());
        let (kind, bits) = info.map_or((t::DtypeKind::Bits, 0), |dtype| (dtype.kind, dtype.bits));
        let all = u64::MAX >> (64 - u32::from(bits.clamp(1, 64)));
        let hex = text.strip_prefix("0x").and_then(|hex| u64::from_str_radix(hex, 16).ok());
        let found = match (hex, kind, bits) {
            (Some(hex), ..) => Some(hex).filter(|hex| *hex <= all),
            (None, t::DtypeKind::Float, 32) => {
                text.parse::<f32>().ok().map(|value| u64::from(value.to_bits()))
            }
            (None, t::DtypeKind::Float, 64) => text.parse::<f64>().ok().map(f64::to_bits),
            (None, t::DtypeKind::Signed | t::DtypeKind::Unsigned, _) => {
                text.parse::<i64>().ok().map(|value| value as u64 & all)
            }
            _ => None,
        };
        found.ok_or_else(|| {
            Diagnostic::at(text.span, format!("`{}` is no operand, step or number here", text.value))
                .help("operands are a, b, c; steps by their names; numbers in decimal, of f32 and f64 also their bits in hexadecimal")
        })
    }
}

/// Elements of operand `k` of an operation on such elements: the first of a selection is a truth.
fn operand_type(op: &super::Op, k: usize, elements: DtypeId, truth: DtypeId) -> DtypeId {
    if op.role == OpRole::Select && k == 0 { truth } else { elements }
}

fn one(
    entry: &Entry,
    op: &Name,
    elements: &Name,
    names: &Names<'_>,
) -> Result<Resolved, Diagnostic> {
    let ((id, decl), elements) = (names.op(op)?, names.dtype(elements)?);
    let truth = names.truth(op)?;
    let usual = if decl.entry.truth { truth } else { elements };
    let to = entry.to.as_ref().map_or(Ok(usual), |to| names.dtype(to))?;
    let mut steps: Vec<ResolvedStep> = Vec::new();
    for step in &entry.steps {
        let own = step.op.value == "same";
        let (step_op, step_decl) = if own { (id, decl) } else { names.op(&step.op)? };
        if step.of.len() != usize::from(step_decl.entry.operands.0) {
            return Err(Diagnostic::at(
                step.op.span,
                format!("`{}` takes {} operands", step.op.value, step_decl.entry.operands.0),
            )
            .help("name each of them"));
        }
        let known = |name: &Name| {
            let operand = OPERANDS.iter().position(|own| *own == name.value);
            let earlier = entry
                .steps
                .iter()
                .take(steps.len())
                .position(|step| step.name.as_ref().is_some_and(|own| own.value == name.value));
            match (earlier, operand) {
                (Some(at), _) => {
                    Some((SequenceOperand::Step(at as u8), steps.get(at).map(|step| step.to)?))
                }
                (None, Some(k)) if k < usize::from(decl.entry.operands.0) => Some((
                    SequenceOperand::Operand(k as u8),
                    operand_type(decl, k, elements, truth),
                )),
                _ => None,
            }
        };
        let written: Vec<_> = step.of.iter().map(known).collect();
        let values = written
            .iter()
            .enumerate()
            .filter(|(k, _)| !(step_decl.role == OpRole::Select && *k == 0));
        let own_to = |name: &Name| if name.value == "own" { Ok(to) } else { names.dtype(name) };
        let to = step.to.as_ref().map(own_to).transpose()?;
        let own_type = values
            .filter_map(|(_, found)| found.as_ref().map(|(_, dtype)| *dtype))
            .next()
            .or(to)
            .unwrap_or(elements);
        let usual = if step_decl.entry.truth { truth } else { own_type };
        let operands =
            step.of.iter().zip(&written).enumerate().map(|(k, (text, found))| match found {
                Some((operand, dtype)) => {
                    let wanted = operand_type(step_decl, k, own_type, truth);
                    if *dtype != wanted {
                        let message =
                            format!("`{}` has other elements than the other operands", text.value);
                        return Err(Diagnostic::at(text.span, message).help("convert it by a step"));
                    }
                    Ok(*operand)
                }
                None => Ok(SequenceOperand::Number(own_type, names.number(text, own_type)?)),
            });
        let operands = operands.collect::<Result<Vec<_>, _>>()?;
        let from = operand_type(step_decl, 0, own_type, truth);
        steps.push(ResolvedStep { op: step_op, to: to.unwrap_or(usual), operands, from });
    }
    if steps.len() > t::SEQUENCE_STEPS {
        let message = format!("`{}` has {} steps", op.value, steps.len());
        let help = format!("a sequence has at most {}: use a shorter one", t::SEQUENCE_STEPS);
        return Err(Diagnostic::at(op.span, message).help(help));
    }
    if steps.last().is_none_or(|last| last.to != to) {
        return Err(Diagnostic::at(op.span, "its last step does not make its result")
            .help("the last step makes elements of the result's type"));
    }
    let from = operand_type(decl, 0, elements, truth);
    Ok(Resolved { op: id, from, to, ulp: entry.ulp, steps, at: op.span })
}

/// Names and types are known, and none leads back to itself.
pub(super) fn resolve(
    entries: Vec<Spanned<Entry>>,
    hw: &HwModel,
    ops: &Ops,
    diags: &mut Diagnostics,
) -> Vec<Resolved> {
    let names = Names { hw, ops };
    let mut out: Vec<Resolved> = Vec::new();
    for entry in &entries {
        for op in &entry.ops {
            for elements in &entry.elements {
                match one(entry, op, elements, &names) {
                    Ok(one) => {
                        let key = |r: &Resolved| (r.op, r.from, r.to);
                        if let Some(other) = out.iter().find(|known| key(known) == key(&one)) {
                            let message = format!("`{}` is a sequence twice", op.value);
                            diags.push(
                                Diagnostic::at(op.span, message)
                                    .note(other.at, "the other")
                                    .help("remove one"),
                            );
                        }
                        out.push(one);
                    }
                    Err(error) => diags.push(error),
                }
            }
        }
    }
    for (number, one) in out.iter().enumerate() {
        let (mut seen, mut open) = (vec![false; out.len()], vec![number]);
        while let Some(at) = open.pop() {
            let steps = out.get(at).map_or(&[][..], |one| one.steps.as_slice());
            for step in steps {
                let Some(next) =
                    out.iter().position(|r| (r.op, r.from, r.to) == (step.op, step.from, step.to))
                else {
                    continue;
                };
                if next == number {
                    diags.push(
                        Diagnostic::at(one.at, "this sequence leads back to itself")
                            .help("its steps are operations that instructions do"),
                    );
                    open.clear();
                    break;
                }
                if !std::mem::replace(&mut seen[next], true) {
                    open.push(next);
                }
            }
        }
    }
    out
}

pub(super) fn lower(sequences: &[Resolved]) -> &'static [t::Sequence<'static>] {
    list(sequences.iter().map(|one| {
        let elements = |dtype: DtypeId| match dtype {
            own if own == one.from => t::StepElements::From,
            own if own == one.to => t::StepElements::To,
            other => t::StepElements::Of(other),
        };
        t::Sequence {
            op: one.op,
            from: one.from,
            to: one.to,
            ulp: one.ulp,
            steps: shared(one.steps.iter().map(|step| t::SequenceStep {
                op: Some(step.op).filter(|op| *op != one.op),
                from: elements(step.from),
                to: elements(step.to),
                operands: shared(step.operands.iter().copied()),
            })),
        }
    }))
}
