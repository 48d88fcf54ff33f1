//! What assemblers said before, in a folder: a text that has not changed is not assembled again.
//!
//! What was said is found by a digest of everything that it depends on: the program (its place,
//! size, time of writing, and what it says of its version), its arguments and the text. It is kept
//! word by word, and read anew each time, so that how messages are understood may change. Each file
//! holds a digest of itself; one that is not whole counts as not there. A program that names no
//! version, an end by a signal, and a failure that blames no line are never remembered.
//!
//! That an instruction set's architectures are as the tables say is kept as well, by a digest of every
//! source and of this program: where nothing changed, the texts need not be made. So is what the audit
//! found.
use super::digest::sha256;
use crate::compile::Compiled;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The first words of each file; what is written changes with the number.
const FORM: &str = "lanebook verdict 1";
/// How the files' names end.
const ENDING: &str = "verdict";
/// How long what nothing asks for is kept.
const KEPT: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// A folder of what was said.
#[derive(Debug)]
pub struct Memory {
    folder: PathBuf,
    /// What programs are known by.
    programs: Mutex<BTreeMap<PathBuf, Option<String>>>,
}

/// What was said to a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// It ended well.
    pub fine: bool,
    /// The text's file, as the messages call it.
    pub input: String,
    /// Everything that was printed.
    pub text: String,
}

impl Memory {
    /// The memory in this folder, which is made if need be. What was asked for last a month ago is
    /// removed.
    ///
    /// # Errors
    /// Where the folder cannot be made.
    pub fn at(folder: &Path) -> std::io::Result<Self> {
        std::fs::create_dir_all(folder)?;
        let now = SystemTime::now();
        for file in std::fs::read_dir(folder)?.flatten() {
            let old = file
                .metadata()
                .and_then(|file| file.modified())
                .is_ok_and(|time| now.duration_since(time).is_ok_and(|age| age > KEPT));
            if old && file.path().extension().is_some_and(|ending| ending == ENDING) {
                let _ = std::fs::remove_file(file.path());
            }
        }
        Ok(Self { folder: folder.to_path_buf(), programs: Mutex::default() })
    }

    /// What stands for a program, its arguments and a text; none for a program that cannot be told
    /// from another.
    pub(super) fn key(&self, program: &Path, arguments: &[String], text: &str) -> Option<String> {
        let program = {
            let mut known = self.programs.lock().ok()?;
            known.entry(program.to_path_buf()).or_insert_with(|| identity(program)).clone()?
        };
        let mut all = format!("{FORM}\n{}\n{program}\n{}\n", program.len(), arguments.len());
        for part in arguments {
            all += &format!("{} {part}\n", part.len());
        }
        Some(sha256((all + text).as_bytes()))
    }

    /// What stands for all that an assembler was asked of an instruction set's architectures and for how it was
    /// understood: this program, that one, and every file that tables are made of.
    pub(super) fn whole_key(
        &self,
        program: &Path,
        isa: &str,
        compiled: &Compiled,
    ) -> Option<String> {
        let own = place_and_time(&std::env::current_exe().ok()?)?;
        let sources = compiled.digest(sha256).to_string();
        self.key(program, &[own, isa.to_string(), sources], "whole")
    }

    /// What stands for all that tables are made of, and for this program.
    pub(crate) fn own_key(&self, compiled: &Compiled) -> Option<String> {
        let own = place_and_time(&std::env::current_exe().ok()?)?;
        let sources = compiled.digest(sha256).to_string();
        Some(sha256(format!("{FORM}\nfound\n{own}\n{sources}").as_bytes()))
    }

    /// What the audit found, as it was kept.
    pub(crate) fn recall_found(&self, key: &str) -> Option<String> {
        self.recall(key).map(|said| said.text)
    }

    /// Keeps what the audit found.
    pub(crate) fn keep_found(&self, key: &str, text: String) {
        self.keep(key, &Said { fine: true, input: String::new(), text });
    }

    /// How many texts were judged of each architecture, if none of them was said anything against.
    pub(super) fn recall_whole(&self, key: &str) -> Option<Vec<(usize, usize)>> {
        let said = self.recall(key)?;
        let pair = |line: &str| {
            let (arch, texts) = line.split_once(' ')?;
            Some((arch.parse().ok()?, texts.parse().ok()?))
        };
        said.text.lines().map(pair).collect()
    }

    /// Keeps how many texts of each architecture were judged and taken as the tables say.
    pub(super) fn keep_whole(&self, key: &str, judged: &[(usize, usize)]) {
        let text = judged.iter().map(|(arch, texts)| format!("{arch} {texts}\n")).collect();
        self.keep(key, &Said { fine: true, input: String::new(), text });
    }

    fn file(&self, key: &str) -> PathBuf {
        self.folder.join(format!("{key}.{ENDING}"))
    }

    /// What was said, if it is known and whole.
    pub(super) fn recall(&self, key: &str) -> Option<Said> {
        let path = self.file(key);
        let held = std::fs::read_to_string(&path).ok()?;
        let (head, body) = held.split_once('\n')?;
        if head != header(key, body) {
            return None;
        }
        let mut parts = body.splitn(3, '\n');
        let fine = match parts.next()? {
            "fine" => true,
            "failed" => false,
            _ => return None,
        };
        let said = Said { fine, input: parts.next()?.to_string(), text: parts.next()?.to_string() };
        // It was of use today; that it cannot be written down changes nothing.
        let file = std::fs::File::options().append(true).open(&path);
        let _ = file.and_then(|file| file.set_modified(SystemTime::now()));
        Some(said)
    }

    /// Keeps what was said. Where that cannot be written it will be asked again.
    pub(super) fn keep(&self, key: &str, said: &Said) {
        let word = if said.fine { "fine" } else { "failed" };
        let body = format!("{word}\n{}\n{}", said.input, said.text);
        let own = self.folder.join(format!("{key}.{}.part", std::process::id()));
        let written = std::fs::write(&own, format!("{}\n{body}", header(key, &body)))
            .and_then(|()| std::fs::rename(&own, self.file(key)));
        if written.is_err() {
            let _ = std::fs::remove_file(&own);
        }
    }
}

fn header(key: &str, body: &str) -> String {
    format!("{FORM} {key} {}", sha256(body.as_bytes()))
}

/// What a program is known by: where it lies, how long it is, when it was written, what it says of
/// its version.
fn identity(program: &Path) -> Option<String> {
    let ran = Command::new(program).arg("--version").output().ok()?;
    let version = String::from_utf8_lossy(&ran.stdout);
    if !ran.status.success() || version.trim().is_empty() {
        return None;
    }
    Some(format!("{}\n{version}", place_and_time(program)?))
}

/// Where a file lies, how long it is, when it was written.
fn place_and_time(file: &Path) -> Option<String> {
    let place = file.canonicalize().ok()?;
    let file = place.metadata().ok()?;
    let time = file.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(format!("{}\n{} {}", place.display(), file.len(), time.as_nanos()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_whole_is_not_there() {
        let folder = std::env::temp_dir().join(format!("lanebook-memory-{}", std::process::id()));
        let memory = Memory::at(&folder).expect("a folder");
        let said = Said {
            fine: false,
            input: "/x/atoms.s".into(),
            text: "atoms.s:1: error\nand\n".into(),
        };
        let key = sha256(b"one");
        assert_eq!(memory.recall(&key), None);
        memory.keep(&key, &said);
        assert_eq!(memory.recall(&key), Some(said.clone()));
        // Under another name, cut short, longer, or with another word: nothing.
        let file = memory.file(&key);
        let whole = std::fs::read_to_string(&file).expect("a file");
        let other = sha256(b"two");
        std::fs::copy(&file, memory.file(&other)).expect("a copy");
        assert_eq!(memory.recall(&other), None);
        for broken in [
            whole[..whole.len() - 1].to_string(),
            whole.clone() + "x",
            whole.replace("failed", "fine"),
            whole.replace("verdict 1", "verdict 0"),
            whole.replace("error", "errox"),
            String::new(),
            "\n\n\n".to_string(),
        ] {
            std::fs::write(&file, &broken).expect("written");
            assert_eq!(memory.recall(&key), None, "{broken}");
        }
        std::fs::write(&file, &whole).expect("written");
        assert_eq!(memory.recall(&key), Some(said));
        let old = SystemTime::now() - KEPT - Duration::from_secs(60);
        let aged = std::fs::File::options().append(true).open(&file).expect("a file");
        aged.set_modified(old).expect("a time");
        let _ = Memory::at(&folder).expect("a folder");
        assert!(!file.exists() && memory.file(&other).exists());
        std::fs::remove_dir_all(&folder).expect("removed");
    }
}
