//! Values that stand inside a message's text, as versions up to 1.2 print routing decisions and as Debug output has them.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memmem;

use super::fields::{self, Reading};
use super::rows::{Row, Take};
use super::{kinds, prose};
use crate::event::{Event, Secret, Value};
use crate::ids::IdKind;
use crate::keyvalue;
use crate::secret::quoted_len;

/// What was read of a message.
#[derive(Clone, Copy, Debug)]
pub struct Taken {
    /// Bytes of the message (and what follows it) that were read; fields begin no earlier.
    pub len: usize,
    /// Every variable part of what was read is a field or an id.
    pub whole: bool,
}

/// Reads the values that `row` says the message has. `base` is where `message` stands in the payload.
pub fn take<'a>(row: &Row, message: &'a [u8], base: usize, event: &mut Event<'a>, reading: &mut Reading) -> Taken {
    let prefix = row.prefix.len();
    let rest = &message[prefix..];
    match row.take {
        Take::Nothing | Take::Pairs => Taken { len: prefix, whole: false },
        Take::Exact => Taken { len: prefix, whole: true },
        Take::Worker => {
            let end = worker(rest, event);
            Taken { len: prefix + end, whole: false }
        }
        Take::Request => {
            let word = word(rest);
            fields::id(event, IdKind::RequestId, Cow::Borrowed(word));
            Taken { len: prefix + word.len(), whole: true }
        }
        Take::WorkerStruct => {
            let len = worker_struct(rest, event);
            Taken { len: prefix + len, whole: true }
        }
        Take::Selection => {
            let len = selection(rest, event);
            Taken { len: prefix + len, whole: true }
        }
        Take::Formula => {
            let len = formula(rest, event);
            Taken { len: prefix + len, whole: false }
        }
        Take::Best => {
            let len = best(rest, event);
            Taken { len: prefix + len, whole: len > 0 }
        }
        Take::RouterEvent => {
            router_event(rest, event, reading);
            Taken { len: message.len(), whole: false }
        }
        Take::Counts(names) => {
            let len = counts(rest, names, event);
            if names.len() <= 1 || row.kind == &kinds::KVBM_OFFLOAD {
                tier(message, event);
            }
            Taken { len: prefix + len, whole: false }
        }
        Take::Injected => {
            let end = injected(rest, event);
            Taken { len: prefix + end, whole: end > 0 }
        }
        Take::HitRates => {
            let len = hit_rates(rest, event);
            Taken { len: prefix + len, whole: false }
        }
        Take::Config => {
            credentials(rest, base + prefix, event);
            Taken { len: message.len(), whole: false }
        }
        Take::Body => {
            let Some(at) = memmem::find(rest, b"request: ") else { return Taken { len: prefix, whole: false } };
            let from = prefix + at + b"request: ".len();
            event.withhold(base + from..base + message.len(), Secret::Body, "request");
            Taken { len: message.len(), whole: false }
        }
    }
}

/// Ids that the prose of a message names, for rows that do not read all of it themselves. `base` is where `message` stands.
pub fn prose<'a>(row: Option<&Row>, message: &'a [u8], base: usize, hidden: &[Range<usize>], event: &mut Event<'a>) {
    let open = row.is_none_or(|r| matches!(r.take, Take::Nothing | Take::Pairs | Take::Worker | Take::Request));
    if !open {
        return;
    }
    // What follows a body may be a part of it.
    let end = hidden.iter().filter(|body| body.end > base).map(|body| body.start.saturating_sub(base)).min();
    let message = &message[..end.unwrap_or(message.len()).min(message.len())];
    let text = match std::str::from_utf8(message) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&message[..error.valid_up_to()]).unwrap_or(""),
    };
    prose::read(&Cow::Borrowed(text), false, event);
}

/// `name=value, name=value` inside a JSONL message, as readable text has them for fields. A bracketed value is passed over.
pub fn pairs<'a>(message: &'a [u8], event: &mut Event<'a>, reading: &mut Reading) {
    let Ok(text) = std::str::from_utf8(message) else { return };
    reading.channel |= prose::of_channel(message);
    let mut rest = text;
    while let Some(equals) = rest.find('=') {
        let name = rest[..equals].rsplit([' ', ',']).next().unwrap_or("");
        let behind = &rest[equals + 1..];
        let end = behind.find([' ', ',', '{', '(']).unwrap_or(behind.len());
        rest = &behind[end..];
        let value = &behind[..end];
        let plain = !rest.trim_start().starts_with(['{', '(']) && !value.is_empty() && !value.contains('\\');
        if plain && !name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_') {
            fields::put(event, reading, name, Cow::Borrowed(value));
        }
    }
}

/// The ASCII text of bytes; empty if they are something else.
fn ascii(bytes: &[u8]) -> &str {
    if bytes.is_ascii() { std::str::from_utf8(bytes).unwrap_or("") } else { "" }
}

/// The word at the start: letters, digits, `-` and `_`.
fn word(bytes: &[u8]) -> &str {
    let end = bytes.iter().position(|b| !(b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))).unwrap_or(bytes.len());
    ascii(&bytes[..end])
}

fn digits(bytes: &[u8]) -> &str {
    let end = bytes.iter().position(|b| !b.is_ascii_digit()).unwrap_or(bytes.len());
    ascii(&bytes[..end])
}

/// The number at the start, `Some(…)` around it taken off, and the bytes it takes.
fn value(bytes: &[u8]) -> Option<(Value<'_>, usize)> {
    let end = bytes.iter().position(|b| matches!(b, b',' | b' ' | b'\n' | b'}')).unwrap_or(bytes.len());
    let text = ascii(&bytes[..end]);
    if text.is_empty() {
        return None;
    }
    Some((fields::typed(Cow::Borrowed(text)), end))
}

fn number<'a>(event: &mut Event<'a>, name: &'static str, text: &'a str) {
    if let Some(value) = keyvalue::number(text) {
        event.field(name, name, value);
    }
}

/// `N` and perhaps ` dp_rank N` behind it.
fn worker<'a>(rest: &'a [u8], event: &mut Event<'a>) -> usize {
    let id = digits(rest);
    fields::id(event, IdKind::WorkerId, Cow::Borrowed(id));
    let Some(tail) = rest[id.len()..].strip_prefix(b" dp_rank ") else { return id.len() };
    let rank = digits(tail);
    number(event, "dp_rank", rank);
    id.len() + b" dp_rank ".len() + rank.len()
}

/// ` { worker_id: N, dp_rank: N }`.
fn worker_struct<'a>(rest: &'a [u8], event: &mut Event<'a>) -> usize {
    let Some(tail) = rest.strip_prefix(b" { worker_id: ") else { return 0 };
    let id = digits(tail);
    fields::id(event, IdKind::WorkerId, Cow::Borrowed(id));
    let mut len = b" { worker_id: ".len() + id.len();
    if let Some(tail) = rest[len..].strip_prefix(b", dp_rank: ") {
        let rank = digits(tail);
        number(event, "dp_rank", rank);
        len += b", dp_rank: ".len() + rank.len();
    }
    if rest[len..].starts_with(b" }") { len + 2 } else { len }
}

/// (as printed, canonical name); an empty name is the worker's id.
static SELECTION: &[(&str, &str)] = &[
    ("worker_type=", "worker_type"),
    ("worker_id=", ""),
    ("dp_rank=", "dp_rank"),
    ("logit: ", "logit"),
    ("effective cached blocks: ", "effective_cached_blocks"),
    ("cached blocks: ", "cached_blocks"),
    ("host_pinned blocks: ", "host_pinned_blocks"),
    ("disk blocks: ", "disk_blocks"),
    ("total blocks: ", "total_blocks"),
    ("tree size: ", "tree_size"),
];

/// `worker_type=decode, worker_id=W dp_rank=D, logit: X, cached blocks: N, …`, as far as the pairs are known.
fn selection<'a>(rest: &'a [u8], event: &mut Event<'a>) -> usize {
    let mut len = 0;
    loop {
        let mut at = len;
        while matches!(rest.get(at), Some(b',' | b' ')) {
            at += 1;
        }
        if let Some(tail) = rest[at..].strip_prefix(b"WorkerWithDpRank") {
            let taken = worker_struct(tail, event);
            len = at + b"WorkerWithDpRank".len() + taken;
            continue;
        }
        let found = SELECTION.iter().find(|(key, _)| rest[at..].starts_with(key.as_bytes()));
        let Some((key, name)) = found else { return len };
        let from = at + key.len();
        let Some((value, end)) = value(&rest[from..]) else { return len };
        if name.is_empty() {
            fields::id(event, IdKind::WorkerId, Cow::Borrowed(ascii(&rest[from..from + end])));
        } else {
            event.field(name, key.trim_end_matches([' ', ':', '=']), value);
        }
        len = from + end;
    }
}

/// `worker_id=W dp_rank=D with N [effective] cached blocks: X = …`; the terms after the cost stay text.
fn formula<'a>(rest: &'a [u8], event: &mut Event<'a>) -> usize {
    let mut len = selection(rest, event);
    let Some(tail) = rest[len..].strip_prefix(b" with ") else { return len };
    let Some((blocks, end)) = value(tail) else { return len };
    let after = &tail[end..];
    let (name, label): (&'static str, &[u8]) = if after.starts_with(b" effective cached blocks: ") {
        ("effective_cached_blocks", b" effective cached blocks: ")
    } else if after.starts_with(b" cached blocks: ") {
        ("cached_blocks", b" cached blocks: ")
    } else {
        return len;
    };
    event.field(name, name, blocks);
    len += b" with ".len() + end + label.len();
    if let Some((cost, end)) = value(&rest[len..]) {
        event.field("logit", "logit", cost);
        len += end;
    }
    len
}

/// `worker_{W} dp_rank={D} with {o}/{t} blocks overlap`; 0 when it is not that.
fn best<'a>(rest: &'a [u8], event: &mut Event<'a>) -> usize {
    let Some(tail) = rest.strip_prefix(b"worker_") else { return 0 };
    let worker = digits(tail);
    let mut at = b"worker_".len() + worker.len();
    let Some(tail) = rest[at..].strip_prefix(b" dp_rank=") else { return 0 };
    let Some((rank, end)) = value(tail) else { return 0 };
    at += b" dp_rank=".len() + end;
    let Some(tail) = rest[at..].strip_prefix(b" with ") else { return 0 };
    let overlap = digits(tail);
    at += b" with ".len() + overlap.len();
    let Some(tail) = rest[at..].strip_prefix(b"/") else { return 0 };
    let total = digits(tail);
    at += 1 + total.len();
    if !rest[at..].starts_with(b" blocks overlap") {
        return 0;
    }
    fields::id(event, IdKind::WorkerId, Cow::Borrowed(worker));
    if event.get("dp_rank").is_none() {
        event.field("dp_rank", "dp_rank", rank);
    }
    if event.get("overlap_blocks").is_none() {
        number(event, "overlap_blocks", overlap);
    }
    if event.get("total_blocks").is_none() {
        number(event, "total_blocks", total);
    }
    at + b" blocks overlap".len()
}

/// `chat completion nvext: prefill=Some(W), decode=Some(W)`; 0 when it is not exactly that.
fn injected<'a>(rest: &'a [u8], event: &mut Event<'a>) -> usize {
    let lead = [&b"chat completion nvext: "[..], b"completions nvext: "].into_iter().find(|l| rest.starts_with(l));
    let Some(lead) = lead else { return 0 };
    let mut end = lead.len();
    for (label, name) in [(&b"prefill="[..], "prefill_worker_id"), (b", decode=", "decode_worker_id")] {
        let Some(tail) = rest[end..].strip_prefix(label) else { return 0 };
        let (worker, len) = match tail.strip_prefix(b"Some(") {
            Some(inner) => {
                let worker = digits(inner);
                (worker, b"Some(".len() + worker.len() + usize::from(inner.get(worker.len()) == Some(&b')')))
            }
            None if tail.starts_with(b"None") => ("", b"None".len()),
            None => return 0,
        };
        fields::id(event, IdKind::WorkerId, Cow::Borrowed(worker));
        if !worker.is_empty() && event.get(name).is_none() {
            event.field(name, name, Value::Str(Cow::Borrowed(worker)));
        }
        end += label.len() + len;
    }
    end
}

/// Withholds the string values of names such as `api_key` in JSON, whose quotes may be escaped as part of a JSON string.
fn credentials(rest: &[u8], base: usize, event: &mut Event<'_>) {
    let mut from = 0;
    while let Some(step) = memchr::memchr(b':', &rest[from..]) {
        let colon = from + step;
        from = colon + 1;
        let Some(name) = before(rest, colon) else { continue };
        if !is_credential(name) {
            continue;
        }
        let blanks = rest[from..].iter().take_while(|b| **b == b' ').count();
        let escaped = rest.get(from + blanks) == Some(&b'\\');
        let open = from + blanks + usize::from(escaped);
        if rest.get(open) != Some(&b'"') {
            continue;
        }
        let close: &[u8] = if escaped { b"\\\"" } else { b"\"" };
        let end = open + 1 + quoted_len(&rest[open + 1..], close);
        // No quote closes it: all that follows may be part of it.
        let end = if rest[end..].starts_with(close) { end } else { rest.len() };
        if end > open + 1 {
            event.withhold(base + open + 1..base + end, Secret::Credential, "credential");
        }
        from = end;
    }
}

/// The quoted name that ends right before `colon`.
fn before(rest: &[u8], colon: usize) -> Option<&[u8]> {
    let inner = rest[..colon].strip_suffix(b"\"")?;
    let inner = inner.strip_suffix(b"\\").unwrap_or(inner);
    let begin = memchr::memrchr(b'"', inner)? + 1;
    Some(&inner[begin..])
}

fn is_credential(name: &[u8]) -> bool {
    let name = name.to_ascii_lowercase();
    const ENDS: &[&str] = &["token", "apikey", "_key", "password", "secret", "passphrase", "authorization", "credentials"];
    ENDS.iter().any(|end| name.ends_with(end.as_bytes()))
}

/// The next numbers of the text, in order; returns the bytes up to the last one's end.
fn counts<'a>(rest: &'a [u8], names: &[&'static str], event: &mut Event<'a>) -> usize {
    let mut at = 0;
    let mut end = 0;
    for name in names {
        loop {
            let Some(b) = rest.get(at) else { return end };
            // A digit that follows a letter belongs to a name (`G2`), not to a count.
            if b.is_ascii_digit() && !(at > 0 && rest[at - 1].is_ascii_alphanumeric()) {
                break;
            }
            at += 1;
        }
        let text = digits(&rest[at..]);
        if event.get(name).is_none() {
            number(event, name, text);
        }
        at += text.len();
        end = at;
    }
    end
}

/// What follows the name of each tier: percent (of the blocks asked for below the GPU), found, asked for.
static HIT_RATES: &[(&[u8], [&str; 3])] = &[
    (b"Host: ", ["host_hit_percent", "host_hit_blocks", "host_queried_blocks"]),
    (b"Disk: ", ["disk_hit_percent", "disk_hit_blocks", "disk_queried_blocks"]),
];

/// `{id}] Cache Hit Rates - Host: 12.5% (1/8), Disk: 0.0% (0/7)`; returns the bytes read.
fn hit_rates<'a>(rest: &'a [u8], event: &mut Event<'a>) -> usize {
    let mut end = 0;
    if let Some(at) = memchr::memchr(b']', rest) {
        let id = ascii(&rest[..at]);
        if !id.is_empty() {
            event.field("kvbm_id", "id", Value::Str(Cow::Borrowed(id)));
        }
        end = at + 1;
    }
    for (label, names) in HIT_RATES {
        let Some(at) = memmem::find(&rest[end..], label) else { continue };
        end += at + label.len();
        for (name, close) in names.iter().zip([&b"% ("[..], b"/", b")"]) {
            let len = rest[end..].iter().take_while(|b| b.is_ascii_digit() || **b == b'.').count();
            if !rest[end + len..].starts_with(close) {
                break;
            }
            number(event, name, ascii(&rest[end..end + len]));
            end += len + close.len();
        }
    }
    end
}

/// The tier that a message names first.
fn tier(message: &[u8], event: &mut Event<'_>) {
    let mut best: Option<(usize, &'static str)> = None;
    for (text, name) in [("device tokens", "device"), ("host", "host"), ("Host", "host"), ("disk", "disk"), ("Disk", "disk")] {
        if let Some(at) = memmem::find(message, text.as_bytes())
            && best.is_none_or(|(b, _)| at < b)
        {
            best = Some((at, name));
        }
    }
    if let Some((_, name)) = best {
        event.field("tier", name, Value::Str(Cow::Borrowed(name)));
    }
}

/// `worker_id: N, storage_tier: Device, …, event: KvCacheEvent { event_id: 1, data: Stored(…), dp_rank: 0 } … size is 0`.
fn router_event<'a>(rest: &'a [u8], event: &mut Event<'a>, _reading: &mut Reading) {
    let after = |label: &str| memmem::find(rest, label.as_bytes()).map(|at| &rest[at + label.len()..]);
    if let Some(tail) = after("worker_id: ") {
        fields::id(event, IdKind::WorkerId, Cow::Borrowed(digits(tail)));
    }
    if let Some(tail) = after("event_id: ") {
        number(event, "event_id", digits(tail));
    }
    if let Some(tail) = after("storage_tier: ") {
        event.field("storage_tier", "storage_tier", Value::Str(Cow::Borrowed(word(tail))));
    }
    if let Some(tail) = after("residency_domain: ") {
        let known = tail.strip_prefix(b"Known(").unwrap_or(tail);
        event.field("residency_domain", "residency_domain", Value::Str(Cow::Borrowed(word(known))));
    }
    if let Some(tail) = after("data: ") {
        let name = match word(tail) {
            "Stored" => "stored",
            "Removed" => "removed",
            "Cleared" => "cleared",
            other => other,
        };
        event.field("kv_event", "data", Value::Str(Cow::Borrowed(name)));
        let (label, name): (&[u8], _) =
            if name == "stored" { (b"{ block_hash: ", "blocks") } else { (b"ExternalSequenceBlockHash(", "blocks") };
        let blocks = memmem::find_iter(tail, label).count();
        event.field(name, "blocks", Value::Int(blocks as i64));
        if let Some(at) = memmem::rfind(tail, b"dp_rank: ") {
            number(event, "dp_rank", digits(&tail[at + b"dp_rank: ".len()..]));
        }
        if let Some(at) = memmem::rfind(tail, b"now size is ") {
            number(event, "buffer_events", digits(&tail[at + b"now size is ".len()..]));
        }
    }
}
