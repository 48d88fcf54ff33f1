//! A machine that runs steps by what the tables say of their atoms, and by nothing else: movements
//! and matrix products by their layouts, arithmetic by its meaning, branches by the instruction set's
//! frame. All waves take each step together, so barriers need no thought.
use lanebook::compile::Compiled;
use lanebook::emit::step::{Inst, InstKind, Slot};
use lanebook_layout::{AxisId, LayoutRef};
use lanebook_tables::{
    Arch, Atom, AtomClass, IndexOp, Isa, RegisterKind, Side, Space, Tables, TermNode,
};
use std::collections::BTreeMap;

/// Registers, memories and parameters of a group of threads.
pub struct Machine<'t> {
    tables: &'t Tables<'t>,
    isa: &'t Isa<'t>,
    lanes: usize,
    waves: usize,
    /// By class, number and thread; scalar classes have the threads of a wave alike.
    registers: BTreeMap<(u8, u16, usize), u32>,
    /// Global memory by byte address; what was never written reads as a fault.
    pub global: BTreeMap<u64, u8>,
    shared: BTreeMap<u64, u8>,
    /// The parameters as they lie in memory.
    pub params: Vec<u8>,
    /// The parameters by number, where there is no memory that they lie in.
    pub numbered: Vec<u64>,
}

impl<'t> Machine<'t> {
    pub fn new(tables: &'t Tables<'t>, arch: &'t Arch<'t>, threads: usize) -> Self {
        let isa = tables.isa(arch.isa).expect("instruction set");
        let lanes = usize::from(arch.wave_lanes[0]);
        let mut machine = Self {
            tables,
            isa,
            lanes,
            waves: threads / lanes,
            registers: BTreeMap::new(),
            global: BTreeMap::new(),
            shared: BTreeMap::new(),
            params: Vec::new(),
            numbered: Vec::new(),
        };
        let thread = isa.thread_register.expect("a register with the thread's number");
        for t in 0..threads {
            machine.registers.insert((thread.class.0 as u8, thread.number, t), t as u32);
        }
        machine
    }

    pub fn run(&mut self, compiled: &Compiled<'_>) {
        let place = |label: Slot| {
            let is_place = |step: &Inst| step.purpose == InstKind::Label && step.args[0] == label;
            compiled.steps.iter().position(is_place).expect("a label's place")
        };
        let (mut at, mut steps) = (0, 0);
        while let Some(step) = compiled.steps.get(at) {
            at += 1;
            steps += 1;
            assert!(steps < 1 << 20, "it does not end");
            if step.purpose == InstKind::Label {
                continue;
            }
            if step.atom == self.isa.branch {
                at = place(step.args[0]);
                continue;
            }
            if step.atom == self.isa.branch_if {
                if self.holds(compiled, step.args[0]) {
                    at = place(step.args[1]);
                }
                continue;
            }
            let atom = self.tables.atom(step.atom).expect("atom");
            for wave in 0..self.waves {
                self.step(compiled, atom, step, wave);
            }
        }
    }

    /// Whether a predicate holds; all threads have to agree.
    fn holds(&self, compiled: &Compiled<'_>, slot: Slot) -> bool {
        let of = |thread| self.value(compiled, slot, thread) != 0;
        assert!((0..self.waves * self.lanes).all(|thread| of(thread) == of(0)), "threads part");
        of(0)
    }

    /// The physical register `index` of an operand.
    fn register(compiled: &Compiled<'_>, slot: Slot, index: u16) -> (u8, u16) {
        match slot {
            Slot::Reg { class, first, .. } => (class, first + index),
            Slot::Spread { class, first, pattern, .. } => {
                let weights = compiled.patterns[usize::from(pattern)];
                let offset: u16 = weights
                    .iter()
                    .enumerate()
                    .map(|(bit, weight)| (index >> bit & 1) * *weight)
                    .sum();
                (class, first + offset)
            }
            other => panic!("{other:?} is no register"),
        }
    }

    fn is_scalar(&self, class: u8) -> bool {
        self.isa.classes[usize::from(class)].kind == RegisterKind::Scalar
    }

    /// Where a lane's copy of a register is kept.
    fn at(&self, (class, number): (u8, u16), thread: usize) -> (u8, u16, usize) {
        (
            class,
            number,
            if self.is_scalar(class) { thread / self.lanes * self.lanes } else { thread },
        )
    }

    fn read(&self, register: (u8, u16), thread: usize) -> u32 {
        *self
            .registers
            .get(&self.at(register, thread))
            .unwrap_or_else(|| panic!("register {register:?} of thread {thread} was not written"))
    }

    /// An operand's value, up to 64 bits.
    fn value(&self, compiled: &Compiled<'_>, slot: Slot, thread: usize) -> u64 {
        match slot {
            Slot::Int(value) => value as u64,
            Slot::Word(value) => u64::from(value),
            Slot::Reg { count, .. } => (0..count).fold(0, |value, k| {
                value | u64::from(self.read(Self::register(compiled, slot, k), thread)) << (32 * k)
            }),
            other => panic!("{other:?} has no value"),
        }
    }

    fn write(&mut self, compiled: &Compiled<'_>, slot: Slot, thread: usize, value: u64) {
        let Slot::Reg { count, .. } = slot else { panic!("{slot:?} is written") };
        for k in 0..count {
            let at = self.at(Self::register(compiled, slot, k), thread);
            self.registers.insert(at, (value >> (32 * k)) as u32);
        }
    }

    fn step(&mut self, compiled: &Compiled<'_>, atom: &Atom<'_>, step: &Inst, wave: usize) {
        let first = wave * self.lanes;
        if Some(step.atom) == self.isa.make_uniform {
            let value = self.value(compiled, step.args[1], first);
            self.write(compiled, step.args[0], first, value);
        } else if step.atom == self.isa.load_param32 || step.atom == self.isa.load_param64 {
            let number = |slot: &Slot| if let Slot::Int(n) = slot { Some(*n) } else { None };
            let Some(offset) = step.args.iter().find_map(number) else {
                panic!("{}: {:?}", atom.name(), step.args)
            };
            let bytes = if step.atom == self.isa.load_param64 { 8 } else { 4 };
            let byte = |k: usize| u64::from(self.params[offset as usize + k]) << (8 * k);
            let value = match self.isa.param_base {
                Some(_) => (0..bytes).map(byte).sum(),
                None => self.numbered[offset as usize],
            };
            for thread in first..first + self.lanes {
                self.write(compiled, step.args[0], thread, value);
            }
        } else if step.atom == self.isa.compare_less || Some(step.atom) == self.isa.compare_signed {
            for thread in first..first + self.lanes {
                let of = |k: usize| self.value(compiled, step.args[k], thread) as u32 as i32;
                let less = of(1) < of(2);
                self.write(compiled, step.args[0], thread, u64::from(less));
            }
        } else if !atom.means.is_empty() {
            let width = match step.args[0] {
                Slot::Reg { count, .. } => 32 * u32::from(count),
                other => panic!("{other:?} is written"),
            };
            let scalar = matches!(step.args[0], Slot::Reg { class, .. } if self.is_scalar(class));
            let threads = if scalar { first..first + 1 } else { first..first + self.lanes };
            for thread in threads {
                let value = self.term(compiled, &mut atom.means.iter(), step, thread, width);
                self.write(compiled, step.args[0], thread, value);
            }
        } else if atom.movement.is_some() {
            self.movement(compiled, atom, step, first);
        } else if atom.matrix.is_some() {
            self.product(compiled, atom, step, first);
        } else {
            assert!(
                matches!(atom.class, AtomClass::Sync | AtomClass::Control),
                "{} does something that no table says",
                atom.name()
            );
        }
    }

    /// Bit positions of the tuple that an operand's layout names, for each coordinate: (lane, bit),
    /// all copies.
    fn places(layout: &LayoutRef<'_>, x: u64) -> Vec<(usize, u16)> {
        let mut out = Vec::new();
        let mut at = lanebook_layout::coord::Coord::new();
        let walked = layout.apply_all(x, &mut at, |place| {
            out.push((place.get(AxisId::LANE) as usize, place.get(AxisId::BIT) as u16));
            Ok(())
        });
        walked.expect("a place");
        out
    }

    fn bit_range(
        &self,
        compiled: &Compiled<'_>,
        slot: Slot,
        thread: usize,
        bit: u16,
        bits: u16,
    ) -> u64 {
        let word = u64::from(self.read(Self::register(compiled, slot, bit / 32), thread));
        assert!(bit % 32 + bits <= 32, "an element over two registers");
        word >> (bit % 32) & (u64::MAX >> (64 - bits))
    }

    fn set_bit_range(
        &mut self,
        compiled: &Compiled<'_>,
        slot: Slot,
        thread: usize,
        bit: u16,
        bits: u16,
        value: u64,
    ) {
        let at = self.at(Self::register(compiled, slot, bit / 32), thread);
        let mask = (u64::MAX >> (64 - bits)) << (bit % 32);
        let old = u64::from(self.registers.get(&at).copied().unwrap_or(0));
        self.registers.insert(at, (old & !mask | value << (bit % 32)) as u32);
    }

    fn movement(&mut self, compiled: &Compiled<'_>, atom: &Atom<'_>, step: &Inst, first: usize) {
        let movement = atom.movement.expect("a movement");
        let unit = movement.unit_bits;
        let offset = |on: &dyn Fn(&lanebook_tables::OffsetField) -> bool| -> i64 {
            let fields = movement.offsets.iter().filter(|field| on(field));
            fields
                .map(|field| {
                    if let Slot::Int(value) = step.args[usize::from(field.operand)] {
                        i64::from(value) * i64::from(field.scale)
                    } else {
                        0
                    }
                })
                .sum()
        };
        let size: u64 = movement.extents.iter().map(|extent| u64::from(*extent)).product();
        let mut moved = Vec::new();
        for x in 0..size {
            let bytes = usize::from(unit / 8);
            let address = |machine: &Self, side: &Side<'_>, offset: i64| {
                let slot = side.layout.offset_on(x, AxisId::SLOT).expect("slot") as usize;
                let byte = side.layout.offset_on(x, AxisId::BYTE).expect("byte");
                let base =
                    machine.value(compiled, step.args[usize::from(side.operand)], first + slot);
                let uniform = side.base.map_or(0, |number| {
                    machine.value(compiled, step.args[usize::from(number)], first)
                });
                let start = uniform.wrapping_add(base).wrapping_add_signed(offset);
                assert_eq!(
                    start % u64::from(side.align_bytes),
                    0,
                    "{}: address {start}",
                    atom.name()
                );
                start.wrapping_add_signed(byte)
            };
            let data = match movement.from.space {
                Space::Register => {
                    let (lane, bit) = Self::places(movement.from.layout, x)[0];
                    self.bit_range(
                        compiled,
                        step.args[usize::from(movement.from.operand)],
                        first + lane,
                        bit,
                        unit,
                    )
                }
                space => {
                    let at = address(self, &movement.from, offset(&|field| field.on_from));
                    let memory = if space == Space::Shared { &self.shared } else { &self.global };
                    (0..bytes).fold(0, |data, k| {
                        let byte = memory.get(&(at + k as u64)).unwrap_or_else(|| {
                            panic!(
                                "{} reads byte {at} + {k} of {space:?}, which was not written",
                                atom.name()
                            )
                        });
                        data | u64::from(*byte) << (8 * k)
                    })
                }
            };
            let to = (movement.to.space != Space::Register)
                .then(|| address(self, &movement.to, offset(&|field| field.on_to)));
            moved.push((x, data, to));
        }
        for (x, data, to) in moved {
            match to {
                None => {
                    for (lane, bit) in Self::places(movement.to.layout, x) {
                        self.set_bit_range(
                            compiled,
                            step.args[usize::from(movement.to.operand)],
                            first + lane,
                            bit,
                            unit,
                            data,
                        );
                    }
                }
                Some(at) => {
                    let memory = if movement.to.space == Space::Shared {
                        &mut self.shared
                    } else {
                        &mut self.global
                    };
                    for k in 0..u64::from(unit / 8) {
                        memory.insert(at + k, (data >> (8 * k)) as u8);
                    }
                }
            }
        }
    }

    fn product(&mut self, compiled: &Compiled<'_>, atom: &Atom<'_>, step: &Inst, first: usize) {
        let shape = atom.matrix.expect("a shape");
        let element = |machine: &Self, number: u8, x: u64| -> f32 {
            let operand = atom.operands.get(usize::from(number)).expect("operand");
            let slot = step.args[usize::from(number)];
            if let Slot::Int(value) = slot {
                return value as f32;
            }
            let bits =
                operand.dtype.and_then(|dtype| machine.tables.dtype(dtype)).expect("type").bits;
            let (lane, bit) = Self::places(operand.layout.expect("layout"), x)[0];
            let raw = machine.bit_range(compiled, slot, first + lane, bit, bits);
            if bits == 16 { half(raw as u16) } else { f32::from_bits(raw as u32) }
        };
        let (m, n, k) = (u64::from(shape.m), u64::from(shape.n), u64::from(shape.k));
        let mut sums = Vec::new();
        for i in 0..m {
            for j in 0..n {
                let products = (0..k)
                    .map(|l| element(self, shape.a, i * k + l) * element(self, shape.b, l * n + j));
                sums.push(products.sum::<f32>() + element(self, shape.c, i * n + j));
            }
        }
        let layout = atom
            .operands
            .get(usize::from(shape.d))
            .and_then(|operand| operand.layout)
            .expect("layout");
        for (x, sum) in (0u64..).zip(sums) {
            for (lane, bit) in Self::places(layout, x) {
                self.set_bit_range(
                    compiled,
                    step.args[usize::from(shape.d)],
                    first + lane,
                    bit,
                    32,
                    u64::from(sum.to_bits()),
                );
            }
        }
    }

    fn term<'a>(
        &self,
        compiled: &Compiled<'_>,
        nodes: &mut impl Iterator<Item = &'a TermNode>,
        step: &Inst,
        thread: usize,
        width: u32,
    ) -> u64 {
        let cut = |value: u64| if width == 32 { value & 0xffff_ffff } else { value };
        match nodes.next().expect("a whole term") {
            TermNode::Operand(number) => {
                cut(self.value(compiled, step.args[usize::from(*number)], thread))
            }
            TermNode::Const(value) => cut(*value as u64),
            TermNode::BytePermute => {
                let [high, low, choice] =
                    [(); 3].map(|()| self.term(compiled, nodes, step, thread, 32));
                let bytes = (high << 32 | low).to_le_bytes();
                (0..4).fold(0, |out, k| {
                    out | u64::from(bytes[(choice >> (8 * k) & 7) as usize]) << (8 * k)
                })
            }
            TermNode::Op(op, arity) => {
                let args: Vec<u64> = (0..*arity)
                    .map(|number| {
                        let wide =
                            matches!((op, number), (IndexOp::Add64, _) | (IndexOp::Shl64, 0));
                        self.term(compiled, nodes, step, thread, if wide { 64 } else { 32 })
                    })
                    .collect();
                let (a, b) = (args[0], args.get(1).copied().unwrap_or(0));
                match op {
                    IndexOp::Add => (a + b) & 0xffff_ffff,
                    IndexOp::Sub => (a + (1 << 32) - b) & 0xffff_ffff,
                    IndexOp::Mul => (a * b) & 0xffff_ffff,
                    IndexOp::And => a & b,
                    IndexOp::Or => a | b,
                    IndexOp::Xor => a ^ b,
                    IndexOp::Shl => (a << b) & 0xffff_ffff,
                    IndexOp::Shr => a >> b,
                    IndexOp::MulWide64 => a * b,
                    IndexOp::Add64 => a.wrapping_add(b),
                    IndexOp::Extend64 => a,
                    IndexOp::Shl64 => a << b,
                }
            }
            other => panic!("{other:?} is not used for addresses here"),
        }
    }
}

/// A half as a float; small integers only.
pub fn half(bits: u16) -> f32 {
    let (sign, exponent, fraction) = (bits >> 15, bits >> 10 & 31, bits & 1023);
    let magnitude = if exponent == 0 {
        f32::from(fraction) * 2f32.powi(-24)
    } else {
        (1.0 + f32::from(fraction) / 1024.0) * 2f32.powi(i32::from(exponent) - 15)
    };
    if sign == 1 { -magnitude } else { magnitude }
}

/// A small integer as a half.
pub fn to_half(value: i32) -> u16 {
    if value == 0 {
        return 0;
    }
    let magnitude = value.unsigned_abs();
    let exponent = 31 - magnitude.leading_zeros();
    let fraction = (magnitude << (10 - exponent)) & 1023;
    u16::from(value < 0) << 15 | ((exponent + 15) << 10 | fraction) as u16
}
