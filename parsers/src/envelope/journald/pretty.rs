//! `-o json-pretty`: `{`, one field a line behind a TAB, `}`. The object itself is that of `json.rs`.
//!
//! journalctl escapes line ends in strings, so a line that is not indented ends the object whatever the values hold.

use super::{json, short};
use crate::format::{Content, Entry};
use crate::record::{line_len, trim_end};

/// Does an entry begin with this line?
pub fn begins(line: &[u8]) -> bool {
    trim_end(line) == b"{"
}

/// Reads the entry at `bytes[at]`.
pub fn read(bytes: &[u8], at: usize, entry: &mut Entry) -> usize {
    let all = &bytes[at..];
    let mut len = line_len(all);
    if trim_end(&all[..len]) != b"{" {
        return short::other(all, len, entry);
    }
    while len < all.len() {
        let next = line_len(&all[len..]);
        let line = &all[len..len + next];
        if trim_end(line) == b"}" {
            len += next;
            json::read_object(trim_end(&all[..len]), entry);
            return len;
        }
        if !matches!(line[0], b'\t' | b' ') {
            break;
        }
        len += next;
    }
    entry.content = Content::Broken("JSON ends early");
    len
}
