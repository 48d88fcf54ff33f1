//! encodings.jsonl and rejects.jsonl.

use super::super::Verdict;
use super::{Judged, read};
use lanebook_layout::notation::ttg::parse;
use lanebook_layout::notation::ttg_print::print;
use lanebook_layout::triton::{Base, Encoding, EncodingError, scales_to_linear, to_linear};
use lanebook_layout::{AxisId, Coord, Hw, Linear, Logical};
use serde_json::Value;

const MISNAMED: &str = "nvmma without swizzle, transposed, rank 3 and more: Triton gives each dimension another's extent, so \
    the first is not contiguous and offsets are wasted";

/// Whether the peer's layout of a transposed tile without swizzle is not what `transposed` says:
/// its lowest offset does not move along the first dimension, though that has more than one
/// element, or some of its offsets hold copies. Ours must be onto, without copies in a block, and
/// its lowest offset must, if any.
fn misnamed(
    encoding: &Encoding,
    found: &Linear<Hw, Logical>,
    expected: &Linear<Hw, Logical>,
) -> bool {
    let Base::Nvmma(n) = &encoding.base else { return false };
    let first = |l: &Linear<Hw, Logical>| l.column_on(AxisId::M, 0, AxisId::dim(0)) == Some(1);
    let wide = found.outs().bits_of(AxisId::dim(0)) > 0;
    // Blocks may share data; a block's own offsets may not.
    let wastes = |l: &Linear<Hw, Logical>| {
        let dims: Vec<AxisId> = l.outs().iter().map(|d| d.0).collect();
        l.sublayout(&[AxisId::M], &dims).is_ok_and(|own| !own.is_injective())
    };
    let wrong = (wide && !first(expected)) || wastes(expected);
    n.swizzle_bytes == 0
        && n.transposed
        && n.rank > 2
        && first(found) == wide
        && found.is_surjective()
        && !wastes(found)
        && wrong
}

/// An encoding with its linear layout.
pub fn accepted(record: &Value) -> Judged {
    let encoding = read::encoding(&record["encoding"])?;
    let shape = read::shape(record)?;
    let expected = read::linear(&record["linear"])?;
    round_trip(&encoding)?;
    let found = to_linear(&encoding, &shape, &read::tiles(&record["encoding"])?);
    match found {
        Ok(found) if found.same_map(&expected) => Ok(Verdict::Agree),
        Ok(found) if misnamed(&encoding, &found, &expected) => Ok(Verdict::Ruled(MISNAMED)),
        Ok(found) => Err(format!("expected {expected:?}, found {found:?}")),
        Err(e) => Err(format!("refused: {e:?}")),
    }
}

/// The block scales of an operand.
pub fn scales(record: &Value) -> Judged {
    let operand = read::encoding(&record["scales_of"])?;
    let expected = read::linear(&record["linear"])?;
    let tiles = read::scaled_tiles(&record["scales_of"])?;
    let run = u16::try_from(read::number(record, "run")?).map_err(|e| e.to_string())?;
    match scales_to_linear(&operand, &read::shape(record)?, run, &tiles) {
        Ok(found) if found.same_map(&expected) => Ok(Verdict::Agree),
        Ok(found) => Err(format!("expected {expected:?}, found {found:?}")),
        Err(e) => Err(format!("refused: {e:?}")),
    }
}

/// The attribute's text says the same encoding.
pub fn round_trip(encoding: &Encoding) -> Result<(), String> {
    let mut text = String::new();
    print(&mut text, encoding).map_err(|e| format!("not printed: {e:?}"))?;
    let again = parse(&text).map_err(|e| format!("{text} does not parse back: {e:?}"))?;
    if again == *encoding { Ok(()) } else { Err(format!("{text} parses back as {again:?}")) }
}

/// Triton's reason, and whether an error of ours says the same.
fn says(reason: &str, error: &EncodingError) -> bool {
    use EncodingError as E;
    match reason {
        "tmem-block-larger-than-shape" => matches!(error, E::BlockTooLarge { .. }),
        // With rank 1 there are no rows either; Triton meets the shorter span first, as this
        // library does.
        "nvmma-contiguous-span-below-swizzle-or-16-bytes" => {
            matches!(error, E::SpanTooShort { .. })
        }
        "nvmma-rank-below-2" => matches!(error, E::SwizzleNeedsRows { .. }),
        "nvmma-fewer-than-8-rows" => matches!(error, E::TooFewRows { .. }),
        "linear-not-a-permutation" => {
            matches!(error, E::NotAPermutation { .. } | E::NotCovered { .. })
        }
        "tmem-fp4-needs-col-stride-1" => matches!(error, E::Fp4ColStride { .. }),
        "mfma-64x4-needs-transposed" => matches!(error, E::MustBeTransposed { .. }),
        _ => true,
    }
}

/// An encoding that Triton refuses.
pub fn refused(record: &Value) -> Judged {
    let reason = record["reason"].as_str().unwrap_or("");
    let encoding = read::encoding(&record["encoding"])?;
    let shape = read::shape(record)?;
    let tiles = read::tiles(&record["encoding"])?;
    let error = match to_linear(&encoding, &shape, &tiles) {
        Ok(_) => return Err(format!("accepted, Triton refuses it: {reason}")),
        Err(error) => error,
    };
    if let (EncodingError::OddInstruction { n }, Base::NvidiaMma(mma)) = (error, &encoding.base) {
        let plain = encoding == Encoding::from(encoding.base.clone());
        if plain && mma.major == 3 && n % 8 == 0 && n <= 256 && shape.len() == 2 {
            return odd_instruction(&encoding, &shape, &tiles);
        }
    }
    if !says(reason, &error) {
        return Err(format!("refused for {error:?}, Triton's reason is {reason}"));
    }
    Ok(Verdict::Refused("both refuse, for the same reason"))
}

/// The strided layout of an instruction whose N is no power of two, against the fragment's formula:
/// with g = lane / 4 and t = lane % 4, element i of a lane of warp w is row 16w + 8 * (i / 2 % 2) +
/// g, column 8 * (i / 4) + 2t + i % 2.
fn odd_instruction(
    encoding: &Encoding,
    shape: &[u32],
    tiles: &lanebook::encoding::TableTiles<'_>,
) -> Judged {
    let Base::NvidiaMma(mma) = &encoding.base else {
        return Err("no mma".into());
    };
    let layout = lanebook::encoding::strided::accumulators(tiles, mma, shape[0], shape[1])
        .map_err(|e| format!("{e:?}"))?;
    let n = u64::from(mma.instr_shape.get(1).unwrap_or(0));
    let warps = |k: usize| u64::from(mma.warps_per_cta.get(k).unwrap_or(1));
    let (wide, tall) = (n * warps(1), 16 * warps(0));
    let rows = u64::from(shape[0]).div_ceil(tall) * tall;
    let columns = u64::from(shape[1]).div_ceil(wide) * wide;
    let view = layout.view();
    let size = view.size().map_err(|e| format!("{e:?}"))?;
    if size.value() != Ok((rows * columns) as i64) {
        return Err(format!("{size:?} elements, {rows} x {columns} expected"));
    }
    let mut at = Coord::new();
    for row in 0..rows {
        for column in 0..columns {
            at.clear();
            view.apply_flat(row * columns + column, &mut at).map_err(|e| format!("{e:?}"))?;
            let on = |axis: AxisId| at.get(axis) as u64;
            let (r, c) = (row % tall, column % wide);
            let warp = r / 16 + (c / n) * warps(0);
            let lane = r % 8 * 4 + c % 8 / 2;
            let element = c % 2 + 2 * (r / 8 % 2) + 4 * (c % n / 8);
            let tile = column / wide + row / tall * (columns / wide);
            let bit = 32 * (element + tile * n / 2);
            if (on(AxisId::WARP), on(AxisId::LANE), on(AxisId::BIT)) != (warp, lane, bit) {
                return Err(format!(
                    "({row}, {column}) is at {at:?}, expected warp {warp}, lane {lane}, bit {bit}"
                ));
            }
        }
    }
    Ok(Verdict::Ruled(
        "N of the instruction is no power of two: the hardware has it, the strided layout is exact; Triton aborts",
    ))
}
