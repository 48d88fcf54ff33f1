//! Layouts of shared buffers: what each operator wants, what is taken, and why.

use lanebook::TABLES;
use lanebook::ir::{Op, Options, Storage, parse, verify};
use lanebook::loops::{
    LoopErrorKind, SharedAnswer, SharedListener, SharedStep, Told, UnitRefusal, lay_shared, tell,
};
use lanebook::written::{LayoutStorage, resolve_layouts};
use lanebook_infer::{BufferId, MemoryScope};
use lanebook_layout::{Swizzle, Unit};
use lanebook_report::memory::LoopMemory;

type Room = Storage<2048, 4096, 8192, 1024, 256, 256, 64>;

#[derive(Default)]
struct Steps(Vec<SharedStep>, Vec<UnitRefusal>);

impl SharedListener for Steps {
    fn step(&mut self, step: SharedStep) {
        self.0.push(step);
    }

    fn by_warps(&mut self, _: Op, why: UnitRefusal) {
        self.1.push(why);
    }
}

/// The steps of a function on an architecture, and the swizzles of its shared buffers.
fn laid(arch: &str, text: &str) -> Result<(Vec<SharedStep>, Vec<Option<Swizzle>>), LoopErrorKind> {
    laid_by(arch, text).map(|(steps, lies)| (steps.0, lies.iter().map(|own| own.0).collect()))
}

/// How a shared buffer lies: its swizzle, and bytes of its strips.
type Lies = (Option<Swizzle>, Option<u32>);

/// All that was said, and how the shared buffers lie.
fn laid_by(arch: &str, text: &str) -> Result<(Steps, Vec<Lies>), LoopErrorKind> {
    let mut storage = Box::new(Room::new());
    let mut program = parse(storage.pools(), &TABLES, text, Options::default()).expect("a text");
    verify(&mut program).expect("a program");
    let arch = TABLES.arch_named(arch).and_then(|id| TABLES.arch(id)).expect("an architecture");
    let function = program.functions().next().expect("a function");
    let mut memory = LoopMemory::default();
    let mut told: Told<'_> =
        tell(&program, function, &TABLES, arch, memory.parts()).map_err(|error| error.kind)?;
    told.inference.run(&TABLES.policies[0], &mut ()).expect("layouts");
    let mut steps = Steps::default();
    lay_shared(&mut told, &program, &TABLES, arch, &mut steps).expect("room");
    let shared = |id: &BufferId| {
        told.inference.buffer_of(*id).is_ok_and(|own| own.scope == MemoryScope::Shared)
    };
    let ids = told.buffers().map(|(id, _)| id).filter(shared);
    let lies = ids.map(|id| (told.inference.swizzle(id), told.inference.strips(id))).collect();
    Ok((steps, lies))
}

fn bytes(b: u8, m: u8, s: i8) -> Option<Swizzle> {
    Some(Swizzle::new(b, m, s, Unit::Byte).expect("a swizzle"))
}

#[test]
fn what_a_product_gathers_lies_by_columns_where_that_costs_less() {
    let strips = |arch: &str, text: &str| -> Vec<_> {
        let (_, lies) = laid_by(arch, text).expect("it is told");
        lies.into_iter().map(|(_, column_block)| column_block).collect()
    };
    // The right factor's columns are its depth; the left one's rows are.
    assert_eq!(strips("gfx1100", &product("", "")), [None, Some(2)]);
    let turned = product("", "").replace("gemm %a, %b, %c", "gemm %a, %b, %c {transpose_b}");
    assert_eq!(strips("gfx1100", &turned), [None; 2]);
    // An instruction brings columns to all lanes.
    assert_eq!(strips("sm_80", &product("", "")), [None; 2]);
}

#[test]
fn a_unit_leaves_sums_in_tensor_memory_where_warps_load_them_as_they_lie() {
    let described = |step: &SharedStep| step.answer == SharedAnswer::Described;
    let by_unit = |text: &str| {
        let (steps, lies) = laid_by("sm_100a", text).expect("it is told");
        (steps.0.iter().filter(|step| described(step)).count(), steps.1, lies)
    };
    let own = product("", "");
    assert_eq!(by_unit(&own), (2, vec![], vec![(bytes(3, 4, 3), None); 2]));
    // Written so that no descriptor says it.
    let written = by_unit(&product(", <(64, 64), (64, 1), swizzle<2, 3, 4>>", ""));
    assert!(matches!(written.1[..], [UnitRefusal::Layout(_)]), "{written:?}");
    // Of the same threads, but in another order in their registers.
    let order = "{thread = v0 // 16 * 32 + v0 % 8 * 4 + v1 % 8 // 2, \
                 index = v0 // 8 % 2 * 16 + v1 // 8 * 2 + v1 % 2}";
    let other = own.replace("xf32, #fragment>", &format!("xf32, #fragment, {order}>"));
    let other = by_unit(&other);
    assert!(matches!(other.1[..], [UnitRefusal::Sums(_)]), "{other:?}");
    // Eight fragments of 64 columns are what tensor memory holds; products of one share its.
    let more: String = (0..8)
        .map(|k| {
            format!(
                "  %c{k} = alloc_tensor : tensor<64x64xf32, #fragment>
  fill 0.0, %c{k}
  gemm %a, %b, %c{k}
  gemm %a, %b, %c{k}
  copy %c{k}, %C
"
            )
        })
        .collect();
    let many = by_unit(&own.replace("  copy %c, %C\n", &format!("  copy %c, %C\n{more}")));
    assert_eq!((many.0, many.1), (30, vec![UnitRefusal::TensorMemory; 2]));
    // A left factor in a fragment is no operand of such an instruction here.
    let left = own.replace("tensor<64x64xf16, #smem>\n  %b", "tensor<64x64xf16, #fragment>\n  %b");
    assert_eq!(by_unit(&left).1, [UnitRefusal::Instruction]);
}

/// A product of tiles of f16: what the left one's type says behind its space, and what happens before
/// the product.
fn product(alloc: &str, between: &str) -> String {
    format!(
        "func @f(%A: memref<64x64xf16> {{align = 16}}, %B: memref<64x64xf16> {{align = 16}}, %C: memref<64x64xf32> {{align = 16}}) {{threads = 128}} {{
  %a = alloc_tensor : tensor<64x64xf16, #smem{alloc}>
  %b = alloc_tensor : tensor<64x64xf16, #smem>
  %c = alloc_tensor : tensor<64x64xf32, #fragment>
  fill 0.0, %c
  copy %A, %a
  copy %B, %b
{between}  gemm %a, %b, %c
  copy %c, %C
}}"
    )
}

#[test]
fn a_product_says_how_its_operands_lie_and_copies_agree() {
    let (steps, swizzles) = laid("sm_80", &product("", "")).expect("it is told");
    // Rows of 128 bytes: eight lines of eight vectors, each line in another order.
    assert_eq!(swizzles, [bytes(3, 4, 3); 2]);
    let answers: Vec<_> = steps.iter().map(|step| (step.answer, step.writes)).collect();
    let own = [(SharedAnswer::Establishes, false), (SharedAnswer::Agrees, true)];
    assert_eq!(answers, [own, own].concat());
    // Four matrices of eight rows: a pass each, where each row alone would be one.
    assert_eq!(steps[0].passes, [4, 4, 32]);
    assert!(steps.iter().all(|step| step.instructions == 1));
}

#[test]
fn what_is_written_is_kept_and_what_cannot_be_is_refused() {
    let written = ", <(64, 64), (64, 1), swizzle<2, 4, 3>>";
    let (steps, swizzles) = laid("sm_80", &product(written, "")).expect("it is told");
    assert_eq!(swizzles, [bytes(2, 4, 3), bytes(3, 4, 3)]);
    assert_eq!(steps.len(), 2, "nobody is asked for a buffer whose layout is written");
    // Written without a swizzle it has none.
    let (_, swizzles) = laid("gfx942", &product(", (64,64):(64,1)", "")).expect("it is told");
    assert_eq!(swizzles[0], None);
    // Columns are strips of one element.
    let columns = laid("sm_80", &product(", (64,64):(1,64)", ""));
    assert_eq!(columns.expect("it is told").1, [None, bytes(3, 4, 3)]);
    // Rows apart from each other.
    let padded = laid("sm_80", &product(", (64,64):(72,1)", ""));
    assert_eq!(padded.expect("it is told").1, [None, bytes(3, 4, 3)]);
    for other in [", (64,64):(63,1)", ", (64,64):(1,1)"] {
        let refused = laid("sm_80", &product(other, ""));
        assert!(matches!(refused, Err(LoopErrorKind::Shared(_))), "{other}: {refused:?}");
    }
}

#[test]
fn a_unit_reads_what_its_descriptors_say_and_warps_multiply_the_rest() {
    let (steps, lies) = laid_by("sm_90a", &product("", "")).expect("it is told");
    assert_eq!(lies, [(bytes(3, 4, 3), None); 2]);
    let described = |step: &SharedStep| step.answer == SharedAnswer::Described;
    assert_eq!((steps.0.iter().filter(|step| described(step)).count(), steps.1.len()), (2, 0));
    // Rows of 256 bytes: two strips of 128.
    let wide = product("", "")
        .replace("64x64xf16", "64x128xf16")
        .replace("gemm %a, %b, %c", "gemm %a, %b, %c {transpose_b}");
    let (_, lies) = laid_by("sm_90a", &wide).expect("it is told");
    assert_eq!(lies, [(bytes(3, 4, 3), Some(128)); 2]);
    // Written so that no descriptor says it: the other one is free for the banks.
    let written = product(", <(64, 64), (64, 1), swizzle<2, 3, 4>>", "");
    let (steps, _) = laid_by("sm_90a", &written).expect("it is told");
    assert!(!steps.0.iter().any(described), "{:?}", steps.0);
    assert!(matches!(steps.1[..], [UnitRefusal::Layout(_)]), "{:?}", steps.1);
    // Bytes are read along the depth alone.
    let bytes_of = |text: String| {
        text.replace("f16", "i8").replace("xf32", "xi32").replace("fill 0.0", "fill 0")
    };
    let (steps, lies) = laid_by("sm_90a", &bytes_of(product("", ""))).expect("told");
    assert_eq!((lies[0].1, lies[1].1, steps.1), (None, Some(1), vec![]));
    let turned = product(", (64,64):(64,1)", "");
    let turned = turned.replace("gemm %a, %b, %c", "gemm %a, %b, %c {transpose_a}");
    let (steps, _) = laid_by("sm_90a", &bytes_of(turned)).expect("told");
    assert!(matches!(steps.1[..], [UnitRefusal::Layout(_)]), "{:?}", steps.1);
    // Extents that are no powers of two.
    let odd = product("", "").replace("%B: memref<64x64xf16>", "%B: memref<64x96xf16>").replace(
        "%b = alloc_tensor : tensor<64x64xf16, #smem>",
        "%b = alloc_tensor : tensor<64x96xf16, #smem>",
    );
    let odd = odd.replace("64x64xf32", "64x96xf32");
    let (steps, _) = laid_by("sm_90a", &odd).expect("it is told");
    assert_eq!(steps.1, [UnitRefusal::Instruction]);
    let (steps, _) = laid_by("sm_100a", &odd).expect("it is told");
    assert_eq!(steps.1, [UnitRefusal::Instruction]);
    let (steps, _) = laid_by("sm_80", &product("", "")).expect("it is told");
    assert_eq!(steps.1, []);
}

/// Three matrices, each read by columns.
fn matrices(alloc: &str) -> String {
    format!(
        "func @f(%A: memref<3x16x64xf16> {{align = 16}}, %B: memref<3x64x16xf16> {{align = 16}}) {{threads = 128}} {{
  %s = alloc_tensor : tensor<3x16x64xf16, #smem{alloc}>
  copy %A, %s
  parallel (%h, %i, %j) in (3, 64, 16) {{
    %x = memref.load %s[%h, %j, %i]
    memref.store %x, %B[%h, %i, %j]
  }}
}}"
    )
}

#[test]
fn matrices_one_behind_the_other_are_written_by_rows() {
    let (_, free) = laid("sm_80", &matrices("")).expect("it is told");
    assert_eq!(free, [bytes(4, 3, 4)]);
    for (written, swizzle) in [
        (", <(3, 16, 64), (1024, 64, 1), swizzle<4, 3, 4>>", bytes(4, 3, 4)),
        (", <(3, 16, 64), (1024, 64, 1), swizzle<2, 4, 3>>", bytes(2, 4, 3)),
        (", (3,16,64):(1024,64,1)", None),
    ] {
        let (steps, swizzles) = laid("sm_80", &matrices(written)).expect("it is told");
        assert_eq!(swizzles, [swizzle], "{written}");
        assert!(steps.is_empty(), "{written}: {steps:?}");
    }
    // Matrices exchanged with rows, gaps, columns first, matrices first: each where it is written.
    for strides in [[64, 192, 1], [1040, 64, 1], [1024, 1, 16], [1, 3, 48]] {
        let [matrix, row, col] = strides;
        let text = matrices(&format!(", (3,16,64):({matrix},{row},{col})"));
        assert!(laid("sm_80", &text).is_ok_and(|(steps, lies)| steps.is_empty() && lies == [None]));
        for (e, place) in (0u64..).zip(places(&text, 3 * 16 * 64, 2)) {
            let at = e / 1024 * matrix + e / 64 % 16 * row + e % 64 * col;
            assert_eq!(place, Some(2 * at), "{strides:?}: {e}");
        }
    }
    // Two elements in one place.
    for strides in ["64,64,1", "8,64,1"] {
        let refused = laid("sm_80", &matrices(&format!(", (3,16,64):({strides})")));
        assert!(matches!(refused, Err(LoopErrorKind::Shared(_))), "{strides}: {refused:?}");
    }
}

#[test]
fn views_lie_as_their_storage_does() {
    let view = "  %v = view %a : tensor<4096xf16, #smem>
  parallel (%i) in (4096) {
    %x = memref.load %v[%i]
    memref.store %x, %v[%i]
  }
";
    let (_, swizzles) = laid("sm_80", &product("", view)).expect("it is told");
    assert_eq!(swizzles, [bytes(3, 4, 3); 3]);
}

/// A tile is read along its rows and along its columns.
#[test]
fn swizzles_that_disagree_merge_or_the_cheaper_is_taken() {
    let mut answers = Vec::new();
    for arch in ["sm_75", "sm_80", "sm_90a", "gfx942", "gfx950", "gfx1100", "gfx1200"] {
        for (rows, columns) in [(32, 64), (64, 64), (64, 32), (16, 128), (96, 64), (32, 96)] {
            for ty in ["f16", "f32", "i8"] {
                let text = format!(
                    "func @f(%A: memref<{rows}x{columns}x{ty}> {{align = 16}}, %B: memref<{columns}x{rows}x{ty}> {{align = 16}}, %D: memref<{rows}x{columns}x{ty}> {{align = 16}}) {{threads = 128}} {{
  %s = alloc_tensor : tensor<{rows}x{columns}x{ty}, #smem>
  copy %A, %s
  parallel (%i, %j) in ({columns}, {rows}) {{
    %x = memref.load %s[%j, %i]
    memref.store %x, %B[%i, %j]
  }}
  parallel (%i, %j) in ({rows}, {columns}) {{
    %x = memref.load %s[%i, %j]
    memref.store %x, %D[%i, %j]
  }}
}}"
                );
                let (steps, _) = laid(arch, &text).expect("it is told");
                for step in &steps {
                    let [wanted, taken, plain] = step.passes;
                    let served = matches!(
                        step.answer,
                        SharedAnswer::Agrees | SharedAnswer::Merges | SharedAnswer::Establishes
                    );
                    // Who is served pays no more than under what it wants, and nobody wants what
                    // is dearer than rows as they are.
                    assert!(!served || taken <= wanted, "{arch} {text}: {step:?}");
                    let torn = step.instructions > 1 || step.wanted != step.taken;
                    assert!(wanted <= plain || torn, "{arch} {text}: {step:?}");
                }
                answers.extend(steps.iter().map(|step| step.answer));
            }
        }
    }
    let count = |answer| answers.iter().filter(|own| **own == answer).count();
    use SharedAnswer::{Agrees, Establishes, Merges, Prevails, Yields};
    let all = [Agrees, Establishes, Merges, Prevails, Yields].map(count);
    assert!(count(Agrees) > 50 && count(Merges) + count(Prevails) + count(Yields) > 20, "{all:?}");
}

/// Where the elements of a function's only shared buffer lie, row by row, once layouts of other
/// systems are resolved.
fn places(text: &str, elements: u64, unit: u64) -> Vec<Option<u64>> {
    let mut storage = Box::new(Room::new());
    let mut program = parse(storage.pools(), &TABLES, text, Options::default()).expect("a text");
    verify(&mut program).expect("a program");
    let id = TABLES.arch_named("sm_80").expect("an architecture");
    let arch = TABLES.arch(id).expect("an architecture");
    let function = program.functions().next().expect("a function");
    let mut layouts = Box::new(LayoutStorage::new());
    resolve_layouts(&TABLES, id, &mut program, function, &mut layouts).expect("layouts");
    let mut memory = LoopMemory::default();
    let told = tell(&program, function, &TABLES, arch, memory.parts()).expect("a function");
    let (tile, _) = told
        .buffers()
        .find(|(id, _)| {
            told.inference.buffer_of(*id).is_ok_and(|own| own.scope == MemoryScope::Shared)
        })
        .expect("a shared buffer");
    (0..elements).map(|e| told.inference.placed_byte(tile, e * unit)).collect()
}

#[test]
fn written_places_that_are_no_rows_are_kept_to() {
    let function = |layout: &str| {
        format!(
            "func @f(%A: memref<8x16xf32>) {{threads = 32}} {{
  %s = alloc_tensor : tensor<8x16xf32, #smem, {layout}>
  copy %A, %s
}}"
        )
    };
    // Bits of places, lowest first, as rows and columns: column bit 1 also turns row bit 0 over.
    let offsets = [[0, 2], [1, 0], [0, 1], [1, 4], [4, 0], [0, 8], [2, 0]];
    let listed: Vec<String> = offsets.iter().map(|[r, c]| format!("[{r}, {c}]")).collect();
    let linear =
        format!("#ttg.shared_linear<{{offset = [{}]}}, alignment = 16>", listed.join(", "));
    let found = places(&function(&linear), 128, 4);
    for place in 0..128usize {
        let set = offsets.iter().enumerate().filter(|(bit, _)| place >> bit & 1 == 1);
        let (row, col) = set.fold((0, 0), |(r, c), (_, own)| (r ^ own[0], c ^ own[1]));
        assert_eq!(found[row * 16 + col], Some(4 * place as u64), "{row} {col}");
    }
    // Distances that add up, with gaps: panels of four columns, rows four elements apart.
    for gap in [0, 4, 12] {
        let panel = 32 + gap;
        for text in [format!("S[(8,4,4):(4,{panel},1)]"), format!("(8,(4,4)):(4,(1,{panel}))")] {
            let found = places(&function(&text), 128, 4);
            for (e, place) in found.iter().enumerate() {
                let (row, col) = (e / 16, e % 16);
                assert_eq!(*place, Some(4 * (row * 4 + col / 4 * panel + col % 4) as u64));
            }
        }
    }
    // Digits that are no bits: panels of six columns, counted from the last and from the first index.
    for text in ["S[(4,4,6):(6,26,1)]", "(4,(6,4)):(6,(1,26))"] {
        let text = function(text).replace("8x16", "4x24");
        for (e, place) in places(&text, 96, 4).iter().enumerate() {
            let (row, col) = (e / 24, e % 24);
            assert_eq!(*place, Some(4 * (row * 6 + col / 6 * 26 + col % 6) as u64));
        }
    }
    // Elements of 4 bytes, looked at with elements of 8: apart, and side by side.
    let viewed = |layout: &str| {
        format!(
            "func @f(%A: memref<8x8xf64>) {{threads = 32}} {{
  %s = alloc_tensor : tensor<8x16xf32, #smem, {layout}>
  %w = view %s : tensor<8x16xf32, #smem, {layout}> -> tensor<8x8xf64, #smem>
  copy %A, %w
}}"
        )
    };
    assert!(
        matches!(laid("sm_80", &viewed("S[(8,4,4):(4,36,1)]")), Ok((_, lies)) if lies == [None; 2])
    );
    for torn in ["S[(8,4,4):(4,33,1)]", "(8,(2,8)):(2,(17,32))"] {
        assert!(matches!(laid("sm_80", &viewed(torn)), Err(LoopErrorKind::Torn(_))), "{torn}");
    }
}
