//! Values that live as long as the process: how host tools make `lanebook_tables` values.
use lanebook_tables as t;

/// Leaks a list; an empty one costs nothing.
pub fn list<T>(items: impl IntoIterator<Item = T>) -> &'static [T] {
    let items: Vec<T> = items.into_iter().collect();
    if items.is_empty() { &[] } else { Vec::leak(items) }
}

/// Leaks a list that is referred to by one address; an empty one costs nothing.
pub fn shared<T>(items: impl IntoIterator<Item = T>) -> t::List<'static, T> {
    let items = list(items);
    t::List((!items.is_empty()).then(|| one(items)))
}

/// Leaks a text that is referred to by one address.
pub fn name(s: &str) -> t::Name<'static> {
    t::Name((!s.is_empty()).then(|| one(text(s))))
}

/// Leaks a value.
pub fn one<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

/// Leaks a text.
#[must_use]
pub fn text(s: &str) -> &'static str {
    if s.is_empty() { "" } else { String::leak(s.to_string()) }
}
