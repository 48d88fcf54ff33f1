//! For people: a line an editor understands, then the excerpt with the places underlined.
use super::Findings;
use lanebook_gen::diagnostics::Level;

pub fn render(findings: &Findings<'_>) -> String {
    let shown = findings.list.iter().filter(|one| findings.notes || one.level != Level::Note);
    shown.map(|one| format!("{}{}\n\n", one.plain(findings.sources), one.excerpt(findings.sources))).collect()
}
