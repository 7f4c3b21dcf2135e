//! Numbers in few bytes: whole numbers as differences above the least difference, each in as many whole bytes as the largest needs. Bits would
//! be fewer, and take three times as long to write and to read.

use pulp::{Arch, NullaryFnOnce};

/// Numbers that are packed at a time.
const MOST: usize = super::BLOCK;

/// Appends `numbers`: at least one, at most a block of them. Any numbers can be packed; the closer their differences, the fewer bytes.
pub fn pack(numbers: &[i64], out: &mut Vec<u8>) {
    let _ = pack_within(numbers, 8, out); // eight are always enough
}

/// The same, if `most` bytes are enough for each; else nothing is appended, and false.
#[must_use]
pub fn pack_within(numbers: &[i64], most: usize, out: &mut Vec<u8>) -> bool {
    // The least and greatest of numbers of 64 bits have no instruction that every machine has.
    Arch::new().dispatch(Packing { numbers, most, out })
}

/// [`pack_within`], compiled for each set of vector instructions.
struct Packing<'a> {
    numbers: &'a [i64],
    most: usize,
    out: &'a mut Vec<u8>,
}

impl NullaryFnOnce for Packing<'_> {
    type Output = bool;

    #[inline(always)]
    fn call(self) -> bool {
        let Packing { numbers, most, out } = self;
        let numbers = numbers.get(..MOST).unwrap_or(numbers);
        let first = numbers.first().copied().unwrap_or(0);
        let n = numbers.len().saturating_sub(1);
        let mut differences = [0i64; MOST];
        let (mut least, mut greatest) = (i64::MAX, i64::MIN);
        for (d, (a, b)) in differences.iter_mut().zip(numbers.iter().zip(numbers.get(1..).unwrap_or(&[]))) {
            *d = b.wrapping_sub(*a);
            least = least.min(*d);
            greatest = greatest.max(*d);
        }
        if n == 0 {
            (least, greatest) = (0, 0);
        }
        let width = (64 - greatest.wrapping_sub(least).leading_zeros()).div_ceil(8) as usize;
        if width > most {
            return false;
        }
        out.extend_from_slice(&first.to_le_bytes());
        out.push(width as u8);
        out.extend_from_slice(&least.to_le_bytes());
        match width {
            0 => {}
            1 => put::<1>(&differences, n, least, out),
            2 => put::<2>(&differences, n, least, out),
            3 => put::<3>(&differences, n, least, out),
            4 => put::<4>(&differences, n, least, out),
            5 => put::<5>(&differences, n, least, out),
            6 => put::<6>(&differences, n, least, out),
            7 => put::<7>(&differences, n, least, out),
            _ => put::<8>(&differences, n, least, out),
        }
        true
    }
}

/// Appends the low bytes of each of the first `n` differences above the least. Eight numbers make `WIDTH` words: whole words are written, not bytes.
#[inline(always)]
fn put<const WIDTH: usize>(differences: &[i64; MOST], n: usize, least: i64, out: &mut Vec<u8>) {
    let mut held = [[0; WIDTH]; MOST];
    let words = held.as_flattened_mut().as_chunks_mut::<8>().0;
    for (group, words) in differences.as_chunks::<8>().0.iter().zip(words.as_chunks_mut::<WIDTH>().0) {
        let mut words = words.iter_mut();
        let (mut word, mut bits) = (0, 0);
        for d in group {
            let above = d.wrapping_sub(least).cast_unsigned();
            word |= above << bits;
            bits += 8 * WIDTH;
            if bits >= 64 {
                words.next().into_iter().for_each(|w| *w = word.to_le_bytes());
                bits -= 64;
                // What of the number did not fit; a shift by all of its bits leaves nothing, and is none that the machine has.
                word = if bits == 0 { 0 } else { above >> (8 * WIDTH - bits) };
            }
        }
    }
    out.extend_from_slice(held.get(..n).unwrap_or(&held).as_flattened());
}

/// What [`pack`] wrote at the start of `bytes`: the first number, the width and the least difference, and `n` less one differences in so many bytes.
fn opened(bytes: &[u8], n: usize) -> Option<(i64, usize, i64, &[u8])> {
    let (first, width, least) = (word(bytes, 0)?, usize::from(*bytes.get(8)?), word(bytes, 9)?);
    if n > MOST || width > 8 {
        return None;
    }
    Some((first, width, least, bytes.get(17..17 + n.saturating_sub(1) * width)?))
}

/// Reads `n` numbers that [`pack`] wrote at the start of `bytes`; false if the bytes are too few or none of `pack`'s.
#[must_use]
pub fn unpack(bytes: &[u8], n: usize, out: &mut Vec<i64>) -> bool {
    out.clear();
    if n == 0 {
        return true;
    }
    let Some((first, width, least, body)) = opened(bytes, n) else { return false };
    out.resize(n, first);
    let Some((_, rest)) = out.split_first_mut() else { return false };
    match width {
        0 => {
            let mut at = first;
            for number in rest {
                at = at.wrapping_add(least);
                *number = at;
            }
        }
        1 => add::<1>(body, first, least, rest),
        2 => add::<2>(body, first, least, rest),
        3 => add::<3>(body, first, least, rest),
        4 => add::<4>(body, first, least, rest),
        5 => add::<5>(body, first, least, rest),
        6 => add::<6>(body, first, least, rest),
        7 => add::<7>(body, first, least, rest),
        _ => add::<8>(body, first, least, rest),
    }
    true
}

fn add<const WIDTH: usize>(body: &[u8], first: i64, least: i64, out: &mut [i64]) {
    let mut at = first;
    for (number, held) in out.iter_mut().zip(body.as_chunks::<WIDTH>().0) {
        at = at.wrapping_add(least).wrapping_add(whole(held));
        *number = at;
    }
}

/// The number at place `i` alone: a sum, which takes no memory.
pub fn unpack_one(bytes: &[u8], i: usize) -> Option<i64> {
    let (first, width, least, body) = opened(bytes, i + 1)?;
    let sum = match width {
        0 => 0,
        1 => sum::<1>(body),
        2 => sum::<2>(body),
        3 => sum::<3>(body),
        4 => sum::<4>(body),
        5 => sum::<5>(body),
        6 => sum::<6>(body),
        7 => sum::<7>(body),
        _ => sum::<8>(body),
    };
    Some(first.wrapping_add(least.wrapping_mul(i64::try_from(i).ok()?)).wrapping_add(sum))
}

fn sum<const WIDTH: usize>(body: &[u8]) -> i64 {
    body.as_chunks::<WIDTH>().0.iter().fold(0i64, |sum, held| sum.wrapping_add(whole(held)))
}

/// A difference from its low bytes.
fn whole<const WIDTH: usize>(held: &[u8; WIDTH]) -> i64 {
    let mut bytes = [0; 8];
    bytes.iter_mut().zip(held).for_each(|(to, from)| *to = *from);
    i64::from_le_bytes(bytes)
}

fn word(bytes: &[u8], at: usize) -> Option<i64> {
    Some(i64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn back(numbers: &[i64]) -> (Vec<i64>, usize) {
        let mut bytes = Vec::new();
        pack(numbers, &mut bytes);
        let mut out = Vec::new();
        assert!(unpack(&bytes, numbers.len(), &mut out));
        (out, bytes.len())
    }

    #[test]
    fn regular_numbers_take_no_bits() {
        let numbers: Vec<i64> = (0..128).map(|i| 1_795_978_472_000_000_000 + i * 1_000_000_000).collect();
        assert_eq!(back(&numbers), (numbers, 17));
    }

    proptest! {
        #[test]
        fn what_was_packed_comes_back(numbers in prop::collection::vec(any::<i64>(), 1..=MOST)) {
            prop_assert_eq!(&back(&numbers).0, &numbers);
            let mut bytes = Vec::new();
            pack(&numbers, &mut bytes);
            for (i, number) in numbers.iter().enumerate() {
                prop_assert_eq!(unpack_one(&bytes, i), Some(*number));
            }
        }

        #[test]
        fn small_steps_come_back(first in any::<i64>(), steps in prop::collection::vec(-3i64..1000, 0..MOST)) {
            let mut numbers = vec![first];
            for s in steps {
                numbers.push(numbers[numbers.len() - 1].wrapping_add(s));
            }
            prop_assert_eq!(&back(&numbers).0, &numbers);
            let mut bytes = Vec::new();
            pack(&numbers, &mut bytes);
            for (i, number) in numbers.iter().enumerate() {
                prop_assert_eq!(unpack_one(&bytes, i), Some(*number));
            }
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300), n in 0usize..200) {
            let mut out = Vec::new();
            let read = unpack(&bytes, n, &mut out);
            prop_assert!(!read || out.len() == n);
            prop_assert!(!read || n <= MOST);
            prop_assert!(read || n == 0 || unpack_one(&bytes, n - 1).is_none());
            prop_assert!(!read || n == 0 || unpack_one(&bytes, n - 1) == out.last().copied());
        }
    }
}
