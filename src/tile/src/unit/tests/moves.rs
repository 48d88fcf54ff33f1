//! Loads and stores of tensor memory against the constructor of a warpgroup's tile.
use crate::unit::UnitError;
use crate::unit::tensor::{move_named, moved};
use crate::unit::tests::arch;
use lanebook::TABLES;
use lanebook_layout::tirx::{self, facts};
use lanebook_layout::{AxisId, Coord};

#[test]
fn a_warp_holds_its_part_of_the_constructors_tile() {
    let sm_100a = arch("sm_100a");
    for form in TABLES.units.tensor_moves.iter().filter(|f| f.name != "16x32bx2") {
        for count in form.counts.iter().filter(|c| **c <= 16) {
            let whole = move_named(&TABLES, sm_100a, form.name).unwrap();
            let own = moved(whole, *count, 0, false).unwrap();
            let rows = if form.name == "32x32b" { 32u32 } else { 16 };
            let columns = u32::from(*count) * u32::from(form.registers) * 32 / rows;
            // Warp 0's rows of the warpgroup's tile are the first.
            let theirs =
                tirx::atom_layout(facts::ATOM_FORMS, form.name, 4 * rows, columns, 32).unwrap();
            for x in 0..u64::from(rows * columns) {
                let (mut cell, mut place, mut at) = (Coord::new(), Coord::new(), Coord::new());
                own.cells.view().apply_flat(x, &mut cell).unwrap();
                own.tuple.view().apply_flat(x, &mut place).unwrap();
                let y = cell.get(AxisId::TLANE) as u64 * u64::from(columns)
                    + cell.get(AxisId::TCOL) as u64;
                theirs.view().apply_flat(y, &mut at).unwrap();
                let lane = at.get(AxisId::LANE) + at.get(AxisId::TID_IN_WG);
                assert_eq!(
                    (lane, 32 * at.get(AxisId::M)),
                    (place.get(AxisId::LANE), place.get(AxisId::BIT)),
                    "{} x{count} {x}",
                    form.name
                );
            }
        }
    }
}

#[test]
fn a_count_that_a_form_does_not_have_is_refused() {
    let form = move_named(&TABLES, arch("sm_100a"), "16x256b").unwrap();
    assert_eq!(moved(form, 64, 0, false), Err(UnitError::Extent { dim: 1, found: 64, needed: 32 }));
    assert_eq!(moved(form, 3, 0, true), Err(UnitError::Extent { dim: 1, found: 3, needed: 2 }));
    assert_eq!(move_named(&TABLES, arch("sm_90a"), "16x256b").unwrap_err(), UnitError::Absent);
    assert_eq!(move_named(&TABLES, arch("sm_100a"), "8x256b").unwrap_err(), UnitError::Absent);
}
