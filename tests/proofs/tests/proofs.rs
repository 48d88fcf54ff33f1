//! Proves every index and target rule as it stands and checks that `rules/proofs.ron` says so.
use lanebook_gen::rules::{Certificate, canonical, certificate};
use lanebook_proofs::{
    project::{Project, root},
    prove,
};
use std::fs;

/// With `LANEBOOK_WRITE_PROOFS=1` the file is written instead of compared.
#[test]
fn every_rule_is_proved_and_certified() {
    let project = Project::load().unwrap_or_else(|text| panic!("\n{text}"));
    let mut certificates = Vec::new();
    let mut failures = Vec::new();
    for rule in project.rules.proved() {
        match prove(rule, &project.hw) {
            Ok(method) => certificates.push(Certificate {
                rule: rule.name.value.clone(),
                hash: canonical::hash(&canonical::text(rule, &project.hw)),
                method,
                span: None,
            }),
            Err(refusal) => failures.push(format!(
                "{}: rule `{}` is not proved: {refusal}",
                project.sources.place(rule.name.span),
                rule.name.value
            )),
        }
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
    assert!(!certificates.is_empty(), "no rules were found");
    let text = certificate::render(&certificates);
    let path = root().join(certificate::FILE);
    if std::env::var_os("LANEBOOK_WRITE_PROOFS").is_some_and(|value| value == "1") {
        fs::write(&path, text).expect("rules/proofs.ron can be written");
        return;
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == text, "{} is not current; {}", certificate::FILE, certificate::REMEDY);
}
