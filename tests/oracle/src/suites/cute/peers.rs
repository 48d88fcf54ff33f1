//! What the peers answered, and how lanebook's answer is compared with it.

use super::super::Verdict;
use super::{reference, rules};
use lanebook_layout::cute::IntTuple;
use lanebook_layout::notation::cute;
use lanebook_layout::{Error, Layout, NoSyms, SymTable, WellKnown};
use serde_json::Value;

/// One peer's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Peer {
    /// A text.
    Ok(String),
    /// It raised.
    Refused,
    /// It died, or returned its error marker.
    Broken,
    /// It was not asked.
    Unasked,
}

/// The answers of both peers.
pub fn answers(record: &Value) -> [Peer; 2] {
    ["dsl", "pycute"].map(|name| {
        let Some(answer) = record.get(name) else {
            return Peer::Unasked;
        };
        if let Some(text) = answer.get("ok").and_then(Value::as_str) {
            // CuTe DSL leaves the `>` of a negative shift out.
            return Peer::Ok(text.to_owned());
        }
        match answer.get("err").and_then(Value::as_str) {
            Some("PROCESS_ABORT" | "ERROR_MARKER") => Peer::Broken,
            Some(_) => Peer::Refused,
            None => Peer::Unasked,
        }
    })
}

/// The texts of the peers that answered.
pub fn texts(record: &Value) -> Vec<String> {
    let text = |p| {
        if let Peer::Ok(text) = p { Some(text) } else { None }
    };
    answers(record).into_iter().filter_map(text).collect()
}

/// An input as text; numbers are spelled, lists too. Empty if it is absent.
pub fn input(record: &Value, key: &str) -> String {
    match record.get("in").and_then(|i| i.get(key)) {
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => String::new(),
    }
}

/// The text with the peer's missing `>` put back.
fn closed(text: &str) -> String {
    let mut text = text.to_owned();
    if text.starts_with("S<")
        && let Some(end) = text.find(" o ")
        && !text[..end].contains('>')
    {
        text.insert(end, '>');
    }
    text
}

/// A layout, with the peer's missing `>` put back.
pub fn layout(text: &str) -> Result<Layout, String> {
    let text = closed(text);
    cute::parse(&text, &WellKnown, &mut SymTable::new()).map_err(|e| format!("{text}: {e:?}"))
}

/// A tree of numbers.
pub fn tuple(text: &str) -> Result<IntTuple, String> {
    cute::parse_tuple(text, &mut NoSyms).map_err(|e| format!("{text}: {e:?}"))
}

/// The text of a layout.
pub fn show(l: &Layout) -> String {
    let mut out = String::new();
    match cute::print(&l.view(), &WellKnown, &SymTable::new(), &mut out) {
        Ok(()) => out,
        Err(e) => format!("{e:?}"),
    }
}

/// The text of a tree.
pub fn show_tuple(t: &IntTuple) -> String {
    let mut out = String::new();
    match cute::print_tuple(t.view(), &NoSyms, &mut out) {
        Ok(()) => out,
        Err(e) => format!("{e:?}"),
    }
}

/// Whether two layouts are spelled alike, but for the strides of extents of 1.
pub fn alike(a: &Layout, b: &Layout) -> bool {
    reference::same_but_units(&show(a), &show(b))
}

/// lanebook's answer as a text, a layout, or a refusal.
#[derive(Clone, Debug)]
pub enum Ours {
    /// Compared as text.
    Text(String),
    /// Compared as text first, then as a function on the same modes.
    Layout(Box<Layout>),
    /// Compared as text only.
    Exact(Box<Layout>),
    /// Refused.
    Refused(Error),
}

impl Ours {
    /// A layout whose spelling is free.
    pub fn function(answer: Result<Layout, Error>) -> Self {
        answer.map_or_else(Self::Refused, |l| Self::Layout(Box::new(l)))
    }

    /// A layout whose spelling is fixed.
    pub fn exact(answer: Result<Layout, Error>) -> Self {
        answer.map_or_else(Self::Refused, |l| Self::Exact(Box::new(l)))
    }

    /// A number or other text.
    pub fn text(answer: Result<impl ToString, Error>) -> Self {
        answer.map_or_else(Self::Refused, |t| Self::Text(t.to_string()))
    }

    /// The answer in words.
    pub fn words(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Layout(l) | Self::Exact(l) => show(l),
            Self::Refused(e) => format!("refused: {e:?}"),
        }
    }

    fn is(&self, text: &str) -> bool {
        let (words, text) = (self.words(), &closed(text));
        if words == *text || words.replace(' ', "") == text.replace(' ', "") {
            return true;
        }
        match self {
            Self::Layout(_) => reference::same_but_units(&words, text),
            _ => false,
        }
    }
}

/// What is done where lanebook and the peers part. Each gives the rule that upholds lanebook, if it
/// holds here.
pub struct Rules<'r> {
    /// Whether lanebook's answer satisfies the operation's law; a message says where not.
    pub law: &'r dyn Fn() -> Result<(), String>,
    /// lanebook answers, and no peer has this answer.
    pub differs: &'r dyn Fn() -> Option<&'static str>,
    /// lanebook refuses, and this peer's text is an answer: is it wrong?
    pub wrong: &'r dyn Fn(&str) -> Option<&'static str>,
    /// Under which rule an answer stands that every peer refuses.
    pub refused_by_peers: &'static str,
}

/// No law, and no excuse.
pub const PLAIN: Rules<'static> =
    Rules { law: &|| Ok(()), differs: &|| None, wrong: &|_| None, refused_by_peers: "" };

/// The verdict.
pub fn judge(record: &Value, ours: &Ours, rules: &Rules<'_>) -> Verdict {
    let answers = answers(record);
    if answers.iter().all(|a| *a == Peer::Unasked) {
        return Verdict::Skipped(rules::NOBODY);
    }
    let texts = texts(record);
    let differ = |why: &str| {
        let peers = texts.join("  or  ");
        Verdict::Differ(format!("{why}{}: peer {peers:?}, lanebook {}", record["in"], ours.words()))
    };
    if let Ours::Refused(_) = ours {
        if texts.is_empty() {
            let refused = answers.contains(&Peer::Refused);
            return Verdict::Refused(if refused { rules::BOTH } else { rules::NO_ANSWER_REFUSED });
        }
        let mut reason = None;
        for text in &texts {
            match (rules.wrong)(text) {
                Some(rule) => reason = Some(rule),
                None => return differ(""),
            }
        }
        return reason.map_or_else(|| differ(""), Verdict::Refused);
    }
    if let Err(why) = (rules.law)() {
        return differ(&format!("the law is broken ({why}), "));
    }
    if texts.iter().any(|t| ours.is(t)) {
        return Verdict::Agree;
    }
    if let Some(rule) = (rules.differs)() {
        return Verdict::Ruled(rule);
    }
    if !texts.is_empty() || rules.refused_by_peers.is_empty() {
        return differ("");
    }
    let broken = answers.contains(&Peer::Broken);
    Verdict::Ruled(if broken { rules::NO_ANSWER } else { rules.refused_by_peers })
}
