//! Index maps as index expressions: digits are shifts and masks, or quotients by known numbers.

use crate::elements::{ElementReason, of_form, refused};
use crate::expr::ExprId;
use crate::lower::context::{EmitError, LowerContext};
use lanebook_infer::{BaseDigit, BaseId, DigitTerm, FormBase, FormOp, IndexForm, MAX_BASES};
use lanebook_ir::{IndexFacts, Op};
use lanebook_loops::Told;
use lanebook_tables::{IndexOp, IndexWord};

/// Bits of numbers that a product with 16 bits leaves within a word.
const SHORT: u32 = 15;

/// What no index is below, but one that a function takes with a sign and what is computed of it.
const FAR_BELOW: i64 = -(1 << 30);

/// A quotient that stands in a register.
#[derive(Copy, Clone, Debug)]
pub(crate) struct KnownQuotient {
    /// What was divided.
    pub of: ExprId,
    /// By what.
    pub by: u32,
    /// The variable of the quotient.
    pub is: ExprId,
}

/// A base with its value: exactly a part of what a node computes.
struct BaseNode {
    base: BaseId,
    node: ExprId,
    /// How many times the value the node is.
    times: u32,
}

/// Bases with their values.
type BaseNodes = heapless::Vec<BaseNode, MAX_BASES>;

/// The variable that stands for a thread of an operation, and its value.
#[derive(Copy, Clone)]
pub(crate) struct ThreadVar {
    pub var: BaseId,
    pub node: ExprId,
}

impl LowerContext<'_, '_, '_, '_> {
    /// The value of an index map over the thread and over what is the same in all threads.
    #[inline(never)]
    pub(crate) fn form_node(
        &mut self,
        op: Op,
        told: &Told<'_>,
        form: IndexForm,
        thread: ThreadVar,
    ) -> Result<ExprId, EmitError> {
        let mut values = BaseNodes::new();
        self.base_nodes(op, told, form, thread, &mut values)?;
        self.digits(op, told, form, &values)
    }

    /// A term of an index map: a node, and how many times it counts.
    #[inline(never)]
    pub(crate) fn term_node(
        &mut self,
        op: Op,
        told: &Told<'_>,
        (form, term): (IndexForm, DigitTerm),
        thread: ThreadVar,
    ) -> Result<(ExprId, u64), EmitError> {
        let mut values = BaseNodes::new();
        self.base_nodes(op, told, form, thread, &mut values)?;
        self.scaled_digit(op, told, term, &values)
    }

    /// The values of all bases of an index map.
    fn base_nodes(
        &mut self,
        op: Op,
        told: &Told<'_>,
        form: IndexForm,
        thread: ThreadVar,
        values: &mut BaseNodes,
    ) -> Result<(), EmitError> {
        let arena = &told.inference.arena;
        let full = of_form(op);
        for id in &arena.bases_under(&[form]).map_err(&full)? {
            let node = match arena.base(*id).map_err(&full)? {
                FormBase::Var { .. } if *id == thread.var => thread.node,
                FormBase::Var { .. } => {
                    let known = self.outer_node(op, told, *id)?;
                    values.push(known).map_err(|_| refused(op, ElementReason::Room))?;
                    continue;
                }
                FormBase::Sum { form, .. } => self.digits(op, told, form, values)?,
                FormBase::Parity { form } => {
                    let sum = self.digits(op, told, form, values)?;
                    self.arena.op_const(IndexOp::And, sum, 1)?
                }
                FormBase::Op { op: word, a, b, min, .. } => {
                    let pair =
                        (self.digits(op, told, a, values)?, self.digits(op, told, b, values)?);
                    let facts = |form| {
                        let (low, high) = arena.range(form).map_err(&full)?;
                        Ok::<_, EmitError>(IndexFacts { low, high, multiple: 1 })
                    };
                    let node = self.joined(op, word, pair, [facts(a)?, facts(b)?])?;
                    self.moved_by(node, min.wrapping_neg())?
                }
            };
            let known = BaseNode { base: *id, node, times: 1 };
            values.push(known).map_err(|_| refused(op, ElementReason::Room))?;
        }
        Ok(())
    }

    /// A value that is the same in all threads: a variable by the value that counts it; or one that
    /// the thread looks up.
    fn outer_node(&mut self, op: Op, told: &Told<'_>, var: BaseId) -> Result<BaseNode, EmitError> {
        if let Some(known) = told.inference.lookups().find(|known| known.var == var) {
            return Ok(BaseNode { base: var, node: ExprId(known.node), times: 1 });
        }
        let foreign = refused(op, ElementReason::Subscript);
        let (value, step, start) = told.multiple_of(var).ok_or(foreign)?;
        // One with a sign counts from the least that it can be.
        if start >= 0 && !self.program.index_facts(value).is_plain() {
            return Err(refused(op, ElementReason::Sign));
        }
        let node = match self.index_value(op, value, None)? {
            Some(node) => node,
            None => self.arena.constant(0)?,
        };
        let node = self.moved_by(node, start.wrapping_neg())?;
        let times = u32::try_from(step).map_err(|_| foreign)?;
        Ok(BaseNode { base: var, node, times })
    }

    /// A digit of a variable that is the same in all threads.
    pub(crate) fn outer_digit(
        &mut self,
        op: Op,
        told: &Told<'_>,
        digit: BaseDigit,
    ) -> Result<ExprId, EmitError> {
        let mut values = BaseNodes::new();
        let known = self.outer_node(op, told, digit.base)?;
        values.push(known).map_err(|_| refused(op, ElementReason::Room))?;
        self.digit(op, told, digit, &values)
    }

    /// `node` and a number.
    fn moved_by(&mut self, node: ExprId, by: i64) -> Result<ExprId, EmitError> {
        match by as u32 {
            0 => Ok(node),
            by => Ok(self.arena.op_const(IndexOp::Add, node, u64::from(by))?),
        }
    }

    /// A sum of digits whose bases have these values.
    #[inline(never)]
    fn digits(
        &mut self,
        op: Op,
        told: &Told<'_>,
        form: IndexForm,
        values: &BaseNodes,
    ) -> Result<ExprId, EmitError> {
        let mut sum: Option<ExprId> = None;
        for term in told.inference.arena.terms_of(form) {
            let (digit, size) = self.scaled_digit(op, told, *term, values)?;
            let part =
                if size == 1 { digit } else { self.arena.op_const(IndexOp::Mul, digit, size)? };
            sum = Some(match (sum, term.stride < 0) {
                (None, false) => part,
                (None, true) => self.minus(part)?,
                (Some(sum), false) => self.arena.op(IndexOp::Add, &[sum, part])?,
                (Some(sum), true) => self.arena.op(IndexOp::Sub, &[sum, part])?,
            });
        }
        match sum {
            Some(sum) => self.moved_by(sum, form.constant),
            None => Ok(self.arena.constant(form.constant as u32)?),
        }
    }

    /// A node of a term, and how many times it counts, whatever its sign.
    fn scaled_digit(
        &mut self,
        op: Op,
        told: &Told<'_>,
        term: DigitTerm,
        values: &BaseNodes,
    ) -> Result<(ExprId, u64), EmitError> {
        let size = u64::from(u32::try_from(term.stride.unsigned_abs()).unwrap_or(u32::MAX));
        let is_whole =
            term.digit.unit == 1 && told.inference.arena.is_top(term.digit).map_err(of_form(op))?;
        let known = values.iter().find(|known| is_whole && known.base == term.digit.base);
        // What is a multiple by itself need not be divided first.
        if let Some(known) = known
            && size.checked_rem(u64::from(known.times)) == Some(0)
        {
            return Ok((known.node, size.checked_div(u64::from(known.times)).unwrap_or(size)));
        }
        Ok((self.digit(op, told, term.digit, values)?, size))
    }

    fn digit(
        &mut self,
        op: Op,
        told: &Told<'_>,
        digit: BaseDigit,
        values: &BaseNodes,
    ) -> Result<ExprId, EmitError> {
        let arena = &told.inference.arena;
        let known = values.iter().find(|known| known.base == digit.base);
        let BaseNode { node, times, .. } = *known.ok_or(refused(op, ElementReason::Form))?;
        let most = u64::from(arena.extent(digit.base).map_err(of_form(op))?.saturating_sub(1));
        // More than a word holds goes into no word.
        let above = match digit.unit.checked_mul(times) {
            Some(by) => self.quotient(op, node, by, most.saturating_mul(u64::from(times)))?,
            None => self.arena.constant(0)?,
        };
        if arena.is_top(digit).map_err(of_form(op))? {
            return Ok(above);
        }
        let most = most.checked_div(u64::from(digit.unit)).unwrap_or(most);
        self.rest(op, above, digit.extent, most)
    }

    /// `node / by`, where the node is at most `most`.
    pub(crate) fn quotient(
        &mut self,
        op: Op,
        node: ExprId,
        by: u32,
        most: u64,
    ) -> Result<ExprId, EmitError> {
        let known = self.arena.facts(node).map_or(most, |facts| facts.high.min(most));
        match by {
            0 => Err(refused(op, ElementReason::Form)),
            1 => Ok(node),
            _ if by.is_power_of_two() => {
                Ok(self.arena.op_const(IndexOp::Shr, node, u64::from(by.trailing_zeros()))?)
            }
            _ if known < u64::from(by) => Ok(self.arena.constant(0)?),
            _ if known >> SHORT == 0 => {
                // ceil(2^s / by) is exact for so few bits, and the product stays within a word.
                let bits = u64::BITS.saturating_sub(known.leading_zeros());
                let places = bits.saturating_add(by.ilog2()).saturating_add(1).min(31);
                let scale = 1u32.wrapping_shl(places).div_ceil(by);
                let product = self.arena.op_const(IndexOp::Mul, node, u64::from(scale))?;
                Ok(self.arena.op_const(IndexOp::Shr, product, u64::from(places))?)
            }
            _ => {
                let facts = self.arena.facts(node).copied();
                if facts.is_none_or(|facts| facts.varying != 0) {
                    return Err(refused(op, ElementReason::Sign));
                }
                let known = self.quotients.iter().find(|known| (known.of, known.by) == (node, by));
                if let Some(known) = known {
                    return Ok(known.is);
                }
                let divisor = self.arena.constant(by)?;
                let facts = [IndexFacts::UNKNOWN; 2];
                let is = self.plain_quotient(IndexWord::DivUnsigned, (node, divisor), facts)?;
                let is = self.held(is)?;
                // A full list only costs a second division.
                let _ = self.quotients.push(KnownQuotient { of: node, by, is });
                Ok(is)
            }
        }
    }

    fn rest(&mut self, op: Op, node: ExprId, by: u32, most: u64) -> Result<ExprId, EmitError> {
        if by.is_power_of_two() {
            return Ok(self.arena.op_const(IndexOp::And, node, u64::from(by.wrapping_sub(1)))?);
        }
        let whole = self.quotient(op, node, by, most)?;
        let whole = self.arena.op_const(IndexOp::Mul, whole, u64::from(by))?;
        Ok(self.arena.op(IndexOp::Sub, &[node, whole])?)
    }

    /// An operation on two maps.
    fn joined(
        &mut self,
        op: Op,
        word: FormOp,
        (a, b): (ExprId, ExprId),
        facts: [IndexFacts; 2],
    ) -> Result<ExprId, EmitError> {
        let plain = facts.iter().all(|facts| facts.low >= 0);
        // Indices are below 2^31 from each other, but what may be as far below zero as words go.
        let is_near = facts.iter().all(|facts| facts.low > FAR_BELOW);
        let divisor = self.arena.constant_value(b).and_then(|by| u32::try_from(by).ok());
        let most = u64::from(u32::MAX);
        Ok(match word {
            FormOp::Mul => self.arena.op(IndexOp::Mul, &[a, b])?,
            FormOp::And => self.arena.op(IndexOp::And, &[a, b])?,
            FormOp::Or => self.arena.op(IndexOp::Or, &[a, b])?,
            FormOp::Xor => self.arena.op(IndexOp::Xor, &[a, b])?,
            FormOp::Div | FormOp::Rem => {
                let by = divisor.filter(|by| plain && *by > 0);
                let by = by.ok_or(refused(op, ElementReason::Sign))?;
                match word {
                    FormOp::Div => self.quotient(op, a, by, most)?,
                    _ => self.rest(op, a, by, most)?,
                }
            }
            FormOp::Less if !is_near => self.less((a, b), facts, false)?,
            // A difference keeps its sign.
            FormOp::Less => {
                let apart = self.arena.op(IndexOp::Sub, &[a, b])?;
                self.arena.op_const(IndexOp::Shr, apart, 31)?
            }
            FormOp::Equal => {
                let apart = self.arena.op(IndexOp::Xor, &[a, b])?;
                let differ = self.not_zero(apart)?;
                self.arena.op_const(IndexOp::Xor, differ, 1)?
            }
            FormOp::Min | FormOp::Max => {
                let apart = self.arena.op(IndexOp::Sub, &[a, b])?;
                let less = match is_near {
                    true => self.arena.op_const(IndexOp::Shr, apart, 31)?,
                    false => self.less((a, b), facts, false)?,
                };
                let mask = self.minus(less)?;
                let apart = self.arena.op(IndexOp::And, &[apart, mask])?;
                match word {
                    FormOp::Min => self.arena.op(IndexOp::Add, &[b, apart])?,
                    _ => self.arena.op(IndexOp::Sub, &[a, apart])?,
                }
            }
        })
    }
}
