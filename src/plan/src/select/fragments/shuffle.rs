//! Conversions inside a warp: which registers move between which lanes, and what each lane does
//! before and behind.
//!
//! Let A be the span of what a lane's registers add to its element in the operand, B that in the
//! result. Places that lie together in a register while it moves are a subspace Q of both: inside a
//! lane, bytes are chosen into and out of such registers. Of registers, a *round* moves one for
//! each lane. Its elements are a coset of a subspace E that meets both A and B in zero alone: each
//! lane has one register of it to send, and wants one. Such an E is built from the lanes' own
//! elements in the result, each with something from B added so that their lanes in the operand are
//! independent; where that can make them the lanes themselves, the round needs no movement, or one
//! between lanes at a fixed distance. Which register a lane sends or wants in a round depends
//! linearly on its number: registers swapped in some of the lanes.

use crate::data::{ShufflePlan, Swap};
use crate::select::elementwise::{lane_move_atom, permute_bytes};
use crate::select::planner::Planner;
use lanebook_ir::Op;
use lanebook_tables::{Atom, BankModel};
use lanebook_tile::copy_atom::CopyAtom;
use lanebook_tile::evaluate::TargetInfo;
use lanebook_tile::map::{BitMatrix, Fragment, Subspace};
use lanebook_tile::tiling::Reject;

/// Where lanes' names begin, above those of registers.
const LANES: u32 = 16;
/// Bits of a thread's number.
const THREADS: usize = 11;
/// Most attempts with other elements in a register that moves.
const MOST: usize = 12;

fn bit(n: usize) -> u32 {
    u32::try_from(n).ok().and_then(|n| 1u32.checked_shl(n)).unwrap_or(0)
}

/// A basis, in order.
type OrderedBasis = BitMatrix<u32, MOST>;

/// What is known of two distributions.
struct Sides<'f> {
    from: &'f Fragment,
    to: &'f Fragment,
    /// Spans of the registers alone, under the numbers of their bits.
    a: Subspace,
    b: Subspace,
}

impl<'f> Sides<'f> {
    fn new(from: &'f Fragment, to: &'f Fragment) -> Result<Self, Reject> {
        let element_bits = from.shape.bits;
        if !(8..=32).contains(&element_bits) {
            return Err(Reject::Element { element_bits });
        }
        if from.shape != to.shape {
            return Err(Reject::Size);
        }
        let order =
            from.by_rows == to.by_rows || from.shape.grid.rows == 1 || from.shape.grid.cols == 1;
        if !order {
            return Err(Reject::Tangled);
        }
        if from.warp.len() != to.warp.len() || from.lane.len() != to.lane.len() {
            return Err(Reject::Warps);
        }
        let (mut a, mut b) = (Subspace::new(), Subspace::new());
        for (span, columns) in [(&mut a, &from.register), (&mut b, &to.register)] {
            for (k, &column) in columns.as_slice().iter().enumerate() {
                if !span.insert(column, bit(k)) {
                    return Err(Reject::Tangled);
                }
            }
        }
        Ok(Self { from, to, a, b })
    }

    /// Elements that both have in registers of a lane, those first that share a register of the
    /// operand (or else of the result).
    fn together(&self, of_operand: bool) -> OrderedBasis {
        let (first, second) = if of_operand { (self.from, self.to) } else { (self.to, self.from) };
        let (mut out, mut span) = (OrderedBasis::new(), Subspace::new());
        let parts =
            |f: &'f Fragment| f.register.as_slice().get(..usize::from(f.packing())).unwrap_or(&[]);
        for &column in parts(first).iter().chain(parts(second)).chain(first.register.as_slice()) {
            if self.a.contains(column) && self.b.contains(column) && span.insert(column, 0) {
                let _ = out.push(column);
            }
        }
        out
    }
}

/// Columns of registers that move: `inside` shares one, what else the distribution's registers add
/// counts them.
fn words(columns: &[u32], inside: &[u32], q: &Subspace) -> BitMatrix<u32, 12> {
    let (mut out, mut span) = (BitMatrix::new(), Subspace::new());
    for &column in inside {
        let _ = out.push(column);
    }
    for &column in columns {
        let rest = q.reduce(column).0;
        if span.insert(rest, 0) {
            let _ = out.push(rest);
        }
    }
    out
}

/// A basis of what lanes want in one round, and in which lane of the operand each is.
struct Rounds {
    /// For each bit of a lane's number: its element in the round, and what it adds to the register.
    element: [u32; 6],
    lane: [u32; 6],
    word: [u32; 6],
}

/// The conversion with the elements `inside` together in a register that moves.
#[inline(never)]
fn attempt(
    sides: &Sides<'_>,
    inside: &[u32],
    copies: bool,
    out: &mut ShufflePlan,
) -> Result<(), Reject> {
    let (from, to) = (sides.from, sides.to);
    let together = u32::try_from(inside.len()).unwrap_or(0);
    out.packing = u8::try_from(together).unwrap_or(0);
    let mut q = Subspace::new();
    for &column in inside {
        let _ = q.insert(column, 0);
    }
    let parts = bit(inside.len()).wrapping_sub(1);
    let sent = words(from.register.as_slice(), inside, &q);
    let received = words(to.register.as_slice(), inside, &q);
    // Registers as they are sent, and lanes that have something of their own.
    let mut source = Subspace::new();
    let mut free = 0u32;
    let mut held = Subspace::new();
    for (k, &column) in sent.as_slice().iter().enumerate() {
        let place = sides.a.names(column).ok_or(Reject::Tangled)?;
        if !held.insert(column, bit(k)) || !out.sent.push(place) {
            return Err(Reject::Tangled);
        }
    }
    for &column in inside {
        let _ = source.insert(column, bit(usize::from(source.rank())));
    }
    let shared = parts_of_copies(sides, &held, together, &mut source);
    for (k, &column) in from.lane.as_slice().iter().enumerate() {
        if column == 0 && shared.get(k) == Some(&0) {
            free |= bit(k);
        }
    }
    for (k, &column) in sent.as_slice().iter().enumerate().skip(inside.len()) {
        if !source.insert(column, bit(k)) && shared == [0; 6] {
            return Err(Reject::Tangled);
        }
    }
    for (k, &column) in from.lane.as_slice().iter().enumerate() {
        let _ = source.insert(column, bit(k).wrapping_shl(LANES));
    }
    let result = received_places(to, received.as_slice(), out)?;
    let place = |e: u32| source.names(e).map(|n| n & bit(16).wrapping_sub(1));
    let lane_of = |e: u32| source.names(e).map(|n| n >> LANES);
    let counted = received.as_slice().get(inside.len()..).unwrap_or(&[]);
    let mut rounds = Rounds { element: [0; 6], lane: [0; 6], word: [0; 6] };
    lanes_of_round(to, (counted, copies), free, &result, &lane_of, &mut rounds)?;
    // Which register a lane sends, by its number: known for the lanes that send in the first round,
    // zero for the others.
    for &element in &rounds.element {
        if place(element).ok_or(Reject::Warps)? & parts != 0 {
            return Err(Reject::Tangled);
        }
    }
    let senders = senders_of(&rounds);
    let sends = |lane: u32| {
        let names = senders.names(lane).unwrap_or(0);
        let chosen = rounds.element.iter().enumerate().filter(|(k, _)| names & bit(*k) != 0);
        chosen.fold(0, |sum, (_, e)| sum ^ place(*e).unwrap_or(0)).wrapping_shr(together)
    };
    let mut swapped: BitMatrix<u32, THREADS> = BitMatrix::new();
    for (k, _) in from.lane.as_slice().iter().enumerate() {
        let lane = rounds.lane.get(k).ok_or(Reject::Tangled)?;
        let word = sends(bit(k)) ^ shared.get(k).copied().unwrap_or(0);
        if !swapped.push(word) || !out.lane.push(*lane) {
            return Err(Reject::Tangled);
        }
    }
    // The register that an element is sent in, and the lane that sends it.
    let sent_by = |element: u32| {
        let (register, lane) = place(element).zip(lane_of(element)).ok_or(Reject::Warps)?;
        if register & parts != 0 {
            return Err(Reject::Tangled);
        }
        Ok((register.wrapping_shr(together) ^ sends(lane), lane))
    };
    // What a warp wants that the first has elsewhere: other lanes of it have that, in the same or
    // another register that they send.
    for (&given, &wanted) in from.warp.as_slice().iter().zip(to.warp.as_slice()) {
        let (word, lane) = sent_by(given ^ wanted)?;
        let adds = u8::try_from(lane).map_err(|_| Reject::Size)?;
        if !out.warp.push(adds) || !swapped.push(word) {
            return Err(Reject::Tangled);
        }
    }
    for &column in counted {
        let (word, lane) = sent_by(column)?;
        if !out.word.push(word) || !out.offset.push(lane) {
            return Err(Reject::Tangled);
        }
    }
    let wanted = rounds.word.get(..from.lane.len()).unwrap_or(&[]);
    put_swaps(out, together, swapped.as_slice(), wanted)
}

/// The places of received registers by their names, in which the result's are put.
fn received_places(
    to: &Fragment,
    received: &[u32],
    out: &mut ShufflePlan,
) -> Result<Subspace, Reject> {
    let mut result = Subspace::new();
    for (k, &column) in received.iter().enumerate() {
        if !result.insert(column, bit(k)) {
            return Err(Reject::Tangled);
        }
    }
    for &column in to.register.as_slice() {
        if !out.kept.push(result.names(column).ok_or(Reject::Tangled)?) {
            return Err(Reject::Tangled);
        }
    }
    Ok(result)
}

/// The lanes that send in the first round, by the bits of the number of those that they send to, and
/// beside them all others.
fn senders_of(rounds: &Rounds) -> Subspace {
    let mut senders = Subspace::new();
    for (k, &lane) in rounds.lane.iter().enumerate() {
        let _ = senders.insert(lane, bit(k));
    }
    for k in 0..6 {
        let _ = senders.insert(bit(k), bit(k).wrapping_shl(LANES));
    }
    senders
}

/// The swaps before the movement and behind it, by what each bit of a thread's number changes of a
/// sent register's number, and each of a lane's of a wanted one's.
fn put_swaps(
    out: &mut ShufflePlan,
    together: u32,
    sent: &[u32],
    wanted: &[u32],
) -> Result<(), Reject> {
    let (mut read, mut kept) = (Subspace::new(), Subspace::new());
    for &word in out.word.as_slice() {
        let _ = read.insert(word, 0);
    }
    for &place in out.kept.as_slice() {
        let _ = kept.insert(place.wrapping_shr(together), 0);
    }
    out.before = fewest_swaps(sent, &read)?;
    out.behind = fewest_swaps(wanted, &kept)?;
    Ok(())
}

/// Of lanes that hold copies, each sends a part of what they have: by the bit of the lane's number,
/// the word by which the register that it sends differs. `held` has the places of what is sent,
/// with `together` bits of the elements in a register; what a lane has of its own is added to
/// `source`.
fn parts_of_copies(
    sides: &Sides<'_>,
    held: &Subspace,
    together: u32,
    source: &mut Subspace,
) -> [u32; 6] {
    let (from, to) = (sides.from, sides.to);
    let parts = bit(together as usize).wrapping_sub(1);
    let mut shared = [0u32; 6];
    let mut spare = from.register.len().saturating_sub(to.register.len());
    for own in [true, false] {
        for (k, _) in from.lane.as_slice().iter().enumerate().filter(|(_, column)| **column == 0) {
            let wanted = to
                .lane
                .as_slice()
                .iter()
                .enumerate()
                .filter(|(lane, e)| (*lane == k || !own) && **e != 0);
            let Some(slot) = shared.get_mut(k).filter(|part| **part == 0 && spare > 0) else {
                continue;
            };
            for (_, &e) in wanted {
                let word = held.names(e).filter(|place| place & parts == 0);
                if let Some(word) = word
                    && source.insert(e, bit(k).wrapping_shl(LANES))
                {
                    *slot = word.wrapping_shr(together);
                    spare = spare.saturating_sub(1);
                    break;
                }
            }
        }
    }
    shared
}

/// Two swaps in each other's place.
fn exchanged(swaps: &mut [Swap], a: usize, b: usize) {
    if let (Some(&first), Some(&second)) = (swaps.get(a), swaps.get(b)) {
        if let Some(slot) = swaps.get_mut(a) {
            *slot = second;
        }
        if let Some(slot) = swaps.get_mut(b) {
            *slot = first;
        }
    }
}

/// The fewest swaps that together change a register's number by the word of each bit of a thread's
/// number. Those that bring what is read behind them, `read`, from outside of it come first: behind
/// each of them half as many registers are left to be swapped.
fn fewest_swaps(words: &[u32], read: &Subspace) -> Result<BitMatrix<Swap, 6>, Reject> {
    let (mut first, mut last): (BitMatrix<Swap, 6>, BitMatrix<Swap, 6>) =
        (BitMatrix::new(), BitMatrix::new());
    let (mut outside, mut inside) = (Subspace::new(), Subspace::new());
    for (k, &word) in words.iter().enumerate() {
        let threads = u16::try_from(bit(k)).map_err(|_| Reject::Size)?;
        let (rest, _) = read.reduce(word);
        let left = added(&mut first, outside.names(rest), threads);
        match left {
            Some(sum) => {
                let word = word ^ sum;
                if added(&mut last, inside.names(word), threads).is_none() {
                    let _ = inside.insert(word, bit(last.len()));
                    push_swap(&mut last, word, threads)?;
                }
            }
            None => {
                let _ = outside.insert(rest, bit(first.len()));
                push_swap(&mut first, word, threads)?;
            }
        }
    }
    for swap in last.as_slice() {
        if !first.push(*swap) {
            return Err(Reject::Size);
        }
    }
    Ok(first)
}

/// Lets the swaps of a list that have these names take place in more threads, and answers the sum
/// of their words; `None` if there are no names.
fn added(swaps: &mut BitMatrix<Swap, 6>, names: Option<u32>, threads: u16) -> Option<u32> {
    let names = names?;
    let mut sum = 0;
    for (k, swap) in swaps.as_mut_slice().iter_mut().enumerate() {
        if names & bit(k) != 0 {
            swap.threads |= threads;
            sum ^= u32::from(swap.word);
        }
    }
    Some(sum)
}

fn push_swap(swaps: &mut BitMatrix<Swap, 6>, word: u32, threads: u16) -> Result<(), Reject> {
    let word = u16::try_from(word).map_err(|_| Reject::Size)?;
    if swaps.push(Swap { word, threads }) { Ok(()) } else { Err(Reject::Size) }
}

/// Chooses what lanes get in the first round: `counted` are the columns of received registers,
/// `free` the operand's lane bits that say nothing. Lanes of the result that hold `copies` may get
/// different ones of their elements.
fn lanes_of_round(
    to: &Fragment,
    (counted, copies): (&[u32], bool),
    free: u32,
    result: &Subspace,
    lane_of: &impl Fn(u32) -> Option<u32>,
    out: &mut Rounds,
) -> Result<(), Reject> {
    // What registers of the result can add to the lane; and which lanes' elements are sums of
    // others'.
    let (mut reach, mut apart, mut elements, mut chosen) =
        (Subspace::new(), Subspace::new(), *result, Subspace::new());
    for (k, &column) in counted.iter().enumerate() {
        let lane = lane_of(column).ok_or(Reject::Warps)?;
        let _ = (reach.insert(lane, bit(k)), apart.insert(lane, 0));
    }
    let sum = |word: u32| {
        counted
            .iter()
            .enumerate()
            .filter(|(k, _)| word & bit(*k) != 0)
            .fold(0, |sum, (_, c)| sum ^ c)
    };
    let mut kinds = [0u8; 6];
    for (k, &column) in to.lane.as_slice().iter().enumerate() {
        let lane = lane_of(column).ok_or(Reject::Warps)?;
        let kind = if !elements.insert(column, bit(k).wrapping_shl(LANES)) {
            2
        } else if apart.insert(lane, 0) {
            0
        } else {
            1
        };
        if let Some(slot) = kinds.get_mut(k) {
            *slot = kind;
        }
    }
    for pass in 0..3u8 {
        for (k, &column) in to.lane.as_slice().iter().enumerate() {
            if kinds.get(k) != Some(&pass) {
                continue;
            }
            let own = lane_of(column).ok_or(Reject::Warps)?;
            let (mut lane, word);
            if pass == 2 {
                // The sum of what other lanes get.
                let names = elements.names(column).ok_or(Reject::Tangled)? >> LANES;
                let (mut element, mut sender) = (0, 0);
                for (other, (e, l)) in out.element.iter().zip(&out.lane).enumerate() {
                    if names & bit(other) != 0 {
                        (element, sender) = (element ^ e, sender ^ l);
                    }
                }
                // From the lane itself, if some register of the result makes it so.
                let target = bit(k) & !free;
                let nearer = reach
                    .names((sender & !free) ^ target)
                    .filter(|_| copies && target != 0 && !chosen.contains(target));
                if let Some(more) = nearer
                    && chosen.insert(target, 0)
                {
                    element ^= sum(more);
                    sender = (sender & free) ^ target;
                }
                word = result.names(element ^ column).ok_or(Reject::Tangled)?;
                let inside = u32::from(result.rank())
                    .saturating_sub(u32::try_from(counted.len()).unwrap_or(0));
                if word & bit(inside as usize).wrapping_sub(1) != 0 {
                    return Err(Reject::Tangled);
                }
                set(out, k, (element, sender ^ (free & bit(k)), word.wrapping_shr(inside)));
                continue;
            }
            // The lane itself, if some register of the result makes it so; else as it is; else what
            // makes it independent.
            let itself =
                reach.names(own ^ (bit(k) & !free)).filter(|_| !chosen.contains(bit(k) & !free));
            let single = (0..counted.len())
                .map(bit)
                .find(|word| lane_of(sum(*word)).is_some_and(|l| !chosen.contains(own ^ l)));
            let as_it_is = (!chosen.contains(own)).then_some(0);
            word = itself.or(as_it_is).or(single).ok_or(Reject::Tangled)?;
            lane = own ^ lane_of(sum(word)).unwrap_or(0);
            if !chosen.insert(lane, 0) {
                return Err(Reject::Tangled);
            }
            lane |= free & bit(k);
            set(out, k, (column ^ sum(word), lane, word));
        }
    }
    Ok(())
}

fn set(rounds: &mut Rounds, k: usize, (element, lane, word): (u32, u32, u32)) {
    if let (Some(e), Some(l), Some(w)) =
        (rounds.element.get_mut(k), rounds.lane.get_mut(k), rounds.word.get_mut(k))
    {
        (*e, *l, *w) = (element, lane, word);
    }
}

impl Planner<'_, '_, '_, '_> {
    /// The cheapest conversion inside each warp, if its elements stay there and the architecture
    /// moves registers between such lanes.
    #[inline(never)]
    pub(crate) fn lanes(
        &self,
        op: Op,
        from: &Fragment,
        to: &Fragment,
    ) -> Result<ShufflePlan, Reject> {
        let sides = Sides::new(from, to)?;
        let most = from.packing().max(to.packing());
        let mut why = Reject::Warps;
        let mut best: Option<ShufflePlan> = None;
        for together in (0..=most).rev() {
            for of_operand in [true, false] {
                let basis = sides.together(of_operand);
                let Some(inside) = basis.as_slice().get(..usize::from(together)) else { continue };
                let mut plan;
                // Lanes that hold copies read from themselves and swap, or all from the same lane.
                for copies in [true, false] {
                    plan = ShufflePlan::new(op, 0);
                    let found = attempt(&sides, inside, copies, &mut plan)
                        .and_then(|()| self.cheapest_order(&mut plan, from, to));
                    let found =
                        if plan.brings(from, to) { found } else { found.and(Err(Reject::Tangled)) };
                    match found {
                        Ok(cost) if best.is_none_or(|b| cost < b.cost) => {
                            best = Some(ShufflePlan { cost, ..plan })
                        }
                        Ok(_) => {}
                        Err(e) => why = e,
                    }
                    if to.lane.as_slice().iter().all(|column| *column != 0) {
                        break;
                    }
                }
            }
            // Registers that are less full move oftener.
            if best.is_some() {
                break;
            }
        }
        best.ok_or(why)
    }

    /// Lets that swap be the first, of those before the movement, and the last, of those behind it,
    /// that makes the whole cheapest: one of them can be done while bytes are gathered.
    fn cheapest_order(
        &self,
        plan: &mut ShufflePlan,
        from: &Fragment,
        to: &Fragment,
    ) -> Result<u32, Reject> {
        let mut best = self.lanes_cost(plan, from, to)?;
        for k in 1..plan.before.len() {
            exchanged(plan.before.as_mut_slice(), 0, k);
            let cost = self.lanes_cost(plan, from, to)?;
            if cost < best {
                best = cost;
            } else {
                exchanged(plan.before.as_mut_slice(), 0, k);
            }
        }
        let last = plan.behind.len().saturating_sub(1);
        for k in 0..last {
            exchanged(plan.behind.as_mut_slice(), k, last);
            let cost = self.lanes_cost(plan, from, to)?;
            if cost < best {
                best = cost;
            } else {
                exchanged(plan.behind.as_mut_slice(), k, last);
            }
        }
        Ok(best)
    }

    /// Whether a movement between lanes takes the way to shared memory: where what is loaded from
    /// there is waited for, a movement that nothing waits for is the vector unit's own.
    fn takes_crossbar(&self, atom: &Atom<'_>) -> bool {
        let counted = |mover: &CopyAtom| {
            self.target.tables.atom(mover.atom).is_some_and(|atom| atom.counter.is_some())
        };
        atom.counter.is_some() || !self.movers(false).iter().any(counted)
    }

    /// What a conversion inside warps costs: a movement through the lanes' crossbar takes it as an
    /// access to shared memory does.
    fn lanes_cost(
        &self,
        plan: &ShufflePlan,
        from: &Fragment,
        to: &Fragment,
    ) -> Result<u32, Reject> {
        let TargetInfo { tables, arch, .. } = self.target;
        let w = &tables.weights;
        let (choices, mut copies) = (plan.choices(from, to), 0u32);
        if choices > 0 && permute_bytes(tables, arch).is_none() {
            return Err(Reject::Packing { atom_bits: 32 });
        }
        // A register of each lane takes as many passes as all banks have room for at once.
        let span = |model: &BankModel<'_>| {
            u32::from(model.banks).saturating_mul(u32::from(model.bank_bytes))
        };
        let span = arch.banks.iter().map(span).max().unwrap_or(0).max(1);
        let bytes = 4u32.checked_shl(u32::from(self.target.wave)).unwrap_or(u32::MAX);
        let crossbar =
            w.pass().saturating_mul(bytes.div_ceil(span)).saturating_add(w.exchange_move);
        let (mut moves, mut addresses, mut lanes) = (0u32, 0u32, 0u32);
        for word in 0..plan.received() {
            if plan.stays(word) {
                copies = copies.saturating_add(1);
                continue;
            }
            let far = plan.far(word);
            let (_, atom, how) = lane_move_atom(tables, arch, plan, word)
                .ok_or(Reject::Exchange { lanes: u8::try_from(far).unwrap_or(u8::MAX) })?;
            moves = moves
                .saturating_add(u32::from(atom.cost.issue).saturating_mul(w.instruction))
                .saturating_add(if self.takes_crossbar(atom) { crossbar } else { 0 });
            if how.by.is_some() {
                let new = !(0..word).any(|before| plan.offset.at(before) == plan.offset.at(word));
                (addresses, lanes) = (addresses.saturating_add(u32::from(new)), 6);
            }
        }
        // What only changes its name is copied, unless bytes are chosen on the way.
        if choices > 0 {
            copies = 0;
        }
        // A lane's number says by a shift and a mask whether it swaps, a product and an exclusive or
        // which bytes it takes then.
        let (selectors, sets) = plan.selectors(from, to);
        let set_up = addresses
            .saturating_add(lanes)
            .saturating_add(selectors.saturating_add(sets).saturating_mul(2))
            .saturating_add(if choices > 0 { 2 } else { 0 });
        let panel =
            moves.saturating_add(choices.saturating_add(copies).saturating_mul(w.instruction));
        Ok(panel
            .saturating_mul(from.shape.grid.count())
            .saturating_add(set_up.saturating_mul(w.instruction)))
    }
}
