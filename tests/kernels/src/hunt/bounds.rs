//! Bounds of tensors: numbers, arguments and loops' bounds, where tiles end or somewhere in them.

use super::choices::Choices;
use super::program::{Argument, Program};

/// Numbers that bounds are, or multiples of which.
const NUMBERS: [u32; 14] = [33, 77, 100, 24, 40, 64, 16, 8, 1, 48, 57, 96, 20, 72];

/// Arguments that are bounds and nothing else.
const NAMES: [&str; 3] = ["most0", "most1", "most2"];

/// Gives some tensors of some programs bounds.
pub(super) fn bound(program: &mut Program, choices: &mut Choices) {
    if ["indices", "atomics", "answers", "few", "sums", "halo"].contains(&program.kind)
        || choices.below(3) > 0
    {
        return;
    }
    let divs: Vec<u32> = NAMES.iter().map(|_| choices.of(&NUMBERS)).collect();
    let has_turns = |name: &str| {
        program.arguments.iter().any(|a| matches!(a, Argument::Index { name: n, .. } if *n == name))
    };
    // Where more is computed of it than turns it may be large.
    let is_large = ["corner", "expressions", "maps"].contains(&program.kind);
    let has_turns = has_turns("K") && !is_large;
    let mut used = [false; NAMES.len()];
    for argument in &mut program.arguments {
        let Argument::Tensor { extents, bounds, .. } = argument else { continue };
        // Those that are written already keep what indices leave.
        if choices.once_in(4) || !bounds.is_empty() {
            continue;
        }
        *bounds = extents
            .iter()
            .map(|extent| match choices.below(6) {
                0 => "_".to_string(),
                1 | 2 => {
                    let n = choices.of(&NUMBERS);
                    extent.map_or(n, |extent| n.min(extent)).to_string()
                }
                3 if has_turns && extent.is_none() => "%K".to_string(),
                _ if extent.is_some() => "_".to_string(),
                _ => {
                    let k = choices.below(NAMES.len());
                    used[k] = true;
                    format!("%{}", NAMES[k])
                }
            })
            .collect();
    }
    for ((name, used), div) in NAMES.into_iter().zip(used).zip(divs) {
        if used {
            program.arguments.push(Argument::Index { name, div: Some(div) });
        }
    }
}
