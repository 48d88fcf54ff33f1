//! Every value in the tables that a reader could get wrong, by kind.
use lanebook_gen::load::Loaded;
use lanebook_gen::source::{FileId, Sources, Span};
use lanebook_gen::tree::{self, Node, Tree};
use std::collections::{BTreeMap, BTreeSet};

/// A kind of facts.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Wait states between instructions.
    Hazards,
    /// Issue slots and cycles.
    Cost,
    /// What stands between accesses, kinds of accesses, counters, completion objects.
    Synchronisation,
    /// Tiles, cells and shapes of matrix units and of tensor memory.
    UnitLayouts,
    /// `does` and `means`.
    Meaning,
    /// Operands but for their ranges and layouts.
    Operands,
    /// Layouts and element types of matrix operands.
    MatrixLayouts,
    /// Extents of products and which operand is which.
    Shapes,
    /// Sides of movements.
    Movements,
    /// Numbers of an architecture.
    Figures,
    /// Which groups an architecture has.
    Groups,
    /// Bank models.
    Banks,
    /// Bit fields, swizzle modes, tensor maps.
    Descriptors,
    /// Texts of instructions.
    Texts,
    /// Names of atoms.
    Names,
    /// Words and numbers that a text can have.
    Parameters,
    /// Ranges of operands and fields.
    Limits,
    /// Class, counter, tags.
    Classes,
    /// Two neighbours exchanged.
    Swapped,
    /// One value of two neighbours exchanged.
    Exchanged,
    /// A value of the entry above.
    Copied,
    /// An entry twice.
    Doubled,
    /// An entry not at all.
    Dropped,
    /// A digit more, less, or in another place.
    Digits,
    /// Formats of numbers.
    Types,
    /// Words that claim more than sources do.
    Evidence,
    /// Two rows of a lane map, or two other dimensions, exchanged.
    LaneRows,
    /// A bound of a range, one off.
    Bounds,
    /// Bytes for bits, or bits for bytes.
    Units,
    /// A group of another vendor's.
    Foreign,
    /// A wait less, or for less.
    Waits,
    /// Half of a cost.
    Halves,
    /// A flag the other way round.
    Flags,
    /// A field not at all.
    FieldsMissing,
    /// A field that a neighbour has.
    FieldsAdded,
    /// A word of a list less.
    WordsMissing,
    /// A word of a list more.
    WordsAdded,
    /// Side conditions of rewrite rules.
    Conditions,
    /// Patterns, replacements and priorities of rewrite rules.
    Rules,
    /// How kernels are framed as text.
    Frames,
    /// Operations that are several others.
    Sequences,
    /// Weights of costs.
    Weights,
    /// Passes and their steps.
    Passes,
    /// Operations and what is compiled of them.
    Operations,
    /// Candidates, anchors, what the engine asks for.
    Choices,
}

/// What is forgotten or put in the wrong place: see [`crate::omissions`].
pub const OMISSIONS: [(Kind, &str); 4] = [
    (Kind::FieldsMissing, "fields missing"),
    (Kind::FieldsAdded, "fields added"),
    (Kind::WordsMissing, "words missing"),
    (Kind::WordsAdded, "words added"),
];

/// Mistakes in the rules: see [`crate::knowledge`].
pub const KNOWLEDGE: [(Kind, &str); 8] = [
    (Kind::Conditions, "conditions of rules"),
    (Kind::Rules, "rules"),
    (Kind::Frames, "frames of kernels"),
    (Kind::Sequences, "sequences"),
    (Kind::Weights, "weights"),
    (Kind::Passes, "passes"),
    (Kind::Operations, "operations"),
    (Kind::Choices, "choices"),
];

/// Misreadings: see [`crate::misreadings`].
pub const MISREADINGS: [(Kind, &str); 7] = [
    (Kind::LaneRows, "rows of lane maps"),
    (Kind::Bounds, "bounds of ranges"),
    (Kind::Units, "units"),
    (Kind::Foreign, "another vendor's groups"),
    (Kind::Waits, "waits"),
    (Kind::Halves, "halved costs"),
    (Kind::Flags, "flags"),
];

/// Slips: see [`crate::slips`].
pub const SLIPS: [(Kind, &str); 8] = [
    (Kind::Swapped, "neighbours exchanged"),
    (Kind::Exchanged, "values exchanged"),
    (Kind::Copied, "values copied"),
    (Kind::Doubled, "entries twice"),
    (Kind::Dropped, "entries missing"),
    (Kind::Digits, "slips of digits"),
    (Kind::Types, "formats of numbers"),
    (Kind::Evidence, "claims"),
];

/// All kinds, in the order of reports.
pub const KINDS: [(Kind, &str); 18] = [
    (Kind::Hazards, "hazards"),
    (Kind::Cost, "cost"),
    (Kind::Synchronisation, "synchronisation"),
    (Kind::UnitLayouts, "unit layouts"),
    (Kind::Meaning, "does and means"),
    (Kind::Operands, "operands"),
    (Kind::MatrixLayouts, "matrix operand layouts"),
    (Kind::Shapes, "shapes of products"),
    (Kind::Movements, "movements"),
    (Kind::Figures, "architecture figures"),
    (Kind::Groups, "groups of architectures"),
    (Kind::Banks, "bank models"),
    (Kind::Descriptors, "descriptors and swizzles"),
    (Kind::Texts, "texts"),
    (Kind::Names, "names"),
    (Kind::Parameters, "parameters"),
    (Kind::Limits, "limits"),
    (Kind::Classes, "classes and tags"),
];

/// What can be done to a value.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Form {
    /// A leaf: it becomes another.
    Leaf,
    /// An entry of a list, or a field of a record, with the comma after it: it goes.
    Whole,
}

/// A value that can be wrong.
#[derive(Clone, Debug)]
pub struct Fact {
    /// Of what kind it is.
    pub kind: Kind,
    /// Where it stands in what.
    pub path: String,
    /// Its place.
    pub span: Span,
    /// What can be done to it.
    pub form: Form,
}

/// All facts, and the values that leaves with the same path have anywhere.
#[derive(Debug, Default)]
pub struct Facts {
    /// The facts in the order of the files.
    pub list: Vec<Fact>,
    /// Folder of the file and path to the texts of leaves.
    pub seen: BTreeMap<(String, String), BTreeSet<String>>,
}

/// Fields for people, and those that say where a fact comes from.
pub(crate) const UNTOUCHED: [&str; 9] =
    ["note", "override_", "doc", "sources", "status", "agreements", "tags_", "title", "words_"];

/// Fields that can be left out, so that leaving them out is a mistake that nothing but the audit
/// sees.
const LEFT_OUT: [&str; 13] = [
    "rest",
    "barrier",
    "place",
    "unless_same",
    "also",
    "offset",
    "on",
    "unordered",
    "scale",
    "counter",
    "crosses_lanes",
    "part",
    "base",
];

/// Lists of which one entry can go missing.
const LISTS: [&str; 4] = ["steps", "hazards", "sync", "xor"];

impl Facts {
    /// The names of the operands of the atom that a place is in.
    #[must_use]
    pub fn operands(&self, sources: &Sources, at: Span) -> Vec<String> {
        let mut out = Vec::new();
        for fact in self.list.iter().filter(|f| f.span.file == at.file && f.form == Form::Leaf) {
            let is_atom = fact.kind == Kind::Names;
            if is_atom && fact.span.start > at.start {
                break;
            }
            if is_atom {
                out.clear();
            } else if fact.path.ends_with("operands.name") {
                out.push(sources.text(fact.span).to_string());
            }
        }
        out
    }

    /// The facts of the hardware tables among `sources`, before families are made atoms of.
    #[must_use]
    pub fn of(sources: &Sources) -> Self {
        let mut out = Self::default();
        for (id, file) in sources.iter().filter(|(_, file)| Loaded::is_hardware(file)) {
            if let Some(tree) = tree::read(sources, id) {
                out.walk(sources, id, &tree, &mut Vec::new());
            }
            debug_assert!(!file.text.is_empty());
        }
        out
    }

    fn walk(&mut self, sources: &Sources, file: FileId, tree: &Tree, path: &mut Vec<String>) {
        match &tree.node {
            Node::Record(fields) => {
                for (name, value) in fields {
                    if UNTOUCHED.contains(&name.as_str()) {
                        continue;
                    }
                    path.push(name.clone());
                    if LEFT_OUT.contains(&name.as_str()) {
                        self.whole(sources, file, value, path, Some(name));
                    }
                    self.walk(sources, file, value, path);
                    path.pop();
                }
            }
            Node::List(items) => {
                let leaves = items.len() > 1 && items.iter().all(|item| item.leaf().is_some());
                for (number, item) in items.iter().enumerate() {
                    if path.last().is_some_and(|last| LISTS.contains(&last.as_str())) {
                        self.whole(sources, file, item, path, None);
                    }
                    // A place in a tuple says what a number is.
                    let is_tuple = sources.text(tree.span).starts_with('(');
                    if leaves && is_tuple {
                        path.push(number.to_string());
                    }
                    self.walk(sources, file, item, path);
                    if leaves && is_tuple {
                        path.pop();
                    }
                }
            }
            Node::Map(entries) => {
                for (key, value) in entries {
                    path.push(key.leaf().unwrap_or_default().to_string());
                    self.walk(sources, file, value, path);
                    path.pop();
                }
            }
            Node::Leaf(_) => {
                let joined = path.join(".");
                if let Some(kind) = kind(path) {
                    let text = sources.text(tree.span).to_string();
                    let folder = folder(&sources.file(file).name);
                    self.seen.entry((folder, joined.clone())).or_default().insert(text);
                    self.list.push(Fact { kind, path: joined, span: tree.span, form: Form::Leaf });
                }
            }
        }
    }

    /// A value that goes with the comma after it; of a field, its name too.
    fn whole(
        &mut self,
        sources: &Sources,
        file: FileId,
        value: &Tree,
        path: &[String],
        field: Option<&str>,
    ) {
        let text = &sources.file(file).text;
        let start = match field {
            None => value.span.start as usize,
            Some(name) => {
                let before = &text[..value.span.start as usize];
                match before.trim_end().strip_suffix(':').and_then(|b| b.strip_suffix(name)) {
                    Some(before) => before.len(),
                    None => return,
                }
            }
        };
        let rest = &text[value.span.end as usize..];
        let comma = rest.trim_start().starts_with(',');
        let end = value.span.end as usize + if comma { rest.find(',').unwrap_or(0) + 1 } else { 0 };
        if let Some(kind) = kind(path) {
            let path = path.join(".");
            self.list.push(Fact {
                kind,
                path,
                span: Span::new(file, start, end),
                form: Form::Whole,
            });
        }
    }
}

/// The folder of a file: a vendor's tables stand in one.
#[must_use]
pub fn folder(name: &str) -> String {
    name.rsplit_once('/').map_or("", |(folder, _)| folder).to_string()
}

/// The kind of the facts at a path; none for what is no fact about machines.
pub(crate) fn kind(path: &[String]) -> Option<Kind> {
    let has = |name: &str| path.iter().any(|part| part == name);
    let last = path.last().map_or("", String::as_str);
    Some(match () {
        () if has("hazards") => Kind::Hazards,
        () if has("cost") => Kind::Cost,
        () if has("broadcasts") && !has("atoms") => Kind::MatrixLayouts,
        () if [
            "sync",
            "counters",
            "accesses",
            "mbarriers",
            "tiled_moves",
            "unordered",
            "specializations",
        ]
        .iter()
        .any(|name| has(name)) =>
        {
            Kind::Synchronisation
        }
        () if last == "access" || last == "runs" || has("matrix") && has("tensor") => {
            Kind::Synchronisation
        }
        () if ["tensor_memories", "tensor_tiles", "tensor_moves", "shapes", "operand_tiles"]
            .iter()
            .any(|name| has(name)) =>
        {
            Kind::UnitLayouts
        }
        () if has("order_limits") || has("map_limits") => Kind::Limits,
        () if has("units") => Kind::Descriptors,
        () if has("does") || has("means") => Kind::Meaning,
        () if has("operands") => match last {
            "layout" | "dtype" | "rest" | "bits" | "lanes" => Kind::MatrixLayouts,
            "words" | "dtypes" | "values" | "step" | "shifts" => Kind::Parameters,
            _ if has("range") || last == "multiple" => Kind::Limits,
            _ => Kind::Operands,
        },
        () if has("matrix") => Kind::Shapes,
        () if has("movement") => Kind::Movements,
        () if has("banks") => Kind::Banks,
        () if has("arch") => match last {
            "has" | "without" | "lacks" | "expanded" | "assembles" => Kind::Groups,
            "name" | "extends" => return None,
            _ => Kind::Figures,
        },
        () if has("each") => Kind::Parameters,
        () if last == "template" => Kind::Texts,
        () if (has("atoms") || has("atom")) && last == "name" => Kind::Names,
        () if ["class", "tags", "counter"].contains(&last) => Kind::Classes,
        () => return None,
    })
}
