//! What the page asks, as JSON, and the answers.

use crate::{layouts, machines, programs};
use serde::Deserialize;
use serde_json::{Value, json};

/// A request of the page.
#[derive(Debug, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case", deny_unknown_fields)]
enum Request {
    /// What there is: architectures, functions of the language, examples.
    Start {},
    /// The instructions of an architecture.
    Instructions { arch: String },
    /// A query of the language; unless `full` the part of a large grid that repeats is given once.
    Query {
        query: String,
        arch: String,
        #[serde(default)]
        full: bool,
    },
    /// A tile program, compiled.
    Compile { program: String, arch: String, explain: bool },
    /// A program of parallel loops, inferred.
    Infer { program: String, arch: String, explain: bool },
}

/// Answers a request. What cannot be answered is an object with `error`: what is wrong, what to do, and for queries
/// the line and the column.
///
/// ```
/// let asked = r#"{"ask": "query", "query": "(4,8):(8,1) at (2, 3)", "arch": ""}"#;
/// let answer = lanebook_page::request::answer(asked);
/// assert_eq!(answer["text"], "m 19\n");
/// ```
#[must_use]
pub fn answer(text: &str) -> Value {
    let request = match serde_json::from_str(text) {
        Ok(request) => request,
        Err(error) => return refusal(&error.to_string(), "report this with what was asked"),
    };
    match request {
        Request::Start {} => machines::start(),
        Request::Instructions { arch } => machines::instructions(&arch),
        Request::Query { query, arch, full } => layouts::query(&query, &arch, full),
        Request::Compile { program, arch, explain } => programs::compile(&program, &arch, explain),
        Request::Infer { program, arch, explain } => programs::infer(&program, &arch, explain),
    }
}

/// Why there is no answer.
#[must_use]
pub fn refusal(what: &str, remedy: &str) -> Value {
    json!({ "error": { "what": what, "remedy": remedy } })
}
