//! Layout inference: parallel loops over fragments, shared and global buffers go in; which thread
//! executes which iteration and holds which element comes out. TileLang has the same pass; stages
//! have its names in their descriptions.
//!
//! Nothing is proved by a solver or bounded by a budget. An index map is a sum of digits
//! ([`IndexForm`]): mixed radix, with gaps, with exclusive or. Maps are inverted
//! ([`FormArena::solve`]), put into each other ([`FormArena::substitute`]) and contained in each
//! other ([`FormArena::contains`]) by structure; where structure gives no answer, point by point.
//!
//! | module | what |
//! | --- | --- |
//! | `arena` `pool` `error` | maps in lent memory, each derived base once; what is full |
//! | `form` `bits` | sums, quotients and remainders; exclusive or and masks |
//! | `subst` `solve` | maps in place of variables; variables from outputs |
//! | `points` `contain` | maps at points; whether the threads of one map are among those of another |
//! | `program` `inference` | buffers, operators, accesses; the state, and how a program is told to it |
//! | `fragment` `anchor` | fragments by an access, without a dimension, of a matrix unit |
//! | `parallel` | parallel loops: by a buffer, by a plan, checked; what they ask of memory; iterations of one that meet at an element |
//! | `notation` | fragments as text, as TileLang writes and prints them, and as layouts with strides |
//! | `iterations` | which iteration a thread has in a slot, where structure does not invert a layout |
//! | `driver` `queue` | levels; who is asked next |
//! | `components` `event` | free mode: components from each root, cost; the timeline |
//!
//! Four elements on threads 0, 16, 32 and 48, and who executes a loop that reads them:
//!
//! ```
//! use lanebook_infer::*;
//! use lanebook_tables::{CostPart, CostPolicy, CostTerm};
//! # let (mut bases, mut terms) = (vec![BaseEntry::default(); 256], vec![DigitTerm::default(); 2048]);
//! # let mut buckets = vec![0; 64];
//! # let (mut buffers, mut operators) = (vec![Buffer::default(); 4], vec![Operator::default(); 4]);
//! # let (mut accesses, mut layouts) = (vec![Access::default(); 8], vec![None; 32]);
//! # let (mut queue, mut points) = (vec![0; 16], vec![0; 64]);
//! # let arena = ArenaParts { bases: &mut bases, terms: &mut terms, buckets: &mut buckets };
//! let mut inference = Inference::new(InferenceParts {
//!     arena, buffers: &mut buffers, operators: &mut operators, accesses: &mut accesses,
//!     layouts: &mut layouts, queue: &mut queue, points: &mut points,
//! }, MachineFigures { wave: 32, access_bits: 128, sector_bytes: 32 });
//! let f = inference.buffer(&[4, 16], 32, MemoryScope::Fragment)?;
//! let a = inference.buffer(&[4, 16], 32, MemoryScope::Global)?;
//! // for i, j in (4, 16): f[i, j] = a[i, j]      on 64 threads
//! let first = inference.operator(Kind::Parallel, &[4, 16], (0, 64))?;
//! let vars: Vec<_> = inference.operator_of(first)?.vars.iter().collect();
//! let (i, j) = (inference.arena.whole(vars[0])?, inference.arena.whole(vars[1])?);
//! inference.access(f, true, &[i, j])?;
//! inference.access(a, false, &[i, j])?;
//! // for r in (4): ... f[r, 0] ...
//! let second = inference.operator(Kind::Parallel, &[4], (0, 64))?;
//! let var = inference.operator_of(second)?.vars.iter().next().unwrap();
//! let r = inference.arena.whole(var)?;
//! inference.access(f, false, &[r, IndexForm::constant(0)])?;
//!
//! let registers = &[CostPart { term: CostTerm::Registers, weight: 1 }][..];
//! let policy = CostPolicy { name: "registers", sector: 1, access: 1, keys: &[registers] };
//! inference.run(&policy, &mut ()).unwrap();
//! let spread = inference.spread(second).unwrap();
//! let mut tape = Tape::new(&inference.arena, &[spread.thread])?;
//! let mut threads = Vec::new();
//! for row in 0..4 {
//!     tape.set(var, row);
//!     tape.derive(&inference.arena)?;
//!     threads.push(tape.value(&inference.arena, spread.thread)?);
//! }
//! assert_eq!(threads, [0, 16, 32, 48]);
//! # Ok::<(), FormError>(())
//! ```
//!
//! ```
//! use lanebook_infer::*;
//! use lanebook_tables::{CostPart, CostPolicy, CostTerm};
//! # let (mut bases, mut terms) = (vec![BaseEntry::EMPTY; 256], vec![DigitTerm::EMPTY; 2048]);
//! # let mut buckets = vec![0; 64];
//! # let (mut buffers, mut operators) = (vec![Buffer::default(); 8], vec![Operator::default(); 4]);
//! # let (mut accesses, mut layouts) = (vec![Access::default(); 8], vec![None; 32]);
//! # let (mut queue, mut points) = (vec![0; 16], vec![0; 64]);
//! # let arena = ArenaParts { bases: &mut bases, terms: &mut terms, buckets: &mut buckets };
//! # let mut inference = Inference::new(InferenceParts {
//! #     arena, buffers: &mut buffers, operators: &mut operators, accesses: &mut accesses,
//! #     layouts: &mut layouts, queue: &mut queue, points: &mut points,
//! # }, MachineFigures { wave: 32, access_bits: 128, sector_bytes: 32 });
//! // A fragment whose layout is written: row i on thread 8 * i, whole.
//! let f: BufferId = inference.buffer(&[4, 8], 32, MemoryScope::Fragment)?;
//! let shape: VarRange = inference.buffer_of(f)?.dims;
//! assert_eq!((shape.len(), shape.is_empty(), shape.len() <= MAX_RANK), (2, false, true));
//! let written = "{thread = v0 * 8, index = v1}";
//! assert!(notation::is_fragment_text(written));
//! let layout: FragmentForm = notation::read(&mut inference.arena, shape, written).unwrap();
//! let mut text = String::new();
//! notation::write(&inference.arena, &layout, &mut text).unwrap();
//! assert!(notation::strided(&inference.arena, &layout).is_ok(), "{text}");
//! inference.pin_buffer(f, layout)?;
//! // The same storage under another shape; a loop that reads it; a serial loop beside it.
//! let flat = inference.alias(f, &[32], 32)?;
//! let a = inference.buffer(&[4, 8], 32, MemoryScope::Global)?;
//! let k = inference.serial(4, false)?;
//! let nest: OperatorId = inference.operator(Kind::Parallel, &[4, 8], (0, 32))?;
//! inference.bound_vector(4);
//! let vars: Vec<_> = inference.operator_of(nest)?.vars.iter().collect();
//! let (i, j) = (inference.arena.whole(vars[0])?, inference.arena.whole(vars[1])?);
//! inference.access(f, false, &[i, j])?;
//! inference.access_when(a, true, &[i, j], When::Where(j))?;
//! let op = *inference.operator_of(nest)?;
//! assert_eq!((inference.counts(), inference.accesses_of(&op)[0].indices()), ((3, 1), &[i, j][..]));
//! assert!(!i.is_constant() && inference.layout(flat).is_none());
//!
//! // A buffer in shared memory whose bytes are exchanged, and a view of it, which lies alike.
//! use lanebook_layout::{Swizzle, Unit};
//! let s = inference.buffer(&[8, 64], 16, MemoryScope::Shared)?;
//! let words = inference.alias(s, &[256], 32)?;
//! inference.set_swizzle(s, Swizzle::new(3, 4, 3, Unit::Byte).ok())?;
//! assert!(inference.swizzle(words).is_some() && !inference.is_swizzle_pinned(words));
//! // One that is written stays.
//! inference.pin_swizzle(s, None)?;
//! assert!(inference.swizzle(words).is_none() && inference.is_swizzle_pinned(words));
//! // Strips of all rows, one behind the other: the second of 64 bytes begins behind eight rows of the
//! // first. A number, and a map.
//! inference.set_strips(s, Some(64))?;
//! assert_eq!((inference.strips(words), inference.placed_byte(s, 128 + 64)), (Some(64), Some(512 + 64)));
//! let bytes = inference.arena.scale(i, 128)?;
//! let (place, wanted) = (inference.placed(s, bytes)?, inference.arena.scale(i, 64)?);
//! assert!(inference.arena.same(place, wanted));
//! // Or with 16 bytes behind every 64 of these.
//! inference.pin_padding(s, (64, 16))?;
//! assert_eq!((inference.padding(words), inference.placed_byte(s, 128)), (Some((64, 16)), Some(80)));
//! // Or anywhere: elements of 2 bytes whose two lowest bits are exchanged.
//! let flat = inference.buffer(&[8], 16, MemoryScope::Shared)?;
//! let element = inference.arena.var(8, VarRole::Output)?;
//! let number = inference.arena.whole(element)?;
//! let (above, low) = inference.arena.div_rem(number, 2)?;
//! let (top, middle) = inference.arena.div_rem(above, 2)?;
//! let place = inference.arena.scale(top, 8)?;
//! let place = inference.arena.add_scaled(place, low, 4)?;
//! let place = inference.arena.add_scaled(place, middle, 2)?;
//! inference.pin_places(flat, StoragePlaces { element, bytes: place, unit: 2 })?;
//! assert!(inference.places(flat).is_some());
//! assert_eq!((inference.placed_byte(flat, 2), inference.placed_byte(flat, 11)), (Some(4), Some(13)));
//!
//! // The timeline: who was asked, what came out. Up to the common level alone, then all of it.
//! #[derive(Default)]
//! struct Timeline(Vec<Level>, usize);
//! impl Listener for Timeline {
//!     fn event(&mut self, _: &Inference<'_>, event: InferenceEvent) {
//!         match event {
//!             InferenceEvent::Begins(level) => self.0.push(level),
//!             InferenceEvent::Spread(_, _, SpreadSource::Buffer(_), _) => self.1 += 1,
//!             InferenceEvent::Rejected(Rejection { reason, .. }) => panic!("{reason:?}"),
//!             _ => {}
//!         }
//!     }
//! }
//! let mut told = Timeline::default();
//! let registers = &[CostPart { term: CostTerm::Registers, weight: 1 }][..];
//! let policy = CostPolicy { name: "registers", sector: 1, access: 1, keys: &[registers] };
//! let done: Inferred = inference.run_to(Level::Common, &policy, &mut told);
//! assert_eq!((done, told.0.last()), (Ok(()), Some(&Level::Common)));
//! assert!(inference.spread(nest).is_some());
//! // What two attempts cost by this policy.
//! let (few, many) = (Cost { registers: 4, ..Cost::default() }, Cost { registers: 8, ..Cost::default() });
//! assert!(few.less(&many, &policy));
//!
//! // Two iterations that meet at an element that one of them writes.
//! let racing = inference.operator(Kind::Parallel, &[4, 8], (0, 32))?;
//! let vars: VarRange = inference.operator_of(racing)?.vars;
//! let row = inference.arena.whole(vars.iter().next().unwrap())?;
//! inference.access(a, true, &[row, IndexForm::constant(0)])?;
//! let race: Race = inference.race(racing)?.unwrap();
//! assert_eq!((race.buffer, race.both_write), (a, true));
//! assert_eq!(inference.coordinates(vars, race.iterations[1])?[..2], [0, 1]);
//!
//! // Why inference ends without layouts, as text; which pool is too small.
//! let stop = Stop::Rejected { operator: nest, reason: Reason::NotOwner { buffer: f } };
//! let (mut why, mut reason, mut full) = (String::new(), String::new(), String::new());
//! stop.write_text(&mut why).unwrap();
//! Reason::Nothing.write_text(&mut reason).unwrap();
//! FormError::Full { pool: PoolName::Terms, has: 8 }.write_text(&mut full).unwrap();
//! assert!(!why.is_empty() && !reason.is_empty() && full.contains(PoolName::Terms.describe()), "{full}");
//! // A product's operands come from a unit's tiles, its warps by a policy.
//! assert_eq!((WarpPolicy::default(), UnitSide::A == UnitSide::B), (WarpPolicy::Square, false));
//! # fn rows(tile: &UnitTile<'_>) -> u32 { tile.rows }
//! # let _ = (rows, k);
//! # fn operator(inference: &mut Inference<'_>, id: OperatorId, layout: FragmentForm) -> FormResult<()> { inference.pin_operator(id, layout) }
//! # Ok::<(), FormError>(())
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
        clippy::arithmetic_side_effects
    )
)]

#[cfg(test)]
extern crate std;

mod anchor;
mod arena;
mod bits;
mod components;
mod contain;
mod driver;
mod error;
mod event;
mod form;
mod fragment;
mod inference;
mod iterations;
pub mod notation;
mod parallel;
mod points;
mod pool;
mod program;
mod queue;
mod solve;
mod subst;

pub use anchor::{UnitSide, UnitTile, WarpPolicy};
pub use arena::{ArenaParts, BaseEntry, DigitTerm, FormArena, IndexForm};
pub use driver::Inferred;
pub use error::{FormError, FormResult, PoolName};
pub use event::{Cost, InferenceEvent, Level, Listener, Reason, Rejection, SpreadSource};
pub use inference::{Inference, InferenceParts, Stop};
#[doc(hidden)]
pub use iterations::LookupVar;
pub use parallel::Race;
pub use points::Tape;
pub use program::{
    Access, Buffer, BufferId, FragmentForm, Kind, MAX_RANK, MachineFigures, MemoryScope, Operator,
    OperatorId, StoragePlaces, VarRange, When,
};

// How maps are made, inverted and compared.
#[doc(hidden)]
pub use anchor::{ProductThreads, split_warps, split_whole};
#[doc(hidden)]
pub use arena::{ArenaMark, BaseDigit, BaseId, FormBase, FormOp, MAX_TERMS, VarRole};
#[doc(hidden)]
pub use contain::{MAX_THREADS, Threads};
#[doc(hidden)]
pub use points::Walk;
#[doc(hidden)]
pub use solve::{Equation, Free, MAX_VARS, Solution, VarForms};
#[doc(hidden)]
pub use subst::{BaseSet, MAX_BASES, MAX_WALK, Variables};
