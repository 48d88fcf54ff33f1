//! JUnit XML, for CI servers: a case for each check that found nothing, and one for each finding.
use super::Findings;
use lanebook_gen::audit;
use lanebook_gen::diagnostics::Diagnostic;
use quick_xml::events::{BytesDecl, BytesText, Event};
use quick_xml::writer::Writer;
use std::io;

pub fn render(findings: &Findings<'_>) -> io::Result<String> {
    let mut out = Writer::new_with_indent(Vec::new(), b' ', 2);
    out.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let clean: Vec<&str> = audit::CHECKS
        .iter()
        .map(|check| check.name)
        .filter(|name| !findings.list.iter().any(|one| one.check == *name))
        .collect();
    let tests = (clean.len() + findings.list.len()).to_string();
    let failures = findings.list.iter().filter(|one| findings.fails(one)).count().to_string();
    let totals =
        [("name", "lanebook check"), ("tests", &tests), ("failures", &failures), ("errors", "0")];
    out.create_element("testsuites").with_attributes(totals).write_inner_content(|out| {
        out.create_element("testsuite").with_attributes(totals).write_inner_content(|out| {
            for name in &clean {
                let element = out
                    .create_element("testcase")
                    .with_attributes([("classname", "lanebook.check"), ("name", *name)]);
                let audited = [audit::ASSEMBLER, audit::ENCODINGS].contains(name)
                    || audit::ALL.iter().any(|(audited, _)| audited == name);
                if findings.figures.is_some() || !audited {
                    element.write_empty()?;
                    continue;
                }
                let why = match findings.part {
                    Some(part) if !audit::WHOLE.contains(name) => format!(
                        "the tables do not compile: {} atoms that are sound were looked at",
                        part.atoms
                    ),
                    _ => "the tables do not compile".to_string(),
                };
                element.write_inner_content(|out| {
                    out.create_element("skipped")
                        .with_attribute(("message", why.as_str()))
                        .write_empty()?;
                    Ok(())
                })?;
            }
            for one in &findings.list {
                case(out, findings, one)?;
            }
            Ok(())
        })?;
        Ok(())
    })?;
    let mut text = String::from_utf8(out.into_inner()).map_err(io::Error::other)?;
    text.push('\n');
    Ok(text)
}

fn case(out: &mut Writer<Vec<u8>>, findings: &Findings<'_>, one: &Diagnostic) -> io::Result<()> {
    let place = one.labels.first().map(|label| findings.place(label.span));
    let name = match &place {
        Some(at) => {
            format!("{}: {}:{}:{}: {}", one.check, at.file, at.start.0, at.start.1, one.message)
        }
        None => format!("{}: {}", one.check, one.message),
    };
    let class = format!("lanebook.check.{}", one.check);
    let line = place.as_ref().map(|at| at.start.0.to_string());
    let mut attributes = vec![("classname", class.as_str()), ("name", name.as_str())];
    if let (Some(at), Some(line)) = (&place, &line) {
        attributes.extend([("file", at.file), ("line", line.as_str())]);
    }
    let full = format!("{}{}\n", one.plain(findings.sources), one.excerpt(findings.sources));
    out.create_element("testcase").with_attributes(attributes).write_inner_content(|out| {
        if findings.fails(one) {
            let said = [("type", one.level.word()), ("message", one.message.as_str())];
            out.create_element("failure")
                .with_attributes(said)
                .write_text_content(BytesText::new(&full))?;
        } else if Findings::skips(one) {
            out.create_element("skipped")
                .with_attribute(("message", one.message.as_str()))
                .write_empty()?;
        } else {
            out.create_element("system-out").write_text_content(BytesText::new(&full))?;
        }
        Ok(())
    })?;
    Ok(())
}
