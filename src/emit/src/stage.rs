//! The stages of emission by name: after which of them the steps are wanted.

/// A stage of emission, named after the module that does it.
///
/// ```
/// use lanebook::emit::EmitStage;
///
/// assert_eq!(EmitStage::named("waits"), Some(EmitStage::Waits));
/// assert!(EmitStage::ALL.iter().all(|stage| EmitStage::named(stage.name()) == Some(*stage)));
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum EmitStage {
    /// `lower`: operations in program order to steps over virtual registers, with addresses
    /// (`expr`) and the barriers and fences between accesses (`sync::order`). Physical numbers
    /// stand for nothing yet.
    Lower,
    /// `registers::allocate`: virtual registers to physical ones, tuples moved where they would
    /// not fit (`registers::live_range_split`).
    Allocate,
    /// `sync::waits`: waits for counters and wait states for hazards. What comes out is what is
    /// written.
    Waits,
}

impl EmitStage {
    /// Every stage, first to last.
    pub const ALL: [Self; 3] = [Self::Lower, Self::Allocate, Self::Waits];

    /// The name by which tools ask for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lower => "lower",
            Self::Allocate => "allocate",
            Self::Waits => "waits",
        }
    }

    /// The stage with a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|stage| stage.name() == name)
    }
}
