//! Puts the stamps of one source on the time axis.

use corr_parsers::clock::{Aligner, Clock, Rule, TurnFinder, Turns};
use corr_parsers::event::Event;
use corr_parsers::format::Content;
use corr_parsers::record::{Layout, Reader, Record};
use corr_parsers::stamp::{RawStamp, Stamp, Zone};
use corr_parsers::text;

/// A clock, with what only the whole source can say: in which year a stamp without one lies, and which half of a daylight-saving fold.
#[derive(Debug)]
pub struct Timing {
    payload: Aligner,
    envelope: Aligner,
    clock: Clock,
}

impl Timing {
    /// For a source whose stamps have years and whose zone has no folds.
    pub fn plain(clock: Clock) -> Timing {
        Timing { payload: Aligner::new(&clock), envelope: Aligner::new(&clock), clock }
    }

    /// The clock that is applied.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Must the whole source be read before its stamps can be placed?
    pub fn needs_pass(layout: &Layout, clock: &Clock) -> bool {
        matches!(clock.rule, Rule::Named(_)) || layout.envelopes.iter().any(|e| e.yearless)
    }

    /// For any source; reads it once where that is needed.
    pub fn of(bytes: &[u8], layout: &Layout, clock: &Clock) -> Timing {
        if !Timing::needs_pass(layout, clock) {
            return Timing::plain(clock.clone());
        }
        let named = matches!(clock.rule, Rule::Named(_));
        let (mut payload, mut envelope) = (TurnFinder::new(), TurnFinder::new());
        let mut reader = Reader::new(bytes, 0, layout);
        let mut spare: Option<Event<'static>> = None;
        while let Some(record) = reader.next() {
            if let Some(stamp) = record.meta.and_then(|m| m.stamp) {
                envelope.push(record.offset as u64, &stamp);
            }
            if !named || matches!(record.content, Content::Skip(_) | Content::Broken(_)) {
                continue;
            }
            let mut event = match spare.take() {
                Some(event) => event.recycle(&text::kinds::TEXT),
                None => Event::new(&text::kinds::TEXT),
            };
            record.parse(&mut event);
            if let Some(stamp) = event.stamp {
                payload.push(record.offset as u64, &stamp);
            }
            spare = Some(event.recycle(&text::kinds::TEXT));
        }
        let turns = |finder: TurnFinder| -> Option<Turns> { clock.last_year.map(|year| finder.finish(clock, year)) };
        let aligner = |turns: Option<Turns>| match turns {
            Some(turns) => Aligner::with_turns(clock, turns),
            None => Aligner::new(clock),
        };
        Timing { payload: aligner(turns(payload)), envelope: aligner(turns(envelope)), clock: clock.clone() }
    }

    /// When a record happened, and whether it is the envelope that says so.
    ///
    /// Where both say, the narrower interval wins if it names its zone: journald's UTC microseconds beat SGLang's naive seconds, Dynamo's own UTC
    /// microseconds beat a one-second envelope.
    pub fn stamp(&self, record: &Record<'_>, event: &Event<'_>) -> Placed {
        let at = record.offset as u64;
        let of = |raw: &RawStamp, aligner: &Aligner, from_envelope: bool| Placed {
            stamp: aligner.stamp_at(at, raw),
            from_envelope,
            by_rule: matches!(raw.zone, Zone::Naive | Zone::Yearless),
        };
        let inner = event.stamp.as_ref().map(|raw| (raw, of(raw, &self.payload, false)));
        let outer = record.meta.and_then(|m| m.stamp.as_ref()).map(|raw| (raw, of(raw, &self.envelope, true)));
        match (inner, outer) {
            (None, None) => Placed { stamp: None, from_envelope: false, by_rule: true },
            (Some((_, inner)), None) => inner,
            (None, Some((_, outer))) => outer,
            (Some((inner, a)), Some((outer, b))) => {
                let outer_first = match (zoned(inner), zoned(outer)) {
                    (true, false) => false,
                    (false, true) => outer.width <= inner.width,
                    // One rule for two clocks without zones: the envelope's, which is one clock for all entries.
                    (false, false) => outer.width <= inner.width,
                    _ => outer.width < inner.width,
                };
                if (outer_first && b.stamp.is_some()) || a.stamp.is_none() { b } else { a }
            }
        }
    }
}

/// When a record happened, and what says so.
#[derive(Clone, Copy, Debug)]
pub struct Placed {
    pub stamp: Option<Stamp>,
    /// It is the envelope's stamp.
    pub from_envelope: bool,
    /// The text names no zone: the clock's rule gave it one.
    pub by_rule: bool,
}

fn zoned(raw: &RawStamp) -> bool {
    matches!(raw.zone, Zone::Utc | Zone::Offset(_))
}
