//! `lanebook` alone, on a terminal: questions line by line, with history, and completion of names.
use super::ask::{answered, functions};
use crate::args::{AskFormat, Cli};
use crate::output;
use crate::tables;
use clap::CommandFactory;
use lanebook::query::{FUNCTIONS, QueryStorage};
use lanebook_report::problem::{Problem, Problems};
use lanebook_tables::{ArchId, AtomFilter, Tables};
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::DefaultHistory;
use rustyline::validate::Validator;
use rustyline::{Context, Editor, Helper};
use std::io::{IsTerminal, stdin};
use std::path::PathBuf;

/// What is said first.
const WELCOME: &str = "\
A layout, an instruction's operand, or a function of them; `let A = ...;` gives names, `:help` lists functions,
`:arch NAME` chooses the architecture, `:json`, `:csv` and `:text` the format, `:quit` or Ctrl-D ends.
";

/// Names that are completed.
struct Names(Vec<String>);

impl Completer for Names {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        at: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        let before = &line[..at];
        let start = before
            .rfind(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '.' | ':'))
            .map_or(0, |k| k + 1);
        let word = &before[start..];
        let found = self.0.iter().filter(|name| !word.is_empty() && name.starts_with(word));
        Ok((start, found.cloned().collect()))
    }
}

impl Helper for Names {}
impl Hinter for Names {
    type Hint = String;
}
impl Highlighter for Names {}
impl Validator for Names {}

/// Functions, commands, architectures and instructions.
fn names(tables: &Tables<'_>) -> Names {
    let mut out: Vec<String> = FUNCTIONS.iter().map(|form| format!("{}(", form.name)).collect();
    out.extend(
        [":help", ":arch", ":json", ":csv", ":text", ":quit", "let", "where", "at"]
            .map(String::from),
    );
    out.extend(tables.archs.iter().map(|arch| arch.name.to_string()));
    out.extend(tables.list_atoms(None, AtomFilter::ALL).map(|(_, atom)| atom.name().to_string()));
    out.sort();
    out.dedup();
    Names(out)
}

/// What a session remembers.
struct Session<'t> {
    tables: &'t Tables<'t>,
    storage: Box<QueryStorage>,
    arch: Option<ArchId>,
    format: AskFormat,
}

impl Session<'_> {
    /// What a line says; nothing ends the session.
    fn line(&mut self, line: &str) -> Option<String> {
        let said = match line.split_once(' ').unwrap_or((line, "")) {
            (":quit" | ":q", _) => return None,
            (":help" | ":h", _) => functions(),
            (":json", _) => {
                self.format = AskFormat::Json;
                String::new()
            }
            (":csv", _) => {
                self.format = AskFormat::Csv;
                String::new()
            }
            (":text", _) => {
                self.format = AskFormat::Text;
                String::new()
            }
            (":arch", name) => match tables::arch(self.tables, name.trim()) {
                Ok((id, ..)) => {
                    self.arch = Some(id);
                    String::new()
                }
                Err(problem) => Problems::from(problem).render(false),
            },
            _ => {
                let found = answered(line, self.arch, self.format, self.tables, &mut self.storage);
                found.unwrap_or_else(|problem| Problems::from(problem).render(false))
            }
        };
        Some(said)
    }
}

/// Where the lines of earlier sessions stand.
fn history() -> Option<PathBuf> {
    let home = std::env::var_os("XDG_STATE_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".local/state")))?;
    Some(home.join("lanebook_history"))
}

/// Runs the session; without a terminal it is as if a command were missing.
pub fn run(tables: &Tables<'_>) -> Result<(), Problems> {
    let mut session = Session {
        tables,
        storage: Box::new(QueryStorage::new()),
        arch: None,
        format: AskFormat::Text,
    };
    if !stdin().is_terminal() {
        let help = Cli::command().render_help().to_string();
        return Err(Problem::usage("no command was given, and this is no terminal", help).into());
    }
    let failed = |error: ReadlineError| {
        Problem::system(
            format!("cannot read lines: {error}"),
            "ask with `lanebook ask 'EXPRESSION'`",
        )
    };
    let mut editor: Editor<Names, DefaultHistory> = Editor::new().map_err(failed)?;
    editor.set_helper(Some(names(tables)));
    let kept = history();
    if let Some(path) = &kept {
        // None yet: the first session.
        let _ = editor.load_history(path);
    }
    output::write(None, WELCOME)?;
    loop {
        match editor.readline("lanebook> ") {
            Ok(line) if line.trim().is_empty() => {}
            Ok(line) => {
                let _ = editor.add_history_entry(&line);
                match session.line(line.trim()) {
                    Some(said) => output::write(None, &said)?,
                    None => break,
                }
            }
            Err(ReadlineError::Interrupted) => {}
            Err(ReadlineError::Eof) => break,
            Err(error) => return Err(failed(error).into()),
        }
    }
    if let Some(path) = &kept {
        if let Some(folder) = path.parent() {
            let _ = std::fs::create_dir_all(folder);
        }
        let _ = editor.save_history(path);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_remembers_names_architecture_and_format() {
        let mut session = Session {
            tables: &lanebook::TABLES,
            storage: Box::new(QueryStorage::new()),
            arch: None,
            format: AskFormat::Text,
        };
        assert_eq!(session.line("let A = (8,4):(4,1);").as_deref(), Some(""));
        assert_eq!(session.line("size(A)").as_deref(), Some("32\n"));
        let refused = session.line("figures()").unwrap_or_default();
        assert!(refused.contains("the answer depends on the architecture"), "{refused}");
        let arch = lanebook::TABLES.archs[0].name;
        assert_eq!(session.line(&format!(":arch {arch}")).as_deref(), Some(""));
        let figures = session.line("figures()").unwrap_or_default();
        assert!(figures.starts_with(&format!("{arch}: wave of")), "{figures}");
        assert!(
            session.line(":arch none").is_some_and(|said| said.contains("unknown architecture"))
        );
        assert_eq!(session.line(":json").as_deref(), Some(""));
        assert_eq!(
            session.line("A at (3, 1)").as_deref(),
            Some("{\"kind\": \"position\", \"places\": [{\"m\": 13}]}\n")
        );
        assert!(session.line(":help").is_some_and(|said| said.contains("conflicts(TILE")));
        assert_eq!(session.line(":quit"), None);
    }

    #[test]
    fn names_are_completed() {
        let names = names(&lanebook::TABLES);
        let history = DefaultHistory::new();
        let (start, found) =
            names.complete("compose(logical_di", 18, &Context::new(&history)).expect("an answer");
        assert_eq!((start, found), (8, vec!["logical_divide(".to_string()]));
        let (_, found) =
            names.complete("mma.m16n8k16.f32.f", 18, &Context::new(&history)).expect("an answer");
        assert!(found.contains(&"mma.m16n8k16.f32.f16".to_string()), "{found:?}");
    }
}
