//! Functions that a kernel calls, put in the place of the calls as text.

use super::Said;
use super::text::{code, list};

/// Most calls inside each other.
const DEEP: usize = 24;

/// Between a call's result and what the function returns.
pub(super) const RETURNED: &str = " = returned ";

/// A function's text.
struct Function<'t> {
    name: String,
    is_private: bool,
    parameters: Vec<String>,
    head: String,
    body: Vec<&'t str>,
}

/// The kernel of a text alone, with what it calls in the place of the calls; a text of one function
/// that calls none is as it was.
pub(super) fn flattened(text: &str) -> Said<String> {
    if !text.contains("call @") && !text.lines().any(|l| l.trim_start().starts_with("module")) {
        return Ok(text.to_string());
    }
    let lines: Vec<&str> = text.lines().map(|l| code(l).trim()).collect();
    let mut functions = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let is_head = lines[at]
            .split_whitespace()
            .next()
            .is_some_and(|word| ["func", "func.func", "tt.func"].contains(&word));
        if !is_head {
            at += 1;
            continue;
        }
        // A head may stand in several lines.
        let opens = (at..lines.len()).find(|k| lines[*k].ends_with('{')).ok_or("no body")?;
        let end = end_of(&lines, opens)?;
        functions.push(function(&lines[at..=opens].join(" "), &lines[opens + 1..end])?);
        at = end + 1;
    }
    let is_called = |name: &str| {
        let call = format!("call @{name}(");
        functions.iter().any(|f| f.name != name && f.body.iter().any(|l| l.contains(&call)))
    };
    let mut kernels = functions.iter().filter(|f| !f.is_private && !is_called(&f.name));
    let (Some(kernel), None) = (kernels.next(), kernels.next()) else {
        return Err("not one function that may be launched".to_string());
    };
    let mut out = vec![kernel.head.clone()];
    let body: Vec<String> = kernel.body.iter().map(|l| (*l).to_string()).collect();
    put(&functions, &body, &mut 0, 0, &mut out)?;
    out.push("}".to_string());
    Ok(out.join("\n"))
}

/// The line of the bracket that closes what a line opens.
fn end_of(lines: &[&str], first: usize) -> Said<usize> {
    let mut depth = 0;
    for (at, line) in lines.iter().enumerate().skip(first) {
        depth -= i32::from(line.starts_with('}'));
        if depth == 0 && at > first {
            return Ok(at);
        }
        depth += i32::from(line.ends_with('{'));
    }
    Err("a function without an end".to_string())
}

fn function<'t>(head: &str, body: &[&'t str]) -> Said<Function<'t>> {
    let (before, rest) = head.split_once('@').ok_or("a function without a name")?;
    let (name, rest) = rest.split_once('(').ok_or("no arguments")?;
    let mut depth = 1;
    let end = rest.char_indices().find(|(_, c)| {
        depth += i32::from(*c == '(') - i32::from(*c == ')');
        depth == 0
    });
    let arguments = &rest[..end.ok_or("no end of the arguments")?.0];
    Ok(Function {
        name: name.trim().to_string(),
        is_private: before.contains("private"),
        parameters: list(arguments)
            .iter()
            .map(|a| a.split(':').next().unwrap_or("").trim().to_string())
            .collect(),
        head: head.to_string(),
        body: body.to_vec(),
    })
}

/// Puts lines behind others, calls replaced.
fn put(
    functions: &[Function<'_>],
    body: &[String],
    calls: &mut usize,
    depth: usize,
    out: &mut Vec<String>,
) -> Said<()> {
    for line in body {
        let Some((before, rest)) = line.split_once("call @") else {
            out.push(line.clone());
            continue;
        };
        if depth == DEEP {
            return Err("functions that call each other".to_string());
        }
        let (name, rest) = rest.split_once('(').ok_or("a call without arguments")?;
        let called = functions.iter().find(|f| f.name == name).ok_or("an unknown function")?;
        let given = list(rest.split_once(')').ok_or("no end of the arguments")?.0);
        let given: Vec<String> = given.iter().map(|v| v.trim().to_string()).collect();
        if given.len() != called.parameters.len() {
            return Err("another number of arguments than parameters".to_string());
        }
        *calls += 1;
        let own = format!("%c{calls}_");
        let mut inner = Vec::new();
        for line in &called.body {
            let renamed = renamed(line, |name| {
                let parameter = called.parameters.iter().position(|p| p == name);
                parameter.map_or(format!("{own}{}", &name[1..]), |k| given[k].clone())
            });
            let Some(rest) = renamed.strip_prefix("return") else {
                inner.push(renamed);
                continue;
            };
            let values = list(rest.split(" : ").next().unwrap_or(""));
            let results = list(before.trim().trim_end_matches('='));
            if values.len() != results.len() {
                return Err("another number of results than values returned".to_string());
            }
            for (result, value) in results.iter().zip(values) {
                inner.push(format!("{}{RETURNED}{}", result.trim(), value.trim()));
            }
        }
        put(functions, &inner, calls, depth + 1, out)?;
    }
    Ok(())
}

/// A line with other names of values.
fn renamed(line: &str, name: impl Fn(&str) -> String) -> String {
    let (mut out, mut rest) = (String::new(), line);
    while let Some(start) = rest.find('%') {
        out.push_str(&rest[..start]);
        let ends = |c: char| !c.is_ascii_alphanumeric() && c != '_';
        let end = rest[start + 1..].find(ends).map_or(rest.len(), |end| start + 1 + end);
        out.push_str(&name(&rest[start..end]));
        rest = &rest[end..];
    }
    out + rest
}
