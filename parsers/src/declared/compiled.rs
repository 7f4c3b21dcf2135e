//! A definition made ready: names resolved, what contradicts itself refused.

use super::definition::{Definition, Part, Problem};
use super::json_form::JsonForm;
use super::registry::leak;
use super::stamps::Stamps;
use super::text_form::TextForm;
use crate::event::{Event, Kind, Outcome};
use crate::ids::IdKind;

/// The kind of id that a field finds, if it can be declared: an unconfirmed id is what an upstream prints, not what a site names.
fn id_kind(field: &str) -> Option<IdKind> {
    IdKind::of_field(field).filter(|kind| *kind != IdKind::Decoy)
}

/// Names that a query reads as something else than a field.
const TAKEN: &[&str] = &["kind", "level", "message", "line", "source", "format", "id"];

/// What a definition says of its parts, by their names.
#[derive(Debug)]
pub struct Parts {
    pub stamp: Option<(&'static str, Stamps)>,
    pub level: Option<&'static str>,
    pub message: Option<&'static str>,
    /// Canonical name, part.
    pub fields: Vec<(&'static str, &'static str)>,
    pub ids: Vec<(IdKind, &'static str)>,
    pub withheld: Vec<&'static str>,
}

/// A definition that can be asked.
#[derive(Debug)]
pub struct Compiled {
    pub kind: &'static Kind,
    form: Form,
}

#[derive(Debug)]
enum Form {
    Text(TextForm),
    Json(JsonForm),
}

impl Compiled {
    /// Resolves a definition's names. Its samples are not looked at.
    pub fn new(definition: &Definition) -> Result<Compiled, Problem> {
        name(definition)?;
        over(definition)?;
        let parts = Parts::new(definition)?;
        let form = match (&definition.pattern, definition.json) {
            (Some(pattern), false) => Form::Text(TextForm::new(definition, pattern, parts)?),
            (None, true) => Form::Json(JsonForm::new(definition, parts)?),
            (Some(_), true) => return Err(definition.problem(Part::Key("json"), "it has both `match` and `json = true`; keep one")),
            (None, false) => {
                let text = "nothing says what its records look like; write `match = '…'` with a regular expression, or `json = true`";
                return Err(definition.problem(Part::Whole, text));
            }
        };
        Ok(Compiled { kind: kind(definition)?, form })
    }

    /// Does a record begin with this line?
    pub fn head(&self, line: &[u8]) -> bool {
        match &self.form {
            Form::Text(form) => form.head(line),
            Form::Json(form) => form.head(line),
        }
    }

    /// Reads a record.
    pub fn parse<'a>(&self, record: &'a [u8], event: &mut Event<'a>) -> Outcome {
        event.kind = self.kind;
        event.message = 0..record.len();
        match &self.form {
            Form::Text(form) => form.parse(record, event),
            Form::Json(form) => form.parse(self.kind, record, event),
        }
    }
}

impl Parts {
    fn new(definition: &Definition) -> Result<Parts, Problem> {
        for (key, value) in [("stamp_format", &definition.stamp_format), ("stamp_unit", &definition.stamp_unit)] {
            if value.is_some() && definition.stamp.is_none() {
                return Err(definition.problem(Part::Key(key), format!("`{key}` without `stamp`; name the part that is the stamp")));
            }
        }
        let stamp = match &definition.stamp {
            Some(part) => Some((leak(part), Stamps::new(definition)?)),
            None => None,
        };
        let mut fields = Vec::new();
        for (canonical, part) in &definition.fields {
            field_name(definition, canonical)?;
            fields.push((leak(canonical), leak(part)));
        }
        let mut ids = Vec::new();
        for (id, parts) in &definition.ids {
            let Some(kind) = id_kind(id) else {
                let known: Vec<&str> = IdKind::ALL.iter().map(|k| k.field()).filter(|field| id_kind(field).is_some()).collect();
                return Err(definition.problem(Part::Key("ids"), format!("no id is called `{id}`; known are {}", known.join(", "))));
            };
            ids.extend(parts.iter().map(|part| (kind, leak(part))));
        }
        let withheld = definition.withheld.iter().map(|w| leak(w)).collect();
        Ok(Parts {
            stamp,
            level: definition.level.as_deref().map(leak),
            message: definition.message.as_deref().map(leak),
            fields,
            ids,
            withheld,
        })
    }

    /// Every part that the definition names, with the key that names it.
    pub fn named(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let stamp = self.stamp.iter().map(|(part, _)| ("stamp", *part));
        let level = self.level.iter().map(|part| ("level", *part));
        let message = self.message.iter().map(|part| ("message", *part));
        let fields = self.fields.iter().map(|(_, part)| ("fields", *part));
        let ids = self.ids.iter().map(|(_, part)| ("ids", *part));
        let withheld = self.withheld.iter().map(|part| ("withheld", *part));
        stamp.chain(level).chain(message).chain(fields).chain(ids).chain(withheld)
    }
}

/// A name under which a field can be asked for: snake case, and not one that means something else in a query.
pub fn field_name(definition: &Definition, name: &str) -> Result<(), Problem> {
    let part = Part::Key(if definition.fields.contains_key(name) { "fields" } else { "match" });
    if !snake(name) {
        return Err(definition.problem(part, format!("`{name}` is no name of a field; write it in lower case with `_`: `queue_ms`")));
    }
    if TAKEN.contains(&name) {
        return Err(
            definition.problem(part, format!("a query reads `{name}` as something else than a field; give it another name under `fields`"))
        );
    }
    if id_kind(name).is_some() {
        return Err(definition.problem(part, format!("`{name}` is an id; declare it under `ids`")));
    }
    Ok(())
}

fn snake(name: &str) -> bool {
    let ok = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
    !name.is_empty() && name.len() <= 64 && name.bytes().all(ok) && !name.starts_with(|c: char| c.is_ascii_digit())
}

fn name(definition: &Definition) -> Result<(), Problem> {
    let name = &definition.name;
    if !snake(&name.replace('-', "_")) {
        let text = format!("`{name}` is no name of a format; write it in lower case with `-` or `_`: `edge-gateway`");
        return Err(definition.problem(Part::Key("name"), text));
    }
    let formats = crate::FORMATS.iter().map(|f| f.name);
    if name == "text" || formats.chain(crate::ENVELOPES.iter().map(|e| e.name)).any(|n| n == name) {
        return Err(definition.problem(Part::Key("name"), "corr has a format of this name; choose another"));
    }
    Ok(())
}

fn over(definition: &Definition) -> Result<(), Problem> {
    for name in &definition.over {
        if !crate::FORMATS.iter().any(|f| f.name == name) {
            let known: Vec<&str> = crate::FORMATS.iter().map(|f| f.name).collect();
            let text = format!("no built-in format is called `{name}`; known are {}", known.join(", "));
            return Err(definition.problem(Part::Key("over"), text));
        }
    }
    Ok(())
}

/// A built-in kind of this name, so that `kind:client_request` also finds a site's own clients, or a new one.
fn kind(definition: &Definition) -> Result<&'static Kind, Problem> {
    let name = definition.kind_name();
    if !snake(&name) {
        let text = format!("`{name}` is no name of a kind; write it in lower case with `_`: `gateway_request`");
        return Err(definition.problem(Part::Key("kind"), text));
    }
    if let Some(known) = crate::built_in_kinds().find(|k| k.name == name) {
        return Ok(known);
    }
    let about = definition.kind_about.as_deref().unwrap_or("declared by a user, without a word on what it proves");
    Ok(Box::leak(Box::new(Kind { name: leak(&name), about: leak(about), words: "" })))
}
