//! Where each row's record stands, and its kind: records tile their part of the source, so lengths alone say where.
//!
//! File layout, little endian: magic, u64 first offset, u64 rows, u64 long records, u64 bytes of a kind's number (1 or 2); then u16 lengths (0xffff:
//! see the long list), a u64 offset and a u64 line number for every 256th row, the long list as (u32 row, u64 length) pairs in row order, and the
//! number of each row's kind.

use std::io::{self, Write};

const MAGIC: &[u8; 8] = b"corrrow3";
const HEADER: usize = 40;
const BLOCK: usize = 256;
const LONG: u16 = u16::MAX;

/// Collects record lengths and kinds in source order.
pub struct RowsBuilder {
    first: u64,
    at: u64,
    lengths: Vec<u16>,
    /// Offset and line number of the first record of each block.
    blocks: Vec<(u64, u64)>,
    long: Vec<(u32, u64)>,
    kinds: Vec<u16>,
}

impl RowsBuilder {
    /// Rows of a part that begins at this offset of the source.
    pub fn new(first: u64) -> RowsBuilder {
        RowsBuilder { first, at: first, lengths: Vec::new(), blocks: Vec::new(), long: Vec::new(), kinds: Vec::new() }
    }

    /// The next record: its length in bytes, the number of its first line, and its kind's number in the segment.
    pub fn push(&mut self, length: usize, line: u64, kind: u16) {
        if self.lengths.len().is_multiple_of(BLOCK) {
            self.blocks.push((self.at, line));
        }
        match u16::try_from(length) {
            Ok(short) if short != LONG => self.lengths.push(short),
            _ => {
                self.long.push((self.lengths.len() as u32, length as u64));
                self.lengths.push(LONG);
            }
        }
        self.kinds.push(kind);
        self.at += length as u64;
    }

    /// Writes the table.
    pub fn write(self, mut to: impl Write) -> io::Result<()> {
        let wide = self.kinds.iter().any(|kind| *kind > u16::from(u8::MAX));
        to.write_all(MAGIC)?;
        for n in [self.first, self.lengths.len() as u64, self.long.len() as u64, if wide { 2 } else { 1 }] {
            to.write_all(&n.to_le_bytes())?;
        }
        let mut bytes = Vec::with_capacity(self.lengths.len() * 4 + self.blocks.len() * 16 + self.long.len() * 12);
        self.lengths.iter().for_each(|l| bytes.extend_from_slice(&l.to_le_bytes()));
        self.blocks.iter().for_each(|(offset, line)| {
            bytes.extend_from_slice(&offset.to_le_bytes());
            bytes.extend_from_slice(&line.to_le_bytes());
        });
        for (row, length) in &self.long {
            bytes.extend_from_slice(&row.to_le_bytes());
            bytes.extend_from_slice(&length.to_le_bytes());
        }
        if wide {
            self.kinds.iter().for_each(|kind| bytes.extend_from_slice(&kind.to_le_bytes()));
        } else {
            bytes.extend(self.kinds.iter().map(|kind| *kind as u8));
        }
        to.write_all(&bytes)
    }
}

/// The row table of a segment.
pub struct Rows<'b> {
    lengths: &'b [[u8; 2]],
    blocks: &'b [[u8; 16]],
    long: &'b [[u8; 12]],
    kinds: Kinds<'b>,
}

#[derive(Clone, Copy)]
enum Kinds<'b> {
    Narrow(&'b [u8]),
    Wide(&'b [[u8; 2]]),
}

impl<'b> Rows<'b> {
    /// Opens a table; `None` if the bytes are not one or are cut short.
    pub fn open(bytes: &'b [u8]) -> Option<Rows<'b>> {
        if !bytes.starts_with(MAGIC) {
            return None;
        }
        let number = |i: usize| usize::try_from(u64::from_le_bytes(*bytes.get(8 + i * 8..)?.first_chunk()?)).ok();
        let (count, long, width) = (number(1)?, number(2)?, number(3)?);
        let mut at = HEADER;
        let mut take = |len: usize| {
            let end = at.checked_add(len)?;
            let part = bytes.get(at..end)?;
            at = end;
            Some(part)
        };
        Some(Rows {
            lengths: take(count.checked_mul(2)?)?.as_chunks().0,
            blocks: take(count.div_ceil(BLOCK).checked_mul(16)?)?.as_chunks().0,
            long: take(long.checked_mul(12)?)?.as_chunks().0,
            kinds: match width {
                1 => Kinds::Narrow(take(count)?),
                2 => Kinds::Wide(take(count.checked_mul(2)?)?.as_chunks().0),
                _ => return None,
            },
        })
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.lengths.len()
    }

    /// No rows.
    pub fn is_empty(&self) -> bool {
        self.lengths.is_empty()
    }

    /// Calls `hit` for every row whose kind is chosen by its number.
    pub fn of_kinds(&self, chosen: &[bool], mut hit: impl FnMut(usize)) {
        let is_chosen = |kind: usize| chosen.get(kind).copied().unwrap_or(false);
        match self.kinds {
            Kinds::Narrow(kinds) => {
                let mut table = [false; 256];
                table.iter_mut().enumerate().for_each(|(kind, is)| *is = is_chosen(kind));
                kinds.iter().enumerate().filter(|(_, kind)| table[usize::from(**kind)]).for_each(|(row, _)| hit(row));
            }
            Kinds::Wide(kinds) => {
                let kinds = kinds.iter().map(|kind| usize::from(u16::from_le_bytes(*kind)));
                kinds.enumerate().filter(|(_, kind)| is_chosen(*kind)).for_each(|(row, _)| hit(row));
            }
        }
    }

    /// The number of a row's kind in the segment.
    pub fn kind(&self, row: usize) -> Option<usize> {
        match self.kinds {
            Kinds::Narrow(kinds) => kinds.get(row).map(|kind| usize::from(*kind)),
            Kinds::Wide(kinds) => kinds.get(row).map(|kind| usize::from(u16::from_le_bytes(*kind))),
        }
    }

    /// Offset of a row's record in the source.
    pub fn offset(&self, row: usize) -> u64 {
        let block = row / BLOCK;
        let mut at = self.block(block);
        for r in block * BLOCK..row {
            at = at.saturating_add(self.length(r));
        }
        at
    }

    fn block(&self, block: usize) -> u64 {
        self.blocks.get(block).map_or(0, |block| entry(block).0)
    }

    /// Offset and line number of a record at or above a row, at most 255 rows above.
    pub fn line_above(&self, row: usize) -> Option<(u64, u64)> {
        self.blocks.get(row / BLOCK).map(entry)
    }

    /// Length of a row's record in bytes.
    pub fn length(&self, row: usize) -> u64 {
        let Some(short) = self.lengths.get(row) else { return 0 };
        let short = u16::from_le_bytes(*short);
        if short != LONG {
            return u64::from(short);
        }
        let entry = |pair: &[u8; 12]| {
            let [a, b, c, d, length @ ..] = *pair;
            (u32::from_le_bytes([a, b, c, d]) as usize, u64::from_le_bytes(length))
        };
        let at = self.long.partition_point(|pair| entry(pair).0 < row);
        self.long.get(at).map(entry).filter(|(of, _)| *of == row).map_or(0, |(_, length)| length)
    }

    /// The row whose record holds a byte of the source, for offsets inside the part.
    pub fn row_at(&self, offset: u64) -> Option<usize> {
        let block = self.blocks.partition_point(|block| entry(block).0 <= offset).checked_sub(1)?;
        let mut at = self.block(block);
        for row in block * BLOCK..self.len().min((block + 1) * BLOCK) {
            let length = self.length(row);
            if offset < at.saturating_add(length) {
                return Some(row);
            }
            at = at.saturating_add(length);
        }
        None
    }
}

/// Offset and line number of a block.
fn entry(block: &[u8; 16]) -> (u64, u64) {
    let both = u128::from_le_bytes(*block);
    (both as u64, (both >> 64) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_and_rows_over_blocks_and_long_records() {
        let mut builder = RowsBuilder::new(100);
        let lengths: Vec<usize> = (0..1000).map(|i| if i % 300 == 7 { 70_000 + i } else { 1 + i % 190 }).collect();
        lengths.iter().enumerate().for_each(|(i, l)| builder.push(*l, 10 + 2 * i as u64, i as u16 % 3));
        let mut bytes = Vec::new();
        builder.write(&mut bytes).unwrap();
        let rows = Rows::open(&bytes).unwrap();
        assert_eq!(rows.len(), 1000);
        let mut at = 100u64;
        for (row, length) in lengths.iter().enumerate() {
            assert_eq!(rows.offset(row), at);
            assert_eq!(rows.length(row), *length as u64);
            assert_eq!(rows.row_at(at), Some(row));
            assert_eq!(rows.row_at(at + *length as u64 - 1), Some(row));
            assert_eq!(rows.kind(row), Some(row % 3));
            at += *length as u64;
        }
        assert_eq!(rows.line_above(255), Some((100, 10)));
        assert_eq!(rows.line_above(256), Some((rows.offset(256), 10 + 2 * 256)));
        assert_eq!(rows.line_above(1024), None);
        let mut chosen = Vec::new();
        rows.of_kinds(&[false, true], |row| chosen.push(row));
        assert_eq!(chosen, (1..1000).step_by(3).collect::<Vec<_>>());
        assert_eq!(rows.kind(1000), None);
        assert_eq!(rows.row_at(at), None);
        assert_eq!(rows.row_at(99), None);
        assert!(Rows::open(&bytes[..bytes.len() - 1]).is_none());
    }

    #[test]
    fn more_kinds_than_a_byte_counts() {
        let mut builder = RowsBuilder::new(0);
        (0..600u16).for_each(|kind| builder.push(10, 1, kind));
        let mut bytes = Vec::new();
        builder.write(&mut bytes).unwrap();
        let rows = Rows::open(&bytes).unwrap();
        assert_eq!(rows.kind(599), Some(599));
        let mut chosen = vec![false; 600];
        chosen[256] = true;
        let mut hits = Vec::new();
        rows.of_kinds(&chosen, |row| hits.push(row));
        assert_eq!(hits, [256]);
        assert!(Rows::open(&bytes[..bytes.len() - 1]).is_none());
    }
}
