//! `lanebook lint`: what is costly or wrong in programs whose tiles have layouts.
use crate::args::{Lint, TableFormat};
use crate::output;
use lanebook_report::lint::{LINT_CHECKS, Linted, Severity, lint};
use lanebook_report::problem::{Problem, Problems};
use lanebook_report::program::read;
use lanebook_report::table::{Align, Table};
use lanebook_tables::Tables;

/// Runs the command.
pub fn run(args: &Lint, tables: &Tables<'_>) -> Result<(), Problems> {
    if args.list {
        let mut table = Table::new(&[("CHECK", Align::Left), ("LOOKS FOR", Align::Left)]);
        for (_, name, about) in LINT_CHECKS {
            table.row([name.to_string(), about.to_string()]);
        }
        return Ok(output::write(args.output.as_deref(), &args.format.of(&table))?);
    }
    if args.files.is_empty() {
        return Err(Problem::usage(
            "no program is named",
            "lanebook lint FILE.ttgir; `-` reads standard input, --list shows what is looked for",
        )
        .into());
    }
    let mut all: Vec<Linted> = Vec::new();
    for file in &args.files {
        let mut found = lint(tables, &read(Some(file))?, args.arch.as_deref())?;
        if !args.check.is_empty() {
            found.findings.retain(|one| args.check.iter().any(|name| name == one.check.name()));
        }
        if args.quiet {
            found.findings.retain(|one| one.severity != Severity::Note);
        }
        all.push(found);
    }
    let text = match args.format {
        TableFormat::Text => all.iter().map(Linted::text).collect(),
        TableFormat::Csv => rows(&all),
        TableFormat::Json => match all.as_slice() {
            [one] => format!("{:#}\n", one.json()),
            many => {
                let list: Vec<_> = many.iter().map(Linted::json).collect();
                format!("{:#}\n", serde_json::Value::from(list))
            }
        },
    };
    output::write(args.output.as_deref(), &text)?;
    let worst = |severity| all.iter().map(|one| one.count(severity)).sum::<usize>();
    let denied = worst(Severity::Wrong) + if args.deny { worst(Severity::Costly) } else { 0 };
    if denied > 0 {
        let what = if args.deny { "wrong or costly" } else { "wrong" };
        return Err(Problem::refused(
            format!("{denied} of the findings are {what}"),
            "see what each says",
        )
        .into());
    }
    Ok(())
}

/// One table of several programs: their names are a column of their own.
fn rows(all: &[Linted]) -> String {
    if let [one] = all {
        return one.csv();
    }
    let mut out = String::new();
    for one in all {
        for (number, line) in one.csv().split_inclusive('\n').enumerate() {
            match number {
                0 if out.is_empty() => out.push_str(&format!("program,{line}")),
                0 => {}
                _ => {
                    let name = lanebook_report::table::csv_row(std::slice::from_ref(&one.name));
                    out.push_str(&format!("{},{line}", name.trim_end()));
                }
            }
        }
    }
    out
}
