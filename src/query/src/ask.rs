//! Queries: names, an expression, and what is asked about it.

use crate::answer::{self, MAX_PARTS, PositionPart, QueryAnswer, QueryTopic};
use crate::error::{Needed, QueryError, Why};
use crate::eval;
use crate::functions::QueryFunction;
use crate::literal::Fault;
use crate::text::{self, Scanner, TextSpan};
use crate::value::{Asked, Placed, QueryStorage, QueryValue};
use lanebook_layout::cute::{IntTuple, TupleRef};
use lanebook_layout::notation::cute as notation;
use lanebook_layout::{AxisId, AxisNames, WellKnown, cute};
use lanebook_tables::{ArchId, Tables};

/// The answer to a query.
///
/// ```text
/// query    = { "let" NAME "=" expression ";" } [ expression [ "at" coordinate | "where" { PART number } ] ] [ "on" ARCHITECTURE ]
/// operand  = layout | encoding | instruction [ "." part ] | architecture | function "(" [ expression { "," expression } ] ")" | "(" expression ")" | name | number | tuple
/// expression = operand [ "@" EXTENT { "x" EXTENT } ] { "o" expression }
/// ```
///
/// `arch` is the architecture where the query does not name one. Names stay in `storage` for later queries.
///
/// # Errors
/// [`QueryError`] with the place and the reason; names that were given before it stay.
pub fn ask<'q>(
    tables: &'q Tables<'q>,
    arch: Option<ArchId>,
    text: &'q str,
    storage: &'q mut QueryStorage,
) -> Result<QueryAnswer<'q>, QueryError> {
    match topic(tables, arch, text, storage) {
        Ok((asked, start, topic)) => Ok(QueryAnswer { asked, storage, text, start, topic }),
        Err((at, why)) => Err(QueryError::at(text, at, why)),
    }
}

fn topic<'q>(
    tables: &'q Tables<'q>,
    arch: Option<ArchId>,
    text: &'q str,
    storage: &mut QueryStorage,
) -> Result<(Asked<'q>, u32, QueryTopic), Fault> {
    let (body, arch) = on_arch(tables, arch, text)?;
    let asked = Asked { tables, arch };
    let mut scan = Scanner::new(body);
    names(asked, &mut scan, storage)?;
    if scan.peek().is_none() {
        return Ok((asked, 0, QueryTopic::Names));
    }
    let start = TextSpan::new(scan.at, scan.at).start;
    if let Some(question) = eval::expression(asked, &mut scan, storage)? {
        end(&mut scan)?;
        answer::prepare(question, storage).map_err(|why| (start, why))?;
        return Ok((asked, start, QueryTopic::Question(question)));
    }
    if let QueryValue::Word(span) = storage.value(0) {
        let word = span.of(body);
        if let Some(function) = QueryFunction::named(word) {
            return bare(asked, function, &mut scan, start, storage);
        }
        if let Some(own) = tables.arch_named(word) {
            // An architecture by itself: its figures. Another one behind it would mean nothing.
            if body.len() != text.len() {
                let behind = TextSpan::new(body.len(), text.len()).start;
                return Err((behind, Why::Needed(Needed::End)));
            }
            let asked = Asked { tables, arch: Some(own) };
            return bare(asked, QueryFunction::Figures, &mut scan, start, storage);
        }
        if tables.family(asked.arch, word).next().is_none() {
            return Err((start, Why::UnknownName));
        }
    }
    if scan.eat_word("at") {
        let topic = at(&mut scan, storage)?;
        return Ok((asked, start, topic));
    }
    if scan.eat_word("where") {
        let topic = positions(&mut scan, storage)?;
        return Ok((asked, start, topic));
    }
    end(&mut scan)?;
    Ok((asked, start, QueryTopic::Value))
}

/// A function's name by itself: a question that takes nothing, or what it takes.
fn bare<'q>(
    asked: Asked<'q>,
    function: QueryFunction,
    scan: &mut Scanner<'_>,
    start: u32,
    storage: &mut QueryStorage,
) -> Result<(Asked<'q>, u32, QueryTopic), Fault> {
    let form = function.form().ok_or((start, Why::UnknownFunction))?;
    if form.arguments.0 > 0 || !function.is_question() {
        return Err((start, Why::Arguments { function, found: 0 }));
    }
    end(scan)?;
    storage.used = 0;
    answer::prepare(function, storage).map_err(|why| (start, why))?;
    Ok((asked, start, QueryTopic::Question(function)))
}

fn end(scan: &mut Scanner<'_>) -> Result<(), Fault> {
    match scan.peek() {
        None => Ok(()),
        Some(_) => Err((TextSpan::new(scan.at, scan.at).start, Why::Needed(Needed::End))),
    }
}

/// Takes `on ARCHITECTURE` from the end.
pub(crate) fn on_arch<'q>(
    tables: &Tables<'_>,
    arch: Option<ArchId>,
    text: &'q str,
) -> Result<(&'q str, Option<ArchId>), Fault> {
    // Looked for byte by byte: the search of a string in another one can panic as far as the linker knows.
    let found = text.as_bytes().windows(4).rposition(|four| four == b" on ");
    let parts = found.and_then(|at| Some((text.get(..at)?, text.get(at.checked_add(4)?..)?)));
    let Some((body, name)) = parts else { return Ok((text, arch)) };
    let found = tables.arch_named(name.trim());
    let at = TextSpan::new(body.len().saturating_add(4), 0).start;
    Ok((body, Some(found.ok_or((at, Why::UnknownArch))?)))
}

/// Takes what is named before an expression.
pub(crate) fn names(
    asked: Asked<'_>,
    scan: &mut Scanner<'_>,
    storage: &mut QueryStorage,
) -> Result<(), Fault> {
    while scan.sees("let") || scan.sees_alias() {
        name(asked, scan, storage)?;
    }
    Ok(())
}

/// Takes `let NAME = expression;`, or `#NAME = expression` as a module of Triton's has it.
fn name(asked: Asked<'_>, scan: &mut Scanner<'_>, storage: &mut QueryStorage) -> Result<(), Fault> {
    let alias = !scan.eat_word("let") && scan.eat(b'#');
    scan.peek();
    let here = TextSpan::new(scan.at, scan.at).start;
    let name = scan.name().ok_or((here, Why::Needed(Needed::Name)))?;
    if !scan.eat(b'=') {
        return Err((TextSpan::new(scan.at, scan.at).start, Why::Needed(Needed::Equals)));
    }
    if let Some(function) = eval::expression(asked, scan, storage)? {
        return Err((here, Why::Nested { function }));
    }
    storage.name(name, 0).map_err(|why| (here, why))?;
    // Aliases stand on lines of their own.
    if !scan.eat(b';') && scan.peek().is_some() && !(alias && scan.at_line_start()) {
        return Err((TextSpan::new(scan.at, scan.at).start, Why::Needed(Needed::Semicolon)));
    }
    Ok(())
}

/// What follows `at`: a coordinate.
fn at(scan: &mut Scanner<'_>, storage: &mut QueryStorage) -> Result<QueryTopic, Fault> {
    scan.peek();
    let span = TextSpan::new(scan.at, scan.text.len());
    let here = span.start;
    let tuple =
        notation::parse_tuple(span.of(scan.text), &mut storage.symbols).map_err(|error| {
            let within = text::offset(span.of(scan.text), error.line, error.col);
            (TextSpan::new(scan.at.saturating_add(within), 0).start, Why::Notation(error.expected))
        })?;
    let placed = storage.value(0).placed().map_err(|why| (here, why))?;
    let mut numbers: heapless::Vec<u64, 32> = heapless::Vec::new();
    for leaf in tuple.view().leaves() {
        let number = leaf.value().ok().and_then(|n| u64::try_from(n).ok());
        let known = number.ok_or((here, Why::Needed(Needed::Coordinate)))?;
        numbers.push(known).map_err(|_| (here, Why::TooDeep))?;
    }
    let mut room = [0u32; 32];
    let rank = placed.extents(&mut room).len();
    let refused = (here, Why::Coordinate { rank: u8::try_from(rank).unwrap_or(u8::MAX) });
    let whole = placed.elements.rank == 0 && !placed.elements.row_major && numbers.len() != 1;
    let flat = match congruent(tuple.view(), placed) {
        true if whole => by_leaves(&numbers, placed),
        _ => placed.flat(&numbers),
    };
    let size = placed.layout.view().size_value().map_err(|e| (here, e.into()))?;
    flat.filter(|flat| *flat < size).map(QueryTopic::Element).ok_or(refused)
}

/// Whether a coordinate has the tree of the layout's shape.
fn congruent(coordinate: TupleRef<'_>, placed: &Placed) -> bool {
    IntTuple::shape_of(&placed.layout.view())
        .is_ok_and(|shape| cute::congruent(coordinate, shape.view()))
}

/// The number of the element with these digits, the first the fastest.
fn by_leaves(digits: &[u64], placed: &Placed) -> Option<u64> {
    let (mut sum, mut weight) = (0u64, 1u64);
    for (digit, it) in digits.iter().zip(placed.layout.view().shard) {
        let extent = u64::from(it.extent_value().ok()?);
        if *digit >= extent {
            return None;
        }
        sum = sum.checked_add(digit.checked_mul(weight)?)?;
        weight = weight.checked_mul(extent)?;
    }
    Some(sum)
}

/// What follows `where`: parts of a position.
fn positions(scan: &mut Scanner<'_>, storage: &QueryStorage) -> Result<QueryTopic, Fault> {
    let mut parts = [None; MAX_PARTS];
    let mut slots = parts.iter_mut();
    while scan.peek().is_some() {
        let here = TextSpan::new(scan.at, scan.at).start;
        let placed = storage.value(0).placed().map_err(|why| (here, why))?;
        let name = scan.name().ok_or((here, Why::Needed(Needed::Part)))?;
        scan.peek();
        let there = TextSpan::new(scan.at, scan.at).start;
        let number = scan.word();
        let position: i64 =
            number.of(scan.text).parse().map_err(|_| (there, Why::Needed(Needed::Number)))?;
        let found = part(placed, name, position).map_err(|why| (here, why))?;
        *slots.next().ok_or((here, Why::Needed(Needed::End)))? = Some(found);
        scan.eat(b',');
    }
    Ok(QueryTopic::Where(parts))
}

/// The positions that a part of a `where` means.
fn part(placed: &Placed, name: &str, position: i64) -> Result<PositionPart, Why> {
    let axes = placed.layout.view().axes()?;
    let has = |axis: AxisId| axes.contains(&axis);
    let one = |axis: AxisId| PositionPart { axis, first: position, last: position };
    let span = |axis: AxisId, first: i64, count: i64| PositionPart {
        axis,
        first,
        last: first.saturating_add(count).saturating_sub(1),
    };
    let bits = i64::from(placed.elements.bits);
    let found = match name {
        "lane" | "thread" => [AxisId::LANE, AxisId::TX, AxisId::TID_IN_WG]
            .into_iter()
            .find(|axis| has(*axis))
            .map(one),
        "warp" | "wave" => {
            [AxisId::WARP, AxisId::WID_IN_WG].into_iter().find(|axis| has(*axis)).map(one)
        }
        "reg" | "register" if has(AxisId::REGISTER) => Some(one(AxisId::REGISTER)),
        "reg" | "register" if has(AxisId::BIT) && placed.elements.register_bits > 0 => {
            let width = i64::from(placed.elements.register_bits);
            Some(span(AxisId::BIT, position.saturating_mul(width), width))
        }
        // Without registers, places of a thread are counted on the memory axis.
        "reg" | "register" if has(AxisId::M) && axes.len() > 1 => Some(one(AxisId::M)),
        "byte" if has(AxisId::BYTE) => Some(one(AxisId::BYTE)),
        "byte" if has(AxisId::M) => {
            if bits == 0 {
                return Err(Why::NeedsBits);
            }
            // The element that holds the byte, or the elements in it.
            let first = position.saturating_mul(8).checked_div_euclid(bits).unwrap_or(0);
            Some(span(AxisId::M, first, (8i64).checked_div(bits).unwrap_or(1).max(1)))
        }
        "offset" if has(AxisId::M) => Some(one(AxisId::M)),
        _ => WellKnown.axis(name).filter(|axis| has(*axis)).map(one),
    };
    found.ok_or(Why::Needed(Needed::Part))
}
