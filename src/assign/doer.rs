//! The instruction that does an elementwise operation: asked when tiles are given their registers, and when it is emitted.

use lanebook_tables::{Arch, Atom, AtomId, DtypeId, Role, Tables};

/// The atom that does an operation of `arity` operands of one element type, and how many operand registers make a result
/// register.
pub(crate) fn doer<'t>(tables: &'t Tables<'t>, arch: &Arch<'t>, op: &str, arity: usize, from: DtypeId, to: DtypeId) -> Option<(AtomId, &'t Atom<'t>, usize)> {
    arch.atoms.iter().filter(|a| a.native).find_map(|a| {
        let atom = tables.atom(a.atom)?;
        let does = atom.does.filter(|d| d.op == op)?;
        let operand = |k: u8| atom.operands.get(usize::from(k));
        let typed = does.uses.iter().all(|&k| operand(k).is_some_and(|o| o.dtype == Some(from)));
        let result = atom.operands.iter().any(|o| o.role == Role::Def && o.dtype == Some(to));
        let pack = does.uses.len().checked_div(arity)?;
        let whole = pack > 0 && pack.checked_mul(arity) == Some(does.uses.len());
        if typed && result && whole { Some((a.atom, atom, pack)) } else { None }
    })
}
