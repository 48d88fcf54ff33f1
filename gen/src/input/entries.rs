//! Reading files and entries as they were probably meant, and which files hold what.
use crate::diagnostics::Diagnostics;
use crate::files::{LEDGER, VERDICTS};
use crate::source::{FileId, SourceFile, Sources, Span};
use crate::spanned::{AsMeant, Entry, Spanned, read_as_meant, whole};
use crate::suppressed::Suppressed;
use serde::de::DeserializeOwned;

/// A file's name as if it stood in the repository (of a ledger elsewhere: as if it were none).
pub(crate) fn as_own(file: &SourceFile) -> String {
    match file.extra {
        false => file.name.clone(),
        true => format!("hw-tables/{}", file.name.split_once('/').map_or("", |(_, name)| name))
            .replace(LEDGER, "hw-tables/ids"),
    }
}

/// Whether a file declares sources: `sources.ron` of the tables or of a vendor's folder in them.
pub(crate) fn is_sources(name: &str) -> bool {
    name.starts_with("hw-tables/") && name.ends_with("/sources.ron")
}

/// Whether a file holds groups and architectures.
#[must_use]
pub fn is_hardware(file: &SourceFile) -> bool {
    let name = as_own(file);
    let other = ["hw-tables/dtypes.ron", "hw-tables/axes.ron", LEDGER, VERDICTS];
    let hardware = name.starts_with("hw-tables/") && !is_sources(&name);
    file.family.is_none() && hardware && !other.contains(&name.as_str())
}

/// Reads a file as it was meant. One that cannot be read is reported, and what it declares is lost.
pub(crate) fn file<T: DeserializeOwned>(
    sources: &Sources,
    id: FileId,
    diags: &mut Diagnostics,
) -> Option<T> {
    meant(sources, whole(sources, id), false, diags)
}

/// Reads an entry; see [`file`].
pub(crate) fn entry<T: DeserializeOwned>(
    sources: &Sources,
    entry: Entry,
    diags: &mut Diagnostics,
) -> Option<Spanned<T>> {
    meant(sources, entry.span, true, diags).map(|value| Spanned { value, span: entry.span })
}

fn meant<T: DeserializeOwned>(
    sources: &Sources,
    span: Span,
    entry: bool,
    diags: &mut Diagnostics,
) -> Option<T> {
    let AsMeant { value, errors, left_out } = read_as_meant(sources, span);
    errors.into_iter().for_each(|error| diags.push(error));
    if value.is_none() {
        diags.lose(Suppressed::text(sources.text(span), span, entry));
    } else {
        left_out
            .iter()
            .for_each(|field| diags.lose(Suppressed::part(sources.text(*field), *field)));
    }
    value
}
