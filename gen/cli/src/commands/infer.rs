//! `lanebook infer`: layouts of a program's parallel loops and fragments, and how they came about.
use crate::args::{Colour, Infer, InferFormat, InferLevel};
use crate::output;
use lanebook::infer::Level;
use lanebook_draw::{Picture, svg, text};
use lanebook_report::infer::{Inferred, Request, Stopped, inferred};
use lanebook_report::problem::{Problem, Problems};
use lanebook_report::program::read;
use lanebook_suggest::nearest;
use lanebook_tables::{Arch, Tables};

/// Rows and columns that a terminal shows of a picture.
const MOST: usize = 64;

/// Runs the command.
pub fn run(args: &Infer, tables: &Tables<'_>, colour: Colour) -> Result<(), Problems> {
    let mut source = read(Some(&args.file))?;
    source.function.clone_from(&args.function);
    let arch = arch(tables, args.arch.as_deref())?;
    let mut request = Request::usual(tables, arch)?;
    if let Some(name) = args.cost.as_deref() {
        request.policy = tables.policy_named(name).ok_or_else(|| {
            let known: Vec<&str> = tables.policies.iter().map(|policy| policy.name).collect();
            Problem::usage(format!("unknown cost `{name}`"), format!("known: {}", known.join(", ")))
        })?;
    }
    request.level = match args.level {
        InferLevel::Strict => Level::Strict,
        InferLevel::Common => Level::Common,
        InferLevel::Free => Level::Free,
    };
    let mut course = None;
    let stopped = |stopped: Stopped, why: &Problems| {
        course = match args.format {
            InferFormat::Json => Some(pretty(&stopped.json(why))),
            InferFormat::Text => args.explain.then(|| Ok(stopped.text())),
        };
    };
    let take = |found: Inferred<'_, '_>| {
        if args.picture {
            return drawn(args, &found.picture(), colour);
        }
        let out = match args.format {
            InferFormat::Json => pretty(&found.json())?,
            InferFormat::Text => found.text(args.explain)?,
        };
        Ok(output::write(args.output.as_deref(), &out)?)
    };
    let done = inferred(tables, &source, request, take, stopped);
    if let Some(course) = course {
        output::write(args.output.as_deref(), &course?)?;
    }
    done
}

fn pretty(json: &serde_json::Value) -> Result<String, Problem> {
    let text = serde_json::to_string_pretty(json);
    Ok(text.map_err(|error| Problem::internal(error.to_string(), "report this"))? + "\n")
}

/// An architecture by its name, the first without one.
fn arch<'t>(tables: &'t Tables<'t>, name: Option<&str>) -> Result<&'t Arch<'t>, Problem> {
    let known = || tables.archs.iter().map(|arch| arch.name);
    let found = match name {
        Some(name) => tables.arch_named(name).and_then(|id| tables.arch(id)),
        None => tables.archs.iter().next(),
    };
    found.ok_or_else(|| {
        let name = name.unwrap_or("");
        let near = nearest(name, known())
            .map_or_else(String::new, |near| format!("did you mean `{near}`? "));
        Problem::usage(
            format!("unknown architecture `{name}`"),
            format!("{near}known: {}", known().collect::<Vec<_>>().join(", ")),
        )
    })
}

fn drawn(args: &Infer, picture: &Picture, colour: Colour) -> Result<(), Problems> {
    let vector =
        |path: &std::path::PathBuf| path.extension().is_some_and(|e| e.eq_ignore_ascii_case("svg"));
    match &args.output {
        Some(path) if vector(path) => Ok(output::write(Some(path), &svg::render(picture))?),
        path => {
            let painted = path.is_none() && colour.on_stdout();
            let options =
                text::Options { colour: painted, most: MOST, width: output::terminal_width() };
            Ok(output::write(path.as_deref(), &text::render(picture, options))?)
        }
    }
}
