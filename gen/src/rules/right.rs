//! Right sides of rules: index words, instructions, tile operations with their modifiers.
use super::term::{Terms, Width};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::schema::{Name, Term};
use crate::spanned::Spanned;
use lanebook_tables::{BuildNode, Language, NO_SLOT, Number, Role, TileBuild};

const TILE_MODIFIERS: [&str; 3] = ["like", "layout", "layout_through"];

impl Terms<'_> {
    /// Compiles a replacement and answers its width.
    pub(super) fn replacement(
        &mut self,
        term: &Spanned<Term>,
        width: Width,
        out: &mut Vec<BuildNode>,
        diags: &mut Diagnostics,
    ) -> Width {
        match &term.value {
            Term::Int(value) => {
                out.push(BuildNode::Const(Number::new(*value), width.bits()));
                width
            }
            Term::Name(name) => {
                let Some(slot) = self.slot(name, width, term.span, diags) else {
                    return width;
                };
                out.push(BuildNode::Slot(slot));
                self.slots.get(usize::from(slot)).map_or(width, |slot| slot.width)
            }
            Term::Call(word, args) => match self.context.language {
                Language::Tile => {
                    let build = TileBuild {
                        op: None,
                        arity: 0,
                        like: NO_SLOT,
                        layout: NO_SLOT,
                        through: NO_SLOT,
                    };
                    self.operation(term, word, args, build, out, diags);
                    Width::Bits(0)
                }
                Language::Target => self.instruction(term, word, args, width, out, diags),
                Language::Index => {
                    let Some(op) = self.index_word(word, &[], diags) else {
                        return width;
                    };
                    if self.arity(word, term.span, args.len(), usize::from(op.arity()), diags) {
                        self.expect(word, width, op.width(), diags);
                        out.push(BuildNode::Index(op, op.arity()));
                        for (number, arg) in (0u8..).zip(args) {
                            self.replacement(
                                arg,
                                Width::Bits(op.argument_width(number)),
                                out,
                                diags,
                            );
                        }
                    }
                    Width::Bits(op.width())
                }
            },
        }
    }

    fn instruction(
        &mut self,
        term: &Spanned<Term>,
        word: &Name,
        args: &[Spanned<Term>],
        width: Width,
        out: &mut Vec<BuildNode>,
        diags: &mut Diagnostics,
    ) -> Width {
        let hw = self.context.hw;
        let Some(id) = hw.atom_names.find(word, "atom", diags).map(lanebook_tables::AtomId) else {
            return width;
        };
        let atom = hw.atom(id);
        if diags.hold(&super::part_of(&atom.name)) {
            return width;
        }
        if !self.context.isa.is_some_and(|isa| hw.isa_has(isa, atom.isa)) {
            diags.push(
                Diagnostic::at(
                    word.span,
                    format!("atom `{}` belongs to another instruction set", word.value),
                )
                .note(atom.name.span, "declared here")
                .help("use one of this file's instruction set"),
            );
            return width;
        }
        if super::meaning(id, hw).is_empty() {
            diags.push(
                Diagnostic::at(
                    word.span,
                    format!("atom `{}` does not say what it computes", word.value),
                )
                .note(atom.name.span, "declared here")
                .help("give it `means`, or do not use it in rules"),
            );
        }
        let result = atom.operands.first().filter(|operand| operand.role == Role::Def);
        let Some(result) = result.filter(|_| {
            atom.operands.iter().skip(1).all(|operand| {
                operand.implicit || !matches!(operand.role, Role::Def | Role::UseDef | Role::Label)
            })
        }) else {
            diags.push(
                Diagnostic::at(
                    word.span,
                    format!(
                        "atom `{}` does not have exactly one result, its first operand",
                        word.value
                    ),
                )
                .note(atom.name.span, "declared here")
                .help("rules use atoms with one result"),
            );
            return width;
        };
        let bits = |operand: &crate::model::Operand| {
            u8::try_from(operand.register_bits * u16::from(operand.registers)).unwrap_or(0)
        };
        let has = bits(result);
        self.expect(word, width, has, diags);
        let inputs: Vec<_> = atom
            .operands
            .iter()
            .filter(|operand| operand.role != Role::Def && !operand.implicit)
            .collect();
        if !self.arity(word, term.span, args.len(), inputs.len(), diags) {
            return Width::Bits(has);
        }
        out.push(BuildNode::Inst(id, u8::try_from(args.len()).unwrap_or(u8::MAX)));
        for (operand, arg) in inputs.iter().zip(args) {
            let immediate = operand.role == Role::Immediate;
            let wants = if immediate { Width::Bits(32) } else { Width::Bits(bits(operand)) };
            let constant = match &arg.value {
                Term::Int(_) => true,
                Term::Name(name) => self
                    .find(name)
                    .and_then(|slot| self.slots.get(usize::from(slot)))
                    .is_none_or(|slot| slot.constant),
                Term::Call(..) => false,
            };
            if immediate && !constant {
                diags.push(
                    Diagnostic::at(
                        arg.span,
                        format!(
                            "operand `{}` of `{}` is an immediate",
                            operand.name.value, word.value
                        ),
                    )
                    .note(operand.span, "declared here")
                    .help("supply a constant or a slot with is_const"),
                );
            }
            if let (Term::Int(value), Some(range)) = (&arg.value, &operand.range)
                && immediate
                && !(range.0..=range.1).contains(value)
            {
                diags.push(
                    Diagnostic::at(
                        arg.span,
                        format!("{value} is not in the range of operand `{}`", operand.name.value),
                    )
                    .note(range.span, "declared here")
                    .help("supply a number in the range"),
                );
            }
            self.replacement(arg, wants, out, diags);
        }
        Width::Bits(has)
    }

    /// A tile operation with its modifiers.
    fn operation(
        &mut self,
        term: &Spanned<Term>,
        word: &Name,
        args: &[Spanned<Term>],
        mut build: TileBuild,
        out: &mut Vec<BuildNode>,
        diags: &mut Diagnostics,
    ) {
        let modifier = TILE_MODIFIERS.contains(&word.value.as_str());
        if modifier {
            let names = if word.value == "layout_through" { 2 } else { 1 };
            if !self.arity(word, term.span, args.len(), names + 1, diags) {
                return;
            }
            let mut slots = Vec::new();
            for arg in &args[..names] {
                match &arg.value {
                    Term::Name(name) => {
                        slots.extend(self.slot(name, Width::Bits(0), arg.span, diags))
                    }
                    _ => diags.push(
                        Diagnostic::at(arg.span, format!("`{}` names slots", word.value))
                            .help("bind the operation with `as`"),
                    ),
                }
            }
            match (word.value.as_str(), slots.as_slice()) {
                ("like", [slot]) => build.like = *slot,
                ("layout", [slot]) => build.layout = *slot,
                (_, [slot, through]) => (build.layout, build.through) = (*slot, *through),
                _ => return,
            }
            return match &args[names].value {
                Term::Call(word, inner) => {
                    self.operation(&args[names], word, inner, build, out, diags)
                }
                _ => diags.push(
                    Diagnostic::at(
                        args[names].span,
                        format!("`{}` modifies an operation", word.value),
                    )
                    .help("its last argument is (\"operation\", ...)"),
                ),
            };
        }
        build.arity = u8::try_from(args.len()).unwrap_or(u8::MAX);
        if word.value == "same" {
            if build.like == NO_SLOT {
                diags.push(
                    Diagnostic::at(word.span, "`same` needs `like`")
                        .help("write (\"like\", \"slot\", (\"same\", ...))"),
                );
            }
        } else {
            let Some(op) = self.context.ops.names.find(word, "operation", diags) else {
                return;
            };
            build.op = Some(lanebook_tables::OpId(op));
            self.operation_arity(word, lanebook_tables::OpId(op), term.span, args.len(), diags);
        }
        out.push(BuildNode::Tile(build));
        for arg in args {
            self.replacement(arg, Width::Bits(0), out, diags);
        }
    }
}
