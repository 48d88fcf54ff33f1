//! An architecture's instructions by what they are: `atoms(f16, (16, 8, 16))`, `atoms(ldmatrix.b8)`.

use crate::answer::QueryAnswer;
use crate::error::Why;
use crate::machine::extents;
use crate::show::AnswerWritten;
use crate::units::word;
use crate::value::QueryValue;
use crate::write::Out;
use core::fmt::Write;
use lanebook_tables::{Atom, AtomClass, AtomFilter, AtomId, Space};

impl<'q> QueryAnswer<'q> {
    /// What the arguments say together.
    fn atom_filter(&self) -> Result<AtomFilter<'q>, Why> {
        let tables = self.asked.tables;
        let arch = tables.arch(self.asked.arch.ok_or(Why::NeedsArch)?).ok_or(Why::NeedsArch)?;
        let mut filter = AtomFilter::ALL;
        for (number, argument) in self.arguments().iter().enumerate() {
            if let QueryValue::Tuple(tuple) = argument {
                set(&mut filter.shape, extents(tuple)?)?;
                continue;
            }
            let name = match argument {
                // The whole name of an instruction is one as well.
                QueryValue::Instruction(picked) => {
                    tables.atom(picked.atom).ok_or(Why::UnknownInstruction)?.name()
                }
                _ => word(self.arguments(), number, self.text)?,
            };
            let feature =
                tables.feature_named(name).filter(|feature| arch.features.contains(feature));
            if let Some(space) = Space::named(name) {
                let side = if filter.from.is_none() { &mut filter.from } else { &mut filter.to };
                set(side, space)?;
            } else if let Some(class) = AtomClass::named(name) {
                set(&mut filter.class, class)?;
            } else if let Some(dtype) = tables.element_type(name) {
                let free = filter.dtypes.iter_mut().find(|place| place.is_none());
                *free.ok_or(Why::Again)? = Some(dtype);
            } else if let Some(feature) = feature {
                set(&mut filter.feature, feature)?;
            } else if tables.family(self.asked.arch, name).next().is_some() {
                set(&mut filter.called, name)?;
            } else {
                return Err(Why::UnknownInstruction);
            }
        }
        Ok(filter)
    }

    fn listed(&self) -> Result<impl Iterator<Item = (AtomId, &'q Atom<'q>)> + use<'q>, Why> {
        Ok(self.asked.tables.list_atoms(self.asked.arch, self.atom_filter()?))
    }

    pub(crate) fn listing_text<W: Write>(&self, out: &mut Out<'_, W>) -> AnswerWritten {
        let mut any = false;
        for (_, atom) in self.listed()? {
            any = true;
            out.texts(&[atom.name(), "\n"])?;
        }
        Ok(out.text(if any { "" } else { "no instruction is like this\n" })?)
    }

    pub(crate) fn listing_json<W: Write>(&self, out: &mut Out<'_, W>) -> AnswerWritten {
        out.key_text(true, "kind", "atoms")?;
        out.key(false, "atoms")?;
        out.text("[")?;
        for (k, (_, atom)) in self.listed()?.enumerate() {
            out.text(if k > 0 { ", {" } else { "{" })?;
            out.key_text(true, "name", atom.name())?;
            out.key_number(false, "id", i64::from(atom.stable()))?;
            let feature = atom
                .feature()
                .and_then(|feature| self.asked.tables.units.features.get(feature.index()));
            out.key_text(false, "feature", feature.copied().unwrap_or_default())?;
            out.text("}")?;
        }
        Ok(out.text("]")?)
    }
}

/// Sets what no argument before has set.
fn set<T>(place: &mut Option<T>, value: T) -> Result<(), Why> {
    match place.replace(value) {
        None => Ok(()),
        Some(_) => Err(Why::Again),
    }
}
