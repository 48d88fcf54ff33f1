//! lanebook for Python: what the package's Python sources stand on.
//!
//! | module | what |
//! | --- | --- |
//! | `answers` | queries, tables of positions, pictures |
//! | `kernels` | tile programs to kernels, conversions by themselves, parallel loops to layouts, findings in programs |
//!
//! The interface that people use is `python/lanebook`; nothing here is meant to be called by hand.

mod answers;
mod kernels;

use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

create_exception!(
    _lanebook,
    LanebookError,
    PyValueError,
    "The library refuses; the text says where, why and what to do."
);

/// The extension module.
#[pymodule]
fn _lanebook(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("LanebookError", module.py().get_type::<LanebookError>())?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_function(wrap_pyfunction!(answers::ask, module)?)?;
    module.add_function(wrap_pyfunction!(answers::table, module)?)?;
    module.add_function(wrap_pyfunction!(answers::picture, module)?)?;
    module.add_function(wrap_pyfunction!(answers::architectures, module)?)?;
    module.add_function(wrap_pyfunction!(kernels::compile, module)?)?;
    module.add_function(wrap_pyfunction!(kernels::convert, module)?)?;
    module.add_function(wrap_pyfunction!(kernels::infer, module)?)?;
    module.add_function(wrap_pyfunction!(kernels::lint, module)?)?;
    Ok(())
}
