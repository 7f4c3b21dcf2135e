//! Which hits are kept under a limit, and in which order are they shown?
//!
//! The direction is a part of the comparison, so the kept ones are the first of the order asked for, whatever is sorted by.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::answer::{Hit, Sort};

/// A hit's value of the field that is sorted by. Numbers come before texts in either direction; hits without a value come last.
#[derive(Clone, Debug, PartialEq)]
pub enum Key {
    Number(f64),
    Text(String),
}

/// Keeps the first hits in the order asked for.
pub struct Keeper {
    sort: Sort,
    limit: usize,
    /// The worst of the kept is on top.
    heap: BinaryHeap<Ranked>,
    all: Vec<Ranked>,
}

struct Ranked {
    /// The largest value of the field first.
    falling: bool,
    /// Time and position, turned round where the latest comes first.
    place: (i64, usize, u64),
    hit: Hit,
}

impl PartialEq for Ranked {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Ranked {}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> Ordering {
        by_key(self.hit.key.as_ref(), other.hit.key.as_ref(), self.falling).then(self.place.cmp(&other.place))
    }
}

fn by_key(a: Option<&Key>, b: Option<&Key>, falling: bool) -> Ordering {
    let turned = |order: Ordering| if falling { order.reverse() } else { order };
    match (a, b) {
        (Some(Key::Number(a)), Some(Key::Number(b))) => turned(a.total_cmp(b)),
        (Some(Key::Text(a)), Some(Key::Text(b))) => turned(a.cmp(b)),
        (a, b) => class(a).cmp(&class(b)),
    }
}

fn class(key: Option<&Key>) -> u8 {
    match key {
        Some(Key::Number(_)) => 0,
        Some(Key::Text(_)) => 1,
        None => 2,
    }
}

/// A key as bytes of which those of an earlier hit are less.
pub fn sortable(key: Option<&Key>, falling: bool) -> Vec<u8> {
    let turn = |byte: u8| if falling { !byte } else { byte };
    let mut bytes = vec![class(key)];
    match key {
        Some(Key::Number(number)) => {
            // The order of [`f64::total_cmp`].
            let bits = number.to_bits();
            let bits = if bits >> 63 == 1 { !bits } else { bits | 1 << 63 };
            bytes.extend(bits.to_be_bytes().map(turn));
        }
        Some(Key::Text(text)) => {
            // A text goes before a longer one that begins with it, and turned round behind it: its end is less than any byte. None is 0xff.
            bytes.extend(text.bytes().map(|byte| turn(byte.saturating_add(1))));
            bytes.push(turn(0));
        }
        None => {}
    }
    bytes
}

impl Keeper {
    /// `limit` 0 keeps all.
    pub fn new(sort: Sort, limit: usize) -> Keeper {
        Keeper { sort, limit, heap: BinaryHeap::new(), all: Vec::new() }
    }

    /// Could a hit of this time and key be among the kept?
    pub fn wants(&self, source: usize, order: Option<i64>, key: Option<&Key>) -> bool {
        if self.limit == 0 || self.heap.len() < self.limit {
            return true;
        }
        let rising = match self.sort {
            Sort::Time(rising) => rising,
            Sort::Field(_, rising) => return self.heap.peek().is_some_and(|worst| by_key(key, worst.hit.key.as_ref(), !rising).is_le()),
        };
        let time = order.unwrap_or(i64::MIN);
        let time = if rising { time } else { time.saturating_neg() };
        self.heap.peek().is_some_and(|worst| (time, source) <= (worst.place.0, worst.place.1))
    }

    pub fn push(&mut self, hit: Hit) {
        let ranked = self.ranked(hit);
        if self.limit == 0 {
            self.all.push(ranked);
            return;
        }
        if self.heap.len() < self.limit {
            self.heap.push(ranked);
        } else if self.heap.peek().is_some_and(|worst| ranked < *worst) {
            self.heap.pop();
            self.heap.push(ranked);
        }
    }

    fn ranked(&self, hit: Hit) -> Ranked {
        let time = hit.order.unwrap_or(i64::MIN);
        let place = match self.sort {
            Sort::Time(false) => (time.saturating_neg(), hit.source, u64::MAX - hit.offset),
            _ => (time, hit.source, hit.offset),
        };
        Ranked { falling: matches!(self.sort, Sort::Field(_, false)), place, hit }
    }

    /// The kept ones in order.
    pub fn finish(self) -> Vec<Hit> {
        let mut all = self.all;
        all.extend(self.heap);
        all.sort_unstable();
        all.into_iter().map(|r| r.hit).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hit(offset: u64, key: Option<Key>) -> Hit {
        Hit { source: 0, offset, order: Some(offset as i64), key }
    }

    fn kept(sort: Sort, limit: usize, keys: &[Option<Key>]) -> Vec<u64> {
        let mut keeper = Keeper::new(sort, limit);
        for (i, key) in keys.iter().enumerate() {
            keeper.push(hit(i as u64, key.clone()));
        }
        keeper.finish().iter().map(|h| h.offset).collect()
    }

    #[test]
    fn bytes_sort_as_keys_do() {
        let numbers =
            [f64::NAN, -f64::NAN, f64::INFINITY, -f64::INFINITY, 0.0, -0.0, 1.5, -1.5, 1e300, 9_007_199_254_740_993.0, f64::MIN_POSITIVE];
        let texts = ["", "a", "ab", "a\0", "a\0b", "b", "\u{10ffff}", "é"];
        let mut keys: Vec<Option<Key>> = numbers.map(|n| Some(Key::Number(n))).into();
        keys.extend(texts.map(|t| Some(Key::Text(t.into()))));
        keys.push(None);
        for falling in [false, true] {
            for a in &keys {
                for b in &keys {
                    let (key, bytes) =
                        (by_key(a.as_ref(), b.as_ref(), falling), sortable(a.as_ref(), falling).cmp(&sortable(b.as_ref(), falling)));
                    assert_eq!(bytes, key, "{a:?} {b:?} {falling}");
                }
            }
        }
    }

    #[test]
    fn a_limit_keeps_the_first_of_the_order() {
        let text = |t: &str| Some(Key::Text(t.into()));
        let number = |n: f64| Some(Key::Number(n));
        let keys = [text("b"), number(2.0), None, text("d"), text("a"), number(7.0), text("c"), text("d")];
        let falling = || Sort::Field("x".into(), false);
        let rising = || Sort::Field("x".into(), true);
        assert_eq!(kept(falling(), 0, &keys), [5, 1, 3, 7, 6, 0, 4, 2]);
        assert_eq!(kept(rising(), 0, &keys), [1, 5, 4, 0, 6, 3, 7, 2]);
        for limit in 1..=keys.len() {
            assert_eq!(kept(falling(), limit, &keys), kept(falling(), 0, &keys)[..limit], "the first {limit}, falling");
            assert_eq!(kept(rising(), limit, &keys), kept(rising(), 0, &keys)[..limit], "the first {limit}, rising");
        }
        let none = vec![None; 8];
        assert_eq!(kept(Sort::Time(false), 3, &none), [7, 6, 5]);
        assert_eq!(kept(Sort::Time(true), 3, &none), [0, 1, 2]);
    }
}
