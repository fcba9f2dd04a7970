//! What a stranger may write: an answer, and in time about linear in its length.

use std::time::Duration;

use proptest::prelude::*;

use super::{curl, endpoint, request, text};
use crate::draft::{BodyDraft, MultipartDraft, PartContent, Piece};
use crate::processor_time::Stopwatch;

/// Far more than a call has, for a machine that is busy.
const SLOW: Duration = Duration::from_secs(5);

fn in_time(what: &str, act: impl FnOnce()) {
    let start = Stopwatch::started();
    act();
    assert!(start.elapsed() < SLOW, "{what}: {:?}", start.elapsed());
}

#[test]
fn long_repetitions_take_linear_time() {
    const LENGTH: usize = 1 << 18;
    for unit in [
        "{", "{{", "<", "<a>", "</a", "$", "${", "${a:-", "YOUR_", "your-", "/", "/:a", "/..", "&",
        "a=&", "=", "%", "a=b&", "://", "http://", "?", "#", "\"", "[", "{\"", "sk_", "xox", "\\",
        "é",
    ] {
        let long = unit.repeat(LENGTH / unit.len());
        in_time(unit, || {
            request(curl("GET", &long));
            request(curl("GET", &format!("https://a.example/{long}")));
            request(curl("POST", &format!("https://a.example/?{long}")).header("X-A", &long));
            request(
                curl("POST", "https://a.example/")
                    .header("Cookie", &long)
                    .data(&long),
            );
            request(curl("POST", "https://a.example/").data(&format!("{{\"a\":\"{long}")));
        });
    }
}

#[test]
fn very_many_members() {
    let members: Vec<String> = (0..50_000)
        .map(|n| format!("\"k{n}\":{{\"token\":\"$t{n}\"}}"))
        .collect();
    let pairs: Vec<String> = (0..50_000).map(|n| format!("k{n}=$v{n}")).collect();
    let same = "a=$a&".repeat(50_000);
    in_time("members", || {
        let assembled = request(
            curl("POST", &format!("https://a.example/?{}", pairs.join("&")))
                .data(&format!("{{{}}}", members.join(","))),
        );
        assert_eq!(assembled.operation.secrets.len(), 50_000);
    });
    in_time("pairs", || {
        request(curl("POST", &format!("https://a.example/?{same}")).data(&same));
    });
    in_time("two that are joined", || {
        let mut first = request(curl("POST", "https://a.example/").data(&pairs.join("&")));
        let second =
            request(curl("POST", "https://a.example/").data(&pairs.join("&").replace('k', "l")));
        crate::assemble::absorb(&mut first.assembled, &second.assembled);
    });
}

fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("https://"),
        Just("a.example"),
        Just("/"),
        Just("?"),
        Just("&"),
        Just("="),
        Just("#"),
        Just("{x}"),
        Just("{{y}}"),
        Just("<z>"),
        Just("$W"),
        Just("${V:-d}"),
        Just(":id"),
        Just("YOUR_KEY"),
        Just("\""),
        Just("{"),
        Just("}"),
        Just("["),
        Just("]"),
        Just(","),
        Just(":"),
        Just("token"),
        Just("%"),
        Just("@"),
        Just(" "),
        Just("\\"),
        Just("é"),
    ]
    .prop_map(str::to_owned)
}

proptest! {
    #[test]
    fn any_text_is_answered_the_same_twice(pieces in prop::collection::vec(piece(), 0..24)) {
        let any: String = pieces.concat();
        for draft in [
            curl("POST", &any).header("Authorization", &any).data(&any),
            endpoint("GET", &format!("https://a.example/{any}")).header("X-A", &any),
        ] {
            let first = request(draft.clone());
            let everything = format!("{}", first.json());
            prop_assert_eq!(everything, format!("{}", request(draft).json()));
        }
    }

    #[test]
    fn any_pieces_and_parts(pieces in prop::collection::vec((piece(), any::<bool>()), 0..12)) {
        let mut draft = curl("POST", "https://a.example/");
        draft.body = Some(BodyDraft::Pieces(
            pieces.iter().map(|(content, encoded)| if *encoded {
                Piece::Encoded(text(content))
            } else {
                Piece::Text(text(content))
            }).collect(),
        ));
        request(draft);
        let mut draft = curl("POST", "https://a.example/");
        draft.body = Some(BodyDraft::Multipart(
            pieces.iter().map(|(content, file)| MultipartDraft {
                name: content.clone(),
                content: if *file { PartContent::File(text(content)) } else { PartContent::Text(text(content)) },
                content_type: None,
                filename: None,
            }).collect(),
        ));
        request(draft);
    }

    /// Whatever a URL says, the host is what the URL standard says, or it is refused.
    #[test]
    fn the_host_is_never_another(authority in "[a-z0-9@:.%\\[\\]{}$/?#\\\\-]{1,16}") {
        let url = format!("https://{authority}/x");
        let assembled = request(endpoint("GET", &url));
        if let (crate::model::Status::Ok, [host]) =
            (&assembled.operation.status, assembled.operation.hosts.as_slice())
        {
            let parsed = url::Url::parse(&url.replace("${", "$")).or_else(|_| url::Url::parse(&url));
            if let Ok(parsed) = parsed {
                let expected = format!("{}:{}", parsed.host_str().unwrap(), parsed.port_or_known_default().unwrap());
                prop_assert_eq!(host, &expected);
            }
        }
    }
}
