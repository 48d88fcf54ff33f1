//! `lanebook size`: what the tables weigh in a build, for all architectures and for each choice of
//! them.
use crate::args::Size;
use crate::output;
use crate::tables::known_archs;
use lanebook_gen::render::weigh;
use lanebook_gen::select::{self, select};
use lanebook_report::problem::{Problem, Problems};
use lanebook_report::table::{Align, Table};
use lanebook_tables::Tables;

/// Runs the command.
pub fn run(args: &Size, tables: &Tables<'static>) -> Result<(), Problems> {
    let known = known_archs(tables);
    let mut choices: Vec<Vec<String>> = Vec::new();
    if args.archs.is_empty() {
        choices.extend(known.iter().map(|name| vec![(*name).to_string()]));
        choices.push(known.iter().map(|name| (*name).to_string()).collect());
    } else {
        choices.extend(args.archs.iter().filter_map(|list| select::listed(list)));
    }
    let mut table = Table::new(&[
        ("BYTES", Align::Right),
        ("ATOMS", Align::Right),
        ("RULES", Align::Right),
        ("ARCHITECTURES", Align::Left),
    ]);
    for choice in choices {
        let chosen = match select(tables, &choice) {
            Ok(chosen) => chosen,
            Err(unknown) => {
                let what = unknown.first().map_or_else(
                    || "unknown architecture".to_string(),
                    |error| error.message.replace(select::VARIABLE, "the command line"),
                );
                return Err(Problem::usage(what, format!("known: {}", known.join(", "))).into());
            }
        };
        let bytes: usize = weigh(&chosen).iter().map(|weight| weight.bytes).sum();
        let names = if chosen.archs.len() == known.len() {
            format!("all {}", known.len())
        } else {
            choice.join(",")
        };
        table.row([
            bytes.to_string(),
            chosen.atoms.len().to_string(),
            chosen.rules.rules.len().to_string(),
            names,
        ]);
    }
    Ok(output::write(None, &args.format.of(&table))?)
}
