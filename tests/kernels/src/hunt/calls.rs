//! Functions that call others: any other program, parts of which stand in functions of their own,
//! and parts of those again.

use super::branches::branches;
use super::generate::Generator;
use super::kinds::{data_flow, gemm, reduce};
use super::masks::masks;
use super::program::{Argument, Program};
use std::collections::BTreeSet;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

/// The name of the kind, whose programs are written as [`outlined`] has them.
pub(super) const CALLS: &str = "calls";

pub(super) fn calls(g: &mut Generator) {
    let make: [fn(&mut Generator); 5] = [branches, data_flow, gemm, reduce, masks];
    let make = g.choices.of(&make);
    make(g);
}

/// The same program with parts of its function in others.
pub(super) fn outlined(program: &Program, text: &str) -> String {
    let first = text.lines().position(|line| line.starts_with("func")).unwrap_or(0);
    let lines: Vec<String> = text.lines().map(String::from).collect();
    let (before, function) = lines.split_at(first);
    let Some((head, body)) = function.split_first() else { return text.to_string() };
    let body = &body[..body.len().saturating_sub(1)];
    let shared = names_of(&lines, |line| line.contains("= alloc_tensor"));
    let mut made = Outliner { program, shared, functions: Vec::new(), called: 0 };
    let body = made.block(body, &BTreeSet::new(), 0);
    let mut out: Vec<String> = before.to_vec();
    out.push("module {".to_string());
    out.extend(made.functions);
    out.push(head.clone());
    out.extend(body);
    out.extend(["}".to_string(), "}".to_string()]);
    out.join("\n") + "\n"
}

struct Outliner<'p> {
    program: &'p Program,
    /// Tiles in shared memory.
    shared: BTreeSet<String>,
    functions: Vec<String>,
    called: usize,
}

/// Names that lines define at their beginning.
fn names_of(lines: &[String], wanted: impl Fn(&str) -> bool) -> BTreeSet<String> {
    let of = |line: &String| -> Vec<String> {
        let defines = line.trim_start().starts_with('%') && wanted(line);
        let left = line.split_once(" = ").filter(|_| defines).map_or("", |(left, _)| left);
        left.split(',').map(|name| name.trim().to_string()).collect()
    };
    lines.iter().flat_map(of).filter(|name| !name.is_empty()).collect()
}

/// Names of values in a text, each with what follows it.
fn names(text: &str) -> Vec<(String, &str)> {
    let mut out = Vec::new();
    for (start, _) in text.match_indices('%') {
        let rest = &text[start + 1..];
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let end = end.unwrap_or(rest.len());
        out.push((format!("%{}", &rest[..end]), &rest[end..]));
    }
    out
}

/// Statements: lines, or all lines from one that opens a bracket to the one that closes it.
fn items(lines: &[String]) -> Vec<&[String]> {
    let (mut out, mut first, mut depth) = (Vec::new(), 0, 0);
    for (at, line) in lines.iter().enumerate() {
        depth -= i32::from(line.trim_start().starts_with('}'));
        depth += i32::from(line.ends_with('{'));
        if depth == 0 {
            out.push(&lines[first..=at]);
            first = at + 1;
        }
    }
    out
}

fn chance(lines: &[String]) -> u64 {
    let mut hasher = DefaultHasher::new();
    lines.hash(&mut hasher);
    hasher.finish()
}

impl Outliner<'_> {
    /// The statements of a block, some of them as calls; `after`: what is read behind it.
    fn block(&mut self, lines: &[String], after: &BTreeSet<String>, depth: usize) -> Vec<String> {
        let all = items(lines);
        let (mut out, mut at) = (Vec::new(), 0);
        while at < all.len() {
            let chance = chance(all[at]) >> (8 * depth);
            let fits = |item: &&[String]| {
                let ends = ["scf.yield", "return"];
                !ends.iter().any(|end| item[0].trim_start().starts_with(end))
                    && !item.iter().any(|line| line.contains("%w"))
            };
            let most = 1 + chance as usize % 5;
            let count = all[at..].iter().take(most).take_while(|item| fits(item)).count();
            if count == 0 || chance.is_multiple_of(3) || depth > 3 {
                out.extend(self.inside(all[at], depth));
                at += 1;
                continue;
            }
            let run: Vec<String> = all[at..at + count].concat();
            let rest = all[at + count..].concat().join("\n");
            let later = names(&rest).into_iter().map(|(name, _)| name);
            out.push(self.call(&run, &later.chain(after.iter().cloned()).collect(), depth));
            at += count;
        }
        out
    }

    /// A statement with what is inside of its brackets as it comes out there.
    fn inside(&mut self, item: &[String], depth: usize) -> Vec<String> {
        let [head, body @ .., end] = item else { return item.to_vec() };
        if body.iter().any(|line| line.trim_start().starts_with("} else")) {
            return item.to_vec();
        }
        let mut out = vec![head.clone()];
        out.extend(self.block(body, &BTreeSet::new(), depth));
        out.push(end.clone());
        out
    }

    /// A call of a function that does what lines do.
    fn call(&mut self, run: &[String], later: &BTreeSet<String>, depth: usize) -> String {
        let text = run.join("\n");
        let defined: BTreeSet<String> = names(&text)
            .into_iter()
            .filter(|(_, rest)| rest.starts_with(" ="))
            .map(|(name, _)| name)
            .chain(names_of(run, |_| true))
            .collect();
        let used: BTreeSet<String> = names(&text).into_iter().map(|(name, _)| name).collect();
        let given: Vec<&String> = used.difference(&defined).collect();
        let heads: Vec<String> = items(run).iter().map(|item| item[0].clone()).collect();
        let made: Vec<String> =
            names_of(&heads, |_| true).into_iter().filter(|name| later.contains(name)).collect();
        let number = self.called;
        self.called += 1;
        let typed = |name: &String| format!("{name}: {}", self.ty(name));
        let parameters: Vec<String> = given.iter().map(|name| typed(name)).collect();
        let types =
            |names: &[String]| -> Vec<String> { names.iter().map(|n| self.ty(n)).collect() };
        let (results, arguments) =
            (types(&made), given.iter().map(|n| self.ty(n)).collect::<Vec<_>>());
        let arrow = match results.len() {
            0 => String::new(),
            1 => format!(" -> {}", results[0]),
            _ => format!(" -> ({})", results.join(", ")),
        };
        let threads = match chance(run) / 7 % 3 {
            0 => format!(" {{threads = {}}}", self.program.threads),
            _ => String::new(),
        };
        let read: BTreeSet<String> = made.iter().cloned().collect();
        let body = self.block(run, &read, depth + 1);
        let mut function =
            vec![format!("func private @h{number}({}){arrow}{threads} {{", parameters.join(", "))];
        function.extend(body);
        if !made.is_empty() {
            function.push(format!("  return {} : {}", made.join(", "), results.join(", ")));
        }
        function.push("}".to_string());
        self.functions.extend(function);
        let given: Vec<&str> = given.iter().map(|name| name.as_str()).collect();
        let to = match made.len() {
            0 => String::new(),
            _ => format!("{} = ", made.join(", ")),
        };
        let arrow = if made.is_empty() { " -> ()".to_string() } else { arrow };
        format!("  {to}call @h{number}({}) : ({}){arrow}", given.join(", "), arguments.join(", "))
    }

    /// The type of a name, as it is written.
    fn ty(&self, name: &str) -> String {
        let number = |prefix: &str| name.strip_prefix(prefix).and_then(|n| n.parse::<usize>().ok());
        if let Some(id) = number("%v") {
            let is_shared = self.shared.contains(name);
            return if is_shared {
                self.program.types[id].shared()
            } else {
                self.program.registers(id)
            };
        }
        if let Some(tensor) = number("%A") {
            return self.program.memref(tensor);
        }
        let of = |argument: &Argument| match argument {
            Argument::Number { name: own, element } if name[1..] == **own => Some(*element),
            _ => None,
        };
        self.program.arguments.iter().find_map(of).unwrap_or("index").to_string()
    }
}
