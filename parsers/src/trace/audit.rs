//! Audit records v1 (0.6 to 1.3): `{"schema_version":1,"request_id":…,"request":{…},"response":{…}}`, bare, in the sink's envelope, or in a log line.

use super::row::{self, Span};
use super::{body, kinds};
use crate::event::{Event, Outcome};
use crate::ids::IdKind;
use crate::json::{self, End};

/// `{"schema_version":1,"request_id":` at the start, or behind the envelope's head.
pub fn head(line: &[u8]) -> bool {
    let Some(inner) = super::inside_envelope(line) else { return false };
    let Some(rest) = inner.strip_prefix(b"{\"schema_version\":") else { return false };
    let version = rest.iter().take_while(|b| b.is_ascii_digit()).count();
    version > 0 && rest[version..].starts_with(b",\"request_id\":")
}

/// Parses one record. It has no date: the event gets no stamp.
pub fn parse<'a>(record: &'a [u8], event: &mut Event<'a>) -> Outcome {
    super::parse_enveloped(record, event, |inner, event| {
        event.kind = &kinds::AUDIT_RECORD;
        read(inner, event)
    })
}

/// Reads the record itself.
pub fn read<'a>(object: Span<'a>, event: &mut Event<'a>) -> End {
    let mut walk = json::members(object.bytes);
    for member in walk.by_ref() {
        match member.key {
            b"request_id" => row::identity(event, IdKind::RequestId, &member),
            b"request" => body::request(object.of(&member), event),
            b"response" => body::response(object.of(&member), event),
            b"model" => row::named(event, &member),
            _ => body::unlisted(object.of(&member), event, &member),
        }
    }
    walk.end()
}
