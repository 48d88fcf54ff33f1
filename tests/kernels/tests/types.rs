//! Which elementwise operations compile on elements of which types, counted: `types.txt` says it for
//! each operation and type, so that a change of tables or rules shows what it adds, and can take
//! nothing away unseen. Whether what compiles is right the hunt and `programs` say.
#![allow(missing_docs)]

use lanebook::TABLES;
use lanebook::tables::DtypeKind;
use lanebook_kernels::{parallel, try_with_kernel};
use std::fmt::Write;
use std::path::PathBuf;

/// One architecture of each way to compute elements.
const ARCHS: [&str; 14] = [
    "sm_75",
    "sm_80",
    "sm_89",
    "sm_90a",
    "sm_100a",
    "gfx908",
    "gfx90a",
    "gfx942",
    "gfx950",
    "gfx1030",
    "gfx1100.w64",
    "gfx1200",
    "gfx1200.w64",
    "gfx1250",
];

/// Element types that have whole bytes each, and truths.
const TYPES: [&str; 17] = [
    "f64", "f32", "f16", "bf16", "e4m3", "e5m2", "e4m3fnuz", "e5m2fnuz", "i64", "u64", "i32",
    "u32", "i16", "u16", "i8", "u8", "i1",
];

/// A program of one operation. Truths come from and go to memory as whole numbers.
fn program(op: &str, operands: usize, from: &str, to: &str) -> String {
    let held = |ty: &str| if ty == "i1" { "i32" } else { ty }.to_string();
    let is_select = op == "select";
    let mut text = String::from("func @f(");
    for k in 0..operands {
        let own = if is_select && k == 0 { "i32".into() } else { held(from) };
        write!(text, "%A{k}: memref<8x64x{own}, #gmem>, ").expect("text");
    }
    writeln!(text, "%R: memref<8x64x{}, #gmem>) {{threads = 64}} {{", held(to)).expect("text");
    for k in 0..operands {
        let truth = is_select && k == 0 || from == "i1";
        let own = if truth { "i32".into() } else { held(from) };
        let name = if truth { format!("%w{k}") } else { format!("%x{k}") };
        writeln!(
            text,
            "  {name} = tiled_load %A{k}[0, 0] : memref<8x64x{own}, #gmem> -> tensor<8x64x{own}>"
        )
        .expect("text");
        if truth {
            writeln!(text, "  %x{k} = arith.trunci %w{k} : tensor<8x64xi32> -> tensor<8x64xi1>")
                .expect("text");
        }
    }
    let names: Vec<_> = (0..operands).map(|k| format!("%x{k}")).collect();
    let mut types = vec![format!("tensor<8x64x{from}>"); operands];
    if is_select {
        types[0] = "tensor<8x64xi1>".to_string();
    }
    let (names, types) = (names.join(", "), types.join(", "));
    writeln!(text, "  %r = {op} {names} : {types} -> tensor<8x64x{to}>").expect("text");
    let mut result = "%r";
    if to == "i1" {
        text += "  %s = arith.extui %r : tensor<8x64xi1> -> tensor<8x64xi32>\n";
        result = "%s";
    }
    let own = held(to);
    writeln!(
        text,
        "  tiled_store {result}, %R[0, 0] : tensor<8x64x{own}> -> memref<8x64x{own}, #gmem>\n}}"
    )
    .expect("text");
    text
}

fn is_kind(ty: &str, kinds: &[DtypeKind]) -> bool {
    TABLES.dtypes.iter().any(|dtype| dtype.name == ty && kinds.contains(&dtype.kind))
}

/// Whether an operation of this name converts.
fn converts(op: &str) -> bool {
    op == "cast"
        || op == "tt.fp_to_fp"
        || ["ext", "arith.trunc", "sitofp", "uitofp", "fpto"].iter().any(|word| op.contains(word))
}

/// An operation, its operands, their type and that of the result; empty where there is none.
type Cell = (String, usize, &'static str, &'static str);

/// What the table says of an operation on elements of a type: how many of the architectures compile
/// it; `-` where none does.
fn cell(op: &str, operands: usize, from: &str, to: &str) -> String {
    let text = program(op, operands, from, to);
    let done =
        ARCHS.iter().filter(|arch| try_with_kernel(&text, arch, |_, _, _| ()).is_ok()).count();
    if done == 0 { "-".to_string() } else { done.to_string() }
}

#[test]
fn what_compiles_is_written_down() {
    let mut rows: Vec<(String, Vec<Cell>)> = Vec::new();
    for decl in TABLES.ops.iter().filter(|decl| decl.role.is_lanewise() && !decl.same_bits) {
        let arity = usize::from(decl.operands.0);
        if !converts(decl.name) {
            let to = |ty| if decl.truth { "i1" } else { ty };
            let cells = TYPES.map(|ty| (decl.name.to_string(), arity, ty, to(ty)));
            rows.push((decl.name.to_string(), cells.to_vec()));
            continue;
        }
        let float = |ty: &str| is_kind(ty, &[DtypeKind::Float]);
        let of = |word: &str, ty: &str| match (decl.name, word) {
            ("cast", _) => true,
            ("tt.fp_to_fp" | "arith.fptosi" | "arith.fptoui", "from") => float(ty),
            ("tt.fp_to_fp" | "arith.sitofp" | "arith.uitofp", "to") => float(ty),
            _ => !float(ty),
        };
        for from in TYPES.into_iter().filter(|ty| of("from", ty)) {
            let cells = TYPES
                .into_iter()
                .map(|to| {
                    (
                        decl.name.to_string(),
                        arity,
                        from,
                        if of("to", to) && to != from { to } else { "" },
                    )
                })
                .collect();
            rows.push((format!("{} {from}", decl.name), cells));
        }
    }
    let said = parallel::each(&rows, |(name, cells)| {
        let mut line = format!("{name:24}");
        for (op, arity, from, to) in cells {
            let said = if to.is_empty() { ".".to_string() } else { cell(op, *arity, from, to) };
            write!(line, "{said:>9}").expect("text");
        }
        line
    });
    let mut out = format!("{:24}", format!("of {}", ARCHS.len()));
    TYPES.iter().for_each(|ty| write!(out, "{ty:>9}").expect("text"));
    out += "\n";
    said.iter().for_each(|line| {
        out += line;
        out += "\n";
    });
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/types.txt");
    if std::env::var_os("LANEBOOK_BLESS").is_some() {
        std::fs::write(&path, &out).expect("written");
    }
    let known = std::fs::read_to_string(&path).expect("types.txt");
    assert!(known == out, "tests/types.txt says otherwise; what compiles is\n{out}");
}
