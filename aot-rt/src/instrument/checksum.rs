//! What each step computed, in eight bytes.

use core::fmt;

use super::per_step::PerStep;
use super::{Elements, Instrument, StepInfo};

/// A checksum of elements: FNV-1a with 64 bits, over their little-endian bytes.
///
/// Rows in order give what the whole tensor gives.
///
/// ```
/// use aot_rt::{Checksum, Elements};
///
/// let whole = Checksum::START.elements(Elements::I16(&[1, 2, 3]));
/// let rows = Checksum::START.elements(Elements::I16(&[1])).elements(Elements::I16(&[2, 3]));
/// assert_eq!(whole, rows);
/// assert_eq!(whole, Checksum::START.bytes(&[1, 0, 2, 0, 3, 0]));
/// assert_eq!(Checksum::START.bytes(b"foobar").to_string(), "85944171f73967e8");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Checksum(u64);

impl Checksum {
    /// That of nothing.
    pub const START: Self = Self(0xcbf2_9ce4_8422_2325);

    /// With these bytes behind.
    #[must_use]
    pub fn bytes(self, bytes: &[u8]) -> Self {
        bytes.iter().fold(self, |sum, byte| sum.byte(*byte))
    }

    /// With these elements behind.
    #[must_use]
    pub fn elements(self, elements: Elements<'_>) -> Self {
        match elements {
            Elements::I8(elements) => elements.iter().fold(self, |sum, x| sum.byte(x.cast_unsigned())),
            Elements::U8(elements) | Elements::Bool(elements) => self.bytes(elements),
            Elements::I16(elements) => elements.iter().fold(self, |sum, x| sum.bytes(&x.to_le_bytes())),
            Elements::I32(elements) => elements.iter().fold(self, |sum, x| sum.bytes(&x.to_le_bytes())),
            Elements::U32(elements) => elements.iter().fold(self, |sum, x| sum.bytes(&x.to_le_bytes())),
            Elements::I64(elements) => elements.iter().fold(self, |sum, x| sum.bytes(&x.to_le_bytes())),
            Elements::U64(elements) => elements.iter().fold(self, |sum, x| sum.bytes(&x.to_le_bytes())),
            Elements::F16(elements) => elements.iter().fold(self, |sum, x| sum.bytes(&x.to_le_bytes())),
            Elements::BF16(elements) => elements.iter().fold(self, |sum, x| sum.bytes(&x.to_le_bytes())),
            Elements::F32(elements) => elements.iter().fold(self, |sum, x| sum.bytes(&x.to_le_bytes())),
        }
    }

    const fn byte(self, byte: u8) -> Self {
        Self((self.0 ^ byte as u64).wrapping_mul(0x0100_0000_01b3))
    }

    /// The number.
    #[must_use]
    pub const fn value(self) -> u64 {
        self.0
    }
}

/// Sixteen hexadecimal digits.
impl fmt::Display for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// A checksum of what each step wrote: finds the first step at which two runs differ, or two
/// builds, a target and the host.
///
/// A step that writes several tensors, row by row or in a loop, has one for all that it wrote,
/// in order. [`reset`](Self::reset) it before each run that is to be compared.
///
/// ```
/// use aot_rt::{Checksums, Elements, Instrument, StepInfo};
///
/// // As the compiler writes it; `Net::STEPS` of your model.
/// const fn step(index: usize, name: &'static str) -> StepInfo {
///     let (macs, bytes, rows) = (0, 2, 1);
///     StepInfo {
///         index, name, operator: "relu", kernel: Some("relu_i8"), node: "", macs, bytes, rows, device: None,
///     }
/// }
/// static STEPS: [StepInfo; 2] = [step(0, "relu_0"), step(1, "relu_1")];
///
/// let [mut good, mut bad] = [Checksums::new(&STEPS), Checksums::new(&STEPS)];
/// // What `net.run_with(&mut good, ..)` does:
/// good.after(&STEPS[0], &[Elements::I8(&[1])]);
/// good.after(&STEPS[1], &[Elements::I8(&[2])]);
/// bad.after(&STEPS[0], &[Elements::I8(&[1])]);
/// bad.after(&STEPS[1], &[Elements::I8(&[3])]);
/// assert_eq!(good.first_difference(&good), None);
/// assert_eq!(good.first_difference(&bad), Some(&STEPS[1]));
/// ```
#[derive(Clone, Debug)]
pub struct Checksums<const STEPS: usize> {
    steps: PerStep<Option<Checksum>, STEPS>,
}

impl<const STEPS: usize> Checksums<STEPS> {
    /// Checksums for the model with these steps, `Net::STEPS`.
    #[must_use]
    pub const fn new(steps: &'static [StepInfo; STEPS]) -> Self {
        Self { steps: PerStep::new(steps, None) }
    }

    /// Forgets what has been seen.
    pub fn reset(&mut self) {
        self.steps.fill(None);
    }

    /// Each step with its checksum, in order; `None` for one that did not run.
    pub fn steps(&self) -> impl Iterator<Item = (&'static StepInfo, Option<Checksum>)> + Clone {
        self.steps.iter()
    }

    /// The first step that has another checksum in `other`, or ran only in one of the two.
    /// Steps of two builds are the same where their names are; others are passed over.
    #[must_use]
    pub fn first_difference<const OTHERS: usize>(
        &self,
        other: &Checksums<OTHERS>,
    ) -> Option<&'static StepInfo> {
        let differs = |(step, checksum): &(&StepInfo, Option<Checksum>)| {
            let other = other.steps().find(|(other, _)| other.name == step.name);
            other.is_some_and(|(_, other)| other != *checksum)
        };
        self.steps().find(differs).map(|(step, _)| step)
    }
}

impl<const STEPS: usize> Instrument for Checksums<STEPS> {
    fn after(&mut self, step: &'static StepInfo, outputs: &[Elements<'_>]) {
        if let Some(checksum) = self.steps.get_mut(step) {
            let start = checksum.unwrap_or(Checksum::START);
            *checksum = Some(outputs.iter().fold(start, |sum, output| sum.elements(*output)));
        }
    }
}

/// A line for each step that ran: its name and its checksum.
impl<const STEPS: usize> fmt::Display for Checksums<STEPS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.steps.name_width("");
        for (step, checksum) in self.steps() {
            if let Some(checksum) = checksum {
                writeln!(f, "{:width$}  {checksum}", step.name)?;
            }
        }
        Ok(())
    }
}
