//! The instruction that does an elementwise operation: asked when tiles are given their registers,
//! and when it is emitted.

use crate::data::ShufflePlan;
#[doc(hidden)]
pub use lanebook_tables::shares;
use lanebook_tables::{
    Arch, Atom, AtomId, Capability, DtypeId, Elementwise, LaneXor, OpWord, Tables,
};

/// The atom that does an operation of `arity` operands of one element type, and how many operand
/// registers make a result register: the one that takes the most at once. Where an operand register
/// makes several result registers, the one for number `part` of them.
#[doc(hidden)]
pub fn select_elementwise<'t>(
    tables: &'t Tables<'t>,
    arch: &Arch<'t>,
    op: OpWord,
    arity: usize,
    (from, to): (DtypeId, DtypeId),
    part: u8,
) -> Option<(AtomId, &'t Atom<'t>, usize)> {
    let wanted =
        Capability::Elementwise { word: op, arity: u8::try_from(arity).ok()?, from, to, part };
    let id = *arch.dispatch(wanted).first()?;
    let atom = tables.atom(id)?;
    Some((id, atom, atom.does?.uses.len().checked_div(arity)?))
}

/// Of the atoms that can do something the first that does it as `how` wants it, and what `how` says
/// of it.
fn first<'t, T>(
    tables: &'t Tables<'t>,
    arch: &Arch<'t>,
    wanted: Capability,
    how: impl Fn(&Elementwise<'t>) -> Option<T>,
) -> Option<(AtomId, &'t Atom<'t>, T)> {
    arch.dispatch(wanted).iter().find_map(|id| {
        let atom = tables.atom(*id)?;
        Some((*id, atom, how(atom.does?)?))
    })
}

/// The cheapest exchange between lanes whose numbers differ in `mask`, and how it names them;
/// `None` where only memory joins such lanes.
#[doc(hidden)]
pub fn lane_shuffle<'t>(
    tables: &'t Tables<'t>,
    arch: &Arch<'t>,
    mask: u8,
) -> Option<(AtomId, &'t Atom<'t>, &'t LaneXor<'t>)> {
    first(tables, arch, Capability::ShuffleXor, |does| {
        does.lanes.iter().find(|l| l.masks.0 <= mask && mask <= l.masks.1)
    })
}

/// The cheapest instruction that moves a register of a conversion between lanes, and how it names
/// the lane that is read.
#[doc(hidden)]
pub fn lane_move_atom<'t>(
    tables: &'t Tables<'t>,
    arch: &Arch<'t>,
    plan: &ShufflePlan,
    word: u32,
) -> Option<(AtomId, &'t Atom<'t>, &'t LaneXor<'t>)> {
    let far = u8::try_from(plan.far(word)).ok()?;
    let fixed = if plan.is_straight() { lane_shuffle(tables, arch, far) } else { None };
    if fixed.is_some() {
        return fixed;
    }
    // Reductions have better ones than those whose lanes stand in a register.
    first(tables, arch, Capability::ShuffleIndex, |does| {
        does.lanes.iter().find(|l| l.by.is_some() && far <= l.masks.1)
    })
}

/// The instruction that makes a register of any bytes of two.
#[derive(Copy, Clone)]
#[doc(hidden)]
pub struct BytePermutes<'t> {
    /// Its number.
    pub id: AtomId,
    /// Itself; the last operand it uses says which bytes.
    pub atom: &'t Atom<'t>,
    /// Bits that say one byte.
    pub bits: u8,
}

/// The cheapest choice of bytes of an architecture.
#[doc(hidden)]
pub fn permute_bytes<'t>(tables: &'t Tables<'t>, arch: &Arch<'t>) -> Option<BytePermutes<'t>> {
    first(tables, arch, Capability::BytePermute, |does| Some(does.selector))
        .map(|(id, atom, bits)| BytePermutes { id, atom, bits })
}

/// Whether an operation is done at all: by one atom for each share of an operand register, which
/// may leave the packing of its results to another.
pub(crate) fn is_done(
    tables: &Tables<'_>,
    arch: &Arch<'_>,
    op: OpWord,
    arity: usize,
    from: DtypeId,
    to: DtypeId,
) -> bool {
    tables.is_done(arch, op, arity, (from, to))
}
