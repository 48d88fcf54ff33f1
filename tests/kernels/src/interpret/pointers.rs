//! Tiles of pointers, as text: distances from what an argument points to.

use super::Said;
use super::text::list;
use std::collections::BTreeMap;

/// Where a pointer, or a tile of them, began: the argument, and a subscript of it.
type Home = (String, String);

/// How the type of a pointer begins.
pub(super) const POINTER: &str = "!tt.ptr<";

/// What a pointer's type points to.
pub(super) fn pointee(ty: &str) -> Option<&str> {
    ty.split_once(POINTER)?.1.split(['>', ',']).next()
}

/// Statements through pointers as gathers and scatters of the arguments.
pub(super) fn followed(body: &[String], arguments: &[String]) -> Said<Vec<String>> {
    let mut homes: BTreeMap<String, Home> =
        arguments.iter().map(|name| (name.clone(), (name.clone(), "0".to_string()))).collect();
    let mut out = Vec::new();
    for line in body {
        out.extend(statement(line, &mut homes).map_err(|e| format!("`{line}`: {e}"))?);
    }
    Ok(out)
}

fn statement(line: &str, homes: &mut BTreeMap<String, Home>) -> Said<Option<String>> {
    if !line.contains(POINTER) {
        return Ok(Some(line.to_string()));
    }
    let (result, rest) = match line.split_once(" = ") {
        Some((result, rest)) if result.starts_with('%') => (result.trim(), rest.trim()),
        _ => ("", line),
    };
    let (op, rest) = rest.split_once(' ').ok_or("no operands")?;
    let (operands, types) = rest.rsplit_once(" : ").ok_or("no types")?;
    let names = list(operands.split('{').next().unwrap_or(""));
    let names: Vec<&str> = names.iter().map(|name| name.trim()).collect();
    let (first, more) = names.split_first().ok_or("no operands")?;
    let distances = |ty: &str| -> Said<String> {
        let (shape, _) = ty.split_once(POINTER).ok_or("no pointers")?;
        Ok(format!("{}i32>", shape.trim()))
    };
    let to = types.rsplit("->").next().unwrap_or(types).trim();
    let whole = || types.split(", tensor").next().unwrap_or(types).split("->").next().unwrap_or("");
    let home = |name: &str| homes.get(name).cloned().ok_or("a pointer from nowhere".to_string());
    let made = match op {
        "broadcast" | "tt.splat" | "tt.broadcast" | "tt.expand_dims" => {
            let home = home(first)?;
            homes.insert(result.to_string(), home);
            let ty = distances(to)?;
            if types.trim().starts_with(POINTER) {
                format!("{result} = constant 0 : {ty}")
            } else {
                let from = distances(types.split("->").next().unwrap_or(""))?;
                format!("{result} = broadcast {operands} : {from} -> {ty}")
            }
        }
        "tt.addptr" if types.trim().starts_with(POINTER) => {
            let (argument, at) = home(first)?;
            if at != "0" {
                return Err("a pointer that is moved twice".to_string());
            }
            homes.insert(result.to_string(), (argument, more.join("")));
            return Ok(None);
        }
        "tt.addptr" => {
            let home = home(first)?;
            homes.insert(result.to_string(), home);
            format!("{result} = add {operands} : {}", distances(whole())?)
        }
        "tiled_load" | "tt.load" => {
            let (argument, at) = home(first)?;
            let element = pointee(types).ok_or("no element")?;
            let (shape, _) = types.split_once(POINTER).ok_or("no shape")?;
            let more =
                operands.split_once(',').map_or(String::new(), |(_, more)| format!(",{more}"));
            format!(
                "{result} = gather {argument}[{at}], {first}{more} : memref -> {shape}{element}>"
            )
        }
        "tiled_store" | "tt.store" => {
            let [second, more @ ..] = more else { return Err("too few operands".to_string()) };
            let pointers = if homes.contains_key(*first) { *first } else { *second };
            let value = if pointers == *first { *second } else { *first };
            let (argument, at) = home(pointers)?;
            let element = pointee(types).ok_or("no element")?;
            let all = list(types);
            let ty = all.iter().find(|ty| ty.contains(POINTER)).ok_or("no shape")?;
            let (shape, _) = ty.split_once(POINTER).ok_or("no shape")?;
            let more: String = more.iter().map(|name| format!(", {name}")).collect();
            format!(
                "scatter {value}, {argument}[{at}], {pointers}{more} : {}{element}>, memref",
                shape.trim()
            )
        }
        _ => return Err("an operation on pointers".to_string()),
    };
    Ok(Some(made))
}
