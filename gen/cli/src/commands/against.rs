//! `lanebook check --against`: which facts differ from another version of the tables, and which
//! choices follow.
use super::compile::{annotated, examples};
use lanebook_gen::audit::against::compare;
use lanebook_gen::diagnostics::{Diagnostic, Diagnostics, Level};
use lanebook_gen::source::Sources;
use lanebook_gen::{Compiled, Mode, compile_sources, load};
use lanebook_report::problem::Problem;
use lanebook_tables::Tables;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Everything that differs, as notes of the checks `change` and `pick`.
pub fn differences(
    root: &Path,
    against: &str,
    new: &Sources,
    compiled: Option<&Compiled>,
) -> Result<Diagnostics, Problem> {
    let old = version(root, against)?;
    let mut out = Diagnostics::new();
    for difference in compare(&old, new) {
        let note = match difference.place {
            Some(span) => Diagnostic::at(span, difference.text()),
            None => Diagnostic::nowhere(difference.text()),
        };
        out.push(note.as_level(Level::Note));
    }
    out.name("change");
    if let Some(compiled) = compiled.filter(|_| !out.is_empty()) {
        for line in picks(old, &compiled.tables()) {
            out.push(Diagnostic::nowhere(line).as_level(Level::Note));
        }
        out.name("pick");
    }
    Ok(out)
}

/// The tables of a folder, or of a commit of the repository that the tables are in.
fn version(root: &Path, against: &str) -> Result<Sources, Problem> {
    let folder = Path::new(against);
    if load::FOLDERS.iter().all(|name| folder.join(name).is_dir()) {
        let mut unread = Diagnostics::new();
        let sources = load::find(folder, &mut unread);
        return match unread.sorted().first() {
            None => Ok(sources),
            Some(first) => {
                Err(Problem::system(first.message.clone(), "make the files of --against readable"))
            }
        };
    }
    let git = |arguments: &[&str], input: &str| -> Result<Vec<u8>, Problem> {
        let failed = |why: String| {
            let what = format!(
                "--against {against}: no folder with hw-tables/ and rules/, and no commit: {}",
                why.trim()
            );
            Problem::usage(
                what,
                "name such a folder, or a commit of the git repository that the tables are in",
            )
        };
        let mut child = Command::new("git")
            .arg("-C")
            .arg(root)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| failed(format!("git: {error}")))?;
        // The answers may be longer than a pipe holds, so the questions are written beside reading.
        let writer = child.stdin.take().map(|mut stdin| {
            let input = input.to_string();
            std::thread::spawn(move || stdin.write_all(input.as_bytes()))
        });
        let done = child.wait_with_output().map_err(|error| failed(format!("git: {error}")))?;
        if let Some(writer) = writer {
            let _ = writer.join();
        }
        if done.status.success() {
            Ok(done.stdout)
        } else {
            Err(failed(String::from_utf8_lossy(&done.stderr).into_owned()))
        }
    };
    let commit = git(
        &["rev-parse", "--verify", "--quiet", "--end-of-options", &format!("{against}^{{commit}}")],
        "",
    )?;
    let commit = String::from_utf8_lossy(&commit).trim().to_string();
    let names = git(
        &[&["ls-tree", "-r", "--name-only", "-z", commit.as_str(), "--"][..], &load::FOLDERS]
            .concat(),
        "",
    )?;
    let names: Vec<String> = String::from_utf8_lossy(&names)
        .split('\0')
        .filter(|name| name.ends_with(".ron"))
        .map(str::to_string)
        .collect();
    let questions: String = names.iter().map(|name| format!("{commit}:./{name}\n")).collect();
    let answers = git(&["cat-file", "--batch"], &questions)?;
    let mut sources = Sources::default();
    let mut rest = answers.as_slice();
    for name in &names {
        let Some((text, after)) = blob(rest) else {
            return Err(Problem::internal(format!("git gave no text for {name}"), "report this"));
        };
        sources.add(name, None, String::from_utf8_lossy(text).replace("\r\n", "\n"));
        rest = after;
    }
    Ok(sources)
}

/// The first text of what `git cat-file --batch` prints, and what follows it.
fn blob(answers: &[u8]) -> Option<(&[u8], &[u8])> {
    let line = answers.iter().position(|byte| *byte == b'\n')?;
    let (head, body) = (std::str::from_utf8(&answers[..line]).ok()?, &answers[line + 1..]);
    let length: usize = head.rsplit(' ').next()?.parse().ok()?;
    Some((body.get(..length)?, body.get(length + 1..)?))
}

/// Where the example programs are compiled otherwise, for each architecture that both versions
/// have.
fn picks(old: Sources, new: &Tables<'_>) -> Vec<String> {
    let old = match compile_sources(old, Diagnostics::new(), Mode::Draft) {
        Ok(old) => old.tables(),
        Err(failure) => {
            let first = failure
                .diagnostics
                .sorted()
                .first()
                .map_or_else(String::new, |one| one.message.clone());
            return vec![format!(
                "choices are not compared: this version of lanebook does not take the other tables ({first})"
            )];
        }
    };
    let mut out = Vec::new();
    for arch in new.archs {
        if old.arch_named(arch.name).is_none() {
            continue;
        }
        for program in examples() {
            let (before, after) =
                (annotated(&old, arch.name, &program), annotated(new, arch.name, &program));
            out.extend(
                changed(&before, &after)
                    .into_iter()
                    .map(|line| format!("{} on {}: {line}", program.name, arch.name)),
            );
        }
    }
    out
}

/// The lines that differ between two annotated programs. The program is the same, so lines answer
/// each other.
fn changed(before: &Result<String, String>, after: &Result<String, String>) -> Vec<String> {
    match (before, after) {
        (Ok(before), Ok(after)) => {
            let note = |line: &str| {
                line.split_once("  // ")
                    .map_or_else(|| "nothing".to_string(), |(_, note)| note.to_string())
            };
            let differing = before.lines().zip(after.lines()).filter(|(a, b)| a != b);
            differing
                .map(|(a, b)| {
                    format!(
                        "{}: was {}, is {}",
                        a.split("  // ").next().unwrap_or(a).trim(),
                        note(a),
                        note(b)
                    )
                })
                .collect()
        }
        (Err(before), Err(after)) if before == after => Vec::new(),
        (Err(before), Err(after)) => vec![format!("refused otherwise: was {before}, is {after}")],
        (Ok(_), Err(why)) => vec![format!("is refused now: {why}")],
        (Err(why), Ok(_)) => vec![format!("is compiled now; before: {why}")],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_of_git_are_taken_apart() {
        let answers = b"abc blob 3\nx\ny\ndef blob 0\n\n";
        let (first, rest) = blob(answers).expect("first");
        assert_eq!(first, b"x\ny");
        assert_eq!(blob(rest), Some((&b""[..], &b""[..])));
        assert_eq!(blob(b"abc missing\n"), None);
        assert_eq!(blob(b""), None);
    }

    #[test]
    fn lines_that_differ() {
        let (a, b) = (
            Ok("f {  // one\n  x  // p\n".to_string()),
            Ok("f {  // one\n  x  // q\n".to_string()),
        );
        assert_eq!(changed(&a, &b), ["x: was p, is q"]);
        assert!(changed(&a, &a).is_empty());
        assert_eq!(changed(&a, &Err("no".into())), ["is refused now: no"]);
        assert_eq!(changed(&Err("no".into()), &a), ["is compiled now; before: no"]);
        assert_eq!(
            changed(&Err("no".into()), &Err("never".into())),
            ["refused otherwise: was no, is never"]
        );
    }
}
