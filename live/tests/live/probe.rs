//! Every way in which an expected metric can be missing has its own reason.

use std::time::Duration;

use corr_live::probe::{Outcome, Reason, Report, Verdict, run};
use corr_live::{Client, Clock, Request, Target};

use crate::scrape::wall;
use crate::server::{Answer, Server, http, nobody, ok, status, typed};

async fn probe(urls: &[String], expected: &[&str]) -> Report {
    probe_for(Duration::from_secs(5), urls, expected).await
}

async fn probe_for(timeout: Duration, urls: &[String], expected: &[&str]) -> Report {
    let targets: Vec<Target> = urls.iter().map(|url| Target::parse(url).unwrap()).collect();
    let request = Request { timeout, max_body: 100_000, ..Request::default() };
    let client = Client::new(request, None, &targets).unwrap();
    let expected: Vec<String> = expected.iter().map(ToString::to_string).collect();
    run(&targets, &client, Clock::new(wall), &expected).await
}

/// Verdict and reasons of one expected name at one endpoint.
async fn why(server: &Server, name: &str) -> (Outcome, Verdict, Vec<Reason>) {
    let report = probe(&[server.url()], &[name]).await;
    let expected = &report.expected[0];
    (report.outcome(), expected.verdict, expected.missing.iter().flat_map(|m| m.reasons.clone()).collect())
}

/// A prefill server that has reported: 0.5.11 or later by `kv_available_tokens`.
const PREFILL: &str = r#"sglang:max_total_num_tokens{engine_type="prefill",model_name="m",tp_rank="0"} 2.581504e+06
sglang:kv_available_tokens {engine_type="prefill",model_name="m",tp_rank="0"} 2569470.0
sglang:num_running_reqs{engine_type="prefill",model_name="m",tp_rank="0"} 3.0
sglang:num_queue_reqs{engine_type="prefill",model_name="m",tp_rank="0"} 0.0
sglang:cache_hit_rate{engine_type="prefill",model_name="m",tp_rank="0"} 0.182
sglang:queue_time_seconds_bucket{engine_type="prefill",le="+Inf"} 4
sglang:queue_time_seconds_sum{engine_type="prefill"} 0.5
sglang:queue_time_seconds_count{engine_type="prefill"} 4
"#;

#[tokio::test]
async fn labelled_gauges_are_there_with_and_without_a_blank_in_both_spellings() {
    let colon = Server::new(|_, _| ok(PREFILL));
    let underscore =
        Server::new(|_, _| typed("application/openmetrics-text; version=1.0.0", &(PREFILL.replace("sglang:", "sglang_") + "# EOF\n")));
    for (server, seen) in [(&colon, &[][..]), (&underscore, &["sglang_kv_available_tokens".to_string()])] {
        let names =
            ["sglang:kv_available_tokens", "sglang_kv_available_tokens", "sglang:queue_time_seconds", "sglang:queue_time_seconds_count"];
        let report = probe(&[server.url()], &names).await;
        assert_eq!(report.outcome(), Outcome::Holds);
        assert!(report.expected.iter().all(|e| e.verdict == Verdict::Found && e.found.len() == 1), "{:?}", report.expected);
        assert_eq!(report.expected[0].found[0].seen_as, seen);
    }
    let report = probe(&[colon.url()], &[]).await;
    let mut text = Vec::new();
    report.write_text(false, &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    for line in [
        "  sglang (prefill)            6 families      8 series\n",
        "  prefill tp 0: KV 12,034 / 2,581,504 tokens (0.47 %) · running 3 · queue 0 · cache hit 18.2 %\n",
        "histogram 1 label sets, observations in 1 of 1\n",
    ] {
        assert!(text.contains(line), "{line} in {text}");
    }
}

#[tokio::test]
async fn an_endpoint_that_is_down() {
    let report = probe(&[nobody()], &["sglang:token_usage"]).await;
    assert_eq!((report.outcome(), report.expected[0].verdict), (Outcome::Unreachable, Verdict::Unreachable));
    assert!(matches!(&report.expected[0].missing[0].reasons[..], [Reason::EndpointDown { kind: "refused", .. }]));

    let slow = Server::new(|_, _| Answer::After(Duration::from_millis(500), http("200 OK", "text/plain", PREFILL)));
    let report = probe_for(Duration::from_millis(100), &[slow.url()], &["sglang:token_usage"]).await;
    assert_eq!(report.outcome(), Outcome::Unreachable);
    let reasons = &report.expected[0].missing[0].reasons;
    assert!(matches!(&reasons[..], [Reason::EndpointDown { kind: "timed_out", .. }]), "{reasons:?}");
}

#[tokio::test]
async fn answers_that_are_no_metrics() {
    let off = Server::new(|_, _| status("404 Not Found"));
    let (outcome, verdict, reasons) = why(&off, "sglang:token_usage").await;
    assert_eq!((outcome, verdict), (Outcome::Fails, Verdict::Absent));
    assert_eq!(reasons, [Reason::NotEnabled { server: Some("uvicorn".into()) }]);

    let page = Server::new(|_, _| typed("text/html", "<html>\n"));
    let (outcome, _, reasons) = why(&page, "sglang:token_usage").await;
    assert_eq!(outcome, Outcome::Fails);
    assert!(matches!(&reasons[..], [Reason::NoMetrics { kind: "not_metrics", .. }]), "{reasons:?}");

    let endless = Server::new(|_, _| Answer::Endless);
    let cut = Server::new(|_, _| Answer::Raw(b"HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\nup 1\n".to_vec()));
    let closed = Server::new(|_, _| Answer::Raw(Vec::new()));
    for (server, kind) in [(&endless, "too_large"), (&cut, "cut"), (&closed, "no_answer")] {
        let (outcome, _, reasons) = why(server, "sglang:token_usage").await;
        assert_eq!(outcome, Outcome::Unreachable, "what was not read is not known");
        assert!(matches!(&reasons[..], [Reason::Unreadable { kind: k, .. }] if *k == kind), "{reasons:?}");
    }
}

#[tokio::test]
async fn a_lazy_family_cannot_be_known_until_it_appears() {
    let server = Server::new(|n, _| {
        let evicted = "sglang:evicted_tokens_total{cache_type=\"HiRadixCache\"} 64\n";
        ok(&format!("{PREFILL}{}", if n < 2 { "" } else { evicted }))
    });
    for _ in 0..2 {
        let (outcome, verdict, reasons) = why(&server, "sglang:evicted_tokens_total").await;
        assert_eq!((outcome, verdict), (Outcome::CannotKnow, Verdict::CannotKnow));
        assert_eq!(reasons, [Reason::Lazy { until: "its first use" }]);
    }
    let (outcome, verdict, _) = why(&server, "sglang:evicted_tokens_total").await;
    assert_eq!((outcome, verdict), (Outcome::Holds, Verdict::Found));

    let (_, verdict, reasons) = why(&server, "sglang:prefetched_tokens_total").await;
    assert_eq!(verdict, Verdict::CannotKnow);
    assert!(matches!(&reasons[..], [Reason::Needs { .. }, Reason::Lazy { .. }]), "{reasons:?}");
}

#[tokio::test]
async fn a_gauge_of_the_report_is_lazy_only_before_the_first_report() {
    let idle = Server::new(|_, _| ok("sglang:startup_time_seconds{phase=\"load\"} 12\n"));
    let (_, verdict, reasons) = why(&idle, "sglang:token_usage").await;
    assert_eq!(verdict, Verdict::CannotKnow);
    assert!(matches!(&reasons[..], [Reason::Lazy { until }] if until.starts_with("the scheduler's first report")), "{reasons:?}");

    // It has reported, and queue_time_seconds proves no more than 0.5.3: it may be older than 0.5.11.
    let old = Server::new(|_, _| ok("sglang:token_usage{tp_rank=\"0\"} 0.1\nsglang:queue_time_seconds_count 1\n"));
    let (outcome, verdict, reasons) = why(&old, "sglang:kv_available_tokens").await;
    assert_eq!((outcome, verdict), (Outcome::Fails, Verdict::Absent));
    assert_eq!(reasons, [Reason::Since { version: "0.5.11" }]);

    let new = Server::new(|_, _| ok(PREFILL));
    let (outcome, _, reasons) = why(&new, "sglang:kv_evictable_tokens").await;
    assert_eq!((outcome, reasons), (Outcome::Fails, vec![Reason::NotExported]), "it would have come with kv_available_tokens");
    let (_, _, reasons) = why(&new, "sglang:num_retractions").await;
    assert_eq!(reasons, [Reason::Gone { last: "0.5.10", proven_by: "sglang:kv_available_tokens".into() }]);
}

#[tokio::test]
async fn other_spellings_roles_and_ports() {
    let prefill = Server::new(|_, _| ok(PREFILL));
    let (outcome, verdict, reasons) = why(&prefill, "sglang:queue_time_s").await;
    assert_eq!((outcome, verdict), (Outcome::Fails, Verdict::Absent));
    assert!(reasons.contains(&Reason::OtherSpelling { there: vec!["sglang:queue_time_seconds".into()] }), "{reasons:?}");
    let (_, _, reasons) = why(&prefill, "kv_available_tokens").await;
    assert_eq!(reasons, [Reason::OtherSpelling { there: vec!["sglang:kv_available_tokens".into()] }]);

    let (outcome, _, reasons) = why(&prefill, "sglang:num_decode_transfer_queue_reqs").await;
    assert_eq!(outcome, Outcome::Fails);
    assert_eq!(reasons, [Reason::OtherRole { here: vec!["prefill".into()], wants: "decode" }]);

    let frontend = Server::new(|_, _| ok("dynamo_frontend_requests_total{model=\"m\",status=\"success\"} 4\n"));
    for name in ["sglang:kv_available_tokens", "dynamo_component_requests_total"] {
        let (outcome, _, reasons) = why(&frontend, name).await;
        assert_eq!(outcome, Outcome::Fails);
        assert!(matches!(&reasons[..], [Reason::OtherPort { here, .. }] if here == &["dynamo frontend"]), "{reasons:?}");
    }
    let (_, _, reasons) = why(&prefill, "dynamo_frontend_requests_total").await;
    assert!(matches!(&reasons[..], [Reason::OtherPort { wants, .. }] if wants.contains("--http-port")), "{reasons:?}");

    let (_, verdict, reasons) = why(&prefill, "sglang:no_such_thing").await;
    assert_eq!((verdict, reasons), (Verdict::Absent, vec![Reason::UnknownName { like: vec![] }]));

    // What one endpoint lacks another may have.
    let decode = Server::new(|_, _| ok("sglang:num_decode_transfer_queue_reqs{engine_type=\"decode\"} 0\n"));
    let report = probe(&[prefill.url(), decode.url()], &["sglang:num_decode_transfer_queue_reqs"]).await;
    assert_eq!((report.outcome(), report.expected[0].found[0].url.clone()), (Outcome::Holds, decode.url()));
    // A negative needs every endpoint to have been read.
    let report = probe(&[prefill.url(), nobody()], &["sglang:no_such_thing"]).await;
    assert_eq!((report.outcome(), report.expected[0].verdict), (Outcome::Unreachable, Verdict::CannotKnow));
}

#[tokio::test]
async fn json_has_families_and_reasons() {
    let server = Server::new(|_, _| ok(&format!("{PREFILL}broken line here\n")));
    let report = probe(&[server.url(), nobody()], &["sglang:evicted_tokens_total"]).await;
    let mut json = Vec::new();
    report.write_json(&mut json).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    assert_eq!(json["schema"], "corr.probe.v1");
    let exposes = &json["endpoints"][0]["exposes"];
    assert_eq!((exposes["series"].as_u64(), exposes["bad_lines"].as_u64()), (Some(8), Some(1)));
    assert_eq!(exposes["kv"][0]["occupied"], 12034.0);
    assert_eq!(json["endpoints"][1]["failure"]["kind"], "refused");
    assert_eq!(json["expected"][0]["missing"][0]["reasons"][0]["reason"], "lazy");
}
