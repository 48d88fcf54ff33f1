//! Families: many atoms that differ in a few words, written once.
//!
//! A group may list `families` beside `atoms`. A family has tables of words and one atom; the atom
//! is read once for every combination of one row of each table, with the words between underscores
//! (`_bytes_`) replaced by the row's cells. What is read is a copy of the file's text with the same
//! line numbers, so an error in one row points at the line of the atom and shows the text as it was
//! read. Nothing else is computed: what cannot be said by replacing words is an atom of its own.
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::entries::{self, is_hardware};
use crate::schema::{Family, FamilyTable, Group, HwFile};
use crate::source::{FileId, SourceFile, Sources, Span};
use crate::spanned::{Spanned, read_as_meant, whole};
use crate::suppressed::Suppressed;

/// More atoms than this from one family are taken for a mistake.
const MOST: usize = 512;

/// Adds a file to `sources` for each atom of each family of the hardware files that are there.
pub fn expand(sources: &mut Sources, diags: &mut Diagnostics) {
    let mut made = Vec::new();
    let has = |file: &SourceFile| is_hardware(file) && file.text.contains("families");
    for (id, file) in sources.iter().filter(|(_, file)| has(file)) {
        // What cannot be read is reported where it is loaded.
        let Some(hardware) = read_as_meant::<HwFile>(sources, whole(sources, id)).value else {
            continue;
        };
        for group in hardware
            .groups
            .iter()
            .filter_map(|entry| read_as_meant::<Group>(sources, entry.span).value)
        {
            for entry in &group.families {
                let Some(family) = entries::entry::<Family>(sources, *entry, diags) else {
                    continue;
                };
                let before = diags.len();
                made.extend(
                    rows(sources, id, entry.span, &family, diags)
                        .into_iter()
                        .map(|text| (file.name.clone(), file.extra, entry.span, text)),
                );
                if diags.len() > before {
                    diags.lose(Suppressed::text(sources.text(family.atom.span), entry.span, true));
                }
            }
        }
    }
    for (name, extra, family, text) in made {
        sources.add_row(&name, extra, family, text);
    }
}

/// The files of a family's atoms, in order.
pub fn members(sources: &Sources, family: Span) -> impl Iterator<Item = FileId> + '_ {
    sources.iter().filter(move |(_, file)| file.family == Some(family)).map(|(id, _)| id)
}

fn rows(
    sources: &Sources,
    file: FileId,
    place: Span,
    family: &Spanned<Family>,
    diags: &mut Diagnostics,
) -> Vec<String> {
    let atom = family.atom.span;
    let count = family.each.iter().map(|table| table.rows.len()).product::<usize>();
    if !family.each.iter().all(|table| sound(sources, table, atom, diags)) {
        return Vec::new();
    }
    if count == 0 || count > MOST {
        let message = format!("a family of {count} atoms");
        diags
            .push(Diagnostic::at(place.head(), message).help(format!(
                "give each table of words a row, and a family at most {MOST} atoms"
            )));
        return Vec::new();
    }
    // The same lines and columns as in the file.
    let before = &sources.file(file).text[..atom.start as usize];
    let column = before.rfind('\n').map_or(before.len(), |at| before.len() - at - 1);
    let lead = "\n".repeat(before.matches('\n').count()) + &" ".repeat(column);
    let one = |number: usize| {
        let mut text = sources.text(atom).to_string();
        let mut rest = number;
        for table in family.each.iter().rev() {
            let row = &table.rows[rest % table.rows.len()];
            rest /= table.rows.len();
            for (word, cell) in table.words.iter().zip(&row.value) {
                text = text.replace(&format!("_{}_", word.value), cell_text(sources, cell.span));
            }
        }
        lead.clone() + &text
    };
    (0..count).map(one).collect()
}

/// A cell's text: of a string, what stands between the quotes.
fn cell_text(sources: &Sources, span: Span) -> &str {
    let text = sources.text(span);
    text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text)
}

/// Every row has a cell for each word, and the atom uses each word.
fn sound(
    sources: &Sources,
    table: &Spanned<FamilyTable>,
    atom: Span,
    diags: &mut Diagnostics,
) -> bool {
    let mut good = true;
    for row in table.rows.iter().filter(|row| row.value.len() != table.words.len()) {
        good = false;
        let message = format!("a row of {} cells for {} words", row.value.len(), table.words.len());
        diags.push(
            Diagnostic::at(row.span, message)
                .note(table.span.head(), "the table")
                .help("give each word a cell"),
        );
    }
    for word in &table.words {
        if !sources.text(atom).contains(&format!("_{}_", word.value)) {
            good = false;
            let message = format!("the atom does not use `_{}_`", word.value);
            diags.push(
                Diagnostic::at(word.span, message)
                    .note(atom.head(), "the atom")
                    .help("remove the word, or use it"),
            );
        }
    }
    good
}
