//! Program to text. What it writes, [`parse`](crate::parse()) reads back to an equal program.
//!
//! Only `write_str`: no formatting machinery, so no panics come with it. Values without a name, or
//! with one that was taken from them, are written `%_7` by their handle's number.
use crate::attr::{AttrValue, Literal};
use crate::attr_names;
use crate::handle::{Block, Op, Region, Value};
use crate::program::{Def, Program};
use crate::types::Type;
use core::fmt::{self, Write};
use lanebook_tables::OpRole;

const DIGITS: &str = "0123456789ABCDEF";

/// What a client adds to the text: layouts behind handles, notes behind operations.
///
/// ```
/// use core::fmt::{self, Write};
/// use lanebook::TABLES;
/// use lanebook::ir::{Annotate, Op, Options, SmallStorage, parse, print};
///
/// /// Says of each operation that stands outside of functions which one it is.
/// struct Numbered;
/// impl Annotate for Numbered {
///     fn has_note(&self, _: Op) -> bool {
///         true
///     }
///     fn note(&self, op: Op, out: &mut dyn Write) -> fmt::Result {
///         write!(out, "operation {}", op.index())
///     }
/// }
///
/// let mut storage = Box::new(SmallStorage::new());
/// let text = "%x = constant 1.0 : tensor<8x8xf32>\n%y = neg %x : tensor<8x8xf32>\n";
/// let program = parse(storage.pools(), &TABLES, text, Options::default()).unwrap();
/// let mut out = String::new();
/// print(&program, &Numbered, &mut out).unwrap();
/// assert!(out.contains("// operation 1"), "{out}");
/// // The layout of a handle is only numbered where nobody says what it is.
/// let mut layout = String::new();
/// Numbered.handle(3, &mut layout).unwrap();
/// assert_eq!(layout, "handle_3");
/// ```
pub trait Annotate {
    /// Writes the layout of an [`TileEncoding::Handle`](crate::TileEncoding::Handle) or
    /// [`AttrValue::Handle`] in a notation.
    fn handle(&self, number: u32, out: &mut dyn Write) -> fmt::Result {
        out.write_str("handle_")?;
        integer(i64::from(number), out)
    }
    /// Whether an operation gets a note.
    fn has_note(&self, op: Op) -> bool {
        let _ = op;
        false
    }
    /// Writes an operation's note, without line breaks; it stands behind `// `.
    fn note(&self, op: Op, out: &mut dyn Write) -> fmt::Result {
        let _ = (op, out);
        Ok(())
    }
}

/// No annotation.
#[derive(Copy, Clone, Debug, Default)]
pub struct Plain;

impl Annotate for Plain {}

/// Writes a program.
pub fn print(
    program: &Program<'_, '_>,
    annotate: &dyn Annotate,
    out: &mut dyn Write,
) -> fmt::Result {
    let mut printer = Printer { program, annotate, out, depth: 0 };
    printer.aliases()?;
    printer.operations()
}

/// Writes an integer in decimal.
pub fn integer(value: i64, out: &mut dyn Write) -> fmt::Result {
    let mut digits = [0u8; 20];
    let (mut rest, mut at) = (value.unsigned_abs(), digits.len());
    loop {
        at = at.saturating_sub(1);
        if let Some(digit) = digits.get_mut(at) {
            *digit = b'0'.wrapping_add((rest % 10) as u8);
        }
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if value < 0 {
        out.write_str("-")?;
    }
    out.write_str(
        digits.get(at..).and_then(|digits| core::str::from_utf8(digits).ok()).unwrap_or("?"),
    )
}

pub(crate) struct Printer<'a, 's, 't> {
    pub(crate) program: &'a Program<'s, 't>,
    pub(crate) annotate: &'a dyn Annotate,
    pub(crate) out: &'a mut dyn Write,
    depth: usize,
}

/// Where the walk stands.
enum PrintStep {
    Enter(Op),
    Open(Region, usize),
    First(Block),
    After(Op),
    Close(Block),
    Done,
}

impl Printer<'_, '_, '_> {
    pub(crate) fn put(&mut self, text: &str) -> fmt::Result {
        self.out.write_str(text)
    }
    fn indent(&mut self) -> fmt::Result {
        for _ in 0..self.depth {
            self.put("  ")?;
        }
        Ok(())
    }
    fn aliases(&mut self) -> fmt::Result {
        let program = self.program;
        for alias in program.pools.aliases.iter() {
            self.put("#")?;
            self.put(program.text(alias.name))?;
            self.put(" = ")?;
            self.put(program.text(alias.body))?;
            self.put("\n")?;
        }
        Ok(())
    }
    fn operations(&mut self) -> fmt::Result {
        let program = self.program;
        let mut step = program.first(program.root()).map_or(PrintStep::Done, PrintStep::Enter);
        loop {
            step = match step {
                PrintStep::Done => return Ok(()),
                PrintStep::Enter(op) => {
                    self.indent()?;
                    self.head(op)?;
                    let inner = program.nest(op).last().unwrap_or(op);
                    match program.regions(inner).next() {
                        Some(region) => PrintStep::Open(region, 0),
                        None => {
                            self.end_line(op)?;
                            PrintStep::After(op)
                        }
                    }
                }
                PrintStep::Open(region, number) => {
                    self.put(" {")?;
                    let data = program.region_data(region);
                    if number == 0
                        && let Some(op) = data.and_then(|data| data.owner)
                    {
                        self.note(self.outermost(op))?;
                    }
                    self.put("\n")?;
                    self.depth = self.depth.saturating_add(1);
                    match data.and_then(|data| data.first_block) {
                        Some(block) => {
                            self.label(block, true)?;
                            PrintStep::First(block)
                        }
                        None => PrintStep::Done,
                    }
                }
                PrintStep::First(block) => {
                    program.first(block).map_or(PrintStep::Close(block), PrintStep::Enter)
                }
                PrintStep::After(op) => match (program.next(op), program.block_of(op)) {
                    (Some(next), _) => PrintStep::Enter(next),
                    (None, Some(block)) => PrintStep::Close(block),
                    (None, None) => PrintStep::Done,
                },
                PrintStep::Close(block) => self.close(block)?,
            };
        }
    }
    /// The next block of the region, the next region of the operation, or the end of the operation.
    fn close(&mut self, block: Block) -> Result<PrintStep, fmt::Error> {
        let program = self.program;
        let Some(data) = program.block_data(block) else { return Ok(PrintStep::Done) };
        if let Some(next) = data.next {
            self.label(next, false)?;
            return Ok(PrintStep::First(next));
        }
        let Some(region) = data.region.and_then(|region| program.region_data(region)) else {
            return Ok(PrintStep::Done);
        };
        let Some(owner) = region.owner else { return Ok(PrintStep::Done) };
        self.depth = self.depth.saturating_sub(1);
        self.indent()?;
        self.put("}")?;
        if let Some(next) = region.next {
            let empty = program.blocks(next).all(|block| {
                program.first(block).is_none() && program.arguments(block).next().is_none()
            });
            let role = program.role(owner);
            if !(empty && role == OpRole::If) {
                match role {
                    OpRole::If => self.put(" else")?,
                    OpRole::While => self.put(" do")?,
                    _ => {}
                }
                return Ok(PrintStep::Open(next, 1));
            }
        }
        self.put("\n")?;
        Ok(PrintStep::After(self.outermost(owner)))
    }
    /// The loop that begins the nest of a loop; another operation itself.
    fn outermost(&self, op: Op) -> Op {
        let around = |op: &Op| {
            let parent = self.program.parent(*op)?;
            (self.program.nested(parent) == Some(*op)).then_some(parent)
        };
        core::iter::successors(Some(op), around).last().unwrap_or(op)
    }
    fn label(&mut self, block: Block, first: bool) -> fmt::Result {
        let program = self.program;
        let Some(owner) = program.owner_of(block) else { return Ok(()) };
        let has_arguments = program.arguments(block).next().is_some();
        let in_header = first
            && program.body(owner) == Some(block)
            && matches!(
                program.role(owner),
                OpRole::Function | OpRole::For | OpRole::Parallel | OpRole::While
            );
        if in_header || (first && !has_arguments) {
            return Ok(());
        }
        self.indent()?;
        self.put("^bb")?;
        integer(block.index() as i64, self.out)?;
        if has_arguments {
            self.put("(")?;
            self.parameters(block)?;
            self.put(")")?;
        }
        self.put(":\n")
    }
    fn parameters(&mut self, block: Block) -> fmt::Result {
        let program = self.program;
        for (number, value) in program.arguments(block).enumerate() {
            self.comma(number)?;
            self.value(value)?;
            self.put(": ")?;
            self.ty(&program.type_of(value))?;
            if program.value_attrs(value).next().is_some() {
                self.put(" {")?;
                for (number, attr) in program.value_attrs(value).enumerate() {
                    self.comma(number)?;
                    self.attr(attr.key, attr.value)?;
                }
                self.put("}")?;
            }
        }
        Ok(())
    }
    pub(crate) fn comma(&mut self, number: usize) -> fmt::Result {
        if number > 0 { self.put(", ") } else { Ok(()) }
    }
    fn end_line(&mut self, op: Op) -> fmt::Result {
        self.note(op)?;
        self.put("\n")
    }
    fn note(&mut self, op: Op) -> fmt::Result {
        if !self.annotate.has_note(op) {
            return Ok(());
        }
        self.put("  // ")?;
        self.annotate.note(op, self.out)
    }

    // ---- operations
    /// Everything before the regions.
    fn head(&mut self, op: Op) -> fmt::Result {
        let program = self.program;
        self.results(op)?;
        self.put(program.op_name(op))?;
        match program.role(op) {
            OpRole::Function => self.function(op),
            OpRole::For => self.counted(op),
            OpRole::Parallel => self.parallel(op),
            OpRole::While => self.while_loop(op),
            role => self.general(op, role),
        }
    }
    /// Results that stand under the name of `value`: itself and those after it without a name of
    /// their own.
    fn group(&self, value: Value) -> usize {
        let program = self.program;
        let next = |value: &Value| {
            program.value_data(*value)?.next.filter(|next| program.value_name(*next).is_empty())
        };
        core::iter::successors(Some(value), next).count()
    }
    fn results(&mut self, op: Op) -> fmt::Result {
        let program = self.program;
        let mut any = false;
        for (number, value) in program.results(op).enumerate() {
            if number > 0 && program.value_name(value).is_empty() {
                continue;
            }
            self.comma(number)?;
            self.name(value)?;
            let group = self.group(value);
            if group > 1 {
                self.put(":")?;
                integer(group as i64, self.out)?;
            }
            any = true;
        }
        if any { self.put(" = ") } else { Ok(()) }
    }
    fn name(&mut self, value: Value) -> fmt::Result {
        let name = self.program.value_name(value);
        self.put("%")?;
        if !name.is_empty() {
            return self.put(name);
        }
        self.put("_")?;
        integer(value.index() as i64, self.out)
    }
    pub(crate) fn value(&mut self, value: Value) -> fmt::Result {
        let program = self.program;
        match program.def(value) {
            Def::Literal(literal) => self.literal(literal),
            Def::Result(op, _) => {
                // The first result of the group gives the name.
                let (mut head, mut number) = (value, 0i64);
                for result in program.results(op) {
                    if result == program.result(op, 0).unwrap_or(value)
                        || !program.value_name(result).is_empty()
                    {
                        (head, number) = (result, 0);
                    } else {
                        number = number.saturating_add(1);
                    }
                    if result == value {
                        break;
                    }
                }
                self.name(head)?;
                if self.group(head) > 1 {
                    self.put("#")?;
                    integer(number, self.out)?;
                }
                Ok(())
            }
            Def::Argument(..) | Def::Nothing => self.name(value),
        }
    }
    fn hexadecimal(&mut self, value: u64) -> fmt::Result {
        self.put("0x")?;
        let mut shift = value.checked_ilog2().unwrap_or(0) & !3;
        loop {
            let digit = (value.wrapping_shr(shift) & 15) as usize;
            self.put(DIGITS.get(digit..digit.saturating_add(1)).unwrap_or(""))?;
            match shift.checked_sub(4) {
                Some(next) => shift = next,
                None => return Ok(()),
            }
        }
    }
    pub(crate) fn literal(&mut self, literal: Literal) -> fmt::Result {
        match literal {
            Literal::Int(value) => integer(value, self.out),
            Literal::MinusZero => self.put("-0.0"),
            Literal::Hex(value) => self.hexadecimal(value),
            Literal::Large(value) => {
                // More than nine digits: the first ones, then the last one.
                integer((value / 10).cast_signed(), self.out)?;
                integer((value % 10).cast_signed(), self.out)
            }
            Literal::Word(name) => self.put(self.program.text(name)),
            Literal::Decimal { digits, exponent } => {
                // Zeros after the point are written when there are few, so that 0.0 stays 0.0.
                if !(-6..0).contains(&exponent) {
                    integer(digits, self.out)?;
                    self.put("e")?;
                    return integer(i64::from(exponent), self.out);
                }
                let scale = (0..exponent.unsigned_abs())
                    .fold(1u64, |scale, _| scale.saturating_mul(10))
                    .max(1);
                if digits < 0 {
                    self.put("-")?;
                }
                let (whole, part) = (digits.unsigned_abs() / scale, digits.unsigned_abs() % scale);
                integer(whole as i64, self.out)?;
                self.put(".")?;
                let mut unit = scale / 10;
                while unit > 1 && part < unit {
                    self.put("0")?;
                    unit /= 10;
                }
                integer(part as i64, self.out)
            }
        }
    }
    fn operands(&mut self, op: Op, skip: usize) -> fmt::Result {
        let program = self.program;
        for (number, value) in program.operands(op).enumerate().skip(skip) {
            self.comma(number.saturating_sub(skip))?;
            self.operand(op, number, value)?;
        }
        Ok(())
    }
    fn operand(&mut self, op: Op, number: usize, value: Value) -> fmt::Result {
        let program = self.program;
        self.value(value)?;
        if program.subscripts(op, number).next().is_some() {
            self.put("[")?;
            for (number, value) in program.subscripts(op, number).enumerate() {
                self.comma(number)?;
                self.value(value)?;
            }
            self.put("]")?;
        }
        Ok(())
    }
    fn function(&mut self, op: Op) -> fmt::Result {
        let program = self.program;
        if let Some(AttrValue::Word(word)) = program.attr(op, attr_names::VISIBILITY) {
            self.put(" ")?;
            self.put(program.text(word))?;
        }
        self.put(" @")?;
        self.put(program.symbol(op))?;
        self.put("(")?;
        if let Some(body) = program.body(op) {
            self.parameters(body)?;
        }
        self.put(")")?;
        if let Some(AttrValue::Text(types)) = program.attr(op, attr_names::RESULTS) {
            self.put(" -> ")?;
            self.put(program.text(types))?;
        } else {
            self.returned(op)?;
        }
        let skip = [
            attr_names::SYM_NAME,
            attr_names::VISIBILITY,
            attr_names::RESULTS,
            attr_names::RESULT_TYPE,
            attr_names::UNPACKED,
        ];
        // `{mask} {` would not be told from a body; `{threads = 128} {` is.
        let first = program.attrs(op).find(|attr| !skip.contains(&program.text(attr.key)));
        let bare = first.is_none_or(|attr| attr.value != AttrValue::Unit);
        self.dictionary(op, if bare { " " } else { " attributes " }, &skip)
    }
    /// Types behind a function's arrow, where its text no longer says them.
    fn returned(&mut self, op: Op) -> fmt::Result {
        let program = self.program;
        let types = || {
            program.attrs(op).filter_map(|attr| match attr.value {
                AttrValue::Int(_, Some(ty))
                    if program.text(attr.key) == attr_names::RESULT_TYPE =>
                {
                    Some(program.type_at(ty))
                }
                _ => None,
            })
        };
        let several = types().nth(1).is_some();
        for (number, ty) in types().enumerate() {
            self.put(if number > 0 { ", " } else { " -> " })?;
            if several && number == 0 {
                self.put("(")?;
            }
            self.ty(&ty)?;
        }
        if several { self.put(")") } else { Ok(()) }
    }
    fn counted(&mut self, op: Op) -> fmt::Result {
        let program = self.program;
        self.put(" ")?;
        let body = program.body(op);
        let mut arguments = body.into_iter().flat_map(|body| program.arguments(body));
        let induction = arguments.next();
        if let Some(induction) = induction {
            self.name(induction)?;
        }
        for (number, word) in [" = ", " to ", " step "].into_iter().enumerate() {
            self.put(word)?;
            if let Some(value) = program.operand(op, number) {
                self.operand(op, number, value)?;
            }
        }
        if arguments.clone().next().is_some() {
            self.put(" iter_args")?;
            self.carried(op, 3, arguments)?;
            self.put(" -> ")?;
            self.type_list(program.results(op), true)?;
        }
        let index = induction.map_or(Type::INDEX, |value| program.type_of(value));
        if index != Type::INDEX {
            self.put(" : ")?;
            self.ty(&index)?;
        }
        self.dictionary(op, " attributes ", &[])
    }
    /// A nest of parallel loops in one line.
    fn parallel(&mut self, op: Op) -> fmt::Result {
        let program = self.program;
        let several = program.nested(op).is_some();
        let counted = program.nest(op).filter_map(|op| program.counted_loop(op));
        let is = |value: Value, number: i64| matches!(program.def(value), Def::Literal(Literal::Int(found)) if found == number);
        let usual = counted.clone().all(|at| is(at.lower, 0) && is(at.step, 1));
        let typed = counted.clone().any(|at| program.type_of(at.induction) != Type::INDEX);
        if !several && (!usual || typed || program.operand_count(op) > 3) {
            return self.counted(op);
        }
        self.bounds(several, counted.clone().map(|at| at.induction))?;
        if usual {
            self.put(" in")?;
            self.bounds(several, counted.map(|at| at.upper))?;
        } else {
            self.put(" =")?;
            self.bounds(several, counted.clone().map(|at| at.lower))?;
            self.put(" to")?;
            self.bounds(several, counted.clone().map(|at| at.upper))?;
            self.put(" step")?;
            self.bounds(several, counted.map(|at| at.step))?;
        }
        self.dictionary(op, " attributes ", &[])
    }
    fn bounds(&mut self, several: bool, values: impl Iterator<Item = Value>) -> fmt::Result {
        self.put(if several { " (" } else { " " })?;
        for (number, value) in values.enumerate() {
            self.comma(number)?;
            self.value(value)?;
        }
        if several { self.put(")") } else { Ok(()) }
    }
    fn while_loop(&mut self, op: Op) -> fmt::Result {
        let program = self.program;
        let body = program.body(op);
        let arguments = body.into_iter().flat_map(|body| program.arguments(body));
        self.put(" ")?;
        self.carried(op, 0, arguments.clone())?;
        self.put(" : ")?;
        self.type_list(arguments, false)?;
        self.put(" -> ")?;
        self.type_list(program.results(op), false)?;
        self.dictionary(op, " attributes ", &[])
    }
    fn carried(
        &mut self,
        op: Op,
        skip: usize,
        arguments: impl Iterator<Item = Value>,
    ) -> fmt::Result {
        let program = self.program;
        self.put("(")?;
        for (number, (argument, init)) in arguments.zip(program.operands(op).skip(skip)).enumerate()
        {
            self.comma(number)?;
            self.name(argument)?;
            self.put(" = ")?;
            self.operand(op, number.saturating_add(skip), init)?;
        }
        self.put(")")
    }
    /// Types of values: one bare (when `bare` allows it), else in brackets.
    fn type_list(
        &mut self,
        values: impl Iterator<Item = Value> + Clone,
        bare: bool,
    ) -> fmt::Result {
        let program = self.program;
        let brackets = !bare || values.clone().count() != 1;
        if brackets {
            self.put("(")?;
        }
        for (number, value) in values.enumerate() {
            self.comma(number)?;
            self.ty(&program.type_of(value))?;
        }
        if brackets { self.put(")") } else { Ok(()) }
    }
    fn general(&mut self, op: Op, role: OpRole) -> fmt::Result {
        let program = self.program;
        let regions = program.regions(op).next().is_some();
        let mut skip: heapless::Vec<&str, 2> = heapless::Vec::new();
        let callee = matches!(program.attr(op, attr_names::CALLEE), Some(AttrValue::Symbol(_)));
        if role == OpRole::Call && callee {
            self.put(" @")?;
            self.put(program.symbol(op))?;
            let _ = skip.push(attr_names::CALLEE);
        }
        if let Some(AttrValue::Text(words)) = program.attr(op, attr_names::PREFIX)
            && self.leads(op, role, program.text(words))
        {
            self.put(" ")?;
            self.put(program.text(words))?;
            if program.operand(op, 0).is_some() {
                self.put(",")?;
            }
            let _ = skip.push(attr_names::PREFIX);
        }
        if program.operand(op, 0).is_some() {
            self.put(if role == OpRole::Call { "(" } else { " " })?;
            self.operands(op, 0)?;
        }
        if role == OpRole::Call {
            self.put(if program.operand(op, 0).is_some() { ")" } else { "()" })?;
        }
        self.dictionary(op, if regions { " attributes " } else { " " }, &skip)?;
        self.types(op, role)
    }
    /// Whether words before the operands read back as such; an attribute of that name may say other
    /// things.
    fn leads(&self, op: Op, role: OpRole, text: &str) -> bool {
        let kept = self.program.decl_id(op).is_none()
            || matches!(role, OpRole::Index | OpRole::Elementwise | OpRole::Atomic | OpRole::Fence);
        kept && text.bytes().all(|byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'.' | b',' | b' ' | b'\t')
        })
    }
    fn types(&mut self, op: Op, role: OpRole) -> fmt::Result {
        let program = self.program;
        let elided = |value: Value| program.type_of(value).is_elided();
        let results = program.result(op, 0).is_some();
        if program.results(op).all(elided) && (results || program.operands(op).all(elided)) {
            let learned = program.operands(op).any(|value| !elided(value));
            if !learned || results {
                return Ok(());
            }
        }
        if !results && role == OpRole::If {
            return Ok(());
        }
        if let (OpRole::ElementStore | OpRole::Fill, Some(place)) = (role, program.operand(op, 1)) {
            self.put(" : ")?;
            return self.ty(&program.type_of(place));
        }
        if !results {
            self.put(" : ")?;
            let arrow =
                matches!(role, OpRole::Copy | OpRole::Store) && program.operand_count(op) == 2;
            for (number, value) in program.operands(op).enumerate() {
                if arrow && number == 1 {
                    self.put(" -> ")?
                } else {
                    self.comma(number)?
                }
                self.ty(&program.type_of(value))?;
            }
            return Ok(());
        }
        let free = |value: Value| {
            matches!(program.def(value), Def::Argument(block, _) if block == program.root())
                && !elided(value)
        };
        let short = matches!(
            role,
            OpRole::Alloc
                | OpRole::Constant
                | OpRole::Matrix
                | OpRole::Select
                | OpRole::View
                | OpRole::Elementwise
                | OpRole::Index
                | OpRole::ElementLoad
        );
        let bare = role == OpRole::If;
        let short = short && !program.has_attr(op, attr_names::PREFIX);
        if (short && !program.operands(op).any(free))
            || program.operand(op, 0).is_none() && role != OpRole::Call && !bare
        {
            self.put(" : ")?;
            for (number, value) in program.results(op).enumerate() {
                self.comma(number)?;
                self.ty(&program.type_of(value))?;
            }
            return Ok(());
        }
        if !bare {
            self.put(" : ")?;
            self.type_list(program.operands(op), role != OpRole::Call)?;
        }
        self.put(" -> ")?;
        self.type_list(program.results(op), true)
    }
}
