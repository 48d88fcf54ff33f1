//! Faults put into emitted texts: what the hunt is worth is how soon it finds each.

use super::verdict::{Built, Emitted, judged, references};
use super::{Choices, generate};
use crate::Workshop;

/// A known fault.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    /// What it is.
    pub name: &'static str,
    /// Whose text it is put into.
    pub arch: &'static str,
    /// Kinds of programs that have what it spoils.
    pub kinds: &'static [&'static str],
    /// The text with it; `None` where there is nothing to spoil.
    plant: fn(&str) -> Option<String>,
}

const fn fault(
    name: &'static str,
    arch: &'static str,
    kinds: &'static [&'static str],
    plant: fn(&str) -> Option<String>,
) -> Fault {
    Fault { name, arch, kinds, plant }
}

/// Known faults.
pub const FAULTS: [Fault; 24] = [
    fault("wrong immediate of an address", "sm_80", &["gemm", "copy"], |t| {
        change(t, |l| {
            is(l, &["cp.async.c", "ldmatrix", "ld.shared", "st.shared"]).then(|| offset(l, 16))?
        })
    }),
    fault("wrong immediate of an address, AMD", "gfx942", &["gemm", "copy"], |t| {
        change(t, |l| is(l, &["ds_"]).then(|| behind(l, "offset:", |n| n + 8))?)
    }),
    fault("wrong register", "sm_80", &["gemm", "graph"], |t| {
        change(t, |l| is(l, &["st.global.v2"]).then(|| exchanged(l, '{', '}'))?)
    }),
    fault("dropped wait", "sm_80", &["gemm", "copy"], |t| {
        without(t, |l| is(l, &["cp.async.wait_group"]))
    }),
    fault("dropped wait, AMD", "gfx942", &["gemm", "copy"], |t| {
        without(t, |l| is(l, &["s_waitcnt vmcnt(0)"]))
    }),
    fault("dropped barrier", "sm_80", &["gemm", "shared"], |t| {
        without_last(t, |l| is(l, &["bar.sync"]))
    }),
    fault("dropped barrier, AMD", "gfx1100", &["gemm", "shared"], |t| {
        without_last(t, |l| is(l, &["s_barrier"]))
    }),
    fault("exchanged steps", "sm_80", &["gemm", "shared"], steps_exchanged),
    fault("serialised parallel copy", "sm_80", &["carried"], serialised),
    fault("dropped packing", "sm_80", &["cast", "chain"], |t| {
        change(t, |l| {
            is(l, &["cvt.rn.f16x2", "cvt.rn.bf16x2"])
                .then(|| operands(l, |o| o[2] = o[1].clone()))?
        })
    }),
    fault("wrong parity", "sm_90a", &["gemm", "copy"], |t| {
        without(t, |l| is(l, &["xor.b32"]) && l.trim_end().ends_with(", 1;"))
    }),
    fault("missing zero-fill", "sm_80", &["gemm"], |t| {
        without_first(t, |l| is(l, &["mov.f32"]) && l.contains("0f00000000"))
    }),
    fault("wrong bound of a loop", "sm_80", &["gemm", "carried"], |t| {
        change(t, |l| is(l, &["setp.lt.u32"]).then(|| l.replace("setp.lt", "setp.le")))
    }),
    fault("wrong bound of a loop, AMD", "gfx1100", &["gemm", "carried"], |t| {
        change(t, |l| is(l, &["s_cmp_lt_u32"]).then(|| l.replace("_lt_", "_le_")))
    }),
    fault("both parts of a branch", "sm_80", &["branches"], |t| {
        change(t, |l| is(l, &["setp.lt.u32"]).then(|| l.replace("setp.lt", "setp.le")))
    }),
    fault("place of another element", "sm_80", &["reduce"], |t| {
        change(t, |l| is(l, &["setp.eq.f32"]).then(|| l.replace("setp.eq", "setp.ne")))
    }),
    fault("lower half of a product", "sm_80", &["whole"], |t| {
        change(t, |l| is(l, &["mul.hi.u32"]).then(|| l.replace("mul.hi", "mul.lo")))
    }),
    fault("dropped fence", "sm_90a", &["gemm", "copy", "shared"], |t| {
        without(t, |l| is(l, &["fence.proxy.async", "wgmma.fence"]))
    }),
    fault("wrong mask of a swizzle", "sm_80", &["gemm", "written"], |t| {
        change(t, |l| is(l, &["xor.b32"]).then(|| operands(l, |o| o[2] = "8".to_string()))?)
    }),
    fault("wrong stride", "sm_80", &["gemm", "transpose"], |t| {
        change(t, |l| {
            (is(l, &["mad.wide.u32"]) && l.contains(", 8, ")).then(|| l.replace(", 8, ", ", 4, "))
        })
    }),
    fault("wrong lane of an exchange", "sm_80", &["reduce"], |t| {
        change(t, |l| {
            is(l, &["shfl.sync.bfly"]).then(|| operands(l, |o| o[2] = "3".to_string()))?
        })
    }),
    fault("exchanged operands", "sm_80", &["reduce", "graph"], |t| {
        change(t, |l| is(l, &["sub.rn.f32"]).then(|| operands(l, |o| o.swap(1, 2)))?)
    }),
    fault("dropped wait states", "gfx942", &["gemm", "graph", "chain"], |t| {
        without(t, |l| is(l, &["s_nop"]))
    }),
    fault("dropped store", "gfx1200", &["gemm", "transpose"], |t| {
        without_last(t, |l| is(l, &["global_store", "buffer_store"]))
    }),
];

impl Fault {
    /// In how many programs from a seed the hunt finds it.
    ///
    /// # Panics
    /// If a kind of it is unknown.
    #[must_use]
    pub fn found_within(&self, seed: u64, limit: usize) -> Option<usize> {
        let mut workshop = Workshop::default();
        (0..limit).find(|number| {
            let choices =
                Choices::seeded(seed.wrapping_mul(1_000_003).wrapping_add(*number as u64));
            let program = generate(self.kinds[number % self.kinds.len()], choices)
                .unwrap_or_else(|| panic!("{:?}", self.kinds));
            let text = program.text("f");
            let Built::Kernel(emitted) = workshop.build(&text, self.arch) else { return false };
            let Some(spoilt) = (self.plant)(&emitted.text) else { return false };
            let Ok(known) = references(&text) else { return false };
            let spoilt = Emitted { text: spoilt, ..emitted };
            judged(&spoilt, self.arch, &known, None).is_err()
        })
    }
}

fn is(line: &str, words: &[&str]) -> bool {
    let bare = line.trim_start();
    let bare = if bare.starts_with('@') {
        bare.split_once(' ').map_or("", |(_, rest)| rest)
    } else {
        bare
    };
    words.iter().any(|w| bare.starts_with(w))
}

fn join<'l>(lines: impl Iterator<Item = &'l str>) -> String {
    lines.flat_map(|l| [l, "\n"]).collect()
}

/// The first line for which there is another one is that.
fn change(text: &str, with: impl Fn(&str) -> Option<String>) -> Option<String> {
    let (at, new) = text
        .lines()
        .enumerate()
        .find_map(|(k, l)| with(l).filter(|new| new != l).map(|new| (k, new)))?;
    Some(join(text.lines().enumerate().map(|(k, l)| if k == at { new.as_str() } else { l })))
}

fn without(text: &str, which: impl Fn(&str) -> bool) -> Option<String> {
    text.lines().any(&which).then(|| join(text.lines().filter(|l| !which(l))))
}

fn without_line(text: &str, at: usize) -> String {
    join(text.lines().enumerate().filter(|(k, _)| *k != at).map(|(_, l)| l))
}

fn without_first(text: &str, which: impl Fn(&str) -> bool) -> Option<String> {
    Some(without_line(text, text.lines().position(which)?))
}

fn without_last(text: &str, which: impl Fn(&str) -> bool) -> Option<String> {
    let at = text.lines().enumerate().filter(|(_, l)| which(l)).last()?.0;
    Some(without_line(text, at))
}

/// The number behind a word made another one.
fn behind(line: &str, word: &str, other: impl Fn(u32) -> u32) -> Option<String> {
    let (before, rest) = line.split_once(word)?;
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let number: u32 = rest[..end].parse().ok()?;
    Some(format!("{before}{word}{}{}", other(number), &rest[end..]))
}

fn offset(line: &str, more: u32) -> Option<String> {
    behind(line, "+", |n| n + more)
}

/// The two first names in brackets exchanged.
fn exchanged(line: &str, open: char, close: char) -> Option<String> {
    let (before, rest) = line.split_once(open)?;
    let (list, behind) = rest.split_once(close)?;
    let (a, b) = list.split_once(", ")?;
    Some(format!("{before}{open}{b}, {a}{close}{behind}"))
}

/// The operands of a PTX instruction changed.
fn operands(line: &str, f: impl Fn(&mut Vec<String>)) -> Option<String> {
    let (word, rest) = line.trim_start().split_once(' ')?;
    let mut list: Vec<String> =
        rest.trim_end_matches(';').split(", ").map(str::to_string).collect();
    if list.len() < 3 {
        return None;
    }
    f(&mut list);
    Some(format!("    {word} {};", list.join(", ")))
}

/// The last barrier and what stands behind it.
fn steps_exchanged(text: &str) -> Option<String> {
    let mut lines: Vec<&str> = text.lines().collect();
    let at = lines.windows(2).rposition(|w| {
        is(w[0], &["bar.sync"]) && is(w[1], &["ldmatrix", "ld.shared", "st.shared", "cp.async.c"])
    })?;
    lines.swap(at, at + 1);
    Some(join(lines.into_iter()))
}

/// Of moves that follow each other, one that reads what an earlier one saved reads the register
/// itself, which was written since.
fn serialised(text: &str) -> Option<String> {
    let lines: Vec<&str> = text.lines().collect();
    let parsed = |l: &str| -> Option<(String, String)> {
        let (to, from) = l
            .trim()
            .strip_prefix("mov.")?
            .split_once(' ')?
            .1
            .trim_end_matches(';')
            .split_once(", ")?;
        (to.starts_with('%') && from.starts_with('%')).then(|| (to.to_string(), from.to_string()))
    };
    for (at, line) in lines.iter().enumerate() {
        let Some((to, saved)) = parsed(line) else { continue };
        let run = lines[..at].iter().rev().map_while(|l| parsed(l)).collect::<Vec<_>>();
        let Some(place) = run.iter().position(|(t, _)| *t == saved) else { continue };
        let register = &run[place].1;
        if run[..place].iter().any(|(t, _)| t == register) {
            return Some(
                join(lines.iter().enumerate().map(|(k, l)| if k == at { "" } else { *l }))
                    .replacen("\n\n", &format!("\n    mov.b32 {to}, {register};\n"), 1),
            );
        }
    }
    None
}
