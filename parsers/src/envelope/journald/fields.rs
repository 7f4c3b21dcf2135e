//! Journal fields (`NAME=value`) into what an envelope says of its entry. Shared by export and json.
//!
//! Names: systemd.journal-fields(7).

use std::borrow::Cow;

use super::cut;
use crate::format::{Content, Entry, Meta};
use crate::stamp::RawStamp;

/// The loss of `"MESSAGE": null`.
pub const NULL_MESSAGE: &str = "MESSAGE is null: too large for -o json without --all";
/// The loss of a repeated MESSAGE.
pub const SEVERAL_MESSAGES: &str = "several MESSAGE values, the last one kept";

/// A value and where it stands in the entry's bytes.
#[derive(Clone, Debug)]
pub struct Value<'a> {
    /// `None` is JSON's `null`: journalctl left the value out.
    pub bytes: Option<Cow<'a, [u8]>>,
    pub at: usize,
    pub len: usize,
}

/// What has been seen of one entry and cannot be decided before its end.
#[derive(Debug, Default)]
pub struct Fields<'a> {
    message: Option<Value<'a>>,
    messages: usize,
    source: Option<RawStamp>,
    ident: Option<Cow<'a, [u8]>>,
    comm: Option<Cow<'a, [u8]>>,
    pid: Option<u32>,
    syslog_pid: Option<u32>,
    system_unit: Option<Cow<'a, [u8]>>,
    user_unit: Option<Cow<'a, [u8]>>,
    /// `UNIT`/`USER_UNIT`: of whom a manager speaks.
    spoken: Option<Cow<'a, [u8]>>,
    spoken_user: Option<Cow<'a, [u8]>>,
    invocation: Option<Cow<'a, [u8]>>,
    spoken_invocation: Option<Cow<'a, [u8]>>,
    /// The message's bytes were garbled by the mode.
    pub garbled: bool,
}

/// Is this a field that [`Fields::set`] looks at? Lets a reader skip the decoding of all others.
pub fn wanted(name: &[u8]) -> bool {
    // The order is that of how often a field occurs.
    matches!(
        name,
        b"MESSAGE"
            | b"__REALTIME_TIMESTAMP"
            | b"_SOURCE_REALTIME_TIMESTAMP"
            | b"__MONOTONIC_TIMESTAMP"
            | b"_HOSTNAME"
            | b"SYSLOG_IDENTIFIER"
            | b"_COMM"
            | b"_PID"
            | b"SYSLOG_PID"
            | b"PRIORITY"
            | b"_BOOT_ID"
            | b"_SYSTEMD_UNIT"
            | b"_SYSTEMD_USER_UNIT"
            | b"_SYSTEMD_INVOCATION_ID"
            | b"UNIT"
            | b"USER_UNIT"
            | b"INVOCATION_ID"
            | b"USER_INVOCATION_ID"
    ) || kept(name)
}

/// Fields that are passed on under their own name.
fn kept(name: &[u8]) -> bool {
    matches!(
        name,
        b"_TRANSPORT"
            | b"_STREAM_ID"
            | b"_LINE_BREAK"
            | b"MESSAGE_ID"
            | b"JOB_ID"
            | b"JOB_TYPE"
            | b"JOB_RESULT"
            | b"RESULT"
            | b"UNIT_RESULT"
            | b"EXIT_CODE"
            | b"EXIT_STATUS"
            | b"COMMAND"
            | b"N_RESTARTS"
            | b"N_DROPPED"
            | b"EXECUTABLE"
            | b"ERRNO"
            | b"CPU_USAGE_NSEC"
            | b"MEMORY_PEAK"
            | b"OBJECT_SYSTEMD_UNIT"
            | b"OBJECT_SYSTEMD_INVOCATION_ID"
            | b"CODE_FILE"
            | b"CODE_LINE"
            | b"CODE_FUNC"
    )
}

impl<'a> Fields<'a> {
    /// Takes one field. Of a repeated one the last value counts, but for those in `more`, which keeps all.
    pub fn set(&mut self, meta: &mut Meta, name: &[u8], value: Value<'a>) {
        if name == b"MESSAGE" {
            self.messages += 1;
            self.message = Some(value);
            return;
        }
        let Value { bytes: Some(bytes), at, len } = value else { return };
        match name {
            b"__REALTIME_TIMESTAMP" => meta.received = micros(&bytes, at, len),
            b"_SOURCE_REALTIME_TIMESTAMP" => self.source = micros(&bytes, at, len),
            b"__MONOTONIC_TIMESTAMP" => meta.monotonic = number(&bytes).and_then(|us| us.checked_mul(1_000)),
            b"_HOSTNAME" => put(&mut meta.host, &bytes),
            b"SYSLOG_IDENTIFIER" => self.ident = Some(bytes),
            b"_COMM" => self.comm = Some(bytes),
            b"_PID" => self.pid = number(&bytes).and_then(|n| u32::try_from(n).ok()),
            b"SYSLOG_PID" => self.syslog_pid = number(&bytes).and_then(|n| u32::try_from(n).ok()),
            b"PRIORITY" => meta.priority = number(&bytes).filter(|n| (0..8).contains(n)).map(|n| n as u8),
            b"_BOOT_ID" => put(&mut meta.boot, &bytes),
            b"_SYSTEMD_UNIT" => self.system_unit = Some(bytes),
            b"_SYSTEMD_USER_UNIT" => self.user_unit = Some(bytes),
            b"_SYSTEMD_INVOCATION_ID" => self.invocation = Some(bytes),
            b"UNIT" => self.spoken = Some(bytes),
            b"USER_UNIT" => self.spoken_user = Some(bytes),
            b"INVOCATION_ID" | b"USER_INVOCATION_ID" => self.spoken_invocation = Some(bytes),
            _ if kept(name) => {
                // v245 writes `OBJECT_SYSTEMD_INVOCATION_ID==0371…`.
                let bytes = if name == b"OBJECT_SYSTEMD_INVOCATION_ID" { bytes.strip_prefix(b"=").unwrap_or(&bytes) } else { &bytes };
                if name == b"_LINE_BREAK" {
                    meta.loss = cut_by_journald(bytes).or(meta.loss);
                }
                meta.more.push((lossy(name), lossy(bytes)));
            }
            _ => {}
        }
    }

    /// Puts everything where it belongs once the entry's end is reached.
    pub fn finish(self, entry: &mut Entry) {
        let meta = &mut entry.meta;
        meta.stamp = self.source.or(meta.received);
        meta.pid = self.pid.or(self.syslog_pid);
        if let Some(ident) = self.ident.as_ref().or(self.comm.as_ref()) {
            put(&mut meta.ident, ident);
        }
        // Anybody may send UNIT=; only a manager's is believed. A user manager is `init.scope` of its user.
        // The child between fork and exec speaks with a pid of its own, and when it ends quickly journald finds no unit for it.
        let unknown = self.system_unit.is_none() && self.user_unit.is_none();
        let manager = unknown || self.pid == Some(1) || self.system_unit.as_deref() == Some(b"init.scope");
        let user_manager = self.user_unit.as_deref() == Some(b"init.scope") || (manager && self.spoken.is_none());
        let choices = [
            ("UNIT", if manager { self.spoken.as_ref() } else { None }),
            ("USER_UNIT", if user_manager { self.spoken_user.as_ref() } else { None }),
            ("_SYSTEMD_USER_UNIT", self.user_unit.as_ref()),
            ("_SYSTEMD_UNIT", self.system_unit.as_ref()),
        ];
        for (source, unit) in choices {
            if let Some(unit) = unit {
                put(&mut meta.unit, unit);
                meta.unit_source = source;
                break;
            }
        }
        let speaks = matches!(meta.unit_source, "UNIT" | "USER_UNIT");
        let invocation = if speaks { self.spoken_invocation.as_ref() } else { self.invocation.as_ref() };
        if let Some(invocation) = invocation {
            put(&mut meta.invocation, invocation);
        }
        meta.lossy = self.garbled;
        let text = self.message.as_ref().and_then(|message| message.bytes.as_deref());
        meta.cut = cut::by_fields(&meta.more, text.unwrap_or(&[]));
        match self.message {
            None => entry.content = Content::Skip("entry without MESSAGE"),
            Some(Value { bytes: None, .. }) => {
                meta.loss = Some(NULL_MESSAGE);
                meta.lossy = true;
            }
            Some(Value { bytes: Some(bytes), .. }) => {
                entry.text.extend_from_slice(&bytes);
                if self.messages > 1 {
                    meta.loss = Some(SEVERAL_MESSAGES);
                }
            }
        }
    }
}

/// `_LINE_BREAK` values that say that the line goes on in another entry (v235+).
fn cut_by_journald(value: &[u8]) -> Option<&'static str> {
    match value {
        b"line-max" => Some("line cut by journald at LineMax, the rest is another entry"),
        b"nul" => Some("line cut by journald at a NUL, the rest is another entry"),
        b"pid-change" => Some("line cut by journald because another process wrote"),
        _ => None,
    }
}

fn micros(bytes: &[u8], at: usize, len: usize) -> Option<RawStamp> {
    let stamp = crate::stamp::from_unix_us(number(bytes)?)?;
    Some(RawStamp { at: u32::try_from(at).unwrap_or(0), len: u32::try_from(len).unwrap_or(0), ..stamp })
}

/// A decimal number that spans all of `bytes`.
fn number(bytes: &[u8]) -> Option<i64> {
    if bytes.is_empty() || bytes.len() > 19 || !bytes.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(bytes).ok()?.parse().ok()
}

/// Writes text into a reused string.
pub fn put(into: &mut String, bytes: &[u8]) {
    into.clear();
    into.push_str(&String::from_utf8_lossy(bytes));
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
