//! What an architecture has: its figures, its products, its instructions by what they are.
use super::{answer, told};

#[test]
fn figures_and_products() {
    let figures = told("gfx950", "figures()", true);
    assert!(
        figures.contains("\"shared_max_bytes\": 163840")
            && figures.contains("\"wave_lanes\": [64]")
    );
    let products = told("sm_80", "products(f16, f16, f32)", true);
    assert!(products.contains("{\"name\": \"mma.m16n8k16.f32.f16\", \"shape\": [16, 8, 16]}"));
    // Of a shape: of a family the member that has it.
    let of = |query: &str| told("sm_90a", query, false);
    let small = of("products(f16, f16, f32, f32, (16, 8, 16))");
    assert!(small.starts_with("mma.m16n8k16.f32.f16  16x8x16\n"), "{small}");
    assert!(small.lines().all(|line| line.ends_with("  16x8x16")), "{small}");
    assert!(of("products(f16, f16, f32, (64, 96, 16))").contains("m64n96k16.f32.f16  64x96x16\n"));
    assert_eq!(of("products(f16, f16, (5, 5, 5))"), "no matrix instruction is like this\n");
    assert!(of("products(f16, f16, f32, f32, f32)").contains("products(A, B"));
    assert!(answer("figures()").contains("the answer depends on the architecture"));
}

/// What an architecture's features hold is all that it has, each once; words narrow further.
#[test]
fn atoms_by_feature_type_and_shape() {
    for arch in lanebook::TABLES.archs {
        let mut listed = Vec::new();
        for feature in arch.features {
            let name = lanebook::TABLES.units.features[feature.index()];
            let answer = told(arch.name, &format!("atoms({name})"), false);
            // A group of facts without instructions, or without those that this machine has.
            if answer != "no instruction is like this\n"
                && !answer.contains("no instruction of this name")
            {
                listed.extend(answer.lines().map(str::to_owned));
            }
        }
        let mut own: Vec<String> = arch
            .atoms
            .iter()
            .map(|own| lanebook::TABLES.atom(own.atom).unwrap().name().to_owned())
            .collect();
        own.sort();
        listed.sort();
        let missing: Vec<_> = own.iter().filter(|name| !listed.contains(name)).collect();
        assert!(missing.is_empty(), "{}: in no feature: {missing:?}", arch.name);
        let again = listed.windows(2).find(|pair| pair[0] == pair[1]);
        assert_eq!(again, None, "{}: in two features", arch.name);
    }
    let of = |query: &str| told("sm_100a", query, false);
    assert_eq!(of("atoms(f16, f32, (16, 8, 16), mma.f16)"), "mma.m16n8k16.f32.f16\n");
    // The first space is where it comes from, the second where it goes.
    assert!(of("atoms(register, shared)").contains("stmatrix.x4\n"));
    assert!(!of("atoms(shared, register)").contains("stmatrix"));
    let copies = of("atoms(cp.async, global, shared)");
    assert!(copies.contains("cp.async.cg.16\n") && !copies.contains("wait_group"), "{copies}");
    assert_eq!(of("atoms(f16, (5, 5, 5))"), "no instruction is like this\n");
    let json = told("sm_90a", "atoms(stmatrix)", true);
    assert!(
        json.contains("\"name\": \"stmatrix.x1.trans\"")
            && json.contains("\"feature\": \"stmatrix\"")
    );
    assert!(of("atoms(move, sync)").contains("says what another has said"));
    assert!(of("atoms(nonsense)").contains("no instruction of this name"));
    assert!(told("sm_75", "atoms(wgmma.f16)", false).contains("no instruction of this name"));
    assert!(answer("atoms(f16)").contains("the answer depends on the architecture"));
}
