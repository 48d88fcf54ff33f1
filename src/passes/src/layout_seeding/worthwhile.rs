//! Which products are given their instructions by passes, where a planner would give them some as
//! well: those with which the program costs no more.
use crate::PassError;
use crate::layout_seeding::{LayoutSeeding, ProgramPrice, open, product};
use lanebook_tables::OpRole;

/// Products by their numbers in the text, the first on the lowest bit; those behind the last bit
/// are as that says.
pub(super) type Products = u128;

/// Products that get their instructions here. Where a program is planned, its planner gives them
/// instructions as well: what is said here must cost no more than what it would decide.
pub(super) fn products(
    work: &mut LayoutSeeding<'_, '_, '_, '_, '_>,
) -> Result<Products, PassError> {
    let all = Products::MAX;
    if work.appraiser.is_none() || !open::is_planned(work.cx.program) {
        return Ok(all);
    }
    let (together, whole) = tried(work, all, 0)?;
    let Some(own) = price(work).filter(|_| together > 0) else { return Ok(all) };
    if whole.is_some_and(|found| found.is_at_most(own)) {
        return Ok(all);
    }
    // Not all of them: one after the other, each with those that were worth it.
    let (mut taken, mut count, mut best) = (0, 0, own);
    let program = &*work.cx.program;
    let products = program.all().filter(|op| program.role(*op) == OpRole::Matrix).count();
    let last = if together > 1 { u32::try_from(products).unwrap_or(u32::MAX) } else { 0 };
    for number in 0..last.min(Products::BITS) {
        let with = taken | 1u128.wrapping_shl(number);
        let (given, found) = tried(work, with, count)?;
        if let Some(found) = found.filter(|found| found.is_at_most(best)) {
            (taken, count, best) = (with, given, found);
        }
    }
    Ok(taken)
}

/// How many of some products take an instruction, and what the program costs then, if they are more
/// than `beyond`.
fn tried(
    work: &mut LayoutSeeding<'_, '_, '_, '_, '_>,
    products: Products,
    beyond: u32,
) -> Result<(u32, Option<ProgramPrice>), PassError> {
    let attempt = work.cx.attempt();
    let given = product::give(work, products);
    let found = match &given {
        Ok(given) if *given > beyond => price(work),
        _ => None,
    };
    work.cx.take_back(attempt);
    given.map(|given| (given, found))
}

fn price(work: &mut LayoutSeeding<'_, '_, '_, '_, '_>) -> Option<ProgramPrice> {
    work.appraiser.as_mut()?.price(work.cx.program, &work.room.book)
}
