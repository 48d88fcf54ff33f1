//! Descriptors as bit fields: shared-memory matrix and instruction descriptors.
//!
//! Rules: the descriptor is that of the record's case, or of its kind of instruction; a field
//! called `x_div_16` is the field `x`, which the tables count in whole units. Every word is packed
//! from the fields and unpacked into them again.

use super::Verdict;
use crate::tables::tables;
use lanebook::unit::descriptor::DescriptorWord;
use lanebook::unit::descriptor_named;
use lanebook_tables::Arch;
use serde_json::Value;

/// The architecture with this name.
pub fn arch(name: &str) -> Option<&'static Arch<'static>> {
    tables().arch_named(name).and_then(|id| tables().arch(id))
}

/// The record's fields and word against the tables.
pub fn judge(record: &Value) -> Verdict {
    compare(record).unwrap_or_else(Verdict::Differ)
}

fn compare(record: &Value) -> Result<Verdict, String> {
    let arch = arch(record["arch"].as_str().unwrap_or("")).ok_or("no such architecture")?;
    let name = match (record["case"].as_str().unwrap_or(""), record["kind"].as_str()) {
        (_, Some(kind)) => {
            tables().units.shapes.iter().find(|s| s.kind == kind).ok_or("no such kind")?.descriptor
        }
        (case, None) if case.starts_with("wgmma") => "wgmma.shared",
        (case, None) if case.starts_with("tcgen05") => "tcgen05.shared",
        (case, None) => return Err(format!("no descriptor for case {case}")),
    };
    let table = descriptor_named(tables(), arch, name).map_err(|e| format!("{e:?}"))?;
    let text = record.get("u64").or(record.get("u32")).and_then(Value::as_str).ok_or("no word")?;
    let bits = u64::from_str_radix(text.trim_start_matches("0x"), 16).map_err(|e| e.to_string())?;
    let unpacked =
        DescriptorWord::unpack(table, bits).map_err(|e| format!("{name} of {text}: {e:?}"))?;
    let mut word = DescriptorWord::new(table);
    for (field, value) in record["fields"].as_object().ok_or("no fields")? {
        let value = value.as_u64().ok_or("no value")?;
        let (field, value) = match field.split_once("_div_") {
            Some((field, unit)) => (field, value * unit.parse::<u64>().map_err(|e| e.to_string())?),
            None => (field.as_str(), value),
        };
        word.set(field, value).map_err(|e| format!("{name}.{field} = {value}: {e:?}"))?;
        let found = unpacked.get(field).map_err(|e| format!("{field}: {e:?}"))?;
        if found != value {
            return Err(format!("{text} has {field} {value}, found {found}"));
        }
    }
    let found = word.pack().map_err(|e| format!("{name}: {e:?}"))?;
    if found != bits {
        return Err(format!("{text}, found {found:#x}"));
    }
    for (key, field) in [("M", "m"), ("N", "n")] {
        if record[key].as_u64().is_some_and(|v| word.get(field) != Ok(v)) {
            return Err(format!("{field} is {}, found {:?}", record[key], word.get(field)));
        }
    }
    types(record, &word)?;
    Ok(Verdict::Agree)
}

/// Types by their names in the tables.
fn types(record: &Value, word: &DescriptorWord<'_>) -> Result<(), String> {
    let Some(types) = record["types"].as_array() else { return Ok(()) };
    let fields = if word.descriptor().fields.iter().any(|f| f.name == "dtype") {
        ["atype", "btype", "dtype"]
    } else {
        ["atype", "btype", "scale_type"]
    };
    for (field, name) in fields.into_iter().zip(types) {
        let name = name.as_str().unwrap_or("").trim_start_matches("float_").trim_end_matches("_t");
        let wanted = match name {
            "half" => "f16",
            "bfloat16" => "bf16",
            "tfloat32" => "tf32",
            "float" => "f32",
            "int" | "int32" => "i32",
            "int8" => "i8",
            "uint8" => "u8",
            "ue8m0" => "e8m0",
            other => other,
        };
        let found = word.word(field).map_err(|e| format!("{field}: {e:?}"))?;
        if found != Some(wanted) {
            return Err(format!("{field} is {wanted}, found {found:?}"));
        }
    }
    Ok(())
}
