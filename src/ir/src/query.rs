//! Questions about values: where they come from, who uses them, what is known of them; attributes,
//! layouts, loops.
//!
//! As in `program`: total answers, no allocation, no recursion, no panic.
use crate::attr::{Attr, AttrValue, Literal};
use crate::attr_names;
use crate::chains::Digest;
use crate::data::{AliasData, AttrData, AttrKind, ValueData, ValueKind};
use crate::handle::{AttrRef, Block, Op, TextRef, TypeRef, Use, Value};
use crate::program::{Carried, Def, Loop, Program, name, number};
use crate::types::{TileEncoding, Type};
use lanebook_tables::{AttrContract, AttrForm, OpLowering, OpRole, Space};

impl<'t> Program<'_, 't> {
    // ---- values
    /// Where a value comes from.
    #[must_use]
    pub fn def(&self, value: Value) -> Def {
        let Some(data) = self.value_data(value) else { return Def::Nothing };
        let owner = usize::from(data.owner);
        let found = match data.kind {
            ValueKind::Result => Op::at(owner).map(|op| Def::Result(op, data.number)),
            ValueKind::Argument => Block::at(owner).map(|block| Def::Argument(block, data.number)),
            ValueKind::Literal => self.literal(data).map(Def::Literal),
            ValueKind::Free => None,
        };
        found.unwrap_or(Def::Nothing)
    }
    /// The operation of which the value is a result.
    #[must_use]
    pub fn def_op(&self, value: Value) -> Option<Op> {
        match self.def(value) {
            Def::Result(op, _) => Some(op),
            _ => None,
        }
    }
    fn literal(&self, data: &ValueData) -> Option<Literal> {
        let cell = self.attr_data(data.attrs?)?;
        match cell.kind {
            AttrKind::Int => Some(Literal::Int(number(cell.payload))),
            AttrKind::Decimal => {
                Some(Literal::Decimal { digits: number(cell.payload), exponent: cell.extra })
            }
            AttrKind::MinusZero => Some(Literal::MinusZero),
            AttrKind::Hex => Some(Literal::Hex(number(cell.payload) as u64)),
            AttrKind::Large => Some(Literal::Large(number(cell.payload) as u64)),
            AttrKind::LiteralWord => Some(Literal::Word(name(cell.payload))),
            _ => None,
        }
    }
    /// The number behind a value: a literal, the result of an operation of role `Constant`, or a
    /// free name that says it (`%c64`). A tile of one number keeps it through conversions,
    /// transpositions, repetitions and reductions.
    #[must_use]
    pub fn constant(&self, value: Value) -> Option<Literal> {
        self.constant_sum(value).map(|(literal, _)| literal)
    }
    /// The same, and of how many such numbers the value is the sum: a reduction of a tile of one
    /// number adds it up.
    #[must_use]
    pub fn constant_sum(&self, value: Value) -> Option<(Literal, u64)> {
        let (mut at, mut times) = (value, 1u64);
        loop {
            let op = match self.def(at) {
                Def::Literal(literal) => return Some((literal, times)),
                Def::Result(op, 0) => op,
                // A name that a snippet leaves free: `%c64`, as other compilers call the constant
                // 64.
                Def::Argument(block, _) if block == self.root() => {
                    let digits = self
                        .value_name(at)
                        .strip_prefix('c')
                        .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))?;
                    return crate::text::lexer::integer(digits)
                        .map(|number| (Literal::Int(number), times));
                }
                _ => return None,
            };
            let only = self.operand(op, 0).filter(|_| self.operand_count(op) == 1)?;
            match self.role(op) {
                OpRole::Constant => match self.def(only) {
                    Def::Literal(literal) => return Some((literal, times)),
                    _ => return None,
                },
                OpRole::Convert
                | OpRole::Transpose
                | OpRole::Reshape
                | OpRole::Permute
                | OpRole::Broadcast
                    if self.type_of(at).is_tile() && !self.type_of(at).is_memory() => {}
                OpRole::Reduce => times = times.checked_mul(self.summed(op, only)?)?,
                _ => return None,
            }
            at = only;
        }
    }
    /// Of how many equal elements a reduction makes their sum; 1 if it is one of them.
    fn summed(&self, op: Op, from: Value) -> Option<u64> {
        let kind = match self.attr(op, attr_names::KIND)? {
            AttrValue::Word(name) | AttrValue::Str(name) | AttrValue::Text(name) => self.text(name),
            _ => return None,
        };
        match kind {
            attr_names::MAX | attr_names::MIN => Some(1),
            attr_names::ADD => {
                let AttrValue::Int(axis, _) = self.attr(op, attr_names::AXIS)? else { return None };
                let axis = usize::try_from(axis).ok()?;
                self.type_of(from).shape.extent(axis).map(u64::from)
            }
            _ => None,
        }
    }
    /// The integer behind a value.
    #[must_use]
    pub fn int(&self, value: Value) -> Option<i64> {
        self.constant_sum(value)
            .filter(|(_, times)| *times == 1)
            .and_then(|(literal, _)| literal.to_int())
    }
    /// A value's type.
    #[must_use]
    pub fn type_of(&self, value: Value) -> Type {
        self.type_ref(value).map_or(Type::ELIDED, |ty| self.type_at(ty))
    }
    /// A value's type as a handle.
    #[must_use]
    pub fn type_ref(&self, value: Value) -> Option<TypeRef> {
        Some(self.value_data(value)?.ty)
    }
    /// The type of a handle.
    #[must_use]
    pub fn type_at(&self, ty: TypeRef) -> Type {
        self.pools.types.get(ty.index()).copied().unwrap_or(Type::ELIDED)
    }
    /// A value's name without `%`; empty when it has none. Results of one operation share the first
    /// one's name.
    #[must_use]
    pub fn value_name(&self, value: Value) -> &'t str {
        self.value_data(value).map_or("", |data| self.text(data.name))
    }
    /// Places where a value is used, the most recent first.
    pub fn uses(&self, value: Value) -> impl Iterator<Item = Use> + Clone + '_ {
        let first = self.value_data(value).and_then(|data| data.first_use);
        core::iter::successors(first, |place| self.use_data(*place)?.next_use)
    }
    /// Whether anything uses the value.
    #[must_use]
    pub fn is_used(&self, value: Value) -> bool {
        self.value_data(value).is_some_and(|data| data.first_use.is_some())
    }
    /// How often the result of an operation is used, where a use that only passes it on (of the
    /// role `through`) stands for the uses of what it makes; `None` if more than eight tiles are
    /// made so.
    #[doc(hidden)]
    #[must_use]
    pub fn uses_behind(&self, op: Op, through: OpRole) -> Option<usize> {
        let mut found = 0usize;
        let mut rest = heapless::Vec::<Value, 8>::new();
        rest.push(self.result(op, 0)?).ok()?;
        while let Some(value) = rest.pop() {
            for user in self.uses(value).filter_map(|place| self.user(place)) {
                match self.role(user) == through {
                    true => rest.push(self.result(user, 0)?).ok()?,
                    false => found = found.saturating_add(1),
                }
            }
        }
        Some(found)
    }
    /// The operation that makes a use.
    #[must_use]
    pub fn user(&self, place: Use) -> Option<Op> {
        self.use_data(place).filter(|data| data.value.is_some()).map(|data| data.owner)
    }
    /// The next of [`uses`](Self::uses) after this one.
    #[must_use]
    pub fn next_use(&self, place: Use) -> Option<Use> {
        self.use_data(place)?.next_use
    }
    /// The value at a use.
    #[must_use]
    pub fn used(&self, place: Use) -> Option<Value> {
        self.use_data(place)?.value
    }
    /// The number of a main operand at a use; `None` for subscripts and attributes.
    #[must_use]
    pub fn operand_number(&self, place: Use) -> Option<usize> {
        self.main_uses(self.user(place)?).position(|at| at == place)
    }

    // ---- attributes
    fn chain(&self, first: Option<AttrRef>) -> impl Iterator<Item = Attr> + Clone + '_ {
        core::iter::successors(first, |at| self.attr_data(*at)?.next).filter_map(|at| {
            Some(Attr { key: self.attr_data(at)?.key, value: self.attr_value(self.attr_data(at)?) })
        })
    }
    pub(crate) fn attr_value(&self, data: &AttrData) -> AttrValue {
        match data.kind {
            AttrKind::Unit => AttrValue::Unit,
            AttrKind::Int => AttrValue::Int(number(data.payload), data.ty),
            AttrKind::Decimal => AttrValue::Number(
                Literal::Decimal { digits: number(data.payload), exponent: data.extra },
                data.ty,
            ),
            AttrKind::MinusZero => AttrValue::Number(Literal::MinusZero, data.ty),
            AttrKind::Hex => AttrValue::Number(Literal::Hex(number(data.payload) as u64), data.ty),
            AttrKind::Large => {
                AttrValue::Number(Literal::Large(number(data.payload) as u64), data.ty)
            }
            AttrKind::LiteralWord => AttrValue::Number(Literal::Word(name(data.payload)), data.ty),
            AttrKind::Str => AttrValue::Str(name(data.payload)),
            AttrKind::Word => AttrValue::Word(name(data.payload)),
            AttrKind::Symbol => AttrValue::Symbol(name(data.payload)),
            AttrKind::Alias => AttrValue::Alias(name(data.payload)),
            AttrKind::Layout => AttrValue::Layout(name(data.payload)),
            AttrKind::List => AttrValue::List(name(data.payload)),
            AttrKind::Text => AttrValue::Text(name(data.payload)),
            AttrKind::Operand => {
                let [place, ..] = data.payload;
                Use::at(usize::from(place))
                    .and_then(|place| self.used(place))
                    .map_or(AttrValue::Unit, AttrValue::Operand)
            }
            AttrKind::Handle => AttrValue::Handle(number(data.payload) as u32),
        }
    }
    /// Attributes of an operation in order.
    pub fn attrs(&self, op: Op) -> impl Iterator<Item = Attr> + Clone + '_ {
        self.chain(self.op_data(op).and_then(|data| data.attrs))
    }
    /// Attributes of a block argument (`%A: memref<..> {align = 16}`) in order.
    pub fn value_attrs(&self, value: Value) -> impl Iterator<Item = Attr> + Clone + '_ {
        self.chain(
            self.value_data(value)
                .filter(|data| data.kind == ValueKind::Argument)
                .and_then(|data| data.attrs),
        )
    }
    /// Whether a key is `wanted`, or ends in `.` and `wanted`.
    pub(crate) fn key_is(&self, key: TextRef, wanted: &str) -> bool {
        let key = self.text(key);
        key == wanted || crate::text::lexer::last_part(key) == wanted
    }
    /// An operation's attribute by its key; a prefix (`nv_tileas.`) in the text does not matter.
    #[must_use]
    pub fn attr(&self, op: Op, key: &str) -> Option<AttrValue> {
        self.attrs(op).find(|attr| self.key_is(attr.key, key)).map(|attr| attr.value)
    }
    /// An operation's integer attribute.
    #[must_use]
    pub fn int_attr(&self, op: Op, key: &str) -> Option<i64> {
        match self.attr(op, key)? {
            AttrValue::Int(value, _) => Some(value),
            AttrValue::Operand(value) => self.int(value),
            _ => None,
        }
    }
    /// Whether an operation has an attribute with this key.
    #[must_use]
    pub fn has_attr(&self, op: Op, key: &str) -> bool {
        self.attr(op, key).is_some()
    }
    /// Whether an attribute without a value is there; of `key = false` it is said that it is not.
    pub(crate) fn flag(&self, op: Op, key: &str) -> Option<bool> {
        match self.attr(op, key)? {
            AttrValue::Unit => Some(true),
            AttrValue::Word(word) => self.truth_word(word),
            _ => None,
        }
    }
    /// What another system's operation stands for.
    pub(crate) fn lowering(&self, op: Op) -> Option<OpLowering> {
        self.decl(op).and_then(|decl| decl.lowering)
    }
    /// What a word says of a truth: `true` or `false`.
    pub(crate) fn truth_word(&self, word: TextRef) -> Option<bool> {
        match self.text(word) {
            attr_names::TRUE => Some(true),
            attr_names::FALSE => Some(false),
            _ => None,
        }
    }
    /// Whether a truth holds that a constant says: by a word, or by a number.
    pub(crate) fn written_truth(&self, value: Value) -> Option<bool> {
        let def = self.def_op(value).filter(|def| self.role(*def) == OpRole::Constant)?;
        match self.def(self.operand(def, 0)?) {
            Def::Literal(Literal::Word(word)) => self.truth_word(word),
            Def::Literal(literal) => literal.to_int().map(|number| number != 0),
            _ => None,
        }
    }
    /// Whether a reduction keeps its dimension, with one element.
    #[doc(hidden)] // A question of the floors above.
    #[must_use]
    pub fn keeps_dimension(&self, op: Op) -> bool {
        let ty = |value: Option<Value>| value.map(|value| self.type_of(value));
        self.role(op) == OpRole::Reduce
            && ty(self.operand(op, 0)).zip(ty(self.result(op, 0))).is_some_and(|(from, to)| {
                to.is_tile() && !to.is_memory() && from.shape.rank() == to.shape.rank()
            })
    }
    /// A block argument's attribute.
    #[must_use]
    pub fn value_attr(&self, value: Value, key: &str) -> Option<AttrValue> {
        self.value_attrs(value).find(|attr| self.key_is(attr.key, key)).map(|attr| attr.value)
    }
    /// A block argument's integer attribute, e.g. `align`.
    #[must_use]
    pub fn int_value_attr(&self, value: Value, key: &str) -> Option<i64> {
        match self.value_attr(value, key)? {
            AttrValue::Int(value, _) => Some(value),
            _ => None,
        }
    }
    /// The integers of a list's text: the first `room` are written to `out`; `None` when it is not
    /// a list of that many integers or fewer.
    #[must_use]
    pub fn list<'o>(&self, list: TextRef, out: &'o mut [i64]) -> Option<&'o [i64]> {
        let body = self.text(list).trim_ascii();
        let inner = match body.as_bytes() {
            [b'[', inner @ .., b']'] => inner,
            // `array<i32: 1, 0>`
            _ => {
                let inner = match body.as_bytes() {
                    [b'a', b'r', b'r', b'a', b'y', b'<', inner @ .., b'>'] => inner,
                    _ => return None,
                };
                let colon = inner.iter().position(|byte| *byte == b':')?;
                inner.get(colon.saturating_add(1)..)?
            }
        };
        let mut count = 0usize;
        if !inner.trim_ascii().is_empty() {
            for item in inner.split(|byte| *byte == b',') {
                let item = core::str::from_utf8(item.trim_ascii()).ok()?;
                *out.get_mut(count)? = crate::text::lexer::integer(item)?;
                count = count.saturating_add(1);
            }
        }
        out.get(..count)
    }

    // ---- layouts
    /// The layout text of a type's encoding, when it is written in the type or under an alias.
    #[must_use]
    pub fn layout_text(&self, ty: &Type) -> Option<&str> {
        match ty.encoding {
            TileEncoding::Written(name) => Some(self.text(name)),
            TileEncoding::Alias(name) => self.alias(self.text(name)),
            TileEncoding::Interned(at, len) => Some(self.pools.made(at, len)),
            TileEncoding::None | TileEncoding::Handle(_) => None,
        }
    }
    /// The words that a type says its layout in: the name of an alias, or the layout's text.
    #[doc(hidden)]
    #[must_use]
    pub fn layout_words(&self, ty: &Type) -> Option<&str> {
        match ty.encoding {
            TileEncoding::Alias(name) | TileEncoding::Written(name) => Some(self.text(name)),
            TileEncoding::Interned(at, len) => Some(self.pools.made(at, len)),
            TileEncoding::None | TileEncoding::Handle(_) => None,
        }
    }
    /// What stands behind `#name` in the text (`#name = ...` before the functions).
    #[must_use]
    pub fn alias(&self, name: &str) -> Option<&'t str> {
        self.alias_data(name).map(|alias| self.text(alias.body))
    }
    /// Where the text first has the name of a layout.
    #[doc(hidden)]
    #[must_use]
    pub fn alias_name(&self, name: &str) -> Option<TextRef> {
        self.alias_data(name).map(|alias| alias.name)
    }
    /// The same with the places of both texts.
    pub(crate) fn alias_data(&self, name: &str) -> Option<&AliasData> {
        self.pools.find_alias(Digest::of(name), |alias| self.text(alias.name) == name)
    }

    /// Aliases in the order of the text: name without `#`, and what stands behind it.
    pub fn aliases(&self) -> impl Iterator<Item = (TextRef, TextRef)> + Clone + '_ {
        self.pools.aliases.iter().map(|alias| (alias.name, alias.body))
    }

    /// A hint that hands its operands on as its results, one for one.
    #[must_use]
    #[doc(hidden)]
    pub fn is_paired(&self, op: Op) -> bool {
        self.role(op) == OpRole::Pragma && self.operand_count(op) == self.results(op).count()
    }

    /// How many elements the two groups of dimensions have that change places, and the group behind
    /// them, which keeps its place.
    #[must_use]
    #[doc(hidden)]
    pub fn exchanged_groups(&self, op: Op) -> Option<[u32; 3]> {
        if self.role(op) != OpRole::Permute {
            return None;
        }
        let said = |key, default: Option<i64>| {
            u32::try_from(self.int_attr(op, key).or(default)?).ok().filter(|number| *number > 0)
        };
        Some([
            said(attr_names::LEFT, None)?,
            said(attr_names::RIGHT, None)?,
            said(attr_names::RUN, Some(1))?,
        ])
    }

    // ---- loops
    /// The parts of a counted loop.
    #[must_use]
    pub fn counted_loop(&self, op: Op) -> Option<Loop> {
        if !matches!(self.role(op), OpRole::For | OpRole::Parallel) {
            return None;
        }
        let body = self.body(op)?;
        let mut operands = self.operands(op);
        Some(Loop {
            op,
            lower: operands.next()?,
            upper: operands.next()?,
            step: operands.next()?,
            body,
            induction: self.arguments(body).next()?,
        })
    }
    /// Over how many buffers a loop's copies run ahead: one less than that in turns. 1 where it
    /// does not say so.
    #[must_use]
    pub fn stages(&self, op: Op) -> u8 {
        let stages = self.int_attr(op, attr_names::STAGES);
        stages.and_then(|n| u8::try_from(n).ok()).unwrap_or(1).max(1)
    }
    /// Whether an operation says nothing of a number, or one in the range that its contract has.
    #[must_use]
    #[doc(hidden)] // A question of the floors above.
    pub fn is_number_in_contract(&self, op: Op, key: &str) -> bool {
        let Some(said) = self.attr(op, key) else { return true };
        let contract = self.tables().contract;
        let own = self.decl_id(op).and_then(|id| contract.ops.get(id.index()));
        let form = own.and_then(|own| own.attrs.iter().find(|attr| attr.key == key));
        match (said, form.map(|attr| attr.form)) {
            (AttrValue::Int(number, _), Some(AttrForm::Int(least, most))) => {
                (least..=most).contains(&number)
            }
            _ => false,
        }
    }
    /// Whether warps of their own start the copies of a loop of stages, which the others only read.
    #[must_use]
    #[doc(hidden)] // A question of the floors above.
    pub fn is_warp_specialized(&self, op: Op) -> bool {
        self.role(op) == OpRole::For && self.has_attr(op, attr_names::WARP_SPECIALIZE)
    }
    /// The loop that a parallel loop has alone in its body, if the two are loops of one nest: the
    /// inner one has no attributes, and bounds that no parallel loop around it counts.
    #[doc(hidden)]
    #[must_use]
    pub fn nested(&self, op: Op) -> Option<Op> {
        let plain = |op: Op| {
            self.role(op) == OpRole::Parallel
                && self.operand_count(op) == 3
                && self.all_operands(op).count() == 3
                && self
                    .body(op)
                    .and_then(|body| self.arguments(body).next())
                    .is_some_and(|counter| self.type_of(counter) == Type::INDEX)
        };
        let body = self.body(op)?;
        let inner = self.first(body)?;
        let alone = self.next(inner).is_none() && self.attrs(inner).next().is_none();
        let counted = |value: Value| match self.def(value) {
            Def::Argument(block, _) => {
                self.owner_of(block).is_some_and(|owner| self.role(owner) == OpRole::Parallel)
            }
            _ => false,
        };
        let fits = alone && plain(op) && plain(inner) && !self.operands(inner).any(counted);
        fits.then_some(inner)
    }
    /// The buffer whose storage a view looks at; of anything else itself.
    #[doc(hidden)]
    #[must_use]
    pub fn storage_of(&self, value: Value) -> Value {
        let mut at = value;
        // Each view stands behind what it looks at.
        while let Some(def) = self.def_op(at).filter(|def| self.role(*def) == OpRole::View)
            && let Some(of) = self.operand(def, 0)
        {
            at = of;
        }
        at
    }
    /// Whether a copy is one of a whole memref: nothing says where a tile of it begins.
    fn copies_whole_memref(&self, op: Op) -> bool {
        let whole = |number: usize| {
            let memref = self.operand(op, number).is_some_and(|value| {
                let of = self.type_of(value);
                of.space == Some(Space::Global) && of.shape.rank() > 0
            });
            memref && self.subscripts(op, number).next().is_none()
        };
        self.role(op) == OpRole::Copy && (whole(0) || whole(1))
    }
    /// Whether a copy brings one tile in shared memory into another: threads do, element by element.
    fn copies_in_shared(&self, op: Op) -> bool {
        let shared = |number: usize| {
            let side = self.operand(op, number);
            side.is_some_and(|value| self.type_of(value).space == Some(Space::Shared))
        };
        self.role(op) == OpRole::Copy && shared(0) && shared(1)
    }
    /// Whether a function does nothing but copy whole memrefs to allocated tiles and back, or has
    /// nothing but copies, loops and indices, and a copy from shared memory into shared memory.
    fn only_copies(&self, function: Op) -> bool {
        let is_copy = |op: Op| {
            matches!(
                self.role(op),
                OpRole::Alloc | OpRole::Copy | OpRole::View | OpRole::Yield | OpRole::Return
            )
        };
        let is_around = |op: Op| {
            matches!(self.role(op), OpRole::For | OpRole::If | OpRole::Index | OpRole::Constant)
        };
        let all = || self.inside(function);
        all().any(|op| self.copies_whole_memref(op)) && all().all(is_copy)
            || all().any(|op| self.copies_in_shared(op))
                && all().all(|op| is_copy(op) || is_around(op))
    }
    /// Whether a function has parallel loops, fragments, or tile operations in place.
    #[doc(hidden)]
    #[must_use]
    pub fn has_loops(&self, function: Op) -> bool {
        let fragment = |op: Op| {
            self.role(op) == OpRole::Alloc
                && self.result(op, 0).is_some_and(|value| self.type_of(value).is_fragment())
        };
        self.inside(function).any(|op| {
            fragment(op)
                || matches!(
                    self.role(op),
                    OpRole::Parallel
                        | OpRole::ElementLoad
                        | OpRole::ElementStore
                        | OpRole::Fill
                        | OpRole::ReduceInto
                        | OpRole::ProductInto
                )
        }) || self.only_copies(function)
    }
    /// The loops of a nest, the outermost first.
    #[doc(hidden)]
    pub fn nest(&self, op: Op) -> impl Iterator<Item = Op> + Clone + '_ {
        core::iter::successors(Some(op), |op| self.nested(*op))
    }
    /// The values that a counted loop carries, in order.
    pub fn carried(&self, op: Op) -> impl Iterator<Item = Carried> + Clone + '_ {
        let body = self.counted_loop(op).map(|at| at.body);
        let arguments = body.into_iter().flat_map(|body| self.arguments(body)).skip(1);
        let end = body.and_then(|body| self.terminator(body));
        self.operands(op).skip(3).zip(arguments).enumerate().map(
            move |(number, (init, argument))| Carried {
                init,
                argument,
                yielded: end.and_then(|end| self.operand(end, number)),
                result: self.result(op, number),
            },
        )
    }
    /// Whether a function is a snippet: whether it takes or returns register tiles, or says so.
    #[doc(hidden)]
    #[must_use]
    pub fn is_snippet(&self, function: Op) -> bool {
        let in_registers = |value| {
            let ty = self.type_of(value);
            ty.is_tile() && !ty.is_memory()
        };
        let end = self.body(function).and_then(|body| self.terminator(body));
        self.has_attr(function, attr_names::SNIPPET)
            || self.parameters(function).any(in_registers)
            || end.is_some_and(|op| self.role(op) == OpRole::Return && self.operand_count(op) > 0)
    }
}

/// How many numbers a dense attribute of whole numbers above 0 has, with its type or without; `None`
/// for any other text.
fn dense_count(text: &str) -> Option<usize> {
    // Bytes: searching for a character is code that the panic proof would have to see through.
    let rest = text.as_bytes().strip_prefix(b"dense<")?;
    let (inner, ty) = rest.split_at_checked(rest.iter().position(|byte| *byte == b'>')?)?;
    let (inner, ty) = (inner.trim_ascii(), ty.strip_prefix(b">")?.trim_ascii());
    let list = inner.strip_prefix(b"[").and_then(|inner| inner.strip_suffix(b"]"));
    let numbers = || list.unwrap_or(inner).split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
    let is_number = |text: &[u8]| {
        let number = core::str::from_utf8(text).ok().and_then(|text| text.parse().ok());
        number.is_some_and(|number: u32| number > 0)
    };
    let tensor = ty.strip_prefix(b":").map(<[u8]>::trim_ascii);
    let is_typed = tensor.is_none_or(|ty| ty.starts_with(b"tensor<") && ty.ends_with(b">"));
    let is_all = ty.is_empty() || tensor.is_some();
    (is_all && is_typed && numbers().all(is_number)).then(|| numbers().count())
}

impl<'t> Program<'_, 't> {
    /// Whether an operation may have the hints of all: it says them of what it makes.
    pub(crate) fn has_hints(&self, op: Op) -> bool {
        self.result(op, 0).is_some() && self.regions(op).next().is_none()
    }

    /// Whether a text is one whole number above 0 for all dimensions of what an operation makes, or
    /// one for each.
    pub(crate) fn is_dense(&self, op: Op, text: &str) -> bool {
        let rank = self.result(op, 0).map_or(1, |value| self.type_of(value).shape.rank());
        dense_count(text).is_some_and(|count| count == 1 || count == rank)
    }

    /// The number of the attribute of a list that a key names, with a prefix or without.
    pub(crate) fn listed(&self, key: TextRef, attrs: &[AttrContract<'t>]) -> Option<usize> {
        let text = self.text(key);
        let bare = |prefix: &&str| text.strip_prefix(*prefix);
        let prefixed = self.tables().contract.prefixes.iter().find_map(bare);
        attrs.iter().position(|attr| attr.key == text || prefixed == Some(attr.key))
    }

    /// The attributes that the contract lists of an operation.
    fn attrs_listed(&self, op: Op) -> &'t [AttrContract<'t>] {
        let own = self.decl_id(op).and_then(|id| self.tables().contract.ops.get(id.index()));
        own.map_or(&[], |own| own.attrs.slice())
    }

    /// The first attribute of an operation that its contract does not list.
    pub(crate) fn idle_attr(&self, op: Op) -> Option<TextRef> {
        let own = self.attrs_listed(op);
        self.attrs(op).map(|attr| attr.key).find(|key| self.listed(*key, own).is_none())
    }

    /// The key of an operation's attribute, as the contract has it, if it is a hint of a value that
    /// it may have: nothing follows from it.
    pub(crate) fn hint(&self, op: Op, attr: Attr) -> Option<&'t str> {
        let common = if self.has_hints(op) { self.tables().contract.hints.slice() } else { &[] };
        let lists = [self.attrs_listed(op), common];
        let hint = lists.into_iter().find_map(|list| list.get(self.listed(attr.key, list)?))?;
        let fits = match (hint.form, attr.value) {
            (AttrForm::Unit, AttrValue::Unit) => true,
            (AttrForm::Int(least, most), AttrValue::Int(n, _)) => (least..=most).contains(&n),
            (AttrForm::Text, AttrValue::Str(_)) => true,
            (AttrForm::Dense, AttrValue::Layout(name) | AttrValue::Text(name)) => {
                self.is_dense(op, self.text(name))
            }
            _ => false,
        };
        (fits && hint.hint).then_some(hint.key)
    }
}
