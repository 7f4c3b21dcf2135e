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
    let above = numerator.delta().ok_or(NoRatio::NoNumerator)?;
    let below = denominator.delta().ok_or(NoRatio::NoDenominator)?;
    let (least, most) = numerator.bracket().ok_or(NoRatio::NoNumerator)?;
    let (smallest, largest) = denominator.bracket().ok_or(NoRatio::NoDenominator)?;
    let value = (below.inner.value > 0.0).then(|| above.inner.value / below.inner.value);
    let low = largest.filter(|largest| *largest > 0.0).map_or(0.0, |largest| least / largest);
    let high = most.filter(|_| smallest > 0.0).map(|most| most / smallest);
    let same_scrapes = above.first.at == below.first.at && above.last.at == below.last.at;
    Ok(Ratio { value, low, high, same_scrapes, numerator: above.clone(), denominator: below.clone() })
}
