//! Everything that `corr edges` cites, opened: each locator is a line that is what the signal says, each span of a series has samples at its ends,
//! and each command that is printed beside a figure gives the records that the figure counts.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::common::{Capture, Lines, cases, corr, json, locator};

/// Words that a record of a kind has, in any format that writes it: how a reader of the raw files knows it.
const MARKS: &[(&str, &[&str])] = &[
    ("access", &["HTTP/1.1\""]),
    ("active_sequences", &["\"topic\": \"active_sequences_events\""]),
    ("decode_batch", &["Decode batch"]),
    ("forward_pass", &["\"topic\": \"forward-pass-metrics\""]),
    ("gateway_dispatch", &["Sending request"]),
    ("gateway_request_error", &["ERROR"]),
    ("gateway_request_finished", &["finished processing request", "request failed"]),
    ("gateway_request_started", &["started processing request"]),
    ("gateway_retry", &["Retry backoff"]),
    ("hicache_prefetch", &["HiCache prefetch"]),
    ("http_response", &["http response sent"]),
    ("kv_event_recorded", &["Recorded event"]),
    ("kv_events", &["\"topic\": \"kv-events\""]),
    ("kv_metrics", &["\"topic\": \"kv_metrics\""]),
    ("kv_removed", &["\"removed\""]),
    ("kv_stored", &["\"stored\""]),
    ("lower_tier_lookup", &["Queried lower-tier indexer"]),
    ("migration", &["recreating stream", "Creating new stream"]),
    ("migration_retry", &["migration retry scheduled"]),
    ("pd_bootstrap_failed", &["Prefill bootstrap failed"]),
    ("pd_handshake_failed", &["handshake"]),
    ("prefill_batch", &["Prefill batch"]),
    ("request_completed", &["request completed"]),
    ("request_end", &["\"event_type\":\"request_end\""]),
    ("request_error", &["[http_server] Error"]),
    ("request_finished", &["Finish:", "request.finished"]),
    ("request_metrics", &["\"request_parameters\""]),
    ("request_payload", &["\"event_type\":\"request_payload\""]),
    ("request_received", &["Receive:", "Receive OpenAI", "request.received", "\"message\":\"request received\""]),
    ("request_time_stats", &["ReqTimeStats("]),
    ("route_cancelled", &["route request cancelled"]),
    ("route_completed", &["route request completed"]),
    ("route_decision", &["[ROUTING] Best"]),
    ("route_failed", &["route request failed"]),
    ("tracker_conflict", &["Conflicting request tracker write"]),
    ("worker_request_completed", &["\"message\":\"request completed\""]),
    ("worker_request_received", &["\"message\":\"request received\""]),
    ("worker_selected", &["Selected worker"]),
];

/// What the table says of a signal.
struct Signal {
    kinds: Vec<String>,
    amount: Option<String>,
    except_roles: Vec<String>,
}

fn signals() -> BTreeMap<(String, String), Signal> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("evidence/edges.toml");
    let table: toml::Table = std::fs::read_to_string(path).unwrap().parse().unwrap();
    let texts = |t: &toml::Value, key: &str| -> Vec<String> {
        let all = t.get(key).and_then(|v| v.as_array());
        all.map_or_else(Vec::new, |all| all.iter().map(|v| v.as_str().unwrap().to_string()).collect())
    };
    let mut signals = BTreeMap::new();
    for edge in table["edge"].as_array().unwrap() {
        for signal in edge.get("signal").and_then(|s| s.as_array()).unwrap_or(&Vec::new()) {
            let key = (edge["id"].as_str().unwrap().to_string(), signal["id"].as_str().unwrap().to_string());
            let amount = signal.get("amount").map(|a| a.as_str().unwrap().to_string());
            signals.insert(key, Signal { kinds: texts(signal, "kinds"), amount, except_roles: texts(signal, "except_roles") });
        }
    }
    signals
}

/// A command as a shell splits it: words, and words in single quotes.
pub fn split(command: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted, mut open) = (Vec::new(), String::new(), false, false);
    let mut chars = command.chars();
    while let Some(c) = chars.next() {
        match c {
            '\'' => {
                quoted = !quoted;
                open = true;
            }
            '\\' if !quoted => word.push(chars.next().unwrap()),
            ' ' if !quoted => {
                if open || !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
                open = false;
            }
            c => word.push(c),
        }
    }
    assert!(!quoted, "{command}");
    words.push(word);
    words
}

#[derive(Default)]
struct Tally {
    locators: usize,
    shown: usize,
    commands: usize,
    series: usize,
    /// Records that a command gives beyond those that are counted, by why they are not.
    beyond: BTreeMap<&'static str, usize>,
}

/// Records that a query gives, by locator.
pub fn records(words: &[String]) -> BTreeMap<String, Value> {
    let mut arguments: Vec<&str> = words[1..].iter().map(String::as_str).collect();
    arguments.extend(["--limit", "0", "--format", "jsonl"]);
    let (code, out, err) = corr(&arguments);
    assert_eq!(code, 0, "{words:?}\n{err}");
    let events = out.lines().map(|l| serde_json::from_str::<Value>(l).unwrap()).filter(|e| e["type"] == "event");
    events.map(|e| (format!("{}:{}", e["source"].as_str().unwrap(), e["line"]), e)).collect()
}

/// Why a record of a signal's kind is not counted.
fn beyond(signal: &Signal, event: &Value) -> Option<&'static str> {
    let probe = |id: &Value| id["id"].as_str().is_some_and(|id| id.starts_with("HEALTH_CHECK"));
    if event["ids"].as_array().is_some_and(|ids| ids.iter().any(probe)) {
        return Some("health probes");
    }
    if event["role"].as_str().is_some_and(|role| signal.except_roles.iter().any(|r| r == role)) {
        return Some("another role");
    }
    let has = |amount: &String| amount.split('+').any(|field| event["fields"][field].is_number());
    (signal.amount.as_ref().is_some_and(|a| !has(a))).then_some("no amount in it")
}

fn walk(below: &str, sample: usize) {
    let Some(cases) = cases() else { return };
    let capture = Capture::of(&cases, below);
    let answer = json(&["edges", capture.path(), "--all-citations"]);
    let signals = signals();
    let mut lines = Lines::default();
    let mut tally = Tally::default();
    let mut asked: BTreeMap<String, BTreeMap<String, Value>> = BTreeMap::new();
    let mut to_show: Vec<(String, Vec<String>)> = Vec::new();
    for edge in answer["edges"].as_array().unwrap() {
        let id = edge["edge"].as_str().unwrap();
        for shown in ["proofs", "hints"].iter().flat_map(|w| edge[*w].as_array().unwrap()) {
            let name = shown["signal"].as_str().unwrap();
            let signal = &signals[&(id.to_string(), name.to_string())];
            let at = format!("{below}: {id}/{name}");
            let cites: Vec<&str> = shown["cites"].as_array().unwrap().iter().map(|c| c.as_str().unwrap()).collect();
            assert!(!cites.is_empty(), "{at}");
            for cite in &cites {
                let (path, line) = locator(cite);
                let text = &lines.from(path, line)[0];
                let marked = signal.kinds.iter().any(|kind| {
                    let marks =
                        MARKS.iter().find(|(k, _)| k == kind).unwrap_or_else(|| panic!("{at}: no words are known of {kind}: {text}"));
                    marks.1.iter().any(|m| text.contains(m))
                });
                assert!(marked, "{at}: {cite} is no {:?}: {text}", signal.kinds);
                tally.locators += 1;
            }
            to_show.extend([cites[0], cites[cites.len() / 2], cites[cites.len() - 1]].map(|c| (c.to_string(), signal.kinds.clone())));

            let command = shown["reproduce"].as_str().unwrap();
            let given = asked.entry(command.to_string()).or_insert_with(|| {
                tally.commands += 1;
                records(&split(command))
            });
            let counted = shown["records"].as_u64().unwrap() as usize;
            let unique: BTreeSet<&str> = cites.iter().copied().collect();
            for cite in &unique {
                assert!(given.contains_key(*cite), "{at}: {cite} is not among what {command} gives");
            }
            if unique.len() < counted {
                // Of records without an id the first and the last of each source are cited: the command gives them all.
                let (counts, not): (Vec<&Value>, Vec<&Value>) = given.values().partition(|e| beyond(signal, e).is_none());
                assert_eq!(counts.len(), counted, "{at}: {command}");
                not.iter().filter_map(|e| beyond(signal, e)).for_each(|why| *tally.beyond.entry(why).or_default() += 1);
                continue;
            }
            assert_eq!(unique.len(), counted, "{at}");
            for (locator, event) in given.iter().filter(|(l, _)| !unique.contains(l.as_str())) {
                let why =
                    beyond(signal, event).unwrap_or_else(|| panic!("{at}: {locator} is given by {command}, and not counted: {event}"));
                *tally.beyond.entry(why).or_default() += 1;
            }
        }
    }
    to_show.sort();
    to_show.dedup_by(|a, b| a.0 == b.0);
    let step = (to_show.len() / sample).max(1);
    for (cite, kinds) in to_show.iter().step_by(step) {
        let (code, out, err) = corr(&["show", cite, "--run", capture.path(), "--format", "json", "-C", "0"]);
        assert_eq!(code, 0, "{cite}: {err}");
        let opened: Value = serde_json::from_str(&out).unwrap();
        let kind = opened["event"]["kind"].as_str().unwrap();
        // Several signals may cite one record, which has one kind.
        let (path, line) = locator(cite);
        assert_eq!(opened["event"]["line"].as_u64(), Some(line as u64), "{cite}");
        assert!(kinds.iter().any(|k| k == kind), "{cite}: {kind}, not {kinds:?}");
        let first = opened["raw"].as_str().unwrap().lines().next().unwrap_or_default().to_string();
        let raw = &lines.from(path, line)[0];
        // Prompts and answers are withheld there: what stands before them is the same.
        let same = first.bytes().zip(raw.bytes()).take_while(|(a, b)| a == b).count();
        assert!(same >= 20.min(raw.len()), "{cite}: {first}\n{raw}");
        tally.shown += 1;
    }
    series(&capture, &answer, &mut tally);
    assert_eq!(tally.beyond, BTreeMap::new(), "{below}: commands give more than is counted");
    println!(
        "{below}: {} locators are what they are cited for, {} opened by `corr show`; {} spans of series and {} commands hold; given beyond what is counted: {:?}",
        tally.locators, tally.shown, tally.series, tally.commands, tally.beyond
    );
    assert!(tally.shown >= sample.min(to_show.len()), "{} of {}", tally.shown, to_show.len());
    assert!(tally.locators > 500 && tally.series > 20, "too few: {} {}", tally.locators, tally.series);
}

/// Samples of a series as `corr metrics` gives them: by capture, target and series.
type Samples = BTreeMap<(String, String, String), Vec<(String, f64)>>;

fn samples(run: &str, selectors: &BTreeSet<String>) -> Samples {
    let mut arguments = vec!["metrics", run];
    arguments.extend(selectors.iter().map(String::as_str));
    arguments.extend(["--limit", "0"]);
    let answer = json(&arguments);
    let mut all = Samples::new();
    for series in answer["series"].as_array().unwrap() {
        let text = |key: &str| series[key].as_str().unwrap().to_string();
        let samples = series["samples"].as_array().unwrap().iter();
        let samples = samples.map(|s| (s[0].as_str().unwrap().to_string(), s[1].as_f64().unwrap())).collect();
        all.insert((text("capture"), text("target"), text("series")), samples);
    }
    all
}

/// What a counter's samples say: increase between them, and what was counted before the first sample of each process. One process ends where the
/// value falls, or where a scrape in between has no such series.
fn counted(samples: &[(String, f64)], scrapes: &[i64]) -> (f64, f64) {
    let (mut increase, mut before) = (0.0, 0.0);
    let mut last: Option<(i64, f64)> = None;
    for (time, value) in samples {
        let time = millis(time);
        let gone = |from: i64| scrapes.iter().any(|s| *s > from && *s < time);
        match last {
            Some((from, last)) if *value >= last && !gone(from) => increase += value - last,
            _ => before += value,
        }
        last = Some((time, *value));
    }
    (increase, before)
}

fn millis(time: &str) -> i64 {
    chrono::DateTime::parse_from_rfc3339(time).unwrap().timestamp_millis()
}

/// Scrapes of a target: files are named by their time in milliseconds, below a folder of the target or behind its name.
fn scrapes(path: &str, target: &str) -> BTreeMap<i64, PathBuf> {
    let own = Path::new(path).join(target);
    let folder = if own.is_dir() { &own } else { Path::new(path) };
    let files = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path());
    let time = |p: &PathBuf| {
        let name = p.file_name().unwrap().to_string_lossy().into_owned();
        let (stem, rest) = name.split_once('.')?;
        let own = match stem.rsplit_once('_') {
            Some((of, time)) if of == target => time,
            Some(_) => return None,
            None => stem,
        };
        if rest.starts_with("prom") { own.parse().ok() } else { None }
    };
    files.filter_map(|p| Some((time(&p)?, p))).collect()
}

/// `path#series[target]@from..to`, apart.
pub fn span(cite: &str) -> (&str, &str, &str, &str, &str) {
    let (path, rest) = cite.split_once('#').unwrap();
    let (rest, ends) = rest.rsplit_once('@').unwrap();
    let (series, target) = rest.strip_suffix(']').unwrap().rsplit_once('[').unwrap();
    let (from, to) = ends.split_once("..").unwrap();
    (path, series, target, from, to)
}

fn series(capture: &Capture, answer: &Value, tally: &mut Tally) {
    let counters: Vec<&Value> = answer["edges"].as_array().unwrap().iter().flat_map(|e| e["counters"].as_array().unwrap()).collect();
    let cited: BTreeSet<String> =
        counters.iter().flat_map(|c| c["cites"].as_array().unwrap()).map(|c| span(c.as_str().unwrap()).1.to_string()).collect();
    let samples = samples(capture.path(), &cited);
    let mut commands: BTreeMap<&str, i32> = BTreeMap::new();
    for counter in &counters {
        let own = counter["series"].as_str().unwrap();
        let number = |key: &str| counter[key].as_f64().unwrap();
        for cite in counter["cites"].as_array().unwrap() {
            let cite = cite.as_str().unwrap();
            let (path, series, target, from, to) = span(cite);
            if counter["never_seen"] == true {
                // A labelled series that never came while others of its family did: the scrapes at both ends have the family, and not the series.
                assert_eq!((number("increase"), number("before_first_sample")), (0.0, 0.0), "{own}");
                for time in [from, to] {
                    never_came(path, target, series, own, time);
                }
                tally.series += 1;
                continue;
            }
            let key = (path.to_string(), target.to_string(), series.to_string());
            let of = samples.get(&key).unwrap_or_else(|| panic!("{cite}: no such series"));
            let ends = [of.iter().position(|(t, _)| t == from), of.iter().position(|(t, _)| t == to)];
            let [Some(first), Some(last)] = ends else { panic!("{cite}: no samples at its ends: {of:?}") };
            tally.series += 1;
            raw_scrape(path, target, series, &of[first]);
            raw_scrape(path, target, series, &of[last]);
            assert_eq!(series, own, "{cite}: another series");
            assert_eq!((first, last), (0, of.len() - 1), "{cite}: of the whole run all samples count");
            let scraped: Vec<i64> = scrapes(path, target).into_keys().collect();
            let (increase, before) = counted(of, &scraped);
            match counter["increase"].as_f64() {
                Some(said) => assert!((increase - said).abs() < 1e-6 * increase.max(1.0), "{cite}: {increase}, said {said}"),
                // One sample is no difference, and none that is zero.
                None => assert_eq!(of.len(), 1, "{cite}: no increase"),
            }
            assert!(
                (before - number("before_first_sample")).abs() < 1e-6 * before.max(1.0),
                "{cite}: {before}, said {}",
                number("before_first_sample")
            );
        }
        let command = counter["reproduce"].as_str().unwrap();
        let code = *commands.entry(command).or_insert_with(|| {
            tally.commands += 1;
            let words = split(command);
            let (code, out, _) = corr(&words[1..].iter().map(String::as_str).collect::<Vec<_>>());
            assert!(!out.is_empty(), "{command}");
            code
        });
        // Exit code 3: samples are there, and not over the whole window.
        assert!(code == 0 || code == 3, "{command}: exit code {code}");
    }
}

/// The scrape of that moment, as its file was written, says the value.
fn raw_scrape(path: &str, target: &str, series: &str, (time, value): &(String, f64)) {
    let scrapes = scrapes(path, target);
    let file = scrapes.get(&millis(time)).unwrap_or_else(|| panic!("{path}: no scrape of {target} at {time}"));
    let text = String::from_utf8(crate::common::unpacked(file)).unwrap();
    let wanted = name_and_labels(series);
    let of_series = |line: &&str| !line.starts_with('#') && line.starts_with(wanted.0.as_str()) && name_and_labels(line) == wanted;
    let line = text.lines().find(of_series).unwrap_or_else(|| panic!("{}: no {series}", file.display()));
    let said = line.rsplit_once('}').map_or_else(|| line.split_once(' ').unwrap().1, |(_, rest)| rest.trim());
    assert_eq!(said.split(' ').next().unwrap().parse::<f64>().unwrap(), *value, "{}: {series}", file.display());
}

/// The scrape of that moment has series of the family, and none of the labels that the series is told by.
fn never_came(path: &str, target: &str, family: &str, series: &str, time: &str) {
    let scrapes = scrapes(path, target);
    let file = scrapes.get(&millis(time)).unwrap_or_else(|| panic!("{path}: no scrape of {target} at {time}"));
    let text = String::from_utf8(crate::common::unpacked(file)).unwrap();
    let (_, labels) = name_and_labels(series);
    let of_family: Vec<_> = text.lines().filter(|l| l.starts_with(&format!("{family}{{"))).map(name_and_labels).collect();
    assert!(!of_family.is_empty(), "{}: no {family}", file.display());
    assert!(!of_family.iter().any(|(_, has)| labels.is_subset(has)), "{}: it has {series}", file.display());
}

/// A series by its name and its labels, in whatever order they stand.
fn name_and_labels(series: &str) -> (String, BTreeSet<String>) {
    let end = series.find(['{', ' ']).unwrap_or(series.len());
    let (name, rest) = series.split_at(end);
    let labels = rest.strip_prefix('{').and_then(|r| r.rsplit_once('}')).map_or("", |(labels, _)| labels);
    let (mut all, mut label, mut quoted, mut escaped) = (BTreeSet::new(), String::new(), false, false);
    for c in labels.chars() {
        match c {
            ',' if !quoted => {
                all.insert(std::mem::take(&mut label));
                continue;
            }
            '"' if !escaped => quoted = !quoted,
            _ => {}
        }
        escaped = c == '\\' && !escaped;
        label.push(c);
    }
    if !label.is_empty() {
        all.insert(label);
    }
    (name.to_string(), all)
}

#[test]
fn citations_of_dynamo_open() {
    walk("dynamo/A1_trace_payload_headers_jsonl", 60);
}

#[test]
fn citations_of_disaggregated_sglang_open() {
    walk("sglang/e-0523-pd-mooncake-tcp", 60);
}

#[test]
fn citations_of_sglang_with_lower_tiers_open() {
    walk("sglang/b2-0523-hicache-restart", 50);
}

/// Its router's log is there twice: of both the commands give the records of one.
#[test]
fn citations_of_a_router_and_its_workers_open() {
    walk("sglang/d-0523-router", 40);
}
