//! What a check demands, with an example.
use lanebook_gen::audit::{self, Check};
use lanebook_report::problem::Problem;
use lanebook_suggest::nearest;

/// What is said of checks that find nothing in tables alone.
const ELSEWHERE: &str = "No example: no table brings it about. It is about files, programs that are run, the library, or another version of the tables.";

/// A check explained; of `all`, every one as Markdown, which is gen/CHECKS.md.
///
/// # Errors
/// If there is no such check.
pub fn explain(name: &str) -> Result<String, Problem> {
    let examples = audit::example::examples();
    let example = |check: &Check| match examples.get(check.name) {
        Some(text) => format!("For example:\n\n```text\n{}\n```\n", text.trim_end()),
        None => format!("{ELSEWHERE}\n"),
    };
    if name == "all" {
        let mut out = String::from(
            "# Checks\n\nWhat `lanebook check` demands. Written by `lanebook check --explain all -o gen/CHECKS.md`.\n",
        );
        for check in &audit::CHECKS {
            out.push_str(&format!(
                "\n## {}\n\n{} ({})\n\n{}",
                check.name,
                check.about,
                check.level.word(),
                example(check)
            ));
        }
        return Ok(out);
    }
    let Some(check) = audit::named(name) else {
        let near = nearest(name, audit::CHECKS.iter().map(|check| check.name));
        return Err(Problem::usage(
            format!("there is no check `{name}`"),
            near.map_or_else(
                || "`lanebook check --list` names them".to_string(),
                |near| format!("did you mean `{near}`?"),
            ),
        ));
    };
    Ok(format!("{} ({}): {}\n\n{}", check.name, check.level.word(), check.about, example(check)))
}
