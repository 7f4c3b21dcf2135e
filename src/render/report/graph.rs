//! The cache path as a picture: places as boxes, edges as arrows that bear their verdict in words, in line style and in colour.

use crate::render::html::Html;
use crate::report::EdgeRow;

const WIDTH: f64 = 1200.0;
const HEIGHT: f64 = 560.0;

/// A place of the path: its name, what stands below it, the left upper corner, and its size. `edge`: an edge that is this place's own doing.
struct Place {
    name: &'static str,
    below: &'static str,
    at: (f64, f64),
    size: (f64, f64),
    edge: Option<&'static str>,
}

const fn step(name: &'static str, below: &'static str, x: f64, edge: Option<&'static str>) -> Place {
    Place { name, below, at: (x, 92.0), size: (96.0, 56.0), edge }
}

const fn tier(name: &'static str, below: &'static str, y: f64) -> Place {
    Place { name, below, at: (470.0, y), size: (280.0, 62.0), edge: None }
}

const BOXES: &[Place] = &[
    step("client", "", 8.0, None),
    step("router", "or frontend", 225.0, None),
    step("worker", "", 443.0, None),
    step("queue", "", 660.0, None),
    step("prefill", "", 878.0, Some("prefill")),
    step("decode", "", 1096.0, Some("decode")),
    tier("L1", "device memory", 210.0),
    tier("L2", "host memory", 340.0),
    tier("L3", "storage", 470.0),
];

/// How an arrow's label stands to it.
#[derive(Clone, Copy, PartialEq)]
enum Label {
    /// Two lines above, centred.
    Above,
    /// Two lines below, centred.
    Below,
    /// One line above, centred.
    Line,
    /// Two lines at its right.
    Right,
}

/// An edge: its corners from the first place to the last, and where its label stands.
struct Arrow {
    edge: &'static str,
    points: &'static [(f64, f64)],
    label: Label,
    at: (f64, f64),
}

const fn arrow(edge: &'static str, points: &'static [(f64, f64)], label: Label, at: (f64, f64)) -> Arrow {
    Arrow { edge, points, label, at }
}

const ARROWS: &[Arrow] = &[
    arrow("request-router", &[(104.0, 106.0), (225.0, 106.0)], Label::Above, (164.0, 106.0)),
    arrow("rejection", &[(225.0, 134.0), (104.0, 134.0)], Label::Below, (164.0, 134.0)),
    arrow("router-worker", &[(321.0, 106.0), (443.0, 106.0)], Label::Above, (382.0, 106.0)),
    arrow("migration", &[(443.0, 134.0), (321.0, 134.0)], Label::Below, (382.0, 134.0)),
    arrow("admission", &[(539.0, 120.0), (660.0, 120.0)], Label::Above, (600.0, 120.0)),
    arrow("queue-wait", &[(756.0, 120.0), (878.0, 120.0)], Label::Above, (817.0, 120.0)),
    arrow("kv-transfer", &[(974.0, 120.0), (1096.0, 120.0)], Label::Above, (1035.0, 120.0)),
    arrow("retraction", &[(1144.0, 92.0), (1144.0, 40.0), (708.0, 40.0), (708.0, 92.0)], Label::Line, (926.0, 40.0)),
    // What a prefill asks for hangs from one line below it.
    arrow("l1-lookup", &[(926.0, 148.0), (926.0, 241.0), (750.0, 241.0)], Label::Line, (838.0, 241.0)),
    arrow("l2-lookup", &[(926.0, 241.0), (926.0, 371.0), (750.0, 371.0)], Label::Line, (838.0, 371.0)),
    arrow("l3-lookup", &[(926.0, 371.0), (926.0, 501.0), (750.0, 501.0)], Label::Line, (838.0, 501.0)),
    arrow("l2-writeback", &[(500.0, 272.0), (500.0, 340.0)], Label::Right, (500.0, 306.0)),
    arrow("l2-restore", &[(640.0, 340.0), (640.0, 272.0)], Label::Right, (640.0, 306.0)),
    arrow("l3-writeback", &[(500.0, 402.0), (500.0, 470.0)], Label::Right, (500.0, 436.0)),
    arrow("l3-restore", &[(640.0, 470.0), (640.0, 402.0)], Label::Right, (640.0, 436.0)),
    arrow("l1-evict", &[(470.0, 228.0), (270.0, 228.0)], Label::Line, (370.0, 228.0)),
    arrow("writeback-drop", &[(470.0, 258.0), (270.0, 258.0)], Label::Line, (370.0, 258.0)),
    arrow("l2-evict", &[(470.0, 371.0), (270.0, 371.0)], Label::Line, (370.0, 371.0)),
    arrow("l3-evict", &[(470.0, 488.0), (270.0, 488.0)], Label::Line, (370.0, 488.0)),
    arrow("l3-allocate", &[(270.0, 518.0), (470.0, 518.0)], Label::Line, (370.0, 518.0)),
];

/// Is there a place for an edge in the picture?
pub fn draws(edge: &str) -> bool {
    ARROWS.iter().any(|arrow| arrow.edge == edge) || BOXES.iter().any(|place| place.edge == Some(edge))
}

/// The picture. Each edge leads to its row, by the number that it has in `edges`.
pub fn graph(edges: &[EdgeRow]) -> Html {
    let mut html = Html::new();
    let size = format!("0 0 {WIDTH} {HEIGHT}");
    let attributes =
        [("class", "graph"), ("viewBox", size.as_str()), ("role", "group"), ("aria-label", "The cache path, each edge with its verdict")];
    html.element("svg", &attributes, |html| {
        arrowheads(html);
        for place in BOXES {
            let found = place.edge.and_then(|id| numbered(edges, id));
            match found {
                Some((number, edge)) => link(html, number, edge, |html| boxed(html, place, Some(edge))),
                None => boxed(html, place, None),
            }
        }
        for arrow in ARROWS {
            let Some((number, edge)) = numbered(edges, arrow.edge) else { continue };
            link(html, number, edge, |html| drawn(html, arrow, edge));
        }
        for (y, what) in [(243.0, "gone"), (371.0, "gone"), (488.0, "gone")] {
            words(html, "place-note", "end", (262.0, y + 4.0), what);
        }
    });
    html
}

fn numbered<'e>(edges: &'e [EdgeRow], id: &str) -> Option<(usize, &'e EdgeRow)> {
    edges.iter().enumerate().find(|(_, edge)| edge.id == id)
}

fn arrowheads(html: &mut Html) {
    html.raw("<defs>");
    for (id, class) in [
        ("head-proven", "head proven"),
        ("head-active", "head active"),
        ("head-absent", "head absent"),
        ("head-partial", "head partial"),
        ("head-conflict", "head conflict"),
        ("head-no-signal", "head no-signal"),
    ] {
        let attributes = [
            ("id", id),
            ("viewBox", "0 0 10 10"),
            ("refX", "9"),
            ("refY", "5"),
            ("markerWidth", "11"),
            ("markerHeight", "11"),
            ("markerUnits", "userSpaceOnUse"),
            ("orient", "auto-start-reverse"),
        ];
        html.element("marker", &attributes, |html| {
            html.empty("path", &[("class", class), ("d", "M0 0 L10 5 L0 10 z")]);
        });
    }
    html.raw("</defs>");
}

fn link(html: &mut Html, number: usize, edge: &EdgeRow, inside: impl FnOnce(&mut Html)) {
    let href = format!("#edge-{number}");
    let class = format!("edge {}", edge.activity);
    html.element("a", &[("href", &href), ("class", &class)], |html| {
        html.with_text("title", &[], &title(edge));
        inside(html);
    });
}

fn title(edge: &EdgeRow) -> String {
    let count = if edge.count.is_empty() { String::new() } else { format!(", {}", edge.count) };
    format!("{}: {}{count}; by request: {}; by session: {}", edge.title, edge.activity, edge.request, edge.session)
}

fn boxed(html: &mut Html, place: &Place, edge: Option<&EdgeRow>) {
    let ((x, y), (width, height)) = (place.at, place.size);
    let texts = [x, y, width, height].map(|n| format!("{n}"));
    let [x_text, y_text, width_text, height_text] = &texts;
    html.empty("rect", &[("class", "place"), ("x", x_text), ("y", y_text), ("width", width_text), ("height", height_text), ("rx", "6")]);
    let below = edge.map_or(place.below, |edge| edge.activity);
    let middle = y + height / 2.0;
    let first = if below.is_empty() { middle + 5.0 } else { middle - 3.0 };
    words(html, "place-name", "middle", (x + width / 2.0, first), place.name);
    if !below.is_empty() {
        words(html, if edge.is_some() { "verdict" } else { "place-note" }, "middle", (x + width / 2.0, middle + 15.0), below);
    }
}

fn drawn(html: &mut Html, arrow: &Arrow, edge: &EdgeRow) {
    let points: Vec<String> = arrow.points.iter().map(|(x, y)| format!("{x},{y}")).collect();
    let head = format!("url(#head-{})", edge.activity);
    // Wider than what is seen, so that it can be met with a finger.
    html.empty("polyline", &[("class", "reach"), ("points", &points.join(" "))]);
    html.empty("polyline", &[("class", "line"), ("points", &points.join(" ")), ("marker-end", &head)]);
    let (x, y) = arrow.at;
    match arrow.label {
        Label::Line => {
            let text = [("name", edge.id.as_str()), ("verdict", edge.activity)];
            let at = [("x", format!("{x}")), ("y", format!("{}", y - 6.0))];
            html.element("text", &[("x", &at[0].1), ("y", &at[1].1), ("text-anchor", "middle")], |html| {
                for (i, (class, word)) in text.iter().enumerate() {
                    if i > 0 {
                        html.raw(" ");
                    }
                    html.with_text("tspan", &[("class", class)], word);
                }
            });
        }
        Label::Above | Label::Below | Label::Right => {
            let (anchor, x, first) = match arrow.label {
                Label::Above => ("middle", x, y - 22.0),
                Label::Below => ("middle", x, y + 17.0),
                _ => ("start", x + 9.0, y - 3.0),
            };
            words(html, "name", anchor, (x, first), &edge.id);
            words(html, "verdict", anchor, (x, first + 15.0), edge.activity);
        }
    }
}

fn words(html: &mut Html, class: &'static str, anchor: &'static str, (x, y): (f64, f64), text: &str) {
    html.with_text("text", &[("class", class), ("text-anchor", anchor), ("x", &format!("{x}")), ("y", &format!("{y}"))], text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_edge_of_the_table_has_its_place() {
        let table = corr_evidence::builtin::table().expect("the table of edges");
        for edge in &table.edges {
            assert!(draws(&edge.id), "{} is in no place", edge.id);
        }
        let known = |id: &str| table.edges.iter().any(|e| e.id == id);
        assert!(ARROWS.iter().all(|arrow| known(arrow.edge)) && BOXES.iter().filter_map(|place| place.edge).all(known));
    }
}
