//! Records emitted steps and runs them by their meanings.
use lanebook::expr::{Arg, InstSink, Reg};
use lanebook_tables::{AtomId, ClassId, IndexOp, Role, Tables, TermNode};
use std::collections::BTreeMap;
use std::convert::Infallible;

/// A list of steps.
#[derive(Clone, Debug)]
pub struct Recorder {
    /// Atoms with their operands.
    pub steps: Vec<(AtomId, Vec<Arg>)>,
    next: u16,
}

impl Recorder {
    /// An empty list; fresh registers are numbered after those of the variables.
    #[must_use]
    pub fn new(variables: &[Option<Reg>]) -> Self {
        let next = variables.iter().flatten().map(|reg| reg.first + reg.count).max().unwrap_or(0);
        Self { steps: Vec::new(), next }
    }
    /// The steps as text, for messages.
    #[must_use]
    pub fn text(&self, tables: &Tables<'_>) -> String {
        let name = |id: AtomId| tables.atom(id).map_or("?", |atom| atom.name());
        let arg = |arg: &Arg| match arg {
            Arg::Reg(reg) => format!("r{}.{}", reg.class.0, reg.first),
            Arg::Imm(value) => value.to_string(),
            _ => "-".to_string(),
        };
        self.steps
            .iter()
            .map(|(id, args)| {
                format!("{} {}\n", name(*id), args.iter().map(arg).collect::<Vec<_>>().join(", "))
            })
            .collect()
    }
}

impl InstSink for Recorder {
    type Error = Infallible;
    fn fresh(&mut self, class: ClassId, count: u16) -> Result<Reg, Infallible> {
        let first = self.next;
        self.next += count;
        Ok(Reg { class, first, count })
    }
    fn push(&mut self, atom: AtomId, args: &[Arg]) -> Result<(), Infallible> {
        self.steps.push((atom, args.to_vec()));
        Ok(())
    }
}

/// Values of registers by their numbers (every register of a run has its own).
pub type Registers = BTreeMap<u16, u64>;

/// Runs the steps.
///
/// # Panics
/// A step reads what was not written, writes twice, has an operand that its atom does not take, or
/// does not say what it means.
pub fn run(tables: &Tables<'_>, steps: &[(AtomId, Vec<Arg>)], registers: &mut Registers) {
    for (id, args) in steps {
        let atom = tables.atom(*id).expect("atom exists");
        assert_eq!(
            args.len(),
            atom.operands.len(),
            "{}: one argument for each operand",
            atom.name()
        );
        let make_uniform = tables.isas.iter().any(|isa| isa.make_uniform == Some(*id));
        let means: &[TermNode] = if atom.means.is_empty() && make_uniform {
            &[TermNode::Operand(1)]
        } else {
            &atom.means
        };
        assert!(!means.is_empty(), "{} has no meaning", atom.name());
        let values: Vec<Option<u64>> =
            args.iter()
                .zip(atom.operands)
                .map(|(arg, operand)| match (arg, operand.role) {
                    (_, Role::Def) => None,
                    (Arg::Reg(reg), _) => {
                        assert!(
                            reg.class == operand.class || operand.also.contains(&reg.class),
                            "{}: operand {} does not take class {}",
                            atom.name(),
                            operand.name.text(),
                            reg.class.0
                        );
                        assert_eq!(
                            reg.count,
                            operand.registers.into(),
                            "{}: operand {}",
                            atom.name(),
                            operand.name.text()
                        );
                        Some(*registers.get(&reg.first).unwrap_or_else(|| {
                            panic!("{} reads an unwritten register", atom.name())
                        }))
                    }
                    (Arg::Imm(value), _) => Some(*value as u64),
                    _ => None,
                })
                .collect();
        let value = term(&mut means.iter(), &values, 32);
        let Some(Arg::Reg(reg)) = args.first() else { panic!("{} has no result", atom.name()) };
        let bits =
            tables.isa(atom.isa).map_or(32, |isa| isa.classes[reg.class.index()].bits) * reg.count;
        let before =
            registers.insert(reg.first, if bits == 32 { u64::from(value as u32) } else { value });
        assert!(before.is_none(), "{} writes a register twice", atom.name());
    }
}

/// The value of a meaning; an evaluator that shares nothing with `IndexOp::eval`.
fn term<'a>(
    nodes: &mut impl Iterator<Item = &'a TermNode>,
    operands: &[Option<u64>],
    width: u8,
) -> u64 {
    let cut = |value: u64| {
        if width == 32 { value & 0xffff_ffff } else { value }
    };
    match nodes.next().expect("a whole term") {
        TermNode::Operand(number) => cut(operands[usize::from(*number)].expect("a value operand")),
        TermNode::Const(value) => cut(*value as u64),
        TermNode::Op(op, arity) => {
            let args: Vec<u64> = (0..*arity)
                .map(|number| {
                    let wide = matches!((op, number), (IndexOp::Add64, _) | (IndexOp::Shl64, 0));
                    term(nodes, operands, if wide { 64 } else { 32 })
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
                IndexOp::Shl => {
                    assert!(b < 32, "shift by {b}");
                    (a << b) & 0xffff_ffff
                }
                IndexOp::Shr => {
                    assert!(b < 32, "shift by {b}");
                    a >> b
                }
                IndexOp::MulWide64 => a * b,
                IndexOp::Add64 => a.wrapping_add(b),
                IndexOp::Extend64 => a,
                IndexOp::Shl64 => {
                    assert!(b < 64, "shift by {b}");
                    a << b
                }
            }
        }
        TermNode::Lut3(table) => {
            let table = operands[usize::from(*table)].expect("a table");
            let [a, b, c] = [(); 3].map(|()| term(nodes, operands, 32));
            (0..32).fold(0, |out, bit| {
                out | (table >> ((a >> bit & 1) << 2 | (b >> bit & 1) << 1 | (c >> bit & 1)) & 1)
                    << bit
            })
        }
        TermNode::BytePermute => panic!("byte permutations do not occur in addresses"),
    }
}

/// Whether every operand is one that the architecture's encodings take: numbers in range or inline,
/// and no more scalar registers and literals than one vector instruction may read.
///
/// # Errors
/// The offending step as text.
pub fn legal(
    tables: &Tables<'_>,
    arch: lanebook_tables::ArchId,
    recorder: &Recorder,
) -> Result<(), String> {
    let arch = tables.arch(arch).expect("architecture exists");
    let isa = tables.isa(arch.isa).expect("instruction set exists");
    for (number, (id, args)) in recorder.steps.iter().enumerate() {
        let atom = tables.atom(*id).expect("atom exists");
        let line = recorder.text(tables).lines().nth(number).unwrap_or("").to_string();
        if !arch.atoms.iter().any(|have| have.atom == *id) {
            return Err(format!("{line}: not an instruction of {}", arch.name));
        }
        let scalar = |class: ClassId| {
            isa.classes[class.index()].kind == lanebook_tables::RegisterKind::Scalar
        };
        let vector = atom.operands.first().is_some_and(|operand| !scalar(operand.class));
        let (mut scalars, mut literals) =
            (std::collections::BTreeSet::new(), std::collections::BTreeSet::new());
        for (arg, operand) in args.iter().zip(atom.operands) {
            match arg {
                Arg::Imm(value) => {
                    let inline = (i64::from(arch.inline_integers.0)
                        ..=i64::from(arch.inline_integers.1))
                        .contains(value);
                    let in_range = (operand.range.0..=operand.range.1).contains(value);
                    if operand.role == Role::Immediate {
                        if !in_range {
                            return Err(format!("{line}: {value} is out of range"));
                        }
                    } else if !inline {
                        if !in_range {
                            return Err(format!(
                                "{line}: operand {} does not take {value}",
                                operand.name.text()
                            ));
                        }
                        literals.insert(*value);
                    }
                }
                Arg::Reg(reg) if scalar(reg.class) && operand.role != Role::Def => {
                    scalars.insert(reg.first);
                }
                _ => {}
            }
        }
        if arch.scalar_reads > 0
            && (literals.len() > 1
                || (vector && scalars.len() + literals.len() > usize::from(arch.scalar_reads)))
        {
            return Err(format!("{line}: too many scalars and literals"));
        }
    }
    Ok(())
}
