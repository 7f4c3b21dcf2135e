//! A journal file, read through the `journalctl` on the PATH: the bytes of such a source are what `journalctl -o export` writes of it.
//!
//! The child gets no shell and nothing of the user's environment but the PATH. It writes into a pipe that only this process reads: a reader
//! that is dropped kills it, and if this process is killed, the child's next write ends it.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use corr_parsers::envelope::journald::binary;
use memchr::memmem;

use super::bytes::{Bytes, Compression, Opened, Spool};

/// So much of what the child says on standard error is kept, in bytes.
const SAID: usize = 4 << 10;
/// How long what it said is waited for after its end.
const SAID_WITHIN: Duration = Duration::from_secs(2);

/// Why a journal cannot be read, and what to do.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{why}; {next}")]
pub struct Failed {
    pub why: String,
    pub next: String,
}

impl From<Failed> for io::Error {
    fn from(failed: Failed) -> io::Error {
        io::Error::other(failed)
    }
}

/// The `journalctl` that would read a journal now, by what it says of itself: `journalctl 252 (252.38-1~deb12u1)`. `None` where there is none.
pub fn version() -> Option<&'static str> {
    static VERSION: OnceLock<Option<String>> = OnceLock::new();
    let ask = || {
        let output = command().arg("--version").stderr(Stdio::null()).output().ok()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let first = text.lines().next().unwrap_or("").trim();
        let number = first.strip_prefix("systemd ").unwrap_or(first);
        Some(if number.is_empty() { "journalctl of an unknown version".into() } else { format!("journalctl {number}") })
    };
    VERSION.get_or_init(ask).as_deref()
}

/// Reads a journal whole.
pub fn open(path: &Path) -> io::Result<Opened> {
    let mut reader = Reader::start(path)?;
    let mut spool = Spool::default();
    let broken = spool.fill(&mut reader.out)?;
    let bytes = spool.finish()?;
    let damage = reader.judge(&bytes)?.or(broken);
    Ok(Opened { bytes, compression: Compression::Journal, damage })
}

/// The first `limit` bytes of a journal's export, and whether that is all.
pub fn head(path: &Path, limit: usize) -> io::Result<(Vec<u8>, bool)> {
    let mut reader = Reader::start(path)?;
    let mut bytes = Vec::new();
    reader.out.by_ref().take(limit as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > limit {
        bytes.truncate(limit);
        return Ok((bytes, false));
    }
    let bytes = Bytes::Held(bytes);
    reader.judge(&bytes)?;
    Ok((bytes.to_vec(), true))
}

/// What to do about a journal that this corr cannot have read. `shown` is the journal's path where it has one.
pub fn export_it(shown: Option<&Path>) -> String {
    let Some(path) = shown else { return "read it where it lies: `journalctl --file=FILE -o export --all > FILE.export`".into() };
    let mut export = path.as_os_str().to_os_string();
    export.push(".export");
    format!("`journalctl --file={} -o export --all > {}`", quoted(&literal(path)), quoted(&export))
}

struct Reader {
    child: Child,
    out: ChildStdout,
    said: Receiver<Vec<u8>>,
    path: Box<Path>,
    /// How many entries the file says that it holds.
    entries: u64,
}

impl Reader {
    fn start(path: &Path) -> io::Result<Reader> {
        let mut head = Vec::new();
        File::open(path)?.take(binary::HEAD as u64).read_to_end(&mut head)?;
        let entries = binary::read(&head).map_or(0, |journal| journal.entries);
        let mut file = OsString::from("--file=");
        file.push(literal(&std::path::absolute(path)?));
        let child = command().arg(file).args(["--output=export", "--all", "--no-pager", "--quiet"]).stderr(Stdio::piped()).spawn();
        let mut child = child.map_err(|error| {
            let why = match error.kind() {
                io::ErrorKind::NotFound => "a systemd journal file, and there is no journalctl on the PATH to read it".into(),
                _ => format!("a systemd journal file, and journalctl cannot be run ({error})"),
            };
            Failed { why, next: format!("on a machine that has it: {}, and give corr that file", export_it(Some(path))) }
        })?;
        let (Some(out), Some(mut err)) = (child.stdout.take(), child.stderr.take()) else {
            return Err(io::Error::other("journalctl has no output"));
        };
        let (send, said) = channel();
        std::thread::spawn(move || {
            let mut kept = Vec::new();
            // What cannot be read of it is not there to be reported; the rest is read so that the child never waits.
            let _ = err.by_ref().take(SAID as u64).read_to_end(&mut kept);
            let _ = io::copy(&mut err, &mut io::sink());
            let _ = send.send(kept);
        });
        Ok(Reader { child, out, said, path: path.into(), entries })
    }

    /// Waits for the child's end, when all was read: what is wrong with what it gave, if anything.
    fn judge(&mut self, bytes: &Bytes) -> Result<Option<String>, io::Error> {
        let status = self.child.wait()?;
        let said = self.said.recv_timeout(SAID_WITHIN).unwrap_or_default();
        let said = String::from_utf8_lossy(&said).split_whitespace().collect::<Vec<_>>().join(" ");
        let wrong = wrong(status, &said, entries_of(bytes), self.entries);
        match wrong {
            Some(why) if bytes.is_empty() => {
                let next = format!(
                    "copy it again if it was cut short, or, where a newer journalctl reads it: {}, and give corr that file",
                    export_it(Some(&self.path))
                );
                Err(Failed { why: format!("a systemd journal file that {} does not read: {why}", version().unwrap_or("journalctl")), next }
                    .into())
            }
            wrong => Ok(wrong),
        }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        // Both fail only where it has ended and was waited for.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn wrong(status: ExitStatus, said: &str, given: u64, entries: u64) -> Option<String> {
    let mut parts = Vec::new();
    if !status.success() {
        parts.push(format!("journalctl ended with {status}"));
    }
    if given < entries {
        parts.push(format!("journalctl gave {given} of {entries} entries"));
    }
    if !said.is_empty() {
        parts.push(format!("journalctl says: {said}"));
    }
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// Entries of an export, counted by their first field. A message that quotes one counts too: no entry too few is missed, one too many may be.
fn entries_of(bytes: &[u8]) -> u64 {
    const FIRST: &[u8] = b"__CURSOR=";
    memmem::find_iter(bytes, FIRST).filter(|&at| at == 0 || bytes[at - 1] == b'\n').count() as u64
}

fn command() -> Command {
    let mut command = Command::new("journalctl");
    command.env_clear().env("LC_ALL", "C").env("TZ", "UTC").env("SYSTEMD_COLORS", "0").env("SYSTEMD_LOG_TARGET", "console");
    if let Some(path) = std::env::var_os("PATH") {
        command.env("PATH", path);
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    command
}

/// `--file` takes a glob: a path that means itself.
fn literal(path: &Path) -> OsString {
    rewritten(path.as_os_str(), |byte, out| {
        if matches!(byte, b'*' | b'?' | b'[' | b']' | b'\\') {
            out.push(b'\\');
        }
        out.push(byte);
    })
}

/// For a shell, in quotes where it needs them.
fn quoted(word: &std::ffi::OsStr) -> String {
    let shown = word.to_string_lossy();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-@+=:,%".contains(c);
    if shown.chars().all(is_plain) && !shown.starts_with('-') { shown.into_owned() } else { format!("'{}'", shown.replace('\'', r"'\''")) }
}

#[cfg(unix)]
fn rewritten(text: &std::ffi::OsStr, each: fn(u8, &mut Vec<u8>)) -> OsString {
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    let mut out = Vec::with_capacity(text.len());
    text.as_bytes().iter().for_each(|&byte| each(byte, &mut out));
    OsString::from_vec(out)
}

#[cfg(not(unix))]
fn rewritten(text: &std::ffi::OsStr, _each: fn(u8, &mut Vec<u8>)) -> OsString {
    text.to_os_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_neither_options_nor_globs_nor_shell() {
        assert_eq!(literal(Path::new("/a[1]*?\\b.journal")), OsString::from(r"/a\[1\]\*\?\\b.journal"));
        assert_eq!(
            export_it(Some(Path::new("it's [1].journal"))),
            r"`journalctl --file='it'\''s \[1\].journal' -o export --all > 'it'\''s [1].journal.export'`"
        );
        assert_eq!(export_it(Some(Path::new("-x.journal"))), "`journalctl --file='-x.journal' -o export --all > '-x.journal.export'`");
    }

    #[test]
    fn entries_are_counted_at_the_beginning_of_lines() {
        assert_eq!(entries_of(b"__CURSOR=a\nMESSAGE=__CURSOR=b\n\n__CURSOR=c\n\n"), 2);
        assert_eq!(entries_of(b""), 0);
    }
}
