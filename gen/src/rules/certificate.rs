//! Certificates: that each index and target rule, as it stands, has been proved.
//!
//! `rules/proofs.ron` maps a rule to the hash of its canonical text ([`super::canonical`]) and the
//! method of its proof. It is written by `lanebook-proofs` only, which proves every rule anew; a
//! build merely compares hashes.
use super::schema::{MethodWord, ProofsFile};
use super::{RuleModel, canonical};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::model::HwModel;
use crate::source::Span;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The file of certificates.
pub use crate::files::PROOFS as FILE;
/// How it is made.
pub const REMEDY: &str = "prove it: LANEBOOK_WRITE_PROOFS=1 cargo test -p lanebook-proofs";

/// How a rule was proved.
pub type Method = MethodWord;

/// That a rule was proved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    /// The rule.
    pub rule: String,
    /// Hash of its canonical text.
    pub hash: String,
    /// How it was proved.
    pub method: Method,
    /// Where it stands.
    pub span: Option<Span>,
}

pub(super) fn resolve(file: ProofsFile) -> Vec<Certificate> {
    let one = |entry: &crate::spanned::Spanned<super::schema::CertificateEntry>| Certificate {
        rule: entry.rule.value.clone(),
        hash: entry.hash.clone(),
        method: entry.method,
        span: Some(entry.span),
    };
    file.certificates.iter().map(one).collect()
}

/// Every rule that needs one has a current certificate, and every certificate a rule.
pub fn check(model: &RuleModel, hw: &HwModel, diags: &mut Diagnostics) {
    let mut left: BTreeMap<&str, &Certificate> = model
        .certificates
        .iter()
        .map(|certificate| (certificate.rule.as_str(), certificate))
        .collect();
    for rule in model.proved() {
        let hash = canonical::hash(&canonical::text(rule, hw));
        match left.remove(rule.name.value.as_str()) {
            Some(certificate) if certificate.hash == hash => {}
            Some(certificate) => {
                let mut error = Diagnostic::at(
                    rule.name.span,
                    format!("rule `{}` has changed since it was proved", rule.name.value),
                )
                .help(REMEDY);
                if let Some(span) = certificate.span {
                    error = error.note(span, "its certificate");
                }
                diags.push(error);
            }
            None => diags.push(
                Diagnostic::at(
                    rule.name.span,
                    format!("rule `{}` has no proof certificate", rule.name.value),
                )
                .help(REMEDY)
                .lacks(&rule.name),
            ),
        }
    }
    for certificate in left.values() {
        let message = format!("certificate for `{}`, which is not a rule", certificate.rule);
        let found = match certificate.span {
            Some(span) => Diagnostic::at(span, &message),
            None => Diagnostic::nowhere(&message),
        };
        diags.push(
            found
                .help("LANEBOOK_WRITE_PROOFS=1 cargo test -p lanebook-proofs writes the file anew")
                .lacks(&certificate.rule),
        );
    }
}

/// The rules that need a proof and have none here, by name: none of these certificates is for them
/// as they stand.
#[must_use]
pub fn unproved<'m>(
    model: &'m RuleModel,
    hw: &HwModel,
    certificates: &[Certificate],
) -> Vec<&'m str> {
    let proved: std::collections::BTreeSet<(&str, &str)> = certificates
        .iter()
        .map(|certificate| (certificate.rule.as_str(), certificate.hash.as_str()))
        .collect();
    let without = model.proved().filter(|rule| {
        let hash = canonical::hash(&canonical::text(rule, hw));
        !proved.contains(&(rule.name.value.as_str(), hash.as_str()))
    });
    without.map(|rule| rule.name.value.as_str()).collect()
}

/// The text of the file for these certificates.
#[must_use]
pub fn render(certificates: &[Certificate]) -> String {
    let mut out = String::from(
        "// Written by `LANEBOOK_WRITE_PROOFS=1 cargo test -p lanebook-proofs`, never by hand: each rule here was proved as it stands.\n(certificates: [\n",
    );
    let mut sorted: Vec<&Certificate> = certificates.iter().collect();
    sorted.sort_by(|a, b| a.rule.cmp(&b.rule));
    for certificate in sorted {
        let method = match certificate.method {
            Method::Bits => "bits",
            Method::Basis => "basis",
            Method::Polynomial => "polynomial",
            Method::Z3 => "z3",
        };
        let _ = writeln!(
            out,
            "    (rule: \"{}\", hash: \"{}\", method: {method}),",
            certificate.rule, certificate.hash
        );
    }
    out.push_str("])\n");
    out
}
