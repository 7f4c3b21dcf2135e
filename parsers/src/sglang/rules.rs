//! Messages with a fixed shape: a rule is a pattern with holes, the kind it means, and nothing else.
//!
//! A pattern is literal text with holes: `{name}` takes the text up to the next literal (or the end of the message) as a field, `{rid}`
//! and `{room}` take ids, `{_}` takes text that is only message, `{body}` text that is withheld, and `{=}` at the end reads `key=value` and `key: value` items out of
//! the rest. A message may go on behind the pattern's last literal.

use std::borrow::Cow;
use std::sync::OnceLock;

use memchr::{memchr, memmem};

use super::batch::snake;
use super::values;
use super::{admin, hicache, lifecycle, memory, pd};
use crate::event::{Event, Field, Kind, Secret, Value};
use crate::ids::IdKind;
use crate::keyvalue;

/// A message's shape and its kind.
#[derive(Debug)]
pub struct Rule {
    pub pattern: &'static str,
    pub kind: &'static Kind,
}

/// For the tables of rules.
pub const fn rule(pattern: &'static str, kind: &'static Kind) -> Rule {
    Rule { pattern, kind }
}

/// The tables, in the order in which they are tried.
static TABLES: &[&[Rule]] = &[lifecycle::RULES, hicache::RULES, pd::RULES, memory::RULES, admin::RULES];

/// Rules by the first byte of their pattern; those that begin with a hole stand last, under `{`.
fn index() -> &'static [Vec<&'static Rule>] {
    static INDEX: OnceLock<Vec<Vec<&'static Rule>>> = OnceLock::new();
    INDEX.get_or_init(|| {
        let mut index = vec![Vec::new(); 256];
        for table in TABLES {
            for rule in *table {
                if let Some(first) = rule.pattern.as_bytes().first() {
                    index[usize::from(*first)].push(rule);
                }
            }
        }
        index
    })
}

/// Gives the event the kind, fields and ids of the first rule that holds; `false` when none does.
pub fn apply<'a>(message: &'a [u8], event: &mut Event<'a>) -> bool {
    let Some(first) = message.first() else { return false };
    let index = index();
    for rule in index[usize::from(*first)].iter().chain(&index[usize::from(b'{')]) {
        let (fields, ids, withheld) = (event.fields.len(), event.ids.len(), event.withheld.len());
        if matches(rule.pattern, message, event) {
            event.kind = rule.kind;
            return true;
        }
        event.fields.truncate(fields);
        event.ids.truncate(ids);
        event.withheld.truncate(withheld);
    }
    false
}

/// Does a message begin as the pattern says? Fills the holes into `event`; what it filled before it failed is the caller's to take back.
pub(crate) fn matches<'a>(pattern: &'static str, message: &'a [u8], event: &mut Event<'a>) -> bool {
    let mut pattern = pattern;
    let mut rest = message;
    loop {
        let open = memchr(b'{', pattern.as_bytes()).unwrap_or(pattern.len());
        let Some(after) = rest.strip_prefix(&pattern.as_bytes()[..open]) else { return false };
        rest = after;
        let Some(hole) = pattern[open..].strip_prefix('{') else { return true };
        let close = memchr(b'}', hole.as_bytes()).unwrap_or(hole.len());
        let name = &hole[..close];
        pattern = hole.get(close + 1..).unwrap_or("");
        if name == "=" {
            items(rest, event);
            return true;
        }
        let next = memchr(b'{', pattern.as_bytes()).unwrap_or(pattern.len());
        let taken = if next == 0 {
            rest.len()
        } else {
            match memmem::find(rest, &pattern.as_bytes()[..next]) {
                Some(at) => at,
                None => return false,
            }
        };
        if name == "body" {
            let at = event.message.start + message.len() - rest.len();
            event.withhold(at..at + taken, Secret::Body, "resp");
        } else {
            fill(name, &rest[..taken], event);
        }
        rest = &rest[taken..];
    }
}

/// One hole's text.
fn fill<'a>(name: &'static str, text: &'a [u8], event: &mut Event<'a>) {
    let text = text.trim_ascii();
    match name {
        "_" => {}
        "rid" => rid(unquote(text), event),
        "room" => room(text, event),
        "rids" => rid_list(text, event),
        _ => {
            let text = String::from_utf8_lossy(unquote(text));
            // A rank in the message repeats the tag.
            if !text.is_empty() && event.get(name).is_none() {
                event.fields.push(Field { name: Cow::Borrowed(name), raw: Cow::Borrowed(name), value: keyvalue::typed(text) });
            }
        }
    }
}

/// Adds a request id. Health probes are requests too: they are marked, so that counts can leave them out.
pub fn rid<'a>(text: &'a [u8], event: &mut Event<'a>) {
    rid_text(String::from_utf8_lossy(text), event);
}

/// Adds a request id that is already text.
pub fn rid_text<'a>(text: Cow<'a, str>, event: &mut Event<'a>) {
    if text.is_empty() || text == "None" || text == "null" || text.len() > 512 {
        return;
    }
    if text.starts_with("HEALTH_CHECK_") {
        probe(event);
    }
    id_once(IdKind::Rid, text, event);
}

/// Marks the record as one about a health probe or warm-up.
fn probe(event: &mut Event<'_>) {
    if event.get("probe").is_none() {
        event.field("probe", "", Value::Bool(true));
    }
}

/// Adds a bootstrap room. Room 0 is shared by all warm-ups and probes, so such a record is marked as one.
pub fn room<'a>(text: &'a [u8], event: &mut Event<'a>) {
    let text = unquote(text);
    if text.is_empty() || text.len() > 20 || !text.iter().all(u8::is_ascii_digit) {
        return;
    }
    if text.iter().all(|b| *b == b'0') {
        probe(event);
    }
    id_once(IdKind::BootstrapRoom, String::from_utf8_lossy(text), event);
}

/// Adds an id unless it is among the last ones already. (All of them would make a damaged line of many ids cost its square.)
pub fn id_once<'a>(kind: IdKind, text: Cow<'a, str>, event: &mut Event<'a>) {
    if !event.ids.iter().rev().take(64).any(|id| id.kind == kind && id.text == text) {
        event.id(kind, text);
    }
}

/// Adds every id of `['a', 'b']`, `["a"]` or `[a, b]`. A list is printed in one go: its ids are not compared with each other.
pub fn rid_list<'a>(text: &'a [u8], event: &mut Event<'a>) {
    let inner = text.trim_ascii();
    let inner = inner.strip_prefix(b"[").unwrap_or(inner);
    let inner = inner.strip_suffix(b"]").unwrap_or(inner);
    for part in inner.split(|b| *b == b',') {
        let part = unquote(part.trim_ascii());
        if part.is_empty() || part.len() > 512 {
            continue;
        }
        if part.starts_with(b"HEALTH_CHECK_") {
            probe(event);
        }
        event.id(IdKind::Rid, String::from_utf8_lossy(part));
    }
}

/// Without one pair of quotes around it.
pub fn unquote(text: &[u8]) -> &[u8] {
    match text {
        [b'\'', inner @ .., b'\''] | [b'"', inner @ .., b'"'] => inner,
        _ => text,
    }
}

/// `key=value`, `key: value` and `two words=1.50 GB` items out of free text, separated by `, `, `. `, `; ` or blanks.
pub fn items<'a>(text: &'a [u8], event: &mut Event<'a>) {
    let mut at = 0;
    // What was read already: no key reaches back over it.
    let mut floor = 0;
    // A line of more items than this is damaged; the real ones have a dozen.
    let limit = event.fields.len() + event.ids.len() + 256;
    while let Some(found) = memchr::memchr2(b'=', b':', &text[at..]) {
        if event.fields.len() + event.ids.len() > limit {
            event.note = Some("too many items");
            return;
        }
        let mark = at + found;
        at = mark + 1;
        let colon = text[mark] == b':';
        if colon && text.get(at) != Some(&b' ') {
            continue;
        }
        let key = key_before(&text[floor..mark], colon);
        if key.is_empty() {
            continue;
        }
        let start = at + text[at..].iter().take_while(|b| **b == b' ').count();
        if !colon && start != at {
            continue;
        }
        let end = values::end_of(text, start);
        at = end.max(at);
        floor = at;
        item(key, &text[start..end], &text[end..], event);
    }
}

/// The key that ends here: a run of name characters, and for the two-word keys of SGLang the word before.
fn key_before(before: &[u8], colon: bool) -> &[u8] {
    let name = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'#' | b'-');
    let start = before.len() - before.iter().rev().take_while(|b| name(b)).count();
    if colon {
        // `K size: `, `KV size: `, `#queue-req: `: words back to the separator.
        let words = |b: &u8| name(b) || *b == b' ';
        let from = before.len() - before.iter().rev().take(40).take_while(|b| words(b)).count();
        let run = &before[from..];
        let run = memmem::rfind(run, b". ").map_or(run, |i| &run[i + 2..]);
        return run.trim_ascii();
    }
    for two in [&b"avail mem"[..], b"mem usage", b"input len", b"output len"] {
        if before.ends_with(two) {
            return &before[before.len() - two.len()..];
        }
    }
    &before[start..]
}

fn item<'a>(key: &'a [u8], value: &'a [u8], rest: &'a [u8], event: &mut Event<'a>) {
    let Ok(key) = std::str::from_utf8(key) else { return };
    let last = key.rsplit('.').next().unwrap_or(key);
    match last {
        "rid" | "req" | "request_id" => return rid(unquote(trim_stop(value)), event),
        "bootstrap_room" | "room" => return room(trim_stop(value), event),
        "remaining_rids" | "rids" | "running_rids" | "queued_rids" => return rid_list(trim_stop(value), event),
        _ => {}
    }
    let value = trim_stop(value);
    if value.is_empty() || value.len() > 200 || matches!(value[0], b'[' | b'{' | b'(') {
        return;
    }
    let mut name = snake(last);
    let mut value = value;
    if let Some((number, unit)) = unit_of(value, rest) {
        name.push_str(unit);
        value = number;
    }
    let text = String::from_utf8_lossy(unquote(value));
    if text.is_empty() || text == "None" {
        return;
    }
    if let Some(after) = rest.strip_prefix(b" -> ") {
        // `#new_token_ratio: 0.7341 -> 0.9812`
        let end = values::end_of(after, 0);
        let new = String::from_utf8_lossy(trim_stop(&after[..end]));
        let field = Field { name: Cow::Owned(format!("{name}_after")), raw: Cow::Borrowed(key), value: keyvalue::typed(new) };
        event.fields.push(field);
        name.push_str("_before");
    }
    event.fields.push(Field { name: Cow::Owned(name), raw: Cow::Borrowed(key), value: keyvalue::typed(text) });
}

/// A number's unit as a suffix of the field's name: glued (`3.11ms`) or the next word (`2.31 s`).
fn unit_of<'a>(value: &'a [u8], rest: &[u8]) -> Option<(&'a [u8], &'static str)> {
    const UNITS: &[(&str, &str)] =
        &[("GB/s", "_gb_s"), ("GB", "_gb"), ("GiB", "_gib"), ("MB/s", "_mb_s"), ("MB", "_mb"), ("ms", "_ms"), ("s", "_s"), ("B", "_bytes")];
    if !value.first().is_some_and(|b| b.is_ascii_digit() || *b == b'-') {
        return None;
    }
    let digits = value.iter().take_while(|b| b.is_ascii_digit() || matches!(b, b'.' | b'-')).count();
    let glued = &value[digits..];
    if !glued.is_empty() {
        return UNITS.iter().find(|(unit, _)| unit.as_bytes() == glued).map(|(_, suffix)| (&value[..digits], *suffix));
    }
    let word = rest.strip_prefix(b" ")?;
    for (unit, suffix) in UNITS {
        if let Some(after) = word.strip_prefix(unit.as_bytes())
            && after.first().is_none_or(|b| !b.is_ascii_alphanumeric() && *b != b'/')
        {
            return Some((value, suffix));
        }
    }
    None
}

/// Without a sentence's end.
fn trim_stop(value: &[u8]) -> &[u8] {
    let mut value = value;
    while let [rest @ .., b'.' | b';' | b':' | b'!'] = value {
        value = rest;
    }
    value
}

/// The ids of a message that no rule knows: `rid=…`, `bootstrap_room=…`, `rids=[…]`.
pub fn ids_in<'a>(message: &'a [u8], event: &mut Event<'a>) {
    for (key, which) in [(&b"rid="[..], 0), (b"room=", 1), (b"rids=[", 2)] {
        let mut at = 0;
        // More ids than this in one unknown line are not a line about a request.
        for _ in 0..64 {
            let Some(found) = memmem::find(&message[at..], key) else { break };
            let mark = at + found;
            let start = mark + key.len() - usize::from(which == 2);
            let end = values::end_of(message, start);
            at = end.max(mark + 1);
            if mark > 0 && (message[mark - 1].is_ascii_alphanumeric()) {
                continue;
            }
            let value = trim_stop(&message[start..end]);
            match which {
                0 => rid(unquote(value), event),
                1 => room(value, event),
                _ => rid_list(value, event),
            }
        }
    }
}

/// The type of the exception that a traceback ends in (`torch.OutOfMemoryError`); its text stays in the message only.
pub fn error_type<'a>(message: &'a [u8], event: &mut Event<'a>) {
    for line in message.rsplit(|b| *b == b'\n') {
        let name = &line[..memchr(b':', line).unwrap_or(line.len())];
        let word = name.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.'));
        if word && [&b"Error"[..], b"Exception", b"Interrupt", b"Exit"].iter().any(|end| name.ends_with(end)) {
            event.field("error_type", "", Value::Str(String::from_utf8_lossy(name)));
            break;
        }
    }
    if memmem::find(message, b"memory leak detected!").is_some() {
        event.field("memory_leak", "", Value::Bool(true));
    }
}

/// Withholds token ids and texts in a dump of requests (`Req(rid=…, input_ids=[…], output_ids=[…])`): the watchdog and crashes print them.
pub fn withhold_dumps(message: &[u8], event: &mut Event<'_>) {
    if message.len() < 64 {
        return;
    }
    for (key, name) in [
        (&b"input_ids=["[..], "input_ids"),
        (b"output_ids=[", "output_ids"),
        (b"input_ids_unpadded=[", "input_ids"),
        (b"text='", "text"),
        (b"text=\"", "text"),
    ] {
        let mut at = 0;
        while let Some(found) = memmem::find(&message[at..], key) {
            let start = at + found + key.len() - 1;
            let end = values::end_of(message, start);
            let base = event.message.start;
            event.withhold(base + start..base + end, Secret::Body, name);
            at = end.max(start + 1);
        }
    }
}
