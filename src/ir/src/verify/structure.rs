//! Whether a program means something: structure and dominance here, signatures in `verify_types`.
//!
//! What is left out in the text (`...`) agrees with everything. The first error in text order is
//! returned; its place is the operation's name in the source (line 0 for operations without text),
//! or the key of the attribute that is wrong.
use crate::attr_names;
use crate::data::OpData;
use crate::error::{ErrorKind, IrError, SourcePlace};
use crate::handle::{Block, Op, TextRef, Value};
use crate::program::{Def, Program};
use crate::verify::verify_types::{has_wrong_promise, says_threads, signature};
use lanebook_tables::OpRole;

/// Checks a program; numbers its operations on the way.
pub fn verify(program: &mut Program<'_, '_>) -> Result<(), IrError> {
    program.renumber();
    let mut at = program.first(program.root());
    while let Some(op) = at {
        if let Err(kind) = operation(program, op) {
            let key = if kind == ErrorKind::AttrValue { blamed(program, op) } else { None };
            let at = key.map(|key| program.place_of(key)).filter(|at| at.line > 0);
            return Err(IrError {
                kind,
                at: at.map_or_else(|| program.place(op), |at| SourcePlace { op: Some(op), ..at }),
            });
        }
        at = program.following(op, None);
    }
    Ok(())
}

#[doc(hidden)] // Questions of the floors above.
impl Program<'_, '_> {
    /// Numbers the operations in text order, for [`before`](Self::before) and
    /// [`dominates`](Self::dominates). Not a change: it is neither counted nor recorded.
    pub fn renumber(&mut self) {
        let mut at = self.first(self.root());
        let mut order = 0u16;
        while let Some(op) = at {
            if let Some(data) = self.pools.ops.get_mut(op.index()) {
                data.order = order;
            }
            order = order.wrapping_add(1);
            at = self.following(op, None);
        }
    }
    /// Number in text order since [`renumber`](Self::renumber).
    #[must_use]
    pub fn order(&self, op: Op) -> u16 {
        self.op_data(op).map_or(0, |data: &OpData| data.order)
    }
    /// Whether one operation stands before another in the text; needs [`renumber`](Self::renumber).
    #[must_use]
    pub fn before(&self, first: Op, second: Op) -> bool {
        self.order(first) < self.order(second)
    }
    /// The operation in `block` that is, or holds, another.
    #[must_use]
    pub fn ancestor_in(&self, op: Op, block: Block) -> Option<Op> {
        let mut at = op;
        loop {
            let here = self.block_of(at)?;
            if here == block {
                return Some(at);
            }
            at = self.owner_of(here)?;
        }
    }
    /// Whether a value is defined wherever an operation runs; needs [`renumber`](Self::renumber).
    #[must_use]
    pub fn dominates(&self, value: Value, op: Op) -> bool {
        match self.def(value) {
            Def::Literal(_) => true,
            Def::Nothing => false,
            Def::Argument(block, _) => {
                block == self.root() || self.ancestor_in(op, block).is_some()
            }
            Def::Result(def, _) => {
                let ancestor = self.block_of(def).and_then(|block| self.ancestor_in(op, block));
                ancestor.is_some_and(|ancestor| ancestor != def && self.before(def, ancestor))
            }
        }
    }
}

/// The key of the attribute whose value is wrong.
fn blamed(program: &Program<'_, '_>, op: Op) -> Option<TextRef> {
    let key = |words: &[&str]| {
        program
            .attrs(op)
            .find(|attr| words.iter().any(|word| program.key_is(attr.key, word)))
            .map(|attr| attr.key)
    };
    if program.role(op) != OpRole::Function {
        return key(&[attr_names::ORDER, attr_names::AXIS]);
    }
    if !says_threads(program, op) {
        return key(&[attr_names::THREADS]);
    }
    program.parameters(op).find_map(|parameter| {
        let wrong = has_wrong_promise(program, parameter)?;
        program
            .value_attrs(parameter)
            .find(|attr| program.key_is(attr.key, wrong))
            .map(|attr| attr.key)
    })
}

fn operation(program: &Program<'_, '_>, op: Op) -> Result<(), ErrorKind> {
    let role = program.role(op);
    counts(program, op)?;
    for (number, value) in program.all_operands(op).enumerate() {
        if !program.dominates(value, op) {
            return Err(ErrorKind::NotDominated { operand: small(number) });
        }
    }
    if role.is_terminator() && program.next(op).is_some() {
        return Err(ErrorKind::EarlyTerminator);
    }
    // A module is an operation that is only kept, and functions may stand in it.
    let outside = program.parent(op).is_none_or(|parent| program.role(parent) == OpRole::Opaque);
    if (role == OpRole::Function) && !outside {
        return Err(ErrorKind::Misplaced);
    }
    signature(program, op, role)
}

/// Numbers of operands, results and regions against the declaration.
fn counts(program: &Program<'_, '_>, op: Op) -> Result<(), ErrorKind> {
    let Some(decl) = program.decl(op) else { return Ok(()) };
    let inside = |(least, most): (u8, u8), found: usize| {
        found >= usize::from(least) && (most == u8::MAX || found <= usize::from(most))
    };
    let found = program.operand_count(op);
    if !inside(decl.operands, found) {
        return Err(ErrorKind::OperandCount {
            least: decl.operands.0,
            most: decl.operands.1,
            found: small(found),
        });
    }
    let found = program.results(op).count();
    if !inside(decl.results, found) {
        return Err(ErrorKind::ResultCount {
            least: decl.results.0,
            most: decl.results.1,
            found: small(found),
        });
    }
    let found = program.regions(op).count();
    let combiner = decl.role.combines() && found == 1;
    if found != usize::from(decl.regions) && !combiner {
        return Err(ErrorKind::RegionCount { expected: decl.regions, found: small(found) });
    }
    Ok(())
}

pub(crate) fn small(number: usize) -> u16 {
    u16::try_from(number).unwrap_or(u16::MAX)
}
