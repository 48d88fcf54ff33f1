//! Numbers that may depend on a parameter of their atom.
use crate::spanned::{Raw, Spanned};
use serde::{Deserialize, Deserializer, de};

/// `4`, or `"{N/2}"`.
#[derive(Clone, Debug, PartialEq)]
pub enum Number<T> {
    /// A number.
    Plain(T),
    /// Text with a parameter, which is a number in each instance of the atom.
    Text(Spanned<String>),
}

impl<T: Copy + Default> Number<T> {
    /// The number. Text has become one wherever an atom's instances are made.
    #[must_use]
    pub fn value(&self) -> T {
        match self {
            Self::Plain(value) => *value,
            Self::Text(_) => T::default(),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Number<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Raw::deserialize(deserializer)?;
        if raw.text().starts_with('"') {
            raw.read().map(Number::Text)
        } else {
            raw.read().map(Number::Plain)
        }
        .map_err(de::Error::custom)
    }
}
