//! Where a series fell: the resets of a counter.

use crate::model::Sample;

/// A sample and the next, which is smaller. Samples that are NaN are passed over.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Fall {
    pub before: Sample,
    pub after: Sample,
}

/// Falls of a series while its samples go by.
#[derive(Clone, Debug, Default)]
pub struct Falls {
    /// Kept while they are few, which those of a counter are.
    pub(super) kept: Option<Vec<Fall>>,
    pub(super) count: u64,
    pub(super) seen: u64,
    pub(super) last: Option<Sample>,
    /// Times of the samples that are NaN, while they are as few.
    pub(super) unknown: Vec<i64>,
    pub(super) unknown_count: u64,
}

/// So many falls are kept of any series; of those that fall oftener than once in sixteen samples no more.
const FEW: u64 = 64;

impl Falls {
    /// Takes the next sample in time.
    pub fn push(&mut self, sample: Sample) {
        if sample.value.is_nan() {
            self.unknown_count += 1;
            if self.unknown_count <= FEW || self.unknown_count * 16 <= self.seen {
                self.unknown.push(sample.at);
            } else {
                self.unknown = Vec::new();
            }
            return;
        }
        self.seen += 1;
        if let Some(before) = self.last
            && sample.value < before.value
        {
            self.count += 1;
            if self.count <= FEW || self.count * 16 <= self.seen {
                if self.count == 1 {
                    self.kept = Some(Vec::new());
                }
                if let Some(kept) = &mut self.kept {
                    kept.push(Fall { before, after: sample });
                }
            } else {
                self.kept = None;
            }
        }
        self.last = Some(sample);
    }

    /// Takes the next samples in time: of a counter, and of a gauge known as one, all at once.
    pub fn extend(&mut self, times: &[i64], values: &[f64]) {
        let (Some((&first, rest)), Some((&at, &value))) = (values.split_first(), times.last().zip(values.last())) else { return };
        let pairs = || values.iter().zip(rest);
        // To the end, without a branch for each. NaN is not at least anything.
        let rises = self.last.map_or(!first.is_nan(), |before| first >= before.value) && pairs().fold(true, |up, (a, b)| up & (b >= a));
        let gauge = self.count > 0 && self.kept.is_none();
        let plain = rises || gauge && !values.iter().fold(false, |nan, v| nan | v.is_nan());
        if plain && times.len() == values.len() {
            if !rises {
                self.count += u64::from(self.last.is_some_and(|before| first < before.value));
                self.count += pairs().map(|(a, b)| u64::from(b < a)).sum::<u64>();
            }
            self.seen += values.len() as u64;
            self.last = Some(Sample { at, value });
            return;
        }
        times.iter().zip(values).for_each(|(&at, &value)| self.push(Sample { at, value }));
    }

    /// How often it fell.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Times of every sample that is NaN; `None` if there were too many to keep.
    pub fn unknown(&self) -> Option<&[i64]> {
        (self.unknown.len() as u64 == self.unknown_count).then_some(&self.unknown[..])
    }

    /// Every fall, by time; `None` if there were too many to keep: no counter falls so often.
    pub fn all(&self) -> Option<&[Fall]> {
        if self.count == 0 { Some(&[]) } else { self.kept.as_deref() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn falls(values: &[f64]) -> Falls {
        let mut falls = Falls::default();
        for (at, &value) in values.iter().enumerate() {
            falls.push(Sample { at: at as i64, value });
        }
        falls
    }

    #[test]
    fn a_fall_is_seen_across_nan() {
        let found = falls(&[5.0, f64::NAN, 3.0, 4.0]);
        assert_eq!(found.all(), Some(&[Fall { before: Sample { at: 0, value: 5.0 }, after: Sample { at: 2, value: 3.0 } }][..]));
        assert_eq!(falls(&[1.0, 1.0]).all(), Some(&[][..]));
    }

    #[test]
    fn stretches_are_as_single_samples() {
        let values = [1.0, 2.0, 2.0, 1.0, f64::NAN, 3.0, 4.0, 5.0, 0.0, 0.0, f64::NAN];
        for cut in 0..values.len() {
            let mut stretched = Falls::default();
            let times: Vec<i64> = (0..values.len() as i64).collect();
            stretched.extend(&times[..cut], &values[..cut]);
            stretched.extend(&times[cut..], &values[cut..]);
            let single = falls(&values);
            assert_eq!((stretched.all(), stretched.seen, stretched.last), (single.all(), single.seen, single.last), "{cut}");
        }
    }

    #[test]
    fn unknown_values_are_kept_while_they_are_few() {
        assert_eq!(falls(&[5.0, f64::NAN, 3.0, f64::NAN]).unknown(), Some(&[1, 3][..]));
        assert_eq!(falls(&[5.0]).unknown(), Some(&[][..]));
        assert_eq!(falls(&[f64::NAN; 65]).unknown(), None);
        let mut late = vec![f64::NAN; 65];
        late.extend([1.0; 2000]);
        late.push(f64::NAN);
        assert_eq!(falls(&late).unknown(), None, "those before it are gone");
    }

    #[test]
    fn stretches_of_a_gauge_are_as_single_samples() {
        let values: Vec<f64> = (0..4000).map(|i| if i % 997 == 996 { f64::NAN } else { f64::from(i * 7919 % 101) }).collect();
        let times: Vec<i64> = (0..4000).collect();
        for step in [1, 2, 100, 128] {
            let mut stretched = Falls::default();
            times.chunks(step).zip(values.chunks(step)).for_each(|(times, values)| stretched.extend(times, values));
            let single = falls(&values);
            assert_eq!((stretched.all(), stretched.count, stretched.seen), (None, single.count, single.seen), "{step}");
            assert_eq!((stretched.last, stretched.unknown()), (single.last, single.unknown()), "{step}");
        }
    }

    #[test]
    fn a_gauge_keeps_only_the_count() {
        let values: Vec<f64> = (0..1000).map(|i| f64::from(i % 2)).collect();
        assert_eq!(falls(&values).count(), 499);
        assert_eq!(falls(&values).all(), None);
    }
}
