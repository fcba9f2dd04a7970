//! Examples, and what holds for every reference.

use proptest::prelude::*;

use super::*;

const STRICT: Resolver = Resolver {
    allow_http_loopback: false,
};
const LOOPBACK: Resolver = Resolver {
    allow_http_loopback: true,
};
const C: &str = "os://crew/pilot.md";
const R: &str = "os://kits/rope/SKILL.md";
const W: &str = "https://lib.example/kits/index.md";

fn resolve(base: Option<&str>, reference: &str) -> Result<String, Unresolved> {
    let base = base.map(|base| Uri(base.to_owned()));
    STRICT
        .resolve(reference, base.as_ref())
        .map(Uri::into_string)
}

#[test]
fn references_resolve_as_the_table_says() {
    let failed = Err(Unresolved::Failed);
    let escape = Err(Unresolved::Escape);
    let scheme = Err(Unresolved::Scheme);
    let (input, c, r, w) = (None, Some(C), Some(R), Some(W));
    let cases = [
        (input, "os://crew/pilot.md", Ok("os://crew/pilot.md")),
        (input, "os:///crew/pilot.md", Ok("os://crew/pilot.md")),
        (input, "OS:////crew//pilot.md", Ok("os://crew/pilot.md")),
        (input, "os://Crew/Pilot.md", Ok("os://Crew/Pilot.md")),
        (input, "crew/pilot.md", Ok("os://crew/pilot.md")),
        (input, "/crew/./pilot.md", Ok("os://crew/pilot.md")),
        (input, "../crew/pilot.md", escape),
        (input, "os:/crew/pilot.md", failed),
        (input, "os:crew/pilot.md", failed),
        (input, "os://", Ok("os://")),
        (c, "map.md", Ok("os://crew/map.md")),
        (c, "./charts/map.md", Ok("os://crew/charts/map.md")),
        (c, "../kits/rope/SKILL.md", Ok("os://kits/rope/SKILL.md")),
        (c, "/kits/rope/SKILL.md", Ok("os://kits/rope/SKILL.md")),
        (c, "../../kits/rope.md", escape),
        (c, "os://kits/../../rope.md", escape),
        (c, "os://kits/old/../rope.md", Ok("os://kits/rope.md")),
        (c, "os://kits/%2E/%72ope.md", Ok("os://kits/rope.md")),
        (c, "os://kits/%2E%2e/%2e./rope.md", escape),
        (
            c,
            "os://kits/rope ladder.md",
            Ok("os://kits/rope%20ladder.md"),
        ),
        (
            c,
            "os://kits/rope%20ladder.md",
            Ok("os://kits/rope%20ladder.md"),
        ),
        (c, "os://kits/a+b;c=[1].md", Ok("os://kits/a+b;c=[1].md")),
        (
            c,
            "os://kits/%c3%a9t%c3%a9.md",
            Ok("os://kits/%C3%A9t%C3%A9.md"),
        ),
        (
            c,
            "os://kits/\u{e9}t\u{e9}.md",
            Ok("os://kits/%C3%A9t%C3%A9.md"),
        ),
        (
            c,
            "os://kits/e\u{301}te\u{301}.md",
            Ok("os://kits/e%CC%81te%CC%81.md"),
        ),
        (c, "os://kits%2Frope.md", failed),
        (c, "os://kits/%5crope.md", failed),
        (c, "rope%00.md", failed),
        (c, "os://kits/100%.md", failed),
        (c, "os://kits/100%25.md", Ok("os://kits/100%25.md")),
        (c, "..\\kits\\rope.md", failed),
        (c, "os://kits/rope.md#knots", Ok("os://kits/rope.md")),
        (c, "#knots", failed),
        (c, "../kits/rope.md?v=2", failed),
        (c, "os://kits/rope%3fv=2.md", Ok("os://kits/rope%3Fv=2.md")),
        (c, "", failed),
        (c, "os://kits/rope.md ", failed),
        (c, "//kits/rope.md", failed),
        (c, "os://kits/rope.md/", Ok("os://kits/rope.md")),
        (r, ".", Ok("os://kits/rope")),
        (r, "../../..", escape),
        (c, "file:///etc/passwd", scheme),
        (c, "javascript:alert('xss')", scheme),
        (c, "http://lib.example/kits/rope.md", scheme),
        (c, "C:\\kits\\rope.md", scheme),
        (c, "skill:rope.md", scheme),
        (c, "./skill:rope.md", Ok("os://crew/skill:rope.md")),
        (c, "2nd:rope.md", Ok("os://crew/2nd:rope.md")),
        (
            c,
            "HTTPS://Lib.Example:443/kits/../a%2fb.md#x",
            Ok("https://lib.example/a%2fb.md"),
        ),
        (c, "https:lib.example/rope.md", failed),
        (
            w,
            "rope.md?v=2#top",
            Ok("https://lib.example/kits/rope.md?v=2"),
        ),
        (w, "/rope.md", Ok("https://lib.example/rope.md")),
        (w, "../../../rope.md", Ok("https://lib.example/rope.md")),
        (
            w,
            "//cdn.example/rope.md",
            Ok("https://cdn.example/rope.md"),
        ),
        (w, "os://kits/rope.md", Ok("os://kits/rope.md")),
        (w, "https://me:pw@lib.example/rope.md", failed),
    ];
    for (base, reference, expected) in cases {
        let expected = expected.map(str::to_owned);
        assert_eq!(resolve(base, reference), expected, "{reference:?}");
    }
}

#[test]
fn other_schemes_are_not_served() {
    for reference in [
        "data:text/plain,x",
        "ftp://a/b",
        "FILE:///x",
        "x-y.z+1:a",
        "mailto:a@b",
    ] {
        assert_eq!(
            resolve(Some(C), reference),
            Err(Unresolved::Scheme),
            "{reference}"
        );
        assert_eq!(
            resolve(Some(W), reference),
            Err(Unresolved::Scheme),
            "{reference}"
        );
    }
}

#[test]
fn nothing_leads_above_the_root_or_past_a_segment() {
    let escapes = [
        "../../../../etc/passwd",
        "os://%2e%2e/x",
        "os://x/%2E./%2e%2e/y",
        "/..",
        "os://..",
        "os://a/../..",
    ];
    for reference in escapes {
        assert_eq!(
            resolve(Some(C), reference),
            Err(Unresolved::Escape),
            "{reference}"
        );
    }
    let broken = [
        "a%2fb", "a%5Cb", "a%00", "a\\b", "a\nb", "a\u{7f}b", "a\0", "%", "%2", "%zz", "a?b",
    ];
    for reference in broken {
        assert_eq!(
            resolve(Some(C), reference),
            Err(Unresolved::Failed),
            "{reference:?}"
        );
        // The grammar is checked before any segment counts.
        let above = format!("../../../{reference}");
        assert_eq!(
            resolve(Some(C), &above),
            Err(Unresolved::Failed),
            "{above:?}"
        );
    }
}

#[test]
fn white_space_around_and_length() {
    for reference in [" ", "\u{a0}a", "a\u{2003}", "a\n", "\ta"] {
        assert_eq!(
            resolve(None, reference),
            Err(Unresolved::Failed),
            "{reference:?}"
        );
    }
    let longest = "a".repeat(2_048);
    assert_eq!(resolve(None, &longest), Ok(format!("os://{longest}")));
    assert_eq!(
        resolve(None, &format!("{longest}a")),
        Err(Unresolved::Failed)
    );
}

#[test]
fn rule_7_3_https_needs_a_host_and_no_user() {
    for reference in [
        "https:///lib.example/a",
        "https:/lib.example/a",
        "https://",
        "https://?a",
        "https://me@lib.example/",
        "https://lib.example/a\\b",
        "https://lib.example/a\tb",
        "https://lib.example:99999/",
        "https://a b/",
    ] {
        assert_eq!(
            resolve(Some(C), reference),
            Err(Unresolved::Failed),
            "{reference}"
        );
    }
    assert_eq!(
        resolve(Some(C), "https://B\u{fc}cher.example/\u{e9} x?y#z").as_deref(),
        Ok("https://xn--bcher-kva.example/%C3%A9%20x?y")
    );
    assert_eq!(
        resolve(Some(W), "?v=3").as_deref(),
        Ok("https://lib.example/kits/index.md?v=3")
    );
}

#[test]
fn http_of_this_machine_only_and_only_if_allowed() {
    let allowed = |base: Option<&str>, reference: &str| {
        let base = base.map(|base| Uri(base.to_owned()));
        LOOPBACK
            .resolve(reference, base.as_ref())
            .map(Uri::into_string)
    };
    for url in [
        "http://127.0.0.1:8080/a.md",
        "http://[::1]/a.md",
        "http://localhost:1/a.md",
    ] {
        assert_eq!(allowed(None, url).as_deref(), Ok(url));
        assert_eq!(resolve(None, url), Err(Unresolved::Scheme), "{url}");
        assert!(allowed(Some(url), "../b.md").unwrap().ends_with("/b.md"));
    }
    for url in [
        "http://127.0.0.2/a",
        "http://lib.example/a",
        "http://localhost.evil/a",
        "http://[::2]/a",
    ] {
        assert_eq!(allowed(None, url), Err(Unresolved::Scheme), "{url}");
    }
    let base = Some("http://127.0.0.1:8080/a.md");
    assert_eq!(allowed(base, "//lib.example/a"), Err(Unresolved::Scheme));
    assert_eq!(allowed(None, "http:127.0.0.1/a"), Err(Unresolved::Failed));
}

#[test]
fn a_file_is_the_virtual_path_with_escapes_decoded() {
    let place = |uri: &str| Uri(uri.to_owned()).place();
    let file = |path: &str| Place::File(path.to_owned());
    assert_eq!(place("os://crew/pilot.md"), file("/os/crew/pilot.md"));
    assert_eq!(
        place("os://kits/rope%20ladder.md"),
        file("/os/kits/rope ladder.md")
    );
    assert_eq!(place("os://kits/%C3%A9.md"), file("/os/kits/é.md"));
    assert_eq!(
        place("os://kits/rope%3Fv=2.md"),
        file("/os/kits/rope?v=2.md")
    );
    assert_eq!(place("os://kits/100%25.md"), file("/os/kits/100%.md"));
    assert_eq!(place("os://"), file("/os"));
    assert_eq!(place("os://kits/%FF.md"), Place::Nowhere);
    assert_eq!(place("https://lib.example/%FF"), Place::Web);
}

#[test]
fn the_name_of_a_component_ends_in_wasm() {
    let is_component = |uri: &str| Uri(uri.to_owned()).names_a_component();
    assert!(is_component("os://tools/a.wasm"));
    assert!(is_component("https://lib.example/a.wasm?v=1"));
    assert!(!is_component("os://tools/a.WASM"));
    assert!(!is_component("os://tools/a.wasm.sh"));
    assert!(!is_component("https://lib.example/a.sh?x=.wasm"));
}

proptest! {
    #[test]
    fn a_resolved_uri_is_canonical_and_stays_below_the_root(
        base in prop_oneof![Just(None), Just(Some(C)), Just(Some(R)), Just(Some(W))],
        reference in prop_oneof![
            any::<String>(),
            "([a-c./%2eE5cf]|os:|https:|//|\\.\\.|%2e|[ é#:;=]){0,12}",
        ],
    ) {
        if let Ok(uri) = resolve(base, &reference) {
            // A canonical URI may be longer than a reference may.
            if uri.len() <= 2_048 {
                prop_assert_eq!(resolve(None, &uri), Ok(uri.clone()));
                prop_assert_eq!(resolve(base, &uri), Ok(uri.clone()));
            }
            if let Place::File(path) = Uri(uri).place() {
                prop_assert!(path == "/os" || path.starts_with("/os/"), "{}", path);
                prop_assert!(path.split('/').skip(1).all(|segment| !matches!(segment, "" | "." | "..")), "{}", path);
                prop_assert!(!path.contains('\0'));
            }
        }
    }
}
