//! Inputs: found, read entry by entry with places, and what is said of them.
//!
//! | module | what |
//! | --- | --- |
//! | `files` `source` | files with a part of their own; input files and places in them |
//! | `pattern` | names that fit a pattern |
//! | `lost` `diagnostics` | what could not be read; errors with every place involved |
//! | `tree` `spanned` | RON as a tree, and as values that know their place |
//! | `entries` `families` `params` | entries as they were meant; many atoms written once |
//! | `ledger` `load` | stable numbers; everything that was read, as written |
//! | `layouts` `template` | layouts and instruction texts inside entries |
pub mod diagnostics;
pub mod entries;
pub mod families;
pub mod files;
pub mod layouts;
pub mod ledger;
pub mod load;
pub mod params;
pub mod pattern;
pub mod source;
pub mod spanned;
pub mod suppressed;
pub mod template;
pub mod tree;
