//! Operations in a text. The role chooses the syntax; names only choose the declaration.
use crate::attr::AttrValue;
use crate::attr_names;
use crate::data::UseKind;
use crate::error::{ErrorKind, IrError, Lexeme};
use crate::handle::{Op, TextRef, TypeRef, Value};
use crate::program::Def;
use crate::text::lexer::Token;
use crate::text::parse::{Parser, ShortList};
use crate::text::parse_type::Types;
use crate::types::{Type, TypeKind};
use lanebook_tables::{OpId, OpRole};

/// The least float, as it is written.
const MINUS_INF: &str = "-inf";

/// Names left of `=`: each stands for so many results.
pub(crate) type Names = ShortList<(TextRef, u16)>;

impl Parser<'_, '_, '_> {
    /// `%a, %r:2 = name ...` or `name ...`
    pub fn operation(&mut self) -> Result<(), IrError> {
        let mut names = Names::new();
        let start = self.peek().start;
        if self.peek().kind == Lexeme::ValueName {
            self.result_names(&mut names)?;
        }
        let token = self.peek();
        if token.kind == Lexeme::Str {
            return self.quoted(start, &names);
        }
        if token.kind != Lexeme::Word {
            return self.expected(Lexeme::Operation, token);
        }
        let decl = self.program.tables().op_named(self.lexer.slice(token));
        if decl.is_none() && !self.options.keep_unknown {
            return Err(self.unknown(self.lexer.slice(token), token));
        }
        let returns = decl.is_some() && decl == self.program.tables().op_of_role(OpRole::Return);
        if returns && self.labels().is_some() {
            return self.part_returns();
        }
        self.next();
        let (op, role) = self.begin(decl, token)?;
        match role {
            OpRole::Function => self.function(op, token),
            OpRole::For => {
                let induction = self.take(Lexeme::ValueName)?;
                self.take(Lexeme::Char(b'='))?;
                self.counted(op, induction, &names, token)
            }
            OpRole::Parallel => self.parallel(op, &names, token),
            OpRole::While => self.while_loop(op, &names, token),
            OpRole::If if self.leads_to_labels() => self.branch_to_labels(op, &names, token),
            _ => self.general(op, role, &names, token),
        }
    }
    pub(crate) fn result_names(&mut self, names: &mut Names) -> Result<(), IrError> {
        loop {
            let token = self.take(Lexeme::ValueName)?;
            let name = self.tail_name(token)?;
            let mut count = 1;
            if self.take_if(Lexeme::Char(b':')) {
                let number = self.take(Lexeme::Integer)?;
                let found = crate::text::lexer::integer(self.lexer.slice(number))
                    .and_then(|number| u16::try_from(number).ok());
                count = match found {
                    Some(found) if found > 0 => found,
                    _ => return Err(self.fail(ErrorKind::NumberTooLarge, number)),
                };
            }
            self.push(names, (name, count), token)?;
            if !self.take_if(Lexeme::Char(b',')) {
                self.take(Lexeme::Char(b'='))?;
                return Ok(());
            }
        }
    }
    pub(crate) fn begin(
        &mut self,
        decl: Option<OpId>,
        token: Token,
    ) -> Result<(Op, OpRole), IrError> {
        let name = self.name(token)?;
        let block = self.block;
        let op = self
            .program
            .new_op(decl, name)
            .and_then(|op| self.program.link(op, block, None).map(|()| op));
        let op = self.put(op, token)?;
        let regions = self.program.decl(op).map_or(0, |decl| decl.regions);
        for _ in 0..regions {
            let pushed = self.program.push_region(op);
            self.put(pushed, token)?;
        }
        Ok((op, self.program.role(op)))
    }
    /// Makes the results: as many as the names say; `types` has one for each, or one that is elided
    /// for all.
    fn results(
        &mut self,
        op: Op,
        names: &Names,
        types: &[TypeRef],
        token: Token,
    ) -> Result<(), IrError> {
        let named =
            names.iter().fold(0usize, |sum, (_, count)| sum.saturating_add(usize::from(*count)));
        let count = if names.is_empty() { types.len() } else { named };
        let elided = self.program.intern(Type::ELIDED);
        let elided = self.put(elided, token)?;
        let all_elided = types.is_empty() || types == [elided];
        // Tokens of what only orders are not written.
        let orders = matches!(self.program.role(op), OpRole::Wait | OpRole::Fence);
        // The halves of a tile are of one type, which other compilers write once.
        let alike = self.program.role(op) == OpRole::Split && types.len() == 1;
        // A load's token is not written.
        let waits = self.program.role(op) == OpRole::Load && types.len() == 1 && count == 2;
        if types.len() != count && !all_elided && !alike && !waits {
            let types = u16::try_from(types.len()).unwrap_or(u16::MAX);
            return Err(self.fail(
                ErrorKind::TypeCount { values: u16::try_from(count).unwrap_or(u16::MAX), types },
                token,
            ));
        }
        let mut next = names.iter().flat_map(|(name, count)| {
            core::iter::once(*name)
                .chain(core::iter::repeat_n(TextRef::EMPTY, usize::from(count.saturating_sub(1))))
        });
        for number in 0..count {
            let number = if alike { 0 } else { number };
            let mut ty =
                if all_elided { elided } else { types.get(number).copied().unwrap_or(elided) };
            if waits && number == 1 || orders && types.is_empty() {
                let waited = self.token(token)?;
                let waited = self.program.intern(waited);
                ty = self.put(waited, token)?;
            }
            let pushed = self.program.push_result(op, ty, next.next().unwrap_or(TextRef::EMPTY));
            self.put(pushed, token)?;
        }
        Ok(())
    }

    // ---- functions
    /// `func @name(%A: T {..}, ...) -> T attributes {..} {..} {`; the word is taken.
    fn function(&mut self, op: Op, token: Token) -> Result<(), IrError> {
        for word in ["public", "private"] {
            let at = self.peek();
            if self.take_word(word) {
                let pushed = self.name(at).and_then(|name| {
                    self.set(op, attr_names::VISIBILITY, AttrValue::Word(name), at)
                });
                pushed?;
            }
        }
        let symbol = self.take(Lexeme::Symbol)?;
        let name = self.tail_name(symbol)?;
        self.set(op, attr_names::SYM_NAME, AttrValue::Symbol(name), symbol)?;
        let outer = self.block;
        let open = self.take(Lexeme::Char(b'('))?;
        // The arguments belong to the body, which opens here.
        self.open_region(op, 0, open)?;
        let body = self.block;
        self.arguments()?;
        self.block = outer;
        if self.take_if(Lexeme::Arrow) {
            let start = self.peek();
            let mut list = ShortList::new();
            self.type_list(&mut list)?;
            let text =
                self.lexer.text.get(start.start..self.lexer.at).unwrap_or("").trim_ascii_end();
            let name = self.span(start.start, start.start.saturating_add(text.len()))?;
            self.set(op, attr_names::RESULTS, AttrValue::Text(name), start)?;
            for (number, ty) in (0i64..).zip(list) {
                let key = self.program.word(attr_names::RESULT_TYPE);
                let value = AttrValue::Int(number, Some(ty));
                let pushed = key.and_then(|key| self.program.push_attr(op, key, value));
                self.put(pushed, start)?;
            }
        }
        self.attributes_word(op)?;
        if self.at_dictionary(true) {
            self.dictionary(op)?;
        }
        self.take(Lexeme::Char(b'{'))?;
        self.block = body;
        let _ = token;
        Ok(())
    }
    /// An attribute that has words of its own: as one in a dictionary it is there once.
    pub(crate) fn set(
        &mut self,
        op: Op,
        key: &str,
        value: AttrValue,
        token: Token,
    ) -> Result<(), IrError> {
        if self.program.has_attr(op, key) {
            return Err(self.fail(ErrorKind::AttrTwice, token));
        }
        let done = self.program.word(key).and_then(|key| self.program.push_attr(op, key, value));
        self.put(done, token)
    }
    pub(crate) fn attributes_word(&mut self, op: Op) -> Result<(), IrError> {
        if self.take_word("attributes") { self.dictionary(op) } else { Ok(()) }
    }

    // ---- loops
    /// `LOWER to UPPER step STEP iter_args(%c = %z, ...) -> T : type attributes {..} {`; `%k =` is
    /// taken.
    pub(crate) fn counted(
        &mut self,
        op: Op,
        induction: Token,
        names: &Names,
        token: Token,
    ) -> Result<(), IrError> {
        self.operand(op)?;
        self.keyword(Lexeme::To, "to")?;
        self.operand(op)?;
        self.keyword(Lexeme::Step, "step")?;
        self.operand(op)?;
        let mut carried: ShortList<Token> = ShortList::new();
        let mut types: ShortList<TypeRef> = ShortList::new();
        if self.take_word("iter_args") {
            self.carried(op, &mut carried, &mut types)?;
        }
        if self.take_if(Lexeme::Arrow) {
            let at = self.peek();
            let mut written = ShortList::new();
            self.type_list(&mut written)?;
            self.replace_types(&mut types, &written, at)?;
        }
        let index = if self.take_if(Lexeme::Char(b':')) {
            self.parse_type()?
        } else {
            let index = self.program.intern(Type::INDEX);
            self.put(index, token)?
        };
        self.attributes_word(op)?;
        if self.at_dictionary(true) {
            self.dictionary(op)?;
        }
        self.loop_results(op, names, &types, token)?;
        let open = self.take(Lexeme::Char(b'{'))?;
        self.open_region(op, 0, open)?;
        self.loop_argument(induction, index)?;
        for (name, ty) in carried.iter().zip(&types) {
            self.loop_argument(*name, *ty)?;
        }
        Ok(())
    }
    /// `(%a = %init, ...) : (T) -> (T) attributes {..} {`
    fn while_loop(&mut self, op: Op, names: &Names, token: Token) -> Result<(), IrError> {
        let mut carried: ShortList<Token> = ShortList::new();
        let mut types: ShortList<TypeRef> = ShortList::new();
        if self.peek().kind == Lexeme::Char(b'(') {
            self.carried(op, &mut carried, &mut types)?;
        }
        let mut out = ShortList::new();
        if self.take_if(Lexeme::Char(b':')) {
            let at = self.peek();
            let mut written = Types::default();
            self.types(&mut written)?;
            self.replace_types(&mut types, &written.left, at)?;
            out = written.right;
        }
        self.attributes_word(op)?;
        self.loop_results(op, names, &out, token)?;
        let open = self.take(Lexeme::Char(b'{'))?;
        self.open_region(op, 0, open)?;
        for (name, ty) in carried.iter().zip(&types) {
            self.loop_argument(*name, *ty)?;
        }
        Ok(())
    }
    /// `(%c = %z, ...)`: pushes the initial values as operands.
    fn carried(
        &mut self,
        op: Op,
        names: &mut ShortList<Token>,
        types: &mut ShortList<TypeRef>,
    ) -> Result<(), IrError> {
        self.take(Lexeme::Char(b'('))?;
        if self.take_if(Lexeme::Char(b')')) {
            return Ok(());
        }
        loop {
            let name = self.take(Lexeme::ValueName)?;
            self.push(names, name, name)?;
            self.take(Lexeme::Char(b'='))?;
            let value = self.operand(op)?;
            if let Some(ty) = self.program.type_ref(value) {
                self.push(types, ty, name)?;
            }
            if !self.take_if(Lexeme::Char(b',')) {
                self.take(Lexeme::Char(b')'))?;
                return Ok(());
            }
        }
    }
    /// Written types take the place of the initial values' types; there must be as many, or one
    /// that is elided.
    fn replace_types(
        &mut self,
        types: &mut ShortList<TypeRef>,
        written: &[TypeRef],
        token: Token,
    ) -> Result<(), IrError> {
        if written.len() == types.len() {
            for (ty, written) in types.iter_mut().zip(written) {
                *ty = *written;
            }
            return Ok(());
        }
        if let [only] = written
            && self.program.type_at(*only).is_elided()
        {
            return Ok(());
        }
        let count = |list: &[TypeRef]| u16::try_from(list.len()).unwrap_or(u16::MAX);
        Err(self.fail(ErrorKind::TypeCount { values: count(types), types: count(written) }, token))
    }
    fn loop_results(
        &mut self,
        op: Op,
        names: &Names,
        types: &[TypeRef],
        token: Token,
    ) -> Result<(), IrError> {
        let named =
            names.iter().fold(0usize, |sum, (_, count)| sum.saturating_add(usize::from(*count)));
        if !names.is_empty() && named != types.len() {
            let most = u8::try_from(types.len()).unwrap_or(u8::MAX);
            let found = u16::try_from(named).unwrap_or(u16::MAX);
            return Err(self.fail(ErrorKind::ResultCount { least: most, most, found }, token));
        }
        self.results(op, names, types, token)
    }
    pub(crate) fn loop_argument(&mut self, token: Token, ty: TypeRef) -> Result<(), IrError> {
        let name = self.tail_name(token)?;
        let value = self.program.push_argument(self.block, ty, name);
        let value = self.put(value, token)?;
        self.define(value, token)
    }
    pub(crate) fn keyword(&mut self, want: Lexeme, word: &str) -> Result<(), IrError> {
        if self.take_word(word) {
            return Ok(());
        }
        let token = self.peek();
        self.expected(want, token)
    }

    /// An attribute whose key stands in the text: `mask`.
    pub(crate) fn flag(&mut self, op: Op, at: Token) -> Result<(), IrError> {
        self.next();
        if self.program.has_attr(op, self.lexer.slice(at)) {
            return Err(self.fail(ErrorKind::AttrTwice, at));
        }
        let key = self.name(at)?;
        let pushed = self.program.push_attr(op, key, AttrValue::Unit);
        self.put(pushed, at)
    }

    /// A name behind the operation's: `@callee`, `#map`, `"name"`.
    fn named(&mut self, op: Op, at: Token) -> Result<(), IrError> {
        self.next();
        let (key, value) = match at.kind {
            Lexeme::Symbol => (attr_names::CALLEE, AttrValue::Symbol(self.tail_name(at)?)),
            Lexeme::Alias => (attr_names::MAP, AttrValue::Alias(self.tail_name(at)?)),
            _ => {
                let name = self.span(at.start.saturating_add(1), at.end.saturating_sub(1))?;
                (attr_names::NAME, AttrValue::Str(name))
            }
        };
        self.set(op, key, value, at)
    }

    /// Opens an operation's first region; one that is not declared to have any gets it.
    fn first_region(&mut self, op: Op, declared: bool) -> Result<(), IrError> {
        let open = self.next();
        if !declared {
            let pushed = self.program.push_region(op);
            self.put(pushed, open)?;
        }
        self.open_region(op, 0, open).map(|_| ())
    }

    // ---- everything else
    /// Operands, attributes, types and maybe a region, in this order; the name is taken.
    fn general(
        &mut self,
        op: Op,
        role: OpRole,
        names: &Names,
        token: Token,
    ) -> Result<(), IrError> {
        let regions = self.program.regions(op).next().is_some();
        // A reduction or a scan may say in a region how it combines.
        let unknown = self.program.decl_id(op).is_none() || role.combines();
        self.leading_words(op, role, token)?;
        let mut types = Types::default();
        let mut typed = false;
        loop {
            let at = self.peek();
            let literal_word = role == OpRole::Constant
                && (self.number_word(at).is_some() || self.lexer.slice(at) == "dense")
                && self.program.operand(op, 0).is_none();
            match at.kind {
                Lexeme::ValueName | Lexeme::Integer | Lexeme::Number
                    if !typed && self.starts_operand(at) =>
                {
                    self.operand_list(op, 0)?
                }
                Lexeme::Char(b'(') if !typed => {
                    self.next();
                    self.operand_list(op, b')')?;
                }
                // The symbols of a map, behind its dimensions.
                Lexeme::Char(b'[')
                    if !typed && self.program.attr(op, attr_names::MAP).is_some() =>
                {
                    self.next();
                    self.operand_list(op, b']')?;
                }
                _ if literal_word => self.literal_word(op, at)?,
                _ if self.fills_with(op, at).is_some() => self.operand_list(op, 0)?,
                Lexeme::Word if !typed && self.names_operand(op, at) => {
                    self.next();
                    self.push_value(op, UseKind::Main)?;
                }
                Lexeme::Word if !typed && self.lexer.slice(at) == attr_names::MASK => {
                    self.flag(op, at)?;
                    if self.program.decl_id(op).is_none() {
                        self.behind_word(op)?;
                    }
                }
                Lexeme::Word if self.lexer.slice(at) == "attributes" => self.attributes_word(op)?,
                Lexeme::Word
                    if !typed && self.lexer.byte(at.end) == b'<' && role == OpRole::Index =>
                {
                    let map = self.map_text(at)?;
                    self.set(op, attr_names::MAP, AttrValue::Text(map), at)?;
                }
                Lexeme::Symbol | Lexeme::Alias | Lexeme::Str if !typed => self.named(op, at)?,
                Lexeme::Char(b':') if !typed => {
                    self.next();
                    self.types(&mut types)?;
                    typed = true;
                }
                Lexeme::Arrow if !typed => {
                    self.next();
                    types.arrow = true;
                    self.type_list(&mut types.right)?;
                    typed = true;
                }
                // `%a, %b, precision = tf32`
                Lexeme::Char(b',') if !typed && self.pair_after_comma() => {
                    self.next();
                    self.pair(op)?;
                }
                Lexeme::Word if typed && !types.arrow && self.lexer.slice(at) == "to" => {
                    self.next();
                    types.arrow = true;
                    self.type_list(&mut types.right)?;
                }
                Lexeme::Char(b'{') if self.at_dictionary(regions || unknown) => {
                    self.dictionary(op)?
                }
                Lexeme::Char(b'{') if regions || unknown => {
                    self.finish(op, names, &types, token)?;
                    return self.first_region(op, regions);
                }
                _ if !typed && self.foreign(op, role, at)? => {}
                _ => break,
            }
        }
        if regions {
            let at = self.peek();
            return self.expected(Lexeme::Char(b'{'), at);
        }
        self.finish(op, names, &types, token)?;
        self.define_results(op, token)
    }
    /// A `%x` after the operands may already be the next operation's result: `fence` and then `%y =
    /// ...`.
    fn starts_operand(&self, token: Token) -> bool {
        if token.kind != Lexeme::ValueName {
            return true;
        }
        let mut ahead = self.lexer;
        loop {
            ahead.next();
            let mut token = ahead.next();
            if token.kind == Lexeme::Char(b':') {
                let number = ahead.next();
                if number.kind != Lexeme::Integer {
                    return true;
                }
                token = ahead.next();
            }
            match token.kind {
                Lexeme::Char(b'=') => return false,
                Lexeme::Char(b',') if ahead.peek().kind == Lexeme::ValueName => {}
                _ => return true,
            }
        }
    }
    fn literal_word(&mut self, op: Op, token: Token) -> Result<(), IrError> {
        if let Some(word) = self.number_word(token) {
            return self.word_operand(op, word).map(|_| ());
        }
        self.next();
        self.take(Lexeme::Char(b'<'))?;
        let inner = self.peek();
        match self.number_word(inner) {
            Some(word) => self.word_operand(op, word)?,
            None => self.operand(op)?,
        };
        self.take(Lexeme::Char(b'>'))?;
        Ok(())
    }
    /// `inf`, `-inf`, `nan`, `true` or `false`, at their beginning.
    fn number_word(&self, token: Token) -> Option<Token> {
        let word = token.kind == Lexeme::Word
            && matches!(self.lexer.slice(token), "true" | "false" | "inf" | "nan");
        if word { Some(token) } else { self.minus_inf(token) }
    }
    /// The word that a buffer is filled with.
    fn fills_with(&self, op: Op, token: Token) -> Option<Token> {
        let is_first = self.program.operand(op, 0).is_none();
        let fills = is_first && self.program.role(op) == OpRole::Fill;
        self.number_word(token).filter(|_| fills)
    }
    /// `-inf`, at its sign.
    pub(crate) fn minus_inf(&self, sign: Token) -> Option<Token> {
        let end = sign.start.saturating_add(MINUS_INF.len());
        let word = Token { kind: Lexeme::Word, start: sign.start, end };
        let ends =
            !matches!(self.lexer.byte(end), b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'.');
        (self.lexer.slice(word) == MINUS_INF && ends).then_some(word)
    }
    /// A word as an operand; it comes next.
    fn word_operand(&mut self, op: Op, token: Token) -> Result<Value, IrError> {
        self.lexer.at = token.end;
        let literal = self.literal(token)?;
        let value = self.program.literal_value(literal);
        let value = self.put(value, token)?;
        let pushed = self.program.push_operand(op, value, UseKind::Main);
        self.put(pushed, token).map(|_| value)
    }
    /// `affine_map<(d0) -> (d0 * 4)>`: up to its closing bracket.
    pub(crate) fn map_text(&mut self, token: Token) -> Result<TextRef, IrError> {
        let mut end = token.end.saturating_add(1);
        end = match self.lexer.balanced(end, b"") {
            Some(end) if self.lexer.byte(end) == b'>' => end.saturating_add(1),
            _ => return Err(self.fail(ErrorKind::Unclosed, token)),
        };
        self.lexer.at = end;
        self.span(token.start, end)
    }
    /// Operands separated by commas; with a closing bracket that must follow when `close` is one.
    pub fn operand_list(&mut self, op: Op, close: u8) -> Result<(), IrError> {
        if close != 0 && self.take_if(Lexeme::Char(close)) {
            return Ok(());
        }
        // `%a scale %s`: scales come behind the other operands.
        let mut scales: ShortList<Token> = ShortList::new();
        loop {
            // `[%M, %K]`: a list among the operands, as other systems write it.
            let inside = self.options.keep_unknown || self.program.operand_count(op) > 0;
            if inside && self.take_if(Lexeme::Char(b'[')) {
                while !self.take_if(Lexeme::Char(b']')) {
                    self.operand(op)?;
                    if !self.take_if(Lexeme::Char(b',')) {
                        self.take(Lexeme::Char(b']'))?;
                        break;
                    }
                }
            } else {
                self.operand(op)?;
            }
            if close == 0 && self.program.role(op) == OpRole::Matrix && self.take_word("scale") {
                let token = self.take(Lexeme::ValueName)?;
                self.push(&mut scales, token, token)?;
            }
            if self.peek().kind == Lexeme::Char(b',') && (close != 0 || !self.pair_after_comma()) {
                self.next();
                continue;
            }
            if close != 0 {
                self.take(Lexeme::Char(close))?;
            }
            for token in &scales {
                let token = *token;
                let value = self.value(token)?;
                let pushed = self.program.push_operand(op, value, UseKind::Main);
                self.put(pushed, token)?;
            }
            return Ok(());
        }
    }
    /// The condition of a branch.
    pub(crate) fn condition(&mut self, op: Op) -> Result<(), IrError> {
        self.operand(op).map(|_| ())
    }
    /// `%x`, `%x#1`, `%x[%i, 0]` or a number; becomes a main operand.
    fn operand(&mut self, op: Op) -> Result<Value, IrError> {
        let first = self.peek();
        if let Some(word) = self.fills_with(op, first) {
            return self.word_operand(op, word);
        }
        let value = self.push_value(op, UseKind::Main)?;
        // Of what is put together of others they are tiles, which stand beside the first one.
        let is_composed = self.program.role(op) == OpRole::Opaque
            && self.program.decl(op).is_some_and(|decl| decl.pure);
        let kind = if is_composed { UseKind::Main } else { UseKind::Subscript };
        if self.lexer.byte(self.lexer.at) == b'[' {
            self.next();
            if !self.take_if(Lexeme::Char(b']')) {
                loop {
                    self.push_value(op, kind)?;
                    if !self.take_if(Lexeme::Char(b',')) {
                        self.take(Lexeme::Char(b']'))?;
                        break;
                    }
                }
            }
        }
        Ok(value)
    }
    /// A value or a number that comes next.
    pub(crate) fn value_here(&mut self) -> Result<Value, IrError> {
        let token = self.peek();
        match token.kind {
            Lexeme::ValueName => {
                self.next();
                self.value(token)
            }
            Lexeme::Integer | Lexeme::Number => {
                self.next();
                let literal = self.literal(token)?;
                let value = self.program.literal_value(literal);
                self.put(value, token)
            }
            _ => self.expected(Lexeme::Operand, token),
        }
    }
    pub(crate) fn push_value(&mut self, op: Op, kind: UseKind) -> Result<Value, IrError> {
        let token = self.peek();
        let value = self.value_here()?;
        let pushed = self.program.push_operand(op, value, kind);
        self.put(pushed, token)?;
        Ok(value)
    }
    /// Results and operand types, once the types are known.
    pub(crate) fn finish(
        &mut self,
        op: Op,
        names: &Names,
        types: &Types,
        token: Token,
    ) -> Result<(), IrError> {
        let mut implied = Types::default();
        let types =
            if self.implied(op, names, types, &mut implied, token)? { &implied } else { types };
        let least = usize::from(self.program.decl(op).map_or(0, |decl| decl.results.0));
        let named =
            names.iter().fold(0usize, |sum, (_, count)| sum.saturating_add(usize::from(*count)));
        let count = match (names.is_empty(), types.arrow) {
            (false, _) => named,
            (true, true) => {
                let most = usize::from(self.program.decl(op).map_or(0, |decl| decl.results.1));
                // Without a name, the types after an arrow are results only when there must be
                // some, or when the operation's operands are all typed before it.
                let full =
                    types.left.len() == self.program.operand_count(op) && most >= types.right.len();
                if least > 0 || full { types.right.len() } else { 0 }
            }
            (true, false) => least,
        };
        if count == 0 {
            self.operand_types(op, types.left.iter().chain(&types.right).copied(), token)?;
            return Ok(());
        }
        let mut results: &[TypeRef] = if types.arrow { &types.right } else { &types.left };
        // Of another system's operation the last types are the results'.
        if self.program.decl_id(op).is_none() && !types.arrow {
            let operands = results.len().saturating_sub(count);
            results = results.get(operands..).unwrap_or(results);
            // One that works on memory in place has a token for a result.
            let memory = |ty: &TypeRef| self.program.type_at(*ty).kind == TypeKind::Memref;
            if self.program.operand_count(op) > count && results.iter().all(memory) {
                results = &[];
            }
        }
        if names.is_empty() && results.len() != count {
            // Nothing names the results: as many as the declaration asks for, types left out.
            let elided = self.program.intern(Type::ELIDED);
            let elided = self.put(elided, token)?;
            let mut list: ShortList<TypeRef> = ShortList::new();
            for _ in 0..count {
                self.push(&mut list, elided, token)?;
            }
            self.results(op, names, &list, token)?;
        } else {
            self.results(op, names, results, token)?;
        }
        if types.arrow {
            self.operand_types(op, types.left.iter().copied(), token)?;
        }
        Ok(())
    }
    /// Compares written operand types with the operands' types; a name that a snippet leaves free
    /// learns its type here.
    fn operand_types(
        &mut self,
        op: Op,
        types: impl Iterator<Item = TypeRef> + Clone,
        token: Token,
    ) -> Result<(), IrError> {
        let (values, written) = (self.program.operand_count(op), types.clone().count());
        // What another system's operation types, and in which order, is its own.
        let opaque = self.program.decl_id(op).is_none();
        if opaque && written != values {
            return Ok(());
        }
        if written > values
            && !(written == 1 && types.clone().all(|ty| self.program.type_at(ty).is_elided()))
        {
            let count = |number: usize| u16::try_from(number).unwrap_or(u16::MAX);
            return Err(self.fail(
                ErrorKind::TypeCount { values: count(values), types: count(written) },
                token,
            ));
        }
        // Other compilers do not write the type of a condition.
        let first = usize::from(
            self.program.role(op) == OpRole::Condition && written.saturating_add(1) == values,
        );
        // A product in place writes the types of barriers behind those of its tiles, and none of
        // truth values.
        let typed = match self.program.role(op) {
            OpRole::Matrix if self.options.keep_unknown => 3,
            _ => usize::MAX,
        };
        for (number, ty) in types.enumerate().take(typed) {
            let number = number.saturating_add(first);
            let (Some(value), ty) = (self.program.operand(op, number), self.program.type_at(ty))
            else {
                continue;
            };
            let actual = self.program.type_of(value);
            let free = matches!(self.program.def(value), Def::Argument(block, _) if block == self.program.root());
            if actual.is_elided() && free && !ty.is_elided() {
                let learned = self.program.set_type(value, ty);
                self.put(learned, token)?;
                continue;
            }
            let elided = actual.is_elided() || ty.is_elided();
            let agrees = opaque
                || self.is_short_for(&actual, &ty)
                || actual.agrees(&ty) && (elided || self.program.encodings_agree(&actual, &ty));
            if agrees {
                continue;
            }
            let read = self.program.spellings_agree(&actual, &ty);
            if !actual.agrees(&ty) || !self.put(read, token)? {
                return Err(self.fail(
                    ErrorKind::WrittenType { operand: u16::try_from(number).unwrap_or(u16::MAX) },
                    token,
                ));
            }
        }
        Ok(())
    }
}
