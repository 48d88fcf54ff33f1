//! Sources as the tests about them read them.

use std::fs;
use std::path::{Path, PathBuf};

/// The sources below a folder, but not those of crates that lie in folders of `root`.
pub fn sources(folder: &Path, root: &Path) -> Vec<PathBuf> {
    let mut out = Vec::new();
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).expect("a folder").map(|e| e.expect("an entry").path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            if !path.join("Cargo.toml").exists() || path == root {
                out.extend(sources(&path, root));
            }
        } else if path.extension().is_some_and(|e| e == "rs") {
            out.push(path);
        }
    }
    out
}

/// The text without comments and without what follows `#[cfg(test)]` as a block or as one item.
pub fn code(text: &str) -> String {
    let mut out = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let bare = line.split("//").next().unwrap_or("");
        if bare.trim() == "#[cfg(test)]" {
            // The item: up to a line that ends it at the same depth.
            let mut depth = 0i32;
            out.push('\n');
            for item in lines.by_ref() {
                out.push('\n');
                depth += item.matches('{').count() as i32 - item.matches('}').count() as i32;
                let ends = item.trim_end().ends_with(['}', ';', ',']);
                if depth <= 0 && ends {
                    break;
                }
            }
            continue;
        }
        out.push_str(bare);
        out.push('\n');
    }
    out
}
