//! `rules/asks.ron`: what the engine asks of an architecture's dispatch, and what programs go
//! without where nothing answers.
//!
//! An ask is a pattern over the lines of `lanebook dispatch` ([`crate::dispatch::spelled`]): word
//! by word, `*` is any word, `..` at the end is any further ones.
use super::Ops;
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::model::HwModel;
use crate::schema::Name;
use lanebook_suggest::remedy;
use lanebook_tables::{Factor, IndexOp, OpWord, Space};
use serde::Deserialize;

/// The file.
pub const FILE: &str = "rules/asks.ron";

/// Kinds of capabilities by the first word of their line, as `Capability` calls them, with the
/// fewest further words.
pub const KINDS: [(&str, &str, usize); 21] = [
    ("transfer", "Transfer", 2),
    ("atomic", "Atomic", 2),
    ("product", "Product", 4),
    ("lane-product", "LaneProduct", 4),
    ("product-into", "ProductInto", 1),
    ("product-of", "ProductOf", 2),
    ("product-tile", "ProductTile", 1),
    ("scaled-product", "ScaledProduct", 0),
    ("shared-product", "SharedProduct", 0),
    ("elementwise", "Elementwise", 3),
    ("store-upper", "StoreUpper", 1),
    ("shuffle-xor", "ShuffleXor", 0),
    ("shuffle-index", "ShuffleIndex", 0),
    ("byte-permute", "BytePermute", 0),
    ("join", "Join", 2),
    ("split", "Split", 2),
    ("copy", "Copy", 2),
    ("fill", "Fill", 1),
    ("index", "Index", 4),
    ("wait", "Wait", 1),
    ("order", "Order", 2),
];

/// Words of a line that are no names of the tables.
const WORDS: [&str; 5] = ["number", "extended", "group", "part", "answers"];

/// Something that is asked.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "ask")]
pub struct Ask {
    /// A pattern of capabilities.
    pub ask: Name,
    /// The source below `src` that asks.
    pub by: String,
    /// What programs cannot have where nothing answers.
    #[serde(default)]
    pub cannot: Option<String>,
    /// What is done in its place.
    #[serde(default)]
    pub instead: Option<String>,
    /// Patterns that do as well.
    #[serde(default)]
    pub or: Vec<Name>,
}

impl Ask {
    /// Whether a line of `lanebook dispatch` answers, or one that does as well.
    #[must_use]
    pub fn answered_by(&self, line: &str) -> bool {
        std::iter::once(&self.ask).chain(&self.or).any(|pattern| fits(pattern.as_str(), line))
    }
}

/// Whether a capability's line fits a pattern.
#[must_use]
pub fn fits(pattern: &str, line: &str) -> bool {
    let (pattern, open) = match pattern.strip_suffix(" ..") {
        Some(pattern) => (pattern, true),
        None => (pattern, false),
    };
    let mut words = line.split(' ');
    let all = pattern.split(' ').all(|want| words.next().is_some_and(|w| want == "*" || want == w));
    all && (open || words.next().is_none())
}

/// Patterns of known kinds, of known words; each ask says what follows.
pub(super) fn check(file: Vec<Ask>, hw: &HwModel, ops: &Ops, diags: &mut Diagnostics) -> Vec<Ask> {
    let known = vocabulary(hw, ops);
    for ask in &file {
        for pattern in std::iter::once(&ask.ask).chain(&ask.or) {
            if let Some(error) = misspelt(pattern, &known) {
                diags.push(error);
            }
        }
        if ask.cannot.is_some() == ask.instead.is_some() {
            let message = format!("`{}` has to say what follows, once", ask.ask.value);
            diags.push(Diagnostic::at(ask.ask.span, message).help(
                "write `cannot` (what programs go without) or `instead` (what is done in its place)",
            ));
        }
    }
    file
}

/// Every word that may stand in a line.
fn vocabulary(hw: &HwModel, ops: &Ops) -> Vec<String> {
    let spaces = Space::ALL.iter().map(|space| format!("{space:?}").to_lowercase());
    let factors = [Factor::A, Factor::B, Factor::C].map(|factor| format!("{factor:?}"));
    let named = hw.dtypes.iter().map(|dtype| dtype.name.value.clone());
    let classes = hw.isas.iter().flat_map(|isa| &isa.classes).map(|class| class.name.value.clone());
    let steps = OpWord::STEPS.iter().map(|(step, _)| (*step).to_string());
    spaces
        .chain(factors)
        .chain(named)
        .chain(classes)
        .chain(steps)
        .chain(super::does::elementwise(ops).map(|(name, _)| name.to_string()))
        .chain(IndexOp::ALL.map(|op| op.name().to_string()))
        .chain(WORDS.map(str::to_string))
        .collect()
}

fn misspelt(pattern: &Name, known: &[String]) -> Option<Diagnostic> {
    let mut words = pattern.as_str().split(' ');
    let kind = words.next().unwrap_or_default();
    let Some((_, _, least)) = KINDS.iter().find(|(name, ..)| *name == kind) else {
        let help = remedy(
            kind,
            KINDS.iter().map(|(name, ..)| *name),
            "`lanebook dispatch --arch ARCH` lists what can be asked",
        );
        let message = format!("`{kind}` is no kind of capability");
        return Some(Diagnostic::at(pattern.span, message).help(help));
    };
    let words: Vec<&str> = words.collect();
    let wild = |word: &str| matches!(word, "*" | "..");
    let named = words.iter().filter(|word| **word != "..").count();
    if named < *least {
        let message = format!("`{kind}` asks for {least} words, here are {named}");
        return Some(Diagnostic::at(pattern.span, message).help("write `*` for any word"));
    }
    let strange = words.iter().find(|word| {
        let name = word.split('/').next().unwrap_or_default();
        let number = word.starts_with(|c: char| c.is_ascii_digit());
        !wild(word) && !number && known.iter().all(|known| known != name)
    })?;
    let help = remedy(
        strange.split('/').next().unwrap_or_default(),
        known.iter().map(String::as_str),
        "`lanebook dispatch --arch ARCH` lists what can be asked",
    );
    let message = format!("nothing is called `{strange}`");
    Some(Diagnostic::at(pattern.span, message).help(help))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_fit_word_by_word() {
        for (pattern, line, want) in [
            ("index add64 * * number", "index add64 b64 b64 number", true),
            ("index add64 * * number", "index add64 b64 b64 b64", false),
            ("index add64 * * number", "index add64 s s extended number", false),
            ("index add64 * * extended *", "index add64 s s extended number", true),
            ("product-tile * ..", "product-tile 16x8", true),
            ("product-tile * ..", "product-tile 16x8 group", true),
            ("product-tile *", "product-tile 16x8 group", false),
            ("product * * * *", "product-tile 16x8", false),
            ("shuffle-xor", "shuffle-xor", true),
            ("fill *", "fill", false),
        ] {
            assert_eq!(fits(pattern, line), want, "{pattern} {line}");
        }
    }
}
