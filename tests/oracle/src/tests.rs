//! The project's own copy of the recorded answers passes.

use crate::{SUITES, own_data, runner};

#[test]
fn own_data_agrees() {
    let report = runner::run(&own_data(), SUITES);
    assert!(report.passed(), "\n{}", report.render(20));
}
