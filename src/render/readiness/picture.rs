//! One bar for each run of a unit, on one axis of time, with its phases marked: as text; a report draws the same bars.

use corr_readiness::history::{Invocation, Verdict};
use corr_readiness::{Instant, Mark};

use super::Unit;
use crate::render::shown::rfc3339;

/// Columns of a bar as text.
const COLUMNS: usize = 72;

/// A stretch of a life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Started, and not loading yet.
    Starting,
    Loading,
    /// Weights are there; not ready.
    Loaded,
    Ready,
    /// Asked to stop.
    Stopping,
}

impl Phase {
    fn letter(self) -> char {
        match self {
            Phase::Starting => '·',
            Phase::Loading => '░',
            Phase::Loaded => '▒',
            Phase::Ready => '█',
            Phase::Stopping => '▓',
        }
    }

    /// The name of its style in a page.
    pub fn class(self) -> &'static str {
        match self {
            Phase::Starting => "starting",
            Phase::Loading => "loading",
            Phase::Loaded => "loaded",
            Phase::Ready => "ready",
            Phase::Stopping => "stopping",
        }
    }

    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Phase::Starting => "starting",
            Phase::Loading => "loading",
            Phase::Loaded => "loaded, not ready",
            Phase::Ready => "ready",
            Phase::Stopping => "stopping",
        }
    }
}

/// All of them, in the order of a life.
pub const PHASES: [Phase; 5] = [Phase::Starting, Phase::Loading, Phase::Loaded, Phase::Ready, Phase::Stopping];

/// What the picture's signs mean.
pub const LEGEND: &str =
    "· starting  ░ loading  ▒ loaded  █ ready  ▓ stopping  R ready  E ended  X died  ? known as a bound only  > goes on";

/// One run on the axis: its phases, each with its begin and end in UTC nanoseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// Place in the unit's runs.
    pub run: usize,
    pub phases: Vec<(Phase, i64, i64)>,
    pub from: i64,
    pub until: i64,
    /// When it was ready, and whether that is exact.
    pub ready: Option<(i64, bool)>,
    /// When it ended, whether that is exact, and whether it died.
    pub ended: Option<(i64, bool, bool)>,
}

/// Where an instant is drawn: at its record, else where it had happened by, else where it had not happened before.
fn drawn(instant: &Instant) -> Option<(i64, bool)> {
    let start = |mark: &Mark| mark.wall.map(|wall| wall.start);
    match instant {
        Instant::Exact { mark } => Some((start(mark)?, true)),
        other => Some((other.upper().or(other.lower()).and_then(start)?, false)),
    }
}

fn bar(number: usize, run: &Invocation, last: Option<i64>) -> Option<Bar> {
    let at = |instant: &Instant| drawn(instant).map(|(at, _)| at);
    let instants = &run.instants;
    let happened = |instant: &Instant| instant.happened().then(|| drawn(instant)).flatten();
    let ready = happened(&instants.ready);
    let seen = run.seen.iter().flat_map(|(_, seen)| [seen.first, seen.last]).filter_map(|mark| Some(mark.wall?.start));
    let from = at(&instants.started).into_iter().chain(seen.clone().min()).min().or(ready.map(|(at, _)| at))?;
    let died = matches!(run.verdict, Verdict::ReadyThenDied | Verdict::NeverReady | Verdict::NeverRan);
    let ended = happened(&instants.ended).map(|(at, exact)| (at.max(from), exact, died));
    let until = ended.map(|(at, ..)| at).or(last).or(seen.max()).unwrap_or(from).max(from);
    let stop = happened(&instants.stopping).or(happened(&instants.asked));
    let turns = [
        (Phase::Starting, Some(from)),
        (Phase::Loading, happened(&instants.loading).map(|(at, _)| at)),
        (Phase::Loaded, happened(&instants.loaded).map(|(at, _)| at)),
        (Phase::Ready, ready.map(|(at, _)| at)),
        (Phase::Stopping, stop.map(|(at, _)| at)),
    ];
    let mut phases: Vec<(Phase, i64, i64)> = Vec::new();
    for (phase, begin) in turns.into_iter().filter_map(|(phase, begin)| Some((phase, begin?.clamp(from, until)))) {
        if let Some(before) = phases.last_mut() {
            // Stamps of a second each may contradict the order of a life: a phase is never of negative length.
            before.2 = begin.max(before.1);
        }
        let begin = phases.last().map_or(begin, |before| begin.max(before.1));
        phases.push((phase, begin, until));
    }
    Some(Bar { run: number, phases, from, until, ready, ended })
}

/// The bars of a unit's runs; runs of which no record has a time have none.
pub fn bars(unit: &Unit) -> Vec<Bar> {
    let last = unit.unit.last.and_then(|mark| mark.wall).map(|wall| wall.end);
    let runs = &unit.unit.invocations;
    // Only the last run goes on to the end of the log.
    let bar = |(at, run): (usize, &Invocation)| bar(at, run, last.filter(|_| at + 1 == runs.len()));
    runs.iter().enumerate().filter_map(bar).collect()
}

/// First and last instant of some bars.
fn axis(bars: &[Bar]) -> Option<(i64, i64)> {
    let from = bars.iter().map(|bar| bar.from).min()?;
    let until = bars.iter().map(|bar| bar.until).max()?;
    Some((from, until.max(from.saturating_add(1))))
}

/// The column of an instant.
fn column(at: i64, (from, until): (i64, i64)) -> usize {
    let along = i128::from(at) - i128::from(from);
    let whole = i128::from(until) - i128::from(from);
    let column = (along * (COLUMNS as i128)).div_euclid(whole.max(1));
    usize::try_from(column.clamp(0, COLUMNS as i128 - 1)).unwrap_or(0)
}

/// Lines of text: the axis, and one line a run. Empty where nothing has a time.
pub fn text(unit: &Unit, bars: &[Bar]) -> Vec<String> {
    let Some(axis) = axis(bars) else { return Vec::new() };
    let each = (axis.1.saturating_sub(axis.0)) as f64 / COLUMNS as f64 / 1e9;
    let widest = bars.iter().filter_map(|bar| unit.numbers.get(bar.run)).max().map_or(1, |number| number.to_string().len());
    let shown = if each >= 1.0 { format!("{each:.1} s") } else { format!("{:.0} ms", each * 1e3) };
    let mut lines =
        vec![format!("{:widest$}  {} to {}, {shown} a column", "", rfc3339(axis.0, 1_000_000_000), rfc3339(axis.1, 1_000_000_000))];
    for bar in bars {
        let number = unit.numbers.get(bar.run).copied().unwrap_or_default();
        lines.push(format!("#{number:<widest$} |{}|", line(bar, axis)));
    }
    lines
}

fn line(bar: &Bar, axis: (i64, i64)) -> String {
    let mut cells = [' '; COLUMNS];
    let mut set = |at: usize, sign: char| {
        if let Some(cell) = cells.get_mut(at) {
            *cell = sign;
        }
    };
    for (phase, from, until) in &bar.phases {
        for at in column(*from, axis)..=column(*until, axis) {
            set(at, phase.letter());
        }
    }
    match bar.ended {
        Some((at, exact, died)) => {
            let at = column(at, axis);
            set(at, if died { 'X' } else { 'E' });
            if !exact {
                set(at + 1, '?');
            }
        }
        None => set(column(bar.until, axis), '>'),
    }
    if let Some((at, exact)) = bar.ready {
        let at = column(at, axis);
        set(at, 'R');
        if !exact {
            set(at + 1, '?');
        }
    }
    cells.iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns() {
        assert_eq!((column(0, (0, 72)), column(71, (0, 72)), column(72, (0, 72))), (0, 71, 71));
        assert_eq!(column(i64::MAX, (i64::MIN, i64::MAX)), COLUMNS - 1);
    }

    #[test]
    fn a_bar_marks_its_phases() {
        let bar = Bar {
            run: 0,
            phases: vec![(Phase::Starting, 0, 10), (Phase::Loading, 10, 20), (Phase::Ready, 20, 60)],
            from: 0,
            until: 60,
            ready: Some((20, true)),
            ended: Some((60, false, true)),
        };
        let drawn = line(&bar, (0, 72));
        assert_eq!(drawn.chars().count(), COLUMNS);
        assert!(drawn.starts_with("··········░░░░░░░░░░R█"), "{drawn}");
        assert!(drawn.trim_end().ends_with("█X?"), "{drawn}");
    }

    /// Polls of a server that came, went and came back.
    fn polled(name: &str) -> Unit {
        use corr_parsers::stamp::{SECOND, Stamp};
        use corr_readiness::rows::{Row, What};
        use corr_readiness::{Cite, Machine, Options};
        let mut machine = Machine::new(Options::default());
        for (at, up) in [(0, false), (10, true), (20, true), (30, false), (40, true)] {
            let stamp = Stamp::new(1_795_979_600 * SECOND + at * SECOND, SECOND);
            let cite = Cite { source: 0, offset: at as u64, len: 1 };
            let row = Row { cite, host: String::new(), unit: name.into(), from: stamp, until: stamp, what: What::Health { up } };
            machine.take_row(&row);
        }
        let unit = machine.history().units.remove(0);
        let runs = unit.invocations.len();
        Unit { unit, name: name.into(), numbers: (1..=runs).collect(), outages: vec![None; runs], before: (0..runs).collect(), outside: 0 }
    }

    #[test]
    fn pictures_of_polls() {
        let unit = polled("a<b");
        let bars = bars(&unit);
        assert_eq!(bars.len(), 2);
        let lines = text(&unit, &bars);
        assert!(lines.len() == 3 && lines[1].contains("R?") && lines[1].contains("X?"), "{lines:#?}");
    }
}
