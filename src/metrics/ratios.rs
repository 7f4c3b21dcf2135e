//! One counter's share of others: its difference divided by theirs, of the same endpoint and, where both name ranks, of the same rank.

use corr_metrics::model::{Labels, SeriesId};
use corr_metrics::window::counter;
use corr_metrics::window::ratio::{self, Quotient};

use super::asked::{Captured, Hit};
use super::figures::{self, Counter, Figure};
use super::span::Placed;
use super::sums::{self, RANKS};

/// A quotient, or why there is none.
pub struct Share<'a> {
    pub captured: &'a Captured<'a>,
    pub placed: Placed,
    pub numerator: Term,
    /// The selector of the denominator, as typed.
    pub per: &'a str,
    /// What was added up to divide by.
    pub denominators: Vec<Term>,
    /// How ranks of the denominator were counted.
    pub ranks: Vec<String>,
    pub quotient: Result<Quotient, String>,
}

/// A counter's difference above or below the line.
#[derive(Clone, Debug)]
pub struct Term {
    pub id: SeriesId,
    pub found: Counter,
}

/// Every counter of `hits` over the counters of each denominator. Hits that are no counters are told as such.
pub fn of<'a>(hits: &[&'a Hit<'a>], pers: &'a [(String, Vec<Hit<'a>>)], place: &dyn Fn(&Captured<'_>) -> Option<Placed>) -> Vec<Share<'a>> {
    let mut out = Vec::new();
    for hit in hits {
        let Some(placed) = place(hit.captured) else { continue };
        for numerator in terms(hit, &placed) {
            for (per, below) in pers {
                let here = |other: &&'a Hit<'a>| {
                    std::ptr::eq(other.captured, hit.captured)
                        && other.member.endpoint == hit.member.endpoint
                        && same_ranks(&hit.member.labels, &other.member.labels)
                };
                let below: Vec<&'a Hit<'a>> = below.iter().filter(here).collect();
                let (kept, ranks) = sums::counted_once(&below);
                let denominators: Vec<Term> = kept.iter().flat_map(|other| terms(other, &placed)).collect();
                let quotient = quotient(hit.captured, &numerator, &denominators, kept.len());
                out.push(Share { captured: hit.captured, placed, numerator: numerator.clone(), per, denominators, ranks, quotient });
            }
        }
    }
    out
}

/// Labels of ranks agree where both have them.
pub fn same_ranks(a: &Labels, b: &Labels) -> bool {
    RANKS.iter().chain(&["dp_rank"]).all(|rank| match (a.get(rank), b.get(rank)) {
        (Some(a), Some(b)) => a == b,
        _ => true,
    })
}

fn terms(hit: &Hit<'_>, placed: &Placed) -> Vec<Term> {
    let counter = |part: figures::Part| match (part.figure, part.series[..].first()) {
        (Figure::Counter(found), Some(id)) => Some(Term { id: *id, found }),
        _ => None,
    };
    figures::of(hit, placed, &[]).into_iter().filter_map(counter).collect()
}

fn quotient(captured: &Captured<'_>, numerator: &Term, denominators: &[Term], members: usize) -> Result<Quotient, String> {
    if members == 0 {
        return Err("this endpoint and rank has no such counter".into());
    }
    if denominators.len() < members {
        return Err("what it is to be divided by is no counter".into());
    }
    let named = |term: &Term| captured.capture().spelled(term.id);
    let known = |term: &Term| {
        let found = term.found.answer.delta().cloned().zip(term.found.bracket);
        found.ok_or_else(|| format!("{} has no difference in the window", named(term)))
    };
    let above = known(numerator)?;
    let below = denominators.iter().map(known).collect::<Result<Vec<_>, _>>()?;
    let below: Vec<_> = below.iter().map(|(delta, bracket)| (delta, *bracket)).collect();
    Ok(ratio::divide((&above.0, above.1), &below))
}

impl Term {
    /// The difference, where there is one.
    pub fn delta(&self) -> Option<&counter::Delta> {
        self.found.answer.delta()
    }
}
