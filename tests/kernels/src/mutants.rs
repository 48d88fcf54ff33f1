//! Changes of final steps, one at a time: what an emitter with a fault would write. The replay says
//! which of them are wrong.

use crate::interpret::{Given, Interpreted};
use crate::judge::run_text;
use crate::maps::kernel_maps;
use crate::{checked, try_with_plan, with_kernel};
use lanebook::TABLES;
use lanebook::check::{FinalSteps, Violation};
use lanebook::compile::Compiled;
use lanebook::emit::step::{Inst, InstKind, NO_GUARD, Slot};
use lanebook::ir::Program;
use lanebook::plan::End;
use lanebook::tables::{AtomClass, AtomId, IndexOp, Isa, OpWord, Role, Space, TermNode};

/// Numbers of no pattern.
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n.max(1) as u64) as usize
    }
}

/// What the checkers say of changed steps.
#[must_use]
pub fn found(
    program: &Program<'_, '_>,
    compiled: &Compiled<'_>,
    steps: &[Inst],
) -> Option<Violation> {
    let kernel = FinalSteps { steps, ..FinalSteps::of(compiled) };
    checked::check(program, &kernel).err()
}

/// Steps that may be changed: no labels, branches or ends.
fn plain(steps: &[Inst], isa: &Isa<'_>) -> Vec<usize> {
    let fixed = [isa.branch, isa.branch_if, isa.end];
    (0..steps.len())
        .filter(|&k| steps[k].purpose != InstKind::Label && !fixed.contains(&steps[k].atom))
        .collect()
}

/// Whether a step is an operation on integers with a number.
fn counts(step: &Inst, ops: &[IndexOp]) -> bool {
    let does = |term: &TermNode| matches!(term, TermNode::Op(op, _) if ops.contains(op));
    TABLES.atom(step.atom).is_some_and(|a| a.means.iter().any(does))
        && step.args.iter().any(|a| matches!(a, Slot::Int(_) | Slot::Word(_)))
}

/// A step among those that are so, with another number.
fn renumbered(
    steps: &mut [Inst],
    numbers: &mut Numbers,
    among: impl Fn(&Inst) -> bool,
    other: impl Fn(i64) -> i64,
) -> Option<usize> {
    let all: Vec<(usize, usize)> = (0..steps.len())
        .filter(|&k| steps[k].purpose != InstKind::Label && among(&steps[k]))
        .flat_map(|k| (0..8).map(move |a| (k, a)))
        .filter(|&(k, a)| matches!(steps[k].args[a], Slot::Int(_) | Slot::Word(_)))
        .collect();
    let &(k, a) = all.get(numbers.below(all.len()))?;
    steps[k].args[a] = match steps[k].args[a] {
        Slot::Int(v) => Slot::Int(i32::try_from(other(v.into())).ok()?),
        Slot::Word(v) => Slot::Word(u32::try_from(other(v.into())).ok()?),
        same => same,
    };
    Some(k)
}

/// Registers of the operands in some roles, as (operand, class, first, count).
fn operands(step: &Inst, roles: &[Role]) -> Vec<(usize, u8, u16, u16)> {
    let atom = TABLES.atom(step.atom).expect("an atom");
    let all =
        atom.operands.iter().enumerate().filter(|(_, o)| roles.contains(&o.role) && !o.implicit);
    all.filter_map(|(k, _)| match step.arg(k) {
        Slot::Reg { class, count, first } => Some((k, class, first, count)),
        _ => None,
    })
    .collect()
}

const READ: [Role; 3] = [Role::Use, Role::UseDef, Role::Address];
const WRITTEN: [Role; 2] = [Role::Def, Role::UseDef];

fn overlap(a: &[(usize, u8, u16, u16)], b: &[(usize, u8, u16, u16)]) -> bool {
    a.iter().any(|(_, class, first, count)| {
        b.iter().any(|(_, c, f, n)| c == class && *f < first + *count && *first < f + *n)
    })
}

/// One change of some kind, if there is a place for it.
pub(crate) fn change(
    kind: &str,
    steps: &mut Vec<Inst>,
    plan_waits: &[AtomId],
    isa: &Isa<'_>,
    numbers: &mut Numbers,
) -> Option<usize> {
    let places = plain(steps, isa);
    let k = *places.get(numbers.below(places.len()))?;
    match kind {
        "exchanged" => {
            let (a, b) = (steps.get(k)?, steps.get(k + 1).filter(|_| places.contains(&(k + 1)))?);
            let depends = overlap(&operands(a, &WRITTEN), &operands(b, &READ))
                || overlap(&operands(a, &READ), &operands(b, &WRITTEN));
            if !depends || a == b {
                return None;
            }
            steps.swap(k, k + 1);
        }
        "read" | "written" => {
            let all = operands(&steps[k], if kind == "read" { &READ } else { &WRITTEN });
            let &(operand, class, first, count) = all.get(numbers.below(all.len()))?;
            // A register that something else holds, aligned like the right one.
            let others: Vec<u16> = steps
                .iter()
                .filter(|s| s.purpose != InstKind::Label)
                .flat_map(|s| operands(s, &WRITTEN))
                .filter(|o| o.1 == class && o.3 == count)
                .map(|o| o.2)
                .collect();
            let other = *others.get(numbers.below(others.len()))?;
            if other == first {
                return None;
            }
            steps[k].args[operand] = Slot::Reg { class, count, first: other };
        }
        "immediate" => {
            let at: Vec<usize> =
                (0..8).filter(|&a| matches!(steps[k].args[a], Slot::Int(_))).collect();
            let &a = at.get(numbers.below(at.len()))?;
            let Slot::Int(v) = steps[k].args[a] else { return None };
            steps[k].args[a] =
                Slot::Int(if numbers.below(2) == 0 { v.wrapping_add(16) } else { v ^ 4 });
        }
        "left out" => {
            if steps[k].purpose == InstKind::Sync {
                return None;
            }
            steps.remove(k);
        }
        "order" => {
            // Whatever orders, waits, announces or arrives.
            if steps[k].purpose != InstKind::Sync {
                return None;
            }
            steps.remove(k);
        }
        "copy" => {
            // A copy of a register reads what another one does.
            let moves = |s: &Inst| {
                TABLES.atom(s.atom).is_some_and(|a| matches!(*a.means, [TermNode::Operand(_)]))
                    && s.purpose == InstKind::Fill
            };
            let copies: Vec<usize> = places
                .iter()
                .copied()
                .filter(|&k| moves(&steps[k]) && !operands(&steps[k], &READ).is_empty())
                .collect();
            let (k, other) = (
                *copies.get(numbers.below(copies.len()))?,
                *copies.get(numbers.below(copies.len()))?,
            );
            let (&(operand, ..), &(from, ..)) =
                (operands(&steps[k], &READ).first()?, operands(&steps[other], &READ).first()?);
            let new = steps[other].args[from];
            if steps[k].args[operand] == new {
                return None;
            }
            steps[k].args[operand] = new;
            return Some(k);
        }
        "temporary" => {
            // A register is copied somewhere before another one is copied to it.
            let copied = |s: &Inst| {
                let moves = s.purpose == InstKind::Fill
                    && TABLES
                        .atom(s.atom)
                        .is_some_and(|a| matches!(*a.means, [TermNode::Operand(_)]));
                let first = |roles: &[Role]| operands(s, roles).first().copied();
                if moves { first(&WRITTEN).zip(first(&READ)) } else { None }
            };
            let saves: Vec<usize> = (0..steps.len().saturating_sub(1))
                .filter(|&k| {
                    let Some((_, from)) = copied(&steps[k]) else { return false };
                    copied(&steps[k + 1]).is_some_and(|(to, _)| to.1 == from.1 && to.2 == from.2)
                })
                .collect();
            let k = *saves.get(numbers.below(saves.len()))?;
            steps.remove(k);
            return Some(k);
        }
        "parity" => {
            let flips: Vec<usize> = places
                .iter()
                .copied()
                .filter(|&k| counts(&steps[k], &[IndexOp::Xor]))
                .filter(|&k| steps[k].args.contains(&Slot::Int(1)))
                .collect();
            let k = *flips.get(numbers.below(flips.len()))?;
            steps.remove(k);
            return Some(k);
        }
        "element" => {
            let moves = |s: &Inst| s.purpose == InstKind::Move;
            return renumbered(steps, numbers, moves, |v| v + 2);
        }
        "lane" => {
            let moves = |s: &Inst| {
                s.purpose != InstKind::Move
                    && TABLES.atom(s.atom).is_some_and(|a| a.class == AtomClass::CrossLane)
            };
            return renumbered(steps, numbers, moves, |v| v ^ 1);
        }
        "warp" => {
            let shifts = |s: &Inst| counts(s, &[IndexOp::Shl, IndexOp::Shr]);
            return renumbered(steps, numbers, shifts, |v| v + 1);
        }
        "mask" => {
            let masks = |s: &Inst| counts(s, &[IndexOp::And]);
            let bit = 1i64 << numbers.below(6);
            return renumbered(steps, numbers, masks, |v| v ^ bit);
        }
        "bound" => {
            let control = |s: &Inst| s.purpose == InstKind::Control;
            return renumbered(steps, numbers, control, |v| v + 8);
        }
        "guard" => {
            // Every lane takes part.
            let guarded: Vec<usize> =
                places.iter().copied().filter(|&k| steps[k].guard != NO_GUARD).collect();
            let k = *guarded.get(numbers.below(guarded.len()))?;
            steps[k].guard = NO_GUARD;
            return Some(k);
        }
        "truth" => {
            // What says whether another element is touched.
            let guarded: Vec<usize> =
                places.iter().copied().filter(|&k| steps[k].guard != NO_GUARD).collect();
            let k = *guarded.get(numbers.below(guarded.len()))?;
            let others = |j: &usize| {
                steps[*j].origin == steps[k].origin && steps[*j].guard != steps[k].guard
            };
            let all: Vec<usize> = guarded.iter().copied().filter(others).collect();
            let other = *all.get(numbers.below(all.len()))?;
            let guard = steps[other].guard;
            steps[k].guard = guard;
            return Some(k);
        }
        "again" => {
            // What is combined twice.
            let combines = |s: &Inst| {
                let movement = TABLES.atom(s.atom).and_then(|atom| atom.movement);
                s.purpose == InstKind::Move && movement.is_some_and(|m| m.atomic.is_some())
            };
            let all: Vec<usize> = places.iter().copied().filter(|&k| combines(&steps[k])).collect();
            let k = *all.get(numbers.below(all.len()))?;
            let step = steps[k];
            steps.insert(k, step);
            return Some(k);
        }
        "index" => {
            // Where another element lies.
            let taken: Vec<usize> =
                places.iter().copied().filter(|&k| steps[k].purpose == InstKind::Index).collect();
            let k = *taken.get(numbers.below(taken.len()))?;
            let others = |j: &usize| {
                steps[*j].origin == steps[k].origin && steps[*j].args[1] != steps[k].args[1]
            };
            let all: Vec<usize> = taken.iter().copied().filter(others).collect();
            let other = *all.get(numbers.below(all.len()))?;
            steps[k].args[1] = steps[other].args[1];
            return Some(k);
        }
        "zeros" => {
            // What a guarded load leaves alone is what was there before.
            let loads: Vec<usize> = places
                .iter()
                .copied()
                .filter(|&k| k > 0 && steps[k].guard != NO_GUARD)
                .filter(|&k| steps[k - 1].purpose == InstKind::Fill)
                .collect();
            let k = *loads.get(numbers.below(loads.len()))? - 1;
            steps.remove(k);
            return Some(k);
        }
        "packing" => {
            let packs = |s: &Inst| {
                TABLES.atom(s.atom).and_then(|a| a.does).is_some_and(|d| {
                    [OpWord::ConcatRegs, OpWord::BytePermute, OpWord::SplitRegs].contains(&d.op)
                })
            };
            if !packs(&steps[k]) {
                return None;
            }
            steps.remove(k);
        }
        "in place" => {
            // A product's sums lie where those lie that it begins with.
            let products: Vec<usize> =
                places.iter().copied().filter(|&k| steps[k].purpose == InstKind::Matrix).collect();
            let k = *products.get(numbers.below(products.len()))?;
            let shape = TABLES.atom(steps[k].atom)?.matrix?;
            let (from, to) =
                (steps[k].arg(usize::from(shape.d)), steps[k].arg(usize::from(shape.c)));
            let (Slot::Reg { class, count, first }, Slot::Reg { first: other, .. }) = (from, to)
            else {
                return None;
            };
            if from == to {
                return None;
            }
            for step in steps.iter_mut().filter(|s| s.purpose != InstKind::Label) {
                for arg in &mut step.args {
                    if let Slot::Reg { class: own, count: many, first: at } = *arg
                        && own == class
                        && at >= first
                        && at + many <= first + count
                    {
                        *arg = Slot::Reg { class, count: many, first: other + (at - first) };
                    }
                }
            }
            return Some(k);
        }
        "half" => {
            // The doer that takes the other part of a register.
            let own = TABLES.atom(steps[k].atom)?;
            let does = own.does?;
            let alike = |other: &lanebook::tables::Atom<'_>| {
                let same = other.operands.len() == own.operands.len()
                    && (0..own.operands.len()).all(|n| {
                        let (a, b) = (other.operands.get(n), own.operands.get(n));
                        a.zip(b).is_some_and(|(a, b)| {
                            (a.class, a.role, a.dtype) == (b.class, b.role, b.dtype)
                        })
                    });
                same && other
                    .does
                    .is_some_and(|d| d.op == does.op && d.part != does.part && d.uses == does.uses)
            };
            let others = (0..)
                .map(AtomId)
                .take_while(|id| TABLES.atom(*id).is_some())
                .filter(|id| TABLES.atom(*id).is_some_and(alike));
            steps[k].atom = others.into_iter().next()?;
        }
        "states" => {
            let waits: Vec<usize> =
                places.iter().copied().filter(|&k| Some(steps[k].atom) == isa.nop).collect();
            let k = *waits.get(numbers.below(waits.len()))?;
            steps.remove(k);
            return Some(k);
        }
        "wait" => {
            if !(plan_waits.contains(&steps[k].atom) || steps[k].purpose == InstKind::Sync) {
                return None;
            }
            steps.remove(k);
        }
        _ => return None,
    }
    Some(k)
}

/// The text of a kernel with other steps.
///
/// # Panics
/// When the kernel has no text.
#[must_use]
pub fn text_of(
    program: &Program<'_, '_>,
    compiled: &Compiled<'_>,
    text: &str,
    steps: &[Inst],
) -> Option<String> {
    let kernel = compiled.kernel(&TABLES, program).expect("a kernel");
    let body = |steps: &[Inst]| {
        let mut out = String::new();
        kernel.body(steps, &mut out).is_ok().then_some(out)
    };
    Some(text.replace(&body(compiled.steps)?, &body(steps)?))
}

/// What a program does at some numbers of turns, as far as it is said.
fn meanings(source: &str) -> Vec<Interpreted> {
    let given = |turns| Given { turns, salt: 0, fill: None };
    let said: Vec<Interpreted> = [2, 0, 1, 3]
        .into_iter()
        .filter_map(|turns| Interpreted::with(source, given(turns)).ok())
        .collect();
    assert!(!said.is_empty(), "the program is not understood");
    let most = if said[0].is_bounded { 4 } else { 1 };
    said.into_iter().take(most).collect()
}

/// Whether a kernel's text does something else at some number of turns.
pub(crate) fn is_wrong(
    said: &[Interpreted],
    text: &str,
    maps: &[crate::maps::KernelMap],
    arch: &str,
) -> bool {
    said.iter().any(|said| {
        let replayed = std::panic::catch_unwind(|| run_text(said, text, maps, arch));
        matches!(replayed, Ok(Err(e)) if !e.contains("not modelled"))
    })
}

/// Each shared tile put where another one is, in the plan and in the steps: how many such kernels
/// the replay calls wrong, and how many of these the checkers of steps notice.
///
/// # Panics
/// When the program is not understood, or not compiled.
#[must_use]
pub fn moved_tiles(source: &str, arch: &str) -> (usize, usize) {
    let said = meanings(source);
    let maps = kernel_maps(source, arch);
    let moved = |program: &Program<'_, '_>, compiled: &mut Compiled<'_>, text: &str| {
        let (mut wrong, mut noticed) = (0, 0);
        let offsets: Vec<u32> = compiled.plan.allocs.iter().map(|a| a.offset).collect();
        for (k, from) in offsets.iter().enumerate() {
            for to in offsets.iter().filter(|to| *to != from) {
                let delta = i64::from(*to) - i64::from(*from);
                let steps = compiled
                    .steps
                    .iter()
                    .map(|step| shifted(compiled, step, k, delta))
                    .collect::<Option<Vec<Inst>>>();
                let Some((steps, changed)) = steps
                    .and_then(|steps| Some((text_of(program, compiled, text, &steps)?, steps)))
                    .map(|(text, steps)| (steps, text))
                else {
                    continue;
                };
                if !is_wrong(&said, &changed, &maps, arch) {
                    continue;
                }
                wrong += 1;
                compiled.plan.allocs[k].offset = *to;
                noticed += usize::from(found(program, compiled, &steps).is_some());
                compiled.plan.allocs[k].offset = *from;
            }
        }
        (wrong, noticed)
    };
    try_with_plan(source, arch, moved).unwrap_or_else(|e| panic!("{arch}: {e}"))
}

/// A step whose immediate says that a shared tile begins so many bytes further, if it touches it.
fn shifted(compiled: &Compiled<'_>, step: &Inst, alloc: usize, delta: i64) -> Option<Inst> {
    let plan = &compiled.plan;
    let own = |op: lanebook::ir::Op| op.index() == usize::from(step.origin);
    let Some(movement) = TABLES
        .atom(step.atom)
        .and_then(|atom| atom.movement)
        .filter(|_| step.purpose == InstKind::Move)
    else {
        return Some(*step);
    };
    let is_tile = |end: End| matches!(end, End::Shared(k) if usize::from(k) == alloc);
    let exchange = plan
        .exchanges
        .iter()
        .find(|e| own(e.op))
        .map(|e| (usize::from(e.alloc) == alloc, usize::from(e.alloc) == alloc));
    let plain =
        || plan.transfers.iter().find(|m| own(m.op)).map(|m| (is_tile(m.from), is_tile(m.to)));
    let (from, to) = exchange.or_else(plain).unwrap_or((false, false));
    let sides = [
        (from && movement.from.space == Space::Shared, true),
        (to && movement.to.space == Space::Shared, false),
    ];
    let mut out = *step;
    for (_, from) in sides.into_iter().filter(|(touches, _)| *touches) {
        let field = movement.offsets.iter().find(|o| if from { o.on_from } else { o.on_to })?;
        let Slot::Int(v) = step.arg(usize::from(field.operand)) else { return None };
        let scale = i64::from(field.scale);
        let units = (delta % scale == 0).then(|| i64::from(v) + delta / scale)?;
        out.args[usize::from(field.operand)] = Slot::Int(i32::try_from(units).ok()?);
    }
    Some(out)
}

/// Of so many random changes of each kind: how many the replay calls wrong at some number of turns,
/// and how many of these the checkers notice. `show` prints the others.
///
/// # Panics
/// When the program is not understood, or not compiled.
#[must_use]
pub fn rates(
    source: &str,
    arch: &str,
    each: usize,
    kinds: &[&str],
    show: bool,
) -> Vec<(String, usize, usize)> {
    let said = meanings(source);
    with_kernel(source, arch, |program, compiled, text| {
        let maps = kernel_maps(source, arch);
        let machine = TABLES.arch(compiled.plan.arch).expect("an architecture");
        let isa = TABLES.isa(machine.isa).expect("an instruction set");
        let waits: Vec<_> = machine.counters.iter().map(|c| c.wait).collect();
        let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
        let mut out = Vec::new();
        for kind in kinds {
            let (mut wrong, mut noticed, mut tries) = (0, 0, 0);
            while wrong < each && tries < each * 30 {
                tries += 1;
                let mut steps: Vec<Inst> = compiled.steps.to_vec();
                let Some(k) = change(kind, &mut steps, &waits, isa, &mut numbers) else { continue };
                let Some(changed) = text_of(program, compiled, text, &steps) else { continue };
                if !is_wrong(&said, &changed, &maps, arch) {
                    continue;
                }
                wrong += 1;
                let seen = found(program, compiled, &steps);
                noticed += usize::from(seen.is_some());
                if seen.is_none() && show {
                    let kernel = compiled.kernel(&TABLES, program).expect("a kernel");
                    let mut one = String::new();
                    for step in steps.iter().skip(k.saturating_sub(1)).take(3) {
                        kernel.step(step, &mut one).expect("a step");
                    }
                    println!(
                        "{arch} {kind} {k} op{} {:?}: missed\n{one}",
                        steps[k].origin, steps[k].purpose
                    );
                }
            }
            out.push((kind.to_string(), wrong, noticed));
        }
        out
    })
}
