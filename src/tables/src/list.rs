//! References of one word: to lists and texts that many entries of a table share.
//!
//! A slice's reference is an address and a length, 16 bytes where pointers have 8. Entries that say
//! the same refer to one slice, which stands once; each of them then holds the address alone. They
//! read like the slices that they are.
use core::fmt;
use core::ops::Deref;

/// A list by one address; an empty one is none.
pub struct List<'a, T>(pub Option<&'a &'a [T]>);

/// A [`List`] of constants: `list![OffsetField { .. }, ..]`.
#[macro_export]
macro_rules! list {
    () => { $crate::List::EMPTY };
    ($($item:expr),+ $(,)?) => { $crate::List(Some(&(&[$($item),+] as &[_]))) };
}

/// A text by one address; an empty one is none.
#[derive(Copy, Clone, Default)]
pub struct Name<'a>(pub Option<&'a &'a str>);

impl<'a, T> List<'a, T> {
    /// Nothing.
    pub const EMPTY: Self = Self(None);

    /// The list for as long as the tables are there.
    #[must_use]
    #[inline]
    pub fn slice(self) -> &'a [T] {
        self.0.copied().unwrap_or(&[])
    }
}

impl<T> Copy for List<'_, T> {}

impl<T> Clone for List<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Default for List<'_, T> {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl<T> Deref for List<'_, T> {
    type Target = [T];
    #[inline]
    fn deref(&self) -> &[T] {
        self.slice()
    }
}

impl<'a, T> IntoIterator for List<'a, T> {
    type Item = &'a T;
    type IntoIter = core::slice::Iter<'a, T>;
    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.slice().iter()
    }
}

impl<T: fmt::Debug> fmt::Debug for List<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.slice().fmt(f)
    }
}

impl<T: PartialEq> PartialEq for List<'_, T> {
    fn eq(&self, other: &Self) -> bool {
        self.slice() == other.slice()
    }
}

impl<T: Eq> Eq for List<'_, T> {}

impl<'a> Name<'a> {
    /// Nothing.
    pub const EMPTY: Self = Self(None);

    /// The text for as long as the tables are there.
    #[must_use]
    #[inline]
    pub fn text(self) -> &'a str {
        self.0.copied().unwrap_or("")
    }
}

impl Deref for Name<'_> {
    type Target = str;
    #[inline]
    fn deref(&self) -> &str {
        self.text()
    }
}

impl fmt::Debug for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text().fmt(f)
    }
}

impl PartialEq for Name<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}

impl Eq for Name<'_> {}

impl PartialEq<str> for Name<'_> {
    fn eq(&self, other: &str) -> bool {
        self.text() == other
    }
}

impl PartialEq<&str> for Name<'_> {
    fn eq(&self, other: &&str) -> bool {
        self.text() == *other
    }
}

impl PartialEq<Name<'_>> for &str {
    fn eq(&self, other: &Name<'_>) -> bool {
        *self == other.text()
    }
}
