//! The driver: starts and stops the unit, loads convolutions, hands over images.

use std::collections::HashSet;
use std::fmt;
use std::io::{self, BufReader};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use aot_rt::kernels::Conv2dI8;
use aot_rt::{Device, StepInfo};

use crate::DigitsUnit;
use crate::unit::shape;
use crate::wire::{self, LOAD, Message, REFUSED, RUN, bytes_of_i8s, bytes_of_i32s};

/// The unit, while it is off and while it runs.
#[derive(Debug)]
pub struct Unit {
    /// The program that becomes the unit, with the argument `unit`.
    program: PathBuf,
    process: Process,
    pipes: Option<(ChildStdin, BufReader<ChildStdout>)>,
    /// The steps whose constants the unit has.
    loaded: HashSet<usize>,
}

/// The unit's process, which others may end.
#[derive(Clone, Debug, Default)]
pub struct Process(Arc<Mutex<Option<Child>>>);

impl Process {
    /// Ends it at once, if it runs.
    ///
    /// # Errors
    ///
    /// When the system does not let us.
    pub fn kill(&self) -> io::Result<()> {
        self.with(|child| match child {
            Some(child) => child.kill().and_then(|()| child.wait()).map(drop),
            None => Ok(()),
        })
    }

    fn with<T>(&self, action: impl FnOnce(&mut Option<Child>) -> T) -> T {
        action(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// What goes wrong with the unit.
#[derive(Debug)]
pub enum UnitError {
    /// It could not be started.
    Start(io::Error),
    /// It has ended by itself, or somebody has ended it.
    Ended(ExitStatus),
    /// It could not be spoken to.
    Lost(io::Error),
    /// It cannot do what it was asked for.
    Refused(String),
}

impl fmt::Display for UnitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start(error) => write!(f, "the unit does not start: {error}"),
            Self::Ended(status) => write!(f, "the unit has ended ({status})"),
            Self::Lost(error) => write!(f, "the unit is lost: {error}"),
            Self::Refused(why) => write!(f, "the unit refuses: {why}"),
        }
    }
}

impl std::error::Error for UnitError {}

impl Unit {
    /// The unit that `program` is when it is started with the argument `unit`.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        let (process, loaded) = (Process::default(), HashSet::new());
        Self { program: program.into(), process, pipes: None, loaded }
    }

    /// Its process.
    #[must_use]
    pub fn process(&self) -> Process {
        self.process.clone()
    }

    /// Sends a message, and gives the unit's answer.
    fn ask(&mut self, kind: u8, pieces: &[&[u8]]) -> Result<Vec<u8>, UnitError> {
        let gone = || UnitError::Lost(io::ErrorKind::BrokenPipe.into());
        let (to, from) = self.pipes.as_mut().ok_or_else(gone)?;
        wire::send(to, kind, pieces).map_err(UnitError::Lost)?;
        let Message { kind, pieces } = wire::receive(from).map_err(UnitError::Lost)?.ok_or_else(gone)?;
        let answer = pieces.into_iter().next().unwrap_or_default();
        if kind == REFUSED {
            return Err(UnitError::Refused(String::from_utf8_lossy(&answer).into_owned()));
        }
        Ok(answer)
    }
}

impl Device for Unit {
    type Error = UnitError;

    /// Starts the process.
    fn activate(&mut self) -> Result<(), UnitError> {
        let mut command = Command::new(&self.program);
        let command = command.arg("unit").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(UnitError::Start)?;
        // Both were asked for.
        self.pipes = child.stdin.take().zip(child.stdout.take().map(BufReader::new));
        self.process.with(|process| *process = Some(child));
        self.loaded.clear();
        Ok(())
    }

    /// Sees whether the process still runs.
    fn open(&mut self, _: &'static StepInfo) -> Result<(), UnitError> {
        let ended = self.process.with(|child| match child {
            Some(child) => child.try_wait(),
            None => Ok(None),
        });
        match ended.map_err(UnitError::Lost)? {
            Some(status) => Err(UnitError::Ended(status)),
            None => Ok(()),
        }
    }

    /// Lets the process come to its end.
    fn deactivate(&mut self) -> Result<(), UnitError> {
        // It ends when there are no more messages.
        self.pipes = None;
        let Some(mut child) = self.process.with(Option::take) else { return Ok(()) };
        let status = child.wait().map_err(UnitError::Lost)?;
        if status.success() { Ok(()) } else { Err(UnitError::Ended(status)) }
    }
}

impl Drop for Unit {
    fn drop(&mut self) {
        // Nobody minds when it is gone already.
        let _ = self.deactivate();
    }
}

impl DigitsUnit for Unit {
    /// The constants go over once, the image each time.
    fn conv2d_i8(
        &mut self,
        step: &'static StepInfo,
        params: &'static Conv2dI8,
        x: &[i8],
        y: &mut [i8],
        weights: &[i8],
        bias: &[i32],
        multipliers: &[i32],
        shifts: &[i8],
    ) -> Result<(), UnitError> {
        let number = step.index.to_le_bytes();
        if !self.loaded.contains(&step.index) {
            let constants = [
                bytes_of_i8s(weights),
                bytes_of_i32s(bias),
                bytes_of_i32s(multipliers),
                bytes_of_i8s(shifts),
            ];
            let [weights, bias, multipliers, shifts] = constants.each_ref().map(Vec::as_slice);
            let shape = bytes_of_i32s(&shape(params));
            self.ask(LOAD, &[&number, &shape, weights, bias, multipliers, shifts])?;
            self.loaded.insert(step.index);
        }
        let result = self.ask(RUN, &[&number, &bytes_of_i8s(x)])?;
        if result.len() != y.len() {
            let message = format!("{} bytes came, expected {}", result.len(), y.len());
            return Err(UnitError::Lost(io::Error::other(message)));
        }
        for (y, byte) in y.iter_mut().zip(result) {
            *y = byte.cast_signed();
        }
        Ok(())
    }
}
