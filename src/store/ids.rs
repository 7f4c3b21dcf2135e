//! Ids of a segment: from a canonical id, or its beginning, to the rows that bear it.
//!
//! File layout, little endian: magic, six u64 counts, then the sections. Ids of 32 hex digits (rids, UUIDs, trace ids) are 16 bytes each, all
//! others are text; both sections are sorted, so an exact id and a prefix are one binary search. Rows are u32, grouped by id.

use std::io::{self, Write};

const MAGIC: &[u8; 8] = b"corrids1";
const HEADER: usize = 8 + 6 * 8;

/// Collects the ids of a segment.
#[derive(Default)]
pub struct IdsBuilder {
    hex: Vec<([u8; 16], u32)>,
    text: Vec<(u32, u32, u32)>,
    arena: Vec<u8>,
}

/// An id of exactly 32 lower-case hex digits as 16 bytes.
fn hex32(canonical: &str) -> Option<[u8; 16]> {
    let bytes = canonical.as_bytes();
    if bytes.len() != 32 {
        return None;
    }
    let mut out = [0u8; 16];
    for (i, pair) in bytes.chunks_exact(2).enumerate() {
        out[i] = nibble(pair[0])? << 4 | nibble(pair[1])?;
    }
    Some(out)
}

fn nibble(b: u8) -> Option<u8> {
    match b {
        b'0'..=b'9' => Some(b - b'0'),
        b'a'..=b'f' => Some(b - b'a' + 10),
        _ => None,
    }
}

impl IdsBuilder {
    /// Notes that a row bears an id, in canonical spelling. Ids over 4 KiB are cut there; lookups cut alike.
    pub fn add(&mut self, canonical: &str, row: u32) {
        if let Some(key) = hex32(canonical) {
            self.hex.push((key, row));
            return;
        }
        let bytes = cut(canonical.as_bytes());
        let at = self.arena.len() as u32;
        self.arena.extend_from_slice(bytes);
        self.text.push((at, bytes.len() as u32, row));
    }

    /// Writes the index. Sorts in place.
    pub fn write(mut self, mut to: impl Write) -> io::Result<()> {
        self.hex.sort_unstable();
        self.hex.dedup();
        let arena = &self.arena;
        let slice = |at: u32, len: u32| &arena[at as usize..(at + len) as usize];
        self.text.sort_unstable_by(|a, b| slice(a.0, a.1).cmp(slice(b.0, b.1)).then(a.2.cmp(&b.2)));
        self.text.dedup_by(|a, b| a.2 == b.2 && slice(a.0, a.1) == slice(b.0, b.1));

        let mut hex_keys: Vec<u8> = Vec::new();
        let mut hex_ends: Vec<u32> = Vec::new();
        for (i, (key, _)) in self.hex.iter().enumerate() {
            if i == 0 || self.hex[i - 1].0 != *key {
                hex_keys.extend_from_slice(key);
                hex_ends.push(i as u32);
            }
        }
        let mut text_bytes: Vec<u8> = Vec::new();
        let mut text_starts: Vec<u32> = Vec::new();
        let mut text_ends: Vec<u32> = Vec::new();
        for (i, t) in self.text.iter().enumerate() {
            if i == 0 || slice(self.text[i - 1].0, self.text[i - 1].1) != slice(t.0, t.1) {
                text_starts.push(text_bytes.len() as u32);
                text_bytes.extend_from_slice(slice(t.0, t.1));
                text_ends.push(i as u32);
            }
        }
        text_starts.push(text_bytes.len() as u32);
        text_ends.push(self.text.len() as u32);
        let hex_unique = hex_ends.len();
        hex_ends.push(self.hex.len() as u32);
        let text_unique = text_ends.len() - 1;

        to.write_all(MAGIC)?;
        for n in [hex_unique, self.hex.len(), text_unique, self.text.len(), text_bytes.len(), 0] {
            to.write_all(&(n as u64).to_le_bytes())?;
        }
        to.write_all(&hex_keys)?;
        write_u32(&mut to, hex_ends.iter().copied())?;
        write_u32(&mut to, self.hex.iter().map(|h| h.1))?;
        write_u32(&mut to, text_starts.iter().copied())?;
        write_u32(&mut to, text_ends.iter().copied())?;
        write_u32(&mut to, self.text.iter().map(|t| t.2))?;
        to.write_all(&text_bytes)
    }
}

fn cut(bytes: &[u8]) -> &[u8] {
    &bytes[..bytes.len().min(4096)]
}

fn write_u32(to: &mut impl Write, values: impl Iterator<Item = u32>) -> io::Result<()> {
    let mut buffer = Vec::with_capacity(1 << 16);
    for value in values {
        buffer.extend_from_slice(&value.to_le_bytes());
        if buffer.len() >= 1 << 16 {
            to.write_all(&buffer)?;
            buffer.clear();
        }
    }
    to.write_all(&buffer)
}

/// The id index of a segment, over mapped or held bytes.
pub struct Ids<'b> {
    hex_keys: &'b [u8],
    hex_ends: &'b [u8],
    hex_rows: &'b [u8],
    text_starts: &'b [u8],
    text_ends: &'b [u8],
    text_rows: &'b [u8],
    text_bytes: &'b [u8],
}

impl<'b> Ids<'b> {
    /// Opens an index; `None` if the bytes are not one or are cut short.
    pub fn open(bytes: &'b [u8]) -> Option<Ids<'b>> {
        if !bytes.starts_with(MAGIC) {
            return None;
        }
        let mut counts = [0usize; 6];
        for (i, n) in counts.iter_mut().enumerate() {
            let at = 8 + i * 8;
            *n = usize::try_from(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?)).ok()?;
        }
        let [hex_unique, hex_total, text_unique, text_total, text_len, _] = counts;
        let mut at = HEADER;
        let mut take = |len: usize| {
            let end = at.checked_add(len)?;
            let part = bytes.get(at..end)?;
            at = end;
            Some(part)
        };
        Some(Ids {
            hex_keys: take(hex_unique.checked_mul(16)?)?,
            hex_ends: take(hex_unique.checked_add(1)?.checked_mul(4)?)?,
            hex_rows: take(hex_total.checked_mul(4)?)?,
            text_starts: take(text_unique.checked_add(1)?.checked_mul(4)?)?,
            text_ends: take(text_unique.checked_add(1)?.checked_mul(4)?)?,
            text_rows: take(text_total.checked_mul(4)?)?,
            text_bytes: take(text_len)?,
        })
    }

    /// How many different ids there are.
    pub fn len(&self) -> usize {
        self.hex_keys.len() / 16 + self.text_unique()
    }

    /// No ids at all.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn text_unique(&self) -> usize {
        (self.text_starts.len() / 4).saturating_sub(1)
    }

    /// Rows that bear this canonical id.
    pub fn exact(&self, canonical: &str, rows: &mut Vec<u32>) {
        if let Some(key) = hex32(canonical) {
            let at = partition(self.hex_keys.len() / 16, |i| self.hex(i) < &key[..]);
            if at < self.hex_keys.len() / 16 && self.hex(at) == key {
                self.push_rows(self.hex_ends, self.hex_rows, at, at + 1, rows);
            }
            return;
        }
        let key = cut(canonical.as_bytes());
        let at = partition(self.text_unique(), |i| self.text(i) < key);
        if at < self.text_unique() && self.text(at) == key {
            self.push_rows(self.text_ends, self.text_rows, at, at + 1, rows);
        }
    }

    /// Rows that bear an id whose canonical spelling begins so.
    pub fn prefix(&self, prefix: &str, rows: &mut Vec<u32>) {
        let key = cut(prefix.as_bytes());
        let from = partition(self.text_unique(), |i| self.text(i) < key);
        let to = partition(self.text_unique(), |i| self.text(i) < key || self.text(i).starts_with(key));
        self.push_rows(self.text_ends, self.text_rows, from, to, rows);
        if prefix.len() > 32 || !prefix.bytes().all(|b| nibble(b).is_some()) {
            return;
        }
        let unique = self.hex_keys.len() / 16;
        let (mut low, mut high) = ("0".repeat(32), "f".repeat(32));
        low.replace_range(..prefix.len(), prefix);
        high.replace_range(..prefix.len(), prefix);
        let (Some(low), Some(high)) = (hex32(&low), hex32(&high)) else { return };
        let from = partition(unique, |i| self.hex(i) < &low[..]);
        let to = partition(unique, |i| self.hex(i) <= &high[..]);
        self.push_rows(self.hex_ends, self.hex_rows, from, to, rows);
    }

    fn hex(&self, i: usize) -> &[u8] {
        &self.hex_keys[i * 16..i * 16 + 16]
    }

    fn text(&self, i: usize) -> &[u8] {
        let (from, to) = (read_u32(self.text_starts, i) as usize, read_u32(self.text_starts, i + 1) as usize);
        self.text_bytes.get(from..to).unwrap_or(&[])
    }

    fn push_rows(&self, ends: &[u8], all: &[u8], from: usize, to: usize, rows: &mut Vec<u32>) {
        if from >= to {
            return;
        }
        // A damaged table says nothing, and is not taken for row 0.
        let (from, to) = (read_u32(ends, from) as usize, read_u32(ends, to) as usize);
        let all = all.as_chunks::<4>().0;
        rows.extend(all.get(from..to).unwrap_or(&[]).iter().map(|row| u32::from_le_bytes(*row)));
    }
}

fn read_u32(bytes: &[u8], i: usize) -> u32 {
    bytes.get(i * 4..i * 4 + 4).map_or(0, |b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
}

/// The first index below `n` for which `below` is false.
fn partition(n: usize, below: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, n);
    while low < high {
        let middle = low + (high - low) / 2;
        if below(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(ids: &Ids, f: impl Fn(&Ids, &mut Vec<u32>)) -> Vec<u32> {
        let mut out = Vec::new();
        f(ids, &mut out);
        out.sort_unstable();
        out
    }

    #[test]
    fn exact_and_prefix_over_both_sections() {
        let mut builder = IdsBuilder::default();
        for (id, row) in [
            ("edf9ed0132194585a510233214f462c1", 7),
            ("edf9ed0132194585a510233214f462c1", 9),
            ("edf9ed0132194585a510233214f462c1", 9),
            ("ed00000000000000000000000000000f", 3),
            ("17455822474245500398", 7),
            ("sess-1", 1),
            ("sess-10", 2),
        ] {
            builder.add(id, row);
        }
        let mut bytes = Vec::new();
        builder.write(&mut bytes).unwrap();
        let ids = Ids::open(&bytes).unwrap();
        assert_eq!(ids.len(), 5);
        assert_eq!(rows(&ids, |i, o| i.exact("edf9ed0132194585a510233214f462c1", o)), [7, 9]);
        assert_eq!(rows(&ids, |i, o| i.prefix("ed", o)), [3, 7, 9]);
        assert_eq!(rows(&ids, |i, o| i.prefix("edf9ed0132194585a510233214f462c1", o)), [7, 9]);
        assert_eq!(rows(&ids, |i, o| i.exact("sess-1", o)), [1]);
        assert_eq!(rows(&ids, |i, o| i.prefix("sess-1", o)), [1, 2]);
        assert_eq!(rows(&ids, |i, o| i.exact("17455822474245500398", o)), [7]);
        assert_eq!(rows(&ids, |i, o| i.exact("nope", o)), Vec::<u32>::new());
        assert!(Ids::open(&bytes[..bytes.len() - 1]).is_none());
    }
}
