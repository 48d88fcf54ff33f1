//! Parallel loops of a tile program: told to layout inference ([`tell`]).
//!
//! | module | what |
//! | --- | --- |
//! | `tell` `operators` `indices` | a function's buffers, loops, tile operations and subscripts, as inference wants them |
//! | `swizzles` | swizzles of shared buffers, by what their accesses take of the banks |
//! | `accesses` `access_models` `operand` | those accesses; what the tables say of them; how a product reads its operands |
//! | `tensor_unit` `tensor_sums` | products whose unit leaves sums in tensor memory; how they come from there |
//! | `unit_operands` | products whose unit reads shared memory by itself, and the layouts for that |
//! | `machine` | figures and matrix units of an architecture |
//! | `places` | where elements of shared buffers lie that are neither rows nor strips |
//! | `result` | layouts back into the program |
//! | `exchange` | what a loop reads and does not own: through shared memory |
//! | `fusion` | neighbouring loops as one, where a large fragment between them goes away |
//! | `reductions` | reductions of what lies in shared memory: through fragments |
//! | `error` | what cannot be told, and where |
//!
//! Guarantees: no allocation, no recursion, no panic; every attribute and operation is told, or
//! refused with its place.
//!
//! ```
//! use lanebook::TABLES;
//! use lanebook::infer::*;
//! use lanebook::ir::{Options, SmallStorage, parse, print};
//! use lanebook::loops::{Fact, LoopLayouts, LoopParts, LoopError, LoopErrorKind, LoopResult, Told, tell};
//! use lanebook::loops::{SharedAnswer, SharedListener, SharedStep, UnitRefusal, lay_shared};
//!
//! let text = "func @rows(%A: memref<4x16xf32>, %B: memref<4xf32>) {threads = 64} {
//!   %f = alloc_tensor : tensor<4x16xf32, #fragment>
//!   parallel (%i, %j) in (4, 16) {
//!     %a = memref.load %A[%i, %j]
//!     memref.store %a, %f[%i, %j]
//!   }
//!   parallel (%i) in (4) {
//!     %x = memref.load %f[%i, 0]
//!     memref.store %x, %B[%i]
//!   }
//! }";
//! let mut pools = Box::new(SmallStorage::new());
//! let mut program = parse(pools.pools(), &TABLES, text, Options::default()).unwrap();
//! // Room for inference, and for what stands for what.
//! let (mut bases, mut terms) = (vec![BaseEntry::default(); 512], vec![DigitTerm::default(); 4096]);
//! let mut buckets = vec![0; 64];
//! let (mut buffers, mut operators) = (vec![Buffer::default(); 8], vec![Operator::default(); 8]);
//! let (mut accesses, mut layouts) = (vec![Access::default(); 16], vec![None; 32]);
//! let (mut queue, mut points) = (vec![0; 16], vec![0; 256]);
//! let (mut values, mut ops, mut tiles) = (vec![Fact::default(); 64], vec![None; 8], vec![None; 8]);
//! let parts = LoopParts {
//!     inference: InferenceParts {
//!         arena: ArenaParts { bases: &mut bases, terms: &mut terms, buckets: &mut buckets },
//!         buffers: &mut buffers, operators: &mut operators, accesses: &mut accesses,
//!         layouts: &mut layouts, queue: &mut queue, points: &mut points,
//!     },
//!     values: &mut values, operators: &mut ops, buffers: &mut tiles,
//! };
//! let arch = TABLES.arch(TABLES.arch_named("sm_80").unwrap()).unwrap();
//! let function = program.function("rows").unwrap();
//! let mut told: Told = tell(&program, function, &TABLES, arch, parts).unwrap();
//! told.inference.run(&TABLES.policies[0], &mut ()).unwrap();
//! // Two nests, three buffers; what stands for what, both ways.
//! assert_eq!((told.operators().count(), told.buffers().count(), told.function()), (2, 3, function));
//! let (nest, op) = told.operators().next().unwrap();
//! assert_eq!((told.op(nest), told.operator_for(op)), (Some(op), Some(nest)));
//! let (id, value) = told.buffers().next().unwrap();
//! assert_eq!(told.value(id), Some(value));
//! // The layouts go back into the program, and print with it.
//! told.annotate(&mut program).unwrap();
//! let mut annotated = String::new();
//! print(&program, &LoopLayouts(&told), &mut annotated).unwrap();
//! assert!(annotated.contains("layout ="), "{annotated}");
//!
//! // Swizzles of shared buffers, by what their accesses take of the banks: this function has none.
//! struct Steps(Vec<SharedStep>);
//! impl SharedListener for Steps {
//!     fn step(&mut self, step: SharedStep) {
//!         assert_ne!(step.answer, SharedAnswer::Yields);
//!         self.0.push(step);
//!     }
//!     // A buffer that lies by columns, because its accesses cost less so.
//!     fn by_columns(&mut self, _: BufferId, costs: [u32; 2]) {
//!         assert!(costs[1] < costs[0]);
//!     }
//!     // A product that the architecture's unit does not take from shared memory: there is none here.
//!     fn by_warps(&mut self, _: lanebook::ir::Op, why: UnitRefusal) {
//!         panic!("{why:?}");
//!     }
//! }
//! let mut steps = Steps(Vec::new());
//! lay_shared(&mut told, &program, &TABLES, arch, &mut steps).unwrap();
//! assert!(steps.0.is_empty());
//!
//! // What cannot be told is said with its place.
//! fn explain(error: LoopError, program: &lanebook::ir::Program) -> String {
//!     let (mut plain, mut named, mut kind) = (String::new(), String::new(), String::new());
//!     error.write_text(&mut plain).unwrap();
//!     error.write_named(program, &mut named).unwrap();
//!     error.kind.write_text(&mut kind).unwrap();
//!     assert_eq!(error.display(program).to_string(), named);
//!     named
//! }
//! let refused: LoopResult<()> = Err(LoopError { kind: LoopErrorKind::NoThreads, op: function });
//! assert!(explain(refused.unwrap_err(), &program).contains("threads"));
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

mod access_models;
mod accesses;
mod error;
mod exchange;
mod fusion;
mod indices;
mod machine;
mod operand;
mod operators;
mod places;
mod reductions;
mod result;
mod swizzles;
mod tell;
mod tensor_sums;
mod tensor_unit;
mod unit_operands;

pub use error::{LoopError, LoopErrorKind, LoopResult};
pub use exchange::{exchange, exchange_uniform};
pub use fusion::fuse_loops;
pub use reductions::reduce_in_fragments;
pub use result::LoopLayouts;
pub use swizzles::{SharedAnswer, SharedListener, SharedStep, lay_shared};
pub use tell::{Fact, LoopParts, Told, tell};

// What planning asks of a machine's units.
#[doc(hidden)]
pub use access_models::AccessModels;
#[doc(hidden)]
pub use accesses::{SlotAccess, SlotPlaces, operand_place, shared_accesses};
#[doc(hidden)]
pub use machine::{AnchorUnit, UnitRequest, figures, unit, warp_unit};
#[doc(hidden)]
pub use operand::{LaneTile, OperandPlace, TileLoad};
#[doc(hidden)]
pub use operators::{WarpProduct, product_unit};
#[doc(hidden)]
pub use tensor_sums::{ProductSize, TensorSums, product_in_tensor};
pub use unit_operands::UnitRefusal;
#[doc(hidden)]
pub use unit_operands::{UnitOperand, UnitProduct, unit_anchor, unit_product};
