//! The atoms that people mean by a part of a name: for listings. What an architecture can do is asked of its dispatch.
use crate::param::Instance;
use crate::{ArchId, Atom, AtomFilter, AtomId, MAX_PARAMS, Piece, Tables};

/// What is left of a typed name while it is held against one that has parameters.
struct TypedName<'w, 'a> {
    atom: &'a Atom<'a>,
    typed: &'w str,
    rest: &'w str,
    picks: [Option<u16>; MAX_PARAMS],
}

/// How a piece of a name goes on.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Held {
    /// It is all there; what was typed goes on.
    On,
    /// What was typed ends here, at a border.
    Ends,
    /// It is another name.
    Differs,
}

impl<'w, 'a> TypedName<'w, 'a> {
    fn new(atom: &'a Atom<'a>, typed: &'w str) -> Self {
        Self { atom, typed, rest: typed, picks: [None; MAX_PARAMS] }
    }

    /// A text as it stands.
    fn text(&mut self, text: &str) -> Held {
        if let Some(after) = text.strip_prefix(self.rest) {
            // Up to a border: `v_mfma_` and `ldmatrix.x4`, and no part of a word.
            let inside = after.starts_with(|c: char| c.is_ascii_alphanumeric());
            let border = !inside || self.typed.ends_with(['.', '_']);
            if after.is_empty() && self.rest.len() == text.len() {
                self.rest = "";
                return Held::On;
            }
            return if border { Held::Ends } else { Held::Differs };
        }
        match self.rest.strip_prefix(text) {
            Some(rest) => {
                self.rest = rest;
                Held::On
            }
            None => Held::Differs,
        }
    }

    /// A parameter, by the number of its operand.
    fn param(&mut self, number: u8) -> Held {
        if self.rest.is_empty() {
            // A number or a word would go on behind it.
            return if self.typed.ends_with(['.', '_']) { Held::Ends } else { Held::Differs };
        }
        let mut places = self.picks.iter_mut().zip(self.atom.params());
        let Some((place, (_, vary))) = places.find(|(_, (own, _))| *own == number) else {
            return Held::Differs;
        };
        let Some((length, pick)) = vary.prefix_of(self.rest) else { return Held::Differs };
        let Some(rest) = self.rest.get(length..) else { return Held::Differs };
        if place.is_some_and(|before| before != pick) {
            return Held::Differs;
        }
        *place = Some(pick);
        self.rest = rest;
        Held::On
    }

    /// The instance that is meant, once all was held against it.
    fn instance(&self) -> Instance<'a> {
        self.atom.picked(self.picks)
    }
}

impl<'a> Atom<'a> {
    /// Whether it is called so, by its own name or by the instruction's: both may go on behind what
    /// was typed, from a border on.
    #[must_use]
    pub fn is_called(&'a self, typed: &str) -> bool {
        self.meant(typed).is_some()
    }

    /// The instance that is called so: its parameters are as they were typed, else usual.
    #[must_use]
    pub fn meant(&'a self, typed: &str) -> Option<Instance<'a>> {
        if typed.len() < 2 {
            return None;
        }
        self.meant_by_name(typed).or_else(|| self.meant_by_text(typed))
    }

    fn meant_by_name(&'a self, typed: &str) -> Option<Instance<'a>> {
        let mut held = TypedName::new(self, typed);
        let mut pattern = self.name();
        while let Some((before, after)) = pattern.split_once('{') {
            let (param, after) = after.split_once('}')?;
            let operands = (0u8..).zip(self.operands);
            let number = operands.into_iter().find(|(_, o)| o.name == param).map(|(k, _)| k)?;
            for held_so_far in [held.text(before), held.param(number)] {
                match held_so_far {
                    Held::On => {}
                    Held::Ends => return Some(held.instance()),
                    Held::Differs => return None,
                }
            }
            pattern = after;
        }
        match held.text(pattern) {
            Held::Ends => Some(held.instance()),
            Held::On => held.rest.is_empty().then(|| held.instance()),
            Held::Differs => None,
        }
    }

    fn meant_by_text(&'a self, typed: &str) -> Option<Instance<'a>> {
        let mut held = TypedName::new(self, typed);
        for (place, piece) in self.template.pieces().enumerate() {
            let one = match piece {
                Piece::Text(text) if place == 0 => held.text(text.trim_start()),
                Piece::Text(text) => held.text(text),
                Piece::Operand(number) => held.param(number),
                _ => Held::Differs,
            };
            match one {
                Held::On => {}
                Held::Ends => return Some(held.instance()),
                Held::Differs => return None,
            }
        }
        held.rest.is_empty().then(|| held.instance())
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
        self.list_atoms(arch, AtomFilter { called: Some(typed), ..AtomFilter::ALL })
    }
}
