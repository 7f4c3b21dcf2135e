//! Observations of a source in the order of time, a piece at a time: memory stays flat however long the source is.

use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::Scope;
use std::vec;

use corr_parsers::clock::How;
use corr_readiness::convert::{Owner, observe};
use corr_readiness::merge::is_reversed;
use corr_readiness::{Cite, Observation};

use super::processes::Process;
use crate::query::extent;
use crate::query::sources::{Asked, Sources};
use crate::run::events::{self, Start};

/// Observations that are made at a time.
const PIECE: usize = 1024;
/// From this size on a source is read by a thread of its own.
const APART: usize = 4 << 20;
/// Pieces that such a thread may be ahead.
const AHEAD: usize = 8;
/// Records that tell whether the newest stands first.
const TELLING: usize = 2_000;

/// A source being read.
pub struct Reading<'s> {
    number: u32,
    source: &'s Asked,
    bytes: &'s [u8],
    host: &'s str,
    unit: &'s str,
    next: usize,
    /// Parts that are still to be read from their end, the last of them next; `None` for a source in order.
    backward: Option<Vec<(usize, usize)>>,
    piece: vec::IntoIter<Observation>,
}

impl<'s> Reading<'s> {
    /// Opens the source of a process; `None` where it cannot be read.
    pub fn new(sources: &'s Sources, process: &'s Process) -> Option<Reading<'s>> {
        let source = sources.sources.get(process.source)?;
        let bytes = source.bytes().ok()?;
        let number = u32::try_from(process.source).ok()?;
        let (host, unit) = (process.host.as_str(), process.unit.as_str());
        let mut reading = Reading { number, source, bytes, host, unit, next: 0, backward: None, piece: Vec::new().into_iter() };
        let (first, _) = reading.read(0, bytes.len(), TELLING);
        if is_reversed(&first) {
            reading.backward = Some(extent::parts(bytes, 0, source));
        }
        Some(reading)
    }

    /// Up to so many observations from a record on, and where reading stopped.
    fn read(&self, from: usize, end: usize, most: usize) -> (Vec<Observation>, usize) {
        let mut found = Vec::new();
        let owner = Owner { host: self.host, unit: self.unit };
        // A zone that nobody said is no clock beside the one that the envelope has.
        let assumed = self.source.clock.how == How::Assumed;
        let start = Start { offset: from, line: 0, order: None };
        let stopped = events::each(self.bytes, &self.source.layout, self.source.timing(), start, end, |record, event, facts| {
            let cite = Cite { source: self.number, offset: facts.offset as u64, len: u32::try_from(facts.length).unwrap_or(u32::MAX) };
            let boot_clock = record.meta.is_some_and(|meta| meta.monotonic.is_some());
            let wall = facts.stamp.filter(|_| !(assumed && boot_clock && facts.by_rule && !facts.from_envelope));
            found.extend(observe(cite, record, event, wall, owner));
            if found.len() >= most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        (found, stopped)
    }

    /// The next piece; empty at the end.
    fn refill(&mut self) -> Vec<Observation> {
        if self.backward.is_some() {
            while let Some((from, end)) = self.backward.as_mut().and_then(Vec::pop) {
                let (mut found, _) = self.read(from, end, usize::MAX);
                if !found.is_empty() {
                    found.reverse();
                    return found;
                }
            }
            return Vec::new();
        }
        while self.next < self.bytes.len() {
            let (found, stopped) = self.read(self.next, self.bytes.len(), PIECE);
            if stopped <= self.next {
                break;
            }
            self.next = stopped;
            if !found.is_empty() {
                return found;
            }
        }
        Vec::new()
    }

    /// Large sources are read by a thread, which waits when it is far enough ahead.
    pub fn start<'scope>(self, scope: &'scope Scope<'scope, '_>) -> Feed<'s>
    where
        's: 'scope,
    {
        if self.bytes.len() < APART {
            return Feed::Here(Box::new(self));
        }
        let (give, take) = sync_channel(AHEAD);
        let mut reading = self;
        scope.spawn(move || {
            loop {
                let piece = reading.refill();
                if piece.is_empty() || give.send(piece).is_err() {
                    return;
                }
            }
        });
        Feed::Apart(take, Vec::new().into_iter())
    }
}

impl Iterator for Reading<'_> {
    type Item = Observation;

    fn next(&mut self) -> Option<Observation> {
        if let Some(seen) = self.piece.next() {
            return Some(seen);
        }
        self.piece = self.refill().into_iter();
        self.piece.next()
    }
}

/// Observations, wherever they are made.
pub enum Feed<'s> {
    Here(Box<Reading<'s>>),
    Apart(Receiver<Vec<Observation>>, vec::IntoIter<Observation>),
}

impl Iterator for Feed<'_> {
    type Item = Observation;

    fn next(&mut self) -> Option<Observation> {
        match self {
            Feed::Here(reading) => reading.next(),
            Feed::Apart(take, piece) => {
                if let Some(seen) = piece.next() {
                    return Some(seen);
                }
                *piece = take.recv().ok()?.into_iter();
                piece.next()
            }
        }
    }
}
