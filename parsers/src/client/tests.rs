//! Records of clients: captures against another JSON parser, composed records against values worked out with jq.

use proptest::prelude::*;

use super::{AIPERF, BENCH, MOONCAKE};
use crate::cases::cases;
use crate::dynamo::tests::captures::read as bytes_of;
use crate::event::{Event, Outcome, Secret, Value};
use crate::format::Format;
use crate::ids::IdKind;
use crate::record::{Layout, Reader};
use crate::stamp::{SECOND, Zone};
use crate::{FORMATS, record, text};

static ALL: [&Format; 3] = [&AIPERF, &BENCH, &MOONCAKE];

fn read<'a>(format: &Format, record: &'a str) -> Event<'a> {
    assert_eq!(record::head_format(record.as_bytes(), FORMATS).map(|f| f.name), Some(format.name), "{record}");
    let mut event = Event::new(&text::kinds::TEXT);
    assert_eq!((format.parse)(record.as_bytes(), &mut event), Outcome::Parsed, "{record}");
    event
}

fn field(event: &Event<'_>, name: &str) -> Option<f64> {
    match event.get(name)? {
        Value::Int(i) => Some(*i as f64),
        Value::Float(f) => Some(*f),
        _ => None,
    }
}

fn str_field<'e>(event: &'e Event<'_>, name: &str) -> Option<&'e str> {
    match event.get(name)? {
        Value::Str(text) => Some(text),
        _ => None,
    }
}

/// What is left of a record when the withheld spans are taken out.
fn shown(record: &str, event: &Event<'_>) -> String {
    let hidden = |i: usize| event.withheld.iter().any(|w| w.span.contains(&i));
    String::from_utf8_lossy(&record.bytes().enumerate().filter(|(i, _)| !hidden(*i)).map(|(_, b)| b).collect::<Vec<_>>()).into_owned()
}

#[test]
fn samples_have_one_owner_and_their_kind() {
    for format in ALL {
        for (record, kind) in format.samples {
            let event = read(format, record);
            assert_eq!(event.kind.name, *kind);
            let owners: Vec<&str> = FORMATS.iter().filter(|f| (f.head)(record.as_bytes())).map(|f| f.name).collect();
            assert_eq!(owners, [format.name]);
            assert!(!shown(record, &event).contains("secret"), "{record}");
            assert!(event.fields.iter().all(|f| !format!("{f:?}").contains("secret")));
        }
    }
}

#[test]
fn a_request_of_aiperf() {
    let event = read(&AIPERF, AIPERF.samples[0].0);
    let stamp = event.stamp.unwrap();
    assert_eq!((stamp.ns, stamp.width, stamp.zone), (1_795_978_479_301_136_846, 1, Zone::Utc));
    let ids: Vec<(IdKind, &str)> = event.ids.iter().map(|i| (i.kind, &*i.text)).collect();
    assert_eq!(ids, [(IdKind::XRequestId, "b20f2ac2-2998-464f-8b17-ea989a76a9e9"), (IdKind::Session, "sess-000")]);
    for (name, value) in [
        ("latency_ms", 87.086_033),
        ("ttft_ms", 43.998_799),
        ("itl_ms", 6.010_270_714_285_714),
        ("prompt_tokens", 187.0),
        ("completion_tokens", 8.0),
        ("time_to_second_token_ms", 0.050_416),
        ("turn_index", 0.0),
    ] {
        assert_eq!(field(&event, name), Some(value), "{name}");
    }
    assert_eq!(event.get("request_end_ns"), Some(&Value::Int(1_795_978_479_388_222_879)));
    assert_eq!((str_field(&event, "benchmark_phase"), str_field(&event, "client_worker")), (Some("profiling"), Some("worker_0")));
    let latency = event.fields.iter().find(|f| f.name == "latency_ms").unwrap();
    assert_eq!(latency.raw, "request_latency");
    assert!(event.withheld.is_empty() && event.get("error").is_none());
}

#[test]
fn a_failed_request_of_aiperf() {
    let event = read(&AIPERF, AIPERF.samples[1].0);
    assert_eq!((field(&event, "error_code"), str_field(&event, "error_type")), (Some(499.0), Some("RequestCancellationError")));
    assert_eq!(str_field(&event, "error"), Some("cancelled by the load generator"));
    assert_eq!((event.get("latency_ms"), event.get("was_cancelled")), (None, Some(&Value::Bool(true))));
    assert!(event.get("inter_chunk_latency_ms").is_none(), "a list is no number");
    assert!(event.ids.iter().any(|i| i.kind == IdKind::ParentSession && i.text == "32ee4f33-cfca-4cfc-988f-79b45408b909"));
    // A server's answer that quotes the request is not shown.
    let quoting = AIPERF.samples[1].0.replace("cancelled by the load generator", r#"422: {\"messages\": [{\"content\": \"a secret\"}]}"#);
    let event = read(&AIPERF, &quoting);
    assert!(!shown(&quoting, &event).contains("secret") && event.get("error").is_none());
    // A unit that is not the usual one is not passed for it.
    let seconds = AIPERF.samples[0].0.replace(r#"{"value": 87.086033, "unit": "ms"}"#, r#"{"value": 0.087086033, "unit": "s"}"#);
    let event = read(&AIPERF, &seconds);
    assert_eq!((field(&event, "latency_s"), event.get("latency_ms")), (Some(0.087_086_033), None));
}

#[test]
fn a_raw_record_of_aiperf_shows_no_body_and_no_header() {
    let meta = AIPERF.samples[1].0.split(r#","metrics""#).next().unwrap();
    let record = format!(
        r#"{meta},"start_perf_ns":81722,"payload":{{"messages":[{{"role":"user","content":"a secret"}}],"model":"tiny"}},"request_headers":{{"Authorization":"a secret","x-request-id":"c35e4b1b-6775-4750-b875-94cd68e5ec15"}},"status":200,"note":"a secret","responses":[{{"perf_ns":81999,"packets":[{{"name":"data","value":"a secret"}}]}}],"trace_data":{{"trace_type":"a secret","request_send_start_ns":1795978481119147999}},"error":null}}"#
    );
    let event = read(&AIPERF, &record);
    assert!(!shown(&record, &event).contains("secret"), "{}", shown(&record, &event));
    assert!(event.fields.iter().all(|f| !format!("{f:?}").contains("secret")));
    assert_eq!((field(&event, "status"), event.get("request_send_start_ns")), (Some(200.0), Some(&Value::Int(1_795_978_481_119_147_999))));
    let names: Vec<&str> = event.withheld.iter().map(|w| w.name).collect();
    assert!(names.contains(&"payload") && names.contains(&"responses"), "{names:?}");
}

#[test]
fn the_captures_of_aiperf_records() {
    // Counts by jq over the files: records, warm-up, with x_request_id, with a session, tokens in, tokens out.
    for (run, counts) in [
        ("corr-direct-20261129T185427Z-1", [152, 20, 132, 112, 49_233, 2_864]),
        ("corr-timeout-20261129T185801Z-3", [60, 10, 52, 42, 16_361, 1_088]),
    ] {
        let Some(dir) = cases(&format!("tachometer/run_dynamo/{run}/artifacts/aiperf")) else { return };
        let bytes = bytes_of(&dir.join("trace.jsonl"));
        let layout = crate::detect::detect(&bytes, true);
        assert_eq!((layout.formats[0].name, layout.formats[0].share), ("aiperf", 1.0));
        let mut reader = Reader::new(&bytes, 0, &layout.layout);
        let mut seen = [0i64; 6];
        while let Some(record) = reader.next() {
            let mut event = Event::new(&text::kinds::TEXT);
            assert_eq!(record.parse(&mut event), Outcome::Parsed);
            assert_eq!(event.kind.name, "client_request");
            let truth: serde_json::Value = serde_json::from_slice(record.payload).unwrap();
            let meta = &truth["metadata"];
            let id = |kind: IdKind| event.ids.iter().find(|i| i.kind == kind).map(|i| i.text.as_ref());
            assert_eq!(event.stamp.map(|s| s.ns), meta["request_start_ns"].as_i64());
            assert_eq!(id(IdKind::XRequestId), meta["x_request_id"].as_str());
            assert_eq!(id(IdKind::Session), meta["x_correlation_id"].as_str());
            for (name, metric) in [("latency_ms", "request_latency"), ("ttft_ms", "time_to_first_token"), ("itl_ms", "inter_token_latency")]
            {
                // serde_json's own numbers are off by a bit or two here.
                let (have, want) = (field(&event, name).unwrap(), truth["metrics"][metric]["value"].as_f64().unwrap());
                assert!((have - want).abs() <= want.abs() * 1e-14, "{metric}: {have} {want}");
            }
            for key in ["turn_index", "request_ack_ns", "request_end_ns", "credit_issued_ns", "session_num"] {
                assert_eq!(event.get(key), meta[key].as_i64().map(Value::Int).as_ref(), "{key}");
            }
            assert!(event.withheld.is_empty());
            seen[0] += 1;
            seen[1] += i64::from(str_field(&event, "benchmark_phase") == Some("warmup"));
            seen[2] += i64::from(id(IdKind::XRequestId).is_some());
            seen[3] += i64::from(id(IdKind::Session).is_some());
            seen[4] += field(&event, "prompt_tokens").unwrap() as i64;
            seen[5] += field(&event, "completion_tokens").unwrap() as i64;
        }
        assert_eq!(seen, counts, "{run}");
        println!("read {} AIPerf records of {run}", seen[0]);
    }
}

#[test]
fn results_of_benchmarks() {
    let record = BENCH.samples[0].0;
    let event = read(&BENCH, record);
    for (name, value) in
        [("completed", 3.0), ("failed_requests", 1.0), ("median_ttft_ms", 81.25), ("p99_itl_ms", 9.5), ("duration_s", 12.5)]
    {
        assert_eq!(field(&event, name), Some(value), "{name}");
    }
    assert_eq!((str_field(&event, "backend"), str_field(&event, "request_rate")), (Some("sglang-oai"), Some("Infinity")));
    assert_eq!((event.stamp, event.get("accept_length"), event.get("tag")), (None, None, None));
    let names: Vec<&str> = event.withheld.iter().map(|w| w.name).collect();
    assert_eq!(names, ["generated_texts", "errors"]);
    // sa-bench writes the date of its file, in a zone that it does not say: date -u -d '2026-11-29 18:54:32' +%s
    let event = read(&BENCH, BENCH.samples[1].0);
    let stamp = event.stamp.unwrap();
    assert_eq!((stamp.ns, stamp.width, stamp.zone), (1_795_978_472 * SECOND, SECOND, Zone::Naive));
    assert_eq!(&BENCH.samples[1].0[stamp.at as usize..(stamp.at + stamp.len) as usize], "20261129-185432");
    assert_eq!((field(&event, "failed_requests"), field(&event, "max_concurrency")), (Some(0.0), Some(4.0)));
    assert_eq!((str_field(&event, "model"), str_field(&event, "request_rate")), (Some("tiny"), Some("inf")));
    assert!(event.get("request_goodput").is_none());
    for date in ["20261329-185432", "20261129-245432", "20261129 185432", "2026112-9185432"] {
        assert_eq!(read(&BENCH, &BENCH.samples[1].0.replace("20261129-185432", date)).stamp, None, "{date}");
    }
    // A server's configuration may hold a key.
    let keyed = record.replace("{\"tp_size\": 2}", "{\"api_key\": \"sk-0123456789abcdef0123\"}");
    let layout = Layout { formats: FORMATS.to_vec(), ..Layout::default() };
    let mut reader = Reader::new(keyed.as_bytes(), 0, &layout);
    let mut event = Event::new(&text::kinds::TEXT);
    reader.next().unwrap().parse(&mut event);
    assert!(!shown(&keyed, &event).contains("0123456789abcdef") && event.withheld.iter().any(|w| w.why == Secret::Credential));
}

#[test]
fn a_window_is_a_document_of_several_lines() {
    // json.dump(…, indent=2), as sa-bench writes it.
    let file = BENCH.samples[2].0.replace("{", "{\n  ").replace(", \"", ",\n  \"").replace("}", "\n}\n");
    let detected = crate::detect::detect(file.as_bytes(), true);
    assert!(detected.layout.document && detected.formats[0].name == "bench-result");
    let event = read(&BENCH, file.trim_end());
    // date -u -d @1795978452.25
    assert_eq!(event.stamp.map(|s| (s.ns, s.width)), Some((1_795_978_452_250_000_000, 10_000_000)));
    assert_eq!((field(&event, "benchmark_end_s"), field(&event, "duration_s")), (Some(1_795_978_472.5), Some(20.25)));
    assert_eq!((str_field(&event, "status"), event.get("reason")), (Some("completed"), None));
    let running = BENCH.samples[2].0.replace("1795978472.5", "null").replace("\"completed\"", "\"running\"");
    assert_eq!(read(&BENCH, &running).get("benchmark_end_s"), None);
}

#[test]
fn rows_of_a_load_trace_have_no_time_of_a_run() {
    let event = read(&MOONCAKE, MOONCAKE.samples[0].0);
    for (name, value) in [("trace_offset_ms", 27_482.0), ("prompt_tokens", 6_955.0), ("completion_tokens", 52.0), ("hash_blocks", 3.0)] {
        assert_eq!(field(&event, name), Some(value), "{name}");
    }
    assert_eq!(event.stamp, None);
    let event = read(&MOONCAKE, MOONCAKE.samples[1].0);
    assert_eq!((event.ids[0].kind, &*event.ids[0].text, field(&event, "delay_ms")), (IdKind::Session, "conv_0", Some(250.0)));
    // Seconds with a fraction are another writer's: no unit is claimed.
    let event = read(&MOONCAKE, MOONCAKE.samples[2].0);
    assert_eq!((field(&event, "trace_offset"), event.get("trace_offset_ms"), field(&event, "hash_blocks")), (Some(1.5), None, Some(0.0)));
    // Other JSON with a part of these keys is not taken.
    for line in [
        r#"{"input_length": 1, "output_length": 2}"#,
        r#"{"timestamp": 1, "hash_ids": []}"#,
        r#"[{"input_length":1,"output_length":1,"hash_ids":[]}]"#,
    ] {
        assert!(!(MOONCAKE.head)(line.as_bytes()), "{line}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]
    #[test]
    fn damage_shows_no_body(
        which in 0..8usize,
        cut in 0.0..1.0f64,
        noise in prop::option::of(("[\\x00-\\x7f]{1,6}", 0.0..1.0f64)),
    ) {
        let samples: Vec<(&Format, &str)> = ALL.iter().flat_map(|f| f.samples.iter().map(|s| (*f, s.0))).collect();
        let (format, sample) = samples[which % samples.len()];
        let mut bytes = sample.as_bytes().to_vec();
        if let Some((noise, at)) = &noise {
            let at = (bytes.len() as f64 * at) as usize;
            // A quote that is broken in the middle of a text opens the text: what stands there then is a key or a name.
            if !noise.contains(['"', '\\', 's', '{', '[', '}', ']', ':', ',']) {
                bytes.splice(at..at, noise.bytes());
            }
        }
        bytes.truncate((bytes.len() as f64 * cut) as usize);
        let _ = (format.head)(&bytes);
        let mut event = Event::new(&text::kinds::TEXT);
        let outcome = (format.parse)(&bytes, &mut event);
        prop_assert!(event.withheld.iter().all(|w| w.span.end <= bytes.len() && w.span.start < w.span.end));
        prop_assert!(event.message.end <= bytes.len());
        prop_assert!(bytes.is_empty() || outcome == Outcome::Parsed || matches!(outcome, Outcome::Unparsed(_)));
        if noise.is_none() {
            let hidden = |i: usize| event.withheld.iter().any(|w| w.span.contains(&i));
            let open: Vec<u8> = bytes.iter().enumerate().filter(|(i, _)| !hidden(*i)).map(|(_, b)| *b).collect();
            prop_assert!(memchr::memmem::find(&open, b"a secr").is_none(), "{}", String::from_utf8_lossy(&open));
        }
    }

    #[test]
    fn any_bytes_are_no_trouble(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        for format in ALL {
            let _ = (format.head)(&bytes);
            let mut event = Event::new(&text::kinds::TEXT);
            let _ = (format.parse)(&bytes, &mut event);
            prop_assert!(event.withheld.iter().all(|w| w.span.end <= bytes.len()));
        }
    }
}
