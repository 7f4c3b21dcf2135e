//! `-o export`: `NAME=value` lines and length-prefixed binary fields, entries end with an empty line.
//!
//! Format: <https://systemd.io/JOURNAL_EXPORT_FORMATS/>. A damaged entry takes only what was read up to the damage, so every byte is
//! looked at a fixed number of times whatever lengths the bytes claim.

use std::borrow::Cow;

use memchr::{memchr, memmem};

use super::fields::{Fields, Value};
use super::short;
use crate::format::{Content, Entry};
use crate::record::{line_len, trim_end};

/// Damage is handed on in pieces of at most this size.
const MAX_DAMAGE: usize = 64 << 10;

/// journald refuses fields with longer names.
const MAX_NAME: usize = 64;

/// Does an entry begin with this line? Wherever a read starts it must see the same entries, so a binary field that holds such a line is damage.
pub fn begins(line: &[u8]) -> bool {
    line.starts_with(b"__CURSOR=")
}

/// Reads the entry at `bytes[at]`.
pub fn read(bytes: &[u8], at: usize, entry: &mut Entry) -> usize {
    let all = &bytes[at..];
    if !begins(all) {
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
        let data = pos + len;
        let Some(size) = all.get(data..data + 8).and_then(|b| <[u8; 8]>::try_from(b).ok()).map(u64::from_le_bytes) else {
            return damage(all, pos, entry, "a binary field ends before its length");
        };
        let rest = all.len() - data - 8;
        let Some(size) = usize::try_from(size).ok().filter(|size| *size < rest) else {
            return damage(all, pos, entry, "a binary field is longer than the source");
        };
        let end = data + 8 + size;
        if all[end] != b'\n' {
            return damage(all, pos, entry, "a binary field does not end where it says");
        }
        let value = &all[data + 8..end];
        if memmem::find(value, b"\n__CURSOR=").is_some() {
            return damage(all, pos, entry, "a binary field that holds the start of an entry");
        }
        let value = Value { bytes: Some(Cow::Borrowed(value)), at: data + 8, len: size };
        fields.set(&mut entry.meta, name, value);
        pos = end + 1;
    }
    fields.finish(entry);
    pos
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
        if end >= limit || begins(&all[end..limit]) {
            return end;
        }
    }
}
