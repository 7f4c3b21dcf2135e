//! Syslog: what rsyslog writes into files, and what goes over the wire.
//!
//! rsyslog's files look like `journalctl -o short` and `short-iso-precise`. Where a file holds nothing that only rsyslog writes, it is read
//! as journald's, which gives the same entries.

mod frames;
mod header;
mod rfc5424;

use super::every_line;
use crate::format::{Entry, Envelope};
use crate::record::line_len;

/// rsyslog's traditional file format.
pub static TRADITIONAL: Envelope = Envelope {
    name: "syslog",
    about: "rsyslog's traditional file format: whole seconds, no year, no zone",
    shape: "`Mon DD HH:MM:SS HOST TAG[PID]: ` with rsyslog's escapes",
    begins: every_line,
    read: |bytes, at, entry| super::line(bytes, at, entry, |line, entry| header::file(line, entry, header::yearless)),
    least: 1,
    respells: true,
    marks: Some(|sample| is_rsyslog(sample, header::yearless)),
    cuts: false,
    yearless: true,
};

/// rsyslog's RSYSLOG_FileFormat.
pub static FILE_FORMAT: Envelope = Envelope {
    name: "syslog-iso",
    about: "rsyslog's RSYSLOG_FileFormat: microseconds, numeric zone",
    shape: "`YYYY-MM-DDTHH:MM:SS.ffffff+HH:MM HOST TAG[PID]: ` with rsyslog's escapes",
    begins: every_line,
    read: |bytes, at, entry| super::line(bytes, at, entry, |line, entry| header::file(line, entry, header::iso)),
    least: 1,
    respells: true,
    marks: Some(|sample| is_rsyslog(sample, header::iso)),
    cuts: false,
    yearless: false,
};

/// RFC 3164 with its priority: rsyslog's forward formats, `logger`.
pub static RFC3164: Envelope = Envelope {
    name: "syslog-3164",
    about: "syslog with a priority (RFC 3164, rsyslog's forward formats)",
    shape: "`<PRI>Mon DD HH:MM:SS HOST TAG[PID]: `",
    begins: begins_3164,
    read: read_3164,
    least: 1,
    respells: true,
    marks: None,
    cuts: false,
    yearless: true,
};

/// RFC 5424: rsyslog's protocol23 file format, `logger --rfc5424`, octet counting.
pub static RFC5424: Envelope = Envelope {
    name: "syslog-5424",
    about: "syslog with a version (RFC 5424), also with octet counts",
    shape: "`<PRI>1 STAMP HOST APP PROCID MSGID - `",
    begins: begins_5424,
    read: read_5424,
    least: 1,
    respells: true,
    marks: None,
    cuts: false,
    yearless: false,
};

/// So many lines of a sample are looked at for what only rsyslog writes.
const LINES: usize = 2_000;

/// Does a sample hold what rsyslog writes and journalctl does not: control characters as `#012`, days padded with a blank; and no lines that
/// journalctl indents?
fn is_rsyslog(sample: &[u8], stamp: header::Read) -> bool {
    let mut found = false;
    let mut rest = sample;
    for _ in 0..LINES {
        let (line, behind) = rest.split_at(line_len(rest));
        if line.is_empty() {
            break;
        }
        rest = behind;
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        if line.starts_with(b"          ") || line.starts_with(b"-- Boot ") {
            return false;
        }
        let Some(raw) = stamp(line) else { continue };
        found |= line.get(4) == Some(&b' ') && line[3] == b' ';
        found |= header::has_escape(&line[raw.len as usize..]);
    }
    found
}

fn read_3164(bytes: &[u8], at: usize, entry: &mut Entry) -> usize {
    frames::read(bytes, at, entry, header::read_message)
}

fn begins_3164(line: &[u8]) -> bool {
    header::begins(frames::message(line))
}

fn read_5424(bytes: &[u8], at: usize, entry: &mut Entry) -> usize {
    frames::read(bytes, at, entry, rfc5424::read_message)
}

fn begins_5424(line: &[u8]) -> bool {
    rfc5424::begins(frames::message(line))
}

/// PID 1's lines name the unit that they speak of.
fn unit_of(entry: &mut Entry) {
    if entry.meta.pid == Some(1)
        && entry.meta.ident == "systemd"
        && let Some(unit) = crate::systemd::unit_of(&entry.text)
    {
        super::say(&mut entry.meta.unit, unit);
        entry.meta.unit_source = "text of the PID 1 message";
    }
}
