//! Words of bit fields, and the swizzle modes that some of their fields are.
use crate::unit::descriptor::DescriptorWord;
use crate::unit::tests::arch;
use crate::unit::{UnitError, descriptor_named, swizzle};
use lanebook::TABLES;
use lanebook_layout::{Padding, PostMap, Swizzle, Unit};
use std::vec::Vec;

#[test]
fn each_fault_of_a_field_is_its_own() {
    let table = descriptor_named(&TABLES, arch("sm_100a"), "tcgen05.instr.f16").unwrap();
    let mut word = DescriptorWord::new(table);
    let number = |name: &str| table.fields.iter().position(|f| f.name == name).unwrap() as u8;
    assert_eq!(word.set("k", 16), Err(UnitError::NoField));
    assert_eq!(
        word.set("m", 512),
        Err(UnitError::Range { field: number("m"), value: 512, low: 32, high: 256 })
    );
    assert_eq!(
        word.set("m", 40),
        Err(UnitError::Step { field: number("m"), value: 40, scale: 16 })
    );
    assert_eq!(word.set_word("atype", "tf32"), Err(UnitError::NoWord { field: number("atype") }));
    assert_eq!(
        word.set("saturate", 1),
        Err(UnitError::Range { field: number("saturate"), value: 1, low: 0, high: 0 })
    );
    // Never set: 0 is no number of rows.
    assert_eq!(
        word.pack(),
        Err(UnitError::Range { field: number("n"), value: 0, low: 8, high: 256 })
    );
    word.set("m", 128).unwrap();
    word.set("n", 224).unwrap();
    word.set_word("dtype", "f32").unwrap();
    word.set_word("trans_b", "outer").unwrap();
    let bits = word.pack().unwrap();
    assert_eq!(bits, (8 << 24) | (28 << 17) | (1 << 16) | (1 << 4));
    let again = DescriptorWord::unpack(table, bits).unwrap();
    assert_eq!(
        (again.get("n"), again.word("dtype"), again.word("n")),
        (Ok(224), Ok(Some("f32")), Ok(None))
    );
    assert_eq!(
        DescriptorWord::unpack(table, bits | 1 << 6).unwrap_err(),
        UnitError::Reserved { bits: 1 << 6 }
    );
    assert_eq!(
        DescriptorWord::unpack(table, bits | 2 << 4).unwrap_err(),
        UnitError::Range { field: number("dtype"), value: 3, low: 0, high: 1 }
    );
    let f8 = descriptor_named(&TABLES, arch("sm_100a"), "tcgen05.instr.f8f6f4").unwrap();
    let hole = f8.fields.iter().position(|f| f.name == "atype").unwrap() as u8;
    assert_eq!(
        DescriptorWord::unpack(f8, bits | 2 << 7).unwrap_err(),
        UnitError::NotListed { field: hole, value: 2 }
    );
}

#[test]
fn every_field_of_every_descriptor_round_trips() {
    for table in TABLES.units.descriptors {
        for field in table.fields {
            let values: Vec<u64> = match field.values {
                [] => [field.range.0, field.range.1].map(u64::from).to_vec(),
                listed => listed
                    .iter()
                    .map(|(_, code)| u64::from(*code) * u64::from(field.scale))
                    .collect(),
            };
            for value in values {
                let mut word = DescriptorWord::new(table);
                // Everything else at its lowest.
                for other in table.fields {
                    word.set(other.name, u64::from(other.range.0)).unwrap();
                }
                word.set(field.name, value).unwrap();
                let again = DescriptorWord::unpack(table, word.pack().unwrap()).unwrap();
                for other in table.fields {
                    let expected =
                        if other.name == field.name { value } else { u64::from(other.range.0) };
                    assert_eq!(
                        again.get(other.name),
                        Ok(expected),
                        "{}.{}",
                        table.name,
                        other.name
                    );
                }
            }
        }
    }
}

#[test]
fn an_architecture_has_its_own_descriptors() {
    for (name, has, lacks) in [
        ("sm_90a", "wgmma.shared", "tcgen05.shared"),
        ("sm_100a", "tcgen05.shared", "wgmma.shared"),
    ] {
        assert!(descriptor_named(&TABLES, arch(name), has).is_ok());
        assert_eq!(descriptor_named(&TABLES, arch(name), lacks).unwrap_err(), UnitError::Absent);
        assert_eq!(descriptor_named(&TABLES, arch("sm_80"), has).unwrap_err(), UnitError::Absent);
    }
}

#[test]
fn one_mode_has_three_numbers() {
    let of = |mode: &str| {
        let mode = swizzle::named(&TABLES, arch("sm_100a"), mode).unwrap();
        ["tma", "wgmma", "tcgen05"].map(|encoding| swizzle::code(mode, encoding))
    };
    assert_eq!(of("none"), [Some(0), Some(0), Some(0)]);
    assert_eq!(of("32B"), [Some(1), Some(3), Some(6)]);
    assert_eq!(of("64B"), [Some(2), Some(2), Some(4)]);
    assert_eq!(of("128B"), [Some(3), Some(1), Some(2)]);
    assert_eq!(of("128B_ATOM_32B"), [Some(4), None, Some(1)]);
    assert_eq!(swizzle::named(&TABLES, arch("sm_90a"), "128B_ATOM_32B"), Err(UnitError::Absent));
    // The field of a descriptor knows the modes by the same names.
    let table = descriptor_named(&TABLES, arch("sm_100a"), "tcgen05.shared").unwrap();
    let field = table.fields.iter().find(|f| f.name == "swizzle_mode").unwrap();
    assert_eq!(
        field.values,
        [("none", 0), ("128B_ATOM_32B", 1), ("128B", 2), ("64B", 4), ("32B", 6)]
    );
}

#[test]
fn modes_are_found_by_name_number_and_effect() {
    for arch in TABLES.archs {
        for mode in swizzle::modes(&TABLES, arch) {
            assert_eq!(swizzle::named(&TABLES, arch, mode.name), Ok(mode));
            for (encoding, number) in
                mode.codes.iter().filter(|(encoding, _)| !encoding.contains('.'))
            {
                assert_eq!(swizzle::numbered(&TABLES, arch, encoding, *number), Ok(mode));
            }
            let period = u64::from(mode.repeat_bytes);
            for at in (0..4 * period).step_by(4) {
                let to = swizzle::apply(mode, at);
                assert_eq!(
                    (swizzle::apply(mode, to), to / period),
                    (at, at / period),
                    "{}: {at} to {to}",
                    mode.name
                );
                assert_eq!(to % u64::from(mode.atom_bytes), at % u64::from(mode.atom_bytes));
            }
            for bits in [4, 8, 16, 32] {
                match swizzle::post_map(mode, bits) {
                    Ok(post) if swizzle::code(mode, "tma").is_some() => {
                        assert_eq!(swizzle::of_post(&TABLES, arch, "tma", &post, bits), Ok(mode))
                    }
                    Ok(_) => {}
                    Err(error) => {
                        assert!(matches!(error, UnitError::NoMode { .. }) && mode.xor.len() > 1)
                    }
                }
            }
        }
    }
}

#[test]
fn what_no_mode_does_is_refused() {
    let sm_90a = arch("sm_90a");
    let post = |b, m, s| PostMap::Swizzle(Swizzle::new(b, m, s, Unit::Element).unwrap());
    assert_eq!(swizzle::of_post(&TABLES, sm_90a, "tma", &post(3, 3, 3), 16).unwrap().name, "128B");
    // The same numbers on elements of 8 bits exchange 8-byte pieces.
    assert_eq!(
        swizzle::of_post(&TABLES, sm_90a, "tma", &post(3, 3, 3), 8),
        Err(UnitError::NoMode { b: 3, m: 3, s: 3 })
    );
    assert_eq!(
        swizzle::of_post(&TABLES, sm_90a, "tma", &post(3, 3, 3), 24),
        Err(UnitError::Width { bits: 24 })
    );
    assert_eq!(
        swizzle::of_post(&TABLES, sm_90a, "tma", &post(2, 3, 2), 32),
        Err(UnitError::NoMode { b: 2, m: 5, s: 2 })
    );
    assert_eq!(
        swizzle::of_post(&TABLES, arch("sm_100a"), "tma", &post(2, 3, 2), 32).unwrap().name,
        "128B_ATOM_32B"
    );
    let padded = PostMap::Padding(
        Padding::new(&[lanebook_layout::Pad { interval: 64, pad: 8 }], Unit::Element).unwrap(),
    );
    assert_eq!(
        swizzle::of_post(&TABLES, sm_90a, "tma", &padded, 16),
        Err(UnitError::NoMode { b: 0, m: 0, s: 0 })
    );
    assert_eq!(swizzle::of_post(&TABLES, sm_90a, "tma", &PostMap::None, 16).unwrap().name, "none");
}
