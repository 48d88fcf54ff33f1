//! The blocks of a launch: how many, with which index arguments, one after the other.

use super::machine::Machine;
use super::text::list;
use super::{Given, Global, Interpreted, Said};

/// Multiples of what an argument is a multiple of, that are tried until loops turn and blocks are.
const MULTIPLES: [i64; 18] =
    [1, 2, 3, 4, 6, 8, 16, 24, 32, 48, 64, 100, 128, 200, 256, 320, 512, 1024];
/// Most blocks that are run.
const MOST: u32 = 12;

impl Interpreted {
    /// Runs all blocks.
    pub(super) fn run_blocks(&mut self, measuring: bool) -> Said<()> {
        let [x, y, z] = self.grid;
        (0..x * y * z).try_for_each(|at| self.run_block(measuring, at))
    }

    fn run_block(&mut self, measuring: bool, at: u32) -> Said<()> {
        let [x, y, _] = self.grid;
        let block = [at % x, at / x % y, at / x / y];
        Machine::new(self, measuring, block).run()
    }

    /// Whether what memory holds afterwards depends on the order of the blocks.
    ///
    /// # Errors
    /// What is not understood.
    pub fn is_ordered(&self) -> Said<bool> {
        let blocks: u32 = self.grid.iter().product();
        if blocks == 1 {
            return Ok(false);
        }
        let mut backwards = self.clone();
        (0..blocks).rev().try_for_each(|at| backwards.run_block(false, at))?;
        let forwards = self.expect()?;
        let same = |a: &Global, b: &Global| {
            a.items.iter().zip(&b.items).all(|(a, b)| a.bits == b.bits && a.sure == b.sure)
        };
        Ok(!forwards.iter().zip(&backwards.globals).all(|(a, b)| same(a, b)))
    }

    /// The grid that the program says, or a small one along the axes that it asks for; arguments of
    /// which it, or a loop's bound, is computed become large enough for some turns.
    pub(super) fn choose_grid(&mut self, said: Option<&str>, given: Given) -> Said<()> {
        let said = said.map(|said| said.trim_end_matches(['{', '}', ' ']).to_string());
        let computed: Vec<usize> =
            (0..self.indices.len()).filter(|index| self.feeds(*index, said.as_deref())).collect();
        let mut before = self.indices.clone();
        // A grid of several arguments' product has many blocks soon: then each begins with its least.
        for index in &computed {
            self.indices[*index].1 = before[*index].1.max(1);
        }
        if self.set_grid(said.as_deref()).is_ok() && self.grid.iter().product::<u32>() > MOST {
            computed.iter().for_each(|index| before[*index].1 = 1);
        }
        let mut last = Err("no arguments give it blocks".to_string());
        for multiple in MULTIPLES {
            for index in &computed {
                self.indices[*index].1 = before[*index].1.max(1) * multiple;
            }
            if let Err(why) = self.set_grid(said.as_deref()) {
                // More blocks than can be are no reason against few of them.
                last = last.or(Err(why));
                continue;
            }
            let blocks: u32 = self.grid.iter().product();
            let mut run = self.clone();
            let mut machine = Machine::new(&mut run, true, [0; 3]);
            if let Err(why) = machine.run() {
                last = Err(why);
                continue;
            }
            let fewest = machine.fewest;
            let some = said.as_ref().is_none_or(|said| blocks > 1 || !said.contains('%'));
            if computed.is_empty()
                || (blocks <= MOST && some && fewest.is_none_or(|fewest| fewest >= given.turns))
            {
                self.is_bounded |= fewest.is_some();
                return Ok(());
            }
            if blocks <= MOST {
                last = Ok(());
            }
        }
        if last.is_ok() {
            // As many turns as there are with few blocks.
            for index in &computed {
                self.indices[*index].1 = before[*index].1.max(1);
            }
            return self.set_grid(said.as_deref());
        }
        last
    }

    fn set_grid(&mut self, said: Option<&str>) -> Said<()> {
        let asks = |axis: usize| {
            let words = [
                format!("axis = {axis}"),
                format!("block_id {}", ["x", "y", "z"][axis]),
                format!("num_blocks {}", ["x", "y", "z"][axis]),
            ];
            self.body.iter().any(|line| {
                (line.contains("block_id") || line.contains("num_blocks"))
                    && words.iter().any(|word| line.contains(word))
            })
        };
        self.grid = match said {
            None => [0, 1, 2].map(|axis| if asks(axis) { [3, 2, 2][axis] } else { 1 }),
            Some(said) => {
                let inside = said.strip_prefix('(').and_then(|s| s.strip_suffix(')'));
                let mut grid = [1; 3];
                for (place, part) in grid.iter_mut().zip(list(inside.ok_or("no grid")?)) {
                    let n = self.value_of(&part)?;
                    *place = u32::try_from(n).ok().filter(|n| *n > 0).ok_or("no blocks")?;
                }
                let all = grid.iter().try_fold(1u32, |all, n| all.checked_mul(*n));
                all.map(|_| grid).ok_or("more blocks than are counted")?
            }
        };
        Ok(())
    }

    /// The value of an expression of numbers, arguments, `cdiv`, `min`, `max` and products.
    fn value_of(&self, text: &str) -> Said<i64> {
        let text = text.trim();
        let product = text.match_indices('*').find(|(at, _)| {
            let before = &text[..*at];
            before.matches('(').count() == before.matches(')').count()
        });
        if let Some((a, b)) = product.map(|(at, _)| (&text[..at], &text[at + 1..])) {
            let product = self.value_of(a)?.checked_mul(self.value_of(b)?);
            return product.ok_or(format!("grid {text}"));
        }
        for word in ["cdiv", "min", "max"] {
            let inside = text.strip_prefix(word).and_then(|t| t.trim().strip_prefix('('));
            if let Some(inside) = inside.and_then(|t| t.strip_suffix(')')) {
                let both = list(inside);
                let [a, b] = &both[..] else { return Err(format!("grid {text}")) };
                let (a, b) = (self.value_of(a)?, self.value_of(b)?);
                return Ok(match word {
                    "cdiv" => (a + b - 1) / b,
                    "min" => a.min(b),
                    _ => a.max(b),
                });
            }
        }
        let argument = |(name, _): &&(String, i64)| {
            name.trim_start_matches('%') == text.trim_start_matches('%')
        };
        text.parse()
            .ok()
            .or_else(|| self.indices.iter().find(argument).map(|(_, n)| *n))
            .ok_or_else(|| format!("grid {text}"))
    }

    /// Whether the grid, or a loop's bound that is computed, is computed of an index argument.
    fn feeds(&self, index: usize, grid: Option<&str>) -> bool {
        let name = &self.indices[index].0;
        let words = |text: &str| -> Vec<String> {
            text.split(|c: char| !(c.is_alphanumeric() || "%_".contains(c)))
                .map(String::from)
                .collect()
        };
        if grid.is_some_and(|grid| {
            words(grid)
                .iter()
                .any(|word| word.trim_start_matches('%') == name.trim_start_matches('%'))
        }) {
            return true;
        }
        let bounds = self.body.iter().filter_map(|line| {
            let bound = line.split_once("scf.for")?.1.split_once(" to ")?.1;
            Some(bound.split_once(" step ")?.0.trim().to_string())
        });
        let mut made: Vec<String> =
            bounds.filter(|b| !self.indices.iter().any(|(n, _)| n == b)).collect();
        let mut at = 0;
        while let Some(next) = made.get(at).cloned() {
            at += 1;
            let line = self
                .body
                .iter()
                .find(|line| line.split_once('=').is_some_and(|(result, _)| result.trim() == next));
            for word in line.map(|line| words(line)).unwrap_or_default() {
                if word.starts_with('%') && !made.contains(&word) {
                    made.push(word);
                }
            }
        }
        made.contains(name)
    }
}
