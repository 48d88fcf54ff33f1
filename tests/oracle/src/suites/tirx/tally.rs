//! The verdict on a record that holds several answers.

use crate::suites::Verdict;

/// Collects what the comparisons of one record say.
#[derive(Default)]
pub struct Tally {
    agreed: usize,
    ruled: Option<&'static str>,
    refused: Option<&'static str>,
    differ: Option<String>,
}

impl Tally {
    /// Two answers agree, or `what` says how they differ.
    pub fn same(&mut self, agree: bool, what: impl FnOnce() -> String) {
        if agree {
            self.agreed += 1;
        } else {
            self.differ.get_or_insert_with(what);
        }
    }

    /// A comparison that ended in agreement or an account of the difference.
    pub fn check(&mut self, label: &str, result: Result<(), String>) {
        match result {
            Ok(()) => self.agreed += 1,
            Err(what) => self.differ(format!("{label}: {what}")),
        }
    }

    /// A difference.
    pub fn differ(&mut self, what: String) {
        self.differ.get_or_insert(what);
    }

    /// lanebook's answer is upheld against the peer's.
    pub fn rule(&mut self, why: &'static str) {
        self.ruled.get_or_insert(why);
    }

    /// lanebook refuses, rightly.
    pub fn refuse(&mut self, why: &'static str) {
        self.refused.get_or_insert(why);
    }

    /// A difference if there is one, else a ruling, else agreement, else a refusal.
    pub fn verdict(self) -> Verdict {
        match (self.differ, self.ruled, self.refused) {
            (Some(what), ..) => Verdict::Differ(what),
            (None, Some(why), _) => Verdict::Ruled(why),
            (None, None, Some(why)) if self.agreed == 0 => Verdict::Refused(why),
            _ if self.agreed > 0 => Verdict::Agree,
            _ => Verdict::Unexplained("nothing was compared"),
        }
    }
}
