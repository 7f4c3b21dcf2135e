//! Records of programs that have no format of their own here: progress bars, glog, NCCL, warnings, tracebacks.

use memchr::memmem;

use super::{cut, kinds, plain};
use crate::event::{Event, Level, Outcome, Secret};
use crate::stamp::{self, RawStamp};

/// Why the rest of a record is not read.
pub const CUT: &str = "rest of a record whose beginning is cut off";

/// A tqdm bar: `50%|████ | 4/8 [00:01<00:01, 2.0it/s]` or `50% Completed | 2/4 [00:04<00:04,  2.03s/it]`.
pub fn is_progress(line: &[u8]) -> bool {
    let Some(at) = memchr::memchr(b'%', line) else {
        return false;
    };
    at > 0
        && line[at - 1].is_ascii_digit()
        && (memmem::find(line, b"it/s]").is_some() || memmem::find(line, b"s/it]").is_some() || memmem::find(line, b"?it/s").is_some())
}

/// Lines of a Python or Rust failure that stand at column 0 and belong to the record before them.
pub fn continues_traceback(line: &[u8]) -> bool {
    const STARTS: &[&[u8]] = &[
        b"Traceback (most recent call last)",
        b"During handling of the above exception",
        b"The above exception was the direct cause",
        b"Caused by:",
        b"Try to allocate ",
        b"Available tokens: ",
        b"Avaliable tokens: ",
        b"Try to lower your batch size",
        b"CUDA kernel errors might be asynchronously",
        b"For debugging consider passing CUDA_LAUNCH_BLOCKING",
        b"Compile with `TORCH_USE_CUDA_DSA`",
    ];
    if STARTS.iter().any(|s| line.starts_with(s)) {
        return true;
    }
    is_exception(line)
}

/// `module.SomeError: text`, as the last line of a traceback.
pub fn is_exception(line: &[u8]) -> bool {
    let end = line.iter().position(|b| !(b.is_ascii_alphanumeric() || *b == b'_' || *b == b'.')).unwrap_or(line.len());
    let name = &line[..end];
    if end < line.len() && line[end] != b':' {
        return false;
    }
    let last = name.rsplit(|b| *b == b'.').next().unwrap_or(name);
    last.first().is_some_and(u8::is_ascii_uppercase)
        && [&b"Error"[..], b"Exception", b"Interrupt", b"Exit", b"ExceptionGroup", b"StopIteration"].iter().any(|e| last.ends_with(e))
}

/// What can be said of a record without a known head.
pub fn parse<'a>(payload: &'a [u8], event: &mut Event<'a>) -> Outcome {
    plain(payload, event);
    if cut::is_rest(payload) {
        event.withhold(0..payload.len(), Secret::Body, "rest of a cut record");
        return Outcome::Unparsed(CUT);
    }
    let line = &payload[..crate::record::line_len(payload)];
    if is_progress(line) {
        event.kind = &kinds::PROGRESS;
        return Outcome::Skipped("progress bar");
    }
    if line.starts_with(b"Traceback (most recent call last)") || is_exception(line) {
        event.kind = &kinds::TRACEBACK;
        event.level = Some(Level::Error);
        return Outcome::Parsed;
    }
    if let Some(level) = glog_level(line) {
        event.kind = &kinds::GLOG;
        event.level = Some(level);
        return Outcome::Parsed;
    }
    if memmem::find(line, b" NCCL ").is_some() {
        event.kind = &kinds::NCCL;
        return Outcome::Parsed;
    }
    if let Some(at) = memmem::find(line, b"Warning: ")
        && memmem::find(&line[..at], b".py:").is_some()
    {
        event.kind = &kinds::PYTHON_WARNING;
        event.level = Some(Level::Warn);
        return Outcome::Parsed;
    }
    if let Some(stamp) = leading_stamp(line) {
        event.stamp = Some(stamp);
        event.kind = &kinds::LOG;
        event.level = level_near(&line[(stamp.at + stamp.len) as usize..]);
        return Outcome::Parsed;
    }
    Outcome::Unparsed("no known format")
}

/// `I0917 16:19:42.193368 3936072 transfer_engine.cpp:486] …`
fn glog_level(line: &[u8]) -> Option<Level> {
    let level = match line.first()? {
        b'I' => Level::Info,
        b'W' => Level::Warn,
        b'E' => Level::Error,
        b'F' => Level::Fatal,
        _ => return None,
    };
    let rest = line.get(1..14)?;
    let shaped = rest[..4].iter().all(u8::is_ascii_digit) && rest[4] == b' ' && stamp::clock_seconds(&rest[5..]).is_some();
    if !shaped { None } else { Some(level) }
}

/// A full date and time within the first bytes of a line: bare, or behind one word and `[`, `(` or `:`.
pub fn leading_stamp(line: &[u8]) -> Option<RawStamp> {
    let limit = line.len().min(48);
    let mut at = 0;
    while at + 19 <= line.len() && at < limit {
        let before = at.checked_sub(1).map(|i| line[i]);
        let may_start = matches!(before, None | Some(b'[' | b'(' | b' ' | b':' | b'"' | b'='));
        if may_start
            && line[at].is_ascii_digit()
            && let Some(mut stamp) = stamp::read_iso(&line[at..])
        {
            stamp.at = at as u32;
            return Some(stamp);
        }
        at += 1;
    }
    None
}

/// A level word within the next few words.
fn level_near(rest: &[u8]) -> Option<Level> {
    let rest = &rest[..rest.len().min(40)];
    rest.split(|b| !b.is_ascii_alphabetic())
        .filter(|w| w.len() >= 4)
        .take(2)
        .find_map(|w| std::str::from_utf8(w).ok().and_then(Level::read))
}
