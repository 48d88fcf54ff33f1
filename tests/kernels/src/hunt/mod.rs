//! The hunt: random programs of the whole language, each compiled for every architecture,
//! assembled, checked, run and compared with what its text says. A program that comes out wrong is
//! made small.

mod addressed;
mod anchors;
pub mod assemble;
mod bounds;
mod branches;
mod calls;
pub mod choices;
mod corner;
mod elements;
mod expressions;
mod flow;
pub mod generate;
mod halo;
mod halves;
mod indices;
pub mod kinds;
mod line;
mod masks;
mod memory;
mod mixture;
mod nests;
mod parts;
mod places;
pub mod planted;
pub mod program;
mod ranks;
mod recurrences;
pub mod report;
mod revisit;
pub mod shrink;
mod spread;
mod stages;
mod sums;
mod turns;
pub mod verdict;
mod whole;

use crate::Workshop;
use assemble::Batches;
use choices::Choices;
use kinds::{KINDS, generate};
use program::Program;
use report::{Found, Report};
use std::collections::BTreeMap;
use std::time::Instant;
use verdict::{Built, Reference, Symptom, judged, references, unnamed};

/// What is hunted.
#[derive(Clone, Debug)]
pub struct Wish {
    /// Programs are made from this number on.
    pub seed: u64,
    /// Number of the first program.
    pub first: usize,
    /// Programs.
    pub count: usize,
    /// Architectures; all if empty.
    pub archs: Vec<String>,
    /// Kinds; all if empty.
    pub kinds: Vec<String>,
    /// No program is begun after so many seconds.
    pub seconds: Option<u64>,
    /// Whether the vendors' assemblers read the texts.
    pub assemble: bool,
    /// Whether wrong programs are made small.
    pub shrink: bool,
    /// A refusal whose reason has this in it is made small, too.
    pub refusal: Option<String>,
}

impl Wish {
    /// Architectures that are meant.
    #[must_use]
    pub fn architectures(&self) -> Vec<String> {
        if self.archs.is_empty() {
            lanebook::TABLES.archs.iter().map(|a| a.name.to_string()).collect()
        } else {
            self.archs.clone()
        }
    }

    /// The program of a number.
    #[must_use]
    pub fn program(&self, number: usize) -> Option<Program> {
        let kinds: Vec<&str> = KINDS
            .iter()
            .map(|(name, _)| *name)
            .filter(|name| self.kinds.is_empty() || self.kinds.iter().any(|k| k == name))
            .collect();
        let kind = kinds.get(number % kinds.len().max(1))?;
        generate(
            kind,
            Choices::seeded(self.seed.wrapping_mul(1_000_003).wrapping_add(number as u64)),
        )
    }
}

/// Hunts; each program that is found wrong is given to `seen`.
pub fn hunt(wish: &Wish, mut seen: impl FnMut(&Found)) -> Report {
    let mut report = Report::default();
    let mut workshop = Workshop::default();
    let mut batches = Batches::default();
    let archs = wish.architectures();
    let begun = Instant::now();
    for number in wish.first..wish.first + wish.count {
        let Some(program) = wish
            .program(number)
            .filter(|_| wish.seconds.is_none_or(|most| begun.elapsed().as_secs() < most))
        else {
            break;
        };
        let text = program.text(&format!("f{number}"));
        report.programs += 1;
        let known = match references(&text) {
            Ok(known) => known,
            Err(why) => {
                report.not_understood.push(format!("{why}\n{text}"));
                continue;
            }
        };
        let mut wrong: BTreeMap<String, (Symptom, Vec<String>)> = BTreeMap::new();
        let mut done: Vec<(String, Result<(), Symptom>)> = Vec::new();
        for arch in &archs {
            let outcome = pair(&mut workshop, &text, arch, &known, &mut done);
            if let Ok(Some(text)) = &outcome
                && wish.assemble
            {
                let bad = batches.add(arch, number, text.clone());
                report.unassembled(wish, bad, &mut seen);
            }
            match outcome {
                Ok(Some(_)) => report.right += 1,
                Ok(None) => {}
                Err(Verdict::Refused(why)) => {
                    let is_new = report.refuse(number, arch, &why);
                    if is_new && wish.refusal.as_ref().is_some_and(|part| why.contains(part)) {
                        let symptom = Symptom {
                            class: REFUSED.to_string(),
                            turns: None,
                            detail: why.clone(),
                        };
                        let small = smaller(&mut workshop, &program, arch, &symptom);
                        seen(&Found {
                            seed: wish.seed,
                            number,
                            program: small,
                            archs: vec![arch.clone()],
                            symptom,
                        });
                    }
                }
                Err(Verdict::Wrong(symptom)) => {
                    report.wrong += 1;
                    wrong
                        .entry(symptom.class.clone())
                        .or_insert((symptom, Vec::new()))
                        .1
                        .push(arch.clone());
                }
            }
        }
        for (symptom, archs) in wrong.into_values() {
            let small = if wish.shrink {
                smaller(&mut workshop, &program, &archs[0], &symptom)
            } else {
                program.clone()
            };
            let found = Found { seed: wish.seed, number, program: small, archs, symptom };
            seen(&found);
            report.found.push(found);
        }
    }
    let bad = batches.finish();
    report.unassembled(wish, bad, &mut seen);
    report
}

/// Class of a refusal that is made small.
const REFUSED: &str = "refused";

/// Why a pair is not right.
pub enum Verdict {
    /// Refused.
    Refused(String),
    /// Wrong.
    Wrong(Symptom),
}

/// Compiles and judges one program on one architecture; the text, if it is right. What was judged
/// before on another architecture with the same text is in `done`.
///
/// # Errors
/// That it is refused, or wrong.
pub fn pair(
    workshop: &mut Workshop,
    text: &str,
    arch: &str,
    known: &[Reference],
    done: &mut Vec<(String, Result<(), Symptom>)>,
) -> Result<Option<String>, Verdict> {
    let emitted = match workshop.build(text, arch) {
        Built::Refused(why) => return Err(Verdict::Refused(why)),
        Built::Broken(symptom) => return Err(Verdict::Wrong(symptom)),
        Built::Kernel(emitted) => emitted,
    };
    let key = format!("{}{:?}", unnamed(&emitted.text, arch), emitted.maps);
    let verdict = match done.iter().find(|(k, _)| *k == key) {
        Some((_, verdict)) => verdict.clone(),
        None => {
            let verdict = judged(&emitted, arch, known, None);
            done.push((key, verdict.clone()));
            verdict
        }
    };
    verdict.map_err(Verdict::Wrong)?;
    if let Err(said) = emitted.checked {
        return Err(Verdict::Wrong(Symptom {
            class: format!("check {}", said.split([' ', '(', '{']).next().unwrap_or("")),
            turns: None,
            detail: said,
        }));
    }
    Ok(Some(emitted.text))
}

/// Whether a program is wrong on an architecture in the same way.
fn same(workshop: &mut Workshop, program: &Program, arch: &str, symptom: &Symptom) -> bool {
    let text = program.text("f");
    let Ok(known) = references(&text) else { return false };
    let known: Vec<Reference> =
        known.into_iter().filter(|r| symptom.turns.is_none_or(|turns| r.turns == turns)).collect();
    match pair(workshop, &text, arch, &known, &mut Vec::new()) {
        // A program that reads what nothing wrote has no run.
        _ if known.is_empty() => false,
        Err(Verdict::Wrong(other)) => other.class == symptom.class,
        Err(Verdict::Refused(why)) => {
            symptom.class == REFUSED && report::reason(&why) == report::reason(&symptom.detail)
        }
        _ => false,
    }
}

/// A small program that is wrong in the same way.
#[must_use]
pub fn smaller(
    workshop: &mut Workshop,
    program: &Program,
    arch: &str,
    symptom: &Symptom,
) -> Program {
    shrink::shrink(program, |candidate| same(workshop, candidate, arch, symptom))
}
