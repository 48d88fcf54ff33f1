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
    let mut args = Vec::new();
    for a in list.iter().skip(1) {
        args.push(form(arena, a, names)?);
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
        (_, [a, b]) => {
            let op = match word {
                "*" => FormOp::Mul,
                "//" => FormOp::Div,
                "%" => FormOp::Rem,
                "min" => FormOp::Min,
                "max" => FormOp::Max,
                "^" | "xor" => FormOp::Xor,
                "band" => FormOp::And,
                "bor" => FormOp::Or,
                "<" => FormOp::Less,
                "==" => FormOp::Equal,
                _ => return Err(format!("operator {word}")),
            };
            arena.op(op, *a, *b).map_err(fail)
        }
        _ => Err(format!("operator {word} with {} operands", args.len())),
    }
}

/// The value of an expression. A name that is not given is 0, as in the recorded tables.
pub fn value(e: &Value, names: &HashMap<String, i64>) -> i64 {
    if let Some(n) = e.as_i64() {
        return n;
    }
    if let Some(name) = e.as_str() {
        return names.get(name).copied().unwrap_or(0);
    }
    let list = e.as_array().expect("an expression");
    let word = list[0].as_str().expect("an operator");
    let a = value(&list[1], names);
    if list.len() == 2 {
        return match word {
            "-" => -a,
            "not" => i64::from(a == 0),
            _ => panic!("operator {word}"),
        };
    }
    let b = value(&list[2], names);
    match word {
        "+" => a + b,
        "-" => a - b,
        "*" => a * b,
        "//" => a.div_euclid(b),
        "%" => a.rem_euclid(b),
        "min" => a.min(b),
        "max" => a.max(b),
        "^" | "xor" => a ^ b,
        "band" => a & b,
        "bor" => a | b,
        "shr" => a >> b,
        "shl" => a << b,
        "<" => i64::from(a < b),
        "<=" => i64::from(a <= b),
        ">" => i64::from(a > b),
        ">=" => i64::from(a >= b),
        "==" => i64::from(a == b),
        "!=" => i64::from(a != b),
        "and" => i64::from(a != 0 && b != 0),
        "or" => i64::from(a != 0 || b != 0),
        "select" => {
            if a != 0 {
                b
            } else {
                value(&list[3], names)
            }
        }
        _ => panic!("operator {word}"),
    }
}
