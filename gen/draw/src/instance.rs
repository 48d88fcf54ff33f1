//! An instance of a family as an atom of its own: its layouts, registers, types and shape stand
//! where those of the family stood.
use lanebook_layout::LayoutRef;
use lanebook_tables::{Atom, Instance, Operand, Operands};

/// The atom of an instance; of an atom without parameters, the atom. The copies live as long as the
/// process: pictures are few.
#[must_use]
pub fn concrete<'a>(instance: &Instance<'a>) -> Atom<'a> {
    let atom = *instance.atom;
    if atom.params().next().is_none() {
        return atom;
    }
    let (whole, shape) = (atom.matrix, instance.shape());
    let extents = |number: u8, of: &Operand<'_>| {
        let (Some(whole), Some(shape)) = (whole, shape) else { return of.extents };
        let scaled =
            |extent: u16, (all, here): (u16, u16)| if extent == all { here } else { extent };
        let (m, n, k) = ((whole.m, shape.m), (whole.n, shape.n), (whole.k, shape.k));
        match number {
            _ if number == whole.a => (scaled(of.extents.0, m), scaled(of.extents.1, k)),
            _ if number == whole.b => (scaled(of.extents.0, k), scaled(of.extents.1, n)),
            _ if number == whole.c || number == whole.d => {
                (scaled(of.extents.0, m), scaled(of.extents.1, n))
            }
            _ => of.extents,
        }
    };
    let operands: Vec<&'a Operand<'a>> = (0u8..)
        .zip(atom.operands)
        .map(|(number, of)| {
            let layout: Option<&'a LayoutRef<'a>> = match instance.layout(number) {
                Some(layout) => {
                    let layout: &'a _ = Box::leak(Box::new(layout));
                    Some(Box::leak(Box::new(layout.view())))
                }
                None => of.layout,
            };
            let own = Operand {
                layout,
                extents: extents(number, of),
                registers: instance.registers(number).unwrap_or(of.registers),
                dtype: instance.dtype(number),
                ..*of
            };
            &*Box::leak(Box::new(own))
        })
        .collect();
    Atom {
        operands: Operands(lanebook_tables::List(Some(Box::leak(Box::new(&*operands.leak()))))),
        matrix: shape,
        ..atom
    }
}

/// A text with the placeholders of the parameters, `<kind>`, filled in.
#[must_use]
pub fn filled(instance: &Instance<'_>, text: &str) -> String {
    let mut out = text.to_string();
    for (number, _) in instance.atom.params() {
        let Some(operand) = instance.atom.operands.get(usize::from(number)) else { continue };
        let word = instance
            .word(number)
            .map(|word| word.text.to_string())
            .or_else(|| instance.value(number).map(|value| value.to_string()));
        if let Some(word) = word {
            out = out.replace(&format!("<{}>", operand.name.text()), &word);
        }
    }
    out
}
