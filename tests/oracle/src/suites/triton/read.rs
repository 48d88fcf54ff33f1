//! Records as values of the library.

use crate::tables::tables;
use lanebook::encoding::TableTiles;
use lanebook_layout::triton::{
    AmdMfma, AmdWmma, Base, BlockRepOrder, Blocked, Cga, CtaMode, DotOp, Encoding, Extents, Few,
    MAX_RANK, NvidiaMma, NvmmaShared, Order, Padded, Swizzled, TensorMemory,
};
use lanebook_layout::{AxisId, Dims, Hw, Linear, Logical};
use serde_json::Value;

/// The architecture that has a version of a matrix unit: (attribute, major version, name in the
/// tables).
const ARCHITECTURES: &[(&str, u64, &str)] = &[
    ("nvidia_mma", 2, "sm_80"),
    ("nvidia_mma", 3, "sm_90a"),
    ("amd_mfma", 1, "gfx908"),
    ("amd_mfma", 2, "gfx90a"),
    ("amd_mfma", 3, "gfx942"),
    ("amd_mfma", 4, "gfx950"),
    ("amd_wmma", 1, "gfx1100"),
    ("amd_wmma", 2, "gfx1200"),
    ("amd_wmma", 3, "gfx1250"),
];

/// The tiles that an encoding's version names.
pub fn tiles(encoding: &Value) -> Result<TableTiles<'static>, String> {
    of(encoding, ARCHITECTURES)
}

/// The same, of the architecture whose products of this version have block scales.
pub fn scaled_tiles(encoding: &Value) -> Result<TableTiles<'static>, String> {
    of(encoding, &[&[("nvidia_mma", 2, "sm_120a")], &ARCHITECTURES[1..]].concat())
}

fn of(
    encoding: &Value,
    architectures: &[(&str, u64, &str)],
) -> Result<TableTiles<'static>, String> {
    let mut at = encoding;
    while let Some(parent) = at.get("parent") {
        at = parent;
    }
    let kind = at["kind"].as_str().unwrap_or("");
    let version = at["version"].as_u64().or_else(|| at["version"][0].as_u64());
    let found = architectures.iter().find(|(k, v, _)| *k == kind && Some(*v) == version);
    let name = found.map_or("sm_80", |f| f.2);
    let arch = tables().arch_named(name).ok_or_else(|| format!("{name} is not in the tables"))?;
    Ok(TableTiles::new(tables(), arch))
}

pub fn number(value: &Value, key: &str) -> Result<u32, String> {
    let n = value[key].as_u64().ok_or_else(|| format!("no number {key}"))?;
    u32::try_from(n).map_err(|e| e.to_string())
}

pub fn numbers(value: &Value) -> Result<Vec<u32>, String> {
    let list = value.as_array().ok_or("no list")?;
    let one = |v: &Value| v.as_u64().and_then(|n| u32::try_from(n).ok());
    list.iter().map(|v| one(v).ok_or_else(|| format!("{v} is no number"))).collect()
}

fn extents(value: &Value, key: &str) -> Result<Extents, String> {
    Few::from_slice(&numbers(&value[key])?).map_err(|e| format!("{key}: {e:?}"))
}

fn order(value: &Value) -> Result<Order, String> {
    let dims: Result<Vec<u8>, _> =
        numbers(&value["order"])?.into_iter().map(u8::try_from).collect();
    Few::from_slice(&dims.map_err(|e| e.to_string())?).map_err(|e| format!("{e:?}"))
}

fn tile_bases<const N: usize>(value: &Value) -> Result<Few<[u16; MAX_RANK], N>, String> {
    let mut out = Few::new();
    for basis in value.as_array().unwrap_or(&Vec::new()) {
        let mut at = [0u16; MAX_RANK];
        for (slot, v) in at.iter_mut().zip(numbers(basis)?) {
            *slot = u16::try_from(v).map_err(|e| e.to_string())?;
        }
        out.push(at).map_err(|e| format!("{e:?}"))?;
    }
    Ok(out)
}

fn cga(value: &Value) -> Result<Cga, String> {
    Ok(Cga { bases: tile_bases(&value["cga"])? })
}

fn flag(value: &Value, key: &str) -> bool {
    value[key].as_bool().unwrap_or(false)
}

/// An encoding of the oracle.
pub fn encoding(value: &Value) -> Result<Encoding, String> {
    let kind = value["kind"].as_str().ok_or("no kind")?;
    let small =
        |key: &str| number(value, key).and_then(|n| u8::try_from(n).map_err(|e| e.to_string()));
    let medium =
        |key: &str| number(value, key).and_then(|n| u16::try_from(n).map_err(|e| e.to_string()));
    let base = match kind {
        "slice" => {
            let parent = encoding(&value["parent"])?;
            return parent.sliced(small("dim")?).map_err(|e| format!("{e:?}"));
        }
        "dot_op" => {
            let mut parent = encoding(&value["parent"])?;
            parent.dot = Some(DotOp { op_idx: small("opIdx")?, k_width: number(value, "kWidth")? });
            return Ok(parent);
        }
        "blocked" => Base::Blocked(Blocked {
            size_per_thread: extents(value, "sizePerThread")?,
            threads_per_warp: extents(value, "threadsPerWarp")?,
            warps_per_cta: extents(value, "warpsPerCTA")?,
            order: order(value)?,
            cga: cga(value)?,
        }),
        "nvidia_mma" => {
            let version = numbers(&value["version"])?;
            Base::NvidiaMma(NvidiaMma {
                major: version[0] as u8,
                minor: version[1] as u8,
                warps_per_cta: extents(value, "warpsPerCTA")?,
                instr_shape: extents(value, "instrShape")?,
                cga: cga(value)?,
            })
        }
        "amd_mfma" => Base::AmdMfma(AmdMfma {
            version: small("version")?,
            warps_per_cta: extents(value, "warpsPerCTA")?,
            instr_shape: extents(value, "instrShape")?,
            is_transposed: flag(value, "isTransposed"),
            cga: cga(value)?,
            tiles_per_warp: extents(value, "tilesPerWarp")?,
            element_bits: medium("elementBitWidth")?,
        }),
        "amd_wmma" => Base::AmdWmma(AmdWmma {
            version: small("version")?,
            is_transposed: flag(value, "isTransposed"),
            warp_bases: tile_bases(&value["warpBases"])?,
            reg_bases: tile_bases(&value["regBases"])?,
            instr_shape: extents(value, "instrShape")?,
            cga: cga(value)?,
            rank: small("rank")?,
        }),
        "linear" => Base::Linear(listed(
            value,
            &["register", "lane", "warp", "block"],
            &value["layoutShape"],
        )?),
        "shared_linear" => {
            let shape = &value["layoutShape"];
            let linear = listed(value, &["offset", "block"], shape)?;
            Base::SharedLinear(linear, number(value, "alignment")?)
        }
        "padded_shared" => {
            let mut pads = Few::new();
            for pair in value["intervalPads"].as_array().ok_or("no pads")? {
                let pair = numbers(pair)?;
                pads.push((pair[0], pair[1])).map_err(|e| format!("{e:?}"))?;
            }
            Base::Padded(Padded {
                pads,
                linear: listed(value, &["offset", "block"], &value["layoutShape"])?,
            })
        }
        "swizzled_shared" | "amd_rotating_shared" => {
            let swizzled = Swizzled {
                vec: number(value, "vec")?,
                per_phase: number(value, "perPhase")?,
                max_phase: number(value, "maxPhase")?,
                order: order(value)?,
                cga: cga(value)?,
            };
            if kind == "swizzled_shared" {
                Base::Swizzled(swizzled)
            } else {
                Base::Rotating(swizzled)
            }
        }
        "nvmma_shared" => Base::Nvmma(NvmmaShared {
            swizzle_bytes: medium("swizzlingByteWidth")?,
            transposed: flag(value, "transposed"),
            element_bits: medium("elementBitWidth")?,
            fp4_padded: flag(value, "fp4Padded"),
            cga: cga(value)?,
            rank: small("rank")?,
        }),
        "tensor_memory" => {
            let block = numbers(&value["block"])?;
            Base::TensorMemory(TensorMemory {
                block_m: block[0],
                block_n: block[1],
                col_stride: number(value, "colStride")?,
                cga: cga(value)?,
                two_ctas: flag(value, "twoCTAs"),
                cta_mode: CtaMode::Default,
                fp4_padded: flag(value, "fp4Padded"),
            })
        }
        "tensor_memory_scales" => Base::TensorMemoryScales(cga(value)?, BlockRepOrder::default()),
        other => return Err(format!("unknown encoding {other}")),
    };
    Ok(base.into())
}

/// Dimension names of the oracle.
pub fn axis(name: &str) -> Result<AxisId, String> {
    Ok(match name {
        "register" => AxisId::REGISTER,
        "lane" => AxisId::LANE,
        "warp" => AxisId::WARP,
        "block" => AxisId::BLOCK,
        "offset" => AxisId::M,
        "row" => AxisId::TLANE,
        "col" => AxisId::TCOL,
        other => {
            let n = other.strip_prefix("dim").and_then(|n| n.parse::<u8>().ok());
            AxisId::dim(n.ok_or_else(|| format!("unknown dimension {other}"))?)
        }
    })
}

fn bits(size: u64) -> Result<u8, String> {
    if size.is_power_of_two() {
        Ok(size.trailing_zeros() as u8)
    } else {
        Err(format!("{size} is no power of two"))
    }
}

fn built(ins: &[(&str, &Vec<Value>)], outs: Dims) -> Result<Linear<Hw, Logical>, String> {
    let mut dims = Dims::new();
    let mut columns = Vec::new();
    for (name, bases) in ins {
        dims.push(axis(name)?, bases.len() as u8).map_err(|e| format!("{e:?}"))?;
        for basis in *bases {
            let mut column = 0;
            let basis = numbers(basis)?;
            if basis.len() != outs.len() {
                return Err(format!("a basis of {} numbers", basis.len()));
            }
            for ((out, _), v) in outs.iter().zip(basis) {
                column |= outs.insert(u64::from(v), out).map_err(|e| format!("{e:?}"))?;
            }
            columns.push(column);
        }
    }
    Linear::from_columns(dims, outs, &columns).map_err(|e| format!("{e:?}"))
}

/// `{"in": {...}, "out": [[name, size], ...]}`.
pub fn linear(value: &Value) -> Result<Linear<Hw, Logical>, String> {
    let mut outs = Dims::new();
    for pair in value["out"].as_array().ok_or("no out")? {
        let name = pair[0].as_str().ok_or("no name")?;
        let size = pair[1].as_u64().ok_or("no size")?;
        outs.push(axis(name)?, bits(size)?).map_err(|e| format!("{e:?}"))?;
    }
    let ins = value["in"].as_object().ok_or("no in")?;
    let empty = Vec::new();
    let mut list: Vec<(&str, &Vec<Value>)> = Vec::new();
    // The reader may have sorted the keys: hardware dimensions have a fixed order.
    const ORDER: [&str; 7] = ["register", "lane", "warp", "block", "offset", "row", "col"];
    let rank = |name: &str| ORDER.iter().position(|o| *o == name).unwrap_or(9);
    for (name, bases) in ins {
        list.push((name, bases.as_array().unwrap_or(&empty)));
    }
    let offset = list.iter().any(|l| l.0 == "offset");
    list.sort_by_key(|l| if offset && l.0 == "block" { 8 } else { rank(l.0) });
    built(&list, outs)
}

fn listed(value: &Value, names: &[&str], shape: &Value) -> Result<Linear<Hw, Logical>, String> {
    let empty = Vec::new();
    let list: Vec<(&str, &Vec<Value>)> =
        names.iter().map(|n| (*n, value[*n].as_array().unwrap_or(&empty))).collect();
    let mut outs = Dims::new();
    let sizes = match shape.as_array() {
        Some(_) => numbers(shape)?.iter().map(|s| u64::from(*s)).collect(),
        None => reached(&list)?,
    };
    for (d, size) in (0u8..).zip(sizes) {
        outs.push(AxisId::dim(d), bits(size)?).map_err(|e| format!("{e:?}"))?;
    }
    built(&list, outs)
}

/// The extents that bases reach, where none are given.
fn reached(list: &[(&str, &Vec<Value>)]) -> Result<Vec<u64>, String> {
    let mut sizes: Vec<u64> = Vec::new();
    for basis in list.iter().flat_map(|l| l.1.iter()) {
        let basis = numbers(basis)?;
        sizes.resize(basis.len().max(sizes.len()), 1);
        for (size, v) in sizes.iter_mut().zip(basis) {
            *size = (*size).max(u64::from(v + 1).next_power_of_two());
        }
    }
    Ok(sizes)
}

/// The tensor's shape.
pub fn shape(record: &Value) -> Result<Vec<u32>, String> {
    numbers(&record["shape"])
}
