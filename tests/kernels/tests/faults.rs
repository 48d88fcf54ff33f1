//! What the hunt and the checkers are worth: known faults of an emitter, put into the steps of random
//! programs, are found soon.
#![allow(missing_docs)]

use lanebook_kernels::faults::FAULTS;
use lanebook_kernels::parallel;

/// Each within 200 programs by the hunt's own path, and by the checkers of final steps.
#[test]
fn planted_faults_are_found() {
    let mut missed = Vec::new();
    let all = parallel::each(&FAULTS, |fault| fault.hunted(7, 200));
    for (fault, hunted) in FAULTS.iter().zip(all) {
        println!("{} ({}): {hunted:?}", fault.name, fault.arch);
        if hunted.replay.is_none() || hunted.check.is_none() {
            missed.push(format!("{} ({}): {hunted:?}", fault.name, fault.arch));
        }
    }
    assert_eq!(missed, Vec::<String>::new());
}
