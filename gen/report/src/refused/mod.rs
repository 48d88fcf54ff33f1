//! Why a program is refused: the library's errors, at their place in the text, with the remedy.
pub mod contract;
pub(crate) mod functions;
mod no_plan;
pub mod written;

use crate::problem::{Excerpt, Problem};
use crate::program::Source;
use lanebook::compile::CompileError;
use lanebook::emit::EmitError;
use lanebook::emit::step::InstError;
use lanebook::ir::{self, ErrorKind, Op, Program};
use lanebook_suggest::nearest;
use lanebook_tables::{Arch, DtypeId, Tables};

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

pub(super) fn dtype<'t>(tables: &Tables<'t>, id: Option<DtypeId>) -> &'t str {
    id.and_then(|id| tables.dtype(id)).map_or("?", |d| d.name)
}

/// What a writer writes.
pub(crate) fn written(write: impl FnOnce(&mut String) -> std::fmt::Result) -> String {
    let mut out = String::new();
    // A string takes everything.
    let _ = write(&mut out);
    out
}

/// An error of reading or verifying.
pub fn of_program(tables: &Tables<'_>, source: &Source, error: &ir::IrError) -> Problem {
    let place = error.at;
    let word = source
        .text
        .get(place.offset as usize..(place.offset as usize).saturating_add(usize::from(place.len)))
        .unwrap_or("");
    let mut what = written(|out| error.kind.write_message(out));
    let mut remedy = error.kind.remedy().to_string();
    let label = match error.kind {
        ErrorKind::LoweredOp => {
            what = format!("unknown operation `{word}`: {what}");
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
            // The operation whose line it is first: others may have an attribute of this key, too.
            let own = named_before(tables, &source.text, place.offset as usize);
            let own = own.and_then(|number| tables.contract.ops.get(number));
            let attrs = own.into_iter().chain(tables.contract.ops.iter()).flat_map(|op| {
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
        ErrorKind::Capacity { .. } => {
            remedy = "split the program".into();
            "here the limit is reached".into()
        }
        kind => written(|out| kind.write_figures("", Some(tables), out)),
    };
    at(Problem::refused(what, remedy), source, place, label)
}

/// The number of the operation that a line names last in front of a place.
fn named_before(tables: &Tables<'_>, text: &str, place: usize) -> Option<usize> {
    let before = text.get(..place)?;
    let line = before.get(before.rfind('\n').map_or(0, |end| end.saturating_add(1))..)?;
    let number =
        |word: &str| tables.ops.iter().position(|op| op.name == word || op.aliases.contains(&word));
    line.split_whitespace().rev().find_map(number)
}

/// An error of planning or emission.
pub fn of_compile(
    tables: &Tables<'_>,
    arch: &Arch<'_>,
    program: &Program<'_, '_>,
    source: &Source,
    error: &CompileError,
) -> Problem {
    match *error {
        CompileError::Plan(error) => no_plan::of_plan(tables, arch, program, source, error),
        CompileError::Emit(error) => of_emit(tables, arch, program, source, error),
        CompileError::Capacity { pool, op, .. } => {
            let remedy = match lanebook::compile::storage::emit_parameter(pool) {
                Some(parameter) => format!(
                    "use smaller tiles or more threads, or split the program; a program that links the library lends more with {parameter} of its `CompileStorage`"
                ),
                None => "use smaller tiles or more threads, or split the program: the length of this list is fixed".to_string(),
            };
            let problem = Problem::refused(error.to_string(), remedy);
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
        CompileError::Layout { op, .. } => at(
            Problem::refused(
                error.to_string(),
                "write one that is a layout of this tile (`lanebook ask 'LAYOUT @ EXTENTS on ARCH'` shows what it says), or none, and one is chosen",
            ),
            source,
            program.place(op),
            String::new(),
        ),
        CompileError::NoFunction => Problem::refused(
            format!("{} has no function to compile", source.name),
            "write func @name(...) {threads = N} { ... }, see gen/cli/examples",
        ),
        other => Problem::internal(other.to_string(), "report this with the program"),
    }
}

fn of_emit(
    tables: &Tables<'_>,
    arch: &Arch<'_>,
    program: &Program<'_, '_>,
    source: &Source,
    error: EmitError,
) -> Problem {
    let what = written(|out| error.write_named(tables, arch, program, out));
    let report = "report this with the program";
    let smaller = "use smaller tiles or more threads, or split the program";
    let remedy = match error {
        EmitError::Inst(InstError::Pool { .. }) => {
            "use smaller tiles or more threads: a lane's part of a tile must fit its registers"
        }
        EmitError::Inst(InstError::Class { .. }) => {
            "convert the tile, or store it through another instruction"
        }
        EmitError::Inst(InstError::NoAtom(_)) => {
            "add it under hw-tables/ (see hw-tables/SCHEMA.md) and run `lanebook check`"
        }
        EmitError::Expr(_) | EmitError::Simplify(_) => smaller,
        EmitError::Select(_) => "add a target rule under rules/isa/ and run `lanebook check`",
        EmitError::Unplanned(op) if has_register_tile(program, op) => {
            "put a convert_layout before it, or use smaller tiles or more threads; report this with the program if that does not help"
        }
        EmitError::Unplanned(_) => {
            "use smaller tiles or more threads; report this with the program if that does not help"
        }
        EmitError::Element { why, .. } => why.remedy(),
        EmitError::Index(_) => {
            "use index arguments, loop counters, block_id, numbers, and index operations on them"
        }
        EmitError::Carried(_) => "use the carried tile in one product that yields it",
        EmitError::Constant(_) => "load a tile of that number, or compute in f32",
        // The library's own: what of it lists are full is said before.
        _ => return Problem::internal(what, report),
    };
    let problem = Problem::refused(what, remedy);
    match error {
        EmitError::Unplanned(op)
        | EmitError::Index(op)
        | EmitError::Carried(op)
        | EmitError::Constant(op)
        | EmitError::Element { op, .. }
        | EmitError::Inst(InstError::Pool { op: Some(op), .. }) => {
            at(problem, source, program.place(op), String::new())
        }
        // Which part of selection or simplification it was, for whoever looks at the tables.
        EmitError::Select(why) => detailed(problem, source, program, why.to_string()),
        EmitError::Simplify(why) => detailed(problem, source, program, why.to_string()),
        _ => problem,
    }
}

/// A problem of the whole function, with what is known of it.
fn detailed(problem: Problem, source: &Source, program: &Program<'_, '_>, why: String) -> Problem {
    match program.functions().next() {
        Some(op) => at(problem, source, program.place(op), why),
        None => problem,
    }
}

/// Whether an operation reads a tile in registers.
fn has_register_tile(program: &Program<'_, '_>, op: Op) -> bool {
    program.operands(op).any(|value| {
        let ty = program.type_of(value);
        ty.space.is_none() && ty.shape.rank() > 0
    })
}
