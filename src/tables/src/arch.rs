//! Architectures and instruction sets: everything that is true of a machine rather than of one
//! instruction.
use crate::{
    AccessId, AtomId, ClassId, Dispatch, DtypeId, FeatureId, IsaId, Piece, SourceId, Status, TagId,
};

/// An instruction set: how registers are named and a kernel is framed as text.
#[derive(Copy, Clone, Debug)]
pub struct Isa<'a> {
    /// Its name, as the command line's `--emit` spells it.
    pub name: &'a str,
    /// Register classes; operands of atoms refer to them.
    pub classes: &'a [RegisterClass<'a>],
    /// How a register tuple is written, and whether its members must be consecutive.
    pub tuples: TupleStyle,
    /// Lines before the body. Placeholders are documented in `rules/README.md`.
    pub prologue: &'a [Piece<'a>],
    /// Written once for each kernel parameter inside the prologue's `{params}`.
    pub param: &'a [Piece<'a>],
    /// The same for a parameter that is a block of bytes; empty where there are none.
    pub param_block: &'a [Piece<'a>],
    /// The same for a parameter that is a pointer; empty where it is written as the others.
    pub param_pointer: &'a [Piece<'a>],
    /// Text between two parameters.
    pub param_separator: &'a str,
    /// Written once for each register class that the kernel uses inside `{registers}`.
    pub register_decl: &'a [Piece<'a>],
    /// What `{shared}` in the prologue becomes when the kernel uses shared memory that can be
    /// declared statically.
    pub shared_decl: &'a [Piece<'a>],
    /// The same for more than the static limit; empty where there is no such form.
    pub shared_decl_dynamic: &'a [Piece<'a>],
    /// Lines after the body.
    pub epilogue: &'a [Piece<'a>],
    /// How a label is written where it stands: text after its name.
    pub label_suffix: &'a str,
    /// What starts a comment.
    pub comment: &'a str,
    /// Whether kernel parameters are loaded from a pointer in a fixed register (`Some`) or by name
    /// (`None`).
    pub param_base: Option<Operandless<'a>>,
    /// The thread's number in the group, where it stands at entry (`Some`: a fixed register), or
    /// `None`: read by [`Isa::read_thread`].
    pub thread_register: Option<Operandless<'a>>,
    /// Atom that reads the thread's number, if it is not in a register at entry.
    pub read_thread: Option<AtomId>,
    /// The block's number along x, y and z, where it stands in registers at entry; empty where
    /// [`Isa::read_block`] reads it. They are there up to the last axis that the kernel asks for.
    pub block_registers: &'a [Operandless<'a>],
    /// Atoms that read the block's number along x, y and z; empty where it stands in registers.
    pub read_block: &'a [AtomId],
    /// Atoms that read how many blocks there are along x, y and z; empty where these are parameters
    /// behind all others.
    pub read_blocks: &'a [AtomId],
    /// Written for such a parameter in place of [`Isa::param`]; empty where there are none.
    pub param_blocks: &'a [Piece<'a>],
    /// What an assembler must be told besides the text, an argument each; placeholders `target` and
    /// `wave_lanes`.
    pub flags: &'a [&'a [Piece<'a>]],
    /// Quotient of two 32-bit numbers without signs, rounded down: operands (quotient,
    /// dividend, divisor). A divisor of 0 gives any number.
    pub divide: Option<AtomId>,
    /// How many of the highest bits of a 32-bit number are 0, where quotients are computed by it:
    /// operands (count, number). The number is not 0.
    pub leading_zeros: Option<AtomId>,
    /// Atom that loads a 32-bit kernel parameter.
    pub load_param32: AtomId,
    /// Atom that loads a 64-bit kernel parameter.
    pub load_param64: AtomId,
    /// Atom that takes the address of a parameter that is a block of bytes: operands (register,
    /// number of the parameter).
    pub param_address: Option<AtomId>,
    /// Atom that turns a value known to be equal in all lanes of a wave into a scalar register, if
    /// scalars are a class of their own.
    pub make_uniform: Option<AtomId>,
    /// Atom that puts the shared segment's base address into a register, if it is not zero.
    pub shared_base: Option<AtomId>,
    /// Unconditional branch: operand (label).
    pub branch: AtomId,
    /// Branch when a predicate holds: operands (predicate, label).
    pub branch_if: AtomId,
    /// Unsigned "less than" into a predicate: operands (predicate, a, b).
    pub compare_less: AtomId,
    /// The same of two numbers with signs.
    pub compare_signed: Option<AtomId>,
    /// How an instruction is kept to some of the lanes, if it can be.
    pub guard: Option<LaneGuard<'a>>,
    /// End of the kernel.
    pub end: AtomId,
    /// Waits a number of wait states (the immediate is the number less one), if hazards are
    /// software's duty.
    pub nop: Option<AtomId>,
    /// What can be asked of the instruction set whatever the architecture: see [`Isa::dispatch`].
    pub dispatch: Dispatch<'a>,
}

/// How an instruction is kept to the lanes in which a word is below zero.
#[derive(Copy, Clone, Debug)]
pub struct LaneGuard<'a> {
    /// The class of what an instruction is guarded by: a predicate that [`Self::test`] makes of the
    /// word, or the word itself.
    pub class: ClassId,
    /// Signed "less than" into such a predicate: operands (predicate, word, number).
    pub test: Option<AtomId>,
    /// Text in front of the instruction, with the placeholder `guard`; lines count as instructions.
    pub before: &'a [Piece<'a>],
    /// Text behind it: all lanes are there again.
    pub after: &'a [Piece<'a>],
    /// Instructions that the text adds.
    pub issue: u8,
    /// The special register that the text writes, if it writes one.
    pub writes: Option<ClassId>,
}

/// A register by its fixed name.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Operandless<'a> {
    /// The class it belongs to.
    pub class: ClassId,
    /// Its first number in that class.
    pub number: u16,
    /// How many 32-bit registers it spans.
    pub count: u8,
    /// As written.
    pub text: &'a str,
}

/// How register tuples are written.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum TupleStyle {
    /// `{%r1, %r7}`: any registers, in braces.
    Braces,
    /// `v[4:7]`: consecutive registers.
    Range,
}

/// What a register class is for.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum RegisterKind {
    /// One value a lane.
    Vector,
    /// One value a lane, reachable by matrix instructions and moves only.
    Accumulator,
    /// One value a wave.
    Scalar,
    /// One truth value a lane (or a wave).
    Predicate,
    /// A single register with a fixed name.
    Special,
}

impl Isa<'_> {
    /// Most registers of one tile that a lane can hold, in whichever class holds most.
    ///
    /// ```
    /// use lanebook::TABLES;
    ///
    /// let most = |arch: &str| {
    ///     let arch = TABLES.arch_named(arch).and_then(|id| TABLES.arch(id)).unwrap();
    ///     TABLES.isa(arch.isa).unwrap().tile_most()
    /// };
    /// // A thread has 255 registers; a lane of CDNA has 256 accumulators beside its vectors.
    /// assert_eq!((most("sm_90a"), most("gfx950"), most("gfx1200")), (255, 256, 255));
    /// ```
    #[must_use]
    pub fn tile_most(&self) -> u16 {
        self.classes.iter().map(|class| class.tile_most).max().unwrap_or(0)
    }
}

/// A class of registers.
#[derive(Copy, Clone, Debug)]
pub struct RegisterClass<'a> {
    /// Name in operands, e.g. `b32`, `vgpr`.
    pub name: &'a str,
    /// Text before the number, or the whole text of a special register.
    pub prefix: &'a str,
    /// Width of one register in bits.
    pub bits: u16,
    /// What it is for.
    pub kind: RegisterKind,
    /// How the class is declared, e.g. `.b32`; empty where registers are not declared.
    pub declared: &'a str,
    /// Registers for the kernel's body: first and count. Count 0 = as many as wanted (the assembler
    /// allocates).
    pub pool: (u16, u16),
    /// Most registers of one tile that a lane can hold in it; 0 where tiles are in other classes.
    pub tile_most: u16,
    /// A tuple of two or more starts at a multiple of this.
    pub tuple_align: u8,
}

/// An architecture.
#[derive(Copy, Clone, Debug)]
pub struct Arch<'a> {
    /// Its name.
    pub name: &'a str,
    /// What the assembler calls it. Entries that differ in the wave size only have the same.
    pub target: &'a str,
    /// Vendor folder.
    pub vendor: &'a str,
    /// Its instruction set.
    pub isa: IsaId,
    /// Lowest instruction-set text version that the assembler takes for it, e.g. `7.0`; empty if
    /// versions do not exist.
    pub isa_version: &'a str,
    /// Lanes in a wave; the first is the default.
    pub wave_lanes: &'a [u16],
    /// Most threads in a group.
    pub max_threads: u16,
    /// Shared memory (LDS).
    pub shared: SharedLimits,
    /// Bank models; sides of atoms refer to them by name.
    pub banks: &'a [BankModel<'a>],
    /// Atoms it has, ascending. What is wanted of them is asked by [`Arch::dispatch`]; only
    /// listings read them one by one.
    pub atoms: &'a [ArchAtom],
    /// Its atoms by what they can do.
    pub dispatch: Dispatch<'a>,
    /// Features, ascending: groups of the tables that it has some of.
    pub features: &'a [FeatureId],
    /// Which accesses need which steps between them.
    pub sync: &'a [SyncRule<'a>],
    /// Counters that asynchronous atoms advance and waits look at.
    pub counters: &'a [Counter<'a>],
    /// Pairs of atoms that need wait states between them.
    pub hazards: &'a [Hazard<'a>],
    /// Integers that any operand takes without a literal, inclusive; empty when low > high.
    pub inline_integers: (i32, i32),
    /// Element types whose subnormal numbers its matrix instructions take as zero; the sums that
    /// such a product gives lose theirs, too.
    pub flushed: &'a [DtypeId],
    /// Most scalar registers (and literals) that one vector instruction reads; 0 = no limit.
    pub scalar_reads: u8,
    /// Where the figures come from.
    pub sources: &'a [SourceId],
}

/// Shared-memory limits.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct SharedLimits {
    /// Bytes a group may declare statically in the kernel text.
    pub static_bytes: u32,
    /// Bytes a group may use at most (a launch attribute may be needed above `static_bytes`).
    pub max_bytes: u32,
}

/// An atom as one architecture has it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct ArchAtom {
    /// Which atom.
    pub atom: AtomId,
    /// One machine instruction (`true`), or expanded by the assembler, or taken by it without
    /// anything that says that the machine has it (`false`).
    pub native: bool,
    /// Something says that the machine has it, or what it is expanded to: what the assembler alone
    /// takes is never picked.
    pub documented_for_arch: bool,
}

/// Which lanes (or address slots) are served together, and over how many banks.
#[derive(Copy, Clone, Debug)]
pub struct BankModel<'a> {
    /// Name that [`crate::Side::banks`] refers to, e.g. `read128`.
    pub name: &'a str,
    /// Number of banks.
    pub banks: u16,
    /// Bytes a bank delivers in one cycle.
    pub bank_bytes: u8,
    /// Lane masks served together; they partition the wave's lanes (or slots).
    pub groups: &'a [u64],
    /// How sure this is.
    pub status: Status,
    /// Where it comes from.
    pub sources: &'a [SourceId],
}

impl<'a> Arch<'a> {
    /// What has to stand between an access and a later one to the same place; `None` where the
    /// tables say nothing of such a pair. Its atoms are [`crate::Capability::Order`]'s.
    ///
    /// ```
    /// use lanebook::TABLES;
    /// use lanebook::tables::{Capability, SyncRule};
    ///
    /// for arch in TABLES.archs {
    ///     for rule in arch.sync {
    ///         let found: &SyncRule = arch.sync_between(rule.producer, rule.consumer).unwrap();
    ///         let order = Capability::Order { before: rule.producer, after: rule.consumer };
    ///         assert!(found.steps.iter().all(|s| arch.dispatch(order).contains(&s.atom)));
    ///     }
    /// }
    /// ```
    #[must_use]
    pub fn sync_between(&self, producer: AccessId, consumer: AccessId) -> Option<&'a SyncRule<'a>> {
        self.syncs_behind(producer).find(|rule| rule.consumer == consumer)
    }

    /// The rules for what follows an access of a kind, in the order of the tables.
    ///
    /// ```
    /// use lanebook::TABLES;
    ///
    /// for arch in TABLES.archs {
    ///     for rule in arch.sync {
    ///         assert!(arch.syncs_behind(rule.producer).any(|own| own.consumer == rule.consumer));
    ///     }
    /// }
    /// ```
    pub fn syncs_behind(
        &self,
        producer: AccessId,
    ) -> impl Iterator<Item = &'a SyncRule<'a>> + Clone + 'a {
        self.sync.iter().filter(move |rule| rule.producer == producer)
    }

    /// Every step at which all waves of a group meet, as often as rules want it.
    ///
    /// ```
    /// use lanebook::TABLES;
    ///
    /// assert!(TABLES.archs.iter().all(|arch| arch.barriers().all(|step| step.barrier)));
    /// assert!(TABLES.archs.iter().any(|arch| arch.barriers().next().is_some()));
    /// ```
    pub fn barriers(&self) -> impl Iterator<Item = &'a SyncStep<'a>> + Clone + 'a {
        self.sync.iter().flat_map(|rule| rule.steps).filter(|step| step.barrier)
    }

    /// The counters that an instruction waits for, with their numbers.
    ///
    /// ```
    /// use lanebook::TABLES;
    /// use lanebook::tables::Capability;
    ///
    /// for arch in TABLES.archs {
    ///     for (number, counter) in (0u8..).zip(arch.counters) {
    ///         assert!(arch.waited_by(counter.wait).any(|(found, _)| found == number));
    ///         assert_eq!(arch.dispatch(Capability::Wait { counter: number }), [counter.wait]);
    ///     }
    /// }
    /// ```
    pub fn waited_by(
        &self,
        wait: AtomId,
    ) -> impl Iterator<Item = (u8, &'a Counter<'a>)> + Clone + 'a {
        (0u8..).zip(self.counters).filter(move |(_, counter)| counter.wait == wait)
    }
}

/// Between an access of kind `producer` and a later conflicting access of kind `consumer` these
/// steps must stand.
#[derive(Copy, Clone, Debug)]
pub struct SyncRule<'a> {
    /// Kind of the earlier access.
    pub producer: AccessId,
    /// Kind of the later access.
    pub consumer: AccessId,
    /// In order.
    pub steps: &'a [SyncStep<'a>],
    /// Where it comes from.
    pub sources: &'a [SourceId],
}

/// One synchronisation instruction with its immediates.
#[derive(Copy, Clone, Debug)]
pub struct SyncStep<'a> {
    /// Which.
    pub atom: AtomId,
    /// Values of its immediate operands, in order.
    pub immediates: &'a [i32],
    /// `true`: stands right after the producers (e.g. closing a group of copies); `false`: right
    /// before the consumers.
    pub after_producer: bool,
    /// `true`: makes every wave of the group wait (a barrier), so one serves all pending pairs.
    pub barrier: bool,
}

/// A completion counter.
#[derive(Copy, Clone, Debug)]
pub struct Counter<'a> {
    /// Its name.
    pub name: &'a str,
    /// Most outstanding operations that a wait can express.
    pub max: u16,
    /// Operations complete in issue order (else only a wait for zero is meaningful).
    pub in_order: bool,
    /// The atom that waits; its only immediate operand for this counter is `operand`.
    pub wait: AtomId,
    /// Index of the wait's immediate operand that bounds this counter.
    pub operand: u8,
}

/// Which use of a register a hazard is about.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum HazardUse {
    /// The consumer reads it.
    Read,
    /// The consumer overwrites it.
    Write,
    /// Either.
    Any,
}

/// Wait states between a producer and a consumer that uses one of its registers.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Hazard<'a> {
    /// Tag of the earlier atom.
    pub producer: TagId,
    /// Tag of the later atom.
    pub consumer: TagId,
    /// Only when the consumer's operand with this index is involved; `None` = any operand that
    /// reads the register.
    pub operand: Option<u8>,
    /// Which use by the consumer counts.
    pub on: HazardUse,
    /// The register is this operand of the producer (one it reads late, say); `None` = any that it
    /// writes.
    pub producer_operand: Option<u8>,
    /// No wait when the consumer's operand is exactly the producer's tuple.
    pub unless_same: bool,
    /// Wait states that must lie between.
    pub states: u8,
    /// Only instructions with one of these tags are wait states, one each, beside those that do
    /// nothing; none: every instruction, as long as it takes.
    pub counts: &'a [TagId],
    /// An atom that ends it at any distance, in place of wait states.
    pub wait: Option<AtomId>,
    /// Only for a register that some atom with this tag reads in the same kernel.
    pub after: Option<TagId>,
    /// Where it comes from.
    pub source: SourceId,
}
