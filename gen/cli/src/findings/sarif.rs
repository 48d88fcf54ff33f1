//! SARIF 2.1.0 (OASIS), for code hosts and editors: every check is a rule, every finding a result
//! with its region.
use super::Findings;
use super::fingerprint::fingerprints;
use lanebook_gen::audit;
use lanebook_gen::diagnostics::Level;
use lanebook_gen::source::Span;
use serde::Serialize;

#[derive(Serialize)]
struct Log<'a> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Run<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Run<'a> {
    tool: Tool,
    invocations: [Invocation; 1],
    column_kind: &'static str,
    results: Vec<Finding<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Invocation {
    execution_successful: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_execution_notifications: Vec<Notification>,
}

/// Something that was left out.
#[derive(Serialize)]
struct Notification {
    descriptor: Named,
    level: &'static str,
    message: Text<'static>,
}

#[derive(Serialize)]
struct Named {
    id: &'static str,
}

#[derive(Serialize)]
struct Tool {
    driver: Driver,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Driver {
    name: &'static str,
    semantic_version: &'static str,
    information_uri: &'static str,
    rules: Vec<Rule>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Rule {
    id: &'static str,
    short_description: Text<'static>,
    help_uri: String,
    default_configuration: Configuration,
}

#[derive(Serialize)]
struct Configuration {
    level: &'static str,
}

#[derive(Serialize)]
struct Text<'a> {
    text: std::borrow::Cow<'a, str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Finding<'a> {
    rule_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule_index: Option<usize>,
    level: &'static str,
    message: Text<'a>,
    partial_fingerprints: Fingerprints,
    locations: Vec<Location<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related_locations: Vec<Location<'a>>,
}

/// What the finding is known by.
#[derive(Serialize)]
struct Fingerprints {
    #[serde(rename = "lanebook/v1")]
    own: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Location<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<usize>,
    physical_location: Physical<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<Text<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Physical<'a> {
    artifact_location: Artifact<'a>,
    region: Region<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Artifact<'a> {
    uri: String,
    uri_base_id: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Region<'a> {
    start_line: usize,
    start_column: usize,
    end_line: usize,
    end_column: usize,
    snippet: Text<'a>,
}

fn text(text: &str) -> Text<'_> {
    Text { text: text.into() }
}

fn level(level: Level) -> &'static str {
    match level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Note => "note",
    }
}

pub fn render(findings: &Findings<'_>) -> Result<String, serde_json::Error> {
    let rules = audit::CHECKS.iter().map(|check| Rule {
        id: check.name,
        short_description: text(check.about),
        help_uri: format!(
            "{}/blob/main/gen/CHECKS.md#{}",
            env!("CARGO_PKG_REPOSITORY"),
            check.name
        ),
        default_configuration: Configuration { level: level(check.level) },
    });
    let location = |span: Span, id, message: Option<&'_ str>| {
        let place = findings.place(span);
        Location {
            id,
            physical_location: Physical {
                artifact_location: Artifact { uri: uri(place.file), uri_base_id: "%SRCROOT%" },
                region: Region {
                    start_line: place.start.0,
                    start_column: place.start.1,
                    end_line: place.end.0,
                    end_column: place.end.1,
                    snippet: Text { text: findings.sources.text(span).to_string().into() },
                },
            },
            message: message.map(|message| Text { text: message.to_string().into() }),
        }
    };
    let prints = fingerprints(findings.list.iter().copied(), findings.sources);
    let results = findings.list.iter().zip(prints).map(|(one, own)| Finding {
        rule_id: one.check,
        partial_fingerprints: Fingerprints { own },
        rule_index: audit::CHECKS.iter().position(|check| check.name == one.check),
        level: level(one.level),
        message: Text {
            text: one
                .help
                .as_ref()
                .map_or_else(
                    || one.message.clone(),
                    |help| format!("{}. Help: {help}", one.message),
                )
                .into(),
        },
        locations: one
            .labels
            .iter()
            .take(1)
            .map(|label| location(label.span, None, None))
            .collect(),
        related_locations: one
            .labels
            .iter()
            .enumerate()
            .skip(1)
            .map(|(id, label)| location(label.span, Some(id), Some(&label.text)))
            .collect(),
    });
    let log = Log {
        schema: "https://json.schemastore.org/sarif-2.1.0.json",
        version: "2.1.0",
        runs: [Run {
            tool: Tool {
                driver: Driver {
                    name: "lanebook",
                    semantic_version: env!("CARGO_PKG_VERSION"),
                    information_uri: env!("CARGO_PKG_REPOSITORY"),
                    rules: rules.collect(),
                },
            },
            invocations: [Invocation {
                execution_successful: true,
                tool_execution_notifications: findings
                    .list
                    .iter()
                    .filter(|one| Findings::skips(one))
                    .map(|one| Notification {
                        descriptor: Named { id: one.check },
                        level: level(one.level),
                        message: Text { text: one.message.clone().into() },
                    })
                    .collect(),
            }],
            column_kind: "unicodeCodePoints",
            results: results.collect(),
        }],
    };
    serde_json::to_string_pretty(&log).map(|text| text + "\n")
}

/// A relative path as a URI: what a URI cannot hold is written as `%XX`.
fn uri(path: &str) -> String {
    let mut out = String::new();
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
                out.push(char::from(byte))
            }
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}
