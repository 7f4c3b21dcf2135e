//! How fast bytes become records, and records events: `cargo bench -p corr-benches --bench parse`.
//!
//! Each bench reads 16 MB in memory with one thread.

// The generator serves other benches too.
#[allow(dead_code)]
mod log;

use corr_parsers::detect;
use corr_parsers::event::Event;
use corr_parsers::format::Format;
use corr_parsers::record::{Layout, Reader};
use corr_parsers::{dynamo, gateway, text};
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
