//! Bank conflicts, counted exactly from a model that the caller hands in.
//!
//! A rule names an operation, the banks it sees and the groups of lanes served together. A group
//! costs as many transactions as the fullest bank has distinct words; its least is
//! `ceil(distinct words / banks)`. The rest is conflict.

use crate::json::{self, Json};

/// How one operation meets the banks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BankRule {
    /// The operation: `ds_read_b128`, `ld.shared.128`, `ldmatrix`, ...
    pub op: String,
    /// Banks.
    pub banks: u32,
    /// Bytes of a bank's word.
    pub bank_bytes: u32,
    /// Lanes served together; a lane may be in one group only.
    pub groups: Vec<Vec<u32>>,
}

/// The rules of one architecture. An operation without a rule is reported as not modelled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BankModel {
    /// The rules, the first that matches counts.
    pub rules: Vec<BankRule>,
}

/// Cost of one execution of one shared-memory instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BankCost {
    /// Transactions used.
    pub transactions: u64,
    /// Transactions that the same distinct words need at least.
    pub least: u64,
}

fn in_order(lanes: u32, per_group: u32) -> Vec<Vec<u32>> {
    (0..lanes / per_group).map(|g| (g * per_group..(g + 1) * per_group).collect()).collect()
}

impl BankModel {
    /// No rules: every shared access is "not modelled".
    pub fn none() -> Self {
        BankModel::default()
    }

    /// NVIDIA as commonly documented: 32 banks of 4 bytes; 32-bit accesses in one phase, 64-bit in
    /// two half-warps, 128-bit in four quarter-warps, `ldmatrix` one phase per 8x8 matrix.
    pub fn nvidia() -> Self {
        let mut rules = Vec::new();
        for (bits, per_group) in [(8, 32), (16, 32), (32, 32), (64, 16), (128, 8)] {
            for verb in ["ld", "st"] {
                rules.push(BankRule {
                    op: format!("{verb}.shared.{bits}"),
                    banks: 32,
                    bank_bytes: 4,
                    groups: in_order(32, per_group),
                });
            }
        }
        for op in ["ldmatrix", "stmatrix"] {
            rules.push(BankRule {
                op: op.to_string(),
                banks: 32,
                bank_bytes: 4,
                groups: in_order(32, 8),
            });
        }
        BankModel { rules }
    }

    /// NVIDIA as an architecture was measured, where it was: on an H100 a load of 64 or 128 bits takes
    /// as many passes as the bank that most of all its lanes' words are in, whichever lanes these are.
    pub fn nvidia_of(arch: &str) -> Self {
        let mut model = Self::nvidia();
        if arch.starts_with("sm_90") {
            for rule in &mut model.rules {
                if rule.op.starts_with("ld.shared.") {
                    rule.groups = in_order(32, 32);
                }
            }
        }
        model
    }

    /// Rules from lines of JSON with keys `gfx`, `op`, `banks`, `bank_bytes`, `groups` (the schema
    /// of `lds_phases.jsonl`); lines of other targets or without a bank count are left out.
    pub fn from_jsonl(gfx: &str, text: &str) -> Result<Self, String> {
        let mut rules = Vec::new();
        for (index, line) in text.lines().enumerate().filter(|(_, l)| !l.trim().is_empty()) {
            let value = json::parse(line).map_err(|e| format!("line {}: {e}", index + 1))?;
            let text_of = |key: &str| value.get(key).and_then(Json::text);
            let number_of = |key: &str| value.get(key).and_then(Json::number);
            if text_of("gfx") != Some(gfx) {
                continue;
            }
            let (Some(op), Some(banks), Some(groups)) =
                (text_of("op"), number_of("banks"), value.get("groups"))
            else {
                continue;
            };
            let groups = groups
                .list()
                .iter()
                .map(|g| g.list().iter().filter_map(Json::number).map(|n| n as u32).collect())
                .collect();
            let bank_bytes = number_of("bank_bytes").unwrap_or(4.0) as u32;
            rules.push(BankRule { op: op.to_string(), banks: banks as u32, bank_bytes, groups });
        }
        Ok(BankModel { rules })
    }

    /// The rule of the first of these names that has one.
    pub fn rule(&self, names: &[&str]) -> Option<&BankRule> {
        names.iter().find_map(|name| self.rules.iter().find(|r| r.op == *name))
    }
}

impl BankRule {
    /// Cost of `accesses` = (lane, byte address, bytes).
    pub fn cost(&self, accesses: &[(u32, u64, u32)]) -> BankCost {
        let mut cost = BankCost::default();
        let mut words: Vec<u64> = Vec::new();
        let mut load: Vec<u64> = Vec::new();
        for group in &self.groups {
            words.clear();
            for &(_, address, bytes) in accesses.iter().filter(|(lane, ..)| group.contains(lane)) {
                let first = address / u64::from(self.bank_bytes);
                let last = (address + u64::from(bytes) - 1) / u64::from(self.bank_bytes);
                words.extend(first..=last);
            }
            if words.is_empty() {
                continue;
            }
            words.sort_unstable();
            words.dedup();
            load.clear();
            load.resize(self.banks as usize, 0);
            for word in &words {
                load[(word % u64::from(self.banks)) as usize] += 1;
            }
            cost.transactions += load.iter().copied().max().unwrap_or(0);
            cost.least += (words.len() as u64).div_ceil(u64::from(self.banks));
        }
        cost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_of_rows_of_128_bytes_conflicts_eight_ways() {
        let model = BankModel::nvidia();
        let rule = model.rule(&["ldmatrix"]).expect("rule");
        let column: Vec<_> = (0..8).map(|l| (l, u64::from(l) * 128, 16)).collect();
        assert_eq!(rule.cost(&column), BankCost { transactions: 8, least: 1 });
        let swizzled: Vec<_> =
            (0..8).map(|l| (l, u64::from(l) * 128 + u64::from(l) * 16, 16)).collect();
        assert_eq!(rule.cost(&swizzled), BankCost { transactions: 1, least: 1 });
        let broadcast: Vec<_> = (0..8).map(|l| (l, 64, 16)).collect();
        assert_eq!(rule.cost(&broadcast), BankCost { transactions: 1, least: 1 });
    }

    #[test]
    fn wide_loads_of_an_h100_are_served_together() {
        // Four lanes of each quarter at one place of the banks, another one for each quarter.
        let all: Vec<_> = (0..32u64)
            .map(|l| {
                (l as u32, (l / 8) * 32 + (l % 4) * 128 + (l / 4 % 2) * 16 + (l / 8) * 512, 16)
            })
            .collect();
        let ask = |model: BankModel| model.rule(&["ld.shared.128"]).expect("rule").cost(&all);
        assert_eq!(ask(BankModel::nvidia()).transactions, 16);
        assert_eq!(ask(BankModel::nvidia_of("sm_80")).transactions, 16);
        assert_eq!(ask(BankModel::nvidia_of("sm_90a")), BankCost { transactions: 4, least: 4 });
    }

    #[test]
    fn rules_come_from_lines_of_json() {
        let text = r#"{"gfx":"gfx942","op":"ds_read_b64","banks":32,"bank_bytes":4,"groups":[[0,1],[2,3]]}
{"gfx":"gfx950","op":"ds_read_b64","banks":64,"bank_bytes":4,"groups":[[0,1,2,3]]}
{"gfx":"gfx950","op":"ds_read_b32","banks":null,"bank_bytes":4,"groups":[[0]]}"#;
        let model = BankModel::from_jsonl("gfx950", text).expect("json");
        assert_eq!(model.rules.len(), 1);
        assert_eq!((model.rules[0].banks, model.rules[0].groups.len()), (64, 1));
        assert!(BankModel::from_jsonl("gfx950", "{").is_err());
    }
}
