//! Rows of `dynamo.request.trace.v1` (1.3 to 1.6.1) and `dynamo.agent.trace.v1` (1.2), bare or in the sink's envelope.

use super::row::{self, Span};
use super::{body, headers, kinds};
use crate::event::{Event, Outcome};
use crate::ids::IdKind;
use crate::json::{self, End, Member};
use crate::stamp;

/// How far into a line the schema's name is looked for: writers put it first.
const HEAD: usize = 160;

/// Is this a row of the schema `quoted_name` (given with its quotes)?
pub fn head(line: &[u8], quoted_name: &[u8]) -> bool {
    if line.first() != Some(&b'{') || line.starts_with(b"{\"time\":") {
        return false;
    }
    let Some(at) = memchr::memmem::find(&line[..line.len().min(HEAD)], quoted_name) else { return false };
    let before = line[..at].trim_ascii_end();
    before.strip_suffix(b":").is_some_and(|b| b.trim_ascii_end().ends_with(b"\"schema\""))
}

/// Parses one row.
pub fn parse<'a>(record: &'a [u8], event: &mut Event<'a>) -> Outcome {
    super::parse_enveloped(record, event, |inner, event| {
        event.kind = &kinds::TRACE_ROW;
        read(inner, event)
    })
}

/// Reads the row itself.
pub fn read<'a>(object: Span<'a>, event: &mut Event<'a>) -> End {
    let mut walk = json::members(object.bytes);
    for member in walk.by_ref() {
        let value = object.of(&member);
        match member.key {
            b"event_type" => {
                event.kind = kind(&member);
                row::scalar(event, "event_type", &member);
            }
            b"event_time_unix_ms" => stamp_at(value, event),
            b"agent_context" => agent_context(value, event),
            b"request" => request(value, event),
            b"payload" => payload(value, event),
            b"tool" => tool(value, event),
            b"schema" => row::scalar(event, "schema", &member),
            _ => row::named(event, &member),
        }
    }
    walk.end()
}

fn kind(member: &Member<'_>) -> &'static crate::event::Kind {
    match member.value {
        b"\"request_end\"" => &kinds::REQUEST_END,
        b"\"request_payload\"" => &kinds::REQUEST_PAYLOAD,
        b"\"tool_start\"" => &kinds::TOOL_START,
        b"\"tool_end\"" => &kinds::TOOL_END,
        b"\"tool_error\"" => &kinds::TOOL_ERROR,
        _ => &kinds::TRACE_ROW,
    }
}

/// The row's own time. The envelope's `timestamp` counts from the sink's start and is no date.
fn stamp_at(value: Span<'_>, event: &mut Event<'_>) {
    let ms = std::str::from_utf8(value.bytes).ok().and_then(|t| t.parse::<i64>().ok());
    if let Some(mut stamp) = ms.and_then(stamp::from_unix_ms) {
        stamp.at = value.at as u32;
        stamp.len = value.bytes.len() as u32;
        event.stamp = Some(stamp);
    }
}

/// Sessions, by the names of all versions.
pub fn agent_context<'a>(object: Span<'a>, event: &mut Event<'a>) {
    for member in json::members(object.bytes) {
        match member.key {
            b"session_id" => row::identity(event, IdKind::Session, &member),
            b"parent_session_id" => row::identity(event, IdKind::ParentSession, &member),
            b"trajectory_id" => row::identity_and_field(event, IdKind::Session, "trajectory_id", &member),
            b"parent_trajectory_id" => row::identity_and_field(event, IdKind::ParentSession, "parent_trajectory_id", &member),
            b"program_id" => row::identity_and_field(event, IdKind::Session, "program_id", &member),
            b"parent_program_id" => row::identity_and_field(event, IdKind::ParentSession, "parent_program_id", &member),
            b"agent_headers" => headers::read(object.of(&member), event),
            _ => row::named(event, &member),
        }
    }
}

fn request<'a>(object: Span<'a>, event: &mut Event<'a>) {
    for member in json::members(object.bytes) {
        match member.key {
            b"request_id" => row::identity(event, IdKind::RequestId, &member),
            b"x_request_id" => row::identity(event, IdKind::XRequestId, &member),
            b"worker" => workers(&member, event),
            b"replay" => replay(&member, event),
            b"finish_reason_metadata" => finish(&member, event),
            _ => row::named(event, &member),
        }
    }
}

fn workers<'a>(worker: &Member<'a>, event: &mut Event<'a>) {
    for member in json::members(worker.value) {
        match member.key {
            b"prefill_worker_id" => row::worker(event, "prefill_worker_id", &member),
            b"decode_worker_id" => row::worker(event, "decode_worker_id", &member),
            b"worker_id" => row::identity(event, IdKind::WorkerId, &member),
            _ => row::named(event, &member),
        }
    }
}

fn replay<'a>(replay: &Member<'a>, event: &mut Event<'a>) {
    for member in json::members(replay.value) {
        match member.key {
            b"input_sequence_hashes" => row::count(event, "replay_blocks", &member),
            _ => row::named(event, &member),
        }
    }
}

fn finish<'a>(finish: &Member<'a>, event: &mut Event<'a>) {
    for member in json::members(finish.value) {
        match member.key {
            b"tool_calls" => {
                row::count(event, "tool_calls", &member);
                for call in json::items(member.value) {
                    if let Some(id) = json::find(call.value, b"id") {
                        row::identity(event, IdKind::ToolCall, &id);
                    }
                }
            }
            b"choices" => row::count(event, "choices", &member),
            _ => row::named(event, &member),
        }
    }
}

fn payload<'a>(object: Span<'a>, event: &mut Event<'a>) {
    for member in json::members(object.bytes) {
        match member.key {
            b"request_id" => row::identity(event, IdKind::RequestId, &member),
            b"x_request_id" => row::identity(event, IdKind::XRequestId, &member),
            b"request" => body::request(object.of(&member), event),
            b"response" => body::response(object.of(&member), event),
            b"http_request_headers" => headers::read(object.of(&member), event),
            b"endpoint" | b"model" | b"payload_drop_reason" => row::named(event, &member),
            _ => body::unlisted(object.of(&member), event, &member),
        }
    }
}

fn tool<'a>(object: Span<'a>, event: &mut Event<'a>) {
    for member in json::members(object.bytes) {
        match member.key {
            b"tool_call_id" => row::identity(event, IdKind::ToolCall, &member),
            _ => row::named(event, &member),
        }
    }
}
