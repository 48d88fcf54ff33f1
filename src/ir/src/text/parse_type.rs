//! Types in a text.
use crate::error::{ErrorKind, IrError, Lexeme, Pool};
use crate::handle::TypeRef;
use crate::storage::full;
use crate::text::lexer::Token;
use crate::text::parse::{Parser, ShortList};
use crate::types::{MAX_RANK, Shape, TileEncoding, Type, TypeKind, space_of};
use lanebook_tables::{DtypeId, Space};

/// Types after a `:`.
#[derive(Debug, Default)]
pub(crate) struct Types {
    pub left: ShortList<TypeRef>,
    pub right: ShortList<TypeRef>,
    pub arrow: bool,
}

/// How Triton calls the type of a tile in memory.
const MEMORY: &str = "!ttg.memdesc";

impl Parser<'_, '_, '_> {
    /// One type.
    pub fn parse_type(&mut self) -> Result<TypeRef, IrError> {
        let token = self.peek();
        let ty = match token.kind {
            Lexeme::Ellipsis => {
                self.next();
                Type::ELIDED
            }
            Lexeme::Char(b'(') => {
                self.next();
                self.take(Lexeme::Char(b')'))?;
                Type::UNIT
            }
            Lexeme::Char(b'!') => match self.described(token)? {
                Some(ty) => ty,
                None => self.other(token)?,
            },
            Lexeme::Char(b'<') => self.unnamed(token)?,
            Lexeme::Word => match self.lexer.slice(token) {
                "index" => {
                    self.next();
                    Type::INDEX
                }
                "tensor" => self.tile(TypeKind::Tensor)?,
                "memref" => self.tile(TypeKind::Memref)?,
                _ => {
                    self.next();
                    Type::scalar(self.dtype(token)?)
                }
            },
            _ => return self.expected(Lexeme::Type, token),
        };
        let ty = self.program.intern(ty);
        self.put(ty, token)
    }
    fn dtype(&self, token: Token) -> Result<DtypeId, IrError> {
        let name = self.lexer.slice(token);
        self.dtype_named(name).ok_or_else(|| self.fail(ErrorKind::UnknownDtype, token))
    }
    /// An element type by its own name, or by that which other systems have for it.
    pub(crate) fn dtype_named(&self, name: &str) -> Option<DtypeId> {
        let tables = self.program.tables();
        let foreign = || {
            tables
                .seeding
                .dtypes
                .iter()
                .find(|known| known.text == name)
                .and_then(|known| tables.dtype_named(known.dtype))
        };
        tables.dtype_named(name).or_else(foreign)
    }
    /// `!ttg.memdesc<128x64xf16, #layout, #smem, mutable, 3x128x64>`: a tile in memory. That it may
    /// be written and what it is a part of follows from the operations on it, and is not kept.
    fn described(&mut self, token: Token) -> Result<Option<Type>, IrError> {
        let open = token.start.saturating_add(MEMORY.len());
        if self.lexer.text.get(token.start..open) != Some(MEMORY) || self.lexer.byte(open) != b'<' {
            return Ok(None);
        }
        self.lexer.at = open;
        self.memory(token).map(Some)
    }
    /// `<128x64xf16, #layout, #smem>`, or `<f16>`: MLIR leaves the word out where the operation
    /// tells it. With a layout and a space it is a tile in memory; what else it is, is only kept.
    fn unnamed(&mut self, token: Token) -> Result<Type, IrError> {
        let inside = token.start.saturating_add(1);
        let end = self.lexer.balanced(inside, b"");
        let Some(end) = end.filter(|end| self.lexer.byte(*end) == b'>') else {
            return Err(self.fail(ErrorKind::Unclosed, token));
        };
        let text = self.lexer.text.get(inside..end).unwrap_or("");
        let first = text.bytes().next().is_some_and(|byte| byte.is_ascii_digit());
        if first && text.as_bytes().windows(3).any(|three| three == b", #") {
            return self.memory(token);
        }
        let end = end.saturating_add(1);
        let text = self.span(token.start, end)?;
        self.lexer.at = end;
        Ok(Type::bare(TypeKind::Other).encoded(TileEncoding::Written(text)))
    }
    /// What stands between the brackets of a tile in memory.
    fn memory(&mut self, token: Token) -> Result<Type, IrError> {
        self.take(Lexeme::Char(b'<'))?;
        let mut ty = Type { shape: self.extents()?, ..Type::bare(TypeKind::Memref) };
        self.element(&mut ty)?;
        while self.take_if(Lexeme::Char(b',')) {
            self.lexer.skip_blanks();
            let start = self.lexer.at;
            let Some(end) = self.lexer.balanced(start, b",") else {
                return Err(self.fail(ErrorKind::Unclosed, token));
            };
            let clause = self.lexer.text.get(start..end).unwrap_or("").trim_ascii_end();
            let alias =
                clause.strip_prefix('#').and_then(|name| self.program.alias_data(name)).copied();
            let said = alias.map_or(clause, |alias| self.program.text(alias.body));
            match (said, alias) {
                ("#ttg.shared_memory" | "#smem", _) => ty.space = Some(Space::Shared),
                ("#ttng.tensor_memory", _) => ty.space = Some(Space::Tensor),
                // An alias may be called like a kind of memory.
                (_, Some(alias)) if clause.strip_prefix('#').and_then(space_of).is_some() => {
                    ty.encoding = TileEncoding::Written(alias.body)
                }
                (_, Some(alias)) => ty.encoding = TileEncoding::Alias(alias.name),
                _ if clause.starts_with('#') => {
                    ty.encoding =
                        TileEncoding::Written(self.span(start, start.saturating_add(clause.len()))?)
                }
                _ => {}
            }
            self.lexer.at = end;
        }
        self.take(Lexeme::Char(b'>'))?;
        ty.space = ty.space.or(Some(Space::Shared));
        Ok(ty)
    }
    /// `!word<...>` or a whole tile type that is only kept.
    fn other(&mut self, token: Token) -> Result<Type, IrError> {
        let stop = b", \n\t=:";
        let Some(end) = self.lexer.balanced(token.start, stop) else {
            return Err(self.fail(ErrorKind::Unclosed, token));
        };
        // A type can be followed by a region or by an arrow.
        let body = self.lexer.text.get(token.start..end).unwrap_or("").as_bytes();
        let depth = |depth: i32, byte: &u8| match byte {
            b'<' => depth.saturating_add(1),
            b'>' => depth.saturating_sub(1),
            _ => depth,
        };
        let mut open = 0i32;
        let cut = body.iter().zip(body.iter().skip(1).chain(core::iter::once(&0))).position(
            |(byte, next)| {
                open = depth(open, byte);
                open == 0 && (*byte == b'{' || (*byte == b'-' && *next == b'>'))
            },
        );
        let end = cut.map_or(end, |cut| token.start.saturating_add(cut));
        if end <= token.start.saturating_add(1) {
            return self.expected(Lexeme::Type, token);
        }
        let text = self.span(token.start, end)?;
        self.lexer.at = end;
        Ok(Type::bare(TypeKind::Other).encoded(TileEncoding::Written(text)))
    }
    /// `tensor<128x?xf16, #space, layout>`; the word is not yet taken.
    fn tile(&mut self, kind: TypeKind) -> Result<Type, IrError> {
        self.next();
        self.take(Lexeme::Char(b'<'))?;
        let mut ty = Type { shape: Shape::UNKNOWN, ..Type::bare(kind) };
        if !self.take_if(Lexeme::Ellipsis) {
            ty.shape = self.extents()?;
            self.element(&mut ty)?;
        }
        while self.take_if(Lexeme::Char(b',')) {
            self.encoding(&mut ty)?;
        }
        self.take(Lexeme::Char(b'>'))?;
        if kind == TypeKind::Memref && ty.space.is_none() && ty.shape.is_known() {
            ty.space = Some(Space::Global);
        }
        Ok(ty)
    }
    /// The type of a tile's elements.
    fn element(&mut self, ty: &mut Type) -> Result<(), IrError> {
        let token = self.peek();
        match token.kind {
            Lexeme::Char(b'!') => {
                let Some(end) = self.lexer.balanced(token.start, b", \n\t") else {
                    return Err(self.fail(ErrorKind::Unclosed, token));
                };
                if end <= token.start.saturating_add(1) {
                    self.expected::<()>(Lexeme::Dtype, token)?;
                }
                ty.element = self.span(token.start, end)?;
                self.lexer.at = end;
            }
            Lexeme::Word if self.lexer.slice(token) == "index" => {
                self.next();
            }
            Lexeme::Word => {
                match self.dtype(token) {
                    Ok(dtype) => ty.dtype = Some(dtype),
                    // Another system's spelling: kept as it is.
                    Err(_) if self.options.keep_unknown => ty.element = self.name(token)?,
                    Err(error) => return Err(error),
                }
                self.next();
            }
            _ => return self.expected(Lexeme::Dtype, token),
        }
        Ok(())
    }
    /// `128x?x` up to the element type.
    fn extents(&mut self) -> Result<Shape, IrError> {
        let mut shape = Shape::SCALAR;
        loop {
            self.lexer.skip_blanks();
            let start = self.lexer.at;
            let mut end = start;
            while self.lexer.byte(end).is_ascii_digit() {
                end = end.saturating_add(1);
            }
            let dynamic = self.lexer.byte(start) == b'?';
            if dynamic {
                end = start.saturating_add(1);
            } else if end == start {
                return Ok(shape);
            }
            let token = Token { kind: Lexeme::Integer, start, end };
            let extent = if dynamic {
                None
            } else {
                let number = crate::text::lexer::integer(self.lexer.slice(token))
                    .and_then(|number| u32::try_from(number).ok());
                match number {
                    Some(0) => return Err(self.fail(ErrorKind::Extent, token)),
                    Some(number) if number < u32::MAX => Some(number),
                    _ => return Err(self.fail(ErrorKind::NumberTooLarge, token)),
                }
            };
            if self.lexer.byte(end) != b'x' {
                self.lexer.at = end;
                let token = self.peek();
                return self.expected(Lexeme::Char(b'x'), token);
            }
            shape =
                shape.with(extent).ok_or_else(|| self.fail(full(Pool::Rank, MAX_RANK), token))?;
            self.lexer.at = end.saturating_add(1);
        }
    }
    /// One clause after a `,` in a tile type: a memory kind, an alias or a layout.
    fn encoding(&mut self, ty: &mut Type) -> Result<(), IrError> {
        let token = self.peek();
        let bare = token.kind == Lexeme::Alias && self.lexer.byte(token.end) != b'<';
        let kind = if bare { space_of(self.lexer.tail(token)) } else { None };
        match kind {
            Some((space, true)) if ty.space.is_none() => {
                self.next();
                ty.space = Some(space);
                return Ok(());
            }
            Some((_, true)) => return self.expected(Lexeme::Char(b'>'), token),
            _ if ty.encoding != TileEncoding::None => {
                return self.expected(Lexeme::Char(b'>'), token);
            }
            _ => {}
        }
        if bare {
            self.next();
            ty.space = ty.space.or(kind.map(|(space, _)| space));
            ty.encoding = TileEncoding::Alias(self.tail_name(token)?);
            return Ok(());
        }
        let Some(end) = self.lexer.balanced(token.start, b",") else {
            return Err(self.fail(ErrorKind::Unclosed, token));
        };
        let body = self.lexer.text.get(token.start..end).unwrap_or("").trim_ascii_end();
        if body.is_empty() {
            return self.expected(Lexeme::AttrValue, token);
        }
        ty.encoding =
            TileEncoding::Written(self.span(token.start, token.start.saturating_add(body.len()))?);
        self.lexer.at = end;
        Ok(())
    }
    /// `T, T` or `(T, T)` or `()`.
    pub fn type_list(&mut self, list: &mut ShortList<TypeRef>) -> Result<(), IrError> {
        let bracket = self.take_if(Lexeme::Char(b'('));
        if bracket && self.take_if(Lexeme::Char(b')')) {
            return Ok(());
        }
        loop {
            let token = self.peek();
            let ty = self.parse_type()?;
            self.push(list, ty, token)?;
            if !self.take_if(Lexeme::Char(b',')) && !self.take_if(Lexeme::Char(b'*')) {
                break;
            }
        }
        if bracket {
            self.take(Lexeme::Char(b')'))?;
        }
        Ok(())
    }
    /// Types after a `:` that was taken: a list, or a list, an arrow and a list.
    pub fn types(&mut self, types: &mut Types) -> Result<(), IrError> {
        self.type_list(&mut types.left)?;
        if self.take_if(Lexeme::Arrow) {
            types.arrow = true;
            self.type_list(&mut types.right)?;
        }
        Ok(())
    }
}
