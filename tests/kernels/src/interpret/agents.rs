//! Agents that run beside each other: one copies what the loop behind it reads, turn by turn. In
//! order, each turn's copies come before what reads them.

use super::Said;
use super::machine::closing;

/// A program's lines with each such agent's copies in the loop that reads what they bring.
pub(super) fn joined(body: Vec<String>) -> Said<Vec<String>> {
    let mut body = body;
    while let Some(at) = body.iter().position(|line| is_switch(line)) {
        let end = closing(&body, at).ok_or("no end of an agent")?;
        let inside: Vec<String> = body[at + 1..end].to_vec();
        let first = inside.iter().position(|line| line.contains("scf.for")).ok_or("no loop")?;
        let last = closing(&inside, first).ok_or("no end of an agent's loop")?;
        let (counter, range) = head(&inside[first])?;
        let reader = (end + 1..body.len())
            .find(|k| body[*k].contains("scf.for"))
            .ok_or("no loop behind an agent")?;
        let (own, same) = head(&body[reader])?;
        if range != same || last + 1 != inside.len() {
            return Err("an agent and the loop behind it turn otherwise".to_string());
        }
        let copies = inside[first + 1..last].iter().filter(|line| !line.contains("yield"));
        let copies: Vec<String> = copies.map(|line| renamed(line, &counter, &own)).collect();
        let mut out = body[..at].to_vec();
        out.extend_from_slice(&inside[..first]);
        out.extend_from_slice(&body[end + 1..=reader]);
        out.extend(copies);
        out.extend_from_slice(&body[reader + 1..]);
        body = out;
    }
    Ok(body)
}

fn is_switch(line: &str) -> bool {
    line.split_whitespace().next().is_some_and(|word| word.ends_with("agent_switch"))
}

/// A loop's counter and its numbers.
fn head(line: &str) -> Said<(String, String)> {
    let (_, rest) = line.split_once("scf.for").ok_or("no loop")?;
    let (counter, rest) = rest.split_once('=').ok_or("no counter")?;
    let numbers = rest.split([',', '{']).next().unwrap_or("");
    let numbers = numbers.split("iter_args").next().unwrap_or("").trim();
    Ok((counter.trim().to_string(), numbers.to_string()))
}

/// A line with another name in the place of one.
fn renamed(line: &str, from: &str, to: &str) -> String {
    let mut parts = line.split(from);
    let mut out = parts.next().unwrap_or("").to_string();
    for part in parts {
        let goes_on = part.starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '#');
        out.push_str(if goes_on { from } else { to });
        out.push_str(part);
    }
    out
}
