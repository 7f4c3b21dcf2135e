//! Ray's driver log: which actor, task or daemon wrote the line.

use memchr::{memchr, memmem};

use super::{digits, every_line, keep, number, say, uncoloured};
use crate::format::{Entry, Envelope};

/// `(NAME pid=31021, ip=10.42.0.7) line`.
pub static RAY: Envelope = Envelope {
    name: "ray",
    about: "Ray's driver log: the actor's name, process and node before every line",
    shape: "`(NAME pid=N, ip=A) ` and the line",
    begins: every_line,
    read: |bytes, at, entry| super::line(bytes, at, entry, labelled),
    least: 3,
    respells: true,
    marks: None,
    cuts: false,
    yearless: false,
};

/// A label is no longer than this.
const MAX_LABEL: usize = 256;

/// Ray's own processes, which print no pid.
const DAEMONS: [&[u8]; 3] = [b"raylet", b"gcs_server", b"autoscaler"];

fn labelled(line: &[u8], entry: &mut Entry) -> Option<()> {
    let plain = uncoloured(line);
    let inside = plain.strip_prefix(b"(")?;
    let window = &inside[..inside.len().min(MAX_LABEL)];
    let len = writer(window, entry)?;
    let behind = uncoloured(&inside[len..]);
    let text = match behind.first() {
        None => behind,
        Some(b' ') => &behind[1..],
        Some(_) => return None,
    };
    let (text, repeated) = repeated(text);
    entry.text.extend_from_slice(text);
    if let Some(times) = repeated {
        keep(entry, "repeated", times);
    }
    Some(())
}

/// Reads `NAME pid=N, ip=A)` and returns its length. A name may hold brackets and blanks.
fn writer(window: &[u8], entry: &mut Entry) -> Option<usize> {
    let (name, mut at) = match memmem::find(window, b" pid=") {
        Some(at) => {
            let pid = &window[at + 5..];
            let len = digits(pid, 10);
            entry.meta.pid = Some(number(&pid[..len])?);
            (&window[..at], at + 5 + len)
        }
        None => {
            let name = DAEMONS.iter().find(|name| window.starts_with(name))?;
            // `(autoscaler +3s)`
            let age = if window[name.len()..].starts_with(b" +") { memchr(b')', &window[name.len()..])? } else { 0 };
            (&window[..name.len()], name.len() + age)
        }
    };
    if let Some(ip) = window[at..].strip_prefix(b", ip=") {
        let len = ip.iter().take_while(|b| b.is_ascii_hexdigit() || matches!(b, b'.' | b':')).count();
        keep(entry, "ip", &ip[..len]);
        at += 5 + len;
    }
    if window.get(at) != Some(&b')') {
        return None;
    }
    say(&mut entry.meta.ident, name);
    Some(at + 1)
}

/// `text [repeated 3x across cluster]`, behind which Ray once explains what that is: the text and the number.
fn repeated(text: &[u8]) -> (&[u8], Option<&[u8]>) {
    const BEFORE: &[u8] = b" [repeated ";
    const BEHIND: &[u8] = b"x across cluster]";
    let Some(at) = memmem::rfind(text, BEFORE) else { return (text, None) };
    let count = &text[at + BEFORE.len()..];
    let len = digits(count, 9);
    let Some(rest) = count[len..].strip_prefix(BEHIND).filter(|_| len > 0) else { return (text, None) };
    let rest = uncoloured(rest);
    if !(rest.is_empty() || rest.starts_with(b" (Ray deduplicates logs by default.")) {
        return (text, None);
    }
    // The mark has a colour of its own.
    let mut end = at;
    if let Some(escape) = memchr::memrchr(0x1b, &text[..at])
        && escape + crate::record::escape_len(&text[escape..]) == at
    {
        end = escape;
    }
    (&text[..end], Some(&count[..len]))
}
