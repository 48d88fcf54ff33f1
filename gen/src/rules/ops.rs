//! `rules/ops.ron`: operations of the tile IR.
use super::schema::{Bare, OpEntry};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::model::Names;
use crate::schema::Name;
use crate::source::{FileId, Span};
use crate::spanned::Spanned;
use lanebook_suggest::remedy;
use lanebook_tables::{IndexWord, LayoutTrait, OpId, OpLowering, OpRole, Tables};

/// All operations.
#[derive(Debug, Default)]
pub struct Ops {
    /// In file order; an [`OpId`] is an index here.
    pub list: Vec<Op>,
    /// Names and aliases.
    pub names: Names,
}

/// One operation.
#[derive(Clone, Debug)]
pub struct Op {
    /// As written.
    pub entry: OpEntry,
    /// Its role.
    pub role: OpRole,
    /// Its layout trait.
    pub layout: LayoutTrait,
    /// What it computes of indices.
    pub index: Option<IndexWord>,
    /// What it stands for.
    pub lowering: Option<OpLowering>,
}

const ROLES: [OpRole; 42] = [
    OpRole::Function,
    OpRole::Alloc,
    OpRole::Constant,
    OpRole::Copy,
    OpRole::Load,
    OpRole::Store,
    OpRole::Atomic,
    OpRole::Matrix,
    OpRole::Convert,
    OpRole::Transpose,
    OpRole::Reshape,
    OpRole::Join,
    OpRole::Permute,
    OpRole::Split,
    OpRole::Slice,
    OpRole::Reduce,
    OpRole::Scan,
    OpRole::Broadcast,
    OpRole::View,
    OpRole::Select,
    OpRole::Elementwise,
    OpRole::For,
    OpRole::Parallel,
    OpRole::If,
    OpRole::While,
    OpRole::Condition,
    OpRole::Produce,
    OpRole::Consume,
    OpRole::AgentSwitch,
    OpRole::Yield,
    OpRole::Index,
    OpRole::Call,
    OpRole::Fence,
    OpRole::Wait,
    OpRole::Pragma,
    OpRole::Return,
    OpRole::ElementLoad,
    OpRole::ElementStore,
    OpRole::Fill,
    OpRole::ReduceInto,
    OpRole::ProductInto,
    OpRole::Opaque,
];

const TRAITS: [LayoutTrait; 7] = [
    LayoutTrait::Transparent,
    LayoutTrait::Transposing,
    LayoutTrait::Reshaping,
    LayoutTrait::Reducing,
    LayoutTrait::Fixing,
    LayoutTrait::Converting,
    LayoutTrait::None,
];

fn word<T: Copy + std::fmt::Debug>(
    name: &Name,
    kind: &str,
    all: &[T],
    diags: &mut Diagnostics,
) -> Option<T> {
    let names: Vec<String> = all.iter().map(|value| format!("{value:?}")).collect();
    let found = names
        .iter()
        .position(|known| known.eq_ignore_ascii_case(name))
        .and_then(|at| all.get(at))
        .copied();
    if found.is_none() {
        let known = names.iter().map(String::as_str);
        let help = remedy(
            name,
            known.clone(),
            &format!("known: {}", known.collect::<Vec<_>>().join(", ")),
        );
        diags
            .push(Diagnostic::at(name.span, format!("unknown {kind} `{}`", name.value)).help(help));
    }
    found
}

/// What one of these names is the name of.
fn spelt<T: Copy>(
    name: &Spanned<Bare>,
    what: &str,
    known: &[(T, &'static str)],
    diags: &mut Diagnostics,
) -> Option<T> {
    let name = name.map(|word| word.0.clone());
    let names = known.iter().map(|(_, name)| *name);
    let found = known.iter().find(|(_, known)| *known == name.value);
    if found.is_none() {
        let otherwise = format!("known: {}", names.clone().collect::<Vec<_>>().join(", "));
        diags.push(
            Diagnostic::at(name.span, format!("unknown {what} `{}`", name.value))
                .help(remedy(&name, names, &otherwise)),
        );
    }
    found.map(|(word, _)| *word)
}

/// A role by its name, in any case.
pub fn role(name: &Name, diags: &mut Diagnostics) -> Option<OpRole> {
    word(name, "role", &ROLES, diags)
}

pub(super) fn resolve(entries: Vec<Spanned<OpEntry>>, diags: &mut Diagnostics) -> Ops {
    let mut ops = Ops::default();
    for entry in entries {
        let number = ops.list.len();
        let known = ops.names.declare(&entry.name, number, "operation", diags);
        for alias in entry.aliases.iter().filter(|_| known) {
            ops.names.declare(alias, number, "operation", diags);
        }
        let role = role(&entry.role.map(|word| word.0.clone()), diags);
        let layout = word(&entry.layout.map(|word| word.0.clone()), "layout trait", &TRAITS, diags);
        let index = entry.index.as_ref();
        let index = index.and_then(|word| spelt(word, "word of indices", &IndexWord::NAMES, diags));
        let lowering = entry.lowering.as_ref();
        let lowering = lowering.and_then(|word| spelt(word, "lowering", &OpLowering::NAMES, diags));
        if known {
            // Under a role that says nothing, so that rules find the operation.
            ops.list.push(Op {
                entry: entry.value,
                role: role.unwrap_or(OpRole::Opaque),
                layout: layout.unwrap_or(LayoutTrait::None),
                index,
                lowering,
            });
        }
    }
    for op in &ops.list {
        tiles(&ops, &op.entry, diags);
        itself(op, diags);
    }
    ops
}

/// An operation agrees with itself: counts from the least to the most, one result of what computes
/// one, memory that is read by what loads and written by what stores, and not by what is pure.
fn itself(op: &Op, diags: &mut Diagnostics) {
    let entry = &op.entry;
    let mut say = |message: String, help: &str| {
        let message = format!("operation `{}` {message}", entry.name.value);
        diags.push(Diagnostic::at(entry.name.span, message).help(help));
    };
    for (what, (least, most)) in [("operands", entry.operands), ("results", entry.results)] {
        if least > most {
            say(format!("has {least} to {most} {what}"), "the least comes first: correct them");
        }
    }
    let computes = matches!(op.role, OpRole::Elementwise | OpRole::Index);
    if computes && entry.results != (1, 1) {
        say(
            format!(
                "computes one value and has {} to {} results",
                entry.results.0, entry.results.1
            ),
            "what is computed element by element, or of indices, is one result: correct `results` or `role`",
        );
    }
    if entry.pure && entry.writes {
        say(
            "is pure and writes memory".into(),
            "what changes memory cannot be computed again elsewhere: correct `pure` or `writes`",
        );
    }
    let (loads, stores) = match op.role {
        OpRole::Load | OpRole::ElementLoad => (true, false),
        OpRole::Store | OpRole::ElementStore => (false, true),
        OpRole::Copy | OpRole::Atomic => (true, true),
        _ => return,
    };
    if loads && !entry.reads || stores && !entry.writes {
        say(
            format!(
                "{} memory by its role, and says that it does not",
                if loads && !entry.reads { "reads" } else { "writes" }
            ),
            "correct `reads`, `writes` or `role`",
        );
    }
}

/// What does to tiles what an operation does to indices is one element by element, or several whose
/// names differ in a relation.
fn tiles(ops: &Ops, entry: &OpEntry, diags: &mut Diagnostics) {
    let Some(wanted) = &entry.tiles else { return };
    let (first, last) = wanted.value.split_once('*').unwrap_or((&wanted.value, ""));
    let is_meant = |op: &Op| {
        let name = &op.entry.name.value;
        let named = match wanted.value.contains('*') {
            true => name.starts_with(first) && name.ends_with(last),
            false => *name == wanted.value,
        };
        named && op.role == OpRole::Elementwise
    };
    if !ops.list.iter().any(is_meant) {
        let message = format!("no operation element by element is `{}`", wanted.value);
        let help = "the name of one of role Elementwise, with `*` for a relation of its name";
        diags.push(Diagnostic::at(wanted.span, message).help(help));
    }
}

/// The operations of compiled tables, as if they were written in a file.
pub(crate) fn of_tables(tables: &Tables<'_>, file: FileId) -> Ops {
    fn at<T>(value: T, span: Span) -> Spanned<T> {
        Spanned { value, span }
    }
    let (mut ops, span) = (Ops::default(), Span::new(file, 0, 0));
    let quiet = &mut Diagnostics::new();
    for decl in tables.ops {
        let entry = OpEntry {
            name: at(decl.name.to_string(), span),
            aliases: decl.aliases.iter().map(|alias| at((*alias).to_string(), span)).collect(),
            role: at(Bare(format!("{:?}", decl.role)), span),
            layout: at(Bare(format!("{:?}", decl.layout)), span),
            operands: decl.operands,
            results: decl.results,
            regions: decl.regions,
            reads: decl.reads,
            writes: decl.writes,
            pure: decl.pure,
            effort: decl.effort,
            truth: decl.truth,
            same_bits: decl.same_bits,
            index: None,
            tiles: (!decl.tiles.is_empty()).then(|| at(decl.tiles.to_string(), span)),
            lowering: None,
            doc: String::new(),
        };
        let number = ops.list.len();
        for name in [&entry.name].into_iter().chain(&entry.aliases) {
            ops.names.declare(name, number, "operation", quiet);
        }
        let (role, layout) = (decl.role, decl.layout);
        ops.list.push(Op { entry, role, layout, index: decl.index, lowering: decl.lowering });
    }
    ops
}

impl Ops {
    /// The operation with this name or alias.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<OpId> {
        self.names.get(name).map(OpId)
    }
    /// The operation of an id.
    #[must_use]
    pub fn get(&self, id: OpId) -> Option<&Op> {
        self.list.get(id.index())
    }
}
