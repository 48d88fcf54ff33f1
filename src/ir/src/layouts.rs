//! Layouts that a program writes in the strided notations (TIRx, CuTe, TileAS): each spelling is
//! read once, when the text is, and equal maps are one [`LayoutId`].
//!
//! What was read stands in cells of the pool that also has the texts that passes write: a record
//! for each spelling, which leads to that of the map. Whoever asks what a layout says takes it from
//! there, so that an image which is given its programs, and reads no text, has no reader in it.
//! Triton's encodings are no part of this: what they mean depends on shape and architecture, and
//! the pass that weighs them keeps numbers of its own (`layout_table`).
use crate::attr::AttrValue;
use crate::attr_names;
use crate::chains::Digest;
use crate::edit::edit_ops::Edit;
use crate::error::ErrorKind;
use crate::handle::{TextRef, Value};
use crate::program::Program;
use crate::storage::Pools;
use crate::types::{TileEncoding, Type};
use core::hash::Hasher;
use heapless::Vec;
use lanebook_layout::notation::{cute, tileas, tirx};
use lanebook_layout::packed::{MAX_PACKED, pack, unpack};
use lanebook_layout::{AxisId, AxisNames, Layout, NoSyms, PostMap, Swizzle, Unit, WellKnown};
use lanebook_tables::contract::notation;

/// A layout of a program by number: those that map positions alike, counted in the same order, have
/// one number, however they are spelled.
///
/// ```
/// use lanebook::TABLES;
/// use lanebook::ir::{LayoutFault, Options, PositionOrder, SmallStorage, parse};
/// use lanebook::layout::Layout;
///
/// let text = "#a = (64,64):(64,1)
/// #b = ((8,8),(4,16)):((64,512),(1,4))
/// func @f() {threads = 128} {
///   %a = alloc_tensor : tensor<64x64xf16, #smem, #a>
///   %b = alloc_tensor : tensor<64x64xf16, #smem, #b>
///   %c = alloc_tensor {layout = (64,64):(64,nothing)} : tensor<64x64xf16, #smem>
/// }";
/// let mut storage = Box::new(SmallStorage::new());
/// let program = parse(storage.pools(), &TABLES, text, Options::default()).unwrap();
/// let id = program.layout_id(program.alias("a").unwrap()).unwrap().unwrap();
/// assert_eq!(program.layout_id(program.alias("b").unwrap()), Some(Ok(id)));
/// assert_eq!(program.layout_id("(64,64):(64,nothing)"), Some(Err(LayoutFault::Unreadable)));
/// let mut layout = Layout::new();
/// assert_eq!(program.layout_at(id, &mut layout), Some(PositionOrder::RowsFastest));
/// assert_eq!(layout.view().shard.len(), 2);
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LayoutId(u16);

/// In which order a layout's positions count the elements of a tile.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum PositionOrder {
    /// Along columns first, as TIRx does.
    ColumnsFastest,
    /// Along rows first, as CuTe and TileAS do.
    RowsFastest,
}

/// Why there is no layout behind a spelling.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum LayoutFault {
    /// None of the notations reads it.
    Unreadable,
    /// It names elements, which the tile's type says.
    Element,
    /// Its swizzle is none.
    Swizzle,
}

const FAULTS: [LayoutFault; 3] =
    [LayoutFault::Unreadable, LayoutFault::Element, LayoutFault::Swizzle];

/// First bytes of records; in no text.
const SPELLING: u8 = 0xff;
const MAP: u8 = 0xfe;
/// The same as [`SPELLING`], of a text that stands in the pool itself.
const MADE_SPELLING: u8 = 0xfd;
/// Places bit by bit, which no strides say.
const BITS: u8 = 0xfc;
/// Where a spelling's record has a fault: above all cells, so that the last ones stay unused.
const FAULT: u16 = 0xfff0;
/// The order, behind a map's first byte.
const ROWS_FASTEST: u8 = 1;

/// A map's record: two bytes and the layout.
type MapBytes = Vec<u8, { MAX_PACKED + 2 }>;

impl Program<'_, '_> {
    /// What was read of a layout's text; `None` if nothing was: in another notation, or not written
    /// in the program's text.
    #[must_use]
    pub fn layout_id(&self, text: &str) -> Option<Result<LayoutId, LayoutFault>> {
        let at = self.pools.find_made(Digest::of(text), |bytes| {
            self.spelled(bytes).is_some_and(|(name, _)| name == text)
        })?;
        let (_, map) = self.spelled(self.pools.made_bytes(at))?;
        Some(match map.checked_sub(FAULT) {
            Some(fault) => Err(FAULTS.get(usize::from(fault)).copied()?),
            None => Ok(LayoutId(map)),
        })
    }
    /// The text of a record, and what was read of it.
    fn spelled<'p>(&'p self, bytes: &[u8]) -> Option<(&'p str, u16)> {
        match *bytes {
            [SPELLING, a, b, c, d, e, f, g, h, ..] => {
                let start = u32::from_le_bytes([a, b, c, d]);
                let len = u16::from_le_bytes([e, f]);
                let name = TextRef::span(start as usize, usize::from(len))?;
                Some((self.text(name), u16::from_le_bytes([g, h])))
            }
            [MADE_SPELLING, a, b, c, d, e, f, ..] => {
                let made = self.pools.made(u16::from_le_bytes([a, b]), u16::from_le_bytes([c, d]));
                Some((made, u16::from_le_bytes([e, f])))
            }
            _ => None,
        }
    }
    /// A layout by its number, with as few iters as possible and without its tree, and the order in
    /// which it counts; `None` for another program's number.
    pub fn layout_at(&self, id: LayoutId, out: &mut Layout) -> Option<PositionOrder> {
        let [MAP, order, bytes @ ..] = self.pools.made_bytes(usize::from(id.0)) else {
            return None;
        };
        unpack(bytes, out)?;
        let rows = *order == ROWS_FASTEST;
        Some(if rows { PositionOrder::RowsFastest } else { PositionOrder::ColumnsFastest })
    }
    /// Whether two types have one layout: one encoding, one text under two names, or two spellings
    /// of one map.
    #[doc(hidden)]
    #[must_use]
    pub fn same_layout(&self, a: &Type, b: &Type) -> bool {
        if self.same_encoding(a, b) {
            return true;
        }
        let (Some(a), Some(b)) = (self.layout_text(a), self.layout_text(b)) else { return false };
        // Most are Triton's, which have no numbers here and are many.
        let id = |text: &str| {
            let other = text.as_bytes().first() == Some(&b'#');
            if other { None } else { self.layout_id(text).and_then(Result::ok) }
        };
        a == b || id(a).is_some_and(|a| id(b) == Some(a))
    }
    /// The same for types that have one layout.
    #[doc(hidden)]
    #[must_use]
    pub fn layout_digest(&self, ty: &Type) -> u32 {
        let Some(text) = self.layout_text(ty) else {
            // A name that stands for nothing is one of its own.
            return Digest::of(self.layout_words(ty).unwrap_or(""));
        };
        match self.layout_id(text) {
            Some(Ok(LayoutId(number))) => u32::from(number).wrapping_mul(0x9e37_79b9),
            _ => Digest::of(text),
        }
    }
    /// Whether the encodings of two types agree; their layouts are read for it.
    #[inline(never)]
    pub(crate) fn spellings_agree(&mut self, a: &Type, b: &Type) -> Edit<bool> {
        for ty in [a, b] {
            let name = match ty.encoding {
                TileEncoding::Written(name) => Some(name),
                TileEncoding::Alias(name) => {
                    self.alias_data(self.text(name)).map(|alias| alias.body)
                }
                _ => None,
            };
            self.read_layout(name.filter(|_| ty.is_tile()).unwrap_or(TextRef::EMPTY))?;
        }
        Ok(self.encodings_agree(a, b))
    }
    /// Reads each layout that types, names and attributes write in the text and that was not read
    /// yet. The reader of texts has done it; whoever makes a program by hand calls it, or names no
    /// layout.
    ///
    /// ```
    /// use lanebook::TABLES;
    /// use lanebook::ir::{Options, SmallStorage, parse};
    ///
    /// let text = "#a = (8,8):(8,1)
    /// func @f() {threads = 64} {
    ///   %a = alloc_tensor : tensor<8x8xf16, #smem, #a>
    /// }";
    /// let mut storage = Box::new(SmallStorage::new());
    /// let mut program = parse(storage.pools(), &TABLES, text, Options::default()).unwrap();
    /// let id = program.layout_id("(8,8):(8,1)");
    /// assert!(id.is_some());
    /// // What is read stays as it is.
    /// program.read_layouts().unwrap();
    /// assert_eq!(program.layout_id("(8,8):(8,1)"), id);
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Capacity`](crate::ErrorKind::Capacity) of [`Pool::Made`](crate::Pool::Made).
    pub fn read_layouts(&mut self) -> Edit {
        self.read_written(true).map_err(|(kind, _)| kind)
    }
    /// The same; attributes of operations only where some say layouts. The error has the text for
    /// which there was no room.
    #[inline(never)]
    pub(crate) fn read_written(&mut self, in_attrs: bool) -> Result<(), (ErrorKind, TextRef)> {
        for index in 0..self.pools.aliases.len() {
            let body = self.pools.aliases.get(index).map_or(TextRef::EMPTY, |alias| alias.body);
            self.read_layout(body).map_err(|kind| (kind, body))?;
        }
        for index in 0..self.pools.types.len() {
            let ty = self.pools.types.get(index).copied().unwrap_or(Type::ELIDED);
            if let (true, TileEncoding::Written(text)) = (ty.is_tile(), ty.encoding) {
                self.read_layout(text).map_err(|kind| (kind, text))?;
            }
        }
        let mut at = self.first(self.root()).filter(|_| in_attrs);
        while let Some(op) = at {
            at = self.following(op, None);
            if let Some(AttrValue::Layout(text) | AttrValue::Text(text)) =
                self.attr(op, attr_names::LAYOUT)
            {
                self.read_layout(text).map_err(|kind| (kind, text))?;
            }
        }
        Ok(())
    }
    /// Reads a layout, unless it was read before or is in none of the strided notations.
    pub(crate) fn read_layout(&mut self, name: TextRef) -> Edit {
        let text = self.text(name);
        let Some((start, len)) = name.place() else { return Ok(()) };
        let strided = notation::LANES | notation::TIRX | notation::CUTE | notation::TILEAS;
        if notation_of(text) & strided == 0 || self.layout_id(text).is_some() {
            return Ok(());
        }
        let map = self.read_map(text)?;
        let ([a, b, c, d], [e, f], [g, h]) =
            (start.to_le_bytes(), len.to_le_bytes(), map.to_le_bytes());
        let record = [SPELLING, a, b, c, d, e, f, g, h];
        self.pools.make_record(&record, Digest::of(text)).map(|_| ())
    }
    /// The cell of the map that a text writes, or why it writes none.
    fn read_map(&mut self, text: &str) -> Edit<u16> {
        let mut bytes = MapBytes::new();
        match read(text, &mut bytes) {
            Ok(()) => self.pools.make_map(&bytes),
            Err(fault) => Ok(FAULT | fault as u16),
        }
    }
    /// Of a layout that no strides say, but one place for each bit of an element's number, row by
    /// row, that exclusive or combines: these places, the lowest bit's first, in elements.
    #[doc(hidden)] // For the floors above.
    #[must_use]
    pub fn bit_places(&self, id: LayoutId) -> Option<impl Iterator<Item = u32> + '_> {
        let [BITS, count, bytes @ ..] = self.pools.made_bytes(usize::from(id.0)) else {
            return None;
        };
        let (places, _) = bytes.as_chunks::<4>();
        Some(places.iter().take(usize::from(*count)).map(|place| u32::from_le_bytes(*place)))
    }
    /// Gives a tile in shared memory a layout by the places of its bits: what [`Self::bit_places`]
    /// answers then. The text says the same to people, in a notation of another system.
    ///
    /// # Errors
    /// [`ErrorKind::Capacity`] of [`Pool::Made`](crate::Pool::Made), or of types.
    #[doc(hidden)] // Of the crate on top.
    #[inline(never)]
    pub fn write_bit_places(&mut self, value: Value, text: &str, places: &[u32]) -> Edit {
        let (at, len) = self.pools.make(text)?;
        if self.layout_id(text).is_none() {
            let mut bytes = MapBytes::new();
            let full = ErrorKind::Extent;
            let count = u8::try_from(places.len()).map_err(|_| full)?;
            bytes.extend_from_slice(&[BITS, count]).map_err(|_| full)?;
            for place in places {
                bytes.extend_from_slice(&place.to_le_bytes()).map_err(|_| full)?;
            }
            let map = self.pools.make_map(&bytes)?;
            let ([a, b], [c, d], [e, f]) = (at.to_le_bytes(), len.to_le_bytes(), map.to_le_bytes());
            let record = [MADE_SPELLING, a, b, c, d, e, f];
            self.pools.make_record(&record, Digest::of(text))?;
        }
        let encoding = TileEncoding::Interned(at, len);
        self.set_type(value, Type { encoding, ..self.type_of(value) })
    }
    /// Gives a tile a layout in a strided notation, which is read. It stands for one that the
    /// program writes in another notation: what that means depends on the architecture.
    ///
    /// # Errors
    /// [`ErrorKind::Capacity`] of [`Pool::Made`](crate::Pool::Made), or of types.
    #[doc(hidden)] // Of the crate on top.
    #[inline(never)]
    pub fn write_layout(&mut self, value: Value, text: &str) -> Edit {
        let (at, len) = self.pools.make(text)?;
        if self.layout_id(text).is_none() {
            let map = self.read_map(text)?;
            let ([a, b], [c, d], [e, f]) = (at.to_le_bytes(), len.to_le_bytes(), map.to_le_bytes());
            let record = [MADE_SPELLING, a, b, c, d, e, f];
            self.pools.make_record(&record, Digest::of(text))?;
        }
        let encoding = TileEncoding::Interned(at, len);
        self.set_type(value, Type { encoding, ..self.type_of(value) })
    }
}

impl Pools<'_> {
    /// The cell of a map's record, which is made if there is none.
    fn make_map(&mut self, bytes: &[u8]) -> Edit<u16> {
        let mut digest = Digest::NEW;
        digest.write(bytes);
        // No layout's bytes are the beginning of another's.
        match self.find_made(digest.value(), |found| found.starts_with(bytes)) {
            Some(found) => Ok(u16::try_from(found).unwrap_or(u16::MAX)),
            None => self.make_record(bytes, digest.value()),
        }
    }
}

/// The notation of a layout's text, as a bit of [`notation`].
#[must_use]
pub fn notation_of(text: &str) -> u8 {
    let text = text.trim_ascii();
    // Of lanes, warps and bits alone: threads otherwise counted are brought to these first.
    let lanes = || {
        let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let mut axes = words.filter_map(|word| WellKnown.axis(word)).peekable();
        axes.peek().is_some()
            && axes.all(|axis| matches!(axis, AxisId::LANE | AxisId::WARP | AxisId::BIT))
    };
    match text.as_bytes() {
        [b'S' | b'R', b'[', ..] => {
            if lanes() {
                notation::LANES
            } else {
                notation::TIRX
            }
        }
        [b'C', b'o', b'm', b'p', b'o', b's', b'e', ..] => notation::TIRX,
        [b'(' | b'0'..=b'9', ..] | [b'S', b'<', ..] => notation::CUTE,
        [b'<', ..] => notation::TILEAS,
        [b'#', ..] => notation::TRITON,
        [b'{', ..] | [b'T', b'.', b'F', ..] | [b'F', b'r', b'a', b'g', ..] => notation::TILELANG,
        _ => notation::OTHER,
    }
}

/// The record of the map that a text writes.
#[inline(never)]
fn read(text: &str, out: &mut MapBytes) -> Result<(), LayoutFault> {
    let mut layout = Layout::new();
    let order = read_into(text.trim_ascii(), &mut layout)?;
    let head = [MAP, if order == PositionOrder::RowsFastest { ROWS_FASTEST } else { 0 }];
    let kept = out.extend_from_slice(&head).is_ok() && canonical(&layout, out).is_some();
    if kept { Ok(()) } else { Err(LayoutFault::Unreadable) }
}

/// The bytes of the layout's shortest form.
#[inline(never)]
fn canonical(layout: &Layout, out: &mut MapBytes) -> Option<()> {
    let short = lanebook_layout::tirx::canonicalize(&layout.view()).ok();
    let mut view = short.as_ref().unwrap_or(layout).view();
    if view.post.is_identity() {
        view.post = PostMap::None;
    }
    pack(&view, out.as_mut_view())
}

// Each notation in a frame of its own: a layout is large.

fn read_into(text: &str, out: &mut Layout) -> Result<PositionOrder, LayoutFault> {
    if text.starts_with('<') {
        read_tileas(text, out).map(|()| PositionOrder::RowsFastest)
    } else if text.contains('[') {
        tirx::parse_into(text, &WellKnown, &mut NoSyms, out)
            .map(|()| PositionOrder::ColumnsFastest)
            .map_err(|_| LayoutFault::Unreadable)
    } else {
        read_cute(text, out).map(|()| PositionOrder::RowsFastest)
    }
}

#[inline(never)]
fn read_cute(text: &str, out: &mut Layout) -> Result<(), LayoutFault> {
    *out = cute::parse(text, &WellKnown, &mut NoSyms).map_err(|_| LayoutFault::Unreadable)?;
    Ok(())
}

/// The dtype names of a descriptor do not matter here.
struct NoElements;

impl tileas::ElementNames for NoElements {
    fn element(&self, _: &str) -> Option<tileas::ElementId> {
        Some(tileas::ElementId(0))
    }
    fn name(&self, _: tileas::ElementId) -> Option<&str> {
        None
    }
    fn bits(&self, _: tileas::ElementId) -> Option<u16> {
        None
    }
}

#[inline(never)]
fn read_tileas(text: &str, out: &mut Layout) -> Result<(), LayoutFault> {
    let descriptor = tileas::parse(text, &NoElements).map_err(|_| LayoutFault::Unreadable)?;
    if descriptor.element.is_some() {
        return Err(LayoutFault::Element);
    }
    *out = descriptor.layout;
    let Some(t) = descriptor.swizzle else { return Ok(()) };
    let swizzle = i8::try_from(t.s).ok().and_then(|s| Swizzle::new(t.b, t.m, s, Unit::Byte).ok());
    swizzle
        .and_then(|swizzle| out.set_post(PostMap::Swizzle(swizzle)).ok())
        .ok_or(LayoutFault::Swizzle)
}
