//! A benchmark's result: one object a load level, and the window in which it was measured.

use super::{counted, field, holds, kinds, other, withhold};
use crate::event::{Event, Outcome};
use crate::json;
use crate::records::stamps;
use crate::stamp::{RawStamp, SECOND, Zone, clock_seconds, days, digits};
use crate::trace;
use crate::trace::row::Span;

/// How far into a result its arguments are looked for; behind them stand lists of a number a request.
const HEAD: usize = 1024;

/// Is this a result, or a measurement window?
pub fn head(line: &[u8]) -> bool {
    let Some(rest) = line.strip_prefix(b"{") else { return false };
    let rest = rest.trim_ascii_start();
    if rest.starts_with(b"\"schema_version\":") {
        return holds(rest, HEAD, &[b"\"benchmark_type\":", b"\"benchmark_start_time_unix\":"]);
    }
    if ![&b"\"date\":"[..], b"\"tag\":", b"\"backend\":"].iter().any(|key| rest.starts_with(key)) {
        return false;
    }
    holds(rest, HEAD, &[b"\"backend\":", b"\"request_rate\":"])
        && [&b"\"dataset_name\":"[..], b"\"tokenizer_id\":", b"\"random_range_ratio\":"].iter().any(|key| holds(rest, HEAD, &[key]))
}

/// Parses one result or window.
pub fn parse<'a>(record: &'a [u8], event: &mut Event<'a>) -> Outcome {
    event.kind = &kinds::BENCH_RESULT;
    event.message = 0..record.len();
    let whole = Span { bytes: record, at: 0 };
    let mut walk = json::members(record);
    for member in walk.by_ref() {
        let value = whole.of(&member);
        match member.key {
            b"benchmark_type" => {
                event.kind = &kinds::MEASUREMENT_WINDOW;
                field(event, "benchmark_type", &member);
            }
            b"benchmark_start_time_unix" => {
                event.stamp = stamps::read(value.bytes, value.at);
                field(event, "benchmark_start_s", &member);
            }
            b"benchmark_end_time_unix" => field(event, "benchmark_end_s", &member),
            b"duration" => field(event, "duration_s", &member),
            b"date" => {
                event.stamp = date(value);
                field(event, "date", &member);
            }
            b"model_id" => field(event, "model", &member),
            // Lists of a value a request: no body, and no single number.
            b"input_lens" | b"output_lens" | b"ttfts" | b"itls" | b"cached_tokens_details" => {}
            b"cached_tokens" if value.bytes.first() == Some(&b'[') => {}
            b"generated_texts" => withhold(event, value, "generated_texts"),
            b"errors" => {
                let failed = json::items(value.bytes).filter(|e| !matches!(e.value, b"\"\"" | b"null")).count();
                if member.complete {
                    counted(event, "failed_requests", "errors", failed);
                }
                // They may quote what was sent.
                if failed > 0 || !member.complete {
                    withhold(event, value, "errors");
                }
            }
            // The server's configuration; credentials in it are withheld as in any text.
            b"server_info" => {}
            b"cache_report" => {
                for inner in json::members(value.bytes) {
                    field(event, String::from_utf8_lossy(inner.key), &inner);
                }
            }
            _ => other(event, value, &member),
        }
    }
    trace::outcome(walk.end(), record, event)
}

/// `"20261129-185432"`: when the result was written, in the client's zone, which is not said.
fn date(value: Span<'_>) -> Option<RawStamp> {
    let text = value.bytes.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    if text.len() != 15 || text[8] != b'-' {
        return None;
    }
    let number = |from: usize, to: usize| digits(&text[from..to]).and_then(|n| u32::try_from(n).ok());
    let clock = [&text[9..11], b":", &text[11..13], b":", &text[13..15]].concat();
    let day = days(i32::try_from(number(0, 4)?).ok().filter(|y| (1970..=2261).contains(y))?, number(4, 6)?, number(6, 8)?)?;
    let ns = (day * 86_400 + clock_seconds(&clock)?).checked_mul(SECOND)?;
    Some(RawStamp { ns, width: SECOND, zone: Zone::Naive, at: value.at as u32 + 1, len: 15 })
}
