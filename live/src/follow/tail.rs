//! The bytes that are added to a file, through rotation and truncation.
//!
//! One thread a file looks at it forty times a second: a slow file system holds up no other file, and notification of the kernel (which
//! network file systems do not give) is not needed for a delay below a tenth of a second.
//!
//! All that was read of a path is one source: the bytes of one file follow those of the file before. [`super::cited`] turns a place in it
//! back into a file and an offset.

use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Between two looks at a file.
pub const EVERY: Duration = Duration::from_millis(25);

/// Read in one piece.
const CHUNK: usize = 256 << 10;

/// Read of one file in one look: what is more waits for the next.
const MOST: usize = 16 << 20;

/// A writer may go on in a file that was renamed until it opens the new one.
const LEFT_FOR: Duration = Duration::from_secs(10);

/// So many bytes before the read place are compared: a file that was rewritten in place may be longer than it was.
const SEAL: usize = 64;

/// What a look at a file gives.
#[derive(Debug, PartialEq, Eq)]
pub enum Seen {
    /// Bytes at a place of the source, and where they stand: in the path's first, second … file, at an offset.
    Bytes { at: u64, file: u32, offset: u64, bytes: Vec<u8> },
    /// Another file, or the same from its beginning: `offset` 0 of it is at this place of the source. What was not ended by a line end is over.
    Turned { at: u64, how: Turn },
    /// It is not there (yet), or cannot be read.
    Trouble { kind: ErrorKind, what: String },
    /// It can be read (again).
    Opened,
}

/// Why reading begins anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// Another file has the name.
    Rotated,
    /// It is shorter than it was, or holds other bytes.
    Truncated,
}

/// A file that is read to its end.
#[derive(Debug)]
struct Open {
    file: File,
    id: Option<(u64, u64)>,
    /// Which of the path's files it is, from 0; a truncated one is another.
    number: u32,
    /// Offset of the next byte in this file.
    at: u64,
    seal: Vec<u8>,
    /// Nothing but zeros so far: a writer without append leaves a hole where the file was cut.
    hole: bool,
}

/// One path, followed.
#[derive(Debug)]
pub struct Tail {
    path: PathBuf,
    open: Option<Open>,
    /// What was open until it could not be read: how far it was read, and what stood there.
    lost: Option<Open>,
    /// Renamed files, which may still grow, and since when.
    left: Vec<(Open, Instant)>,
    /// The next byte's place in the source.
    place: u64,
    /// Files so far.
    files: u32,
    trouble: Option<ErrorKind>,
}

#[cfg(unix)]
fn id(meta: &std::fs::Metadata) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    Some((meta.dev(), meta.ino()))
}

/// Rotation shows as truncation there.
#[cfg(not(unix))]
fn id(_: &std::fs::Metadata) -> Option<(u64, u64)> {
    None
}

impl Tail {
    /// Nothing is opened yet.
    pub fn new(path: &Path) -> Tail {
        Tail { path: path.to_owned(), open: None, lost: None, left: Vec::new(), place: 0, files: 0, trouble: None }
    }

    /// Opens the path for the first time, if it is there, to be read from `from` on: `from` gets the file and its length.
    pub fn begin(&mut self, from: impl FnOnce(&mut File, u64) -> u64, say: &mut impl FnMut(Seen)) {
        let Some(mut open) = self.try_open(say) else { return };
        let len = open.file.metadata().map_or(0, |meta| meta.len());
        let at = from(&mut open.file, len).min(len);
        open.at = at;
        open.number = self.another();
        self.place = at;
        self.open = Some(open);
    }

    fn try_open(&mut self, say: &mut impl FnMut(Seen)) -> Option<Open> {
        let found = File::open(&self.path).and_then(|file| {
            let meta = file.metadata()?;
            if meta.is_dir() { Err(std::io::Error::new(ErrorKind::IsADirectory, "it is a folder")) } else { Ok((file, meta)) }
        });
        match found {
            Ok((file, meta)) => Some(Open { file, id: id(&meta), number: 0, at: 0, seal: Vec::new(), hole: true }),
            Err(error) => {
                self.fault(&error, say);
                None
            }
        }
    }

    /// Says a fault once.
    fn fault(&mut self, error: &std::io::Error, say: &mut impl FnMut(Seen)) {
        if self.trouble != Some(error.kind()) {
            self.trouble = Some(error.kind());
            say(Seen::Trouble { kind: error.kind(), what: error.to_string() });
        }
    }

    /// The number of one more file.
    fn another(&mut self) -> u32 {
        self.files += 1;
        self.files - 1
    }

    /// One look: everything that was added since the last.
    pub fn look(&mut self, say: &mut impl FnMut(Seen)) {
        // A fault of the path's newer file stays while the older one is read.
        let again = self.open.is_none();
        if again {
            self.reopen(say);
        }
        // What stands in renamed files came before what stands in the new one.
        let now = Instant::now();
        for (left, since) in &mut self.left {
            if matches!(left.read(&mut self.place, say), Ok(true)) {
                *since = now;
            }
        }
        self.left.retain(|(_, since)| now.saturating_duration_since(*since) < LEFT_FOR);
        let Some(open) = &mut self.open else { return };
        let read = open.rewritten().and_then(|rewritten| {
            if rewritten {
                open.begin_again(self.files);
                self.files += 1;
                say(Seen::Turned { at: self.place, how: Turn::Truncated });
            }
            if again { open.read_again(&mut self.place, &mut self.trouble, say) } else { open.read(&mut self.place, say).map(drop) }
        });
        match read {
            Ok(()) => self.turn(say),
            Err(error) => {
                self.lost = self.open.take();
                self.fault(&error, say);
            }
        }
    }

    /// Opens the path. What was open before and could not be read goes on where it was, if this is it.
    fn reopen(&mut self, say: &mut impl FnMut(Seen)) {
        let Some(mut new) = self.try_open(say) else { return };
        match self.lost.take() {
            None => new.number = self.another(),
            Some(mut old) if old.id != new.id => {
                // What is left of it, if it can be read again.
                let _ = old.read(&mut self.place, say);
                self.left.push((old, Instant::now()));
                new.number = self.another();
                say(Seen::Turned { at: self.place, how: Turn::Rotated });
            }
            Some(old) => {
                new = Open { file: new.file, ..old };
                match new.is_another() {
                    Ok(false) => {}
                    Ok(true) => {
                        new.begin_again(self.another());
                        say(Seen::Turned { at: self.place, how: Turn::Truncated });
                    }
                    Err(error) => {
                        self.lost = Some(new);
                        self.fault(&error, say);
                        return;
                    }
                }
            }
        }
        self.open = Some(new);
    }

    /// Goes over to the file that has the name now. A name that nobody has is a rotation in the middle.
    fn turn(&mut self, say: &mut impl FnMut(Seen)) {
        let (Some(open), Ok(meta)) = (&self.open, std::fs::metadata(&self.path)) else { return };
        if id(&meta) == open.id || open.id.is_none() {
            return;
        }
        let Some(mut new) = self.try_open(say) else { return };
        new.number = self.another();
        let Some(old) = self.open.replace(new) else { return };
        self.left.push((old, Instant::now()));
        say(Seen::Turned { at: self.place, how: Turn::Rotated });
        if let Some(new) = &mut self.open
            && let Err(error) = new.read_again(&mut self.place, &mut self.trouble, say)
        {
            self.lost = self.open.take();
            self.fault(&error, say);
        }
    }
}

impl Open {
    /// Is it shorter than what was read, or does it hold other bytes there?
    fn rewritten(&mut self) -> std::io::Result<bool> {
        let len = self.file.metadata()?.len();
        if len < self.at {
            return Ok(true);
        }
        // Nothing new: nothing to compare, in most looks.
        if len == self.at {
            return Ok(false);
        }
        self.differs()
    }

    /// After it was opened anew: is it not what was read before?
    fn is_another(&mut self) -> std::io::Result<bool> {
        Ok(self.file.metadata()?.len() < self.at || self.differs()?)
    }

    /// Nothing of it is read yet, and it is the path's file of this number.
    fn begin_again(&mut self, number: u32) {
        (self.at, self.number, self.hole) = (0, number, true);
        self.seal.clear();
    }

    /// Are the last bytes that were read others now?
    fn differs(&mut self) -> std::io::Result<bool> {
        if self.seal.is_empty() {
            return Ok(false);
        }
        let from = self.at.saturating_sub(self.seal.len() as u64);
        self.file.seek(SeekFrom::Start(from))?;
        let mut there = vec![0; self.seal.len()];
        match self.file.read_exact(&mut there) {
            Ok(()) => Ok(there != self.seal),
            // It was cut between the two questions.
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(true),
            Err(error) => Err(error),
        }
    }

    /// Reads to the end of what was opened just now, and says before what it holds that it can be read, if it could not.
    fn read_again(&mut self, place: &mut u64, trouble: &mut Option<ErrorKind>, say: &mut impl FnMut(Seen)) -> std::io::Result<()> {
        self.read(place, &mut |seen| {
            if trouble.take().is_some() {
                say(Seen::Opened);
            }
            say(seen);
        })?;
        // One that holds nothing can be read as well.
        if trouble.take().is_some() {
            say(Seen::Opened);
        }
        Ok(())
    }

    /// Reads to the end; was there anything?
    fn read(&mut self, place: &mut u64, say: &mut impl FnMut(Seen)) -> std::io::Result<bool> {
        self.file.seek(SeekFrom::Start(self.at))?;
        let mut total = 0;
        while total < MOST {
            let mut bytes = vec![0; CHUNK];
            let n = match self.file.read(&mut bytes) {
                Ok(0) => break,
                Ok(n) => n,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            bytes.truncate(n);
            let offset = self.at;
            self.at += n as u64;
            total += n;
            self.seal.extend_from_slice(bytes.get(n.saturating_sub(SEAL)..).unwrap_or_default());
            let over = self.seal.len().saturating_sub(SEAL);
            self.seal.drain(..over);
            let zeros = if self.hole { bytes.iter().position(|byte| *byte != 0).unwrap_or(n) } else { 0 };
            self.hole &= zeros == n;
            bytes.drain(..zeros);
            let (at, offset) = (*place + zeros as u64, offset + zeros as u64);
            *place += n as u64;
            if !bytes.is_empty() {
                say(Seen::Bytes { at, file: self.number, offset, bytes });
            }
        }
        Ok(total > 0)
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{OpenOptions, read, rename, write};
    use std::io::Write;

    use super::*;

    fn add(path: &Path, text: &str) {
        OpenOptions::new().append(true).create(true).open(path).unwrap().write_all(text.as_bytes()).unwrap();
    }

    /// One look as text: `@` marks a turn.
    fn look(tail: &mut Tail) -> String {
        let mut all = String::new();
        tail.look(&mut |seen| match seen {
            Seen::Bytes { bytes, .. } => all += std::str::from_utf8(&bytes).unwrap(),
            Seen::Turned { how, .. } => all += &format!("@{how:?} "),
            Seen::Trouble { kind, .. } => all += &format!("!{kind:?} "),
            Seen::Opened => all += "+",
        });
        all
    }

    #[test]
    fn a_file_is_read_through_rotation_and_truncation() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.log");
        let mut tail = Tail::new(&path);
        assert_eq!((look(&mut tail), look(&mut tail)), ("!NotFound ".into(), String::new()), "said once");
        add(&path, "one\n");
        assert_eq!(look(&mut tail), "+one\n");
        // The writer still has the old file, and goes on in it after the rename.
        let mut writer = OpenOptions::new().append(true).open(&path).unwrap();
        let old = folder.path().join("a.log.1");
        rename(&path, &old).unwrap();
        writer.write_all(b"two\n").unwrap();
        assert_eq!(look(&mut tail), "two\n");
        add(&path, "four\n");
        assert_eq!(look(&mut tail), "@Rotated four\n");
        writer.write_all(b"three, late\n").unwrap();
        assert_eq!(look(&mut tail), "three, late\n");
        write(&path, "a\n").unwrap();
        assert_eq!(look(&mut tail), "@Truncated a\n");
        // Rewritten, and longer than before.
        write(&path, "much longer than it was\n").unwrap();
        assert_eq!(look(&mut tail), "@Truncated much longer than it was\n");
        std::fs::remove_file(&path).unwrap();
        assert_eq!(look(&mut tail), "");
        add(&path, "again\n");
        assert_eq!(look(&mut tail), "@Rotated again\n");
        assert_eq!(read(&old).unwrap(), b"one\ntwo\nthree, late\n");
    }

    /// Makes the file that is open unreadable, as a network file system does for a while.
    fn break_off(tail: &mut Tail, path: &Path) {
        tail.open.as_mut().unwrap().file = OpenOptions::new().append(true).open(path).unwrap();
    }

    #[test]
    fn a_file_that_cannot_be_read_for_a_while_goes_on_where_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.log");
        write(&path, "one\ntwo\n").unwrap();
        let mut tail = Tail::new(&path);
        assert_eq!(look(&mut tail), "one\ntwo\n");
        break_off(&mut tail, &path);
        add(&path, "three\n");
        let said = look(&mut tail);
        assert!(said.starts_with('!') && !said.contains('@'), "{said}");
        let mut seen = Vec::new();
        tail.look(&mut |one| seen.push(one));
        assert_eq!(seen, [Seen::Opened, Seen::Bytes { at: 8, file: 0, offset: 8, bytes: b"three\n".to_vec() }]);
        // Nothing came meanwhile.
        break_off(&mut tail, &path);
        assert!(look(&mut tail).starts_with('!'));
        assert_eq!((look(&mut tail), look(&mut tail)), ("+".into(), String::new()));
    }

    #[test]
    fn a_fault_that_stays_is_said_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.log");
        write(&path, "one\n").unwrap();
        let mut tail = Tail::new(&path);
        look(&mut tail);
        break_off(&mut tail, &path);
        add(&path, "two\n");
        assert!(look(&mut tail).starts_with('!'));
        for _ in 0..3 {
            tail.reopen(&mut |seen| panic!("{seen:?}"));
            break_off(&mut tail, &path);
            assert_eq!(look(&mut tail), "");
        }
        assert_eq!(look(&mut tail), "+two\n");
    }

    #[test]
    fn a_file_that_was_written_anew_while_it_could_not_be_read_is_truncated() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.log");
        // As long as before, shorter, longer.
        for anew in ["uno\n", "1\n", "one, two\n"] {
            write(&path, "one\n").unwrap();
            let mut tail = Tail::new(&path);
            assert_eq!(look(&mut tail), "one\n");
            break_off(&mut tail, &path);
            write(&path, anew).unwrap();
            let said = look(&mut tail);
            if anew.len() < 4 {
                // Its length alone showed that, by the handle that is there.
                assert!(said.starts_with("@Truncated !"), "{said}");
                assert_eq!(look(&mut tail), format!("+{anew}"));
            } else {
                assert!(said.starts_with('!') && !said.contains('@'), "{said}");
                assert_eq!(look(&mut tail), format!("@Truncated +{anew}"));
            }
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_new_file_that_cannot_be_opened_is_said_once_while_the_old_one_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let (path, old) = (folder.path().join("a.log"), folder.path().join("a.log.1"));
        write(&path, "one\n").unwrap();
        let mut tail = Tail::new(&path);
        assert_eq!(look(&mut tail), "one\n");
        rename(&path, &old).unwrap();
        std::fs::create_dir(&path).unwrap();
        assert_eq!(look(&mut tail), "!IsADirectory ");
        for more in ["two\n", "", "three\n"] {
            add(&old, more);
            assert_eq!(look(&mut tail), more);
        }
        std::fs::remove_dir(&path).unwrap();
        write(&path, "four\n").unwrap();
        assert_eq!(look(&mut tail), "@Rotated +four\n");
    }

    #[test]
    fn a_file_that_was_rotated_while_it_could_not_be_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.log");
        write(&path, "one\n").unwrap();
        let mut tail = Tail::new(&path);
        assert_eq!(look(&mut tail), "one\n");
        break_off(&mut tail, &path);
        rename(&path, folder.path().join("a.log.1")).unwrap();
        assert!(look(&mut tail).starts_with('!'));
        assert_eq!(look(&mut tail), "!NotFound ");
        write(&path, "two\n").unwrap();
        assert_eq!(look(&mut tail), "@Rotated +two\n");
    }

    #[test]
    fn places_go_on_over_files() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.log");
        write(&path, "0123456789").unwrap();
        let mut tail = Tail::new(&path);
        tail.begin(|_, len| len - 2, &mut |_| {});
        let mut places = Vec::new();
        let mut note = |seen| {
            if let Seen::Bytes { at, file, offset, bytes } = seen {
                places.push((at, file, offset, bytes.len()));
            }
        };
        tail.look(&mut note);
        rename(&path, folder.path().join("b")).unwrap();
        write(&path, "xyz").unwrap();
        tail.look(&mut note);
        assert_eq!(places, [(8, 0, 8, 2), (10, 1, 0, 3)]);
    }

    #[test]
    fn the_hole_of_a_writer_that_does_not_append_is_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.log");
        let mut writer = File::create(&path).unwrap();
        writer.write_all(&[b'x'; 1000]).unwrap();
        writer.write_all(b"\n").unwrap();
        let mut tail = Tail::new(&path);
        assert_eq!(look(&mut tail).len(), 1001);
        // What `copytruncate` does: the writer goes on where it was.
        File::options().write(true).open(&path).unwrap().set_len(0).unwrap();
        writer.write_all(b"on\n").unwrap();
        let mut seen = Vec::new();
        tail.look(&mut |one| seen.push(one));
        let turned = Seen::Turned { at: 1001, how: Turn::Truncated };
        assert_eq!(seen, [turned, Seen::Bytes { at: 2002, file: 1, offset: 1001, bytes: b"on\n".to_vec() }]);
    }

    #[test]
    fn a_folder_is_no_log() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(look(&mut Tail::new(folder.path())), "!IsADirectory ");
    }
}
