//! Answers and values as text and as JSON.

mod conflicts;
mod svg;

pub use conflicts::AccessedBanks;

use crate::answer::{LayoutComparison, PositionPart, QueryAnswer, QueryTopic, compare, copies};
use crate::error::Why;
use crate::functions::QueryFunction;
use crate::instruction;
use crate::value::{Placed, QueryValue};
use crate::write::{JsonText, Nowhere, Out};
use core::fmt::{self, Write};
use lanebook_layout::notation::{basis, cute, tileas, tirx, ttg_print};
use lanebook_layout::profile::Profile;
use lanebook_layout::{
    AxisId, AxisNames, Coord, Int, LayoutRef, PostMap, SymTable, Unit, WellKnown,
};
use lanebook_tile::unit::UnitError;

/// Why an answer could not be written.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum WriteError {
    /// The sink refused.
    Sink,
    /// There is no answer.
    Refused(Why),
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sink => f.write_str("the text could not be written"),
            Self::Refused(why) => why.fmt(f),
        }
    }
}

impl core::error::Error for WriteError {}

impl From<fmt::Error> for WriteError {
    fn from(_: fmt::Error) -> Self {
        Self::Sink
    }
}

impl From<Why> for WriteError {
    fn from(why: Why) -> Self {
        Self::Refused(why)
    }
}

impl From<lanebook_layout::Error> for WriteError {
    fn from(error: lanebook_layout::Error) -> Self {
        Self::Refused(error.into())
    }
}

impl From<UnitError> for WriteError {
    fn from(error: UnitError) -> Self {
        Self::Refused(error.into())
    }
}

pub(crate) type AnswerWritten = Result<(), WriteError>;

/// Writes a layout in the notation that can say it: CuTe's, else TIRx's; padding as a call.
pub(crate) fn layout<W: Write>(
    placed: &Placed,
    symbols: &SymTable,
    out: &mut Out<'_, W>,
) -> AnswerWritten {
    let view = placed.layout.view();
    let Some(padding) = view.post.padding().copied() else {
        return plain(&view, placed.elements.row_major, symbols, out);
    };
    let pads = padding.pads();
    for _ in pads {
        out.text("padded(")?;
    }
    let post = view.post.swizzle().map_or(PostMap::None, PostMap::Swizzle);
    plain(&LayoutRef { post, ..view }, placed.elements.row_major, symbols, out)?;
    for pad in pads {
        out.text(", ")?;
        out.unsigned(u64::from(pad.interval))?;
        out.text(", ")?;
        out.unsigned(u64::from(pad.pad))?;
        out.text(")")?;
    }
    Ok(())
}

/// A layout without padding.
fn plain<W: Write>(
    view: &LayoutRef<'_>,
    row_major: bool,
    symbols: &SymTable,
    out: &mut Out<'_, W>,
) -> AnswerWritten {
    let swizzle = view.post.swizzle();
    let counted = |unit: Unit| match swizzle {
        Some(swizzle) => LayoutRef {
            post: PostMap::Swizzle(lanebook_layout::Swizzle { unit, ..swizzle }),
            ..*view
        },
        None => *view,
    };
    let tree = counted(Unit::Codomain);
    if !row_major && cute::print(&tree, &WellKnown, symbols, &mut Nowhere).is_ok() {
        return printed(cute::print(&tree, &WellKnown, symbols, out.sink()));
    }
    let flat = LayoutRef { profile: Profile::FLAT, ..counted(Unit::Element) };
    printed(tirx::print(&flat, &WellKnown, symbols, out.sink()))
}

/// ` @ 64x128`, where there is a shape.
pub(crate) fn shape<W: Write>(extents: &[u32], out: &mut Out<'_, W>) -> fmt::Result {
    // One extent alone would be an axis.
    if let [only] = extents {
        out.text(" @ (")?;
        out.unsigned(u64::from(*only))?;
        return out.text(")");
    }
    for (k, extent) in extents.iter().enumerate() {
        out.text(if k > 0 { "x" } else { " @ " })?;
        out.unsigned(u64::from(*extent))?;
    }
    Ok(())
}

fn printed(result: Result<(), lanebook_layout::notation::PrintError>) -> AnswerWritten {
    use lanebook_layout::notation::PrintError;
    result.map_err(|error| match error {
        PrintError::Sink => WriteError::Sink,
        PrintError::Invalid(error) => WriteError::Refused(Why::Layout(error)),
        _ => WriteError::Refused(Why::NoNotation),
    })
}

/// The name of an axis.
pub(crate) fn axis<W: Write>(axis: AxisId, out: &mut Out<'_, W>) -> fmt::Result {
    if axis.is_basis() {
        for number in axis.basis_path() {
            out.text("@")?;
            out.unsigned(u64::from(number))?;
        }
        return Ok(());
    }
    out.text(WellKnown.name(axis).unwrap_or("?"))
}

impl QueryAnswer<'_> {
    /// Writes the answer as text.
    ///
    /// # Errors
    /// [`WriteError::Sink`]; [`WriteError::Refused`] where working it out fails.
    pub fn write_text(&self, sink: &mut impl Write) -> AnswerWritten {
        let out = &mut Out::new(sink);
        match &self.topic {
            QueryTopic::Names => Ok(()),
            QueryTopic::Value => self.value_text(out),
            QueryTopic::Element(flat) => self.element_text(*flat, out),
            QueryTopic::Where(parts) => self.where_text(parts, out),
            QueryTopic::Question(function) => self.question_text(*function, out),
        }
    }

    /// Writes the answer as one JSON object.
    ///
    /// # Errors
    /// As [`QueryAnswer::write_text`].
    pub fn write_json(&self, sink: &mut impl Write) -> AnswerWritten {
        let out = &mut Out::new(sink);
        out.text("{")?;
        match &self.topic {
            QueryTopic::Names => out.key_text(true, "kind", "names")?,
            QueryTopic::Value => self.value_json(out)?,
            QueryTopic::Element(flat) => self.element_json(*flat, out)?,
            QueryTopic::Where(parts) => self.where_json(parts, out)?,
            QueryTopic::Question(function) => self.question_json(*function, out)?,
        }
        Ok(out.text("}\n")?)
    }

    fn value_text<W: Write>(&self, out: &mut Out<'_, W>) -> AnswerWritten {
        self.expression(self.value(), out)?;
        out.text("\n")?;
        match self.value() {
            QueryValue::Layout(placed) => self.facts_text(placed, out),
            QueryValue::Descriptor(read) => {
                out.text("size ")?;
                self.expression(&QueryValue::Number(read.layout.view().size()?), out)?;
                Ok(out.text("; the swizzle counts bytes: where elements lie is known with their type, such as `of f16`\n")?)
            }
            QueryValue::Instruction(picked) => instruction::describe_text(self.asked, *picked, out),
            QueryValue::Word(span) => instruction::family_text(self.asked, span.of(self.text), out),
            _ => Ok(()),
        }
    }

    /// A value as it can be asked again.
    pub(crate) fn expression<W: Write>(
        &self,
        value: &QueryValue,
        out: &mut Out<'_, W>,
    ) -> AnswerWritten {
        let symbols = &self.storage.symbols;
        match value {
            QueryValue::Nothing => Ok(()),
            QueryValue::Truth(truth) => Ok(out.text(if *truth { "yes" } else { "no" })?),
            QueryValue::Number(number) => {
                let leaf = lanebook_layout::cute::IntTuple::leaf(*number)?;
                printed(cute::print_tuple(leaf.view(), symbols, out.sink()))
            }
            QueryValue::Tuple(tuple) => {
                printed(cute::print_tuple(tuple.view(), symbols, out.sink()))
            }
            QueryValue::Basis(read) => printed(basis::print(read, symbols, out.sink())),
            QueryValue::Tiles(tree) => {
                printed(cute::print_tiles(tree, &WellKnown, symbols, out.sink()))
            }
            QueryValue::Layout(placed) => {
                layout(placed, symbols, out)?;
                // Coordinates are counted by the shape.
                Ok(shape(placed.elements.extents(), out)?)
            }
            QueryValue::Swizzle(loose) => printed(cute::print_swizzle(loose.swizzle, out.sink())),
            QueryValue::Pointer(bits) => {
                out.text("smem_ptr[")?;
                out.unsigned(u64::from(*bits))?;
                Ok(out.text("b](unset)")?)
            }
            QueryValue::Encoding(encoding) => printed(ttg_print::print(out.sink(), encoding)),
            QueryValue::Descriptor(read) => {
                let elements: &[(&str, u16)] = &[];
                printed(tileas::print(read, elements, out.sink()))
            }
            QueryValue::Instruction(picked) => instruction::name(self.asked, *picked, out),
            QueryValue::Word(span) => Ok(out.text(span.of(self.text))?),
        }
    }

    fn facts_text<W: Write>(&self, placed: &Placed, out: &mut Out<'_, W>) -> AnswerWritten {
        let view = placed.layout.view();
        self.size_text(&view, out)?;
        if placed.elements.rank > 0 {
            out.text(" = ")?;
            for (k, extent) in placed.elements.extents().iter().enumerate() {
                out.text(if k > 0 { " x " } else { "" })?;
                out.unsigned(u64::from(*extent))?;
            }
        }
        if placed.elements.bits > 0 {
            out.text(" of ")?;
            out.unsigned(u64::from(placed.elements.bits))?;
            out.text(" bits")?;
        }
        for name in &view.axes()? {
            if let Some((low, high)) = reach(&view, *name) {
                out.text("; ")?;
                axis(*name, out)?;
                out.text(" ")?;
                out.number(low)?;
                out.text(" to ")?;
                out.number(high)?;
            }
        }
        match view.is_injective() {
            Ok(true) => out.text("; no two elements meet\n")?,
            Ok(false) => out.text("; elements meet\n")?,
            Err(_) => out.text("\n")?,
        }
        Ok(())
    }

    /// The number of elements; as a product where it is none of few symbols.
    fn size_text<W: Write>(&self, view: &LayoutRef<'_>, out: &mut Out<'_, W>) -> AnswerWritten {
        out.text("size ")?;
        if let Ok(size) = view.size() {
            return self.expression(&QueryValue::Number(size), out);
        }
        let mut known = Int::ONE;
        for it in view.shard.iter().filter(|it| it.extent().as_known().is_some()) {
            known = known.checked_mul(it.extent())?;
        }
        self.expression(&QueryValue::Number(known), out)?;
        for it in view.shard.iter().filter(|it| it.extent().as_known().is_none()) {
            out.text("*")?;
            self.expression(&QueryValue::Number(it.extent()), out)?;
        }
        Ok(())
    }

    fn value_json<W: Write>(&self, out: &mut Out<'_, W>) -> AnswerWritten {
        let kind = match self.value() {
            QueryValue::Layout(_) => "layout",
            QueryValue::Number(_) => "number",
            QueryValue::Truth(_) => "truth",
            QueryValue::Tuple(_) | QueryValue::Basis(_) | QueryValue::Tiles(_) => "tuple",
            QueryValue::Encoding(_) => "encoding",
            QueryValue::Descriptor(_) => "descriptor",
            QueryValue::Instruction(_) => "instruction",
            QueryValue::Swizzle(_) | QueryValue::Pointer(_) => "swizzle",
            QueryValue::Word(_) => "family",
            QueryValue::Nothing => "nothing",
        };
        out.key_text(true, "kind", kind)?;
        if let QueryValue::Truth(truth) = self.value() {
            return Ok(out.key_truth(false, "value", *truth)?);
        }
        if let QueryValue::Number(number) = self.value()
            && let Some(known) = number.as_known()
        {
            return Ok(out.key_number(false, "value", known)?);
        }
        self.text_json(false, self.value(), out)?;
        match self.value() {
            QueryValue::Layout(placed) => self.facts_json(placed, out),
            QueryValue::Instruction(picked) => instruction::describe_json(self.asked, *picked, out),
            QueryValue::Word(span) => instruction::family_json(self.asked, span.of(self.text), out),
            _ => Ok(()),
        }
    }

    /// `"text"`: a value as it can be asked again.
    pub(crate) fn text_json<W: Write>(
        &self,
        first: bool,
        value: &QueryValue,
        out: &mut Out<'_, W>,
    ) -> AnswerWritten {
        out.key(first, "text")?;
        out.text("\"")?;
        let mut escaped = JsonText { sink: out.sink() };
        self.expression(value, &mut Out::new(&mut escaped))?;
        Ok(out.text("\"")?)
    }

    fn facts_json<W: Write>(&self, placed: &Placed, out: &mut Out<'_, W>) -> AnswerWritten {
        let view = placed.layout.view();
        if let Ok(size) = view.size_value() {
            out.key_number(false, "size", i64::try_from(size).unwrap_or(i64::MAX))?;
        }
        let mut room = [0u32; 32];
        list_json("shape", placed.extents(&mut room).iter().map(|e| i64::from(*e)), out)?;
        out.key_truth(false, "row_major", placed.elements.row_major)?;
        if placed.elements.bits > 0 {
            out.key_number(false, "element_bits", i64::from(placed.elements.bits))?;
        }
        out.key(false, "axes")?;
        out.text("[")?;
        for (k, name) in view.axes()?.iter().enumerate() {
            out.text(if k > 0 { ", {" } else { "{" })?;
            out.key(true, "axis")?;
            out.text("\"")?;
            axis(*name, out)?;
            out.text("\"")?;
            if let Some((low, high)) = reach(&view, *name) {
                out.key_number(false, "first", low)?;
                out.key_number(false, "last", high)?;
            }
            out.text("}")?;
        }
        out.text("]")?;
        if let Ok(injective) = view.is_injective() {
            out.key_truth(false, "injective", injective)?;
        }
        Ok(())
    }

    /// A position in words.
    pub(crate) fn place_text<W: Write>(&self, at: &Coord, out: &mut Out<'_, W>) -> AnswerWritten {
        let elements = self.value().placed()?.elements;
        for (k, (name, position)) in at.iter().enumerate() {
            out.text(if k > 0 { ", " } else { "" })?;
            axis(name, out)?;
            out.text(" ")?;
            out.number(position)?;
            if name == AxisId::M && elements.bits > 0 {
                out.text(" (byte ")?;
                out.number(bytes(position, elements.bits))?;
                out.text(")")?;
            }
            if name == AxisId::BIT
                && let Some(register) = position.checked_div(i64::from(elements.register_bits))
            {
                out.text(" (register ")?;
                out.number(register)?;
                out.text(")")?;
            }
        }
        Ok(())
    }

    fn place_json<W: Write>(&self, at: &Coord, out: &mut Out<'_, W>) -> AnswerWritten {
        let elements = self.value().placed()?.elements;
        out.text("{")?;
        for (k, (name, position)) in at.iter().enumerate() {
            out.text(if k > 0 { ", \"" } else { "\"" })?;
            axis(name, out)?;
            out.text("\": ")?;
            out.number(position)?;
            if name == AxisId::BIT
                && let Some(register) = position.checked_div(i64::from(elements.register_bits))
            {
                out.key_number(false, "register", register)?;
            }
            if name == AxisId::M && elements.bits > 0 {
                out.key_number(false, "byte", bytes(position, elements.bits))?;
            }
        }
        Ok(out.text("}")?)
    }

    fn element_text<W: Write>(&self, flat: u64, out: &mut Out<'_, W>) -> AnswerWritten {
        let mut written = Ok(());
        let view = self.value().layout()?;
        copies(&view)?;
        view.apply_all(flat, &mut Coord::new(), |at| {
            if written.is_ok() {
                written = self.place_text(at, out).and_then(|()| Ok(out.text("\n")?));
            }
            Ok(())
        })?;
        written
    }

    fn element_json<W: Write>(&self, flat: u64, out: &mut Out<'_, W>) -> AnswerWritten {
        out.key_text(true, "kind", "position")?;
        out.key(false, "places")?;
        out.text("[")?;
        let mut written = Ok(());
        let mut first = true;
        let view = self.value().layout()?;
        copies(&view)?;
        view.apply_all(flat, &mut Coord::new(), |at| {
            if written.is_ok() {
                written = Ok(()).and_then(|()| {
                    out.text(if core::mem::take(&mut first) { "" } else { ", " })?;
                    self.place_json(at, out)
                });
            }
            Ok(())
        })?;
        written?;
        Ok(out.text("]")?)
    }

    /// An element's coordinates: `(3, 1)`.
    pub(crate) fn coordinates<W: Write>(
        &self,
        placed: &Placed,
        flat: u64,
        brackets: [&str; 2],
        out: &mut Out<'_, W>,
    ) -> fmt::Result {
        let [open, close] = brackets;
        out.text(open)?;
        for (k, x) in placed.coordinates(flat).iter().enumerate() {
            out.text(if k > 0 { ", " } else { "" })?;
            out.unsigned(*x)?;
        }
        out.text(close)
    }

    fn where_text<W: Write>(
        &self,
        parts: &[Option<PositionPart>; crate::answer::MAX_PARTS],
        out: &mut Out<'_, W>,
    ) -> AnswerWritten {
        let placed = self.value().placed()?;
        let mut any = false;
        self.found(parts, |flat| {
            any = true;
            self.coordinates(placed, flat, ["(", ")\n"], out)
        })??;
        if !any {
            out.text("no element\n")?;
        }
        Ok(())
    }

    fn where_json<W: Write>(
        &self,
        parts: &[Option<PositionPart>; crate::answer::MAX_PARTS],
        out: &mut Out<'_, W>,
    ) -> AnswerWritten {
        let placed = self.value().placed()?;
        out.key_text(true, "kind", "elements")?;
        out.key(false, "elements")?;
        out.text("[")?;
        let mut first = true;
        self.found(parts, |flat| {
            out.text(if core::mem::take(&mut first) { "" } else { ", " })?;
            self.coordinates(placed, flat, ["[", "]"], out)
        })??;
        Ok(out.text("]")?)
    }

    fn question_text<W: Write>(
        &self,
        function: QueryFunction,
        out: &mut Out<'_, W>,
    ) -> AnswerWritten {
        match function {
            QueryFunction::Equal => {
                let (a, b) = (self.argument(0).placed()?, self.argument(1).placed()?);
                let found = compare(a, b)?;
                let Some(first) = found.first else { return Ok(out.text("equal\n")?) };
                let LayoutComparison { differing, elements, .. } = found;
                out.unsigned(differing)?;
                out.text(" of ")?;
                out.unsigned(elements)?;
                out.text(" elements lie elsewhere, the first is ")?;
                Ok(self.coordinates(a, first, ["(", ")\n"], out)?)
            }
            QueryFunction::Conflicts => self.conflicts_text(out),
            QueryFunction::Descriptor => self.descriptor_text(out),
            QueryFunction::TensorMap => self.map_text(out),
            QueryFunction::SwizzleMode => self.mode_text(out),
            QueryFunction::Feeds => self.feeds_text(out),
            QueryFunction::Convert => self.convert_text(out),
            QueryFunction::Figures => self.figures_text(out),
            QueryFunction::Products => self.products_text(out),
            QueryFunction::Atoms => self.listing_text(out),
            _ => Err(Why::UnknownFunction.into()),
        }
    }

    fn question_json<W: Write>(
        &self,
        function: QueryFunction,
        out: &mut Out<'_, W>,
    ) -> AnswerWritten {
        match function {
            QueryFunction::Equal => {
                let (a, b) = (self.argument(0).placed()?, self.argument(1).placed()?);
                let found = compare(a, b)?;
                out.key_text(true, "kind", "comparison")?;
                out.key_truth(false, "equal", found.first.is_none())?;
                let number = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
                out.key_number(false, "elements", number(found.elements))?;
                out.key_number(false, "differing", number(found.differing))?;
                if let Some(first) = found.first {
                    out.key(false, "first")?;
                    self.coordinates(a, first, ["[", "]"], out)?;
                }
                Ok(())
            }
            QueryFunction::Conflicts => self.conflicts_json(out),
            QueryFunction::Descriptor => self.descriptor_json(out),
            QueryFunction::TensorMap => self.map_json(out),
            QueryFunction::SwizzleMode => self.mode_json(out),
            QueryFunction::Feeds => self.feeds_json(out),
            QueryFunction::Convert => self.convert_json(out),
            QueryFunction::Figures => self.figures_json(out),
            QueryFunction::Products => self.products_json(out),
            QueryFunction::Atoms => self.listing_json(out),
            _ => Err(Why::UnknownFunction.into()),
        }
    }
}

/// The first and last position on an axis, after the post-map.
fn reach(view: &LayoutRef<'_>, axis: AxisId) -> Option<(i64, i64)> {
    let (low, high) = view.reach(axis).ok()?;
    match view.post {
        PostMap::None => Some((low, high)),
        _ if axis != AxisId::M => Some((low, high)),
        _ => Some((0, view.cosize(axis).ok()?.checked_sub(1)?)),
    }
}

/// The byte in which the element at a position begins.
pub(crate) fn bytes(position: i64, bits: u16) -> i64 {
    position.saturating_mul(i64::from(bits)).checked_div_euclid(8).unwrap_or(0)
}

/// `"key": [..]`.
pub(crate) fn list_json<W: Write>(
    key: &str,
    numbers: impl Iterator<Item = i64>,
    out: &mut Out<'_, W>,
) -> fmt::Result {
    out.key(false, key)?;
    out.text("[")?;
    for (k, number) in numbers.enumerate() {
        out.text(if k > 0 { ", " } else { "" })?;
        out.number(number)?;
    }
    out.text("]")
}
