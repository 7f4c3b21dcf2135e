//! The log files of Kubernetes' container runtimes: containerd and CRI-O.

use super::{every_line, stamped};
use crate::format::{Cut, Entry, Envelope};

/// `/var/log/pods/NAMESPACE_POD_UID/CONTAINER/0.log`.
pub static CRI: Envelope = Envelope {
    name: "cri",
    about: "containerd's and CRI-O's log files: stamp, stream, and whether the line goes on",
    shape: "`YYYY-MM-DDTHH:MM:SS.nnnnnnnnnZ stdout F `",
    begins: every_line,
    read: |bytes, at, entry| super::line(bytes, at, entry, cri),
    least: 1,
    respells: true,
    marks: None,
    cuts: true,
    yearless: false,
};

fn cri(line: &[u8], entry: &mut Entry) -> Option<()> {
    let stamp = stamped::read(line)?;
    let rest = line.get(stamp.len as usize..)?.strip_prefix(b" ")?;
    let (stream, rest) = match rest.get(..7)? {
        b"stdout " => ("stdout", &rest[7..]),
        b"stderr " => ("stderr", &rest[7..]),
        _ => return None,
    };
    // Further tags may follow a colon.
    let end = memchr::memchr(b' ', rest).unwrap_or(rest.len());
    let (tag, text) = (&rest[..end], rest.get(end + 1..).unwrap_or(&[]));
    let (first, further) = tag.split_first()?;
    if !(further.is_empty() || further[0] == b':') {
        return None;
    }
    entry.meta.cut = match first {
        b'F' => Cut::No,
        b'P' => Cut::Certain,
        _ => return None,
    };
    entry.meta.stamp = Some(stamp);
    entry.meta.stream = stream;
    entry.text.extend_from_slice(text);
    Some(())
}
