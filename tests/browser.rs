//! Pages in a real browser: nothing is asked of a network, nothing is wrong in the console, filter and zoom show what the files hold, a citation opens its
//! record, and all of it stands there without scripts too.
//!
//! `CORR_BROWSER=required` makes a missing browser an error; `CORR_SHOTS=DIR` saves pictures of every page.

#[path = "browser/driver.rs"]
mod driver;
#[path = "serve/http.rs"]
mod http;
mod program;
#[path = "browser/serve.rs"]
mod serve;

use std::path::PathBuf;

use driver::Browser;
use program::Place;

/// Writes a report of a fixture, in a place of its own.
fn report(fixture: &str, args: &[&str]) -> (Place, PathBuf) {
    let place = Place::with(fixture);
    let ran = place.corr(&[&["report", fixture, "-o", "report.html"], args].concat());
    assert_eq!(ran.code, Some(0), "{fixture}: {}", ran.stderr);
    let path = place.path("report.html");
    (place, path)
}

/// Nothing was asked for but the page itself, and nothing complains.
fn quiet(browser: &Browser, page: &str) {
    let console = browser.console();
    assert!(console.is_empty(), "{page}: {console:#?}");
    let asked = browser.requests();
    let own = format!("file://{page}");
    assert!(asked.contains(&own), "the log of requests has the page itself: {asked:?}");
    let others: Vec<&String> = asked.iter().filter(|url| !url.starts_with(&own) && !url.starts_with("data:")).collect();
    assert!(others.is_empty(), "{page} asked for {others:?}");
}

/// Rows of the timeline that are seen.
const SEEN: &str = "Array.from(document.querySelectorAll('#rows tbody tr')).filter(r => r.offsetHeight > 0).length";

fn looks(browser: &Browser, name: &str) {
    for (scheme, media, width) in [("light", "screen", 1280), ("dark", "screen", 1280), ("light", "screen", 390), ("dark", "screen", 390)] {
        browser.look(scheme, media);
        browser.size(width, 900);
        let wide = browser.count("document.documentElement.scrollWidth");
        assert!(wide <= u64::from(width), "{name}: {wide} pixels in a window of {width}");
        browser.shot(&format!("{name}-{scheme}-{width}"));
    }
    browser.size(780, 1100);
    browser.look("light", "print");
    browser.shot(&format!("{name}-print"));
    browser.look("light", "screen");
    browser.size(1280, 900);
}

#[test]
fn reports_of_the_fixtures_are_whole_and_quiet() {
    let Some(browser) = Browser::start() else { return };
    for fixture in ["direct-run", "sglang-run", "metrics-run", "restart-run"] {
        let (_place, path) = report(fixture, &[]);
        let page = path.display().to_string();
        browser.open_file(&path);
        quiet(&browser, &page);
        assert!(!browser.eval("return document.getElementById('filter').hidden").as_bool().unwrap_or(true), "{fixture}: the script ran");
        let rows = browser.count("document.querySelectorAll('#rows tbody tr').length");
        assert!(rows > 0 && browser.count(SEEN) == rows, "{fixture}: all rows are seen at first");
        assert_eq!(browser.count("document.querySelectorAll('#pipeline svg.graph a.edge').length"), 22, "{fixture}: every edge is drawn");
        looks(&browser, fixture);
        // Without scripts the page is the same, but for what filters it.
        browser.scripts(false);
        browser.open_file(&path);
        assert!(browser.eval("return document.getElementById('filter').hidden").as_bool().unwrap_or(false), "{fixture}: no script ran");
        assert_eq!(browser.count(SEEN), rows, "{fixture}: the table is complete");
        assert_eq!(browser.count("document.querySelectorAll('#pipeline svg.graph a.edge').length"), 22);
        quiet(&browser, &page);
        browser.shot(&format!("{fixture}-without-scripts"));
        browser.scripts(true);
        println!("{fixture}: {rows} rows, quiet, with and without scripts");
    }
}

/// Microseconds of a line's stamp within its day.
fn micros(line: &str) -> Option<i64> {
    let at = line.find("2026-11-29T")? + "2026-11-29T".len();
    let time = line.get(at..at + 15)?;
    let number = |range: std::ops::Range<usize>| time.get(range)?.parse::<i64>().ok();
    Some(((number(0..2)? * 60 + number(3..5)?) * 60 + number(6..8)?) * 1_000_000 + number(9..15)?)
}

/// The router's log of a run: one stamped record a line, so that a search and a zoom must show as many rows as the file has lines.
#[test]
fn filter_and_zoom_show_what_the_file_holds() {
    let Some(browser) = Browser::start() else { return };
    let place = Place::with("direct-run");
    let log = std::fs::read_to_string(place.path("direct-run/logs/router.log")).expect("the log");
    let lines: Vec<&str> = log.lines().collect();
    let ran = place.corr(&["report", "direct-run/logs/router.log", "--all", "--marks", "never", "--limit", "0", "-o", "report.html"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    browser.open_file(&place.path("report.html"));
    assert_eq!(browser.count(SEEN), lines.len() as u64);

    let words = "worker_17455822474245500398";
    browser.keys("#f-text", words);
    let with = lines.iter().filter(|line| line.contains(words)).count() as u64;
    assert!(with > 10 && browser.count(SEEN) == with, "{words}: {} rows, {with} lines", browser.count(SEEN));
    browser.click("#f-reset");
    assert_eq!(browser.count(SEEN), lines.len() as u64);

    // From one half of the time on, and from three quarters on; the page counts whole milliseconds, and the last microsecond belongs to the run.
    let stamps: Vec<i64> = lines.iter().map(|line| micros(line).expect("a stamp")).collect();
    let (first, last) = (stamps[0], stamps[stamps.len() - 1] + 1);
    let from = |share: f64| {
        let length = (last - first).div_euclid(1_000) as f64;
        stamps.iter().filter(|at| (*at - first + 1).div_euclid(1_000) as f64 >= share * length).count() as u64
    };
    let slide = |id: &str, value: u32| {
        browser.eval(&format!("const e = document.getElementById('{id}'); e.value = '{value}'; e.dispatchEvent(new Event('input'));"));
    };
    slide("f-from", 500);
    let later = browser.count(SEEN);
    assert!(later == from(0.5) && later < lines.len() as u64 && later > 0, "{later} rows, {} lines", from(0.5));
    slide("f-from", 750);
    assert_eq!(browser.count(SEEN), from(0.75));
    browser.click("#f-reset");
    assert_eq!(browser.count(SEEN), lines.len() as u64);
    // By keys: the button halves what is seen around its middle.
    browser.keys("#f-in", "\u{e007}");
    let middle = browser.count(SEEN);
    assert!(middle > 0 && middle < lines.len() as u64, "{middle}");
    println!("{} lines; {with} with {words}; {later} in the second half", lines.len());
}

/// An edge's evidence leads to the line of the file that proves it.
#[test]
fn a_citation_of_an_edge_opens_its_line() {
    let Some(browser) = Browser::start() else { return };
    let (place, path) = report("direct-run", &[]);
    browser.open_file(&path);
    let edge =
        "Array.from(document.querySelectorAll('table.edges tbody tr')).find(r => r.cells[0].textContent.startsWith('router-worker'))";
    browser.eval(&format!("{edge}.id = 'looked-at';"));
    browser.click("#looked-at details.evidence > summary");
    browser.click("#looked-at details.cite > summary");
    let place_of = browser.text("document.querySelector('#looked-at details.cite code').title");
    let shown = browser.text("document.querySelector('#looked-at details.cite pre').textContent");
    assert!(browser.count("document.querySelector('#looked-at details.cite pre').offsetHeight") > 0, "the record is seen");
    let (file, line) = place_of.rsplit_once(':').expect("a place");
    let text = std::fs::read_to_string(place.path(file)).expect("the file");
    let number: usize = line.parse().expect("a line");
    let want = text.lines().nth(number - 1).expect("the line");
    assert_eq!(shown, corr::render::safe::terminal(want), "{place_of}");
    assert!(shown.contains("[ROUTING]") || shown.contains("worker"), "{shown}");
    println!("router-worker is shown by {place_of}, which is the file's line");
}

/// Log text stays text in a browser as well.
#[test]
fn text_of_a_log_runs_nothing() {
    let Some(browser) = Browser::start() else { return };
    let place = Place::new();
    let nasty = [
        "</script><script>document.title='owned'</script>",
        "<img src=http://127.0.0.1:9/x onerror=\"document.title='owned'\">",
        "\"><svg/onload=document.title='owned'>",
        "--></style><link rel=stylesheet href=http://127.0.0.1:9/x>",
    ];
    let lines: Vec<String> = nasty.iter().enumerate().map(|(i, text)| format!("2026-11-29T18:54:0{i}.000Z ERROR gate: {text}\n")).collect();
    place.write("run/app.log", lines.concat().as_bytes());
    let ran = place.corr(&["report", "run", "-o", "report.html"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let path = place.path("report.html");
    browser.open_file(&path);
    quiet(&browser, &path.display().to_string());
    assert_eq!(browser.text("document.title"), "corr report: run");
    assert_eq!(browser.count("document.querySelectorAll('img, iframe, script:not([type]) ~ script, body link').length"), 0);
    let text = browser.text("document.getElementById('rows').textContent");
    assert!(nasty.iter().all(|nasty| text.contains(nasty)), "{text}");
}
