//! Tensors whose numbers are indices: subscripts, bounds of loops, operands of arithmetic on
//! indices. Their contents are small, known before it is known how large tensors are, and mostly
//! grow along the last dimension, so that loops from one to the next have turns.

use super::Interpreted;
use super::element::Element;
use super::text::list;
use std::collections::BTreeSet;

/// Numbers are below this.
const MOST: u32 = 23;

/// The number at a place of such a tensor.
pub(super) fn number_at(element: Element, salt: u32, place: &[i64]) -> u64 {
    let mut mixed = 0x9e37_79b9u32 ^ salt.wrapping_mul(0x85eb_ca6b);
    for at in place {
        mixed = (mixed ^ *at as u32).wrapping_mul(0x2c1b_3c6d);
        mixed ^= mixed >> 13;
    }
    let (last, outer) = place.split_last().map_or((0, &[][..]), |(last, outer)| (*last, outer));
    let sum = outer.iter().sum::<i64>() as u32 * 5 + last as u32 * 2;
    element.encode(f64::from((mixed % 4 + sum) % MOST))
}

/// Names in a piece of text.
fn names(text: &str) -> Vec<String> {
    let word = |c: char| c.is_alphanumeric() || "%_#".contains(c);
    text.split(|c| !word(c)).filter(|w| w.starts_with('%')).map(str::to_string).collect()
}

/// What a line takes as indices.
fn taken(line: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut rest = line;
    while let Some((before, behind)) = rest.split_once('[') {
        let Some((inside, after)) = behind.split_once(']') else { break };
        if before.ends_with(|c: char| c.is_alphanumeric() || c == '_') {
            out.extend(names(inside));
        }
        rest = after;
    }
    if let Some((_, counted)) = line.split_once("scf.for") {
        let bounds = counted.split("iter_args").next().unwrap_or("");
        out.extend(bounds.split_once('=').map(|(_, bounds)| names(bounds)).unwrap_or_default());
    }
    let (_, made) = line.split_once(" = ").unwrap_or(("", line));
    let is_of_tiles = line.rsplit_once(" : ").is_some_and(|(_, ty)| ty.contains("tensor<"));
    let op = made.split(' ').next().unwrap_or("");
    let is_of_indices = op.starts_with("index.")
        || op == "arith.index_cast"
        || op.starts_with("arith.") && op.ends_with('i') && !is_of_tiles;
    if is_of_indices {
        out.extend(names(made.split(" : ").next().unwrap_or("")));
    }
    out
}

impl Interpreted {
    /// Marks the tensors whose numbers are indices.
    pub(super) fn mark_addressed(&mut self) {
        let mut wanted: BTreeSet<String> = self.body.iter().flat_map(|line| taken(line)).collect();
        let mut known = 0;
        while known != wanted.len() {
            known = wanted.len();
            for line in &self.body {
                let Some((made, rest)) = line.split_once(" = ") else { continue };
                if !list(made).iter().any(|name| wanted.contains(name)) {
                    continue;
                }
                let operands = rest.split(" : ").next().unwrap_or("");
                match rest.split_once("tiled_load ") {
                    Some((_, from)) => {
                        let from = from.split(['[', ' ']).next().unwrap_or("");
                        let mut globals = self.globals.iter_mut();
                        if let Some(global) = globals.find(|g| g.name == from) {
                            global.is_addressed = global.element.is_whole();
                        }
                    }
                    None if !rest.starts_with("scf.") && !rest.starts_with("compare.") => {
                        wanted.extend(names(operands));
                    }
                    None => {}
                }
            }
            // What loops carry and branches pass on: any of it, wherever it is.
            let mut pairs = self.body.iter().filter_map(|line| line.split_once("iter_args("));
            let carried = pairs.any(|(_, pairs)| {
                let pairs = pairs.split(')').next().unwrap_or("");
                list(pairs)
                    .iter()
                    .any(|pair| wanted.contains(pair.split('=').next().unwrap_or("").trim()))
            });
            if carried {
                for line in &self.body {
                    let passed = line.strip_prefix("scf.yield").unwrap_or("");
                    let begun = line.split_once("iter_args(").map_or("", |(_, pairs)| pairs);
                    wanted.extend(names(passed.split(" : ").next().unwrap_or("")));
                    wanted.extend(names(begun.split(')').next().unwrap_or("")));
                }
            }
        }
    }
}
