//! Numbers and texts as bytes, and back. Who reads asks for each in the order in which it was written; `None` says the bytes hold no such thing.

use std::sync::Arc;

/// Bytes that are written.
#[derive(Debug, Default)]
pub(crate) struct Put(pub Vec<u8>);

impl Put {
    pub fn number(&mut self, mut n: u64) {
        while n >= 0x80 {
            self.0.push(n as u8 | 0x80);
            n >>= 7;
        }
        self.0.push(n as u8);
    }

    pub fn count(&mut self, n: usize) {
        self.number(n as u64);
    }

    pub fn fixed(&mut self, n: u64) {
        self.0.extend_from_slice(&n.to_le_bytes());
    }

    pub fn count_fixed(&mut self, n: usize) {
        self.fixed(n as u64);
    }

    pub fn time(&mut self, at: i64) {
        self.0.extend_from_slice(&at.to_le_bytes());
    }

    /// Every bit of it.
    pub fn value(&mut self, value: f64) {
        self.fixed(value.to_bits());
    }

    pub fn flag(&mut self, flag: bool) {
        self.0.push(u8::from(flag));
    }

    pub fn text(&mut self, text: &str) {
        self.count(text.len());
        self.0.extend_from_slice(text.as_bytes());
    }

    pub fn maybe<T>(&mut self, value: Option<T>, put: impl FnOnce(&mut Put, T)) {
        self.flag(value.is_some());
        if let Some(value) = value {
            put(self, value);
        }
    }

    /// One of a few words that serde knows.
    pub fn word<T: serde::Serialize>(&mut self, word: &T) -> std::io::Result<()> {
        self.text(&serde_json::to_string(word)?);
        Ok(())
    }
}

/// Bytes that are read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Take<'b>(pub &'b [u8]);

impl<'b> Take<'b> {
    pub fn bytes(&mut self, n: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.0.split_at_checked(n)?;
        self.0 = rest;
        Some(taken)
    }

    pub fn number(&mut self) -> Option<u64> {
        let mut n = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = *self.bytes(1)?.first()?;
            n |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(n);
            }
        }
        None
    }

    /// How many things follow, of which each takes at least one byte.
    pub fn count(&mut self) -> Option<usize> {
        usize::try_from(self.number()?).ok().filter(|n| *n <= self.0.len())
    }

    pub fn fixed(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.bytes(8)?.try_into().ok()?))
    }

    pub fn time(&mut self) -> Option<i64> {
        Some(i64::from_le_bytes(self.bytes(8)?.try_into().ok()?))
    }

    pub fn value(&mut self) -> Option<f64> {
        self.fixed().map(f64::from_bits)
    }

    pub fn flag(&mut self) -> Option<bool> {
        match self.bytes(1)? {
            [0] => Some(false),
            [1] => Some(true),
            _ => None,
        }
    }

    pub fn text(&mut self) -> Option<&'b str> {
        let n = self.count()?;
        std::str::from_utf8(self.bytes(n)?).ok()
    }

    pub fn string(&mut self) -> Option<String> {
        self.text().map(str::to_owned)
    }

    pub fn shared(&mut self) -> Option<Arc<str>> {
        self.text().map(Arc::from)
    }

    pub fn maybe<T>(&mut self, take: impl FnOnce(&mut Take<'b>) -> Option<T>) -> Option<Option<T>> {
        if self.flag()? { take(self).map(Some) } else { Some(None) }
    }

    pub fn word<T: serde::de::DeserializeOwned>(&mut self) -> Option<T> {
        serde_json::from_str(self.text()?).ok()
    }

    /// Some things of one kind.
    pub fn many<T>(&mut self, mut take: impl FnMut(&mut Take<'b>) -> Option<T>) -> Option<Vec<T>> {
        let n = self.count()?;
        (0..n).map(|_| take(self)).collect()
    }
}
