//! A capture in one file: read once from its source, then opened without decoding a sample.
//!
//! The file is the area of the samples, two tables (where blocks lie; what the capture says beside samples) and a footer of fixed size, which has
//! their lengths and BLAKE3 hashes. A file that was cut, or of which a byte is another, is refused.

pub mod apart;
pub(crate) mod bytes;
mod facts;
#[cfg(test)]
mod tests;

use std::io::{self, Write};

use self::bytes::{Put, Take};
use crate::READER_VERSION;
use crate::blocks::{Area, Store};
use crate::model::Capture;

/// Changes with the bytes of the format.
const FORMAT: u32 = 2;
const MAGIC: &[u8; 8] = b"corrcapt";
/// Two hashes, three lengths, two versions and the magic.
const FOOTER: usize = 32 + 32 + 3 * 8 + 2 * 4 + 8;

/// Why a kept capture is not opened.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum KeptError {
    /// Bytes are missing or others than were written.
    #[error("damaged ({0})")]
    Damaged(&'static str),
    /// A corr with other readers wrote it.
    #[error("of another version of corr")]
    Version,
}

/// Is every byte of the samples looked at, or are they known to be as they were written?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// All bytes are hashed.
    All,
    /// The tables alone: the file's facts are those that it had when it was written.
    Tables,
}

/// Writes a capture.
///
/// # Errors
/// Those of the writer, and `InvalidInput` for a capture that cannot be kept: names of files that are not UTF-8, samples that were lost.
pub fn write(capture: &Capture, to: &mut dyn Write) -> io::Result<()> {
    if let Some(damage) = capture.samples.damage() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, damage.to_string()));
    }
    let mut hasher = blake3::Hasher::new();
    let mut area = 0u64;
    for piece in capture.samples.area() {
        hasher.update(piece);
        to.write_all(piece)?;
        area += piece.len() as u64;
    }
    let mut tables = Put::default();
    capture.samples.put_index(&mut tables);
    let index = tables.0.len();
    facts::put(capture, &capture.files, &mut tables)?;
    to.write_all(&tables.0)?;
    let mut footer = Put::default();
    footer.fixed(area);
    footer.count_fixed(index);
    footer.count_fixed(tables.0.len() - index);
    footer.0.extend_from_slice(&FORMAT.to_le_bytes());
    footer.0.extend_from_slice(&READER_VERSION.to_le_bytes());
    footer.0.extend_from_slice(hasher.finalize().as_bytes());
    // The tables' hash vouches for what stands before it in the footer too.
    let hash = blake3::Hasher::new().update(&tables.0).update(&footer.0).finalize();
    footer.0.extend_from_slice(hash.as_bytes());
    footer.0.extend_from_slice(MAGIC);
    to.write_all(&footer.0)
}

/// Opens a capture that [`write()`] wrote; `file` is all of it. [`Capture::files`] are those of the reading that was kept.
///
/// # Errors
/// [`KeptError`], for every file that is not, byte for byte, one that this version wrote.
pub fn open(file: Area, check: Check) -> Result<Capture, KeptError> {
    let all: &[u8] = (*file).as_ref();
    let cut = KeptError::Damaged("its end is missing");
    let (body, footer) = all.len().checked_sub(FOOTER).and_then(|at| all.split_at_checked(at)).ok_or(cut)?;
    let (said, end) = footer.split_at(FOOTER - 40);
    let (hash, magic) = end.split_at(32);
    if magic != MAGIC {
        return Err(KeptError::Damaged("its end is missing"));
    }
    let mut take = Take(said);
    let mut length = || take.fixed().and_then(|n| usize::try_from(n).ok());
    let lengths = (length(), length(), length());
    let (Some(area), Some(index), Some(facts)) = lengths else { return Err(KeptError::Damaged("its lengths")) };
    if area.checked_add(index).and_then(|n| n.checked_add(facts)) != Some(body.len()) {
        return Err(KeptError::Damaged("its length"));
    }
    let (samples, tables) = body.split_at(area);
    if *blake3::Hasher::new().update(tables).update(said).finalize().as_bytes() != hash {
        return Err(KeptError::Damaged("its tables"));
    }
    if take.bytes(4) != Some(&FORMAT.to_le_bytes()) || take.bytes(4) != Some(&READER_VERSION.to_le_bytes()) {
        return Err(KeptError::Version);
    }
    if check == Check::All && *blake3::hash(samples).as_bytes() != *take.0 {
        return Err(KeptError::Damaged("its samples"));
    }
    let (index, facts) = tables.split_at(index);
    let mut index = Take(index);
    let store = Store::take_index(&mut index, file.clone(), area).filter(|_| index.0.is_empty());
    let capture = store.and_then(|store| facts::take(&mut Take(facts), store));
    capture.ok_or(KeptError::Damaged("its tables"))
}
