//! Where did an elapsed clock begin, if it scraped how long a process is up and another capture did so with a wall clock? The process began at
//! one instant on both clocks.

use super::agree::{Bound, agree};
use super::reads::{Reads, Timing, unfit};
use super::seconds;
use super::shared::{By, endpoints, series};
use crate::model::{Anchor, Capture, SECOND, Series, SeriesId};

/// Why uptimes do not tell.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NoUptime {
    #[error("{layout}: {why}")]
    Unfit { layout: &'static str, why: &'static str },
    #[error("no uptime of one process is in both captures")]
    None,
    #[error("{holds} of {of} samples agree at best: the uptime is no clock")]
    Disagree { holds: u64, of: u64 },
}

/// Share of samples that must hold.
const ENOUGH: f64 = 0.9;

/// The clock of `b` less that of `a`: if `a` is elapsed and `b` UTC, where the clock of `a` began.
pub fn offset(a: &Capture, b: &Capture, timing_a: &Timing, timing_b: &Timing) -> Result<Anchor, NoUptime> {
    for capture in [a, b] {
        if let Some(why) = unfit(capture) {
            return Err(NoUptime::Unfit { layout: capture.layout, why });
        }
    }
    let mut bounds = Vec::new();
    let (mut holds, mut of) = (0, 0);
    for same in endpoints(a, b) {
        let (reads_a, reads_b) = (Reads::of(a, same.a, timing_a), Reads::of(b, same.b, timing_b));
        for (in_a, in_b) in series(a, same.a, b, same.b) {
            // workers of one kind have the same series: their labels must tell them apart
            let Some(own) = a.get(in_a).filter(|s| is_uptime(s) && (same.by != By::Series || !s.labels.is_empty())) else { continue };
            let Some(other) = b.get(in_b) else { continue };
            let (births_a, births_b) = (births(a, own, in_a, &reads_a), births(b, other, in_b, &reads_b));
            // lives are paired by their order: a life that one did not see leaves that open
            if births_a.len() != births_b.len() {
                continue;
            }
            for (one, other) in births_a.iter().zip(&births_b) {
                holds += one.holds + other.holds;
                of += one.of + other.of;
                let (one, other) = (one.at, other.at);
                bounds.push(Bound { low: other.low.saturating_sub(one.high), high: other.high.saturating_sub(one.low) });
            }
        }
    }
    if bounds.is_empty() {
        return Err(NoUptime::None);
    }
    let Some(found) = agree(bounds.iter().copied()) else { return Err(NoUptime::Disagree { holds: 0, of }) };
    if found.holds < found.of || (holds as f64) < ENOUGH * of as f64 {
        return Err(NoUptime::Disagree { holds, of });
    }
    let Bound { low, high } = found.hull;
    let how = format!("uptime of {} processes in both captures, {} wide", bounds.len(), seconds(high.saturating_sub(low)));
    Ok(Anchor { low, high, how, holds: Some((holds, of)) })
}

fn is_uptime(series: &Series) -> bool {
    series.name.canonical().ends_with("uptime_seconds") && series.trouble.collisions == 0 && !series.trouble.damaged
}

/// When a process began, on the capture's clock.
struct Birth {
    at: Bound,
    holds: u64,
    of: u64,
}

/// The beginning of each life of a process; where samples contradict each other, of none.
fn births(capture: &Capture, series: &Series, id: SeriesId, reads: &Reads) -> Vec<Birth> {
    let mut lives: Vec<Vec<Bound>> = Vec::new();
    let mut before = f64::INFINITY;
    for sample in capture.samples(id) {
        let Some((least, most)) = nanoseconds(sample.value, series.precision.error(sample.value)) else { continue };
        if sample.value < before {
            lives.push(Vec::new());
        }
        before = sample.value;
        let span = reads.at(sample.at);
        if let Some(life) = lives.last_mut() {
            life.push(Bound { low: span.from.saturating_sub(most), high: span.to.saturating_sub(least) });
        }
    }
    let birth = |life: &Vec<Bound>| {
        let found = agree(life.iter().copied())?;
        Some(Birth { at: found.hull, holds: found.holds, of: found.of })
    };
    lives.iter().filter_map(birth).collect()
}

/// Seconds to nanoseconds, with what rounding leaves open.
fn nanoseconds(seconds: f64, error: f64) -> Option<(i64, i64)> {
    // a century; and a 64-bit float is exact to a microsecond there
    let sane = |s: f64| (-1.0..3.2e9).contains(&s).then_some((s * SECOND as f64) as i64);
    Some((sane(seconds - error)?.saturating_sub(1000), sane(seconds + error)?.saturating_add(1000)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::align::testing;
    use crate::build::Builder;
    use crate::cases::cases;
    use crate::model::{Clock, Labels, Outcome, Precision, StampOf};

    /// Every second scrape of a run for the one capture, the others for the second, whose clock is set to an elapsed one: the truth is known.
    /// A worker was killed and started anew in between.
    #[test]
    fn two_halves_of_one_folder() {
        let Some(folder) = cases("dynamo/A1_trace_payload_headers_jsonl/metrics") else { return };
        let mut names: Vec<String> = std::fs::read_dir(&folder)
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .filter(|n| n.ends_with(".prom"))
            .collect();
        names.sort();
        let began = 1_795_975_541_000_000_000;
        let mut wall = Builder::new("wall", Clock::Wall, StampOf::FileName);
        let mut elapsed = Builder::new("elapsed", Clock::Elapsed { anchor: None }, StampOf::FileName);
        for (i, name) in names.iter().enumerate() {
            let (endpoint, at) = name.trim_end_matches(".prom").split_once('_').unwrap();
            let at: i64 = at.parse::<i64>().unwrap() * 1_000_000;
            let text = std::fs::read_to_string(folder.join(name)).unwrap();
            match i % 2 {
                0 => testing::exposition(&mut wall, endpoint, at, &text),
                _ => testing::exposition(&mut elapsed, endpoint, at - began, &text),
            }
        }
        let timing = Timing { took: SECOND / 20, ..Timing::default() };
        let found = offset(&elapsed.finish(), &wall.finish(), &timing, &timing).unwrap();
        println!("{found:?}");
        assert!(found.low <= began && began <= found.high);
        assert!(found.high - found.low < SECOND / 5);
    }

    fn up(lives: &[(i64, i64, i64)], clock: Clock, shift: i64) -> Capture {
        let mut builder = Builder::new("t", clock, StampOf::Request);
        let id = builder.endpoint("x");
        let series = builder.series(id, "x_uptime_seconds", &Labels::default(), Precision::F32);
        for &(born, first, last) in lives {
            for at in first..last {
                builder.scrape(id, (at + shift) * SECOND, Some(SECOND / 100), Outcome::Read);
                builder.push(series, (at + shift) * SECOND, f64::from((at - born) as f32));
            }
        }
        builder.finish()
    }

    #[test]
    fn a_restart_gives_a_second_birth_and_a_life_that_one_did_not_see_none() {
        let timing = Timing::default();
        let both = up(&[(0, 5, 20), (30, 31, 50)], Clock::Elapsed { anchor: None }, 0);
        let wall = up(&[(0, 3, 22), (30, 34, 60)], Clock::Wall, 1000);
        let found = offset(&both, &wall, &timing, &timing).unwrap();
        assert!(found.low <= 1000 * SECOND && 1000 * SECOND <= found.high);
        assert!(found.how.contains("2 processes"), "{}", found.how);
        let late = up(&[(30, 34, 60)], Clock::Wall, 1000);
        assert_eq!(offset(&both, &late, &timing, &timing), Err(NoUptime::None));
    }

    #[test]
    fn an_uptime_that_jumps_is_no_clock() {
        let timing = Timing::default();
        let mut builder = Builder::new("t", Clock::Wall, StampOf::Request);
        let id = builder.endpoint("x");
        let series = builder.series(id, "x_uptime_seconds", &Labels::default(), Precision::F64);
        (0..20).for_each(|i| builder.push(series, i * SECOND, (i * i) as f64));
        let jumps = builder.finish();
        assert!(matches!(offset(&jumps, &jumps, &timing, &timing), Err(NoUptime::Disagree { .. })));
    }
}
