//! Addresses of the pages: everything that a page shows is said by its address.

use std::fmt::Write;

/// `/path?name=value&…`, values percent-encoded; those that are empty are left out.
pub fn address(path: &str, said: &[(&str, &str)]) -> String {
    let mut out = path.to_string();
    let mut sign = '?';
    for (name, value) in said.iter().filter(|(_, value)| !value.is_empty()) {
        let _ = write!(out, "{sign}{name}=");
        encode(value, &mut out);
        sign = '&';
    }
    out
}

/// The page of a record.
pub fn record(locator: &str) -> String {
    address("/show", &[("at", locator)])
}

/// Percent-encoded for a value of a query string (RFC 3986), slashes and colons as they are.
fn encode(text: &str, out: &mut String) {
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/:@*,".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_encoded() {
        assert_eq!(record("run/a b.log:12"), "/show?at=run/a%20b.log:12");
        assert_eq!(address("/", &[("q", "a&b=\"c\"#+é"), ("since", ""), ("n", "5")]), "/?q=a%26b%3D%22c%22%23%2B%C3%A9&n=5");
        assert_eq!(address("/", &[("q", "")]), "/");
    }
}
