//! What a source's sample says of its own clock: classes of stamps, and pairs of one moment told by two clocks.

use std::collections::HashMap;
use std::ops::ControlFlow;

use corr_parsers::clock::{Aligner, Clock};
use corr_parsers::event::{Event, Value};
use corr_parsers::ids::{self, IdKind};
use corr_parsers::stamp::{RawStamp, SECOND, Zone};

use crate::run::sample::Sample;
use crate::run::source::Source;

/// Ids remembered of one sample.
const MAX_IDS: usize = 20_000;
/// Pairs remembered of one kind.
const MAX_PAIRS: usize = 20_000;

/// Where a pair of a zoned and a naive stamp comes from, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum From {
    /// The envelope's stamp and the payload's.
    Envelope,
    /// An epoch number in the record itself.
    Epoch,
    /// A zoned stamp right before the naive one in the same source.
    Neighbour,
    /// The same id in another source.
    Id,
}

impl From {
    /// Smallest and largest residual (zoned minus naive under the right zone) that is believed, in seconds. All are narrower than the
    /// 900 s between two candidate offsets, so at most one offset explains a pair.
    pub fn bounds(self) -> (i64, i64) {
        match self {
            // Receipt follows the writing; a stalled reader may lag.
            From::Envelope => (-5, 400),
            // The record is written at the end of what its epoch number (entry, receipt) began.
            From::Epoch => (-840, 30),
            From::Neighbour => (-400, 60),
            From::Id => (-420, 420),
        }
    }

    /// For the evidence text.
    pub fn about(self) -> &'static str {
        match self {
            From::Envelope => "the envelope's zoned stamps against the payload's naive ones",
            From::Epoch => "epoch times in the same records",
            From::Neighbour => "zoned stamps of the records before",
            From::Id => "the same ids in",
        }
    }
}

/// One moment told twice: a UTC instant and a civil time, both in ns.
#[derive(Clone, Copy, Debug)]
pub struct Pair {
    pub utc: i64,
    pub civil: i64,
}

/// An id's first stamped appearance in a sample.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    pub ns: i64,
    pub zoned: bool,
}

/// The date of the batch script that a sweep log begins with: it names the zone of the host whose clock the naive
/// stamps are of.
#[derive(Clone, Copy, Debug)]
pub struct HostDate {
    /// Seconds east of UTC.
    pub east: i64,
    /// The first naive stamp behind it, less the date, in seconds, if the zone is the same. `None` until one was read.
    pub until_naive: Option<i64>,
    utc: i64,
}

/// What a sample says.
#[derive(Debug, Default)]
pub struct Facts {
    pub zoned: usize,
    pub naive: usize,
    pub yearless: usize,
    pub monotonic: usize,
    /// Zone names in stamps, each once, in order of appearance.
    pub abbreviations: Vec<String>,
    /// First naive stamp, to ask a named zone for its offset then.
    pub first_naive: Option<i64>,
    pub envelope: Vec<Pair>,
    pub epoch: Vec<Pair>,
    pub neighbour: Vec<Pair>,
    pub ids: HashMap<String, Seen>,
    /// What `date` printed in the source itself, with the naive stamp behind it.
    pub host_date: Option<HostDate>,
    /// The envelope's own stamps are naive too, so they prove nothing of the payload's.
    pub naive_envelope: bool,
    /// The envelope's stamps count from boot.
    pub from_boot: bool,
}

impl Facts {
    /// Reads a sample.
    pub fn of(source: &Source, sample: &Sample) -> Facts {
        let mut facts = Facts::default();
        let mut last_zoned: Option<i64> = None;
        let mut key = String::new();
        let mut names = Aligner::new(&Clock::assumed());
        sample.each(source, |record, event| {
            let outer = record.meta.and_then(|m| m.stamp);
            // Zone names that mean one thing (`EST`) are as good as an offset.
            let absolute = outer
                .filter(|s| s.zone != Zone::Naive)
                .and_then(|s| names.stamp(&s))
                .or_else(|| record.meta.and_then(|m| m.received).and_then(|s| s.absolute()));
            for stamp in [outer, event.stamp].into_iter().flatten() {
                facts.count(&stamp);
            }
            facts.from_boot |= record.meta.is_some_and(|m| m.stamp.is_none() && m.monotonic.is_some());
            facts.naive_envelope |= outer.is_some() && absolute.is_none();
            let Some(inner) = event.stamp else { return ControlFlow::Continue(()) };
            let of_script = record.format.is_some_and(|f| f.name == "srtctl") && event.fields.is_empty();
            if of_script
                && facts.host_date.is_none()
                && matches!(event.kind.name, "run_started" | "run_ended")
                && inner.zone != Zone::Naive
                && let Some(date) = names.stamp(&inner)
            {
                facts.host_date = Some(host_date(&inner, date.start));
            }
            if inner.zone == Zone::Naive
                && let Some(date) = facts.host_date.as_mut().filter(|d| d.until_naive.is_none())
            {
                date.until_naive = Some((inner.ns - date.east * SECOND - date.utc).div_euclid(SECOND));
            }
            match inner.zone {
                Zone::Naive => {
                    facts.first_naive = facts.first_naive.or(Some(inner.ns));
                    if let Some(outer) = absolute {
                        push(&mut facts.envelope, outer.start, inner.ns);
                    }
                    if let Some(utc) = epoch_of(event) {
                        push(&mut facts.epoch, utc, inner.ns);
                    }
                    if let Some(utc) = last_zoned.filter(|_| record.meta.is_none()) {
                        push(&mut facts.neighbour, utc, inner.ns);
                    }
                }
                Zone::Utc | Zone::Offset(_) => last_zoned = Some(inner.ns),
                _ => {}
            }
            let zoned = matches!(inner.zone, Zone::Utc | Zone::Offset(_));
            if zoned || inner.zone == Zone::Naive {
                for id in &event.ids {
                    if !matches!(id.kind, IdKind::Rid | IdKind::RequestId) || facts.ids.len() >= MAX_IDS {
                        continue;
                    }
                    // The ids of health probes and hand-made short ones may recur.
                    if id.text.len() < 16 {
                        continue;
                    }
                    ids::canonical(Some(id.kind), &id.text, &mut key);
                    if !facts.ids.contains_key(&key) {
                        facts.ids.insert(key.clone(), Seen { ns: inner.ns, zoned });
                    }
                }
            }
            ControlFlow::Continue(())
        });
        facts
    }

    fn count(&mut self, stamp: &RawStamp) {
        match stamp.zone {
            Zone::Utc | Zone::Offset(_) => self.zoned += 1,
            Zone::Naive => self.naive += 1,
            Zone::Yearless => self.yearless += 1,
            Zone::Monotonic => self.monotonic += 1,
            Zone::Abbreviation(name) => {
                let name = String::from_utf8_lossy(&name).trim_end().to_string();
                if self.abbreviations.len() < 8 && !self.abbreviations.contains(&name) {
                    self.abbreviations.push(name);
                }
            }
        }
    }

    /// Stamps that need a rule to become UTC.
    pub fn needs_rule(&self) -> bool {
        self.naive + self.yearless > 0 || !self.abbreviations.is_empty()
    }
}

fn host_date(raw: &RawStamp, utc: i64) -> HostDate {
    let east = match raw.zone {
        Zone::Offset(east) => i64::from(east),
        _ => (raw.ns - utc) / SECOND,
    };
    HostDate { east, until_naive: None, utc }
}

fn push(pairs: &mut Vec<Pair>, utc: i64, civil: i64) {
    if pairs.len() < MAX_PAIRS {
        pairs.push(Pair { utc, civil });
    }
}

/// The UTC ns that the record itself gives for about the moment of its stamp: an epoch time of the end where there is one, else of the
/// beginning with the durations since added.
fn epoch_of(event: &Event<'_>) -> Option<i64> {
    for name in ["response_sent_to_client_ts", "request_finished_ts", "decode_finished_ts"] {
        if let Some(seconds) = number(event, name) {
            return epoch_ns(seconds);
        }
    }
    for name in ["entry_time", "request_received_ts"] {
        if let Some(seconds) = number(event, name) {
            let ms: f64 =
                ["queue_ms", "forward_ms"].iter().filter_map(|n| number(event, n)).filter(|ms| (0.0..600_000.0).contains(ms)).sum();
            return epoch_ns(seconds + ms / 1000.0);
        }
    }
    None
}

fn number(event: &Event<'_>, name: &str) -> Option<f64> {
    match event.get(name)? {
        Value::Float(v) => Some(*v),
        Value::Int(v) => Some(*v as f64),
        _ => None,
    }
}

/// Epoch seconds of 2001 to 2100; smaller numbers are process clocks.
fn epoch_ns(seconds: f64) -> Option<i64> {
    if !(1e9..4.1e9).contains(&seconds) {
        return None;
    }
    Some((seconds * 1e6) as i64 * (SECOND / 1_000_000))
}
