//! The layouts of shared buffers in the timeline: who wanted which swizzle, and what became of it.
use super::timeline::Names;
use lanebook::infer::BufferId;
use lanebook::ir::Op;
use lanebook::layout::Swizzle;
use lanebook::loops::{SharedAnswer, SharedStep, UnitRefusal};
use serde_json::{Value as Json, json};

/// A swizzle of bytes as text.
pub fn swizzle(of: Option<Swizzle>) -> String {
    match of {
        Some(s) => format!("swizzle<{}, {}, {}>", s.b, s.m, s.s),
        None => "no swizzle".into(),
    }
}

/// A step of the layouts of shared buffers in words.
pub fn line(names: &Names, step: &SharedStep) -> String {
    let (own, name) = (names.caller(step.op), names.buffer(step.buffer));
    let does = if step.writes { "writes" } else { "reads" };
    let [wanted, taken, plain] = step.passes;
    let passes = |n: u32| {
        let noun = if n == 1 { "pass" } else { "passes" };
        match step.instructions {
            0 | 1 => format!("{n} {noun}"),
            many => format!("{many} instructions and {n} {noun}"),
        }
    };
    let said = match step.answer {
        SharedAnswer::Establishes => format!(
            "establishes {} of {name}, which it {does} in {} of the banks instead of {plain}",
            swizzle(step.taken),
            passes(taken)
        ),
        SharedAnswer::Agrees => format!(
            "agrees with {} of {name}, which it {does} in {} of the banks",
            swizzle(step.taken),
            passes(taken)
        ),
        SharedAnswer::Merges => format!(
            "wants {} of {name}; merged to {}, which serves all until here: it {does} in {} of the banks instead of {plain}",
            swizzle(step.wanted),
            swizzle(step.taken),
            passes(taken)
        ),
        SharedAnswer::Prevails if step.wanted == step.taken => format!(
            "wants {} of {name}; none serves all, and this one costs least together: it {does} in {} of the banks instead of {plain}",
            swizzle(step.wanted),
            passes(taken)
        ),
        SharedAnswer::Prevails => format!(
            "wants {} of {name}; none serves all, and {} costs least together: it {does} in {} of the banks, {wanted} alone",
            swizzle(step.wanted),
            swizzle(step.taken),
            passes(taken)
        ),
        SharedAnswer::Described => {
            format!("its unit reads {name} by itself, with {}", swizzle(step.taken))
        }
        SharedAnswer::Yields => format!(
            "wants {} of {name}; none serves all, and {} costs less together: it {does} in {} of the banks, {wanted} alone",
            swizzle(step.wanted),
            swizzle(step.taken),
            passes(taken)
        ),
    };
    format!("{own} -> {said}")
}

/// The same as an object.
pub fn object(names: &Names, step: &SharedStep) -> Json {
    let [wanted, taken, plain] = step.passes;
    let answer = match step.answer {
        SharedAnswer::Establishes => "establishes",
        SharedAnswer::Agrees => "agrees",
        SharedAnswer::Merges => "merges",
        SharedAnswer::Prevails => "prevails",
        SharedAnswer::Yields => "yields",
        SharedAnswer::Described => "described",
    };
    json!({
        "level": "shared", "operator": names.caller(step.op), "event": answer,
        "buffer": names.buffer(step.buffer),
        "access": if step.writes { "write" } else { "read" },
        "wanted": swizzle(step.wanted), "taken": swizzle(step.taken),
        "passes": {"wanted": wanted, "taken": taken, "row_major": plain},
    })
}

/// That a buffer lies by columns, with what its accesses cost by rows and so.
pub fn by_columns_line(names: &Names, id: BufferId, [rows, columns]: [u32; 2]) -> String {
    let name = names.buffer(id);
    format!(
        "{name} -> lies by columns: all that reads and writes it costs {columns} so, {rows} by rows"
    )
}

/// The same as an object.
pub fn by_columns_object(names: &Names, id: BufferId, [rows, columns]: [u32; 2]) -> Json {
    json!({
        "level": "shared", "event": "by_columns", "buffer": names.buffer(id),
        "costs": {"rows": rows, "columns": columns},
    })
}

/// Why single warps compute a product, in words.
fn refusal(names: &Names, why: UnitRefusal) -> String {
    match why {
        UnitRefusal::TensorMemory => {
            "the sums of the products before it leave too little of tensor memory".into()
        }
        UnitRefusal::Sums(id) => {
            let name = names.buffer(id);
            format!("warps do not load {name} from tensor memory as it lies")
        }
        UnitRefusal::Instruction => {
            "no instruction of a group of warps takes its operands where they are, or its extents"
                .into()
        }
        UnitRefusal::Layout(id) => {
            format!("{} lies as no descriptor of the unit says", names.buffer(id))
        }
    }
}

/// That single warps compute a product, with the reason.
pub fn by_warps_line(names: &Names, (op, why): (Op, UnitRefusal)) -> String {
    format!("{} -> single warps multiply: {}", names.caller(op), refusal(names, why))
}

/// The same as an object.
pub fn by_warps_object(names: &Names, (op, why): (Op, UnitRefusal)) -> Json {
    json!({
        "level": "shared", "operator": names.caller(op), "event": "by_warps",
        "reason": refusal(names, why),
    })
}
