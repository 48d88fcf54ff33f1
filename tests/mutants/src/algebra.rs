//! Bugs planted in the algebra, one at a time, and who notices: the oracle runner or a unit test.
//!
//! `src/layout` and the suites of `tests/oracle` that need no tables are copied to a workspace of
//! their own, a bug is written into the copy, and the runner goes through the recorded answers;
//! what it lets pass goes before the unit tests of `src/layout`. A bug that does not apply or does
//! not build is an error of the list.

mod bugs;

pub use bugs::BUGS;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// One bug.
#[derive(Clone, Copy, Debug)]
pub struct Bug {
    /// The file below `src/layout/src`.
    pub file: &'static str,
    /// What is wrong.
    pub what: &'static str,
    /// The text that stands there, once.
    pub from: &'static str,
    /// The text in its stead.
    pub to: &'static str,
}

/// Who noticed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Noticed {
    /// The oracle runner: the first record or line that it gives.
    Oracle(String),
    /// A unit test: its name.
    Test(String),
    /// Nobody.
    Nobody,
}

/// The folders of recorded answers that need no tables.
const DATA: [&str; 7] =
    ["cute", "cute_more", "cute_tiles", "cute_boxes", "tirx", "tirx_more", "tirx_offsets"];

/// A workspace of the algebra and its runner.
#[derive(Debug)]
pub struct Workshop {
    root: PathBuf,
    at: PathBuf,
    tests: bool,
}

impl Workshop {
    /// Lays the workspace out under `at`, and shows that nothing is noticed where nothing is wrong.
    /// `tests`: whether the unit tests are asked too.
    ///
    /// # Errors
    /// What cannot be written, built, or passes no test as it is.
    pub fn new(root: &Path, at: &Path, tests: bool) -> Result<Self, String> {
        let shop = Self { root: root.to_owned(), at: at.to_owned(), tests };
        let manifest = shop.read("Cargo.toml")?;
        let part = |head: &str| {
            let from = manifest.find(head).unwrap_or(manifest.len());
            let rest = &manifest[from..];
            rest.find("\n[").map_or(rest, |end| &rest[..=end]).to_owned()
        };
        let needed = |line: &&str| !line.contains("path = ") || line.starts_with("lanebook-layout");
        let dependencies: Vec<String> = part("[workspace.dependencies]")
            .lines()
            .filter(needed)
            .map(|line| line.replace("src/layout", "layout"))
            .collect();
        shop.write(
            "Cargo.toml",
            &format!(
                "[workspace]\nmembers = [\"layout\", \"oracle\"]\nresolver = \"3\"\n\n{}\n{}\n\n\
                 [workspace.lints]\n\n[profile.dev]\ndebug = false\n\n\
                 [profile.dev.package.\"*\"]\nopt-level = 2\n",
                part("[workspace.package]"),
                dependencies.join("\n"),
            ),
        )?;
        shop.write(
            "oracle/Cargo.toml",
            "[package]\nname = \"oracle\"\nversion = \"0.0.0\"\nedition.workspace = true\n\n\
             [features]\ntables = []\n\n[dependencies]\nlanebook-layout = { workspace = true }\n\
             serde_json = { workspace = true }\n",
        )?;
        fs::copy(root.join("Cargo.lock"), at.join("Cargo.lock")).map_err(|e| e.to_string())?;
        shop.copy("src/layout", "layout")?;
        shop.copy("tests/oracle/src", "oracle/src")?;
        match shop.noticed("")? {
            Noticed::Nobody => Ok(shop),
            by => Err(format!("without a bug: {by:?}")),
        }
    }

    fn read(&self, file: &str) -> Result<String, String> {
        fs::read_to_string(self.root.join(file)).map_err(|e| format!("{file}: {e}"))
    }

    fn write(&self, file: &str, text: &str) -> Result<(), String> {
        let path = self.at.join(file);
        let folder = path.parent().unwrap_or(&self.at);
        fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))
    }

    fn copy(&self, from: &str, to: &str) -> Result<(), String> {
        let fault = |e: std::io::Error| format!("{from}: {e}");
        for entry in fs::read_dir(self.root.join(from)).map_err(fault)? {
            let name = entry.map_err(fault)?.file_name();
            let name = name.to_string_lossy();
            let (from, to) = (format!("{from}/{name}"), format!("{to}/{name}"));
            if self.root.join(&from).is_dir() {
                self.copy(&from, &to)?;
            } else {
                self.write(&to, &self.read(&from)?)?;
            }
        }
        Ok(())
    }

    /// Plants one bug, asks who notices, and takes it out again.
    ///
    /// # Errors
    /// A bug that does not apply or does not build.
    pub fn plant(&self, bug: &Bug) -> Result<Noticed, String> {
        let (text, to) = (planted(&self.root, bug)?, format!("layout/src/{}", bug.file));
        self.write(&to, &text)?;
        let noticed = self.noticed(bug.file.split('/').next().unwrap_or_default());
        self.write(&to, &self.read(&format!("src/layout/src/{}", bug.file))?)?;
        noticed.map_err(|why| format!("{}: {}: {why}", bug.file, bug.what))
    }

    fn cargo(&self, args: &[&str]) -> Result<Output, String> {
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
        command.current_dir(&self.at).args(args).env("CARGO_TARGET_DIR", self.at.join("target"));
        command.env("RUSTFLAGS", "-Awarnings").output().map_err(|e| e.to_string())
    }

    /// `near`: the peer whose records are asked first.
    fn noticed(&self, near: &str) -> Result<Noticed, String> {
        let built = self.cargo(&["build", "-q", "-p", "oracle"])?;
        if !built.status.success() {
            return Err(format!("does not build: {}", String::from_utf8_lossy(&built.stderr)));
        }
        let mut folders = DATA;
        folders.sort_by_key(|folder| !folder.starts_with(near));
        for folder in folders {
            let data = self.root.join("tests/oracle/data").join(folder);
            let run = Command::new(self.at.join("target/debug/oracle")).arg(data).output();
            let run = run.map_err(|e| e.to_string())?;
            if !run.status.success() {
                let said = String::from_utf8_lossy(&run.stdout).into_owned();
                let line = said.lines().find(|l| l.contains("DIFFER"));
                let line = line.unwrap_or("it ended without a table").trim();
                return Ok(Noticed::Oracle(line.to_owned()));
            }
        }
        if !self.tests {
            return Ok(Noticed::Nobody);
        }
        let tests = self.cargo(&["test", "-q", "-p", "lanebook-layout", "--lib"])?;
        if tests.status.success() {
            return Ok(Noticed::Nobody);
        }
        let said = String::from_utf8_lossy(&tests.stdout).into_owned();
        let name = said.lines().find_map(|l| l.strip_prefix("---- ")?.strip_suffix(" stdout ----"));
        match name {
            Some(name) => Ok(Noticed::Test(name.to_owned())),
            None => Err(String::from_utf8_lossy(&tests.stderr).into_owned()),
        }
    }
}

/// The text of the bug's file with the bug in it.
///
/// # Errors
/// The text does not stand there, or more than once.
pub fn planted(root: &Path, bug: &Bug) -> Result<String, String> {
    let path = root.join("src/layout/src").join(bug.file);
    let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    match text.matches(bug.from).count() {
        1 => Ok(text.replacen(bug.from, bug.to, 1)),
        n => Err(format!("{}: {}: {n} places", bug.file, bug.what)),
    }
}
