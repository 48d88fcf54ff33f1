//! Buffer aliases: what becomes a view, what becomes a copy, what stays and why.
use lanebook_passes::{expected, run};

const LOST: &str = "Cannot find last written SSA.";

#[track_caller]
fn becomes(before: &str, after: &str, findings: &[&str]) -> usize {
    let outcome = run(before, "remove-aliases").expect("it runs");
    assert_eq!(outcome.text, expected(after));
    assert_eq!(outcome.findings.iter().map(|found| found.0).collect::<Vec<_>>(), findings);
    outcome.steps.len()
}

#[track_caller]
fn stays(text: &str, findings: &[&str]) {
    assert_eq!(becomes(text, text, findings), 0);
}

#[test]
fn a_chain_converges_in_as_many_steps_as_it_has_hops() {
    let steps = becomes(
        "%a = alloc_tensor : tensor<1024xf16, #smem>
%u = view %a {offset = 512} : tensor<256xf16, #smem>
%v = view %a {offset = 256} : tensor<512xf16, #smem>
%w = view %v {offset = 128} : tensor<256xf16, #smem>
%s = select %c, %w, %u : tensor<256xf16, #smem>
use %s : tensor<256xf16, #smem>
",
        "%a = alloc_tensor : tensor<1024xf16, #smem>
%_7 = select %c, 384, 512
%s = view %a {offset = %_7} : tensor<256xf16, #smem>
use %s : tensor<256xf16, #smem>
",
        &[],
    );
    assert!(steps <= 3, "{steps}");
}

#[test]
fn equal_offsets_need_no_selection() {
    becomes(
        "%a = alloc_tensor : tensor<64xf16, #smem>
%b = view %a : tensor<64xf16, #smem>
%s = select %c, %a, %b : tensor<64xf16, #smem>
use %s : tensor<64xf16, #smem>
",
        "%a = alloc_tensor : tensor<64xf16, #smem>
use %a : tensor<64xf16, #smem>
",
        &[],
    );
}

#[test]
fn arms_that_disagree_stay() {
    stays(
        "%a = alloc_tensor : tensor<64xf16, #smem>
%b = alloc_tensor : tensor<64xf16, #smem>
%s = select %c, %a, %b : tensor<64xf16, #smem>
use %s : tensor<64xf16, #smem>
",
        &[LOST],
    );
}

#[test]
fn calls_and_synthesised_pointers_stay() {
    for source in ["call @f() : () -> tensor<64xf16, #smem>", "affine.apply affine_map<(d0) -> (d0 * 4)>(%i) : tensor<64xf16, #smem>"] {
        stays(&format!("%a = {source}\n%s = select %c, %a, %a : tensor<64xf16, #smem>\nuse %s : tensor<64xf16, #smem>\n"), &[LOST]);
    }
}

#[test]
fn registers_are_no_buffers() {
    stays("%s = select %c, %x, %y : tensor<64xf16>\nuse %s : tensor<64xf16>\n", &[]);
}

#[test]
fn nested_loops_carry_nothing() {
    becomes(
        "%a = alloc_tensor : tensor<64xf16, #smem>
%r = scf.for %i = 0 to %n step 1 iter_args(%p = %a) -> tensor<64xf16, #smem> {
  %q = scf.for %j = 0 to %n step 1 iter_args(%s = %p) -> tensor<64xf16, #smem> {
    use %s : tensor<64xf16, #smem>
    scf.yield %s : tensor<64xf16, #smem>
  }
  scf.yield %q : tensor<64xf16, #smem>
}
use %r : tensor<64xf16, #smem>
",
        "%a = alloc_tensor : tensor<64xf16, #smem>
scf.for %i = 0 to %n step 1 {
  scf.for %j = 0 to %n step 1 {
    use %a : tensor<64xf16, #smem>
  }
}
use %a : tensor<64xf16, #smem>
",
        &[],
    );
}

#[test]
fn a_buffer_that_rotates_stays() {
    stays(
        "%a = alloc_tensor : tensor<128xf16, #smem>
%v = view %a : tensor<64xf16, #smem>
%w = view %a {offset = 64} : tensor<64xf16, #smem>
%r:2 = scf.for %i = 0 to %n step 1 iter_args(%p = %v, %q = %w) -> (tensor<64xf16, #smem>, tensor<64xf16, #smem>) {
  use %p : tensor<64xf16, #smem>
  scf.yield %q, %p : tensor<64xf16, #smem>, tensor<64xf16, #smem>
}
",
        &[LOST, LOST],
    );
}

#[test]
fn results_of_a_condition_become_views() {
    becomes(
        "%a = alloc_tensor : tensor<128xf16, #smem>
%s = scf.if %c -> tensor<64xf16, #smem> {
  %v = view %a : tensor<64xf16, #smem>
  scf.yield %v : tensor<64xf16, #smem>
} else {
  %w = view %a {offset = 64} : tensor<64xf16, #smem>
  scf.yield %w : tensor<64xf16, #smem>
}
use %s : tensor<64xf16, #smem>
",
        "%a = alloc_tensor : tensor<128xf16, #smem>
%_1 = select %c, 0, 64
%s = view %a {offset = %_1} : tensor<64xf16, #smem>
%_2 = scf.if %c -> tensor<64xf16, #smem> {
  %v = view %a : tensor<64xf16, #smem>
  scf.yield %v : tensor<64xf16, #smem>
} else {
  %w = view %a {offset = 64} : tensor<64xf16, #smem>
  scf.yield %w : tensor<64xf16, #smem>
}
use %s : tensor<64xf16, #smem>
",
        &[],
    );
}

const RELAID: &str = "%a = alloc_tensor : tensor<64xf16, #smem_x>
%b = view %a : tensor<64xf16, #smem_y>
%s = select %c, %b, %b : tensor<64xf16, #smem_y>
%t = tiled_load %s : tensor<64xf16, #smem_y> -> tensor<64xf16>
";

#[test]
fn another_layout_takes_a_copy() {
    becomes(
        &format!("{RELAID}use %t : tensor<64xf16>\n"),
        "%a = alloc_tensor : tensor<64xf16, #smem_x>
%s = alloc_tensor : tensor<64xf16, #smem_y>
copy %a, %s : tensor<64xf16, #smem_x> -> tensor<64xf16, #smem_y>
%t = tiled_load %s : tensor<64xf16, #smem_y> -> tensor<64xf16>
use %t : tensor<64xf16>
",
        &[],
    );
}

#[test]
fn but_not_where_the_copy_would_grow_stale() {
    // Something writes between the alias and its last reader: a copy would not see it.
    let text = RELAID.replace("%t = ", "tiled_store %x, %a : tensor<64xf16> -> tensor<64xf16, #smem_x>\n%t = ").replace("%b, %b", "%b, %a");
    stays(&text, &[LOST]);
    // Something writes through the alias: a copy would keep it to itself.
    let text =
        RELAID.replace("%t = tiled_load %s : tensor<64xf16, #smem_y> -> tensor<64xf16>", "tiled_store %x, %s : tensor<64xf16> -> tensor<64xf16, #smem_y>");
    stays(&text, &[LOST]);
}

#[test]
fn views_are_checked_against_their_allocation() {
    let text = |offset: i64| {
        format!("%a = alloc_tensor : tensor<128xf16, #smem>\n%v = view %a {{offset = {offset}}} : tensor<64xf16, #smem>\nuse %v : tensor<64xf16, #smem>\n")
    };
    stays(&text(64), &[]);
    stays(&text(65), &["the view reaches past its allocation"]);
    stays(&text(-1), &["the view reaches past its allocation"]);
    stays(&text(i64::MAX), &["the view reaches past its allocation"]);
}
