//! Terms of a rule: left side, computed constants, conditions. Vocabulary and widths are checked
//! here. The right side is in `super::right`.
use super::ops;
use super::rule::Context;
use super::schema::RuleEntry;
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::schema::{Name, Term};
use crate::source::Span;
use crate::spanned::Spanned;
use lanebook_suggest::remedy;
use lanebook_tables::{BuildNode, CondArg, IndexOp, Language, NO_SLOT, Number, PatternNode, Word};
use std::collections::BTreeSet;

/// How wide a value is, as far as it is known.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Width {
    /// Nothing says yet.
    Free,
    /// So many bits; 0 for tiles.
    Bits(u8),
}

impl Width {
    pub(super) fn bits(self) -> u8 {
        match self {
            Width::Free => 32,
            Width::Bits(bits) => bits,
        }
    }
}

pub(super) struct SlotDraft {
    pub(super) name: String,
    pub(super) width: Width,
    pub(super) constant: bool,
    pub(super) computed: bool,
}

pub(super) struct Terms<'a> {
    pub(super) context: &'a Context<'a>,
    pub(super) slots: Vec<SlotDraft>,
    /// Names that a condition `is_const` speaks of.
    pub(super) constants: BTreeSet<String>,
}

impl<'a> Terms<'a> {
    pub(super) fn new(context: &'a Context<'a>) -> Self {
        Self { context, slots: Vec::new(), constants: BTreeSet::new() }
    }

    fn tile(&self) -> bool {
        self.context.language == Language::Tile
    }
    pub(super) fn find(&self, name: &str) -> Option<u8> {
        self.slots.iter().position(|slot| slot.name == name).and_then(|at| u8::try_from(at).ok())
    }
    fn bind(&mut self, name: &str, width: Width) -> u8 {
        if let Some(slot) = self.find(name) {
            return slot;
        }
        self.slots.push(SlotDraft {
            name: name.to_string(),
            width,
            constant: self.constants.contains(name),
            computed: false,
        });
        u8::try_from(self.slots.len() - 1).unwrap_or(NO_SLOT)
    }
    /// Gives a slot the width that its place asks for.
    fn fit(&mut self, slot: u8, width: Width, span: Span, diags: &mut Diagnostics) {
        let Some(draft) = self.slots.get_mut(usize::from(slot)) else {
            return;
        };
        match (draft.width, width) {
            (Width::Free, _) => draft.width = width,
            (Width::Bits(has), Width::Bits(wants)) if has != wants => {
                let message = format!("`{}` has {has} bits, this place takes {wants}", draft.name);
                diags.push(
                    Diagnostic::at(span, message)
                        .help("use a word of the other width, e.g. add64 for add"),
                );
            }
            _ => {}
        }
    }
    /// A computed constant.
    pub(super) fn declare(
        &mut self,
        name: &Name,
        width: Width,
        diags: &mut Diagnostics,
    ) -> Option<u8> {
        if self.find(name).is_some() {
            diags.push(
                Diagnostic::at(name.span, format!("`{}` is already bound", name.value))
                    .help("use another name"),
            );
            return None;
        }
        self.slots.push(SlotDraft {
            name: name.value.clone(),
            width: Width::Bits(width.bits()),
            constant: true,
            computed: true,
        });
        u8::try_from(self.slots.len() - 1).ok()
    }
    /// Every name that `is_const` speaks of is a slot.
    pub(super) fn check_constants(&self, entry: &RuleEntry, diags: &mut Diagnostics) {
        for name in &self.constants {
            if self.find(name).is_none() {
                let known = self.slots.iter().map(|slot| slot.name.as_str());
                diags.push(
                    Diagnostic::at(entry.pattern.span, format!("`{name}` is not in the pattern"))
                        .help(remedy(name, known, "is_const speaks of slots of the pattern")),
                );
            }
        }
    }
    pub(super) fn slot(
        &mut self,
        name: &str,
        width: Width,
        span: Span,
        diags: &mut Diagnostics,
    ) -> Option<u8> {
        let found = self.find(name);
        match found {
            Some(slot) => self.fit(slot, width, span, diags),
            None => {
                let known = self.slots.iter().map(|slot| slot.name.as_str());
                diags.push(
                    Diagnostic::at(span, format!("`{name}` is bound by nothing")).help(remedy(
                        name,
                        known,
                        "the pattern or `lets` must bind it",
                    )),
                );
            }
        }
        found
    }
    pub(super) fn index_word(
        &self,
        word: &Name,
        also: &[&str],
        diags: &mut Diagnostics,
    ) -> Option<IndexOp> {
        let found = IndexOp::ALL.into_iter().find(|op| op.name() == word.value);
        if found.is_none() {
            let known: Vec<&str> =
                IndexOp::ALL.iter().map(|op| op.name()).chain(also.iter().copied()).collect();
            let help =
                remedy(word, known.iter().copied(), &format!("known words: {}", known.join(", ")));
            diags.push(
                Diagnostic::at(word.span, format!("unknown word `{}`", word.value))
                    .help(help)
                    .lacks(word),
            );
        }
        found
    }
    pub(super) fn arity(
        &self,
        word: &Name,
        span: Span,
        given: usize,
        wanted: usize,
        diags: &mut Diagnostics,
    ) -> bool {
        if given != wanted {
            diags.push(
                Diagnostic::at(
                    span,
                    format!("`{}` takes {wanted} arguments, here are {given}", word.value),
                )
                .help("rules/README.md lists the words"),
            );
        }
        given == wanted
    }

    /// Compiles a pattern and answers its width.
    pub(super) fn pattern(
        &mut self,
        term: &Spanned<Term>,
        width: Width,
        out: &mut Vec<PatternNode>,
        diags: &mut Diagnostics,
    ) -> Width {
        match &term.value {
            Term::Int(value) => {
                out.push(PatternNode::Const(Number::new(*value)));
                width
            }
            Term::Name(name) => {
                let slot = self.bind(name, width);
                self.fit(slot, width, term.span, diags);
                out.push(if self.constants.contains(name) {
                    PatternNode::AnyConst(slot)
                } else {
                    PatternNode::Any(slot)
                });
                self.slots.get(usize::from(slot)).map_or(width, |slot| slot.width)
            }
            Term::Call(word, args) if word.value == "as" => {
                let [
                    Spanned { value: Term::Name(name), .. },
                    inner @ Spanned { value: Term::Call(..), .. },
                ] = args.as_slice()
                else {
                    diags.push(
                        Diagnostic::at(term.span, "`as` binds a name to a word")
                            .help("write (\"as\", \"name\", (\"word\", ...))"),
                    );
                    return width;
                };
                let slot = self.bind(name, width);
                let at = out.len();
                let width = self.pattern(inner, width, out, diags);
                self.fit(slot, width, term.span, diags);
                if let Some(
                    PatternNode::Index(_, _, place)
                    | PatternNode::Tile(_, place, _)
                    | PatternNode::Role(_, place, _),
                ) = out.get_mut(at)
                {
                    *place = slot;
                }
                width
            }
            Term::Call(word, args) if self.tile() => {
                let arity = u8::try_from(args.len()).unwrap_or(u8::MAX);
                let mut args = args.as_slice();
                if word.value == "any" {
                    let Some((Spanned { value: Term::Name(role), span }, rest)) =
                        args.split_first()
                    else {
                        diags.push(
                            Diagnostic::at(term.span, "`any` names a role first")
                                .help("write (\"any\", \"elementwise\", ...)"),
                        );
                        return width;
                    };
                    if let Some(role) =
                        ops::role(&Spanned { value: role.clone(), span: *span }, diags)
                    {
                        out.push(PatternNode::Role(role, NO_SLOT, arity.saturating_sub(1)));
                    }
                    args = rest;
                } else if let Some(op) = self.context.ops.names.find(word, "operation", diags) {
                    let op = lanebook_tables::OpId(op);
                    self.operation_arity(word, op, term.span, args.len(), diags);
                    out.push(PatternNode::Tile(op, NO_SLOT, arity));
                }
                for arg in args {
                    self.pattern(arg, Width::Bits(0), out, diags);
                }
                Width::Bits(0)
            }
            Term::Call(word, args) => {
                let Some(op) = self.index_word(word, &["as"], diags) else {
                    return width;
                };
                if !self.arity(word, term.span, args.len(), usize::from(op.arity()), diags) {
                    return Width::Bits(op.width());
                }
                self.expect(word, width, op.width(), diags);
                out.push(PatternNode::Index(op, op.arity(), NO_SLOT));
                for (number, arg) in (0u8..).zip(args) {
                    self.pattern(arg, Width::Bits(op.argument_width(number)), out, diags);
                }
                Width::Bits(op.width())
            }
        }
    }

    pub(super) fn expect(&self, word: &Name, wants: Width, has: u8, diags: &mut Diagnostics) {
        if let Width::Bits(wants) = wants
            && wants != has
        {
            diags.push(
                Diagnostic::at(
                    word.span,
                    format!("`{}` has {has} bits, this place takes {wants}", word.value),
                )
                .help("use a word of the other width"),
            );
        }
    }
    pub(super) fn operation_arity(
        &self,
        word: &Name,
        op: lanebook_tables::OpId,
        span: Span,
        given: usize,
        diags: &mut Diagnostics,
    ) {
        let Some(op) = self.context.ops.get(op) else {
            return;
        };
        let (least, most) = op.entry.operands;
        if given < usize::from(least) || (most != u8::MAX && given > usize::from(most)) || given > 8
        {
            diags.push(
                Diagnostic::at(span, format!("`{}` does not take {given} operands", word.value))
                    .help("rules/ops.ron says how many; a rule can have 8"),
            );
        }
    }

    /// Compiles a computed constant and answers its width.
    pub(super) fn computed(
        &mut self,
        term: &Spanned<Term>,
        width: Width,
        out: &mut Vec<BuildNode>,
        diags: &mut Diagnostics,
    ) -> Width {
        match &term.value {
            Term::Int(value) => {
                out.push(BuildNode::Const(Number::new(*value), width.bits()));
                Width::Bits(width.bits())
            }
            Term::Name(name) => {
                let Some(slot) = self.slot(name, width, term.span, diags) else {
                    return width;
                };
                out.push(BuildNode::Slot(slot));
                let Some(draft) = self.slots.get(usize::from(slot)) else {
                    return width;
                };
                if !draft.constant {
                    diags.push(
                        Diagnostic::at(term.span, format!("`{name}` is not a constant"))
                            .help(format!("add the condition (\"is_const\", \"{name}\")")),
                    );
                }
                draft.width
            }
            Term::Call(word, args) if word.value == "low32" || word.value == "high32" => {
                if self.arity(word, term.span, args.len(), 1, diags) {
                    out.push(if word.value == "low32" {
                        BuildNode::Low32
                    } else {
                        BuildNode::High32
                    });
                    self.computed(&args[0], Width::Bits(64), out, diags);
                }
                Width::Bits(32)
            }
            Term::Call(word, args) if word.value == "trailing_zeros" => {
                if self.arity(word, term.span, args.len(), 1, diags) {
                    out.push(BuildNode::TrailingZeros);
                    self.computed(&args[0], Width::Bits(32), out, diags);
                }
                Width::Bits(32)
            }
            Term::Call(word, args) => {
                let Some(op) = self.index_word(word, &["trailing_zeros", "low32", "high32"], diags)
                else {
                    return width;
                };
                if self.arity(word, term.span, args.len(), usize::from(op.arity()), diags) {
                    self.expect(word, width, op.width(), diags);
                    out.push(BuildNode::Fold(op, op.arity()));
                    for (number, arg) in (0u8..).zip(args) {
                        self.computed(arg, Width::Bits(op.argument_width(number)), out, diags);
                    }
                }
                Width::Bits(op.width())
            }
        }
    }

    /// Compiles a condition. `is_const` is in the pattern already: `Some(None)`.
    #[allow(clippy::option_option)]
    pub(super) fn condition(
        &mut self,
        term: &Spanned<Term>,
        diags: &mut Diagnostics,
    ) -> Option<Option<(Word, Vec<CondArg>)>> {
        let Term::Call(name, args) = &term.value else {
            diags.push(
                Diagnostic::at(term.span, "a condition is a word with arguments")
                    .help("e.g. (\"disjoint\", \"x\", \"y\")"),
            );
            return None;
        };
        let tile = self.tile();
        let mut known = Word::ALL
            .into_iter()
            .filter(|word| !word.of_tiles() || tile)
            .filter(|word| !tile || word.of_tiles() || *word == Word::SingleUse);
        let Some(word) = known.clone().find(|word| word.name() == name.value) else {
            let names: Vec<&str> = known.by_ref().map(Word::name).collect();
            let help =
                remedy(name, names.iter().copied(), &format!("known words: {}", names.join(", ")));
            diags.push(
                Diagnostic::at(name.span, format!("unknown condition `{}`", name.value)).help(help),
            );
            return None;
        };
        if !self.arity(name, term.span, args.len(), usize::from(word.arity()), diags) {
            return None;
        }
        if word == Word::IsConst {
            return Some(None);
        }
        let mut out = Vec::new();
        for arg in args {
            out.push(match &arg.value {
                Term::Int(value) => CondArg::Const(Number::new(*value)),
                Term::Name(name) => CondArg::Slot(self.slot(name, Width::Free, arg.span, diags)?),
                Term::Call(..) => {
                    diags.push(
                        Diagnostic::at(arg.span, "arguments of conditions are names and numbers")
                            .help("compute it in `lets`, or bind the part with `as`"),
                    );
                    return None;
                }
            });
        }
        Some(Some((word, out)))
    }
}
