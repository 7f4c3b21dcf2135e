//! A rendering's entries with their times, and what differs from what they should be.

use std::collections::HashMap;
use std::io::Read;
use std::path::Path;

use base64::Engine;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::super::*;
use crate::clock::{Aligner, Clock, How, TurnFinder, read_rule};
use crate::format::{Content, Entry};

pub const NEWEST_YEAR: i32 = 2026;

/// One entry of a rendering.
pub struct Found {
    pub entry: Entry,
    /// 1-based.
    pub line: usize,
    /// The start of its stamp in UTC, under the rendering's zone.
    pub time: Option<i64>,
}

/// A rendering: its entries in order, and the reasons for which others were skipped.
pub struct Source {
    pub entries: Vec<Found>,
    pub skipped: Vec<&'static str>,
}

impl Source {
    /// `zone` is a folder's name: `America_New_York`.
    pub fn read(path: &Path, envelope: &Envelope, zone: &str) -> Source {
        let bytes = std::fs::read(path).unwrap();
        let mut source = Source { entries: Vec::new(), skipped: Vec::new() };
        let mut offsets = Vec::new();
        let mut finder = TurnFinder::new();
        let (mut at, mut line) = (0, 1);
        while at < bytes.len() {
            let mut entry = Entry::default();
            let len = (envelope.read)(&bytes, at, &mut entry);
            assert!(len > 0 && at + len <= bytes.len());
            match entry.content {
                Content::Payload | Content::Skip("entry without MESSAGE") => {
                    if let Some(raw) = &entry.meta.stamp {
                        finder.push(at as u64, raw);
                    }
                    offsets.push(at as u64);
                    source.entries.push(Found { entry, line, time: None });
                }
                Content::Skip(reason) => source.skipped.push(reason),
                Content::Bare => panic!("{} at byte {at}: bare", path.display()),
                Content::Broken(reason) => panic!("{} at byte {at}: {reason}", path.display()),
            }
            line += bytes[at..at + len].iter().filter(|b| **b == b'\n').count();
            at += len;
        }
        let rule = read_rule(&zone.replacen('_', "/", 1)).unwrap();
        let clock = Clock { rule, how: How::Declared, ..Clock::assumed() };
        let aligner = Aligner::with_turns(&clock, finder.finish(&clock, NEWEST_YEAR));
        for (found, offset) in source.entries.iter_mut().zip(offsets) {
            found.time = found.entry.meta.stamp.and_then(|raw| aligner.stamp_at(offset, &raw)).map(|stamp| stamp.start);
        }
        source
    }
}

pub fn read_expected(folder: &Path, mode: &str) -> Option<Vec<Value>> {
    let plain = folder.join(format!("{mode}.jsonl"));
    let text = if plain.exists() {
        std::fs::read_to_string(plain).unwrap()
    } else {
        let packed = std::fs::File::open(folder.join(format!("{mode}.jsonl.gz"))).ok()?;
        let mut text = String::new();
        flate2::read::GzDecoder::new(packed).read_to_string(&mut text).unwrap();
        text
    };
    Some(text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

/// The unit of every entry, by its number in the truth.
pub fn units(export: &[Value]) -> HashMap<u64, Value> {
    export.iter().map(|e| (e["truth"].as_u64().unwrap(), e["unit"].clone())).collect()
}

/// Differences of one entry, as text.
pub fn compare(expected: &Value, found: &Found, units: &HashMap<u64, Value>) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut check = |name: &str, want: &Value, got: Value| {
        if *want != got {
            wrong.push(format!("{name}: want {want}, got {got}"));
        }
    };
    let Found { entry, line, time } = found;
    let text = |text: &str| if text.is_empty() { Value::Null } else { Value::from(text) };
    let meta = &entry.meta;
    check("line", &expected["line"], (*line).into());
    if !expected["invalid_json"].is_null() {
        // journalctl 229 wrote what is not JSON; the expectation stops there. What it should hold is known from the other modes.
        check("message", &"second MESSAGE".into(), String::from_utf8_lossy(&entry.text).into());
        return wrong;
    }
    check("time_utc_ns", &expected["time_utc_ns"], (*time).into());
    check("precision_ns", &expected["precision_ns"], meta.stamp.map(|raw| raw.width).into());
    if let Some(want) = expected.get("header_time_utc_ns") {
        check("header_time_utc_ns", want, meta.received.map(|raw| raw.ns).into());
        check("boot", &expected["boot"], text(&meta.boot));
    }
    check("mono_ns", &expected["mono_ns"], meta.monotonic.into());
    let more = |name: &str| meta.more.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str());
    if let Some(want) = expected.get("invocation") {
        check("invocation", &text(want.as_str().unwrap_or("")), text(&meta.invocation));
        check("message_id", &expected["message_id"], more("MESSAGE_ID").into());
    }
    // Where the expectation has no unit, or PID 1's own, what PID 1's text or a user's manager names must be the truth.
    let is_open = expected["unit"].is_null() || expected["unit"] == "init.scope";
    let unit = match meta.unit_source {
        "text of the PID 1 message" | short::PRINTED_UNIT if is_open => &units[&expected["truth"].as_u64().unwrap()],
        _ => &expected["unit"],
    };
    check("unit", unit, text(&meta.unit));
    if expected["unit_source"] == "text of the PID 1 message" {
        check("unit_source", &expected["unit_source"], meta.unit_source.into());
    }
    if let Some(printed) = expected.get("printed_unit") {
        let got = match (more("_SYSTEMD_UNIT"), more("_SYSTEMD_USER_UNIT")) {
            (Some(system), Some(user)) => format!("{system}/{user}"),
            (Some(system), None) => system.to_owned(),
            _ if meta.unit.is_empty() => meta.ident.clone(),
            _ => meta.unit.clone(),
        };
        check("printed_unit", printed, got.into());
    }
    check("host", &expected["host"], text(&meta.host));
    // An empty identifier and none at all are one in Meta.
    check("ident", &text(expected["ident"].as_str().unwrap_or("")), text(&meta.ident));
    check("pid", &expected["pid"], meta.pid.into());
    let losses = expected["loss"].as_array().map_or("".into(), |all| all.iter().map(Value::to_string).collect::<String>());
    let lost = losses.contains("MESSAGE: null") || losses.contains("blob: ");
    check("lossy", &lost.into(), meta.lossy.into());
    if expected["message"].is_null() && expected["message_sha256"].is_null() {
        let absent = entry.content != Content::Payload || meta.loss == Some(fields::NULL_MESSAGE);
        check("message absent", &true.into(), absent.into());
    } else if let Some(difference) = text_differs(expected, &entry.text) {
        wrong.push(difference);
    }
    wrong
}

/// Is `text` the message that is expected, all of it?
pub fn text_differs(expected: &Value, text: &[u8]) -> Option<String> {
    let (want, got) = if let Some(want) = expected["message_sha256"].as_str() {
        let got: String = Sha256::digest(text).iter().map(|b| format!("{b:02x}")).collect();
        (format!("{} bytes {want}", expected["message_len"]), format!("{} bytes {got}", text.len()))
    } else if let Some(want) = expected["message_b64"].as_str() {
        (want.to_owned(), base64::engine::general_purpose::STANDARD.encode(text))
    } else {
        (expected["message"].as_str()?.to_owned(), std::str::from_utf8(text).unwrap_or("not UTF-8").to_owned())
    };
    if want == got { None } else { Some(format!("message: want {want:?}, got {got:?}")) }
}
