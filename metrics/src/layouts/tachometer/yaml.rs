//! A small tree of a YAML document, from the events of a parser. Aliases are refused: a few lines of them can mean more than any memory holds.

use saphyr_parser::{Event, Parser};

/// A value.
#[derive(Debug, PartialEq)]
pub enum Node {
    Text(String),
    List(Vec<Node>),
    Map(Vec<(String, Node)>),
}

/// Deeper documents are refused.
const DEPTH: usize = 64;

/// Reads the first document.
///
/// # Errors
/// In words: not YAML, an alias, too deep, or a key that is not a plain value.
pub fn read(text: &str) -> Result<Node, String> {
    // the values that are open, with the key that waits in a map
    let mut open: Vec<(Node, Option<String>)> = Vec::new();
    for event in Parser::new_from_str(text) {
        let (event, _) = event.map_err(|e| e.to_string())?;
        let done = match event {
            Event::Alias(_) => return Err("it has an alias".into()),
            Event::Scalar(text, ..) => Node::Text(text.into_owned()),
            Event::SequenceStart(..) | Event::MappingStart(..) => {
                if open.len() >= DEPTH {
                    return Err(format!("deeper than {DEPTH}"));
                }
                let node = if matches!(event, Event::SequenceStart(..)) { Node::List(Vec::new()) } else { Node::Map(Vec::new()) };
                open.push((node, None));
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => match open.pop() {
                Some((node, _)) => node,
                None => return Err("an end without a start".into()),
            },
            _ => continue,
        };
        match open.last_mut() {
            None => return Ok(done),
            Some((Node::List(items), _)) => items.push(done),
            Some((Node::Map(pairs), key)) => match (key.take(), done) {
                (Some(key), value) => pairs.push((key, value)),
                (None, Node::Text(text)) => *key = Some(text),
                (None, _) => return Err("a key that is not a plain value".into()),
            },
            Some((Node::Text(_), _)) => {}
        }
    }
    Err("it is empty".into())
}

impl Node {
    /// The value of a key; of a key given twice the first.
    pub fn get(&self, key: &str) -> Option<&Node> {
        match self {
            Node::Map(pairs) => pairs.iter().find(|(k, _)| k == key).map(|(_, v)| v),
            _ => None,
        }
    }

    pub fn list(&self) -> Option<&[Node]> {
        match self {
            Node::List(items) => Some(items),
            _ => None,
        }
    }

    pub fn text(&self) -> Option<&str> {
        match self {
            Node::Text(text) => Some(text),
            _ => None,
        }
    }

    pub fn keys(&self) -> impl Iterator<Item = &str> {
        let pairs: &[(String, Node)] = match self {
            Node::Map(pairs) => pairs,
            _ => &[],
        };
        pairs.iter().map(|(k, _)| k.as_str())
    }

    /// Keys with values that are text.
    pub fn pairs(&self) -> Vec<(String, String)> {
        match self {
            Node::Map(pairs) => pairs.iter().filter_map(|(k, v)| Some((k.clone(), v.text()?.to_string()))).collect(),
            _ => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn bombs_are_refused() {
        assert!(read("a: &x [1]\nb: *x\n").unwrap_err().contains("alias"));
        assert!(read(&"- ".repeat(1000)).is_err());
        assert!(read("").is_err());
        assert_eq!(read("a: 1").unwrap().get("a").and_then(Node::text), Some("1"));
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[a:\\-\\[\\]{},&*'\"| \n]{0,60}") {
            let _ = read(&text);
        }
    }
}
