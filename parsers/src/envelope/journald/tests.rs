//! What each mode makes of representative entries (samples/: see README.md), and that no bytes at all do harm.

mod cases;
mod export;
mod modes;

use super::*;
use crate::detect::detect;
use crate::format::{Content, Entry, Meta};
use crate::record::{Layout, Reader, record_start};
use crate::stamp::Zone;
use crate::{ENVELOPES, FORMATS};

static SAMPLES: &[(&Envelope, &[u8])] = &[
    (&EXPORT, include_bytes!("samples/export.bin")),
    (&JSON, include_bytes!("samples/json.txt")),
    (&SHORT_ISO, include_bytes!("samples/short-iso.txt")),
    (&SHORT_ISO_PRECISE, include_bytes!("samples/short-iso-precise.txt")),
    (&SHORT_FULL, include_bytes!("samples/short-full.txt")),
    (&WITH_UNIT, include_bytes!("samples/with-unit.txt")),
    (&SHORT, include_bytes!("samples/short.txt")),
    (&SHORT_PRECISE, include_bytes!("samples/short-precise.txt")),
    (&SHORT_UNIX, include_bytes!("samples/short-unix.txt")),
    (&SHORT_MONOTONIC, include_bytes!("samples/short-monotonic.txt")),
    (&SHORT_DELTA, include_bytes!("samples/short-delta.txt")),
    (&JSON_PRETTY, include_bytes!("samples/json-pretty.txt")),
    (&VERBOSE, include_bytes!("samples/verbose.txt")),
];

fn read_all(bytes: &[u8], envelope: &Envelope) -> Vec<Entry> {
    let mut entries = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let mut entry = Entry::default();
        at += (envelope.read)(bytes, at, &mut entry);
        entries.push(entry);
    }
    assert_eq!(at, bytes.len());
    entries
}

fn one(bytes: &[u8], envelope: &Envelope) -> Entry {
    let mut entries = read_all(bytes, envelope);
    assert_eq!(entries.len(), 1, "{entries:#?}");
    entries.remove(0)
}

fn text(entry: &Entry) -> &str {
    std::str::from_utf8(&entry.text).unwrap()
}

fn more<'m>(meta: &'m Meta, name: &str) -> Option<&'m str> {
    meta.more.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
}

#[test]
fn every_mode_reads_its_sample() {
    for (envelope, bytes) in SAMPLES {
        let entries = read_all(bytes, envelope);
        let texts: Vec<&str> = entries.iter().filter(|e| e.content == Content::Payload).map(text_or_bytes).collect();
        let broken = entries.iter().filter(|e| matches!(e.content, Content::Broken(_))).count();
        assert_eq!((texts.len() >= 8, broken), (true, 0), "{}", envelope.name);
        assert!(texts.contains(&"line one\nline two\n\n  indented line four\nline five"), "{}: {texts:#?}", envelope.name);
        assert!(texts.contains(&"utf8 café 模型 🚀 ready"), "{}", envelope.name);
        assert!(texts.iter().any(|t| t.starts_with("Started sglang-prefill.service - ")), "{}", envelope.name);
        assert!(entries.iter().any(|e| e.meta.unit == "sglang-prefill.service" && e.meta.pid == Some(1)), "{}", envelope.name);
        let with_unit = entries.iter().any(|e| e.meta.unit_source == short::PRINTED_UNIT);
        let odd =
            |e: &Entry| e.meta.ident == "sg lang[x]: y" || (with_unit && e.meta.unit == "dynamo-decode.service" && e.meta.ident.is_empty());
        assert!(entries.iter().any(|e| odd(e) && e.meta.pid == Some(1801)), "{}", envelope.name);
        let dated = |e: &Entry| e.meta.stamp.is_some();
        let undated = [SHORT_MONOTONIC.name, SHORT_DELTA.name].contains(&envelope.name);
        let payloads = entries.iter().filter(|e| e.content == Content::Payload);
        assert!(payloads.clone().all(|e| dated(e) != undated && (!undated || e.meta.monotonic.is_some())), "{}", envelope.name);
        assert!(texts.contains(&""), "{}: the empty message", envelope.name);
        assert!(texts.contains(&"second MESSAGE"), "{}", envelope.name);
    }
}

fn text_or_bytes(entry: &Entry) -> &str {
    std::str::from_utf8(&entry.text).unwrap_or("not UTF-8")
}

#[test]
fn every_mode_is_detected_before_the_others() {
    for (envelope, bytes) in SAMPLES {
        let detection = detect(bytes, true);
        assert_eq!(detection.layout.envelopes.first().map(|e| e.name), Some(envelope.name), "{:?}", detection.envelopes);
        let best = &detection.envelopes[0];
        let next = detection.envelopes.get(1).map_or(0.0, |score| score.share);
        assert!(best.share > next, "{:?}", detection.envelopes);
    }
}

#[test]
fn bare_logs_and_other_containers_are_not_journald() {
    let lines: &[&[u8]] = &[
        b"[2026-11-01 01:28:42] INFO:     Started server process [1701]",
        b"[2026-11-01 01:30:30 TP0] Decode batch, #running-req: 1, #token: 640, token usage: 0.00",
        b"2026-11-01T10:42:01.123456Z  INFO http::service: Starting HTTP(S) service address=\"0.0.0.0:8000\"",
        b"2026-11-01T10:42:01.123456+00:00 INFO http::service: Starting HTTP(S) service",
        b"2026-06-10T14:00:12.496123Z stdout F [2026-06-10 07:00:12] The server is fired up",
        b"2021-10-09T01:55:52.526852807+03:00 stdout P {",
        b"{\"log\":\"text\\n\",\"stream\":\"stderr\",\"time\":\"2026-06-10T14:00:12.496123Z\"}",
        b"{\"time\":\"2026-11-01T09:40:01.5Z\",\"level\":\"INFO\",\"message\":\"{\\\"__REALTIME_TIMESTAMP\\\":\\\"1\\\"}\"}",
        b"INFO:     127.0.0.1:52190 - \"GET /model_info HTTP/1.1\" 200 OK",
        b"I0917 16:19:42.193368 3936072 transfer_engine.cpp:486] text: x",
        b"Nov  1 01:40:01 other-host sglang[999]: a line of a syslog file",
        b"-- a line that begins with dashes",
    ];
    for line in lines {
        for (envelope, _) in SAMPLES {
            assert!(!(envelope.begins)(line), "{} takes {}", envelope.name, String::from_utf8_lossy(line));
        }
        let detection = detect(&[line, &b"\n"[..]].concat(), true);
        assert_eq!(detection.layout.envelopes.iter().find(|e| e.name.starts_with("journald")).map(|e| e.name), None);
    }
}

#[test]
fn a_marker_is_skipped_with_its_reason() {
    for (line, reason) in [
        ("-- Logs begin at Wed 2025-12-31 23:57:40 UTC, end at Sun 2026-11-01 10:33:16 UTC. --", "bounds of the journal"),
        ("-- Journal begins at Wed 2025-12-31 23:57:40 UTC, ends at Sun 2026-11-01 10:33:16 UTC. --", "bounds of the journal"),
        ("-- Reboot --", "boot marker"),
        ("-- Boot b0000000000040008000000000000002 --", "boot marker"),
        ("\x1b[0;1;39m-- Boot b0000000000040008000000000000002 --\x1b[0m", "boot marker"),
        ("-- No entries --", "no entries"),
        ("-- cursor: s=da6036e9;i=dc", "cursor"),
        ("-- Subject: Unit a.service has begun start-up", "explanation from the catalog"),
        ("░░ Defined-By: systemd", "explanation from the catalog"),
        ("lines 1-23", "pager"),
    ] {
        assert_eq!(one(line.as_bytes(), &SHORT).content, Content::Skip(reason), "{line}");
    }
    assert_eq!(one(b"-- Boot b0000000000040008000000000000002 --\n", &SHORT).meta.boot, "b0000000000040008000000000000002");
    assert_eq!(one(b"-- cursor: s=da6036e9;i=dc\n", &JSON).content, Content::Skip("cursor"));
}

#[test]
fn identifiers_with_and_without_host_and_pid() {
    let header = |line: &str| {
        let entry = one(format!("Nov 01 10:33:16 {line}\n").as_bytes(), &SHORT);
        assert_eq!(entry.content, Content::Payload, "{line}");
        (entry.meta.host.clone(), entry.meta.ident.clone(), entry.meta.pid, text(&entry).to_owned())
    };
    let owned = |host: &str, ident: &str, pid, text: &str| (host.to_owned(), ident.to_owned(), pid, text.to_owned());
    assert_eq!(
        header("gpu kernel: NVRM: Xid (PCI:0000:3b): 79, pid=12"),
        owned("gpu", "kernel", None, "NVRM: Xid (PCI:0000:3b): 79, pid=12")
    );
    assert_eq!(header("python3[12]: text"), owned("", "python3", Some(12), "text"));
    assert_eq!(header("kernel: text: more"), owned("", "kernel", None, "text: more"));
    assert_eq!(header("gpu [1801]: text"), owned("gpu", "", Some(1801), "text"));
    assert_eq!(header("gpu python3[1801]: systemd[1]: Started a"), owned("gpu", "python3", Some(1801), "systemd[1]: Started a"));
    assert_eq!(header("gpu python3[1801]:"), owned("gpu", "python3", Some(1801), ""));
    assert_eq!(header("gpu sudo[7]: pam_unix(sudo:session): x"), owned("gpu", "sudo", Some(7), "pam_unix(sudo:session): x"));
    assert_eq!(header("gpu foo[x]: a: b"), owned("gpu", "foo[x]", None, "a: b"));
}

#[test]
fn lines_that_go_on() {
    let at = |lines: &str| one(lines.as_bytes(), &SHORT);
    assert_eq!(text(&at("Nov 01 10:33:16 h a[1]: x\n                        y\n")), "x\ny");
    // journalctl's indent leaves out the word it prints for a missing identifier.
    assert_eq!(text(&at("Nov 01 10:33:16 h unknown[1]: x\n                        y\n")), "x\n  y");
    // An editor has stripped the blanks of an empty inner line.
    assert_eq!(text(&at("Nov 01 10:33:16 h a[1]: x\n\n                        y\n")), "x\n\ny");
    let entries = read_all(b"Nov 01 10:33:16 h a[1]: x\n\nNov 01 10:33:17 h a[1]: y\n", &SHORT);
    assert_eq!(entries.iter().map(|e| e.content).collect::<Vec<_>>(), [Content::Payload, Content::Skip("blank line"), Content::Payload]);
    let orphan = one(b"                        y\n", &SHORT);
    assert_eq!(orphan.content, Content::Broken("an indented line without its entry"));
}

#[test]
fn a_blob_is_a_loss() {
    let entry = one(b"Nov 01 10:33:16 h a[1]: [28B blob data]\n", &SHORT);
    assert_eq!((entry.content, entry.meta.lossy, entry.meta.loss.is_some()), (Content::Payload, true, true));
    let entry = one(b"Nov 01 10:33:16 h a[1]: [1.2K blob data]\n", &SHORT);
    assert!(entry.meta.lossy);
    assert!(!one(b"Nov 01 10:33:16 h a[1]: [blob data]\n", &SHORT).meta.lossy);
}

#[test]
fn months_of_other_locales() {
    for (month, days) in [("Nov", 305), ("nov.", 305), ("11月", 305), ("11월", 305), ("Dez", 335), ("Mär", 60), ("janv.", 0), ("12月", 335)]
    {
        let entry = one(format!("{month} 01 00:00:00 h a[1]: x\n").as_bytes(), &SHORT);
        let stamp = entry.meta.stamp.unwrap();
        assert_eq!((stamp.zone, stamp.ns), (Zone::Yearless, (2 * 365 + days) * 86_400_000_000_000), "{month}");
    }
}

#[test]
fn zones_of_short_full() {
    let zone = |name: &str| one(format!("Wed 2025-12-31 15:57:42 {name} h a[1]: x\n").as_bytes(), &SHORT_FULL).meta.stamp.map(|s| s.zone);
    assert_eq!(zone("UTC"), Some(Zone::Utc));
    assert_eq!(zone("PST"), Some(Zone::Abbreviation(*b"PST   ")));
    assert_eq!(zone("-03"), Some(Zone::Offset(-10_800)));
    assert_eq!(zone("+0530"), Some(Zone::Offset(19_800)));
    // Verbose entries begin alike, with a fraction.
    assert!(!(SHORT_FULL.begins)(b"Wed 2025-12-31 23:57:40.000000 UTC [s=da60;i=1;b=a0;m=2d;t=64;x=e3]"));
}

#[test]
fn json_values_of_all_sorts() {
    let json = |fields: &str| one(format!("{{\"__REALTIME_TIMESTAMP\":\"1767225460000000\",{fields}}}\n").as_bytes(), &JSON);
    assert_eq!(text(&json(r#""MESSAGE":[27,91,51,50,109]"#)), "\x1b[32m");
    assert_eq!(text(&json(r#""MESSAGE":["a","b"]"#)), "b");
    assert_eq!(text(&json(r#""MESSAGE":["a",[98,99]]"#)), "bc");
    assert_eq!(json(r#""MESSAGE":["a",[98,99]]"#).meta.loss, Some(fields::SEVERAL_MESSAGES));
    assert_eq!(text(&json(r#""MESSAGE":"a\n\t\"\\\u00e9\ud83d\ude80""#)), "a\n\t\"\\é🚀");
    assert!(json(r#""MESSAGE":"\ud83d x""#).meta.lossy);
    // v229 and v237.
    assert_eq!(text(&json(r#" "MESSAGE" : [ "first", "second" ],  "#)), "second");
    let null = json(r#""MESSAGE":null"#);
    assert_eq!((null.content, null.meta.loss, null.meta.lossy), (Content::Payload, Some(fields::NULL_MESSAGE), true));
    assert_eq!(json(r#""_PID":"1""#).content, Content::Skip("entry without MESSAGE"));
    assert_eq!(json(r#""MESSAGE":[256]"#).content, Content::Broken("a JSON array that is neither bytes nor values"));
    // v237 with --all writes bytes as they are.
    assert_eq!(one(b"{\"__REALTIME_TIMESTAMP\":\"1\",\"MESSAGE\":\"caf\xe9\"}\n", &JSON).text, b"caf\xe9");
    assert_eq!(one(b"data: {\"__REALTIME_TIMESTAMP\":\"1\",\"MESSAGE\":\"sse\"}\n", &JSON).text, b"sse");
    assert_eq!(one(b"\x1e{\"__REALTIME_TIMESTAMP\":\"1\",\"MESSAGE\":\"seq\"}\n", &JSON).text, b"seq");
    assert_eq!(one(b"{\"MESSAGE\":\"x\"}\n", &JSON).content, Content::Broken("JSON, but not of journalctl"));
    assert_eq!(one(b"{\"__REALTIME_TIMESTAMP\":\"1\",\"MESSAGE\":\"cu", &JSON).content, Content::Broken("JSON ends early"));
}

#[test]
fn both_stamps_and_who_wrote() {
    let entry = one(
        br#"{"_SOURCE_REALTIME_TIMESTAMP":"1767225462011790","__REALTIME_TIMESTAMP":"1767225462012000","__MONOTONIC_TIMESTAMP":"5012000","_PID":"1","UNIT":"a.service","_SYSTEMD_UNIT":"init.scope","INVOCATION_ID":"11","_SYSTEMD_INVOCATION_ID":"22","JOB_ID":"111","PRIORITY":"6","_BOOT_ID":"b0","MESSAGE":"Started a."}"#,
        &JSON,
    );
    let meta = &entry.meta;
    assert_eq!(meta.stamp.map(|s| s.ns), Some(1_767_225_462_011_790_000));
    assert_eq!(meta.received.map(|s| s.ns), Some(1_767_225_462_012_000_000));
    assert_eq!((meta.monotonic, meta.priority, meta.boot.as_str()), (Some(5_012_000_000), Some(6), "b0"));
    assert_eq!((meta.unit.as_str(), meta.unit_source, meta.invocation.as_str()), ("a.service", "UNIT", "11"));
    assert_eq!(more(meta, "JOB_ID"), Some("111"));
    // Anybody may send UNIT=.
    let entry = one(
        br#"{"__REALTIME_TIMESTAMP":"1","_PID":"77","UNIT":"forged.service","_SYSTEMD_UNIT":"b.service","_SYSTEMD_INVOCATION_ID":"22","MESSAGE":"x"}"#,
        &JSON,
    );
    assert_eq!((entry.meta.unit.as_str(), entry.meta.unit_source, entry.meta.invocation.as_str()), ("b.service", "_SYSTEMD_UNIT", "22"));
    // The child that failed to exec: journald came too late to find its unit.
    let entry = one(br#"{"__REALTIME_TIMESTAMP":"1","_PID":"77","UNIT":"c.service","SYSLOG_IDENTIFIER":"(python)","MESSAGE":"x"}"#, &JSON);
    assert_eq!((entry.meta.unit.as_str(), entry.meta.unit_source), ("c.service", "UNIT"));
}

#[test]
fn a_forged_message_of_a_service_is_not_systemds() {
    let layout = Layout { envelopes: vec![&SHORT], formats: FORMATS.to_vec(), document: false };
    let bytes =
        b"Nov 01 10:33:16 h python3[18]: Started sglang-prefill.service - forged.\nNov 01 10:33:17 h systemd[1]: Started SGLang worker.\n";
    let mut reader = Reader::new(bytes, 0, &layout);
    assert_eq!(reader.next().unwrap().format.map(|f| f.name).filter(|name| *name == "systemd"), None);
    assert_eq!(reader.next().unwrap().format.map(|f| f.name), Some("systemd"));
}

#[test]
fn a_lost_message_is_not_a_blank_line() {
    let layout = Layout { envelopes: vec![&JSON], formats: FORMATS.to_vec(), document: false };
    let mut reader = Reader::new(b"{\"__REALTIME_TIMESTAMP\":\"1\",\"MESSAGE\":null}\n", 0, &layout);
    let mut event = crate::event::Event::new(&crate::text::kinds::TEXT);
    let outcome = reader.next().unwrap().parse(&mut event);
    assert_eq!(outcome, crate::event::Outcome::Unparsed(fields::NULL_MESSAGE));
}

#[test]
fn a_jump_finds_the_same_entries() {
    for (envelope, bytes) in SAMPLES {
        let layout = Layout { envelopes: vec![envelope], formats: FORMATS.to_vec(), document: false };
        let mut reader = Reader::new(bytes, 0, &layout);
        while let Some((start, len)) = reader.next().map(|record| (record.offset, record.len)) {
            for at in [start, start + len / 2, start + len - 1] {
                assert_eq!(record_start(bytes, at, &layout), start, "{} at {at}", envelope.name);
            }
        }
    }
}

proptest::proptest! {
    #[test]
    fn any_bytes(bytes: Vec<u8>) {
        for envelope in ENVELOPES {
            let _ = (envelope.begins)(&bytes);
            read_all(&bytes, envelope);
        }
    }

    /// Bytes that look like entries: pieces of the samples, cut, joined and changed.
    #[test]
    fn changed_entries(
        which in 0..SAMPLES.len(),
        pieces in proptest::collection::vec((proptest::prelude::any::<proptest::sample::Index>(), 0usize..400), 1..8),
        changes in proptest::collection::vec((proptest::prelude::any::<proptest::sample::Index>(), proptest::prelude::any::<u8>()), 0..6),
    ) {
        let (envelope, sample) = SAMPLES[which];
        let mut bytes = Vec::new();
        for (from, len) in pieces {
            let from = from.index(sample.len());
            bytes.extend_from_slice(&sample[from..(from + len).min(sample.len())]);
        }
        for (at, byte) in changes {
            if !bytes.is_empty() {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
        }
        for entry in read_all(&bytes, envelope) {
            assert!(entry.text.len() <= bytes.len() + 8);
            assert!(entry.meta.more.len() <= bytes.len());
        }
    }
}
