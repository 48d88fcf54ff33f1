//! Layouts as people write them: `{thread = v0 * 16 + v1, index = 0, replicate = 2}`, and as TileLang
//! writes and prints them ([`read_tilelang`]).
//!
//! An expression is over `v0`, `v1`, .. (dimensions of a buffer, loops of a nest) and `rep`, the
//! number of the copy: whole numbers, `+ - * // %`, `& ^ |`, `<< >>`, comparisons, brackets, and
//! `min max lt le gt ge eq ne xor select` as functions. `//` and `/` divide toward minus infinity.
//! Reading and printing keep stacks of their own; nothing recurses.
//!
//! ```
//! use lanebook_infer::notation::{NotationError, NotationFault, foreign, read_tilelang, select};
//! use lanebook_infer::{ArenaParts, BaseEntry, DigitTerm, FormArena, IndexForm};
//!
//! let (mut bases, mut terms, mut buckets) = (vec![BaseEntry::EMPTY; 64], vec![DigitTerm::EMPTY; 512], vec![0; 64]);
//! let mut arena = FormArena::new(ArenaParts { bases: &mut bases, terms: &mut terms, buckets: &mut buckets });
//! // A fragment as a program of TileLang constructs it.
//! let text = "T.Fragment((16, 8), lambda i, j: (i * 2 + j // 4, j % 4))";
//! let (fragment, shape) = read_tilelang(&mut arena, text).unwrap();
//! assert_eq!((shape.as_slice(), fragment.vars.len()), (&[16, 8][..], 2));
//! // One of two by a condition.
//! let chosen = select(&mut arena, IndexForm::constant(1), IndexForm::constant(7), IndexForm::constant(3)).unwrap();
//! assert_eq!((chosen.is_constant(), chosen.constant), (true, 7));
//! // What is wrong, and at which byte.
//! let refused: NotationError = read_tilelang(&mut arena, "T.Fragment()").unwrap_err();
//! let (mut why, mut kind) = (String::new(), String::new());
//! refused.write_text(&mut why).unwrap();
//! refused.fault.write_text(&mut kind).unwrap();
//! assert_eq!((foreign().fault, why.contains(&kind)), (NotationFault::Foreign, true));
//! ```

mod expression;
mod lanes;
mod strided;
mod tilelang;
mod write;

pub use expression::select;
pub use lanes::{LaneUnits, of_lanes};
pub use strided::strided;
pub use tilelang::read as read_tilelang;
#[doc(hidden)]
pub use write::integer;
pub use write::write;

use self::expression::{VarNames, expression};
use crate::{BaseId, FormArena, FormError, FragmentForm, VarRange, VarRole};

/// What is wrong with a written layout.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum NotationFault {
    /// A key other than `thread`, `index`, `replicate`.
    Key,
    /// A key is there twice.
    KeyTwice,
    /// `thread = ..` is missing.
    NoThread,
    /// `replicate` is no positive number.
    Copies,
    /// A variable other than `v0`, .. as many as there are dimensions, and `rep`.
    Variable,
    /// A number, a variable or a bracket is expected.
    Operand,
    /// An operator or a closing bracket is expected.
    Operator,
    /// The function takes another number of arguments.
    Arguments,
    /// The expression nests too deeply.
    Deep,
    /// Another notation.
    Foreign,
    /// The extents of the coordinates are expected: `(16, 8)`.
    Shape,
    /// `->`, a key or a bracket of TileLang's print is expected.
    Print,
    /// A `lambda` over one name for each dimension, and one for the copy where there are several.
    Lambda,
    /// A local index of several numbers.
    Indices,
    /// The map reaches more threads than are said.
    Threads,
    /// The map is no sum of digits of the coordinates times strides.
    NotStrided,
    /// It is one over other axes than lanes, warps, threads and the registers of a thread, or over
    /// parts of elements.
    Axes,
    /// It is one of another number of elements.
    Size,
    /// The map cannot be computed.
    Form(FormError),
}

/// What is wrong with a written layout, and where in its text.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct NotationError {
    /// What.
    pub fault: NotationFault,
    /// The byte of the text.
    pub offset: u32,
}

lanebook_layout::sentences! { NotationFault, sink;
    Key => ("a key is none of thread, index, replicate");
    KeyTwice => ("a key is there twice");
    NoThread => ("thread = .. is missing");
    Copies => ("replicate is no positive number");
    Variable => ("a name is none of v0, v1, .. (one for each dimension), rep and the functions");
    Operand => ("a number, a variable or `(` is expected");
    Operator => ("an operator, `,` or `)` is expected");
    Arguments => ("a function takes another number of arguments");
    Deep => ("the expression nests too deeply");
    Foreign => ("inference does not read this notation");
    Shape => ("the extents of at most 6 coordinates are expected, such as (16, 8)");
    Print => ("what TileLang prints goes on in another way: Fragment([..] -> [..], replicate: n, thread: n, forward_thread: .., forward_index: [..])");
    Lambda => ("a lambda over a name for each dimension, and one for the copy where replicate is more than 1, is expected");
    Indices => ("the local index is no single number: write the one that its numbers stand for, the last the fastest");
    Threads => ("forward_thread reaches more threads than are said");
    NotStrided => ("the map is no sum of digits of the coordinates times strides: it has an exclusive or, a quotient of a sum, or moves thread and local index by one digit");
    Axes => ("it has other axes than lanes, warps, threads and registers that hold whole elements");
    Size => ("it is one of another number of elements than the tile has");
    Form(error) => { error.write_text(sink) };
}

impl NotationError {
    /// Writes what is wrong, and at which byte of the text unless the map itself cannot be computed.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn write_text(&self, sink: &mut impl core::fmt::Write) -> core::fmt::Result {
        if let NotationFault::Form(error) = self.fault {
            return error.write_text(sink);
        }
        sink.write_str("the written layout cannot be read: ")?;
        self.fault.write_text(sink)?;
        lanebook_layout::sentence!(sink, " (byte ~ of it)", self.offset)
    }
}

lanebook_layout::shown!(NotationError);

type NotationResult<T> = Result<T, NotationError>;

const fn fault(fault: NotationFault, at: usize) -> NotationError {
    NotationError { fault, offset: if at > u32::MAX as usize { u32::MAX } else { at as u32 } }
}

/// Reads a layout over `vars`.
///
/// ```
/// use lanebook_infer::notation::{is_fragment_text, read, strided, write};
/// use lanebook_infer::{ArenaParts, BaseEntry, DigitTerm, FormArena, Inference};
/// # use lanebook_infer::{Access, Buffer, InferenceParts, MachineFigures, MemoryScope, Operator};
/// # let (mut bases, mut terms, mut buckets) = (vec![BaseEntry::EMPTY; 64], vec![DigitTerm::EMPTY; 512], vec![0; 64]);
/// # let (mut buffers, mut operators) = (vec![Buffer::default(); 4], vec![Operator::default(); 4]);
/// # let (mut accesses, mut layouts) = (vec![Access::default(); 8], vec![None; 32]);
/// # let (mut queue, mut points) = (vec![0; 16], vec![0; 64]);
/// # let mut inference = Inference::new(InferenceParts {
/// #     arena: ArenaParts { bases: &mut bases, terms: &mut terms, buckets: &mut buckets },
/// #     buffers: &mut buffers, operators: &mut operators, accesses: &mut accesses,
/// #     layouts: &mut layouts, queue: &mut queue, points: &mut points,
/// # }, MachineFigures { wave: 32, access_bits: 128, sector_bytes: 32 });
/// let tile = inference.buffer(&[8, 4], 32, MemoryScope::Fragment)?;
/// let vars = inference.buffer_of(tile)?.dims;
/// let text = "{thread = v0 * 4 + v1, index = 0}";
/// assert!(is_fragment_text(text));
/// let layout = read(&mut inference.arena, vars, text).unwrap();
/// // What is written is read again, and it has strides.
/// let mut written = String::new();
/// write(&inference.arena, &layout, &mut written).unwrap();
/// let again = read(&mut inference.arena, vars, &written).unwrap();
/// assert!(inference.arena.same(again.thread, layout.thread) && again.copies == layout.copies);
/// assert_eq!(strided(&inference.arena, &layout).unwrap().view().size_value(), Ok(32));
/// # Ok::<(), lanebook_infer::FormError>(())
/// ```
///
/// # Errors
/// The first thing that is wrong with the text.
pub fn read(arena: &mut FormArena<'_>, vars: VarRange, text: &str) -> NotationResult<FragmentForm> {
    let entries = entries(text)?;
    let copies = match entries.copies {
        None => 1,
        Some((start, end)) => {
            let digits = text.get(start..end).unwrap_or("").trim_ascii();
            let number = digits.parse::<u32>().ok().filter(|n| *n > 0);
            number.ok_or(fault(NotationFault::Copies, start))?
        }
    };
    let Some(thread) = entries.thread else { return Err(fault(NotationFault::NoThread, 0)) };
    let form = |at: usize| move |e| fault(NotationFault::Form(e), at);
    let copy = arena.var(copies, VarRole::Copy).map_err(form(0))?;
    let names = Numbered { vars, copy };
    let threads = expression(arena, &names, text, thread)?;
    match entries.index {
        None => arena.by_threads(vars, copy, threads).map_err(form(thread.0)),
        Some(index) => {
            let index = expression(arena, &names, text, index)?;
            arena.fragment(vars, copy, threads, index).map_err(form(thread.0))
        }
    }
}

/// That a layout is written in another notation.
#[must_use]
pub const fn foreign() -> NotationError {
    fault(NotationFault::Foreign, 0)
}

/// Whether a text is in this notation.
#[must_use]
pub fn is_fragment_text(text: &str) -> bool {
    text.trim_ascii_start().starts_with('{')
}

/// Where the values of keys lie.
#[derive(Default)]
struct LayoutKeys {
    thread: Option<(usize, usize)>,
    index: Option<(usize, usize)>,
    copies: Option<(usize, usize)>,
}

fn entries(text: &str) -> NotationResult<LayoutKeys> {
    let mut out = LayoutKeys::default();
    let begin = text.bytes().position(|b| b == b'{').map_or(0, |k| k.saturating_add(1));
    let end = text.bytes().rposition(|b| b == b'}').unwrap_or(text.len());
    let mut at = begin;
    while at < end {
        let part = text.get(at..end).unwrap_or("");
        let stop = at.saturating_add(part_end(part));
        let entry = text.get(at..stop).unwrap_or("");
        if let Some(equals) = entry.bytes().position(|b| b == b'=') {
            let key = entry.get(..equals).unwrap_or("").trim_ascii();
            let place = (at.saturating_add(equals).saturating_add(1), stop);
            let slot = match key {
                "thread" => &mut out.thread,
                "index" => &mut out.index,
                "replicate" => &mut out.copies,
                _ => return Err(fault(NotationFault::Key, at)),
            };
            if slot.replace(place).is_some() {
                return Err(fault(NotationFault::KeyTwice, at));
            }
        } else if !entry.trim_ascii().is_empty() {
            return Err(fault(NotationFault::Key, at));
        }
        at = stop.saturating_add(1);
    }
    Ok(out)
}

/// The first comma outside of brackets, or the end.
fn part_end(text: &str) -> usize {
    let mut depth = 0u32;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' | b'[' => depth = depth.saturating_add(1),
            b')' | b']' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => return at,
            _ => {}
        }
    }
    text.len()
}

/// The variables of a layout by their numbers.
struct Numbered {
    vars: VarRange,
    copy: BaseId,
}

impl VarNames for Numbered {
    fn find(&self, name: &str) -> Option<BaseId> {
        if name == "rep" {
            return Some(self.copy);
        }
        let number = name.strip_prefix('v')?.parse::<usize>().ok()?;
        self.vars.iter().nth(number)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::{NotationFault, read, read_tilelang, strided};
    use crate::{ArenaParts, BaseEntry, DigitTerm, FormArena, FormError, Tape};
    use lanebook_layout::{AxisId, Coord, Layout, every_variant_speaks};
    use std::format;
    use std::vec::Vec;

    #[test]
    fn each_fault_says_what_is_wrong() {
        let count = every_variant_speaks!(NotationFault:
            Key, KeyTwice, NoThread, Copies, Variable, Operand, Operator, Arguments, Deep, Foreign,
            Shape, Print, Lambda, Indices, Threads, NotStrided, Axes, Size, Form(FormError::Overflow));
        assert_eq!(count, 19);
    }

    fn with_arena<T>(run: impl FnOnce(&mut FormArena<'_>) -> T) -> T {
        let (mut bases, mut terms) = ([BaseEntry::EMPTY; 128], [DigitTerm::EMPTY; 2048]);
        let mut buckets = [0; 32];
        let parts = ArenaParts { bases: &mut bases, terms: &mut terms, buckets: &mut buckets };
        run(&mut FormArena::new(parts))
    }

    /// Thread and local index of each element, row-major, and the threads of the copies.
    fn table(layout: &Layout) -> Vec<(i64, i64)> {
        let size = layout.view().size_value().expect("a size");
        let place = |at: u64| {
            let mut out = Coord::new();
            layout.view().apply_flat(at, &mut out).expect("an element");
            out
        };
        (0..size).map(|at| (place(at).get(AxisId::TX), place(at).get(AxisId::M))).collect()
    }

    fn called(text: &str) -> Result<Layout, NotationFault> {
        with_arena(|arena| {
            let (form, _) = read_tilelang(arena, text).map_err(|error| error.fault)?;
            strided(arena, &form).map_err(|error| error.fault)
        })
    }

    fn keyed(text: &str, shape: &[u32]) -> Result<Layout, NotationFault> {
        with_arena(|arena| {
            let vars = arena.dims(shape).map_err(NotationFault::Form)?;
            let form = read(arena, vars, text).map_err(|error| error.fault)?;
            strided(arena, &form).map_err(|error| error.fault)
        })
    }

    #[test]
    fn one_fragment_in_all_its_spellings() {
        // Row i of 16, column j of 8: a lane has two neighbours in each half.
        let thread = |i: i64, j: i64| i % 8 * 4 + j / 2;
        let index = |i: i64, j: i64| i / 8 * 2 + j % 2;
        let wanted: Vec<_> =
            (0..128).map(|at| (thread(at / 8, at % 8), index(at / 8, at % 8))).collect();
        for text in [
            "T.Fragment((16, 8), forward_fn=lambda i, j: (i % 8 * 4 + j // 2, i // 8 * 2 + j % 2))",
            "T.Fragment([16, 8], lambda row, column: ((row % 8) * 4 + (column >> 1), [(row // 8) * 2 + column % 2]))",
            "Fragment((16, 8,), forward_thread_fn=lambda i, j: i % 8 * 4 + j // 2, replicate=1, forward_index_fn=lambda a, b: a // 8 * 2 + b % 2)",
            // Without it the local index counts what the thread leaves open.
            "Fragment((16, 8), forward_thread_fn=lambda i, j: (i * 8 + j) % 64 // 2)",
            "Fragment([16, 8] -> [4], replicate: 1, thread: 32, forward_thread: _i % 8 * 4 + _j // 2, forward_index: [_i // 8 * 2 + _j % 2])",
            "Fragment([16, 8] -> [2, 2], replicate: 1, thread: 32, forward_thread: T.floormod(_i, 8) * 4 + T.floordiv(_j, 2), forward_index: [_i // 8, _j % 2], thread_range: I.Range(0, 32))",
        ] {
            assert_eq!(called(text).map(|layout| table(&layout)), Ok(wanted.clone()), "{text}");
        }
        let text = "{thread = v0 % 8 * 4 + v1 / 2, index = v0 / 8 * 2 + v1 % 2}";
        assert_eq!(keyed(text, &[16, 8]).map(|layout| table(&layout)), Ok(wanted));
    }

    #[test]
    fn a_range_of_threads_begins_behind_others() {
        let printed = |range: &str| {
            called(&format!(
                "Fragment([4] -> [1], thread: 4, forward_thread: _i, forward_index: [0], thread_range: {range})"
            ))
        };
        let layout = printed("I.Range(32, 36)").expect("a layout");
        assert_eq!(table(&layout), [(32, 0), (33, 0), (34, 0), (35, 0)]);
        for range in ["I.Range(32)", "32", "I.Range(n, 36)", "I.Range(32, 36, 1)"] {
            assert_eq!(printed(range).err(), Some(NotationFault::Print), "{range}");
        }
    }

    #[test]
    fn copies_move_the_thread() {
        let text = "T.Fragment((4,), lambda i, rep: (rep * 4 + i + 8, 0), replicate=2)";
        let layout = called(text).expect("a layout");
        assert_eq!(table(&layout), [(8, 0), (9, 0), (10, 0), (11, 0)]);
        let copies = layout.view().replica;
        assert_eq!(copies.len(), 1);
        assert_eq!(copies.first().and_then(|it| it.stride().value().ok()), Some(4));
    }

    #[test]
    fn what_no_strides_say_is_refused() {
        for (text, fault) in [
            ("T.Fragment((8, 8), lambda i, j: (i ^ j, i))", NotationFault::NotStrided),
            ("T.Fragment((8, 6), lambda i, j: ((i + j) // 2, j))", NotationFault::NotStrided),
            ("T.Fragment((8,), lambda i: (i, i))", NotationFault::NotStrided),
            ("T.Fragment((8,), lambda i, rep: (i, rep), replicate=2)", NotationFault::NotStrided),
            ("T.Fragment((8, 8), lambda i: (i, 0))", NotationFault::Lambda),
            ("T.Fragment((8,), lambda i: (i, 0), replicate=2)", NotationFault::Lambda),
            ("T.Fragment((8,), lambda i: (i, 0, 1))", NotationFault::Indices),
            ("T.Fragment((8,), lambda i: (i, [0, 1]))", NotationFault::Indices),
            ("T.Fragment((8,), lambda i: (k, 0))", NotationFault::Variable),
            ("T.Fragment((8,), forward_index_fn=lambda i: i)", NotationFault::NoThread),
            (
                "T.Fragment((8,), lambda i: (i, 0), forward_index_fn=lambda i: i)",
                NotationFault::KeyTwice,
            ),
            ("T.Fragment((8,), lambda i: (i, 0), wide=1)", NotationFault::Key),
            ("T.Fragment((8, n), lambda i, j: (i, j))", NotationFault::Shape),
            ("T.Fragment()", NotationFault::Shape),
            (
                "Fragment([8] -> [1], thread: 4, forward_thread: _i, forward_index: [0])",
                NotationFault::Threads,
            ),
            ("Fragment([8] -> [1], thread: 8, forward_thread: _i)", NotationFault::Print),
            (
                "Fragment([8] -> [1, 1], thread: 8, forward_thread: _i, forward_index: [0])",
                NotationFault::Print,
            ),
            (
                "Fragment([8] -> [1], thread: 8, forward_thread: _j, forward_index: [0])",
                NotationFault::Variable,
            ),
        ] {
            assert_eq!(called(text).err(), Some(fault), "{text}");
        }
    }

    /// What is carried into a quotient is not at its greatest together with it.
    #[test]
    fn quotients_and_their_carries_have_one_range() {
        for (extent, by, more) in
            (2..40u32).flat_map(|e| (2..14u32).flat_map(move |d| (0..d).map(move |c| (e, d, c))))
        {
            with_arena(|arena| {
                let vars = arena.dims(&[extent]).expect("room");
                for turns in [1i64, -3] {
                    let text = std::format!(
                        "{{thread = v0 // {by} + (v0 % {by} + {more}) // {by}, index = v0}}"
                    );
                    let form = read(arena, vars, &text).map_err(|e| e.fault).expect("a layout");
                    let map = arena.scale(form.thread, turns).expect("room");
                    let values = (0..extent).map(|v| turns * i64::from((v + more) / by));
                    let (least, most) = values
                        .fold((i64::MAX, i64::MIN), |(least, most), value| {
                            (least.min(value), most.max(value))
                        });
                    assert_eq!(arena.range(map), Ok((least, most)), "{turns} * {text} of {extent}");
                }
            });
        }
    }

    /// Elements that were counted from another one on: each digit is known with what is carried into it.
    #[test]
    fn digits_with_carries_are_undone() {
        for (text, extent) in [
            (
                "{thread = (v0 % 2 + 1) % 2, index = (v0 // 2 % 4 + (v0 % 2 + 1) // 2 + 1) % 4}",
                8u32,
            ),
            (
                "{thread = (v0 % 2 + 1) % 2 + (v0 // 8 % 2 + (v0 % 8 + 3) // 8 + 1) % 2 * 12 + (v0 // 16 + (v0 % 16 + 11) // 16 + 1) % 2 * 6, index = (v0 // 2 % 4 + (v0 % 2 + 1) // 2 + 1) % 4}",
                32,
            ),
            ("{thread = (v0 + 27) % 2 + (v0 + 27) // 8 % 4 * 2, index = (v0 + 27) // 2 % 4}", 32),
            // Digits of a remainder, told by those of its quotients.
            (
                "{thread = v0 // 12 * 64 + v0 % 12 // 2 % 4, index = v0 % 12 % 2 * 3 + v0 % 12 // 8 * 6}",
                48,
            ),
        ] {
            with_arena(|arena| {
                let vars = arena.dims(&[extent]).expect("room");
                let form = read(arena, vars, text).map_err(|error| error.fault).expect("a layout");
                let mut output = |map| (arena.output(map).expect("room"), map);
                let equations = [output(form.thread), output(form.index)];
                let mut solved = crate::Solution::default();
                arena.solve(&equations, &vars.with(None), &mut solved).expect("room");
                assert!(solved.free.is_empty(), "{text}");
                let [(var, back)] = solved.vars[..] else { panic!("{text}: one variable") };
                let value = |forms: &[(crate::BaseId, i64)], map| {
                    let mut tape = Tape::new(arena, &[map]).expect("room");
                    forms.iter().for_each(|(base, value)| tape.set(*base, *value));
                    tape.derive(arena).expect("values");
                    tape.value(arena, map).expect("a value")
                };
                let outputs = equations.map(|(output, map)| {
                    let base = arena.terms_of(output).first().expect("a digit").digit.base;
                    (base, map)
                });
                for element in 0..i64::from(extent) {
                    let known = outputs.map(|(base, map)| (base, value(&[(var, element)], map)));
                    assert_eq!(value(&known, back), element, "{text}");
                }
            });
        }
    }
}
