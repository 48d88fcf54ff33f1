//! How sure a fact is: from the number and kind of the sources that say it, and from nothing else.
//!
//! A citation says the fact (`"key#place"`), something like it (`"~key"`), or otherwise (`"!key"`).
//! What is only like the fact is named for people and counts nothing; what says otherwise makes the
//! fact contested. Sources of one origin are one: a compiler's assembler and its scheduler do not
//! confirm each other. A source that judges texts alone is a source of texts alone.
use super::words::SourceDoc;
use lanebook_tables::{SourceId, Status};
use std::collections::BTreeSet;
use std::ops::Deref;

/// What a source has to do with a fact that cites it.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Says {
    /// It says the fact.
    This,
    /// It says something like it.
    Like,
    /// It says otherwise.
    Otherwise,
}

impl Says {
    /// A citation taken apart: what it does, the key of the source.
    #[must_use]
    pub fn of(text: &str) -> (Self, &str) {
        let (says, rest) = match text.as_bytes().first() {
            Some(b'~') => (Self::Like, &text[1..]),
            Some(b'!') => (Self::Otherwise, &text[1..]),
            _ => (Self::This, text),
        };
        (says, rest.split('#').next().unwrap_or_default())
    }
    /// What stands before the key.
    #[must_use]
    pub const fn mark(self) -> &'static str {
        match self {
            Self::This => "",
            Self::Like => "~",
            Self::Otherwise => "!",
        }
    }
}

/// The sources that a fact cites, in the order in which they are written; as a slice, each source
/// once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cited {
    all: Vec<SourceId>,
    each: Vec<(SourceId, Says)>,
}

impl Cited {
    /// One more.
    pub fn push(&mut self, source: SourceId, says: Says) {
        if !self.all.contains(&source) {
            self.all.push(source);
        }
        self.each.push((source, says));
    }
    /// Each citation, with what it has to do with the fact; places of one source are several.
    pub fn each(&self) -> impl Iterator<Item = (SourceId, Says)> + '_ {
        self.each.iter().copied()
    }
    /// The one that is cited first.
    #[must_use]
    pub fn first_alone(&self) -> Self {
        let mut out = Self::default();
        self.each().take(1).for_each(|(source, says)| out.push(source, says));
        out
    }
    /// Whether one of them says otherwise.
    #[must_use]
    pub fn is_contested(&self) -> bool {
        self.each().any(|(_, says)| says == Says::Otherwise)
    }
}

impl Deref for Cited {
    type Target = [SourceId];
    fn deref(&self) -> &[SourceId] {
        &self.all
    }
}

/// What a fact speaks of.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Speaks {
    /// Of what a text does: who judges texts is one of its sources.
    OfText,
    /// Of anything else.
    OfMachine,
}

/// What a fact rests on.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ground {
    /// Nothing that says it.
    Nothing,
    /// One source.
    One,
    /// Two or more that do not depend on each other.
    Two,
    /// Somebody measured it.
    Hardware,
}

/// What a fact rests on, `more` sources beside those that it cites.
#[must_use]
pub fn ground(docs: &[SourceDoc], cited: &Cited, speaks: Speaks, more: usize) -> Ground {
    let says = || saying(docs, cited, speaks);
    if says().any(|source| source.hardware) {
        return Ground::Hardware;
    }
    let origins: BTreeSet<&str> = says().map(SourceDoc::origin).collect();
    match origins.len() + more {
        0 => Ground::Nothing,
        1 => Ground::One,
        _ => Ground::Two,
    }
}

/// The word for it: the one place in which it is found.
#[must_use]
pub fn status(docs: &[SourceDoc], cited: &Cited, speaks: Speaks) -> Status {
    if cited.is_contested() {
        return Status::Contested;
    }
    match ground(docs, cited, speaks, 0) {
        Ground::Nothing => Status::Assumed,
        Ground::One if saying(docs, cited, speaks).any(|source| source.document) => {
            Status::Documented
        }
        Ground::One => Status::OneSource,
        Ground::Two => Status::Verified,
        Ground::Hardware => Status::Measured,
    }
}

/// The sources that say it.
fn saying<'d>(
    docs: &'d [SourceDoc],
    cited: &Cited,
    speaks: Speaks,
) -> impl Iterator<Item = &'d SourceDoc> {
    let ids = cited.each().filter(|(_, says)| *says == Says::This);
    let ids: Vec<SourceId> = ids.map(|(id, _)| id).collect();
    let docs = ids.into_iter().filter_map(|id| docs.get(id.index()));
    docs.filter(move |source| speaks == Speaks::OfText || !source.texts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{FileId, Span};
    use crate::spanned::Spanned;

    fn doc(key: &str, origin: Option<&str>) -> SourceDoc {
        let key = Spanned { value: key.to_string(), span: Span::new(FileId(0), 0, 0) };
        let (title, origin) = (String::new(), origin.map(str::to_string));
        SourceDoc { key, title, texts: false, hardware: false, document: false, origin }
    }

    #[test]
    fn the_word_follows_from_what_says_it() {
        let docs = [
            SourceDoc { document: true, ..doc("manual", None) },
            SourceDoc { texts: true, ..doc("assembler", Some("compiler")) },
            doc("scheduler", Some("compiler")),
            doc("library", None),
            SourceDoc { hardware: true, ..doc("bench", None) },
        ];
        let of = |cited: &[&str], speaks| {
            let mut all = Cited::default();
            for text in cited {
                let (says, key) = Says::of(text);
                let at = docs.iter().position(|doc| doc.key.value == key).expect("a key");
                all.push(SourceId(u16::try_from(at).expect("few")), says);
            }
            status(&docs, &all, speaks)
        };
        let machine = |cited: &[&str]| of(cited, Speaks::OfMachine);
        assert_eq!(machine(&[]), Status::Assumed);
        assert_eq!(machine(&["manual#3.1"]), Status::Documented);
        assert_eq!(machine(&["manual#3.1", "manual#3.2"]), Status::Documented);
        assert_eq!(machine(&["library"]), Status::OneSource);
        assert_eq!(machine(&["manual", "library"]), Status::Verified);
        // Judges of texts say nothing about where elements are.
        assert_eq!(machine(&["assembler"]), Status::Assumed);
        assert_eq!(machine(&["manual", "assembler"]), Status::Documented);
        assert_eq!(of(&["manual", "assembler"], Speaks::OfText), Status::Verified);
        // One origin is one source.
        assert_eq!(of(&["assembler", "scheduler"], Speaks::OfText), Status::OneSource);
        // What is like it does not say it.
        assert_eq!(machine(&["~manual", "library"]), Status::OneSource);
        assert_eq!(machine(&["~bench"]), Status::Assumed);
        assert_eq!(machine(&["bench", "manual"]), Status::Measured);
        assert_eq!(machine(&["bench", "!manual"]), Status::Contested);
    }
}
