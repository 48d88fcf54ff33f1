//! Matrix units whose sums stay in tensor memory: legal text, right results, and every fault in the
//! protocol caught.
#![allow(missing_docs)]

use lanebook::TABLES;
use lanebook::check::{self, Violation};
use lanebook::emit::step::{Inst, InstKind};
use lanebook_kernels::maps::{KernelMap, kernel_maps, map_params};
use lanebook_kernels::{Assembler, e4m3, example, kernel_text, try_kernel_text, with_kernel};
use lanebook_replay::{
    BankModel, FaultKind, Kernel, Launch, MatrixShape, Memory, Param, Report, run,
};

const ARCH: &str = "sm_100a";

/// How elements are stored.
#[derive(Copy, Clone, Debug, PartialEq)]
enum Element {
    F16,
    Bf16,
    E4m3,
}

impl Element {
    fn name(self) -> &'static str {
        match self {
            Element::F16 => "f16",
            Element::Bf16 => "bf16",
            Element::E4m3 => "e4m3",
        }
    }
}

/// A product C = A * B over whole matrices of one tile's size along m and n.
#[derive(Copy, Clone, Debug)]
struct Case {
    tile: (u32, u32),
    k: u32,
    threads: u32,
    element: Element,
    /// A, and B, is stored with its rows and columns exchanged.
    turned: (bool, bool),
    /// Rows are aligned as copies through tensor maps need it.
    maps: bool,
}

/// Elements of C that are wrong.
fn product(text: &str, maps: &[KernelMap], case: &Case) -> Result<(usize, Report), FaultKind> {
    let (m, n, k) = (case.tile.0, case.tile.1, case.k);
    let a: Vec<f32> = (0..m * k).map(|i| ((i * 7 + i / k) % 13) as f32 - 6.0).collect();
    let b: Vec<f32> = (0..k * n).map(|i| ((i * 5 + i / n) % 11) as f32 - 5.0).collect();
    let turn = |v: &[f32], rows: u32, cols: u32| -> Vec<f32> {
        (0..rows * cols).map(|i| v[((i % rows) * cols + i / rows) as usize]).collect()
    };
    let stored = (
        if case.turned.0 { turn(&a, m, k) } else { a.clone() },
        if case.turned.1 { turn(&b, k, n) } else { b.clone() },
    );
    let mut memory = Memory::new();
    let mut add = |name: &str, v: &[f32]| match case.element {
        Element::F16 => memory.add_f16(name, v),
        Element::Bf16 => memory.add_bf16(name, v),
        Element::E4m3 => memory.add(name, v.iter().map(|x| e4m3(*x)).collect()),
    };
    let (ia, ib) = (add("A", &stored.0), add("B", &stored.1));
    let ic = memory.add_f32("C", &vec![7.0; (m * n) as usize]);
    let exchange =
        |turned: bool, (rows, cols): (u32, u32)| if turned { (cols, rows) } else { (rows, cols) };
    let (of_a, of_b) = (exchange(case.turned.0, (m, k)), exchange(case.turned.1, (k, n)));
    let bytes = if case.element == Element::E4m3 { 1 } else { 2 };
    memory.set_shape(ia, MatrixShape::row_major(of_a.0, of_a.1, bytes));
    memory.set_shape(ib, MatrixShape::row_major(of_b.0, of_b.1, bytes));
    let matrix = |id, (rows, cols): (u32, u32)| {
        [Param::Buffer(id), Param::U32(rows), Param::U32(cols), Param::U32(cols)]
    };
    let mut params: Vec<Param> = [matrix(ia, of_a), matrix(ib, of_b), matrix(ic, (m, n))].concat();
    params.extend([Param::U32(0), Param::U32(0), Param::U32(k)]);
    params.extend(map_params(
        maps,
        &[(ia, of_a.0, of_a.1), (ib, of_b.0, of_b.1), (ic, m, n)],
        &memory,
    ));
    let kernel = Kernel::parse_ptx(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    // More than the static limit is given at launch.
    let dynamic_shared = if text.contains(".extern .shared") { 160 << 10 } else { 0 };
    let launch =
        Launch { dynamic_shared, ..Launch::new(case.threads, params).banks(BankModel::nvidia()) };
    let report = run(&kernel, &launch, &mut memory).map_err(|f| f.kind)?;
    let c = memory.f32s(ic);
    let want = |i: u32, j: u32| -> f32 {
        (0..k).map(|x| a[(i * k + x) as usize] * b[(x * n + j) as usize]).sum()
    };
    let wrong = (0..m * n).filter(|at| c[*at as usize] != want(at / n, at % n)).count();
    Ok((wrong, report))
}

/// The program of a case.
fn program(case: &Case) -> String {
    let (m, n) = case.tile;
    let t = case.element.name();
    let depth = if case.element == Element::E4m3 { 128 } else { 64 };
    let side = |turned: bool, name: &str, (rows, cols): (u32, u32), at: (&str, &str)| {
        if turned {
            let turn = format!(
                "%{name}t = trans %{name} : tensor<{cols}x{rows}x{t}> -> tensor<{rows}x{cols}x{t}>"
            );
            (
                format!("{cols}x{rows}x{t}"),
                format!("%{}, %{}", at.1, at.0),
                turn,
                format!("%{name}t"),
            )
        } else {
            (
                format!("{rows}x{cols}x{t}"),
                format!("%{}, %{}", at.0, at.1),
                String::new(),
                format!("%{name}"),
            )
        }
    };
    let (a, a_at, a_turn, a_value) = side(case.turned.0, "a", (m, depth), ("m", "k"));
    let (b, b_at, b_turn, b_value) = side(case.turned.1, "b", (depth, n), ("k", "n"));
    // Rows at multiples of 16 bytes can be copied through tensor maps.
    let align = if case.element == Element::E4m3 { 16 } else { 8 } / if case.maps { 1 } else { 2 };
    format!(
        "func @gemm(%A: memref<?x?x{t}, #gmem> {{align = 16, stride_div = {align}}}, %B: memref<?x?x{t}, #gmem> {{align = 16, stride_div = {align}}}, \
                    %C: memref<?x?xf32, #gmem> {{align = 16, stride_div = 4}}, %m: index {{div = {m}}}, %n: index {{div = {n}}}, %K: index) {{threads = {threads}}} {{
  %sa = alloc_tensor : tensor<{a}, #smem>
  %sb = alloc_tensor : tensor<{b}, #smem>
  %z  = constant 0.0 : tensor<{m}x{n}xf32>
  %r  = scf.for %k = 0 to %K step {depth} iter_args(%c = %z) -> tensor<{m}x{n}xf32> {{
    copy %A[{a_at}], %sa : memref<?x?x{t}, #gmem> -> tensor<{a}, #smem>
    copy %B[{b_at}], %sb : memref<?x?x{t}, #gmem> -> tensor<{b}, #smem>
    %a = tiled_load %sa : tensor<{a}, #smem> -> tensor<{a}>
    %b = tiled_load %sb : tensor<{b}, #smem> -> tensor<{b}>
    {a_turn}
    {b_turn}
    %d = mma {a_value}, {b_value}, %c : tensor<{m}x{n}xf32>
    scf.yield %d : tensor<{m}x{n}xf32>
  }}
  tiled_store %r, %C[%m, %n] : tensor<{m}x{n}xf32> -> memref<?x?xf32, #gmem>
}}
",
        threads = case.threads
    )
}

fn right(case: &Case, assembler: &Assembler) -> bool {
    let text = try_kernel_text(&program(case), ARCH).unwrap_or_else(|e| panic!("{case:?}: {e}"));
    assembler.assemble(&text, ARCH).unwrap_or_else(|said| panic!("{case:?}: {said}\n{text}"));
    let (wrong, report) = product(&text, &kernel_maps(&program(case), ARCH), case)
        .unwrap_or_else(|f| panic!("{case:?}: {f:?}\n{text}"));
    with_kernel(&program(case), ARCH, |program, compiled, _| {
        check::order(&TABLES, program, compiled)
            .unwrap_or_else(|v| panic!("{case:?}: {v:?}\n{text}"));
        // The plan's check takes longest, and knows no difference between element types of one
        // width.
        if case.turned.0 != case.turned.1 {
            return;
        }
        let plan = check::plan(&TABLES, program, &compiled.plan)
            .unwrap_or_else(|v| panic!("{case:?}: {v:?}"));
        assert_eq!(plan.cells, u64::from(case.tile.0 * case.tile.1), "{case:?}");
    });
    assert_eq!((wrong, report.conflicts()), (0, 0), "{case:?}\n{text}");
    text.contains("tcgen05.mma")
}

#[test]
fn products_of_many_shapes() {
    let assembler = Assembler::of(ARCH);
    let mut units = 0;
    let tiles = [
        ((128, 128), 128),
        ((128, 16), 128),
        ((128, 224), 128),
        ((64, 256), 128),
        ((64, 8), 128),
        ((64, 224), 128),
        ((128, 256), 256),
        ((256, 64), 256),
        ((64, 64), 256),
        ((192, 96), 128),
    ];
    for (k, (tile, threads)) in (0..).zip(tiles) {
        for turned in [(false, false), (false, true), (true, false), (true, true)] {
            let element =
                if (k + usize::from(turned.0)) % 2 == 0 { Element::F16 } else { Element::Bf16 };
            let case = Case { tile, k: 128, threads, element, turned, maps: k % 3 != 0 };
            let unit = right(&case, &assembler);
            if !unit {
                println!("{case:?}: another instruction");
            }
            units += usize::from(unit);
        }
    }
    assert!(units >= 36, "{units} of the products are the unit's");
}

#[test]
fn eight_bit_products() {
    let assembler = Assembler::of(ARCH);
    for (tile, turned) in
        [((128, 128), (false, true)), ((64, 96), (false, true)), ((128, 64), (false, false))]
    {
        let case = Case { tile, k: 256, threads: 128, element: Element::E4m3, turned, maps: true };
        println!("{case:?}: {}", right(&case, &assembler));
    }
    let text = kernel_text(&example("gemm_fp8.tile"), ARCH);
    assert!(text.contains("tcgen05.mma.cta_group::1.kind::f8f6f4"), "{text}");
    let case = Case {
        tile: (128, 128),
        k: 256,
        threads: 128,
        element: Element::E4m3,
        turned: (false, true),
        maps: true,
    };
    assert_eq!(
        product(&text, &kernel_maps(&example("gemm_fp8.tile"), ARCH), &case)
            .map(|(wrong, _)| wrong),
        Ok(0)
    );
}

/// A loop that does not go round leaves zeros.
#[test]
fn no_iteration() {
    let case = Case {
        tile: (128, 64),
        k: 0,
        threads: 128,
        element: Element::F16,
        turned: (false, false),
        maps: false,
    };
    let text = kernel_text(&program(&case), ARCH);
    assert_eq!(
        product(&text, &kernel_maps(&program(&case), ARCH), &case).map(|(wrong, _)| wrong),
        Ok(0)
    );
}

/// What reads the sum finds it in registers: rows' maxima, differences, a narrower type.
#[test]
fn work_on_the_sum() {
    let assembler = Assembler::of(ARCH);
    for (tile, narrow) in [((128u32, 64u32), false), ((128, 128), true), ((64, 64), false)] {
        let case = Case {
            tile,
            k: 64,
            threads: 128,
            element: Element::F16,
            turned: (false, false),
            maps: true,
        };
        let (m, n) = tile;
        let wide = format!("tensor<{m}x{n}xf32>");
        let whole = program(&case);
        let cut = whole.rfind("  tiled_store").expect("a store");
        let last = if narrow {
            ("%h", format!("tensor<{m}x{n}xf16>"), "f16", 8)
        } else {
            ("%s", wide.clone(), "f32", 4)
        };
        let cast =
            if narrow { format!("  %h = cast %s : {wide} -> {}\n", last.1) } else { String::new() };
        let tail = format!(
            "  %half = constant 0.5 : {wide}\n  %mx = reduce %r {{axis = 1, kind = max}} : {wide} -> tensor<{m}xf32>\n  %mb = broadcast %mx {{axis = 1}} : tensor<{m}xf32> -> {wide}\n  \
             %u = sub %r, %mb : {wide}\n  %s = mul %u, %half : {wide}\n{cast}  tiled_store {}, %C[%m, %n] : {} -> memref<?x?x{}, #gmem>\n}}\n",
            last.0, last.1, last.2
        );
        let program = format!("{}{tail}", &whole[..cut]).replace(
            "%C: memref<?x?xf32, #gmem> {align = 16, stride_div = 4}",
            &format!("%C: memref<?x?x{}, #gmem> {{align = 16, stride_div = {}}}", last.2, last.3),
        );
        let text =
            try_kernel_text(&program, ARCH).unwrap_or_else(|e| panic!("{tile:?}: {e}\n{program}"));
        assert!(text.contains("tcgen05.mma"), "{tile:?}\n{text}");
        assembler.assemble(&text, ARCH).unwrap_or_else(|said| panic!("{said}\n{text}"));
        with_kernel(&program, ARCH, |program, compiled, _| {
            check::plan(&TABLES, program, &compiled.plan)
                .unwrap_or_else(|v| panic!("{tile:?}: {v:?}"));
            check::order(&TABLES, program, compiled)
                .unwrap_or_else(|v| panic!("{tile:?}: {v:?}\n{text}"));
        });
        let k = case.k;
        let (a, b): (Vec<f32>, Vec<f32>) = (
            (0..m * k).map(|i| (i % 5) as f32 - 2.0).collect(),
            (0..k * n).map(|i| (i * 3 % 7) as f32 - 3.0).collect(),
        );
        let mut memory = Memory::new();
        let (ia, ib) = (memory.add_f16("A", &a), memory.add_f16("B", &b));
        let ic = if narrow {
            memory.add_f16("C", &vec![7.0; (m * n) as usize])
        } else {
            memory.add_f32("C", &vec![7.0; (m * n) as usize])
        };
        let matrix = |id, rows: u32, cols: u32| {
            [Param::Buffer(id), Param::U32(rows), Param::U32(cols), Param::U32(cols)]
        };
        let mut params: Vec<Param> =
            [matrix(ia, m, k), matrix(ib, k, n), matrix(ic, m, n)].concat();
        params.extend([Param::U32(0), Param::U32(0), Param::U32(k)]);
        params.extend(map_params(
            &kernel_maps(&program, ARCH),
            &[(ia, m, k), (ib, k, n), (ic, m, n)],
            &memory,
        ));
        run(&Kernel::parse_ptx(&text).expect("a kernel"), &Launch::new(128, params), &mut memory)
            .unwrap_or_else(|f| panic!("{tile:?}: {f:?}\n{text}"));
        let found = if narrow { memory.f16s(ic) } else { memory.f32s(ic) };
        // Sums are whole numbers below 1024: their halves are exact in either type.
        for i in 0..m {
            let row: Vec<f32> = (0..n)
                .map(|j| (0..k).map(|x| a[(i * k + x) as usize] * b[(x * n + j) as usize]).sum())
                .collect();
            let top = row.iter().copied().fold(f32::MIN, f32::max);
            for j in 0..n {
                assert_eq!(
                    found[(i * n + j) as usize],
                    (row[j as usize] - top) * 0.5,
                    "{tile:?} {i} {j}"
                );
            }
        }
    }
}

/// A product in a loop that does not carry its sum: fetched each time, added up in registers.
#[test]
fn sums_that_no_loop_carries() {
    let case = Case {
        tile: (128, 128),
        k: 192,
        threads: 128,
        element: Element::F16,
        turned: (false, false),
        maps: true,
    };
    let wide = "tensor<128x128xf32>";
    let program = program(&case)
        .replace("%d = mma %a, %b, %c", "%p = mma %a, %b, %y")
        .replace("    scf.yield", &format!("    %d = add %c, %p : {wide}\n    scf.yield"))
        .replace("  %r  =", &format!("  %y  = constant 0.0 : {wide}\n  %r  ="));
    let text = try_kernel_text(&program, ARCH).unwrap_or_else(|e| panic!("{e}\n{program}"));
    assert!(text.contains("tcgen05.mma"), "{text}");
    Assembler::of(ARCH).assemble(&text, ARCH).unwrap_or_else(|said| panic!("{said}\n{text}"));
    with_kernel(&program, ARCH, |program, compiled, text| {
        check::plan(&TABLES, program, &compiled.plan).unwrap_or_else(|v| panic!("{v:?}"));
        check::order(&TABLES, program, compiled).unwrap_or_else(|v| panic!("{v:?}\n{text}"));
    });
    let maps = kernel_maps(&program, ARCH);
    assert_eq!(product(&text, &maps, &case).map(|(wrong, _)| wrong), Ok(0), "{text}");
    // The next product writes where the loads of this one read.
    for what in ["tcgen05.wait::ld", "tcgen05.fence::before", "tcgen05.commit"] {
        let less: String = text
            .lines()
            .filter(|line| !line.contains(what))
            .map(|line| format!("{line}\n"))
            .collect();
        assert!(product(&less, &maps, &case).is_err(), "without {what}\n{text}");
    }
}

/// What becomes of a text in which lines are changed.
fn damaged(change: impl Fn(&str) -> Option<String>) -> Result<usize, FaultKind> {
    damaged_in(
        Case {
            tile: (128, 128),
            k: 192,
            threads: 128,
            element: Element::F16,
            turned: (false, false),
            maps: false,
        },
        change,
    )
}

fn damaged_in(case: Case, change: impl Fn(&str) -> Option<String>) -> Result<usize, FaultKind> {
    let whole = kernel_text(&program(&case), ARCH);
    let text: String = whole.lines().filter_map(&change).map(|line| line + "\n").collect();
    assert_ne!(text, whole);
    product(&text, &kernel_maps(&program(&case), ARCH), &case).map(|(wrong, _)| wrong)
}

fn without(what: &'static str) -> impl Fn(&str) -> Option<String> {
    move |line| (!line.trim_start().contains(what)).then(|| line.to_string())
}

fn with(from: &'static str, to: &'static str) -> impl Fn(&str) -> Option<String> {
    move |line| Some(line.replace(from, to))
}

#[test]
fn each_step_of_the_protocol_is_needed() {
    use FaultKind::{
        AsyncNotWaited, AsyncOverwrite, InvalidOperand, PhaseNeverEnds, RaceReadAfterWrite,
        RegisterInFlight, TensorNotFreed, TensorNotReady, TensorUnallocated, UninitialisedShared,
        UnitNotFenced,
    };
    let faults: [(&str, &[FaultKind]); 9] = [
        ("tcgen05.alloc", &[UninitialisedShared, TensorUnallocated]),
        ("mbarrier.init", &[InvalidOperand, UninitialisedShared]),
        ("cp.async.wait_group", &[AsyncNotWaited]),
        ("fence.proxy.async", &[UnitNotFenced]),
        ("bar.sync", &[RaceReadAfterWrite, UninitialisedShared, UnitNotFenced]),
        ("tcgen05.commit", &[PhaseNeverEnds]),
        ("tcgen05.fence::after_thread_sync", &[TensorNotReady]),
        ("tcgen05.wait::ld", &[RegisterInFlight]),
        ("tcgen05.dealloc", &[TensorNotFreed]),
    ];
    for (what, expected) in faults {
        let found = damaged(without(what));
        assert!(found.is_err_and(|f| expected.contains(&f)), "without {what}: {found:?}");
    }
    let unwaited = damaged(|line| {
        (!line.contains("try_wait") && !line.contains("done bra")).then(|| line.to_string())
    });
    assert!(matches!(unwaited, Err(AsyncOverwrite | TensorNotReady)), "{unwaited:?}");
    // The parity stays what it was.
    let stuck = damaged(|line| (line.trim() != "xor.b32 %r3, %r3, 1;").then(|| line.to_string()));
    assert!(matches!(stuck, Err(PhaseNeverEnds | AsyncOverwrite | TensorNotReady)), "{stuck:?}");
    // The objects that copies and products arrive at are made known to the unit by this fence, or
    // by one between the proxies.
    let mapped = Case {
        tile: (128, 128),
        k: 192,
        threads: 128,
        element: Element::F16,
        turned: (false, false),
        maps: true,
    };
    assert_eq!(damaged_in(mapped, without("fence.mbarrier_init")), Err(UnitNotFenced));
    let unfenced = |line: &str| {
        (!line.contains("fence.mbarrier_init") && !line.contains("fence.proxy.async"))
            .then(|| line.to_string())
    };
    assert_eq!(damaged(unfenced), Err(UnitNotFenced));
}

#[test]
fn wrong_operands_are_caught() {
    use FaultKind::{InvalidOperand, TensorReach};
    // Every thread issues the product.
    assert_eq!(damaged(with("@%p0 tcgen05.mma", "tcgen05.mma")), Err(InvalidOperand));
    // The other parity from the start.
    let phase = |line: &str| {
        Some(if line.contains("mov.b32 %r3, 0;") {
            line.replace(", 0;", ", 1;")
        } else {
            line.to_string()
        })
    };
    assert!(matches!(
        damaged(phase),
        Err(FaultKind::AsyncOverwrite | FaultKind::TensorNotReady | FaultKind::PhaseNeverEnds)
    ));
    // A load that is a column off, or reaches another warp's lanes.
    assert_ne!(damaged(with(", 1048576;", ", 1048577;")), Ok(0));
    assert_eq!(damaged(with(", 65536, %r", ", 131072, %r")), Err(TensorReach));
    // Numbers of the instruction descriptor: an order, a type, the columns.
    let word = |line: &str| {
        line.trim()
            .strip_prefix("mov.b32 %r")
            .and_then(|l| l.split_once(", "))
            .and_then(|(_, n)| n.trim_end_matches(';').parse::<u32>().ok())
    };
    let flip = |bit: u32| {
        move |line: &str| {
            let number = word(line).filter(|n| n >> 24 == 8 && n >> 30 == 0);
            Some(number.map_or(line.to_string(), |n| {
                line.replace(&n.to_string(), &(n ^ 1 << bit).to_string())
            }))
        }
    };
    for bit in [4, 7, 10, 13, 15, 16, 21, 27] {
        assert_ne!(damaged(flip(bit)), Ok(0), "bit {bit}");
    }
    // A matrix descriptor's start, leading offset and stride.
    let shift = |by: u64| {
        move |line: &str| {
            let (head, number) = line.rsplit_once(", ").unwrap_or((line, ""));
            let number = number
                .trim_end_matches(';')
                .parse::<u64>()
                .ok()
                .filter(|n| line.contains("add.u64") && *n >= 1 << 16);
            Some(number.map_or(line.to_string(), |n| format!("{head}, {};", n + by)))
        }
    };
    for by in [1, 64, 1 << 20] {
        assert_ne!(damaged(shift(by)), Ok(0), "{by}");
    }
    let stride = |line: &str| {
        let number = word(line).filter(|n| n >> 30 == 1);
        Some(
            number
                .map_or(line.to_string(), |n| line.replace(&n.to_string(), &(n + 64).to_string())),
        )
    };
    assert_ne!(damaged(stride), Ok(0));
}

/// The checker of steps: each synchronisation step of the product and of its loads is missed by
/// someone.
#[test]
fn a_missing_step() {
    let case = Case {
        tile: (128, 128),
        k: 128,
        threads: 128,
        element: Element::F16,
        turned: (false, false),
        maps: false,
    };
    with_kernel(&program(&case), ARCH, |program, compiled, text| {
        let steps: Vec<Inst> = compiled.steps.to_vec();
        let first = steps.iter().position(|s| s.purpose == InstKind::Matrix).expect("a product");
        let last = steps
            .iter()
            .rposition(|s| {
                s.purpose == InstKind::Sync
                    && TABLES.atom(s.atom).is_some_and(|a| a.name().contains("wait.ld"))
            })
            .expect("a wait");
        let mut missed = 0;
        for k in (first..=last).filter(|k| steps[*k].purpose == InstKind::Sync) {
            let mut without = steps.clone();
            let taken = without.remove(k);
            let name = TABLES.atom(taken.atom).expect("an atom").name();
            let found = check::order_of(&TABLES, program, &compiled.plan, &without);
            assert!(
                matches!(found, Err(Violation::Race { .. } | Violation::Completion { .. })),
                "{name}: {found:?}\n{text}"
            );
            missed += 1;
        }
        assert!(missed >= 4, "{missed}");
        let load = steps
            .iter()
            .position(|s| TABLES.atom(s.atom).is_some_and(|a| a.name().starts_with("tcgen05.ld")))
            .expect("a load");
        let mut without = steps.clone();
        let _ = without.remove(load);
        assert!(matches!(
            check::order_of(&TABLES, program, &compiled.plan, &without),
            Err(Violation::Count { .. })
        ));
    });
}

/// The architectures without such a unit refuse the text.
#[test]
fn other_architectures_refuse_the_text() {
    let case = Case {
        tile: (128, 128),
        k: 128,
        threads: 128,
        element: Element::F16,
        turned: (false, false),
        maps: false,
    };
    let text = kernel_text(&program(&case), ARCH);
    for arch in ["sm_120a", "sm_90a", "sm_100"] {
        let other = text.replace(".target sm_100a", &format!(".target {arch}"));
        let said = Assembler::of(arch).assemble(&other, arch).expect_err("no such instruction");
        assert!(said.contains("tcgen05"), "{arch}: {said}");
    }
    for arch in ["sm_100f", "sm_103a", "sm_110a"] {
        let text = kernel_text(&program(&case), arch);
        assert!(text.contains("tcgen05.mma"), "{arch}");
        Assembler::of(arch).assemble(&text, arch).unwrap_or_else(|said| panic!("{arch}: {said}"));
    }
}
