//! Completions and manual pages name every command.

use crate::support::{folder, run_in};
use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

/// Names of all commands, from the help.
fn names() -> BTreeSet<String> {
    let help = run_in(&folder("manual-help"), &["--help"], "").fine();
    let list = help.split("Commands:").nth(1).expect("commands").split("Options:").next();
    let names = list.expect("a list").lines().filter_map(|line| {
        let line = line.strip_prefix("  ").filter(|line| !line.starts_with(' '))?;
        line.split_whitespace().next().map(str::to_string)
    });
    let names: BTreeSet<String> = names.filter(|name| name != "help").collect();
    assert!(names.contains("completions") && names.contains("new-arch") && names.len() > 15);
    names
}

#[test]
fn each_shell_completes_each_command() {
    let at = folder("completions");
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let text = run_in(&at, &["completions", shell], "").fine();
        for name in names() {
            assert!(text.contains(&name), "{shell} does not complete {name}");
        }
        assert!(text.contains("--arch") || text.contains("-l arch"), "{shell}: options");
    }
    run_in(&at, &["completions", "csh"], "").refused_by_parser(&["csh", "bash", "zsh"]);
    // What bash reads is bash.
    run_in(&at, &["completions", "bash", "-o", "lanebook.bash"], "").fine();
    let script = "source ./lanebook.bash; COMP_WORDS=(lanebook comp); COMP_CWORD=1; _lanebook lanebook comp lanebook; echo ${COMPREPLY[*]}";
    let out = Command::new("bash").args(["--norc", "-c", script]).current_dir(&at).output();
    let out = out.expect("bash");
    let said = String::from_utf8_lossy(&out.stdout).into_owned();
    assert_eq!(said.trim(), "compile completions", "{}", String::from_utf8_lossy(&out.stderr));
}

#[test]
fn each_command_has_a_page() {
    let at = folder("man");
    assert_eq!(run_in(&at, &["man", "-o", "man1"], "").fine(), "");
    let pages: BTreeSet<String> = fs::read_dir(at.join("man1"))
        .expect("pages")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    let mut wanted: BTreeSet<String> =
        names().iter().map(|name| format!("lanebook-{name}.1")).collect();
    wanted.insert("lanebook.1".into());
    assert_eq!(pages, wanted);
    let page = fs::read_to_string(at.join("man1/lanebook-compile.1")).expect("a page");
    for part in [".TH lanebook-compile 1", "\\-\\-arch", "built\\-in GEMM"] {
        assert!(page.contains(part), "{part}");
    }
    fs::write(at.join("file"), "").expect("a file");
    run_in(&at, &["man", "-o", "file"], "").refused(3, &["file"]);
}
