//! Layouts and the functions of layouts.
use super::{answer, told, value};

#[test]
fn chains_of_layouts() {
    // Element (i, j) of the second is at 8 * (i ^ j) + j, which the first, rows of 8, sends to 8 * j + (i ^ j).
    let chain = "(8,8):(8,1) o S<3,0,-3> o (8,8):(8,1)";
    assert_eq!(value(chain), "S<3,0,3> o 0 o (8,8):(1,8)");
    assert_eq!(value(&format!("{chain} at (3, 5)")), format!("m {}", 8 * 5 + (3 ^ 5)));
    assert_eq!(value("compose((8,8):(8,1), S<3,0,-3> o (8,8):(8,1)) at (3, 5)"), "m 46");
    // Twice is not at all.
    assert_eq!(value("S<3,3,3> o S<3,3,3> o (8,64):(64,1)"), "(8,64):(64,1)");
    // 3, 2, 1, 0 are the rows of 8 from the last.
    assert_eq!(value("(4,8):(8,1) o 3 o 4:-1 at 0"), "m 24");
    assert_eq!(value("(4,8):(8,1) o 3 o 4:-1 at 3"), "m 0");
    // Back from row, column ^ row.
    assert_eq!(value("right_inverse(S<3,0,3> o (8,8):(8,1))"), "S<3,0,-3> o 0 o (8,8):(8,1)");
    // 0, 2, 1, 3: bits 0 and 1 change places, and the bits 2 and 3 that go into them do not.
    let apart = answer("right_inverse(S<2,0,2> o (2,2,2,2):(1,4,2,8))");
    assert!(apart.contains("at bit 2: the layout moves its bits apart"), "{apart}");
    let three = answer("3 o S<1,0,3> o (8,8):(1,8)");
    assert!(three.contains("together with others"), "{three}");
    // What waits for a layout that does not come is still no layout.
    assert!(answer("(8,8):(8,1) o 3").contains("expected a layout, and this is a number"));
}

#[test]
fn tilers_in_trees() {
    assert_eq!(value("compose((8,(4,6)):(1,(8,32)), (2:4,(2:2,3:2)))"), "(2,(2,3)):(4,(16,64))");
    assert_eq!(value("zipped_divide((8,8):(1,8), <2:4,4>)"), "((2,4),(4,2)):((4,8),(1,32))");
    assert_eq!(value("let n = 2; (n:1,(4,<8:2,1>))"), "(2:1,(4:1,(8:2,1:1)))");
    assert_eq!(
        value("let t = (2:4,4); zipped_divide((8,8):(1,8), t)"),
        value("zipped_divide((8,8):(1,8), <2:4,4>)")
    );
    assert!(answer("compose((8,8):(1,8), (2:1,2:1,2:1))").contains("another structure"));
    assert!(answer("compose((8,8):(1,8), (2:1,2:1").contains("expected"));
    // A layout in brackets is still one layout.
    assert_eq!(value("((8,8):(1,8))"), "(8,8):(1,8)");
}

/// Two rows and two columns of a tile are `(2,2):(1@0,1@1)`: as a tiler, as a block, in a box.
#[test]
fn tiles_on_numbered_axes() {
    let by_mode = value("zipped_divide((8,8):(1,8), (2,2))");
    assert_eq!(value("zipped_divide((8,8):(1,8), (2,2):(1@0,1@1))"), by_mode);
    // Column 1 follows row 0: the tile goes along the second mode first.
    assert_eq!(
        value("logical_divide((8,8):(1,8), (2,4):(1@1,1@0))"),
        "((2,4),(2,4)):((8,1),(4,16))"
    );
    assert_eq!(value("complement((2,2):(1@0,1@1), (4,6))"), "(2,3):(2@0,2@1)");
    assert_eq!(
        value("raked_product((2,2):(1@0,1@1), (3,3):(1@0,1@1))"),
        "((3,2),(3,2)):((2@0,1@0),(2@1,1@1))"
    );
    // A box of 2 by 3, and coordinates back to indices.
    assert_eq!(value("cosize((2,3):(1@0,1@1))"), "6");
    assert_eq!(value("right_inverse((2,3):(1@1,1@0))"), "(3,2):(2,1)");
    assert_eq!(value("left_inverse((2,2):(2@0,1@1))"), "((2,2),2):((0,1),2)");
    assert!(answer("complement((2,2):(1@0,1@1), 16)").contains("on one axis"));
    assert!(answer("complement(2:1@3, (4,4))").contains("no mode 3 among 2"));
}

/// The number of elements is said also where no product of few symbols is it.
#[test]
fn sizes_of_many_symbols() {
    let tiled = answer("zipped_divide((M,K):(K,1), (128,64))");
    assert_eq!(
        tiled,
        "((128,64),(ceil_div(M,128),ceil_div(K,64))):((K,1),(128*K,64))\n\
         size 8192*ceil_div(M,128)*ceil_div(K,64)\n"
    );
    assert_eq!(answer("size(4:1)"), "4\n");
}

#[test]
fn functions_of_layouts() {
    // A = (8,8):(8,1), B = (2,2):(1,4): the complement of B in 64 is (2,8):(2,8); A at 1, 4, 2 and 8 is 8, 32, 16, 1.
    assert_eq!(value("logical_divide((8,8):(8,1), (2,2):(1,4))"), "((2,2),(2,8)):((8,32),(16,1))");
    // Positions 0, 2, 4, 6 of A are rows 0, 2, 4, 6: 16 apart.
    assert_eq!(value("compose((8,8):(8,1), complement(2:1, 8))"), "4:16");
    // 0, 1, 4, 5 repeated: 2 and 3 are filled by a stride of 2, then each 8.
    assert_eq!(value("complement((2,2):(1,4), 24)"), "(2,3):(2,8)");
    assert_eq!(value("coalesce((2,(1,6)):(1,(6,2)))"), "12:1");
    assert_eq!(value("recast((8,64):(64,1), 32, 16)"), "(8,32):(32,1)");
    assert_eq!(value("size((M,8):(8,1))"), "8*M");
    // Blocks of 8 x 64 side by side, down first: element (i, j) is in block (i / 8, j / 64), each of 512.
    let tiled = "tile_to_shape((8,64):(64,1), (16,128))";
    assert_eq!(value(tiled), "((8,2),(64,2)):((64,512),(1,1024))");
    assert_eq!(value(&format!("{tiled} at (9, 70)")), format!("m {}", 512 + 1024 + 64 + 6));
    assert_eq!(
        value("tile_to_shape((8,64):(64,1), (16,128), (1,0))"),
        "((8,2),(64,2)):((64,1024),(1,512))"
    );
    assert_eq!(
        value("tile_to_shape(S<3,3,3> o (8,64):(64,1), (16,64))"),
        "S<3,3,3> o 0 o ((8,2),(64,1)):((64,512),(1,0))"
    );
    assert_eq!(value("cosize(padded((64,64):(64,1), 64, 8))"), "4600"); // 63 * 72 + 64
    assert_eq!(value("injective((4,4):(1,2))"), "no"); // 2 * 1 = 1 * 2
    assert_eq!(value("runs((8,4):(1,16))"), "8");
    assert_eq!(
        value("let A = (8,4):(4,1); let B = A; equal(compose(A, right_inverse(B)), 32:1)"),
        "equal"
    );
    // Column 3 begins at 3 * 1.
    assert_eq!(value("slice((_, 3), (8,4):(4,1))"), "S[8:4] + 3");
}

#[test]
fn from_one_distribution_to_another() {
    assert_eq!(
        answer("feeds(mma.m16n8k16.f32.f16.D, mma.m16n8k16.f32.f16.D)"),
        "yes, register by register\n"
    );
    // PTX: A of m16n8k16, element i of a lane: row = lane / 4 (+ 8 for i in 2, 3, 6, 7), k = lane % 4 * 2 + i % 2 (+ 8 for i >= 4).
    let nvidia = |row: usize, k: usize| {
        let lane = row % 8 * 4 + k % 8 / 2;
        (lane, k % 2 + 2 * (row / 8) + 4 * (k / 8))
    };
    // AMD's calculator: A of 16x16x16: row = lane % 16, k = 4 * (lane / 16) + register.
    let expected: Vec<String> = (0..4)
        .map(|register| {
            let lanes: Vec<String> = (0..64)
                .map(|lane| {
                    let (from, at) = nvidia(lane % 16, 4 * (lane / 16) + register);
                    format!("[{from}, {at}]")
                })
                .collect();
            format!("[{}]", lanes.join(", "))
        })
        .collect();
    let convert =
        told("gfx942", "convert(mma.m16n8k16.f32.f16.A, v_mfma_f32_16x16x16_f16.A)", true);
    let all = format!("{{\"kind\": \"conversion\", \"registers\": [{}]}}\n", expected.join(", "));
    assert_eq!(convert, all);
    let crossed = "feeds(mma.m16n8k16.f32.f16.A, v_mfma_f32_16x16x16_f16.A)";
    assert!(told("gfx942", crossed, false).starts_with("no: elements have to change their lane"));
    // Rows 2 and 3 on lanes 16 to 23, rows 4 and 5 on lanes 8 to 15: lane 8 has what lane 16 had.
    let turned = answer(
        "convert(S[(8,4):(4@laneid,1@laneid)], S[(2,2,2,4):(8@laneid,16@laneid,4@laneid,1@laneid)] @ 8x4)",
    );
    let from: Vec<usize> =
        (0..32).map(|lane| lane % 8 + 16 * (lane / 8 % 2) + 8 * (lane / 16)).collect();
    let listed: Vec<String> = from.iter().map(|lane| format!("{lane}.0")).collect();
    assert_eq!(turned, format!("register 0 <- lane.register {}\n", listed.join(", ")));
    let same = "S[(8,4):(4@laneid,1@laneid)]";
    assert_eq!(
        answer(&format!("convert({same}, {same})")),
        "register 0 <- register 0 of the same lane\n"
    );
}
