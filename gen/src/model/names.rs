//! Names of one kind: declared once, looked up with a suggestion when misspelt.
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::schema::Name;
use crate::source::Span;
use lanebook_suggest::remedy;
use std::collections::BTreeMap;

/// The declared names of one kind, with their numbers and places.
#[derive(Clone, Debug, Default)]
pub struct Names {
    map: BTreeMap<String, (u16, Span)>,
}

impl Names {
    /// Declares a name. The second of two equal ones is an error that shows both.
    pub fn declare(
        &mut self,
        name: &Name,
        number: usize,
        kind: &str,
        diags: &mut Diagnostics,
    ) -> bool {
        if name.is_empty() {
            diags.push(
                Diagnostic::at(name.span, format!("a {kind} needs a name"))
                    .help("write one that is not empty"),
            );
            return false;
        }
        if let Some((_, first)) = self.map.get(name.as_str()) {
            diags.push(
                Diagnostic::at(name.span, format!("{kind} `{}` is declared twice", name.value))
                    .note(*first, "declared here first")
                    .help("rename or remove one of them"),
            );
            return false;
        }
        let number = u16::try_from(number).unwrap_or(u16::MAX);
        if number == u16::MAX {
            diags.push(
                Diagnostic::at(name.span, format!("too many entries of kind {kind}"))
                    .help("65,535 is the most"),
            );
        }
        self.map.insert(name.value.clone(), (number, name.span));
        true
    }
    /// The number of a name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<u16> {
        self.map.get(name).map(|(number, _)| *number)
    }
    /// Where a name is declared.
    #[must_use]
    pub fn place(&self, name: &str) -> Option<Span> {
        self.map.get(name).map(|(_, span)| *span)
    }
    /// The number of a name; an unknown one is an error with the nearest known name.
    pub fn find(&self, name: &Name, kind: &str, diags: &mut Diagnostics) -> Option<u16> {
        let found = self.get(name);
        if found.is_none() {
            let mut error =
                Diagnostic::at(name.span, format!("unknown {kind} `{}`", name.value)).lacks(name);
            // To look for the nearest name takes time.
            if !diags.may_be_lost(name) {
                let otherwise = match self.map.len() {
                    0 => "there is none yet: declare it".to_string(),
                    1..=8 => format!("known here: {}", self.iter().collect::<Vec<_>>().join(", ")),
                    many => format!("declare it, or use one of the {many} that are declared"),
                };
                error = error.help(remedy(name, self.iter(), &otherwise));
            }
            diags.push(error);
        }
        found
    }
    /// All names in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.map.keys().map(String::as_str)
    }
    /// Names with their numbers, in order of names.
    pub fn numbered(&self) -> impl Iterator<Item = (&str, u16)> {
        self.map.iter().map(|(name, (number, _))| (name.as_str(), *number))
    }
    /// Renumbers every name.
    pub(crate) fn renumber(&mut self, new: impl Fn(u16) -> u16) {
        for (number, _) in self.map.values_mut() {
            *number = new(*number);
        }
    }
}
