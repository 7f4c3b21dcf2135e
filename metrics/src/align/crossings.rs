//! When did a counter pass a level, on two clocks? Each level that both scrapers saw it pass bounds the offset of their clocks.

use super::agree::Bound;
use super::reads::Reads;
use crate::model::{Precision, Sample};

/// What one scraper saw of one life of a counter: levels that only grow, and when they were read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Life {
    /// Equal levels in a row are one step.
    pub steps: Vec<Step>,
}

/// A level, and the scrapes that read it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    pub value: f64,
    /// By the end of the first of them it had been reached.
    pub reached: i64,
    /// At the start of the last of them it was not yet passed.
    pub kept: i64,
}

/// A level that was passed on both clocks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crossing {
    /// By when, on the first clock.
    pub at: i64,
    /// The second clock less the first.
    pub offset: Bound,
}

/// The lives of a counter: it starts anew where it falls. Samples that are not numbers say nothing, nor does one that is below the sample before
/// while the next is not: no counter is started anew and back between two scrapes, it was an answer from elsewhere or from before.
pub fn lives(samples: &[Sample], reads: &Reads) -> Vec<Life> {
    let mut lives: Vec<Life> = Vec::new();
    let mut value = f64::INFINITY;
    let mut rest = samples.iter().filter(|s| s.value.is_finite()).peekable();
    while let Some(sample) = rest.next() {
        if sample.value < value && rest.peek().is_some_and(|next| next.value >= value) {
            continue;
        }
        let span = reads.at(sample.at);
        let step = Step { value: sample.value, reached: span.to, kept: span.from };
        if sample.value < value {
            lives.push(Life::default());
        }
        value = sample.value;
        let Some(life) = lives.last_mut() else { continue };
        match life.steps.last_mut() {
            Some(last) if last.value == sample.value => {
                last.reached = last.reached.min(span.to);
                last.kept = last.kept.max(span.from);
            }
            _ => life.steps.push(step),
        }
    }
    lives
}

impl Life {
    /// When it was seen, on its clock.
    pub fn range(&self) -> Option<(i64, i64)> {
        Some((self.steps.first()?.reached, self.steps.last()?.kept))
    }
}

/// Which of two values is smaller, where one or both may have been rounded to 32 bits: rounding keeps order, so that what differs after it
/// differed before.
fn rounded(value: f64, precision: Precision) -> f64 {
    match precision {
        Precision::F64 => value,
        Precision::F32 => f64::from(value as f32),
    }
}

/// Every level that was passed in both lives. `precision` is the worse of the two.
pub fn crossings(a: &Life, b: &Life, precision: Precision, out: &mut Vec<Crossing>) {
    let (mut i, mut j) = (0, 0);
    let value = |step: &Step| rounded(step.value, precision);
    while let (Some(at), Some(bt)) = (a.steps.get(i), b.steps.get(j)) {
        let level = value(at).min(value(bt));
        // the last step below the level and the first that is not, in both
        if let (Some(below_a), Some(below_b)) = (below(&a.steps, i), below(&b.steps, j)) {
            let offset = Bound { low: below_b.kept.saturating_sub(at.reached), high: bt.reached.saturating_sub(below_a.kept) };
            out.push(Crossing { at: at.reached, offset });
        }
        // values that rounding made equal stand in a row
        while a.steps.get(i).is_some_and(|s| value(s) <= level) {
            i += 1;
        }
        while b.steps.get(j).is_some_and(|s| value(s) <= level) {
            j += 1;
        }
    }
}

fn below(steps: &[Step], i: usize) -> Option<&Step> {
    steps.get(i.checked_sub(1)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn life(steps: &[(f64, i64)]) -> Life {
        Life { steps: steps.iter().map(|&(value, at)| Step { value, reached: at + 1, kept: at }).collect() }
    }

    #[test]
    fn a_level_is_passed_between_two_scrapes_on_each_clock() {
        // passed 5 in (0, 11] here and in (103, 114] there
        let mut found = Vec::new();
        crossings(&life(&[(4.0, 0), (5.0, 10)]), &life(&[(4.0, 103), (6.0, 113)]), Precision::F64, &mut found);
        assert_eq!(found, [Crossing { at: 11, offset: Bound { low: 103 - 11, high: 114 } }]);
    }

    #[test]
    fn a_dip_of_one_sample_is_no_life() {
        let mut builder = crate::build::Builder::new("t", crate::model::Clock::Wall, crate::model::StampOf::Exposition);
        let id = builder.endpoint("x");
        let series = builder.series(id, "n_total", &crate::model::Labels::default(), Precision::F64);
        for (at, value) in [(0, 5.0), (1, 4.0), (2, 6.0), (3, f64::NAN), (4, 1.0), (5, 2.0)] {
            builder.push(series, at, value);
        }
        let capture = builder.finish();
        let reads = Reads::of(&capture, id, &crate::align::reads::Timing::default());
        let lives = lives(&capture.samples(series), &reads);
        let values: Vec<Vec<f64>> = lives.iter().map(|l| l.steps.iter().map(|s| s.value).collect()).collect();
        assert_eq!(values, [vec![5.0, 6.0], vec![1.0, 2.0]]);
    }

    #[test]
    fn levels_of_both_count_and_what_one_never_passed_does_not() {
        let (a, b) = (life(&[(1.0, 0), (5.0, 10), (9.0, 20)]), life(&[(3.0, 100), (7.0, 110)]));
        let mut found = Vec::new();
        crossings(&a, &b, Precision::F64, &mut found);
        let bounds: Vec<(i64, i64)> = found.iter().map(|c| (c.offset.low, c.offset.high)).collect();
        assert_eq!(bounds, [(100 - 11, 111), (100 - 21, 111 - 10)], "of 5 and of 7; 3 was passed before the second looked");
    }

    #[test]
    fn what_rounding_made_equal_is_one_level() {
        // 2^24 + 1 is stored as 2^24
        let (a, b) = (life(&[(16_777_210.0, 0), (16_777_217.0, 10)]), life(&[(16_777_210.0, 100), (16_777_216.0, 110)]));
        let mut found = Vec::new();
        crossings(&a, &b, Precision::F32, &mut found);
        assert_eq!(found.len(), 1);
        found.clear();
        crossings(&a, &b, Precision::F64, &mut found);
        assert_eq!(found.len(), 1, "and 2^24 + 1 was never passed there");
    }
}
