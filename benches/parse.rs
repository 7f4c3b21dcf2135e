//! How fast bytes become records, and records events: `cargo bench -p corr-benches --bench parse`.
//!
//! Each bench reads 16 MB in memory with one thread.

// The generator serves other benches too.
#[allow(dead_code)]
mod log;

use corr_parsers::declared::{self, Definition, OneOrMany, Sample};
use corr_parsers::detect;
use corr_parsers::event::Event;
use corr_parsers::format::Format;
use corr_parsers::record::{Layout, Reader};
use corr_parsers::{client, dynamo, eventplane, gateway, otlp, srtctl, text};
use divan::Bencher;
use divan::counter::BytesCount;

const SIZE: usize = 16 << 20;

fn main() {
    divan::main();
}

/// Generated scheduler log, request log as 0.5.12 prints it.
fn mixed() -> Vec<u8> {
    let mut out = Vec::new();
    // cannot fail: a vector takes every write.
    log::write(&mut out, SIZE as u64, 7, log::Requests::Full).expect("written to memory");
    out
}

/// The prefill and decode lines of the same.
fn batches() -> Vec<u8> {
    let mut out = Vec::new();
    while out.len() < SIZE {
        for line in mixed().split_inclusive(|b| *b == b'\n') {
            if memchr::memmem::find(&line[..line.len().min(60)], b" batch, #").is_some() {
                out.extend_from_slice(line);
            }
        }
    }
    out
}

/// A format's own sample records, over and over.
fn samples(format: &Format) -> Vec<u8> {
    let mut out = Vec::new();
    while out.len() < SIZE {
        for (sample, _) in format.samples {
            out.extend_from_slice(sample.as_bytes());
            out.push(b'\n');
        }
    }
    out
}

fn layout(bytes: &[u8]) -> Layout {
    detect::detect(&bytes[..bytes.len().min(256 << 10)], false).layout
}

fn each_record(bytes: &[u8], layout: &Layout) -> usize {
    let mut reader = Reader::new(bytes, 0, layout);
    let mut records = 0;
    while let Some(record) = reader.next() {
        records += record.len;
    }
    records
}

fn each_event(bytes: &[u8], layout: &Layout) -> usize {
    let mut reader = Reader::new(bytes, 0, layout);
    let mut spare: Option<Event<'static>> = None;
    let mut fields = 0;
    while let Some(record) = reader.next() {
        let mut event = match spare.take() {
            Some(event) => event.recycle(&text::kinds::TEXT),
            None => Event::new(&text::kinds::TEXT),
        };
        record.parse(&mut event);
        fields += event.fields.len() + event.ids.len();
        spare = Some(event.recycle(&text::kinds::TEXT));
    }
    fields
}

fn run(bencher: Bencher, bytes: Vec<u8>, read: fn(&[u8], &Layout) -> usize) {
    let layout = layout(&bytes);
    bencher.counter(BytesCount::new(bytes.len())).bench_local(|| read(&bytes, &layout));
}

#[divan::bench(sample_count = 10)]
fn split_mixed(bencher: Bencher) {
    run(bencher, mixed(), each_record);
}

#[divan::bench(sample_count = 10)]
fn parse_batch_lines(bencher: Bencher) {
    run(bencher, batches(), each_event);
}

#[divan::bench(sample_count = 10)]
fn parse_mixed_sglang(bencher: Bencher) {
    run(bencher, mixed(), each_event);
}

#[divan::bench(sample_count = 10)]
fn parse_gateway_text(bencher: Bencher) {
    run(bencher, samples(&gateway::TEXT), each_event);
}

#[divan::bench(sample_count = 10)]
fn parse_gateway_json(bencher: Bencher) {
    run(bencher, samples(&gateway::JSON), each_event);
}

#[divan::bench(sample_count = 10)]
fn parse_dynamo_text(bencher: Bencher) {
    run(bencher, samples(&dynamo::TEXT), each_event);
}

#[divan::bench(sample_count = 10)]
fn parse_dynamo_jsonl(bencher: Bencher) {
    run(bencher, samples(&dynamo::JSONL), each_event);
}

#[divan::bench(sample_count = 10)]
fn parse_aiperf(bencher: Bencher) {
    run(bencher, samples(&client::AIPERF), each_event);
}

#[divan::bench(sample_count = 10)]
fn parse_bench_result(bencher: Bencher) {
    run(bencher, samples(&client::BENCH), each_event);
}

#[divan::bench(sample_count = 10)]
fn parse_mooncake_trace(bencher: Bencher) {
    run(bencher, samples(&client::MOONCAKE), each_event);
}

#[divan::bench(sample_count = 10)]
fn parse_srtctl(bencher: Bencher) {
    run(bencher, samples(&srtctl::SRTCTL), each_event);
}

/// A user's format of each form, and what they cost a source that has none of their lines.
#[divan::bench(sample_count = 10)]
fn parse_user_text(bencher: Bencher) {
    with_users(bencher, repeated("2026-11-29T18:54:32.143Z POST /v1/chat/completions 200 512ms req=b20f2ac2 q=\"hello\"\n"));
}

#[divan::bench(sample_count = 10)]
fn parse_user_json(bencher: Bencher) {
    with_users(bencher, repeated("{\"ts\":1795978472143,\"took\":0.5,\"req\":\"b20f2ac2\",\"usage\":{\"in\":187,\"out\":8}}\n"));
}

#[divan::bench(sample_count = 10)]
fn parse_mixed_sglang_beside_user_formats(bencher: Bencher) {
    with_users(bencher, mixed());
}

fn repeated(line: &str) -> Vec<u8> {
    line.as_bytes().repeat(SIZE / line.len())
}

fn with_users(bencher: Bencher, bytes: Vec<u8>) {
    let sample = |text: &str| vec![Sample { text: text.into(), taken: true, ..Sample::default() }];
    let text = Definition {
        name: "bench-text".into(),
        pattern: Some(r#"(?<t>\S+) (?<method>[A-Z]+) (?<path>\S+) (?<status>\d+) (?<took>\d+)ms req=(?<req>\S+) q="(?<q>.*)"$"#.into()),
        stamp: Some("t".into()),
        ids: [("request_id".into(), OneOrMany::One("req".into()))].into(),
        withheld: vec!["q".into()],
        samples: sample("2026-11-29T18:54:32.143Z POST /v1/x 200 512ms req=b q=\"\""),
        ..Definition::default()
    };
    let json = Definition {
        name: "bench-json".into(),
        json: true,
        keys: vec!["took".into()],
        stamp: Some("ts".into()),
        stamp_unit: Some("ms".into()),
        fields: [("latency_s".into(), "took".into()), ("prompt_tokens".into(), "usage.in".into())].into(),
        samples: sample("{\"ts\":1795978472143,\"took\":0.5}"),
        ..Definition::default()
    };
    let user: Vec<&'static Format> = [text, json].iter().map(|d| declared::load(d).unwrap()).collect();
    let layout = detect::detect_with(&bytes[..bytes.len().min(256 << 10)], false, &user).layout;
    bencher.counter(BytesCount::new(bytes.len())).bench_local(|| each_event(&bytes, &layout));
}

#[divan::bench(sample_count = 10)]
fn parse_event_plane(bencher: Bencher) {
    run(bencher, samples(&eventplane::EVENTS), each_event);
}

/// Lines of an export, each cut into its spans.
#[divan::bench(sample_count = 10)]
fn parse_otlp_traces(bencher: Bencher) {
    let [(resource, _), (stage, _), (root, _), ..] = otlp::TRACES.samples else { return };
    let line = format!("{resource}{}{root}\n", stage.repeat(20));
    run(bencher, line.repeat(SIZE / line.len() + 1).into_bytes(), each_event);
}

/// The batch lines, each wrapped.
fn wrapped(wrap: fn(usize, &str, &mut Vec<u8>)) -> Vec<u8> {
    let bare = batches();
    let mut out = Vec::new();
    for (i, line) in bare.split(|b| *b == b'\n').enumerate() {
        if out.len() >= SIZE {
            break;
        }
        wrap(i, &String::from_utf8_lossy(line), &mut out);
        out.push(b'\n');
    }
    out
}

fn put(out: &mut Vec<u8>, parts: &[&str]) {
    for part in parts {
        out.extend_from_slice(part.as_bytes());
    }
}

#[divan::bench(sample_count = 10)]
fn parse_in_docker_json(bencher: Bencher) {
    let wrap = |_, line: &str, out: &mut Vec<u8>| {
        put(out, &["{\"log\":\"", line, "\\n\",\"stream\":\"stderr\",\"time\":\"2026-05-20T08:30:01.276561635Z\"}"]);
    };
    run(bencher, wrapped(wrap), each_event);
}

#[divan::bench(sample_count = 10)]
fn parse_in_cri(bencher: Bencher) {
    run(bencher, wrapped(|_, line, out| put(out, &["2026-05-20T08:30:01.066013223Z stderr F ", line])), each_event);
}

#[divan::bench(sample_count = 10)]
fn parse_in_srun(bencher: Bencher) {
    run(bencher, wrapped(|i, line, out| put(out, &[&(i % 8).to_string(), ": ", line])), each_event);
}

#[divan::bench(sample_count = 10)]
fn parse_in_ray(bencher: Bencher) {
    run(bencher, wrapped(|_, line, out| put(out, &["(SGLangEngine pid=31021, ip=10.42.0.7) ", line])), each_event);
}

#[divan::bench(sample_count = 10)]
fn parse_in_syslog_5424(bencher: Bencher) {
    run(bencher, wrapped(|_, line, out| put(out, &["<30>1 2026-11-29T18:41:23.972134+00:00 vm python3 2101 - - ", line])), each_event);
}

#[divan::bench(sample_count = 10)]
fn parse_in_loki(bencher: Bencher) {
    let wrap = |_, line: &str, out: &mut Vec<u8>| {
        put(out, &["{\"labels\":{\"pod\":\"p-0\"},\"line\":\"", line, "\",\"timestamp\":\"2026-05-20T08:30:01.276561635Z\"}"]);
    };
    run(bencher, wrapped(wrap), each_event);
}

#[divan::bench(sample_count = 10)]
fn parse_in_cri_and_srun(bencher: Bencher) {
    run(bencher, wrapped(|_, line, out| put(out, &["2026-05-20T08:30:01.066013223Z stderr F 03: ", line])), each_event);
}

#[divan::bench(sample_count = 10)]
fn parse_in_journald_short(bencher: Bencher) {
    run(bencher, wrapped(|_, line, out| put(out, &["May 20 08:30:01 gpu-node-07 python3[21877]: ", line])), each_event);
}

/// Detection of a bare log's head: every envelope is tried.
#[divan::bench(sample_count = 50)]
fn detect_bare(bencher: Bencher) {
    let bytes = mixed()[..256 << 10].to_vec();
    bencher.counter(BytesCount::new(bytes.len())).bench_local(|| detect::detect(&bytes, false).sampled);
}

/// Detection of what journald kept of it: one envelope is believed, and others are tried on what it holds.
#[divan::bench(sample_count = 50)]
fn detect_journald_json(bencher: Bencher) {
    let wrap = |_, line: &str, out: &mut Vec<u8>| {
        let meta = "{\"__REALTIME_TIMESTAMP\":\"1779265801266456\",\"_HOSTNAME\":\"gpu-node-07\",\"_PID\":\"21877\",\"MESSAGE\":\"";
        put(out, &[meta, line, "\"}"]);
    };
    let bytes = wrapped(wrap)[..256 << 10].to_vec();
    assert_eq!(detect::detect(&bytes, false).layout.wrapped_in().as_deref(), Some("journald-json"));
    bencher.counter(BytesCount::new(bytes.len())).bench_local(|| detect::detect(&bytes, false).sampled);
}
