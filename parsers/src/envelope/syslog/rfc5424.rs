//! `<PRI>1 STAMP HOST APP PROCID MSGID STRUCTURED-DATA text`

use memchr::memchr;

use super::header::{limit, priority, unescape};
use super::unit_of;
use crate::envelope::{keep, keep_any, number, say};
use crate::format::Entry;
use crate::stamp::{Zone, read_iso};

/// Does a message of RFC 5424 begin here?
pub fn begins(text: &[u8]) -> bool {
    head(text).is_some()
}

/// Priority, facility and length of `<PRI>1 ` before a stamp or `-`.
fn head(text: &[u8]) -> Option<(u8, u8, usize)> {
    let (level, facility, len) = priority(text)?;
    let rest = text[len..].strip_prefix(b"1 ")?;
    let stamped = rest.starts_with(b"- ") || (rest.get(10) == Some(&b'T') && read_iso(rest).is_some());
    stamped.then_some((level, facility, len + 2))
}

/// Reads one message.
pub fn read_message(message: &[u8], entry: &mut Entry) -> Option<()> {
    let (level, facility, start) = head(message)?;
    let mut rest = &message[start..];
    if rest.starts_with(b"- ") {
        rest = &rest[2..];
    } else {
        let mut stamp = read_iso(rest)?;
        stamp.at = start as u32;
        rest = rest[stamp.len as usize..].strip_prefix(b" ")?;
        if stamp.zone != Zone::Naive {
            entry.meta.stamp = Some(stamp);
        }
    }
    let mut words = [&[][..]; 4];
    for word in &mut words {
        let end = memchr(b' ', rest)?;
        *word = if &rest[..end] == b"-" { b"" } else { &rest[..end] };
        rest = &rest[end + 1..];
    }
    let [host, app, process, id] = words;
    let data = structured(rest)?;
    let text = match rest.get(data) {
        None => &[][..],
        Some(b' ') => &rest[data + 1..],
        Some(_) => return None,
    };
    // rsyslog's protocol23 file format puts a second blank before the text, which is the first of what it received.
    let text = text.strip_prefix(b" ").unwrap_or(text);
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let meta = &mut entry.meta;
    meta.priority = Some(level);
    say(&mut meta.host, host);
    say(&mut meta.ident, app);
    meta.pid = number(process);
    keep(entry, "facility", facility.to_string().as_bytes());
    if !process.is_empty() && entry.meta.pid.is_none() {
        keep(entry, "procid", process);
    }
    if !id.is_empty() {
        keep(entry, "msgid", id);
    }
    if data > 1 {
        keep_any(entry, "structured_data", &String::from_utf8_lossy(&rest[..data]));
    }
    unescape(text, &mut entry.text);
    limit(entry, message.len());
    unit_of(entry);
    Some(())
}

/// Length of `-` or `[id name="value" …]…`, in whose values `\` escapes `"`, `\` and `]`.
fn structured(text: &[u8]) -> Option<usize> {
    if text.first() == Some(&b'-') {
        return Some(1);
    }
    let mut at = 0;
    while text.get(at) == Some(&b'[') {
        let mut quoted = false;
        loop {
            at += 1;
            match text.get(at)? {
                b'\\' if quoted => at += 1,
                b'"' => quoted = !quoted,
                b']' if !quoted => break,
                _ => {}
            }
        }
        at += 1;
    }
    if at > 0 { Some(at) } else { None }
}
