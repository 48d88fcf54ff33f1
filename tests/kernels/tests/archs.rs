//! The examples on every architecture of PTX: compiled, assembled for it, and right when run lane by lane.
#![allow(missing_docs)]

use lanebook::TABLES;
use lanebook_kernels::{Assembler, example, try_kernel_text};
use lanebook_replay::{BankModel, Kernel, Launch, MatrixShape, Memory, Param, run};
use std::collections::BTreeMap;

fn archs() -> impl Iterator<Item = &'static str> {
    TABLES.archs.iter().filter(|arch| TABLES.isa(arch.isa).is_some_and(|isa| isa.name == "ptx")).map(|arch| arch.name)
}

/// Texts of a program by what follows the two lines that name version and target, each with the architectures that have it.
fn texts(program: &str) -> BTreeMap<String, Vec<&'static str>> {
    let mut out: BTreeMap<String, Vec<&'static str>> = BTreeMap::new();
    for arch in archs() {
        let text = try_kernel_text(program, arch).unwrap_or_else(|e| panic!("{arch}: {e}"));
        Assembler::of(arch).assemble(&text, arch).unwrap_or_else(|said| panic!("{arch}: {said}\n{text}"));
        let body = text.splitn(3, '\n').nth(2).expect("a body").to_string();
        out.entry(format!(".version 8.0\n.target sm_80\n{body}")).or_default().push(arch);
    }
    out
}

#[test]
fn gemm_everywhere() {
    let texts = texts(&example("gemm.tile"));
    let all: usize = texts.values().map(Vec::len).sum();
    assert!(all >= 22 && texts.len() >= 2, "{} architectures, {} texts", all, texts.len());
    let (m, n, k) = (128u32, 256u32, 128u32);
    let a: Vec<f32> = (0..m * k).map(|i| ((i * 7 + i / k) % 13) as f32 - 6.0).collect();
    let b: Vec<f32> = (0..k * n).map(|i| ((i * 5 + i / n) % 11) as f32 - 5.0).collect();
    for (text, archs) in &texts {
        let mut memory = Memory::new();
        let (ia, ib) = (memory.add_f16("A", &a), memory.add_f16("B", &b));
        let ic = memory.add_f32("C", &vec![7.0; (m * n) as usize]);
        memory.set_shape(ia, MatrixShape::row_major(m, k, 2));
        memory.set_shape(ib, MatrixShape::row_major(k, n, 2));
        let matrix = |id, rows: u32, cols: u32| [Param::Buffer(id), Param::U32(rows), Param::U32(cols), Param::U32(cols)];
        let mut params: Vec<Param> = [matrix(ia, m, k), matrix(ib, k, n), matrix(ic, m, n)].concat();
        params.extend([Param::U32(0), Param::U32(128), Param::U32(k)]);
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
fn transpose_everywhere() {
    let (rows, cols) = (128u32, 64u32);
    let a: Vec<f32> = (0..rows * cols).map(|i| i as f32).collect();
    for (text, archs) in &texts(&example("transpose.tile")) {
        let mut memory = Memory::new();
        let (ia, ib) = (memory.add_f32("A", &a), memory.add_f32("B", &vec![-1.0; (rows * cols) as usize]));
        let matrix = |id, r: u32, c: u32| [Param::Buffer(id), Param::U32(r), Param::U32(c), Param::U32(c)];
        let mut params: Vec<Param> = [matrix(ia, rows, cols), matrix(ib, cols, rows)].concat();
        params.extend([Param::U32(64), Param::U32(0)]);
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
