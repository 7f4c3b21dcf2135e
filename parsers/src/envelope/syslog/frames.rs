//! Where a syslog message ends: at the line's, where its octet count says, or where the next datagram's head stands.

use memchr::memchr2;

use super::{header, rfc5424};
use crate::envelope::{digits, number};
use crate::format::{Content, Entry};
use crate::record::trim_end;

/// A count is believed up to this size.
const MAX_FRAME: usize = 1 << 20;

/// Reads the message at `bytes[at]`; one that `parse` does not understand stands bare.
pub fn read(bytes: &[u8], at: usize, entry: &mut Entry, parse: fn(&[u8], &mut Entry) -> Option<()>) -> usize {
    let rest = &bytes[at..];
    let (len, message) = match counted(rest) {
        Some((head, end)) => {
            let behind = usize::from(rest.get(end) == Some(&b'\n'));
            (end + behind, &rest[head..end])
        }
        None => {
            let len = datagram(rest);
            (len, message(&rest[..len]))
        }
    };
    let message = trim_end(message);
    if parse(message, entry).is_none() {
        entry.clear();
        entry.text.extend_from_slice(trim_end(&rest[..len]));
        entry.content = Content::Bare;
    }
    len
}

/// Without an octet count before it.
pub fn message(line: &[u8]) -> &[u8] {
    &line[count(line).map_or(0, |(_, head)| head)..]
}

/// `137 <`: the number and where the message begins.
fn count(bytes: &[u8]) -> Option<(usize, usize)> {
    let len = digits(bytes, 7);
    if len == 0 || bytes.get(len..len + 2) != Some(b" <") {
        return None;
    }
    Some((number(&bytes[..len])? as usize, len + 1))
}

/// Where a counted message begins and ends. Behind it something must stand that can: a wrong count is not followed.
fn counted(bytes: &[u8]) -> Option<(usize, usize)> {
    let (size, head) = count(bytes)?;
    let end = head.checked_add(size).filter(|end| size <= MAX_FRAME && *end <= bytes.len())?;
    // What follows is looked through once for each message, so one must begin here.
    let fits = begins(&bytes[head..]) && (matches!(bytes.get(end), None | Some(b'\n')) || begins(message(&bytes[end..])));
    // A jump into the message finds its head at the nearest line that begins one: no line inside may.
    let clear = || memchr::memchr_iter(b'\n', &bytes[head..head.max(end - 1)]).all(|i| !begins(message(&bytes[head + i + 1..])));
    (fits && clear()).then_some((head, end))
}

fn begins(message: &[u8]) -> bool {
    header::begins(message) || rfc5424::begins(message)
}

/// Length of the datagram with which `bytes` begin, to the line's end if none follows it in its line. Looks no farther than its end: a line
/// may hold a million of them.
fn datagram(bytes: &[u8]) -> usize {
    if bytes.first() == Some(&b'\n') {
        return 1;
    }
    let mut at = count(bytes).map_or(0, |(_, head)| head) + 1;
    while let Some(step) = bytes.get(at..).and_then(|rest| memchr2(b'<', b'\n', rest)) {
        at += step;
        if bytes[at] == b'\n' {
            return at + 1;
        }
        if begins(&bytes[at..]) {
            return at;
        }
        at += 1;
    }
    bytes.len()
}
