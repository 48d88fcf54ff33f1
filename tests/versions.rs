//! What is said of versions, held to the manifests: the least Rust, the crates that are published,
//! the list of changes.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Manifests of the workspace's members, and their folders.
fn manifests() -> Vec<(String, String)> {
    let workspace = read("Cargo.toml");
    let (_, members) = workspace.split_once("members = [").expect("members");
    let (members, _) = members.split_once(']').expect("their end");
    let folders = members.split('"').skip(1).step_by(2);
    let all: Vec<_> =
        folders.map(|f| (f.to_string(), read(PathBuf::from(f).join("Cargo.toml")))).collect();
    assert!(all.len() > 25, "only {} members", all.len());
    all
}

/// The value behind `key = "` in the workspace's manifest.
fn stated(key: &str) -> String {
    let workspace = read("Cargo.toml");
    let (_, rest) = workspace.split_once(&format!("\n{key} = \"")).expect("a key");
    rest.split('"').next().expect("a value").to_string()
}

fn name(manifest: &str) -> &str {
    let (_, rest) = manifest.split_once("\nname = \"").expect("a name");
    rest.split('"').next().expect("its end")
}

#[test]
fn every_crate_has_the_version_and_the_rust_of_the_workspace() {
    for (folder, manifest) in manifests() {
        for key in ["version.workspace = true", "rust-version.workspace = true"] {
            assert!(manifest.contains(key), "{folder}/Cargo.toml lacks {key}");
        }
        // Clippy's incompatible_msrv, one of its `suspicious` lints, looks at `rust-version`.
        let lints = manifest.contains("[lints]\nworkspace = true");
        assert!(lints || manifest.contains("publish = false"), "{folder}/Cargo.toml: lints");
    }
    assert!(read("Cargo.toml").contains("[workspace.lints.clippy]\nall = "));
    let least = stated("rust-version");
    assert!(read("docs/versions.md").contains(&format!("`rust-version`, {least}.")), "{least}");
}

#[test]
fn what_is_published_is_what_ci_packages() {
    let steps = read(".ci/steps");
    let (_, list) = steps.split_once("packages=(").expect("packages");
    let mut listed: Vec<&str> =
        list.split(')').next().expect("its end").split_whitespace().collect();
    listed.retain(|word| *word != "-p");
    listed.sort_unstable();
    let manifests = manifests();
    let mut published: Vec<&str> = manifests
        .iter()
        .filter(|(_, manifest)| !manifest.contains("publish = false"))
        .map(|(_, manifest)| name(manifest))
        .collect();
    published.sort_unstable();
    assert_eq!(listed, published);
    let page = read("docs/versions.md");
    for (folder, _) in manifests.iter().filter(|(f, _)| f.starts_with("src/")) {
        let crate_name = format!("`lanebook-{}`", folder.trim_start_matches("src/"));
        assert!(page.contains(&crate_name), "docs/versions.md promises nothing of {crate_name}");
    }
}

#[test]
fn changes_are_listed_up_to_this_version() {
    let changes = read("CHANGELOG.md");
    let headings: Vec<&str> = changes.lines().filter_map(|l| l.strip_prefix("## ")).collect();
    assert_eq!(headings.first(), Some(&"Unreleased"));
    assert!(headings.contains(&stated("version").as_str()), "{headings:?}");
}

/// Where all test files are one program, one that its list lacks would never run.
#[test]
fn every_file_of_tests_is_named() {
    let together = manifests().into_iter().filter(|(_, text)| text.contains("\nautotests = false"));
    let mut files = 0;
    for (folder, _) in together {
        let tests = PathBuf::from(folder).join("tests");
        let list = read(tests.join("all.rs"));
        for entry in fs::read_dir(root().join(&tests)).expect("tests") {
            let name = entry.expect("an entry").file_name();
            let name = name.to_string_lossy();
            let Some(module) = name.strip_suffix(".rs").filter(|name| *name != "all") else {
                continue;
            };
            assert!(list.contains(&format!("\nmod {module};")), "{name} of {}", tests.display());
            files += 1;
        }
    }
    assert!(files > 80, "{files}");
}
