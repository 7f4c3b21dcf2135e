//! The frame of every page: head, search, foot.

use super::asked::{Asked, HITS, MOST};
use super::refused::Refused;
use super::state::View;
use crate::render::html::Html;
use crate::render::shown::rfc3339;

/// What a page shows.
pub struct Page<'a> {
    pub title: String,
    pub asked: &'a Asked,
    /// The run, if it could be read.
    pub view: Option<&'a View>,
    /// The run is named above: what is shown does not name it.
    pub named: bool,
    pub main: Html,
}

impl Page<'_> {
    /// The whole page.
    pub fn html(self) -> String {
        let Page { title, asked, view, named, main } = self;
        let mut html = Html::new();
        html.raw("<!doctype html>\n");
        html.element("html", &[("lang", "en")], |html| {
            html.element("head", &[], |html| {
                html.raw("<meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">");
                html.with_text("title", &[], &title);
                html.raw("<meta name=\"color-scheme\" content=\"light dark\"><link rel=\"stylesheet\" href=\"/report.css\"><link rel=\"stylesheet\" href=\"/style.css\"><link rel=\"icon\" href=\"/icon.svg\"><script src=\"/script.js\" defer></script>");
            });
            html.element("body", &[], |html| {
                html.raw("<a class=\"skip\" href=\"#main\">to the content</a>");
                html.element("header", &[], |html| {
                    html.element("p", &[("class", "run")], |html| {
                        html.with_text("a", &[("href", "/"), ("title", "the whole run")], "corr");
                        if let Some(view) = view.filter(|_| named) {
                            html.raw(" ").with_text("span", &[], &view.run.arguments.join(" "));
                        }
                    });
                    search(html, asked);
                });
                html.element("main", &[("id", "main"), ("tabindex", "-1")], |html| {
                    html.push(&main);
                });
                if let Some(view) = view {
                    html.element("footer", &[], |html| foot(html, view));
                }
            });
        });
        let mut text = html.into_string();
        text.push('\n');
        text
    }
}

/// The form, with what is asked in it.
fn search(html: &mut Html, asked: &Asked) {
    html.element("form", &[("id", "search"), ("action", "/"), ("method", "get"), ("role", "search")], |html| {
        let field = |html: &mut Html, name: &'static str, label: &str, value: &str, hint: &str| {
            html.element("label", &[("class", name)], |html| {
                html.with_text("span", &[], label);
                let attributes = [
                    ("name", name),
                    ("value", value),
                    ("placeholder", hint),
                    ("autocomplete", "off"),
                    ("autocapitalize", "off"),
                    ("spellcheck", "false"),
                ];
                html.empty("input", &attributes);
            });
        };
        field(html, "q", "search", &asked.q, "kind:exception, rid:edf9*, \"out of memory\", level:>=warn");
        field(html, "since", "since", &asked.since, "start+60s");
        field(html, "until", "until", &asked.until, "end-5m");
        html.element("label", &[("class", "n")], |html| {
            html.with_text("span", &[], "hits");
            html.element("select", &[("name", "n")], |html| {
                let wanted = asked.limit().unwrap_or(HITS);
                let mut choices = vec![HITS, 200, MOST];
                if !choices.contains(&wanted) {
                    choices.insert(0, wanted);
                }
                for n in choices {
                    let text = n.to_string();
                    let value = if n == HITS { "" } else { text.as_str() };
                    let chosen: &[(&'static str, &str)] =
                        if n == wanted { &[("value", value), ("selected", "")] } else { &[("value", value)] };
                    html.with_text("option", chosen, &text);
                }
            });
        });
        // What no field of the form says stays as it is.
        if !asked.sort.is_empty() {
            html.empty("input", &[("type", "hidden"), ("name", "sort"), ("value", &asked.sort)]);
        }
        html.raw("<button>search</button>");
    });
}

fn foot(html: &mut Html, view: &View) {
    html.element("p", &[], |html| {
        let read = rfc3339(view.at, 1_000_000_000);
        html.text("read ").with_text("time", &[("datetime", &read)], &read);
        let again = if view.number > 1 { format!(", for the {}. time: files changed", view.number) } else { String::new() };
        html.text(&format!("{again}; every page says what the files say at the time of asking"));
    });
}

/// The page of a refusal.
pub fn refusal(refused: &Refused, asked: &Asked, view: Option<&View>) -> String {
    let mut main = Html::new();
    main.element("section", &[("class", "panel refused"), ("role", "alert")], |html| {
        let head = match refused {
            Refused::Query(_) => "This is no query",
            Refused::Value(_) => "This cannot be asked",
            Refused::Nothing(_) => "Not there",
            Refused::Busy(_) => "Not answered",
            Refused::Run(_) => "The run cannot be read",
        };
        html.with_text("h1", &[], head);
        html.with_text("p", &[], &refused.words());
        if let Refused::Query(error) = refused {
            html.element("pre", &[("class", "pointer")], |html| {
                html.lines(error.pointer().as_bytes());
            });
            html.raw("<p>The language is that of <code>corr query</code>; <code>corr query --help</code> has all of it.</p>");
        }
    });
    Page { title: "corr: not answered".into(), asked, view, named: true, main }.html()
}
