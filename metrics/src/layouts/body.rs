//! From the body of one scrape to samples: what all layouts share that keep expositions as they were served.

use std::collections::HashMap;
use std::io::Read;
use std::path::Path;

use crate::build::Builder;
use crate::exposition::{Bad, Event, Format, Mark, Point, Reader};
use crate::model::{EndpointId, Exemplar, Labels, Outcome, Precision, SeriesId};

/// Takes bodies, one after another. Series are remembered by the text of their lines.
#[derive(Debug, Default)]
pub(super) struct Bodies {
    known: HashMap<EndpointId, HashMap<Box<str>, Known>>,
    scrapes: u64,
    /// Samples with a stamp of their own, and without.
    own: u64,
    others: u64,
}

/// What is remembered of a series.
#[derive(Debug)]
struct Known {
    id: SeriesId,
    /// The last scrape that had it.
    scrape: u64,
    /// Its last sample: time, and the bits of its value.
    last: (i64, u64),
    exemplar: Option<Box<Exemplar>>,
}

/// One scrape that brought a body.
#[derive(Clone, Copy)]
pub(super) struct Scraped<'a> {
    pub endpoint: EndpointId,
    pub at: i64,
    pub took: Option<i64>,
    pub format: Format,
    pub body: &'a [u8],
    pub file: &'a Path,
    /// The line of the file that holds the body; `None` where the body is the file.
    pub line: Option<u64>,
    /// Times are wall time, so that a sample's own stamp can stand beside them.
    pub wall: bool,
}

impl Scraped<'_> {
    fn place(&self, line: u64) -> String {
        format!("{}:{}", self.file.display(), self.line.unwrap_or(line))
    }

    /// How a line of the body is called in a note.
    fn within(&self, line: u64) -> String {
        if self.line.is_some() { format!(" (line {line} of the body)") } else { String::new() }
    }
}

/// A scrape whose body is a file of its own.
#[derive(Clone, Copy)]
pub(super) struct Kept<'a> {
    pub endpoint: EndpointId,
    pub at: i64,
    pub took: Option<i64>,
    /// `None`: as the body looks.
    pub format: Option<Format>,
    pub file: &'a Path,
}

/// More is not read of one body: two million samples of many labels take less.
const LARGEST: u64 = 1 << 29;

impl Bodies {
    /// Keeps the samples of a file. What can be read of a damaged file is kept; a file that cannot be read is a failed scrape.
    pub(super) fn take_file(&mut self, builder: &mut Builder, kept: Kept<'_>) {
        let mut body = Vec::new();
        let read = super::open(kept.file).and_then(|from| from.take(LARGEST).read_to_end(&mut body));
        let place = || Some(kept.file.display().to_string());
        let whole = read.is_ok() && (body.len() as u64) < LARGEST;
        if let Err(e) = read {
            builder.note("cut_short", || format!("reading ended in the middle ({e}): whole lines before it are kept"), place);
            if body.is_empty() {
                return builder.scrape(kept.endpoint, kept.at, kept.took, Outcome::Failed(format!("its file cannot be read: {e}")));
            }
        } else if !whole {
            builder.note("body_too_large", || format!("of a body only the first {LARGEST} bytes are read"), place);
        }
        if !whole {
            // a value that was cut is another value
            body.truncate(memchr::memrchr(b'\n', &body).map_or(0, |end| end + 1));
        }
        builder.file(kept.file);
        let Kept { endpoint, at, took, file, .. } = kept;
        let format = kept.format.unwrap_or_else(|| Format::of_body(&body));
        self.take(builder, Scraped { endpoint, at, took, format, body: &body, file, line: None, wall: true });
    }

    /// Every sample that was taken had a stamp of its own.
    pub(super) fn all_stamped(&self) -> bool {
        self.own > 0 && self.others == 0
    }

    /// Keeps the samples of a body, and the scrape with what came of it. A body without samples is a failed scrape: what was served there
    /// was no exposition, or none yet.
    pub(super) fn take(&mut self, builder: &mut Builder, scraped: Scraped<'_>) {
        self.scrapes += 1;
        let mut reader = Reader::new(scraped.body, scraped.format);
        let mut known = self.known.remove(&scraped.endpoint).unwrap_or_default();
        let mut first_bad = None;
        while let Some(event) = reader.next() {
            match event {
                Event::Point(point) => self.point(builder, scraped, &mut known, &point),
                Event::Type { family, kind } => {
                    let old = builder.family(&family).kind.replace(kind);
                    if let Some(old) = old.filter(|old| *old != kind) {
                        builder.note(
                            "type_conflict",
                            || format!("{family} is declared a {} and a {}: the later one is kept", old.word(), kind.word()),
                            || Some(scraped.place(reader.lines().all())),
                        );
                    }
                }
                Event::Help { family, text } => {
                    let family = builder.family(&family);
                    if family.help.as_deref() != Some(&*text) {
                        family.help = Some(text.into_owned());
                    }
                }
                Event::Unit { family, unit } => builder.family(&family).unit = Some(unit.to_string()),
                Event::Bad(bad) => {
                    first_bad.get_or_insert(bad);
                    note(builder, scraped, bad);
                }
            }
        }
        self.known.insert(scraped.endpoint, known);
        let lines = reader.lines();
        let cut = match scraped.format {
            Format::OpenMetrics => !reader.ended(),
            Format::Text => !scraped.body.is_empty() && !scraped.body.ends_with(b"\n") && !reader.ended(),
        };
        let outcome = match first_bad {
            _ if lines.samples > 0 => Outcome::Read,
            Some(bad) => Outcome::Failed(format!("no sample in the body, line {}: {}", bad.line, bad.why)),
            None if lines.comments > 0 => Outcome::Read,
            None => Outcome::Failed("empty body".into()),
        };
        if cut && lines.samples > 0 {
            let what = match scraped.format {
                Format::OpenMetrics => "a body without `# EOF` was cut short: series may be missing, and its last value may lack digits",
                Format::Text => "a body without a last line end may be cut: its last value may lack digits",
            };
            builder.note("body_cut", || what.into(), || Some(scraped.place(lines.all())));
        }
        builder.scrape(scraped.endpoint, scraped.at, scraped.took, outcome);
    }

    fn point(&mut self, builder: &mut Builder, scraped: Scraped<'_>, known: &mut HashMap<Box<str>, Known>, point: &Point<'_>) {
        let text = point.series.text();
        if !known.contains_key(text) {
            let pairs: Vec<_> = point.series.labels().iter().collect();
            let labels = Labels::new(pairs.iter().map(|(name, value)| (&**name, &**value)));
            let id = builder.series(scraped.endpoint, &point.series.name(), &labels, Precision::F64);
            known.insert(text.into(), Known { id, scrape: 0, last: (0, 0), exemplar: None });
        }
        let Some(known) = known.get_mut(text) else { return };
        match point.at {
            Some(_) => self.own += 1,
            None => self.others += 1,
        }
        let at = match point.at {
            Some(own) if scraped.wall => {
                let what = "samples with a stamp of their own keep it; the others have the scrape's";
                builder.note("own_stamps", || what.into(), || Some(scraped.place(point.line)));
                own
            }
            Some(_) => {
                let what = "samples have a stamp of their own, which cannot stand on a clock that counts from the capture's start: the scrape's is kept";
                builder.note("own_stamps_unused", || what.into(), || Some(scraped.place(point.line)));
                scraped.at
            }
            None => scraped.at,
        };
        let sample = (at, point.value.to_bits());
        let again = known.scrape == self.scrapes && known.last.0 == at;
        if again {
            builder.note(
                "series_twice",
                || format!("a series stands twice in one scrape{}; both samples are kept", scraped.within(point.line)),
                || Some(scraped.place(point.line)),
            );
        }
        // a sample with its own stamp is served until there is a newer one
        if again || point.at.is_none() || known.scrape == 0 || known.last != sample {
            builder.push(known.id, at, point.value);
        }
        known.scrape = self.scrapes;
        known.last = sample;
        if let Some(mark) = &point.exemplar {
            let exemplar = exemplar(known.id, scraped.at, mark);
            // the same exemplar is served until there is a newer one
            let old = known.exemplar.as_ref();
            if old.is_none_or(|o| (o.at, o.value.to_bits(), &o.labels) != (exemplar.at, exemplar.value.to_bits(), &exemplar.labels)) {
                known.exemplar = Some(Box::new(exemplar.clone()));
                builder.exemplar(exemplar);
            }
        }
    }
}

fn exemplar(series: SeriesId, scraped: i64, mark: &Mark<'_>) -> Exemplar {
    let pairs: Vec<_> = mark.labels.iter().collect();
    let labels = Labels::new(pairs.iter().map(|(name, value)| (&**name, &**value)));
    Exemplar { series, scraped, at: mark.at, labels, value: mark.value }
}

fn note(builder: &mut Builder, scraped: Scraped<'_>, bad: Bad) {
    builder.note(
        bad.why.code(),
        || format!("a line that is not understood, {}{}; the others are kept", bad.why, scraped.within(bad.line)),
        || Some(scraped.place(bad.line)),
    );
}
