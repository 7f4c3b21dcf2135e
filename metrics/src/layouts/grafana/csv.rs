//! Records of comma-separated values (RFC 4180): quoted fields may hold delimiters, line ends and doubled quotes.

use std::io::{self, BufReader, Read};

use super::super::text::LINE;

/// A record, or why there is none.
#[derive(Debug)]
pub(super) enum Record {
    /// Fields with the number of the line on which the record begins. `cut`: the text ends inside quotes.
    Fields {
        line: u64,
        fields: Vec<String>,
        cut: bool,
    },
    TooLong {
        line: u64,
    },
    Broken {
        line: u64,
        error: io::Error,
    },
}

/// Reads records one by one.
pub(super) struct Records<R> {
    input: io::Bytes<BufReader<R>>,
    delimiter: u8,
    line: u64,
    done: bool,
}

impl<R: Read> Records<R> {
    pub(super) fn new(input: R, delimiter: u8) -> Records<R> {
        Records { input: BufReader::with_capacity(1 << 17, input).bytes(), delimiter, line: 1, done: false }
    }
}

impl<R: Read> Iterator for Records<R> {
    type Item = Record;

    fn next(&mut self) -> Option<Record> {
        if self.done {
            return None;
        }
        let line = self.line;
        let mut fields = Vec::new();
        let mut field = Vec::new();
        let (mut quoted, mut closed, mut any, mut size) = (false, false, false, 0usize);
        loop {
            let byte = match self.input.next() {
                Some(Ok(byte)) => byte,
                Some(Err(error)) => {
                    self.done = true;
                    return Some(Record::Broken { line, error });
                }
                None => {
                    self.done = true;
                    if !any {
                        return None;
                    }
                    fields.push(text(&mut field));
                    return Some(Record::Fields { line, fields, cut: quoted });
                }
            };
            any = true;
            size += 1;
            self.line += u64::from(byte == b'\n');
            let over = size > LINE;
            if over {
                // Its fields are let go; the record ends at the next line end, quoted or not.
                fields.clear();
                field.clear();
                if byte == b'\n' {
                    return Some(Record::TooLong { line });
                }
                continue;
            }
            match byte {
                b'"' if quoted => (quoted, closed) = (false, true),
                // A quote after a closing one stands for itself.
                b'"' if closed => {
                    field.push(b'"');
                    (quoted, closed) = (true, false);
                }
                b'"' if field.is_empty() => quoted = true,
                _ if quoted => field.push(byte),
                b'\n' => {
                    if !closed && field.last() == Some(&b'\r') {
                        field.pop();
                    }
                    fields.push(text(&mut field));
                    return Some(Record::Fields { line, fields, cut: false });
                }
                b'\r' if closed => {}
                _ if byte == self.delimiter => {
                    fields.push(text(&mut field));
                    closed = false;
                }
                _ => field.push(byte),
            }
        }
    }
}

fn text(bytes: &mut Vec<u8>) -> String {
    let out = String::from_utf8_lossy(bytes).into_owned();
    bytes.clear();
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(text: &str, delimiter: u8) -> Vec<(u64, Vec<String>, bool)> {
        let of = |r| match r {
            Record::Fields { line, fields, cut } => (line, fields, cut),
            other => panic!("{other:?}"),
        };
        Records::new(text.as_bytes(), delimiter).map(of).collect()
    }

    #[test]
    fn quotes_hold_delimiters_line_ends_and_quotes() {
        let got = all("a,\"b \"\"c\"\", {x=\"\"1\"\"}\"\r\n\"1\n2\",\r\n,3", b',');
        let row = |line, fields: &[&str]| (line, fields.iter().map(|f| f.to_string()).collect(), false);
        assert_eq!(got, [row(1, &["a", r#"b "c", {x="1"}"#]), row(2, &["1\n2", ""]), row(4, &["", "3"])]);
        assert_eq!(all("a;b,c", b';'), [row(1, &["a", "b,c"])]);
        assert_eq!(all("a,\"b", b','), [(1, vec!["a".to_string(), "b".into()], true)]);
    }

    proptest! {
        #[test]
        fn fields_come_back(rows in prop::collection::vec(prop::collection::vec("[a\",\r\nµ;]{0,6}", 1..4), 0..5)) {
            let quote = |f: &String| format!("\"{}\"", f.replace('"', "\"\""));
            let text: String = rows.iter().map(|r| r.iter().map(quote).collect::<Vec<_>>().join(",") + "\r\n").collect();
            let got: Vec<Vec<String>> = all(&text, b',').into_iter().map(|(_, fields, _)| fields).collect();
            prop_assert_eq!(got, rows);
        }
    }
}
