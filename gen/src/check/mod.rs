//! Checks of the resolved model, one file each. Any can be run alone; none changes anything.
//!
//! A check reports every violation that it finds, with all the places involved. A check that needs
//! a sound part of the model which another check (or resolving) has refused says nothing about it.
pub mod archs;
pub mod banks;
pub mod coverage;
pub mod matrix;
pub mod movement;
pub mod operands;
pub mod params;
pub mod sync;
pub mod template;
mod tiled;
pub mod units;

use crate::diagnostics::Diagnostics;
use crate::model::HwModel;

/// A check with the name by which it can be run alone.
pub type Check = (&'static str, fn(&HwModel) -> Diagnostics);

/// All checks in the order in which a build runs them.
pub const ALL: [Check; 9] = [
    ("operands", operands::check),
    ("template", template::check),
    ("movement", movement::check),
    ("matrix", matrix::check),
    ("coverage", coverage::check),
    ("banks", banks::check),
    ("archs", archs::check),
    ("sync", sync::check),
    ("units", units::check),
];

/// Runs all checks.
#[must_use]
pub fn all(model: &HwModel) -> Diagnostics {
    let mut diags = Diagnostics::new();
    for (name, check) in ALL {
        diags.extend(check(model).named(name));
    }
    diags
}
