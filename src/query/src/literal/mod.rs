//! What is written out: layouts and encodings in every notation, tuples, numbers.

pub(crate) mod tiles;

use crate::error::{Needed, Why};
use crate::text::{self, Scanner, TextSpan};
use crate::value::{ElementOrder, LooseSwizzle, MAX_DIMS, Placed, QueryStorage, QueryValue};
use lanebook_infer::notation::{self, NotationError, NotationFault};
use lanebook_layout::notation::{ParseError, basis, cute, tileas, tirx, ttg, ttg_print};
use lanebook_layout::{Int, PostMap, Swizzle, SymId, SymNames, SymTable, Unit, WellKnown};
use lanebook_tables::Tables;
use lanebook_tile::unit;

/// Where in the query something is wrong, and what.
pub(crate) type Fault = (u32, Why);

/// The element types of the tables, as the descriptors' notation asks for them.
pub(crate) struct ElementTypes<'t>(pub(crate) &'t Tables<'t>);

impl tileas::ElementNames for ElementTypes<'_> {
    fn element(&self, name: &str) -> Option<tileas::ElementId> {
        self.0.element_type(name).map(|id| tileas::ElementId(id.0))
    }

    fn name(&self, id: tileas::ElementId) -> Option<&str> {
        self.0.dtypes.get(usize::from(id.0)).map(|dtype| dtype.name)
    }

    fn bits(&self, id: tileas::ElementId) -> Option<u16> {
        self.0.dtypes.get(usize::from(id.0)).map(|dtype| dtype.bits)
    }
}

/// A notation's error, at its place in the query.
fn moved(span: TextSpan, query: &str, error: ParseError) -> Fault {
    let within = text::offset(span.of(query), error.line, error.col);
    let at = span.start.saturating_add(u32::try_from(within).unwrap_or(u32::MAX));
    (at, Why::Notation(error.expected))
}

/// Reads an encoding of Triton, `#ttg.blocked<{...}>`, or the name of one, `#blocked`.
pub(crate) fn encoding(
    scan: &mut Scanner<'_>,
    storage: &mut QueryStorage,
    at: usize,
) -> Result<(), Fault> {
    let mut ahead = *scan;
    ahead.at = ahead.at.saturating_add(1);
    let here = TextSpan::new(ahead.at, ahead.at).start;
    if let Some(name) = ahead.name()
        && ahead.peek() != Some(b'.')
        && ahead.peek() != Some(b'<')
    {
        if !storage.recall(name, at) {
            return Err((here, Why::UnknownName));
        }
        *scan = ahead;
        return Ok(());
    }
    let start = scan.at;
    let mut behind = Scanner { at: start.saturating_add(1), ..*scan };
    let word = behind.word();
    if SPACES.contains(&word.of(scan.text)) && behind.peek() != Some(b'<') {
        // A module's name for a kind of memory says nothing of places.
        *scan = behind;
        return storage.set(at, QueryValue::Word(word)).map_err(|why| (here, why));
    }
    let mut ahead = behind;
    let Some(span) = (behind.peek() == Some(b'<')).then(|| ahead.bracket()).flatten() else {
        return attribute(scan, storage.slot(at));
    };
    let whole = TextSpan { start: TextSpan::new(start, start).start, ..span };
    match spelled(whole.of(scan.text), storage, here)? {
        false => attribute(scan, storage.slot(at)),
        true => {
            scan.at = whole.end as usize;
            respelled(storage, at, whole.start)
        }
    }
}

/// Reads the encoding in lent memory. What is wrong stands somewhere in the written one: its names are written out here.
#[inline(never)]
fn respelled(storage: &mut QueryStorage, at: usize, start: u32) -> Result<(), Fault> {
    let QueryStorage { values, room, .. } = storage;
    let slot = values.get_mut(at).ok_or((start, Why::TooDeep))?;
    let read = ttg::parse(&room.text).map_err(|error| (start, Why::Notation(error.expected)))?;
    *slot = QueryValue::Encoding(read);
    Ok(())
}

/// Kinds of memory, as modules of Triton's call them.
const SPACES: [&str; 2] = ["ttg.shared_memory", "ttng.tensor_memory"];

/// Writes an encoding's text into lent memory with the names in it, `parent = #blocked`, as what they stand for; whether
/// there are any.
#[inline(never)]
fn spelled(text: &str, storage: &mut QueryStorage, here: u32) -> Result<bool, Fault> {
    let QueryStorage { names, named, room, .. } = storage;
    let known = names.get(..usize::from(*named)).unwrap_or(&[]);
    let full = (here, Why::TooDeep);
    room.text.clear();
    let (mut rest, mut any) = (text, false);
    while let Some((before, after)) = text::split_first(rest, b'#') {
        let mut scan = Scanner::new(after);
        let name = scan.name().unwrap_or_default();
        room.text.push_str(before).map_err(|_| full)?;
        if scan.peek() == Some(b'.') {
            room.text.push('#').map_err(|_| full)?;
            rest = after;
            continue;
        }
        let place = text.len().saturating_sub(after.len());
        let there = here.saturating_add(TextSpan::new(place, place).start).saturating_sub(1);
        let found = known.iter().rev().find(|one| one.name == name);
        let Some(QueryValue::Encoding(encoding)) = found.map(|one| &one.value) else {
            return Err((there, Why::UnknownName));
        };
        ttg_print::print(&mut room.text, encoding).map_err(|_| full)?;
        any = true;
        rest = after.get(name.len()..).unwrap_or_default();
    }
    room.text.push_str(rest).map_err(|_| full)?;
    Ok(any)
}

/// Reads a tile's type as MLIR writes it, `tensor<64x128xf16, #ttg.blocked<{...}>>` or `!ttg.memdesc<64x64xf16, #shared, #smem>`, from
/// behind its word: the encoding, and what shape and type it has.
pub(crate) fn tile_type(
    asked: &Tables<'_>,
    scan: &mut Scanner<'_>,
    storage: &mut QueryStorage,
    at: usize,
) -> Result<TileType, Fault> {
    let here = TextSpan::new(scan.at, scan.at).start;
    let mut ahead = *scan;
    let span = ahead.bracket().ok_or((here, Why::Needed(Needed::CloseBracket)))?;
    scan.eat(b'<');
    let mut out = TileType::default();
    while let Some(extent) = scan.extent() {
        out.extents.push(extent).map_err(|_| (here, Why::TooDeep))?;
    }
    if scan.peek() == Some(b'!') {
        // Pointers are what they point to.
        scan.at = scan.at.saturating_add(1);
        scan.word();
        scan.eat(b'<');
        let word = scan.word();
        out.bits = element_bits(asked, word.of(scan.text)).map_err(|why| (word.start, why))?;
        scan.eat(b'>');
    } else {
        let word = scan.word();
        out.bits = element_bits(asked, word.of(scan.text)).map_err(|why| (word.start, why))?;
    }
    let place = TextSpan::new(scan.at, scan.at).start;
    if !scan.eat(b',') || scan.peek() != Some(b'#') {
        return Err((place, Why::Needed(Needed::Operand)));
    }
    encoding(scan, storage, at)?;
    // The space, and whether it may be written, say nothing of places.
    scan.at = span.end as usize;
    Ok(out)
}

/// The shape and element of a tile's type.
#[derive(Default)]
pub(crate) struct TileType {
    pub(crate) extents: heapless::Vec<u32, 5>,
    pub(crate) bits: u16,
}

#[inline(never)]
fn attribute(scan: &mut Scanner<'_>, out: &mut QueryValue) -> Result<(), Fault> {
    let start = scan.at;
    scan.at = scan.at.saturating_add(1);
    scan.word();
    let end = match scan.peek() {
        Some(b'<') => scan.bracket().map(|span| span.end as usize),
        _ => None,
    };
    // Where a bracket is missing the notation's reader says so.
    let span = TextSpan::new(start, end.unwrap_or(scan.text.len()));
    let read = ttg::parse(span.of(scan.text)).map_err(|error| moved(span, scan.text, error))?;
    *out = QueryValue::Encoding(read);
    scan.at = span.end as usize;
    Ok(())
}

/// Reads a descriptor, `<(128,64),(64,1),swizzle<3,4,3>,elem=f16>`. Its swizzle counts bytes, so that it is a layout
/// where the element's width is known.
#[inline(never)]
pub(crate) fn descriptor(
    scan: &mut Scanner<'_>,
    tables: &Tables<'_>,
    out: &mut QueryValue,
) -> Result<(), Fault> {
    let start = scan.at;
    let here = TextSpan::new(start, start).start;
    let span = scan.bracket().unwrap_or(TextSpan::new(start, scan.text.len()));
    let types = ElementTypes(tables);
    let read =
        tileas::parse(span.of(scan.text), &types).map_err(|error| moved(span, scan.text, error))?;
    // Behind it, if not in it.
    let mut ahead = *scan;
    let behind = match ahead.eat_word("of") {
        true => tables.element_type(ahead.word().of(scan.text)),
        false => None,
    };
    let behind = behind.and_then(|id| tables.dtypes.get(id.index())).map(|dtype| dtype.bits);
    let bits = read.element.and_then(|id| tileas::ElementNames::bits(&types, id)).or(behind);
    *out = QueryValue::Descriptor(read);
    match bits {
        Some(bits) => of_width(out, bits).map_err(|why| (here, why)),
        None if swizzled(out) => Ok(()),
        None => of_width(out, 0).map_err(|why| (here, why)),
    }
}

/// Whether a descriptor moves bytes, so that positions of its elements depend on their width.
fn swizzled(value: &QueryValue) -> bool {
    let QueryValue::Descriptor(read) = value else { return false };
    read.swizzle.is_some_and(|triple| triple.b > 0)
}

/// The layout of a descriptor whose elements have so many bits; 0 where none is needed.
#[inline(never)]
pub(crate) fn of_width(value: &mut QueryValue, bits: u16) -> Result<(), Why> {
    let QueryValue::Descriptor(read) = value else { return Err(value.no_layout()) };
    let mut layout = core::mem::take(&mut read.layout);
    if let Some(triple) = read.swizzle.filter(|triple| triple.b > 0) {
        let far = |_| Why::Layout(lanebook_layout::Error::Overflow);
        let distance = i8::try_from(triple.s).map_err(far)?;
        let bytes = Swizzle::new(triple.b, triple.m, distance, Unit::Byte)?;
        layout.set_post(PostMap::Swizzle(on_elements(bytes, bits)?))?;
    }
    let elements = ElementOrder { bits, ..ElementOrder::default() };
    *value = QueryValue::Layout(Placed { layout, elements });
    Ok(())
}

/// A swizzle of bytes as what it does to positions of elements of so many bits.
pub(crate) fn on_elements(bytes: Swizzle, bits: u16) -> Result<Swizzle, Why> {
    if bits == 0 {
        return Err(Why::NeedsBits);
    }
    Ok(unit::swizzle::in_elements(bytes, bits, Unit::Codomain)?)
}

/// Reads `S<3,4,3>`; `Sw<3,4,3>` is CuTe's own print of it.
pub(crate) fn swizzle(scan: &mut Scanner<'_>, out: &mut QueryValue) -> Result<(), Fault> {
    let start = scan.at;
    let here = TextSpan::new(start, start).start;
    let _ = scan.name();
    let span = scan.bracket().ok_or((here, Why::Needed(Needed::CloseBracket)))?;
    let mut numbers = [0i8; 3];
    let written = span.of(scan.text);
    let mut rest = written.get(1..written.len().saturating_sub(1));
    for slot in &mut numbers {
        let inside = rest.ok_or((span.start, Why::Needed(Needed::Number)))?;
        let (part, after) = match text::split_first(inside, b',') {
            Some((part, after)) => (part, Some(after)),
            None => (inside, None),
        };
        *slot = part.trim().parse().map_err(|_| (span.start, Why::Needed(Needed::Number)))?;
        rest = after;
    }
    let [b, m, s] = numbers;
    let invalid = Why::Notation(lanebook_layout::notation::Expected::ValidSwizzle);
    let made = u8::try_from(b).ok().zip(u8::try_from(m).ok()).filter(|_| rest.is_none());
    let made = made.and_then(|(b, m)| Swizzle::new(b, m, s, Unit::Codomain).ok());
    let swizzle = made.ok_or((span.start, invalid))?;
    *out = QueryValue::Swizzle(LooseSwizzle { swizzle, offset: Int::ZERO, bits: 0 });
    Ok(())
}

/// Reads `smem_ptr[16b](unset)`, `gmem_ptr[16b](0x7f00)`: what CuTe prints of a pointer between a swizzle and its layout.
pub(crate) fn pointer(scan: &mut Scanner<'_>, out: &mut QueryValue) -> Result<(), Fault> {
    let here = TextSpan::new(scan.at, scan.at).start;
    let _ = scan.name();
    let bits = scan.bracket().and_then(|span| {
        span.of(scan.text).trim_matches(['[', ']']).trim().strip_suffix('b')?.parse().ok()
    });
    let bits = bits.filter(|bits| *bits > 0).ok_or((here, Why::NeedsBits))?;
    if scan.peek() == Some(b'(') {
        scan.bracket().ok_or((here, Why::Needed(Needed::CloseBracket)))?;
    }
    *out = QueryValue::Pointer(bits);
    Ok(())
}

/// Reads a fragment: as TileLang writes and prints it, or `{thread = .., index = .., replicate = n} @ SHAPE`.
#[inline(never)]
pub(crate) fn fragment(
    scan: &mut Scanner<'_>,
    storage: &mut QueryStorage,
    at: usize,
) -> Result<(), Fault> {
    let start = scan.at;
    while !matches!(scan.peek(), Some(b'(' | b'{') | None) {
        scan.at = scan.at.saturating_add(1);
    }
    let by_keys = scan.peek() == Some(b'{');
    let here = TextSpan::new(start, start).start;
    scan.expression_bracket().ok_or((here, Why::Needed(Needed::CloseBracket)))?;
    let written = TextSpan::new(start, scan.at);
    let text = written.of(scan.text);
    let moved =
        |error: NotationError| (here.saturating_add(error.offset), Why::Fragment(error.fault));
    let form = |error| (here, Why::Fragment(NotationFault::Form(error)));
    let said = Some(storage.shape.clone()).filter(|shape| !shape.is_empty());
    let mut arena = storage.fragment.arena();
    let (read, extents) = if by_keys {
        let end = written.end;
        let shape = scan.shape(true).or(said).ok_or((end, Why::NeedsShape))?;
        let vars = arena.dims(&shape).map_err(form)?;
        let read = notation::read(&mut arena, vars, text).map_err(moved)?;
        (read, heapless::Vec::from_slice(&shape).unwrap_or_default())
    } else {
        notation::read_tilelang(&mut arena, text).map_err(moved)?
    };
    let layout = notation::strided(&arena, &read).map_err(moved)?;
    if extents.len() > MAX_DIMS {
        return Err((here, Why::Fragment(NotationFault::Shape)));
    }
    let order = ElementOrder { row_major: true, ..ElementOrder::default() };
    let placed = Placed { layout, elements: order.shaped(&extents) };
    storage.set(at, QueryValue::Layout(placed)).map_err(|why| (here, why))
}

/// Reads a sum of `S[...]`, `R[...]` and offsets, or one of TIRx's constructors.
#[inline(never)]
pub(crate) fn sum(
    scan: &mut Scanner<'_>,
    storage: &mut QueryStorage,
    at: usize,
) -> Result<(), Fault> {
    let span = TextSpan::new(scan.at, scan.literal_end());
    let query = scan.text;
    let read = tirx::parse(span.of(query), &WellKnown, &mut storage.symbols)
        .map_err(|error| moved(span, query, error))?;
    scan.at = span.end as usize;
    let elements = ElementOrder { row_major: true, ..ElementOrder::default() };
    storage
        .set(at, QueryValue::Layout(Placed { layout: read, elements }))
        .and_then(|()| numbered(span.of(query), storage, at))
        .map_err(|why| (span.start, why))
}

/// Puts numbers that have a name into a layout or tree that mentions them.
#[inline(never)]
fn numbered(written: &str, storage: &mut QueryStorage, at: usize) -> Result<(), Why> {
    for number in 0..storage.named {
        let Some((name, value)) = storage.numbers().nth(usize::from(number)) else { break };
        if !text::mentions(written, name) {
            continue;
        }
        let mut owned: heapless::String<24> = heapless::String::new();
        owned.push_str(name).map_err(|_| Why::TooManyNames)?;
        let Some(symbol) = storage.symbols.sym(&owned) else { continue };
        becomes(storage, at, symbol, value)?;
    }
    // Sums are symbols of their own.
    for number in 1..=SymTable::MOST {
        let Some(symbol) = SymId::new(number) else { break };
        let name = storage.symbols.name(symbol).filter(|name| name.as_bytes().contains(&b'+'));
        let Some(value) = name.and_then(|name| sum_of(name, storage)) else { continue };
        becomes(storage, at, symbol, value)?;
    }
    Ok(())
}

/// A symbol of a value becomes a number.
fn becomes(storage: &mut QueryStorage, at: usize, symbol: SymId, number: i64) -> Result<(), Why> {
    match storage.values.get_mut(at) {
        Some(QueryValue::Layout(placed)) => known(placed, symbol, number)?,
        Some(QueryValue::Tuple(tuple)) => tuple.substitute(symbol, number)?,
        Some(QueryValue::Number(value)) => *value = value.substitute(symbol, number)?,
        _ => {}
    }
    Ok(())
}

/// What a sum of products comes to, if all names in it stand for numbers.
fn sum_of(name: &str, storage: &QueryStorage) -> Option<i64> {
    let (mut sum, mut rest) = (0i64, Some(name));
    while let Some(terms) = rest {
        let (term, behind) = match text::split_first(terms, b'+') {
            Some((term, behind)) => (term, Some(behind)),
            None => (terms, None),
        };
        let (mut product, mut factors) = (1i64, Some(term));
        while let Some(all) = factors {
            let (factor, others) = match text::split_first(all, b'*') {
                Some((factor, others)) => (factor, Some(others)),
                None => (all, None),
            };
            let named = || storage.numbers().find(|(name, _)| *name == factor);
            let value = factor.parse().ok().or_else(|| named().map(|(_, value)| value))?;
            product = product.checked_mul(value)?;
            factors = others;
        }
        sum = sum.checked_add(product)?;
        rest = behind;
    }
    Some(sum)
}

#[inline(never)]
fn known(placed: &mut Placed, symbol: SymId, value: i64) -> Result<(), Why> {
    placed.layout = placed.layout.substitute(symbol, value)?;
    Ok(())
}

/// Reads a layout in CuTe's notation, a basis, a tuple or a number.
#[inline(never)]
pub(crate) fn tree(
    scan: &mut Scanner<'_>,
    storage: &mut QueryStorage,
    at: usize,
) -> Result<(), Fault> {
    let span = TextSpan::new(scan.at, scan.literal_end());
    let query = scan.text;
    let written = span.of(query);
    scan.at = span.end as usize;
    if written.as_bytes().contains(&b':') {
        let layout = cute::parse(written, &WellKnown, &mut storage.symbols)
            .map_err(|error| moved(span, query, error))?;
        let placed = Placed { layout, elements: ElementOrder::default() };
        return storage
            .set(at, QueryValue::Layout(placed))
            .and_then(|()| numbered(written, storage, at))
            .map_err(|why| (span.start, why));
    }
    if written.as_bytes().contains(&b'@') {
        return basis_over(span, query, storage, at);
    }
    let read = cute::parse_tuple(written, &mut storage.symbols)
        .map_err(|error| moved(span, query, error))?;
    let value = match read.view().as_leaf() {
        Some(number) => QueryValue::Number(number),
        None => QueryValue::Tuple(read),
    };
    storage
        .set(at, value)
        .and_then(|()| numbered(written, storage, at))
        .map_err(|why| (span.start, why))
}

/// A basis is a layout's strides; without a shape each vector is one step of a coordinate that has no bound, which no
/// layout says, so that it needs `SHAPE : BASIS`.
#[inline(never)]
fn basis_over(
    span: TextSpan,
    query: &str,
    storage: &mut QueryStorage,
    at: usize,
) -> Result<(), Fault> {
    let read = basis::parse_strides(span.of(query), &mut storage.symbols)
        .map_err(|error| moved(span, query, error))?;
    storage.set(at, QueryValue::Basis(read)).map_err(|why| (span.start, why))
}

/// The name of a symbol that has been met.
pub(crate) fn symbol(name: &str, storage: &mut QueryStorage) -> Option<Int> {
    storage.symbols.sym(name).map(Int::sym)
}

/// The bits of an element type.
pub(crate) fn element_bits(tables: &Tables<'_>, name: &str) -> Result<u16, Why> {
    let found = tables.element_type(name).and_then(|id| tables.dtypes.get(id.index()));
    found.map(|dtype| dtype.bits).ok_or(Why::UnknownType)
}
