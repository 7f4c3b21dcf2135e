//! The stamp that Docker and the kubelet put before a line: RFC 3339 with a blank behind it.

use crate::format::Entry;
use crate::stamp::{RawStamp, Zone, read_iso};

/// Docker and the kubelet put a stamp before every part of a long line, and some versions of their clients print them all: docker/cli#4941,
/// and kubelets before 1.20 or so.
const PART: usize = 16_384;

/// `2026-06-10T14:00:12.496123Z` or with an offset at the start of `text`, in which Go leaves out zeros at the end: the digits are exact.
pub fn read(text: &[u8]) -> Option<RawStamp> {
    if text.get(10) != Some(&b'T') {
        return None;
    }
    let mut stamp = read_iso(text)?;
    let zoned = matches!(stamp.zone, Zone::Utc | Zone::Offset(_));
    stamp.width = 1;
    zoned.then_some(stamp)
}

/// The same with all nine digits, and the blank behind it: `docker logs -t`, `kubectl logs --timestamps`. Dynamo's and other programs' own
/// stamps have three or six digits. Returns the length with the blank.
pub fn nine_digits(text: &[u8]) -> Option<(RawStamp, usize)> {
    if text.get(19) != Some(&b'.') || super::digits(text.get(20..)?, 10) != 9 {
        return None;
    }
    let stamp = read(text)?;
    let len = stamp.len as usize;
    match text.get(len) {
        Some(b' ') => Some((stamp, len + 1)),
        // An empty line whose blank an editor took.
        None => Some((stamp, len)),
        Some(_) => None,
    }
}

/// Takes what stands behind an envelope's own prefix, at byte `at` of the line: with or without such a stamp.
pub fn behind(text: &[u8], at: usize, entry: &mut Entry) {
    match nine_digits(text) {
        Some((stamp, len)) => {
            entry.meta.stamp = Some(RawStamp { at: at as u32, ..stamp });
            append(text.get(len..).unwrap_or(&[]), &mut entry.text);
        }
        None => entry.text.extend_from_slice(text),
    }
}

/// Appends `text` without the stamps that stand behind every 16384 bytes of it.
pub fn append(text: &[u8], into: &mut Vec<u8>) {
    let mut rest = text;
    while let Some(behind) = rest.get(PART..) {
        let Some((_, len)) = nine_digits(behind) else { break };
        into.extend_from_slice(&rest[..PART]);
        rest = &behind[len..];
    }
    into.extend_from_slice(rest);
}
