//! Starts that followed each other by themselves.

use crate::history::{Cause, CrashLoop, Ending, Invocation, Opened, Point};
use crate::run::{FEW, Run};

/// Two automatic restarts in a row are a loop; so is a start limit.
const LEAST: usize = 3;

pub(crate) fn find(invocations: &[Invocation], runs: &[Run]) -> Vec<CrashLoop> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < invocations.len() {
        let mut last = at;
        while invocations.get(last + 1).is_some_and(follows) {
            last += 1;
        }
        if let (Some(part), Some(runs)) = (invocations.get(at..=last), runs.get(at..=last)) {
            let gave_up = runs.iter().any(|run| run.has(Point::StartLimit));
            if part.len() >= LEAST || gave_up {
                found.push(describe(at, part, runs, gave_up));
            }
        }
        at = last + 1;
    }
    found
}

/// Was this run the restart of one that had died?
fn follows(run: &Invocation) -> bool {
    match &run.cause {
        Cause::Automatic { after } => after != "success",
        Cause::Watchdog | Cause::OomKill => true,
        Cause::StartedAgain { after } => *after != Ending::Asked,
        _ => false,
    }
}

fn describe(at: usize, part: &[Invocation], runs: &[Run], gave_up: bool) -> CrashLoop {
    let count = |point: Point| part.iter().filter(|run| run.first(point).is_some()).count();
    let mut cites: Vec<_> = part.iter().filter_map(|run| run.first(Point::Exit)).map(|mark| mark.cite).take(FEW).collect();
    cites.extend(runs.iter().filter_map(|run| run.first(Point::StartLimit)).map(|mark| mark.cite).take(1));
    CrashLoop {
        first: at,
        last: at + part.len() - 1,
        starts: part.iter().filter(|run| run.opened != Opened::NotStarted).count(),
        exits: part.iter().filter(|run| run.first(Point::Exit).is_some() || run.first(Point::Failed).is_some()).count(),
        ready: count(Point::ReadyLine),
        gave_up,
        result: part.iter().rev().find_map(|run| run.result.clone()),
        cites,
    }
}
