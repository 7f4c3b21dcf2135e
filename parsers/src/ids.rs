//! Identities that records carry, and the one spelling under which each is found.

use std::borrow::Cow;

/// What an identity names. A query field finds one or more of these (see [`IdKind::field`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum IdKind {
    /// SGLang's request id, made by each server unless the client passes one.
    Rid,
    /// Dynamo's request id, made by the frontend; engines use it as their rid.
    RequestId,
    /// The client's `x-request-id` header; not unique when the client repeats it.
    XRequestId,
    /// A session as the client named it.
    Session,
    /// The session that a session descends from.
    ParentSession,
    /// W3C trace id, 32 hex digits.
    TraceId,
    /// W3C span id, 16 hex digits.
    SpanId,
    /// The key that SGLang's prefill and decode servers share for one request.
    BootstrapRoom,
    /// A serving process, u64 (decimal in Dynamo logs and traces, hex in its metrics).
    WorkerId,
    /// A tool call inside a session.
    ToolCall,
    /// An unconfirmed `request_id=` that the upstream prints beside the real one.
    Decoy,
    /// A header value that routes requests, such as `x-smg-routing-key`.
    RoutingKey,
}

impl IdKind {
    /// Every kind, each once.
    pub const ALL: [IdKind; 12] = [
        IdKind::Rid,
        IdKind::RequestId,
        IdKind::XRequestId,
        IdKind::Session,
        IdKind::ParentSession,
        IdKind::TraceId,
        IdKind::SpanId,
        IdKind::BootstrapRoom,
        IdKind::WorkerId,
        IdKind::ToolCall,
        IdKind::Decoy,
        IdKind::RoutingKey,
    ];

    /// The kind that a query field finds.
    pub fn of_field(field: &str) -> Option<IdKind> {
        IdKind::ALL.into_iter().find(|kind| kind.field() == field)
    }

    /// The query field that finds this kind.
    pub fn field(self) -> &'static str {
        match self {
            IdKind::Rid => "rid",
            IdKind::RequestId => "request_id",
            IdKind::XRequestId => "x_request_id",
            IdKind::Session => "session",
            IdKind::ParentSession => "parent_session",
            IdKind::TraceId => "trace_id",
            IdKind::SpanId => "span_id",
            IdKind::BootstrapRoom => "bootstrap_room",
            IdKind::WorkerId => "worker_id",
            IdKind::ToolCall => "tool_call",
            IdKind::Decoy => "decoy_request_id",
            IdKind::RoutingKey => "routing_key",
        }
    }
}

/// One identity in a record: what it names and the text that stands there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Id<'a> {
    /// What it names.
    pub kind: IdKind,
    /// The id as printed, without quotes.
    pub text: Cow<'a, str>,
}

/// The spelling under which an id is indexed and compared, written into `out` (cleared first).
///
/// Prefixes of OpenAI response ids (`chatcmpl-`, `cmpl-`, in any case) go, a UUID loses its dashes, hex digits are lower case, and a worker id is
/// its u64 in decimal whether it was printed as decimal or as hex. So `chatcmpl-EDF9ED01-3219-…` and `edf9ed013219…` are one id.
pub fn canonical(kind: Option<IdKind>, text: &str, out: &mut String) {
    out.clear();
    let text = without(text, "chatcmpl-").or_else(|| without(text, "cmpl-")).unwrap_or(text);
    if kind == Some(IdKind::WorkerId)
        && let Some(worker) = worker_id(text)
    {
        use std::fmt::Write;
        let _ = write!(out, "{worker}");
        return;
    }
    if is_uuid(text) {
        out.extend(text.bytes().filter(|b| *b != b'-').map(|b| b.to_ascii_lowercase() as char));
        return;
    }
    if text.len() >= 16 && text.bytes().all(|b| b.is_ascii_hexdigit()) {
        out.push_str(text);
        out.make_ascii_lowercase();
        return;
    }
    out.push_str(text);
}

/// The text behind a prefix in any case.
fn without<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let head = text.get(..prefix.len())?;
    if head.eq_ignore_ascii_case(prefix) { text.get(prefix.len()..) } else { None }
}

/// A worker id as u64: decimal digits, or hex with at least one letter (with or without `0x`).
pub fn worker_id(text: &str) -> Option<u64> {
    if let Some(hex) = text.strip_prefix("0x") {
        return from_hex(hex);
    }
    if text.is_empty() || text.len() > 20 {
        return None;
    }
    if text.bytes().all(|b| b.is_ascii_digit()) {
        return text.parse().ok();
    }
    // A hex worker id has no leading zeros, so 15 or 16 digits cover 255 of 256 ids; shorter text is taken as a name.
    if (12..=16).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_hexdigit()) {
        return from_hex(text);
    }
    None
}

/// The number of up to 16 hex digits, without a sign.
pub fn from_hex(digits: &str) -> Option<u64> {
    if digits.starts_with('+') { None } else { u64::from_str_radix(digits, 16).ok() }
}

/// Is this `len` hex digits and nothing else?
pub fn is_hex(text: &str, len: usize) -> bool {
    text.len() == len && text.bytes().all(|b| b.is_ascii_hexdigit())
}

/// The trace id and the span id of a W3C `traceparent`: `00-{32 hex}-{16 hex}-01`. Each is `None` where it has not that form.
pub fn traceparent(text: &str) -> (Option<&str>, Option<&str>) {
    let mut parts = text.split('-').skip(1);
    let trace = parts.next().filter(|id| is_hex(id, 32));
    let span = parts.next().filter(|id| is_hex(id, 16));
    (trace, span)
}

/// Is this the 8-4-4-4-12 form?
pub fn is_uuid(text: &str) -> bool {
    let b = text.as_bytes();
    b.len() == 36
        && b.iter().enumerate().all(|(i, c)| match i {
            8 | 13 | 18 | 23 => *c == b'-',
            _ => c.is_ascii_hexdigit(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(kind: Option<IdKind>, text: &str) -> String {
        let mut out = String::new();
        canonical(kind, text, &mut out);
        out
    }

    #[test]
    fn a_sign_is_no_hex_digit() {
        assert_eq!(worker_id("0x2a"), Some(42));
        assert_eq!(worker_id("0x+2a"), None);
    }

    #[test]
    fn traceparents() {
        let (trace, span) = ("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7");
        assert_eq!(traceparent(&format!("00-{trace}-{span}-01")), (Some(trace), Some(span)));
        assert_eq!(traceparent(&format!("00-{trace}-{}-01", &span[1..])), (Some(trace), None));
        assert_eq!(traceparent(&format!("00-{}g-{span}-01", &trace[1..])), (None, Some(span)));
        assert_eq!(traceparent(trace), (None, None));
    }

    #[test]
    fn one_request_has_one_key() {
        let want = "edf9ed0132194585a510233214f462c1";
        assert_eq!(key(None, "chatcmpl-edf9ed01-3219-4585-a510-233214f462c1"), want);
        assert_eq!(key(Some(IdKind::RequestId), "EDF9ED01-3219-4585-A510-233214F462C1"), want);
        assert_eq!(key(Some(IdKind::Rid), want), want);
        assert_eq!(key(None, "CHATCMPL-EDF9ED01-3219-4585-A510-233214F462C1"), want);
        assert_eq!(key(None, "Cmpl-edf9ed0132194585a510233214f462c1"), want);
        assert_eq!(key(None, "chatcmplé"), "chatcmplé");
    }

    #[test]
    fn hex_and_decimal_worker_are_one() {
        assert_eq!(key(Some(IdKind::WorkerId), "fff415b5e1955412"), "18443390244906947602");
        assert_eq!(key(Some(IdKind::WorkerId), "18443390244906947602"), "18443390244906947602");
        assert_eq!(key(Some(IdKind::WorkerId), "375ed0a35302a7c9"), "3989855719787767753");
        assert_eq!(key(Some(IdKind::WorkerId), "decode-0"), "decode-0");
    }
}
