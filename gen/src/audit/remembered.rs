//! The audit of tables that have not changed since this program looked at them last.
//!
//! Nothing but the tables and the program decides what the audit finds: so what it found is kept in
//! [`Memory`] by a digest of both, and read again where neither changed. What cannot be read in full
//! counts as not there.
use crate::assemble::Memory;
use crate::audit;
use crate::compile::Compiled;
use crate::diagnostics::{Diagnostic, Diagnostics, Label, Level};
use crate::source::{FileId, Sources, Span};

/// Between the fields of a finding.
const FIELD: char = '\u{1f}';
/// Between its labels.
const LABEL: char = '\u{1e}';
/// In the place of a line's end.
const LINE: char = '\u{1d}';
/// What stands for nothing, where something empty is something.
const NOTHING: &str = "\u{1c}";

/// [`audit::run`], or what it found before.
#[must_use]
pub fn run(compiled: &Compiled, memory: Option<&Memory>) -> Diagnostics {
    let key = memory.and_then(|memory| Some((memory, memory.own_key(compiled)?)));
    let known = key.as_ref().and_then(|(memory, key)| memory.recall_found(key));
    if let Some(found) = known.and_then(|text| read(&text, &compiled.sources)) {
        return found;
    }
    let found = audit::run(compiled);
    if let (Some((memory, key)), Some(text)) = (key, written(&found)) {
        memory.keep_found(&key, text);
    }
    found
}

fn written(found: &Diagnostics) -> Option<String> {
    let mut out = String::new();
    for one in found.iter() {
        let optional = |text: Option<&str>| text.unwrap_or(NOTHING).to_string();
        let label = |label: &Label| {
            let Span { file, start, end } = label.span;
            format!("{} {start} {end} {}", file.0, label.text)
        };
        let labels: Vec<String> = one.labels.iter().map(label).collect();
        let fields = [
            one.check.to_string(),
            one.level.word().to_string(),
            one.message.clone(),
            optional(one.help.as_deref()),
            optional(one.lacks.as_deref()),
            labels.join(&LABEL.to_string()),
        ];
        // A text with one of these is not kept.
        let marks = [FIELD, LINE];
        if fields.iter().any(|field| field.contains(marks))
            || one.labels.iter().any(|label| label.text.contains(LABEL))
        {
            return None;
        }
        out += &fields.join(&FIELD.to_string()).replace('\n', &LINE.to_string());
        out.push('\n');
    }
    Some(out)
}

fn read(text: &str, sources: &Sources) -> Option<Diagnostics> {
    let mut out = Diagnostics::new();
    for line in text.lines() {
        let line = line.replace(LINE, "\n");
        let fields: Vec<&str> = line.split(FIELD).collect();
        let [check, level, message, help, lacks, labels] = fields.as_slice() else { return None };
        let level = [Level::Error, Level::Warning, Level::Note]
            .into_iter()
            .find(|one| one.word() == *level)?;
        let optional = |text: &str| (text != NOTHING).then(|| text.to_string());
        let labels = labels.split(LABEL).filter(|label| !label.is_empty());
        out.push(Diagnostic {
            labels: labels.map(|one| label(one, sources)).collect::<Option<_>>()?,
            help: optional(help),
            check: audit::named(check)?.name,
            lacks: optional(lacks).map(String::into_boxed_str),
            ..Diagnostic::nowhere(*message).as_level(level)
        });
    }
    Some(out)
}

fn label(text: &str, sources: &Sources) -> Option<Label> {
    let mut parts = text.splitn(4, ' ');
    let mut number = || parts.next()?.parse::<u32>().ok();
    let (file, start, end) = (number()?, number()?, number()?);
    let file = FileId(file);
    let known = sources.iter().find(|(id, _)| *id == file)?.1.text.len();
    let fits = start <= end && end as usize <= known;
    let text = parts.next()?.to_string();
    fits.then(|| Label { span: Span::new(file, start as usize, end as usize), text })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_found_is_read_as_it_was() {
        let mut sources = Sources::default();
        let file = sources.add("a.ron", None, "(one: 1)".into());
        let found = Diagnostics::from(
            Diagnostic::at(Span::new(file, 1, 4), "two\nlines")
                .note(Span::new(file, 6, 7), "")
                .help("mend it")
                .as_level(Level::Warning),
        )
        .named("roles");
        let text = written(&found).expect("text");
        let again = read(&text, &sources).expect("found");
        assert_eq!(again.plain(&sources), found.plain(&sources));
        assert_eq!(again.iter().map(|one| one.check).collect::<Vec<_>>(), ["roles"]);
        // Of another check, beyond the file, cut short: nothing.
        for broken in
            [text.replace("roles", "rules of"), text.replace(" 6 7 ", " 6 77 "), text[..9].into()]
        {
            assert!(read(&broken, &sources).is_none(), "{broken}");
        }
    }
}
