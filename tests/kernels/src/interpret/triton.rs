//! Kernels as Triton prints them, line by line as this language has them: without locations, with
//! plain attributes, constants and types.

/// A text whose blocks, each of which one branch leads to, are parts of branches.
fn without_labels(text: &str) -> String {
    if !text.contains("cf.cond_br") {
        return text.to_string();
    }
    let (mut out, mut open): (Vec<String>, Vec<(String, bool)>) = (Vec::new(), Vec::new());
    for line in text.lines() {
        let said = line.split("//").next().unwrap_or("").trim();
        if let Some(rest) = said.strip_prefix("cf.cond_br ") {
            let names: Vec<&str> = rest.split(',').map(str::trim).collect();
            out.push(format!("scf.if {} {{", names[0]));
            open.push((names[2].to_string(), false));
        } else if let Some(label) = said.strip_suffix(':').filter(|label| label.starts_with('^')) {
            while open.last().is_some_and(|(_, is_second)| *is_second) {
                out.push("}".to_string());
                open.pop();
            }
            if let Some(last) = open.last_mut().filter(|(second, _)| second == label) {
                last.1 = true;
                out.push("} else {".to_string());
            }
        } else if ["tt.return", "return"].contains(&said) && !open.is_empty() {
            // The last block's is the function's.
            let is_last = open.iter().all(|(_, is_second)| *is_second);
            if is_last {
                out.extend(open.drain(..).map(|_| "}".to_string()));
            }
        } else {
            out.push(line.to_string());
        }
    }
    out.join("\n")
}

/// A kernel without the module around it, whose warps are the kernel's threads.
fn without_module(text: &str) -> String {
    let Some(line) = text.lines().find(|line| line.trim_start().starts_with("module attributes"))
    else {
        return text.to_string();
    };
    let said = |key: &str| -> Option<u32> {
        let (_, rest) = line.split_once(&format!("\"ttg.{key}\" = "))?;
        rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
    };
    let Some((warps, lanes)) = said("num-warps").zip(said("threads-per-warp")) else {
        return text.to_string();
    };
    let threads = format!("attributes {{threads = {}", warps * lanes);
    let mut body: Vec<String> = text
        .lines()
        .filter(|own| *own != line && !own.starts_with('#'))
        .map(without_places)
        .map(|line| line.replace("attributes {noinline = false", &threads))
        .collect();
    // The module's own bracket is the last one.
    if let Some(last) = body.iter().rposition(|line| line.starts_with('}')) {
        body.truncate(last);
    }
    body.join("\n")
}

/// A text without what Triton's printer adds.
pub(super) fn plain(text: &str) -> String {
    let text = &without_labels(&without_module(text));
    if !text.contains("tt.func") {
        let has_hints = HINTS.iter().any(|word| text.contains(word));
        let lines = text.lines().map(|line| without_hints(line) + "\n");
        return if has_hints { lines.collect() } else { text.to_string() };
    }
    let mut out = String::new();
    let threads = threads(text);
    for line in text.lines() {
        let mut line = without_places(line);
        if let Some(threads) = threads.filter(|_| line.contains("tt.func")) {
            line =
                line.replace("attributes {noinline = false}", &format!("{{threads = {threads}}}"));
        }
        if !line.trim_start().starts_with("#loc") {
            out += &statement(line.trim_end());
            out.push('\n');
        }
    }
    out
}

/// As many threads as a module says, of a kernel that does not say them.
fn threads(text: &str) -> Option<u32> {
    let number = |key: &str| -> Option<u32> {
        let behind = text.split_once(&format!("\"ttg.{key}\" = "))?.1;
        behind.split([' ', ',', '}']).next()?.parse().ok()
    };
    let said = text.lines().any(|line| line.contains("tt.func") && line.contains("threads ="));
    number("num-warps")?.checked_mul(number("threads-per-warp")?).filter(|_| !said)
}

/// A line without `loc(..)`.
fn without_places(line: &str) -> String {
    let (mut out, mut rest) = (String::new(), line);
    while let Some(at) = rest.find(" loc(") {
        out.push_str(&rest[..at]);
        let mut depth = 0;
        let end = rest[at..].char_indices().find(|(_, c)| {
            depth += i32::from(*c == '(') - i32::from(*c == ')');
            *c == ')' && depth == 0
        });
        rest = end.map_or("", |(end, _)| &rest[at + end + 1..]);
    }
    out + rest
}

/// `{axis = 1 : i32}` as `{axis = 1}`.
fn without_types_of_attributes(line: &str) -> String {
    let (mut out, mut depth, mut rest) = (String::new(), 0, line);
    while let Some(c) = rest.chars().next() {
        if depth > 0 && rest.starts_with(" : i32") {
            rest = &rest[" : i32".len()..];
            continue;
        }
        depth += i32::from(c == '{') - i32::from(c == '}');
        out.push(c);
        rest = &rest[c.len_utf8()..];
    }
    out
}

/// Words behind operands, and keys of attributes, that say what need not be used.
const HINTS: [&str; 10] = [
    "allow_reorder",
    "efficient_layout",
    "maxNumImpreciseAcc",
    "allocation.offset",
    "contiguity",
    "divisibility",
    "constancy",
    "flatten",
    "disallow_acc_multi_buffer",
    "amd.pipeliner_part",
];

/// A line without hints, and without the brackets that held them alone.
fn without_hints(line: &str) -> String {
    // Of a kernel's parameters they are none.
    if ["func", "tt.func"].iter().any(|word| line.trim_start().starts_with(word)) {
        return line.to_string();
    }
    let (mut out, mut rest) = (String::new(), line);
    while let Some((before, inside)) = rest.split_once('{') {
        let Some((inside, behind)) = inside.split_once('}') else { break };
        let is_hint = |entry: &str| {
            let key = entry.trim().split([' ', '=']).next().unwrap_or("");
            HINTS.contains(&key.strip_prefix("tt.").unwrap_or(key))
        };
        let all = super::text::list(inside);
        let kept: Vec<String> = all.iter().filter(|entry| !is_hint(entry)).cloned().collect();
        out += before;
        if kept.len() == all.len() {
            out += &format!("{{{inside}}}");
        } else if !kept.is_empty() {
            out += &format!("{{{}}}", kept.join(", "));
        } else {
            out.truncate(out.trim_end().len());
        }
        rest = behind;
    }
    out += rest;
    // Behind operands with its number.
    if let Some((before, behind)) = out.split_once(", maxNumImpreciseAcc = ") {
        out = format!("{before}{}", behind.trim_start_matches(|c: char| c.is_ascii_digit()));
    }
    HINTS[..2].iter().fold(out, |line, word| line.replace(&format!(" {word} "), " "))
}

fn statement(line: &str) -> String {
    let line = without_types_of_attributes(&without_hints(line));
    if line.trim_start().starts_with("tt.func") {
        return line
            .replace("i32 {tt.divisibility =", "index {div =")
            .replace("i64 {tt.divisibility =", "i64 {div =")
            .replace("attributes {noinline = false, ", "{")
            .replace("attributes {", "{");
    }
    if line.trim_start().starts_with("} {") {
        return "}".to_string();
    }
    // A loop's bounds stand around the same word.
    let is_loop = line.contains("scf.for");
    let line = counted(&line).replace(if is_loop { " to tensor<" } else { " to " }, " -> ");
    let line = line.replace("array<i32: 1, 0>", "[1, 0]");
    let Some((made, rest)) = line.split_once(" = ") else {
        return line.replace("tt.return", "return");
    };
    let indent = made.len() - made.trim_start().len();
    let (op, operands) = rest.split_once(' ').unwrap_or((rest, ""));
    let (operands, ty) = operands.rsplit_once(" : ").unwrap_or((operands, ""));
    let index = if ty == "i32" { "index" } else { ty };
    let body = match op {
        "tt.get_program_id" => format!("block_id {operands} : {index}"),
        "tt.get_num_programs" => format!("num_blocks {operands} : {index}"),
        "arith.constant" => {
            let value = operands.strip_prefix("dense<").and_then(|v| v.strip_suffix('>'));
            // Of a truth no type is written.
            let is_truth = ["true", "false"].contains(&operands);
            let index = if is_truth && ty.is_empty() { "i1" } else { index };
            let value = value.unwrap_or(operands);
            format!("constant {value} : {index}")
        }
        "tt.extern_elementwise" => {
            let (operands, said) = operands.split_once('{').unwrap_or((operands, ""));
            let symbol = said.split("symbol = \"").nth(1).and_then(|rest| rest.split('"').next());
            let op = super::names::canonical(symbol.unwrap_or(""));
            let ty = ty.rsplit("-> ").next().unwrap_or(ty);
            format!("{op} {}: {ty}", operands)
        }
        "tt.dot" => {
            let (operands, how) =
                operands.rsplit_once(", inputPrecision").unwrap_or((operands, ""));
            let how =
                if how.is_empty() { String::new() } else { format!(" {{inputPrecision{how}}}") };
            format!("mma {operands}{how} : {}", ty.rsplit("-> ").next().unwrap_or(ty))
        }
        "tt.splat" | "tt.expand_dims" | "tt.broadcast" => format!("broadcast {operands} : {ty}"),
        "arith.divsi" | "arith.remsi" if ty == "i32" => format!("{op} {operands} : index"),
        _ => return line,
    };
    format!("{}{} = {body}", " ".repeat(indent), made.trim())
}

/// `%a:3 = scf.for` as `%a#0, %a#1, %a#2 = scf.for`.
fn counted(line: &str) -> String {
    let Some((made, rest)) = line.split_once(" = scf.") else { return line.to_string() };
    let Some((name, count)) = made.split_once(':') else { return line.to_string() };
    let count: usize = count.trim().parse().unwrap_or(1);
    let names: Vec<String> = (0..count).map(|k| format!("{name}#{k}").trim().to_string()).collect();
    format!("{} = scf.{rest}", names.join(", "))
}
