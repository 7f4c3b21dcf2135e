//! What a body exposes: whether it is metrics at all, and its series by family.

use std::collections::BTreeMap;

use corr_metrics::build::Builder;
use corr_metrics::catalogue::Catalogue;
use corr_metrics::exposition::{Bad, Event, Format, Reader};
use corr_metrics::model::{Capture, Clock, Labels, Precision, StampOf};

use crate::failure::Failure;

/// A body that is metrics, read.
#[derive(Debug)]
pub struct Exposed {
    /// One endpoint, one sample a series.
    pub capture: Capture,
    pub catalogue: Catalogue,
    /// Lines that are no sample, and the first of them.
    pub bad: u64,
    pub first_bad: Option<Bad>,
    /// OpenMetrics whose `# EOF` did not come.
    pub cut: bool,
}

/// The format that a server declares, or that its body looks like.
fn format_of(content_type: Option<&str>, body: &[u8]) -> Format {
    content_type.and_then(Format::of_content_type).unwrap_or_else(|| Format::of_body(body))
}

/// Whether a body is an exposition. One with lines that are no samples is, as long as there are samples.
pub fn judge(content_type: Option<&str>, body: &[u8]) -> Result<(), Failure> {
    if let Err(e) = std::str::from_utf8(body) {
        let declared = content_type.is_none_or(|c| Format::of_content_type(c).is_some());
        let at = e.valid_up_to() as u64;
        return Err(if declared { Failure::NotUtf8 { at } } else { not_metrics(content_type, body, "it is not text") });
    }
    let mut reader = Reader::new(body, format_of(content_type, body));
    let mut bad = None;
    for event in reader.by_ref() {
        match event {
            // One is enough.
            Event::Point(_) => return Ok(()),
            Event::Bad(fault) => {
                bad.get_or_insert(fault);
            }
            _ => {}
        }
    }
    match bad {
        Some(bad) => Err(not_metrics(content_type, body, &format!("no line is a sample (line {}: {})", bad.line, bad.why))),
        None if reader.lines().comments == 0 => Err(not_metrics(content_type, body, "it is empty")),
        None => Ok(()),
    }
}

fn not_metrics(content_type: Option<&str>, body: &[u8], why: &str) -> Failure {
    let declared = content_type.map_or_else(String::new, |c| format!(" of {c}"));
    Failure::NotMetrics(format!("{} bytes{declared}: {why}", body.len()))
}

/// Reads a body that was judged to be metrics.
pub fn read(content_type: Option<&str>, body: &[u8], at: i64) -> Exposed {
    let format = format_of(content_type, body);
    let mut reader = Reader::new(body, format);
    let mut builder = Builder::new("live", Clock::Wall, StampOf::Request);
    let endpoint = builder.endpoint("");
    let mut first_bad = None;
    for event in reader.by_ref() {
        match event {
            Event::Point(point) => {
                let pairs: Vec<_> = point.series.labels().iter().collect();
                let labels = Labels::new(pairs.iter().map(|(name, value)| (&**name, &**value)));
                let series = builder.series(endpoint, &point.series.name(), &labels, Precision::F64);
                builder.push(series, at, point.value);
            }
            Event::Type { family, kind } => builder.family(&family).kind = Some(kind),
            Event::Bad(bad) => {
                first_bad.get_or_insert(bad);
            }
            Event::Help { .. } | Event::Unit { .. } => {}
        }
    }
    let capture = builder.finish();
    let catalogue = Catalogue::new(&capture, &BTreeMap::new());
    let cut = format == Format::OpenMetrics && !reader.ended();
    Exposed { capture, catalogue, bad: reader.lines().bad, first_bad, cut }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why(content_type: &str, body: &[u8]) -> String {
        judge(Some(content_type), body).unwrap_err().to_string()
    }

    #[test]
    fn a_body_is_metrics_if_a_line_is_a_sample() {
        assert_eq!(judge(Some("text/plain"), b"garbage!\nup 1\n"), Ok(()));
        assert_eq!(judge(None, b"name {a=\"b\"} 1"), Ok(()));
        assert_eq!(judge(Some("text/plain"), b"# TYPE sglang:x counter\n"), Ok(()), "families without series yet");
    }

    #[test]
    fn what_is_none_says_why() {
        assert_eq!(why("text/plain", b""), "not metrics: 0 bytes of text/plain: it is empty");
        let html = why("text/html", b"<html>\n<body>hello</body>\n");
        assert!(html.starts_with("not metrics: 26 bytes of text/html: no line is a sample (line 1: "), "{html}");
        assert_eq!(why("text/plain", b"up 1\n\xff\n"), "not UTF-8 from byte 5");
        assert_eq!(
            why("application/vnd.google.protobuf", b"\x81\xff"),
            "not metrics: 2 bytes of application/vnd.google.protobuf: it is not text"
        );
    }
}
