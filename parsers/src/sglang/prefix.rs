//! The prefix that SGLang puts before its lines: `[YYYY-MM-DD HH:MM:SS{.mmm} {rank tags}] `, and where it may begin in mid-line.
//!
//! It names no level, no logger, no pid and no zone: the stamp is the process's local time (formats: README, "prefix").

use memchr::memmem;

use crate::event::{Event, Level, Value};
use crate::stamp::{self, RawStamp, SECOND, Zone};

/// What stands before a message.
#[derive(Clone, Copy, Debug, Default)]
pub struct Prefix<'a> {
    /// The stamp, unless the line has only a time of day (2024 builds).
    pub stamp: Option<RawStamp>,
    /// Rank tags as printed, blank separated: `DP3 TP3 EP3`.
    pub tags: &'a [u8],
    /// Set only by custom logging configurations.
    pub level: Option<Level>,
    /// Where the message begins.
    pub len: usize,
}

/// Tag letters and the field they fill. The longer spellings come first.
const TAGS: &[(&str, &str)] =
    &[("ATTN_CP", "attn_cp_rank"), ("MOE_DP", "moe_dp_rank"), ("DP", "dp_rank"), ("PP", "pp_rank"), ("TP", "tp_rank"), ("EP", "ep_rank")];

/// Reads any of the known prefixes at the start of a line.
pub fn read(line: &[u8]) -> Option<Prefix<'_>> {
    match line.first()? {
        b'[' => read_bracket(line),
        b'0'..=b'9' => read_bare(line),
        _ => None,
    }
}

/// `[stamp tags] message`, `[stamp][file.py:1][LEVEL]: message`, `[HH:MM:SS tags] message`.
fn read_bracket(line: &[u8]) -> Option<Prefix<'_>> {
    let Some(mut found) = read_stamp(&line[1..]) else { return read_time_only(line) };
    found.at = 1;
    let after = 1 + found.len as usize;
    let (tags, close) = read_tags(line, after)?;
    let mut len = close + 1;
    let mut level = None;
    if line.get(len) == Some(&b'[') {
        (level, len) = read_file_and_level(line, len)?;
    } else if line.get(len) == Some(&b' ') {
        len += 1;
    } else if len != line.len() {
        return None;
    }
    Some(Prefix { stamp: Some(found), tags, level, len })
}

/// A stamp of seconds or, with `SGLANG_LOG_MS=1`, of milliseconds; no zone.
fn read_stamp(bytes: &[u8]) -> Option<RawStamp> {
    let found = stamp::read_iso(&bytes[..bytes.len().min(32)])?;
    // A comma before the milliseconds is Python's own default, which other programs print in brackets too.
    if bytes[10] != b' ' || found.zone != Zone::Naive || !(found.width == SECOND || found.len == 23 && bytes[19] == b'.') {
        return None;
    }
    Some(found)
}

/// ` DP0 TP1` up to `]`: the tags without their leading blank, and the place of the bracket.
fn read_tags(line: &[u8], from: usize) -> Option<(&[u8], usize)> {
    // No tag list is longer than this: six tags of at most twelve bytes.
    let limit = line.len().min(from + 80);
    let mut at = from;
    while at < limit {
        if line[at] == b']' {
            let tags = &line[from.min(at)..at];
            return Some((tags.strip_prefix(b" ").unwrap_or(tags), at));
        }
        if line[at] != b' ' {
            return None;
        }
        at += 1;
        let rest = &line[at..limit];
        if rest.starts_with(b"encode_server") {
            at += 13;
            continue;
        }
        if rest.starts_with(b"encode_dp_worker[") {
            at += 17 + rest[17..].iter().take_while(|b| b.is_ascii_digit()).count();
            if line.get(at) != Some(&b']') {
                return None;
            }
            at += 1;
            continue;
        }
        let (name, _) = TAGS.iter().find(|(name, _)| rest.first() == name.as_bytes().first() && rest.starts_with(name.as_bytes()))?;
        let digits = rest[name.len()..].iter().take_while(|b| b.is_ascii_digit()).count();
        if digits == 0 || digits > 6 {
            return None;
        }
        at += name.len() + digits;
    }
    None
}

/// `[file.py:424][INFO]: ` of a custom logging configuration.
fn read_file_and_level(line: &[u8], from: usize) -> Option<(Option<Level>, usize)> {
    let file_end = from + memchr::memchr(b']', &line[from..line.len().min(from + 120)])?;
    if line.get(file_end + 1) != Some(&b'[') {
        return None;
    }
    let level_at = file_end + 2;
    let level_end = level_at + memchr::memchr(b']', &line[level_at..line.len().min(level_at + 12)])?;
    let level = level_of(&line[level_at..level_end])?;
    let mut len = level_end + 1;
    if line.get(len) == Some(&b':') {
        len += 1;
    }
    if line.get(len) == Some(&b' ') {
        len += 1;
    }
    Some((Some(level), len))
}

/// `[HH:MM:SS TP0] message` of 2024 builds: no date, hence no stamp. Other programs print the same, so it is taken only before
/// a tag or a periodic line.
fn read_time_only(line: &[u8]) -> Option<Prefix<'_>> {
    stamp::clock_seconds(&line[1..])?;
    let (tags, close) = read_tags(line, 9)?;
    if line.get(close + 1) != Some(&b' ') {
        return None;
    }
    let message = &line[close + 2..];
    if tags.is_empty() && !message.starts_with(b"Prefill batch") && !message.starts_with(b"Decode batch") {
        return None;
    }
    Some(Prefix { stamp: None, tags, level: None, len: close + 2 })
}

/// A line that lost its `[`, and `stamp LEVEL pid [tags file.py:1] message` of a vendor's logging configuration.
fn read_bare(line: &[u8]) -> Option<Prefix<'_>> {
    let found = read_stamp(line)?;
    let after = found.len as usize;
    if let Some((tags, close)) = read_tags(line, after)
        && line.get(close + 1) == Some(&b' ')
    {
        return Some(Prefix { stamp: Some(found), tags, level: None, len: close + 2 });
    }
    let rest = line.get(after + 1..)?;
    let word = rest.iter().position(|b| *b == b' ')?;
    let level = level_of(&rest[..word])?;
    let pid = rest[word + 1..].iter().take_while(|b| b.is_ascii_digit()).count();
    let open = word + 1 + pid + 1;
    if pid == 0 || rest.get(open) != Some(&b'[') {
        return None;
    }
    let close = open + memchr::memchr(b']', &rest[open..rest.len().min(open + 200)])?;
    let inside = &rest[open + 1..close];
    let file = inside.rsplit(|b| *b == b' ').next()?;
    memmem::find(file, b".py:")?;
    let tags = inside[..inside.len() - file.len()].trim_ascii_end();
    if rest.get(close + 1) != Some(&b' ') {
        return None;
    }
    Some(Prefix { stamp: Some(found), tags, level: Some(level), len: after + 1 + close + 2 })
}

fn level_of(word: &[u8]) -> Option<Level> {
    std::str::from_utf8(word).ok().and_then(Level::read)
}

/// Rank tags as Int fields whose raw name is the tag's letters (`TP` of `TP3`).
pub fn tag_fields(tags: &[u8], event: &mut Event<'_>) {
    let mut rest = tags;
    while !rest.is_empty() {
        let end = memchr::memchr(b' ', rest).unwrap_or(rest.len());
        let tag = &rest[..end];
        for (name, field) in TAGS {
            if tag.first() == name.as_bytes().first()
                && let Some(digits) = tag.strip_prefix(name.as_bytes())
                && let Some(rank) = small_int(digits)
            {
                event.field(field, *name, Value::Int(rank));
                break;
            }
        }
        if tag.starts_with(b"encode_") {
            event.field("encode_server", "encode_server", Value::Bool(true));
        }
        if let Some(worker) = tag.strip_prefix(b"encode_dp_worker[").and_then(|t| t.strip_suffix(b"]"))
            && let Some(rank) = small_int(worker)
        {
            event.field("dp_rank", "encode_dp_worker", Value::Int(rank));
        }
        rest = rest.get(end + 1..).unwrap_or(b"");
    }
}

/// Up to six decimal digits.
fn small_int(digits: &[u8]) -> Option<i64> {
    if digits.len() > 6 { None } else { stamp::digits(digits) }
}

/// Where a record begins straight behind a progress bar in this physical line (`…it/s][2026-06-08 …`).
///
/// A bar's text must come before and end there: a log line that a prompt quotes does not cut.
pub fn cut(line: &[u8]) -> Option<usize> {
    let percent = memchr::memchr(b'%', line)?;
    if read(line).is_some() {
        return None;
    }
    let mut from = 0;
    while let Some(found) = memmem::find(&line[from..], b"[20") {
        let at = from + found;
        if ends_bar(&line[..at], percent) && read_bracket(&line[at..line.len().min(at + 160)]).is_some() {
            return Some(at);
        }
        from = at + 3;
    }
    None
}

/// Does `text` end in a tqdm bar, perhaps followed by `\r` and cursor escapes? The line's first `%` stands at `percent`.
fn ends_bar(text: &[u8], percent: usize) -> bool {
    let mut end = text.len();
    while end > 0 {
        let last = text[end - 1];
        if last == b'\r' {
            end -= 1;
        } else if last.is_ascii_alphabetic() && text[..end - 1].ends_with(b"\x1b[") {
            end -= 3;
        } else {
            break;
        }
    }
    let text = &text[..end];
    let bar = text.ends_with(b"it/s]") || text.ends_with(b"s/it]");
    bar && memchr::memrchr(b'[', text).is_some_and(|open| percent < open)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_prefix_form() {
        let cases: &[(&str, &str, &str)] = &[
            ("[2025-03-04 17:53:04 TP0] Prefill", "TP0", "Prefill"),
            ("[2025-10-15 11:03:35 DP6 TP6 EP6] x", "DP6 TP6 EP6", "x"),
            ("[2026-05-20 08:30:03.137 DP0 PP1 ATTN_CP0 MOE_DP2 TP3 EP3] Init", "DP0 PP1 ATTN_CP0 MOE_DP2 TP3 EP3", "Init"),
            ("[2026-05-20 08:30:03] INFO:     x", "", "INFO:     x"),
            ("[2026-05-20 08:30:03 encode_server] x", "encode_server", "x"),
            ("[2026-05-20 08:30:03 encode_dp_worker[3]] x", "encode_dp_worker[3]", "x"),
            ("[2026-04-15 17:13:10][scheduler_metrics_mixin.py:424][INFO]: Prefill", "", "Prefill"),
            ("2025-10-20 03:02:22 INFO 31223 [DP3 TP3 EP3 scheduler_metrics_mixin.py:222] Decode", "DP3 TP3 EP3", "Decode"),
            ("2026-03-20 03:02:22 TP3] Decode", "TP3", "Decode"),
            ("[10:02:03 TP0] Decode batch.", "TP0", "Decode batch."),
        ];
        for (line, tags, message) in cases {
            let got = read(line.as_bytes()).unwrap_or_else(|| panic!("no prefix in {line}"));
            assert_eq!(got.tags, tags.as_bytes(), "{line}");
            assert_eq!(&line.as_bytes()[got.len..], message.as_bytes(), "{line}");
        }
        for foreign in [
            "[10:02:03] hello",
            "[2026-05-20T08:30:03 TP0] x",
            "[2026-05-20 08:30:03Z] x",
            "[2026-05-20 08:30:03 main] x",
            "[rank0]: x",
            "[2026-01-08 12:00:00,101] LMCache INFO: x",
            "2026-05-20 08:30:03,137 - INFO - flashinfer.jit: x",
            "2026-05-20T08:30:03.137Z  INFO x: y",
        ] {
            assert!(read(foreign.as_bytes()).is_none(), "{foreign}");
        }
    }

    #[test]
    fn cuts_behind_a_bar_only() {
        let bar = "Capturing batches (bs=1): 100%|██████████| 8/8 [00:05<00:00,  1.52it/s]";
        let log = "[2026-06-08 10:00:00 TP1] Memory pool end. avail mem=1.00 GB\n";
        assert_eq!(cut(format!("{bar}{log}").as_bytes()), Some(bar.len()));
        assert_eq!(cut(format!("\r{bar}\r{log}").as_bytes()), Some(bar.len() + 2));
        assert_eq!(cut(format!("\r{bar}\x1b[A{log}").as_bytes()), Some(bar.len() + 4));
        assert_eq!(cut(format!("  0%|          | 0/8 [00:00<?, ?it/s]{log}").as_bytes()), Some(37));
        let quoted = format!("[2026-06-08 10:00:00] Receive: obj=GenerateReqInput(text='{bar}{log}')");
        assert_eq!(cut(quoted.as_bytes()), None);
        assert_eq!(cut(format!("see {log}").as_bytes()), None);
        assert_eq!(cut(format!("50% of {log}").as_bytes()), None);
        assert_eq!(cut(log.as_bytes()), None);
    }
}
