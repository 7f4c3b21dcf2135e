//! `-o export`: `NAME=value` lines and length-prefixed binary fields, entries end with an empty line.
//!
//! Format: <https://systemd.io/JOURNAL_EXPORT_FORMATS/>. A damaged entry takes only what was read up to the damage, so every byte is
//! looked at a fixed number of times whatever lengths the bytes claim.
//!
//! What is said of an entry depends on its own bytes alone, which end where the next line begins an entry. What a length says of bytes behind
//! that must not matter: a source that grows, and a read from the next entry on, would see other records.

use std::borrow::Cow;
use std::ops::Range;

use memchr::{memchr, memmem};

use super::fields::{Fields, Value};
use super::short;
use crate::format::{Content, Entry};
use crate::record::{line_len, trim_end};

/// Damage is handed on in pieces of at most this size.
const MAX_DAMAGE: usize = 64 << 10;

/// journald refuses fields with longer names.
const MAX_NAME: usize = 64;

/// Why a binary field is not believed. One reason for all: whether its length leads into the next entry, into the middle of something, or
/// behind the source depends on what has come behind the entry so far.
pub const NO_END: &str = "a binary field does not end in its entry where its length says";

/// Does an entry begin with this line?
pub fn begins(line: &[u8]) -> bool {
    line.starts_with(b"__CURSOR=")
}

/// Reads the entry at `bytes[at]`.
pub fn read(bytes: &[u8], at: usize, entry: &mut Entry) -> usize {
    let all = &bytes[at..];
    // A piece of damage may begin in the middle of a line.
    let is_line = at == 0 || bytes[at - 1] == b'\n';
    if !(is_line && begins(all)) {
        let line = line_len(all);
        if trim_end(&all[..line]).is_empty() {
            entry.content = Content::Skip("blank line");
            return line;
        }
        if let Some(reason) = short::marker(&all[..line]) {
            entry.content = Content::Skip(reason);
            return line;
        }
        return damage(all, 0, entry, "not the start of an entry");
    }
    let mut fields = Fields::default();
    let mut pos = 0;
    while pos < all.len() {
        let len = line_len(&all[pos..]);
        let line = all[pos..pos + len].strip_suffix(b"\n").unwrap_or(&all[pos..pos + len]);
        if line.is_empty() {
            pos += len;
            break;
        }
        if pos > 0 && begins(line) {
            entry.meta.loss = Some("entry without its last line");
            break;
        }
        let name = &line[..memchr(b'=', &line[..line.len().min(MAX_NAME + 1)]).unwrap_or(line.len())];
        if !is_name(name) {
            return damage(all, pos, entry, "not a field");
        }
        if name.len() < line.len() {
            let value = &line[name.len() + 1..];
            let value = Value { bytes: Some(Cow::Borrowed(value)), at: pos + name.len() + 1, len: value.len() };
            fields.set(&mut entry.meta, name, value);
            pos += len;
            continue;
        }
        let Some(data) = data(all, pos + len) else {
            return damage(all, pos, entry, NO_END);
        };
        let end = data.end;
        let value = Value { bytes: Some(Cow::Borrowed(&all[data.clone()])), at: data.start, len: data.len() };
        fields.set(&mut entry.meta, name, value);
        pos = end + 1;
    }
    fields.finish(entry);
    pos
}

/// Where the data stands whose length is at `at`. `None` unless a line end follows it and no line in it begins an entry: it might be of this
/// field, but a read that starts there cannot know that.
fn data(all: &[u8], at: usize) -> Option<Range<usize>> {
    let start = at + 8;
    // Bytes of a length that belong to such a line make it longer than any source.
    let size = u64::from_le_bytes(all.get(at..start)?.try_into().ok()?);
    let end = start.checked_add(usize::try_from(size).ok()?)?;
    let ends = all.get(end) == Some(&b'\n') && memmem::find(&all[start..end], b"\n__CURSOR=").is_none();
    ends.then_some(start..end)
}

fn is_name(name: &[u8]) -> bool {
    !name.is_empty() && name.len() <= MAX_NAME && name.iter().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || *b == b'_')
}

/// Gives up at `pos`: everything up to the next line that begins an entry.
fn damage(all: &[u8], pos: usize, entry: &mut Entry, reason: &'static str) -> usize {
    entry.clear();
    entry.content = Content::Broken(reason);
    let limit = all.len().min(pos + MAX_DAMAGE);
    let mut end = pos;
    loop {
        end += line_len(&all[end..limit]);
        // The limit may stand inside the line that begins an entry.
        if end >= limit || begins(&all[end..]) {
            return end;
        }
    }
}
