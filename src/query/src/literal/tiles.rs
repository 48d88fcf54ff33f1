//! Layouts in a tree, `(4:1,(2:2,8:1))` or `<4:1,<2:2,8:1>>`: the tiles of modes.

use super::Fault;
use crate::error::{Needed, Why};
use crate::text::{Scanner, TextSpan};
use crate::value::{QueryStorage, QueryValue};
use lanebook_layout::cute::TileTree;
use lanebook_layout::{AxisId, Int, Iter, LayoutRef, Profile};

/// Whether the bracket at hand is one of several layouts, and no shape of a layout.
pub(crate) fn follow(scan: &Scanner<'_>) -> bool {
    let mut ahead = *scan;
    let Some(whole) = ahead.bracket() else { return false };
    let inside = whole.of(scan.text).as_bytes();
    if ahead.peek() == Some(b':') || !inside.contains(&b':') {
        return false;
    }
    let mut ahead = *scan;
    while let Some(byte) = ahead.peek().filter(|_| ahead.at < whole.end as usize) {
        match byte {
            b'(' | b'<' if !of_layout(&ahead) => ahead.at = ahead.at.saturating_add(1),
            b')' | b'>' => ahead.at = ahead.at.saturating_add(1),
            b',' => return true,
            _ => {
                let span = leaf(&mut ahead);
                if span.start == span.end {
                    return false;
                }
            }
        }
    }
    false
}

/// Whether the bracket at hand is a layout's shape.
fn of_layout(scan: &Scanner<'_>) -> bool {
    let mut ahead = *scan;
    ahead.bracket().is_some() && ahead.peek() == Some(b':')
}

/// Takes a layout or a number, up to the comma or bracket behind it.
fn leaf(scan: &mut Scanner<'_>) -> TextSpan {
    scan.peek();
    let start = scan.at;
    let mut end = start;
    while let Some(byte) = scan.peek() {
        match byte {
            b'(' | b'<' | b'{' => {
                if scan.bracket().is_none() {
                    break;
                }
            }
            b',' | b')' | b'>' => break,
            _ => scan.at = scan.at.saturating_add(1),
        }
        end = scan.at;
    }
    TextSpan::new(start, end)
}

/// Reads the tree into value `at`; each tile stands in the next one on its way.
#[inline(never)]
pub(crate) fn read(
    scan: &mut Scanner<'_>,
    storage: &mut QueryStorage,
    at: usize,
) -> Result<(), Fault> {
    let here = TextSpan::new(scan.at, scan.at).start;
    let beside = at.saturating_add(1);
    if storage.values.len() <= beside {
        return Err((here, Why::TooDeep));
    }
    let failed = |error: lanebook_layout::Error| (here, Why::Layout(error));
    storage.set(at, QueryValue::Tiles(TileTree::new())).map_err(|why| (here, why))?;
    let mut open: heapless::Vec<u8, 16> = heapless::Vec::new();
    loop {
        let place = TextSpan::new(scan.at, scan.at).start;
        let opens = scan.peek().filter(|byte| matches!(byte, b'(' | b'<') && !of_layout(scan));
        if let Some(bracket) = opens {
            scan.eat(bracket);
            open.push(bracket).map_err(|_| (place, Why::TooDeep))?;
            grown(storage, at, |tree| tree.open()).map_err(failed)?;
            continue;
        }
        let span = leaf(scan);
        let before = scan.text.get(..span.end as usize).unwrap_or_default();
        let mut alone = Scanner { text: before, at: span.start as usize };
        super::tree(&mut alone, storage, beside)?;
        if alone.at != span.end as usize {
            let end = TextSpan::new(alone.at, alone.at).start;
            return Err((end, Why::Needed(Needed::CommaOrClose)));
        }
        pushed(storage, at).map_err(|why| (span.start, why))?;
        while let Some(bracket) = open.last().copied() {
            if !scan.eat(if bracket == b'(' { b')' } else { b'>' }) {
                break;
            }
            open.pop();
            grown(storage, at, |tree| tree.close()).map_err(failed)?;
        }
        if open.is_empty() {
            return Ok(());
        }
        if !scan.eat(b',') {
            let end = TextSpan::new(scan.at, scan.at).start;
            return Err((end, Why::Needed(Needed::CommaOrClose)));
        }
    }
}

/// Changes the tree in value `at`.
fn grown(
    storage: &mut QueryStorage,
    at: usize,
    change: impl FnOnce(&mut TileTree) -> lanebook_layout::Result<()>,
) -> lanebook_layout::Result<()> {
    match storage.slot(at) {
        QueryValue::Tiles(tree) => change(tree),
        _ => Ok(()),
    }
}

/// Moves the tile in the value behind `at` into the tree.
#[inline(never)]
fn pushed(storage: &mut QueryStorage, at: usize) -> Result<(), Why> {
    let pair = storage.values.get_mut(at..).ok_or(Why::TooDeep)?;
    let [QueryValue::Tiles(tree), tile, ..] = pair else { return Err(Why::TooDeep) };
    match tile {
        QueryValue::Layout(placed) => tree.push(&placed.layout.view())?,
        other => {
            // An extent alone is that many steps of 1.
            let steps = [Iter::symbolic(other.number()?, Int::ONE, AxisId::M)?];
            tree.push(&LayoutRef { profile: Profile::SCALAR, ..LayoutRef::new(&steps) })?;
        }
    }
    Ok(())
}
