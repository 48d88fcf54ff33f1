//! The program with what was chosen behind each operation.
use super::Report;
use super::words::fragment;
use lanebook::ir::{Annotate, Op, attr_names, print};
use lanebook::plan::TransferPlan;
use lanebook_tables::OpRole;
use std::collections::BTreeMap;
use std::fmt;

struct Notes(BTreeMap<usize, String>);

impl Annotate for Notes {
    fn has_note(&self, op: Op) -> bool {
        self.0.contains_key(&op.index())
    }
    fn note(&self, op: Op, out: &mut dyn fmt::Write) -> fmt::Result {
        out.write_str(self.0.get(&op.index()).map_or("", String::as_str))
    }
}

impl Report<'_> {
    /// The annotated program; it parses again.
    pub fn annotated(&self) -> Result<String, fmt::Error> {
        let mut notes = BTreeMap::new();
        for op in self.program.inside(self.compiled.function) {
            if let Some(note) = self.note(op) {
                notes.insert(op.index(), note);
            }
        }
        let plan = &self.compiled.plan;
        notes.insert(
            self.compiled.function.index(),
            format!(
                "{}: {} warps of {} lanes",
                self.arch.name,
                1u32 << plan.warps,
                1u32 << plan.wave
            ),
        );
        let mut out = String::new();
        print(self.program, &Notes(notes), &mut out)?;
        Ok(out)
    }

    /// What a loop of stages is not obeyed in as it is written.
    fn stages_note(&self, op: Op) -> Option<String> {
        if let Some(written) = self.program.int_attr(op, attr_names::UNSTAGED) {
            return Some(format!(
                "no turn runs ahead: no copy into shared memory stands in it, of which {written} stages would be"
            ));
        }
        let plan = &self.compiled.plan;
        let (written, kept) = (self.program.stages(op), plan.stages(self.program, op));
        let own = |m: &&TransferPlan| self.program.parent(m.op) == Some(op);
        let mut copies = plan.transfers.iter().filter(own).filter(|m| plan.runs_ahead(m.op));
        let held = |m: &TransferPlan| m.second.is_some();
        if kept < written {
            return Some(format!(
                "of {written} stages one runs ahead: its copies go through registers, which hold one turn's, and the tiles have {kept} buffers"
            ));
        }
        (written > 2 && copies.any(held)).then(|| {
            "what is copied through registers is on its way for one turn: these hold no more".into()
        })
    }

    fn note(&self, op: Op) -> Option<String> {
        let plan = &self.compiled.plan;
        let result = self.program.result(op, 0);
        let tile = || result.and_then(|v| plan.fragment_of(v)).map(|(_, f)| fragment(f));
        match self.program.role(op) {
            OpRole::Alloc => {
                let (_, alloc) = plan.alloc_of(result?)?;
                let buffers = match alloc.stages {
                    1 => String::new(),
                    many => format!(", {many} buffers"),
                };
                let (bytes, offset) = (alloc.bytes, alloc.offset);
                Some(format!("{bytes} B at {offset}{buffers}, {}", self.lies(alloc)))
            }
            OpRole::Matrix => {
                let p = plan.product_of(op)?;
                let (m, n) = p.product.warps;
                let same = if p.product.replicated_warps > 0 {
                    format!(", {} times the same", 1u32 << p.product.replicated_warps)
                } else {
                    String::new()
                };
                Some(format!(
                    "{} x{}, warps {}x{}{same} -> {}",
                    self.product(p),
                    p.product.count(),
                    1u32 << m,
                    1u32 << n,
                    tile()?
                ))
            }
            OpRole::Copy | OpRole::Load | OpRole::Store => {
                let m = plan.move_of(op)?;
                let to = tile().map_or_else(String::new, |tile| format!(" -> {tile}"));
                Some(format!("{} x{}{to}", self.movers(m), m.tiling.count()))
            }
            OpRole::Fence | OpRole::Wait => Some(
                "no step of its own: accesses that meet in a byte are ordered as written".into(),
            ),
            OpRole::For => self.stages_note(op),
            OpRole::Yield | OpRole::Return => None,
            _ => tile(),
        }
    }
}
