//! Several buffers of shared memory of which a number says which one is meant, parts of them, and
//! tensors that descriptors describe, as Triton's last form has them.

use super::Said;
use super::compute::compute;
use super::element::Element;
use super::indexed::Indices;
use super::machine::{Machine, Value};
use super::text::{list, tile_type};
use super::tile::{Item, Sure, Tile};

/// A look at a tile of shared memory.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    /// The name of what was allocated.
    home: String,
    /// The number of its first element there.
    start: usize,
    shape: Vec<usize>,
    /// How far elements are apart along each dimension.
    steps: Vec<usize>,
}

impl Slot {
    /// The numbers of its elements, row by row.
    fn places(&self) -> Vec<usize> {
        let count = self.shape.iter().product();
        let place = |i: usize| {
            let (mut rest, mut at) = (i, self.start);
            for (extent, step) in self.shape.iter().zip(&self.steps).rev() {
                at += rest % extent * step;
                rest /= extent;
            }
            at
        };
        (0..count).map(place).collect()
    }
}

/// A tensor that is described.
#[derive(Clone, Debug)]
pub(super) struct Described {
    /// The argument that its pointer points into, and where.
    argument: String,
    far: i64,
    /// Extents, then strides.
    numbers: Vec<i64>,
}

/// Words of texts whose buffers are told while they run.
const OPEN: [&str; 4] =
    ["async_copy_global_to_local", "memdesc_subslice", "local_dealloc", "warp_group_dot"];

/// Words that say an order alone; those that make something make a token.
const ORDERS: [&str; 4] =
    ["ttg.async_commit_group", "ttg.async_wait", "ttg.local_dealloc", "ttng.fence_async_shared"];

/// Whether a number of the text says which buffer each look is at.
fn is_open(text: &str) -> bool {
    let is_known =
        |name: &str| name.parse::<u32>().is_ok() || text.contains(&format!("{name} = constant "));
    let mut looks =
        text.lines().filter_map(|line| line.split_once("ttg.memdesc_index ")?.1.split_once('['));
    OPEN.iter().any(|word| text.contains(word))
        || looks.any(|(_, behind)| !is_known(behind.split(']').next().unwrap_or("")))
}

/// A text whose tokens are numbers that nobody looks at, and whose products hand nothing on.
pub(super) fn plain(text: &str) -> Option<String> {
    if !text.contains("!ttg.memdesc<") || !is_open(text) {
        return None;
    }
    let mut out = String::new();
    for line in text.lines() {
        let trimmed = line.trim();
        let (made, rest) = match trimmed.split_once(" = ") {
            Some((made, rest)) if made.starts_with('%') => (made, rest),
            _ => ("", trimmed),
        };
        let (op, operands) = rest.split_once(' ').unwrap_or((rest, ""));
        if ORDERS.contains(&op) {
            if !made.is_empty() {
                out += &format!("{made} = constant 0 : index\n");
            }
        } else if op == "ttng.warp_group_dot_wait" {
            let operands = operands.split(['{', ':']).next().unwrap_or("");
            let names = match made.split_once(':') {
                Some((name, _)) => {
                    (0..list(operands).len()).map(|k| format!("{}#{k}", name.trim())).collect()
                }
                None => vec![made.to_string()],
            };
            for (name, value) in names.iter().zip(list(operands)) {
                out += &format!("{name} = returned {value}\n");
            }
        } else if op == "ttng.warp_group_dot" {
            let (plain, _) = operands.split_once('{').unwrap_or((operands, ""));
            let ty = line.rsplit("-> ").next().unwrap_or("");
            let plain = plain.split(" : ").next().unwrap_or("").trim();
            out += &format!("{made} = mma {plain} : {ty}\n");
        } else {
            // `%s token %t`
            let (before, behind) = line.split_once(" token ").unwrap_or((line, ""));
            let behind = behind.split_once(" : ").map_or("", |(_, types)| types);
            match behind.is_empty() {
                true => out += line,
                false => out += &format!("{before} : {behind}"),
            }
            out.push('\n');
        }
    }
    Some(out)
}

impl Machine<'_> {
    fn slot(&self, name: &str) -> Said<Slot> {
        match self.value(name)? {
            Value::Slot(slot) => Ok(slot),
            Value::Tile(tile) => {
                let steps = steps(&tile.shape);
                let shape = tile.shape;
                Ok(Slot { home: name.trim().to_string(), start: 0, shape, steps })
            }
            _ => Err(format!("`{name}` is no tile of shared memory")),
        }
    }

    /// What stands in a tile of shared memory.
    pub(super) fn loaded(&self, slot: &Slot) -> Said<Tile> {
        let home = self.tile(&slot.home)?;
        let items: Vec<Item> = slot.places().into_iter().map(|at| home.items[at]).collect();
        if items.iter().any(|item| item.sure == Sure::Unwritten) {
            return Err(format!("{}: {}", super::UNWRITTEN, slot.home));
        }
        Ok(Tile { shape: slot.shape.clone(), element: home.element, items })
    }

    fn store(&mut self, slot: &Slot, tile: &Tile) -> Said<()> {
        let mut home = self.tile(&slot.home)?;
        if slot.shape != tile.shape || home.element != tile.element {
            return Err("a tile of another type".to_string());
        }
        for (at, item) in slot.places().into_iter().zip(&tile.items) {
            home.items[at] = *item;
        }
        self.values.insert(slot.home.clone(), Value::Tile(home));
        Ok(())
    }

    /// The places and the mask of a tile of a described tensor.
    fn reached(&self, of: &Described, starts: &str, shape: &[usize]) -> Said<(Tile, Tile)> {
        let starts: Vec<i64> = list(starts.trim_end_matches(']'))
            .iter()
            .map(|start| self.index(start))
            .collect::<Said<_>>()?;
        let rank = of.numbers.len() / 2;
        if starts.len() != rank || shape.len() != rank {
            return Err("another number of dimensions than its tensor has".to_string());
        }
        let (mut far, mut inside) = (Vec::new(), Vec::new());
        for i in 0..shape.iter().product() {
            let (mut rest, mut at, mut is_there): (usize, i64, bool) = (i, 0, true);
            for dim in (0..rank).rev() {
                let place = starts[dim] + (rest % shape[dim]) as i64;
                rest /= shape[dim];
                is_there &= (0..of.numbers[dim]).contains(&place);
                at += place * of.numbers[rank + dim];
            }
            far.push(Item::exact(if is_there { at as u64 & 0xffff_ffff } else { 0 }));
            inside.push(Item::exact(u64::from(is_there)));
        }
        let tile = |element: &str, items| {
            Ok::<_, String>(Tile { shape: shape.to_vec(), element: Element::of(element)?, items })
        };
        Ok((tile("i32", far)?, tile("i1", inside)?))
    }

    fn described(&self, operand: &str) -> Said<(Described, String)> {
        let (name, starts) = operand.split_once('[').ok_or("no subscripts")?;
        match self.value(name)? {
            Value::Described(of) => Ok((of, starts.to_string())),
            _ => Err(format!("`{name}` is no described tensor")),
        }
    }

    /// What an operation on these makes; `None` where it is none.
    pub(super) fn in_slots(&mut self, op: &str, plain: &str, types: &str) -> Said<Option<Value>> {
        let inputs = list(plain);
        let input = |k: usize| inputs.get(k).map(String::as_str).ok_or("too few operands");
        let to = types.rsplit("->").next().unwrap_or(types);
        let (name, behind) = plain.split_once('[').unwrap_or((plain, ""));
        Ok(Some(match op {
            "ttg.memdesc_index" => {
                let of = self.slot(name)?;
                let number = self.index(behind.trim().trim_end_matches(']'))?;
                let number = usize::try_from(number).map_err(|_| "a buffer below zero")?;
                if number >= of.shape[0] {
                    return Err("more buffers than there are".to_string());
                }
                let start = of.start + number * of.steps[0];
                let (shape, steps) = (of.shape[1..].to_vec(), of.steps[1..].to_vec());
                Value::Slot(Slot { home: of.home, start, shape, steps })
            }
            "ttg.memdesc_subslice" => {
                let of = self.slot(name)?;
                let mut start = of.start;
                for (at, step) in list(behind.trim().trim_end_matches(']')).iter().zip(&of.steps) {
                    start += usize::try_from(self.index(at)?).map_err(|_| "below zero")? * step;
                }
                Value::Slot(Slot { start, shape: tile_type(to)?.0, ..of })
            }
            "ttg.memdesc_trans" => {
                let mut of = self.slot(plain)?;
                of.shape.reverse();
                of.steps.reverse();
                Value::Slot(of)
            }
            "ttg.local_load" => Value::Tile(self.loaded(&self.slot(plain)?)?),
            "ttg.local_store" => {
                let (tile, slot) = (self.tile(input(0)?)?, self.slot(input(1)?)?);
                self.store(&slot, &tile)?;
                Value::Index(0)
            }
            "slots.copy" => {
                let slot = self.slot(input(0)?)?;
                let mask = inputs.get(3).map(|name| self.tile(name)).transpose()?;
                let other = inputs.get(4).map(|name| self.tile(name)).transpose()?;
                let indices = Indices { tile: self.tile(input(2)?)?, axis: 0 };
                let tile = self.fetch(input(1)?, &slot.shape, (mask, other), Some(indices))?;
                self.store(&slot, &tile)?;
                Value::Index(0)
            }
            "amdg.scaled_upcast_fp8" => {
                let (x, scale) = plain.split_once(" scale ").ok_or("no scale")?;
                let (shape, element) = tile_type(to)?;
                let mut tiles = [self.tile(x)?, self.tile(scale)?];
                if self.measuring {
                    let nothing = Item { bits: 0, sure: Sure::Free };
                    return Ok(Some(Value::Tile(Tile::filled(shape, element, nothing))));
                }
                let unit = &self.program.unit;
                let own = (shape.clone(), element);
                tiles[0] = compute("cast", "", &tiles[..1], own.clone(), unit)?;
                Value::Tile(compute("mul", "", &tiles, own, unit)?)
            }
            "tt.make_tensor_descriptor" => {
                let numbers =
                    plain.split_once('[').map_or("", |(_, rest)| rest).replace(['[', ']'], "");
                let numbers = list(&numbers).iter().map(|n| self.index(n)).collect::<Said<_>>()?;
                let far = self.index(input(1)?)?;
                Value::Described(Described { argument: input(0)?.to_string(), far, numbers })
            }
            "tt.descriptor_load" => {
                let (of, starts) = self.described(plain)?;
                let shape = tile_type(to)?.0;
                let (tile, mask) = self.reached(&of, &starts, &shape)?;
                let place = format!("{}[{}]", of.argument, of.far);
                let indices = Some(Indices { tile, axis: 0 });
                Value::Tile(self.fetch(&place, &shape, (Some(mask), None), indices)?)
            }
            "tt.descriptor_store" => {
                let (of, starts) = self.described(input(0)?)?;
                let own = self.tile(input(1)?)?;
                let (tile, mask) = self.reached(&of, &starts, &own.shape)?;
                let place = format!("{}[{}]", of.argument, of.far);
                self.deliver(&place, own, Some(mask), Some(Indices { tile, axis: 0 }))?;
                Value::Index(0)
            }
            _ => return Ok(None),
        }))
    }
}

/// How far elements are apart along each dimension of a tile by rows.
fn steps(shape: &[usize]) -> Vec<usize> {
    (0..shape.len()).map(|dim| shape[dim + 1..].iter().product()).collect()
}
