//! What is looked at, operation by operation.

use super::layouts::{Answered, Held, LayoutQueries, extents, is_registers, is_shared};
use super::traffic::{self, AddressRuns};
use super::{LintCheck, LintFinding, Severity};
use crate::problem::Problem;
use lanebook::ir::{AttrValue, Op, Program, Type, Value};
use lanebook::layout::notation::ttg;
use lanebook::layout::triton::Base;
use lanebook::layout_seeding::{KnownAxes, PointerTile, SeedingStorage};
use lanebook_tables::{ArchId, Capability, OpRole, Space, Tables};
use serde_json::Value as Json;
use std::collections::BTreeSet;

/// Values whose runs are known at the most.
const VALUES: usize = 65_536;

/// Everything that is found in a program.
pub(super) fn all(
    tables: &Tables<'_>,
    arch: ArchId,
    program: &Program<'_, '_>,
    text: &str,
) -> Result<Vec<LintFinding>, Problem> {
    let mut room = Box::new(SeedingStorage::<1, VALUES, 1, 1>::new());
    // Where a program has more values than there is room for nothing is said of its pointers.
    let known = KnownAxes::find(program, tables, room.room().facts).ok();
    let queries = LayoutQueries::new(program, tables, arch, text);
    let mut checks = Checks { queries, known, seen: BTreeSet::new(), findings: Vec::new() };
    for op in program.all() {
        checks.op(op);
    }
    Ok(checks.findings)
}

struct Checks<'p, 's, 't> {
    queries: LayoutQueries<'p, 's, 't>,
    known: Option<KnownAxes<'p>>,
    /// Layouts with the tiles that they were looked at for.
    seen: BTreeSet<String>,
    findings: Vec<LintFinding>,
}

/// A number of an answer.
fn number(answer: &Json, key: &str) -> u64 {
    answer[key].as_u64().unwrap_or(0)
}

impl Checks<'_, '_, '_> {
    fn push(&mut self, op: Op, check: LintCheck, severity: Severity, what: String, remedy: String) {
        let program = self.queries.program;
        let place = program.place(op);
        // As the text has it; a program knows an operation by the first of its names.
        let written = self.queries.word_at(place.line, place.column);
        self.findings.push(LintFinding {
            line: place.line,
            column: place.column,
            severity,
            check,
            op: written.unwrap_or_else(|| program.op_name(op).to_string()),
            what,
            remedy,
            query: String::new(),
            figures: Vec::new(),
        });
    }

    /// Adds what the last finding rests on.
    fn shown(&mut self, query: String, figures: Vec<(&'static str, u64)>) {
        if let Some(last) = self.findings.last_mut() {
            (last.query, last.figures) = (query, figures);
        }
    }

    fn op(&mut self, op: Op) {
        let program = self.queries.program;
        let blocks = program.regions(op).flat_map(|region| program.blocks(region));
        let arguments = blocks.flat_map(|block| program.arguments(block));
        for value in program.results(op).chain(arguments) {
            self.layout(op, &program.type_of(value));
        }
        match program.role(op) {
            OpRole::Convert => self.conversion(op),
            OpRole::Matrix => self.product(op),
            _ => {}
        }
        self.shared(op);
        if let Some(access) = PointerTile::of(program, self.queries.tables, op) {
            self.pointers(op, access);
        }
    }

    /// Whether a layout is one of its tile, of the module's lanes and warps, and keeps elements apart.
    fn layout(&mut self, op: Op, ty: &Type) {
        let shape = extents(ty);
        if shape.is_empty() || !(is_shared(ty) || is_registers(ty)) {
            return;
        }
        let Some(encoding) = self.queries.encoding(ty) else { return };
        let Some(tile) = self.queries.tile(ty, &shape) else { return };
        if !self.seen.insert(tile.clone()) {
            return;
        }
        if self.seen.insert(encoding.clone()) {
            self.workers(op, &encoding);
        }
        match self.queries.ask(&tile) {
            Answered::Said(answer) if is_shared(ty) && answer["injective"] == false => {
                let what =
                    "two elements of this tile lie in one place of shared memory".to_string();
                let remedy =
                    "give the layout a basis for each bit of an element's number".to_string();
                self.push(op, LintCheck::Alias, Severity::Wrong, what, remedy);
                self.shown(format!("injective({tile})"), Vec::new());
            }
            Answered::Said(_) => {}
            Answered::Refused(_) if self.is_short(op, &encoding, &shape) => {
                let what = "bases of this layout are missing or say the same: elements have no place of their own"
                    .to_string();
                let remedy = "give each bit of an element's number a basis of its own".to_string();
                self.push(op, LintCheck::Alias, Severity::Wrong, what, remedy);
                self.shown(tile, Vec::new());
            }
            Answered::Refused(why) => {
                // What lanebook does not read may be right.
                if ttg::parse(&encoding).is_ok() && self.is_wrong(&encoding, &shape) {
                    let (what, remedy) = why.split_once("; ").unwrap_or((&why, ""));
                    let (what, remedy) = (what.to_string(), remedy.to_string());
                    self.push(op, LintCheck::Layout, Severity::Wrong, what, remedy);
                    self.shown(tile, Vec::new());
                }
            }
        }
    }

    /// Whether the bases of a layout of shared memory do not reach all of the tile that is allocated.
    fn is_short(&self, op: Op, encoding: &str, shape: &[u32]) -> bool {
        let read = match ttg::parse(encoding).map(|read| read.base) {
            Ok(Base::SharedLinear(linear, _)) => linear,
            Ok(Base::Padded(padded)) => padded.linear,
            _ => return false,
        };
        let bits: u32 = shape.iter().map(|extent| extent.ilog2()).sum();
        self.queries.program.role(op) == OpRole::Alloc
            && read.outs().iter().count() == shape.len()
            && u32::from(read.rank()) < bits
    }

    /// Whether an encoding contradicts itself or its tile, as far as its notation tells: whatever the architecture has.
    fn is_wrong(&self, encoding: &str, shape: &[u32]) -> bool {
        use lanebook::layout::triton::EncodingError as Error;
        let Ok(read) = ttg::parse(encoding) else { return false };
        let found = lanebook::layout::triton::to_linear(
            &read,
            shape,
            &lanebook::encoding::TableTiles::new(self.queries.tables, self.queries.arch),
        );
        read.is_distributed()
            && matches!(
                found,
                Err(Error::Rank { .. }
                    | Error::NotAnOrder { .. }
                    | Error::BadValue { .. }
                    | Error::NotCovered { .. }
                    | Error::NoInstruction { .. })
            )
    }

    /// Whether a nested tile has the module's lanes and warps.
    fn workers(&mut self, op: Op, encoding: &str) {
        let Some(Base::Blocked(blocked)) = ttg::parse(encoding).ok().map(|read| read.base) else {
            return;
        };
        let product = |list: &[u32]| list.iter().map(|n| u64::from(*n)).product::<u64>();
        for (key, own, what) in [
            ("threads-per-warp", product(blocked.threads_per_warp.as_slice()), "lanes"),
            ("num-warps", product(blocked.warps_per_cta.as_slice()), "warps"),
        ] {
            let Some(said) = self.module_number(key) else { continue };
            if own != said {
                let what = format!("this layout is of {own} {what}, and the module has {said}");
                let remedy = format!("make the product of its list {said}");
                self.push(op, LintCheck::Workers, Severity::Wrong, what, remedy);
                self.shown(String::new(), vec![("has", own), ("module", said)]);
            }
        }
    }

    fn module_number(&self, key: &str) -> Option<u64> {
        let program = self.queries.program;
        let said = program.ops(program.root()).find_map(|op| program.attr(op, key))?;
        match said {
            AttrValue::Int(number, _) => u64::try_from(number).ok(),
            _ => None,
        }
    }

    /// In a loop everything is paid every turn.
    fn turns(&self, op: Op) -> &'static str {
        if self.queries.loop_around(op).is_some() { ", in every turn of a loop" } else { "" }
    }

    // ---- conversions

    fn conversion(&mut self, op: Op) {
        let program = self.queries.program;
        let (Some(source), Some(result)) = (program.operand(op, 0), program.result(op, 0)) else {
            return;
        };
        let (from, to) = (program.type_of(source), program.type_of(result));
        let shape = extents(&from);
        let both = (self.queries.tile(&from, &shape), self.queries.tile(&to, &shape));
        let (Some(a), Some(b)) = both else { return };
        let query = format!("feeds({a}, {b})");
        let Answered::Said(moves) = self.queries.ask(&query) else { return };
        let figures: Vec<(&'static str, u64)> =
            ["elements", "other_lane", "other_warp", "other_register"]
                .map(|key| (key, number(&moves, key)))
                .to_vec();
        let [elements, lanes, warps, registers] = [0, 1, 2, 3].map(|k: usize| figures[k].1);
        if lanes + warps + registers == 0 {
            let what =
                "a conversion that moves nothing: every element is where it has to be".to_string();
            let remedy =
                "write one of the two layouts for both, where the operations around it let you";
            self.push(op, LintCheck::Idle, Severity::Note, what, remedy.to_string());
            self.shown(query, figures);
            return;
        }
        let bytes = elements * self.queries.bits(&from).unwrap_or(0).div_ceil(8);
        let turns = self.turns(op);
        let (severity, how) = if warps > 0 {
            (
                Severity::Costly,
                format!("through shared memory: {bytes} bytes are written and read back"),
            )
        } else if lanes > 0 {
            (Severity::Note, format!("between lanes of a warp: {lanes} of {elements} elements"))
        } else {
            (Severity::Note, "within each lane: registers change their order alone".to_string())
        };
        let remedy = match program.def_op(source).map(|op| program.role(op)) {
            Some(OpRole::Convert) => "convert once, from the first layout to the last",
            _ if warps > 0 => {
                "`lanebook opt --loose --passes remove-conversions` weighs it against computing in the other layout"
            }
            _ => "",
        };
        let what = format!("a conversion {how}{turns}");
        self.push(op, LintCheck::Conversion, severity, what, remedy.to_string());
        self.shown(query.clone(), figures.clone());
        if let Some(around) =
            self.queries.loop_around(op).filter(|around| !self.queries.is_inside(source, *around))
        {
            let line = program.place(around).line;
            let what =
                format!("what is converted is the same in every turn of the loop of line {line}");
            let remedy = "convert it ahead of the loop".to_string();
            self.push(op, LintCheck::Invariant, Severity::Costly, what, remedy);
            self.shown(query.clone(), Vec::new());
        }
        if lanes > 0 || warps > 0 {
            self.wide(op, (source, result), query);
        }
    }

    /// Whether the elements are narrower right before the conversion, or right behind it.
    fn wide(&mut self, op: Op, (source, result): (Value, Value), query: String) {
        let program = self.queries.program;
        let Some(bits) = self.queries.bits(&program.type_of(source)) else { return };
        let narrower = |value: Value| {
            self.queries.bits(&program.type_of(value)).filter(|other| *other < bits && *other > 1)
        };
        let before = program
            .def_op(source)
            .filter(|maker| {
                program.role(*maker).is_lanewise() && program.operand_count(*maker) == 1
            })
            .and_then(|maker| program.operand(maker, 0))
            .and_then(narrower);
        let mut users = program.uses(result).filter_map(|place| program.user(place));
        let behind = users
            .next()
            .filter(|_| users.next().is_none())
            .filter(|user| program.role(*user).is_lanewise() && program.operand_count(*user) == 1)
            .and_then(|user| program.result(user, 0))
            .and_then(narrower);
        let found = before.map(|bits| (bits, "ahead of")).or(behind.map(|bits| (bits, "behind")));
        let Some((narrow, side)) = found else { return };
        let what = format!(
            "{bits} bits of each element move, and {side} the conversion they are {narrow}"
        );
        let remedy = match side {
            "behind" => "convert the layout of what the cast behind it makes",
            _ => "convert the layout first, and the elements then",
        };
        self.push(op, LintCheck::Wide, Severity::Costly, what, remedy.to_string());
        self.shown(query, vec![("bits", bits), ("narrow_bits", narrow)]);
    }

    // ---- shared memory

    /// Accesses of tiles in shared memory: the tile, the distribution that moves it, and whether it is written.
    fn shared(&mut self, op: Op) {
        let program = self.queries.program;
        let operands: Vec<Value> = program.operands(op).collect();
        let results: Vec<Value> = program.results(op).collect();
        let find = |list: &[Value], wanted: fn(&Type) -> bool| {
            list.iter().copied().find(|value| {
                let ty = program.type_of(*value);
                wanted(&ty) && ty.shape.elements().is_some_and(|elements| elements > 1)
            })
        };
        let pointers =
            PointerTile::of(program, self.queries.tables, op).map(|access| access.pointers);
        let role = program.role(op);
        let (memory, registers, way) = match role {
            OpRole::Load => (find(&operands, is_shared), find(&results, is_registers), "read"),
            OpRole::Store => (find(&operands, is_shared), find(&operands, is_registers), "write"),
            OpRole::Alloc => (find(&results, is_shared), find(&operands, is_registers), "write"),
            // A copy from global memory goes lane by lane as its pointers lie.
            _ if pointers.is_some() => (find(&operands, is_shared), pointers, "write"),
            _ => return,
        };
        let (Some(memory), Some(registers)) = (memory, registers) else { return };
        let (tile_type, held) = (program.type_of(memory), program.type_of(registers));
        let shape = self.queries.allocated(memory);
        if extents(&held).len() != shape.len() {
            return;
        }
        let Some(element) = self.queries.element(&tile_type) else { return };
        let both = (self.queries.tile(&tile_type, &shape), self.queries.encoding(&held));
        let (Some(tile), Some(encoding)) = both else { return };
        let sides: Vec<String> = shape.iter().map(u32::to_string).collect();
        let held = format!("{encoding} @ {}", sides.join("x"));
        let lanes = format!("conflicts({tile}, {held} of {element}, {element}, {way})");
        let Answered::Said(mut best) = self.queries.ask(&lanes) else { return };
        if number(&best, "passes") <= number(&best, "least") {
            return;
        }
        let mut query = lanes;
        let base = |text: &str| ttg::parse(text).ok().map(|read| read.base);
        let readers = if way == "read" { self.row_readers() } else { Vec::new() };
        let single =
            number(&best, "slot_bytes") == self.queries.bits(&tile_type).unwrap_or(8).div_ceil(8);
        // Elements that lie apart are brought by instructions that transpose, where there are any; which rows these read of a tile
        // whose rows stand in an order of their own is the compiler's choice.
        let own_order = self.queries.encoding(&tile_type).and_then(|text| base(&text));
        if single && !readers.is_empty() && matches!(own_order, Some(Base::Padded(_))) {
            return;
        }
        // What a matrix instruction takes may be read by whole rows, too.
        if !matches!(base(&encoding), Some(Base::Blocked(_))) {
            for name in readers {
                let rows = format!("conflicts({tile}, {name}, {element})");
                let Answered::Said(answer) = self.queries.ask(&rows) else { continue };
                if number(&answer, "all_passes") < number(&best, "all_passes") {
                    (best, query) = (answer, rows);
                }
            }
        }
        self.banks(op, &best, query, way);
    }

    /// Instructions that bring rows of shared memory to the registers of other lanes.
    fn row_readers(&self) -> Vec<String> {
        let Some(arch) = self.queries.tables.arch(self.queries.arch) else { return Vec::new() };
        let between = Capability::Transfer { from: Space::Shared, to: Space::Register };
        let atoms = arch.dispatch(between).iter().filter_map(|id| self.queries.tables.atom(*id));
        atoms
            .filter(|atom| atom.movement.is_some_and(|movement| movement.crosses_lanes))
            .map(|atom| atom.name().to_string())
            .collect()
    }

    fn banks(&mut self, op: Op, answer: &Json, query: String, way: &str) {
        let (passes, least) = (number(answer, "passes"), number(answer, "least"));
        if passes <= least {
            return;
        }
        let done = if way == "read" { "read" } else { "written" };
        let (all, count) = (number(answer, "all_passes"), number(answer, "instances"));
        let meet = answer["meet"].as_array().cloned().unwrap_or_default();
        let lanes: Vec<String> = meet.iter().map(Json::to_string).collect();
        let what = format!(
            "the tile is {done} with bank conflicts: {passes} passes where {least} would do (lanes {} meet in bank {}); a warp's {count} accesses take {all}{}",
            lanes.join(" "),
            number(answer, "bank"),
            self.turns(op)
        );
        let mut free = Vec::new();
        if let Some(mode) = answer["free_mode"].as_str() {
            free.push(format!("swizzle mode {mode}"));
        }
        if let Some(swizzle) = answer["free_swizzle"].as_str() {
            free.push(format!("{swizzle} on elements"));
        }
        if let Some([interval, pad]) = answer["free_padding"].as_array().map(Vec::as_slice) {
            free.push(format!("padding by {pad} elements after each {interval}"));
        }
        let remedy = match free.is_empty() {
            true => "no single swizzle or padding that was tried is free: let other lanes take these elements".into(),
            false => format!("free of conflicts: {}", free.join(", or ")),
        };
        self.push(op, LintCheck::Banks, Severity::Costly, what, remedy);
        let figures =
            vec![("passes", passes), ("least", least), ("instances", count), ("all_passes", all)];
        self.shown(query, figures);
    }

    // ---- global memory

    fn pointers(&mut self, op: Op, access: PointerTile) {
        let Some(known) = &self.known else { return };
        let program = self.queries.program;
        let ty = program.type_of(access.pointers);
        let shape = extents(&ty);
        let facts = known.of(program, access.pointers);
        let power = |exponent: u8| 1u64.checked_shl(u32::from(exponent)).unwrap_or(1 << 40);
        // The dimension with the longest runs; of equal ones the last.
        let dimension = (0..shape.len()).max_by_key(|at| (facts.runs(*at).contiguity, *at));
        let Some(dimension) = dimension else { return };
        let along = facts.runs(dimension);
        let extent = u64::from(shape[dimension]);
        let runs = AddressRuns {
            dimension,
            contiguity: power(along.contiguity).min(extent).max(1),
            align_bytes: power(along.divisibility),
            element_bytes: u64::from(access.bits).div_ceil(8).max(1),
        };
        if runs.contiguity <= 1 || !shape.iter().all(|extent| extent.is_power_of_two()) {
            return;
        }
        let sides: Vec<String> = shape.iter().map(u32::to_string).collect();
        let Some(encoding) = self.queries.encoding(&ty) else { return };
        let tile = format!("{encoding} @ {}", sides.join("x"));
        let Some(held) = self.queries.held(&tile) else { return };
        let held = without_copies(held);
        let segment = u64::from(self.queries.tables.weights.segment_bytes).max(1);
        let found = traffic::count(&held, &shape, &runs, segment, self.widest_bytes());
        let (row, bytes) = (runs.contiguity * runs.element_bytes, runs.element_bytes);
        let figures = vec![
            ("segments", found.segments),
            ("least_segments", found.least),
            ("vector_elements", found.vector),
            ("widest_elements", found.widest),
            ("run_bytes", row),
        ];
        let turns = self.turns(op);
        if found.segments > found.least {
            let what = format!(
                "uncoalesced: its instructions touch {} segments of {segment} bytes, and the tile lies in {}; {row} bytes lie side by side along dimension {dimension}{turns}",
                found.segments, found.least
            );
            let remedy = format!(
                "a layout whose lanes follow each other along dimension {dimension}, {} elements each",
                found.widest
            );
            self.push(op, LintCheck::Coalescing, Severity::Costly, what, remedy);
            self.shown(tile.clone(), figures.clone());
        }
        let share = held_by_a_lane(&held);
        if found.vector < found.widest.min(share) {
            let what = format!(
                "a lane moves {} bytes at once where {} lie side by side, aligned{turns}",
                found.vector * bytes,
                found.widest * bytes
            );
            let remedy = format!(
                "give a lane {} elements in a row along dimension {dimension}",
                found.widest.min(share)
            );
            self.push(op, LintCheck::Vector, Severity::Costly, what, remedy);
            self.shown(tile, figures);
        }
    }

    /// Bytes of the widest access of a lane to global memory.
    fn widest_bytes(&self) -> u64 {
        let tables = self.queries.tables;
        let Some(arch) = tables.arch(self.queries.arch) else { return 1 };
        let loads = Capability::Transfer { from: Space::Global, to: Space::Register };
        let widths = arch.dispatch(loads).iter().filter_map(|id| tables.atom(*id)?.movement);
        let own = widths.filter(|movement| !movement.crosses_lanes);
        own.map(|movement| u64::from(movement.from.slot_bytes)).max().unwrap_or(1)
    }

    // ---- products

    /// Factors that a matrix unit reads where they lie: whether a descriptor says their layout.
    fn product(&mut self, op: Op) {
        let program = self.queries.program;
        for number in 0..2 {
            let Some(value) = program.operand(op, number) else { continue };
            let ty = program.type_of(value);
            let shape = self.queries.allocated(value);
            let [rows, columns] = *shape.as_slice() else { continue };
            if !is_shared(&ty) {
                continue;
            }
            let Some(tile) = self.queries.tile(&ty, &shape) else { continue };
            let Some(element) = self.queries.element(&ty) else { continue };
            // A descriptor's tile has the depth last; the right factor has it first.
            let tile = match number {
                0 => tile,
                _ => format!("compose({tile}, ({columns},{rows}):(1,{columns}))"),
            };
            let names = self.descriptors();
            let mut refused = None;
            let mut fits = names.is_empty();
            for name in names {
                let query = format!("descriptor({tile}, \"{name}\", {element})");
                match self.queries.ask(&query) {
                    Answered::Said(_) => fits = true,
                    Answered::Refused(why) => refused = Some((query, why)),
                }
            }
            if let Some((query, why)) = refused.filter(|_| !fits) {
                let (why, remedy) = why.split_once("; ").unwrap_or((&why, ""));
                let what = format!(
                    "the matrix unit cannot read operand {} as it lies: {why}",
                    ["A", "B"][number]
                );
                let remedy = remedy.to_string();
                self.push(op, LintCheck::Operand, Severity::Wrong, what, remedy);
                self.shown(query, Vec::new());
            }
        }
    }

    /// The architecture's descriptors of tiles in shared memory.
    fn descriptors(&self) -> Vec<String> {
        let tables = self.queries.tables;
        let Some(arch) = tables.arch(self.queries.arch) else { return Vec::new() };
        let tiles = tables.units.operand_tiles.iter();
        let own = tiles.filter(|tile| arch.features.contains(&tile.feature));
        let of = |name: &str| tables.units.descriptors.iter().find(|one| one.name == name);
        let names: BTreeSet<&str> =
            own.flat_map(|tile| tile.takes).map(|(name, _)| *name).collect();
        names
            .into_iter()
            .filter(|name| of(name).is_some_and(|one| arch.features.contains(&one.feature)))
            .map(str::to_string)
            .collect()
    }
}

/// Without what another warp or register has already: copies are accessed once.
fn without_copies(held: Held) -> Held {
    let mut seen = BTreeSet::new();
    let mut out = Held::new();
    for (place, lanes) in held {
        let mut own = std::collections::BTreeMap::new();
        for (lane, element) in lanes {
            if seen.insert(element) {
                own.insert(lane, element);
            }
        }
        if !own.is_empty() {
            out.insert(place, own);
        }
    }
    out
}

/// Elements that a lane has, without copies.
fn held_by_a_lane(held: &Held) -> u64 {
    let mut count = std::collections::BTreeMap::new();
    for ((warp, _), lanes) in held {
        for lane in lanes.keys() {
            *count.entry((*warp, *lane)).or_insert(0u64) += 1;
        }
    }
    count.values().copied().max().unwrap_or(1)
}
