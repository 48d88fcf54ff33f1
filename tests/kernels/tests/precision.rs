//! Products of f32 whose program says what units may read of the factors: what comes out is as far
//! from the true product as the contract says, and no further; and what is refused.
#![allow(missing_docs)]

use lanebook_kernels::judge::{execute, matrix};
use lanebook_kernels::{assembled, kernel_text, try_kernel_text};
use lanebook_replay::{MatrixShape, Memory};

const ARCHS: [&str; 4] = ["sm_80", "sm_90a", "sm_120a", "gfx942"];
/// Rows and columns of the product.
const SIZE: u32 = 64;
const DEPTH: u32 = 32;

fn program(precision: &str, factor: &str) -> String {
    format!(
        "func @f(%A: memref<?x?x{factor}, #gmem> {{align = 16, stride_div = 8}}, %B: memref<?x?x{factor}, #gmem> {{align = 16, stride_div = 8}}, %C: memref<?x?xf32, #gmem>) {{threads = 128}} {{
  %a = tiled_load %A[0, 0] : memref<?x?x{factor}, #gmem> -> tensor<64x32x{factor}>
  %b = tiled_load %B[0, 0] : memref<?x?x{factor}, #gmem> -> tensor<32x64x{factor}>
  %z = constant 0.0 : tensor<64x64xf32>
  %d = mma %a, %b, %z {{precision = {precision}}} : tensor<64x64xf32>
  tiled_store %d, %C[0, 0] : tensor<64x64xf32> -> memref<?x?xf32, #gmem>
}}"
    )
}

/// A number of 24 significant bits.
fn number(i: u32) -> f32 {
    let x = i.wrapping_mul(0x9e37_79b1) ^ (i >> 3).wrapping_mul(0x85eb_ca6b);
    f32::from_bits(0x3f80_0000 | x & 0x807f_ffff)
}

/// How far the kernel's results are from the true ones at most, in parts of the sum of what the
/// factors' products amount to.
fn farthest(precision: &str, arch: &str) -> (String, f64) {
    let text = kernel_text(&program(precision, "f32"), arch);
    assembled(arch, &text).unwrap_or_else(|e| panic!("{precision}, {arch}: {e}\n{text}"));
    let a: Vec<f32> = (0..SIZE * DEPTH).map(number).collect();
    let b: Vec<f32> = (0..DEPTH * SIZE).map(|i| number(i + 0x10_0000)).collect();
    let mut memory = Memory::new();
    let [ia, ib] = [("A", &a), ("B", &b)].map(|(name, values)| memory.add_f32(name, values));
    let ic = memory.add_f32("C", &vec![7.0; (SIZE * SIZE) as usize]);
    memory.set_shape(ia, MatrixShape::row_major(SIZE, DEPTH, 4));
    memory.set_shape(ib, MatrixShape::row_major(DEPTH, SIZE, 4));
    memory.set_shape(ic, MatrixShape::row_major(SIZE, SIZE, 4));
    let params = [matrix(ia, SIZE, DEPTH), matrix(ib, DEPTH, SIZE), matrix(ic, SIZE, SIZE)];
    execute(arch, &text, 128, params.into_iter().flatten().collect(), &mut memory)
        .unwrap_or_else(|e| panic!("{precision}, {arch}: {e:?}\n{text}"));
    let far = memory.f32s(ic).into_iter().enumerate().map(|(i, got)| {
        let (row, column) = (i as u32 / SIZE, i as u32 % SIZE);
        let products = (0..DEPTH).map(|k| {
            f64::from(a[(row * DEPTH + k) as usize]) * f64::from(b[(k * SIZE + column) as usize])
        });
        let (sum, amount) =
            products.fold((0.0, 0.0), |(sum, amount), p: f64| (sum + p, amount + p.abs()));
        (f64::from(got) - sum).abs() / amount
    });
    (text, far.fold(0.0, f64::max))
}

/// Matrix instructions for such elements.
fn products(text: &str) -> usize {
    text.matches(".f32.tf32.tf32.f32").count() + text.matches("xf32 ").count()
}

#[test]
fn results_are_as_far_off_as_is_said() {
    // Sums of 32 products in f32.
    let sums = f64::from(DEPTH) * 2f64.powi(-24);
    for arch in ARCHS {
        let (exact, far) = farthest("exact", arch);
        assert_eq!(products(&exact), 0, "{arch}\n{exact}");
        assert!(far <= sums, "exact, {arch}: {far:e}");
        let (once, far) = farthest("tf32", arch);
        assert!(products(&once) > 0, "{arch}\n{once}");
        // Each factor loses less than 2^-10 of itself; that something is lost shows that the
        // numbers tell.
        assert!(far > 2f64.powi(-13) && far < 2f64.powi(-9) + sums, "tf32, {arch}: {far:e}");
        let (three, far) = farthest("tf32x3", arch);
        assert_eq!(products(&three), 3 * products(&once), "{arch}\n{three}");
        assert!(far <= 3.0 * 2f64.powi(-20) + 3.0 * sums, "tf32x3, {arch}: {far:e}");
    }
}

#[test]
fn what_says_nothing_there_is_refused() {
    for (precision, factor, arch, why) in [
        ("tf32", "f16", "sm_80", "Precision("),
        ("tf32x3", "bf16", "gfx942", "Precision("),
        ("tf32", "f32", "gfx950", "NoMatrixAtom("),
        ("tf32x3", "f32", "sm_75", "NoMatrixAtom("),
    ] {
        let refused = try_kernel_text(&program(precision, factor), arch).expect_err(arch);
        assert!(refused.contains(why), "{precision}, {factor}, {arch}: {refused}");
    }
    for factor in ["f16", "f32"] {
        let said = program("exact", factor);
        let unsaid = said.replace(" {precision = exact}", "");
        assert_ne!(said, unsaid);
        assert_eq!(kernel_text(&said, "sm_80"), kernel_text(&unsaid, "sm_80"), "{factor}");
    }
}

/// Triton's attribute is leave to read less, which is taken where a unit reads less.
#[test]
fn leave_to_read_less_is_taken_where_something_does() {
    let triton = |said: &str, factor: &str| {
        let demanded = program(said, factor);
        let allowed = demanded.replace(
            &format!("%z {{precision = {said}}} : tensor<64x64xf32>"),
            &format!("%z, inputPrecision = {said} : tensor<64x32x{factor}> * tensor<32x64x{factor}> -> tensor<64x64xf32>"),
        );
        let allowed = allowed.replace("mma %a", "tt.dot %a");
        assert_ne!(demanded, allowed);
        allowed
    };
    for arch in ARCHS {
        for said in ["tf32", "tf32x3"] {
            let (demanded, allowed) = (program(said, "f32"), triton(said, "f32"));
            assert_eq!(kernel_text(&demanded, arch), kernel_text(&allowed, arch), "{arch} {said}");
        }
    }
    for (said, factor, arch) in [
        ("ieee", "f32", "sm_80"),
        ("tf32", "f16", "sm_80"),
        ("tf32", "f32", "gfx950"),
        ("tf32x3", "f32", "sm_75"),
        ("tf32", "f16", "gfx1100"),
    ] {
        let exact = kernel_text(&program("exact", factor), arch);
        assert_eq!(kernel_text(&triton(said, factor), arch), exact, "{said} {factor} {arch}");
    }
    let both = program("tf32", "f32").replace("{precision", "{inputPrecision = tf32, precision");
    let refused = try_kernel_text(&both, "sm_80").expect_err("said twice");
    assert!(refused.contains("Precision("), "{refused}");
    let other = triton("bf16x3", "f32");
    let refused = try_kernel_text(&other, "sm_80").expect_err("no such word");
    assert!(refused.contains("AttrForm"), "{refused}");
}
