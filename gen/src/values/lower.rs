//! From the checked model to values of `lanebook_tables`, with every slice leaked.
//!
//! One form serves both uses: [`crate::render`] prints it as statics, and an audit at run time uses
//! it as it is. What is leaked lives as long as the process, which is a build script or a tool.
//! Call it on a model without errors only: a reference that resolving could not make is taken as 0
//! here.
use crate::layouts::Layout;
use crate::leak::{list, name, one, shared, text};
use crate::model::{self, HwModel};
use crate::names::perfect;
pub use crate::rules::lower::RulePart;
use crate::template::Piece as TextPiece;
use lanebook_layout::LayoutRef;
use lanebook_tables as t;

/// Lowers a model.
#[must_use]
pub fn lower(model: &HwModel, rules: &RulePart) -> t::Tables<'static> {
    let named = |names: &model::Names| perfect(&names.numbered().collect::<Vec<_>>()).leak();
    crate::dispatch::indexed(t::Tables {
        isas: list(model.isas.iter().map(|i| isa(model, i))),
        archs: list(model.archs.iter().map(|a| arch(model, a))),
        atoms: list((0..).zip(&model.atoms).map(|(id, a)| {
            let group = model.groups.iter().find(|group| group.atoms.contains(&t::AtomId(id)));
            let feature = group.and_then(|group| model.units.feature(&group.name.value));
            atom(model, rules, a, feature.unwrap_or(t::FeatureId(0)))
        })),
        dtypes: list(model.dtypes.iter().map(|d| t::Dtype {
            name: text(&d.name),
            bits: d.bits,
            held: d.held,
            kind: d.kind,
            format: d.format,
            unread: d.unread,
            pair_of: d.pair_of.as_ref().and_then(|of| {
                let found = model.dtypes.iter().position(|d| d.name.value == of.value)?;
                u16::try_from(found).ok().map(t::DtypeId)
            }),
        })),
        ops: rules.ops,
        rules: rules.rules,
        accesses: list(model.accesses.iter().map(|a| text(&a.name))),
        tags: list(model.tags.iter().map(|tag| text(&tag.name))),
        sources: list(
            model.sources.iter().map(|s| t::Source { key: text(&s.key), title: text(&s.title) }),
        ),
        units: crate::lower_units::units(model),
        weights: rules.weights,
        policies: rules.policies,
        seeding: rules.seeding,
        contract: rules.contract,
        sequences: rules.sequences,
        arch_names: named(&model.arch_names),
        atom_names: named(&model.atom_names),
        dtype_names: named(&model.dtype_names),
        op_names: rules.op_names,
        numbered_atoms: &[],
        named_families: &[],
    })
}

fn layout(layout: &Layout) -> &'static LayoutRef<'static> {
    let view = layout.view();
    one(LayoutRef {
        shard: list(view.shard.iter().copied()),
        replica: list(view.replica.iter().copied()),
        offset: list(view.offset.iter().copied()),
        profile: lanebook_layout::Profile::FLAT,
        post: view.post,
    })
}

fn frame(pieces: &[TextPiece]) -> &'static [t::Piece<'static>] {
    list(pieces.iter().map(|piece| match piece {
        TextPiece::Text(plain) => t::Piece::Text(text(plain)),
        TextPiece::Name(name) | TextPiece::Optional(name, _) => t::Piece::Frame(text(name)),
    }))
}

fn isa(model: &HwModel, isa: &model::Isa) -> t::Isa<'static> {
    // All of a family are one language: what extends another goes by its name.
    let oldest = std::iter::successors(Some(isa), |at| at.parent.map(|id| model.isa(id)))
        .take(model.isas.len())
        .last()
        .unwrap_or(isa);
    let fixed = |register: &Option<model::FixedRegister>| {
        register.as_ref().map(|r| t::Operandless {
            class: r.class,
            number: r.number,
            count: r.count,
            text: text(&r.text),
        })
    };
    let needed = |atom: Option<t::AtomId>| atom.unwrap_or(t::AtomId(0));
    t::Isa {
        name: text(&oldest.name),
        classes: list(isa.classes.iter().map(|c| t::RegisterClass {
            name: text(&c.name),
            prefix: text(&c.prefix),
            bits: c.bits,
            kind: c.kind,
            declared: text(&c.declared),
            pool: c.pool,
            tile_most: c.tile_most,
            tuple_align: c.tuple_align,
        })),
        tuples: isa.tuples,
        prologue: frame(&isa.prologue),
        param: frame(&isa.param),
        param_block: frame(&isa.param_block),
        param_pointer: frame(&isa.param_pointer),
        param_separator: text(&isa.param_separator),
        register_decl: frame(&isa.register_decl),
        shared_decl: frame(&isa.shared_decl),
        shared_decl_dynamic: frame(&isa.shared_decl_dynamic),
        epilogue: frame(&isa.epilogue),
        label_suffix: text(&isa.label_suffix),
        comment: text(&isa.comment),
        param_base: fixed(&isa.param_base),
        thread_register: fixed(&isa.thread_register),
        read_thread: isa.atoms.read_thread,
        block_registers: list(
            isa.block_registers.iter().filter_map(|register| fixed(&Some(register.clone()))),
        ),
        read_block: list(isa.block_atoms[0].iter().copied()),
        read_blocks: list(isa.block_atoms[1].iter().copied()),
        param_blocks: frame(&isa.param_blocks),
        flags: list(isa.flags.iter().map(|flag| frame(flag))),
        divide: isa.atoms.divide,
        leading_zeros: isa.atoms.leading_zeros,
        compare_signed: isa.atoms.compare_signed,
        load_param32: needed(isa.atoms.load_param32),
        load_param64: needed(isa.atoms.load_param64),
        param_address: isa.atoms.param_address,
        make_uniform: isa.atoms.make_uniform,
        shared_base: isa.atoms.shared_base,
        branch: needed(isa.atoms.branch),
        branch_if: needed(isa.atoms.branch_if),
        compare_less: needed(isa.atoms.compare_less),
        guard: isa.guard.as_ref().map(|guard| t::LaneGuard {
            class: guard.class,
            test: guard.test,
            before: frame(&guard.before),
            after: frame(&guard.after),
            issue: guard.issue,
            writes: guard.writes,
        }),
        end: needed(isa.atoms.end),
        nop: isa.atoms.nop,
        dispatch: t::Dispatch::EMPTY,
    }
}

fn atom(
    model: &HwModel,
    rules: &RulePart,
    atom: &model::Atom,
    feature: t::FeatureId,
) -> t::Atom<'static> {
    let number = |name: &str| atom.operand(name).unwrap_or(0);
    t::Atom {
        note: Some(one(t::AtomNote {
            name: text(&atom.name),
            stable: atom.stable,
            feature,
            sources: shared(atom.sources.iter().copied()),
        })),
        class: atom.class,
        isa: atom.isa,
        template: template(atom.template.iter().map(|piece| match piece {
            TextPiece::Text(plain) => t::Piece::Text(plain),
            TextPiece::Name(name) => match crate::template::half(name) {
                Some((name, upper)) => t::Piece::Half(number(name), upper),
                None => t::Piece::Operand(number(name)),
            },
            TextPiece::Optional(name, before) => t::Piece::Optional(number(name), before),
        })),
        operands: t::Operands(shared(atom.operands.iter().map(|o| one(operand(o))))),
        movement: atom.movement.as_ref().map(|m| one(movement(atom, m))),
        matrix: atom.matrix.as_ref().map(|m| t::MatrixShape {
            m: m.m,
            n: m.n,
            k: m.k,
            a: m.a,
            b: m.b,
            c: m.c,
            d: m.d,
        }),
        more: atom.more.as_ref().map(|m| one(more(m))),
        means: shared(atom.means.iter().copied()),
        // Without operations, as the sound part of wrong tables is, an atom does none of them.
        does: atom.does.as_ref().and_then(|does| {
            Some(one(t::Elementwise {
                op: crate::rules::does::word(&does.op, |name| rules.op_named(name))?,
                uses: list(does.uses.iter().copied()),
                lanes: list(does.lanes.iter().map(lane_xor)),
                part: does.part,
                selector: does.selector,
                ulp: does.ulp,
            }))
        }),
        cost: atom.cost,
        counter: atom.counter.as_ref().map(|name| t::CounterUse {
            counter: counter_number(model, atom, name),
            unordered: atom.unordered,
        }),
        tags: shared(atom.tags.iter().copied()),
        status: atom.status,
    }
}

fn lane_xor(lanes: &model::LaneXor) -> t::LaneXor<'static> {
    t::LaneXor {
        masks: lanes.masks,
        set: list(lanes.set.iter().copied()),
        step: lanes.step,
        by: lanes.by,
    }
}

fn more(more: &model::More) -> t::MatrixMore<'static> {
    t::MatrixMore {
        blocks: more.blocks,
        index: more.index,
        scales: more.scales,
        moves: list(more.moves.iter().map(|(by, of, bits, lanes)| t::FieldMove {
            by: *by,
            of: *of,
            bits: *bits,
            lanes: *lanes,
        })),
        broadcasts: list(more.broadcasts.iter().map(|(of, by, how)| match how {
            model::Use::Lanes(run, rows) => t::Broadcast::Lanes(
                *of,
                *by,
                *run,
                list(rows.iter().map(|row| list(row.iter().copied()))),
            ),
            model::Use::Blocks(member) => t::Broadcast::Blocks(*of, *by, *member),
        })),
        // By their numbers, however they are listed.
        shared: list({
            let mut shared: Vec<_> = more.shared.iter().collect();
            shared.sort_by_key(|one| one.operand);
            shared.into_iter().map(|s| t::SharedOperand {
                operand: s.operand,
                descriptor: text(&s.descriptor),
                access: s.access,
                along: s.along,
            })
        }),
        runs: more.runs,
        sum_bits: more.sum_bits.as_ref().map(|bits| bits.value),
        tensor: more.tensor.as_ref().map(|own| {
            one(t::TensorOperand {
                tile: text(&own.tile),
                descriptor: text(&own.descriptor),
                word: own.word,
                adds: own.adds,
                one: own.one,
                writes: own.writes,
                reads: own.reads,
                fetched: own.fetched,
                stores: own.stores,
                a: own.a,
            })
        }),
    }
}

/// The pieces in one string; `check::template` sees to it that each can be written.
fn template<'p>(pieces: impl Iterator<Item = t::Piece<'p>>) -> t::Template<'static> {
    let mut out = String::new();
    for (start, plain, end) in pieces.filter_map(t::Template::written) {
        if let Some((sign, number)) = start {
            out.extend([sign, number]);
        }
        out.push_str(plain);
        out.extend(end);
    }
    t::Template(text(&out))
}

/// The counter's number in the architectures that have the atom; `check::sync` sees to it that they
/// agree.
fn counter_number(model: &HwModel, atom: &model::Atom, name: &str) -> u8 {
    let id = model.atom_named(&atom.name);
    let arch = model.archs.iter().find(|arch| arch.atoms.iter().any(|a| Some(a.atom) == id));
    let number = arch.and_then(|arch| arch.counters.iter().position(|c| c.name.value == name));
    number.and_then(|n| u8::try_from(n).ok()).unwrap_or(0)
}

fn operand(operand: &model::Operand) -> t::Operand<'static> {
    t::Operand {
        name: name(&operand.name),
        role: operand.role,
        class: operand.class.unwrap_or(t::ClassId(0)),
        also: shared(operand.also.iter().copied()),
        registers: operand.registers,
        dtype: operand.dtype,
        layout: operand.layout.as_ref().map(layout),
        extents: operand
            .extents
            .as_ref()
            .filter(|_| operand.layout.is_some())
            .map_or((0, 0), |e| e.value),
        range: one(operand.range.as_ref().map_or((1, 0), |r| r.value)),
        multiple: operand.multiple.as_ref().map_or(1, |m| m.value),
        implicit: operand.implicit,
        vary: vary(&operand.vary),
    }
}

fn vary(vary: &model::Vary) -> Option<&'static t::Vary<'static>> {
    if *vary == model::Vary::default() {
        return None;
    }
    let words = vary.words.iter().map(|(spelling, dtype, shift)| t::Spelling {
        text: text(spelling),
        dtype: *dtype,
        shift: *shift,
    });
    Some(one(t::Vary {
        words: list(words),
        values: list(vary.values.iter().copied()),
        grows: vary.grows,
        typed_by: vary.typed_by,
        scaled_by: vary.scaled_by,
    }))
}

fn movement(atom: &model::Atom, movement: &model::Movement) -> t::Movement<'static> {
    t::Movement {
        unit_bits: movement.unit_bits,
        extents: shared(movement.extents.iter().copied()),
        from: side(&movement.from, movement.unit_bits),
        to: side(&movement.to, movement.unit_bits),
        offsets: shared(movement.offsets.iter().map(|field| {
            let range = atom
                .operands
                .get(usize::from(field.operand))
                .and_then(|o| o.range.as_ref())
                .map_or((0, 0), |r| r.value);
            t::OffsetField {
                operand: field.operand,
                min: i32::try_from(range.0).unwrap_or(0),
                max: i32::try_from(range.1).unwrap_or(0),
                scale: field.scale,
                on_from: field.on_from,
                on_to: field.on_to,
                place: field.place,
            }
        })),
        crosses_lanes: movement.crosses_lanes,
        size: movement.size,
        atomic: movement.atomic,
    }
}

fn side(side: &model::Side, unit_bits: u16) -> t::Side<'static> {
    let register = side.space == t::Space::Register;
    t::Side {
        space: side.space,
        layout: layout(&side.layout),
        operand: side.operand,
        base: side.base,
        align_bytes: side.align_bytes,
        slot_bytes: match &side.slot_bytes {
            _ if register => 0,
            Some(bytes) => bytes.value,
            None => extent_bytes(&side.layout, unit_bits),
        },
        banks: side.banks.as_ref().map_or(t::Name::EMPTY, |banks| name(banks)),
        access: side.access.unwrap_or(t::AccessId(0)),
    }
}

/// The bytes from a slot's address to the end of its last element, where the table does not say.
fn extent_bytes(layout: &Layout, unit_bits: u16) -> u16 {
    let at = |x| {
        layout.at(x, 0, lanebook_layout::AxisId::BYTE) * 8
            + layout.at(x, 0, lanebook_layout::AxisId::BIT)
    };
    let last = (0..layout.size()).map(at).max().unwrap_or(0);
    u16::try_from((last + i64::from(unit_bits) + 7) / 8).unwrap_or(u16::MAX)
}

fn arch(model: &HwModel, arch: &model::Arch) -> t::Arch<'static> {
    t::Arch {
        name: text(&arch.name),
        target: text(&arch.target),
        vendor: text(&arch.vendor),
        isa: arch.isa,
        isa_version: text(&arch.isa_version),
        wave_lanes: list(arch.wave_lanes.iter().copied()),
        max_threads: arch.max_threads,
        shared: arch.shared.value,
        banks: list(arch.banks.iter().map(|b| t::BankModel {
            name: text(&b.name),
            banks: b.banks,
            bank_bytes: b.bank_bytes,
            groups: list(b.groups.iter().map(|g| g.value)),
            status: b.status,
            sources: list(b.sources.iter().copied()),
        })),
        atoms: list(sorted(arch.atoms.iter().map(|a| t::ArchAtom {
            atom: a.atom,
            native: a.native,
            documented_for_arch: a.documented_for_arch,
        }))),
        dispatch: t::Dispatch::EMPTY,
        features: list(arch.features.iter().copied()),
        sync: list(arch.sync.iter().map(|rule| sync_rule(model, rule))),
        counters: list(arch.counters.iter().map(|c| t::Counter {
            name: text(&c.name),
            max: c.max,
            in_order: c.in_order,
            wait: c.wait.value,
            operand: model.atom(c.wait.value).operand(&c.operand).unwrap_or(0),
        })),
        hazards: list(arch.hazards.iter().map(|hazard| self::hazard(model, arch, hazard))),
        inline_integers: arch.inline_integers,
        flushed: list(arch.flushed.iter().copied()),
        scalar_reads: arch.scalar_reads,
        sources: list(arch.sources.iter().copied()),
    }
}

fn sorted(atoms: impl Iterator<Item = t::ArchAtom>) -> Vec<t::ArchAtom> {
    let mut atoms: Vec<_> = atoms.collect();
    atoms.sort_by_key(|have| have.atom);
    atoms
}

fn sync_rule(model: &HwModel, rule: &model::SyncRule) -> t::SyncRule<'static> {
    t::SyncRule {
        producer: rule.producer,
        consumer: rule.consumer,
        steps: list(rule.steps.iter().map(|step| crate::lower_units::sync_step(model, step))),
        sources: list(rule.sources.iter().copied()),
    }
}

fn hazard(model: &HwModel, arch: &model::Arch, hazard: &model::Hazard) -> t::Hazard<'static> {
    let tagged =
        |tag| arch.atoms.iter().map(|a| model.atom(a.atom)).find(|a| a.tags.contains(&tag));
    let (producer, consumer) = (tagged(hazard.producer), tagged(hazard.consumer));
    t::Hazard {
        producer: hazard.producer,
        consumer: hazard.consumer,
        operand: hazard
            .operand
            .as_ref()
            .and_then(|name| consumer.and_then(|atom| atom.operand(name))),
        on: hazard.on,
        producer_operand: hazard
            .producer_operand
            .as_ref()
            .and_then(|name| producer.and_then(|atom| atom.operand(name))),
        unless_same: hazard.unless_same,
        states: hazard.states,
        counts: list(hazard.counts.iter().copied()),
        wait: hazard.wait,
        after: hazard.after,
        source: hazard.sources.first().copied().unwrap_or(t::SourceId(0)),
    }
}

impl RulePart {
    /// No operations and no rules.
    pub const EMPTY: Self = Self {
        ops: &[],
        rules: t::Rules::EMPTY,
        weights: t::Weights::NONE,
        policies: &[],
        seeding: t::Seeding::EMPTY,
        contract: t::Contract::EMPTY,
        sequences: &[],
        op_names: t::NameMap::EMPTY,
    };
}
