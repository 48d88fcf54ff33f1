//! Text: what the peer's type parser understood, printed back.

use super::super::Verdict;
use super::peers::{Peer, answers, input};
use super::rules;
use lanebook_layout::notation::{Expected, ParseError, basis, cute};
use lanebook_layout::{Error, SymTable, WellKnown};
use serde_json::Value;

/// What lanebook reads in a text, printed again.
fn read(op: &str, text: &str) -> Result<String, ParseError> {
    let mut syms = SymTable::new();
    let mut out = String::new();
    match op {
        "parse_stride" => {
            let strides = basis::parse_strides(text, &mut syms)?;
            let _ = basis::print(&strides, &syms, &mut out);
        }
        "parse_swizzle" => {
            let swizzle = cute::parse_swizzle(text)?;
            let _ = cute::print_swizzle(swizzle, &mut out);
        }
        _ => {
            let layout = cute::parse(text, &WellKnown, &mut syms)?;
            let _ = cute::print(&layout.view(), &WellKnown, &syms, &mut out);
        }
    }
    Ok(out)
}

/// The verdict on one record.
pub fn judge(op: &str, r: &Value) -> Verdict {
    let text = input(r, "text");
    let [peer, _] = answers(r);
    let differ =
        |found: String| Verdict::Differ(format!("{text:?}: peer {peer:?}, lanebook {found}"));
    let theirs = match &peer {
        Peer::Unasked => return Verdict::Skipped(rules::NOBODY),
        Peer::Ok(theirs) => Some(theirs),
        Peer::Refused | Peer::Broken => None,
    };
    match (read(op, &text), theirs) {
        (Err(_), None) => Verdict::Refused(rules::BOTH),
        (Ok(_), None) if text.contains('\n') => Verdict::Ruled(rules::BLANKS),
        (Ok(ours), None) => differ(ours),
        (Err(why), Some(theirs)) => match excuse(&text, theirs, why) {
            Some(rule) => Verdict::Refused(rule),
            None => differ(format!("{why:?}")),
        },
        (Ok(ours), Some(theirs)) if ours == *theirs => Verdict::Agree,
        // The peer's print, read again, is the same layout: spelling of run-time values, fractions
        // not reduced.
        (Ok(ours), Some(theirs)) if read(op, theirs).as_ref() == Ok(&ours) => {
            if theirs.contains('/') { Verdict::Ruled(rules::REDUCED) } else { Verdict::Agree }
        }
        (Ok(ours), Some(theirs)) if op == "parse_swizzle" && is_default(theirs) => {
            if cute::parse_swizzle(&text).is_ok() {
                Verdict::Ruled(rules::SWIZZLE_RANGE)
            } else {
                differ(ours)
            }
        }
        (Ok(ours), Some(theirs)) if is_default(theirs) && ours.contains(char::is_alphabetic) => {
            Verdict::Ruled(rules::SYMBOLS)
        }
        (Ok(ours), Some(theirs)) => {
            // A swizzle of no bits is no swizzle.
            let (a, b) = (super::peers::layout(&ours), super::peers::layout(theirs));
            match (a, b) {
                (Ok(a), Ok(b)) if super::peers::alike(&a, &b) => Verdict::Agree,
                _ => differ(ours),
            }
        }
    }
}

/// What the peer makes of text that it does not understand.
fn is_default(answer: &str) -> bool {
    matches!(answer, "():()" | "()" | "S<0,4,3>")
}

/// Why lanebook may refuse what the peer takes.
fn excuse(text: &str, theirs: &str, why: ParseError) -> Option<&'static str> {
    let plain: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    if is_default(theirs) && !is_default(&plain) {
        return Some(rules::DEFAULTED);
    }
    let capacity = matches!(
        why.expected,
        Expected::BasisNumber | Expected::SmallerNumber | Expected::Fits(Error::Capacity { .. })
    );
    if capacity {
        return Some(rules::CAPACITY);
    }
    let parts = plain.matches('o').count();
    if parts >= 2 && (!plain.starts_with("S<") || plain.contains("oS<")) {
        return Some(rules::OUTER_LAYOUT);
    }
    let lax = plain.contains(",)")
        || !plain.contains(':')
        || plain.contains("@-")
        || plain.contains('\\');
    lax.then_some(rules::LAXER)
}
