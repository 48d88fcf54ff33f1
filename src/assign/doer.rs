//! The instruction that does an elementwise operation: asked when tiles are given their registers, and when it is emitted.

use crate::plan::LanePlan;
use lanebook_tables::{Arch, Atom, AtomId, Does, Dtype, DtypeId, LaneXor, OpWord, Role, Tables};

/// The atom that does an operation of `arity` operands of one element type, and how many operand registers make a result
/// register: the one that takes the most at once. Where an operand register makes several result registers, the one for number `part` of them.
pub(crate) fn doer<'t>(
    tables: &'t Tables<'t>,
    arch: &Arch<'t>,
    op: OpWord,
    arity: usize,
    (from, to): (DtypeId, DtypeId),
    part: u8,
) -> Option<(AtomId, &'t Atom<'t>, usize)> {
    let able = arch.atoms.iter().filter(|a| a.native).filter_map(|a| {
        let atom = tables.atom(a.atom)?;
        let does = atom.does.filter(|d| d.op == op && d.part == part)?;
        let operand = |k: u8| atom.operands.get(usize::from(k));
        let typed = does.uses.iter().all(|&k| operand(k).is_some_and(|o| o.dtype == Some(from)));
        let result = atom.operands.iter().any(|o| o.role == Role::Def && o.dtype == Some(to));
        let pack = does.uses.len().checked_div(arity)?;
        let whole = pack > 0 && pack.checked_mul(arity) == Some(does.uses.len());
        if typed && result && whole { Some((a.atom, atom, pack)) } else { None }
    });
    // Of those that take the most the one that issues soonest, and of these the first.
    able.fold(None, |best: Option<(AtomId, &Atom<'_>, usize)>, next| match best {
        Some(best) if (next.2, best.1.cost.issue) <= (best.2, next.1.cost.issue) => Some(best),
        _ => Some(next),
    })
}

/// Of the atoms of an architecture that do something as `how` wants it the one that issues soonest, and what `how` says of it.
fn cheapest<'t, T>(tables: &'t Tables<'t>, arch: &Arch<'t>, how: impl Fn(&Does<'t>) -> Option<T>) -> Option<(AtomId, &'t Atom<'t>, T)> {
    let able = arch.atoms.iter().filter(|a| a.native).filter_map(|a| {
        let atom = tables.atom(a.atom)?;
        Some((a.atom, atom, how(atom.does?)?))
    });
    able.min_by_key(|(_, atom, _)| atom.cost.issue)
}

/// The cheapest exchange between lanes whose numbers differ in `mask`, and how it names them; `None` where only memory joins such lanes.
pub(crate) fn lane_exchange<'t>(tables: &'t Tables<'t>, arch: &Arch<'t>, mask: u8) -> Option<(AtomId, &'t Atom<'t>, &'t LaneXor<'t>)> {
    cheapest(tables, arch, |does| does.lanes.iter().find(|l| does.op == OpWord::Exchange && l.masks.0 <= mask && mask <= l.masks.1))
}

/// The cheapest instruction that moves a register of a conversion between lanes, and how it names the lane that is read.
pub(crate) fn lane_mover<'t>(tables: &'t Tables<'t>, arch: &Arch<'t>, plan: &LanePlan, word: u32) -> Option<(AtomId, &'t Atom<'t>, &'t LaneXor<'t>)> {
    let far = u8::try_from(plan.far(word)).ok()?;
    let fixed = if plan.is_straight() { lane_exchange(tables, arch, far) } else { None };
    if fixed.is_some() {
        return fixed;
    }
    // Reductions have better ones than those whose lanes stand in a register.
    let moves = |op: OpWord| op == OpWord::Gather || op == OpWord::Exchange;
    cheapest(tables, arch, |does| does.lanes.iter().find(|l| moves(does.op) && l.by.is_some() && far <= l.masks.1))
}

/// The instruction that makes a register of any bytes of two.
#[derive(Copy, Clone)]
pub(crate) struct ChooseBytes<'t> {
    /// Its number.
    pub id: AtomId,
    /// Itself; the last operand it uses says which bytes.
    pub atom: &'t Atom<'t>,
    /// Bits that say one byte.
    pub bits: u8,
}

/// The cheapest choice of bytes of an architecture.
pub(crate) fn choose_bytes<'t>(tables: &'t Tables<'t>, arch: &Arch<'t>) -> Option<ChooseBytes<'t>> {
    let bits = |does: &Does<'_>| (does.op == OpWord::Choose && does.selector > 0 && does.uses.len() == 3).then_some(does.selector);
    cheapest(tables, arch, bits).map(|(id, atom, bits)| ChooseBytes { id, atom, bits })
}

/// Whether an operation is done at all: by one atom for each share of an operand register, which may leave the packing of its results to another.
pub(crate) fn is_done(tables: &Tables<'_>, arch: &Arch<'_>, op: OpWord, arity: usize, from: DtypeId, to: DtypeId) -> bool {
    let bits = |id| tables.dtype(id).map_or(0, |d: &Dtype<'_>| d.bits);
    let has = |part| doer(tables, arch, op, arity, (from, to), part);
    (0..shares(bits(from), bits(to))).all(|part| has(part).is_some())
}

/// Registers of elements of `to` bits that the elements of one register of elements of `from` bits fill.
pub(crate) fn shares(from: u16, to: u16) -> u8 {
    let wide = |bits: u16| bits.clamp(1, 32);
    wide(to).checked_div(wide(from)).and_then(|n| u8::try_from(n).ok()).unwrap_or(1).max(1)
}
