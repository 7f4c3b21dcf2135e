//! Figures added up by a label: ranks that say the same thing are counted once, and only after their samples were compared.

use std::collections::BTreeMap;

use corr_metrics::catalogue::{Member, Parts};
use corr_metrics::model::{Kind, Precision, Sample, SeriesId};
use corr_metrics::window::quantile::Quantile;
use corr_metrics::window::replica::{self, Replicas, Verdict};
use corr_metrics::window::{counter, histogram};

use super::asked::{Captured, Hit, title};
use super::figures::{self, Counter, Figure};
use super::span::Placed;

/// Labels that tell ranks of one engine apart. Whether these ranks are replicas is told by their samples, never by the label.
pub(super) const RANKS: &[&str] = &["tp_rank", "pp_rank", "moe_ep_rank", "attn_tp_rank", "attn_cp_rank", "pid"];

/// The sum over the members of a family that have one value of a label.
pub struct Sum<'a> {
    pub captured: &'a Captured<'a>,
    pub family: &'a str,
    /// The label's value; empty for members without the label.
    pub value: String,
    pub total: Total,
    /// Members that were counted, as `name{labels}[target]`, with the samples behind each.
    pub counted: Vec<String>,
    /// How ranks were counted, a sentence for each set of them.
    pub ranks: Vec<String>,
    /// Members that say nothing in the window, with the reason: they are not in the total, which is a lower bound then.
    pub missing: Vec<String>,
}

/// What was added up.
pub enum Total {
    /// Sum of the inner differences, with the least and the most of all together.
    Counter {
        inner: f64,
        least: f64,
        most: Option<f64>,
    },
    Histogram {
        count: f64,
        quantiles: Vec<Quantile>,
    },
    /// Nothing was added, with the reason.
    Nothing(String),
}

/// Adds up hits by the values of a label (`target` for the endpoint).
pub fn of<'a>(hits: &[&'a Hit<'a>], label: &str, place: &dyn Fn(&Captured<'_>) -> Option<Placed>, quantiles: &[f64]) -> Vec<Sum<'a>> {
    let mut groups: BTreeMap<(usize, &str, String), Vec<&'a Hit<'a>>> = BTreeMap::new();
    let mut captures: Vec<&Captured<'_>> = Vec::new();
    for hit in hits {
        let at = captures.iter().position(|c| std::ptr::eq(*c, hit.captured)).unwrap_or_else(|| {
            captures.push(hit.captured);
            captures.len() - 1
        });
        groups.entry((at, hit.group.name.as_str(), value_of(hit, label))).or_default().push(hit);
    }
    let mut out = Vec::new();
    for ((_, family, value), hits) in groups {
        let Some(captured) = hits.first().map(|h| h.captured) else { continue };
        let mut sum = Sum {
            captured,
            family,
            value,
            total: Total::Nothing("the window cannot be laid on this capture".into()),
            counted: Vec::new(),
            ranks: Vec::new(),
            missing: Vec::new(),
        };
        if let Some(placed) = place(captured) {
            let (counted, ranks) = counted_once(&hits);
            sum.ranks = ranks;
            sum.add(&counted, &placed, quantiles);
        }
        out.push(sum);
    }
    out
}

fn value_of(hit: &Hit<'_>, label: &str) -> String {
    let capture = hit.captured.capture();
    match hit.member.labels.get(label) {
        Some(value) => value.to_string(),
        None if label == "target" => capture.endpoint(hit.member.endpoint).map(title).unwrap_or_default(),
        None => String::new(),
    }
}

impl<'a> Sum<'a> {
    fn add(&mut self, hits: &[&'a Hit<'a>], placed: &Placed, quantiles: &[f64]) {
        let (mut inner, mut least, mut most) = (0.0, 0.0, Some(0.0));
        let mut buckets: Vec<histogram::Buckets> = Vec::new();
        let mut counters = 0;
        for hit in hits {
            for part in figures::of(hit, placed, quantiles) {
                let spelled = part.series.first().map(|id| self.captured.capture().spelled(*id)).unwrap_or_default();
                match part.figure {
                    Figure::Counter(Counter { answer: counter::Answer::Answered(delta), bracket: Some((low, high)), .. }) => {
                        counters += 1;
                        inner += delta.inner.value;
                        least += low;
                        most = most.zip(high).map(|(a, b)| a + b);
                        if let Some(id) = part.series.first() {
                            self.counted.push(self.captured.citation(*id, delta.first.at, delta.last.at));
                        }
                    }
                    Figure::Histogram(figures::Histogram { answer: histogram::Answer::Answered(found), .. }) => {
                        if let Some((first, last)) = found.segments.first().zip(found.segments.last()) {
                            let name = format!("{}{}", hit.group.name, hit.member.labels);
                            self.counted.push(self.captured.cited(&name, hit.member.endpoint, first.first, last.last));
                        }
                        buckets.push(found);
                    }
                    Figure::Counter(_) => self.missing.push(format!("{spelled}: no difference in the window")),
                    Figure::Histogram(_) => self.missing.push(format!("{spelled}: no difference of its buckets in the window")),
                    Figure::Gauge(_) | Figure::Summary(_) => {
                        self.missing.push(format!("{spelled}: no counter; only what counts can be added"))
                    }
                }
            }
        }
        if !self.missing.is_empty() {
            most = None;
        }
        self.total = match (counters, buckets.len()) {
            (0, 0) => Total::Nothing("nothing here can be added".into()),
            (0, _) => match histogram::Sum::of(buckets) {
                None => Total::Nothing("their buckets differ: they cannot be added".into()),
                Some(sum) => Total::Histogram {
                    count: sum.buckets.last().map_or(0.0, |b| b.count),
                    quantiles: quantiles.iter().map(|q| sum.quantile(*q)).collect(),
                },
            },
            _ => Total::Counter { inner, least, most },
        };
    }
}

/// Of ranks that are replicas one, all others as they are; with a sentence for each set of ranks.
pub fn counted_once<'a>(hits: &[&'a Hit<'a>]) -> (Vec<&'a Hit<'a>>, Vec<String>) {
    let mut sets: BTreeMap<_, Vec<&'a Hit<'a>>> = BTreeMap::new();
    for hit in hits {
        sets.entry((hit.member.endpoint, hit.member.labels.without(RANKS))).or_default().push(hit);
    }
    let (mut kept, mut said) = (Vec::new(), Vec::new());
    for set in sets.into_values() {
        if set.len() < 2 {
            kept.extend(set);
            continue;
        }
        let compared = compare(&set);
        let names: Vec<String> = set.iter().map(|h| ranks(h.member)).collect();
        let names = names.join(", ");
        let once = matches!(compared.as_ref().map(|r| r.verdict), Ok(Verdict::Identical | Verdict::Synchronised));
        said.push(match compared {
            Ok(found) if once => format!("{names}: {}, counted once", evidence(&found)),
            Ok(found) => format!("{names}: {}, each counted", evidence(&found)),
            Err(why) => format!("{names}: not comparable ({why}), each counted"),
        });
        kept.extend(set.into_iter().take(if once { 1 } else { usize::MAX }));
    }
    (kept, said)
}

/// `tp_rank=0`.
fn ranks(member: &Member) -> String {
    let own: Vec<String> = RANKS.iter().filter_map(|r| member.labels.get(r).map(|v| format!("{r}={v}"))).collect();
    own.join(" ")
}

/// The series of a member by which it is compared with its replicas: of a histogram its count.
fn counts(member: &Member) -> Option<SeriesId> {
    match &member.parts {
        Parts::One(id) => Some(*id),
        Parts::Histogram { buckets, count, .. } => count.or_else(|| buckets.last().map(|(_, id)| *id)),
        Parts::Summary { count, .. } => *count,
    }
}

fn compare(set: &[&Hit<'_>]) -> Result<Replicas, String> {
    let capture = set.first().ok_or("nothing to compare")?.captured.capture();
    let ids: Vec<SeriesId> = set.iter().filter_map(|h| counts(h.member)).collect();
    if ids.len() < set.len() {
        return Err("a rank has no count".into());
    }
    let samples: Vec<Vec<Sample>> = ids.iter().map(|id| capture.samples(*id)).collect();
    let slices: Vec<&[Sample]> = samples.iter().map(|s| &s[..]).collect();
    let rounded = ids.iter().any(|id| capture.get(*id).is_some_and(|s| s.precision == Precision::F32));
    let precision = if rounded { Precision::F32 } else { Precision::F64 };
    let gauge = set.iter().any(|h| h.group.typed.kind == Kind::Gauge);
    let found = if gauge { replica::gauges(&slices, precision) } else { replica::counters(&slices, precision) };
    found.map_err(|refusal| refusal.words().to_string())
}

fn evidence(found: &Replicas) -> String {
    let (all, unequal) = (found.common_scrapes, found.unequal_scrapes);
    let still = if found.moved { "" } else { ", though none of them ever moved" };
    let rounded = if found.rounded { ", as far as 32-bit floats tell" } else { "" };
    match found.verdict {
        Verdict::Identical => format!("equal at all {all} scrapes that they share{still}{rounded}"),
        Verdict::Synchronised => format!("one update apart at {unequal} of {all} scrapes, else equal{rounded}"),
        Verdict::MostlyEqual => format!("equal but at {unequal} of {all} scrapes"),
        Verdict::Independent => format!("unequal at {unequal} of {all} scrapes"),
        Verdict::Unknown => "no scrape has all of them".to_string(),
    }
}
