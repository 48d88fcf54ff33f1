//! A snippet: what whoever inlines it must know, as JSON and in comments.
use super::Report;
use lanebook::convert::ConversionSides;
use lanebook::emit::{ParamKind, RegisterSet, Snippet, SnippetValue};
use lanebook::query::Distribution;
use serde_json::{Value as Json, json};
use std::fmt::Write;

impl Report<'_> {
    /// The function as a snippet: the object, or `None` if it is a kernel.
    #[must_use]
    pub fn snippet(&self, sides: Option<&ConversionSides>) -> Option<Json> {
        let snippet = self.compiled.snippet(self.tables, self.program)?;
        let (mut text, mut declarations) = (String::new(), String::new());
        // A text takes all that is written.
        let _ = snippet.write(&mut text);
        let _ = snippet.write_declarations(&mut declarations);
        let (bytes, align) = snippet.scratch();
        let clobbers: Vec<Json> =
            snippet.clobbers().flat_map(|set| runs(&set)).map(Json::from).collect();
        Some(json!({
            "snippet": self.program.symbol(self.compiled.function),
            "threads": snippet.threads(),
            "wave_lanes": snippet.wave_lanes(),
            "inputs": snippet.inputs().map(|v| said(&snippet, &v, sides)).collect::<Vec<_>>(),
            "outputs": snippet.outputs().map(|v| said(&snippet, &v, sides)).collect::<Vec<_>>(),
            "thread_register": snippet.thread_register().map(|(prefix, n)| format!("{prefix}{n}")),
            "scratch_bytes": bytes,
            "scratch_align": align,
            "clobbers": clobbers,
            "instructions": snippet.instructions(),
            "declarations": declarations,
            "text": text,
        }))
    }

    /// The same as text: comments that say what is where, then the instructions.
    #[must_use]
    pub fn snippet_text(&self, sides: Option<&ConversionSides>) -> Option<String> {
        let snippet = self.compiled.snippet(self.tables, self.program)?;
        let comment = self.isa.comment;
        let mut out = String::new();
        let mut line = |text: String| {
            let _ = writeln!(out, "{comment} {text}");
        };
        line(format!("{} threads, waves of {}", snippet.threads(), snippet.wave_lanes()));
        for (word, values) in [
            ("in", snippet.inputs().collect::<Vec<_>>()),
            ("out", snippet.outputs().collect::<Vec<_>>()),
        ] {
            for value in values {
                line(format!("{word:<3} {}", words(&snippet, &value)));
                if side(&value, sides).is_some_and(Distribution::has_copies_inside) {
                    line(
                        "    without the copies of its elements that each register holds besides"
                            .into(),
                    );
                }
                if let Some(all) = as_written(&value, sides) {
                    line(format!("    as it is written, register by register: {}", all.join(", ")));
                }
            }
        }
        if let Some((prefix, number)) = snippet.thread_register() {
            line(format!("in  thread: {prefix}{number}, the thread's number in the group"));
        }
        if let (bytes @ 1.., align) = snippet.scratch() {
            line(format!(
                "scratch: {bytes} bytes of shared memory, at a multiple of {align}; nothing before may still use \
                 them, and a barrier stands before they are used again"
            ));
        }
        let writes: Vec<String> = snippet.clobbers().flat_map(|set| runs(&set)).collect();
        line(format!(
            "writes: {}",
            if writes.is_empty() { "nothing".into() } else { writes.join(", ") }
        ));
        let mut declared = String::new();
        let _ = snippet.write_declarations(&mut declared);
        declared.lines().for_each(|text| line(text.trim().to_string()));
        let _ = snippet.write(&mut out);
        Some(out)
    }
}

/// The registers of a value: `v2`, `v[2:5]` as `v2 to v5`.
fn registers(value: &SnippetValue<'_>) -> String {
    let (prefix, first) = (value.prefix, value.first);
    match value.count {
        0 | 1 => format!("{prefix}{first}"),
        count => format!("{prefix}{first} to {prefix}{}", first + count - 1),
    }
}

/// Registers that follow each other, each run as a text.
fn runs(set: &RegisterSet<'_>) -> Vec<String> {
    if set.is_special {
        return vec![set.prefix.to_string()];
    }
    let one = |(first, count): (u32, u32)| match count {
        1 => format!("{}{first}", set.prefix),
        count => format!("{0}{first} to {0}{1}", set.prefix, first + count - 1),
    };
    set.runs().map(one).collect()
}

fn kind(value: &SnippetValue<'_>) -> &'static str {
    match value.kind {
        ParamKind::Tile | ParamKind::Result(_) => "tile",
        ParamKind::Pointer => "pointer",
        ParamKind::Extent(_) => "extent",
        ParamKind::Stride(_) => "stride",
        ParamKind::Scalar => "scalar",
        ParamKind::Map(_) => "tensor_map",
        ParamKind::Blocks(_) => "blocks",
        ParamKind::Scratch => "scratch",
    }
}

fn name(snippet: &Snippet<'_>, value: &SnippetValue<'_>) -> String {
    let mut out = String::new();
    let _ = snippet.write_name(value, &mut out);
    out
}

/// The bits of the registers' numbers, of the lane's and of the warp's, each with the element that it
/// adds.
fn columns(value: &SnippetValue<'_>) -> Option<Json> {
    let fragment = value.fragment?;
    let of = |columns: &[u32]| -> Vec<Vec<u32>> {
        let place = |e: &u32| {
            let (row, col) = fragment.shape.position(*e);
            vec![row, col]
        };
        columns.iter().map(place).collect()
    };
    // Where extents are no powers of two these are of the first panel; behind its places come those
    // of the next one, which begins here.
    let panels = u32::from(fragment.shape.grid.rows) * u32::from(fragment.shape.grid.cols);
    let first = |panel: u32| fragment.element(panel << fragment.register.as_slice().len(), 0, 0);
    let begins: Vec<u32> = (0..panels).map(first).collect();
    let mut out = json!({
        "rows": fragment.shape.row_count(),
        "columns": fragment.shape.col_count(),
        "place_bits": fragment.place_bits(),
        "place": of(fragment.register.as_slice()),
        "lane": of(fragment.lane.as_slice()),
        "warp": of(fragment.warp.as_slice()),
    });
    if panels > 1 {
        out["panels"] = json!(of(&begins));
    }
    Some(out)
}

/// What was written for a value.
fn side<'s>(
    value: &SnippetValue<'_>,
    sides: Option<&'s ConversionSides>,
) -> Option<&'s Distribution> {
    match value.kind {
        ParamKind::Tile => Some(&sides?.from),
        ParamKind::Result(_) => Some(&sides?.to),
        _ => None,
    }
}

/// The names of a value's registers, each as often as the layout that was written has it, in that
/// layout's order; `None` where they are the registers one by one.
fn as_written(value: &SnippetValue<'_>, sides: Option<&ConversionSides>) -> Option<Vec<String>> {
    let side = side(value, sides)?;
    let each = u32::from(side.element_bits).div_ceil(32).max(1);
    let number = |own: u32| side.written_register(own / each) * each + own % each;
    let own: Vec<u32> = (0..u32::from(value.count)).map(number).collect();
    let count = value.count as usize * (1 << side.register_copies.count_ones());
    let place = |written: u32| {
        let first = ((written / each) & !side.register_copies) * each + written % each;
        own.iter().position(|number| *number == first)
    };
    let all: Option<Vec<usize>> = (0..count as u32).map(place).collect();
    let all = all.filter(|all| all.iter().enumerate().any(|(k, at)| k != *at))?;
    let name = |at: usize| format!("{}{}", value.prefix, usize::from(value.first) + at);
    Some(all.into_iter().map(name).collect())
}

fn said(snippet: &Snippet<'_>, value: &SnippetValue<'_>, sides: Option<&ConversionSides>) -> Json {
    let mut out = json!({
        "name": name(snippet, value),
        "kind": kind(value),
        "registers": (value.first..value.first + value.count)
            .map(|number| format!("{}{number}", value.prefix))
            .collect::<Vec<_>>(),
        "register_bits": value.register_bits,
    });
    if !matches!(value.kind, ParamKind::Result(_)) {
        out["overwritten"] = json!(value.overwritten);
    }
    if let Some(columns) = columns(value) {
        out["elements"] = columns;
    }
    if let Some(all) = as_written(value, sides) {
        out["as_written"] = json!(all);
    }
    out
}

fn words(snippet: &Snippet<'_>, value: &SnippetValue<'_>) -> String {
    let mut out = format!("{}: {}", name(snippet, value), registers(value));
    match value.kind {
        ParamKind::Scratch => out += ", the first byte of the scratch in shared memory",
        ParamKind::Pointer => out += ", an address in global memory",
        _ => {}
    }
    if let Some(layout) = value.fragment.and_then(|fragment| fragment.to_layout()) {
        let mut text = String::new();
        let names = (&lanebook::layout::WellKnown, &lanebook::layout::SymTable::new());
        if lanebook::layout::notation::tirx::print(&layout.view(), names.0, names.1, &mut text)
            .is_ok()
        {
            let _ = write!(out, ", {text}");
        }
    }
    if value.overwritten {
        out += ", overwritten";
    }
    out
}
