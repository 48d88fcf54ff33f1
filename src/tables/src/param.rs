//! Atoms with parameters, and what becomes of them when the parameters are chosen.
//!
//! A parameter is an immediate operand with words (`s8`, `u8`: printed as text, mostly element
//! types) or with values (`N`: printed as a number). The name of a family shows its parameters in
//! braces, `mma.m16n8k16.s32.{ta}.{tb}`; the name of an [`Instance`] has words and numbers in their
//! place. What [`Atom`] itself says is true of the instance with the first word and the greatest
//! value of each parameter. The table compiler makes every instance by itself from the table's
//! text, checks it like any other atom, and compares it with what this module answers.
use crate::{Atom, AtomId, DtypeId, MatrixShape, Role, Tables};
use lanebook_layout::{AxisId, Int, Iter, Layout};

/// Most parameters of an atom.
pub const MAX_PARAMS: usize = 4;

/// How an operand has part in a family: as a parameter, or as something that depends on one.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Vary<'a> {
    /// Of a parameter that is a word: the words.
    pub words: &'a [Spelling<'a>],
    /// Of a parameter that is a number: the values, ascending.
    pub values: &'a [u16],
    /// Of a parameter that is a number: whether m, n, k of the matrix shape are in proportion to
    /// it.
    pub grows: (bool, bool, bool),
    /// The parameter (operand number) whose word is the element type.
    pub typed_by: Option<u8>,
    /// The parameter that the registers are in proportion to, and the layout's shard iter (fastest
    /// first) whose extent is.
    pub scaled_by: Option<(u8, u8)>,
}

/// A word that a parameter can be.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Spelling<'a> {
    /// As the text has it.
    pub text: &'a str,
    /// The element type that it stands for, if it is one.
    pub dtype: Option<DtypeId>,
    /// Bits by which such an element lies above the start of its container.
    pub shift: u8,
}

/// An atom with its parameters chosen; of an atom without parameters, the atom.
#[derive(Copy, Clone, Debug)]
pub struct Instance<'a> {
    /// The atom.
    pub atom: &'a Atom<'a>,
    /// Which word or value of each parameter, in the order of the operands.
    picks: [u16; MAX_PARAMS],
}

impl<'a> Atom<'a> {
    /// Operand numbers of the parameters with what they can be, in order.
    pub fn params(&self) -> impl Iterator<Item = (u8, &'a Vary<'a>)> + use<'a> {
        let numbered = (0u8..).zip(self.operands);
        numbered.filter_map(|(k, o)| {
            Some((k, o.vary.filter(|v| o.role == Role::Immediate && v.count() > 0)?))
        })
    }
    /// The instance that the atom itself describes.
    #[must_use]
    pub fn usual(&'a self) -> Instance<'a> {
        let mut picks = [0; MAX_PARAMS];
        for (place, (_, vary)) in picks.iter_mut().zip(self.params()) {
            *place = vary.usual();
        }
        Instance { atom: self, picks }
    }
    /// An instance by its number, below [`Atom::instances`].
    #[must_use]
    pub fn instance(&'a self, number: u32) -> Option<Instance<'a>> {
        let mut picks = [0; MAX_PARAMS];
        let mut rest = number;
        for (place, (_, vary)) in picks.iter_mut().zip(self.params()) {
            let count = u32::from(vary.count());
            *place = u16::try_from(rest.checked_rem(count)?).ok()?;
            rest = rest.checked_div(count)?;
        }
        (rest == 0).then_some(Instance { atom: self, picks })
    }
    /// The instance with these words and values, the usual one where there is none.
    pub(crate) fn picked(&'a self, picks: [Option<u16>; MAX_PARAMS]) -> Instance<'a> {
        let mut out = [0; MAX_PARAMS];
        for ((place, pick), (_, vary)) in out.iter_mut().zip(picks).zip(self.params()) {
            *place = pick.unwrap_or_else(|| vary.usual());
        }
        Instance { atom: self, picks: out }
    }
    /// The instance of a matrix instruction with so many columns, otherwise usual.
    #[must_use]
    pub fn with_columns(&'a self, n: u16) -> Option<Instance<'a>> {
        let most = self.matrix?.n;
        let mut instance = self.usual();
        if most != n {
            // The usual instance has the greatest value; columns are in proportion to it.
            let (at, vary) = self
                .params()
                .enumerate()
                .map(|(at, (_, vary))| (at, vary))
                .find(|(_, vary)| vary.grows.1)?;
            let wanted = u32::from(n).checked_mul(u32::from(*vary.values.last()?))?;
            let value = u16::try_from(wanted.checked_div(u32::from(most))?).ok()?;
            *instance.picks.get_mut(at)? =
                u16::try_from(vary.values.binary_search(&value).ok()?).ok()?;
        }
        (instance.shape()?.n == n).then_some(instance)
    }
    /// How many instances it has; 1 without parameters.
    #[must_use]
    pub fn instances(&self) -> u32 {
        self.params().map(|(_, v)| u32::from(v.count())).fold(1, u32::saturating_mul)
    }
    /// Whether an operand can hold elements of this type.
    #[must_use]
    pub fn takes(&self, operand: u8, dtype: DtypeId) -> bool {
        let Some(found) = self.operands.get(usize::from(operand)) else { return false };
        match found.vary.and_then(|v| v.typed_by) {
            Some(param) => self.word_of(param, dtype).is_some(),
            None => found.dtype == Some(dtype),
        }
    }
    /// Which word of a parameter stands for this element type.
    #[must_use]
    pub fn word_of(&self, param: u8, dtype: DtypeId) -> Option<u16> {
        let vary = self.operands.get(usize::from(param))?.vary?;
        vary.words.iter().position(|w| w.dtype == Some(dtype)).and_then(|at| u16::try_from(at).ok())
    }
}

impl Vary<'_> {
    /// How many things the parameter can be; 0 if it is none.
    #[must_use]
    pub fn count(&self) -> u16 {
        u16::try_from(self.words.len().max(self.values.len())).unwrap_or(u16::MAX)
    }
    /// What the atom itself says is true of this pick: the first word, the last value.
    #[must_use]
    pub fn usual(&self) -> u16 {
        if self.words.is_empty() { self.count().saturating_sub(1) } else { 0 }
    }
    /// Length in bytes of the longest word or value that `text` begins with, and which it is.
    pub(crate) fn prefix_of(&self, text: &str) -> Option<(usize, u16)> {
        let mut best: Option<(usize, u16)> = None;
        for (k, word) in (0u16..).zip(self.words) {
            if text.starts_with(word.text) && best.is_none_or(|(len, _)| word.text.len() > len) {
                best = Some((word.text.len(), k));
            }
        }
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        if best.is_none() && digits > 0 {
            let number: u16 = text.get(..digits)?.parse().ok()?;
            let at = self.values.iter().position(|v| *v == number)?;
            best = Some((digits, u16::try_from(at).ok()?));
        }
        best
    }
}

impl<'a> Tables<'a> {
    /// The instance with this name: an atom's own name, or that of a family with words and numbers
    /// in place of its parameters.
    #[must_use]
    pub fn instance_named(&self, name: &str) -> Option<(AtomId, Instance<'a>)> {
        if let Some(id) = self.atom_named(name) {
            return Some((id, self.atom(id)?.usual()));
        }
        self.named_families.iter().find_map(|id| Some((*id, named(self.atom(*id)?, name)?)))
    }
}

/// The instance of a family that has this name.
fn named<'a>(atom: &'a Atom<'a>, name: &str) -> Option<Instance<'a>> {
    let (mut pattern, mut rest) = (atom.name(), name);
    let mut picks: [Option<u16>; MAX_PARAMS] = [None; MAX_PARAMS];
    while let Some((before, after)) = pattern.split_once('{') {
        let (param, after) = after.split_once('}')?;
        rest = rest.strip_prefix(before)?;
        let (place, (_, vary)) = picks.iter_mut().zip(atom.params()).find(|(_, (k, _))| {
            atom.operands.get(usize::from(*k)).is_some_and(|o| o.name == param)
        })?;
        let (len, pick) = vary.prefix_of(rest)?;
        if place.is_some_and(|before| before != pick) {
            return None;
        }
        *place = Some(pick);
        rest = rest.get(len..)?;
        pattern = after;
    }
    if rest != pattern {
        return None;
    }
    Some(atom.picked(picks))
}

impl<'a> Instance<'a> {
    /// Which word or value a parameter (an operand number) has.
    #[must_use]
    pub fn pick(&self, param: u8) -> Option<u16> {
        self.atom.params().zip(self.picks).find(|((k, _), _)| *k == param).map(|(_, pick)| pick)
    }
    /// The word of a parameter, if it is one.
    #[must_use]
    pub fn word(&self, param: u8) -> Option<Spelling<'a>> {
        let words = self.atom.operands.get(usize::from(param))?.vary?.words;
        words.get(usize::from(self.pick(param)?)).copied()
    }
    /// The value of a parameter, if it is a number.
    #[must_use]
    pub fn value(&self, param: u8) -> Option<u16> {
        let values = self.atom.operands.get(usize::from(param))?.vary?.values;
        values.get(usize::from(self.pick(param)?)).copied()
    }
    /// What a step holds as this operand: the number of the word, or the value.
    #[must_use]
    pub fn immediate(&self, param: u8) -> Option<u16> {
        self.value(param).or_else(|| self.pick(param))
    }
    /// Element type of an operand.
    #[must_use]
    pub fn dtype(&self, operand: u8) -> Option<DtypeId> {
        let found = self.atom.operands.get(usize::from(operand))?;
        match found.vary.and_then(|v| v.typed_by) {
            Some(param) => self.word(param)?.dtype,
            None => found.dtype,
        }
    }
    /// `number` of the greatest value in proportion to the one that is chosen.
    fn scaled(&self, number: u32, param: u8) -> Option<u32> {
        let most = *self.atom.operands.get(usize::from(param))?.vary?.values.last()?;
        number.checked_mul(u32::from(self.value(param)?))?.checked_div(u32::from(most))
    }
    /// Registers of an operand's tuple.
    #[must_use]
    pub fn registers(&self, operand: u8) -> Option<u8> {
        let found = self.atom.operands.get(usize::from(operand))?;
        match found.vary.and_then(|v| v.scaled_by) {
            Some((param, _)) => u8::try_from(self.scaled(u32::from(found.registers), param)?).ok(),
            None => Some(found.registers),
        }
    }
    /// The shard iter of an operand's layout whose extent is in proportion to a parameter, and its
    /// extent here; `None` if there is none.
    #[must_use]
    pub fn scaled_iter(&self, operand: u8) -> Option<(u8, u32)> {
        let found = self.atom.operands.get(usize::from(operand))?;
        let (param, at) = found.vary?.scaled_by?;
        let extent = found.layout?.shard.get(usize::from(at))?.extent_value().ok()?;
        Some((at, self.scaled(extent, param)?))
    }
    /// Shape of a matrix instruction.
    #[must_use]
    pub fn shape(&self) -> Option<MatrixShape> {
        let mut shape = self.atom.matrix?;
        for (param, vary) in self.atom.params() {
            let (m, n, k) = vary.grows;
            for (grows, extent) in [(m, &mut shape.m), (n, &mut shape.n), (k, &mut shape.k)] {
                if grows {
                    *extent = u16::try_from(self.scaled(u32::from(*extent), param)?).ok()?;
                }
            }
        }
        Some(shape)
    }
    /// Layout of a matrix operand; `None` if the operand has none, or a number does not fit.
    #[must_use]
    pub fn layout(&self, operand: u8) -> Option<Layout> {
        let found = self.atom.operands.get(usize::from(operand))?;
        let (own, vary) = (found.layout?, found.vary);
        let Some((param, at)) = vary.and_then(|v| v.scaled_by) else {
            let mut out = Layout::from_ref(*own).ok()?;
            self.shift(vary, &mut out)?;
            return Some(out);
        };
        let mut out = Layout::new();
        for (k, it) in (0u8..).zip(own.shard) {
            let extent = it.extent_value().ok()?;
            let extent = if k == at { self.scaled(extent, param)? } else { extent };
            out.push_shard(Iter::new(extent, it.stride_value().ok()?, it.axis())).ok()?;
        }
        for it in own.replica {
            out.push_replica(*it).ok()?;
        }
        for offset in own.offset {
            out.add_offset(offset.value(), offset.axis()).ok()?;
        }
        self.shift(vary, &mut out)?;
        Some(out)
    }

    /// Moves a layout by the bits that the word of its type says.
    fn shift(&self, vary: Option<&Vary<'_>>, out: &mut Layout) -> Option<()> {
        let shift =
            vary.and_then(|v| v.typed_by).and_then(|param| self.word(param)).map_or(0, |w| w.shift);
        if shift > 0 {
            out.add_offset(Int::from(i64::from(shift)), AxisId::BIT).ok()?;
        }
        Some(())
    }
}
