//! `--since`, `--until` and `--window` into one window of UTC time.

use anyhow::{Context as _, bail};
use corr_parsers::clock::Rule;

use crate::query::answer::Window;
use crate::query::sources::{Asked, Sources};
use crate::query::timespec::{self, Context, TimeSpec};
use crate::run::events::{self, Start};
use crate::run::timing::Timing;

/// Reads the flags. Civil times are read in `zone`.
pub fn resolve(
    since: Option<&str>,
    until: Option<&str>,
    named: Option<&str>,
    zone: Rule,
    now: i64,
    sources: &Sources,
) -> anyhow::Result<Window> {
    let (mut since, mut until) = (since.map(String::from), until.map(String::from));
    if let Some(name) = named {
        let Some(window) = sources.declared.window(name) else {
            let known: Vec<&str> = sources.declared.windows().map(|w| w.0).collect();
            let known =
                if known.is_empty() { "corr.toml declares none".into() } else { format!("corr.toml declares {}", known.join(", ")) };
            bail!("no window is named `{name}`; {known}. Declare it as [windows.{name}] with since and until");
        };
        since = since.or_else(|| window.since.clone());
        until = until.or_else(|| window.until.clone());
    }
    if since.is_none() && until.is_none() {
        return Ok(Window::default());
    }
    let parse = |text: &Option<String>, flag: &str| -> anyhow::Result<Option<TimeSpec>> {
        text.as_deref().map(|t| timespec::parse(t).with_context(|| format!("--{flag}"))).transpose()
    };
    let (since, until) = (parse(&since, "since")?, parse(&until, "until")?);
    let (start, end) = extent(&sources.sources);
    let context = Context { run_start: start, run_end: end, now, zone, anchors: Default::default() };
    let window = timespec::window(since.as_ref(), until.as_ref(), &context)?;
    Ok(Window { since: window.since, until: window.until })
}

/// First and last stamp of a run: by the index where there is one, else by the first and last stamped records of each source.
fn extent(sources: &[Asked]) -> (Option<i64>, Option<i64>) {
    let mut first: Option<i64> = None;
    let mut last: Option<i64> = None;
    let mut take = |start: Option<i64>, end: Option<i64>| {
        first = match (first, start) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        last = match (last, end) {
            (Some(a), Some(b)) => Some(a.max(b)),
            (a, b) => a.or(b),
        };
    };
    for source in sources {
        for segment in &source.segments {
            take(segment.reference.first, segment.reference.last);
        }
        if (source.unindexed || source.needs_tail())
            && let Ok(bytes) = source.bytes()
        {
            let (start, end) = ends(bytes, source, source.timing());
            take(start, end);
        }
    }
    (first, last)
}

fn ends(bytes: &[u8], source: &Asked, timing: &Timing) -> (Option<i64>, Option<i64>) {
    let mut first = None;
    events::each(bytes, &source.layout, timing, Start::default(), bytes.len(), |_, _, facts| {
        first = facts.stamp.map(|s| s.start);
        if first.is_some() { std::ops::ControlFlow::Break(()) } else { std::ops::ControlFlow::Continue(()) }
    });
    // Sources are written nearly in order: the last 64 KiB hold the end, within what ranks and processes lag behind each other.
    let mut last = None;
    let tail = corr_parsers::record::record_start(bytes, bytes.len().saturating_sub(64 << 10), &source.layout);
    events::each(bytes, &source.layout, timing, Start { offset: tail, line: 0, order: None }, bytes.len(), |_, _, facts| {
        last = last.max(facts.stamp.map(|s| s.end));
        std::ops::ControlFlow::Continue(())
    });
    (first, last)
}
