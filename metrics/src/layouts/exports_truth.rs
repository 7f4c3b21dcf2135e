//! Every layout of this area against the truth files of the cases: the scrapes kept verbatim, and what Prometheus itself counts.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::{Path, PathBuf};

use super::quoted::spelled;
use super::{Candidate, Set, claim, look};
use crate::cases::cases;
use crate::model::{Capture, Clock, Fidelity, Kind, Outcome, SeriesId, StampOf, canonical};

/// Series by endpoint, canonical name and labels; samples by time.
type Truth = BTreeMap<(String, String, BTreeMap<String, String>), Vec<(i64, u64)>>;

/// Bits of a value; all NaN are one.
fn bits(value: f64) -> u64 {
    if value.is_nan() { f64::NAN.to_bits() } else { value.to_bits() }
}

fn text(path: &Path) -> String {
    let mut out = String::new();
    super::open(path).unwrap().read_to_string(&mut out).unwrap();
    out
}

/// A label's value as captures keep it: bounds as numbers.
fn bound(key: &str, value: &str) -> String {
    match (key, value.parse::<f64>()) {
        ("le" | "quantile", Ok(n)) if n.is_finite() => n.to_string(),
        _ => value.to_string(),
    }
}

/// The scrapes kept verbatim, by `host:port`. 98,810 samples.
fn scraped(folder: &Path) -> Truth {
    let mut truth = Truth::new();
    for line in text(&folder.join("raw/raw_prometheus.jsonl.gz")).lines() {
        let scrape: serde_json::Value = serde_json::from_str(line).unwrap();
        let url = scrape["endpoint_url"].as_str().unwrap();
        let endpoint = url.strip_prefix("http://").unwrap().strip_suffix("/metrics").unwrap().to_string();
        let at = scrape["timestamp_ns"].as_i64().unwrap();
        for line in scrape["text"].as_str().unwrap_or("").lines().filter(|l| !l.is_empty() && !l.starts_with('#')) {
            let s = spelled(line).unwrap();
            let labels = s.labels.iter().filter(|(_, v)| !v.is_empty()).map(|(k, v)| (k.clone(), bound(k, v))).collect();
            let value: f64 = s.rest.trim().parse().unwrap();
            truth.entry((endpoint.clone(), canonical(&s.name).into_owned(), labels)).or_default().push((at, bits(value)));
        }
    }
    truth
}

/// What a capture holds, without the labels that it adds to what was served.
fn held(capture: &Capture, added: &[&str], scale: i64) -> Truth {
    let mut truth = Truth::new();
    for (i, series) in capture.series.iter().enumerate() {
        let samples: Vec<_> =
            capture.samples.all(u32::try_from(i).unwrap()).iter().map(|s| (s.at / scale * scale, bits(s.value))).collect();
        if samples.is_empty() {
            continue;
        }
        let labels = series.labels.iter().filter(|(k, _)| !added.contains(k)).map(|(k, v)| (k.to_string(), v.to_string())).collect();
        let endpoint = capture.endpoint(series.endpoint).unwrap().name.clone();
        truth.insert((endpoint, series.name.canonical().to_string(), labels), samples);
    }
    truth
}

fn count(truth: &Truth) -> usize {
    truth.values().map(Vec::len).sum()
}

fn sets(folder: &Path, files: &[&str]) -> Vec<(&'static str, Set)> {
    let candidates: Vec<Candidate> = files.iter().map(|f| look(&folder.join(f), f)).collect();
    let claims = claim(&candidates);
    assert_eq!(claims.unclaimed, Vec::<usize>::new(), "{files:?}");
    claims.sets
}

fn read(folder: &Path, layout: &str, files: &[&str]) -> Vec<Capture> {
    let sets = sets(folder, files);
    assert_eq!(sets.iter().map(|(name, _)| *name).collect::<Vec<_>>(), vec![layout], "{files:?}");
    (super::by_name(layout).unwrap().read)(&sets[0].1).unwrap()
}

/// The one question of the cases: samples, first and last value of `cached_tokens_total{cache_source="device"}` over T0+60 to T0+120.
fn question(folder: &Path, capture: &Capture) -> (usize, f64, f64) {
    let meta: serde_json::Value = serde_json::from_str(&text(&folder.join("meta.json"))).unwrap();
    let t0 = super::text::seconds(&meta["T0"].to_string()).unwrap();
    let series = capture
        .series
        .iter()
        .position(|s| s.name.canonical() == "sglang:cached_tokens_total" && s.labels.get("cache_source") == Some("device"))
        .unwrap();
    let samples = capture.samples.between(u32::try_from(series).unwrap(), t0 + 60_000_000_000, t0 + 120_000_000_000);
    (samples.len(), samples[0].value, samples[samples.len() - 1].value)
}

const OURS: (usize, f64, f64) = (60, 292_732.0, 792_921.0);
const PROMETHEUS: (f64, f64) = (296_968.0, 797_645.0);

fn codes(capture: &Capture) -> BTreeMap<&'static str, u64> {
    capture.notes.iter().map(|n| (n.code, n.count)).collect()
}

#[test]
fn victoriametrics_holds_every_sample() {
    let Some(folder) = cases("metrics") else { return };
    let captures = read(&folder, "victoriametrics", &["layouts/L08_victoriametrics_export.jsonl.gz"]);
    let mut truth = scraped(&folder);
    truth.values_mut().flatten().for_each(|(at, _)| *at = *at / 1_000_000 * 1_000_000);
    assert_eq!(count(&truth), 98_810);
    assert!(held(&captures[0], &["instance"], 1) == truth, "a sample differs");
    assert_eq!(question(&folder, &captures[0]), OURS);
    assert!(captures[0].notes.is_empty(), "{:?}", captures[0].notes);
    println!("compared 98,810 samples of 411 series");
}

#[test]
fn grafana_points_are_those_of_the_table_and_no_samples() {
    let Some(folder) = cases("metrics") else { return };
    let captures = read(&folder, "grafana-csv", &["layouts/L10_grafana_joined.csv"]);
    let capture = &captures[0];
    assert_eq!((capture.fidelity, capture.stamp_of, &capture.clock), (Fidelity::StepFilled, StampOf::Evaluation, &Clock::Wall));
    let truth = scraped(&folder);
    let held = held(capture, &[], 1);
    assert_eq!(held.len(), 13);
    for ((_, name, labels), points) in &held {
        let mut of = truth[&("127.0.0.1:13000".to_string(), name.clone(), labels.clone())].clone();
        of.iter_mut().for_each(|(at, _)| *at = *at / 1_000_000 * 1_000_000);
        assert!(*points == of, "{name}");
    }
    assert_eq!(question(&folder, capture), OURS);
    println!("compared {} points", count(&held));
}

/// The scrapes that the line protocol files hold: every fifth of the worker's. Line protocol has no NaN.
fn thinned(folder: &Path, held: &Truth) -> Truth {
    let times: BTreeSet<i64> = held.values().flatten().map(|(at, _)| *at).collect();
    assert_eq!(times.len(), 48);
    let worker = scraped(folder).into_iter().filter(|((endpoint, ..), _)| endpoint == "127.0.0.1:13000");
    worker
        .map(|((_, name, labels), samples)| {
            (
                (String::new(), name, labels),
                samples.into_iter().filter(|(at, v)| times.contains(at) && !f64::from_bits(*v).is_nan()).collect::<Vec<_>>(),
            )
        })
        .filter(|(_, samples)| !samples.is_empty())
        .collect()
}

#[test]
fn both_forms_of_telegraf_hold_the_scrapes() {
    let Some(folder) = cases("metrics") else { return };
    for (file, endpoint, typed) in
        [("layouts/L11_telegraf_v1.lp.gz", "", true), ("layouts/L11_telegraf_v2.lp.gz", "http://127.0.0.1:13000/metrics", false)]
    {
        let captures = read(&folder, "influx", &[file]);
        let capture = &captures[0];
        assert_eq!(capture.stamp_of, StampOf::Body);
        let held: Truth = held(capture, &[], 1)
            .into_iter()
            .map(|((of, name, labels), samples)| {
                assert_eq!(of, endpoint);
                ((String::new(), name, labels), samples)
            })
            .collect();
        let truth = thinned(&folder, &held);
        let missing: Vec<_> = truth.keys().filter(|k| !held.contains_key(*k)).collect();
        println!("{file}: {} series, {} samples, missing {missing:?}", held.len(), count(&held));
        for (key, samples) in &held {
            assert!(truth.get(key) == Some(samples), "{file}: {key:?}");
        }
        assert!(missing.is_empty());
        assert!(capture.notes.is_empty(), "{:?}", capture.notes);
        if typed {
            let kind = |name: &str| capture.families.get(name).and_then(|f| f.kind);
            assert_eq!(kind("sglang:cached_tokens_total"), Some(Kind::Counter));
            assert_eq!(kind("sglang:kv_used_tokens"), Some(Kind::Gauge));
            assert_eq!(kind("sglang:routing_key_running_req_count"), Some(Kind::Gauge), "its labels gt and le make no histogram");
            assert_eq!(kind("sglang:time_to_first_token_seconds"), Some(Kind::Histogram));
        }
        assert!(capture.endpoints.iter().all(|e| e.url.as_deref().unwrap_or("") == endpoint));
    }
}

/// The dump, by simple means: 426 series, 112,959 samples.
fn dumped(folder: &Path) -> Truth {
    let mut truth = Truth::new();
    for line in text(&folder.join("prometheus/promtool_tsdb_dump.txt.gz")).lines() {
        let (rest, stamp) = line.rsplit_once(' ').unwrap();
        let (series, value) = rest.rsplit_once(' ').unwrap();
        let mut labels: BTreeMap<String, String> = spelled(series).unwrap().labels.into_iter().collect();
        let name = canonical(&labels.remove("__name__").unwrap()).into_owned();
        labels.iter_mut().for_each(|(k, v)| *v = bound(k, v));
        let key = (labels["instance"].clone(), name, labels);
        let sample = (stamp.parse::<i64>().unwrap() * 1_000_000, bits(value.parse().unwrap()));
        truth.entry(key).or_default().push(sample);
    }
    truth
}

#[test]
fn the_dump_holds_what_the_block_counts() {
    let Some(folder) = cases("metrics") else { return };
    let captures = read(&folder, "promtool-dump", &["prometheus/promtool_tsdb_dump.txt.gz"]);
    let capture = &captures[0];
    let truth = dumped(&folder);
    assert_eq!((truth.len(), count(&truth)), (426, 112_959), "as meta.json of the block says");
    assert_eq!(capture.series.len(), 426);
    assert!(held(capture, &[], 1) == truth, "a sample differs");
    let (_, first, last) = question(&folder, capture);
    assert_eq!((first, last), PROMETHEUS);
    assert_eq!(codes(capture), BTreeMap::from([("nan_or_stale", 502)]));
    // gaps.json: the worker was down for seven scrapes of a script; Prometheus' own `up` says when its scrapes failed.
    let down = |name: &str| {
        let endpoint = capture.endpoints.iter().find(|e| e.name == name).unwrap();
        (endpoint.scrapes.len(), endpoint.scrapes.iter().filter(|s| matches!(s.outcome, Outcome::Failed(_))).count())
    };
    let up = |name: &str| {
        let values = &truth[truth.keys().find(|(e, n, _)| e == name && n == "up").unwrap()];
        (values.len(), values.iter().filter(|(_, v)| *v == 0f64.to_bits()).count())
    };
    for name in ["127.0.0.1:13000", "127.0.0.1:18000", "127.0.0.1:19100"] {
        assert_eq!(down(name), up(name), "{name}");
    }
    assert!(down("127.0.0.1:13000").1 >= 5, "{:?}", down("127.0.0.1:13000"));
    println!("compared 112,959 samples of 426 series");
}

fn api(folder: &Path) -> Vec<String> {
    let mut files: Vec<String> = std::fs::read_dir(folder.join("prometheus/api"))
        .unwrap()
        .map(|e| format!("prometheus/api/{}", e.unwrap().file_name().to_string_lossy()))
        .collect();
    files.sort();
    files
}

#[test]
fn answers_of_the_api_are_samples_or_instants() {
    let Some(folder) = cases("metrics") else { return };
    let files = api(&folder);
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    assert_eq!(files.len(), 27);
    let captures = read(&folder, "prometheus-api", &files);

    let (raw, filled): (Vec<&Capture>, Vec<&Capture>) = captures.iter().partition(|c| c.fidelity == Fidelity::Raw);
    assert_eq!(raw.len(), 1);
    let raw = raw[0];
    assert_eq!((raw.stamp_of, codes(raw)["raw_samples"]), (StampOf::Request, 1));
    // The samples of that document are among the dump's; the API leaves marks of an end out.
    let truth = dumped(&folder);
    let held_raw = held(raw, &[], 1);
    assert_eq!((held_raw.len(), count(&held_raw)), (222, 54_369), "by python over the document");
    for (key, samples) in &held_raw {
        let of: BTreeSet<_> = truth[key].iter().collect();
        assert!(samples.iter().all(|s| of.contains(s)), "{key:?}");
    }
    let (_, first, last) = question(&folder, raw);
    assert_eq!((first, last), PROMETHEUS);

    let kind = |name: &str| raw.families.get(name).and_then(|f| f.kind);
    assert_eq!(kind("corr_block_count"), Some(Kind::Gauge));
    assert_eq!(kind("dynamo_rpc_duration_seconds"), Some(Kind::Summary));
    assert_eq!(raw.families["corr_torture_gauge"].help.as_deref(), Some("help with \\ backslash, \"quotes\" and\nnewline"));
    let worker = raw.endpoints.iter().find(|e| e.name == "127.0.0.1:13000").unwrap();
    assert_eq!(worker.url.as_deref(), Some("http://127.0.0.1:13000/metrics"));
    let fact = |key: &str| worker.facts.get(key).map(String::as_str);
    assert_eq!((fact("job"), fact("worker"), fact("scrape_interval")), (Some("sglang"), Some("agg0"), Some("1s")));

    let exemplars: serde_json::Value = serde_json::from_str(&text(&folder.join("prometheus/api/query_exemplars.json.gz"))).unwrap();
    let all: Vec<_> = exemplars["data"].as_array().unwrap().iter().flat_map(|s| s["exemplars"].as_array().unwrap()).collect();
    assert_eq!(raw.exemplars.len(), all.len());
    for (got, want) in raw.exemplars.iter().zip(&all) {
        assert_eq!(got.labels.get("trace_id"), want["labels"]["trace_id"].as_str());
        assert_eq!(got.at, super::text::seconds(&want["timestamp"].to_string()));
    }

    // No answer of a range query is taken for samples, and none is lost.
    let points: u64 = filled.iter().flat_map(|c| (0..c.series.len()).map(|i| c.samples.len(u32::try_from(i).unwrap()))).sum();
    let mut want = 0;
    for file in files.iter().filter(|f| f.contains("query_range")) {
        let answer: serde_json::Value = serde_json::from_str(&text(&folder.join(file))).unwrap();
        let series = answer["response"]["data"]["result"].as_array().unwrap();
        want += series.iter().map(|s| s["values"].as_array().unwrap().len() as u64).sum::<u64>();
    }
    assert_eq!(points, want);
    for capture in &filled {
        assert_eq!((capture.fidelity, capture.stamp_of), (Fidelity::StepFilled, StampOf::Evaluation));
        assert!(codes(capture).contains_key("evaluated_instants"), "{:?}", capture.notes);
        assert!(capture.series.iter().all(|s| s.trouble.collisions == 0));
    }
    let nameless = filled.iter().flat_map(|c| &c.series).filter(|s| s.name.seen() == "rate(sglang_prompt_tokens_total[15s])").count();
    assert!(nameless > 0, "the result of an expression stands under its query");
    println!("compared {} samples, {points} instants in {} captures, {} exemplars", count(&held_raw), filled.len(), all.len());
}

#[test]
fn without_the_query_stamps_tell_samples_from_instants_or_nothing_does() {
    let Some(folder) = cases("metrics") else { return };
    let out = tempfile::tempdir().unwrap();
    let grade = |text: String| {
        let path = out.path().join("a.json");
        std::fs::write(&path, text).unwrap();
        let captures = read(out.path(), "prometheus-api", &["a.json"]);
        (captures[0].fidelity, captures[0].notes[0].code)
    };
    let json = |file: &str| serde_json::from_str::<serde_json::Value>(&text(&folder.join("prometheus/api").join(file))).unwrap();
    assert_eq!(grade(json("query_matrix_raw_5m.json.gz").to_string()), (Fidelity::Raw, "raw_samples"));
    for n in 0..22 {
        let answer = json(&format!("query_range_{n:02}.json.gz"));
        let (fidelity, code) = grade(answer["response"].to_string());
        assert_eq!(fidelity, Fidelity::StepFilled, "query_range_{n:02}");
        // `up` and scrape_duration_seconds are there of three instances, whose scrapes would not share their stamps.
        let instances = [19, 21].contains(&n);
        assert_eq!(code, if instances { "evaluated_instants" } else { "samples_or_instants" }, "query_range_{n:02}");
    }
}

fn walk(folder: &Path, below: &str, out: &mut Vec<(PathBuf, String)>) {
    let mut entries: Vec<_> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        let key = format!("{below}{}", path.file_name().unwrap().to_string_lossy());
        match path.is_dir() {
            true => walk(&path, &format!("{key}/"), out),
            false => out.push((path, key)),
        }
    }
}

#[test]
fn of_all_cases_only_exports_are_claimed() {
    let Some(folder) = cases("") else { return };
    let mut files = Vec::new();
    walk(&folder, "", &mut files);
    let candidates: Vec<Candidate> = files.iter().map(|(path, key)| look(path, key)).collect();
    let ours = ["prometheus-api", "victoriametrics", "promtool-dump", "tsdb", "influx", "grafana-csv"];
    let mut got = Vec::new();
    for (name, set) in claim(&candidates).sets {
        if ours.contains(&name) {
            got.extend(set.files.iter().map(|p| (name, p.key.clone())));
        }
    }
    let api = api(&folder.join("metrics")).into_iter().map(|f| ("prometheus-api", f));
    let block = "prometheus/tsdb_snapshot/01M8M9ACQ985C1MEJGX8PPWZKQ";
    let mut want: Vec<(&str, String)> = api.collect();
    want.push(("victoriametrics", "layouts/L08_victoriametrics_export.jsonl.gz".into()));
    want.push(("promtool-dump", "prometheus/promtool_tsdb_dump.txt.gz".into()));
    want.extend(["chunks/000001", "index", "meta.json", "tombstones"].map(|f| ("tsdb", format!("{block}/{f}"))));
    want.extend(["v1", "v2"].map(|v| ("influx", format!("layouts/L11_telegraf_{v}.lp.gz"))));
    want.push(("grafana-csv", "layouts/L10_grafana_joined.csv".into()));
    let want: Vec<(&str, String)> = want.into_iter().map(|(name, key)| (name, format!("metrics/{key}"))).collect();
    assert_eq!(got, want);
    println!("looked at {} files", candidates.len());
}

#[test]
fn spelling_of_a_series_is_kept() {
    let Some(folder) = cases("metrics") else { return };
    let captures = read(&folder, "promtool-dump", &["prometheus/promtool_tsdb_dump.txt.gz"]);
    let spelled = (0..426).map(|i| captures[0].spelled(SeriesId(i)));
    assert!(spelled.filter(|s| s.starts_with("sglang_kv_used_tokens{")).count() >= 2, "Prometheus 2 stores sglang_");
}
