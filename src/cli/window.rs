//! `--since`, `--until` and `--window` into one window of UTC time.

use anyhow::{Context as _, bail};
use corr_parsers::clock::Rule;
use corr_parsers::record;
use rayon::prelude::*;

use crate::query::answer::Window;
use crate::query::sources::{Asked, Sources};
use crate::query::timespec::{self, Base, Context, TimeSpec};
use crate::run::events::{self, Start};

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
    let of_run = |time: &TimeSpec| matches!(time.base, Base::RunStart | Base::RunEnd | Base::TimeOfDay(_));
    let relative = [&since, &until].into_iter().flatten().any(of_run);
    let (start, end) = if relative { extent(&sources.sources) } else { (None, None) };
    let context = Context { run_start: start, run_end: end, now, zone, anchors: Default::default() };
    let window = timespec::window(since.as_ref(), until.as_ref(), &context)?;
    Ok(Window { since: window.since, until: window.until })
}

/// First and last stamp of a run: by the index where there is one, else by reading every record. Logs are written nearly in order, but not quite, and
/// exports may stand newest first: what is asked relative to the run must mean the same with an index and without.
fn extent(sources: &[Asked]) -> (Option<i64>, Option<i64>) {
    let mut found = Extent::default();
    for source in sources {
        for segment in &source.segments {
            found = found.with(Extent { first: segment.reference.first, last: segment.reference.last });
        }
        if (source.unindexed || source.needs_tail())
            && let Ok(bytes) = source.bytes()
        {
            let from = if source.unindexed { 0 } else { source.indexed_to.min(bytes.len()) };
            found = found.with(read(bytes, from, source));
        }
    }
    (found.first, found.last)
}

/// UTC nanoseconds of the earliest start and the latest end of some stamps.
#[derive(Clone, Copy, Default)]
struct Extent {
    first: Option<i64>,
    last: Option<i64>,
}

impl Extent {
    fn with(self, other: Extent) -> Extent {
        Extent { first: self.first.into_iter().chain(other.first).min(), last: self.last.max(other.last) }
    }
}

/// So many bytes are read by one thread at a time.
const CHUNK: usize = 8 << 20;

/// The stamps of the records from byte `from`, which begins one.
fn read(bytes: &[u8], from: usize, source: &Asked) -> Extent {
    let mut starts: Vec<usize> = vec![from];
    starts.extend((from + CHUNK..bytes.len()).step_by(CHUNK).map(|at| record::record_start(bytes, at, &source.layout)));
    starts.dedup();
    let ends = starts.iter().skip(1).copied().chain([bytes.len()]);
    let parts: Vec<(usize, usize)> = starts.iter().copied().zip(ends).collect();
    let of = |(offset, end): (usize, usize)| {
        let mut found = Extent::default();
        let start = Start { offset, line: 0, order: None };
        events::each(bytes, &source.layout, source.timing(), start, end, |_, _, facts| {
            if let Some(stamp) = facts.stamp {
                found = found.with(Extent { first: Some(stamp.start), last: Some(stamp.end) });
            }
            std::ops::ControlFlow::Continue(())
        });
        found
    };
    parts.into_par_iter().map(of).reduce(Extent::default, Extent::with)
}
