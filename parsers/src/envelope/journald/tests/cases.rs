//! Entry by entry against the journal captures and their truth (`cases/journald`): set CORR_CASES or put them beside the workspace.
//!
//! Time is what the printed stamp means under the zone of the folder's name. Sources without a year get it as a user would give it:
//! the newest entry is of the year 2026 (`--year 2026`); no answer of the expectation is used for it.

use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::*;
use crate::clock::{Aligner, Clock, How, TurnFinder, read_rule};
use crate::format::{Content, Entry};

const NEWEST_YEAR: i32 = 2026;

static MODES: &[(&str, &Envelope)] = &[
    ("export", &EXPORT),
    ("json", &JSON),
    ("short-iso", &SHORT_ISO),
    ("short-iso-precise", &SHORT_ISO_PRECISE),
    ("short-full", &SHORT_FULL),
    ("short", &SHORT),
    ("short-precise", &SHORT_PRECISE),
];

pub fn cases() -> Option<PathBuf> {
    let root = match std::env::var_os("CORR_CASES") {
        Some(path) => PathBuf::from(path),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/cases"),
    };
    let root = root.join("journald");
    if root.is_dir() { Some(root) } else { None }
}

fn read_expected(folder: &Path, mode: &str) -> Option<Vec<Value>> {
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

/// Entries with a payload or without a MESSAGE, in order, and where they begin.
fn entries(bytes: &[u8], envelope: &Envelope, what: &str) -> Vec<(u64, Entry)> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let mut entry = Entry::default();
        let len = (envelope.read)(bytes, at, &mut entry);
        assert!(len > 0 && at + len <= bytes.len());
        match entry.content {
            Content::Payload | Content::Skip("entry without MESSAGE") => found.push((at as u64, entry)),
            Content::Skip(_) => {}
            Content::Bare => panic!("{what} at byte {at}: bare"),
            Content::Broken(reason) => panic!("{what} at byte {at}: {reason}"),
        }
        at += len;
    }
    found
}

/// Differences of one entry, as text.
fn compare(expected: &Value, entry: &Entry, time: Option<i64>, header: Option<i64>, line: usize) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut check = |name: &str, want: &Value, got: Value| {
        if *want != got {
            wrong.push(format!("{name}: want {want}, got {got}"));
        }
    };
    let text = |text: &str| if text.is_empty() { Value::Null } else { Value::from(text) };
    let meta = &entry.meta;
    check("line", &expected["line"], line.into());
    if !expected["invalid_json"].is_null() {
        // journalctl 229 wrote what is not JSON; the expectation stops there. What it should hold is known from the other modes.
        check("message", &"second MESSAGE".into(), String::from_utf8_lossy(&entry.text).into());
        return wrong;
    }
    check("time_utc_ns", &expected["time_utc_ns"], time.into());
    if let Some(want) = expected.get("header_time_utc_ns") {
        check("header_time_utc_ns", want, header.into());
        check("mono_ns", &expected["mono_ns"], meta.monotonic.into());
        check("boot", &expected["boot"], text(&meta.boot));
    }
    if let Some(want) = expected.get("invocation") {
        check("invocation", &text(want.as_str().unwrap_or("")), text(&meta.invocation));
        let id = meta.more.iter().find(|(name, _)| name == "MESSAGE_ID").map(|(_, value)| value.as_str());
        check("message_id", &expected["message_id"], id.into());
    }
    // For PID 1's `Dependency failed for U - D.` the expectation of the text modes is null; the truth beside it must be U then.
    let unit = match &expected["unit"] {
        Value::Null if meta.unit_source == "text of the PID 1 message" => &expected["true"]["unit"],
        unit => unit,
    };
    check("unit", unit, text(&meta.unit));
    if expected["unit_source"] == "text of the PID 1 message" {
        check("unit_source", &expected["unit_source"], meta.unit_source.into());
    }
    check("host", &expected["host"], text(&meta.host));
    // An empty identifier and none at all are one in Meta.
    check("ident", &text(expected["ident"].as_str().unwrap_or("")), text(&meta.ident));
    check("pid", &expected["pid"], meta.pid.into());
    let losses = expected["loss"].as_array().map_or("".into(), |all| all.iter().map(Value::to_string).collect::<String>());
    let lost = losses.contains("MESSAGE: null") || losses.contains("blob: ");
    check("lossy", &lost.into(), meta.lossy.into());
    if let Some(want) = expected["message_sha256"].as_str() {
        check("message_sha256", &want.into(), sha256(&entry.text).into());
        check("message_len", &expected["message_len"], entry.text.len().into());
    } else if let Some(want) = expected["message_b64"].as_str() {
        check("message_b64", &want.into(), base64(&entry.text).into());
    } else if expected["message"].is_null() {
        let absent = entry.content != Content::Payload || meta.loss == Some(fields::NULL_MESSAGE);
        check("message absent", &true.into(), absent.into());
    } else {
        check("message", &expected["message"], std::str::from_utf8(&entry.text).unwrap_or("not UTF-8").into());
    }
    wrong
}

#[test]
fn every_entry_of_every_mode() {
    let Some(root) = cases() else {
        println!("skipped: no journald cases");
        return;
    };
    let (mut files, mut total, mut different) = (0, 0, 0);
    for (folder, rule) in folders(&root) {
        let clock = Clock { rule: read_rule(&rule.replace("America_", "America/")).unwrap(), how: How::Declared, ..Clock::assumed() };
        for (mode, envelope) in MODES {
            let Some(expected) = read_expected(&root.join("expected").join(&folder), mode) else { continue };
            let path = root.join(&folder).join(format!("{mode}.txt"));
            let bytes = std::fs::read(&path).unwrap();
            let what = format!("{folder}/{mode}");
            let found = entries(&bytes, envelope, &what);
            let mut finder = TurnFinder::new();
            for (offset, entry) in &found {
                finder.push(*offset, &entry.meta.stamp.unwrap());
            }
            let aligner = Aligner::with_turns(&clock, finder.finish(&clock, NEWEST_YEAR));
            let mut wrong = usize::from(found.len() != expected.len());
            let (mut line, mut counted) = (1, 0);
            for ((offset, entry), expected) in found.iter().zip(&expected) {
                line += bytes[counted..*offset as usize].iter().filter(|b| **b == b'\n').count();
                counted = *offset as usize;
                let time = entry.meta.stamp.and_then(|raw| aligner.stamp_at(*offset, &raw));
                let width = entry.meta.stamp.map(|raw| raw.width);
                if expected["invalid_json"].is_null() {
                    assert_eq!(expected["precision_ns"], Value::from(width), "{what}:{line}");
                }
                let header = entry.meta.received.map(|raw| raw.ns);
                let found = compare(expected, entry, time.map(|t| t.start), header, line);
                if !found.is_empty() {
                    wrong += 1;
                    if wrong < 4 {
                        println!("{what}:{line}: {}", found.join("; "));
                    }
                }
            }
            println!("{what}: {} entries compared, {} expected, {wrong} differences", found.len(), expected.len());
            files += 1;
            total += found.len();
            different += wrong;
        }
    }
    println!("journald cases: {files} files, {total} entries, {different} differences");
    assert!(files > 30, "the folders of the cases have moved");
    assert_eq!(different, 0);
}

/// `synthetic/v257/UTC` and the zone, for all folders that have an expectation.
fn folders(root: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for origin in ["synthetic", "real"] {
        for version in names(&root.join("expected").join(origin)) {
            for zone in names(&root.join("expected").join(origin).join(&version)) {
                if root.join(origin).join(&version).join(&zone).is_dir() {
                    found.push((format!("{origin}/{version}/{zone}"), zone));
                }
            }
        }
    }
    found
}

pub fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let n = chunk.iter().fold(0u32, |n, b| n << 8 | u32::from(*b)) << (8 * (3 - chunk.len()));
        for i in 0..4 {
            out.push(if i <= chunk.len() { LETTERS[(n >> (18 - 6 * i)) as usize & 63] as char } else { '=' });
        }
    }
    out
}

/// FIPS 180-4. Here and not a dependency because the expectations of long messages are the only user.
fn sha256(bytes: &[u8]) -> String {
    let primes: Vec<u64> = (2u64..).filter(|n| (2..*n).take_while(|d| d * d <= *n).all(|d| n % d != 0)).take(64).collect();
    let root = |n: u64, power: f64| ((n as f64).powf(power).fract() * 4_294_967_296.0) as u32;
    let k: Vec<u32> = primes.iter().map(|n| root(*n, 1.0 / 3.0)).collect();
    let mut h: Vec<u32> = primes[..8].iter().map(|n| root(*n, 0.5)).collect();
    let mut data = bytes.to_vec();
    data.push(0x80);
    while data.len() % 64 != 56 {
        data.push(0);
    }
    data.extend_from_slice(&(bytes.len() as u64 * 8).to_be_bytes());
    for block in data.chunks(64) {
        let mut w: Vec<u32> = block.chunks(4).map(|c| u32::from_be_bytes([c[0], c[1], c[2], c[3]])).collect();
        for i in 16..64 {
            let s0 = w[i - 15].rotate_right(7) ^ w[i - 15].rotate_right(18) ^ (w[i - 15] >> 3);
            let s1 = w[i - 2].rotate_right(17) ^ w[i - 2].rotate_right(19) ^ (w[i - 2] >> 10);
            w.push(w[i - 16].wrapping_add(s0).wrapping_add(w[i - 7]).wrapping_add(s1));
        }
        let mut v = h.clone();
        for i in 0..64 {
            let s1 = v[4].rotate_right(6) ^ v[4].rotate_right(11) ^ v[4].rotate_right(25);
            let choice = (v[4] & v[5]) ^ (!v[4] & v[6]);
            let t1 = v[7].wrapping_add(s1).wrapping_add(choice).wrapping_add(k[i]).wrapping_add(w[i]);
            let s0 = v[0].rotate_right(2) ^ v[0].rotate_right(13) ^ v[0].rotate_right(22);
            let majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
            v.rotate_right(1);
            v[0] = t1.wrapping_add(s0).wrapping_add(majority);
            v[4] = v[4].wrapping_add(t1);
        }
        for (a, b) in h.iter_mut().zip(v) {
            *a = a.wrapping_add(b);
        }
    }
    h.iter().map(|word| format!("{word:08x}")).collect()
}

#[test]
fn the_hash_is_sha256() {
    assert_eq!(sha256(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_eq!(sha256(&[b'a'; 119]), "31eba51c313a5c08226adf18d4a359cfdfd8d2e816b13f4af952f7ea6584dcfb");
}

/// The mode of a file's name: `short-iso.reverse.txt`, `de_DE.short.txt`, `json.txt`.
fn mode_of(name: &str) -> Option<&'static Envelope> {
    let stem = name.strip_suffix(".txt")?;
    MODES.iter().find(|(mode, _)| stem.split('.').any(|part| part == *mode)).map(|(_, envelope)| *envelope)
}

fn files(folder: &Path, into: &mut Vec<PathBuf>) {
    for name in names(folder) {
        let path = folder.join(&name);
        if path.is_dir() {
            files(&path, into);
        } else if mode_of(&name).is_some() {
            into.push(path);
        }
    }
}

/// Options, locales, catalogs, markers: nothing is broken, and detection names the mode.
#[test]
fn every_rendering_is_explained_and_detected() {
    let Some(root) = cases() else {
        println!("skipped: no journald cases");
        return;
    };
    let mut found = Vec::new();
    for folder in ["synthetic", "real", "cases", "locale"] {
        files(&root.join(folder), &mut found);
    }
    let (mut all, mut skipped, mut bad) = (0, 0, 0);
    for path in &found {
        let envelope = mode_of(path.file_name().unwrap().to_str().unwrap()).unwrap();
        let bytes = std::fs::read(path).unwrap();
        let mut at = 0;
        while at < bytes.len() {
            let mut entry = Entry::default();
            let len = (envelope.read)(&bytes, at, &mut entry);
            all += 1;
            match entry.content {
                Content::Payload | Content::Bare => {}
                Content::Skip(_) => skipped += 1,
                Content::Broken(reason) => {
                    bad += 1;
                    println!("{}: byte {at}: {reason}", path.strip_prefix(&root).unwrap().display());
                }
            }
            at += len;
        }
        let head = &bytes[..bytes.len().min(crate::detect::SAMPLE)];
        let detection = crate::detect::detect(head, head.len() == bytes.len());
        let got = detection.layout.envelopes.first().map(|e| e.name);
        // A file that holds only `-- No entries --` says nothing of its mode.
        if got != Some(envelope.name) && bytes != b"-- No entries --\n" {
            bad += 1;
            println!("{}: detected {got:?}: {:?}", path.strip_prefix(&root).unwrap().display(), detection.envelopes);
        }
    }
    println!("journald renderings: {} files, {all} entries, {skipped} of them skipped, {bad} not explained or not detected", found.len());
    assert!(found.len() > 100, "the folders of the cases have moved");
    assert_eq!(bad, 0);
}

/// MESSAGE_ID of systemd (formats of all versions agree) and the kinds that its texts may get.
static MESSAGE_IDS: &[(&str, &[&str])] = &[
    ("7d4958e842da4a758f6c1cdc7b36dcc5", &["unit_starting"]),
    ("39f53479d3a045ac8e11786248231fbf", &["unit_started", "unit_finished", "unit_skipped"]),
    ("be02cf6855d2428ba40df7e9d022f03d", &["unit_start_failed", "unit_dependency_failed"]),
    ("de5b426a63be47a7b6ac3eaac82e2f6f", &["unit_stopping"]),
    ("9d1aaa27d60140bd96365438aad20286", &["unit_stopped"]),
    ("d34d037fff1847e6ae669a370e694725", &["unit_reloading"]),
    ("7b05ebc668384222baa8881179cfda54", &["unit_reloaded"]),
    ("98e322203f7a4ed290d09fe03c09fe15", &["unit_main_exited", "unit_control_exited"]),
    ("d9b373ed55a64feb8242e02dbe79a49c", &["unit_failed"]),
    ("7ad2d189f7e94e70a38c781354912448", &["unit_deactivated"]),
    ("5eb03494b6584870a536b337290809b3", &["unit_restart_scheduled"]),
    ("641257651c1b4ec9a8624d7a40a9e1e7", &["unit_exec_failed"]),
    ("fe6faa94e7774663a0da52717891d8ef", &["unit_oom_killed"]),
    ("ae8f7b866b0347b9af31fe1c80b127c0", &["unit_consumed"]),
    ("a596d6fe7bfa4994828e72309e95d61e", &["journal_suppressed"]),
    ("e9bf28e6e834481bb6f48f548ad13606", &["journal_missed"]),
    ("c7a787079b354eaaa9e77b371893cd27", &["clock_changed"]),
    ("f77379a8490b408bbe5f6940505a777b", &["journal_started"]),
    ("b07a249cd024414a82dd00cd181378ff", &["startup_finished"]),
];

/// The kinds and fields that the text gives, against the ids and fields that systemd sent beside it.
#[test]
fn systemds_texts_agree_with_its_fields() {
    let Some(root) = cases() else {
        println!("skipped: no journald cases");
        return;
    };
    let mut found = Vec::new();
    for folder in ["synthetic", "real", "cases"] {
        files(&root.join(folder), &mut found);
    }
    let (mut checked, mut compared, mut wrong) = (0, 0, 0);
    for path in found.iter().filter(|path| path.file_name().is_some_and(|name| name == "json.txt")) {
        let bytes = std::fs::read(path).unwrap();
        let layout = crate::record::Layout { envelopes: vec![&JSON], formats: crate::FORMATS.to_vec(), document: false };
        let mut reader = crate::record::Reader::new(&bytes, 0, &layout);
        while let Some(record) = reader.next() {
            let mut event = crate::event::Event::new(&crate::text::kinds::TEXT);
            record.parse(&mut event);
            let meta = record.meta.unwrap();
            let more = |name: &str| meta.more.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str());
            let Some((_, kinds)) = more("MESSAGE_ID").and_then(|id| MESSAGE_IDS.iter().find(|(known, _)| *known == id)) else { continue };
            checked += 1;
            let mut complain = |what: &str| {
                wrong += 1;
                println!("{}: {what}: {}", path.strip_prefix(&root).unwrap().display(), String::from_utf8_lossy(record.payload));
            };
            if !kinds.contains(&event.kind.name) {
                complain(event.kind.name);
            }
            let speaks = matches!(meta.unit_source, "UNIT" | "USER_UNIT");
            let about = more("OBJECT_SYSTEMD_UNIT").or(if speaks { Some(meta.unit.as_str()) } else { None });
            for (field, want) in [
                ("unit", about),
                ("result", more("UNIT_RESULT")),
                ("code", more("EXIT_CODE")),
                ("status", more("EXIT_STATUS")),
                ("restart_counter", more("N_RESTARTS")),
                ("messages", more("N_DROPPED")),
            ] {
                let Some(got) = event.get(field) else { continue };
                let got = match got {
                    crate::event::Value::Str(text) => text.to_string(),
                    crate::event::Value::Int(number) => number.to_string(),
                    other => format!("{other:?}"),
                };
                if let Some(want) = want {
                    compared += 1;
                    if got != want {
                        complain(&format!("{field} is {want} in the journal and {got} in the text"));
                    }
                }
            }
        }
    }
    println!("systemd texts: {checked} messages, {compared} fields compared, {wrong} differences");
    assert!(checked > 400 && compared > 400, "{checked} {compared}");
    assert_eq!(wrong, 0);
}
