//! The language of Graphviz.

use std::fmt::Write;

use super::{Graph, Kind, label};

pub(super) fn render(graph: &Graph) -> String {
    let mut out = String::from("digraph dependencies {\n");
    let uri = label::shown(&graph.uri);
    let _ = writeln!(
        out,
        "  label=\"Dependencies of {}: {}\";",
        escaped(&uri),
        graph.summary()
    );
    out.push_str(
        "  rankdir=LR;\n  node [fontname=\"sans-serif\", fontsize=11, style=filled];\n  edge [color=\"#4b5563\"];\n",
    );
    let in_cycles = graph.in_cycles();
    for node in &graph.nodes {
        let (shape, fill) = match node.kind {
            Kind::Agent => ("oval", "#dbeafe"),
            Kind::Skill => ("box", "#ecfdf5"),
            Kind::Tool => ("hexagon", "#fef9c3"),
        };
        let (fill, style) = match node.errors.as_slice() {
            [] => (fill, "filled"),
            _ => ("#fee2e2", "filled,dashed"),
        };
        let lines: Vec<String> = label::lines(node)
            .iter()
            .map(|line| escaped(line))
            .collect();
        let _ = writeln!(
            out,
            "  {} [label=\"{}\", tooltip=\"{}\", shape={shape}, style=\"{style}\", fillcolor=\"{fill}\"];",
            node.id,
            lines.join("\\n"),
            escaped(&label::title(node)),
        );
    }
    for edge in &graph.edges {
        let style = if in_cycles.contains(&edge.from) && in_cycles.contains(&edge.to) {
            " [style=dashed]"
        } else {
            ""
        };
        let _ = writeln!(out, "  {} -> {}{style};", edge.from, edge.to);
    }
    out.push_str("}\n");
    out
}

/// Inside a quoted string, where a backslash begins an escape and an ampersand an entity.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            character => out.push(character),
        }
    }
    out
}
