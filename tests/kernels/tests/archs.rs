//! The examples on every architecture of PTX: compiled, assembled for it, and right when run lane by lane.
#![allow(missing_docs)]

use lanebook::TABLES;
use lanebook_kernels::maps::{KernelMap, kernel_maps, map_params};
use lanebook_kernels::{Assembler, e4m3, example, try_kernel_text};
use lanebook_replay::{BankModel, Kernel, Launch, MatrixShape, Memory, Param, run};
use std::collections::BTreeMap;

fn archs() -> impl Iterator<Item = &'static str> {
    TABLES.archs.iter().filter(|arch| TABLES.isa(arch.isa).is_some_and(|isa| isa.name == "ptx")).map(|arch| arch.name)
}

/// A text and the tensor maps that it takes.
type Built = (String, Vec<KernelMap>);

/// Texts of a program by what follows the two lines that name version and target, each with the architectures that have it.
fn texts(program: &str, wanted: impl Fn(&str) -> bool) -> BTreeMap<Built, Vec<&'static str>> {
    let mut out: BTreeMap<Built, Vec<&'static str>> = BTreeMap::new();
    for arch in archs().filter(|arch| wanted(arch)) {
        let text = try_kernel_text(program, arch).unwrap_or_else(|e| panic!("{arch}: {e}"));
        Assembler::of(arch).assemble(&text, arch).unwrap_or_else(|said| panic!("{arch}: {said}\n{text}"));
        let body = text.splitn(3, '\n').nth(2).expect("a body").to_string();
        out.entry((format!(".version 8.0\n.target sm_80\n{body}"), kernel_maps(program, arch))).or_default().push(arch);
    }
    out
}

/// How a product's operands are stored.
#[derive(Copy, Clone, PartialEq)]
enum Stored {
    F16,
    /// B with its rows and columns exchanged.
    F16Transposed,
    /// Eight bits, B exchanged.
    E4m3Transposed,
}

/// Runs a product of 128 x 256 on every text.
fn product_everywhere(texts: &BTreeMap<Built, Vec<&'static str>>, stored: Stored) {
    let (m, n, k) = (128u32, 256u32, 128u32);
    let a: Vec<f32> = (0..m * k).map(|i| ((i * 7 + i / k) % 13) as f32 - 6.0).collect();
    let b: Vec<f32> = (0..k * n).map(|i| ((i * 5 + i / n) % 11) as f32 - 5.0).collect();
    let turned: Vec<f32> = if stored == Stored::F16 { b.clone() } else { (0..n * k).map(|i| b[((i % k) * n + i / k) as usize]).collect() };
    let (rows, cols) = if stored == Stored::F16 { (k, n) } else { (n, k) };
    for ((text, maps), archs) in texts {
        let mut memory = Memory::new();
        let narrow = stored == Stored::E4m3Transposed;
        let mut add = |name: &str, v: &[f32]| if narrow { memory.add(name, v.iter().map(|x| e4m3(*x)).collect()) } else { memory.add_f16(name, v) };
        let (ia, ib) = (add("A", &a), add("B", &turned));
        let ic = memory.add_f32("C", &vec![7.0; (m * n) as usize]);
        let bytes = if narrow { 1 } else { 2 };
        memory.set_shape(ia, MatrixShape::row_major(m, k, bytes));
        memory.set_shape(ib, MatrixShape::row_major(rows, cols, bytes));
        let matrix = |id, rows: u32, cols: u32| [Param::Buffer(id), Param::U32(rows), Param::U32(cols), Param::U32(cols)];
        let mut params: Vec<Param> = [matrix(ia, m, k), matrix(ib, rows, cols), matrix(ic, m, n)].concat();
        params.extend([Param::U32(0), Param::U32(128), Param::U32(k)]);
        params.extend(map_params(maps, &[(ia, m, k), (ib, rows, cols), (ic, m, n)], &memory));
        let kernel = Kernel::parse_ptx(text).unwrap_or_else(|e| panic!("{archs:?}: {e}\n{text}"));
        let report = run(&kernel, &Launch::new(128, params).banks(BankModel::nvidia()), &mut memory).unwrap_or_else(|f| panic!("{archs:?}: {f}\n{text}"));
        assert_eq!(report.conflicts(), 0, "{archs:?}: bank conflicts");
        let c = memory.f32s(ic);
        for i in 0..m {
            for j in 0..n {
                let want = if j >= 128 { (0..k).map(|x| a[(i * k + x) as usize] * b[(x * n + j) as usize]).sum() } else { 7.0 };
                assert_eq!(c[(i * n + j) as usize], want, "{archs:?}: row {i}, column {j}");
            }
        }
    }
}

#[test]
fn gemm_everywhere() {
    for (name, stored) in [("gemm.tile", Stored::F16), ("gemm_bt.tile", Stored::F16Transposed)] {
        let texts = texts(&example(name), |_| true);
        let all: usize = texts.values().map(Vec::len).sum();
        assert!(all >= 22 && texts.len() >= 2, "{name}: {all} architectures, {} texts", texts.len());
        product_everywhere(&texts, stored);
    }
}

/// Where 8-bit floats are multiplied, as machine instructions or by the assembler's expansion, the example compiles; elsewhere it
/// is refused for want of an instruction.
#[test]
fn eight_bit_gemm_everywhere() {
    let program = example("gemm_fp8.tile");
    let texts = texts(&program, |arch| {
        let refused = try_kernel_text(&program, arch).err();
        assert!(refused.as_ref().is_none_or(|e| e.contains("NoMatrixAtom")), "{arch}: {refused:?}");
        let is_older = ["sm_75", "sm_80", "sm_86", "sm_87"].contains(&arch);
        assert_eq!(refused.is_some(), is_older, "{arch}: {refused:?}");
        refused.is_none()
    });
    product_everywhere(&texts, Stored::E4m3Transposed);
}

#[test]
fn transpose_everywhere() {
    let (rows, cols) = (128u32, 64u32);
    let a: Vec<f32> = (0..rows * cols).map(|i| i as f32).collect();
    for ((text, maps), archs) in &texts(&example("transpose.tile"), |_| true) {
        let mut memory = Memory::new();
        let (ia, ib) = (memory.add_f32("A", &a), memory.add_f32("B", &vec![-1.0; (rows * cols) as usize]));
        let matrix = |id, r: u32, c: u32| [Param::Buffer(id), Param::U32(r), Param::U32(c), Param::U32(c)];
        let mut params: Vec<Param> = [matrix(ia, rows, cols), matrix(ib, cols, rows)].concat();
        params.extend([Param::U32(64), Param::U32(0)]);
        params.extend(map_params(maps, &[(ia, rows, cols), (ib, cols, rows)], &memory));
        let kernel = Kernel::parse_ptx(text).unwrap_or_else(|e| panic!("{archs:?}: {e}\n{text}"));
        run(&kernel, &Launch::new(128, params).banks(BankModel::nvidia()), &mut memory).unwrap_or_else(|f| panic!("{archs:?}: {f}\n{text}"));
        let b = memory.f32s(ib);
        for i in 0..cols {
            for j in 0..rows {
                let want = if j >= 64 { a[(j * cols + i) as usize] } else { -1.0 };
                assert_eq!(b[(i * rows + j) as usize], want, "{archs:?}: row {i}, column {j}");
            }
        }
    }
}
