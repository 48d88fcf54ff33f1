//! Size of what ships: tables by architecture, and `.text` with `.rodata` of small programs without
//! an operating system.
//!
//! Lean tables are what planning and emission read (`lanebook::LEAN`), tables are all of it
//! (`lanebook::TABLES`). Table bytes are summed over the statics that the table compiler writes
//! ([`lanebook_gen::Compiled::weights`]), for each architecture alone, as `LANEBOOK_ARCHS` builds
//! it. The sections are those of `image/`, which `size.sh` builds and links.
use crate::clock::Effort;
use crate::report::Report;
use lanebook_gen::{BuildOptions, Compiled, Mode, Weight, compile_with_options};
use std::path::{Path, PathBuf};

/// The section's heading.
pub const SECTION: &str = "Size (64-bit pointers; opt-s: 384 KiB choose + emit for one architecture, 160 KiB emit alone, 768 KiB all architectures)";

const ONE: f64 = 393_216.0;
const ALL: f64 = 786_432.0;
const EMIT: f64 = 163_840.0;

/// The repository's folder.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The tables for one architecture, or for all.
fn tables(arch: Option<&str>) -> Option<Compiled> {
    let archs = arch.map(|name| vec![name.to_string()]);
    compile_with_options(&root(), Mode::Draft, &BuildOptions { archs, extra: None }).ok()
}

fn bytes(weights: &[Weight]) -> f64 {
    weights.iter().map(|weight| weight.bytes).sum::<usize>() as f64
}

/// Measures tables, then reads what `size.sh` left: images, and the algebra alone.
pub fn measure(report: &mut Report) {
    match tables(None) {
        Some(all) => {
            let names: Vec<&str> = all.tables().archs.iter().map(|arch| arch.name).collect();
            report.alone(
                SECTION,
                format!("tables, all {} architectures", names.len()),
                bytes(&all.weights()),
                "B",
            );
            report.alone(
                SECTION,
                format!("lean tables, all {} architectures", names.len()),
                bytes(&all.lean_weights()),
                "B",
            );
            // The tables are compiled anew for each architecture.
            let (named, left) = names.split_at(if report.effort == Effort::Once {
                names.len().min(1)
            } else {
                names.len()
            });
            if !left.is_empty() {
                report.note(
                    SECTION,
                    format!("{} architectures are left out of a short run", left.len()),
                );
            }
            for name in named.iter().copied() {
                if let Some(one) = tables(Some(name)) {
                    let (whole, lean) = (one.weights(), one.lean_weights());
                    report.held(
                        SECTION,
                        format!("tables, {name} alone"),
                        bytes(&whole),
                        "B",
                        ONE,
                        "the budget for tables and code together",
                    );
                    report.held(
                        SECTION,
                        format!("lean tables, {name} alone"),
                        bytes(&lean),
                        "B",
                        ONE,
                        "the budget for tables and code together",
                    );
                    let heavy: Vec<String> =
                        lean.iter().take(5).map(|w| format!("{} {}", w.kind, w.bytes)).collect();
                    report.note(SECTION, format!("lean tables, {name}: {}", heavy.join(", ")));
                }
            }
        }
        None => report
            .note(SECTION, "the tables do not compile at the moment: `lanebook check` says why"),
    }
    images(report);
    algebra(report);
}

/// Where `size.sh` leaves its figures.
fn figures(name: &str) -> Option<String> {
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    std::fs::read_to_string(target.join("image").join(name)).ok()
}

/// Lines `OPT TEXT RODATA DATA MILLISECONDS` of the algebra's crate alone: all of its code, used or
/// not.
fn algebra(report: &mut Report) {
    let Some(list) = figures("layout.txt") else { return };
    for line in list.lines() {
        let fields: Vec<&str> = line.split_whitespace().collect();
        if let [opt, text, rodata, data, millis] = fields[..]
            && let (Ok(text), Ok(rodata), Ok(data), Ok(millis)) = (
                text.parse::<u32>(),
                rodata.parse::<u32>(),
                data.parse::<u32>(),
                millis.parse::<u32>(),
            )
        {
            report.alone(
                SECTION,
                format!("lanebook-layout, {opt}, all of its code"),
                f64::from(text + rodata + data),
                "B",
            );
            report.note(
                SECTION,
                format!("lanebook-layout, {opt}: .text {text}, .rodata {rodata}, .data {data}"),
            );
            report.alone(
                SECTION,
                format!("lanebook-layout, {opt}, clean build of the crate"),
                f64::from(millis) / 1e3,
                "s",
            );
        }
    }
}

/// Lines `NAME ONE|ALL|EMIT TEXT RODATA DATA` of the file that `size.sh` writes.
fn images(report: &mut Report) {
    let Some(list) = figures("sizes.txt") else {
        report.note(
            SECTION,
            ".text and .rodata: run tests/bench/size.sh once (it builds and links the images)",
        );
        return;
    };
    for line in list.lines() {
        let fields: Vec<&str> = line.split_whitespace().collect();
        if let [name, budget, text, rodata, data] = fields[..]
            && let (Ok(text), Ok(rodata), Ok(data)) =
                (text.parse::<u32>(), rodata.parse::<u32>(), data.parse::<u32>())
        {
            let budget = match budget {
                "EMIT" => EMIT,
                "ALL" => ALL,
                _ => ONE,
            };
            report.held(
                SECTION,
                format!("image {name}"),
                f64::from(text + rodata + data),
                "B",
                budget,
                format!("the budget; .text {text}, .rodata {rodata}, .data {data}"),
            );
        }
    }
}
