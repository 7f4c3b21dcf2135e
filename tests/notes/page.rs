//! Pages of reports, read by the parser of the standard: log text that would become markup, and what a page holds without any script.

use html5ever::tendril::TendrilSink;
use html5ever::{ParseOpts, parse_document};
use markup5ever_rcdom::{Handle, NodeData, RcDom};
use proptest::prelude::*;
use serde_json::Value;

use crate::hostile;
use crate::program::Place;

/// Elements that pages are made of.
const ELEMENTS: &[&str] = &[
    "html",
    "head",
    "meta",
    "title",
    "link",
    "style",
    "body",
    "a",
    "header",
    "h1",
    "h2",
    "h3",
    "p",
    "ul",
    "li",
    "b",
    "i",
    "br",
    "span",
    "nav",
    "main",
    "section",
    "footer",
    "pre",
    "code",
    "time",
    "div",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "details",
    "summary",
    "figure",
    "figcaption",
    "form",
    "label",
    "input",
    "select",
    "option",
    "output",
    "button",
    "script",
    "svg",
    "defs",
    "marker",
    "path",
    "rect",
    "line",
    "polyline",
    "polygon",
    "circle",
    "text",
    "tspan",
    "g",
];

/// An element with its attributes, its text and its children, as a browser has them.
pub struct Element {
    pub name: String,
    pub attributes: Vec<(String, String)>,
    pub text: String,
    pub children: Vec<Element>,
}

impl Element {
    pub fn attribute(&self, name: &str) -> &str {
        self.attributes.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }

    /// Itself and all below it.
    pub fn all(&self) -> Vec<&Element> {
        [self].into_iter().chain(self.children.iter().flat_map(Element::all)).collect()
    }

    pub fn named<'e>(&'e self, name: &str) -> Vec<&'e Element> {
        self.all().into_iter().filter(|e| e.name == name).collect()
    }

    pub fn id<'e>(&'e self, id: &str) -> Option<&'e Element> {
        self.all().into_iter().find(|e| e.attribute("id") == id)
    }
}

/// Reads a page; one with comments or processing instructions is none of ours.
pub fn read(page: &str) -> Element {
    let dom = parse_document(RcDom::default(), ParseOpts::default()).one(page);
    let mut elements = dom.document.children.borrow().iter().filter_map(element).collect::<Vec<_>>();
    assert_eq!(elements.len(), 1, "one root");
    elements.remove(0)
}

fn element(node: &Handle) -> Option<Element> {
    match &node.data {
        NodeData::Element { name, attrs, .. } => {
            let attributes = attrs.borrow().iter().map(|a| (a.name.local.to_string(), a.value.to_string())).collect();
            let text = node.children.borrow().iter().map(text).collect();
            let children = node.children.borrow().iter().filter_map(element).collect();
            Some(Element { name: name.local.to_string(), attributes, text, children })
        }
        NodeData::Comment { contents } => panic!("a comment: {contents}"),
        NodeData::ProcessingInstruction { contents, .. } => panic!("an instruction: {contents}"),
        _ => None,
    }
}

fn text(node: &Handle) -> String {
    match &node.data {
        NodeData::Text { contents } => contents.borrow().to_string(),
        _ => node.children.borrow().iter().map(text).collect(),
    }
}

/// Asserts that nothing of a page can have come from a log, and gives its data.
pub fn whole(page: &str) -> (Element, Value) {
    let root = read(page);
    for element in root.all() {
        assert!(ELEMENTS.contains(&element.name.as_str()), "<{}>", element.name);
        for (name, value) in &element.attributes {
            assert!(!name.starts_with("on") && name != "style" && name != "src" && name != "srcdoc", "{name}={value}");
            assert!(name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b':'), "{name}={value}");
            if name == "href" || name == "xlink:href" {
                assert!(value.starts_with('#') || value == "data:,", "href={value}");
            }
        }
        assert!(!element.text.chars().any(|c| c.is_control() && c != '\n' && c != '\t'), "<{}> {:?}", element.name, element.text);
        assert!(!element.text.contains(['\u{202e}', '\u{2066}', '\u{2028}', '\u{feff}', '\u{e0041}']), "{:?}", element.text);
    }
    let scripts = root.named("script");
    assert_eq!(scripts.len(), 2, "the data and the one script");
    assert_eq!(scripts.iter().filter(|s| s.attribute("type") == "application/json").count(), 1);
    let data = root.id("report-data").expect("the data").text.clone();
    let data: Value = serde_json::from_str(&data).expect("JSON");
    assert_eq!(data["schema"], "corr.report.v1");
    let rows = root.id("rows").expect("the timeline");
    let body = rows.named("tbody")[0];
    let told = data["timeline"]["rows"].as_array().expect("rows");
    assert_eq!(body.children.len(), told.len());
    for (row, told) in body.children.iter().zip(told) {
        let names: Vec<&str> = row.children.iter().map(|c| c.name.as_str()).collect();
        assert_eq!(names, ["td"; 5]);
        let words = format!("{} {}", told["kind"].as_str().expect("a kind"), told["message"].as_str().expect("a message"));
        assert_eq!(row.children[2].text, corr::render::safe::terminal(&words), "the event's cell");
        assert_eq!(row.children[2].children.len(), 1, "a kind, and nothing else that is markup");
    }
    (root, data)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 30, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn log_text_never_becomes_markup(messages in prop::collection::vec(hostile::hostile(), 1..25)) {
        let place = Place::new();
        hostile::run(&place, &messages);
        let ran = place.corr(&["report", "run", "-o", "-", "--limit", "0"]);
        prop_assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        whole(&ran.stdout);
    }
}

/// One page of everything that ends an element, a script, a comment, a style or an attribute.
#[test]
fn what_ends_markup_elsewhere_ends_none_here() {
    let place = Place::new();
    let messages: Vec<String> = [
        "</script><script>document.title='x'</script>",
        "</title></style></head><body onload=alert(1)>",
        "--><!--<img src=x onerror=alert(1)>",
        "\"><svg/onload=alert(1)>",
        "' onmouseover='alert(1)",
        "</pre></details></td></tr></table><iframe src=//x.y>",
        "]]><![CDATA[ <?xml version='1.0'?> <!DOCTYPE html>",
        "\u{202e}gnp.exe \x1b[2J\x1b]8;;http://x.y\x07 javascript:alert(1)",
        "{\"a\":\"</script>\"} \\u003c/script\\u003e &lt;b&gt; &#60;b&#62;",
    ]
    .map(String::from)
    .to_vec();
    hostile::run(&place, &messages);
    let ran = place.corr(&["report", "run", "-o", "page.html"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let page = std::fs::read_to_string(place.path("page.html")).expect("the page");
    let (root, data) = whole(&page);
    // The third file has the bytes of the second, and is read once with it; the journal has a unit's start and a line of it.
    assert_eq!(data["timeline"]["events"], 2 * messages.len() + 2);
    let raws: Vec<&str> = root.named("pre").iter().filter(|e| e.attribute("class") == "raw").map(|e| e.text.as_str()).collect();
    assert!(raws.iter().any(|raw| raw.contains("</pre></details></td></tr></table><iframe src=//x.y>")), "a record is shown as it stands");
    let shown = |text: &str| page.matches(text).count();
    assert_eq!((shown("<iframe"), shown("<img"), shown("<!--"), shown("<script")), (0, 0, 0, 2));
}

/// A page is written in one step, over what was there, and is not read as a source of its own run.
#[test]
fn a_page_inside_its_run_is_no_source_of_it() {
    let place = Place::with("sglang-run");
    let report = || {
        let ran = place.corr(&["report", "sglang-run", "-o", "sglang-run/report.html"]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        std::fs::read_to_string(place.path("sglang-run/report.html")).expect("the page")
    };
    let first = report();
    assert_eq!(report(), first, "the same bytes again");
    let left: Vec<_> = std::fs::read_dir(place.path("sglang-run")).expect("the run").map(|e| e.expect("an entry").file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().starts_with(".corr-")), "{left:?}");
    let (_, data) = whole(&first);
    let names: Vec<&str> = data["coverage"]["sources"].as_array().expect("sources").iter().filter_map(|s| s["name"].as_str()).collect();
    assert!(names.iter().all(|name| !name.ends_with(".html")) && names.len() == 4, "{names:?}");
}

/// A slip of the hand does not cost a log.
#[test]
fn what_is_no_page_is_not_overwritten() {
    let place = Place::with("sglang-run");
    let before = std::fs::read(place.path("sglang-run/logs/server.log")).expect("the log");
    let ran = place.corr(&["report", "sglang-run", "-o", "sglang-run/logs/server.log"]);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("no page"), "{}", ran.stderr);
    assert_eq!(std::fs::read(place.path("sglang-run/logs/server.log")).expect("the log"), before);
    // Nor does it cost somebody's own page.
    let own = b"<!DOCTYPE html>\n<html lang=\"en\"><head><title>minutes</title></head></html>\n";
    place.write("minutes.html", own);
    let ran = place.corr(&["report", "sglang-run", "-o", "minutes.html"]);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("no page of corr report"), "{}", ran.stderr);
    assert_eq!(std::fs::read(place.path("minutes.html")).expect("the page"), own);
    let ran = place.corr(&["report", "sglang-run", "--session", "none-such", "-o", "new.html"]);
    assert_eq!((ran.code, place.path("new.html").exists()), (Some(1), false), "{}", ran.stderr);
}

/// What a single command says of the run the page says too: half a plan is not read whole.
#[test]
fn what_facts_could_not_read_is_said() {
    let place = Place::with("direct-run");
    let plan = std::fs::read(place.path("direct-run/direct-plan.json")).expect("the plan");
    place.write("direct-run/direct-plan.json", &plan[..plan.len() / 2]);
    let facts = place.corr(&["facts", "direct-run"]);
    assert_eq!(facts.code, Some(3), "{}", facts.stderr);
    let ran = place.corr(&["report", "direct-run", "-o", "page.html"]);
    assert_eq!(ran.code, Some(3), "{}", ran.stderr);
    assert!(ran.stderr.contains("direct-plan.json: "), "{}", ran.stderr);
    let page = std::fs::read_to_string(place.path("page.html")).expect("the page");
    let (root, data) = whole(&page);
    let told: Vec<&str> = data["coverage"]["not_read"].as_array().expect("a list").iter().filter_map(|n| n[0].as_str()).collect();
    assert_eq!(told, ["direct-run/direct-plan.json"]);
    assert!(!page.contains("Every source was read whole"));
    assert!(root.id("coverage").is_some_and(|panel| panel.all().iter().any(|e| e.text == "direct-run/direct-plan.json")));
}

/// An empty panel would look like a series that never moved.
#[test]
fn a_series_that_nothing_has_is_said() {
    let place = Place::with("metrics-run");
    let asked = "sglang:token_usages,sglang:token_usage,log:nowhere_to_be_found";
    let ran = place.corr(&["report", "metrics-run", "--series", asked, "-o", "page.html"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let page = std::fs::read_to_string(place.path("page.html")).expect("the page");
    let (root, data) = whole(&page);
    let told = [
        "sglang:token_usages: no such series in 1 captures; did you mean `sglang:token_usage`?",
        "log:nowhere_to_be_found: no record has such a field with a number",
    ];
    assert_eq!(data["series"]["none"], serde_json::json!(told));
    let panel = root.id("series").expect("the panel");
    for why in told {
        assert!(ran.stderr.contains(why), "{}", ran.stderr);
        assert!(panel.named("p").iter().any(|p| p.text.contains(why)), "{why}");
    }
    assert_eq!(data["series"]["plots"].as_array().map(Vec::len), Some(1), "the one that is there");
}

/// A scrape a second of one endpoint, from an instant on: what each text says.
fn scraped(from: i64, texts: &[String]) -> Vec<u8> {
    let line = |(i, text): (i64, &String)| {
        let at = from + i * 1_000_000_000;
        let scrape = serde_json::json!({
            "timestamp_ns": at, "elapsed_s": i as f64, "endpoint_url": "http://127.0.0.1:13000/metrics", "role": "backend", "worker_id": "agg0",
            "content_type": "text/plain; version=0.0.4; charset=utf-8", "text": text,
        });
        format!("{scrape}\n")
    };
    (0..).zip(texts).map(line).collect::<String>().into_bytes()
}

/// 2026-11-29T18:30:40Z.
const BEGAN: i64 = 1_795_977_040_000_000_000;

/// What cannot be drawn is said, in a page that comes to its end; figures without room are counted.
#[test]
fn values_without_an_axis_and_figures_without_room_are_said() {
    let place = Place::new();
    let text = |i: i32| {
        let mut text = format!("# TYPE huge gauge\nhuge {}\n", if i == 1 { "1.7976931348623157e308" } else { "1" });
        text += &format!("# TYPE leaps_total counter\nleaps_total {}\n", ["0", "1e308", "1.5e308"][i as usize]);
        text += &format!("# TYPE near gauge\nnear {}\n", ["-471.3671552180965", "-471.36715521809646", "-471.3671552180965"][i as usize]);
        for n in 0..130 {
            text += &format!("# TYPE n{n}_requests_total counter\nn{n}_requests_total {i}\n");
        }
        text
    };
    place.write("run/raw_prometheus.jsonl", &scraped(BEGAN, &[text(0), text(1), text(2)]));
    let began = std::time::Instant::now();
    let ran = place.corr(&["report", "run", "--series", "huge,leaps_total,near", "-o", "page.html"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(began.elapsed() < std::time::Duration::from_secs(60));
    let page = std::fs::read_to_string(place.path("page.html")).expect("the page");
    let (root, data) = whole(&page);
    let figures: Vec<&Element> = root.id("series").expect("the panel").named("figure");
    let families: Vec<&str> = figures.iter().map(|f| f.named("code")[0].text.as_str()).collect();
    assert_eq!(families, ["huge", "leaps_total", "near"]);
    let told = |figure: &Element| figure.named("p").iter().any(|p| p.text.contains("too large for one axis"));
    assert_eq!(figures.iter().map(|f| told(f)).collect::<Vec<_>>(), [true, false, false]);
    assert!(figures[2].named("text").len() < 20, "labels of numbers next to each other");
    // 1e308 in the first second, 5e307 in the next.
    let pieces = &data["series"]["plots"][1]["lines"][0]["pieces"];
    assert_eq!(*pieces, serde_json::json!([[[0, 1e308], [1_000_000, 1e308], [1_000_000, 5e307], [2_000_000, 5e307]]]));
    let rows = data["figures"]["rows"].as_array().expect("rows");
    assert_eq!((rows.len(), data["figures"]["left_out"].as_u64()), (120, Some(10)));
}

/// The words of a command line as a shell has them.
fn shell_words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted) = (Vec::new(), String::new(), false);
    for c in line.chars() {
        match c {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.push(std::mem::take(&mut word)),
            c => word.push(c),
        }
    }
    words.push(word);
    words
}

/// Each command of a page can be given to a shell, and asks all that the page was made of, as it was read.
#[test]
fn the_commands_of_a_page_ask_the_same_run() {
    let place = Place::with("direct-run");
    std::fs::rename(place.path("direct-run"), place.path("a run")).expect("rename the run");
    let metrics = std::fs::read(crate::program::fixtures().join("metrics-run/raw_prometheus.jsonl")).expect("the capture");
    place.write("other/raw_prometheus.jsonl", &metrics);
    let asked = [
        "report",
        "a run",
        "--also",
        "other",
        "--tz",
        "Asia/Tokyo",
        "--format-of",
        "*/worker-0.log=dynamo-text",
        "--store",
        "kept",
        "--limit",
        "100",
    ];
    let ran = place.corr(&[&asked[..], &["-o", "page.html"]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let page = std::fs::read_to_string(place.path("page.html")).expect("the page");
    let (root, data) = whole(&page);
    let commands: Vec<&str> = data["head"]["commands"].as_array().expect("commands").iter().filter_map(Value::as_str).collect();
    assert_eq!(shell_words(commands[0])[1..3], ["report", "a run"]);
    let cited: std::collections::BTreeSet<&str> =
        root.named("code").iter().filter(|code| code.attribute("class") == "command").map(|code| code.text.as_str()).collect();
    let of = |what: &'static str, step: usize| cited.iter().copied().filter(move |c| c.starts_with(what)).step_by(step);
    let commands = commands.into_iter().filter(|c| !c.starts_with('#') && !c.contains("PATH:LINE"));
    let all: Vec<&str> = commands.chain(of("corr metrics", 8)).chain(of("corr show", 8)).collect();
    let mut of_captures = 0;
    for line in &all {
        let words = shell_words(line);
        assert!(words.contains(&"--tz".to_string()) && words.contains(&"Asia/Tokyo".to_string()), "{line}");
        assert!(words[1] == "show" || words.contains(&"other".to_string()), "{line}");
        let ran = place.corr(&words[1..]);
        assert!(
            ran.code.is_some_and(|code| code != 2) && !(ran.stdout.is_empty() && words[1] != "report"),
            "{line}: {} {}",
            ran.stdout,
            ran.stderr
        );
        of_captures += usize::from(words[1] == "metrics" && ran.stdout.contains("sglang:"));
    }
    assert!(all.len() > 9 && of_captures > 2, "{} commands, {of_captures} of captures: {all:#?}", all.len());
    assert!(shell_words(all[0]).windows(2).any(|pair| pair == ["--limit", "100"]), "{}", all[0]);
}
