//! Runs an image in QEMU, within a time limit.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::boards::Board;

/// How long a run may take. They take less than a second on an idle machine.
const LIMIT: Duration = Duration::from_secs(120);

/// What came out of runs.
#[derive(PartialEq, Eq)]
pub(crate) struct Ran {
    /// The outputs of all runs, one after the other.
    pub(crate) outputs: Vec<u8>,
    /// Bytes of stack that the first run took.
    pub(crate) stack: u64,
    /// Instructions of each run but the first.
    pub(crate) instructions: Vec<u64>,
}

/// Runs `image` on `inputs`, one after the other, with `folder` for its files.
pub(crate) fn run(board: &Board, image: &Path, inputs: &[u8], folder: &Path) -> Result<Ran, String> {
    let at = |error: std::io::Error| format!("{}: {error}", folder.display());
    fs::create_dir_all(folder).map_err(at)?;
    for name in ["outputs", "measured"] {
        fs::write(folder.join(name), []).map_err(at)?;
    }
    fs::write(folder.join("inputs"), inputs).map_err(at)?;
    emulate(board, image, folder)?;
    let outputs = fs::read(folder.join("outputs")).map_err(at)?;
    let measured = fs::read(folder.join("measured")).map_err(at)?;
    let words: Vec<_> = measured.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect();
    let [[_, stack], others @ ..] = words.as_chunks().0 else {
        return Err("the image has measured nothing".into());
    };
    let instructions = others.iter().map(|[ticks, _]| board.instructions(*ticks)).collect();
    Ok(Ran { outputs, stack: *stack, instructions })
}

/// Runs `image` in `folder`; an error unless it ends with a success.
pub(crate) fn emulate(board: &Board, image: &Path, folder: &Path) -> Result<(), String> {
    let (program, arguments) = board.emulator();
    let mut emulator = Command::new(program)
        .args(arguments)
        .arg(image)
        .current_dir(folder)
        .stdin(Stdio::null())
        .spawn()
        .map_err(|error| format!("{program}: {error}; tools/install-embedded.sh installs it"))?;
    let start = Instant::now();
    loop {
        match emulator.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => return Err(format!("the image ended with {status}")),
            Ok(None) if start.elapsed() < LIMIT => sleep(Duration::from_millis(5)),
            Ok(None) | Err(_) => {
                // It may have ended by itself just now.
                let _ = emulator.kill();
                let _ = emulator.wait();
                return Err(format!("the image has not ended within {} s", LIMIT.as_secs()));
            }
        }
    }
}
