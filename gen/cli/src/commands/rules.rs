//! `lanebook rules`: the rules, and what is tried on an operation in which order.
use crate::args::{Rules, TableFormat};
use crate::output;
use crate::tables::beside;
use lanebook_report::problem::{Problem, Problems};
use lanebook_report::table::{Align, Table};
use lanebook_suggest::nearest;
use lanebook_tables::{IndexOp, Language, Rule, RuleId, RuleSet, Tables};
use std::fmt::Write;

/// Runs the command.
pub fn run(args: &Rules, tables: &Tables<'_>) -> Result<(), Problems> {
    let set = args.rules.as_deref().map(|file| beside(tables, file)).transpose()?;
    if let Some(set) = set.as_ref().filter(|_| args.compile) {
        return Ok(output::write(None, &set.rust())?);
    }
    let own = set.map(|set| set.tables(tables));
    let tables = own.as_ref().unwrap_or(tables);
    let text = match &args.dispatch {
        Some(word) => written(word, &dispatch(word, tables)?, tables, args.format),
        None if args.format == TableFormat::Text => listed(args, tables),
        None => args.format.of(&rows(args, tables)),
    };
    Ok(output::write(None, &text)?)
}

fn language(rule: &Rule<'_>) -> &'static str {
    match rule.language {
        Language::Tile => "tile",
        Language::Index => "index",
        Language::Target => "target",
    }
}

fn phase<'t>(tables: &Tables<'t>, phase: u8) -> &'t str {
    tables.rules.phases.get(usize::from(phase)).copied().unwrap_or("?")
}

/// The rules that are asked for, as a table.
fn rows(args: &Rules, tables: &Tables<'_>) -> Table {
    let mut table = Table::new(&[
        ("RULE", Align::Left),
        ("TERMS", Align::Left),
        ("PHASE", Align::Left),
        ("PRIORITY", Align::Right),
        ("CONDITIONS", Align::Left),
        ("DOC", Align::Left),
    ]);
    let all = (0u16..).zip(tables.rules.rules.iter().zip(tables.rules.names));
    for (id, (rule, name)) in all {
        if args.filter.as_deref().is_some_and(|part| !name.contains(part)) {
            continue;
        }
        table.row([
            (*name).to_string(),
            language(rule).into(),
            phase(tables, rule.phase).into(),
            rule.priority.to_string(),
            conditions(rule),
            tables.rules.doc(RuleId(id)).to_string(),
        ]);
    }
    table
}

fn conditions(rule: &Rule<'_>) -> String {
    let words: Vec<&str> = rule.conditions.iter().map(|condition| condition.word.name()).collect();
    words.join(", ")
}

fn listed(args: &Rules, tables: &Tables<'_>) -> String {
    let mut out =
        format!("{:<28} {:<7} {:<20} {:>8}  conditions\n", "rule", "terms", "phase", "priority");
    let shown = |name: &str| args.filter.as_deref().is_none_or(|part| name.contains(part));
    let mut count = 0;
    for (rule, name) in
        tables.rules.rules.iter().zip(tables.rules.names).filter(|(_, name)| shown(name))
    {
        count += 1;
        let conditions: Vec<&str> =
            rule.conditions.iter().map(|condition| condition.word.name()).collect();
        let line = format!(
            "{:<28} {:<7} {:<20} {:>8}  {}",
            name,
            language(rule),
            phase(tables, rule.phase),
            rule.priority,
            conditions.join(", ")
        );
        let _ = writeln!(out, "{}", line.trim_end());
    }
    let _ = writeln!(out, "\n{count} of {} rules", tables.rules.rules.len());
    out
}

/// What is tried on an operation of the tile IR or on an index word, set by set, first to last.
fn dispatch<'t>(word: &str, tables: &Tables<'t>) -> Result<Vec<Listing<'t>>, Problem> {
    let tile = tables.op_named(word);
    let index = IndexOp::ALL.into_iter().find(|op| op.name() == word);
    if tile.is_none() && index.is_none() {
        let known: Vec<&'t str> = tables
            .ops
            .iter()
            .map(|op| op.name)
            .chain(IndexOp::ALL.into_iter().map(|op| -> &'t str { op.name() }))
            .collect();
        let near = nearest(word, known.iter().copied())
            .map_or_else(String::new, |near| format!("did you mean `{near}`? "));
        return Err(Problem::usage(
            format!("`{word}` is neither an operation nor an index word"),
            format!("{near}known: {}", known.join(", ")),
        ));
    }
    let mut listings: Vec<Listing<'t>> = Vec::new();
    for set in tables.rules.sets {
        let roots: Vec<usize> = match set.language {
            Language::Tile => tile.map(|op| op.index()).into_iter().collect(),
            // A pattern that is a bare slot fits every word, and is tried after those of the word.
            Language::Target => index
                .map(|op| op as usize)
                .into_iter()
                .chain([RuleSet::ROOT_ANY])
                .filter(|_| index.is_some())
                .collect(),
            Language::Index => index.map(|op| op as usize).into_iter().collect(),
        };
        let rules: Vec<(&str, &Rule<'_>)> = roots
            .iter()
            .flat_map(|root| set.rules_for(*root))
            .filter_map(|id| Some((tables.rules.name(*id), tables.rules.rule(*id)?)))
            .collect();
        if rules.is_empty() {
            continue;
        }
        let rows: Vec<RuleRow<'t>> = rules
            .iter()
            .map(|(name, rule)| RuleRow {
                name,
                priority: i64::from(rule.priority),
                conditions: conditions(rule),
            })
            .collect();
        let isa = set.isa.and_then(|isa| tables.isa(isa)).map(|isa| isa.name);
        let archs = tables.archs.iter().filter(|arch| Some(arch.isa) == set.isa);
        let archs = archs.map(|arch| arch.name);
        let same = |one: &&mut Listing<'_>| {
            (one.phase, one.isa, one.language, &one.rows) == (set.phase, isa, set.language, &rows)
        };
        match listings.iter_mut().find(same) {
            Some(one) => one.archs.extend(archs),
            None => listings.push(Listing {
                phase: set.phase,
                language: set.language,
                isa,
                archs: archs.collect(),
                rows,
            }),
        }
    }
    Ok(listings)
}

/// The lists of a word, in a format.
fn written(
    word: &str,
    listings: &[Listing<'_>],
    tables: &Tables<'_>,
    format: TableFormat,
) -> String {
    if format != TableFormat::Text {
        let mut table = Table::new(&[
            ("PHASE", Align::Left),
            ("ISA", Align::Left),
            ("ARCHS", Align::Left),
            ("NUMBER", Align::Right),
            ("RULE", Align::Left),
            ("PRIORITY", Align::Right),
            ("CONDITIONS", Align::Left),
        ]);
        for one in listings {
            for (number, row) in one.rows.iter().enumerate() {
                table.row([
                    phase(tables, one.phase).to_string(),
                    one.isa.unwrap_or("").into(),
                    one.archs.join(" "),
                    (number + 1).to_string(),
                    row.name.into(),
                    row.priority.to_string(),
                    row.conditions.clone(),
                ]);
            }
        }
        return format.of(&table);
    }
    let mut out = String::new();
    for one in listings {
        let how = if one.language == Language::Target {
            "the cheapest is taken"
        } else {
            "the first that fits is taken"
        };
        let alike = |other: &&Listing<'_>| (other.phase, other.isa) == (one.phase, one.isa);
        let of = match one.isa {
            None => String::new(),
            Some(isa) if listings.iter().filter(alike).count() == 1 => format!(", {isa}"),
            Some(isa) => format!(", {isa} ({})", one.archs.join(", ")),
        };
        let _ = writeln!(out, "phase {}{of}: {how}", phase(tables, one.phase));
        for (number, row) in one.rows.iter().enumerate() {
            let RuleRow { name, priority, conditions } = row;
            let line = format!("{:>4} {name:<28} {priority:>8}  {conditions}", number + 1);
            let _ = writeln!(out, "{}", line.trim_end());
        }
    }
    if out.is_empty() {
        let _ = writeln!(out, "no rule begins with `{word}`");
    }
    out
}

/// The rules of a set that begin with a word, and the architectures that have this list.
struct Listing<'t> {
    phase: u8,
    language: Language,
    isa: Option<&'t str>,
    archs: Vec<&'t str>,
    rows: Vec<RuleRow<'t>>,
}

/// A rule of a list.
#[derive(PartialEq, Eq)]
struct RuleRow<'t> {
    name: &'t str,
    priority: i64,
    conditions: String,
}
