//! What compiling gives: the plan, its final steps, and the kernel that they are the text of.

use crate::registers::allocate::RegisterUsage;
use crate::step::{Inst, TupleStride};
use crate::{Kernel, Launch, Param, Snippet, TextError};
use core::fmt::Write;
use heapless::VecView;
use lanebook_ir::{Op, Program};
use lanebook_plan::Plan;
use lanebook_tables::{IndexWord, Tables};

/// What came out.
///
/// ```
/// use lanebook::TABLES;
/// use lanebook::compile::{KernelStorage, compile};
/// use lanebook::emit::{Compiled, Kernel, Launch, Param, ParamKind, TextError, parameter_bytes};
/// use lanebook::ir::{Options, SmallStorage, parse};
///
/// let text = "func @twice(%x: memref<?x64xf32, #gmem> {align = 16}, %m: index) {threads = 128, grid = (cdiv(%m, 32))} {
///   %a = tiled_load %x[%m, 0] : memref<?x64xf32, #gmem> -> tensor<32x64xf32>
///   %b = add %a, %a : tensor<32x64xf32>
///   tiled_store %b, %x[%m, 0] : tensor<32x64xf32> -> memref<?x64xf32, #gmem>
/// }";
/// let (mut pools, mut room) = (Box::new(SmallStorage::new()), Box::new(KernelStorage::new()));
/// let mut program = parse(pools.pools(), &TABLES, text, Options::default()).unwrap();
/// let arch = TABLES.arch_named("sm_90a").unwrap();
/// let compiled: Compiled = compile(&TABLES, arch, &mut program, room.scratch()).unwrap();
/// // The text, and the steps that it is made of.
/// let mut kernel = String::new();
/// compiled.write(&TABLES, &program, &mut kernel).unwrap();
/// assert!(kernel.contains(".entry twice"));
/// let mut steps = String::new();
/// compiled.dump(&TABLES, &program, &mut steps).unwrap();
/// assert!(steps.lines().count() > compiled.steps.len() / 2);
/// let of: Kernel = compiled.kernel(&TABLES, &program).unwrap();
/// let (mut first, mut whole) = (String::new(), String::new());
/// of.step(&compiled.steps[0], &mut first).unwrap();
/// of.write(&mut whole).unwrap();
/// assert!(whole == kernel && kernel.contains(first.trim()));
/// let mut body = String::new();
/// of.body(compiled.steps, &mut body).unwrap();
/// assert!(kernel.contains(&body));
/// // A sink that is full is an error, not a shorter text.
/// assert_eq!(compiled.write(&TABLES, &program, &mut heapless::String::<64>::new()), Err(TextError::Sink));
/// let mut why = String::new();
/// TextError::Sink.write_text(&mut why).unwrap();
///
/// // How to launch it: parameters, grid, what the assembler must be told.
/// let launch: Launch = compiled.launch(&TABLES, &program).unwrap();
/// let last: &Param = compiled.params.last().unwrap();
/// assert_eq!((last.kind, parameter_bytes(compiled.params)), (ParamKind::Scalar, launch.parameter_bytes));
/// let pointer = launch.parameters().next().unwrap();
/// let mut name = String::new();
/// launch.write_name(&pointer, &mut name).unwrap();
/// assert_eq!((name.as_str(), launch.argument_name(0), launch.argument_element(0)), ("x", "x", Some(("f32", 32))));
/// assert!(launch.argument_kind(0).is_some() && launch.maps().next().is_none());
/// assert_eq!((launch.grid(&[0, 100]), launch.grid_text(0)), (Some(Ok([4, 1, 1])), Some("cdiv(%m, 32)")));
/// let mut steps = 0;
/// launch.grid_steps(0, |_| Ok(steps += 1)).unwrap();
/// assert_eq!(steps, 3);
/// let mut flags = String::new();
/// for number in 0..launch.flag_count() {
///     launch.write_flag(number, &mut flags).unwrap();
/// }
/// assert!(flags.contains("sm_90a"), "{flags}");
/// // Not a snippet: nothing of registers is promised.
/// assert!(compiled.snippet(&TABLES, &program).is_none());
/// ```
pub struct Compiled<'s> {
    /// The plan.
    pub plan: Plan<'s>,
    /// Steps over physical registers, waits included.
    pub steps: &'s VecView<Inst>,
    /// Tuple patterns of the steps.
    pub patterns: &'s VecView<TupleStride>,
    /// Parameters.
    pub params: &'s VecView<Param>,
    /// Registers by class.
    pub usage: RegisterUsage,
    /// The function.
    pub function: Op,
}

impl Compiled<'_> {
    /// Writes the kernel's text; of a snippet its instructions alone.
    ///
    /// # Errors
    /// When the sink refuses, or the tables are not those that the plan was made by.
    pub fn write(
        &self,
        tables: &Tables<'_>,
        program: &Program<'_, '_>,
        out: &mut impl Write,
    ) -> Result<(), TextError> {
        let kernel = self.kernel(tables, program).ok_or(TextError::Tables)?;
        match self.snippet(tables, program) {
            Some(snippet) => snippet.write(out),
            None => kernel.write(out),
        }
    }

    /// Writes the steps one a line, in front of each group of them what they are for and the
    /// operation that they come from: for looking at what a stage of emission has made, physical registers or not.
    ///
    /// # Errors
    /// When the sink refuses, or the tables are not those that the plan was made by.
    pub fn dump(
        &self,
        tables: &Tables<'_>,
        program: &Program<'_, '_>,
        out: &mut impl Write,
    ) -> Result<(), TextError> {
        let kernel = self.kernel(tables, program).ok_or(TextError::Tables)?;
        let mut before = None;
        for step in self.steps.iter() {
            let now = (step.purpose, step.origin);
            if before.replace(now) != Some(now) {
                out.write_str(kernel.isa.comment)?;
                out.write_str(" ")?;
                out.write_str(step.purpose.name())?;
                if let Some(op) = Op::at(usize::from(step.origin)) {
                    out.write_str(" of ")?;
                    out.write_str(program.op_name(op))?;
                }
                out.write_str("\n")?;
            }
            kernel.step(step, out)?;
        }
        Ok(())
    }

    /// What whoever launches the kernel must know; `None` if it is a snippet, or the tables are not
    /// those that the plan was made by.
    #[must_use]
    pub fn launch<'k>(
        &'k self,
        tables: &'k Tables<'k>,
        program: &'k Program<'_, '_>,
    ) -> Option<Launch<'k>> {
        if program.is_snippet(self.function) {
            return None;
        }
        Launch::new(tables, program, self.function, &self.plan, self.params)
    }

    /// The function as a snippet; `None` if it is a kernel, or the tables are not those that the
    /// plan was made by.
    ///
    /// ```text
    /// func @turn(%a: tensor<16x16xf32, #src>) {threads = 32} {
    ///   %b = convert_layout %a : tensor<16x16xf32, #src> -> tensor<16x16xf32, #dst>
    ///   return %b : tensor<16x16xf32, #dst>
    /// }
    /// ```
    #[must_use]
    pub fn snippet<'k>(
        &'k self,
        tables: &'k Tables<'k>,
        program: &'k Program<'_, '_>,
    ) -> Option<Snippet<'k>> {
        let kernel = self.kernel(tables, program).filter(|_| program.is_snippet(self.function))?;
        Some(Snippet::new(kernel, &self.plan))
    }

    /// The kernel as the text writer sees it, for writing single steps.
    #[must_use]
    pub fn kernel<'k>(
        &'k self,
        tables: &'k Tables<'k>,
        program: &'k Program<'_, '_>,
    ) -> Option<Kernel<'k>> {
        let arch = tables.arch(self.plan.arch)?;
        Some(Kernel {
            tables,
            arch,
            isa: tables.isa(arch.isa)?,
            program,
            name: program.symbol(self.function),
            threads: self.plan.launched_threads(),
            specialized: self.plan.specialized,
            shared_bytes: self.plan.shared_bytes,
            shared_align: self.plan.shared_align,
            params: self.params,
            blocks: axes(program, self.function),
            usage: self.usage,
            steps: self.steps,
            patterns: self.patterns,
        })
    }
}

/// Axes of the grid, from x on, along which a function asks for its block's number.
fn axes(program: &Program<'_, '_>, function: Op) -> u8 {
    program
        .inside(function)
        .filter(|op| program.index_word(*op) == Some(IndexWord::Block))
        .filter_map(|op| program.grid_axis(op))
        .fold(0, |most, axis| most.max(axis.saturating_add(1)))
}
