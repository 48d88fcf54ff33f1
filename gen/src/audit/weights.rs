//! Weights are to one another as what is known of them says (`stated` of `rules/cost.ron`).
//!
//! A statement is a sum of weights that equals another one, in the numbers of a document, a record
//! or a figure of machines; `one` is a plain number. Every weight stands in a statement, and so does
//! what a policy compares: `POLICY.TERM` is the weight of a term, `POLICY.TERM.at` the place of its
//! number, `POLICY.sector` and `POLICY.access` are the prices. Policies compare in the smallest
//! numbers that do: what scales a whole number of a policy, or prices what it does not look at, says
//! nothing.
use crate::compile::Compiled;
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::rules::schema::{CostPolicyEntry, CostTermWord, StatedEntry};
use crate::schema::Name;
use crate::spanned::Spanned;
use lanebook_suggest::remedy;
use lanebook_tables::Weights;

/// What a plain number is called.
const NUMBER: &str = "one";

/// See the module.
#[must_use]
pub fn check(compiled: &Compiled) -> Diagnostics {
    let mut diags = Diagnostics::new();
    if let Some(weights) = &compiled.rules.weights
        && !compiled.rules.stated.is_empty()
    {
        let mut named = named(weights);
        named.extend(compiled.rules.policies.iter().flat_map(compared));
        for one in &compiled.rules.stated {
            holds(&named, one, &mut diags);
        }
        all(&named, &compiled.rules.stated, &mut diags);
    }
    policies(compiled, &mut diags);
    diags
}

/// Weights by their names.
fn named(weights: &Weights) -> Vec<(String, u32)> {
    macro_rules! fields {
        ($($field:ident),* $(,)?) => {{
            let Weights { $($field),* } = *weights;
            vec![$((stringify!($field).to_string(), $field)),*]
        }};
    }
    fields![
        shared_transaction,
        tensor_cycle,
        register,
        instruction,
        address,
        global_segment,
        matrix_cycle,
        pad_kib,
        loop_trips,
        convert_byte,
        convert_elements,
        convert_bits,
        work_byte,
        load_byte,
        reduce_lane,
        reduce_warp,
        exchange_addresses,
        exchange_pass,
        exchange_access,
        exchange_move,
        exchange_barrier,
        packed_percent,
        fused_percent,
        widened_depth,
        widened_depth_lanes,
        producer_registers,
        bound_steps,
        segment_bytes,
        shared_align,
        loop_depth,
        trifle,
        missing_register,
    ]
}

/// What a policy compares, by name.
fn compared(policy: &CostPolicyEntry) -> Vec<(String, u32)> {
    let of = |what: &str| format!("{}.{what}", policy.name.value);
    let mut out = vec![(of("sector"), policy.sector), (of("access"), policy.access)];
    for (place, key) in (1..).zip(&policy.keys) {
        for (term, weight) in key {
            let term = format!("{term:?}").to_lowercase();
            out.push((of(&term), *weight));
            out.push((of(&format!("{term}.at")), place));
        }
    }
    out
}

/// Both sides of a statement are the same number.
fn holds(named: &[(String, u32)], one: &Spanned<StatedEntry>, diags: &mut Diagnostics) {
    let mut sum = |side: &[(u32, Name)]| -> u64 {
        let values = side.iter().map(|(times, name)| {
            let found = named.iter().find(|(known, _)| *known == name.value).map(|(_, v)| *v);
            let value = found.or((name.value == NUMBER).then_some(1)).unwrap_or_else(|| {
                let known = named.iter().map(|(known, _)| known.as_str()).chain([NUMBER]);
                let help = remedy(
                    name,
                    known,
                    "the fields of rules/cost.ron are weights, and so are a policy's terms",
                );
                let message = format!("no weight is called `{}`", name.value);
                diags.push(Diagnostic::at(name.span, message).help(help));
                0
            });
            u64::from(*times) * u64::from(value)
        });
        values.sum()
    };
    let (left, right) = (sum(&one.left), sum(&one.right));
    if left != right {
        let shown = |side: &[(u32, Name)]| -> String {
            let parts: Vec<String> =
                side.iter().map(|(times, name)| format!("{times} {}", name.value)).collect();
            parts.join(" + ")
        };
        let message = format!(
            "{} is {left}, and {} is {right}: {} has them equal",
            shown(&one.left),
            shown(&one.right),
            one.by
        );
        diags.push(
            Diagnostic::at(one.span, message).help("correct a weight, or what is stated of it"),
        );
    }
}

/// Every weight stands in a statement.
fn all(named: &[(String, u32)], stated: &[Spanned<StatedEntry>], diags: &mut Diagnostics) {
    let says = |name: &str| {
        stated.iter().any(|one| one.left.iter().chain(&one.right).any(|(_, of)| of.value == *name))
    };
    let Some(at) = stated.first().map(|one| one.span.head()) else { return };
    for (name, _) in named.iter().filter(|(name, _)| !says(name)) {
        diags.push(
            Diagnostic::at(at, format!("nothing is stated of the weight `{name}`"))
                .help("say in `stated` what it is to another weight, and by what"),
        );
    }
}

/// Policies in their smallest numbers.
fn policies(compiled: &Compiled, diags: &mut Diagnostics) {
    for policy in &compiled.rules.policies {
        let mut say = |message: String, help: &str| {
            let message = format!("policy `{}` {message}", policy.name.value);
            diags.push(Diagnostic::at(policy.name.span, message).help(help));
        };
        for key in &policy.keys {
            let common = key.iter().fold(0, |all, (_, weight)| divisor(all, *weight));
            if common > 1 {
                say(
                    format!("compares {common} times a number"),
                    "a number compares as its multiples do: divide its weights",
                );
            }
        }
        let priced = policy.keys.iter().flatten().any(|(term, _)| *term == CostTermWord::Traffic);
        let prices = (policy.sector, policy.access);
        if !priced && prices != (1, 1) {
            say(
                "prices traffic that it does not compare".into(),
                "both prices are 1 where no term is `traffic`",
            );
        } else if divisor(prices.0, prices.1) != 1 {
            say(
                "prices sectors and accesses by a common multiple".into(),
                "divide both; the weight of `traffic` scales them",
            );
        }
    }
}

fn divisor(a: u32, b: u32) -> u32 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
