//! Text: allocated steps to assembly, by `write_str` alone.

use crate::lower::interface::{Param, ParamKind, parameter_bytes, write_parameter_of};
use crate::registers::allocate::RegisterUsage;
use crate::step::{Inst, InstKind, NO_GUARD, Slot, TupleStride, member_offset};
use core::fmt::Write;
use heapless::VecView;
use lanebook_ir::Program;
use lanebook_tables::{Arch, Isa, Operand, Piece, RegisterKind, Role, Tables, TupleStyle};

/// What a kernel's text is made of.
pub struct Kernel<'k> {
    /// Tables.
    pub tables: &'k Tables<'k>,
    /// Architecture.
    pub arch: &'k Arch<'k>,
    /// Instruction set.
    pub isa: &'k Isa<'k>,
    /// The program that it is of.
    pub program: &'k Program<'k, 'k>,
    /// Its name.
    pub name: &'k str,
    /// Threads of a group.
    pub threads: u32,
    /// Warps among them that only start copies.
    pub specialized: Option<lanebook_plan::SpecializedWarps>,
    /// Bytes of shared memory.
    pub shared_bytes: u32,
    /// Alignment of the shared segment.
    pub shared_align: u32,
    /// Parameters.
    pub params: &'k VecView<Param>,
    /// Axes of the grid, from x on, along which it asks for its block's number.
    pub blocks: u8,
    /// Registers by class.
    pub usage: RegisterUsage,
    /// Steps, allocated.
    pub steps: &'k VecView<Inst>,
    /// Tuple patterns.
    pub patterns: &'k VecView<TupleStride>,
}

/// Why a kernel was not written to its end.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum TextError {
    /// The text sink refused.
    Sink,
    /// The plan, or a step, names something that these tables lack.
    Tables,
}

impl From<core::fmt::Error> for TextError {
    fn from(_: core::fmt::Error) -> Self {
        Self::Sink
    }
}

/// The numbers below 100, two digits each.
const PAIRS: &str = "\
00010203040506070809101112131415161718192021222324252627282930313233343536373839\
40414243444546474849505152535455565758596061626364656667686970717273747576777879\
8081828384858687888990919293949596979899";

/// Writes an unsigned number in decimal.
pub fn write_number(out: &mut impl Write, value: u64) -> core::fmt::Result {
    // Most are numbers of registers.
    let below = |value: u64| {
        let from = usize::from(u8::try_from(value).ok().filter(|value| *value < 100)?);
        let from = from.wrapping_mul(2);
        PAIRS.get(if value < 10 { from.wrapping_add(1) } else { from }..from.wrapping_add(2))
    };
    if let Some(text) = below(value) {
        return out.write_str(text);
    }
    let mut digits = [0u8; 20];
    let mut at = digits.len();
    let mut rest = value;
    loop {
        at = at.saturating_sub(1);
        if let Some(place) = digits.get_mut(at) {
            *place = b'0'.wrapping_add((rest % 10) as u8);
        }
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    let text = digits.get(at..).and_then(|d| core::str::from_utf8(d).ok()).unwrap_or("");
    out.write_str(text)
}

/// Writes a signed number in decimal.
pub fn write_signed(out: &mut impl Write, value: i64) -> core::fmt::Result {
    if value < 0 {
        out.write_str("-")?;
    }
    write_number(out, value.unsigned_abs())
}

/// Bytes of shared memory that are given at launch: all where they are more than a text can
/// declare.
pub(crate) fn dynamic_shared(arch: &Arch<'_>, bytes: u32) -> u32 {
    if bytes > arch.shared.static_bytes { bytes } else { 0 }
}

impl Kernel<'_> {
    /// Writes the whole kernel.
    pub fn write(&self, out: &mut impl Write) -> Result<(), TextError> {
        self.frame(self.isa.prologue, out)?;
        self.body(self.steps, out)?;
        self.frame(self.isa.epilogue, out)
    }

    /// Writes steps, one a line. What keeps several stores after each other to the same lanes is
    /// said once, where it holds until it is taken back.
    ///
    /// # Errors
    /// When the sink refuses.
    pub fn body(&self, steps: &[Inst], out: &mut impl Write) -> Result<(), TextError> {
        let mut joined = false;
        for (at, step) in steps.iter().enumerate() {
            let next = steps.get(at.wrapping_add(1)).is_some_and(|next| self.joins(step, next));
            self.step_among(step, (joined, next), out)?;
            joined = next;
        }
        Ok(())
    }

    /// Whether two steps, one after the other, are kept to the same lanes by what stands around both.
    fn joins(&self, step: &Inst, next: &Inst) -> bool {
        let lasts = self.isa.guard.is_some_and(|guard| !guard.after.is_empty());
        let same = step.guard != NO_GUARD
            && (step.guard_class, step.guard) == (next.guard_class, next.guard)
            && step.purpose != InstKind::Label
            && next.purpose != InstKind::Label;
        lasts
            && same
            && self.tables.atom(step.atom).is_some_and(|atom| {
                atom.operands.iter().all(|o| !matches!(o.role, Role::Def | Role::UseDef))
            })
    }

    /// Writes one step as a line.
    pub fn step(&self, step: &Inst, out: &mut impl Write) -> Result<(), TextError> {
        self.step_among(step, (false, false), out)
    }

    /// The same, where what keeps it to some lanes stands there from the step before, or stays for
    /// the next one.
    fn step_among(
        &self,
        step: &Inst,
        (before, behind): (bool, bool),
        out: &mut impl Write,
    ) -> Result<(), TextError> {
        if step.purpose == InstKind::Label {
            if let Some(Slot::Label(label)) = step.args.first() {
                self.label(*label, out)?;
            }
            out.write_str(self.isa.label_suffix)?;
            out.write_str("\n")?;
            return Ok(());
        }
        let atom = self.tables.atom(step.atom).ok_or(TextError::Tables)?;
        out.write_str("    ")?;
        let guard = match step.guard {
            NO_GUARD => None,
            _ => Some(self.isa.guard.ok_or(TextError::Tables)?),
        };
        if let Some(guard) = guard.filter(|_| !before) {
            self.guard(guard.before, step, out)?;
        }
        // What stands behind nothing keeps one instruction, so that each line has it.
        let each = guard.filter(|guard| guard.after.is_empty()).map(|guard| (guard.before, step));
        for piece in atom.template {
            match piece {
                Piece::Text(text) => match each {
                    Some(each) => self.kept_lines(text, each, out)?,
                    None => self.lines(text, out)?,
                },
                Piece::Operand(k) => {
                    let operand = atom.operands.get(usize::from(k)).ok_or(TextError::Tables)?;
                    self.operand(operand, step.arg(usize::from(k)), out)?;
                }
                Piece::Optional(k, before) => match step.arg(usize::from(k)) {
                    Slot::None | Slot::Int(0) | Slot::Word(0) => {}
                    slot => {
                        out.write_str(before)?;
                        self.number(slot, out)?;
                    }
                },
                Piece::Half(k, upper) => self.half(step.arg(usize::from(k)), upper, out)?,
                Piece::Frame(_) => return Err(TextError::Tables),
            }
        }
        if let Some(guard) = guard.filter(|_| !behind) {
            self.guard(guard.after, step, out)?;
        }
        out.write_str("\n")?;
        Ok(())
    }

    /// The lower or the upper half of a tuple, each of which is one run of registers.
    fn half(&self, slot: Slot, upper: bool, out: &mut impl Write) -> Result<(), TextError> {
        let (class, first, count) = match slot {
            Slot::Reg { class, first, count } => {
                let half = count / 2;
                (class, if upper { first.wrapping_add(half) } else { first }, count)
            }
            Slot::Spread { class, first, count, pattern } => {
                let pattern = self.patterns.get(usize::from(pattern)).ok_or(TextError::Tables)?;
                let half = count / 2;
                let start = if upper { half } else { 0 };
                let at = |member: u16| first.wrapping_add(member_offset(pattern, member));
                let follows = |k: u16| at(start.wrapping_add(k)) == at(start).wrapping_add(k);
                if !(0..half).all(follows) {
                    return Err(TextError::Tables);
                }
                (class, at(start), count)
            }
            _ => return Err(TextError::Tables),
        };
        self.register(class, first, count / 2, out)
    }

    /// What stands in front of a step that is kept to some lanes, or behind it.
    fn guard(
        &self,
        pieces: &[Piece<'_>],
        step: &Inst,
        out: &mut impl Write,
    ) -> Result<(), TextError> {
        for piece in pieces {
            match *piece {
                Piece::Text(text) => self.lines(text, out)?,
                Piece::Frame("guard") => self.register(step.guard_class, step.guard, 1, out)?,
                _ => return Err(TextError::Tables),
            }
        }
        Ok(())
    }

    /// Text of an atom of several lines, each kept to the lanes of a step by the same pieces.
    fn kept_lines(
        &self,
        text: &str,
        (pieces, step): (&[Piece<'_>], &Inst),
        out: &mut impl Write,
    ) -> Result<(), TextError> {
        let mut rest = text;
        while let Some((line, behind)) = first_line(rest) {
            out.write_str(line)?;
            out.write_str("\n    ")?;
            self.guard(pieces, step, out)?;
            rest = behind;
        }
        Ok(out.write_str(rest)?)
    }

    /// Text of several lines: each further line is indented like the first.
    fn lines(&self, text: &str, out: &mut impl Write) -> Result<(), TextError> {
        let mut rest = text;
        while let Some((line, behind)) = first_line(rest) {
            out.write_str(line)?;
            out.write_str("\n    ")?;
            rest = behind;
        }
        Ok(out.write_str(rest)?)
    }

    fn label(&self, label: u16, out: &mut impl Write) -> Result<(), TextError> {
        out.write_str("L")?;
        out.write_str(self.name)?;
        out.write_str("_")?;
        write_number(out, u64::from(label))?;
        Ok(())
    }

    fn number(&self, slot: Slot, out: &mut impl Write) -> Result<(), TextError> {
        match slot {
            Slot::Int(v) => write_signed(out, i64::from(v))?,
            Slot::Word(v) => write_number(out, u64::from(v))?,
            _ => return Err(TextError::Tables),
        }
        Ok(())
    }

    fn operand(
        &self,
        operand: &Operand<'_>,
        slot: Slot,
        out: &mut impl Write,
    ) -> Result<(), TextError> {
        match slot {
            Slot::None | Slot::Int(_)
                if operand.role == Role::Immediate && operand.vary.is_some() =>
            {
                self.parameter(operand, slot, out)?
            }
            Slot::None if operand.role == Role::Immediate => out.write_str("0")?,
            Slot::None | Slot::Bytes(_) => return Err(TextError::Tables),
            Slot::Label(label) => self.label(label, out)?,
            Slot::Int(_) | Slot::Word(_) => self.number(slot, out)?,
            Slot::Reg { class, first, count } => self.register(class, first, count, out)?,
            Slot::Spread { class, first, count, pattern } => {
                let pattern = self.patterns.get(usize::from(pattern)).ok_or(TextError::Tables)?;
                out.write_str("{")?;
                for member in 0..count {
                    if member > 0 {
                        out.write_str(", ")?;
                    }
                    self.register(
                        class,
                        first.wrapping_add(member_offset(pattern, member)),
                        1,
                        out,
                    )?;
                }
                out.write_str("}")?;
            }
        }
        Ok(())
    }

    /// A parameter of a family: the word or value of this number, or what the atom itself stands
    /// for.
    fn parameter(
        &self,
        operand: &Operand<'_>,
        slot: Slot,
        out: &mut impl Write,
    ) -> Result<(), TextError> {
        let vary = operand.vary.ok_or(TextError::Tables)?;
        if vary.words.is_empty() {
            return match (slot, vary.values.last()) {
                (Slot::None, Some(value)) => Ok(write_number(out, u64::from(*value))?),
                _ => self.number(slot, out),
            };
        }
        let at = if let Slot::Int(k) = slot {
            usize::try_from(k).map_err(|_| TextError::Tables)?
        } else {
            0
        };
        Ok(out.write_str(vary.words.get(at).ok_or(TextError::Tables)?.text)?)
    }

    /// A register or a tuple of consecutive ones, in the instruction set's spelling.
    fn register(
        &self,
        class: u8,
        first: u16,
        count: u16,
        out: &mut impl Write,
    ) -> Result<(), TextError> {
        let class = self.isa.classes.get(usize::from(class)).ok_or(TextError::Tables)?;
        if class.kind == RegisterKind::Special {
            out.write_str(class.prefix)?;
            return Ok(());
        }
        if count <= 1 {
            out.write_str(class.prefix)?;
            write_number(out, u64::from(first))?;
            return Ok(());
        }
        match self.isa.tuples {
            TupleStyle::Range => {
                out.write_str(class.prefix)?;
                out.write_str("[")?;
                write_number(out, u64::from(first))?;
                out.write_str(":")?;
                write_number(
                    out,
                    u64::from(first).saturating_add(u64::from(count)).saturating_sub(1),
                )?;
                out.write_str("]")?;
            }
            TupleStyle::Braces => {
                out.write_str("{")?;
                for k in 0..count {
                    if k > 0 {
                        out.write_str(", ")?;
                    }
                    out.write_str(class.prefix)?;
                    write_number(out, u64::from(first.wrapping_add(k)))?;
                }
                out.write_str("}")?;
            }
        }
        Ok(())
    }

    fn frame(&self, pieces: &[Piece<'_>], out: &mut impl Write) -> Result<(), TextError> {
        for piece in pieces {
            match *piece {
                Piece::Text(text) => out.write_str(text)?,
                Piece::Frame(word) => self.placeholder(word, out)?,
                _ => return Err(TextError::Tables),
            }
        }
        Ok(())
    }

    fn placeholder(&self, word: &str, out: &mut impl Write) -> Result<(), TextError> {
        match word {
            "kernel" => out.write_str(self.name)?,
            "target" => out.write_str(self.arch.target)?,
            "version" => out.write_str(self.arch.isa_version)?,
            "threads" => write_number(out, u64::from(self.threads))?,
            "shared_bytes" => write_number(out, u64::from(self.shared_bytes))?,
            "shared_align" => write_number(out, u64::from(self.shared_align))?,
            "param_bytes" => write_number(out, u64::from(parameter_bytes(self.params)))?,
            "block.x" => write_number(out, u64::from(self.blocks > 0))?,
            "block.y" => write_number(out, u64::from(self.blocks > 1))?,
            "block.z" => write_number(out, u64::from(self.blocks > 2))?,
            "params" => self.params(out)?,
            "registers" => self.registers(out)?,
            "launch_registers" => self.launch_registers(out)?,
            "shared" if self.shared_bytes == 0 => {}
            "shared" if dynamic_shared(self.arch, self.shared_bytes) == 0 => {
                self.shared(self.isa.shared_decl, out)?
            }
            "shared" => self.shared(self.isa.shared_decl_dynamic, out)?,
            "wave_lanes" => {
                write_number(out, u64::from(self.arch.wave_lanes.first().copied().unwrap_or(0)))?
            }
            _ => {
                let class = word.strip_prefix("count.").ok_or(TextError::Tables)?;
                let index = self
                    .isa
                    .classes
                    .iter()
                    .position(|c| c.name == class)
                    .ok_or(TextError::Tables)?;
                write_number(out, u64::from(self.usage.high.get(index).copied().unwrap_or(0)))?;
            }
        }
        Ok(())
    }

    /// What says how many registers a thread begins with, where warps give some up.
    fn launch_registers(&self, out: &mut impl Write) -> Result<(), TextError> {
        let Some(apart) = self.specialized else { return Ok(()) };
        let facts = self.tables.units.specializations;
        let fact = facts.get(usize::from(apart.how)).ok_or(TextError::Tables)?;
        out.write_str(fact.directive)?;
        out.write_str(" ")?;
        write_number(out, u64::from(apart.entry))?;
        Ok(out.write_str("\n")?)
    }

    /// The declaration of shared memory.
    fn shared(&self, pieces: &[Piece<'_>], out: &mut impl Write) -> Result<(), TextError> {
        for piece in pieces {
            match *piece {
                Piece::Text(text) => out.write_str(text)?,
                Piece::Frame("shared_bytes") => write_number(out, u64::from(self.shared_bytes))?,
                Piece::Frame("shared_align") => write_number(out, u64::from(self.shared_align))?,
                _ => return Err(TextError::Tables),
            }
        }
        Ok(())
    }

    fn params(&self, out: &mut impl Write) -> Result<(), TextError> {
        for (index, param) in self.params.iter().enumerate() {
            if index > 0 {
                out.write_str(self.isa.param_separator)?;
            }
            let form = match param.kind {
                ParamKind::Map(_) => self.isa.param_block,
                ParamKind::Pointer if !self.isa.param_pointer.is_empty() => self.isa.param_pointer,
                ParamKind::Blocks(_) => self.isa.param_blocks,
                _ => self.isa.param,
            };
            for piece in form {
                match *piece {
                    Piece::Text(text) => out.write_str(text)?,
                    Piece::Frame("index") => write_number(out, index as u64)?,
                    Piece::Frame("bits") => {
                        write_number(out, u64::from(param.bytes).saturating_mul(8))?
                    }
                    Piece::Frame("bytes") => write_number(out, u64::from(param.bytes))?,
                    Piece::Frame("align") => write_number(out, u64::from(param.align))?,
                    Piece::Frame("axis") => {
                        let ParamKind::Blocks(axis) = param.kind else {
                            return Err(TextError::Tables);
                        };
                        out.write_str(["x", "y", "z"].get(usize::from(axis)).unwrap_or(&""))?;
                    }
                    Piece::Frame("argument") => {
                        write_parameter_of(self.program, self.params, index, out)?;
                    }
                    Piece::Frame("offset") => write_number(out, u64::from(param.offset))?,
                    Piece::Frame("name") => {
                        out.write_str(self.name)?;
                        out.write_str("_param_")?;
                        write_number(out, index as u64)?;
                    }
                    _ => return Err(TextError::Tables),
                }
            }
        }
        Ok(())
    }

    pub(crate) fn registers(&self, out: &mut impl Write) -> Result<(), TextError> {
        for (class, &count) in self.isa.classes.iter().zip(&self.usage.high) {
            if count == 0 {
                continue;
            }
            for piece in self.isa.register_decl {
                match *piece {
                    Piece::Text(text) => out.write_str(text)?,
                    Piece::Frame("class") => out.write_str(class.name)?,
                    Piece::Frame("declared") => out.write_str(class.declared)?,
                    Piece::Frame("prefix") => out.write_str(class.prefix)?,
                    Piece::Frame("count") => write_number(out, u64::from(count))?,
                    Piece::Frame("bits") => write_number(out, u64::from(class.bits))?,
                    _ => return Err(TextError::Tables),
                }
            }
        }
        Ok(())
    }
}

/// The first of several lines, and those behind it without their indent; `None` of one alone.
fn first_line(text: &str) -> Option<(&str, &str)> {
    let end = text.bytes().position(|byte| byte == b'\n')?;
    let (line, behind) = text.split_at_checked(end)?;
    Some((line, behind.get(1..)?.trim_start_matches(' ')))
}
