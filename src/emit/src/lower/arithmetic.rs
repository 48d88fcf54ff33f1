//! Arithmetic of indices that is no single word: comparisons, quotients, remainders.
//!
//! A quotient of numbers without signs is a shift where the divisor is a power of two, an instruction where
//! there is one, else this sequence. The divisor is moved up until its highest bit is set;
//! its reciprocal begins on a straight line and gets twice as many right bits in each of two steps
//! (`x (2 - d x)`), is moved back to 2^32 / d, never above it, and is made exact up to its last bits
//! by one more. It is below 2^32 / d by less than 2 (`tests/proofs/examples/reciprocal.rs`: all
//! divisors), so the quotient by it is too small by 2 at most, and is raised where what is left is
//! not below the divisor, twice.

use crate::expr::{ExprId, Reg, RegBank, Variable};
use crate::lower::context::{EmitError, LowerContext};
use crate::step::{InstError, Missing, slot};
use lanebook_ir::IndexFacts;
use lanebook_tables::{AtomId, IndexOp, IndexWord};

/// The sign.
const SIGN: u64 = 1 << 31;
/// A reciprocal's first guess for a divisor `d` with its highest bit set: 48/17 - 32/17 d, in 2^-31,
/// where `d` counts in 2^-32. The first number is what 32 bits hold of it.
const LINE: (u64, u64) = (((48 << 31) / 17) & 0xffff_ffff, (32 << 31) / 17);
/// How many steps make it exact to 16 bits.
const STEPS: u32 = 2;
/// What is taken off so that rounding never leaves it too great.
const SLACK: u64 = 4;

impl LowerContext<'_, '_, '_, '_> {
    /// `-x`.
    pub(crate) fn minus(&mut self, of: ExprId) -> Result<ExprId, EmitError> {
        let zero = self.arena.constant(0)?;
        Ok(self.arena.op(IndexOp::Sub, &[zero, of])?)
    }

    /// `!x`.
    fn not(&mut self, of: ExprId) -> Result<ExprId, EmitError> {
        Ok(self.arena.op_const(IndexOp::Xor, of, u64::from(u32::MAX))?)
    }

    /// 1 where a number is below zero, else 0.
    fn sign(&mut self, of: ExprId) -> Result<ExprId, EmitError> {
        Ok(self.arena.op_const(IndexOp::Shr, of, 31)?)
    }

    /// All bits where a number is below zero, else none.
    fn sign_mask(&mut self, of: ExprId) -> Result<ExprId, EmitError> {
        let sign = self.sign(of)?;
        self.minus(sign)
    }

    /// 1 where a number is not 0.
    pub(crate) fn not_zero(&mut self, of: ExprId) -> Result<ExprId, EmitError> {
        let minus = self.minus(of)?;
        let either = self.arena.op(IndexOp::Or, &[of, minus])?;
        self.sign(either)
    }

    /// 1 where one number is below another.
    pub(crate) fn less(
        &mut self,
        (a, b): (ExprId, ExprId),
        [x, y]: [IndexFacts; 2],
        plain: bool,
    ) -> Result<ExprId, EmitError> {
        let apart = self.arena.op(IndexOp::Sub, &[a, b])?;
        let fits = |n: i64| i32::try_from(n).is_ok();
        let same = !plain || (x.is_plain() && y.is_plain());
        if same && fits(x.low.saturating_sub(y.high)) && fits(x.high.saturating_sub(y.low)) {
            // The difference keeps its sign.
            return self.sign(apart);
        }
        // Of two numbers with different signs the sign tells; of others the difference keeps its.
        let differ = self.arena.op(IndexOp::Xor, &[a, b])?;
        let equal = self.not(differ)?;
        let (one, other) = if plain { (b, a) } else { (a, b) };
        let other = self.not(other)?;
        let told = self.arena.op(IndexOp::And, &[one, other])?;
        let kept = self.arena.op(IndexOp::And, &[equal, apart])?;
        let either = self.arena.op(IndexOp::Or, &[told, kept])?;
        self.sign(either)
    }

    /// All bits where one number is below another, else none.
    pub(crate) fn less_mask(
        &mut self,
        pair: (ExprId, ExprId),
        facts: [IndexFacts; 2],
        plain: bool,
    ) -> Result<ExprId, EmitError> {
        let less = self.less(pair, facts, plain)?;
        self.minus(less)
    }

    /// 1 where a relation holds, else 0.
    pub(crate) fn holds(
        &mut self,
        (a, b): (ExprId, ExprId),
        [x, y]: [IndexFacts; 2],
        plain: bool,
        [smaller, equal, greater]: [bool; 3],
    ) -> Result<ExprId, EmitError> {
        let (node, is_opposite) = match (smaller, greater) {
            (true, true) | (false, false) => {
                let differ = self.arena.op(IndexOp::Xor, &[a, b])?;
                (self.not_zero(differ)?, equal)
            }
            (true, false) if !equal => (self.less((a, b), [x, y], plain)?, false),
            (true, false) => (self.less((b, a), [y, x], plain)?, true),
            (false, true) if !equal => (self.less((b, a), [y, x], plain)?, false),
            (false, true) => (self.less((a, b), [x, y], plain)?, true),
        };
        Ok(if is_opposite { self.arena.op_const(IndexOp::Xor, node, 1)? } else { node })
    }

    /// `a / b` of two numbers without signs, rounded down; `is_small`: both are below 2^31.
    fn divided(&mut self, a: ExprId, b: ExprId, is_small: bool) -> Result<ExprId, EmitError> {
        let b = self.simplified(b)?;
        if let Some(by) = self.arena.constant_value(b)
            && by.is_power_of_two()
        {
            let bits = u64::from(by.trailing_zeros());
            return Ok(self.arena.op_const(IndexOp::Shr, a, bits)?);
        }
        if let Some(divide) = self.machine.isa.divide {
            let (a, b) = (self.held(a)?, self.held(b)?);
            return self.by_atom(divide, &[a, b]);
        }
        let a = self.held(a)?;
        if let Some(by) = self.arena.constant_value(b).filter(|by| is_small && *by > 1) {
            // n (2^(31 + k) / d + 1) / 2^(31 + k), where d is at most 2^k: exact below 2^31.
            let bits = by.wrapping_sub(1).checked_ilog2().map_or(0, |top| top.saturating_add(1));
            let scale = 1u64.checked_shl(bits.saturating_add(31)).unwrap_or(0);
            let factor = scale.checked_div(by).unwrap_or(0).wrapping_add(1);
            let factor = u32::try_from(factor).map_err(|_| EmitError::Rules)?;
            let factor = self.arena.constant(factor)?;
            let high = self.high_product(a, factor)?;
            return Ok(self.arena.op_const(
                IndexOp::Shr,
                high,
                u64::from(bits.saturating_sub(1)),
            )?);
        }
        let b = self.held(b)?;
        let reciprocal = match self.arena.constant_value(b) {
            Some(by) => {
                let most = (1u64 << 32).checked_div(by).unwrap_or(0);
                self.arena.constant(u32::try_from(most).unwrap_or(u32::MAX))?
            }
            None => self.reciprocal(b)?,
        };
        let mut q = self.high_product(a, reciprocal)?;
        let mut rest = self.left(a, q, b)?;
        let facts = if is_small {
            IndexFacts { low: 0, ..IndexFacts::UNKNOWN }
        } else {
            IndexFacts::UNKNOWN
        };
        for _ in 0..2 {
            rest = self.held(rest)?;
            let below = self.less((rest, b), [facts; 2], true)?;
            let below = self.held(below)?;
            // 0 where it is below the divisor, else all bits.
            let over = self.arena.op_const(IndexOp::Add, below, u64::from(u32::MAX))?;
            let over = self.held(over)?;
            q = self.arena.op(IndexOp::Sub, &[q, over])?;
            q = self.held(q)?;
            let less = self.arena.op(IndexOp::And, &[over, b])?;
            rest = self.arena.op(IndexOp::Sub, &[rest, less])?;
        }
        Ok(q)
    }

    /// A number below 2^32 / b by less than 2.
    #[inline(never)]
    fn reciprocal(&mut self, b: ExprId) -> Result<ExprId, EmitError> {
        let missing = InstError::NoAtom(Missing::Divide);
        let leading = self.machine.isa.leading_zeros.ok_or(missing)?;
        let up = self.by_atom(leading, &[b])?;
        let raised = self.arena.op(IndexOp::Shl, &[b, up])?;
        let raised = self.held(raised)?;
        let slope = self.arena.constant_of(LINE.1, 32)?;
        let fall = self.high_product(raised, slope)?;
        let from = self.arena.constant_of(LINE.0, 32)?;
        let mut guess = self.arena.op(IndexOp::Sub, &[from, fall])?;
        for _ in 0..STEPS {
            let guessed = self.held(guess)?;
            let product = self.high_product(raised, guessed)?;
            let error = self.minus(product)?;
            let error = self.held(error)?;
            let better = self.high_product(guessed, error)?;
            guess = self.arena.op_const(IndexOp::Shl, better, 1)?;
        }
        let guess = self.arena.op_const(IndexOp::Add, guess, (1u64 << 32).wrapping_sub(SLACK))?;
        let down = self.arena.op_const(IndexOp::Xor, up, 31)?;
        let back = self.arena.op(IndexOp::Shr, &[guess, down])?;
        let back = self.held(back)?;
        let product = self.arena.op(IndexOp::Mul, &[back, b])?;
        let error = self.minus(product)?;
        let error = self.held(error)?;
        let more = self.high_product(back, error)?;
        let exact = self.arena.op(IndexOp::Add, &[back, more])?;
        self.held(exact)
    }

    /// A number in a register of its own.
    pub(crate) fn held(&mut self, node: ExprId) -> Result<ExprId, EmitError> {
        let node = self.simplified(node)?;
        let is_there = matches!(
            self.arena.get(node),
            Some(crate::expr::Expr::Var(_) | crate::expr::Expr::Const(_))
        );
        if is_there {
            return Ok(node);
        }
        let reg = self.compute(node, self.uniform_bank())?;
        self.declare(Variable::word().uniform(), reg)
    }

    /// What a frame atom without means of its own makes of numbers.
    fn by_atom(&mut self, atom: AtomId, numbers: &[ExprId]) -> Result<ExprId, EmitError> {
        let missing = InstError::NoAtom(Missing::Divide);
        let def = self.machine.tables.atom(atom).and_then(|a| a.operands.first()).ok_or(missing)?;
        let mut given: heapless::Vec<Reg, 2> = heapless::Vec::new();
        for number in numbers {
            let reg = self.compute(*number, self.uniform_bank())?;
            given.push(reg).map_err(|_| missing)?;
        }
        let result = self.steps.tuple(def.class, u16::from(def.registers))?;
        let mut args: heapless::Vec<crate::step::Slot, 3> = heapless::Vec::new();
        for reg in core::iter::once(result).chain(given.iter().copied()) {
            args.push(slot(reg)).map_err(|_| missing)?;
        }
        self.steps.append(atom, &args)?;
        self.declare(Variable::word().uniform(), result)
    }

    /// The upper 32 bits of a product of two numbers without signs.
    fn high_product(&mut self, a: ExprId, b: ExprId) -> Result<ExprId, EmitError> {
        let missing = InstError::NoAtom(Missing::Divide);
        let node = self.arena.op(IndexOp::MulWide64, &[a, b])?;
        // A product that is known needs no instruction.
        let node = self.simplified(node)?;
        if let Some(known) = self.arena.constant_value(node) {
            return Ok(self.arena.constant_of(known >> 32, 32)?);
        }
        let reg = self.compute(node, RegBank::Scalar)?;
        let upper = Reg { first: reg.first.wrapping_add(1), count: 1, ..reg };
        if reg.count != 2 {
            return Err(missing.into());
        }
        self.declare(Variable::word().uniform(), upper)
    }

    /// What is left of `a` behind `q` times `b`.
    fn left(&mut self, a: ExprId, q: ExprId, b: ExprId) -> Result<ExprId, EmitError> {
        let product = self.arena.op(IndexOp::Mul, &[q, b])?;
        Ok(self.arena.op(IndexOp::Sub, &[a, product])?)
    }

    /// A quotient of numbers without signs, or what it leaves.
    pub(crate) fn plain_quotient(
        &mut self,
        word: IndexWord,
        (a, b): (ExprId, ExprId),
        [x, y]: [IndexFacts; 2],
    ) -> Result<ExprId, EmitError> {
        let q = self.divided(a, b, x.is_plain() && y.is_plain())?;
        match word {
            IndexWord::DivUnsigned => Ok(q),
            IndexWord::RemUnsigned => self.left(a, q, b),
            _ => {
                let rest = self.left(a, q, b)?;
                let more = self.not_zero(rest)?;
                Ok(self.arena.op(IndexOp::Add, &[q, more])?)
            }
        }
    }

    /// A quotient of numbers with signs, or what it leaves.
    pub(crate) fn signed_quotient(
        &mut self,
        word: IndexWord,
        (a, b): (ExprId, ExprId),
        [x, y]: [IndexFacts; 2],
    ) -> Result<ExprId, EmitError> {
        let power = self.arena.constant_value(b).filter(|by| by.is_power_of_two() && *by < SIGN);
        if let (IndexWord::Rem, Some(by)) = (word, power) {
            return Ok(self.arena.op_const(IndexOp::And, a, by.wrapping_sub(1))?);
        }
        if let (IndexWord::Div, Some(by), false) = (word, power, x.is_plain()) {
            // Moved up by 2^31 and down again behind the shift.
            let bits = u64::from(by.trailing_zeros());
            let up = self.arena.op_const(IndexOp::Xor, a, SIGN)?;
            let shifted = self.arena.op_const(IndexOp::Shr, up, bits)?;
            let down = self.arena.constant(u32::try_from(SIGN >> bits.min(31)).unwrap_or(1))?;
            return Ok(self.arena.op(IndexOp::Sub, &[shifted, down])?);
        }
        let up = word == IndexWord::CeilDiv;
        let q = if x.is_plain() && y.is_plain() {
            let of = if up { self.raised(a, b, None)? } else { a };
            self.divided(of, b, !up)?
        } else {
            // Magnitudes are divided: towards zero where that is the way, else away from it.
            let (dividend, divisor) = (self.magnitude(a, x)?, self.magnitude(b, y)?);
            let differ = self.arena.op(IndexOp::Xor, &[a, b])?;
            let sign = self.sign_mask(differ)?;
            let away = if up { self.not(sign)? } else { sign };
            let of = self.raised(dividend, divisor, Some(away))?;
            let q = self.divided(of, divisor, false)?;
            let turned = self.arena.op(IndexOp::Xor, &[q, sign])?;
            self.arena.op(IndexOp::Sub, &[turned, sign])?
        };
        if word == IndexWord::Rem { self.left(a, q, b) } else { Ok(q) }
    }

    /// `a + b - 1`, where a mask says so.
    fn raised(&mut self, a: ExprId, b: ExprId, mask: Option<ExprId>) -> Result<ExprId, EmitError> {
        let less = self.arena.op_const(IndexOp::Add, b, u64::from(u32::MAX))?;
        let less = match mask {
            Some(mask) => self.arena.op(IndexOp::And, &[less, mask])?,
            None => less,
        };
        Ok(self.arena.op(IndexOp::Add, &[a, less])?)
    }

    /// A number without its sign.
    fn magnitude(&mut self, of: ExprId, facts: IndexFacts) -> Result<ExprId, EmitError> {
        if facts.is_plain() {
            return Ok(of);
        }
        let sign = self.sign_mask(of)?;
        let turned = self.arena.op(IndexOp::Xor, &[of, sign])?;
        Ok(self.arena.op(IndexOp::Sub, &[turned, sign])?)
    }
}
