//! Long answers on a terminal, through a pager: `CORR_PAGER`, else `PAGER`, else `less -FRX`.

use std::env;
use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::process::{Child, Command, Stdio};

/// A pager that starts with the first byte of an answer.
#[derive(Debug)]
pub struct Pager {
    /// As the user named it; `None` for less.
    named: Option<OsString>,
    child: Option<Child>,
    /// It could not be started, and nobody asked for it: the answer is written to standard output.
    absent: bool,
}

impl Pager {
    /// The pager of this terminal; `None` where standard output is none, or cannot move its cursor, or the user wants none (an empty name, or `cat`).
    pub fn of_terminal() -> Option<Pager> {
        let dumb = env::var_os("TERM").is_some_and(|term| term == "dumb");
        if dumb || !io::stdout().is_terminal() {
            return None;
        }
        let named = env::var_os("CORR_PAGER").or_else(|| env::var_os("PAGER"));
        if named.as_ref().is_some_and(|name| name.is_empty() || name == "cat") {
            return None;
        }
        Some(Pager { named, child: None, absent: false })
    }

    fn start(&mut self) -> io::Result<()> {
        let mut command = match &self.named {
            // It may have arguments: a shell takes it apart.
            Some(named) => {
                let mut shell = Command::new("sh");
                shell.arg("-c").arg(named);
                shell
            }
            None => {
                let mut less = Command::new("less");
                less.arg("-FRX");
                less
            }
        };
        if env::var_os("LESS").is_none() {
            command.env("LESS", "FRX");
        }
        match command.stdin(Stdio::piped()).spawn() {
            Ok(child) => {
                self.child = Some(child);
                // Whoever presses Ctrl-C in a pager means the pager: without corr it would be left alone with the terminal.
                corr_live::outlive_interrupts()
            }
            Err(_) if self.named.is_none() => {
                self.absent = true;
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// Waits until the reader has seen enough.
    ///
    /// # Errors
    /// If the pager that the user named could not be run.
    pub fn finish(mut self) -> io::Result<()> {
        let Some(child) = &mut self.child else { return Ok(()) };
        let status = child.wait()?;
        if matches!(status.code(), Some(126 | 127)) {
            let named = self.named.as_ref().map_or("less".into(), |named| named.to_string_lossy());
            return Err(io::Error::other(format!("the pager `{named}` could not be run; -P does without")));
        }
        Ok(())
    }

    fn pipe(&mut self) -> io::Result<Option<&mut impl Write>> {
        if self.child.is_none() && !self.absent {
            self.start()?;
        }
        Ok(self.child.as_mut().and_then(|child| child.stdin.as_mut()))
    }
}

impl Write for Pager {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.pipe()? {
            Some(pipe) => pipe.write(bytes),
            None => io::stdout().write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.child {
            Some(child) => child.stdin.as_mut().map_or(Ok(()), Write::flush),
            None => io::stdout().flush(),
        }
    }
}
