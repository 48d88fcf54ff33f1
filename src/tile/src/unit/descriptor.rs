//! Words of bit fields, packed and unpacked by the names of their fields.
//!
//! A value is what the field stands for (an offset in bytes, say), not its bits; fields of one
//! value are filled in.

use crate::unit::UnitError;
use lanebook_tables::{Descriptor, Field};

/// A word on the way.
///
/// ```
/// use lanebook::TABLES;
/// use lanebook::unit::descriptor::DescriptorWord;
/// use lanebook::unit::descriptor_named;
///
/// let arch = TABLES.arch(TABLES.arch_named("sm_90a").unwrap()).unwrap();
/// let table = descriptor_named(&TABLES, arch, "wgmma.shared").unwrap();
/// let mut word = DescriptorWord::new(table);
/// // Values are what fields stand for: bytes, not their bits.
/// word.set("start_address", 0x400).unwrap();
/// word.set("stride_byte_offset", 1024).unwrap();
/// word.set_at(1, 16).unwrap();
/// word.set_word("swizzle_mode", "128B").unwrap();
/// let bits = word.pack().unwrap();
/// assert_eq!((word.get("stride_byte_offset"), word.word("swizzle_mode")), (Ok(1024), Ok(Some("128B"))));
/// // What is read back is the same; what no field can hold is refused.
/// let back = DescriptorWord::unpack(table, bits).unwrap();
/// assert!(back.check().is_ok() && back.descriptor().name == "wgmma.shared");
/// assert!(word.set("stride_byte_offset", 1023).is_err());
/// ```
#[derive(Copy, Clone, Debug)]
pub struct DescriptorWord<'a> {
    descriptor: &'a Descriptor<'a>,
    bits: u64,
}

impl<'a> DescriptorWord<'a> {
    /// Constants as the table has them, every other field zero.
    #[must_use]
    pub fn new(descriptor: &'a Descriptor<'a>) -> Self {
        let mut out = Self { descriptor, bits: 0 };
        for field in descriptor.fields.iter().filter(|f| f.range.0 == f.range.1) {
            out.put(field, raw(field, u64::from(field.range.0)));
        }
        out
    }

    /// The word with these bits.
    ///
    /// # Errors
    /// [`UnitError::Reserved`] for bits of no field, else those of [`Self::check`].
    pub fn unpack(descriptor: &'a Descriptor<'a>, bits: u64) -> Result<Self, UnitError> {
        let out = Self { descriptor, bits };
        out.check()?;
        Ok(out)
    }

    /// Sets a field by its name.
    ///
    /// # Errors
    /// [`UnitError::NoField`], and those of [`Self::set_at`].
    pub fn set(&mut self, field: &str, value: u64) -> Result<(), UnitError> {
        self.set_at(self.number(field)?, value)
    }

    /// Sets a field by its number.
    ///
    /// # Errors
    /// [`UnitError::NoField`], [`UnitError::Range`], [`UnitError::Step`], [`UnitError::NotListed`].
    pub fn set_at(&mut self, number: u8, value: u64) -> Result<(), UnitError> {
        let field = self.field(number)?;
        holds(field, number, value)?;
        self.put(field, raw(field, value));
        Ok(())
    }

    /// Sets a field to a value by its name.
    ///
    /// # Errors
    /// [`UnitError::NoField`], [`UnitError::NoWord`].
    pub fn set_word(&mut self, field: &str, word: &str) -> Result<(), UnitError> {
        let number = self.number(field)?;
        let field = self.field(number)?;
        let code = field
            .values
            .iter()
            .find(|(name, _)| *name == word)
            .ok_or(UnitError::NoWord { field: number })?;
        self.put(field, u64::from(code.1));
        Ok(())
    }

    /// The value of a field.
    ///
    /// # Errors
    /// [`UnitError::NoField`].
    pub fn get(&self, field: &str) -> Result<u64, UnitError> {
        let field = self.field(self.number(field)?)?;
        Ok(self.take(field).saturating_mul(u64::from(field.scale)))
    }

    /// The name of a field's value, if its values have names.
    ///
    /// # Errors
    /// [`UnitError::NoField`].
    pub fn word(&self, field: &str) -> Result<Option<&'a str>, UnitError> {
        let field = self.field(self.number(field)?)?;
        let bits = self.take(field);
        Ok(field.values.iter().find(|(_, code)| u64::from(*code) == bits).map(|(name, _)| *name))
    }

    /// Checks every field, for those that were never set.
    ///
    /// # Errors
    /// [`UnitError::Reserved`], and the first of [`UnitError::Range`], [`UnitError::Step`],
    /// [`UnitError::NotListed`].
    pub fn check(&self) -> Result<(), UnitError> {
        let named =
            self.descriptor.fields.iter().fold(0, |all, f| all | mask(f).wrapping_shl(f.at.into()));
        let reserved = self.bits & !named;
        if reserved != 0 {
            return Err(UnitError::Reserved { bits: reserved });
        }
        for (number, field) in (0u8..).zip(self.descriptor.fields) {
            holds(field, number, self.take(field).saturating_mul(u64::from(field.scale)))?;
        }
        Ok(())
    }

    /// The word, if every field holds what it may.
    ///
    /// # Errors
    /// Those of [`Self::check`].
    pub fn pack(&self) -> Result<u64, UnitError> {
        self.check()?;
        Ok(self.bits)
    }

    /// The descriptor.
    #[must_use]
    pub fn descriptor(&self) -> &'a Descriptor<'a> {
        self.descriptor
    }

    fn number(&self, name: &str) -> Result<u8, UnitError> {
        let at = self.descriptor.fields.iter().position(|f| f.name == name);
        at.and_then(|at| u8::try_from(at).ok()).ok_or(UnitError::NoField)
    }

    fn field(&self, number: u8) -> Result<&'a Field<'a>, UnitError> {
        self.descriptor.fields.get(usize::from(number)).copied().ok_or(UnitError::NoField)
    }

    fn put(&mut self, field: &Field<'_>, bits: u64) {
        let at = u32::from(field.at);
        let held = mask(field);
        self.bits = (self.bits & !held.wrapping_shl(at)) | (bits & held).wrapping_shl(at);
    }

    fn take(&self, field: &Field<'_>) -> u64 {
        self.bits.wrapping_shr(field.at.into()) & mask(field)
    }
}

/// The bits of a field, shifted down.
fn mask(field: &Field<'_>) -> u64 {
    1u64.checked_shl(field.bits.into()).map_or(u64::MAX, |top| top.wrapping_sub(1))
}

fn raw(field: &Field<'_>, value: u64) -> u64 {
    value.checked_div(u64::from(field.scale)).unwrap_or(0)
}

fn holds(field: &Field<'_>, number: u8, value: u64) -> Result<(), UnitError> {
    let (low, high) = field.range;
    if value < u64::from(low) || value > u64::from(high) {
        return Err(UnitError::Range { field: number, value, low, high });
    }
    if value.checked_rem(u64::from(field.scale)) != Some(0) {
        return Err(UnitError::Step { field: number, value, scale: field.scale });
    }
    if !field.values.is_empty()
        && !field.values.iter().any(|(_, code)| u64::from(*code) == raw(field, value))
    {
        return Err(UnitError::NotListed { field: number, value });
    }
    Ok(())
}
