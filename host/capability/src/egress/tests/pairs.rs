//! The spelling of pairs.

use super::super::pair::Authority;
use super::*;
use hydrant_policy::Reach;

#[test]
fn a_pair_has_one_spelling_after_idna() {
    for (text, spelling, reach) in [
        ("API.Example.Net:443", "api.example.net:443", Reach::Public),
        (
            "b\u{fc}cher.example:80",
            "xn--bcher-kva.example:80",
            Reach::Public,
        ),
        ("a_b.example:65535", "a_b.example:65535", Reach::Public),
        ("LocalHost:8080", "localhost:8080", Reach::Named),
        ("127.0.0.1:8080", "127.0.0.1:8080", Reach::Named),
        ("[0:0::1]:80", "[::1]:80", Reach::Named),
    ] {
        let pair = Pair::parse(text, PlainHttp::Refused).unwrap();
        assert_eq!((pair.to_string().as_str(), pair.reach()), (spelling, reach));
        // A request can name it.
        assert!(pair.is(&Authority::parse(spelling, None).unwrap()));
        assert!(pair.is(&Authority::parse(&spelling.to_uppercase(), None).unwrap()));
    }
}

#[test]
fn what_is_no_pair_is_refused() {
    for text in [
        "",
        ":443",
        "a.example",
        "a.example:",
        "a.example:0",
        "a.example:0443",
        "a.example:+443",
        "a.example:65536",
        "a.example:443:443",
        "a.example:443/",
        "a.example.:443",
        "a..example:443",
        "*.example:443",
        "a.ex%61mple:443",
        "me@a.example:443",
        "a b:443",
        "2130706433:80",
        "0177.0.0.1:80",
        "0x7f.1:80",
        "127.1:80",
        "127.0.0.1.:80",
        "[::1%25lo]:80",
        "[::1]80",
        "[::1:80",
        "::1:80",
        &format!("{}.example:80", "a".repeat(64)),
        &format!("{}:80", "a.".repeat(127) + "aa"),
    ] {
        assert!(Pair::parse(text, PlainHttp::Refused).is_err(), "{text:?}");
    }
}

#[test]
fn no_other_spelling_selects_a_pair() {
    let pairs: Vec<_> = ["a.example:443", "127.0.0.1:443", "[::1]:443"]
        .map(|text| Pair::parse(text, PlainHttp::Refused).unwrap())
        .into();
    for other in [
        "a.example.:443",
        ".a.example:443",
        "xa.example:443",
        "a.example:4430",
        "a.example:80",
        "a.exampl\u{212f}:443",
        "\u{ff41}.example:443",
        "a%2eexample:443",
        "2130706433:443",
        "0x7f000001:443",
        "0177.0.0.1:443",
        "127.1:443",
        "127.0.0.1.:443",
        "[::ffff:127.0.0.1]:443",
        "[::ffff:7f00:1]:443",
        "[0::1]:443",
        "me@a.example:443",
        "a.example:443@b.example:443",
        "a.example:0443",
        "a.example: 443",
        "a.example",
    ] {
        let selected = Authority::parse(other, None)
            .is_ok_and(|authority| pairs.iter().any(|pair| pair.is(&authority)));
        assert!(!selected, "{other:?}");
    }
}
