//! A program's text: a file, standard input, or the built-in one.
use crate::problem::{Excerpt, Problem};
use std::io::Read;
use std::path::Path;

/// The built-in program.
pub const GEMM: (&str, &str) = ("gemm.tile (built in)", include_str!("gemm.tile"));

/// A program's text.
pub struct Source {
    /// Its name in messages.
    pub name: String,
    /// The text.
    pub text: String,
    /// The function that is meant, where the text has several kernels.
    pub function: Option<String>,
    /// Warps of a block, where whoever launches it says so and the text does not.
    pub warps: Option<u32>,
}

impl Source {
    /// A text under a name, whose one kernel is meant.
    #[must_use]
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { name: name.into(), text: text.into(), function: None, warps: None }
    }
}

/// A program's text: a file, standard input, or the built-in program.
pub fn read(path: Option<&Path>) -> Result<Source, Problem> {
    let Some(path) = path else { return Ok(Source::new(GEMM.0, GEMM.1)) };
    if path == Path::new("-") {
        let mut bytes = Vec::new();
        std::io::stdin().read_to_end(&mut bytes).map_err(|error| {
            Problem::system(format!("cannot read standard input: {error}"), "name a file")
        })?;
        return text("standard input".into(), bytes);
    }
    let name = path.display().to_string();
    let bytes = std::fs::read(path).map_err(|error| {
        let remedy = if error.kind() == std::io::ErrorKind::NotFound {
            "check the name; `lanebook compile --arch ARCH` without a file compiles the built-in GEMM"
        } else {
            "make it readable"
        };
        Problem::system(format!("cannot read {name}: {error}"), remedy)
    })?;
    text(name, bytes)
}

/// What some editors put before a text.
const BYTE_ORDER_MARK: char = '\u{feff}';

fn text(name: String, bytes: Vec<u8>) -> Result<Source, Problem> {
    match String::from_utf8(bytes) {
        Ok(text) if text.starts_with(BYTE_ORDER_MARK) => {
            let problem = Problem::refused(
                format!("{name} begins with a byte-order mark (line 1, column 1)"),
                "save the text as UTF-8 without one",
            );
            // Nothing is to be seen of the mark itself.
            let text = text.trim_start_matches(BYTE_ORDER_MARK).to_string();
            Err(problem.at(Excerpt {
                name,
                text: if text.is_empty() { " ".into() } else { text },
                range: 0..0,
                label: "before this".into(),
            }))
        }
        Ok(text) => Ok(Source::new(name, text)),
        Err(error) => Err(Problem::refused(
            format!("{name} is not UTF-8 text (byte {})", error.utf8_error().valid_up_to()),
            "give a tile program, see gen/cli/examples",
        )),
    }
}
