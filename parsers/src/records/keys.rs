//! What a JSON key says of its value: a body, a credential, headers, an id, or nothing in particular.

use std::borrow::Cow;

use crate::event::Secret;
use crate::ids::IdKind;

/// What the value of a key is taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A scalar, or an object to be walked.
    Plain,
    /// Text of a user or a model, or token ids: withheld under this name unless it is a single number or bool.
    Body(&'static str),
    /// The alternatives of a response: finish reasons are read, the rest is withheld.
    Choices,
    /// HTTP headers.
    Headers,
    /// Withheld whatever it is.
    Credential,
    /// Withheld if it is text; a number under this name is a count.
    Token,
    Id(IdKind),
    /// A worker in a part that the name says: an id and, exact as text, a field.
    WorkerPart,
    /// `00-<trace id>-<span id>-<flags>`.
    TraceParent,
    /// The record's own id, a request's only if it has the form of one.
    OwnId,
    /// The id of a response, a request's only if it has the form of one.
    ResponseId,
}

/// A key in snake case: `traceId` and `Trace-Id` are `trace_id`. Escapes in the key are resolved, so that none hides a name.
pub fn snake(key: &[u8]) -> Cow<'_, str> {
    if key.iter().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || *b == b'_') {
        return String::from_utf8_lossy(key);
    }
    let mut text = String::from_utf8_lossy(key);
    if memchr::memchr(b'\\', key).is_some()
        && let Ok(plain) = serde_json::from_str::<String>(&format!("\"{text}\""))
    {
        text = Cow::Owned(plain);
    }
    let mut out = String::with_capacity(text.len() + 4);
    let mut before = ' ';
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c.is_ascii_uppercase() {
            let inside = before.is_ascii_lowercase() || before.is_ascii_digit();
            let last_of_many = before.is_ascii_uppercase() && chars.peek().is_some_and(char::is_ascii_lowercase);
            if inside || last_of_many {
                out.push('_');
            }
            out.push(c.to_ascii_lowercase());
        } else if c.is_ascii() && !c.is_ascii_alphanumeric() {
            if !out.is_empty() && !out.ends_with('_') {
                out.push('_');
            }
        } else {
            out.push(c);
        }
        before = c;
    }
    while out.ends_with('_') {
        out.pop();
    }
    Cow::Owned(out)
}

/// The role of a key in snake case.
pub fn role(name: &str) -> Role {
    match name {
        "choices" => Role::Choices,
        "headers" => Role::Headers,
        "rid" => Role::Id(IdKind::Rid),
        "request_id" | "req_id" | "dynamo_request_id" | "x_dynamo_request_id" | "client_dynamo_request_id" => Role::Id(IdKind::RequestId),
        "x_request_id" => Role::Id(IdKind::XRequestId),
        "session" | "session_id" | "x_session_id" | "dynamo_session_id" | "x_dynamo_session_id" | "conversation_id" => {
            Role::Id(IdKind::Session)
        }
        "parent_session" | "parent_session_id" | "dynamo_parent_session_id" | "x_dynamo_parent_session_id" => {
            Role::Id(IdKind::ParentSession)
        }
        "trace_id" => Role::Id(IdKind::TraceId),
        "span_id" => Role::Id(IdKind::SpanId),
        "traceparent" => Role::TraceParent,
        "worker_id" | "instance_id" => Role::Id(IdKind::WorkerId),
        "bootstrap_room" => Role::Id(IdKind::BootstrapRoom),
        "tool_call_id" => Role::Id(IdKind::ToolCall),
        "x_smg_routing_key" => Role::Id(IdKind::RoutingKey),
        "id" => Role::OwnId,
        "response_id" | "resp_id" => Role::ResponseId,
        _ => by_part(name),
    }
}

/// Bodies by their whole name. Names of counts (`prompt_tokens`, `content_chars`) and types (`content_type`) are others.
const BODIES: &[&str] = &[
    "answer",
    "arguments",
    "audio",
    "audio_data",
    "body",
    "chat_history",
    "completion",
    "completions",
    "content",
    "contents",
    "conversation",
    "conversations",
    "delta",
    "documents",
    "embedding",
    "embeddings",
    "function_call",
    "history",
    "image_data",
    "image_url",
    "images",
    "input",
    "input_embeds",
    "input_ids",
    "inputs",
    "instructions",
    "logprobs",
    "messages",
    "output",
    "output_ids",
    "outputs",
    "prompt",
    "prompts",
    "question",
    "raw",
    "reasoning",
    "reasoning_content",
    "request_parameters",
    "response",
    "responses",
    "system_prompt",
    "text",
    "texts",
    "thinking",
    "token_ids",
    "tokens",
    "tool_arguments",
    "tool_calls",
    "tools",
    "video_data",
];

/// Bodies by how the name ends: `prompt_text`, `generated_text`, `prompt_token_ids`, `response_body`.
const BODY_ENDS: &[(&str, &str)] = &[
    ("_text", "text"),
    ("_prompt", "prompt"),
    ("_content", "content"),
    ("_messages", "messages"),
    ("_input_ids", "input_ids"),
    ("_output_ids", "output_ids"),
    ("_token_ids", "token_ids"),
    ("_logprobs", "logprobs"),
    ("request_body", "body"),
    ("response_body", "body"),
];

const CREDENTIALS: &[&str] =
    &["access_key", "api_key", "apikey", "authorization", "cookie", "credential", "passwd", "password", "private_key", "secret"];

/// A name that contains one of [`CREDENTIALS`]; a letter is looked at before any of them is compared.
fn has_credential(name: &[u8]) -> bool {
    for (at, first) in name.iter().enumerate() {
        if matches!(first, b'a' | b'c' | b'p' | b's') && CREDENTIALS.iter().any(|c| name[at..].starts_with(c.as_bytes())) {
            return true;
        }
    }
    false
}

/// What stands before `_token` in the name of a count or a time.
const COUNTED: &[&str] = &["first", "second", "last", "new", "max", "per", "output", "input"];

fn by_part(name: &str) -> Role {
    if let Ok(at) = BODIES.binary_search(&name) {
        return Role::Body(BODIES[at]);
    }
    if let Some((_, body)) = BODY_ENDS.iter().find(|(end, _)| name.ends_with(end)) {
        return Role::Body(body);
    }
    if name.ends_with("_headers") {
        return Role::Headers;
    }
    if name.ends_with("_worker_id") {
        return Role::WorkerPart;
    }
    if has_credential(name.as_bytes()) {
        return Role::Credential;
    }
    let secret = name == "token" || name == "bearer" || name.ends_with("_token");
    // `time_to_first_token`, `time_per_output_token`: which of the tokens, not one.
    let counted = COUNTED.iter().any(|c| name.strip_suffix("_token").is_some_and(|n| n.ends_with(c)));
    if secret && !counted {
        return Role::Token;
    }
    Role::Plain
}

/// Names longer than this are none that is known.
const MAX_NAME: usize = 64;

/// Does this text hold, under a name of its own, what would be withheld as a member: JSON inside a string, `text='…'`,
/// `--api-key …`, `HF_TOKEN=…`? Linear in the text.
pub fn secret_inside(text: &[u8]) -> Option<Secret> {
    let mut found = None;
    for at in memchr::memchr2_iter(b'=', b':', text) {
        let (name, quoted) = name_before(&text[..at]);
        if !name.iter().any(u8::is_ascii_alphabetic) {
            continue;
        }
        let rest = text[at + 1..].trim_ascii_start();
        let quote = matches!(rest.first(), Some(b'"' | b'\'' | b'\\' | b'[' | b'{'));
        let assigned = text[at] == b'=';
        match role(&snake(name)) {
            Role::Credential if assigned || quoted => return Some(Secret::Credential),
            Role::Token if (assigned || quoted) && !starts_with_number(rest) => return Some(Secret::Credential),
            Role::Body(_) | Role::Choices | Role::Headers if quoted || assigned && quote => found = Some(Secret::Body),
            _ => {}
        }
    }
    for at in memchr::memchr_iter(b'-', text) {
        let Some(name) = text[at..].strip_prefix(b"--") else { continue };
        // Of a name that is longer than any that is known, or at the end of the text, no value follows.
        let Some(end) = name.iter().take(MAX_NAME + 1).position(|b| !is_name(*b)) else { continue };
        let rest = name[end..].trim_ascii_start();
        let value = name[end] == b' ' && !rest.is_empty() && rest[0] != b'-';
        if value && is_flag_of_credential(&name[..end]) && !(starts_with_number(rest)) {
            return Some(Secret::Credential);
        }
    }
    found
}

/// `api-key` of `--api-key`.
pub fn is_flag_of_credential(name: &[u8]) -> bool {
    matches!(role(&snake(name)), Role::Credential | Role::Token)
}

fn is_name(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_' || b == b'-'
}

fn starts_with_number(rest: &[u8]) -> bool {
    let len = rest.iter().take_while(|b| b.is_ascii_digit() || **b == b'.').count();
    len > 0 && rest.get(len).is_none_or(|b| !is_name(*b))
}

/// The name that ends at the end of `text`, and whether a quote closes it. Names longer than 64 bytes are none that is known.
fn name_before(text: &[u8]) -> (&[u8], bool) {
    let text = text.trim_ascii_end();
    let bare = text.strip_suffix(b"\"").or_else(|| text.strip_suffix(b"'")).map(|t| t.strip_suffix(b"\\").unwrap_or(t));
    let quoted = bare.is_some();
    let text = bare.unwrap_or(text);
    let len = text.iter().rev().take(MAX_NAME).take_while(|b| is_name(**b)).count();
    (&text[text.len() - len..], quoted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_snake_and_bodies_sorted() {
        for (key, name) in [
            ("x-request-id", "x_request_id"),
            ("X-Request-ID", "x_request_id"),
            ("traceId", "trace_id"),
            ("HTTPServer", "http_server"),
            ("otel.kind", "otel_kind"),
            ("#new-token", "new_token"),
            ("@timestamp", "timestamp"),
            ("pro\\u006dpt", "prompt"),
        ] {
            assert_eq!(snake(key.as_bytes()), name);
        }
        assert!(BODIES.is_sorted());
    }

    #[test]
    fn roles() {
        assert_eq!(role("prompt"), Role::Body("prompt"));
        assert_eq!(role("prompt_text"), Role::Body("text"));
        for plain in ["prompt_tokens", "content_type", "content_chars", "time_to_first_token_ms", "text_tokens", "error_body", "message"] {
            assert_eq!(role(plain), Role::Plain, "{plain}");
        }
        assert_eq!(role("resp_headers"), Role::Headers);
        assert_eq!(role("openai_api_key"), Role::Credential);
        assert_eq!(role("hf_token"), Role::Token);
        assert_eq!((role("time_to_first_token"), role("time_per_output_token")), (Role::Plain, Role::Plain));
        assert_eq!(role("decode_worker_id"), Role::WorkerPart);
    }

    #[test]
    fn secrets_inside_text() {
        for (text, why) in [
            (r#"{\"prompt\": \"x\"}"#, Some(Secret::Body)),
            ("GenerateReqInput(rid='a', text='x')", Some(Secret::Body)),
            ("{'messages': []}", Some(Secret::Body)),
            ("python -m x --api-key abc", Some(Secret::Credential)),
            ("HF_TOKEN=hf_x python", Some(Secret::Credential)),
            ("--max-token 12 --first-token=3", None),
            ("the text: all well, prompt = 3", None),
            ("--api-key", None),
        ] {
            assert_eq!(secret_inside(text.as_bytes()), why, "{text}");
        }
    }
}
