//! Errors about the inputs: every place involved, what is wrong, and the remedy.
//!
//! Stages collect errors in a [`Diagnostics`] and go on, so that one run shows them all. Each is
//! shown twice: a plain line `file:line:column: error: ...; help: ...` that editors understand, and
//! an excerpt with the places underlined.
use crate::source::{Sources, Span};
use crate::suppressed::Suppressed;
use annotate_snippets::{AnnotationKind, Renderer, Snippet};
use std::cmp::Ordering;
use std::panic::Location;

/// How bad it is.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// The tables are wrong; they do not build, or what is built from them is wrong.
    #[default]
    Error,
    /// Something that is most likely not meant.
    Warning,
    /// Nothing is wrong; somebody may want to know.
    Note,
}

impl Level {
    /// `error`, `warning` or `note`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

/// Where in the compiler a diagnostic is made. All are equal: it is no part of what is said.
#[derive(Copy, Clone, Debug)]
pub struct Site(pub &'static Location<'static>);

impl PartialEq for Site {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
impl Eq for Site {}
impl PartialOrd for Site {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Site {
    fn cmp(&self, _: &Self) -> Ordering {
        Ordering::Equal
    }
}

/// A place and what to say about it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Label {
    /// Where.
    pub span: Span,
    /// What about it; may be empty for the first place.
    pub text: String,
}

/// One error, warning or note.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Diagnostic {
    /// The places involved; the first is the one to go to. Empty only for files that could not be
    /// read.
    pub labels: Vec<Label>,
    /// What is wrong, one sentence without a full stop.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
    /// How bad it is.
    pub level: Level,
    /// The check that says it ([`crate::audit::CHECKS`] lists them); empty until its stage has
    /// ended.
    pub check: &'static str,
    /// The name that is missing, if that is all that is wrong.
    pub lacks: Option<Box<str>>,
    /// Where it was made.
    pub site: Site,
}

impl Diagnostic {
    /// An error at a place.
    #[must_use]
    #[track_caller]
    pub fn at(span: Span, message: impl Into<String>) -> Self {
        Self { labels: vec![Label { span, text: String::new() }], ..Self::nowhere(message) }
    }
    /// An error that has no place in a file.
    #[must_use]
    #[track_caller]
    pub fn nowhere(message: impl Into<String>) -> Self {
        Self {
            labels: Vec::new(),
            message: message.into(),
            help: None,
            level: Level::Error,
            check: "",
            lacks: None,
            site: Site(Location::caller()),
        }
    }
    /// The same as a warning or a note.
    #[must_use]
    pub fn as_level(mut self, level: Level) -> Self {
        self.level = level;
        self
    }
    /// What to do about it.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(text.into());
        self
    }
    /// Nothing is wrong if this name is declared: it is not said where it may be, in what could not
    /// be read.
    #[must_use]
    pub fn lacks(mut self, name: &str) -> Self {
        self.lacks = Some(name.into());
        self
    }
    /// One more place that is involved.
    #[must_use]
    pub fn note(mut self, span: Span, text: impl Into<String>) -> Self {
        self.labels.push(Label { span, text: text.into() });
        self
    }
    /// `file:line:column: error: message; help: remedy` and one such line a further place.
    #[must_use]
    pub fn plain(&self, sources: &Sources) -> String {
        let mut out = match self.labels.first() {
            Some(first) => {
                format!("{}: {}: {}", sources.place(first.span), self.level.word(), self.message)
            }
            None => format!("{}: {}", self.level.word(), self.message),
        };
        if let Some(help) = &self.help {
            out.push_str("; help: ");
            out.push_str(help);
        }
        out.push('\n');
        for label in self.labels.iter().skip(1) {
            out.push_str(&format!("{}: note: {}\n", sources.place(label.span), label.text));
        }
        out
    }
    /// The excerpt with the places underlined, without colours.
    #[must_use]
    pub fn excerpt(&self, sources: &Sources) -> String {
        let Some(first) = self.labels.first() else { return String::new() };
        let mut files: Vec<_> = vec![first.span.file];
        for label in &self.labels {
            if !files.contains(&label.span.file) {
                files.push(label.span.file);
            }
        }
        let title = match self.level {
            Level::Error => annotate_snippets::Level::ERROR,
            Level::Warning => annotate_snippets::Level::WARNING,
            Level::Note => annotate_snippets::Level::NOTE,
        };
        let title = title.primary_title(&self.message);
        let title = if self.check.is_empty() { title } else { title.id(self.check) };
        let mut group = title.elements(files.iter().map(|id| {
            let file = sources.file(*id);
            let mut snippet = Snippet::source(&file.text).path(&file.name);
            for (number, label) in
                self.labels.iter().enumerate().filter(|(_, label)| label.span.file == *id)
            {
                let kind =
                    if number == 0 { AnnotationKind::Primary } else { AnnotationKind::Context };
                let range = visible(&file.text, label.span);
                let mark = kind.span(range);
                snippet = snippet.annotation(if label.text.is_empty() {
                    mark
                } else {
                    mark.label(&label.text)
                });
            }
            snippet
        }));
        if let Some(help) = &self.help {
            group = group.element(annotate_snippets::Level::HELP.message(help));
        }
        Renderer::plain().render(&[group])
    }
}

/// The first line of a span, at least one byte wide if there is one: excerpts of whole entries
/// would fill the screen.
fn visible(text: &str, span: Span) -> std::ops::Range<usize> {
    let (start, mut end) = (span.start as usize, span.end as usize);
    if let Some(line) = text[start..end].find('\n') {
        end = start + line;
    }
    if start == end {
        end += text[start..].chars().next().filter(|c| *c != '\n').map_or(0, char::len_utf8);
    }
    start..end
}

/// All errors of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
    lost: Vec<Suppressed>,
    /// Places of those that are held back, each with what was left out in the first place.
    held: Vec<(Span, usize)>,
}

impl Diagnostics {
    /// No errors yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
    /// Adds one, or holds it back if it is only about the absence of what was left out.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        let root = diagnostic.lacks.as_ref().and_then(|name| self.held_by(name));
        match (root, diagnostic.labels.first()) {
            (Some(root), Some(first)) => self.held.push((first.span, root)),
            (Some(_), None) => {}
            (None, _) => self.list.push(diagnostic),
        }
    }
    /// Whether the absence of a name would be held back: its error needs no remedy then.
    #[must_use]
    pub fn may_be_lost(&self, name: &str) -> bool {
        self.lost.iter().any(|lost| lost.covers(name))
    }
    /// Whether this name may be one of those that were left out; what is wrong without it is then
    /// held back.
    pub fn hold(&mut self, name: &str) -> bool {
        self.held_by(name).is_some()
    }
    /// What was left out in the first place, if a name may be one of those; it counts what is held
    /// back.
    fn held_by(&mut self, name: &str) -> Option<usize> {
        let found = self.lost.iter().position(|lost| lost.covers(name))?;
        let root = self.lost[found].root.unwrap_or(found);
        self.lost[root].held += 1;
        Some(root)
    }
    /// Where something is held back.
    pub fn held(&self) -> impl Iterator<Item = Span> {
        self.held.iter().map(|(at, _)| *at)
    }
    /// Something that is left out, and why has been said.
    pub fn lose(&mut self, lost: Suppressed) {
        self.lost.push(lost);
    }
    /// Something in an entry is left out. If nothing wrong is said of the entry but something is
    /// held back, that is why.
    pub fn lose_with(&mut self, lost: Suppressed, entry: Span) {
        let inside =
            |at: &Span| at.file == entry.file && entry.start <= at.start && at.start < entry.end;
        let said =
            self.list.iter().any(|one| one.labels.first().is_some_and(|label| inside(&label.span)));
        let root = self.held.iter().find(|(at, _)| !said && inside(at)).map(|(_, root)| *root);
        self.lose(lost.because_of(root));
    }
    /// A thing of this name is left out, and why has been said.
    pub fn lose_name(&mut self, name: &str, at: Span) {
        self.lose(Suppressed::name(name, at));
    }
    /// What is left out, and nothing of what is said.
    #[must_use]
    pub fn only_lost(&self) -> Self {
        Self { lost: self.lost.iter().map(Suppressed::afresh).collect(), ..Self::default() }
    }
    /// Says in a note at each thing that was left out how much was held back because of it.
    pub fn settle(&mut self) {
        for lost in std::mem::take(&mut self.lost).iter().filter(|lost| lost.held > 0) {
            let what = if lost.held == 1 {
                "1 finding is".to_string()
            } else {
                format!("{} findings are", lost.held)
            };
            let message = format!(
                "{what} held back until this is mended: what is missing elsewhere may be what stands here"
            );
            self.push(Diagnostic {
                check: "schema",
                ..Diagnostic::at(lost.span.head(), message).as_level(Level::Note)
            });
        }
    }
    /// How many errors there are, each counted once.
    #[must_use]
    pub fn errors(&self) -> usize {
        self.sorted().iter().filter(|one| one.level == Level::Error).count()
    }
    /// Names the check that those without one come from.
    pub fn name(&mut self, check: &'static str) {
        for one in self.list.iter_mut().filter(|one| one.check.is_empty()) {
            one.check = check;
        }
    }
    /// All of them, with the check that they come from.
    #[must_use]
    pub fn named(mut self, check: &'static str) -> Self {
        self.name(check);
        self
    }
    /// All as they were added.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.list.iter()
    }
    /// Adds those of another stage.
    pub fn extend(&mut self, other: Diagnostics) {
        let before = self.lost.len();
        self.lost.extend(other.lost.into_iter().map(|lost| {
            let root = lost.root.map(|root| root + before);
            lost.because_of(root)
        }));
        self.held.extend(other.held.into_iter().map(|(at, root)| (at, root + before)));
        other.list.into_iter().for_each(|one| self.push(one));
    }
    /// Whether nothing is wrong.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
    /// How many, those that are held back among them.
    #[must_use]
    pub fn len(&self) -> usize {
        self.list.len() + self.lost.iter().map(|lost| lost.held).sum::<usize>()
    }
    /// The errors by place, each once.
    #[must_use]
    pub fn sorted(&self) -> Vec<&Diagnostic> {
        let mut all: Vec<&Diagnostic> = self.list.iter().collect();
        all.sort();
        all.dedup();
        all
    }
    /// The errors by file, line and column, each once. The rows of a family stand where the family
    /// does.
    #[must_use]
    pub fn by_place(&self, sources: &Sources) -> Vec<&Diagnostic> {
        let mut all = self.sorted();
        all.sort_by_cached_key(|one| {
            one.labels.first().map(|first| {
                (sources.file(first.span.file).name.clone(), sources.line_col(first.span))
            })
        });
        all
    }
    /// Plain lines of all errors, by place.
    #[must_use]
    pub fn plain(&self, sources: &Sources) -> String {
        self.by_place(sources).iter().map(|d| d.plain(sources)).collect()
    }
    /// Each error's plain lines followed by its excerpt.
    #[must_use]
    pub fn full(&self, sources: &Sources) -> String {
        self.by_place(sources)
            .iter()
            .map(|d| format!("{}{}\n\n", d.plain(sources), d.excerpt(sources)))
            .collect()
    }
    /// `value` if nothing is wrong, else the errors.
    pub fn or<T>(self, value: T) -> Result<T, Diagnostics> {
        if self.is_empty() { Ok(value) } else { Err(self) }
    }
}

/// Errors about one place that share their further place, if they have one.
#[derive(Debug)]
pub struct About<'d> {
    diags: &'d mut Diagnostics,
    at: Span,
    note: Option<(Span, &'static str)>,
}

impl<'d> About<'d> {
    /// Errors about a place.
    pub fn new(diags: &'d mut Diagnostics, at: Span) -> Self {
        Self { diags, at, note: None }
    }
    /// Each with a note at another place.
    #[must_use]
    pub fn note(mut self, at: Span, text: &'static str) -> Self {
        self.note = Some((at, text));
        self
    }
    /// One of them.
    #[track_caller]
    pub fn say(&mut self, what: impl Into<String>, help: &str) {
        let mut error = Diagnostic::at(self.at, what).help(help);
        if let Some((at, text)) = self.note {
            error = error.note(at, text);
        }
        self.diags.push(error);
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(one: Diagnostic) -> Self {
        Self { list: vec![one], ..Self::default() }
    }
}
