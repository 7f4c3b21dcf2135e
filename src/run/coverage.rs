//! What a source holds, byte for byte: one full pass that accounts for everything in it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use corr_parsers::event::{Event, Kind, Level, Outcome, Value};
use corr_parsers::ids::IdKind;
use corr_parsers::record::Record;
use corr_parsers::stamp::{SECOND, Stamp};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use rayon::prelude::*;

use super::bytes::{self, Bytes};
use super::source::{Class, Source};
use super::timing::Timing;
use super::versions::{self, Hint, Range};
use super::{Run, events};

/// No pause shorter than this is a gap, in ns.
const GAP_AT_LEAST: i64 = 30 * SECOND;
/// A gap is this many times longer than the median time between stamps.
const GAP_TIMES: i64 = 20;
/// Gaps that are kept.
const GAPS: usize = 5;
/// Distinct worker ids that are kept.
const MAX_WORKERS: usize = 64;
/// Records of one kind that are asked for version hints.
const ASKED: u64 = 64;

/// Records and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub records: u64,
    pub bytes: u64,
}

impl Tally {
    fn add(&mut self, bytes: usize) {
        self.records += 1;
        self.bytes += bytes as u64;
    }
}

/// A stretch without stamps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The last stamp before it.
    pub before: Stamp,
    /// The first stamp after it, and its record's line.
    pub after: Stamp,
    pub line: u64,
}

impl Gap {
    /// Shortest time that it can have lasted, in ns.
    pub fn length(&self) -> i64 {
        self.after.start.saturating_sub(self.before.end)
    }
}

/// What a source holds.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    /// Decompressed size.
    pub bytes: u64,
    /// Physical lines; a last line without its end counts.
    pub lines: u64,
    pub records: u64,
    pub parsed: Tally,
    /// Known and skipped, by reason.
    pub skipped: BTreeMap<&'static str, Tally>,
    /// Not understood, by reason.
    pub unparsed: BTreeMap<&'static str, Tally>,
    /// Earliest and latest stamp, and records that have none.
    pub first: Option<Stamp>,
    pub last: Option<Stamp>,
    pub unstamped: u64,
    /// The narrowest stamp, in ns.
    pub resolution: Option<i64>,
    /// Half of the times between neighbouring stamps are at most this, in ns, to within a factor of two.
    pub median_spacing: Option<i64>,
    /// The longest gaps, in time order.
    pub gaps: Vec<Gap>,
    /// Records by kind, the commonest first.
    pub kinds: Vec<(&'static Kind, u64)>,
    pub levels: BTreeMap<&'static str, u64>,
    /// Ranks seen, by rank field.
    pub ranks: BTreeMap<String, BTreeSet<i64>>,
    /// Worker ids in it (at most 64).
    pub workers: BTreeSet<String>,
    pub versions: Vec<Range>,
    /// Requests whose rows or request-log records carry a session, an x-request-id; of how many.
    pub requests: u64,
    pub with_session: u64,
    pub with_x_request_id: u64,
    /// What is wrong with the bytes.
    pub damage: Option<String>,
}

impl Coverage {
    /// Bytes of all records; equal to [`Coverage::bytes`] unless corr itself is wrong.
    pub fn accounted(&self) -> u64 {
        let tallies = self.skipped.values().chain(self.unparsed.values());
        self.parsed.bytes + tallies.map(|t| t.bytes).sum::<u64>()
    }

    /// Every byte and every record has one place.
    pub fn adds_up(&self) -> bool {
        let tallies = self.skipped.values().chain(self.unparsed.values());
        self.accounted() == self.bytes && self.parsed.records + tallies.map(|t| t.records).sum::<u64>() == self.records
    }

    /// Physical lines that are not a record's first. Negative when records begin in mid-line.
    pub fn continuation_lines(&self) -> i64 {
        self.lines as i64 - self.records as i64
    }

    /// Records of a kind, by name.
    pub fn of_kind(&self, name: &str) -> u64 {
        self.kinds.iter().filter(|(kind, _)| kind.name == name).map(|(_, n)| n).sum()
    }

    /// Records at debug level or below.
    pub fn debug(&self) -> u64 {
        self.levels.get("debug").copied().unwrap_or(0) + self.levels.get("trace").copied().unwrap_or(0)
    }
}

/// Reads every event source of a run whole, in parallel by source. `None` for sources that hold no events, `Err` for those that the system
/// would not read.
pub fn all(run: &Run, show_progress: bool) -> Vec<Option<std::io::Result<Coverage>>> {
    let total = run.sources.iter().filter(|s| s.class == Class::Events).map(|s| s.stat.size).sum();
    let progress = Progress::new(total, show_progress);
    let read = run
        .sources
        .par_iter()
        .map(|source| {
            if source.class != Class::Events {
                return None;
            }
            let covered = bytes::open(&source.path).map(|opened| {
                let mut coverage = of(source, &opened.bytes, |share| progress.add(share, source.stat.size));
                coverage.damage = opened.damage;
                coverage
            });
            Some(covered)
        })
        .collect();
    progress.finish();
    read
}

/// Accounts for the bytes of one source. `progress` hears the share read since it heard last, 0 to 1.
pub fn of(source: &Source, bytes: &Bytes, mut progress: impl FnMut(f64)) -> Coverage {
    let mut pass = Pass::default();
    let timing = Timing::of(bytes, &source.detection.layout, &source.clock);
    let mut told = 0usize;
    let start = events::Start::of_source();
    events::each(bytes, &source.detection.layout, &timing, start, bytes.len(), |record, event, facts| {
        pass.record(record, event, facts);
        if record.offset - told > 4 << 20 {
            progress((record.offset - told) as f64 / bytes.len() as f64);
            told = record.offset;
        }
        ControlFlow::Continue(())
    });
    if !bytes.is_empty() {
        progress((bytes.len() - told) as f64 / bytes.len() as f64);
    }
    pass.finish(bytes)
}

#[derive(Default)]
struct Pass {
    out: Coverage,
    /// Latest stamp so far, to measure gaps over small inversions.
    latest: Option<Stamp>,
    /// Times between stamps, counted by their power of two.
    spacings: BTreeMap<u32, u64>,
    hints: Vec<&'static Hint>,
}

impl Pass {
    fn record(&mut self, record: &Record<'_>, event: &Event<'_>, facts: &events::Facts) {
        let out = &mut self.out;
        out.records += 1;
        match &facts.outcome {
            Outcome::Parsed => out.parsed.add(facts.length),
            Outcome::Skipped(why) => out.skipped.entry(why).or_default().add(facts.length),
            Outcome::Unparsed(why) => out.unparsed.entry(why).or_default().add(facts.length),
        }
        let seen = match out.kinds.iter_mut().find(|(kind, _)| std::ptr::eq(*kind, event.kind)) {
            Some((_, n)) => {
                *n += 1;
                *n
            }
            None => {
                out.kinds.push((event.kind, 1));
                1
            }
        };
        if seen <= ASKED
            && let Some(hint) = versions::of(record, event)
            && !self.hints.contains(&hint)
        {
            self.hints.push(hint);
        }
        if let Some(level) = event.level {
            *out.levels.entry(Level::name(level)).or_default() += 1;
        }
        for field in &event.fields {
            if let (name, Value::Int(rank)) = (&*field.name, &field.value)
                && name.ends_with("_rank")
                && out.ranks.len() < 16
            {
                match out.ranks.get_mut(name) {
                    Some(ranks) if ranks.len() < 1024 => _ = ranks.insert(*rank),
                    Some(_) => {}
                    None => _ = out.ranks.insert(name.to_string(), BTreeSet::from([*rank])),
                }
            }
        }
        let (mut session, mut x_request) = (false, false);
        for id in &event.ids {
            match id.kind {
                IdKind::WorkerId if out.workers.len() < MAX_WORKERS && !out.workers.contains(&*id.text) => {
                    out.workers.insert(id.text.to_string());
                }
                IdKind::Session => session = true,
                IdKind::XRequestId => x_request = true,
                _ => {}
            }
        }
        if counts_as_request(record, event) {
            out.requests += 1;
            out.with_session += u64::from(session);
            out.with_x_request_id += u64::from(x_request);
        }
        match facts.stamp {
            Some(stamp) => self.stamp(stamp, facts.line),
            None => out.unstamped += 1,
        }
    }

    fn stamp(&mut self, stamp: Stamp, line: u64) {
        let out = &mut self.out;
        out.first = Some(out.first.map_or(stamp, |first| if stamp.start < first.start { stamp } else { first }));
        out.last = Some(out.last.map_or(stamp, |last| if stamp.end > last.end { stamp } else { last }));
        out.resolution = Some(out.resolution.map_or(stamp.width(), |width| width.min(stamp.width())));
        if let Some(latest) = self.latest {
            let spacing = stamp.start.saturating_sub(latest.start).max(0);
            *self.spacings.entry(64 - spacing.leading_zeros()).or_default() += 1;
            let gap = Gap { before: latest, after: stamp, line };
            if gap.length() > GAP_AT_LEAST {
                out.gaps.push(gap);
                // More than are printed, as some may turn out to be usual for this source.
                if out.gaps.len() > 4 * GAPS {
                    out.gaps.sort_by_key(|g| std::cmp::Reverse(g.length()));
                    out.gaps.truncate(GAPS);
                }
            }
        }
        if self.latest.is_none_or(|latest| stamp.end > latest.end) {
            self.latest = Some(stamp);
        }
    }

    fn finish(self, bytes: &[u8]) -> Coverage {
        let Pass { mut out, spacings, hints, .. } = self;
        out.bytes = bytes.len() as u64;
        out.lines = events::count_lines(bytes) + u64::from(bytes.last().is_some_and(|b| *b != b'\n'));
        out.kinds.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.name.cmp(b.0.name)));
        out.versions = versions::ranges(&hints);
        let half = spacings.values().sum::<u64>().div_ceil(2);
        let mut below = 0;
        for (power, n) in spacings {
            below += n;
            if below >= half {
                out.median_spacing = Some(if power == 0 { 0 } else { 1i64 << (power - 1).min(62) });
                break;
            }
        }
        let usual = out.median_spacing.unwrap_or(0).saturating_mul(GAP_TIMES);
        out.gaps.retain(|gap| gap.length() > usual);
        out.gaps.sort_by_key(|g| std::cmp::Reverse(g.length()));
        out.gaps.truncate(GAPS);
        out.gaps.sort_by_key(|g| g.before.start);
        out
    }
}

/// One record a request: a trace row's end, or the first line of a request log.
fn counts_as_request(record: &Record<'_>, event: &Event<'_>) -> bool {
    let format = record.format.map_or("", |f| f.name);
    match event.kind.name {
        "request_end" => format.ends_with("-trace"),
        "request_received" => format.starts_with("sglang"),
        _ => false,
    }
}

/// A progress bar that appears on a terminal only, and only after half a second.
struct Progress {
    bar: ProgressBar,
    started: Instant,
    shown: AtomicBool,
    wanted: bool,
}

impl Progress {
    fn new(total: u64, wanted: bool) -> Progress {
        let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template("reading  {bar:30} {bytes}/{total_bytes}  {eta}") {
            bar.set_style(style);
        }
        Progress { bar, started: Instant::now(), shown: AtomicBool::new(false), wanted }
    }

    fn add(&self, share: f64, size: u64) {
        self.bar.inc((share * size as f64) as u64);
        if self.wanted && self.started.elapsed() > Duration::from_millis(500) && !self.shown.swap(true, Ordering::Relaxed) {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
    }

    fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::run::bytes::Compression;
    use crate::run::source::{Owner, Stat};
    use corr_parsers::clock::Clock;

    fn covered(bytes: &[u8]) -> Coverage {
        let source = Source {
            path: "x".into(),
            name: "x".into(),
            key: "x".into(),
            stat: Stat { size: bytes.len() as u64, mtime: 0, ctime: 0, inode: 0 },
            compression: Compression::None,
            class: Class::Events,
            detection: corr_parsers::detect::detect(bytes, true),
            owner: Owner::default(),
            clock: Clock::assumed(),
            damage: None,
        };
        let mut share = 0.0;
        let coverage = of(&source, &Bytes::Held(bytes.to_vec()), |s| share += s);
        assert!(bytes.is_empty() || (share - 1.0).abs() < 1e-6);
        coverage
    }

    #[test]
    fn sums_levels_and_the_last_line() {
        let log =
            b"2026-11-29T18:54:31.401318Z  INFO main.async_main: one\n2026-11-29T18:54:32.000000Z DEBUG main.x: two\n    more\n\nplain";
        let c = covered(log);
        assert_eq!((c.records, c.lines, c.continuation_lines()), (3, 5, 2));
        assert!(c.adds_up());
        assert_eq!((c.debug(), c.levels.get("info")), (1, Some(&1)));
        assert_eq!((c.resolution, c.unstamped), (Some(1_000), 1));
    }

    const SAMPLES: &[&str] = &[
        "[2026-11-29 18:38:36] ReqTimeStats(rid=64469f4f7f6244d6b59c80708603c139, input_len=21, type=unified): entry_time=1795977516.068\n",
        "2026-11-29T18:54:31.401318Z  INFO main.async_main: Request migration disabled (limit: 0)\n",
        "Dec 31 23:57:42 gpu-7 python3[2101]: [2025-12-31 23:57:42] Prefill batch, #new-seq: 1, #new-token: 8\n",
        "{\"schema\":\"dynamo.request.trace.v1\",\"event_type\":\"request_end\",\"event_time_unix_ms\":1795975544227}\n",
    ];

    proptest! {
        #[test]
        fn any_bytes_add_up(bytes in proptest::collection::vec(any::<u8>(), 0..2_000)) {
            prop_assert!(covered(&bytes).adds_up());
        }

        #[test]
        fn mutated_samples_add_up(picks in proptest::collection::vec((0usize..4, any::<u16>(), any::<u8>()), 1..30)) {
            let mut bytes = Vec::new();
            for (i, at, value) in picks {
                let mut line = SAMPLES[i].as_bytes().to_vec();
                let at = at as usize % line.len();
                line[at] = value;
                bytes.extend(line);
            }
            prop_assert!(covered(&bytes).adds_up());
        }
    }
}
