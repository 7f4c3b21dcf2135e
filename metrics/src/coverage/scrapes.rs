//! When endpoints were scraped, from the samples alone.

use std::collections::HashMap;

use crate::model::{Capture, SeriesId};

/// Scrapes that share no series with the endpoint's other scrapes.
#[derive(Clone, Debug, PartialEq)]
pub struct Phantom {
    pub series: Vec<SeriesId>,
    pub scrapes: u64,
    pub first: i64,
    pub last: i64,
}

/// Scrapes of one endpoint.
#[derive(Debug, Default)]
pub struct Scrapes {
    pub times: Vec<i64>,
    pub phantoms: Vec<Phantom>,
}

/// Scrapes of every endpoint. Series that were scraped together are one group; the group with the most scrapes is the endpoint, the others are
/// phantoms.
pub fn of(capture: &Capture) -> Vec<Scrapes> {
    let mut members: Vec<Vec<u32>> = vec![Vec::new(); capture.endpoints.len()];
    for (i, series) in capture.series.iter().enumerate() {
        if let (Some(members), Ok(i)) = (members.get_mut(series.endpoint.0 as usize), u32::try_from(i)) {
            members.push(i);
        }
    }
    members.iter().map(|m| one(capture, m)).collect()
}

fn one(capture: &Capture, members: &[u32]) -> Scrapes {
    let mut groups = Groups((0..members.len()).collect());
    // Series that were scraped together mostly share the bytes of their times: only distinct ones are decoded.
    let mut blocks: HashMap<(u64, u16), usize> = HashMap::new();
    let mut owner: HashMap<i64, usize> = HashMap::new();
    for (i, &series) in members.iter().enumerate() {
        for block in capture.samples.blocks(series) {
            match blocks.get(&(block.times, block.n)) {
                Some(&other) => groups.join(i, other),
                None => {
                    blocks.insert((block.times, block.n), i);
                    for at in capture.samples.times_of(block) {
                        groups.join(i, *owner.entry(at).or_insert(i));
                    }
                }
            }
        }
    }
    let mut times: HashMap<usize, Vec<i64>> = HashMap::new();
    for (at, i) in owner {
        times.entry(groups.root(i)).or_default().push(at);
    }
    let main = times.iter().max_by_key(|(root, t)| (t.len(), std::cmp::Reverse(**root))).map(|(root, _)| *root);
    let mut out = Scrapes::default();
    for (root, mut times) in times {
        times.sort_unstable();
        if Some(root) == main {
            out.times = times;
        } else if let (Some(&first), Some(&last)) = (times.first(), times.last()) {
            let series = (0..members.len()).filter(|&i| groups.root(i) == root).filter_map(|i| members.get(i)).map(|&s| SeriesId(s));
            out.phantoms.push(Phantom { series: series.collect(), scrapes: times.len() as u64, first, last });
        }
    }
    out.phantoms.sort_by_key(|p| p.first);
    out
}

/// Disjoint groups of places.
struct Groups(Vec<usize>);

impl Groups {
    fn root(&mut self, mut i: usize) -> usize {
        while let Some(&up) = self.0.get(i) {
            if up == i {
                break;
            }
            let above = self.0.get(up).copied().unwrap_or(up);
            if let Some(slot) = self.0.get_mut(i) {
                *slot = above;
            }
            i = up;
        }
        i
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        if let Some(slot) = self.0.get_mut(a.max(b)) {
            *slot = a.min(b);
        }
    }
}
