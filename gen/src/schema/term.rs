//! Terms: s-expressions as RON tuples, the form shared by `means` of atoms and by rules.
use crate::spanned::{Raw, Spanned};
use serde::{Deserialize, Deserializer, de};
use std::fmt;

/// `("add", "x", 4)`: a word with arguments, each with its place.
#[derive(Clone, Debug, PartialEq)]
pub enum Term {
    /// A constant.
    Int(i64),
    /// A variable: an operand's name, or a rule's slot.
    Name(String),
    /// The word and its arguments.
    Call(Spanned<String>, Vec<Spanned<Term>>),
}

impl<'de> Deserialize<'de> for Term {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Raw::deserialize(deserializer)?;
        match raw.text().chars().next() {
            Some('(') => raw.read::<Call>().map(|call| Term::Call(call.0, call.1)),
            Some('"' | 'r') => raw.read().map(Term::Name),
            _ => raw.read().map(Term::Int),
        }
        .map_err(de::Error::custom)
    }
}

struct Call(Spanned<String>, Vec<Spanned<Term>>);

impl<'de> Deserialize<'de> for Call {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> de::Visitor<'de> for Visitor {
            type Value = Call;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a term: a word in quotes, then its arguments")
            }
            fn visit_seq<A: de::SeqAccess<'de>>(self, mut seq: A) -> Result<Call, A::Error> {
                let word =
                    seq.next_element()?.ok_or_else(|| de::Error::invalid_length(0, &self))?;
                let mut args = Vec::new();
                while let Some(arg) = seq.next_element()? {
                    args.push(arg);
                }
                Ok(Call(word, args))
            }
        }
        deserializer.deserialize_tuple(0, Visitor)
    }
}
