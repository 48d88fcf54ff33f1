//! A file for a new architecture, to be edited: everything it inherits stands in it as a comment.
//!
//! The text is made from the checked model of the architecture that the new one is like, so that
//! each commented field can be uncommented as it stands and then says what was inherited already (a
//! test does that).
use crate::model::status::Says;
use crate::model::{Arch, Bank, Cited, HwModel};
use lanebook_tables::{HazardUse, SourceId};
use std::fmt::Write;

/// The text of a file for architecture `name`, which is like `like` but for what its author will
/// say.
#[must_use]
pub fn architecture(model: &HwModel, name: &str, like: &Arch) -> String {
    let mut out = String::new();
    let (parent, isa) = (&like.name.value, &model.isa(like.isa).name.value);
    let _ = write!(
        out,
        r#"// {name}: written by `lanebook new-arch {name} --like {parent}`.
//
// It has everything that {parent} has. Uncomment what differs and say what is true of {name}; what
// stays a comment is inherited. hw-tables/SCHEMA.md explains each field. Then: `lanebook ids` if it
// brings atoms, and `lanebook check`.
(
    // Atoms of its own stand in a group that `has` names below:
    // groups: [
    //     (
    //         name: "{name}.own", isa: "{isa}", sources: ["KEY#PLACE"],
    //         atoms: [
    //             (name: "{name}.wait", class: sync, template: "..."),
    //         ],
    //     ),
    // ],
    arch: (
        name: "{name}", // as its assembler calls it
        extends: "{parent}",
        sources: [{}], // where its figures come from: keys of hw-tables/sources.ron
"#,
        keys(model, &like.sources)
    );
    let mut line = |text: String| {
        out.push_str("        // ");
        out.push_str(&text);
        out.push('\n');
    };
    line(format!("vendor: {:?},", like.vendor));
    if !like.isa_version.is_empty() {
        line(format!(
            "isa_version: {:?}, // lowest text version that the assembler takes for it",
            like.isa_version
        ));
    }
    line(format!(
        "wave_lanes: {:?}, // lanes of a wave; the first is the default",
        like.wave_lanes.value
    ));
    line(format!("max_threads: {}, // of a group", like.max_threads));
    line(format!(
        "shared: (static_bytes: {}, max_bytes: {}),",
        like.shared.static_bytes, like.shared.max_bytes
    ));
    line(format!(
        "inline_integers: {:?}, // integers that any operand takes for nothing",
        like.inline_integers
    ));
    let flushed: Vec<&str> = like
        .flushed
        .iter()
        .filter_map(|id| model.dtypes.get(id.index()))
        .map(|d| d.name.value.as_str())
        .collect();
    line(format!(
        "flushed: {flushed:?}, // element types whose subnormal numbers matrix instructions take and give as zero"
    ));
    line(format!(
        "scalar_reads: {}, // of one vector instruction; 0 = no limit",
        like.scalar_reads
    ));
    line(format!("has: [], // groups besides those of {parent}: {}", groups(model, like)));
    line("without: [], // groups of the parent that it has not".into());
    line("lacks: [], // single atoms that it has not".into());
    line("expanded: [], // atoms that its assembler expands".into());
    line("banks: [ // each replaces the inherited one of its name".into());
    for bank in &like.banks {
        line(format!("    {},", bank_text(model, bank)));
    }
    line("],".into());
    line("counters: [ // each replaces the inherited one of its name".into());
    for counter in &like.counters {
        let wait = &model.atom(counter.wait.value).name.value;
        line(format!(
            "    (name: {:?}, max: {}, in_order: {}, wait: {wait:?}, operand: {:?}),",
            counter.name.value, counter.max, counter.in_order, counter.operand.value
        ));
    }
    line("],".into());
    line("sync: [ // each replaces the inherited one of its producer and consumer".into());
    for rule in &like.sync {
        let access = |id: lanebook_tables::AccessId| &model.accesses[id.index()].name.value;
        line(format!(
            "    (producer: {:?}, consumer: {:?}, sources: [{}], steps: [",
            access(rule.producer),
            access(rule.consumer),
            keys(model, &rule.sources)
        ));
        for step in &rule.steps {
            let mut text = format!("        (atom: {:?}", model.atom(step.atom.value).name.value);
            if !step.immediates.is_empty() {
                let values: Vec<String> = step
                    .immediates
                    .iter()
                    .map(|(name, value)| format!("{name:?}: {value}"))
                    .collect();
                let _ = write!(text, ", immediates: {{{}}}", values.join(", "));
            }
            if step.after_producer {
                text.push_str(", place: after_producer");
            }
            if step.barrier {
                text.push_str(", barrier: true");
            }
            line(text + "),");
        }
        line("    ]),".into());
    }
    line("],".into());
    line("hazards: [ // all of them, if any differs".into());
    for hazard in &like.hazards {
        let tag = |id: lanebook_tables::TagId| &model.tags[id.index()].name.value;
        let mut text = format!(
            "    (producer: {:?}, consumer: {:?}, states: {}",
            tag(hazard.producer),
            tag(hazard.consumer),
            hazard.states
        );
        for (word, operand) in
            [("operand", &hazard.operand), ("producer_operand", &hazard.producer_operand)]
        {
            if let Some(operand) = operand {
                let _ = write!(text, ", {word}: {:?}", operand.value);
            }
        }
        match hazard.on {
            HazardUse::Read => text.push_str(", on: read"),
            HazardUse::Write => text.push_str(", on: write"),
            HazardUse::Any => {}
        }
        if hazard.unless_same {
            text.push_str(", unless_same: true");
        }
        if !hazard.counts.is_empty() {
            let counts: Vec<String> =
                hazard.counts.iter().map(|id| format!("{:?}", tag(*id))).collect();
            let _ = write!(text, ", counts: [{}]", counts.join(", "));
        }
        if let Some(wait) = hazard.wait {
            let _ = write!(text, ", wait: {:?}", model.atom(wait).name.value);
        }
        if let Some(after) = hazard.after {
            let _ = write!(text, ", after: {:?}", tag(after));
        }
        let _ = write!(text, ", sources: [{}]", keys(model, &hazard.sources));
        line(text + "),");
    }
    line("],".into());
    out.push_str("    ),\n)\n");
    out
}

/// Sources as they are cited.
fn keys(model: &HwModel, cited: &Cited) -> String {
    let key = |(id, says): (SourceId, Says)| {
        format!("\"{}{}\"", says.mark(), model.sources[id.index()].key.value)
    };
    let keys: Vec<String> = cited.each().map(key).collect();
    keys.join(", ")
}

/// The groups of which it has an atom, as one line.
fn groups(model: &HwModel, arch: &Arch) -> String {
    let has = |group: &&crate::model::Group| {
        group.atoms.iter().any(|atom| arch.atoms.iter().any(|entry| entry.atom == *atom))
    };
    model
        .groups
        .iter()
        .filter(has)
        .map(|group| group.name.value.as_str())
        .collect::<Vec<_>>()
        .join(", ")
}

fn bank_text(model: &HwModel, bank: &Bank) -> String {
    let lists: Vec<String> =
        bank.groups.iter().map(|group| format!("{:?}", ranges(group.value))).collect();
    format!(
        "(name: {:?}, banks: {}, bank_bytes: {}, groups: [{}], slots: {}, sources: [{}])",
        bank.name.value,
        bank.banks,
        bank.bank_bytes,
        lists.join(", "),
        bank.slots,
        keys(model, &bank.sources)
    )
}

/// A set of lanes as the tables write it, `0-3,12-15`.
#[must_use]
pub fn ranges(mask: u64) -> String {
    let mut out: Vec<String> = Vec::new();
    let has = |lane: u32| lane < 64 && mask >> lane & 1 == 1;
    let mut lane = 0;
    while lane < 64 {
        let first = lane;
        while has(lane) {
            lane += 1;
        }
        match lane - first {
            0 => lane += 1,
            1 => out.push(first.to_string()),
            _ => out.push(format!("{first}-{}", lane - 1)),
        }
    }
    out.join(",")
}

#[cfg(test)]
mod tests {
    use super::ranges;

    #[test]
    fn sets_of_lanes() {
        assert_eq!(ranges(0), "");
        assert_eq!(ranges(u64::MAX), "0-63");
        assert_eq!(ranges(0b1011 | 1 << 63), "0-1,3,63");
    }
}
