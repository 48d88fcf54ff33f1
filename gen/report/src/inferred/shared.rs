//! The layouts of shared buffers in the timeline: who wanted which swizzle, and what became of it.
use super::timeline::Names;
use lanebook::layout::Swizzle;
use lanebook::loops::{SharedAnswer, SharedStep};
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
    };
    json!({
        "level": "shared", "operator": names.caller(step.op), "event": answer,
        "buffer": names.buffer(step.buffer),
        "access": if step.writes { "write" } else { "read" },
        "wanted": swizzle(step.wanted), "taken": swizzle(step.taken),
        "passes": {"wanted": wanted, "taken": taken, "row_major": plain},
    })
}
