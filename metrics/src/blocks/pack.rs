//! Numbers in few bytes: whole numbers as differences above the least difference, each in as many whole bytes as the largest needs. Bits would
//! be fewer, and take three times as long to write and to read.

/// Numbers that are packed at a time.
const MOST: usize = super::BLOCK;

/// Appends `numbers`: at least one, at most a block of them. Any numbers can be packed; the closer their differences, the fewer bytes.
pub fn pack(numbers: &[i64], out: &mut Vec<u8>) {
    let numbers = &numbers[..numbers.len().min(MOST)];
    let first = numbers.first().copied().unwrap_or(0);
    let count = numbers.len().saturating_sub(1);
    let mut differences = [0i64; MOST];
    for (d, pair) in differences.iter_mut().zip(numbers.windows(2)) {
        *d = pair[1].wrapping_sub(pair[0]);
    }
    let differences = &mut differences[..count];
    let least = differences.iter().copied().min().unwrap_or(0);
    let mut all = 0u64;
    for d in differences.iter_mut() {
        *d = d.wrapping_sub(least);
        all |= *d as u64;
    }
    let width = (64 - all.leading_zeros()).div_ceil(8) as usize;
    out.extend_from_slice(&first.to_le_bytes());
    out.push(width as u8);
    out.extend_from_slice(&least.to_le_bytes());
    // Each is written whole, and the next over what of it is zero.
    let mut bytes = [0u8; MOST * 8 + 8];
    for (i, d) in differences.iter().enumerate() {
        if let Some(place) = bytes.get_mut(i * width..i * width + 8) {
            place.copy_from_slice(&d.to_le_bytes());
        }
    }
    out.extend_from_slice(&bytes[..count * width]);
}

/// Reads `n` numbers that [`pack`] wrote at the start of `bytes`; false if the bytes are too few or none of `pack`'s.
#[must_use]
pub fn unpack(bytes: &[u8], n: usize, out: &mut Vec<i64>) -> bool {
    out.clear();
    if n == 0 {
        return true;
    }
    let (Some(mut at), Some(&width), Some(least)) = (word(bytes, 0), bytes.get(8), word(bytes, 9)) else {
        return false;
    };
    let width = usize::from(width);
    let body = bytes.get(17..).unwrap_or(&[]);
    if n > MOST || width > 8 || body.len() < (n - 1) * width {
        return false;
    }
    out.reserve(n);
    out.push(at);
    if width == 0 {
        out.extend((1..n).map(|_| {
            at = at.wrapping_add(least);
            at
        }));
        return true;
    }
    let mask = u64::MAX >> (64 - 8 * width);
    for i in 0..n - 1 {
        let held = match body.get(i * width..i * width + 8).and_then(|b| b.try_into().ok()) {
            Some(eight) => u64::from_le_bytes(eight),
            None => {
                let rest = body.get(i * width..).unwrap_or(&[]);
                let mut eight = [0; 8];
                let len = rest.len().min(8);
                eight[..len].copy_from_slice(&rest[..len]);
                u64::from_le_bytes(eight)
            }
        };
        at = at.wrapping_add(least).wrapping_add((held & mask) as i64);
        out.push(at);
    }
    true
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
            prop_assert_eq!(back(&numbers).0, numbers);
        }

        #[test]
        fn small_steps_come_back(first in any::<i64>(), steps in prop::collection::vec(-3i64..1000, 0..MOST)) {
            let mut numbers = vec![first];
            for s in steps {
                numbers.push(numbers[numbers.len() - 1].wrapping_add(s));
            }
            prop_assert_eq!(back(&numbers).0, numbers);
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300), n in 0usize..200) {
            let mut out = Vec::new();
            let read = unpack(&bytes, n, &mut out);
            prop_assert!(!read || out.len() == n);
            prop_assert!(!read || n <= MOST);
        }
    }
}
