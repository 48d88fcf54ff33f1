//! Expressions of the recorded programs: as index maps, and evaluated.

use lanebook_infer::{FormArena, FormOp, IndexForm};
use serde_json::Value;
use std::collections::HashMap;

/// An expression that has no map: what it is.
pub type Unread = String;

/// The map of an index expression, with `names` for its variables.
pub fn form(
    arena: &mut FormArena<'_>,
    e: &Value,
    names: &HashMap<String, IndexForm>,
) -> Result<IndexForm, Unread> {
    if let Some(n) = e.as_i64() {
        return Ok(IndexForm::constant(n));
    }
    if let Some(name) = e.as_str() {
        return names.get(name).copied().ok_or_else(|| format!("unknown variable {name}"));
    }
    let list = e.as_array().ok_or("no expression")?;
    let word = list.first().and_then(Value::as_str).ok_or("no operator")?;
    if word == "load" {
        return Err("an index that is loaded".into());
    }
    let joins = matches!(word, "and" | "or");
    let mut args = Vec::new();
    for a in list.iter().skip(1) {
        let arg = form(arena, a, names)?;
        let mut truth = || {
            let zero = arena.op(FormOp::Equal, arg, IndexForm::constant(0))?;
            arena.add_scaled(IndexForm::constant(1), zero, -1)
        };
        let truth = if joins && !is_truth(a) { truth() } else { Ok(arg) };
        args.push(truth.map_err(|e| format!("{e:?}"))?);
    }
    let fail = |e: lanebook_infer::FormError| format!("{e:?}");
    match (word, args.as_slice()) {
        ("+", [a, b]) => arena.add(*a, *b).map_err(fail),
        ("-", [a, b]) => arena.add_scaled(*a, *b, -1).map_err(fail),
        ("-", [a]) => arena.scale(*a, -1).map_err(fail),
        ("shl", [a, b]) if b.is_constant() => arena.scale(*a, 1 << b.constant).map_err(fail),
        ("shr", [a, b]) if b.is_constant() => {
            arena.div_rem(*a, 1 << b.constant).map(|q| q.0).map_err(fail)
        }
        ("select", [when, yes, no]) => {
            let never = arena.op(FormOp::Equal, *when, IndexForm::constant(0)).map_err(fail)?;
            lanebook_infer::notation::select(arena, never, *no, *yes).map_err(fail)
        }
        ("not", [a]) => arena.op(FormOp::Equal, *a, IndexForm::constant(0)).map_err(fail),
        (_, [a, b]) => {
            // The others are these two, of exchanged operands or where they do not hold.
            let (op, [a, b], holds) = match word {
                ">" => (FormOp::Less, [b, a], true),
                ">=" => (FormOp::Less, [a, b], false),
                "<=" => (FormOp::Less, [b, a], false),
                "!=" => (FormOp::Equal, [a, b], false),
                "<" => (FormOp::Less, [a, b], true),
                "==" => (FormOp::Equal, [a, b], true),
                _ => (arithmetic(word)?, [a, b], true),
            };
            let form = arena.op(op, *a, *b).map_err(fail)?;
            let one = IndexForm::constant(1);
            if holds { Ok(form) } else { arena.add_scaled(one, form, -1).map_err(fail) }
        }
        _ => Err(format!("operator {word} with {} operands", args.len())),
    }
}

/// Whether an expression says that something holds.
#[must_use]
pub fn is_truth(e: &Value) -> bool {
    let words = ["<", "<=", ">", ">=", "==", "!=", "and", "or", "not"];
    e.get(0).and_then(Value::as_str).is_some_and(|word| words.contains(&word))
}

/// An operation of two numbers that is no comparison.
fn arithmetic(word: &str) -> Result<FormOp, Unread> {
    Ok(match word {
        "*" => FormOp::Mul,
        "//" => FormOp::Div,
        "%" => FormOp::Rem,
        "min" => FormOp::Min,
        "max" => FormOp::Max,
        "^" | "xor" => FormOp::Xor,
        "band" | "and" => FormOp::And,
        "bor" | "or" => FormOp::Or,
        _ => return Err(format!("operator {word}")),
    })
}

/// The value of an expression, with `variable` for what its names are.
///
/// # Errors
/// What cannot be read: a name that is unknown, an operator, a number of operands.
pub fn value(e: &Value, variable: &dyn Fn(&str) -> Option<i64>) -> Result<i64, Unread> {
    if let Some(n) = e.as_i64() {
        return Ok(n);
    }
    if let Some(name) = e.as_str() {
        return variable(name).ok_or_else(|| format!("variable {name}"));
    }
    let list = e.as_array().ok_or_else(|| format!("expression {e}"))?;
    let [word, rest @ ..] = list.as_slice() else {
        return Err("empty expression".to_owned());
    };
    let word = word.as_str().ok_or_else(|| format!("operator {word}"))?;
    let args: Vec<i64> = rest.iter().map(|v| value(v, variable)).collect::<Result<_, _>>()?;
    let truth = |t: bool| Ok(i64::from(t));
    match (word, args.as_slice()) {
        ("-", [a]) => Ok(-a),
        ("not", [a]) => truth(*a == 0),
        ("+", [a, b]) => Ok(a + b),
        ("-", [a, b]) => Ok(a - b),
        ("*", [a, b]) => Ok(a * b),
        ("//", [a, b]) => Ok(a.div_euclid(*b)),
        ("%", [a, b]) => Ok(a.rem_euclid(*b)),
        ("min", [a, b]) => Ok(*a.min(b)),
        ("max", [a, b]) => Ok(*a.max(b)),
        ("^" | "xor", [a, b]) => Ok(a ^ b),
        ("band", [a, b]) => Ok(a & b),
        ("bor", [a, b]) => Ok(a | b),
        ("shl", [a, b]) => Ok(a << b),
        ("shr", [a, b]) => Ok(a >> b),
        ("<", [a, b]) => truth(a < b),
        ("<=", [a, b]) => truth(a <= b),
        (">", [a, b]) => truth(a > b),
        (">=", [a, b]) => truth(a >= b),
        ("==", [a, b]) => truth(a == b),
        ("!=", [a, b]) => truth(a != b),
        ("and", [a, b]) => truth(*a != 0 && *b != 0),
        ("or", [a, b]) => truth(*a != 0 || *b != 0),
        ("select", [c, a, b]) => Ok(if *c != 0 { *a } else { *b }),
        _ => Err(format!("operator {word} with {} operands", args.len())),
    }
}
