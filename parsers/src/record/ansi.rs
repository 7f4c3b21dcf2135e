//! ANSI escape sequences: where they end, and text without them.

use memchr::memchr;

/// Copies `from` into `into` (cleared first) without ANSI escape sequences (CSI, OSC, two-byte escapes).
pub fn strip_ansi(from: &[u8], into: &mut Vec<u8>) {
    into.clear();
    let mut rest = from;
    while let Some(at) = memchr(0x1b, rest) {
        into.extend_from_slice(&rest[..at]);
        rest = &rest[at + escape_len(&rest[at..])..];
    }
    into.extend_from_slice(rest);
}

/// The same into a slice that is no shorter than `from`; returns the length.
pub fn strip_ansi_head(from: &[u8], into: &mut [u8]) -> usize {
    let (mut at, mut len) = (0, 0);
    while at < from.len() {
        if from[at] == 0x1b {
            at += escape_len(&from[at..]);
        } else {
            into[len] = from[at];
            at += 1;
            len += 1;
        }
    }
    len
}

/// Length of the escape sequence at `bytes[0]`, which is ESC.
pub fn escape_len(bytes: &[u8]) -> usize {
    match bytes.get(1) {
        Some(b'[') => {
            let end = bytes[2..].iter().position(|b| !(0x20..0x40).contains(b));
            match end {
                Some(i) if (0x40..0x7f).contains(&bytes[2 + i]) => i + 3,
                Some(i) => i + 2,
                None => bytes.len(),
            }
        }
        Some(b']') => {
            // An operating system command ends in BEL or ESC \; one that does not end within a line is only its two bytes.
            for (i, b) in bytes.iter().enumerate().skip(2) {
                match b {
                    0x07 => return i + 1,
                    0x1b => return if bytes.get(i + 1) == Some(&b'\\') { i + 2 } else { i },
                    b'\n' => return 2,
                    _ => {}
                }
            }
            2
        }
        Some(b) if (0x20..0x7f).contains(b) => 2,
        _ => 1,
    }
}
