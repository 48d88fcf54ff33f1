//! Check: an independent witness of plans and of the order of emitted steps.
//!
//! This module says whether a plan moves every element to where the next reader expects it, and
//! whether the steps put synchronisation between accesses that conflict. It has an evaluator of its
//! own and shares no code with choosing, dividing or emitting: it reads the plan's layouts as data
//! and the tables' layouts through `LayoutRef::offset_on`. [`contents`] then follows what the final
//! steps leave in registers, shared and tensor memory. [`steps`] checks all of the final steps, in
//! room that its caller lends.
//!
//! | module | statements |
//! | --- | --- |
//! | `memory` | 1 to 7a: tiles in memory, movements, boxes |
//! | `matrix` | 8 to 9c: products, descriptors, tensor memory, block scales |
//! | `lanes` | reductions, exchanges, conversions between lanes |
//! | `stages` | copies that run ahead of their loop's turns |
//! | `parting` | warps that only start copies for the others |
//! | `order` | that accesses which conflict are ordered on all ways |
//! | `contents` | what the final steps leave in registers and memory |
//! | `evaluator` `reader` | layouts as sums of columns; its own reader of descriptors and operands |
//! | `violation` `explain` | what a check says, as a value and in words |
//!
//! # Notation
//!
//! A tile is a grid of panels of `2^r` rows and `2^c` columns, `U` panels high and `A` wide (odd
//! numbers, mostly 1). Panel `g = up * A + across` has elements `e = g * 2^(r+c) + row * 2^c +
//! col`; an element has `B` bytes. Panels add; inside one, all sums of columns are exclusive or.
//! `w` is a warp, `l` a lane, `s` an address slot (the address register of lane `s`), `i` an
//! instance of a movement.
//!
//! - A *fragment* is `F(p, l, w)`: the element at place `p` of a lane; bit `b` of the tile's
//!   registers belongs to place `b div 8B`, to its byte `(b mod 8B) div 8`. (A *loose* fragment has
//!   32 bits for each narrower element: read 32 for the 8B of places.)
//! - A *memory* is `M(e)`: for a shared tile the byte of the row- or column-major position in its
//!   panel, panels one after the other, after the post-map; for a global tile the pair (multiples
//!   of the outer stride, bytes). Adding `y` to a pair adds to its bytes.
//! - A movement's *fit* names the element that each address stands for: `E(s, w, i) = S(s) + W(w) +
//!   I(i)`, where what `i` has above I's bits counts panels, row by row or column by column. The
//!   address in slot `s` is `M(E(s, w, i))`. That the emitted address is this one is not this
//!   module's statement: the kernels' run compares them. Here it is the premise.
//! - Register `n` of instance `i`'s operand is register `R(n, i) = sum of 2^tuple over n's bits +
//!   sum of 2^instance_registers over i's bits` of the tile, panel after panel.
//! - The table gives for each coordinate `x` of an atom (lane, bit) on a register side, (slot,
//!   byte) on a memory side, `slot = 0` where the layout has no slot axis. Units are taken apart
//!   into bytes: byte `u` adds 8u bits or u bytes.
//!
//! # Tiles in memory and registers
//!
//! 1. Each shared tile lies in the segment and the segment in what the architecture has. `M(e) + B
//!    <= bytes` for all `e`. Its start is a multiple of its alignment, which is at least `2^(b +
//!    m)` of its swizzle, since phases are XORed into whole addresses; and the segment's alignment
//!    is a multiple of it.
//! 2. Two tiles that share bytes are not both alive; a tile is alive from its first to its last
//!    user, a user inside a loop counting as that whole (outermost) loop.
//!
//! 2a. A tile that a copy in a loop of `n` stages fills has `n` buffers, one behind the other, each
//!     aligned; statement 1 holds in each. That copy alone writes it, loads behind it in the loop's
//!     body alone read it, or units in their place, nothing else touches its bytes in the loop, and the loop does not write the
//!     tensor that the copy reads. Other tiles have one buffer.
//!
//! 3. A fragment has all lane and warp bits of the group, and its columns span a panel: rank = r +
//!    c.
//!
//! # Movements: for all x, u, w, i
//!
//! 4. Each movement belongs to its operation: both ends are the operation's own operands.
//! 5. *Registers and memory.* With (l, b) and (s, y) the places of byte `u` of `x`, `b' = 32 R(b
//!    div 32, i) + b mod 32`, `e = F(b' div 8B, l, w)` and `t = (b' mod 8B) div 8`: `M(e) + t =
//!    M(E(s, w, i)) + y`. Every byte of every lane's operand is touched by exactly one (x, u), and
//!    `tuple` with `instance_registers` enumerates the bits of the tile's register number, each
//!    once. So every register place is filled or emptied exactly once, and, by 3, every element is
//!    moved, as often as the fragment replicates it.
//! 6. *Memory and memory*, by one atom or by two with registers between: byte `y` of source slot
//!    `s` holds byte `t = y mod B` of `e = E(s, w, i) + inner(y div B)`, where `inner` counts along
//!    the contiguous dimension: `M(e) + t = M(E(s, w, i)) + y` at the source and `M'(e) + t =
//!    M'(E(s', w, i)) + y'` at the destination. For two atoms, (s', y') is where the second one
//!    puts the (lane, bit) that the first one filled from (s, y). Each (s, y) occurs once, all
//!    slots have the same share of `2^j` elements, and the columns of S, W, I and `inner`'s first j
//!    bits are a basis of the tile's element bits. So every element is moved exactly once.
//!    *Blocks.* Where `2^b` rows of `2^a` elements are transposed between two atoms, i = 2^b k + r
//!    of the first one's instances and j = 2^a k + c of the second one's belong to block k. A
//!    lane's registers hold the bytes of its own slot in order on both sides. With `e = E(s, w,
//!    i) + inner(c)`: `M(e) = M(E(s, w, i)) + c B`, and with `E'(s, w, j) = E(s, w, 2^b k) +
//!    inner(c)`: `M'(e) = M'(E'(s, w, j)) + r B`. That the instructions between bring element (r,
//!    c) from place c of row r's registers to place r of column c's is what the replay shows.
//! 7. Each address is a multiple of the side's alignment: `offset + M(E)` in shared memory; in
//!    global memory the bytes of `M(E)`, and what the plan calls certain for start and outer stride
//!    is a multiple too.
//!
//! 7a. *Boxes.* A movement through a tensor map describes its memref: element width, order of
//!     dimensions, stride, and alignments by the
//!     table's rules. Of instance i, with e0 = E(i) and s = M(e0), element (x, y) of the box (x
//!     innermost) goes to
//!     `swizzle(offset + s + B (y X + x))`, X the box's inner extent, the swizzle applied to the
//!     address; that is `offset + M(e)` of the element e that
//!     is (x, y) further in the tile than e0. Boxes start where the pattern does; their bits and
//!     the instances' are a basis of the
//!     panel's. By 9a the layout, the map and the matrix descriptor then describe the same bytes.
//!
//! # Products: for all w and instances (im, in, ik)
//!
//! 8. There are maps rho(w, im) of the atom's rows to tile rows, nu(w, in) of its columns, kappa(w,
//!    ik) of its depth, such that where the table puts the operands' elements the fragments hold
//!    `A: (rho(m), kappa(k))`, `B: (kappa(k), nu(n))`, `C` and `D: (rho(m), nu(n))`. The depth's
//!    order is free, but common. Block `ia = im 2^rk + ik`, `ib = in 2^rk + ik`, `ic = im 2^rn +
//!    in` of an operand's registers belongs to an instance.
//!    Of an instruction whose extent is `P 2^b` for an odd `P`, row `i + 2^t (p + P j)` belongs to
//!    panel `p`, for the `t` of that dimension in the plan: the instruction's registers without what
//!    counts `p` are a block's in that panel, and the next panels of the tile hold the others.
//! 9. For each w, kappa is one-to-one from all (ik, k) onto the tile's depth: each term of each sum
//!    is added once.
//!
//! 9a. *Operands in shared memory.* The word of a descriptor, taken apart by the table's fields,
//!     names a tile and a swizzle mode. With
//!     `s` the start of an instance's block and (o, d) its outer coordinate and depth the unit
//!     reads `swizzle(offset + M(s) + B tile(o,
//!     d))`, the swizzle applied to the address; that is `offset + M(e)` of the element e that A or
//!     B has there. Nothing may write the tile between its
//!     load, for which nothing is emitted, and the product.
//!
//! 9b. *Accumulators in tensor memory.* The instruction descriptor's word, taken apart by the
//!     table's fields, says the product's shape,
//!     types and orders. Block `ic` of the result stands `n` columns behind the one before it, its
//!     rows in the lanes that the table's tile
//!     says, all inside the allocation, which is as large as one may be, and apart from everything
//!     else there. C begins with zeros and
//!     nothing else reads it, or it is stored as it is distributed. Load `i` of warp `w` begins at
//!     the cell of `F(first register of i, lane 0, w)`; where the table's form puts
//!     lane l's register, it reads the cell of `F(p, l, w)`, in a lane that warp w reaches. Stores
//!     of C's
//!     start are the same ones the other way; stores of A alike, block `ia` of A with as many
//!     neighbours of its depth in a cell as it has room for.
//!
//! 9c. *Block scales.* For each row m of an instance and each run of its depth, all of that run's
//!     kappa(k) lie in one run of the program's, and
//!     where the table puts (m, run), moved by what the plan's immediates for the block move, the
//!     tile of scales holds (rho(m), that run); alike
//!     for nu(n). Immediates are in their ranges.
//!
//! 9d. *Block scales in tensor memory.* A piece of the tile of scales begins in shared memory at
//!     M(first row, first run); its copy puts the bytes that the
//!     table's source has from there on into the cells that its destination has from the piece's
//!     first column on. Where the product's table has row m
//!     of an instance, from the first column of the piece that this row and its run are in, stands,
//!     in the byte that the instruction descriptor names, the
//!     scale of rho(m) and that run, in all copies. Pieces lie inside the allocation and apart from
//!     accumulators and each other.
//!
//! # Elementwise operations
//!
//! 10. All tiles of one have the same shape, and at each place of each lane of each warp the same
//!     element; at most the width of their elements differs.
//!
//! # Reductions, repetitions, conversions
//!
//! 11. Of the two tiles of a reduction or repetition, each place of the larger one belongs to one
//!     place of the smaller one, the same in all lanes and warps, and there the smaller one has the
//!     larger one's element without the coordinate that goes. The bits of register, lane and warp
//!     number that count along this coordinate alone are as many as it has, so (by 3) what is
//!     combined along them is each element once. Each place of a part of a tile is one place of the
//!     tile, the same in all lanes and warps, with the same element.
//! 12. Where bits of the warp's number are among them, or bits of the lane's number that no
//!     instruction exchanges, each such part goes into the line of a shared tile that these bits
//!     number, and each lane reads all lines of what it keeps: statement 5 for both halves. A thread
//!     that stores nothing holds copies of what the thread stores whose number has zeros for its
//!     bits that add nothing to the element.
//! 13. A conversion changes nothing, or its operand's distribution is stored into a shared tile and
//!     its result's loaded from it, or all stays in its warp: where the plan's five stages lead
//!     back from a place of the result in a lane, to a place of the operand in a lane of the same
//!     warp, is the same element. Registers move whole: an element that is part of one comes in the
//!     same part.
//!
//! # Order
//!
//! 14. A *walk* is any path through the steps; loops whose bounds are numbers, the first below the
//!     last, turn on all of them. What holds on all walks is a fixed point. Before a walk's end
//!     stands what a copy through a tensor map wants there. Two accesses to shared memory conflict
//!     if their tiles share bytes and one writes, except inside one execution of one operation.
//!     Between two conflicting accesses of a walk the steps of the table's rule for (kind of the earlier, kind of the later) occur in the
//!     rule's order. A wait counts if it waits for as much or more.
//!
//! 14a. *Stages.* A loop of `n` stages is gone through `n - 1` times more than it has turns. In time `j` its copies bring
//!     the tiles of turn `j` into buffer `j mod n`, all else in its body is of turn `j - (n - 1)`; both are left out where there is no such turn.
//!     Two accesses to one tile, so many times apart and without leaving the loop, conflict if they are to the same buffer; behind the loop, or
//!     after `n` times, always. A wait for groups may leave open as many as were closed behind the producer's own; one for operations that
//!     complete in order, as many as began behind the producer on every way. A copy through registers is loaded and stored in the same times.
//!
//! 14b. What copies complete on, if a loop of stages waits for it, are objects that the loop's times announce to one after the other, `n` of
//!     them, round and round. The wait that a rule of 14 names for such a copy is the loop's own of `n - 1` times later; the loop is not left before.
//!     Announcements and waits are accesses to the objects as copies and loads are to buffers.
//!
//! 15. Each movement, and each half of an exchange, has exactly one step an instance and atom; each
//!     piece of scales in tensor memory has one step, before its product's first.
//! 16. A reduction has, for each bit of the lane's number that counts along what it combines, one
//!     exchange between the lanes that differ in it (where an instruction exchanges such lanes) for
//!     each place of its result, and no other. (Where a register names the lane they are only
//!     counted.) A conversion inside warps has, for each panel, one movement for each received
//!     register that is not the lane's own, and no other.
//!
//! 17. On every walk each mbarrier is made once, by one thread for one arrival, and
//!     published by the table's steps before its first use. Each phase is announced once and before
//!     its copies, counts the bytes that its copies bring, and is waited for once, in the parity
//!     that it has. No phase is open at the end. The wait that a rule of 14 names is one for the
//!     producer's own object.
//!
//! 14c. *Warps that only copy.* Where a loop's copies are other warps' (`warp_specialize`), these part from the others by one branch behind the
//!     entry, and meet them again where nothing is moved any more. In between, what rules want all threads to meet at is the readers' own barrier.
//!     The readers' wait for a buffer stands for the writes of its copies, their arrival behind it for a meeting of all that have read: with that,
//!     14 holds of the readers' steps alone. The tensors that are copied from are written nowhere in the function, and their tiles share no byte with others.
//!
//! 17a. Of the objects of 14b each is made and published as by 17. One step announces to them, by one thread, in the loop's part that copies, for
//!     the bytes that all copies there bring, and before them; these complete where it announced to. One step waits for them, before anything else
//!     of the loop's turns. Nothing else has these objects. So (by 14a) what time `j` announces, time `j + n - 1` waits for, and nothing is open
//!     before the loop or behind it.
//!
//! 17b. Of those of 14c there are `n` more, for as many arrivals as there are readers. Each turn of the readers begins with its wait for the first ones and
//!     ends with an arrival at the others; each turn of the warps that copy waits for one of the others, announces to one of the first ones by one
//!     thread, and copies, all of these once and in a row. All touches of the tiles stand between the readers' wait and their arrival.
//!
//! # Contents of the final steps ([`contents`])
//!
//! 18. *Addresses.* The step is carried out in the threads of the plan. In each thread that is carried out (none, all, and each one of the bits of its
//!     number) and each turn, for invented arguments, the address of a movement's step with its
//!     immediate is that of statement 5 or 6 for one and the same instance; and a loop turns as
//!     often as the program says. Arguments that loops begin or end at are such that these turn, as far as
//!     such numbers are found; bounds of tensors are other parts of tiles in each thread.
//! 19. *Contents.* Each register that a step stores holds the bits that the plan says, through
//!     every instruction that made them: loads (each its own instance), constants, elementwise
//!     operations, repetitions, reductions, conversions inside warps lane by lane, sums of products
//!     with their terms in order, copies on their way, and what loops carry.
//! 20. *Shared tiles.* Each step that reads one finds what its operation reads in the program: all
//!     that the last writer wrote, and nothing over it.
//! 21. *Waits.* A register that a load fills is not touched before a wait of the table for it;
//!     between two steps of a hazard are its wait states, or what ends it. Registers of products
//!     that run beside the lanes are ordered before and behind them by the table's steps.
//! 22. *Units.* In each of these threads and turns the map, the place and the coordinates of a
//!     box's copy, the word of a descriptor with its start, the columns of accumulators and of A,
//!     the address of their loads and stores, the instruction descriptor's word, the columns of
//!     scales and whether the unit adds are those of one and the same instance; one thread issues
//!     them; each instance into tensor memory has one step, the first of each sum before the
//!     others. What is stored to tensor memory, and the register of block scales with its
//!     immediates, holds what the plan says; what is fetched is the sum whose cells its place
//!     stands for. The frame of tensor memory stands around all work there, and mbarriers
//!     keep the addresses that they were made at. Announcements to objects of 14b, counted through the whole kernel, are to the next one each time,
//!     and so are waits, in the parity of the round that they are in; copies complete on the one that was announced to last.
//! 23. *Nothing else is read.* On no way to a step is a register that it reads one that nothing has
//!     written.
//!
//! # Not checked here
//!
//! Conflicts through global memory between two arguments (whether they alias is not known); the
//! values `start` of a global tile beyond being the operation's subscripts; bank conflicts and
//! costs. Copy atoms with replicas are refused, not checked. Of the final steps: that sums in
//! tensor memory are not overwritten between products and loads beyond 9b and 14; that a register
//! made uniform was the same in all lanes; threads that are not carried out; steps of loops that no
//! carried out thread turns.
//!
//! # What it shares
//!
//! Nothing with choosing, dividing, placing or emitting. It reads the plan's fields as data, steps
//! as `emit::step` defines them, fragments as `map::Fragment` defines what its columns mean, and
//! the plan's own words for its numbers: a product's counts, a decomposition's instances, a copy's
//! pieces. Descriptors, swizzles, operands' tiles and tensor tiles have a reader of their own
//! (`reader`).
//!
//! Cost: a plan takes time in proportion to the bytes that its movements move plus the operands of
//! its instances; an order takes (shared accesses) * (steps until they are ordered on all ways);
//! contents take what a dozen threads' integer steps do, and the registers that are stored times
//! the instructions that made them. No recursion, no heap, no panic.
//!
//! ```
//! use lanebook::TABLES;
//! use lanebook::check::{ContentsPool, ContentsStorage, ContentsSummary, FinalSteps, MapFault, ObjectFault, OrderSummary, PlanSummary, Position, StepsSummary, Violation};
//! use lanebook::compile::{KernelStorage, compile};
//! use lanebook::ir::{Options, SmallStorage, parse};
//!
//! let text = "func @f(%x: memref<?x64xf32, #gmem> {align = 16}, %m: index) {threads = 128} {
//!   %a = tiled_load %x[%m, 0] : memref<?x64xf32, #gmem> -> tensor<32x64xf32>
//!   %b = add %a, %a : tensor<32x64xf32>
//!   tiled_store %b, %x[%m, 0] : tensor<32x64xf32> -> memref<?x64xf32, #gmem>
//! }";
//! let (mut pools, mut room) = (Box::new(SmallStorage::new()), Box::new(KernelStorage::new()));
//! let mut program = parse(pools.pools(), &TABLES, text, Options::default()).unwrap();
//! let arch = TABLES.arch_named("gfx942").unwrap();
//! let mut compiled = compile(&TABLES, arch, &mut program, room.scratch()).unwrap();
//! // The plan, by itself: each byte of each movement followed from its source.
//! let followed: PlanSummary = lanebook::check::plan(&TABLES, &program, &compiled.plan).unwrap();
//! assert_eq!((followed.moves, followed.bytes), (2, 2 * 32 * 64 * 4));
//! // The order of the steps, and what registers and memory hold after each.
//! let order: OrderSummary = lanebook::check::order(&TABLES, &program, &compiled).unwrap();
//! assert_eq!(lanebook::check::order_of(&TABLES, &program, &compiled.plan, compiled.steps), Ok(order));
//! let mut storage = Box::new(ContentsStorage::<512, 512, 512, 512>::new());
//! let kernel = FinalSteps::of(&compiled);
//! let contents: ContentsSummary = lanebook::check::contents(&TABLES, &program, &kernel, &mut storage.scratch()).unwrap();
//! let all: StepsSummary = lanebook::check::steps(&TABLES, &program, &kernel, &mut storage.scratch()).unwrap();
//! assert_eq!((all.order, all.contents), (order, contents));
//! // A plan that is wrong is refused, with what is wrong in it.
//! compiled.plan.transfers.pop();
//! let wrong: Violation = lanebook::check::plan(&TABLES, &program, &compiled.plan).unwrap_err();
//! assert!(matches!(wrong, Violation::Missing(_)));
//! let mut why = String::new();
//! wrong.write_text(&mut why).unwrap();
//! assert!(!why.is_empty() && !ContentsPool::Goals.describe().is_empty());
//! assert!(!MapFault::Box.describe().is_empty() && !ObjectFault::Phase.describe().is_empty());
//! assert_eq!(Position { lead: 0, byte: 4 }.byte, 4);
//! ```
#![no_std]
#![forbid(unsafe_code)]
#![cfg_attr(
    not(test),
    deny(
        clippy::indexing_slicing,
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::unreachable,
        clippy::todo
    )
)]

#[cfg(test)]
extern crate std;

mod contents;
mod evaluator;
mod explain;
mod lanes;
mod matrix;
mod memory;
mod order;
mod parting;
mod reader;
mod stages;
#[cfg(test)]
mod tests;
mod violation;

pub use crate::contents::{
    ContentsPool, ContentsScratch, ContentsStorage, ContentsSummary, FinalSteps, contents,
};
pub use crate::evaluator::Position;
pub use crate::order::walks::{OrderSummary, order, order_of};
pub use crate::violation::{MapFault, ObjectFault, Violation};

use lanebook_ir::{Op, Program};
use lanebook_plan::Plan;
use lanebook_tables::{OpRole, Tables};

/// What was looked at.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Default)]
pub struct PlanSummary {
    /// Movements.
    pub moves: u32,
    /// Bytes whose way was followed.
    pub bytes: u64,
    /// Products.
    pub products: u32,
    /// Operand elements of products that were compared.
    pub operands: u64,
    /// Cells of tensor memory that loads were followed from.
    pub cells: u64,
}

/// Replays a plan lane by lane.
///
/// # Errors
/// The first thing that is wrong.
pub fn plan(
    tables: &Tables<'_>,
    program: &Program<'_, '_>,
    plan: &Plan<'_>,
) -> Result<PlanSummary, Violation> {
    let mut out = PlanSummary::default();
    memory::alloc::allocs(tables, program, plan)?;
    evaluator::fragments(plan)?;
    let function = program.functions().next().ok_or(Violation::NoFunction)?;
    if program.has_loops(function) {
        // Nothing is planned of such a function but its shared tiles.
        return Ok(out);
    }
    for op in program.inside(function) {
        match program.role(op) {
            OpRole::Load if is_read_by_units(program, plan, op)? => {}
            OpRole::Copy | OpRole::Load | OpRole::Store | OpRole::Atomic => {
                let m = plan.transfers.iter().find(|m| m.op == op).ok_or(Violation::Missing(op))?;
                out.bytes =
                    out.bytes.saturating_add(memory::movement::movement(tables, program, plan, m)?);
                out.moves = out.moves.saturating_add(1);
            }
            OpRole::Matrix => {
                let p = plan.products.iter().find(|p| p.op == op).ok_or(Violation::Missing(op))?;
                out.operands = out
                    .operands
                    .saturating_add(matrix::product::product(tables, program, plan, p)?);
                out.products = out.products.saturating_add(1);
                out.cells = out
                    .cells
                    .saturating_add(matrix::tensor_memory::accumulator(tables, program, plan, p)?);
                out.operands = out
                    .operands
                    .saturating_add(matrix::scale_copies::scales(tables, program, plan, p)?);
            }
            // A number is the same everywhere.
            OpRole::Convert
                if program.result(op, 0).is_some_and(|value| program.constant(value).is_some()) => {
            }
            // Who reads a tile looks for its distribution: where there is none, nobody does.
            OpRole::Elementwise
            | OpRole::Select
            | OpRole::Reduce
            | OpRole::Broadcast
            | OpRole::Reshape
            | OpRole::Permute
            | OpRole::Slice
            | OpRole::Convert
                if evaluator::is_undecided(program, plan, op) => {}
            OpRole::Elementwise | OpRole::Select => evaluator::elementwise(program, plan, op)?,
            OpRole::Reduce => lanes::shape::reduce(tables, program, plan, op)?,
            OpRole::Broadcast => lanes::shape::broadcast(program, plan, op)?,
            OpRole::Reshape | OpRole::Permute => lanes::shape::reshape(program, plan, op)?,
            OpRole::Slice => lanes::part::part(program, plan, op)?,
            OpRole::Convert => lanes::shape::convert(tables, program, plan, op)?,
            _ => {}
        }
    }
    Ok(out)
}

/// Whether a load is needless: units read the tile wherever its result is used.
fn is_read_by_units(program: &Program<'_, '_>, plan: &Plan<'_>, op: Op) -> Result<bool, Violation> {
    if !plan.is_absorbed(op) {
        return Ok(false);
    }
    let all = program.uses_behind(op, OpRole::Transpose) == Some(plan.times_absorbed(op));
    if all { Ok(true) } else { Err(Violation::Missing(op)) }
}

/// What was looked at.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Default)]
pub struct StepsSummary {
    /// By the check of their order.
    pub order: OrderSummary,
    /// By the check of contents.
    pub contents: ContentsSummary,
}

/// Checks the final steps of a function: exchanges between lanes, order, and contents (statements
/// 14 to 21). The plan itself is [`plan`]'s.
///
/// # Errors
/// The first thing that is wrong, or the pool of `scratch` that ran out.
pub fn steps(
    tables: &Tables<'_>,
    program: &Program<'_, '_>,
    kernel: &FinalSteps<'_>,
    scratch: &mut ContentsScratch<'_>,
) -> Result<StepsSummary, Violation> {
    lanes::shape::lanes(tables, program, kernel.plan, kernel.steps)?;
    let order = order_of(tables, program, kernel.plan, kernel.steps)?;
    let contents = contents(tables, program, kernel, scratch)?;
    Ok(StepsSummary { order, contents })
}
