//! The timeline of layout inference, as document 003 writes it: who was asked, what it knew, what it
//! answered, what changed, what was rejected and why.
//!
//! Index maps of an attempt are gone when the attempt is over, so everything is made text when it
//! happens.
use super::owners::{conversion, first_unserved, in_bases};
use super::shared;
use lanebook::infer::notation;
use lanebook::infer::{
    BufferId, Cost, FragmentForm, Inference, InferenceEvent, Kind, Level, Listener, MemoryScope,
    OperatorId, Reason, Rejection, SpreadSource,
};
use lanebook::ir::{Op, Program, Value};
use lanebook::loops::{SharedListener, SharedStep, Told, UnitRefusal};
use lanebook_tables::{OpRole, Space};
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// What operators and buffers are called.
pub struct Names {
    operators: BTreeMap<OperatorId, (String, Op)>,
    buffers: BTreeMap<BufferId, (String, Value)>,
    accesses: BTreeMap<(OperatorId, BufferId), String>,
}

impl Names {
    /// The names in a program: loops are counted, tile operations have their line.
    pub fn of(program: &Program<'_, '_>, told: &Told<'_>) -> Self {
        let buffers: BTreeMap<BufferId, (String, Value)> =
            told.buffers().map(|(id, value)| (id, (called(program, value), value))).collect();
        let (mut operators, mut accesses) = (BTreeMap::new(), BTreeMap::new());
        let mut loops = 0;
        for (id, op) in told.operators() {
            let line = program.place(op).line;
            let uniform = told.inference.operator_of(id).is_ok_and(|o| o.kind == Kind::Uniform);
            let name = if uniform {
                format!("the threads at line {line}")
            } else if program.role(op) == OpRole::Parallel {
                loops += 1;
                format!("loop {loops}")
            } else {
                tile_operation(program, op)
            };
            operators.insert(id, (name, op));
            if uniform {
                continue;
            }
            for inner in std::iter::once(op).chain(program.inside(op)) {
                let number = match program.role(inner) {
                    OpRole::ElementLoad => 0,
                    OpRole::ElementStore => 1,
                    _ => continue,
                };
                let place = program.operand(inner, number);
                let found = told.buffers().find(|(_, value)| Some(*value) == place);
                if let Some((buffer, _)) = found {
                    let text = access(program, inner, number);
                    accesses.entry((id, buffer)).or_insert(text);
                }
            }
        }
        Self { operators, buffers, accesses }
    }
    /// What an operator is called.
    pub fn operator(&self, id: OperatorId) -> &str {
        self.operators.get(&id).map_or("an operator", |(name, _)| name)
    }
    /// The operation that it stands for.
    pub fn op(&self, id: OperatorId) -> Option<Op> {
        self.operators.get(&id).map(|(_, op)| *op)
    }
    /// What an operation is called.
    pub fn caller(&self, op: Op) -> &str {
        let named = self.operators.values().find(|(_, of)| *of == op);
        named.map_or("an operator", |(name, _)| name)
    }
    /// What a buffer is called.
    pub fn buffer(&self, id: BufferId) -> &str {
        self.buffers.get(&id).map_or("a buffer", |(name, _)| name)
    }
    /// How an operator accesses a buffer: `fragment[row, 0]`.
    pub fn access(&self, id: OperatorId, buffer: BufferId) -> &str {
        self.accesses.get(&(id, buffer)).map_or_else(|| self.buffer(buffer), String::as_str)
    }
}

/// The name of a value as the program is printed; of a tile that was put in also whose elements it
/// has.
fn called(program: &Program<'_, '_>, value: Value) -> String {
    let name = program.value_name(value);
    if !name.is_empty() {
        return name.to_string();
    }
    let place = match program.type_of(value).space {
        Some(Space::Shared) => "in shared memory",
        _ => "in registers",
    };
    let mut copies = program
        .uses(value)
        .filter_map(|place| program.user(place))
        .filter(|op| program.role(*op) == OpRole::Copy);
    let other = copies.find_map(|op| {
        let mut sides = program.operands(op);
        sides.find(|side| !program.value_name(*side).is_empty())
    });
    match other {
        Some(other) => format!("_{} ({} {place})", value.index(), program.value_name(other)),
        None => format!("_{}", value.index()),
    }
}

/// A tile operation by its line; one that was put in by what it moves.
fn tile_operation(program: &Program<'_, '_>, op: Op) -> String {
    let line = program.place(op).line;
    if line > 0 {
        return format!("{} in line {line}", program.op_name(op));
    }
    let moved: Vec<String> = program.operands(op).map(|value| called(program, value)).collect();
    format!("{} of {}", program.op_name(op), moved.join(" to "))
}

/// An element as the program writes it.
fn access(program: &Program<'_, '_>, op: Op, number: usize) -> String {
    let said = |value: Value| match program.int(value) {
        Some(number) => number.to_string(),
        None => called(program, value),
    };
    let name = program.operand(op, number).map(said).unwrap_or_default();
    let subscripts: Vec<String> = program.subscripts(op, number).map(said).collect();
    format!("{name}[{}]", subscripts.join(", "))
}

/// What happened.
enum What {
    /// Nothing yet, and why.
    Waits(String),
    /// A loop was spread, and gave these buffers their layouts.
    Spread(SpreadSource, String, Vec<(BufferId, String)>),
    /// A product's unit has laid these buffers.
    ByUnit(Vec<(BufferId, String)>),
    /// A buffer got its layout without a loop being spread.
    Laid(Vec<(BufferId, String)>),
    /// Another operator is asked again.
    Wakes(OperatorId, BufferId),
    /// A layout was rejected.
    Rejected(String),
}

/// A step of inference.
struct Step {
    operator: OperatorId,
    level: Option<Level>,
    /// It was asked again, because of what another one answered.
    revisit: bool,
    what: What,
}

/// Inference of a component from one root.
struct Attempt {
    root: OperatorId,
    steps: Vec<Step>,
    cost: Option<Cost>,
    /// Its root chose what an earlier attempt gave it.
    repeats: bool,
    kept: bool,
}

/// A layout that was rejected, in words.
#[derive(Clone)]
pub struct RejectedLayout {
    /// By which operator.
    pub operator: OperatorId,
    /// Why.
    pub reason: Reason,
    /// What is wrong, with a point that shows it.
    pub text: String,
    /// Layouts of the loop and of the buffer.
    pub layouts: Vec<String>,
    /// Both as bases, and what would serve.
    pub notes: Vec<String>,
    /// Who gave the buffer its layout.
    pub owner: Option<OperatorId>,
}

/// Everything that happened.
pub struct Timeline {
    names: Names,
    /// Fragments whose layouts were known before anybody was asked.
    known: Vec<(BufferId, String)>,
    level: Option<Level>,
    steps: Vec<Step>,
    components: Vec<Vec<Attempt>>,
    woken: Vec<OperatorId>,
    /// Who gave a buffer its layout.
    owners: BTreeMap<BufferId, OperatorId>,
    /// The same before the attempts of a component.
    before: BTreeMap<BufferId, OperatorId>,
    /// The layout that was rejected last.
    pub rejected: Option<RejectedLayout>,
    /// What became of the layouts of shared buffers.
    shared: Vec<SharedStep>,
    /// Buffers that lie by columns, and what their accesses cost by rows and so.
    by_columns: Vec<(BufferId, [u32; 2])>,
    /// Products that single warps compute although the architecture's unit could.
    by_warps: Vec<(Op, UnitRefusal)>,
}

impl Timeline {
    /// Nothing has happened yet.
    pub fn new(names: Names, told: &Told<'_>) -> Self {
        let inference = &told.inference;
        let known = told
            .buffers()
            .filter(|(id, _)| inference.laid_by_product(*id).is_none())
            .filter_map(|(id, _)| Some((id, layout(inference, &inference.layout(id)?))))
            .collect();
        Self {
            names,
            known,
            level: None,
            steps: Vec::new(),
            components: Vec::new(),
            woken: Vec::new(),
            owners: BTreeMap::new(),
            before: BTreeMap::new(),
            rejected: None,
            shared: Vec::new(),
            by_columns: Vec::new(),
            by_warps: Vec::new(),
        }
    }
    /// What operators and buffers are called.
    pub fn names(&self) -> &Names {
        &self.names
    }
    /// The operation that makes a buffer.
    pub fn place(&self, program: &Program<'_, '_>, buffer: BufferId) -> Option<Op> {
        self.names.buffers.get(&buffer).and_then(|(_, value)| program.def_op(*value))
    }

    fn steps(&mut self) -> &mut Vec<Step> {
        match self.components.last_mut().and_then(|attempts| attempts.last_mut()) {
            Some(attempt) if attempt.cost.is_none() && !attempt.kept => &mut attempt.steps,
            _ => &mut self.steps,
        }
    }
    fn add(&mut self, operator: OperatorId, what: What) {
        let (level, revisit) = (self.level, self.woken.contains(&operator));
        self.steps().push(Step { operator, level, revisit, what });
    }

    /// Why an operator had nothing to say.
    fn reason_to_wait(&self, at: &Inference<'_>, id: OperatorId, level: Level) -> String {
        let Ok(op) = at.operator_of(id) else { return String::new() };
        if matches!(op.kind, Kind::Reduce { .. }) {
            return "waits for the layout of what it reduces".into();
        }
        if op.kind == Kind::Product {
            return "no update, because no fragment of its own is without a layout".into();
        }
        let fragment =
            |buffer: BufferId| at.buffer_of(buffer).is_ok_and(|b| b.scope == MemoryScope::Fragment);
        let open = |buffer: BufferId| fragment(buffer) && at.layout(buffer).is_none();
        let accesses = at.accesses_of(op);
        let written = accesses.iter().find(|a| a.write && open(a.buffer));
        let read = accesses
            .iter()
            .find(|a| open(a.buffer) && !accesses.iter().any(|w| w.write && w.buffer == a.buffer));
        let name = |buffer: BufferId| self.names.buffer(buffer);
        match (level, written, read) {
            _ if !accesses.iter().any(|a| fragment(a.buffer)) => {
                "no update, because it accesses no fragment".into()
            }
            (Level::Strict, Some(a), _) => format!(
                "no update, because {} is not a constant-index access",
                self.names.access(id, a.buffer)
            ),
            (Level::Strict, None, Some(a)) => {
                format!("cannot derive a useful layout from {} yet", name(a.buffer))
            }
            (Level::Strict, None, None) => {
                let anchored =
                    accesses.iter().find_map(|a| Some((a.buffer, at.laid_by_product(a.buffer)?)));
                match anchored {
                    Some((buffer, product)) => format!(
                        "no update, because {} lies where {} leaves it",
                        name(buffer),
                        self.names.operator(product)
                    ),
                    None => "no update, because its fragments have their layouts".into(),
                }
            }
            (_, _, Some(a)) => format!("still waits for {}'s layout", name(a.buffer)),
            _ => "no source fragment layout to propagate".into(),
        }
    }
}

/// A layout as text.
pub fn layout(at: &Inference<'_>, layout: &FragmentForm) -> String {
    let mut out = String::new();
    match notation::write(&at.arena, layout, &mut out) {
        Ok(()) => out,
        Err(_) => "{too long to write}".into(),
    }
}

impl Listener for Timeline {
    fn event(&mut self, at: &Inference<'_>, event: InferenceEvent) {
        match event {
            InferenceEvent::Begins(level) => self.level = Some(level),
            InferenceEvent::Tries(root) => {
                let first = self.components.last().is_none_or(|c| c.iter().any(|a| a.kept));
                if first {
                    self.components.push(Vec::new());
                }
                self.woken.clear();
                if first {
                    self.before = self.owners.clone();
                }
                self.owners = self.before.clone();
                let attempt =
                    Attempt { root, steps: Vec::new(), cost: None, repeats: false, kept: false };
                if let Some(attempts) = self.components.last_mut() {
                    attempts.push(attempt);
                }
            }
            InferenceEvent::Costs(_, cost) => {
                if let Some(attempt) = self.components.last_mut().and_then(|c| c.last_mut()) {
                    attempt.cost = Some(cost);
                }
            }
            InferenceEvent::Repeats(_) => {
                if let Some(attempt) = self.components.last_mut().and_then(|c| c.last_mut()) {
                    attempt.repeats = true;
                }
            }
            InferenceEvent::Keeps(_, number) => {
                let number = usize::try_from(number).unwrap_or(usize::MAX).saturating_sub(1);
                if let Some(attempt) = self.components.last_mut().and_then(|c| c.get_mut(number)) {
                    attempt.kept = true;
                }
            }
            InferenceEvent::Waits(id, level) => {
                let text = self.reason_to_wait(at, id, level);
                self.add(id, What::Waits(text));
            }
            InferenceEvent::Spread(id, _, source, form) => {
                self.add(id, What::Spread(source, layout(at, &form), Vec::new()));
            }
            InferenceEvent::Laid(id, _, buffer, form) => {
                self.owners.insert(buffer, id);
                let laid = (buffer, layout(at, &form));
                match self.steps().last_mut() {
                    Some(Step { operator, what: What::Spread(.., list), .. })
                        if *operator == id =>
                    {
                        list.push(laid);
                    }
                    Some(Step {
                        operator, what: What::Laid(list) | What::ByUnit(list), ..
                    }) if *operator == id => {
                        list.push(laid);
                    }
                    _ if at.operator_of(id).is_ok_and(|op| op.kind == Kind::Product) => {
                        self.add(id, What::ByUnit(vec![laid]));
                    }
                    _ => self.add(id, What::Laid(vec![laid])),
                }
            }
            InferenceEvent::Wakes(by, woken, buffer) => {
                self.add(by, What::Wakes(woken, buffer));
                if self.level == Some(Level::Free) {
                    self.woken.push(woken);
                }
            }
            InferenceEvent::Rejected(rejection) => {
                let rejected = self.describe(at, &rejection);
                self.add(rejection.operator, What::Rejected(rejected.text.clone()));
                self.rejected = Some(rejected);
            }
        }
    }
}

impl SharedListener for Timeline {
    fn step(&mut self, step: SharedStep) {
        self.shared.push(step);
    }

    fn by_columns(&mut self, buffer: BufferId, costs: [u32; 2]) {
        self.by_columns.push((buffer, costs));
    }

    fn by_warps(&mut self, op: Op, why: UnitRefusal) {
        self.by_warps.push((op, why));
    }
}

impl Timeline {
    /// A rejection in words.
    fn describe(&self, at: &Inference<'_>, rejection: &Rejection) -> RejectedLayout {
        let mut text = reason(&self.names, rejection.operator, rejection.reason);
        if let Some(shown) = self.witness(at, rejection) {
            let _ = write!(text, ": {shown}");
        }
        let mut layouts = Vec::new();
        if let Some(spread) = &rejection.spread {
            let name = self.names.operator(rejection.operator);
            layouts.push(format!("{name} {}", layout(at, spread)));
        }
        if let (Some(form), Some(buffer)) = (&rejection.layout, rejection.reason.buffer()) {
            layouts.push(format!("{} {}", self.names.buffer(buffer), layout(at, form)));
        }
        let owner = rejection.reason.buffer().and_then(|b| self.owners.get(&b).copied());
        let (operator, reason) = (rejection.operator, rejection.reason);
        let notes = self.notes(at, rejection).unwrap_or_default();
        RejectedLayout { operator, reason, text, layouts, notes, owner }
    }

    /// Owner and reader as bases, and what would bring the elements over; of reads that no owner
    /// serves.
    fn notes(&self, at: &Inference<'_>, rejection: &Rejection) -> Option<Vec<String>> {
        let Reason::NotOwner { buffer } = rejection.reason else { return None };
        let (spread, held) = (rejection.spread?, rejection.layout?);
        let op = at.operator_of(rejection.operator).ok()?;
        let (reader, owner) = (self.names.operator(rejection.operator), self.names.buffer(buffer));
        let bases: Vec<String> = [(owner, &held), (reader, &spread)]
            .into_iter()
            .filter_map(|(name, form)| Some(format!("{name} {}", in_bases(at, form)?)))
            .collect();
        let mut notes = Vec::new();
        if !bases.is_empty() {
            let bases = bases.join("; ");
            notes.push(format!("bit by bit, T = thread, I = local index: {bases}"));
        }
        let mut reads = at.accesses_of(op).iter().filter(|a| a.buffer == buffer && !a.write);
        let own = at.buffer_of(buffer).ok()?;
        let read = reads.next()?;
        notes.extend(
            conversion(at, [&spread, &held], read.indices(), own)
                .map(|way| format!("the cheapest way from {owner} to {reader}: {way}")),
        );
        Some(notes)
    }

    /// A point at which a thread executes what it does not hold, or holds what it does not write.
    fn witness(&self, at: &Inference<'_>, rejection: &Rejection) -> Option<String> {
        let writes = match rejection.reason {
            Reason::NotOwner { .. } => false,
            Reason::NotWritten { .. } => true,
            _ => return None,
        };
        let buffer = rejection.reason.buffer()?;
        let (spread, held) = (rejection.spread?, rejection.layout?);
        let op = at.operator_of(rejection.operator).ok()?;
        let accesses = at.accesses_of(op).iter();
        for access in accesses.filter(|a| a.buffer == buffer && (a.write || !writes)) {
            if let Some(shown) = first_unserved(at, [&spread, &held], access.indices(), writes) {
                let element: Vec<String> = shown.element.iter().map(i64::to_string).collect();
                let point: Vec<String> = shown.point.iter().map(i64::to_string).collect();
                return Some(format!(
                    "iteration ({}) is executed by {}, and {}[{}] is held by {}",
                    point.join(", "),
                    threads(&shown.doers),
                    self.names.buffer(buffer),
                    element.join(", "),
                    threads(&shown.holders),
                ));
            }
        }
        None
    }
}

fn threads(list: &BTreeSet<i64>) -> String {
    let few: Vec<String> = list.iter().take(4).map(i64::to_string).collect();
    let more = if list.len() > few.len() {
        format!(" and {} more", list.len() - few.len())
    } else {
        String::new()
    };
    let noun = if list.len() == 1 { "thread" } else { "threads" };
    format!("{noun} {}{more}", few.join(", "))
}

/// A reason in words.
pub fn reason(names: &Names, id: OperatorId, reason: Reason) -> String {
    let (own, of) = (names.operator(id), |b: BufferId| names.access(id, b));
    let name = |buffer: BufferId| names.buffer(buffer);
    let whose = |buffer: Option<BufferId>| match buffer {
        Some(buffer) => format!("{}'s layout", name(buffer)),
        None => format!("the layout of {own}"),
    };
    match reason {
        Reason::NotOwner { buffer } => {
            format!("a thread of {own} does not own {}", of(buffer))
        }
        Reason::NotWritten { buffer } => {
            format!("a thread that owns {} does not write it in {own}", of(buffer))
        }
        Reason::InnerVariable { buffer } => {
            format!("the owner of {} changes with a serial loop inside {own}", of(buffer))
        }
        Reason::OuterVariable { buffer } => format!(
            "the owner of {}'s elements would change with a serial loop in or around {own}",
            name(buffer)
        ),
        Reason::Threads { buffer } => {
            format!("{} names threads that do not execute {own}", whose(buffer))
        }
        Reason::ThreadRange { buffer } => format!(
            "the threads of {} are counted from another one than those that execute {own}",
            name(buffer)
        ),
        Reason::Reduced { buffer } => {
            format!("{} does not lie where {own} leaves its result", name(buffer))
        }
        Reason::View { buffer } => {
            format!(
                "an element of {} does not lie in neighbouring places of one thread",
                name(buffer)
            )
        }
        Reason::Uniform { buffer } => {
            format!("{} is read by all threads, but does not lie on all of them", name(buffer))
        }
        Reason::NotInjective { buffer } => {
            format!("{} is not injective: it puts two points in one place", whose(buffer))
        }
        Reason::IndexByCopy { buffer } => {
            format!("the local index of {} differs from copy to copy", whose(buffer))
        }
        Reason::Nothing => "no layout was found".into(),
    }
}

// ---- writing

impl Timeline {
    /// The timeline as text; `explain` shows every attempt and every layout.
    pub fn text(&self, explain: bool) -> String {
        let mut out = String::from("Initial:\n");
        let known: Vec<&str> = self.known.iter().map(|(id, _)| self.names.buffer(*id)).collect();
        let _ = writeln!(out, "  layout_map = {{{}}}", known.join(", "));
        if explain {
            for (id, text) in &self.known {
                let _ = writeln!(out, "      {} {text}", self.names.buffer(*id));
            }
        }
        let mut heading = "Initial";
        for step in &self.steps {
            let section = match step.level {
                None => "Initial",
                Some(Level::Strict) => "Strict",
                Some(Level::Common) => "Common",
                Some(Level::Free) => "Free",
            };
            self.headed(&mut out, &mut heading, section);
            self.step(&mut out, step, explain);
        }
        for attempts in &self.components {
            for (number, attempt) in (1..).zip(attempts) {
                if !explain && !attempt.kept {
                    continue;
                }
                if explain {
                    let title = format!(
                        "Free, attempt {number} from {}",
                        self.names.operator(attempt.root)
                    );
                    let _ = writeln!(out, "\n{title}:");
                    heading = "Free";
                }
                for step in &attempt.steps {
                    let section = if step.revisit { "Revisit" } else { "Free" };
                    self.headed(&mut out, &mut heading, section);
                    self.step(&mut out, step, explain);
                }
                if explain {
                    let _ = writeln!(out, "  {}", ending(attempt));
                }
            }
        }
        for (buffer, costs) in &self.by_columns {
            self.headed(&mut out, &mut heading, "Shared");
            let _ = writeln!(out, "  {}", shared::by_columns_line(&self.names, *buffer, *costs));
        }
        for step in &self.shared {
            self.headed(&mut out, &mut heading, "Shared");
            let _ = writeln!(out, "  {}", shared::line(&self.names, step));
        }
        for (op, why) in &self.by_warps {
            self.headed(&mut out, &mut heading, "Shared");
            let _ = writeln!(out, "  {}", shared::by_warps_line(&self.names, (*op, *why)));
        }
        out
    }

    fn headed(&self, out: &mut String, heading: &mut &'static str, section: &'static str) {
        if *heading != section {
            *heading = section;
            let _ = writeln!(out, "\n{section}:");
        }
    }

    fn step(&self, out: &mut String, step: &Step, explain: bool) {
        let names = |laid: &[(BufferId, String)]| {
            let names: Vec<String> =
                laid.iter().map(|(id, _)| format!("{}'s layout", self.names.buffer(*id))).collect();
            names.join(" and ")
        };
        let own = self.names.operator(step.operator);
        let (line, layouts) = match &step.what {
            What::Wakes(woken, buffer) => {
                let line = format!(
                    "use_list_[{}] re-enqueues {}",
                    self.names.buffer(*buffer),
                    self.names.operator(*woken)
                );
                let _ = writeln!(out, "  {line}");
                return;
            }
            What::Waits(text) => (text.clone(), Vec::new()),
            What::Rejected(text) => (format!("rejected: {text}"), Vec::new()),
            What::ByUnit(laid) => {
                (format!("its unit establishes {}", names(laid)), laid.iter().collect())
            }
            What::Laid(laid) => {
                let line = match step.level {
                    None => "replicated on all threads, because it is read outside of loops".into(),
                    Some(Level::Strict) => {
                        let accesses: Vec<&str> = laid
                            .iter()
                            .map(|(id, _)| self.names.access(step.operator, *id))
                            .collect();
                        format!(
                            "replicated on all threads, because {} is a constant-index access",
                            accesses.join(", ")
                        )
                    }
                    _ => String::new(),
                };
                let line = match line.as_str() {
                    "" => format!("CompleteBufferFragment establishes {}", names(laid)),
                    line => format!("{} is {line}", names(laid)),
                };
                (line, laid.iter().collect())
            }
            What::Spread(source, _, laid) => {
                let line = match source {
                    SpreadSource::Plan if laid.is_empty() => {
                        "ComputePlanCandidate spreads the loop".into()
                    }
                    SpreadSource::Plan => {
                        format!("ComputePlanCandidate establishes {}", names(laid))
                    }
                    SpreadSource::Written => "its layout is written".into(),
                    SpreadSource::EveryThread => "every thread executes all of it".into(),
                    SpreadSource::Buffer(buffer) => format!(
                        "ComputeLoopLayoutFromBuffer propagates {}'s layout through {}",
                        self.names.buffer(*buffer),
                        self.names.access(step.operator, *buffer)
                    ),
                };
                let more = match source {
                    SpreadSource::Plan => String::new(),
                    _ if laid.is_empty() => String::new(),
                    _ => format!("; CompleteBufferFragment establishes {}", names(laid)),
                };
                (line + &more, laid.iter().collect())
            }
        };
        let _ = writeln!(out, "  {own} -> {line}");
        if explain {
            if let What::Spread(_, form, _) = &step.what {
                let _ = writeln!(out, "      {own} {form}");
            }
            for (id, text) in layouts {
                let _ = writeln!(out, "      {} {text}", self.names.buffer(*id));
            }
        }
    }

    /// The timeline as JSON.
    pub fn json(&self) -> Json {
        let known = self.known.iter().map(|(id, layout)| {
            json!({"level": "initial", "event": "known", "buffer": self.names.buffer(*id), "layout": layout})
        });
        let mut out: Vec<Json> = known.collect();
        out.extend(self.steps.iter().map(|step| self.step_json(step)));
        for (component, attempts) in self.components.iter().enumerate() {
            for (number, attempt) in (1..).zip(attempts) {
                for step in &attempt.steps {
                    let mut one = self.step_json(step);
                    one["component"] = json!(component);
                    one["attempt"] = json!(number);
                    one["kept"] = json!(attempt.kept);
                    out.push(one);
                }
                out.push(json!({
                    "level": "free", "event": "attempt", "component": component, "attempt": number,
                    "operator": self.names.operator(attempt.root), "kept": attempt.kept,
                    "repeats": attempt.repeats,
                    "cost": attempt.cost.map(|c| json!({
                        "spilled_bits": c.spilled, "registers": c.registers, "traffic": c.traffic,
                        "iterations": c.iterations,
                    })),
                }));
            }
        }
        let by_columns = self.by_columns.iter();
        out.extend(by_columns.map(|own| shared::by_columns_object(&self.names, own.0, own.1)));
        out.extend(self.shared.iter().map(|step| shared::object(&self.names, step)));
        let by_warps = self.by_warps.iter();
        out.extend(by_warps.map(|own| shared::by_warps_object(&self.names, *own)));
        Json::Array(out)
    }

    fn step_json(&self, step: &Step) -> Json {
        let level = match step.level {
            None => "initial",
            Some(Level::Strict) => "strict",
            Some(Level::Common) => "common",
            Some(Level::Free) => "free",
        };
        let buffers = |laid: &[(BufferId, String)]| -> Vec<Json> {
            laid.iter()
                .map(|(id, layout)| json!({"buffer": self.names.buffer(*id), "layout": layout}))
                .collect()
        };
        let mut out = json!({"level": level, "operator": self.names.operator(step.operator)});
        if step.revisit {
            out["revisit"] = json!(true);
        }
        match &step.what {
            What::Waits(text) => {
                out["event"] = json!("waits");
                out["because"] = json!(text);
            }
            What::Spread(source, layout, laid) => {
                out["event"] = json!("spread");
                out["layout"] = json!(layout);
                out["laid"] = json!(buffers(laid));
                out["by"] = match source {
                    SpreadSource::Written => json!("written"),
                    SpreadSource::Buffer(buffer) => json!({"buffer": self.names.buffer(*buffer)}),
                    SpreadSource::Plan => json!("plan"),
                    SpreadSource::EveryThread => json!("every thread"),
                };
            }
            What::ByUnit(laid) => {
                out["event"] = json!("laid");
                out["by"] = json!("unit");
                out["laid"] = json!(buffers(laid));
            }
            What::Laid(laid) => {
                out["event"] = json!("laid");
                out["laid"] = json!(buffers(laid));
            }
            What::Wakes(woken, buffer) => {
                out["event"] = json!("wakes");
                out["woken"] = json!(self.names.operator(*woken));
                out["buffer"] = json!(self.names.buffer(*buffer));
            }
            What::Rejected(text) => {
                out["event"] = json!("rejected");
                out["because"] = json!(text);
            }
        }
        out
    }
}

fn ending(attempt: &Attempt) -> String {
    if attempt.repeats {
        return "not gone on with: an earlier attempt spread it the same way".into();
    }
    let Some(cost) = attempt.cost else { return "given up".into() };
    let kept = if attempt.kept { "kept" } else { "not kept" };
    format!(
        "{kept}: {} spilled bits, {} registers, {} of memory traffic, {} iterations a thread",
        cost.spilled, cost.registers, cost.traffic, cost.iterations
    )
}
