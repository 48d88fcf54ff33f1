//! A kernel and its launch as JSON: what a runtime that has only this must know.
use super::Report;
use crate::problem::Problem;
use lanebook::emit::{Launch, LaunchMap, LaunchParameter, MapNumber, ParamKind};
use lanebook::ir::GridError;
use serde_json::{Value as Json, json};

impl Report<'_> {
    /// What the object says of the launch; `values` are those of arguments that a grid is wanted
    /// for.
    ///
    /// # Errors
    /// A value of no index argument, or a grid that has no number of blocks there.
    pub fn launch(&self, values: &[(String, i64)]) -> Result<Json, Problem> {
        let made = self.compiled.launch(self.tables, self.program);
        said(&made.ok_or_else(|| internal("the plan is of other tables"))?, values)
    }
}

fn said(launch: &Launch<'_>, values: &[(String, i64)]) -> Result<Json, Problem> {
    let parameters: Vec<Json> = launch.parameters().map(|p| parameter(launch, &p)).collect();
    let maps: Option<Vec<LaunchMap<'_>>> = launch.maps().collect();
    let maps = maps.ok_or_else(|| internal("a tensor map has no number"))?;
    let flags: Result<Vec<String>, Problem> = (0..launch.flag_count())
        .map(|number| {
            let mut flag = String::new();
            let written = launch.write_flag(number, &mut flag);
            written.map(|()| flag).map_err(|_| internal("a flag cannot be written"))
        })
        .collect();
    Ok(json!({
        "kernel": launch.kernel,
        "target": launch.target,
        "version": launch.version,
        "flags": flags?,
        "threads": launch.threads,
        "wave_lanes": launch.wave_lanes,
        "cluster": launch.cluster,
        "static_shared_bytes": launch.static_shared_bytes,
        "dynamic_shared_bytes": launch.dynamic_shared_bytes,
        "tensor_columns": launch.tensor_columns,
        "grid": grid(launch, values)?,
        "parameter_bytes": launch.parameter_bytes,
        "parameters": parameters,
        "tensor_maps": maps.iter().map(map).collect::<Vec<_>>(),
    }))
}

fn internal(what: &str) -> Problem {
    Problem::internal(what, "report this with the program")
}

fn parameter(launch: &Launch<'_>, parameter: &LaunchParameter) -> Json {
    let mut name = String::new();
    // A text takes all that is written.
    let _ = launch.write_name(parameter, &mut name);
    let (kind, number) = match parameter.kind {
        ParamKind::Pointer => ("pointer", None),
        ParamKind::Extent(dim) => ("extent", Some(("dim", dim))),
        ParamKind::Stride(dim) => ("stride", Some(("dim", dim))),
        ParamKind::Scalar => ("scalar", None),
        ParamKind::Map(map) => ("tensor_map", Some(("map", map))),
        ParamKind::Blocks(axis) => ("blocks", Some(("axis", axis))),
        ParamKind::Tile => ("tile", None),
        ParamKind::Result(number) => ("result", Some(("number", number))),
        ParamKind::Scratch => ("scratch", None),
    };
    let mut out = json!({
        "name": name,
        "kind": kind,
        "offset": parameter.offset,
        "bytes": parameter.bytes,
        "align": parameter.align,
    });
    if let Some(argument) = parameter.argument {
        out["argument"] = json!(argument);
    }
    if let Some((what, number)) = number {
        out[what] = json!(number);
    }
    match (parameter.kind, parameter.argument.and_then(|a| launch.argument_element(a))) {
        (ParamKind::Pointer, Some((element, _))) => out["element"] = json!(element),
        (ParamKind::Scalar, Some((element, _))) => {
            out["element"] = json!(element);
            if parameter.low < parameter.high {
                out["low"] = json!(parameter.low);
                out["high"] = json!(parameter.high);
            }
            return out;
        }
        (ParamKind::Map(_), _) => return out,
        (ParamKind::Pointer, None) => {}
        _ => {
            out["low"] = json!(parameter.low);
            out["high"] = json!(parameter.high);
        }
    }
    out["multiple"] = json!(parameter.multiple);
    out
}

fn map(map: &LaunchMap<'_>) -> Json {
    let named = |(name, number): (&str, u32)| json!({ "name": name, "number": number });
    let dims: Vec<Json> = map
        .dims()
        .iter()
        .map(|dim| {
            json!({
                "dim": dim.argument_dim,
                "extent": match dim.extent {
                    MapNumber::Known(extent) => json!(extent),
                    MapNumber::Parameter(parameter) => json!({ "parameter": parameter }),
                    MapNumber::Half(parameter) => json!({ "parameter": parameter, "divisor": 2 }),
                },
                "stride_bytes": match dim.stride {
                    MapNumber::Known(bytes) => json!(bytes),
                    MapNumber::Parameter(parameter) | MapNumber::Half(parameter) => {
                        json!({ "parameter": parameter, "times": map.element_bytes })
                    }
                },
                "box": dim.box_extent,
                "element_stride": dim.element_stride,
            })
        })
        .collect();
    json!({
        "parameter": map.parameter,
        "offset": map.offset,
        "bytes": map.bytes,
        "align": map.align,
        "argument": map.argument,
        "pointer_parameter": map.pointer_parameter,
        "element": named(map.element),
        "element_bytes": map.element_bytes,
        "interleave": named(map.interleave),
        "swizzle": named(map.swizzle),
        "dims": dims,
    })
}

/// The grid's expressions, and its blocks where values are given.
fn grid(launch: &Launch<'_>, values: &[(String, i64)]) -> Result<Json, Problem> {
    let axes: Vec<&str> = (0..3).map_while(|axis| launch.grid_text(axis)).collect();
    let scalars: Vec<(usize, &str)> = launch
        .parameters()
        .filter(|p| p.kind == ParamKind::Scalar)
        .filter_map(|p| p.argument)
        // Numbers that are no indices say nothing of the grid.
        .filter(|argument| launch.argument_element(*argument).is_none())
        .map(|argument| (usize::from(argument), launch.argument_name(argument)))
        .collect();
    for (name, _) in values {
        if !scalars.iter().any(|(_, scalar)| scalar == name) {
            let names: Vec<&str> = scalars.iter().map(|(_, name)| *name).collect();
            return Err(Problem::usage(
                format!("--set {name}: the kernel has no index argument of this name"),
                format!("its index arguments are {}", names.join(", ")),
            ));
        }
    }
    if axes.is_empty() {
        return match values {
            [] => Ok(Json::Null),
            _ => Err(Problem::usage(
                "--set is for the grid, and the function says none",
                "write `grid = (..)` among its attributes, or leave --set out",
            )),
        };
    }
    let mut out = json!({ "expressions": axes });
    if values.is_empty() {
        return Ok(out);
    }
    let mut arguments = vec![0; scalars.iter().map(|(at, _)| at + 1).max().unwrap_or(0)];
    for (at, name) in &scalars {
        let read = || axes.iter().any(|text| reads(text, name));
        match values.iter().find(|(given, _)| given == name) {
            Some((_, value)) => arguments[*at] = *value,
            None if !read() => {}
            None => {
                return Err(Problem::usage(
                    format!("the grid ({}) reads {name}, which has no value", axes.join(", ")),
                    format!("add --set {name}=NUMBER"),
                ));
            }
        }
    }
    match launch.grid(&arguments) {
        Some(Ok(blocks)) => out["blocks"] = json!(blocks),
        Some(Err(GridError::Range)) => {
            return Err(Problem::usage(
                format!(
                    "the grid ({}) is not between 1 and 2^31 - 1 along each axis for these values",
                    axes.join(", ")
                ),
                "give values for which there is something to do",
            ));
        }
        _ => return Err(internal("the grid was accepted and cannot be computed")),
    }
    Ok(out)
}

/// Whether an expression names an argument.
fn reads(text: &str, name: &str) -> bool {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$')))
        .any(|word| word == name)
}
