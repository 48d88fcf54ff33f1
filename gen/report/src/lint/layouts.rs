//! Layouts of a program's types as queries, and their answers, each computed once.

use lanebook::ir::{Op, Program, Type, TypeKind, Value};
use lanebook::layout::Coord;
use lanebook::query::{QueryStorage, WriteError, ask};
use lanebook_tables::{ArchId, OpRole, Space, Tables};
use serde_json::Value as Json;
use std::collections::{BTreeMap, HashMap};

/// Most elements whose places are looked at one by one.
const MOST_ELEMENTS: u64 = 1 << 16;

/// What a query came to.
#[derive(Clone, Debug)]
pub(super) enum Answered {
    /// The answer.
    Said(Json),
    /// Why there is none.
    Refused(String),
}

/// The places of a tile's elements: for each warp and register the elements of its lanes.
pub(super) type Held = BTreeMap<(i64, i64), BTreeMap<i64, u64>>;

/// Queries about one program.
pub(super) struct LayoutQueries<'p, 's, 't> {
    pub program: &'p Program<'s, 't>,
    pub tables: &'p Tables<'p>,
    pub arch: ArchId,
    text: &'p str,
    storage: Box<QueryStorage>,
    known: HashMap<String, Answered>,
}

impl<'p, 's, 't> LayoutQueries<'p, 's, 't> {
    pub fn new(
        program: &'p Program<'s, 't>,
        tables: &'p Tables<'p>,
        arch: ArchId,
        text: &'p str,
    ) -> Self {
        Self { program, tables, arch, text, storage: Box::default(), known: HashMap::new() }
    }

    /// The word at a line and column of the text, both from 1.
    pub fn word_at(&self, line: u32, column: u32) -> Option<String> {
        let line = self.text.lines().nth(usize::try_from(line).ok()?.checked_sub(1)?)?;
        let rest = line.chars().skip(usize::try_from(column).ok()?.checked_sub(1)?);
        let word: String =
            rest.take_while(|c| c.is_alphanumeric() || matches!(c, '_' | '.')).collect();
        (!word.is_empty()).then_some(word)
    }

    /// The answer to a query.
    pub fn ask(&mut self, query: &str) -> Answered {
        if let Some(known) = self.known.get(query) {
            return known.clone();
        }
        let mut words = String::new();
        let answered = match ask(self.tables, Some(self.arch), query, &mut self.storage) {
            Err(error) => {
                let _ = error.why.write_text("it", &mut words);
                Answered::Refused(words)
            }
            Ok(answer) => {
                let mut text = String::new();
                match answer.write_json(&mut text) {
                    Ok(()) => Answered::Said(serde_json::from_str(&text).unwrap_or_default()),
                    Err(WriteError::Refused(why)) => {
                        let _ = why.write_text("it", &mut words);
                        Answered::Refused(words)
                    }
                    Err(WriteError::Sink) => Answered::Refused("it cannot be written".into()),
                }
            }
        };
        self.known.insert(query.to_string(), answered.clone());
        answered
    }

    /// The text of a type's layout, without names of the program's own; `None` if it has none.
    pub fn encoding(&self, ty: &Type) -> Option<String> {
        let text = self.program.layout_text(ty)?;
        written_out(text, &|name| self.program.alias(name))
    }

    /// `ENCODING @ EXTENTS of TYPE` of a tile; the extents are those given, or the type's own.
    pub fn tile(&self, ty: &Type, shape: &[u32]) -> Option<String> {
        let encoding = self.encoding(ty)?;
        let extents: Vec<String> = shape.iter().map(u32::to_string).collect();
        let of = ty.dtype.and_then(|id| self.tables.dtype(id));
        let of = of.map_or_else(String::new, |dtype| format!(" of {}", dtype.name));
        Some(format!("{encoding} @ {}{of}", extents.join("x")))
    }

    /// The element type's name.
    pub fn element(&self, ty: &Type) -> Option<&'p str> {
        ty.dtype.and_then(|id| self.tables.dtype(id)).map(|dtype| dtype.name)
    }

    /// Bits of an element.
    pub fn bits(&self, ty: &Type) -> Option<u64> {
        ty.dtype.and_then(|id| self.tables.dtype(id)).map(|dtype| u64::from(dtype.bits))
    }

    /// The extents of the tile that a tile in memory is a part of: it lies as that one does.
    pub fn allocated(&self, value: Value) -> Vec<u32> {
        let mut shape = extents(&self.program.type_of(value));
        let mut at = value;
        while let Some(op) = self.program.def_op(at) {
            let Some(source) = self.program.operand(op, 0) else { break };
            let ty = self.program.type_of(source);
            let larger = extents(&ty);
            if !is_shared(&ty) || self.program.role(op) == OpRole::Alloc {
                break;
            }
            let part = larger.len() == shape.len()
                && self.encoding(&ty) == self.encoding(&self.program.type_of(at))
                && larger.iter().zip(&shape).all(|(all, part)| all >= part);
            if part {
                shape = larger;
            }
            at = source;
        }
        shape
    }

    /// Where each element of a register tile is held; `None` if its layout is not read.
    pub fn held(&mut self, tile: &str) -> Option<Held> {
        let answer = ask(self.tables, Some(self.arch), tile, &mut self.storage).ok()?;
        let placed = answer.layout()?;
        let view = placed.layout.view();
        let size = view.size_value().ok().filter(|size| *size <= MOST_ELEMENTS)?;
        let (lane, warp, register) = axes();
        let mut out = Held::new();
        for element in 0..size {
            let mut at = Coord::new();
            view.apply_all(element, &mut at, |at| {
                let home = out.entry((at.get(warp), at.get(register))).or_default();
                home.insert(at.get(lane), element);
                Ok(())
            })
            .ok()?;
        }
        Some(out)
    }

    /// Whether a value is made inside of an operation's regions.
    pub fn is_inside(&self, value: Value, around: Op) -> bool {
        let own = match self.program.def(value) {
            lanebook::ir::Def::Argument(block, _) => self.program.owner_of(block),
            _ => self.program.def_op(value).and_then(|op| self.program.parent(op)),
        };
        let mut at = own;
        while let Some(op) = at {
            if op == around {
                return true;
            }
            at = self.program.parent(op);
        }
        false
    }

    /// The innermost loop around an operation.
    pub fn loop_around(&self, op: Op) -> Option<Op> {
        let mut at = self.program.parent(op);
        while let Some(around) = at {
            if self.program.role(around).is_loop() {
                return Some(around);
            }
            at = self.program.parent(around);
        }
        None
    }
}

fn axes() -> (lanebook::layout::AxisId, lanebook::layout::AxisId, lanebook::layout::AxisId) {
    use lanebook::layout::AxisId;
    (AxisId::LANE, AxisId::WARP, AxisId::REGISTER)
}

/// The extents of a type; none where they are not all known.
pub(super) fn extents(ty: &Type) -> Vec<u32> {
    let known: Option<Vec<u32>> = ty.shape.iter().collect();
    known.unwrap_or_default()
}

/// A tile in shared memory.
pub(super) fn is_shared(ty: &Type) -> bool {
    ty.is_tile() && ty.is_memory() && ty.space == Some(Space::Shared)
}

/// A tile in registers.
pub(super) fn is_registers(ty: &Type) -> bool {
    ty.kind == TypeKind::Tensor && !ty.is_memory()
}

/// A layout's text with the names of aliases replaced by what they stand for.
fn written_out<'t>(text: &str, alias: &dyn Fn(&str) -> Option<&'t str>) -> Option<String> {
    let mut out = text.to_string();
    // A name stands for a text that may have names; there are no more than that deep.
    for _ in 0..8 {
        let mut next = String::with_capacity(out.len());
        let mut rest = out.as_str();
        let mut changed = false;
        while let Some(at) = rest.find('#') {
            next.push_str(&rest[..at]);
            let after = &rest[at + 1..];
            let length = after
                .find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '-' | '$'))
                .unwrap_or(after.len());
            let (name, behind) = after.split_at(length);
            match alias(name).filter(|_| !behind.starts_with('.')) {
                Some(body) => {
                    next.push_str(body);
                    changed = true;
                }
                None => {
                    next.push('#');
                    next.push_str(name);
                }
            }
            rest = behind;
        }
        next.push_str(rest);
        if !changed {
            return Some(next);
        }
        out = next;
    }
    None
}
