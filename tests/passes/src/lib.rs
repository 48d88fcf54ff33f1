//! What the tests of passes share: reading texts, running passes, comparing what comes out.
use lanebook::TABLES;
use lanebook::ir::{Node, Options, Plain, Program, Storage, Value, parse, print, verify};
use lanebook::layout_seeding::{SeedingOptions, SeedingScratch as ChoiceRoom, SeedingStorage};
use lanebook::passes::Event;
use lanebook::pipeline::{PassError, PassScratch, apply_with};
use std::cell::Cell;
use std::path::{Path, PathBuf};

pub mod generate;
pub mod judge;
pub mod laid_out;
pub mod meaning;

/// Room for every program of these tests.
pub type Room = Storage<2048, 4096, 8192, 4096, 512, 512, 32768>;

/// Snippets: names that are not defined are free, operations that are not declared are kept.
pub const SNIPPET: Options = Options { keep_unknown: true, free_names: true };

/// A folder of this crate.
#[must_use]
pub fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// Texts of a folder by their names, in order.
#[must_use]
pub fn texts(name: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = std::fs::read_dir(folder(name))
        .unwrap_or_else(|error| panic!("{name}: {error}"))
        .map(|entry| entry.expect("an entry").path())
        .map(|path| {
            (
                path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
                std::fs::read_to_string(&path).expect("it reads"),
            )
        })
        .collect();
    found.sort();
    assert!(!found.is_empty(), "{name} is empty");
    found
}

/// Storage on the heap.
#[must_use]
pub fn room() -> Box<Room> {
    // Made on a stack that is large enough, and only then boxed.
    std::thread::Builder::new()
        .stack_size(16 << 20)
        .spawn(|| Box::new(Room::new()))
        .expect("a thread")
        .join()
        .expect("it is made")
}

/// Reads and verifies a text, and hands the program on.
pub fn with<R>(text: &str, options: Options, body: impl FnOnce(&mut Program<'_, '_>) -> R) -> R {
    let mut storage = STORAGE.with(Cell::take).unwrap_or_else(room);
    let result = {
        let mut program = parse(storage.pools(), &TABLES, text, options)
            .unwrap_or_else(|error| panic!("{error:?}\n{}", shown(text, error.at.line)));
        if let Err(error) = verify(&mut program) {
            panic!("{error:?}\n{}", shown(text, error.at.line));
        }
        body(&mut program)
    };
    STORAGE.with(|place| place.set(Some(storage)));
    result
}

thread_local! {
    /// Storage that the last program left.
    static STORAGE: Cell<Option<Box<Room>>> = const { Cell::new(None) };
}

fn shown(text: &str, line: u32) -> String {
    let at = line as usize;
    text.lines()
        .enumerate()
        .filter(|(number, _)| number + 3 > at && *number < at + 2)
        .map(|(number, line)| format!("{:4} {line}\n", number + 1))
        .collect()
}

/// A text of Triton's without the layouts of its tiles.
#[must_use]
pub fn undecided(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let mut rest = line;
        while let Some(at) = rest.find(", #") {
            // Up to the bracket that closes the type.
            let mut depth = 0i32;
            let end = rest[at..].char_indices().find(|(_, letter)| {
                depth += i32::from(*letter == '<') - i32::from(*letter == '>');
                depth < 0
            });
            let clause = &rest[at..at + end.map_or(0, |(end, _)| end)];
            out.push_str(&rest[..at]);
            if clause.contains("#smem") {
                out.push_str(", #smem");
            }
            rest = &rest[at + clause.len()..];
            if clause.is_empty() {
                break;
            }
        }
        out.push_str(rest);
        out.push('\n');
    }
    out
}

/// A program's text.
#[must_use]
pub fn printed(program: &Program<'_, '_>) -> String {
    let mut out = String::new();
    print(program, &Plain, &mut out).expect("it prints");
    out
}

/// A text in the printer's spelling.
#[must_use]
pub fn normal(text: &str, options: Options) -> String {
    with(text, options, |program| printed(program))
}

/// What a pass did: the text after it, rules and changes in order, findings.
#[derive(Debug)]
pub struct Outcome {
    /// The program's text.
    pub text: String,
    /// Rules by name, and analyses by name, in the order in which they changed something.
    pub steps: Vec<&'static str>,
    /// Texts of findings with the operation's name.
    pub findings: Vec<(&'static str, String)>,
}

/// Room for layouts that passes make.
pub type Choices = SeedingStorage<512, 8192, 512, 8192>;

/// Storage for layouts on the heap, made on a stack that is large enough.
#[must_use]
pub fn choices() -> Box<Choices> {
    std::thread::Builder::new()
        .stack_size(16 << 20)
        .spawn(|| Box::new(Choices::new()))
        .expect("a thread")
        .join()
        .expect("it is made")
}

/// A program's text with the layouts that passes made.
#[must_use]
pub fn printed_with(program: &Program<'_, '_>, room: &ChoiceRoom<'_>) -> String {
    let mut out = String::new();
    print(program, &room.book, &mut out).expect("it prints");
    out
}

/// Runs a pass over a text with plenty of fuel; on an error also checks that the program is as it
/// was.
pub fn run(text: &str, pass: &str) -> Result<Outcome, PassError> {
    run_with(text, pass, 100_000)
}

/// The same with this much fuel.
pub fn run_with(text: &str, pass: &str, fuel: u32) -> Result<Outcome, PassError> {
    run_wishing(text, pass, fuel, SeedingOptions::default())
}

/// The same, with what a caller may ask for.
pub fn run_wishing(
    text: &str,
    pass: &str,
    fuel: u32,
    wishes: SeedingOptions,
) -> Result<Outcome, PassError> {
    let mut made = choices();
    let mut room = made.room();
    with(text, SNIPPET, |program| {
        let before = printed(program);
        let (mut steps, mut findings, mut fuel) = (Vec::new(), Vec::new(), fuel);
        let mut storage = Box::new(heapless::Vec::<Node, 8192>::new());
        let mut lent = PassScratch {
            work: storage.as_mut_view(),
            fuel: &mut fuel,
            room: Some(&mut room),
            wishes,
            appraiser: None,
        };
        let outcome = apply_with(&TABLES, pass, program, &mut lent, |event| match event {
            Event::Rule { rule, .. } => steps.push(TABLES.rules.name(rule)),
            Event::Change { analysis, .. } => steps.push(analysis.name()),
            Event::Finding { diagnostic, at } => findings.push((diagnostic.text(), at)),
        });
        if let Err(error) = outcome {
            assert_eq!(
                printed(program),
                before,
                "{pass} failed with {error:?} and left a changed program"
            );
            return Err(error);
        }
        if let Err(error) = verify(program) {
            panic!("{pass} left {error:?}\n{before}\n--- became\n{}", printed_with(program, &room));
        }
        let findings = findings
            .into_iter()
            .map(|(text, at)| (text, program.op_name(at).to_string()))
            .collect();
        Ok(Outcome { text: renumbered(&printed_with(program, &room)), steps, findings })
    })
}

/// The printer's own names `%_7` in the order in which they occur.
#[must_use]
pub fn renumbered(text: &str) -> String {
    let (mut out, mut rest, mut seen) = (String::new(), text, Vec::<&str>::new());
    while let Some(at) = rest.find("%_") {
        let digits = rest[at + 2..].bytes().take_while(u8::is_ascii_digit).count();
        let name = &rest[at + 2..at + 2 + digits];
        out.push_str(&rest[..at]);
        out.push_str("%_");
        if !name.is_empty() {
            let number = seen.iter().position(|known| *known == name).unwrap_or_else(|| {
                seen.push(name);
                seen.len() - 1
            });
            out.push_str(&number.to_string());
        }
        rest = &rest[at + 2 + digits..];
    }
    out + rest
}

/// A text in the printer's spelling, with its own names in order.
#[must_use]
pub fn expected(text: &str) -> String {
    renumbered(&normal(text, SNIPPET))
}

/// A text with the names that it defines in the order in which they occur; names that it leaves
/// free stay.
#[must_use]
pub fn alpha(text: &str) -> String {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let mut names: Vec<(usize, &str)> = Vec::new();
    for (at, _) in text.match_indices('%') {
        let rest = &text[at + 1..];
        let len = rest.bytes().take_while(|byte| is_name(*byte)).count();
        names.push((at, &rest[..len]));
    }
    let defines = |name: &str| {
        let text = text.replace(":2 =", " =");
        text.contains(&format!("%{name} =")) || text.contains(&format!("%{name}: "))
    };
    let (mut out, mut last, mut seen) = (String::new(), 0, Vec::<&str>::new());
    for (at, name) in names {
        if !defines(name) {
            continue;
        }
        let number = seen.iter().position(|known| *known == name).unwrap_or_else(|| {
            seen.push(name);
            seen.len() - 1
        });
        out.push_str(&text[last..at]);
        out.push_str(&format!("%:{number}"));
        last = at + 1 + name.len();
    }
    out + &text[last..]
}

/// The layout of a value, spelt out: an alias stands for its text, inside of another too.
///
/// # Panics
/// If the value has none.
#[must_use]
pub fn layout(program: &Program<'_, '_>, value: Value) -> String {
    let ty = program.type_of(value);
    let mut text = program
        .layout_text(&ty)
        .unwrap_or_else(|| panic!("{} has no layout", program.value_name(value)))
        .to_string();
    let aliases: Vec<(String, String)> = program
        .aliases()
        .map(|(name, body)| (program.text(name).to_string(), program.text(body).to_string()))
        .collect();
    while let Some((at, name, body)) = aliases.iter().find_map(|(name, body)| {
        let at = text.match_indices(&format!("#{name}")).map(|(at, _)| at).find(|at| {
            !text[at + 1 + name.len()..]
                .starts_with(|next: char| next.is_alphanumeric() || next == '.')
        });
        at.map(|at| (at, name, body))
    }) {
        text.replace_range(at..at + 1 + name.len(), body);
    }
    text
}
