//! Why lanebook may refuse or answer otherwise than a peer. Each rule is applied to what a record
//! says, never to its id.

/// All peers refuse, and so does lanebook.
pub const BOTH: &str = "refused by lanebook and by the peers";
/// No peer was asked.
pub const NOBODY: &str = "no peer was asked";
/// The peer died or returned its error marker; lanebook's answer satisfies the operation's law.
pub const NO_ANSWER: &str =
    "the peer died or returned its error marker; the answer was checked by the operation's law";
/// The same where lanebook refuses.
pub const NO_ANSWER_REFUSED: &str = "the peer died or returned its error marker; lanebook refuses";
/// A peer refuses what is defined: its checks are stricter than needed.
pub const PEER_REFUSES: &str =
    "the peer refuses what is defined; the answer was checked by the operation's law";
/// `A(B(i))` is something else at some `i` (errata 004 row 3).
pub const COMPOSITION: &str =
    "the peer's composition is not A(B(i)): a stride does not divide, or digits carry";
/// As above, inside a divide or product.
pub const TILING: &str =
    "the peer's tiles are not A(T(i) + rest(j)): the composition inside is not defined";
/// Errata 004 rows 15 and 16.
pub const COMPLEMENT: &str =
    "no complement: the peer's answer is empty, or meets what it should complete";
/// The same inside a divide or product.
pub const MEETS: &str = "no complement: the peer's answer is empty, or its tiles meet";
/// The cotarget counts by its size; the peer divides its modes one by one and rounds each.
pub const SHAPED_COTARGET: &str =
    "complement to a shape: lanebook covers its size, the peer rounds mode by mode";
/// The peer turns the swizzle of a slice into strides, or loses the fixed coordinate.
pub const SLICE: &str =
    "the peer's slice of a swizzled layout is not at the positions of the whole";
/// Errata 004 row 31: the definition is the image's greatest position plus 1.
pub const NEGATIVE_COSIZE: &str =
    "cosize with a negative stride: lanebook counts the image, the peers a formula each";
/// Errata 004 row 27.
pub const SWIZZLED_COSIZE: &str =
    "cosize under a swizzle: lanebook counts the swizzled image, the peer the inner layout";
/// Strides that do not nest have no strided left inverse.
pub const LEFT_INVERSE: &str = "no left inverse: the peer's answer does not lead back to the index";
/// pycute wraps an index beyond the shape around.
pub const WRAPS: &str =
    "the coordinate names no element of the shape: the peer wraps around or counts on";
/// A recast whose strides fall between elements.
pub const RECAST: &str =
    "recast: a stride or offset falls between the new elements, the peer rounds it";
/// A recast that covers more elements than it touches.
pub const RECAST_COVER: &str =
    "recast: the peer rounds twice and covers elements that are not touched";
/// Leaves with equal strides.
pub const LIKE_TIES: &str = "make_layout_like: leaves of equal strides; the peer's layout aliases";
/// Too large to count.
pub const SWIZZLED_COSIZE_BOUND: &str = "cosize under a swizzle, too large to count: the peer gives the inner layout's, lanebook is within the period";
/// A swizzle field that would start below bit 0, or a ratio that is no power of two.
pub const RECAST_SWIZZLE: &str =
    "recast: the swizzle has no equivalent in the new unit, the peer prints a wrong one";
/// Paths of different depth that share a prefix.
pub const NESTED: &str = "one numbered axis is the prefix of another: positions are no coordinates";
/// Negative coordinates or extents have no meaning.
pub const BASIS_COMPLEMENT: &str = "complement over several axes: CuTe's own tests demand a refusal, and the peer completes each axis alone";
/// An axis that no iter moves along does not make a path longer or shorter.
pub const IDLE_AXIS: &str = "axes nest only through an iter that never moves: lanebook leaves it out, the peer refuses or not";
/// The peer adds axes that the layout does not mention.
pub const BASIS_COMPLEMENT_AXES: &str =
    "complement on one axis: the peer adds axes that the layout does not mention";
/// A block whose steps leave holes.
pub const BASIS_PRODUCT: &str =
    "product over axes: the peer repeats a padded block within itself, where positions meet";
/// `1@0@0` is no `1@0`.
pub const BASIS_PATH: &str =
    "product over axes: the peer repeats along an axis that neither side names";
/// A stride of `0@0` is a stride of zero.
pub const ZERO_BASIS: &str = "a zero basis moves nothing and counts as stride 0, the peer keeps it";
/// Grammar: the seed forbids a default for malformed text.
pub const DEFAULTED: &str = "malformed text, which the peer turns into a default without an error";
/// The peer's grammar takes more than the seed's.
pub const LAXER: &str =
    "outside the seed's grammar: trailing comma, shape without strides, negative axis or the like";
/// This crate's capacities.
pub const CAPACITY: &str =
    "beyond a stated capacity: extents of 32 bits, 3 numbers 0..=15 a path, swizzles of 63 bits";
/// Rationals are reduced.
pub const REDUCED: &str = "fractions are reduced, the peer prints them as written";
/// The peer's shift text or number range.
pub const SWIZZLE_RANGE: &str = "a swizzle within 63 bits, which the peer replaces by its default";
/// Composed text of layouts or of several swizzles.
pub const OUTER_LAYOUT: &str = "composed text of another form than swizzle, offset, layout; lanebook composes layouts by operation";
/// Names are symbols.
pub const SYMBOLS: &str =
    "a name stands for a run-time value in lanebook's text, the peer has no names";
/// Line ends are blanks.
pub const BLANKS: &str = "a line end, which is a blank in lanebook's text";
/// The peer's Python layer fails before the operation is reached.
pub const PYTHON: &str =
    "the peer's Python layer raises before the operation; the answer was checked by the law";
/// DSL and pycute give the offset twice.
pub const OFFSET_TWICE: &str =
    "slice and offset under a swizzle: the peer hands out an offset that its layout holds already";
