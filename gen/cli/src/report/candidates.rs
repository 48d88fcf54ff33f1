//! Candidates of `opt --explain`: what each layout and instruction costs, and why it was not taken.
use super::reasons::sentence;
use crate::table::{Align, Table};
use lanebook::anchor::{Candidate, Verdict, bucket_of};
use lanebook::ir::{Op, Program};
use lanebook::map::SharedLayout;
use lanebook_layout::PostMap;
use lanebook_tables::{Family, Space, Tables};
use std::fmt::Write;

/// The candidates, operation by operation, as comments.
pub fn text(tables: &Tables<'_>, program: &Program<'_, '_>, candidates: &[Candidate], dropped: u32) -> String {
    let mut out = String::new();
    let weights = &tables.weights;
    let quarters = |number: u32| if number.is_multiple_of(4) { format!("{}", number / 4) } else { format!("{:.2}", f64::from(number) / 4.0) };
    if !candidates.is_empty() {
        let (shared, tensor, register) = (quarters(weights.shared_transaction), quarters(weights.tensor_cycle), quarters(weights.register));
        let _ = writeln!(
            out,
            "// score = {shared} x transactions + {tensor} x tensor-memory columns + {register} x registers; transactions of a warp for the whole tile, registers of a lane"
        );
    }
    let mut rest = candidates;
    while let Some(first) = rest.first() {
        let count = rest.iter().take_while(|candidate| (candidate.op, candidate.whole) == (first.op, first.whole)).count();
        let (these, others) = rest.split_at(count);
        rest = others;
        let axis = format!("{:?}", first.axis).to_lowercase();
        let what = if first.whole { "layouts of the group" } else { "instructions" };
        let _ = writeln!(out, "// {}, {what}, axis {axis}, memory {}:", name(program, first.op), space(first.memory));
        let columns = [("candidate", Align::Left), ("bucket", Align::Left), ("family", Align::Left), ("trans.", Align::Right), ("tensor", Align::Right)];
        let more = [("regs", Align::Right), ("score", Align::Right), ("", Align::Left)];
        let mut table = Table::new(&columns.into_iter().chain(more).collect::<Vec<_>>());
        for candidate in these {
            let label = match candidate.atom.and_then(|atom| tables.atom(atom)) {
                Some(atom) => atom.name().to_string(),
                None if candidate.whole => candidate.layout.map_or_else(String::new, |layout| self::layout(&layout)),
                None => "descriptor".into(),
            };
            let bucket = bucket_of(candidate.axis, candidate.bucket).map_or_else(|| format!("{:?}", candidate.bucket).to_lowercase(), str::to_string);
            let legal = matches!(candidate.verdict, Verdict::Taken | Verdict::Dearer);
            let figure = |number: u32| if legal { number.to_string() } else { String::new() };
            let terms = candidate.terms;
            let score = if legal { quarters(terms.score(weights)) } else { String::new() };
            let row = [label, bucket, family(candidate.family).into(), figure(terms.shared), figure(terms.tensor), figure(terms.registers), score];
            table.row(row.into_iter().chain([why(tables, candidate.verdict)]));
        }
        for line in table.render(0).lines() {
            let _ = writeln!(out, "//   {line}");
        }
    }
    if dropped > 0 {
        let _ = writeln!(out, "// {dropped} more candidates are not listed: no room");
    }
    out
}

fn name(program: &Program<'_, '_>, op: Op) -> String {
    let place = program.place(op);
    let value = program.result(op, 0).map(|value| program.value_name(value)).filter(|name| !name.is_empty());
    let result = value.map_or_else(String::new, |name| format!("%{name} = "));
    if place.line == 0 { format!("{result}{}", program.op_name(op)) } else { format!("{result}{} in line {}", program.op_name(op), place.line) }
}

const fn family(family: Family) -> &'static str {
    match family {
        Family::Shared => "shared",
        Family::Blocked => "blocked",
        Family::DotOperand => "dot operand",
        Family::Linear => "linear",
    }
}

const fn space(space: Space) -> &'static str {
    match space {
        Space::Register => "registers",
        Space::Shared => "shared",
        Space::Global => "global",
        Space::Tensor => "tensor",
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

fn why(tables: &Tables<'_>, verdict: Verdict) -> String {
    match verdict {
        Verdict::Taken => "<- taken".into(),
        Verdict::Dearer => "dearer".into(),
        Verdict::Illegal(why) => sentence(tables, why),
        Verdict::Spaces { from, to } => format!("joins {} and {}", space(from), space(to)),
        Verdict::Family => "of another family than its group".into(),
        Verdict::Alignment { need, have } => format!("needs {need} B of alignment, {have} B are certain"),
        Verdict::Descriptor => "no descriptor here can say this tile".into(),
        Verdict::Bound => "the tile is read from registers, a descriptor delivers none".into(),
        _ => "not taken".into(),
    }
}
