//! What holds for every argument vector and every text.

use proptest::prelude::*;
use skill_interpreter::http_command::verb;
use url::Url;

use super::*;

/// Words that options are made of, and any text.
fn any_word() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => prop::sample::select(vec![
            "-X", "-d", "-F", "-H", "-G", "-I", "-u", "-b", "-o", "-O", "-L", "-s", "-sS", "-XPUT", "--json", "--data-urlencode",
            "--url", "--url-query", "--form-string", "--request=PUT", "--", "-", "-m", "5", "a=b", "@f", "@-", "a=@f;type=x/y", "A: b",
            "A:", "A;", "a:b", "$V", "a=$V", "http://h.example/p", "https://h.example:8/?q=$V", "h.example", "--post-data", "-qO-",
            "--method=PUT", "-f", "k:=1", "k==v", "k@f", "PUT", ":8080/x", "-A", "bearer", "--proto", "=https", "--next", "-k",
        ]).prop_map(str::to_owned),
        1 => any::<String>(),
        1 => "[-=@:;<\"\\\\${}()a/ \t\r\n]{0,12}",
        1 => "--?[a-zA-Z0-9-]{1,12}(=[a-z@;\"]{0,6})?",
    ]
}

/// Addresses, odd ones too.
fn any_address() -> impl Strategy<Value = String> {
    (
        prop::sample::select(vec!["http://", "https://", "HTTP://", "", "http:", "http:/", "http:///", "//", "ftp://", "x:"]),
        prop::sample::select(vec!["", "u@", "u:p@", "@", "a\\@", "%41@"]),
        prop_oneof![
            3 => prop::sample::select(vec![
                "h.example", "H.Example", "127.0.0.1", "0x7f.1", "2130706433", "[::1]", "[::FFFF:1.2.3.4]", "localhost", "h.example.",
                "xn--nxasmq6b", "bücher.example", "h_x", "1.2.3.4.5", "%68", "h%2eexample", "[::1", "", "a..b", "ftp.h.example", "$H", "{h}",
            ]).prop_map(str::to_owned),
            1 => "[a-z0-9.:@\\[\\]%_-]{0,12}",
        ],
        prop::sample::select(vec!["", ":80", ":8080", ":", ":0080", ":99999", ":x", ":$P"]),
        "(/[a-z.%{}\\[\\]@\\\\?#:$V]{0,8}){0,3}",
    )
        .prop_map(|(scheme, user, host, port, path)| format!("{scheme}{user}{host}{port}{path}"))
}

/// What stands after `scheme://`; nothing that follows a path's or a port's beginning is a scheme.
fn after_scheme(address: &str) -> Option<&str> {
    let (scheme, rest) = address.split_once("://")?;
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    is_scheme.then_some(rest)
}

/// The host that RFC 3986 finds, as curl does: what stands before the first `/`, `?` or `#`, after the last `@`.
fn host_by_hand(address: &str) -> Option<String> {
    let rest = after_scheme(address).unwrap_or(address);
    let authority = rest.split(['/', '?', '#']).next()?;
    let host = authority.rsplit('@').next()?;
    let host = match host.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => host,
    };
    Some(host.to_ascii_lowercase())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_argument_vector_has_an_answer(
        program in prop::sample::select(vec!["curl", "wget"]),
        words in prop::collection::vec(any_word(), 0..12),
    ) {
        let argv: Vec<&str> = std::iter::once(program).chain(words.iter().map(String::as_str)).collect();
        for stdin in [Stdin::Nothing, Stdin::Previous] {
            let (first, _) = read_with(&argv, stdin);
            // The same request gives the same answer.
            prop_assert_eq!(&first, &read_with(&argv, stdin).0);
            for draft in first.unwrap_or_default() {
                prop_assert!(!draft.method.is_empty() && draft.method.bytes().all(|byte| byte.is_ascii_graphic()));
                prop_assert_eq!(draft.method.to_ascii_uppercase(), draft.method.clone());
                for header in &draft.headers {
                    prop_assert!(!header.name.is_empty() && header.name.bytes().all(|byte| byte.is_ascii_graphic() && byte != b':'));
                }
                // What is asked for without a body has none.
                prop_assert!(draft.method != "HEAD" || draft.body.is_none() || argv.iter().any(|word| word.to_ascii_uppercase().contains("HEAD")));
            }
        }
    }

    #[test]
    fn the_host_is_the_one_that_curl_contacts(address in any_address()) {
        if let Ok(drafts) = read(&["curl", "--", &address]) {
            let template = drafts[0].url.clone().unwrap();
            prop_assert_eq!(&template, &word(&address));
            let Some(text) = template.as_literal() else {
                return Ok(());
            };
            if text.contains(['{', '<']) || text.starts_with('/') {
                return Ok(());
            }
            let absolute = if after_scheme(&text).is_some() { text.clone() } else { format!("http://{text}") };
            // What a WHATWG parser does not take, `assemble` refuses.
            let Ok(url) = Url::parse(&absolute) else {
                return Ok(());
            };
            prop_assert!(matches!(url.scheme(), "http" | "https"));
            prop_assert!(url.username().is_empty() && url.password().is_none());
            let by_hand = host_by_hand(&text).unwrap();
            let same = Url::parse(&format!("http://{by_hand}/")).unwrap();
            prop_assert_eq!(url.host(), same.host(), "{}", address);
        }
    }

    #[test]
    fn no_assembled_request_has_a_variable_in_its_host(address in any_address()) {
        use skill_interpreter::assemble;
        use skill_interpreter::draft::{Declaration, Draft, DraftStage, Identity};
        use skill_interpreter::model::{Segment, Stage, Status};
        let Ok(drafts) = read(&["curl", "--", &address]) else {
            return Ok(());
        };
        let draft = Draft {
            line: 1,
            comment: None,
            text: address.clone(),
            plan: Ok(drafts.into_iter().map(|draft| DraftStage::Http(Box::new(draft))).collect()),
        };
        let operation = assemble::operation(
            &draft,
            &Declaration::new(Identity::Nameless),
            &Context::default(),
            &mut Diagnostics::default(),
        );
        if operation.status != Status::Ok {
            return Ok(());
        }
        let [Stage::Http(stage)] = operation.stages.as_slice() else {
            panic!("{operation:?}");
        };
        let Some(Segment::Literal { lit }) = stage.url.0.first() else {
            panic!("{address}: {:?}", stage.url);
        };
        let (scheme, rest) = lit.split_once("://").unwrap();
        prop_assert!(matches!(scheme, "http" | "https"), "{}", lit);
        prop_assert!(rest.contains('/') || stage.url.0.len() == 1, "{}", lit);
        let authority = rest.split('/').next().unwrap();
        prop_assert!(!authority.contains(['@', '\\', '%', '$', '{']), "{}", lit);
    }

    #[test]
    fn every_text_of_a_bare_verb_has_an_answer(
        lines in prop::collection::vec(
            prop_oneof![
                prop::sample::select(vec![
                    "GET /x", "POST http://h/x HTTP/1.1", "Body:", "Body: {", "{\"a\": $A}", "Returns:", "Headers:", "A: b", "", "### x", "# y",
                    "?a=1", "// z", "PUT {b}", "Output: 1",
                ]).prop_map(str::to_owned),
                any::<String>(),
            ],
            0..12,
        ),
    ) {
        let text = lines.join("\n");
        let found = verb::parse(&text, 1, &Context::default(), &mut Diagnostics::default());
        let can_begin = ['/', '{', '$', 'h'].iter().any(|begin| text.contains(*begin));
        prop_assert!(found.is_empty() || can_begin);
        prop_assert!(!verb::begins(&text) || !found.is_empty());
        for request in found {
            let Ok(stages) = &request.draft.plan else { continue };
            let [skill_interpreter::draft::DraftStage::Http(draft)] = stages.as_slice() else {
                panic!("{stages:?}");
            };
            for label in ["Returns:", "Output:", "Body:"] {
                let body = body(draft).unwrap_or_default();
                // A label never becomes part of the body.
                prop_assert!(!body.lines().any(|line| line.trim_start().starts_with(label)), "{}", body);
            }
        }
    }
}
