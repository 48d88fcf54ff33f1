//! What `entries.py` cannot write: graphs and sinks whose answers nobody can predict.
use core::hint::black_box;
use lanebook::expr::{Arg, InstSink, Reg};
use lanebook::rewrite::{Bound, Graph, RunError, Terms, TileMake, View, Work};
use lanebook_tables::{AtomId, ClassId, IndexOp, Word};

/// A term graph and a step sink about which the optimiser knows nothing.
pub struct Opaque;

fn any<T>(value: T) -> T {
    black_box(value)
}

impl Terms for Opaque {
    type Id = u16;
    fn view(&self, id: u16) -> View {
        any(View::Const { value: u64::from(id), width: 32 })
    }
    fn arity(&self, id: u16) -> u8 {
        any(id as u8)
    }
    fn operand(&self, id: u16, number: u8) -> Option<u16> {
        any(Some(id ^ u16::from(number)))
    }
    fn holds(&self, word: Word, args: &[Bound<u16>]) -> bool {
        any((word, args.len())).1 > 0
    }
}

impl Graph for Opaque {
    type Error = u32;
    type Mark = ();
    fn refresh(&mut self, id: u16) -> Result<Option<u16>, u32> {
        any(Ok(Some(id)))
    }
    fn settle(&mut self, id: u16) {
        any(id);
    }
    fn make_const(&mut self, value: u64, width: u8) -> Result<u16, u32> {
        any(Ok(value as u16 ^ u16::from(width)))
    }
    fn make_index(&mut self, op: IndexOp, args: &[u16]) -> Result<u16, u32> {
        any((op, args.first()));
        any(Ok(0))
    }
    fn make_tile(&mut self, make: TileMake<u16>, args: &[u16], root: u16) -> Result<u16, u32> {
        any((make, args.first()));
        any(Ok(root))
    }
    fn replace(
        &mut self,
        old: u16,
        new: u16,
        work: &mut Work<'_, u16>,
    ) -> Result<(), RunError<u32>> {
        work.push(any(old ^ new))
    }
    fn checkpoint(&mut self) {}
    fn rollback(&mut self, (): ()) {}
}

impl InstSink for Opaque {
    type Error = u32;
    fn fresh(&mut self, class: ClassId, count: u16) -> Result<Reg, u32> {
        any(Ok(Reg { class, first: count, count }))
    }
    fn push(&mut self, atom: AtomId, args: &[Arg]) -> Result<(), u32> {
        any((atom, args.first()));
        any(Ok(()))
    }
}
