//! A Mermaid flowchart.

use std::fmt::Write;

use super::{Graph, Kind, label};

pub(super) fn render(graph: &Graph) -> String {
    let mut out = String::from("flowchart LR\n");
    let uri = label::shown(&graph.uri);
    let _ = writeln!(out, "  accTitle: Dependencies of {}", escaped(&uri));
    let _ = writeln!(out, "  accDescr: {}", graph.summary());
    let in_cycles = graph.in_cycles();
    for node in &graph.nodes {
        let (open, close) = match node.kind {
            Kind::Agent => ("([\"", "\"])"),
            Kind::Skill => ("[\"", "\"]"),
            Kind::Tool => ("{{\"", "\"}}"),
        };
        let lines: Vec<String> = label::lines(node)
            .iter()
            .map(|line| escaped(line))
            .collect();
        let _ = write!(out, "  {}{open}{}{close}", node.id, lines.join("<br/>"));
        let class = if node.errors.is_empty() {
            label::kind(node.kind)
        } else {
            "error"
        };
        let _ = writeln!(out, ":::{class}");
    }
    for edge in &graph.edges {
        // Within a cycle an edge is dotted.
        let arrow = if in_cycles.contains(&edge.from) && in_cycles.contains(&edge.to) {
            "-.->"
        } else {
            "-->"
        };
        let _ = writeln!(out, "  {} {arrow} {}", edge.from, edge.to);
    }
    out.push_str(
        "  classDef agent fill:#dbeafe,stroke:#1e40af,color:#111827\n  \
           classDef skill fill:#ecfdf5,stroke:#065f46,color:#111827\n  \
           classDef tool fill:#fef9c3,stroke:#854d0e,color:#111827\n  \
           classDef error fill:#fee2e2,stroke:#991b1b,color:#111827,stroke-dasharray:4 3\n",
    );
    out
}

/// Letters, digits and what has no meaning anywhere in the language stand for themselves; all else is the code of its
/// character, so that no text ends its string, begins a directive (`%%{`), an entity or markup.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_alphanumeric()
            || matches!(character, ' ' | '.' | ',' | '/' | ':' | '-' | '_' | '…')
        {
            out.push(character);
        } else {
            let _ = write!(out, "#{};", u32::from(character));
        }
    }
    out
}
