//! The checkers of final steps, with room for the kernels here.

use lanebook::TABLES;
use lanebook::check::{ContentsStorage, FinalSteps, StepsSummary, Violation, steps};
use lanebook::compile::Compiled;
use lanebook::ir::Program;
use lanebook::tables::Tables;
use std::sync::{Mutex, PoisonError, TryLockError};

/// Room for the kernels here.
type Room = ContentsStorage<16384, 16384, 262144, 65536>;

/// For threads that check at once, which are tests times what each of them asks at once on two cores: they are too large for a stack.
static ROOMS: [Mutex<Room>; 4] = [const { Mutex::new(Room::new()) }; 4];

/// Checks the order of final steps, and what they leave where.
///
/// # Errors
/// What is wrong.
pub fn check(
    program: &Program<'_, '_>,
    kernel: &FinalSteps<'_>,
) -> Result<StepsSummary, Violation> {
    check_by(&TABLES, program, kernel)
}

/// The same of a kernel that was made from other tables.
fn check_by(
    tables: &Tables<'_>,
    program: &Program<'_, '_>,
    kernel: &FinalSteps<'_>,
) -> Result<StepsSummary, Violation> {
    let free = ROOMS.iter().find_map(|room| match room.try_lock() {
        Ok(room) => Some(room),
        Err(TryLockError::Poisoned(room)) => Some(room.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    });
    let mut room = free.unwrap_or_else(|| ROOMS[0].lock().unwrap_or_else(PoisonError::into_inner));
    steps(tables, program, kernel, &mut room.scratch())
}

/// Checks the steps of every kernel that tests compile, in builds with debug assertions.
///
/// # Panics
/// When something is wrong.
pub fn every_kernel(program: &Program<'_, '_>, compiled: &Compiled<'_>, source: &str, arch: &str) {
    every_kernel_by(&TABLES, program, compiled, source, arch);
}

/// The same of a kernel that was made from other tables.
///
/// # Panics
/// When something is wrong.
pub fn every_kernel_by(
    tables: &Tables<'_>,
    program: &Program<'_, '_>,
    compiled: &Compiled<'_>,
    source: &str,
    arch: &str,
) {
    if cfg!(debug_assertions)
        && let Err(violation) = check_by(tables, program, &FinalSteps::of(compiled))
        // What a snippet leaves is shown by running it: `snippets`.
        && !(violation == Violation::Snippet && compiled.snippet(tables, program).is_some())
    {
        panic!("{arch}: the steps of a kernel are wrong: {violation:?}\n{source}");
    }
}
