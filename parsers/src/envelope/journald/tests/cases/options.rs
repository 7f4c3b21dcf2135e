//! journalctl's options: what each leaves out, adds or changes, against the truth of the rendering without it.
//!
//! The entries that a filter must let through are worked out here from the fields of the journal (`json.txt`, read by serde_json).

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::truth::text_differs;
use super::*;
use crate::record::strip_ansi;

const UNIT: &str = "sglang-prefill.service";
const OTHER_UNIT: &str = "sglang-decode.service";
const LAST_BOOT: &str = "c0000000000040008000000000000003";
/// 2026-11-01 09:30:30 UTC, given to `--until`.
const UNTIL_US: u64 = 1_793_525_430_000_000;

type Fields = Map<String, Value>;

/// Does this option let an entry through? `None` if it is no filter.
fn filter(option: &str) -> Option<fn(&Fields) -> bool> {
    fn is(fields: &Fields, name: &str, value: &str) -> bool {
        fields.get(name).is_some_and(|v| v == value)
    }
    fn of_unit(fields: &Fields, unit: &str) -> bool {
        is(fields, "_SYSTEMD_UNIT", unit)
            || (is(fields, "_PID", "1") && is(fields, "UNIT", unit))
            || (is(fields, "_UID", "0") && is(fields, "OBJECT_SYSTEMD_UNIT", unit))
    }
    Some(match option {
        "unit-prefill" => |f| of_unit(f, UNIT),
        "two-units" => |f| of_unit(f, UNIT) || of_unit(f, OTHER_UNIT),
        "match-systemd-unit" => |f| is(f, "_SYSTEMD_UNIT", UNIT),
        "boot-a" => |f| is(f, "_BOOT_ID", "a0000000000040008000000000000001"),
        "catalog-boot-c" => |f| is(f, "_BOOT_ID", LAST_BOOT),
        "kernel" => |f| is(f, "_TRANSPORT", "kernel") && is(f, "_BOOT_ID", LAST_BOOT),
        "grep" => |f| f.get("MESSAGE").and_then(Value::as_str).is_some_and(|m| m.contains("fired up")),
        "prio" => |f| f["PRIORITY"].as_str().unwrap().parse::<u8>().unwrap() <= 4,
        _ => return None,
    })
}

/// The truth of one mode, in order, as the option leaves it.
fn chosen(option: &str, expected: &[Value], facts: &HashMap<u64, Fields>) -> Vec<Value> {
    let fields = |e: &Value| &facts[&e["truth"].as_u64().unwrap()];
    let mut chosen: Vec<Value> = match option {
        "no-entries" | "since-until-at-step" => Vec::new(),
        "until-before-step" => {
            let before = |e: &&Value| fields(e)["__REALTIME_TIMESTAMP"].as_str().unwrap().parse::<u64>().unwrap() <= UNTIL_US;
            expected.iter().take_while(before).cloned().collect()
        }
        "show-cursor" | "follow" => expected[expected.len() - 3..].to_vec(),
        "debug-header" => expected[expected.len() - 2..].to_vec(),
        _ => match filter(option) {
            Some(filter) => expected.iter().filter(|e| filter(fields(e))).cloned().collect(),
            None => expected.to_vec(),
        },
    };
    if option == "reverse" {
        chosen.reverse();
    }
    chosen
}

fn is_short(mode: &str) -> bool {
    mode.starts_with("short") || mode == "with-unit"
}

/// What the option does to an entry itself. `exact` is its truth in the export.
fn change(option: &str, mode: &str, expected: &mut Value, exact: &Value, fields: &Fields) {
    match option {
        "no-hostname" if is_short(mode) => expected["host"] = Value::Null,
        "all" => {
            for key in ["message", "message_b64", "message_sha256", "message_len"] {
                expected[key] = exact[key].clone();
            }
            if let (true, Some(text)) = (is_short(mode) || mode == "verbose", exact["message"].as_str()) {
                // A line end that ends a message is still not printed, and nothing behind a NUL.
                let text = text.split('\0').next().unwrap();
                expected["message"] = text.strip_suffix('\n').unwrap_or(text).into();
            }
            // Of several MESSAGEs the last counts in all modes that show fields.
            expected["loss"] = Value::Array(Vec::new());
        }
        "output-fields" if !is_short(mode) => {
            for key in ["host", "ident", "invocation", "message_id"] {
                expected[key] = Value::Null;
            }
            // MESSAGE, _PID and UNIT were asked for; the stamp is then the header's but for verbose, which prints one of its own.
            expected["pid"] = fields.get("_PID").map_or(Value::Null, |pid| pid.as_str().unwrap().parse::<u32>().unwrap().into());
            expected["unit"] = fields.get("UNIT").cloned().unwrap_or(Value::Null);
            if mode != "verbose" {
                expected["time_utc_ns"] = expected["header_time_utc_ns"].clone();
            }
        }
        _ => {}
    }
}

/// How often a line that is no entry must be there.
fn skips(option: &str, mode: &str) -> Vec<(&'static str, usize)> {
    let shows = is_short(mode) || mode == "verbose";
    let mut skips = Vec::new();
    let whole = matches!(option, "all" | "no-hostname" | "reverse" | "utc" | "no-full-80" | "colours" | "colours-urls" | "output-fields");
    skips.push(("boot marker", if whole && shows { 2 } else { 0 }));
    if matches!(option, "unit-prefill" | "two-units" | "match-systemd-unit" | "prio" | "grep" | "until-before-step") && shows {
        skips.clear();
    }
    skips.push(("bounds of the journal", usize::from(option == "debug-header" && shows)));
    skips.push(("no entries", usize::from(matches!(option, "no-entries" | "since-until-at-step"))));
    skips.push(("cursor", usize::from(option == "show-cursor")));
    if option != "catalog-boot-c" || !shows {
        skips.push(("explanation from the catalog", 0));
    }
    skips
}

#[test]
fn every_option_has_its_effect() {
    let Some(root) = cases("journald") else { return };
    let base = root.join("synthetic/v252");
    let expectations = root.join("expected/synthetic/v252/UTC");
    let export = read_expected(&expectations, "export").unwrap();
    let units = units(&export);
    let exact: HashMap<u64, &Value> = export.iter().map(|e| (e["truth"].as_u64().unwrap(), e)).collect();
    let json = std::fs::read_to_string(base.join("UTC/json.txt")).unwrap();
    let facts: HashMap<u64, Fields> =
        export.iter().zip(json.lines()).map(|(e, line)| (e["truth"].as_u64().unwrap(), serde_json::from_str(line).unwrap())).collect();
    assert_eq!(facts.len(), 220);
    let (mut files, mut total, mut different, mut misread) = (0, 0, 0, 0);
    for name in names(&base.join("options")) {
        let Some((mode, option)) = name.strip_suffix(".txt").and_then(|stem| stem.split_once('.')) else { continue };
        let path = base.join("options").join(&name);
        let Some(expected) = read_expected(&expectations, mode) else {
            assert!(mode_of(&name).is_none(), "{name}");
            continue;
        };
        let wanted = chosen(option, &expected, &facts);
        let mut wrong = 0;
        let count;
        if mode == "cat" {
            count = wanted.len();
            let (mut want, mut got) = (cat(option, &wanted, &base.join("UTC/cat.txt"), &facts), std::fs::read(&path).unwrap());
            if option.starts_with("colours") {
                for bytes in [&mut want, &mut got] {
                    let mut plain = Vec::new();
                    strip_ansi(bytes, &mut plain);
                    *bytes = plain;
                }
            }
            wrong += usize::from(want != got);
        } else {
            let envelope = mode_of(&name).unwrap();
            let source = Source::read(&path, envelope, "UTC");
            count = source.entries.len();
            if source.entries.len() != wanted.len() {
                println!("{name}: {} entries, expected {}", source.entries.len(), wanted.len());
                wrong += 1;
            }
            let Source { entries, skipped } = source;
            for (mut found, mut expected) in entries.into_iter().zip(wanted) {
                let truth = expected["truth"].as_u64().unwrap();
                change(option, mode, &mut expected, exact[&truth], &facts[&truth]);
                expected["line"] = found.line.into();
                let mut differences = Vec::new();
                if option.starts_with("colours") && is_short(mode) {
                    let mut plain = Vec::new();
                    strip_ansi(&found.entry.text, &mut plain);
                    found.entry.text = plain;
                }
                if option == "no-full-80" {
                    differences.extend(shortened(mode, &found, &mut expected, exact[&truth]));
                }
                differences.extend(compare(&expected, &found, &units));
                // Without a host nothing tells an identifier's first word from one (README.md).
                if option == "no-hostname" && expected["ident"] == "sg lang[x]: y" && is_short(mode) {
                    assert_eq!(
                        (found.entry.meta.host.as_str(), found.entry.meta.ident.as_str(), differences.len()),
                        ("sg", "lang[x]: y", 2)
                    );
                    misread += 1;
                    differences.clear();
                }
                if !differences.is_empty() {
                    wrong += 1;
                    if wrong < 4 {
                        println!("{name}:{}: {}", found.line, differences.join("; "));
                    }
                }
            }
            for (reason, want) in skips(option, mode) {
                let got = skipped.iter().filter(|r| **r == reason).count();
                if got != want {
                    println!("{name}: {got} × {reason}, expected {want}");
                    wrong += 1;
                }
            }
            if option == "catalog-boot-c" && (is_short(mode) || mode == "verbose") {
                assert!(skipped.contains(&"explanation from the catalog"), "{name}");
            }
        }
        println!("options/{name}: {count} entries compared, {wrong} differences");
        (files, total, different) = (files + 1, total + count, different + wrong);
    }
    println!("journald options: {files} files, {total} entries, {different} differences, {misread} known to be misread");
    assert!(files > 170, "the folder of the options has moved");
    assert_eq!((different, misread), (0, 8));
}

/// With `--no-full` the middle of a line that does not fit is `…`, of several lines three are left, and verbose prints only the size.
/// Nothing tells such a message from one that its program wrote so. What stands there must be pieces of the true text in their order; then
/// it is what is expected.
fn shortened(mode: &str, found: &Found, expected: &mut Value, exact: &Value) -> Option<String> {
    text_differs(expected, &found.entry.text)?;
    let text = std::str::from_utf8(&found.entry.text).unwrap();
    let whole = exact["message"].as_str().or(exact["message_prefix"].as_str()).unwrap().replace('\t', "        ");
    let mut plain = Vec::new();
    strip_ansi(whole.as_bytes(), &mut plain);
    let whole = String::from_utf8(plain).unwrap();
    let len = exact["message_len"].as_u64().unwrap_or(whole.len() as u64);
    if mode == "verbose" {
        let size = if len < 1024 { format!("[{len}B blob data]") } else { format!("[{:.1}K blob data]", len as f64 / 1024.0 - 0.05) };
        expected["loss"] = Value::from(vec!["blob: "]);
        expected["message_sha256"] = Value::Null;
        expected["message"] = size.into();
        return None;
    }
    let mut rest = whole.as_str();
    for piece in text.trim_end_matches("...").split(['…', '\n']) {
        match rest.find(piece) {
            Some(at) => rest = &rest[at + piece.len()..],
            // Of a long text the truth has only the beginning here.
            None if len > whole.len() as u64 => {}
            None => return Some(format!("{text:?} is not {whole:?} with pieces left out")),
        }
    }
    if text.lines().count() > 3 {
        return Some(format!("{text:?} has more than three lines"));
    }
    expected["message_sha256"] = Value::Null;
    expected["message"] = text.into();
    if found.entry.meta.unit.is_empty() {
        // The unit's name can be cut.
        expected["unit"] = Value::Null;
        expected["unit_source"] = Value::Null;
    }
    None
}

/// `-o cat`: the entries' lines of the rendering without the option, and what the option adds.
fn cat(option: &str, wanted: &[Value], whole: &Path, facts: &HashMap<u64, Fields>) -> Vec<u8> {
    let bytes = std::fs::read(whole).unwrap();
    let lines: Vec<&[u8]> = bytes.split_inclusive(|b| *b == b'\n').collect();
    let mut out = Vec::new();
    let fields_of = |from: u64, to: u64, out: &mut Vec<u8>| {
        // Also those of the entries without MESSAGE, which cat leaves out otherwise.
        for fields in (from..to).filter_map(|truth| facts.get(&truth)).filter(|_| option == "output-fields") {
            for value in ["_PID", "UNIT"].iter().filter_map(|name| fields.get(*name)) {
                out.extend_from_slice(value.as_str().unwrap().as_bytes());
                out.push(b'\n');
            }
        }
    };
    let mut seen = 0;
    for expected in wanted {
        let truth = expected["truth"].as_u64().unwrap();
        fields_of(seen, truth, &mut out);
        seen = truth;
        let line = expected["line"].as_u64().unwrap() as usize - 1;
        out.extend(lines[line..line + expected["nlines"].as_u64().unwrap() as usize].concat());
    }
    fields_of(seen, u64::try_from(facts.len()).unwrap(), &mut out);
    if option == "show-cursor" {
        let last = &facts[&wanted.last().unwrap()["truth"].as_u64().unwrap()];
        out.extend_from_slice(format!("-- cursor: {}\n", last["__CURSOR"].as_str().unwrap()).as_bytes());
    }
    out
}
