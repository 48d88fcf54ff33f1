//! What an access needs of the steps before it, counted from nothing.
use lanebook::TABLES;
use lanebook::compile::Compiled;
use lanebook::emit::step::{Inst, InstKind, Slot};
use lanebook::tables::{ArchId, Atom, Role};
use std::collections::BTreeSet;

/// The steps that the addresses of some others need, all the way from the thread's number; loads of
/// kernel arguments are needed whatever the addresses are. `roots`: steps that are among them
/// although nothing reads what they make by its number, such as a start in a register with a fixed
/// name.
#[must_use]
pub fn slice(
    compiled: &Compiled<'_>,
    moves: &[usize],
    roots: &[usize],
    arch: ArchId,
) -> BTreeSet<usize> {
    let isa = TABLES.arch(arch).and_then(|arch| TABLES.isa(arch.isa));
    let is_load = |step: &Inst| {
        isa.is_some_and(|isa| [isa.load_param32, isa.load_param64].contains(&step.atom))
    };
    let (mut wanted, mut out) = (BTreeSet::new(), BTreeSet::new());
    for (at, step) in compiled.steps.iter().enumerate().rev() {
        let Some(atom) = TABLES.atom(step.atom).filter(|_| step.purpose != InstKind::Label) else {
            continue;
        };
        if moves.contains(&at) {
            wanted.extend(addresses(atom, step));
            continue;
        }
        let made: Vec<(u8, u16)> =
            registers(atom, step, |role| matches!(role, Role::Def | Role::UseDef));
        let read_later = made.iter().any(|register| wanted.contains(register));
        if !(read_later || roots.contains(&at)) {
            continue;
        }
        made.iter().for_each(|register| {
            wanted.remove(register);
        });
        if is_load(step) {
            continue;
        }
        let read = |role| matches!(role, Role::Use | Role::UseDef | Role::Address);
        wanted.extend(registers(atom, step, read));
        out.insert(at);
    }
    out
}

/// Registers with the addresses of an access, or the number of the lane that is read.
fn addresses(atom: &Atom<'_>, step: &Inst) -> Vec<(u8, u16)> {
    let by = atom.does.into_iter().flat_map(|does| does.lanes).find_map(|lane| lane.by);
    let is_one = |number: usize, role| {
        role == Role::Address || by.is_some_and(|by| usize::from(by.0) == number)
    };
    let numbered = atom.operands.iter().enumerate();
    numbered
        .filter(|(number, operand)| is_one(*number, operand.role))
        .flat_map(|(number, _)| plain(step.arg(number)))
        .collect()
}

fn plain(slot: Slot) -> Vec<(u8, u16)> {
    match slot {
        Slot::Reg { class, count, first } | Slot::Spread { class, count, first, .. } => {
            (0..count).map(|k| (class, first + k)).collect()
        }
        _ => Vec::new(),
    }
}

fn registers(atom: &Atom<'_>, step: &Inst, wanted: impl Fn(Role) -> bool) -> Vec<(u8, u16)> {
    let numbered = atom.operands.iter().enumerate();
    numbered
        .filter(|(_, operand)| wanted(operand.role))
        .flat_map(|(number, _)| plain(step.arg(number)))
        .collect()
}
