//! Where encoded samples lie: held, in a file that grows while they come, or in one that was written before.

use std::collections::BTreeSet;
use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Bytes that stay as they are: held, or the mapping of a file, which who opens the file provides.
pub type Area = Arc<dyn AsRef<[u8]> + Send + Sync>;

/// Takes encoded samples that are too many to hold.
pub trait Spill: Send + fmt::Debug {
    /// Adds bytes at the end.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;
    /// All that was added till now; more may be added later.
    fn view(&self) -> io::Result<Area>;
}

/// When samples are spilled, and to what.
#[derive(Clone, Copy, Debug)]
pub struct Spilling {
    /// So many bytes of encoded samples a writer holds.
    pub above: usize,
    /// Makes a place for more.
    pub open: fn() -> io::Result<Box<dyn Spill>>,
}

/// What every writer does that is not told otherwise. This crate maps no files, so the program that can says it once.
static DEFAULT: OnceLock<Spilling> = OnceLock::new();

/// Sets what writers do from now on; false if that was said before.
pub fn spill_by_default(spilling: Spilling) -> bool {
    DEFAULT.set(spilling).is_ok()
}

/// Once a writer spills, it holds so many bytes between two writes.
const CHUNK: usize = 1 << 18;

/// A stretch of the area.
#[derive(Clone)]
struct Piece {
    /// Offset in the area, and in `bytes`.
    start: u64,
    from: usize,
    len: usize,
    bytes: Area,
}

/// Offsets of blocks that were asked for and are not there: what is to be brought before the same question is asked again.
#[derive(Clone, Debug, Default)]
pub struct Missing(Arc<Mutex<BTreeSet<u64>>>);

impl Missing {
    fn add(&self, offset: u64) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(offset);
    }

    /// Those that were asked for till now.
    pub fn offsets(&self) -> BTreeSet<u64> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// An area that is finished. No block lies in two of its pieces.
#[derive(Clone, Default)]
pub(super) struct Pieces {
    pieces: Vec<Piece>,
    len: u64,
    /// Of an area that is there in part: what was asked for beside it.
    missing: Option<Missing>,
}

impl fmt::Debug for Pieces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes in {} pieces", self.len, self.pieces.len())
    }
}

impl Piece {
    fn bytes(&self) -> &[u8] {
        let all: &[u8] = (*self.bytes).as_ref();
        self.from.checked_add(self.len).and_then(|end| all.get(self.from..end)).unwrap_or(&[])
    }
}

impl Pieces {
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    pub(super) fn push(&mut self, bytes: Area, from: usize, len: usize) {
        if len > 0 {
            self.pieces.push(Piece { start: self.len, from, len, bytes });
            self.len += len as u64;
        }
    }

    /// Those of an area of `len` bytes that are there, by their offset.
    pub(super) fn some(len: u64, there: impl IntoIterator<Item = (u64, Arc<[u8]>)>, missing: Missing) -> Pieces {
        let piece = |(start, bytes): (u64, Arc<[u8]>)| Piece { start, from: 0, len: bytes.len(), bytes: Arc::new(bytes) };
        let mut pieces: Vec<Piece> = there.into_iter().map(piece).filter(|p| p.len > 0).collect();
        pieces.sort_by_key(|p| p.start);
        Pieces { pieces, len, missing: Some(missing) }
    }

    /// The bytes from an offset to the end of its piece.
    pub(super) fn from(&self, offset: u64) -> &[u8] {
        let piece = match &self.pieces[..] {
            [one] => Some(one),
            many => many.get(many.partition_point(|p| p.start.saturating_add(p.len as u64) <= offset)),
        };
        let here = piece.and_then(|p| p.bytes().get(usize::try_from(offset.checked_sub(p.start)?).ok()?..));
        match (here, &self.missing) {
            (Some(bytes), None) => bytes,
            (Some(bytes), Some(_)) if !bytes.is_empty() => bytes,
            (_, Some(missing)) => {
                missing.add(offset);
                &[]
            }
            (None, None) => &[],
        }
    }

    /// All bytes, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.pieces.iter().map(Piece::bytes)
    }
}

/// An area that grows at its end.
#[derive(Debug)]
pub(super) struct Growing {
    /// What is finished.
    before: Pieces,
    spill: Option<Box<dyn Spill>>,
    /// Bytes in `spill`, and how many of them are in `before` already.
    spilled: usize,
    sealed: usize,
    /// The last bytes; who adds to it asks [`Growing::relieve`] when a block is whole.
    pub(super) tail: Vec<u8>,
    how: Option<Spilling>,
    /// Bytes at which the tail is to be written.
    limit: usize,
    /// Bytes that were spilled and cannot be read back.
    pub(super) damage: Option<String>,
}

impl Default for Growing {
    fn default() -> Growing {
        Growing::new(DEFAULT.get().copied())
    }
}

impl Growing {
    pub(super) fn new(how: Option<Spilling>) -> Growing {
        Growing {
            before: Pieces::default(),
            spill: None,
            spilled: 0,
            sealed: 0,
            tail: Vec::new(),
            how,
            limit: how.map_or(usize::MAX, |h| h.above),
            damage: None,
        }
    }

    /// Goes on behind what is there.
    pub(super) fn after(before: Pieces, damage: Option<String>) -> Growing {
        Growing { before, damage, ..Growing::default() }
    }

    pub(super) fn len(&self) -> u64 {
        self.before.len() + (self.spilled - self.sealed) as u64 + self.tail.len() as u64
    }

    /// Writes the tail away if it is large.
    #[inline]
    pub(super) fn relieve(&mut self) {
        if self.tail.len() >= self.limit {
            self.flush();
        }
    }

    fn flush(&mut self) {
        if self.spill.is_none() {
            self.spill = self.how.and_then(|how| (how.open)().ok());
        }
        let Some(spill) = &mut self.spill else {
            // There is no place to write to: samples are held, as many as they are.
            self.limit = usize::MAX;
            return;
        };
        match spill.append(&self.tail) {
            Ok(()) => {
                self.spilled += self.tail.len();
                self.limit = CHUNK.min(self.limit);
                self.tail.clear();
                self.tail.shrink_to(2 * CHUNK);
            }
            // What was written before is there; from here on samples are held. What came of this write lies behind `spilled` and is not read.
            Err(_) => self.limit = usize::MAX,
        }
    }

    /// Everything that was added till now, to be read; more can be added behind it.
    pub(super) fn seal(&mut self) -> &Pieces {
        if self.spill.is_some() && self.limit != usize::MAX {
            self.flush();
        }
        if let Some(spill) = &self.spill
            && self.spilled > self.sealed
        {
            let len = self.spilled - self.sealed;
            match spill.view() {
                Ok(area) if (*area).as_ref().len() >= self.spilled => self.before.push(area, self.sealed, len),
                other => {
                    let why = other.err().map_or_else(|| "it became shorter".to_string(), |e| e.to_string());
                    self.damage.get_or_insert(format!("samples were written to a temporary file that cannot be read back: {why}"));
                    // Offsets behind stay what they are; there is nothing to read at these.
                    self.before.push(Arc::new([]), 0, len);
                }
            }
            self.sealed = self.spilled;
        }
        if !self.tail.is_empty() {
            let tail = std::mem::take(&mut self.tail);
            let len = tail.len();
            self.before.push(Arc::new(tail), 0, len);
        }
        &self.before
    }

    pub(super) fn finish(mut self) -> (Pieces, Option<String>) {
        self.seal();
        (self.before, self.damage)
    }
}
