//! Input files and places in them.
//!
//! A [`Span`] is a byte range of one file, small and `Copy`, so that every entry and every name of
//! the model can carry the place it came from. Lines and columns are computed only when an error is
//! shown.
use std::path::{Path, PathBuf};

/// A loaded file, as an index into [`Sources`].
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileId(pub u32);

/// A byte range in a file.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    /// The file.
    pub file: FileId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The bytes `start..end` of a file.
    #[must_use]
    pub fn new(file: FileId, start: usize, end: usize) -> Self {
        Self { file, start: start as u32, end: end.max(start) as u32 }
    }
    /// Just the beginning of this span: for errors about a whole entry.
    #[must_use]
    pub fn head(self) -> Self {
        Self { end: self.start, ..self }
    }
}

/// A file and its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// Path relative to the root that was loaded, with `/` on every system. This is what errors and
    /// generated code show.
    pub name: String,
    /// Where it was read from, if it came from disk.
    pub path: Option<PathBuf>,
    /// Its contents.
    pub text: String,
    /// It belongs to a folder of tables beside the repository's own.
    pub extra: bool,
    /// It is one row of the family that stands there, not a file of its own: see
    /// [`crate::families`].
    pub family: Option<Span>,
}

/// A line and a column, both from 1; columns count characters.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LineCol {
    /// Line.
    pub line: usize,
    /// Column.
    pub column: usize,
}

/// All loaded files.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    files: Vec<SourceFile>,
}

impl Sources {
    /// Adds a file.
    pub fn add(&mut self, name: &str, path: Option<&Path>, text: String) -> FileId {
        self.files.push(SourceFile {
            name: name.to_string(),
            path: path.map(Path::to_path_buf),
            text,
            extra: false,
            family: None,
        });
        FileId(self.files.len() as u32 - 1)
    }
    /// Adds a file of a folder of tables beside the repository's own.
    pub fn add_extra(&mut self, name: &str, path: Option<&Path>, text: String) -> FileId {
        let id = self.add(name, path, text);
        if let Some(file) = self.files.last_mut() {
            file.extra = true;
        }
        id
    }
    /// Adds the text of one row of a family, under the name of the file that the family stands in.
    pub fn add_row(&mut self, name: &str, extra: bool, family: Span, text: String) -> FileId {
        self.files.push(SourceFile {
            name: name.to_string(),
            path: None,
            text,
            extra,
            family: Some(family),
        });
        FileId(self.files.len() as u32 - 1)
    }
    /// A file.
    ///
    /// # Panics
    /// If the id is not from this set.
    #[must_use]
    pub fn file(&self, id: FileId) -> &SourceFile {
        &self.files[id.0 as usize]
    }
    /// A file, if there is one.
    #[must_use]
    pub fn get(&self, id: FileId) -> Option<&SourceFile> {
        self.files.get(id.0 as usize)
    }
    /// All files with their ids, in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = (FileId, &SourceFile)> {
        self.files.iter().enumerate().map(|(i, f)| (FileId(i as u32), f))
    }
    /// The text of a span.
    #[must_use]
    pub fn text(&self, span: Span) -> &str {
        &self.file(span.file).text[span.start as usize..span.end as usize]
    }
    /// Where a span begins.
    #[must_use]
    pub fn line_col(&self, span: Span) -> LineCol {
        let before = &self.file(span.file).text[..span.start as usize];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        LineCol {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }
    /// `file:line:column` of the beginning of a span.
    #[must_use]
    pub fn place(&self, span: Span) -> String {
        let at = self.line_col(span);
        format!("{}:{}:{}", self.file(span.file).name, at.line, at.column)
    }
}
