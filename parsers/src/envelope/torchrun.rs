//! torchrun and PyTorch: which process wrote the line.

use memchr::memchr;

use super::{digits, every_line, keep};
use crate::format::{Entry, Envelope};

/// `[rank0]: line`, `[default0]:line`.
pub static TORCHRUN: Envelope = Envelope {
    name: "torchrun",
    about: "torchrun --tee and PyTorch: the process's rank before every line",
    shape: "`[rank0]: ` or `[default0]:` and the line",
    begins: every_line,
    read: |bytes, at, entry| super::line(bytes, at, entry, labelled),
    least: 3,
    respells: false,
    marks: None,
    cuts: false,
    yearless: false,
};

fn labelled(line: &[u8], entry: &mut Entry) -> Option<()> {
    let rest = line.strip_prefix(b"[")?;
    let end = memchr(b']', &rest[..rest.len().min(64)])?;
    let (label, text) = (&rest[..end], rest[end + 1..].strip_prefix(b":")?);
    let name = &label[..label.iter().position(u8::is_ascii_digit)?];
    let number = &label[name.len()..];
    let named = !name.is_empty() && name.iter().all(|b| b.is_ascii_alphabetic() || matches!(b, b'_' | b'-'));
    if !named || number.len() > 6 || digits(number, 6) != number.len() {
        return None;
    }
    let text = if name == b"rank" {
        keep(entry, "rank", number);
        text.strip_prefix(b" ").unwrap_or(text)
    } else {
        // A role and the rank within it on this node. No blank is put behind it; one blank alone is no indent.
        keep(entry, "role", name);
        keep(entry, "local_rank", number);
        match text {
            [b' ', first, ..] if *first != b' ' => &text[1..],
            _ => text,
        }
    };
    entry.text.extend_from_slice(text);
    Some(())
}
