//! Stages: which copies run ahead of their loop's turns, by the text alone.
//!
//! A loop of `n` stages is gone through `n - 1` times more than it has turns. In time `j` (from 0)
//! copies bring the tiles of turn `j`, as far as there is one, into buffer `j mod n`; all else in
//! the body belongs to turn `j - (n - 1)`, as far as there is one.

use lanebook_ir::{Op, Program, Value};
use lanebook_tables::{OpRole, Space};

/// The copy that fills a tile turns ahead.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct StagedTile {
    /// The loop.
    pub around: Op,
    /// The copy.
    pub copy: Op,
    /// Buffers.
    pub stages: u8,
}

/// The loop that a copy runs ahead of.
pub(crate) fn ahead_of(program: &Program<'_, '_>, copy: Op) -> Option<Op> {
    let space = |k: usize| program.operand(copy, k).and_then(|v| program.type_of(v).space);
    let loads = program.role(copy) == OpRole::Copy
        && space(0) == Some(Space::Global)
        && space(1) == Some(Space::Shared);
    program.parent(copy).filter(|around| {
        loads && program.role(*around) == OpRole::For && program.stages(*around) > 1
    })
}

/// The copy that fills a tile turns ahead.
pub(crate) fn staged_tile(program: &Program<'_, '_>, tile: Value) -> Option<StagedTile> {
    let mut users = program.uses(tile).filter_map(|place| program.user(place));
    users.find_map(|copy| {
        let around = ahead_of(program, copy).filter(|_| program.operand(copy, 1) == Some(tile))?;
        Some(StagedTile { around, copy, stages: program.stages(around) })
    })
}
