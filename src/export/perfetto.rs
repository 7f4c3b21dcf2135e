//! Chrome trace-event JSON, as Perfetto and `chrome://tracing` read it: slices (`X`), instants (`i`), counters (`C`) and names (`M`), nothing asynchronous.
//!
//! The format: docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU. What it leaves open was read from Perfetto's importer: a number of a thread
//! names it in the whole trace, and every argument of a counter is a line of its own, so a counter's locator stands beside its arguments.

use std::collections::HashMap;
use std::io::{self, Write};

use corr_parsers::ids::IdKind;
use serde_json::{Map, Value as Json, json};

use super::LeftOut;
use super::lanes::Lanes;
use super::spans::{Loose, Span, Stage, request_id, track};
use crate::render::safe::write_json;
use crate::render::shown::{Shown, rfc3339};

/// An id, and the record that bears it.
pub type Cited = (String, String);

/// What is known of requests and records beside what they say themselves.
pub struct Known<'a> {
    /// The session that an id's request is proven to be of, and the record that says so.
    pub session: &'a dyn Fn(IdKind, &str) -> Option<Cited>,
    /// Ids of the edges that a record is a signal of.
    pub edges: &'a dyn Fn(&Shown) -> Vec<String>,
}

/// Writes a trace as it comes: events first or counters first, spans when all are known.
pub struct Writer<'a> {
    out: &'a mut dyn Write,
    begun: bool,
    /// What times are counted from, UTC ns.
    zero: i64,
    /// Numbers that were given to processes and threads: none twice.
    last: u32,
    processes: HashMap<String, u32>,
    threads: HashMap<(u32, String), u32>,
    /// What was not drawn.
    pub left_out: LeftOut,
    /// Slices, instants and samples that were written.
    pub written: Written,
}

/// How much was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    pub slices: u64,
    pub instants: u64,
    pub samples: u64,
}

/// A counter of the trace: a series.
#[derive(Clone, Debug)]
pub struct Counter {
    process: u32,
    /// Its name as JSON.
    name: String,
}

/// Characters of a message that an instant has; its citation opens the rest.
const MESSAGE: usize = 200;
const DAY: i64 = 86_400_000_000_000;
const REQUESTS: &str = "requests";
const SESSIONS: &str = "sessions";

impl<'a> Writer<'a> {
    /// Writes what stands above the events. Times are counted from the midnight before `first` (UTC ns): readers keep them as floats, of which those since the
    /// epoch are a quarter of a microsecond apart, so that slices that nest would not nest there.
    pub fn begin(out: &'a mut dyn Write, first: i64) -> io::Result<Writer<'a>> {
        out.write_all(b"{\"traceEvents\":[")?;
        Ok(Writer {
            out,
            begun: false,
            zero: first.div_euclid(DAY).saturating_mul(DAY),
            last: 0,
            processes: HashMap::new(),
            threads: HashMap::new(),
            left_out: LeftOut::default(),
            written: Written::default(),
        })
    }

    /// An event as an instant on its worker's track.
    pub fn event(&mut self, event: &Shown, known: &Known<'_>) -> io::Result<()> {
        let Some(at) = event.stamp.map(|s| s.start).or(event.order) else {
            self.left_out.one("events without any time");
            return Ok(());
        };
        let thread = self.thread(&track(event), "events")?;
        let mut args = Map::new();
        args.insert("cite".into(), json!(event.locator()));
        if let Some((kind, id)) = request_id(event) {
            about(kind, &id, None, known, &mut args);
        }
        let edges = (known.edges)(event);
        if !edges.is_empty() {
            args.insert("edges".into(), json!(edges));
        }
        if let Some(level) = event.level {
            args.insert("level".into(), json!(level));
        }
        match event.stamp {
            None => _ = args.insert("time".into(), json!("no stamp: that of the stamped event before it")),
            Some(stamp) if stamp.width() > 1_000 => _ = args.insert("stamp_is_wide_us".into(), json!(stamp.width() / 1_000)),
            Some(_) => {}
        }
        if event.assumed {
            args.insert("zone".into(), json!("assumed"));
        }
        args.insert("message".into(), json!(short(&event.brief())));
        self.written.instants += 1;
        self.line("i", event.kind, "event", thread, at, ",\"s\":\"t\"", Json::Object(args))
    }

    /// Spans, by start. Those of a lane never overlap; what is inferred or clamped has lanes of its own.
    pub fn spans(&mut self, spans: &[Span], known: &Known<'_>) -> io::Result<()> {
        let mut lanes: HashMap<(String, String), Lanes> = HashMap::new();
        for span in spans {
            let whole = if span.evidence.is_none() { REQUESTS.to_string() } else { format!("inferred: {REQUESTS}") };
            self.request(span, &span.track, &whole, &mut lanes, known)?;
            let inferred: Vec<&Stage> = span.stages.iter().filter(|s| s.evidence.is_some()).collect();
            if let (Some(first), Some(last)) = (inferred.first(), inferred.last()) {
                let thread = self.lane(&mut lanes, &span.track, "inferred: stages", first.start, last.end)?;
                for stage in inferred {
                    self.slice(stage.name, "stage", thread, stage.start, stage.end, args(span, stage.evidence, known))?;
                }
            }
            if let Some(session) = &span.session {
                let of = if span.evidence.is_none() { session.clone() } else { format!("inferred: {session}") };
                self.request(span, SESSIONS, &of, &mut lanes, known)?;
            }
        }
        Ok(())
    }

    /// A request with those of its stages whose ends are stated.
    fn request(
        &mut self,
        span: &Span,
        process: &str,
        name: &str,
        lanes: &mut HashMap<(String, String), Lanes>,
        known: &Known<'_>,
    ) -> io::Result<()> {
        let thread = self.lane(lanes, process, name, span.start, span.end)?;
        let title = match &span.id {
            Some((_, id)) => format!("{} {id}", span.name),
            None => span.name.clone(),
        };
        self.slice(&title, "request", thread, span.start, span.end, args(span, span.evidence.as_deref(), known))?;
        let mut taken = span.start;
        for stage in span.stages.iter().filter(|s| s.evidence.is_none()) {
            // Two processes of an engine state them: one may begin its step while the other has not ended its own.
            let thread = if stage.start >= taken {
                taken = stage.end;
                thread
            } else {
                self.lane(lanes, process, &format!("{name}: steps that overlap"), stage.start, stage.end)?
            };
            self.slice(stage.name, "stage", thread, stage.start, stage.end, args(span, span.evidence.as_deref(), known))?;
        }
        Ok(())
    }

    /// Starts without an end and ends without a start, as what they are.
    pub fn loose(&mut self, loose: &[Loose], known: &Known<'_>) -> io::Result<()> {
        for one in loose {
            let thread = self.thread(&one.track, "requests without an end or a start")?;
            let mut args = Map::new();
            args.insert("cite".into(), json!(one.cite));
            about(IdKind::RequestId, &one.id, None, known, &mut args);
            args.insert("why".into(), json!(one.why));
            self.written.instants += 1;
            self.line("i", &format!("request {}", one.id), "request", thread, one.at, ",\"s\":\"t\"", Json::Object(args))?;
        }
        Ok(())
    }

    /// Begins a counter of a process: an instant says what it is and cites all of its samples.
    pub fn counter(&mut self, process: &str, name: &str, at: i64, args: Json) -> io::Result<Counter> {
        let thread = self.thread(process, "counters")?;
        self.written.instants += 1;
        self.line("i", name, "series", thread, at, ",\"s\":\"t\"", args)?;
        Ok(Counter { process: self.process(process)?, name: text(name)? })
    }

    /// A sample of a counter. What is no number cannot be drawn, and is counted.
    pub fn sample(&mut self, counter: &Counter, at: i64, value: f64, cite: &str) -> io::Result<()> {
        if !value.is_finite() {
            self.left_out.one("samples that are no numbers (NaN, or infinite)");
            return Ok(());
        }
        self.written.samples += 1;
        let (pid, name, ts, value, cite) =
            (counter.process, &counter.name, micros(at.saturating_sub(self.zero)), number(value), text(cite)?);
        self.next()?;
        write!(
            self.out,
            "{{\"ph\":\"C\",\"name\":{name},\"cat\":\"series\",\"pid\":{pid},\"ts\":{ts},\"args\":{{\"value\":{value}}},\"cite\":{cite}}}"
        )
    }

    /// Writes what stands below the events: `about`, and what was left out.
    pub fn end(mut self, mut about: Map<String, Json>) -> io::Result<(Written, LeftOut)> {
        let left_out: Map<String, Json> = self.left_out.iter().map(|(why, count)| (why.to_string(), json!(count))).collect();
        about.insert("left_out".into(), Json::Object(left_out));
        about.insert("clock".into(), json!(format!("microseconds since {}", rfc3339(self.zero, 1_000_000_000))));
        about.insert("zero_unix_ns".into(), json!(self.zero.to_string()));
        self.out.write_all(b"\n],\n\"displayTimeUnit\":\"ms\",\n\"otherData\":")?;
        write_json(&mut self.out, &Json::Object(about), false)?;
        self.out.write_all(b"}\n")?;
        Ok((self.written, std::mem::take(&mut self.left_out)))
    }

    fn slice(&mut self, name: &str, category: &str, thread: Thread, start: i64, end: i64, args: Json) -> io::Result<()> {
        self.written.slices += 1;
        let length = format!(",\"dur\":{}", micros(end.saturating_sub(start)));
        self.line("X", name, category, thread, start, &length, args)
    }

    #[allow(clippy::too_many_arguments)] // what the format has, one each
    fn line(&mut self, phase: &str, name: &str, category: &str, at: Thread, ns: i64, more: &str, args: Json) -> io::Result<()> {
        let (name, ts, Thread { pid, tid }) = (text(name)?, micros(ns.saturating_sub(self.zero)), at);
        self.next()?;
        write!(
            self.out,
            "{{\"ph\":\"{phase}\",\"name\":{name},\"cat\":\"{category}\",\"pid\":{pid},\"tid\":{tid},\"ts\":{ts}{more},\"args\":"
        )?;
        write_json(&mut self.out, &args, false)?;
        self.out.write_all(b"}")
    }

    fn next(&mut self) -> io::Result<()> {
        let between: &[u8] = if self.begun { b",\n" } else { b"\n" };
        self.begun = true;
        self.out.write_all(between)
    }

    fn number(&mut self) -> u32 {
        self.last = self.last.saturating_add(1);
        self.last
    }

    fn process(&mut self, name: &str) -> io::Result<u32> {
        if let Some(known) = self.processes.get(name) {
            return Ok(*known);
        }
        let pid = self.number();
        self.processes.insert(name.to_string(), pid);
        let name = text(name)?;
        self.next()?;
        write!(self.out, "{{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":{pid},\"args\":{{\"name\":{name}}}}}")?;
        Ok(pid)
    }

    fn thread(&mut self, process: &str, name: &str) -> io::Result<Thread> {
        let pid = self.process(process)?;
        let key = (pid, name.to_string());
        if let Some(tid) = self.threads.get(&key) {
            return Ok(Thread { pid, tid: *tid });
        }
        let tid = self.number();
        self.threads.insert(key, tid);
        let name = text(name)?;
        self.next()?;
        write!(self.out, "{{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":{pid},\"tid\":{tid},\"args\":{{\"name\":{name}}}}}")?;
        Ok(Thread { pid, tid })
    }

    fn lane(
        &mut self,
        lanes: &mut HashMap<(String, String), Lanes>,
        process: &str,
        name: &str,
        start: i64,
        end: i64,
    ) -> io::Result<Thread> {
        let lane = lanes.entry((process.to_string(), name.to_string())).or_default().take(start, end);
        // The first lane has the bare name.
        let name = if lane == 0 { name.to_string() } else { format!("{name} ({})", lane + 1) };
        self.thread(process, &name)
    }
}

#[derive(Clone, Copy)]
struct Thread {
    pid: u32,
    tid: u32,
}

fn args(span: &Span, evidence: Option<&str>, known: &Known<'_>) -> Json {
    let mut args = Map::new();
    args.insert("cites".into(), json!(span.cites));
    if let Some((kind, id)) = &span.id {
        about(*kind, id, span.session.as_deref(), known, &mut args);
    } else if let Some(session) = &span.session {
        args.insert("session".into(), json!(session));
    }
    if let Some(evidence) = evidence {
        args.insert("evidence".into(), json!(evidence));
    }
    Json::Object(args)
}

/// The request, and the session that it is of: as the record itself says, else as another record proves.
fn about(kind: IdKind, id: &str, own: Option<&str>, known: &Known<'_>, args: &mut Map<String, Json>) {
    args.insert("request".into(), json!(id));
    match own {
        Some(session) => _ = args.insert("session".into(), json!(session)),
        None => {
            if let Some((session, cite)) = (known.session)(kind, id) {
                args.insert("session".into(), json!(session));
                args.insert("session_cite".into(), json!(cite));
            }
        }
    }
}

/// The first line of a text, cut.
fn short(text: &str) -> String {
    let mut lines = text.lines();
    let mut first = lines.next().unwrap_or("").to_string();
    if let Some((at, _)) = first.char_indices().nth(MESSAGE) {
        first.truncate(at);
        first.push('…');
    }
    match lines.count() {
        0 => first,
        more => format!("{first} … +{more} lines"),
    }
}

/// A text as JSON, harmless on a terminal.
fn text(text: &str) -> io::Result<String> {
    let mut out = Vec::with_capacity(text.len() + 2);
    write_json(&mut out, &Json::String(text.to_string()), false)?;
    String::from_utf8(out).map_err(io::Error::other)
}

/// Nanoseconds as microseconds, with decimals for what is less: no digit is lost in a float.
fn micros(ns: i64) -> String {
    let sign = if ns < 0 { "-" } else { "" };
    let (whole, rest) = (ns.unsigned_abs() / 1_000, ns.unsigned_abs() % 1_000);
    if rest == 0 {
        return format!("{sign}{whole}");
    }
    format!("{sign}{}", format!("{whole}.{rest:03}").trim_end_matches('0'))
}

/// A finite number, whole where it is.
fn number(value: f64) -> String {
    match value.fract() == 0.0 && value.abs() < 9e15 {
        true => format!("{value:.0}"),
        false => json!(value).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_keep_every_digit() {
        assert_eq!(micros(1_795_978_472_143_561_000), "1795978472143561");
        assert_eq!(micros(1_795_979_440_868_764_829), "1795979440868764.829");
        assert_eq!(micros(1_500), "1.5");
        assert_eq!(micros(-1_050), "-1.05");
        assert_eq!(micros(i64::MIN), "-9223372036854775.808");
        assert_eq!((number(200_000.0), number(0.4557), number(-0.0)), ("200000".into(), "0.4557".into(), "-0".into()));
    }

    #[test]
    fn steps_that_overlap_lie_on_lanes_of_their_own() {
        let stage = |name, start, end| Stage { name, start, end, evidence: None };
        let span = Span {
            track: "w".into(),
            name: "request".into(),
            id: None,
            start: 0,
            end: 100_000,
            evidence: None,
            cites: vec!["a:1".into()],
            session: None,
            stages: vec![stage("dispatch", 0, 50_000), stage("prefill", 20_000, 80_000), stage("decode", 80_000, 100_000)],
            traced: false,
        };
        let mut out = Vec::new();
        let mut writer = Writer::begin(&mut out, 0).unwrap();
        let known = Known { session: &|_, _| None, edges: &|_| Vec::new() };
        writer.spans(&[span], &known).unwrap();
        writer.end(Map::new()).unwrap();
        let trace: Json = serde_json::from_slice(&out).unwrap();
        let events = trace["traceEvents"].as_array().unwrap();
        let thread = |name: &str| events.iter().find(|e| e["ph"] == "X" && e["name"] == name).map(|e| e["tid"].clone()).unwrap();
        assert_eq!(thread("request"), thread("dispatch"));
        assert_eq!(thread("request"), thread("decode"));
        let apart = events.iter().find(|e| e["ph"] == "M" && e["tid"] == thread("prefill")).unwrap();
        assert_eq!(apart["args"]["name"], "requests: steps that overlap");
    }

    #[test]
    fn texts_are_one_line() {
        assert_eq!(short("a\nb\nc"), "a … +2 lines");
        assert_eq!(short(&"é".repeat(300)).chars().count(), MESSAGE + 1);
        assert_eq!(text("a\x1b[31m\u{202e}\"").unwrap(), "\"a\\u001b[31m\\u202e\\\"\"");
    }
}
