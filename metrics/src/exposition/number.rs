//! Numbers of an exposition: values as Go's ParseFloat takes them in Prometheus, stamps as nanoseconds from decimal text.

/// A sample's value: decimal, or NaN and Inf in any case. Underscores, hexadecimal numbers, a NaN with a sign and numbers beyond the range
/// of a 64-bit float are refused, as Prometheus does.
pub fn value(text: &str) -> Option<f64> {
    let number: f64 = text.parse().ok()?;
    if number.is_finite() {
        return Some(number);
    }
    let plain = text.strip_prefix(['+', '-']).unwrap_or(text);
    if number.is_nan() {
        return (plain.len() == text.len()).then_some(f64::NAN);
    }
    // a number of digits that became infinite is out of range
    plain.starts_with(['i', 'I']).then_some(number)
}

/// Whole milliseconds since the epoch, without a sign, to nanoseconds.
pub(super) fn milliseconds(text: &str) -> Option<i64> {
    if !text.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    text.parse::<i64>().ok()?.checked_mul(1_000_000)
}

/// Decimal seconds (`1795975352.6621156`, `-1.5`, `1.79e9`) to nanoseconds, digit by digit; what is below a nanosecond is cut off towards
/// zero. `None` if it is no number or beyond the range.
pub fn seconds(text: &str) -> Option<i64> {
    let (negative, plain) = match text.as_bytes().first()? {
        b'-' => (true, text.get(1..)?),
        b'+' => (false, text.get(1..)?),
        _ => (false, text),
    };
    let (digits, exponent) = match plain.split_once(['e', 'E']) {
        Some((digits, exponent)) => (digits, exponent.parse::<i32>().ok()?),
        None => (plain, 0),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    // digits before the point once seconds are nanoseconds
    let point = i64::try_from(whole.len()).ok()?.checked_add(i64::from(exponent))?.checked_add(9)?;
    let mut ns = 0i64;
    let mut at = 0i64;
    for b in whole.bytes().chain(fraction.bytes()) {
        if !b.is_ascii_digit() {
            return None;
        }
        if at < point {
            ns = ns.checked_mul(10)?.checked_add(i64::from(b - b'0'))?;
        }
        at += 1;
    }
    // a zero stays one however often it is multiplied
    while at < point && ns != 0 {
        ns = ns.checked_mul(10)?;
        at += 1;
    }
    Some(if negative { -ns } else { ns })
}
