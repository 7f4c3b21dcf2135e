//! Sum and count of histograms: the scraper stamps those of the label set that stands first in the exposition on the rows of every set.
//!
//! A pair is a set's own if the set's `+Inf` bucket equals the stamped count in every scrape and no other set's does. Otherwise the sum is not
//! proven, and there is no series of it.

use std::collections::{BTreeMap, HashMap};

use super::merge::Merged;
use super::table::Table;
use crate::blocks::Store;
use crate::model::{Labels, Precision, Sample};

/// Counts from here on are not told apart when they are stored as 32-bit floats.
const EXACT_32: f64 = 16_777_216.0;

/// Sum and count of one label set, proven to be its own.
#[derive(Debug)]
pub struct Proven {
    pub endpoint: u32,
    /// The family's name as seen.
    pub family: String,
    /// The name under which its spellings are one.
    pub canonical: String,
    pub labels: Labels,
    pub sum: Vec<Sample>,
    pub count: Vec<Sample>,
}

/// The sums that are proven, and the families (with their endpoint) whose are not. `buckets` says which series are buckets.
pub fn prove(merged: &Merged, table: &Table, stamps: &Store, precision: Precision, buckets: &[bool]) -> (Vec<Proven>, Vec<(u32, String)>) {
    let mut infinite: HashMap<u32, u32> = HashMap::new();
    for (i, series) in table.series.iter().enumerate() {
        if let (Some(set), Some(true), Some("+Inf"), Ok(i)) = (series.set, buckets.get(i), series.labels.get("le"), u32::try_from(i)) {
            infinite.insert(set, i);
        }
    }
    // a set without a stamp of its own may still be the stamped one's owner
    let mut families: BTreeMap<(u32, &str), Vec<u32>> = BTreeMap::new();
    for (id, set) in (0u32..).zip(&table.sets) {
        families.entry((set.endpoint, set.name.canonical())).or_default().push(id);
    }
    let stamped = |id: &u32| table.sets.get(*id as usize).is_some_and(|s| s.witness.is_some());
    families.retain(|_, sets| sets.iter().any(stamped));
    let (mut proven, mut not) = (Vec::new(), Vec::new());
    for ((endpoint, family), sets) in families {
        match owner(merged, stamps, precision, endpoint, &sets, &infinite) {
            Some((set, sum, count)) => {
                let Some(set) = table.sets.get(set as usize) else { continue };
                let (seen, canonical) = (set.name.seen().to_string(), family.to_string());
                proven.push(Proven { endpoint, family: seen, canonical, labels: set.labels.clone(), sum, count });
            }
            None => not.push((endpoint, family.to_string())),
        }
    }
    (proven, not)
}

/// The one set whose own count the stamped one is, with the stamped sums and counts.
fn owner(
    merged: &Merged,
    stamps: &Store,
    precision: Precision,
    endpoint: u32,
    sets: &[u32],
    infinite: &HashMap<u32, u32>,
) -> Option<(u32, Vec<Sample>, Vec<Sample>)> {
    let mut counts: BTreeMap<i64, f64> = BTreeMap::new();
    let mut sums: BTreeMap<i64, f64> = BTreeMap::new();
    for &set in sets {
        for (stamped, id) in [(&mut sums, 2 * set), (&mut counts, 2 * set + 1)] {
            for sample in stamps.all(id) {
                if *stamped.entry(sample.at).or_insert(sample.value) != sample.value {
                    return None;
                }
            }
        }
    }
    let exact = |v: &f64| precision == Precision::F64 || *v < EXACT_32;
    if counts.is_empty() || counts.len() != sums.len() || !counts.values().all(exact) {
        return None;
    }
    let mut owners = sets.iter().filter(|set| {
        infinite.get(set).is_some_and(|&series| {
            let own = merged.series(series, endpoint, &mut []);
            own.len() == counts.len() && own.iter().zip(&counts).all(|(s, (at, count))| s.at == *at && s.value == *count)
        })
    });
    let owner = *owners.next()?;
    if owners.next().is_some() {
        return None;
    }
    let samples = |of: BTreeMap<i64, f64>| of.into_iter().map(|(at, value)| Sample { at, value }).collect();
    Some((owner, samples(sums), samples(counts)))
}
