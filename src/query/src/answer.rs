//! Answers, as values and as text.

use crate::error::{QueryError, Why};
use crate::functions::QueryFunction;
use crate::value::{Asked, LentPlace, Placed, QueryStorage, QueryValue};
use lanebook_layout::ops::{GuardedInverse, guarded_inverse};
use lanebook_layout::{AxisId, Coord, Layout, LayoutRef};

/// Most elements that are looked at one by one.
pub(crate) const MOST_ELEMENTS: u32 = 1 << 18;
/// Most conditions of a `where`.
pub const MAX_PARTS: usize = 4;

/// A condition of a `where`: positions on an axis.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct PositionPart {
    /// The axis.
    pub axis: AxisId,
    /// The first position.
    pub first: i64,
    /// The last.
    pub last: i64,
}

/// What is asked about the expression.
///
/// ```
/// use lanebook::TABLES;
/// use lanebook::query::{LayoutComparison, PositionPart, QueryStorage, QueryTopic, WriteError, ask};
///
/// let mut storage = Box::new(QueryStorage::new());
/// let answer = ask(&TABLES, None, "(8,8):(8,1) where offset 10", &mut storage).unwrap();
/// let QueryTopic::Where([Some(PositionPart { first, last, .. }), ..]) = answer.topic else { panic!() };
/// assert_eq!((first, last), (10, 10));
/// // A sink that is full.
/// assert!(matches!(answer.write_text(&mut heapless::String::<4>::new()), Err(WriteError::Sink)));
/// # fn differing(both: &LayoutComparison) -> u64 { both.differing }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum QueryTopic {
    /// What it is.
    Value,
    /// Names were given, and nothing was asked.
    Names,
    /// Where an element lies, by its number.
    Element(u64),
    /// Which elements lie where.
    Where([Option<PositionPart>; MAX_PARTS]),
    /// A question of the language over the first values.
    Question(QueryFunction),
}

/// The answer to a query. It is worked out as it is written.
#[derive(Clone)]
pub struct QueryAnswer<'q> {
    pub(crate) asked: Asked<'q>,
    pub(crate) storage: &'q QueryStorage,
    pub(crate) text: &'q str,
    /// Where the expression begins.
    pub(crate) start: u32,
    /// What was asked.
    pub topic: QueryTopic,
}

/// How two layouts compare.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct LayoutComparison {
    /// How many elements lie elsewhere.
    pub differing: u64,
    /// The number of the first of them, in the first layout.
    pub first: Option<u64>,
    /// How many there are.
    pub elements: u64,
}

impl<'q> QueryAnswer<'q> {
    /// The value of the expression.
    #[must_use]
    pub fn value(&self) -> &'q QueryValue {
        self.storage.value(0)
    }

    /// What shows while the answer is written, at the expression's place.
    #[must_use]
    pub fn error(&self, why: Why) -> QueryError {
        QueryError::at(self.text, self.blamed(why), why)
    }

    /// Where what a question refuses is written: the argument, if one can be named, else the question.
    fn blamed(&self, why: Why) -> u32 {
        if !matches!(self.topic, QueryTopic::Question(_)) {
            return self.start;
        }
        let tables = self.asked.tables;
        let word = |value: &QueryValue| match value {
            QueryValue::Word(span) => Some(crate::algebra::unquoted(*span, self.text)),
            _ => None,
        };
        let unknown_type = |value: &QueryValue| {
            word(value).is_some_and(|name| tables.element_type(name).is_none())
        };
        let instruction = |name: &str| tables.family(self.asked.arch, name).next().is_some();
        let all = self.arguments();
        let found = match why {
            // Types stand behind the others.
            Why::UnknownType => all.iter().rposition(unknown_type),
            Why::UnknownInstruction => {
                all.iter().position(|value| word(value).is_some_and(|name| !instruction(name)))
            }
            Why::WrongInstruction => all.iter().position(|value| {
                matches!(value, QueryValue::Instruction(_)) || word(value).is_some_and(instruction)
            }),
            Why::BadWord => all.iter().rposition(|value| {
                unknown_type(value) && word(value).is_some_and(|name| !instruction(name))
            }),
            Why::Kind { found, .. } => all.iter().position(|value| value.kind() == found),
            Why::NeedsShape => {
                all.iter().position(|value| matches!(value, QueryValue::Encoding(_)))
            }
            Why::NoRegisters | Why::NoOperand => all
                .iter()
                .rposition(|value| value.placed().is_ok_and(crate::exchange::is_in_memory)),
            _ => None,
        };
        let place = found.and_then(|at| self.storage.starts.get(at)).copied();
        place.unwrap_or(self.start)
    }

    /// The layout, if the answer is about one.
    #[must_use]
    pub fn layout(&self) -> Option<&'q Placed> {
        match self.value() {
            QueryValue::Layout(placed) => Some(placed),
            _ => None,
        }
    }

    /// The arguments of the question; [`QueryValue::Nothing`] from the first that was not given.
    pub(crate) fn arguments(&self) -> &'q [QueryValue] {
        let used = self.storage.values.iter().take(usize::from(self.storage.used)).len();
        self.storage.values.get(..used).unwrap_or(&[])
    }

    /// The inverse of the question's second argument.
    pub(crate) fn inverse(&self) -> Result<&'q GuardedInverse, Why> {
        match &self.storage.room.inverse {
            LentPlace::Full(inverse) => Ok(inverse),
            LentPlace::Empty => Err(Why::NoOperand),
        }
    }

    /// An argument of the question.
    pub(crate) fn argument(&self, number: usize) -> &'q QueryValue {
        self.storage.value(number)
    }

    /// Calls `visit` with each element that lies where a `where` says, with the coordinates.
    ///
    /// # Errors
    /// Those of the algebra; [`Why::TooLarge`].
    pub(crate) fn found(
        &self,
        parts: &[Option<PositionPart>; MAX_PARTS],
        mut visit: impl FnMut(u64) -> core::fmt::Result,
    ) -> Result<core::fmt::Result, Why> {
        let placed = self.value().placed()?;
        let view = placed.layout.view();
        let size = bounded(&view)?;
        if size.saturating_mul(copies(&view)?) > u64::from(MOST_ELEMENTS) {
            return Err(Why::TooLarge { most: MOST_ELEMENTS });
        }
        let mut at = Coord::new();
        let mut written = Ok(());
        for flat in 0..size {
            let mut here = false;
            view.apply_all(flat, &mut at, |at| {
                here |= parts
                    .iter()
                    .flatten()
                    .all(|part| (part.first..=part.last).contains(&at.get(part.axis)));
                Ok(())
            })?;
            if here && written.is_ok() {
                written = visit(flat);
            }
        }
        Ok(written)
    }
}

/// The number of elements, if they can be looked at one by one.
pub(crate) fn bounded(view: &LayoutRef<'_>) -> Result<u64, Why> {
    let size = view.size_value()?;
    if size > u64::from(MOST_ELEMENTS) {
        return Err(Why::TooLarge { most: MOST_ELEMENTS });
    }
    Ok(size)
}

/// The number of places that an element has, if they can be looked at one by one.
pub(crate) fn copies(view: &LayoutRef<'_>) -> Result<u64, Why> {
    let mut out = 1u64;
    for it in view.replica {
        out = out.saturating_mul(u64::from(it.extent_value()?));
    }
    if out > u64::from(MOST_ELEMENTS) {
        return Err(Why::TooLarge { most: MOST_ELEMENTS });
    }
    Ok(out)
}

/// Compares two layouts element by element; coordinates are those of the first.
pub(crate) fn compare(first: &Placed, second: &Placed) -> Result<LayoutComparison, Why> {
    let (a, b) = (first.layout.view(), second.layout.view());
    let (size, other) = (bounded(&a)?, bounded(&b)?);
    if size != other {
        return Err(Why::OtherElements { first: size, second: other });
    }
    let steps = size.saturating_mul(copies(&a)?).saturating_mul(copies(&b)?);
    if steps > u64::from(MOST_ELEMENTS).saturating_mul(64) {
        return Err(Why::TooLarge { most: MOST_ELEMENTS });
    }
    let by_coordinates = {
        let (mut left, mut right) = ([0u32; 32], [0u32; 32]);
        first.elements.row_major != second.elements.row_major
            && first.extents(&mut left) == second.extents(&mut right)
    };
    let mut out = LayoutComparison { differing: 0, first: None, elements: size };
    let (mut left, mut right) = (Coord::new(), Coord::new());
    for flat in 0..size {
        let twin = match by_coordinates {
            true => second.flat(&first.coordinates(flat)).unwrap_or(flat),
            false => flat,
        };
        if !same_places(&a, flat, &b, twin, &mut left, &mut right)? {
            out.differing = out.differing.saturating_add(1);
            out.first = out.first.or(Some(flat));
        }
    }
    Ok(out)
}

/// Whether an element of one layout has the same places as one of another.
fn same_places(
    a: &LayoutRef<'_>,
    x: u64,
    b: &LayoutRef<'_>,
    y: u64,
    left: &mut Coord,
    right: &mut Coord,
) -> Result<bool, Why> {
    // Copies in another order are the same places; each one of either side is on the other.
    Ok(covers(a, x, b, y, left, right)? && covers(b, y, a, x, left, right)?)
}

fn covers(
    a: &LayoutRef<'_>,
    x: u64,
    b: &LayoutRef<'_>,
    y: u64,
    left: &mut Coord,
    right: &mut Coord,
) -> Result<bool, Why> {
    let mut all = true;
    a.apply_all(x, left, |at| {
        let mut there = false;
        b.apply_all(y, right, |other| {
            there |= at.iter().chain(other.iter()).all(|(axis, _)| at.get(axis) == other.get(axis));
            Ok(())
        })?;
        all &= there;
        Ok(())
    })?;
    Ok(all)
}

/// What a question needs beside its arguments, made before it is answered.
pub(crate) fn prepare(function: QueryFunction, storage: &mut QueryStorage) -> Result<(), Why> {
    storage.room.inverse = LentPlace::Empty;
    let [first, second, ..] = &mut storage.values;
    match function {
        QueryFunction::Descriptor | QueryFunction::TensorMap => rows_first(first),
        QueryFunction::Conflicts | QueryFunction::Convert => {
            if let QueryValue::Layout(placed) = second {
                invert(placed, &mut storage.room.inverse)?;
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

#[inline(never)]
fn invert(placed: &Placed, into: &mut LentPlace<GuardedInverse>) -> Result<(), Why> {
    *into = LentPlace::Full(guarded_inverse(&placed.layout.view())?);
    Ok(())
}

/// Makes the last coordinate of a layout of two the fastest, as the units' tables count.
#[inline(never)]
fn rows_first(value: &mut QueryValue) -> Result<(), Why> {
    let QueryValue::Layout(placed) = value else { return Ok(()) };
    if placed.elements.row_major {
        return Ok(());
    }
    let mut room = [0u32; 32];
    let [rows, columns] = *placed.extents(&mut room) else {
        return Err(Why::Coordinate { rank: 2 });
    };
    let mut out = Layout::new();
    let view = placed.layout.view();
    // The first coordinate's iters are the fastest here; they go behind the last one's.
    let mut modes = view.modes();
    let (first, rest) = (modes.next(), modes.next());
    for (mode, _) in [rest, first].into_iter().flatten() {
        for it in mode {
            out.push_shard(*it)?;
        }
    }
    for it in view.replica {
        out.push_replica(*it)?;
    }
    for offset in view.offset {
        out.add_offset(offset.value(), offset.axis())?;
    }
    out.set_post(view.post)?;
    placed.layout.clone_from(&out);
    placed.elements.row_major = true;
    placed.elements = placed.elements.shaped(&[rows, columns]);
    Ok(())
}
