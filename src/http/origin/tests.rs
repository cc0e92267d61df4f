//! Tests of who may knock.

use super::*;

fn allowed(listen: &str) -> Allowed {
    Allowed::new(listen.parse().unwrap(), &["https://desk.example".parse().unwrap()], &[])
}

fn host_of(allowed: &Allowed, host: &str) -> bool {
    allowed.host(host.parse().ok().as_ref())
}

#[test]
fn on_loopback_only_its_own_names_are_served() {
    let local = allowed("127.0.0.1:4000");
    for host in ["localhost:4000", "127.0.0.1", "[::1]:4000", "LOCALHOST", "desk.example"] {
        assert!(host_of(&local, host), "{host}");
    }
    for host in ["evil.example", "evil.example:4000", "localhost.evil.example", "127.0.0.1.evil.example", ""] {
        assert!(!host_of(&local, host), "{host}");
    }
    assert!(!local.host(None));
    assert!(host_of(&allowed("0.0.0.0:4000"), "anything.example"));
}

#[test]
fn with_names_given_only_those_are_served() {
    let hosts = ["books.example", "10.0.0.1"].map(|host| host.parse().unwrap());
    let beyond = Allowed::new("0.0.0.0:4000".parse().unwrap(), &["https://desk.example".parse().unwrap()], &hosts);
    for host in ["books.example", "BOOKS.example:443", "10.0.0.1:4000", "localhost:4000"] {
        assert!(host_of(&beyond, host), "{host}");
    }
    for host in ["desk.example", "10.0.0.2", "books.example.evil.example", ""] {
        assert!(!host_of(&beyond, host), "{host}");
    }
    let local = Allowed::new("127.0.0.1:4000".parse().unwrap(), &[], &hosts);
    assert!(host_of(&local, "books.example") && host_of(&local, "localhost:4000"));
    for text in ["", "books.example:443", "https://books.example", "a b", "user@books.example"] {
        assert!(text.parse::<Host>().is_err(), "{text}");
    }
}

#[test]
fn answers_are_shared_with_configured_origins_alone() {
    let local = allowed("127.0.0.1:4000");
    let shared = |origin: &str| local.shares_with(&origin.parse().unwrap());
    assert!(shared("https://desk.example"));
    for origin in ["null", "*", "", "http://desk.example", "https://desk.example:8443", "http://localhost:5173"] {
        assert!(!shared(origin), "{origin}");
    }
}

#[test]
fn an_origin_is_no_more_than_that() {
    for text in ["https://desk.example", "http://localhost:5173", "https://desk.example/"] {
        assert!(text.parse::<Origin>().is_ok(), "{text}");
    }
    for text in ["", "*", "desk.example", "ftp://desk.example", "https://desk.example/path", "https://"] {
        assert!(text.parse::<Origin>().is_err(), "{text}");
    }
}

#[test]
fn scripts_of_other_sites_open_no_socket() {
    let from = |allowed: &Allowed, origin: &str| {
        allowed
            .origin(&[(HOST, "app.example".parse().unwrap()), (ORIGIN, origin.parse().unwrap())].into_iter().collect())
    };
    let (local, open) = (allowed("127.0.0.1:4000"), allowed("0.0.0.0:4000"));
    assert!(from(&open, "https://app.example") && from(&open, "https://desk.example"));
    assert!(from(&local, "http://localhost:5173") && !from(&open, "http://localhost:5173"));
    for origin in ["null", "https://evil.example", "http://desk.example", "https://desk.example.evil.example", ""] {
        assert!(!from(&local, origin), "{origin}");
    }
    assert!(local.origin(&HeaderMap::new()), "a program that is no browser sends none");
}
