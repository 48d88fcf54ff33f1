//! Races in the text of parallel loops: which iterations meet at which element.
use super::timeline::Names;
use crate::problem::Problem;
use crate::race::RaceFinding;
use lanebook::infer::{FormBase, FormError, Inference, Race, VarRole};
use lanebook::ir::{Op, Program};
use lanebook::loops::Told;

/// The first race of each parallel loop.
///
/// # Errors
/// Index maps that need more room than there is.
pub fn races(
    program: &Program<'_, '_>,
    told: &mut Told<'_>,
    names: &Names,
) -> Result<Vec<RaceFinding>, Problem> {
    let failed = |error: FormError| Problem::refused(error.to_string(), "split the function");
    let operators: Vec<_> = told.operators().collect();
    let mut out = Vec::new();
    for (id, op) in operators {
        if let Some(race) = told.inference.race(id).map_err(failed)? {
            let inference = &told.inference;
            let vars = inference.operator_of(id).map_err(failed)?.vars;
            let iterations = race.iterations.map(|number| {
                let at = inference.coordinates(vars, number).unwrap_or_default();
                iteration(program, op, at.get(..vars.len()).unwrap_or(&[]))
            });
            out.push(RaceFinding {
                line: program.place(op).line,
                operator: names.operator(id).to_string(),
                element: element(inference, names, id, &race).map_err(failed)?,
                both_write: race.both_write,
                iterations,
            });
        }
    }
    Ok(out)
}

/// An iteration by the values of its loop variables; of a tile operation by the indices of its tile.
fn iteration(program: &Program<'_, '_>, op: Op, at: &[u32]) -> String {
    let mut parts = program.nest(op).filter_map(|part| program.counted_loop(part));
    let said = at.iter().map(|k| {
        let Some(part) = parts.next() else { return k.to_string() };
        let number = |value| program.int(value).unwrap_or(0);
        let value = number(part.lower) + number(part.step) * i64::from(*k);
        format!("{} = {value}", program.value_name(part.induction))
    });
    format!("({})", said.collect::<Vec<_>>().join(", "))
}

/// The element, as numbers where only the loop decides which one it is, else as the program writes it.
fn element(
    inference: &Inference<'_>,
    names: &Names,
    id: lanebook::infer::OperatorId,
    race: &Race,
) -> Result<String, FormError> {
    let op = inference.operator_of(id)?;
    let [_, second] = race.accesses;
    let Some(access) = inference.accesses_of(op).get(usize::from(second)) else {
        return Ok(names.buffer(race.buffer).to_string());
    };
    for (var, _) in inference.arena.variables(access.indices())? {
        if matches!(inference.arena.base(var)?, FormBase::Var { role: VarRole::Outer, .. }) {
            return Ok(names.access(id, race.buffer).to_string());
        }
    }
    let rank = access.indices().len();
    let indices: Vec<String> = race.element.iter().take(rank).map(i64::to_string).collect();
    Ok(format!("{}[{}]", names.buffer(race.buffer), indices.join(", ")))
}
