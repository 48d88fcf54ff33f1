//! The layouts that records of the algebra start from, which they name and another record defines.

use super::fit;
use lanebook_layout::Layout;
use lanebook_layout::tilelang::Fragment;
use serde_json::Value;

/// A base, or that it has no strided form.
pub enum Base {
    Fragment(Fragment),
    Layout(Layout),
    Irregular,
}

/// The generator's bases, for files that hold operations on a base but not the base itself: name,
/// kind and definition.
const KNOWN: &[(&str, &str, &str)] = &[
    (
        "row",
        "Fragment",
        r#"{"shape":[4,8],"replicate":1,"forward":{"thread":["+",["*","i0",8],"i1"]}}"#,
    ),
    (
        "pair",
        "Fragment",
        r#"{"shape":[8,8],"replicate":1,"forward":{"thread":["+",["*","i0",4],["//","i1",2]],"index":["%","i1",2]}}"#,
    ),
    ("col", "Fragment", r#"{"shape":[4,8],"replicate":1,"forward":{"thread":"i1","index":"i0"}}"#),
    (
        "rep",
        "Fragment",
        r#"{"shape":[4,4],"replicate":4,"forward":{"thread":["+",["*","rep",4],"i1"],"index":"i0"}}"#,
    ),
    (
        "replo",
        "Fragment",
        r#"{"shape":[8],"replicate":4,"forward":{"thread":["+",["*","i0",4],"rep"],"index":0}}"#,
    ),
    (
        "noidx",
        "Fragment",
        r#"{"shape":[4,16],"replicate":1,"forward":{"thread":["%",["+",["*","i0",16],"i1"],32]}}"#,
    ),
    ("sparse", "Fragment", r#"{"shape":[4],"replicate":1,"forward":{"thread":["*","i0",16]}}"#),
    (
        "waste",
        "Fragment",
        r#"{"shape":[2],"replicate":640,"forward":{"thread":["%",["+",["*","i0",640],"rep"],256],"index":"i0"}}"#,
    ),
    (
        "repdup",
        "Fragment",
        r#"{"shape":[4],"replicate":4,"forward":{"thread":["+",["*","i0",2],["//","rep",2]],"index":0}}"#,
    ),
    ("transpose", "Layout", r#"{"shape":[4,8],"forward":["i1","i0"]}"#),
    ("split", "Layout", r#"{"shape":[16,4],"forward":[["//","i0",4],"i1",["%","i0",4]]}"#),
    ("flat", "Layout", r#"{"shape":[4,8],"forward":[["+",["*","i0",8],"i1"]]}"#),
    ("stride2", "Layout", r#"{"shape":[8],"forward":[["*","i0",2]]}"#),
    ("noninj", "Layout", r#"{"shape":[8],"forward":[["//","i0",2]]}"#),
    ("mod", "Layout", r#"{"shape":[4,8],"forward":[["%",["+",["*","i0",8],"i1"],32]]}"#),
];

/// The base that `record` names: as another record of the file defines it, else as the generator
/// does.
pub fn find(record: &Value, file: &[Value]) -> Result<Option<Base>, String> {
    let call = record["call"].as_str().ok_or("call")?;
    let kind = call.split('.').next().unwrap_or(call);
    let name = &record["base"];
    if record.get("forward").is_some() {
        return build(kind, record).map(Some);
    }
    let defines = |r: &&Value| r["call"] == kind && r["base"] == *name;
    if let Some(own) = file.iter().find(defines) {
        return build(kind, own).map(Some);
    }
    let known = KNOWN.iter().find(|k| *name == k.0 && kind == k.1);
    let Some((.., text)) = known else {
        return Ok(None);
    };
    let definition = serde_json::from_str(text).map_err(|e| e.to_string())?;
    build(kind, &definition).map(Some)
}

fn build(kind: &str, definition: &Value) -> Result<Base, String> {
    let shape = super::model::numbers(&definition["shape"])?;
    let forward = &definition["forward"];
    if kind == "Layout" {
        let outputs = forward.as_array().ok_or("forward")?;
        let found = fit::layout(&shape, outputs)?;
        return Ok(found.map_or(Base::Irregular, Base::Layout));
    }
    let replicate = definition["replicate"].as_i64().unwrap_or(1);
    let index = forward.get("index");
    let found = fit::fragment(&shape, replicate, &forward["thread"], index)?;
    Ok(found.map_or(Base::Irregular, Base::Fragment))
}
