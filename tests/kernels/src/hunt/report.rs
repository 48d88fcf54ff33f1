//! What a hunt found.

use super::Wish;
use super::assemble::Unassembled;
use super::program::Program;
use super::verdict::Symptom;
use std::collections::BTreeMap;
use std::fmt;

/// A wrong program.
#[derive(Clone, Debug)]
pub struct Found {
    /// Seed of the hunt.
    pub seed: u64,
    /// Number of the program.
    pub number: usize,
    /// The program, made small.
    pub program: Program,
    /// Where the original is wrong in this way.
    pub archs: Vec<String>,
    /// How.
    pub symptom: Symptom,
}

/// Counts of a hunt.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Programs.
    pub programs: usize,
    /// Pairs of program and architecture that are right.
    pub right: usize,
    /// Pairs that are wrong.
    pub wrong: usize,
    /// Pairs that are refused, by reason; of each the first program and architecture.
    pub refused: BTreeMap<String, (usize, usize, String)>,
    /// Programs that the interpreter does not understand: faults of the hunt itself.
    pub not_understood: Vec<String>,
    /// Wrong programs.
    pub found: Vec<Found>,
}

/// A refusal's reason without the numbers of operations.
pub(super) fn reason(why: &str) -> String {
    let reason: String = why.chars().filter(|c| !c.is_ascii_digit()).collect();
    reason.chars().take(90).collect()
}

impl Report {
    /// Counts a refusal; whether it is the first for its reason.
    pub(super) fn refuse(&mut self, number: usize, arch: &str, why: &str) -> bool {
        let entry =
            self.refused.entry(reason(why)).or_insert_with(|| (0, number, arch.to_string()));
        entry.0 += 1;
        entry.0 == 1
    }

    pub(super) fn unassembled(
        &mut self,
        wish: &Wish,
        bad: Vec<Unassembled>,
        seen: &mut dyn FnMut(&Found),
    ) {
        for (number, arch, said) in bad {
            let Some(program) = wish.program(number) else { continue };
            self.wrong += 1;
            self.right -= 1;
            let symptom = Symptom { class: "assembler".to_string(), turns: None, detail: said };
            let found = Found { seed: wish.seed, number, program, archs: vec![arch], symptom };
            seen(&found);
            self.found.push(found);
        }
    }

    /// Pairs that compiled.
    #[must_use]
    pub fn compiled(&self) -> usize {
        self.right + self.wrong
    }
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let turns = self.symptom.turns.map_or(String::new(), |t| format!(", {t} turns"));
        writeln!(
            f,
            "// {}: seed {}, program {}{turns}",
            self.program.kind, self.seed, self.number
        )?;
        writeln!(f, "// on {}", self.archs.join(" "))?;
        let said = self.symptom.detail.lines().next().unwrap_or("");
        writeln!(f, "// {}: {said}", self.symptom.class)?;
        write!(f, "{}", self.program.text("f"))
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let refused: usize = self.refused.values().map(|r| r.0).sum();
        let mut reasons: Vec<_> = self.refused.iter().collect();
        reasons.sort_by_key(|(_, r)| std::cmp::Reverse(r.0));
        for (reason, (count, number, arch)) in reasons {
            writeln!(f, "  refused {count:6}  {reason}, as program {number} on {arch}")?;
        }
        for text in &self.not_understood {
            writeln!(f, "not understood: {text}")?;
        }
        let pairs = refused + self.compiled();
        write!(
            f,
            "{} programs, {pairs} pairs, {} compiled, {} right, {refused} refused, {} wrong",
            self.programs,
            self.compiled(),
            self.right,
            self.wrong
        )
    }
}
