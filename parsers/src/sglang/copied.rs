//! Lines whose prefix is none that is known: copied out of a page (`> `, backticks), or written by a logging configuration of the site's own.
//!
//! They are known by what no configuration changes, the message's own beginning.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};
use memchr::memmem;

use super::{batch, prefix};
use crate::event::{Event, Level, Secret};
use crate::search;
use crate::stamp::{self, RawStamp};
use crate::text;

/// Beginnings of messages that stand for themselves.
const MARKS: &[&str] = &[
    "Prefill batch",
    "Decode batch",
    "ReqTimeStats(",
    "Req Time Stats(",
    "Receive: obj=",
    "Receive OpenAI: obj=",
    "Finish: obj=",
    "server_args=",
    "The server is fired up and ready to roll!",
    "KV cache pool is full. Retract requests.",
    "HiCache prefetch success req=",
    "Prefill bootstrap failed for request",
    "Decode handshake failed for request",
    "Prefill transfer failed for request",
    "Decode transfer failed for request",
    "Scheduler hit an exception",
    "Health check failed. Server couldn't",
    "SIGQUIT received. signum=",
    "Received sigquit from a child process.",
];

static SEARCH: LazyLock<AhoCorasick> = LazyLock::new(|| search::for_words(MatchKind::LeftmostFirst, MARKS.iter().copied()));

/// How far from a line's start a message may begin.
const MAX_PREFIX: usize = 200;

/// What a page puts before a copied line.
const ARTEFACTS: &[&[u8]] = &[
    b"&gt;",
    b"&nbsp;",
    b"<br>",
    b"<br/>",
    b"<p>",
    b"<code>",
    b"<pre>",
    b"\xc2\xa0",
    b"\xe2\x80\x8b",
    b"\xe2\x80\x9c",
    b"\xe2\x80\x9d",
    b"\xe2\x80\x98",
    b"\xe2\x80\x99",
    b"\xe2\x80\xa2",
    b"\xe2\x80\xa6",
    b"\xe2\x94\x82",
];

/// Length of the marks of quotes, lists, code and diffs before the text of a copied line.
fn artefacts(line: &[u8]) -> usize {
    let mut at = 0;
    while at < line.len().min(32) {
        match line[at] {
            b' ' | b'\t' | b'>' | b'`' | b'*' | b'-' | b'+' | b'|' | b'"' | b'\'' | b'~' => at += 1,
            b'&' | b'<' | 0xc2 | 0xe2 => match ARTEFACTS.iter().find(|mark| line[at..].starts_with(mark)) {
                Some(mark) => at += mark.len(),
                None => break,
            },
            _ => break,
        }
    }
    at
}

/// Where a known prefix begins behind such marks.
fn quoted(line: &[u8]) -> Option<usize> {
    let at = artefacts(line);
    let rest = &line[at..];
    let shaped = at > 0 && rest.starts_with(b"[2") && prefix::read(rest).is_some_and(|found| found.stamp.is_some());
    if shaped { Some(at) } else { None }
}

/// Where a message begins that stands for itself.
fn mark(line: &[u8]) -> Option<usize> {
    match line.first()? {
        // An object is of a format of objects, and an indented line goes on the record before it.
        b'{' | b' ' | b'\t' => return None,
        _ => {}
    }
    let window = &line[..line.len().min(MAX_PREFIX + 48)];
    let at = SEARCH.find(window)?.start();
    let whole_word = at == 0 || !line[at - 1].is_ascii_alphanumeric();
    if at > MAX_PREFIX
        || !whole_word
        || !stands(&line[at..])
        || !may_precede(&line[..at], &line[at..])
        || is_dynamo(line)
        || is_quoted(line, at)
    {
        return None;
    }
    Some(at)
}

/// Is what begins with a mark such a message, and not a word of a sentence about one?
fn stands(message: &[u8]) -> bool {
    if message.starts_with(b"Prefill batch") || message.starts_with(b"Decode batch") {
        let Some((_, at)) = batch::head(message) else { return false };
        let items = &message[at..message.len().min(at + 24)];
        let first = match items.first() {
            Some(b' ') => memmem::find(items, b"], #").map(|close| close + 4),
            _ => (items.starts_with(b", #") || items.starts_with(b". #")).then_some(3),
        };
        return first.and_then(|at| items.get(at)).is_some_and(u8::is_ascii_lowercase);
    }
    if message.starts_with(b"server_args=") {
        return message.starts_with(b"server_args=ServerArgs(") || message.starts_with(b"server_args={");
    }
    true
}

/// Can this be the prefix of a line of a log? A message of words also stands in sentences, so before one there is a time of day or nothing.
/// One with a structure of its own needs none, and neither does a request's, whose prompt would be shown otherwise.
fn may_precede(prefix: &[u8], message: &[u8]) -> bool {
    let structured = [&b"ReqTimeStats("[..], b"Req Time Stats(", b"Receive: obj=", b"Receive OpenAI: obj=", b"Finish: obj="];
    prefix.is_empty()
        || batch::head(message).is_some()
        || structured.iter().any(|mark| message.starts_with(mark))
        || prefix.windows(8).any(|time| stamp::clock_seconds(time).is_some())
}

/// Does the line end as a request's record does, and so is what is left of a prompt that quotes a log? Or is the message the end of a string
/// that another text quotes (`… b'<30>Nov 29 18:41:40 vm python3[2101]: The server is …!'`)? A record of a request ends so itself.
fn is_quoted(line: &[u8], at: usize) -> bool {
    let is_request = matches!(&line[at..at + 4], b"Rece" | b"Fini" | b"serv");
    !is_request && (text::is_rest(line) || is_string(line, at))
}

/// Does a quotation mark that opens before byte `at`, behind what a page may put before a line, close at the line's end?
fn is_string(line: &[u8], at: usize) -> bool {
    let end = memchr::memchr(b'\n', line).unwrap_or(line.len());
    let Some(mark) = line[..end].trim_ascii_end().last().filter(|b| matches!(b, b'\'' | b'"')) else { return false };
    let before = &line[artefacts(line).min(at)..at];
    before.iter().filter(|b| *b == mark).count() % 2 == 1
}

/// A Dynamo worker prints SGLang's messages with its own head, which says more.
fn is_dynamo(line: &[u8]) -> bool {
    line[0].is_ascii_digit() && (crate::dynamo::TEXT.head)(line)
}

/// Is a message that stands for itself the text of one of the first members of this object, which is no other format's?
pub fn in_object(line: &[u8]) -> bool {
    let window = &line[..line.len().min(600)];
    let Some(at) = SEARCH.find(window).map(|found| found.start()) else { return false };
    let before = line[..at].strip_suffix(b"\"").map(<[u8]>::trim_ascii_end);
    let is_value = before.is_some_and(|before| before.ends_with(b"\":"));
    is_value && stands(&line[at..]) && !(crate::dynamo::JSONL.head)(line) && !(crate::gateway::JSON.head)(line)
}

/// Does a record begin with this line, which has no prefix that is known?
pub fn head(line: &[u8]) -> bool {
    quoted(line).is_some() || mark(line).is_some()
}

/// Reads such a line; `false` when it is none.
pub fn parse<'a>(record: &'a [u8], event: &mut Event<'a>) -> bool {
    if let Some(at) = quoted(record)
        && let Some(found) = prefix::read(&record[at..])
    {
        event.stamp = found.stamp.map(|stamp| RawStamp { at: stamp.at + at as u32, ..stamp });
        event.level = found.level;
        prefix::tag_fields(found.tags, event);
        read(record, at + found.len, event);
        event.note = event.note.or(Some("copied"));
        return true;
    }
    let Some(at) = mark(record) else { return false };
    before(&record[..at], event);
    read(record, at, event);
    if event.note == Some("damaged") {
        // It may be a quote inside a prompt whose beginning is cut off.
        event.withhold(0..at, Secret::Body, "rest");
    }
    true
}

/// Reads the message at byte `at`, without what a page puts behind a line.
fn read<'a>(record: &'a [u8], at: usize, event: &mut Event<'a>) {
    let mut end = record.len();
    loop {
        let text = &record[at..end];
        match [&b"`"[..], b"<br>", b"<br/>", b"</code>", b"</pre>", b"</p>"].iter().find(|mark| text.ends_with(mark)) {
            Some(mark) => end -= mark.len(),
            None => break,
        }
    }
    event.message = at..end;
    super::message(&record[at..end], event);
    // The prefix holds words that are in no field, and so does what a page put behind.
    event.columnar = false;
    event.keyed = false;
}

/// Stamp, level and rank tags of a prefix that is not known. A time without a date is none.
fn before(text: &[u8], event: &mut Event<'_>) {
    let mut at = 0;
    while at + 19 <= text.len() {
        let begins = at == 0 || !text[at - 1].is_ascii_alphanumeric() && text[at - 1] != b'-';
        if begins
            && text[at].is_ascii_digit()
            && let Some(found) = stamp::read_iso(&text[at..])
        {
            event.stamp = Some(RawStamp { at: at as u32, ..found });
            break;
        }
        at += 1;
    }
    for word in text.split(|b| !(b.is_ascii_alphanumeric() || *b == b'_')).filter(|word| word.len() > 2) {
        if event.level.is_none() && word.len() > 3 && word[0].is_ascii_uppercase() {
            event.level = std::str::from_utf8(word).ok().and_then(Level::read);
        }
        prefix::tag_fields(word, event);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mark_is_found_and_sentences_are_not() {
        for mark in MARKS {
            assert!(SEARCH.is_match(mark.as_bytes()), "{mark}");
        }
        for line in [
            "Prefill batch lines are printed by each rank",
            "grep 'Decode batch' server.log",
            "set server_args=x",
            "see the Prefill batch. # of requests",
            r#"{"log": "Prefill batch, #new-seq: 1"}"#,
            "    Prefill batch, #new-seq: 1",
            "  File \"/a.py\", line 1, in x",
            "> hello",
            "it prints `SIGQUIT received. signum=None` and ends",
            "| ready | The server is fired up and ready to roll! |",
            "['--rfc3164'] b'<30>Nov 29 18:41:40 vm python3[2101]: The server is fired up and ready to roll!'",
            "2026-11-29T18:06:46.870571Z  INFO scheduler.report: Prefill batch, #new-seq: 1",
        ] {
            assert!(!head(line.as_bytes()), "{line}");
            assert!(!head(format!("{line}\n").as_bytes()), "{line}");
        }
    }
}
