//! Tile programs: kernels with their reasons, layouts of parallel loops with theirs.

use lanebook::TABLES;
use lanebook_draw::svg;
use lanebook_report::archs::arch;
use lanebook_report::compile::{reported, unwritten};
use lanebook_report::infer::{Inferred, Request, Stopped, inferred};
use lanebook_report::plan::Parts;
use lanebook_report::problem::Problems;
use lanebook_report::program::Source;
use serde_json::{Value, json};

fn source(program: &str) -> Source {
    Source::new("program", program)
}

fn refused(problems: &Problems) -> Value {
    json!({ "error": { "what": problems.render(false), "remedy": "" } })
}

/// A program compiled: what was decided, and the kernel.
pub(crate) fn compile(program: &str, arch: &str, explain: bool) -> Value {
    let source = source(program);
    let made = reported(&TABLES, arch, &source, explain, |made| {
        let part = |parts| made.render(parts).map_err(|_| unwritten());
        let (report, kernel) = (part(Parts::Report)?, part(Parts::Kernel)?);
        Ok(json!({ "report": report, "kernel": kernel, "launch": made.launch(&[])? }))
    });
    made.unwrap_or_else(|problems| refused(&problems))
}

/// A program's layouts inferred: the program with them, the timeline, the fragments drawn.
pub(crate) fn infer(program: &str, arch_name: &str, explain: bool) -> Value {
    let made = || -> Result<Value, Problems> {
        let (_, arch, _) = arch(&TABLES, arch_name)?;
        let take = |found: Inferred<'_, '_>| {
            let picture = svg::render(&found.picture());
            Ok(json!({ "picture": picture, "text": found.text(explain)? }))
        };
        let mut course = None;
        let stopped = |stopped: Stopped, _: &Problems| course = Some(stopped.text());
        let request = Request::usual(&TABLES, arch)?;
        let made = inferred(&TABLES, &source(program), request, take, stopped);
        let course = course.filter(|_| explain).unwrap_or_default();
        made.map_err(|why| why.with_course(&course))
    };
    made().unwrap_or_else(|problems| refused(&problems))
}
