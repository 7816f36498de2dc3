//! Addresses that requests must not be sent to (S4). Base URLs come from the user's own
//! configuration; but a name may resolve to a cloud's metadata service, which has secrets and never
//! serves a model.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    sync::Arc,
};

use reqwest::{
    Url,
    dns::{Addrs, Name, Resolve, Resolving},
};

/// An address that requests are never sent to.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "no request is ever sent to {host}: it is link-local, a cloud's metadata service, or not a host's address"
)]
pub struct Forbidden {
    /// Its host.
    pub host: String,
}

/// Checks a base URL as it is written. What its name resolves to is checked by the resolver when a
/// request is sent.
pub fn allowed(base: &Url) -> Result<(), Forbidden> {
    let host = base.host_str().unwrap_or_default();
    let literal = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    let is_known = METADATA_NAMES.iter().any(|it| host.trim_end_matches('.').eq_ignore_ascii_case(it));
    if is_known || literal.is_ok_and(is_forbidden) {
        return Err(Forbidden { host: host.to_owned() });
    }
    Ok(())
}

const METADATA_NAMES: &[&str] = &[
    "metadata.google.internal",
    "metadata.goog",
    "metadata.azure.internal",
    "metadata",
    "instance-data",
    "instance-data.ec2.internal",
];

/// Metadata services of clouds that are not at a link-local address.
const METADATA: &[IpAddr] = &[
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254)),
    IpAddr::V6(Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254)),
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0xc1, 0, 0, 0, 0, 0xa9fe, 0xa9fe)),
    IpAddr::V4(Ipv4Addr::new(100, 100, 100, 200)),
    IpAddr::V4(Ipv4Addr::new(192, 0, 0, 192)),
    IpAddr::V4(Ipv4Addr::new(168, 63, 129, 16)),
];

fn is_forbidden(address: IpAddr) -> bool {
    let is_no_host = address.is_unspecified() || address.is_multicast();
    is_no_host || METADATA.contains(&address) || is_link_local(address)
}

fn is_link_local(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(it) => it.is_link_local() || it.is_broadcast(),
        IpAddr::V6(it) => {
            it.is_unicast_link_local() || embedded_ipv4(it).is_some_and(|it| is_forbidden(it.into()))
        }
    }
}

/// The IPv4 address embedded in an IPv6 one: mapped, translated (SIIT, or NAT64 with the well-known
/// or a local prefix), or 6to4.
fn embedded_ipv4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let word = |high: u16, low: u16| Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    match address.segments() {
        [0, 0, 0, 0, 0, 0xffff, high, low] => Some(word(high, low)),
        [0, 0, 0, 0, 0xffff, 0, high, low] => Some(word(high, low)),
        [0x64, 0xff9b, 0 | 1, .., high, low] => Some(word(high, low)),
        [0x2002, high, low, ..] => Some(word(high, low)),
        [0, 0, 0, 0, 0, 0, high, low] if high != 0 => Some(word(high, low)),
        _ => None,
    }
}

/// Resolves names as the system does, without the forbidden addresses.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Guarded;

impl Resolve for Guarded {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let host = name.as_str().to_owned();
            let found: Vec<SocketAddr> = tokio::net::lookup_host((host.as_str(), 0)).await?.collect();
            Ok(Box::new(without_forbidden(host, found)?.into_iter()) as Addrs)
        })
    }
}

/// The allowed addresses of a name. Forbidden ones are removed even if others are allowed.
fn without_forbidden(host: String, found: Vec<SocketAddr>) -> Result<Vec<SocketAddr>, Forbidden> {
    let had_some = !found.is_empty();
    let good: Vec<SocketAddr> = found.into_iter().filter(|it| !is_forbidden(it.ip())).collect();
    if had_some && good.is_empty() { Err(Forbidden { host }) } else { Ok(good) }
}

/// Finds the guard's own error in the source chain of another one.
pub(crate) fn forbidden_in(error: &(dyn std::error::Error + 'static)) -> Option<Forbidden> {
    let mut inner = Some(error);
    while let Some(error) = inner {
        if let Some(forbidden) = error.downcast_ref::<Forbidden>() {
            return Some(forbidden.clone());
        }
        inner = error.source();
    }
    None
}

/// The guarded resolver in the type the client expects.
pub(crate) fn resolver() -> Arc<Guarded> {
    Arc::new(Guarded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s4_forty_addresses() {
        let is_allowed = |url: &str| allowed(&url.parse().unwrap()).is_ok();
        let good = [
            "https://api.anthropic.com/v1",
            "https://api.openai.com/v1",
            "http://127.0.0.1:9000/v1",
            "http://localhost:11434",
            "http://[::1]:8080/v1",
            "http://192.168.1.20:1234/v1",
            "http://10.0.0.5/v1",
            "http://172.16.9.1/v1",
            "http://[fd12:3456::1]/v1",
            "https://[2001:db8::1]/v1",
            "https://example.com:8443/v1",
            "https://8.8.8.8/v1",
            "http://100.64.0.1/v1",
            "https://metadata.example.com/v1",
            "http://0x7f000001/v1",
            "http://2130706433/v1",
        ];
        let bad = [
            "http://169.254.169.254/latest/meta-data",
            "http://169.254.0.1/v1",
            "http://169.254.170.2/v1",
            "http://0xa9fea9fe/v1",
            "http://2852039166/v1",
            "http://0251.0376.0251.0376/v1",
            "http://169.254.43518/v1",
            "http://[fe80::1]/v1",
            "http://[febf::1]/v1",
            "http://[fd00:ec2::254]/v1",
            "http://[fd20:ce::254]/v1",
            "http://[fd00:c1::a9fe:a9fe]/v1",
            "http://[::ffff:0:a9fe:a9fe]/v1",
            "http://[64:ff9b:1::a9fe:a9fe]/v1",
            "http://[::ffff:169.254.169.254]/v1",
            "http://[::ffff:a9fe:a9fe]/v1",
            "http://[64:ff9b::a9fe:a9fe]/v1",
            "http://[2002:a9fe:a9fe::]/v1",
            "http://[::a9fe:a9fe]/v1",
            "http://100.100.100.200/v1",
            "http://192.0.0.192/v1",
            "http://168.63.129.16/v1",
            "http://metadata.google.internal/v1",
            "http://METADATA.google.internal./v1",
            "http://0.0.0.0:80/v1",
            "http://[::]:80/v1",
            "http://255.255.255.255/v1",
            "http://224.0.0.1/v1",
            "http://[ff02::1]/v1",
        ];
        let wrong: Vec<&str> = good.into_iter().filter(|it| !is_allowed(it)).collect();
        assert_eq!(wrong, [""; 0]);
        let wrong: Vec<&str> = bad.into_iter().filter(|it| is_allowed(it)).collect();
        assert_eq!(wrong, [""; 0]);
        assert!(good.len() + bad.len() >= 40);
    }

    #[test]
    fn s4_a_name_that_resolves_to_a_forbidden_address_is_not_asked_there() {
        let check = |found: &[&str], expected: Option<&[&str]>| {
            let at = |it: &&str| SocketAddr::new(it.parse().unwrap(), 443);
            let without_forbidden =
                without_forbidden("models.example".to_owned(), found.iter().map(at).collect());
            let host = "models.example".to_owned();
            assert_eq!(
                without_forbidden,
                expected.map(|it| it.iter().map(at).collect()).ok_or(Forbidden { host }),
                "{found:?}"
            );
        };
        check(&["169.254.169.254"], None);
        check(&["fe80::1", "169.254.169.254"], None);
        check(&["::ffff:169.254.169.254"], None);
        check(&["169.254.169.254", "192.0.2.7"], Some(&["192.0.2.7"]));
        check(&["127.0.0.1", "::1"], Some(&["127.0.0.1", "::1"]));
        check(&[], Some(&[]));
    }

    #[tokio::test]
    async fn s4_names_are_checked_after_resolving() {
        let resolved = Guarded.resolve("localhost".parse().unwrap()).await.unwrap();
        assert!(resolved.into_iter().all(|it| it.ip().is_loopback()));
    }
}
