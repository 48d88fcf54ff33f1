//! Agreements as they are written: which movers hand registers to which matrix instructions.
use super::Name;
use crate::spanned::Spanned;
use serde::Deserialize;

/// Registers of movers that must be those of matrix operands.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "agreement")]
pub struct Agreement {
    /// Its name, for messages.
    pub name: Name,
    /// Movers by name; `*` stands for any text.
    pub movers: Vec<Name>,
    /// Matrix instructions by name; `*` stands for any text.
    pub products: Vec<Name>,
    /// Which of their operands it is about.
    pub operand: Spanned<MatrixOperand>,
    /// The coordinate along which the bytes of one address slot run.
    pub along: Spanned<Along>,
}

/// An operand of a matrix instruction.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MatrixOperand {
    /// A, over (m, k).
    A,
    /// B, over (k, n).
    B,
    /// C, over (m, n).
    C,
    /// D, over (m, n).
    D,
}

/// A coordinate of a matrix product.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Along {
    /// Rows of A and D.
    M,
    /// Columns of B and D.
    N,
    /// Depth.
    K,
}
