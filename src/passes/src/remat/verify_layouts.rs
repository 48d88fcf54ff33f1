//! Whether the layouts that a program writes in Triton's notation are layouts at all: aliases that
//! stand for something, texts that can be read, numbers that describe tiles of the shapes they are
//! used at.
//!
//! Passes take a layout that they cannot read for one of which nothing is known; this says what is
//! wrong with it, and where. Other notations, names without an alias and layouts that need a matrix
//! instruction of an architecture that is not known are left alone.
use crate::remat::layout_facts::{Text, blank, cut, expanded, extents};
use lanebook_ir::{
    EncodingFault, ErrorKind, IrError, Pool, Program, TextRef, Type, TypeKind, TypeRef,
};
use lanebook_layout::notation::ttg;
use lanebook_layout::triton::{Base, Encoding, EncodingError, MAX_RANK};
use lanebook_tables::ArchId;
use lanebook_tile::encoding;

/// Aliases that stand for each other are as many as there are, at most.
const MOST: usize = 1024;

/// The first layout of a program that is none.
///
/// # Errors
/// [`ErrorKind::AliasCycle`] and [`ErrorKind::LayoutText`] at the alias, [`ErrorKind::Encoding`] at
/// the operation whose result or region has the layout, in text order.
pub fn check_layouts(program: &Program<'_, '_>) -> Result<(), IrError> {
    let arch = crate::remat::layout_facts::target(program);
    for (name, body) in program.aliases() {
        if is_cyclic(program, name) {
            return Err(IrError { kind: ErrorKind::AliasCycle, at: program.place_of(body) });
        }
        if let Err(skip) = read(program, program.text(body), &mut blank()) {
            return Err(IrError { kind: ErrorKind::LayoutText, at: program.place_in(body, skip) });
        }
    }
    // Each type is looked at once; where one is wrong, the first operation that has it is looked for.
    let types = program.usage().iter().find(|pool| pool.pool == Pool::Types).map_or(0, |p| p.used);
    let mut all = (0..types).filter_map(TypeRef::at).map(|ty| program.type_at(ty));
    if all.all(|ty| layout_fault(program, arch, &ty).is_none()) {
        return Ok(());
    }
    let mut at = program.first(program.root());
    while let Some(op) = at {
        at = program.following(op, None);
        let arguments = program
            .regions(op)
            .flat_map(|region| program.blocks(region))
            .flat_map(|block| program.arguments(block));
        for value in program.results(op).chain(arguments) {
            if let Some(kind) = layout_fault(program, arch, &program.type_of(value)) {
                return Err(IrError { kind, at: program.place(op) });
            }
        }
    }
    Ok(())
}

/// Whether an alias leads back to itself.
fn is_cyclic(program: &Program<'_, '_>, name: TextRef) -> bool {
    let own = program.text(name);
    let mut at = own;
    for _ in 0..MOST {
        // Layouts in this notation have one parent.
        let next = program.alias(at).and_then(|body| named(program, body));
        match next {
            Some(next) if next == own => return true,
            Some(next) => at = next,
            None => return false,
        }
    }
    true
}

/// The first alias that a text names, of those that there are.
fn named<'t>(program: &Program<'_, 't>, text: &'t str) -> Option<&'t str> {
    let mut rest = text;
    while let Some((_, behind)) = cut(rest, b'#') {
        let len =
            behind.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
        let (name, tail) = behind.split_at_checked(len)?;
        if len > 0 && !tail.starts_with('.') && program.alias(name).is_some() {
            return Some(name);
        }
        rest = tail;
    }
    None
}

/// The text without `on ARCHITECTURE` behind it, where that is one.
fn own_lanes<'t>(program: &Program<'_, '_>, text: &'t str) -> Option<&'t str> {
    let at = text.as_bytes().windows(4).rposition(|four| four == b" on ")?;
    let name = text.get(at.checked_add(4)?..)?;
    program.tables().arch_named(name.trim())?;
    text.get(..at)
}

/// Reads a layout's text if it is in this notation; whether it was. One of another architecture's
/// lanes (`on ARCHITECTURE` behind it) is read and left alone: its numbers are held against those
/// lanes where distributions are read. The error: bytes before what cannot be read.
#[inline(never)]
fn read(program: &Program<'_, '_>, text: &str, out: &mut Encoding) -> Result<bool, u32> {
    let mut whole = Text::new();
    if !["#ttg.", "#ttng.", "#gluon."].iter().any(|head| text.starts_with(head))
        && !text.starts_with('#')
    {
        return Ok(false);
    }
    if expanded(program, text, &mut whole).is_none()
        || !["#ttg.", "#ttng.", "#gluon."].iter().any(|head| whole.starts_with(head))
    {
        return Ok(false);
    }
    // A dialect may have more attributes than layouts.
    if whole.starts_with("#ttg.shared_memory")
        || whole.starts_with("#ttng.tensor_memory>")
        || whole.as_str() == "#ttng.tensor_memory"
    {
        return Ok(false);
    }
    let others = own_lanes(program, &whole);
    match ttg::parse_into(others.unwrap_or(&whole), out) {
        Ok(()) => Ok(others.is_none()),
        // Places are known where nothing was put in for an alias.
        Err(error) if whole.as_str() == text && error.line == 1 => Err(error.col.saturating_sub(1)),
        Err(_) => Err(0),
    }
}

/// What is wrong with the layout of a type.
#[inline(never)]
fn layout_fault(program: &Program<'_, '_>, arch: Option<ArchId>, ty: &Type) -> Option<ErrorKind> {
    let mut it = blank();
    let text = program.layout_text(ty).filter(|_| ty.is_tile())?;
    match read(program, text, &mut it) {
        Ok(true) => {}
        Ok(false) => return None,
        Err(_) => return Some(ErrorKind::LayoutText),
    }
    let mut room = [0u32; MAX_RANK];
    let extents = extents(&ty.shape, &mut room)?;
    let tiles = matches!(it.base, Base::NvidiaMma(_) | Base::AmdMfma(_) | Base::AmdWmma(_));
    let arch = arch.or(if tiles { None } else { Some(ArchId(0)) })?;
    // Buffers one behind the other, `memdesc<3x128x64xf16>`: the layout is that of one.
    let of = |extents: &[u32]| encoding::to_linear(program.tables(), arch, &it, extents).err();
    let refused = match of(extents)? {
        EncodingError::Rank { expected, found, .. }
            if ty.kind == TypeKind::Memref && found < expected =>
        {
            let buffers = usize::from(expected.saturating_sub(found));
            of(extents.get(buffers..).unwrap_or(extents))?
        }
        refused => refused,
    };
    fault(refused).map(|fault| ErrorKind::Encoding { fault })
}

/// What is wrong with the layout; `None` where it is only unknown here, or has no linear form.
fn fault(error: EncodingError) -> Option<EncodingFault> {
    Some(match error {
        EncodingError::Rank { field, expected, found } => {
            EncodingFault::Rank { field, expected, found }
        }
        // Extents of tiles may be anything.
        EncodingError::NotPowerOfTwo {
            field: lanebook_layout::triton::EncodingField::Shape,
            ..
        } => {
            return None;
        }
        EncodingError::NotPowerOfTwo { field, value, .. } => {
            EncodingFault::NotPowerOfTwo { field, value }
        }
        EncodingError::BadValue { field, value } => EncodingFault::BadValue { field, value },
        EncodingError::NotAnOrder { at, value } => EncodingFault::NotAnOrder { at, value },
        EncodingError::NotAPermutation { input, bit } => {
            EncodingFault::NotAPermutation { input, bit }
        }
        EncodingError::NotCovered { dim, .. } => EncodingFault::NotCovered { dim },
        EncodingError::SpanTooShort { needed, found } => {
            EncodingFault::SpanTooShort { needed, found }
        }
        EncodingError::TooFewRows { needed, found } => EncodingFault::TooFewRows { needed, found },
        _ => return None,
    })
}
