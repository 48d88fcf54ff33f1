//! Arithmetic of indices.

use super::Said;

/// Numbers of 32 bits with their signs; sums, differences and products wrap.
///
/// # Errors
/// A divisor of 0, or an operation that is not known.
pub fn index_arithmetic(op: &str, a: i64, b: i64) -> Said<i64> {
    let plain = |n: i64| n & 0xffff_ffff;
    if b == 0 && ["div", "rem"].iter().any(|word| op.contains(word)) {
        return Err("a divisor of 0".to_string());
    }
    // Rounded down whatever the signs are.
    let down = |a: i64, b: i64| (a - (a % b + b) % b) / b;
    let whole = match op {
        "index.add" => a + b,
        "index.sub" => a - b,
        "index.mul" => a.wrapping_mul(b),
        "index.div" => down(a, b),
        "index.cdiv" => -down(-a, b),
        "index.rem" => a - down(a, b) * b,
        "arith.divsi" => a / b,
        "arith.remsi" => a % b,
        "index.divu" => plain(a) / plain(b),
        "index.cdivu" => (plain(a) + plain(b) - 1) / plain(b),
        "index.remu" => plain(a) % plain(b),
        "index.min" => a.min(b),
        "index.max" => a.max(b),
        "index.minu" => plain(a).min(plain(b)),
        "index.maxu" => plain(a).max(plain(b)),
        _ => return Err(format!("operation {op}")),
    };
    Ok(i64::from(whole as u32 as i32))
}

/// Whether a relation holds of two numbers of 32 bits.
///
/// # Errors
/// A relation that is not known.
pub fn index_relation(kind: &str, a: i64, b: i64) -> Said<i64> {
    let plain = |n: i64| n & 0xffff_ffff;
    let (x, y) = if kind.starts_with('u') { (plain(a), plain(b)) } else { (a, b) };
    let holds = match kind.trim_start_matches(['s', 'u']) {
        "eq" => x == y,
        "ne" => x != y,
        "lt" => x < y,
        "le" => x <= y,
        "gt" => x > y,
        "ge" => x >= y,
        _ => return Err(format!("relation {kind}")),
    };
    Ok(i64::from(holds))
}
