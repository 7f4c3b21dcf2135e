//! OTLP JSON: a trace a request, for a tracing backend. One line is one whole export, as OpenTelemetry's file exporter writes and its file receiver reads them.
//!
//! Ids are hashes of what a span is: the same run gives the same ids. 64-bit numbers are text, ids are hex, enumerations are numbers, as OTLP's mapping to JSON has it
//! (opentelemetry.io/docs/specs/otlp, "JSON Protobuf Encoding").

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};

use serde_json::{Value as Json, json};

use super::LeftOut;
use super::spans::{Span, Stage};
use crate::render::safe::write_json;

/// A record that shows an edge of the pipeline, for a request.
#[derive(Clone, Debug)]
pub struct Seen {
    pub edge: String,
    pub signal: String,
    pub at: i64,
    pub worker: Option<String>,
    pub cite: String,
}

/// A request with all that is said of it.
#[derive(Clone, Debug, Default)]
pub struct Request {
    pub name: String,
    /// Each with the record that bears it.
    pub sessions: Vec<(String, String)>,
    pub trace_ids: Vec<String>,
    pub spans: Vec<Span>,
    pub seen: Vec<Seen>,
}

/// Writes traces one by one, in the order of time.
pub struct Writer<'a> {
    out: &'a mut dyn Write,
    /// The last root of each session.
    before: HashMap<String, (String, String)>,
    pub traces: u64,
    pub spans: u64,
    pub left_out: LeftOut,
}

/// OTLP counts nanoseconds since 1970 without a sign.
fn fits(at: i64) -> bool {
    at >= 0
}

const INTERNAL: u8 = 1;
const SERVER: u8 = 2;
const CLIENT: u8 = 3;

/// A span as it is written, and whose it is.
struct Made {
    service: String,
    json: Json,
}

impl<'a> Writer<'a> {
    pub fn new(out: &'a mut dyn Write) -> Writer<'a> {
        Writer { out, before: HashMap::new(), traces: 0, spans: 0, left_out: LeftOut::default() }
    }

    /// Writes a request's trace; nothing for one without spans. What began before 1970 is left out, and counted.
    pub fn request(&mut self, request: &Request) -> io::Result<()> {
        let trace = hex(&["trace", &request.name], 16);
        let spans: Vec<&Span> = request.spans.iter().filter(|span| fits(span.start)).collect();
        let stages = spans.iter().flat_map(|span| &span.stages).filter(|stage| !fits(stage.start)).count();
        self.left_out.some("spans from before 1970, which OTLP has no times for", (request.spans.len() - spans.len() + stages) as u64);
        let (Some(start), Some(end)) = (spans.iter().map(|s| s.start).min(), spans.iter().map(|s| s.end).max()) else {
            return Ok(());
        };
        self.left_out
            .some("events from before 1970, which OTLP has no times for", request.seen.iter().filter(|s| !fits(s.at)).count() as u64);
        let ids: Vec<String> = spans.iter().map(|span| span_id(&request.name, span, &span.name, span.start)).collect();
        let root = match &ids[..] {
            [only] => only.clone(),
            _ => hex(&["root", &request.name], 8),
        };
        let links = self.links(request, &trace, &root);
        let mut made = Vec::new();
        if spans.len() > 1 {
            // What several processes say of a request has no span of its own in any of them.
            let evidence = "from the first start to the last end of the spans below it; no record says it";
            let cites: Vec<String> = spans.iter().flat_map(|s| s.cites.iter().cloned()).collect();
            let attributes = self.attributes(request, Some(evidence), &cites);
            let head = Head { trace: &trace, id: &root, parent: None, name: "request", kind: INTERNAL, start, end };
            made.push(Made { service: "corr (inferred)".into(), json: head.json(attributes, events(request), links.clone()) });
        }
        for (span, id) in spans.into_iter().zip(&ids) {
            let is_root = *id == root;
            let parent = (!is_root).then_some(root.as_str());
            let kind = if span.name == "client call" { CLIENT } else { SERVER };
            let head = Head { trace: &trace, id, parent, name: &span.name, kind, start: span.start, end: span.end };
            let attributes = self.attributes(request, span.evidence.as_deref(), &span.cites);
            let (events, links) = if is_root { (events(request), links.clone()) } else { (Vec::new(), Vec::new()) };
            made.push(Made { service: span.track.clone(), json: head.json(attributes, events, links) });
            for stage in span.stages.iter().filter(|stage| fits(stage.start)) {
                made.push(Made { service: span.track.clone(), json: self.stage(request, &trace, id, span, stage) });
            }
        }
        self.traces += 1;
        self.spans += made.len() as u64;
        self.line(made)
    }

    fn stage(&self, request: &Request, trace: &str, parent: &str, span: &Span, stage: &Stage) -> Json {
        let id = span_id(&request.name, span, stage.name, stage.start);
        let head = Head { trace, id: &id, parent: Some(parent), name: stage.name, kind: INTERNAL, start: stage.start, end: stage.end };
        let evidence = stage.evidence.or(span.evidence.as_deref());
        head.json(self.attributes(request, evidence, &span.cites), Vec::new(), Vec::new())
    }

    fn attributes(&self, request: &Request, evidence: Option<&str>, cites: &[String]) -> Vec<Json> {
        let mut attributes = vec![text("corr.request", &request.name), texts("corr.cites", cites)];
        if let Some(evidence) = evidence {
            attributes.push(json!({"key": "corr.inferred", "value": {"boolValue": true}}));
            attributes.push(text("corr.evidence", evidence));
        }
        // A key stands once in a list of attributes.
        match &request.sessions[..] {
            [] => {}
            [(session, cite)] => attributes.extend([text("session.id", session), text("corr.session_cite", cite)]),
            several => {
                let (sessions, cites): (Vec<String>, Vec<String>) = several.iter().cloned().unzip();
                attributes.extend([texts("corr.sessions", &sessions), texts("corr.session_cites", &cites)]);
            }
        }
        if !request.trace_ids.is_empty() {
            attributes.push(texts("corr.trace_ids", &request.trace_ids));
        }
        attributes
    }

    /// To the request before it in each of its sessions.
    fn links(&mut self, request: &Request, trace: &str, root: &str) -> Vec<Json> {
        let mut links = Vec::new();
        for (session, cite) in &request.sessions {
            if let Some((trace, span)) = self.before.insert(session.clone(), (trace.to_string(), root.to_string())) {
                let attributes = [text("session.id", session), text("corr.session_cite", cite)];
                links.push(json!({"traceId": trace, "spanId": span, "attributes": attributes}));
            }
        }
        links
    }

    fn line(&mut self, made: Vec<Made>) -> io::Result<()> {
        let mut services: BTreeMap<String, Vec<Json>> = BTreeMap::new();
        for one in made {
            services.entry(one.service).or_default().push(one.json);
        }
        let resource = |(service, spans): (String, Vec<Json>)| {
            json!({
                "resource": {"attributes": [text("service.name", &service)]},
                "scopeSpans": [{"scope": {"name": "corr", "version": env!("CARGO_PKG_VERSION")}, "spans": spans}],
            })
        };
        let resources: Vec<Json> = services.into_iter().map(resource).collect();
        write_json(self.out, &json!({"resourceSpans": resources}), false)?;
        writeln!(self.out)
    }
}

struct Head<'a> {
    trace: &'a str,
    id: &'a str,
    parent: Option<&'a str>,
    name: &'a str,
    kind: u8,
    start: i64,
    end: i64,
}

impl Head<'_> {
    fn json(&self, attributes: Vec<Json>, events: Vec<Json>, links: Vec<Json>) -> Json {
        let mut json = json!({"traceId": self.trace, "spanId": self.id});
        if let Some(parent) = self.parent {
            json["parentSpanId"] = json!(parent);
        }
        json["name"] = json!(self.name);
        json["kind"] = json!(self.kind);
        json["startTimeUnixNano"] = json!(self.start.to_string());
        json["endTimeUnixNano"] = json!(self.end.to_string());
        json["attributes"] = Json::Array(attributes);
        if !events.is_empty() {
            json["events"] = Json::Array(events);
        }
        if !links.is_empty() {
            json["links"] = Json::Array(links);
        }
        json
    }
}

/// The records that show edges of the pipeline, as events of the root.
fn events(request: &Request) -> Vec<Json> {
    let event = |seen: &Seen| {
        let mut attributes = vec![text("corr.signal", &seen.signal), text("corr.cite", &seen.cite)];
        attributes.extend(seen.worker.as_ref().map(|worker| text("corr.worker", worker)));
        json!({"timeUnixNano": seen.at.to_string(), "name": seen.edge, "attributes": attributes})
    };
    request.seen.iter().filter(|seen| fits(seen.at)).map(event).collect()
}

fn text(key: &str, value: &str) -> Json {
    json!({"key": key, "value": {"stringValue": value}})
}

fn texts(key: &str, values: &[String]) -> Json {
    let values: Vec<Json> = values.iter().map(|value| json!({"stringValue": value})).collect();
    json!({"key": key, "value": {"arrayValue": {"values": values}}})
}

fn span_id(request: &str, span: &Span, name: &str, start: i64) -> String {
    let mut parts = vec!["span", request, &span.track, &span.name, name];
    let start = start.to_string();
    parts.push(&start);
    parts.extend(span.cites.iter().map(String::as_str));
    hex(&parts, 8)
}

/// So many bytes of the hash of these parts, in hex; never all zero, which OTLP takes for no id.
fn hex(parts: &[&str], bytes: usize) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    let whole = hasher.finalize().to_hex();
    let id: String = whole.as_str().chars().take(2 * bytes).collect();
    if id.bytes().all(|b| b == b'0') { id.replacen('0', "1", 1) } else { id }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(track: &str, start: i64, end: i64) -> Span {
        Span {
            track: track.into(),
            name: "request".into(),
            id: None,
            start,
            end,
            evidence: None,
            cites: vec![format!("{track}.log:1")],
            session: None,
            stages: vec![Stage { name: "prefill", start, end, evidence: None }],
            traced: false,
        }
    }

    /// The spans that are written, and what is left out.
    fn written(request: &Request) -> (Vec<Json>, Vec<(String, u64)>) {
        let mut out = Vec::new();
        let mut writer = Writer::new(&mut out);
        writer.request(request).unwrap();
        let left_out = writer.left_out.iter().map(|(why, count)| (why.to_string(), count)).collect();
        let exports =
            out.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).map(|line| serde_json::from_slice::<Json>(line).unwrap());
        let of = |list: &Json| list.as_array().cloned().unwrap();
        let resources = exports.flat_map(|export| of(&export["resourceSpans"]));
        (resources.flat_map(|resource| of(&resource["scopeSpans"][0]["spans"])).collect(), left_out)
    }

    #[test]
    fn a_request_of_two_sessions_has_no_key_twice() {
        let sessions = ["a", "b"].map(|name| (name.to_string(), format!("{name}.log:7"))).to_vec();
        for (sessions, key) in [(sessions[..1].to_vec(), "session.id"), (sessions, "corr.sessions")] {
            let (spans, _) = written(&Request { name: "r".into(), sessions, spans: vec![span("w", 10, 20)], ..Request::default() });
            for span in spans {
                let mut keys: Vec<&str> = span["attributes"].as_array().unwrap().iter().map(|a| a["key"].as_str().unwrap()).collect();
                assert!(keys.contains(&key), "{keys:?}");
                let all = keys.len();
                keys.sort_unstable();
                keys.dedup();
                assert_eq!(keys.len(), all, "{keys:?}");
            }
        }
    }

    #[test]
    fn what_began_before_1970_is_left_out_and_counted() {
        let seen = |at| Seen { edge: "e".into(), signal: "s".into(), at, worker: None, cite: "w.log:2".into() };
        let request = Request {
            name: "r".into(),
            spans: vec![span("old", -20, 30), span("new", 0, 20)],
            seen: vec![seen(-1), seen(5)],
            ..Request::default()
        };
        let (spans, left_out) = written(&request);
        // The request and its step, the request alone at the root.
        let times: Vec<(&Json, &Json)> = spans.iter().map(|s| (&s["startTimeUnixNano"], &s["endTimeUnixNano"])).collect();
        assert_eq!(times, [(&json!("0"), &json!("20")); 2]);
        assert_eq!(spans[0]["events"].as_array().map(Vec::len), Some(1));
        let counts: Vec<u64> = left_out.iter().map(|(_, count)| *count).collect();
        assert_eq!((left_out.len(), counts), (2, vec![1, 1]), "{left_out:?}");
        let before = Request { name: "r".into(), spans: vec![span("old", i64::MIN, -1)], ..Request::default() };
        assert_eq!(written(&before).0.len(), 0);
    }
}
