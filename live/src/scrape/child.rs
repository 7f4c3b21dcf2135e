//! The command around which is scraped.

use std::ffi::OsString;

use super::ScrapeError;
use crate::stop::Stop;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    Code(i32),
    /// By a signal.
    Signal(i32),
    /// It still ran when corr was asked a second time to end.
    StillRunning,
}

impl Ended {
    /// As a shell gives it: 128 and the signal's number for a signal.
    pub fn code(self) -> i32 {
        match self {
            Ended::Code(code) => code,
            Ended::Signal(signal) => 128 + signal,
            Ended::StillRunning => 130,
        }
    }
}

impl std::fmt::Display for Ended {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Ended::Code(code) => write!(f, "exit code {code}"),
            Ended::Signal(signal) => write!(f, "ended by signal {signal}"),
            Ended::StillRunning => f.write_str("still running, not waited for"),
        }
    }
}

/// Runs a command to its end. Being asked once ends the command (SIGTERM), and it is waited for; twice ends the wait.
pub async fn run(command: &[OsString], stop: &Stop) -> Result<Ended, ScrapeError> {
    let Some((program, args)) = command.split_first() else { return Ok(Ended::Code(0)) };
    let mut child = tokio::process::Command::new(program)
        .args(args)
        .spawn()
        .map_err(|error| ScrapeError::Command { command: program.to_string_lossy().into_owned(), error })?;
    let status = tokio::select! {
        status = child.wait() => status,
        () = stop.soon() => {
            terminate(&child);
            tokio::select! {
                status = child.wait() => status,
                () = stop.now() => return Ok(Ended::StillRunning),
            }
        }
    };
    status.map(ended).map_err(|error| ScrapeError::Command { command: program.to_string_lossy().into_owned(), error })
}

#[cfg(unix)]
fn terminate(child: &tokio::process::Child) {
    let id = child.id().and_then(|id| i32::try_from(id).ok()).and_then(rustix::process::Pid::from_raw);
    if let Some(id) = id {
        // It may have ended just now.
        let _ = rustix::process::kill_process(id, rustix::process::Signal::TERM);
    }
}

#[cfg(not(unix))]
fn terminate(_: &tokio::process::Child) {}

fn ended(status: std::process::ExitStatus) -> Ended {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return Ended::Signal(signal);
    }
    // Without a signal there is a code.
    Ended::Code(status.code().unwrap_or(1))
}
