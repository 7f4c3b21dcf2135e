//! One record, from its bytes to what corr makes of them, as text and JSON.

use std::io::{self, Write};

use corr_parsers::event::{Event, Secret, Withheld};
use corr_parsers::record::{self, Record};
use corr_parsers::secret;
use serde_json::{Value as Json, json};

use super::events::plain;
use super::paint::{Paint, Tone};
use super::safe;
use super::shown::{Shown, visible_text};

/// A record and what is told of it.
pub struct Opened {
    pub event: Read,
    pub links: Vec<Link>,
    /// The records around it, itself among them.
    pub neighbours: Vec<Shown>,
}

/// A record, read.
pub struct Read {
    pub shown: Shown,
    /// Its place counts what journalctl writes of a journal file.
    pub of_export: bool,
    /// Its bytes, with what is withheld replaced.
    pub raw: Vec<u8>,
    /// How its time was found, in sentences.
    pub clock: Vec<String>,
}

/// The record's own bytes, with what is withheld replaced. Where the payload was decoded from its envelope and something is withheld, the payload
/// stands for the bytes.
pub fn raw_text(bytes: &[u8], record: &Record<'_>, event: &Event<'_>, bodies: bool) -> Vec<u8> {
    let raw = &bytes[record.offset..record.offset + record.len];
    let whole = 0..record::trim_end(raw).len();
    if bodies {
        return raw[whole].to_vec();
    }
    if event.withheld.is_empty() {
        // The envelope's own fields (a command line) can hold a credential too.
        let hide = |span| Withheld { span, why: Secret::Credential, name: "credential" };
        let spans: Vec<Withheld> = secret::find(raw).into_iter().map(hide).collect();
        if spans.is_empty() {
            return raw[whole].to_vec();
        }
        return visible_text(raw, whole, &spans).into_bytes();
    }
    match record.payload_at {
        Some(at) => {
            let lead = at - record.offset;
            let moved = |w: &Withheld| Withheld { span: w.span.start + lead..w.span.end + lead, ..w.clone() };
            let spans: Vec<Withheld> = event.withheld.iter().map(moved).collect();
            visible_text(raw, whole, &spans).into_bytes()
        }
        None => {
            let payload = visible_text(record.payload, 0..record.payload.len(), &event.withheld);
            format!("(payload, decoded from its envelope) {payload}").into_bytes()
        }
    }
}

/// Where else an id stands.
pub struct Link {
    pub field: &'static str,
    pub id: String,
    pub total: u64,
    /// Sources that have it, with how many records each.
    pub by_source: Vec<(String, u64)>,
}

impl Opened {
    /// For people. `asked` is the line that was asked for.
    pub fn write_text(&self, asked: Option<u64>, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
        let Opened { event: Read { shown, of_export, raw, clock }, links, neighbours } = self;
        let head = |out: &mut dyn Write, text: &str| writeln!(out, "{}", paint.tone(Tone::Kind, text));
        writeln!(
            out,
            "{}  bytes {}..{}{}",
            paint.tone(Tone::Place, &safe::terminal(&shown.locator())),
            shown.offset,
            shown.offset + shown.length,
            if *of_export { " of the journal's export" } else { "" }
        )?;
        if asked.is_some_and(|line| line != shown.line) {
            writeln!(out, "the line belongs to the record that begins at line {}", shown.line)?;
        }
        head(out, "raw")?;
        for line in safe::terminal_lines(raw) {
            writeln!(out, "  {line}")?;
        }
        if raw.is_empty() {
            writeln!(out, "  (empty)")?;
        }
        head(out, "event")?;
        let about = corr_parsers::kind(shown.kind).map_or("", |k| k.about);
        writeln!(out, "  kind     {} — {about}", shown.kind)?;
        writeln!(out, "  time     {}", shown.time())?;
        writeln!(out, "  format   {}   outcome {}", shown.format, shown.outcome)?;
        let facts = [("level", shown.level.map(String::from)), ("worker", shown.worker.clone()), ("role", shown.role.clone())];
        let more = [("host", shown.host.clone()), ("unit", shown.unit.clone()), ("note", shown.note.map(String::from))];
        for (name, value) in facts.into_iter().chain(more) {
            if let Some(value) = value {
                writeln!(out, "  {name:<8} {}", safe::terminal(&value))?;
            }
        }
        if !shown.fields.is_empty() {
            head(out, "fields")?;
            let width = shown.fields.iter().map(|f| f.0.chars().count()).max().unwrap_or(0).min(40);
            for (name, raw, value) in &shown.fields {
                let spelled = if name == raw { String::new() } else { format!("   ({})", safe::terminal(raw)) };
                writeln!(out, "  {:<width$}  {}{spelled}", safe::terminal(name), safe::terminal(&plain(value)))?;
            }
        }
        if !shown.withheld.is_empty() {
            head(out, "withheld (--bodies shows it)")?;
            for w in &shown.withheld {
                let text = |name: &str| w.get(name).map(plain).unwrap_or_default();
                write!(out, "  {}: {}", text("name"), text("why"))?;
                if w.get("bytes").is_some() {
                    write!(out, ", {} bytes, blake3 {}", text("bytes"), text("blake3"))?;
                }
                writeln!(out)?;
            }
        }
        head(out, "clock")?;
        for line in clock {
            writeln!(out, "  {}", safe::terminal(line))?;
        }
        if !links.is_empty() {
            head(out, "ids")?;
            for link in links {
                let places: Vec<String> = link.by_source.iter().map(|(s, n)| format!("{} in {}", n, safe::terminal(s))).collect();
                writeln!(out, "  {} {}: {} records ({})", link.field, safe::terminal(&link.id), link.total, places.join(", "))?;
            }
        }
        head(out, "neighbours")?;
        for event in neighbours {
            let mark = if event.context { ' ' } else { '>' };
            let first = event.message.lines().next().unwrap_or("");
            let mut text: String = first.chars().take(160).collect();
            if text.len() < first.len() {
                text.push('…');
            }
            writeln!(out, "{mark} {} {} {} {}", event.time(), event.line, event.kind, safe::terminal(&text))?;
        }
        Ok(())
    }

    /// For programs. `not_asked` are sources that the ids were not looked for in, with the reason.
    pub fn write_json(&self, not_asked: &[(&str, &str)], out: &mut dyn Write) -> io::Result<()> {
        let Opened { event: Read { shown, of_export, raw, clock }, links, neighbours } = self;
        let links: Vec<Json> = links
            .iter()
            .map(|l| {
                let places: Vec<Json> = l.by_source.iter().map(|(s, n)| json!({"source": s, "records": n})).collect();
                json!({"kind": l.field, "id": l.id, "records": l.total, "sources": places})
            })
            .collect();
        let spelled: Vec<Json> = shown.fields.iter().map(|(n, r, v)| json!({"name": n, "raw": r, "value": v})).collect();
        let whole = json!({
            "schema": "corr.show.v1",
            "of": if *of_export { "journalctl -o export" } else { "source" },
            "raw": String::from_utf8_lossy(raw),
            "event": shown.json(),
            "fields": spelled,
            "clock": clock,
            "links": links,
            "not_read": not_asked.iter().map(|(name, why)| json!({"source": name, "why": why})).collect::<Vec<_>>(),
            "neighbours": neighbours.iter().filter(|b| b.context).map(Shown::json).collect::<Vec<_>>(),
        });
        safe::write_json(out, &whole, true)?;
        writeln!(out)
    }
}
