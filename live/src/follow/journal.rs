//! `journalctl` as a child: one to read backwards to where the unit's run begins, one to follow.
//!
//! `-o json --all`: everything else loses something, and `-o json` alone loses long lines, the configuration first of all.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use corr_parsers::envelope::journald;
use corr_parsers::record::Layout;
use corr_readiness::observe::Writer;
use corr_readiness::{Fact, Observation};

use super::lines::Lines;
use super::message::{Fault, Message};
use super::tail::Seen;
use crate::clock::Clock;

/// How journalctl is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Journal {
    /// `journalctl`, looked for on PATH, or a path.
    pub program: OsString,
    /// Before all others: `--user`, `-D DIR`, `-M MACHINE`.
    pub args: Vec<OsString>,
}

impl Default for Journal {
    fn default() -> Journal {
        Journal { program: "journalctl".into(), args: Vec::new() }
    }
}

/// Bytes that are read backwards at most; a start that is farther back is not known.
const MOST_BACK: usize = 128 << 20;
/// Bytes of one line at most: journald's own bound of a field is far below.
const MOST_LINE: u64 = 16 << 20;
/// Names told to a user who may have mistyped.
const MOST_LIKE: usize = 8;
/// Of what journalctl says on stderr.
const MOST_SAID: u64 = 4096;

/// Its children end with this.
#[derive(Debug, Default)]
pub struct Children(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    running: Option<Child>,
    over: bool,
}

impl Drop for Children {
    fn drop(&mut self) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.over = true;
        end(&mut state);
    }
}

fn end(state: &mut State) {
    if let Some(mut child) = state.running.take() {
        // It may have ended by itself.
        let _ = child.kill();
        let _ = child.wait();
    }
}

/// JSON of journalctl, with any format inside.
pub fn layout() -> Layout {
    Layout { envelopes: vec![&journald::JSON], formats: corr_parsers::FORMATS.to_vec(), document: false }
}

/// Follows a unit's journal on a thread of its own, until the result is dropped or `send` says that nobody listens.
pub fn follow(
    source: u32,
    journal: Journal,
    unit: String,
    clock: Clock,
    send: impl Fn(Message) -> bool + Send + 'static,
) -> std::io::Result<Children> {
    let children = Children::default();
    let state = Arc::clone(&children.0);
    std::thread::Builder::new().name("corr-journal".into()).spawn(move || {
        let work = Work { source, journal, unit, clock, state, send };
        if let Err(what) = work.run() {
            (work.send)(Message::Fault { source, what });
            (work.send)(Message::CaughtUp { source });
        }
    })?;
    Ok(children)
}

struct Work<S> {
    source: u32,
    journal: Journal,
    unit: String,
    clock: Clock,
    state: Arc<Mutex<State>>,
    send: S,
}

impl<S: Fn(Message) -> bool> Work<S> {
    fn run(&self) -> Result<(), Fault> {
        let source = self.source;
        (self.send)(Message::Past { source, layout: Some(layout()), shift: 0 });
        let (lines, said) = self.back()?;
        let cursor = lines.first().and_then(|line| cursor(line));
        let mut place = 0;
        for line in lines.into_iter().rev() {
            self.bytes(&mut place, line, true);
        }
        if place == 0 {
            if said.contains("No journal files were found") {
                return Err(Fault::NoJournal);
            }
            if said.contains("ermission") || said.contains("not seeing messages") {
                return Err(Fault::NoPermission(first_line(&said)));
            }
        }
        if place == 0 {
            (self.send)(Message::Note { source, says: self.like() });
        }
        if !said.trim().is_empty() {
            (self.send)(Message::Note { source, says: format!("journalctl says: {}", first_line(&said)) });
        }
        (self.send)(Message::CaughtUp { source });
        let mut args: Vec<OsString> = vec!["-f".into(), "--no-tail".into()];
        if let Some(cursor) = cursor {
            args.push(format!("--after-cursor={cursor}").into());
        }
        let said = self.read(&args, true, |line| self.bytes(&mut place, line, false))?;
        if self.state.lock().unwrap_or_else(PoisonError::into_inner).over {
            return Ok(());
        }
        Err(Fault::Ended(if said.trim().is_empty() { "it said nothing".into() } else { first_line(&said) }))
    }

    fn bytes(&self, place: &mut u64, line: Vec<u8>, old: bool) -> bool {
        let at = *place;
        *place += line.len() as u64;
        let seen = Seen::Bytes { at, file: 0, offset: at, bytes: line };
        (self.send)(Message::Tail { source: self.source, seen, received: self.clock.wall(), old })
    }

    /// The lines of the newest run, newest first, and what was said on stderr.
    fn back(&self) -> Result<(Vec<Vec<u8>>, String), Fault> {
        let mut found = Vec::new();
        let mut bytes = 0;
        let mut run = Newest::default();
        let mut parser = Lines::new(self.source, None, false, Some(layout()), None);
        let said = self.read(&["-r".into()], true, |line| {
            let mut ends = false;
            parser.push(0, &line, 0, true);
            parser.turned(&mut |taken| ends |= run.take(&taken.seen));
            bytes += line.len();
            found.push(line);
            !ends && bytes < MOST_BACK
        })?;
        Ok((found, said))
    }

    /// Units of the journal that the user may have meant.
    fn like(&self) -> String {
        let words: Vec<&str> =
            self.unit.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 3 && *word != "service").collect();
        let mut like = Vec::new();
        // What cannot be asked is not told: that nothing of the unit is there was said already.
        let _ = self.read(&["-F".into(), "_SYSTEMD_UNIT".into()], false, |line| {
            let name = String::from_utf8_lossy(&line).trim().to_owned();
            if words.iter().any(|word| name.contains(word)) {
                like.push(name);
            }
            like.len() < MOST_LIKE
        });
        let like = if like.is_empty() { String::new() } else { format!("; units that are like it: {}", like.join(", ")) };
        format!("the journal has no entry of it yet{like}")
    }

    /// Runs journalctl, of the unit or of all, and gives its lines while `take` wants more. Returns what it said on stderr.
    fn read(&self, args: &[OsString], of_unit: bool, mut take: impl FnMut(Vec<u8>) -> bool) -> Result<String, Fault> {
        let program = self.journal.program.to_string_lossy().into_owned();
        let mut command = Command::new(&self.journal.program);
        command.args(&self.journal.args).args(["-o", "json", "--all", "--no-pager"]).args(args);
        if of_unit {
            command.arg("-u").arg(&self.unit);
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.over {
            return Ok(String::new());
        }
        let mut child = command.spawn().map_err(|error| match error.kind() {
            ErrorKind::NotFound => Fault::NoJournalctl(program.clone()),
            ErrorKind::PermissionDenied => Fault::NoPermission(format!("{program}: {error}")),
            _ => Fault::Unreadable(format!("{program}: {error}")),
        })?;
        let (out, err) = (child.stdout.take(), child.stderr.take());
        state.running = Some(child);
        drop(state);
        let errors = std::thread::spawn(move || {
            let mut said = Vec::new();
            if let Some(mut err) = err {
                let _ = err.by_ref().take(MOST_SAID).read_to_end(&mut said);
                // A child that nobody listens to would wait.
                let _ = std::io::copy(&mut err, &mut std::io::sink());
            }
            String::from_utf8_lossy(&said).into_owned()
        });
        if let Some(out) = out {
            let mut out = BufReader::with_capacity(64 << 10, out);
            loop {
                let mut line = Vec::new();
                match out.by_ref().take(MOST_LINE).read_until(b'\n', &mut line) {
                    Ok(n) if n > 0 && take(line) => {}
                    _ => break,
                }
            }
        }
        end(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner));
        Ok(errors.join().unwrap_or_default())
    }
}

fn first_line(said: &str) -> String {
    said.lines().next().unwrap_or_default().trim().to_owned()
}

/// The entry's own place in the journal.
fn cursor(line: &[u8]) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Entry {
        #[serde(rename = "__CURSOR")]
        cursor: String,
    }
    serde_json::from_slice::<Entry>(line).ok().map(|entry| entry.cursor)
}

/// Entries of a unit, newest first, up to systemd's last word on the run before its newest one. By that one the lines of the old run that
/// stand behind the new one's start are known for what they are, and why the new one was started.
#[derive(Debug, Default)]
struct Newest {
    invocation: String,
    ran: bool,
    begun: bool,
}

impl Newest {
    /// Is this entry the last that is needed?
    fn take(&mut self, seen: &Observation) -> bool {
        if seen.writer == Writer::Service {
            self.ran = true;
            return false;
        }
        let over = matches!(
            seen.fact,
            Fact::Stopped | Fact::Deactivated | Fact::Failed(_) | Fact::MainExited(_) | Fact::RestartScheduled(_) | Fact::StartFailed
        );
        let other = !self.invocation.is_empty() && !seen.invocation.is_empty() && self.invocation != seen.invocation;
        if other || self.begun || (over && self.ran) {
            return true;
        }
        if self.invocation.is_empty() {
            self.invocation.clone_from(&seen.invocation);
        }
        // `Started` of a type that prints `Starting` stands behind the program's first lines.
        self.ran |= matches!(seen.fact, Fact::Started | Fact::Finished);
        self.begun |= seen.fact == Fact::Starting;
        false
    }
}
