//! A file that may be a capture, and what it begins with.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};

use super::guard::guarded;
use super::{Part, ipc};

/// A file, looked into.
#[derive(Clone, Debug)]
pub struct Candidate {
    pub path: PathBuf,
    /// Path below the run's root, with `/`.
    pub key: String,
    /// Nanoseconds since the epoch at which it was last written.
    pub modified: Option<i64>,
    pub head: Head,
}

/// What a file begins with.
#[derive(Clone, Debug)]
pub enum Head {
    /// A Parquet file's footer.
    Parquet(Arc<ArrowReaderMetadata>),
    /// The schema of an Arrow IPC stream or file.
    Arrow(SchemaRef),
    /// The first bytes, decompressed.
    Text(Bytes),
    /// A Parquet or Arrow file that cannot be read, with the reason.
    Damaged(String),
    /// Bytes that are neither, or a file that could not be opened, with the reason.
    Other(String),
}

/// Bytes that are shared, not copied.
pub type Bytes = Arc<[u8]>;

/// So much of a text is looked at.
const HEAD: u64 = 64 * 1024;

impl Candidate {
    /// As part of a set.
    pub fn part(&self) -> Part {
        Part { path: self.path.clone(), key: self.key.clone() }
    }

    /// The folder of its key; empty at the root.
    pub fn folder(&self) -> &str {
        self.key.rsplit_once('/').map_or("", |(folder, _)| folder)
    }

    /// The last part of its key.
    pub fn name(&self) -> &str {
        self.key.rsplit_once('/').map_or(&self.key, |(_, name)| name)
    }

    /// Schema of a table's columns.
    pub fn schema(&self) -> Option<&SchemaRef> {
        match &self.head {
            Head::Parquet(metadata) => Some(metadata.schema()),
            Head::Arrow(schema) => Some(schema),
            _ => None,
        }
    }

    /// The first bytes of a text.
    pub fn text(&self) -> Option<&[u8]> {
        match &self.head {
            Head::Text(bytes) => Some(bytes),
            _ => None,
        }
    }
}

/// Looks into a file.
pub fn look(path: &Path, key: &str) -> Candidate {
    let modified = std::fs::metadata(path)
        .and_then(|m| m.modified())
        .ok()
        .and_then(|t| t.duration_since(std::time::UNIX_EPOCH).ok())
        .and_then(|d| i64::try_from(d.as_nanos()).ok());
    let head = head(path).unwrap_or_else(|e| Head::Other(e.to_string()));
    Candidate { path: path.to_path_buf(), key: key.to_string(), modified, head }
}

fn head(path: &Path) -> io::Result<Head> {
    let mut file = File::open(path)?;
    let mut magic = [0; 8];
    let n = read_up_to(&mut file, &mut magic)?;
    let magic = &magic[..n];
    if magic.starts_with(b"PAR1") {
        let footer = File::open(path)?;
        return Ok(match guarded(|| ArrowReaderMetadata::load(&footer, ArrowReaderOptions::new())) {
            Ok(metadata) => Head::Parquet(Arc::new(metadata)),
            Err(e) => Head::Damaged(format!("a Parquet file whose footer cannot be read: {e}")),
        });
    }
    if magic.starts_with(b"ARROW1") || magic.starts_with(&[0xff, 0xff, 0xff, 0xff]) {
        return Ok(match ipc::open(path, None) {
            Ok((reader, _)) => Head::Arrow(reader.schema()),
            Err(e) => Head::Damaged(format!("an Arrow stream or file that cannot be read: {e}")),
        });
    }
    let mut bytes = Vec::new();
    match open(path)?.take(HEAD).read_to_end(&mut bytes) {
        Ok(_) => {}
        // Packed bytes that end early still say what they began with.
        Err(_) if !bytes.is_empty() => {}
        Err(e) => return Err(e),
    }
    if bytes.contains(&0) {
        return Ok(Head::Other("binary".into()));
    }
    Ok(Head::Text(bytes.into()))
}

fn read_up_to(from: &mut impl Read, into: &mut [u8]) -> io::Result<usize> {
    let mut n = 0;
    while n < into.len() {
        match from.read(&mut into[n..])? {
            0 => break,
            more => n += more,
        }
    }
    Ok(n)
}

/// Opens a text for reading; gzip (of one or many members) and zstd are unpacked.
pub fn open(path: &Path) -> io::Result<Box<dyn Read>> {
    let mut magic = [0; 4];
    let n = read_up_to(&mut File::open(path)?, &mut magic)?;
    let file = BufReader::with_capacity(1 << 17, File::open(path)?);
    Ok(match &magic[..n] {
        [0x1f, 0x8b, ..] => Box::new(flate2::bufread::MultiGzDecoder::new(file)),
        [0x28, 0xb5, 0x2f, 0xfd] => Box::new(zstd::stream::read::Decoder::with_buffer(file)?),
        _ => Box::new(file),
    })
}

/// Reads a whole text of at most `limit` bytes unpacked; an error says that it is larger. For layouts that are one document.
pub fn open_at_most(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("more than {limit} bytes in one document")));
    }
    Ok(bytes)
}
