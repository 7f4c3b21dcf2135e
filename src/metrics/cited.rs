//! A citation of a figure read back: which stretch of time it is of.

use corr_metrics::catalogue::{Group, Member};
use corr_metrics::model::{Sample, SeriesId};
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

impl<'r> Asked<'r> {
    /// The samples that a citation names, of each series that it means; `None` where nothing that was read is cited so.
    pub fn cited(&self, text: &str) -> Option<Vec<(&Captured<'r>, SeriesId, Vec<Sample>)>> {
        let (cited, times) = text.rsplit_once("]@")?;
        let (from, to) = times.split_once("..")?;
        let captured = self.captures.iter().find(|captured| captured.is_cited(cited))?;
        let dial = captured.dial();
        let mut all: Vec<(SeriesId, Vec<Sample>)> = Vec::new();
        for id in captured.of_citation(cited) {
            all.push((id, captured.capture().samples.between(id.0, i64::MIN, i64::MAX)));
        }
        let at = |wanted: &str| all.iter().flat_map(|(_, samples)| samples).map(|s| s.at).find(|at| dial.show(*at) == wanted);
        let (from, to) = (at(from)?, at(to)?);
        let mut found = Vec::new();
        for (id, mut samples) in all {
            samples.retain(|s| s.at >= from && s.at <= to);
            if !samples.is_empty() {
                found.push((captured, id, samples));
            }
        }
        Some(found)
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
            members.into_iter().any(|(group, member)| is_of(group, member, series, &target(member.endpoint)))
        };
        lines_alone && (one() || family())
    }

    /// The series that are cited by `path#name{labels}[target`: one, those of one member of a family, or a whole family of an endpoint.
    fn of_citation(&self, cited: &str) -> Vec<SeriesId> {
        let Some((_, series)) = cited.strip_prefix(self.name.as_str()).and_then(|rest| rest.split_once('#')) else { return Vec::new() };
        let target = |endpoint| self.capture().endpoint(endpoint).map(title).unwrap_or_default();
        let all = (0..self.capture().series.len()).filter_map(|i| u32::try_from(i).ok()).map(SeriesId);
        let one = |id: &SeriesId| {
            let endpoint = self.capture().get(*id).map(|s| s.endpoint);
            endpoint.is_some_and(|endpoint| format!("{}[{}", self.capture().spelled(*id), target(endpoint)) == series)
        };
        let found: Vec<SeriesId> = all.filter(one).collect();
        if !found.is_empty() {
            return found;
        }
        let members = self.catalogue.families.iter().flat_map(|g| g.members.iter().map(move |m| (g, m)));
        let of = members.filter(|(group, member)| is_of(group, member, series, &target(member.endpoint)));
        of.flat_map(|(_, member)| member.parts.series()).collect()
    }
}

/// A member of a family, or the family of its endpoint, is spelled so.
fn is_of(group: &Group, member: &Member, series: &str, target: &str) -> bool {
    let labels = member.labels.to_string();
    [labels.as_str(), ""].iter().any(|labels| format!("{}{labels}[{target}", group.name) == series)
}
