//! Where records go: one file of lines, or a file a scrape with an index beside them. Nothing that exists is overwritten.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::record::Record;

/// How a capture is laid out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// `raw_prometheus.jsonl`: every scrape a line, with its body.
    #[default]
    Lines,
    /// `NAME-STAMP.prom` for every body, and `scrapes.jsonl` with a line for every scrape.
    Files,
}

/// Why records cannot be kept.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    #[error("{}: {error}", path.display())]
    Io { path: PathBuf, error: io::Error },
    #[error("{} holds a capture already; --append goes on with it, or choose another folder", path.display())]
    Exists { path: PathBuf },
    #[error("{}: another corr scrape is writing there", path.display())]
    Busy { path: PathBuf },
}

/// An open capture.
#[derive(Debug)]
pub struct Output {
    folder: PathBuf,
    layout: Layout,
    path: PathBuf,
    lines: File,
    /// Length of the whole lines.
    whole: u64,
    mended: bool,
}

impl Output {
    /// Makes the folder, and the file in it. With `append` an existing one is continued; a line that was cut by a kill is ended first.
    pub fn open(folder: &Path, layout: Layout, append: bool) -> Result<Output, OutputError> {
        let io = |path: &Path| {
            let path = path.to_path_buf();
            move |error| OutputError::Io { path, error }
        };
        std::fs::create_dir_all(folder).map_err(io(folder))?;
        let path = folder.join(match layout {
            Layout::Lines => "raw_prometheus.jsonl",
            Layout::Files => "scrapes.jsonl",
        });
        let mut options = OpenOptions::new();
        options.read(true).write(true);
        if append {
            options.create(true).truncate(false);
        } else {
            options.create_new(true);
        }
        let mut lines = options.open(&path).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => OutputError::Exists { path: path.clone() },
            _ => OutputError::Io { path: path.clone(), error },
        })?;
        match lines.try_lock() {
            Ok(()) => {}
            Err(std::fs::TryLockError::WouldBlock) => return Err(OutputError::Busy { path }),
            // Some network file systems have no locks.
            Err(std::fs::TryLockError::Error(_)) => {}
        }
        let (whole, mended) = mend(&mut lines).map_err(io(&path))?;
        Ok(Output { folder: folder.to_path_buf(), layout, path, lines, whole, mended })
    }

    /// The file of lines.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether a line without an end was found and ended.
    pub fn mended(&self) -> bool {
        self.mended
    }

    /// Writes a record; gives the bytes written. After an error the file holds whole lines.
    pub fn keep(&mut self, record: &Record) -> Result<u64, OutputError> {
        let mut bytes = 0;
        let mut file = None;
        if let (Layout::Files, Ok(text)) = (self.layout, &record.body) {
            let name = format!("{}-{}.prom", record.target.slug(), record.at);
            let path = self.folder.join(&name);
            write_new(&path, text.as_bytes()).map_err(|error| OutputError::Io { path, error })?;
            bytes += text.len() as u64;
            file = Some(name);
        }
        let io = |error| OutputError::Io { path: self.path.clone(), error };
        let line = record.line(file.as_deref()).map_err(|e| io(e.into()))?;
        if let Err(error) = self.lines.write_all(&line) {
            // A disk that is full takes a part of a line.
            let _ = self.lines.set_len(self.whole);
            return Err(io(error));
        }
        self.whole += line.len() as u64;
        Ok(bytes + line.len() as u64)
    }
}

/// Goes to the end. A last line without its end gets one: it stays damaged, and the next is whole.
fn mend(file: &mut File) -> io::Result<(u64, bool)> {
    let end = file.seek(SeekFrom::End(0))?;
    if end == 0 {
        return Ok((0, false));
    }
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    if last == [b'\n'] {
        return Ok((end, false));
    }
    file.write_all(b"\n")?;
    Ok((end + 1, true))
}

fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let written = OpenOptions::new().write(true).create_new(true).open(path)?.write_all(bytes);
    if written.is_err() {
        // A cut body would read as a whole one with fewer series.
        let _ = std::fs::remove_file(path);
    }
    written
}
