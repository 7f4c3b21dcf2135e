//! What load generators write: AIPerf's per-request records, results of sa-bench and SGLang's `bench_serving`, Mooncake load traces. See README.md beside
//! this file.

mod aiperf;
mod bench;
pub mod kinds;
mod mooncake;
mod samples;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use crate::event::{Event, Field, Secret, Value};
use crate::format::{Format, all_bodies, never_cut};
use crate::json::{self, Member};
use crate::records::MAX_FIELD;
use crate::records::keys::{self, Role};
use crate::trace::row::Span;

/// AIPerf's `profile_export.jsonl`.
pub static AIPERF: Format = Format {
    name: "aiperf",
    about: "per-request records of AIPerf (profile_export.jsonl)",
    shape: "`{\"metadata\":{` with `session_num` and `request_start_ns`",
    head: aiperf::head,
    cut: never_cut,
    bodies_read: all_bodies,
    parse: aiperf::parse,
    kinds: kinds::AIPERF,
    samples: samples::AIPERF,
};

/// Results of a benchmark: one object a load level.
pub static BENCH: Format = Format {
    name: "bench-result",
    about: "results of sa-bench and of SGLang's bench_serving, and sa-bench's measurement windows",
    shape: "a JSON object that begins with `date`, `tag` or `backend` and has a request rate, or with `schema_version` and `benchmark_type`",
    head: bench::head,
    cut: never_cut,
    bodies_read: all_bodies,
    parse: bench::parse,
    kinds: kinds::BENCH,
    samples: samples::BENCH,
};

/// A load trace in Mooncake's form.
pub static MOONCAKE: Format = Format {
    name: "mooncake-trace",
    about: "rows of a load trace in Mooncake's form: lengths and block hashes of requests to send",
    shape: "a JSON object with `input_length`, `output_length` and `hash_ids`",
    head: mooncake::head,
    cut: never_cut,
    bodies_read: all_bodies,
    parse: mooncake::parse,
    kinds: kinds::MOONCAKE,
    samples: samples::MOONCAKE,
};

/// Does the beginning of a line, at most `within` bytes, hold all of these?
fn holds(line: &[u8], within: usize, words: &[&[u8]]) -> bool {
    let start = &line[..line.len().min(within)];
    words.iter().all(|w| memchr::memmem::find(start, w).is_some())
}

/// A member that is not listed: a number, bool or short text whose name is no body's is a field; the rest is withheld.
fn other<'a>(event: &mut Event<'a>, value: Span<'a>, member: &Member<'a>) {
    let name = keys::snake(member.key);
    let text = value.bytes.first() == Some(&b'"');
    let structure = matches!(value.bytes.first(), Some(b'{' | b'['));
    if matches!(value.bytes, b"null" | b"\"\"" | b"[]" | b"{}") {
        return;
    }
    let plain = !matches!(keys::role(&name), Role::Body(_) | Role::Choices | Role::Headers | Role::Credential | Role::Token);
    let short = value.bytes.len() <= MAX_FIELD + 2 && keys::secret_inside(value.bytes).is_none();
    if structure || (text && !(plain && short)) {
        return withhold(event, value, "body");
    }
    if member.complete
        && let Some(found) = json::value(value.bytes)
    {
        event.fields.push(Field { name, raw: String::from_utf8_lossy(member.key), value: found });
    }
}

/// Adds a field under a canonical name; `null` is none.
fn field<'a>(event: &mut Event<'a>, name: impl Into<Cow<'a, str>>, member: &Member<'a>) {
    let plain = member.complete && member.value.len() <= MAX_FIELD + 2 && !matches!(member.value.first(), Some(b'{' | b'['));
    if plain && let Some(value) = json::value(member.value) {
        event.fields.push(Field { name: name.into(), raw: String::from_utf8_lossy(member.key), value });
    }
}

/// Adds a number that was counted, not read.
fn counted(event: &mut Event<'_>, name: &'static str, raw: &'static str, n: usize) {
    event.field(name, raw, Value::Int(i64::try_from(n).unwrap_or(i64::MAX)));
}

fn withhold(event: &mut Event<'_>, value: Span<'_>, name: &'static str) {
    if !matches!(value.bytes, b"" | b"null" | b"\"\"" | b"[]" | b"{}") {
        event.withhold(value.at..value.at + value.bytes.len(), Secret::Body, name);
    }
}
