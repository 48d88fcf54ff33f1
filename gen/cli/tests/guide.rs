//! Pages of the guide, and the README: every command on them is run, and what is shown below it is
//! what it prints.
//!
//! A fence `console` holds commands behind `$ ` and their output; a line `...` stands for any
//! number of lines. A fence with two words, such as `tile scale.tile`, is a file that the page's
//! commands read. LANEBOOK_BLESS=1 writes outputs without a `...` anew.

use crate::support::{folder, root, run_in};
use std::fs;
use std::path::{Path, PathBuf};

/// A fence of a page: its words, the line behind the fence, its lines.
struct Fence<'p> {
    words: Vec<&'p str>,
    first: usize,
    lines: Vec<&'p str>,
}

fn fences(page: &str) -> Vec<Fence<'_>> {
    let mut out: Vec<Fence<'_>> = Vec::new();
    let mut open = false;
    for (number, line) in page.lines().enumerate() {
        match (line.strip_prefix("```"), open) {
            (Some(words), false) => {
                let words = words.split_whitespace().collect();
                out.push(Fence { words, first: number + 1, lines: Vec::new() });
                open = true;
            }
            (Some(_), true) => open = false,
            (None, true) => out.last_mut().expect("an open fence").lines.push(line),
            (None, false) => {}
        }
    }
    assert!(!open, "a fence is not closed");
    out
}

/// Words of a command; single quotes keep together what stands between them.
fn split(command: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let (mut quoted, mut inside) = (false, false);
    for c in command.chars() {
        match c {
            '\'' => (quoted, inside) = (!quoted, true),
            ' ' if !quoted => {
                if inside {
                    words.push(String::new());
                }
                inside = false;
            }
            c => {
                words.last_mut().expect("a word").push(c);
                inside = true;
            }
        }
    }
    assert!(!quoted, "{command}: a quote is not closed");
    words.retain(|word| !word.is_empty());
    words
}

/// Whether an output is what is shown, where `...` stands for any lines.
fn shows(shown: &[&str], printed: &[String]) -> bool {
    let parts: Vec<&[&str]> = shown.split(|line| *line == "...").collect();
    let (last, parts) = parts.split_last().expect("a split has a part");
    let mut rest = printed;
    for (number, part) in parts.iter().enumerate() {
        let starts = 0..=rest.len().saturating_sub(part.len());
        let mut found = starts.filter(|at| begins(&rest[*at..], part));
        let Some(at) = found.next().filter(|at| number > 0 || *at == 0) else { return false };
        rest = &rest[at + part.len()..];
    }
    let from = rest.len().checked_sub(last.len());
    from.is_some_and(|from| begins(&rest[from..], last) && (from == 0 || !parts.is_empty()))
}

fn begins(lines: &[String], with: &[&str]) -> bool {
    lines.len() >= with.len() && lines.iter().zip(with).all(|(line, shown)| line == shown)
}

/// A command of a page with what is shown below it, as numbers of lines.
struct Shown {
    command: usize,
    output: std::ops::Range<usize>,
}

fn commands(fence: &Fence<'_>) -> Vec<Shown> {
    let starts: Vec<usize> =
        (0..fence.lines.len()).filter(|k| fence.lines[*k].starts_with("$ ")).collect();
    let ends = starts.iter().skip(1).copied().chain([fence.lines.len()]);
    let shown = |(start, end): (&usize, usize)| Shown {
        command: fence.first + start,
        output: fence.first + start + 1..fence.first + end,
    };
    starts.iter().zip(ends).map(shown).collect()
}

/// The folder in which a page's commands run.
fn place(name: &str, page: &[Fence<'_>]) -> PathBuf {
    let at = folder(&format!("guide-{name}"));
    for name in ["gen", "hw-tables", "rules"] {
        std::os::unix::fs::symlink(root().join(name), at.join(name)).expect("a link");
    }
    for fence in page {
        if let [_, file] = fence.words[..] {
            fs::write(at.join(file), fence.lines.join("\n") + "\n").expect("a file");
        }
    }
    at
}

/// Runs a page's commands; with its differences, and itself as it should be.
fn run(path: &Path, wrong: &mut Vec<String>) -> (usize, String) {
    let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
    let text = fs::read_to_string(path).expect("a page");
    let lines: Vec<&str> = text.lines().collect();
    let fences = fences(&text);
    let at = place(&name, &fences);
    let (mut ran, mut anew, mut next) = (0, Vec::new(), 0);
    for fence in &fences {
        if fence.words != ["console"] {
            // What looks like a command is one, and is run.
            let loose =
                fence.lines.iter().find(|l| l.starts_with("lanebook ") || l.starts_with("$ "));
            if let Some(line) = loose {
                wrong.push(format!("{name}.md: `{line}` does not stand in a console fence"));
            }
            continue;
        }
        for Shown { command, output } in commands(fence) {
            let words = split(lines[command].trim_start_matches("$ "));
            let (program, arguments) = words.split_first().expect("a command");
            assert_eq!(program, "lanebook", "{name}.md:{}", command + 1);
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            let result = run_in(&at, &arguments, "");
            let whole = format!("{}{}", result.out, result.err);
            let printed: Vec<String> = whole.lines().map(|l| l.trim_end().to_string()).collect();
            let shown = &lines[output.clone()];
            anew.extend(lines[next..output.start].iter().map(ToString::to_string));
            next = output.start;
            if !shows(shown, &printed) {
                let place = format!("{name}.md:{}", command + 1);
                wrong.push(format!("{place}: {} prints\n{}", lines[command], printed.join("\n")));
                if !shown.contains(&"...") {
                    anew.extend(printed);
                    next = output.end;
                }
            }
            ran += 1;
        }
    }
    anew.extend(lines[next..].iter().map(ToString::to_string));
    (ran, anew.join("\n") + "\n")
}

#[test]
fn pages_show_what_commands_print() {
    let mut pages: Vec<PathBuf> = fs::read_dir(root().join("docs"))
        .expect("docs")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|e| e == "md"))
        .collect();
    pages.push(root().join("README.md"));
    pages.sort();
    let list = fs::read_to_string(root().join("docs/README.md")).expect("the list");
    let (mut wrong, mut ran) = (Vec::new(), 0);
    for path in &pages {
        let name = path.file_name().expect("a name").to_string_lossy();
        if name != "README.md" && !list.contains(&format!("]({name})")) {
            wrong.push(format!("docs/README.md does not name {name}"));
        }
        let (count, anew) = run(path, &mut wrong);
        ran += count;
        if std::env::var_os("LANEBOOK_BLESS").is_some() {
            fs::write(path, anew).expect("a page");
        }
    }
    assert!(wrong.is_empty(), "{}\nLANEBOOK_BLESS=1 writes pages anew", wrong.join("\n\n"));
    assert!(ran > 30, "only {ran} commands: the reader is broken");
}

/// The readers themselves.
#[test]
fn what_differs_is_noticed() {
    let printed = ["a", "b", "c", "d"].map(String::from);
    for (shown, is) in [
        (&["a", "b", "c", "d"][..], true),
        (&["a", "...", "d"], true),
        (&["...", "b", "...", "d"], true),
        (&["a", "b", "..."], true),
        (&["..."], true),
        (&["a", "b", "c"], false),
        (&["b", "..."], false),
        (&["...", "c"], false),
        (&["a", "...", "c", "b", "..."], false),
        (&[], false),
    ] {
        assert_eq!(shows(shown, &printed), is, "{shown:?}");
    }
    assert_eq!(
        split("lanebook ask '(8,8):(8,1) at (1, 4)'  -x"),
        ["lanebook", "ask", "(8,8):(8,1) at (1, 4)", "-x"]
    );
    let page = "x\n```console\n$ lanebook a\n1\n$ lanebook b\n```\n```tile f.tile\nfunc\n```\n";
    let fences = fences(page);
    let found: Vec<_> =
        commands(&fences[0]).iter().map(|c| (c.command, c.output.clone())).collect();
    assert_eq!(found, [(2, 3..4), (4, 5..5)]);
    assert_eq!(
        (&fences[1].words[..], &fences[1].lines[..]),
        (&["tile", "f.tile"][..], &["func"][..])
    );
}
