//! Sources of events in shards, for evidence: what is said of each as a whole stands in `shard.json`; the records that say more travel, and are taken into
//! ledgers as those of a run are.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;

use anyhow::{Context as _, bail};
use corr_evidence::builtin;
use corr_evidence::compiled::Edges;
use corr_evidence::definition::Table;
use corr_evidence::ledger::{Cite, SourceLedger};
use corr_parsers::event::Level;
use corr_sql::Engine;
use serde::{Deserialize, Serialize};

use crate::evidence::Evidence;
use crate::query::phases::Named;
use crate::query::sources::{Asked, Sources};
use crate::readiness::windows;
use crate::run::declared::{Declared, Window};
use crate::run::source::Owner;
use crate::tables::shard::narrow::text;
use crate::tables::shard::question::{MATCH, RECORDS, WHOLE};
use crate::tables::shard::whole::{Whole, known};
use crate::tables::sql::Asking;
use crate::tables::sql::functions::bytes_at;
use crate::tables::sql::hits::{column, text_at};

/// The sources of a run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Logs {
    sources: Vec<Log>,
    /// What its `corr.toml` adds to the table of edges, and the windows that it names.
    declared: Table,
    windows: BTreeMap<String, Window>,
    /// The windows that its records name.
    named: Named,
    /// They are of several runs.
    #[serde(skip)]
    pub several: bool,
    /// Why they are not asked for evidence together.
    #[serde(skip)]
    apart: Option<String>,
}

/// A source.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Log {
    name: String,
    key: String,
    format: String,
    owner: Owner,
    /// First and last stamp, UTC ns.
    extent: (Option<i64>, Option<i64>),
    /// What it shows as a whole; nothing where it could not be read.
    shows: Option<Shows>,
}

/// As [`SourceLedger`] has it.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Shows {
    span: Option<(i64, i64)>,
    formats: BTreeSet<String>,
    lowest: Option<String>,
    kinds: Vec<Kind>,
}

/// How many records are of a kind, and where the first of them stands.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Kind {
    name: String,
    records: u64,
    offset: u64,
    length: u32,
    line: u64,
}

impl Logs {
    /// Those of a run that is written.
    pub fn of(asking: &Asking) -> anyhow::Result<Logs> {
        let sources = asking.sources().map_err(anyhow::Error::msg)?;
        let evidence = Evidence::gather(sources, None)?;
        evidence.not_read.iter().for_each(|file| asking.lost(format!("{}: {}", file.name, file.why)));
        let shows: HashMap<u32, Shows> = evidence.ledgers.iter().map(|ledger| (ledger.source, Shows::of(ledger))).collect();
        let log = |(source, number): (&Asked, u32)| Log {
            name: source.name.clone(),
            key: source.key.clone(),
            format: source.format.to_string(),
            owner: source.owner.clone(),
            extent: source.extent(),
            shows: shows.get(&number).cloned(),
        };
        let lives = windows::of_run(asking.run().map_err(anyhow::Error::msg)?, sources, &asking.options, asking.store.as_deref())?;
        Ok(Logs {
            sources: sources.sources.iter().zip(0..).map(log).collect(),
            declared: sources.declared.evidence().clone(),
            windows: sources.declared.windows().map(|(name, window)| (name.to_string(), window.clone())).collect(),
            named: Named { phases: sources.phases(), lives },
            several: false,
            apart: None,
        })
    }

    /// Those of all runs together.
    pub fn together(all: &[Logs]) -> Logs {
        let Some((first, rest)) = all.split_first() else { return Logs::default() };
        let mut logs = Logs { several: !rest.is_empty(), ..first.clone() };
        let spelled = |of: &Logs| serde_json::to_value(&of.declared).ok();
        for of in rest {
            if spelled(of) != spelled(first) {
                logs.apart = Some("the runs of this place declare edges that differ; ask the place of one of them".into());
            }
            logs.sources.extend(of.sources.iter().cloned());
            logs.named.phases.extend(of.named.phases.iter().cloned());
        }
        let mut seen = BTreeSet::new();
        if let Some(log) = logs.sources.iter().find(|log| !seen.insert((&log.key, &log.name))) {
            logs.apart = Some(format!(
                "two runs of this place call a source {}; write each by another path, or ask the place of one of them",
                log.name
            ));
        }
        logs
    }

    /// The sources, without their bytes.
    pub fn sources(&self, place: &str) -> anyhow::Result<Sources> {
        let mut sources = Vec::with_capacity(self.sources.len());
        for log in &self.sources {
            let format = known(&log.format).map_err(anyhow::Error::msg)?;
            sources.push(Asked::elsewhere(log.name.clone(), log.key.clone(), format, log.owner.clone(), log.extent));
        }
        Ok(Sources {
            root: PathBuf::from(place),
            sources,
            not_read: Vec::new(),
            declared: Declared::of_windows(self.windows.clone()),
            notes: Vec::new(),
            others: 0,
            named: Some(self.named.clone()),
        })
    }

    /// What the records show; with them, how many could not be read when shards were written. `sources` are those of [`Logs::sources`].
    ///
    /// # Errors
    /// The runs declare edges of their own that differ, or two of their sources are called the same; those of the cluster.
    pub fn evidence<'s>(&self, engine: &Engine, sources: &'s Sources, window: Option<(i64, i64)>) -> anyhow::Result<(Evidence<'s>, u64)> {
        if let Some(why) = &self.apart {
            bail!("{why}");
        }
        let edges = Edges::new([builtin::table()?, self.declared.clone()])?;
        let mut ledgers: Vec<SourceLedger> = Vec::with_capacity(self.sources.len());
        for (log, number) in self.sources.iter().zip(0..) {
            ledgers.push(SourceLedger::new(number, log.owner.worker.clone(), log.owner.role.clone()));
        }
        let lost = if ledgers.is_empty() { 0 } else { self.fill(engine, &edges, window, &mut ledgers)? };
        let mut read = Vec::with_capacity(ledgers.len());
        for (ledger, log) in ledgers.into_iter().zip(&self.sources) {
            if let Some(shows) = &log.shows {
                read.push(shows.complete(ledger)?);
            }
        }
        Ok((Evidence::of(sources, edges, read), lost))
    }

    /// Takes in the records that can be a signal, say what is switched on or off, or bear ids: in the order of their sources and bytes.
    fn fill(&self, engine: &Engine, edges: &Edges, window: Option<(i64, i64)>, ledgers: &mut [SourceLedger]) -> anyhow::Result<u64> {
        let numbers: HashMap<(&str, &str), usize> =
            self.sources.iter().enumerate().map(|(number, log)| ((log.key.as_str(), log.name.as_str()), number)).collect();
        let kinds: Vec<String> = edges.kinds().into_iter().map(text).collect();
        let sql = format!(
            "SELECT _source, _path, {WHOLE} FROM {RECORDS} WHERE _kind IN ({}) OR {MATCH}('id:*', {WHOLE}) ORDER BY _source, _path, _offset",
            kinds.join(", ")
        );
        let mut lost = 0;
        let mut answer = engine.ask(&sql)?;
        while let Some(batch) = answer.next_batch()? {
            let (keys, names, records) = (column(&batch, "_source")?, column(&batch, "_path")?, column(&batch, WHOLE)?);
            for row in 0..batch.num_rows() {
                let Some(bytes) = bytes_at(records, row).map_err(anyhow::Error::msg)? else {
                    lost += 1;
                    continue;
                };
                let (key, name) = (text_at(keys, row)?.unwrap_or_default(), text_at(names, row)?.unwrap_or_default());
                let number = numbers.get(&(key, name)).copied();
                let (number, ledger) = number.and_then(|number| Some((number, ledgers.get_mut(number)?))).with_context(|| {
                    format!("{name}: a source that its run does not name; write the shards anew by `corr index --shards`")
                })?;
                let whole = Whole::read(bytes).map_err(anyhow::Error::msg)?;
                let frame = whole.frame();
                let cite = Cite {
                    source: u32::try_from(number)?,
                    offset: frame.offset,
                    length: u32::try_from(frame.length).unwrap_or(u32::MAX),
                    line: frame.line,
                };
                ledger.add(edges, frame.format, whole.event(), frame.stamp, frame.order, cite, window);
            }
        }
        Ok(lost)
    }
}

impl Shows {
    fn of(ledger: &SourceLedger) -> Shows {
        let kind = |(name, (records, cite)): (&&'static str, &(u64, Cite))| Kind {
            name: name.to_string(),
            records: *records,
            offset: cite.offset,
            length: cite.length,
            line: cite.line,
        };
        Shows {
            span: ledger.span,
            formats: ledger.formats.iter().map(|format| format.to_string()).collect(),
            lowest: ledger.lowest.map(|level| level.name().to_string()),
            kinds: ledger.kinds.iter().map(kind).collect(),
        }
    }

    /// A ledger of some of a source's records, with what all of them show.
    fn complete(&self, mut ledger: SourceLedger) -> anyhow::Result<SourceLedger> {
        ledger.span = self.span;
        ledger.lowest = match &self.lowest {
            Some(name) => {
                Some(Level::read(name).with_context(|| format!("`{name}` is no level; write the shards anew by `corr index --shards`"))?)
            }
            None => None,
        };
        ledger.formats = self.formats.iter().map(|name| known(name)).collect::<Result<_, _>>().map_err(anyhow::Error::msg)?;
        ledger.kinds.clear();
        for Kind { name, records, offset, length, line } in &self.kinds {
            let cite = Cite { source: ledger.source, offset: *offset, length: *length, line: *line };
            ledger.kinds.insert(known(name).map_err(anyhow::Error::msg)?, (*records, cite));
        }
        Ok(ledger)
    }
}
