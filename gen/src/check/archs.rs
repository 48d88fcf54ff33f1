//! An architecture can do what its atoms ask for: their instruction set, wave size and bank models
//! are its own.
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::layouts::Layout;
use crate::model::{Arch, Atom, HwModel};
use crate::schema::Rest;
use crate::source::Span;
use lanebook_layout::AxisId;
use lanebook_suggest::remedy;
use lanebook_tables::Space;

/// See the module.
#[must_use]
pub fn check(model: &HwModel) -> Diagnostics {
    let mut diags = Diagnostics::new();
    for arch in &model.archs {
        figures(arch, &mut diags);
        if arch.whole {
            frame(model, arch, &mut diags);
        }
        let mut strange = Vec::new();
        for entry in &arch.atoms {
            let atom = model.atom(entry.atom);
            if !model.isa_has(arch.isa, atom.isa) {
                if strange.contains(&entry.because) {
                    continue; // one atom of a group says it
                }
                strange.push(entry.because);
                diags.push(
                    Diagnostic::at(
                        entry.because,
                        format!(
                            "architecture `{}` and atom `{}` are of different instruction sets",
                            arch.name.value, atom.name.value
                        ),
                    )
                    .note(atom.name.span, "the atom")
                    .help("remove the group from `has`"),
                );
                continue;
            }
            waves(arch, atom, entry.because, &mut diags);
            banks(arch, atom, entry.because, &mut diags);
        }
    }
    diags
}

/// Its waves are such as there can be; else no layout is held against them.
fn has_waves(arch: &Arch) -> bool {
    !arch.wave_lanes.is_empty()
        && arch.wave_lanes.iter().all(|lanes| lanes.is_power_of_two() && *lanes <= 64)
}

fn figures(arch: &Arch, diags: &mut Diagnostics) {
    if !has_waves(arch) {
        diags.push(
            Diagnostic::at(arch.wave_lanes.span, "a wave has 1 to 64 lanes, a power of two")
                .help("list the wave sizes, the default first"),
        );
    }
    if arch.shared.static_bytes > arch.shared.max_bytes {
        let message = format!(
            "{} bytes can be declared, but {} used",
            arch.shared.static_bytes, arch.shared.max_bytes
        );
        diags.push(
            Diagnostic::at(arch.shared.span, message).help("`static_bytes` is at most `max_bytes`"),
        );
    }
}

/// The atoms that every kernel of the instruction set begins and ends with are there.
fn frame(model: &HwModel, arch: &Arch, diags: &mut Diagnostics) {
    let mut seen = Vec::new();
    for id in model.isa(arch.isa).atoms.iter() {
        if !arch.atoms.iter().any(|a| a.atom == id) && !seen.contains(&id) {
            seen.push(id);
            let (isa, atom) = (model.isa(arch.isa), model.atom(id));
            diags.push(
                Diagnostic::at(
                    arch.name.span,
                    format!("architecture `{}` does not have atom `{}`, which every kernel of `{}` uses", arch.name.value, atom.name.value, isa.name.value),
                )
                .note(atom.name.span, "the atom")
                .help("add its group to `has`"),
            );
        }
    }
}

/// A register layout fills a whole wave of the architecture, unless what it does not name is
/// ignored.
fn waves(arch: &Arch, atom: &Atom, because: Span, diags: &mut Diagnostics) {
    if !has_waves(arch) {
        return;
    }
    let sides = atom
        .movement
        .iter()
        .flat_map(|m| [&m.from, &m.to])
        .filter(|side| side.space == Space::Register);
    let part = |rest: Rest| rest == Rest::Ignored;
    let operands =
        atom.operands.iter().filter_map(|o| o.layout.as_ref().map(|layout| (layout, part(o.rest))));
    for (layout, part) in operands
        .chain(sides.map(|side| (&side.layout, part(side.rest))))
        .filter(|(layout, _)| layout.axes().contains(&AxisId::LANE))
    {
        let lanes = lanes(layout);
        if !arch
            .wave_lanes
            .iter()
            .any(|wave| u64::from(*wave) == lanes || part && u64::from(*wave) > lanes)
        {
            let waves: Vec<String> = arch.wave_lanes.iter().map(u16::to_string).collect();
            diags.push(
                Diagnostic::at(
                    layout.text.span,
                    format!(
                        "the layout is for {lanes} lanes, a wave of `{}` has {}",
                        arch.name.value,
                        waves.join(" or ")
                    ),
                )
                .note(because, format!("`{}` has the atom through this group", arch.name.value))
                .help(
                    "give the atom a form for this wave size, or leave it out of the architecture",
                ),
            );
        }
    }
}

/// Lanes that a register layout speaks of.
pub(super) fn lanes(layout: &Layout) -> u64 {
    (layout.most(AxisId::LANE) + 1).max(0) as u64
}

fn banks(arch: &Arch, atom: &Atom, because: Span, diags: &mut Diagnostics) {
    for side in atom.movement.iter().flat_map(|m| [&m.from, &m.to]) {
        let Some(name) = &side.banks else { continue };
        if !arch.banks.iter().any(|bank| bank.name.value == name.value) {
            let known = arch.banks.iter().map(|bank| bank.name.as_str());
            let names: Vec<&str> = known.clone().collect();
            let help = remedy(
                name,
                known,
                &format!("add it to the architecture, which has: {}", names.join(", ")),
            );
            diags.push(
                Diagnostic::at(
                    name.span,
                    format!(
                        "architecture `{}` has no bank model `{}`",
                        arch.name.value, name.value
                    ),
                )
                .note(because, format!("`{}` has the atom through this group", arch.name.value))
                .help(help),
            );
        }
    }
}
