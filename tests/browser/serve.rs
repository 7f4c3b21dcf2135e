//! A served run in a real browser: search, brush, clicks from an edge to the line that proves it, the way back, and all of it without scripts.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::driver::Browser;
use crate::http::Serving;
use crate::program::Place;

/// Nothing was asked for elsewhere, and nothing complains.
fn quiet(browser: &Browser, serving: &Serving) {
    let console = browser.console();
    assert!(console.is_empty(), "{console:#?}");
    let asked = browser.requests();
    assert!(asked.iter().any(|url| *url == serving.url("/script.js")), "the log of requests has the script: {asked:?}");
    let own = serving.url("/");
    // What the tab that a browser begins with asks of the browser itself is no request.
    let sent = |url: &&String| ["http", "ws", "ftp", "file"].iter().any(|scheme| url.starts_with(scheme));
    let others: Vec<&String> = asked.iter().filter(sent).filter(|url| !url.starts_with(&own)).collect();
    assert!(others.is_empty(), "asked for {others:?}");
}

/// Waits until a condition holds in the page.
fn until(browser: &Browser, condition: &str) {
    let began = Instant::now();
    let still = "document.readyState === 'complete' && !document.documentElement.hasAttribute('aria-busy')";
    let holds = format!("return {still} && Boolean({condition});");
    while !browser.eval(&holds).as_bool().unwrap_or(false) {
        assert!(began.elapsed() < Duration::from_secs(60), "{condition} never held: {}", browser.text("location.href"));
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// The address below the server's, as the browser shows it.
fn address(browser: &Browser) -> String {
    browser.text("location.pathname + decodeURIComponent(location.search.replace(/\\+/g, ' '))")
}

/// Draws with the pointer over a part of the time, in shares of its width.
fn draw(browser: &Browser, from: f64, to: f64) {
    let of = |what: &str| {
        browser.eval(&format!("return document.getElementById('brush-picture').getBoundingClientRect().{what};")).as_f64().expect("a place")
    };
    let (left, top, width, height) = (of("left"), of("top"), of("width"), of("height"));
    let mouse = |kind: &str, share: f64| {
        let pressed = if kind == "mouseMoved" { "none" } else { "left" };
        browser.cdp(
            "Input.dispatchMouseEvent",
            json!({"type": kind, "x": left + share * width, "y": top + height / 2.0, "button": pressed, "buttons": 1, "clickCount": 1}),
        );
    };
    mouse("mousePressed", from);
    for step in 1..=4 {
        mouse("mouseMoved", from + (to - from) * f64::from(step) / 4.0);
    }
    mouse("mouseReleased", to);
}

const HITS: &str = "document.querySelectorAll('#hits tbody tr').length";

#[test]
fn search_finds_what_the_file_holds() {
    let Some(browser) = Browser::start() else { return };
    let place = Place::with("direct-run");
    let serving = Serving::start(&place, &["direct-run"]);
    let log = std::fs::read_to_string(place.path("direct-run/logs/router.log")).expect("the log");
    let lines = log.lines().filter(|line| line.contains("[ROUTING] Best")).count() as u64;
    browser.open(&serving.url("/"));
    browser.keys("input[name=q]", "kind:route_decision\u{e007}");
    until(&browser, "location.search === '?q=kind%3Aroute_decision'");
    assert!(lines > 10 && browser.count(HITS) == lines.min(50), "{lines} lines");
    let said = browser.text("document.querySelector('#hits .count').textContent");
    assert!(said.contains(&lines.to_string()), "{said}");
    // The address alone gives the same, with scripts and without.
    let shown = browser.text("document.querySelector('main').textContent");
    let url = browser.text("location.href");
    for scripts in [true, false] {
        browser.scripts(scripts);
        browser.open(&url);
        until(&browser, "document.querySelector('body > footer')");
        assert_eq!(browser.text("document.querySelector('main').textContent"), shown, "scripts: {scripts}");
    }
    // The form is one without scripts too.
    browser.keys("input[name=since]", "start+1s\u{e007}");
    until(&browser, "location.search.includes('since=')");
    assert_eq!(address(&browser), "/?q=kind:route_decision&since=start+1s&until=&n=", "{}", browser.text("location.href"));
    assert!(browser.count(HITS) > 0);
    browser.scripts(true);
    quiet(&browser, &serving);
    println!("{lines} lines are found");
}

/// Microseconds of a line's stamp within its day.
fn micros(line: &str) -> i64 {
    let at = line.find("2026-11-29T").expect("a stamp") + "2026-11-29T".len();
    let number = |from: usize, to: usize| line[at + from..at + to].parse::<i64>().expect("a number");
    ((number(0, 2) * 60 + number(3, 5)) * 60 + number(6, 8)) * 1_000_000 + number(9, 15)
}

#[test]
fn the_brush_filters_every_panel() {
    let Some(browser) = Browser::start() else { return };
    let place = Place::with("direct-run");
    let serving = Serving::start(&place, &["direct-run/logs/router.log"]);
    let log = std::fs::read_to_string(place.path("direct-run/logs/router.log")).expect("the log");
    let lines: Vec<&str> = log.lines().collect();
    browser.open(&serving.url("/?q=kind:*&n=1000"));
    until(&browser, "document.getElementById('brush-picture')");
    assert_eq!(browser.count(HITS), lines.len() as u64, "one record a line");
    let panels = || {
        let text = |css: &str| browser.text(&format!("document.querySelector('{css}').textContent")).replace('\u{a0}', " ");
        (browser.count(HITS), text("#timeline > p"), text("#coverage table.sources td.n"))
    };
    let whole = panels();
    assert!(whole.1.starts_with(&format!("{} events", lines.len())), "{whole:?}");

    draw(&browser, 0.25, 0.75);
    until(&browser, "location.search.includes('since=')");
    let end = |name: &str| {
        let text = browser.text(&format!("new URLSearchParams(location.search).get('{name}')"));
        assert!(text.ends_with('Z') && text.len() == 24, "{text}");
        micros(&format!("{}000Z", &text[..23]))
    };
    let (since, before) = (end("since"), end("until"));
    // The picture begins and ends at a column: of the shares that were drawn over it is as far off as that, and a pixel.
    let (first, last) = (micros(lines[0]), micros(lines[lines.len() - 1]));
    let near = |at: i64, share: f64| (at - first) as f64 / (last - first) as f64 - share;
    assert!(near(since, 0.25).abs() < 0.03 && near(before, 0.75).abs() < 0.03, "{since} {before} in {first} {last}");
    let within = lines.iter().map(|l| micros(l)).filter(|at| *at < before && at + 1 > since).count() as u64;
    assert!(within > 0 && within < lines.len() as u64, "{within}");
    let part = panels();
    assert_eq!(part.0, within, "found");
    assert!(part.1.starts_with(&format!("{within} events")), "timeline: {}", part.1);
    assert_eq!(part.2, within.to_string(), "coverage");
    let decided = |from: i64, to: i64| lines.iter().filter(|l| l.contains("[ROUTING] Best") && micros(l) >= from && micros(l) < to).count();
    let edge = "Array.from(document.querySelectorAll('#pipeline table.edges tbody tr')).find(r => r.id && r.textContent.includes('router-worker')).cells[2].textContent";
    let count = browser.text(edge);
    let requests = count.split(' ').next().and_then(|n| n.parse::<usize>().ok());
    assert_eq!(requests, Some(decided(since, before)), "edges: {count}");
    assert_eq!(browser.count("document.querySelectorAll('#time .window').length"), 1, "what is looked at is drawn");
    browser.shot("serve-brushed");

    // The way back, and on again.
    browser.eval("history.back();");
    until(&browser, "!location.search.includes('since=')");
    assert_eq!(panels(), whole);
    browser.eval("history.forward();");
    until(&browser, "location.search.includes('since=')");
    assert_eq!(panels(), part);
    let url = browser.text("location.href");
    browser.open(&url);
    until(&browser, "document.querySelector('body > footer')");
    assert_eq!(panels(), part, "the address gives the same");
    // A column is a link, also without scripts.
    browser.scripts(false);
    browser.open(&serving.url("/?q=kind:*&n=1000"));
    until(&browser, "document.querySelector('body > footer')");
    let to = browser.text("document.querySelector('#brush-picture a').getAttribute('href')");
    browser.open(&serving.url(&to));
    until(&browser, "document.querySelector('body > footer')");
    let some = panels();
    assert!(some.0 > 0 && some.0 < whole.0, "{some:?}");
    browser.scripts(true);
    quiet(&browser, &serving);
    println!("{within} of {} lines lie in the part that was drawn over", lines.len());
}

#[test]
fn clicks_lead_from_an_edge_to_the_line_and_back() {
    let Some(browser) = Browser::start() else { return };
    let place = Place::with("direct-run");
    let serving = Serving::start(&place, &["direct-run"]);
    browser.open(&serving.url("/?since=start%2B1s"));
    let edge = "Array.from(document.querySelectorAll('#pipeline table.edges tbody tr')).find(r => r.textContent.includes('router-worker'))";
    browser.eval(&format!("{edge}.classList.add('looked-at');"));
    browser.click(".looked-at details.evidence > summary");
    browser.click(".looked-at details.cite > summary");
    let cited = browser.text("document.querySelector('.looked-at details.cite code').title");
    let (file, line) = cited.rsplit_once(':').expect("a place");
    let text = std::fs::read_to_string(place.path(file)).expect("the file");
    let wanted = text.lines().nth(line.parse::<usize>().expect("a line") - 1).expect("the line");
    let wanted = corr::render::safe::terminal(wanted).into_owned();
    assert_eq!(browser.text("document.querySelector('.looked-at details.cite pre').textContent"), wanted, "in place");
    browser.click(".looked-at details.cite a.open");
    until(&browser, "location.pathname === '/show'");
    assert_eq!(address(&browser), format!("/show?at={cited}"));
    assert_eq!(browser.text("document.querySelector('#raw pre').textContent"), wanted, "the record's page");
    browser.shot("serve-record");
    // One of its ids, looked for; then back twice.
    browser.click("#ids a");
    until(&browser, "location.pathname === '/' && location.search.startsWith('?q=')");
    assert!(browser.count(HITS) > 1);
    browser.eval("history.back();");
    until(&browser, "location.pathname === '/show'");
    assert_eq!(browser.text("document.querySelector('#raw pre').textContent"), wanted);
    browser.eval("history.back();");
    until(&browser, "location.search === '?since=start%2B1s'");
    assert_eq!(browser.text("document.querySelector('input[name=since]').value"), "start+1s");
    assert!(browser.count("document.querySelectorAll('#pipeline svg.graph a').length") >= 22, "every edge is drawn");
    quiet(&browser, &serving);
    println!("router-worker is shown by {cited}, which is the file's line");
}

#[test]
fn pages_fit_every_window() {
    let Some(browser) = Browser::start() else { return };
    for fixture in ["direct-run", "sglang-run", "metrics-run", "restart-run"] {
        let place = Place::with(fixture);
        let serving = Serving::start(&place, &[fixture]);
        let record = if fixture == "sglang-run" { "/show?at=sglang-run/logs/crash.log:7" } else { "/query.json" };
        let pages = [
            ("whole", "/"),
            ("found", "/?q=level:%3E%3Dwarn+OR+kind:request*&since=start%2B1s"),
            ("mistake", "/?q=kind:(a"),
            ("record", record),
        ];
        for (name, path) in pages.into_iter().filter(|(_, path)| *path != "/query.json") {
            browser.open(&serving.url(path));
            for (scheme, width) in [("light", 1280), ("dark", 1280), ("light", 390), ("dark", 390)] {
                browser.look(scheme, "screen");
                browser.size(width, 900);
                let wide = browser.count("document.documentElement.scrollWidth");
                assert!(wide <= u64::from(width), "{fixture} {path}: {wide} pixels in a window of {width}");
                browser.shot(&format!("serve-{fixture}-{name}-{scheme}-{width}"));
            }
            browser.look("light", "screen");
            browser.size(1280, 900);
            // The browser itself complains of an answer that is a mistake.
            let complains: Vec<String> =
                browser.console().into_iter().filter(|line| !(name == "mistake" && line.contains("400"))).collect();
            assert!(complains.is_empty(), "{fixture} {path}: {complains:#?}");
        }
        println!("{fixture}: pages fit 1280 and 390 pixels, light and dark");
    }
}
