//! Tile programs: to kernels with their reasons, and to the layouts of their parallel loops.

use crate::LanebookError;
use lanebook::TABLES;
use lanebook::convert::Conversion;
use lanebook_report::archs::arch;
use lanebook_report::compile::{reported, unwritten};
use lanebook_report::convert as conversions;
use lanebook_report::infer::{Inferred, Request, Stopped, inferred};
use lanebook_report::lint::lint as linted;
use lanebook_report::plan::Parts;
use lanebook_report::problem::Problems;
use lanebook_report::program::Source;
use pyo3::prelude::*;

/// Stack of the thread that works: storage of some megabytes is made there.
const STACK_BYTES: usize = 256 << 20;

/// A kernel's text, the report of what was decided, and its launch as JSON.
type KernelParts = (String, String, String);

/// Works on a thread with room for the library's storage; what is refused becomes an exception with the sentences of the
/// command.
fn working<T: Send>(
    py: Python<'_>,
    work: impl FnOnce() -> Result<T, Problems> + Send,
) -> PyResult<T> {
    let made = py.detach(|| {
        std::thread::scope(|scope| {
            let worker = std::thread::Builder::new()
                .stack_size(STACK_BYTES)
                .spawn_scoped(scope, || work().map_err(|problems| problems.render(false)))
                .map_err(|error| format!("cannot start a thread: {error}"))?;
            worker.join().map_err(|_| "it panicked; report this with the program".to_string())?
        })
    });
    made.map_err(|words| LanebookError::new_err(words.trim_end().to_string()))
}

fn source(text: &str) -> Source {
    Source::new("program", text)
}

/// Compiles a program, or the function of it that is named; `grid_of` are values of its index arguments, for which the blocks of its grid are counted.
#[pyfunction]
pub fn compile(
    py: Python<'_>,
    text: &str,
    arch: &str,
    explain: bool,
    function: Option<String>,
    grid_of: Vec<(String, i64)>,
) -> PyResult<KernelParts> {
    let source = Source { function, ..source(text) };
    working(py, || {
        reported(&TABLES, arch, &source, explain, |made| {
            let part = |parts| made.render(parts).map_err(|_| unwritten());
            Ok((part(Parts::Kernel)?, part(Parts::Report)?, made.launch(&grid_of)?.to_string()))
        })
    })
}

/// A conversion between two layouts by itself, as a JSON object.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub fn convert(
    py: Python<'_>,
    from: &str,
    to: &str,
    shape: Vec<u32>,
    dtype: &str,
    arch: &str,
    threads: Option<u32>,
    split: &str,
    scratch: Option<u32>,
) -> PyResult<String> {
    working(py, || {
        let split = conversions::split(split)?;
        let wanted =
            Conversion { from, to, threads, split, scratch, ..Conversion::of(&shape, dtype) };
        let source = conversions::conversion(&TABLES, arch, &wanted)?;
        conversions::json(&TABLES, arch, &source)
    })
}

/// Infers the layouts of the loops of a program, or of the function of it that is named: the annotated program with its timeline, or everything as JSON.
#[pyfunction]
pub fn infer(
    py: Python<'_>,
    text: &str,
    arch: &str,
    function: Option<String>,
    explain: bool,
    json: bool,
) -> PyResult<String> {
    let name = arch;
    let source = Source { function, ..source(text) };
    working(py, || {
        let (_, arch, _) = crate::kernels::arch(&TABLES, name)?;
        let take = |found: Inferred<'_, '_>| match json {
            true => Ok(found.json().to_string()),
            false => found.text(explain),
        };
        let mut course = String::new();
        let stopped = |stopped: Stopped, _: &_| {
            if explain {
                course = stopped.text();
            }
        };
        let made = inferred(&TABLES, &source, Request::usual(&TABLES, arch)?, take, stopped);
        made.map_err(|why| why.with_course(&course))
    })
}

/// What is costly or wrong in a program: as text, or as a JSON object.
#[pyfunction]
pub fn lint(
    py: Python<'_>,
    text: &str,
    arch: Option<&str>,
    name: &str,
) -> PyResult<(String, String)> {
    working(py, || {
        let program = Source::new(name, text);
        let found = linted(&TABLES, &program, arch)?;
        Ok((found.text(), found.json().to_string()))
    })
}
