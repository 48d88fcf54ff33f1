//! `lanebook new-arch`: a commented file for a new architecture, or the skeleton of a machine with an
//! instruction set of its own.
use crate::args::NewArch;
use crate::output;
use crate::tables::{counted, whole};
use lanebook_gen::{Mode, compile, new_arch_template};
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
    let Some(name) = &args.like else {
        let isas: Vec<&str> =
            compiled.model.isas.iter().map(|isa| isa.name.value.as_str()).collect();
        return skeleton(args, root, &isas);
    };
    let Some(like) = compiled.model.arch_named(name) else {
        let near = nearest(name, known.iter().copied())
            .map_or_else(String::new, |near| format!("did you mean `{near}`? "));
        return Err(Problem::usage(
            format!("unknown architecture `{name}`"),
            format!("{near}known: {}", known.join(", ")),
        )
        .into());
    };
    let text = new_arch_template::architecture(&compiled.model, &args.name, like);
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

/// The files of a machine with an instruction set of its own: where each stands, and its text, both
/// with `NAME` in the place of its name.
const SKELETON: [(&str, &str); 3] = [
    ("hw-tables/NAME/NAME.ron", include_str!("../../../skeleton/machine.ron")),
    ("hw-tables/NAME/sources.ron", include_str!("../../../skeleton/sources.ron")),
    ("rules/isa/NAME.ron", include_str!("../../../skeleton/isa.ron")),
];

/// Writes them, or prints them.
fn skeleton(args: &NewArch, root: &Path, isas: &[&str]) -> Result<(), Problems> {
    if isas.contains(&args.name.as_str()) {
        return Err(Problem::usage(
            format!("there is an instruction set `{}` already", args.name),
            "choose another name, or name an architecture with --like",
        )
        .into());
    }
    let files = SKELETON
        .map(|file| (file.0.replace("NAME", &args.name), file.1.replace("NAME", &args.name)));
    match args.output.as_deref() {
        Some(path) if path == Path::new("-") => {
            let texts = files.map(|(path, text)| format!("// file: {path}\n{text}"));
            return Ok(output::write(None, &texts.concat())?);
        }
        Some(_) => {
            return Err(Problem::usage(
                "a skeleton is more than one file",
                "leave -o out, name an architecture with --like, or print all files with `-o -`",
            )
            .into());
        }
        None => {}
    }
    let paths = files.each_ref().map(|(path, _)| root.join(path));
    if let Some(there) = paths.iter().find(|path| path.exists()) {
        return Err(Problem::usage(
            format!("{} exists", there.display()),
            "remove it, or choose another name",
        )
        .into());
    }
    for (path, (_, text)) in paths.iter().zip(&files) {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(|error| {
                Problem::system(
                    format!("cannot make {}: {error}", folder.display()),
                    "name a folder that can be written with --tables",
                )
            })?;
        }
        output::write(Some(path), text)?;
    }
    let written = paths.map(|path| format!("{} written\n", path.display())).concat();
    let next =
        "everything in them is made up: edit them, then run `lanebook check --draft --notes`\n";
    Ok(output::write(None, &(written + next))?)
}
