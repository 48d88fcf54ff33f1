//! Why a program was not compiled, in the terms of whoever lends the room: an operation of the
//! caller's program, and a pool that was too small by name.

use lanebook_emit::expr::ExprError;
use lanebook_emit::step::InstError;
use lanebook_emit::{EmitError, EmitPool, TextError};
use lanebook_ir::verify::contract::Breach;
use lanebook_ir::{Op, Program};
use lanebook_layout::sentence;
use lanebook_plan::{PlanError, Reject};
use lanebook_query::NoDistribution;
use lanebook_tables::{ArchId, Tables};

/// Why a program was not compiled.
///
/// ```
/// use lanebook::TABLES;
/// use lanebook::compile::{CompileError, KernelStorage, compile};
/// use lanebook::ir::{Options, SmallStorage, parse};
///
/// let text = "func @f(%x: memref<?x64xf32, #gmem>) {threads = 100} {
///   %a = tiled_load %x[0, 0] : memref<?x64xf32, #gmem> -> tensor<64x64xf32>
///   tiled_store %a, %x[0, 0] : tensor<64x64xf32> -> memref<?x64xf32, #gmem>
/// }";
/// let (mut pools, mut room) = (Box::new(SmallStorage::new()), Box::new(KernelStorage::new()));
/// let mut program = parse(pools.pools(), &TABLES, text, Options::default()).unwrap();
/// let arch = TABLES.arch_named("sm_80").unwrap();
/// let refused: CompileError = compile(&TABLES, arch, &mut program, room.scratch()).err().unwrap();
/// let (mut plain, mut named) = (String::new(), String::new());
/// refused.write_text(&mut plain).unwrap();
/// refused.write_named(&TABLES, arch, &program, &mut named).unwrap();
/// assert_eq!(refused.display(&TABLES, arch, &program).to_string(), named);
/// assert!(named.contains("100") && !plain.is_empty(), "{named}");
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum CompileError {
    /// No plan.
    Plan(PlanError),
    /// No steps.
    Emit(EmitError),
    /// The text sink refused.
    Text(TextError),
    /// A list of emission is full.
    Capacity {
        /// Which.
        pool: EmitPool,
        /// How many it holds; the kernel needs more.
        capacity: u32,
        /// The operation that needed one more, where emission was at one.
        op: Option<Op>,
    },
    /// The program has no function to compile.
    NoFunction,
    /// The program writes something that is not obeyed.
    Contract(Breach),
    /// A function of parallel loops without its layouts: [`compile_loops`](crate::compile::compile_loops) takes them; or layouts
    /// for another function.
    NotTold(Op),
    /// A layout that is written in a notation of another system is none of such a tile here.
    Layout {
        /// What makes the tile.
        op: Op,
        /// Why.
        why: NoDistribution,
    },
}

impl CompileError {
    /// Writes what is wrong, without names.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn write_text(&self, sink: &mut impl core::fmt::Write) -> core::fmt::Result {
        match *self {
            Self::Plan(error) => error.write_text(sink),
            Self::Emit(error) => error.write_text(sink),
            Self::Text(error) => error.write_text(sink),
            Self::Capacity { pool, capacity, .. } => sentence!(
                sink,
                "the program is too large: its kernel needs more than ~ ~",
                capacity,
                pool.describe()
            ),
            Self::NoFunction => sink.write_str("the program has no function to compile"),
            Self::Contract(breach) => breach.write_text(sink),
            Self::NotTold(_) => sink.write_str(
                "a function of parallel loops is compiled with the layouts that inference finds for it (`compile_loops`), and here there are none, or those of another function",
            ),
            Self::Layout { why, .. } => {
                sink.write_str("the layout that is written for this tile cannot be kept to: ")?;
                match why {
                    NoDistribution::Query(error) => error.why.write_text("it", sink),
                    why => sink.write_str(why.describe()),
                }
            }
        }
    }

    /// Writes what is wrong, with the names of the architecture, its registers and the program:
    /// what [`CompileError::display`] shows, for sinks without formatting.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn write_named(
        &self,
        tables: &Tables<'_>,
        arch: ArchId,
        program: &Program<'_, '_>,
        sink: &mut impl core::fmt::Write,
    ) -> core::fmt::Result {
        match (*self, tables.arch(arch)) {
            (Self::Plan(error), Some(arch)) => {
                error.write_named(arch, program, sink)?;
                match error {
                    PlanError::NoCopyAtom { why, .. } => {
                        // Where there is none, there is no nearest one.
                        sink.write_str(match why {
                            Reject::Absent => ": ",
                            _ => ": the nearest one ",
                        })?;
                        why.write_text(tables, sink)
                    }
                    PlanError::NoMatrixAtom(op) => {
                        match lanebook_plan::select::why_no_unit(tables, arch, program, op) {
                            Some(why) => {
                                sink.write_str(": the nearest one ")?;
                                why.write_text(tables, sink)
                            }
                            None => Ok(()),
                        }
                    }
                    _ => Ok(()),
                }
            }
            (Self::Emit(error), Some(arch)) => error.write_named(tables, arch, program, sink),
            _ => self.write_text(sink),
        }
    }

    /// The sentence with the names of the architecture, its registers and the program.
    ///
    /// ```
    /// use lanebook::{TABLES, compile, ir};
    ///
    /// let text = "func @f(%n: index) {threads = 33} { return }";
    /// let mut pools = Box::new(ir::SmallStorage::new());
    /// let mut program = ir::parse(pools.pools(), &TABLES, text, ir::Options::default()).unwrap();
    /// ir::verify(&mut program).unwrap();
    /// let arch = TABLES.arch_named("sm_80").unwrap();
    /// let mut storage = Box::new(compile::KernelStorage::new());
    /// let compiled = compile::compile(&TABLES, arch, &mut program, storage.scratch());
    /// let error = compiled.map(|_| ()).unwrap_err();
    /// assert_eq!(error.to_string(), "33 threads do not suit the architecture");
    /// let shown = error.display(&TABLES, arch, &program).to_string();
    /// assert_eq!(shown, "33 threads do not suit sm_80");
    /// ```
    pub fn display<'p>(
        self,
        tables: &'p Tables<'p>,
        arch: ArchId,
        program: &'p Program<'_, '_>,
    ) -> impl core::fmt::Display + 'p {
        core::fmt::from_fn(move |f| self.write_named(tables, arch, program, f))
    }
}

lanebook_layout::shown!(CompileError);

impl CompileError {
    /// An error of emission, met at an operation.
    pub(super) fn emission(error: EmitError, op: Option<Op>) -> Self {
        let (pool, capacity) = match error {
            EmitError::Inst(InstError::Capacity { pool, capacity }) => (pool, capacity),
            EmitError::Inst(InstError::Steps { capacity }) => (EmitPool::Steps, capacity),
            EmitError::Inst(InstError::Registers { capacity }) => (EmitPool::Tuples, capacity),
            EmitError::Inst(InstError::TupleStrides { capacity }) => {
                (EmitPool::TupleStrides, capacity)
            }
            EmitError::Inst(InstError::Loops { capacity }) => (EmitPool::Loops, capacity),
            EmitError::Expr(ExprError::Nodes { capacity }) => {
                (EmitPool::Nodes, u32::from(capacity))
            }
            EmitError::Expr(ExprError::Variables { capacity }) => {
                (EmitPool::Variables, u32::from(capacity))
            }
            _ => return Self::Emit(error),
        };
        Self::Capacity { pool, capacity, op }
    }
}

impl CompileError {
    /// The same about another operation: `to` says which one stands for each.
    pub(super) fn about(self, to: impl FnOnce(Op) -> Op) -> Self {
        match self {
            Self::Plan(e) => Self::Plan(e.about(to)),
            Self::Emit(e) => Self::Emit(e.about(to)),
            Self::Capacity { pool, capacity, op } => {
                Self::Capacity { pool, capacity, op: op.map(to) }
            }
            Self::Text(_)
            | Self::NoFunction
            | Self::Contract(_)
            | Self::NotTold(_)
            | Self::Layout { .. } => self,
        }
    }
}

impl From<PlanError> for CompileError {
    fn from(e: PlanError) -> Self {
        Self::Plan(e)
    }
}
impl From<Breach> for CompileError {
    fn from(e: Breach) -> Self {
        Self::Contract(e)
    }
}
impl From<EmitError> for CompileError {
    fn from(e: EmitError) -> Self {
        Self::emission(e, None)
    }
}
impl From<TextError> for CompileError {
    fn from(e: TextError) -> Self {
        Self::Text(e)
    }
}
