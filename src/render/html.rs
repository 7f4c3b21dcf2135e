//! HTML that text from the input cannot become part of.
//!
//! Markup is made of names that stand in this program's source; everything else goes through [`Html::text`] or an attribute's value, both of which escape. A log
//! line is written by whoever could reach the server: it must not add an element, an attribute, a link or a script to a page.

use std::fmt::Write;

use serde_json::Value as Json;

use super::safe;

/// A piece of a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Html(String);

/// Attributes of an element: names are the program's own, values may be anything.
pub type Attributes<'a> = &'a [(&'static str, &'a str)];

impl Html {
    pub fn new() -> Html {
        Html::default()
    }

    /// Markup that stands in the source.
    pub fn raw(&mut self, markup: &'static str) -> &mut Html {
        self.0.push_str(markup);
        self
    }

    /// Text of any origin: escaped for a reader first (controls and bidirectional marks as `\x1b`, `\u{202e}`), then for HTML.
    pub fn text(&mut self, text: &str) -> &mut Html {
        push_escaped(&safe::terminal(text), &mut self.0);
        self
    }

    /// Bytes of a record, its lines apart: what is no text is shown as `\xff`.
    pub fn lines(&mut self, bytes: &[u8]) -> &mut Html {
        for (i, line) in safe::terminal_lines(bytes).iter().enumerate() {
            if i > 0 {
                self.0.push('\n');
            }
            push_escaped(line, &mut self.0);
        }
        self
    }

    /// Texts, each on a line of its own.
    pub fn text_lines(&mut self, lines: &[String]) -> &mut Html {
        for (i, line) in lines.iter().enumerate() {
            if i > 0 {
                self.0.push('\n');
            }
            self.text(line);
        }
        self
    }

    /// What another piece says.
    pub fn push(&mut self, other: &Html) -> &mut Html {
        self.0.push_str(&other.0);
        self
    }

    /// An element with what `inside` puts into it.
    pub fn element(&mut self, name: &'static str, attributes: Attributes<'_>, inside: impl FnOnce(&mut Html)) -> &mut Html {
        self.open(name, attributes);
        self.0.push('>');
        inside(self);
        let _ = write!(self.0, "</{name}>");
        self
    }

    /// An element that holds only text.
    pub fn with_text(&mut self, name: &'static str, attributes: Attributes<'_>, text: &str) -> &mut Html {
        self.element(name, attributes, |html| {
            html.text(text);
        })
    }

    /// An element that has no end tag in HTML, or that is empty in SVG.
    pub fn empty(&mut self, name: &'static str, attributes: Attributes<'_>) -> &mut Html {
        self.open(name, attributes);
        self.0.push_str("/>");
        self
    }

    fn open(&mut self, name: &'static str, attributes: Attributes<'_>) {
        let _ = write!(self.0, "<{name}");
        for (attribute, value) in attributes {
            let _ = write!(self.0, " {attribute}=\"");
            push_escaped(&safe::terminal(value), &mut self.0);
            self.0.push('"');
        }
    }

    /// Data for a script, in an element that no text in it can end.
    pub fn json(&mut self, id: &'static str, value: &Json) -> &mut Html {
        let mut bytes = Vec::new();
        // Writing to memory cannot fail.
        let _ = safe::write_json(&mut bytes, value, false);
        let _ = write!(self.0, "<script type=\"application/json\" id=\"{id}\">");
        for c in String::from_utf8_lossy(&bytes).chars() {
            match c {
                // Outside its strings JSON has none of these.
                '<' => self.0.push_str("\\u003c"),
                '>' => self.0.push_str("\\u003e"),
                '&' => self.0.push_str("\\u0026"),
                c => self.0.push(c),
            }
        }
        self.0.push_str("</script>");
        self
    }

    /// A picture of the plotting library, which was given numbers and this program's own words alone.
    pub(super) fn drawn(&mut self, svg: &str) -> &mut Html {
        self.0.push_str(svg);
        self
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Bytes so far.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn into_string(self) -> String {
        self.0
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn push_escaped(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_no_markup() {
        let mut html = Html::new();
        html.element("td", &[("title", "a\"b'><x>\u{202e}")], |html| {
            html.text("</td><script>alert(1)</script>\x1b[2J & more");
        });
        let text = html.into_string();
        assert_eq!(
            text,
            "<td title=\"a&quot;b&#39;&gt;&lt;x&gt;\\u{202e}\">&lt;/td&gt;&lt;script&gt;alert(1)&lt;/script&gt;\\x1b[2J &amp; more</td>"
        );
    }

    #[test]
    fn data_cannot_end_its_element() {
        let value = serde_json::json!({"a</script><!--": "</script><script>\u{2028}&"});
        let mut html = Html::new();
        html.json("data", &value);
        let text = html.into_string();
        let inside = text.strip_prefix("<script type=\"application/json\" id=\"data\">").and_then(|t| t.strip_suffix("</script>"));
        let inside = inside.expect("one element");
        assert!(!inside.contains(['<', '>', '&', '\u{2028}']), "{inside}");
        assert_eq!(serde_json::from_str::<Json>(inside).expect("JSON"), value);
    }

    #[test]
    fn lines_of_a_record_stay_lines() {
        let mut html = Html::new();
        html.lines(b"one <b>\n\ttwo\r\n\xff");
        assert_eq!(html.as_str(), "one &lt;b&gt;\n\ttwo\\r\n\\xff");
    }
}
