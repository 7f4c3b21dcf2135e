//! Draws the records that people label: `draw_labels CASES SEED COUNT > records.jsonl`.
//!
//! Strata are format, version (the capture) and kind: every kind that is seen is drawn at least once, and a third or more of the records are DEBUG,
//! rare or of several lines. What corr made of a record is used to draw it and is not written out: the labels are made from the record's text alone.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use corr_parsers::detect;
use corr_parsers::event::{Event, Level, Outcome};
use corr_parsers::record::Reader;
use corr_parsers::text;

struct Drawn {
    format: &'static str,
    capture: String,
    source: String,
    offset: usize,
    text: String,
    kind: &'static str,
    special: bool,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [cases, seed, count] = &arguments[..] else {
        eprintln!("usage: draw_labels CASES SEED COUNT");
        std::process::exit(2);
    };
    let (Ok(mut state), Ok(count)) = (seed.parse::<u64>(), count.parse::<usize>()) else {
        eprintln!("SEED and COUNT are numbers");
        std::process::exit(2);
    };
    let cases = Path::new(cases);
    let mut strata: BTreeMap<(String, String, &'static str), Vec<Drawn>> = BTreeMap::new();
    let mut of_kind: BTreeMap<(&'static str, &'static str), usize> = BTreeMap::new();
    for path in files(cases) {
        for drawn in records(cases, &path) {
            *of_kind.entry((drawn.format, drawn.kind)).or_default() += 1;
            strata.entry((drawn.format.to_string(), drawn.capture.clone(), drawn.kind)).or_default().push(drawn);
        }
    }
    // One of each kind first, then one more of each stratum in turn, special ones first, until there are enough.
    let mut chosen: Vec<Drawn> = Vec::new();
    let mut kinds_done: Vec<(&'static str, &'static str)> = Vec::new();
    let mut keys: Vec<_> = strata.keys().cloned().collect();
    shuffle(&mut keys, &mut state);
    for key in &keys {
        let Some(list) = strata.get_mut(key) else { continue };
        let kind = (list[0].format, key.2);
        if !kinds_done.contains(&kind) {
            kinds_done.push(kind);
            chosen.push(take(list, &mut state));
        }
    }
    let special =
        |chosen: &[Drawn], of_kind: &BTreeMap<_, usize>| chosen.iter().filter(|d| d.special || of_kind[&(d.format, d.kind)] < 20).count();
    for want_special in [true, false] {
        for key in keys.iter().cycle().take(keys.len() * 4) {
            if chosen.len() >= count || want_special && special(&chosen, &of_kind) * 2 >= count {
                break;
            }
            let Some(list) = strata.get_mut(key) else { continue };
            if want_special {
                let Some(format) = list.first().map(|d| d.format) else { continue };
                let rare = of_kind[&(format, key.2)] < 20;
                if let Some(i) = list.iter().position(|d| d.special || rare) {
                    chosen.push(list.swap_remove(i));
                }
            } else if !list.is_empty() {
                chosen.push(take(list, &mut state));
            }
            if list.is_empty() {
                strata.remove(key);
            }
        }
    }
    eprintln!(
        "{} records, {} kinds, {} of them DEBUG, rare or of several lines",
        chosen.len(),
        kinds_done.len(),
        special(&chosen, &of_kind)
    );
    shuffle(&mut chosen, &mut state);
    for (n, d) in chosen.iter().enumerate() {
        let line = serde_json::json!({
            "n": n + 1, "format": d.format, "capture": d.capture, "source": d.source, "offset": d.offset, "text": d.text,
        });
        println!("{line}");
    }
}

fn next(state: &mut u64) -> u64 {
    // splitmix64, public domain
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn shuffle<T>(list: &mut [T], state: &mut u64) {
    for i in (1..list.len()).rev() {
        list.swap(i, (next(state) % (i as u64 + 1)) as usize);
    }
}

fn take(list: &mut Vec<Drawn>, state: &mut u64) -> Drawn {
    let i = (next(state) % list.len() as u64) as usize;
    list.swap_remove(i)
}

/// Logs and traces below the cases, none of the answers, in a fixed order.
fn files(cases: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open =
        ["sglang-samples", "sglang", "dynamo", "tachometer/run_dynamo", "journald/real/v257/UTC"].map(|d| cases.join(d)).to_vec();
    while let Some(dir) = open.pop() {
        let Ok(entries) = std::fs::read_dir(&dir) else { continue };
        for entry in entries.flatten() {
            let path = entry.path();
            let name = entry.file_name().to_string_lossy().into_owned();
            let answer = ["truth", "client", "timeline", "health", "expected", "scrapes", "otlp", "testcases"];
            if path.is_dir() {
                if name != "metrics" && name != "line-samples" && !name.starts_with('.') {
                    open.push(path);
                }
            } else if [".log", ".jsonl", ".gz", ".txt"].iter().any(|e| name.ends_with(e)) && !answer.iter().any(|a| name.contains(a)) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn records(cases: &Path, path: &Path) -> Vec<Drawn> {
    let Ok(mut bytes) = std::fs::read(path) else { return Vec::new() };
    if bytes.starts_with(&[0x1f, 0x8b]) {
        let mut plain = Vec::new();
        let _ = flate2::read::MultiGzDecoder::new(&bytes[..]).read_to_end(&mut plain);
        bytes = plain;
    }
    let source = path.strip_prefix(cases).unwrap_or(path).display().to_string();
    // Samples carry their version in the file's name, captures in the folder's.
    let capture = match source.split_once('/') {
        Some(("sglang-samples", name)) => name.rsplit_once('-').map_or(name, |n| n.1).trim_end_matches(".log").to_string(),
        Some((_, rest)) => rest.split('/').next().unwrap_or(rest).to_string(),
        None => source.clone(),
    };
    let detection = detect::detect(&bytes, true);
    let mut reader = Reader::new(&bytes, 0, &detection.layout);
    let mut drawn = Vec::new();
    while let Some(record) = reader.next() {
        let mut event = Event::new(&text::kinds::TEXT);
        let outcome = record.parse(&mut event);
        if matches!(outcome, Outcome::Skipped("blank line")) || record.payload.len() > 20_000 {
            continue;
        }
        let Ok(payload) = std::str::from_utf8(record.payload) else { continue };
        let debug = matches!(event.level, Some(Level::Debug | Level::Trace));
        drawn.push(Drawn {
            format: record.format.map_or("text", |f| f.name),
            capture: capture.clone(),
            source: source.clone(),
            offset: record.offset,
            text: payload.to_string(),
            kind: event.kind.name,
            special: debug || payload.contains('\n'),
        });
    }
    drawn
}
