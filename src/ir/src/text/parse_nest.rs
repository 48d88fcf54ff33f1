//! Parallel loops over several extents: one line for a nest of loops, one bracket that closes it.
use crate::attr::Literal;
use crate::data::UseKind;
use crate::error::{ErrorKind, IrError, Lexeme};
use crate::handle::{Op, Value};
use crate::text::lexer::Token;
use crate::text::parse::{Parser, ShortList};
use crate::text::parse_op::Names;
use crate::types::Type;

/// What a nest's line says of each loop.
#[derive(Default)]
struct Bounds {
    lower: ShortList<Value>,
    upper: ShortList<Value>,
    step: ShortList<Value>,
}

impl Parser<'_, '_, '_> {
    /// `(%i, %j) in (4, 16) {..} {`, `(%i, %j) = (0, 0) to (4, 16) step (1, 1) {..} {`, the same
    /// of one loop without brackets; the name is taken.
    pub(crate) fn parallel(&mut self, op: Op, names: &Names, token: Token) -> Result<(), IrError> {
        let mut counters: ShortList<Token> = ShortList::new();
        let several = self.take_if(Lexeme::Char(b'('));
        loop {
            let name = self.take(Lexeme::ValueName)?;
            self.push(&mut counters, name, name)?;
            if !several {
                break;
            }
            if !self.take_if(Lexeme::Char(b',')) {
                self.take(Lexeme::Char(b')'))?;
                break;
            }
        }
        let mut bounds = Bounds::default();
        if self.take_word("in") {
            bounds.upper = self.bounds(several, counters.len())?;
            for _ in &counters {
                let (zero, one) = (self.number(0, token)?, self.number(1, token)?);
                self.push(&mut bounds.lower, zero, token)?;
                self.push(&mut bounds.step, one, token)?;
            }
        } else {
            self.take(Lexeme::Char(b'='))?;
            if let ([only], false) = (counters.as_slice(), several) {
                return self.counted(op, *only, names, token);
            }
            bounds.lower = self.bounds(several, counters.len())?;
            self.keyword(Lexeme::To, "to")?;
            bounds.upper = self.bounds(several, counters.len())?;
            self.keyword(Lexeme::Step, "step")?;
            bounds.step = self.bounds(several, counters.len())?;
        }
        if !names.is_empty() {
            let found = u16::try_from(names.len()).unwrap_or(u16::MAX);
            return Err(self.fail(ErrorKind::ResultCount { least: 0, most: 0, found }, token));
        }
        self.attributes_word(op)?;
        if self.at_dictionary(true) {
            self.dictionary(op)?;
        }
        self.nest(op, &counters, &bounds, token)
    }

    fn nest(
        &mut self,
        outermost: Op,
        counters: &[Token],
        bounds: &Bounds,
        token: Token,
    ) -> Result<(), IrError> {
        let open = self.take(Lexeme::Char(b'{'))?;
        let decl = self.program.decl_id(outermost);
        let index = self.program.intern(Type::INDEX);
        let index = self.put(index, token)?;
        let all = bounds.lower.iter().zip(&bounds.upper).zip(&bounds.step);
        for (number, (counter, ((lower, upper), step))) in counters.iter().zip(all).enumerate() {
            let op = if number == 0 { outermost } else { self.begin(decl, token)?.0 };
            for value in [*lower, *upper, *step] {
                let pushed = self.program.push_operand(op, value, UseKind::Main);
                self.put(pushed, token)?;
            }
            self.open_region(op, 0, open)?;
            if number > 0 {
                self.join_region();
            }
            self.loop_argument(*counter, index)?;
        }
        Ok(())
    }

    /// One value for each loop, in brackets if there are `several`.
    fn bounds(&mut self, several: bool, count: usize) -> Result<ShortList<Value>, IrError> {
        let mut out = ShortList::new();
        let first = self.peek();
        if several {
            self.take(Lexeme::Char(b'('))?;
        }
        loop {
            let at = self.peek();
            let value = self.value_here()?;
            self.push(&mut out, value, at)?;
            if !several {
                break;
            }
            if !self.take_if(Lexeme::Char(b',')) {
                self.take(Lexeme::Char(b')'))?;
                break;
            }
        }
        if out.len() == count {
            return Ok(out);
        }
        let needed = u8::try_from(count).unwrap_or(u8::MAX);
        let found = u16::try_from(out.len()).unwrap_or(u16::MAX);
        Err(self.fail(ErrorKind::OperandCount { least: needed, most: needed, found }, first))
    }

    fn number(&mut self, value: i64, token: Token) -> Result<Value, IrError> {
        let made = self.program.literal_value(Literal::Int(value));
        self.put(made, token)
    }
}
