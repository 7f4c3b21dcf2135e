//! A row of a load trace in Mooncake's form.

use super::{counted, field, holds, kinds, other, withhold};
use crate::event::{Event, Outcome};
use crate::ids::IdKind;
use crate::json;
use crate::trace;
use crate::trace::row::{self, Span};

/// A row's scalars stand before or behind its hashes; the key of these within so many bytes.
const HEAD: usize = 512;

/// Is this a row of a load trace?
pub fn head(line: &[u8]) -> bool {
    line.first() == Some(&b'{') && holds(line, HEAD, &[b"\"input_length\":", b"\"output_length\":", b"\"hash_ids\":"])
}

/// Parses one row. It has no stamp: its time counts from the trace's start, wherever in a run that is.
pub fn parse<'a>(record: &'a [u8], event: &mut Event<'a>) -> Outcome {
    event.kind = &kinds::PLANNED_REQUEST;
    event.message = 0..record.len();
    let whole = Span { bytes: record, at: 0 };
    let mut walk = json::members(record);
    for member in walk.by_ref() {
        let value = whole.of(&member);
        match member.key {
            // Mooncake counts whole ms. Others who write this form count seconds, with a fraction.
            b"timestamp" if value.bytes.iter().all(u8::is_ascii_digit) => field(event, "trace_offset_ms", &member),
            b"timestamp" => field(event, "trace_offset", &member),
            b"delay" => field(event, "delay_ms", &member),
            b"input_length" => field(event, "prompt_tokens", &member),
            b"output_length" => field(event, "completion_tokens", &member),
            b"session_id" => row::identity(event, IdKind::Session, &member),
            b"hash_ids" if member.complete => counted(event, "hash_blocks", "hash_ids", json::items(value.bytes).count()),
            b"hash_ids" => {}
            b"text_input" => withhold(event, value, "text_input"),
            _ => other(event, value, &member),
        }
    }
    trace::outcome(walk.end(), record, event)
}
