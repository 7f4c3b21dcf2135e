//! Cases of cases/tachometer/testcases.jsonl that a reader concludes, by their ids.

use std::collections::{BTreeSet, HashMap};

use super::*;
use crate::cases::cases;
use crate::model::Precision;

const A: &str = "run_a/scrapeA/raw/scrape/final.parquet";
const B: &str = "run_a/scrapeB/raw/scrape/final.parquet";

fn root() -> Option<std::path::PathBuf> {
    cases("tachometer")
}

#[test]
fn floats_of_32_bits() {
    let Some(root) = root() else { return };
    let a = capture(&root, A);

    let id = one(&a, "quirks", "q:past_2p24_total", &[]);
    let (first, last) = ends(&a, id);
    assert_eq!((first, last, a.samples.len(id.0)), (16_777_204.0, 16_777_536.0, 136), "F32-1");
    assert_eq!(distinct(&a.samples(id)), 116, "F32-1");
    let bound = Precision::F32.error(first) + Precision::F32.error(last);
    assert!(bound <= 2.0 && (last - first - 331.0).abs() <= bound, "F32-1: 332 ± {bound}, true 331");

    let id = one(&a, "worker_agg_1_0", "sglang:generation_tokens_total", &[("tp_rank", "0")]);
    let (first, last) = ends(&a, id);
    assert_eq!((last - first, a.samples.len(id.0), distinct(&a.samples(id))), (6_656.0, 135, 27), "F32-2");
    let bound = Precision::F32.error(first) + Precision::F32.error(last);
    assert_eq!(bound, 256.0, "F32-2");
    assert!((6_656.0f64 - 6_642.0).abs() <= bound, "F32-2: the true delta is inside");

    let samples = a.samples(one(&a, "quirks", "q:at_1e10_total", &[]));
    let steps: BTreeSet<i64> = samples.windows(2).map(|w| (w[1].value - w[0].value) as i64).collect();
    assert!(steps.iter().all(|s| s % 1024 == 0), "F32-3: {steps:?}");
    let flat = samples.windows(2).filter(|w| w[0].value == w[1].value).count();
    assert!(flat * 2 > samples.len(), "F32-3: most intervals read 0");
    assert_eq!(Precision::F32.error(1e10), 512.0, "F32-3");

    let id = one(&a, "worker_agg_2_0", "process_start_time_seconds", &[]);
    let changes: Vec<(f64, f64)> =
        a.samples(id).windows(2).filter(|w| w[0].value != w[1].value).map(|w| (seconds(w[1].at), w[1].value)).collect();
    assert_eq!(changes.len(), 1, "F32-4: the restart at 33 s does not show");
    assert_eq!(changes[0].1, 1_795_978_112.0, "F32-4");
    assert!((55.0..56.0).contains(&changes[0].0), "F32-4: {changes:?}");
    assert_eq!(Precision::F32.error(1_795_977_984.0), 64.0, "F32-4: a step of 128 s");
    println!("ran: F32-1 F32-2 F32-3 F32-4");
}

#[test]
fn histograms() {
    let Some(root) = root() else { return };
    let (a, b) = (capture(&root, A), capture(&root, B));
    for worker in ["A", "B"] {
        for part in ["q:two_sets_seconds_sum", "q:two_sets_seconds_count"] {
            assert!(find(&a, "quirks", part, &[("worker", worker)]).is_empty(), "HIS-1 HIS-2: {part} of {worker} cannot be proven");
        }
        let all = one(&a, "quirks", "q:two_sets_seconds_bucket", &[("worker", worker), ("le", "+Inf")]);
        assert_eq!(ends(&a, all).1, 345.0, "HIS-1: the count is in the +Inf row");
    }
    assert!(find(&a, "worker_agg_0_0", "sglang:time_to_first_token_seconds_sum", &[]).is_empty(), "HIS-3");
    let unproven = note(&a, "histogram_sum_unproven").unwrap();
    assert!(unproven.count >= 2, "HIS-1..3: {}", unproven.what);
    // One label set, and 345 observations of 0.4: the pair is its own.
    let sum = one(&a, "quirks", "q:one_set_seconds_sum", &[("worker", "A")]);
    assert_eq!(ends(&a, sum).1, 138.0, "HIS-2: provable where there is one set");
    assert_eq!(a.get(sum).unwrap().name.seen(), "q:one_set_seconds[histogram_sum]");
    assert_eq!(ends(&a, one(&a, "quirks", "q:one_set_seconds_count", &[("worker", "A")])).1, 345.0, "HIS-2");

    for (capture, seen) in [(&a, "q:two_sets_seconds"), (&b, "q:two_sets_seconds_bucket")] {
        let infinite = find(capture, "quirks", "q:two_sets_seconds_bucket", &[("le", "+Inf")]);
        assert_eq!(infinite.len(), 2, "HIS-5: told by the name, whatever the columns hold");
        assert!(infinite.iter().all(|id| capture.get(*id).unwrap().name.seen() == seen), "HIS-5 HIS-7: the name as seen");
    }
    let first = one(&a, "quirks", "q:neg_delta_bucket", &[("le", "-1")]);
    assert_eq!(a.get(first).unwrap().labels.get("le"), Some("-1"), "HIS-6: bounds come from le alone");
    assert!(find(&a, "quirks", "q:neg_delta_sum", &[]).is_empty(), "HIS-6: no sum is stored");

    let inferred = note(&a, "bucket_inferred").unwrap();
    assert!(inferred.what.contains("stores no types"), "HIS-7");
    assert!(a.families.values().all(|f| f.kind.is_none()), "HIS-7: no type is stored");
    assert!(note(&b, "bucket_inferred").is_none(), "HIS-7: without filters the suffix is there");
    println!("ran: HIS-1 HIS-2 HIS-3 HIS-5 HIS-6 HIS-7");
}

/// A real Dynamo run. DuckDB over the same file: 49 families with bounds, by endpoint and name, 4 of them with several label sets, and in each
/// exactly one set whose +Inf is the stamped count in every scrape.
#[test]
fn histograms_of_a_real_run_have_one_owner_each() {
    let Some(root) = root() else { return };
    let capture = capture(&root, "run_dynamo/corr-direct-20261129T185427Z-1/artifacts/tachometer/raw/scrape/final.parquet");
    let families = |suffix: &str| -> BTreeSet<(u32, String)> {
        let of = |s: &crate::model::Series| Some((s.endpoint.0, s.name.canonical().strip_suffix(suffix)?.to_string()));
        capture.series.iter().filter(|s| s.name.seen() != s.name.canonical()).filter_map(of).collect()
    };
    assert_eq!(families("_bucket").len(), 49);
    assert_eq!(families("_sum"), families("_bucket"));
    assert_eq!(capture.series.iter().filter(|s| s.name.seen().ends_with("[histogram_sum]")).count(), 49);
    assert!(note(&capture, "histogram_sum_unproven").is_none());
    println!("ran: histograms of the direct run");
}

/// What the exporter served: every series that nothing troubles has its values, scrape by scrape, and so has every proven sum and count.
#[test]
fn values_are_those_that_were_served() {
    let Some(root) = root() else { return };
    let mut text = String::new();
    let mut truth = crate::layouts::open(&root.join("run_a/truth/truth_scrapes.jsonl.gz")).unwrap();
    std::io::Read::read_to_string(&mut truth, &mut text).unwrap();
    let mut served: HashMap<String, Vec<u32>> = HashMap::new();
    for line in text.lines() {
        let scrape: serde_json::Value = serde_json::from_str(line).unwrap();
        if scrape["code"] != 200 || scrape["sent"] != true {
            continue;
        }
        let of = format!("{} {} ", scrape["who"].as_str().unwrap(), scrape["ep"].as_str().unwrap());
        for line in scrape["body"].as_str().unwrap().lines().filter(|l| !l.starts_with('#')) {
            let Some((name, value)) = line.rsplit_once(' ') else { continue };
            let (name, Ok(value)) = (super::super::names::parse(name), value.parse::<f32>()) else { continue };
            served.entry(format!("{of}{}{}", name.base, name.labels)).or_default().push(bits(f64::from(value)));
        }
    }
    let (mut compared, mut proven, mut unknown) = (0, 0, BTreeSet::new());
    for (who, key) in [("A", A), ("B", B)] {
        let capture = capture(&root, key);
        for (i, series) in capture.series.iter().enumerate() {
            let trouble = series.trouble;
            if trouble.damaged || trouble.foreign || trouble.collisions > 0 {
                continue;
            }
            let endpoint = &capture.endpoint(series.endpoint).unwrap().name;
            let Some(want) = served.get(&format!("{who} {endpoint} {}{}", series.name.canonical(), series.labels)) else {
                unknown.insert(series.name.canonical().to_string());
                continue;
            };
            let got: Vec<u32> = values(&capture, SeriesId(i as u32)).into_iter().map(bits).collect();
            assert_eq!(&got, want, "{who} {endpoint} {}", series.name.canonical());
            compared += got.len();
            proven += usize::from(series.name.seen().ends_with(']'));
        }
    }
    println!("ran: {compared} samples, {proven} proven series of sum or count, as they were served; not found: {unknown:?}");
    assert!(compared > 30_000 && proven >= 8, "{compared} {proven}");
    // names that lost a suffix, a label cut at its commas, a line with a stamp of its own, and the body of an HTTP 500
    assert_eq!(unknown, ["q:budget", "q:label_torture", "q:leaky", "q:ts", "upstream"].map(String::from).into());
}

/// A value as it was stored; every NaN is one.
fn bits(value: f64) -> u32 {
    if value.is_nan() { f32::NAN.to_bits() } else { (value as f32).to_bits() }
}

#[test]
fn names_and_labels() {
    let Some(root) = root() else { return };
    let (a, b) = (capture(&root, A), capture(&root, B));
    for name in ["q:budget", "q:leaky"] {
        assert!(!find(&a, "quirks", name, &[]).is_empty(), "SUF-2: {name} as seen");
        assert!(find(&a, "quirks", &format!("{name}_bucket"), &[]).is_empty(), "SUF-2: no bound, no bucket");
    }
    let id = one(&a, "quirks", "q:summ_seconds", &[("worker", "A")]);
    assert_eq!(a.get(id).unwrap().trouble.collisions, 136, "SUF-3: sum and count at each of 136 times");
    for (name, last) in [("q:summ_seconds_count", 344.0), ("q:summ_seconds_sum", 86.0)] {
        let id = one(&b, "quirks", name, &[("worker", "A")]);
        assert_eq!((ends(&b, id).1, b.get(id).unwrap().trouble.collisions), (last, 0), "SUF-3: {name} is kept without filters");
    }
    let com = one(&a, "quirks", "q:label_torture", &[("v", "com")]);
    assert_eq!(values(&a, com)[..3].iter().sum::<f64>(), 12.0, "LBL-1: three rows, 3 + 4 + 5, at one time");
    assert_eq!((a.samples.len(com.0), a.get(com).unwrap().trouble.collisions), (408, 272), "LBL-1");
    for (value, label) in [(2.0, "q\"uote"), (8.0, "back\\slash"), (9.0, "new\nline"), (7.0, "\"start")] {
        let id = one(&a, "quirks", "q:label_torture", &[("v", label)]);
        assert!(values(&a, id).iter().all(|v| *v == value), "LBL-3 LBL-4: {label}");
        assert!(!a.get(id).unwrap().trouble.damaged, "LBL-3: {label}");
    }
    let cut = one(&a, "quirks", "q:label_torture", &[("v", "end\"")]);
    assert!(values(&a, cut).iter().all(|v| *v == 6.0) && a.get(cut).unwrap().trouble.damaged, "LBL-4");
    let blank = one(&a, "quirks", "q:space_before_brace", &[("a", "1")]);
    assert_eq!(a.get(blank).unwrap().name.seen(), "q:space_before_brace", "LBL-5");
    let om = one(&a, "quirks", "q:om_total", &[("a", "1")]);
    assert!(a.get(om).unwrap().trouble.foreign, "LBL-6");
    assert_eq!((a.samples.len(om.0), distinct(&a.samples(om))), (136, 1), "LBL-6: one series, the exemplar's value");
    assert_eq!(values(&a, om)[0], 0.5, "LBL-6");
    assert_eq!(a.exemplars.len(), 136, "LBL-6");
    assert_eq!(a.exemplars[0].labels.get("trace_id"), Some("abc"), "LBL-6");
    for name in ["q:garbage", "q:hex", "q:under"] {
        assert!(a.series.iter().all(|s| !s.name.seen().starts_with(name)), "LBL-8: {name} was served and is not there");
    }
    assert!(a.notes.iter().all(|n| !n.what.contains("q:garbage")), "LBL-8: nothing tells of it");
    println!("ran: SUF-2 SUF-3 LBL-1 LBL-3 LBL-4 LBL-5 LBL-6 LBL-8");
}

#[test]
fn resets_and_what_appears_late() {
    let Some(root) = root() else { return };
    let a = capture(&root, A);
    let id = find(&a, "worker_agg_2_0", "sglang:prompt_tokens_total", &[("tp_rank", "0")]);
    let id = if id.is_empty() { one(&a, "worker_agg_2_0", "sglang:prompt_tokens_total", &[]) } else { id[0] };
    let falls = a.samples.falls(id.0).unwrap();
    assert_eq!(falls.len(), 1, "RST-1: one reset shows");
    let (first, last) = ends(&a, id);
    // what the new life counted before its first scrape, 1 093, is in its 84 855
    assert_eq!((falls[0].before.value - first, last), (63_558.0, 84_855.0), "RST-1");
    let visible = falls[0].before.value - first + last;
    assert_eq!(visible, 148_413.0, "RST-1");
    assert!(visible < 198_688.0, "RST-1: a lower bound of the truth");
    let started = a.samples(one(&a, "worker_agg_2_0", "process_start_time_seconds", &[]));
    let moved: Vec<[f64; 2]> = started
        .windows(2)
        .filter(|w| w[0].value != w[1].value)
        .map(|w| [seconds(w[0].at), seconds(w[1].at)].map(|t| (t * 100.0).round()))
        .collect();
    assert_eq!(moved, [[5505.0, 5569.0]], "RST-1: where a second restart hides");
    assert_eq!((falls[0].before.value, falls[0].after.value), (69_557.0, 1_093.0), "GAP-1");

    let host = find(&a, "worker_agg_0_0", "sglang:cached_tokens_total", &[("cache_source", "host")]);
    assert_eq!(host.len(), 2, "LAZ-1: one a rank");
    let scraped = crate::coverage::Scraped::of(&a);
    for id in host {
        assert_eq!(ends(&a, id), (4096.0, 4096.0), "LAZ-1: delta 0");
        let seen = scraped.appearance(id).unwrap();
        assert_eq!((seconds(seen.first.at) * 100.0).round(), 2366.0, "LAZ-1");
        assert_eq!(seen.absent_at.map(|t| (seconds(t) * 100.0).round()), Some(2315.0), "LAZ-1: the scrape before lacks it");
    }
    println!("ran: RST-1 LAZ-1");
}

#[test]
fn statistics_row_groups_and_order() {
    let Some(root) = root() else { return };
    let a = capture(&root, A);
    let nan = one(&a, "quirks", "q:special", &[("k", "nan")]);
    assert!(values(&a, nan).iter().all(|v| v.is_nan()) && a.samples.len(nan.0) == 136, "NAN-1: every row is read, whatever statistics say");
    assert_eq!(a.samples.len(one(&a, "quirks", "q:special", &[("k", "ninf")]).0), 136, "NAN-1");
    let own = |capture: &Capture| -> u64 {
        let stored = |i: &usize| !capture.series[*i].name.seen().ends_with(']');
        (0..capture.series.len()).filter(stored).map(|i| capture.samples.len(i as u32)).sum()
    };
    assert_eq!(own(&a), 26_939, "RG-1: rows of both groups");
    let groups = capture(&root, "run_rowgroups/final.parquet");
    assert_eq!(own(&groups), 299_658, "RG-1: two groups of 149 829");
    for capture in [&a, &groups] {
        for i in 0..capture.series.len() as u32 {
            assert!(capture.samples(SeriesId(i)).windows(2).all(|w| w[0].at <= w[1].at), "ORD-1: every series by time");
        }
    }
    println!("ran: NAN-1 RG-1 ORD-1");
}

#[test]
fn unfinished_captures() {
    let Some(root) = root() else { return };
    let sets = sets(&root);
    let killed = sets.iter().find(|s| s.files.iter().any(|f| f.key == "run_a/scrapeC/local/current.arrow")).unwrap();
    // five of the six files and the copy of incomplete-2 in the storage folder, which is read in its place
    assert_eq!(killed.files.len(), 6, "KIL-1: {killed:?}");
    assert_eq!(killed.beside.len(), 1, "KIL-1: incomplete-2 stands in two folders");
    let capture_of = |set: &Set| {
        let mut read = super::super::read(set).unwrap();
        assert_eq!(read.len(), 1);
        read.remove(0)
    };
    let stored = |capture: &Capture| -> u64 {
        let own = |i: &usize| !capture.series[*i].name.seen().ends_with(']');
        (0..capture.series.len()).filter(own).map(|i| capture.samples.len(i as u32)).sum()
    };
    let c = capture_of(killed);
    assert_eq!(stored(&c), 24_192, "KIL-1");
    let copies = note(&c, "copies_dropped").unwrap();
    assert!(copies.what.starts_with("23945 of 48137 rows are copies"), "KIL-1: {}", copies.what);
    for part in ["3771 of 3771 in run_a/scrapeC/local/current.arrow", "4071 of 4071 in run_a/scrapeC/local/out-4.parquet"] {
        assert!(copies.what.contains(part), "KIL-1: {}", copies.what);
    }

    let compacted = capture(&root, "run_a/scrapeC/compacted_after_kill/final.parquet");
    assert_eq!(stored(&compacted), 24_192, "KIL-2");
    assert!(note(&compacted, "copies_dropped").unwrap().what.starts_with("23945 of 48137"), "KIL-2");
    assert_eq!(compacted.series.len(), c.series.len(), "KIL-1 and KIL-2 are one capture");
    for i in 0..c.series.len() {
        let series = &c.series[i];
        let endpoint = &c.endpoint(series.endpoint).unwrap().name;
        let twin = (0..compacted.series.len()).find(|&j| {
            let other = &compacted.series[j];
            other.name == series.name && other.labels == series.labels && compacted.endpoint(other.endpoint).unwrap().name == *endpoint
        });
        let (mut one, mut other) = (values(&c, SeriesId(i as u32)), values(&compacted, SeriesId(twin.unwrap() as u32)));
        one.sort_by(f64::total_cmp);
        other.sort_by(f64::total_cmp);
        assert_eq!(one.iter().map(|v| v.to_bits()).collect::<Vec<_>>(), other.iter().map(|v| v.to_bits()).collect::<Vec<_>>(), "KIL-2");
    }

    let finished = sets.iter().find(|s| s.files.iter().any(|f| f.key == "run_rowgroups/final.parquet")).unwrap();
    assert_eq!((finished.files.len(), finished.beside.len()), (1, 2), "KIL-3: final is preferred");
    let times = |set: &Set| -> BTreeSet<(String, i64)> {
        let capture = capture_of(set);
        (0..capture.series.len() as u32)
            .flat_map(|i| {
                let name = capture.endpoint(capture.series[i as usize].endpoint).unwrap().name.clone();
                capture.samples.times(std::iter::once(i)).into_iter().map(move |t| (name.clone(), t)).collect::<Vec<_>>()
            })
            .collect()
    };
    let alone = |key: &str| {
        let part = finished.beside.iter().map(|(p, _)| p).find(|p| p.key == key).unwrap().clone();
        Set { files: vec![part], beside: Vec::new(), because: String::new(), ties: Vec::new() }
    };
    let whole = times(finished);
    let out = times(&alone("run_rowgroups/out-2.parquet"));
    assert_eq!((out.len(), out.intersection(&whole).count()), (406, 403), "KIL-3");
    let newer = times(&alone("run_rowgroups/out-3.parquet"));
    assert_eq!(newer.intersection(&whole).count(), 0, "KIL-3: out-3 is newer than the stop");

    let lives = captures(&root, "run_scraper_restarted/final.parquet");
    let counts: Vec<Vec<f64>> = lives.iter().map(|c| values(c, one(c, "w", "q:scrapes_total", &[]))).collect();
    let run = |from: u32, to: u32| (from..=to).map(f64::from).collect::<Vec<f64>>();
    assert_eq!(counts, [run(13, 18), run(23, 38)], "KIL-4: 22 of 39 scrapes, two lives");
    assert_eq!(lives.iter().map(total).sum::<u64>(), 1122, "KIL-4: every row is in one of them");
    assert!(lives.iter().all(|c| c.clock == crate::model::Clock::Elapsed { anchor: None }), "KIL-4: no start can be proven");
    assert!(note(&lives[0], "two_clocks").unwrap().what.contains("the first start"), "KIL-4");
    println!("ran: KIL-1 KIL-2 KIL-3 KIL-4");
}
