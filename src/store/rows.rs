//! Where each row's record stands: records tile their part of the source, so lengths alone say it.
//!
//! File layout, little endian: magic, u64 first offset, u64 rows, u64 long records; then u16 lengths (0xffff: see the long list), a u64 offset
//! for every 256th row, and the long list as (u32 row, u64 length) pairs in row order.

use std::io::{self, Write};

const MAGIC: &[u8; 8] = b"corrrow1";
const BLOCK: usize = 256;
const LONG: u16 = u16::MAX;

/// Collects record lengths in source order.
pub struct RowsBuilder {
    first: u64,
    at: u64,
    lengths: Vec<u16>,
    blocks: Vec<u64>,
    long: Vec<(u32, u64)>,
}

impl RowsBuilder {
    /// Rows of a part that begins at this offset of the source.
    pub fn new(first: u64) -> RowsBuilder {
        RowsBuilder { first, at: first, lengths: Vec::new(), blocks: Vec::new(), long: Vec::new() }
    }

    /// The next record's length in bytes.
    pub fn push(&mut self, length: usize) {
        if self.lengths.len().is_multiple_of(BLOCK) {
            self.blocks.push(self.at);
        }
        match u16::try_from(length) {
            Ok(short) if short != LONG => self.lengths.push(short),
            _ => {
                self.long.push((self.lengths.len() as u32, length as u64));
                self.lengths.push(LONG);
            }
        }
        self.at += length as u64;
    }

    /// Writes the table.
    pub fn write(self, mut to: impl Write) -> io::Result<()> {
        to.write_all(MAGIC)?;
        for n in [self.first, self.lengths.len() as u64, self.long.len() as u64] {
            to.write_all(&n.to_le_bytes())?;
        }
        let mut bytes = Vec::with_capacity(self.lengths.len() * 2 + self.blocks.len() * 8 + self.long.len() * 12);
        self.lengths.iter().for_each(|l| bytes.extend_from_slice(&l.to_le_bytes()));
        self.blocks.iter().for_each(|b| bytes.extend_from_slice(&b.to_le_bytes()));
        for (row, length) in &self.long {
            bytes.extend_from_slice(&row.to_le_bytes());
            bytes.extend_from_slice(&length.to_le_bytes());
        }
        to.write_all(&bytes)
    }
}

/// The row table of a segment.
pub struct Rows<'b> {
    count: usize,
    lengths: &'b [u8],
    blocks: &'b [u8],
    long: &'b [u8],
}

impl<'b> Rows<'b> {
    /// Opens a table; `None` if the bytes are not one or are cut short.
    pub fn open(bytes: &'b [u8]) -> Option<Rows<'b>> {
        if !bytes.starts_with(MAGIC) {
            return None;
        }
        let number = |i: usize| usize::try_from(u64::from_le_bytes(bytes.get(8 + i * 8..16 + i * 8)?.try_into().ok()?)).ok();
        let (count, long) = (number(1)?, number(2)?);
        let lengths_at = 32;
        let blocks_at = count.checked_mul(2)?.checked_add(lengths_at)?;
        let long_at = count.div_ceil(BLOCK).checked_mul(8)?.checked_add(blocks_at)?;
        Some(Rows {
            count,
            lengths: bytes.get(lengths_at..blocks_at)?,
            blocks: bytes.get(blocks_at..long_at)?,
            long: bytes.get(long_at..long.checked_mul(12)?.checked_add(long_at)?)?,
        })
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// No rows.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Offset of a row's record in the source.
    pub fn offset(&self, row: usize) -> u64 {
        let block = row / BLOCK;
        let mut at = read_u64(self.blocks, block * 8);
        for r in block * BLOCK..row {
            at = at.saturating_add(self.length(r));
        }
        at
    }

    /// Length of a row's record in bytes.
    pub fn length(&self, row: usize) -> u64 {
        let Some(b) = self.lengths.get(row * 2..row * 2 + 2) else { return 0 };
        let short = u16::from_le_bytes([b[0], b[1]]);
        if short != LONG {
            return u64::from(short);
        }
        let entries = self.long.len() / 12;
        let row_at = |i: usize| {
            let b = &self.long[i * 12..i * 12 + 4];
            u32::from_le_bytes([b[0], b[1], b[2], b[3]]) as usize
        };
        let (mut low, mut high) = (0, entries);
        while low < high {
            let middle = (low + high) / 2;
            if row_at(middle) < row {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        if low < entries && row_at(low) == row { read_u64(self.long, low * 12 + 4) } else { 0 }
    }

    /// The row whose record holds a byte of the source, for offsets inside the part.
    pub fn row_at(&self, offset: u64) -> Option<usize> {
        let blocks = self.blocks.len() / 8;
        let (mut low, mut high) = (0, blocks);
        while low < high {
            let middle = (low + high) / 2;
            if read_u64(self.blocks, middle * 8) <= offset {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let block = low.checked_sub(1)?;
        let mut at = read_u64(self.blocks, block * 8);
        for row in block * BLOCK..self.count.min((block + 1) * BLOCK) {
            let length = self.length(row);
            if offset < at.saturating_add(length) {
                return Some(row);
            }
            at = at.saturating_add(length);
        }
        None
    }
}

fn read_u64(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..at + 8).and_then(|b| b.try_into().ok()).map_or(0, u64::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_and_rows_over_blocks_and_long_records() {
        let mut builder = RowsBuilder::new(100);
        let lengths: Vec<usize> = (0..1000).map(|i| if i % 300 == 7 { 70_000 + i } else { 1 + i % 190 }).collect();
        lengths.iter().for_each(|l| builder.push(*l));
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
            at += *length as u64;
        }
        assert_eq!(rows.row_at(at), None);
        assert_eq!(rows.row_at(99), None);
        assert!(Rows::open(&bytes[..bytes.len() - 1]).is_none());
    }
}
