//! What compiling gives: the plan, its final steps, and the kernel that they are the text of.

use crate::registers::allocate::RegisterUsage;
use crate::step::{Step, TupleStride};
use crate::{Kernel, Launch, Param, Snippet, TextError};
use core::fmt::Write;
use heapless::VecView;
use lanebook_ir::{Op, Program};
use lanebook_plan::Plan;
use lanebook_tables::{IndexWord, Tables};

/// What came out.
pub struct Compiled<'s> {
    /// The plan.
    pub plan: Plan<'s>,
    /// Steps over physical registers, waits included.
    pub steps: &'s VecView<Step>,
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
            threads: self.plan.threads,
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
