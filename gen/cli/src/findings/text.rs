//! For people: a line an editor understands, then the excerpt with the places underlined.
use super::Findings;
use lanebook_gen::diagnostics::Level;

/// Checks that compare with another version: a line each, without excerpts.
const COMPARING: [(&str, &str); 2] =
    [("change", "facts that differ"), ("pick", "choices that differ")];

fn compares(check: &str) -> bool {
    COMPARING.iter().any(|(name, _)| *name == check)
}

pub fn render(findings: &Findings<'_>) -> String {
    // Of tables that do not compile, notes of the compiler say what could not be judged.
    let noted = |check: &str| findings.notes || (findings.figures.is_none() && check == "schema");
    let shown = findings.list.iter().filter(|one| {
        !compares(one.check)
            && (one.level != Level::Note || noted(one.check))
            && !Findings::skips(one)
    });
    let mut out: String = shown
        .map(|one| format!("{}{}\n\n", one.plain(findings.sources), one.excerpt(findings.sources)))
        .collect();
    // What was left out is said in any case, in a line.
    findings
        .list
        .iter()
        .filter(|one| Findings::skips(one))
        .for_each(|one| out.push_str(&one.plain(findings.sources)));
    out
}

/// What differs from another version.
pub fn differences(findings: &Findings<'_>) -> String {
    let mut out = String::new();
    for (check, title) in COMPARING {
        let mut of_it = findings.list.iter().filter(|one| one.check == check).peekable();
        if of_it.peek().is_some() {
            out.push_str(title);
            out.push('\n');
        }
        for one in of_it {
            let place = one.labels.first().map_or_else(String::new, |label| {
                format!("{}: ", findings.sources.place(label.span))
            });
            out.push_str(&format!("  {place}{}\n", one.message));
        }
    }
    out
}
