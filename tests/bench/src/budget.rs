//! What each kind of work may take: the budgets, and the rows of a report that are held against
//! them, with what is met and what is not.
use crate::report::{Report, Row};
use std::fmt::Write;

/// The heading of the table.
pub const SECTION: &str = "Budgets (the worst of the rows that each is for)";

/// A budget.
pub struct Budget {
    /// The work.
    pub what: &'static str,
    /// What it may take.
    pub most: f64,
    /// In this unit.
    pub unit: &'static str,
    /// So much is wanted at the least, not at the most.
    pub is_least: bool,
    /// Whether a row is one of it.
    pub is_for: fn(&Row) -> bool,
    /// Why it is not met, where that is known.
    pub why: Option<&'static str>,
}

impl Budget {
    const fn missed(self, why: &'static str) -> Self {
        Self { why: Some(why), ..self }
    }
}

const fn most(
    what: &'static str,
    most: f64,
    unit: &'static str,
    is_for: fn(&Row) -> bool,
) -> Budget {
    Budget { what, most, unit, is_least: false, is_for, why: None }
}

/// Whether a row is the whole compile of a program.
fn whole(row: &Row, program: &str) -> bool {
    row.section == crate::whole::SECTION
        && row.what.starts_with(program)
        && row.what.ends_with(": whole")
}

/// Whether a row is the time that removing a kernel's conversions takes.
fn removal(row: &Row, kernel: &str) -> bool {
    row.section == crate::passes::TRITON
        && row.what.starts_with(kernel)
        && row.what.ends_with(": time")
}

/// Whether a row is the time that inference of a kernel takes.
fn inferred(row: &Row, kernel: &str) -> bool {
    row.section == crate::inference::SECTION
        && row.what.starts_with(kernel)
        && !row.what.ends_with("TileLang")
}

/// Whether a row is the size of an image.
fn image(row: &Row, kind: &str) -> bool {
    row.section == crate::size::SECTION && row.what.starts_with("image ") && row.what.contains(kind)
}

/// Why images are too large.
const LINKED: &str = "what an architecture lacks (tensor memory, block scales, parallel loops) is linked for it all the same: nothing of the engine is left out by architecture";

/// The budgets.
pub const BUDGETS: [Budget; 22] = [
    most("whole compile of the GEMM", 400.0, "us", |row| whole(row, "gemm ")),
    most("whole compile of the transpose", 300.0, "us", |row| whole(row, "transpose ")),
    most("whole compile of attention", 1200.0, "us", |row| whole(row, "attention ")),
    most("one conversion, layouts in to text out", 30.0, "us", |row| {
        row.section == crate::conversion_time::SECTION
    }),
    most("remove-conversions, GEMM", 100.0, "us", |row| removal(row, "gemm_epilogue")),
    most("remove-conversions, attention", 100.0, "us", |row| removal(row, "attention")),
    most("remove-conversions, fp8", 100.0, "us", |row| removal(row, "gemm_fp8")),
    most("remove-conversions, one region, an operation", 3.0, "us", |row| {
        row.section == crate::regions::SECTION
    }),
    most(
        "a layout of 3,200 in one text, against one of 100",
        crate::distinct::GROWTH,
        "x",
        |row| row.section == crate::distinct::SECTION && row.unit == "x",
    ),
    most("layout inference of the tile GEMM", 200.0, "us", |row| inferred(row, "gemm ")),
    most("layout inference of attention", 1000.0, "us", |row| inferred(row, "attention, ")),
    most("encoding to linear form", 1.0, "us", |row| {
        row.what.starts_with("linear form of an encoding")
    }),
    most("look-up by name", 8.0, "ns", |row| {
        row.section == crate::lookup::SECTION && row.what.contains(" by name")
    }),
    most("look-up by capability", 5.0, "ns", |row| {
        row.section == crate::lookup::SECTION && row.what.contains(" by capability")
    }),
    Budget {
        is_least: true,
        ..most("point-wise apply", 150.0, "M/s", |row| {
            row.section == crate::algebra::SECTION && row.unit == "M/s"
        })
    },
    most("image, choose and emit, one architecture", 393_216.0, "B", |row| {
        image(row, "choose+emit,opt-s")
    })
    .missed(LINKED),
    most("image, the same with parser, passes and printer", 393_216.0, "B", |row| {
        image(row, "whole,opt-s")
    })
    .missed(LINKED),
    most("image, emit alone from a stored plan", 163_840.0, "B", |row| {
        image(row, "emit,opt-s") && !image(row, "choose+emit")
    })
    .missed(LINKED),
    most("image, choose and emit, all architectures", 786_432.0, "B", |row| image(row, "all,")),
    most("lean tables, all architectures", 786_432.0, "B", |row| {
        row.what.starts_with("lean tables, all")
    }),
    most("scratch of the GEMM", 65_536.0, "B", |row| {
        row.section == crate::room::SECTION
            && row.what.starts_with("gemm ")
            && row.what.ends_with(": program and compile")
    }),
    most("records of a program, an operation", 160.0, "B/op", |row| {
        row.section == crate::passes::SECTION && row.what.ends_with(": records, the most")
    }),
];

/// A budget and the rows that it is for.
pub struct Verdict<'r> {
    /// Which.
    pub budget: &'static Budget,
    /// The worst row; none was measured where there is none.
    pub worst: Option<&'r Row>,
    /// Rows that keep to it.
    pub met: usize,
    /// Rows.
    pub of: usize,
}

/// Each budget with the worst of its rows.
#[must_use]
pub fn verdicts(report: &Report) -> Vec<Verdict<'_>> {
    let of = |budget: &'static Budget| {
        let rows: Vec<&Row> = report.rows.iter().filter(|row| (budget.is_for)(row)).collect();
        let fits = |row: &&&Row| {
            if budget.is_least { row.value >= budget.most } else { row.value <= budget.most }
        };
        let met = rows.iter().filter(fits).count();
        let worse = |a: &Row, b: &Row| (a.value > b.value) != budget.is_least;
        let worst = rows.iter().copied().reduce(|a, b| if worse(a, b) { a } else { b });
        Verdict { budget, worst, met, of: rows.len() }
    };
    BUDGETS.iter().map(of).collect()
}

/// The table: each budget with the worst of its rows, and why it is missed where it is.
#[must_use]
pub fn table(report: &Report) -> String {
    let mut out = format!("{SECTION}\n");
    for Verdict { budget, worst, met, of } in verdicts(report) {
        let Some(worst) = worst else {
            let _ = writeln!(out, "  {:<52} not measured", budget.what);
            continue;
        };
        let _ = writeln!(
            out,
            "  {:<52} {:>9.1} of {:>8} {:<5} {:>6.2} x  {} ({met} of {of}; {})",
            budget.what,
            worst.value,
            budget.most,
            budget.unit,
            worst.value / budget.most,
            if met == of { "met    " } else { "NOT MET" },
            worst.what,
        );
        if met < of {
            let _ = writeln!(out, "    why: {}", budget.why.unwrap_or("nobody has looked yet"));
        }
    }
    out
}
