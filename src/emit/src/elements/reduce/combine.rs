//! How a reduction in place combines elements: those of fewer than 32 bits as values of 32, rounded
//! once at the end, unless an instruction takes the greater or the lesser of two as they are.

use crate::elements::{ElementReason, refused};
use crate::expr::Reg;
use crate::lanes::reduce::CombineAtom;
use crate::lower::context::{EmitError, LowerContext};
use crate::step::InstKind;
use lanebook_ir::{AttrValue, Op, attr_names};
use lanebook_plan::select::select_elementwise;
use lanebook_tables::{DtypeId, DtypeKind, IndexWord, OpDecl, OpId, OpRole, OpWord};

/// Bits of a register.
const WORD_BITS: u16 = 32;

/// What combines the elements of a reduction.
#[derive(Copy, Clone)]
pub(crate) struct Combining<'t> {
    /// The instruction.
    pub atom: CombineAtom<'t>,
    /// The type of its operands.
    pub dtype: DtypeId,
    /// That of the fragments' elements, where it is another one.
    narrow: Option<DtypeId>,
}

impl<'t> LowerContext<'_, 't, '_, '_> {
    /// The word of a reduction's kind.
    fn combining_word(&self, op: Op) -> &'t str {
        match self.program.attr(op, attr_names::KIND) {
            Some(AttrValue::Word(word) | AttrValue::Str(word)) => match self.program.text(word) {
                "sum" => attr_names::ADD,
                word => word,
            },
            _ => "",
        }
    }

    /// The operation on two elements of a kind: of whole numbers of a register without a sign the
    /// extremes that take none.
    fn combining_op(&self, own: DtypeId, kind: &str) -> Option<OpId> {
        let tables = self.machine.tables;
        let word = match kind {
            attr_names::MAX if self.is_plain_word(own) => IndexWord::MaxUnsigned,
            attr_names::MIN if self.is_plain_word(own) => IndexWord::MinUnsigned,
            kind => return tables.op_named(kind),
        };
        let computes =
            |decl: &OpDecl<'_>| decl.role == OpRole::Elementwise && decl.index == Some(word);
        u16::try_from(tables.ops.iter().position(computes)?).ok().map(OpId)
    }

    /// Whether elements are whole numbers without a sign that fill a register.
    fn is_plain_word(&self, dtype: DtypeId) -> bool {
        let dtype = self.machine.tables.dtype(dtype);
        dtype.is_some_and(|own| own.kind == DtypeKind::Unsigned && own.bits >= WORD_BITS)
    }

    /// What combines two elements.
    pub(crate) fn combining(&self, op: Op) -> Result<Combining<'t>, EmitError> {
        let refuse = refused(op, ElementReason::Operation);
        let operand = self.program.operand(op, 0).ok_or(refuse)?;
        let own = self.program.type_of(operand).dtype.ok_or(refuse)?;
        let (tables, arch) = (self.machine.tables, self.machine.arch);
        let kind = self.combining_word(op);
        let word = self.combining_op(own, kind).map(OpWord::Op).ok_or(refuse)?;
        let found = |dtype| {
            let (id, atom, _) = select_elementwise(tables, arch, word, 2, (dtype, dtype), 0)?;
            Some(CombineAtom { id, atom })
        };
        // One of the two comes out: nothing is rounded.
        let is_one = matches!(kind, attr_names::MAX | attr_names::MIN);
        if let Some(atom) = found(own).filter(|_| is_one) {
            return Ok(Combining { atom, dtype: own, narrow: None });
        }
        let bits = |dtype| tables.dtype(dtype).map(|dtype| dtype.bits);
        match tables.combined_as(own) {
            Some(wide) if bits(wide) != bits(own) => {
                let atom = found(wide).ok_or(refuse)?;
                Ok(Combining { atom, dtype: wide, narrow: Some(own) })
            }
            // Numbers without a sign have the bits of those with one; the operation says whether signs
            // are.
            Some(same) => {
                let atom = found(same).ok_or(refuse)?;
                Ok(Combining { atom, dtype: same, narrow: None })
            }
            None => Ok(Combining { atom: found(own).ok_or(refuse)?, dtype: own, narrow: None }),
        }
    }

    /// Bits of the value that changes nothing.
    pub(crate) fn neutral(&self, op: Op, combine: &Combining<'_>) -> Option<u32> {
        let dtype = self.machine.tables.dtype(combine.dtype)?;
        let number = |n| self.program.literal_bits(lanebook_ir::Literal::Int(n), dtype);
        let operand = self.program.operand(op, 0)?;
        let is_plain = self.is_plain_word(self.program.type_of(operand).dtype?);
        let all = u64::MAX.checked_shr(u64::BITS.checked_sub(u32::from(dtype.bits))?)?;
        let top = 1u64.checked_shl(u32::from(dtype.bits.checked_sub(1)?))?;
        let bits = match (self.combining_word(op), dtype.kind, dtype.format) {
            (attr_names::ADD, ..) => number(0)?,
            (attr_names::MUL, ..) => number(1)?,
            (attr_names::OR | attr_names::XOR, ..) => 0,
            (attr_names::AND, ..) => all,
            (attr_names::MAX, DtypeKind::Signed, _) if is_plain => 0,
            (attr_names::MIN, DtypeKind::Signed, _) if is_plain => all,
            (attr_names::MIN, DtypeKind::Float, Some(format)) => format.infinity()?,
            (attr_names::MAX, DtypeKind::Float, Some(format)) => format.infinity()? | format.sign(),
            (attr_names::MIN, DtypeKind::Signed, _) => top.checked_sub(1)?,
            (attr_names::MAX, DtypeKind::Signed, _) => top,
            _ => return None,
        };
        u32::try_from(bits).ok()
    }

    /// Elements of a fragment as they are combined.
    pub(crate) fn widened(
        &mut self,
        op: Op,
        combine: &Combining<'_>,
        own: Reg,
    ) -> Result<Reg, EmitError> {
        match combine.narrow {
            Some(narrow) => self.cast(op, (narrow, combine.dtype), own),
            None => Ok(own),
        }
    }

    /// What was combined as elements of a fragment.
    pub(crate) fn narrowed(
        &mut self,
        op: Op,
        combine: &Combining<'_>,
        wide: Reg,
    ) -> Result<Reg, EmitError> {
        match combine.narrow {
            Some(narrow) => self.cast(op, (combine.dtype, narrow), wide),
            None => Ok(wide),
        }
    }

    /// `out = a, b` combined.
    pub(crate) fn combined(
        &mut self,
        op: Op,
        combine: &Combining<'t>,
        out: Reg,
        (a, b): (Reg, Reg),
    ) -> Result<(), EmitError> {
        let taken = combine.atom.taken().ok_or(refused(op, ElementReason::Operation))?;
        let (a, b) = (self.suited(op, a, taken)?, self.suited(op, b, taken)?);
        self.steps.purpose = InstKind::Arithmetic;
        self.combine(op, combine.atom, out, a, b)
    }
}
