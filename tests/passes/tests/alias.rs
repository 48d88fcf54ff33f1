//! Buffer aliases: what becomes a view, what becomes a copy, what stays and why.
use lanebook_pass_tests::{expected, run};

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
    for source in [
        "call @f() : () -> tensor<64xf16, #smem>",
        "affine.apply affine_map<(d0) -> (d0 * 4)>(%i) : tensor<64xf16, #smem>",
    ] {
        stays(
            &format!(
                "%a = {source}\n%s = select %c, %a, %a : tensor<64xf16, #smem>\nuse %s : tensor<64xf16, #smem>\n"
            ),
            &[LOST],
        );
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
    let text = RELAID
        .replace("%t = ", "tiled_store %x, %a : tensor<64xf16> -> tensor<64xf16, #smem_x>\n%t = ")
        .replace("%b, %b", "%b, %a");
    stays(&text, &[LOST]);
    // Something writes through the alias: a copy would keep it to itself.
    let text = RELAID.replace(
        "%t = tiled_load %s : tensor<64xf16, #smem_y> -> tensor<64xf16>",
        "tiled_store %x, %s : tensor<64xf16> -> tensor<64xf16, #smem_y>",
    );
    stays(&text, &[LOST]);
}

#[test]
fn views_are_checked_against_their_allocation() {
    let text = |offset: i64| {
        format!(
            "%a = alloc_tensor : tensor<128xf16, #smem>\n%v = view %a {{offset = {offset}}} : tensor<64xf16, #smem>\nuse %v : tensor<64xf16, #smem>\n"
        )
    };
    stays(&text(64), &[]);
    stays(&text(65), &["the view reaches past its allocation"]);
    stays(&text(-1), &["the view reaches past its allocation"]);
    stays(&text(i64::MAX), &["the view reaches past its allocation"]);
}

const B: &str = "tensor<64xf16, #smem>";

#[test]
fn a_while_names_the_allocation_no_more() {
    // Taken, handed on, given back, as it is or as the allocation itself.
    for back in ["%q", "%a", "%v"] {
        becomes(
            &format!(
                "%a = alloc_tensor : {B}
%r = scf.while (%p = %a) : ({B}) -> ({B}) {{
  use %p : {B}
  scf.condition(%c) %p : {B}
}} do {{
^bb0(%q: {B}):
  %v = view %q : {B}
  use %v : {B}
  scf.yield {back} : {B}
}}
use %r : {B}
"
            ),
            &format!(
                "%a = alloc_tensor : {B}
scf.while () : () -> () {{
  use %a : {B}
  scf.condition(%c)
}} do {{
  %v = view %a : {B}
  use %v : {B}
}}
use %a : {B}
"
            ),
            &[],
        );
    }
}

#[test]
fn a_while_that_carries_numbers_too_keeps_those() {
    becomes(
        &format!(
            "%a = alloc_tensor : tensor<128xf16, #smem>
%h = view %a {{offset = 64}} : {B}
%r:2 = scf.while (%i = %n, %p = %h) : (index, {B}) -> ({B}, index) {{
  %x = view %p : {B}
  scf.condition(%c) %x, %i : {B}, index
}} do {{
^bb0(%q: {B}, %j: index):
  use %q : {B}
  %k = index.add %j, 1 : index
  scf.yield %k, %q : index, {B}
}}
use %r#0, %r#1 : {B}, index
"
        ),
        &format!(
            "%a = alloc_tensor : tensor<128xf16, #smem>
%_0 = view %a {{offset = 64}} : {B}
%r = scf.while (%i = %n) : (index) -> (index) {{
  scf.condition(%c) %i : index
}} do {{
^bb0(%j: index):
  use %_0 : {B}
  %k = index.add %j, 1 : index
  scf.yield %k : index
}}
use %_0, %r : {B}, index
"
        ),
        &[],
    );
}

#[test]
fn whiles_in_loops_carry_nothing() {
    becomes(
        &format!(
            "%a = alloc_tensor : {B}
%r = scf.for %i = 0 to %n step 1 iter_args(%s = %a) -> {B} {{
  %w = scf.while (%p = %s) : ({B}) -> ({B}) {{
    scf.condition(%c) %p : {B}
  }} do {{
  ^bb0(%q: {B}):
    %u = scf.while (%t = %q) : ({B}) -> ({B}) {{
      use %t : {B}
      scf.condition(%d) %t : {B}
    }} do {{
    ^bb0(%o: {B}):
      scf.yield %o : {B}
    }}
    scf.yield %u : {B}
  }}
  scf.yield %w : {B}
}}
use %r : {B}
"
        ),
        &format!(
            "%a = alloc_tensor : {B}
scf.for %i = 0 to %n step 1 {{
  scf.while () : () -> () {{
    scf.condition(%c)
  }} do {{
    scf.while () : () -> () {{
      use %a : {B}
      scf.condition(%d)
    }} do {{
    }}
  }}
}}
use %a : {B}
"
        ),
        &[],
    );
}

#[test]
fn a_while_whose_buffers_change_places_keeps_them() {
    stays(
        &format!(
            "%a = alloc_tensor : tensor<128xf16, #smem>
%v = view %a : {B}
%w = view %a {{offset = 64}} : {B}
%r:2 = scf.while (%p = %v, %q = %w) : ({B}, {B}) -> ({B}, {B}) {{
  scf.condition(%c) %p, %q : {B}, {B}
}} do {{
^bb0(%s: {B}, %t: {B}):
  use %s : {B}
  scf.yield %t, %s : {B}, {B}
}}
use %r#0 : {B}
"
        ),
        &[LOST, LOST],
    );
    // An allocation of the loop's own is another one every time.
    stays(
        &format!(
            "%r = scf.while () : () -> ({B}) {{
  %a = alloc_tensor : {B}
  use %a : {B}
  scf.condition(%c) %a : {B}
}} do {{
^bb0(%s: {B}):
  use %s : {B}
}}
use %r : {B}
"
        ),
        &[LOST],
    );
}

#[test]
fn a_while_hands_on_another_part_than_it_takes() {
    // The halves are known by place, so both names go; what is chosen inside by a value that is
    // made there stays.
    becomes(
        &format!(
            "%a = alloc_tensor : tensor<128xf16, #smem>
%v = view %a : {B}
%r = scf.while (%p = %v) : ({B}) -> ({B}) {{
  use %p : {B}
  %w = view %a {{offset = 64}} : {B}
  scf.condition(%c) %w : {B}
}} do {{
^bb0(%s: {B}):
  use %s : {B}
  scf.yield %v : {B}
}}
use %r : {B}
"
        ),
        &format!(
            "%a = alloc_tensor : tensor<128xf16, #smem>
%v = view %a : {B}
%_0 = view %a {{offset = 64}} : {B}
scf.while () : () -> () {{
  use %v : {B}
  scf.condition(%c)
}} do {{
  use %_0 : {B}
}}
use %_0 : {B}
"
        ),
        &[],
    );
}

#[test]
fn pipeline_regions_are_traced_through() {
    becomes(
        &format!(
            "%a = alloc_tensor : tensor<128xf16, #smem>
%v = view %a : {B}
%r = async.pipeline.consume_one %v : {B} -> {B} {{
^bb0(%p: {B}):
  %w = view %a {{offset = 64}} : {B}
  %s = select %c, %p, %w : {B}
  use %s : {B}
  async.pipeline.yield %w : {B}
}}
use %r : {B}
"
        ),
        &format!(
            "%a = alloc_tensor : tensor<128xf16, #smem>
%v = view %a : {B}
%_1 = view %a {{offset = 64}} : {B}
%r = async.pipeline.consume_one %v : {B} -> {B} {{
^bb0(%p: {B}):
  %w = view %a {{offset = 64}} : {B}
  %_3 = select %c, 0, 64
  %s = view %a {{offset = %_3}} : {B}
  use %s : {B}
  async.pipeline.yield %w : {B}
}}
use %_1 : {B}
"
        ),
        &[],
    );
}

#[test]
fn a_choice_between_names_of_what_is_carried_is_no_choice() {
    // Of itself, of the allocation, through a view, by `select` and by `if`, at any depth.
    becomes(
        &format!(
            "%a = alloc_tensor : {B}
%r = scf.for %i = 0 to %n step 1 iter_args(%b = %a) -> {B} {{
  %v = view %b : {B}
  %y = select %c, %b, %v : {B}
  %z = select %d, %y, %a : {B}
  %o = scf.if %c -> {B} {{
    scf.yield %z : {B}
  }} else {{
    scf.yield %v : {B}
  }}
  use %o : {B}
  scf.yield %o : {B}
}}
use %r : {B}
"
        ),
        &format!(
            "%a = alloc_tensor : {B}
scf.for %i = 0 to %n step 1 {{
  %v = view %a : {B}
  %o = scf.if %c -> {B} {{
    scf.yield %a : {B}
  }} else {{
    scf.yield %v : {B}
  }}
  use %a : {B}
}}
use %a : {B}
"
        ),
        &[],
    );
    becomes(
        &format!(
            "%a = alloc_tensor : {B}
%r = scf.while (%p = %a) : ({B}) -> ({B}) {{
  %s = select %d, %p, %a : {B}
  scf.condition(%c) %s : {B}
}} do {{
^bb0(%q: {B}):
  %t = select %d, %a, %q : {B}
  use %t : {B}
  scf.yield %t : {B}
}}
use %r : {B}
"
        ),
        &format!(
            "%a = alloc_tensor : {B}\nscf.while () : () -> () {{\n  scf.condition(%c)\n}} do {{\n  use %a : {B}\n}}\nuse %a : {B}\n"
        ),
        &[],
    );
}

#[test]
fn a_choice_of_another_part_stays() {
    stays(
        &format!(
            "%a = alloc_tensor : tensor<128xf16, #smem>
%v = view %a : {B}
%w = view %a {{offset = 64}} : {B}
%r = scf.for %i = 0 to %n step 1 iter_args(%b = %v) -> {B} {{
  %z = select %d, %b, %w : {B}
  use %z : {B}
  scf.yield %z : {B}
}}
use %r : {B}
"
        ),
        &[LOST, LOST],
    );
}
