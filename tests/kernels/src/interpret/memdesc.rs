//! Tiles in shared memory as Triton writes them, line by line as this language has them: an
//! allocation for each buffer, and loads and stores of a transposed tile beside a transposition.

use std::collections::BTreeMap;

/// A view: the tile's name, its type, and whether rows and columns are exchanged.
struct View {
    tile: String,
    ty: String,
    is_turned: bool,
}

/// A text without descriptors of memory.
pub(super) fn plain(text: &str) -> String {
    if !text.contains("!ttg.memdesc<") {
        return text.to_string();
    }
    let (mut views, mut numbers) = (BTreeMap::<String, View>::new(), BTreeMap::new());
    let (mut out, mut made) = (String::new(), 0);
    for line in text.lines() {
        let trimmed = line.trim();
        let (result, body) = match trimmed.split_once(" = ") {
            Some((name, body)) if name.starts_with('%') => (name, body),
            _ => ("", trimmed),
        };
        let (op, rest) = body.split_once(' ').unwrap_or((body, ""));
        let bare = rest.strip_prefix(": ").map(|types| ("", types));
        let (operands, types) = bare.or_else(|| rest.rsplit_once(" : ")).unwrap_or((rest, ""));
        let operands = operands.split('{').next().unwrap_or("").trim();
        match op {
            "constant" if types == "index" => {
                numbers.insert(result.to_string(), operands.to_string());
                out += line;
            }
            "ttg.local_alloc" => {
                let (buffers, ty) = tile(types.rsplit("->").next().unwrap_or(""));
                for buffer in 0..buffers.unwrap_or(1) {
                    let name = buffers.map_or(result.to_string(), |_| format!("{result}_{buffer}"));
                    out += &format!("{name} = alloc_tensor {operands} : {ty}\n");
                    views.insert(
                        name.clone(),
                        View { tile: name, ty: ty.clone(), is_turned: false },
                    );
                }
            }
            "ttg.memdesc_index" => {
                let (name, at) = operands.trim_end_matches(']').split_once('[').expect("a number");
                let name = format!("{name}_{}", numbers.get(at).map_or(at, String::as_str));
                let of = views.get(&name).expect("a buffer");
                let view = View { tile: of.tile.clone(), ty: of.ty.clone(), is_turned: false };
                views.insert(result.to_string(), view);
            }
            "ttg.memdesc_trans" => {
                let of = views.get(operands).expect("a tile");
                let (tile, ty) = (of.tile.clone(), of.ty.clone());
                views.insert(result.to_string(), View { tile, ty, is_turned: !of.is_turned });
            }
            "ttg.local_load" => {
                let view = views.get(operands).expect("a tile");
                let own = view.ty.split(", #smem").next().unwrap_or("").to_string() + ">";
                let to = types.rsplit("->").next().unwrap_or("").trim();
                let (tile, of) = (&view.tile, &view.ty);
                match view.is_turned {
                    false => out += &format!("{result} = tiled_load {tile} : {of} -> {to}\n"),
                    true => {
                        made += 1;
                        out += &format!("%turned_{made} = tiled_load {tile} : {of} -> {own}\n");
                        out += &format!("{result} = trans %turned_{made} : {own} -> {to}\n");
                    }
                }
            }
            "ttg.local_store" => {
                let (from, to) = operands.split_once(',').expect("two operands");
                let view = views.get(to.trim()).expect("a tile");
                let own = view.ty.split(", #smem").next().unwrap_or("").to_string() + ">";
                let ty = types.split("->").next().unwrap_or("").trim();
                let (mut from, mut ty, tile, of) =
                    (from.to_string(), ty.to_string(), &view.tile, &view.ty);
                if view.is_turned {
                    made += 1;
                    out += &format!("%turned_{made} = trans {from} : {ty} -> {own}\n");
                    (from, ty) = (format!("%turned_{made}"), own);
                }
                out += &format!("tiled_store {from}, {tile} : {ty} -> {of}\n");
            }
            _ => out += line,
        }
        out.push('\n');
    }
    out
}

/// How many buffers a descriptor is of, if it is of several, and the type of one.
fn tile(descriptor: &str) -> (Option<usize>, String) {
    let inside = descriptor.trim().trim_start_matches("!ttg.memdesc<").trim_end_matches('>');
    let shape = inside.split(',').next().unwrap_or("");
    let parts: Vec<&str> = shape.split('x').collect();
    let (buffers, own) = match &parts[..] {
        [count, rows, cols, element] => (count.parse().ok(), [*rows, *cols, *element].join("x")),
        _ => (None, parts.join("x")),
    };
    (buffers, format!("tensor<{own}, #smem>"))
}
