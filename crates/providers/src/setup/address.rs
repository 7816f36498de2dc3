//! Checks base URLs from the configuration. Link-local and cloud metadata addresses are refused
//! (S4).

use std::{fmt, net::IpAddr};

use reqwest::Url;

use crate::guard;

/// Whether an address on another machine may be unencrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plain {
    /// No: others could read the traffic.
    Refused,
    /// Yes: the user allowed it.
    Allowed,
}

/// Why an address is refused. No variant contains the address: it may include a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wrong {
    /// Not a URL.
    NoAddress,
    /// Neither `http` nor `https`.
    Scheme,
    /// Contains a user name or a password.
    Password,
    /// Contains a query or a fragment.
    Tail,
    /// Not encrypted, and not on this machine.
    PlainHttp,
    /// Link-local or a cloud's metadata service, which holds secrets.
    Forbidden,
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Wrong::NoAddress => "is not a URL; write it in full, like https://host/v1",
            Wrong::Scheme => "must begin with https://, or with http:// on this machine",
            Wrong::Password => "contains a user name or password; name a variable for the key with key_env instead",
            Wrong::Tail => "contains ? or #; leave out the query and the fragment",
            Wrong::PlainHttp => {
                "is not encrypted and not on this machine, so others could read the traffic; use https, or set insecure = true"
            }
            Wrong::Forbidden => "is link-local or a cloud's metadata service, and no request is ever sent there",
        })
    }
}

/// Checks an address. A slash at its end is removed.
pub fn checked(text: &str, plain: Plain) -> Result<Url, Wrong> {
    let text = text.trim();
    if !text.contains("://") {
        return Err(Wrong::NoAddress);
    }
    let mut url = Url::parse(text).map_err(|_| Wrong::NoAddress)?;
    if !["http", "https"].contains(&url.scheme()) {
        return Err(Wrong::Scheme);
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(Wrong::Password);
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(Wrong::Tail);
    }
    if guard::allowed(&url).is_err() {
        return Err(Wrong::Forbidden);
    }
    if url.scheme() == "http" && !is_this_machine(&url) && plain == Plain::Refused {
        return Err(Wrong::PlainHttp);
    }
    let path = url.path().trim_end_matches('/').to_owned();
    url.set_path(&path);
    Ok(url)
}

/// Whether it is on this machine, judging by the address as it is written.
pub(crate) fn is_this_machine(url: &Url) -> bool {
    match host(url) {
        Host::Number(IpAddr::V6(address)) => {
            address.is_loopback() || address.to_ipv4_mapped().is_some_and(|it| it.is_loopback())
        }
        Host::Number(IpAddr::V4(address)) => address.is_loopback(),
        Host::Name(name) => name == "localhost" || name.ends_with(".localhost"),
    }
}

enum Host {
    Number(IpAddr),
    Name(String),
}

fn host(url: &Url) -> Host {
    let host = url.host_str().unwrap_or_default();
    let number = host.trim_start_matches('[').trim_end_matches(']');
    match number.parse() {
        Ok(address) => Host::Number(address),
        Err(_) => Host::Name(host.trim_end_matches('.').to_ascii_lowercase()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Result<&str, Wrong>) {
        assert_eq!(
            checked(text, Plain::Refused).map(|it| it.to_string()),
            expected.map(str::to_owned),
            "{text}"
        );
    }

    #[test]
    fn s4_allowed_addresses() {
        check("https://api.example.com/v1", Ok("https://api.example.com/v1"));
        check(" https://api.example.com/v1/ ", Ok("https://api.example.com/v1"));
        check("https://api.example.com", Ok("https://api.example.com/"));
        check("https://10.0.0.7:8443/v1", Ok("https://10.0.0.7:8443/v1"));
        check("http://127.0.0.1:11434", Ok("http://127.0.0.1:11434/"));
        check("http://127.9.9.9/v1", Ok("http://127.9.9.9/v1"));
        check("http://localhost:1234/v1", Ok("http://localhost:1234/v1"));
        check("http://llm.localhost/v1", Ok("http://llm.localhost/v1"));
        check("http://[::1]:8080/v1", Ok("http://[::1]:8080/v1"));
    }

    #[test]
    fn s4_malformed_addresses() {
        for text in
            ["", "api.example.com", "localhost:1234", "https://", "http://[::1", "//host/v1", "https:host"]
        {
            check(text, Err(Wrong::NoAddress));
        }
        for text in ["ftp://host/v1", "file:///etc/passwd", "unix://socket", "gopher://host", "data://x"] {
            check(text, Err(Wrong::Scheme));
        }
        for text in ["https://user:pass@host/v1", "https://user@host/v1", "https://:pass@host/v1"] {
            check(text, Err(Wrong::Password));
        }
        for text in ["https://host/v1?key=x", "https://host/v1?", "https://host/v1#x", "https://host#"] {
            check(text, Err(Wrong::Tail));
        }
    }

    #[test]
    fn s4_unencrypted_addresses_of_other_machines_need_the_users_consent() {
        for text in
            ["http://host/v1", "http://192.168.1.5:11434", "http://10.0.0.1:8000", "http://[2001:db8::1]/"]
        {
            check(text, Err(Wrong::PlainHttp));
            assert!(checked(text, Plain::Allowed).is_ok(), "{text}");
        }
    }

    #[test]
    fn s4_metadata_and_link_local_addresses_are_refused() {
        for text in [
            "http://169.254.169.254/latest",
            "https://169.254.0.1",
            "https://2852039166/v1",
            "https://0xa9fea9fe/v1",
            "https://0251.0376.0251.0376/v1",
            "https://[fe80::1]/v1",
            "https://[febf::1]/v1",
            "https://[fd00:ec2::254]/v1",
            "https://[fd20:ce::254]/v1",
            "https://[::ffff:169.254.169.254]/v1",
            "https://[64:ff9b::169.254.169.254]/v1",
            "https://[::169.254.169.254]/v1",
            "https://100.100.100.200/v1",
            "https://192.0.0.192/v1",
            "http://metadata.google.internal/computeMetadata",
            "https://METADATA.google.internal./v1",
            "https://metadata.goog/v1",
            "https://metadata/v1",
            "https://instance-data/latest",
            "https://instance-data.ec2.internal",
            "https://0.0.0.0/v1",
        ] {
            check(text, Err(Wrong::Forbidden));
            assert_eq!(checked(text, Plain::Allowed), Err(Wrong::Forbidden), "{text}");
        }
    }
}
