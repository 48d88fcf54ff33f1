//! `lanebook prove`: proves every rule for indices and instructions, and keeps the log of proofs.
use crate::args::{Prove, TableFormat};
use crate::output;
use crate::tables::{counted, whole};
use lanebook_gen::rules::{Certificate, Method, canonical, certificate};
use lanebook_gen::{Mode, compile};
use lanebook_proofs::prove;
use lanebook_report::problem::{Kind, Problem, Problems};
use lanebook_report::table::{Align, Table};
use std::fs;
use std::path::Path;

/// Runs the command.
pub fn run(args: &Prove, folder: Option<&Path>) -> Result<(), Problems> {
    let root = args.root.as_deref().or(folder).unwrap_or(Path::new("."));
    whole(root)?;
    let compiled = compile(root, Mode::Draft)
        .map_err(|failure| Problems::Rendered(Kind::Refused, failure.full()))?;
    let (mut certificates, mut failures) = (Vec::new(), String::new());
    for rule in compiled.rules.proved() {
        let name = &rule.name.value;
        match prove(rule, &compiled.model) {
            Ok(method) => certificates.push(Certificate {
                rule: name.clone(),
                hash: canonical::hash(&canonical::text(rule, &compiled.model)),
                method,
                span: None,
            }),
            Err(refusal) => {
                let place = compiled.sources.place(rule.name.span);
                failures += &format!("{place}: error: rule `{name}` is not proved: {refusal}\n");
            }
        }
    }
    if !failures.is_empty() {
        let wrong = counted(failures.lines().count(), "rule");
        let text = format!("{failures}{wrong} not proved, {} are\n", certificates.len());
        return Err(Problems::Rendered(Kind::Refused, text));
    }
    let log = root.join(certificate::FILE);
    let text = certificate::render(&certificates);
    let current = fs::read_to_string(&log).is_ok_and(|old| old == text);
    if args.write && !current {
        output::write(Some(&log), &text)?;
    }
    let mut table = Table::new(&[("RULE", Align::Left), ("BY", Align::Left)]);
    for one in &certificates {
        table.row([one.rule.clone(), method(one.method).to_string()]);
    }
    let became = match (current, args.write) {
        (true, _) => "is current",
        (false, true) => "is written; commit it",
        (false, false) => "is not current",
    };
    let words =
        format!("{} proved; {} {became}\n", counted(certificates.len(), "rule"), log.display());
    output::write(
        None,
        &if args.format == TableFormat::Text { words } else { args.format.of(&table) },
    )?;
    if current || args.write {
        return Ok(());
    }
    Err(Problem::refused(
        format!("{} says something else of these rules", log.display()),
        "write it anew: `lanebook prove --write`",
    )
    .into())
}

/// A method of proof, as people call it.
fn method(method: Method) -> &'static str {
    match method {
        Method::Bits => "truth table",
        Method::Basis => "basis vectors",
        Method::Polynomial => "polynomials",
        Method::Z3 => "z3",
    }
}
