//! Attributes and literals in a text.
use crate::attr::{AttrValue, Literal};
use crate::attr_names;
use crate::error::{ErrorKind, IrError, Lexeme};
use crate::handle::{Op, TextRef, TypeRef, Value};
use crate::text::lexer::{Token, integer};
use crate::text::parse::Parser;
use crate::types::Type;

/// What an attribute is being read for.
#[derive(Copy, Clone)]
enum Owner {
    Op(Op),
    Argument(Value),
}

impl Parser<'_, '_, '_> {
    /// Whether the `{` that comes next opens a dictionary (and not a region, which `regions` says
    /// is possible).
    pub fn at_dictionary(&mut self, regions: bool) -> bool {
        let mut ahead = self.lexer;
        if ahead.next().kind != Lexeme::Char(b'{') {
            return false;
        }
        if !regions {
            return true;
        }
        let open = ahead.at;
        let first = ahead.next();
        match first.kind {
            Lexeme::Word => match ahead.peek().kind {
                Lexeme::Char(b'=') => true,
                // `{is_async}`; a region's first operation stands on a line of its own.
                Lexeme::Char(b',' | b'}') => {
                    let word = self.lexer.slice(first);
                    let between = self.lexer.text.get(open..first.start).unwrap_or("\n");
                    !between.contains('\n') && self.program.tables().op_named(word).is_none()
                }
                _ => false,
            },
            Lexeme::Str => true,
            _ => false,
        }
    }
    /// `{key = value, ...}` of an operation.
    pub fn dictionary(&mut self, op: Op) -> Result<(), IrError> {
        self.dictionary_of(Owner::Op(op))
    }
    /// `{key = value, ...}` of a block argument.
    pub fn value_dictionary(&mut self, value: Value) -> Result<(), IrError> {
        self.dictionary_of(Owner::Argument(value))
    }
    fn dictionary_of(&mut self, owner: Owner) -> Result<(), IrError> {
        self.take(Lexeme::Char(b'{'))?;
        if self.take_if(Lexeme::Char(b'}')) {
            return Ok(());
        }
        loop {
            let token = self.peek();
            let key = match token.kind {
                Lexeme::Word => self.name(token)?,
                Lexeme::Str => {
                    self.span(token.start.saturating_add(1), token.end.saturating_sub(1))?
                }
                _ => return self.expected(Lexeme::Word, token),
            };
            self.next();
            let text = self.program.text(key);
            let twice = match owner {
                Owner::Op(op) => {
                    self.program.attrs(op).any(|attr| self.program.text(attr.key) == text)
                }
                Owner::Argument(value) => {
                    self.program.value_attrs(value).any(|attr| self.program.text(attr.key) == text)
                }
            };
            if twice {
                return Err(self.fail(ErrorKind::AttrTwice, token));
            }
            let value = if self.take_if(Lexeme::Char(b'=')) {
                self.keyed_value(owner, key)?
            } else {
                AttrValue::Unit
            };
            let pushed = match owner {
                Owner::Op(op) => self.program.push_attr(op, key, value),
                Owner::Argument(at) => self.program.push_value_attr(at, key, value),
            };
            self.put(pushed, token)?;
            if !self.take_if(Lexeme::Char(b',')) {
                self.take(Lexeme::Char(b'}'))?;
                return Ok(());
            }
        }
    }
    /// The value of an operation's attribute.
    pub(crate) fn op_attr_value(&mut self, op: Op, key: TextRef) -> Result<AttrValue, IrError> {
        self.keyed_value(Owner::Op(op), key)
    }
    fn keyed_value(&mut self, owner: Owner, key: TextRef) -> Result<AttrValue, IrError> {
        // Hexadecimal digits of an element are its bits, as those of a constant are.
        let is_element = self.program.key_is(key, attr_names::OTHER);
        let value = self.attr_value(owner, is_element)?;
        self.layouts_in_attrs |= matches!(value, AttrValue::Layout(_) | AttrValue::Text(_))
            && self.program.key_is(key, attr_names::LAYOUT);
        Ok(value)
    }
    fn attr_value(&mut self, owner: Owner, is_element: bool) -> Result<AttrValue, IrError> {
        let token = self.peek();
        let after = self.lexer.byte(token.end);
        match token.kind {
            Lexeme::Integer | Lexeme::Number => {
                self.next();
                let ty =
                    if self.take_if(Lexeme::Char(b':')) { Some(self.parse_type()?) } else { None };
                self.number_value(token, ty, is_element)
            }
            Lexeme::Str => {
                self.next();
                Ok(AttrValue::Str(
                    self.span(token.start.saturating_add(1), token.end.saturating_sub(1))?,
                ))
            }
            Lexeme::Symbol => {
                self.next();
                Ok(AttrValue::Symbol(self.tail_name(token)?))
            }
            Lexeme::ValueName => match owner {
                Owner::Op(_) => {
                    self.next();
                    Ok(AttrValue::Operand(self.value(token)?))
                }
                Owner::Argument(_) => self.expected(Lexeme::AttrValue, token),
            },
            Lexeme::Alias if after != b'<' => {
                self.next();
                Ok(AttrValue::Alias(self.tail_name(token)?))
            }
            Lexeme::Char(b'-') if is_element && self.minus_inf(token).is_some() => {
                let word = self.minus_inf(token).unwrap_or(token);
                self.lexer.at = word.end;
                Ok(AttrValue::Word(self.name(word)?))
            }
            Lexeme::Word if !matches!(after, b'(' | b'[' | b'<') => {
                self.next();
                Ok(AttrValue::Word(self.name(token)?))
            }
            Lexeme::Word if after == b'(' => {
                match (self.program.tables().op_named(self.lexer.slice(token)), owner) {
                    (Some(decl), Owner::Op(op)) => {
                        self.next();
                        self.inline_operation(decl, op, token).map(AttrValue::Operand)
                    }
                    _ => self.kept(token).map(AttrValue::Text),
                }
            }
            Lexeme::Word if after == b'<' && self.lexer.slice(token) == "array" => {
                self.kept(token).map(AttrValue::List)
            }
            Lexeme::Word if after == b'[' => self.kept(token).map(AttrValue::Layout),
            Lexeme::Char(b'<' | b'(') => self.kept(token).map(AttrValue::Layout),
            Lexeme::Char(b'[') => self.kept(token).map(AttrValue::List),
            Lexeme::Word | Lexeme::Alias | Lexeme::Char(b'!' | b'{') => {
                self.kept(token).map(AttrValue::Text)
            }
            _ => self.expected(Lexeme::AttrValue, token),
        }
    }
    /// The number of a token that was taken, with its type.
    pub(crate) fn number_value(
        &self,
        token: Token,
        ty: Option<TypeRef>,
        is_element: bool,
    ) -> Result<AttrValue, IrError> {
        Ok(match self.literal(token)? {
            Literal::Int(value) => AttrValue::Int(value, ty),
            literal @ Literal::Hex(_) if is_element => AttrValue::Number(literal, ty),
            Literal::Hex(value) => AttrValue::Int(value as i64, ty),
            Literal::MinusZero if token.kind == Lexeme::Integer => AttrValue::Int(0, ty),
            other => AttrValue::Number(other, ty),
        })
    }
    /// Balanced text up to a `,` or a closing bracket, as it stands.
    pub fn kept(&mut self, token: Token) -> Result<TextRef, IrError> {
        let Some(end) = self.lexer.balanced(token.start, b",") else {
            return Err(self.fail(ErrorKind::Unclosed, token));
        };
        let body = self.lexer.text.get(token.start..end).unwrap_or("").trim_ascii_end();
        let name = self.span(token.start, token.start.saturating_add(body.len()))?;
        self.lexer.at = end;
        Ok(name)
    }
    /// `select(%c, 0, 8)` as an attribute's value: an operation of its own right before the one
    /// that has the attribute.
    fn inline_operation(
        &mut self,
        decl: lanebook_tables::OpId,
        before: Op,
        token: Token,
    ) -> Result<Value, IrError> {
        let name = self.name(token)?;
        let op = self.program.new_op(Some(decl), name);
        let op = self.put(op, token)?;
        self.take(Lexeme::Char(b'('))?;
        self.operand_list(op, b')')?;
        let linked = self.program.link(op, self.block, Some(before));
        self.put(linked, token)?;
        let value = self.program.add_result(op, Type::ELIDED);
        self.put(value, token)
    }
    /// The literal of a number or word token that was taken.
    pub fn literal(&self, token: Token) -> Result<Literal, IrError> {
        let text = self.lexer.slice(token);
        match token.kind {
            Lexeme::Integer => {
                whole(text).ok_or_else(|| self.fail(ErrorKind::NumberTooLarge, token))
            }
            Lexeme::Number => {
                decimal(text).ok_or_else(|| self.fail(ErrorKind::NumberTooLarge, token))
            }
            _ => Ok(Literal::Word(self.name(token)?)),
        }
    }
}

/// `-12` or `0xFF`; a sign before zero, or before hexadecimal digits, stays one.
fn whole(text: &str) -> Option<Literal> {
    let Some(value) = integer(text) else {
        return large(text).map(Literal::Large);
    };
    Some(match (value, text.as_bytes()) {
        (0, [b'-', ..]) => Literal::MinusZero,
        (_, [b'0', b'x', ..]) => Literal::Hex(value as u64),
        _ => Literal::Int(value),
    })
}

/// A decimal integer without a sign, of up to 64 bits.
fn large(text: &str) -> Option<u64> {
    text.bytes().try_fold(0u64, |value, byte| {
        let digit = (byte as char).to_digit(10)?;
        value.checked_mul(10)?.checked_add(u64::from(digit))
    })
}

/// `-12.50e-3` as digits and a power of ten.
pub(crate) fn decimal(text: &str) -> Option<Literal> {
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (mut digits, mut exponent, mut point) = (0i64, 0i16, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'.' => point = true,
            b'e' | b'E' => {
                let rest = text.get(at.saturating_add(1)..)?;
                let power = integer(rest.strip_prefix('+').unwrap_or(rest))?;
                exponent = exponent.checked_add(i16::try_from(power).ok()?)?;
                break;
            }
            _ => {
                digits = digits.checked_mul(10)?.checked_add(i64::from(byte.wrapping_sub(b'0')))?;
                if point {
                    exponent = exponent.checked_sub(1)?;
                }
            }
        }
    }
    if negative && digits == 0 {
        return Some(Literal::MinusZero);
    }
    Some(Literal::Decimal {
        digits: if negative { digits.checked_neg()? } else { digits },
        exponent,
    })
}
