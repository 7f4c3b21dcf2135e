//! Numbers, texts and lists as bytes, and back. What is read may be anything.
//!
//! Texts and lists begin with their length, lengths and counts are in base 128, instants take eight bytes.

use std::borrow::Cow;
use std::ops::Range;

use corr_parsers::event::Value;

/// The bytes are none that were written.
pub fn damaged() -> String {
    "a record of a shard is damaged; write the shards anew by `corr index --shards`".into()
}

/// Bytes in the making.
pub struct Put(pub Vec<u8>);

impl Put {
    pub fn count(&mut self, mut n: u64) {
        while n >= 0x80 {
            self.0.push(n.to_le_bytes()[0] | 0x80);
            n >>= 7;
        }
        self.0.push(n.to_le_bytes()[0]);
    }

    pub fn size(&mut self, n: usize) {
        self.count(n as u64);
    }

    pub fn bytes(&mut self, bytes: &[u8]) {
        self.size(bytes.len());
        self.0.extend_from_slice(bytes);
    }

    pub fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    pub fn flag(&mut self, is: bool) {
        self.0.push(u8::from(is));
    }

    pub fn instants<const N: usize>(&mut self, instants: Option<[i64; N]>) {
        self.flag(instants.is_some());
        instants.iter().flatten().for_each(|at| self.0.extend_from_slice(&at.to_le_bytes()));
    }

    pub fn range(&mut self, range: &Range<usize>) {
        self.size(range.start);
        self.size(range.end);
    }

    pub fn value(&mut self, value: &Value<'_>) {
        match value {
            Value::Int(n) => self.number(0, n.to_le_bytes()),
            Value::UInt(n) => self.number(1, n.to_le_bytes()),
            Value::Float(n) => self.number(2, n.to_le_bytes()),
            Value::Bool(is) => self.0.extend_from_slice(&[3, u8::from(*is)]),
            Value::Str(text) => {
                self.0.push(4);
                self.text(text);
            }
        }
    }

    fn number(&mut self, tag: u8, bytes: [u8; 8]) {
        self.0.push(tag);
        self.0.extend_from_slice(&bytes);
    }
}

/// Bytes that are read; they may be anything.
pub struct Take<'a>(pub &'a [u8]);

impl<'a> Take<'a> {
    fn first(&mut self, len: usize) -> Result<&'a [u8], String> {
        let (first, rest) = self.0.split_at_checked(len).ok_or_else(damaged)?;
        self.0 = rest;
        Ok(first)
    }

    pub fn byte(&mut self) -> Result<u8, String> {
        self.first(1)?.first().copied().ok_or_else(damaged)
    }

    pub fn count(&mut self) -> Result<u64, String> {
        let mut n = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if bits << shift >> shift != bits {
                break;
            }
            n |= bits << shift;
            if byte < 0x80 {
                return Ok(n);
            }
        }
        Err(damaged())
    }

    /// A length or a number of things, each of which takes a byte at least.
    pub fn size(&mut self) -> Result<usize, String> {
        let n = usize::try_from(self.count()?).map_err(|_| damaged())?;
        if n <= self.0.len() { Ok(n) } else { Err(damaged()) }
    }

    pub fn bytes(&mut self) -> Result<&'a [u8], String> {
        let len = self.size()?;
        self.first(len)
    }

    pub fn text(&mut self) -> Result<&'a str, String> {
        std::str::from_utf8(self.bytes()?).map_err(|_| damaged())
    }

    pub fn flag(&mut self) -> Result<bool, String> {
        match self.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(damaged()),
        }
    }

    fn eight(&mut self) -> Result<[u8; 8], String> {
        self.first(8)?.try_into().map_err(|_| damaged())
    }

    pub fn instants<const N: usize>(&mut self) -> Result<Option<[i64; N]>, String> {
        if !self.flag()? {
            return Ok(None);
        }
        let mut instants = [0; N];
        for at in &mut instants {
            *at = i64::from_le_bytes(self.eight()?);
        }
        Ok(Some(instants))
    }

    /// A range that begins at `least` or behind it and ends at `most` or before.
    pub fn range(&mut self, least: usize, most: usize) -> Result<Range<usize>, String> {
        let (start, end) = (self.count()?, self.count()?);
        match (usize::try_from(start), usize::try_from(end)) {
            (Ok(start), Ok(end)) if least <= start && start <= end && end <= most => Ok(start..end),
            _ => Err(damaged()),
        }
    }

    pub fn value(&mut self) -> Result<Value<'a>, String> {
        Ok(match self.byte()? {
            0 => Value::Int(i64::from_le_bytes(self.eight()?)),
            1 => Value::UInt(u64::from_le_bytes(self.eight()?)),
            2 => Value::Float(f64::from_le_bytes(self.eight()?)),
            3 => Value::Bool(self.flag()?),
            4 => Value::Str(Cow::Borrowed(self.text()?)),
            _ => return Err(damaged()),
        })
    }
}
