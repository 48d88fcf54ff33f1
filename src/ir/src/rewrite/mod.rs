//! The rule engine: one matcher over compiled rules, for every term language.
//!
//! [`run`] takes nodes from a worklist, tries the rules of their root in the table's order, builds
//! the replacement of the first that matches and whose conditions hold, and goes on with the new
//! nodes. It never recurses, it is deterministic, each rewrite costs one unit of fuel, and when
//! fuel or room ends the graph is as it was before.
//!
//! It does not decide what a rule may do: that is checked when rules are compiled
//! (`rules/README.md`).
//!
//! ```
//! use lanebook::TABLES;
//! use lanebook::ir::{Node, Options, SmallStorage, TileGraph, parse};
//! use lanebook::rewrite::{Applied, Ring, RunError, Stats, Work, run};
//! use lanebook::tables::Language;
//!
//! let mut storage = Box::new(SmallStorage::new());
//! let text = "func @f(%x: memref<64x64xf32, #gmem>) {threads = 128} {
//!   %a = tiled_load %x[0, 0] : memref<64x64xf32, #gmem> -> tensor<64x64xf32>
//!   %b = convert_layout %a : tensor<64x64xf32> -> tensor<64x64xf32>
//!   %c = convert_layout %b : tensor<64x64xf32> -> tensor<64x64xf32>
//!   tiled_store %c, %x[0, 0] : tensor<64x64xf32> -> memref<64x64xf32, #gmem>
//! }";
//! let mut program = parse(storage.pools(), &TABLES, text, Options::default()).unwrap();
//! // The tile rules of one phase, over all operations of the program, with fuel for 100 rewrites.
//! let set = TABLES.rules.sets.iter().find(|set| set.language == Language::Tile).unwrap();
//! let mut list = heapless::Vec::<Node, 64>::new();
//! let mut graph = TileGraph::new(&mut program);
//! let mut work = Work::new(list.as_mut_view());
//! graph.push_all(&mut work).unwrap();
//! let (mut fuel, mut entries) = (100, [None; 4]);
//! let mut ring = Ring::new(&mut entries);
//! let stats: Stats = run(&mut graph, &TABLES.rules, set, &mut work, &mut fuel, |rule, at| ring.record(rule, at)).unwrap();
//! assert!(stats.visited > 0);
//! assert_eq!((ring.total(), 100 - fuel), (stats.applied, stats.applied));
//! let last: Option<Applied<Node>> = ring.iter().last();
//! assert_eq!(last.is_some(), stats.applied > 0);
//! # let (node, _) = (graph.node(graph.program().all().next().unwrap()), graph.push_all_last_first(&mut work));
//! # assert!(matches!(node, Node::Op(_)));
//! // A worklist that is full says how much it holds.
//! let mut small = heapless::Vec::<u16, 1>::new();
//! let mut work = Work::new(small.as_mut_view());
//! work.push::<()>(1).unwrap();
//! assert!(matches!(work.push::<()>(2), Err(RunError::Work { capacity: 1 })));
//! assert_eq!((work.pop(), work.pop()), (Some(1), None));
//! ```
pub(crate) mod build;
pub(crate) mod engine;
pub(crate) mod graph;
pub(crate) mod matcher;
pub(crate) mod trace;

pub use crate::rewrite::engine::{RunError, Stats, Work, run};
pub use crate::rewrite::graph::{Bound, Graph, Terms, TileMake, View};
#[doc(hidden)]
pub use crate::rewrite::matcher::{
    Binding, RootView, Swaps, find, find_plausible, matches, next_swaps, signed,
};
pub use crate::rewrite::trace::{Applied, Ring};
