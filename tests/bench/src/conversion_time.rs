//! One conversion by itself: two layouts in, the text of the snippet out.
use crate::report::Report;
use crate::whole::{Gone, Room, archs, read};
use lanebook::TABLES;
use lanebook::compile::compile;
use lanebook::convert::{Conversion, write_conversion};
use lanebook::ir::SmallStorage;
use lanebook::query::QueryStorage;
use lanebook::tables::ArchId;

/// The section's heading.
pub const SECTION: &str = "One conversion, layouts in to text out (program, plan, emission)";

/// Warps of the tiles below.
const WARPS: u32 = 4;

/// A conversion for each way that elements can take, by the lanes of a wave.
struct Way {
    name: &'static str,
    /// The two layouts of a 16-bit tile.
    sides: [&'static str; 2],
    extents: [u32; 2],
    lanes: u16,
}

/// One in registers alone, one between the lanes of a warp, one between warps; waves of 32 and 64.
const WAYS: [Way; 6] = [
    Way {
        name: "in registers",
        sides: [
            "S[(4,8,2,4,2):(1@warpid,4@laneid,32@bit,1@laneid,16@bit)]",
            "S[(4,8,2,4,2):(1@warpid,4@laneid,16@bit,1@laneid,32@bit)]",
        ],
        extents: [32, 16],
        lanes: 32,
    },
    Way {
        name: "in warps",
        sides: [
            "S[(4,8,2,4,2):(1@warpid,4@laneid,32@bit,1@laneid,16@bit)]",
            "S[(4,8,2,2,2,2):(1@warpid,4@laneid,2@laneid,32@bit,1@laneid,16@bit)]",
        ],
        extents: [32, 16],
        lanes: 32,
    },
    Way {
        name: "through memory",
        sides: [
            "S[(4,2,8,4,16):(1@warpid,256@bit,4@laneid,1@laneid,16@bit)]",
            "S[(2,32,4,16):(256@bit,1@laneid,1@warpid,16@bit)]",
        ],
        extents: [64, 64],
        lanes: 32,
    },
    Way {
        name: "in registers",
        sides: [
            "S[(4,16,2,4,2):(1@warpid,4@laneid,32@bit,1@laneid,16@bit)]",
            "S[(4,16,2,4,2):(1@warpid,4@laneid,16@bit,1@laneid,32@bit)]",
        ],
        extents: [64, 16],
        lanes: 64,
    },
    Way {
        name: "in warps",
        sides: [
            "S[(4,16,2,4,2):(1@warpid,4@laneid,32@bit,1@laneid,16@bit)]",
            "S[(4,16,2,2,2,2):(1@warpid,4@laneid,2@laneid,32@bit,1@laneid,16@bit)]",
        ],
        extents: [64, 16],
        lanes: 64,
    },
    Way {
        name: "through memory",
        sides: [
            "S[(4,16,4,16):(1@warpid,4@laneid,1@laneid,16@bit)]",
            "S[(64,4,16):(1@laneid,1@warpid,16@bit)]",
        ],
        extents: [64, 64],
        lanes: 64,
    },
];

/// Does one from the layouts' text to the instructions' and answers the bytes of that.
fn convert(
    way: &Way,
    arch: ArchId,
    (query, text): (&mut QueryStorage, &mut String),
    (storage, room): (&mut SmallStorage, &mut Room),
) -> usize {
    let wanted = Conversion {
        from: way.sides[0],
        to: way.sides[1],
        threads: Some(u32::from(way.lanes) * WARPS),
        ..Conversion::of(&way.extents, "f16")
    };
    text.clear();
    write_conversion(&TABLES, arch, &wanted, query, text).expect("layouts of registers");
    let mut program = read(storage, text);
    let compiled =
        compile(&TABLES, arch, &mut program, room.scratch()).unwrap_or_else(|e| panic!("{e:?}"));
    let is_through_memory = !compiled.plan.exchanges.is_empty();
    assert_eq!(is_through_memory, way.name == "through memory", "{}: another way", way.name);
    let mut out = Gone::default();
    let snippet = compiled.snippet(&TABLES, &program).expect("a function of register tiles");
    snippet.write(&mut out).expect("the sink takes everything");
    out.bytes()
}

/// Measures each way on every architecture.
pub fn measure(report: &mut Report) {
    let effort = report.effort;
    let (mut storage, mut room) = (Box::new(SmallStorage::new()), Box::new(Room::new()));
    let (mut query, mut text) = (Box::new(QueryStorage::new()), String::new());
    for (id, arch) in archs() {
        for way in WAYS.iter().filter(|way| arch.wave_lanes.first() == Some(&way.lanes)) {
            let took = effort.nanoseconds(|_| {
                convert(way, id, (&mut query, &mut text), (&mut storage, &mut room))
            });
            report.alone(SECTION, format!("{} {}", way.name, arch.name), took / 1e3, "us");
        }
    }
}
