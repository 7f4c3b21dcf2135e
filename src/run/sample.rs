//! The first records of a source: enough to see whose it is and what its stamps mean, in milliseconds.

use std::ops::ControlFlow;

use corr_parsers::clock::Clock;
use corr_parsers::detect;
use corr_parsers::event::Event;
use corr_parsers::record::Record;

use super::source::{Class, Source};
use super::timing::Timing;
use super::{bytes, events};

/// The head of a source, cut at a line's end.
#[derive(Debug, Default)]
pub struct Sample {
    pub bytes: Vec<u8>,
    /// The sample is the whole source.
    pub whole: bool,
}

impl Sample {
    /// Reads a source's head; empty for sources that hold no events and for those that cannot be read (that is reported when they are read whole).
    pub fn read(source: &Source) -> Sample {
        if source.class != Class::Events {
            return Sample::default();
        }
        let Ok((mut bytes, whole)) = bytes::head(&source.path, detect::SAMPLE) else { return Sample::default() };
        if !whole && let Some(end) = memchr::memrchr(b'\n', &bytes) {
            bytes.truncate(end + 1);
        }
        Sample { bytes, whole }
    }

    /// Calls `each` for every record, without regard to the clock.
    pub fn each(&self, source: &Source, mut each: impl FnMut(&Record<'_>, &Event<'_>) -> ControlFlow<()>) {
        let timing = Timing::plain(Clock::assumed());
        let start = events::Start { offset: 0, line: 0, order: None };
        events::each(&self.bytes, &source.detection.layout, &timing, start, self.bytes.len(), |record, event, _| each(record, event));
    }
}
