//! The checker of contents, with room for the kernels here.

use lanebook::TABLES;
use lanebook::check::{ContentsStorage, ContentsSummary, FinalSteps, Violation, contents};
use lanebook::ir::Program;
use std::sync::{Mutex, PoisonError};

/// Room for the kernels here.
type Room = ContentsStorage<2048, 4096, 40960, 32768>;

/// One for all threads: it is too large for a stack.
static ROOM: Mutex<Room> = Mutex::new(Room::new());

/// Checks what final steps leave where.
///
/// # Errors
/// What is wrong.
pub fn check(program: &Program<'_, '_>, kernel: &FinalSteps<'_>) -> Result<ContentsSummary, Violation> {
    let mut room = ROOM.lock().unwrap_or_else(PoisonError::into_inner);
    contents(&TABLES, program, kernel, &mut room.scratch())
}
