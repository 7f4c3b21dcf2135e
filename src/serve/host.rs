//! Is a request meant for this server?
//!
//! A page on the web can have a browser ask `http://evil.example:8088/` and let that name mean 127.0.0.1 (DNS rebinding). The browser then sends the
//! page's own name as `Host`: whoever asks for another host than this one is refused.

use std::net::{IpAddr, SocketAddr};

use axum::http::{HeaderMap, Uri, header};

/// The hosts that this server is.
#[derive(Clone, Debug)]
pub struct Hosts {
    port: u16,
    bound: IpAddr,
}

impl Hosts {
    /// Those of a server that listens here.
    pub fn of(bound: SocketAddr) -> Hosts {
        Hosts { port: bound.port(), bound: bound.ip() }
    }

    /// Is the request for one of them? `local` is the address that its connection came in by.
    pub fn allow(&self, headers: &HeaderMap, uri: &Uri, local: IpAddr) -> bool {
        let mut hosts = headers.get_all(header::HOST).iter();
        let (Some(host), None) = (hosts.next(), hosts.next()) else { return false };
        let named = |text: &str| self.is(text, local);
        host.to_str().is_ok_and(named) && uri.authority().is_none_or(|a| named(a.as_str()))
    }

    /// `localhost`, a loopback address, the address that is bound, or, where every address is, the one that the connection came in by; with the port.
    fn is(&self, text: &str, local: IpAddr) -> bool {
        let (name, port) = match text.rsplit_once(':') {
            // The colons of `[::1]` are none of a port.
            Some((name, port)) if !port.contains(']') => (name, number(port)),
            _ => (text, Some(80)),
        };
        if port != Some(self.port) {
            return false;
        }
        if name.eq_ignore_ascii_case("localhost") {
            return true;
        }
        let inner = name.strip_prefix('[').and_then(|n| n.strip_suffix(']'));
        let address = match inner {
            Some(inner) => inner.parse::<std::net::Ipv6Addr>().map(IpAddr::V6),
            None => name.parse::<std::net::Ipv4Addr>().map(IpAddr::V4),
        };
        let Ok(address) = address else { return false };
        address.is_loopback() || address == self.bound || (self.bound.is_unspecified() && address == local.to_canonical())
    }
}

/// A port in digits alone.
fn number(text: &str) -> Option<u16> {
    text.parse().ok().filter(|_| text.bytes().all(|b| b.is_ascii_digit()))
}

/// Did a page of another origin ask for this, other than by a link that its reader followed? Browsers say so.
pub fn from_elsewhere(headers: &HeaderMap) -> bool {
    let said = |name: &str| headers.get(name).and_then(|v| v.to_str().ok());
    let other = matches!(said("sec-fetch-site"), Some("cross-site" | "same-site"));
    other && said("sec-fetch-mode") != Some("navigate")
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn allowed(bound: &str, host: &str) -> bool {
        let hosts = Hosts::of(bound.parse().expect("an address"));
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, HeaderValue::from_str(host).expect("a header"));
        hosts.allow(&headers, &Uri::from_static("/"), "192.0.2.7".parse().expect("an address"))
    }

    #[test]
    fn only_this_server_is_meant() {
        for host in ["127.0.0.1:8088", "localhost:8088", "LocalHost:8088", "[::1]:8088", "127.8.9.1:8088"] {
            assert!(allowed("127.0.0.1:8088", host), "{host}");
        }
        let foreign = [
            "evil.example:8088",
            "127.0.0.1:8089",
            "127.0.0.1",
            "localhost",
            "localhost.:8088",
            "localhost.evil.example:8088",
            "127.0.0.1.evil.example:8088",
            "evil.example",
            "192.0.2.7:8088",
            "[::1:8088",
            "::1:8088",
            "[127.0.0.1]:8088",
            "2130706433:8088",
            "0.0.0.0:8088",
            "localhost:8088@evil.example",
            "localhost:+8088",
            ":8088",
            "",
        ];
        for host in foreign {
            assert!(!allowed("127.0.0.1:8088", host), "{host}");
        }
    }

    #[test]
    fn the_bound_address_is_meant() {
        assert!(allowed("192.0.2.7:80", "192.0.2.7"));
        assert!(allowed("192.0.2.7:8088", "192.0.2.7:8088"));
        assert!(allowed("0.0.0.0:8088", "192.0.2.7:8088"), "the connection came in by it");
        assert!(!allowed("0.0.0.0:8088", "192.0.2.8:8088"));
        assert!(!allowed("0.0.0.0:8088", "evil.example:8088"));
    }

    #[test]
    fn one_host_is_named_and_no_other_stands_in_the_address() {
        let hosts = Hosts::of("127.0.0.1:8088".parse().expect("an address"));
        let local = "127.0.0.1".parse().expect("an address");
        let mut headers = HeaderMap::new();
        assert!(!hosts.allow(&headers, &Uri::from_static("/"), local), "none");
        headers.append(header::HOST, HeaderValue::from_static("localhost:8088"));
        assert!(!hosts.allow(&headers, &Uri::from_static("http://evil.example/"), local));
        assert!(hosts.allow(&headers, &Uri::from_static("http://127.0.0.1:8088/"), local));
        headers.append(header::HOST, HeaderValue::from_static("evil.example:8088"));
        assert!(!hosts.allow(&headers, &Uri::from_static("/"), local), "two");
    }
}
