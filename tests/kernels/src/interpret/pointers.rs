//! Pointers and tiles of them, as text: how far they are from what an argument points to, an index
//! of one pointer and a tile of whole numbers of a tile.

use super::Said;
use super::text::list;
use std::collections::BTreeMap;

/// The argument that a pointer points into.
type Homes = BTreeMap<String, String>;

/// How the type of a pointer begins.
pub(super) const POINTER: &str = "!tt.ptr<";

/// What a pointer's type points to.
pub(super) fn pointee(ty: &str) -> Option<&str> {
    ty.split_once(POINTER)?.1.split(['>', ',']).next()
}

/// Statements through pointers as gathers and scatters of the arguments.
pub(super) fn followed(body: &[String], arguments: &[String]) -> Said<Vec<String>> {
    let mut homes: Homes = arguments.iter().map(|name| (name.clone(), name.clone())).collect();
    let mut out = Vec::new();
    for line in body {
        let made =
            statement(line, (&mut homes, arguments)).map_err(|e| format!("`{line}`: {e}"))?;
        out.extend(made.lines().map(str::to_string));
    }
    Ok(out)
}

/// A line whose types of pointers are those of how far they are.
fn distances(line: &str) -> String {
    let (mut out, mut rest) = (String::new(), line);
    while let Some((before, behind)) = rest.split_once(POINTER) {
        // Of a tile the shape stands before it.
        out.push_str(before);
        out.push_str(if before.ends_with('x') { "i32" } else { "index" });
        rest = behind.split_once('>').map_or("", |(_, rest)| rest);
    }
    out + rest
}

/// The pointers of a loop point where those do that it begins with.
fn carried(line: &str, homes: &mut Homes) {
    let Some((results, rest)) = line.split_once(" = scf.for") else { return };
    let Some((_, pairs)) = rest.split_once("iter_args(") else { return };
    let pairs = list(pairs.split(')').next().unwrap_or(""));
    for (pair, result) in pairs.iter().zip(list(results)) {
        let Some((name, from)) = pair.split_once('=') else { continue };
        if let Some(home) = homes.get(from.trim()).cloned() {
            homes.insert(name.trim().to_string(), home.clone());
            homes.insert(result.trim().to_string(), home);
        }
    }
}

fn statement(line: &str, (homes, arguments): (&mut Homes, &[String])) -> Said<String> {
    if let Some((made, rest)) = line.split_once("= tt.make_tensor_descriptor ") {
        let (pointer, numbers) = rest.split_once(',').ok_or("no extents")?;
        let home = homes.get(pointer).ok_or("a pointer from nowhere")?;
        let far = if arguments.iter().any(|own| own == pointer) { "0" } else { pointer };
        return Ok(format!("{made}= tt.make_tensor_descriptor {home}, {far}, {numbers}"));
    }
    if !line.contains(POINTER) {
        return Ok(line.to_string());
    }
    if line.contains("scf.for") || line.starts_with("scf.yield") {
        carried(line, homes);
        // An argument itself is no further than where it points to.
        let begun = |line: String, name: &String| line.replace(&format!("= {name},"), "= 0,");
        return Ok(arguments.iter().fold(distances(line), begun));
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
    let home = |name: &str| homes.get(name).cloned().ok_or("a pointer from nowhere".to_string());
    let far = |name: &str| {
        let is_argument = arguments.iter().any(|argument| argument == name);
        if is_argument { "0".to_string() } else { name.to_string() }
    };
    let is_one = types.trim().starts_with(POINTER);
    let shape_of = |ty: &str| -> Said<String> {
        Ok(ty.split_once(POINTER).ok_or("no shape")?.0.trim().to_string())
    };
    let made = match op {
        "broadcast" | "tt.splat" | "tt.broadcast" | "tt.expand_dims" => {
            let home = home(first)?;
            homes.insert(result.to_string(), home);
            let operands = operands.replacen(first, &far(first), 1);
            format!("{result} = broadcast {operands} : {}", distances(types))
        }
        // To elements of another type with as many bits.
        "tt.bitcast" | "arith.bitcast" if !is_one => {
            let home = home(first)?;
            homes.insert(result.to_string(), home);
            format!("{result} = convert_layout {first} : {}", distances(types))
        }
        "tt.addptr" => {
            let home = home(first)?;
            homes.insert(result.to_string(), home);
            let by = more.first().ok_or("no distance")?;
            if is_one {
                format!("{result} = index.add {}, {by} : index", far(first))
            } else {
                let ty = types.split(", tensor").next().unwrap_or(types);
                let ty = distances(ty.split("->").next().unwrap_or(""));
                let by = more.first().ok_or("no distance")?;
                if types.contains("xi64>") {
                    // Of 64 bits the lower ones, which small tensors need alone.
                    let half = format!("{result}.by");
                    let long = ty.replace("xi32>", "xi64>");
                    return Ok(format!(
                        "{half} = arith.trunci {by} : {long} -> {ty}\n{result} = add {first}, {half} : {ty}"
                    ));
                }
                format!("{result} = add {operands} : {ty}")
            }
        }
        "tt.atomic_rmw" | "tt.atomic_cas" => {
            // The words before the first operand.
            let begins =
                names.iter().position(|name| name.starts_with('%')).ok_or("no operands")?;
            let (said, named) = names.split_at(begins);
            let ([pointers, values @ ..], kind) = (named, said[0]) else {
                return Err("no pointer".into());
            };
            let is_compared = op == "tt.atomic_cas";
            let (value, beside) = match (is_compared, values) {
                (true, [expected, new]) => (new, vec![*expected]),
                (false, [value, mask @ ..]) => (value, mask.to_vec()),
                _ => return Err("too few operands".to_string()),
            };
            let kind = if is_compared { "cas" } else { kind };
            // Whole numbers have the sign that the word says.
            let kind = kind.strip_prefix("fadd").map_or(kind, |_| "add");
            let argument = home(pointers)?;
            let made = if result.is_empty() { String::new() } else { format!("{result} = ") };
            let own = distances(types);
            let to = own.rsplit("-> ").next().unwrap_or(&own).trim();
            let (to, at, far) = match to.contains("tensor<") {
                true => (to.to_string(), "0".to_string(), vec![*pointers]),
                false => (format!("tensor<1x{to}>"), far(pointers), Vec::new()),
            };
            let (mut first, mut last) = (beside.clone(), Vec::new());
            if !is_compared {
                (first, last) = (Vec::new(), beside);
            }
            first.extend(far);
            first.extend(last);
            let first: String = first.iter().map(|name| format!(", {name}")).collect();
            format!(
                "{made}tiled_atomic {value}, {argument}[{at}]{first} {{kind = {kind}}} : {to}, memref -> {to}"
            )
        }
        "ttg.async_copy_global_to_local" => {
            let words: Vec<&str> =
                operands.split([' ', ',']).filter(|word| word.starts_with('%')).collect();
            let [pointers, to, beside @ ..] = &words[..] else { return Err("too few".into()) };
            let beside: String = beside.iter().map(|name| format!(", {name}")).collect();
            let (argument, shape) = (home(pointers)?, shape_of(types)?);
            let element = pointee(types).ok_or("no element")?;
            let made = if result.is_empty() { String::new() } else { format!("{result} = ") };
            format!(
                "{made}slots.copy {to}, {argument}[0], {pointers}{beside} : memref -> {shape}{element}>"
            )
        }
        "amdg.buffer_load" | "amdg.buffer_store" => {
            let at = names.iter().position(|name| name.contains('[')).ok_or("no pointer")?;
            let (pointer, distances) = names[at].split_once('[').ok_or("no distances")?;
            let (argument, far) = (home(pointer)?, far(pointer));
            let distances = distances.trim_end_matches(']');
            let beside: String = names[at + 1..].iter().map(|name| format!(", {name}")).collect();
            let to = types.rsplit("-> ").next().unwrap_or("");
            match at {
                0 => format!(
                    "{result} = gather {argument}[{far}], {distances}{beside} : memref -> {to}"
                ),
                _ => format!(
                    "scatter {first}, {argument}[{far}], {distances}{beside} : {to}, memref"
                ),
            }
        }
        "tiled_load" | "load" | "tt.load" if is_one => {
            let element = pointee(types).ok_or("no element")?;
            format!("{result} = tiled_load {}[{}] : memref -> {element}", home(first)?, far(first))
        }
        "tiled_load" | "load" | "tt.load" => {
            let element = pointee(types).ok_or("no element")?;
            let more =
                operands.split_once(',').map_or(String::new(), |(_, more)| format!(",{more}"));
            let (argument, shape) = (home(first)?, shape_of(types)?);
            format!("{result} = gather {argument}[0], {first}{more} : memref -> {shape}{element}>")
        }
        "tiled_store" | "store" | "tt.store" => {
            let [second, more @ ..] = more else { return Err("too few operands".to_string()) };
            let pointers = if homes.contains_key(*first) { *first } else { *second };
            let value = if pointers == *first { *second } else { *first };
            let argument = home(pointers)?;
            let element = pointee(types).ok_or("no element")?;
            if is_one {
                let at = far(pointers);
                return Ok(format!(
                    "tiled_store {value}, {argument}[{at}] : {element} -> memref<?x{element}>"
                ));
            }
            let all = list(types);
            let ty = all.iter().find(|ty| ty.contains(POINTER)).ok_or("no shape")?;
            let more: String = more.iter().map(|name| format!(", {name}")).collect();
            let shape = shape_of(ty)?;
            format!("scatter {value}, {argument}[0], {pointers}{more} : {shape}{element}>, memref")
        }
        _ => return Err("an operation on pointers".to_string()),
    };
    Ok(made)
}
