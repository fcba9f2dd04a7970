//! Graphs of payloads written by hand: what no hydration of a test's files can show, or only slowly.

use std::collections::HashMap;

use serde_json::json;

use super::*;

const HOSTILE: &str =
    "<script>alert('x')</script>\"];\n%%{init: {}}%% #quot; & ]]> \\\" \u{202e}evil\u{0}\u{7}`end`";

/// Payloads by URI: each document declares skills and tools.
struct Documents(HashMap<String, String>);

impl Documents {
    fn of(documents: &[(&str, &[&str], &[&str])]) -> Self {
        let declared = |uri: &str| documents.iter().find(|(of, ..)| *of == uri);
        let skill = |uri: &&str| {
            let (skills, tools) =
                declared(uri).map_or((&[][..], &[][..]), |(_, skills, tools)| (*skills, *tools));
            json!({ "uri": uri, "name": format!("Name of {uri}"), "description": "What it is for", "skills": skills, "tools": tools })
        };
        let payload = |(uri, skills, tools): &(&str, &[&str], &[&str])| {
            let skills: Vec<_> = skills.iter().map(skill).collect();
            let tools: Vec<_> = tools
                .iter()
                .map(|uri| json!({ "uri": uri, "description": "Does" }))
                .collect();
            let payload = json!({ "content": "", "metadata": { "uri": uri, "dependencies": { "skills": skills, "tools": tools } } });
            ((*uri).to_owned(), payload.to_string())
        };
        Self(documents.iter().map(payload).collect())
    }

    fn graph(&self, uri: &str, depth: u8) -> Graph {
        Graph::explore(uri, depth, |uri| {
            self.0
                .get(uri)
                .map(|payload| payload.clone().into_bytes())
                .ok_or(uri.to_owned())
        })
        .unwrap()
    }
}

fn hostile() -> Graph {
    let payload = json!({ "content": "", "metadata": { "uri": "os://a.md", "dependencies": {
        "skills": [{ "uri": HOSTILE, "name": HOSTILE, "description": HOSTILE, "skills": [], "tools": [] }],
        "tools": [{ "uri": HOSTILE, "description": HOSTILE }],
    }}});
    Graph::explore("os://a.md", 1, |_| {
        Ok::<_, String>(payload.to_string().into_bytes())
    })
    .unwrap()
}

#[test]
fn a_document_is_hydrated_once_and_only_as_deep_as_asked() {
    let documents = Documents::of(&[
        ("os://a.md", &["os://b.md", "os://c.md"], &["os://t"]),
        ("os://b.md", &["os://c.md"], &["os://t"]),
        ("os://c.md", &["os://d.md"], &[]),
        ("os://d.md", &["os://e.md"], &[]),
    ]);
    let mut read = Vec::new();
    let graph = Graph::explore("os://a.md", 2, |uri| {
        read.push(uri.to_owned());
        Ok::<_, String>(documents.0[uri].clone().into_bytes())
    })
    .unwrap();
    assert_eq!(read, ["os://a.md", "os://b.md", "os://c.md"]);
    let uris: Vec<_> = graph
        .nodes
        .iter()
        .map(|node| (node.uri.as_str(), node.distance))
        .collect();
    assert_eq!(
        uris,
        [
            ("os://a.md", 0),
            ("os://b.md", 1),
            ("os://c.md", 1),
            ("os://t", 1),
            ("os://d.md", 2)
        ]
    );
    assert_eq!(graph.edges.len(), 6);
    assert!(graph.cycles.is_empty() && !graph.truncated);
}

#[test]
fn cycles_are_groups_and_documents_that_declare_themselves() {
    let graph = Documents::of(&[
        ("os://a.md", &["os://b.md", "os://s.md"], &[]),
        ("os://b.md", &["os://c.md"], &[]),
        ("os://c.md", &["os://a.md"], &[]),
        ("os://s.md", &["os://s.md"], &[]),
    ])
    .graph("os://a.md", 16);
    let uri = |id: &NodeId| graph.nodes[id.index()].uri.as_str();
    let cycles: Vec<Vec<_>> = graph
        .cycles
        .iter()
        .map(|group| group.iter().map(uri).collect())
        .collect();
    assert_eq!(
        cycles,
        [
            vec!["os://a.md", "os://b.md", "os://c.md"],
            vec!["os://s.md"]
        ]
    );
    // Only a declaration says what an agent is called.
    assert_eq!(graph.nodes[0].name.as_deref(), Some("Name of os://a.md"));
    assert_eq!(graph.nodes[0].kind, Kind::Agent);
}

#[test]
fn what_does_not_resolve_is_a_node_of_its_own_for_each_that_declares_it() {
    let payload = |uri: &str, skills: serde_json::Value| {
        json!({ "content": "", "metadata": { "uri": uri, "dependencies": { "skills": skills, "tools": [] } } })
            .to_string()
            .into_bytes()
    };
    let lost = json!({ "uri": "../../x.md", "name": "ERROR: FETCH_FAILED", "description": "ERROR: FETCH_FAILED", "skills": [], "tools": [] });
    let b = json!({ "uri": "os://b.md", "name": "B", "description": "ERROR: MISSING_DESCRIPTION", "skills": ["../../x.md"], "tools": [] });
    let graph = Graph::explore("os://a.md", 2, |uri| {
        Ok::<_, String>(match uri {
            "os://a.md" => payload(uri, json!([lost, b])),
            _ => payload(uri, json!([lost])),
        })
    })
    .unwrap();
    assert_eq!(graph.nodes.len(), 4);
    assert_eq!(graph.nodes[1].errors, ["FETCH_FAILED"]);
    assert_eq!(graph.nodes[1].name, None);
    assert_eq!(graph.nodes[2].errors, ["MISSING_DESCRIPTION"]);
    assert_eq!(graph.nodes[3].uri, "../../x.md");
}

#[test]
fn hydrations_and_nodes_have_a_limit() {
    let names: Vec<String> = (0..=MAX_HYDRATIONS + 5)
        .map(|number| format!("os://{number}.md"))
        .collect();
    let payload = |uri: &str| {
        let next = uri
            .trim_start_matches("os://")
            .trim_end_matches(".md")
            .parse::<usize>()
            .unwrap()
            + 1;
        let next = format!("os://{next}.md");
        json!({ "content": "", "metadata": { "uri": uri, "dependencies": { "tools": [], "skills": [
            { "uri": next, "name": "N", "description": "D", "skills": ["x"], "tools": [] }
        ] } } })
    };
    let mut count = 0;
    let graph = Graph::explore(&names[0], u8::MAX, |uri| {
        count += 1;
        Ok::<_, String>(payload(uri).to_string().into_bytes())
    })
    .unwrap();
    // Distances end at 255, and nothing is read beyond.
    assert_eq!(count, 255.min(MAX_HYDRATIONS));
    let tools: Vec<_> = (0..MAX_NODES + 1)
        .map(|n| json!({ "uri": format!("os://{n}"), "description": "d" }))
        .collect();
    let wide = json!({ "content": "", "metadata": { "uri": "os://a.md", "dependencies": { "skills": [], "tools": tools } } });
    let wide = Graph::explore("os://a.md", 1, |_| {
        Ok::<_, String>(wide.to_string().into_bytes())
    })
    .unwrap();
    assert_eq!(wide.nodes.len(), MAX_NODES);
    assert!(wide.truncated && !graph.truncated);
    assert!(wide.render(GraphFormat::Svg).contains("not all is shown"));
}

#[test]
fn an_answer_that_is_no_payload_is_an_error() {
    let error = Graph::explore("os://a.md", 1, |_| Ok::<_, String>(b"{}".to_vec())).unwrap_err();
    assert!(matches!(error, GraphError::NotAPayload { uri, .. } if uri == "os://a.md"));
}

#[test]
fn hostile_text_stays_text_in_mermaid() {
    let text = hostile().render(GraphFormat::Mermaid);
    for forbidden in [
        "<script", "%%", "{init", "\\", "`", "'", "\u{202e}", "\u{0}", "&",
    ] {
        assert!(!text.contains(forbidden), "{forbidden:?} in {text}");
    }
    // Each node's line has exactly the two quotation marks that this program wrote.
    for line in text.lines().filter(|line| line.contains(":::")) {
        assert_eq!(line.matches('"').count(), 2, "{line}");
    }
    assert_eq!(text.lines().filter(|line| line.contains(":::")).count(), 3);
}

#[test]
fn hostile_text_stays_text_in_dot() {
    let text = hostile().render(GraphFormat::Dot);
    let (mut quoted, mut escaped, mut outside) = (false, false, String::new());
    for character in text.chars() {
        match (quoted, escaped, character) {
            (true, true, _) => escaped = false,
            (true, false, '\\') => escaped = true,
            (_, _, '"') => quoted = !quoted,
            (false, _, character) => outside.push(character),
            (true, ..) => {}
        }
    }
    assert!(!quoted);
    for forbidden in ["script", "alert", "init", "evil", "<"] {
        assert!(
            !outside.contains(forbidden),
            "{forbidden:?} outside of strings: {outside}"
        );
    }
    assert!(!text.contains('\u{202e}') && !text.contains("<script"));
}

#[test]
fn hostile_text_stays_text_in_svg() {
    let text = hostile().render(GraphFormat::Svg);
    let mut reader = quick_xml::Reader::from_str(&text);
    reader.config_mut().check_end_names = true;
    let mut elements = std::collections::BTreeSet::new();
    loop {
        match reader.read_event().unwrap() {
            quick_xml::events::Event::Start(element) | quick_xml::events::Event::Empty(element) => {
                for attribute in element.attributes() {
                    let attribute = attribute.unwrap();
                    let name = attribute.key.as_ref().to_owned();
                    assert!(
                        !name.starts_with("on") && !name.contains("href") && name != "style",
                        "{name}"
                    );
                }
                elements.insert(element.name().as_ref().to_owned());
            }
            quick_xml::events::Event::Eof => break,
            _ => {}
        }
    }
    let expected = [
        "defs", "desc", "g", "marker", "path", "rect", "svg", "text", "title",
    ];
    assert_eq!(
        elements.iter().map(String::as_str).collect::<Vec<_>>(),
        expected
    );
    assert!(!text.contains('\u{202e}') && !text.contains('\u{0}') && !text.contains('\u{7}'));
}

#[test]
fn no_node_covers_another() {
    let graph = Documents::of(&[
        (
            "os://a.md",
            &["os://b.md", "os://c.md", "os://d.md"],
            &["os://t", "os://u"],
        ),
        ("os://b.md", &["os://e.md", "os://f.md"], &["os://v"]),
        ("os://d.md", &["os://a.md", "os://f.md"], &[]),
    ])
    .graph("os://a.md", 3);
    let layout = layout::of(&graph);
    for (index, one) in layout.places.iter().enumerate() {
        assert!(one.left + layout::WIDTH < layout.width && one.top + one.height < layout.height);
        for other in &layout.places[index + 1..] {
            let beside = one.left != other.left;
            let apart = one.top + one.height <= other.top || other.top + other.height <= one.top;
            assert!(beside || apart, "{one:?} {other:?}");
        }
    }
    assert_eq!(
        graph.render(GraphFormat::Svg),
        graph.render(GraphFormat::Svg)
    );
}

#[test]
fn a_long_line_keeps_what_says_most() {
    let node = Node {
        id: NodeId(0),
        kind: Kind::Skill,
        uri: format!("os://{}/SKILL.md", "x".repeat(100)),
        name: Some("界".repeat(100)),
        description: None,
        errors: Vec::new(),
        checksum: None,
        distance: 1,
    };
    let lines = label::lines(&node);
    assert!(lines[0].chars().count() <= 20 && lines[0].ends_with('…'));
    assert!(
        lines[1].chars().count() <= 40
            && lines[1].starts_with('…')
            && lines[1].ends_with("/SKILL.md")
    );
    let exact = Node {
        uri: "u".repeat(40),
        name: Some("n".repeat(40)),
        ..node
    };
    assert_eq!(label::lines(&exact), ["n".repeat(40), "u".repeat(40)]);
}
