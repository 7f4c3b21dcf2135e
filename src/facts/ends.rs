//! Did the benchmark finish? What drivers, batch scripts and load generators say of it.

use corr_parsers::event::{Event, Value};

use super::{Basis, Cite, Fact, Who};
use crate::run::events::Facts;

/// One record that speaks of the benchmark's or the run's end.
#[derive(Clone, Debug, PartialEq)]
pub struct End {
    pub what: What,
    pub cite: Cite,
    /// The exit code or reason that the record gives.
    pub detail: Option<String>,
}

/// What it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum What {
    Started,
    /// The benchmark's command ended with status 0.
    Completed,
    /// A result was written: a load level came to its end.
    Result,
    /// A measured window was closed as completed, failed or interrupted.
    Failed,
    Interrupted,
    /// A process that the run needs ended by itself, or the run was given up.
    RunFailed,
}

/// What a record says of an end.
pub fn of(event: &Event<'_>, facts: &Facts, source: &str) -> Option<End> {
    let text = |name: &str| match event.get(name) {
        Some(Value::Str(text)) => Some(text.to_string()),
        Some(other) => Some(other.to_string()),
        None => None,
    };
    let what = match event.kind.name {
        "benchmark_started" => What::Started,
        "benchmark_completed" => What::Completed,
        "benchmark_failed" => What::Failed,
        "run_interrupted" => What::Interrupted,
        "run_failed" | "process_exited" => What::RunFailed,
        "bench_result" => What::Result,
        "measurement_window" => match text("status").as_deref() {
            Some("completed") => What::Completed,
            Some("failed") => What::Failed,
            Some("interrupted") => What::Interrupted,
            _ => What::Started,
        },
        _ => return None,
    };
    let detail = match (text("process"), text("exit_code").or_else(|| text("reason"))) {
        (Some(process), Some(code)) => Some(format!("{process}, {code}")),
        (process, code) => process.or(code),
    };
    let cite = Cite { name: source.to_string(), line: facts.line, key: None };
    Some(End { what, cite, detail })
}

/// The state of the benchmark, if a record says one; with `finished`, `not finished` and what says so.
pub fn state(ends: &[End]) -> Option<Fact> {
    let of = |what: What| ends.iter().filter(|e| e.what == what).collect::<Vec<_>>();
    let (state, by, how): (&str, Vec<&End>, &str) = {
        let (failed, completed, results) = (of(What::Failed), of(What::Completed), of(What::Result));
        let broken: Vec<&End> = ends.iter().filter(|e| matches!(e.what, What::Interrupted | What::RunFailed)).collect();
        if !failed.is_empty() {
            ("not finished", failed, "the benchmark command failed")
        } else if !completed.is_empty() {
            ("finished", completed, "the benchmark command ended with status 0; that its requests succeeded is not said by it")
        } else if !broken.is_empty() {
            (
                "not finished",
                broken,
                "the run was given up or a process that it needs ended, and no record says that the benchmark completed",
            )
        } else if !results.is_empty() {
            ("finished", results, "the load generator wrote its result")
        } else {
            return None;
        }
    };
    let first = by.first()?;
    let mut fact = Fact::new("benchmark_state", Value::Str(state.into()), &Who::default(), Basis::Record, first.cite.clone());
    fact.cites.extend(by.iter().skip(1).map(|e| e.cite.clone()));
    let details: Vec<&str> = by.iter().filter_map(|e| e.detail.as_deref()).collect();
    let mut note = how.to_string();
    if let Some(first) = details.first() {
        note.push_str(": ");
        note.push_str(first);
    }
    fact.note = Some(note);
    Some(fact)
}

/// The record that says that the benchmark began, where none says how it ended.
pub fn started(ends: &[End]) -> Option<&End> {
    ends.iter().find(|e| e.what == What::Started)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(what: What, line: u64) -> End {
        End { what, cite: Cite { name: "sweep.log".into(), line, key: None }, detail: None }
    }

    #[test]
    fn a_state_needs_a_record() {
        assert_eq!(state(&[]), None);
        assert_eq!(state(&[end(What::Started, 1)]), None);
        let text = |ends: &[End]| state(ends).map(|f| (f.value.to_string(), f.cites[0].line));
        assert_eq!(text(&[end(What::Started, 1), end(What::Completed, 2)]), Some(("finished".into(), 2)));
        assert_eq!(text(&[end(What::Completed, 2), end(What::Failed, 3)]), Some(("not finished".into(), 3)));
        assert_eq!(text(&[end(What::Started, 1), end(What::RunFailed, 4)]), Some(("not finished".into(), 4)));
        // What broke after the benchmark's end is the teardown.
        assert_eq!(text(&[end(What::Completed, 2), end(What::RunFailed, 4)]), Some(("finished".into(), 2)));
    }
}
