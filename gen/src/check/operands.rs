//! Operands are what their role says: registers have a class, immediates a range, and each kind of
//! atom has the parts that its class asks for.
use crate::diagnostics::{About, Diagnostic, Diagnostics};
use crate::model::{Atom, HwModel, Operand};
use crate::schema::{Name, Rest};
use lanebook_tables::{AtomClass, Role};

/// See the module.
#[must_use]
pub fn check(model: &HwModel) -> Diagnostics {
    let mut diags = Diagnostics::new();
    for atom in model.every() {
        for operand in &atom.operands {
            one(atom, operand, &mut diags);
        }
        parts(atom, &mut diags);
    }
    diags
}

fn one(atom: &Atom, operand: &Operand, diags: &mut Diagnostics) {
    let name = &operand.name;
    let mut about = About::new(diags, name.span).note(atom.name.span, "of this atom");
    match operand.role {
        Role::Immediate => {
            if operand.range.is_none() {
                about.say(
                    format!("immediate `{}` has no range", name.value),
                    "state its lowest and highest value: `range: (0, 255)`",
                );
            }
            if operand.states_class || !operand.also.is_empty() {
                about.say(
                    format!("immediate `{}` has a register class", name.value),
                    "remove it, or make it a `use` with a `range`",
                );
            }
        }
        Role::Label => {
            if operand.states_class || operand.range.is_some() {
                about.say(
                    format!("label `{}` has a register class or range", name.value),
                    "remove it",
                );
            }
        }
        Role::Def | Role::Use | Role::UseDef | Role::Address => {
            if !operand.states_class {
                about.say(
                    format!("operand `{}` has no register class", name.value),
                    "state its `class`",
                );
            }
            if operand.registers == 0 {
                about.say(
                    format!("operand `{}` has no registers", name.value),
                    "`registers` is at least 1",
                );
            }
            if operand.range.is_some() && operand.role != Role::Use && operand.role != Role::Address
            {
                about.say(
                    format!("operand `{}` is written and has a range", name.value),
                    "only an operand that is read can be an integer instead",
                );
            }
        }
    }
    if let Some(range) = &operand.range
        && range.0 > range.1
    {
        diags.push(
            Diagnostic::at(
                range.span,
                format!("the range of `{}` is empty: {} is above {}", name.value, range.0, range.1),
            )
            .help("write the lowest value first"),
        );
    }
    if let Some(multiple) = &operand.multiple {
        let of = i64::from(multiple.value);
        let holds = |n: i64| of != 0 && n % of == 0;
        if operand.role != Role::Immediate
            || operand.range.as_ref().is_none_or(|r| !holds(r.0) || !holds(r.1))
        {
            let message = format!(
                "`{}` is no immediate whose range begins and ends with a multiple of {of}",
                name.value
            );
            diags
                .push(Diagnostic::at(multiple.span, message).help("correct `multiple` or `range`"));
        }
    }
    if let Some(layout) = &operand.layout {
        if operand.dtype.is_none() {
            let message = format!("operand `{}` has a layout and no element type", name.value);
            diags.push(Diagnostic::at(layout.text.span, message).help("state its `dtype`"));
        }
    } else if operand.dtype.is_some() && atom.class == AtomClass::Matrix && !described(atom, name) {
        let message = format!("operand `{}` has an element type and no layout", name.value);
        diags.push(
            Diagnostic::at(name.span, message)
                .help("state its `layout`, or in `matrix` that it is `shared`"),
        );
    }
    if operand.rest == Rest::Keep && operand.role != Role::UseDef {
        let message = format!("`rest: keep` says that `{}` is read as well as written", name.value);
        diags.push(Diagnostic::at(name.span, message).help("make its role `use_def`"));
    }
}

fn parts(atom: &Atom, diags: &mut Diagnostics) {
    let name = &atom.name;
    let mut about = About::new(diags, name.span);
    match atom.class {
        AtomClass::Matrix if !atom.states_matrix => about.say(
            format!("atom `{}` multiplies matrices and has no `matrix`", name.value),
            "state the shape and which operand is which",
        ),
        AtomClass::Alu if atom.means_span.is_none() && atom.does.is_none() && !atom.noted => {
            let help = "state the value of its first operand as a term, or with `does` the operation on elements; where no word says it, in a `note`";
            about.say(format!("atom `{}` computes and has no `means`", name.value), help)
        }
        _ => {}
    }
    if atom.movement.is_some()
        && !matches!(atom.class, AtomClass::Move | AtomClass::CrossLane | AtomClass::Convert)
    {
        about.say(
            format!("atom `{}` has a `movement` and is not a mover", name.value),
            "make its class `move`, `cross_lane` or `convert`",
        );
    }
    if atom.matrix.is_some() && atom.class != AtomClass::Matrix {
        about.say(
            format!("atom `{}` has a `matrix` shape and is of another class", name.value),
            "make its class `matrix`",
        );
    }
    if let Some(span) = atom.means_span
        && !atom.operands.first().is_some_and(|o| matches!(o.role, Role::Def | Role::UseDef))
    {
        diags.push(
            Diagnostic::at(
                span.head(),
                format!(
                    "`means` is the value of the first operand, and that of `{}` is not written",
                    name.value
                ),
            )
            .help("put the written operand first"),
        );
    }
}

/// Whether the operand stands in shared memory or in tensor memory: its descriptor, or its tile,
/// says how.
fn described(atom: &Atom, name: &Name) -> bool {
    let accumulator = atom
        .matrix
        .as_ref()
        .filter(|_| atom.more.as_ref().is_some_and(|more| more.tensor.is_some()))
        .map(|shape| shape.d);
    if accumulator
        .and_then(|d| atom.operands.get(usize::from(d)))
        .is_some_and(|o| o.name.value == name.value)
    {
        return true;
    }
    let a_in_tensor = atom
        .more
        .as_ref()
        .and_then(|more| more.tensor.as_ref())
        .is_some_and(|tensor| tensor.a.is_some());
    let a = atom
        .matrix
        .as_ref()
        .filter(|_| a_in_tensor)
        .and_then(|shape| atom.operands.get(usize::from(shape.a)));
    if a.is_some_and(|o| o.name.value == name.value) {
        return true;
    }
    let shared = atom.more.iter().flat_map(|more| &more.shared);
    shared
        .filter_map(|s| atom.operands.get(usize::from(s.operand)))
        .any(|o| o.name.value == name.value)
}
