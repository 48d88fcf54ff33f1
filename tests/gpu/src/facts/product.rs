//! Products of operands in registers: operands drawn at random stand where the tables' layouts say,
//! and the result is read where they say.

use super::probe::{LANES, Probe, State};
use super::{Asked, Finding, any_word, copies, draws, said};
use crate::Device;
use lanebook::TABLES;
use lanebook::layout::{AxisId, Coord, Layout};
use lanebook::tables::{Instance, MatrixShape};
use lanebook_gen::fact;
use lanebook_kernels::hunt::choices::Choices;
use lanebook_kernels::interpret::element::Element;

/// Draws of operands for each instance.
const TRIALS: usize = 8;

/// Where each element stands: (lane, bit of its tuple) by row-major number, copies included.
///
/// # Errors
/// A layout that does not say it.
pub fn places(layout: &Layout) -> Result<Vec<Vec<(usize, usize)>>, String> {
    let layout = layout.view();
    let size = layout.size().and_then(|size| size.value()).map_err(|e| format!("{e:?}"))?;
    let mut out = Vec::new();
    for x in 0..u64::try_from(size).map_err(|e| e.to_string())? {
        let place = |at: &Coord| {
            let lane = usize::try_from(at.get(AxisId::LANE)).ok().filter(|lane| *lane < LANES)?;
            Some((lane, usize::try_from(at.get(AxisId::BIT)).ok()?))
        };
        let found: Option<Vec<_>> = copies(&layout, x)?.iter().map(place).collect();
        out.push(found.ok_or_else(|| format!("element {x} is in no lane of a warp"))?);
    }
    Ok(out)
}

/// The patterns of an operand's elements, by row-major number.
type Patterns = Vec<u64>;

/// An operand of a product: where its elements stand, and how wide they are.
struct Side {
    operand: u8,
    places: Vec<Vec<(usize, usize)>>,
    bits: usize,
}

impl Side {
    fn of(instance: &Instance<'_>, operand: u8) -> Option<(Self, &'static str)> {
        let dtype = TABLES.dtype(instance.dtype(operand)?)?;
        let places = places(&instance.layout(operand)?).ok()?;
        Some((Self { operand, places, bits: usize::from(dtype.bits) }, dtype.name))
    }

    /// Puts patterns into the registers.
    fn put(&self, probe: &Probe, state: &mut State, patterns: &Patterns) -> Option<()> {
        let number = usize::from(self.operand);
        let ((first, count), wide) = (probe.operands[number], probe.bits[number]);
        for (pattern, places) in patterns.iter().zip(&self.places) {
            for (lane, bit) in places {
                let slot = first + (bit / wide < count).then_some(bit / wide)?;
                let mask = (u64::MAX >> (64 - self.bits)) << (bit % wide);
                let word = &mut state.registers[slot][*lane];
                *word = *word & !mask | (pattern << (bit % wide)) & mask;
            }
        }
        Some(())
    }

    /// Reads patterns from the registers; of copies that differ, where.
    fn get(&self, probe: &Probe, state: &State) -> Result<Patterns, String> {
        let number = usize::from(self.operand);
        let ((first, _), wide) = (probe.operands[number], probe.bits[number]);
        let read = |(lane, bit): &(usize, usize)| {
            (state.registers[first + bit / wide][*lane] >> (bit % wide))
                & (u64::MAX >> (64 - self.bits))
        };
        let mut out = Vec::new();
        for (x, places) in self.places.iter().enumerate() {
            let values: Vec<u64> = places.iter().map(read).collect();
            let first = *values.first().ok_or("an element that is nowhere")?;
            if values.iter().any(|value| *value != first) {
                return Err(format!("copies of element {x} differ"));
            }
            out.push(first);
        }
        Ok(out)
    }
}

/// An element type by its name, for whole numbers that it holds exactly.
#[derive(Clone, Copy)]
enum Number {
    /// Signed or not, of so many bits.
    Whole(bool, usize),
    /// A bit of a mask.
    Bit,
    /// A float.
    Float(Element),
}

impl Number {
    fn of(name: &str, bits: usize) -> Option<Self> {
        Some(match name {
            "b1" | "u1" | "i1" => Self::Bit,
            // 19 significant bits of the word are read; small whole numbers have fewer.
            "tf32" => Self::Float(Element::of("f32").ok()?),
            _ if name.starts_with('u') => Self::Whole(false, bits),
            _ if name.starts_with('i') || name.starts_with('s') => Self::Whole(true, bits),
            _ => Self::Float(Element::of(name).ok()?),
        })
    }

    fn draw(self, draws: &mut Choices) -> i64 {
        match self {
            Self::Whole(true, bits) => {
                draws.below(1 << bits.min(8)) as i64 - (1 << (bits.min(8) - 1))
            }
            Self::Whole(false, bits) => draws.below(1 << bits.min(8)) as i64,
            Self::Bit => draws.below(2) as i64,
            Self::Float(_) => draws.below(7) as i64 - 3,
        }
    }

    fn encode(self, value: i64) -> u64 {
        match self {
            Self::Whole(..) | Self::Bit => value as u64,
            Self::Float(element) => element.encode(value as f64),
        }
    }

    fn decode(self, pattern: u64) -> f64 {
        match self {
            Self::Whole(true, bits) => ((pattern << (64 - bits)) as i64 >> (64 - bits)) as f64,
            Self::Whole(false, _) | Self::Bit => pattern as f64,
            Self::Float(element) => element.decode(pattern),
        }
    }
}

/// How the bits of a product of single bits meet.
fn meets_by_xor(text: &str) -> bool {
    text.contains(".xor.popc")
}

/// Holds a product against the device; `None` if it is none, or not one of registers alone.
pub fn hold(device: &mut dyn Device, asked: Asked<'_>, instance: &Instance<'_>) -> Option<Finding> {
    let one = One::of(instance)?;
    let fact = fact::product(&TABLES, instance)?;
    let text = said(instance);
    let mut finding = Finding {
        kind: "product",
        arch: asked.name.into(),
        name: fact::name(instance),
        text,
        fact,
        trials: 0,
        cycles: String::new(),
        differs: None,
    };
    let mut draws = draws(&finding.name);
    for trial in 0..TRIALS {
        match one.trial(device, asked, &finding.text, &mut draws, trial as i64) {
            Ok(()) => finding.trials += 1,
            Err(why) => {
                finding.differs = Some(why);
                break;
            }
        }
    }
    Some(finding)
}

/// A product of dense operands, to be asked for sums that are chosen.
pub struct Instanced<'i, 'a> {
    one: One<'i, 'a>,
    numbers: [Number; 4],
}

impl<'i, 'a> Instanced<'i, 'a> {
    /// A product of registers alone, without indices.
    #[must_use]
    pub fn of(instance: &'i Instance<'a>) -> Option<Self> {
        let one = One::of(instance).filter(|one| one.index.is_none())?;
        let numbers =
            [&one.a, &one.b, &one.c, &one.d].map(|(side, name)| Number::of(name, side.bits));
        let [Some(a), Some(b), Some(c), Some(d)] = numbers else { return None };
        Some(Self { one, numbers: [a, b, c, d] })
    }

    /// Whether all that meets in it are floats.
    #[must_use]
    pub fn is_of_floats(&self) -> bool {
        self.numbers.iter().all(|number| matches!(number, Number::Float(_)))
    }

    /// log2 of small factors that every element type holds exactly.
    #[must_use]
    pub fn least(&self) -> [i32; 2] {
        let least = |number: Number| match number {
            // Half way down from 1 to the least normal number, so that products stay normal.
            Number::Float(element) => (element.step(0.0).log2() as i32 + element.precision()) / 2,
            _ => 0,
        };
        [least(self.numbers[0]), least(self.numbers[1])]
    }

    /// The side whose type has numbers below the least normal one, and how many bits the least of
    /// them lacks.
    #[must_use]
    pub fn subnormal(&self) -> Option<(usize, i32)> {
        let below = |side: usize| match self.numbers[side] {
            // Of 32 bits fewer are read.
            Number::Float(element) if element.bits() < 32 && element.is_subnormal(1) => {
                Some(element.precision() - 1)
            }
            _ => None,
        };
        [1, 0].into_iter().find_map(|side| Some((side, below(side)?)))
    }

    /// Factors of a term with the least number of a side's type, and of one so many binary places
    /// below it, of normal numbers.
    #[must_use]
    pub fn below(&self, side: usize, distance: i32) -> Option<[[f64; 2]; 2]> {
        let (Number::Float(of), Number::Float(other)) =
            (self.numbers[side], self.numbers[1 - side])
        else {
            return None;
        };
        let least = of.step(0.0).log2() as i32;
        // As large as the other's type has, within what a sum holds well.
        let has = |power: &i32| other.decode(other.encode(2f64.powi(*power))) == 2f64.powi(*power);
        let most = (0..=120).rev().find(has)?;
        let small = least + most - distance;
        let pair = |factor: i32, against: i32| {
            let mut out = [2f64.powi(against); 2];
            out[side] = 2f64.powi(factor);
            out
        };
        let normal = least + of.precision() - 1;
        // The factor on this side as near 1 as the other one's range lets it be.
        let own = (small / 2).clamp(normal, 0);
        Some([pair(least, most), pair(own, small - own)])
    }

    /// Significant bits of the sum's type.
    #[must_use]
    pub fn bits(&self) -> i32 {
        match self.numbers[3] {
            Number::Float(element) => element.precision(),
            _ => i32::MAX,
        }
    }

    /// Whether the factors and a sum are numbers of their types.
    #[must_use]
    pub fn holds(&self, factors: [f64; 2], sum: f64) -> bool {
        let exact = |number: Number, value: f64| match number {
            Number::Float(element) => element.decode(element.encode(value)) == value,
            _ => false,
        };
        exact(self.numbers[0], factors[0])
            && exact(self.numbers[1], factors[1])
            && exact(self.numbers[3], sum)
    }

    /// The sum of products of these factors, and of what was there before, in every element of D.
    ///
    /// # Errors
    /// What the device says.
    pub fn sum(
        &self,
        device: &mut dyn Device,
        asked: Asked<'_>,
        terms: &[[f64; 2]],
        before: f64,
    ) -> Result<Vec<f64>, String> {
        let probe =
            Probe::new(asked, self.one.instance, |_| Some(0), (0, None)).ok_or("not a probe")?;
        let shape = self.one.shape;
        let (m, n, k) = (usize::from(shape.m), usize::from(shape.n), usize::from(shape.k));
        let pattern = |number: Number, value: f64| match number {
            Number::Float(element) => element.encode(value),
            _ => 0,
        };
        // The terms stand as far apart as the depth allows.
        let column = |at: usize| {
            terms
                .iter()
                .enumerate()
                .find(|(number, _)| number * (k - 1) == at)
                .map(|(_, term)| term)
        };
        let [na, nb, nc, nd] = self.numbers;
        let a = (0..m * k).map(|x| column(x % k).map_or(0, |term| pattern(na, term[0]))).collect();
        let b = (0..k * n).map(|x| column(x / n).map_or(0, |term| pattern(nb, term[1]))).collect();
        let c = vec![pattern(nc, before); m * n];
        let mut state = probe.state();
        for (side, patterns) in [(&self.one.a.0, &a), (&self.one.b.0, &b), (&self.one.c.0, &c)] {
            side.put(&probe, &mut state, patterns).ok_or("a tuple without such a register")?;
        }
        let after = probe.run(device, &state)?;
        let got = self.one.d.0.get(&probe, &after)?;
        Ok(got.into_iter().map(|pattern| nd.decode(pattern)).collect())
    }
}

struct One<'i, 'a> {
    instance: &'i Instance<'a>,
    shape: MatrixShape,
    a: (Side, &'static str),
    b: (Side, &'static str),
    c: (Side, &'static str),
    d: (Side, &'static str),
    index: Option<(Side, &'static str)>,
}

impl<'i, 'a> One<'i, 'a> {
    /// The product of an instance, if its operands are registers alone.
    fn of(instance: &'i Instance<'a>) -> Option<Self> {
        let shape = instance.shape()?;
        let more = instance.atom.more;
        let plain = more.is_none_or(|more| {
            more.blocks == 1
                && more.scales == (None, None)
                && more.broadcasts.is_empty()
                && more.shared.is_empty()
                && more.runs.is_none()
                && more.tensor.is_none()
        });
        if !plain {
            return None;
        }
        let sides = [shape.a, shape.b, shape.c, shape.d].map(|operand| Side::of(instance, operand));
        let [a, b, c, d] = sides.map(|side| side.filter(|(_, name)| !name.is_empty()));
        let (a, b, c, d) = (a?, b?, c?, d?);
        let index = match more.and_then(|more| more.index) {
            Some(operand) => Some(Side::of(instance, operand)?),
            None => None,
        };
        Some(Self { instance, shape, a, b, c, d, index })
    }

    fn trial(
        &self,
        device: &mut dyn Device,
        asked: Asked<'_>,
        text: &str,
        draws: &mut Choices,
        trial: i64,
    ) -> Result<(), String> {
        // An immediate that says which lanes hold the indices takes each of its values in turn.
        let immediate = |number: u8| {
            let (low, high) = *self.instance.atom.operands.get(usize::from(number))?.range;
            Some(low + trial % (high - low + 1).max(1))
        };
        let probe = Probe::new(asked, self.instance, immediate, (0, None)).ok_or("not a probe")?;
        let (m, n, k) =
            (usize::from(self.shape.m), usize::from(self.shape.n), usize::from(self.shape.k));
        let number = |side: &(Side, &'static str)| {
            Number::of(side.1, side.0.bits).ok_or_else(|| format!("no numbers of {}", side.1))
        };
        let [na, nb, nc, nd] =
            [number(&self.a)?, number(&self.b)?, number(&self.c)?, number(&self.d)?];
        // What no operand's layout covers holds anything.
        let mut state = probe.state();
        state.registers.iter_mut().flatten().for_each(|word| *word = any_word(draws));
        let b: Vec<i64> = (0..k * n).map(|_| nb.draw(draws)).collect();
        let c: Vec<i64> = (0..m * n).map(|_| nc.draw(draws)).collect();
        let stored = self.a.0.places.len() / m;
        let a: Vec<i64> = (0..m * stored).map(|_| na.draw(draws)).collect();
        let (columns, indices) = self.columns(draws, (m, k, stored))?;
        let bad = || "a tuple without such a register".to_string();
        let put = |side: &Side, state: &mut State, patterns: Patterns| {
            side.put(&probe, state, &patterns).ok_or_else(bad)
        };
        put(&self.a.0, &mut state, a.iter().map(|v| na.encode(*v)).collect())?;
        put(&self.b.0, &mut state, b.iter().map(|v| nb.encode(*v)).collect())?;
        put(&self.c.0, &mut state, c.iter().map(|v| nc.encode(*v)).collect())?;
        if let Some((side, _)) = &self.index {
            let moved = self.moved(side, immediate)?;
            put(&moved, &mut state, indices)?;
        }
        let after = probe.run(device, &state)?;
        let got = self.d.0.get(&probe, &after)?;
        for (x, pattern) in got.iter().enumerate() {
            let (row, column) = (x / n, x % n);
            let term = |at: usize| {
                let (left, right) =
                    (a[row * stored + at], b[columns[row * stored + at] * n + column]);
                match na {
                    Number::Bit if meets_by_xor(text) => left ^ right,
                    Number::Bit => left & right,
                    _ => left * right,
                }
            };
            let want = c[x] + (0..stored).map(term).sum::<i64>();
            let got = nd.decode(*pattern);
            if got != want as f64 {
                return Err(format!("D({row}, {column}) is {got}, not {want}"));
            }
        }
        Ok(())
    }

    /// The column of each stored element of A, and the patterns of the indices that say so.
    fn columns(
        &self,
        draws: &mut Choices,
        (m, k, stored): (usize, usize, usize),
    ) -> Result<(Vec<usize>, Patterns), String> {
        let Some((index, name)) = &self.index else {
            return Ok(((0..m * k).map(|x| x % k).collect(), Patterns::new()));
        };
        let (mut columns, mut patterns) = (Vec::new(), Patterns::new());
        let entries = index.places.len() / m;
        match (*name, stored / entries.max(1)) {
            // One of each two columns: the index is written as that of the two halves of it.
            ("u4", 1) => {
                for _ in 0..m {
                    for pair in 0..stored {
                        let at = draws.below(2);
                        columns.push(2 * pair + at);
                        patterns.push(if at == 0 { 0b0100 } else { 0b1110 });
                    }
                }
            }
            // Two of each four columns, or of each four pairs of columns, the lower one first.
            ("u2", run @ (1 | 2)) => {
                for _ in 0..m {
                    for group in 0..entries / 2 {
                        let low = draws.below(3);
                        let high = low + 1 + draws.below(3 - low);
                        for at in [low, high] {
                            patterns.push(at as u64);
                            columns.extend((0..run).map(|inner| (4 * group + at) * run + inner));
                        }
                    }
                }
            }
            (name, run) => return Err(format!("indices of {name} for {run} elements each")),
        }
        Ok((columns, patterns))
    }

    /// The indices where an immediate moves them.
    fn moved(&self, side: &Side, immediate: impl Fn(u8) -> Option<i64>) -> Result<Side, String> {
        let (mut lanes, mut bits) = (0, 0);
        for field in self.instance.atom.more.map_or(&[][..], |more| more.moves) {
            if field.of == side.operand {
                let value = immediate(field.by).and_then(|value| usize::try_from(value).ok());
                let value = value.ok_or("no value of an immediate")?;
                lanes += value * usize::from(field.lanes);
                bits += value * usize::from(field.bits);
            }
        }
        let places = side
            .places
            .iter()
            .map(|all| all.iter().map(|(lane, bit)| (lane + lanes, bit + bits)).collect());
        Ok(Side { operand: side.operand, places: places.collect(), bits: side.bits })
    }
}
