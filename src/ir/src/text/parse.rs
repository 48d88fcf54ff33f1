//! Text to program.
//!
//! Guarantees: linear in the text (names go through a hash table), no recursion (regions nest on a
//! stack of [`MAX_DEPTH`] frames), the first error is returned with its place. Reading checks
//! spelling, names and written types; [`verify`](crate::verify()) checks the rest.
use crate::chains::{Digest, chain_of};
use crate::data::{AliasData, ValueData, ValueKind};
use crate::error::{ErrorKind, IrError, Lexeme, Pool};
use crate::handle::{Block, Op, TextRef, Value};
use crate::layout_table::{NONE, TableValue};
use crate::program::Program;
use crate::storage::{Pools, full};
use crate::text::lexer::{Lexer, Token, place};
use crate::types::Type;
use heapless::Vec;
use lanebook_tables::{OpRole, Tables};

/// Most regions inside each other.
pub const MAX_DEPTH: usize = 16;
/// Most names, types or values in one list.
pub const MAX_LIST: usize = 32;

/// How to read a text.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Default)]
pub struct Options {
    /// Operations that are not declared are kept as they are (role `Opaque`) instead of being an
    /// error.
    pub keep_unknown: bool,
    /// Names that are not defined become arguments of the outermost block, so that a snippet can be
    /// read.
    pub free_names: bool,
}

/// Reads a program.
pub fn parse<'s, 't>(
    pools: Pools<'s>,
    tables: &'t Tables<'t>,
    text: &'t str,
    options: Options,
) -> Result<Program<'s, 't>, IrError> {
    let mut program = Program::new(pools, tables, text)?;
    let root = program.root();
    let mut parser = Parser {
        lexer: Lexer::new(text),
        program: &mut program,
        options,
        frames: Vec::new(),
        block: root,
        layouts_in_attrs: false,
    };
    if text.len() > (i32::MAX as usize) {
        return Err(parser.fail(
            full(Pool::Text, i32::MAX as usize),
            Token { kind: Lexeme::End, start: 0, end: 0 },
        ));
    }
    // The pass that weighs layouts has not begun: its records of values find names.
    let names = &mut parser.program.pools.layout_table.nodes;
    let _ = names.resize(names.capacity(), TableValue::NEW);
    parser.run()?;
    parser.strip_numbered();
    let in_attrs = parser.layouts_in_attrs;
    program.pools.layout_table.clear();
    // When what reading takes of the stack is free again.
    program
        .read_written(in_attrs)
        .map_err(|(kind, name)| IrError { kind, at: program.place_of(name) })?;
    Ok(program)
}

/// An open region.
#[derive(Copy, Clone, Debug)]
struct OpenRegion {
    op: Op,
    /// Number of the region.
    region: usize,
    /// Values made before the region was opened.
    mark: usize,
    /// Block that the operation stands in.
    outer: Block,
    /// Where the operation's text begins, for one in the general quoted form: its types come after
    /// its regions.
    quoted: Option<usize>,
    /// The bracket that closes it closes the region around it as well: a nest of loops.
    joined: bool,
    /// Where the labels of a branch stand, of whose parts it is one.
    labels: Option<usize>,
}

pub(crate) struct Parser<'p, 's, 't> {
    pub lexer: Lexer<'t>,
    pub program: &'p mut Program<'s, 't>,
    pub options: Options,
    frames: Vec<OpenRegion, MAX_DEPTH>,
    pub block: Block,
    /// Whether an operation says a layout by an attribute.
    pub layouts_in_attrs: bool,
}

/// Names and other small lists.
pub(crate) type ShortList<T> = Vec<T, MAX_LIST>;

impl Parser<'_, '_, '_> {
    // ---- errors and tokens
    pub fn fail(&self, kind: ErrorKind, token: Token) -> IrError {
        let offset = u32::try_from(token.start).unwrap_or(u32::MAX);
        let len = u16::try_from(token.end.saturating_sub(token.start)).unwrap_or(u16::MAX);
        IrError { kind, at: place(self.lexer.text, offset, len) }
    }
    pub fn expected<T>(&self, want: Lexeme, token: Token) -> Result<T, IrError> {
        Err(self.fail(ErrorKind::Expected { want, got: token.kind }, token))
    }
    /// Gives a change's error the place of a token.
    pub fn put<T>(&self, result: Result<T, ErrorKind>, token: Token) -> Result<T, IrError> {
        result.map_err(|kind| self.fail(kind, token))
    }
    pub fn peek(&mut self) -> Token {
        self.lexer.peek()
    }
    pub fn next(&mut self) -> Token {
        self.lexer.next()
    }
    pub fn take(&mut self, kind: Lexeme) -> Result<Token, IrError> {
        let token = self.peek();
        if token.kind == kind { Ok(self.next()) } else { self.expected(kind, token) }
    }
    pub fn take_if(&mut self, kind: Lexeme) -> bool {
        let found = self.peek().kind == kind;
        if found {
            self.next();
        }
        found
    }
    pub fn at_word(&mut self, word: &str) -> bool {
        let token = self.peek();
        token.kind == Lexeme::Word && self.lexer.slice(token) == word
    }
    pub fn take_word(&mut self, word: &str) -> bool {
        let found = self.at_word(word);
        if found {
            self.next();
        }
        found
    }
    pub fn name(&self, token: Token) -> Result<TextRef, IrError> {
        self.span(token.start, token.end)
    }
    /// The name of a token without its first character.
    pub fn tail_name(&self, token: Token) -> Result<TextRef, IrError> {
        self.span(token.start.saturating_add(1), token.end)
    }
    pub fn span(&self, start: usize, end: usize) -> Result<TextRef, IrError> {
        let limit = usize::from(u16::MAX);
        TextRef::span(start, end.saturating_sub(start)).ok_or_else(|| {
            self.fail(full(Pool::Text, limit), Token { kind: Lexeme::Unknown, start, end: start })
        })
    }
    pub fn push<T>(&self, list: &mut ShortList<T>, item: T, token: Token) -> Result<(), IrError> {
        list.push(item).map_err(|_| self.fail(full(Pool::List, MAX_LIST), token))
    }

    // ---- the outer loop
    fn run(&mut self) -> Result<(), IrError> {
        loop {
            let token = self.peek();
            match token.kind {
                Lexeme::End if self.frames.is_empty() => return Ok(()),
                Lexeme::End => return self.expected(Lexeme::Char(b'}'), token),
                Lexeme::Char(b'}') => self.close_region()?,
                Lexeme::Label => self.label()?,
                Lexeme::Alias if self.frames.is_empty() => self.alias()?,
                Lexeme::ValueName | Lexeme::Word | Lexeme::Str => self.operation()?,
                _ => return self.expected(Lexeme::Operation, token),
            }
        }
    }
    /// `#name = anything balanced`, to the end of the line at least.
    fn alias(&mut self) -> Result<(), IrError> {
        let token = self.next();
        let name = self.tail_name(token)?;
        self.take(Lexeme::Char(b'='))?;
        let line = self.lexer.at;
        self.lexer.skip_blanks();
        let start = self.lexer.at;
        let skipped = self.lexer.text.get(line..start).unwrap_or("").trim_ascii();
        if self.lexer.location(skipped) {
            // `#loc1 = loc("file":1:2)`: nothing names it but other locations.
            return Ok(());
        }
        let Some(end) = self.lexer.balanced(start, b"\n/") else {
            return Err(self.fail(
                ErrorKind::Unclosed,
                Token { kind: Lexeme::Unknown, start, end: start.saturating_add(1) },
            ));
        };
        let body = self.lexer.text.get(start..end).unwrap_or("");
        let end = start.saturating_add(body.trim_ascii_end().len());
        if end == start {
            let at = self.peek();
            return self.expected(Lexeme::AttrValue, at);
        }
        let body = self.span(start, end)?;
        let word = self.program.text(name);
        if self.program.alias(word).is_some() {
            return Err(self.fail(ErrorKind::AliasRedefined, token));
        }
        let added = self.program.pools.add_alias(AliasData { name, body }, Digest::of(word));
        self.put(added, token)?;
        self.lexer.at = end;
        Ok(())
    }

    // ---- regions
    /// Opens a region whose `{` was taken.
    pub fn open_region(&mut self, op: Op, region: usize, token: Token) -> Result<Block, IrError> {
        self.open_region_of(op, region, token, None)
    }
    /// The same for an operation in quoted form that begins at `quoted`.
    pub fn open_region_of(
        &mut self,
        op: Op,
        region: usize,
        token: Token,
        quoted: Option<usize>,
    ) -> Result<Block, IrError> {
        let mark = self.program.pools.values.len();
        let Some(block) = self.program.entry(op, region) else {
            return Err(self.fail(ErrorKind::Broken, token));
        };
        let frame =
            OpenRegion { op, region, mark, outer: self.block, quoted, joined: false, labels: None };
        if self.frames.push(frame).is_err() {
            return Err(self.fail(full(Pool::Depth, MAX_DEPTH), token));
        }
        self.block = block;
        Ok(block)
    }
    /// The region that was opened last closes with the one around it.
    pub fn join_region(&mut self) {
        if let Some(frame) = self.frames.last_mut() {
            frame.joined = true;
        }
    }
    /// The region that was opened last is a part of a branch to labels.
    pub(crate) fn label_region(&mut self, labels: usize) {
        if let Some(frame) = self.frames.last_mut() {
            frame.labels = Some(labels);
        }
    }
    /// Where the labels of the branch stand whose part is being read.
    pub(crate) fn labels(&self) -> Option<usize> {
        self.frames.last().and_then(|frame| frame.labels)
    }
    /// Closes a part of such a branch: the branch, which part it was, where the labels stand.
    pub(crate) fn leave_part(&mut self) -> Option<(Op, usize, usize)> {
        let labels = self.labels()?;
        let frame = self.frames.pop()?;
        self.forget_names(frame.mark);
        self.block = frame.outer;
        Some((frame.op, frame.region, labels))
    }
    fn close_region(&mut self) -> Result<(), IrError> {
        let token = self.next();
        self.leave_parts(token)?;
        while self.close_frame(token)? {}
        Ok(())
    }
    /// Closes the region that was opened last; whether the one around it closes as well.
    fn close_frame(&mut self, token: Token) -> Result<bool, IrError> {
        let Some(frame) = self.frames.pop() else {
            return self.expected(Lexeme::Operation, token);
        };
        self.forget_names(frame.mark);
        self.block = frame.outer;
        if let Some(start) = frame.quoted {
            self.after_quoted_region(frame.op, frame.region, start, token)?;
            return Ok(false);
        }
        let more = match (self.program.role(frame.op), frame.region) {
            (OpRole::If, 0) => self.take_word("else"),
            (OpRole::While, 0) => {
                if !self.take_word("do") {
                    let token = self.peek();
                    return self.expected(Lexeme::Do, token);
                }
                true
            }
            (_, region) => {
                self.program.regions(frame.op).count() > region.saturating_add(1)
                    && self.peek().kind == Lexeme::Char(b'{')
            }
        };
        // `} {tt.flatten}`: MLIR prints attributes behind the last region.
        if !more
            && matches!(self.program.role(frame.op), OpRole::For | OpRole::If | OpRole::While)
            && self.peek().kind == Lexeme::Char(b'{')
        {
            self.dictionary(frame.op)?;
        }
        if more {
            let open = self.take(Lexeme::Char(b'{'))?;
            self.open_region(frame.op, frame.region.saturating_add(1), open)?;
            return Ok(false);
        }
        self.define_results(frame.op, token)?;
        Ok(frame.joined)
    }
    /// `^bb0(%x: T, ...):`
    fn label(&mut self) -> Result<(), IrError> {
        let token = self.next();
        let Some(frame) = self.frames.last().copied() else {
            return self.expected(Lexeme::Operation, token);
        };
        // A block that has not ended leads to no other.
        if frame.labels.is_some() {
            return Err(self.fail(ErrorKind::LabelForm, token));
        }
        let used = self.program.first(self.block).is_some()
            || self.program.arguments(self.block).next().is_some();
        if used {
            let region = self.program.regions(frame.op).nth(frame.region);
            let block =
                region.ok_or(ErrorKind::Broken).and_then(|region| self.program.push_block(region));
            self.block = self.put(block, token)?;
        }
        if self.take_if(Lexeme::Char(b'(')) {
            self.arguments()?;
        }
        self.take(Lexeme::Char(b':'))?;
        Ok(())
    }
    /// `%x: T {attributes}, ...)`: arguments of the present block.
    pub fn arguments(&mut self) -> Result<(), IrError> {
        if self.take_if(Lexeme::Char(b')')) {
            return Ok(());
        }
        loop {
            let token = self.take(Lexeme::ValueName)?;
            let name = self.tail_name(token)?;
            self.take(Lexeme::Char(b':'))?;
            let ty = self.parse_type()?;
            let value = self.program.push_argument(self.block, ty, name);
            let value = self.put(value, token)?;
            self.define(value, token)?;
            if self.peek().kind == Lexeme::Char(b'{') {
                self.value_dictionary(value)?;
            }
            if !self.take_if(Lexeme::Char(b',')) {
                self.take(Lexeme::Char(b')'))?;
                return Ok(());
            }
        }
    }

    // ---- names
    fn bucket(&self, name: &str) -> usize {
        chain_of(Digest::of(name), self.program.pools.layout_table.nodes.len())
    }
    fn head(&self, bucket: usize) -> Option<Value> {
        let head =
            self.program.pools.layout_table.nodes.get(bucket).map_or(NONE, |node| node.first);
        Value::at(usize::from(head))
    }
    fn set_head(&mut self, bucket: usize, value: Option<Value>) {
        if let Some(node) = self.program.pools.layout_table.nodes.get_mut(bucket) {
            node.first = value.map_or(NONE, |value| value.index() as u16);
        }
    }
    fn visible(&self, name: &str) -> Option<Value> {
        let chain = |value: &Value| self.program.value_data(*value)?.chain;
        core::iter::successors(self.head(self.bucket(name)), chain)
            .find(|value| self.program.value_name(*value) == name)
    }
    /// Makes a value visible under its name.
    pub fn define(&mut self, value: Value, token: Token) -> Result<(), IrError> {
        let name = self.program.value_name(value);
        if name.is_empty() {
            return Ok(());
        }
        if let Some(first) = self.visible(name) {
            let first = self.program.value_data(first).map_or(TextRef::EMPTY, |data| data.name);
            let line = self.program.place_of(first).line;
            return Err(self.fail(ErrorKind::Redefined { line }, token));
        }
        let bucket = self.bucket(name);
        let chain = self.head(bucket);
        let changed =
            self.program.pools.edit::<ValueData>(value.index(), |data| data.chain = chain);
        self.put(changed, token)?;
        self.set_head(bucket, Some(value));
        Ok(())
    }
    /// Makes an operation's results visible.
    pub fn define_results(&mut self, op: Op, token: Token) -> Result<(), IrError> {
        let mut at = self.program.result(op, 0);
        while let Some(value) = at {
            let name = self.program.value_data(value).and_then(|data| data.name.place());
            let token = match name {
                Some((start, len)) if len > 0 => {
                    let start = start as usize;
                    Token {
                        kind: Lexeme::ValueName,
                        start: start.saturating_sub(1),
                        end: start.saturating_add(usize::from(len)),
                    }
                }
                _ => token,
            };
            self.define(value, token)?;
            at = self.program.value_data(value).and_then(|data| data.next);
        }
        Ok(())
    }
    /// Takes the names of values made since a region was opened out of sight. They lie at the heads
    /// of their chains, but for names that a snippet leaves free.
    fn forget_names(&mut self, mark: usize) {
        let root = self.program.root();
        for index in (mark..self.program.pools.values.len()).rev() {
            let Some(value) = Value::at(index) else { continue };
            let Some(data) = self.program.value_data(value).copied() else { continue };
            let free = data.kind == ValueKind::Argument && usize::from(data.owner) == root.index();
            if data.name.is_empty() || free {
                continue;
            }
            let bucket = self.bucket(self.program.text(data.name));
            let mut before: Option<Value> = None;
            let mut at = self.head(bucket);
            while let Some(here) = at {
                if here == value {
                    match before {
                        None => self.set_head(bucket, data.chain),
                        Some(before) => {
                            let _ = self
                                .program
                                .pools
                                .edit::<ValueData>(before.index(), |at| at.chain = data.chain);
                        }
                    }
                    break;
                }
                before = at;
                at = self.program.value_data(here).and_then(|data| data.chain);
            }
        }
    }
    /// The value of a `%x` or `%x#n` whose first token was taken.
    pub fn value(&mut self, token: Token) -> Result<Value, IrError> {
        let name = self.lexer.tail(token);
        let base = match self.visible(name) {
            Some(value) => value,
            None if self.options.free_names => self.free_name(token)?,
            None => return Err(self.fail(ErrorKind::Undefined, token)),
        };
        if self.lexer.byte(self.lexer.at) != b'#' {
            return Ok(base);
        }
        self.lexer.at = self.lexer.at.saturating_add(1);
        let number = self.take(Lexeme::Integer)?;
        let wanted = crate::text::lexer::integer(self.lexer.slice(number))
            .and_then(|number| usize::try_from(number).ok());
        // Results that belong to a name: the one that has it and those after it without one.
        let group = core::iter::successors(Some(base), |value| {
            let next = self.program.value_data(*value)?.next?;
            self.program.value_name(next).is_empty().then_some(next)
        });
        let found = wanted.and_then(|wanted| group.clone().nth(wanted));
        found.ok_or_else(|| {
            let results = u16::try_from(group.count()).unwrap_or(u16::MAX);
            self.fail(ErrorKind::ResultNumber { results }, number)
        })
    }
    fn free_name(&mut self, token: Token) -> Result<Value, IrError> {
        let name = self.tail_name(token)?;
        let root = self.program.root();
        let value = self
            .program
            .intern(Type::ELIDED)
            .and_then(|ty| self.program.push_argument(root, ty, name));
        let value = self.put(value, token)?;
        self.define(value, token)?;
        Ok(value)
    }
    /// Names of the form `_7` are the printer's own, for values without a name: they are forgotten,
    /// so that a later print cannot use one twice. The links of the name table are forgotten too:
    /// copies use their place.
    fn strip_numbered(&mut self) {
        for index in 0..self.program.pools.values.len() {
            let _ = self.program.pools.edit::<ValueData>(index, |data| data.chain = None);
            let Some(value) = Value::at(index) else { continue };
            let [b'_', digits @ ..] = self.program.value_name(value).as_bytes() else { continue };
            if !digits.is_empty() && digits.iter().all(u8::is_ascii_digit) {
                let _ =
                    self.program.pools.edit::<ValueData>(index, |data| data.name = TextRef::EMPTY);
            }
        }
    }
}
