//! Where rows go: one capture, or as many as an elapsed clock began anew.

use crate::build::Builder;
use crate::model::{Capture, Clock, SeriesId, StampOf};

/// Builders, one for each life of the clock.
pub struct Sink {
    begin: (&'static str, Clock, StampOf),
    elapsed: bool,
    lives: Vec<Life>,
    /// Last time of a slot and the life that it is in, for elapsed clocks alone.
    slots: Vec<Option<(i64, usize)>>,
    /// Latest row and how often time fell from row to row.
    last: Option<i64>,
    falls: usize,
}

struct Life {
    builder: Builder,
    series: Vec<Option<SeriesId>>,
}

impl Sink {
    pub fn new(layout: &'static str, clock: Clock, stamp_of: StampOf) -> Sink {
        let elapsed = matches!(clock, Clock::Elapsed { .. });
        let mut sink = Sink { elapsed, begin: (layout, clock, stamp_of), lives: Vec::new(), slots: Vec::new(), last: None, falls: 0 };
        sink.life(0);
        sink
    }

    /// Where notes of the whole go.
    pub fn builder(&mut self) -> &mut Builder {
        &mut self.life(0).builder
    }

    fn life(&mut self, number: usize) -> &mut Life {
        while self.lives.len() <= number {
            let (layout, clock, stamp_of) = &self.begin;
            self.lives.push(Life { builder: Builder::new(layout, clock.clone(), *stamp_of), series: Vec::new() });
        }
        let last = self.lives.len() - 1;
        &mut self.lives[number.min(last)]
    }

    /// Samples of a slot: what the caller counts series by. `make` is asked once for each capture.
    pub fn add(&mut self, slot: usize, make: impl Fn(&mut Builder) -> SeriesId, times: &[i64], values: &[f64]) {
        if !self.elapsed {
            return self.put(0, slot, &make, times, values);
        }
        let mut from = 0;
        while from < times.len() {
            let rest = &times[from..];
            let to = from + 1 + rest.windows(2).take_while(|w| w[1] >= w[0]).count();
            let life = self.enter(slot, &times[from..to]);
            self.put(life, slot, &make, &times[from..to], values.get(from..to).unwrap_or(&[]));
            from = to;
        }
    }

    /// The life of a stretch whose times do not fall: the slot's own, or the next if time fell since its last sample. In a file of scrape after
    /// scrape every fall is a new life, of series that were not seen before too; in one of series after series it is not.
    fn enter(&mut self, slot: usize, times: &[i64]) -> usize {
        let (Some(&first), Some(&last)) = (times.first(), times.last()) else { return 0 };
        if self.last.is_some_and(|before| first < before) {
            self.falls += 1;
        }
        self.last = Some(last);
        if self.slots.len() <= slot {
            self.slots.resize(slot + 1, None);
        }
        let newest = self.lives.len() - 1;
        let life = match self.slots[slot] {
            Some((before, life)) if first < before => life + 1,
            Some((_, life)) => life,
            None if self.falls == newest => newest,
            None => 0,
        };
        self.slots[slot] = Some((last, life));
        life
    }

    fn put(&mut self, life: usize, slot: usize, make: &impl Fn(&mut Builder) -> SeriesId, times: &[i64], values: &[f64]) {
        let life = self.life(life);
        if life.series.len() <= slot {
            life.series.resize(slot + 1, None);
        }
        let Life { builder, series } = life;
        let series = *series[slot].get_or_insert_with(|| make(builder));
        builder.extend(series, times, values);
    }

    /// The captures.
    pub fn finish(self, files: &[std::path::PathBuf]) -> Vec<Capture> {
        let several = self.lives.len() > 1;
        let finish = |(number, mut life): (usize, Life)| {
            files.iter().for_each(|f| life.builder.file(f));
            if several {
                let what = || format!("time goes back within the file: this is capture {} of those in it", number + 1);
                life.builder.note("several_captures", what, || files.first().map(|f| f.display().to_string()));
            }
            life.builder.finish()
        };
        self.lives.into_iter().enumerate().map(finish).collect()
    }
}
