//! Why a program is refused: the library's errors, at their place in the text, with the remedy.
pub mod contract;
mod elements;
mod no_plan;
pub mod written;

use crate::problem::{Excerpt, Problem};
use crate::program::Source;
use lanebook::compile::CompileError;
use lanebook::emit::EmitError;
use lanebook::emit::step::{Missing, StepError};
use lanebook::ir::{self, EncodingFault, ErrorKind, Lexeme, Op, Program};
use lanebook_suggest::nearest;
use lanebook_tables::{Arch, DtypeId, Isa, Tables};

/// What is wrong with a layout in Triton's notation.
fn encoding(fault: EncodingFault) -> String {
    match fault {
        EncodingFault::Rank { field, expected, found } => {
            format!("{field:?} has {found} of {expected} entries")
        }
        EncodingFault::NotPowerOfTwo { field, value } => {
            format!("{field:?} has {value}, which is no power of two")
        }
        EncodingFault::BadValue { field, value } => format!("{field:?} cannot be {value}"),
        EncodingFault::NotAnOrder { at, value } => {
            format!("entry {at} of the order, {value}, is there twice or is no dimension")
        }
        EncodingFault::NotAPermutation { input, bit } => {
            format!(
                "basis {bit} of {} has several bits, or those of an earlier one",
                ["register", "lane", "warp", "block"].get(usize::from(input)).unwrap_or(&"?")
            )
        }
        EncodingFault::NotCovered { dim } => {
            format!("the bases do not reach all of dimension {dim}")
        }
        EncodingFault::SpanTooShort { needed, found } => {
            format!("{found} contiguous elements of {needed} that the swizzle spans")
        }
        EncodingFault::TooFewRows { needed, found } => {
            format!("{found} rows of {needed} that the swizzle takes")
        }
    }
}

/// A place in the program's text.
fn excerpt(source: &Source, place: ir::SourcePlace, label: impl Into<String>) -> Option<Excerpt> {
    if place.line == 0 {
        return None;
    }
    let start = (place.offset as usize).min(source.text.len());
    // At the end of the text a caret needs a place to stand.
    let text =
        if start == source.text.len() { format!("{} ", source.text) } else { source.text.clone() };
    Some(Excerpt {
        name: source.name.clone(),
        text,
        range: start..start + usize::from(place.len),
        label: label.into(),
    })
}

pub(crate) fn at(
    problem: Problem,
    source: &Source,
    place: ir::SourcePlace,
    label: impl Into<String>,
) -> Problem {
    match excerpt(source, place, label) {
        Some(excerpt) => problem.at(excerpt),
        None => problem,
    }
}

fn lexeme(what: Lexeme) -> String {
    match what {
        Lexeme::Char(c) => format!("`{}`", char::from(c)),
        other => other.describe().to_string(),
    }
}

pub(super) fn dtype<'t>(tables: &Tables<'t>, id: Option<DtypeId>) -> &'t str {
    id.and_then(|id| tables.dtype(id)).map_or("?", |d| d.name)
}

fn slot(slot: ir::ValueSlot) -> String {
    match slot {
        ir::ValueSlot::Operand(k) => format!("operand {k}"),
        ir::ValueSlot::Result(k) => format!("result {k}"),
        ir::ValueSlot::Argument(k) => format!("the body's argument {k}"),
        ir::ValueSlot::Yielded(k) => format!("yielded value {k}"),
    }
}

fn between(least: u8, most: u8) -> String {
    match (least, most) {
        (a, u8::MAX) => format!("{a} or more"),
        (a, b) if a == b => a.to_string(),
        (a, b) => format!("{a} to {b}"),
    }
}

/// An error of reading or verifying.
pub fn of_program(tables: &Tables<'_>, source: &Source, error: &ir::IrError) -> Problem {
    let place = error.at;
    let word = source
        .text
        .get(place.offset as usize..(place.offset as usize).saturating_add(usize::from(place.len)))
        .unwrap_or("");
    let mut what = error.kind.message().to_string();
    let mut remedy = error.kind.remedy().to_string();
    let label = match error.kind {
        ErrorKind::Expected { want, got } => {
            what = format!("expected {}, found {}", lexeme(want), lexeme(got));
            String::new()
        }
        ErrorKind::UnknownOp => {
            what = format!("unknown operation `{word}`");
            let names = tables
                .ops
                .iter()
                .flat_map(|op| std::iter::once(op.name).chain(op.aliases.iter().copied()));
            if let Some(near) = nearest(word, names) {
                remedy = format!("did you mean `{near}`?");
            }
            String::new()
        }
        ErrorKind::UnknownDtype => {
            what = format!("unknown element type `{word}`");
            let names: Vec<&str> = tables.dtypes.iter().map(|d| d.name).collect();
            let near = nearest(word, names.iter().copied())
                .map_or_else(String::new, |near| format!("did you mean `{near}`? "));
            remedy = format!("{near}known: {}", names.join(", "));
            String::new()
        }
        ErrorKind::AttrValue => {
            let attrs = tables.contract.ops.iter().flat_map(|op| {
                op.attrs.iter().chain(op.arguments.iter().flat_map(|slot| slot.attrs.slice()))
            });
            if let Some(attr) = attrs
                .into_iter()
                .find(|attr| word == attr.key || word.ends_with(&format!(".{}", attr.key)))
            {
                let given = contract::value_behind(source, place);
                what = format!(
                    "attribute `{word}` cannot be {given}: it takes {}",
                    contract::form(&attr.form)
                );
                remedy = attr.doc.to_string();
            }
            String::new()
        }
        ErrorKind::Redefined { line } => format!("first defined in line {line}"),
        ErrorKind::ResultNumber { results } => format!("it has {results}"),
        ErrorKind::Capacity { pool, limit } => {
            what =
                format!("the program is too large: it has more than {limit} {}", pool.describe());
            remedy = "split the program".into();
            "here the limit is reached".into()
        }
        ErrorKind::OperandCount { least, most, found } => {
            format!("takes {}, {found} given", between(least, most))
        }
        ErrorKind::ResultCount { least, most, found } => {
            format!("has {}, {found} given", between(least, most))
        }
        ErrorKind::TypeCount { values, types } => format!("{values} values, {types} types"),
        ErrorKind::RegionCount { expected, found } => format!("has {expected}, {found} given"),
        ErrorKind::WrittenType { operand } => format!("of operand {operand}"),
        ErrorKind::NotDominated { operand } => format!("operand {operand}"),
        ErrorKind::OperandKind { operand, want } => {
            format!("operand {operand} must be {}", want.describe())
        }
        ErrorKind::ResultKind { result, want } => {
            format!("result {result} must be {}", want.describe())
        }
        ErrorKind::Extents { left, left_dimension, right, right_dimension, a, b } => {
            format!(
                "dimension {left_dimension} of {} is {a}, dimension {right_dimension} of {} is {b}",
                slot(left),
                slot(right)
            )
        }
        ErrorKind::Ranks { left, right, a, b } => {
            format!("{} has {a}, {} has {b}", slot(left), slot(right))
        }
        ErrorKind::Blocks { depth, blocks } => format!("a depth of {depth}, {blocks} blocks"),
        ErrorKind::Elements { a, b } => format!("{a} and {b}"),
        ErrorKind::Dtypes { left, right, a, b } => format!(
            "{} is {}, {} is {}",
            slot(left),
            dtype(tables, a),
            slot(right),
            dtype(tables, b)
        ),
        ErrorKind::Types { left, right } => format!("{} and {}", slot(left), slot(right)),
        ErrorKind::Subscripts { rank, found } => format!("{rank} dimensions, {found} subscripts"),
        ErrorKind::RegionValues { needed, found } => format!("{needed} needed, {found} given"),
        ErrorKind::Encoding { fault } => encoding(fault),
        ErrorKind::LayoutSize { layout, tile } => {
            format!("the layout has {layout} elements, the tile {tile}")
        }
        _ => String::new(),
    };
    at(Problem::refused(what, remedy), source, place, label)
}

/// An error of planning or emission.
pub fn of_compile(
    tables: &Tables<'_>,
    arch: &Arch<'_>,
    isa: &Isa<'_>,
    program: &Program<'_, '_>,
    source: &Source,
    error: &CompileError,
) -> Problem {
    match *error {
        CompileError::Plan(error) => no_plan::of_plan(tables, arch, program, source, error),
        CompileError::Emit(error) => of_emit(tables, arch, isa, program, source, error),
        CompileError::Capacity { pool, capacity, op } => {
            let remedy = match lanebook::compile::storage::emit_parameter(pool) {
                Some(parameter) => format!(
                    "use smaller tiles or more threads, or split the program; a program that links the library lends more with {parameter} of its `CompileStorage`"
                ),
                None => "use smaller tiles or more threads, or split the program: the length of this list is fixed".to_string(),
            };
            let problem = Problem::refused(
                format!(
                    "the program is too large: its kernel needs more than {capacity} {}",
                    pool.describe()
                ),
                remedy,
            );
            match op {
                Some(op) => at(
                    problem,
                    source,
                    program.place(op),
                    "while instructions for this were written",
                ),
                None => problem,
            }
        }
        CompileError::Contract(breach) => contract::of_breach(tables, program, source, breach),
        CompileError::NotTold(op) => at(
            Problem::refused(
                "a function of parallel loops has no steps and plan to look at by stages",
                "use lanebook compile without --dump, or lanebook infer",
            ),
            source,
            program.place(op),
            String::new(),
        ),
        CompileError::NoFunction => Problem::refused(
            format!("{} has no function to compile", source.name),
            "write func @name(...) {threads = N} { ... }, see gen/cli/examples",
        ),
        other => Problem::internal(format!("{other:?}"), "report this with the program"),
    }
}

fn of_emit(
    tables: &Tables<'_>,
    arch: &Arch<'_>,
    isa: &Isa<'_>,
    program: &Program<'_, '_>,
    source: &Source,
    error: EmitError,
) -> Problem {
    let here = |problem: Problem, op: Op| at(problem, source, program.place(op), String::new());
    let class = |id: lanebook_tables::ClassId| isa.classes.get(id.index()).map_or("?", |c| c.name);
    let large = |what: String| {
        Problem::refused(
            format!("the program is too large: {what}"),
            "use smaller tiles or more threads, or split the program",
        )
    };
    match error {
        EmitError::Step(StepError::Pool { class: id, wanted, pool }) => Problem::refused(
            format!(
                "the kernel needs {wanted} {} registers at once, {} has {pool}",
                class(id),
                arch.name
            ),
            "use smaller tiles or more threads: a lane's part of a tile must fit its registers",
        ),
        EmitError::Step(StepError::Class { atom, operand, class }) => {
            let class = isa.classes.get(usize::from(class)).map_or("?", |class| class.name);
            let name = tables.atom(atom).map_or("?", |atom| atom.name());
            Problem::refused(
                format!(
                    "operand {operand} of {name} takes no {class} register, and the kernel needs one there"
                ),
                "convert the tile, or store it through another instruction",
            )
        }
        EmitError::Step(StepError::Operand { atom, operand }) => {
            let name = tables.atom(atom).map_or("?", |a| a.name());
            Problem::internal(
                format!("operand {operand} of {name} cannot be written"),
                "report this with the program",
            )
        }
        EmitError::Step(StepError::NoAtom(missing)) => {
            let access = |n: u16| tables.accesses.get(usize::from(n)).copied().unwrap_or("?");
            let what = match missing {
                Missing::Move(id) => format!("a move between {} registers", class(id)),
                Missing::Fill(id) => format!("a way to fill {} registers", class(id)),
                Missing::Special(id) => format!("a way to write {}", class(id)),
                Missing::Sync { producer, consumer } => format!(
                    "a synchronisation rule from {} to {}",
                    access(producer),
                    access(consumer)
                ),
                Missing::Frame => "a frame instruction".to_string(),
                Missing::Class => "a register class".to_string(),
                Missing::Lanes(mask) => format!(
                    "an exchange between lanes whose numbers differ by an exclusive or with {mask}"
                ),
                Missing::Divide => {
                    "a way to divide numbers by one that is no power of two".to_string()
                }
                Missing::Wait => "a wait for a counter".to_string(),
            };
            Problem::refused(
                format!("the tables of {} lack {what}", arch.name),
                "add it under hw-tables/ (see hw-tables/SCHEMA.md) and run `lanebook check`",
            )
        }
        EmitError::Expr(error) => large(format!("an index expression ({error:?})")),
        EmitError::Simplify(error) => {
            large(format!("index simplification ended early ({error:?})"))
        }
        EmitError::Select(error) => Problem::refused(
            format!(
                "no instruction of {} computes an index of this program ({error:?})",
                arch.name
            ),
            "add a target rule under rules/isa/ and run `lanebook check`",
        ),
        EmitError::Unplanned(op) => here(
            Problem::refused(
                format!(
                    "no instructions can be written for this `{}` as its tiles are distributed and held here",
                    program.op_name(op)
                ),
                if has_register_tile(program, op) {
                    "put a convert_layout before it, or use smaller tiles or more threads; report this with the program if that does not help"
                } else {
                    "use smaller tiles or more threads; report this with the program if that does not help"
                },
            ),
            op,
        ),
        EmitError::Element { op, why } => {
            let (what, remedy) = elements::words(why);
            here(Problem::refused(what, remedy), op)
        }
        EmitError::Index(op) => here(
            Problem::refused(
                "an index of this operation is none that a kernel computes",
                "use index arguments, loop counters, block_id, numbers, and index operations on them",
            ),
            op,
        ),
        EmitError::Carried(op) => here(
            Problem::refused(
                "a carried value is neither updated in place nor movable",
                "use the carried tile in one product that yields it",
            ),
            op,
        ),
        EmitError::Constant(op) => here(
            Problem::refused(
                "this computes with a number of 64 bits, which no one register holds",
                "load a tile of that number, or compute in f32",
            ),
            op,
        ),
        other => Problem::internal(format!("{other:?}"), "report this with the program"),
    }
}

/// Whether an operation reads a tile in registers.
fn has_register_tile(program: &Program<'_, '_>, op: Op) -> bool {
    program.operands(op).any(|value| {
        let ty = program.type_of(value);
        ty.space.is_none() && ty.shape.rank() > 0
    })
}
