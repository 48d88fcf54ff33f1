//! Facts about matrix units as values of `lanebook_tables`, every slice leaked.
use crate::leak::{list, one, text};
use crate::model::HwModel;
use crate::model::units::{Fact, Tile};
use crate::schema::unit as s;
use lanebook_layout::{Swizzle, Unit};
use lanebook_tables as t;

/// Lowers the facts of a sound model.
#[must_use]
pub fn units(model: &HwModel) -> t::Units<'static> {
    let u = &model.units;
    let modes: Vec<&'static t::SwizzleMode<'static>> =
        u.swizzles.iter().map(|m| one(swizzle(m))).collect();
    t::Units {
        features: list(u.features.iter().map(|name| text(name))),
        descriptors: list(u.descriptors.iter().map(descriptor)),
        operand_tiles: list(
            u.operand_tiles
                .iter()
                .filter_map(|(fact, tile, mode)| Some(operand_tile(fact, tile, modes.get(*mode)?))),
        ),
        tensor_memories: list(u.tensor_memories.iter().map(|fact| memory(model, fact))),
        tensor_tiles: list(u.tensor_tiles.iter().map(|(fact, tile)| t::TensorTile {
            name: text(&fact.entry.name),
            feature: fact.feature,
            purpose: match fact.entry.purpose {
                s::TensorUse::Accumulator => t::TensorUse::Accumulator,
                s::TensorUse::Scale => t::TensorUse::Scale,
                s::TensorUse::Copy => t::TensorUse::Copy,
                s::TensorUse::Metadata => t::TensorUse::Metadata,
            },
            layout: layout(tile),
            second_lanes: fact.entry.second_lanes,
            status: fact.status,
            sources: list(fact.sources.iter().copied()),
        })),
        tensor_moves: list(u.tensor_moves.iter().map(|(fact, cells, tuple)| t::TensorMove {
            name: text(&fact.entry.name),
            feature: fact.feature,
            counts: list(fact.entry.counts.iter().copied()),
            registers: fact.entry.registers,
            cells: layout(cells),
            tuple: layout(tuple),
            packed: fact.entry.packed,
            load_atoms: moves(model, &fact.entry.loads),
            store_atoms: moves(model, &fact.entry.stores),
            loads: (text(&fact.entry.loads.0), text(&fact.entry.loads.1)),
            stores: (text(&fact.entry.stores.0), text(&fact.entry.stores.1)),
            status: fact.status,
            sources: list(fact.sources.iter().copied()),
        })),
        shapes: list(u.shapes.iter().map(shape)),
        order_limits: list(u.order_limits.iter().map(order_limit)),
        map_limits: list(u.map_limits.iter().map(map_limit)),
        tensor_maps: list(u.tensor_maps.iter().map(tensor_map)),
        tiled_moves: list(u.tiled_moves.iter().map(|(fact, found)| t::TiledMove {
            name: text(&fact.entry.name),
            feature: fact.feature,
            atom: found.atom,
            map: text(&fact.entry.map),
            loads: found.loads,
            from: found.from,
            to: found.to,
            on: found.on,
            shared: found.shared,
            tensor: found.tensor,
            at: list(found.at.iter().copied()),
            signal: found.signal,
            last: list(found.last.iter().map(|step| sync_step(model, step))),
            status: fact.status,
            sources: list(fact.sources.iter().copied()),
        })),
        mbarriers: list(u.mbarriers.iter().map(|(fact, found)| t::Mbarrier {
            name: text(&fact.entry.name),
            feature: fact.feature,
            bytes: fact.entry.bytes,
            init: found.init,
            publish: list(found.publish.iter().map(|step| sync_step(model, step))),
            expect: found.expect,
            wait: found.wait,
            waits: found.waits,
            announces: found.announces,
            most_bytes: fact.entry.most_bytes,
            status: fact.status,
            sources: list(fact.sources.iter().copied()),
        })),
        specializations: list(u.specializations.iter().map(|(fact, found)| {
            t::WarpSpecialization {
                name: text(&fact.entry.name),
                feature: fact.feature,
                threads: fact.entry.threads,
                barrier: found.barrier,
                number: fact.entry.number,
                arrive: found.arrive,
                resize: found.resize,
                registers: fact.entry.registers,
                directive: text(&fact.entry.directive),
                file: fact.entry.file,
                status: fact.status,
                sources: list(fact.sources.iter().copied()),
            }
        })),
        swizzles: list(modes),
    }
}

/// Atoms that the facts of `features` refer to by number.
pub(crate) fn atoms(units: &t::Units<'static>, features: &[t::FeatureId]) -> Vec<t::AtomId> {
    let copies = units.tiled_moves.iter().filter(|m| features.contains(&m.feature));
    let moves = copies.flat_map(|m| {
        [m.atom].into_iter().chain(m.last.iter().map(|s| s.atom)).collect::<Vec<_>>()
    });
    let own = |c: &t::Mbarrier<'static>| {
        [c.init, c.expect, c.wait]
            .into_iter()
            .chain(c.publish.iter().map(|s| s.atom))
            .collect::<Vec<_>>()
    };
    let frames = units
        .tensor_memories
        .iter()
        .filter(|m| features.contains(&m.feature))
        .flat_map(|m| [m.enter, m.leave, m.around])
        .flatten()
        .map(|s| s.atom);
    let between = units
        .tensor_moves
        .iter()
        .filter(|m| features.contains(&m.feature))
        .flat_map(|m| [m.load_atoms, m.store_atoms]);
    let between = between.flat_map(|(usual, one)| [Some(usual), one]).flatten();
    let apart = units.specializations.iter().filter(|s| features.contains(&s.feature));
    let apart = apart.flat_map(|s| [s.barrier, s.arrive, s.resize]);
    moves
        .chain(apart)
        .chain(frames)
        .chain(between)
        .chain(units.mbarriers.iter().filter(|c| features.contains(&c.feature)).flat_map(own))
        .collect()
}

/// How many features there are up to the last one that a fact belongs to.
pub(crate) fn with_facts(units: &t::Units<'static>) -> usize {
    let all = units.descriptors.iter().map(|d| d.feature);
    let all = all.chain(units.swizzles.iter().map(|m| m.feature));
    let all = all.chain(units.operand_tiles.iter().map(|d| d.feature));
    let all = all.chain(units.tensor_memories.iter().map(|d| d.feature));
    let all = all.chain(units.tensor_tiles.iter().map(|d| d.feature));
    let all = all.chain(units.tensor_moves.iter().map(|m| m.feature));
    let all = all.chain(units.shapes.iter().map(|d| d.feature));
    let all = all.chain(units.order_limits.iter().map(|d| d.feature));
    let all = all.chain(units.map_limits.iter().map(|d| d.feature));
    let all = all.chain(units.tensor_maps.iter().map(|d| d.feature));
    let all = all.chain(units.tiled_moves.iter().map(|m| m.feature));
    let all = all.chain(units.mbarriers.iter().map(|c| c.feature));
    let all = all.chain(units.specializations.iter().map(|s| s.feature));
    all.map(|feature| feature.index() + 1).max().unwrap_or(0)
}

/// The facts that belong to some of `features`; `atom` says the new number of an atom.
#[must_use]
pub fn select(
    units: &t::Units<'static>,
    features: &[t::FeatureId],
    atom: impl Fn(t::AtomId) -> t::AtomId,
) -> t::Units<'static> {
    let has = |feature: &t::FeatureId| features.contains(feature);
    let steps = |steps: &[t::SyncStep<'static>]| {
        list(steps.iter().map(|step| t::SyncStep { atom: atom(step.atom), ..*step }))
    };
    let frame = |steps: &[t::FrameStep<'static>]| {
        list(steps.iter().map(|step| t::FrameStep { atom: atom(step.atom), ..*step }))
    };
    t::Units {
        features: units.features,
        descriptors: list(units.descriptors.iter().filter(|d| has(&d.feature)).copied()),
        swizzles: list(units.swizzles.iter().filter(|m| has(&m.feature)).copied()),
        operand_tiles: list(units.operand_tiles.iter().filter(|d| has(&d.feature)).copied()),
        tensor_memories: list(units.tensor_memories.iter().filter(|d| has(&d.feature)).map(|m| {
            t::TensorMemory {
                enter: frame(m.enter),
                leave: frame(m.leave),
                around: frame(m.around),
                ..*m
            }
        })),
        tensor_tiles: list(units.tensor_tiles.iter().filter(|d| has(&d.feature)).copied()),
        tensor_moves: list(units.tensor_moves.iter().filter(|d| has(&d.feature)).map(|m| {
            let new = |(usual, one): (t::AtomId, Option<t::AtomId>)| (atom(usual), one.map(&atom));
            t::TensorMove { load_atoms: new(m.load_atoms), store_atoms: new(m.store_atoms), ..*m }
        })),
        shapes: list(units.shapes.iter().filter(|d| has(&d.feature)).copied()),
        order_limits: list(units.order_limits.iter().filter(|d| has(&d.feature)).copied()),
        map_limits: list(units.map_limits.iter().filter(|d| has(&d.feature)).copied()),
        tensor_maps: list(units.tensor_maps.iter().filter(|d| has(&d.feature)).copied()),
        tiled_moves: list(
            units.tiled_moves.iter().filter(|m| has(&m.feature)).map(|m| t::TiledMove {
                atom: atom(m.atom),
                last: steps(m.last),
                ..*m
            }),
        ),
        mbarriers: list(units.mbarriers.iter().filter(|c| has(&c.feature)).map(|c| t::Mbarrier {
            init: atom(c.init),
            publish: steps(c.publish),
            expect: atom(c.expect),
            wait: atom(c.wait),
            ..*c
        })),
        specializations: list(units.specializations.iter().filter(|s| has(&s.feature)).map(|s| {
            t::WarpSpecialization {
                barrier: atom(s.barrier),
                arrive: atom(s.arrive),
                resize: atom(s.resize),
                ..*s
            }
        })),
    }
}

fn codes(codes: &s::Codes) -> &'static [t::Code<'static>] {
    list(codes.iter().map(|(name, code)| (text(name), *code)))
}

fn layout(tile: &Tile) -> t::TileLayout<'static> {
    t::TileLayout {
        iters: list(tile.iters.iter().copied()),
        dims: list(tile.dims.iter().copied()),
        replicas: list(tile.replicas.iter().copied()),
        params: list(tile.params.iter().map(|p| text(p))),
    }
}

fn descriptor(d: &crate::model::units::Descriptor) -> t::Descriptor<'static> {
    t::Descriptor {
        name: text(&d.fact.entry.name),
        feature: d.fact.feature,
        bits: d.bits,
        fields: list(d.fields.iter().map(|f| {
            one(t::Field {
                name: text(&f.name),
                at: f.at,
                bits: f.bits,
                scale: f.scale,
                range: f.range,
                values: list(f.values.iter().map(|(name, code)| (text(name), *code))),
                role: f.role,
            })
        })),
        status: d.fact.status,
        sources: list(d.fact.sources.iter().copied()),
    }
}

fn swizzle(m: &Fact<s::SwizzleMode>) -> t::SwizzleMode<'static> {
    let e = &m.entry;
    t::SwizzleMode {
        name: text(&e.name),
        feature: m.feature,
        xor: list(e.xor.iter().map(|x| Swizzle { b: x.0, m: x.1, s: x.2, unit: Unit::Byte })),
        span_bytes: e.span_bytes,
        atom_bytes: e.atom_bytes,
        repeat_bytes: repeat_bytes(e),
        codes: codes(&e.codes),
        status: m.status,
        sources: list(m.sources.iter().copied()),
    }
}

/// The XORs act inside aligned blocks of so many bytes.
pub(crate) fn repeat_bytes(mode: &s::SwizzleMode) -> u16 {
    let bits = mode
        .xor
        .iter()
        .map(|x| u32::from(x.0) + u32::from(x.1) + u32::from(x.2.unsigned_abs()))
        .max()
        .unwrap_or(0);
    1u16.checked_shl(bits).unwrap_or(u16::MAX).max(mode.atom_bytes)
}

fn operand_tile(
    fact: &Fact<s::OperandTile>,
    tile: &Tile,
    mode: &'static t::SwizzleMode<'static>,
) -> t::OperandTile<'static> {
    let e = &fact.entry;
    t::OperandTile {
        name: text(&e.name),
        feature: fact.feature,
        major: major(e.major),
        swizzle: mode,
        layout: layout(tile),
        unit: (tile.param(&e.unit.0), e.unit.1),
        fields: list(e.fields.iter().map(|f| t::TileField {
            param: tile.param(&f.symbol),
            field: text(&f.field),
            unused: f.unused,
        })),
        takes: list(
            e.takes.iter().map(|(unit, widths)| (text(unit), list(widths.iter().copied()))),
        ),
        status: fact.status,
        sources: list(fact.sources.iter().copied()),
    }
}

/// The atoms that load, and with one register.
fn moves(
    model: &HwModel,
    (usual, one): &(crate::schema::Name, String),
) -> (t::AtomId, Option<t::AtomId>) {
    let find = |name: &crate::schema::Name| model.atom_names.get(name).map(t::AtomId);
    let one = crate::schema::Name { value: one.clone(), span: usual.span };
    (find(usual).unwrap_or(t::AtomId(0)), find(&one))
}

/// An atom whose operands have the names of what a frame fills.
fn frame_step(model: &HwModel, name: &crate::schema::Name) -> Option<t::FrameStep<'static>> {
    let atom = model.atom_names.get(name)?;
    let operands = list(
        model
            .atom(t::AtomId(atom))
            .operands
            .iter()
            .map(|o| crate::model::units::frame_operand(&o.name.value)),
    );
    Some(t::FrameStep { atom: t::AtomId(atom), operands })
}

fn memory(model: &HwModel, fact: &Fact<s::TensorMemory>) -> t::TensorMemory<'static> {
    let e = &fact.entry;
    let steps = |names: &[crate::schema::Name]| {
        list(names.iter().filter_map(|name| frame_step(model, name)))
    };
    t::TensorMemory {
        feature: fact.feature,
        lanes: e.lanes,
        columns: e.columns,
        cell_bits: e.cell_bits,
        lane_shift: e.lane_shift,
        lanes_per_warp: e.lanes_per_warp,
        warps: e.warps,
        allocation: e.allocation,
        enter: steps(&e.enter),
        leave: steps(&e.leave),
        around: steps(&e.around),
        shared_bytes: e.shared_bytes,
        sources: list(fact.sources.iter().copied()),
    }
}

fn shape(fact: &Fact<s::UnitShape>) -> t::UnitShape<'static> {
    let e = &fact.entry;
    // One row count is as good as another: the lowest first, however they are written.
    let mut rows: Vec<(u16, String)> =
        e.m.iter().map(|(m, tile)| (*m, tile.value.clone())).collect();
    rows.sort();
    t::UnitShape {
        kind: text(&e.kind),
        feature: fact.feature,
        blocks: e.blocks,
        stationary: e.stationary,
        sparse: e.sparse,
        m: list(rows.into_iter().map(|(m, tile)| (m, text(&tile)))),
        n: list(e.n.iter().map(|n| t::Steps { low: n.0, high: n.1, step: n.2 })),
        k: list(e.k.iter().copied()),
        descriptor: text(&e.descriptor),
        status: fact.status,
        sources: list(fact.sources.iter().copied()),
    }
}

/// Names of which it matters only whether one is among them, in one order however they are written.
fn set(names: &[crate::schema::Name]) -> &'static [&'static str] {
    let mut names: Vec<&str> = names.iter().map(|name| name.value.as_str()).collect();
    names.sort_unstable();
    list(names.into_iter().map(text))
}

fn order_limit(fact: &Fact<s::OrderLimit>) -> t::OrderLimit<'static> {
    let e = &fact.entry;
    t::OrderLimit {
        name: text(&e.name),
        feature: fact.feature,
        descriptors: set(&e.descriptors),
        blocks: e.blocks,
        operands: (e.operands.contains(&s::Factor::A), e.operands.contains(&s::Factor::B)),
        major: major(e.major),
        types: set(&e.types),
        n: list(e.n.iter().map(|n| t::Steps { low: n.0, high: n.1, step: n.2 })),
        status: fact.status,
        sources: list(fact.sources.iter().copied()),
    }
}

fn map_limit(fact: &Fact<s::MapLimit>) -> t::MapLimit<'static> {
    let e = &fact.entry;
    t::MapLimit {
        name: text(&e.name),
        feature: fact.feature,
        elements: set(&e.elements),
        swizzles: set(&e.swizzles),
        copies: (e.copies.contains(&s::TiledCopy::Load), e.copies.contains(&s::TiledCopy::Store)),
        status: fact.status,
        sources: list(fact.sources.iter().copied()),
    }
}

fn major(major: s::Major) -> t::Major {
    match major {
        s::Major::Depth => t::Major::Depth,
        s::Major::Outer => t::Major::Outer,
    }
}

fn tensor_map(fact: &Fact<s::TensorMap>) -> t::TensorMap<'static> {
    let e = &fact.entry;
    t::TensorMap {
        name: text(&e.name),
        feature: fact.feature,
        encoding: text(&e.encoding),
        block: e.block,
        rank: e.rank,
        box_max: e.box_max,
        box_bytes: e.box_bytes,
        step_max: e.step_max,
        extent_max: e.extent_max,
        stride_bytes: e.stride_bytes,
        stride_limit: e.stride_limit,
        base_bytes: e.base_bytes,
        corner_bytes: e.corner_bytes,
        edge_bytes: e.edge_bytes,
        shared_bytes: e.shared_bytes,
        elements: list(e.elements.iter().map(|m| t::MapElement {
            name: text(&m.name),
            bits: m.bits,
            shared_bits: m.shared_bits.unwrap_or(m.bits),
            align_bytes: m.align_bytes,
            box_inner: m.box_inner,
            extent_multiple: m.extent_multiple,
            codes: codes(&m.codes),
        })),
        interleaves: list(e.interleaves.iter().map(|i| t::Interleave {
            name: text(&i.name),
            rank_min: i.rank_min,
            align_bytes: i.align_bytes,
            swizzle: i.swizzle.as_ref().map_or("", |name| text(name)),
            rows: i.rows,
            codes: codes(&i.codes),
        })),
        fills: codes(&e.fills),
        promotions: codes(&e.promotions),
        status: fact.status,
        sources: list(fact.sources.iter().copied()),
    }
}

/// A step of synchronisation.
pub(crate) fn sync_step(model: &HwModel, step: &crate::model::Step) -> t::SyncStep<'static> {
    t::SyncStep {
        atom: step.atom.value,
        immediates: list(
            model
                .atom(step.atom.value)
                .immediates()
                .map(|(_, o)| step.immediates.get(&o.name.value).copied().unwrap_or(0)),
        ),
        after_producer: step.after_producer,
        barrier: step.barrier,
    }
}
