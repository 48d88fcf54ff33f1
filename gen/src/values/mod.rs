//! From the checked model to `lanebook_tables` values.
//!
//! | module | what |
//! | --- | --- |
//! | `leak` | values that live as long as the process |
//! | `names` `dispatch` | the perfect hashes: of names, of what an architecture can do |
//! | `lower` `lower_units` | the model as tables |
//! | `select` | architectures and texts left out of them |
pub mod dispatch;
pub mod leak;
pub mod lower;
pub mod lower_units;
pub mod names;
pub mod select;
