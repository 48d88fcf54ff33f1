//! The kernel of a text with several functions, or why there is none.
use super::{at, of_program};
use crate::problem::Problem;
use crate::program::Source;
use lanebook::ir::{self, ErrorKind, Op, Program};
use lanebook_suggest::nearest;
use lanebook_tables::Tables;

/// Leaves the one kernel that is meant. A text without functions is left as it is: what it lacks is
/// said where it is compiled.
pub(crate) fn isolate(
    tables: &Tables<'_>,
    program: &mut Program<'_, '_>,
    source: &Source,
) -> Result<(), Problem> {
    let wanted = source.function.as_deref().map(|name| name.trim_start_matches('@'));
    match ir::isolate_kernel(program, wanted) {
        Ok(_) => Ok(()),
        Err(error) if error.kind == ErrorKind::NoKernel && error.at.line == 0 => Ok(()),
        Err(error) => Err(refused(tables, program, (source, wanted), &error)),
    }
}

fn refused(
    tables: &Tables<'_>,
    program: &Program<'_, '_>,
    (source, wanted): (&Source, Option<&str>),
    error: &ir::IrError,
) -> Problem {
    let names = |ops: &mut dyn Iterator<Item = Op>| -> Vec<String> {
        ops.map(|op| format!("@{}", program.symbol(op))).collect()
    };
    let launched = names(&mut ir::kernels(program)).join(", ");
    let (what, remedy, label) = match (error.kind, wanted) {
        (ErrorKind::UnknownFunction, Some(name)) if error.at.line == 0 => {
            let near = nearest(name, ir::kernels(program).map(|op| program.symbol(op)))
                .map_or_else(String::new, |near| format!("did you mean `{near}`? "));
            let what = format!("{} has no function @{name}", source.name);
            (what, format!("{near}functions that may be launched: {launched}"), String::new())
        }
        (ErrorKind::SeveralKernels { functions }, _) => {
            let what = format!("{} has {functions} functions that may be launched", source.name);
            let remedy = format!("name one with --function: {launched}");
            (what, remedy, "one of them".to_string())
        }
        (ErrorKind::CallCircle { functions }, _) => {
            let mut circle = names(&mut functions.into_iter().flatten());
            circle.extend(circle.first().cloned());
            let what = error.kind.message().to_string();
            (what, error.kind.remedy().to_string(), circle.join(" calls "))
        }
        _ => return of_program(tables, source, error),
    };
    at(Problem::refused(what, remedy), source, error.at, label)
}
