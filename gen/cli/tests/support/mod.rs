//! Running the command in a folder of its own, and what it must print.
#![allow(dead_code)]
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What a run left.
#[derive(Debug)]
pub struct Ran {
    /// Exit status.
    pub code: i32,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

/// The repository's folder.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("repository").to_path_buf()
}

/// An empty folder for one test.
pub fn folder(test: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).expect("folder");
    path
}

/// Copies a file, or a folder without its build outputs.
pub fn copy(from: &Path, to: &Path) {
    if from.is_dir() {
        fs::create_dir_all(to).expect("folder");
        for entry in fs::read_dir(from).expect("folder") {
            let path = entry.expect("entry").path();
            if path.file_name().is_some_and(|name| name != "target") {
                copy(&path, &to.join(path.file_name().expect("name")));
            }
        }
    } else {
        fs::copy(from, to).expect("copy");
    }
}

/// Runs the command in a folder, with text on its standard input.
pub fn run_in(at: &Path, args: &[&str], input: &str) -> Ran {
    run_with(at, args, input, &[])
}

/// The same with variables set.
pub fn run_with(at: &Path, args: &[&str], input: &str, variables: &[(&str, &str)]) -> Ran {
    let mut child = Command::new(env!("CARGO_BIN_EXE_lanebook"))
        .args(args)
        .envs(variables.iter().copied())
        .current_dir(at)
        .env_remove("NO_COLOR")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("run");
    // A command that does not read its input closes it.
    let _ = child.stdin.take().expect("stdin").write_all(input.as_bytes());
    let done = child.wait_with_output().expect("wait");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    Ran { code: done.status.code().unwrap_or(-1), out: text(done.stdout), err: text(done.stderr) }
}

/// Runs the command in the repository.
pub fn run(args: &[&str]) -> Ran {
    run_in(&root(), args, "")
}

/// The text of an example.
pub fn example(name: &str) -> String {
    fs::read_to_string(root().join("gen/cli/examples").join(name)).expect("example")
}

impl Ran {
    /// The command succeeded and said nothing on standard error.
    pub fn fine(self) -> String {
        assert_eq!((self.code, self.err.as_str()), (0, ""), "{}", self.out);
        self.out
    }
    /// The command line was not understood, which said all of this.
    pub fn refused_by_parser(&self, says: &[&str]) {
        assert_eq!((self.code, self.out.as_str()), (2, ""), "{}", self.err);
        assert!(says.iter().all(|text| self.err.contains(text)), "{}", self.err);
    }
    /// The command failed so, wrote nothing, and said all of this.
    pub fn refused(&self, code: i32, says: &[&str]) {
        assert_eq!((self.code, self.out.as_str()), (code, ""), "{}", self.err);
        for text in says.iter().chain(&["error: ", "= help: "]) {
            assert!(self.err.contains(text), "`{text}` is missing in\n{}", self.err);
        }
        assert!(!self.err.contains("internal"), "{}", self.err);
    }
}

/// Compares with a golden file, or writes it when `LANEBOOK_BLESS` is set.
pub fn golden(name: &str, text: &str) {
    let path = root().join("gen/cli/tests/golden").join(name);
    if std::env::var_os("LANEBOOK_BLESS").is_some_and(|v| !v.is_empty()) {
        fs::write(&path, text).expect("golden file");
        return;
    }
    let wanted = fs::read_to_string(&path).unwrap_or_default();
    if wanted != text {
        let line = wanted
            .lines()
            .zip(text.lines())
            .position(|(a, b)| a != b)
            .unwrap_or_else(|| wanted.lines().count().min(text.lines().count()));
        let of = |text: &str| text.lines().nth(line).unwrap_or("(the end)").to_string();
        panic!(
            "{} differs in line {}:\n  was {}\n  is  {}\nLANEBOOK_BLESS=1 writes it anew",
            path.display(),
            line + 1,
            of(&wanted),
            of(text)
        );
    }
}
