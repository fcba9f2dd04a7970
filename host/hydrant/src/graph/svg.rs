//! A picture: shapes and text, with attributes only. No script, style sheet, link or font, so that it shows under the
//! strictest content security policy, and nothing in it does anything.

use std::fmt::Write;

use super::layout::{self, LINE, Layout, PADDING, Place, WIDTH};
use super::{Edge, Graph, Kind, Node, label};

pub(super) fn render(graph: &Graph) -> String {
    let layout = layout::of(graph);
    let (width, height) = (layout.width, layout.height);
    let mut out = String::new();
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" role=\"graphics-document document\" \
         aria-labelledby=\"hydrant-graph-title hydrant-graph-desc\" font-family=\"ui-monospace, monospace\" font-size=\"12\">"
    );
    let title = escaped(&format!("Dependencies of {}", label::shown(&graph.uri)));
    let summary = escaped(&graph.summary());
    let _ = writeln!(out, "<title id=\"hydrant-graph-title\">{title}</title>");
    let _ = writeln!(out, "<desc id=\"hydrant-graph-desc\">{summary}</desc>");
    out.push_str(
        "<defs><marker id=\"hydrant-graph-arrow\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" markerWidth=\"8\" \
         markerHeight=\"8\" orient=\"auto\"><path d=\"M0 0 10 5 0 10z\" fill=\"#4b5563\"/></marker></defs>\n",
    );
    let _ = writeln!(
        out,
        "<rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>"
    );
    let _ = writeln!(
        out,
        "<text x=\"24\" y=\"28\" font-size=\"14\" font-weight=\"bold\" fill=\"#111827\">{title} ({summary})</text>"
    );
    out.push_str("<g class=\"edges\" fill=\"none\" stroke=\"#4b5563\" stroke-width=\"1.2\">\n");
    for edge in &graph.edges {
        draw_edge(&mut out, graph, &layout, edge);
    }
    out.push_str("</g>\n<g class=\"nodes\">\n");
    for (node, place) in graph.nodes.iter().zip(&layout.places) {
        draw_node(&mut out, node, place);
    }
    out.push_str("</g>\n</svg>\n");
    out
}

fn draw_edge(out: &mut String, graph: &Graph, layout: &Layout, edge: &Edge) {
    let place = |index| layout.places.get(index).copied().unwrap_or_default();
    let (from, to) = (place(edge.from.index()), place(edge.to.index()));
    let (start, end) = (from.left + WIDTH, from.middle());
    let distance = |index| {
        graph
            .nodes
            .get(index)
            .map_or(0, |node: &Node| node.distance)
    };
    let _ = if distance(edge.to.index()) > distance(edge.from.index()) {
        let bend = (start + to.left) / 2;
        writeln!(
            out,
            "<path d=\"M{start} {end}C{bend} {end} {bend} {y} {x} {y}\" marker-end=\"url(#hydrant-graph-arrow)\"/>",
            x = to.left,
            y = to.middle(),
        )
    } else {
        // To the same column or back: around on the right, into the right side, a little lower than edges leave.
        let far = start + 70;
        writeln!(
            out,
            "<path d=\"M{start} {end}C{far} {end} {bend} {y} {x} {y}\" stroke-dasharray=\"5 4\" \
             marker-end=\"url(#hydrant-graph-arrow)\"/>",
            bend = to.left + WIDTH + 70,
            x = to.left + WIDTH,
            y = to.middle() + PADDING,
        )
    };
}

fn draw_node(out: &mut String, node: &Node, place: &Place) {
    let (radius, fill, stroke) = match node.kind {
        Kind::Agent => (16, "#dbeafe", "#1e40af"),
        Kind::Skill => (5, "#ecfdf5", "#065f46"),
        Kind::Tool => (0, "#fef9c3", "#854d0e"),
    };
    let (fill, stroke, dashes) = if node.errors.is_empty() {
        (fill, stroke, "")
    } else {
        ("#fee2e2", "#991b1b", " stroke-dasharray=\"4 3\"")
    };
    let kind = label::kind(node.kind);
    let title = escaped(&label::title(node));
    let _ = writeln!(
        out,
        "<g class=\"node {kind}\" role=\"graphics-symbol img\" aria-roledescription=\"{kind}\" aria-label=\"{title}\">\
         <title>{title}</title><rect x=\"{}\" y=\"{}\" width=\"{WIDTH}\" height=\"{}\" rx=\"{radius}\" fill=\"{fill}\" \
         stroke=\"{stroke}\"{dashes}/>",
        place.left, place.top, place.height,
    );
    let mut baseline = place.top + PADDING + LINE - 4;
    for (number, line) in label::lines(node).iter().enumerate() {
        let weight = if number == 0 {
            " font-weight=\"bold\""
        } else {
            ""
        };
        let _ = writeln!(
            out,
            "<text x=\"{}\" y=\"{baseline}\" fill=\"#111827\"{weight}>{}</text>",
            place.left + PADDING + 4,
            escaped(line),
        );
        baseline += LINE;
    }
    out.push_str("</g>\n");
}

/// As text and inside an attribute. What XML does not allow at all was replaced before ([`label::shown`]).
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            character => out.push(character),
        }
    }
    out
}
