//! Renderings without an expectation, against another rendering of the same journal.

use std::collections::HashMap;

use super::*;

/// A locale changes the month of `short` and nothing else: time, pid and message are those of the same mode in the C locale, of which the
/// files here hold the last 80 entries.
#[test]
fn locales_differ_in_the_month_alone() {
    let Some(root) = cases("journald") else { return };
    let (mut files, mut total, mut different) = (0, 0, 0);
    for name in names(&root.join("locale")) {
        let (locale, mode) = name.strip_suffix(".txt").unwrap().split_once('.').unwrap();
        let envelope = mode_of(&name).unwrap();
        let found = Source::read(&root.join("locale").join(&name), envelope, "UTC");
        let plain = Source::read(&root.join("synthetic/v252/UTC").join(format!("{mode}.txt")), envelope, "UTC");
        let key = |found: &Found| (found.time, found.entry.meta.pid, found.entry.text.clone());
        // One of the entries has no MESSAGE, which only verbose shows.
        let count = if mode == "verbose" { 80 } else { 79 };
        let mut wrong = found.entries.len().abs_diff(count);
        for (found, plain) in found.entries.iter().zip(&plain.entries[plain.entries.len() - count..]) {
            wrong += usize::from(key(found) != key(plain));
        }
        println!("locale/{locale}.{mode}: {} entries compared, {wrong} differences", found.entries.len());
        (files, total, different) = (files + 1, total + found.entries.len(), different + wrong);
    }
    println!("journald locales: {files} files, {total} entries, {different} differences");
    assert!(files >= 18);
    assert_eq!(different, 0);
}

type Fields = HashMap<String, Vec<Vec<u8>>>;

/// The entries of `-o export`, read by the format's definition alone.
fn export(mut bytes: &[u8]) -> Vec<Fields> {
    let (mut entries, mut fields) = (Vec::new(), Fields::new());
    while !bytes.is_empty() {
        let end = bytes.iter().position(|b| *b == b'\n').unwrap();
        let line = &bytes[..end];
        bytes = &bytes[end + 1..];
        if line.is_empty() {
            entries.push(std::mem::take(&mut fields));
        } else if let Some(at) = line.iter().position(|b| *b == b'=') {
            fields.entry(String::from_utf8(line[..at].to_vec()).unwrap()).or_default().push(line[at + 1..].to_vec());
        } else {
            let size = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
            fields.entry(String::from_utf8(line.to_vec()).unwrap()).or_default().push(bytes[8..8 + size].to_vec());
            bytes = &bytes[8 + size + 1..];
        }
    }
    entries
}

fn printable(text: &[u8]) -> bool {
    std::str::from_utf8(text).is_ok_and(|text| text.chars().all(|c| matches!(c, '\t' | '\n') || !c.is_control()))
}

fn blob(len: usize) -> Vec<u8> {
    let size = if len < 1024 { format!("{len}B") } else { format!("{}.{}K", len / 1024, len % 1024 * 10 / 1024) };
    format!("[{size} blob data]").into_bytes()
}

/// What v252 prints of a message in the short modes.
fn short_text(message: &[u8]) -> Vec<u8> {
    let text = without_colours(message);
    let mut lines: Vec<&[u8]> = text.split(|b| *b == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line)).collect();
    if lines.len() > 1 && lines.last().is_some_and(|line| line.is_empty()) {
        lines.pop();
    }
    let text = lines.join(&b'\n').iter().flat_map(|b| if *b == b'\t' { vec![b' '; 8] } else { vec![*b] }).collect::<Vec<u8>>();
    if printable(&text) { text } else { blob(text.len()) }
}

/// Without `ESC [ digits and semicolons m`; other escapes stay.
fn without_colours(message: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    let mut rest = message;
    while let Some(byte) = rest.first() {
        let digits = rest.strip_prefix(b"\x1b[").map_or(0, |r| r.iter().take_while(|b| b.is_ascii_digit() || **b == b';').count());
        if rest.starts_with(b"\x1b[") && rest.get(2 + digits) == Some(&b'm') {
            rest = &rest[3 + digits..];
        } else {
            text.push(*byte);
            rest = &rest[1..];
        }
    }
    text
}

fn verbose_text(message: &[u8]) -> Vec<u8> {
    if printable(message) { message.strip_suffix(b"\n").unwrap_or(message).to_vec() } else { blob(message.len()) }
}

/// A live journal in a zone that is not UTC, and the logs of one question each: every mode against the export of the same journal.
#[test]
fn every_mode_agrees_with_its_own_export() {
    let Some(root) = cases("journald") else { return };
    let (mut files, mut total, mut different) = (0, 0, 0);
    let mut folders = vec![("real/v252/America_New_York".to_owned(), "America_New_York")];
    folders.extend(names(&root.join("cases")).into_iter().map(|name| (format!("cases/{name}"), "UTC")));
    for (folder, zone) in &folders {
        let (f, t, d) = against_export(&root.join(folder), folder, zone);
        (files, total, different) = (files + f, total + t, different + d);
    }
    println!("journald against its own export: {files} files, {total} entries, {different} differences");
    assert!(files >= MODES.len() + 70, "the folders of the cases have moved");
    assert_eq!(different, 0);
}

/// Files, entries and differences of one folder.
fn against_export(folder: &Path, what: &str, zone: &str) -> (usize, usize, usize) {
    let truth = export(&std::fs::read(folder.join("export.txt")).unwrap());
    let last = |fields: &Fields, name: &str| fields.get(name).and_then(|all| all.last()).cloned();
    let text_of = |fields: &Fields, name: &str| last(fields, name).map(|value| String::from_utf8(value).unwrap());
    let number = |fields: &Fields, name: &str| text_of(fields, name).map(|value| value.parse::<i64>().unwrap());
    let (mut files, mut total, mut different) = (0, 0, 0);
    for (mode, envelope) in MODES {
        let path = folder.join(format!("{mode}.txt"));
        if !path.exists() {
            continue;
        }
        let source = Source::read(&path, envelope, zone);
        let is_text = mode.starts_with("short") || *mode == "with-unit";
        let truth: Vec<&Fields> = truth.iter().filter(|fields| !is_text || fields.contains_key("MESSAGE")).collect();
        let mut wrong = source.entries.len().abs_diff(truth.len());
        for (found, fields) in source.entries.iter().zip(&truth) {
            let mut differences = Vec::new();
            let mut check = |name: &str, want: String, got: String| {
                if want != got {
                    differences.push(format!("{name}: want {want}, got {got}"));
                }
            };
            let meta = &found.entry.meta;
            let undated = matches!(*mode, "short-monotonic" | "short-delta");
            let shown = number(fields, "_SOURCE_REALTIME_TIMESTAMP").or(number(fields, "__REALTIME_TIMESTAMP")).unwrap() * 1_000;
            let width = meta.stamp.map_or(1, |raw| raw.width);
            check("time", format!("{:?}", if undated { None } else { Some(shown - shown % width) }), format!("{:?}", found.time));
            if meta.monotonic.is_some() || undated || !is_text {
                let want = number(fields, "__MONOTONIC_TIMESTAMP").map(|us| us * 1_000);
                check("monotonic", format!("{want:?}"), format!("{:?}", meta.monotonic));
            }
            if !is_text {
                check(
                    "received",
                    format!("{:?}", number(fields, "__REALTIME_TIMESTAMP").map(|us| us * 1_000)),
                    format!("{:?}", meta.received.map(|raw| raw.ns)),
                );
                check("boot", text_of(fields, "_BOOT_ID").unwrap(), meta.boot.clone());
            }
            let pid = number(fields, "_PID").or(number(fields, "SYSLOG_PID")).map(|pid| pid as u32);
            check("pid", format!("{pid:?}"), format!("{:?}", meta.pid));
            check("host", text_of(fields, "_HOSTNAME").unwrap_or_default(), meta.host.clone());
            let ident = text_of(fields, "SYSLOG_IDENTIFIER").or(text_of(fields, "_COMM"));
            let unit = text_of(fields, "_SYSTEMD_UNIT").filter(|_| *mode == "with-unit");
            match unit {
                Some(unit) => {
                    let own =
                        meta.more.iter().find(|(name, _)| name == "_SYSTEMD_UNIT").map_or(meta.unit.clone(), |(_, value)| value.clone());
                    check("printed unit", unit, own);
                }
                None if is_text => check("ident", ident.unwrap_or("unknown".into()), meta.ident.clone()),
                None => check("ident", ident.unwrap_or_default(), meta.ident.clone()),
            }
            match last(fields, "MESSAGE") {
                None => check(
                    "content",
                    "no message".into(),
                    format!("{:?}", found.entry.content).replace("Skip(\"entry without MESSAGE\")", "no message"),
                ),
                Some(message) if mode.starts_with("json") && message.len() >= 4088 => {
                    check("loss", format!("{:?}", Some(fields::NULL_MESSAGE)), format!("{:?}", meta.loss));
                }
                Some(message) => {
                    let want = match *mode {
                        "verbose" => verbose_text(&message),
                        _ if is_text => short_text(&message),
                        _ => message,
                    };
                    check("message", want.escape_ascii().to_string(), found.entry.text.escape_ascii().to_string());
                }
            }
            if !differences.is_empty() {
                wrong += 1;
                if wrong < 4 {
                    println!("{what}/{mode}:{}: {}", found.line, differences.join("; "));
                }
            }
        }
        println!("{what}/{mode}: {} entries compared, {wrong} differences", source.entries.len());
        (files, total, different) = (files + 1, total + source.entries.len(), different + wrong);
    }
    if let Ok(bytes) = std::fs::read(folder.join("cat.txt")) {
        let first = |fields: &Fields| fields.get("MESSAGE").map(|all| [&all[0][..], b"\n"].concat());
        let cat: Vec<u8> = truth.iter().filter_map(first).flatten().collect();
        assert!(cat == bytes, "{what}/cat");
    }
    (files, total, different)
}
