//! `convert` and `movement` as a person calls them: what they take, with how many threads, and what
//! they say of copies.

use crate::support::run;

#[test]
fn conversions_of_what_is_no_register_tile() {
    const ROWS: &str = "S[(32,16):(1@laneid,16@bit)]";
    const SHARED: &str =
        "#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>";
    for (to, ty, part) in [
        (SHARED, "f16", "`lanebook movement store`"),
        (ROWS, "e2m3", "those of 6 bits lie across bytes"),
        (ROWS, "ptr", "a pointer goes as i64"),
    ] {
        let shape = ["--shape", "32x16", "--type", ty, "--arch", "sm_80"];
        run(&[&["convert", ROWS, to], &shape[..]].concat()).refused(1, &[part]);
    }
}

/// Warps that hold copies are spoken of as well; and a type that a layout stands in is held to.
#[test]
fn conversions_have_the_threads_that_their_layouts_say() {
    const TWO: &str = "#ttg.blocked<{sizePerThread = [2, 4], threadsPerWarp = [2, 16], warpsPerCTA = [2, 2], order = [0, 1]}>";
    const FOUR: &str = "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>";
    let shape = ["--shape", "4x16", "--type", "f32", "--arch", "sm_80"];
    let text = run(&[&["convert", TWO, FOUR], &shape[..]].concat()).fine();
    assert!(text.starts_with("// 128 threads, waves of 32"), "{text}");
    let fewer = ["--threads", "64"];
    run(&[&["convert", TWO, FOUR], &shape[..], &fewer].concat()).refused(1, &["64"]);
    let typed = |element: &str| format!("tensor<4x16x{element}, {TWO}>");
    run(&[&["convert", typed("f32").as_str(), FOUR], &shape[..]].concat()).fine();
    for sides in [[typed("f16").as_str(), FOUR], [TWO, typed("f16").as_str()]] {
        run(&[&["convert", sides[0], sides[1]], &shape[..]].concat())
            .refused(1, &["has other elements than the tile"]);
    }
}

/// Of a conversion it is said which registers a layout's copies are; a movement has no word for them.
#[test]
fn registers_that_are_copies() {
    const PLAIN: &str = "S[(4,2,8,4,4):(1@warpid,64@bit,4@laneid,1@laneid,16@bit)]";
    const COPIED: &str = "S[(4,8,2,4,4):(1@warpid,4@laneid,64@bit,1@laneid,16@bit)] + R[4:128@bit]";
    let shape = ["--shape", "64x16", "--type", "f16", "--arch", "gfx1201"];
    let registers = |text: &str| {
        let said = text.lines().find_map(|line| line.split_once("register by register: "));
        said.map(|(_, names)| names.split(", ").map(str::to_string).collect::<Vec<_>>())
    };
    let there = run(&[&["convert", PLAIN, COPIED], &shape[..]].concat()).fine();
    let names = registers(&there).expect("registers");
    assert_eq!(names.len(), 16, "{names:?}");
    assert!(names.iter().enumerate().all(|(k, name)| *name == names[k % 4]), "{names:?}");
    assert!((0..4).all(|k| (0..k).all(|other| names[k] != names[other])), "{names:?}");
    let back = run(&[&["convert", COPIED, PLAIN], &shape[..]].concat()).fine();
    assert_eq!(registers(&back).map(|names| names.len()), Some(16), "{back}");
    let plain = run(&[&["convert", PLAIN, PLAIN], &shape[..]].concat()).fine();
    assert_eq!(registers(&plain), None, "{plain}");
    let load = run(&[&["movement", "load", "--registers", COPIED], &shape[..]].concat()).fine();
    assert_eq!(registers(&load).map(|names| names.len()), Some(16), "{load}");
}
