//! Numbers for people.

/// A whole number that may be negative, grouped likewise.
pub fn grouped_signed(n: f64) -> String {
    let digits = grouped(n.abs() as u64);
    if n < 0.0 { format!("-{digits}") } else { digits }
}

/// A number with blanks between groups of three digits.
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(' ');
        }
        out.push(c);
    }
    out
}

/// `1 run`, `2 000 runs`.
pub fn counted(n: u64, one: &str) -> String {
    format!("{} {one}{}", grouped(n), if n == 1 { "" } else { "s" })
}
