//! Which source is whose, before anything is opened.

use std::path::PathBuf;
use std::sync::Arc;

use super::Follow;
use super::back::is_unit;
use super::verdict::Require;
use crate::target::Target;

/// A log file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Followed {
    pub path: PathBuf,
    /// Whose it is, if the caller says so; a journal's file says it itself.
    pub unit: Option<String>,
}

/// Why following cannot begin: nothing would be known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    #[error("no unit is named, and no file or endpoint from which one could be")]
    NoUnit,
    #[error("no source of unit {0}: name its log file, its --health or --metrics URL, or follow the journal")]
    NoSource(String),
    #[error("which unit is {of} of? write UNIT={of}; units are {units}")]
    WhichUnit { of: String, units: String },
    #[error("whether the metrics of {0} are live needs its --metrics URL")]
    NoMetrics(String),
    #[error("an expected metric needs a --metrics URL")]
    NowhereExpected,
    #[error("{0}")]
    Client(String),
}

/// An endpoint and whose it is.
#[derive(Clone, Debug)]
pub struct Asked {
    pub unit: String,
    pub target: Arc<Target>,
}

/// Everything that will be watched.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    pub units: Vec<String>,
    /// Path, owner, and whether the caller said whose it is.
    pub files: Vec<(PathBuf, Option<String>, bool)>,
    pub health: Vec<Asked>,
    pub metrics: Vec<Asked>,
}

impl Plan {
    /// Finds whose everything is.
    pub fn of(follow: &Follow) -> Result<Plan, PlanError> {
        let mut units: Vec<String> = Vec::new();
        let named = follow.units.iter().cloned().chain(follow.files.iter().filter_map(|file| file.unit.clone()));
        for unit in named {
            if !units.iter().any(|known| is_unit(known, &unit)) {
                units.push(unit);
            }
        }
        if units.is_empty() {
            // What is named is all there is: each file is a unit.
            units = follow.files.iter().filter_map(|file| Some(file.path.file_stem()?.to_string_lossy().into_owned())).collect();
            units.sort();
            units.dedup();
        }
        if units.is_empty() {
            let targets = follow.health.iter().chain(&follow.metrics);
            units = targets.map(|target| target.role.clone().unwrap_or_else(|| target.slug())).collect();
            units.sort();
            units.dedup();
        }
        if units.is_empty() {
            return Err(PlanError::NoUnit);
        }
        let mut plan = Plan { units, ..Plan::default() };
        for file in &follow.files {
            let name = file.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let owner = match &file.unit {
                Some(unit) => plan.units.iter().find(|known| is_unit(known, unit)).cloned(),
                None => plan.in_name(&name),
            };
            plan.files.push((file.path.clone(), owner, file.unit.is_some()));
        }
        plan.health = follow.health.iter().map(|target| plan.whose(target)).collect::<Result<_, _>>()?;
        plan.metrics = follow.metrics.iter().map(|target| plan.whose(target)).collect::<Result<_, _>>()?;
        for unit in &plan.units {
            let asked = plan.health.iter().chain(&plan.metrics).any(|asked| asked.unit == *unit);
            // A file without an owner may be a journal of all.
            let logged =
                follow.journal.is_some() || plan.files.iter().any(|(_, owner, _)| owner.as_ref().is_none_or(|owner| owner == unit));
            if !asked && !logged {
                return Err(PlanError::NoSource(unit.clone()));
            }
            if follow.require == Require::Metrics && !plan.metrics.iter().any(|asked| asked.unit == *unit) {
                return Err(PlanError::NoMetrics(unit.clone()));
            }
        }
        if !follow.expect_metric.is_empty() && plan.metrics.is_empty() {
            return Err(PlanError::NowhereExpected);
        }
        Ok(plan)
    }

    /// The only unit, or the only one whose name stands in a file's name.
    fn in_name(&self, name: &str) -> Option<String> {
        if let [only] = &self.units[..] {
            return Some(only.clone());
        }
        let mut fitting = self.units.iter().filter(|unit| name.contains(unit.trim_end_matches(".service")));
        let longest = fitting.clone().max_by_key(|unit| unit.len())?;
        // `decode` stands in `decode-2` too.
        fitting.all(|unit| longest.contains(unit.trim_end_matches(".service"))).then(|| longest.clone())
    }

    fn whose(&self, target: &Target) -> Result<Asked, PlanError> {
        let target = Arc::new(target.clone());
        let names = [target.role.clone(), target.role.clone().zip(target.worker.clone()).map(|(role, worker)| format!("{role}/{worker}"))];
        let said = names.iter().flatten().find_map(|name| self.units.iter().find(|unit| is_unit(unit, name)));
        let unit = match (said, &self.units[..]) {
            (Some(unit), _) => unit.clone(),
            (None, [only]) => only.clone(),
            (None, _) => match self.units.iter().find(|unit| **unit == target.slug()) {
                Some(unit) => unit.clone(),
                None => return Err(PlanError::WhichUnit { of: target.shown().to_owned(), units: self.units.join(", ") }),
            },
        };
        Ok(Asked { unit, target })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(units: &[&str], files: &[&str], health: &[&str]) -> Result<Plan, PlanError> {
        let follow = Follow {
            units: units.iter().map(|unit| (*unit).to_owned()).collect(),
            files: files.iter().map(|path| Followed { path: path.into(), unit: None }).collect(),
            health: health.iter().map(|url| Target::parse_for(url, "/health").unwrap()).collect(),
            ..Follow::new(crate::Clock::new(|| 0))
        };
        Plan::of(&follow)
    }

    fn owners(plan: &Plan) -> Vec<Option<&str>> {
        plan.files.iter().map(|(_, owner, _)| owner.as_deref()).collect()
    }

    #[test]
    fn a_file_is_of_the_unit_in_its_name() {
        let two = plan(&["decode", "prefill.service"], &["/l/decode_w0.out", "/l/prefill.err", "/l/all.json"], &[]).unwrap();
        assert_eq!(owners(&two), [Some("decode"), Some("prefill.service"), None]);
        let near = plan(&["decode", "decode-2"], &["decode-2.log", "decode.log"], &[]).unwrap();
        assert_eq!(owners(&near), [Some("decode-2"), Some("decode")]);
        assert_eq!(owners(&plan(&["a"], &["x.log"], &[]).unwrap()), [Some("a")]);
        let alone = plan(&[], &["/l/decode_w0.out"], &[]).unwrap();
        assert_eq!((&alone.units[..], owners(&alone)), (&["decode_w0".to_owned()][..], vec![Some("decode_w0")]));
    }

    #[test]
    fn an_endpoint_is_of_the_unit_before_its_url() {
        let two = plan(&["decode", "prefill.service"], &[], &["decode=h:1", "prefill=h:2"]).unwrap();
        assert_eq!(two.health.iter().map(|asked| asked.unit.as_str()).collect::<Vec<_>>(), ["decode", "prefill.service"]);
        assert!(matches!(plan(&["a", "b"], &[], &["h:1"]), Err(PlanError::WhichUnit { .. })));
        assert_eq!(plan(&["a", "b"], &["a.log"], &["a=h:1"]).unwrap_err(), PlanError::NoSource("b".into()));
        assert_eq!(plan(&[], &[], &[]).unwrap_err(), PlanError::NoUnit);
        assert_eq!(plan(&[], &[], &["h:1"]).unwrap().units, ["h_1"]);
    }
}
