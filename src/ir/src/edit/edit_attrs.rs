//! Changing attributes.
use crate::attr::{AttrValue, Literal};
use crate::attr_names;
use crate::data::{AttrData, AttrKind, OpData, Stamp, UseData, UseKind, ValueData, ValueKind};
use crate::edit::edit_ops::Edit;
use crate::error::ErrorKind;
use crate::handle::{AttrRef, Op, TextRef, Use, Value};
use crate::program::{Program, payload};
use lanebook_tables::OpRole;

impl Program<'_, '_> {
    // ---- attributes
    pub(crate) fn attr_record(&self, key: TextRef, value: AttrValue) -> AttrData {
        let (kind, bits, extra, ty) = match value {
            AttrValue::Unit | AttrValue::Operand(_) => (AttrKind::Unit, [0; 4], 0, None),
            AttrValue::Int(value, ty) => (AttrKind::Int, payload(value), 0, ty),
            AttrValue::Number(Literal::Int(value), ty) => (AttrKind::Int, payload(value), 0, ty),
            AttrValue::Number(Literal::Decimal { digits, exponent }, ty) => {
                (AttrKind::Decimal, payload(digits), exponent, ty)
            }
            AttrValue::Number(Literal::MinusZero, ty) => (AttrKind::MinusZero, payload(0), 0, ty),
            AttrValue::Number(Literal::Hex(value), ty) => {
                (AttrKind::Hex, payload(value as i64), 0, ty)
            }
            AttrValue::Number(Literal::Large(value), ty) => {
                (AttrKind::Large, payload(value as i64), 0, ty)
            }
            AttrValue::Number(Literal::Word(name), ty) => {
                (AttrKind::LiteralWord, name.parts(), 0, ty)
            }
            AttrValue::Str(name) => (AttrKind::Str, name.parts(), 0, None),
            AttrValue::Word(name) => (AttrKind::Word, name.parts(), 0, None),
            AttrValue::Symbol(name) => (AttrKind::Symbol, name.parts(), 0, None),
            AttrValue::Alias(name) => (AttrKind::Alias, name.parts(), 0, None),
            AttrValue::Layout(name) => (AttrKind::Layout, name.parts(), 0, None),
            AttrValue::List(name) => (AttrKind::List, name.parts(), 0, None),
            AttrValue::Text(name) => (AttrKind::Text, name.parts(), 0, None),
            AttrValue::Handle(number) => (AttrKind::Handle, payload(i64::from(number)), 0, None),
        };
        AttrData { key, next: None, ty, payload: bits, extra, kind, stamp: Stamp(0) }
    }
    /// Sets an operation's attribute: in its place, under its key as written, when it is there;
    /// else after the others. A value that is an operand is added to the operands too (and then the
    /// attribute goes last).
    pub fn set_attr(&mut self, op: Op, key: &str, value: AttrValue) -> Edit {
        let first = self.op_data(op).ok_or(ErrorKind::Stale)?.attrs;
        let Some(found) = self.find_attr(first, key) else {
            let key = self.word(key)?;
            return self.push_attr(op, key, value);
        };
        let data = *self.attr_data(found).ok_or(ErrorKind::Broken)?;
        if data.kind == AttrKind::Operand || matches!(value, AttrValue::Operand(_)) {
            self.pools.room::<UseData>(1)?;
            self.remove_attr(op, key)?;
            return self.push_attr(op, data.key, value);
        }
        let record = self.attr_record(data.key, value);
        self.pools
            .edit::<AttrData>(found.index(), |at| *at = AttrData { next: data.next, ..record })
    }
    fn find_attr(&self, first: Option<AttrRef>, key: &str) -> Option<AttrRef> {
        core::iter::successors(first, |at| self.attr_data(*at)?.next)
            .find(|at| self.attr_data(*at).is_some_and(|data| self.key_is(data.key, key)))
    }
    pub(crate) fn push_attr(&mut self, op: Op, key: TextRef, value: AttrValue) -> Edit {
        self.pools.room::<AttrData>(1)?;
        let mut record = self.attr_record(key, value);
        if let AttrValue::Operand(value) = value {
            self.pools.room::<UseData>(1)?;
            let place = self.push_operand(op, value, UseKind::Attr)?;
            (record.kind, record.payload) = (AttrKind::Operand, [place.index() as u16, 0, 0, 0]);
        }
        let first = self.op_data(op).ok_or(ErrorKind::Stale)?.attrs;
        let cell = self.append_attr(first, record)?;
        if first.is_none() {
            self.pools.edit::<OpData>(op.index(), |data| data.attrs = cell)?;
        }
        Ok(())
    }
    fn append_attr(&mut self, first: Option<AttrRef>, record: AttrData) -> Edit<Option<AttrRef>> {
        let last = core::iter::successors(first, |at| self.attr_data(*at)?.next).last();
        let cell = AttrRef::at(self.pools.add(record)?);
        if let Some(last) = last {
            self.pools.edit::<AttrData>(last.index(), |data| data.next = cell)?;
        }
        Ok(cell)
    }
    /// Sets an attribute of a block argument that it has.
    pub(crate) fn set_value_attr(&mut self, value: Value, key: &str, to: AttrValue) -> Edit {
        self.replace_value_attr(value, key, (None, to))
    }
    /// Gives an attribute of a block argument another key and value.
    pub(crate) fn rename_value_attr(
        &mut self,
        value: Value,
        from: &str,
        (key, to): (&str, AttrValue),
    ) -> Edit {
        let key = self.word(key)?;
        self.replace_value_attr(value, from, (Some(key), to))
    }
    /// The same; without a key it keeps the one that it has.
    fn replace_value_attr(
        &mut self,
        value: Value,
        from: &str,
        (key, to): (Option<TextRef>, AttrValue),
    ) -> Edit {
        let first = self.value_data(value).ok_or(ErrorKind::Stale)?.attrs;
        let found = self.find_attr(first, from).ok_or(ErrorKind::Misplaced)?;
        let data = *self.attr_data(found).ok_or(ErrorKind::Broken)?;
        let record = self.attr_record(key.unwrap_or(data.key), to);
        self.pools
            .edit::<AttrData>(found.index(), |at| *at = AttrData { next: data.next, ..record })
    }
    /// Adds an attribute to a block argument.
    pub fn add_value_attr(&mut self, value: Value, key: &str, attr: AttrValue) -> Edit {
        let key = self.word(key)?;
        self.push_value_attr(value, key, attr)
    }
    pub(crate) fn push_value_attr(&mut self, value: Value, key: TextRef, attr: AttrValue) -> Edit {
        let data = self.value_data(value).ok_or(ErrorKind::Stale)?;
        if data.kind != ValueKind::Argument {
            return Err(ErrorKind::Misplaced);
        }
        let (first, record) = (data.attrs, self.attr_record(key, attr));
        let cell = self.append_attr(first, record)?;
        if first.is_none() {
            self.pools.edit::<ValueData>(value.index(), |data| data.attrs = cell)?;
        }
        Ok(())
    }
    /// Removes an attribute of a block argument, if it is there.
    pub(crate) fn remove_value_attr(&mut self, value: Value, key: &str) -> Edit {
        let first = self.value_data(value).ok_or(ErrorKind::Stale)?.attrs;
        let Some(found) = self.find_attr(first, key) else { return Ok(()) };
        let next = self.attr_data(found).ok_or(ErrorKind::Broken)?.next;
        let before = core::iter::successors(first, |at| self.attr_data(*at)?.next)
            .take_while(|at| *at != found)
            .last();
        match before {
            Some(before) => self.pools.edit::<AttrData>(before.index(), |at| at.next = next)?,
            None => self.pools.edit::<ValueData>(value.index(), |at| at.attrs = next)?,
        }
        self.pools.release::<AttrData>(found.index())
    }
    /// Lets a function say of its results what it returns: types behind the arrow that are those of
    /// `return` but for their layouts take these.
    #[doc(hidden)]
    pub fn say_results(&mut self, function: Op) -> Edit {
        let end = self.body(function).and_then(|body| self.terminator(body));
        let Some(end) = end.filter(|end| self.role(*end) == OpRole::Return) else { return Ok(()) };
        let (mut at, mut number) = (self.op_data(function).ok_or(ErrorKind::Stale)?.attrs, 0usize);
        let mut changed = false;
        while let Some(cell) = at {
            let data = *self.attr_data(cell).ok_or(ErrorKind::Broken)?;
            at = data.next;
            let (true, Some(said)) = (self.key_is(data.key, attr_names::RESULT_TYPE), data.ty)
            else {
                continue;
            };
            let returned = self.operand(end, number).map(|value| self.type_of(value));
            number = number.saturating_add(1);
            let said = self.type_at(said);
            if let Some(to) = returned.filter(|to| to.agrees(&said) && !self.same_type(to, &said)) {
                let to = self.intern(to)?;
                self.pools.edit::<AttrData>(cell.index(), |at| at.ty = Some(to))?;
                changed = true;
            }
        }
        // The text says it no more.
        if changed { self.remove_attr(function, attr_names::RESULTS) } else { Ok(()) }
    }
    /// Removes an operation's attribute, if it is there.
    pub fn remove_attr(&mut self, op: Op, key: &str) -> Edit {
        let first = self.op_data(op).ok_or(ErrorKind::Stale)?.attrs;
        let Some(found) = self.find_attr(first, key) else { return Ok(()) };
        let data = *self.attr_data(found).ok_or(ErrorKind::Broken)?;
        let before = core::iter::successors(first, |at| self.attr_data(*at)?.next)
            .take_while(|at| *at != found)
            .last();
        if let (AttrKind::Operand, [place, ..]) = (data.kind, data.payload)
            && let Some(place) = Use::at(usize::from(place))
        {
            self.remove_use(op, place)?;
        }
        match before {
            Some(before) => {
                self.pools.edit::<AttrData>(before.index(), |at| at.next = data.next)?
            }
            None => self.pools.edit::<OpData>(op.index(), |at| at.attrs = data.next)?,
        }
        self.pools.release::<AttrData>(found.index())
    }
}
