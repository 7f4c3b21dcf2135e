//! The shape of a JSON document, told from its first bytes: which keys stand where.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// Paths of a document's first bytes: `data.result[].metric.__name__`, with the text of the first string there.
#[derive(Debug, Default)]
pub(super) struct Shape(BTreeMap<String, Option<String>>);

/// Deeper values, and more paths, are not looked at.
const DEPTH: usize = 6;
const PATHS: usize = 512;

/// The shape of the first JSON value of `head`, as far as it goes; empty for what is no JSON.
pub(super) fn shape(head: &[u8]) -> Shape {
    let mut found = Shape::default();
    let mut input = serde_json::Deserializer::from_slice(head);
    // It ends in an error where the head is cut: what was found stays.
    let _ = Walk { path: String::new(), depth: 0, found: &mut found }.deserialize(&mut input);
    found
}

impl Shape {
    /// A value stands at this path.
    pub(super) fn has(&self, path: &str) -> bool {
        self.0.contains_key(path)
    }

    /// The first string at this path.
    pub(super) fn text(&self, path: &str) -> Option<&str> {
        self.0.get(path).and_then(|t| t.as_deref())
    }

    /// Something stands below this path.
    pub(super) fn below(&self, path: &str) -> bool {
        self.0.keys().any(|p| p.starts_with(path))
    }

    /// All paths.
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Keys of the outermost object.
    pub(super) fn keys(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str).filter(|p| !p.is_empty() && !p.contains(['.', '[']))
    }
}

struct Walk<'f> {
    path: String,
    depth: usize,
    found: &'f mut Shape,
}

impl Walk<'_> {
    fn note(&mut self, text: Option<&str>) {
        if self.found.0.len() < PATHS || self.found.0.contains_key(&self.path) {
            let slot = self.found.0.entry(self.path.clone()).or_default();
            if slot.is_none() {
                *slot = text.map(|t| t.chars().take(64).collect());
            }
        }
    }
}

impl<'de> DeserializeSeed<'de> for Walk<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(mut self, input: D) -> Result<(), D::Error> {
        self.note(None);
        if self.depth > DEPTH {
            return input.deserialize_ignored_any(IgnoredAny).map(|_| ());
        }
        input.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Walk<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(mut self, text: &str) -> Result<(), E> {
        self.note(Some(text));
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut input: A) -> Result<(), A::Error> {
        let path = format!("{}[]", self.path);
        while input.next_element_seed(Walk { path: path.clone(), depth: self.depth + 1, found: self.found })?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut input: A) -> Result<(), A::Error> {
        while let Some(key) = input.next_key::<String>()? {
            let path = if self.path.is_empty() { key } else { format!("{}.{key}", self.path) };
            input.next_value_seed(Walk { path, depth: self.depth + 1, found: self.found })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_document_shows_what_stood_before() {
        let shape = shape(br#"{"status":"success","data":{"result":[{"metric":{"__name__":"up"},"values":[[1,"#);
        assert_eq!(shape.text("status"), Some("success"));
        assert_eq!(shape.text("data.result[].metric.__name__"), Some("up"));
        assert!(shape.has("data.result[].values[][]"));
        assert!(!shape.has("data.resultType"));
        assert_eq!(shape.keys().collect::<Vec<_>>(), ["data", "status"]);
        assert_eq!(super::shape(b"level=info x").keys().count(), 0);
    }
}
