//! Finding and reading the input files.
//!
//! Files are found in one fixed order (by path), read as RON entry by entry, and kept as written:
//! nothing is resolved here. A bad entry is reported, and read as it was probably meant or left
//! out; a file that is not RON at all is one error.
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::entries::{self, as_own};
use crate::families;
pub use crate::files::LEDGER;
use crate::files::VERDICTS;
use crate::ledger::Ledger;
use crate::schema::{
    Access, Agreement, Answers, Arch, Atom, AxesFile, Axis, Broadcast, Dtype, DtypesFile, Figures,
    Group, HwFile, Isa, IsaFile, IsaPart, Measured, SourceEntry, SourcesFile, Tag, Verdicts,
    VerdictsFile, Waits, unit,
};
use crate::source::{FileId, SourceFile, Sources, Span};
use crate::spanned::{Entry, Spanned};
use crate::suppressed::Suppressed;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Folders that hold inputs, relative to the root.
pub const FOLDERS: [&str; 2] = ["hw-tables", "rules"];

/// Everything that was read, as written.
#[derive(Debug, Default)]
pub struct Loaded {
    /// Documents.
    pub sources: Vec<SourceEntry>,
    /// Element types.
    pub dtypes: Vec<Dtype>,
    /// Axes.
    pub axes: Vec<Axis>,
    /// Access kinds.
    pub accesses: Vec<Access>,
    /// Modifiers of matrix instructions.
    pub broadcasts: Vec<Broadcast>,
    /// Hazard tags.
    pub tags: Vec<Tag>,
    /// Groups with their atoms.
    pub groups: Vec<LoadedGroup>,
    /// What the audit holds movers and matrix instructions against.
    pub agreements: Vec<Spanned<Agreement>>,
    /// Architectures.
    pub archs: Vec<Spanned<Arch>>,
    /// Instruction sets with their rules; one that extends another stands after it.
    pub isas: Vec<LoadedIsa>,
    /// Instruction sets that are not complete yet.
    parts: Vec<LoadedPart>,
    /// Rule files other than `rules/isa/*.ron`, in order of their names; the rule compiler reads
    /// them.
    pub rule_files: Vec<FileId>,
    /// The ledger, if there is one.
    pub ledger: Option<Ledger>,
    /// What further sources say of architectures.
    pub figures: Vec<Spanned<Figures>>,
    /// Wait states by another compiler.
    pub waits: Vec<Spanned<Waits>>,
    /// What machines answered.
    pub measured: Vec<Spanned<Measured>>,
    /// What other programs answered.
    pub answers: Vec<Spanned<Answers>>,
    /// What assemblers said.
    pub verdicts: Vec<Verdicts>,
    /// On what facts rested when that was recorded.
    pub coverage: Vec<crate::schema::Name>,
}

/// A group and the atoms of it that could be read.
#[derive(Clone, Debug)]
pub struct LoadedGroup {
    /// The group.
    pub group: Spanned<Group>,
    /// Its atoms.
    pub atoms: Vec<Spanned<Atom>>,
    /// Its facts about matrix units.
    pub units: LoadedUnits,
    /// Everything in it could be read.
    pub whole: bool,
}

/// The facts of a group about matrix units that could be read.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs)] // the lists of [`unit::Units`]
pub struct LoadedUnits {
    pub descriptors: Vec<Spanned<unit::Descriptor>>,
    pub swizzles: Vec<Spanned<unit::SwizzleMode>>,
    pub operand_tiles: Vec<Spanned<unit::OperandTile>>,
    pub tensor_memories: Vec<Spanned<unit::TensorMemory>>,
    pub tensor_tiles: Vec<Spanned<unit::TensorTile>>,
    pub tensor_moves: Vec<Spanned<unit::TensorMove>>,
    pub shapes: Vec<Spanned<unit::UnitShape>>,
    pub order_limits: Vec<Spanned<unit::OrderLimit>>,
    pub map_limits: Vec<Spanned<unit::MapLimit>>,
    pub tensor_maps: Vec<Spanned<unit::TensorMap>>,
    pub tiled_moves: Vec<Spanned<unit::TiledMove>>,
    pub mbarriers: Vec<Spanned<unit::Mbarrier>>,
    pub specializations: Vec<Spanned<unit::WarpSpecialization>>,
}

impl LoadedUnits {
    /// Whether the group says nothing about matrix units.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.descriptors.is_empty()
            && self.swizzles.is_empty()
            && self.operand_tiles.is_empty()
            && self.tensor_memories.is_empty()
            && self.tensor_tiles.is_empty()
            && self.tensor_moves.is_empty()
            && self.shapes.is_empty()
            && self.order_limits.is_empty()
            && self.map_limits.is_empty()
            && self.tensor_maps.is_empty()
            && self.tiled_moves.is_empty()
            && self.mbarriers.is_empty()
            && self.specializations.is_empty()
    }
}

/// An instruction set as it is written, and its target rules, unread.
#[derive(Debug)]
pub struct LoadedPart {
    part: Spanned<IsaPart>,
    rules: Vec<Entry>,
    file: FileId,
}

/// An instruction set and its target rules, unread.
#[derive(Debug)]
pub struct LoadedIsa {
    /// The instruction set.
    pub isa: Spanned<Isa>,
    /// Entries of `rules`.
    pub rules: Vec<Entry>,
    /// The file.
    pub file: FileId,
}

/// Reads every `*.ron` under `hw-tables/` and `rules/` of `root`, by path.
pub fn find(root: &Path, diags: &mut Diagnostics) -> Sources {
    let mut sources = Sources::default();
    for folder in FOLDERS {
        for (path, text) in read_folder(&root.join(folder), root, "", diags) {
            sources.add(&relative(root, &path), Some(&path), text);
        }
    }
    sources
}

/// Adds every `*.ron` under a folder of further hardware tables, laid out like `hw-tables/`. What
/// its files hold is added to what is known; its atoms have no stable numbers.
pub fn find_extra(folder: &Path, sources: &mut Sources, diags: &mut Diagnostics) {
    let own =
        format!("{}/", folder.file_name().map_or("tables".into(), |name| name.to_string_lossy()));
    for (path, text) in read_folder(folder, folder, &own, diags) {
        sources.add_extra(&format!("{own}{}", relative(folder, &path)), Some(&path), text);
    }
}

/// The `*.ron` files under a folder with their texts, by path. Errors name them relative to `root`,
/// after `shown`.
fn read_folder(
    folder: &Path,
    root: &Path,
    shown: &str,
    diags: &mut Diagnostics,
) -> Vec<(PathBuf, String)> {
    let mut paths = Vec::new();
    walk(folder, &mut paths, diags);
    let mut out = Vec::new();
    for path in paths.into_iter().filter(|path| path.extension().is_some_and(|ext| ext == "ron")) {
        match fs::read_to_string(&path) {
            Ok(text) => out.push((path, text.replace("\r\n", "\n"))),
            Err(error) => diags.push(Diagnostic::nowhere(format!(
                "cannot read {shown}{}: {error}",
                relative(root, &path)
            ))),
        }
    }
    out
}

/// What a build script asks cargo to watch: every input file, and every folder that holds nothing
/// but inputs (so that a new file is noticed, and an edit of the documentation beside the tables is
/// not).
#[must_use]
pub fn watched(root: &Path) -> Vec<PathBuf> {
    FOLDERS.iter().flat_map(|folder| watched_in(&root.join(folder))).collect()
}

/// [`watched`] for one folder.
#[must_use]
pub fn watched_in(folder: &Path) -> Vec<PathBuf> {
    let mut out = Vec::new();
    let mut paths = Vec::new();
    walk(folder, &mut paths, &mut Diagnostics::new());
    let is_input = |path: &&PathBuf| path.extension().is_some_and(|ext| ext == "ron");
    let mut folders: Vec<&Path> = paths.iter().filter_map(|path| path.parent()).collect();
    folders.dedup();
    folders.sort();
    folders.dedup();
    for folder in folders {
        if paths.iter().filter(|path| path.starts_with(folder)).all(|path| is_input(&path)) {
            out.push(folder.to_path_buf());
        }
    }
    out.extend(paths.iter().filter(is_input).cloned());
    out
}

/// The files under a folder, by path. Symbolic links to folders are not followed.
fn walk(folder: &Path, out: &mut Vec<PathBuf>, diags: &mut Diagnostics) {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => {
            let name = folder.file_name().unwrap_or_default().to_string_lossy();
            return diags.push(Diagnostic::nowhere(format!("cannot read folder {name}: {error}")));
        }
    };
    let mut paths: Vec<PathBuf> =
        entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
    paths.sort();
    for path in paths {
        let hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if path.is_dir() && !path.is_symlink() && !hidden {
            walk(&path, out, diags);
        } else if path.is_file() && !hidden {
            out.push(path);
        }
    }
}

fn relative(root: &Path, path: &Path) -> String {
    let parts: Vec<_> = path
        .strip_prefix(root)
        .unwrap_or(path)
        .components()
        .map(|c| c.as_os_str().to_string_lossy())
        .collect();
    parts.join("/")
}

impl Loaded {
    /// Adds what a hardware file holds.
    fn add(&mut self, file: &Self) {
        self.accesses.extend_from_slice(&file.accesses);
        self.tags.extend_from_slice(&file.tags);
        self.broadcasts.extend_from_slice(&file.broadcasts);
        self.groups.extend_from_slice(&file.groups);
        self.agreements.extend_from_slice(&file.agreements);
        self.figures.extend_from_slice(&file.figures);
        self.waits.extend_from_slice(&file.waits);
        self.measured.extend_from_slice(&file.measured);
        self.answers.extend_from_slice(&file.answers);
        self.archs.extend_from_slice(&file.archs);
    }
    /// Whether a file holds groups and architectures.
    #[must_use]
    pub fn is_hardware(file: &SourceFile) -> bool {
        entries::is_hardware(file)
    }
}

/// What hardware files hold, kept for sources of which some files are other ones.
#[derive(Debug, Default)]
pub struct Kept {
    sources: Sources,
    files: BTreeMap<FileId, Loaded>,
}

impl Kept {
    /// Keeps what the hardware files of some sources hold, as they are when families are made files
    /// of; not of those that are wrong in themselves.
    #[must_use]
    pub fn of(sources: &Sources) -> Self {
        let mut files = BTreeMap::new();
        for (id, _) in sources.iter().filter(|(_, file)| Loaded::is_hardware(file)) {
            let (mut loaded, mut diags) = (Loaded::default(), Diagnostics::new());
            Reader { sources, id, diags: &mut diags }.hardware(&mut loaded);
            if diags.is_empty() {
                files.insert(id, loaded);
            }
        }
        Self { sources: sources.clone(), files }
    }

    /// What a file holds, if it and the rows of its families are those that were kept.
    fn file(&self, sources: &Sources, id: FileId) -> Option<&Loaded> {
        let kept = self.files.get(&id)?;
        let same = |id: FileId| sources.get(id) == self.sources.get(id);
        let families = || kept.groups.iter().flat_map(|group| &group.group.families);
        let rows = |sources: &Sources| -> Vec<FileId> {
            families().flat_map(|family| families::members(sources, family.span)).collect()
        };
        let own = rows(&self.sources);
        (same(id) && own == rows(sources) && own.into_iter().all(same)).then_some(kept)
    }
}

/// Reads all files of `sources` by what their names say they are.
pub fn load(sources: &Sources, diags: &mut Diagnostics) -> Loaded {
    load_with(&Kept::default(), sources, diags)
}

/// [`load`], but for files of which it is known what they hold.
pub fn load_with(kept: &Kept, sources: &Sources, diags: &mut Diagnostics) -> Loaded {
    let mut loaded = Loaded::default();
    for (id, file) in sources.iter().filter(|(_, file)| file.family.is_none()) {
        if let Some(known) = kept.file(sources, id) {
            loaded.add(known);
            continue;
        }
        let mut reader = Reader { sources, id, diags };
        match as_own(file).as_str() {
            name if entries::is_sources(name) => {
                loaded.sources.extend(
                    reader
                        .file::<SourcesFile>()
                        .map(|f| reader.values(f.sources))
                        .unwrap_or_default(),
                );
            }
            "hw-tables/dtypes.ron" => {
                loaded.dtypes.extend(
                    reader
                        .file::<DtypesFile>()
                        .map(|f| reader.values(f.dtypes))
                        .unwrap_or_default(),
                );
            }
            "hw-tables/axes.ron" => {
                loaded.axes.extend(
                    reader.file::<AxesFile>().map(|f| reader.values(f.axes)).unwrap_or_default(),
                );
            }
            VERDICTS => {
                if let Some(found) = reader.file::<VerdictsFile>() {
                    loaded.verdicts.extend(reader.values(found.verdicts));
                    loaded.coverage.extend(found.coverage);
                }
            }
            LEDGER => loaded.ledger = Ledger::load(sources, id, diags),
            name if name.starts_with("hw-tables/") => reader.hardware(&mut loaded),
            name if name.starts_with("rules/isa/") => reader.isa(&mut loaded),
            _ => loaded.rule_files.push(id),
        }
    }
    complete(&mut loaded, sources, diags);
    loaded
}

/// Completes the instruction sets that extend others, the extended ones first.
fn complete(loaded: &mut Loaded, sources: &Sources, diags: &mut Diagnostics) {
    // Its rules are lost with it.
    let lost = |file: FileId, name: &Spanned<String>| {
        Suppressed::text(&sources.file(file).text, name.span, false)
    };
    let mut parts = std::mem::take(&mut loaded.parts);
    while !parts.is_empty() {
        let before = parts.len();
        let mut waiting = Vec::new();
        for LoadedPart { part, rules, file } in parts {
            let parent = part
                .extends
                .clone()
                .map(|name| loaded.isas.iter().find(|isa| isa.isa.name.value == name.value));
            if let Some(None) = parent {
                waiting.push(LoadedPart { part, rules, file });
                continue;
            }
            let (span, name) = (part.span, part.name.clone());
            match part.value.complete(parent.flatten().map(|parent| &parent.isa.value)) {
                Ok(value) => {
                    loaded.isas.push(LoadedIsa { isa: Spanned { value, span }, rules, file })
                }
                Err(field) => {
                    let message =
                        format!("instruction set `{}` does not say its `{field}`", name.value);
                    diags.push(
                        Diagnostic::at(name.span, message)
                            .help("state it, or extend an instruction set that does"),
                    );
                    diags.lose(lost(file, &name));
                }
            }
        }
        if waiting.len() == before {
            // Those first whose parent is nowhere, or lost; what extends them is lost with them.
            while !waiting.is_empty() {
                let names: Vec<String> =
                    waiting.iter().map(|waiting| waiting.part.name.value.clone()).collect();
                let is_next = |waiting: &LoadedPart| {
                    waiting
                        .part
                        .extends
                        .as_ref()
                        .is_none_or(|parent| !names.contains(&parent.value))
                };
                let (mut next, later): (Vec<_>, Vec<_>) = waiting.into_iter().partition(is_next);
                waiting = later;
                if next.is_empty() {
                    next = std::mem::take(&mut waiting); // they extend each other
                }
                for name in next.iter().filter_map(|next| next.part.extends.as_ref()) {
                    let known = loaded.isas.iter().map(|isa| isa.isa.name.as_str());
                    let help = lanebook_suggest::remedy(name, known, "extend one that is complete");
                    diags.push(
                        Diagnostic::at(
                            name.span,
                            format!("no instruction set `{}` to extend", name.value),
                        )
                        .help(help)
                        .lacks(name),
                    );
                }
                next.iter().for_each(|next| {
                    diags.lose_with(lost(next.file, &next.part.name), next.part.span)
                });
            }
            return;
        }
        parts = waiting;
    }
}

/// The atom in a row's file, after the lines that keep its place.
fn atom_span(sources: &Sources, id: FileId) -> Span {
    let text = &sources.file(id).text;
    Span::new(id, text.len() - text.trim_start().len(), text.len())
}

struct Reader<'a> {
    sources: &'a Sources,
    id: FileId,
    diags: &'a mut Diagnostics,
}

impl Reader<'_> {
    fn file<T: DeserializeOwned>(&mut self) -> Option<T> {
        entries::file(self.sources, self.id, self.diags)
    }
    fn entries<T: DeserializeOwned>(&mut self, entries: &[Entry]) -> Vec<Spanned<T>> {
        entries.iter().filter_map(|e| entries::entry(self.sources, *e, self.diags)).collect()
    }
    fn values<T: DeserializeOwned>(&mut self, entries: Vec<Entry>) -> Vec<T> {
        self.entries(&entries).into_iter().map(|entry| entry.value).collect()
    }
    fn hardware(&mut self, loaded: &mut Loaded) {
        let Some(file) = self.file::<HwFile>() else { return };
        loaded.accesses.extend(self.values(file.accesses));
        loaded.tags.extend(self.values(file.tags));
        loaded.broadcasts.extend(self.values(file.broadcasts));
        for group in self.entries::<Group>(&file.groups) {
            let before = self.diags.len();
            let mut atoms = self.entries(&group.atoms);
            let mut whole = true;
            for family in &group.families {
                let rows: Vec<Entry> = families::members(self.sources, family.span)
                    .map(|id| Entry { span: atom_span(self.sources, id) })
                    .collect();
                whole &= !rows.is_empty();
                atoms.extend(self.entries(&rows));
            }
            let units = self.units(&group.units);
            whole &= self.diags.len() == before;
            loaded.groups.push(LoadedGroup { group, atoms, units, whole });
        }
        loaded.agreements.extend(self.entries(&file.agreements));
        loaded.figures.extend(self.entries::<Figures>(&file.figures));
        loaded.waits.extend(self.entries::<Waits>(&file.waits));
        loaded.measured.extend(self.entries::<Measured>(&file.measured));
        loaded.answers.extend(self.entries::<Answers>(&file.answers));
        loaded.archs.extend(self.entries(file.arch.as_slice()));
    }
    fn units(&mut self, units: &unit::Units) -> LoadedUnits {
        LoadedUnits {
            descriptors: self.entries(&units.descriptors),
            swizzles: self.entries(&units.swizzles),
            operand_tiles: self.entries(&units.operand_tiles),
            tensor_memories: self.entries(&units.tensor_memories),
            tensor_tiles: self.entries(&units.tensor_tiles),
            tensor_moves: self.entries(&units.tensor_moves),
            shapes: self.entries(&units.shapes),
            order_limits: self.entries(&units.order_limits),
            map_limits: self.entries(&units.map_limits),
            tensor_maps: self.entries(&units.tensor_maps),
            tiled_moves: self.entries(&units.tiled_moves),
            mbarriers: self.entries(&units.mbarriers),
            specializations: self.entries(&units.specializations),
        }
    }
    fn isa(&mut self, loaded: &mut Loaded) {
        let Some(file) = self.file::<IsaFile>() else { return };
        for part in self.entries(&[file.isa]) {
            loaded.parts.push(LoadedPart { part, rules: file.rules.clone(), file: self.id });
        }
    }
}
