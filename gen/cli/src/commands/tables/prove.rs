//! `lanebook prove`: proves every rule for indices and instructions, and keeps the log of proofs.
use crate::args::{Prove, TableFormat};
use crate::output;
use crate::tables::{counted, whole};
use lanebook_gen::diagnostics::Diagnostics;
use lanebook_gen::rules::{Certificate, Method, canonical, certificate};
use lanebook_gen::source::Sources;
use lanebook_gen::{Compiled, Failure, Mode, compile, compile_sources, load};
use lanebook_proofs::prove;
use lanebook_report::problem::{Kind, Problem, Problems};
use lanebook_report::table::{Align, Table};
use std::fs;
use std::path::Path;

/// The inputs that the command was built with: names and texts.
const INPUTS: &[(&str, &str)] = &include!(concat!(env!("OUT_DIR"), "/inputs.rs"));

/// Whose rules are proved.
enum ProvedRules<'a> {
    /// Those of a folder.
    Folder(&'a Path),
    /// Those that are built in: no folder is named, and here is none.
    BuiltIn,
}

impl ProvedRules<'_> {
    fn compiled(&self) -> Result<Compiled, Failure> {
        match self {
            Self::Folder(root) => compile(root, Mode::Draft),
            Self::BuiltIn => {
                let mut sources = Sources::default();
                for (name, text) in INPUTS {
                    sources.add(name, None, text.replace("\r\n", "\n"));
                }
                compile_sources(sources, Diagnostics::new(), Mode::Draft)
            }
        }
    }
    /// The log of proofs as it stands.
    fn log(&self) -> Option<String> {
        match self {
            Self::Folder(root) => fs::read_to_string(root.join(certificate::FILE)).ok(),
            Self::BuiltIn => INPUTS
                .iter()
                .find(|(name, _)| *name == certificate::FILE)
                .map(|(_, text)| text.replace("\r\n", "\n")),
        }
    }
    /// What messages call that log.
    fn log_name(&self) -> String {
        match self {
            Self::Folder(root) => root.join(certificate::FILE).display().to_string(),
            Self::BuiltIn => format!("the built-in {}", certificate::FILE),
        }
    }
}

/// Whose rules are meant.
fn meant<'a>(args: &'a Prove, folder: Option<&'a Path>) -> Result<ProvedRules<'a>, Problem> {
    let here = Path::new(".");
    let named = args.root.as_deref().or(folder);
    let none_here = load::FOLDERS.iter().all(|name| !here.join(name).is_dir());
    if named.is_none() && none_here && !INPUTS.is_empty() {
        if args.write {
            return Err(Problem::usage(
                "there is no folder to write the log of proofs to",
                "name a folder that holds hw-tables/ and rules/; the built-in rules are proved without --write",
            ));
        }
        return Ok(ProvedRules::BuiltIn);
    }
    let root = named.unwrap_or(here);
    whole(root)?;
    Ok(ProvedRules::Folder(root))
}

/// Runs the command.
pub fn run(args: &Prove, folder: Option<&Path>) -> Result<(), Problems> {
    let rules = meant(args, folder)?;
    let compiled =
        rules.compiled().map_err(|failure| Problems::Rendered(Kind::Refused, failure.full()))?;
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
    let text = certificate::render(&certificates);
    let current = rules.log().is_some_and(|old| old == text);
    if let ProvedRules::Folder(root) = rules
        && args.write
        && !current
    {
        output::write(Some(&root.join(certificate::FILE)), &text)?;
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
    let log = rules.log_name();
    let words = format!("{} proved; {log} {became}\n", counted(certificates.len(), "rule"));
    output::write(
        None,
        &if args.format == TableFormat::Text { words } else { args.format.of(&table) },
    )?;
    if current || args.write {
        return Ok(());
    }
    Err(Problem::refused(
        format!("{log} says something else of these rules"),
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
