//! Where results go: standard output, or a file that is there whole or not at all.
use lanebook_report::problem::Problem;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::{fs, io, process};

/// Writes a finished result.
///
/// A file is written beside its place under another name and then moved there, so that an error
/// leaves the old one.
pub fn write(path: Option<&Path>, text: &str) -> Result<(), Problem> {
    match path {
        None => stdout(text),
        Some(path) if path == Path::new("-") => stdout(text),
        Some(path) => file(path, text).map_err(|error| refused(path, &error)),
    }
}

/// Characters of a line of the terminal that standard output is; 0 where it is none, and lines have
/// no end.
pub fn terminal_width() -> usize {
    terminal_size::terminal_size_of(io::stdout()).map_or(0, |(width, _)| usize::from(width.0))
}

fn stdout(text: &str) -> Result<(), Problem> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        // The reader (a pager, `head`) has seen enough.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(Problem::system(
            format!("cannot write to standard output: {error}"),
            "write to a file with -o",
        )),
        Ok(()) => Ok(()),
    }
}

fn file(path: &Path, text: &str) -> io::Result<()> {
    // What is there but is no plain file (a device, a pipe) is written to, not replaced.
    if fs::metadata(path).is_ok_and(|m| !m.is_file() && !m.is_dir()) {
        return fs::write(path, text);
    }
    if path.is_dir() {
        return Err(io::Error::new(ErrorKind::IsADirectory, "it is a folder"));
    }
    let beside = temporary(path);
    let written =
        fs::File::options().write(true).create_new(true).open(&beside).and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.sync_all()
        });
    let moved = written.and_then(|()| fs::rename(&beside, path));
    if moved.is_err() {
        let _ = fs::remove_file(&beside);
    }
    moved
}

fn temporary(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}.tmp", process::id()))
}

fn refused(path: &Path, error: &io::Error) -> Problem {
    let remedy = match error.kind() {
        ErrorKind::NotFound => "make the folder first, or name a file in one that exists",
        ErrorKind::PermissionDenied => "choose a folder that you may write to",
        _ => "choose another file",
    };
    Problem::system(format!("cannot write {}: {error}", path.display()), remedy)
}
