//! Attributes and types as text.
use crate::attr::AttrValue;
use crate::handle::{Op, TextRef, TypeRef};
use crate::text::print::{Printer, integer};
use crate::types::{SPACES, TileEncoding, Type, TypeKind};
use core::fmt;

impl Printer<'_, '_, '_> {
    pub(crate) fn dictionary(&mut self, op: Op, before: &str, skip: &[&str]) -> fmt::Result {
        let program = self.program;
        let mut any = false;
        for attr in program.attrs(op) {
            if skip.contains(&program.text(attr.key)) {
                continue;
            }
            self.put(if any { ", " } else { before })?;
            if !any {
                self.put("{")?;
            }
            any = true;
            self.attr(attr.key, attr.value)?;
        }
        if any { self.put("}") } else { Ok(()) }
    }
    pub(crate) fn attr(&mut self, key: TextRef, value: AttrValue) -> fmt::Result {
        let program = self.program;
        let key = program.text(key);
        let plain = key
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'$'))
            && key.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_');
        if plain {
            self.put(key)?;
        } else {
            self.put("\"")?;
            self.put(key)?;
            self.put("\"")?;
        }
        if value == AttrValue::Unit {
            return Ok(());
        }
        self.put(" = ")?;
        match value {
            AttrValue::Unit => Ok(()),
            AttrValue::Int(number, ty) => {
                integer(number, self.out)?;
                self.typed(ty)
            }
            AttrValue::Number(literal, ty) => {
                self.literal(literal)?;
                self.typed(ty)
            }
            AttrValue::Str(name) => {
                self.put("\"")?;
                self.put(program.text(name))?;
                self.put("\"")
            }
            AttrValue::Symbol(name) => {
                self.put("@")?;
                self.put(program.text(name))
            }
            AttrValue::Alias(name) => {
                self.put("#")?;
                self.put(program.text(name))
            }
            AttrValue::Word(name)
            | AttrValue::Layout(name)
            | AttrValue::List(name)
            | AttrValue::Text(name) => self.put(program.text(name)),
            AttrValue::Operand(value) => self.value(value),
            AttrValue::Handle(number) => self.annotate.handle(number, self.out),
        }
    }
    fn typed(&mut self, ty: Option<TypeRef>) -> fmt::Result {
        let Some(ty) = ty else { return Ok(()) };
        self.put(" : ")?;
        self.ty(&self.program.type_at(ty))
    }

    // ---- types
    pub(crate) fn ty(&mut self, ty: &Type) -> fmt::Result {
        let program = self.program;
        let dtype = ty
            .dtype
            .and_then(|dtype| program.tables().dtype(dtype))
            .map_or("index", |dtype| dtype.name);
        match ty.kind {
            TypeKind::Elided => self.put("..."),
            TypeKind::Unit => self.put("()"),
            TypeKind::Index => self.put("index"),
            TypeKind::Scalar => self.put(dtype),
            TypeKind::Other => match ty.encoding {
                TileEncoding::Written(text) => self.put(program.text(text)),
                _ => self.put("..."),
            },
            TypeKind::Tensor | TypeKind::Memref => {
                self.put(if ty.kind == TypeKind::Tensor { "tensor<" } else { "memref<" })?;
                if ty.shape.is_known() {
                    for extent in ty.shape.iter() {
                        match extent {
                            Some(extent) => integer(i64::from(extent), self.out)?,
                            None => self.put("?")?,
                        }
                        self.put("x")?;
                    }
                    self.put(if ty.element.is_empty() { dtype } else { program.text(ty.element) })?;
                } else {
                    self.put("...")?;
                }
                self.encoding(ty)?;
                self.put(">")
            }
        }
    }
    fn encoding(&mut self, ty: &Type) -> fmt::Result {
        let program = self.program;
        let implied = match ty.encoding {
            TileEncoding::Alias(name) => {
                crate::types::space_of(program.text(name)).map(|(space, _)| space)
            }
            _ => None,
        };
        if let Some(space) = ty.space.filter(|space| implied != Some(*space))
            && let Some((_, word)) = SPACES.iter().find(|(known, _)| *known == space)
        {
            self.put(", #")?;
            self.put(word)?;
        }
        match ty.encoding {
            TileEncoding::None => Ok(()),
            TileEncoding::Alias(name) => {
                self.put(", #")?;
                self.put(program.text(name))
            }
            TileEncoding::Written(text) => {
                self.put(", ")?;
                self.put(program.text(text))
            }
            TileEncoding::Interned(at, len) => {
                self.put(", ")?;
                self.put(program.pools.made(at, len))
            }
            TileEncoding::Handle(number) => {
                self.put(", ")?;
                self.annotate.handle(u32::from(number), self.out)
            }
        }
    }
}
