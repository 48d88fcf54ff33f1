//! `lanebook dispatch`: what can be asked of an architecture, and what answers.
use crate::args::{Dispatch, TableFormat};
use crate::output;
use crate::tables::arch;
use lanebook_gen::dispatch::{answered, spelled};
use lanebook_report::problem::{Problem, Problems};
use lanebook_report::table::{Align, Table};
use lanebook_tables::{Atom, AtomId, Tables};

/// Atoms that a line of the table names.
const FEW: usize = 6;

/// Runs the command.
pub fn run(args: &Dispatch, tables: &Tables<'static>) -> Result<(), Problems> {
    let (_, arch, _) = arch(tables, &args.arch)?;
    let all = answered(tables, arch)
        .into_iter()
        .map(|capability| (spelled(tables, arch, capability), arch.dispatch(capability)));
    let wanted =
        |line: &str| args.words.iter().all(|word| line.split([' ', '/']).any(|have| have == word));
    let found: Vec<(String, &[AtomId])> = all.filter(|(line, _)| wanted(line)).collect();
    if found.is_empty() {
        let what = format!("nothing of {} answers `{}`", arch.name, args.words.join(" "));
        return Err(Problem::refused(
            what,
            format!("`lanebook dispatch --arch {}` lists everything that is answered", arch.name),
        )
        .into());
    }
    let names = |ids: &[AtomId]| {
        ids.iter().map(|id| tables.atom(*id).map_or("?", Atom::name)).collect::<Vec<_>>()
    };
    let out = match args.format {
        TableFormat::Text => {
            let mut table = Table::new(&[("CAPABILITY", Align::Left), ("ATOMS", Align::Left)]);
            for (line, ids) in &found {
                let few = if args.long { ids.len() } else { FEW };
                let more = ids.len().saturating_sub(few);
                let more = if more > 0 { format!(", and {more} more") } else { String::new() };
                table.row([
                    line.clone(),
                    format!("{}{more}", names(ids.get(..few).unwrap_or(ids)).join(", ")),
                ]);
            }
            table.render(0)
        }
        TableFormat::Csv => {
            let mut table = Table::new(&[("CAPABILITY", Align::Left), ("ATOM", Align::Left)]);
            for (line, ids) in &found {
                names(ids).iter().for_each(|name| table.row([line.clone(), (*name).to_string()]));
            }
            table.csv()
        }
        TableFormat::Json => {
            let list: Vec<_> = found
                .iter()
                .map(|(line, ids)| serde_json::json!({ "capability": line, "atoms": names(ids) }))
                .collect();
            let value = serde_json::json!({ "arch": arch.name, "answers": list });
            format!("{value:#}\n")
        }
    };
    Ok(output::write(None, &out)?)
}
