//! A citation of a figure read back: which stretch of time it is of.

use corr_metrics::model::SeriesId;
use corr_parsers::stamp::Stamp;

use super::asked::{Asked, Captured, title};
use crate::query::timespec::{self, Base};

impl Asked<'_> {
    /// The stretch of UTC that a citation names, from its first sample to its last; `None` if the text is no citation of a metric.
    ///
    /// Errors where nothing of what was read is cited so, or where the capture's clock is not tied to UTC.
    pub fn stamp_of_citation(&self, text: &str) -> Option<anyhow::Result<Stamp>> {
        let (cited, times) = text.rsplit_once("]@")?;
        let (from, to) = times.split_once("..")?;
        let Some(captured) = self.captures.iter().find(|captured| captured.is_cited(cited)) else {
            return Some(Err(anyhow::anyhow!("{text}: nothing that was read is cited so; take it as corr prints it")));
        };
        if captured.dial().to_utc().is_none() {
            return Some(Err(anyhow::anyhow!("{text}: the capture's clock counts from its own start, and where that lies is unknown")));
        }
        let instant = |text: &str| match timespec::parse(text).map(|time| time.base) {
            Ok(Base::Instant(ns)) => Ok(ns),
            _ => Err(anyhow::anyhow!("{text}: no time as a citation has it")),
        };
        Some(instant(from).and_then(|start| Ok(Stamp { start, end: instant(to)?.max(start) })))
    }
}

impl Captured<'_> {
    /// Something of this capture is cited by `path#name{labels}[target`; of a log lines stand behind the path.
    fn is_cited(&self, cited: &str) -> bool {
        let Some(rest) = cited.strip_prefix(self.name.as_str()) else { return false };
        let Some((lines, series)) = rest.split_once('#') else { return false };
        let lines_alone = lines.chars().all(|c| c.is_ascii_digit() || matches!(c, ':' | '.'));
        let target = |endpoint| self.capture().endpoint(endpoint).map(title).unwrap_or_default();
        let one = || {
            let ids = (0..self.capture().series.len()).filter_map(|i| u32::try_from(i).ok()).map(SeriesId);
            ids.into_iter().any(|id| {
                let endpoint = self.capture().get(id).map(|s| s.endpoint);
                endpoint.is_some_and(|endpoint| format!("{}[{}", self.capture().spelled(id), target(endpoint)) == series)
            })
        };
        let family = || {
            let members = self.catalogue.families.iter().flat_map(|g| g.members.iter().map(move |m| (g, m)));
            members.into_iter().any(|(group, member)| format!("{}{}[{}", group.name, member.labels, target(member.endpoint)) == series)
        };
        lines_alone && (one() || family())
    }
}
