//! Functions of one text, calls, and loops that count: what is left of them, and what is refused.

use super::support::*;
use crate::{ErrorKind as K, ValueSlot, isolate_kernel, kernels, parse, verify};
use std::boxed::Box;
use std::string::String;

/// The kernel of a text, alone, as it is printed and read again; else the error's kind and line.
fn alone(text: &str, name: Option<&str>) -> Result<String, (K, u32)> {
    let mut storage = Box::new(BigStorage::new());
    let mut program = parse(storage.pools(), tables(), text, STRICT).expect("it can be read");
    verify(&mut program).map_err(|error| (error.kind, error.at.line))?;
    let before = printed(&program);
    match isolate_kernel(&mut program, name) {
        Ok(kernel) => {
            assert_eq!(program.functions().collect::<std::vec::Vec<_>>(), [kernel]);
            verify(&mut program).unwrap_or_else(|e| panic!("{e:?}\n{}", printed(&program)));
            Ok(round(&printed(&program), STRICT))
        }
        Err(error) => {
            // Whatever is wrong with calls is found before anything changes.
            if !matches!(
                error.kind,
                K::WhileForm
                    | K::StageForm
                    | K::AtomicWords
                    | K::FencedStages
                    | K::CarriedIndex
                    | K::UnsettledIndex
                    | K::IndexBits
                    | K::Combination
                    | K::CombinedTwice
                    | K::PointerForm
                    | K::Capacity { .. }
            ) {
                assert_eq!(printed(&program), before);
                assert!(verify(&mut program).is_ok());
            }
            Err((error.kind, error.at.line))
        }
    }
}

#[track_caller]
fn refused(text: &str, kind: K, line: u32) {
    assert_eq!(alone(text, None), Err((kind, line)), "{text}");
}

const TWICE: &str = "func private @twice(%t: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %s = add %t, %t : tensor<8x8xf32>
  return %s : tensor<8x8xf32>
}
";

fn kernel(body: &str) -> String {
    std::format!(
        "func @k(%A: memref<?x?xf32, #gmem>, %m: index, %n: index, %f: f32) {{threads = 32}} {{\n  %a = tiled_load %A[0, 0] : memref<?x?xf32, #gmem> -> tensor<8x8xf32>\n{body}\n}}\n"
    )
}

#[test]
fn one_function_is_as_it_was() {
    let text = kernel("  tiled_store %a, %A[%m, 0] : tensor<8x8xf32> -> memref<?x?xf32, #gmem>");
    assert_eq!(alone(&text, None).as_ref(), Ok(&text));
    assert_eq!(alone(&text, Some("k")).as_ref(), Ok(&text));
    assert_eq!(alone(&std::format!("module {{\n{text}}}\n"), None), Ok(text));
}

#[test]
fn calls_give_way() {
    let call = "call @twice(%a) : (tensor<8x8xf32>) -> tensor<8x8xf32>";
    let again = call.replace("%a", "%b");
    let text = kernel(&std::format!("  %b = {call}\n  %s = {again}"));
    let made = alone(&std::format!("module {{\n{text}{TWICE}}}"), None).expect("a kernel");
    assert_eq!(made.matches("add ").count(), 2, "{made}");
    assert!(
        !made.contains("call") && !made.contains("module") && !made.contains("twice"),
        "{made}"
    );
    // What is not called is not there, and both may be launched where both are seen.
    let public = std::format!("{}{}", TWICE.replace("private ", ""), kernel(""));
    refused(&public, K::SeveralKernels { functions: 2 }, 5);
    assert_eq!(alone(&public, Some("k")), Ok(kernel("").replace("\n\n}", "\n}")));
    // One that is called is no kernel, as long as its name is not said.
    let called = std::format!("{}{text}", TWICE.replace("private ", ""));
    assert!(alone(&called, None).is_ok());
    assert!(alone(&called, Some("twice")).is_ok());
    let mut storage = Box::new(BigStorage::new());
    let mut program = parse(storage.pools(), tables(), &called, STRICT).expect("it can be read");
    verify(&mut program).expect("right");
    assert_eq!(kernels(&program).map(|op| program.symbol(op)).collect::<std::vec::Vec<_>>(), ["k"]);
}

#[test]
fn what_is_called_is_there() {
    let with = |body: &str| std::format!("{TWICE}{}", kernel(body));
    let line = 7;
    refused(
        &with("  %b = call @none(%a) : (tensor<8x8xf32>) -> tensor<8x8xf32>"),
        K::UnknownFunction,
        line,
    );
    assert_eq!(alone(&with(""), Some("none")), Err((K::UnknownFunction, 0)));
    assert_eq!(alone(&with(""), Some("twice")), Err((K::NoKernel, 1)));
    refused(&std::format!("{TWICE}{}", TWICE.replace("twice", "thrice")), K::NoKernel, 1);
    refused(&std::format!("{TWICE}{TWICE}"), K::Redefined { line: 1 }, 5);
    let few = K::OperandCount { least: 1, most: 1, found: 0 };
    refused(&with("  %b = call @twice() : () -> tensor<8x8xf32>"), few, line);
    let none = K::ResultCount { least: 1, most: 1, found: 0 };
    refused(&with("  call @twice(%a) : (tensor<8x8xf32>) -> ()"), none, line);
    let types = K::Types { left: ValueSlot::Operand(0), right: ValueSlot::Argument(0) };
    refused(&with("  %b = call @twice(%m) : (index) -> tensor<8x8xf32>"), types, line);
    refused(
        &with("  %b = call @twice(%A) : (memref<?x?xf32, #gmem>) -> tensor<8x8xf32>"),
        types,
        line,
    );
    // A number stands where an index does, and nowhere else.
    refused(&with("  %b = call @twice(3) : (index) -> tensor<8x8xf32>"), types, line);
    let results = K::Types { left: ValueSlot::Yielded(0), right: ValueSlot::Result(0) };
    refused(&with("  %b = call @twice(%a) : (tensor<8x8xf32>) -> tensor<8x4xf32>"), results, line);
    let places = K::Subscripts { rank: 0, found: 1 };
    refused(
        &with("  %b = call @twice(%a[0]) : (tensor<8x8xf32>) -> tensor<8x8xf32>"),
        places,
        line,
    );
}

#[test]
fn what_only_a_kernel_has_is_its_own() {
    let call = kernel("  %b = call @twice(%a) : (tensor<8x8xf32>) -> tensor<8x8xf32>");
    let with = |from: &str, to: &str| std::format!("{}{call}", TWICE.replace(from, to));
    assert!(alone(&with("f32> {", "f32> {threads = 32} {"), None).is_ok());
    refused(&with("f32> {", "f32> {threads = 64} {"), K::IdleAttr, 1);
    refused(&with("f32> {", "f32> {grid = (4)} {"), K::IdleAttr, 1);
    refused(&with("f32>)", "f32> {align = 16})"), K::IdleAttr, 1);
    refused(&with("-> tensor<8x8xf32> {", "-> tensor<8x8xf16> {"), K::ReturnedTypes, 1);
    refused(&with("-> tensor<8x8xf32> {", "-> (tensor<8x8xf32>, index) {"), K::ReturnedTypes, 1);
    assert!(alone(&with("-> tensor<8x8xf32> {", "-> ( tensor<8x8xf32> ) {"), None).is_ok());
    assert!(alone(&with("-> tensor<8x8xf32> {", "{"), None).is_ok());
    // A type is what it means, whatever its spelling.
    assert!(alone(&with("-> tensor<8x8xf32> {", "-> tensor<8x8xf32  > {"), None).is_ok());
    let module = std::format!("module attributes {{num = 4}} {{\n{TWICE}{call}}}\n");
    refused(&module, K::IdleAttr, 1);
    // What a module says of its kernels, as Triton writes it.
    let said = |attrs: &str, own: &str| {
        let call = call.replace("{threads = 32}", own);
        std::format!("module attributes {{{attrs}}} {{\n{TWICE}{call}}}\n")
    };
    let whole = "\"ttg.num-warps\" = 4 : i32, \"ttg.threads-per-warp\" = 32 : i32, \"ttg.num-ctas\" = 1 : i32, ttg.target = \"cuda:80\"";
    let told = alone(&said(whole, ""), None).expect("a module as Triton writes it");
    for attr in ["threads = 128", "\"threads-per-warp\" = 32", "target = \"cuda:80\""] {
        assert!(told.contains(attr), "{attr} of {told}");
    }
    assert!(alone(&said(whole, "{threads = 128}"), None).is_ok());
    refused(&said(whole, "{threads = 64}"), K::ModuleThreads { threads: 128 }, 1);
    refused(&said("\"ttg.num-warps\" = 4 : i32", ""), K::ModuleWarps, 1);
    refused(&said("\"ttg.num-ctas\" = 2 : i32", "{threads = 32}"), K::ModuleClusters, 1);
    refused(&said("\"ttg.num-warps\" = 0 : i32", "{threads = 32}"), K::IdleAttr, 1);
    refused(&said("ttg.target = 80", "{threads = 32}"), K::IdleAttr, 1);
    refused(&said("\"ttng.two-ctas\" = true", "{threads = 32}"), K::IdleAttr, 1);
    assert!(alone(&said("\"ttng.two-ctas\" = false", "{threads = 32}"), None).is_ok());
    // Of modules inside each other one says it.
    let nested = std::format!(
        "module attributes {{\"ttg.num-warps\" = 4 : i32}} {{\n{}}}\n",
        said(whole, "")
    );
    refused(&nested, K::IdleAttr, 2);
    let noted = call.replace("@twice(%a)", "@twice(%a) {axis = 1}");
    refused(&std::format!("{TWICE}{noted}"), K::IdleAttr, 7);
}

#[test]
fn calls_do_not_go_round() {
    let function = |name: &str, calls: &str| {
        std::format!("func private @{name}() {{\n  call @{calls}() : () -> ()\n}}\n")
    };
    let text = std::format!(
        "{}{}{}{}",
        function("a", "b"),
        function("b", "c"),
        function("c", "b"),
        kernel("  call @a() : () -> ()")
    );
    let Err((K::CallCircle { functions }, 8)) = alone(&text, None) else {
        panic!("{:?}", alone(&text, None));
    };
    assert_eq!(functions.iter().flatten().count(), 2);
    let own = function("k", "k").replace("private ", "");
    let Err((K::CallCircle { functions }, 2)) = alone(&own, None) else {
        panic!("{:?}", alone(&own, None));
    };
    assert_eq!(functions.iter().flatten().count(), 1);
    // Many calls beside each other, each of two more: a function is followed once.
    let mut text = String::new();
    for n in 0..14 {
        let next = std::format!("  call @f{}() : () -> ()\n", n + 1);
        text += &std::format!("func private @f{n}() {{\n{next}{next}}}\n");
    }
    let known = std::format!("{text}func private @f14() {{\n  call @f15() : () -> ()\n}}\n");
    refused(&std::format!("{known}{}", kernel("  call @f0() : () -> ()")), K::UnknownFunction, 58);
    let few = text.replace("f0() {", "none() {").replace("call @f7()", "call @f14()");
    let end = "func private @f14() {\n}\n";
    let made = alone(&std::format!("{few}{end}{}", kernel("  call @f1() : () -> ()")), None);
    assert!(made.as_ref().is_ok_and(|text| !text.contains("call")), "{made:?}");
    // Deeper than there is room for.
    let mut deep = String::new();
    for n in 0..20 {
        deep += &function(&std::format!("f{n}"), &std::format!("f{}", n + 1));
    }
    deep += "func private @f20() {\n}\n";
    deep += &kernel("  call @f0() : () -> ()");
    let pool = K::Capacity { pool: crate::Pool::Calls, limit: 16 };
    assert!(matches!(alone(&deep, None), Err((kind, _)) if kind == pool));
}

#[test]
fn carried_indices_are_expressions() {
    let with = |next: &str, init: &str| {
        kernel(&std::format!(
            "  %r, %i = scf.for %k = 0 to %n step 32 iter_args(%c = %a, %j = {init}) -> (tensor<8x8xf32>, index) {{\n    %b = tiled_load %A[%j, %k] : memref<?x?xf32, #gmem> -> tensor<8x8xf32>\n{next}    scf.yield %b, %x : tensor<8x8xf32>, index\n  }}\n  tiled_store %r, %A[%i, 0] : tensor<8x8xf32> -> memref<?x?xf32, #gmem>"
        ))
    };
    for next in ["index.add %j, 64", "index.sub %j, 5", "index.add %m, %j", "index.add %j, 8"] {
        let made = alone(&with(&std::format!("    %x = {next} : index\n"), "%m"), None);
        let made = made.unwrap_or_else(|e| panic!("{next}: {e:?}"));
        assert!(made.contains("-> tensor<8x8xf32> {") && !made.contains(", index)"), "{made}");
    }
    let rest = "    %y = index.add %j, 1 : index\n    %x = index.rem %y, 3 : index\n";
    assert!(alone(&with(rest, "2"), None).is_ok());
    // What it begins with is no remainder of 3, or is not known to be one.
    refused(&with(rest, "3"), K::CarriedIndex, 7);
    refused(&with(rest, "%m"), K::CarriedIndex, 7);
    for next in ["index.mul %j, 2", "index.add %j, %k", "index.add %j, %j", "index.sub 7, %j"] {
        refused(&with(&std::format!("    %x = {next} : index\n"), "%m"), K::CarriedIndex, 6);
    }
}

#[test]
fn loops_that_go_on_count() {
    let with = |test: &str, next: &str| {
        kernel(&std::format!(
            "  %i, %r = scf.while (%j = %m, %c = %a) : (index, tensor<8x8xf32>) -> (index, tensor<8x8xf32>) {{\n    %t = index.cmp {test} : index\n    scf.condition(%t) %j, %c : index, tensor<8x8xf32>\n  }} do {{\n  ^bb0(%q: index, %d: tensor<8x8xf32>):\n    %b = tiled_load %A[%q, 0] : memref<?x?xf32, #gmem> -> tensor<8x8xf32>\n    %x = {next} : index\n    scf.yield %x, %b : index, tensor<8x8xf32>\n  }}\n  tiled_store %r, %A[%i, 0] : tensor<8x8xf32> -> memref<?x?xf32, #gmem>"
        ))
    };
    for test in
        ["slt, %j, %n", "sle, %j, %n", "sgt, %n, %j", "sge, %n, %j", "ult, %j, %n", "slt, %j, 70"]
    {
        let made = alone(&with(test, "index.add %q, 8"), None).expect("a counted loop");
        assert!(made.contains("scf.for") && !made.contains("while"), "{made}");
    }
    for test in ["sgt, %j, %n", "ne, %j, %n", "eq, %j, %n", "slt, %n, %m", "slt, %j, %j"] {
        refused(&with(test, "index.add %q, 8"), K::WhileForm, 3);
    }
    for next in ["index.add %q, 0", "index.add %q, %n", "index.sub %q, 8", "index.mul %q, 2"] {
        refused(&with("slt, %j, %n", next), K::WhileForm, 3);
    }
    // What is decided by elements.
    let text = with("slt, %j, %n", "index.add %q, 8")
        .replace("scf.condition(%t) %j, %c", "scf.condition(%t) %j, %a");
    refused(&text, K::WhileForm, 3);
}

#[test]
fn pointers_become_memrefs() {
    let with = |body: &str| {
        std::format!(
            "func @k(%x: !tt.ptr<f32>, %y: !tt.ptr<f32, 1>, %z: !tt.ptr<f32, 3>, %m: index, %l: tensor<8xi64>) {{threads = 32}} {{\n  %i = tt.make_range : tensor<8xi32>\n  %p = tt.splat %x : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>\n{body}\n}}\n"
        )
    };
    let all = "tensor<8x!tt.ptr<f32>>";
    let read = std::format!("  %a = tt.load %q : {all}");
    let one = with(&std::format!(
        "  %q = tt.addptr %p, %i : {all}, tensor<8xi32>\n{read}\n  tiled_store %q, %a : {all}, tensor<8xf32>\n  tiled_store %a, %p : tensor<8xf32>, {all}"
    ));
    let made = alone(&one, None).expect("a kernel");
    let moves =
        ["%x: memref<536870911xf32, #gmem>", "%a = gather %x[0], %i", "scatter %a, %x[0], %i"];
    for text in moves {
        assert!(made.contains(text), "{text}: {made}");
    }
    assert!(!made.contains("addptr") && !made.contains("tensor<8x!tt"), "{made}");
    // Moved alone, moved twice, repeated.
    let two = with(&std::format!(
        "  %f = tt.addptr %y, %m : !tt.ptr<f32, 1>, index\n  %g = tt.addptr %f, 3 : !tt.ptr<f32, 1>, index\n  %o = broadcast %g : !tt.ptr<f32, 1> -> {all}\n  %n = tt.addptr %o, %i : {all}, tensor<8xi32>\n  %q = tt.addptr %n, %i : {all}, tensor<8xi32>\n{read}"
    ));
    let made = alone(&two, None).expect("a kernel");
    assert!(made.contains("index.add") && made.contains("add %i, %i"), "{made}");
    // Carried by a loop: by as much all of them, and each by its own.
    let carried = |next: &str| {
        with(&std::format!(
            "  %w = scf.for %k = 0 to %m step 8 iter_args(%o = %p) -> ({all}) {{\n    %a = tt.load %o : {all}\n{next}\n    scf.yield %q : {all}\n  }}\n  %b = tt.load %w : {all}"
        ))
    };
    let far = "tensor<8xi32>";
    let even =
        std::format!("    %c = constant 4 : {far}\n    %q = tt.addptr %o, %c : {all}, {far}");
    let made = alone(&carried(&even), None).expect("a kernel");
    assert!(!made.contains("iter_args") && made.contains("gather %x["), "{made}");
    let own = std::format!("    %q = tt.addptr %o, %i : {all}, {far}");
    let made = alone(&carried(&own), None).expect("a kernel");
    assert!(made.contains("iter_args") && !made.contains("tt.ptr<f32>>"), "{made}");
    // Distances of 64 bits: elements lie within reach of their lower halves.
    let long = "  %q = tt.addptr %p, %l : tensor<8x!tt.ptr<f32>>, tensor<8xi64>\n  %v = tt.load %q : tensor<8x!tt.ptr<f32>>\n  tt.store %p, %v : tensor<8x!tt.ptr<f32>>";
    let made = alone(&with(long), None).expect("a kernel");
    assert!(made.contains("arith.trunci %l") && made.contains("gather %x[0]"), "{made}");
    // Another one into the same tensor, and one into another tensor.
    let again = std::format!("    %q = tt.addptr %p, %i : {all}, {far}");
    let made = alone(&carried(&again), None).expect("a kernel");
    assert!(made.contains("iter_args") && !made.contains("tt.ptr<f32>>"), "{made}");
    let other = std::format!(
        "    %h = tt.splat %y : !tt.ptr<f32, 1> -> {all}\n    %q = tt.addptr %h, %i : {all}, {far}"
    );
    refused(&carried(&other), K::PointerForm, 4);
    // One that lags behind another, which an index moves.
    let lags = with(&std::format!(
        "  %w:2 = scf.for %k = 0 to %m step 8 iter_args(%o = %p, %r = %p) -> ({all}, {all}) {{\n    %a = tt.load %r : {all}\n{even}\n    scf.yield %q, %o : {all}, {all}\n  }}"
    ));
    refused(&lags, K::PointerForm, 4);
    // A branch passes on how far they are.
    let branch = |second: &str| {
        with(&std::format!(
            "  %c = index.cmp slt, %m, 8 : index\n  %n = tt.addptr %p, %i : {all}, {far}\n  %h = tt.splat %y : !tt.ptr<f32, 1> -> {all}\n  %q = scf.if %c -> ({all}) {{\n    scf.yield %n : {all}\n  }} else {{\n    scf.yield {second} : {all}\n  }}\n{read}"
        ))
    };
    let made = alone(&branch("%p"), None).expect("a kernel");
    assert!(made.contains("gather %x[0]") && made.contains("scf.yield %i"), "{made}");
    refused(&branch("%h"), K::PointerForm, 7);
    for (body, line) in [
        // Distances of 16 bits, of another shape; a pointer to shared memory.
        (
            "  %h = arith.trunci %l : tensor<8xi64> to tensor<8xi16>\n  %q = tt.addptr %p, %h : tensor<8x!tt.ptr<f32>>, tensor<8xi16>",
            5,
        ),
        ("  %q = tt.addptr %p, %m : tensor<8x!tt.ptr<f32>>, index", 4),
        ("  %q = tt.splat %z : !tt.ptr<f32, 3> -> tensor<8x!tt.ptr<f32, 3>>", 4),
        // Something else reads them.
        (
            "  %q = tt.addptr %p, %i : tensor<8x!tt.ptr<f32>>, tensor<8xi32>\n  use %q : tensor<8x!tt.ptr<f32>>",
            5,
        ),
    ] {
        refused(&with(body), K::PointerForm, line);
    }
    // What makes pointers goes away; what it says and nobody obeys does not go unseen.
    let said = two.replace("tt.addptr %y, %m", "tt.addptr %y, %m {slow = 1}");
    refused(&said, K::IdleAttr, 4);
    refused(&one.replace("tt.splat %x", "tt.splat %x {slow}"), K::IdleAttr, 3);
}

#[test]
fn a_number_for_what_a_mask_leaves_out_is_a_tile() {
    let with = |other: &str| {
        kernel(&std::format!(
            "  %i = iota : tensor<8x8xi32>\n  %c = compare.slt %i, %i : tensor<8x8xi32>, tensor<8x8xi32> -> tensor<8x8xi1>\n  %b = tiled_load %A[0, 0], %c {other} : memref<?x?xf32, #gmem>, tensor<8x8xi1> -> tensor<8x8xf32>"
        ))
    };
    for other in ["{other = -1.5}", "{other = 2}", "{other = 0.5 : f32}", "{other = inf}"] {
        let made = alone(&with(other), None).expect("a kernel");
        assert!(made.contains("constant") && !made.contains("other"), "{made}");
    }
    // Of another type: it stays, and `compile` refuses it.
    assert!(alone(&with("{other = 0.5 : f16}"), None).expect("a kernel").contains("other"));
    let bare = kernel(
        "  %b = tiled_load %A[0, 0] {other = 1} : memref<?x?xf32, #gmem> -> tensor<8x8xf32>",
    );
    assert!(alone(&bare, None).expect("a kernel").contains("other = 1"));
}

#[test]
fn branches_to_labels_are_branches() {
    let kernel = |blocks: &str| {
        let head = "tt.func @k(%n: index) attributes {threads = 32} {\n  %c = index.cmp lt, %n, 4 : index\n";
        std::format!("{head}  cf.cond_br %c, ^bb1, ^bb2\n{blocks}}}\n")
    };
    let parts = |blocks: &str| {
        let text = kernel(blocks);
        let mut storage = Box::new(BigStorage::new());
        let program =
            parse(storage.pools(), tables(), &text, STRICT).map_err(|error| error.kind)?;
        let is_branch = |op: &crate::Op| program.role(*op) == lanebook_tables::OpRole::If;
        Ok::<usize, K>(program.all().filter(is_branch).count())
    };
    let nested =
        "^bb1:\n  cf.cond_br %c, ^bb3, ^bb4\n^bb3:\n  return\n^bb4:\n  return\n^bb2:\n  return\n";
    assert_eq!(parts("^bb1:\n  return\n^bb2:\n  return\n"), Ok(1));
    assert_eq!(parts(nested), Ok(2));
    for wrong in [
        // In another order, without an end, without the second block, with what is given back.
        "^bb2:\n  return\n^bb1:\n  return\n",
        "^bb1:\n  fence\n^bb2:\n  return\n",
        "^bb1:\n  return\n",
        "^bb1:\n  return %c : index\n^bb2:\n  return\n",
        "^bb1:\n  return\n^bb2:\n  return\n^bb3:\n  return\n",
    ] {
        assert_eq!(parts(wrong), Err(K::LabelForm), "{wrong}");
    }
}
