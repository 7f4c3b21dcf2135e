//! Runs `promtool tsdb dump` over blocks. corr does not read Prometheus' chunks itself.

use std::ffi::OsStr;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

/// The first `promtool` of a search path.
pub(super) fn find(path: Option<&OsStr>) -> Option<PathBuf> {
    let name = format!("promtool{}", std::env::consts::EXE_SUFFIX);
    std::env::split_paths(path?).filter(|folder| !folder.as_os_str().is_empty()).map(|folder| folder.join(&name)).find(|p| p.is_file())
}

/// A running dump. Reading it gives its lines; silence for too long is an error.
pub(super) struct Dump {
    child: Child,
    chunks: Receiver<io::Result<Vec<u8>>>,
    complaints: Receiver<io::Result<Vec<u8>>>,
    held: Vec<u8>,
    at: usize,
    patience: Duration,
}

/// Most bytes of complaints that are kept.
const COMPLAINTS: usize = 4096;

/// Starts `promtool tsdb dump FOLDER`.
pub(super) fn start(promtool: &Path, folder: &Path, patience: Duration) -> io::Result<Dump> {
    let mut command = Command::new(promtool);
    command.args(["tsdb", "dump"]).arg(folder).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let missing = || io::Error::other("no pipe to promtool");
    let chunks = pump(child.stdout.take().ok_or_else(missing)?);
    let complaints = pump(child.stderr.take().ok_or_else(missing)?);
    Ok(Dump { child, chunks, complaints, held: Vec::new(), at: 0, patience })
}

/// Reads a pipe in a thread of its own: a read cannot be given up otherwise.
fn pump(mut pipe: impl Read + Send + 'static) -> Receiver<io::Result<Vec<u8>>> {
    let (send, receive) = sync_channel(8);
    std::thread::spawn(move || {
        loop {
            let mut chunk = vec![0; 1 << 16];
            let read = pipe.read(&mut chunk).map(|n| {
                chunk.truncate(n);
                chunk
            });
            let over = read.as_ref().map_or(true, Vec::is_empty);
            if send.send(read).is_err() || over {
                return;
            }
        }
    });
    receive
}

impl Read for Dump {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.at == self.held.len() {
            self.held = match self.chunks.recv_timeout(self.patience) {
                Ok(chunk) => chunk?,
                Err(RecvTimeoutError::Disconnected) => return Ok(0),
                Err(RecvTimeoutError::Timeout) => {
                    let why = format!("promtool wrote nothing for {} s and was stopped", self.patience.as_secs());
                    return Err(io::Error::new(io::ErrorKind::TimedOut, why));
                }
            };
            self.at = 0;
        }
        let rest = self.held.get(self.at..).unwrap_or(&[]);
        let n = rest.len().min(into.len());
        let (from, _) = rest.split_at(n);
        let (to, _) = into.split_at_mut(n);
        to.copy_from_slice(from);
        self.at += n;
        Ok(n)
    }
}

impl Dump {
    /// Waits for its end, and stops it if that does not come. Says how it failed; `None` if it ended well.
    pub(super) fn end(mut self) -> Option<String> {
        let begun = Instant::now();
        let status = loop {
            match self.child.try_wait() {
                Ok(Some(status)) => break Ok(status),
                Ok(None) if begun.elapsed() < self.patience.min(Duration::from_secs(5)) => std::thread::sleep(Duration::from_millis(10)),
                Ok(None) => {
                    let stopped = self.child.kill().and_then(|()| self.child.wait());
                    break Err(stopped.err().map_or("promtool did not end and was stopped".to_string(), |e| e.to_string()));
                }
                Err(e) => break Err(e.to_string()),
            }
        };
        let mut complaints = Vec::new();
        while let Ok(Ok(chunk)) = self.complaints.recv_timeout(Duration::from_millis(200)) {
            if chunk.is_empty() || complaints.len() > COMPLAINTS {
                break;
            }
            complaints.extend(chunk);
        }
        complaints.truncate(COMPLAINTS);
        let complaints = String::from_utf8_lossy(&complaints).trim().replace('\n', "; ");
        match status {
            Ok(status) if status.success() => None,
            Ok(status) => Some(format!("promtool ended with {status}: {complaints}")),
            Err(why) => Some(format!("{why} {complaints}").trim().to_string()),
        }
    }
}
