//! A block's times and values as bytes.

use pulp::{Arch, NullaryFnOnce};

use super::pack::{pack, pack_within, unpack, unpack_one};

/// Units of time that stamps may be whole multiples of, in nanoseconds.
const UNITS: [i64; 4] = [1_000_000_000, 1_000_000, 1_000, 1];
/// Powers of ten by which decimal values become whole numbers.
const SCALES: [f64; 7] = [1.0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6];
/// Added to a float nearer to 0 than [`NEAR`], this leaves the nearest whole number in the low bits: no conversion, which takes one at a time.
const SHIFT: f64 = 6_755_399_441_055_744.0;
const NEAR: i64 = 1 << 51;

const SAME: u8 = 16;
const RAW_64: u8 = 17;
const RAW_32: u8 = 18;
/// Bits of the floats as whole numbers, which are near each other where the floats are.
const BITS: u8 = 19;
/// Of differences in more bytes the floats themselves are little more, and found without a sum.
const BITS_WIDTH: usize = 6;

/// Appends stamps.
pub fn write_times(times: &[i64], scratch: &mut Vec<i64>, out: &mut Vec<u8>) {
    let first = times.first().copied().unwrap_or(0);
    // The compiler knows each unit, and divides by multiplying.
    let unit = if in_units::<1_000_000_000>(times, first, scratch) {
        0
    } else if in_units::<1_000_000>(times, first, scratch) {
        1
    } else if in_units::<1_000>(times, first, scratch) {
        2
    } else {
        in_units::<1>(times, first, scratch);
        3
    };
    out.extend_from_slice(&first.to_le_bytes());
    out.push(unit);
    pack(scratch, out);
}

/// Fills `out` with the times since the first in units of `UNIT`, if they are whole.
fn in_units<const UNIT: i64>(times: &[i64], first: i64, out: &mut Vec<i64>) -> bool {
    out.clear();
    for t in times {
        let since = t.wrapping_sub(first);
        let units = since / UNIT;
        if units * UNIT != since {
            return false;
        }
        out.push(units);
    }
    true
}

/// Reads `n` stamps; false for bytes that [`write_times`] did not write.
#[must_use]
pub fn read_times(bytes: &[u8], n: usize, out: &mut Vec<i64>) -> bool {
    let Some(first) = bytes.get(..8).and_then(|b| b.try_into().ok()).map(i64::from_le_bytes) else {
        return false;
    };
    let Some(unit) = bytes.get(8).and_then(|&u| UNITS.get(usize::from(u))) else {
        return false;
    };
    if !unpack(&bytes[9..], n, out) {
        return false;
    }
    for t in out.iter_mut() {
        *t = t.wrapping_mul(*unit).wrapping_add(first);
    }
    true
}

/// Appends values; every bit of them comes back, those of NaN too. `hint` is the code that the block of the series before had, and becomes
/// that of this one: values of a series are mostly of one kind, and finding that out anew is what takes the time.
pub fn write_values(values: &[f64], hint: &mut u8, scratch: &mut Vec<i64>, out: &mut Vec<u8>) {
    let (Some(&first), Some(&last)) = (values.first(), values.last()) else { return };
    if first.to_bits() == last.to_bits() && values.iter().fold(0, |differ, v| differ | (v.to_bits() ^ first.to_bits())) == 0 {
        out.push(SAME);
        out.extend_from_slice(&first.to_le_bytes());
        return;
    }
    let hinted = SCALES.get(usize::from(*hint)).filter(|scale| whole(values, **scale, scratch)).map(|_| *hint);
    // What was of no scale before seldom is of one now; whole numbers are always tried, they take the least.
    let scales = if matches!(*hint, RAW_64 | BITS) { 1 } else { SCALES.len() };
    let found = hinted.or_else(|| {
        let scale = SCALES.iter().take(scales).position(|scale| whole(values, *scale, scratch));
        scale.and_then(|scale| u8::try_from(scale).ok())
    });
    if let Some(code) = found {
        *hint = code;
        out.push(code);
        pack(scratch, out);
        return;
    }
    if values.iter().all(|v| f64::from(*v as f32).to_bits() == v.to_bits()) {
        *hint = RAW_32;
        out.push(RAW_32);
        values.iter().for_each(|v| out.extend_from_slice(&(*v as f32).to_le_bytes()));
        return;
    }
    scratch.clear();
    scratch.extend(values.iter().map(|v| v.to_bits().cast_signed()));
    out.push(BITS);
    *hint = BITS;
    if !pack_within(scratch, BITS_WIDTH, out) {
        out.pop();
        *hint = RAW_64;
        out.push(RAW_64);
        values.iter().for_each(|v| out.extend_from_slice(&v.to_le_bytes()));
    }
}

/// Fills `out` with the values times `scale` if those are whole and give the values back, bit for bit.
fn whole(values: &[f64], scale: f64, out: &mut Vec<i64>) -> bool {
    // Values that are of another kind mostly show it at the first.
    let some = values.get(..values.len().min(2)).unwrap_or(&[]);
    out.resize(values.len(), 0);
    match scale == 1.0 {
        true => scaled(some, |v| v, |v| v, out) && Arch::new().dispatch(Scaling { values, up: |v| v, down: |v| v, out }),
        false => {
            scaled(some, |v| v * scale, |v| v / scale, out)
                && Arch::new().dispatch(Scaling { values, up: |v| v * scale, down: |v| v / scale, out })
        }
    }
}

/// [`scaled`], compiled for each set of vector instructions.
struct Scaling<'a, Up, Down> {
    values: &'a [f64],
    up: Up,
    down: Down,
    out: &'a mut [i64],
}

impl<Up: Fn(f64) -> f64, Down: Fn(f64) -> f64> NullaryFnOnce for Scaling<'_, Up, Down> {
    type Output = bool;

    #[inline(always)]
    fn call(self) -> bool {
        scaled(self.values, self.up, self.down, self.out)
    }
}

#[inline(always)]
fn scaled(values: &[f64], up: impl Fn(f64) -> f64, down: impl Fn(f64) -> f64, out: &mut [i64]) -> bool {
    let mut wrong = 0;
    for (&v, out) in values.iter().zip(out) {
        let shifted = up(v) + SHIFT;
        let number = shifted.to_bits().wrapping_sub(SHIFT.to_bits()).cast_signed();
        // Any bit here is a number out of reach, NaN too, or a value that does not come back.
        wrong |= number.wrapping_add(NEAR).cast_unsigned() >> 52;
        wrong |= down(shifted - SHIFT).to_bits() ^ v.to_bits();
        *out = number;
    }
    wrong == 0
}

/// Reads `n` values; false for bytes that [`write_values`] did not write.
#[must_use]
pub fn read_values(bytes: &[u8], n: usize, scratch: &mut Vec<i64>, out: &mut Vec<f64>) -> bool {
    out.clear();
    let Some((&code, body)) = bytes.split_first() else {
        return n == 0;
    };
    match code {
        SAME => {
            let Some(value) = body.get(..8).and_then(|b| b.try_into().ok()).map(f64::from_le_bytes) else {
                return false;
            };
            out.resize(n, value);
        }
        RAW_32 => out.extend(body.as_chunks::<4>().0.iter().take(n).map(|b| f64::from(f32::from_le_bytes(*b)))),
        RAW_64 => out.extend(body.as_chunks::<8>().0.iter().take(n).map(|b| f64::from_le_bytes(*b))),
        code => {
            if !unpack(body, n, scratch) {
                return false;
            }
            match (code, SCALES.get(usize::from(code))) {
                (0, _) => out.extend(scratch.iter().map(|&x| x as f64)),
                (_, Some(scale)) => out.extend(scratch.iter().map(|&x| x as f64 / scale)),
                (BITS, _) => out.extend(scratch.iter().map(|x| f64::from_bits(x.cast_unsigned()))),
                _ => return false,
            }
        }
    }
    out.len() == n
}

/// The value at place `i` of the `n` that [`write_values`] wrote; `None` for other bytes.
pub fn read_value(bytes: &[u8], i: usize, n: usize) -> Option<f64> {
    let (&code, body) = bytes.split_first()?;
    if i >= n {
        return None;
    }
    match code {
        SAME => body.first_chunk().map(|b| f64::from_le_bytes(*b)),
        RAW_32 => body.as_chunks::<4>().0.get(i).map(|b| f64::from(f32::from_le_bytes(*b))),
        RAW_64 => body.as_chunks::<8>().0.get(i).map(|b| f64::from_le_bytes(*b)),
        BITS => unpack_one(body, i).map(|x| f64::from_bits(x.cast_unsigned())),
        0 => unpack_one(body, i).map(|x| x as f64),
        code => SCALES.get(usize::from(code)).and_then(|scale| Some(unpack_one(body, i)? as f64 / scale)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn values_back(values: &[f64]) -> (Vec<u64>, usize) {
        let (mut bytes, mut scratch, mut out) = (Vec::new(), Vec::new(), Vec::new());
        write_values(values, &mut 0, &mut scratch, &mut bytes);
        assert!(read_values(&bytes, values.len(), &mut scratch, &mut out));
        for (i, value) in out.iter().enumerate() {
            assert_eq!(read_value(&bytes, i, values.len()).map(f64::to_bits), Some(value.to_bits()));
        }
        (out.iter().map(|v| v.to_bits()).collect(), bytes.len())
    }

    fn bits(values: &[f64]) -> Vec<u64> {
        values.iter().map(|v| v.to_bits()).collect()
    }

    #[test]
    fn values_come_back_to_the_bit() {
        for values in [
            vec![0.0, -0.0, 1.0],
            vec![f64::NAN, 2.0, f64::from_bits(0x7ff0_0000_0000_0002)],
            vec![f64::INFINITY, f64::NEG_INFINITY],
            vec![0.1, 0.25, 17.125],
            vec![1e300, -1e300, 5e-324],
            vec![16_777_216.0, 16_777_218.0],
            vec![0.1f32 as f64, 0.7f32 as f64],
            vec![2_251_799_813_685_247.0, 2_251_799_813_685_248.0, 2_251_799_813_685_249.0],
            vec![-2_251_799_813_685_248.0, -2_251_799_813_685_249.0],
            vec![9_007_199_254_740_992.0, 6_755_399_441_055_744.0, -6_755_399_441_055_744.0],
        ] {
            assert_eq!(values_back(&values).0, bits(&values), "{values:?}");
        }
        assert_eq!(values_back(&(0..128).map(f64::from).collect::<Vec<_>>()).1, 18, "a steady counter");
    }

    proptest! {
        #[test]
        fn any_values_come_back(values in prop::collection::vec(any::<f64>(), 1..129), mut hint in 0u8..20) {
            prop_assert_eq!(values_back(&values).0, bits(&values));
            let (mut bytes, mut scratch, mut out) = (Vec::new(), Vec::new(), Vec::new());
            write_values(&values, &mut hint, &mut scratch, &mut bytes);
            prop_assert!(read_values(&bytes, values.len(), &mut scratch, &mut out));
            prop_assert_eq!(bits(&out), bits(&values));
        }

        #[test]
        fn decimal_values_come_back(values in prop::collection::vec(-1_000_000i64..1_000_000, 1..129), scale in 0u32..7) {
            let values: Vec<f64> = values.iter().map(|v| *v as f64 / 10f64.powi(scale as i32)).collect();
            prop_assert_eq!(values_back(&values).0, bits(&values));
        }

        #[test]
        fn any_times_come_back(times in prop::collection::vec(any::<i64>(), 1..129)) {
            let (mut bytes, mut scratch, mut out) = (Vec::new(), Vec::new(), Vec::new());
            write_times(&times, &mut scratch, &mut bytes);
            prop_assert!(read_times(&bytes, times.len(), &mut out));
            prop_assert_eq!(out, times);
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300), n in 0usize..130) {
            let (mut scratch, mut values, mut times) = (Vec::new(), Vec::new(), Vec::new());
            if read_values(&bytes, n, &mut scratch, &mut values) {
                prop_assert_eq!(values.len(), n);
                let one: Vec<_> = (0..n).map(|i| read_value(&bytes, i, n).map(f64::to_bits)).collect();
                prop_assert_eq!(one, values.iter().map(|v| Some(v.to_bits())).collect::<Vec<_>>());
            }
            if read_times(&bytes, n, &mut times) {
                prop_assert_eq!(times.len(), n);
            }
        }
    }
}
