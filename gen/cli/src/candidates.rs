//! Candidates of `opt --explain`: what each layout and instruction costs, and why it was not taken.
use crate::declared::Declared;
use crate::verdicts::{name, quarters, space, why};
use lanebook::ir::Program;
use lanebook::layout_seeding::{SeedingCandidate, Verdict, bucket_of};
use lanebook::map::SharedLayout;
use lanebook_layout::PostMap;
use lanebook_report::table::{Align, Table};
use lanebook_tables::{ArchId, Family, Tables};
use std::fmt::Write;

/// Candidates of a pass, and what somebody declared of them.
pub struct Judged<'j> {
    /// What the tables say.
    pub candidates: &'j [SeedingCandidate],
    /// How many more there are.
    pub dropped: u32,
    /// What somebody else says.
    pub declared: Option<&'j Declared>,
    /// The architecture.
    pub arch: Option<ArchId>,
}

/// The candidates, operation by operation, as comments.
pub fn text(tables: &Tables<'_>, program: &Program<'_, '_>, judged: &Judged<'_>) -> String {
    let mut out = String::new();
    let weights = &tables.weights;
    let candidates = judged.candidates;
    if !candidates.is_empty() {
        let (shared, tensor, register) = (
            quarters(weights.shared_transaction),
            quarters(weights.tensor_cycle),
            quarters(weights.register),
        );
        let _ = writeln!(
            out,
            "// score = {shared} x transactions + {tensor} x tensor-memory columns + {register} x registers; transactions of a warp for the whole tile \
             (instructions x those of each), registers of a lane"
        );
    }
    let mut rest = candidates;
    while let Some(first) = rest.first() {
        let count = rest
            .iter()
            .take_while(|candidate| (candidate.op, candidate.whole) == (first.op, first.whole))
            .count();
        let (these, others) = rest.split_at(count);
        rest = others;
        let axis = format!("{:?}", first.axis).to_lowercase();
        let what = if first.whole { "layouts of the group" } else { "instructions" };
        let _ = writeln!(
            out,
            "// {}, {what}, axis {axis}, memory {}:",
            name(program, first.op),
            space(first.memory)
        );
        let columns = [
            ("candidate", Align::Left),
            ("bucket", Align::Left),
            ("family", Align::Left),
            ("inst. x each", Align::Right),
            ("trans.", Align::Right),
        ];
        let more = [
            ("tensor", Align::Right),
            ("regs", Align::Right),
            ("score", Align::Right),
            ("", Align::Left),
        ];
        let mut table = Table::new(&columns.into_iter().chain(more).collect::<Vec<_>>());
        for candidate in these {
            let label = match candidate.atom.and_then(|atom| tables.atom(atom)) {
                Some(atom) => atom.name().to_string(),
                None if candidate.whole => {
                    candidate.layout.map_or_else(String::new, |layout| self::layout(&layout))
                }
                None => "descriptor".into(),
            };
            let bucket = bucket_of(candidate.axis, candidate.bucket)
                .map_or_else(|| format!("{:?}", candidate.bucket).to_lowercase(), str::to_string);
            let legal = matches!(candidate.verdict, Verdict::Taken | Verdict::Dearer);
            let figure = |number: u32| if legal { number.to_string() } else { String::new() };
            let terms = candidate.terms;
            let score = if legal { quarters(terms.score(weights)) } else { String::new() };
            let parts = if legal && candidate.parts.count > 0 {
                format!("{} x {}", candidate.parts.count, candidate.parts.each)
            } else {
                String::new()
            };
            let row = [
                label,
                bucket,
                family(candidate.family).into(),
                parts,
                figure(terms.shared),
                figure(terms.tensor),
                figure(terms.registers),
                score,
            ];
            table.row(row.into_iter().chain([why(tables, candidate.verdict)]));
        }
        for line in table.render(0).lines() {
            let _ = writeln!(out, "//   {line}");
        }
        if let Some(declared) = judged.declared.filter(|_| !first.whole) {
            out.push_str(&declared.beside(tables, judged.arch, program, first.op, these));
        }
    }
    if judged.dropped > 0 {
        let _ = writeln!(out, "// {} more candidates are not listed: no room", judged.dropped);
    }
    out
}

const fn family(family: Family) -> &'static str {
    match family {
        Family::Shared => "shared",
        Family::Blocked => "blocked",
        Family::DotOperand => "dot operand",
        Family::Linear => "linear",
    }
}

fn layout(layout: &SharedLayout) -> String {
    let order = if layout.row_major { "by rows" } else { "by columns" };
    match layout.post {
        PostMap::Swizzle(it) => format!("{order}, swizzle<{}, {}, {}>", it.b, it.m, it.s),
        PostMap::None => order.into(),
        _ => format!("{order}, padded"),
    }
}
