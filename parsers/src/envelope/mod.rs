//! Containers around other programs' lines. One file or folder an envelope; sources, versions and traps: README.md and journald/README.md.

pub mod compose;
pub mod cri;
pub mod docker;
pub mod journald;
pub mod kubectl;
pub mod loki;
pub mod ray;
pub mod srun;
mod stamped;
pub mod syslog;
pub mod torchrun;

#[cfg(test)]
mod tests;

use crate::format::{Content, Entry};
use crate::record::{line_len, trim_end};

/// For envelopes whose every line is an entry.
fn every_line(_line: &[u8]) -> bool {
    true
}

/// Reads the line at `bytes[at]` as an entry if `parse` understands it, and else as a line that stands bare.
fn line(bytes: &[u8], at: usize, entry: &mut Entry, parse: fn(&[u8], &mut Entry) -> Option<()>) -> usize {
    let len = line_len(&bytes[at..]);
    let line = trim_end(&bytes[at..at + len]);
    if parse(line, entry).is_none() {
        entry.clear();
        entry.text.extend_from_slice(line);
        entry.content = Content::Bare;
    }
    len
}

/// Writes what the envelope says into a field of `Meta`.
fn say(into: &mut String, text: &[u8]) {
    into.clear();
    into.push_str(&String::from_utf8_lossy(text));
}

/// Keeps a further field.
fn keep(entry: &mut Entry, name: &str, text: &[u8]) {
    entry.meta.more.push((name.to_owned(), String::from_utf8_lossy(text).into_owned()));
}

/// Keeps a field whose name and value are the user's own (labels, `--log-opt env=`): a credential in it is withheld.
fn keep_any(entry: &mut Entry, name: &str, text: &str) {
    let is_secret = !crate::secret::find(format!("{name}={text}").as_bytes()).is_empty();
    keep(entry, name, if is_secret { "‹credential withheld›".as_bytes() } else { text.as_bytes() });
}

/// The text of the string that `key` has in a JSON object that ends early, if the object breaks off in that string or behind it.
fn torn(line: &[u8], key: &[u8]) -> Option<Vec<u8>> {
    let at = memchr::memmem::find(line, key)? + key.len();
    let rest = line[at..].trim_ascii_start().strip_prefix(b":")?.trim_ascii_start().strip_prefix(b"\"")?;
    let mut end = 0;
    while end < rest.len() && rest[end] != b'"' {
        end += if rest[end] == b'\\' { 2 } else { 1 };
    }
    // An escape may be torn too.
    let whole = end.min(rest.len());
    (0..=whole.min(12)).find_map(|less| {
        let quoted = [b"\"", &rest[..whole - less], b"\""].concat();
        serde_json::from_slice::<String>(&quoted).ok().map(String::into_bytes)
    })
}

/// How many of the first bytes are digits, at most `most`.
fn digits(bytes: &[u8], most: usize) -> usize {
    bytes.iter().take(most).take_while(|b| b.is_ascii_digit()).count()
}

/// A number in a few digits.
fn number(bytes: &[u8]) -> Option<u32> {
    if bytes.len() > 10 { None } else { u32::try_from(crate::stamp::digits(bytes)?).ok() }
}

/// Behind the escape sequences with which `line` begins.
fn uncoloured(line: &[u8]) -> &[u8] {
    let mut line = line;
    while line.first() == Some(&0x1b) {
        line = &line[crate::record::escape_len(line)..];
    }
    line
}
