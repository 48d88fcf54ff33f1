//! Making a program without a text.
//!
//! A builder stands in a block and appends operations. Values have no names (the printer numbers
//! them); attribute keys and symbols come from the library's [words](crate::attr_names) or from the
//! vocabulary given to
//! [`Program::new`](crate::Program::new) as its text.
use crate::attr::{AttrValue, Literal};
use crate::attr_names;
use crate::edit::edit_ops::Edit;
use crate::error::ErrorKind;
use crate::handle::{Block, Op, Value};
use crate::program::Program;
use crate::types::{Shape, Type};
use lanebook_tables::{OpId, OpRole, Space};

/// An operand with its subscripts (maybe none).
pub type SubscriptedArg<'a> = (Value, &'a [Value]);

/// Appends operations to a program, block by block.
///
/// ```
/// use lanebook::TABLES;
/// use lanebook::ir::{Builder, Program, SmallStorage, Type, verify};
///
/// let mut storage = Box::new(SmallStorage::new());
/// // Names of functions come from a vocabulary: the program holds no text of its own.
/// let mut program = Program::new(storage.pools(), &TABLES, "twice").unwrap();
/// let mut builder = Builder::new(&mut program);
/// let (matrix, tile) = (builder.memory(2, "f32")?, builder.tile(&[64, 64], "f32", None)?);
/// let function = builder.function("twice", 128, &[matrix, Type::INDEX])?;
/// let block = builder.block();
/// let [x, n] = [0, 1].map(|k| builder.program().arguments(block).nth(k).unwrap());
/// let (zero, step) = (builder.int(0)?, builder.int(64)?);
/// // A loop over the rows: the builder goes into it, and comes back at its end.
/// let repeat = builder.counted(zero, n, step, &[])?;
/// let inside = builder.block();
/// let row = builder.program().arguments(inside).next().unwrap();
/// let load = builder.op("tiled_load", &[(x, &[row, zero])], &[tile])?;
/// let a = builder.program().result(load, 0).unwrap();
/// let b = builder.value("add", &[a, a], tile)?;
/// builder.op("tiled_store", &[(b, &[]), (x, &[row, zero])], &[])?;
/// assert_eq!(builder.end(&[])?, repeat);
/// assert_eq!(builder.block(), block);
/// builder.go(block);
/// assert_eq!(builder.program().function("twice"), Some(function));
/// assert!(verify(&mut program).is_ok());
/// # Ok::<(), lanebook::ir::ErrorKind>(())
/// ```
#[derive(Debug)]
pub struct Builder<'p, 's, 't> {
    program: &'p mut Program<'s, 't>,
    block: Block,
}

impl<'p, 's, 't> Builder<'p, 's, 't> {
    /// A builder that stands at the end of the outermost block.
    pub fn new(program: &'p mut Program<'s, 't>) -> Self {
        let block = program.root();
        Self { program, block }
    }
    /// The program.
    #[must_use]
    pub fn program(&mut self) -> &mut Program<'s, 't> {
        self.program
    }
    /// The block that it stands in.
    #[must_use]
    pub const fn block(&self) -> Block {
        self.block
    }
    /// Goes to the end of another block.
    pub fn go(&mut self, block: Block) {
        self.block = block;
    }
    /// A tile type: extents in elements, element type by name, memory space or none.
    pub fn tile(&self, extents: &[u32], dtype: &str, space: Option<Space>) -> Edit<Type> {
        let dtype = self.program.tables().dtype_named(dtype).ok_or(ErrorKind::UnknownDtype)?;
        let shape = Shape::of(extents).ok_or(ErrorKind::Extent)?;
        Ok(Type { space, ..Type::tensor(shape, dtype) })
    }
    /// A memory reference of `rank` dimensions that are known only at run time.
    pub fn memory(&self, rank: usize, dtype: &str) -> Edit<Type> {
        let dtype = self.program.tables().dtype_named(dtype).ok_or(ErrorKind::UnknownDtype)?;
        let shape = (0..rank)
            .try_fold(Shape::SCALAR, |shape, _| shape.with(None))
            .ok_or(ErrorKind::Extent)?;
        Ok(Type::memref(shape, dtype, Space::Global))
    }
    /// The first declared operation of a role.
    fn of_role(&self, role: OpRole) -> Edit<OpId> {
        self.program.tables().op_of_role(role).ok_or(ErrorKind::UnknownOp)
    }
    /// An integer literal.
    pub fn int(&mut self, value: i64) -> Edit<Value> {
        self.program.literal_value(Literal::Int(value))
    }
    /// Appends an operation by its declared name or alias; operands with subscripts.
    pub fn op(&mut self, name: &str, args: &[SubscriptedArg<'_>], results: &[Type]) -> Edit<Op> {
        let decl = self.program.tables().op_named(name).ok_or(ErrorKind::UnknownOp)?;
        let op = self.program.append(self.block, decl, &[], results)?;
        for (value, subscripts) in args {
            self.program.add_operand(op, *value)?;
            for subscript in *subscripts {
                self.program.add_subscript(op, *subscript)?;
            }
        }
        Ok(op)
    }
    /// Appends an operation with one result and answers that.
    pub fn value(&mut self, name: &str, operands: &[Value], result: Type) -> Edit<Value> {
        let decl = self.program.tables().op_named(name).ok_or(ErrorKind::UnknownOp)?;
        let op = self.program.append(self.block, decl, operands, &[result])?;
        self.program.result(op, 0).ok_or(ErrorKind::Broken)
    }
    /// A function with its parameters; the builder goes into its body. The arguments are the
    /// body's.
    pub fn function(&mut self, name: &str, threads: i64, parameters: &[Type]) -> Edit<Op> {
        let decl = self.of_role(OpRole::Function)?;
        let op = self.program.append(self.block, decl, &[], &[])?;
        let symbol = self.program.word(name)?;
        self.program.set_attr(op, attr_names::SYM_NAME, AttrValue::Symbol(symbol))?;
        self.program.set_attr(op, attr_names::THREADS, AttrValue::Int(threads, None))?;
        self.block = self.program.body(op).ok_or(ErrorKind::Broken)?;
        for ty in parameters {
            self.program.add_argument(self.block, *ty)?;
        }
        Ok(op)
    }
    /// A counted loop; the builder goes into its body, whose arguments are the induction variable
    /// and the carried values.
    pub fn counted(
        &mut self,
        lower: Value,
        upper: Value,
        step: Value,
        carried: &[Value],
    ) -> Edit<Op> {
        let decl = self.of_role(OpRole::For)?;
        let op = self.program.append(self.block, decl, &[lower, upper, step], &[])?;
        self.block = self.program.body(op).ok_or(ErrorKind::Broken)?;
        self.program.add_argument(self.block, Type::INDEX)?;
        for value in carried {
            let ty = self.program.type_of(*value);
            self.program.add_operand(op, *value)?;
            self.program.add_argument(self.block, ty)?;
            self.program.add_result(op, ty)?;
        }
        Ok(op)
    }
    /// Ends the present block with `scf.yield` and goes back to the block around it; answers the
    /// operation that has the region.
    pub fn end(&mut self, yielded: &[Value]) -> Edit<Op> {
        let decl = self.of_role(OpRole::Yield)?;
        let owner = self.program.owner_of(self.block).ok_or(ErrorKind::Misplaced)?;
        self.program.append(self.block, decl, yielded, &[])?;
        self.block = self.program.block_of(owner).ok_or(ErrorKind::Broken)?;
        Ok(owner)
    }
}
