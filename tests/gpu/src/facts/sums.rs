//! How exactly a unit adds up: how far below the greatest term of a sum another may lie and still
//! count in full.
//!
//! In row `p` of A stand `2^p` times a small number and that number once, in two columns; all of B
//! is the same. What comes out less the greater term is the smaller one, or what was kept of it.

use super::product::Instanced;
use super::{Asked, Finding};
use crate::Device;
use crate::cases::{Case, Operand};
use lanebook::tables::Instance;
use lanebook_gen::fact;
use lanebook_kernels::interpret::element::Element;
use std::collections::BTreeMap;

/// Distances that are tried.
const FARTHEST: i32 = 40;

/// The significant bits that a product of floats keeps of its sums; `None` for what is none.
pub fn hold(device: &mut dyn Device, asked: Asked<'_>, instance: &Instance<'_>) -> Option<Finding> {
    let one = Instanced::of(instance).filter(Instanced::is_of_floats)?;
    let mut found = Vec::new();
    for (way, old) in [("within an instruction", false), ("onto what was there", true)] {
        found.push((way, kept(device, asked, &one, old)));
    }
    Some(told(asked, instance, found))
}

/// How many bits a product keeps of a sum whose greatest term has a factor below the least normal
/// number: a unit that does not bring such factors to the form of others first aligns the terms to
/// the exponent of the least normal number. Nothing where no distance shows it.
pub fn of_subnormals(
    device: &mut dyn Device,
    asked: Asked<'_>,
    instance: &Instance<'_>,
) -> Option<Finding> {
    let one = Instanced::of(instance).filter(Instanced::is_of_floats)?;
    let (factor, below) = one.subnormal()?;
    let (mut trials, mut lost) = (0, None);
    for distance in 1..=FARTHEST {
        let [great, small] = one.below(factor, distance)?;
        let sum = great[0] * great[1] + small[0] * small[1];
        if !(one.holds(great, sum) && one.holds(small, sum)) {
            break;
        }
        trials += 1;
        match one.sum(device, asked, &[great, small], 0.0) {
            Ok(got) if got.iter().all(|got| *got == sum) => {}
            Ok(_) => {
                lost = Some(distance);
                break;
            }
            Err(why) => {
                return Some(of_subnormal(asked, instance, trials, String::new(), Some(why)));
            }
        }
    }
    let lost = lost?;
    let whole = instance.atom.more.and_then(|more| more.sum_bits).map_or(one.bits(), i32::from);
    let differs = (lost < whole - below).then(|| format!("fewer than {}", whole - below));
    let text = format!("{lost} bits are kept beside a factor that lacks {below}");
    Some(of_subnormal(asked, instance, trials, text, differs))
}

fn of_subnormal(
    asked: Asked<'_>,
    instance: &Instance<'_>,
    trials: usize,
    text: String,
    differs: Option<String>,
) -> Finding {
    Finding {
        kind: "subnormal",
        arch: asked.name.into(),
        name: fact::name(instance),
        text,
        fact: BTreeMap::new(),
        trials,
        cycles: String::new(),
        differs,
    }
}

/// What is told of an instruction whose sums lose a term so many binary places below another.
fn told(
    asked: Asked<'_>,
    instance: &Instance<'_>,
    found: Vec<(&str, Result<Kept, String>)>,
) -> Finding {
    let fact = fact::sums(instance).unwrap_or_default();
    let said = instance.atom.more.and_then(|more| more.sum_bits).map(i32::from);
    let (mut trials, mut differs) = (0, None);
    for (way, kept) in found {
        match kept {
            Ok(kept) => {
                trials += kept.trials;
                if kept.lost != said {
                    let bits =
                        |bits: Option<i32>| bits.map_or("all".to_string(), |bits| bits.to_string());
                    let (kept, said) = (bits(kept.lost), bits(said));
                    differs = Some(format!("{kept} bits are kept {way}, not {said}"));
                }
            }
            Err(why) => differs = Some(why),
        }
    }
    Finding {
        kind: "sums",
        arch: asked.name.into(),
        name: fact::name(instance),
        text: super::said(instance),
        fact,
        trials,
        cycles: String::new(),
        differs,
    }
}

/// What a unit keeps.
struct Kept {
    /// How many binary places below the greatest term one is lost, of those that the sum's type
    /// holds; none is.
    lost: Option<i32>,
    /// Sums that were asked for.
    trials: usize,
}

/// The least distance at which something of the smaller term is lost; the greater one is a product,
/// or what was there before.
fn kept(
    device: &mut dyn Device,
    asked: Asked<'_>,
    one: &Instanced<'_, '_>,
    old: bool,
) -> Result<Kept, String> {
    let mut trials = 0;
    for distance in 1..=FARTHEST {
        // Both factors share the distance.
        let (left, right) = ((distance + 1) / 2, distance / 2);
        let least = one.least();
        let small = [2f64.powi(least[0]), 2f64.powi(least[1])];
        let great = [2f64.powi(least[0] + left), 2f64.powi(least[1] + right)];
        let sum = great[0] * great[1] + small[0] * small[1];
        if !one.holds([great[0], great[1]], sum) {
            return Ok(Kept { lost: None, trials });
        }
        trials += 1;
        let terms: &[[f64; 2]] = if old { &[small] } else { &[great, small] };
        let before = if old { great[0] * great[1] } else { 0.0 };
        let got = one.sum(device, asked, terms, before)?;
        if got.iter().any(|got| *got != sum) {
            return Ok(Kept { lost: Some(distance), trials });
        }
    }
    Ok(Kept { lost: None, trials })
}

/// The same for the units that an example's kernel runs on, by the whole kernel: the smaller term in
/// the same instruction, or in the last one.
pub fn of_kernels(device: &mut dyn Device, asked: Asked<'_>) -> Vec<Finding> {
    let encoder = |name: &'static str| {
        move |value: f64| {
            let element = Element::of(name).expect("an element type");
            element.encode(value).to_le_bytes()[..element.bytes()].to_vec()
        }
    };
    let (f8, f16) = ((encoder("e4m3"), [-6, 8]), (encoder("f16"), [-14, 15]));
    let mut out = Vec::new();
    for (kernel, (encode, [low, high])) in
        [("gemm_fp8", (&f8.0 as &dyn Fn(f64) -> Vec<u8>, f8.1)), ("gemm_bt", (&f16.0, f16.1))]
    {
        let mut found = Vec::new();
        let mut used = Vec::new();
        for (way, last) in [("within an instruction", false), ("onto what was there", true)] {
            match kept_by(device, asked, kernel, (encode, [low, high]), last) {
                // It is not compiled for this architecture.
                Ok(None) => {}
                Ok(Some((text, kept))) => {
                    used = super::products_in(&text, asked);
                    found.push((way, Ok(kept)));
                }
                Err(why) => found.push((way, Err(why))),
            }
        }
        if let Some(instance) = used.first() {
            out.push(told(asked, instance, found));
        }
    }
    out
}

/// Extents of the product.
const EXTENT: u32 = 128;

type Encoder<'e> = (&'e dyn Fn(f64) -> Vec<u8>, [i32; 2]);

fn kept_by(
    device: &mut dyn Device,
    asked: Asked<'_>,
    kernel: &'static str,
    (encode, [low, high]): Encoder<'_>,
    last: bool,
) -> Result<Option<(String, Kept)>, String> {
    let many = high - low + 1;
    // A(i, 0) B(0, j) is the greater term, of every size by the row; A(i, other) B(other, j) the
    // smaller one, of every size by the column.
    let other = if last { EXTENT - 1 } else { 1 };
    let size = |at: u32| 2f64.powi(low + at as i32 % many);
    let a = |i: u32, x: u32| match x {
        0 => size(i),
        x if x == other => 2f64.powi(low),
        _ => 0.0,
    };
    let b = |x: u32, j: u32| match x {
        0 => 2f64.powi(high),
        x if x == other => size(j),
        _ => 0.0,
    };
    let all = || (0..EXTENT).flat_map(|i| (0..EXTENT).map(move |x| (i, x)));
    let bytes = |of: &dyn Fn(u32, u32) -> f64| all().flat_map(|(i, x)| encode(of(i, x))).collect();
    let operand = |bytes: Vec<u8>| Operand { extents: vec![EXTENT; 2], bytes };
    let case = Case {
        name: kernel,
        program: lanebook_kernels::example(&format!("{kernel}.tile")),
        operands: vec![
            operand(bytes(&a)),
            operand(bytes(&|j, x| b(x, j))),
            operand(vec![0xff; (EXTENT * EXTENT * 4) as usize]),
        ],
        launches: vec![BTreeMap::from([("m", 0), ("n", 0), ("K", EXTENT)])],
        result: 2,
        want: Vec::new(),
        tolerance: 0.0,
    };
    let Ok(job) = crate::job(&case, asked.name) else { return Ok(None) };
    let operands: Vec<_> = case.operands.iter().map(|operand| operand.bytes.clone()).collect();
    let after = device.run(&job, &operands)?;
    let got = after.get(2).ok_or("nothing came back")?.as_chunks::<4>().0;
    let (mut least, mut trials) = (i32::MAX, 0);
    for ((i, j), got) in all().zip(got) {
        let (great, small) = (a(i, 0) * b(0, j), a(i, other) * b(other, j));
        if great < small || (great + small) as f32 as f64 != great + small {
            continue;
        }
        trials += 1;
        if f64::from(f32::from_le_bytes(*got)) != great + small {
            least = least.min((great / small).log2() as i32);
        }
    }
    let lost = (least < i32::MAX).then_some(least);
    Ok(Some((job.text, Kept { lost, trials })))
}
