//! Tiles of tensor memory: what is stored into them, added to them and loaded from them, in the order
//! of the text.

use super::Said;
use super::compute::compute;
use super::machine::{Machine, Value};
use super::text::{list, tile_type};
use super::tile::{Item, Tile};

impl Machine<'_> {
    /// One statement; results behind the first are tokens, which say nothing.
    pub(super) fn in_tensor_memory(
        &mut self,
        op: &str,
        (result, inputs): (Option<&str>, &[String]),
        types: &str,
    ) -> Said<()> {
        let result = || {
            let names = list(result.unwrap_or(""));
            let first = names.into_iter().next().ok_or_else(|| "no result".to_string())?;
            // Several under one name.
            Ok::<String, String>(match first.split_once(':') {
                Some((name, _)) => format!("{name}#0"),
                None => first,
            })
        };
        // Behind a tile stand tokens in brackets.
        let input = |k: usize| {
            let name = inputs.get(k).ok_or_else(|| "too few operands".to_string())?;
            Ok::<&str, String>(name.split('[').next().unwrap_or(name).trim())
        };
        let happens = |machine: &Self, k: usize| match inputs.get(k) {
            Some(name) => machine.index(name).map(|n| n != 0),
            None => Ok(true),
        };
        match op.trim_start_matches("ttng.") {
            "tmem_alloc" => {
                let tile = match inputs.first() {
                    Some(name) => self.tile(name)?,
                    None => {
                        let (shape, element) = tile_type(types)?;
                        Tile::filled(shape, element, Item::exact(0))
                    }
                };
                self.values.insert(result()?, Value::Tile(tile));
            }
            "tmem_load" => {
                let tile = self.tile(input(0)?)?;
                self.values.insert(result()?, Value::Tile(tile));
            }
            "tmem_store" => {
                if happens(self, 2)? {
                    let tile = self.tile(input(0)?)?;
                    self.values.insert(input(1)?.to_string(), Value::Tile(tile));
                }
            }
            "tc_gen5_mma" => {
                if happens(self, 4)? {
                    let mut sums = self.tile(input(2)?)?;
                    if !happens(self, 3)? {
                        sums = Tile::filled(sums.shape, sums.element, Item::exact(0));
                    }
                    let (shape, element) = (sums.shape.clone(), sums.element);
                    let tiles = [self.tile(input(0)?)?, self.tile(input(1)?)?, sums];
                    let tile = match self.measuring {
                        true => tiles[2].clone(),
                        false => compute("mma", "", &tiles, (shape, element), &self.program.unit)?,
                    };
                    self.values.insert(input(2)?.to_string(), Value::Tile(tile));
                }
            }
            _ => return Err(format!("a statement on tensor memory: {op}")),
        }
        Ok(())
    }
}
