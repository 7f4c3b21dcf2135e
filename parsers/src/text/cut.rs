//! The rest of a record whose beginning is lost: a file that rotation or `tail -c` cut in the middle of a prompt.
//!
//! Such a rest has no head, so nothing tells where its body ends. It is known by what the writers of bodies put behind them.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

/// What alone says that a request's record stands here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    /// As it stands.
    Sure,
    /// The name of a member in quotes, which may be escaped.
    Key,
    /// The same, but a name that others use too: only behind a bracket that closes and was never opened.
    CommonKey,
}

/// A call's argument is marked with the comma before it: `preferred_sampling_params=` of a start's arguments is another.
///
/// SGLang's request log, its JSON, its metrics file, Dynamo's request trace and audit records, OpenAI bodies.
static MARKS: &[(&str, Mark)] = &[
    (", sampling_params=", Mark::Sure),
    (", input_ids=", Mark::Sure),
    (", output_ids=", Mark::Sure),
    (", return_logprob=", Mark::Sure),
    (", logprob_start_len=", Mark::Sure),
    (", log_metrics=", Mark::Sure),
    (", return_hidden_states=", Mark::Sure),
    (", http_worker_ipc=", Mark::Sure),
    (", external_trace_header=", Mark::Sure),
    (", custom_logit_processor=", Mark::Sure),
    ("max_dynamic_patch=", Mark::Sure),
    (", need_wait_for_", Mark::Sure),
    ("), headers={", Mark::Sure),
    (", out={'", Mark::Sure),
    ("meta_info", Mark::Key),
    ("finish_reason", Mark::Key),
    ("input_ids", Mark::Key),
    ("output_ids", Mark::Key),
    ("sampling_params", Mark::Key),
    ("return_logprob", Mark::Key),
    ("payload_complete", Mark::Key),
    ("http_request_headers", Mark::Key),
    ("agent_context", Mark::Key),
    ("log_metrics", Mark::Key),
    ("skip_special_tokens", Mark::Key),
    ("response_sent_to_client_ts", Mark::Key),
    ("request_received_ts", Mark::Key),
    ("http_worker_ipc", Mark::Key),
    ("external_trace_header", Mark::Key),
    ("request_id", Mark::CommonKey),
    ("rid", Mark::CommonKey),
    ("messages", Mark::CommonKey),
    ("content", Mark::CommonKey),
    ("role", Mark::CommonKey),
    ("choices", Mark::CommonKey),
    ("usage", Mark::CommonKey),
    ("model", Mark::CommonKey),
    ("stream", Mark::CommonKey),
    ("max_tokens", Mark::CommonKey),
    ("completion_tokens", Mark::CommonKey),
    ("response", Mark::CommonKey),
    ("total_tokens", Mark::CommonKey),
    ("worker_id", Mark::CommonKey),
    ("kv_hit_rate", Mark::CommonKey),
    ("e2e_latency", Mark::CommonKey),
    ("t_end", Mark::CommonKey),
    ("target", Mark::CommonKey),
];

static SEARCH: LazyLock<AhoCorasick> = LazyLock::new(|| {
    // cannot fail: a few dozen short patterns, known at compile time and tested, are far below every limit.
    AhoCorasick::new(MARKS.iter().map(|(mark, _)| mark)).expect("fixed patterns")
});

/// Is this text, which is no format's, the rest of a record that held a body?
pub fn is_rest(text: &[u8]) -> bool {
    let mut common = false;
    for hit in SEARCH.find_overlapping_iter(text) {
        let found = match MARKS[hit.pattern().as_usize()].1 {
            Mark::Sure => true,
            Mark::Key => is_key(text, hit.start(), hit.end()),
            Mark::CommonKey => {
                common = common || is_key(text, hit.start(), hit.end());
                false
            }
        };
        if found {
            return true;
        }
    }
    common && closes_more(text)
}

/// Do quotes stand around the name, and a colon behind it?
fn is_key(text: &[u8], start: usize, end: usize) -> bool {
    let quote = start.checked_sub(1).map(|i| text[i]);
    if !matches!(quote, Some(b'"' | b'\'')) {
        return false;
    }
    let behind = &text[end..];
    let escapes = behind.iter().take(8).take_while(|b| **b == b'\\').count();
    behind.get(escapes).copied() == quote && behind.get(escapes + 1) == Some(&b':')
}

/// Is there a bracket that closes and that nothing before it opened?
fn closes_more(text: &[u8]) -> bool {
    let mut depth = 0usize;
    for byte in text {
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth == 0 => return true,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
    }
    false
}
