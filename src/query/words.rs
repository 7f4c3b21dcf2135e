//! stub
use std::ops::Range;
pub fn words(bytes: &[u8]) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < bytes.len() && !(bytes[at].is_ascii_alphanumeric() || bytes[at] >= 0x80) {
            at += 1;
        }
        if at >= bytes.len() {
            return None;
        }
        let from = at;
        while at < bytes.len() && (bytes[at].is_ascii_alphanumeric() || bytes[at] >= 0x80) {
            at += 1;
        }
        Some(from..at)
    })
}
