//! Pictures as SVG: the elements of a layout in rows and columns, each with its position.
//!
//! Written piece by piece like all answers. What needs a page of its own (instructions, banks,
//! comparisons, folded tiles) is drawn by host tools.

use crate::answer::{QueryAnswer, QueryTopic};
use crate::error::{KindOfValue, Why};
use crate::show::{AnswerWritten, axis};
use crate::value::Placed;
use crate::write::{Out, XmlText};
use core::fmt::Write;
use lanebook_layout::{AxisId, Coord};

/// Width and height of an element, and of what stands around all of them.
const CELL: [u64; 2] = [56, 24];
const MARGIN: u64 = 8;
const HEAD: u64 = 28;
/// Most elements of a picture.
const MOST: u32 = 4096;
/// A bit for each of them.
const WORDS: usize = 64;
/// Elements of neighbouring owners differ; dark text is read on all of them.
const FILLS: [&str; 8] =
    ["#cfe3f7", "#f7e3c8", "#d3efd3", "#f3d3dc", "#e2d8f3", "#f2efc4", "#c9ecec", "#e4e0da"];

/// Elements that are marked.
struct Marked([u64; WORDS]);

impl Marked {
    fn word(flat: u64) -> (usize, u64) {
        let at = usize::try_from(flat >> 6).unwrap_or(usize::MAX);
        (at, 1u64.wrapping_shl((flat & 63) as u32))
    }

    fn set(&mut self, flat: u64) {
        let (at, bit) = Self::word(flat);
        if let Some(word) = self.0.get_mut(at) {
            *word |= bit;
        }
    }

    fn has(&self, flat: u64) -> bool {
        let (at, bit) = Self::word(flat);
        self.0.get(at).is_some_and(|word| word & bit != 0)
    }
}

impl QueryAnswer<'_> {
    /// Writes the layout that the answer is about as an SVG picture: its elements in rows and columns,
    /// coloured by lane (else by position), those that `at` and `where` ask for marked. Of several
    /// coordinates the last one (of CuTe's layouts, the first one) counts along columns (rows).
    ///
    /// ```
    /// use lanebook::TABLES;
    /// use lanebook::query::{QueryStorage, ask};
    ///
    /// let mut storage = Box::new(QueryStorage::new());
    /// let answer = ask(&TABLES, None, "(4,2):(2,1) at (1, 1)", &mut storage).unwrap();
    /// let mut svg = String::new();
    /// answer.write_svg(&mut svg).unwrap();
    /// assert_eq!((svg.matches("<rect").count(), svg.matches("stroke-width").count()), (8, 1));
    /// ```
    ///
    /// # Errors
    /// [`WriteError::Sink`](crate::WriteError::Sink); [`WriteError::Refused`](crate::WriteError::Refused)
    /// for what is no layout, for one with run-time extents, and for more than 4,096 elements.
    #[inline(never)] // What it keeps is not under what answers otherwise.
    pub fn write_svg(&self, sink: &mut impl Write) -> AnswerWritten {
        let placed = match (&self.topic, self.value()) {
            (QueryTopic::Value | QueryTopic::Element(_) | QueryTopic::Where(_), value) => {
                value.placed()?
            }
            (_, value) => {
                return Err(Why::Kind { wanted: KindOfValue::Layout, found: value.kind() }.into());
            }
        };
        let size = placed.layout.view().size_value()?;
        if size > u64::from(MOST) {
            return Err(Why::TooLarge { most: MOST }.into());
        }
        let mut marked = Marked([0; WORDS]);
        match &self.topic {
            QueryTopic::Element(flat) => marked.set(*flat),
            QueryTopic::Where(parts) => {
                let _ = self.found(parts, |flat| {
                    marked.set(flat);
                    Ok(())
                })?;
            }
            _ => {}
        }
        self.picture(placed, size, &marked, &mut Out::new(sink))
    }

    fn picture<W: Write>(
        &self,
        placed: &Placed,
        size: u64,
        marked: &Marked,
        out: &mut Out<'_, W>,
    ) -> AnswerWritten {
        let (rows, columns) = grid(placed, size);
        let [wide, high] = CELL;
        let width = columns.saturating_mul(wide).saturating_add(2 * MARGIN);
        let height = rows.saturating_mul(high).saturating_add(HEAD + MARGIN);
        out.text("<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" viewBox=\"0 0 ")?;
        out.unsigned(width)?;
        out.text(" ")?;
        out.unsigned(height)?;
        out.text("\" font-family=\"monospace\" font-size=\"12\" text-anchor=\"middle\"><title>")?;
        let mut escaped = XmlText { sink: out.sink() };
        self.expression(self.value(), &mut Out::new(&mut escaped))?;
        out.text("</title>\n<text text-anchor=\"start\" x=\"8\" y=\"19\">")?;
        for (k, name) in placed.layout.view().axes()?.iter().enumerate() {
            out.text(if k > 0 { " : " } else { "" })?;
            axis(*name, out)?;
        }
        out.text("</text>\n")?;
        let mut at = Coord::new();
        for flat in 0..size {
            placed.layout.view().apply_flat(flat, &mut at)?;
            let (row, column) = place(placed, flat, (rows, columns));
            let corner = [
                column.saturating_mul(wide).saturating_add(MARGIN),
                row.saturating_mul(high).saturating_add(HEAD),
            ];
            self.element(placed, flat, (&at, corner), marked.has(flat), out)?;
        }
        Ok(out.text("</svg>\n")?)
    }

    fn element<W: Write>(
        &self,
        placed: &Placed,
        flat: u64,
        (at, [x, y]): (&Coord, [u64; 2]),
        marked: bool,
        out: &mut Out<'_, W>,
    ) -> AnswerWritten {
        let [wide, high] = CELL;
        out.text("<g><title>")?;
        self.coordinates(placed, flat, ["(", "): "], out)?;
        self.place_text(at, out)?;
        // A mark lies inside of its element: neighbours are drawn over what lies outside.
        let inset = u64::from(marked);
        out.text("</title><rect x=\"")?;
        out.unsigned(x.saturating_add(inset))?;
        out.text("\" y=\"")?;
        out.unsigned(y.saturating_add(inset))?;
        out.text("\" width=\"")?;
        out.unsigned(wide.saturating_sub(2 * inset))?;
        out.text("\" height=\"")?;
        out.unsigned(high.saturating_sub(2 * inset))?;
        out.texts(&["\" fill=\"", fill(at), "\" stroke=\""])?;
        out.text(if marked { "#b00020\" stroke-width=\"2\"/>" } else { "#888888\"/>" })?;
        out.text("<text fill=\"#1a1a1a\" x=\"")?;
        out.unsigned(x.saturating_add(wide / 2))?;
        out.text("\" y=\"")?;
        out.unsigned(y.saturating_add(high / 2 + 4))?;
        out.text("\">")?;
        // In the order of the line above: axes that are not moved are at 0.
        for (k, name) in placed.layout.view().axes()?.iter().enumerate() {
            out.text(if k > 0 { ":" } else { "" })?;
            out.number(at.get(*name))?;
        }
        Ok(out.text("</text></g>\n")?)
    }
}

/// Rows and columns of the picture.
fn grid(placed: &Placed, size: u64) -> (u64, u64) {
    let mut room = [0u32; 32];
    let extents = placed.extents(&mut room);
    let along = |extent: Option<&u32>| u64::from(extent.copied().unwrap_or(1).max(1));
    let over = |extent: u64| size.checked_div(extent).unwrap_or(1).max(1);
    match extents {
        [] | [_] => (1, size.max(1)),
        _ if placed.elements.row_major => (over(along(extents.last())), along(extents.last())),
        _ => (along(extents.first()), over(along(extents.first()))),
    }
}

/// Row and column of an element by its number.
fn place(placed: &Placed, flat: u64, (rows, columns): (u64, u64)) -> (u64, u64) {
    let split = |by: u64| (flat.checked_div(by).unwrap_or(0), flat.checked_rem(by).unwrap_or(0));
    if placed.elements.row_major || rows == 1 {
        split(columns)
    } else {
        let (column, row) = split(rows);
        (row, column)
    }
}

/// The colour of an element, by its lane where there are lanes.
fn fill(at: &Coord) -> &'static str {
    let owners = [AxisId::LANE, AxisId::TX, AxisId::TID_IN_WG, AxisId::TLANE, AxisId::M];
    let owner = owners.into_iter().find(|axis| at.iter().any(|(own, _)| own == *axis));
    let number = owner.map_or(0, |axis| at.get(axis));
    let k = usize::try_from(number.rem_euclid(FILLS.len() as i64)).unwrap_or(0);
    FILLS.get(k).copied().unwrap_or("#ffffff")
}
