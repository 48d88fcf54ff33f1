//! Families as they are written: an atom with parameters, and the atom that each choice of them
//! stands for.
//!
//! Texts of the entry (its name, layouts, element types, counts) may mention a parameter in braces,
//! `{N}`, and do arithmetic with one that is a number, `{N/8}`, `{N*2}`. An instance is the entry
//! with all of that put in: an atom like any other. Nothing here decides what is sound; the checks
//! see every instance.
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::schema::{Atom, Name, Number, Role};
use crate::source::Span;
use crate::spanned::Spanned;

/// More instances than this of one atom are refused rather than checked.
const MOST: usize = 4096;

/// A parameter of an atom.
#[derive(Clone, Debug)]
pub struct Param {
    /// The immediate operand that it is.
    pub operand: usize,
    /// Its name.
    pub name: Name,
    /// What it can be.
    pub options: Options,
}

/// What a parameter can be.
#[derive(Clone, Debug)]
pub enum Options {
    /// Words with the element types that they stand for, and shifts.
    Words(Vec<(Name, Name, u8)>),
    /// Numbers, ascending.
    Values(Vec<u16>),
}

impl Param {
    /// How many things it can be.
    #[must_use]
    pub fn count(&self) -> usize {
        match &self.options {
            Options::Words(words) => words.len(),
            Options::Values(values) => values.len(),
        }
    }
    /// Which of them the atom itself stands for: the first word, the greatest number.
    #[must_use]
    pub fn usual(&self) -> usize {
        if matches!(self.options, Options::Words(_)) { 0 } else { self.count().saturating_sub(1) }
    }
}

/// The parameters of an entry, in the order of its operands.
pub fn params(entry: &Atom, diags: &mut Diagnostics) -> Vec<Param> {
    let mut out = Vec::new();
    for (number, operand) in entry.operands.iter().enumerate() {
        let numbers = !operand.values.is_empty() || operand.step.is_some();
        if operand.words.is_empty() && !numbers {
            continue;
        }
        let name = operand.name.clone();
        let mut refuse =
            |what: String, help: &str| diags.push(Diagnostic::at(name.span, what).help(help));
        if operand.role != Role::Immediate {
            refuse(
                format!("parameter `{}` is no immediate", name.value),
                "make its role `immediate`; operands that depend on it name it in braces",
            );
            continue;
        }
        if numbers && !operand.words.is_empty() {
            refuse(format!("parameter `{}` has words and numbers", name.value), "keep one of them");
            continue;
        }
        let options = if numbers {
            if let (Some(step), Some(range)) = (&operand.step, &operand.range)
                && (range.1 - range.0) % i64::from(step.value.max(1)) != 0
            {
                refuse(
                    format!("no steps of {} lead from {} to {}", step.value, range.0, range.1),
                    "both ends of `range` are values",
                );
            }
            let values = match (&operand.step, &operand.range) {
                (Some(step), Some(range)) if step.value > 0 => (range.0..=range.1)
                    .step_by(usize::from(step.value))
                    .filter_map(|v| u16::try_from(v).ok())
                    .collect(),
                _ => operand.values.clone(),
            };
            if values.is_empty() || values[0] == 0 || !values.is_sorted_by(|a, b| a < b) {
                refuse(
                    format!(
                        "the values of parameter `{}` do not ascend from 1 or more",
                        name.value
                    ),
                    "write `values: [8, 16]`, or `range: (8, 256), step: 8`",
                );
                continue;
            }
            Options::Values(values)
        } else {
            for (what, count) in
                [("dtypes", operand.dtypes.len()), ("shifts", operand.shifts.len())]
            {
                if count != 0 && count != operand.words.len() {
                    refuse(
                        format!(
                            "parameter `{}` has {} words and {count} `{what}`",
                            name.value,
                            operand.words.len()
                        ),
                        "one for each word, or leave them out",
                    );
                }
            }
            let word = |(k, word): (usize, &Name)| {
                (
                    word.clone(),
                    operand.dtypes.get(k).unwrap_or(word).clone(),
                    operand.shifts.get(k).copied().unwrap_or(0),
                )
            };
            Options::Words(operand.words.iter().enumerate().map(word).collect())
        };
        if !entry.name.contains(&format!("{{{}}}", name.value)) {
            refuse(
                format!("parameter `{0}` is not in the atom's name", name.value),
                "show it there in braces, so that every instance has a name of its own",
            );
            continue;
        }
        out.push(Param { operand: number, name, options });
    }
    let many = out.len() > lanebook_tables::MAX_PARAMS
        || out
            .iter()
            .map(Param::count)
            .try_fold(1usize, usize::checked_mul)
            .is_none_or(|n| n > MOST);
    if many {
        let message = format!("atom `{}` has too many parameters or instances", entry.name.value);
        diags.push(Diagnostic::at(entry.name.span, message).help(format!(
            "{} parameters and {MOST} instances are the most: split it",
            lanebook_tables::MAX_PARAMS
        )));
        out.clear();
    }
    out
}

/// Every choice of the parameters, the first parameter fastest.
#[must_use]
pub fn choices(params: &[Param]) -> Vec<Vec<usize>> {
    let mut out = vec![Vec::new()];
    for param in params.iter().rev() {
        out = out
            .iter()
            .flat_map(|rest: &Vec<usize>| {
                (0..param.count()).map(|k| [vec![k], rest.clone()].concat())
            })
            .collect();
    }
    out.sort_by(|a, b| a.iter().rev().cmp(b.iter().rev()));
    out
}

/// The choice that the atom itself stands for.
#[must_use]
pub fn usual(params: &[Param]) -> Vec<usize> {
    params.iter().map(Param::usual).collect()
}

/// The entry with its parameters chosen. `named`: also in its name.
pub fn instance(
    entry: &Atom,
    params: &[Param],
    choice: &[usize],
    named: bool,
    diags: &mut Diagnostics,
) -> Atom {
    let mut fill = Fill { params, choice, diags };
    let mut out = entry.clone();
    if named {
        out.name.value = fill.text(&entry.name, false);
    }
    for operand in &mut out.operands {
        let operand = &mut operand.value;
        let shift = operand.dtype.as_ref().map_or(0, |dtype| fill.shift(dtype));
        if let Some(dtype) = &mut operand.dtype {
            dtype.value = fill.text(dtype, true);
        }
        if let Some(layout) = &mut operand.layout {
            layout.value = fill.text(layout, false);
            if shift > 0 {
                layout.value.push_str(&format!(" + {shift}@bit"));
            }
        }
        operand.registers = Number::Plain(fill.number(&operand.registers).unwrap_or(0));
    }
    if let Some(matrix) = &mut out.matrix {
        let matrix = &mut matrix.value;
        for extent in [&mut matrix.m, &mut matrix.n, &mut matrix.k] {
            *extent = Number::Plain(fill.number(extent).unwrap_or(0));
        }
    }
    out
}

/// The parameter that a text consists of, `{ta}`.
#[must_use]
pub fn mentioned(text: &str) -> Option<&str> {
    text.strip_prefix('{')?.strip_suffix('}')
}

struct Fill<'a> {
    params: &'a [Param],
    choice: &'a [usize],
    diags: &'a mut Diagnostics,
}

impl Fill<'_> {
    fn param(&self, name: &str) -> Option<(&Param, usize)> {
        let at = self.params.iter().position(|p| p.name.value == name)?;
        Some((&self.params[at], *self.choice.get(at)?))
    }

    fn shift(&self, dtype: &Name) -> u8 {
        match mentioned(dtype).and_then(|name| self.param(name)) {
            Some((Param { options: Options::Words(words), .. }, k)) => {
                words.get(k).map_or(0, |w| w.2)
            }
            _ => 0,
        }
    }

    /// The text with what stands in braces replaced. `dtype`: a word becomes the element type that
    /// it stands for.
    fn text(&mut self, text: &Spanned<String>, dtype: bool) -> String {
        let mut out = String::new();
        let mut rest = text.value.as_str();
        while let Some((before, after)) = rest.split_once('{') {
            out.push_str(before);
            let Some((inside, after)) = after.split_once('}') else {
                self.refuse(text.span, "a `{` without its `}`".into());
                return out;
            };
            match self.replaced(inside, dtype) {
                Ok(word) => out.push_str(&word),
                Err(what) => self.refuse(text.span, what),
            }
            rest = after;
        }
        out.push_str(rest);
        out
    }

    fn refuse(&mut self, span: Span, what: String) {
        self.diags.push(Diagnostic::at(span, what).help(
            "parameters are immediates with `words` or `values`: `{ta}`, `{N}`, `{N/8}`, `{N*2}`",
        ));
    }

    fn replaced(&self, inside: &str, dtype: bool) -> Result<String, String> {
        let end = inside.find(['/', '*']).unwrap_or(inside.len());
        let (name, mut rest) = inside.split_at(end);
        let (param, k) =
            self.param(name).ok_or_else(|| format!("`{{{name}}}` is no parameter of this atom"))?;
        let mut number = match &param.options {
            Options::Words(words) if rest.is_empty() => {
                return Ok(if dtype { words[k].1.value.clone() } else { words[k].0.value.clone() });
            }
            Options::Words(_) => {
                return Err(format!("`{name}` is a word, there is no arithmetic with it"));
            }
            Options::Values(values) => u64::from(values[k]),
        };
        while let Some(sign) = rest.chars().next() {
            let end = rest[1..].find(['/', '*']).map_or(rest.len(), |at| at + 1);
            let by: u64 = rest[1..end]
                .parse()
                .ok()
                .filter(|by| *by > 0)
                .ok_or_else(|| format!("`{{{inside}}}`: expected a number after `{sign}`"))?;
            number = match sign {
                '*' => number * by,
                _ if number.is_multiple_of(by) => number / by,
                _ => return Err(format!("`{{{inside}}}`: {number} is no multiple of {by}")),
            };
            rest = &rest[end..];
        }
        Ok(number.to_string())
    }

    fn number<T: Copy + Default + Into<u64> + TryFrom<u64>>(
        &mut self,
        number: &Number<T>,
    ) -> Option<T> {
        match number {
            Number::Plain(value) => Some(*value),
            Number::Text(text) => {
                let before = self.diags.len();
                let filled = self.text(text, false);
                if self.diags.len() > before {
                    return None;
                }
                let value = filled.parse::<u64>().ok().and_then(|n| T::try_from(n).ok());
                if value.is_none() {
                    self.refuse(text.span, format!("`{filled}` is not a number here"));
                }
                value
            }
        }
    }
}
