//! Sound plans pass; each planted fault is refused for what it is.

use crate::{Violation, plan as check};
use lanebook::TABLES;
use lanebook::compile::{CompileStorage, plan};
use lanebook_ir::parse;
use lanebook_ir::verify;
use lanebook_ir::{Options, Program, SmallStorage};
use lanebook_layout::{PostMap, Swizzle, Unit};
use lanebook_plan::{End, Plan};
use lanebook_tile::map::{BitMatrix, Fragment, SharedLayout};
use std::boxed::Box;

const GEMM: &str = include_str!("../../../gen/cli/examples/gemm.tile");
const TRANSPOSE: &str = include_str!("../../../gen/cli/examples/transpose.tile");
const ARCHS: [&str; 2] = ["sm_80", "gfx950"];

fn with_plan<R>(text: &str, arch: &str, f: impl FnOnce(&Program<'_, '_>, &mut Plan<'_>) -> R) -> R {
    let mut pools = Box::new(SmallStorage::new());
    let mut program = parse(pools.pools(), &TABLES, text, Options::default()).expect("parses");
    verify(&mut program).expect("verifies");
    let mut room: Box<CompileStorage<2048, 768, 1024, 256>> = Box::default();
    let id = TABLES.arch_named(arch).expect("an architecture");
    let mut planned = plan(&TABLES, id, &mut program, room.scratch()).expect("a plan");
    f(&program, &mut planned.plan)
}

fn broken(text: &str, arch: &str, damage: impl FnOnce(&mut Plan<'_>)) -> Violation {
    with_plan(text, arch, |program, plan| {
        check(&TABLES, program, plan).expect("sound before");
        damage(plan);
        check(&TABLES, program, plan).expect_err("broken")
    })
}

fn swapped<const N: usize>(columns: &BitMatrix<u32, N>, i: usize, j: usize) -> BitMatrix<u32, N> {
    let mut order: std::vec::Vec<u32> = columns.as_slice().to_vec();
    order.swap(i, j);
    from(&order)
}

fn from<const N: usize>(items: &[u32]) -> BitMatrix<u32, N> {
    let mut out = BitMatrix::new();
    items.iter().for_each(|&c| assert!(out.push(c)));
    out
}

#[test]
fn examples_pass() {
    for arch in ARCHS {
        for (text, moves, products) in [(GEMM, 5, 1), (TRANSPOSE, 3, 0)] {
            let found = with_plan(text, arch, |program, plan| check(&TABLES, program, plan))
                .unwrap_or_else(|v| panic!("{arch}: {v:?}"));
            assert_eq!((found.moves, found.products), (moves, products), "{arch}");
            assert!(
                found.bytes >= 3 * 16384 && (products == 0) == (found.operands == 0),
                "{arch}: {found:?}"
            );
        }
    }
}

#[test]
fn a_swapped_slot_bit() {
    for arch in ARCHS {
        for text in [GEMM, TRANSPOSE] {
            let shared_load = |plan: &Plan<'_>| {
                plan.transfers
                    .iter()
                    .position(|m| matches!((m.from, m.to), (End::Shared(_), End::Registers(_))))
                    .expect("a load")
            };
            let v = broken(text, arch, |plan| {
                let k = shared_load(plan);
                plan.transfers[k].tiling.address_lanes =
                    swapped(&plan.transfers[k].tiling.address_lanes, 0, 3);
            });
            assert!(
                matches!(v, Violation::Byte { .. } | Violation::Alignment { .. }),
                "{arch}: {v:?}"
            );
        }
    }
}

#[test]
fn a_copy_that_forgets_elements() {
    for arch in ARCHS {
        let v = broken(GEMM, arch, |plan| {
            let slots = plan.transfers[0].tiling.address_lanes.as_slice().to_vec();
            let mut instances = plan.transfers[0].tiling.instances.as_slice().to_vec();
            instances[0] = slots[4];
            plan.transfers[0].tiling.instances = from(&instances);
        });
        assert!(matches!(v, Violation::Coverage { .. } | Violation::Byte { .. }), "{arch}: {v:?}");
    }
}

#[test]
fn a_swizzle_one_unit_off() {
    for arch in ARCHS {
        for text in [GEMM, TRANSPOSE] {
            // One bit lower: the swizzle reaches into the bytes that one address supplies.
            let v = broken(text, arch, |plan| {
                let a = &mut plan.allocs[0];
                let least = a.shape.bits.trailing_zeros() as u8 - 3;
                let post = match a.layout.post {
                    PostMap::Swizzle(s) if s.m > least => {
                        PostMap::Swizzle(Swizzle { m: s.m - 1, ..s })
                    }
                    _ => PostMap::Swizzle(Swizzle::new(1, least, 5, Unit::Byte).expect("fits")),
                };
                a.layout = SharedLayout { post, ..a.layout };
            });
            assert!(
                matches!(
                    v,
                    Violation::Byte { .. }
                        | Violation::Alignment { .. }
                        | Violation::Segment { .. }
                ),
                "{arch}: {v:?}"
            );
        }
    }
}

#[test]
fn tiles_that_share_bytes() {
    for arch in ARCHS {
        let v = broken(GEMM, arch, |plan| {
            let align = plan.allocs[1].align;
            plan.allocs[1].offset -= align;
        });
        assert!(matches!(v, Violation::Overlap { alloc: 1, other: 0, .. }), "{arch}: {v:?}");
        let v = broken(GEMM, arch, |plan| plan.allocs[1].offset += 2);
        assert!(
            matches!(v, Violation::Segment { alloc: 1, .. } | Violation::Base { alloc: 1, .. }),
            "{arch}: {v:?}"
        );
        let v = broken(GEMM, arch, |plan| plan.allocs[0].bytes -= 2);
        assert!(matches!(v, Violation::Segment { alloc: 0, .. }), "{arch}: {v:?}");
    }
}

fn operand_a(plan: &Plan<'_>) -> usize {
    let lanebook_plan::End::Registers(a) = plan.products[0].ends[0] else {
        panic!("A is in registers")
    };
    usize::from(a)
}

#[test]
fn a_wrong_register_bit() {
    for arch in ARCHS {
        let v = broken(GEMM, arch, |plan| {
            let k = operand_a(plan);
            let f: &mut Fragment = &mut plan.fragments[k].fragment;
            f.register = swapped(&f.register, 0, 1);
        });
        assert!(matches!(v, Violation::Byte { .. }), "{arch}: {v:?}");
        let v = broken(GEMM, arch, |plan| {
            let k = operand_a(plan);
            let f: &mut Fragment = &mut plan.fragments[k].fragment;
            let mut bits = f.register.as_slice().to_vec();
            bits[1] = bits[0];
            f.register = from(&bits);
        });
        assert!(matches!(v, Violation::Fragment { .. }), "{arch}: {v:?}");
        let v = broken(GEMM, arch, |plan| {
            let load = plan
                .transfers
                .iter_mut()
                .find(|m| matches!(m.to, End::Registers(_)))
                .expect("a load");
            let mut places: std::vec::Vec<u8> = load.tiling.instance_registers.as_slice().to_vec();
            places[0] = places[1];
            let mut out = BitMatrix::new();
            places.iter().for_each(|&p| assert!(out.push(p)));
            load.tiling.instance_registers = out;
        });
        assert!(matches!(v, Violation::Registers { .. }), "{arch}: {v:?}");
    }
}

/// The load and its fragment agree, and both disagree with B: only the product can tell.
#[test]
fn exchanged_warps() {
    // A group of two waves has one warp bit and nothing to exchange.
    {
        let arch = "sm_80";
        let v = broken(GEMM, arch, |plan| {
            let k = operand_a(plan);
            let last = plan.fragments[k].fragment.warp.len() - 1;
            assert!(last > 0, "{arch}: two warp bits to exchange");
            let warp = swapped(&plan.fragments[k].fragment.warp, 0, last);
            plan.fragments[k].fragment.warp = warp;
            let end = End::Registers(u16::try_from(k).expect("few"));
            plan.transfers.iter_mut().find(|m| m.to == end).expect("the load of A").tiling.warps =
                warp;
        });
        assert!(matches!(v, Violation::Operand { operand: 0, .. }), "{arch}: {v:?}");
    }
}

/// The same within a lane's registers: two k steps exchanged in A alone are a sum of the wrong
/// products.
#[test]
fn exchanged_depth() {
    for arch in ARCHS {
        let v = broken(GEMM, arch, |plan| {
            plan.products[0].product.repeats.2 -= 1;
        });
        assert!(matches!(v, Violation::Depth { .. } | Violation::Operand { .. }), "{arch}: {v:?}");
    }
}

/// A part holds, in each lane's registers, what its tile does.
#[test]
fn parts_of_other_lanes_and_registers() {
    let text = "func @f(%x: memref<?x64xf32, #gmem> {align = 16}, %y: memref<?x64xf32, #gmem> {align = 16}) {threads = 32} {
  %w = tiled_load %x[0, 0] : memref<?x64xf32, #gmem> -> tensor<32x64xf32>
  %p = extract_slice %w[8, 0] : tensor<32x64xf32> -> tensor<8x64xf32>
  %q = insert_slice %p, %w[24, 0] : tensor<8x64xf32>, tensor<32x64xf32> -> tensor<32x64xf32>
  tiled_store %q, %y[0, 0] : tensor<32x64xf32> -> memref<?x64xf32, #gmem>
}";
    for arch in ["sm_80", "gfx1100"] {
        let part = |plan: &Plan<'_>| {
            plan.fragments.iter().position(|f| f.fragment.shape.rows == 3).expect("a part")
        };
        let damages: [fn(&mut Fragment); 2] = [
            |f| f.lane = swapped(&f.lane, 0, 1),
            |f| {
                let (mut lane, mut register) =
                    (f.lane.as_slice().to_vec(), f.register.as_slice().to_vec());
                core::mem::swap(&mut lane[0], &mut register[0]);
                (f.lane, f.register) = (from(&lane), from(&register));
            },
        ];
        for damage in damages {
            let v = broken(text, arch, |plan| {
                let at = part(plan);
                damage(&mut plan.fragments[at].fragment);
            });
            // Only this part's places tell: nothing moves it.
            assert!(matches!(v, Violation::Missing(_)), "{arch}: {v:?}");
        }
    }
}

#[test]
fn ends_of_other_operations() {
    for arch in ARCHS {
        let v = broken(GEMM, arch, |plan| {
            let (a, b) = (plan.transfers[0].to, plan.transfers[1].to);
            plan.transfers[0].to = b;
            plan.transfers[1].to = a;
        });
        assert!(matches!(v, Violation::End { operand: 1, .. }), "{arch}: {v:?}");
    }
}

const GEMM_BT: &str = include_str!("../../../gen/cli/examples/gemm_bt.tile");
const UNIT: &str = "sm_90a";

#[test]
fn operands_in_shared_memory() {
    // The loads are no movements, and both operands are compared in full.
    for text in [GEMM, GEMM_BT] {
        let found = with_plan(text, UNIT, |program, plan| check(&TABLES, program, plan))
            .unwrap_or_else(|v| panic!("{v:?}"));
        assert_eq!((found.moves, found.products), (3, 1));
        assert!(found.operands >= 128 * 128 + 2 * 128 * 64, "{found:?}");
    }
}

#[test]
fn each_wrong_field_of_a_descriptor() {
    // Start, leading and stride offset, base offset, mode. The leading offset of a tile whose depth
    // is contiguous counts for nothing.
    for (text, side, bits) in [
        (GEMM, 0, &[0u64, 33, 49, 63][..]),
        (GEMM, 1, &[0, 17, 33, 49, 63]),
        (GEMM_BT, 1, &[5, 34, 50, 62]),
    ] {
        for bit in bits {
            let v = broken(text, UNIT, |plan| {
                plan.products[0].shared[side].as_mut().expect("in shared memory").word ^= 1 << bit
            });
            assert!(
                matches!(
                    v,
                    Violation::Operand { .. } | Violation::End { .. } | Violation::Depth { .. }
                ),
                "bit {bit}: {v:?}"
            );
        }
        let v = broken(text, UNIT, |plan| {
            let given = plan.products[0].shared[side].as_mut().expect("in shared memory");
            given.outer_major = !given.outer_major;
        });
        assert!(
            matches!(v, Violation::Operand { .. } | Violation::End { .. } | Violation::Atom { .. }),
            "{v:?}"
        );
    }
}

#[test]
fn a_tile_that_the_pattern_does_not_begin_with() {
    let v = broken(GEMM, UNIT, |plan| plan.allocs[0].align = 128);
    assert!(matches!(v, Violation::End { operand: 0, .. }), "{v:?}");
    let v = broken(GEMM, UNIT, |plan| plan.products[0].shared.swap(0, 1));
    assert!(matches!(v, Violation::End { .. }), "{v:?}");
    // Stored whole row after whole row: the strips are elsewhere.
    let v = broken(GEMM, UNIT, |plan| plan.allocs[1].layout.column_block = None);
    assert!(
        matches!(
            v,
            Violation::Operand { .. }
                | Violation::Byte { .. }
                | Violation::Alignment { .. }
                | Violation::Box { .. }
        ),
        "{v:?}"
    );
}

const GEMM_STORE: &str = include_str!("../../../gen/cli/examples/gemm_store.tile");
const GEMM_FP8: &str = include_str!("../../../gen/cli/examples/gemm_fp8.tile");

/// Copies through tensor maps: of each map every single field, what refers to it, and where its
/// copies begin.
#[test]
fn each_wrong_field_of_a_tensor_map() {
    use lanebook_plan::MapPlan;
    type Damage = fn(&mut MapPlan, u8);
    let fields: [(&str, Damage); 15] = [
        ("box, narrower", |m, _| m.boxed[0] /= 2),
        ("box, wider", |m, _| m.boxed[0] *= 2),
        ("box, fewer rows", |m, _| m.boxed[1] /= 2),
        ("box, more rows", |m, _| m.boxed[1] *= 2),
        ("box, no power", |m, _| m.boxed[1] -= 1),
        ("box, of as many bytes", |m, _| {
            (m.boxed[0], m.boxed[1]) = (m.boxed[0] / 2, m.boxed[1] * 2)
        }),
        ("stride", |m, _| m.stride_bytes[0] = Some(256)),
        ("order", |m, _| m.order.swap(0, 1)),
        ("swizzle, none", |m, _| m.mode = 0),
        ("swizzle, narrower", |m, _| m.mode -= 1),
        ("element size", |m, other| m.element = other),
        ("rules", |m, _| m.map = u8::MAX),
        ("rank", |m, _| m.rank = 5 - m.rank),
        ("box of several matrices", |m, _| m.boxed[2] = 2),
        ("distance of matrices", |m, _| m.stride_bytes[1] = Some(1 << 20)),
    ];
    for (name, text) in
        [("gemm", GEMM), ("gemm_bt", GEMM_BT), ("gemm_fp8", GEMM_FP8), ("gemm_store", GEMM_STORE)]
    {
        with_plan(text, UNIT, |program, plan| {
            check(&TABLES, program, plan).unwrap_or_else(|v| panic!("{name}: {v:?}"));
            let copied = plan.transfers.iter().filter(|m| m.tiled.is_some()).count();
            assert_eq!(
                (copied, plan.maps.len()),
                if name == "gemm_store" { (3, 3) } else { (2, 2) },
                "{name}: all tiles are copied through maps"
            );
            for k in 0..plan.maps.len() {
                for (field, damage) in fields {
                    let sound = plan.maps[k];
                    let rules = &TABLES.units.tensor_maps[usize::from(sound.map)];
                    let bits = rules.elements[usize::from(sound.element)].bits;
                    let other = rules
                        .elements
                        .iter()
                        .position(|e| e.bits == 2 * bits)
                        .expect("another element");
                    damage(&mut plan.maps[k], other as u8);
                    let v = check(&TABLES, program, plan).expect_err(field);
                    let named = matches!(
                        v,
                        Violation::Map { .. }
                            | Violation::Box { .. }
                            | Violation::Coverage { .. }
                            | Violation::Element { .. }
                    );
                    assert!(named, "{name}, map {k}, {field}: {v:?}");
                    plan.maps[k] = sound;
                }
            }
        });
        let v = broken(text, UNIT, |plan| {
            let first = plan.maps[0].memref;
            plan.maps[1].memref = first;
        });
        assert!(matches!(v, Violation::Map { .. }), "{name}: {v:?}");
    }
    // Coordinates: the second box of B begins elsewhere in the tensor, and so in the tile.
    let v = broken(GEMM, UNIT, |plan| {
        let b = plan
            .transfers
            .iter_mut()
            .find(|m| m.tiling.instances.as_slice().len() == 1)
            .expect("two boxes");
        let bit = b.tiling.instances.as_slice()[0];
        b.tiling.instances = from(&[bit >> 1]);
    });
    assert!(
        matches!(v, Violation::Coverage { .. } | Violation::Map { .. } | Violation::Box { .. }),
        "{v:?}"
    );
    // The tile's own layout: the map no longer describes it, whatever the matrix descriptor says.
    for shift in [1i8, -1] {
        let v = broken(GEMM, UNIT, |plan| {
            let PostMap::Swizzle(s) = plan.allocs[0].layout.post else { panic!("swizzled") };
            plan.allocs[0].layout.post = PostMap::Swizzle(Swizzle { s: s.s + shift, ..s });
        });
        assert!(matches!(v, Violation::Box { .. } | Violation::Base { .. }), "{v:?}");
        let v = broken(GEMM_STORE, UNIT, |plan| {
            let PostMap::Swizzle(s) = plan.allocs[2].layout.post else { panic!("swizzled") };
            plan.allocs[2].layout.post = PostMap::Swizzle(Swizzle { s: s.s + shift, ..s });
        });
        // Of the two movements the store from registers comes first: its fit is for the other
        // layout.
        assert!(
            matches!(v, Violation::Box { .. } | Violation::Base { .. } | Violation::Byte { .. }),
            "{v:?}"
        );
    }
    let v = broken(GEMM, UNIT, |plan| {
        plan.transfers[0].tiled.as_mut().expect("tiled").completion = None
    });
    assert!(matches!(v, Violation::Map { what: crate::MapFault::Completion, .. }), "{v:?}");
    let v = broken(GEMM, UNIT, |plan| plan.mbarrier_offset = 16384);
    assert!(matches!(v, Violation::Overlap { .. }), "{v:?}");
    let v = broken(GEMM, UNIT, |plan| plan.mbarrier_offset += 8);
    assert!(matches!(v, Violation::Segment { .. }), "{v:?}");
}

/// What a program promises decides whether a map can describe it.
#[test]
fn a_map_of_a_tensor_that_is_not_aligned() {
    for (from, to) in [
        ("align = 16, stride_div = 8", "align = 8, stride_div = 8"),
        ("align = 16, stride_div = 8", "align = 16, stride_div = 4"),
    ] {
        let less = GEMM.replace(from, to);
        let tiled = with_plan(&less, UNIT, |program, plan| {
            check(&TABLES, program, plan).unwrap_or_else(|v| panic!("{v:?}"));
            plan.transfers.iter().filter(|m| m.tiled.is_some()).count()
        });
        assert_eq!(tiled, 0, "{to}");
    }
}

const CONVERT: &str = "#a = S[(2,2,2,2,2,2,2,2):(128@bit,16@laneid,8@laneid,4@laneid,2@laneid,32@bit,64@bit,1@laneid)]
func @c(%X: memref<16x16xf32, #gmem> {align = 16}, %Y: memref<16x16xf32, #gmem> {align = 16}) {threads = 32} {
  %a = tiled_load %X[0, 0] : memref<16x16xf32, #gmem> -> tensor<16x16xf32>
  %b = convert_layout %a : tensor<16x16xf32> -> tensor<16x16xf32, #a>
  %c = convert_layout %b : tensor<16x16xf32, #a> -> tensor<16x16xf32>
  tiled_store %c, %Y[0, 0] : tensor<16x16xf32> -> memref<16x16xf32, #gmem>
}
";

/// The same of two warps that hold the same elements.
const BY_WARP: &str = "
#a = HELD
#b = WANTED
func @f(%X: memref<16x16xf32, #gmem> {align = 16}, %Y: memref<16x16xf32, #gmem> {align = 16}) {threads = 64} {
  %a = tiled_load %X[0, 0] : memref<16x16xf32, #gmem> -> tensor<16x16xf32, #a>
  %b = convert_layout %a : tensor<16x16xf32, #a> -> tensor<16x16xf32, #b>
  tiled_store %b, %Y[0, 0] : tensor<16x16xf32, #b> -> memref<16x16xf32, #gmem>
}
";

/// A conversion inside warps with one thing changed: the register that is moved, the lane that is
/// read, a swap that is left out or done in other lanes, places that are exchanged before or
/// behind.
#[test]
fn wrong_lanes() {
    let damages: [fn(&mut lanebook_plan::ShufflePlan); 8] = [
        |p| p.word = swapped(&p.word, 0, 1),
        |p| {
            p.offset
                .as_mut_slice()
                .iter_mut()
                .for_each(|lanes| *lanes ^= u32::from(*lanes != 0) * 3)
        },
        |p| p.lane = swapped(&p.lane, 0, 1),
        |p| p.before = BitMatrix::new(),
        |p| p.behind = BitMatrix::new(),
        |p| p.behind.as_mut_slice().iter_mut().for_each(|swap| swap.threads ^= 6),
        |p| p.sent = swapped(&p.sent, 0, 1),
        |p| p.kept = swapped(&p.kept, 0, 1),
    ];
    for (k, damage) in damages.into_iter().enumerate() {
        let found = broken(CONVERT, "sm_80", |plan| {
            damage(plan.lanes.first_mut().expect("a conversion inside warps"))
        });
        assert!(matches!(found, Violation::Converted { .. }), "{k}: {found:?}");
    }
    // Of two warps with the same elements each takes its own half: from other lanes, or other
    // registers.
    type Damage = fn(&mut lanebook_plan::ShufflePlan);
    let by_warp: [(&str, Damage); 4] = [
        ("S[(16,16):(1@laneid,32@bit)] + R[(2,2):(1@warpid,16@laneid)]", |p| {
            p.before.as_mut_slice().iter_mut().for_each(|swap| swap.threads &= 31)
        }),
        ("S[(16,16):(1@laneid,32@bit)] + R[(2,2):(1@warpid,16@laneid)]", |p| {
            p.before.as_mut_slice().iter_mut().for_each(|swap| swap.word ^= 1)
        }),
        ("S[(16,2,8):(1@laneid,16@laneid,32@bit)] + R[2:1@warpid]", |p| {
            p.warp.as_mut_slice().iter_mut().for_each(|lanes| *lanes ^= 1)
        }),
        ("S[(16,2,8):(1@laneid,16@laneid,32@bit)] + R[2:1@warpid]", |p| p.warp = BitMatrix::new()),
    ];
    for (k, (held, damage)) in by_warp.into_iter().enumerate() {
        let to = "S[(16,2,8):(1@laneid,1@warpid,32@bit)] + R[2:16@laneid]";
        let text = BY_WARP.replace("HELD", held).replace("WANTED", to);
        let found = broken(&text, "sm_80", |plan| {
            damage(plan.lanes.first_mut().expect("a conversion inside warps"))
        });
        assert!(matches!(found, Violation::Converted { .. }), "{k}: {found:?}");
    }
    let found = broken(CONVERT, "sm_80", |plan| plan.lanes.clear());
    assert!(matches!(found, Violation::End { .. }), "{found:?}");
}
