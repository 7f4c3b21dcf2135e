//! Captures: every scrape is kept, whatever comes of it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use corr_live::scrape::{Ended, Layout, Plan, ScrapeError, Summary, When, run};
use corr_live::{Accept, Client, Clock, Headers, Request, Stop, Target};
use serde_json::Value;
use tempfile::TempDir;

use crate::server::{Answer, Server, http, nobody, ok, status, typed};

const BODY: &str = "# TYPE sglang:token_usage gauge\nsglang:token_usage {model_name=\"a\\\"b\\\\\\n{},\"} 0.25\nsglang:fwd_occupancy NaN\n";

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

pub fn wall() -> i64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    i64::try_from(now.as_nanos()).unwrap()
}

fn plan(urls: &[String], folder: &Path, request: Request, when: When) -> Plan {
    let targets: Vec<Target> = urls.iter().map(|url| Target::parse(url).unwrap()).collect();
    let client = Client::new(request, None, &targets).unwrap();
    Plan { targets, client, when, length: None, command: None, folder: folder.to_path_buf(), layout: Layout::Lines, append: false }
}

fn quick() -> Request {
    Request { timeout: ms(5000), max_body: 100_000, ..Request::default() }
}

async fn done(plan: Plan) -> Summary {
    run(plan, Clock::new(wall), Stop::new(), |_| {}).await.unwrap()
}

fn lines(folder: &Path, name: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(folder.join(name)).unwrap();
    assert!(text.ends_with('\n'), "every line is whole");
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn raw(folder: &Path) -> Vec<Value> {
    lines(folder, "raw_prometheus.jsonl")
}

#[tokio::test]
async fn every_failure_is_recorded_with_its_reason() {
    let servers = BTreeMap::from([
        ("good", Server::new(|_, _| ok(BODY))),
        ("http_status", Server::new(|_, _| status("404 Not Found"))),
        ("not_metrics", Server::new(|_, _| typed("text/html", "<html>\n<p>hello</p>\n"))),
        ("not_utf8", Server::new(|_, _| Answer::Raw(b"HTTP/1.1 200 OK\r\n\r\nup 1\n\xff\n".to_vec()))),
        ("too_large", Server::new(|_, _| Answer::Endless)),
        ("cut", Server::new(|_, _| Answer::Raw(b"HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\nup 1\n".to_vec()))),
        ("no_answer", Server::new(|_, _| Answer::Raw(Vec::new()))),
        ("protocol", Server::new(|_, _| Answer::Raw(b"220 mail ready\r\n\r\n".to_vec()))),
        ("encoded", Server::new(|_, _| Answer::Raw(b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n\r\nxx".to_vec()))),
        ("timed_out", Server::new(|_, _| Answer::After(ms(1500), http("200 OK", "text/plain", BODY)))),
    ]);
    let tls = Server::new(|_, _| Answer::Raw(b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec()));
    let mut expected: Vec<(String, &str)> = servers.iter().map(|(kind, server)| (server.url(), *kind)).collect();
    expected.push((nobody(), "refused"));
    expected.push((tls.url().replace("http:", "https:"), "tls"));
    expected.push(("http://no-such-host.invalid/metrics".into(), "dns"));
    let urls: Vec<String> = expected.iter().map(|(url, _)| url.clone()).collect();
    let folder = TempDir::new().unwrap();
    let mut request = quick();
    request.timeout = ms(1000);
    let mut plan = plan(&urls, folder.path(), request, When::Every(ms(1100)));
    plan.length = Some(ms(1100));
    let summary = done(plan).await;

    let lines = raw(folder.path());
    assert_eq!(lines.len(), 2 * expected.len(), "slots 0 and 1 of every endpoint");
    for (url, kind) in &expected {
        let of: Vec<&Value> = lines.iter().filter(|l| l["endpoint_url"] == **url).collect();
        assert_eq!(of.len(), 2, "{url}");
        for line in of {
            assert!(line["timestamp_ns"].is_i64() && line["duration_ns"].is_u64() && line["elapsed_s"].is_f64(), "{line}");
            if *kind == "good" {
                assert_eq!((line["text"].as_str(), line["status"].as_u64()), (Some(BODY), Some(200)));
                assert!(line.get("error").is_none());
                assert!(line["first_byte_after_ns"].as_u64().unwrap() <= line["duration_ns"].as_u64().unwrap());
                assert_eq!(line["content_type"], "text/plain; version=0.0.4; charset=utf-8");
            } else {
                // A resolver that does not answer is a time-out of its own.
                let met = line["error_kind"].as_str().unwrap();
                assert!(met == *kind || (*kind == "dns" && met == "timed_out"), "{kind}: {line}");
                assert!(!line["error"].as_str().unwrap().is_empty() && line.get("text").is_none());
            }
        }
    }
    assert_eq!(summary.totals().scrapes, 2 * expected.len() as u64);
    assert_eq!(summary.totals().failed(), 2 * (expected.len() as u64 - 1));
    let large = lines.iter().find(|l| l["error_kind"] == "too_large").unwrap();
    assert_eq!(large["error"], "body larger than 100000 bytes");
    let cut = lines.iter().find(|l| l["error_kind"] == "cut").unwrap();
    assert_eq!(cut["error"], "connection closed after 5 bytes of the body, 500 were announced");
    let late = lines.iter().find(|l| l["error_kind"] == "timed_out" && l["endpoint_url"] == *servers["timed_out"].url()).unwrap();
    assert_eq!(late["error"], "timed out after 1000 ms waiting for the answer");
}

#[tokio::test]
async fn a_restart_is_survived_and_every_failed_scrape_recorded() {
    let server = Server::new(|n, _| ok(&format!("up {n}\n")));
    let url = server.url();
    let server = Arc::new(Mutex::new(server));
    let folder = TempDir::new().unwrap();
    let stop = Stop::new();
    let (asked, of) = (stop.clone(), server.clone());
    // Three scrapes, then down for three, then up again for three.
    let told = move |totals: &corr_live::scrape::Totals| {
        let failed = totals.failed();
        let good = totals.scrapes - failed;
        match (good, failed) {
            (3, 0) => of.lock().unwrap().stop(),
            (3, 3) => of.lock().unwrap().start(),
            (6, _) => asked.ask(),
            _ => {}
        }
    };
    let plan = plan(&[format!("prefill/p0={url}")], folder.path(), quick(), When::Every(ms(30)));
    let summary = run(plan, Clock::new(wall), stop, told).await.unwrap();

    let lines = raw(folder.path());
    let kinds: Vec<&str> = lines.iter().map(|l| l["error_kind"].as_str().unwrap_or("good")).collect();
    let failed = kinds.iter().filter(|k| **k != "good").count();
    assert!(kinds[..3] == ["good"; 3] && kinds[3..3 + failed].iter().all(|k| *k == "refused" || *k == "no_answer"), "{kinds:?}");
    assert!(failed >= 3 && kinds[3 + failed..].iter().all(|k| *k == "good") && kinds.len() >= 6 + failed, "{kinds:?}");
    assert_eq!((summary.totals().scrapes, summary.totals().failed()), (lines.len() as u64, failed as u64));
    // Every slot is a line, or counted as missed in the next.
    let mut next = 0;
    for line in &lines {
        let (slot, missed) = (line["slot"].as_u64().unwrap(), line.get("missed").map_or(0, |m| m.as_u64().unwrap()));
        assert_eq!(slot, next + missed, "{line}");
        next = slot + 1;
        assert_eq!((line["role"].as_str(), line["worker_id"].as_str()), (Some("prefill"), Some("p0")));
    }
    let mut said = Vec::new();
    summary.write_text(&mut said).unwrap();
    let said = String::from_utf8(said).unwrap();
    assert!(said.starts_with(&format!("{url}: {} scrapes, {failed} failed (", lines.len())), "{said}");
}

#[tokio::test]
async fn a_slow_endpoint_does_not_shift_the_grid() {
    let slow = Server::new(|_, _| Answer::After(ms(130), http("200 OK", "text/plain", BODY)));
    let fast = Server::new(|_, _| ok(BODY));
    let folder = TempDir::new().unwrap();
    let mut plan = plan(&[slow.url(), fast.url()], folder.path(), quick(), When::Every(ms(50)));
    plan.length = Some(ms(400));
    let summary = done(plan).await;

    let lines = raw(folder.path());
    let of = |url: String| lines.iter().filter(move |l| l["endpoint_url"] == *url).collect::<Vec<_>>();
    for url in [slow.url(), fast.url()] {
        let lines = of(url);
        let slots = |l: &Value| 1 + l.get("missed").map_or(0, |m| m.as_u64().unwrap());
        assert_eq!(lines.iter().map(|l| slots(l)).sum::<u64>(), 9, "0, 50, …, 400 ms: each scraped or missed");
        assert_eq!(lines.last().unwrap()["slot"], 8);
        let begin =
            |l: &Value| l["elapsed_s"].as_f64().unwrap() - l["late_ns"].as_f64().unwrap() / 1e9 - l["slot"].as_f64().unwrap() * 0.05;
        for line in &lines {
            assert!((begin(line) - begin(lines[0])).abs() < 1e-5, "a slot is where the grid has it: {line}");
        }
    }
    let (slow, fast) = (&summary.endpoints[0].1, &summary.endpoints[1].1);
    assert!(slow.missed >= 4 && slow.scrapes + slow.missed == 9 && slow.slowest >= ms(130), "{slow:?}");
    assert!(fast.missed <= slow.missed, "one endpoint does not wait for the other: {fast:?}");
}

#[tokio::test]
async fn nothing_is_overwritten_and_a_cut_line_is_ended() {
    let server = Server::new(|_, _| ok(BODY));
    let folder = TempDir::new().unwrap();
    let once = |append| {
        let mut plan = plan(&[server.url()], folder.path(), quick(), When::Every(ms(10)));
        (plan.length, plan.append) = (Some(Duration::ZERO), append);
        run(plan, Clock::new(wall), Stop::new(), |_| {})
    };
    let first = once(false).await.unwrap();
    let path = folder.path().join("raw_prometheus.jsonl");
    let before = std::fs::read(&path).unwrap();
    assert_eq!((first.totals().scrapes, first.written), (1, before.len() as u64));
    let error = once(false).await.unwrap_err();
    assert!(error.to_string().ends_with("holds a capture already; --append goes on with it, or choose another folder"), "{error}");
    assert_eq!(std::fs::read(&path).unwrap(), before);

    // As a kill in the middle of a line leaves it.
    std::fs::write(&path, &before[..before.len() - 7]).unwrap();
    assert!(once(true).await.unwrap().mended);
    assert!(!once(true).await.unwrap().mended);
    let text = std::fs::read_to_string(&path).unwrap();
    let read: Vec<bool> = text.lines().map(|line| serde_json::from_str::<Value>(line).is_ok()).collect();
    assert_eq!(read, [false, true, true]);

    let held = std::fs::File::open(&path).unwrap();
    held.lock().unwrap();
    let error = once(true).await.unwrap_err();
    assert!(error.to_string().ends_with("another corr scrape is writing there"), "{error}");
}

#[tokio::test]
async fn before_and_after_a_command() {
    let server = Server::new(|n, _| ok(&format!("sglang:prompt_tokens_total {}\n", n * 100)));
    let folder = TempDir::new().unwrap();
    let mut plan = plan(&[server.url()], folder.path(), quick(), When::BeforeAfter);
    plan.command = Some(["sh", "-c", "exit 3"].map(OsString::from).to_vec());
    let summary = done(plan.clone()).await;
    assert_eq!(summary.command, Some(Ended::Code(3)));
    let lines = raw(folder.path());
    let seen: Vec<_> = lines.iter().map(|l| (l["phase"].as_str().unwrap(), l["text"].as_str().unwrap())).collect();
    assert_eq!(seen, [("before", "sglang:prompt_tokens_total 0\n"), ("after", "sglang:prompt_tokens_total 100\n")]);

    (plan.command, plan.append) = (Some(vec!["/no/such/command".into()]), true);
    let error = run(plan, Clock::new(wall), Stop::new(), |_| {}).await.unwrap_err();
    assert!(matches!(error, ScrapeError::Command { .. }), "{error}");
    assert_eq!(raw(folder.path()).len(), 4, "what was scraped is kept");
}

#[tokio::test]
async fn a_signal_ends_the_run_with_whole_lines_and_passes_to_the_command() {
    let server = Server::new(|_, _| ok(BODY));
    let folder = TempDir::new().unwrap();
    let stop = Stop::new();
    stop.on_signals().unwrap();
    let mut plan = plan(&[server.url()], folder.path(), quick(), When::Every(ms(20)));
    plan.command = Some(["sleep", "60"].map(OsString::from).to_vec());
    let told = |totals: &corr_live::scrape::Totals| {
        if totals.scrapes == 2 {
            let own = std::process::id().to_string();
            assert!(std::process::Command::new("kill").args(["-TERM", &own]).status().unwrap().success());
        }
    };
    let summary = run(plan, Clock::new(wall), stop, told).await.unwrap();
    assert_eq!(summary.command, Some(Ended::Signal(15)));
    assert_eq!(raw(folder.path()).len() as u64, summary.totals().scrapes);
}

#[tokio::test]
async fn credentials_are_sent_and_written_nowhere() {
    let server = Server::new(|_, _| ok(BODY));
    let folder = TempDir::new().unwrap();
    let mut headers = Headers::default();
    headers.add("X-Api-Key: k3y-value").unwrap();
    assert!(headers.add("no colon s3cret").unwrap_err().to_string() == "a header is not `Name: value`");
    let url = server.url().replace("http://", "http://me:hunter2@") + "?token=t0ken&match[]=up";
    let mut plan = plan(&[url], folder.path(), Request { headers, ..quick() }, When::Every(ms(10)));
    plan.length = Some(Duration::ZERO);
    let debug = format!("{:?}", plan.targets);
    let summary = done(plan).await;

    let sent = server.requests().join("\n").to_ascii_lowercase();
    // printf me:hunter2 | base64
    for expected in ["get /metrics?token=t0ken&match[]=up http/1.1", "x-api-key: k3y-value", "authorization: basic bwu6ahvudgvymg=="] {
        assert!(sent.contains(expected), "{expected} in {sent}");
    }
    let mut all = debug;
    all.push_str(&std::fs::read_to_string(folder.path().join("raw_prometheus.jsonl")).unwrap());
    let mut text = Vec::new();
    summary.write_text(&mut text).unwrap();
    all.push_str(&String::from_utf8(text).unwrap());
    for secret in ["hunter2", "t0ken", "k3y-value", "bWU6", "me:"] {
        assert!(!all.contains(secret), "{secret} in {all}");
    }
    assert_eq!(raw(folder.path())[0]["endpoint_url"], format!("http://[withheld]@{}/metrics?token=[withheld]&match[]=up", server.at));
}

#[tokio::test]
async fn a_file_for_every_body_and_a_line_for_every_scrape() {
    let server = Server::new(|n, _| if n == 1 { status("503 Service Unavailable") } else { ok(BODY) });
    let folder = TempDir::new().unwrap();
    let mut plan = plan(&[format!("router/r0={}", server.url())], folder.path(), quick(), When::Every(ms(20)));
    (plan.length, plan.layout) = (Some(ms(40)), Layout::Files);
    let summary = done(plan).await;
    let lines = lines(folder.path(), "scrapes.jsonl");
    assert_eq!(lines.len() as u64, summary.totals().scrapes);
    let mut files = 0;
    for line in &lines {
        assert!(line.get("text").is_none());
        if line["status"] == 503 {
            assert!(line.get("file").is_none() && line["error"] == "HTTP 503");
            continue;
        }
        let name = line["file"].as_str().unwrap();
        assert_eq!(name, format!("router_r0-{}.prom", line["timestamp_ns"]), "the stamp is in the name");
        assert_eq!(std::fs::read_to_string(folder.path().join(name)).unwrap(), BODY);
        files += 1;
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), files + 1);
}

/// What `corr metrics` reads in a folder: of every endpoint its attempts (time, failure) and its samples (series, time, value).
type Read = (Vec<(String, i64, Option<String>)>, Vec<(String, String, i64, f64)>);

fn read_back(folder: &Path) -> Read {
    let mut names: Vec<String> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    let candidates: Vec<_> = names.iter().map(|name| corr_metrics::layouts::look(&folder.join(name), name)).collect();
    let claims = corr_metrics::layouts::claim(&candidates);
    assert_eq!((claims.sets.len(), claims.unclaimed.len()), (1, 0), "one capture, of all files: {:?}", claims.sets);
    let (layout, set) = &claims.sets[0];
    let captures = (corr_metrics::layouts::by_name(layout).unwrap().read)(set).unwrap();
    let [capture] = &captures[..] else { panic!("{} captures", captures.len()) };
    assert_eq!(capture.stamp_of, corr_metrics::model::StampOf::Request);
    let (mut attempts, mut samples) = (Vec::new(), Vec::new());
    for endpoint in &capture.endpoints {
        for scrape in &endpoint.scrapes {
            let failed = match &scrape.outcome {
                corr_metrics::model::Outcome::Read => None,
                corr_metrics::model::Outcome::Failed(why) => Some(why.clone()),
            };
            attempts.push((endpoint.name.clone(), scrape.at, failed));
        }
    }
    for (i, series) in capture.series.iter().enumerate() {
        let id = corr_metrics::model::SeriesId(u32::try_from(i).unwrap());
        let endpoint = capture.endpoint(series.endpoint).unwrap().name.clone();
        for sample in capture.samples(id) {
            samples.push((endpoint.clone(), capture.spelled(id), sample.at, sample.value));
        }
    }
    (attempts, samples)
}

#[tokio::test]
async fn a_capture_is_read_back_with_equal_values() {
    // Values that f64 keeps to the last bit, one that changes with every request, and a request that fails.
    let served = |n: u64| {
        format!(
            "sglang:token_usage {{role=\"a\\\"b\\\\\\n}},\"}} 0.1\nsglang_prompt_tokens_total{{}} {}\nbig 1.7976931348623157e308\n",
            1u64 << (n + 30)
        )
    };
    for layout in [Layout::Lines, Layout::Files] {
        let server = Server::new(move |n, _| if n == 1 { status("503 Service Unavailable") } else { ok(&served(n)) });
        let folder = TempDir::new().unwrap();
        let mut plan = plan(&[server.url()], folder.path(), quick(), When::Every(ms(30)));
        plan.layout = layout;
        let stop = Stop::new();
        let asked = stop.clone();
        let told = move |totals: &corr_live::scrape::Totals| {
            if totals.scrapes == 4 {
                asked.ask();
            }
        };
        run(plan, Clock::new(wall), stop, told).await.unwrap();
        let name = if layout == Layout::Lines { "raw_prometheus.jsonl" } else { "scrapes.jsonl" };
        let lines = lines(folder.path(), name);
        let at: Vec<i64> = lines.iter().map(|l| l["timestamp_ns"].as_i64().unwrap()).collect();
        let (attempts, mut samples) = read_back(folder.path());
        let url = server.url();
        let failed = |i: usize| (i == 1).then(|| "HTTP 503".to_string());
        assert_eq!(attempts, at.iter().enumerate().map(|(i, at)| (url.clone(), *at, failed(i))).collect::<Vec<_>>());
        let mut expected = Vec::new();
        for (i, at) in at.iter().enumerate().filter(|(i, _)| *i != 1) {
            expected.push((url.clone(), "sglang:token_usage{role=\"a\\\"b\\\\\\n},\"}".to_string(), *at, 0.1));
            expected.push((url.clone(), "sglang_prompt_tokens_total".to_string(), *at, (1u64 << (i + 30)) as f64));
            expected.push((url.clone(), "big".to_string(), *at, f64::MAX));
        }
        let order = |a: &(String, String, i64, f64), b: &(String, String, i64, f64)| (&a.1, a.2).cmp(&(&b.1, b.2));
        samples.sort_by(order);
        expected.sort_by(order);
        assert_eq!(samples, expected, "{name}");
    }
}

#[tokio::test]
async fn the_format_is_asked_for() {
    let server = Server::new(|_, head| {
        match head.to_ascii_lowercase().contains("accept: application/openmetrics-text;version=1.0.0;escaping=allow-utf-8") {
            true => typed("application/openmetrics-text; version=1.0.0; charset=utf-8", "# TYPE a counter\na_total 1.0\n# EOF\n"),
            false => ok("a_total 1.0\n"),
        }
    });
    for (accept, expected) in [(Accept::Text, "a_total 1.0\n"), (Accept::OpenMetrics, "# TYPE a counter\na_total 1.0\n# EOF\n")] {
        let folder = TempDir::new().unwrap();
        let mut plan = plan(&[server.url()], folder.path(), Request { accept, ..quick() }, When::Every(ms(10)));
        plan.length = Some(Duration::ZERO);
        done(plan).await;
        assert_eq!(raw(folder.path())[0]["text"], expected);
    }
}

#[tokio::test]
async fn one_endpoint_named_twice_is_refused() {
    let folder = TempDir::new().unwrap();
    let plan = plan(&["a=h:1".into(), "b=http://h:1/metrics".into()], folder.path(), quick(), When::BeforeAfter);
    let error = run(plan, Clock::new(wall), Stop::new(), |_| {}).await.unwrap_err();
    assert!(error.to_string().starts_with("http://h:1/metrics is named twice"), "{error}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}
