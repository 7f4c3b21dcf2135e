//! The scheduler's periodic lines: `Prefill batch, #new-seq: 1, …` and `Decode batch, #running-req: 8, …` of every version.
//!
//! Versions differ in separators, order and names of keys; all give one canonical field name, the spelling stays in `Field::raw`.

use std::borrow::Cow;

use memchr::memchr;

use super::kinds;
use crate::event::{Event, Field, Kind, Value};
use crate::keyvalue;

/// Keys as printed and their canonical names, in the order in which the lines print them: the search for a key begins behind the
/// key found last, so that a usual line costs about one comparison a key.
const KEYS: &[(&str, &str)] = &[
    ("#new-seq", "new_seqs"),
    ("#new-token", "new_tokens"),
    ("#replay-token", "replay_tokens"),
    ("#cached-token", "cached_tokens"),
    ("#token", "tokens"),
    ("token usage", "token_usage"),
    ("full token usage", "full_token_usage"),
    ("swa token usage", "swa_token_usage"),
    ("mamba usage", "mamba_usage"),
    ("cache hit rate", "cache_hit_rate"),
    ("#running-req", "running_reqs"),
    ("#unbootstrapped-req", "unbootstrapped_reqs"),
    ("#queue-req", "queue_reqs"),
    ("#pending-token", "pending_tokens"),
    ("waiting-image-req", "waiting_image_reqs"),
    ("#transferring-req", "transferring_reqs"),
    ("#prealloc-req", "prealloc_reqs"),
    ("#bootstrap-req", "bootstrap_reqs"),
    ("#inflight-req", "inflight_reqs"),
    ("#optimistic-req", "optimistic_reqs"),
    // 0.4.7 printed the gap since the line before, in seconds (log_prefill_stats, gap_latency).
    ("time", "time_s"),
    ("input throughput (token/s)", "input_throughput"),
    ("cuda graph", "cuda_graph"),
    ("input throughput (token/s)", "input_throughput"),
    ("fwd occupancy", "fwd_occupancy"),
    ("fwd+idle occupancy", "fwd_idle_occupancy"),
    ("est. prefill TFLOPS/s (per GPU)", "est_prefill_tflops_s_per_gpu"),
    ("#running-req", "running_reqs"),
    ("#token", "tokens"),
    ("#full token", "full_tokens"),
    ("#gpu token", "gpu_tokens"),
    ("gpu token usage", "gpu_token_usage"),
    ("#cpu token", "cpu_tokens"),
    ("cpu token usage", "cpu_token_usage"),
    ("full token usage", "full_token_usage"),
    ("#swa token", "swa_tokens"),
    ("swa token usage", "swa_token_usage"),
    ("mamba num", "mamba_num"),
    ("mamba usage", "mamba_usage"),
    ("token usage", "token_usage"),
    ("pre-allocated usage", "pre_allocated_usage"),
    ("#prealloc-req", "prealloc_reqs"),
    ("#transfer-req", "transfer_reqs"),
    ("#host-receive-req", "host_receive_reqs"),
    ("#retracted-req", "retracted_reqs"),
    ("accept len", "accept_len"),
    ("accept rate", "accept_rate"),
    ("cap len", "cap_len"),
    ("block accept len", "block_accept_len"),
    ("cuda graph", "cuda_graph"),
    ("cpu graph", "cpu_graph"),
    ("npu graph", "npu_graph"),
    ("musa graph", "musa_graph"),
    ("gen throughput (token/s)", "gen_throughput"),
    ("largest-len", "largest_len"),
    ("#queue-req", "queue_reqs"),
    ("est. decode TFLOPS/s (per GPU)", "est_decode_tflops_s_per_gpu"),
    ("est. read BW (GB/s per GPU)", "est_read_bw_gb_s_per_gpu"),
    ("est. write BW (GB/s per GPU)", "est_write_bw_gb_s_per_gpu"),
    ("timestamp", "timestamp"),
];

/// The words that the constant parts of periodic lines hold.
pub const WORDS: &str = "prefill decode batch new seq token cached replay usage full swa mamba num gpu cpu cache hit rate running \
    unbootstrapped queue pending waiting image transferring prealloc bootstrap inflight optimistic req time input throughput s cuda npu \
    musa graph fwd idle occupancy est tflops per read write bw gb pre allocated transfer host receive retracted accept len cap block gen \
    largest timestamp";

/// Digits of this number are an id's, not a number's, to whoever looks for ids in text.
const NUMBER_WORD: usize = 12;

/// Is this the beginning of a periodic line? Returns its kind and where the items begin.
pub fn head(message: &[u8]) -> Option<(&'static Kind, usize)> {
    let (kind, len) = if message.starts_with(b"Prefill batch") {
        (&kinds::PREFILL_BATCH, 13)
    } else if message.starts_with(b"Decode batch") {
        (&kinds::DECODE_BATCH, 12)
    } else {
        return None;
    };
    match message.get(len) {
        Some(b'.' | b',') if message.get(len + 1).is_none_or(|b| *b == b' ') => Some((kind, len)),
        Some(b' ') if message.get(len + 1) == Some(&b'[') => Some((kind, len)),
        _ => None,
    }
}

/// Reads the items of a periodic line; `message` begins with its head, which ends at `at`.
pub fn parse<'a>(message: &'a [u8], at: usize, event: &mut Event<'a>) {
    let Ok(text) = std::str::from_utf8(message) else {
        event.note = Some("not UTF-8");
        return;
    };
    let mut whole = true;
    event.keyed = true;
    let mut rest = &text[at..];
    if let Some(tag) = rest.strip_prefix(" [")
        && let Some(end) = tag.find(']')
    {
        event.keyed = end < NUMBER_WORD;
        match keyvalue::number(&tag[..end]) {
            Some(value @ Value::Int(_)) => event.field("iteration", "", value),
            _ => whole = false,
        }
        rest = &tag[end + 1..];
    }
    rest = rest.strip_prefix(['.', ',']).unwrap_or(rest);
    whole &= items(rest.trim_end_matches([' ', ',']), event);
    if !whole {
        event.note = Some("an item of this line could not be read");
    }
    event.columnar = whole;
    event.keyed &= whole;
}

/// `key: value, key: value`; returns whether every key was known and every value whole.
fn items<'a>(text: &'a str, event: &mut Event<'a>) -> bool {
    let bytes = text.as_bytes();
    let mut whole = true;
    let mut hint = 0;
    let mut at = 0;
    // The key to which a further `swa=4096` belongs (0.4.9 to 0.4.9.post2).
    let mut nested = "";
    while at < bytes.len() {
        let end = memchr(b',', &bytes[at..]).map_or(bytes.len(), |i| at + i);
        let item = trim(&text[at..end]);
        at = end + 1;
        if item.is_empty() {
            continue;
        }
        if let Some((key, value)) = split(item) {
            event.keyed &= value.len() < NUMBER_WORD;
            nested = "";
            if value.as_bytes().first().is_some_and(u8::is_ascii_lowercase)
                && let Some((pool, value)) = value.split_once('=')
            {
                nested = key;
                whole &= in_pool(key, pool, value, event);
                continue;
            }
            whole &= one(key, value, &mut hint, event);
        } else if let Some((pool, value)) = item.split_once('=')
            && !nested.is_empty()
        {
            event.keyed &= value.len() < NUMBER_WORD;
            whole &= in_pool(nested, pool, value, event);
        } else {
            whole = false;
        }
    }
    whole
}

/// Without the blanks around it.
fn trim(text: &str) -> &str {
    let bytes = text.as_bytes();
    let (mut from, mut to) = (0, bytes.len());
    while from < to && bytes[from] == b' ' {
        from += 1;
    }
    while from < to && bytes[to - 1] == b' ' {
        to -= 1;
    }
    &text[from..to]
}

fn split(item: &str) -> Option<(&str, &str)> {
    let colon = memchr(b':', item.as_bytes())?;
    if item.as_bytes().get(colon + 1) != Some(&b' ') {
        return None;
    }
    Some((&item[..colon], trim(&item[colon + 2..])))
}

/// One item. Percents become floats under a `_percent` name, because they are not ratios.
fn one<'a>(key: &'a str, value: &'a str, hint: &mut usize, event: &mut Event<'a>) -> bool {
    let known = canonical(key, hint);
    if let Some(number) = value.strip_suffix('%').and_then(as_float) {
        let name = known.map_or_else(|| snake(key), str::to_owned) + "_percent";
        event.fields.push(Field { name: Cow::Owned(name), raw: Cow::Borrowed(key), value: number });
        return known.is_some() && !value.bytes().any(|b| b.is_ascii_alphabetic());
    }
    let typed = keyvalue::typed(value);
    let plain = is_plain(&typed, value) || key == "timestamp";
    let name = known.map_or_else(|| Cow::Owned(snake(key)), Cow::Borrowed);
    event.fields.push(Field { name, raw: Cow::Borrowed(key), value: typed });
    known.is_some() && plain
}

/// Is the value wholly in its column, so that no word of it is lost? `1E24` is a number and a word.
fn is_plain(typed: &Value<'_>, text: &str) -> bool {
    match typed {
        Value::Bool(_) => true,
        Value::Str(_) => false,
        Value::Int(_) | Value::UInt(_) | Value::Float(_) => !text.bytes().any(|b| b.is_ascii_alphabetic()),
    }
}

fn as_float(text: &str) -> Option<Value<'static>> {
    match keyvalue::number(text)? {
        Value::Int(n) => Some(Value::Float(n as f64)),
        value => Some(value),
    }
}

/// `#token: full=21504, swa=4096` gives the names that later versions print as `#full token` and `#swa token`.
fn in_pool<'a>(key: &str, pool: &'a str, value: &'a str, event: &mut Event<'a>) -> bool {
    let (name, raw) = match (key, pool) {
        ("#token", "full") => ("full_tokens", "#token: full"),
        ("#token", "swa") => ("swa_tokens", "#token: swa"),
        ("token usage", "full") => ("full_token_usage", "token usage: full"),
        ("token usage", "swa") => ("swa_token_usage", "token usage: swa"),
        _ => {
            let name = Cow::Owned(format!("{}_{}", snake(pool), snake(key)));
            event.fields.push(Field { name, raw: Cow::Borrowed(pool), value: keyvalue::typed(value) });
            return false;
        }
    };
    let typed = keyvalue::typed(value);
    let plain = is_plain(&typed, value);
    event.field(name, raw, typed);
    plain
}

/// The canonical name of a known key. `hint` is where to look first; it moves behind the key found.
fn canonical(key: &str, hint: &mut usize) -> Option<&'static str> {
    let start = (*hint).min(KEYS.len());
    let found = KEYS[start..].iter().position(|(raw, _)| *raw == key).map(|i| start + i);
    let found = found.or_else(|| KEYS[..start].iter().position(|(raw, _)| *raw == key))?;
    *hint = found + 1;
    Some(KEYS[found].1)
}

/// The mechanical name of an unknown key: lower case, other bytes one `_`.
pub fn snake(key: &str) -> String {
    let mut name = String::with_capacity(key.len());
    for b in key.bytes() {
        if b.is_ascii_alphanumeric() {
            name.push(b.to_ascii_lowercase() as char);
        } else if !name.is_empty() && !name.ends_with('_') {
            name.push('_');
        }
    }
    while name.ends_with('_') {
        name.pop();
    }
    if name.is_empty() { "value".to_owned() } else { name }
}
