//! One counter's share of another: the quotient of two differences, with both of them, and a bracket from both brackets.

use serde::Serialize;

use super::counter::{Answer, Delta};

/// A quotient with what stands above and below.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ratio {
    /// Quotient of the inner differences. `None` if the denominator did not move between its samples.
    #[serde(serialize_with = "crate::model::json::maybe")]
    pub value: Option<f64>,
    /// The quotient over the whole window lies in `[low, high]`, if nothing fell.
    #[serde(serialize_with = "crate::model::json::number")]
    pub low: f64,
    /// `None` for no bound.
    #[serde(serialize_with = "crate::model::json::maybe")]
    pub high: Option<f64>,
    /// Both rest on the same first and last scrape.
    pub same_scrapes: bool,
    pub numerator: Delta,
    pub denominator: Delta,
}

/// Which of the two has no difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NoRatio {
    NoNumerator,
    NoDenominator,
}

/// The quotient of what two counters did, each in its window.
pub fn of(numerator: &Answer, denominator: &Answer) -> Result<Ratio, NoRatio> {
    let bracketed = |answer: &Answer, missing| answer.delta().cloned().zip(answer.bracket()).ok_or(missing);
    let above = bracketed(numerator, NoRatio::NoNumerator)?;
    let below = bracketed(denominator, NoRatio::NoDenominator)?;
    let Quotient { value, low, high, same_scrapes } = divide((&above.0, above.1), &[(&below.0, below.1)]);
    Ok(Ratio { value, low, high, same_scrapes, numerator: above.0, denominator: below.0 })
}

/// A difference with the least and the most that its counter counted in the window.
pub type Bracketed<'d> = (&'d Delta, (f64, Option<f64>));

/// A quotient of differences.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Quotient {
    /// Of the inner differences. `None` if nothing below the line moved between its samples.
    #[serde(serialize_with = "crate::model::json::maybe")]
    pub value: Option<f64>,
    /// Over the whole window it lies in `[low, high]`, if nothing fell.
    #[serde(serialize_with = "crate::model::json::number")]
    pub low: f64,
    /// `None` for no bound.
    #[serde(serialize_with = "crate::model::json::maybe")]
    pub high: Option<f64>,
    /// All rest on the same first and last scrape.
    pub same_scrapes: bool,
}

/// What one counter did, divided by what some others did together.
pub fn divide((above, (least, most)): Bracketed<'_>, below: &[Bracketed<'_>]) -> Quotient {
    let (mut sum, mut smallest, mut largest) = (0.0, 0.0, Some(0.0));
    let mut same_scrapes = true;
    for (delta, (low, high)) in below {
        sum += delta.inner.value;
        smallest += low;
        largest = largest.zip(*high).map(|(a, b)| a + b);
        same_scrapes &= above.first.at == delta.first.at && above.last.at == delta.last.at;
    }
    Quotient {
        value: (sum > 0.0).then(|| above.inner.value / sum),
        low: largest.filter(|largest| *largest > 0.0).map_or(0.0, |largest| least / largest),
        high: most.filter(|_| smallest > 0.0).map(|most| most / smallest),
        same_scrapes,
    }
}
