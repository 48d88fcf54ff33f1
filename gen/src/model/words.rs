//! Sources, element types, axes, access kinds and tags.
use super::status::Says;
use super::{Cited, HwModel, Names};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::load::Loaded;
use crate::schema::{self, Name};
use crate::source::Span;
use lanebook_layout::{AxisNames, WellKnown};
use lanebook_tables::{DtypeKind, FloatFormat, SourceId, Space, Specials, TagId};

/// A document that facts cite.
#[derive(Clone, Debug)]
pub struct SourceDoc {
    /// Its key, with its place.
    pub key: Name,
    /// Document and version.
    pub title: String,
    /// It judges texts alone.
    pub texts: bool,
    /// It was measured on a machine.
    pub hardware: bool,
    /// It is a document of the vendor.
    pub document: bool,
    /// What it comes from, if others come from there too.
    pub origin: Option<String>,
}

impl SourceDoc {
    /// What it comes from: sources of one origin are no two sources.
    #[must_use]
    pub fn origin(&self) -> &str {
        self.origin.as_deref().unwrap_or(&self.key.value)
    }
    /// What it is, in words: `texts of llvm`.
    #[must_use]
    pub fn word(&self) -> String {
        let what = match (self.hardware, self.document, self.texts) {
            (true, ..) => "hardware",
            (_, true, _) => "document",
            (_, _, true) => "texts",
            _ => "program",
        };
        self.origin.as_ref().map_or(what.into(), |origin| format!("{what} of {origin}"))
    }
}

/// An element type.
#[derive(Clone, Debug)]
pub struct Dtype {
    /// Its name.
    pub name: Name,
    /// Width in bits.
    pub bits: u16,
    /// Bits in a lane's registers.
    pub held: u16,
    /// What the bits mean.
    pub kind: DtypeKind,
    /// How the bits of a floating-point number are divided.
    pub format: Option<FloatFormat>,
    /// Low bits that matrix units do not read.
    pub unread: u8,
    /// The element type of which it holds two.
    pub pair_of: Option<Name>,
}

/// A physical axis.
#[derive(Clone, Debug)]
pub struct Axis {
    /// Its name.
    pub name: Name,
    /// What a step along it is.
    pub doc: String,
}

/// A kind of memory access.
#[derive(Clone, Debug)]
pub struct Access {
    /// Its name.
    pub name: Name,
    /// The space it touches.
    pub space: Space,
    /// Through which path it goes, if not the lanes' own.
    pub path: Option<Name>,
    /// Accesses of its path come in the order in which they are issued.
    pub in_order: bool,
    /// Names of the atoms that make certain that it is over.
    pub done: Vec<Name>,
    /// What stands between an access of another path and this one.
    pub behind: Vec<schema::Crossing>,
}

/// A group of atoms that hazards speak of.
#[derive(Clone, Debug)]
pub struct Tag {
    /// Its name.
    pub name: Name,
}

/// Names that only resolving needs.
#[derive(Debug, Default)]
pub(super) struct Words {
    pub sources: Names,
    pub tags: Names,
}

impl Words {
    /// Names of sources and tags of a model.
    pub fn of(model: &HwModel) -> Self {
        let mut words = Self::default();
        let mut quiet = Diagnostics::new();
        for (number, source) in model.sources.iter().enumerate() {
            words.sources.declare(&source.key, number, "source", &mut quiet);
        }
        for (number, tag) in model.tags.iter().enumerate() {
            words.tags.declare(&tag.name, number, "tag", &mut quiet);
        }
        words
    }
    /// Sources as cited: `key` or `key#place`, with `~` or `!` before it.
    pub fn cited(&self, names: &[Name], diags: &mut Diagnostics) -> Cited {
        let mut out = Cited::default();
        for name in names {
            let says = Says::of(&name.value).0;
            let key = name.map(|text| Says::of(text).1.to_string());
            if let Some(id) = self.sources.find(&key, "source", diags) {
                out.push(SourceId(id), says);
            }
        }
        out
    }
    /// Tags by name.
    pub fn tagged(&self, names: &[Name], diags: &mut Diagnostics) -> Vec<TagId> {
        names.iter().filter_map(|name| self.tags.find(name, "tag", diags)).map(TagId).collect()
    }
}

/// Sorts entries by name and declares them; a second one of a name is reported and left out.
fn declare<T>(
    mut all: Vec<T>,
    name: impl Fn(&T) -> &Name,
    kind: &str,
    sort: bool,
    diags: &mut Diagnostics,
) -> (Vec<T>, Names) {
    if sort {
        // Equal names stay in file order, so that the later place is the one reported.
        all.sort_by(|a, b| name(a).value.cmp(&name(b).value));
    }
    let (mut kept, mut names) = (Vec::new(), Names::default());
    for entry in all {
        if names.declare(name(&entry), kept.len(), kind, diags) {
            kept.push(entry);
        }
    }
    (kept, names)
}

pub(super) fn resolve(loaded: &Loaded, model: &mut HwModel, diags: &mut Diagnostics) {
    let sources = loaded
        .sources
        .iter()
        .map(|s| SourceDoc {
            key: s.key.clone(),
            title: s.title.clone(),
            texts: s.texts,
            hardware: s.hardware,
            document: s.document,
            origin: s.origin.clone(),
        })
        .collect();
    (model.sources, _) = declare(sources, |s| &s.key, "source", true, diags);
    for source in &model.sources {
        if source.key.contains('#') {
            diags.push(
                Diagnostic::at(source.key.span, "`#` separates a key from a place in the document")
                    .help("use another character"),
            );
        }
        if source.key.starts_with(['~', '!']) {
            diags.push(
                Diagnostic::at(
                    source.key.span,
                    "`~` and `!` before a key say what a source has to do with a fact",
                )
                .help("use another character"),
            );
        }
        if [source.hardware, source.document, source.texts].iter().filter(|is| **is).count() > 1 {
            let message = format!("`{}` is said to be two things", source.key.value);
            diags.push(
                Diagnostic::at(source.key.span, message)
                    .help("`texts`, `hardware` or `document`: one of them, or none for a program"),
            );
        }
    }
    let dtypes = loaded
        .dtypes
        .iter()
        .map(|d| Dtype {
            name: d.name.clone(),
            bits: d.bits,
            held: d.held.unwrap_or(d.bits),
            kind: dtype_kind(d.kind),
            format: d.format.map(float_format),
            unread: d.unread,
            pair_of: d.pair_of.clone(),
        })
        .collect();
    (model.dtypes, model.dtype_names) = declare(dtypes, |d| &d.name, "element type", false, diags);
    for dtype in model.dtypes.iter().filter(|d| d.held < d.bits || !d.held.is_power_of_two()) {
        if dtype.held != dtype.bits {
            diags.push(
                Diagnostic::at(
                    dtype.name.span,
                    format!("{} bits in a register hold one of {}", dtype.held, dtype.bits),
                )
                .help("an element stands in a power of two of bits, its own at the least: correct `held`"),
            );
        }
    }
    for dtype in model.dtypes.iter().filter(|d| u16::from(d.unread) >= d.bits && d.unread > 0) {
        let message = format!("of {} bits {} are not read", dtype.bits, dtype.unread);
        diags.push(
            Diagnostic::at(dtype.name.span, message)
                .help("`unread` is how many low bits units leave out, fewer than there are"),
        );
    }
    for dtype in &model.dtypes {
        let Some(half) = &dtype.pair_of else { continue };
        let of = model.dtypes.iter().find(|d| d.name.value == half.value);
        if of.is_none_or(|of| of.bits.checked_mul(2) != Some(dtype.bits)) {
            let message = format!("`{}` is no element type of half the bits", half.value);
            diags.push(
                Diagnostic::at(half.span, message)
                    .help("`pair_of` names the type of which one stands in either half"),
            );
        }
    }
    for dtype in model.dtypes.iter().filter(|d| d.bits == 0) {
        diags.push(
            Diagnostic::at(dtype.name.span, "an element type has at least one bit")
                .help("state its width"),
        );
    }
    for dtype in &model.dtypes {
        let Some(format) = dtype.format else { continue };
        let bits =
            u16::from(format.signed) + u16::from(format.exponent) + u16::from(format.fraction);
        if bits != dtype.bits || dtype.kind != DtypeKind::Float || format.exponent == 0 {
            diags.push(
                Diagnostic::at(
                    dtype.name.span,
                    format!(
                        "the format of `{}` has {bits} bits, the type {}",
                        dtype.name.value, dtype.bits
                    ),
                )
                .help("sign, exponent and fraction of a float are all of its bits"),
            );
        }
    }
    let axes =
        loaded.axes.iter().map(|a| Axis { name: a.name.clone(), doc: a.doc.clone() }).collect();
    (model.axes, _) = declare(axes, |a| &a.name, "axis", false, diags);
    for axis in &model.axes {
        if WellKnown.axis(&axis.name).is_none() {
            diags.push(
                Diagnostic::at(axis.name.span, format!("axis `{}` has no number", axis.name.value))
                    .help("numbers of axes are fixed in src/layout/src/axis.rs; add it there"),
            );
        }
    }
    let accesses = loaded
        .accesses
        .iter()
        .map(|a| Access {
            name: a.name.clone(),
            space: space(a.space),
            path: a.path.clone(),
            in_order: a.in_order,
            done: a.done.clone(),
            behind: a.behind.clone(),
        })
        .collect();
    (model.accesses, model.access_names) =
        declare(accesses, |a| &a.name, "access kind", true, diags);
    let tags = loaded.tags.iter().map(|t| Tag { name: t.name.clone() }).collect();
    (model.tags, _) = declare(tags, |t| &t.name, "tag", true, diags);
}

fn float_format(format: schema::FloatFormat) -> FloatFormat {
    FloatFormat {
        signed: format.signed,
        exponent: format.exponent,
        fraction: format.fraction,
        bias: format.bias,
        specials: match format.specials {
            schema::Specials::Ieee => Specials::Ieee,
            schema::Specials::Ones => Specials::Ones,
            schema::Specials::OneZero => Specials::OneZero,
        },
        zero: format.zero,
    }
}

fn dtype_kind(kind: schema::DtypeKind) -> DtypeKind {
    match kind {
        schema::DtypeKind::Float => DtypeKind::Float,
        schema::DtypeKind::Signed => DtypeKind::Signed,
        schema::DtypeKind::Unsigned => DtypeKind::Unsigned,
        schema::DtypeKind::Bits => DtypeKind::Bits,
    }
}

/// A memory space as the tables have it.
pub(super) fn space(space: schema::Space) -> Space {
    match space {
        schema::Space::Register => Space::Register,
        schema::Space::Shared => Space::Shared,
        schema::Space::Global => Space::Global,
        schema::Space::Tensor => Space::Tensor,
    }
}

/// Facts need a source; that there is none is said: `sources: []`.
pub(super) fn need_source(
    cited: Option<&[Name]>,
    typed: Option<schema::Status>,
    span: Span,
    what: &str,
    diags: &mut Diagnostics,
) {
    if cited.is_none() && typed != Some(schema::Status::Assumed) {
        diags.push(Diagnostic::at(span.head(), format!("{what} cites no source")).help(
            "add `sources: [\"key\"]` with a key of hw-tables/sources.ron, or `sources: []` if nothing says it",
        ));
    }
}
