//! What becomes of findings: levels of checks, suppressions with their reasons, and a baseline.
//!
//! `check.ron`, beside hw-tables/, says what a project has decided; the command line goes before it.
//! Errors of the compiler cannot be lowered: tables that have some are no tables.
use super::fingerprint::fingerprints;
use crate::args::{Check, DENIED};
use lanebook_gen::audit;
use lanebook_gen::diagnostics::{Diagnostic, Diagnostics, Level};
use lanebook_gen::source::Sources;
use lanebook_report::problem::Problem;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The file of levels and suppressions, beside hw-tables/.
pub const FILE: &str = "check.ron";
/// The check that findings about suppressions and baselines carry.
pub const SUPPRESSIONS: &str = audit::SUPPRESSIONS;

/// What becomes of the findings of a check.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Wanted {
    /// They are errors.
    Deny,
    /// They are warnings.
    Warn,
    /// They are left out.
    Allow,
}

/// What a project has decided.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Decided {
    levels: BTreeMap<String, Wanted>,
    suppressed: Vec<Suppressed>,
}

/// A finding that is not to be shown.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Suppressed {
    /// The check.
    check: String,
    /// The file of the finding's first place, relative to the root.
    file: String,
    /// A part of what is said.
    says: String,
    /// Why it is right as it is.
    reason: String,
    /// The last day on which this holds: `2027-01-31`.
    #[serde(default)]
    until: Option<String>,
}

/// Findings that were there before.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Baseline {
    findings: Vec<Known>,
}

/// One of them; the fingerprint alone is compared.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Known {
    fingerprint: String,
    check: String,
    file: String,
    message: String,
}

/// Levels, suppressions and baseline of a run.
pub struct Decisions {
    levels: BTreeMap<String, Wanted>,
    suppressed: Vec<Suppressed>,
    /// Where the suppressions stand.
    config: PathBuf,
    baseline: Option<(PathBuf, Baseline)>,
    today: String,
}

impl Decisions {
    /// Those of the command line, and of the files that it names or that stand beside the tables.
    ///
    /// # Errors
    /// If a file cannot be read or is no such file, a check is unknown or one of the compiler's, or
    /// a suppression has no reason.
    pub fn of(args: &Check, root: &Path) -> Result<Self, Problem> {
        let beside = root.join(FILE);
        let config = args.config.clone().or_else(|| beside.is_file().then_some(beside));
        let decided: Decided = match &config {
            Some(path) => read(path)?,
            None => Decided::default(),
        };
        let mut levels = decided.levels;
        levels.extend(args.allow.iter().map(|name| (name.clone(), Wanted::Allow)));
        levels.extend(args.warn.iter().map(|name| (name.clone(), Wanted::Warn)));
        let checks = args.deny.iter().filter(|name| !DENIED.contains(&name.as_str()));
        levels.extend(checks.map(|name| (name.clone(), Wanted::Deny)));
        for (name, wanted) in &levels {
            known(name)?;
            let own = audit::ALL.iter().any(|(own, _)| own == name)
                || [SUPPRESSIONS, audit::ASSEMBLER].contains(&name.as_str());
            if !own && *wanted != Wanted::Deny {
                return Err(Problem::usage(
                    format!(
                        "`{name}` cannot be lowered: what it finds keeps tables from compiling, or was asked for"
                    ),
                    "levels are those of the audit's own checks",
                ));
            }
        }
        for one in &decided.suppressed {
            known(&one.check)?;
            if one.reason.trim().is_empty() || one.says.trim().is_empty() {
                return Err(Problem::usage(
                    format!("a suppression of `{}` without a reason, or of anything", one.check),
                    "say in `reason` why it is right as it is, and in `says` a part of the message",
                ));
            }
            if one.until.as_ref().is_some_and(|day| !is_day(day)) {
                return Err(Problem::usage(
                    format!("`until` of a suppression of `{}` is no day", one.check),
                    "write it as 2027-01-31",
                ));
            }
        }
        let baseline = match &args.baseline {
            Some(path) => Some((path.clone(), read(path)?)),
            None => None,
        };
        Ok(Self {
            levels,
            suppressed: decided.suppressed,
            config: config.unwrap_or_default(),
            baseline,
            today: today(),
        })
    }

    /// What is left of findings, and what is to be said of suppressions and baseline.
    pub fn apply(&self, found: Diagnostics, sources: &Sources) -> Diagnostics {
        let prints = fingerprints(found.iter(), sources);
        let known: BTreeSet<&str> = self
            .baseline
            .iter()
            .flat_map(|(_, b)| &b.findings)
            .map(|one| one.fingerprint.as_str())
            .collect();
        let mut used = BTreeSet::new();
        let mut met = BTreeSet::new();
        let mut out = Diagnostics::new();
        for (one, print) in found.iter().zip(&prints) {
            if known.contains(print.as_str()) {
                met.insert(print.as_str());
                continue;
            }
            let by = self.suppressed.iter().position(|by| by.covers(one, sources));
            if let Some(number) = by {
                used.insert(number);
                if !self.ended(&self.suppressed[number]) {
                    continue;
                }
            }
            match self.levels.get(one.check) {
                Some(Wanted::Allow) => {}
                Some(Wanted::Warn) => out.push(one.clone().as_level(Level::Warning)),
                Some(Wanted::Deny) => out.push(one.clone().as_level(Level::Error)),
                None => out.push(one.clone()),
            }
        }
        let mut said = Diagnostics::new();
        for (number, one) in self.suppressed.iter().enumerate() {
            let place = format!(
                "{}: suppression of `{}` in {}",
                self.config.display(),
                one.check,
                one.file
            );
            if !used.contains(&number) {
                let message = format!("{place}: nothing says `{}` there", one.says);
                said.push(Diagnostic::nowhere(message).help("remove it").as_level(Level::Warning));
            } else if self.ended(one) {
                let until = one.until.as_deref().unwrap_or("");
                let message = format!("{place}: it held until {until}");
                said.push(
                    Diagnostic::nowhere(message)
                        .help("mend what was found, or give a new day with a reason")
                        .as_level(Level::Warning),
                );
            }
        }
        if let Some((path, baseline)) = &self.baseline
            && let gone @ 1.. = baseline.findings.len() - met.len()
        {
            let message = format!(
                "{}: {gone} of {} findings are not there any more",
                path.display(),
                baseline.findings.len()
            );
            said.push(
                Diagnostic::nowhere(message)
                    .help("write the baseline again with --write-baseline, so that they cannot come back unseen")
                    .as_level(Level::Note),
            );
        }
        out.extend(said.named(SUPPRESSIONS));
        out
    }

    fn ended(&self, one: &Suppressed) -> bool {
        one.until.as_ref().is_some_and(|day| *day < self.today)
    }
}

impl Suppressed {
    fn covers(&self, one: &Diagnostic, sources: &Sources) -> bool {
        let file = one.labels.first().map(|label| sources.file(label.span.file).name.as_str());
        one.check == self.check && file == Some(&self.file) && one.message.contains(&self.says)
    }
}

/// The findings as a baseline.
///
/// # Errors
/// If it cannot be written as RON, which is a fault of this program.
pub fn baseline(found: &[&Diagnostic], sources: &Sources) -> Result<String, Problem> {
    let prints = fingerprints(found.iter().copied(), sources);
    let findings = found
        .iter()
        .zip(prints)
        .filter(|(one, _)| one.level <= Level::Warning)
        .map(|(one, fingerprint)| Known {
            fingerprint,
            check: one.check.to_string(),
            file: one
                .labels
                .first()
                .map_or_else(String::new, |label| sources.file(label.span.file).name.clone()),
            message: one.message.clone(),
        })
        .collect();
    ron::ser::to_string_pretty(&Baseline { findings }, ron::ser::PrettyConfig::default())
        .map(|text| text + "\n")
        .map_err(|error| {
            Problem::internal(
                format!("the baseline cannot be written: {error}"),
                "report this with the tables",
            )
        })
}

fn known(name: &str) -> Result<(), Problem> {
    if audit::named(name).is_some() {
        return Ok(());
    }
    let near = lanebook_suggest::nearest(name, audit::CHECKS.iter().map(|check| check.name));
    Err(Problem::usage(
        format!("there is no check `{name}`"),
        near.map_or_else(
            || "`lanebook check --list` names them".to_string(),
            |near| format!("did you mean `{near}`?"),
        ),
    ))
}

fn read<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, Problem> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        Problem::system(
            format!("cannot read {}: {error}", path.display()),
            "name a file that there is",
        )
    })?;
    ron::Options::default()
        .with_default_extension(ron::extensions::Extensions::IMPLICIT_SOME)
        .from_str(&text)
        .map_err(|error| {
            Problem::usage(
                format!("{}:{}: {}", path.display(), error.span.start, error.code),
                "`lanebook check --help` shows such a file",
            )
        })
}

/// `2027-01-31`.
fn is_day(text: &str) -> bool {
    let digits = |part: Option<&str>, count: usize| {
        part.is_some_and(|part| part.len() == count && part.bytes().all(|b| b.is_ascii_digit()))
    };
    let mut parts = text.split('-');
    digits(parts.next(), 4)
        && digits(parts.next(), 2)
        && digits(parts.next(), 2)
        && parts.next().is_none()
}

/// Today by the clock of this machine, at Greenwich.
fn today() -> String {
    jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).date().to_string()
}
