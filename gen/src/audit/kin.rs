//! What an architecture cannot do that its kin can: elementwise operations, exchanges between
//! lanes, steps and index words that operations, passes and rules ask for.
//!
//! Kin are the architectures of one family of instruction sets. Where more of them have a
//! capability than lack it, those that lack it are named once: programs that need it are refused
//! there, or planned another way.
use crate::compile::Compiled;
use crate::diagnostics::{Diagnostic, Diagnostics, Level};
use crate::model::{Arch, Atom, HwModel, LaneXor};
use crate::rules::does;
use lanebook_tables::{IsaId, OpWord, Role, TermNode};
use std::collections::{BTreeMap, BTreeSet};

/// Architectures that a note spells out.
const FEW: usize = 6;
/// Widest wave of which exchanges are asked for, bit by bit of the lane's number.
const LANE_BITS: u32 = 6;

/// Who has each capability, as numbers in the model, and an atom that gives it.
type Able<'m> = BTreeMap<String, (BTreeSet<usize>, &'m Atom)>;

/// See the module.
#[must_use]
pub fn check(compiled: &Compiled) -> Diagnostics {
    let model = &compiled.model;
    let mut families: BTreeMap<u16, BTreeSet<usize>> = BTreeMap::new();
    for (number, arch) in model.archs.iter().enumerate().filter(|(_, arch)| arch.whole) {
        families.entry(root(model, arch.isa).0).or_default().insert(number);
    }
    let mut diags = Diagnostics::new();
    for kin in families.values() {
        for (capability, (have, atom)) in able(compiled, kin) {
            let asked = |number: &usize| {
                lanes(&capability).is_none_or(|mask| mask < widest(&model.archs[*number]))
            };
            let lack: Vec<&Arch> = kin
                .difference(&have)
                .filter(|number| asked(number))
                .map(|number| &model.archs[*number])
                .collect();
            if !lack.is_empty() && have.len() > lack.len() {
                diags.push(said(&capability, have.len(), &lack, atom));
            }
        }
    }
    diags
}

fn said(capability: &str, have: usize, lack: &[&Arch], atom: &Atom) -> Diagnostic {
    let names: Vec<&str> = lack.iter().take(FEW).map(|arch| arch.name.value.as_str()).collect();
    let more = lack.len().saturating_sub(FEW);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let message = format!(
        "nothing does {capability} on {}{more}, where {have} of {} of their family do",
        names.join(", "),
        have + lack.len()
    );
    Diagnostic::at(lack[0].name.span, message)
        .note(atom.name.span, format!("`{}` does so elsewhere", atom.name.value))
        .help("add an atom for it if the machine has one; programs that ask for it are refused there, or planned another way")
        .as_level(Level::Note)
}

/// The instruction set that a family began with.
fn root(model: &HwModel, isa: IsaId) -> IsaId {
    std::iter::successors(Some(isa), |at| model.isa(*at).parent)
        .take(model.isas.len())
        .last()
        .unwrap_or(isa)
}

fn able<'m>(compiled: &'m Compiled, kin: &BTreeSet<usize>) -> Able<'m> {
    let mut out = Able::new();
    for number in kin {
        for entry in compiled.model.archs[*number].atoms.iter().filter(|entry| entry.native) {
            let atom = compiled.model.atom(entry.atom);
            for capability in capabilities(compiled, atom) {
                out.entry(capability).or_insert((BTreeSet::new(), atom)).0.insert(*number);
            }
        }
    }
    out
}

/// What an atom can be asked for, in words.
fn capabilities(compiled: &Compiled, atom: &Atom) -> Vec<String> {
    let mut out = Vec::new();
    // One word of the index language over operands alone: what rules build first of all.
    if let [TermNode::Op(op, arity), rest @ ..] = atom.means.as_slice()
        && rest.len() == usize::from(*arity)
        && rest.iter().all(|node| matches!(node, TermNode::Operand(_)))
    {
        out.push(format!("`{op:?}` of indices").to_lowercase());
    }
    let Some(does) = &atom.does else { return out };
    let dtype = |operand: Option<&crate::model::Operand>| {
        operand
            .and_then(|operand| operand.dtype)
            .and_then(|id| compiled.model.dtypes.get(id.index()))
            .map_or("registers", |dtype| dtype.name.value.as_str())
    };
    let from = dtype(does.uses.first().and_then(|number| atom.operands.get(usize::from(*number))));
    let to = dtype(
        atom.operands.iter().find(|operand| matches!(operand.role, Role::Def | Role::UseDef)),
    );
    match does::word(&does.op, |name| compiled.rules.ops.named(name)) {
        Some(OpWord::ShuffleXor) => {
            let joined = (0..LANE_BITS)
                .map(|bit| 1u8 << bit)
                .filter(|mask| does.lanes.iter().any(|lanes| joins(lanes, *mask)));
            out.extend(joined.map(exchange));
        }
        Some(_) if from == to => out.push(format!("`{}` of {from}", does.op.value)),
        Some(_) => out.push(format!("`{}` from {from} to {to}", does.op.value)),
        None => {}
    }
    out
}

fn joins(lanes: &LaneXor, mask: u8) -> bool {
    lanes.masks.0 <= mask && mask <= lanes.masks.1
}

const EXCHANGE: &str = "an exchange of lanes whose numbers differ by ";

fn exchange(mask: u8) -> String {
    format!("{EXCHANGE}{mask}")
}

/// The mask of an exchange: a narrower wave does not ask for it.
fn lanes(capability: &str) -> Option<u16> {
    capability.strip_prefix(EXCHANGE)?.parse().ok()
}

fn widest(arch: &Arch) -> u16 {
    arch.wave_lanes.value.iter().copied().max().unwrap_or(0)
}
