//! Targets of recorded programs: the architecture, and the instruction of a product.

use crate::program::Product;
use lanebook::TABLES;
use lanebook::loops::{self, UnitRequest};
use lanebook::unit::tensor;
use lanebook_infer::{MachineFigures, UnitTile};
use lanebook_tables::Arch;

/// The table's name of an element type, as an operand of a product or as its result.
fn dtype(name: &str, operand: bool) -> &str {
    match name {
        "float16" => "f16",
        "bfloat16" => "bf16",
        "float32" if operand => "tf32",
        "float32" => "f32",
        "float64" => "f64",
        "float8_e4m3" | "float8_e4m3fn" => "e4m3",
        "int8" => "i8",
        "int32" => "i32",
        other => other,
    }
}

/// The architecture that TileLang calls so: with all that it has, where there are two, but for tensor
/// memory, in which TileLang leaves no sums of fragments.
#[must_use]
pub fn arch(target: &str) -> Option<&'static Arch<'static>> {
    let named = |name: &str| TABLES.arch_named(name).and_then(|id| TABLES.arch(id));
    let whole = named(&format!("{target}a"));
    let whole = whole.filter(|arch| tensor::memory(&TABLES, arch).is_err());
    whole.or_else(|| named(target))
}

/// What inference must know of it.
#[must_use]
pub fn figures(arch: &Arch<'_>) -> MachineFigures {
    loops::figures(&TABLES, arch)
}

/// Gives the tile of the instruction that a product is computed by.
pub fn unit(product: &Product<'_>, give: &mut dyn FnMut(&UnitTile<'_>)) -> bool {
    let operand = TABLES.dtype_named(dtype(product.operand, true));
    let result = TABLES.dtype_named(dtype(product.result, false));
    let (Some(arch), Some(operand), Some(result)) = (arch(product.target), operand, result) else {
        return false;
    };
    let request =
        UnitRequest { operand, result, extents: product.extents, threads: product.threads };
    let found = loops::unit(&TABLES, arch, &request);
    found.and_then(|unit| unit.tile(product.side, |tile| give(tile))).is_some()
}
