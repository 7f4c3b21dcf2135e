//! One value at one scrape, and how exactly it is known.

/// Nanoseconds in one second.
pub const SECOND: i64 = 1_000_000_000;

/// A value at a time.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Sample {
    /// Nanoseconds since the Unix epoch; since the start of the capture where its clock is [`super::Clock::Elapsed`].
    pub at: i64,
    /// The value as served. NaN is a value: the instrument did not know.
    #[serde(serialize_with = "super::json::number")]
    pub value: f64,
}

/// How a value was stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Precision {
    /// As 64-bit float or as text: what was served.
    #[default]
    F64,
    /// As 32-bit float: whole numbers above 2^24 are rounded.
    F32,
}

impl Precision {
    /// How far a served value can lie from the stored one: half the distance to the neighbouring 32-bit floats, rounded up; 0 for 64-bit.
    pub fn error(self, value: f64) -> f64 {
        match self {
            Precision::F64 => 0.0,
            Precision::F32 => {
                let stored = value as f32;
                if !stored.is_finite() {
                    return if stored.is_nan() { 0.0 } else { f64::INFINITY };
                }
                let magnitude = stored.abs();
                let above = f32::from_bits(magnitude.to_bits() + 1);
                if above.is_finite() {
                    (f64::from(above) - f64::from(magnitude)) / 2.0
                } else {
                    (f64::from(magnitude) - f64::from(f32::from_bits(magnitude.to_bits() - 1))) / 2.0
                }
            }
        }
    }
}

/// The NaN that Prometheus writes when a series ends (`0x7ff0000000000002`).
pub fn is_stale(value: f64) -> bool {
    value.to_bits() == 0x7ff0_0000_0000_0002
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_32_bit_float_is_known_to_half_its_step() {
        assert_eq!(Precision::F32.error(1.0), f64::from(f32::EPSILON) / 2.0);
        assert_eq!(Precision::F32.error(16_777_216.0), 1.0, "2^24: the next one is 2 above");
        assert_eq!(Precision::F32.error(3e9), 128.0);
        assert_eq!(Precision::F32.error(1e10), 512.0);
        assert_eq!(Precision::F64.error(1e10), 0.0);
        assert_eq!(Precision::F32.error(f64::INFINITY), f64::INFINITY, "stored as infinite: it may have been any large number");
    }
}
