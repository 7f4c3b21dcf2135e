//! One row a difference, for spreadsheets and notes.

use std::io::{self, Write};

use super::{Answer, fact_name, range, requests, shown, values, verdict, whose};
use crate::diff::Name;
use crate::diff::figures::{self, Figure, Quantity};
use crate::render::evidence::shell;
use crate::render::safe::{csv_field, markdown_cell};
use crate::render::shown::rfc3339;

const HEAD: [&str; 9] = ["section", "what", "whose", "quantity", "a", "b", "difference", "a_command", "b_command"];

/// For spreadsheets.
pub fn csv(answer: &Answer<'_>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", HEAD.join(","))?;
    for row in rows(answer) {
        let cells: Vec<_> = row.iter().map(|c| csv_field(c)).collect();
        writeln!(out, "{}", cells.join(","))?;
    }
    Ok(())
}

/// For notes.
pub fn markdown(answer: &Answer<'_>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "| {} |", HEAD.join(" | "))?;
    writeln!(out, "|{}", "---|".repeat(HEAD.len()))?;
    for row in rows(answer) {
        let cells: Vec<String> = row.iter().map(|c| markdown_cell(c)).collect();
        writeln!(out, "| {} |", cells.join(" | "))?;
    }
    Ok(())
}

type Cells = [String; 9];

fn rows(answer: &Answer<'_>) -> Vec<Cells> {
    let diff = answer.diff;
    let facts_command = |n: Name, name: &str| format!("corr facts {} --name {}", shell(&answer.side(n).run), shell(name));
    let span = |n: Name| {
        let window = &answer.side(n).window;
        let at = window.span.map_or("unknown".to_string(), |(from, to)| format!("{} to {}", rfc3339(from, 1_000), rfc3339(to, 1_000)));
        format!("{at}; {}; {}", requests(window), window.how)
    };
    let mut out: Vec<Cells> = vec![cells("window", &answer.a.window.asked, "", "", [span(Name::A), span(Name::B)], "", Default::default())];
    for fact in diff.facts.iter().filter(|f| answer.shows_fact(f)) {
        let (a, b) = (values(fact, Name::A), values(fact, Name::B));
        let commands = [facts_command(Name::A, &fact.name), facts_command(Name::B, &fact.name)];
        out.push(cells("fact", &fact_name(fact), "", "", [a, b], fact.state.name(), commands));
    }
    for one in diff.verdicts.iter().filter(|v| answer.all || !v.differs.is_empty()) {
        let command = |n: Name| one.of(n).map_or(String::new(), |s| s.reproduce.clone());
        let sides = [verdict(one.of(Name::A)), verdict(one.of(Name::B))];
        out.push(cells("verdict", &one.edge, "", "", sides, &one.differs.join(" "), [command(Name::A), command(Name::B)]));
    }
    for one in diff.figures.iter().filter(|f| answer.shows_figure(f)) {
        figure(one, &mut out);
    }
    let support = &diff.support;
    let lacks = support.lacks.join("; ");
    out.push(cells("support", support.label, "", "", [support.says.clone(), lacks], "", Default::default()));
    for one in &diff.alternatives {
        let how = if one.applies { "applies" } else { "not excluded" };
        out.push(cells("alternative", one.id, "", "", [one.says.clone(), one.cites.join(" ")], how, Default::default()));
    }
    out
}

fn figure(one: &figures::Compared, out: &mut Vec<Cells>) {
    let command = |f: &Option<Figure>| f.as_ref().map_or(String::new(), |f| f.reproduce.clone());
    let of = one.a.as_ref().or(one.b.as_ref());
    let (spelled, owner) = of.map_or((String::new(), String::new()), |f| (f.spelled.clone(), whose(f)));
    if one.quantities.is_empty() {
        let side = |f: &Option<Figure>| f.as_ref().map_or(String::new(), |f| f.says.clone());
        out.push(cells("metric", &spelled, &owner, "", [side(&one.a), side(&one.b)], &one.how, [command(&one.a), command(&one.b)]));
    }
    for quantity in &one.quantities {
        let side = |q: &Option<Quantity>| range(q.as_ref().and_then(|q| q.range));
        let sides = [side(&quantity.a), side(&quantity.b)];
        out.push(cells("metric", &spelled, &owner, &quantity.name, sides, &shown(quantity.shown), [command(&one.a), command(&one.b)]));
    }
}

fn cells(section: &str, what: &str, whose: &str, quantity: &str, [a, b]: [String; 2], difference: &str, [x, y]: [String; 2]) -> Cells {
    [section.into(), what.into(), whose.into(), quantity.into(), a, b, difference.into(), x, y]
}
