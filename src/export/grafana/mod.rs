//! A Grafana dashboard of the series that a run has: classic JSON model, with the data source left to whoever imports it.
//!
//! Families and panels stand in `panels.toml`. A query is written only where the run has a series that it matches; labels are named only where the series have
//! them. Ranks are never added up: replicas of one request stand beside each other.

mod table;

use std::collections::BTreeSet;

use corr_metrics::catalogue::{Group, Member};
use corr_metrics::model::{Kind, Labels};
use serde_json::{Value as Json, json};

pub use table::{Panel, Show, panels};

use crate::metrics::asked::Captured;
use crate::render::safe::markdown_code;
use crate::render::shown::rfc3339;

/// A dashboard, and what of the run it does not show.
pub struct Dashboard {
    pub json: Json,
    pub panels: usize,
    /// Families of the run without a panel.
    pub without: Vec<String>,
}

/// The version of the JSON model that panels are written in; Grafana 10 has it and later ones take it.
const SCHEMA: u32 = 38;
/// Labels that say the role of who serves the series; the first that a family has counts.
const ROLES: &[&str] = &["engine_type", "dynamo_component", "worker_type", "role"];
const RANKS: &[&str] = &["dp_rank", "tp_rank", "pp_rank", "moe_ep_rank"];
/// Citations that a panel's description has.
const CITED: usize = 4;
const HEIGHT: u32 = 8;
const WIDTH: u32 = 12;

/// A family of a capture with its series.
struct Found<'a> {
    captured: &'a Captured<'a>,
    group: &'a Group,
}

/// A query.
struct Target {
    expr: String,
    legend: String,
}

/// Makes a dashboard of captures; `None` if no series of them has a panel.
///
/// # Errors
/// If the table of panels cannot be read.
pub fn make(run: &str, captures: &[Captured<'_>]) -> Result<Option<Dashboard>, toml::de::Error> {
    let found: Vec<Found<'_>> = captures
        .iter()
        .filter(|captured| !captured.is_log())
        .flat_map(|captured| captured.catalogue.families.iter().map(move |group| Found { captured, group }))
        .collect();
    let mut shown: BTreeSet<&str> = BTreeSet::new();
    let mut list: Vec<Json> = Vec::new();
    let (mut row, mut at, mut count) = (String::new(), Place::default(), 0);
    for panel in panels()? {
        if panel.unless.as_ref().is_some_and(|name| found.iter().any(|f| is(f.group, name))) {
            continue;
        }
        let of: Vec<&Found<'_>> =
            found.iter().filter(|f| panel.families.iter().any(|name| is(f.group, name)) && fits(panel.show, f.group)).collect();
        let targets = targets(&panel, &of);
        if targets.is_empty() {
            continue;
        }
        if panel.row != row {
            row.clone_from(&panel.row);
            let y = at.row();
            list.push(json!({
                "id": list.len() + 1, "type": "row", "title": row, "collapsed": false,
                "gridPos": {"h": 1, "w": 24, "x": 0, "y": y}, "panels": [],
            }));
        }
        shown.extend(of.iter().map(|f| f.group.name.as_str()));
        count += 1;
        list.push(written(&panel, &targets, &of, list.len() + 1, at.next()));
    }
    if count == 0 {
        return Ok(None);
    }
    let all: BTreeSet<&str> = found.iter().map(|f| f.group.name.as_str()).collect();
    let without: Vec<String> = all.difference(&shown).map(|name| name.to_string()).collect();
    Ok(Some(Dashboard { json: whole(run, captures, list, without.len()), panels: count, without }))
}

/// Is it the family of this name? A counter's `_total` is missing where a scraper cut it off; it was served with it.
fn is(group: &Group, name: &str) -> bool {
    group.name == name || (group.typed.kind == Kind::Counter && name.strip_suffix("_total") == Some(group.name.as_str()))
}

/// Does a panel show families of this type?
fn fits(show: Show, group: &Group) -> bool {
    match show {
        Show::Gauge | Show::Occupied => matches!(group.typed.kind, Kind::Gauge | Kind::Unknown),
        Show::Rate => group.typed.kind == Kind::Counter,
        Show::Quantiles => group.typed.kind == Kind::Histogram,
    }
}

fn targets(panel: &Panel, of: &[&Found<'_>]) -> Vec<Target> {
    if panel.show == Show::Occupied {
        return occupied(panel, of);
    }
    let mut targets = Vec::new();
    for name in &panel.families {
        let members = members(of, name);
        let Some(role) = role(&members) else {
            targets.extend(each(panel, name, None, &members));
            continue;
        };
        let values: BTreeSet<&str> = members.iter().map(|m| m.labels.get(role).unwrap_or("")).collect();
        for value in values {
            let those: Vec<&Member> = members.iter().copied().filter(|m| m.labels.get(role).unwrap_or("") == value).collect();
            targets.extend(each(panel, name, Some((role, value)), &those));
        }
    }
    targets
}

/// The members of a family, of all captures.
fn members<'a>(of: &[&Found<'a>], name: &str) -> Vec<&'a Member> {
    of.iter().filter(|f| is(f.group, name)).flat_map(|f| &f.group.members).collect()
}

fn role(members: &[&Member]) -> Option<&'static str> {
    ROLES.iter().copied().find(|role| members.iter().any(|m| m.labels.get(role).is_some()))
}

/// The queries of a family, for one role.
fn each(panel: &Panel, name: &str, role: Option<(&'static str, &str)>, members: &[&Member]) -> Vec<Target> {
    if members.is_empty() {
        return Vec::new();
    }
    let selector = role.map_or(String::new(), |(label, value)| format!("{{{label}=\"{}\"}}", quoted(value)));
    let has = |label: &&str| members.iter().any(|m| m.labels.get(label).is_some());
    let mut labels: Vec<&str> = vec!["instance"];
    labels.extend(role.filter(|(_, value)| !value.is_empty()).map(|(label, _)| label));
    labels.extend(panel.split.iter().map(String::as_str).filter(|label| has(label)));
    labels.extend(RANKS.iter().copied().filter(has));
    let legend = |what: &str| {
        let parts =
            labels.iter().map(|label| if RANKS.contains(label) { format!("{label} {{{{{label}}}}}") } else { format!("{{{{{label}}}}}") });
        format!("{what} {}", parts.collect::<Vec<_>>().join(" "))
    };
    let by = labels.join(", ");
    let short = name.rsplit(':').next().unwrap_or(name);
    match panel.show {
        Show::Gauge | Show::Occupied => vec![Target { expr: format!("{name}{selector}"), legend: legend(short) }],
        Show::Rate => vec![Target { expr: format!("sum by ({by}) (rate({name}{selector}[$__rate_interval]))"), legend: legend(short) }],
        Show::Quantiles => ["0.5", "0.9", "0.99"]
            .iter()
            .map(|q| Target {
                expr: format!("histogram_quantile({q}, sum by (le, {by}) (rate({name}_bucket{selector}[$__rate_interval])))"),
                legend: legend(&format!("{short} {q}")),
            })
            .collect(),
    }
}

/// A capacity, and what of it is taken: the same labels stand on both sides, rank for rank.
fn occupied(panel: &Panel, of: &[&Found<'_>]) -> Vec<Target> {
    let [whole, left] = &panel.families[..] else { return Vec::new() };
    let (capacities, available) = (members(of, whole), members(of, left));
    let same = |a: &Labels, b: &Labels| a.iter().eq(b.iter());
    if !capacities.iter().any(|c| available.iter().any(|a| same(&c.labels, &a.labels))) {
        return Vec::new();
    }
    let mut out = Vec::new();
    let role = role(&capacities);
    let values: BTreeSet<Option<&str>> = capacities.iter().map(|c| role.map(|role| c.labels.get(role).unwrap_or(""))).collect();
    for value in values {
        let of_role = |m: &&&Member| role.map(|role| m.labels.get(role).unwrap_or("")) == value;
        let those: Vec<&Member> = capacities.iter().filter(of_role).copied().collect();
        let pairs = those.iter().any(|c| available.iter().any(|a| same(&c.labels, &a.labels)));
        if !pairs {
            continue;
        }
        for capacity in each(panel, whole, role.zip(value), &those) {
            let legend = |what: &str| capacity.legend.replacen(whole.rsplit(':').next().unwrap_or(whole), what, 1);
            let selector = capacity.expr.strip_prefix(whole.as_str()).unwrap_or("");
            out.push(Target { expr: format!("{whole}{selector} - {left}{selector}"), legend: legend("in use") });
            out.push(Target { legend: legend("capacity"), expr: capacity.expr });
        }
    }
    out
}

/// A label's value inside double quotes of PromQL.
fn quoted(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// Where the next panel goes.
#[derive(Default)]
struct Place {
    x: u32,
    y: u32,
}

impl Place {
    fn row(&mut self) -> u32 {
        if self.x > 0 {
            self.y += HEIGHT;
        }
        let y = self.y;
        (self.x, self.y) = (0, y + 1);
        y
    }

    fn next(&mut self) -> (u32, u32) {
        let at = (self.x, self.y);
        if self.x == 0 {
            self.x = WIDTH;
        } else {
            (self.x, self.y) = (0, self.y + HEIGHT);
        }
        at
    }
}

fn datasource() -> Json {
    json!({"type": "prometheus", "uid": "${datasource}"})
}

fn written(panel: &Panel, targets: &[Target], of: &[&Found<'_>], id: usize, (x, y): (u32, u32)) -> Json {
    let target = |(number, target): (usize, &Target)| {
        json!({
            "refId": reference(number),
            "datasource": datasource(),
            "editorMode": "code",
            "expr": target.expr,
            "legendFormat": target.legend,
            "range": true,
        })
    };
    json!({
        "id": id,
        "type": "timeseries",
        "title": panel.title,
        "description": cited(of),
        "datasource": datasource(),
        "gridPos": {"h": HEIGHT, "w": WIDTH, "x": x, "y": y},
        "fieldConfig": {"defaults": {"unit": panel.unit, "custom": {"drawStyle": "line", "spanNulls": false}}, "overrides": []},
        "options": {
            "legend": {"displayMode": "table", "placement": "bottom", "showLegend": true, "calcs": ["min", "max", "lastNotNull"]},
            "tooltip": {"mode": "multi", "sort": "desc"},
        },
        "targets": targets.iter().enumerate().map(target).collect::<Vec<_>>(),
    })
}

/// `A` to `Z`, then `A1`, `B1`, ….
fn reference(number: usize) -> String {
    let letter = char::from(b'A' + u8::try_from(number % 26).unwrap_or(0));
    if number < 26 { letter.to_string() } else { format!("{letter}{}", number / 26) }
}

/// The series of the run behind a panel, as corr cites them. Grafana renders it as Markdown.
fn cited(of: &[&Found<'_>]) -> String {
    let mut cites = Vec::new();
    let mut more = 0;
    for found in of {
        for member in &found.group.members {
            for id in member.parts.series().into_iter().take(1) {
                let samples = &found.captured.capture().samples;
                let Some((first, last)) = samples.first(id.0).zip(samples.last(id.0)) else { continue };
                if cites.len() < CITED {
                    cites.push(markdown_code(&found.captured.citation(id, first.at, last.at)));
                } else {
                    more += 1;
                }
            }
        }
    }
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    format!("In the run: {}{more}", cites.join(", "))
}

fn whole(run: &str, captures: &[Captured<'_>], panels: Vec<Json>, without: usize) -> Json {
    let span = captures.iter().filter(|c| !c.is_log()).filter_map(Captured::span_utc).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
    let time = match span {
        Some((from, to)) => json!({"from": rfc3339(from, 1_000_000), "to": rfc3339(to.saturating_add(1_000_000), 1_000_000)}),
        None => json!({"from": "now-1h", "to": "now"}),
    };
    let uid: String = blake3::hash(run.as_bytes()).to_hex().as_str().chars().take(12).collect();
    let families = if without == 1 { "family of the run has" } else { "families of the run have" };
    json!({
        "id": null,
        "uid": format!("corr-{uid}"),
        "title": format!("corr: {run}"),
        "description": format!("Made of the series that the run has; {without} {families} no panel, `corr metrics` lists them."),
        "tags": ["corr", "llm-inference"],
        "timezone": "utc",
        "editable": true,
        "graphTooltip": 1,
        "schemaVersion": SCHEMA,
        "version": 1,
        "refresh": "",
        "time": time,
        "timepicker": {},
        "annotations": {"list": []},
        "links": [],
        "templating": {"list": [{
            "name": "datasource", "label": "Data source", "type": "datasource", "query": "prometheus", "regex": "",
            "hide": 0, "includeAll": false, "multi": false, "options": [], "current": {}, "refresh": 1, "skipUrlSync": false,
        }]},
        "panels": panels,
    })
}
