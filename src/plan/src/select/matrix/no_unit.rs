//! Why a product has no candidate, of the instruction that comes closest.

use crate::data::Reject;
use lanebook_ir::{Op, Program};
use lanebook_tables::{Arch, Capability, Tables};
use lanebook_tile::unlaid::undivided;

/// What keeps the first instruction that multiplies elements of a product's types from multiplying
/// this one; `None` if there is no such instruction, or the tile is one that it divides.
#[must_use]
#[inline(never)]
pub fn why_no_unit(
    tables: &Tables<'_>,
    arch: &Arch<'_>,
    program: &Program<'_, '_>,
    op: Op,
) -> Option<Reject> {
    let (a, b, c) = (program.operand(op, 0)?, program.operand(op, 1)?, program.operand(op, 2)?);
    let dtype = |value| program.type_of(value).dtype;
    let types = (dtype(a)?, dtype(b)?, dtype(c)?, dtype(program.result(op, 0)?)?);
    let ((m, k), (_, n)) = (program.type_of(a).shape.pair()?, program.type_of(b).shape.pair()?);
    let tile = (u64::from(m), u64::from(n), u64::from(k));
    let wave = arch.wave_lanes.first().copied()?;
    let (a, b, c, d) = types;
    let id = *arch.dispatch(Capability::Product { a, b, c, d }).first()?;
    undivided(tables, id, tables.atom(id)?, (tile, wave))
}
