//! How passes give layouts to operations: `rules/seeding.ron` and `rules/candidates.ron`.
//!
//! Names of architectures and element types are checked here and kept as names: a build may have
//! fewer architectures.
use super::Ops;
use super::schema::Bare;
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::leak::{list, text};
use crate::model::HwModel;
use crate::schema::Name;
use crate::spanned::Spanned;
use lanebook_suggest::remedy;
use lanebook_tables as t;
use serde::Deserialize;

/// `rules/seeding.ron`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeedingFile {
    /// Warps of a program that does not say how many.
    pub warps: u16,
    /// Rows of the unit of a product in place.
    #[serde(default)]
    pub unit_rows: u16,
    /// Modules' target attributes and architectures.
    pub targets: Vec<(Name, Name)>,
    /// Foreign names of element types.
    pub dtypes: Vec<(Name, Name)>,
    /// Formats, and the element types of instructions whose modifiers name the format.
    #[serde(default)]
    pub formats: Vec<(Name, Name)>,
    /// What integer operations do to runs of neighbours.
    pub meanings: Vec<(Name, Spanned<Bare>)>,
    /// Operations that access memory through tiles of pointers.
    pub accesses: Vec<AccessEntry>,
    /// Matrix instructions to ask for.
    #[serde(default)]
    pub units: Vec<UnitEntry>,
    /// Element types as matrix units read them.
    #[serde(default)]
    pub read_as: Vec<(Name, Name)>,
    /// Words of atomic operations: what they do, to elements of which kinds.
    #[serde(default)]
    pub atomics: Vec<(Name, Spanned<Bare>, Vec<Spanned<Bare>>)>,
    /// Words of their order.
    #[serde(default)]
    pub orders: Vec<OrderEntry>,
    /// Words of who sees it, and the scope of a fence.
    #[serde(default)]
    pub scopes: Vec<(Name, Option<Name>)>,
    /// Words of barriers.
    #[serde(default)]
    pub barriers: Vec<Name>,
    /// Operations on units of one machine that no program here has.
    #[serde(default)]
    pub by_hand: Vec<Name>,
}

/// An order among accesses.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "order")]
pub struct OrderEntry {
    /// How it is written.
    pub name: Name,
    /// What is behind the operation finds what came before it elsewhere.
    #[serde(default)]
    pub releases: bool,
    /// What came before it elsewhere is found by what is behind it here.
    #[serde(default)]
    pub acquires: bool,
}

/// One access.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "access")]
pub struct AccessEntry {
    /// The operation.
    pub op: Name,
    /// Operand with the pointers.
    pub pointer: u8,
    /// It may write.
    pub writes: bool,
    /// Most elements of a lane, by instruction set.
    #[serde(default)]
    pub most: Vec<(Name, u16)>,
}

/// One kind of matrix instruction, for some architectures.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "unit")]
pub struct UnitEntry {
    /// The architectures.
    pub archs: Vec<Name>,
    /// How accumulators are written: `warp`, `group`, `wave`, `narrow`, `tensor`.
    pub accumulators: Spanned<Bare>,
    /// Version in the encoding.
    pub version: (u8, u8),
    /// The transposed product is asked for.
    #[serde(default)]
    pub transposes: bool,
    /// Most elements of a lane in a row along k.
    #[serde(default)]
    pub lane: u8,
    /// The same for products with block scales.
    #[serde(default)]
    pub scaled_lane: u8,
    /// Lanes whose scales are ignored have the next rows'.
    #[serde(default)]
    pub fills: bool,
    /// Most warps that share the sums.
    #[serde(default)]
    pub most_warps: u8,
    /// How a product in tensor memory is written.
    #[serde(default)]
    pub ops: Option<OpsEntry>,
}

/// Operations around a product in tensor memory.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "ops")]
pub struct OpsEntry {
    /// Reserves the place of the sums.
    pub alloc: Name,
    /// The product.
    pub product: Name,
    /// Loads the sums.
    pub load: Name,
}

/// One entry of `rules/candidates.ron`: the same for several axes.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "candidates")]
pub struct CandidateEntry {
    /// Role of the operation.
    pub role: Spanned<Bare>,
    /// Kind of its memory.
    pub memory: Spanned<Bare>,
    /// What its tile is to a product.
    pub axes: Vec<Spanned<Bare>>,
    /// Where the tile goes.
    pub bucket: Spanned<Bare>,
    /// In what kind of layout.
    pub family: Spanned<Bare>,
    /// By movers from here to there.
    pub movers: (Spanned<Bare>, Spanned<Bare>),
    /// By descriptor.
    #[serde(default)]
    pub bulk: bool,
    /// Least alignment in bytes.
    pub align: u16,
}

/// Operations that passes put into a program are declared. (Those that they only meet may be a
/// dialect's own.)
pub(super) fn check(seeding: &SeedingFile, ops: &Ops, diags: &mut Diagnostics) {
    for entry in seeding.units.iter().filter_map(|unit| unit.ops.as_ref()) {
        for name in [&entry.alloc, &entry.product, &entry.load] {
            ops.names.find(name, "operation", diags);
        }
    }
}

const AXIS_WORDS: [(&str, t::AxisWord); 17] = [
    ("range", t::AxisWord::Range),
    ("add", t::AxisWord::Add),
    ("sub", t::AxisWord::Sub),
    ("mul", t::AxisWord::Mul),
    ("div", t::AxisWord::Div),
    ("rem", t::AxisWord::Rem),
    ("and", t::AxisWord::And),
    ("or", t::AxisWord::Or),
    ("xor", t::AxisWord::Xor),
    ("shl", t::AxisWord::Shl),
    ("shr", t::AxisWord::Shr),
    ("ashr", t::AxisWord::Ashr),
    ("extremum", t::AxisWord::Extremum),
    ("compare", t::AxisWord::Compare),
    ("select", t::AxisWord::Select),
    ("pointer", t::AxisWord::Pointer),
    ("same", t::AxisWord::Same),
];
const DTYPE_KINDS: [(&str, t::DtypeKind); 4] = [
    ("float", t::DtypeKind::Float),
    ("signed", t::DtypeKind::Signed),
    ("unsigned", t::DtypeKind::Unsigned),
    ("bits", t::DtypeKind::Bits),
];
const ACCUMULATORS: [(&str, t::Accumulators); 5] = [
    ("warp", t::Accumulators::Warp),
    ("group", t::Accumulators::Group),
    ("wave", t::Accumulators::Wave),
    ("narrow", t::Accumulators::Narrow),
    ("tensor", t::Accumulators::Tensor),
];
const ROLES: [(&str, t::OpRole); 6] = [
    ("load", t::OpRole::Load),
    ("store", t::OpRole::Store),
    ("copy", t::OpRole::Copy),
    ("atomic", t::OpRole::Atomic),
    ("index", t::OpRole::Index),
    ("alloc", t::OpRole::Alloc),
];
const SPACES: [(&str, t::Space); 4] = [
    ("register", t::Space::Register),
    ("shared", t::Space::Shared),
    ("global", t::Space::Global),
    ("tensor", t::Space::Tensor),
];
const AXES: [(&str, t::SubAxis); 5] = [
    ("a", t::SubAxis::A),
    ("b", t::SubAxis::B),
    ("c", t::SubAxis::C),
    ("d", t::SubAxis::D),
    ("free", t::SubAxis::Free),
];
const BUCKETS: [(&str, t::Bucket); 2] =
    [("register", t::Bucket::Register), ("memory", t::Bucket::Memory)];
const FAMILIES: [(&str, t::Family); 4] = [
    ("shared", t::Family::Shared),
    ("blocked", t::Family::Blocked),
    ("dot_operand", t::Family::DotOperand),
    ("linear", t::Family::Linear),
];

fn word<T: Copy>(
    words: &[(&str, T)],
    name: &Spanned<Bare>,
    kind: &str,
    diags: &mut Diagnostics,
) -> T {
    let found = words.iter().find(|(word, _)| *word == name.value.0);
    if found.is_none() {
        let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        diags.push(
            Diagnostic::at(name.span, format!("unknown {kind} `{}`", name.value.0))
                .help(format!("known: {}", known.join(", "))),
        );
    }
    found.or(words.first()).map(|(_, value)| *value).expect("every list of words has one")
}

/// What atomic operations do, by the words of the tables.
pub(crate) fn atomic_ops() -> [(&'static str, t::AtomicOp); t::AtomicOp::NAMES.len()] {
    t::AtomicOp::NAMES.map(|(op, name)| (name, op))
}

/// The number of a target is the number of its architecture.
fn targets(targets: &[(Name, Name)], hw: &HwModel, diags: &mut Diagnostics) {
    let number = |name: &str| -> String {
        let digits = name.chars().skip_while(|c| !c.is_ascii_digit());
        digits.take_while(char::is_ascii_alphanumeric).filter(char::is_ascii_digit).collect()
    };
    for (target, arch) in targets {
        // A target may be a word.
        let said = number(target);
        if hw.arch_named(arch).is_some() && !said.is_empty() && said != number(arch) {
            diags.push(
                Diagnostic::at(arch.span, format!("target `{}` is `{}`", target.value, arch.value))
                    .note(target.span, "the target")
                    .help("both have the number of one machine: correct one of them"),
            );
        }
    }
}

/// What is written in one way is of machines of one vendor.
fn family(names: &[Name], hw: &HwModel, diags: &mut Diagnostics) {
    let vendor = |name: &Name| hw.arch_named(name).map(|arch| arch.vendor.as_str());
    let Some(first) = names.first() else { return };
    if let Some(other) =
        names.iter().find(|name| vendor(name).is_some() && vendor(name) != vendor(first))
    {
        diags.push(
            Diagnostic::at(other.span, format!("`{}` and `{}` are of two vendors", other.value, first.value))
                .help("what one text asks for is a unit of one vendor's machines: give each an entry of its own"),
        );
    }
}

/// Checks the names of a file.
pub(super) fn resolve(file: SeedingFile, hw: &HwModel, diags: &mut Diagnostics) -> SeedingFile {
    let archs = || hw.archs.iter().map(|arch| arch.name.as_str());
    let arch = |name: &Name, diags: &mut Diagnostics| {
        if hw.arch_named(name).is_none() {
            let help = remedy(name, archs(), "architectures stand in hw-tables");
            diags.push(
                Diagnostic::at(name.span, format!("unknown architecture `{}`", name.value))
                    .help(help)
                    .lacks(name),
            );
        }
    };
    for (_, name) in &file.targets {
        arch(name, diags);
    }
    targets(&file.targets, hw, diags);
    for name in file.units.iter().flat_map(|unit| &unit.archs) {
        arch(name, diags);
    }
    for name in file
        .dtypes
        .iter()
        .map(|(_, name)| name)
        .chain(file.formats.iter().flat_map(|(format, name)| [format, name]))
        .chain(file.read_as.iter().flat_map(|(written, read)| [written, read]))
    {
        if hw.dtype_named(name).is_none() {
            diags.push(
                Diagnostic::at(name.span, format!("unknown element type `{}`", name.value))
                    .help("hw-tables/dtypes.ron lists them")
                    .lacks(name),
            );
        }
    }
    for (name, _) in file.accesses.iter().flat_map(|access| &access.most) {
        if !hw.isas.iter().any(|isa| *isa.name == name.value) {
            diags.push(
                Diagnostic::at(name.span, format!("unknown instruction set `{}`", name.value))
                    .help("rules/isa has them")
                    .lacks(name),
            );
        }
    }
    for (_, op, kinds) in &file.atomics {
        word(&atomic_ops(), op, "atomic operation", diags);
        for kind in kinds {
            word(&DTYPE_KINDS, kind, "kind of element types", diags);
        }
    }
    for scope in file.scopes.iter().filter_map(|(_, scope)| scope.as_ref()) {
        if !hw.accesses.iter().any(|kind| kind.name.value == scope.value) {
            diags.push(
                Diagnostic::at(scope.span, format!("no orders stand behind a scope `{}`", scope.value))
                    .help("hw-tables/accesses.ron has the scopes among the kinds of accesses; the block has none")
                    .lacks(scope),
            );
        }
    }
    for (_, name) in &file.meanings {
        word(&AXIS_WORDS, name, "meaning", diags);
    }
    for unit in &file.units {
        family(&unit.archs, hw, diags);
        let accumulators = word(&ACCUMULATORS, &unit.accumulators, "kind of accumulators", diags);
        if (accumulators == t::Accumulators::Tensor) != unit.ops.is_some() {
            let help = "accumulators in tensor memory, and no others, have `ops: (alloc: .., product: .., load: ..)`";
            diags.push(
                Diagnostic::at(
                    unit.accumulators.span,
                    "operations and accumulators do not go together",
                )
                .help(help),
            );
        }
    }
    file
}

/// Checks the words of the candidates' file.
pub(super) fn candidates(
    file: Vec<CandidateEntry>,
    diags: &mut Diagnostics,
) -> Vec<CandidateEntry> {
    for entry in &file {
        word(&ROLES, &entry.role, "role with candidates", diags);
        word(&BUCKETS, &entry.bucket, "bucket", diags);
        word(&FAMILIES, &entry.family, "family", diags);
        for space in [&entry.memory, &entry.movers.0, &entry.movers.1] {
            word(&SPACES, space, "memory space", diags);
        }
        for axis in &entry.axes {
            word(&AXES, axis, "axis", diags);
        }
        if !entry.align.is_power_of_two() {
            diags.push(
                Diagnostic::at(
                    entry.role.span,
                    format!("an alignment of {} bytes is no power of two", entry.align),
                )
                .help("write 1, 2, 4, ..."),
            );
        }
    }
    file
}

/// As the tables have them.
pub(super) fn lower(file: &SeedingFile, candidates: &[CandidateEntry]) -> t::Seeding<'static> {
    let quiet = &mut Diagnostics::default();
    let pairs =
        |pairs: &[(Name, Name)]| pairs.iter().map(|(a, b)| (text(a), text(b))).collect::<Vec<_>>();
    let (mut meanings, mut units, mut rules) = (Vec::new(), Vec::new(), Vec::new());
    for (op, name) in &file.meanings {
        meanings.push(t::Meaning { op: text(op), word: word(&AXIS_WORDS, name, "", quiet) });
    }
    for unit in &file.units {
        for arch in &unit.archs {
            let accumulators = word(&ACCUMULATORS, &unit.accumulators, "", quiet);
            let ops = unit.ops.as_ref().map(|ops| t::TensorOps {
                alloc: text(&ops.alloc),
                product: text(&ops.product),
                load: text(&ops.load),
            });
            let UnitEntry { version, transposes, lane, scaled_lane, fills, most_warps, .. } = *unit;
            units.push(t::ProductUnit {
                arch: text(arch),
                accumulators,
                version,
                transposes,
                lane,
                scaled_lane,
                fills,
                most_warps,
                ops,
            });
        }
    }
    for entry in candidates {
        for axis in &entry.axes {
            rules.push(t::CandidateRule {
                role: word(&ROLES, &entry.role, "", quiet),
                memory: word(&SPACES, &entry.memory, "", quiet),
                axis: word(&AXES, axis, "", quiet),
                bucket: word(&BUCKETS, &entry.bucket, "", quiet),
                family: word(&FAMILIES, &entry.family, "", quiet),
                from: word(&SPACES, &entry.movers.0, "", quiet),
                to: word(&SPACES, &entry.movers.1, "", quiet),
                bulk: entry.bulk,
                align_bytes: entry.align,
            });
        }
    }
    t::Seeding {
        warps: file.warps,
        unit_rows: file.unit_rows,
        targets: list(
            pairs(&file.targets).into_iter().map(|(text, arch)| t::SeedingTarget { text, arch }),
        ),
        dtypes: list(
            pairs(&file.dtypes).into_iter().map(|(text, dtype)| t::DtypeName { text, dtype }),
        ),
        formats: list(
            pairs(&file.formats).into_iter().map(|(text, dtype)| t::DtypeName { text, dtype }),
        ),
        read_as: list(
            pairs(&file.read_as).into_iter().map(|(text, dtype)| t::DtypeName { text, dtype }),
        ),
        meanings: list(meanings),
        accesses: list(file.accesses.iter().map(|access| t::PointerAccess {
            op: text(&access.op),
            pointer: access.pointer,
            writes: access.writes,
            most:
                list(
                    access.most.iter().map(|(isa, elements)| t::LaneElements {
                        isa: text(isa),
                        elements: *elements,
                    }),
                ),
        })),
        units: list(units),
        candidates: list(rules),
        atomics: list(file.atomics.iter().map(|(name, op, kinds)| t::AtomicWord {
            text: text(name),
            op: word(&atomic_ops(), op, "", quiet),
            of: list(
                kinds.iter().map(|kind| word(&DTYPE_KINDS, kind, "", &mut Diagnostics::default())),
            ),
        })),
        orders: list(file.orders.iter().map(|order| t::OrderWord {
            text: text(&order.name),
            releases: order.releases,
            acquires: order.acquires,
        })),
        scopes: list(file.scopes.iter().map(|(name, scope)| t::ScopeWord {
            text: text(name),
            scope: scope.as_ref().map(|scope| text(scope)),
        })),
        barriers: list(file.barriers.iter().map(|name| text(name))),
        by_hand: list(file.by_hand.iter().map(|name| text(name))),
    }
}
