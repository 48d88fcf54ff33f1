//! The same program as a text of the tile language: the answer has to be the same.

use crate::judge::{Answer, Table, tabulate};
use crate::text::tile_text;
use lanebook::TABLES;
use lanebook::ir::{Options, Storage, parse, verify};
use lanebook::loops::tell;
use lanebook_report::memory::LoopMemory;
use lanebook_tables::{Arch, CostPolicy, OpRole};
use serde_json::Value;

/// Room for a program's text.
pub(crate) type TextRoom = Storage<4096, 8192, 16384, 2048, 512, 512, 64>;

/// How the answer to a program's text differs from the one to the program; `Ok(false)` if the
/// language does not say the program.
///
/// # Errors
/// What differs.
pub fn same_as_text(
    memory: &mut LoopMemory,
    program: &Value,
    arch: &Arch<'_>,
    policy: &CostPolicy<'_>,
    answer: &Answer,
) -> Result<bool, String> {
    let Ok(text) = tile_text(program) else { return Ok(false) };
    let mut storage = Box::new(TextRoom::new());
    let mut ir = parse(storage.pools(), &TABLES, &text, Options::default())
        .map_err(|error| format!("its text does not parse: {error:?}\n{text}"))?;
    if let Err(error) = verify(&mut ir) {
        return match answer {
            Answer::Layouts(..) => Err(format!("its text is refused: {error:?}\n{text}")),
            // Both refuse it.
            Answer::Stopped(_) | Answer::Unread(_) => Ok(true),
        };
    }
    let function = ir.functions().next().ok_or("no function")?;
    let mut told = match (tell(&ir, function, &TABLES, arch, memory.parts()), answer) {
        (Ok(told), _) => told,
        (Err(_), Answer::Unread(_)) => return Ok(true),
        (Err(error), _) => return Err(format!("its text cannot be told: {error:?}\n{text}")),
    };
    let done = told.inference.run(policy, &mut ());
    let (want_buffers, want_loops) = match (done, answer) {
        (Err(_), Answer::Stopped(_)) => return Ok(true),
        (Ok(()), Answer::Layouts(buffers, loops)) => (buffers, loops),
        (done, _) => return Err(format!("of its text inference says {done:?}\n{text}")),
    };
    for (id, value) in told.buffers() {
        let name = ir.value_name(value).trim_start_matches("b_");
        let have = told.inference.layout(id).map(|form| tabulate(&told.inference, &form));
        same(name, have.as_ref(), want_buffers.get(name), &text)?;
    }
    let loops = told
        .operators()
        .filter(|(_, op)| matches!(ir.role(*op), OpRole::Parallel | OpRole::ElementStore));
    for (number, (id, _)) in loops.enumerate() {
        let have = told.inference.spread(id).map(|form| tabulate(&told.inference, &form));
        let want = want_loops.get(number).and_then(Option::as_ref);
        same(&format!("loop {number}"), have.as_ref(), want, &text)?;
    }
    Ok(true)
}

fn same(name: &str, have: Option<&Table>, want: Option<&Table>, text: &str) -> Result<(), String> {
    if have == want {
        return Ok(());
    }
    Err(format!("of its text {name} is {have:?}, not {want:?}\n{text}"))
}
