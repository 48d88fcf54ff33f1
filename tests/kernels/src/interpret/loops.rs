//! Parallel loops and tile operations in place, by their meaning: iteration by iteration, once from
//! the first to the last and once from the last to the first. What the two leave different is not
//! fixed by the program.

use super::compute::compute;
use super::element::Element;
use super::machine::{Machine, Value, closing};
use super::names::{canonical, named_for_tiles};
use super::text::{attribute, constant, list, tile_type};
use super::tile::{Item, Sure, Tile};
use super::{Global, Said};
use std::collections::BTreeMap;

/// Words of parallel loops.
const PARALLEL: [&str; 3] = ["parallel ", "scf.parallel ", "tl.parallel "];

/// Counters with their first values, ends and steps.
type Counters = Vec<(String, [i64; 3])>;

/// An element type's name alone.
fn scalar_type(text: &str) -> Said<Element> {
    let made = text.rsplit("->").next().unwrap_or(text);
    // Of a selection both types are written.
    Element::of(made.rsplit(',').next().unwrap_or(made).trim())
}

impl Machine<'_> {
    /// Runs a statement of the loop language; where it ends, or `None` if it is none.
    pub(super) fn loop_statement(&mut self, body: &[String], at: usize) -> Said<Option<usize>> {
        let line = body[at].as_str();
        if PARALLEL.iter().any(|word| line.starts_with(word)) {
            let end = closing(body, at).ok_or("no closing bracket")?;
            self.parallel(body, at)?;
            return Ok(Some(end));
        }
        if let Some((results, rest)) = line.split_once("scf.if ") {
            return self.branch(body, at, (results, rest)).map(Some);
        }
        let renamed = named_for_tiles(line, |_| false);
        let line = renamed.as_deref().unwrap_or(line);
        let (result, rest) = match line.split_once('=') {
            Some((name, rest)) if name.trim_start().starts_with('%') => {
                (Some(name.trim().to_string()), rest.trim())
            }
            _ => (None, line),
        };
        let (op, rest) = rest.split_once(' ').unwrap_or((rest, ""));
        let value = match op {
            "memref.load" | "tl.load" => {
                // What the load allows changes nothing of what it reads.
                let place = rest.split([':', '{']).next().unwrap_or("").trim();
                Value::Tile(self.element(place)?)
            }
            "memref.store" | "tl.store" => {
                let inputs = list(rest.split(" : ").next().unwrap_or(""));
                let [value, place] = &inputs[..] else { return Err("two operands".to_string()) };
                let (_, element) = self.whole(place)?;
                let item = match self.value(value)? {
                    // A relation of indices as a truth of elements.
                    Value::Index(n) if element.bits() == 1 => {
                        Tile::filled(vec![], element, Item::exact(u64::from(n != 0)))
                    }
                    _ => self.scalar(value)?,
                };
                self.set_element(place, item)?;
                return Ok(Some(at));
            }
            "fill" | "linalg.fill" | "tl.fill" => {
                let inputs = list(rest.split('{').next().unwrap_or(""));
                let [value, place] = &inputs[..] else { return Err("two operands".to_string()) };
                let (shape, element) = self.whole(place)?;
                let item = match self.scalar(value) {
                    Ok(tile) => tile,
                    Err(_) => Tile::filled(vec![], element, Item::exact(constant(value, element)?)),
                };
                for point in points(&shape) {
                    self.set_at(place, &point, item.clone())?;
                }
                return Ok(Some(at));
            }
            "copy" if !rest.contains(" : ") => {
                self.copy_in_place(rest)?;
                return Ok(Some(at));
            }
            "reduce_into" | "tl.reduce" => {
                self.reduce_in_place(rest)?;
                return Ok(Some(at));
            }
            "gemm" | "tl.gemm" => {
                self.product_in_place(rest)?;
                return Ok(Some(at));
            }
            "view" => {
                let (of, ty) = rest.split_once(" : ").ok_or("no type")?;
                let (shape, element) = tile_type(ty)?;
                Value::View(of.trim().to_string(), shape, element)
            }
            _ => match self.scalar_statement(op, rest)? {
                Some(value) => value,
                None => return Ok(None),
            },
        };
        self.values.insert(result.ok_or("no result")?, value);
        Ok(Some(at))
    }

    /// Arithmetic on elements and constants of them; `None` where the type is none of an element.
    fn scalar_statement(&mut self, op: &str, rest: &str) -> Said<Option<Value>> {
        let Some((operands, types)) = rest.rsplit_once(" : ") else { return Ok(None) };
        let named = types.rsplit("->").next().unwrap_or(types).trim();
        if named.contains(['<', '!'])
            || op.starts_with("index.")
            || ["scf.", "combine."].iter().any(|first| op.starts_with(first))
            || op == "arith.index_cast"
            || matches!(canonical(op), "block_id" | "num_blocks" | "tiled_load" | "reduce")
        {
            return Ok(None);
        }
        let inputs = list(operands.split('{').next().unwrap_or(""));
        if named == "index" {
            return self.index_statement(op, &inputs);
        }
        let element = scalar_type(types)?;
        if canonical(op) == "constant" {
            let item = Item::exact(constant(inputs.first().ok_or("no number")?, element)?);
            return Ok(Some(Value::Tile(Tile::filled(vec![], element, item))));
        }
        if op == "arith.sitofp" {
            let item = Item::exact(element.encode(self.index(&inputs[0])? as f64));
            return Ok(Some(Value::Tile(Tile::filled(vec![], element, item))));
        }
        let of = |name: &String| match self.value(name)? {
            // A relation of indices among truths.
            Value::Index(n) if element.bits() == 1 && !op.starts_with("compare") => {
                Ok(Tile::filled(vec![], element, Item::exact(u64::from(n != 0))))
            }
            Value::Index(_) => self.tile(name),
            _ => self.scalar(name),
        };
        let tiles: Vec<Tile> = inputs.iter().map(of).collect::<Said<_>>()?;
        let op = canonical(op);
        let is_known = tiles.iter().flat_map(|t| &t.items).all(|i| i.sure == Sure::Bits);
        let tile = if self.measuring && !is_known {
            Tile::filled(vec![], element, Item { bits: 0, sure: Sure::Free })
        } else {
            compute(op, operands, &tiles, (vec![], element), &self.program.unit)?
        };
        Ok(Some(Value::Tile(tile)))
    }

    /// Words on integers that other languages have.
    fn index_statement(&mut self, op: &str, inputs: &[String]) -> Said<Option<Value>> {
        if op == "constant" {
            return Ok(None);
        }
        let n = |k: usize| self.index(inputs.get(k).ok_or("too few operands")?);
        let value = match op {
            "arith.minsi" => n(0)?.min(n(1)?),
            "arith.maxsi" => n(0)?.max(n(1)?),
            "arith.xori" => n(0)? ^ n(1)?,
            "arith.andi" => n(0)? & n(1)?,
            "arith.ori" => n(0)? | n(1)?,
            "arith.shli" => n(0)? << n(1)?,
            "arith.shrsi" => n(0)? >> n(1)?,
            // Indices have 32 bits.
            "arith.shrui" => (n(0)? & i64::from(u32::MAX)) >> n(1)?,
            "select" => {
                if n(0)? != 0 {
                    n(1)?
                } else {
                    n(2)?
                }
            }
            _ => return Ok(None),
        };
        Ok(Some(Value::Index(value)))
    }

    // ---- loops and conditions
    fn parallel(&mut self, body: &[String], at: usize) -> Said<()> {
        let counters = self.counters(&body[at])?;
        let extents: Vec<usize> = counters
            .iter()
            .map(|(_, [from, to, step])| (to - from + step - 1).div_euclid(*step).max(0) as usize)
            .collect();
        let mut all = points(&extents);
        let before = (self.values.clone(), self.program.globals.clone());
        self.iterations(body, at, &counters, &all)?;
        if self.measuring {
            return Ok(());
        }
        let first = (
            std::mem::replace(&mut self.values, before.0),
            std::mem::replace(&mut self.program.globals, before.1),
        );
        all.reverse();
        self.iterations(body, at, &counters, &all)?;
        self.free_of(&first.0, &first.1);
        Ok(())
    }

    /// What another course of the same part left different is not fixed.
    fn free_of(&mut self, values: &BTreeMap<String, Value>, globals: &[Global]) {
        for (global, other) in self.program.globals.iter_mut().zip(globals) {
            global.is_result |= other.is_result;
            global.is_read |= other.is_read;
            free_where_different(&mut global.items, &other.items);
        }
        for (name, value) in &mut self.values {
            if let (Value::Tile(tile), Some(Value::Tile(other))) = (value, values.get(name)) {
                free_where_different(&mut tile.items, &other.items);
            }
        }
    }

    fn iterations(
        &mut self,
        body: &[String],
        at: usize,
        counters: &Counters,
        all: &[Vec<usize>],
    ) -> Said<()> {
        for point in all {
            for ((name, [from, _, step]), n) in counters.iter().zip(point) {
                let value = from + step * i64::try_from(*n).map_err(|_| "a counter")?;
                self.values.insert(name.clone(), Value::Index(value));
            }
            self.block(body, at + 1)?;
        }
        Ok(())
    }

    /// `%i in 64 {`, `(%i, %j) in (4, 16) attributes {..} {`, `%i = 0 to 64 step 1 {`.
    fn counters(&self, line: &str) -> Said<Counters> {
        let rest = line.split_once(' ').ok_or("no counter")?.1;
        if let Some((names, rest)) = rest.split_once(" in ") {
            let names = list(names.trim().trim_start_matches('(').trim_end_matches(')'));
            let ends = match rest.trim().strip_prefix('(') {
                Some(rest) => rest.split_once(')').ok_or("no end of extents")?.0,
                None => rest.split([' ', '{']).next().unwrap_or(""),
            };
            let ends = list(ends);
            if names.len() != ends.len() {
                return Err("another number of extents than counters".to_string());
            }
            return names
                .into_iter()
                .zip(&ends)
                .map(|(name, end)| Ok((name, [0, self.index(end)?, 1])))
                .collect();
        }
        let (name, rest) = rest.split_once('=').ok_or("no bounds")?;
        let (from, rest) = rest.split_once(" to ").ok_or("no bound")?;
        let (to, rest) = rest.split_once(" step ").ok_or("no step")?;
        let step = rest.split_whitespace().next().ok_or("no step")?;
        let bounds = [self.index(from)?, self.index(to)?, self.index(step)?];
        Ok(vec![(name.trim().to_string(), bounds)])
    }

    /// Runs the part of a condition that holds; where the other one ends.
    fn branch(&mut self, body: &[String], at: usize, (results, rest): (&str, &str)) -> Said<usize> {
        let name = rest.split([' ', '{']).next().unwrap_or("");
        // How far tensors are reached is measured without data: by both parts.
        let mut known = None;
        let holds = match self.value(name)? {
            Value::Index(n) => (n != 0, n == 0, false),
            Value::Tile(tile) => {
                let item = tile.items.first().ok_or("a condition without a value")?;
                let (holds, is_open) = (item.bits != 0, item.sure != Sure::Bits);
                known = (!is_open).then_some(holds);
                if self.measuring { (true, true, false) } else { (holds, !holds, is_open) }
            }
            _ => return Err("no condition".to_string()),
        };
        let then = part_end(body, at).ok_or("no closing bracket")?;
        let (end, other) = if body[then].contains("else") {
            (part_end(body, then).ok_or("no closing bracket")?, Some(then))
        } else {
            (then, None)
        };
        let mut passed = Vec::new();
        let before = holds.2.then(|| (self.values.clone(), self.program.globals.clone()));
        if holds.0 || holds.2 {
            passed = self.block(body, at + 1)?.1;
        }
        // Of a condition that is not fixed nothing is that the parts leave different.
        let first = before.map(|before| {
            let values = std::mem::replace(&mut self.values, before.0);
            let globals = std::mem::replace(&mut self.program.globals, before.1);
            (values, globals, std::mem::take(&mut passed))
        });
        if let Some(other) = other.filter(|_| holds.1 || holds.2) {
            let others = std::mem::replace(&mut passed, self.block(body, other + 1)?.1);
            match known {
                Some(true) if self.measuring => passed = others,
                None if self.measuring => {
                    passed.iter_mut().zip(&others).for_each(|(value, other)| either(value, other));
                }
                _ => {}
            }
        }
        if let Some((values, globals, others)) = first {
            self.free_of(&values, &globals);
            for (value, other) in passed.iter_mut().zip(&others) {
                match (value, other) {
                    (Value::Tile(tile), Value::Tile(other)) => {
                        free_where_different(&mut tile.items, &other.items);
                    }
                    (Value::Index(one), Value::Index(other)) if one == other => {}
                    _ => return Err("what is passed out is not fixed".to_string()),
                }
            }
        }
        let results = list(results.trim().trim_end_matches('='));
        if results.len() != passed.len() {
            return Err("another number of values passed out than results".to_string());
        }
        self.values.extend(results.into_iter().zip(passed));
        Ok(end)
    }

    // ---- elements
    /// The scalar of a name or of a literal index.
    fn scalar(&self, name: &str) -> Said<Tile> {
        match self.value(name)? {
            Value::Tile(tile) if tile.items.len() == 1 => Ok(tile),
            Value::Index(_) if name.trim().starts_with('%') => self.tile(name),
            _ => Err(format!("`{name}` is no element")),
        }
    }

    /// The buffer that a name stands for, and the extents and elements that a view gives it.
    fn resolved(&self, name: &str) -> (String, Option<(Vec<usize>, Element)>) {
        let mut at = name.trim().to_string();
        let mut seen = None;
        while let Some(Value::View(of, shape, element)) = self.values.get(&at) {
            seen = seen.or(Some((shape.clone(), *element)));
            at = of.clone();
        }
        (at, seen)
    }

    fn borrowed(&self, name: &str) -> Said<&Tile> {
        match self.values.get(name) {
            Some(Value::Tile(tile)) => Ok(tile),
            _ => Err(format!("`{name}` is no tile")),
        }
    }

    /// Extents and elements of a buffer.
    fn whole(&self, name: &str) -> Said<(Vec<usize>, Element)> {
        let (base, seen) = self.resolved(name.split('[').next().unwrap_or(name));
        if let Some(global) = self.program.globals.iter().find(|g| g.name == base) {
            return Ok((global.extents.clone(), global.element));
        }
        let tile = self.borrowed(&base)?;
        Ok(seen.unwrap_or_else(|| (tile.shape.clone(), tile.element)))
    }

    fn element(&mut self, place: &str) -> Said<Tile> {
        let (name, indices) = self.subscripts(place)?;
        self.get_at(&name, &indices)
    }

    fn set_element(&mut self, place: &str, item: Tile) -> Said<()> {
        let (name, indices) = self.subscripts(place)?;
        self.set_at(&name, &indices, item)
    }

    fn subscripts(&self, place: &str) -> Said<(String, Vec<usize>)> {
        let (name, rest) = place.split_once('[').ok_or("no subscripts")?;
        let indices = list(rest.trim().trim_end_matches(']'))
            .iter()
            // Below zero it is far above: what a bound leaves out, or an error.
            .map(|s| Ok(self.index(s)? as usize))
            .collect::<Said<_>>()?;
        Ok((name.trim().to_string(), indices))
    }

    fn get_at(&mut self, name: &str, indices: &[usize]) -> Said<Tile> {
        let (base, seen) = self.resolved(name);
        let measuring = self.measuring;
        if let Some(number) = self.program.globals.iter().position(|g| g.name == base) {
            let bounds = self.bounds(number)?;
            let global = &mut self.program.globals[number];
            global.is_read = true;
            let item = match global.reached(indices, &bounds, measuring)? {
                _ if measuring => Item { bits: 0, sure: Sure::Free },
                Some(at) => global.items[at],
                None => Item::exact(0),
            };
            return Ok(Tile::filled(vec![], global.element, item));
        }
        let tile = self.borrowed(&base)?;
        let (shape, element) = seen.unwrap_or_else(|| (tile.shape.clone(), tile.element));
        let item = seen_in(&tile.items, tile.element, flat(&shape, indices)?, element)?;
        let free = Item { sure: Sure::Free, ..item };
        let item = if item.sure == Sure::Unwritten { free } else { item };
        Ok(Tile::filled(vec![], element, item))
    }

    fn set_at(&mut self, name: &str, indices: &[usize], value: Tile) -> Said<()> {
        let (base, seen) = self.resolved(name);
        let measuring = self.measuring;
        let item = *value.items.first().ok_or("no element")?;
        if let Some(number) = self.program.globals.iter().position(|g| g.name == base) {
            let bounds = self.bounds(number)?;
            let global = &mut self.program.globals[number];
            if global.element != value.element {
                return Err("elements of another type".to_string());
            }
            global.is_result = true;
            let at = global.reached(indices, &bounds, measuring)?;
            if let Some(at) = at.filter(|_| !measuring) {
                global.items[at] = item;
            }
            return Ok(());
        }
        let Some(Value::Tile(tile)) = self.values.get_mut(&base) else {
            return Err(format!("`{base}` is no buffer"));
        };
        let (shape, element) = seen.unwrap_or_else(|| (tile.shape.clone(), tile.element));
        if element != value.element {
            return Err("elements of another type".to_string());
        }
        let own = tile.element;
        put_in(&mut tile.items, own, flat(&shape, indices)?, (element, item))
    }

    // ---- tile operations in place
    fn copy_in_place(&mut self, rest: &str) -> Said<()> {
        let inputs = list(rest.split('{').next().unwrap_or(""));
        let [from, to] = &inputs[..] else { return Err("two operands".to_string()) };
        let corner = |this: &Self, place: &str| -> Said<(String, Option<Vec<usize>>)> {
            if place.contains('[') {
                let (name, at) = this.subscripts(place)?;
                return Ok((name, Some(at)));
            }
            Ok((place.trim().to_string(), None))
        };
        let ((from, at_from), (to, at_to)) = (corner(self, from)?, corner(self, to)?);
        let shape = match (&at_from, &at_to) {
            (_, None) => self.whole(&to)?.0,
            (None, _) => self.whole(&from)?.0,
            _ => return Err("two parts".to_string()),
        };
        let at = |corner: &Option<Vec<usize>>, rank: usize, point: &[usize]| -> Vec<usize> {
            let start = corner.clone().unwrap_or_else(|| vec![0; rank]);
            let outer = rank - point.len();
            let own = |d: usize| if d < outer { 0 } else { point[d - outer] };
            (0..rank).map(|d| start[d].wrapping_add(own(d))).collect()
        };
        let ranks = (self.whole(&from)?.0.len(), self.whole(&to)?.0.len());
        let element = self.whole(&to)?.1;
        for point in points(&shape) {
            let item = self.get_at(&from, &at(&at_from, ranks.0, &point))?;
            let item = if item.element == element {
                item
            } else {
                super::compute::converted(&item, element)?
            };
            self.set_at(&to, &at(&at_to, ranks.1, &point), item)?;
        }
        Ok(())
    }

    fn reduce_in_place(&mut self, rest: &str) -> Said<()> {
        let inputs = list(rest.split('{').next().unwrap_or(""));
        let [from, to] = &inputs[..] else { return Err("two operands".to_string()) };
        let tile = self.gathered(from)?;
        let axis: usize = attribute(rest, "axis").and_then(|a| a.parse().ok()).ok_or("no axis")?;
        let mut shape = tile.shape.clone();
        shape.remove(axis);
        let element = tile.element;
        let rest = rest.replace("kind = sum", "kind = add");
        let out = if self.measuring {
            Tile::filled(shape.clone(), element, Item { bits: 0, sure: Sure::Free })
        } else {
            compute("reduce", &rest, &[tile], (shape.clone(), element), &self.program.unit)?
        };
        let (own, _) = self.whole(to)?;
        for (point, item) in points(&own).iter().zip(&out.items) {
            self.set_at(to, point, Tile::filled(vec![], element, *item))?;
        }
        Ok(())
    }

    fn product_in_place(&mut self, rest: &str) -> Said<()> {
        let inputs = list(rest.split('{').next().unwrap_or(""));
        let [a, b, c] = &inputs[..] else { return Err("three operands".to_string()) };
        let turned = |this: &mut Self, name: &str, key: &str| -> Said<Tile> {
            let tile = this.gathered(name)?;
            if !rest.contains(key) {
                return Ok(tile);
            }
            let shape = vec![tile.shape[1], tile.shape[0]];
            let element = tile.element;
            compute("trans", "", &[tile], (shape, element), &this.program.unit)
        };
        let (a, b) = (turned(self, a, "transpose_a")?, turned(self, b, "transpose_b")?);
        let into = self.gathered(c)?;
        let (shape, element) = (into.shape.clone(), into.element);
        let out = if self.measuring {
            into
        } else {
            // Factors of f32 are read with fewer bits where no unit reads all.
            let reads_whole = self.program.unit.reads_whole;
            let how = if reads_whole { "" } else { "{inputPrecision = tf32}" };
            compute("mma", how, &[a, b, into], (shape.clone(), element), &self.program.unit)?
        };
        for (point, item) in points(&shape).iter().zip(&out.items) {
            self.set_at(c, point, Tile::filled(vec![], element, *item))?;
        }
        Ok(())
    }

    /// All elements of a buffer.
    fn gathered(&mut self, name: &str) -> Said<Tile> {
        let (shape, element) = self.whole(name)?;
        let items = points(&shape)
            .iter()
            .map(|point| Ok(self.get_at(name, point)?.items[0]))
            .collect::<Said<_>>()?;
        Ok(Tile { shape, element, items })
    }
}

impl super::Global {
    /// The number of an element; extents that are not written grow to it while measuring.
    /// The number of an element; `None` of one that bounds leave out.
    fn reached(
        &mut self,
        indices: &[usize],
        bounds: &[Option<usize>],
        measuring: bool,
    ) -> Said<Option<usize>> {
        if indices.len() != self.extents.len() {
            return Err("another number of subscripts than dimensions".to_string());
        }
        let mut inside = true;
        for (dim, at) in indices.iter().enumerate() {
            let grows = measuring && self.written[dim].is_none();
            if let Some(bound) = bounds.get(dim).copied().flatten() {
                inside &= *at < bound;
                if grows {
                    self.extents[dim] = bound;
                } else if bound > self.extents[dim] {
                    return Err(format!("{} has fewer than its bounds", self.name));
                }
            } else if *at > isize::MAX as usize {
                return Err("below zero".to_string());
            } else if grows {
                self.extents[dim] = self.extents[dim].max(at + 1);
            } else if *at >= self.extents[dim] {
                return Err(format!("leaves {}", self.name));
            }
        }
        if inside { flat(&self.extents, indices).map(Some) } else { Ok(None) }
    }
}

/// Bits of an element below 2^bits.
fn low(bits: u32) -> u64 {
    1u64.checked_shl(bits).map_or(u64::MAX, |n| n - 1)
}

/// An element of a view: other elements are seen through it as the bits they have, of which those
/// of an element that is only near have no one value.
fn seen_in(items: &[Item], own: Element, at: usize, as_element: Element) -> Said<Item> {
    let beyond = "beyond the buffer";
    if own == as_element {
        return Ok(*items.get(at).ok_or(beyond)?);
    }
    let (own, seen) = (own.bits(), as_element.bits());
    let as_bits = |item: &Item| if item.sure == Sure::Bits { Sure::Bits } else { Sure::Free };
    if own >= seen {
        let many = (own / seen) as usize;
        let item = items.get(at / many).ok_or(beyond)?;
        let bits = (item.bits >> ((at % many) as u32 * seen)) & low(seen);
        return Ok(Item { bits, sure: as_bits(item) });
    }
    let many = (seen / own) as usize;
    let parts = items.get(at * many..(at + 1) * many).ok_or(beyond)?;
    let mut out = Item { bits: 0, sure: Sure::Bits };
    for (k, part) in (0u32..).zip(parts) {
        out.bits |= (part.bits & low(own)) << (k * own);
        if as_bits(part) == Sure::Free {
            out.sure = Sure::Free;
        }
    }
    Ok(out)
}

/// Writes an element of a view.
fn put_in(
    items: &mut [Item],
    own: Element,
    at: usize,
    (as_element, item): (Element, Item),
) -> Said<()> {
    let beyond = "beyond the buffer";
    if own == as_element {
        *items.get_mut(at).ok_or(beyond)? = item;
        return Ok(());
    }
    let (own, seen) = (own.bits(), as_element.bits());
    let sure = if item.sure == Sure::Bits { Sure::Bits } else { Sure::Free };
    if own >= seen {
        let many = (own / seen) as usize;
        let whole = items.get_mut(at / many).ok_or(beyond)?;
        let shift = (at % many) as u32 * seen;
        let bits = (whole.bits & !(low(seen) << shift)) | ((item.bits & low(seen)) << shift);
        let both = sure == Sure::Bits && (many == 1 || whole.sure == Sure::Bits);
        *whole = Item { bits, sure: if both { Sure::Bits } else { Sure::Free } };
        return Ok(());
    }
    let many = (seen / own) as usize;
    let parts = items.get_mut(at * many..(at + 1) * many).ok_or(beyond)?;
    for (k, part) in (0u32..).zip(parts) {
        *part = Item { bits: (item.bits >> (k * own)) & low(own), sure };
    }
    Ok(())
}

/// What one part of a branch passes out or the other one, while tensors are measured: they reach as
/// far as the greater index says.
fn either(value: &mut Value, other: &Value) {
    match (value, other) {
        (Value::Index(one), Value::Index(other)) => *one = (*one).max(*other),
        (Value::Tile(one), Value::Tile(other)) => {
            free_where_different(&mut one.items, &other.items)
        }
        _ => {}
    }
}

/// What two orders of iterations leave different is not fixed.
fn free_where_different(items: &mut [Item], other: &[Item]) {
    for (item, other) in items.iter_mut().zip(other) {
        if item.bits != other.bits || item.sure != other.sure {
            *item = Item { sure: Sure::Free, ..*item };
        }
    }
}

/// All points of a box, the last dimension fastest.
fn points(extents: &[usize]) -> Vec<Vec<usize>> {
    let count: usize = extents.iter().product();
    (0..count)
        .map(|n| {
            let mut rest = n;
            let mut out: Vec<usize> = extents
                .iter()
                .rev()
                .map(|e| {
                    let here = rest % e;
                    rest /= e;
                    here
                })
                .collect();
            out.reverse();
            out
        })
        .collect()
}

fn flat(extents: &[usize], indices: &[usize]) -> Said<usize> {
    if extents.len() != indices.len() {
        return Err("another number of subscripts than dimensions".to_string());
    }
    extents.iter().zip(indices).try_fold(0, |sum, (extent, at)| {
        if at < extent { Ok(sum * extent + at) } else { Err("beyond the buffer".to_string()) }
    })
}

/// Where a part of a condition ends: at its bracket, or at that of its `else`.
fn part_end(body: &[String], at: usize) -> Option<usize> {
    let mut depth = 1;
    (at + 1..body.len()).find(|k| {
        let line = &body[*k];
        depth -= i32::from(line.starts_with('}'));
        let ends = depth == 0;
        depth += i32::from(line.ends_with('{'));
        ends
    })
}
