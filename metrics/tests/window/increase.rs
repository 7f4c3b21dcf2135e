//! PromQL's `increase`, to show beside ours what it makes of the same samples. Only tests have it: it extrapolates.

use corr_metrics::model::Sample;
use corr_metrics::window::Window;

/// Which Prometheus.
#[derive(Clone, Copy, PartialEq)]
pub enum Rules {
    /// 2.x: closed windows; the start is clamped where the counter would pass zero before it is compared with the threshold.
    Two,
    /// 3.x: windows without their first instant; clamped after.
    Three,
}

/// What `increase` answers; `None` where it has no answer.
pub fn increase(samples: &[Sample], window: Window, rules: Rules) -> Option<f64> {
    let seconds = |ns: i64| ns as f64 / 1e9;
    let inside = samples.iter().filter(|s| window.contains(s.at) && !s.value.is_nan());
    let inside: Vec<Sample> = inside.filter(|s| rules == Rules::Two || s.at > window.from()).copied().collect();
    let (first, last) = (inside.first()?, inside.last()?);
    if inside.len() < 2 {
        return None;
    }
    let mut result = last.value - first.value;
    result += inside.windows(2).filter(|w| w[1].value < w[0].value).map(|w| w[0].value).sum::<f64>();
    let sampled = seconds(last.at - first.at);
    let average = sampled / (inside.len() - 1) as f64;
    let (mut start, mut end) = (seconds(first.at - window.from()), seconds(window.to() - last.at));
    let threshold = average * 1.1;
    if rules == Rules::Three && start >= threshold {
        start = average / 2.0;
    }
    if result > 0.0 && first.value >= 0.0 {
        start = start.min(sampled * (first.value / result));
    }
    if start >= threshold {
        start = average / 2.0;
    }
    if end >= threshold {
        end = average / 2.0;
    }
    Some(result * ((sampled + start + end) / sampled))
}
