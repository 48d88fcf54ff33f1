//! What other systems' texts add to the general form: words before the operands, quoted names with
//! regions before the types, types that stand for operands and results at once.
use crate::attr::AttrValue;
use crate::attr_names;
use crate::data::UseKind;
use crate::error::{ErrorKind, IrError, Lexeme};
use crate::handle::{Op, TextRef};
use crate::text::lexer::Token;
use crate::text::parse::{Parser, ShortList};
use crate::text::parse_op::Names;
use crate::text::parse_type::Types;
use crate::types::{TileEncoding, Type, TypeKind};
use lanebook_tables::{DtypeId, DtypeKind, OpRole};

impl Parser<'_, '_, '_> {
    /// `name slt, %a, %b` or `name x : T`: words on the line of the name, kept as attribute
    /// `prefix`.
    pub(crate) fn leading_words(
        &mut self,
        op: Op,
        role: OpRole,
        token: Token,
    ) -> Result<(), IrError> {
        let kept = self.program.decl_id(op).is_none() || {
            let all = [OpRole::Index, OpRole::Elementwise, OpRole::Atomic, OpRole::Fence];
            all.contains(&role)
        };
        let first = self.peek();
        let same_line = |from: usize, to: usize| {
            self.lexer
                .text
                .get(from..to)
                .is_some_and(|between| between.bytes().all(|byte| byte != b'\n'))
        };
        if !kept
            || first.kind != Lexeme::Word
            || !same_line(token.end, first.start)
            || matches!(self.lexer.slice(first), "attributes" | attr_names::MASK)
        {
            return Ok(());
        }
        if matches!(self.lexer.byte(first.end), b'<' | b'(') {
            return Ok(());
        }
        let mut last = self.next();
        while self.peek().kind == Lexeme::Char(b',') {
            let word = self.word_after_comma();
            self.next();
            if !word {
                break;
            }
            last = self.take(Lexeme::Word)?;
        }
        let text = self.span(first.start, last.end)?;
        let done = self
            .program
            .word(attr_names::PREFIX)
            .and_then(|key| self.program.push_attr(op, key, AttrValue::Text(text)));
        self.put(done, first)
    }
    /// Whether a word follows the comma that comes next.
    pub(crate) fn word_after_comma(&mut self) -> bool {
        let mut ahead = self.lexer;
        ahead.next();
        ahead.next().kind == Lexeme::Word
    }
    /// Whether `word =` follows the comma that comes next.
    pub(crate) fn pair_after_comma(&mut self) -> bool {
        let mut ahead = self.lexer;
        ahead.next();
        ahead.next().kind == Lexeme::Word && ahead.next().kind == Lexeme::Char(b'=')
    }
    /// Whether `word =` comes next.
    pub(crate) fn pair_here(&mut self) -> bool {
        let mut ahead = self.lexer;
        ahead.next().kind == Lexeme::Word && ahead.next().kind == Lexeme::Char(b'=')
    }
    /// `key = value` outside of a dictionary.
    pub(crate) fn pair(&mut self, op: Op) -> Result<(), IrError> {
        let token = self.take(Lexeme::Word)?;
        let key = self.name(token)?;
        if self.program.has_attr(op, self.program.text(key)) {
            return Err(self.fail(ErrorKind::AttrTwice, token));
        }
        self.take(Lexeme::Char(b'='))?;
        let value = if self.types_behind_number() {
            // `maxNumImpreciseAcc = 1073741824 : tensor<..>`: the types are the operation's.
            let number = self.next();
            self.number_value(number, None, false)?
        } else {
            self.op_attr_value(op, key)?
        };
        let done = self.program.push_attr(op, key, value);
        self.put(done, token)
    }
    /// Whether a number comes next, and behind it types that are no number's.
    fn types_behind_number(&self) -> bool {
        let mut ahead = self.lexer;
        let number = matches!(ahead.next().kind, Lexeme::Integer | Lexeme::Number);
        let typed = ahead.next().kind == Lexeme::Char(b':');
        let ty = ahead.next();
        let is_long = ty.kind == Lexeme::Word && ahead.byte(ty.end) == b'<';
        number && typed && (is_long || matches!(ty.kind, Lexeme::Char(b'!' | b'(')))
    }
    /// What another system writes between an operation's operands and its types; whether that
    /// stands here.
    pub(crate) fn foreign(&mut self, op: Op, role: OpRole, at: Token) -> Result<bool, IrError> {
        let opaque = self.program.decl_id(op).is_none();
        let reads = opaque || role == OpRole::Matrix || role.combines();
        match at.kind {
            // `rhs = e4m3, %barrier[%true]`
            Lexeme::Char(b',') if opaque => {
                self.next();
                self.operand_list(op, 0)?;
            }
            // `lhs = e4m3 rhs = e4m3`, `cacheModifier = cg`
            Lexeme::Word if (reads || self.is_behind(at)) && self.pair_here() => self.pair(op)?,
            // `fastmath<fast>`
            Lexeme::Word if self.is_behind(at) && self.lexer.byte(at.end) == b'<' => {
                self.next();
                let value = self.map_text(at)?;
                self.set(op, self.lexer.slice(at), AttrValue::Text(value), at)?;
            }
            // `%h allow_reorder : T -> T`: a word of another system, kept as an attribute.
            Lexeme::Word if self.is_behind(at) && self.trails() => {
                self.flag(op, at)?;
                self.behind_word(op)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
    /// Whether a word says which operand comes behind it: `mask %m`, `other %o`, `scale %s`.
    pub(crate) fn names_operand(&self, op: Op, at: Token) -> bool {
        let is_one = ["mask", "other", "scale"].contains(&self.lexer.slice(at));
        let mut ahead = self.lexer;
        ahead.next();
        let value = ahead.next();
        let between = self.lexer.text.get(at.end..value.start).unwrap_or("\n");
        is_one
            && self.program.decl_id(op).is_some()
            && self.program.operand(op, 0).is_some()
            && value.kind == Lexeme::ValueName
            && !between.contains('\n')
    }
    /// The error at an operation that is not declared.
    pub(crate) fn unknown(&self, name: &str, token: Token) -> IrError {
        let is_by_hand = self.program.tables().seeding.by_hand.contains(&name);
        self.fail(if is_by_hand { ErrorKind::LoweredOp } else { ErrorKind::UnknownOp }, token)
    }
    /// Whether a word stands behind operands, on their line, and is no operation's name.
    fn is_behind(&self, at: Token) -> bool {
        let before = self.lexer.text.get(..at.start).unwrap_or("").trim_end_matches([' ', '\t']);
        let word = self.lexer.slice(at);
        !before.ends_with('\n')
            && (self.options.keep_unknown || self.program.tables().op_named(word).is_none())
    }
    /// Whether what stands behind a word that comes next goes on with its operation.
    fn trails(&self) -> bool {
        let mut ahead = self.lexer;
        ahead.next();
        matches!(ahead.peek().kind, Lexeme::Word | Lexeme::ValueName | Lexeme::Char(b':'))
    }

    /// `other %x`, `token %t`: values behind a word. Of an operation that is not declared they are
    /// operands like others; else tokens, which stand among the subscripts.
    pub(crate) fn behind_word(&mut self, op: Op) -> Result<(), IrError> {
        if self.peek().kind != Lexeme::ValueName {
            return Ok(());
        }
        if self.program.decl_id(op).is_none() {
            return self.operand_list(op, 0);
        }
        let at = self.peek();
        let value = self.push_value(op, UseKind::Subscript)?;
        if self.program.type_of(value).is_elided() {
            let token = self.token(at)?;
            let learned = self.program.set_type(value, token);
            self.put(learned, at)?;
        }
        Ok(())
    }

    /// `"name"(%a, ...) <{..}> ({ region }, { region }) {..} : (T) -> T`; results were read, the
    /// text begins at `start`.
    pub(crate) fn quoted(&mut self, start: usize, names: &Names) -> Result<(), IrError> {
        let token = self.next();
        let name = self.span(token.start.saturating_add(1), token.end.saturating_sub(1))?;
        let text = self.program.text(name);
        let decl = self.program.tables().op_named(text);
        if decl.is_none() && !self.options.keep_unknown {
            return Err(self.unknown(text, token));
        }
        let inner = Token {
            kind: Lexeme::Word,
            start: token.start.saturating_add(1),
            end: token.end.saturating_sub(1),
        };
        let (op, _) = self.begin(decl, inner)?;
        self.take(Lexeme::Char(b'('))?;
        self.operand_list(op, b')')?;
        if self.take_if(Lexeme::Char(b'<')) {
            self.dictionary(op)?;
            self.take(Lexeme::Char(b'>'))?;
        }
        if self.take_if(Lexeme::Char(b'(')) {
            return self.quoted_region(op, 0, start);
        }
        self.after_quoted(op, names, token)
    }
    fn quoted_region(&mut self, op: Op, region: usize, start: usize) -> Result<(), IrError> {
        let open = self.take(Lexeme::Char(b'{'))?;
        if self.program.entry(op, region).is_none() {
            let pushed = self.program.push_region(op);
            self.put(pushed, open)?;
        }
        self.open_region_of(op, region, open, Some(start)).map(|_| ())
    }
    /// Behind the `}` of a region of a quoted operation: another region, or the rest.
    pub(crate) fn after_quoted_region(
        &mut self,
        op: Op,
        region: usize,
        start: usize,
        token: Token,
    ) -> Result<(), IrError> {
        if self.take_if(Lexeme::Char(b',')) {
            return self.quoted_region(op, region.saturating_add(1), start);
        }
        self.take(Lexeme::Char(b')'))?;
        // The names left of `=` are read once more: nothing keeps them while the regions are read.
        let (mut names, here) = (Names::new(), self.lexer.at);
        self.lexer.at = start;
        if self.peek().kind == Lexeme::ValueName {
            self.result_names(&mut names)?;
        }
        self.lexer.at = here;
        self.after_quoted(op, &names, token)
    }
    fn after_quoted(&mut self, op: Op, names: &Names, token: Token) -> Result<(), IrError> {
        if self.peek().kind == Lexeme::Char(b'{') {
            self.dictionary(op)?;
        }
        let mut types = Types::default();
        if self.take_if(Lexeme::Char(b':')) {
            self.types(&mut types)?;
        }
        self.finish(op, names, &types, token)?;
        self.define_results(op, token)
    }
    /// Types that are written once and stand for more: of a comparison (its operands'), of a load
    /// through pointers (the pointers'), of a selection (condition and values), and lists of
    /// operand types where the first is the result's too.
    pub(crate) fn implied(
        &mut self,
        op: Op,
        names: &Names,
        types: &Types,
        out: &mut Types,
        token: Token,
    ) -> Result<bool, IrError> {
        let named =
            names.iter().fold(0usize, |sum, (_, count)| sum.saturating_add(usize::from(*count)));
        if types.arrow && self.program.role(op) == OpRole::Store {
            return self.stored_types(op, (types, named), out, token);
        }
        if self.program.role(op) == OpRole::Opaque && !types.arrow && named == 1 {
            return self.described_tensor(op, types, out, token);
        }
        if types.arrow && types.left.len() == 4 && self.program.scales(op).is_some() {
            // `T, S * T, S -> T`: each operand's scales are typed beside it.
            for ty in types.left.iter().step_by(2) {
                self.push(&mut out.left, *ty, token)?;
            }
            for ty in &types.right {
                self.push(&mut out.right, *ty, token)?;
            }
            out.arrow = true;
            return Ok(true);
        }
        if self.program.role(op) == OpRole::ElementLoad && !types.arrow {
            return self.element_types(op, types, out, token);
        }
        let in_place = matches!(self.program.role(op), OpRole::ElementStore | OpRole::Fill);
        if in_place && !types.arrow {
            return self.place_types(op, types, out, token);
        }
        if types.arrow || named != 1 {
            return Ok(false);
        }
        let (role, operands) = (self.program.role(op), self.program.operand_count(op));
        let (first, written) = (types.left.first().copied(), types.left.len());
        let Some(first) = first else { return Ok(false) };
        let ty = self.program.type_at(first);
        let result = match role {
            OpRole::Index | OpRole::Elementwise
                if written == 1
                    && operands > 0
                    && self.program.has_attr(op, attr_names::PREFIX) =>
            {
                let truth = self.program.tables().dtype_of(DtypeKind::Bits, 1);
                let Some(bit) = truth else { return Ok(false) };
                if ty.is_tile() {
                    Type { dtype: Some(bit), element: TextRef::EMPTY, ..ty }
                } else {
                    Type::scalar(bit)
                }
            }
            OpRole::Load if written == 1 && ty.is_kept() => match self.pointee(ty.element)? {
                Some((dtype, element)) => Type { dtype, element, ..ty },
                None => return Ok(false),
            },
            OpRole::Load if written == 1 && ty.kind == TypeKind::Other => {
                match self.pointed(ty.encoding) {
                    Some(pointed) => pointed,
                    None => return Ok(false),
                }
            }
            OpRole::Select if written == 2 => {
                let pushed = (
                    out.left.push(first).is_ok(),
                    out.right.push(types.left.get(1).copied().unwrap_or(first)).is_ok(),
                );
                let _ = pushed;
                out.arrow = true;
                return Ok(true);
            }
            OpRole::Index | OpRole::Opaque if written == operands && written > 1 => ty,
            // Of one that adds to its third operand in place the types of the three are written;
            // the result is a token.
            OpRole::Matrix if written == 3 && operands >= 3 => self.token(token)?,
            _ => return Ok(false),
        };
        let mut left: ShortList<_> = ShortList::new();
        for ty in &types.left {
            self.push(&mut left, *ty, token)?;
        }
        out.left = left;
        self.gives(out, result, token)
    }
    /// Lets an operation's result have a type that is not written.
    fn gives(&mut self, out: &mut Types, result: Type, token: Token) -> Result<bool, IrError> {
        let result = self.program.intern(result);
        let result = self.put(result, token)?;
        self.push(&mut out.right, result, token)?;
        out.arrow = true;
        Ok(true)
    }
    /// Of a store whose types stand around an arrow: those of what it stores and where, then its
    /// result is a token; or of one pointer, before that of what is stored through it.
    fn stored_types(
        &mut self,
        op: Op,
        (types, named): (&Types, usize),
        out: &mut Types,
        token: Token,
    ) -> Result<bool, IrError> {
        let place = types.right.first().is_some_and(|ty| self.program.type_at(*ty).is_memory());
        if named == 1 && place {
            for ty in types.left.iter().chain(&types.right) {
                self.push(&mut out.left, *ty, token)?;
            }
            let result = self.token(token)?;
            return self.gives(out, result, token);
        }
        let pointer = self.program.operand(op, 1).map(|value| self.program.type_of(value).kind);
        if named != 0 || place || pointer != Some(TypeKind::Other) {
            return Ok(false);
        }
        // Other compilers write the pointer's in front.
        let is_turned = types.left.first().is_some_and(|ty| !self.program.type_at(*ty).is_tile());
        let (first, second) = match is_turned {
            true => (&types.right, &types.left),
            false => (&types.left, &types.right),
        };
        for ty in first.iter().chain(second) {
            self.push(&mut out.left, *ty, token)?;
        }
        Ok(true)
    }
    /// `%d = .. %p, [%m, %n], [%s, %t] : <f16>, <128x64xf16>`: the last type is the result's, and
    /// none is an operand's.
    fn described_tensor(
        &mut self,
        op: Op,
        types: &Types,
        out: &mut Types,
        token: Token,
    ) -> Result<bool, IrError> {
        let Some(tensor) = types.left.last().filter(|_| self.program.decl_id(op).is_some()) else {
            return Ok(false);
        };
        self.push(&mut out.right, *tensor, token)?;
        out.arrow = true;
        Ok(true)
    }
    /// Whether a type is another one without the word in front, as MLIR leaves it out.
    pub(crate) fn is_short_for(&self, short: &Type, whole: &Type) -> bool {
        let text = |ty: &Type| match ty.encoding {
            TileEncoding::Written(text) if ty.kind == TypeKind::Other => self.program.text(text),
            _ => "",
        };
        let (short, whole) = (text(short), text(whole));
        short.starts_with('<')
            && whole.strip_suffix(short).is_some_and(|word| word == "!tt.tensordesc")
    }
    /// Of what is stored into a place: the place's type alone, as of what an element is taken from.
    fn place_types(
        &mut self,
        op: Op,
        types: &Types,
        out: &mut Types,
        token: Token,
    ) -> Result<bool, IrError> {
        let value = self.program.operand(op, 0).and_then(|value| self.program.type_ref(value));
        let ([place], Some(value)) = (types.left.as_slice(), value) else { return Ok(false) };
        if !self.program.type_at(*place).is_tile() {
            return Ok(false);
        }
        self.push(&mut out.left, value, token)?;
        self.push(&mut out.left, *place, token)?;
        Ok(true)
    }
    /// Of an element that is loaded: the type of the place, the element's, or none.
    fn element_types(
        &mut self,
        op: Op,
        types: &Types,
        out: &mut Types,
        token: Token,
    ) -> Result<bool, IrError> {
        let place = self.program.operand(op, 0).map(|value| self.program.type_of(value));
        let written = types.left.first().map(|ty| self.program.type_at(*ty));
        if written.is_some_and(|ty| !ty.is_tile()) || types.left.len() > 1 {
            return Ok(false);
        }
        for ty in &types.left {
            self.push(&mut out.left, *ty, token)?;
        }
        let of = written.or(place).filter(Type::is_tile);
        let result = match of {
            Some(Type { dtype: Some(dtype), .. }) => Type::scalar(dtype),
            Some(ty) if ty.element.is_empty() && ty.shape.is_known() => Type::INDEX,
            _ => Type::ELIDED,
        };
        self.gives(out, result, token)
    }
    /// The type of tokens, which other compilers do not always write.
    pub(crate) fn token(&self, at: Token) -> Result<Type, IrError> {
        let token = self.program.word(attr_names::TOKEN).map_err(|kind| self.fail(kind, at))?;
        Ok(Type::bare(TypeKind::Other).encoded(TileEncoding::Written(token)))
    }
    /// The type that one pointer, `!word<f16, ...>` or `!word<tensor<64x32xf16>>`, points to, if it
    /// says it.
    fn pointed(&mut self, pointer: TileEncoding) -> Option<Type> {
        let TileEncoding::Written(pointer) = pointer else { return None };
        let (start, _) = pointer.place()?;
        let open = self.program.text(pointer).bytes().position(|byte| byte == b'<')?;
        let before = self.lexer;
        self.lexer.at = (start as usize).saturating_add(open).saturating_add(1);
        let pointed = self.parse_type();
        self.lexer = before;
        pointed.ok().map(|ty| self.program.type_at(ty))
    }
    /// The element type that `!word<f16, ...>` points to.
    fn pointee(&self, element: TextRef) -> Result<Option<(Option<DtypeId>, TextRef)>, IrError> {
        let text = self.program.text(element);
        let inner = text.bytes().position(|byte| byte == b'<').and_then(|open| {
            let rest = text.get(open.saturating_add(1)..)?;
            // A pointer to pointers has brackets of its own.
            let mut depth = 0u32;
            let end = rest.bytes().position(|byte| {
                let ends = depth == 0 && matches!(byte, b',' | b'>');
                depth = match byte {
                    b'<' => depth.saturating_add(1),
                    b'>' => depth.saturating_sub(1),
                    _ => depth,
                };
                ends
            })?;
            Some((open.saturating_add(1), rest.get(..end)?))
        });
        let (Some((skip, inner)), Some((start, _))) = (inner, element.place()) else {
            return Ok(None);
        };
        if let Some(dtype) = self.dtype_named(inner) {
            return Ok(Some((Some(dtype), TextRef::EMPTY)));
        }
        let start = (start as usize).saturating_add(skip);
        Ok(Some((None, self.span(start, start.saturating_add(inner.len()))?)))
    }
}
