//! A source's bytes, whatever they stand in: a plain file, gzip, zstd, a journal file, standard input.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Deref;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use corr_metrics::blocks::{Area, Spill, Spilling, spill_by_default};
use corr_parsers::envelope::journald::binary;

use super::journal;

/// Files up to this size are read; larger ones are mapped, so that memory stays flat in the input.
const READ_BELOW: u64 = 256 << 10;
/// Files of a store from this size on are mapped.
const MAP_STORE_FROM: u64 = 64 << 10;
/// Decompressed bytes are held up to this size; larger ones are spooled to an unnamed temporary file and mapped.
const HOLD_BELOW: usize = 4 << 20;

/// How a source is packed. Offsets always count decompressed bytes, of a journal the bytes of its export.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Compression {
    None,
    Gzip,
    Zstd,
    /// A journal file, which journalctl reads.
    Journal,
}

/// So many first bytes tell how a source is packed.
const TELLING: usize = binary::MAGIC.len();

/// The decompressed bytes of a source.
#[derive(Debug)]
pub enum Bytes {
    Held(Vec<u8>),
    Mapped(memmap2::Mmap),
    /// Standard input, which is read once for the whole process.
    Shared(&'static [u8]),
}

impl Deref for Bytes {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        match self {
            Bytes::Held(bytes) => bytes,
            Bytes::Mapped(map) => map,
            Bytes::Shared(bytes) => bytes,
        }
    }
}

impl AsRef<[u8]> for Bytes {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

/// A source, opened.
#[derive(Debug)]
pub struct Opened {
    pub bytes: Bytes,
    pub compression: Compression,
    /// The stream broke off or is damaged: what was read before is in `bytes`, this says what is wrong.
    pub damage: Option<String>,
}

/// Which packing the first bytes show; the name is not asked, so `.gz` files that are plain text are read as text.
pub fn compression(head: &[u8]) -> Compression {
    match head {
        [0x1f, 0x8b, ..] => Compression::Gzip,
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Compression::Zstd,
        head if binary::is_journal(head) => Compression::Journal,
        _ => Compression::None,
    }
}

/// Opens a source whole. A damaged stream is not an error: what could be read is returned with the damage.
pub fn open(path: &Path) -> io::Result<Opened> {
    if path.as_os_str() == "-" {
        let read = standard_input()?;
        return Ok(Opened { bytes: Bytes::Shared(&read.bytes), compression: read.compression, damage: read.damage.clone() });
    }
    let mut file = File::open(path)?;
    let size = file.metadata()?.len();
    let mut head = [0u8; TELLING];
    let got = read_up_to(&mut file, &mut head)?;
    file.seek(SeekFrom::Start(0))?;
    let packed = compression(&head[..got]);
    let named_packed = path.extension().is_some_and(|e| e == "gz" || e == "zst");
    if packed == Compression::None {
        let damage = (size == 0 && named_packed).then(|| "the file is empty: not even a compression header was written".to_string());
        let bytes = if size < READ_BELOW {
            let mut bytes = Vec::with_capacity(size as usize + 1);
            file.read_to_end(&mut bytes)?;
            Bytes::Held(bytes)
        } else {
            Bytes::Mapped(map(&file)?)
        };
        return Ok(Opened { bytes, compression: Compression::None, damage });
    }
    if packed == Compression::Journal {
        return journal::open(path);
    }
    unpack(file, Some(packed))
}

/// Standard input, read to its end when it is first asked for.
fn standard_input() -> io::Result<&'static Opened> {
    static READ: OnceLock<Result<Opened, (io::ErrorKind, String)>> = OnceLock::new();
    let read = READ.get_or_init(|| unpack(io::stdin().lock(), None).map_err(|e| (e.kind(), e.to_string())));
    read.as_ref().map_err(|(kind, text)| io::Error::new(*kind, text.clone()))
}

/// Opens a file of a store, which is never changed once it is there: mapped unless it is tiny, since a question reads a few pages of it.
pub fn open_store_file(path: &Path) -> io::Result<Bytes> {
    let mut file = File::open(path)?;
    if file.metadata()?.len() >= MAP_STORE_FROM {
        return Ok(Bytes::Mapped(map(&file)?));
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(Bytes::Held(bytes))
}

/// The first `limit` decompressed bytes, and whether that is all there is.
pub fn head(path: &Path, limit: usize) -> io::Result<(Vec<u8>, bool)> {
    if path.as_os_str() == "-" {
        let bytes = &standard_input()?.bytes;
        return Ok((bytes[..bytes.len().min(limit)].to_vec(), bytes.len() <= limit));
    }
    let mut file = File::open(path)?;
    let mut magic = [0u8; TELLING];
    let got = read_up_to(&mut file, &mut magic)?;
    file.seek(SeekFrom::Start(0))?;
    let mut bytes = Vec::new();
    let limited = limit as u64 + 1;
    let outcome = match compression(&magic[..got]) {
        Compression::None => file.take(limited).read_to_end(&mut bytes),
        Compression::Gzip => flate2::read::MultiGzDecoder::new(file).take(limited).read_to_end(&mut bytes),
        Compression::Zstd => zstd::Decoder::new(file).and_then(|d| d.take(limited).read_to_end(&mut bytes)),
        Compression::Journal => return journal::head(path, limit),
    };
    // A stream that breaks off still shows what it is by what came before.
    if let Err(error) = outcome
        && bytes.is_empty()
        && compression(&magic[..got]) == Compression::None
    {
        return Err(error);
    }
    let whole = bytes.len() <= limit;
    bytes.truncate(limit);
    Ok((bytes, whole))
}

/// Samples that are too many to hold: a file without a name.
#[derive(Debug)]
struct SampleFile(File);

impl Spill for SampleFile {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes)
    }

    fn view(&self) -> io::Result<Area> {
        Ok(Arc::new(Bytes::Mapped(map(&self.0)?)))
    }
}

/// Of each capture that is read from now on at most so many bytes of samples are held, the others are in a temporary file. What was said first stays.
pub fn hold_samples(above: usize) {
    spill_by_default(Spilling { above, open: || Ok(Box::new(SampleFile(tempfile::tempfile()?))) });
}

fn read_up_to(file: &mut impl Read, into: &mut [u8]) -> io::Result<usize> {
    let mut got = 0;
    while got < into.len() {
        match file.read(&mut into[got..]) {
            Ok(0) => break,
            Ok(n) => got += n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(got)
}

/// Decompresses a stream; `packed` is found from its first bytes when not known.
fn unpack(mut from: impl Read, packed: Option<Compression>) -> io::Result<Opened> {
    let mut magic = Vec::new();
    let packed = match packed {
        Some(packed) => packed,
        None => {
            from.by_ref().take(TELLING as u64).read_to_end(&mut magic)?;
            // journalctl seeks in a journal; one that comes through a pipe is kept as it is, and refused by who looks into it.
            Some(compression(&magic)).filter(|packed| *packed != Compression::Journal).unwrap_or(Compression::None)
        }
    };
    let from = io::Cursor::new(magic).chain(from);
    let mut spool = Spool::default();
    let damage = match packed {
        Compression::None | Compression::Journal => spool.fill(from)?,
        Compression::Gzip => spool.fill(flate2::read::MultiGzDecoder::new(io::BufReader::new(from)))?,
        Compression::Zstd => spool.fill(zstd::Decoder::new(from)?)?,
    };
    Ok(Opened { bytes: spool.finish()?, compression: packed, damage })
}

/// Takes a stream: held while it is small, then in a file without a name.
#[derive(Default)]
pub(super) struct Spool {
    held: Vec<u8>,
    file: Option<File>,
}

impl Spool {
    /// Reads to the end; a read error after the start is damage, not failure.
    pub(super) fn fill(&mut self, mut from: impl Read) -> io::Result<Option<String>> {
        let mut chunk = vec![0u8; 1 << 16];
        loop {
            match from.read(&mut chunk) {
                Ok(0) => return Ok(None),
                Ok(n) => self.write(&chunk[..n])?,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => {
                    let so_far = self.len()?;
                    return Ok(Some(format!("the stream breaks off after {so_far} decompressed bytes ({e})")));
                }
            }
        }
    }

    fn len(&mut self) -> io::Result<u64> {
        match &mut self.file {
            Some(file) => file.stream_position(),
            None => Ok(self.held.len() as u64),
        }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if let Some(file) = &mut self.file {
            return file.write_all(bytes);
        }
        self.held.extend_from_slice(bytes);
        if self.held.len() >= HOLD_BELOW {
            let mut file = tempfile::tempfile()?;
            file.write_all(&self.held)?;
            self.held = Vec::new();
            self.file = Some(file);
        }
        Ok(())
    }

    pub(super) fn finish(self) -> io::Result<Bytes> {
        match self.file {
            None => Ok(Bytes::Held(self.held)),
            Some(file) => Ok(Bytes::Mapped(map(&file)?)),
        }
    }
}

/// Maps a file for reading. This is the one use of `unsafe` in corr: a search of 1 GB through `read` copies every byte once more
/// and holds them (benches/README.md), and a mapped file is what lets memory stay flat. The risk is that another process truncates the file
/// while it is mapped: reading past the new end then ends this process with SIGBUS, as it does ripgrep.
#[allow(unsafe_code)]
fn map(file: &File) -> io::Result<memmap2::Mmap> {
    // SAFETY: the map is read-only and private to this process; see above for truncation by others.
    unsafe { memmap2::Mmap::map(file) }
}
