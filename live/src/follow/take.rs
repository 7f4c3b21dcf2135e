//! What is seen, into the machine: bytes as observations, attempts as rows.

use corr_parsers::stamp::Stamp;
use corr_readiness::rows::{Row, What as Polled};
use corr_readiness::{Cite, Fact};

use super::back::is_unit;
use super::changes::{Transition, What};
use super::lines::{Lines, Taken};
use super::message::{Fault, Message, Scrape};
use super::metrics::Newest;
use super::polls;
use super::sources::Log;
use super::tail::{Seen, Turn};
use super::verdict::Latest;
use super::watch::Watch;
use crate::http::Attempt;

impl<F: FnMut(&Transition)> Watch<F> {
    /// Takes one thing that was seen.
    pub fn take(&mut self, message: Message) {
        match message {
            Message::Past { source, layout, shift } => {
                let Some(log) = self.log(source) else { return };
                if let Some(layout) = layout {
                    log.lines.laid_out(layout);
                }
                log.lines.shifted(shift);
            }
            Message::Tail { source, seen, received, old } => self.tail(source, seen, received, old),
            Message::CaughtUp { source } => {
                if let Some(log) = self.log(source) {
                    log.caught_up = true;
                }
                self.dirty = true;
            }
            Message::Fault { source, what } => {
                let says = what.to_string();
                if let Some(log) = self.log(source) {
                    log.fault = Some(what);
                }
                self.tell_source(source, says);
                self.dirty = true;
            }
            Message::Note { source, says } => self.tell_source(source, says),
            Message::Health { place, attempt } => self.polled(place, &attempt),
            Message::Scrape { place, scrape } => self.scraped(place, *scrape),
        }
    }

    fn log(&mut self, source: u32) -> Option<&mut Log> {
        self.logs.iter_mut().find(|log| log.source == source)
    }

    fn tail(&mut self, source: u32, seen: Seen, received: i64, old: bool) {
        match seen {
            Seen::Bytes { at, file, offset, bytes } => {
                self.texts.bytes(source, at, file, offset);
                self.lines(source, |lines, give| {
                    lines.push(at, &bytes, received, old);
                    lines.take(give);
                });
            }
            Seen::Turned { how, .. } => {
                self.lines(source, |lines, give| lines.turned(give));
                let Some(log) = self.log(source) else { return };
                let says = match how {
                    Turn::Rotated => {
                        log.rotations += 1;
                        "another file has its name: followed there, and here for as long as it grows"
                    }
                    Turn::Truncated => {
                        log.truncations += 1;
                        "it was truncated: read from its beginning"
                    }
                };
                self.tell_source(source, says.into());
            }
            Seen::Trouble { kind, what } => {
                let fault = match kind {
                    std::io::ErrorKind::NotFound => None,
                    std::io::ErrorKind::PermissionDenied => Some(Fault::NoPermission(what.clone())),
                    _ => Some(Fault::Unreadable(what.clone())),
                };
                let says = fault.as_ref().map_or_else(|| "it is not there; waiting for it".into(), ToString::to_string);
                if let Some(log) = self.log(source) {
                    log.fault = fault;
                }
                self.tell_source(source, says);
                self.dirty = true;
            }
            Seen::Opened => {
                if let Some(log) = self.log(source) {
                    log.fault = None;
                }
                self.tell_source(source, "it can be read now".into());
            }
        }
    }

    /// Lets a source's lines give what they have.
    pub fn lines(&mut self, source: u32, work: impl FnOnce(&mut Lines, &mut dyn FnMut(Taken))) {
        let mut all = Vec::new();
        let Some(log) = self.log(source) else { return };
        work(&mut log.lines, &mut |taken| all.push(taken));
        let note = log.lines.note();
        for taken in all {
            self.observed(taken);
        }
        if let Some(note) = note {
            self.tell_source(source, note);
        }
    }

    fn observed(&mut self, taken: Taken) {
        let Taken { mut seen, text, .. } = taken;
        if let Some(unit) = self.units.iter().find(|unit| is_unit(&seen.unit, unit)) {
            seen.unit.clone_from(unit);
        }
        if !seen.host.is_empty() {
            let here = self.host.get_or_insert_with(|| seen.host.clone());
            if *here == seen.host {
                seen.host.clear();
            }
        }
        let says = !matches!(seen.fact, Fact::Line | Fact::Batch { .. } | Fact::Served { .. });
        self.texts.keep(seen.cite, text, says);
        match seen.fact {
            Fact::Batch { .. } => {}
            // Thousands a second of a server that works.
            Fact::Line | Fact::Served { .. } => self.stale = true,
            _ => self.dirty = true,
        }
        if self.caught_up || self.logs.len() == 1 {
            self.machine.take(&seen);
            return;
        }
        let source = seen.cite.source;
        match self.old.iter_mut().find(|(known, _)| *known == source) {
            Some((_, all)) => all.push(seen),
            None => self.old.push((source, vec![seen])),
        }
    }

    fn polled(&mut self, place: usize, attempt: &Attempt) {
        let Some(polls) = self.health.get_mut(place) else { return };
        let up = attempt.status.is_some_and(|status| (200..300).contains(&status));
        let what = match (&attempt.body, attempt.status) {
            (_, Some(status)) => format!("HTTP {status}"),
            (Err(failure), None) => failure.to_string(),
            (Ok(_), None) => "an answer without a status".into(),
        };
        let says = format!("{}: {what}", polls.asked.target.shown());
        let cite = polls.next();
        let latest = Latest { up, says: says.clone(), cite, from: attempt.at };
        let (unit, speaks, changed) = (polls.asked.unit.clone(), polls.speaks, polls.up != Some(up));
        polls.up = Some(up);
        polls.latest = Some(latest);
        self.texts.keep(cite, says.clone(), changed);
        let until = polls::until(attempt);
        if speaks {
            let polled = if attempt.status.is_some() && !up { Polled::Unwell } else { Polled::Health { up } };
            self.row(&unit, cite, attempt.at, until, polled);
        }
        self.dirty = true;
        if changed {
            let what = if up { What::HealthUp } else { What::HealthDown };
            self.tell(unit, what, says, vec![cite], until);
        }
    }

    fn scraped(&mut self, place: usize, scrape: Scrape) {
        let Some(polls) = self.metrics.get_mut(place) else { return };
        let Scrape { endpoint, from, until, process_start, reset, kv_in_use } = scrape;
        let up = endpoint.exposes.is_some();
        let what = match (&endpoint.exposes, &endpoint.failure) {
            (Some(exposes), _) => format!("{} families, {} series", exposes.families.len(), exposes.series),
            (None, Some(failure)) => failure.what.clone(),
            (None, None) => "nothing".into(),
        };
        let says = format!("{}: {what}", polls.asked.target.shown());
        let cite = polls.next();
        let (unit, speaks, before) = (polls.asked.unit.clone(), polls.speaks, polls.up);
        polls.up = Some(up);
        polls.latest = Some(Latest { up, says: says.clone(), cite, from });
        self.texts.keep(cite, says.clone(), before != Some(up));
        if let Some(newest) = self.newest.get_mut(place) {
            *newest = Some(Newest { unit: unit.clone(), endpoint, from, cite });
        }
        if speaks {
            self.row(&unit, cite, from, until, Polled::Scrape { up, process_start, reset, kv_in_use });
        }
        self.dirty = true;
        if before == Some(true) && !up {
            self.tell(unit, What::MetricsDown, says, vec![cite], until);
        }
    }

    fn row(&mut self, unit: &str, cite: Cite, from: i64, until: i64, what: Polled) {
        let row = Row { cite, host: String::new(), unit: unit.to_owned(), from: Stamp::new(from, 1), until: Stamp::new(until, 1), what };
        self.machine.take_row(&row);
    }
}
