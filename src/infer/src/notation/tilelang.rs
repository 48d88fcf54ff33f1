//! Fragments as TileLang's programs write them, and as TileLang prints them:
//!
//! ```text
//! T.Fragment((16, 8), forward_fn=lambda i, j: (i * 2 + j // 4, j % 4), replicate=1)
//! T.Fragment((16, 8), forward_thread_fn=lambda i, j: i * 2 + j // 4)
//! Fragment([16, 8] -> [4], replicate: 1, thread: 32, forward_thread: _i * 2 + _j // 4, forward_index: [_j % 4])
//! ```

use super::{NotationFault, NotationResult, VarNames, expression, fault, part_end};
use crate::{BaseId, FormArena, FragmentForm, IndexForm, MAX_RANK, VarRange, VarRole};

/// Bytes of the text, from one to before another.
type Bytes = (usize, usize);

/// Most coordinates, and the number of the copy.
const MAX_NAMES: usize = MAX_RANK + 1;

/// Reads a fragment, with the extents of its coordinates.
///
/// # Errors
/// The first thing that is wrong with the text.
pub fn read(
    arena: &mut FormArena<'_>,
    text: &str,
) -> NotationResult<(FragmentForm, heapless::Vec<u32, MAX_RANK>)> {
    let begin = text.bytes().position(|b| b == b'(').map_or(text.len(), |at| at.saturating_add(1));
    let end = text.bytes().rposition(|b| b == b')').unwrap_or(text.len());
    let mut parts = CommaParts { text, at: begin, end };
    let first = parts.next().ok_or(fault(NotationFault::Shape, begin))?;
    let written = of(text, first);
    if let Some(arrow) = written.as_bytes().windows(2).position(|pair| pair == b"->") {
        let arrow = first.0.saturating_add(arrow);
        let shape = extents(text, (first.0, arrow))?;
        let slots = extents(text, (arrow.saturating_add(2), first.1))?;
        return printed(arena, text, &shape, &slots, parts).map(|made| (made, shape));
    }
    let shape = extents(text, first)?;
    called(arena, text, &shape, parts).map(|made| (made, shape))
}

fn of(text: &str, (start, end): Bytes) -> &str {
    text.get(start..end).unwrap_or("")
}

/// Bytes without the blanks around them.
fn trimmed(text: &str, (start, end): Bytes) -> Bytes {
    let part = of(text, (start, end));
    let before = part.len().saturating_sub(part.trim_ascii_start().len());
    let start = start.saturating_add(before);
    (start, start.saturating_add(part.trim_ascii().len()))
}

/// What is inside of brackets, or all if there are none around it.
fn inside(text: &str, span: Bytes) -> (Bytes, bool) {
    let (start, end) = trimmed(text, span);
    let bytes = of(text, (start, end)).as_bytes();
    let mut depth = 0usize;
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'(' | b'[' => depth = depth.saturating_add(1),
            b')' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && at.saturating_add(1) < bytes.len() {
            return ((start, end), false);
        }
    }
    match bytes.first() {
        Some(b'(' | b'[') => ((start.saturating_add(1), end.saturating_sub(1)), true),
        _ => ((start, end), false),
    }
}

/// Parts between commas. Those between the names of a `lambda` divide nothing.
struct CommaParts<'t> {
    text: &'t str,
    at: usize,
    end: usize,
}

impl Iterator for CommaParts<'_> {
    type Item = Bytes;

    fn next(&mut self) -> Option<Bytes> {
        if self.at >= self.end {
            return None;
        }
        let rest = of(self.text, (self.at, self.end));
        let body = match lambda(rest) {
            Some((_, body)) => body,
            None => 0,
        };
        let length = part_end(rest.get(body..).unwrap_or("")).saturating_add(body);
        let found = (self.at, self.at.saturating_add(length));
        self.at = found.1.saturating_add(1);
        Some(trimmed(self.text, found))
    }
}

/// Where the names of a lambda stand, and where its body begins; a key may stand before it.
fn lambda(text: &str) -> Option<(Bytes, usize)> {
    let (_, behind) = keyed(text, b'=').unwrap_or((text, 0));
    let rest = text.get(behind..)?;
    let blanks = rest.len().saturating_sub(rest.trim_ascii_start().len());
    let names = behind.saturating_add(blanks).saturating_add("lambda".len());
    rest.trim_ascii_start().strip_prefix("lambda").filter(|names| names.starts_with([' ', ':']))?;
    let colon = text.get(names..)?.bytes().position(|b| b == b':')?;
    let colon = names.saturating_add(colon);
    Some(((names, colon), colon.saturating_add(1)))
}

/// A name with the sign that follows it, and where its value begins.
fn keyed(text: &str, sign: u8) -> Option<(&str, usize)> {
    let at = text.bytes().position(|b| b == sign)?;
    let key = text.get(..at)?.trim_ascii();
    let plain = key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') && !key.is_empty();
    plain.then_some((key, at.saturating_add(1)))
}

/// Numbers between brackets, or one without.
fn extents(text: &str, span: Bytes) -> NotationResult<heapless::Vec<u32, MAX_RANK>> {
    let ((at, end), _) = inside(text, span);
    let mut out = heapless::Vec::new();
    for part in (CommaParts { text, at, end }) {
        // A trailing comma, as in `(64,)`.
        if part.0 == part.1 && part.1 >= end {
            break;
        }
        let number = of(text, part).parse::<u32>().ok().filter(|extent| *extent > 0);
        let room = number.and_then(|number| out.push(number).ok());
        room.ok_or(fault(NotationFault::Shape, part.0))?;
    }
    match out.is_empty() {
        true => Err(fault(NotationFault::Shape, at)),
        false => Ok(out),
    }
}

/// A positive number.
fn count(text: &str, span: Bytes) -> NotationResult<u32> {
    let number = of(text, trimmed(text, span)).parse::<u32>().ok().filter(|n| *n > 0);
    number.ok_or(fault(NotationFault::Copies, span.0))
}

/// The names of a lambda, for the coordinates and the copy in turn.
struct Parameters<'t> {
    names: heapless::Vec<&'t str, MAX_NAMES>,
    vars: VarRange,
    copy: BaseId,
}

impl VarNames for Parameters<'_> {
    fn find(&self, name: &str) -> Option<BaseId> {
        let at = self.names.iter().position(|own| *own == name)?;
        self.vars.iter().chain([self.copy]).nth(at)
    }
}

/// The functions and numbers that a call gives.
#[derive(Default)]
struct CallArguments {
    both: Option<Bytes>,
    thread: Option<Bytes>,
    index: Option<Bytes>,
    copies: Option<Bytes>,
}

impl CallArguments {
    fn read(text: &str, parts: CommaParts<'_>) -> NotationResult<Self> {
        let mut out = Self::default();
        for (place, part) in parts.enumerate() {
            let (key, value) = match keyed(of(text, part), b'=') {
                Some((key, behind)) => (key, (part.0.saturating_add(behind), part.1)),
                // By place, as the constructor has them.
                None => {
                    let names =
                        ["forward_fn", "forward_thread_fn", "replicate", "forward_index_fn"];
                    let name = names.get(place).ok_or(fault(NotationFault::Key, part.0))?;
                    (*name, part)
                }
            };
            let slot = match key {
                "forward_fn" => &mut out.both,
                "forward_thread_fn" => &mut out.thread,
                "forward_index_fn" => &mut out.index,
                "replicate" => &mut out.copies,
                _ => return Err(fault(NotationFault::Key, part.0)),
            };
            if slot.replace(value).is_some() {
                return Err(fault(NotationFault::KeyTwice, part.0));
            }
        }
        Ok(out)
    }
}

/// A fragment as a program calls its constructor.
fn called(
    arena: &mut FormArena<'_>,
    text: &str,
    shape: &[u32],
    parts: CommaParts<'_>,
) -> NotationResult<FragmentForm> {
    let from = parts.at;
    let form = |e| fault(NotationFault::Form(e), from);
    let given = CallArguments::read(text, parts)?;
    let copies = given.copies.map_or(Ok(1), |span| count(text, span))?;
    let vars = arena.dims(shape).map_err(form)?;
    let copy = arena.var(copies, VarRole::Copy).map_err(form)?;
    let function = |span: Bytes| parameters(text, span, vars, copy, copies);
    let (thread, index) = match (given.both, given.thread) {
        (Some(_), Some(other)) => return Err(fault(NotationFault::KeyTwice, other.0)),
        (None, None) => return Err(fault(NotationFault::NoThread, from)),
        (None, Some(span)) => {
            let (names, body) = function(span)?;
            (expression(arena, &names, text, body)?, given.index)
        }
        (Some(span), None) => {
            let (names, body) = function(span)?;
            let ((at, end), _) = inside(text, body);
            let mut pair = CommaParts { text, at, end };
            let both = pair.next().zip(pair.next()).filter(|_| pair.next().is_none());
            let (thread, index) = both.ok_or(fault(NotationFault::Indices, body.0))?;
            if let Some(other) = given.index {
                return Err(fault(NotationFault::KeyTwice, other.0));
            }
            let thread = expression(arena, &names, text, thread)?;
            let index = single(arena, &names, text, index)?;
            return arena.fragment(vars, copy, thread, index).map_err(form);
        }
    };
    match index {
        None => arena.by_threads(vars, copy, thread).map_err(form),
        Some(span) => {
            let (names, body) = function(span)?;
            let index = single(arena, &names, text, body)?;
            arena.fragment(vars, copy, thread, index).map_err(form)
        }
    }
}

/// A local index, also as a list of one.
fn single(
    arena: &mut FormArena<'_>,
    names: &dyn VarNames,
    text: &str,
    span: Bytes,
) -> NotationResult<IndexForm> {
    let ((at, end), _) = inside(text, span);
    let mut parts = CommaParts { text, at, end };
    match (parts.next(), parts.next()) {
        (Some(only), None) => expression(arena, names, text, only),
        _ => Err(fault(NotationFault::Indices, at)),
    }
}

/// A lambda's names, and where its body lies.
fn parameters(
    text: &str,
    span: Bytes,
    vars: VarRange,
    copy: BaseId,
    copies: u32,
) -> NotationResult<(Parameters<'_>, Bytes)> {
    let refused = fault(NotationFault::Lambda, span.0);
    let ((first, last), body) = lambda(of(text, span)).ok_or(refused)?;
    let at = |offset: usize| span.0.saturating_add(offset);
    let mut names = heapless::Vec::new();
    for part in (CommaParts { text, at: at(first), end: at(last) }) {
        names.push(of(text, part)).map_err(|_| refused)?;
    }
    let copied = usize::from(names.len() == vars.len().saturating_add(1));
    let fits = names.len() == vars.len().saturating_add(copied) && (copies == 1 || copied == 1);
    if !fits {
        return Err(refused);
    }
    Ok((Parameters { names, vars, copy }, (at(body), span.1)))
}

/// The names that TileLang prints: `_i`, `_j`, .. and `_rep`.
struct Placeholders {
    vars: VarRange,
    copy: BaseId,
}

impl VarNames for Placeholders {
    fn find(&self, name: &str) -> Option<BaseId> {
        let name = name.strip_prefix('_')?;
        if name == "rep" {
            return Some(self.copy);
        }
        let [letter] = *name.as_bytes() else { return None };
        self.vars.iter().nth(usize::from(letter.checked_sub(b'i')?))
    }
}

/// The first thread of `I.Range(32, 64)`.
fn first_thread(text: &str, span: Bytes) -> NotationResult<u32> {
    let (at, end) = trimmed(text, span);
    let refused = fault(NotationFault::Print, at);
    let open = of(text, (at, end)).strip_prefix("I.Range").ok_or(refused)?;
    let ((at, end), true) = inside(text, (end.saturating_sub(open.len()), end)) else {
        return Err(refused);
    };
    let mut bounds = CommaParts { text, at, end };
    match (bounds.next(), bounds.next(), bounds.next()) {
        (Some(first), Some(_), None) => of(text, first).parse().map_err(|_| refused),
        _ => Err(refused),
    }
}

/// A fragment as TileLang prints it, behind its shapes.
fn printed(
    arena: &mut FormArena<'_>,
    text: &str,
    shape: &[u32],
    slots: &[u32],
    parts: CommaParts<'_>,
) -> NotationResult<FragmentForm> {
    let from = parts.at;
    let form = |e| fault(NotationFault::Form(e), from);
    let (mut copies, mut first, mut threads, mut thread, mut index) = (1, 0, None, None, None);
    for part in parts {
        let found = keyed(of(text, part), b':');
        let (key, behind) = found.ok_or(fault(NotationFault::Print, part.0))?;
        let value = (part.0.saturating_add(behind), part.1);
        match key {
            "replicate" => copies = count(text, value)?,
            "forward_thread" => thread = Some(value),
            "forward_index" => index = Some(value),
            "thread" => threads = Some((count(text, value)?, value.0)),
            // Which threads of the block they are; the map counts them from the first.
            "thread_range" => first = first_thread(text, value)?,
            _ => return Err(fault(NotationFault::Key, part.0)),
        }
    }
    let thread = thread.ok_or(fault(NotationFault::NoThread, from))?;
    let index = index.ok_or(fault(NotationFault::Print, from))?;
    let vars = arena.dims(shape).map_err(form)?;
    let copy = arena.var(copies, VarRole::Copy).map_err(form)?;
    let names = Placeholders { vars, copy };
    let thread = expression(arena, &names, text, thread)?;
    let (_, last) = arena.range(thread).map_err(form)?;
    if let Some((said, at)) = threads
        && i64::from(said) <= last
    {
        return Err(fault(NotationFault::Threads, at));
    }
    let thread = arena.add(thread, IndexForm::constant(i64::from(first))).map_err(form)?;
    let ((at, end), _) = inside(text, index);
    let mut numbers = CommaParts { text, at, end };
    let mut whole = IndexForm::constant(0);
    for extent in slots {
        let part = numbers.next().ok_or(fault(NotationFault::Print, at))?;
        let number = expression(arena, &names, text, part)?;
        let before = arena.scale(whole, i64::from(*extent)).map_err(form)?;
        whole = arena.add(before, number).map_err(form)?;
    }
    if let Some(more) = numbers.next() {
        return Err(fault(NotationFault::Print, more.0));
    }
    arena.fragment(vars, copy, thread, whole).map_err(form)
}
