//! Numbers in few bits: whole numbers as differences above the least difference, in as many bits as the largest needs.

/// Most bits a packed number has: more would not lie in the eight bytes that one read takes.
const WIDEST: u32 = 56;

/// Appends `numbers` (at least one). Any numbers can be packed; the closer their differences, the fewer bytes.
pub fn pack(numbers: &[i64], out: &mut Vec<u8>) {
    let first = numbers.first().copied().unwrap_or(0);
    let differences = || numbers.windows(2).map(|w| w[1].wrapping_sub(w[0]));
    let (least, most) = differences().fold((i64::MAX, i64::MIN), |(least, most), d| (least.min(d), most.max(d)));
    let least = if least > most { 0 } else { least };
    let width = 64 - (most.max(least).wrapping_sub(least) as u64).leading_zeros();
    out.extend_from_slice(&first.to_le_bytes());
    if width > WIDEST {
        out.push(64);
        for n in numbers.get(1..).unwrap_or(&[]) {
            out.extend_from_slice(&n.to_le_bytes());
        }
        return;
    }
    out.push(width as u8);
    out.extend_from_slice(&least.to_le_bytes());
    if width == 0 {
        return;
    }
    out.reserve(numbers.len() * 8);
    let (mut held, mut bits) = (0u64, 0u32);
    for d in differences() {
        let number = d.wrapping_sub(least) as u64;
        held |= number << bits;
        bits += width;
        if bits >= 64 {
            out.extend_from_slice(&held.to_le_bytes());
            bits -= 64;
            // What did not fit: nothing, where it fitted exactly.
            held = number.checked_shr(width - bits).unwrap_or(0);
        }
    }
    out.extend_from_slice(&held.to_le_bytes()[..bits.div_ceil(8) as usize]);
}

/// Reads `n` numbers that [`pack`] wrote at the start of `bytes`; false if the bytes are too few or none of `pack`'s.
#[must_use]
pub fn unpack(bytes: &[u8], n: usize, out: &mut Vec<i64>) -> bool {
    out.clear();
    if n == 0 {
        return true;
    }
    let (Some(mut at), Some(&width)) = (word(bytes, 0), bytes.get(8)) else {
        return false;
    };
    out.reserve(n);
    out.push(at);
    let width = u32::from(width);
    if width == 64 {
        for i in 1..n {
            let Some(number) = word(bytes, 9 + 8 * (i - 1)) else {
                return false;
            };
            out.push(number);
        }
        return true;
    }
    let Some(least) = word(bytes, 9) else {
        return false;
    };
    if width == 0 {
        out.extend((1..n).map(|_| {
            at = at.wrapping_add(least);
            at
        }));
        return true;
    }
    if width > WIDEST {
        return false;
    }
    let body = bytes.get(17..).unwrap_or(&[]);
    let mask = (1u64 << width) - 1;
    let mut bit = 0usize;
    for _ in 1..n {
        let held = match body.get(bit / 8..bit / 8 + 8).and_then(|b| b.try_into().ok()) {
            Some(eight) => u64::from_le_bytes(eight),
            None => {
                let rest = body.get(bit / 8..).unwrap_or(&[]);
                if rest.len() * 8 < bit % 8 + width as usize {
                    return false;
                }
                let mut eight = [0; 8];
                eight[..rest.len()].copy_from_slice(rest);
                u64::from_le_bytes(eight)
            }
        };
        at = at.wrapping_add(least).wrapping_add(((held >> (bit % 8)) & mask) as i64);
        out.push(at);
        bit += width as usize;
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
        fn what_was_packed_comes_back(numbers in prop::collection::vec(any::<i64>(), 1..200)) {
            prop_assert_eq!(back(&numbers).0, numbers);
        }

        #[test]
        fn small_steps_come_back(first in any::<i64>(), steps in prop::collection::vec(-3i64..1000, 0..200)) {
            let mut numbers = vec![first];
            for s in steps {
                numbers.push(numbers[numbers.len() - 1].wrapping_add(s));
            }
            prop_assert_eq!(back(&numbers).0, numbers);
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300), n in 0usize..200) {
            let mut out = Vec::new();
            if unpack(&bytes, n, &mut out) {
                prop_assert_eq!(out.len(), n);
            }
        }
    }
}
