//! A target: where to ask, what to call it, and how to write it down without its credentials.

use hyper::header::HeaderValue;
use hyper::http::uri::PathAndQuery;

/// An endpoint to be asked. Its `Debug` and [`Target::shown`] hold no credential.
#[derive(Clone)]
pub struct Target {
    /// What the caller calls it: `prefill`, `decode`, `router`.
    pub role: Option<String>,
    /// Which of them.
    pub worker: Option<String>,
    pub(crate) https: bool,
    /// Name or address; IPv6 without brackets.
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) path: PathAndQuery,
    pub(crate) authorization: Option<HeaderValue>,
    /// Nobody wrote a path: the usual one is tried.
    pub path_assumed: bool,
    shown: String,
}

/// Why a text names no target. It does not repeat the text, which may hold a password.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    #[error("`{0}:` is not read; write http:// or https://")]
    Scheme(String),
    #[error("no host in the URL; write [ROLE[/WORKER]=]http://HOST[:PORT][/PATH]")]
    NoHost,
    #[error("the port is not a number from 1 to 65535")]
    Port,
    #[error("the host holds a character that no host name has (write international names in their `xn--` form)")]
    Host,
    #[error("the path or query holds a character that must be written as %XX")]
    Path,
}

/// Values of these parameters are no credentials, and say what was asked for.
const HARMLESS: &[&str] = &["match[]", "collect[]", "exclude[]", "name[]", "format", "module"];

impl Target {
    /// `[ROLE[/WORKER]=]URL`. A URL without scheme is http; one without path is asked for `/metrics`.
    pub fn parse(text: &str) -> Result<Target, TargetError> {
        Target::parse_for(text, "/metrics")
    }

    /// The same for another path that is asked for where none is written: `/health`.
    pub fn parse_for(text: &str, assumed: &str) -> Result<Target, TargetError> {
        let text = text.trim();
        let (role, worker, url) = named(text);
        let (https, rest) = match url.split_once("://") {
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("http") => (false, rest),
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("https") => (true, rest),
            Some((scheme, _)) if scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c)) => {
                return Err(TargetError::Scheme(scheme.to_string()));
            }
            _ => (false, url),
        };
        let rest = rest.split('#').next().unwrap_or(rest);
        let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
        let (user, address) = match authority.rsplit_once('@') {
            Some((user, address)) => (Some(user), address),
            None => (None, authority),
        };
        let (host, port) = address_of(address)?;
        let port = port.unwrap_or(if https { 443 } else { 80 });
        let (asked, query) = path.split_once('?').map_or((path, None), |(p, q)| (p, Some(q)));
        let path_assumed = asked.is_empty() || asked == "/";
        let asked = if path_assumed { assumed } else { asked };
        let whole = query.map_or_else(|| asked.to_string(), |q| format!("{asked}?{q}"));
        let path: PathAndQuery = whole.parse().map_err(|_| TargetError::Path)?;
        let shown = format!(
            "{}://{}{address}{asked}{}",
            if https { "https" } else { "http" },
            if user.is_some() { "[withheld]@" } else { "" },
            query.map_or_else(String::new, |q| format!("?{}", without_values(q)))
        );
        Ok(Target { role, worker, https, host, port, path, authorization: user.and_then(basic), path_assumed, shown })
    }

    /// The URL, without user, password and values of the query that may be a token.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// For the `Host` header.
    pub(crate) fn host_header(&self) -> String {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        if self.port == if self.https { 443 } else { 80 } { host } else { format!("{host}:{}", self.port) }
    }

    /// Short, and fit for the name of a file: the worker's name, else host and port.
    pub fn slug(&self) -> String {
        let of = match (&self.role, &self.worker) {
            (Some(role), Some(worker)) => format!("{role}_{worker}"),
            (Some(role), None) => format!("{role}_{}_{}", self.host, self.port),
            _ => format!("{}_{}", self.host, self.port),
        };
        of.chars().map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' }).collect()
    }
}

impl std::fmt::Debug for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Target").field("role", &self.role).field("worker", &self.worker).field("url", &self.shown).finish_non_exhaustive()
    }
}

/// Takes `ROLE=` or `ROLE/WORKER=` from the front. A URL that has a `=` has a `:`, `?` or dot-less path before it, or none of ours.
fn named(text: &str) -> (Option<String>, Option<String>, &str) {
    let Some((name, url)) = text.split_once('=') else { return (None, None, text) };
    let word = |w: &str| !w.is_empty() && w.chars().all(|c| c.is_alphanumeric() || "_-.".contains(c));
    match name.split_once('/') {
        Some((role, worker)) if word(role) && word(worker) => (Some(role.into()), Some(worker.into()), url),
        None if word(name) => (Some(name.into()), None, url),
        _ => (None, None, text),
    }
}

/// Host, and the port if one is written.
fn address_of(address: &str) -> Result<(String, Option<u16>), TargetError> {
    let (host, port) = match address.strip_prefix('[') {
        Some(rest) => {
            let (host, after) = rest.split_once(']').ok_or(TargetError::Host)?;
            host.parse::<std::net::Ipv6Addr>().map_err(|_| TargetError::Host)?;
            match after {
                "" => (host, None),
                after => (host, Some(after.strip_prefix(':').ok_or(TargetError::Host)?)),
            }
        }
        None => match address.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (address, None),
        },
    };
    if host.is_empty() {
        return Err(TargetError::NoHost);
    }
    if !address.starts_with('[') && !host.chars().all(|c| c.is_ascii_alphanumeric() || "-._".contains(c)) {
        return Err(TargetError::Host);
    }
    let port = match port {
        None => None,
        Some(port) => Some(port.parse::<u16>().ok().filter(|p| *p > 0).ok_or(TargetError::Port)?),
    };
    Ok((host.to_string(), port))
}

/// Names of parameters stay, values only where they are known to be harmless; a word without a name may be a token itself.
fn without_values(query: &str) -> String {
    let part = |part: &str| match part.split_once('=') {
        Some((key, _)) if HARMLESS.contains(&key.replace("%5B", "[").replace("%5D", "]").as_str()) => part.to_string(),
        Some((key, _)) => format!("{key}=[withheld]"),
        None if part.is_empty() => String::new(),
        None => "[withheld]".to_string(),
    };
    query.split('&').map(part).collect::<Vec<_>>().join("&")
}

/// `Basic` credentials of `user[:password]` as a URL spells them.
fn basic(user: &str) -> Option<HeaderValue> {
    let (name, password) = user.split_once(':').unwrap_or((user, ""));
    let mut bytes = decoded(name);
    bytes.push(b':');
    bytes.extend(decoded(password));
    let mut value = HeaderValue::from_str(&format!("Basic {}", base64(&bytes))).ok()?;
    value.set_sensitive(true);
    Some(value)
}

/// `%XX` as bytes.
fn decoded(text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let hex = after.get(..2).filter(|_| first == b'%').and_then(|h| std::str::from_utf8(h).ok());
        match hex.and_then(|h| u8::from_str_radix(h, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                out.push(first);
                rest = after;
            }
        }
    }
    out
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let at = |i: usize| u32::from(chunk.get(i).copied().unwrap_or(0));
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for digit in 0..4usize {
            let six = (bits >> (18 - 6 * digit)) & 63;
            let c = DIGITS.get(six as usize).copied().unwrap_or(b'=');
            out.push(if digit > chunk.len() { '=' } else { char::from(c) });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(text: &str) -> Target {
        Target::parse(text).unwrap()
    }

    #[test]
    fn a_url_without_scheme_or_path_is_completed() {
        let t = target("localhost:30000");
        assert_eq!((t.shown(), t.port, t.path.as_str(), t.path_assumed), ("http://localhost:30000/metrics", 30000, "/metrics", true));
        assert_eq!(Target::parse_for("localhost:30000", "/health").unwrap().shown(), "http://localhost:30000/health");
        assert_eq!(Target::parse_for("localhost:30000/v1/models", "/health").unwrap().shown(), "http://localhost:30000/v1/models");
        let t = target("https://node7/custom/metrics");
        assert_eq!((t.port, t.path.as_str(), t.path_assumed, t.https), (443, "/custom/metrics", false, true));
        let t = target("http://[::1]:8000/");
        assert_eq!((t.host.as_str(), t.port, t.host_header().as_str()), ("::1", 8000, "[::1]:8000"));
        assert_eq!(target("http://h").host_header(), "h");
    }

    #[test]
    fn roles_and_workers_stand_before_the_url() {
        let t = target("prefill/p0=http://h:1/metrics?a=b");
        assert_eq!((t.role.as_deref(), t.worker.as_deref(), t.slug().as_str()), (Some("prefill"), Some("p0"), "prefill_p0"));
        let t = target("router=h:1");
        assert_eq!((t.role.as_deref(), t.worker.as_deref(), t.slug().as_str()), (Some("router"), None, "router_h_1"));
        let t = target("http://h:1/federate?match[]=up");
        assert_eq!((t.role, t.worker), (None, None));
    }

    #[test]
    fn credentials_are_sent_and_not_shown() {
        let t = target("http://me:p%40ss@h:1/metrics?token=abc&match[]=up&s3cret&match%5B%5D=x");
        assert_eq!(t.shown(), "http://[withheld]@h:1/metrics?token=[withheld]&match[]=up&[withheld]&match%5B%5D=x");
        assert_eq!(t.path.as_str(), "/metrics?token=abc&match[]=up&s3cret&match%5B%5D=x");
        // printf 'me:p@ss' | base64
        assert_eq!(t.authorization.as_ref().unwrap().to_str().unwrap(), "Basic bWU6cEBzcw==");
        let all = format!("{t:?}");
        for secret in ["abc", "s3cret", "p%40ss", "bWU6", "me:"] {
            assert!(!all.contains(secret), "{secret} in {all}");
        }
    }

    #[test]
    fn base64_pads() {
        // printf a | base64, and so on
        for (text, expected) in [("", ""), ("a", "YQ=="), ("ab", "YWI="), ("abc", "YWJj"), ("\u{ff}~?", "w79+Pw==")] {
            assert_eq!(base64(text.as_bytes()), expected);
        }
    }

    #[test]
    fn what_is_no_target_says_why_without_repeating_it() {
        for (text, expected) in [
            ("ftp://h/x", TargetError::Scheme("ftp".into())),
            ("http://", TargetError::NoHost),
            ("http://u:secret@:1", TargetError::NoHost),
            ("h:0", TargetError::Port),
            ("h:99999", TargetError::Port),
            ("http://a b/", TargetError::Host),
            ("http://[::1/", TargetError::Host),
            ("http://h/a b", TargetError::Path),
        ] {
            let error = Target::parse(text).unwrap_err();
            assert_eq!(error, expected, "{text}");
            assert!(!error.to_string().contains("secret"));
        }
    }
}
