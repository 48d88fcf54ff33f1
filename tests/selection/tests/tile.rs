//! Tile rules on programs: what each one does, and what it leaves alone.
use lanebook::TABLES;
use lanebook::ir::{LargeStorage, Node, Options, Plain, parse, print, verify};
use lanebook::passes::Event;
use lanebook::pipeline::{REMOVE_CONVERSIONS, apply};

/// A function over two tiles that are loaded in layout `#x`, with these lines in the middle.
fn program(lines: &[&str]) -> String {
    let mut out = String::from(
        "func @f(%A: memref<?x?xf32, #gmem>, %B: memref<?x?xf32, #gmem>) {threads = 64} {
  %s = alloc_tensor : tensor<64x64xf32, #smem>
  %p = tiled_load %s : tensor<64x64xf32, #smem> -> tensor<64x64xf32, #x>
  %q = tiled_load %s : tensor<64x64xf32, #smem> -> tensor<64x64xf32, #x>
  %r = tiled_load %s : tensor<64x64xf32, #smem> -> tensor<64x64xf32, #x>
",
    );
    for line in lines {
        out.push_str("  ");
        out.push_str(line);
        out.push('\n');
    }
    out.push_str("}\n");
    out
}

/// The program after the pass, and the rules applied.
fn run(lines: &[&str]) -> (String, Vec<&'static str>) {
    let text = program(lines);
    let mut storage = Box::new(LargeStorage::new());
    let mut program = parse(storage.pools(), &TABLES, &text, Options::default())
        .unwrap_or_else(|error| panic!("{error:?}\n{text}"));
    let mut work = heapless::Vec::<Node, 128>::new();
    let (mut fuel, mut applied) = (200, Vec::new());
    apply(&TABLES, REMOVE_CONVERSIONS, &mut program, work.as_mut_view(), &mut fuel, |event| {
        if let Event::Rule { rule, .. } = event {
            applied.push(TABLES.rules.name(rule));
        }
    })
    .expect("it runs");
    verify(&mut program).expect("still well formed");
    let mut out = String::new();
    print(&program, &Plain, &mut out).expect("it prints");
    (out, applied)
}

const STORE: &str = "tiled_store %v, %B[0, 0] : tensor<64x64xf32, #y> -> memref<?x?xf32, #gmem>";
const KEEP: &str = "tiled_store %e, %B[0, 0] : tensor<64x64xf32, #x> -> memref<?x?xf32, #gmem>";

#[test]
fn a_conversion_that_changes_nothing_goes() {
    let (text, rules) = run(&[
        "%v = convert_layout %p : tensor<64x64xf32, #x> -> tensor<64x64xf32, #x>",
        "tiled_store %v, %B[0, 0] : tensor<64x64xf32, #x> -> memref<?x?xf32, #gmem>",
    ]);
    assert!(!text.contains("convert_layout"), "{text}");
    assert_eq!(rules, ["convert_same"]);
}

#[test]
fn of_two_conversions_the_last_counts() {
    let (text, rules) = run(&[
        "%e = exp %p : tensor<64x64xf32, #x>",
        "%u = convert_layout %e : tensor<64x64xf32, #x> -> tensor<64x64xf32, #z>",
        "%v = convert_layout %u : tensor<64x64xf32, #z> -> tensor<64x64xf32, #y>",
        STORE,
        KEEP,
    ]);
    assert_eq!(text.matches("convert_layout").count(), 1, "{text}");
    assert!(rules.contains(&"convert_convert") && !text.contains("#z"), "{rules:?}\n{text}");
}

#[test]
fn conversions_move_through_elementwise_operations_to_the_loads() {
    for (line, count) in [
        ("%e = exp %p : tensor<64x64xf32, #x>", "push_elementwise1"),
        ("%e = add %p, %q : tensor<64x64xf32, #x>", "push_elementwise2"),
        ("%e = fma %p, %q, %r : tensor<64x64xf32, #x>", "push_elementwise3"),
    ] {
        let (text, rules) = run(&[
            line,
            "%v = convert_layout %e : tensor<64x64xf32, #x> -> tensor<64x64xf32, #y>",
            STORE,
        ]);
        assert!(!text.contains("convert_layout"), "{rules:?}\n{text}");
        assert!(rules.contains(&count) && rules.contains(&"push_into_load"), "{rules:?}");
    }
}

#[test]
fn what_others_read_stays() {
    // The sum is stored in its own layout too: pushing would compute it twice.
    let (text, rules) = run(&[
        "%e = add %p, %q : tensor<64x64xf32, #x>",
        "%v = convert_layout %e : tensor<64x64xf32, #x> -> tensor<64x64xf32, #y>",
        STORE,
        KEEP,
    ]);
    assert_eq!((text.matches("convert_layout").count(), rules.len()), (1, 0), "{text}");
    // So does a load that another operation reads.
    let (text, rules) = run(&[
        "%v = convert_layout %p : tensor<64x64xf32, #x> -> tensor<64x64xf32, #y>",
        STORE,
        "%e = exp %p : tensor<64x64xf32, #x>",
        KEEP,
    ]);
    assert_eq!((text.matches("convert_layout").count(), rules.len()), (1, 0), "{text}");
}

#[test]
fn a_conversion_through_memory_is_a_movement_and_stays() {
    let (text, _) = run(&[
        "%e = exp %p : tensor<64x64xf32, #x>",
        "%m = convert_layout %e : tensor<64x64xf32, #x> -> tensor<64x64xf32, #smem>",
        "%v = convert_layout %m : tensor<64x64xf32, #smem> -> tensor<64x64xf32, #y>",
        STORE,
    ]);
    assert_eq!(text.matches("convert_layout").count(), 2, "{text}");
}
