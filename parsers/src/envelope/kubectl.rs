//! `kubectl logs --prefix`, with and without `--timestamps`. Stamps alone are `docker-timestamps`.

use memchr::memchr;

use super::{every_line, keep, say, stamped};
use crate::format::{Entry, Envelope};

/// `[pod/NAME/CONTAINER] ` before every line.
pub static PREFIX: Envelope = Envelope {
    name: "kubectl",
    about: "kubectl logs --prefix, with or without --timestamps",
    shape: "`[pod/NAME/CONTAINER] ` and the line",
    begins: every_line,
    read: |bytes, at, entry| super::line(bytes, at, entry, prefixed),
    least: 1,
    respells: true,
    marks: None,
    cuts: false,
    yearless: false,
};

fn prefixed(line: &[u8], entry: &mut Entry) -> Option<()> {
    let rest = line.strip_prefix(b"[pod/")?;
    let slash = memchr(b'/', &rest[..rest.len().min(256)])?;
    let (pod, rest) = (&rest[..slash], &rest[slash + 1..]);
    let end = memchr(b']', &rest[..rest.len().min(256)])?;
    let (container, rest) = (&rest[..end], &rest[end + 1..]);
    if ![pod, container].iter().all(|name| is_name(name)) {
        return None;
    }
    let text = match rest.first() {
        None => rest,
        Some(b' ') => &rest[1..],
        Some(_) => return None,
    };
    let meta = &mut entry.meta;
    say(&mut meta.unit, pod);
    meta.unit_source = "pod";
    say(&mut meta.ident, container);
    stamped::behind(text, line.len() - text.len(), entry);
    keep(entry, "pod", pod);
    keep(entry, "container", container);
    Some(())
}

/// A name of Kubernetes: letters, digits, `-` and `.`.
fn is_name(name: &[u8]) -> bool {
    !name.is_empty() && name.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_'))
}
