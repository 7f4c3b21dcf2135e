//! The scalars of a configuration file, each with its key path and the line where it stands: JSON, TOML and the block form of YAML.

use corr_parsers::event::Value;
use corr_parsers::{json, keyvalue};
use toml::de::{DeTable, DeValue};

/// One scalar of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Leaf {
    /// Keys from the top, joined by dots, with `[i]` for items: `worker_processes[0].command`.
    pub path: String,
    pub value: Value<'static>,
    /// 1-based; 0 if it is not known.
    pub line: u64,
}

/// What a file holds.
#[derive(Debug, Default)]
pub struct Leaves {
    pub all: Vec<Leaf>,
    /// The file breaks off or holds what this reader does not understand; what stands before it is in `all`.
    pub damage: Option<String>,
}

/// Nesting beyond this is not followed.
const MAX_DEPTH: usize = 32;
/// Scalars beyond this are not read: a configuration is small.
const MAX_LEAVES: usize = 50_000;

impl Leaves {
    /// The value at a path.
    pub fn get(&self, path: &str) -> Option<&Leaf> {
        self.all.iter().find(|l| l.path == path)
    }

    /// Is there anything at or below this top-level key?
    pub fn has(&self, key: &str) -> bool {
        self.all.iter().any(|l| l.path.split(['.', '[']).next() == Some(key))
    }

    fn push(&mut self, path: String, value: Value<'static>, line: u64) {
        if self.all.len() < MAX_LEAVES {
            self.all.push(Leaf { path, value, line });
        } else {
            self.damage.get_or_insert_with(|| format!("more than {MAX_LEAVES} values; the rest is not read"));
        }
    }
}

fn joined(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_string() } else { format!("{path}.{key}") }
}

/// Line numbers of byte offsets.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Lines {
        Lines(memchr::memchr_iter(b'\n', text.as_bytes()).collect())
    }

    fn at(&self, offset: usize) -> u64 {
        self.0.partition_point(|end| *end < offset) as u64 + 1
    }
}

/// Reads JSON; what stands before damage is kept.
pub fn of_json(text: &str) -> Leaves {
    let mut out = Leaves::default();
    let lines = Lines::of(text);
    json_value(text.as_bytes(), 0, String::new(), 0, &lines, &mut out);
    out
}

fn json_value(bytes: &[u8], at: usize, path: String, depth: usize, lines: &Lines, out: &mut Leaves) {
    let array = match bytes.iter().find(|b| !b.is_ascii_whitespace()) {
        Some(b'{') => false,
        Some(b'[') => true,
        Some(_) => {
            if let Some(value) = json::value(bytes) {
                out.push(path, value.into_owned(), lines.at(at));
            }
            return;
        }
        None => return,
    };
    if depth >= MAX_DEPTH || out.all.len() >= MAX_LEAVES {
        out.damage.get_or_insert_with(|| format!("nested deeper than {MAX_DEPTH}, or too large; the rest is not read"));
        return;
    }
    let mut walk = if array { json::items(bytes) } else { json::members(bytes) };
    for (n, member) in walk.by_ref().enumerate() {
        let path = if array { format!("{path}[{n}]") } else { joined(&path, &String::from_utf8_lossy(member.key)) };
        json_value(member.value, at + member.at, path, depth + 1, lines, out);
    }
    if !matches!(walk.end(), json::End::Closed(_)) {
        out.damage.get_or_insert_with(|| "JSON that breaks off or is damaged; what stands before is read".into());
    }
}

/// Reads TOML.
pub fn of_toml(text: &str) -> Leaves {
    let mut out = Leaves::default();
    let lines = Lines::of(text);
    match DeTable::parse(text) {
        Ok(table) => toml_table(table.get_ref(), "", 0, &lines, &mut out),
        Err(error) => out.damage = Some(format!("no TOML: {}", error.message())),
    }
    // The table is sorted by key.
    out.all.sort_by_key(|leaf| leaf.line);
    out
}

fn toml_table(table: &DeTable<'_>, path: &str, depth: usize, lines: &Lines, out: &mut Leaves) {
    for (key, value) in table {
        toml_value(value.get_ref(), value.span().start, joined(path, key.get_ref()), depth + 1, lines, out);
    }
}

fn toml_value(value: &DeValue<'_>, at: usize, path: String, depth: usize, lines: &Lines, out: &mut Leaves) {
    if depth >= MAX_DEPTH {
        return;
    }
    let scalar = match value {
        DeValue::String(text) => Value::Str(text.to_string().into()),
        DeValue::Boolean(value) => Value::Bool(*value),
        DeValue::Integer(n) if n.radix() == 10 => typed(n.as_str()),
        DeValue::Integer(n) => {
            i64::from_str_radix(n.as_str(), n.radix()).map_or_else(|_| Value::Str(n.as_str().to_string().into()), Value::Int)
        }
        DeValue::Float(n) => typed(n.as_str()),
        DeValue::Datetime(at) => Value::Str(at.to_string().into()),
        DeValue::Array(items) => {
            for (i, item) in items.iter().enumerate() {
                toml_value(item.get_ref(), item.span().start, format!("{path}[{i}]"), depth + 1, lines, out);
            }
            return;
        }
        DeValue::Table(table) => return toml_table(table, &path, depth, lines, out),
    };
    out.push(path, scalar, lines.at(at));
}

/// A node of YAML that is open at a line.
struct Open {
    indent: usize,
    path: String,
    item: bool,
    next: usize,
}

/// Reads the block form of YAML that configurations are written in: mappings, sequences, scalars, block texts. A flow value stays text; a value
/// of another sort (anchor, tag, text over several lines in quotes) is left out rather than guessed.
pub fn of_yaml(text: &str) -> Leaves {
    let mut out = Leaves::default();
    let mut open: Vec<Open> = Vec::new();
    // A block text, or a value that is left out: all that is indented deeper than this.
    let mut block: Option<(usize, Option<usize>)> = None;
    for (n, raw) in text.lines().enumerate() {
        let line = n as u64 + 1;
        let indent = raw.bytes().take_while(|b| *b == b' ').count();
        let rest = raw.get(indent..).unwrap_or("");
        if let Some((least, leaf)) = block {
            if rest.is_empty() || indent > least {
                if let Some(leaf) = leaf {
                    grow(&mut out, leaf, rest);
                }
                continue;
            }
            block = None;
        }
        let body = uncommented(rest);
        if body.is_empty() || (indent == 0 && (body.starts_with("---") || body.starts_with('%'))) {
            continue;
        }
        block = yaml_line(body, indent, line, &mut open, &mut out);
    }
    out
}

/// One line; gives the block that it opens.
fn yaml_line(mut body: &str, mut indent: usize, line: u64, open: &mut Vec<Open>, out: &mut Leaves) -> Option<(usize, Option<usize>)> {
    loop {
        let item = body == "-" || body.starts_with("- ");
        while open.last().is_some_and(|o| o.indent > indent || (o.indent == indent && (o.item || !item))) {
            open.pop();
        }
        if open.len() >= MAX_DEPTH {
            return Some((indent, None));
        }
        let parent = open.last().map_or(String::new(), |o| o.path.clone());
        if item {
            let number = open.last_mut().map_or(0, |o| {
                o.next += 1;
                o.next - 1
            });
            let path = format!("{parent}[{number}]");
            open.push(Open { indent, path, item: true, next: 0 });
            let rest = body.get(1..).unwrap_or("");
            let inner = rest.trim_start();
            if inner.is_empty() {
                return None;
            }
            indent += 1 + (rest.len() - inner.len());
            body = inner;
            continue;
        }
        let Some((key, value)) = key_of(body) else {
            // The rest of a plain text, or an item that is a scalar.
            return scalar(body, parent, indent, line, out);
        };
        let path = joined(&parent, key);
        open.push(Open { indent, path: path.clone(), item: false, next: 0 });
        return scalar(value, path, indent, line, out);
    }
}

fn scalar(text: &str, path: String, indent: usize, line: u64, out: &mut Leaves) -> Option<(usize, Option<usize>)> {
    let first = text.bytes().next()?;
    match first {
        b'|' | b'>' => {
            out.push(path, Value::Str("".into()), line + 1);
            return Some((indent, out.all.len().checked_sub(1)));
        }
        b'&' | b'*' | b'!' => return Some((indent, None)),
        b'"' | b'\'' => {
            let closed = text.len() > 1 && text.as_bytes().last() == Some(&first);
            if !closed {
                return Some((indent, None));
            }
            let inner = text.get(1..text.len() - 1).unwrap_or("");
            let plain = if first == b'\'' { Some(inner.replace("''", "'")) } else { json::text(text.as_bytes()).map(|t| t.into_owned()) };
            out.push(path, Value::Str(plain.unwrap_or_else(|| inner.to_string()).into()), line);
        }
        _ if matches!(text, "null" | "~" | "{}" | "[]") => {}
        _ => out.push(path, typed(text), line),
    }
    None
}

/// Adds a line to a block text.
fn grow(out: &mut Leaves, leaf: usize, line: &str) {
    if let Some(Leaf { value: Value::Str(text), .. }) = out.all.get_mut(leaf) {
        let text = text.to_mut();
        if !text.is_empty() && !line.is_empty() {
            text.push('\n');
        }
        text.push_str(line);
    }
}

/// `key: value`, `"key": value`, `key:`.
fn key_of(body: &str) -> Option<(&str, &str)> {
    let quote = body.bytes().next().filter(|b| matches!(b, b'"' | b'\''));
    if let Some(quote) = quote {
        let end = body.get(1..)?.find(char::from(quote))? + 1;
        let rest = body.get(end + 1..)?.strip_prefix(':')?;
        return Some((body.get(1..end)?, rest.trim()));
    }
    let at = body.find(": ").or_else(|| body.ends_with(':').then(|| body.len() - 1))?;
    let key = body.get(..at)?;
    if key.starts_with(['{', '[']) {
        return None;
    }
    Some((key.trim_end(), body.get(at + 1..)?.trim()))
}

/// A line without its comment, which begins at a `#` that stands first or behind a blank and in no quotes.
fn uncommented(line: &str) -> &str {
    let mut quote = None;
    let mut before = b' ';
    for (at, b) in line.bytes().enumerate() {
        match quote {
            Some(q) if b == q => quote = None,
            Some(_) => {}
            // An apostrophe inside a word opens nothing.
            None if matches!(b, b'"' | b'\'') && matches!(before, b' ' | b':' | b'[' | b'{' | b',') => quote = Some(b),
            None if b == b'#' && before == b' ' => return line.get(..at).unwrap_or("").trim_end(),
            None => {}
        }
        before = b;
    }
    line.trim_end()
}

/// A scalar by its looks: a switch, a number, else text without its quotes.
pub fn typed(text: &str) -> Value<'static> {
    match text {
        "true" | "True" => Value::Bool(true),
        "false" | "False" => Value::Bool(false),
        _ => keyvalue::number(text).unwrap_or_else(|| Value::Str(text.to_string().into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(leaves: &Leaves) -> Vec<String> {
        leaves.all.iter().map(|l| format!("{}:{}={}", l.line, l.path, l.value)).collect()
    }

    #[test]
    fn json_scalars_have_paths_and_lines() {
        let leaves = of_json("{\n \"a\": 1,\n \"b\": [true, {\"c\": \"x\\ny\"}],\n \"d\": null}");
        assert_eq!(shown(&leaves), ["2:a=1", "3:b[0]=true", "3:b[1].c=x\ny"]);
        assert!(leaves.damage.is_none());
        let cut = of_json("{\"a\": 1, \"b\": {\"c\": 2");
        assert_eq!(shown(&cut)[0], "1:a=1");
        assert!(cut.damage.is_some());
    }

    #[test]
    fn toml_scalars_have_paths_and_lines() {
        let leaves = of_toml("a = 1\n[[e]]\nname = \"r\"\nf = 2.5\n[[e]]\nname = \"w\"\n");
        assert_eq!(shown(&leaves), ["1:a=1", "3:e[0].name=r", "4:e[0].f=2.5", "6:e[1].name=w"]);
        assert!(of_toml("a = [").damage.is_some());
    }

    #[test]
    fn yaml_blocks_are_read_and_what_is_not_understood_is_left_out() {
        let text = "# c\nname: run # behind\nmodel:\n  path: /m#1\n  \"q\": 'it''s'\nlist:\n- a: 1\n  b: two\n- c\ndeep:\n    x:\n      - 5\nref: *x\ncmd: |\n  one\n   two\nend: false\nempty: null\nlong: 'a\n  b'\nlast: 7\n";
        assert_eq!(
            shown(&of_yaml(text)),
            [
                "2:name=run",
                "4:model.path=/m#1",
                "5:model.q=it's",
                "7:list[0].a=1",
                "8:list[0].b=two",
                "9:list[1]=c",
                "12:deep.x[0]=5",
                "15:cmd=one\ntwo",
                "17:end=false",
                "21:last=7"
            ]
        );
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read(text in "[-a-z:#'\"|{}\\[\\] \n0-9=.,*]{0,120}", other in ".{0,80}") {
            for text in [&text, &other] {
                let lines = text.lines().count() as u64 + 1;
                for leaves in [of_json(text), of_toml(text), of_yaml(text)] {
                    proptest::prop_assert!(leaves.all.iter().all(|l| l.line <= lines));
                }
            }
        }
    }
}
