//! The text of a part inside the store, for sources that cannot be sought again: zstd frames of fixed size with a table, so that any record is one
//! or two frames away. What is withheld is overwritten with `*`, byte for byte, so that offsets hold.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::ops::ControlFlow;
use std::path::Path;

use corr_parsers::secret;

use super::segment::Part;
use crate::run::events;

/// The file's name inside a segment.
pub const FILE: &str = "text.zst";
const MAGIC: &[u8; 8] = b"corrtxt1";
/// Bytes of text in one frame.
const FRAME: usize = 256 << 10;

/// Writes the masked text of a part.
pub fn write(path: &Path, part: &Part<'_>) -> io::Result<()> {
    let mut to = BufWriter::new(File::create(path)?);
    to.write_all(MAGIC)?;
    let mut frames: Vec<u64> = vec![MAGIC.len() as u64];
    let mut pending: Vec<u8> = Vec::with_capacity(FRAME * 2);
    let mut failed = None;
    let mut compressor = zstd::bulk::Compressor::new(3)?;
    let mut flush = |pending: &mut Vec<u8>, all: bool| -> io::Result<()> {
        while pending.len() >= FRAME || all && !pending.is_empty() {
            let take = pending.len().min(FRAME);
            let frame = compressor.compress(&pending[..take])?;
            to.write_all(&frame)?;
            frames.push(frames.last().copied().unwrap_or(0) + frame.len() as u64);
            pending.drain(..take);
        }
        Ok(())
    };
    events::each(part.bytes, part.layout, part.timing, part.start, part.end, |record, event, facts| {
        let at = pending.len();
        pending.extend_from_slice(&part.bytes[facts.offset..facts.offset + facts.length]);
        if record.meta.is_some() && event.withheld.is_empty() {
            // The envelope's own fields (a command line) can hold a credential too.
            for span in secret::find(&pending[at..]) {
                mask(&mut pending[at..], span.start, span.len());
            }
        }
        if !event.withheld.is_empty() {
            let copy = &mut pending[at..];
            match record.payload_at {
                Some(payload) => event.withheld.iter().for_each(|w| mask(copy, payload - facts.offset + w.span.start, w.span.len())),
                // The payload was decoded: its spans are not the record's. The whole record is masked but for its line ends.
                None => copy.iter_mut().filter(|b| !matches!(b, b'\n' | b'\r')).for_each(|b| *b = b'*'),
            }
        }
        match flush(&mut pending, false) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                failed = Some(error);
                ControlFlow::Break(())
            }
        }
    });
    if let Some(error) = failed {
        return Err(error);
    }
    flush(&mut pending, true)?;
    for end in &frames {
        to.write_all(&end.to_le_bytes())?;
    }
    to.write_all(&(frames.len() as u64).to_le_bytes())?;
    to.write_all(&((part.end - part.start.offset) as u64).to_le_bytes())?;
    let file = to.into_inner().map_err(io::IntoInnerError::into_error)?;
    file.sync_all()
}

/// Overwrites a span. A JSON or Python value stays one value (a string), so that the record still parses.
fn mask(bytes: &mut [u8], from: usize, len: usize) {
    let Some(span) = bytes.get_mut(from..from + len) else { return };
    let quoted = len >= 2 && matches!(span[0], b'"' | b'\'' | b'[' | b'{');
    span.iter_mut().filter(|b| **b != b'\n').for_each(|b| *b = b'*');
    if quoted {
        span[0] = b'"';
        span[len - 1] = b'"';
    }
}

/// Reads the whole masked text of a segment.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let bytes = std::fs::read(path)?;
    let damaged = || io::Error::new(io::ErrorKind::InvalidData, "the embedded text is damaged; `corr index --rebuild` makes it anew");
    let number = |from_end: usize| -> io::Result<u64> {
        let at = bytes.len().checked_sub(from_end).ok_or_else(damaged)?;
        bytes.get(at..at + 8).and_then(|b| b.try_into().ok()).map(u64::from_le_bytes).ok_or_else(damaged)
    };
    if !bytes.starts_with(MAGIC) {
        return Err(damaged());
    }
    let (count, size) = (number(16)? as usize, number(8)? as usize);
    let table = bytes.len().checked_sub(16 + count.checked_mul(8).ok_or_else(damaged)?).ok_or_else(damaged)?;
    let end_of = |i: usize| u64::from_le_bytes(bytes[table + i * 8..table + i * 8 + 8].try_into().unwrap_or_default()) as usize;
    let mut text = Vec::new();
    for i in 1..count {
        let frame = bytes.get(end_of(i - 1)..end_of(i)).ok_or_else(damaged)?;
        text.extend_from_slice(&zstd::bulk::decompress(frame, FRAME)?);
    }
    if text.len() == size { Ok(text) } else { Err(damaged()) }
}
