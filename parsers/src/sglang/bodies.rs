//! What of a request record is withheld: prompts, responses, token ids, header values, credentials.

use super::requests;
use super::rules;
use super::values::{Item, Items};
use crate::event::{Event, Secret};
use crate::ids::{self, IdKind};

/// Keys whose value is prompt, response or token ids, wherever they stand in a record.
pub const BODIES: &[&str] = &[
    "text",
    "input_ids",
    "input_embeds",
    "image_data",
    "video_data",
    "audio_data",
    "prompt",
    "messages",
    "input",
    "suffix",
    "tools",
    "functions",
    "instructions",
    "output_ids",
    "embedding",
    "token_ids_logprob",
    "positional_embed_overrides",
    "embed_overrides",
    "input_token_logprobs",
    "output_token_logprobs",
    "input_top_logprobs",
    "output_top_logprobs",
    "input_token_ids_logprobs",
    "output_token_ids_logprobs",
    "hidden_states",
    "routed_experts",
    "indexer_topk",
    "output_token_sampling_mask",
    "output_token_sampling_logprobs",
    "mm_content_hashes",
    "multi_item_delimiter_indices",
    "token_indices_to_pool",
    "prompt_token_ids",
    "content",
    "tool_calls",
    "reasoning_content",
];

/// Small structures that are settings or statistics, and stay visible.
const VISIBLE: &[&str] = &[
    "sampling_params",
    "finish_reason",
    "cached_tokens_details",
    "meta_info",
    "modalities",
    "session_params",
    "custom_labels",
    "spec_accept_histogram",
    "spec_correct_drafts_histogram",
    "spec_cap_lens_histogram",
    "rid",
    "stream_options",
    "response_format",
    "bootstrap_host",
    "bootstrap_port",
    "bootstrap_room",
];

/// Headers: each value withheld, unless it is an id.
pub fn headers<'a>(message: &'a [u8], item: &Item, event: &mut Event<'a>) {
    let mut items = Items::new(message, item.value.start);
    while let Some(header) = items.next() {
        let value = &message[header.value.clone()];
        if is_none(value) {
            continue;
        }
        match message[header.key.clone()].to_ascii_lowercase().as_slice() {
            b"x-smg-routing-key" => requests::id_string(IdKind::RoutingKey, value, event),
            b"x-request-id" => requests::id_string(IdKind::XRequestId, value, event),
            b"x-session-id" | b"x-dynamo-session-id" | b"x-override-conversation-id" => requests::id_string(IdKind::Session, value, event),
            b"x-override-rid" => requests::rid(value, event),
            b"traceparent" => traceparent(value, event),
            b"authorization" | b"x-api-key" | b"api-key" | b"cookie" | b"proxy-authorization" => {
                withhold_at(&header, Secret::Credential, "authorization", event);
            }
            _ => withhold_at(&header, Secret::Header, "header", event),
        }
        if header.open {
            withhold_at(&header, Secret::Header, "header", event);
        }
    }
}

fn traceparent<'a>(value: &'a [u8], event: &mut Event<'a>) {
    let Ok(text) = std::str::from_utf8(rules::unquote(value)) else { return };
    let (trace, span) = ids::traceparent(text);
    for (kind, id) in [(IdKind::TraceId, trace), (IdKind::SpanId, span)] {
        if let Some(id) = id {
            event.id(kind, id);
        }
    }
}

/// Withholds a value that is a body by its key, or that is long and of a key that is not known to be harmless.
pub fn guard(key: &[u8], message: &[u8], item: &Item, event: &mut Event<'_>) {
    let value = &message[item.value.clone()];
    if is_none(value) || value == b"[]" || value == b"{}" || value == b"''" || value == b"\"\"" {
        return;
    }
    if value.len() <= 256 && !shaped_like_body(key) {
        return;
    }
    let name = std::str::from_utf8(key).unwrap_or("");
    if let Some(name) = BODIES.iter().find(|body| **body == name) {
        return withhold_at(item, Secret::Body, name, event);
    }
    if value.len() > 256 && !VISIBLE.contains(&name) {
        withhold_at(item, Secret::Body, "value", event);
    }
}

/// Has a key the first letter and the length of one of [`BODIES`]? Most keys are told from them by that.
pub fn shaped_like_body(key: &[u8]) -> bool {
    const SHAPES: [u64; 26] = shapes(BODIES);
    has_shape(key, &SHAPES)
}

/// For each first letter the lengths of the names that begin with it, as bits. Names are lower case and shorter than 64.
pub const fn shapes(names: &[&str]) -> [u64; 26] {
    let mut lengths = [0u64; 26];
    let mut i = 0;
    while i < names.len() {
        let name = names[i].as_bytes();
        lengths[(name[0] - b'a') as usize] |= 1 << name.len();
        i += 1;
    }
    lengths
}

/// Could a key be one of the names that have these [`shapes`]?
pub fn has_shape(key: &[u8], shapes: &[u64; 26]) -> bool {
    let Some(first) = key.first().filter(|b| b.is_ascii_lowercase()) else { return false };
    key.len() < 64 && shapes[usize::from(first - b'a')] >> key.len() & 1 == 1
}

pub fn is_none(value: &[u8]) -> bool {
    matches!(value, b"None" | b"null" | b"")
}

pub fn withhold_at(item: &Item, why: Secret, name: &'static str, event: &mut Event<'_>) {
    withhold(&item.value, why, name, event);
}

pub fn withhold(span: &std::ops::Range<usize>, why: Secret, name: &'static str, event: &mut Event<'_>) {
    let at = event.message.start;
    if !span.is_empty() {
        event.withhold(at + span.start..at + span.end, why, name);
    }
}
