//! What is wrong: where, what, and what to do; and how that is shown.
//!
//! With a source text the offending line is shown with a caret under the place. Every problem has a
//! remedy.
use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use std::ops::Range;

/// Why a command failed, for the exit status.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The input is refused.
    Refused,
    /// The command line is wrong.
    Usage,
    /// Files, or an internal error.
    System,
    /// Nothing is wrong with the input, but something else keeps it from being judged in full.
    Unjudged,
}

/// A piece of source text to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// Name of the file, or what the text is.
    pub name: String,
    /// The whole text.
    pub text: String,
    /// The bytes meant.
    pub range: Range<usize>,
    /// What about them; may be empty.
    pub label: String,
}

/// One problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    kind: Kind,
    what: String,
    excerpts: Vec<Excerpt>,
    notes: Vec<String>,
    remedy: String,
}

impl Problem {
    fn new(kind: Kind, what: impl Into<String>, remedy: impl Into<String>) -> Self {
        let (excerpts, notes) = (Vec::new(), Vec::new());
        Self { kind, what: what.into(), excerpts, notes, remedy: remedy.into() }
    }
    /// The input is refused.
    pub fn refused(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::new(Kind::Refused, what, remedy)
    }
    /// The command line is wrong.
    pub fn usage(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::new(Kind::Usage, what, remedy)
    }
    /// A file cannot be read or written.
    pub fn system(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::new(Kind::System, what, remedy)
    }
    /// An error of this program.
    pub fn internal(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::new(Kind::System, format!("internal error: {}", what.into()), remedy)
    }
    /// Where it is.
    pub fn at(mut self, excerpt: Excerpt) -> Self {
        self.excerpts.push(excerpt);
        self
    }
    /// What else there is to know.
    pub fn notes(mut self, notes: Vec<String>) -> Self {
        self.notes.extend(notes);
        self
    }

    fn render(&self, renderer: &Renderer) -> String {
        let mut group = Level::ERROR.primary_title(&self.what).elements(
            self.excerpts.iter().enumerate().map(|(number, e)| {
                let kind =
                    if number == 0 { AnnotationKind::Primary } else { AnnotationKind::Context };
                let mark = kind.span(visible(&e.text, e.range.clone()));
                let mark = if e.label.is_empty() { mark } else { mark.label(&e.label) };
                Snippet::source(&e.text).path(&e.name).annotation(mark)
            }),
        );
        group = group.elements(self.notes.iter().map(|note| Level::NOTE.message(note)));
        group = group.element(Level::HELP.message(&self.remedy));
        format!("{}\n", renderer.render(&[group]))
    }
}

/// The first line of a range, at least one byte wide where there is one.
fn visible(text: &str, range: Range<usize>) -> Range<usize> {
    let start = floor(text, range.start);
    let mut end = floor(text, range.end.max(start));
    if let Some(line) = text[start..end].find('\n') {
        end = start + line;
    }
    if start == end {
        end += text[start..].chars().next().filter(|c| *c != '\n').map_or(0, char::len_utf8);
    }
    start..end
}

fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Everything that is wrong.
#[derive(Clone, Debug)]
pub enum Problems {
    /// One problem of the command's own.
    One(Box<Problem>),
    /// A text that another part has rendered, with the kind.
    Rendered(Kind, String),
}

impl From<Problem> for Problems {
    fn from(one: Problem) -> Self {
        Self::One(Box::new(one))
    }
}

impl Problems {
    /// As text for standard error.
    pub fn render(&self, colour: bool) -> String {
        let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
        match self {
            Self::One(problem) => problem.render(&renderer),
            Self::Rendered(_, text) => text.clone(),
        }
    }
    /// The same with the course of an inference behind it.
    #[must_use]
    pub fn with_course(self, course: &str) -> Self {
        match course {
            "" => self,
            course => Self::Rendered(self.kind(), self.render(false) + course),
        }
    }
    /// What is wrong, in one sentence where it is a problem of the command's own.
    #[must_use]
    pub fn what(&self) -> &str {
        match self {
            Self::One(problem) => &problem.what,
            Self::Rendered(_, text) => text,
        }
    }
    /// Why the command failed.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self {
            Self::One(problem) => problem.kind,
            Self::Rendered(kind, _) => *kind,
        }
    }
    /// The exit status.
    pub fn exit_code(&self) -> u8 {
        match self.kind() {
            Kind::Refused => 1,
            Kind::Usage => 2,
            Kind::System => 3,
            Kind::Unjudged => 4,
        }
    }
}
