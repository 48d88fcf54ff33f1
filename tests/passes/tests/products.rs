//! Matrix instructions for products: what lanebook asks for beside what Triton 3.9 asked for on the
//! same text.
use lanebook::TABLES;
use lanebook::ir::{Op, Program, Value};
use lanebook::layout::notation::ttg;
use lanebook::layout::triton::Encoding;
use lanebook::layout_seeding::SeedingOptions;
use lanebook_pass_tests::judge::meanings;
use lanebook_pass_tests::{SNIPPET, folder, layout, run, run_wishing, with};
use lanebook_tables::OpRole;
use std::collections::BTreeMap;

/// What Triton chose: by kernel, for each product the layouts of left operand, right operand,
/// result; of one whose sums lie in tensor memory that of the sums, and that in which they are
/// loaded; of one with block scales those of the scales, too.
fn chosen() -> BTreeMap<String, Vec<Vec<String>>> {
    let text =
        std::fs::read_to_string(folder("products").join("chosen.txt")).expect("what Triton chose");
    let mut found: BTreeMap<String, Vec<Vec<String>>> = BTreeMap::new();
    for line in text.lines() {
        let (name, layouts) = line.split_once(": ").expect("a name");
        let layouts: Vec<String> = layouts.split(" | ").map(str::to_string).collect();
        assert!(matches!(layouts.len(), 3..=5), "{line}");
        found.entry(name.to_string()).or_default().push(layouts);
    }
    found
}

fn plain(name: &str) -> String {
    std::fs::read_to_string(folder("products").join(format!("{name}.mlir")))
        .unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn products(program: &Program<'_, '_>) -> Vec<Vec<String>> {
    let all: Vec<Op> = program.all().filter(|op| program.role(*op) == OpRole::Matrix).collect();
    let of = |op: Op| {
        let (a, b, result) = (
            program.operand(op, 0),
            program.operand(op, 1),
            program.result(op, 0).expect("a result"),
        );
        let in_place = program.op_name(op) == "ttng.tc_gen5_mma";
        let sums = if in_place {
            vec![program.operand(op, 2), Some(read_back(program, op))]
        } else {
            vec![Some(result)]
        };
        let scales = program.scales(op).filter(|_| !in_place).map(|scales| scales.map(Some));
        [a, b]
            .into_iter()
            .chain(sums)
            .chain(scales.into_iter().flatten())
            .map(|value| layout(program, value.expect("a value")))
            .collect()
    };
    all.into_iter().map(of).collect()
}

/// What is loaded when a product in tensor memory is done: by the operation that waits for its
/// token, out of the place of its sums.
fn read_back(program: &Program<'_, '_>, op: Op) -> Value {
    let (token, place) = (program.result(op, 0).expect("a token"), program.operand(op, 2));
    let loads: Vec<Op> = program.uses(token).filter_map(|place| program.user(place)).collect();
    assert!(
        loads.len() == 1
            && program.role(loads[0]) == OpRole::Load
            && program.operand(loads[0], 0) == place,
        "one load of the sums"
    );
    program.result(loads[0], 0).expect("what is loaded")
}

fn read(text: &str) -> Encoding {
    ttg::parse(text).unwrap_or_else(|error| panic!("{text}: {error:?}"))
}

/// Where lanebook asks for something else, and why.
const OTHERWISE: &[(&str, &str)] = &[
    (
        "gemm_32_128_16.gfx1250",
        "no instruction is as shallow as the product; Triton asks for a deeper one, and fills up with zeros",
    ),
    (
        "gemm_f16.gfx9",
        "instructions sum in 32 bits; Triton widens the accumulators, which rounds otherwise than the text says",
    ),
    ("gemm_f64.sm_90", "twice the rows of Triton's instruction, which is that of sm_80"),
    ("blocks_fp4", "elements of four bits, two in a byte, are left as they are"),
    (
        "blocks_16.gfx950",
        "Triton takes a product of 16 rows and columns apart, into one of wider elements without scales; there is an instruction for it",
    ),
    (
        "narrow_fp8.sm_100",
        "Triton's rows of eight bytes are narrower than an operand's tile; eight columns of 8-bit elements are read along the depth only",
    ),
];

#[test]
fn products_get_the_instructions_that_triton_gives_them() {
    let (mut compared, mut wrong, mut other) = (0, Vec::new(), Vec::new());
    for (name, theirs) in chosen() {
        let outcome = run(&plain(&name), "accelerate-matmul")
            .unwrap_or_else(|error| panic!("{name}: {error:?}"));
        let mine = with(&outcome.text, SNIPPET, |program| products(program));
        assert_eq!(mine.len(), theirs.len(), "{name}");
        let excused = OTHERWISE.iter().any(|(part, _)| name.contains(part));
        for (mine, theirs) in mine.iter().zip(&theirs) {
            compared += 1;
            let equal = mine.len() == theirs.len()
                && mine.iter().zip(theirs).all(|(mine, theirs)| read(mine) == read(theirs));
            if equal == excused {
                let list = if excused { &mut other } else { &mut wrong };
                list.push(format!("{name}\n  mine   {}\n  theirs {}", mine[0], theirs[0]));
            }
        }
        // Once more changes nothing: every product has its instruction.
        let again = run(&outcome.text, "accelerate-matmul").expect("it runs again");
        assert!(
            again.steps.is_empty() && again.text == outcome.text,
            "{name}: {} more changes",
            again.steps.len()
        );
    }
    assert!(wrong.is_empty(), "{} of {compared} otherwise:\n{}", wrong.len(), wrong.join("\n"));
    assert!(other.is_empty(), "as Triton's, although excused:\n{}", other.join("\n"));
    assert!(
        compared >= 100
            && OTHERWISE
                .iter()
                .all(|(part, _)| chosen().into_keys().any(|name| name.contains(part))),
        "{compared} products"
    );
}

#[test]
fn what_a_program_does_does_not_depend_on_its_instructions() {
    let mut told = 0;
    // Those that are soon executed.
    let small = [
        "tall_64_8",
        "chain",
        "gemm_16",
        "gemm_32",
        "gemm_f64",
        "gemm_f32",
        "attention_16",
        "batch_8",
    ];
    for name in chosen().into_keys().filter(|name| small.iter().any(|kind| name.starts_with(kind)))
    {
        let text = plain(&name);
        // A loop to a free number may not run at all.
        let text = if name.starts_with("tall") {
            text.replace(" to %K step", " to 16 step")
        } else {
            text
        };
        let outcome =
            run(&text, "accelerate-matmul").unwrap_or_else(|error| panic!("{name}: {error:?}"));
        let does = |text: &str| with(text, SNIPPET, |program| meanings(program));
        let wanted = does(&text);
        assert!(wanted.iter().all(|seen| !seen.is_empty()), "{name}: nothing is observed");
        assert_eq!(does(&outcome.text), wanted, "{name}: became\n{}", outcome.text);
        // The judge sees operands that are exchanged.
        let kinds = [" = mma ", " = ttng.tc_gen5_mma "];
        let found = outcome.text.lines().find_map(|line| {
            kinds.iter().find(|kind| line.contains(*kind)).map(|kind| (line, kind))
        });
        let (product, kind) = found.unwrap_or_else(|| panic!("{name}: no product"));
        let (head, rest) = product.split_once(kind).expect("a product");
        let (operands, tail) = rest.split_once(" : ").expect("types");
        let names: Vec<&str> = operands.split(", ").collect();
        let wrong = outcome.text.replacen(
            product,
            &format!("{head}{kind}{}, {}, {} : {tail}", names[0], names[0], names[2..].join(", ")),
            1,
        );
        if let (true, Ok(seen)) = (wrong != outcome.text, std::panic::catch_unwind(|| does(&wrong)))
        {
            assert_ne!(seen, wanted, "{name}: not seen in\n{wrong}");
            told += 1;
        }
    }
    assert!(told >= 2, "{told} wrong programs");
}

/// Our own scaled product: its scales lie as the instruction's lanes want them; where no
/// instruction has such runs it is left alone.
#[test]
fn scales_lie_as_the_instruction_wants_them() {
    let text = |blocks: usize| {
        format!(
            "func @f(%a: tensor<64x128xe4m3>, %b: tensor<128x64xe5m2>, %c: tensor<64x64xf32>, %sa: tensor<64x{blocks}xe8m0>, %sb: tensor<64x{blocks}xe8m0>) {{threads = 256}} {{
  %d = mma_scaled %a, %b, %c, %sa, %sb : tensor<64x64xf32>
  use %d : tensor<64x64xf32>
}}
"
        )
    };
    let on = |arch: &str, blocks: usize| {
        let wishes = SeedingOptions {
            arch: Some(TABLES.arch_named(arch).expect("an architecture")),
            prefer_bulk: false,
        };
        run_wishing(&text(blocks), "accelerate-matmul", 1000, wishes).expect("it runs").text
    };
    let lanes = "lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [0, 1]]";
    let (made, product) =
        (on("gfx950", 4), "instrShape = [32, 32, 64], isTransposed = true}>, kWidth = 16}>");
    for (scales, warps) in [("%sa", "[[0, 0], [32, 0]]"), ("%sb", "[[32, 0], [0, 0]]")] {
        let ty = "tensor<64x4xe8m0";
        let wanted = format!(
            "convert_layout {scales} : {ty}> -> {ty}, #ttg.linear<{{register = [[0, 2]], {lanes}, warp = {warps}, block = []}}>>"
        );
        assert!(made.contains(&wanted) && made.contains(product), "{wanted}\n{made}");
    }
    assert!(
        on("sm_120a", 4).contains("lane = [[8, 0], [0, 0], [1, 0], [2, 0], [4, 0]]"),
        "a lane beside has the other half of the rows"
    );
    // One scale for 16 neighbours, or an architecture without any.
    for (arch, blocks) in [("gfx950", 8), ("sm_90a", 4), ("gfx942", 4)] {
        assert!(!on(arch, blocks).contains("convert_layout"), "{arch}");
    }
}
