//! The frame of a kernel has registers and steps of its own for each place.
//!
//! Classes of one instruction set are written apart, and a class that it has again is of the kind
//! that it was and begins where it did; what is declared has a declaration, of the width that its word says; some class
//! holds tiles. Registers that are there at entry are written as their numbers say; what reads the
//! block's number is another instruction for each axis. Guards cost what their texts have, and
//! write what these name.
use super::spelling::text;
use crate::compile::Compiled;
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::model::{Arch, FixedRegister, Frame, HwModel, Isa, LaneGuard, RegisterClass};
use crate::template::Piece;
use lanebook_tables::{IsaId, RegisterKind, TupleStyle};

/// Letters of the axes of a launch.
const AXES: [&str; 3] = ["x", "y", "z"];

/// See the module.
#[must_use]
pub fn check(compiled: &Compiled) -> Diagnostics {
    let model = &compiled.model;
    let mut diags = Diagnostics::new();
    for isa in &model.isas {
        classes(isa, &mut diags);
        again(model, isa, &mut diags);
        shared(model, isa, &mut diags);
        entry(isa, &mut diags);
        blocks(model, isa, &mut diags);
        if let Some(guard) = &isa.guard {
            guarded(isa, guard, &mut diags);
        }
    }
    diags
}

/// Classes are written apart, and declared as wide as they are.
fn classes(isa: &Isa, diags: &mut Diagnostics) {
    for (at, class) in isa.classes.iter().enumerate() {
        let same = isa.classes.iter().take(at).find(|one| one.prefix == class.prefix);
        if let Some(other) = same {
            let message = format!(
                "registers of `{}` are written `{}`, as those of `{}`",
                class.name.value, class.prefix, other.name.value
            );
            diags.push(
                Diagnostic::at(class.name.span, message)
                    .note(other.name.span, "the other class")
                    .help("each class has a prefix of its own: correct one of them"),
            );
        }
        let digits: String = class.declared.chars().filter(char::is_ascii_digit).collect();
        if digits.parse().is_ok_and(|bits: u16| bits != class.bits) {
            let message = format!(
                "registers of `{}` have {} bits, and are declared `{}`",
                class.name.value, class.bits, class.declared
            );
            diags.push(
                Diagnostic::at(class.name.span, message).help("correct `bits` or `declared`"),
            );
        }
    }
    let declared = isa.classes.iter().find(|class| !class.declared.is_empty());
    if let Some(class) = declared.filter(|_| isa.register_decl.is_empty()) {
        let message = format!("nothing declares the registers of `{}`", class.name.value);
        diags.push(
            Diagnostic::at(class.name.span, message)
                .note(isa.name.span, "of this instruction set")
                .help("say in `register_decl` how it is done, or leave `declared` out"),
        );
    }
    let holds = |kind| isa.classes.iter().any(|class| class.kind == kind && class.tile_most > 0);
    let pools = isa.classes.iter().any(|class| class.pool.1 > 0 || !class.declared.is_empty());
    if pools && !holds(RegisterKind::Vector) {
        let message = format!("no class of vector registers of `{}` holds tiles", isa.name.value);
        diags.push(Diagnostic::at(isa.name.span, message).help(
            "say how many registers of a class one tile has at the most: `tile_most`, or `pool`",
        ));
    }
}

/// The instruction sets that one extends.
fn parents<'m>(model: &'m HwModel, isa: &Isa) -> impl Iterator<Item = &'m Isa> {
    let of = |id: IsaId| model.isas.get(id.index());
    let mut next = isa.parent;
    let mut left = model.isas.len();
    std::iter::from_fn(move || {
        left = left.checked_sub(1)?;
        let found = of(next?)?;
        next = found.parent;
        Some(found)
    })
}

/// A class of the same name is of the same kind.
fn again<'m>(model: &'m HwModel, isa: &'m Isa, diags: &mut Diagnostics) {
    for class in &isa.classes {
        let named = |parent: &'m Isa| -> Option<(&'m Isa, &'m RegisterClass)> {
            let one = parent.classes.iter().find(|one| one.name.value == class.name.value)?;
            Some((parent, one))
        };
        let Some((parent, there)) = parents(model, isa).find_map(named) else { continue };
        let (kind, span) = (there.kind, there.name.span);
        let given = |isa: &Isa| {
            let all = isa.param_base.iter().chain(&isa.thread_register).chain(&isa.block_registers);
            all.map(|one| one.text.clone()).collect::<Vec<_>>()
        };
        if given(isa) == given(parent) && class.pool.0 != there.pool.0 {
            let message = format!(
                "registers of `{}` are free from {} on, and from {} on where this set of instructions extends another",
                class.name.value, class.pool.0, there.pool.0
            );
            diags.push(
                Diagnostic::at(class.name.span, message)
                    .note(span, "the class there")
                    .help("what is there at entry is the same in both: correct `pool`"),
            );
        }
        if kind != class.kind {
            let message = format!(
                "registers of `{}` are {:?} here, and {kind:?} where this set of instructions extends another",
                class.name.value, class.kind
            );
            diags.push(
                Diagnostic::at(class.name.span, message.to_lowercase())
                    .note(span, "the class there")
                    .help("a class that is there again is for the same: correct `kind`, or name it otherwise"),
            );
        }
    }
}

/// What is given at launch is declared otherwise than what is declared in the text: both are said
/// where machines of the set give more than a text may declare.
fn shared(model: &HwModel, isa: &Isa, diags: &mut Diagnostics) {
    let own = model.archs.iter().filter(|arch| arch.whole && model.isa(arch.isa).name == isa.name);
    let (more, less): (Vec<&Arch>, Vec<&Arch>) =
        own.partition(|arch| arch.shared.max_bytes > arch.shared.static_bytes);
    if isa.shared_decl.is_empty() {
        return;
    }
    if let Some(arch) = more.first().filter(|_| isa.shared_decl_dynamic.is_empty()) {
        let message = format!(
            "`{}` has more shared memory at launch than a text declares, and nothing declares that",
            arch.name.value
        );
        diags.push(
            Diagnostic::at(isa.name.span, message)
                .note(arch.name.span, "the architecture")
                .help("say in `shared_decl_dynamic` how what is given at launch is declared"),
        );
    }
    if let Some(arch) =
        less.first().filter(|_| more.is_empty() && !isa.shared_decl_dynamic.is_empty())
    {
        let message = format!(
            "`{}` declares memory that is given at launch, and no architecture has any",
            isa.name.value
        );
        diags.push(
            Diagnostic::at(isa.name.span, message)
                .note(arch.name.span, "`max_bytes` is `static_bytes`")
                .help("leave `shared_decl_dynamic` out, or correct `shared` of the architectures"),
        );
    }
}

/// Registers that are there at entry.
fn entry(isa: &Isa, diags: &mut Diagnostics) {
    let all: Vec<&FixedRegister> =
        isa.param_base.iter().chain(&isa.thread_register).chain(&isa.block_registers).collect();
    for one in all {
        let Some(class) = isa.classes.get(usize::from(one.class.0)) else { continue };
        let last = one.number + u16::from(one.count.max(1)) - 1;
        let written = match (isa.tuples, one.count) {
            (_, 0 | 1) => Some(format!("{}{}", class.prefix, one.number)),
            (TupleStyle::Range, _) => Some(format!("{}[{}:{last}]", class.prefix, one.number)),
            (TupleStyle::Braces, _) => None,
        };
        // What has no number is written as it is.
        let numbered = one.text.ends_with(|c: char| c.is_ascii_digit() || c == ']');
        if let Some(written) = written.filter(|written| numbered && *written != one.text) {
            let message = format!("register `{written}` is written `{}`", one.text);
            diags.push(
                Diagnostic::at(one.span, message).help("correct `number`, `count` or `text`"),
            );
        }
    }
}

/// What reads the number of the block, and how many there are, along each axis.
fn blocks(model: &HwModel, isa: &Isa, diags: &mut Diagnostics) {
    let all: Vec<_> = isa.block_atoms.iter().flatten().collect();
    for (at, id) in all.iter().enumerate() {
        let atom = model.atom(**id);
        let (axis, name) = (AXES[at % AXES.len()], atom.name.value.as_str());
        let said = name.rsplit('.').next().filter(|last| AXES.contains(last));
        let twice = all.iter().take(at).any(|other| other == id);
        let same = all.iter().take(at).any(|other| text(model.atom(**other)) == text(atom));
        if said.is_some_and(|said| said != axis) || twice || same {
            let message = format!("`{name}` reads what is along {axis}");
            diags.push(
                Diagnostic::at(isa.name.span, message).note(atom.name.span, "the atom").help(
                    "`read_block` and `read_blocks` name one instruction for x, for y and for z",
                ),
            );
        }
    }
}

/// The text of a frame, without what is put in.
fn plain(frame: &Frame) -> String {
    let piece = |piece: &Piece| match piece {
        Piece::Text(text) => text.clone(),
        Piece::Name(..) | Piece::Optional(..) => String::new(),
    };
    frame.iter().map(piece).collect()
}

/// A guard costs its instructions, and writes the class that its text names.
fn guarded(isa: &Isa, guard: &LaneGuard, diags: &mut Diagnostics) {
    let (before, after) = (plain(&guard.before), plain(&guard.after));
    let lines = before.matches('\n').count() + after.matches('\n').count();
    let issue = lines + usize::from(guard.test.is_some());
    let mut say = |message: String, help: &str| {
        diags.push(Diagnostic::at(isa.name.span, message).help(help));
    };
    if issue != usize::from(guard.issue) {
        say(
            format!("a guard has {issue} instructions, and `issue` says {}", guard.issue),
            "one for each line in front of what is guarded and behind it, and one for `test`: correct `issue` or the text",
        );
    }
    let words: Vec<&str> = [&before, &after]
        .into_iter()
        .flat_map(|text| text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_'))
        .collect();
    let single = isa.classes.iter().filter(|class| class.kind == RegisterKind::Special);
    let named = single
        .filter(|class| words.contains(&class.prefix.as_str()))
        .map(|class| class.name.value.as_str())
        .next();
    let written = guard
        .writes
        .and_then(|id| isa.classes.get(usize::from(id.0)))
        .map(|class| class.name.value.as_str());
    if named != written {
        let shown =
            |name: Option<&str>| name.map_or("none".to_string(), |name| format!("`{name}`"));
        say(
            format!("a guard's text names {}, and `writes` {}", shown(named), shown(written)),
            "what the text writes besides lanes' own registers is said in `writes`",
        );
    }
}
