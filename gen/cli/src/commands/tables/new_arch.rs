//! `lanebook new-arch`: a commented file for a new architecture.
use crate::args::NewArch;
use crate::output;
use crate::tables::{counted, whole};
use lanebook_gen::{Mode, compile, sketch};
use lanebook_report::problem::{Kind, Problem, Problems};
use lanebook_suggest::nearest;
use std::path::Path;

/// Runs the command.
pub fn run(args: &NewArch, folder: Option<&Path>) -> Result<(), Problems> {
    let root = folder.unwrap_or(Path::new("."));
    whole(root)?;
    let is_name = !args.name.is_empty()
        && args.name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if !is_name {
        let what = format!("`{}` is no name of an architecture", args.name);
        return Err(Problem::usage(
            what,
            "use letters, digits, `_` and `-`, as its assembler does",
        )
        .into());
    }
    let compiled = compile(root, Mode::Draft).map_err(|failure| {
        let count = counted(failure.diagnostics.errors(), "error");
        Problems::Rendered(
            Kind::Refused,
            format!("{}{count} in {}\n", failure.full(), root.display()),
        )
    })?;
    let known: Vec<&str> =
        compiled.model.archs.iter().map(|arch| arch.name.value.as_str()).collect();
    if known.contains(&args.name.as_str()) {
        return Err(Problem::usage(
            format!("there is an architecture `{}` already", args.name),
            "choose another name, or edit its file",
        )
        .into());
    }
    let Some(like) = compiled.model.arch_named(&args.like) else {
        let near = nearest(&args.like, known.iter().copied())
            .map_or_else(String::new, |near| format!("did you mean `{near}`? "));
        return Err(Problem::usage(
            format!("unknown architecture `{}`", args.like),
            format!("{near}known: {}", known.join(", ")),
        )
        .into());
    };
    let text = sketch::architecture(&compiled.model, &args.name, like);
    let beside =
        compiled.sources.file(like.name.span.file).path.as_ref().and_then(|path| path.parent());
    let path = match (&args.output, beside) {
        (Some(path), _) => path.clone(),
        (None, Some(folder)) => folder.join(format!("{}.ron", args.name)),
        (None, None) => {
            return Err(
                Problem::internal("the architecture has no file", "name one with -o").into()
            );
        }
    };
    if path.exists() && path != Path::new("-") {
        return Err(Problem::usage(
            format!("{} exists", path.display()),
            "remove it, or name another file with -o",
        )
        .into());
    }
    output::write(Some(&path), &text)?;
    if path == Path::new("-") {
        return Ok(());
    }
    Ok(output::write(
        None,
        &format!("{} written; edit it, then run `lanebook check --draft`\n", path.display()),
    )?)
}
