//! The atoms that people mean by a part of a name: for listings. What an architecture can do is asked of its dispatch.
use crate::{ArchId, Atom, AtomId, Piece, Tables};

/// Whether a name begins with what was typed, up to a border inside it.
fn begins(name: &str, typed: &str) -> bool {
    name.strip_prefix(typed).is_some_and(|rest| {
        !rest.starts_with(|c: char| c.is_ascii_alphanumeric()) || typed.ends_with(['.', '_'])
    })
}

impl Atom<'_> {
    /// Whether it is called so, by its own name or by the instruction's: both may go on behind what
    /// was typed, from a border on.
    #[must_use]
    pub fn is_called(&self, typed: &str) -> bool {
        let text = match self.template.pieces().next() {
            Some(Piece::Text(text)) => text.trim_start(),
            _ => "",
        };
        typed.len() > 1 && (begins(self.name(), typed) || begins(text, typed))
    }
}

impl<'a> Tables<'a> {
    /// The atoms whose name, or whose instruction, begins with `typed` up to a border inside it, in the order of the
    /// tables: those of an architecture, or of all.
    pub fn family<'w>(
        &self,
        arch: Option<ArchId>,
        typed: &'w str,
    ) -> impl Iterator<Item = (AtomId, &'a Atom<'a>)> + use<'a, 'w> {
        let arch = arch.and_then(|id| self.arch(id));
        let all = (0u16..).map(AtomId).zip(self.atoms);
        all.filter(move |(id, atom)| {
            atom.is_called(typed) && arch.is_none_or(|arch| arch.own(*id).is_some())
        })
    }
}
