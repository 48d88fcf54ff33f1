//! `lanebook ask`: answers in three formats, refusals at their place. What the answers are is tested with the library.

use crate::support::run;

#[test]
fn answers_in_three_formats() {
    let text = run(&["ask", "(8,4):(4,1) at (3, 1)"]);
    assert_eq!((text.code, text.out.as_str()), (0, "m 13\n"), "{}", text.err);
    let json = run(&["ask", "(8,4):(4,1) at (3, 1)", "--format", "json"]);
    assert_eq!(json.out, "{\"kind\": \"position\", \"places\": [{\"m\": 13}]}\n", "{}", json.err);
    let svg = run(&["ask", "mma.m16n8k16.f32.f16.D", "--format", "svg"]);
    assert!(svg.out.starts_with("<svg") && svg.out.contains("</svg>"), "{}", svg.err);
    let list = run(&["ask"]);
    assert!(list.out.contains("conflicts(TILE") && list.out.lines().count() > 50, "{}", list.out);
}

#[test]
fn the_ten_questions_are_one_command_each() {
    let mut seen = 0;
    for line in include_str!("../../../tests/questions/ten.tsv").lines() {
        let mut parts = line.split('\t');
        let mut next = || parts.next().expect("a part");
        let (arch, query, expected) = (next(), next(), next());
        let ran = run(&["ask", query, "--arch", arch, "--format", "json"]);
        assert_eq!((ran.code, ran.out.trim_end()), (0, expected), "{query}: {}", ran.err);
        seen += 1;
    }
    assert!(seen >= 10, "only {seen}");
}

#[test]
fn refusals_say_where_and_what_to_do() {
    run(&["ask", "(8,8):(8;1)"])
        .refused(1, &["expected `,`", "query:1:9", "as many strides as extents are needed"]);
    run(&["ask", "figures()"])
        .refused(1, &["the answer depends on the architecture", "add `on ARCH`"]);
    run(&["ask", "figures()", "--arch", "sm_81"])
        .refused(2, &["unknown architecture `sm_81`", "did you mean `sm_80`?"]);
    run(&["ask", "size(8:1)", "--format", "svg"])
        .refused(1, &["the answer is no layout", "--format text or json"]);
    run(&["ask", "compose((8,8):(8,1), "]).refused(1, &["expected a layout", "query:1:22"]);
    // Without a terminal there is no session.
    run(&[]).refused_by_parser(&["no command was given", "Usage: lanebook"]);
}

#[test]
fn show_reads_what_ask_reads() {
    let blocked = "#ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [8, 4], warpsPerCTA = [1, 1], order = [1, 0]}> @ 8x8";
    let shown = run(&["show", blocked]);
    assert!(
        shown.code == 0 && shown.out.contains("T0:r0   T0:r1   T1:r0"),
        "{}{}",
        shown.out,
        shown.err
    );
    let divided = run(&["show", "logical_divide((8,8):(8,1), (2,2))"]);
    assert_eq!(divided.code, 0, "{}", divided.err);
}
