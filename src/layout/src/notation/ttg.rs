//! Triton's layout attributes: `#ttg.blocked<{sizePerThread = [1, 4], ...}>` and all its kin.
//!
//! [`parse`] reads one attribute, wrappers (`slice`, `dot_op`, `partitioned_shared`) and what they
//! hold included, into an [`Encoding`]; [`super::ttg_print::print`] spells it so that it parses
//! back. What an attribute may and must say is the table in `ttg_table.rs`. Keys may stand in any
//! order, with or without the braces around them; every key at most once. Parameters are read as
//! they stand: whether they make a layout is the encoding's own question.
//!
//! Nesting is followed with a list of open wrappers, not by recursion.

use super::cursor::{Cursor, Parsed};
use super::ttg_table::{ATTRIBUTES, Form, KEYS, form};
use super::ttg_values::{EncodingValues, Listed};
use super::{Expected, ParseError};
use crate::linear::MAX_BITS;
use crate::triton::{Base, DotOp, Encoding, EncodingError, Extents, Few, MAX_RANK, Partition};

pub use super::ttg_table::Key;

use Key as K;

/// The position in [`ATTRIBUTES`] from which on attributes wrap another.
const SLICE: usize = 15;
const DOT: usize = 16;
const PARTITION: usize = 17;
/// What dialects were called before Triton 3.3, and are called since.
const OLD_DIALECTS: [(&str, &str); 2] = [("triton_gpu", "ttg"), ("triton_nvidia_gpu", "ttng")];
/// Most wrappers around an encoding.
const MAX_OPEN: usize = crate::triton::MAX_SLICES + 2;

struct EncodingReader<'t, 'v> {
    text: Cursor<'t>,
    values: &'v mut EncodingValues,
}

/// One wrapper whose inner attribute is being read.
#[derive(Clone, Copy, Default)]
struct OpenWrapper {
    attribute: u8,
    braced: bool,
    seen: u64,
    numbers: [u32; 3],
}

/// Parses one attribute.
///
/// ```
/// use lanebook_layout::notation::ttg;
/// use lanebook_layout::triton::Base;
///
/// let text = "#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>";
/// assert!(matches!(ttg::parse(text).unwrap().base, Base::Swizzled(tile) if tile.vec == 8));
/// ```
///
/// # Errors
/// [`ParseError`] at the first character that does not fit; [`Expected::Encoding`] at the attribute
/// whose parameters are not those of an encoding.
pub fn parse(text: &str) -> Result<Encoding, ParseError> {
    let mut encoding = Encoding::from(Base::Auto);
    parse_into(text, &mut encoding)?;
    Ok(encoding)
}

/// [`parse`] into an encoding that lies elsewhere: one is large (700 bytes), and here none is on
/// the stack. After an error it is some encoding.
///
/// ```
/// # use lanebook_layout::notation::ttg;
/// # use lanebook_layout::triton::Encoding;
/// let text = "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>";
/// let mut encoding = ttg::parse("#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>").unwrap();
/// ttg::parse_into(text, &mut encoding).unwrap();
/// assert_eq!(encoding, ttg::parse(text).unwrap());
/// ```
///
/// # Errors
/// Those of [`parse`].
#[inline(never)]
pub fn parse_into(text: &str, out: &mut Encoding) -> Result<(), ParseError> {
    let mut values = EncodingValues::new();
    let mut reader = EncodingReader { text: Cursor::new(text), values: &mut values };
    reader.encoding(out)?;
    reader.text.end()
}

impl EncodingReader<'_, '_> {
    /// `#dialect.mnemonic`.
    fn mnemonic(&mut self) -> Parsed<usize> {
        self.text.need(b'#', Expected::Attribute)?;
        let at = self.text.mark();
        let unknown = self.text.error_at(at, Expected::Attribute);
        let dialect = self.text.name().ok_or(unknown)?;
        let dialect = OLD_DIALECTS
            .iter()
            .find(|(old, _)| *old == dialect)
            .map_or(dialect, |(_, dialect)| *dialect);
        self.text.need(b'.', Expected::Attribute)?;
        let name = self.text.name().ok_or(unknown)?;
        let found = ATTRIBUTES.iter().position(|a| a.dialect == dialect && a.name == name);
        found.ok_or(unknown)
    }

    #[inline(never)]
    fn encoding(&mut self, out: &mut Encoding) -> Parsed<()> {
        let mut open: Few<OpenWrapper, MAX_OPEN> = Few::new();
        let start = self.text.mark();
        let (mut at, mut kind) = (start, self.mnemonic()?);
        // Down to the core: each wrapper's keys up to the inner attribute.
        while (SLICE..=PARTITION).contains(&kind) {
            let mut wrapper = OpenWrapper {
                attribute: u8::try_from(kind).unwrap_or(u8::MAX),
                ..OpenWrapper::default()
            };
            self.text.need(b'<', Expected::OpenAngle)?;
            wrapper.braced = self.text.eat(b'{');
            loop {
                if self.field(&mut wrapper)? {
                    break;
                }
                self.text.need(b',', Expected::Comma)?;
            }
            let full = open.push(wrapper);
            full.map_err(|e| self.text.error_at(at, Expected::Encoding(e)))?;
            at = self.text.mark();
            kind = self.mnemonic()?;
        }
        self.core(kind)?;
        (out.dot, out.partition, out.slices) = (None, None, Few::new());
        self.values
            .base(kind, &mut out.base)
            .map_err(|e| self.text.error_at(at, Expected::Encoding(e)))?;
        // Out again: the keys after the inner attribute.
        for mut wrapper in open.iter().rev() {
            while self.text.eat(b',') {
                if self.field(&mut wrapper)? {
                    return Err(self.text.error(Expected::Key));
                }
            }
            if wrapper.braced {
                self.text.need(b'}', Expected::CloseBrace)?;
            }
            self.missing(usize::from(wrapper.attribute), wrapper.seen)?;
            self.text.need(b'>', Expected::CloseAngle)?;
            wrap(out, &wrapper).map_err(|e| self.text.error_at(start, Expected::Encoding(e)))?;
        }
        Ok(())
    }

    /// `key =` of a wrapper and its number; `true` if an attribute follows.
    fn field(&mut self, wrapper: &mut OpenWrapper) -> Parsed<bool> {
        let key = self.key(usize::from(wrapper.attribute), &mut wrapper.seen)?;
        if form(key) == Form::Attribute {
            return Ok(true);
        }
        let value = self.plain()?;
        let slot = match key {
            K::Dim | K::OpIdx | K::NumPartitions => 0,
            K::KWidth | K::NumGroups => 1,
            _ => 2usize,
        };
        if let Some(to) = wrapper.numbers.get_mut(slot) {
            *to = value;
        }
        Ok(false)
    }

    /// `key =`, where the attribute has the key and it was not there before.
    fn key(&mut self, kind: usize, seen: &mut u64) -> Parsed<Key> {
        let at = self.text.mark();
        let name = self.text.name();
        let allowed = |key: &Key| {
            ATTRIBUTES.get(kind).is_some_and(|a| a.needs.contains(key) || a.may.contains(key))
        };
        let found = KEYS.iter().find(|k| Some(k.0) == name).map(|k| k.1).filter(allowed);
        let key = found.ok_or_else(|| self.text.error_at(at, Expected::Key))?;
        let bit = 1u64.wrapping_shl(key as u32);
        if *seen & bit != 0 {
            return Err(self.text.error_at(at, Expected::KeyOnce));
        }
        *seen |= bit;
        self.text.need(b'=', Expected::Equals)?;
        Ok(key)
    }

    /// All keys that an attribute needs are there.
    fn missing(&mut self, kind: usize, seen: u64) -> Parsed<()> {
        let (needs, may) = ATTRIBUTES.get(kind).map_or((&[][..], &[][..]), |a| (a.needs, a.may));
        let has = |key: &Key| seen & 1u64.wrapping_shl(*key as u32) != 0;
        if let Some(key) = needs.iter().find(|k| !has(k)) {
            return Err(self.text.error(Expected::Parameter(*key)));
        }
        // A padded tensor's elements are ordered by bases, or by a shape: without both it has no
        // dimension.
        let either = [K::Offset, K::Shape];
        if either.iter().all(|k| may.contains(k) && !has(k)) {
            return Err(self.text.error(Expected::Parameter(K::Offset)));
        }
        Ok(())
    }

    /// The parameters of an attribute that wraps nothing, in angles.
    fn core(&mut self, kind: usize) -> Parsed<()> {
        let mut seen = 0u64;
        if self.text.eat(b'<') {
            if self.text.eat(b'[') {
                self.intervals()?;
            }
            let mut braced = self.text.eat(b'{');
            let mut first = true;
            loop {
                if braced && self.text.eat(b'}') {
                    braced = false;
                    if !self.text.eat(b',') {
                        break;
                    }
                } else if !braced && self.text.peek() == Some(b'>') {
                    break;
                } else if !first {
                    self.text.need(
                        b',',
                        if braced { Expected::CloseBrace } else { Expected::CloseAngle },
                    )?;
                }
                first = false;
                let key = self.key(kind, &mut seen)?;
                self.value(key)?;
            }
            self.missing(kind, seen)?;
            self.text.need(b'>', Expected::CloseAngle)?;
        } else {
            self.missing(kind, seen)?;
        }
        self.values.seen = seen;
        Ok(())
    }

    /// `interval:+pad, ...]`.
    fn intervals(&mut self) -> Parsed<()> {
        while !self.text.eat(b']') {
            if !self.values.pads.is_empty() {
                self.text.need(b',', Expected::CloseBracket)?;
            }
            let at = self.text.mark();
            let interval = self.plain()?;
            self.text.need(b':', Expected::Colon)?;
            self.text.need(b'+', Expected::Colon)?;
            let pad = self.plain()?;
            let full = self.values.pads.push((interval, pad));
            full.map_err(|e| self.text.error_at(at, Expected::Encoding(e)))?;
        }
        let _ = self.text.eat(b',');
        Ok(())
    }

    fn plain(&mut self) -> Parsed<u32> {
        let at = self.text.mark();
        let value = self.text.integer()?;
        u32::try_from(value).map_err(|_| self.text.error_at(at, Expected::SmallerNumber))
    }

    fn value(&mut self, key: Key) -> Parsed<()> {
        let number = match form(key) {
            Form::Integer if key == K::CtaMode => self.mode()?,
            Form::Integer if key == K::BlockRepOrder => self.rep_order()?,
            Form::Integer => self.plain()?,
            Form::Flag => {
                let at = self.text.mark();
                match self.text.name() {
                    Some("true") => 1,
                    Some("false") => 0,
                    _ => return Err(self.text.error_at(at, Expected::Boolean)),
                }
            }
            Form::List => {
                let mut row = Extents::new();
                self.row(&mut row)?;
                if let Some(slot) = self.values.lists.get_mut(key as usize) {
                    *slot = row;
                }
                0
            }
            Form::Bases => {
                self.rows(key)?;
                0
            }
            Form::Tiles => {
                self.text.need(b'{', Expected::OpenBrace)?;
                let mut seen = 0u64;
                while !self.text.eat(b'}') {
                    if seen != 0 {
                        self.text.need(b',', Expected::CloseBrace)?;
                    }
                    // The keys of `linear`, of which two make sense here.
                    let at = self.text.mark();
                    let inner = self.key(4, &mut seen)?;
                    if !matches!(inner, K::Register | K::Warp) {
                        return Err(self.text.error_at(at, Expected::Key));
                    }
                    self.rows(inner)?;
                }
                0
            }
            Form::Attribute => return Err(self.text.error(Expected::Key)),
        };
        if let Some(slot) = self.values.numbers.get_mut(key as usize) {
            *slot = number;
        }
        Ok(())
    }

    /// How two blocks share tensor memory: `DEFAULT`, `TwoCTA_LHS`, `TwoCTA_RHS`.
    fn mode(&mut self) -> Parsed<u32> {
        let at = self.text.mark();
        match self.text.name() {
            Some("DEFAULT" | "Default" | "default") => Ok(0),
            Some("TwoCTA_LHS") => Ok(1),
            Some("TwoCTA_RHS") => Ok(2),
            _ => Err(self.text.error_at(at, Expected::Key)),
        }
    }

    /// In which order blocks of scale factors repeat: `mnThenK`, `kThenMn`.
    fn rep_order(&mut self) -> Parsed<u32> {
        let at = self.text.mark();
        match self.text.name() {
            Some("mnThenK") => Ok(0),
            Some("kThenMn") => Ok(1),
            _ => Err(self.text.error_at(at, Expected::Key)),
        }
    }

    /// `[1, 2, ...]`.
    fn row(&mut self, out: &mut Extents) -> Parsed<()> {
        self.text.need(b'[', Expected::OpenBracket)?;
        while !self.text.eat(b']') {
            if !out.is_empty() {
                self.text.need(b',', Expected::CloseBracket)?;
            }
            let at = self.text.mark();
            let value = self.plain()?;
            let full = out.push(value);
            full.map_err(|e| self.text.error_at(at, Expected::Encoding(e)))?;
        }
        Ok(())
    }

    /// `[[1, 0], [0, 1], ...]`, all of one length.
    fn rows(&mut self, key: Key) -> Parsed<()> {
        self.text.need(b'[', Expected::OpenBracket)?;
        let mut first = true;
        while !self.text.eat(b']') {
            if !first {
                self.text.need(b',', Expected::CloseBracket)?;
            }
            first = false;
            let at = self.text.mark();
            let mut row = Extents::new();
            self.row(&mut row)?;
            let len = u8::try_from(row.len()).unwrap_or(u8::MAX);
            if len == 0 || (self.values.rank != 0 && self.values.rank != len) {
                return Err(self.text.error_at(at, Expected::Congruent));
            }
            self.values.rank = len;
            let mut basis = Listed { key: key as u32, at: [0; MAX_RANK] };
            for (slot, v) in basis.at.iter_mut().zip(row.iter()) {
                *slot = v;
            }
            let full = EncodingError::TooMany { max: MAX_BITS as u16 };
            let slot = self.values.bases.get_mut(self.values.used);
            *slot.ok_or_else(|| self.text.error_at(at, Expected::Encoding(full)))? = basis;
            self.values.used = self.values.used.saturating_add(1);
        }
        Ok(())
    }
}

fn wrap(inner: &mut Encoding, wrapper: &OpenWrapper) -> Result<(), EncodingError> {
    let [first, second, third] = wrapper.numbers;
    let small = |v: u32| u8::try_from(v).unwrap_or(u8::MAX);
    let bare = inner.dot.is_none() && inner.partition.is_none() && inner.slices.is_empty();
    match usize::from(wrapper.attribute) {
        SLICE => inner.slices.push(small(first))?,
        DOT if bare => {
            inner.dot = Some(DotOp { op_idx: small(first), k_width: second });
        }
        PARTITION if bare => {
            inner.partition =
                Some(Partition { partitions: first, groups: second, dim: small(third) });
        }
        _ => return Err(EncodingError::WrongKind),
    }
    Ok(())
}
