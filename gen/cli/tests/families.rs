//! Families of atoms: what filters find in them, and how their members are listed.

use crate::support::run;

fn listed(args: &[&str]) -> String {
    run(&[&["atoms"], args].concat()).fine()
}

#[test]
fn filters_see_every_member() {
    // The first member is of s8 by s8, and m64n256k16.
    let unsigned = listed(&["--arch", "sm_80", "--dtype", "u8", "--class", "matrix"]);
    assert!(unsigned.contains("mma.m16n8k32.s32.{ta}.{tb}"), "{unsigned}");
    for shape in ["64x8x16", "64x24x16", "64x256x16"] {
        assert!(
            listed(&["--arch", "sm_90a", "--shape", shape]).contains("wgmma.m64n{N}k16"),
            "{shape}"
        );
    }
    assert!(listed(&["--arch", "sm_90a", "--filter", "m64n40k16"]).contains("wgmma.m64n{N}k16"));
    assert!(
        listed(&["--arch", "sm_80", "--filter", "s32.u8.s8"])
            .contains("mma.m16n8k32.s32.{ta}.{tb}")
    );
}

#[test]
fn parameters_are_listed_with_what_they_can_be() {
    let words = listed(&["--arch", "sm_80", "--filter", "mma.m16n8k32.s32", "--long"]);
    assert!(words.contains("one of s8, u8") && words.contains("32 x 8 {tb}"), "{words}");
    assert!(!words.contains("number, 0 to 1\n"), "{words}");
    let values = listed(&["--arch", "sm_90a", "--filter", "wgmma.m64n{N}k16", "--long"]);
    assert!(
        values.contains("8 to 256 in steps of 8") && values.contains("shape    m64 n8 to 256 k16"),
        "{values}"
    );
}
