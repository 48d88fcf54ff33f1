//! The groups of a bank model partition the lanes (or slots) that it is for.
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::model::{Bank, HwModel};

/// See the module.
#[must_use]
pub fn check(model: &HwModel) -> Diagnostics {
    let mut diags = Diagnostics::new();
    for bank in model.archs.iter().flat_map(|arch| &arch.banks) {
        partition(bank, &mut diags);
        if bank.banks == 0 || bank.bank_bytes == 0 {
            diags.push(
                Diagnostic::at(
                    bank.name.span,
                    format!("bank model `{}` has no banks or no width", bank.name.value),
                )
                .help("state both"),
            );
        }
    }
    diags
}

fn partition(bank: &Bank, diags: &mut Diagnostics) {
    let name = &bank.name.value;
    if bank.slots == 0 || bank.slots > 64 {
        let message = format!("bank model `{name}` is for {} lanes", bank.slots);
        return diags.push(
            Diagnostic::at(bank.name.span, message).help("1 to 64 lanes or slots; state `slots`"),
        );
    }
    let all = u64::MAX >> (64 - bank.slots);
    let mut seen = 0u64;
    for (number, group) in bank.groups.iter().enumerate() {
        let twice = seen & group.value;
        if twice != 0 {
            let lane = twice.trailing_zeros();
            let mut error = Diagnostic::at(
                group.span,
                format!("lane {lane} is in two groups of bank model `{name}`"),
            );
            if let Some(first) = bank.groups[..number].iter().find(|g| g.value >> lane & 1 == 1) {
                error = error.note(first.span, "the first");
            }
            diags.push(error.help("the groups partition the lanes"));
        }
        if group.value & !all != 0 {
            let lane = (group.value & !all).trailing_zeros();
            diags.push(
                Diagnostic::at(
                    group.span,
                    format!(
                        "bank model `{name}` is for {} lanes, lane {lane} is beyond",
                        bank.slots
                    ),
                )
                .help("correct the group or `slots`"),
            );
        }
        seen |= group.value;
    }
    if seen & all != all {
        let lane = (all & !seen).trailing_zeros();
        diags.push(
            Diagnostic::at(
                bank.groups_span,
                format!("lane {lane} is in no group of bank model `{name}`"),
            )
            .help("the groups partition the lanes"),
        );
    }
}
