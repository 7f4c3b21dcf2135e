//! The request log (`--log-requests`), as text (`Receive: obj=GenerateReqInput(…)`) and as JSON: both give the same names.
//!
//! Prompts, responses and token ids are withheld as exact spans; so are header values, but for the ids among them.

use memchr::memmem;

use super::bodies::{BODIES, guard, has_shape, headers, is_none, shaped_like_body, shapes, withhold, withhold_at};
use super::kinds;
use super::repeats;
use super::rules;
use super::values::{self, Item, Items};
use crate::event::{Event, Kind, Secret, Value};
use crate::ids::IdKind;
use crate::stamp;

/// Scalars of the request object and of an OpenAI body that become fields.
const OBJ_FIELDS: &[&str] = &[
    "stream",
    "model",
    "priority",
    "lora_path",
    "bootstrap_host",
    "bootstrap_port",
    "decode_tp_size",
    "routed_dp_rank",
    "data_parallel_rank",
    "disagg_prefill_dp_rank",
    "received_time",
    "background",
    "require_reasoning",
    "max_tokens",
    "max_completion_tokens",
    "max_new_tokens",
    "temperature",
    "ignore_eos",
];

/// What a text record is, and where `obj=` stands in it.
pub fn head(message: &[u8]) -> Option<(&'static Kind, usize)> {
    let (kind, len) = match message.first()? {
        b'R' if message.starts_with(b"Receive: obj=") => (&kinds::REQUEST_RECEIVED, 13),
        b'R' if message.starts_with(b"Receive OpenAI: obj=") => (&kinds::REQUEST_RECEIVED_OPENAI, 20),
        b'F' if message.starts_with(b"Finish: obj=") => (&kinds::REQUEST_FINISHED, 12),
        _ => return None,
    };
    Some((kind, len))
}

/// Reads a text record; `at` is what [`head`] gave.
pub fn parse_text<'a>(message: &'a [u8], at: usize, event: &mut Event<'a>) {
    // `obj=X(…), headers={…}, out={…}` reads as the arguments of a call.
    let mut at = at;
    let mut name: &[u8] = b"obj";
    loop {
        let end = text_part(name, message, at, event);
        // A top-level bracket that nothing opened: damaged text. What follows is not understood, so it is not shown either.
        if end < message.len() && message[end] != b',' {
            withhold(&(end..message.len()), Secret::Body, "rest", event);
            event.note = Some("damaged");
            return;
        }
        let rest = message.get(end + 1..).unwrap_or(b"");
        let blank = rest.iter().take_while(|b| **b == b' ').count();
        let next = [&b"headers="[..], b"out=", b"obj="].into_iter().find(|key| rest[blank..].starts_with(key));
        let Some(next) = next else {
            if !rest.is_empty() {
                withhold(&(end + 1..message.len()), Secret::Body, "rest", event);
            }
            return;
        };
        name = &next[..next.len() - 1];
        at = end + 1 + blank + next.len();
    }
}

/// Reads the part of a text record that begins at `at`; returns where it ends.
///
/// A call or a dict, which nearly all are, is read in one go: looking for its end first would read it twice.
fn text_part<'a>(name: &[u8], message: &'a [u8], at: usize, event: &mut Event<'a>) -> usize {
    let structure = match name {
        b"obj" => at + message[at..].iter().take(80).take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.')).count(),
        _ => at,
    };
    let closes = match (name, message.get(structure)) {
        (b"obj", Some(b'(')) => call(message, structure, event),
        (b"obj", Some(b'{')) => walk(message, structure, event, obj_item),
        (b"out", Some(b'{')) => walk(message, structure, event, out_item),
        _ => {
            let end = values::value_end(message, at);
            let open = end >= message.len() && !closed(&message[at..end]);
            part(name, message, &Item { key: 0..0, value: at..end, open }, event);
            return end;
        }
    };
    match closes {
        Some(end) => values::value_end(message, end),
        None => {
            event.note = Some("truncated");
            message.len()
        }
    }
}

/// Does a structure end with the bracket that closes it?
fn closed(text: &[u8]) -> bool {
    matches!(text.last(), Some(b')' | b'}' | b']'))
}

/// Where `meta_info` stands in a line that is the end of a finished request's record: journald and CRI split long lines, and the
/// further pieces bear no prefix.
pub fn tail(line: &[u8]) -> Option<usize> {
    let line = line.trim_ascii_end();
    if !line.ends_with(b"}}") || matches!(line.first(), Some(b'{' | b'[')) {
        return None;
    }
    // Longer than any `meta_info` whose lists are not logged.
    let from = line.len().saturating_sub(4096);
    let found = [&b"'meta_info': {"[..], b"\"meta_info\": {"].iter().find_map(|key| memmem::rfind(&line[from..], key));
    found.map(|at| from + at)
}

/// Reads such an end; `at` is what [`tail`] gave. What stands before it is the end of a body.
pub fn parse_tail<'a>(message: &'a [u8], at: usize, event: &mut Event<'a>) {
    event.kind = &kinds::REQUEST_FINISHED;
    event.note = Some("begins in mid-line");
    withhold(&(0..at), Secret::Body, "rest", event);
    each(message, at + b"'meta_info': ".len(), event, meta_item);
}

/// Is this the JSON of a request log or of scheduler.status?
pub fn is_json(message: &[u8]) -> bool {
    message.starts_with(b"{\"timestamp\": \"") && memmem::find(&message[..message.len().min(96)], b"\"event\": \"").is_some()
}

/// Reads a JSON record. Its own `timestamp` (local, microseconds) becomes the stamp: it is sharper than a prefix.
pub fn parse_json<'a>(message: &'a [u8], event: &mut Event<'a>) {
    event.kind = &kinds::SGLANG_LOG;
    let mut items = Items::new(message, 0);
    while let Some(item) = items.next() {
        let key = &message[item.key.clone()];
        let value = &message[item.value.clone()];
        match key {
            b"timestamp" => json_stamp(message, &item, event),
            b"event" => {
                event.kind = match value {
                    b"\"request.received\"" => &kinds::REQUEST_RECEIVED,
                    b"\"request.finished\"" => &kinds::REQUEST_FINISHED,
                    b"\"request.received.openai\"" => &kinds::REQUEST_RECEIVED_OPENAI,
                    b"\"scheduler.status\"" => &kinds::SCHEDULER_STATUS,
                    _ => event.kind,
                };
            }
            b"rank" => scalar_field("rank", value, event),
            b"running_rids" => counted_rids("running_reqs", value, event),
            b"queued_rids" => counted_rids("queue_reqs", value, event),
            _ => part(key, message, &item, event),
        }
        if item.open {
            break;
        }
    }
    if items.end.is_none() {
        event.note = Some("truncated");
    }
}

/// `isoformat()` leaves the fraction out when it is zero; the clock's microsecond is the resolution either way.
fn json_stamp(message: &[u8], item: &Item, event: &mut Event<'_>) {
    let Some(mut found) = stamp::read_iso(&message[(item.value.start + 1).min(item.value.end)..item.value.end]) else { return };
    found.width = found.width.min(1_000);
    found.at = u32::try_from(event.message.start + item.value.start + 1).unwrap_or(u32::MAX);
    event.stamp = Some(found);
}

fn counted_rids<'a>(name: &'static str, value: &'a [u8], event: &mut Event<'a>) {
    let before = event.ids.len();
    rules::rid_list(value, event);
    let count = event.ids.len() - before;
    event.field(name, "", Value::Int(count as i64));
}

/// One of a record's parts: the request, its headers, its outcome.
fn part<'a>(name: &[u8], message: &'a [u8], item: &Item, event: &mut Event<'a>) {
    let value = &message[item.value.clone()];
    match name {
        b"rid" => rid(value, event),
        b"obj" => object(message, item, event),
        b"headers" => headers(message, item, event),
        b"out" => out(message, item, event),
        _ => guard(name, message, item, event),
    }
    if item.open {
        event.note = Some("truncated");
    }
}

pub fn rid<'a>(value: &'a [u8], event: &mut Event<'a>) {
    if value.first() == Some(&b'[') {
        return rules::rid_list(value, event);
    }
    if let Some(text) = values::string(value) {
        rules::rid_text(text, event);
    }
}

/// The request: `GenerateReqInput(…)`, `{…}`, or a list of such.
fn object<'a>(message: &'a [u8], item: &Item, event: &mut Event<'a>) {
    let value = &message[item.value.clone()];
    if value.first() == Some(&b'[') {
        return dicts(message, item, event, obj_item);
    }
    let brackets = value.iter().take(80).position(|b| matches!(b, b'(' | b'{'));
    let Some(open) = brackets.map(|i| item.value.start + i) else {
        return guard(b"obj", message, item, event);
    };
    each(message, open, event, obj_item);
}

fn obj_item<'a>(key: &[u8], message: &'a [u8], item: &Item, event: &mut Event<'a>) {
    let value = &message[item.value.clone()];
    // Most members of a request are not set: they say nothing.
    if is_none(value) {
        return;
    }
    match key {
        b"rid" => rid(value, event),
        b"bootstrap_room" => rooms(value, event),
        b"session_id" => id_string(IdKind::Session, value, event),
        b"routing_key" => id_string(IdKind::RoutingKey, value, event),
        b"sampling_params" => dicts(message, item, event, obj_item),
        // What the client wants to read, or must not read, is text of its own.
        b"stop" | b"stop_regex" | b"regex" | b"ebnf" | b"json_schema" | b"structural_tag" | b"guided_regex" | b"guided_json"
        | b"guided_grammar" | b"guided_choice" | b"custom_params" | b"grammar" => {
            if !matches!(value, b"[]" | b"{}" | b"''" | b"\"\"") && matches!(value.first(), Some(b'\'' | b'"' | b'[' | b'{' | b'(')) {
                withhold_at(item, Secret::Body, "stop", event);
            }
        }
        b"response_format" => each(message, item.value.start, event, format_item),
        b"external_trace_header" => headers(message, item, event),
        b"cache_salt" | b"user" => withhold_at(item, Secret::Credential, "cache_salt", event),
        _ => {
            const SHAPES: [u64; 26] = shapes(OBJ_FIELDS);
            if has_shape(key, &SHAPES)
                && let Some(name) = OBJ_FIELDS.iter().find(|name| name.as_bytes() == key)
            {
                scalar_field(name, value, event);
            }
            guard(key, message, item, event);
        }
    }
}

/// `{'type': 'json_schema', 'json_schema': {…}}`: only the type is no text of the client.
fn format_item<'a>(key: &[u8], message: &'a [u8], item: &Item, event: &mut Event<'a>) {
    if key != b"type" && !is_none(&message[item.value.clone()]) {
        withhold_at(item, Secret::Body, "response_format", event);
    }
}

fn rooms<'a>(value: &'a [u8], event: &mut Event<'a>) {
    for room in value.split(|b| matches!(b, b'[' | b']' | b',' | b' ')) {
        rules::room(room, event);
    }
}

pub fn id_string<'a>(kind: IdKind, value: &'a [u8], event: &mut Event<'a>) {
    if let Some(text) = values::string(value)
        && !text.is_empty()
        && text.len() <= 512
    {
        rules::id_once(kind, text, event);
    }
}

/// The outcome: a dict, or a list of dicts for a batch.
fn out<'a>(message: &'a [u8], item: &Item, event: &mut Event<'a>) {
    if !matches!(message.get(item.value.start), Some(b'[' | b'{')) {
        return guard(b"out", message, item, event);
    }
    dicts(message, item, event, out_item);
}

/// Calls `with` for every item of a dict, or of each dict of a list. What else stands in the list is withheld if it is long.
fn dicts<'a>(message: &'a [u8], item: &Item, event: &mut Event<'a>, with: impl Fn(&[u8], &'a [u8], &Item, &mut Event<'a>)) {
    let mut at = item.value.start;
    let list = message.get(at) == Some(&b'[');
    if list {
        at += 1;
    }
    while at < item.value.end {
        let end = values::value_end(message, at).min(item.value.end);
        let blank = message[at..end].iter().take_while(|b| **b == b' ').count();
        if message.get(at + blank) == Some(&b'{') {
            each(message, at + blank, event, &with);
        } else if at + blank < end {
            guard(b"out", message, &Item { key: 0..0, value: at + blank..end, open: false }, event);
        }
        at = end + 1;
        if !list {
            break;
        }
    }
}

fn out_item<'a>(key: &[u8], message: &'a [u8], item: &Item, event: &mut Event<'a>) {
    match key {
        b"meta_info" => each(message, item.value.start, event, meta_item),
        _ => guard(key, message, item, event),
    }
}

/// One key of `meta_info` (also of a line of the metrics file): what SGLang measured of the request.
pub fn meta_item<'a>(key: &[u8], message: &'a [u8], item: &Item, event: &mut Event<'a>) {
    let value = &message[item.value.clone()];
    match key {
        b"id" => rid(value, event),
        b"finish_reason" => finish_reason(message, item, event),
        b"cached_tokens_details" => each(message, item.value.start, event, cached_item),
        _ => {
            let name = if is_name(key) { std::str::from_utf8(&message[item.key.clone()]).ok() } else { None };
            if let Some(name) = name
                && !(shaped_like_body(key) && BODIES.contains(&name))
                && let Some(typed) = values::scalar(value, 128)
            {
                // The key is part of the message: no allocation.
                event.fields.push(crate::event::Field { name: name.into(), raw: name.into(), value: typed });
                return;
            }
            guard(key, message, item, event);
        }
    }
}

fn is_name(name: &[u8]) -> bool {
    !name.is_empty() && name.len() <= 64 && name.iter().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || *b == b'_')
}

/// `{'type': 'stop', 'matched': 151645}`: the type; for aborts the status too. `matched` is a token id or stop string.
fn finish_reason<'a>(message: &'a [u8], item: &Item, event: &mut Event<'a>) {
    let value = &message[item.value.clone()];
    if value.first() != Some(&b'{') {
        return scalar_field("finish_reason", value, event);
    }
    each(message, item.value.start, event, |key, message, item, event| {
        let value = &message[item.value.clone()];
        match key {
            b"type" => scalar_field("finish_reason", value, event),
            b"status_code" => scalar_field("finish_status_code", value, event),
            b"err_type" => scalar_field("finish_error_type", value, event),
            b"matched" if value.first().is_some_and(|b| matches!(b, b'\'' | b'"' | b'[')) => {
                withhold_at(item, Secret::Body, "matched", event);
            }
            _ => {}
        }
    });
}

fn cached_item<'a>(key: &[u8], message: &'a [u8], item: &Item, event: &mut Event<'a>) {
    let name = match key {
        b"device" => "cached_device_tokens",
        b"host" => "cached_host_tokens",
        b"storage" => "cached_storage_tokens",
        b"storage_backend" => "storage_backend",
        _ => return,
    };
    scalar_field(name, &message[item.value.clone()], event);
}

/// Calls `with` for every item of the structure that opens at `open`; what does not end is withheld to its end.
pub fn each<'a>(message: &'a [u8], open: usize, event: &mut Event<'a>, with: impl Fn(&[u8], &'a [u8], &Item, &mut Event<'a>)) {
    walk(message, open, event, with);
}

/// [`walk`] of a request that is printed as a call. Runs of members of which nothing is taken, and there are many, are known again.
fn call<'a>(message: &'a [u8], open: usize, event: &mut Event<'a>) -> Option<usize> {
    let mut items = Items::new(message, open);
    // Where the run at hand began, and where its last member did.
    let mut run: Option<(usize, usize)> = None;
    loop {
        let at = items.start();
        if let Some(len) = repeats::known(message.get(at..)?) {
            items.skip(len);
            event.plain.push(event.message.start + at..event.message.start + at + len);
            run = None;
            continue;
        }
        let item = items.next();
        let before = taken(event);
        if let Some(item) = &item {
            if item.open {
                cut_off(item, event);
                return None;
            }
            obj_item(&message[item.key.clone()], message, item, event);
        }
        let says_nothing = taken(event) == before
            && item.as_ref().is_some_and(|item| matches!(&message[item.value.clone()], b"None" | b"True" | b"False" | b"[]" | b"{}"));
        match (says_nothing, run) {
            (true, None) => run = Some((at, at)),
            (true, Some((from, _))) => run = Some((from, at)),
            (false, Some((from, last))) => {
                repeats::learn(&message[from..if item.is_some() { at } else { last }]);
                run = None;
            }
            (false, None) => {}
        }
        if item.is_none() {
            return items.end;
        }
    }
}

/// How much was taken from a record so far.
fn taken(event: &Event<'_>) -> (usize, usize, usize, Option<&'static str>) {
    (event.fields.len(), event.ids.len(), event.withheld.len(), event.note)
}

/// The same; returns where the structure ends, behind its bracket, if it does.
fn walk<'a>(message: &'a [u8], open: usize, event: &mut Event<'a>, with: impl Fn(&[u8], &'a [u8], &Item, &mut Event<'a>)) -> Option<usize> {
    let mut items = Items::new(message, open);
    while let Some(item) = items.next() {
        if item.open {
            cut_off(&item, event);
            return None;
        }
        with(&message[item.key.clone()], message, &item, event);
    }
    items.end
}

/// The text ends inside this value: no key says where a body in it would end.
fn cut_off(item: &Item, event: &mut Event<'_>) {
    withhold_at(item, Secret::Body, "open", event);
    event.note = Some("truncated");
}

fn scalar_field<'a>(name: &'static str, value: &'a [u8], event: &mut Event<'a>) {
    if let Some(typed) = values::scalar(value, 256) {
        event.field(name, name, typed);
    }
}

/// The items of a request that stands alone as a JSON object.
pub fn parse_object<'a>(text: &'a [u8], event: &mut Event<'a>) {
    each(text, 0, event, obj_item);
}
