//! An architecture's figures, and its matrix instructions by element types.

use crate::answer::QueryAnswer;
use crate::error::Why;
use crate::functions::QueryFunction;
use crate::instruction;
use crate::show::AnswerWritten;
use crate::units::word;
use crate::value::{Picked, QueryValue};
use crate::write::Out;
use core::fmt::Write;
use lanebook_layout::Int;
use lanebook_layout::cute::IntTuple;
use lanebook_tables::{Atom, Capability, DtypeId, MatrixShape};

impl<'q> QueryAnswer<'q> {
    pub(crate) fn figures_text<W: Write>(&self, out: &mut Out<'_, W>) -> AnswerWritten {
        let arch = instruction::arch(self.asked)?;
        out.texts(&[arch.name, ": wave of"])?;
        for lanes in arch.wave_lanes {
            out.text(" ")?;
            out.unsigned(u64::from(*lanes))?;
        }
        out.text(" lanes, at most ")?;
        out.unsigned(u64::from(arch.max_threads))?;
        out.text(" threads a group, shared memory ")?;
        out.unsigned(u64::from(arch.shared.max_bytes))?;
        out.text(" bytes\n")?;
        for model in arch.banks {
            out.texts(&["banks `", model.name, "`: "])?;
            out.unsigned(u64::from(model.banks))?;
            out.text(" of ")?;
            out.unsigned(u64::from(model.bank_bytes))?;
            out.text(" bytes, ")?;
            out.unsigned(model.groups.len() as u64)?;
            out.texts(&[" groups (", model.status.words(), ")\n"])?;
        }
        out.text("features:")?;
        for feature in arch.features {
            let name = self.asked.tables.units.features.get(feature.index());
            out.texts(&[" ", name.copied().unwrap_or("?")])?;
        }
        Ok(out.text("\n")?)
    }

    pub(crate) fn figures_json<W: Write>(&self, out: &mut Out<'_, W>) -> AnswerWritten {
        let arch = instruction::arch(self.asked)?;
        out.key_text(true, "kind", "figures")?;
        out.key_text(false, "arch", arch.name)?;
        out.key_text(false, "vendor", arch.vendor)?;
        crate::show::list_json("wave_lanes", arch.wave_lanes.iter().map(|n| i64::from(*n)), out)?;
        for (key, value) in [
            ("max_threads", i64::from(arch.max_threads)),
            ("shared_static_bytes", i64::from(arch.shared.static_bytes)),
            ("shared_max_bytes", i64::from(arch.shared.max_bytes)),
        ] {
            out.key_number(false, key, value)?;
        }
        out.key(false, "banks")?;
        out.text("[")?;
        for (k, model) in arch.banks.iter().enumerate() {
            out.text(if k > 0 { ", {" } else { "{" })?;
            out.key_text(true, "name", model.name)?;
            out.key_number(false, "banks", i64::from(model.banks))?;
            out.key_number(false, "bank_bytes", i64::from(model.bank_bytes))?;
            out.key_text(false, "status", model.status.words())?;
            out.text("}")?;
        }
        out.text("]")?;
        out.key(false, "features")?;
        out.text("[")?;
        for (k, feature) in arch.features.iter().enumerate() {
            out.text(if k > 0 { ", " } else { "" })?;
            let name = self.asked.tables.units.features.get(feature.index());
            out.quoted(name.copied().unwrap_or("?"))?;
        }
        Ok(out.text("]")?)
    }

    /// The element types that `products` names, and the atoms that answer.
    fn products(
        &self,
        mut visit: impl FnMut(Picked, &'q Atom<'q>) -> AnswerWritten,
    ) -> AnswerWritten {
        let arch = instruction::arch(self.asked)?;
        let mut types: [Option<DtypeId>; 4] = [None; 4];
        let (mut count, mut shape) = (self.arguments().len(), None);
        if let Some(QueryValue::Tuple(tuple)) = self.arguments().last() {
            shape = Some(extents(tuple)?);
            count = count.saturating_sub(1);
        }
        if count > types.len() {
            let function = QueryFunction::Products;
            return Err(
                Why::Arguments { function, found: u8::try_from(count).unwrap_or(u8::MAX) }.into()
            );
        }
        for (number, slot) in types.iter_mut().enumerate().take(count) {
            let name = word(self.arguments(), number, self.text)?;
            *slot = Some(self.asked.tables.element_type(name).ok_or(Why::UnknownType)?);
        }
        let [Some(a), Some(b), third, fourth] = types else { return Err(Why::UnknownType.into()) };
        let all = || (0u16..).map(DtypeId).take(self.asked.tables.dtypes.len());
        let open =
            |wanted: Option<DtypeId>| all().filter(move |id| wanted.is_none_or(|own| own == *id));
        for c in open(third) {
            for d in open(fourth) {
                for id in arch.dispatch(Capability::Product { a, b, c, d }) {
                    let Some(atom) = self.asked.tables.atom(*id) else { continue };
                    let Some(matrix) = atom.matrix else { continue };
                    // Of a family the member that has these types, otherwise usual.
                    let fits = |number: &u32| {
                        let Some(one) = atom.instance(*number) else { return false };
                        let own = one.shape().map(|own| [own.m, own.n, own.k]);
                        (one.dtype(matrix.a), one.dtype(matrix.b)) == (Some(a), Some(b))
                            && (shape.is_none() || shape == own)
                    };
                    let usual = instruction::usual(atom);
                    let found = core::iter::once(usual).chain(0..atom.instances()).find(fits);
                    if let Some(instance) = found.or(shape.is_none().then_some(usual)) {
                        visit(Picked { atom: *id, instance }, atom)?;
                    }
                }
            }
        }
        Ok(())
    }

    pub(crate) fn products_text<W: Write>(&self, out: &mut Out<'_, W>) -> AnswerWritten {
        let mut any = false;
        self.products(|picked, atom| {
            any = true;
            instruction::name(self.asked, picked, out)?;
            if let Some(matrix) = shape_of(picked, atom) {
                for (before, extent) in [("  ", matrix.m), ("x", matrix.n), ("x", matrix.k)] {
                    out.text(before)?;
                    out.unsigned(u64::from(extent))?;
                }
            }
            Ok(out.text("\n")?)
        })?;
        Ok(out.text(if any { "" } else { "no matrix instruction is like this\n" })?)
    }

    pub(crate) fn products_json<W: Write>(&self, out: &mut Out<'_, W>) -> AnswerWritten {
        out.key_text(true, "kind", "products")?;
        out.key(false, "products")?;
        out.text("[")?;
        let mut first = true;
        self.products(|picked, atom| {
            out.text(if core::mem::take(&mut first) { "{" } else { ", {" })?;
            out.key(true, "name")?;
            out.text("\"")?;
            instruction::name(self.asked, picked, out)?;
            out.text("\"")?;
            if let Some(matrix) = shape_of(picked, atom) {
                let shape = [matrix.m, matrix.n, matrix.k].map(i64::from);
                crate::show::list_json("shape", shape.into_iter(), out)?;
            }
            Ok(out.text("}")?)
        })?;
        Ok(out.text("]")?)
    }
}

/// Rows, columns and depth as they are written.
pub(crate) fn extents(tuple: &IntTuple) -> Result<[u16; 3], Why> {
    let [m, n, k] = tuple.view().leaves() else { return Err(Why::Coordinate { rank: 3 }) };
    let known = |extent: &Int| -> Result<u16, Why> {
        u16::try_from(extent.value()?).map_err(|_| Why::Layout(lanebook_layout::Error::Overflow))
    };
    Ok([known(m)?, known(n)?, known(k)?])
}

/// The shape of an instance.
fn shape_of(picked: Picked, atom: &Atom<'_>) -> Option<MatrixShape> {
    atom.instance(picked.instance).and_then(|one| one.shape()).or(atom.matrix)
}
