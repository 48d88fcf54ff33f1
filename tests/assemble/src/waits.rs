//! Wait states by LLVM: which of them its hazard recogniser puts between two instructions.
//!
//! Two instructions that share a register are written as text from their templates, read by the
//! assembler (which tells the opcode and its operands), and given to `llc` as a function of machine
//! code for the one pass that inserts wait states. What it inserted is counted. Nothing of the
//! tables' own hazards is used, but for which tags they speak of.
use lanebook_gen::Compiled;
use lanebook_gen::model::{Arch, Atom, HwModel};
use lanebook_gen::template::Piece;
use lanebook_tables::{RegisterKind, Role, TagId};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};

/// The assembler that tells opcodes.
const READER: &str = "llvm-mc-22";
/// The compiler whose pass is asked.
const COMPILER: &str = "llc-22";
/// Its pass.
const PASS: &str = "post-RA-hazard-rec";
/// First register of a producer and of a consumer: far enough from each other for any tuples.
const FIRST: [usize; 2] = [8, 132];

/// One way in which two instructions share a register.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Shared {
    /// Operand of the earlier one.
    from: String,
    /// They share exactly the tuple, where the tuples are of one length.
    same: bool,
    /// The later one, and its operand.
    later: String,
    to: String,
}

/// An instruction as the assembler understood it.
#[derive(Clone, Debug)]
struct Read {
    opcode: String,
    operands: Vec<String>,
}

/// A pair to be compiled.
struct Pair {
    earlier: String,
    shared: Shared,
    texts: [String; 2],
    atoms: [usize; 2],
}

/// The text of the record for all architectures whose tables have wait states.
///
/// # Errors
/// What could not be run or understood.
pub fn record(compiled: &Compiled) -> Result<String, String> {
    let version = run(COMPILER, &["--version"], "")?;
    let version = version.lines().find_map(|line| line.trim().strip_prefix("Debian LLVM version "));
    let by = format!("llc {}", version.ok_or("no version of LLVM")?.trim());
    let mut out = format!(
        "// Written by `cargo run --release -p lanebook-assemble --example waits`, never by hand: wait states that {PASS} puts between two\n// instructions of which the later one uses a register of the earlier (`=`: the same tuple; `wait`: an instruction that waits in their place). Of pairs that are\n// not listed, none.\n(waits: [\n"
    );
    let mut told: BTreeSet<String> = BTreeSet::new();
    let mut forms = Forms::new();
    for arch in compiled.model.archs.iter().filter(|arch| !arch.hazards.is_empty()) {
        // Wave sizes of one machine have one table.
        if !told.insert(arch.target.clone()) {
            continue;
        }
        let (found, before) = measured(&compiled.model, arch, &mut forms)?;
        // Producers of which the same is said.
        let mut alike: BTreeMap<Vec<String>, Vec<String>> = BTreeMap::new();
        for (producer, lines) in found {
            alike.entry(lines).or_default().push(producer);
        }
        let list = |texts: &[String]| {
            texts.iter().map(|t| format!("{t:?}")).collect::<Vec<_>>().join(", ")
        };
        let _ = writeln!(
            out,
            "    (arch: {:?}, by: {by:?}, before: [{}], pairs: [",
            arch.name.value,
            list(&before.into_iter().collect::<Vec<_>>())
        );
        for (lines, producers) in alike {
            let _ = writeln!(
                out,
                "        (behind: [{}], states: [{}]),",
                list(&producers),
                list(&lines)
            );
        }
        out.push_str("    ]),\n");
    }
    out.push_str("])\n");
    Ok(out)
}

/// Of each producer what was found behind it; and all that were asked about.
type Measured = (BTreeMap<String, Vec<String>>, BTreeSet<String>);

/// Of each producer of an architecture, what was measured behind it.
fn measured(model: &HwModel, arch: &Arch, forms: &mut Forms) -> Result<Measured, String> {
    let pairs = pairs(model, arch);
    let texts: BTreeSet<&String> = pairs.iter().flat_map(|pair| &pair.texts).collect();
    let known = read(arch, &texts.into_iter().collect::<Vec<_>>())?;
    let mut bodies = Vec::new();
    for pair in &pairs {
        let mut lines = Vec::new();
        for (text, atom) in pair.texts.iter().zip(pair.atoms) {
            let Some(read) = known.get(text) else { continue };
            let defs = defs(&model.atoms[atom]);
            let form = match forms.get(&read.opcode) {
                Some(form) => form.clone(),
                None => {
                    let form = form(arch, read, defs)?;
                    if form.is_none() {
                        eprintln!("{}: nothing is known of {}", arch.name.value, read.opcode);
                    }
                    forms.insert(read.opcode.clone(), form.clone());
                    form
                }
            };
            lines.extend(form.map(|form| machine(&form, read)));
        }
        bodies.push(lines);
    }
    // What the machine reads before it writes a part of it is another operand than the table's.
    let tied = |pair: &Pair| {
        let Some(read) = known.get(&pair.texts[1]) else { return true };
        let atom = &model.atoms[pair.atoms[1]];
        let is = |role: Role| {
            atom.operand(&pair.shared.to)
                .is_some_and(|n| atom.operands[usize::from(n)].role == role)
        };
        let first = read.operands.first();
        is(Role::Def) && read.operands.iter().skip(1).any(|other| Some(other) == first)
    };
    let whole: Vec<(&Pair, &Vec<String>)> =
        pairs.iter().zip(&bodies).filter(|(pair, lines)| lines.len() == 2 && !tied(pair)).collect();
    let input: String =
        whole.iter().enumerate().map(|(at, (_, lines))| function(at, lines)).collect();
    let said = compile(arch, &input)?;
    let functions: Vec<&str> = said.split("\nname:            f").skip(1).collect();
    if functions.len() != whole.len() {
        return Err(format!("{} functions, {} compiled", whole.len(), functions.len()));
    }
    let mut before = BTreeSet::new();
    let mut out: BTreeMap<String, BTreeMap<Shared, String>> = BTreeMap::new();
    for ((pair, _), body) in whole.iter().zip(functions) {
        let states = counted(body)?;
        before.insert(pair.shared.later.clone());
        let of = out.entry(pair.earlier.clone()).or_default();
        if states != "0" {
            of.insert(pair.shared.clone(), states);
        }
    }
    let out = out
        .into_iter()
        .map(|(earlier, found)| {
            let line = |(shared, states): (Shared, String)| {
                let sign = if shared.same { "=" } else { ">" };
                format!("{} {sign} {} {} {states}", shared.from, shared.later, shared.to)
            };
            (earlier, found.into_iter().map(line).collect())
        })
        .collect();
    Ok((out, before))
}

/// Operands that are registers in the text, with whether they are read and written.
fn registers<'m>(
    model: &'m HwModel,
    atom: &'m Atom,
) -> impl Iterator<Item = (usize, RegisterKind, bool, bool)> + 'm {
    atom.operands.iter().enumerate().filter(|(_, o)| !o.implicit).filter_map(|(k, operand)| {
        let class = model.isa(atom.isa).classes.get(operand.class?.index())?;
        let (read, written) = match operand.role {
            Role::Def => (false, true),
            Role::Use | Role::Address => (true, false),
            Role::UseDef => (true, true),
            _ => return None,
        };
        (class.kind != RegisterKind::Special).then_some((k, class.kind, read, written))
    })
}

fn defs(atom: &Atom) -> usize {
    let written = |role: Role| matches!(role, Role::Def | Role::UseDef);
    atom.operands.iter().filter(|o| written(o.role) && !o.implicit).count()
}

/// One of those that are alike to hazards; of matrix instructions all, if they come first.
fn some_of(model: &HwModel, arch: &Arch, wanted: &BTreeSet<TagId>, all: bool) -> Vec<usize> {
    let mut seen = BTreeSet::new();
    let mut out = Vec::new();
    for entry in arch.atoms.iter().filter(|entry| entry.native) {
        let atom = model.atom(entry.atom);
        let tags: BTreeSet<TagId> =
            atom.tags.iter().copied().filter(|tag| wanted.contains(tag)).collect();
        let one_line =
            !atom.template.iter().any(|piece| matches!(piece, Piece::Text(t) if t.contains('\n')));
        if tags.is_empty() || !one_line || !atom.template.iter().all(|p| plain(atom, p)) {
            continue;
        }
        let classes: Vec<_> =
            registers(model, atom).map(|(_, kind, r, w)| (kind as u8, r, w)).collect();
        let every = all && atom.matrix.is_some();
        let name = if every { atom.name.value.clone() } else { String::new() };
        if seen.insert((tags, if every { Vec::new() } else { classes }, name)) {
            out.push(entry.atom.index());
        }
    }
    out
}

/// Whether a piece can be written here.
fn plain(atom: &Atom, piece: &Piece) -> bool {
    match piece {
        Piece::Name(name) => atom.operand(name).is_some(),
        _ => true,
    }
}

fn pairs(model: &HwModel, arch: &Arch) -> Vec<Pair> {
    let producers: BTreeSet<TagId> = arch.hazards.iter().map(|h| h.producer).collect();
    let consumers: BTreeSet<TagId> = arch.hazards.iter().map(|h| h.consumer).collect();
    let mut out = Vec::new();
    for first in some_of(model, arch, &producers, true) {
        for second in some_of(model, arch, &consumers, false) {
            let (earlier, later) = (&model.atoms[first], &model.atoms[second]);
            for (k, kind, _, written) in registers(model, earlier) {
                for (n, other, read, overwritten) in registers(model, later) {
                    // A register that both only read is no one's business.
                    if kind != other || !written && !overwritten || !(read || overwritten) {
                        continue;
                    }
                    let (own, theirs) = (&earlier.operands[k], &later.operands[n]);
                    let place = usize::from(own.registers);
                    let alike = own.registers == theirs.registers;
                    let shifts: &[usize] = if alike && place > 2 { &[0, 2] } else { &[0] };
                    for shift in shifts {
                        let Some((text, firsts)) = written_with(model, earlier, FIRST[0], None)
                        else {
                            continue;
                        };
                        let Some(at) = firsts.get(&k).map(|first| first + shift) else { continue };
                        let Some((then, _)) = written_with(model, later, FIRST[1], Some((n, at)))
                        else {
                            continue;
                        };
                        out.push(Pair {
                            earlier: earlier.name.value.clone(),
                            shared: Shared {
                                from: own.name.value.clone(),
                                same: alike && *shift == 0,
                                later: later.name.value.clone(),
                                to: theirs.name.value.clone(),
                            },
                            texts: [text, then],
                            atoms: [first, second],
                        });
                    }
                }
            }
        }
    }
    out
}

/// An atom's text with registers from one on, one operand at a place of its own; and where each
/// operand is.
fn written_with(
    model: &HwModel,
    atom: &Atom,
    first: usize,
    fixed: Option<(usize, usize)>,
) -> Option<(String, BTreeMap<usize, usize>)> {
    let isa = model.isa(atom.isa);
    let (mut firsts, mut texts) = (BTreeMap::new(), BTreeMap::new());
    let mut next: BTreeMap<String, usize> = BTreeMap::new();
    for (k, operand) in atom.operands.iter().enumerate().filter(|(_, o)| !o.implicit) {
        let text = match operand.role {
            Role::Immediate => match operand.vary.words.first() {
                Some((word, ..)) => word.clone(),
                None => operand.range.as_ref().map_or(0, |range| range.value.0.max(0)).to_string(),
            },
            Role::Label => return None,
            _ => {
                let class = isa.classes.get(operand.class?.index())?;
                if class.kind == RegisterKind::Special {
                    class.prefix.clone()
                } else {
                    let count = usize::from(operand.registers.max(1));
                    // Scalar ones are few.
                    let base =
                        if class.kind == RegisterKind::Scalar { 8 + first / 8 * 3 } else { first };
                    let slot = next.entry(class.prefix.clone()).or_insert(base);
                    let own = slot.next_multiple_of(4);
                    // Room for a tuple that overlaps this one and no other.
                    *slot = own + count + 4;
                    let at = match fixed {
                        Some((n, at)) if n == k => at,
                        _ => own,
                    };
                    firsts.insert(k, at);
                    match count {
                        1 => format!("{}{at}", class.prefix),
                        _ => format!("{}[{at}:{}]", class.prefix, at + count - 1),
                    }
                }
            }
        };
        texts.insert(operand.name.value.as_str(), text);
    }
    let mut out = String::new();
    for piece in &atom.template {
        match piece {
            Piece::Text(text) => out.push_str(text),
            Piece::Name(name) => out.push_str(texts.get(name.as_str())?),
            Piece::Optional(..) => {}
        }
    }
    Some((out.trim().to_string(), firsts))
}

fn run(program: &str, args: &[&str], input: &str) -> Result<String, String> {
    let mut child = Command::new(program)
        .args(args)
        .env("LLVM_DISABLE_SYMBOLIZATION", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("{program}: {error}"))?;
    let mut stdin = child.stdin.take().ok_or("no input")?;
    let text = input.to_string();
    let writer = std::thread::spawn(move || stdin.write_all(text.as_bytes()));
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    let _ = writer.join();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(said)
    }
}

/// What the assembler reads in texts; those that it refuses are left out.
fn read(arch: &Arch, texts: &[&String]) -> Result<BTreeMap<String, Read>, String> {
    let cpu = format!("-mcpu={}", arch.target);
    let mut args = vec!["-triple=amdgcn-amd-amdhsa", &cpu, "-show-inst"];
    let wave = format!("-mattr=+wavefrontsize{}", arch.wave_lanes.first().copied().unwrap_or(64));
    args.push(&wave);
    let mut out = BTreeMap::new();
    // A refused text must not take others with it.
    let mut parts: Vec<Vec<&String>> = texts.chunks(64).map(<[&String]>::to_vec).collect();
    while let Some(part) = parts.pop() {
        let input: String = part.iter().map(|text| format!("{text}\n")).collect();
        match run(READER, &args, &input) {
            Ok(said) => {
                let found: Vec<Read> = insts(&said);
                if found.len() != part.len() {
                    return Err(format!("{} texts, {} read", part.len(), found.len()));
                }
                out.extend(part.into_iter().cloned().zip(found));
            }
            Err(_) if part.len() > 1 => {
                let (a, b) = part.split_at(part.len() / 2);
                parts.extend([a.to_vec(), b.to_vec()]);
            }
            Err(why) => eprintln!(
                "{}: {}: {}",
                arch.name.value,
                part[0],
                why.lines().next().unwrap_or_default()
            ),
        }
    }
    Ok(out)
}

/// The instructions that an assembler shows.
fn insts(said: &str) -> Vec<Read> {
    let mut out: Vec<Read> = Vec::new();
    for line in said.lines() {
        if let Some((_, rest)) = line.split_once("<MCInst #") {
            let opcode = rest.split(' ').nth(1).unwrap_or_default().trim_end_matches('>');
            out.push(Read { opcode: opcode.into(), operands: Vec::new() });
        } else if let Some((_, rest)) = line.split_once("<MCOperand ")
            && let Some(last) = out.last_mut()
        {
            let text = rest.trim_end_matches('>');
            last.operands.push(match text.split_once(':') {
                Some(("Reg", "")) | None => "$noreg".into(),
                Some(("Reg", name)) => register(name),
                Some((_, value)) => value.to_string(),
            });
        }
    }
    out
}

/// A register by the compiler's name: the assembler's own has a generation behind it.
fn register(name: &str) -> String {
    let name = name.to_lowercase();
    let own = name.split("_gfx").next().unwrap_or_default();
    format!("${}", own.strip_suffix("_vi").unwrap_or(own))
}

/// How opcodes are written for the compiler, as far as they are known to it.
type Forms = BTreeMap<String, Option<Form>>;

/// How an opcode is written for the compiler.
#[derive(Clone, Debug)]
struct Form {
    opcode: String,
    defs: usize,
    implicit: Vec<String>,
}

/// An opcode of the compiler's own for one of the assembler's.
fn form(arch: &Arch, read: &Read, defs: usize) -> Result<Option<Form>, String> {
    let mut names = Vec::new();
    for (end, own) in [("_vcd", "_vgprcd_e64"), ("_acd", "_e64")] {
        if let Some(stem) = read.opcode.strip_suffix(end).and_then(|rest| rest.rsplit_once('_')) {
            names.push(format!("{}{own}", stem.0));
        }
    }
    // With the sum in a tuple of its own, if there are two forms.
    for name in [read.opcode.clone(), read.opcode.replace("_twoaddr", "_threeaddr")] {
        for (stem, _) in name.match_indices('_').rev().take(2).map(|(at, _)| name.split_at(at)) {
            names.extend([format!("{stem}_e64"), stem.to_string(), format!("{stem}_threeaddr")]);
        }
    }
    for opcode in names {
        let mut form = Form { opcode, defs: defs.min(read.operands.len()), implicit: Vec::new() };
        // What it reads and writes unsaid is asked for one by one.
        for _ in 0..8 {
            let Err(said) = compile(arch, &function(0, &[machine(&form, read)])) else {
                return Ok(Some(form));
            };
            let Some((_, missing)) = said.split_once("missing implicit register operand '") else {
                break;
            };
            let Some((operand, _)) = missing.split_once('\'') else { break };
            form.implicit.push(operand.to_string());
        }
    }
    Ok(None)
}

fn machine(form: &Form, read: &Read) -> String {
    let (defs, uses) = read.operands.split_at(form.defs.min(read.operands.len()));
    let mut uses = uses.to_vec();
    uses.extend(form.implicit.iter().cloned());
    let to = if defs.is_empty() { String::new() } else { format!("{} = ", defs.join(", ")) };
    format!("{to}{} {}", form.opcode, uses.join(", "))
}

fn function(number: usize, lines: &[String]) -> String {
    format!(
        "---\nname: f{number}\nbody: |\n  bb.0:\n    {}\n    S_ENDPGM 0\n...\n",
        lines.join("\n    ")
    )
}

fn compile(arch: &Arch, input: &str) -> Result<String, String> {
    let cpu = format!("-mcpu={}", arch.target);
    let wave = format!("-mattr=+wavefrontsize{}", arch.wave_lanes.first().copied().unwrap_or(64));
    let pass = format!("-run-pass={PASS}");
    run(COMPILER, &["-mtriple=amdgcn", &cpu, &wave, &pass, "-x", "mir", "-", "-o", "-"], input)
}

/// The wait states that a function got.
fn counted(function: &str) -> Result<String, String> {
    let body = function.split("\n...").next().unwrap_or_default();
    let mut states = 0u32;
    for line in body.lines().map(str::trim) {
        if let Some(n) = line.strip_prefix("S_NOP ") {
            states += n.trim().parse::<u32>().map_err(|_| format!("wait states: {line}"))? + 1;
        } else if line.starts_with("V_NOP") {
            states += 1;
        } else if line.starts_with("S_WAITCNT_DEPCTR") || line.starts_with("S_WAIT_ALU") {
            return Ok("wait".into());
        }
    }
    Ok(states.to_string())
}
