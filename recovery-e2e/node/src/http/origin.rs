//! Which hosts and origins may send requests: this machine's, and those of --public-origin.
//!
//! Refuses foreign pages that know the port, and names that were pointed at this machine.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use axum::http::uri::Authority;
use axum::http::{HeaderMap, header};

/// Scheme, host and port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    https: bool,
    host: String,
    port: u16,
}

/// The text is not an origin.
#[derive(Debug, thiserror::Error)]
#[error("{0:?} is not an origin; write it as http://HOST[:PORT] or https://HOST[:PORT]")]
pub struct NotAnOrigin(String);

impl Origin {
    fn default_port(https: bool) -> u16 {
        if https { 443 } else { 80 }
    }

    /// Whether it is of this machine.
    pub fn is_loopback(&self) -> bool {
        is_loopback(&self.host)
    }

    /// Whether a `Host` header of this origin would read so.
    fn is_host(&self, host: &Authority) -> bool {
        host.host().eq_ignore_ascii_case(&self.host)
            && host.port_u16().unwrap_or(Self::default_port(self.https)) == self.port
    }
}

impl FromStr for Origin {
    type Err = NotAnOrigin;

    fn from_str(text: &str) -> Result<Self, NotAnOrigin> {
        let not = || NotAnOrigin(text.to_owned());
        let (scheme, rest) = text.split_once("://").ok_or_else(not)?;
        let https = match scheme {
            "http" => false,
            "https" => true,
            _ => return Err(not()),
        };
        let host = authority(rest).ok_or_else(not)?;
        Ok(Self {
            https,
            host: host.host().to_ascii_lowercase(),
            port: host.port_u16().unwrap_or(Self::default_port(https)),
        })
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "http{}://{}", if self.https { "s" } else { "" }, self.host)?;
        if self.port == Self::default_port(self.https) {
            Ok(())
        } else {
            write!(f, ":{}", self.port)
        }
    }
}

/// Whether a request with these headers may come in.
pub fn admits(public: &[Origin], headers: &HeaderMap) -> bool {
    let mut hosts = headers.get_all(header::HOST).iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else {
        return false;
    };
    let host_is_known = host.to_str().ok().and_then(authority).is_some_and(|host| {
        is_loopback(host.host()) || public.iter().any(|origin| origin.is_host(&host))
    });
    host_is_known
        && headers.get_all(header::ORIGIN).iter().all(|origin| {
            origin
                .to_str()
                .ok()
                .and_then(|origin| origin.parse::<Origin>().ok())
                .is_some_and(|origin| is_loopback(&origin.host) || public.contains(&origin))
        })
}

/// Reads `HOST[:PORT]`, and nothing else.
fn authority(text: &str) -> Option<Authority> {
    let authority: Authority = text.parse().ok()?;
    let port = authority.as_str().strip_prefix(authority.host())?;
    // Anything but a number after the host, such as user names, is no host header.
    let plain = port.is_empty() || authority.port_u16().is_some();
    (plain && !authority.host().is_empty()).then_some(authority)
}

fn is_loopback(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || address.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admitted(host: &str, origin: Option<&str>) -> bool {
        let public = ["https://app.example".parse().unwrap(), "http://box.lan:81".parse().unwrap()];
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, host.parse().unwrap());
        if let Some(origin) = origin {
            headers.insert(header::ORIGIN, origin.parse().unwrap());
        }
        admits(&public, &headers)
    }

    #[test]
    fn this_machine_and_the_public_origins_are_let_in() {
        for host in [
            "127.0.0.1:9",
            "127.8.8.8",
            "localhost:9",
            "LOCALHOST",
            "[::1]:9",
            "app.example",
            "APP.example:443",
            "box.lan:81",
        ] {
            assert!(admitted(host, None), "{host}");
        }
        for origin in
            ["http://127.0.0.1:9", "http://localhost", "https://app.example", "http://box.lan:81"]
        {
            assert!(admitted("127.0.0.1:9", Some(origin)), "{origin}");
        }
    }

    #[test]
    fn every_other_host_is_refused() {
        for host in [
            "evil.test",
            "127.0.0.1.evil.test",
            "app.example:80",
            "box.lan",
            "10.0.0.1",
            "a@127.0.0.1",
            "127.0.0.1:x",
            "0.0.0.0",
        ] {
            assert!(!admitted(host, None), "{host}");
        }
        assert!(!admits(&[], &HeaderMap::new()));
    }

    #[test]
    fn every_other_origin_is_refused() {
        for origin in [
            "null",
            "http://evil.test",
            "http://app.example",
            "https://app.example:444",
            "http://127.0.0.1.evil.test",
            "file://",
            "http://127.0.0.1/x",
        ] {
            assert!(!admitted("127.0.0.1:9", Some(origin)), "{origin}");
        }
    }

    #[test]
    fn an_origin_is_written_without_its_default_port() {
        let written = |text: &str| text.parse::<Origin>().unwrap().to_string();
        assert_eq!(written("https://App.example:443"), "https://app.example");
        assert_eq!(written("http://127.0.0.1:80"), "http://127.0.0.1");
        assert_eq!(written("http://127.0.0.1:8080"), "http://127.0.0.1:8080");
    }
}
