//! Shared tiles: whose tile each one holds when a step reads it.

use crate::contents::ContentsContext;
use crate::contents::storage::{ContentsPool, ContentsScratch, LOOPS, NO_LOOP, Turned};
use crate::evaluator::power;
use crate::memory::alloc::shares_bytes;
use crate::order::walks::narrow;
use crate::stages::staged_tile;
use crate::violation::Violation;
use lanebook_emit::step::Inst;
use lanebook_ir::Op;
use lanebook_plan::End;
use lanebook_tables::{OpRole, Space};

/// Most shared tiles.
const TILES: usize = 64;
/// Most shared tiles that one step touches.
const TOUCHED: usize = 4;
/// Most pairs that one read leads to.
const PAIRS: usize = 32;

/// What a shared tile holds.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Default)]
pub(super) enum TileState {
    /// Nothing that is known: nobody has written it, or something that shares its bytes.
    #[default]
    Nothing,
    /// What an operation writes, so many of its steps.
    Written(u16, u16),
    /// What it holds where the ways into a loop meet.
    Loop(u8),
}

/// What the program says that it holds.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Version {
    /// Nobody has written it.
    Nothing,
    /// What an operation has written.
    Op(Op),
    /// What it holds at the head of a loop that writes it.
    Loop(Op),
}

pub(super) type TileStates = heapless::Vec<TileState, TILES>;

/// One step's access to a tile.
#[derive(Copy, Clone)]
struct TileAccess {
    alloc: u16,
    writes: bool,
    /// The operation whose access it is in the program.
    op: Op,
    /// An exchange: it reads what it has written itself.
    own: bool,
}

/// The tiles that a step touches.
fn accesses(look: &ContentsContext<'_>, step: &Inst) -> heapless::Vec<TileAccess, TOUCHED> {
    let mut out = heapless::Vec::new();
    let Some(atom) = look.atom(step) else { return out };
    let own = |op: Op| op.index() == usize::from(step.origin);
    if let Some(exchange) = look
        .plan
        .exchanges
        .iter()
        .find(|e| own(e.op) && (e.store.is_by(step.atom) || e.load.is_by(step.atom)))
    {
        let Some(movement) = atom.movement else { return out };
        let _ = out.push(TileAccess {
            alloc: exchange.alloc,
            writes: movement.to.space == Space::Shared,
            op: exchange.op,
            own: true,
        });
        return out;
    }
    let product = look.plan.products.iter().find(|p| own(p.op));
    if let Some(p) = product {
        let copied = |atom| p.copied.iter().flatten().filter(move |c| c.atom == atom);
        let read = if p.product.atom == step.atom { p.shared } else { [None; 2] };
        for given in read.iter().flatten().chain(copied(step.atom).map(|c| &c.given)) {
            let _ = out.push(TileAccess {
                alloc: given.alloc,
                writes: false,
                op: given.load,
                own: false,
            });
        }
        return out;
    }
    let Some(m) = look.plan.transfers.iter().find(|m| own(m.op) && m.is_by(step.atom)) else {
        return out;
    };
    let sides = match (m.tiled, atom.movement) {
        (Some(_), _) => [true, true],
        (None, Some(movement)) => {
            [movement.from.space == Space::Shared, movement.to.space == Space::Shared]
        }
        _ => [false; 2],
    };
    for ((end, writes), touched) in [(m.from, false), (m.to, true)].into_iter().zip(sides) {
        if let (End::Shared(alloc), true) = (end, touched) {
            let _ = out.push(TileAccess { alloc, writes, op: m.op, own: false });
        }
    }
    out
}

/// Whether an operation writes a tile.
fn writes(look: &ContentsContext<'_>, op: Op, alloc: u16) -> bool {
    look.plan.transfers.iter().any(|m| m.op == op && m.to == End::Shared(alloc))
}

fn written_inside(look: &ContentsContext<'_>, around: Op, alloc: u16) -> bool {
    look.program.inside(around).any(|op| writes(look, op, alloc))
}

/// What a tile holds behind `from`, or at the beginning of the block of `around` if there is
/// nothing.
fn version(
    look: &ContentsContext<'_>,
    loops: &[Turned],
    from: Option<Op>,
    around: Option<Op>,
    alloc: u16,
) -> Version {
    let (mut at, mut around) = (from, around);
    loop {
        while let Some(op) = at {
            if writes(look, op, alloc) {
                return Version::Op(op);
            }
            if look.program.role(op) == OpRole::For && written_inside(look, op, alloc) {
                // Behind a loop whose first turn is certain: what its last turn has left.
                let certain = loops.iter().any(|l| {
                    l.nth != NO_LOOP && l.meet == l.first && look.nth_loop(l.nth) == Some(op)
                });
                if !certain {
                    return Version::Loop(op);
                }
                around = Some(op);
                at = look.program.body(op).and_then(|body| look.program.last(body));
                continue;
            }
            at = look.program.previous(op);
        }
        let Some(parent) = around.filter(|op| look.program.role(*op) == OpRole::For) else {
            return Version::Nothing;
        };
        if written_inside(look, parent, alloc) {
            return Version::Loop(parent);
        }
        at = look.program.previous(parent);
        around = look.program.parent(parent);
    }
}

/// What a tile holds before an operation.
fn before(look: &ContentsContext<'_>, loops: &[Turned], op: Op, alloc: u16) -> Version {
    version(look, loops, look.program.previous(op), look.program.parent(op), alloc)
}

/// What it holds at the end of a loop's turn.
fn behind_turn(look: &ContentsContext<'_>, loops: &[Turned], around: Op, alloc: u16) -> Version {
    version(
        look,
        loops,
        look.program.body(around).and_then(|body| look.program.last(body)),
        Some(around),
        alloc,
    )
}

/// Tiles before each loop and at the end of its turns.
pub(super) type LoopStates = [[TileStates; 2]];

/// Every read of a shared tile finds the tile that the program reads there.
#[inline(never)]
pub(super) fn tiles(
    look: &ContentsContext<'_>,
    scratch: &mut ContentsScratch<'_>,
) -> Result<(), Violation> {
    let room = Violation::Room { pool: ContentsPool::Loops, capacity: narrow(LOOPS).into() };
    for _ in scratch.loops.iter() {
        scratch.tiles.push([TileStates::new(), TileStates::new()]).map_err(|_| room)?;
    }
    let (loops, ways) = (&*scratch.loops, &mut *scratch.tiles);
    walk(look, loops, ways, false)?;
    walk(look, loops, ways, true)
}

/// One walk over all steps; the second one checks what is read.
fn walk(
    look: &ContentsContext<'_>,
    loops: &[Turned],
    ways: &mut LoopStates,
    checks: bool,
) -> Result<(), Violation> {
    let mut state = TileStates::new();
    let room = Violation::Room { pool: ContentsPool::Tiles, capacity: narrow(TILES).into() };
    state.resize(look.plan.allocs.len(), TileState::Nothing).map_err(|_| room)?;
    for (at, step) in (0u16..).zip(look.steps) {
        for (number, l) in (0u8..).zip(loops.iter()) {
            let Some(own) = ways.get_mut(usize::from(number)) else { continue };
            let [first, end] = own;
            if l.first == at {
                *first = state.clone();
                if l.nth != NO_LOOP {
                    turn(look, &mut state, (l.first, l.last), number);
                }
            }
            let ends = if l.meet == l.first { l.last } else { l.meet };
            if ends == at {
                *end = state.clone();
                if l.meet != l.first {
                    turn(look, &mut state, (l.first, l.last), number);
                }
            }
        }
        // By reference: a list that is taken apart by value keeps a panic.
        for &access in &accesses(look, step) {
            if access.writes {
                write(look, &mut state, access);
            } else if checks && !is_staged(look, access) {
                let held = state.get(usize::from(access.alloc)).copied().unwrap_or_default();
                let want = if access.own {
                    Version::Op(access.op)
                } else {
                    before(look, loops, access.op, access.alloc)
                };
                if !holds(look, (&*ways, loops), access.alloc, held, want) {
                    let by = if let TileState::Written(by, _) = held { by } else { u16::MAX };
                    return Err(Violation::Tile { step: at, alloc: access.alloc, by });
                }
            }
        }
    }
    Ok(())
}

/// Whether a tile is one of several buffers that a load reads: its copy alone writes it, in the
/// turns and the buffers that statements 2a and 18 say, ordered as 14 says.
fn is_staged(look: &ContentsContext<'_>, access: TileAccess) -> bool {
    let tile = look.plan.allocs.get(usize::from(access.alloc));
    !access.own && tile.is_some_and(|a| staged_tile(look.program, look.plan, a.value).is_some())
}

/// What a loop writes is its own.
fn turn(look: &ContentsContext<'_>, state: &mut TileStates, (first, last): (u16, u16), number: u8) {
    for step in look.steps.iter().take(usize::from(last).saturating_add(1)).skip(usize::from(first))
    {
        for access in accesses(look, step).iter().filter(|a| a.writes) {
            let Some(own) = look.plan.allocs.get(usize::from(access.alloc)) else { continue };
            for (held, other) in state.iter_mut().zip(look.plan.allocs.iter()) {
                if shares_bytes((own.offset, own.bytes), (other.offset, other.bytes)) {
                    *held = TileState::Loop(number);
                }
            }
        }
    }
}

/// A step writes a part of a tile: what shares bytes with it is gone.
fn write(look: &ContentsContext<'_>, state: &mut TileStates, access: TileAccess) {
    let Some(own) = look.plan.allocs.get(usize::from(access.alloc)) else { return };
    let number = u16::try_from(access.op.index()).unwrap_or(u16::MAX);
    let total = steps_of(look, access.op, access.alloc);
    for ((k, held), other) in (0u16..).zip(state.iter_mut()).zip(look.plan.allocs.iter()) {
        if k == access.alloc {
            *held = match *held {
                TileState::Written(op, many) if op == number && many < total => {
                    TileState::Written(op, many.saturating_add(1))
                }
                _ => TileState::Written(number, 1),
            };
        } else if shares_bytes((own.offset, own.bytes), (other.offset, other.bytes)) {
            *held = TileState::Nothing;
        }
    }
}

/// How many steps write a tile for an operation: of an exchange in rounds those of one, after which
/// the next one writes it anew.
fn steps_of(look: &ContentsContext<'_>, op: Op, alloc: u16) -> u16 {
    let own = |s: &&Inst| {
        usize::from(s.origin) == op.index()
            && accesses(look, s).iter().any(|a| a.writes && a.alloc == alloc)
    };
    let exchange = look.plan.exchanges.iter().find(|e| e.op == op && e.alloc == alloc);
    let rounds = exchange.and_then(|e| power(e.rounds.len())).unwrap_or(1);
    let rounds = usize::try_from(rounds).unwrap_or(1);
    let each = look.steps.iter().filter(own).count().checked_div(rounds).unwrap_or(0);
    u16::try_from(each).unwrap_or(u16::MAX)
}

/// Whether a tile that holds `held` is what the program says.
fn holds(
    look: &ContentsContext<'_>,
    ways: (&LoopStates, &[Turned]),
    alloc: u16,
    held: TileState,
    want: Version,
) -> bool {
    let mut pairs: heapless::Vec<(TileState, Version), PAIRS> = heapless::Vec::new();
    let _ = pairs.push((held, want));
    let mut next = 0usize;
    while let Some(&(held, want)) = pairs.get(next) {
        next = next.saturating_add(1);
        let Some(more) = leads_to(look, ways, alloc, held, want) else { return false };
        for pair in more.into_iter().flatten() {
            if !pairs.contains(&pair) && pairs.push(pair).is_err() {
                return false;
            }
        }
    }
    true
}

/// What has to hold for a tile to be what the program says; `None` if it is not.
fn leads_to(
    look: &ContentsContext<'_>,
    (ways, loops): (&LoopStates, &[Turned]),
    alloc: u16,
    held: TileState,
    want: Version,
) -> Option<[Option<(TileState, Version)>; 2]> {
    let (inside, around) = match want {
        // Nobody has written it: whatever it holds will do.
        Version::Nothing => return Some([None; 2]),
        Version::Op(op) => (op, None),
        Version::Loop(op) => (op, Some(op)),
    };
    if let TileState::Loop(number) = held {
        let turned = loops.get(usize::from(number))?;
        let [first, end] = ways.get(usize::from(number))?;
        let at = |state: &TileStates| state.get(usize::from(alloc)).copied();
        if turned.nth == NO_LOOP {
            let left_out = in_front(look, (ways, loops), (turned, at(first)?), alloc);
            return Some([left_out.or(Some((at(first)?, want))), Some((at(end)?, want))]);
        }
        let own = look.nth_loop(turned.nth)?;
        if around == Some(own) {
            return Some([
                Some((at(first)?, before(look, loops, own, alloc))),
                Some((at(end)?, behind_turn(look, loops, own, alloc))),
            ]);
        }
        if look.program.inside(own).any(|op| op == inside) {
            return None;
        }
        return Some([Some((at(first)?, want)), Some((at(end)?, want))]);
    }
    if let Some(op) = around {
        return Some([
            Some((held, before(look, loops, op, alloc))),
            Some((held, behind_turn(look, loops, op, alloc))),
        ]);
    }
    let TileState::Written(by, many) = held else { return None };
    let complete = usize::from(by) == inside.index() && many == steps_of(look, inside, alloc);
    complete.then_some([None; 2])
}

/// Where a branch leaves out all that is of a turn of a loop of stages, which it does in front of the
/// first turn alone (statement 18): the tile is as it was before the loop, in the steps and in the
/// program. `None` if something else has written it since.
fn in_front(
    look: &ContentsContext<'_>,
    (ways, loops): (&LoopStates, &[Turned]),
    (turned, held): (&Turned, TileState),
    alloc: u16,
) -> Option<(TileState, Version)> {
    let part = look.order().left_out(turned.first.checked_sub(1)?).filter(|part| !part.copies)?;
    let own = |l: &Turned| l.nth != NO_LOOP && look.nth_loop(l.nth) == Some(part.around);
    let number = loops.iter().position(own)?;
    if held != TileState::Loop(u8::try_from(number).ok()?) {
        return None;
    }
    let [first, _] = ways.get(number)?;
    Some((*first.get(usize::from(alloc))?, before(look, loops, part.around, alloc)))
}

impl ContentsContext<'_> {
    /// The program's loop that a loop of the steps is: both come in the order in which they begin.
    /// Those inside of parallel loops are carried out turn by turn.
    pub(super) fn nth_loop(&self, number: u8) -> Option<Op> {
        let function = self.program.functions().next()?;
        let unrolled = |op: Op| {
            let mut around = core::iter::successors(Some(op), |at| self.program.parent(*at));
            around.any(|at| self.program.role(at) == OpRole::Parallel)
        };
        self.program
            .inside(function)
            .filter(|op| self.program.role(*op) == OpRole::For && !unrolled(*op))
            .nth(usize::from(number))
    }
}
