//! Two clocks in one file: a scraper that was killed and started again in the same folder counts its time from zero a second time, and the
//! compaction sorts both lives into each other.
//!
//! Counters tell it: by time they go back and forth between two rising runs, where a server that restarts falls once. Stamps must agree: within
//! a run they stand a period apart, between the runs they come as they fall.

use std::collections::HashMap;

use super::merge::Merged;
use super::table::Table;
use crate::model::Sample;

/// What the rows say of clocks.
#[derive(Debug)]
pub enum Clocks {
    One,
    /// Which life of the scraper a scrape is of, by endpoint and time: 0 is the first.
    Two(HashMap<(u32, i64), u8>),
    /// Counters go back and forth, but nothing proves two clocks.
    Unclear(String),
}

/// A counter must change runs so often: a server's restarts change it once or twice.
const RETURNS: usize = 3;

/// Looks for two clocks. Reads counters that fell more than once.
pub fn look(merged: &Merged, table: &Table) -> Clocks {
    let mut of = HashMap::new();
    let mut unclear = None;
    for endpoint in 0..table.endpoints.len() as u32 {
        let counters: Vec<Vec<Sample>> = table
            .series
            .iter()
            .enumerate()
            .filter(|(_, s)| s.endpoint == endpoint && s.name.seen().ends_with("_total") && !s.foreign)
            .filter_map(|(i, _)| u32::try_from(i).ok())
            .filter(|&i| merged.parts.len() > 1 || merged.parts.iter().any(|p| p.samples.fall_count(i) > 1))
            .map(|i| merged.series(i, endpoint, &mut []))
            .filter(|samples| falls(samples) > 1 && samples.windows(2).all(|w| w[0].at < w[1].at))
            .collect();
        let Some(runs) = counters.iter().find_map(|c| Runs::of(c)) else { continue };
        let (before, after): (usize, usize) = counters
            .iter()
            .map(|c| (falls(c), falls(&runs.part(c, 0)) + falls(&runs.part(c, 1))))
            .fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
        if after * 4 <= before && runs.stamps_agree() {
            of.extend(runs.of.iter().map(|(&at, &run)| ((endpoint, at), run)));
        } else if let Some(endpoint) = table.endpoints.get(endpoint as usize) {
            unclear.get_or_insert_with(|| endpoint.name.clone());
        }
    }
    match unclear {
        _ if !of.is_empty() => Clocks::Two(of),
        Some(endpoint) => Clocks::Unclear(format!(
            "counters of {endpoint} go back and forth between two rising runs: two starts of the scraper in one file, or several processes behind one endpoint"
        )),
        None => Clocks::One,
    }
}

fn falls(samples: &[Sample]) -> usize {
    samples.windows(2).filter(|w| w[1].value < w[0].value).count()
}

/// A counter's samples as two runs that only rise.
struct Runs {
    of: HashMap<i64, u8>,
    times: [Vec<i64>; 2],
}

impl Runs {
    /// Each sample joins the run whose last value is the nearest below it. Nothing for other than two runs, or such that are not interleaved.
    fn of(samples: &[Sample]) -> Option<Runs> {
        let mut last: Vec<f64> = Vec::new();
        let mut assigned = Vec::with_capacity(samples.len());
        let (mut current, mut returns) = (usize::MAX, 0);
        for sample in samples {
            let fits = last.iter().enumerate().filter(|(_, v)| **v <= sample.value);
            let run = match fits.max_by(|a, b| a.1.total_cmp(b.1)) {
                Some((run, _)) => {
                    returns += usize::from(run != current);
                    run
                }
                None if last.len() < 2 && !sample.value.is_nan() => {
                    last.push(sample.value);
                    last.len() - 1
                }
                None => return None,
            };
            *last.get_mut(run)? = sample.value;
            current = run;
            assigned.push((sample.at, run));
        }
        let [a, b] = last[..] else { return None };
        if returns < RETURNS {
            return None;
        }
        // the earlier life of the scraper saw the lower counts
        let flip = usize::from(b < a);
        let mut runs = Runs { of: HashMap::new(), times: [Vec::new(), Vec::new()] };
        for (at, run) in assigned {
            let run = run ^ flip;
            runs.of.insert(at, u8::from(run == 1));
            runs.times.get_mut(run)?.push(at);
        }
        Some(runs)
    }

    fn part(&self, samples: &[Sample], run: u8) -> Vec<Sample> {
        samples.iter().filter(|s| self.of.get(&s.at) == Some(&run)).copied().collect()
    }

    /// A scraper waits a period after each scrape: where both runs have stamps, those of both together come closer than those of either.
    fn stamps_agree(&self) -> bool {
        let [a, b] = &self.times;
        let (Some(from), Some(to)) = (a.first().max(b.first()), a.last().min(b.last())) else { return false };
        let mut both: Vec<i64> = a.iter().chain(b).copied().filter(|t| (from..=to).contains(&t)).collect();
        both.sort_unstable();
        let gaps = |times: &[i64]| times.windows(2).map(|w| w[1].saturating_sub(w[0])).collect::<Vec<i64>>();
        let together = gaps(&both);
        let (Some(&least), Some(&most)) = (together.iter().min(), together.iter().max()) else { return false };
        let Some(alone) = gaps(a).into_iter().chain(gaps(b)).min() else { return false };
        // 0.6: two periods of one scraper are never so unequal; one scraper that reads two processes in turn has equal steps
        (least as f64) < 0.6 * alone as f64 && (least as f64) < 0.8 * most as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(of: &[(i64, f64)]) -> Vec<Sample> {
        of.iter().map(|&(at, value)| Sample { at, value }).collect()
    }

    #[test]
    fn two_starts_are_told_from_a_restarting_server_and_from_two_processes() {
        let two = samples(&[(0, 23.0), (50, 24.0), (100, 25.0), (101, 13.0), (150, 26.0), (152, 14.0), (200, 27.0), (203, 15.0)]);
        let runs = Runs::of(&two).unwrap();
        assert_eq!(runs.times, [vec![101, 152, 203], vec![0, 50, 100, 150, 200]]);
        assert!(runs.stamps_agree());
        let restarted = samples(&[(0, 100.0), (50, 300.0), (100, 5.0), (150, 290.0), (200, 310.0), (250, 2.0), (300, 400.0)]);
        assert!(Runs::of(&restarted).is_none());
        let in_turn = samples(&[(0, 100.0), (50, 10.0), (100, 101.0), (150, 11.0), (200, 102.0), (250, 12.0)]);
        assert!(!Runs::of(&in_turn).unwrap().stamps_agree(), "equal steps: one scraper, two processes");
    }
}
