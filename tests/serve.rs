//! `corr serve`: the program is started on copies of fixtures and asked over HTTP.

#[path = "serve/http.rs"]
mod http;
mod program;

use std::time::{Duration, Instant};

use http::{Serving, text_of};
use program::Place;
use serde_json::Value as Json;

const SHOWN: &str = "direct-run/logs/router.log:42";

#[test]
fn only_this_host_is_answered() {
    let place = Place::with("sglang-run");
    let serving = Serving::start(&place, &["sglang-run"]);
    let port = serving.port;
    let foreign = ["evil.example".to_string(), format!("evil.example:{port}"), "127.0.0.1".into(), format!("127.0.0.1:{}", port ^ 1)];
    for host in &foreign {
        for path in ["/", "/show?at=sglang-run/logs/crash.log:7", "/query.json", "/script.js", "/nowhere"] {
            let answer = serving.ask(&format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"));
            assert_eq!(answer.status, 403, "{host} {path}");
            assert!(!answer.body.contains("crash"), "{}", answer.body);
        }
    }
    for request in [
        "GET / HTTP/1.0\r\n\r\n".to_string(),
        format!("GET / HTTP/1.1\r\nHost: localhost:{port}\r\nHost: evil.example\r\nConnection: close\r\n\r\n"),
        format!("GET http://evil.example/ HTTP/1.1\r\nHost: localhost:{port}\r\nConnection: close\r\n\r\n"),
    ] {
        assert_eq!(serving.ask(&request).status, 403, "{request}");
    }
    for host in [format!("localhost:{port}"), format!("127.0.0.1:{port}"), format!("[::1]:{port}")] {
        assert_eq!(serving.ask(&format!("GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")).status, 200, "{host}");
    }
    // A page elsewhere that has this one fetched by its reader's browser; a link that the reader follows.
    let with = |more: &str| format!("GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n{more}\r\n");
    assert_eq!(serving.ask(&with("Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\n")).status, 403);
    assert_eq!(serving.ask(&with("Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\n")).status, 200);
}

#[test]
fn nothing_is_changed_and_every_answer_has_its_headers() {
    let place = Place::with("sglang-run");
    let serving = Serving::start(&place, &["sglang-run"]);
    for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"] {
        let answer = serving.by(method, "/");
        assert_eq!(answer.status, 405, "{method}");
        assert_eq!(answer.header("allow"), "GET, HEAD");
        assert_eq!(answer.header("x-content-type-options"), "nosniff");
    }
    let kinds = [
        ("/", 200, "text/html; charset=utf-8"),
        ("/?q=(", 400, "text/html; charset=utf-8"),
        ("/show?at=sglang-run/logs/crash.log:7", 200, "text/html; charset=utf-8"),
        ("/query.json?q=kind:exception", 200, "application/json"),
        ("/report.css", 200, "text/css; charset=utf-8"),
        ("/style.css", 200, "text/css; charset=utf-8"),
        ("/script.js", 200, "text/javascript; charset=utf-8"),
        ("/icon.svg", 200, "image/svg+xml"),
        ("/nowhere", 404, "text/html; charset=utf-8"),
        ("/../Cargo.toml", 404, "text/html; charset=utf-8"),
    ];
    for (path, status, kind) in kinds {
        let answer = serving.get(path);
        assert_eq!((answer.status, answer.header("content-type")), (status, kind), "{path}");
        let policy = answer.header("content-security-policy");
        assert!(policy.starts_with("default-src 'none'; ") && !policy.contains("unsafe") && !policy.contains('*'), "{policy}");
        for part in ["script-src 'self'", "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'"] {
            assert!(policy.contains(part), "{part}");
        }
        assert_eq!(answer.header("x-content-type-options"), "nosniff", "{path}");
        assert_eq!(answer.header("referrer-policy"), "no-referrer", "{path}");
        assert_eq!(answer.header("x-frame-options"), "DENY", "{path}");
        assert_eq!(answer.header("cache-control"), "no-store", "{path}");
        assert_eq!(answer.header("access-control-allow-origin"), "", "{path}");
        let head = serving.by("HEAD", path);
        assert_eq!((head.status, head.body.as_str()), (status, ""), "{path}");
    }
}

#[test]
fn no_locator_leads_out_of_the_run() {
    let place = Place::with("direct-run");
    place.write("direct-run/../secret.log", b"[2026-11-29 18:49:08] the-secret\n");
    place.write("outside/other.log", b"[2026-11-29 18:49:08] the-secret\n");
    place.write("elsewhere/third.log", b"[2026-11-29 18:49:08] the-secret, once more\n");
    std::os::unix::fs::symlink(place.path("elsewhere/third.log"), place.path("direct-run/logs/link.log")).unwrap();
    std::os::unix::fs::symlink(place.path("outside"), place.path("direct-run/linked")).unwrap();
    let serving = Serving::start(&place, &["direct-run"]);
    let absolute = place.path("secret.log").display().to_string();
    let locators = [
        "secret.log:1",
        "direct-run/../secret.log:1",
        "direct-run/logs/../../secret.log:1",
        "direct-run/logs/..%2f..%2fsecret.log:1",
        "..%2Fsecret.log:1",
        "%2e%2e/secret.log:1",
        "../secret.log@0",
        &format!("{absolute}:1"),
        "/etc/passwd:1",
        "direct-run/logs/link.log:1",
        "logs/link.log@0",
        "direct-run/linked/other.log:1",
        "outside/other.log:1",
        "direct-run/logs:1",
        "direct-run/.corr/manifest.json:1",
        "direct-run/logs/router.log%00:1",
    ];
    for locator in locators {
        let answer = serving.get(&format!("/show?at={locator}"));
        assert_eq!(answer.status, 404, "{locator}");
        assert!(!answer.body.contains("the-secret") && !answer.body.contains("root:"), "{locator}");
    }
    for locator in [
        "",
        "direct-run/logs/router.log",
        "router.log:x",
        "direct-run/logs/router.log:-1",
        "direct-run/logs/router.log:99999999999999999999",
    ] {
        assert_eq!(serving.get(&format!("/show?at={locator}")).status, 400, "{locator}");
    }
    assert_eq!(serving.get("/show?at=direct-run/logs/router.log:99999999").status, 404);
    let found = serving.get("/query.json?q=the-secret").json();
    assert_eq!(found["summary"]["matched"], 0, "a link out of the run is not read");
    let said = found["summary"]["not_read"].to_string();
    assert!(said.contains("link.log") && said.contains("linked/other.log"), "{said}");
    // What is named beside the run may be read.
    let serving = Serving::start(&place, &["direct-run", "outside"]);
    assert_eq!(serving.get("/query.json?q=the-secret").json()["summary"]["matched"], 1);
}

/// Whoever asks learns nothing of the machine's other files: one that is there is answered as one that is not.
#[test]
fn no_window_tells_of_files_outside_the_run() {
    let place = Place::with("direct-run");
    place.write("there.log", b"[2026-11-29 18:49:08] outside\n");
    let serving = Serving::start(&place, &["direct-run"]);
    let here = place.path("").display().to_string();
    let pairs = [
        ("/etc/hostname".to_string(), "/etc/hostnome".to_string()),
        (format!("{here}there.log"), format!("{here}their.log")),
        ("there.log".into(), "their.log".into()),
        ("../there.log".into(), "../their.log".into()),
        (format!("{here}direct-run/../there.log"), format!("{here}direct-run/../their.log")),
    ];
    for (there, gone) in &pairs {
        for place in ["", ":1", "@0", ":1%C2%B12s"] {
            for path in ["/", "/query.json"] {
                let answer = |name: &str| {
                    let answer = serving.get(&format!("{path}?around={name}{place}"));
                    assert_eq!(answer.status, 400, "{path} {name}{place}: {}", answer.body);
                    answer.body.replace(name, "NAME")
                };
                assert_eq!(answer(there), answer(gone), "{path} {there}{place}");
            }
        }
    }
    // The run's own records are found by the names that corr prints.
    assert_eq!(serving.get("/query.json?around=logs/router.log:42&span=1s").status, 200);
}

/// An error repeats what was asked; `curl` shows it as it is.
#[test]
fn an_error_as_json_acts_on_no_terminal() {
    let place = Place::with("sglang-run");
    let serving = Serving::start(&place, &["sglang-run"]);
    for (asked, said) in
        [("window=a%C2%9B2Jb", "\\u009b2J"), ("window=a%E2%80%AEb", "\\u202e"), ("n=%C2%9B2J%E2%80%AE", "\\u009b2J\\u202e")]
    {
        let answer = serving.get(&format!("/query.json?{asked}"));
        assert_eq!(answer.status, 400, "{asked}");
        assert!(!answer.body.contains(['\u{9b}', '\u{202e}']) && answer.body.contains(said), "{}", answer.body);
        assert!(answer.json()["error"].is_string());
    }
}

/// Questions: what the address says, and the same as arguments.
const QUESTIONS: &[(&str, &[&str])] = &[
    ("q=kind:route_decision+overlap_blocks:%3E0", &["kind:route_decision overlap_blocks:>0"]),
    ("q=rid:edf9*", &["rid:edf9*"]),
    ("q=chatcmpl-edf9ed01-3219-4585-a510-233214f462c1", &["chatcmpl-edf9ed01-3219-4585-a510-233214f462c1"]),
    ("q=kind:request_end&sort=-ttft_ms&n=3", &["kind:request_end", "--sort", "-ttft_ms", "-n", "3"]),
    ("since=start%2B1s&until=start%2B2s&n=20", &["--since", "start+1s", "--until", "start+2s", "-n", "20"]),
    ("q=level:%3E%3Dwarn+OR+worker:worker-1&n=7", &["level:>=warn OR worker:worker-1", "-n", "7"]),
    ("around=direct-run/logs/router.log:42&span=1s", &["--around", SHOWN, "--span", "1s"]),
    ("q=nowhere_to_be_found", &["nowhere_to_be_found"]),
    ("", &[]),
];

#[test]
fn answers_are_those_of_corr_query() {
    let place = Place::with("direct-run");
    let serving = Serving::start(&place, &["direct-run"]);
    let mut rows = 0;
    for (said, arguments) in QUESTIONS {
        let served = serving.get(&format!("/query.json?{said}"));
        assert_eq!(served.status, 200, "{said}: {}", served.body);
        let mut words = vec!["query", "direct-run", "--format", "json"];
        words.extend(*arguments);
        let ran = place.corr(&words);
        assert_eq!(program::steady(&served.body), program::steady(&ran.stdout), "{said}");
        let events = served.json()["events"].as_array().expect("events").len();
        rows += events;
        // The page says the same.
        if said.is_empty() {
            continue;
        }
        let page = serving.get(&format!("/?{said}"));
        assert_eq!(page.status, 200, "{said}");
        let hits = section(&page.body, "hits");
        let located: Vec<String> = hits.split("class=\"locator\" title=\"").skip(1).map(|p| text_of(&p[..p.find('"').unwrap()])).collect();
        let told: Vec<String> = served.json()["events"].as_array().unwrap().iter().map(locator).collect();
        assert_eq!(located, told, "{said}");
        let matched = served.json()["summary"]["matched"].as_u64().unwrap();
        let count = if matched > events as u64 { format!("showing {events} of {matched} events") } else { format!("{matched} event") };
        assert!(text_of(hits).contains(&count), "{said}: {count}");
    }
    assert!(rows > 100, "{rows} rows were compared");
}

fn locator(event: &Json) -> String {
    format!("{}:{}", event["source"].as_str().unwrap(), event["line"])
}

/// A section of a page by its id.
fn section<'p>(page: &'p str, id: &str) -> &'p str {
    let from = page.find(&format!("<section id=\"{id}\"")).unwrap_or_else(|| panic!("no section {id}"));
    let to = page[from..].find("</section>").expect("its end");
    &page[from..from + to]
}

#[test]
fn an_index_answers_the_same() {
    let place = Place::with("direct-run");
    let scanned = Serving::start(&place, &["direct-run"]);
    let before: Vec<Json> =
        QUESTIONS.iter().map(|(said, _)| scanned.get(&format!("/query.json?{said}")).json()["events"].clone()).collect();
    drop(scanned);
    assert_eq!(place.corr(&["index", "direct-run"]).code, Some(0));
    let indexed = Serving::start(&place, &["direct-run"]);
    for ((said, _), before) in QUESTIONS.iter().zip(before) {
        let answer = indexed.get(&format!("/query.json?{said}")).json();
        assert_eq!(answer["summary"]["scanned_sources"], 0, "{said}");
        assert_eq!(answer["events"], before, "{said}");
    }
}

#[test]
fn a_query_that_is_none_is_pointed_at() {
    let place = Place::with("sglang-run");
    let serving = Serving::start(&place, &["sglang-run"]);
    let page = serving.get("/?q=kind:exception+AND+(a");
    assert_eq!(page.status, 400);
    let ran = place.corr(&["query", "sglang-run", "kind:exception AND (a"]);
    assert_eq!(ran.code, Some(2));
    let error = ran.stderr.trim_start_matches("corr: ");
    let mut lines = error.lines();
    assert!(text_of(&page.body).contains(lines.next().unwrap()), "{error}");
    let pointer = page.body.split("<pre class=\"pointer\">").nth(1).unwrap().split("</pre>").next().unwrap();
    assert_eq!(text_of(pointer), lines.collect::<Vec<_>>().join("\n"), "the place is marked");
    let json = serving.get("/query.json?q=kind:exception+AND+(a");
    assert_eq!((json.status, json.json()["column"].as_u64()), (400, Some(22)));
    for bad in [
        "since=yesterday",
        "n=many",
        "sort=message",
        "window=nosuch",
        "around=a:1&since=start",
        "span=x&around=sglang-run/logs/crash.log:7",
        "q=/(/",
    ] {
        let answer = serving.get(&format!("/?{bad}"));
        assert_eq!(answer.status, 400, "{bad}");
        assert!(answer.body.contains("role=\"alert\""), "{bad}");
    }
    assert_eq!(serving.get("/?q=a&q=b").status, 400, "a value twice");
    let long = "a".repeat(20_000);
    assert!([400, 414, 431].contains(&serving.get(&format!("/?q={long}")).status));
}

#[test]
fn the_page_of_a_locator_has_the_bytes_of_the_file() {
    let place = Place::with("direct-run");
    let serving = Serving::start(&place, &["direct-run"]);
    let text = std::fs::read_to_string(place.path("direct-run/logs/router.log")).unwrap();
    let mut compared = 0;
    for (number, line) in (1..).zip(text.lines()).filter(|(n, _)| n % 5 == 0) {
        let page = serving.get(&format!("/show?at=direct-run/logs/router.log:{number}"));
        assert_eq!(page.status, 200, "{number}");
        let raw = raw_of(&page.body);
        // Colours of the log are shown, not run.
        let line = line.replace('\x1b', "\\x1b");
        assert!(raw.lines().any(|l| l == line), "{number}: {line}\n{raw}");
        compared += 1;
    }
    assert!(compared > 5, "{compared}");
    // By byte, and under the name below the run.
    let at = text.lines().take(41).map(|l| l.len() + 1).sum::<usize>();
    let by_line = raw_of(&serving.get(&format!("/show?at={SHOWN}")).body);
    for locator in [format!("direct-run/logs/router.log@{at}"), "logs/router.log:42".into()] {
        assert_eq!(raw_of(&serving.get(&format!("/show?at={locator}")).body), by_line, "{locator}");
    }
    // A line of a configuration, which holds no events.
    let page = serving.get("/show?at=direct-run/tachometer.toml:2");
    let second = std::fs::read_to_string(place.path("direct-run/tachometer.toml")).unwrap().lines().nth(1).unwrap().to_string();
    assert!(text_of(&page.body).contains(&second), "{second}");
}

fn raw_of(page: &str) -> String {
    let (_, from) = page.split_once("<pre class=\"raw\" tabindex=\"0\">").expect("raw bytes");
    text_of(from.split("</pre>").next().unwrap())
}

#[test]
fn bodies_are_withheld_unless_asked_for() {
    let place = Place::with("sglang-run");
    let secrets = ["zebras", "savanna", "forty-two", "sk-synthetic-5f3c9d"];
    let pages = [
        "/",
        "/?q=kind:request*&n=1000",
        "/show?at=sglang-run/logs/requests.log:2",
        "/query.json?n=1000",
        "/?q=zebras",
        "/query.json?q=zebras",
    ];
    let serving = Serving::start(&place, &["sglang-run"]);
    for path in pages {
        let answer = serving.get(path);
        assert_eq!(answer.status, 200, "{path}");
        // What was asked is said again.
        for secret in secrets.iter().filter(|secret| !path.contains(*secret)) {
            assert!(!answer.body.contains(secret), "{path}: {secret}");
        }
    }
    assert!(text_of(section(&serving.get("/?q=zebras").body, "hits")).contains("0 events"));
    assert_eq!(serving.get("/query.json?q=zebras").json()["summary"]["matched"], 0);
    assert_eq!(serving.get("/query.json?q=zebras&bodies=true").json()["summary"]["matched"], 0, "no address asks for them");
    let open = Serving::start(&place, &["sglang-run", "--bodies"]);
    assert!(open.said.contains("--bodies"), "it is said: {}", open.said);
    assert!(open.get("/show?at=sglang-run/logs/requests.log:2").body.contains("zebras"));
    assert!(open.get("/query.json?q=zebras").json()["summary"]["matched"].as_u64() > Some(0));
}

/// All panels of a page show what its hits show, and say so.
#[test]
fn with_bodies_every_panel_has_them() {
    let place = Place::with("sglang-run");
    for bodies in [false, true] {
        let serving = Serving::start(&place, if bodies { &["sglang-run", "--bodies"] } else { &["sglang-run"] });
        let page = serving.get("/?q=zebras").body;
        let rows = panel(&page, "timeline").split("<tbody>").nth(1).expect("rows").matches("<tr").count() as u64;
        let matched = serving.get("/query.json?q=zebras").json()["summary"]["matched"].as_u64();
        assert_eq!(matched.is_some_and(|n| n > 0), bodies);
        assert_eq!(rows > 0, bodies, "what is found stands in the timeline");
        assert_eq!(panel(&page, "timeline").contains("zebras"), bodies);
        let foot = text_of(panel(&page, "reproduce"));
        assert_eq!((foot.contains("credentials are shown"), foot.contains("credentials are withheld")), (bodies, !bodies), "{foot}");
        assert_eq!(foot.contains("corr query sglang-run zebras --bodies"), bodies, "{foot}");
    }
}

/// A panel of the report in a page, by its id.
fn panel<'p>(page: &'p str, id: &str) -> &'p str {
    let from = page.find(&format!("id=\"{id}\"")).unwrap_or_else(|| panic!("no panel {id}"));
    let rest = &page[from..];
    &rest[..rest.find("</section>").or(rest.find("</footer>")).expect("its end")]
}

/// The same window under another name is the same report, but for what says where it lies.
#[test]
fn what_says_where_a_window_lies_is_of_the_address() {
    let place = Place::with("direct-run");
    place.write("direct-run/corr.toml", b"[windows.part]\nsince = \"start+1s\"\nuntil = \"start+2s\"\n");
    let serving = Serving::start(&place, &["direct-run"]);
    let named = serving.get("/?window=part").body;
    let plain = serving.get("/?since=start%2B1s&until=start%2B2s").body;
    let head =
        |page: &str| text_of(page.split("<header class=\"masthead\">").nth(1).expect("a head").split("</header>").next().expect("its end"));
    assert!(head(&named).contains("(window part: corr.toml)"), "{}", head(&named));
    assert!(!head(&plain).contains("corr.toml"), "{}", head(&plain));
    assert_eq!(panel(&named, "timeline"), panel(&plain, "timeline"));
    // And back: what was kept says nothing of who asked first.
    assert_eq!(serving.get("/?window=part").body, named);
}

/// Where no record has a stamp a window ends with the captures, in pages as in reports.
#[test]
fn an_open_end_is_the_same_in_pages_and_reports() {
    let place = Place::with("metrics-run");
    place.write("metrics-run/logs/worker-0.log", b"a line without a stamp\nand another one\n");
    let scrapes = std::fs::read_to_string(place.path("metrics-run/raw_prometheus.jsonl")).expect("the capture");
    let times: Vec<i64> =
        scrapes.lines().map(|line| serde_json::from_str::<Json>(line).expect("a line")["timestamp_ns"].as_i64().expect("a time")).collect();
    let (first, last) = (*times.iter().min().expect("one"), *times.iter().max().expect("one"));
    let text = |ns: i64| chrono::DateTime::from_timestamp_nanos(ns).format("%Y-%m-%dT%H:%M:%S%.9fZ").to_string();
    let middle = text(first + (last - first) / 2);
    let flags = format!("--since {middle} --until {}", text(last));
    let serving = Serving::start(&place, &["metrics-run"]);
    let page = serving.get(&format!("/?since={middle}"));
    assert_eq!(page.status, 200, "{}", text_of(&page.body));
    assert!(text_of(panel(&page.body, "reproduce")).contains(&flags), "{flags}");
    let ran = place.corr(&["report", "metrics-run", "--since", &middle, "-o", "-"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains(&flags), "{flags}");
}

/// Windows of lives are those that `corr ready` numbers: a server that only a capture saw has them too.
#[test]
fn windows_of_lives_are_of_captures_too() {
    let place = Place::new();
    place.write("run/other.log", b"[2026-11-29 18:30:30] a line of no server\n[2026-11-29 18:31:30] another one\n");
    // Five scrapes from 18:30:40 on, one every second, of a server without a log; the process is another one from the fourth on.
    let began = 1_795_977_040_000_000_000i64;
    let scrape = |i: i64| {
        let start = if i < 3 { 1_795_977_000 } else { 1_795_977_042 };
        let text = format!(
            "# TYPE process_start_time_seconds gauge\nprocess_start_time_seconds {start}.5\n# TYPE sglang:token_usage gauge\nsglang:token_usage 0.25\n"
        );
        let at = began + i * 1_000_000_000;
        serde_json::json!({
            "timestamp_ns": at, "elapsed_s": i as f64, "endpoint_url": "", "role": "backend", "worker_id": "agg0",
            "content_type": "text/plain; version=0.0.4; charset=utf-8", "text": text,
        })
    };
    let lines: String = (0..5).map(|i| format!("{}\n", scrape(i))).collect();
    place.write("run/raw_prometheus.jsonl", lines.as_bytes());
    let ready = place.corr(&["ready", "run", "--format", "json"]);
    assert!(ready.stdout.contains("outage:agg0#1"), "{}\n{}", ready.stdout, ready.stderr);
    let named = place.corr(&["query", "run", "--window", "outage:agg0#1", "--format", "json"]);
    assert!(matches!(named.code, Some(0 | 1)), "{}", named.stderr);
    let since = serde_json::from_str::<Json>(&named.stdout).expect("JSON")["summary"]["since"].clone();
    // The third scrape is the last that the old process answered; of the new one nothing says that it is ready.
    assert!(since.as_str().is_some_and(|s| s.starts_with("2026-11-29T18:30:42.0")), "{since}");
    let serving = Serving::start(&place, &["run"]);
    let json = serving.get("/query.json?window=outage:agg0%231").json();
    assert_eq!(json["summary"]["since"], since);
    let page = serving.get("/?window=outage:agg0%231");
    assert_eq!(page.status, 200, "{}", text_of(&page.body));
    for command in [&["report", "run", "-o", "-"][..], &["timeline", "run"], &["edges", "run"], &["metrics", "run", "sglang:token_usage"]] {
        let ran = place.corr(&[command, &["--window", "outage:agg0#1"]].concat());
        assert!(matches!(ran.code, Some(0 | 1)), "{command:?}: {}", ran.stderr);
    }
}

/// Each link of a page says what was asked again: what is asked has an end.
#[test]
fn long_values_are_refused_not_repeated() {
    let place = Place::with("sglang-run");
    let serving = Serving::start(&place, &["sglang-run"]);
    let long = "a".repeat(4_000);
    let zeros = format!("{}5", "0".repeat(4_000));
    for asked in [format!("sort={long}"), format!("n={zeros}"), format!("n={long}"), format!("window={long}"), format!("q=a&span={long}")] {
        for path in ["/", "/query.json"] {
            let answer = serving.get(&format!("{path}?{asked}"));
            assert_eq!(answer.status, 400, "{path}");
            assert!(answer.body.contains("more than 300") && answer.body.len() < 25_000, "{path}: {}", answer.body.len());
        }
    }
    assert_eq!(serving.get(&format!("/?q={long}")).status, 200);
}

/// What a script of another page shows stands in no page of this one.
#[test]
fn no_page_has_a_form_that_nothing_shows() {
    let place = Place::with("sglang-run");
    let serving = Serving::start(&place, &["sglang-run"]);
    let page = serving.get("/").body;
    assert!(page.contains("id=\"density\"") && !page.contains("id=\"filter\"") && !page.contains("id=\"brush\""));
    assert_eq!(page.matches("<form").count(), 1, "the search");
}

const HOSTILE: &[&str] = &[
    "</td></tr></table></section></main><script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "' onmouseover='alert(1)",
    "</title></pre><iframe src=//x.y>",
    "<!-- --> <![CDATA[ &lt;b&gt;",
    "\u{202e}gnp.exe \x1b[2J\x1b]8;;http://x.y\x07",
];

#[test]
fn text_of_a_log_is_no_markup() {
    let place = Place::new();
    let name = "a'\"><script>alert(2)<b>.log";
    let lines: String = HOSTILE.iter().map(|text| format!("[2026-11-29 18:49:08] {text}\n")).collect();
    place.write(&format!("run/{name}"), lines.as_bytes());
    let serving = Serving::start(&place, &["run"]);
    let encoded: String = name.bytes().map(|b| format!("%{b:02x}")).collect();
    let mut paths = vec![
        "/".to_string(),
        "/?n=5".into(),
        "/?q=%3C/title%3E%3Cscript%3Ealert(3)%3C/script%3E".into(),
        "/?since=%22%3E%3Cscript%3E".into(),
    ];
    paths.extend((1..=HOSTILE.len()).map(|line| format!("/show?at=run/{encoded}:{line}")));
    paths.push("/show?at=%3Cscript%3Ealert(4)%3C/script%3E:1".into());
    for path in &paths {
        let page = serving.get(path).body;
        let count = |text: &str| page.matches(text).count();
        assert_eq!(count("<script"), 1, "{path}: the page's own");
        assert_eq!((count("<img"), count("<iframe"), count("<!--"), count("<![")), (0, 0, 0, 0), "{path}");
        assert!(!page.contains(['\x1b', '\u{202e}', '\x07']), "{path}");
        for text in HOSTILE.iter().chain([&name]).filter(|text| text.contains(['<', '"', '\''])) {
            assert!(!page.contains(*text), "{path}: {text}");
        }
    }
    for (line, text) in (1..).zip(HOSTILE) {
        let page = serving.get(&format!("/show?at=run/{encoded}:{line}"));
        assert_eq!(page.status, 200);
        let shown = text.replace('\x1b', "\\x1b").replace('\x07', "\\x07").replace('\u{202e}', "\\u{202e}");
        assert!(raw_of(&page.body).ends_with(&shown), "it is shown as it stands: {shown}");
    }
}

#[test]
fn an_address_gives_the_same_page_again_and_several_at_once() {
    let place = Place::with("direct-run");
    let serving = Serving::start(&place, &["direct-run"]);
    let paths: Vec<String> = QUESTIONS.iter().map(|(said, _)| format!("/?{said}")).chain([format!("/show?at={SHOWN}")]).collect();
    let first: Vec<String> = paths.iter().map(|path| serving.get(path).body).collect();
    let again = std::thread::scope(|scope| {
        let asked: Vec<_> = paths.iter().map(|path| scope.spawn(|| serving.get(path))).collect();
        asked.into_iter().map(|one| one.join().expect("an answer").body).collect::<Vec<_>>()
    });
    for ((path, first), again) in paths.iter().zip(&first).zip(&again) {
        assert!(first == again, "{path}");
    }
    let form = &first[4];
    assert!(
        form.contains("name=\"since\" value=\"start+1s\"") && form.contains("name=\"until\" value=\"start+2s\""),
        "the form says what is asked"
    );
}

#[test]
fn what_is_written_meanwhile_is_read() {
    let place = Place::new();
    place.write("run/server.log", b"[2026-11-29 18:49:08] one\n");
    let serving = Serving::start(&place, &["run"]);
    let matched = |q: &str| serving.get(&format!("/query.json?q={q}")).json()["summary"]["matched"].as_u64().unwrap();
    assert_eq!((matched("one"), matched("two")), (1, 0));
    place.append("run/server.log", b"[2026-11-29 18:49:09] two\n");
    place.write("run/other.log", b"[2026-11-29 18:49:10] two\n");
    let until = Instant::now() + Duration::from_secs(20);
    while matched("two") < 2 && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(200));
    }
    assert_eq!((matched("one"), matched("two")), (1, 2));
    std::fs::remove_dir_all(place.path("run")).unwrap();
    std::thread::sleep(Duration::from_millis(1_100));
    let gone = serving.get("/");
    assert_eq!(gone.status, 500, "the run is gone, and that is said");
    assert!(gone.body.contains("no such file or directory"), "{}", gone.body);
}

#[test]
fn it_ends_when_it_is_asked_to() {
    for signal in ["-INT", "-TERM"] {
        let place = Place::with("sglang-run");
        let mut serving = Serving::start(&place, &["sglang-run"]);
        // A connection that stays open keeps nothing.
        let idle = serving.connect();
        assert_eq!(serving.get("/").status, 200);
        serving.signal(signal);
        let (code, took) = serving.ended();
        assert_eq!(code, Some(0), "{signal}");
        assert!(took < Duration::from_secs(10), "{signal}: {took:?}");
        drop(idle);
    }
}

#[test]
fn what_cannot_be_served_is_said() {
    let place = Place::with("sglang-run");
    let serving = Serving::start(&place, &["sglang-run"]);
    let taken = place.corr(&["serve", "sglang-run", "--port", &serving.port.to_string()]);
    assert_eq!(taken.code, Some(2));
    assert!(taken.stderr.contains("--port 0"), "{}", taken.stderr);
    for (arguments, said) in [(["serve", "nowhere"], "no such file"), (["serve", "-"], "standard input")] {
        let ran = place.corr(&arguments);
        assert_eq!(ran.code, Some(2), "{}", ran.stderr);
        assert!(ran.stderr.contains(said), "{}", ran.stderr);
    }
    place.write("empty/notes.md", b"nothing\n");
    assert_eq!(place.corr(&["serve", "empty"]).code, Some(2));
}
