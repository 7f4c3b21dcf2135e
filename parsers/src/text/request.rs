//! Requests in records that no request's parser reads: behind another record on one line, in a line whose container or prefix is not its own, in any
//! program's text. Only what begins them is known, so what follows is withheld.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};

use crate::search;

/// What stands before a body: the request log's own words, and members of a request's body.
const MARKS: &[&str] = &["Receive: obj=", "Receive OpenAI: obj=", "Finish: obj=", "messages", "prompt", "input_ids", "output_ids"];

static SEARCH: LazyLock<AhoCorasick> = LazyLock::new(|| search::for_words(MatchKind::LeftmostFirst, MARKS.iter().copied()));

/// Where in a record the first request's body begins, if it holds one.
pub fn begins(text: &[u8]) -> Option<usize> {
    SEARCH.find_iter(text).find_map(|found| {
        let rest = &text[found.end()..];
        if found.pattern().as_usize() < 3 {
            return (!rest.is_empty()).then_some(found.end());
        }
        let key = found.start() == 0 || !text[found.start() - 1].is_ascii_alphanumeric() && text[found.start() - 1] != b'_';
        let behind = value(rest)?;
        key.then_some(found.end() + behind)
    })
}

/// Behind a member's name: where its value begins, if it is a string, a list or a structure with something in it. Quotes may be escaped.
fn value(rest: &[u8]) -> Option<usize> {
    let mut at = 0;
    let skip = |at: &mut usize, bytes: &[u8]| {
        while rest.get(*at).is_some_and(|b| bytes.contains(b)) {
            *at += 1;
        }
    };
    skip(&mut at, b"\\\"' ");
    if !matches!(rest.get(at), Some(b':' | b'=')) {
        return None;
    }
    at += 1;
    skip(&mut at, b" ");
    let begin = at;
    skip(&mut at, b"\\");
    let is_body = match rest.get(at)? {
        quote @ (b'"' | b'\'') => rest.get(at + 1).is_some_and(|b| b != quote && *b != b'\\'),
        b'[' => rest.get(at + 1).is_some_and(|b| *b != b']'),
        b'{' => rest.get(at + 1).is_some_and(|b| *b != b'}'),
        _ => false,
    };
    is_body.then_some(begin)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_begins_behind_its_mark() {
        let cases = [
            ("x 0[2026-05-20 08:41:00] Receive OpenAI: obj={'messages': 1}", Some("{'messages': 1}")),
            ("INFO Finish: obj=GenerateReqInput(text='a')", Some("GenerateReqInput(text='a')")),
            (r#"curl -d {"messages":[{"role":"user"}]}"#, Some(r#"[{"role":"user"}]}"#)),
            (r#"-d {\"prompt\": \"secret\"}"#, Some(r#"\"secret\"}"#)),
            ("call(prompt='secret', n=1)", Some("'secret', n=1)")),
            ("input_ids=[1, 2]", Some("[1, 2]")),
            ("input_ids=[], prompt='', messages={}", None),
            ("prompt_tokens=12, num_messages=['a'], prompt: 12", None),
            ("the prompt is 'long'", None),
        ];
        for (text, want) in cases {
            assert_eq!(begins(text.as_bytes()).map(|at| &text[at..]), want, "{text}");
        }
    }
}
