//! Reductions and scans whose region says how two elements are combined, as Triton prints them: one
//! statement each, with the kind that the region is.

/// What an operation of a region is as a kind.
const KINDS: [(&str, &str); 15] = [
    ("arith.addf", "add"),
    ("arith.addi", "add"),
    ("add", "add"),
    ("arith.mulf", "mul"),
    ("arith.muli", "mul"),
    ("arith.maxnumf", "max"),
    ("arith.maxsi", "max"),
    ("arith.maxui", "max"),
    ("max", "max"),
    ("arith.minnumf", "min"),
    ("arith.minsi", "min"),
    ("arith.minui", "min"),
    ("arith.andi", "and"),
    ("arith.ori", "or"),
    ("arith.xori", "xor"),
];

/// The kind of a region; empty where it is none that is known.
fn kind(body: &[&str]) -> &'static str {
    let statements: Vec<&&str> = body.iter().filter(|line| line.contains(" = ")).collect();
    if let [only] = statements[..] {
        let op = only.split(" = ").nth(1).and_then(|made| made.split(' ').next()).unwrap_or("");
        return KINDS.iter().find(|(name, _)| *name == op).map_or("", |(_, kind)| kind);
    }
    // The first element is greater or less than the other one: or the other way round.
    let first = body.iter().find_map(|line| line.strip_prefix("^bb0("));
    let first = first.and_then(|arguments| arguments.split(':').next()).unwrap_or("").trim();
    let compared = body.iter().filter(|line| line.contains(" = arith.cmp"));
    let relations = compared.filter_map(|line| {
        let mut words = line.split(" = arith.cmp").nth(1)?.split(':').next()?.split([' ', ',']);
        let mut words = words.by_ref().filter(|word| !word.is_empty()).skip(1);
        Some((words.next()?, words.next()?, words.next()?))
    });
    // What does more than to compare and to choose is none.
    let chooses = |line: &&&str| {
        ["arith.cmp", "arith.select", "arith.andi", "arith.ori"]
            .iter()
            .any(|op| line.contains(&format!(" = {op}")))
    };
    // Of equal elements the place decides, which a comparison of its own says.
    let compared_twice = statements.iter().filter(|line| line.contains(" = arith.cmp")).count() > 1;
    if !compared_twice || statements.iter().any(|line| !chooses(line)) {
        return "";
    }
    let mut orders = relations.filter(|(name, ..)| !name.ends_with("eq"));
    match orders.find(|(_, a, b)| *a == first || *b == first) {
        Some((name, a, _)) if name.contains('g') == (a == first) => "argmax",
        Some(_) => "argmin",
        None => "",
    }
}

/// One whose region is no kind, with the region's statements.
fn by_statements(
    made: &str,
    (op, operands): (&str, &str),
    attributes: &str,
    body: &[&str],
    types: &str,
) -> String {
    let label = body.iter().find_map(|line| line.strip_prefix("^bb0(")).unwrap_or("");
    let given: Vec<&str> = label
        .split(',')
        .filter_map(|argument| argument.trim().split(':').next())
        .map(str::trim)
        .collect();
    let given = given.join(" ");
    let mut out = format!(
        "  {made} = combine.{op} {operands} {{{attributes}, given = {given}}} : {types} {{\n"
    );
    for line in body.iter().filter(|line| !line.starts_with('^') && !line.is_empty()) {
        out += &format!(
            "  {}\n",
            line.replace("tt.reduce.return", "combine.return")
                .replace("tt.scan.return", "combine.return")
        );
    }
    out + "  }\n"
}

/// A text whose reductions and scans name their kinds.
pub(super) fn named(text: &str) -> String {
    let mut out = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let opens = line.trim_end().ends_with("({")
            && ["tt.reduce", "tt.scan"].iter().any(|op| line.contains(&format!("\"{op}\"(")));
        if !opens {
            out += &format!("{line}\n");
            continue;
        }
        let mut body = Vec::new();
        let mut types = "";
        for inner in lines.by_ref() {
            if let Some((_, behind)) = inner.split_once("})") {
                types = behind.split_once(':').map_or("", |(_, types)| types.trim());
                break;
            }
            body.push(inner.trim());
        }
        let (made, rest) = line.split_once(" = ").unwrap_or(("", line));
        let (op, rest) =
            rest.trim_start().trim_start_matches('"').split_once('"').unwrap_or(("", ""));
        let operands = rest.trim_start_matches('(').split(')').next().unwrap_or("");
        let inside = rest.split_once("<{").and_then(|(_, rest)| rest.split_once("}>"));
        let attributes = inside.map_or("", |(attributes, _)| attributes).replace(" : i32", "");
        let made = match made.trim().split_once(':') {
            Some((name, count)) => {
                let count: usize = count.trim().parse().unwrap_or(2);
                let names: Vec<String> = (0..count).map(|k| format!("{name}#{k}")).collect();
                names.join(", ")
            }
            None => made.trim().to_string(),
        };
        let op = op.trim_start_matches("tt.");
        let tiles = operands.split(',').count();
        let kind = if tiles > 2 { "" } else { kind(&body) };
        if kind.is_empty() || kind.starts_with("arg") != (tiles == 2) {
            out += &by_statements(&made, (op, operands), attributes.trim(), &body, types);
            continue;
        }
        out += &format!("  {made} = {op} {operands} {{{attributes}, kind = {kind}}} : {types}\n");
    }
    out
}
